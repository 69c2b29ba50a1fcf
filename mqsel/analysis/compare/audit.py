"""Compares many selectors: which never select, which are equal, and which select all that another selects.

For each selector a few messages that it selects are computed, at the ends of its ranges. Only a selector that selects
all of these can contain it. Such selectors are found by an index of where selectors are TRUE, and few of them are left
for the proof. Where a proof fails, its message rules out other pairs, too.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple, cast

from mqsel.analysis.compare.contract import PRESENT, Contract
from mqsel.analysis.compare.gaps import Gap, gap_of
from mqsel.analysis.compare.satisfiable import contradiction_in_words, satisfied
from mqsel.analysis.compare.search import Given, contract_of, has_every_answer, match_of, respelled, search
from mqsel.analysis.explain import message_code
from mqsel.arguments import iterated
from mqsel.carets import shortened
from mqsel.errors import ArgumentError, SelectorError
from mqsel.index._index import Index
from mqsel.index._reader import MessageReader, has_hash, no_key
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import Computed, Identifier
from mqsel.language.selector import Selector, as_text, read_anew
from mqsel.logic.formulas import Any as AnyOf
from mqsel.logic.formulas import Formula, Leaf, all_of, leaves
from mqsel.logic.needs import needs
from mqsel.logic.normal import Writer
from mqsel.logic.sets import NOTHING, Values
from mqsel.logic.solver import Message, Witness, steps_of_check
from mqsel.logic.solver.boxes import Check
from mqsel.logic.solver.budget import Budget, budget_of_many
from mqsel.machine.sections import Texts
from mqsel.names import joined
from mqsel.notebook import page, table

MAX_PAIRS = 20_000  # that are looked at for what a missing property does: some ten seconds
_OF_PROOF = 80_000  # steps of one proof
_PARTS = 4  # of an OR, each of which has messages
_UNDECIDED = 3  # of one selector, after which no other is tried
_HARD = 20  # pairs that are not decided, each in up to half a second, after which no other is tried


class Never(NamedTuple):
    """A selector that selects no message.

    Attributes:
        key: The key of the selector.
        reason: Why it selects no message.
    """

    key: str
    reason: str


class Equal(NamedTuple):
    """Selectors that select the same messages.

    Attributes:
        keys: The keys of the selectors.
        is_one_text: Whether they have the same text.
    """

    keys: tuple[str, ...]
    is_one_text: bool


class Within(NamedTuple):
    """A selector that selects all messages that others select, and more.

    Attributes:
        key: The key of the wide selector.
        keys: The keys of the selectors within it. Each is listed with one wide selector, which is within no other.
    """

    key: str
    keys: tuple[str, ...]


class Missing(NamedTuple):
    """Two selectors that both select only messages without a property, although each also selects others.

    Attributes:
        keys: The two keys.
        name: The property that is missing.
        message: A message that both select.
    """

    keys: tuple[str, str]
    name: str
    message: Message


class Twice(NamedTuple):
    """Two selectors that select one message.

    Attributes:
        keys: The two keys.
        message: A message that both select.
    """

    keys: tuple[str, str]
    message: Message


class Audit(NamedTuple):
    """The findings about many selectors.

    Attributes:
        total: The number of selectors.
        invalid: The keys of selectors that are invalid, with their errors.
        never: The selectors that select no message.
        equal: The selectors that select the same messages.
        within: The selectors that select all messages that others select. If several are equal, only the first is
            named.
        missing: The selectors that overlap by accident. If several are equal, only the first is named.
        undecided: The keys of selectors with a comparison that is not decided.
        pairs_left: The number of pairs that were not compared for `missing` or `twice`, or are not decided for `twice`.
        gaps: For each destination, the messages that no selector there selects.
        twice: The pairs that select one message of a destination, although each message should have one receiver.
    """

    total: int
    invalid: tuple[tuple[str, SelectorError], ...]
    never: tuple[Never, ...]
    equal: tuple[Equal, ...]
    within: tuple[Within, ...]
    missing: tuple[Missing, ...]
    undecided: tuple[str, ...]
    pairs_left: int
    gaps: tuple[tuple[str, Gap], ...]
    twice: tuple[Twice, ...]

    def _repr_html_(self) -> str:
        rows = [("invalid", key, escape(str(error))) for key, error in self.invalid]
        rows += [("never", one.key, escape(one.reason)) for one in self.never]
        rows += [("same" if one.is_one_text else "equal", ", ".join(one.keys), "") for one in self.equal]
        rows += [("contains", one.key, escape(", ".join(one.keys))) for one in self.within]
        rows += [("missing", " and ".join(one.keys), message_code(one.message)) for one in self.missing]
        rows += [("twice", " and ".join(one.keys), message_code(one.message)) for one in self.twice]
        rows += [("gap", where, message_code(one.message)) for where, one in self.gaps if one]
        counts = f"{self.total:,} selectors, {len(self.undecided):,} not decided, {self.pairs_left:,} pairs left out"
        cells = [(escape(word), escape(keys), what) for word, keys, what in rows]
        return page([f"<b>{counts}</b>"], table(("finding", "selectors", ""), cells))


class _Entry:
    """One text, and what is known of it.

    Attributes:
        keys: of those that have it.
        contract: what messages are like.
        proofs: pays for what is proved of it.
        destinations: of its keys.
        formula: where it is TRUE, as an index takes it.
        is_exact: whether it is; elsewhere the formula is what each message has of which it is TRUE.
        messages: that it selects.
        gates: for properties, the texts or truth values one of which a message must have.
    """

    def __init__(
        self, selector: Selector, keys: list[str], contract: Contract | None, writer: Writer, proofs: Budget
    ) -> None:
        self.selector = selector
        self.contract = contract
        self.proofs = proofs
        self.keys = keys
        self.destinations: dict[str, None] = {}
        self.messages: list[Message] = []
        needed = needs(selector.formulas.true) or {}
        self.gates = {name: points for name, values in needed.items() if (points := _points(values)) is not None}
        self.matches = match_of(selector)
        names = {name: joined(read, selector.naming) for name, read in selector.names.items()}
        # What is computed an index computes for each message, and what has no answer for one is an error there.
        self.is_exact = has_every_answer(selector) and not any(isinstance(node, Computed) for node in selector.order)
        self.formula = (
            writer.true_of(selector, names)
            if self.is_exact
            else all_of([Leaf(Identifier(name), values) for name, values in needed.items()])
        )


def audit(
    selectors: Iterable[tuple[str, str] | tuple[str, str, Dialect]],
    *,
    dialect: Dialect | str = IBM_MQ,
    given: Given = None,
    destinations: Mapping[str, str] | None = None,
    once: bool = False,
) -> Audit:
    """Find selectors that never match, are equal, contain one another or overlap, and messages that none selects.

    Args:
        selectors: An iterable of (key, text), or of (key, text, dialect) for selectors with their own dialect.
        dialect: The `Dialect`, or its name, of selectors without one.
        given: What you know about the messages, as for `mqsel.relation`. The default is None.
        destinations: A mapping of keys to destinations. Messages that no selector selects are searched for each of
            them. Without it, all selectors are of one destination.
        once: Whether each message should have one receiver. Then pairs of one destination that overlap are reported.

    Raises: SelectorError: if *given* is a selector that is invalid. ArgumentError: if a dialect doesn't exist.
    """
    if destinations is not None and not isinstance(destinations, Mapping):
        raise ArgumentError(f"destinations are {shortened(destinations)}: expected a mapping of keys to names")
    usual = as_dialect(dialect)
    contract = contract_of(given, usual)
    invalid: list[tuple[str, SelectorError]] = []
    texts: dict[tuple[str, Dialect], list[str]] = {}
    total = 0
    for pair in iterated(selectors, "pairs of a key and a selector"):
        if not isinstance(pair, (tuple, list)) or len(pair) not in (2, 3):
            raise ArgumentError(f"found {shortened(pair)}: expected a key, a selector, and perhaps its dialect")
        total += 1
        key, text, *own = pair
        if not has_hash(key):
            raise no_key(key)
        texts.setdefault((as_text(text), as_dialect(own[0]) if own else usual), []).append(key)
    writer = Writer()
    whole = budget_of_many(len(texts))
    proofs = whole.share(whole.steps // 2)  # the rest is for what is left by all
    entries: list[_Entry] = []
    every: dict[str, list[Selector]] = {}
    spelled: dict[str, str] = {}
    never: list[Never] = []
    undecided: list[str] = []
    same: list[Equal] = []
    for (text, chosen), keys in texts.items():
        try:
            entry = _Entry(respelled(read_anew(text, chosen), spelled), keys, contract, writer, proofs)
        except SelectorError as error:
            invalid += [(key, error) for key in keys]
            continue
        entry.destinations = dict.fromkeys((destinations or {}).get(key, "") for key in keys)
        for one in entry.destinations:
            every.setdefault(one, []).append(entry.selector)
        if len(keys) > 1:
            same.append(Equal(tuple(keys), is_one_text=True))
        witness = satisfied(entry.selector, contract, proofs.share(_OF_PROOF))
        if witness.is_none:
            reason = contradiction_in_words(entry.selector, contract, proofs.share(_OF_PROOF))
            never += [Never(key, reason) for key in keys]
        elif witness.message is None:
            undecided += keys
        else:
            entry.messages = [*_messages(entry, witness.message)]
            entries.append(entry)
    groups, within, unsure = _contained(entries)
    equal = [Equal(tuple([key for one in group for key in one.keys]), is_one_text=False) for group in groups]
    repeated = {id(one) for group in groups for one in group[1:]}
    missing, left = _missing([one for one in entries if id(one) not in repeated])
    twice, more_left = _twice(entries) if bool(once) else ([], 0)
    undecided += [key for one in unsure for key in one.keys]
    return Audit(
        total,
        tuple(invalid),
        tuple(never),
        (*same, *equal),
        tuple([Within(wide.keys[0], tuple([one.keys[0] for one in inner])) for wide, inner in within]),
        tuple(missing),
        tuple(undecided),
        left + more_left,
        tuple([(one, gap_of(many, contract, whole)) for one, many in every.items()]),
        tuple(twice),
    )


def _found(entry: _Entry, formulas: Iterable[Formula], check: Check, *others: _Entry) -> Witness:
    selectors = [one.selector for one in (entry, *others)]
    return search(entry.contract, selectors, formulas, check, entry.proofs.share(_OF_PROOF))


# ---- what a selector asks for ----------------------------------------------------------------------------------------


def _points(values: Values) -> frozenset[str | bool] | None:
    """Return the texts, or truth values, if nothing else is among the values."""
    strings = values.strings
    if strings.negated or strings.patterns:
        return None
    if values != NOTHING._replace(booleans=values.booleans, strings=strings):
        return None
    return cast("frozenset[str]", strings.points) | {truth for truth in (False, True) if values.booleans[truth]}


def _messages(entry: _Entry, first: Message) -> Iterator[Message]:
    """Return messages that a selector selects, far from each other: of each part of an OR, and of each at its ends."""
    formula = entry.selector.formulas.true
    found: list[Message | None] = [first]
    if isinstance(formula, AnyOf):
        found += [_found(entry, (part,), entry.matches).message for part in formula.parts[:_PARTS]]
    for one in found:
        if one is not None:
            yield one
            for end in _INT64 if entry.contract is None else ():  # which knows nothing of what messages are like
                yield _at_end(entry, one, end)


def _at_end(entry: _Entry, message: Message, end: int) -> Message:
    """Move whole numbers as far towards *end* as the selector takes them, one after the other."""
    moved = dict(message)
    of_search = _HALVED * steps_of_check([entry.selector.formulas.true])
    budget = entry.proofs.share(entry.proofs.left // _OF_ENDS)
    for name, value in message.items():
        if type(value) is not int or budget.left < of_search:
            continue
        budget.count(of_search)
        inside, beyond = value, end
        if entry.matches({**moved, name: end}):
            inside = end
        while abs(beyond - inside) > 1:
            middle = (inside + beyond) // 2
            if entry.matches({**moved, name: middle}):
                inside = middle
            else:
                beyond = middle
        moved[name] = inside
    return moved


_OF_ENDS = 16  # of the steps for proofs, the part that may be spent on one end of the numbers of a message
_HALVED = 65  # times that an interval of whole numbers is halved at most
_INT64 = -(1 << 63), (1 << 63) - 1


# ---- sets of selectors -----------------------------------------------------------------------------------------------


class _Sets:
    """Sets of some entries, as bits by their places: so that a pair of which there is nothing to say takes a bit."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.entries = entries
        self.everyone = (1 << len(entries)) - 1
        self.ungated: dict[str, int] = {}
        self.gated: dict[tuple[str, str | bool], list[int]] = {}
        index = Index()
        index.add(range(len(entries)), [one.formula for one in entries])
        self.reader: MessageReader[int] = MessageReader()
        self.reader.begin(index, None, [*range(len(entries))], None, Texts(), {}, {})
        self.inexact = self.bits([place for place, entry in enumerate(entries) if not entry.is_exact])
        for place, entry in enumerate(entries):
            for name, points in entry.gates.items():
                self.ungated[name] = self.ungated.get(name, self.everyone) ^ 1 << place
                for point in points:
                    self.gated.setdefault((name, point), []).append(place)

    def bits(self, places: Iterable[int]) -> int:
        return int.from_bytes(self.reader.bitmap(places), "little")

    def selecting(self, message: Message, among: int = -1) -> int:
        """Return those that select a message, of some."""
        found = self.bits(self.reader.match(message)) & among
        for place in _places(found & self.inexact):
            if not self.entries[place].matches(message):
                found ^= 1 << place
        return found

    def around(self, entry: _Entry) -> int:
        """Return those that select all messages of an entry."""
        return functools.reduce(lambda found, message: self.selecting(message, found), entry.messages, self.everyone)

    def reached(self, entry: _Entry) -> int:
        """Return those that select any of the messages of an entry."""
        return functools.reduce(operator.or_, map(self.selecting, entry.messages))

    def meeting(self, entry: _Entry) -> int:
        """Return those that ask for a text or truth value of each property of which *entry* asks for some, too."""
        found = self.everyone
        for name, points in entry.gates.items():
            found &= self.ungated[name] | self.bits([one for point in points for one in self.gated[name, point]])
        return found


