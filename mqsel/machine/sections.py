"""A file of named sections that is mapped, not read: a checked header of JSON, then arrays of bytes.

The sections that a header lists are compared with the file before any of them is read; the content of a section is
checked by its reader. Knows nothing of the meaning of the sections.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import stat
import struct
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from mqsel.carets import shortened
from mqsel.errors import ArgumentError, FileError, ProgramError

MAGIC = b"mqsel sections\r\n"  # with which a file begins; a transfer as text would change its end
_FORMAT = 3  # 2 differs in what the header says of dialects
_START = struct.Struct("<16sIIQI")  # magic, format, byte order, length of the header, its checksum
_LITTLE, _BIG = 1, 2
_ORDER = _LITTLE if sys.byteorder == "little" else _BIG
_ALIGNMENT = 64

# A file smaller than this is read, not mapped: whoever cuts it short then harms nobody.
_MAPPED = 1 << 20

Buffer = bytes | bytearray | memoryview


def written(header: Mapping[str, Any], sections: Sequence[Buffer]) -> Iterator[Buffer]:
    """Return the pieces of a file, one after the other.

    Args:
        header: what JSON takes.
        sections: any number of arrays; each begins at a multiple of 64 bytes.
    """
    sizes = [memoryview(one).nbytes for one in sections]
    head = json.dumps({"header": header, "sizes": sizes}).encode()
    yield _START.pack(MAGIC, _FORMAT, _ORDER, len(head), zlib.crc32(head))
    yield head
    at = _START.size + len(head)
    for one, size in zip(sections, sizes, strict=True):
        yield bytes(-at % _ALIGNMENT)
        yield one
        at += -at % _ALIGNMENT + size


def save(path: str | os.PathLike[str], pieces: Iterable[Buffer]) -> None:
    """Write a file beside its place, and put it there in one step.

    Raises: FileError: it cannot be written, or something else than a regular file is there.
    """
    name = _path(path)
    try:
        target = Path(os.path.realpath(name))
        if target.exists() and not target.is_file():
            raise FileError("there is something else than a regular file", path=name, hint="name another file")
        replace_file(target, pieces)
    except OSError as error:
        raise FileError(f"the file cannot be written: {error.strerror}", path=name) from error


def replace_file(target: Path, pieces: Iterable[Buffer], check: Callable[[], object] = bool) -> None:
    """Write a file beside its place, and, after a check, move it there: the only way to write over a user's file.

    The file keeps the mode, the owner and the extended attributes of the one before, with them its access control list.
    Nobody can put a link in the way of the file beside, because its name is random and must be new.

    Raises: OSError: the old file is as it was. Also where an attribute cannot be kept.
    """
    before = target.stat() if target.exists() else None
    mode = 0o666 if before is None else 0o600  # nobody else reads it before it has the rights of the one before
    beside = target.with_name(f"mqsel-{os.urandom(8).hex()}.new")
    only_new = os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(beside, "wb", opener=lambda name, flags: os.open(name, flags | only_new, mode)) as file:
            file.writelines(pieces)
            file.flush()
            if before is not None:
                # By the descriptor, so that no name is followed. To change the owner takes away some attributes.
                place = file.fileno() if os.chmod in os.supports_fd else beside
                with suppress(OSError, AttributeError):  # only root may, and not everywhere
                    os.chown(place, before.st_uid, before.st_gid)
                _copy_attributes(target, place)
                os.chmod(place, stat.S_IMODE(before.st_mode))  # noqa: PTH101 (a descriptor has no name)
            os.fsync(file.fileno())
        check()
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _copy_attributes(before: Path, after: int | Path) -> None:
    """Give a file the extended attributes of another. Linux keeps access control lists and labels as such.

    Raises: OSError: one cannot be set, unless only an administrator may.
    """
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(before)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return
        raise
    for name in names:
        value = os.getxattr(before, name)
        with suppress(PermissionError) if name.startswith(("security.", "trusted.")) else nullcontext():
            os.setxattr(after, name, value)
    for name in {*os.listxattr(after)} & {"system.posix_acl_access"} - {*names}:  # the folder has granted it
        os.removexattr(after, name)


def read(path: str | os.PathLike[str]) -> memoryview:
    """Read a file, or map it if it has a megabyte or more.

    Raises: FileError: it cannot be read, is no regular file, or is empty.
    """
    name = _path(path)
    try:
        is_file = stat.S_ISREG(Path(name).stat().st_mode)
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", path=name) from error
    if not is_file:
        raise FileError("there is something else than a regular file", path=name, hint="name another file")
    try:
        with Path(name).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read() if size < _MAPPED else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", path=name) from error
    except ValueError as error:  # it was cut short just now
        raise FileError(f"the file cannot be read: {error}", path=name) from error
    if not len(data):
        raise FileError("the file is empty", path=name, hint="write it with SelectorSet.save")
    return memoryview(data)


def _path(path: str | os.PathLike[str]) -> str:
    try:
        name = os.fsdecode(path)
    except TypeError as error:
        raise ArgumentError(f"found {shortened(path)}: expected the path of a file") from error
    try:
        wrong = "NUL" if b"\0" in os.fsencode(name) else ""
    except UnicodeEncodeError as error:  # half of a pair of surrogates
        wrong = f"U+{ord(name[error.start]):04X}"
    if wrong:
        raise FileError(f"the path has a {wrong} character: no file has such a name", path=shortened(name))
    return name


def opened(data: memoryview) -> tuple[dict[str, Any], list[memoryview]]:
    """Return the header and the sections of a file.

    Raises: ProgramError: not such a file, one of another format or machine, or one that is damaged or cut short.
    """
    if len(data) < _START.size or bytes(data[: len(MAGIC)]) != MAGIC:
        raise ProgramError("the file does not begin as one that SelectorSet.save writes")
    _, number, order, length, checksum = _START.unpack_from(data)
    if number not in (2, _FORMAT):
        raise ProgramError(f"the file has format {number}: this mqsel reads format {_FORMAT}", hint="save it again")
    if order != _ORDER:
        raise ProgramError("the file comes from a machine of another byte order", hint="save it on such a machine")
    head = bytes(data[_START.size : _START.size + length])
    if len(head) != length or zlib.crc32(head) != checksum:
        raise ProgramError("the header of the file is damaged", hint="save it again")
    whole = json.loads(head)
    found, at = [], _START.size + length
    for size in whole["sizes"]:
        at += -at % _ALIGNMENT
        if size > len(data) - at:
            raise ProgramError(f"the file is cut short: {at + size} bytes or more are due", hint="copy it again")
        found.append(data[at : at + size])
        at += size
    return whole["header"], found


# ---- texts -----------------------------------------------------------------------------------------------------------


def packed(texts: Sequence[str]) -> tuple[Buffer, Buffer]:
    """Write texts one behind the other.

    Returns: where each begins and the last ends, shape (texts + 1,), uint64; the bytes, UTF-8 but for half surrogates.
    """
    data = "".join(texts).encode("utf-8", "surrogatepass")
    lengths: Iterable[int] = map(len, texts)
    if not data.isascii():
        lengths = (len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return memoryview(array("Q", accumulate(lengths, initial=0))).cast("B"), data


class Texts:
    """Texts by place: those that stand packed in a file, and those that have been put over or behind them since.

    Args:
        offsets, data: as `packed` returns them.
        behind: texts of the places behind those.

    Attributes:
        packed: how many are packed.
        over: by place those that were put over them; None where that has not been done yet.
        behind: the others.
    """

    def __init__(self, offsets: Buffer = bytes(8), data: Buffer = b"", behind: list[str] | None = None) -> None:
        self._offsets = memoryview(offsets).cast("B").cast("Q")
        self._data = memoryview(data)
        self.packed = max(len(self._offsets) - 1, 0)
        self.over: dict[int, str | None] = {}
        self.behind = [] if behind is None else behind

    def __len__(self) -> int:
        """Count those that are packed."""
        return self.packed

    def __getitem__(self, place: int) -> str:
        """Return one.

        Raises: ProgramError: it is damaged.
        """
        if place >= self.packed:
            return self.behind[place - self.packed]
        over = self.over.get(place)
        if over is not None:
            return over
        start, stop = self._offsets[place], self._offsets[place + 1]
        if start <= stop <= len(self._data):
            try:
                return str(self._data[start:stop], "utf-8", "surrogatepass")
            except UnicodeDecodeError:
                pass
        raise ProgramError(f"text {place} of the file is damaged", hint="save it again")

    def reserve(self, places: Sequence[int], count: int) -> None:
        """Have room for other texts at some places, and for *count* texts in all; those that there are stay.

        Then to put one into `over` or `behind` takes no memory.
        """
        for place in places:
            if place < self.packed:
                self.over.setdefault(place, None)
        missing = count - self.packed - len(self.behind)
        if missing > 0:
            self.behind.extend([""] * missing)

    def listed(self, count: int) -> list[str]:
        """Return the first *count* of them."""
        behind = self.behind[: max(count - self.packed, 0)]
        return [*[self[place] for place in range(min(count, self.packed))], *behind]


# ---- keys ------------------------------------------------------------------------------------------------------------

_NUMBERS = b"q"  # stands where kinds would, if all keys are integers of 64 bits


def packed_keys(keys: list[Any]) -> tuple[Buffer, Buffer, Buffer] | None:
    """Write keys for `keys_of`: three arrays; None where a key is neither a str nor an int."""
    types = {*map(type, keys)}
    if not {str, int}.issuperset(types):
        return None
    if str not in types:
        try:
            return _NUMBERS, memoryview(array("q", keys)).cast("B"), b""
        except OverflowError:
            pass
    texts = keys
    if int in types:  # in hexadecimal, which has no limit of digits
        texts = [key if type(key) is str else hex(key) for key in keys]
    return bytes([type(key) is int for key in keys]) if int in types else bytes(len(keys)), *packed(texts)


def keys_of(kinds: Buffer, one: Buffer, other: Buffer) -> Sequence[Any]:
    """Return keys by place, of what `packed_keys` wrote; each is read when it is asked for.

    Raises: ProgramError: it is damaged, here or where a key is asked for.
    """
    if kinds == _NUMBERS and not len(other):
        return memoryview(one).cast("B").cast("q")
    return _Keys(kinds, one, other)


class _Keys(Texts, Sequence[Any]):
    """Texts, and numbers written as texts."""

    def __init__(self, kinds: Buffer, offsets: Buffer, data: Buffer) -> None:
        super().__init__(offsets, data)
        self._kinds = kinds
        if len(kinds) != len(self):
            raise ProgramError("the keys of the file are damaged", hint="save it again")

    def __getitem__(self, place: int) -> Any:  # type: ignore[override]
        text = super().__getitem__(place)
        if not self._kinds[place]:
            return text
        try:
            return int(text, 0)
        except ValueError:
            raise ProgramError(f"key {place} of the file is damaged", hint="save it again") from None
