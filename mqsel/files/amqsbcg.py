"""What the sample program amqsbcg prints of the messages of a queue: what administrators paste into tickets.

A message begins with ``****Message descriptor****`` and a line for each field or two, may go on with its properties, if
the program was asked for them (option 1), and with its dead-letter header, which is then not in the dump, and ends with
``****   Message      ****``, the line ``length - 14 of 14 bytes`` and the dump, 16 bytes on a line. What stands between
messages, such as prompts and banners, means nothing. Of a message longer than its buffer the program prints the
beginning; its headers are there, or the decoder reports which one is cut.

A message of 2.6 KB of text takes 145 µs. A reader in C took 5 µs and 400 lines more: what is pasted has some hundred
messages, and is read in less time than Python starts.

Follows *IBM MQ 9.4, The Browser sample program*, and the program, samp/amqsbcg0.c of an installation.
"""

from __future__ import annotations

import re
import struct
from typing import Any

from mqsel.errors import ArgumentError, FileError
from mqsel.files._splitters import Printed
from mqsel.files.dumps import BLANK, MAX_MESSAGE, PRINTED, Piece, field_bytes, is_little, on_queue, shown, turner
from mqsel.files.wordings import bad_line
from mqsel.formats import mq
from mqsel.formats.jms import JMS
from mqsel.formats.mqmd import (
    MQDLH,
    MQENC_INTEGER_MASK,
    MQENC_INTEGER_NORMAL,
    MQENC_INTEGER_REVERSED,
    MQFMT_RF_HEADER_2,
    MQMD,
    MQMD_LENGTH_1,
    MQMD_LENGTH_2,
)
from mqsel.formats.mqrfh2 import ELEMENT_TYPES

_BETWEEN = 1 << 16  # bytes kept of what stands between two messages
_LONG_LINE = 1 << 12  # bytes: no line but that of a property has as many
_TEXT = 6  # bytes of text for one of data: five, with its share of a line

# Quotes as the program prints them, or as a word processor makes them.
_QUOTE = rb"(?:'|\xe2\x80[\x98\x99])"
_DESCRIPTOR, _DEAD_LETTER, _PROPERTIES, _DATA = (
    b"Message descriptor",
    b"Dead Letter Header",
    b"Message properties",
    b"Message",
)
_SECTION = re.compile(rb"\s*\*+ *(" + b"|".join((_DESCRIPTOR, _DEAD_LETTER, _PROPERTIES, _DATA)) + rb") *\*+\s*")
_TABLES = {_DESCRIPTOR: MQMD, _DEAD_LETTER: MQDLH}
_FIELDS = {section: {field.name: field for field in table} for section, table in _TABLES.items()}
_FIELD = re.compile(rb"\s*([A-Za-z]+)\s*:\s*(.*)", re.DOTALL)
# Fields that share a line with another.
_SECOND = {
    first: (second, re.compile(rb"(.*\S)\s+" + second.encode() + rb"\s*:\s*(.*)", re.DOTALL))
    for first, second in (
        ("StrucId", "Version"),
        ("Report", "MsgType"),
        ("Expiry", "Feedback"),
        ("Encoding", "CodedCharSetId"),
        ("Priority", "Persistence"),
        ("PutDate", "PutTime"),
    )
}
_VALUES = {
    "MQLONG": ("a number", re.compile(_QUOTE + rb"?([-+0-9]+)" + _QUOTE + rb"?(?:\s*\[.*\])?")),  # [its name]
    "MQBYTE": ("X'…'", re.compile(b"X" + _QUOTE + rb"([0-9A-Fa-f]*)" + _QUOTE)),
    "MQCHAR": ("'…'", re.compile(_QUOTE + b"(.*)" + _QUOTE, re.DOTALL)),
}
_PROPERTY = re.compile(rb"[ \t]*(\S+) : (.*)", re.DOTALL)
_WORDS = {b"TRUE": True, b"FALSE": False, b"NULL": None}
_LENGTH = re.compile(rb"\s*length - ([0-9]{1,10})(?: of [0-9]{1,10})? bytes\s*")
_ADDRESS = re.compile(rb"[ \t]*([0-9A-Fa-f]{8,16}):")
_DUMPED = re.compile(_ADDRESS.pattern + rb"([ \t0-9A-Fa-f]*)(?:" + _QUOTE + rb".*|[^\S \t]\s*)?", re.DOTALL)
_NO_DIGITS = re.compile(rb"[^ \t0-9A-Fa-f]\S*|(?<![0-9A-Fa-f])[0-9A-Fa-f](?:[0-9A-Fa-f]{2})*(?![0-9A-Fa-f])")
# What is in the MQMD does not stand in an MQRFH2 again.
_IN_MQMD = {name for name, (first, *_) in JMS.items() if first.path.startswith(("MQMD/", "body/"))} | {
    "JMSDeliveryMode"
}

