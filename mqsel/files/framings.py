"""Files of raw messages, read one message at a time: QLOAD text, amqsbcg's output, length-prefixed bytes, one message.

What `dmpmqmsg` and its forerunner QLOAD write is text: a line ``A CODE value`` for each field of the MQMD, or ``N``
where it was left out, then the data on lines ``X`` (hexadecimal digits), ``S`` (a string, ``~`` escapes) or ``T``
(text, with its line end). Here each becomes the bytes of an MQMD and the data, as a queue would give them.

In a length-prefixed file four bytes, a big-endian number, say how long the message is that follows them. A file that
begins with a structure (MQMD, MQRFH2) is one message: no message is as long as ``MD  `` would be as a length.

Reads no more of a file than one message. Knows neither properties nor selectors. Follows formats §8.
"""

from __future__ import annotations

import binascii
import codecs
import gzip
import io
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from mqsel.errors import ArgumentError, FileError, bad_line, bad_prefix, file_trouble, long_message
from mqsel.files.amqsbcg import pieces_of_amqsbcg
from mqsel.files.dumps import BLANK, FIELDS, MAX_MESSAGE, Piece, field_bytes, lines, on_queue, shown
from mqsel.formats.mqmd import MQMD_LENGTH_1, MQMD_LENGTH_2

_LISTED = 100  # errors kept by a reader that skips
_LONG_FIELD = 1000  # bytes: no line with a field has as many, and what is cached should be small
_RUN = 4096  # lines that are joined at once: a line alone takes much more memory than its text

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


# ---- opening -----------------------------------------------------------------------------------------------------


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[IO[bytes], io.BufferedReader[Any]]]:
    """Open a file, gzipped or not, whatever it is called; "-" is stdin.

    Returns: the file as it is, whose `tell` says how much of it was read; and its content.
    """
    is_stdin = os.fspath(path) == "-"
    with io.BufferedReader(io.FileIO(0 if is_stdin else path, closefd=not is_stdin)) as raw:
        yield raw, content_of(raw)


def content_of(raw: io.BufferedReader[Any]) -> io.BufferedReader[Any]:
    """Unpack a stream that is gzipped, and give a text in UTF-16, such as PowerShell's ``>`` writes, in UTF-8."""
    stream = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if raw.peek(2)[:2] == b"\x1f\x8b" else raw
    is_wide = stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return io.BufferedReader(_InUTF8(stream)) if is_wide else stream


class _InUTF8(io.RawIOBase):
    """A stream of UTF-16, whose byte order mark is there, in UTF-8."""

    def __init__(self, stream: io.BufferedReader[Any]) -> None:
        self._stream = stream
        # What is no UTF-16 is shown, and so fails where digits or fields are expected.
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


STRUC_IDS = (b"MD  ", "MD  ".encode("cp037"), b"RFH ", "RFH ".encode("cp037"))
_CODE = b"A (?:" + "|".join(QLOAD_CODES).encode() + rb")[ \r\n]"

# For each format what is found in the first bytes of its files. QLOAD text may lack its comment; amqsbcg prints to a
# terminal, from which anything may have been copied along.
_STARTS = {
    "mq": re.compile(rb"\A(?:....)?(?:" + b"|".join(map(re.escape, STRUC_IDS)) + b")", re.DOTALL),
    "qload": re.compile(
        rb"\A(?:\xef\xbb\xbf)?\s*(?:\*[^\n]*\n\s*)*(?:\* (?:QLOAD|DMPMQM)|" + _CODE + rb"|N[ \t]*\r?\n[XST] )"
    ),
    "amqsbcg": re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*(?:AMQSBCG\d - starts|\*+ ?Message descriptor ?\*)", re.MULTILINE),
}
_START = 8192  # bytes


def format_of(stream: io.BufferedReader[Any]) -> str | None:
    """Say what a file holds by its first bytes: a name of `FRAMINGS`, or None for anything else."""
    start = stream.peek(_START)[:_START]
    return next((name for name, pattern in _STARTS.items() if pattern.search(start)), None)


# ---- QLOAD -------------------------------------------------------------------------------------------------------

