"""What the command line does with input, here or on an executor of Spark: sift messages, count, complain in order.

One generator for every format: it is given what a file has for each message, gives back what is asked for untouched,
and ends with the counts. Everything that goes in or comes out of it may be pickled. Prints nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mqsel import formats
from mqsel.errors import DecodeError, FileError, MqselError, PropertyTypeError
from mqsel.formats import records
from mqsel.formats.files import Piece
from mqsel.formats.jsonl import message_from_json, object_from_json, typed
from mqsel.matcher import Matcher
from mqsel.values import Truth

REPORTED = 10  # skipped messages reported in full

# What --format takes. The first and the records of others are lines of JSON, the last two are bytes.
FORMATS = ("json", *records.SCHEMAS, "qload", "mq")
BYTES = ("qload", "mq")


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
    """

    lines: int = 0
    messages: int = 0
    selected: int = 0
    unknown: int = 0
    skipped: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add the counts of another piece."""
        self.lines += other.lines
        self.messages += other.messages
        self.selected += other.selected
        self.unknown += other.unknown
        self.skipped += other.skipped
        self.missing += other.missing
        self.unread += other.unread


Sifted = bytes | Complaint | Tally


def spellings(matcher: Matcher) -> dict[str, str]:
    """Give, for each property that is read, the other name it may have in a message, or the same name again."""
    if matcher.dialect.headers != "mqi":
        return {name: name for name in matcher.properties}
    return {name: name if "." in name or name.startswith("JMS") else f"usr.{name}" for name in matcher.properties}


def in_json_words(error: MqselError, message: Any, spelled: dict[str, str]) -> MqselError:
    """Say of a value that the machine refused what it is in JSON."""
    if isinstance(error, PropertyTypeError) and error.name in spelled:
        value = message.get(error.name, message.get(spelled[error.name]))
        if isinstance(value, (dict, list)):
            try:
                typed(error.name, value)
            except PropertyTypeError as clearer:
                return clearer
    return error


def said(error: MqselError) -> str:
    """Say what is wrong; the place in a file is said in front, by who knows all of it."""
    return "\n  hint: ".join(filter(None, (error.message, error.hint))) if isinstance(error, FileError) else str(error)


def _json_reader(matcher: Matcher) -> Callable[[bytes], Any]:
    spelled = spellings(matcher)
    names = {*spelled, *spelled.values()}
    return lambda line: message_from_json(line, names)


def sift(matcher: Matcher, ask: Ask, pieces: Iterable[bytes | Piece | FileError]) -> Iterator[Sifted]:
    """Yield what is asked for, untouched, among complaints about what is broken; at the end the counts.

    Only the first complaints are yielded: the rest is in the counts. Counts travel as a record, so that a task which
    Spark runs twice is counted once.

    Args:
        matcher: selects.
        ask: the options.
        pieces: lines, for formats that have a message on each; else what `mqsel.formats.files` makes of a file.
    """
    tally = Tally()
    spelled = spellings(matcher)
    reader: records.RecordReader | None = None
    read = parsed = _json_reader(matcher)
    if ask.format in BYTES:
        read = formats.decoder("mq", matcher)
        parsed = lambda data: formats.properties(data, {*spelled, *spelled.values()})  # noqa: E731
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
            if isinstance(message, bool):  # known without running the selector
                truth = Truth(message)
            elif matches(message):
                truth = true
            else:
                truth = evaluate(message)
        except (PropertyTypeError, DecodeError) as error:
            tally.skipped += 1
            if tally.skipped <= REPORTED:
                yield Complaint(place, said(error if ask.format != "json" else in_json_words(error, message, spelled)))
            if ask.raising:
                break
            continue
        if truth is unknown:
            tally.unknown += 1
            found = message if read is parsed else parsed(data)
            tally.missing.update(
                name for name, other in spelled.items() if found.get(name) is None and found.get(other) is None
            )
        if (truth is true) is not ask.invert:
            tally.selected += 1
            if not ask.counting:
                yield head + raw
                head = b""
            if tally.selected == ask.limit:
                break
    yield tally
