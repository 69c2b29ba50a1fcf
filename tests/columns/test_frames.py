"""`Matcher.select`: the rows of a frame of any library that the selector selects, as a frame of that library."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import mqsel
from mqsel.columns.frames import FRAMES
from mqsel.errors import ArgumentError, PropertyTypeError, UndocumentedError

pa = pytest.importorskip("pyarrow")

TEXTS = [
    "n > 2 AND s LIKE 'a%'", "NOT (n = 3)", "r.x = 1 OR s IS NULL", "b", "missing IS NULL", "missing = 1",
    "s = 'a' AND n < x", "s IN ('a', 'b') OR missing > 3",
]  # fmt: skip


def _duckdb(table: Any) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("rows", table)
    return connection.table("rows")


# For each kind how it is made of a table, and how its rows are read.
KINDS: dict[tuple[str, str], tuple[Callable[[Any], Any], Callable[[Any], list[dict[str, Any]]]]] = {
    ("pyarrow", "Table"): (lambda table: table, lambda frame: frame.to_pylist()),
    ("pyarrow", "RecordBatch"): (lambda table: table.combine_chunks().to_batches()[0], lambda frame: frame.to_pylist()),
    ("pandas", "DataFrame"): (
        lambda table: pytest.importorskip("pandas") and table.to_pandas(types_mapper=_arrow_typed()),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False).to_pylist(),
    ),
    ("polars", "DataFrame"): (
        lambda table: pytest.importorskip("polars").from_arrow(table),
        lambda frame: frame.to_dicts(),
    ),
    ("polars", "LazyFrame"): (
        lambda table: pytest.importorskip("polars").from_arrow(table).lazy(),
        lambda frame: frame.collect().to_dicts(),
    ),
    ("duckdb", "DuckDBPyRelation"): (_duckdb, lambda frame: frame.to_arrow_table().to_pylist()),
}


def _arrow_typed() -> Any:
    return pytest.importorskip("pandas").ArrowDtype


def test_every_kind_is_tried() -> None:
    """The kinds that are tried are those that there are."""
    assert KINDS.keys() == FRAMES.keys()


@pytest.mark.parametrize("kind", KINDS, ids=".".join)
def test_rows_are_those_of_the_mask(kind: tuple[str, str]) -> None:
    """Invariant: what is selected of a frame are its rows where the mask is true, in order, as a frame of its class."""
    rng = random.Random("frames")
    make, read = KINDS[kind]
    for size in (1, 2, 300):
        rows = [
            {
                "id": number,
                "n": rng.choice([None, 1, 2, 3, 4]),
                "s": rng.choice([None, "a", "ab", "b"]),
                "x": rng.choice([None, 0.5, 3.5]),
                "b": rng.choice([None, True, False]),
                "r": {"x": rng.choice([None, 1, 2])},
                "other": [number],
            }
            for number in range(size)
        ]
        types = [("id", pa.int64()), ("n", pa.int64()), ("s", pa.string()), ("x", pa.float64()), ("b", pa.bool_())]
        schema = pa.schema([*types, ("r", pa.struct([("x", pa.int64())])), ("other", pa.list_(pa.int64()))])
        table = pa.Table.from_pylist(rows, schema)
        frame = make(table)
        for text in TEXTS:
            matcher = mqsel.compile(text)
            mask = matcher.match_batch(table).to_pylist()
            selected = matcher.select(frame)
            assert type(selected) is type(frame)
            assert read(selected) == [row for row, is_selected in zip(rows, mask, strict=True) if is_selected], text


@pytest.mark.parametrize("kind", KINDS, ids=".".join)
def test_a_column_no_property_has_is_an_error_at_once(kind: tuple[str, str]) -> None:
    """Of a column that is read, in every library, before anything is collected; of others nothing is asked."""
    frame = KINDS[kind][0](pa.table({"z": [[1]], "n": [1]}))
    with pytest.raises(PropertyTypeError, match=r"column 'z' has the Arrow type (large_)?list: expected bool"):
        mqsel.compile("z = 1").select(frame)
    assert len(KINDS[kind][1](mqsel.compile("n = 1").select(frame))) == 1


@pytest.mark.parametrize("frame", [[{"n": 1}], {"n": [1]}, 5, None, pa.array([1]), "n"])
def test_what_is_no_frame(frame: Any) -> None:
    """One sentence says what was found, and what is a frame."""
    with pytest.raises(ArgumentError, match=r"found a Python .*: expected a frame of pyarrow, pandas, polars or"):
        mqsel.compile("n = 1").select(frame)


def test_pandas_keeps_index_and_class() -> None:
    """An index, also one with equal labels, stays with its rows; it is a property by its name; a subclass stays one."""
    pandas = pytest.importorskip("pandas")

    class Frame(pandas.DataFrame):  # type: ignore[misc, name-defined]
        @property
        def _constructor(self) -> Any:
            return Frame

    frame = Frame({"n": [1, 2, 3], 5: list("abc")}, index=pandas.Index([7, 7, 8], name="key"))
    selected = mqsel.compile("n >= 2").select(frame)
    assert type(selected) is Frame
    assert (list(selected.index), list(selected["n"])) == ([7, 8], [2, 3])
    assert list(mqsel.compile("key = 8").select(frame)["n"]) == [3]
    assert len(mqsel.compile("missing IS NULL").select(pandas.DataFrame(index=[1, 2]))) == 2


def test_lazy_frames_stay_lazy() -> None:
    """Nothing is read before it is collected, and then no more columns than are asked for."""
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"n": [1, 2, 3], "s": ["a", "b", "c"], "z": [1, 2, 3]})
    lazy = mqsel.compile("n > 1 AND s <> 'c'").select(frame).select("s")
    assert "2/3 COLUMNS" in lazy.explain()
    assert lazy.collect().to_dicts() == [{"s": "b"}]


def test_a_relation_stays_with_its_connection() -> None:
    """What is selected of a relation can be joined with tables of its connection, and a table's name is no trouble."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE selected AS SELECT 5 AS n; CREATE TABLE rows AS SELECT range AS n FROM range(9)")
    found = mqsel.compile("n > 4").select(connection.table("rows"))
    assert found.join(connection.table("selected"), "n").fetchall() == [(5,)]
    assert found.fetchall() == [(5,), (6,), (7,), (8,)]


