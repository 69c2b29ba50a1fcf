# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Exact sets of typed values: what a leaf of the normal form holds, and their unions and complements.

A set has a field for each lane, so that no value is ever converted: an INT64 is compared with a double by the interval
of INT64 whose doubles compare so. Knows no text, tree or dialect. Follows language §5, Comparison.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel.logic.intervals import DOUBLE, FLOAT, INT64, Axis, Intervals, has_number
from mqsel.values import Float32

if not cython.compiled:
    from mqsel.language.nodes import field, row
    from mqsel.logic.intervals import beside, gaps, overlap, sides, united

Pattern = tuple[tuple[str | None, ...], ...]  # the segments of `mqsel.language.pattern`


class Floats(NamedTuple):
    """A set of doubles, or of floats, which are doubles.

    Attributes:
        intervals: of the axis FLOAT or DOUBLE.
        nan: whether NaN is in.
    """

    intervals: Intervals
    nan: bool


class Texts(NamedTuple):
    """A set of strings or of byte strings: those listed and those that match a pattern, or all others.

    Attributes:
        points: those listed; one may match a pattern, too.
        patterns: of LIKE, none of which is a point or matches everything; none for byte strings.
        negated: the set is what is neither listed nor matched.
    """

    points: frozenset[str] | frozenset[bytes]
    patterns: frozenset[Pattern]
    negated: bool


class Values(NamedTuple):
    """A set of typed values.

    Attributes:
        null: NULL is in; so is a property that a message lacks.
        booleans: FALSE is in, TRUE is in.
        integers: INT8, INT16, INT32 and INT64 alike, on the axis INT64.
        floats32: FLOAT32.
        floats64: FLOAT64.
        strings: STRING.
        bytes: BYTES.
        poison: of arithmetic alone: an operand had a wrong type.
        error: of arithmetic alone: it is ERR.
    """

    null: bool
    booleans: tuple[bool, bool]
    integers: Intervals
    floats32: Floats
    floats64: Floats
    strings: Texts
    bytes: Texts
    poison: bool
    error: bool


# ---- numbers ---------------------------------------------------------------------------------------------------------


# Integers up to this are floats as they are.
_FLOATS_HOLD = 1 << 24


def numbers(constant: int | float, chosen: Sequence[bool]) -> Values:
    """Return the numbers that compare so with a constant.

    Args:
        constant: an INT64 (int) or a FLOAT64 (float).
        chosen: whether those that are less, equal, greater, and unordered (one is NaN) are wanted.
    """
    _, is_equal, _, nan = chosen
    if type(constant) is int and -_FLOATS_HOLD <= constant <= _FLOATS_HOLD:  # most: a fifth of the time
        integers, number = sides(constant, constant, INT64, chosen), float(constant)
        doubles = row(Floats, (sides(number, number, DOUBLE, chosen), nan))
        floats = doubles if is_equal else row(Floats, (sides(number, number, FLOAT, chosen), nan))
        return _of_numbers(integers, floats, doubles)
    return _beside(constant, tuple(chosen))


def numbers_from(low: int | float, high: int | float) -> Values:
    """Return the numbers that are neither less than one constant nor greater than another."""
    if type(low) is type(high) is int and -_FLOATS_HOLD <= low <= high <= _FLOATS_HOLD:
        floats = row(Floats, (((float(low), float(high)),), False))
        return _of_numbers(((low, high),), floats, floats)
    both = common(_beside(low, (False, True, True, False)), _beside(high, (True, True, False, False)))
    assert both is not None  # numbers alone
    return both


# Sets of many selectors have the same constants again and again. An INT64 and a double that are equal are two.
@functools.lru_cache(4096, typed=True)
def _beside(constant: int | float, chosen: tuple[bool, ...]) -> Values:
    nan = chosen[3]
    if math.isnan(constant):
        return NUMBERS if nan else NOTHING
    return _of_numbers(
        beside(constant, INT64, chosen),
        row(Floats, (beside(constant, FLOAT, chosen), nan)),
        row(Floats, (beside(constant, DOUBLE, chosen), nan)),
    )


# ---- texts -----------------------------------------------------------------------------------------------------------

_NOTHING_MATCHED: frozenset[str | bytes] = frozenset()
# Characters of listed texts, times characters of patterns, that are worth looking at to make two sets one.
MAX_WORK = 100_000


def _stands(segment: Sequence[str | None], text: str, at: int) -> bool:
    return all(wanted in (None, found) for wanted, found in zip(segment, text[at : at + len(segment)], strict=True))


