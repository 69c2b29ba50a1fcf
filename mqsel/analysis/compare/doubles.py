"""Computation with finite doubles, which all products do alike: they differ in how NaN and -0.0 compare.

So of a test it is enough to know which of these its operands may be. Follows language §5.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from mqsel.language.dialect import Dialect
from mqsel.language.nodes import (
    Arithmetic,
    Between,
    Comparison,
    Computed,
    Identifier,
    Literal,
    Node,
    Sign,
    children,
    walk,
    with_children,
)
from mqsel.language.operators import BOUNDS


class _Double(NamedTuple):
    """What a computed double may be, beside the finite ones that are not -0.0."""

    nan: bool = False
    minus_zero: bool = False
    infinite: bool = False


def in_doubles(test: Node) -> Node | None:
    """Return what a computed test with arithmetic is in the core, if its properties are finite doubles.

    Returns: None where it may be something else.
    """
    if not isinstance(test, Computed) or test.core is not None:
        return None
    dialect, node = test.dialect, test.expression
    match node:
        case Comparison(sign, left, right):
            pairs = [(sign, left, right)]
        case Between(negated, operand, low, high) if (
            dialect.between_null == "expand" and dialect.rules.connectives != "first"
        ):
            pairs = [*zip(BOUNDS[negated], (operand, operand), (low, high), strict=True)]
        case _:
            return None
    is_computed = any(isinstance(one, Arithmetic) for one in walk(node)) and dialect.rules.integers != "unbounded"
    if not is_computed or not all(_compare_alike(*pair, dialect) for pair in pairs):
        return None
    return with_children(node, [_without_zero(one) for one in children(node)])


def _compare_alike(sign: str, left: Node, right: Node, dialect: Dialect) -> bool:
    one, other = _double_of(left, dialect), _double_of(right, dialect)
    if one is None or other is None:
        return False
    is_equality = sign in ("=", "<>")
    constants = [node.value for node in (left, right) if isinstance(node, Literal)]
    if is_equality and (
        dialect.rules.null_equality == "value" or (dialect.rules.null_equality == "left" and not constants)
    ):
        return False
    if is_equality and isinstance(left, Literal):
        return False
    if dialect.rules.floats == "ieee":
        return True
    is_greatest = one.nan and other.nan if is_equality else other.nan if sign in ("<", "<=") else one.nan
    return not is_greatest and (any(constants) or not (one.minus_zero or other.minus_zero))


def _double_of(node: Node, dialect: Dialect) -> _Double | None:
    """Return what an operand may be, if its properties are finite doubles; None where it may be no double."""
    match node:
        case Identifier():
            return _Double()
        case Literal("exact" | "approximate", value) if abs(value) <= 1 << 53:  # type: ignore[arg-type]
            return _Double(minus_zero=math.copysign(1.0, float(value)) < 0 and not value)
        case Sign("-", operand):
            below = _double_of(operand, dialect)
            return below and below._replace(minus_zero=True)
        case Arithmetic(operators, operands):
            below = _double_of(operands[0], dialect)
            for place, sign in enumerate(operators):
                pair = operands[place], operands[place + 1]
                other = _double_of(pair[1], dialect)
                is_constant = all(isinstance(one, Literal) for one in pair) and not place
                if (
                    below is None
                    or other is None
                    or is_constant
                    or (sign == "/" and dialect.rules.division == "unknown")
                ):
                    return None
                below = _computed(sign, below, other, (pair[0] if not place else node, pair[1]))
            return below
    return None


def _computed(sign: str, one: _Double, other: _Double, nodes: tuple[Node, Node]) -> _Double | None:
    """Return what the result of an operation may be: of large numbers it may be infinite, of small ones a zero."""
    constants = [abs(node.value) for node in nodes if isinstance(node, Literal)]  # type: ignore[arg-type]
    nan = one.nan or other.nan
    match sign:
        case "+":
            return _Double(nan or (one.infinite and other.infinite), one.minus_zero and other.minus_zero, True)
        case "-":
            return _Double(nan or (one.infinite and other.infinite), one.minus_zero, True)
        case "*":
            is_scaled = any(isinstance(node, Literal) and node.value >= 1 for node in nodes)  # type: ignore[operator]
            minus_zero = not is_scaled or one.minus_zero or other.minus_zero
            return _Double(nan or ((one.infinite or other.infinite) and not any(constants)), minus_zero, True)
        case "/":
            by = nodes[1]
            return _Double(nan or not (isinstance(by, Literal) and by.value), True, True)
    return None


def _without_zero(node: Node) -> Node:
    """Return an operand without a 0.0 that is added: to the core -0.0 is a zero as any other."""
    match node:
        case Arithmetic(("+",), (first, Literal("approximate", 0.0))):
            return first
    return node
