"""Files taken apart: whatever the size of the parts, together they give what the file gives."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from printer import amqsbcg_text

import mqsel
from mqsel.errors import FileError, MqselError
from mqsel.files import parquet
from mqsel.files.framings import length_prefixed
from mqsel.files.parts import FilePart, Named, kind_of, listed, listed_files, messages, packed, partition, parts
from mqsel.files.qload import qload_text
from mqsel.files.run.work import Ask, Broken, Match, Tally
from mqsel.formats import mq


def _messages(found: list[FilePart]) -> list[tuple[int, bytes]]:
    return [(piece.place, piece.raw) for part in found for piece in messages(part)]  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\nbb\n\nccc\r\n" * 7 + b"end", b"x" * 40 + b"\n" + b"y"])
def test_lines_in_parts(tmp_path: Path, text: bytes) -> None:
    """Invariant: parts of any size give every line once, in order, each with its first byte."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(text)
    lines = text.splitlines(keepends=True)
    places = [sum(map(len, lines[:number])) for number in range(len(lines))]

    for size in range(1, len(text) + 2):
        assert _messages(parts(str(file), "json", size)) == list(zip(places, lines, strict=True))


def test_what_is_read_whole(tmp_path: Path) -> None:
    """Packed files, QLOAD and length-prefixed bytes are one part each, and known by their first bytes."""
    message = mq.encode({}, {"a": 1}, b"data")
    contents = {
        "json": gzip.compress(b'{"a": 1}\n' * 500),
        "qload": b"* QLOAD\n\n" + qload_text(message) * 3,
        "amqsbcg": b"$ amqsbcg Q\n" + amqsbcg_text(message) * 3,
        "mq": length_prefixed(message) * 3,
    }
    for kind, content in contents.items():
        file = tmp_path / kind
        file.write_bytes(content)
        assert kind_of(str(file)) == kind
        assert parts(str(file), kind, 16) == [FilePart(str(file), kind, 0, -1)]


def test_what_a_path_stands_for(tmp_path: Path) -> None:
    """A directory's files in order, without hidden ones; a pattern; errors for what would be lost without one."""
    for name in ("b", "a", "_SUCCESS", ".a.crc"):
        (tmp_path / name).touch()
    here = str(tmp_path)

    assert listed(here) == listed(f"file://{here}") == listed(f"{here}/[ab]") == [f"{here}/a", f"{here}/b"]
    with pytest.raises(FileError, match="No such file or directory"):
        listed(f"{here}/c")
    with pytest.raises(FileError, match="no files"):
        listed(f"{here}/x*")
    (tmp_path / "c").mkdir()
    with pytest.raises(FileError, match="contains the directory 'c'"):
        listed(here)


