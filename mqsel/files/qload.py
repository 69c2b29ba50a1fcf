"""What `dmpmqmsg` and its forerunner QLOAD write of messages, and the same lines written again.

A line ``A CODE value`` for each field of the MQMD, or ``N`` where it was left out, then the data on lines ``X``
(hexadecimal digits), ``S`` (a string, ``~`` escapes) or ``T`` (text, with its line end). Here each message becomes the
bytes of an MQMD and the data, as a queue would give them. Follows formats §8.
"""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import IO

from mqsel.errors import ArgumentError, FileError
from mqsel.files.dumps import BLANK, FIELDS, MAX_MESSAGE, Piece, field_bytes, lines, on_queue, shown
from mqsel.files.wordings import bad_line
from mqsel.formats.mqmd import MQMD_LENGTH_1, MQMD_LENGTH_2

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

# What is found in the first bytes of such a file: it may lack its comment.
START = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:\*[^\n]*\n\s*)*(?:\* (?:QLOAD|DMPMQM)|A (?:"
    + "|".join(QLOAD_CODES).encode()
    + rb")[ \r\n]|N[ \t]*\r?\n[XST] )"
)

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
        return "this is not a field of a message descriptor: expected A, a code such as MSI, and a value"
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


def pieces_of_qload(stream: IO[bytes], path: str) -> Iterator[Piece | FileError]:
    """Take such a text apart into messages and, in place of those that are invalid, errors."""
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
