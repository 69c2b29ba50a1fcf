"""The tree of a selector: immutable nodes with spans, one traversal, one way back to text.

A chain of one precedence level is one node with many operands, as the grammar writes it; so a flat chain of 100,000
terms is a tree of depth two. A node is a tuple with names: a frozen dataclass takes seven times as long to make, and
making nodes is most of reading a selector. Traversals never recurse. Spans, outcomes and derived fields do not take
part in equality.

What products read differently stands on the nodes, as outcomes: ``other`` of a test is what it yields for a value of
another kind, for NULL being UNKNOWN; ``null`` of arithmetic, of a sign and of BETWEEN is what they yield for NULL.
The parser writes them, see `mqsel.language.dialect.Core`. Knows nothing of types or programs. Follows language §4.
"""

import re
from collections.abc import Callable, Sequence
from operator import attrgetter, getitem, is_, itemgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from mqsel.carets import Span
from mqsel.language.dialect import Core, Dialect
from mqsel.language.operators import (
    FUNCTIONS,
    KEYWORDS,
    NAMES,
    OPERATORS,
    PREDICATE,
    PRIMARY,
    RESERVED_OF,
    SIGN,
    SUM,
    TEXT_TESTS,
    Operator,
)
from mqsel.names import IGNORABLE, NAME_PREFIXES, SECTION_FIELDS
from mqsel.values import Truth

# What has nodes among its fields stands before the union of all: to those who run the code a node is what all are.
if TYPE_CHECKING:
    Node: TypeAlias = (
        "Literal | Identifier | Computed | Call | Sign | Arithmetic | Comparison | Between | In | Like | "
        "IsNull | Not | And | Or"
    )
else:
    Node = tuple


def _equal(self: Node, other: object) -> bool:
    """Compare structure and literals; spans and derived fields do not count."""
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


def _differ(self: Node, other: object) -> bool:
    return not _equal(self, other)


def _hash(self: Node) -> int:
    return hash(tuple([(type(node), _own(node)) for node in walk(self)]))


def _repr(self: Node) -> str:
    return f"{type(self).__name__}<{unparse(self)}>"


_Row = TypeVar("_Row")
# A row of fields from a tuple of them, in half the time its class takes; compiled modules have it in C (_rows.pxd).
row: Callable[[type[_Row], tuple[Any, ...]], _Row] = tuple.__new__  # type: ignore[assignment]
field: Callable[[tuple[Any, ...], int], Any] = getitem  # of a row, likewise

# What stands for the module cython where it is not installed: nothing but a build needs it.
interpreted = SimpleNamespace(compiled=False)

_Class = TypeVar("_Class", bound=type)


def _tree(cls: _Class) -> _Class:
    """Return a class of nodes with what they all have. None of it recurses: a tree may be deeper than the stack."""
    cls.__eq__ = _equal  # type: ignore[assignment]
    cls.__ne__ = _differ  # type: ignore[assignment]
    cls.__hash__ = _hash  # type: ignore[assignment]
    cls.__repr__ = _repr  # type: ignore[assignment]
    return cls


@_tree
class Literal(NamedTuple):
    """A constant as written; a sign directly before a number belongs to it.

    ``kind`` is "exact", "approximate", "string", "boolean" or "bytes": it keeps 1, 1.0 and TRUE apart. Within a
    `Computed` it may be "null", of the value None, or "big": an integer that no INT64 holds.
    """

    kind: str
    value: int | float | str | bool | bytes
    span: Span = (0, 0)


@_tree
class Identifier(NamedTuple):
    """A name as written: a value, or a condition, which wants a boolean."""

    name: str
    span: Span = (0, 0)
    other: Truth = Truth.FALSE


@_tree
class Computed(NamedTuple):
    """A test that only some products have: its truth is computed from values, by `mqsel.language.computed`.

    To all that stands behind the front end it is one test of its properties, which may be TRUE, FALSE, UNKNOWN or ERR.

    Attributes:
        identifiers: the properties that it reads, each once, in order of first reading.
        expression: the test as it was parsed.
        dialect: the choices that it is computed by.
        number: which of the computed tests of its selector it is, from 0.
        core: the tests of the core that have the same results, joined by its connectives; None where none do.
    """

    identifiers: tuple[Identifier, ...]
    expression: Node
    dialect: Dialect
    span: Span = (0, 0)
    number: int = 0
    core: Node | None = None


