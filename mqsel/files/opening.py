"""Files opened, whatever they are called: gzipped or not, texts of UTF-16 in UTF-8, directories as the files in them.

What the system, or the packing, has against a file becomes one FileError. Knows no format.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mqsel.files.wordings import file_trouble
from mqsel.machine.wordings import package_missing


def path_of(name: str) -> Path:
    """Give the path of a file of this machine, or at an address such as ``s3a://bucket/key``.

    Raises: MqselError: the library for addresses, or for those of this kind, is not installed. FileError: the file
        system cannot be reached, or is unknown.
    """
    if "://" not in name:
        return Path(name)
    try:
        from upath import UPath  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise package_missing(f"the address {name}", "universal_pathlib", "files") from error
    try:
        path: Any = UPath(name)  # reads like a Path, and is one or not by the version of the library
        path.fs  # noqa: B018 (now, rather than at the first call)
    except Exception as error:
        raise file_trouble(name, str(error).partition("\n")[0]) from error
    return path  # type: ignore[no-any-return]


@contextmanager
def readable_anywhere(path: str, content: Iterable[bytes]) -> Iterator[str]:
    """Give the path of a file that can be read from any place: of what can be read once only, such as stdin, a copy.

    Args:
        path: the file; "-" is stdin.
        content: all of it, in pieces, if it has to be copied.
    """
    if path != "-" and not Path(path).is_fifo():
        yield path
        return
    import tempfile  # noqa: PLC0415 (slow to import, and rarely needed)

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "content"
        with copy.open("wb") as file:
            file.writelines(content)
        yield str(copy)


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[IO[bytes], io.BufferedReader[Any]]]:
    """Open a file, gzipped or not, whatever it is called; "-" is stdin.

    Returns: the file as it is, whose `tell` says how much of it was read; and its content.

    Raises: FileError: it cannot be read; also for what reading it raises inside the ``with``.
    """
    name = os.fspath(path)
    try:
        # What an address opens as has all that is needed here of a raw stream.
        source: Any = (
            path_of(name).open("rb") if "://" in name else io.FileIO(0 if name == "-" else path, closefd=name != "-")
        )
        with io.BufferedReader(source) as raw:
            yield raw, content_of(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise file_trouble(name, getattr(error, "strerror", None) or str(error)) from error


def content_of(raw: io.BufferedReader[Any]) -> io.BufferedReader[Any]:
    """Unpack a stream that is gzipped, and give a text in UTF-16, such as PowerShell's ``>`` writes, in UTF-8."""
    stream = io.BufferedReader(_Unpacked(gzip.GzipFile(fileobj=raw))) if raw.peek(2)[:2] == b"\x1f\x8b" else raw
    is_wide = stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return io.BufferedReader(_InUTF8(stream)) if is_wide else stream


class _Unpacked(io.RawIOBase):
    """What a stream unpacks, given as it comes: what lies before the damage of a file is not lost with the rest."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # The beginning, by which the format is known, in one piece.
        size = len(buffer)
        data = self._stream.read(size) if size <= io.DEFAULT_BUFFER_SIZE else self._stream.read1(size)
        buffer[: len(data)] = data
        return len(data)


class _InUTF8(io.RawIOBase):
    """A stream of UTF-16, whose byte order mark is there, in UTF-8."""

    def __init__(self, stream: io.BufferedReader[Any]) -> None:
        self._stream = stream
        # What is invalid in UTF-16 is shown, and so fails where digits or fields are expected.
        self._decoder = codecs.getincrementaldecoder("utf-16")("backslashreplace")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted = len(buffer)
        while not self._left:
            data = self._stream.read(wanted)
            self._left = self._decoder.decode(data, not data).encode()
            if not data:
                break
        size = min(wanted, len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def unfolded(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the files of a directory in the order of their names, or the path itself."""
    name = os.fspath(path)
    if Path(name).is_dir():
        yield from sorted(str(one) for one in Path(name).iterdir() if one.is_file())
    else:
        yield name
