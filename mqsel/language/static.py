"""What each product checks of the types that it sees in a text, before a message is there.

The types of JMS are checked by `mqsel.language.checker`; these checks are about a tree as it was parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mqsel.carets import quoted
from mqsel.errors import SelectorLimitError
from mqsel.language.advice import NOT_NEXT, wrong_type
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Identifier,
    In,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    children,
)
from mqsel.names import JMS_HEADERS
from mqsel.values import LITERAL_KINDS

_ORDER = ("<", "<=", ">", ">=")


def check_depth(order: Sequence[Node], text: str, dialect: Dialect) -> None:
    """Check how deep a tree is as a term of Erlang, which RabbitMQ's JMS client makes of it.

    Args: as for `check_parsed`.

    Raises: SelectorLimitError: deeper than the dialect allows.
    """
    limit = int(dialect.rules.max_depth)
    depths: dict[int, int] = {}
    for node in order:
        below = [depths[id(one)] for one in children(node)]
        if isinstance(node, (And, Or)):  # of three operands the last two are one
            below = [depth + min(place, len(below) - 2) for place, depth in enumerate(below)]
        # A sign is a term around its number, a name one around its text, and a list one of its values.
        is_inner = isinstance(node, (Identifier, In)) or (isinstance(node, Literal) and text[node.span[0]] in "+-")
        depth = depths[id(node)] = max(below, default=0) + (is_inner or not isinstance(node, Literal))
        if depth > limit:
            raise SelectorLimitError(
                f"nested more than {limit} deep: the product rejects the selector",
                selector=text,
                span=node.span,
                hint="each AND, OR, NOT, comparison and operator within another is one deeper, and so is each further "
                "term of a chain: split the selector, or use IN for several texts",
            )


def check_parsed(order: Sequence[Node], text: str, dialect: Dialect) -> None:
    """Check the types of a tree as the product does that does not check those of JMS.

    Args:
        order: its nodes as they were parsed, the tree itself last.

    Raises: SelectorTypeError: types that the product refuses.
    """
    rules = _CHECKS.get(dialect.rules.static_types)
    if rules is None:
        return
    for node in order:
        wrong = rules(node, text) if type(node) in _CHECKED else None
        if wrong is not None:
            hint = NOT_NEXT if isinstance(wrong[0], Not) and dialect.rules.not_operand == "primary" else None
            raise wrong_type(text, wrong[0].span, wrong[1], quoted(text[slice(*wrong[0].span)]), hint)
    kind_of = _declared_kind if rules is _numeric else _kind
    if _first(order[-1:], "boolean", "", kind_of) is not None:
        raise wrong_type(text, order[-1].span, "a selector is a condition", quoted(text[slice(*order[-1].span)]))


# A node of a wrong kind, and what should stand in its place.
_Wrong = tuple[Node, str] | None


def _kind(node: Node) -> str | None:
    """Return the kind of a node: "number", "string", "boolean"; None where a message decides."""
    if isinstance(node, Literal):
        return LITERAL_KINDS[node.kind]
    if isinstance(node, Identifier):
        return None
    return "number" if isinstance(node, (Sign, Arithmetic)) else "boolean"


def _declared_kind(node: Node) -> str | None:
    """Return the kind of a node; of a header of JMS what RabbitMQ's JMS client declares it to be."""
    if isinstance(node, Identifier) and node.name in JMS_HEADERS:
        return "string" if JMS_HEADERS[node.name] == "string" else "number"
    return _kind(node)


def _first(nodes: Sequence[Node], kind: str, what: str, kind_of: Callable[[Node], str | None] = _kind) -> _Wrong:
    """Return the first node that is known to be of another kind."""
    return next(((one, what) for one in nodes if kind_of(one) not in (None, kind)), None)


def _connected(node: Node, kind_of: Callable[[Node], str | None] = _kind) -> _Wrong:
    """Return what AND, OR or NOT does not take."""
    if isinstance(node, (And, Or, Not)):
        return _first(children(node), "boolean", f"{type(node).__name__.upper()} takes conditions", kind_of)
    return None


def _is_constant(node: Node, text: str) -> bool:
    """Report whether a node is a constant to ActiveMQ: a minus sign makes it an expression."""
    return isinstance(node, Literal) and text[node.span[0]] != "-"


def _ordered(node: Node, text: str) -> _Wrong:
    if isinstance(node, Between) or (isinstance(node, Comparison) and node.operator in _ORDER):
        return _first(children(node), "number", "order is for numbers only")
    if isinstance(node, Comparison):
        left, right = node.left, node.right
        null = next((one for one in (left, right) if isinstance(one, Literal) and one.value is None), None)
        if null is None and _is_constant(left, text) and _is_constant(right, text) and _kind(left) == "boolean":
            return _first([right], "boolean", "a boolean compares with a boolean")
        return None if null is None else (null, "'=' takes values")
    return _connected(node)


def _ranged(node: Node, text: str) -> _Wrong:
    wrong = _ordered(node, text)
    if wrong is None and isinstance(node, Between) and not node.negated:
        low, high = node.low, node.high
        if (
            isinstance(low, Literal)
            and isinstance(high, Literal)
            and all(_is_constant(one, text) for one in (low, high))
        ):
            return (high, "BETWEEN has a lower and an upper bound") if low.value > high.value else None  # type: ignore[operator]
    return wrong


def _numeric(node: Node, _: str) -> _Wrong:
    is_ordered = isinstance(node, Comparison) and node.operator in _ORDER
    if is_ordered or isinstance(node, (Between, Sign, Arithmetic)):
        return _first(children(node), "number", "arithmetic and order are for numbers only", _declared_kind)
    if isinstance(node, (In, Like)):
        return _first(children(node), "string", "IN and LIKE are for texts only", _declared_kind)
    if isinstance(node, Comparison):
        kinds = {*map(_declared_kind, children(node))} - {None}
        return (node, "expected two values of one type") if len(kinds) > 1 else None
    return _connected(node, _declared_kind)


_CHECKED = (Comparison, Between, In, Like, Not, And, Or, Sign, Arithmetic)
# By the choice of the field `static_types`: of JMS, and of products that check nothing, there is none.
_CHECKS: dict[str, Callable[[Node, str], _Wrong]] = {"ordered": _ordered, "ranged": _ranged, "numeric": _numeric}