@_tree
class Call(NamedTuple):
    """A test or a function that the core has no node for; it stands within a `Computed` alone.

    ``name`` is "IN" of the first operand and its choices, "LIKE" of an operand, a pattern and perhaps an escape
    character, "IS NULL", "CONTAINS", "STARTSWITH", "ENDSWITH", "EXISTS" or "UTC".
    """

    name: str
    negated: bool
    operands: tuple[Node, ...]
    span: Span = (0, 0)


@_tree
class Sign(NamedTuple):
    """Unary ``+`` or ``-`` on anything but a bare number."""

    operator: str
    operand: Node
    span: Span = (0, 0)
    null: Truth = Truth.UNKNOWN


@_tree
class Arithmetic(NamedTuple):
    """``operands[0] operators[0] operands[1] …``, left-associative, all of ``+ -`` or all of ``* / %``.

    ``rule`` is the dialect's choice of ``integers``, "java" or "narrow". Of the latter the core has arithmetic with
    literals alone: an INT32 with one that INT32 holds is INT32, whatever is divided FLOAT64, a FLOAT32 FLOAT64, and
    what is no number ERR.
    """

    operators: tuple[str, ...]
    operands: tuple[Node, ...]
    span: Span = (0, 0)
    null: Truth = Truth.UNKNOWN
    rule: str = "java"


@_tree
class Comparison(NamedTuple):
    """``left operator right`` with one of ``= <> < <= > >=``; NaN may be greater than every number."""

    operator: str
    left: Node
    right: Node
    span: Span = (0, 0)
    other: Truth = Truth.FALSE
    has_greatest: bool = False


@_tree
class Between(NamedTuple):
    """``operand [NOT] BETWEEN low AND high``."""

    negated: bool
    operand: Node
    low: Node
    high: Node
    span: Span = (0, 0)
    other: Truth = Truth.FALSE
    null: Truth | None = None


@_tree
class In(NamedTuple):
    """``identifier [NOT] IN ('…', …)``."""

    negated: bool
    identifier: Identifier
    choices: tuple[str, ...]
    span: Span = (0, 0)
    other: Truth = Truth.FALSE


@_tree
class Like(NamedTuple):
    """``identifier [NOT] LIKE pattern [ESCAPE escape]``.

    ``shape`` is "pattern" as parsed; the optimizer may know better: "prefix", "suffix" or "contains" of ``affix``.
    """

    negated: bool
    identifier: Identifier
    pattern: str
    escape: str | None
    span: Span = (0, 0)
    other: Truth = Truth.FALSE
    shape: str = "pattern"
    affix: str = ""


@_tree
class IsNull(NamedTuple):
    """``identifier IS [NOT] NULL``."""

    negated: bool
    identifier: Identifier
    span: Span = (0, 0)


@_tree
class Not(NamedTuple):
    """``NOT operand``."""

    operand: Node
    span: Span = (0, 0)


@_tree
class And(NamedTuple):
    """``operands[0] AND operands[1] AND …``, two or more; ``rule`` is the dialect's choice of ``connectives``."""

    operands: tuple[Node, ...]
    span: Span = (0, 0)
    rule: str = "kleene"


@_tree
class Or(NamedTuple):
    """``operands[0] OR operands[1] OR …``, two or more; ``rule`` as in an `And`."""

    operands: tuple[Node, ...]
    span: Span = (0, 0)
    rule: str = "kleene"