def _places(bits: int) -> Iterator[int]:
    while bits:
        least = bits & -bits
        yield least.bit_length() - 1
        bits ^= least


def _counts(many: Iterable[int], size: int) -> list[int]:
    """Return for each place in how many sets it is: all places are added up at once, digit by binary digit."""
    digits: list[int] = []
    for bits in many:
        for at, digit in enumerate(digits):
            digits[at], bits = digit ^ bits, digit & bits  # noqa: PLW2901 (the carry)
        if bits:
            digits.append(bits)
    return [sum((digit >> place & 1) << at for at, digit in enumerate(digits)) for place in range(size)]


# ---- which contains which --------------------------------------------------------------------------------------------


def _contained(entries: Sequence[_Entry]) -> tuple[list[list[_Entry]], list[tuple[_Entry, list[_Entry]]], list[_Entry]]:
    """Find the entries that are equal, and those within another.

    Returns: equal ones; the wide ones, each with those within it; those of which something is not decided.
    """
    sets = _Sets(entries)
    arounds = [sets.around(entry) for entry in entries]
    widths = _counts(arounds, len(entries))
    unsure: dict[int, None] = {}
    first = [*range(len(entries))]  # of those that are equal
    alike: dict[int, int] = {}  # the first ones by width: those that are equal select as many
    within: dict[int, list[int]] = {}
    hard = 0
    for place, entry in enumerate(entries):
        others = alike.get(widths[place], 0)
        for one in _places(arounds[place] & others):
            if not all(map(entry.matches, entries[one].messages)):
                continue
            forth = _is_within(entry, entries[one]) if hard < _HARD else None
            back = forth and _is_within(entries[one], entry)
            if back:
                first[place] = one
                break
            if forth is None or (forth and back is None):
                unsure[place] = None
                hard += 1
        else:
            alike[widths[place]] = others | 1 << place
    wide_first = sorted(alike.items(), reverse=True)
    for place, entry in enumerate(entries):
        if first[place] != place:
            continue
        seen, open_ = len(entry.messages), 0
        others = arounds[place] & ~(1 << place)
        for one in itertools.chain.from_iterable(_places(others & many) for _, many in wide_first if others):
            # A proof that failed has left a message.
            if not all(map(entries[one].matches, entry.messages[seen:])):
                continue
            holds = _is_within(entry, entries[one]) if hard < _HARD else None
            if holds:
                within.setdefault(one, []).append(place)
                break
            if holds is None:
                unsure[place] = None
                hard += 1
                open_ += 1
                if open_ == _UNDECIDED:
                    break
    groups: dict[int, list[_Entry]] = {}
    for place, one in enumerate(first):
        groups.setdefault(one, []).append(entries[place])
    return (
        [group for group in groups.values() if len(group) > 1],
        [(entries[wide], [entries[one] for one in inner]) for wide, inner in within.items()],
        [entries[place] for place in unsure],
    )


