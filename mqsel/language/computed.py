"""Tests that only some products have: which tests these are, and what they yield for values of any types.

A test that the core has is left to it; any other becomes a `Computed`, a test of its properties to all that stands
behind the front end. Follows language §2 and §5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mqsel.language.dialect import Dialect
from mqsel.language.nodes import (
    And,
    Comparison,
    Computed,
    Identifier,
    Literal,
    Node,
    Not,
    Or,
    children,
    walk,
    with_children,
)
from mqsel.values import Truth, compare


def settled(order: Sequence[Node], dialect: Dialect) -> Node:
    """Return a tree in which each test that the core does not have is a `Computed`.

    Args:
        order: its nodes, as `walk` lists them.
    """
    count = 0

    def test(node: Node) -> Node:
        nonlocal count
        if type(node) is not Comparison or node.operator not in ("=", "<>"):
            return node
        if dialect.null_equality == "unknown" or type(node.right) is Literal:
            return node
        names = {one.name: one for one in walk(node) if type(one) is Identifier}
        count += 1
        return Computed(tuple(names.values()), node, dialect, node.span, count - 1)

    # Recursion stands in for a stack until the rest is here.
    def condition(node: Node) -> Node:
        if type(node) in (And, Or, Not):
            return with_children(node, [condition(one) for one in children(node)])
        return test(node)

    return condition(order[-1])


def truth_of(test: Computed, values: Sequence[Any]) -> Truth:
    """Return the truth of a computed test.

    Args:
        values: of its identifiers, in their order: None for NULL, and numbers of the classes of `mqsel.values`.
    """
    known = dict(zip([one.name for one in test.identifiers], values, strict=True))
    node = test.expression
    assert isinstance(node, Comparison)
    left, right = [known[one.name] if type(one) is Identifier else getattr(one, "value", None) for one in node[1:3]]
    if left is None or right is None:
        if left is right:
            return Truth.TRUE if node.operator == "=" else Truth.FALSE
        if left is None and test.dialect.null_equality == "left":
            return Truth.UNKNOWN
        return Truth.FALSE if node.operator == "=" else Truth.TRUE
    return compare(node.operator, left, right) if isinstance(left, str) is isinstance(right, str) else node.other