# The sub-expressions of a node, in the order they are evaluated: its operands, or the fields at these places. Leaves
# have none; IN, LIKE and IS NULL read their identifier themselves.
_CHILDREN: dict[type[Node], Callable[[Any], tuple[Node, ...]]] = {
    Computed: attrgetter("identifiers"),
    Call: attrgetter("operands"),
    Sign: itemgetter(slice(1, 2)),
    Arithmetic: attrgetter("operands"),
    Comparison: itemgetter(slice(1, 3)),
    Between: itemgetter(slice(1, 4)),
    In: itemgetter(slice(1, 2)),
    Like: itemgetter(slice(1, 2)),
    IsNull: itemgetter(slice(1, 2)),
    Not: itemgetter(slice(0, 1)),
    And: attrgetter("operands"),
    Or: attrgetter("operands"),
}

# What a node says itself: its fields without sub-expressions, and without what does not take part in equality.
_BELOW = ("left", "right", "identifier", "identifiers", "operand", "low", "high", "operands")
_NOT_OWN = {*_BELOW, "span", "number", "core", "rule", "other", "has_greatest", "null", "shape", "affix"}
_OWN = {cls: tuple(name for name in cls._fields if name not in _NOT_OWN) for cls in (Literal, Identifier, *_CHILDREN)}


