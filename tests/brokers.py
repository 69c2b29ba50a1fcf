"""What ActiveMQ Classic and Artemis make of selectors: the oracle under JMS, with the departures of these brokers.

Each departure has a name, by which a difference from `Topic` is explained. `answer` is what the broker must say, for
every selector and message. Follows selection §7.
"""

from __future__ import annotations

import functools
import math
import re

import oracle
from oracle import FALSE, NULL, TRUE, UNKNOWN, Properties, Value

import mqsel
from mqsel.language import nodes
from mqsel.language.parser import parse

BOTH = {
    "not": "NOT binds to the next operand: NOT a = 5 is (NOT a) = 5",
    "null": "NULL on the right of = or <> is a value: 5 <> missing is TRUE, and two missing ones are equal",
    "mismatch": "<> between different types is TRUE",
    "in": "IN and NOT IN are UNKNOWN for what is no string",
    "like": "NOT LIKE is TRUE for what is no string",
    "escape": "% or _ as the escape is a wildcard where it escapes nothing",
    "order": "strings and booleans are ordered",
    "narrow": "a byte or short on the right of another type equals nothing, and has no negative",
    "skip": "NULL on the left of arithmetic or an order hides the right side, whatever would fail there",
    "total": "NaN equals itself and is the greatest; 0.0 is greater than -0.0",
    "int": "an integer literal is an int where it fits, and arithmetic of ints wraps at 32 bits",
    "double": "division and arithmetic of floats are in double; division by zero is infinite",
    "arithmetic": "arithmetic on what is no number fails the selector, but + joins to a string, and - makes it NULL",
}
CLASSIC = {"cast": "a float on the right of a double fails the selector"}
ARTEMIS = {"lazy": "AND that stands under no NOT stops at UNKNOWN, and what fails behind it is not met"}
BROKERS = {"activemq": frozenset({**BOTH, **CLASSIC}), "artemis": frozenset({**BOTH, **ARTEMIS})}

# What a selector has that the brokers refuse, and JMS allows. Beside these: NOT, which binds to what stands left in an
# order, BETWEEN or IN, or to what is no condition ("not"); an escape above U+FFFF, two characters to Java ("astral").
REFUSED = {
    "suffix": (r"[0-9.][fFdD]\b", "F and D behind a number"),
    "long": (r"(?<![\w.])0(?:[xX][0-9a-fA-F]+|[0-7]*)[lL]", "L behind a hexadecimal or octal number, 0 too"),
    "least": (
        r"-\s*0(?:[xX]0*8000000000000000|0*1000000000000000000000)(?![\da-fA-F])",
        "the least long, not in decimal",
    ),
    "letters": (r"[^\x00-\x7f]", "letters beyond ASCII in names"),
}
_NARROW = ("int8", "int16")
_NUMBERS = (*_NARROW, "int32", "int64", "float32", "float64")


def answer(text: str, properties: Properties, departures: frozenset[str]) -> bool:
    """Report whether a broker with these departures selects the message."""
    try:
        return _Message(properties, departures).selects(_tree(text, rebound="not" in departures))
    except oracle._SelectorIsFalseError:
        return False


@functools.cache
def _tree(text: str, *, rebound: bool) -> nodes.Node:
    tree = parse(text, mqsel.JMS)
    return _rebound(tree, text) if rebound else tree


def fails(text: str, properties: Properties, departures: frozenset[str]) -> bool:
    """Report whether a broker with these departures raises an exception when it looks at the message."""
    try:
        _Message(properties, departures).selects(_tree(text, rebound="not" in departures))
    except oracle._SelectorIsFalseError:
        return True
    return False


def explain(text: str, properties: Properties, departures: frozenset[str]) -> list[str]:
    """Name departures that make the difference from JMS: the fewest that turn the answer."""
    plain = answer(text, properties, frozenset())
    alone = [name for name in sorted(departures) if answer(text, properties, frozenset({name})) != plain]
    if alone:
        return alone
    return [name for name in sorted(departures) if answer(text, properties, departures - {name}) == plain]


