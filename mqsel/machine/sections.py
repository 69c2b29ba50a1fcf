"""A file of named sections that is mapped, not read: a checked header of JSON, then arrays of bytes.

What a header says of its sections is held against the file before anything is looked at; what stands in a section is
checked by who reads it. Knows nothing of what the sections mean.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from mqsel.errors import ProgramError

MAGIC = b"mqsel sections\r\n"  # with which a file begins; a transfer as text would change its end
_FORMAT = 2
_START = struct.Struct("<16sIIQI")  # magic, format, byte order, length of the header, its checksum
_LITTLE, _BIG = 1, 2
_ORDER = _LITTLE if sys.byteorder == "little" else _BIG
_ALIGNMENT = 64

Buffer = bytes | bytearray | memoryview


def written(header: Mapping[str, Any], sections: Sequence[Buffer]) -> Iterator[Buffer]:
    """Give the pieces of a file, one after the other.

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


def opened(data: memoryview) -> tuple[dict[str, Any], list[memoryview]]:
    """Give the header and the sections of a file.

    Raises: ProgramError: not such a file, one of another format or machine, or one that is damaged or cut short.
    """
    if len(data) < _START.size or bytes(data[: len(MAGIC)]) != MAGIC:
        raise ProgramError("the file does not begin as one that SelectorSet.save writes")
    _, number, order, length, checksum = _START.unpack_from(data)
    if number != _FORMAT:
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
        offsets, data: as `packed` gives them.
    """

    def __init__(self, offsets: Buffer = bytes(8), data: Buffer = b"") -> None:
        self._offsets = memoryview(offsets).cast("B").cast("Q")
        self._data = memoryview(data)
        self._packed = max(len(self._offsets) - 1, 0)
        self._over: dict[int, str] = {}
        self._behind: list[str] = []

    @classmethod
    def of(cls, texts: list[str]) -> Texts:
        """Hold texts as they are."""
        made = cls()
        made._behind = texts
        return made

    def __len__(self) -> int:
        """Count those that are packed."""
        return self._packed

    def __getitem__(self, place: int) -> str:
        """Give one.

        Raises: ProgramError: it is damaged.
        """
        if place >= self._packed:
            return self._behind[place - self._packed]
        if place in self._over:
            return self._over[place]
        start, stop = self._offsets[place], self._offsets[place + 1]
        if start <= stop <= len(self._data):
            try:
                return str(self._data[start:stop], "utf-8", "surrogatepass")
            except UnicodeDecodeError:
                pass
        raise ProgramError(f"text {place} of the file is damaged", hint="save it again")

    def __setitem__(self, place: int, text: str) -> None:
        if place < self._packed:
            self._over[place] = text
        else:
            at = place - self._packed
            self._behind[at : at + 1] = [text]  # the next one is appended

    def listed(self, count: int) -> list[str]:
        """Give the first *count* of them."""
        behind = self._behind[: max(count - self._packed, 0)]
        return [*[self[place] for place in range(min(count, self._packed))], *behind]


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
    if int in types:
        texts = [str(key) for key in keys]
    return bytes([type(key) is int for key in keys]) if int in types else bytes(len(keys)), *packed(texts)


def keys_of(kinds: Buffer, one: Buffer, other: Buffer) -> Sequence[Any]:
    """Give keys by place, of what `packed_keys` wrote; each is read when it is asked for.

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
            return int(text)
        except ValueError:
            raise ProgramError(f"key {place} of the file is damaged", hint="save it again") from None