_CODES = {
    code.encode(): (FIELDS[name], "MQBYTE" if code in _IN_HEX else FIELDS[name].kind)
    for code, name in QLOAD_CODES.items()
}
_HEX_LINE = re.compile(rb"X +((?:[0-9A-Fa-f]{2})*)(?: +<.*>)?\s*", re.DOTALL)  # -da adds a column of characters
_STRING = re.compile(rb'"([^"~]*(?:~["~][^"~]*)*)"\s*')
_ESCAPE = re.compile(rb"~(.)", re.DOTALL)


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
    made = field_bytes(field, kind, value)
    return made if isinstance(made, str) else (field.offset, field.offset + field.length, made)


class _Message:
    """A message of a QLOAD file while its lines arrive."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.raw = bytearray()
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

    def keep(self, number: int, text: bytes) -> None:
        """Keep what stands in the file, up to line *number*: comments and blank lines count like all else."""
        self.raw += text
        self.size += len(text)
        if self.size > 2 * MAX_MESSAGE:
            self.blame(number, _TOO_LONG)

    def take(self, number: int, lines: list[bytes]) -> None:
        """Take lines that begin alike, the first of them line *number*."""
        kind = lines[0][:1]
        self.has_data |= kind in b"XST"
        if lines[0][1:2] not in b" \r\n" or kind not in b"ANXST":
            found = shown(lines[0])
            self.blame(number, f"{found}: expected a line that begins with *, A, N, X, S or T, and a blank")
        elif kind == b"X":
            self.digits(number, lines)
        elif kind == b"A":
            self.fields(number, lines)
        elif kind == b"T":
            self.data.append(b"".join(line[2:].rstrip(b"\r\n") + b"\n" for line in lines))
        elif kind == b"S":
            for place, line in enumerate(lines, number):
                self.string(place, line[1:].strip(b" \r\n"))
        self.keep(number + len(lines) - 1, b"".join(lines))

    def fields(self, number: int, lines: list[bytes]) -> None:
        """Take lines A."""
        mqmd = self.mqmd = self.mqmd or bytearray(BLANK)
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
            return Piece(self.line, bytes(self.raw), data)
        version = int.from_bytes(self.mqmd[4:8], "big", signed=True)
        if version not in (1, 2):
            return bad_line(path, self.line, f"VER is {version}: expected 1 or 2")
        # The tool that loads the file hands over the whole structure.
        return Piece(self.line, bytes(self.raw), on_queue(bytes(self.mqmd), data))


_TOO_LONG = f"the message is longer than {MAX_MESSAGE:,} bytes"


def _pieces_of_qload(stream: IO[bytes], path: str) -> Iterator[Piece | FileError]:
    limit = 2 * MAX_MESSAGE
    source = lines(stream, limit)
    before = bytearray()  # comments, and blank lines behind them: they go with what follows
    message: _Message | None = None
    is_top = True  # the comments at the top, up to the first blank line behind them, belong to the file
    has_comment = False
    number = 0
    line = next(source, b"")
    while line:
        number += 1
        kind = line[:1]
        if kind == b"*" or line.isspace():
            has_comment |= kind == b"*"
            if message is not None and not before and kind != b"*":
                message.keep(number, line)  # a blank line behind a message is its end
            else:
                before += line
            if is_top and has_comment and kind != b"*":
                yield Piece(1, bytes(before), None)
                is_top = False
                before.clear()
            if len(before) > limit:
                if message is not None:
                    yield message.piece(path)
                yield bad_line(path, number, f"comments of more than {limit:,} bytes")
                message = None
                before.clear()
            line = next(source, b"")
            continue
        if message is None or (kind in b"AN" and message.has_data):
            if is_top:
                yield Piece(1, bytes(before), None)
                is_top = False
                before.clear()
            if message is not None:
                yield message.piece(path)
            message = _Message(number)
            if kind not in b"AN":
                message.blame(number, f"{shown(line)}: expected a line A or N, with which a message begins")
        if before:
            message.keep(number, bytes(before))
            before.clear()
        run: list[bytes] = []
        first, size, head = number, message.size, line[:2]
        while line[:2] == head and size <= limit and len(run) < _RUN:
            run.append(line)
            size += len(line)
            line = next(source, b"")
        number += len(run) - 1
        message.take(first, run)
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
    "amqsbcg": pieces_of_amqsbcg,
    "mq": _pieces_of_bytes,
}
TEXTS = ("qload", "amqsbcg")  # whose messages have a line as their place


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
        framing: "qload", "amqsbcg" or "mq" (length-prefixed, or one message in a file); None: found by the first bytes.
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
