"""Jobs over the messages of files, in this process, in another or on an executor: one loop for every command.

Each part of a file gets a `Job` of its own. It reads messages in blocks, or row groups of columns. It yields records
and complaints in the order of the messages, and last the counts. Its arguments and its records can be
pickled. Prints nothing.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import compress, count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel import formats
from mqsel.carets import nameable
from mqsel.errors import DecodeError, FileError, MqselError, PropertyTypeError, UndocumentedError
from mqsel.files._sifter import Sifter
from mqsel.files._splitters import LongLine
from mqsel.files.dumps import MAX_MESSAGE, Piece
from mqsel.files.framings import FORMATS, counted, each, taken_apart
from mqsel.files.parts import FilePart, units
from mqsel.files.wordings import column_hint
from mqsel.formats.jsonl import json_text, typed
from mqsel.language.dialect import Dialect, core_of
from mqsel.matcher import Matcher
from mqsel.names import look_up
from mqsel.values import TYPES, Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

    from mqsel.analysis.compare.contract import Contract
    from mqsel.files.parquet import RowGroup
    from mqsel.sets.set import SelectorSet
else:
    Contract = SelectorSet = list  # not imported yet: typing compiles each type of a field that is a text

EXAMPLES = 3  # messages of one part that nobody gets
REPORTED = 10  # skipped messages reported in full


class Sharing(NamedTuple):
    """How a run is shared among processes.

    Attributes:
        part_size: the bytes of a part of a large file: 20 ms of JSON lines.
        room: the bytes of records that may wait for those before them, for each process.
        quiet: the nanoseconds for which a file must not have changed before its lines are read twice: the clocks of
            file systems are coarse.
    """

    part_size: int = 16 << 20
    room: int = 4 << 20
    quiet: int = 2 * 10**9


class Ask(NamedTuple):
    """What is asked of a run; see the options of ``mqsel match``.

    Attributes:
        limit: the most messages that are selected; None for all.
        reads: the most messages that are read; None for all.
        apart: whether messages come in lists, one an item, rather than together.
        placed: whether an item is a pair: the place of the message, as in a `Complaint`, and the message.
        given: the contract that messages are held against; None for none.
        bound: whether the selectors are those of the queues of an export, which get messages of their addresses alone.
        by_place: whether `Runs` may stand for lines: who asks can read the file.
        max_size: the most bytes of a line.
        sharing: how the run is shared among processes.
    """

    invert: bool = False
    counting: bool = False
    raising: bool = False
    limit: int | None = None
    format: str = "json"
    types: tuple[tuple[str, str], ...] = ()
    apart: bool = False
    placed: bool = False
    given: Contract | None = None
    bound: bool = False
    by_place: bool = False
    max_size: int = MAX_MESSAGE
    reads: int | None = None
    sharing: Sharing = Sharing()


class Runs(NamedTuple):
    """Where selected lines stand, counted from the first line of the part.

    Attributes:
        start: of the first.
        stop: behind the last.
        places, size: what `gathered` takes.
    """

    start: int
    stop: int
    places: bytes
    size: int


class Complaint(NamedTuple):
    """Why a message was skipped; lines count from 1 in the piece of input that was given to `sift`.

    Where there are no lines the number is that of the byte, from 0, at which the message begins.
    """

    line: int
    text: str


class Tally:
    """The counts of one part of the input, last of its records. Adds up.

    Attributes:
        lines: how many there were, blank ones included.
        messages: lines that are not blank, or messages of other kinds.
        selected: messages that were asked for: the selected ones, with ``--invert`` the others; or those that
            anybody gets.
        unknown: messages for which the selector is UNKNOWN.
        skipped: invalid messages, and messages with a value that no property can have.
        missing: for each property, how many of the unknown messages do not have it.
        unread: for each property, how many texts did not parse as the type that is declared.
        noted: messages of which something was skipped: a folder, a property, a name that is not allowed.
        note: the place of the first of them, and what was skipped of it.
        delivered: messages by the key of the selector that gets them.
        unclaimed: messages that nobody gets.
    """

    __slots__ = (
        "delivered",
        "lines",
        "messages",
        "missing",
        "note",
        "noted",
        "selected",
        "skipped",
        "unclaimed",
        "unknown",
        "unread",
    )

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
        self.delivered: Counter[Any] = Counter()
        self.unclaimed = 0
        self.noted = 0
        self.note: tuple[int, str] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Tally({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"

    def add(self, other: "Tally") -> None:
        """Add the counts of another piece."""
        for name in self.__slots__:
            if name != "note":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        self.note = self.note or other.note


class Kept(NamedTuple):
    """How the messages of one part of the input keep a contract.

    Attributes:
        messages: that were held against it.
        broken: how many of them break it.
        ways: in how many messages each property breaks it, and how: "missing", "unknown", "type", "value", "selector".
        first: what the first that breaks it does, in words, for each of these.
    """

    messages: int
    broken: int
    ways: Counter[tuple[str, str]]
    first: dict[tuple[str, str], str]


class Broken(NamedTuple):
    """Why the rest of a file cannot be read; of rows of columns the error, if it lies in a column."""

    why: str
    error: PropertyTypeError | None = None


def is_counts(record: Any) -> bool:
    """Return whether a record is the last of a part: its counts."""
    return not isinstance(record, (bytes, tuple, list))


def in_json_words(error: MqselError, message: Any, matcher: Matcher) -> MqselError:
    """Return the error of a value that the machine refused in the words of JSON."""
    if isinstance(error, PropertyTypeError) and error.name in matcher.properties:
        value = look_up(message, error.name, core_of(matcher.dialect).naming)
        if isinstance(value, (dict, list)):
            try:
                typed(error.name, value)
            except PropertyTypeError as clearer:
                return clearer
    return error


def said(error: MqselError) -> str:
    """Return what is wrong in words; the place in a file is put in front by the caller, who knows all of it."""
    return "\n  hint: ".join(filter(None, (error.message, error.hint))) if isinstance(error, FileError) else str(error)


def reader(
    kind: str,
    selects: "Matcher | SelectorSet[Any]",
    names: Iterable[str] = (),
    types: Mapping[str, str] | None = None,
) -> Callable[[bytes], Any]:
    """Return what reads the messages of a file for what selects; a `Decoder`, but for messages of a queue for a set.

    Args:
        kind: the format of the file.
        selects: a matcher, or a set.
        names: of properties that will be read beside those of the selectors, where the format has them all in one.
        types: of properties whose record lost them.
    """
    message = FORMATS[kind].message
    assert message is not None
    row = formats.FORMATS[message]
    if row.has_mqmd or row.has_naming:
        return selects.decoder(message)
    options = {"types": types} if "types" in row.options else {}
    wanted = tuple(dict.fromkeys((*selects.properties, *names)))
    return formats.decoder(message, wanted, in_any_case=selects.in_any_case, **options)


def first_note(kind: str, message: bytes) -> str:
    """Return what was skipped first of a message of the format *kind*."""
    return "".join(map(str, formats.FORMATS[FORMATS[kind].message or ""].inspect(message, {}).notes[:1]))


def why(error: BaseException) -> str:
    """Return why a file cannot be read: in the words of the system, where it has some."""
    cause = error.__cause__ if isinstance(error, FileError) and error.__cause__ is not None else error
    return getattr(cause, "strerror", None) or (said(cause) if isinstance(cause, FileError) else str(cause))


def broken(error: FileError, messages: int) -> Broken:
    """Return why the rest of a file cannot be read, of which so many messages were; the system has words of its own."""
    cause = error.__cause__
    is_damage = isinstance(cause, OSError) and cause.strerror is None
    return Broken(why(error) + f"; messages read before that: {messages:,}" * is_damage)


def of_rows(error: FileError | PropertyTypeError, path: str) -> Broken:
    """Return why rows of Parquet cannot be read; a type that no property has is that of a column, so of every row."""
    if isinstance(error, FileError):
        return Broken(why(error))
    error.hint = column_hint(path, error.name or "", error.value_type or "") or error.hint
    return Broken(str(error), error)


def in_files(
    records: Iterable[tuple[int, str, str, Any]],
) -> Iterator[tuple[int, str, str, Any]]:
    """Count places in their file, which in records of a part are those in the part.

    Args:
        records: the number, name and format of a file, and a record, for each; the parts of a file in order.
    """
    at, before = (-1, ""), 0
    for number, name, kind, record in records:
        if at != (number, name):
            at, before = (number, name), 0
        placed = record
        if isinstance(record, (Complaint, ChangedMessage, Unclaimed)):
            placed = record._replace(line=before + record.line)
        elif type(record) is list and record and type(record[0]) is tuple:
            placed = [(before + place, message) for place, message in record]
        elif is_counts(record):
            if record.note is not None:
                record.note = before + record.note[0], record.note[1]
            before += record.lines
        yield number, name, kind, placed


# ---- the loop ----------------------------------------------------------------------------------------------------


def unit_by_unit(source: Iterable[Any], taker: Any, take: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """Yield what is made of each block of messages, until the taker `is_over`; last, why the rest cannot be read."""
    try:
        for unit in source:
            yield from take(unit)
            if taker.is_over:
                break
    except FileError as error:
        yield broken(error, taker.messages if isinstance(taker, Sifter) else taker.seen)


class Job:
    """What is done with the messages of one part of a file.

    Args:
        selects: a matcher, a set, or nothing.
        ask: what is asked; its format is that of the file.

    Attributes:
        counts: what was counted so far; the last record. They have `lines` and `note` as a `Tally` has, and add up.
        seen: messages so far, broken ones included.
        reported: how many skipped messages are reported in full.
    """

    counts: Any
    reported: float = REPORTED

    def __init__(self, selects: Any, ask: Ask) -> None:
        self.selects = selects
        self.ask = ask
        self.counts = Tally()
        self.seen = 0
        self._keeper = None if ask.given is None else _Keeper(ask.given, ask.format, dict(ask.types))

    @classmethod
    def part(
        cls, selects: Any, ask: Ask, part: FilePart, advance: Callable[[int], None] | None = None
    ) -> Iterator[Any]:
        """Do it with a part of a file.

        Args:
            advance: is told from time to time how many more bytes were read.
        """
        job = cls(selects, ask._replace(format=part.format))
        if part.format == "parquet":
            return job.rows(part)
        return job.messages(units(part, ask.max_size, advance), part.path)

    def messages(self, source: Iterable[Any], path: str = "-") -> Iterator[Any]:
        """Do it with messages, until there are no more or nothing more is asked for.

        Args:
            source: what `reading` gives in blocks for a file of the format that is asked for.
            path: the file; "-" for one without a name.
        """
        is_lines = FORMATS[self.ask.format].is_lines
        for piece, result in each(taken_apart(source), self.read):
            if piece is None:
                assert isinstance(result, FileError)
                yield broken(result, self.seen)
                continue
            self.counts.lines += 1
            if result is None:
                self.pass_over(piece)
                continue
            self.seen += 1
            place = self.counts.lines if is_lines else piece.place
            if isinstance(result, MqselError):
                yield from self.refused(place, result)
                if self.ask.raising:
                    break
            else:
                yield from self.take(result, place, piece, path)
            if self.is_over:
                break
        self.end()
        yield from self.kept()
        yield self.counts

    def rows(self, part: FilePart) -> Iterator[Any]:
        """Do it with rows of Parquet, read by columns."""
        from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

        try:
            for group in parquet.groups(
                self.selects,
                part.path,
                part.start,
                part.stop,
                fixed=dict(part.fixed),
                is_inverted=self.reads_all,
                most=self.ask.reads,
            ):
                if self._keeper is not None:
                    self._keeper.take_group(group, part)
                yield from self.take_group(group, part)
                if self.is_over:
                    break
        except (FileError, PropertyTypeError) as error:
            yield of_rows(error, part.path)
        self.counts.lines = self.counts.messages
        yield from self.kept()
        yield self.counts

    def kept(self) -> Iterator[Kept]:
        """Yield how the messages kept the contract, where there is one."""
        if self._keeper is not None:
            yield self._keeper.kept()

    def refused(self, place: int, error: MqselError) -> Iterator[Complaint]:
        """Count a message that is skipped; yield the complaint if it is one of the first."""
        self.counts.skipped += 1
        if self.counts.skipped <= self.reported:
            yield Complaint(place, said(error))

    def note(self, place: int, message: bytes) -> None:
        """Note what is skipped of a message, the first of which that holds."""
        self.counts.note = place, first_note(self.ask.format, message)

    def unanswered(self, rows: "pa.BooleanArray") -> Iterator[Complaint]:
        """Count the rows of a group for which no document says what a selector is, and yield complaints.

        Raises: UndocumentedError: if that is asked for.
        """
        for row, is_unanswered in enumerate(rows.to_pylist() if rows.true_count else (), self.counts.messages + 1):
            if is_unanswered:
                error = UndocumentedError("what the selector is for these values is undocumented or not supported")
                if self.ask.raising:
                    raise error
                yield from self.refused(row, error)

    @property
    def is_over(self) -> bool:
        """Whether no more is asked for."""
        limit, reads = self.ask.limit, self.ask.reads
        return (limit is not None and self.counts.selected == limit) or (reads is not None and self.seen == reads)

    # What jobs differ in.

    @property
    def reads_all(self) -> bool:
        """Whether rows of Parquet count that cannot be selected: then no row group may be left out."""
        return True

    def read(self, data: bytes) -> Any:
        """Return what `take` takes of a message; never None.

        Raises: DecodeError, PropertyTypeError: the message is invalid.
        """
        raise NotImplementedError

    def pass_over(self, piece: Piece) -> None:
        """Pass over a blank line, or what stands before the first message."""

    def take(self, result: Any, place: int, piece: Piece, path: str) -> Iterator[Any]:
        """Yield what comes of a message that was read."""
        raise NotImplementedError

    def take_group(self, group: "RowGroup", part: FilePart) -> Iterator[Any]:
        """Yield what comes of a row group."""
        raise NotImplementedError

    def end(self) -> None:
        """Complete the counts."""
        self.counts.messages = self.seen


class _Keeper:
    """Holds messages against a contract."""

    def __init__(self, contract: "Contract", kind: str, types: Mapping[str, str]) -> None:
        self._contract, self._kind, self._types = contract, kind, types
        self._messages = self._broken = 0
        self._ways: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], str] = {}

    def take(self, message: Mapping[str, Any]) -> None:
        breaches = self._contract.breaches(message)
        self._messages += 1
        self._broken += bool(breaches)
        for one in breaches:
            self._ways[one.name, one.what] += 1
            self._first.setdefault((one.name, one.what), one.sentence)

    def take_raw(self, data: bytes) -> None:
        with suppress(DecodeError, PropertyTypeError):  # it is an error for who reads less of it, too
            self.take(everything(self._kind, data, self._types))

    def take_group(self, group: "RowGroup", part: FilePart) -> None:
        """Count the rows of a group, with all columns of types that properties have."""
        from mqsel.columns.lookup import column_of, names_of, type_of  # noqa: PLC0415 (for Parquet alone)

        fixed = dict(part.fixed)
        for batch in group.file.read_row_group(group.number).slice(0, group.rows).to_batches():
            rows = batch.to_struct_array()
            columns = {}
            for name in names_of(rows.type):
                column = column_of(rows, name, "any")
                made = None if column is None else _CLASSES.get(type_of(column.type))
                if column is not None and made is not None:
                    columns[name] = [None if value is None else made(value) for value in column.to_pylist()]
            for values in zip(*columns.values(), strict=True):
                self.take({**fixed, **dict(zip(columns, values, strict=True))})

    def kept(self) -> Kept:
        return Kept(self._messages, self._broken, self._ways, self._first)


_CLASSES = {row.name: row.python for row in TYPES if row.kind != "null"}


class Match(Job):
    """Yields what is selected, untouched: messages that follow each other together, or in a list."""

    def sifter(self, path: str) -> tuple[Sifter, formats.Decoder, Counter[str]]:
        """Return the loop of `Job.messages`, compiled: a message takes a third of a microsecond instead of several.

        Returns: it, what it decodes with, and what properties were missing that it does not count itself.
        """
        ask, matcher = self.ask, self.selects
        decoder = reader(ask.format, matcher, types=dict(ask.types))
        assert isinstance(decoder, formats.Decoder)
        missing: Counter[str] = Counter()

        def judge(data: bytes) -> int:
            message = None
            try:
                message = decoder(data)
                truth = int(matcher.matches(message))
                if not truth:
                    # To tell FALSE from UNKNOWN may take a value that no property can have; to select does not.
                    with suppress(PropertyTypeError):
                        truth = matcher.truth(message)
            except PropertyTypeError as error:
                raise (in_json_words(error, message, matcher) if ask.format == "json" else error) from None
            if truth == Truth.UNKNOWN:
                naming = core_of(matcher.dialect).naming
                missing.update(name for name in matcher.properties if look_up(message, name, naming) is None)
            return int(truth)

        sifter = Sifter(
            matcher,
            decoder,
            judge,
            lambda place, error: next(self.refused(place, error), None),
            self.note,
            None if self._keeper is None else self._keeper.take_raw,
            None if path == "-" else os.fsencode(path),
            invert=ask.invert,
            counting=ask.counting,
            raising=ask.raising,
            limit=-1 if ask.limit is None else ask.limit,
            reads=-1 if ask.reads is None else ask.reads,
            apart=ask.apart,
            placed=ask.placed,
            runs=Runs if ask.by_place else None,
        )
        return sifter, decoder, missing

    def messages(self, source: Iterable[Any], path: str = "-") -> Iterator[Any]:
        sifter, decoder, missing = self.sifter(path)
        tally = self.counts
        yield from unit_by_unit(source, sifter, sifter.sift)
        tally.lines, tally.messages, tally.selected = sifter.lines, sifter.messages, sifter.selected
        tally.unknown, tally.skipped, tally.noted = sifter.unknown, sifter.skipped, decoder.noted
        tally.missing, tally.unread = missing + Counter(sifter.missing()), +Counter(decoder.unread)
        yield from self.kept()
        yield tally

    @property
    def reads_all(self) -> bool:
        return self.ask.invert

    def take_group(self, group: "RowGroup", part: FilePart) -> Iterator[Any]:
        from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

        ask, tally = self.ask, self.counts
        limit = None if ask.limit is None else ask.limit - tally.selected
        counts, mask = parquet.counted(self.selects, group, is_inverted=ask.invert, limit=limit)
        if counts.unanswered is not None:
            yield from self.unanswered(counts.unanswered)
        tally.messages += counts.rows
        tally.unknown += counts.unknown
        tally.missing.update(counts.missing)
        if ask.counting:
            tally.selected += mask.true_count
            return
        first = tally.messages - counts.rows + 1
        places = compress(count(first), mask.to_pylist()) if ask.placed else iter(())
        for rows, lines in parquet.written(part.path, group, mask):
            tally.selected += rows  # of a group that breaks off what was read of it counts
            if ask.placed:
                yield [*zip(islice(places, rows), lines.splitlines(keepends=True), strict=True)]
            else:
                yield lines.splitlines(keepends=True) if ask.apart else lines


# ---- route -------------------------------------------------------------------------------------------------------


class Delivery(NamedTuple):
    """A message and who gets it.

    Attributes:
        keys: of the selectors that select it.
        head: what stands before the first message of the file, with the first that is delivered.
        message: as it stands in the file; of Parquet a line of JSON.
    """

    keys: list[Any]
    head: bytes
    message: bytes


class Unclaimed(NamedTuple):
    """A message that nobody gets, one of the first; its line is as in a `Complaint`."""

    line: int


class Route(Job):
    """Yields each message that somebody gets, with the keys of the selectors of a set."""

    def __init__(self, selects: "SelectorSet[Any]", ask: Ask) -> None:
        super().__init__(selects, ask)
        self._head = b""
        self._addresses: dict[str, str] = {}  # of the queues of an export
        if ask.format != "parquet":
            self._decode = reader(ask.format, selects, types=dict(ask.types))

    def read(self, data: bytes) -> Any:
        keys = self.selects.match(self._decode(data))
        if not keys or not self.ask.bound:
            return keys
        from mqsel.formats.artemis import queues  # noqa: PLC0415 (few files are exports)

        there = {self._addresses.get(queue, queue) for queue in queues(data)}  # by default a queue has its own
        return [key for key in keys if self._addresses.get(key) in there]

    def pass_over(self, piece: Piece) -> None:
        if self.ask.bound and not self._addresses:
            from mqsel.formats.artemis import bindings  # noqa: PLC0415 (likewise)

            self._addresses = {queue: binding.address for queue, binding in bindings(piece.raw).items()}
        if not FORMATS[self.ask.format].is_lines:
            self._head = self._head or piece.raw

    def take(self, result: Any, place: int, piece: Piece, path: str) -> Iterator[Any]:
        if result:
            yield from self._given(result, piece.place, piece.raw, path)
        else:
            yield from self._nobody(place)

    def _nobody(self, place: int) -> Iterator[Unclaimed]:
        """Count a message that nobody gets, and yield it if it is one of the first."""
        self.counts.unclaimed += 1
        if self.counts.unclaimed <= EXAMPLES:
            yield Unclaimed(place)

    def take_group(self, group: "RowGroup", part: FilePart) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 (optional)

        from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

        assert group.table is not None
        every = list(self.selects)
        table = group.table if group.table.num_columns else pa.table({"-": pa.nulls(group.rows)})
        places = self.selects.match_batch(table)
        keys = [row and [every[place] for place in row] for row in places.to_pylist()]
        mask = [bool(row) for row in keys]
        if self.ask.limit is not None and sum(mask) > (left := self.ask.limit - self.counts.selected):
            last = [number for number, is_wanted in enumerate(mask) if is_wanted][left - 1] + 1
            keys, places = keys[:last], places.slice(0, last)
            mask = mask[:last] + [False] * (group.rows - last)
        yield from self.unanswered(places.is_null())
        for place, row in enumerate(keys, self.counts.messages + 1):
            if row == []:
                yield from self._nobody(place)
        self.counts.messages += len(keys)
        chosen = compress(keys, mask)
        if self.ask.counting:
            for row in chosen:
                yield from self._given(row, 0, b"", part.path)
            return
        for _, lines in parquet.written(part.path, group, pa.array(mask, pa.bool_())):
            for line in lines.splitlines(keepends=True):
                yield from self._given(next(chosen), 0, line, part.path)

    def _given(self, keys: list[Any], place: int, message: bytes, path: str) -> Iterator[Any]:
        """Count a message that somebody gets, and yield it if it is asked for."""
        self.counts.selected += 1
        self.counts.delivered.update(keys)
        if not self.ask.counting:
            yield self.record(keys, place, message, path)
            self._head = b""

    def record(self, keys: list[Any], _place: int, message: bytes, _path: str) -> Any:
        """Return what is yielded of a message."""
        return Delivery(keys, self._head, message)

    def end(self) -> None:
        super().end()
        self.counts.unread = +Counter(getattr(self._decode, "unread", {}))  # of a set, those of records alone


class RouteInJSON(Route):
    """Yields lines of JSON: the process that yields them has done all the work."""

    def record(self, keys: list[Any], place: int, message: bytes, path: str) -> bytes:
        """Return a line with the keys and the message, if that is JSON, untouched; else its place."""
        kind = self.ask.format
        listed = json_text(keys).encode()
        if FORMATS[kind].is_lines or kind == "parquet":
            return b'{"subscribers": %b, "message": %b}\n' % (listed, message.strip())
        where = json_text({"file": nameable(path), counted(path, kind): place})
        return b'{"subscribers": %b, %b\n' % (listed, where[1:].encode())


# ---- why ---------------------------------------------------------------------------------------------------------


class Why(Job):
    """Counts why messages are selected, or are not; yields nothing but complaints and the account.

    Rows of Parquet are counted by columns, of which no more are read than the selector needs, and those whose names are
    near a missing one.
    """

    def __init__(self, selects: Matcher, ask: Ask) -> None:
        from mqsel.analysis.explain.account import Profiler  # noqa: PLC0415 (match needs none of it)
        from mqsel.machine.origin import selector_of  # noqa: PLC0415 (likewise)

        super().__init__(selects, ask)
        self._profiler = Profiler(selector_of(selects.program))
        self.counts = self._profiler.account
        self._types = dict(ask.types)
        if ask.format != "parquet":
            decoder = reader(ask.format, selects, types=self._types)
            assert isinstance(decoder, formats.Decoder)
            self._decoder = decoder

    def messages(self, source: Iterable[Any], path: str = "-") -> Iterator[Any]:
        if self._keeper is not None:  # every property of every message is looked at
            yield from super().messages(source, path)
            return
        account, kind = self.counts, FORMATS[self.ask.format].message
        assert kind is not None

        def judge(data: bytes) -> int:
            self.read(data)
            return int(Truth.FALSE)

        counter = self._profiler.counting(self._decoder, kind, self._types)
        sifter = Sifter(
            self.selects, self._decoder, judge, lambda place, error: next(self.refused(place, error), None), self.note,
            None, None, counting=True, raising=self.ask.raising, counter=counter,
            reads=-1 if self.ask.reads is None else self.ask.reads,
        )  # fmt: skip
        yield from unit_by_unit(source, sifter, sifter.sift)
        account.lines = sifter.lines
        self.end()
        yield account

    def read(self, data: bytes) -> Any:
        kind = FORMATS[self.ask.format].message
        assert kind is not None
        message = None
        try:
            message = self._decoder(data)
            self._profiler.take_raw(data, kind, message, self._types)
            if self._keeper is not None:
                self._keeper.take_raw(data)
        except PropertyTypeError as error:
            raise (in_json_words(error, message, self.selects) if kind == "json" else error) from None
        return data

    def take(self, result: Any, place: int, _piece: Piece, _path: str) -> Iterator[Any]:
        if self._decoder.noted and self.counts.note is None:
            self.note(place, result)
        return iter(())

    def take_group(self, group: "RowGroup", part: FilePart) -> Iterator[Any]:
        from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

        with parquet.trouble_of(part.path):
            table = parquet.with_near_columns(self.selects, group)
        if table.num_columns:
            for batch in table.to_batches():
                self._profiler.take_batch(batch)
        else:
            import pyarrow as pa  # noqa: PLC0415 (optional; the group was read by it)

            self._profiler.take_batch(pa.StructArray.from_buffers(pa.struct([]), group.rows, [None]))
        return iter(())

    def end(self) -> None:
        self.counts = self._profiler.account
        self.counts.noted = self._decoder.noted
        for name, times in self._decoder.unread.items():
            self.counts.held[name].unread += times


# ---- change ------------------------------------------------------------------------------------------------------


class ChangedMessage(NamedTuple):
    """A message that is selected by one of two selectors alone.

    Attributes:
        line: as in a `Complaint`.
        key: of the two.
        is_gained: the new one selects it, and the old one does not.
        message: its bytes, which `everything` takes; of Parquet a line of JSON.
    """

    line: int
    key: Any
    is_gained: bool
    message: bytes


class Changed(NamedTuple):
    """Selectors by key, before and after a change; a key may be on one side alone."""

    old: SelectorSet[Any]
    new: SelectorSet[Any]

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties that any of them reads."""
        return tuple(dict.fromkeys((*self.old.properties, *self.new.properties)))

    @property
    def in_any_case(self) -> tuple[str, ...]:
        """Those of them that count without regard to case."""
        return tuple(dict.fromkeys((*self.old.in_any_case, *self.new.in_any_case)))

    @property
    def dialect(self) -> Dialect:
        """The dialect of names of columns."""
        return self.new.dialect


