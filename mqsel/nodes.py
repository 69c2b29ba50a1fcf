"""The tree of a selector: frozen nodes with spans, one traversal, one way back to text.

A chain of one precedence level is one node with many operands, as the grammar writes it; so a flat chain of 100,000
terms is a tree of depth two. Traversals never recurse. Spans and derived fields do not take part in equality.
Knows nothing of dialects, types or programs. Follows LANGUAGE §4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mqsel.errors import Span


class _Tree:
    """What nodes have in common. None of it recurses: a tree may be deeper than the interpreter's stack."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Compare structure and literals; spans and derived fields do not count."""
        if not isinstance(other, _Tree):
            return NotImplemented
        pairs: list[tuple[object, object]] = [(self, other)]
        while pairs:
            a, b = pairs.pop()
            if a is b:
                continue
            if type(a) is not type(b) or _own(a) != _own(b):  # type: ignore[arg-type]
                return False
            below_a, below_b = children(a), children(b)  # type: ignore[arg-type]
            if len(below_a) != len(below_b):
                return False
            pairs.extend(zip(below_a, below_b, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(tuple((type(node), _own(node)) for node in walk(self)))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{unparse(self)}>"  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(_Tree):
    """A constant as written; a sign directly before a number belongs to it.

    ``kind`` is "exact", "approximate", "string", "boolean" or "bytes": it keeps 1, 1.0 and TRUE apart.
    """

    kind: str
    value: int | float | str | bool | bytes
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Identifier(_Tree):
    """A name as written."""

    name: str
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sign(_Tree):
    """Unary ``+`` or ``-`` on anything but a bare number."""

    operator: str
    operand: Node
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Arithmetic(_Tree):
    """``operands[0] operators[0] operands[1] …``, left-associative, all of ``+ -`` or all of ``* /``."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(_Tree):
    """``left operator right`` with one of ``= <> < <= > >=``."""

    operator: str
    left: Node
    right: Node
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Between(_Tree):
    """``operand [NOT] BETWEEN low AND high``."""

    negated: bool
    operand: Node
    low: Node
    high: Node
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class In(_Tree):
    """``identifier [NOT] IN ('…', …)``."""

    negated: bool
    identifier: Identifier
    choices: tuple[str, ...]
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Like(_Tree):
    """``identifier [NOT] LIKE pattern [ESCAPE escape]``.

    ``shape`` is "pattern" as parsed; the optimizer may know better: "prefix", "suffix" or "contains" of ``affix``.
    """

    negated: bool
    identifier: Identifier
    pattern: str
    escape: str | None
    span: Span = (0, 0)
    shape: str = "pattern"
    affix: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IsNull(_Tree):
    """``identifier IS [NOT] NULL``."""

    negated: bool
    identifier: Identifier
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Not(_Tree):
    """``NOT operand``."""

    operand: Node
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class And(_Tree):
    """``operands[0] AND operands[1] AND …``, two or more."""

    operands: tuple[Node, ...]
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Or(_Tree):
    """``operands[0] OR operands[1] OR …``, two or more."""

    operands: tuple[Node, ...]
    span: Span = (0, 0)


Node = Literal | Identifier | Sign | Arithmetic | Comparison | Between | In | Like | IsNull | Not | And | Or

# The sub-expressions of a node, in the order they are evaluated. IN, LIKE and IS NULL read their identifier themselves.
_CHILDREN: dict[type, Callable[[Any], tuple[Node, ...]]] = {
    Literal: lambda _: (),
    Identifier: lambda _: (),
    Sign: lambda node: (node.operand,),
    Arithmetic: lambda node: node.operands,
    Comparison: lambda node: (node.left, node.right),
    Between: lambda node: (node.operand, node.low, node.high),
    In: lambda node: (node.identifier,),
    Like: lambda node: (node.identifier,),
    IsNull: lambda node: (node.identifier,),
    Not: lambda node: (node.operand,),
    And: lambda node: node.operands,
    Or: lambda node: node.operands,
}

# What a node says itself, beside its sub-expressions.
_OWN: dict[type, tuple[str, ...]] = {
    Literal: ("kind", "value"),
    Identifier: ("name",),
    Sign: ("operator",),
    Arithmetic: ("operators",),
    Comparison: ("operator",),
    Between: ("negated",),
    In: ("negated", "choices"),
    Like: ("negated", "pattern", "escape"),
    IsNull: ("negated",),
    Not: (),
    And: (),
    Or: (),
}


def _own(node: Node) -> tuple[object, ...]:
    return tuple([getattr(node, name) for name in _OWN[type(node)]])


def children(node: Node) -> tuple[Node, ...]:
    """Give the direct sub-expressions of *node*, in order of evaluation."""
    return _CHILDREN[type(node)](node)


def walk(root: Node, into: tuple[type, ...] | None = None) -> list[Node]:
    """List every node below and including *root*, children before parents, left before right.

    Args:
        into: go below nodes of these classes only.
    """
    order: list[Node] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        if into is None or isinstance(node, into):
            stack += _CHILDREN[type(node)](node)
    order.reverse()
    return order


# Binding strength of each node when written without parentheses (LANGUAGE §4, weakest first).
_STRENGTH: dict[type, int] = {
    Or: 1,
    And: 2,
    Not: 3,
    Comparison: 4,
    Between: 4,
    In: 4,
    Like: 4,
    IsNull: 4,
    Arithmetic: 5,
    Sign: 7,
    Literal: 8,
    Identifier: 8,
}


def _strength(node: Node) -> int:
    if isinstance(node, Arithmetic) and node.operators[0] in "*/":
        return 6
    return _STRENGTH[type(node)]


def quote(text: str) -> str:
    """Write *text* as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def _literal(node: Literal) -> str:
    match node.kind:
        case "string":
            return quote(str(node.value))
        case "boolean":
            return "TRUE" if node.value else "FALSE"
        case "bytes":
            return f'"0x{bytes(node.value).hex().upper()}"'  # type: ignore[arg-type]
        case "approximate":
            return repr(node.value).replace("e", "E")
        case _:
            return str(node.value)


def unparse(root: Node) -> str:
    """Write *root* as a selector with the fewest parentheses; parsing that text gives an equal tree."""
    texts: dict[int, str] = {}

    def at(node: Node, strength: int) -> str:
        text = texts[id(node)]
        return text if _strength(node) >= strength else f"({text})"

    for node in walk(root):
        if id(node) in texts:
            continue
        match node:
            case Literal():
                text = _literal(node)
            case Identifier():
                text = node.name
            case Sign():
                # A sign directly before a number would become the number's own; before a negative number it does not.
                bare = isinstance(node.operand, Literal) and texts[id(node.operand)][0] != "-"
                inner = f"({texts[id(node.operand)]})" if bare else at(node.operand, 7)
                text = f"{node.operator} {inner}" if inner[0] in "+-" else node.operator + inner
            case Arithmetic():
                strength = _strength(node)
                parts = [at(node.operands[0], strength + 1)]
                for operator, operand in zip(node.operators, node.operands[1:], strict=True):
                    parts += [operator, at(operand, strength + 1)]
                text = " ".join(parts)
            case Comparison():
                text = f"{at(node.left, 5)} {node.operator} {at(node.right, 5)}"
            case Between():
                negation = "NOT " if node.negated else ""
                text = f"{at(node.operand, 5)} {negation}BETWEEN {at(node.low, 5)} AND {at(node.high, 5)}"
            case In():
                negation = "NOT " if node.negated else ""
                text = f"{node.identifier.name} {negation}IN ({', '.join(map(quote, node.choices))})"
            case Like():
                negation = "NOT " if node.negated else ""
                escape = "" if node.escape is None else f" ESCAPE {quote(node.escape)}"
                text = f"{node.identifier.name} {negation}LIKE {quote(node.pattern)}{escape}"
            case IsNull():
                text = f"{node.identifier.name} IS {'NOT ' if node.negated else ''}NULL"
            case Not():
                text = f"NOT {at(node.operand, 3)}"
            case And():
                text = " AND ".join([at(operand, 3) for operand in node.operands])
            case Or():
                text = " OR ".join([at(operand, 2) for operand in node.operands])
        texts[id(node)] = text
    return texts[id(root)]
