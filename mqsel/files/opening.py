"""Files opened, whatever they are called: packed or not, texts of UTF-16 in UTF-8, directories as the files in them.

Every error of the system or of unpacking becomes a FileError. Knows no format of messages. The library for a packing is
imported when a file has that packing.
"""

import codecs
import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from mqsel._interrupt import undone
from mqsel.carets import nameable, shortened
from mqsel.columns.wordings import package_missing
from mqsel.errors import ArgumentError, FileError, MqselError
from mqsel.files.wordings import fault, file_trouble, unreadable

if TYPE_CHECKING:
    from pathlib import Path

_QUEUE = re.compile(r"(?i)amqps?://")


def is_queue(name: str) -> bool:
    """Report whether a name is the address of a queue of a running broker, which `mqsel.live` reads."""
    return _QUEUE.match(name) is not None


def path_of(name: str) -> "Path":
    """Return the path of a file of this machine, or at an address such as ``s3a://bucket/key``.

    Raises: MqselError: the library for addresses, or for those of this kind, is not installed. FileError: the file
        system cannot be reached, or is unknown.
    """
    if "://" not in name:
        from pathlib import Path  # noqa: PLC0415 (a twelfth of the start of `mqsel match`, which rarely needs one)

        return Path(name)
    if is_queue(name):
        hint = "mqsel match, why, route, inspect and contract browse queues; in Python, mqsel.live.browse does"
        raise FileError("a queue of a running broker: expected a file", path=nameable(name), hint=hint)
    try:
        from upath import UPath  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise package_missing(f"the address {nameable(name)}", "universal_pathlib", "files") from error
    try:
        path: Any = UPath(name)  # reads like a Path, and is one or not by the version of the library
        path.fs  # noqa: B018 (now, rather than at the first call)
    except Exception as error:
        raise file_trouble(name, fault(name, error)) from error
    return path  # type: ignore[no-any-return]


def name_of(path: str | os.PathLike[str]) -> str:
    """Return the name of a file.

    Raises: ArgumentError: it is no path.
    """
    try:
        return str.__str__(os.fspath(path))
    except TypeError as error:
        raise ArgumentError(f"a path is {shortened(path)}: expected a string, or a path of strings") from error


def check_path(name: str) -> None:
    """Open a file of this machine, and leave it: what is wrong with it libraries say in as many ways as there are.

    Raises: FileError.
    """
    try:
        io.FileIO(name).close()
    except ValueError as error:
        raise unreadable(name, error) from None
    except OSError as error:
        raise unreadable(name, error) from error


@contextmanager
def readable_anywhere(path: str, content: Iterable[bytes]) -> Iterator[str]:
    """Return the path of a file that can be read from any place: of stdin, pipes and what is packed a copy.

    Args:
        path: the file; "-" is stdin.
        content: all of it, in pieces, if it has to be copied.

    Raises: FileError: it cannot be copied.
    """
    from pathlib import Path  # noqa: PLC0415 (as above)

    if path != "-" and not Path(path).is_fifo() and not _is_packed(path):
        yield path
        return
    import shutil  # noqa: PLC0415 (slow to import, and rarely needed)
    import tempfile  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder, undone(partial(shutil.rmtree, folder, ignore_errors=True)):
        copy = Path(folder) / "content"
        try:
            with copy.open("wb") as file:
                file.writelines(content)
        except OSError as error:
            raise file_trouble(path, f"it cannot be copied to {folder}: {error.strerror}") from None
        yield str(copy)


