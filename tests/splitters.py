"""Files of MQ messages taken apart a line at a time, by the readers in Python: what the splitters are compared with.

Every message goes the way that only odd ones go, so what is read quickly is read twice; and a selector is asked about
each by itself. Shares with what it tests the readers of one message, and no loop.
"""

import io

from mqsel import formats
from mqsel.errors import DecodeError, FileError, PropertyTypeError
from mqsel.files import amqsbcg, qload
from mqsel.files.dumps import MAX_MESSAGE, STRUC_IDS, Piece
from mqsel.files.framings import FORMATS
from mqsel.files.run.work import REPORTED, Complaint, Tally, first_note, said
from mqsel.files.wordings import bad_prefix
from mqsel.names import look_up

BOM = b"\xef\xbb\xbf"


class Drip(io.RawIOBase):
    """A stream that returns a few bytes at a time: whatever is read ends anywhere."""

    def __init__(self, data, sizes):
        self.data = data
        self.sizes = sizes

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), next(self.sizes), len(self.data))
        buffer[:size], self.data = self.data[:size], self.data[size:]
        return size


def lines_of(data):
    return list(io.BytesIO(data.removeprefix(BOM)))


def framed(data, path, is_alone=lambda data: data[:4] in STRUC_IDS):
    """Split bytes into messages with their length in front."""
    if is_alone(data):
        yield Piece(0, data, data)
        return
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        message = data[at + 4 : at + 4 + size]
        if len(data) - at < 4 or size > MAX_MESSAGE or len(message) < size:
            left = 0 if size > MAX_MESSAGE else len(message)
            yield bad_prefix(path, at, data[at : at + 4], left, MAX_MESSAGE)
            return
        yield Piece(at, data[at : at + 4 + size], message)
        at += 4 + size


def of_qload(data, path):
    """Split a file of QLOAD into its messages."""
    before, text = [], []  # comments, and the lines of a message with those in front of it
    place = 0
    has_data = has_comment = False
    is_top = True
    for number, line in enumerate(lines_of(data), 1):
        kind = line[:1]
        if kind == b"*" or line.isspace():
            has_comment |= kind == b"*"
            (text if place and not before and kind != b"*" else before).append(line)
            if is_top and has_comment and kind != b"*":
                yield Piece(1, b"".join(before), None)
                is_top, before = False, []
            continue
        if place and has_data and kind in b"AN":
            yield qload._piece(place, b"".join(text), path)
            place, text = 0, []
        if is_top:
            yield Piece(1, b"".join(before), None)
            is_top, before = False, []
        if not place:
            place, has_data = number, False
        text += [*before, line]
        before = []
        has_data |= kind in b"XST"
    if place:
        yield qload._piece(place, b"".join(text), path)


def of_amqsbcg(data, path):
    """Split what amqsbcg printed into its messages."""
    dump = None
    before = b""
    for number, line in enumerate(lines_of(data), 1):
        section = amqsbcg._SECTION.fullmatch(line) if line.lstrip()[:1] == b"*" else None
        if section is not None and section[1] == amqsbcg._DESCRIPTOR:
            if dump is not None:
                yield dump.piece()
            dump = amqsbcg._Dump(path, number, before + line)
            before = b""
        elif dump is not None and (not dump.is_complete or amqsbcg._ADDRESS.match(line)):
            dump.take(number, line)
            before = b""
        else:
            before += line
    if dump is not None:
        yield dump.piece()
    elif (trouble := amqsbcg._nothing(path, before)) is not None:
        yield trouble


def of_amqp(data, path):
    """Split AMQP messages with their length in front."""

    def begins(at):
        number = data[at + 2 : at + 3] if data[at + 1 : at + 2] == b"\x53" else data[at + 9 : at + 10]
        is_number = data[at + 1 : at + 2] == b"\x53" or data[at + 1 : at + 9] == b"\x80" + bytes(7)
        is_text = data[at + 1 : at + 2] in (b"\xa3", b"\xb3") and b"amqp:" in (
            data[at + 3 : at + 8],
            data[at + 6 : at + 11],
        )
        return data[at : at + 1] == b"\0" and (is_text or (is_number and number != b"" and 0x70 <= number[0] <= 0x78))

    def is_alone(_):
        is_length = data[1:2] == b"\x53" and data[3:4] not in (b"\x40", b"\x45", b"") and begins(4)
        return begins(0) and not is_length

    return framed(data, path, is_alone)


SPLITTERS = {"mq": framed, "amqp": of_amqp, "qload": of_qload, "amqsbcg": of_amqsbcg}


def shown(piece):
    """Return what can be compared."""
    return (piece.line, piece.offset, piece.message, piece.hint) if isinstance(piece, FileError) else tuple(piece)


def sifted(matcher, ask, data, path="-"):
    """Return what sifting a file must return: what is asked for, in one or as items, the complaints, the counts."""
    kind = FORMATS[ask.format].message
    decoder = matcher.decoder(kind)
    tally, items, complaints = Tally(), [], []
    head = b""
    for piece in SPLITTERS[ask.format](data, path):
        if isinstance(piece, Piece) and piece.message is None:
            head = piece.raw
            continue
        tally.messages += 1
        try:
            if isinstance(piece, FileError):
                raise piece
            message = decoder(piece.message)
            truth = message if isinstance(message, bool) else matcher.truth(message)
        except (FileError, DecodeError, PropertyTypeError) as error:
            tally.skipped += 1
            place = (error.line or error.offset) if isinstance(error, FileError) else piece.place
            if tally.skipped <= REPORTED:
                complaints.append(Complaint(place, said(error)))
            if ask.raising:
                break
            continue
        if decoder.noted and tally.note is None:
            tally.note = (piece.place, first_note(ask.format, piece.message))
        if truth == 2:
            tally.unknown += 1
            names = matcher.properties
            found = (
                formats.properties(piece.message, names) if kind == "mq" else {name: message[name] for name in names}
            )
            tally.missing.update(
                name for name in matcher.properties if look_up(found, name, matcher.dialect.headers) is None
            )
        if (truth == 1) is not ask.invert:
            tally.selected += 1
            if not ask.counting:
                items.append(f"{path}\n".encode() if piece.raw is piece.message and path != "-" else head + piece.raw)
                head = b""
            if tally.selected == ask.limit:
                break
    tally.noted = decoder.noted
    return items if ask.apart else b"".join(items), complaints, tally


def joined(records, ask):
    """Return what sifting returned, in the same form."""
    items, complaints, tally = [], [], None
    for record in records:
        if isinstance(record, bytes | list):
            assert ask.apart is isinstance(record, list)
            items += record if ask.apart else [record]
        elif isinstance(record, Complaint):
            complaints.append(record)
        else:
            assert tally is None
            tally = record
    return items if ask.apart else b"".join(items), complaints, tally