def _is_within(inner: _Entry, wide: _Entry) -> bool | None:
    """Report whether all that *inner* selects is selected by *wide*; if not, remember what shows it."""
    witness = search(
        inner.contract,
        (inner.selector, wide.selector),
        (inner.selector.formulas.true, wide.selector.not_true),
        lambda message: inner.matches(message) and not wide.matches(message),
        inner.proofs.share(_OF_PROOF),
        inner.messages,
    )
    if witness.message is not None:
        inner.messages.append(witness.message)
    return None if witness.reason else witness.message is None


# ---- what a missing property does ------------------------------------------------------------------------------------


def _missing(entries: Sequence[_Entry]) -> tuple[list[Missing], int]:
    """Find pairs that select in common only messages that lack a property.

    Returns: them, and how many pairs were not looked at.
    """
    sets = _Sets(entries)
    found: list[Missing] = []
    told: list[list[int]] = [[] for _ in entries]  # by one of a pair the others
    looked = left = 0
    for place, entry in enumerate(entries):
        for name in _may_lack(entry.selector.formulas.true):
            present = Leaf(Identifier(name), PRESENT)
            with_it = _found(entry, (entry.selector.formulas.true, present), entry.matches).message
            if with_it is None:
                continue  # it asks for messages that lack it
            others = sets.meeting(entry) & ~(sets.selecting(with_it) | sets.bits([place, *told[place]]))
            asked = [*itertools.islice(_places(others), max(MAX_PAIRS - looked, 0))]
            looked += others.bit_count()
            left += others.bit_count() - len(asked)
            for other in asked:
                second = entries[other]
                message = _in_common_without(entry, second, present)
                if message is not None:
                    keys = (entry.keys[0], second.keys[0]) if place < other else (second.keys[0], entry.keys[0])
                    found.append(Missing(keys, name, message))
                    told[place].append(other)
                    told[other].append(place)
    return found, left


