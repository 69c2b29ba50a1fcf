"""Tree to smaller tree with the same four values on every message.

`RULES` is an ordered tuple of pure functions ``node -> node``; each states the law it uses in the logic of LANGUAGE §1,
where ``x OR NOT x`` is not TRUE and an ERR that is evaluated ends everything. A rule may drop what is never evaluated,
never what is. Removable: ``compile(..., optimize=False)`` skips this room.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from mqsel.checker import Checked, apply, kind_of, literal_value
from mqsel.dialect import Dialect
from mqsel.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    children,
    walk,
)
from mqsel.values import Truth

_TRUE, _FALSE = Literal("boolean", True), Literal("boolean", False)


def optimize(checked: Checked) -> Checked:
    """Apply every rule, once, to every node from the leaves up."""
    done: dict[int, Node] = {}
    changed = False
    for node in checked.order:
        if not _BY_CLASS[type(node)]:
            done[id(node)] = node
            continue
        new = _rebuild(node, done)
        at = 0
        while at < len(RULES):
            kind = type(new)
            for number, rule in _BY_CLASS[kind]:
                if number >= at:
                    new = rule(new, checked.dialect)
                    if type(new) is not kind:
                        at = number + 1  # the rest of the rules, those for its new class
                        break
            else:
                break
        changed = changed or new is not node
        done[id(node)] = new
    if not changed:
        return checked
    root = done[id(checked.node)]
    return replace(checked, node=root, order=walk(root))


def _rebuild(node: Node, done: dict[int, Node]) -> Node:
    old = children(node)
    new = [done[id(child)] for child in old]
    if all(map(operator.is_, old, new)):
        return node
    match node:
        case And() | Or() | Arithmetic():
            return replace(node, operands=tuple(new))
        case Comparison():
            return replace(node, left=new[0], right=new[1])
        case Between():
            return replace(node, operand=new[0], low=new[1], high=new[2])
        case Not() | Sign():
            return replace(node, operand=new[0])
    raise AssertionError(node)


def fold_constants(node: Node, dialect: Dialect) -> Node:
    """An operation on literals is its value. ERR has no literal: what divides by zero stays."""
    operands = children(node)
    if isinstance(node, Arithmetic) and len(operands) > 2:
        return _fold_head(node, dialect)
    if not operands or not all(isinstance(operand, Literal) for operand in operands):
        return node
    value = apply(node, [literal_value(operand) for operand in operands if isinstance(operand, Literal)], dialect)
    if value is Truth.ERR:
        return node
    if isinstance(value, Truth):
        return Literal("boolean", bool(value), node.span)
    return Literal("exact" if isinstance(value, int) else "approximate", value, node.span)


def _fold_head(node: Arithmetic, dialect: Dialect) -> Node:
    """A chain is left-associative: its head may fold before a property is met, its tail may not."""
    head = node.operands[0]
    for place, sign in enumerate(node.operators):
        pair = Arithmetic((sign,), (head, node.operands[place + 1]), (node.span[0], node.operands[place + 1].span[1]))
        folded = fold_constants(pair, dialect)
        if not isinstance(folded, Literal):
            if place == 0:
                return node
            return replace(node, operators=node.operators[place:], operands=(head, *node.operands[place + 1 :]))
        head = folded
    return head


def flatten(node: Node, dialect: Dialect) -> Node:
    """AND and OR are associative in four values: both sides evaluate the same operands in the same order."""
    if not isinstance(node, (And, Or)):
        return node
    operands: list[Node] = []
    for operand in node.operands:
        operands.extend(operand.operands if type(operand) is type(node) else [operand])
    return node if len(operands) == len(node.operands) else replace(node, operands=tuple(operands))


def drop_neutral(node: Node, dialect: Dialect) -> Node:
    """TRUE AND x = x AND TRUE = x, and what stands after FALSE in an AND is never evaluated; dually for OR.

    ``x AND FALSE`` stays: it is ERR where x is.
    """
    if not isinstance(node, (And, Or)):
        return node
    neutral, decided = (_TRUE, _FALSE) if isinstance(node, And) else (_FALSE, _TRUE)
    operands: list[Node] = []
    for operand in node.operands:
        if operand == neutral:
            continue
        operands.append(operand)
        if operand == decided:
            break
    if len(operands) == len(node.operands):
        return node
    if len(operands) > 1:
        return replace(node, operands=tuple(operands))
    return operands[0] if operands else neutral


def push_not(node: Node, dialect: Dialect) -> Node:
    """NOT NOT x = x; De Morgan; NOT (x IS NULL) = x IS NOT NULL.

    NOT stays outside a comparison: on a mismatch ``x = 5`` and ``x <> 5`` are both FALSE.
    """
    if not isinstance(node, Not):
        return node
    negated: dict[int, Node] = {}
    for part in walk(node.operand, (And, Or)):
        match part:
            case And(operands):
                new: Node = Or(tuple(negated[id(operand)] for operand in operands), part.span)
            case Or(operands):
                new = And(tuple(negated[id(operand)] for operand in operands), part.span)
            case Not(operand) if kind_of(operand) == "boolean":
                new = operand
            case IsNull(positive, identifier):
                new = IsNull(not positive, identifier, part.span)
            case Literal():
                new = _FALSE if part == _TRUE else _TRUE
            case _:
                new = node if part is node.operand else Not(part, part.span)
        negated[id(part)] = new
    return negated[id(node.operand)]


def join_equalities(node: Node, dialect: Dialect) -> Node:
    """``x = 'a' OR x = 'b'``, side by side, is ``x IN ('a', 'b')``: LANGUAGE §5 defines IN so, mismatch included."""
    if not isinstance(node, Or):
        return node
    operands: list[Node] = []
    for operand in node.operands:
        choice = _membership(operand)
        before = _membership(operands[-1]) if operands else None
        if choice and before and choice.identifier == before.identifier:
            span = (before.span[0], choice.span[1])
            operands[-1] = In(False, choice.identifier, before.choices + choice.choices, span)
        else:
            operands.append(operand)
    if len(operands) == len(node.operands):
        return node
    return replace(node, operands=tuple(operands)) if len(operands) > 1 else operands[0]


def _membership(node: Node) -> In | None:
    if isinstance(node, In):
        return None if node.negated else node
    if isinstance(node, Comparison) and node.operator == "=":
        for name, text in ((node.left, node.right), (node.right, node.left)):
            if isinstance(name, Identifier) and isinstance(text, Literal) and text.kind == "string":
                return In(False, name, (str(text.value),), node.span)
    return None


def join_bounds(node: Node, dialect: Dialect) -> Node:
    """``x >= a AND x <= b``, side by side, is ``x BETWEEN a AND b`` where the dialect defines BETWEEN by that."""
    if not isinstance(node, And) or dialect.between_null != "expand":
        return node
    operands: list[Node] = []
    for operand in node.operands:
        high = _bound(operand, "<=")
        low = _bound(operands[-1], ">=") if operands else None
        if low and high and low[0] == high[0]:
            operands[-1] = Between(False, low[0], low[1], high[1], (operands[-1].span[0], operand.span[1]))
        else:
            operands.append(operand)
    if len(operands) == len(node.operands):
        return node
    return replace(node, operands=tuple(operands)) if len(operands) > 1 else operands[0]


def _bound(node: Node, operator: str) -> tuple[Identifier, Literal] | None:
    match node:
        case Comparison(sign, Identifier() as name, Literal() as bound) if sign == operator:
            return name, bound
    return None


def literal_first(node: Node, dialect: Dialect) -> Node:
    """``5 < x`` is ``x > 5``: a literal has no side effect and comparison is symmetric, NULL and mismatch included."""
    match node:
        case Comparison(operator, Literal() as left, Identifier() as right):
            return Comparison(_MIRRORED[operator], right, left, node.span)
    return node


_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def shape_like(node: Node, dialect: Dialect) -> Node:
    """A pattern without wildcards is an equality; ``text%``, ``%text`` and ``%text%`` need no pattern matcher.

    Equality and LIKE agree on NULL (UNKNOWN) and on a mismatch (FALSE with and without NOT, or ERR).
    """
    if not isinstance(node, Like) or node.shape != "pattern":
        return node
    wildcards, text = _split(node.pattern, node.escape)
    if not wildcards:
        sign = "<>" if node.negated else "="
        return Comparison(sign, node.identifier, Literal("string", text, node.span), node.span)
    if "_" in wildcards.values():
        return node
    shape = {(0,): "suffix", (len(text),): "prefix", (0, len(text)): "contains"}.get(tuple(sorted(wildcards)))
    return replace(node, shape=shape, affix=text) if shape and text else node


def _split(pattern: str, escape: str | None) -> tuple[dict[int, str], str]:
    """Give the wildcards of *pattern* by their place in its literal text, and that text. Runs of % are one."""
    wildcards: dict[int, str] = {}
    text: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == escape:
            if at + 1 < len(pattern) and pattern[at + 1] in ("_", "%", escape):
                at += 1
            text.append(pattern[at])
        elif character in "_%":
            wildcards[len(text)] = "_" if wildcards.get(len(text)) == "_" else character
        else:
            text.append(character)
        at += 1
    return wildcards, "".join(text)


# In order, each with the classes it looks at.
RULES: tuple[tuple[Callable[[Node, Dialect], Node], tuple[type, ...]], ...] = (
    (fold_constants, (Sign, Arithmetic, Comparison, Between, Not, And, Or)),
    (literal_first, (Comparison,)),
    (push_not, (Not,)),
    (flatten, (And, Or)),
    (drop_neutral, (And, Or)),
    (join_equalities, (Or,)),
    (join_bounds, (And,)),
    (shape_like, (Like,)),
)
_BY_CLASS: dict[type, list[tuple[int, Callable[[Node, Dialect], Node]]]] = {
    kind: [(number, rule) for number, (rule, classes) in enumerate(RULES) if kind in classes]
    for kind in (Literal, Identifier, Sign, Arithmetic, Comparison, Between, In, Like, IsNull, Not, And, Or)
}
