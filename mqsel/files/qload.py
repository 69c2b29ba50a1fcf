"""What `dmpmqmsg` and its forerunner QLOAD write of messages, and the same lines written again.

A line ``A CODE value`` for each field of the MQMD, or ``N`` where it was left out, then the data on lines ``X``
(hexadecimal digits), ``S`` (a string, ``~`` escapes) or ``T`` (text, with its line end). Each message becomes the bytes
of an MQMD and the data, as a queue would give them: `_splitters` reads what the tools write, and all that is odd is
read here. Follows formats §8.
"""

from __future__ import annotations

import binascii
import io
import re
import struct

from mqsel.arguments import check_count
from mqsel.errors import ArgumentError, FileError
from mqsel.files._splitters import Qload
from mqsel.files.dumps import BLANK, FIELDS, MAX_MESSAGE, Piece, field_bytes, on_queue, shown
from mqsel.files.wordings import bad_line, no_message
from mqsel.formats.mqmd import MQMD_LENGTH_1, MQMD_LENGTH_2

_LONG_FIELD = 1000  # bytes: no line with a field has as many

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

# Lines that stand in the middle of one.
INSIDE = rb"(?m)^(?:A (?:" + "|".join(QLOAD_CODES).encode() + rb")(?: [^\n]*)?|X [0-9A-Fa-f]{2,}[^\n]*)\r?$"

_CODES = {
    code.encode(): (FIELDS[name], "MQBYTE" if code in _IN_HEX else FIELDS[name].kind)
    for code, name in QLOAD_CODES.items()
}
# The codes of a message as the tools write them, in order.
_DUMPED = [code for code in _CODES if code not in _NEVER_WRITTEN]
# -da adds a column of characters.
_HEX_LINE = re.compile(rb"X +(?:((?:[0-9A-Fa-f]{2})+)(?: +<.*>)?\s*|<.*>\s*|[^\S ]\s*)?", re.DOTALL)
_STRING = re.compile(rb'"([^"~]*(?:~["~][^"~]*)*)"\s*')
_ESCAPE = re.compile(rb"~(.)", re.DOTALL)


def _setting(line: bytes) -> tuple[int, int, bytes] | str:
    """Read a line ``A CODE value``: where in the MQMD what goes; or say what is wrong with it."""
    if len(line) >= _LONG_FIELD:
        return "this line is longer than one with a field of a message descriptor"
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
    """A message of a QLOAD file that `_splitters` leaves to us: its lines, one by one."""

    def __init__(self) -> None:
        self.mqmd: bytearray | None = None
        self.codes: list[bytes] = []  # of its lines A
        self.has_data = False
        self.data = bytearray()  # a list of lines takes far more

    def take(self, line: bytes) -> str:
        """Read a line that is no comment; return what is wrong with it."""
        kind = line[:1]
        self.has_data |= kind in b"XST"
        if line[1:2] not in b" \r\n" or kind not in b"ANXST":
            return f"{shown(line)}: expected a line that begins with *, A, N, X, S or T, and a blank"
        if kind == b"A":
            self.mqmd = self.mqmd or bytearray(BLANK)
            setting = _setting(line)
            if isinstance(setting, str):
                return setting
            start, stop, value = setting
            self.mqmd[start:stop] = value
            self.codes.append(line[2:5])
        elif kind == b"X":
            match = _HEX_LINE.fullmatch(line)
            if match is None:
                return "expected X, a blank, and hexadecimal digits, two for each byte"
            self.data += binascii.unhexlify(match[1] or b"")
        elif kind == b"T":
            self.data += line[2:].rstrip(b"\r\n") + b"\n"
        elif kind == b"S":
            return self.string(line[1:].strip(b" \r\n"))
        return ""

    def string(self, value: bytes) -> str:
        """Read what stands behind an S."""
        if value.startswith(b'"'):
            match = _STRING.fullmatch(value)
            if match is None:
                return 'expected a string in double quotes, with ~" and ~~ for " and ~'
            value = _ESCAPE.sub(rb"\1", match[1]) if b"~" in match[1] else match[1]
        self.data += value
        return ""


def _piece(line: int, text: bytes, path: str) -> Piece | FileError:
    """Read a message, or say what is wrong with it.

    Args:
        line: with which it begins.
        text: its lines, and comments in front of it.
        path: of the file.
    """
    message = _Message()
    number = size = 0
    for one in io.BytesIO(text):
        size += len(one)
        if one[:1] != b"*" and not one.isspace():
            number = number or line
            trouble = message.take(one)
            if number == line and one[:1] not in b"AN":
                trouble = f"{shown(one)}: expected a line A or N, with which a message begins"
            if trouble:
                return bad_line(path, number, trouble)
        if size > 2 * MAX_MESSAGE:
            return bad_line(path, number, f"the message is longer than {MAX_MESSAGE:,} bytes")
        number += number > 0
    codes = message.codes
    if b"ORL" in codes and codes[0] != _DUMPED[0] and codes == _DUMPED[-len(codes) :]:
        return bad_line(path, line, f"the message begins in its middle, at A {codes[0].decode()}: expected A VER")
    if not message.has_data:
        return bad_line(path, line, "the message has no data: expected a line X, S or T behind its fields")
    data = bytes(message.data)
    if message.mqmd is None:
        return Piece(line, text, data)
    version = int.from_bytes(message.mqmd[4:8], "big", signed=True)
    if version not in (1, 2):
        return bad_line(path, line, f"VER is {version}: expected 1 or 2")
    # The tool that loads the file hands over the whole structure.
    return Piece(line, text, on_queue(bytes(message.mqmd), data))


def splitter(path: str) -> Qload:
    """Return what splits such a text into messages and, in place of those that are invalid, errors."""
    return Qload(path, 2 * MAX_MESSAGE, _CODES, _piece)


def qload_text(message: bytes, *, width: int = 25) -> bytes:
    """Return a message as the lines of a QLOAD file, which `messages` reads back exactly.

    Args:
        message: The bytes of an MQMD, in ASCII and either byte order, and the data; or only the data.
        width: The number of bytes of data on one line. The default is 25.

    Raises: ArgumentError: if a line can't hold a field, such as a name with a newline.
    """
    if not isinstance(message, bytes):
        raise no_message(message)
    check_count("width", width, "a count of bytes")
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