def test_files_at_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other file systems are read by universal_pathlib, alike; without it, and without theirs, the error says so."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "upath", None)
        with pytest.raises(MqselError, match=r"memory://a needs universal_pathlib"):
            listed("memory://a")
    upath = pytest.importorskip("upath", reason="universal_pathlib is not installed")
    root = upath.UPath("memory://test_files_at_addresses")
    for name in ("day=1/a.jsonl", "day=1/_SUCCESS", "day=2/b.jsonl", "day=3/c.jsonl"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(gzip.compress(b'{"a": 1}\n{"a": 2}\n') if "b" in name else b'{"a": 1}\n{"a": 2}\n')
    found = listed(str(root))

    assert found == [f"{root}/day={number}/{name}.jsonl" for number, name in enumerate("abc", 1)]
    assert listed(f"{root}/day={{1,2}}/*") == found[:2]
    assert listed(f"{root}/day={{1,2}}") == found[:2]
    assert partition(str(root), found[1]) == partition(f"{root}/day=?", found[1]) == {"day": "2"}
    for file in found:
        assert kind_of(file) == "json"
        pieces = _messages(parts(file, "json", 10))
        assert [raw for _, raw in pieces] == [b'{"a": 1}\n', b'{"a": 2}\n']
    assert len(packed([FilePart(file, "json", 0, -1) for file in found], 1)) == 3
    for address, words in (("memory://nothing", "memory://nothing"), ("nope://a", "nope"), (f"{root}/x*", "no files")):
        with pytest.raises(FileError, match=words):
            listed(address)


def test_braces_and_hidden_files_in_patterns(tmp_path: Path) -> None:
    """Alternatives nest; what is hidden counts only where the pattern itself says so."""
    for name in ("a1", "a2", "b1", "{odd}", "_SUCCESS", ".crc"):
        (tmp_path / name).touch()
    for pattern, names in (
        ("{a,b}1", ["a1", "b1"]), ("{a{1,2},b?}", ["a1", "a2", "b1"]), ("{odd}", ["{odd}"]), ("_*", ["_SUCCESS"]),
        ("*", ["a1", "a2", "b1", "{odd}"]), ("*{1,_SUCCESS}", ["a1", "b1"]),
    ):  # fmt: skip
        assert listed(f"{tmp_path}/{pattern}") == [str(tmp_path / name) for name in names], pattern
    with pytest.raises(FileError, match="no files"):
        listed(f"{tmp_path}/{{x,y}}")


def test_directories_that_name_values(tmp_path: Path) -> None:
    """Files in directories such as day=1 count, and the names of these say what they say, below the path alone."""
    for name in ("day=1/kind=a%20b/x", "day=2/kind=__HIVE_DEFAULT_PARTITION__/x", "day=2/_temporary/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = listed(str(tmp_path))

    assert [partition(str(tmp_path), file) for file in found] == [
        {"day": "1", "kind": "a b"},
        {"day": "2", "kind": None},
    ]
    assert partition(f"{tmp_path}/day=1", found[0]) == {"kind": "a b"}
    (of_pattern,) = listed(f"file://{tmp_path}/day={{1,3}}")
    assert partition(f"file://{tmp_path}/day={{1,3}}", of_pattern) == {"day": "1", "kind": "a b"}


def test_files_that_names_stand_for(tmp_path: Path) -> None:
    """All directories in a path say something, whoever wrote it out: whole numbers where all are, else strings."""
    for name in ("day=01/kind=7/x", "day=-2/kind=a/x", "day=__HIVE_DEFAULT_PARTITION__/kind=/x"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    here = str(tmp_path)
    every = listed_files([here])

    assert [dict(one.fixed) for one in every] == [
        {"day": -2, "kind": "a"},
        {"day": 1, "kind": "7"},
        {"day": None, "kind": ""},
    ]
    assert (
        listed_files([f"{here}/day=*/*/x"])
        == listed_files([one.path for one in every])
        == listed_files([f"file://{here}"])
        == every
    )
    nowhere, stdin, first = listed_files([f"{here}/nowhere", "-", every[0].path])
    assert isinstance(nowhere.trouble, FileError)
    assert (nowhere.path, stdin, first.path) == (f"{here}/nowhere", Named("-", (), None), every[0].path)


def test_small_parts_are_packed(tmp_path: Path) -> None:
    """A bunch is as large as asked for, and the order stays."""
    files = [tmp_path / str(number) for number in range(5)]
    for file in files:
        file.write_bytes(b"x" * 40)
    found = [FilePart(str(file), "json", 0, -1) for file in files]

    assert packed(found, 100) == [tuple(found[:2]), tuple(found[2:4]), tuple(found[4:])]
    assert packed([], 100) == []


def test_utf_16_is_one_part(tmp_path: Path) -> None:
    """A text in UTF-16 is read whole, and gives its lines in UTF-8, each at its first byte there."""
    lines = [json.dumps({"n": n, "color": "grün"}, ensure_ascii=False).encode() + b"\n" for n in range(500)]
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"".join(lines).decode().encode("utf-16"))
    (part,) = parts(str(file), kind_of(str(file)), 16)
    places = [len(b"".join(lines[:number])) for number in range(len(lines))]

    assert part == FilePart(str(file), "json", 0, -1)
    assert _messages([part]) == list(zip(places, lines, strict=True))


def test_what_was_skipped_travels(tmp_path: Path) -> None:
    """A part gives with its counts how many messages had something skipped, and the first of them."""
    message = mq.encode({}, {"a": 1}, b"data")
    file = tmp_path / "a"
    file.write_bytes(b"".join(map(length_prefixed, (message, message.replace(b"<a ", b"<- "), b"x", message))))
    *_, tally = Match.part(mqsel.compile("a = 1"), Ask(False, True, False, None), FilePart(str(file), "mq", 0, -1))

    assert isinstance(tally, Tally)
    assert tally.noted == 1
    assert tally.note is not None
    place, text = tally.note
    assert place == len(message) + 4
    assert text.startswith("MQRFH2 at byte ")
    total = Tally()
    total.add(tally)
    assert (total.noted, total.skipped) == (1, 1)


def test_the_rest_of_a_file_is_lost(tmp_path: Path) -> None:
    """Of a packed file that was cut off the beginning is sifted; why no more is said before the counts."""
    lines = [json.dumps({"n": number, "hash": hash(str(number))}).encode() + b"\n" for number in range(20_000)]
    file = tmp_path / "cut.gz"
    file.write_bytes(gzip.compress(b"".join(lines))[:-5000])
    *got, broken, tally = Match.part(
        mqsel.compile("n >= 0"), Ask(False, False, False, None), FilePart(str(file), "json", 0, -1)
    )

    got = b"".join(got).splitlines(keepends=True)  # type: ignore[arg-type]
    assert 1000 < len(got) < 20_000
    assert got == lines[: len(got)]
    size = file.stat().st_size
    assert broken == Broken(f"the gzip is cut off at byte {size:,}; messages read before that: {tally.messages:,}")
    assert isinstance(tally, Tally)
    assert tally.selected == len(got)


def _rows(count: int) -> list[dict[str, Any]]:
    colors = ("red", "blue", None)
    return [
        {"color": colors[n % 3], "weight": None if n % 7 == 0 else n, "usr": {"a": n % 5}, "body": f"{n}" * 9}
        for n in range(count)
    ]


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, list[dict[str, Any]]]:
    """A Parquet file of ten row groups, and its rows."""
    arrow = pytest.importorskip("pyarrow")
    rows = _rows(1000)
    path = str(tmp_path / "a.parquet")
    pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), path, row_group_size=100)
    return path, rows