def _in_common_without(first: _Entry, second: _Entry, present: Leaf) -> Message | None:
    """Return a message that both select, if all of those lack a property and not all that the second selects do."""
    message = _both(first, second).message if _both(first, second, present).is_none else None
    if message is None or _found(second, (second.selector.formulas.true, present), second.matches).message is None:
        return None
    return message


def _may_lack(formula: Formula) -> list[str]:
    """List the properties of which NULL is among what is asked for somewhere."""
    found = [one for one in leaves(formula) if isinstance(one, Leaf) and one.values.null]
    return [*dict.fromkeys(one.subject.name for one in found if isinstance(one.subject, Identifier))]


# ---- what has two receivers ------------------------------------------------------------------------------------------


def _twice(entries: Sequence[_Entry]) -> tuple[list[Twice], int]:
    """Find pairs that both select a message.

    Returns: them, and how many pairs were not looked at.
    """
    found = [
        Twice((one, other), entry.messages[0])
        for entry in entries
        for one, other in itertools.pairwise(entry.keys if len(entry.destinations) == 1 else ())  # of one text
    ]
    sets = _Sets(entries)
    near: dict[str, int] = {}  # by destination
    behind: list[list[int]] = [[] for _ in entries]  # those of which an entry before them selects a message
    for place, entry in enumerate(entries):
        for one in entry.destinations:
            near[one] = near.get(one, 0) | 1 << place
        for before in _places(sets.reached(entry) & (1 << place) - 1):
            behind[before].append(place)
    looked = left = hard = 0
    for place, entry in enumerate(entries):
        others = functools.reduce(operator.or_, [near[one] for one in entry.destinations])
        others &= sets.meeting(entry) & -(2 << place)
        shared = others & (sets.reached(entry) | sets.bits(behind[place]))
        others &= ~shared
        asked = {*itertools.islice(_places(others), max(MAX_PAIRS - looked, 0))}
        looked += others.bit_count()
        left += others.bit_count() - len(asked)
        for other in sorted([*_places(shared), *asked]):
            second = entries[other]
            if other in asked:
                both = _both(entry, second) if hard < _HARD else Witness(None, "not tried")
                hard += bool(both.reason)
                left += bool(both.reason)
                message = both.message
            else:
                own = filter(second.matches, entry.messages)
                message = next(itertools.chain(own, filter(entry.matches, second.messages)))
            if message is not None:
                found.append(Twice((entry.keys[0], second.keys[0]), message))
    return found, left


def _both(first: _Entry, second: _Entry, *more: Formula) -> Witness:
    """Search a message that both select."""
    formulas = first.selector.formulas.true, second.selector.formulas.true, *more
    return _found(first, formulas, lambda message: first.matches(message) and second.matches(message), second)
