"""Tree to smaller tree with the same four values on every message.

Each rule states the law it uses in the logic of language §1, where ``x OR NOT x`` is not always TRUE and an ERR that is
evaluated ends everything. A rule may drop what is never evaluated, and nothing else. Each node is visited once, however
deep it stands: NOTs are counted on the way down, chains are built on the way up. ``compile(..., optimize=False)`` skips
this module.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from itertools import compress, groupby

from mqsel.language.checker import apply, kind_of, literal_value
from mqsel.language.dialect import core_of
from mqsel.language.nodes import (
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
    rebuilt,
    walk,
    with_children,
)
from mqsel.language.operators import OPERATORS
from mqsel.language.pattern import segments, shape
from mqsel.language.selector import Selector
from mqsel.values import Truth, arithmetic


class _Chain:
    """An AND or OR that may still become part of one of its kind around it.

    Attributes:
        connective: And or Or: what it is once the NOTs around it are pushed inwards.
        node: what it was made from.
        operands: two or more, none of them neutral, none of them a chain; only the last may be a literal.
    """

    __slots__ = ("connective", "node", "operands")

    def __init__(self, connective: type[And | Or], node: And | Or, operands: deque[Node]) -> None:
        self.connective = connective
        self.node = node
        self.operands = operands


def optimize(selector: Selector) -> Selector:
    """Apply every rule, once, to every node from the leaves up."""
    selector = selector.of_core()
    if any(isinstance(node, (And, Or)) and node.rule != "kleene" for node in selector.order):
        return _tests_optimized(selector)
    # Neighbours become a BETWEEN where that is nothing but its two comparisons: the program names the dialect alone.
    core = core_of(selector.dialect)
    joins_equalities, joins_bounds = core.others["IN"] is core.others["="], core.between[False] is None
    neighbours = tuple(compress(_NEIGHBOURS, (joins_equalities, joins_bounds)))
    is_equality = all(core.others[f"{no}LIKE"] is core.others[sign] for no, sign in (("", "="), ("NOT ", "<>")))
    rules = _RULES if is_equality else {**_RULES, Like: (shape_affix,)}
    done: list[Node | _Chain] = []
    for node, negative in reversed(_polarities(selector.node)):
        if isinstance(node, (And, Or)):
            operands = done[-len(node.operands) :]
            del done[-len(node.operands) :]
            done.append(_chain(node, operands, negative, neighbours))
        elif isinstance(node, Not):
            if type(node.operand) not in _LOGIC:
                done.append(_pushed(node, _finished(done.pop(), neighbours), negative))
        elif _is_plain(node):
            done.append(Not(node, node.span) if negative else node)
        else:
            new = _rebuilt(node, done, neighbours) if type(node) in _OPERATIONS else node
            for rule in rules.get(type(node), ()):
                new = rule(new)
            done.append(_negated(new) if negative else new)
    root = _finished(done[0], neighbours)
    if root is selector.node:
        return selector
    names, option = selector.names, selector.match_option
    return Selector(selector.text, selector.dialect, root, walk(root), names, selector.constant, option)


def _tests_optimized(selector: Selector) -> Selector:
    """Apply the rules to each test: those of NOT, AND and OR are Kleene's."""

    def with_rules(node: Node) -> Node:
        return node if isinstance(node, (And, Or, Not)) else optimize(selector.part(node)).node

    root = rebuilt(selector.node, with_rules, (And, Or, Not))
    return selector._replace(node=root, order=walk(root))


def _polarities(root: Node) -> list[tuple[Node, bool]]:
    """List what the rules look at, parents before children and right before left: (node, whether it is negated).

    What stands under an odd number of NOTs is negated, where only NOT, AND and OR stand between. NOT is pushed through
    those (De Morgan, NOT NOT x = x) and stays outside a test: on a mismatch ``x = 5`` and ``x <> 5`` are both FALSE.
    """
    order: list[tuple[Node, bool]] = []
    stack = [(root, False)]
    while stack:
        visit = stack.pop()
        order.append(visit)
        node, negative = visit
        if isinstance(node, (And, Or)):
            stack += [(operand, negative) for operand in node.operands]
        elif isinstance(node, Not):
            stack.append((node.operand, type(node.operand) in _LOGIC and not negative))
        elif type(node) in _OPERATIONS and not _is_plain(node):
            stack += [(child, False) for child in children(node) if type(child) not in _LEAVES]
    return order


def _is_plain(node: Node) -> bool:
    """Report whether *node* is ``name relation literal``, which most tests are and no rule changes."""
    return type(node) is Comparison and type(node.left) is Identifier and type(node.right) is Literal


_LOGIC = frozenset((And, Or, Not))
_LEAVES = frozenset((Literal, Identifier))
_OPERATIONS = frozenset((Sign, Arithmetic, Comparison, Between))