class _Source(io.FileIO):
    """A file whose first read is enough to know what it holds, however few bytes of a pipe arrive at a time.

    Args:
        is_enough: takes the first bytes of what is not packed, and says whether they tell what it holds.
    """

    def __init__(self, file: str | int, is_enough: Callable[[bytes], bool]) -> None:
        super().__init__(file, closefd=file != 0)
        self._is_enough = is_enough
        self._is_first = True

    def readinto(self, buffer: Any) -> int:
        size = self._arrived(buffer)
        while self._is_first and 0 < size < len(buffer) and not self._tells(bytes(buffer[:size])):
            more = self._arrived(memoryview(buffer)[size:])
            if not more:
                break
            size += more
        self._is_first = False
        return size

    def _arrived(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        if size is None:  # of a pipe that does not wait: what is still to come would be lost
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return size

    def _tells(self, start: bytes) -> bool:
        if any(start.startswith(mark) for mark in _MARKS):
            return True
        return not any(mark.startswith(start) for mark in _MARKS) and self._is_enough(start)


@contextmanager
def opened(
    path: str | os.PathLike[str], is_enough: Callable[[bytes], bool] = bool
) -> "Iterator[tuple[IO[bytes], io.BufferedReader[Any]]]":
    """Open a file, packed or not, whatever it is called; "-" is stdin.

    Args:
        is_enough: takes the first bytes that arrive of a pipe, and says whether they tell what it holds.

    Returns: the file as it is, whose `tell` says how much of it was read; and its content.

    Raises: FileError: it cannot be read; also for what reading it raises inside the ``with``.
    """
    name = name_of(path)
    try:
        # What an address opens as has all that is needed here of a raw stream.
        source: Any = path_of(name).open("rb") if "://" in name else _Source(0 if name == "-" else name, is_enough)
    except MqselError:
        raise
    except ValueError as error:
        raise unreadable(name, error) from None
    except OSError as error:
        raise unreadable(name, error) from error
    try:
        with io.BufferedReader(source) as raw:
            content = content_of(raw)
            yield raw, content if content is not raw or _is_rereadable(raw) else in_pieces(_read(raw), 1)
    except (OSError, EOFError) as error:
        raise unreadable(name, error) from error


MAX_SIZE = 100 << 20  # bytes of a text that is held in memory whole, unless somebody allows more


def check_size(size: int, most: int, path: str) -> None:
    """Raise FileError if a content is larger than *most* bytes: a packed file may hold a thousand times its size."""
    if size > most:
        raise FileError(f"the file holds more than {most:,} bytes: expected fewer, or a greater --max-size", path=path)


_LOOKS = (1 << 16, 1 << 20, 1 << 24)  # bytes of first lines that are looked at, and of a first line that is longer


def beginning(stream: "io.BufferedReader[Any]") -> bytes:
    """Return the first lines of a stream that `opened` gave; they are still to be read.

    Of what can be read once only, such as a pipe, it is what has arrived, and at least one line.
    """
    lines = stream.peek()
    if not _is_rereadable(stream):
        return (
            lines
            if b"\n" in lines
            else lines + (stream.raw.ahead(_LOOKS[-1]) if isinstance(stream.raw, _Pieces) else b"")
        )
    at = stream.tell()
    for size in _LOOKS:
        lines = stream.read(size)
        stream.seek(at)
        if len(lines) < size or b"\n" in lines:
            break
    return lines


def _is_rereadable(stream: "io.BufferedReader[Any]") -> bool:
    """Report whether a stream can go back: on some systems pipes, too, say that they can."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:  # no file of this machine
        return stream.seekable()


_STEP = 1 << 14  # bytes that are unpacked at once: if they are damaged, none of them is given
_MOST = 1 << 20  # and what may come of them at once


def _gunzipped(zlib: Any, raw: "io.BufferedReader[Any]") -> Iterator[bytes]:
    """Unpack gzip by the functions of zlib: one packed piece after the other, zeros behind them."""
    data = raw.read1(_STEP)
    while data:
        unpacker = zlib.decompressobj(31)  # gzip, with its checks
        while not unpacker.eof:
            piece = unpacker.decompress(data, _MOST)
            yield piece
            data = unpacker.unconsumed_tail or raw.read1(_STEP)
            if not data and not piece and not unpacker.eof:
                raise EOFError
        data = (unpacker.unused_data + data).lstrip(b"\0")
        while not data:
            more = raw.read1(_STEP)
            if not more:
                return
            data = more.lstrip(b"\0")


def _read(stream: Any) -> Iterator[bytes]:
    return iter(partial(stream.read1, _MOST), b"")


class _Unpacker(NamedTuple):
    """What unpacks files of a kind.

    Attributes:
        package: what to install for it.
        module: its module.
        unpack: takes the module and a stream; gives what is in it, in pieces.
    """

    package: str
    module: str
    unpack: Callable[[Any, "io.BufferedReader[Any]"], Iterator[bytes]]


# For the first bytes that a file may have what packed it, and what unpacks it, the quickest first. To unpack JSON lines
# of 55 MB takes zlib 190 ms, isal 50, zlib-ng 64. The reader of zstandard says nothing of a file that was cut off.
_PACKED = (
    (
        (b"\x1f\x8b",),
        "gzip",
        (
            _Unpacker("isal", "isal.isal_zlib", _gunzipped),
            _Unpacker("zlib-ng", "zlib_ng.zlib_ng", _gunzipped),
            _Unpacker("zlib", "zlib", _gunzipped),
        ),
    ),
    (
        (b"\x28\xb5\x2f\xfd",),
        "zstd",
        (
            _Unpacker("backports.zstd", "backports.zstd", lambda module, raw: _read(module.ZstdFile(raw))),
            _Unpacker("Python 3.14", "compression.zstd", lambda module, raw: _read(module.ZstdFile(raw))),
        ),
    ),
    (
        (b"\x04\x22\x4d\x18",),
        "lz4",
        (_Unpacker("lz4", "lz4.frame", lambda module, raw: _read(module.LZ4FrameFile(raw))),),
    ),
    (
        tuple(b"BZh%d1AY" % level for level in range(1, 10)),
        "bzip2",
        (_Unpacker("bz2", "bz2", lambda module, raw: _read(module.BZ2File(raw))),),
    ),
    (
        (b"\xfd7zXZ\0",),
        "xz",
        (_Unpacker("lzma", "lzma", lambda module, raw: _read(module.LZMAFile(raw))),),
    ),
)
PACKED = tuple(mark for begins, *_ in _PACKED for mark in begins)
_MARKS = (*PACKED, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST = max(map(len, _MARKS))


def content_of(raw: "io.BufferedReader[Any]") -> "io.BufferedReader[Any]":
    """Unpack a stream that is packed, and turn UTF-16, such as PowerShell's ``>`` writes, into UTF-8.

    Raises: MqselError: no library is installed that unpacks it.
    """
    start = raw.peek(_LONGEST)
    stream = raw
    for begins, name, unpackers in _PACKED:
        if start.startswith(begins):
            stream = in_pieces(_placed(_unpacked(raw, name, unpackers), raw, name))
    is_wide = stream.peek(2).startswith(_MARKS[-2:])
    return in_pieces(_in_utf8(stream)) if is_wide else stream


def _is_packed(path: str) -> bool:
    with path_of(path).open("rb") as file:
        return file.read(_LONGEST).startswith(PACKED)


def _unpacked(raw: "io.BufferedReader[Any]", name: str, unpackers: tuple[_Unpacker, ...]) -> Iterator[bytes]:
    for one in unpackers:
        with suppress(ImportError):
            return one.unpack(import_module(one.module), raw)
    raise package_missing(f"a file packed by {name}", unpackers[0].package, "files")


def _placed(pieces: Iterator[bytes], raw: "io.BufferedReader[Any]", name: str) -> Iterator[bytes]:
    """Unpack; say of what cannot be unpacked how far the file had been read, if that is known."""
    try:
        yield from pieces
    except Exception as error:
        if getattr(error, "errno", None) is not None:  # of the disk
            raise
        is_cut = isinstance(error, EOFError)
        place = f" {'at' if is_cut else 'before'} byte {raw.tell():,}" if raw.seekable() else ""
        raise OSError(
            f"the {name} is {'cut off' if is_cut else 'damaged'}{place}{f' ({error})' * (not is_cut)}"
        ) from error


def _in_utf8(stream: "io.BufferedReader[Any]") -> Iterator[bytes]:
    """Yield a stream of UTF-16, whose byte order mark is there, in UTF-8."""
    # What is invalid in UTF-16 is shown, and so fails where digits or fields are expected.
    decoder = codecs.getincrementaldecoder("utf-16")("backslashreplace")
    while data := stream.read1(_STEP):
        yield decoder.decode(data).encode()
    yield decoder.decode(b"", final=True).encode()


class _Pieces(io.RawIOBase):
    """Pieces as a stream, given as they come: what lies before the damage of a file is not lost with the rest.

    Args:
        pieces: of the content.
        together: bytes of the beginning, by which the format is known, that come in one.
    """

    def __init__(self, pieces: Iterator[bytes], together: int) -> None:
        self._pieces = filter(None, pieces)
        self._left = b""
        self._wanted = together
        self._error: OSError | EOFError | None = None

    def readable(self) -> bool:
        return True

    def _next(self) -> bytes:
        """Return the next piece; nothing at the end, and where the rest is damaged."""
        try:
            return b"" if self._error is not None else next(self._pieces, b"")
        except (OSError, EOFError) as error:
            self._error = error
        except Exception as error:  # noqa: BLE001 (each library has its own)
            self._error = OSError(str(error))
        return b""

    def ahead(self, most: int) -> bytes:
        """Return what comes next, up to the end of a line if that is no further than *most* bytes; it still comes."""
        pieces = [self._left]
        while b"\n" not in pieces[-1] and most > 0 and (piece := self._next()):
            pieces.append(piece)
            most -= len(piece)
        self._left = b"".join(pieces)
        return self._left

    def readinto(self, buffer: Any) -> int:
        while len(self._left) < self._wanted and (piece := self._next()):
            self._left += piece
        self._wanted = 1
        if not self._left and self._error is not None:
            raise self._error
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def in_pieces(pieces: Iterator[bytes], together: int = io.DEFAULT_BUFFER_SIZE) -> "io.BufferedReader[Any]":
    """Return a stream of pieces, given as they come.

    Args:
        together: as for `_Pieces`.
    """
    return io.BufferedReader(_Pieces(pieces, together))


def unfolded(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the files of a directory in the order of their names, or the path itself.

    Raises: FileError: the directory cannot be read.
    """
    name = name_of(path)
    if not os.path.isdir(name):  # noqa: PTH112 (that of a Path raises where a name is too long)
        yield name
        return
    from pathlib import Path  # noqa: PLC0415 (as above)

    try:
        yield from sorted(str(one) for one in Path(name).iterdir() if one.is_file())
    except OSError as error:
        raise unreadable(name, error) from error
