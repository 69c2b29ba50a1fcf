"""Finds values for properties that are computed with, or compared with each other.

Each property is in one lane at a time. Its texts, truth values and byte strings are tried out; its numbers are halved
until what is computed from an interval cannot be what is wanted, or one of its ends is an answer. Computing with
intervals follows what the machine does, rounding and wrapping included, and gives at least what can come out: where
nothing is left, nothing was. Follows language §5.

Sixteen of the 150 selectors from the wild that some dialect takes compare two properties or compute. Of 1,728 pairs of
one that computes and any, all are decided, in 0.3 seconds; without halving 146 are not, and it takes 67 seconds.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from mqsel.language.nodes import Identifier, Node, walk
from mqsel.logic.formulas import Compared, Relation
from mqsel.logic.intervals import AXES, INT32, Result, compute, has_number, hull, overlap, rounded
from mqsel.logic.solver.automata import unconfirmed
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.logic.solver.domains import ANY_PROPERTY, NONE, Domain, meet_texts, nearest, nearest_float, some_values
from mqsel.values import Float32, Int32

MAX_BOXES = 300  # of one choice of lanes

Check = Callable[[dict[str, Any]], bool]


def solve(
    domains: Mapping[str, Domain],
    computed: Sequence[tuple[Node, Domain]],
    related: Sequence[Relation],
    rest: Mapping[str, Any],
    check: Check,
    like: Sequence[Mapping[str, Any]],
    budget: Budget,
) -> dict[str, Any] | None:
    """Find values for the properties of *computed* and *related*; None if there are none.

    Args:
        domains: what each property may be; one that is not listed, anything.
        computed: arithmetic, and what it must be.
        rest: the values of other properties.
        check: tells whether a message is an answer.
        like: messages whose values are tried first.
        budget: pays for the work.

    Raises: UndecidedError.
    """
    order = _by_completion(computed, related)
    of_box = _steps_of(computed, related)
    for other in like:
        message = {**rest, **{name: other.get(name) for name in order}}
        if check(message):
            return message
    undecided: UndecidedError | None = None
    stack: list[tuple[Result, ...]] = [()]
    while stack:
        sides = dict(zip(order, stack.pop(), strict=False))
        budget.spend(of_box)
        if not _is_possible(sides, computed, related):
            continue
        if len(sides) < len(order):
            below = _sides(domains.get(order[len(sides)], ANY_PROPERTY))
            stack += [(*sides.values(), one) for one in reversed(below)]
            continue
        try:
            found = _in_lanes(sides, domains, computed, related, rest, check, budget)
        except UndecidedError as error:
            undecided = error
            continue
        if found is not None:
            return found
    if undecided is not None:
        raise undecided
    return None


def _steps_of(computed: Sequence[tuple[Node, Domain]], related: Sequence[Relation]) -> int:
    """Return how many steps it takes to compute what a box comes to."""
    roots = [*[root for root, _ in computed], *[side for pair in related for side in pair[:2]]]
    return sum(4 + 2 * len(walk(root)) for root in roots)


def _by_completion(computed: Sequence[tuple[Node, Domain]], related: Sequence[Relation]) -> list[str]:
    """Order names so that what reads few of them is known early."""
    reads = [{one.name for one in walk(root) if type(one) is Identifier} for root, _ in computed]
    reads += [{one.name for root in pair[:2] for one in walk(root) if type(one) is Identifier} for pair in related]
    return [*dict.fromkeys(name for one in sorted(reads, key=len) for name in sorted(one))]


def _sides(domain: Domain) -> list[Result]:
    """List the lanes of a property that has any value."""
    found = [Result("integer", domain.integers)] if domain.integers else []
    found += [
        Result(lane, floats.intervals, floats.nan)
        for lane, floats in (("float64", domain.floats64), ("float32", domain.floats32))
        if floats.intervals or floats.nan
    ]
    if domain.strings.points is None or domain.strings.points:
        found.append(Result("string"))
    if any(domain.booleans):
        found.append(Result("boolean"))
    if domain.bytes.negated or domain.bytes.points:
        found.append(Result("bytes"))
    return [*found, Result("null")] if domain.null else found


def _is_possible(
    sides: Mapping[str, Result], computed: Sequence[tuple[Node, Domain]], related: Sequence[Relation]
) -> bool:
    """Report whether numbers of these intervals may be an answer; what reads another property is left out."""
    known: dict[int, Result | None] = {}
    for root, domain in computed:
        result = compute(root, sides, known)
        if result is not None and not _may_be(result, domain):
            return False
    orders: list[tuple[int, int, bool]] = []
    for left, right, outcomes in related:
        first, second = compute(left, sides, known), compute(right, sides, known)
        if first is None or second is None:
            continue
        wanted = _outcomes_of(first, second) & outcomes
        if not wanted:
            return False
        is_exact = first.lane == second.lane  # a long and a double may be equal that are not
        for outcome, pair in ((Compared.LESS, (left, right)), (Compared.GREATER, (right, left))):
            if wanted == outcome or (is_exact and not wanted & ~(outcome | Compared.EQUAL)):
                orders.append((id(pair[0]), id(pair[1]), wanted == outcome))
    return len(orders) < 2 or not _is_circular(orders)


def _is_circular(orders: Sequence[tuple[int, int, bool]]) -> bool:
    """Report whether something is less than itself.

    Args:
        orders: of each, what is not greater, what is not less, and whether it is less. What is less after a
            promotion, is less: rounding keeps the order.
    """
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for less, greater, _ in orders:
        above.setdefault(less, []).append(greater)
        below.setdefault(greater, []).append(less)
    # Operands are in one circle if each is reached from the other: against the order, from the last that was left.
    circle: dict[int, int] = {}
    for first in reversed(_in_the_order_left(above)):
        waiting = [first]
        while waiting:
            at = waiting.pop()
            if at not in circle:
                circle[at] = first
                waiting += below.get(at, ())
    return any(is_less and circle[less] == circle[greater] for less, greater, is_less in orders)


def _in_the_order_left(above: Mapping[int, list[int]]) -> list[int]:
    """List operands so that each comes after all that a walk upwards from it reaches first."""
    left: list[int] = []
    seen: set[int] = set()
    for first in above:
        stack = [(first, False)]
        while stack:
            at, is_done = stack.pop()
            if is_done:
                left.append(at)
            elif at not in seen:
                seen.add(at)
                stack.append((at, True))
                stack += [(one, False) for one in above.get(at, ())]
    return left


def _may_be(result: Result, domain: Domain) -> bool:
    if result.error and domain.error:
        return True
    match result.lane:
        case "null":
            return domain.null
        case "integer":
            return bool(overlap(result.numbers, domain.integers))
        case "float32" | "float64":
            floats = domain.floats32 if result.lane == "float32" else domain.floats64
            return bool(overlap(result.numbers, floats.intervals)) or (result.nan and floats.nan)
    return domain.poison


def _outcomes_of(left: Result, right: Result) -> Compared:
    """List what comparing two operands may give, and more perhaps."""
    found = Compared.ERROR if left.error or right.error else Compared(0)
    if not left.is_possible or not right.is_possible:
        return found
    lanes = left.lane, right.lane
    if "null" in lanes:
        return found | Compared.NULL
    if not {*lanes} <= AXES.keys():
        if lanes[0] == lanes[1] and lanes[0] != "poison":
            return found | Compared.SAME | Compared.DIFFERENT
        return found | Compared.MISMATCH
    if left.nan or right.nan:
        found |= Compared.UNORDERED
    if not left.numbers or not right.numbers:
        return found
    sides = [hull(left), hull(right)]
    if {*lanes} != {"integer"}:
        lane = "float64" if "float64" in lanes else "float32"
        sides = [(rounded(low, lane), rounded(high, lane)) for low, high in sides]
    (low, high), (other_low, other_high) = sides
    if low < other_high:
        found |= Compared.LESS
    if high > other_low:
        found |= Compared.GREATER
    if max(low, other_low) <= min(high, other_high):
        found |= Compared.EQUAL
    return found


# ---- one choice of lanes ---------------------------------------------------------------------------------------------


def _in_lanes(
    sides: Mapping[str, Result],
    domains: Mapping[str, Domain],
    computed: Sequence[tuple[Node, Domain]],
    related: Sequence[Relation],
    rest: Mapping[str, Any],
    check: Check,
    budget: Budget,
) -> dict[str, Any] | None:
    fixed = _without_numbers(sides, domains, related, budget)
    if fixed is None:
        return None
    message = {**rest, **{name: None for name, side in sides.items() if side.lane == "null"}, **fixed}
    whole = {name: side for name, side in sides.items() if side.lane in AXES}
    if not whole:
        if check(message):
            return message
        raise unconfirmed()
    # Where the whole is too large to be halved to the end: one number after the other, the rest being small.
    of_box = _steps_of(computed, related)
    for box in itertools.chain([whole], (_line(whole, name) for name in whole if len(whole) > 1)):
        boxes = deque([box])
        for number in range(MAX_BOXES):
            if not boxes:
                break
            # In turns the latest, which is small and near to zero, and the oldest, which is large.
            part = boxes.popleft() if number % 2 else boxes.pop()
            budget.spend(of_box)
            if not _is_possible({**sides, **part}, computed, related):
                continue
            wide = _widest(part)
            for values in itertools.chain(() if number else _small(part), _candidates(part, is_point=wide is None)):
                budget.spend(len(part) // 2)
                if check({**message, **values}):
                    return {**message, **values}
            if wide is not None:
                halves = sorted(_halves(part[wide]), key=_distance, reverse=True)
                boxes += [{**part, wide: half} for half in halves]
        if box is whole and not boxes:
            return None
    names = ", ".join(whole)
    raise UndecidedError(f"the search over the values of {names} reached its limit of {MAX_BOXES:,} intervals")


def _line(box: Mapping[str, Result], name: str) -> dict[str, Result]:
    """Leave one property its numbers, and of the others one number each."""
    ends = {one: _near(side) for one, side in box.items() if one != name and side.numbers}
    return {**box, **{one: Result(box[one].lane, ((end, end),)) for one, end in ends.items()}}


def _without_numbers(
    sides: Mapping[str, Result], domains: Mapping[str, Domain], related: Sequence[Relation], budget: Budget
) -> dict[str, Any] | None:
    """Choose texts, truth values and byte strings that are equal, or differ, as is wanted; None if there are none."""
    may_be = {
        name: _LANE[side.lane](domains.get(name, ANY_PROPERTY)) for name, side in sides.items() if side.lane in _LANE
    }
    first = {name: name for name in may_be}  # of those that are equal
    differ: list[tuple[str, str]] = []
    for left, right, outcomes in related:
        if type(left) is Identifier and type(right) is Identifier and left.name in may_be and right.name in may_be:
            wanted = outcomes & (Compared.SAME | Compared.DIFFERENT)
            if sides[left.name].lane != sides[right.name].lane:
                continue
            if wanted == Compared.DIFFERENT:
                differ.append((left.name, right.name))
            elif wanted == Compared.SAME and first[left.name] != first[right.name]:
                kept, gone = first[left.name], first[right.name]
                may_be[kept] = meet_texts(may_be[kept], may_be[gone])
                first = {name: kept if one == gone else one for name, one in first.items()}
    apart = {frozenset((first[left], first[right])) for left, right in differ}
    if any(len(pair) == 1 for pair in apart):
        return None
    # Each differs from fewer than all others: of as many values there is one to choose, whatever those are.
    names = [*dict.fromkeys(first.values())]
    budget.spend(len(names) ** 2)
    choices = [[*some_values(may_be[name], budget, len(names))] for name in names]
    places = [0] if names else []
    while places:
        budget.spend(1 + len(places))
        chosen = [values[place] for values, place in zip(choices, places, strict=False) if place < len(values)]
        if len(chosen) < len(places):  # no choice is left for the last
            places.pop()
            if places:
                places[-1] += 1
            continue
        fits = not any(
            frozenset((one, names[len(chosen) - 1])) in apart and value == chosen[-1]
            for one, value in zip(names, chosen[:-1], strict=False)
        )
        if not fits:
            places[-1] += 1
        elif len(chosen) < len(names):
            places.append(0)
        else:
            found = dict(zip(names, chosen, strict=True))
            return {name: found[one] for name, one in first.items()}
    return None if names else {}


_LANE: dict[str, Callable[[Domain], Domain]] = {
    "string": lambda domain: NONE._replace(strings=domain.strings),
    "boolean": lambda domain: NONE._replace(booleans=domain.booleans),
    "bytes": lambda domain: NONE._replace(bytes=domain.bytes),
}


# ---- boxes -----------------------------------------------------------------------------------------------------------


def _width(side: Result) -> int:
    if len(side.numbers) + side.nan > 1:
        return 1 << 65
    if side.nan:
        return 0
    low, high = map(AXES[side.lane].place, side.numbers[0])
    return high - low


def _widest(box: Mapping[str, Result]) -> str | None:
    """Name the property with most numbers; None if each has one."""
    name = max(box, key=lambda name: _width(box[name]), default=None)
    return None if name is None or not _width(box[name]) else name


def _distance(side: Result) -> float:
    """Return how far from zero a side is."""
    return min((0 if low <= 0 <= high else min(abs(low), abs(high)) for low, high in side.numbers), default=math.inf)


def _halves(side: Result) -> tuple[Result, Result]:
    if side.numbers and side.nan:
        return side._replace(nan=False), side._replace(numbers=())
    if len(side.numbers) > 1:
        middle = len(side.numbers) // 2
        return side._replace(numbers=side.numbers[:middle]), side._replace(numbers=side.numbers[middle:])
    low, high = side.numbers[0]
    if side.lane == "integer":
        near, far = sorted((abs(int(low)), abs(int(high))))
        if low < 0 <= high:
            before = -1
        elif far > 4 * near + 4:  # by magnitude: 64 halves of an INT64 are 6
            before = max(math.isqrt(near * far), math.isqrt(far), near)
            before = before if low >= 0 else -before - 1
        else:
            before = (int(low) + int(high)) // 2
        return side._replace(numbers=((low, before),)), side._replace(numbers=((before + 1, high),))
    axis = AXES[side.lane]
    first, last = axis.place(low), axis.place(high)
    middle = -1 if first < 0 <= last else (first + last) // 2
    halves = (low, axis.at(middle)), (axis.at(middle + 1), high)
    return side._replace(numbers=halves[:1]), side._replace(numbers=halves[1:])


def _candidates(box: Mapping[str, Result], *, is_point: bool) -> Iterator[dict[str, Any]]:
    """Return values to try; of a point, all that it stands for."""
    if is_point:
        for values in itertools.product(*[_alike(side) for side in box.values()]):
            yield dict(zip(box, values, strict=True))
        return
    tried = set()
    for choose in (_near, _low, _high):
        values = tuple([_value(side.lane, choose(side)) for side in box.values()])
        if repr(values) not in tried:
            tried.add(repr(values))
            yield dict(zip(box, values, strict=True))
    lanes = {side.lane for side in box.values()}
    if len(box) > 1 and len(lanes) == 1:
        shared = functools.reduce(overlap, [side.numbers for side in box.values()])
        if shared:
            lane = lanes.pop()
            value = _value(lane, _near(Result(lane, shared)))
            yield dict.fromkeys(box, value)


def _small(box: Mapping[str, Result]) -> Iterator[dict[str, Any]]:
    """Return small numbers to try: what people compare is seldom an end of an interval."""
    few = [[one for one in _FEW if has_number(side.numbers, one)] for side in box.values()]
    for numbers in _chosen(few, MAX_BOXES):
        yield {name: _value(side.lane, one) for (name, side), one in zip(box.items(), numbers, strict=True)}


_FEW = (1, 2, 3, 0, 10, 100, -1)
_One = TypeVar("_One")


def _chosen(choices: Sequence[Sequence[_One]], most: int) -> Iterable[Sequence[_One]]:
    """Return one of each choice, in all ways, or at random in so many."""
    if math.prod(map(len, choices)) <= most:
        return itertools.product(*choices)
    random = Random(0)  # noqa: S311 (the same values each time)
    return [[random.choice(values) for values in choices] for _ in range(most)] if all(choices) else ()


def _alike(side: Result) -> list[Any]:
    """List the values that one number stands for: the zeros, and integers of both widths."""
    number = _low(side)
    values = [_value(side.lane, number)]
    if side.lane == "integer" and INT32[0] <= number <= INT32[1]:
        values.append(Int32(int(number)))
    elif number == 0:
        values.append(_value(side.lane, -0.0))
    return values


def _value(lane: str, number: float) -> Any:
    return int(number) if lane == "integer" else Float32(number) if lane == "float32" else float(number)


def _near(side: Result) -> float:
    if not side.numbers:
        return math.nan
    choose = nearest_float if side.lane == "float32" else nearest
    return choose(*min(side.numbers, key=lambda one: 0 if one[0] <= 0 <= one[1] else min(abs(one[0]), abs(one[1]))))


def _low(side: Result) -> float:
    return side.numbers[0][0] if side.numbers else math.nan


def _high(side: Result) -> float:
    return side.numbers[-1][1] if side.numbers else math.nan
