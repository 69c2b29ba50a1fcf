"""Finds a message of which very many formulas are true, one property after the other.

The sets that formulas have of one property divide its values into cells: all values of a cell are in the same sets, so
one value of each cell is tried. What remains for it falls apart into formulas without common properties, which are
searched apart. A search by `find` looks at every formula again after each choice; of a thousand selectors, each of
which excludes a part of all messages, this one looks at those that the choice concerns. Follows language §5.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any as AnyValue
from typing import NamedTuple

from mqsel.language.nodes import Identifier, walk
from mqsel.logic.formulas import ALWAYS, NEVER, All, Any, Formula, Leaf, Relation, all_of, any_of, fold, leaves
from mqsel.logic.intervals import DOUBLE, FLOAT, INT64, Axis, Intervals
from mqsel.logic.sets import NOTHING, PROPERTY, Pattern, Values, has_value, outside
from mqsel.logic.solver import Message, Witness, find, smaller
from mqsel.logic.solver.automata import LETTERS, beyond
from mqsel.logic.solver.boxes import Check
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.logic.solver.domains import ANY_PROPERTY, Domain, is_empty, meet, nearest, nearest_float, some_values
from mqsel.values import Float32

_DEPTH = 400  # properties of one part
_FEW = 20  # patterns of one property
_OF_LEAF = 6  # steps for a leaf that is looked at
_TESTED = 4  # properties of a message that the matchers read in one step


class _Cell(NamedTuple):
    """Values of one property that are in the same sets.

    Attributes:
        value: one of them.
        inside: the numbers of the sets, as bits.
    """

    value: AnyValue
    inside: int


def find_in_cells(formulas: Iterable[Formula], check: Check, budget: Budget) -> Witness:
    """Find a message.

    Args:
        formulas: all of them must be true of it.
        check: runs the matchers.
        budget: pays for all of it.

    Returns: as `find`.
    """
    clauses: list[Formula] = []
    for one in formulas:
        clauses += one.parts if isinstance(one, All) else (one,)
    try:
        message = _search(clauses, budget, {}, check)
    except UndecidedError as error:
        return Witness(None, str(error))
    if message is None:
        return Witness(None)
    if not check(message):
        # Whatever is wrong with the value of one cell is seen by the search that knows no cells.
        return find(clauses, check, budget.share(), like=[message])
    of_check = 1 + len(message) // _TESTED

    def passes(smaller_message: Message) -> bool:
        budget.spend(of_check)
        return check(smaller_message)

    return Witness(smaller(message, passes))


def _search(clauses: Sequence[Formula], budget: Budget, chosen: Message, check: Check | None) -> Message | None:
    """Return a message of which all clauses are true; None if there is none.

    Args:
        chosen: what other properties are.
        check: runs the matchers, of a message with these; None where still others are not chosen.

    Raises: UndecidedError.
    """
    if NEVER in clauses:
        return None
    if len(chosen) > _DEPTH:
        raise UndecidedError(f"the search reached its limit of {_DEPTH} properties")
    message: Message = {}
    parts = sorted(_apart(clauses, budget), key=lambda part: (_computes(part), len(part)))
    for number, part in enumerate(parts, 1):
        found = _search_part(part, budget, {**chosen, **message}, check if number == len(parts) else None)
        if found is None:
            return None
        message |= found
    return message


def _search_part(clauses: list[Formula], budget: Budget, chosen: Message, check: Check | None) -> Message | None:
    budget.spend(_OF_LEAF * sum(len(leaves(clause)) for clause in clauses))
    mentions: dict[str, dict[Values, int]] = {}
    for clause in clauses:
        for one in leaves(clause):
            if isinstance(one, Leaf) and isinstance(one.subject, Identifier):
                mentions.setdefault(one.subject.name, {}).setdefault(one.values, 0)
                mentions[one.subject.name][one.values] += 1
    computed = {name for clause in clauses for one in leaves(clause) for name in _computed(one)}
    free = [name for name in mentions if name not in computed]
    if not free:
        # Properties that are computed with: by intervals that are halved.
        found = find(
            clauses,
            lambda message: check({**chosen, **message}) if check else computed <= {*message},
            budget.share(),
        )
        if found.reason:
            raise UndecidedError(found.reason)
        return found.message
    # Patterns last: what is known of other properties leaves few of them.
    patterns = {one: sum(len(values.strings.patterns) for values in mentions[one]) > _FEW for one in free}
    name = max(free, key=lambda one: (not patterns[one], sum(mentions[one].values())))
    if not all(_may_be(one, clauses, budget) for one in free if patterns[one]):
        return None
    sets = [*mentions[name]]
    numbers = {values: number for number, values in enumerate(sets)}
    touched, rest = [], []
    must: dict[Values, None] = {}  # sets that have the property in any case
    for clause in clauses:
        bits, quick = _bits(clause, name, numbers)
        if bits and bits == quick and isinstance(clause, Leaf):
            must[clause.values] = None
        elif bits:
            touched.append((clause, quick))
        else:
            rest.append(clause)
    unsure: UndecidedError | None = None
    for cell in _cells(sets, [*must], budget):
        if isinstance(cell, UndecidedError):
            unsure = cell
            continue
        budget.spend(1 + len(touched) // 8)
        waiting = [clause for clause, quick in touched if not quick & cell.inside]
        budget.spend(len(waiting))
        left = [_given(clause, name, numbers, cell.inside) for clause in waiting]
        if NEVER in left:
            continue
        try:
            remaining = [*[one for one in left if one is not ALWAYS], *rest]
            found_rest = _search(remaining, budget, {**chosen, name: cell.value}, check)
        except UndecidedError as error:  # another cell may have a message
            budget.spend(0)
            unsure = error
            continue
        if found_rest is not None:
            return {name: cell.value, **found_rest}
    if unsure is not None:
        raise unsure
    return None


def _may_be(name: str, clauses: Iterable[Formula], budget: Budget) -> bool:
    """Report whether a property may have a value in all sets that it must be in: True where that is not decided."""
    domain = ANY_PROPERTY
    for one in clauses:
        if isinstance(one, Leaf) and isinstance(one.subject, Identifier) and one.subject.name == name:
            budget.spend(2)
            domain = meet(domain, one.values)
    with suppress(UndecidedError):
        return not is_empty(domain, budget)
    return True


def _computes(clauses: Iterable[Formula]) -> bool:
    return any(_computed(one) for clause in clauses for one in leaves(clause))


def _names(one: Leaf | Relation) -> list[str]:
    """List the properties that a leaf or a relation reads."""
    sides = one[:2] if isinstance(one, Relation) else one[:1]
    return [node.name for side in sides for node in walk(side) if isinstance(node, Identifier)]


def _computed(one: Leaf | Relation) -> list[str]:
    """List the properties that are computed with, or compared with each other."""
    return [] if isinstance(one, Leaf) and isinstance(one.subject, Identifier) else _names(one)


def _apart(clauses: Sequence[Formula], budget: Budget) -> list[list[Formula]]:
    """Divide clauses into those that have no property in common."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = name = parent[parent[name]]
        return name

    firsts = []
    for clause in clauses:
        budget.spend(1)
        names = [name for one in leaves(clause) for name in _names(one)]
        for other in names[1:]:
            parent[root(other)] = root(names[0])
        firsts.append(names[0] if names else "")
    parts: dict[str, list[Formula]] = {}
    for clause, first in zip(clauses, firsts, strict=True):
        parts.setdefault(root(first), []).append(clause)
    return [*parts.values()]


