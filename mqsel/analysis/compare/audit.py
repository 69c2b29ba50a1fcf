"""Compares many selectors: which never select, which are equal, and which select all that another selects.

For each selector a few messages that it selects are computed, at the ends of its ranges. Only a selector that selects
all of these can contain it. Such selectors are found by an index of the texts and truth values that selectors require,
and few of them are left for the proof. Where a proof fails, its message rules out other pairs, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple, cast

from mqsel.analysis.compare import Given, Known, contract_of, contradiction_in_words, made, satisfied, search
from mqsel.analysis.compare.contract import PRESENT, Contract
from mqsel.analysis.compare.gaps import Gap, gap_of
from mqsel.analysis.explain import message_code
from mqsel.errors import ArgumentError, SelectorError, as_flag, iterated, shortened
from mqsel.index._reader import has_hash, no_key
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import Identifier
from mqsel.language.selector import as_text
from mqsel.logic.formulas import Any as AnyOf
from mqsel.logic.formulas import Formula, Leaf, leaves
from mqsel.logic.needs import needs
from mqsel.logic.sets import NOTHING, Values
from mqsel.logic.solver import Message, Witness
from mqsel.logic.solver.boxes import Check
from mqsel.machine._stream import Selection
from mqsel.notebook import page, table

MAX_PAIRS = 20_000  # that are looked at for what a missing property does: some ten seconds
_WORK = 20_000  # of one proof, in leaves
_PARTS = 4  # of an OR, each of which has messages
_UNDECIDED = 3  # of one selector, after which no other is tried
_HARD = 20  # pairs that are not decided, each in up to half a second, after which no other is tried


class Never(NamedTuple):
    """A selector that selects nothing, and why."""

    key: str
    reason: str


class Equal(NamedTuple):
    """Selectors that select the same; whether they have one text."""

    keys: tuple[str, ...]
    is_one_text: bool


class Within(NamedTuple):
    """A selector that selects all that others do, and more.

    Attributes:
        key: of the wide one.
        keys: of those within, each of which stands with one wide selector, which is within no other.
    """

    key: str
    keys: tuple[str, ...]


class Missing(NamedTuple):
    """Two selectors that select in common only messages that lack a property, though each selects others.

    Attributes:
        keys: of the two.
        name: of the property.
        message: one that both select.
    """

    keys: tuple[str, str]
    name: str
    message: Message


class Twice(NamedTuple):
    """Two selectors that both select a message."""

    keys: tuple[str, str]
    message: Message


class Audit(NamedTuple):
    """The findings about many selectors.

    Attributes:
        total: how many there are.
        invalid: keys, and why the selector is refused.
        never: those that select nothing.
        equal: those that select the same.
        within: those that select all that others do; of equal ones, the first is named.
        missing: those that overlap by accident; of equal ones, the first is named.
        undecided: keys with a comparison that is not decided.
        pairs_left: pairs that were not compared for `missing` or `twice`, or that are not decided for `twice`.
        gaps: for each destination what no selector there selects.
        twice: pairs that select a message of one destination in common, where each should have one receiver.
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
        destinations: of its keys.
        messages: that it selects.
        gates: for properties, the texts or truth values one of which a message must have.
        needs: properties that it must have.
    """

    def __init__(self, known: Known, keys: list[str], contract: Contract | None) -> None:
        self.known = known
        self.contract = contract
        self.keys = keys
        self.destinations: dict[str, None] = {}
        self.messages: list[Message] = []
        needed = needs(known.normal.true) or {}
        self.gates = {name: points for name, values in needed.items() if (points := _points(values)) is not None}
        self.needs = [name for name, values in needed.items() if not values.null]
        self.matches = known.matches


def audit(
    selectors: Iterable[tuple[str, str] | tuple[str, str, Dialect]],
    *,
    dialect: Dialect | str = IBM_MQ,
    given: Given = None,
    destinations: Mapping[str, str] | None = None,
    once: bool = False,
) -> Audit:
    """Compare many selectors.

    Args:
        selectors: for each a key, a text, and its dialect if it is another than that of the others.
        dialect: how to read the others.
        given: what messages are like, as for `relation`.
        destinations: of keys: what a selector leaves is asked of each of them; without, all are of one.
        once: whether each message should have one receiver: then selectors of one destination that overlap are
            reported.

    Raises: ArgumentError, SelectorError: of the dialect, and of what messages are like.
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
    entries: list[_Entry] = []
    every: dict[str, list[Known]] = {}
    spelled: dict[str, str] = {}
    never: list[Never] = []
    undecided: list[str] = []
    same: list[Equal] = []
    for (text, chosen), keys in texts.items():
        try:
            entry = _Entry(made(text, chosen).spelled(spelled), keys, contract)
        except SelectorError as error:
            invalid += [(key, error) for key in keys]
            continue
        entry.destinations = dict.fromkeys((destinations or {}).get(key, "") for key in keys)
        for one in entry.destinations:
            every.setdefault(one, []).append(entry.known)
        if len(keys) > 1:
            same.append(Equal(tuple(keys), is_one_text=True))
        found = satisfied(entry.known, contract)
        if found.is_none:
            reason = contradiction_in_words(entry.known, contract)
            never += [Never(key, reason) for key in keys]
        elif found.message is None:
            undecided += keys
        else:
            entry.messages = [*_messages(entry, found.message)]
            entries.append(entry)
    groups, within, unsure = _contained(entries)
    equal = [Equal(tuple([key for one in group for key in one.keys]), is_one_text=False) for group in groups]
    repeated = {id(one) for group in groups for one in group[1:]}
    missing, left = _missing([one for one in entries if id(one) not in repeated])
    twice, more_left = _twice(entries) if as_flag("once", once) else ([], 0)
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
        tuple([(one, gap_of(many, contract)) for one, many in every.items()]),
        tuple(twice),
    )


