"""What tells the values of properties apart in tests: the constants that they are compared with, and patterns of LIKE.

A value that no constant tells from another has the results of that other, unless `Clues.is_known` is false.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mqsel.language.dialect import JMS, Dialect
from mqsel.language.nodes import (
    Arithmetic,
    Between,
    Call,
    Comparison,
    Computed,
    In,
    Like,
    Literal,
    Node,
    Sign,
    children,
    walk,
)
from mqsel.language.pattern import is_simple, parts_of, plain, segments, shape
from mqsel.values import KINDS

_MANY = 4  # patterns, or constants that are computed with


class Clues(NamedTuple):
    """What tests say of the values of their properties.

    Attributes:
        numbers: which they are compared with.
        texts: likewise.
        patterns: of LIKE, as segments.
        is_known: whether nothing else tells values apart.
        is_constant: whether the tests read no clock.
        orders_texts: whether texts are compared by their order.
        reads_texts: whether texts are read as numbers.
        parts_lines: whether wildcards match no line ends.
        counts_bytes: whether a wildcard matches one byte.
    """

    numbers: set[float]
    texts: list[str]
    patterns: list[tuple[tuple[str | None, ...], ...]]
    is_known: bool
    is_constant: bool
    orders_texts: bool
    reads_texts: bool
    parts_lines: bool = False
    counts_bytes: bool = False


def clues_of(roots: Sequence[Node], texts: Sequence[str]) -> Clues:
    """Return what computed tests, and operands of others, tell apart.

    Args:
        texts: more that something is compared with.
    """
    nodes: list[tuple[Node, Dialect]] = []
    for root in roots:
        test, dialect = (root.expression, root.dialect) if isinstance(root, Computed) else (root, JMS)
        nodes += [(node, dialect) for node in walk(test)]
    literals = [node.value for node, _ in nodes if type(node) is Literal and node.kind in KINDS]
    texts = [*texts, *[one for one in literals if isinstance(one, str)]]
    texts += [text for node, _ in nodes if isinstance(node, In) for text in node.choices]
    reads_texts = any(dialect.rules.text_numbers == "read" for _, dialect in nodes)
    numbers = _held([one for one in literals if isinstance(one, (int, float)) and not isinstance(one, bool)])
    numbers |= {number for text in texts if reads_texts and (number := number_in(text)) is not None}
    numbers |= {0, *[-one for one in numbers if any(isinstance(node, Sign) for node, _ in nodes)]}
    calls = [node.name for node, _ in nodes if isinstance(node, Call)]
    is_known = not any(isinstance(node, Arithmetic) for node, _ in nodes)
    if not is_known:
        pairs = itertools.product(sorted(numbers, key=abs)[:_MANY], repeat=2)
        numbers |= _held(number for pair in pairs for number in _combined(*pair))
        texts += [part for text in texts[:_MANY] for at in range(1, len(text)) for part in (text[:at], text[at:])]
    is_constant = "UTC" not in calls
    orders_texts = any(_orders_texts(node) for node, _ in nodes) and not reads_texts
    likes = [(node, dialect) for node, dialect in nodes if isinstance(node, Like) or _is_like(node)]
    compares = any(isinstance(node, (Comparison, Between)) for node, _ in nodes)
    is_known = is_known and is_constant and not (likes and reads_texts and compares)
    clues = Clues(numbers, texts, [], is_known, is_constant, orders_texts, reads_texts)
    return _with_patterns(clues, likes) if likes else clues


# What wildcards stand around a text for these operators to be LIKE.
_LIKE = {"LIKE": (), "CONTAINS": (True, True), "STARTSWITH": (False, True), "ENDSWITH": (True, False)}


def _is_like(node: Node) -> bool:
    return isinstance(node, Call) and node.name in _LIKE


def _orders_texts(node: Node) -> bool:
    if isinstance(node, Comparison) and node.operator in ("=", "<>"):
        return False
    is_number = [type(one) is Literal and KINDS.get(one.kind) == "number" for one in children(node)]
    return isinstance(node, (Comparison, Between)) and not any(is_number)


def _with_patterns(clues: Clues, likes: Sequence[tuple[Node, Dialect]]) -> Clues:
    texts, is_known = [*clues.texts], clues.is_known
    patterns: list[tuple[tuple[str | None, ...], ...]] = []
    units: set[str] = set()
    lines: set[bool] = set()
    for node, dialect in likes:
        try:
            parts = _parts(node, dialect)
        except _UnknownError:
            is_known = False
            continue
        if parts is None:
            continue
        pieces = segments(*plain(parts))
        form, text = shape(pieces)
        if form == "exact":
            texts.append(text)
            continue
        lines.add(dialect.rules.like_lines != "all" and not is_simple(parts, dialect))
        units |= {dialect.rules.like_units} if ("_", True) in parts else set()
        if form != "prefix" or text:
            patterns.append(tuple(map(tuple, pieces)))
    written = "".join([*texts, *[one or "" for pattern in patterns for piece in pattern for one in piece]])
    are_bytes = "bytes" in units or any(dialect.byte_strings == "unquoted" for _, dialect in likes)
    is_known = is_known and len(patterns) <= _MANY and len(lines) < 2 and len(units) < 2
    is_known = is_known and (written.isascii() or not are_bytes)
    is_known = is_known and not (clues.orders_texts and patterns) and not (True in lines and "\n" in written)
    return clues._replace(
        texts=texts,
        patterns=patterns[:_MANY],
        is_known=is_known,
        parts_lines=True in lines,
        counts_bytes="bytes" in units,
    )


class _UnknownError(Exception):
    """A pattern is not constant."""


def _parts(node: Node, dialect: Dialect) -> list[tuple[str, bool]] | None:
    """List the characters of a pattern, with whether each is a wildcard; None if it matches nothing.

    Raises: _UnknownError.
    """
    if isinstance(node, Like):
        return parts_of(node.pattern, node.escape, dialect)
    assert isinstance(node, Call)
    texts = [one.value for one in node.operands[1:] if isinstance(one, Literal) and isinstance(one.value, str)]
    if len(texts) < len(node.operands) - 1:
        raise _UnknownError
    if node.name == "LIKE":
        return parts_of(texts[0], texts[1] if len(texts) > 1 else None, dialect)
    before, behind = [[("%", True)] * is_open for is_open in _LIKE[node.name]]
    return [*before, *[(one, False) for one in texts[0]], *behind] if texts[0] else None


def _held(numbers: Iterable[float]) -> set[float]:
    """Leave out integers beyond all doubles: they tell no values apart but infinities, which are tried anyway."""
    return {one for one in numbers if isinstance(one, float) or abs(one) <= sys.float_info.max}


def _combined(one: float, other: float) -> list[float]:
    """Return what arithmetic makes of two numbers."""
    made = [one + other, one - other, one * other, one / 2]
    return [*made, one / other] if other else made


def number_in(text: str) -> float | None:
    """Return the number that a text may be read as."""
    try:
        return float(text.strip().rstrip("fFdD"))
    except ValueError:
        return None
