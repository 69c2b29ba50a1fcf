"""The tree of a selector: frozen nodes with spans, one traversal, one way back to text.

A chain of one precedence level is one node with many operands, as the grammar writes it; so a flat chain of 100,000
terms is a tree of depth two. Traversals never recurse. Spans and derived fields do not take part in equality.
Knows nothing of dialects, types or programs. Follows LANGUAGE §4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mqsel.errors import Span


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant as written; a sign directly before a number belongs to it.

    ``kind`` is "exact", "approximate", "string", "boolean" or "bytes": it keeps 1, 1.0 and TRUE apart.
    """

    kind: str
    value: int | float | str | bool | bytes
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name as written."""

    name: str
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Sign:
    """Unary ``+`` or ``-`` on anything but a bare number."""

    operator: str
    operand: Node
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``operands[0] operators[0] operands[1] …``, left-associative, all of ``+ -`` or all of ``* /``."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right`` with one of ``= <> < <= > >=``."""

    operator: str
    left: Node
    right: Node
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Between:
    """``operand [NOT] BETWEEN low AND high``."""

    negated: bool
    operand: Node
    low: Node
    high: Node
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class In:
    """``identifier [NOT] IN ('…', …)``."""

    negated: bool
    identifier: Identifier
    choices: tuple[str, ...]
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Like:
    """``identifier [NOT] LIKE pattern [ESCAPE escape]``.

    ``shape`` is "pattern" as parsed; the optimizer may know better: "prefix", "suffix" or "contains" of ``affix``.
    """

    negated: bool
    identifier: Identifier
    pattern: str
    escape: str | None
    span: Span = field(default=(0, 0), compare=False)
    shape: str = field(default="pattern", compare=False)
    affix: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """``identifier IS [NOT] NULL``."""

    negated: bool
    identifier: Identifier
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """``NOT operand``."""

    operand: Node
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """``operands[0] AND operands[1] AND …``, two or more."""

    operands: tuple[Node, ...]
    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """``operands[0] OR operands[1] OR …``, two or more."""

    operands: tuple[Node, ...]
    span: Span = field(default=(0, 0), compare=False)


Node = Literal | Identifier | Sign | Arithmetic | Comparison | Between | In | Like | IsNull | Not | And | Or

# The sub-expressions of a node, in the order they are evaluated. IN, LIKE and IS NULL read their identifier themselves.
_CHILDREN: dict[type, tuple[str, ...]] = {
    Literal: (),
    Identifier: (),
    Sign: ("operand",),
    Arithmetic: ("operands",),
    Comparison: ("left", "right"),
    Between: ("operand", "low", "high"),
    In: ("identifier",),
    Like: ("identifier",),
    IsNull: ("identifier",),
    Not: ("operand",),
    And: ("operands",),
    Or: ("operands",),
}


def children(node: Node) -> tuple[Node, ...]:
    """Give the direct sub-expressions of *node*, in order of evaluation."""
    found: list[Node] = []
    for name in _CHILDREN[type(node)]:
        value = getattr(node, name)
        if type(value) is tuple:
            found.extend(value)
        else:
            found.append(value)
    return tuple(found)


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
            stack.extend(children(node))
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
                bare = isinstance(node.operand, Literal) and node.operand.kind in ("exact", "approximate")
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