def _found(entry: _Entry, formulas: Iterable[Formula], check: Check, *others: _Entry) -> Witness:
    known = [one.known for one in (entry, *others)]
    return search(entry.contract, known, formulas, check, work=_WORK)


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
    formula = entry.known.normal.true
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
    for name, value in message.items():
        if type(value) is not int:
            continue
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


_INT64 = -(1 << 63), (1 << 63) - 1


# ---- which contains which --------------------------------------------------------------------------------------------


class _Index:
    """Entries by the values of their messages."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.everyone = range(len(entries))
        self.places: dict[tuple[object, ...], list[int]] = {}
        for place, entry in enumerate(entries):
            for name, value in entry.messages[0].items():
                self.places.setdefault((name,), []).append(place)
                if type(value) in (str, bool):
                    self.places.setdefault((name, type(value), value), []).append(place)

    def selected(self, wide: _Entry) -> Sequence[int]:
        """List the entries of which *wide* may select the first message."""
        found: list[Sequence[int]] = [self.everyone]
        for name, points in wide.gates.items():
            lists = [self.places.get((name, type(one), one), []) for one in points]
            found.append([place for one in lists for place in one])
        found += [self.places.get((name,), []) for name in wide.needs]
        return min(found, key=len)


def _contained(entries: Sequence[_Entry]) -> tuple[list[list[_Entry]], list[tuple[_Entry, list[_Entry]]], list[_Entry]]:
    """Find the entries that are equal, and those within another.

    Returns: equal ones; the wide ones, each with those within it; those of which something is not decided.
    """
    index = _Index(entries)
    around: list[set[int]] = [set() for _ in entries]
    widths = [0] * len(entries)
    firsts = [entry.messages[0] for entry in entries]
    places = {id(message): place for place, message in enumerate(firsts)}
    for place, wide in enumerate(entries):
        for message in Selection(wide.known.machine, [firsts[one] for one in index.selected(wide)], True, None):
            inner = places[id(message)]
            if inner != place and all(map(wide.matches, entries[inner].messages)):
                around[inner].add(place)
                widths[place] += 1
    unsure: dict[int, None] = {}
    first = [*range(len(entries))]  # of those that are equal
    within: dict[int, list[int]] = {}
    hard = 0
    for place, entry in enumerate(entries):
        mutual = sorted(one for one in around[place] if one < place and place in around[one] and first[one] == one)
        for one in mutual:
            forth = _is_within(entry, entries[one]) if hard < _HARD else None
            back = forth and _is_within(entries[one], entry)
            if back:
                first[place] = one
                break
            if forth is None or (forth and back is None):
                unsure[place] = None
                hard += 1
    for place, entry in enumerate(entries):
        if first[place] != place:
            continue
        waiting = sorted([one for one in around[place] if first[one] == one], key=lambda one: (-widths[one], one))
        seen, open_ = len(entry.messages), 0
        for one in waiting:
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
    found = search(
        inner.contract,
        (inner.known, wide.known),
        (inner.known.normal.true, wide.known.others),
        lambda message: inner.matches(message) and not wide.matches(message),
        like=inner.messages,
        work=_WORK,
    )
    if found.message is not None:
        inner.messages.append(found.message)
    return None if found.reason else found.message is None


# ---- what a missing property does ------------------------------------------------------------------------------------


def _missing(entries: Sequence[_Entry]) -> tuple[list[Missing], int]:
    """Find pairs that select in common only messages that lack a property.

    Returns: them, and how many pairs were not looked at.
    """
    found: dict[tuple[int, int], Missing] = {}
    looked = left = 0
    for place, entry in enumerate(entries):
        for name in _may_lack(entry.known.normal.true):
            present = Leaf(Identifier(name), PRESENT)
            with_it = _found(entry, (entry.known.normal.true, present), entry.matches).message
            if with_it is None:
                continue  # it asks for messages that lack it
            for other, second in enumerate(entries):
                if other == place or (min(place, other), max(place, other)) in found or second.matches(with_it):
                    continue
                if any(not points & second.gates.get(one, points) for one, points in entry.gates.items()):
                    continue
                looked += 1
                if looked > MAX_PAIRS:
                    left += 1
                    continue
                message = _in_common_without(entry, second, present)
                if message is not None:
                    keys = (entry.keys[0], second.keys[0]) if place < other else (second.keys[0], entry.keys[0])
                    found[min(place, other), max(place, other)] = Missing(keys, name, message)
    return [*found.values()], left


def _in_common_without(first: _Entry, second: _Entry, present: Leaf) -> Message | None:
    """Return a message that both select, if all of those lack a property and not all that the second selects do."""
    message = _both(first, second).message if _both(first, second, present).is_none else None
    if message is None or _found(second, (second.known.normal.true, present), second.matches).message is None:
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
    looked = left = hard = 0
    for place, entry in enumerate(entries):
        for second in entries[place + 1 :]:
            if entry.destinations.keys().isdisjoint(second.destinations):
                continue
            if any(not points & second.gates.get(one, points) for one, points in entry.gates.items()):
                continue
            shared = [*filter(second.matches, entry.messages), *filter(entry.matches, second.messages)]
            if not shared:
                looked += 1
                both = _both(entry, second) if looked <= MAX_PAIRS and hard < _HARD else None
                hard += both is not None and bool(both.reason)
                left += both is None or bool(both.reason)
                shared = [] if both is None or both.message is None else [both.message]
            found += [Twice((entry.keys[0], second.keys[0]), one) for one in shared[:1]]
    return found, left


def _both(first: _Entry, second: _Entry, *more: Formula) -> Witness:
    """Search a message that both select."""
    formulas = first.known.normal.true, second.known.normal.true, *more
    return _found(first, formulas, lambda message: first.matches(message) and second.matches(message), second)
