"""Lines of JSON have a greatest size: a longer line is a broken message with its place, and is never held whole."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import tracemalloc
from pathlib import Path

import pytest

from mqsel import cli, files
from mqsel.errors import FileError
from mqsel.files._splitters import LongLine
from mqsel.files.framings import blocks, pieces

LONG = b'{"b": "' + b"x" * 3000 + b'", "a": 1}\n'
LINES = b'{"a": 1, "n": 1}\n' + LONG + b'{"a": 1, "n": 2}\n\n' + LONG[:-1]
SAID = "the line is longer than 1,024 bytes: expected a message of this size at most"


class _Endless(io.RawIOBase):
    """Many bytes without a line end."""

    left = 16 << 20

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = min(len(buffer), self.left)
        self.left -= size
        buffer[:size] = b"x" * size
        return size


COMMANDS = (
    ("match", "--json", "a = 1"),
    ("match", "-v", "a = 2"),
    ("match", "-n", "a = 1"),
    ("match", "-j", "2", "a = 1"),
    ("match", "--given", "a = 1", "a = 1"),
    ("why", "a = 1"),
    ("why", "--given", "a = 1", "a = 1"),
    ("inspect",),
    ("inspect", "--json"),
    ("inspect", "-j", "2"),
    ("match", "-c", "a = 1"),
    ("match", "--json", "-v", "a = 1"),
    ("why", "--json", "a = 1"),
    ("contract", "--json"),
    ("route", "--count", "--json", "keys"),
    ("route", "--count", "--why", "keys"),
    ("contract",),
    ("route", "keys"),
    ("diff", "a = 1", "a = 1 OR a = 2"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("lines").write_bytes(LINES)
    Path("packed").write_bytes(gzip.compress(LINES))
    Path("array").write_bytes(b"[" + b",\n".join(line for line in LINES.split(b"\n") if line) + b"]")
    Path("keys").write_text("K\ta = 1\n")
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["lines", "packed", "array"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_long_line_is_a_broken_message(
    command: tuple[str, ...], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that reads messages reports a line that is too long by its place, and goes on behind it."""
    cli.main([*command, "--max-size", "1k", name])
    out, err = capsys.readouterr()
    last = 4 if name == "array" else 5
    assert [line for line in err.splitlines() if SAID in line] == [
        f"mqsel: {name}:{number}: {SAID}" for number in (2, last)
    ]
    assert "xxxx" not in out
    cli.main([*command, name])
    assert SAID not in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_raise_stops_and_explain_names_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    """With --errors raise a long line ends the run; explain reports the line that it was asked for."""
    assert cli.main(["match", "--errors", "raise", "--max-size", "1024", "a = 1", "lines"]) == 2
    assert capsys.readouterr().out == '{"a": 1, "n": 1}\n'
    assert cli.main(["explain", "--max-size", "1k", "a = 1", "lines:2"]) == 2
    assert SAID in capsys.readouterr().err
    assert cli.main(["explain", "--max-size", "1k", "a = 1", "lines:3"]) == 0


@pytest.mark.usefixtures("folder")
def test_in_python() -> None:
    """`filter` raises or skips a line that is too long, with the path and the line."""
    with pytest.raises(FileError, match=r"longer than 1,024 bytes.*\[lines, line 2\]"):
        list(files.filter("lines", "a = 1", max_size=1024))
    found = files.filter("lines", "a = 1", max_size=1024, errors="skip")
    assert [json.loads(line)["n"] for line in found] == [1, 2]
    assert (found.seen, found.skipped) == (4, 2)
    with pytest.raises(ValueError, match="max_size is 0"):
        files.filter("lines", "a = 1", max_size=0)


def test_blocks_at_each_size_and_range() -> None:
    """Invariant: parts of a file have its lines once, each at its byte, whatever the size of reads and of a line."""
    places = [0, *itertools.accumulate(map(len, LINES.splitlines(keepends=True)))][:-1]
    for max_size in (15, 16, 17, 1024, len(LONG) - 2, len(LONG) - 1, 1 << 20):
        for cuts in ((0, -1), (0, 5, 2000, 3100, -1), (0, 17, 18, len(LINES) + 3, -1)):
            found = []
            for start, stop in itertools.pairwise(cuts):
                stream = io.BufferedReader(io.BytesIO(LINES), 16)
                found += [
                    (piece.place, len(piece.raw)) if not isinstance(piece, FileError) else "long"
                    for piece in pieces(stream, "json", "f", start, stop, max_size)
                ]
            assert found == [
                (place, len(line)) if len(line.rstrip(b"\n")) <= max_size else "long"
                for place, line in zip(places, LINES.splitlines(keepends=True), strict=True)
            ], (max_size, cuts)


def test_a_line_without_end_takes_no_memory() -> None:
    """Of a line that never ends no more than its greatest size is held, however it arrives."""
    tracemalloc.start()
    try:
        units = list(blocks(io.BufferedReader(_Endless()), max_size=1 << 20))
        assert [type(unit) for unit in units] == [LongLine]
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["0", "", "-1", "1.5M", "10T", "k"])
def test_sizes_that_are_none(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no size is refused with the way to write one."""
    with pytest.raises(SystemExit):
        cli.main(["match", f"--max-size={text}", "a = 1", "-"])
    assert "is not a size: write a number of bytes, or one with k, M or G" in capsys.readouterr().err
