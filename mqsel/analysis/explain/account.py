"""What the parts of a selector are for messages, and what became of many: for every part how many made it what.

All parts are asked in one evaluation, whether or not evaluating the whole would reach them: what a part is, TRUE,
FALSE, UNKNOWN or ERR, and whether types differ, are formulas of the normal form, and the index answers which formulas
are true of a message or a row. A `Profiler` counts into an `Account`, which has no selector: it pickles, and those of
parts, executors and batches add up. Knows no files.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel import formats
from mqsel.analysis.explain._tally import DIFFERENT, LONG, Tally
from mqsel.columns import wordings
from mqsel.columns._answers import chunks, library
from mqsel.columns._kernel import Kernel, TooLargeError
from mqsel.columns.lookup import column_of, laid_out, names_of, narrowed, present, type_of
from mqsel.errors import MqselError
from mqsel.index._index import Index
from mqsel.index._reader import MessageReader, match_totals
from mqsel.language.nodes import And, Computed, Node, Not, Or, children
from mqsel.language.optimizer import optimize
from mqsel.language.selector import Selector
from mqsel.logic.formulas import NEVER, Formula, Memory, all_of, complement_in
from mqsel.logic.normal import ALL_PARTS, Normal, Writer
from mqsel.machine._values import Record
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.machine.origin import read_matched
from mqsel.machine.schema import Schema
from mqsel.machine.sections import Texts
from mqsel.names import joined, near_names, spellings
from mqsel.values import APPROXIMATE, EXACT, Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

# How messages are counted. What is TRUE is no mismatch, even where types differ in it.
OUTCOMES = ("TRUE", "FALSE", "UNKNOWN", "mismatched", "ERR")
TRUE, FALSE, UNKNOWN, MISMATCHED, ERROR = range(5)
_OUTCOME_OF = {Truth.TRUE: TRUE, Truth.FALSE: FALSE, Truth.UNKNOWN: UNKNOWN, Truth.ERR: ERROR}


class Verdict(NamedTuple):
    """What a selector is for a message.

    Attributes:
        truth: TRUE, FALSE, UNKNOWN or ERR.
        is_mismatched: evaluating it met a value of another kind than a test wants.
    """

    truth: Truth
    is_mismatched: bool

    @property
    def number(self) -> int:
        """Its place in `OUTCOMES`."""
        return MISMATCHED if self.is_mismatched and self.truth is not Truth.TRUE else _OUTCOME_OF[self.truth]


# Most selectors are FALSE for most messages: what no formula is true of is this.
_USUAL = Verdict(Truth.FALSE, is_mismatched=False)


class Outcomes:
    """Selectors, or parts of one, whose outcomes are found together.

    Args:
        forms: the normal form of each, in the order of the answers; without mismatches where these do not count.
    """

    def __init__(self, forms: Iterable[Normal]) -> None:
        memory: Memory = {}
        self.count = 0
        self._places: list[tuple[int, Verdict]] = []  # of each formula the selector and what that is
        self._formulas: list[Formula] = []
        for self.count, form in enumerate(forms, 1):
            for verdict, formula in _apart(form, memory):
                if formula is not NEVER:
                    self._places.append((self.count - 1, verdict))
                    self._formulas.append(formula)
        index = Index()
        index.add(range(len(self._formulas)), self._formulas)
        self._names = index.names
        self._reader: MessageReader[int] = MessageReader()
        self._reader.reports = True
        places = [*range(len(self._formulas))]
        self._reader.begin(index, None, places, None, Texts(), {}, {})
        self._kernel: Kernel | str = ""

    def of(self, message: Any) -> list[Verdict]:
        """Return what each selector is for a message, which is a mapping or a Record."""
        found = [_USUAL] * self.count
        for number in self._reader.match(message):
            place, verdict = self._places[number]
            found[place] = verdict
        return found

    def counts(self, batch: object) -> list[dict[Verdict, int]]:
        """Return for each selector how many rows of a batch have each verdict."""
        return self.verdicts(*match_totals(self._reader, batch, self._kernel_for))

    def tally(self, names: Iterable[str], rules: str) -> Tally:
        """Return what counts records: what they have of these properties, and which formulas they make true."""
        spelled = tuple((name, "".join(spellings(name, rules)[1:])) for name in names)
        return Tally(spelled, self._kernel_for(0), self._names, self._reader.match, len(self._formulas))

    def verdicts(self, messages: int, counts: Sequence[int]) -> list[dict[Verdict, int]]:
        """Return for each selector how many of the messages have each verdict, from the counts of the formulas."""
        found = [{_USUAL: messages} for _ in range(self.count)]
        for (place, verdict), count in zip(self._places, counts, strict=True):
            found[place][verdict] = count
            found[place][_USUAL] -= count
        return found

    def _kernel_for(self, _: int) -> Kernel | str:
        """Return what runs all formulas over columns, or why they are run row by row."""
        if not self._kernel:
            try:
                self._kernel = Kernel(tuple(self._formulas), self._names)
            except TooLargeError as reason:
                self._kernel = str(reason)
        return self._kernel


def _apart(form: Normal, memory: Memory) -> Iterator[tuple[Verdict, Formula]]:
    """List the verdicts, but for the usual one, and where a selector has them: no message has two."""
    unknown = all_of([complement_in(part, memory) for part in form.truths])
    truths = (*zip((Truth.TRUE, Truth.FALSE, Truth.ERR), form.truths, strict=True), (Truth.UNKNOWN, unknown))
    fits = complement_in(form.mismatch, memory)
    for truth, formula in truths:
        for is_mismatched, mismatch in ((True, form.mismatch), (False, fits)):
            verdict = Verdict(truth, is_mismatched)
            if verdict != _USUAL:
                yield verdict, all_of([formula, mismatch])


# ---- the parts of a selector -----------------------------------------------------------------------------------------


def parts_of(root: Node) -> list[tuple[Node, int]]:
    """List the conditions of a selector and their depth, each before its operands."""
    parts: list[tuple[Node, int]] = []
    stack: list[tuple[Node, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        parts.append((node, depth))
        if isinstance(node, (And, Or, Not)):
            stack += [(child, depth + 1) for child in reversed(children(node))]
    return parts


@functools.lru_cache(16)
def outcomes_of_parts(selector: Selector) -> Outcomes:
    """Return what finds the outcomes of all parts of a selector, in the order of `parts_of`."""
    parts = [node for node, _ in parts_of(selector.node)]
    writer = Writer()
    forms = {id(node): _form(writer, selector.part(node)) for node in parts if counts_types(node)}
    # A connective is written from what its operands have become: none is written once more for each above it.
    for node in reversed(parts):
        if isinstance(node, (And, Or, Not)):
            forms[id(node)] = writer.joined(node, [forms[id(one)] for one in children(node)])
    return Outcomes(forms[id(node)] for node in parts)


def outcomes_of(selectors: Iterable[Selector]) -> Outcomes:
    """Return what finds the outcomes of selectors."""
    writer = Writer()
    return Outcomes(_form(writer, one) for one in selectors)


def _form(writer: Writer, selector: Selector) -> Normal:
    names = {name: joined(read, selector.naming) for name, read in selector.names.items()}
    made = writer.write(selector, names, ALL_PARTS)
    if isinstance(selector.node, Computed) and selector.node.core is not None:
        # One test of a product: types differ where they do in all tests that it is made of.
        tests = [node for node, _ in parts_of(selector.node.core) if counts_types(node)]
        mismatches = [writer.write(selector.part(test), names, ALL_PARTS).mismatch for test in tests]
        differing = [one for one in mismatches if one is not NEVER]
        made = made._replace(mismatch=all_of(differing) if differing else NEVER)
    return made


def counts_types(node: Node) -> bool:
    """Report whether a part counts that types differ: not a connective, as the tests below it show where."""
    return not isinstance(node, (And, Or, Not))


# ---- many messages ---------------------------------------------------------------------------------------------------

_COLUMNS = 20  # of a batch, that are looked at where no name is near

Value = tuple[str, Any]  # a type and a value: 1, 1.0 and TRUE are three


def _held(kind: str, value: Any) -> Any:
    if kind in ("string", "bytes"):
        return value[:LONG]
    return math.nan if value != value else value  # noqa: PLR0124 (one NaN: each is another key of a dict)


@dataclass(slots=True)
class Held:
    """What messages have of one property.

    Attributes:
        missing: messages without it.
        unread: those of them that have something which is no value of its declared type.
        types: how many messages have it as a value of each type.
        values: how many have each value, as long as there are few.
        counted: how many messages `values` is of.
        is_open: whether values are still counted: not if there are too many.
        least: of its numbers.
        greatest: likewise.
        others: how many of the messages without it have each other property.
    """

    missing: int = 0
    unread: int = 0
    types: Counter[str] = field(default_factory=Counter)
    values: Counter[Value] = field(default_factory=Counter)
    counted: int = 0
    is_open: bool = True
    least: float | None = None
    greatest: float | None = None
    others: Counter[str] = field(default_factory=Counter)

    def take(self, kind: str, value: Any) -> None:
        """Count a value."""
        self.types[kind] += 1
        if kind in EXACT or (kind in APPROXIMATE and not math.isnan(value)):
            self.widen(value, value)
        if self.is_open:
            self.counted += 1
            self.values[kind, _held(kind, value)] += 1
            self.is_open = len(self.values) < DIFFERENT

    def widen(self, least: float | None, greatest: float | None) -> None:
        """Widen what is known to the least and the greatest of some numbers."""
        if least is not None:
            self.least = least if self.least is None else min(self.least, least)
        if greatest is not None:
            self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)

    def take_others(self, names: Iterable[str], messages: int = 1) -> None:
        """Count what a message has, or each of several, that lacks this property."""
        others = self.others
        for name in names:
            if name in others or len(others) < DIFFERENT:
                others[name] += messages

    def take_counted(self, counted: tuple[Any, ...]) -> None:
        """Add what a `Tally` has counted of the property."""
        missing, types, values, count, is_open, least, greatest, layouts = counted
        self.missing += missing
        for kind, messages in types:
            self.types[kind] += messages
        for value, messages in values:
            self.values[value] += messages
        self.counted += count
        self.is_open = self.is_open and is_open
        self.widen(least, greatest)
        for names, messages in layouts:
            self.take_others(names, messages)

    def add(self, other: Held) -> None:
        """Add what was counted elsewhere."""
        self.missing += other.missing
        self.unread += other.unread
        self.types += other.types
        self.counted += other.counted
        values: Counter[Value] = Counter()
        for (kind, value), count in (*self.values.items(), *other.values.items()):
            values[kind, _held(kind, value)] += count
        self.values = Counter(dict(values.most_common(DIFFERENT)))
        self.is_open = self.is_open and other.is_open and len(self.values) < DIFFERENT
        self.widen(other.least, other.greatest)
        self.others = Counter(dict((self.others + other.others).most_common(DIFFERENT)))


@dataclass(slots=True)
class Account:
    """What became of some messages. Adds up.

    Attributes:
        messages: how many there were that could be read.
        outcomes: for each part of the selector, each before its operands, how many messages made it each of `OUTCOMES`.
        held: for each property that the selector reads, what the messages have.
        refused: messages with a property name that is not allowed, which the selector never sees.
        noted: messages of which something was skipped.
        note: the place of the first of them, and what was skipped of it.
        skipped: messages that could not be read.
        lines: of the input, blank ones included.
    """

    messages: int = 0
    outcomes: list[list[int]] = field(default_factory=list)
    held: dict[str, Held] = field(default_factory=dict)
    refused: int = 0
    noted: int = 0
    note: tuple[int, str] | None = None
    skipped: int = 0
    lines: int = 0

    def add(self, other: Account) -> None:
        """Add what was counted elsewhere for the same selector."""
        self.messages += other.messages
        for mine, others in zip(self.outcomes, other.outcomes, strict=True):
            mine[:] = map(sum, zip(mine, others, strict=True))
        for name, held in other.held.items():
            self.held[name].add(held)
        self.refused += other.refused
        self.noted += other.noted
        self.note = self.note or other.note
        self.skipped += other.skipped
        self.lines += other.lines


def take_column(column: pa.Array, held: Held) -> None:
    """Count the values of a column of a type that a property has, as `laid_out` returns it."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

    kind = type_of(column.type)
    if held.is_open:
        values, counts = pc.value_counts(column.drop_null()).flatten()
        if len(counts) > DIFFERENT:
            most = pc.array_sort_indices(counts, order="descending")[:DIFFERENT]
            values, counts = values.take(most), counts.take(most)
        for value, count in zip(values.to_pylist(), counts.to_pylist(), strict=True):
            held.values[kind, _held(kind, value)] += count
        held.counted += len(column) - column.null_count
        held.is_open = len(held.values) < DIFFERENT
    held.types[kind] += len(column) - column.null_count
    if kind in EXACT or kind in APPROXIMATE:
        ends = pc.min_max(column).as_py()
        held.widen(ends["min"], ends["max"])


