"""What the command line does with input, here or on an executor of Spark: sift messages, count, complain in order.

One generator for every format: it is given what a file has for each message, gives back what is asked for untouched,
and ends with the counts. Everything that goes in or comes out of it may be pickled. Prints nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mqsel import formats
from mqsel.errors import DecodeError, FileError, MqselError, PropertyTypeError
from mqsel.files import parquet
from mqsel.files.dumps import Piece
from mqsel.files.framings import FRAMINGS
from mqsel.files.parts import Part, messages
from mqsel.formats import records
from mqsel.formats._mq import Decoder as MQDecoder
from mqsel.formats.jsonl import object_from_json, typed
from mqsel.matcher import Matcher
from mqsel.names import look_up
from mqsel.values import Truth

REPORTED = 10  # skipped messages reported in full

# What --format takes. The first and the records of others are lines of JSON, the last are messages as bytes.
BYTES = tuple(FRAMINGS)
FORMATS = ("json", *records.SCHEMAS, *BYTES)


class Ask(NamedTuple):
    """What is asked of a run; see the options of ``mqsel match``."""

    invert: bool
    counting: bool
    raising: bool
    limit: int | None
    format: str = "json"
    types: tuple[tuple[str, str], ...] = ()


class Complaint(NamedTuple):
    """Why a message was skipped; lines count from 1 in the piece of input that was given to `sift`.

    Where there are no lines the number is that of the byte, from 0, at which the message begins.
    """

    line: int
    text: str


@dataclass(slots=True)
class Tally:
    """The counts of one piece of input, last of its records.

    Attributes:
        lines: how many there were, blank ones included.
        messages: lines that are not blank, or messages of other kinds.
        selected: messages that were asked for: the selected ones, with ``--invert`` the others.
        unknown: messages for which the selector is UNKNOWN.
        skipped: what is no message, and messages with a value that no property can have.
        missing: for each property, how many of the unknown messages do not have it.
        unread: for each property, how many texts did not parse as the type that is declared.
        noted: messages of which something was skipped: a folder, a property, a name that is not allowed.
        note: the place of the first of them, and what was skipped of it.
    """

    lines: int = 0
    messages: int = 0
    selected: int = 0
    unknown: int = 0
    skipped: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    noted: int = 0
    note: tuple[int, str] | None = None

    def add(self, other: Tally) -> None:
        """Add the counts of another piece."""
        self.lines += other.lines
        self.messages += other.messages
        self.selected += other.selected
        self.unknown += other.unknown
        self.skipped += other.skipped
        self.missing += other.missing
        self.unread += other.unread
        self.noted += other.noted


@dataclass(frozen=True, slots=True)
class Broken:
    """Why the rest of a file cannot be read."""

    why: str


Sifted = bytes | Complaint | Tally | Broken


def in_json_words(error: MqselError, message: Any, matcher: Matcher) -> MqselError:
    """Say of a value that the machine refused what it is in JSON."""
    if isinstance(error, PropertyTypeError) and error.name in matcher.properties:
        value = look_up(message, error.name, matcher.dialect.headers)
        if isinstance(value, (dict, list)):
            try:
                typed(error.name, value)
            except PropertyTypeError as clearer:
                return clearer
    return error


def said(error: MqselError) -> str:
    """Say what is wrong; the place in a file is said in front, by who knows all of it."""
    return "\n  hint: ".join(filter(None, (error.message, error.hint))) if isinstance(error, FileError) else str(error)


def sift(matcher: Matcher, ask: Ask, pieces: Iterable[bytes | Piece | FileError]) -> Iterator[Sifted]:
    """Yield what is asked for, untouched, among complaints about what is broken; at the end the counts.

    Only the first complaints are yielded: the rest is in the counts. Counts travel as a record, so that a task which
    Spark runs twice is counted once.

    Args:
        matcher: selects.
        ask: the options.
        pieces: lines, for formats that have a message on each; else what `mqsel.files.framings` makes of a file.
    """
    tally = Tally()
    reader: records.RecordReader | None = None
    mq: MQDecoder | None = None
    read = parsed = formats.decoder("json", matcher)
    if ask.format in BYTES:
        read = made = formats.decoder("mq", matcher)
        assert isinstance(made, MQDecoder)
        mq = made
        parsed = lambda data: formats.properties(data, matcher.properties)  # noqa: E731
    elif ask.format != "json":
        reader = records.reader(ask.format, matcher.properties, dict(ask.types))
        read = parsed = lambda line, reader=reader: reader(object_from_json(line))  # type: ignore[misc]
        tally.unread = reader.unread
    matches, evaluate, true, unknown = matcher.matches, matcher.evaluate, Truth.TRUE, Truth.UNKNOWN
    head = b""  # what stands before the first message goes out with the first that does
    for number, piece in enumerate(pieces, 1):
        if isinstance(piece, bytes):
            place, data, raw = number, piece, piece
            tally.lines = number
            if not piece or piece.isspace():
                continue
        elif isinstance(piece, Piece):
            if piece.message is None:
                head = piece.raw
                continue
            place, raw, data = piece.place, piece.raw, piece.message
        else:
            place = piece.line or piece.offset
        tally.messages += 1
        message: Any = {}
        try:
            if isinstance(piece, FileError):
                raise piece
            message = read(data)
            if mq is not None and mq.noted and tally.note is None:
                tally.note = (place, formats.first_note(data))
            if isinstance(message, bool):  # known without running the selector
                truth = Truth(message)
            elif matches(message):
                truth = true
            else:
                truth = evaluate(message)
        except (PropertyTypeError, DecodeError) as error:
            tally.skipped += 1
            if tally.skipped <= REPORTED:
                yield Complaint(place, said(error if ask.format != "json" else in_json_words(error, message, matcher)))
            if ask.raising:
                break
            continue
        if truth is unknown:
            tally.unknown += 1
            found = message if read is parsed else parsed(data)
            tally.missing.update(
                name for name in matcher.properties if look_up(found, name, matcher.dialect.headers) is None
            )
        if (truth is true) is not ask.invert:
            tally.selected += 1
            if not ask.counting:
                yield head + raw
                head = b""
            if tally.selected == ask.limit:
                break
    tally.noted = 0 if mq is None else mq.noted
    yield tally


# ---- parts of files --------------------------------------------------------------------------------------------------


def sift_part(matcher: Matcher, ask: Ask, part: Part) -> Iterator[Sifted]:
    """Sift a part of a file, as `sift` does; what cannot be read is `Broken`, before the counts."""
    if part.format == "parquet":
        yield from _sift_rows(matcher, ask, part)
        return
    broken: list[Broken] = []
    for record in sift(matcher, ask._replace(format=part.format), _pieces(part, broken)):
        if isinstance(record, Tally):
            yield from broken
        yield record


def _pieces(part: Part, broken: list[Broken]) -> Iterator[bytes | Piece | FileError]:
    try:
        for piece in messages(part):
            if part.format not in BYTES and isinstance(piece, Piece):
                yield piece.raw
            elif isinstance(piece, Piece) and piece.raw is piece.message:
                yield piece._replace(raw=f"{part.path}\n".encode())  # one message in a file: its name says which
            else:
                yield piece
    except FileError as error:
        broken.append(Broken(why(error)))


def why(error: BaseException) -> str:
    """Say why a file cannot be read: what the system said, where it did."""
    cause = error.__cause__ if isinstance(error, FileError) and error.__cause__ is not None else error
    return getattr(cause, "strerror", None) or (cause.message if isinstance(cause, FileError) else str(cause))


def _sift_rows(matcher: Matcher, ask: Ask, part: Part) -> Iterator[Sifted]:
    """Sift rows of Parquet by columns; what is asked for becomes a line of JSON."""
    tally = Tally()
    try:
        for group in parquet.groups(matcher, part.path, part.start, part.stop):
            limit = None if ask.limit is None else ask.limit - tally.selected
            counts, mask = parquet.counted(matcher, group, is_inverted=ask.invert, limit=limit)
            tally.messages += counts.rows
            tally.selected += mask.true_count
            tally.unknown += counts.unknown
            tally.missing.update(counts.missing)
            if not ask.counting:
                for batch in parquet.taken(part.path, group, mask, group.file.schema_arrow.names):
                    for row in batch.to_pylist():
                        yield json.dumps(row, ensure_ascii=False, default=_in_json).encode() + b"\n"
            if tally.selected == ask.limit:
                break
    except FileError as error:
        yield Broken(why(error))
    except PropertyTypeError as error:  # of a column, and so of every row
        yield Broken(str(error))
    tally.lines = tally.messages
    yield tally


def _in_json(value: Any) -> Any:
    return {"bytes": value.hex()} if isinstance(value, bytes) else str(value)