SELECTORS = [
    "color = 'blue' AND weight > 500",
    "weight > 998 OR weight < 3",
    "usr.a = 3",
    "",
    "nothing = 1",
    "weight IS NULL AND color LIKE 'r%'",
]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {"color": row["color"], "weight": row["weight"], "usr.a": row["usr"]["a"]}


def _selected(matcher: Any, part: FilePart) -> Iterator[Any]:
    for group in parquet.groups(matcher, part.path, part.start, part.stop):
        _, mask = parquet.counted(matcher, group, is_inverted=False, limit=None)
        for batch in parquet.taken(part.path, group, mask):
            yield from batch.to_pylist()


@pytest.mark.parametrize("selector", SELECTORS)
def test_parquet_in_parts(table: tuple[str, list[dict[str, Any]]], selector: str) -> None:
    """Invariant: row groups in parts of any size give the rows that the machine selects one by one, in order."""
    path, rows = table
    matcher = mqsel.compile(selector)
    wanted = [row for row in rows if matcher.matches(_flat(row))]

    assert kind_of(path) == "parquet"
    for size, least, most in ((1, 10, 10), (sum(parquet.group_sizes(path)[:3]), 2, 9), (1 << 30, 1, 1)):
        found = parts(path, "parquet", size)
        assert least <= len(found) <= most
        assert [row for part in found for row in _selected(matcher, part)] == wanted


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("limit", [None, 1, 7])
@pytest.mark.parametrize("invert", [False, True])
def test_rows_are_sifted_like_messages(
    table: tuple[str, list[dict[str, Any]]], tmp_path: Path, selector: str, limit: int | None, invert: bool
) -> None:
    """Invariant: rows of Parquet give the lines, and the counts, that the same rows give as JSON."""
    path, rows = table
    matcher = mqsel.compile(selector)
    ask = Ask(invert, False, False, limit)
    file = tmp_path / "a.jsonl"
    flat = [json.dumps(_flat(row)) for row in rows]
    file.write_text("\n".join(flat) + "\n")
    *lines, tally = Match.part(matcher, ask, FilePart(str(file), "json", 0, -1))
    *written, counted = Match.part(matcher, ask, FilePart(path, "parquet", 0, -1))
    got = b"".join(one for one in written if isinstance(one, bytes)).splitlines()

    assert isinstance(tally, Tally)
    assert isinstance(counted, Tally)
    assert [json.dumps(_flat(json.loads(line))) for line in got] == b"".join(lines).decode().splitlines()
    assert (counted.messages, counted.selected, counted.unknown) == (tally.messages, tally.selected, tally.unknown)
    assert +counted.missing == +tally.missing


