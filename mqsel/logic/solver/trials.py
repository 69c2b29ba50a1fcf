"""Finds values for the properties of computed tests, or proves that there are none, by trying values.

The values of a property fall into classes that no test tells apart: by their type, by their place beside the constants
of the tests, and by the texts and patterns that these name. Where a value of each class was tried, finding none proves
that there is none. Of arithmetic, functions and numbers of many digits the classes are not known: there finding none
proves nothing. Follows language §5.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from mqsel.errors import UndocumentedError
from mqsel.language.clues import Clues, clues_of, number_in
from mqsel.language.computed import evaluator
from mqsel.language.nodes import Computed, Identifier, Node, unparse, walk
from mqsel.logic.formulas import Relation
from mqsel.logic.intervals import AXES
from mqsel.logic.sets import Texts
from mqsel.logic.solver.automata import ALL_STRINGS, meet_strings, some_strings, unconfirmed
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.logic.solver.domains import ANY_PROPERTY, Domain, is_empty, meet, only
from mqsel.values import Float32, Int8, Int16, Int32, Truth

_COMPARED = 8  # groups of properties that are compared in one step
_NODES = 2  # of tests, that are evaluated in one step
_SAMPLED = 4_000  # messages of simple values, and of any, if all are too many
_ALIKE = 8  # strings of one class, for as many properties that are compared with each other
_SIMPLE = 15  # values that are tried with each other
_EXACT = 1 << 53
_PLAIN = 1 << 20  # below it, eighths compare alike in each type of number
_BITS = {Int8: 8, Int16: 16, Int32: 32, int: 64}
_ENDS = tuple([end for bits in _BITS.values() for end in (-(1 << bits - 1), (1 << bits - 1) - 1)])

Check = Callable[[dict[str, Any]], bool]


class _Group(NamedTuple):
    """Subjects that share properties, what they must be, and relations of them."""

    names: frozenset[str]
    computed: tuple[tuple[Node, Domain], ...]
    related: tuple[Relation, ...]

    @property
    def is_computed(self) -> bool:
        """Whether all of it are computed tests."""
        return not self.related and all(isinstance(root, Computed) for root, _ in self.computed)


def try_out(
    computed: Sequence[tuple[Node, Domain]],
    related: Sequence[Relation],
    domains: Mapping[str, Domain],
    rest: Mapping[str, Any],
    check: Check,
    like: Sequence[Mapping[str, Any]],
    budget: Budget,
) -> dict[str, Any] | None:
    """Find values for the properties of subjects of which some are computed tests; None if there are none.

    Args: as those of `mqsel.logic.solver.boxes.solve`.

    Raises: UndecidedError.
    """
    message = dict(rest)
    budget.spend((len(computed) + len(related)) ** 2 // _COMPARED)
    groups = _groups(computed, related)
    for group in [one for one in groups if one.is_computed]:
        found = _chosen(group, domains, like, budget, lambda _: True)
        if found is None:
            return None
        message.update(found)
    others = [one for one in groups if not one.is_computed]
    if not others:
        if not check(message):
            raise unconfirmed()
        return message
    found = _chosen(_joined(others), domains, like, budget, lambda values: check({**message, **values}))
    return None if found is None else {**message, **found}


def _groups(computed: Sequence[tuple[Node, Domain]], related: Sequence[Relation]) -> list[_Group]:
    """Part what shares no property."""
    found: list[_Group] = []
    parts = [_Group(_names(one[0]), (one,), ()) for one in computed]
    for part in [*parts, *[_Group(_names(one.left) | _names(one.right), (), (one,)) for one in related]]:
        near = [one for one in found if one.names & part.names]
        found = [one for one in found if one not in near]
        found.append(_joined([*near, part]))
    return found


def _joined(groups: Sequence[_Group]) -> _Group:
    names, computed, related = zip(*groups, strict=True)
    return _Group(frozenset().union(*names), sum(computed, ()), sum(related, ()))


def _names(root: Node) -> frozenset[str]:
    read = root.identifiers if isinstance(root, Computed) else walk(root)
    return frozenset([one.name for one in read if isinstance(one, Identifier)])


def _chosen(
    group: _Group, domains: Mapping[str, Domain], like: Sequence[Mapping[str, Any]], budget: Budget, check: Check
) -> dict[str, Any] | None:
    """Choose values of which the tests of a group are what they must be; None if there are none.

    Raises: UndecidedError: none was found, and there may be some.
    """
    values, are_all = _values(group, domains, like, budget)
    tests = [
        ([one.name for one in root.identifiers], evaluator(root), domain)
        for root, domain in group.computed
        if isinstance(root, Computed)
    ]
    of_try = 1 + sum(len(walk(root.expression)) for root, _ in group.computed if isinstance(root, Computed)) // _NODES
    for names, evaluate, domain in [test for test in tests if len({*test[0]}) == 1]:
        name = names[0]
        budget.spend(len(values[name]) * of_try)
        results = [_is_in(domain, evaluate, [one] * len(names)) for one in values[name]]
        are_all = are_all and None not in results
        values[name] = [one for one, result in zip(values[name], results, strict=True) if result]
    tests = [test for test in tests if len({*test[0]}) != 1]
    order = [*values]
    of_try += len(order) // _NODES
    messages, are_few = _products([values[name] for name in order], budget.left // 2 // of_try)
    for chosen in messages:
        budget.spend(of_try)
        found = dict(zip(order, chosen, strict=True))
        results = [_is_in(domain, evaluate, [found[name] for name in names]) for names, evaluate, domain in tests]
        are_all = are_all and None not in results
        if all(results) and check(found):
            return found
    if are_all and are_few:
        return None
    shown = [unparse(root.expression, root.dialect) for root, _ in group.computed if isinstance(root, Computed)]
    raise UndecidedError(f"the search tried only some values for {', '.join(shown)}, and none was an answer")


def _is_in(domain: Domain, evaluate: Callable[[Sequence[Any]], Truth], values: Sequence[Any]) -> bool | None:
    """Report whether a test is of some values what it must be; None where that is undocumented."""
    try:
        truth = evaluate(values)
    except UndocumentedError:
        return None
    return domain.null if truth is Truth.UNKNOWN else domain.error if truth is Truth.ERR else domain.booleans[truth]


def _products(choices: Sequence[Sequence[Any]], most: int) -> tuple[Iterable[Sequence[Any]], bool]:
    """Return one of each choice in all ways, or at random in fewer; with whether these are all.

    Args:
        choices: what there is to choose from.
        most: of the ways, that there are steps for.
    """
    if math.prod(map(len, choices)) <= most:
        return itertools.product(*choices), True
    random = Random(0)  # noqa: S311 (the same values each time)
    sampled = min(most // 4, _SAMPLED)
    few = itertools.islice(itertools.product(*[range(min(len(one), _SIMPLE)) for one in choices]), sampled)
    simple = ([one[at] for one, at in zip(choices, places, strict=True)] for places in sorted(few, key=sum))
    drawn = ([random.choice(values) for values in choices] for _ in range(sampled))
    return itertools.chain(simple, drawn), False


# ---- values ----------------------------------------------------------------------------------------------------------


def _values(
    group: _Group, domains: Mapping[str, Domain], like: Sequence[Mapping[str, Any]], budget: Budget
) -> tuple[dict[str, list[Any]], bool]:
    """Return values of each property of a group, simple ones first, with whether each class has one."""
    own = {name: domains.get(name, ANY_PROPERTY) for name in sorted(group.names)}
    roots = [*[root for root, _ in group.computed], *[side for one in group.related for side in one[:2]]]
    clues = clues_of(
        roots, [text for one in own.values() for text in (*(one.strings.points or ()), *one.strings.others)]
    )
    ends = {sign * end for one in own.values() for end in _ends(one) for sign in (1, -1)}  # a test may have a sign
    is_known = clues.is_known and _are_apart(clues.numbers, ends, len(own))
    clues = clues._replace(numbers={*clues.numbers, *ends}, is_known=is_known or (clues.is_constant and not own))
    constants = len(clues.numbers) + len(clues.texts) + len(clues.patterns)
    budget.spend(_OF_CONSTANT * constants)
    strings, is_whole = _strings([*own.values()], clues, budget)
    numbers = _numbers(clues.numbers, are_many=len(own) < 2)
    encoded = [text.encode() for text in strings if text.isascii()]
    bytes_ = [*_BYTES, *[one for domain in own.values() for one in domain.bytes.points]]
    common = [*numbers, *strings, True, False, *encoded, *bytes_]
    shared = {(type(one), repr(one)): one for one in common}
    budget.spend(_OF_VALUE * len(shared) * len(own))
    sets = [(one, only(one)) for one in shared.values()]
    found: dict[str, list[Any]] = {}
    for name, domain in own.items():
        special = {(type(one), repr(one)): one for one in (None, *[message.get(name) for message in like])}
        tried = itertools.chain([(one, only(one)) for one in special.values()], sets)
        fitting = (one for one, values in tried if not is_empty(meet(domain, values), budget))
        found[name] = [*{(type(one), repr(one)): one for one in fitting}.values()]
    return found, clues.is_known and is_whole


_OF_CONSTANT = 60  # steps for a constant, of which numbers of each type are made
_OF_VALUE = 3  # steps for a value of one property
_BYTES = (b"\x00", b"\x01", b"\xff")


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _ends(domain: Domain) -> Iterator[float]:
    """Return where the intervals of a property end that are not all numbers of their type."""
    lanes = domain.integers, domain.floats64.intervals, domain.floats32.intervals
    for axis, intervals in zip((AXES["integer"], AXES["float64"], AXES["float32"]), lanes, strict=True):
        yield from (end for interval in intervals for end in interval if end not in (axis.first, axis.last))


def _are_apart(numbers: Iterable[float], ends: Iterable[float], names: int) -> bool:
    """Report whether the numbers beside some are those of each type, and alike where two properties are compared.

    Beyond 2^53 a double is equal to integers that are no neighbours of it.
    """
    if names < 2:
        return all(isinstance(one, int) or abs(one) <= _EXACT for one in numbers)
    near = (one for one in (*numbers, *ends))
    return names == 2 and all(_is_plain(one) or any(map(_is_plain, _beside(one))) for one in near)


def _is_plain(number: float) -> bool:
    return abs(number) < _PLAIN and number * 8 == math.floor(number * 8)


def _beside(number: float) -> Iterator[float]:
    """Return the neighbours of a number among doubles, and among floats if it is one."""
    for axis in (AXES["float64"], AXES["float32"]):
        if axis.around(number) == (number, number) and axis.first < number < axis.last:
            yield axis.before(number)
            yield axis.after(number)


def _around(number: float) -> Iterator[float]:
    """Return a number, if it has a type, and its neighbours in each."""
    for axis in AXES.values():
        for one in {max(axis.first, min(axis.last, end)) for end in axis.around(number)}:
            yield one
            if one > axis.first:
                yield axis.before(one)
            if one < axis.last:
                yield axis.after(one)


def _numbers(constants: Iterable[float], *, are_many: bool) -> Iterator[float]:
    """Return numbers of each type at, before, between and behind some; neighbours of these where they may be many."""
    order = sorted(filter(math.isfinite, {*constants}))
    near = [one for constant in order for one in _around(constant)] if are_many else []
    between = [(low + high) / 2 for low, high in itertools.pairwise(order)]
    between += [(low + middle) / 2 for low, middle in zip(order, between, strict=False)]
    steps = [one + step for one in order for step in (1, -1)]
    groups = (order, steps, between, near, _ENDS)
    points = [*dict.fromkeys(one for many in groups for one in sorted(many, key=abs) if math.isfinite(one))]
    whole = [int(one) for one in points if one == math.floor(one) and -(1 << 63) <= one < 1 << 63]
    yield from whole
    yield from [float(one) for one in points]
    yield from [
        -0.0,
        math.nan,
        math.inf,
        -math.inf,
        Float32(-0.0),
        Float32(math.nan),
        Float32(math.inf),
        Float32(-math.inf),
    ]
    yield from [Float32(one) for one in points]
    for kind, bits in _BITS.items():
        yield from [kind(one) for one in whole if -(1 << bits - 1) <= one < 1 << bits - 1]


# ---- texts -----------------------------------------------------------------------------------------------------------


def _strings(domains: Sequence[Domain], clues: Clues, budget: Budget) -> tuple[list[str], bool]:
    """Return strings of properties, with whether each class has as many as there are properties."""
    alike = min(len(domains), _ALIKE)
    texts = [*dict.fromkeys(clues.texts)]
    found = [*texts]
    are_special = clues.orders_texts or clues.parts_lines or clues.counts_bytes or clues.reads_texts
    with_patterns = sum(bool(one.strings.likes or one.strings.unlikes) for one in domains)
    is_whole = (
        alike == len(domains) and len(texts) <= _TEXTS and with_patterns < 2 and not (with_patterns and are_special)
    )
    # Byte strings match patterns, too, in some products: those of a property may be others than its strings.
    for strings in dict.fromkeys([*[domain.strings for domain in domains], ALL_STRINGS]):
        ways = [meet_strings(strings, Texts(frozenset(texts), frozenset(), negated=True))]
        for pattern in clues.patterns:
            sides = [Texts(frozenset(), frozenset((pattern,)), negated) for negated in (False, True)]
            ways = [meet_strings(one, side) for one in ways for side in sides]
        for way in ways:
            try:
                found += some_strings(way, alike, budget)
            except UndecidedError:
                budget.spend(0)
                is_whole = False
    if clues.parts_lines:
        broken = (text[:at] + "\n" + text[at:] for text in found if len(text) < _TEXTS for at in range(len(text) + 1))
        found += ["\n" * count for count in range(1, alike + 2)] + [*broken]
    if clues.orders_texts:
        is_whole = is_whole and not any("\0" in text for text in texts)
        found += [text + "\0" * count for text in ("", *texts) for count in range(alike + 1)]
    if clues.reads_texts:
        is_whole = is_whole and sum(number_in(text) is not None for text in texts) < 2
        numbers = _numbers(clues.numbers, are_many=False)
        found += [text for one in numbers if type(one) in (int, float) for text in _spelled(one)]
    return found, is_whole


_TEXTS = 50


def _spelled(number: float) -> Iterator[str]:
    """Return texts that are read as a number, which is a whole one in some."""
    if not math.isfinite(number):
        yield from ("NaN", " NaN", "Infinity", "-Infinity", "true", "TRUE", "True")
        return
    for sign in ("", "-") if number == 0 else ("-" * (number < 0),):
        digits = f"{abs(number)!r}"
        yield from (sign + digits, f"{sign}0{digits}", f"{sign}00{digits}")
