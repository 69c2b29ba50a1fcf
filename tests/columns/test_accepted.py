"""The table of frames and the table of columns in the manual of columns: each cell is tried."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

PAGE = Path(mqsel.__file__).parent / "columns" / "README.md"
ROWS = [{"n": 1, "s": "a"}, {"n": 3, "s": None}, {"n": None, "s": "b"}, {"n": 4, "s": "b"}]
TABLE = pa.Table.from_pylist(ROWS)
BATCH = TABLE.to_batches()[0]


class _Stream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


class _Array:
    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return BATCH.__arrow_c_array__(requested_schema)


def _duckdb() -> Any:
    connection = pytest.importorskip("duckdb").connect()
    connection.register("rows", TABLE)
    return connection.table("rows")


def _nanoarrow() -> Any:
    return pytest.importorskip("nanoarrow").ArrayStream(TABLE)


def _polars() -> Any:
    return pytest.importorskip("polars").from_arrow(TABLE)


def _dataset() -> Any:
    return pytest.importorskip("pyarrow.dataset").dataset(TABLE)


FRAMES: dict[str, Callable[[], Any]] = {
    "pyarrow Table": lambda: TABLE,
    "pyarrow RecordBatch": lambda: BATCH,
    "pyarrow StructArray": BATCH.to_struct_array,
    "pyarrow RecordBatchReader": TABLE.to_reader,
    "pyarrow Dataset, Scanner": _dataset,
    "pandas DataFrame": lambda: pytest.importorskip("pandas") and TABLE.to_pandas(),
    "polars DataFrame": _polars,
    "polars LazyFrame": lambda: _polars().lazy(),
    "duckdb relation": _duckdb,
    "nanoarrow ArrayStream": _nanoarrow,
    "any `__arrow_c_stream__`": _Stream,
    "any `__arrow_c_array__`": _Array,
}
SET = mqsel.SelectorSet({"x": "n > 2"})
METHODS: dict[str, Callable[[Any], Any]] = {
    "match_batch": lambda frame: mqsel.compile("n > 2").match_batch(frame).to_pylist(),
    "truth_batch": lambda frame: mqsel.compile("n > 2").truth_batch(frame).to_pylist(),
    "select": lambda frame: mqsel.compile("n > 2").select(frame),
    "why": lambda frame: mqsel.compile("n > 2").why(frame).selected,
    "set.match_batch": lambda frame: SET.match_batch(frame).to_pylist(),
}
ANSWERS = {
    "match_batch": [False, True, False, True],
    "truth_batch": [False, True, None, True],
    "why": 2,
    "set.match_batch": [[], [0], [], [0]],
}


def _cells(first: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the head and the rows of the table in the manual that begins with a word."""
    lines = iter(PAGE.read_text(encoding="utf-8").splitlines())
    head = next(line for line in lines if line.startswith(f"| {first} |"))
    next(lines)
    rows = {}
    for line in lines:
        if not line.startswith("|"):
            break
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[name] = cells
    return [cell.strip(" `") for cell in head.strip("|").split("|")][1:], rows


def _rows_of(frame: Any) -> list[dict[str, Any]]:
    if type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    return pa.table(frame).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name: str) -> None:
    """What the table says is taken, answers as any other frame; what it says is refused, is one error with a remedy."""
    head, rows = _cells("frame")
    assert (head, list(rows)) == (list(METHODS), list(FRAMES))
    for method, cell in zip(head, rows[name], strict=True):
        frame = FRAMES[name]()
        if cell == "yes":
            found = METHODS[method](frame)
            if method == "select":
                assert type(found) is type(frame)
                got = _rows_of(found)
                assert [(row["n"], row["s"] if row["s"] == row["s"] else None) for row in got] == [(3, None), (4, "b")]
            else:
                assert found == ANSWERS[method], method
        else:
            with pytest.raises(ArgumentError) as caught:
                METHODS[method](frame)
            assert cell == "no"
            assert caught.value.hint


def _dictionary(values: list[Any], kind: Any) -> Any:
    return pa.array(values, kind).dictionary_encode()