def _own(node: Node) -> tuple[object, ...]:
    return tuple([getattr(node, name) for name in _OWN[type(node)]])


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct sub-expressions of *node*, in order of evaluation."""
    below = _CHILDREN.get(type(node))
    return () if below is None else below(node)


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
        below = _CHILDREN.get(type(node))
        if below is not None and (into is None or isinstance(node, into)):
            stack += below(node)
    order.reverse()
    return order


def with_children(node: Node, below: Sequence[Node]) -> Node:
    """Return the same node with other sub-expressions, as many as it has."""
    if isinstance(node, (Arithmetic, Call, And, Or)):
        return node._replace(operands=tuple(below))
    if isinstance(node, Computed):
        return node._replace(identifiers=tuple(below))  # type: ignore[arg-type]
    names = [name for name in node._fields if name in _BELOW]
    return node._replace(**dict(zip(names, below, strict=True)))  # type: ignore[arg-type]


def rebuilt(root: Node, change: Callable[[Node], Node], into: tuple[type, ...] | None = None) -> Node:
    """Return a tree with each node changed, the nodes below it first; an unchanged tree is the same object.

    Args:
        change: Takes a node that has its new sub-expressions, and returns what replaces it.
        into: Go below nodes of these classes only. The default is None: below all.
    """
    done: list[Node] = []
    for node in walk(root, into):
        below = children(node) if into is None or isinstance(node, into) else ()
        first = len(done) - len(below)
        is_same = all(map(is_, done[first:], below))
        done[first:] = [change(node if is_same else with_children(node, done[first:]))]
    return done[0]


def mapped(root: Node, change: Callable[[Node], Node]) -> Node:
    """Return a tree with each node changed, the nodes below it first; a computed test becomes what was parsed."""
    return rebuilt(root, lambda node: mapped(node.expression, change) if isinstance(node, Computed) else change(node))


def sign_of(node: Node) -> str:
    """Return the operator of a test, of which its NOT is a part; empty for what is none."""
    if type(node) is Comparison:
        return node.operator
    if isinstance(node, (Between, In, Like)):
        operator = _OPERATORS[type(node)].spelling  # type: ignore[union-attr]
        return f"NOT {operator}" if node.negated else operator
    return ""


def with_outcomes(root: Node, core: Core) -> Node:
    """Return the same tree with the outcomes that another core has."""

    def with_own(node: Node) -> Node:
        null = core.between[node.negated] if isinstance(node, Between) else core.null
        known: dict[str, Any] = {"other": core.others.get(sign_of(node)), "null": null}
        return node._replace(**{name: known[name] for name in known if name in node._fields})

    return rebuilt(root, with_own)


def of_core(root: Node) -> Node:
    """Return the same tree with the tests of the core that computed tests have."""
    return rebuilt(root, lambda node: (isinstance(node, Computed) and node.core) or node, (And, Or, Not))


# The operators of nodes that have no choice.
_OPERATORS: dict[type, Operator | None] = {
    Literal: None,
    Identifier: None,
    Computed: None,
    Call: None,
    Or: OPERATORS["OR"],
    And: OPERATORS["AND"],
    Not: OPERATORS["NOT"],
    Between: OPERATORS["BETWEEN"],
    In: OPERATORS["IN"],
    Like: OPERATORS["LIKE"],
    IsNull: OPERATORS["IS"],
}


def operator_of(node: Node) -> Operator | None:
    """Return the row of the operator of *node*; of a chain, that of its first; None for what has none."""
    if isinstance(node, (Comparison, Sign)):
        return OPERATORS[node.operator]
    return OPERATORS[node.operators[0]] if isinstance(node, Arithmetic) else _OPERATORS[type(node)]


def _strength(node: Node) -> int:
    """Return how strongly *node* binds when written without parentheses."""
    node = node.expression if type(node) is Computed else node
    row = operator_of(node)
    if isinstance(node, Call) and node.name not in FUNCTIONS:
        return PREDICATE
    return PRIMARY if row is None else SIGN if isinstance(node, Sign) else row.binding


def quote(text: str) -> str:
    """Write *text* as a string literal."""
    return "'" + text.replace("'", "''") + "'"


# What no name without quotes has, or begins with, of ASCII.
_ODD = "".join(
    re.escape(one) for one in map(chr, range(128)) if not (one.isalnum() or one in {"_", "$", ".", *IGNORABLE})
)
_BARE = re.compile(f"[^{_ODD}0-9.][^{_ODD}]*")


def written_name(name: str, dialect: Dialect | None = None) -> str:
    """Write a name, in quotes where it is no identifier: those of the dialect, double ones without one."""
    if _is_bare(name, dialect):
        return name
    if dialect is None or dialect.rules.quoted_names not in ("brackets", "both"):
        return '"' + name.replace('"', '""') + '"'
    scope = ""
    if dialect.rules.quoted_names == "brackets":
        name = name.replace("[", "[[")
    elif _scope_of(name, dialect):
        scope, name = _scope_of(name, dialect) + ".", name.partition(".")[2]
    if dialect.rules.quoted_names == "both" and min(name, default=" ") < " ":  # brackets hold no control characters
        return scope + written_name(name)
    return f"{scope}[{name.replace(']', ']]')}]"


def _scope_of(name: str, dialect: Dialect) -> str:
    """Return the section or scope of a message that a name begins with; empty where it begins with none."""
    prefix, dot, _ = name.partition(".")
    return prefix if dot and NAME_PREFIXES.get(dialect.identifier_dots, {}).get(prefix) == prefix else ""


def _is_bare(name: str, dialect: Dialect | None) -> bool:
    """Report whether a name is an identifier as it is."""
    reserved = KEYWORDS if dialect is None else RESERVED_OF[dialect.rules.words]
    if name.isascii() and name.upper() in reserved:
        return False
    if dialect is None or dialect.rules.letters == "java":
        return _BARE.fullmatch(name) is not None
    first, part = NAMES[dialect.rules.letters]
    prefix = _scope_of(name, dialect)
    if prefix:
        field = name.partition(".")[2]
        return re.fullmatch(f"{first}{part}*", field) is not None and field in SECTION_FIELDS.get(prefix, (field,))
    more = "|[.]" if dialect.identifier_dots == "yes" else ""
    return re.fullmatch(f"{first}(?:{part}{more})*", name) is not None


def _literal(node: Literal, dialect: Dialect | None) -> str:
    match node.kind:
        case "string":
            return quote(str(node.value))
        case "boolean":
            return "TRUE" if node.value else "FALSE"
        case "bytes":
            digits = f"0x{bytes(node.value).hex().upper()}"  # type: ignore[arg-type]
            return digits if dialect is not None and dialect.byte_strings == "unquoted" else f'"{digits}"'
        case "approximate":
            written = repr(node.value).replace("e", "E")
            if dialect is None:
                return written
            # No dialect has a word for an infinity: what one reads as such is a number out of range.
            written = written.replace("inf", "1E400")
            return written if "E" not in written or "." in written else written.replace("E", ".0E")
        case "null":
            return "NULL"
        case _:
            return str(node.value)


def unparse(root: Node, dialect: Dialect | None = None) -> str:
    """Return *root* as a selector that parses to an equal tree, with the fewest parentheses.

    Behind NOT they stand also where only some dialects need them, so that the text is the same in all.

    Args:
        dialect: what it was read as; without it names and numbers are written as IBM MQ and JMS have them.
    """
    pieces: list[str] = []
    todo: list[str | Node] = [root]
    while todo:
        piece = todo.pop()
        if isinstance(piece, str):
            pieces.append(piece)
        else:
            todo += reversed(pieces_of(piece, dialect))
    return "".join(pieces)


def _call(node: Call) -> list[str | Node]:
    """Write a call: the others are functions."""
    word = f" NOT {node.name}" if node.negated else f" {node.name}"
    first = _at(node.operands[0], SUM) if node.operands else []
    match node.name:
        case "IS NULL":
            return [*first, " IS NOT NULL" if node.negated else " IS NULL"]
        case "IN":
            listed: list[str | Node] = [one for operand in node.operands[1:] for one in (", ", *_at(operand, SUM))]
            return [*first, word, " (", *listed[1:], ")"]
        case "LIKE":
            escape: list[str | Node] = [" ESCAPE ", *_at(node.operands[2], SUM)] if len(node.operands) > 2 else []
            return [*first, word, " ", *_at(node.operands[1], SUM), *escape]
        case name if name in TEXT_TESTS:
            return [*first, word, " ", node.operands[1]]
    return [node.name, "(", *node.operands, ")"]


def _at(node: Node, strength: int) -> list[str | Node]:
    return [node] if _strength(node) >= strength else ["(", node, ")"]


def pieces_of(node: Node, dialect: Dialect | None = None) -> list[str | Node]:
    """Write *node*, and leave what is below it to be written: texts, and nodes in their places."""
    match node:
        case Literal():
            return [_literal(node, dialect)]
        case Identifier():
            return [written_name(node.name, dialect)]
        case Computed(_, expression):
            return [expression]
        case Call():
            return _call(node)
        case Sign(operator, operand):
            # A sign directly before a number would become the number's own; before a negative number it does not.
            signed = isinstance(operand, Sign) or (
                isinstance(operand, Literal) and _literal(operand, dialect)[0] == "-"
            )
            if isinstance(operand, Literal) and not signed:
                return [operator, "(", operand, ")"]
            if signed and dialect is not None and dialect.rules.signs == "one":
                return [operator, "(", operand, ")"]
            return [operator, " " if signed else "", *_at(operand, SIGN)]
        case Arithmetic(operators, operands):
            strength = _strength(node) + 1
            below = _at(operands[0], strength)
            for operator, operand in zip(operators, operands[1:], strict=True):
                below += [f" {operator} ", *_at(operand, strength)]
            return below
        case Comparison(operator, left, right):
            return [*_at(left, SUM), f" {operator} ", *_at(right, SUM)]
        case Between(negated, operand, low, high):
            word = " NOT BETWEEN " if negated else " BETWEEN "
            return [*_at(operand, SUM), word, *_at(low, SUM), " AND ", *_at(high, SUM)]
        case In(negated, identifier, choices):
            word = "NOT IN" if negated else "IN"
            return [f"{written_name(identifier.name, dialect)} {word} ({', '.join(map(quote, choices))})"]
        case Like(negated, identifier, pattern, escape):
            ending = "" if escape is None else f" ESCAPE {quote(escape)}"
            return [
                f"{written_name(identifier.name, dialect)} {'NOT ' if negated else ''}LIKE {quote(pattern)}{ending}"
            ]
        case IsNull(negated, identifier):
            return [f"{written_name(identifier.name, dialect)} IS {'NOT ' if negated else ''}NULL"]
        case Not(operand):
            is_repeated = isinstance(operand, Not) and (dialect is None or dialect.rules.not_operand != "once")
            return ["NOT ", *([operand] if is_repeated else _at(operand, PRIMARY))]
        case And(operands) | Or(operands):
            word, strength = " AND " if isinstance(node, And) else " OR ", _strength(node) + 1
            below = _at(operands[0], strength)
            for operand in operands[1:]:
                below += [word, *_at(operand, strength)]
            return below
    raise AssertionError(node)