_turned = turner(MQDLH)


class _Dump:
    """A message, while its lines arrive."""

    def __init__(self, path: str, line: int, raw: bytes) -> None:
        self.path = path
        self.line = self.last = line
        self.raw = bytearray(raw)
        self.section = _DESCRIPTOR
        self.fields: dict[bytes, dict[str, bytes]] = {_DESCRIPTOR: {}}
        self.pending = ""  # a field whose value stands on the next line
        self.properties: dict[str, Any] = {}
        self.unclosed = ("", bytearray())  # a property whose string goes on, and what there is of it
        self.length = -1
        self.data = bytearray()
        self.is_dumped = False  # a line of the dump was there; without data it has one, without bytes
        self.trouble: FileError | None = None

    @property
    def is_complete(self) -> bool:
        return self.trouble is None and self.is_dumped and self.length == len(self.data)

    def blame(self, what: str, found: bytes = b"", column: int | None = None) -> None:
        """Note what is wrong, with what was found and the column, from 0; what was read is not needed any more."""
        where = "" if column is None else f"column {column + 1}: "
        self.trouble = bad_line(self.path, self.last, f"{where}{f'{shown(found)}: ' if found else ''}{what}")
        self.raw.clear()
        self.data.clear()

    def take(self, number: int, line: bytes) -> None:
        """Read a line."""
        if self.trouble is not None:
            return
        self.last = number
        self.raw += line
        if len(self.raw) > _TEXT * MAX_MESSAGE:
            self.blame(f"the message is longer than {MAX_MESSAGE:,} bytes")
        elif self.unclosed[0]:
            self.read_string(*self.unclosed, line)
        elif line.isspace():
            return
        elif len(line) > _LONG_LINE and self.section != _PROPERTIES:
            self.blame("this line is longer than any line of a message", line)
        elif self.length >= 0:
            self.read_dump(line)
        elif line.lstrip()[:1] == b"*" and (section := _SECTION.fullmatch(line)) is not None:
            self.section = section[1]
            self.fields.setdefault(self.section, {})
        elif self.section == _DATA:
            self.read_length(line)
        elif self.section == _PROPERTIES:
            self.read_property(line)
        else:
            self.read_fields(line)

    def read_fields(self, line: bytes) -> None:
        """Read a line with a field or two."""
        name, text = self.pending, line.strip()
        column = len(line) - len(line.lstrip())
        if not name:
            match = _FIELD.fullmatch(line)
            if match is None:
                if not text.startswith(b"**"):  # a heading: Identity Context, Origin Context
                    self.blame("expected a field of the descriptor, as Name : value", line)
                return
            name, text, column = match[1].decode(), match[2].rstrip(), match.start(2)
        second, pattern = _SECOND.get(name, ("", None))
        both = pattern.fullmatch(text) if pattern is not None else None
        self.put(column, name, text if both is None else both[1])
        if both is not None and self.trouble is None:
            self.put(column + both.start(2), second, both[2])

    def put(self, column: int, name: str, text: bytes) -> None:
        """Set a field; those of later versions mean nothing here."""
        field = _FIELDS[self.section].get(name)
        if field is None:
            return
        self.pending = "" if text else name
        if not text:
            return
        form, pattern = _VALUES[field.kind]
        value = pattern.fullmatch(text)
        made: bytes | str = f"{name} is {shown(text)}: expected {form}"
        if value is not None:
            made = field_bytes(field, field.kind, value[1])
        if isinstance(made, str):
            self.blame(made, column=column)
        else:
            self.fields[self.section][name] = made

    def read_property(self, line: bytes) -> None:
        """Read a line with a property. Its type is lost but for its kind: numbers are int64 or float64."""
        match = _PROPERTY.fullmatch(line)
        if match is None:
            if line.strip() != b"None":
                self.blame("expected a property, as name : value", line)
            return
        name, text = match[1].decode(errors="replace"), match[2].strip()
        value: Any = _WORDS.get(text, text)
        if name in _IN_MQMD:
            return
        if (octets := _VALUES["MQBYTE"][1].fullmatch(text)) is not None and len(octets[1]) % 2 == 0:
            value = bytes.fromhex(octets[1].decode())
        elif re.match(_QUOTE, text):
            self.read_string(name, bytearray(), match[2])
            return
        elif value is text:
            try:
                value = int(text) if re.fullmatch(rb"[-+]?[0-9]{1,20}", text) else float(text.replace(b"_", b"?"))
            except ValueError:
                self.blame("expected a number, TRUE, FALSE, NULL, '…' or X'…'", text, match.start(2))
                return
        self.properties[name] = (ELEMENT_TYPES.get(name.replace(".", "/")), value)

    def read_string(self, name: str, so_far: bytearray, line: bytes) -> None:
        """Read a line of a string, which may have line ends in it."""
        is_first = not so_far
        so_far += line
        self.unclosed = (name, so_far)
        if re.search(_QUOTE + rb"\s*\Z", line[-_LONG_LINE:] if not is_first else line[1:][-_LONG_LINE:]):
            whole = _VALUES["MQCHAR"][1].fullmatch(so_far.rstrip())
            self.unclosed = ("", bytearray())
            try:
                self.properties[name] = ("string", "" if whole is None else whole[1].decode())
            except UnicodeDecodeError:
                self.blame(f"property {name!r} is not UTF-8: convert the file to UTF-8")

    def read_length(self, line: bytes) -> None:
        """Read the line with the length of the data."""
        match = _LENGTH.fullmatch(line)
        if match is None:
            self.blame("expected 'length - N of N bytes'", line)
        elif int(match[1]) > MAX_MESSAGE:
            self.blame(f"the message is longer than {MAX_MESSAGE:,} bytes", line)
        else:
            self.length = int(match[1])

    def read_dump(self, line: bytes) -> None:
        """Read a line of the dump. A character of several bytes may make it longer than 16."""
        match, done = _DUMPED.fullmatch(line), len(self.data)
        address = _ADDRESS.match(line)
        is_more, self.is_dumped = self.is_complete, True
        if is_more:
            self.blame(f"the dump has more bytes than its length says, {self.length:,}")
        elif address is None:
            if self.length:
                self.blame(f"expected a line of the dump: it ends at byte {done:,} of {self.length:,}", line)
        elif int(address[1], 16) != done:
            found = f"expected {done:08X}: lines of the dump are missing or stand twice"
            self.blame(found, address[1], address.start(1))
        else:
            try:
                self.data += bytes.fromhex(match[2].decode() if match is not None else "?")
            except ValueError:
                wrong = _NO_DIGITS.search(line, address.end()) or address
                self.blame("expected hexadecimal digits, two for each byte", wrong[0], wrong.start())
            if len(self.data) > self.length:
                self.blame(f"the dump has more bytes than its length says, {self.length:,}")

    def piece(self) -> Piece | FileError:
        """Return the message, or what is wrong with it."""
        if self.trouble is None:
            if self.unclosed[0]:
                self.blame(f"property {self.unclosed[0]!r} has no quote at its end")
            elif self.length < 0:
                self.blame("the message ends before its data: expected 'length - N of N bytes' and a dump")
            elif self.length != len(self.data):
                self.blame(f"the dump ends at byte {len(self.data):,} of {self.length:,}")
        if self.trouble is not None:
            return self.trouble
        try:
            return Piece(self.line, bytes(self.raw), self.message())
        except ArgumentError as error:
            return bad_line(self.path, self.line, error.message)

    def structure(self, section: bytes, length: int) -> bytearray:
        """Put the fields of a section together, as far as *length*; big-endian."""
        fields = self.fields[section]
        lacking = [field.name for field in _TABLES[section] if field.offset < length and field.name not in fields]
        if lacking:
            raise ArgumentError(
                f"the message has no {', '.join(lacking)}: expected every field below {section.decode()}"
            )
        return bytearray().join(
            fields.get(field.name, BLANK[field.offset : field.offset + field.length]) for field in _TABLES[section]
        )

    def message(self) -> bytes:
        """Put the message together, with its properties in an MQRFH2, as the program shows them when asked (option 3).

        Raises: ArgumentError: it has fields that do not fit together.
        """
        is_short = self.fields[_DESCRIPTOR].get("Version") == b"\0\0\0\1"
        mqmd = self.structure(_DESCRIPTOR, MQMD_LENGTH_1 if is_short else MQMD_LENGTH_2)
        encoding, ccsid = struct.unpack_from(">ii", mqmd, 24)
        if not mqmd.startswith((b"MD  \0\0\0\1", b"MD  \0\0\0\2")):
            raise ArgumentError("StrucId or Version is not that of an MQMD: expected 'MD  ', and 1 or 2")
        data = bytes(self.data)
        if _DEAD_LETTER in self.fields:
            header = self.structure(_DEAD_LETTER, len(BLANK))
            # The program prints numbers as its machine reads them, whatever their order. Turned twice is not turned.
            if (header[4:8] == b"\1\0\0\0") is not is_little(encoding):
                header = bytearray(_turned(bytes(header)))
            data = bytes(header) + data
        if self.properties:
            order = encoding if encoding & MQENC_INTEGER_MASK in (MQENC_INTEGER_NORMAL, MQENC_INTEGER_REVERSED) else 273
            following = {"Format": mqmd[32:40].decode("latin-1"), "Encoding": encoding, "CodedCharSetId": ccsid}
            given = {name: value if value[0] else value[1] for name, value in self.properties.items()}
            # None for a property that is a field of the MQMD, as JMSPriority is.
            rfh2 = mq.encode(following, given, encoding=order)[MQMD_LENGTH_2:]
            if rfh2:
                data = rfh2 + data
                mqmd[24:40] = struct.pack(">ii", order, 1208) + MQFMT_RF_HEADER_2.encode()
        return on_queue(bytes(mqmd), data)