def _rebuilt(node: Node, done: list[Node | _Chain], neighbours: _Neighbours) -> Node:
    """Put what became of the children of an operation into their places."""
    old = children(node)
    count = sum([type(child) not in _LEAVES for child in old])
    if not count:
        return node
    inner = iter(done[-count:])
    new = tuple([child if type(child) in _LEAVES else _operand(child, next(inner), neighbours) for child in old])
    del done[-count:]
    if all(map(operator.is_, old, new)):
        return node
    return with_children(node, new)


def _operand(old: Node, done: Node | _Chain, neighbours: _Neighbours) -> Node:
    """Return what became of an operand; a condition that shrank to a name stays a condition, as NOT NOT.

    ``(TRUE AND x) = FALSE`` reads x as a condition, which a mismatch makes FALSE; ``x = FALSE`` would be the mismatch.
    """
    new = _finished(done, neighbours)
    return Not(Not(new, old.span), old.span) if type(new) is Identifier else new


# ---- NOT, AND, OR ------------------------------------------------------------------------------------------------


def _negated(node: Node) -> Node:
    """NOT TRUE = FALSE; NOT (x IS NULL) = x IS NOT NULL; NOT stays outside any other test."""
    match node:
        case Literal():
            return node._replace(value=not node.value)
        case IsNull():
            return node._replace(negated=not node.negated)
    return Not(node, node.span)


def _pushed(node: Not, operand: Node, negative: bool) -> Node:
    """Return the NOT of a test, which stands under another NOT if *negative*: NOT NOT x = x, where x is a boolean."""
    if negative and kind_of(operand) == "boolean":
        return operand
    same = operand is node.operand and not isinstance(operand, (Literal, IsNull))
    once = node if same else _negated(operand)
    return _negated(once) if negative else once


def _chain(node: And | Or, operands: list[Node | _Chain], negative: bool, neighbours: _Neighbours) -> Node | _Chain:
    """TRUE AND x = x AND TRUE = x, and what stands after FALSE in an AND is never evaluated; dually for OR.

    ``x AND FALSE`` stays: it is ERR where x is. AND and OR are associative in four values: both sides evaluate the same
    operands in the same order. The longer chain takes the shorter in, so an operand moves log n times at most.
    """
    connective: type[And | Or] = type(node)
    if negative:
        connective = Or if connective is And else And
    neutral = connective is And
    kept: list[Node | _Chain] = []
    for operand in operands:
        if type(operand) is Literal and operand.value == neutral:
            continue
        kept.append(operand)
        last = operand.operands[-1] if type(operand) is _Chain and operand.connective is connective else operand
        if type(last) is Literal:
            break
    if len(kept) < 2:
        return kept[0] if kept else Literal("boolean", neutral, node.span)
    grown: deque[Node] = deque()
    for operand in kept:
        if type(operand) is not _Chain:
            grown.append(operand)  # type: ignore[arg-type]
        elif operand.connective is not connective:
            grown.append(_finished(operand, neighbours))
        elif len(operand.operands) <= len(grown):
            grown.extend(operand.operands)
        else:
            operand.operands.extendleft(reversed(grown))
            grown = operand.operands
    return _Chain(connective, node, grown)


def _finished(done: Node | _Chain, neighbours: _Neighbours) -> Node:
    """Return a chain as a node: nothing around it will become part of it."""
    if not isinstance(done, _Chain):
        return done
    operands = list(done.operands)
    for connective, rule in neighbours:
        operands = rule(operands) if connective is done.connective else _behind_not(rule, operands)
    if len(operands) == 1:
        return operands[0]
    node, same = done.node, type(done.node) is done.connective and len(operands) == len(done.node.operands)
    if same and all(map(operator.is_, operands, node.operands)):
        return node
    return done.connective(tuple(operands), node.span)


def _behind_not(rule: _Rule, operands: list[Node]) -> list[Node]:
    """NOT a AND NOT b = NOT (a OR b): what a rule says of neighbours in an OR it says of their NOTs in an AND."""
    if Not not in set(map(type, operands)):
        return operands
    changed: list[Node] = []
    for cls, run in groupby(operands, type):
        same: list[Node] = list(run)
        if cls is Not:
            joined = rule([node.operand for node in same if isinstance(node, Not)])
            if len(joined) < len(same):
                same = [Not(node, node.span) for node in joined]
        changed += same
    return changed


def join_equalities(operands: list[Node]) -> list[Node]:
    """``x = 'a' OR x = 'b'``, side by side, is ``x IN ('a', 'b')``: language §5 defines IN so, mismatch included."""
    joined: list[Node] = []
    for name, run in groupby(operands, _one_of):
        same = list(run)
        if name is not None and len(same) > 1:
            choices = [choice for node in same for choice in _choices(node)]
            first = same[0]
            assert isinstance(first, (Comparison, In))
            identifier = next(part for part in children(first) if isinstance(part, Identifier))
            same = [In(False, identifier, tuple(choices), (first.span[0], same[-1].span[1]), first.other)]
        joined += same
    return joined