def refusal(text: str) -> list[str]:
    """Name what a broker refuses in a selector."""
    bare = re.sub(r"'(?:[^']|'')*'", "''", text)
    found = [name for name, (pattern, _) in REFUSED.items() if re.search(pattern, bare)]
    tree = _tree(text, rebound=True)
    for node in nodes.walk(tree):
        ordering = isinstance(node, nodes.Comparison) and node.operator not in ("=", "<>")
        below = nodes.children(node)[:1]
        if isinstance(node, (nodes.Between, nodes.In)) or ordering:
            found += ["not" for operand in below if isinstance(operand, nodes.Not)]
        if isinstance(node, nodes.Not) and not _is_boolean(below[0]):
            found += ["not" for operand in below if isinstance(operand, (nodes.Literal, nodes.Sign, nodes.Arithmetic))]
        if isinstance(node, nodes.Like) and node.escape is not None and node.escape > "\uffff":
            found.append("astral")
    return found


class _Message(oracle._Message):
    def __init__(self, properties: Properties, departures: frozenset[str]) -> None:
        super().__init__(properties, mqsel.JMS)
        self.departures = departures

    def selects(self, node: nodes.Node) -> bool:
        if "lazy" in self.departures and isinstance(node, nodes.And):
            return all(self.selects(operand) for operand in node.operands)
        if "lazy" in self.departures and isinstance(node, nodes.Or):
            return any(self.selects(operand) for operand in node.operands)
        return self.truth(node) == TRUE

    def truth(self, node: nodes.Node) -> str:
        match node:
            case nodes.IsNull():
                return oracle._truth((self.value(node.identifier)[0] == "null") is not node.negated)
            case nodes.Literal() | nodes.Sign() | nodes.Arithmetic() if not _is_boolean(node):
                kind, _ = self.value(node)
                return UNKNOWN if kind == "null" else FALSE
            case nodes.Comparison() if node.operator not in ("=", "<>") and self.skips(node.left):
                return UNKNOWN
        return super().truth(node)

    def skips(self, left: nodes.Node) -> bool:
        return "skip" in self.departures and self.value(left) == NULL

    def compare(self, symbol: str, left: Value, right: Value) -> str:
        kinds = left[0], right[0]
        equality = symbol in ("=", "<>")
        if "null" in kinds:
            if "null" not in self.departures or not equality or (kinds[0] == "null" and kinds[1] != "null"):
                return UNKNOWN
            return oracle._truth((kinds[0] == kinds[1]) == (symbol == "="))
        if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS:
            if "cast" in self.departures and kinds == ("float64", "float32"):
                raise oracle._SelectorIsFalseError
            gap = kinds[1] in _NARROW and kinds[0] != kinds[1] and kinds != ("int8", "int16")
            if not ("narrow" in self.departures and gap):
                kind, first, second = oracle._promote(left, right)
                if "total" in self.departures and kind in ("float32", "float64"):
                    first, second = _rank(first), _rank(second)
                return oracle._truth(oracle._OPERATIONS[symbol](first, second))
        elif "order" in self.departures and not equality and kinds[0] == kinds[1] and kinds[0] in ("string", "boolean"):
            first, second = (_utf16(value) if isinstance(value, str) else value for _, value in (left, right))
            return oracle._truth(oracle._OPERATIONS[symbol](first, second))
        elif equality and kinds[0] == kinds[1]:
            return super().compare(symbol, left, right)
        return oracle._truth("mismatch" in self.departures and symbol == "<>")

    def match(self, node: nodes.In | nodes.Like) -> str:
        kind, _ = self.value(node.identifier)
        if kind == "null" or (kind != "string" and isinstance(node, nodes.In) and "in" in self.departures):
            return UNKNOWN
        if kind != "string":
            return oracle._truth("like" in self.departures and isinstance(node, nodes.Like) and node.negated)
        if isinstance(node, nodes.Like) and "escape" in self.departures and node.escape in ("%", "_"):
            escaped = re.compile(f"{node.escape}([%_])|(.)", re.DOTALL)
            pattern = escaped.sub(lambda found: f"\0{found[1]}" if found[1] else found[2], node.pattern)
            node = node._replace(pattern=pattern, escape="\0")
        return super().match(node)

    def value(self, node: nodes.Node) -> Value:
        if isinstance(node, nodes.Literal) and node.kind == "exact" and "int" in self.departures:
            return ("int32" if abs(node.value) < 1 << 31 else "int64"), node.value
        if isinstance(node, nodes.Arithmetic) and "skip" in self.departures:
            result = self.value(node.operands[0])
            for symbol, operand in zip(node.operators, node.operands[1:], strict=True):
                result = NULL if result == NULL else self.arithmetic(symbol, result, self.value(operand))
            return result
        return super().value(node)

    def sign(self, symbol: str, operand: Value) -> Value:
        kind, _ = operand
        if symbol == "+" and kind not in ("null", "int32", "int64", "float32", "float64"):
            name = "narrow" if kind in _NARROW else "arithmetic"
            return operand if name in self.departures else super().sign(symbol, operand)
        if "narrow" in self.departures and kind in _NARROW:
            raise oracle._SelectorIsFalseError
        if "arithmetic" in self.departures and kind not in _NUMBERS:
            return NULL
        return super().sign(symbol, operand)

    def arithmetic(self, symbol: str, left: Value, right: Value) -> Value:
        kinds = left[0], right[0]
        if NULL in (left, right):
            return NULL
        if "arithmetic" in self.departures and not {*kinds} <= {*_NUMBERS}:
            if symbol == "+" and kinds[0] == "string":
                return "string", left[1] + _text(right)
            raise oracle._SelectorIsFalseError
        in_double = symbol == "/" or "float32" in kinds
        if in_double and "double" in self.departures and {*kinds} <= {*_NUMBERS}:
            left, right = ("float64", float(left[1])), ("float64", float(right[1]))
        return super().arithmetic(symbol, left, right)


