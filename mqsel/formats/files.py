"""Files of raw messages, read one message at a time: QLOAD text, length-prefixed bytes, one message in a file.

What `dmpmqmsg` and its forerunner QLOAD write is text: a line ``A CODE value`` for each field of the MQMD, or ``N``
where it was left out, then the data on lines ``X`` (hexadecimal digits), ``S`` (a string, ``~`` escapes) or ``T``
(text, with its line end). Here each becomes the bytes of an MQMD and the data, as a queue would give them.

In a length-prefixed file four bytes, a big-endian number, say how long the message is that follows them. A file that
begins with a structure (MQMD, MQRFH2) is one message: no message is as long as ``MD  `` would be as a length.

Reads no more of a file than one message. Knows neither properties nor selectors. Follows SPARK.md §5e.
"""

from __future__ import annotations

import binascii
import gzip
import io
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from mqsel.errors import ArgumentError, FileError, bad_line, bad_prefix, file_trouble, long_message, shortened
from mqsel.formats.mqmd import MQMD, MQMD_LENGTH_1, MQMD_LENGTH_2

MAX_MESSAGE = 104_857_600 + MQMD_LENGTH_2  # bytes: the largest MaxMsgLength of a queue, and the descriptor
_LISTED = 100  # errors kept by a reader that skips
_LONG_FIELD = 1000  # bytes: no line with a field has as many, and what is cached should be small
_RUN = 4096  # lines that are joined at once: a line alone takes much more memory than its text
_KEPT = 1000  # lines of comment kept with a message

# QLOAD's codes for the fields of the MQMD; the last two spell a field of characters in hexadecimal digits.
QLOAD_CODES = {
    "VER": "Version",
    "RPT": "Report",
    "MST": "MsgType",
    "EXP": "Expiry",
    "FDB": "Feedback",
    "ENC": "Encoding",
    "CCS": "CodedCharSetId",
    "FMT": "Format",
    "PRI": "Priority",
    "PER": "Persistence",
    "MSI": "MsgId",
    "COI": "CorrelId",
    "BOC": "BackoutCount",
    "RTQ": "ReplyToQ",
    "RTM": "ReplyToQMgr",
    "USR": "UserIdentifier",
    "ACC": "AccountingToken",
    "AID": "ApplIdentityData",
    "PAT": "PutApplType",
    "PAN": "PutApplName",
    "PTD": "PutDate",
    "PTT": "PutTime",
    "AOD": "ApplOriginData",
    "GRP": "GroupId",
    "MSQ": "MsgSeqNumber",
    "OFF": "Offset",
    "MSF": "MsgFlags",
    "ORL": "OriginalLength",
    "AIX": "ApplIdentityData",
    "AOX": "ApplOriginData",
}
_IN_HEX = {"AIX", "AOX"}
_NEVER_WRITTEN = {b"AID", b"AOD"}  # the same fields in characters; the tool, too, writes them only on demand


class Piece(NamedTuple):
    """What a file has for one message.

    Attributes:
        place: where it begins: the line, from 1, of a text; else the byte, from 0.
        raw: what stands in the file, to be written again as it is.
        message: the message; None for what stands before the first one.
    """

    place: int
    raw: bytes
    message: bytes | None


# ---- opening -----------------------------------------------------------------------------------------------------


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[IO[bytes], io.BufferedReader[Any]]]:
    """Open a file, gzipped or not, whatever it is called; "-" is stdin.

    Returns: the file as it is, whose `tell` says how much of it was read; and its content.
    """
    is_stdin = os.fspath(path) == "-"
    with io.BufferedReader(io.FileIO(0 if is_stdin else path, closefd=not is_stdin)) as raw:
        is_packed = raw.peek(2)[:2] == b"\x1f\x8b"
        yield raw, io.BufferedReader(gzip.GzipFile(fileobj=raw)) if is_packed else raw


STRUC_IDS = (b"MD  ", "MD  ".encode("cp037"), b"RFH ", "RFH ".encode("cp037"))


def format_of(stream: io.BufferedReader[Any]) -> str | None:
    """Say what a file holds by its first bytes: "qload", "mq", or None for anything else."""
    start = stream.peek(8)[:8]
    if start.startswith((b"* QLOAD", b"* DMPMQM")):
        return "qload"
    return "mq" if start[:4] in STRUC_IDS or start[4:8] in STRUC_IDS else None


# ---- QLOAD -------------------------------------------------------------------------------------------------------