def test_columns_that_are_not_read(table: tuple[str, list[dict[str, Any]]]) -> None:
    """A row group of which nothing is selected gives up the columns of the selector at most: NULLs are counted."""
    path, rows = table
    for selector in ("weight > 905", "weight > 905 AND weight IS NOT NULL"):
        matcher = mqsel.compile(selector)
        read = []
        for group in parquet.groups(matcher, path, 0, 10):
            if group.number < 9 and "NOT NULL" in selector:
                assert group.table is None
            else:
                assert group.table is not None
                assert group.table.column_names == ["weight"]
            _, mask = parquet.counted(matcher, group, is_inverted=False, limit=None)
            found = group._replace(file=None) if not mask.true_count else group  # without a file nothing can be read
            read += [batch.num_rows for batch in parquet.taken(path, found, mask)]
        assert sum(read) == sum((row["weight"] or 0) > 905 for row in rows)


def test_rows_that_are_long(table: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that take much memory are read few at a time, and are the same rows."""
    path, rows = table
    for limit in (1, 1000, 3000):
        monkeypatch.setattr(parquet, "_BYTES", limit)
        got = list(_selected(mqsel.compile("weight > 905 OR weight < 20"), FilePart(path, "parquet", 0, -1)))
        assert got == [row for row in rows if (row["weight"] or 50) > 905 or (row["weight"] or 50) < 20]


def test_parquet_at_addresses(table: tuple[str, list[dict[str, Any]]]) -> None:
    """Parquet is read at an address as on this machine."""
    upath = pytest.importorskip("upath", reason="universal_pathlib is not installed")
    path, rows = table
    address = "memory://test_parquet_at_addresses/day=3/a.parquet"
    upath.UPath(address).parent.mkdir(parents=True, exist_ok=True)
    upath.UPath(address).write_bytes(Path(path).read_bytes())
    (one,) = listed_files(["memory://test_parquet_at_addresses"])
    part = FilePart(one.path, kind_of(one.path), 0, -1, one.fixed)
    lines, tally = Match.part(mqsel.compile("weight > 995 AND day = 3"), Ask(False, False, False, None), part)

    assert isinstance(lines, bytes)
    assert isinstance(tally, Tally)
    wanted = [row for row in rows if (row["weight"] or 0) > 995]
    assert [json.loads(line) for line in lines.splitlines()] == [{**row, "day": 3} for row in wanted]
    assert sum(parquet.group_sizes(address)) == sum(parquet.group_sizes(path))
    with pytest.raises(FileError, match="memory://nowhere"):
        parquet.group_sizes("memory://nowhere")


def test_damaged_parquet(table: tuple[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    """A file cut short and one with a damaged page end in a FileError that names it."""
    path, _ = table
    content = Path(path).read_bytes()
    matcher = mqsel.compile("weight > 5")
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(content[:-100])
    with pytest.raises(FileError, match=r"the file cannot be read: .*\n?.*cut\.parquet"):
        parts(str(cut), "parquet")
    (broken, _) = Match.part(matcher, Ask(False, False, False, None), FilePart(str(cut), "parquet", 0, -1))
    assert isinstance(broken, Broken)
    page = tmp_path / "page.parquet"
    page.write_bytes(content[:4] + b"\xff" * 3000 + content[3004:])
    with pytest.raises(FileError, match=r"page\.parquet"):
        list(_selected(matcher, FilePart(str(page), "parquet", 0, 10)))
