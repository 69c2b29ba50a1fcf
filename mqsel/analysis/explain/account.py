"""The outcome of each part of a selector for messages: for each part the number of messages with each outcome.

All parts are evaluated, also those that evaluating the selector does not reach. A machine runs each test, and another
one finds type mismatches: it evaluates the test as a dialect does in which a type mismatch has another truth. A
`Profiler` counts into an `Account`, which has no selector: it pickles, and the accounts of files, executors and batches
add up. Knows no files.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from mqsel import formats
from mqsel.analysis.explain._tally import DIFFERENT, LONG, Parts, Tally
from mqsel.columns import wordings
from mqsel.columns._answers import chunks, library, truths
from mqsel.columns.lookup import column_of, laid_out, names_of, narrowed, present, type_of
from mqsel.errors import MqselError
from mqsel.language.checker import may_err
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Computed,
    Identifier,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    children,
    walk,
)
from mqsel.language.selector import Selector
from mqsel.machine._values import Record
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import program_of
from mqsel.machine.origin import read_matched
from mqsel.machine.schema import Schema
from mqsel.names import near_names, spellings
from mqsel.values import AND, APPROXIMATE, EXACT, NOT, OR, Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

# How messages are counted. What is TRUE has no type mismatch, even if a value has another type.
OUTCOMES = ("TRUE", "FALSE", "UNKNOWN", "type mismatch", "ERR")
TRUE, FALSE, UNKNOWN, MISMATCHED, ERROR = range(5)


class Verdict(NamedTuple):
    """What a selector is for a message.

    Attributes:
        truth: TRUE, FALSE, UNKNOWN or ERR.
        is_mismatched: evaluating it met a value of another kind than a test wants.
    """

    truth: Truth
    is_mismatched: bool


# The place in `OUTCOMES` of what `Parts` finds.
NUMBERS = (FALSE, TRUE, UNKNOWN, ERROR, MISMATCHED, TRUE, MISMATCHED, MISMATCHED)


# The machines of a test, and the truth of a type mismatch: see `Parts`.
_Test: TypeAlias = tuple[Machine | None, tuple[tuple[Machine | None, Machine], ...], Truth]

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


def is_test(part: Node) -> bool:
    """Report whether a part is a test, not a connective: only tests count type mismatches."""
    return not isinstance(part, (And, Or, Not))


@functools.lru_cache(16)
def parts_judged(selector: Selector) -> Parts:
    """Return what finds the outcomes of all parts of a selector, in the order of `parts_of`."""
    nodes = [node for node, _ in parts_of(selector.node)]
    places = {id(node): place for place, node in enumerate(nodes)}
    above = {id(operand): places[id(node)] for node in nodes if not is_test(node) for operand in children(node)}
    tests: list[_Test] = []
    plan = []
    for node in nodes:
        plan.append((above.get(id(node), -1), len(tests) if is_test(node) else -1, _table(node)))
        if is_test(node):
            tests.append(_machines(selector.part(node)))
    return Parts(tests, plan)


def verdicts(parts: Parts, message: Any) -> list[Verdict]:
    """Return the verdict of each part for a message, which is a mapping or a Record."""
    return [Verdict(Truth(found & 3), is_mismatched=found > 3) for found in parts.of(message)]


def _machines(test: Selector) -> _Test:
    """Return the machines of a test: see `Parts`."""
    core = test.of_core()
    if any(isinstance(node, Computed) for node in core.order) or test.match_option is not None:
        return test.machine, (), Truth.ERR  # it takes values of all types
    if core is test:
        other = getattr(test.node, "other", Truth.FALSE)
        strict = test.part(test.node, with_another(test.dialect, other)).machine
        if other is not Truth.ERR and not may_err(test.order) and _is_one_comparison(test.node):
            return None, ((None, strict),), other
        return test.machine, ((None, strict),), other
    # One test of a product: types differ where they do in all tests that it is made of.
    parts = [core.part(node) for node, _ in parts_of(core.node) if is_test(node)]
    pairs = [_machines(one) for one in parts]
    return (
        test.machine,
        tuple((part.machine, found[1][0][1]) for part, found in zip(parts, pairs, strict=True) if found[1]),
        Truth.ERR,
    )


def _is_one_comparison(test: Node) -> bool:
    """Report whether a type mismatch decides the truth of a test, as no other comparison in the test has a truth."""
    operands = children(test)
    if isinstance(test, Between):
        return isinstance(operands[0], Identifier) and all(isinstance(one, Literal) for one in operands[1:])
    return all(
        isinstance(one, (Literal, Identifier, Arithmetic, Sign)) for operand in operands for one in walk(operand)
    )


@functools.lru_cache(32)
def with_another(dialect: Dialect, truth: Truth) -> Dialect:
    """Return a dialect in which no type mismatch has a truth: it is ERR, or FALSE if ERR is that truth."""
    fields = ("in_mismatch", "like_mismatch", "condition_mismatch")
    others = {name: "comparison" for name in fields if name in Dialect._fields}
    return dialect.replace(type_mismatch="operation" if truth is Truth.ERR else "selector", **others)


def _table(node: Node) -> bytes:
    """Return the table of a connective for `Parts`; nothing for a test."""
    match node:
        case Not():
            return bytes(NOT[truth] for truth in Truth for _ in range(5))
        case And() | Or():
            return bytes(after for truth in Truth for after in [*(_joined(node, truth, rest) for rest in Truth), truth])
    return b""


def _joined(node: And | Or, truth: Truth, rest: Truth) -> Truth:
    """Return the truth of an operand joined with that of the operands after it."""
    is_and = isinstance(node, And)
    if node.rule == "first":
        decides = truth is not Truth.TRUE if is_and else truth in (Truth.TRUE, Truth.ERR)
        return truth if decides else rest
    if node.rule == "eager" and rest is Truth.ERR:
        return rest
    return Truth((AND if is_and else OR)[truth][rest])


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


def _outcomes(test: _Test, rows: pa.StructArray) -> bytes:
    """Return the outcome of a test for each row: see `Parts.of`."""
    whole, pairs, other = test
    if whole is None:
        return truths(pairs[0][1], rows).translate(bytes((0, 1, 2, other | 4, other | 4)) + bytes(251))
    answers = truths(whole, rows)
    columns = [(answers if one is None else truths(one, rows), truths(two, rows)) for one, two in pairs]
    differ = [bytes(map(operator.ne, *map(_with_error, pair))) for pair in columns]
    answers = _with_error(answers)
    return bytes(truth + 4 * all(more) for truth, *more in zip(answers, *differ, strict=True)) if pairs else answers


def _with_error(answers: bytes) -> bytes:
    """Return truths with ERR where no document says which."""
    return answers.replace(b"\4", b"\3")


class Profiler:
    """Counts messages into an account.

    Args:
        selector: what they are counted for.
        schema: of messages that are sequences.
    """

    def __init__(self, selector: Selector, schema: Schema | None = None) -> None:
        self.selector = selector
        self._parts = parts_judged(selector)
        self._machine = selector.machine if schema is None else Machine(program_of(selector), schema)
        held = {name: Held() for name in selector.names.values()}
        self._account = Account(outcomes=[[0] * len(OUTCOMES) for _ in parts_of(selector.node)], held=held)
        self._rules = selector.naming
        self._record = Record(tuple(held))
        self._counting: Tally | None = None

    def _matches(self, message: Any) -> bool:
        return self._machine.matches(message)

    @property
    def _tally(self) -> Tally:
        if self._counting is None:
            spelled = tuple((name, "".join(spellings(name, self._rules)[1:])) for name in self._account.held)
            self._counting = Tally(spelled, self._rules == "folded", self._parts)
        return self._counting

    @property
    def account(self) -> Account:
        """What was counted so far: the same object each time."""
        if self._counting is not None:
            messages, totals, counted = self._counting.counts()
            self._count(messages, totals)
            for held, one in zip(self._account.held.values(), counted, strict=True):
                held.take_counted(one)
        return self._account

    def _count(self, messages: int, totals: Iterable[Sequence[int]]) -> None:
        self._account.messages += messages
        for counts, more in zip(self._account.outcomes, totals, strict=True):
            for number, count in zip(NUMBERS, more, strict=True):
                counts[number] += count

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
        self._count(len(rows), self._parts.totals(len(rows), [_outcomes(test, rows) for test in self._parts.tests]))
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