class _Printout:
    """Puts the messages of a file together from its lines; see `Printed`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._dump: _Dump | None = None
        self._before = bytearray()  # what stands between two messages goes with the second
        self._is_empty = True  # no message has begun

    def take(self, number: int, line: bytes) -> Piece | FileError | None:
        """Read a line; return the message that ends before it."""
        if line.lstrip()[:1] == b"*" and (section := _SECTION.fullmatch(line)) and section[1] == _DESCRIPTOR:
            done = self._done()
            self._dump = _Dump(self._path, number, bytes(self._before) + line)
            self._is_empty = False
            self._before.clear()
            return done
        if self._dump is not None and (not self._dump.is_complete or _ADDRESS.match(line)):
            self._dump.take(number, line)
            self._before.clear()
            return None
        self._before += line
        if len(self._before) > 2 * _BETWEEN:
            del self._before[:-_BETWEEN]
            return self._done()
        return None

    def _done(self) -> Piece | FileError | None:
        dump, self._dump = self._dump, None
        return None if dump is None else dump.piece()

    def end(self) -> Piece | FileError | None:
        """Return the last message, or what is wrong with a file that has none."""
        return _nothing(self._path, self._before) if self._is_empty else self._done()


def _nothing(path: str, text: bytes | bytearray) -> FileError | None:
    """Return what is wrong with a file in which no message begins."""
    if not text.strip() or PRINTED.search(text):
        return None
    return bad_line(path, 1, "no message begins in this file: expected ****Message descriptor****")


def splitter(path: str) -> Printed:
    """Return what takes apart what amqsbcg printed into messages and, in place of those that are invalid, errors."""
    return Printed(path, MAX_MESSAGE, _Printout(path))