def _bits(clause: Formula, name: str, numbers: dict[Values, int]) -> tuple[int, int]:
    """Return which sets a clause has of a property, as bits; and those of which one makes all of it true."""

    def own(one: Formula) -> int:
        is_own = isinstance(one, Leaf) and isinstance(one.subject, Identifier) and one.subject.name == name
        return 1 << numbers[one.values] if is_own else 0  # type: ignore[union-attr]

    every = 0
    for one in leaves(clause):
        every |= own(one)
    quick = own(clause)
    for part in clause.parts if isinstance(clause, Any) else ():
        quick |= own(part)
    return every, quick


def _given(clause: Formula, name: str, numbers: dict[Values, int], inside: int) -> Formula:
    """Return what remains of a clause where a property is in some of its sets and in no other."""

    def known(one: Leaf | Relation) -> Formula:
        if isinstance(one, Leaf) and isinstance(one.subject, Identifier) and one.subject.name == name:
            return ALWAYS if inside >> numbers[one.values] & 1 else NEVER
        return one

    return fold(clause, known, all_of, any_of)


# ---- cells -----------------------------------------------------------------------------------------------------------


def _cells(sets: Sequence[Values], must: Sequence[Values], budget: Budget) -> Iterator[_Cell | UndecidedError]:
    """Yield a value of each cell of a property within all sets that it must be in, simple ones first.

    Yields: last an error, if there may be other cells.

    Raises: UndecidedError: all work is done.
    """
    seen: set[int] = set()
    try:
        for value in _candidates(sets, must, budget):
            budget.spend(1 + len(must) // 8)
            if not all(has_value(one, value) for one in must):
                continue
            budget.spend(1 + len(sets) // 8)
            inside = 0
            for number, values in enumerate(sets):
                if has_value(values, value):
                    inside |= 1 << number
            if inside not in seen:
                seen.add(inside)
                yield _Cell(value, inside)
    except UndecidedError as error:
        budget.spend(0)
        yield error


def _candidates(sets: Sequence[Values], must: Sequence[Values], budget: Budget) -> Iterator[AnyValue]:
    """Yield values of which at least one is in each cell; last the texts of which it takes work to find them.

    Raises: UndecidedError.
    """
    yield None
    yield from _numbers([one.integers for one in sets], INT64, nearest)
    texts = [one.strings for one in sets]
    points: frozenset[str] = frozenset().union(*[one.points for one in texts])  # type: ignore[arg-type]
    yield from sorted(points, key=lambda one: (len(one), one))
    patterns = [*dict.fromkeys(itertools.chain.from_iterable(one.patterns for one in texts))]
    yield from _plain(patterns)
    yield from (True, False)
    yield from _numbers([one.floats64.intervals for one in sets], DOUBLE, nearest)
    floats = _numbers([one.floats32.intervals for one in sets], FLOAT, nearest_float)
    yield from map(Float32, floats)
    yield from (math.nan, Float32(math.nan))
    listed: frozenset[bytes] = frozenset().union(*[one.bytes.points for one in sets])  # type: ignore[arg-type]
    yield from sorted(listed)
    other = PROPERTY.bytes._replace(points=listed)
    yield from some_values(meet(ANY_PROPERTY, NOTHING._replace(bytes=other)), budget)
    yield from _strings(points, [one for one in sets if one not in must], must, budget)


def _plain(patterns: Iterable[Pattern]) -> Iterator[str]:
    """Yield texts that few patterns match: those of no pattern, and for each pattern one that it matches."""
    own = {one for pattern in patterns for segment in pattern for one in segment if one is not None}
    fresh = next((one for one in LETTERS if one not in own), None) or beyond(own)
    yield from (LETTERS[0], fresh, fresh * 2, "", fresh * 20)
    for pattern in patterns:
        parts = ["".join([fresh if one is None else one for one in segment]) for segment in pattern]
        yield from dict.fromkeys((fresh.join(parts), "".join(parts)))


def _numbers(many: Iterable[Intervals], axis: Axis, between: Callable[[float, float], float]) -> Iterator[float]:
    starts = {axis.first}
    for intervals in many:
        for low, high in intervals:
            starts.add(low)
            if high < axis.last:
                starts.add(axis.after(high))
    rising = sorted(starts)
    stops = [*[axis.before(one) for one in rising[1:]], axis.last]
    found = [between(low, high) for low, high in zip(rising, stops, strict=True)]
    yield from sorted(found, key=abs)


def _strings(points: frozenset[str], sets: Sequence[Values], must: Sequence[Values], budget: Budget) -> Iterator[str]:
    """Yield texts that are none of some points, one of each cell."""
    part = meet(ANY_PROPERTY, NOTHING._replace(strings=PROPERTY.strings._replace(points=points)))
    for values in must:
        part = meet(part, values)
    parts: list[Domain] = [] if is_empty(part, budget) else [part]
    count = sum(len(one.strings.patterns) for one in must)
    for patterns in dict.fromkeys(one.strings.patterns for one in sets if one.strings.patterns):
        like = NOTHING._replace(strings=NOTHING.strings._replace(patterns=patterns))
        halves = [meet(part, half) for part in parts for half in (like, outside(like, PROPERTY))]
        count += len(patterns)
        budget.spend((800 + 50 * count) * len(halves))  # of few patterns each takes two milliseconds
        parts = [half for half in halves if not is_empty(half, budget)]
    for part in parts:
        yield from some_values(part, budget)