def is_like(text: str, pattern: Pattern) -> bool:
    """Match greedily: the ends where they must stand, every other segment as far left as it can."""
    first, *inner, last = pattern if len(pattern) > 1 else (pattern[0], ())
    at, stop = len(first), len(text) - len(last)
    if at > stop or not _stands(first, text, 0) or not _stands(last, text, stop):
        return False
    if len(pattern) == 1:
        return at == len(text)
    for segment in inner:
        places = range(at, stop - len(segment) + 1)
        at = next((place + len(segment) for place in places if _stands(segment, text, place)), stop + 1)
        if at > stop:
            return False
    return True


def _matched(points: Collection[str | bytes], patterns: Collection[Pattern]) -> frozenset[str | bytes]:
    if not points or not patterns:  # most
        return _NOTHING_MATCHED
    return frozenset([text for text in points if any(is_like(text, one) for one in patterns)])  # type: ignore[arg-type]


def has_text(texts: Texts, text: str | bytes) -> bool:
    """Report whether a string, or a byte string, is in a set."""
    return (text in texts.points or bool(_matched((text,), texts.patterns))) is not texts.negated


def _is_much(many: Sequence[Texts]) -> bool:
    """Report whether it is too much work to match the listed texts of these sets with their patterns."""
    if not [one for one in many if one.patterns]:
        return False
    lengths = sum(map(len, chain.from_iterable([one.points for one in many])))
    segments = chain.from_iterable(chain.from_iterable([one.patterns for one in many]))
    return lengths > MAX_WORK or lengths * sum(map(len, segments)) > MAX_WORK


def unite_texts(many: Sequence[Texts]) -> Texts | None:
    """Return the union of some sets; None where none of this form is known to be it."""
    if all(one is _NO_TEXTS for one in many):  # as of most subjects, which have one kind
        return _NO_TEXTS
    if [one for one in many if one.negated and not (one.points or one.patterns)]:
        return _ALL_TEXTS
    points: frozenset[str | bytes] = frozenset(chain.from_iterable(one.points for one in many if not one.negated))
    patterns = frozenset(chain.from_iterable(one.patterns for one in many if not one.negated))
    # What is left out of a union is what each of the negated leaves out. Those without patterns come first.
    left_out = sorted((one for one in many if one.negated), key=lambda one: len(one.patterns))
    if not left_out:
        return row(Texts, (points, patterns, False))
    if len(many) > 1 and _is_much(many):
        return None
    texts: frozenset[str | bytes] = left_out[0].points
    likes = left_out[0].patterns
    for other in left_out[1:]:
        if likes - other.patterns and other.patterns - likes:
            return None
        common = (texts & other.points) | _matched(texts - other.points, other.patterns)
        texts, likes = common | _matched(other.points - texts, likes), likes & other.patterns
    likes -= patterns
    if likes and (patterns or _matched(points, likes)):
        return None
    return row(Texts, (texts - points - _matched(texts, patterns), likes, True))


# ---- all lanes -------------------------------------------------------------------------------------------------------

_NO_FLOATS = Floats((), nan=False)
_ALL_FLOATS = Floats(((-math.inf, math.inf),), nan=True)
_NO_TEXTS = Texts(frozenset(), frozenset(), negated=False)
_ALL_TEXTS = _NO_TEXTS._replace(negated=True)

NOTHING = Values(
    null=False,
    booleans=(False, False),
    integers=(),
    floats32=_NO_FLOATS,
    floats64=_NO_FLOATS,
    strings=_NO_TEXTS,
    bytes=_NO_TEXTS,
    poison=False,
    error=False,
)


def _of_numbers(integers: Intervals, floats32: Floats, floats64: Floats) -> Values:
    """Return a set of nothing but numbers, in a tenth of the time of _replace."""
    return row(Values, (False, NOTHING.booleans, integers, floats32, floats64, _NO_TEXTS, _NO_TEXTS, False, False))


NUMBERS = NOTHING._replace(integers=(INT64[:2],), floats32=_ALL_FLOATS, floats64=_ALL_FLOATS)
# All that a property can be, and all that arithmetic can be.
PROPERTY = NUMBERS._replace(null=True, booleans=(True, True), strings=_ALL_TEXTS, bytes=_ALL_TEXTS)
RESULT = NUMBERS._replace(null=True, poison=True, error=True)
# Of a computed test, where NULL is UNKNOWN.
TEST = NOTHING._replace(null=True, booleans=(True, True), error=True)


def _other_floats(floats: Floats, axis: Axis) -> Floats:
    if floats in (_NO_FLOATS, _ALL_FLOATS):
        return _NO_FLOATS if floats.nan else _ALL_FLOATS
    return row(Floats, (gaps(floats.intervals, axis), not floats.nan))


def _other_texts(texts: Texts) -> Texts:
    if not texts.points and not texts.patterns:
        return _NO_TEXTS if texts.negated else _ALL_TEXTS
    return row(Texts, (texts.points, texts.patterns, not texts.negated))


