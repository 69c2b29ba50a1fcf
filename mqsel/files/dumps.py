"""What texts that tools print of messages have in common: lines of a file become the bytes of a message.

A text has the fields of the MQMD by their names, and the data in hexadecimal digits; it has lost the byte order and the
character set in which the queue manager kept the descriptor. Knows no format.
"""

import binascii
import re
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mqsel.carets import shortened
from mqsel.formats.mqmd import (
    MQENC_INTEGER_MASK,
    MQENC_INTEGER_NORMAL,
    MQENC_INTEGER_REVERSED,
    MQFMT_MD_EXTENSION,
    MQMD,
    MQMD_LENGTH_1,
    MQMD_LENGTH_2,
    Field,
    page_of,
)

MAX_MESSAGE = 104_857_600 + MQMD_LENGTH_2  # bytes: the largest MaxMsgLength of a queue, and the descriptor
FIELDS = {field.name: field for field in MQMD}
STRUC_IDS = (b"MD  ", "MD  ".encode("cp037"), b"RFH ", "RFH ".encode("cp037"))  # with which a message begins

# How an output of amqsbcg begins: to know one, the module that reads it is not imported.
PRINTED = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*(?:AMQSBCG\d - starts|\*+ ?Message descriptor ?\*)", re.MULTILINE)

_WHOLE = re.compile(rb"\s*[+-]?[0-9]{1,10}\s*")
_LONG = struct.Struct(">i")
_SAID = struct.Struct(">4xi16xii8s")  # Version, and of what follows Encoding, CodedCharSetId, Format
_MD_EXTENSION = MQFMT_MD_EXTENSION.encode()
_EBCDIC_ID = "MDE ".encode("cp500")


class Piece(NamedTuple):
    """What a file has for one message.

    Attributes:
        place: where it begins: the line, from 1, of a text; else the byte, from 0.
        raw: what stands in the file, to be written again as it is; of a text in UTF-16 the same in UTF-8.
        message: the message; None for a blank line, and for what stands before the first message.
    """

    place: int
    raw: bytes
    message: bytes | None


def shown(line: bytes) -> str:
    """Show the beginning of a line in an error."""
    return shortened(line[:100].rstrip(b"\r\n").decode(errors="replace"))


def field_bytes(field: Field, kind: str, text: bytes) -> bytes | str:
    """Read a field as a text has it; or say what is wrong with it.

    Args:
        field: of a structure.
        kind: that of the field; or MQBYTE, for characters written in hexadecimal digits.
        text: a number, hexadecimal digits or characters.

    Returns: the bytes of the field, a number big-endian.
    """
    if kind == "MQLONG":
        if not _WHOLE.fullmatch(text) or not -(1 << 31) <= int(text) < 1 << 31:
            return f"{field.name} is {shown(text)}: expected a whole number of 32 bits"
        return _LONG.pack(int(text))
    if kind == "MQBYTE":
        try:
            text = binascii.unhexlify(text.strip())
        except binascii.Error:
            return f"{field.name} is {shown(text)}: expected hexadecimal digits, two for each byte"
    elif len(text) > field.length:
        text = text.rstrip()
    if len(text) > field.length:
        return f"{field.name} has {len(text)} bytes: expected at most {field.length}"
    return text.ljust(field.length, b"\0" if field.kind == "MQBYTE" else b" ")


def _blank_mqmd() -> bytes:
    """Return the MQMD that QLOAD begins each message with: version 2, the vendor's defaults."""
    data = bytearray(MQMD_LENGTH_2)
    for field in MQMD:
        if field.kind == "MQLONG":
            _LONG.pack_into(data, field.offset, 2 if field.name == "Version" else field.default)
        elif field.kind == "MQCHAR":
            data[field.offset : field.offset + field.length] = field.default.encode().ljust(field.length)
    return bytes(data)


BLANK = _blank_mqmd()


def turner(table: Sequence[Field]) -> Callable[[bytes], bytes]:
    """Return the function that turns a big-endian structure into a little-endian one."""
    codes = "".join("i" if field.kind == "MQLONG" else f"{field.length}s" for field in table)
    big, little = struct.Struct(f">{codes}"), struct.Struct(f"<{codes}")
    return lambda structure: little.pack(*big.unpack(structure))


_turned = turner(MQMD)


def is_little(encoding: int, structure: bytes = b"") -> bool:
    """Report whether an encoding of numbers is little-endian; if it names no order, whether the Version is."""
    order = encoding & MQENC_INTEGER_MASK
    if order in (MQENC_INTEGER_NORMAL, MQENC_INTEGER_REVERSED):
        return order == MQENC_INTEGER_REVERSED
    return len(structure) >= 8 and structure[4] != 0


def on_queue(mqmd: bytes, data: bytes) -> bytes:
    """Put an MQMD in front of the data, as a queue would give them.

    A queue manager keeps the descriptor in its own byte order and character set, and honours an MQMDE in these alone.
    So the Encoding that announces an MQMDE is the order of the MQMD, and EBCDIC in it is EBCDIC in both. With any other
    data the order decides nothing; the Encoding is that of the machine most often.

    Args:
        mqmd: of version 2, big-endian, in ASCII. With Version 1 its end is not read.
        data: what follows it.
    """
    version, encoding, ccsid, form = _SAID.unpack_from(mqmd)
    extension = data if form == _MD_EXTENSION else b""
    if extension.startswith(_EBCDIC_ID):
        page = page_of(ccsid)
        for field in MQMD:
            if field.kind == "MQCHAR":
                text = mqmd[field.offset : field.offset + field.length].decode("latin-1")
                codes = bytes(max(page.find(character), 0) for character in text)
                mqmd = mqmd[: field.offset] + codes + mqmd[field.offset + field.length :]
    if is_little(encoding, extension):
        mqmd = _turned(mqmd)
    return mqmd[: MQMD_LENGTH_1 if version == 1 else MQMD_LENGTH_2] + data
