"""What the command line does with input, here, in a process or on an executor: sift messages, count, complain in order.

One generator for every format of messages: it is given what a file has for each, or blocks of lines, gives back what
is asked for untouched, and ends with the counts. `Work` says what else can be done with the same input. Everything that
goes in or comes out may be pickled. Prints nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel import formats
from mqsel.errors import FileError, MqselError, PropertyTypeError
from mqsel.files._dumps import Splitter
from mqsel.files._lines import Lines
from mqsel.files._pieces import Pieces
from mqsel.files.framings import FORMATS
from mqsel.files.parts import Part, units
from mqsel.formats._json import Decoder as JSONDecoder
from mqsel.formats._mq import Decoder as MQDecoder
from mqsel.formats._records import RecordLines
from mqsel.formats.jsonl import typed
from mqsel.formats.records import RecordReader
from mqsel.language.dialect import core_of
from mqsel.matcher import Matcher
from mqsel.names import look_up
from mqsel.values import Truth

if TYPE_CHECKING:
    from mqsel.sets.set import SelectorSet


REPORTED = 10  # skipped messages reported in full


class Ask(NamedTuple):
    """What is asked of a run; see the options of ``mqsel match``.

    Attributes:
        apart: whether messages come in lists, one an item, rather than together.
    """

    invert: bool = False
    counting: bool = False
    raising: bool = False
    limit: int | None = None
    format: str = "json"
    types: tuple[tuple[str, str], ...] = ()
    apart: bool = False


class Complaint(NamedTuple):
    """Why a message was skipped; lines count from 1 in the piece of input that was given to `sift`.

    Where there are no lines the number is that of the byte, from 0, at which the message begins.
    """

    line: int
    text: str


class Tally:
    """The counts of one piece of input, last of its records.

    Attributes:
        lines: how many there were, blank ones included.
        messages: lines that are not blank, or messages of other kinds.
        selected: messages that were asked for: the selected ones, with ``--invert`` the others.
        unknown: messages for which the selector is UNKNOWN.
        skipped: invalid messages, and messages with a value that no property can have.
        missing: for each property, how many of the unknown messages do not have it.
        unread: for each property, how many texts did not parse as the type that is declared.
        noted: messages of which something was skipped: a folder, a property, a name that is not allowed.
        note: the place of the first of them, and what was skipped of it.
    """

    __slots__ = ("lines", "messages", "missing", "note", "noted", "selected", "skipped", "unknown", "unread")

    def __init__(  # by hand: to import dataclasses takes longer than to read a thousand messages
        self,
        lines: int = 0,
        messages: int = 0,
        selected: int = 0,
        unknown: int = 0,
        skipped: int = 0,
        missing: Iterable[str] = (),
        unread: Iterable[str] = (),
    ) -> None:
        self.lines = lines
        self.messages = messages
        self.selected = selected
        self.unknown = unknown
        self.skipped = skipped
        self.missing = Counter(missing)
        self.unread = Counter(unread)
        self.noted = 0
        self.note: tuple[int, str] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Tally({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"

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
        self.note = self.note or other.note


class Broken(NamedTuple):
    """Why the rest of a file cannot be read; of rows of columns the error, if it lies in a column."""

    why: str
    error: PropertyTypeError | None = None


Sifted = bytes | list[bytes] | Complaint | Tally | Broken


def in_json_words(error: MqselError, message: Any, matcher: Matcher) -> MqselError:
    """Say of a value that the machine refused what it is in JSON."""
    if isinstance(error, PropertyTypeError) and error.name in matcher.properties:
        value = look_up(message, error.name, core_of(matcher.dialect).naming)
        if isinstance(value, (dict, list)):
            try:
                typed(error.name, value)
            except PropertyTypeError as clearer:
                return clearer
    return error


def said(error: MqselError) -> str:
    """Say what is wrong; the place in a file is said in front, by who knows all of it."""
    return "\n  hint: ".join(filter(None, (error.message, error.hint))) if isinstance(error, FileError) else str(error)


def refused(counts: Any, place: int, error: MqselError) -> Iterator[Complaint]:
    """Count a message that is skipped; give the complaint if it is one of the first."""
    counts.skipped += 1
    if counts.skipped <= REPORTED:
        yield Complaint(place, said(error))


class Reader(NamedTuple):
    """What reads the messages of a file.

    Attributes:
        decoder: counts what it could not read.
        message: makes of a message what a matcher takes.
        properties: gives the properties of a message, by their names, of which `message` has made something.
    """

    decoder: Any
    message: Callable[[bytes], Any]
    properties: Callable[[bytes, Any, Iterable[str]], Mapping[str, Any]]


def reader(
    kind: str,
    matcher: Matcher | SelectorSet[Any],
    names: Iterable[str] = (),
    types: Mapping[str, str] | None = None,
) -> Reader:
    """Make what reads the messages of a file.

    Args:
        kind: the format of the file.
        matcher: will take them; or a set.
        names: of properties that will be read beside those of the matcher.
        types: of properties whose record lost them.
    """
    message = FORMATS[kind].message
    assert message is not None
    row = formats.FORMATS[message]
    if row.has_mqmd:
        decoder = matcher.decoder(message)
        return Reader(decoder, decoder, lambda data, _, wanted: formats.properties(data, wanted))
    options = {"types": types} if "types" in row.options else {}
    wanted = tuple(dict.fromkeys((*matcher.properties, *names)))
    made = formats.decoder(message, wanted, **options)
    read = RecordLines(wanted, made) if isinstance(made, RecordReader) else made
    return Reader(made, read, lambda _, found, __: found)


def sift(matcher: Matcher, ask: Ask, source: Iterable[Any], path: str = "-") -> Iterator[Sifted]:
    """Yield what is asked for, untouched, among complaints about what is broken; at the end the counts.

    Messages that follow each other come together, or in a list. Only the first complaints are yielded: the rest is in
    the counts. Counts travel as a record, so that a task which Spark runs twice is counted once. What cannot be read is
    `Broken`, before the counts.

    Args:
        matcher: selects.
        ask: the options.
        source: what `reading` gives in blocks for a file of the format that is asked for.
        path: the file, which stands for a message that is all it has; "-" for one without a name.
    """
    return (_sift_lines if FORMATS[ask.format].is_lines else _sift_pieces)(matcher, ask, source, path)


def _missing(matcher: Matcher, found: Mapping[str, Any]) -> list[str]:
    """List the properties that a message lacks."""
    return [name for name in matcher.properties if look_up(found, name, core_of(matcher.dialect).naming) is None]


def _options(ask: Ask) -> dict[str, Any]:
    """Give the options of `Lines` and `Pieces`."""
    limit = -1 if ask.limit is None else ask.limit
    return {"invert": ask.invert, "counting": ask.counting, "raising": ask.raising, "limit": limit, "apart": ask.apart}


def _each_block(sifter: Lines | Pieces, source: Iterable[Any]) -> Iterator[Sifted]:
    """Sift what is read at once, until there is no more or nothing more is asked for."""
    try:
        for unit in source:
            yield from sifter.sift(unit)
            if sifter.is_over:
                break
    except FileError as error:
        yield Broken(why(error))


def _sift_lines(matcher: Matcher, ask: Ask, source: Iterable[Any], _: str) -> Iterator[Sifted]:
    decoder, read, properties = reader(ask.format, matcher, types=dict(ask.types))
    assert isinstance(read, JSONDecoder)
    missing: Counter[str] = Counter()
    complaints = 0

    def judge(line: bytes, number: int) -> int | Complaint | None:
        nonlocal complaints
        message = None
        try:
            message = read(line)
            truth = int(matcher.matches(message)) or matcher.truth(message)
        except PropertyTypeError as error:
            complaints += 1
            if complaints > REPORTED:
                return None
            return Complaint(number, said(in_json_words(error, message, matcher) if ask.format == "json" else error))
        if truth == Truth.UNKNOWN:
            missing.update(_missing(matcher, properties(line, message, ())))
        return truth

    lines = Lines(matcher, read, judge, **_options(ask))
    yield from _each_block(lines, source)
    yield Tally(
        lines.lines,
        lines.messages,
        lines.selected,
        lines.unknown,
        lines.skipped,
        missing + Counter(lines.missing()),
        decoder.unread if isinstance(decoder, RecordReader) else Counter(),
    )


def _sift_pieces(matcher: Matcher, ask: Ask, source: Iterable[Splitter], path: str) -> Iterator[Sifted]:
    decoder = reader(ask.format, matcher).decoder
    assert isinstance(decoder, MQDecoder)
    tally = Tally()

    def complain(place: int, error: MqselError) -> Complaint | None:
        return next(refused(tally, place, error), None)

    def note(place: int, message: bytes) -> None:
        tally.note = (place, formats.first_note(message))

    name = None if path == "-" else os.fsencode(path)
    pieces = Pieces(matcher, decoder, complain, note, name, **_options(ask))
    yield from _each_block(pieces, source)
    tally.messages, tally.selected, tally.unknown = pieces.messages, pieces.selected, pieces.unknown
    tally.skipped, tally.missing, tally.noted = pieces.skipped, Counter(pieces.missing()), decoder.noted
    yield tally


class Work(NamedTuple):
    """What is done with the messages of files. What comes of a piece of input ends with the counts of it.

    Attributes:
        units: takes what selects, options, what `mqsel.files.parts.units` gives for a file of the format that is asked
            for, and its path.
        rows: takes what selects, options, and a part of a Parquet file.
        counts: the class of the counts, which have `lines` and `note` as a `Tally` has, and add up.
    """

    units: Callable[[Any, Ask, Iterable[Any], str], Iterator[Any]]
    rows: Callable[[Any, Ask, Part], Iterator[Any]]
    counts: type[Any]

    def part(self, selects: Any, ask: Ask, part: Part, advance: Callable[[int], None] | None = None) -> Iterator[Any]:
        """Do it with a part of a file.

        Args:
            selects: what the work takes: a matcher, a set, nothing.
            advance: is told from time to time how many more bytes were read.
        """
        if part.format == "parquet":
            return self.rows(selects, ask, part)
        return self.units(selects, ask._replace(format=part.format), units(part, advance), part.path)


def in_files(
    records: Iterable[tuple[int, str, str, Any]], counts: type[Any] = Tally
) -> Iterator[tuple[int, str, str, Any]]:
    """Count places in their file, which in records of a part are those in the part.

    Args:
        records: the number, name and format of a file, and a record, for each; the parts of a file in order.
        counts: the class of the last record of each part.
    """
    at, before = (-1, ""), 0
    for number, name, kind, record in records:
        if at != (number, name):
            at, before = (number, name), 0
        placed = record
        if isinstance(record, Complaint):
            placed = record._replace(line=before + record.line)
        elif isinstance(record, counts):
            if record.note is not None:
                record.note = before + record.note[0], record.note[1]
            before += record.lines
        yield number, name, kind, placed


def why(error: BaseException) -> str:
    """Say why a file cannot be read: what the system said, where it did."""
    cause = error.__cause__ if isinstance(error, FileError) and error.__cause__ is not None else error
    return getattr(cause, "strerror", None) or (said(cause) if isinstance(cause, FileError) else str(cause))


def of_rows(error: FileError | PropertyTypeError) -> Broken:
    """Say why rows of Parquet cannot be read; a type that no property has is that of a column, and so of every row."""
    return Broken(why(error)) if isinstance(error, FileError) else Broken(str(error), error)


def _sift_rows(matcher: Matcher, ask: Ask, part: Part) -> Iterator[Sifted]:
    """Sift rows of Parquet by columns; what is asked for becomes a line of JSON."""
    from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone, as is what writes JSON)
    from mqsel.files.rows import lines  # noqa: PLC0415

    tally = Tally()
    try:
        for group in parquet.groups(
            matcher, part.path, part.start, part.stop, fixed=dict(part.fixed), is_inverted=ask.invert
        ):
            limit = None if ask.limit is None else ask.limit - tally.selected
            counts, mask = parquet.counted(matcher, group, is_inverted=ask.invert, limit=limit)
            tally.messages += counts.rows
            tally.unknown += counts.unknown
            tally.missing.update(counts.missing)
            if ask.counting:
                tally.selected += mask.true_count
            else:
                for table in parquet.taken(part.path, group, mask):
                    with parquet.trouble_of(part.path):
                        made = lines(table)
                    tally.selected += table.num_rows  # of a group that breaks off what was read of it counts
                    yield made.splitlines(keepends=True) if ask.apart else made
            if tally.selected == ask.limit:
                break
    except (FileError, PropertyTypeError) as error:
        yield of_rows(error)
    tally.lines = tally.messages
    yield tally


SIFT = Work(sift, _sift_rows, Tally)
