# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Intervals of numbers: lists of them, those beside a constant, and what arithmetic makes of them.

Each type of number has an axis, on which its numbers stand in order. Intervals are closed, and may end in infinity;
those of a list are rising, disjoint and not adjacent; 0.0 and -0.0 are one number, written 0.0. Arithmetic follows what
the machine computes, rounding and wrapping included. Its result holds at least what can come out of any numbers of the
intervals: where it lacks what is wanted, no message has it. Follows language §5, Comparison and Arithmetic.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel.language.nodes import Identifier, Literal, Node, Sign, children, walk
from mqsel.language.operators import FAILING
from mqsel.values import ARITHMETIC, Float32

if not cython.compiled:
    from math import nextafter

    from mqsel.language.nodes import field

    def nextafterf(number: float, end: float) -> float:
        """Return the float that comes after another one, on the way to an end."""
        return FLOAT.at(FLOAT.place(number) + (1 if end > 0 else -1))


Interval = tuple[float, float]
Intervals = tuple[Interval, ...]


class Axis(NamedTuple):
    """The numbers of one type, in order.

    Attributes:
        first: the least.
        last: the greatest.
        place: returns the place of a number; that of zero is 0, and those of neighbours are one apart.
        at: returns the number at a place.
        around: returns the least number that is not less than a constant, and the greatest that is not greater; beyond
            the axis if there is none. A constant is an INT64 (int) or a FLOAT64 (float).
    """

    first: float
    last: float
    place: Callable[[float], int]
    at: Callable[[int], float]
    around: Callable[[float], Interval]

    def before(self, number: float) -> float:
        """Return the number before one that is not the first."""
        return neighbour(self, number, -1)

    def after(self, number: float) -> float:
        """Return the number after one that is not the last."""
        return neighbour(self, number, 1)


def _axis_of_bits(number: str, bits: str, around: Callable[[float], Interval]) -> Axis:
    """Return the axis of floats, or of doubles: those of one sign are in the order of their bits."""
    numbers, places = Struct(number), Struct(bits)

    def place(number: float) -> int:
        (bits,) = places.unpack(numbers.pack(abs(number)))
        return -int(bits) if number < 0 else int(bits)

    def at(place: int) -> float:
        (number,) = numbers.unpack(places.pack(abs(place)))
        return 0.0 - number if place < 0 else float(number)

    return Axis(-math.inf, math.inf, place, at, around)


def _integers_around(constant: float) -> Interval:
    """Return the integers whose doubles are beside a double."""
    if isinstance(constant, int):
        return constant, constant
    if abs(constant) < 1 << 53:
        return math.ceil(constant), math.floor(constant)
    # From there on several integers round to one double, those less than 2**10 around it.
    near = int(max(-(2.0**64), min(constant, 2.0**64)))
    window = range(max(near - 2048, -(1 << 63)), min(near + 2048, (1 << 63) - 1) + 1)
    if not window:
        return (1 << 63, (1 << 63) - 1) if constant > 0 else (-(1 << 63), -(1 << 63) - 1)
    low, high = bisect_left(window, constant, key=float), bisect_right(window, constant, key=float)
    return window.start + low, window.start + high - 1


def _floats_around(constant: float) -> Interval:
    """Return the floats beside a constant: an INT64 becomes a float; beside a double a float becomes a double."""
    if isinstance(constant, int) and abs(constant) <= 1 << 24:
        return float(constant), float(constant)
    near = float(Float32(constant)) + 0.0
    if isinstance(constant, int) or near == constant:
        return near, near
    return (neighbour(FLOAT, near, 1), near) if near < constant else (near, neighbour(FLOAT, near, -1))


INT64 = Axis(-(1 << 63), (1 << 63) - 1, int, int, _integers_around)
FLOAT = _axis_of_bits("<f", "<i", _floats_around)
DOUBLE = _axis_of_bits("<d", "<q", lambda constant: (constant + 0.0, constant + 0.0))
# By the lane of a `Result`.
AXES = {"integer": INT64, "float32": FLOAT, "float64": DOUBLE}
INT32 = -(1 << 31), (1 << 31) - 1


def neighbour(axis: Axis, number: float, step: int) -> float:
    """Return the number that comes after another one, if *step* is 1, or before it, if it is -1."""
    if axis is INT64:
        return number + step
    end = math.inf if step > 0 else -math.inf
    return (nextafter(number, end) if axis is DOUBLE else nextafterf(number, end)) + 0.0


# ---- lists -----------------------------------------------------------------------------------------------------------


def united(intervals: Iterable[Interval], axis: Axis) -> Intervals:
    """Join intervals that overlap or are neighbours."""
    joined: list[Interval] = []
    for low, high in sorted(intervals):
        if joined and (low <= joined[-1][1] or neighbour(axis, low, -1) == joined[-1][1]):
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return tuple(joined)