_FIELDS = {field.name: field for field in MQMD}
_CODES = {
    code.encode(): (_FIELDS[name], "MQBYTE" if code in _IN_HEX else _FIELDS[name].kind)
    for code, name in QLOAD_CODES.items()
}
_WHOLE = re.compile(rb"\s*[+-]?[0-9]{1,10}\s*")
_HEX_LINE = re.compile(rb"X +((?:[0-9A-Fa-f]{2})*)(?: +<.*>)?\s*", re.DOTALL)  # -da adds a column of characters
_STRING = re.compile(rb'"([^"~]*(?:~["~][^"~]*)*)"\s*')
_ESCAPE = re.compile(rb"~(.)", re.DOTALL)
_LONG = struct.Struct(">i")


def _blank_mqmd() -> bytes:
    """Make the MQMD that QLOAD begins each message with: version 2, the vendor's defaults."""
    data = bytearray(MQMD_LENGTH_2)
    for field in MQMD:
        if field.kind == "MQLONG":
            _LONG.pack_into(data, field.offset, 2 if field.name == "Version" else field.default)
        elif field.kind == "MQCHAR":
            data[field.offset : field.offset + field.length] = field.default.encode().ljust(field.length)
    return bytes(data)


_BLANK = _blank_mqmd()


@lru_cache(4096)
def _setting(line: bytes) -> tuple[int, int, bytes] | str:
    """Read a line ``A CODE value``: where in the MQMD what goes; or say what is wrong with it.

    From message to message most lines are the same: the cache takes a third off the reading.
    """
    line = line.rstrip(b"\r\n")
    known = _CODES.get(line[2:5])
    if known is None or line[:2] != b"A " or line[5:6] not in (b"", b" "):
        return "this is no field of a message descriptor: expected A, a code such as MSI, and a value"
    field, kind = known
    value = line[6:]
    if not value:
        return 0, 0, b""  # the field stays as it is
    if kind == "MQLONG":
        if not _WHOLE.fullmatch(value) or not -(1 << 31) <= int(value) < 1 << 31:
            return f"{field.name} is {shortened(_shown(value))}: expected a whole number of 32 bits"
        return field.offset, field.offset + 4, _LONG.pack(int(value))
    if kind == "MQBYTE":
        try:
            value = binascii.unhexlify(value.strip())
        except binascii.Error:
            return f"{field.name} is {shortened(_shown(value))}: expected hexadecimal digits, two for each byte"
    elif len(value) > field.length:
        value = value.rstrip()
    if len(value) > field.length:
        return f"{field.name} has {len(value)} bytes: expected at most {field.length}"
    value = value.ljust(field.length, b"\0" if field.kind == "MQBYTE" else b" ")
    return field.offset, field.offset + field.length, value


def _shown(line: bytes) -> str:
    return line[:100].rstrip(b"\r\n").decode(errors="replace")


