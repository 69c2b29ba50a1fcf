"""Rewrites the tests of a product to tests of the core, wherever both give the same result for every message.

Each other test becomes a `Computed`, which Python evaluates. Follows language §2 and §5.
"""

from __future__ import annotations

import math
from typing import Any

from mqsel.language.checker import may_err
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Computed,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    children,
    sign_of,
    walk,
    with_children,
)
from mqsel.language.operators import BOUNDS, OPERATORS
from mqsel.language.pattern import is_escape, is_simple, plain, wildcards
from mqsel.names import DEFAULTS
from mqsel.values import KINDS, NOT, Truth

_CONNECTIVES = (And, Or, Not)

_EXACT = 1 << 53  # up to it an integer has a double of its own, and up to the next a float
_EXACT_SINGLE = 1 << 24


def settled(root: Node, dialect: Dialect) -> Node:
    """Return a tree in which each test is one of the core, or a `Computed`."""
    made: dict[int, Node] = {}
    is_matching = dialect.rules.connectives == "matched"
    matched = _matched(root) if is_matching else ()
    failing: set[int] = set()
    count = 0
    for node in walk(root, _CONNECTIVES):
        if isinstance(node, _CONNECTIVES):
            new = with_children(node, [made[id(one)] for one in children(node)])
            fails = [id(one) in failing for one in children(node)]
            if isinstance(new, (And, Or)):
                is_first = id(node) in matched and isinstance(new, And) and any(fails[1:])
                new = new._replace(
                    rule=("first" if is_first else "kleene") if is_matching else dialect.rules.connectives
                )
        else:
            new = _outcome(node, dialect)
            core = _core(new, dialect)
            if core is None or core != node:
                names = {one.name: one for one in walk(node) if type(one) is Identifier}
                is_evaluated = is_matching and isinstance(node, Between) and id(node) not in matched
                by = dialect.varied(connectives="kleene") if is_evaluated else dialect
                new = Computed(tuple(names.values()), node, by, node.span, count, core)
                count += 1
            else:
                new = core
            fails = [may_err(walk(new))]
        if any(fails):
            failing.add(id(node))
        made[id(node)] = new
    return made[id(root)]


def _matched(root: Node) -> set[int]:
    """Return the identities of the nodes under AND and OR alone: of these a product asks only whether they are TRUE."""
    found, stack = set(), [root]
    while stack:
        node = stack.pop()
        found.add(id(node))
        if isinstance(node, (And, Or)):
            stack += node.operands
    return found


def _outcome(node: Node, dialect: Dialect) -> Node:
    """Return a test with what it yields for a value of another kind."""
    core = core_of(dialect)
    if isinstance(node, Comparison):
        greatest = core.has_greatest and node.operator in (">", ">=")
        return node._replace(other=core.others[node.operator], has_greatest=greatest)
    if isinstance(node, (Identifier, Between, In, Like)):
        return node._replace(other=core.others[sign_of(node)])
    return node


