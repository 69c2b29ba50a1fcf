"""Files that are packed: known by their first bytes, unpacked to their end, and what is cut off or damaged is said."""

from __future__ import annotations

import gc
import gzip
import io
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from faults import PACKAGE, failing

from mqsel.columns.wordings import with_extra
from mqsel.errors import FileError, MqselError
from mqsel.files import filter, length_prefixed, messages, opening  # noqa: A004 (the word of Matcher)
from mqsel.files.framings import blocks, reading

DATA = b"".join(b'{"color": "blue", "n": %d}\n' % (number * 7919 % 10007) for number in range(30_000))
PACKERS: dict[str, tuple[str, ...]] = {
    "gzip": ("gzip",),
    "zstd": ("backports.zstd", "compression.zstd"),
    "lz4": ("lz4.frame",),
    "bzip2": ("bz2",),
    "xz": ("lzma",),
}
WAYS = [(name, one.module) for _, name, unpackers in opening._PACKED for one in unpackers]


def _packer(name: str) -> Callable[[bytes], bytes]:
    for module in PACKERS[name]:
        try:
            pack: Callable[[bytes], bytes] = import_module(module).compress
        except ImportError:
            continue
        return partial(pack, compresslevel=1) if name == "bzip2" else pack  # in several blocks
    pytest.skip(f"nothing that packs by {name} is installed")


def _read(path: Path) -> tuple[bytes, str]:
    """Read what can be read of a file of lines, and what is said of the rest."""
    got = b""
    try:
        for block in reading(path, in_blocks=True)[1]:
            got += block
    except FileError as error:
        return got, error.message
    return got, ""


@pytest.mark.parametrize(("name", "module"), WAYS, ids=[module for _, module in WAYS])
def test_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str) -> None:
    """Each library gives all of a file, packed in pieces or not, and what it can of one that is cut off or damaged."""
    pytest.importorskip(module)
    rows = [
        (begins, what, tuple(one for one in rows if one.module == module)) for begins, what, rows in opening._PACKED
    ]
    monkeypatch.setattr(opening, "_PACKED", [row for row in rows if row[1] == name])
    packed = _packer(name)(DATA)
    file = tmp_path / "a.jsonl"

    file.write_bytes(packed)
    assert _read(file) == (DATA, "")
    file.write_bytes(packed * 2)
    assert _read(file) == (DATA * 2, "")
    for content in (packed[: len(packed) // 4 * 3], packed[:40000] + bytes(50) + packed[40050:]):
        file.write_bytes(content)
        got, said = _read(file)
        assert said.startswith("the file cannot be read: ")
        assert len(got) > 1000
        assert got[:1000] == DATA[:1000]
        assert got.endswith(b"\n")


@pytest.mark.parametrize("name", [name for _, name, _ in opening._PACKED if name != "gzip"])
def test_what_nothing_unpacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Where no library is installed that unpacks a file, the error says what to install."""
    begins, unpackers = next((row[0], row[2]) for row in opening._PACKED if row[1] == name)
    for one in unpackers:
        monkeypatch.setitem(sys.modules, one.module, None)
    (tmp_path / "a").write_bytes(begins[0] + b"....")

    with pytest.raises(MqselError, match=f"a file packed by {name} needs {unpackers[0].package}") as caught:
        reading(tmp_path / "a")
    assert caught.value.hint == with_extra("files")


def test_what_has_arrived_is_given() -> None:
    """Lines that are there are given before the next arrive, also after the first were looked at."""
    ours, theirs = os.pipe()
    ending = threading.Timer(10, os.close, [theirs])
    with io.BufferedReader(io.FileIO(ours)) as stream:
        os.write(theirs, b'{"a": 1}\n{"a"')
        assert stream.peek(4)
        ending.start()
        found = blocks(stream)
        assert bytes(next(found)) == b'{"a": 1}\n'
        os.write(theirs, b": 2}\n")
        assert bytes(next(found)) == b'{"a": 2}\n'
        assert ending.is_alive()
        ending.cancel()
        os.close(theirs)
        assert [*found] == []


def test_a_short_first_piece(tmp_path: Path) -> None:
    """The format is found although the first packed piece holds a few bytes only."""
    file = tmp_path / "a"
    file.write_bytes(gzip.compress(b"* ") + gzip.compress(b"QLOAD\n") + gzip.compress(b"\nA VER 2\n"))

    assert reading(file)[0] == "qload"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of descriptors")
@pytest.mark.sample(1)
@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
def test_whatever_fails_no_file_stays_open(tmp_path: Path, code: str) -> None:
    """Whichever line an interrupt comes in, and where nobody reads on, without a collection of garbage."""
    lines, framed = tmp_path / "lines.gz", tmp_path / "framed"
    lines.write_bytes(gzip.compress('{"a": 1}\n{"a": 2}\n'.encode(code)))
    framed.write_bytes(length_prefixed(b"TEST") * 2)

    def are_open() -> list[str]:
        found = [os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()]
        return [one for one in found if one.startswith(str(tmp_path))]

    def all_read() -> None:
        assert len([*filter(lines, "a > 0")]) == 2
        assert len([*messages(framed)]) == 2

    gc.disable()
    try:
        for line in failing(all_read, within=PACKAGE / "files"):
            assert not are_open(), line
        for read in (partial(messages, framed), partial(filter, lines, "a > 0")):
            unread = read()
            next(unread)
            assert are_open()
            del unread
            assert not are_open()
    finally:
        gc.enable()
    all_read()