DAY = dt.datetime(2024, 1, 2, 3, 4, 5, 678000)  # noqa: DTZ001 (Arrow's own are without a zone)
# By row of the table: columns of two values and a NULL, a test that is TRUE of the first alone, what is declared.
COLUMNS: dict[str, tuple[list[Any], str, dict[str, str]]] = {
    "bool": ([pa.array([True, False, None])], "c", {}),
    "int8 … int64, uint8 … uint64": (
        [
            pa.array([7, 5, None], getattr(pa, sign + size)())
            for sign in ("int", "uint")
            for size in "8 16 32 64".split()
        ],
        "c > 6",
        {},
    ),
    "float, double": ([pa.array([1.5, -1, None], kind) for kind in (pa.float32(), pa.float64())], "c > 0", {}),
    "string, large, view": (
        [pa.array(["ab", "b", None], kind) for kind in (pa.string(), pa.large_string(), pa.string_view())],
        "c LIKE 'a%'",
        {},
    ),
    "binary, large, view": (
        [pa.array([b"\x0a", b"b", None], kind) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())],
        'c = "0x0A"',
        {},
    ),
    "dictionary of these": (
        [_dictionary(["ab", "b", None], pa.string()), _dictionary(["ab", "b", None], pa.large_string())],
        "c LIKE 'a%'",
        {},
    ),
    "null": ([pa.nulls(3)], "c IS NULL", {}),
    "decimal": (
        [pa.array([Decimal("1.10"), Decimal(-1), None], kind) for kind in (pa.decimal128(5, 2), pa.decimal256(50, 20))]
        + [_dictionary([Decimal("1.10"), Decimal(-1), None], pa.decimal128(5, 2))],
        "c = 1.1",
        {"decimals": "double"},
    ),
    "timestamp": (
        [
            pa.array([DAY, DAY + dt.timedelta(1), None], pa.timestamp(unit, zone))
            for unit in ("ms", "us", "ns")
            for zone in (None, "Europe/Berlin")
        ],
        "c = 1704164645678",
        {"timestamps": "millis"},
    ),
    "date, time, duration, interval": ([pa.array([DAY.date(), None, None])], "c = 1", {}),
    "struct": ([pa.array([{"x": 1}, {"x": 2}, None])], "c.x = 1", {}),
    "list, map, union": ([pa.array([[1], [2], None])], "c = 1", {}),
}


def _answer(column: Any, text: str, **declared: Any) -> Any:
    rows = pa.table({"c": column, "other": [1, 2, 3]})
    matcher = mqsel.compile(text)
    found = matcher.match_batch(rows, **declared).to_pylist()
    assert SET_OF(text).match_batch(rows, **declared).to_pylist() == [[0] if one else [] for one in found]
    assert matcher.why(rows, **declared).selected == sum(found)
    selected = matcher.select(rows, **declared)
    wanted = [row for row, one in zip(rows.to_pylist(), found, strict=True) if one]
    assert (selected.schema, selected.to_pylist()) == (rows.schema, wanted)
    return found


def SET_OF(text: str) -> Any:  # noqa: N802 (a set of one)
    return mqsel.SelectorSet({"x": text})


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name: str) -> None:
    """Each kind of column is read as it stands, or once it is declared, or is refused: as the table has it."""
    rows = _cells("column")[1]
    assert list(rows) == list(COLUMNS)
    columns, text, declared = COLUMNS[name]
    how = rows[name][-1]
    for column in columns:
        if how == "yes":
            wanted = [False, False, True] if name == "null" else [True, False, False]
            assert _answer(column, text) == (wanted if name != "null" else [True] * 3)
            continue
        with pytest.raises(PropertyTypeError, match="column 'c' has the Arrow type") as caught:
            _answer(column, text)
        assert caught.value.hint
        if how == "declared":
            assert next(iter(declared)) in rows[name][0]
            assert _answer(column, text, **declared) == [True, False, False]
        else:
            assert how == "no"


@pytest.mark.parametrize("width", ["32", "64", "128", "256"])
def test_decimals_of_every_width_are_whole_numbers(width: str) -> None:
    """Invariant: a decimal that is declared as int64 is that number, whatever its width, and else an error."""
    if not hasattr(pa, f"decimal{width}"):
        pytest.skip("this pyarrow has no such decimals")
    kind = getattr(pa, f"decimal{width}")(9, 2)
    whole = pa.array([None, Decimal(5), Decimal(-1), Decimal(9_999_999)], kind)
    words = pa.DictionaryArray.from_arrays(pa.array([3, None, 0, 1, 2]), whole)
    for column, plain in ((whole, whole), (whole[1:], whole[1:]), (words, whole.take(words.indices))):
        rows = pa.table({"c": column, "d": plain.cast(pa.float64())})
        matcher = mqsel.compile("c = d AND c + 0 = d OR c IS NULL AND d IS NULL", dialect="JMS")
        assert pc.all(matcher.match_batch(rows, decimals="int64")).as_py()
        assert mqsel.compile("c / 2 = 2").match_batch(rows, decimals="int64").to_pylist().count(True) == 1
    for value in ("0.01", "-5.5"):
        with pytest.raises(PropertyTypeError, match="cannot hold exactly"):
            matcher.match_batch(pa.table({"c": pa.array([Decimal(value)], kind)}), decimals="int64")


def test_words_that_no_row_has_do_not_count() -> None:
    """A dictionary may have words that are no whole numbers, if no row has them: a filter leaves it as it was."""
    words = pa.array([Decimal("0.50"), Decimal(5)], pa.decimal128(9, 2))
    rows = pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([1, None, 1]), words)})
    assert mqsel.compile("c = 5").match_batch(rows, decimals="int64").to_pylist() == [True, False, True]


