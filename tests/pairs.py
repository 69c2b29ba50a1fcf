"""Random pairs of selectors over few properties and few values, and all messages that can be made of those.

Every kind of test occurs, with constants that are values of messages, next to them, or where arithmetic wraps; so most
pairs are related in some way. Knows the grammar and no meaning.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from strategies import JMS_PRESETS

from mqsel.values import Float32, Int32

NAMES = ("a", "b", "c")
# By the number of properties that a pair reads: of one, every lane and every odd number.
_WIDE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 3, -1, 5, Int32(2), Int32(-(2**31)), 2**31 - 1, 2**24 + 1, 2**53 + 1, 2**63 - 1),
    *(-(2**63), Int32(2**31 - 1), Float32(2**24)),
    *(0.0, -0.0, 0.5, 1.0, 2.5, -1.5, 2.0**53, math.inf, -math.inf, math.nan, Float32(0.1), Float32(2.5), 0.1),
    *(Float32(math.nan), "1", "2.5", " 3 ", "", "a", "b", "ab", "ba", "abc", "x", "_", "a%", b"\x00", b"\x01\x02"),
)
_NARROW: tuple[Any, ...] = (
    None,
    True,
    False,
    1,
    2,
    Int32(2**31 - 1),
    2**63 - 1,
    2.5,
    -0.0,
    math.nan,
    "1",
    "2.5",
    "a",
    "ab",
    "b",
    b"\x00",
)
_FEW: tuple[Any, ...] = (None, True, 1, 2, 2.5, "1", "a", "ab")
VALUES = {1: _WIDE, 2: _NARROW, 3: _FEW}

_NUMBERS = ("0", "1", "2", "3", "5", "-1", "1.0", "2.5", "0.1", "-1.5", "9223372036854775807", "2147483647", "1E300")
_STRINGS = ("''", "'1'", "'a'", "'b'", "'ab'", "'abc'", "'x'")
_PATTERNS = ("a%", "%b", "%a%", "_", "a_", "%", "ab", "a%b", "_b%", "%b%a%", "", "a!%' ESCAPE '!", "__%")
_SIGNS = ("=", "<>", "<", "<=", ">", ">=")


def pair(rng: random.Random, dialects: Sequence[str] = (*JMS_PRESETS,)) -> tuple[str, str, str, str, tuple[str, ...]]:
    """Draw two selectors, the dialect of each, and the names that they may read."""
    names = NAMES[: rng.choice((1, 1, 2, 2, 2, 3))]
    # A selector alone is often enough: what is missing of it, or added, is what people ask about.
    first = condition(rng, names, rng.choice((1, 2, 2, 3)))
    form = rng.randrange(6)
    if form == 0:
        second = f"({first}) {rng.choice(('AND', 'OR'))} {condition(rng, names, 1)}"
    elif form == 1:
        second = f"NOT ({first})"
    else:
        second = condition(rng, names, rng.choice((1, 2, 2, 3)))
    one = rng.choice(dialects)
    return first, second, one, one if rng.random() < 0.7 else rng.choice(dialects), names


def condition(rng: random.Random, names: tuple[str, ...], depth: int) -> str:
    """Draw a condition."""
    if depth > 1 or rng.random() < 0.2:
        count = rng.choice((2, 2, 3))
        word = rng.choice((" AND ", " OR "))
        parts = [condition(rng, names, depth - 1) for _ in range(count)]
        return word.join(f"({one})" if rng.random() < 0.7 else one for one in parts)
    if rng.random() < 0.15:
        return f"NOT ({condition(rng, names, depth - 1)})"
    return predicate(rng, names)


def predicate(rng: random.Random, names: tuple[str, ...]) -> str:
    """Draw a test."""
    name, no = rng.choice(names), rng.choice(("", "NOT "))
    match rng.choices(range(10), (9, 5, 3, 3, 4, 3, 2, 3, 1, 2))[0]:
        case 0:
            return f"{name} {rng.choice(_SIGNS)} {rng.choice(_NUMBERS)}"
        case 1:
            return f"{name} {rng.choice(_SIGNS[:2])} {rng.choice(_STRINGS)}"
        case 2:
            return f"{name} {no}IN ({', '.join(rng.sample(_STRINGS, rng.randrange(1, 4)))})"
        case 3:
            return f"{name} {no}BETWEEN {rng.choice(_NUMBERS)} AND {rng.choice(_NUMBERS)}"
        case 4:
            return f"{name} {no}LIKE '{rng.choice(_PATTERNS)}'"
        case 5:
            return f"{name} IS {no}NULL"
        case 6:
            return name
        case 7:
            return f"{operand(rng, names)} {rng.choice(_SIGNS)} {rng.choice((*_NUMBERS, rng.choice(names)))}"
        case 8:
            return f"{operand(rng, names)} {no}BETWEEN {rng.choice(names)} AND {rng.choice(_NUMBERS)}"
    return f"{name} {rng.choice(_SIGNS)} {rng.choice(names)}"


def operand(rng: random.Random, names: tuple[str, ...]) -> str:
    """Draw arithmetic."""
    left, right = rng.choice(names), rng.choice((*names, *_NUMBERS))
    made = f"{left} {rng.choice('+-*/')} {right}"
    return rng.choice((made, made, f"-{left}", f"({made}) {rng.choice('+-*/')} {rng.choice(_NUMBERS)}"))


def messages(names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Return every message that has some of the values under each name."""
    for values in itertools.product(VALUES[len(names)], repeat=len(names)):
        yield {name: value for name, value in zip(names, values, strict=True) if value is not None}
