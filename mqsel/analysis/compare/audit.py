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
        rows += [("never", key, escape(reason)) for key, reason in self.never]
        rows += [("same" if is_one_text else "equal", ", ".join(keys), "") for keys, is_one_text in self.equal]
        rows += [("contains", key, escape(", ".join(keys))) for key, keys in self.within]
        rows += [("missing", " and ".join(keys), message_code(message)) for keys, _, message in self.missing]
        rows += [("twice", " and ".join(keys), message_code(message)) for keys, message in self.twice]
        rows += [("gap", destination, message_code(gap.message)) for destination, gap in self.gaps if gap]
        selectors = f"{self.total:,} selector{'s' * (self.total != 1)}"
        pairs = f"{self.pairs_left:,} pair{'s' * (self.pairs_left != 1)} not compared"
        counts = f"{selectors}, {len(self.undecided):,} not decided, {pairs}"
        cells = [(escape(word), escape(keys), what) for word, keys, what in rows]
        return page([f"<b>{counts}</b>"], table(("finding", "selectors", ""), cells))


class _Entry:
    """A text, and what the comparisons with others need of it.

    Attributes:
        selector: what the text was read as.
        keys: of those that have the text.
        contract: what messages are like.
        proofs: the budget of everything that is proved.
        destinations: of the keys, in order.
        formula: where the selector is TRUE, as an index takes it; if the index can't compute all of it, a formula that
            holds for each message of which the selector is TRUE.
        is_exact: whether the formula is the first of the two.
        messages: that the selector selects; each proof that fails adds one.
        required: for properties, the strings or truth values one of which a message must have.
    """

    def __init__(
        self,
        selector: Selector,
        keys: list[str],
        destinations: Iterable[str],
        contract: Contract | None,
        writer: Writer,
        proofs: Budget,
    ) -> None:
        self.selector = selector
        self.contract = contract
        self.proofs = proofs
        self.keys = keys
        self.destinations = dict.fromkeys(destinations)
        self.messages: list[Message] = []
        needed = needs(selector.formulas.true) or {}
        self.required = {name: points for name, values in needed.items() if (points := _points(values)) is not None}
        self.matches = match_of(selector)
        names = {name: joined(read, selector.naming) for name, read in selector.names.items()}
        # An index evaluates each computed test for every message, and has no result for one without an answer.
        self.is_exact = has_every_answer(selector) and not any(isinstance(node, Computed) for node in selector.order)
        self.formula = (
            writer.true_of(selector, names)
            if self.is_exact
            else all_of([Leaf(Identifier(name), values) for name, values in needed.items()])
        )

    def search(self, formulas: Iterable[Formula], check: Check, *partners: _Entry) -> Witness:
        """Search for a message of the contract, which formulas of this entry and of some partners describe."""
        selectors = [entry.selector for entry in (self, *partners)]
        return search(self.contract, selectors, formulas, check, self.proofs.share(_OF_PROOF))