def _core(node: Node, dialect: Dialect) -> Node | None:
    """Return tests of the core that have the results of a test; None where none are known to have them."""
    defaults = DEFAULTS.get(dialect.identifier_dots, {})
    if any(type(one) is Identifier and one.name in defaults for one in children(node) or (node,)):
        return None
    if isinstance(node, IsNull) or (isinstance(node, Literal) and node.kind == "boolean"):
        return node
    if dialect.rules.text_numbers == "read" or dialect.type_mismatch == "undocumented":
        return None
    match node:
        case Identifier():
            return node
        case Comparison(_, (Identifier() | Arithmetic()) as left, Literal()):
            subject = _subject(left, dialect)
            return None if subject is None else _compared(node._replace(left=subject), dialect)
        case Comparison(sign, Literal() as left, Identifier() as right):
            if dialect.rules.null_equality in ("left", "value") or dialect.rules.narrow_types != "promoted":
                return None
            swapped = _outcome(node._replace(operator=OPERATORS[sign].mirrored, left=right, right=left), dialect)
            found = _compared(swapped, dialect)
            return node if found is swapped and dialect.rules.floats == "ieee" else found
        case Between(negated, (Identifier() | Arithmetic()) as operand, Literal() as low, Literal() as high):
            subject = _subject(operand, dialect)
            is_negation = negated and dialect.between_null == "unknown"
            signs = BOUNDS[negated and not is_negation]
            tests = [
                subject and _compared(_outcome(Comparison(sign, subject, bound, node.span), dialect), dialect)
                for sign, bound in zip(signs, (low, high), strict=True)
            ]
            if None in tests or subject is None or dialect.between_null == "literal":
                return None
            is_range = not negated and all(type(one) is Comparison for one in tests)
            if is_range and dialect.between_null == "expand":
                return node._replace(operand=subject)
            both: Node = (Or if negated and not is_negation else And)(tuple(tests), node.span)  # type: ignore[arg-type]
            return Not(both, node.span) if is_negation else both
        case In(negated, name, choices):
            if not _bytes_are_texts(dialect):
                return node
            if negated and not _is_negation("NOT IN", "IN", dialect):
                return None
            equal = [_equal(name, choice.encode("utf-8", "surrogatepass"), node, dialect) for choice in choices]
            listed = _outcome(node._replace(negated=False), dialect)
            return _negated(Or((listed, *equal), node.span), negated=negated)
        case Like():
            return _like(node, dialect)
    return None


def _subject(node: Node, dialect: Dialect) -> Node | None:
    """Return what the core computes for an operand: a property, or arithmetic on one with literals."""
    chains: list[Arithmetic] = []
    while isinstance(node, Arithmetic):
        if dialect.rules.integers != "narrow" or dialect.rules.division != "ieee" or node.null is not Truth.UNKNOWN:
            return None
        first, second = node.operands[:2]
        if isinstance(first, Literal) and node.operators[0] in ("+", "*"):
            node = node._replace(operands=(second, first, *node.operands[2:]))
        elif (
            node.operators[0] == "+"
            and not isinstance(first, Arithmetic)
            and dialect.rules.arithmetic_mismatch == "joined"
        ):
            return None  # a text would be joined
        if not all(isinstance(one, Literal) and _is_plain(one) for one in node.operands[1:]):
            return None
        chains.append(node._replace(rule="narrow"))
        node = node.operands[0]
    if not isinstance(node, Identifier):
        return None
    for chain in reversed(chains):
        node = chain._replace(operands=(node, *chain.operands[1:]))
    return node


def _is_int64(literal: Literal) -> bool:
    """Report whether a literal is a number of the core."""
    value = literal.value
    return literal.kind == "approximate" or (literal.kind == "exact" and -(1 << 63) <= value < 1 << 63)  # type: ignore[operator]


def _is_plain(literal: Literal) -> bool:
    """Report whether its value determines the type of a number: -2147483648 is a minus and an INT64."""
    return _is_int64(literal) and (literal.kind == "approximate" or literal.value != -(1 << 31))


def _negated(node: Node, *, negated: bool) -> Node:
    return Not(node, node.span) if negated else node


def _is_negation(sign: str, other: str, dialect: Dialect) -> bool:
    """Report whether an operator yields for values of another kind what NOT of the other one does."""
    others = core_of(dialect).others
    return others[sign] is NOT[others[other]]


def _bytes_are_texts(dialect: Dialect) -> bool:
    return dialect.byte_strings == "unquoted"


def _equal(name: Node, value: Any, node: Node, dialect: Dialect) -> Node:
    kind = "string" if isinstance(value, str) else "bytes"
    return _outcome(Comparison("=", name, Literal(kind, value, node.span), node.span), dialect)