def _one_of(node: Node) -> str | None:
    """Name the property that *node* wants to be one of some strings, if it does."""
    if type(node) is Comparison:
        left, right = node.left, node.right
        if type(left) is Identifier and type(right) is Literal and right.kind == "string" and node.operator == "=":
            return left.name
    elif type(node) is In and not node.negated:
        return node.identifier.name
    return None


def _choices(node: Node) -> tuple[str, ...]:
    match node:
        case In(_, _, choices):
            return choices
        case Comparison(_, _, Literal(_, str() as text)):
            return (text,)
    raise AssertionError(node)


def join_bounds(operands: list[Node]) -> list[Node]:
    """``x >= a AND x <= b``, side by side, is the ``x BETWEEN a AND b`` that is defined by that."""
    joined: list[Node] = []
    for operand in operands:
        high = _bound(operand, "<=")
        low = _bound(joined[-1], ">=") if high and joined else None
        if high and low and low[0].name == high[0].name:
            span = (joined[-1].span[0], operand.span[1])
            joined[-1] = Between(False, low[0], low[1], high[1], span, high[2])
        else:
            joined.append(operand)
    return joined


def _bound(node: Node, sign: str) -> tuple[Identifier, Literal, Truth] | None:
    if type(node) is Comparison and node.operator == sign:
        left, right = node.left, node.right
        if type(left) is Identifier and type(right) is Literal:
            return left, right, node.other
    return None


_Rule = Callable[[list[Node]], list[Node]]

# What neighbours in a chain become, each with the connective of their chain.
_Neighbours = tuple[tuple[type[And | Or], _Rule], ...]
_NEIGHBOURS: _Neighbours = ((Or, join_equalities), (And, join_bounds))


# ---- tests and values --------------------------------------------------------------------------------------------


def fold_constants(node: Node) -> Node:
    """An operation on literals is its value. ERR and UNKNOWN have no literal: what divides by zero stays."""
    if isinstance(node, Arithmetic):
        return _fold_head(node)
    operands = children(node)
    for operand in operands:
        if type(operand) is not Literal:
            return node
    value = apply(node, [literal_value(operand) for operand in operands if isinstance(operand, Literal)])
    if isinstance(value, Truth):
        return Literal("boolean", bool(value), node.span) if value in (Truth.TRUE, Truth.FALSE) else node
    return Literal("exact" if isinstance(value, int) else "approximate", value, node.span)


def _fold_head(node: Arithmetic) -> Node:
    """A chain is left-associative: its head may fold before a property is met, its tail may not."""
    head = node.operands[0]
    if type(head) is not Literal:
        return node
    total, folded = head.value, 0
    for sign, operand in zip(node.operators, node.operands[1:], strict=True):
        result = arithmetic(sign, total, operand.value) if type(operand) is Literal else None  # type: ignore[arg-type]
        if result is None:
            break
        total, folded = result, folded + 1
    if not folded:
        return node
    span = (node.span[0], node.span[1] if folded == len(node.operators) else node.operands[folded].span[1])
    literal = Literal("exact" if isinstance(total, int) else "approximate", total, span)
    if folded == len(node.operators):
        return literal
    return Arithmetic(node.operators[folded:], (literal, *node.operands[folded + 1 :]), node.span, node.null)


def literal_first(node: Node) -> Node:
    """``5 < x`` is ``x > 5``: a literal has no side effect and comparison is symmetric, NULL and mismatch included."""
    if type(node) is Comparison and type(node.left) is Literal and type(node.right) is Identifier:
        return Comparison(OPERATORS[node.operator].mirrored, node.right, node.left, node.span, node.other)
    return node


def shape_like(node: Node) -> Node:
    """A pattern without wildcards is an equality: the two agree on NULL (UNKNOWN) and, here, on a mismatch."""
    if not isinstance(node, Like) or node.shape != "pattern":
        return node
    found, text = shape(segments(node.pattern, node.escape))
    if found == "exact":
        sign = "<>" if node.negated else "="
        return Comparison(sign, node.identifier, Literal("string", text, node.span), node.span, node.other)
    return shape_affix(node)


def shape_affix(node: Node) -> Node:
    """``text%``, ``%text`` and ``%text%`` need no pattern matcher."""
    if not isinstance(node, Like) or node.shape != "pattern":
        return node
    found, text = shape(segments(node.pattern, node.escape))
    return node._replace(shape=found, affix=text) if text and found != "exact" else node


# In order, for each class the rules that look at it.
_RULES: dict[type, tuple[Callable[[Node], Node], ...]] = {
    Sign: (fold_constants,),
    Arithmetic: (fold_constants,),
    Comparison: (fold_constants, literal_first),
    Between: (fold_constants,),
    Like: (shape_like,),
}
