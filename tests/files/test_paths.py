"""A path that no system takes, or has nothing to read at, is one FileError of ours that names it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqsel import cli, compile, files  # noqa: A004 (like re.compile)
from mqsel.cli.route import Folder
from mqsel.errors import ArgumentError, FileError, MqselError
from mqsel.files import inspection, parquet, parts, selectors
from mqsel.files.framings import reading

LONG = "x" * 5000

# A path, and what is said of it; of a directory only by what reads files alone.
PATHS = {
    "NUL": ("a\0b", "its path has the character NUL"),
    "NUL in a pattern": ("a\0*.jsonl", "its path has the character NUL|no files"),
    "half a character": ("a\ud800b", "its path has half a character"),
    "too long": (LONG, "File name too long"),
    "too long within": (f"{LONG}/a", "File name too long"),
    "below a file": ("file/a", "Not a directory"),
    "nowhere": ("nowhere", "No such file or directory|no files"),
    "empty": ("", "No such file or directory|no files"),
    "a loop": ("loop", "Too many levels of symbolic links"),
    "a directory": ("directory", "Is a directory"),
    "unreadable": ("unreadable", "Permission denied"),
}
READERS: dict[str, Callable[[Any], Any]] = {
    "filter": lambda path: list(files.filter(path, "a = 1")),
    "filter, a list": lambda path: list(files.filter([path], "a = 1")),
    "filter, jobs": lambda path: list(files.filter([path, path], "a = 1", jobs=2)),
    "filter, mq": lambda path: list(files.filter(path, "a = 1", format="mq")),
    "filter, parquet": lambda path: list(files.filter(path, "a = 1", format="parquet")),
    "messages": lambda path: list(files.messages(path)),
    "messages, qload": lambda path: list(files.messages(path, framing="qload")),
    "reading": lambda path: list(reading(path)[1]),
    "listed": parts.listed,
    "kind_of": parts.kind_of,
    "parts": lambda path: parts.parts(path, "json"),
    "parts of rows": lambda path: parts.parts(path, "parquet"),
    "rows": lambda path: list(inspection.of_columns(path)),
    "group_sizes": parquet.group_sizes,
    "selectors": lambda path: list(selectors.selectors(path)),
    "read_selectors": selectors.read_selectors,
}
COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "match": lambda path: ["match", "a = 1", path],
    "match -j": lambda path: ["match", "-j", "2", "a = 1", path, path],
    "match --format mq": lambda path: ["match", "--format", "mq", "a = 1", path],
    "match --format parquet": lambda path: ["match", "--format", "parquet", "a = 1", path],
    "why": lambda path: ["why", "a = 1", path],
    "inspect": lambda path: ["inspect", path],
    "explain": lambda path: ["explain", "a = 1", f"{path}:1"],
    "route": lambda path: ["route", "keys", path],
    "route, selectors": lambda path: ["route", path, "file"],
    "route --into": lambda path: ["route", "--into", f"{path}/into", "keys", "file"],
    "check": lambda path: ["check", "--file", path],
    "lint": lambda path: ["lint", "--file", path],
    "lint --fix": lambda path: ["lint", "--fix", "--file", path],
    "format": lambda path: ["format", "--file", path],
    "audit": lambda path: ["audit", path],
}
# Commands that read the files of a directory, which has none here.
OF_DIRECTORIES = {"match", "match -j", "match --format mq", "match --format parquet", "why", "inspect", "route"}

# Those that walk a directory for selectors, of which there are none.
OF_SELECTORS = {"check", "lint", "lint --fix", "format", "audit"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a directory that has what the table names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text('{"a": 1}\n')
    (tmp_path / "keys").write_text("k\ta = 1\n")
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "unreadable").write_text('{"a": 1}\n')
    (tmp_path / "unreadable").chmod(0)


def _skip(name: str) -> None:
    if sys.platform == "win32":
        pytest.skip("what a path may be is said otherwise on Windows")
    if name == "unreadable" and os.access("unreadable", os.R_OK):
        pytest.skip("who may do anything may read any file")


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("reader", READERS)
def test_functions(reader: str, name: str) -> None:
    """Each function raises a FileError that names the path and says what is wrong with it."""
    _skip(name)
    if reader in ("filter, parquet", "rows", "group_sizes", "parts of rows"):
        pytest.importorskip("pyarrow")
    path, text = PATHS[name]
    is_listing = reader.startswith(("filter", "listed", "messages"))
    if name == "a directory" and is_listing:
        text = "no files"
    if (name, reader.partition(",")[0]) == ("a directory", "messages") or (name, reader) == ("unreadable", "listed"):
        pytest.skip("a directory without files has no messages; what is listed is not opened")
    with pytest.raises(FileError, match=text) as found:
        READERS[reader](path)
    assert found.value.path == path
    assert "\0" not in str(found.value)
    str(found.value).encode()


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Each command says one sentence that names the path, and ends with exit code 2."""
    _skip(name)
    if "parquet" in command:
        pytest.importorskip("pyarrow")
    if command == "route --into" and name in ("unreadable", "nowhere", "empty", "a directory"):
        pytest.skip("nothing is in the way of a new folder there")
    status = cli.main(COMMANDS[command](PATHS[name][0]))
    _, err = capfd.readouterr()

    if name == "a directory" and command == "match --format mq":
        assert status == 1  # of no messages none is selected
        return
    if name == "a directory" and command in OF_SELECTORS:
        assert (status, "no selector was found" in err or "0 selectors" in err) == (0, True)
        return
    assert status == 2
    assert "Traceback" not in err
    assert "\0" not in err
    assert [line for line in err.splitlines() if line.startswith("mqsel: ")], err


@pytest.mark.parametrize("paths", [b"file", 5, None, [5], [b"file"], ["file", None]])
def test_what_is_no_path(paths: Any) -> None:
    """What is no path at all is an ArgumentError, before anything is read."""
    with pytest.raises(ArgumentError, match="expected"):
        files.filter(paths, "a = 1")
    with pytest.raises(ArgumentError, match="expected"):
        files.messages(*(paths if isinstance(paths, list) else [paths]))


def test_paths_and_selector_in_the_order_of_the_command(tmp_path: Path) -> None:
    """The reverse order is an error that names the right one; a name that is a selector is one, where paths are."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"a": 1}\n')
    for paths, selector in (("a = 1", str(file)), ("a = 1", file), ("a = 1", [file]), (compile("a = 1"), file)):
        with pytest.raises(ArgumentError, match=r"expected filter\(paths, selector\)"):
            files.filter(paths, selector)  # type: ignore[arg-type]
    assert len(list(files.filter(file, "a = 1"))) == 1
    with pytest.raises(FileError, match="No such file"):
        list(files.filter("a = 1", "b = 2"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
@pytest.mark.parametrize("size", [1, 100_000])
def test_a_file_that_cannot_be_written(tmp_path: Path, size: int) -> None:
    """What --into cannot write is named, when it is written or when it is closed."""
    folder = Folder(tmp_path / "into")
    (tmp_path / "into" / "k.jsonl").symlink_to("/dev/full")

    def write() -> None:
        folder.write("k", "json", b"", b"x" * size)
        folder.close()

    with pytest.raises(MqselError, match=r"k\.jsonl: cannot be written: No space left on device"):
        write()
