"""Every type of pyarrow, in a batch and in a Parquet file: read, or one PropertyTypeError that names the column."""

from __future__ import annotations

import base64
import datetime as dt
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel import cli, files
from mqsel.errors import MqselError, PropertyTypeError
from mqsel.files.inspection import of_columns
from mqsel.values import ARROW_READ, Float32, Int8, Int16, Int32

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 5
KEPT = "id = 1 OR id = 3 OR id = 4 OR id = 5"  # in two runs
INDEX_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TEXTS = ("x", "a text that is no short one")
BYTES = (b"x", b"bytes that are not short ones")
DAY, TIME, SPAN = dt.date(2024, 1, 2), dt.time(1, 2, 3), dt.timedelta(days=1, seconds=2)
MOMENT = dt.datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001 (without a zone)

Make = Callable[[], Any]


def column(values: tuple[Any, Any], kind: Any) -> Any:
    """Lay two values out in five rows: the first, the second, NULL, the first, NULL."""
    first, second = values
    return pa.array([first, second, None, first, None], kind)


def encoded(values: Any, indices: str = "int32") -> Any:
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0, None], getattr(pa, indices)()), values)


def extension(kind: Any, values: tuple[Any, Any]) -> Any:
    return pa.ExtensionArray.from_storage(kind, column(values, kind.storage_type))


