"""Rows picked out of the pages of Parquet, which pyarrow reads alike, and whole."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel.errors import FileError
from mqsel.files import parquet
from mqsel.files._parquet import Page, Picked, page_at
from mqsel.files.parts import Part
from mqsel.files.scan import Ask, Broken, sift_part

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 3000
# Arrow types, and what makes a value of each.
COLUMNS: dict[str, tuple[Any, Any]] = {
    "few": (pa.string(), lambda rng: f"{rng.randrange(9)}é"),
    "one": (pa.string(), lambda rng: "x"),  # noqa: ARG005 (as the others)
    "many": (pa.string(), lambda rng: f"{rng.randrange(10**9)}" * rng.randrange(4)),
    "large": (pa.large_string(), lambda rng: f"{rng.randrange(400)}"),
    "bytes": (pa.binary(), lambda rng: rng.randbytes(rng.randrange(9))),
    "runs": (pa.int64(), lambda rng: rng.randrange(4) // 3),
    "byte": (pa.int8(), lambda rng: rng.randrange(-128, 128)),
    "short": (pa.uint16(), lambda rng: rng.randrange(1 << 16)),
    "word": (pa.uint32(), lambda rng: rng.randrange(1 << 32)),
    "wide": (pa.uint64(), lambda rng: rng.randrange(1 << 64)),
    "float": (pa.float32(), lambda rng: float(rng.randrange(1000))),
    "double": (pa.float64(), lambda rng: rng.random()),
    "time": (pa.timestamp("us", "UTC"), lambda rng: rng.randrange(10**15)),
    "millis": (pa.timestamp("ms"), lambda rng: rng.randrange(10**12)),
    "seconds": (pa.timestamp("s"), lambda rng: rng.randrange(10**9)),
    "flag": (pa.bool_(), lambda rng: rng.random() < 0.5),
    "list": (pa.list_(pa.int8()), lambda rng: [rng.randrange(9)]),
    "struct": (pa.struct({"a": pa.int32()}), lambda rng: {"a": rng.randrange(9)}),
    "none": (pa.int32(), lambda rng: None),  # noqa: ARG005 (as the others)
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_dictionary": False, "data_page_size": 700},
    {"dictionary_pagesize_limit": 900, "data_page_size": 2000},
    {"data_page_version": "2.0"},
    {"version": "1.0", "compression": "none"},
    {"compression": "gzip"},
    {"compression": "zstd", "data_page_size": 3000},
    {"compression": "lz4"},
    {"compression": "brotli", "store_schema": False},
]


def _table(rng: random.Random, share: float) -> Any:
    columns = {
        name: pa.array([None if rng.random() < share else make(rng) for _ in range(ROWS)], kind)
        for name, (kind, make) in COLUMNS.items()
    }
    fields = [
        pa.field("n", pa.int64()),
        *(pa.field(name, one.type, bool(one.null_count)) for name, one in columns.items()),
    ]
    return pa.table([pa.array(range(ROWS)), *columns.values()], pa.schema(fields))


def _texts(table: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("share", [0, 0.2, 0.99])
def test_picked_rows_are_those_of_pyarrow(tmp_path: Path, options: dict[str, Any], share: float) -> None:
    """Invariant: whatever is selected, how it is written and packed, the rows are those of the file."""
    rng = random.Random(f"{options} {share}")
    path = str(tmp_path / "a.parquet")
    pq.write_table(_table(rng, share), path, row_group_size=2000, **options)
    whole = pq.read_table(path)
    matcher = mqsel.compile("n >= 0")
    for count in (1, 2, 40, 200):
        wanted = sorted(rng.sample(range(ROWS), count))
        at, got = 0, []
        for group in parquet.groups(matcher, path, 0, -1):
            mask = pa.array([row in set(wanted) for row in range(at, at + group.rows)])
            got += [row for table in parquet.taken(path, group, mask) for row in _texts(table)]
            at += group.rows
        assert got == _texts(whole.take(wanted))


def test_what_is_picked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of flat columns of pages as most programs write them, pyarrow reads only what has no whole bytes."""
    path = str(tmp_path / "a.parquet")
    pq.write_table(_table(random.Random("picked"), 0.1), path)
    read: list[Any] = []

    def noted(*arguments: Any, call: Any = parquet._picked) -> Any:
        read.append(call(*arguments))
        return read[-1]

    monkeypatch.setattr(parquet, "_picked", noted)
    for group in parquet.groups(mqsel.compile("n = 7"), path, 0, -1):
        (table,) = parquet.taken(path, group, pa.array([row == 7 for row in range(ROWS)]))
        assert table.column_names == ["n", *COLUMNS]
    assert len(read) == len(COLUMNS) - 2  # a list and a struct have other paths
    assert sum(one is None for one in read) == 1  # flags have no whole bytes


def test_damaged_pages(tmp_path: Path) -> None:
    """Invariant: whatever the bytes of the pages are, there are rows, or one FileError."""
    rng = random.Random("damage")
    path = tmp_path / "a.parquet"
    kept = [name for name in COLUMNS if name not in ("list", "struct", "flag")]
    pq.write_table(_table(rng, 0.2).select(["n", *kept]), path, compression="none", data_page_size=2000)
    content = path.read_bytes()
    pages = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    matcher = mqsel.compile("n = 7 OR n = 1500 OR n = 2999")
    broken = 0
    for _ in range(200):
        damaged = bytearray(content)
        for _ in range(rng.choice((1, 5, 200))):
            damaged[rng.randrange(4, pages)] = rng.randrange(256)
        path.write_bytes(damaged)
        found = list(sift_part(matcher, Ask(False, False, False, None), Part(str(path), "parquet", 0, -1)))
        broken += any(isinstance(one, Broken) for one in found)
    assert 0 < broken < 200


def test_hostile_pages() -> None:
    """Invariant: any bytes for a page, of any header, are read within their bounds: to an end, with an answer."""
    rng = random.Random("hostile")
    answers = set()
    for _ in range(20_000):
        width, count = rng.choice((0, 4, 8)), rng.randrange(1, 6)
        picked = Picked(width, rng.random() < 0.5, count)
        if rng.random() < 0.8:
            entries = b"".join(struct.pack("<i", rng.choice((0, 1, 2, 3, 9, -1))) + b"abcd" for _ in range(3))
            picked.learn(memoryview(entries), rng.randrange(-1, 5))
        data = bytes(rng.choice((0, 1, 2, 3, 4, 8, 16, 255, rng.randrange(256))) for _ in range(rng.randrange(40)))
        rows = memoryview(struct.pack(f"<{count}q", *sorted(rng.sample(range(60), count)))).cast("q")
        page = Page(0, len(data), len(data), rng.choice((0, 5, 60, 1 << 40)), rng.choice((0, 2, 8, 5)), 3, 0)
        answers.add(picked.take(memoryview(data), page, rows, rng.choice((0, 0, 3))))
        assert picked.rows <= count
        header = page_at(memoryview(data), rng.randrange(-1, 41))
        assert header is None or header.packed <= len(data)
    assert answers == {False, True}


def test_a_file_that_is_no_longer_there(tmp_path: Path) -> None:
    """A file that is gone is a FileError."""
    with pytest.raises(FileError, match="gone"):
        parquet.group_sizes(str(tmp_path / "gone.parquet"))