class _Examination:
    """What is found out about each text alone, before texts are compared."""

    def __init__(self, contract: Contract | None, destinations: Mapping[str, str], proofs: Budget) -> None:
        self.contract = contract
        self.destinations = destinations
        self.proofs = proofs
        self.writer = Writer()
        self.spelled: dict[str, str] = {}
        self.invalid: list[tuple[str, SelectorError]] = []
        self.never: list[Never] = []
        self.undecided: list[str] = []
        self.same: list[Equal] = []
        self.entries: list[_Entry] = []  # those that select a message
        self.by_destination: dict[str, list[Selector]] = {}

    def take(self, text: str, dialect: Dialect, keys: list[str]) -> None:
        """Read the text of some keys, and search for a message that it selects."""
        destinations = dict.fromkeys([self.destinations.get(key, "") for key in keys])
        try:
            selector = respelled(read_anew(text, dialect), self.spelled)
            entry = _Entry(selector, keys, destinations, self.contract, self.writer, self.proofs)
        except SelectorError as error:
            self.invalid += [(key, error) for key in keys]
            return
        for destination in destinations:
            self.by_destination.setdefault(destination, []).append(selector)
        if len(keys) > 1:
            self.same.append(Equal(tuple(keys), is_one_text=True))
        witness = satisfied(selector, self.contract, self.proofs.share(_OF_PROOF))
        if witness.is_none:
            reason = contradiction_in_words(selector, self.contract, self.proofs.share(_OF_PROOF))
            self.never += [Never(key, reason) for key in keys]
        elif witness.message is None:
            self.undecided += keys
        else:
            entry.messages = [*_messages(entry, witness.message)]
            self.entries.append(entry)


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
    texts = _keys_by_text(selectors, usual)
    whole = budget_of_many(len(texts))
    alone = _Examination(contract, destinations or {}, whole.share(whole.steps // 2))  # the rest is for gaps
    for (text, chosen), keys in texts.items():
        alone.take(text, chosen, keys)
    groups, within, unsure = _contained(alone.entries)
    repeated = {id(entry) for group in groups for entry in group[1:]}
    missing, left = _missing([entry for entry in alone.entries if id(entry) not in repeated])
    twice, more_left = _twice(alone.entries) if once else ([], 0)
    equal = [Equal(tuple([key for entry in group for key in entry.keys]), is_one_text=False) for group in groups]
    return Audit(
        sum(map(len, texts.values())),
        tuple(alone.invalid),
        tuple(alone.never),
        (*alone.same, *equal),
        tuple([Within(wide.keys[0], tuple([entry.keys[0] for entry in inner])) for wide, inner in within]),
        tuple(missing),
        (*alone.undecided, *[key for entry in unsure for key in entry.keys]),
        left + more_left,
        tuple([(name, gap_of(members, contract, whole)) for name, members in alone.by_destination.items()]),
        tuple(twice),
    )


def _keys_by_text(
    selectors: Iterable[tuple[str, str] | tuple[str, str, Dialect]], usual: Dialect
) -> dict[tuple[str, Dialect], list[str]]:
    """Return the keys of each text in each dialect."""
    texts: dict[tuple[str, Dialect], list[str]] = {}
    for row in iterated(selectors, "pairs of a key and a selector"):
        if not isinstance(row, (tuple, list)) or len(row) not in (2, 3):
            raise ArgumentError(f"found {shortened(row)}: expected a key, a selector, and perhaps its dialect")
        key, text, *own = row
        if not has_hash(key):
            raise no_key(key)
        texts.setdefault((as_text(text), as_dialect(own[0]) if own else usual), []).append(key)
    return texts


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
    messages: list[Message | None] = [first]
    if isinstance(formula, AnyOf):
        messages += [entry.search((part,), entry.matches).message for part in formula.parts[:_PARTS]]
    for message in messages:
        if message is not None:
            yield message
            for end in _INT64 if entry.contract is None else ():  # which knows nothing of what messages are like
                yield _at_end(entry, message, end)


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
    """Sets of some entries, as integers whose bits are the places of the entries: most pairs cost one bit."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.entries = entries
        self.everyone = (1 << len(entries)) - 1
        self.not_requiring: dict[str, int] = {}
        self.requiring: dict[tuple[str, str | bool], list[int]] = {}
        index = Index()
        index.add(range(len(entries)), [entry.formula for entry in entries])
        self.reader: MessageReader[int] = MessageReader()
        self.reader.begin(index, None, [*range(len(entries))], None, Texts(), {}, {})
        self.inexact = self.bits([place for place, entry in enumerate(entries) if not entry.is_exact])
        for place, entry in enumerate(entries):
            for name, points in entry.required.items():
                self.not_requiring[name] = self.not_requiring.get(name, self.everyone) ^ 1 << place
                for point in points:
                    self.requiring.setdefault((name, point), []).append(place)

    def bits(self, places: Iterable[int]) -> int:
        return int.from_bytes(self.reader.bitmap(places), "little")

    def selecting(self, message: Message, among: int = -1) -> int:
        """Return those that select a message, of some."""
        bits = self.bits(self.reader.match(message)) & among
        for place in _places(bits & self.inexact):
            if not self.entries[place].matches(message):
                bits ^= 1 << place
        return bits

    def around(self, entry: _Entry) -> int:
        """Return those that select all messages of an entry."""
        return functools.reduce(lambda bits, message: self.selecting(message, bits), entry.messages, self.everyone)

    def reached(self, entry: _Entry) -> int:
        """Return those that select any of the messages of an entry."""
        return functools.reduce(operator.or_, map(self.selecting, entry.messages))

    def meeting(self, entry: _Entry) -> int:
        """Return those that a message can satisfy together with *entry*, by the strings and truth values required."""
        bits = self.everyone
        for name, points in entry.required.items():
            bits &= self.not_requiring[name] | self.bits([at for point in points for at in self.requiring[name, point]])
        return bits


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


class _Containment:
    """Compares entries by which contains which, as long as few comparisons are not decided.

    Attributes:
        around: for each place the entries that select all of its messages: only these can contain it.
        unsure: the places of entries with a comparison that is not decided.
    """

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.entries = entries
        sets = _Sets(entries)
        self.around = [sets.around(entry) for entry in entries]
        self.unsure: dict[int, None] = {}
        self._hard = 0

    def is_within(self, inner: int, wide: int, place: int) -> bool | None:
        """Report whether one entry is within another; None, and *place* is unsure, if that is not decided."""
        holds = _is_within(self.entries[inner], self.entries[wide]) if self._hard < _HARD else None
        if holds is None:
            self.unsure[place] = None
            self._hard += 1
        return holds

    def first_of_equal(self) -> tuple[list[int], Iterable[int]]:
        """Find equal entries.

        Returns: for each place the first place of an equal entry; the sets of all first places, the widest first.
        """
        first = [*range(len(self.entries))]
        alike: dict[int, int] = {}  # the first ones by width: those that are equal select as many
        widths = _counts(self.around, len(self.entries))
        for place, entry in enumerate(self.entries):
            earlier = alike.get(widths[place], 0)
            for before in _places(self.around[place] & earlier):
                if not all(map(entry.matches, self.entries[before].messages)):
                    continue
                if self.is_within(place, before, place) and self.is_within(before, place, place):
                    first[place] = before
                    break
            else:
                alike[widths[place]] = earlier | 1 << place
        return first, [alike[width] for width in sorted(alike, reverse=True)]

    def container_of(self, place: int, wide_first: Iterable[int]) -> int | None:
        """Return the place of a widest entry that contains an entry; None if none is found."""
        entry = self.entries[place]
        seen, undecided = len(entry.messages), 0
        candidates = self.around[place] & ~(1 << place)
        for wide in itertools.chain.from_iterable(_places(candidates & places) for places in wide_first if candidates):
            # A proof that failed has left a message.
            if not all(map(self.entries[wide].matches, entry.messages[seen:])):
                continue
            holds = self.is_within(place, wide, place)
            if holds:
                return wide
            undecided += holds is None
            if undecided == _UNDECIDED:
                break
        return None


def _contained(entries: Sequence[_Entry]) -> tuple[list[list[_Entry]], list[tuple[_Entry, list[_Entry]]], list[_Entry]]:
    """Find the entries that are equal, and those within another.

    Returns: equal ones; the wide ones, each with those within it; those of which something is not decided.
    """
    containment = _Containment(entries)
    first, wide_first = containment.first_of_equal()
    within: dict[int, list[_Entry]] = {}
    groups: dict[int, list[_Entry]] = {}
    for place, entry in enumerate(entries):
        groups.setdefault(first[place], []).append(entry)
        wide = containment.container_of(place, wide_first) if first[place] == place else None
        if wide is not None:
            within.setdefault(wide, []).append(entry)
    return (
        [group for group in groups.values() if len(group) > 1],
        [(entries[wide], inner) for wide, inner in within.items()],
        [entries[place] for place in containment.unsure],
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
    pairs: list[Missing] = []
    partners: list[list[int]] = [[] for _ in entries]  # the places of those in a pair with an entry
    looked = left = 0
    for place, entry in enumerate(entries):
        for name in _may_lack(entry.selector.formulas.true):
            present = Leaf(Identifier(name), PRESENT)
            with_it = entry.search((entry.selector.formulas.true, present), entry.matches).message
            if with_it is None:
                continue  # it asks for messages that lack it
            meeting = sets.meeting(entry) & ~(sets.selecting(with_it) | sets.bits([place, *partners[place]]))
            asked = [*itertools.islice(_places(meeting), max(MAX_PAIRS - looked, 0))]
            looked += meeting.bit_count()
            left += meeting.bit_count() - len(asked)
            for partner in asked:
                message = _in_common_without(entry, entries[partner], present)
                if message is not None:
                    low, high = sorted((place, partner))
                    pairs.append(Missing((entries[low].keys[0], entries[high].keys[0]), name, message))
                    partners[place].append(partner)
                    partners[partner].append(place)
    return pairs, left


def _in_common_without(first: _Entry, second: _Entry, present: Leaf) -> Message | None:
    """Return a message that both select, if all of those lack a property and not all that the second selects do."""
    message = _both(first, second).message if _both(first, second, present).is_none else None
    if message is None or second.search((second.selector.formulas.true, present), second.matches).message is None:
        return None
    return message


def _may_lack(formula: Formula) -> list[str]:
    """List the properties of which NULL is among what is asked for somewhere."""
    lacking = [leaf.subject for leaf in leaves(formula) if isinstance(leaf, Leaf) and leaf.values.null]
    return [*dict.fromkeys(subject.name for subject in lacking if isinstance(subject, Identifier))]


# ---- what has two receivers ------------------------------------------------------------------------------------------


def _twice(entries: Sequence[_Entry]) -> tuple[list[Twice], int]:
    """Find pairs that both select a message.

    Returns: them, and how many pairs were not looked at.
    """
    pairs = [
        Twice((key, next_key), entry.messages[0])
        for entry in entries
        for key, next_key in itertools.pairwise(entry.keys if len(entry.destinations) == 1 else ())  # of one text
    ]
    sets = _Sets(entries)
    neighbours: dict[str, int] = {}  # the entries of each destination
    reached_by: list[list[int]] = [[] for _ in entries]  # for each place the later entries that select its messages
    for place, entry in enumerate(entries):
        for destination in entry.destinations:
            neighbours[destination] = neighbours.get(destination, 0) | 1 << place
        for before in _places(sets.reached(entry) & (1 << place) - 1):
            reached_by[before].append(place)
    looked = left = hard = 0
    for place, entry in enumerate(entries):
        later = functools.reduce(operator.or_, [neighbours[destination] for destination in entry.destinations])
        later &= sets.meeting(entry) & -(2 << place)
        shared = later & (sets.reached(entry) | sets.bits(reached_by[place]))
        later &= ~shared
        asked = {*itertools.islice(_places(later), max(MAX_PAIRS - looked, 0))}
        looked += later.bit_count()
        left += later.bit_count() - len(asked)
        for partner in sorted([*_places(shared), *asked]):
            second = entries[partner]
            if partner in asked:
                both = _both(entry, second) if hard < _HARD else Witness(None, "not tried")
                hard += bool(both.reason)
                left += bool(both.reason)
                message = both.message
            else:
                own = filter(second.matches, entry.messages)
                message = next(itertools.chain(own, filter(entry.matches, second.messages)))
            if message is not None:
                pairs.append(Twice((entry.keys[0], second.keys[0]), message))
    return pairs, left


def _both(first: _Entry, second: _Entry, *more: Formula) -> Witness:
    """Search for a message that both select."""
    formulas = first.selector.formulas.true, second.selector.formulas.true, *more
    return first.search(formulas, lambda message: first.matches(message) and second.matches(message), second)