def gaps(intervals: Intervals, axis: Axis) -> Intervals:
    """Return the numbers that are in none of *intervals*."""
    if not intervals:
        return ((axis.first, axis.last),)
    starts = [axis.first, *[neighbour(axis, high, 1) for _, high in intervals if high < axis.last]]
    stops = [*[neighbour(axis, low, -1) for low, _ in intervals if low > axis.first], axis.last]
    if intervals[0][0] == axis.first:
        del starts[0]
    if intervals[-1][1] == axis.last:
        del stops[-1]
    return tuple(zip(starts, stops, strict=True))


def has_number(intervals: Intervals, number: float) -> bool:
    """Report whether a number is in a list of intervals."""
    return any(low <= number <= high for low, high in intervals)


def overlap(some: Intervals, others: Intervals) -> Intervals:
    """Return the numbers that are in both of two lists of intervals."""
    if len(some) == len(others) == 1:  # most are: a third of the time
        (low, high), (first, last) = some[0], others[0]
        low, high = first if low < first else low, last if last < high else high  # noqa: FURB136 (a third of the time)
        return ((low, high),) if low <= high else ()
    found: list[Interval] = []
    at = other = 0
    while at < len(some) and other < len(others):
        low, high = max(some[at][0], others[other][0]), min(some[at][1], others[other][1])
        if low <= high:
            found.append((low, high))
        if some[at][1] < others[other][1]:
            at += 1
        else:
            other += 1
    return tuple(found)


def beside(constant: float, axis: Axis, chosen: Sequence[bool]) -> Intervals:
    """Return the numbers that compare so with a constant.

    Args:
        chosen: whether those that are less, equal, and greater are wanted.
    """
    low, high = field(axis, 4)(constant)
    return sides(low, high, axis, chosen)


def sides(low: float, high: float, axis: Axis, chosen: Sequence[bool]) -> Intervals:
    """Return what `beside` does of a constant that has these numbers of the axis around it."""
    first, last = field(axis, 0), field(axis, 1)
    is_less, is_equal, is_greater = chosen[0], chosen[1], chosen[2]
    if is_equal:
        first, last = first if is_less else low, last if is_greater else high
        return ((first, last),) if first <= last else ()
    below = ((first, neighbour(axis, low, -1)),) if is_less and low > first else ()
    above = ((neighbour(axis, high, 1), last),) if is_greater and high < last else ()
    return ((first, last),) if below and above and low > high else below + above


# ---- arithmetic ------------------------------------------------------------------------------------------------------


class Result(NamedTuple):
    """At least what a property, or what is computed, can be.

    Attributes:
        lane: of the numbers; "null", "poison" (an operand had a wrong type), or the lane of a property that is no
            number.
        numbers: intervals.
        nan: it may be NaN.
        error: it may be ERR.
        short: integers of less than 64 bits are among its numbers.
    """

    lane: str
    numbers: Intervals = ()
    nan: bool = False
    error: bool = False
    short: bool = False

    @property
    def is_possible(self) -> bool:
        """Whether it can be anything but ERR."""
        return self.lane not in AXES or bool(self.numbers) or self.nan


def compute(root: Node, sides: Mapping[str, Result], known: dict[int, Result | None]) -> Result | None:
    """Compute an operand; None if it reads a property that has no side yet, or a text as a number, which may be any."""
    for node in walk(root):
        if id(node) in known:
            continue
        made: Result | None
        if isinstance(node, Identifier):
            side = sides.get(node.name)
            made = side
            if side is not None and side.lane == "integer" and overlap(side.numbers, (INT32,)):
                made = side._replace(short=True)
        elif isinstance(node, Literal):
            assert isinstance(node.value, (int, float))
            lane = "integer" if node.kind == "exact" else "float64"
            is_nan = math.isnan(node.value)
            made = Result(lane, () if is_nan else ((node.value + 0, node.value + 0),), is_nan)
        else:
            below = [known[id(one)] for one in children(node)]
            made = below[0]
            if isinstance(node, Sign):
                made = None if made is None else _signed(node.operator, made)
            else:
                combined = _narrow if node.rule == "narrow" else _combined  # type: ignore[union-attr]
                for operator, operand in zip(node.operators, below[1:], strict=True):  # type: ignore[union-attr]
                    made = None if made is None or operand is None else combined(operator, made, operand)
        known[id(node)] = made
    return known[id(root)]


def _signed(operator: str, operand: Result) -> Result:
    if operand.lane == "null":
        return operand
    if operand.lane not in AXES:
        return Result("poison", error=operand.error)
    if operator == "+" or not operand.numbers:
        return operand
    if operand.lane == "integer":
        zero = Result("integer", ((0, 0),), short=operand.short)
        return _combined("-", zero, operand)
    return operand._replace(numbers=tuple([(0.0 - high, 0.0 - low) for low, high in reversed(operand.numbers)]))


def _combined(operator: str, left: Result, right: Result) -> Result:
    error = left.error or right.error
    lanes = left.lane, right.lane
    if "null" in lanes:
        return Result("null", error=error)
    if not {*lanes} <= AXES.keys():
        return Result("poison", error=error)
    if lanes == ("integer", "integer"):
        return _integers(operator, left, right, error=error)
    lane = "float64" if "float64" in lanes else "float32"
    return _floats(operator, lane, left, right, error=error)