class Diff(Job):
    """Counts by key what is selected after a change and was not before, and the other way round; yields examples."""

    def __init__(self, selects: Changed, ask: Ask) -> None:
        super().__init__(selects, ask)
        self._shown: Counter[tuple[Any, bool]] = Counter()
        if ask.format != "parquet":
            types = dict(ask.types)
            self._decoders = [reader(ask.format, one, types=types) for one in (selects.old, selects.new)]

    def messages(self, source: Iterable[Any], path: str = "-") -> Iterator[Any]:
        """Do it with lines of one pair by the compiled loop: blocks that both treat alike are done with."""
        keys = [*self.selects.old, *self.selects.new]
        if not FORMATS[self.ask.format].is_lines or len(keys) != 2 or keys[0] != keys[1]:
            yield from super().messages(source, path)
            return
        ask = self.ask._replace(apart=True, counting=False)
        sifters = [Match(one.matcher(keys[0]), ask).sifter("-")[0] for one in self.selects]
        try:
            for unit in source:
                if isinstance(unit, LongLine):
                    yield from sifters[1].sift(unit)
                    continue
                before = sifters[1].lines
                old, new = (sifter.sift(unit) for sifter in sifters)
                yield from [one for one in new if isinstance(one, Complaint)]
                old, new = ([line for one in found if isinstance(one, list) for line in one] for found in (old, new))
                if old != new:
                    yield from self._compared(unit, before, keys[0], set(old), set(new))
        except FileError as error:
            yield broken(error, sifters[1].messages)
        self.counts.lines, self.counts.messages = sifters[1].lines, sifters[1].messages
        self.counts.skipped = sifters[1].skipped
        yield self.counts

    def _compared(
        self, unit: bytes, before: int, key: Any, old: set[bytes], new: set[bytes]
    ) -> Iterator[ChangedMessage]:
        """Yield examples of a block; equal lines are selected alike."""
        for number, line in enumerate(bytes(unit).splitlines(keepends=True), before + 1):
            if (line in old) != (line in new):
                yield from self._differs(key, line in new, number, line)

    def _differs(self, key: Any, is_gained: bool, place: int, message: bytes) -> Iterator[ChangedMessage]:
        self.counts.delivered[key, is_gained] += 1
        self._shown[key, is_gained] += 1
        if self._shown[key, is_gained] <= REPORTED:
            yield ChangedMessage(place, key, is_gained, message)

    def read(self, data: bytes) -> Any:
        return [set(one.match(decode(data))) for one, decode in zip(self.selects, self._decoders, strict=True)]

    def take(self, result: Any, place: int, piece: Piece, _path: str) -> Iterator[Any]:
        old, new = result
        for key in old ^ new:
            yield from self._differs(key, key in new, place, piece.message or b"")

    def take_group(self, group: "RowGroup", part: FilePart) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 (optional)

        from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

        assert group.table is not None
        table = group.table if group.table.num_columns else pa.table({"-": pa.nulls(group.rows)})
        found = []
        for one in self.selects:
            every = list(one)
            found.append([{every[place] for place in row} for row in one.match_batch(table).to_pylist()])
        mask = [old != new for old, new in zip(*found, strict=True)]
        lines = parquet.written(part.path, group, pa.array(mask, pa.bool_())) if any(mask) else ()
        texts = (line for _, many in lines for line in many.splitlines(keepends=True))
        for row, (old, new) in enumerate(zip(*found, strict=True), self.counts.messages + 1):
            if old != new:
                text = next(texts)
                for key in old ^ new:
                    yield from self._differs(key, key in new, row, text)
        self.counts.messages += group.rows