def outside(values: Values, whole: Values) -> Values:
    """Return what *values* leaves out of *whole*, which is PROPERTY, RESULT or TEST."""
    if whole is TEST:
        false, true = values.booleans
        return NOTHING._replace(null=not values.null, booleans=(not false, not true), error=not values.error)
    is_property = whole is PROPERTY
    return row(
        Values,
        (
            not values.null,
            (not values.booleans[0], not values.booleans[1]) if is_property else (False, False),
            gaps(values.integers, INT64) if values.integers else NUMBERS.integers,
            _other_floats(values.floats32, FLOAT),
            _other_floats(values.floats64, DOUBLE),
            _other_texts(values.strings) if is_property else _NO_TEXTS,
            _other_texts(values.bytes) if is_property else _NO_TEXTS,
            not is_property and not values.poison,
            not is_property and not values.error,
        ),
    )


def has_value(values: Values, value: object) -> bool:
    """Report whether what a property is, None where it is missing, is in a set."""
    match value:
        case None:
            return values.null
        case bool():
            return values.booleans[value]
        case str():
            return has_text(values.strings, value)
        case bytes():
            return has_text(values.bytes, value)
        case int():
            return has_number(values.integers, value)
        case float():
            floats = values.floats32 if isinstance(value, Float32) else values.floats64
            return floats.nan if math.isnan(value) else has_number(floats.intervals, value)
    raise AssertionError(value)


def unite(many: Sequence[Values]) -> list[Values]:
    """Return sets that have the union of *many*: one, or as few as can be made of them with little work."""
    strings = unite_texts([one.strings for one in many])
    if strings is not None:
        return [_joined(many, strings)]
    # A union is hard to write with what patterns leave out.
    easy = [one for one in many if not (one.strings.negated and one.strings.patterns)]
    if len(easy) in (0, len(many)):
        return [*dict.fromkeys(many)]
    united: dict[Values, None] = {}
    for one in many:
        if not (one.strings.negated and one.strings.patterns):
            united.update(dict.fromkeys(unite(easy) if easy else ()))
            easy = []
        else:
            united[one] = None
    return [*united]


def _common_texts(one: Texts, other: Texts) -> Texts | None:
    """Return the intersection of two sets of which one is listed, or nothing or all; None of others."""
    for some, rest in ((one, other), (other, one)):
        if not some.points and not some.patterns:
            return rest if some.negated else some
        if not some.negated and not some.patterns:
            points: frozenset[str | bytes] = frozenset(some.points)
            if not rest.patterns:
                points = points - rest.points if rest.negated else points & rest.points
            elif _is_much((some, rest)):
                return None
            else:
                points = frozenset([text for text in points if has_text(rest, text)])
            return row(Texts, (points, some.patterns, False))
    return None


def common(one: Values, other: Values) -> Values | None:
    """Return the intersection of two sets, or None where that of their strings is not easily written.

    It takes a tenth of the time of uniting what each leaves out.
    """
    strings, texts = _common_texts(one.strings, other.strings), _common_texts(one.bytes, other.bytes)
    if strings is None or texts is None:
        return None
    (is_false, is_true), (may_be_false, may_be_true) = one.booleans, other.booleans
    return row(
        Values,
        (
            one.null and other.null,
            (is_false and may_be_false, is_true and may_be_true),
            overlap(one.integers, other.integers),
            row(Floats, (overlap(one.floats32[0], other.floats32[0]), one.floats32.nan and other.floats32.nan)),
            row(Floats, (overlap(one.floats64[0], other.floats64[0]), one.floats64.nan and other.floats64.nan)),
            strings,
            texts,
            one.poison and other.poison,
            one.error and other.error,
        ),
    )


def _joined(many: Sequence[Values], strings: Texts) -> Values:
    texts = unite_texts([field(one, 6) for one in many])
    assert texts is not None  # byte strings have no patterns
    return row(
        Values,
        (
            True in [field(one, 0) for one in many],
            (True in [field(one, 1)[0] for one in many], True in [field(one, 1)[1] for one in many]),
            united([each for one in many for each in field(one, 2)], INT64),
            _joined_floats([field(one, 3) for one in many], FLOAT),
            _joined_floats([field(one, 4) for one in many], DOUBLE),
            strings,
            texts,
            True in [field(one, 7) for one in many],
            True in [field(one, 8) for one in many],
        ),
    )


def _joined_floats(lane: Sequence[Floats], axis: Axis) -> Floats:
    intervals = united([each for one in lane for each in field(one, 0)], axis)
    return row(Floats, (intervals, True in [field(one, 1) for one in lane]))
