"""What one property, or arithmetic, may still be: the sets of the normal form, met with each other.

The normal form joins sets where their union can be written; here any number of them meet, so strings keep the patterns
that they must match and those that they must not. Follows language §5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from mqsel.language.nodes import Node
from mqsel.logic.formulas import whole_of
from mqsel.logic.intervals import Intervals, overlap
from mqsel.logic.sets import NOTHING, PROPERTY, RESULT, TEST, Floats, Texts, Values
from mqsel.logic.solver.automata import (
    ALL_STRINGS,
    NO_STRINGS,
    Strings,
    a_string,
    meet_both,
    meet_strings,
    some_strings,
)
from mqsel.logic.solver.budget import Budget
from mqsel.values import Float32


class Domain(NamedTuple):
    """A set of typed values; lanes as in `mqsel.logic.sets.Values`, but for strings."""

    null: bool
    booleans: tuple[bool, bool]
    integers: Intervals
    floats32: Floats
    floats64: Floats
    strings: Strings
    bytes: Texts
    poison: bool
    error: bool


def _domain(values: Values, strings: Strings) -> Domain:
    return Domain(*values[:5], strings, *values[6:])


ANY_PROPERTY = _domain(PROPERTY, ALL_STRINGS)
NONE = _domain(NOTHING, NO_STRINGS)
_ANY = {PROPERTY: ANY_PROPERTY, RESULT: _domain(RESULT, NO_STRINGS), TEST: _domain(TEST, NO_STRINGS)}
_NO_FLOATS, _ALL_FLOATS = NOTHING.floats32, PROPERTY.floats32


def any_of(subject: Node) -> Domain:
    """Return all that a subject can be."""
    return _ANY[whole_of(subject)]


def _common_floats(first: Floats, second: Floats) -> Floats:
    if second == _ALL_FLOATS or first == _NO_FLOATS:
        return first
    return Floats(overlap(first.intervals, second.intervals), first.nan and second.nan)


def _common_bytes(first: Texts, second: Texts) -> Texts:
    if second in (PROPERTY.bytes, first):
        return first
    if first.negated and second.negated:
        return first._replace(points=first.points | second.points)  # type: ignore[operator]
    if first.negated:
        first, second = second, first
    return first._replace(points=first.points - second.points if second.negated else first.points & second.points)


def meet(domain: Domain, values: Values) -> Domain:
    """Keep what is in *values*; an equal domain if all of it is."""
    return Domain(
        domain.null and values.null,
        (domain.booleans[0] and values.booleans[0], domain.booleans[1] and values.booleans[1]),
        overlap(domain.integers, values.integers),
        _common_floats(domain.floats32, values.floats32),
        _common_floats(domain.floats64, values.floats64),
        domain.strings if values.strings == PROPERTY.strings else meet_strings(domain.strings, values.strings),
        _common_bytes(domain.bytes, values.bytes),
        domain.poison and values.poison,
        domain.error and values.error,
    )


def meet_texts(first: Domain, second: Domain) -> Domain:
    """Keep what is no number and no NULL, and in both."""
    return NONE._replace(
        booleans=(first.booleans[0] and second.booleans[0], first.booleans[1] and second.booleans[1]),
        strings=meet_both(first.strings, second.strings),
        bytes=_common_bytes(first.bytes, second.bytes),
    )


def is_empty(domain: Domain, budget: Budget) -> bool:
    """Report whether nothing is left.

    Raises: UndecidedError: strings may be.
    """
    return (
        not (domain.null or domain.integers or domain.poison or domain.error)
        and domain.booleans == (False, False)
        and domain.floats32 == _NO_FLOATS
        and domain.floats64 == _NO_FLOATS
        and (domain.bytes.negated is False and not domain.bytes.points)
        and a_string(domain.strings, budget) is None
    )


def only(value: object) -> Values:
    """Return the set of one value; None is a property that is missing."""
    match value:
        case None:
            return NOTHING._replace(null=True)
        case bool():
            return NOTHING._replace(booleans=(not value, value))
        case str():
            return NOTHING._replace(strings=NOTHING.strings._replace(points=frozenset((value,))))
        case bytes():
            return NOTHING._replace(bytes=NOTHING.bytes._replace(points=frozenset((value,))))
        case int():
            return NOTHING._replace(integers=((int(value), int(value)),))
        case float():
            number = float(value) + 0.0  # of -0.0
            floats = Floats((), nan=True) if math.isnan(number) else Floats(((number, number),), nan=False)
            is_short = isinstance(value, Float32)
            return NOTHING._replace(floats32=floats) if is_short else NOTHING._replace(floats64=floats)
    raise AssertionError(value)


# ---- values ----------------------------------------------------------------------------------------------------------


def nearest(low: float, high: float) -> float:
    """Return the number between two that is quickest to read: the one nearest to zero, with few digits."""
    if low <= 0 <= high:
        return 0 if isinstance(low, int) else 0.0
    if isinstance(low, int):
        return low if low > 0 else high
    near, far = (low, high) if low > 0 else (high, low)
    if math.isinf(near):
        return near
    for digits in range(18):
        rounded = round(near, digits)
        for one in (rounded, rounded + math.copysign(10.0**-digits, near)):
            shorter = float(f"{one:.{max(digits, 0)}f}")
            if low <= shorter <= high and math.isfinite(shorter) and abs(shorter) <= abs(far):
                return shorter
    return near


def nearest_float(low: float, high: float) -> float:
    """Return a float between two floats, with few digits if there is one."""
    found = float(Float32(nearest(low, high)))
    return found if low <= found <= high else low if low > 0 else high


def _number_values(intervals: Intervals, most: int) -> Iterator[float]:
    for low, high in sorted(intervals, key=lambda one: min(abs(one[0]), abs(one[1])))[:most]:
        yield nearest(low, high)
        yield low
        yield high


def some_values(domain: Domain, budget: Budget, most: int = 1) -> Iterator[Any]:
    """Return values of a property, simple ones first: one or more of each lane that has any, None for NULL.

    Args:
        domain: what the property may be.
        budget: pays for the search of texts.
        most: how many texts, and intervals of numbers, to take of a lane.

    Raises: UndecidedError: strings may be.
    """
    if domain.null:
        yield None
    seen: set[float] = set()
    for number in _number_values(domain.integers, most):
        if number not in seen:
            seen.add(number)
            yield number
    yield from some_strings(domain.strings, most, budget)
    yield from [truth for truth in (True, False) if domain.booleans[truth]]
    yield from _some_bytes(domain.bytes, most)
    yield from dict.fromkeys(_number_values(domain.floats64.intervals, most))
    for low, high in domain.floats32.intervals[:most]:
        yield Float32(nearest_float(low, high))
    if domain.floats64.nan:
        yield math.nan
    if domain.floats32.nan:
        yield Float32(math.nan)


def _some_bytes(texts: Texts, most: int) -> list[bytes]:
    if not texts.negated:
        return sorted(texts.points, key=len)[:most]  # type: ignore[return-value]
    found: list[bytes] = []
    for number in count():
        text = number.to_bytes(1 + number // 256, "big")
        if text not in texts.points:
            found.append(text)
        if len(found) == most:
            break
    return found