def test_decimals_are_the_nearest_doubles() -> None:
    """Invariant: a decimal that is declared as double is what Python makes of its digits."""
    rng = random.Random("decimals")
    matcher = mqsel.compile("c = d")
    for scale in (0, 5, 17, 38):
        numbers = [rng.randrange(-(10**38) + 1, 10**38) // 10 ** rng.randrange(38) for _ in range(2000)]
        values = [Decimal(f"{one}E-{scale}") for one in numbers]
        rows = pa.table({"c": pa.array(values, pa.decimal128(38, scale)), "d": [float(one) for one in values]})
        assert pc.all(matcher.match_batch(rows, decimals="double")).as_py()


def test_what_is_not_exact_is_refused() -> None:
    """A fraction as an int64, microseconds as milliseconds, and words that there are not, are one error each."""
    matcher = mqsel.compile("c > 0 AND s.d > 0")
    rows = pa.table({"c": [Decimal("1.5")], "s": [{"d": Decimal(1)}], "unread": [Decimal("1.5")]})
    with pytest.raises(PropertyTypeError, match=r"column 'c' has a value that decimals='int64' cannot hold exactly"):
        matcher.match_batch(rows, decimals="int64")
    assert mqsel.compile("s.d > 0").match_batch(rows, decimals="int64").to_pylist() == [True]
    assert matcher.match_batch(rows, decimals="double").to_pylist() == [True]
    times = pa.table({"c": pa.array([1_704_164_645_678_901], pa.timestamp("us"))})
    with pytest.raises(PropertyTypeError, match=r"timestamps='millis' cannot hold exactly"):
        mqsel.compile("c > 0").match_batch(times, timestamps="millis")
    assert mqsel.compile("c > 0").match_batch(times, timestamps="nanos").to_pylist() == [True]
    for word in ("string", "", 5):
        with pytest.raises(ArgumentError, match=r"decimals is .*: expected 'double' or 'int64'"):
            matcher.match_batch(rows, decimals=word)  # type: ignore[arg-type]
    with pytest.raises(MqselError, match="this is no batch"):
        matcher.why([{"c": 1}], decimals="double")


def test_names_in_any_case_are_selected() -> None:
    """A dialect without regard to case selects the rows that it matches, whatever the spelling of the columns."""
    matcher = mqsel.compile("color = 'blue' AND amount = 1", dialect="AZURE_SERVICE_BUS")
    for name, kind in (("COLOR", "pyarrow"), ("Color", "polars")):
        table = pa.table({name: ["blue", "red"], "Amount": [Decimal(1)] * 2})
        frame = table if kind == "pyarrow" else pytest.importorskip("polars").from_arrow(table)
        assert matcher.match_batch(table, decimals="int64").to_pylist() == [True, False]
        assert len(matcher.select(frame, decimals="int64")) == 1


def test_the_tables_are_there() -> None:
    """The manual has both tables, and no other word in their cells."""
    words = {cell for first in ("frame", "column") for row in _cells(first)[1].values() for cell in row[-1:]}
    assert words <= {"yes", "no", "declared"}
    assert re.search(r"decimals=.double.", PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("declares", [{}, {"decimals": "double"}], ids=["plain", "declared"])
def test_structs_in_any_state(declares: dict[str, Any]) -> None:
    """Invariant: rows of structs that are sliced, null or in chunks are answered as mappings are, by every method."""
    rows: list[dict[str, Any]] = [{"n": number % 5, "s": "ab"[number % 2]} for number in range(20)]
    missing = [number % 7 == 3 for number in range(20)]
    whole = pa.StructArray.from_arrays(
        [pa.array([row[name] for row in rows]) for name in ("n", "s")], ["n", "s"], mask=pa.array(missing)
    )
    messages = [{} if is_null else row for row, is_null in zip(rows, missing, strict=True)]
    matcher = mqsel.compile("n > 2 OR s = 'b'", dialect="JMS")
    selectors = mqsel.SelectorSet({"x": matcher})
    for start, stop in ((0, 20), (1, 20), (4, 20), (4, 10), (10, 10)):
        part, wanted = whole[start:stop], messages[start:stop]
        chunked = pa.chunked_array([part[:3], part[3:]])
        for given in (part, chunked, pa.chunked_array([], whole.type) if not wanted else chunked[:]):
            truths = [matcher.evaluate(one) for one in wanted]
            assert matcher.match_batch(given, **declares).to_pylist() == [one == mqsel.Truth.TRUE for one in truths]
            assert matcher.truth_batch(given, **declares).null_count == truths.count(mqsel.Truth.UNKNOWN)
            assert selectors.match_batch(given, **declares).to_pylist() == [[0][: one == 1] for one in truths]
            assert matcher.why(given, **declares).parts == matcher.why(wanted).parts
            assert [one[:3] for one in matcher.why(given, **declares).properties] == [
                one[:3] for one in matcher.why(wanted).properties
            ]


@pytest.mark.parametrize("side", ["__arrow_c_array__", "__arrow_c_stream__"])
def test_no_memory_is_no_fault_of_a_batch(side: str) -> None:
    """That there is no memory is reported as that, by every method."""

    def fail(_self: object, _schema: object = None) -> None:
        raise MemoryError

    batch = type("Batch", (), {side: fail})()
    matcher = mqsel.compile("n > 2", dialect="JMS")
    for method in (matcher.match_batch, matcher.truth_batch, matcher.why, mqsel.SelectorSet({1: "n > 2"}).match_batch):
        with pytest.raises(MemoryError):
            method(batch)