def _is_boolean(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Literal) and node.kind == "boolean"


def _rank(number: float) -> tuple[float, float]:
    """Return what orders as Double.compareTo does."""
    return (math.inf, 1.0) if math.isnan(number) else (number, math.copysign(0.5, number))


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _text(value: Value) -> str:
    kind, plain = value
    return str(plain).lower() if kind == "boolean" else str(plain)


def _rebound(node: nodes.Node, text: str) -> nodes.Node:
    """Read every NOT as one of the next operand alone."""
    if isinstance(node, (nodes.And, nodes.Or)):
        return node._replace(operands=tuple([_rebound(operand, text) for operand in node.operands]))
    if isinstance(node, nodes.Comparison):
        return node._replace(left=_rebound(node.left, text), right=_rebound(node.right, text))
    if not isinstance(node, nodes.Not):
        return node
    start = node.span[0] + 3
    start += len(text[start:]) - len(text[start:].lstrip())
    end = _closing(text, start) if text[start] == "(" else start
    return _pushed(_rebound(node.operand, text), end)


def _pushed(node: nodes.Node, end: int) -> nodes.Node:
    if node.span[1] <= end:
        return nodes.Not(node, node.span)
    match node:
        case nodes.Comparison():
            return node._replace(left=_pushed(node.left, end))
        case nodes.Between():
            return node._replace(operand=_pushed(node.operand, end))
        case nodes.In() | nodes.Like() | nodes.IsNull():
            return node._replace(identifier=_pushed(node.identifier, end))
        case nodes.Arithmetic():
            return node._replace(operands=(_pushed(node.operands[0], end), *node.operands[1:]))
    return nodes.Not(node, node.span)


def _closing(text: str, start: int) -> int:
    """Find the end of the parenthesis that opens at *start*."""
    depth = 0
    for found in re.finditer(r"'(?:[^']|'')*'|[()]", text[start:]):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return start + found.end()
    raise AssertionError(text)
