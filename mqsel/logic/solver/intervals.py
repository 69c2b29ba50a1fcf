"""Computes with intervals what the machine computes with numbers, rounding and wrapping included.

A result holds at least what can come out of any numbers of the intervals: where it lacks what is wanted, no message has
it. Follows language §5, Comparison and Arithmetic.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mqsel.language.nodes import Arithmetic, Conversion, Identifier, Literal, Node, Sign, children, walk
from mqsel.language.operators import FAILING
from mqsel.logic.formulas import Compared
from mqsel.logic.sets import Intervals, overlap
from mqsel.values import Float32

NUMBERS = ("integer", "float32", "float64")
INT32 = -(1 << 31), (1 << 31) - 1
_INT64 = -(1 << 63), (1 << 63) - 1


class Result(NamedTuple):
    """At least what an operand can be.

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
        return self.lane not in NUMBERS or bool(self.numbers) or self.nan


class Side(NamedTuple):
    """What one property is: a lane, and the numbers of it."""

    lane: str
    numbers: Intervals = ()
    nan: bool = False


def compute(root: Node, sides: Mapping[str, Side], known: dict[int, Result | None]) -> Result | None:
    """Compute an operand; None if it reads a property that has no side yet, or a text as a number, which may be any."""
    for node in walk(root):
        if id(node) in known:
            continue
        made: Result | None
        if isinstance(node, Identifier):
            side = sides.get(node.name)
            made = None if side is None else Result(*side, short=_has_short(side))
        elif isinstance(node, Literal):
            assert isinstance(node.value, (int, float))
            lane = "integer" if node.kind == "exact" else "float64"
            is_nan = math.isnan(node.value)
            made = Result(lane, () if is_nan else ((node.value + 0, node.value + 0),), is_nan)
        else:
            below = [known[id(one)] for one in children(node)]
            made = below[0]
            if isinstance(node, Conversion):
                made = None if made is None or made.lane == "string" else _signed("+", made)
            elif isinstance(node, Arithmetic) and node.rule != "java":
                made = None
            elif isinstance(node, Sign):
                made = None if made is None else _signed(node.operator, made)
            else:
                for operator, operand in zip(node.operators, below[1:], strict=True):  # type: ignore[union-attr]
                    made = None if made is None or operand is None else _joined(operator, made, operand)
        known[id(node)] = made
    return known[id(root)]


def _has_short(side: Side) -> bool:
    return side.lane == "integer" and bool(overlap(side.numbers, (INT32,)))


def _signed(operator: str, operand: Result) -> Result:
    if operand.lane == "null":
        return operand
    if operand.lane not in NUMBERS:
        return Result("poison", error=operand.error)
    if operator == "+" or not operand.numbers:
        return operand
    if operand.lane == "integer":
        zero = Result("integer", ((0, 0),), short=operand.short)
        return _joined("-", zero, operand)
    return operand._replace(numbers=tuple([(0.0 - high, 0.0 - low) for low, high in reversed(operand.numbers)]))


def _joined(operator: str, left: Result, right: Result) -> Result:
    error = left.error or right.error
    lanes = left.lane, right.lane
    if "null" in lanes:
        return Result("null", error=error)
    if not {*lanes} <= {*NUMBERS}:
        return Result("poison", error=error)
    if lanes == ("integer", "integer"):
        return _integers(operator, left, right, error=error)
    lane = "float64" if "float64" in lanes else "float32"
    return _floats(operator, lane, left, right, error=error)


def _integers(operator: str, left: Result, right: Result, *, error: bool) -> Result:
    if not left.numbers or not right.numbers:
        return Result("integer", error=error)
    numbers = _wrapped(_ends(operator, _hull(left), _hull(right)), _INT64)
    short = left.short and right.short
    if short:
        first, second = [_hull(one._replace(numbers=overlap(one.numbers, (INT32,)))) for one in (left, right)]
        numbers += _wrapped(_ends(operator, first, second), INT32)
    low, high = _hull(right)
    return Result("integer", _sorted(numbers), error=error or (operator in FAILING and low <= 0 <= high), short=short)


def _hull(result: Result) -> tuple[Any, Any]:
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


def _wrapped(intervals: Intervals, whole: tuple[int, int]) -> Intervals:
    found: list[tuple[float, float]] = []
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


def _sorted(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """Put intervals in order, and join those that overlap."""
    joined: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return tuple(joined)


def _rounded(number: float, lane: str) -> float:
    return float(Float32(number)) if lane == "float32" else float(number)


def _floats(operator: str, lane: str, left: Result, right: Result, *, error: bool) -> Result:
    """Compute with floats or doubles: rounding keeps the order, so the ends of a result come from ends."""
    nan = left.nan or right.nan
    if not left.numbers or not right.numbers:
        return Result(lane, nan=nan, error=error)
    first, second = [[_rounded(one, lane) for one in _hull(side)] for side in (left, right)]
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
    corners = [_rounded(_OPERATIONS[operator](one, other), lane) for one in first for other in second]
    if any(map(math.isnan, corners)) and operator in "+-":
        return Result(lane, ((-math.inf, math.inf),), nan, error)
    # Zero times infinity: what is near to it is between zero and the other corners.
    ends = [0.0 if math.isnan(one) else one + 0.0 for one in corners]
    return Result(lane, ((min(ends), max(ends)),), nan, error)


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def outcomes_of(left: Result, right: Result) -> Compared:
    """List what comparing two operands may give, and more perhaps."""
    found = Compared.ERROR if left.error or right.error else Compared(0)
    if not left.is_possible or not right.is_possible:
        return found
    lanes = left.lane, right.lane
    if "null" in lanes:
        return found | Compared.NULL
    if not {*lanes} <= {*NUMBERS}:
        if lanes[0] == lanes[1] and lanes[0] != "poison":
            return found | Compared.SAME | Compared.DIFFERENT
        return found | Compared.MISMATCH
    if left.nan or right.nan:
        found |= Compared.UNORDERED
    if not left.numbers or not right.numbers:
        return found
    sides = [_hull(left), _hull(right)]
    if {*lanes} != {"integer"}:
        lane = "float64" if "float64" in lanes else "float32"
        sides = [(_rounded(low, lane), _rounded(high, lane)) for low, high in sides]
    (low, high), (other_low, other_high) = sides
    if low < other_high:
        found |= Compared.LESS
    if high > other_low:
        found |= Compared.GREATER
    if max(low, other_low) <= min(high, other_high):
        found |= Compared.EQUAL
    return found