def _compared(node: Node, dialect: Dialect) -> Node | None:
    """Return `_core` of a property, or arithmetic, compared with a constant."""
    assert isinstance(node, Comparison)
    sign, subject, literal = node[:3]
    assert isinstance(literal, Literal)
    value, kind = literal.value, KINDS.get(literal.kind)
    is_order = sign not in ("=", "<>")
    if kind is None or (is_order and (kind != "number" or dialect.type_mismatch == "ordered")):
        return None
    made: Node = node
    if kind == "number":
        if not _is_as_double(literal, dialect):
            return None
        is_minus = math.copysign(1.0, float(value)) < 0
        # No property is -0.0, but what is computed may be, and so may a constant.
        if value == 0 and dialect.rules.floats == "total" and (is_minus or isinstance(subject, Arithmetic)):
            made = _beside_zero(node, is_minus=is_minus, dialect=dialect)
    elif isinstance(subject, Arithmetic):
        return None
    elif kind in ("string", "byte string") and _bytes_are_texts(dialect):
        texts = (value, value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else (value,)
        pair: list[Node] = [_equal(subject, one, node, dialect) for one in texts]
        if len(pair) == 1:
            try:
                pair.append(_equal(subject, value.decode("utf-8"), node, dialect))  # type: ignore[union-attr]
            except UnicodeDecodeError:  # no string has these bytes
                return node
        made = _negated(Or(tuple(pair), node.span), negated=sign == "<>")
    if dialect.rules.null_equality == "value" and not is_order:
        equal = made if sign == "=" else node._replace(operator="=", other=core_of(dialect).others["="])
        if sign == "<>" and isinstance(made, Not):
            equal = made.operand
        name = next(one for one in walk(subject) if isinstance(one, Identifier))
        made = _negated(And((IsNull(True, name, node.span), equal), node.span), negated=sign == "<>")
    # A NOT of what a mismatch is: of `=` and `<>` both may be FALSE.
    return None if isinstance(made, Not) and not _is_negation("<>", "=", dialect) else made


def _is_as_double(literal: Literal, dialect: Dialect) -> bool:
    """Report whether numbers compare with a constant as in the core, where they are promoted as in Java."""
    size = abs(literal.value)  # type: ignore[arg-type]
    if not _is_int64(literal):
        return False
    if literal.kind == "exact":
        if dialect.rules.integers in ("long", "unbounded"):  # a float is a double there
            return size <= _EXACT_SINGLE
        return dialect.rules.mixed_numbers == "double" or size <= _EXACT
    return dialect.rules.mixed_numbers == "double" or size < _EXACT


def _beside_zero(node: Comparison, *, is_minus: bool, dialect: Dialect) -> Node:
    """Compare with 0.0 or -0.0 in the total order: the sign of a zero is that of an infinity, one divided by it."""
    sign, subject, zero, span, *_ = node
    others = core_of(dialect).others
    reciprocal = Arithmetic(("/",), (Literal("approximate", 1.0, span), subject), span)
    equal = Comparison("=", subject, zero, span, others["="])

    def zeros(sign: str) -> Node:
        return And((equal, Comparison(sign, reciprocal, zero, span, others[sign])), span)

    same, different = ("<", ">") if is_minus else (">", "<")
    if sign in ("=", "<>"):
        return _negated(zeros(same), negated=sign == "<>")
    if sign == (">" if is_minus else "<"):
        return Or((node, zeros(different)), span)
    if sign == ("<=" if is_minus else ">="):
        return And((node, Not(zeros(different), span)), span)
    return node


def _like(node: Like, dialect: Dialect) -> Node | None:
    if node.escape is not None and not is_escape(node.escape, dialect):
        return None
    parts = wildcards(node.pattern, node.escape, dialect)
    are_bytes_special = dialect.rules.like_units == "bytes" and ("_", True) in parts
    are_lines_special = (
        dialect.rules.like_lines != "all" and any(wild for _, wild in parts) and not is_simple(parts, dialect)
    )
    if _bytes_are_texts(dialect) or are_bytes_special or are_lines_special:
        return None
    if dialect.rules.like_escapes == "wildcards":
        return node
    pattern, escape = plain(parts)
    return node._replace(pattern=pattern, escape=escape)