class _Message:
    """A message of a QLOAD file while its lines arrive."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.raw: list[bytes] = []
        self.mqmd: bytearray | None = None
        self.has_data = False
        self.data: list[bytes] = []
        self.size = 0
        self.trouble: tuple[int, str] | None = None

    def blame(self, line: int, what: str) -> None:
        """Note what is wrong first; what was read is not needed any more."""
        self.trouble = self.trouble or (line, what)
        self.size = 0
        self.raw.clear()
        self.data.clear()

    def take(self, number: int, lines: list[bytes]) -> None:
        """Take lines that begin alike, the first of them line *number*."""
        self.raw.append(b"".join(lines))
        kind = lines[0][:1]
        self.has_data |= kind in b"XST"
        if lines[0][1:2] not in b" \r\n" or kind not in b"ANXST":
            found = shortened(_shown(lines[0]))
            self.blame(number, f"{found}: expected a line that begins with *, A, N, X, S or T, and a blank")
        elif kind == b"X":
            self.digits(number, lines)
        elif kind == b"A":
            self.fields(number, lines)
        elif kind == b"T":
            self.data += [line[2:].rstrip(b"\r\n") + b"\n" for line in lines]
        elif kind == b"S":
            for place, line in enumerate(lines, number):
                self.string(place, line[1:].strip(b" \r\n"))

    def fields(self, number: int, lines: list[bytes]) -> None:
        """Take lines A."""
        mqmd = self.mqmd = self.mqmd or bytearray(_BLANK)
        for place, line in enumerate(lines, number):
            setting = _setting(line) if len(line) < _LONG_FIELD else "a line A of this length has no field's value"
            if isinstance(setting, str):
                self.blame(place, setting)
                return
            start, stop, value = setting
            mqmd[start:stop] = value

    def string(self, number: int, value: bytes) -> None:
        """Take what stands behind an S."""
        if not value.startswith(b'"'):
            self.data.append(value)
            return
        match = _STRING.fullmatch(value)
        if match is None:
            self.blame(number, 'expected a string in double quotes, with ~" and ~~ for " and ~')
        else:
            self.data.append(_ESCAPE.sub(rb"\1", match[1]) if b"~" in match[1] else match[1])

    def digits(self, number: int, lines: list[bytes]) -> None:
        """Take lines X."""
        run = b"".join(lines)
        # All at once where each line is X, a blank, pairs of digits and its end: with the right number of each
        # character, and no line of an odd length, nothing else is left that would still be digits.
        ends = b"\r\n" if run.count(b"\r") == len(lines) else b"\n"
        if all(run.count(part) == len(lines) for part in (b"X ", b"X", b" ", ends, b"\n")) and not any(
            (length - len(ends)) & 1 for length in set(map(len, lines))
        ):
            with suppress(binascii.Error):
                self.data.append(binascii.unhexlify(run.translate(None, b"X \r\n")))
                return
        for place, line in enumerate(lines, number):
            match = _HEX_LINE.fullmatch(line)
            if match is None:
                self.blame(place, "expected X, a blank, and hexadecimal digits, two for each byte")
                return
            self.data.append(binascii.unhexlify(match[1]))

    def piece(self, path: str) -> Piece | FileError:
        """Give the message, or what is wrong with it."""
        if self.trouble is None and not self.has_data:
            self.blame(self.line, "the message has no data: expected a line X, S or T behind its fields")
        if self.trouble is not None:
            line, what = self.trouble
            return bad_line(path, line, what)
        data = b"".join(self.data)
        if self.mqmd is None:
            return Piece(self.line, b"".join(self.raw), data)
        (version,) = _LONG.unpack_from(self.mqmd, 4)
        if version not in (1, 2):
            return bad_line(path, self.line, f"VER is {version}: expected 1 or 2")
        # The tool that loads the file hands over the whole structure; with Version 1 nobody looks at its end.
        mqmd = bytes(self.mqmd) if version == 2 else bytes(self.mqmd[:MQMD_LENGTH_1])
        return Piece(self.line, b"".join(self.raw), mqmd + data)


def _pieces_of_qload(stream: IO[bytes], path: str) -> Iterator[Piece | FileError]:
    limit = 2 * MAX_MESSAGE
    lines = iter(partial(stream.readline, limit), b"")
    before: list[bytes] = []  # comments, and blank lines behind them: they go with the message that follows
    message: _Message | None = None
    is_top = True  # the comments at the top, up to the first blank line, belong to the file
    number = 0
    line = next(lines, b"")
    while line:
        number += 1
        kind = line[:1]
        if kind == b"*" or line.isspace():
            if message is not None and not before and kind != b"*" and len(message.raw) < _KEPT:
                message.raw.append(line)  # a blank line behind a message is its end
            elif len(before) < _KEPT:
                before.append(line)
            if is_top and kind != b"*":
                yield Piece(1, b"".join(before), None)
                is_top = False
                before = []
            line = next(lines, b"")
            continue
        if message is None or (kind in b"AN" and message.has_data):
            if is_top:
                yield Piece(1, b"".join(before), None)
                is_top = False
                before = []
            if message is not None:
                yield message.piece(path)
            message = _Message(number)
            if kind not in b"AN":
                message.blame(number, f"{shortened(_shown(line))}: expected a line A or N, with which a message begins")
        if before:
            message.raw += before
            before = []
        run: list[bytes] = []
        first, size, head = number, message.size, line[:2]
        while line[:2] == head and size <= limit and len(run) < _RUN:
            run.append(line)
            size += len(line)
            line = next(lines, b"")
        number += len(run) - 1
        message.size = size
        message.take(first, run)
        if message.size > limit:
            message.blame(number, f"the message is longer than {MAX_MESSAGE:,} bytes")
    if message is not None:
        yield message.piece(path)


def qload_text(message: bytes, *, width: int = 25) -> bytes:
    """Write a message as the lines of a QLOAD file, which `messages` reads back exactly.

    Args:
        message: MQMD, in ASCII and in either byte order, and data; or data alone.
        width: bytes of data on one line.

    Raises: ArgumentError: fields that a line cannot hold, such as a name with a line end.
    """
    lines = []
    data = message
    if message[:4] == b"MD  ":
        order = ">" if message[4:6] == b"\0\0" else "<"
        version = struct.unpack_from(f"{order}i", message, 4)[0] if len(message) >= MQMD_LENGTH_1 else 0
        size = MQMD_LENGTH_1 if version == 1 else MQMD_LENGTH_2
        if version not in (1, 2) or len(message) < size:
            raise ArgumentError("the message has no MQMD of version 1 or 2")
        for code, (field, kind) in _CODES.items():
            if field.offset >= size or code in _NEVER_WRITTEN:
                continue
            value = message[field.offset : field.offset + field.length]
            if kind == "MQLONG":
                value = str(struct.unpack(f"{order}i", value)[0]).encode()
            elif kind == "MQBYTE":
                value = value.hex().upper().encode()
            lines.append(b"A %b %b\n" % (code, value))
        if any(byte < 0x20 or byte > 0x7E for line in lines for byte in line[:-1]):
            raise ArgumentError("the MQMD has a field of characters that are not printable: a line cannot hold it")
        data = message[size:]
    else:
        lines.append(b"N\n")
    digits = data.hex().upper().encode()
    lines += [b"X %b\n" % digits[start : start + 2 * width] for start in range(0, max(len(digits), 1), 2 * width)]
    return b"".join([*lines, b"\n"])


# ---- bytes -------------------------------------------------------------------------------------------------------


def _pieces_of_bytes(stream: IO[bytes], path: str) -> Iterator[Piece | FileError]:
    first = stream.read(4)
    if first in STRUC_IDS:
        data = first + stream.read(MAX_MESSAGE - 3)
        yield long_message(path, MAX_MESSAGE) if len(data) > MAX_MESSAGE else Piece(0, data, data)
        return
    offset, prefix = 0, first
    while prefix:
        size = int.from_bytes(prefix, "big")
        data = stream.read(size) if len(prefix) == 4 and size <= MAX_MESSAGE else b""
        if len(data) != size or len(prefix) != 4:
            # Where the next message begins is not known any more.
            yield bad_prefix(path, offset, prefix, len(data), MAX_MESSAGE)
            return
        yield Piece(offset, prefix + data, data)
        offset += 4 + size
        prefix = stream.read(4)


def length_prefixed(message: bytes) -> bytes:
    """Put the length of a message in front of it."""
    return len(message).to_bytes(4, "big") + message


# ---- reading -----------------------------------------------------------------------------------------------------

FRAMINGS: dict[str, Callable[[IO[bytes], str], Iterator[Piece | FileError]]] = {
    "qload": _pieces_of_qload,
    "mq": _pieces_of_bytes,
}


def pieces(stream: IO[bytes], framing: str, path: str = "stream") -> Iterator[Piece | FileError]:
    """Take a stream apart into messages and, in their places, the errors of what is none."""
    return FRAMINGS[framing](stream, path)


class Messages:
    """The messages of files, as bytes. Made by `messages`; an iterator.

    Attributes:
        seen: how many messages there were, broken ones included.
        skipped: how many were broken.
        problems: their errors; of many only the first hundred.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]], framing: str | None, is_skipping: bool) -> None:
        self.seen = 0
        self.skipped = 0
        self.problems: list[FileError] = []
        self._is_skipping = is_skipping
        self._source = self._read(paths, framing)

    def __iter__(self) -> Messages:
        return self

    def __next__(self) -> bytes:
        return next(self._source)

    def _read(self, paths: Iterable[str | os.PathLike[str]], framing: str | None) -> Iterator[bytes]:
        for path in paths:
            name = os.fspath(path)
            try:
                with opened(path) as (_, stream):
                    kind = framing or format_of(stream) or "mq"
                    for piece in pieces(stream, kind, name):
                        if isinstance(piece, FileError):
                            self._problem(piece)
                        elif piece.message is not None:
                            self.seen += 1
                            yield piece.message
            except (OSError, EOFError, zlib.error) as error:
                self._problem(file_trouble(name, getattr(error, "strerror", None) or str(error)))

    def _problem(self, error: FileError) -> None:
        self.seen += 1
        if not self._is_skipping:
            raise error
        self.skipped += 1
        if len(self.problems) < _LISTED:
            self.problems.append(error)


def messages(*paths: str | os.PathLike[str], framing: str | None = None, errors: str = "raise") -> Messages:
    """Read the messages of files, gzipped or not, one at a time.

    Args:
        paths: the files; a directory stands for the files in it, in the order of their names; "-" is stdin.
        framing: "qload" or "mq" (length-prefixed, or one message in a file); None: found by the first bytes.
        errors: "raise" the first FileError, or "skip" what is broken, and count and list it.

    Raises: ArgumentError: no such framing.
    """
    if framing is not None and framing not in FRAMINGS:
        raise ArgumentError(f"framing is {framing!r}: expected one of {', '.join(map(repr, FRAMINGS))}")
    if errors not in ("raise", "skip"):
        raise ArgumentError(f"errors is {errors!r}: expected 'raise' or 'skip'")
    return Messages((one for path in paths for one in unfolded(path)), framing, errors == "skip")


def unfolded(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the files of a directory in the order of their names, or the path itself."""
    name = os.fspath(path)
    if Path(name).is_dir():
        yield from sorted(str(one) for one in Path(name).iterdir() if one.is_file())
    else:
        yield name
