"""Rows of Arrow columns as lines of JSON, and what the footer of a Parquet file says."""

from __future__ import annotations

import datetime as dt
import random
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from mqsel.errors import FileError, PropertyTypeError
from mqsel.files import parquet
from mqsel.files._footer import chunks
from mqsel.files.rows import lines
from mqsel.formats.jsonl import json_text

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _in_json(value: Any) -> Any:
    return {"bytes": value.hex()} if isinstance(value, bytes) else str(value)


def _written(table: Any) -> bytes:
    return b"".join(json_text(row, default=_in_json).encode() + b"\n" for row in table.to_pylist())


def _float(rng: random.Random) -> float:
    return rng.choice(
        (
            struct.unpack("<d", rng.randbytes(8))[0],
            struct.unpack("<f", rng.randbytes(4))[0],
            rng.uniform(-1e3, 1e3),
            rng.randrange(10**9) / 10 ** rng.randrange(12),
            float(rng.randrange(10 ** rng.randrange(1, 22))),
            rng.choice((0.0, -0.0, 1e-4, 9.999e-5, 1e9, 1e10, 1e15, 1e16, float("inf"), -float("inf"), float("nan"))),
        )
    )


def _text(rng: random.Random) -> str:
    return "".join(rng.choice('ab"\\/\n\x00\x1f\x7f é青🚗\u2028') for _ in range(rng.randrange(6)))


def _plain(rng: random.Random) -> str:
    return rng.choice(("", "blue", "größe", "青い車 🚗", "a/b"))


_LAST = (dt.datetime.max - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)  # noqa: DTZ001, DTZ901 (no zone)


def _micros(rng: random.Random) -> int:
    return rng.choice((0, 1_000_000, 739_210, -1, 1000, _LAST, rng.randrange(-(10**15), 10**15)))


NANOS = 1_772_431_200_000_000_000
# Arrow types, and what makes a value of each.
COLUMNS: dict[str, tuple[Any, Any]] = {
    "flag": (pa.bool_(), lambda rng: rng.random() < 0.5),
    **{
        f"int{bits}": (kind, lambda rng, bits=bits: rng.randrange(-(1 << bits - 1), 1 << bits - 1))
        for bits, kind in ((8, pa.int8()), (16, pa.int16()), (32, pa.int32()), (64, pa.int64()))
    },
    "uint64": (pa.uint64(), lambda rng: rng.randrange(1 << 64)),
    "double": (pa.float64(), _float),
    "float": (pa.float32(), lambda rng: struct.unpack("<f", rng.randbytes(4))[0]),
    "text": (pa.string(), _text),
    "plain": (pa.string(), _plain),
    "large": (pa.large_string(), _plain),
    "view": (pa.string_view(), _text),
    'a "name"\n青': (pa.dictionary(pa.int8(), pa.string()), lambda rng: rng.choice(('a"', "b", "é"))),
    "bytes": (pa.binary(), lambda rng: rng.randbytes(rng.randrange(5))),
    "fixed": (pa.binary(3), lambda rng: rng.randbytes(3)),
    "decimal": (pa.decimal128(20, 4), lambda rng: Decimal(rng.randrange(-(10**9), 10**9)).scaleb(-4)),
    "tiny": (pa.decimal256(40, 12), lambda rng: Decimal(rng.choice((0, 1, -7, 10**14))).scaleb(-12)),
    "date": (pa.date32(), lambda rng: dt.date.fromordinal(rng.randrange(1, 3_000_000))),
    "time": (pa.time64("us"), lambda rng: rng.choice((0, 1, 86_399_999_999))),
    "seconds": (pa.timestamp("s"), lambda rng: _micros(rng) // 10**6),
    "millis": (pa.timestamp("ms"), lambda rng: _micros(rng) // 1000),
    "micros": (pa.timestamp("us"), _micros),
    "nanos": (pa.timestamp("ns"), lambda rng: NANOS + rng.choice((0, 10**9, 1000, 123, 5 * 10**8))),
    "utc": (pa.timestamp("us", "UTC"), _micros),
    "zone": (pa.timestamp("us", "+02:00"), lambda rng: rng.randrange(10**15)),
    "span": (pa.duration("us"), lambda rng: rng.randrange(10**12)),
    "struct": (pa.struct({"x": pa.binary(), "y": pa.float64()}), lambda rng: {"x": b"\1", "y": _float(rng)}),
    "list": (pa.list_(pa.string()), lambda rng: [_text(rng), None]),
    "map": (pa.map_(pa.string(), pa.int8()), lambda rng: [(_plain(rng), 1)]),
    "nothing": (pa.null(), lambda rng: None),  # noqa: ARG005 (as the others)
}


@pytest.mark.parametrize("name", COLUMNS)
def test_lines_are_what_json_writes(name: str) -> None:
    """Invariant: of any column, whole, sliced, in chunks or without a row, the lines are those of `json_text`."""
    if name == "nanos":
        pytest.importorskip("pandas", reason="what Python makes of nanoseconds")
    rng = random.Random(name)
    kind, make = COLUMNS[name]
    for share in (0, 0.3, 1):
        values = [None if rng.random() < share else make(rng) for _ in range(300)]
        column = pa.array(values, kind)
        table = pa.table({name: column, "n": range(300)})
        apart = pa.concat_tables([table.slice(0, 7), table.slice(50, 100), table.slice(3, 0)])
        for one in (table, table.slice(13, 100), apart, table.slice(5, 0)):
            assert lines(one) == _written(one)


def test_lines_without_columns() -> None:
    """Rows without columns are empty objects."""
    empty = pa.table({"a": [1, 2]}).select([])
    assert lines(empty) == b"{}\n{}\n" == _written(empty)


_NO_TEXT = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(struct.pack("<ii", 0, 2)), pa.py_buffer(b"\xff\xfe")]
)