def _narrow(operator: str, left: Result, right: Result) -> Result:
    """Compute where constants that INT32 holds are INT32, floats and quotients are doubles, and else there is ERR."""
    if not {left.lane, right.lane} <= AXES.keys():
        return _combined(operator, left, right)._replace(error=True)
    if operator in FAILING or {left.lane, right.lane} != {"integer"}:
        left, right = left._replace(lane="float64"), right._replace(lane="float64")
    sides = [one._replace(short=one.short or bool(overlap(one.numbers, (INT32,)))) for one in (left, right)]
    return _combined(operator, *sides)


def _integers(operator: str, left: Result, right: Result, *, error: bool) -> Result:
    if not left.numbers or not right.numbers:
        return Result("integer", error=error)
    numbers = _wrapped(_ends(operator, hull(left), hull(right)), INT64[:2])
    short = left.short and right.short
    if short:
        first, second = [hull(one._replace(numbers=overlap(one.numbers, (INT32,)))) for one in (left, right)]
        numbers += _wrapped(_ends(operator, first, second), INT32)
    low, high = hull(right)
    error = error or (operator in FAILING and low <= 0 <= high)
    return Result("integer", united(numbers, INT64), error=error, short=short)


def hull(result: Result) -> tuple[Any, Any]:
    """Return the least and the greatest number of a result that has some."""
    return result.numbers[0][0], result.numbers[-1][1]


def _ends(operator: str, left: tuple[int, int], right: tuple[int, int]) -> Intervals:
    """Compute with integers of any size, from the ends of intervals."""
    match operator:
        case "+":
            return ((left[0] + right[0], left[1] + right[1]),)
        case "-":
            return ((left[0] - right[1], left[1] - right[0]),)
        case "*":
            corners = [one * other for one in left for other in right]
            return ((min(corners), max(corners)),)
    if operator == "%":  # nearer to zero than the divisor, no farther than the dividend, and with its sign
        most = max(abs(right[0]), abs(right[1])) - 1
        return ((max(min(left[0], 0), -most), min(max(left[1], 0), most)),) if most >= 0 else ()
    found: list[tuple[int, int]] = []
    for low, high in ((right[0], min(right[1], -1)), (max(right[0], 1), right[1])):
        if low <= high:
            quotients = [_quotient(one, other) for one in left for other in (low, high)]
            found.append((min(quotients), max(quotients)))
    return tuple(found)


def _quotient(one: int, other: int) -> int:
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


def _wrapped(intervals: Intervals, whole: Interval) -> Intervals:
    found: list[Interval] = []
    size = whole[1] - whole[0] + 1
    for low, high in intervals:
        if high - low >= size:
            return (whole,)
        shift = (low - whole[0]) // size * size
        if high - shift <= whole[1]:
            found.append((low - shift, high - shift))
        else:
            found += [(low - shift, whole[1]), (whole[0], high - shift - size)]
    return tuple(found)


def rounded(number: float, lane: str) -> float:
    """Return a number as one of a lane, which is of floats or of doubles."""
    return float(Float32(number)) if lane == "float32" else float(number)


def _floats(operator: str, lane: str, left: Result, right: Result, *, error: bool) -> Result:
    """Compute with floats or doubles: rounding keeps the order, so the ends of a result come from ends."""
    nan = left.nan or right.nan
    if not left.numbers or not right.numbers:
        return Result(lane, nan=nan, error=error)
    first, second = [[rounded(one, lane) for one in hull(side)] for side in (left, right)]
    has_zero, has_infinity = [
        [side[0] <= 0 <= side[1] for side in (first, second)],
        [math.isinf(side[0]) or math.isinf(side[1]) for side in (first, second)],
    ]
    match operator:
        case "+" | "-":
            nan = nan or all(has_infinity)
        case "%":
            most = max(map(abs, second))
            low, high = max(min(first[0], 0.0), -most), min(max(first[1], 0.0), most)
            return Result(lane, ((low, high),), nan or has_zero[1] or has_infinity[0], error)
        case "*":
            nan = nan or (has_zero[0] and has_infinity[1]) or (has_zero[1] and has_infinity[0])
        case _:
            nan = nan or all(has_zero) or all(has_infinity)
            if has_zero[1]:  # the zeros of a property are one number here, but divide to different infinities
                return Result(lane, ((-math.inf, math.inf),), nan, error)
    corners = [rounded(_OPERATIONS[operator](one, other), lane) for one in first for other in second]
    if any(map(math.isnan, corners)) and operator in "+-":
        return Result(lane, ((-math.inf, math.inf),), nan, error)
    # Zero times infinity: what is near to it is between zero and the other corners.
    ends = [0.0 if math.isnan(one) else one + 0.0 for one in corners]
    return Result(lane, ((min(ends), max(ends)),), nan, error)


_OPERATIONS: dict[str, Callable[[float, float], float]] = {**ARITHMETIC, "/": operator.truediv}