class Profiler:
    """Counts messages into an account.

    Args:
        selector: what they are counted for.
        schema: of messages that are sequences.
    """

    def __init__(self, selector: Selector, schema: Schema | None = None) -> None:
        self.selector = selector
        self._outcomes = outcomes_of_parts(selector)
        self._schema = schema
        self._machine = Machine(lower(selector), schema)
        held = {name: Held() for name in selector.names.values()}
        self._account = Account(outcomes=[[0] * len(OUTCOMES) for _ in parts_of(selector.node)], held=held)
        self._rules = selector.naming
        self._record = Record(tuple(held))
        self._counting: Tally | None = None

    def _matches(self, message: Any) -> bool:
        return Machine(lower(optimize(self.selector)), self._schema).matches(message)

    @property
    def _tally(self) -> Tally:
        self._counting = self._counting or self._outcomes.tally(self._account.held, self._rules)
        return self._counting

    @property
    def account(self) -> Account:
        """What was counted so far: the same object each time."""
        if self._counting is not None:
            messages, totals, counted = self._counting.counts()
            self._count(messages, self._outcomes.verdicts(messages, totals))
            for held, one in zip(self._account.held.values(), counted, strict=True):
                held.take_counted(one)
        return self._account

    def _count(self, messages: int, verdicts: Iterable[Mapping[Verdict, int]]) -> None:
        self._account.messages += messages
        for counts, more in zip(self._account.outcomes, verdicts, strict=True):
            for verdict, count in more.items():
                counts[verdict.number] += count

    def take(self, message: Any, names: Callable[[], Iterable[str]]) -> None:
        """Count a message.

        Args:
            message: what a machine takes.
            names: gives the names of all its properties; called if one that the selector reads is missing.

        Raises: PropertyTypeError: it has a value that no property can have; it is not counted then.
        """
        self._tally.take(self._record, self._read(message, names))

    def take_raw(self, data: bytes, kind: str, message: Any, types: Mapping[str, str] | None = None) -> None:
        """Count a raw message.

        Args:
            data: the message, of the format *kind*, a name of `mqsel.formats.FORMATS`.
            message: what a decoder has made of it.
            types: of properties whose record lost them.

        Raises: PropertyTypeError, DecodeError: it is none; it is not counted then.
        """
        if isinstance(message, bool):
            self._take_answer(data, kind, types or {}, selected=message)
            return
        names = functools.partial(formats.names_of, data, kind, types or {})
        if type(message) is Record:
            self._tally.take_decoded(message, names)
        else:
            self.take(message, names)

    def counting(
        self, decoder: formats.Decoder, kind: str, types: Mapping[str, str]
    ) -> Callable[[bytes | None, bool | None], None]:
        """Return what counts the message that a decoder has read: see `Tally.count`, and `take_raw`."""
        self._tally.watch(
            decoder.record,
            lambda data: formats.names_of(data, kind, types),
            lambda data, selected: self._take_answer(data, kind, types, selected=selected),
        )
        return self._tally.count

    def _take_answer(self, data: bytes, kind: str, types: Mapping[str, str], *, selected: bool) -> None:
        """Count a message of which was decided without running the selector whether it is selected."""
        message = formats.properties(data, [*self._account.held])
        layout = self._read(message, lambda: formats.names_of(data, kind, types))
        self._tally.take_properties(self._record, layout)
        is_refused = self.selector.match_option is None
        for counts in self._account.outcomes:
            counts[ERROR if is_refused else TRUE if selected else FALSE] += 1
        self._account.refused += is_refused
        self._account.messages += 1

    def _read(self, message: Any, names: Callable[[], Iterable[str]]) -> tuple[str, ...] | None:
        """Read a message into the record; return the names of all it has if something is missing."""
        found = read_matched(self._machine, self._matches, message)
        self._record.fill({name: value for name, (_, value) in found.items()})
        return tuple(names()) if any(kind == "null" for kind, _ in found.values()) else None

    # ---- columns -----------------------------------------------------------------------------------------------------

    def take_batches(self, batches: Any) -> None:
        """Count the rows of what offers Arrow's C data or stream interface.

        Raises: as `take_batch`. ArgumentError: it has no rows of columns. MqselError: pyarrow is not installed.
        """
        pyarrow = library("why, of a batch,")
        try:
            for batch in chunks(pyarrow, narrowed(pyarrow, batches, None, self._rules)):
                self.take_batch(pyarrow.array(batch))
        except (MqselError, MemoryError):
            raise
        except Exception as error:  # of who made them
            raise wordings.not_a_batch(batches, f"{type(error).__name__}: {error}") from error

    def take_batch(self, batch: pa.RecordBatch | pa.StructArray) -> None:
        """Count the rows of a batch, by columns.

        Raises: PropertyTypeError: a column that is read has a type no property has, or is damaged.
        """
        rows = batch.to_struct_array() if hasattr(batch, "to_struct_array") else batch
        self._count(len(rows), self._outcomes.counts(rows))
        for name, held in self._account.held.items():
            self._take_column(rows, name, held)

    def _take_column(self, rows: pa.StructArray, name: str, held: Held) -> None:
        column = column_of(rows, name, self._rules)
        column = None if column is None else laid_out(column)
        missing = len(rows) if column is None else column.null_count
        if column is not None and len(column) > missing:
            take_column(column, held)
        held.missing += missing
        if missing:
            self._take_other_columns(rows, name, column, held)

    def _take_other_columns(self, rows: pa.StructArray, name: str, column: pa.Array | None, held: Held) -> None:
        import pyarrow.compute as pc  # noqa: PLC0415 (optional)

        names = [one for one in names_of(rows.type) if one != name]
        for other in near_names(name, names) or names[:_COLUMNS]:
            found = column_of(rows, other, "any")
            if found is not None:
                both = present(found) if column is None else pc.and_(present(found), column.is_null())
                if both.true_count:
                    held.take_others([other], both.true_count)