class Own(pa.ExtensionType):  # type: ignore[misc]
    """A type of somebody who registered none."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "tests.own")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


def union(mode: str) -> Any:
    tags, texts = pa.array([0, 1, 1, 0, 1], pa.int8()), pa.array(["x", "y", None, "z", None])
    if mode == "dense":
        return pa.UnionArray.from_dense(tags, pa.array([0, 0, 1, 1, 2], pa.int32()), [pa.array([1, 2]), texts[1:]])
    return pa.UnionArray.from_sparse(tags, [pa.array(range(ROWS)), texts])


# What is read: how a column is made, and its first two values as the machine reads them from Python.
READ: dict[str, tuple[Make, tuple[Any, Any]]] = {}
# What is refused: how a column is made, and the words for its type.
REFUSED: dict[str, tuple[Make, str]] = {}

for _name, _values, _class in (
    ("null", (None, None), None),
    ("bool_", (True, False), bool),
    ("int8", (1, -2), Int8),
    ("uint8", (1, 255), Int16),
    ("int16", (1, -2), Int16),
    ("uint16", (1, 65535), Int32),
    ("int32", (1, -2), Int32),
    ("uint32", (1, 1 << 31), int),
    ("int64", (1, -(1 << 62)), int),
    ("uint64", (1, 1 << 62), int),
    ("float32", (1.5, -2.5), Float32),
    ("float64", (1.5, float("inf")), float),
    *((one, TEXTS, str) for one in ("string", "large_string", "string_view")),
    *((one, BYTES, bytes) for one in ("binary", "large_binary", "binary_view")),
):
    _python = tuple(one if _class is None else _class(one) for one in _values)
    READ[_name] = (lambda name=_name, values=_values: column(values, getattr(pa, name)())), _python
    for _indices in INDEX_TYPES if "string" in _name else ("int32",):
        READ[f"dictionary {_indices} {_name}"] = (
            (
                lambda name=_name, values=_values, indices=_indices: encoded(
                    pa.array(values, getattr(pa, name)()), indices
                )
            ),
            _python,
        )
for _name, _make, _found in (
    ("float16", lambda: column((1.5, 2.5), pa.float16()), "float16"),
    ("fixed_size_binary", lambda: column((b"abc", b"def"), pa.binary(3)), "fixed_size_binary"),
    *(
        (
            f"decimal{bits}",
            lambda bits=bits: column((Decimal("1.50"), Decimal("2.50")), getattr(pa, f"decimal{bits}")(5, 2)),
            "decimal",
        )
        for bits in (32, 64, 128, 256)
    ),
    *(
        (
            f"timestamp {unit} {zone}",
            lambda unit=unit, zone=zone: column((MOMENT, MOMENT), pa.timestamp(unit, zone)),
            "timestamp",
        )
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "+02:00")
    ),
    *(
        (f"duration {unit}", lambda unit=unit: column((SPAN, SPAN), pa.duration(unit)), "duration")
        for unit in ("s", "ms", "us", "ns")
    ),
    ("date32", lambda: column((DAY, DAY), pa.date32()), "date32"),
    ("date64", lambda: column((DAY, DAY), pa.date64()), "date64"),
    ("time32", lambda: column((TIME, TIME), pa.time32("s")), "time"),
    ("time64", lambda: column((TIME, TIME), pa.time64("us")), "time"),
    ("interval", lambda: column(((1, 2, 3), (4, 5, 6)), pa.month_day_nano_interval()), "interval"),
    ("list", lambda: column(([1], []), pa.list_(pa.int32())), "list"),
    ("list of views", lambda: column((["x"], []), pa.list_(pa.string_view())), "list"),
    ("large_list", lambda: column(([1], []), pa.large_list(pa.int32())), "large_list"),
    ("list_view", lambda: column(([1], []), pa.list_view(pa.int32())), "list_view"),
    ("large_list_view", lambda: column(([1], []), pa.large_list_view(pa.int32())), "large_list_view"),
    ("fixed_size_list", lambda: column(([1, 2], [3, 4]), pa.list_(pa.int32(), 2)), "fixed_size_list"),
    (
        "fixed_size_list of views",
        lambda: column((["x", "y"], ["z", None]), pa.list_(pa.string_view(), 2)),
        "fixed_size_list",
    ),
    ("struct", lambda: column(({"x": 1}, {"x": None}), pa.struct({"x": pa.int32()})), "struct"),
    ("struct of views", lambda: column(({"x": "a"}, {"x": None}), pa.struct({"x": pa.string_view()})), "struct"),
    ("struct of nothing", lambda: column(({}, {}), pa.struct({})), "struct"),
    ("map", lambda: column(([("a", 1)], []), pa.map_(pa.string(), pa.int32())), "map"),
    ("map of views", lambda: column(([("a", "b")], []), pa.map_(pa.string_view(), pa.string_view())), "map"),
    ("dense_union", lambda: union("dense"), "union"),
    ("sparse_union", lambda: union("sparse"), "union"),
    (
        "run_end_encoded",
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([1, 5], pa.int32()), pa.array(["x", None])),
        "run_end_encoded",
    ),
    ("uuid", lambda: extension(pa.uuid(), (b"1" * 16, b"2" * 16)), "arrow.uuid"),
    ("json", lambda: extension(pa.json_(), ("1", "2")), "arrow.json"),
    ("json of views", lambda: extension(pa.json_(pa.string_view()), ("1", "2")), "arrow.json"),
    ("bool8", lambda: extension(pa.bool8(), (1, 0)), "arrow.bool8"),
    ("opaque", lambda: extension(pa.opaque(pa.int32(), "a", "b"), (1, 2)), "arrow.opaque"),
    ("opaque of views", lambda: extension(pa.opaque(pa.string_view(), "a", "b"), ("1", "2")), "arrow.opaque"),
    (
        "fixed_shape_tensor",
        lambda: extension(pa.fixed_shape_tensor(pa.int32(), [2]), ([1, 2], [3, 4])),
        "arrow.fixed_shape_tensor",
    ),
    ("an extension of somebody", lambda: extension(Own(), ("1", "2")), "tests.own"),
    (
        "dictionary of fixed_size_binary",
        lambda: encoded(pa.array([b"abc", b"def"], pa.binary(3))),
        "dictionary of fixed_size_binary",
    ),
    ("dictionary of date32", lambda: encoded(pa.array([DAY, DAY])), "dictionary of date32"),
    ("dictionary of decimal", lambda: encoded(pa.array([Decimal("1.5"), Decimal("2.5")])), "dictionary of decimal"),
    ("dictionary of list", lambda: encoded(pa.array([[1], [2]])), "dictionary of list"),
    ("dictionary of struct", lambda: encoded(pa.array([{"x": 1}, {"x": 2}])), "dictionary of struct"),
    ("dictionary of float16", lambda: encoded(pa.array([1.5, 2.5], pa.float16())), "dictionary of float16"),
    (
        "dictionary of dictionary",
        lambda: encoded(pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", "y"]))),
        "dictionary of dictionary of string",
    ),
):
    REFUSED[_name] = _make, _found
# Months, and days with milliseconds: pyarrow makes none, and reads the first two of their batches by the interface.
WITHOUT_FACTORY = {"INTERVAL_MONTHS", "INTERVAL_DAY_TIME"}
ABSTRACT = {"BaseExtensionType", "DataType", "ExtensionType", "UnionType", "UnknownExtensionType"}
NO_TYPES = {
    "chunked_array",
    "from_numpy_dtype",
    "infer_type",
    "register_extension_type",
    "type_for_alias",
    "unregister_extension_type",
}
# Factories whose name is not that of the row.
NAMES = {
    "utf8": "string",
    "large_utf8": "large_string",
    "list_": "list",
    "map_": "map",
    "json_": "json",
    "dictionary": "dictionary int32 string",
    "month_day_nano_interval": "interval",
    "time32": "time32",
    "timestamp": "timestamp us UTC",
    "duration": "duration us",
    "union": "dense_union",
}


def made(make: Make) -> Any:
    """Return a column, of a type that this pyarrow has."""
    try:
        return make()
    except (AttributeError, NotImplementedError, pa.ArrowInvalid) as error:
        pytest.skip(f"this pyarrow has no such column: {error}")


def makeable() -> list[Any]:
    arrays = []
    for make, _ in (*READ.values(), *REFUSED.values()):
        try:
            arrays.append(make())
        except (AttributeError, NotImplementedError, pa.ArrowInvalid):
            continue
    return arrays


def batch_of(one: Any) -> Any:
    return pa.table({"s": one, "id": range(1, ROWS + 1)})


def written(one: Any, path: Path) -> bool:
    """Write a column to Parquet; of a type that pyarrow does not write, say in the file that its values were of it."""
    try:
        pq.write_table(batch_of(one), path)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        schema = pa.schema([("s", one.type), ("id", pa.int64())]).serialize().to_pybytes()
        plain = pa.array(["x", "y", None, "x", None])
        if pa.types.is_dictionary(one.type) and pa.types.is_binary_view(one.type.value_type):
            plain = plain.cast(pa.binary())
        if pa.types.is_dictionary(one.type) and pa.types.is_null(one.type.value_type):
            plain = pa.nulls(ROWS)
        table = batch_of(plain).replace_schema_metadata({"ARROW:schema": base64.b64encode(schema)})
        pq.write_table(table, path, store_schema=False)
        return False
    return True


def test_every_type_of_pyarrow_has_a_row() -> None:
    """A type, a factory or a class that this pyarrow has and no row makes fails here until a row says what it is."""
    arrays = makeable()
    ids = {name.removeprefix("Type_") for name in dir(pa.lib) if name.startswith("Type_")}
    numbers = {getattr(pa.lib, f"Type_{name}"): name for name in ids}
    assert sorted(WITHOUT_FACTORY & ids) == sorted(
        ids - {numbers[one.type.id] for one in arrays if one.type.id in numbers}
    )

    classes, waiting = set(), [pa.DataType]
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        if one.__module__.startswith("pyarrow"):
            classes.add(one.__name__)
    assert set() == classes - ABSTRACT - {type(one.type).__name__ for one in arrays}

    factories = {
        name
        for name in dir(pa)
        if type(getattr(pa, name)).__name__ in ("cython_function_or_method", "builtin_function_or_method")
        and re.search(r"type", (getattr(pa, name).__doc__ or "").partition("Returns")[2][:200], re.IGNORECASE)
    }
    assert set() == {NAMES.get(name, name) for name in factories - NO_TYPES} - {*READ, *REFUSED}


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name: str, tmp_path: Path) -> None:
    """A column is to every path what the same values are as Python objects, in a batch, in a file, in `why`."""
    make, (first, second) = READ[name]
    one = made(make)
    values = [first, second, None, first, None]
    texts = {bool: "s", str: f"s = '{second}'", bytes: "s IS NOT NULL"}
    test = texts.get(type(second), "s IS NULL" if second is None else "s > 1")
    for text in ("s IS NULL", test, f"{test} OR id = 2"):
        matcher = mqsel.compile(text)
        expected = [matcher.evaluate({"s": value, "id": number}) for number, value in enumerate(values, 1)]
        batch = batch_of(one)
        assert [bool(truth) for truth in expected] == matcher.match_batch(batch).to_pylist()
        assert [None if truth is mqsel.Truth.UNKNOWN else bool(truth) for truth in expected] == matcher.truth_batch(
            batch
        ).to_pylist()
        chosen = [[7] if truth else [] for truth in expected]
        found = mqsel.SelectorSet({7: text}).match_batch(batch).to_pylist()
        assert chosen == [[7] * len(row) for row in found]
        messages = [{"s": value, "id": number} for number, value in enumerate(values, 1)]
        first_line = str(matcher.why(messages)).replace("message", "row").splitlines()[0]
        assert str(matcher.why(batch)).splitlines()[0] == first_line
        path = tmp_path / "a.parquet"
        if written(one, path):
            lines = [json.loads(line) for line in files.filter(path, text)]
            assert [number for number, truth in enumerate(expected, 1) if truth] == [line["id"] for line in lines]
    lines = [json.loads(line) for line in files.filter(path, KEPT)]
    assert [line["id"] for line in lines] == [1, 3, 4, 5]
    assert [line["s"] is not None for line in lines] == [True, False, True, False] or first is None
    rows = [{row.name: row.type for row in found.rows()} for found in of_columns(str(path))]
    kind = ARROW_READ[str(getattr(one.type, "value_type", one.type))].read_as
    assert [kind, kind, "null", kind, "null"] == [row["s"] for row in rows]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column that the selector reads is one PropertyTypeError that names it; another one is kept in the row."""
    make, kind = REFUSED[name]
    one = made(make)
    batch, matcher = batch_of(one), mqsel.compile("s IS NULL OR id = 2")
    selectors = mqsel.SelectorSet({7: "s IS NULL", 8: "id = 2"})
    for call in (matcher.match_batch, matcher.truth_batch, selectors.match_batch, matcher.why):
        with pytest.raises(PropertyTypeError) as caught:
            call(batch)
        assert f"column 's' has the Arrow type {kind}: expected bool" in str(caught.value)
        assert ("s", kind) == (caught.value.name, caught.value.value_type)
        assert caught.value.hint
    kept = mqsel.compile(KEPT)
    assert kept.match_batch(batch).to_pylist() == [True, False, True, True, True]
    assert "4 of 5 rows are selected" in str(kept.why(batch))
    assert "no row has ss" in str(mqsel.compile("ss = 1").why(batch))

    path = tmp_path / "a.parquet"
    try:
        written(one, path)
    except pa.ArrowException:
        return  # Parquet has no struct of nothing
    lines = [json.loads(line) for line in files.filter(path, KEPT)]
    assert [line["id"] for line in lines] == [1, 3, 4, 5]
    assert [line["s"] is not None for line in lines] == [True, False, True, False]
    assert len([*of_columns(str(path))]) == ROWS
    assert cli.main(["inspect", str(path)]) == 0
    # What Parquet itself has no type for comes back as another.
    back = pq.read_schema(path).field("s")
    back_as = str(back.type.value_type if pa.types.is_dictionary(back.type) else back.type)
    if back_as in ARROW_READ and not back.metadata:  # nor does it name an extension
        assert [json.loads(line)["id"] for line in files.filter(path, "s IS NULL")] == [3, 5]
        return
    with pytest.raises(PropertyTypeError, match="column 's' has the Arrow type") as caught:
        list(files.filter(path, matcher))
    assert (caught.value.name, caught.value.path) == ("s", str(path))
    capsys.readouterr()
    for command, file in (("match", str(path)), ("why", str(path)), ("explain", f"{path}:1")):
        status = cli.main([command, "s IS NULL", file])
        complaint = capsys.readouterr().err
        assert (status, complaint.count("mqsel: "), complaint.count("column 's'")) == (2, 1, 1), complaint


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_hint_says_helps(name: str) -> None:
    """A column is read once it is what the hint says, where the hint names a type or a function."""
    one = made(REFUSED[name][0])
    for _ in range(3):
        try:
            mqsel.compile("s IS NULL").match_batch(batch_of(one))
        except PropertyTypeError as error:
            hint = error.hint or ""
        else:
            return
        if hint == "cast it to the type of its dictionary's values":
            one = (
                pa.array(one.to_pylist(), one.type.value_type)
                if pa.types.is_nested(one.type.value_type)
                else one.cast(one.type.value_type)
            )
        elif hint.startswith("cast it to "):
            one = one.cast(hint.removeprefix("cast it to ").partition(",")[0])
        elif hint == "take its storage":
            one = one.storage
        elif "run_end_decode" in hint:
            one = pytest.importorskip("pyarrow.compute").run_end_decode(one)
        else:
            assert hint in ("make a column of the one value that the property has", "name a field of it, as in a.b")
            return
    raise AssertionError(hint)


def test_values_that_python_does_not_know(tmp_path: Path) -> None:
    """A zone, a day and a span that Python does not know are one error of the column that is kept, and none if not."""
    path = tmp_path / "a.parquet"
    for number, kind in (
        (1, pa.timestamp("us", "No/Zone")),
        (1 << 30, pa.date32()),
        (1 << 62, pa.duration("s")),
    ):
        plain = pa.int32() if kind == pa.date32() else pa.int64()
        pq.write_table(batch_of(column((number, 2), plain).view(kind)), path)
        assert [json.loads(line)["id"] for line in files.filter(path, "id = 3")] == [3]
        with pytest.raises(PropertyTypeError, match="column 's' of the Arrow type") as caught:
            list(files.filter(path, "id = 1"))
        assert isinstance(caught.value, MqselError)
        assert len([*of_columns(str(path))]) == ROWS