# ---- contract ----------------------------------------------------------------------------------------------------


class Describe(Job):
    """Counts what messages are like; yields nothing but complaints and the counts.

    Fields of the message descriptor, and the names that IBM's JMS has for them, are left out: each message has all.
    """

    def __init__(self, selects: None, ask: Ask) -> None:
        from mqsel.analysis.compare.contract import OF_DESCRIPTOR, Observed  # noqa: PLC0415 (match needs none of it)

        super().__init__(selects, ask)
        self.counts = Observed()
        self._left_out = OF_DESCRIPTOR
        self._types = dict(ask.types)

    def read(self, data: bytes) -> Any:
        return everything(self.ask.format, data, self._types)

    def take(self, result: Any, _place: int, _piece: Piece, _path: str) -> Iterator[Any]:
        self.counts.take({name: value for name, value in result.items() if not name.startswith(self._left_out)})
        return iter(())

    def rows(self, part: FilePart) -> Iterator[Any]:
        from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

        try:
            with parquet.opened(part.path) as file, parquet.trouble_of(part.path):
                stop = file.metadata.num_row_groups if part.stop < 0 else part.stop
                for number in range(part.start, stop):
                    left = None if self.ask.reads is None else self.ask.reads - self.counts.messages
                    for batch in file.read_row_group(number).slice(0, left).to_batches() if left != 0 else ():
                        self.counts.take_batch(batch, dict(part.fixed))
        except (FileError, PropertyTypeError) as error:
            yield of_rows(error, part.path)
        self.counts.lines = self.counts.messages
        yield self.counts

    def end(self) -> None:
        """Complete nothing: each message was counted when it was taken."""


def everything(kind: str, data: bytes, types: Mapping[str, str]) -> dict[str, Any]:
    """Return all properties of a message of the format *kind*.

    Raises: DecodeError, PropertyTypeError: it is invalid.
    """
    found = formats.FORMATS[FORMATS[kind].message or ""].inspect(data, types)
    return {one.name: one.value for one in found.rows}