@pytest.mark.parametrize(
    "column",
    [
        _NO_TEXT,
        pa.array([1 << 62], pa.timestamp("us")),
        pa.array([1 << 30], pa.date32()),
    ],
    ids=["no UTF-8", "a late time", "a late day"],
)
def test_values_that_nothing_can_write(column: Any, tmp_path: Path) -> None:
    """A text that is no UTF-8 is a FileError of the file, a time beyond the year 9999 an error of its column."""
    from mqsel import compile as compile_selector
    from mqsel.files.parts import FilePart
    from mqsel.files.run.work import Ask, Broken, Match, Tally

    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": column, "n": [1]}), path, store_schema=False)
    broken, tally = Match.part(
        compile_selector("n = 1"), Ask(False, False, False, None), FilePart(path, "parquet", 0, -1)
    )
    assert isinstance(broken, Broken)
    assert isinstance(tally, Tally)
    error, words = (FileError, r"a\.parquet") if column is _NO_TEXT else (PropertyTypeError, "column 'a' of the Arrow")
    with pytest.raises(error, match=words), parquet.trouble_of(path):
        lines(pa.table({"a": column}))


# ---- the footer ------------------------------------------------------------------------------------------------------


def _footer(path: Path) -> bytes:
    content = path.read_bytes()
    return content[-8 - int.from_bytes(content[-8:-4], "little") : -8]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A Parquet file of three row groups with columns of several kinds."""
    rng = random.Random("footer")
    rows = 90
    table = pa.table(
        {
            "color": [rng.choice(("red", "blue", None)) for _ in range(rows)],
            "id": [f"ID:{n}" for n in range(rows)],
            "weight": pa.array([rng.choice((None, rng.randrange(10**6))) for _ in range(rows)], pa.int32()),
            "price": [rng.random() for _ in range(rows)],
            "flag": [n % 7 == 0 for n in range(rows)],
            "usr": [{"a": n, "b": [n]} for n in range(rows)],
            "none": pa.nulls(rows, pa.int64()),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=30, use_dictionary=["color"])
    return path


def test_footer_says_what_pyarrow_says(file: Path) -> None:
    """Invariant: of every piece that is asked for, and of no other, counts, extremes and encoding are pyarrow's."""
    metadata = pq.read_metadata(file)
    found = chunks(_footer(file), [0, 2, 3, 4, 5, 6, 7, 99])
    assert found is not None
    assert len(found) == metadata.num_row_groups == 3
    for number, group in enumerate(found):
        assert [place for place, one in enumerate(group) if one is None] == [1]
        for place, one in enumerate(group):
            if one is not None:
                column = metadata.row_group(number).column(place)
                extremes = column.statistics
                assert (one.values, one.nulls) == (column.num_values, extremes.null_count)
                assert one.is_dictionary is (place == 0)
                assert (one.low is not None) == extremes.has_min_max
                if extremes.has_min_max and place == 2:
                    assert struct.unpack("<ii", one.low + one.high) == (extremes.min_raw, extremes.max_raw)
                elif extremes.has_min_max and place == 0:
                    assert (one.low, one.high) == (extremes.min_raw, extremes.max_raw)


def test_damaged_footers_end(file: Path) -> None:
    """Invariant: whatever the bytes of a footer are, reading it ends, with rows of pieces or with None."""
    footer = _footer(file)
    rng = random.Random("damage")
    for _ in range(3000):
        damaged = bytearray(footer[: rng.choice((len(footer), rng.randrange(len(footer))))])
        for _ in range(rng.randrange(4)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        found = chunks(bytes(damaged), range(8))
        assert found is None or all(isinstance(group, list) for group in found)
    assert chunks(b"", []) is None
    assert chunks(b"\x19" * 100_000, [0]) is None
    assert chunks(b"\x1c" * 100_000, [0]) is None