def test_rows_without_an_answer_are_an_error() -> None:
    """Rows for which no document says what the selector is are not dropped in silence."""
    matcher = mqsel.compile("color = 5", dialect=mqsel.AZURE_SERVICE_BUS)
    with pytest.raises(UndocumentedError, match="for 2 of 2 rows is undocumented"):
        matcher.select(pa.table({"color": ["red", "blue"]}))


def _of_every_kind() -> list[tuple[str, Any]]:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    of_range = pandas.DataFrame({"d": list("abc")}, index=pandas.RangeIndex(1, 4, name="n"))
    return [
        ("objects of several types", pandas.DataFrame({"n": [1, 2, 3], "d": [1, "a", b"b"]})),
        ("complex numbers", pandas.DataFrame({"n": [1, 2, 3], "d": [1j, 2j, 3j]})),
        ("two columns of a name", pandas.DataFrame([[1, 0, 0], [2, 0, 0], [3, 0, 0]], columns=["n", "d", "d"])),
        ("a range", of_range),
        ("a level of an index", of_range.set_index("d", append=True)),
        ("sparse", pandas.DataFrame({"n": [1, 2, 3], "d": pandas.arrays.SparseArray([0, 0, 1])})),
        ("numbers of 128 bits", polars.DataFrame({"n": [1, 2, 3]}).with_columns(d=polars.lit(1, polars.Int128))),
    ]


@pytest.mark.parametrize(("text", "name"), [("a\0b = 1", "a\0b"), ("a = 1", "a\0b"), ("s.a = 1", "s.a\0b")])
@pytest.mark.parametrize("asked", [mqsel.compile, lambda text: mqsel.SelectorSet({1: text}, dialect="IBM_MQ")])
def test_names_with_a_nul(asked: Callable[[str], Any], text: str, name: str) -> None:
    """Where Arrow ends a name its column is never missing, nor read as another: that is an error of every form."""
    column = pa.array([1, 2])
    for around in reversed(name.split(".")[1:]):
        column = pa.StructArray.from_arrays([column], [around])
    batch = pa.RecordBatch.from_arrays([column], [name.split(".", maxsplit=1)[0]])
    table = pa.Table.from_batches([batch])
    for form in (batch, batch.to_struct_array(), table, pa.chunked_array([batch.to_struct_array()]), table.to_reader()):
        with pytest.raises(ArgumentError, match="ends at U"):
            asked(text).match_batch(form)


@pytest.mark.parametrize("place", range(7))
def test_columns_that_are_not_read_are_not_asked(place: int) -> None:
    """No method fails at what Arrow does not take of a frame, where no selector reads it; indices are properties."""
    what, frame = _of_every_kind()[place]
    matcher = mqsel.compile("n >= 2")
    assert matcher.match_batch(frame).to_pylist() == [False, True, True], what
    assert matcher.match_batch(frame, decimals="double").to_pylist() == [False, True, True]
    assert matcher.truth_batch(frame).to_pylist() == [False, True, True]
    assert mqsel.SelectorSet({1: matcher}).match_batch(frame).to_pylist() == [[], [0], [0]]
    assert len(matcher.select(frame)) == 2
    assert mqsel.compile("missing IS NULL").match_batch(frame).to_pylist() == [True] * 3
    if "range" in what or "index" in what:
        assert matcher.why(frame).selected == 2


def test_texts_and_bytes_in_a_column() -> None:
    """Texts are no bytes, to a selector: a column of both is an error, as Arrow makes all of them bytes."""
    pandas = pytest.importorskip("pandas")
    assert mqsel.compile("n IS NULL").match_batch(pandas.DataFrame({"n": [None, b"a"]})).to_pylist() == [True, False]
    with pytest.raises(ArgumentError, match="column 'n' has texts and bytes"):
        mqsel.compile("n = 'a'").match_batch(pandas.DataFrame({"n": ["a", b"a"]}))


def test_errors_of_a_library_become_ours() -> None:
    """A frame whose rows its library cannot give is one error that says why, and what answers all the same."""
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    numpy, duckdb = pytest.importorskip("numpy"), pytest.importorskip("duckdb")
    connection = duckdb.connect()
    swapped = pandas.DataFrame({"n": [1, 2], "d": numpy.array([1, 2], numpy.dtype("i4").newbyteorder())})
    for frame, says in (
        (connection.sql("SELECT error('lost') AS n"), "duckdb cannot select rows of this frame: .*lost"),
        (polars.LazyFrame({"n": [1]}).select("lost"), "polars cannot select rows of this frame: .*lost"),
        (swapped, "pandas cannot select rows of this frame: "),
    ):
        with pytest.raises(ArgumentError, match=says) as caught:
            mqsel.compile("n = 1").select(frame)
        assert caught.value.hint
