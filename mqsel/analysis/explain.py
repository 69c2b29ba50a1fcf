"""Why a message was selected, or not: the truth value of every part of a selector, with the values it read.

There is no second evaluator: each test of the tree is lowered to a program of its own and run by the machine, once, and
the tables of language §1 join their truth values. Why a test is as it is (mismatch, NULL in arithmetic, division by
zero) is found by running it under another choice of a dialect field. Knows the language and the machine, no matcher.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mqsel.errors import Span, cells, cut, padded, quoted
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import And, Literal, Node, Not, Or, children, walk
from mqsel.language.selector import Selector
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.values import AND, NOT, OR, Truth


@dataclass(frozen=True, slots=True)
class Part:
    """One condition of the selector, for one message.

    Attributes:
        text: the condition as written.
        span: where it stands in the selector: half-open, code points.
        depth: 0 for the selector itself, 1 for the operands of its connective, …
        truth: TRUE, FALSE, UNKNOWN or ERR; None if it was not evaluated because what stands before it decided.
        reason: why, in words; empty where the values say it.
    """

    text: str
    span: Span
    depth: int
    truth: Truth | None
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of a message.

    Attributes:
        truth: the four-valued result; ERR counts as FALSE.
        selected: whether it is TRUE.
        properties: for each property read, its type and value.
        parts: the conditions, outermost first, in the order of the text.
    """

    truth: Truth
    properties: Mapping[str, tuple[str, Any]]
    parts: tuple[Part, ...]

    @property
    def selected(self) -> bool:
        return self.truth is Truth.TRUE

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Write the truth and the reason of every part.

        Args:
            width: of the terminal that shows it, in cells: a reason for which a line has no room gets lines of its own.
        """
        verdict = "selected" if self.selected else "not selected"
        lines = [f"{self.truth}: {verdict}"]
        shown = ["  " * part.depth + " ".join(part.text.split()) for part in self.parts]
        most = 72 if width is None else max(min(72, width - 18), 20)
        column = min(max(map(cells, shown), default=0), most)
        for part, text in zip(self.parts, shown, strict=True):
            truth = "not evaluated" if part.truth is None else str(part.truth)
            line = f"  {padded(cut(text, column), column)}  {truth:7}  "
            if width is None or cells(line + part.reason) <= width:
                lines.append((line + part.reason).rstrip())
            else:
                indent = "  " * (part.depth + 3)
                reason = textwrap.wrap(part.reason, width, initial_indent=indent, subsequent_indent=indent)
                lines += [line.rstrip(), *reason]
        return "\n".join(lines)


def explain(selector: Selector, properties: Mapping[str, tuple[str, Any]]) -> Explanation:
    """Explain what *selector* makes of a message that has *properties*: name -> (type, value)."""
    message = {name: value for name, (_, value) in properties.items()}
    parts = tuple(_parts(selector, message, properties))
    root = parts[0].truth
    return Explanation(Truth.FALSE if root is None else root, properties, parts)


def _parts(selector: Selector, message: dict[str, Any], properties: Mapping[str, tuple[str, Any]]) -> Iterator[Part]:
    truths = _truths(selector, message)
    # (node, depth, whether evaluation reaches it)
    stack: list[tuple[Node, int, bool]] = [(selector.node, 0, True)]
    while stack:
        node, depth, reached = stack.pop()
        connective = isinstance(node, (And, Or, Not))
        truth = truths[id(node)] if reached else None
        reason = "" if truth is None or connective else _reason(selector, node, truth, message, properties)
        yield Part(selector.text[node.span[0] : node.span[1]], node.span, depth, truth, reason)
        if not connective:
            continue
        below: list[tuple[Node, int, bool]] = []
        for operand in children(node):
            below.append((operand, depth + 1, reached))
            if reached and not isinstance(node, Not):
                decided = Truth.FALSE if isinstance(node, And) else Truth.TRUE
                reached = truths[id(operand)] not in (decided, Truth.ERR)
        stack.extend(reversed(below))


def _truths(selector: Selector, message: dict[str, Any]) -> dict[int, Truth]:
    """Give the truth of every connective and every test, those that evaluation does not reach included."""
    truths: dict[int, Truth] = {}
    for node in walk(selector.node, (And, Or, Not)):
        match node:
            case Not(operand):
                truth = NOT[truths[id(operand)]]
            case And(operands) | Or(operands):
                table = AND if isinstance(node, And) else OR
                truth = truths[id(operands[0])]
                for operand in operands[1:]:
                    truth = table[truth][truths[id(operand)]]
            case _:
                truth = _truth(selector, node, selector.dialect, message)
        truths[id(node)] = truth
    if selector.match_option is not None:
        truths[id(selector.node)] = Truth(Machine(lower(selector)).truth(message))
    return truths


def _truth(selector: Selector, node: Node, dialect: Dialect, message: dict[str, Any]) -> Truth:
    return Truth(Machine(lower(selector.part(node, dialect), quick=False)).truth(message))


def _reason(
    selector: Selector,
    node: Node,
    truth: Truth,
    message: dict[str, Any],
    properties: Mapping[str, tuple[str, Any]],
) -> str:
    """Say which values a single test read, and what went wrong with them."""
    if isinstance(node, Literal):
        return ""
    seen: list[str] = []
    for name in dict.fromkeys(selector.part(node).names.values()):
        named, value = properties[name]
        seen.append(f"{name} is missing" if named == "null" else f"{name} is {_shown(named, value)}")
    dialect = selector.dialect
    lenient = dialect.replace(null_arithmetic="unknown", type_mismatch="operation")
    strict = dialect.replace(null_arithmetic="unknown", type_mismatch="selector")
    if _truth(selector, node, lenient, message) is Truth.ERR:
        seen.append("an integer is divided by zero: the complete selector is false")
    elif _truth(selector, node, strict, message) is Truth.ERR:
        seen.append(
            f"types differ: {'the complete selector is false' if truth is Truth.ERR else f'the test is {truth}'}"
        )
    elif truth is Truth.ERR:
        seen.append("arithmetic on a missing property: the complete selector is false")
    return "; ".join(seen)


def _shown(named: str, value: Any) -> str:
    if named == "string":
        return f"the string {quoted(value)}"
    if named == "bytes":
        return f'the byte string "0x{value.hex().upper()}"'
    if named == "boolean":
        return str(value).upper()
    return f"{named} {value!r}"
