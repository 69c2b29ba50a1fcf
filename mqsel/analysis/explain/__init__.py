"""Why a message was selected, or not: the truth value of every part, the values it read, and what would have to change.

All parts of the selector are asked at once, those that evaluation does not reach included: see
`mqsel.analysis.explain.account`. Knows no matcher.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from mqsel.analysis.explain.account import Verdict, parts_judged, parts_of, verdicts
from mqsel.analysis.explain.change import listed, never_selects, smallest_change
from mqsel.analysis.explain.near import failed, missing_is_not_unequal, near_text, time_of, unquoted
from mqsel.analysis.readings import UNDOCUMENTED, in_this_dialect, outcome, peculiar
from mqsel.carets import Span, cells, cut_piece, in_one_line, padded, quoted, visible, wrapped
from mqsel.formats.jsonl import in_json, json_text, plain
from mqsel.language.dialect import core_of
from mqsel.language.nodes import And, Comparison, Identifier, Literal, Node, Not, Or, children, walk
from mqsel.language.selector import Selector
from mqsel.names import DEFAULTS, by_casefold, near_names
from mqsel.notebook import badge, code, page, table
from mqsel.values import AND, OR, Truth


@dataclass(frozen=True, slots=True)
class Part:
    """One condition of a selector, for one message.

    Attributes:
        text: The condition, as it is in the selector.
        span: Its position in the selector, as a pair (start, end) in code points.
        depth: 0 for the whole selector, 1 for the operands of its AND or OR, and so on.
        truth: TRUE, FALSE, UNKNOWN or ERR; None if an earlier condition decided, so that this one was not evaluated.
        reason: Why, in words; empty if the values show it. For a test that was not evaluated: its type mismatch.
    """

    text: str
    span: Span
    depth: int
    truth: Truth | None
    reason: str


NO_ANSWER = "there is no answer: what the product does with values of these types is undocumented"
NEVER = "no message can be selected: no values make this selector TRUE"
_NAMED = 5  # names of a message that a reason lists


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a message is selected or not. It is true if the message is selected. If you print it, you see a tree.

    Attributes:
        truth: The truth of the selector. ERR counts as FALSE.
        selected: Whether the message is selected.
        properties: The type and value of each property that the selector reads.
        parts: The conditions, each a `Part`, the outermost first, in the order of the text.
        change: A sentence with the smallest change by which the message would be selected. It is empty if the message
            is selected, or if no change was found.
    """

    truth: Truth
    properties: Mapping[str, tuple[str, Any]]
    parts: tuple[Part, ...]
    change: str = ""

    @property
    def selected(self) -> bool:
        return self.truth is Truth.TRUE

    def __bool__(self) -> bool:
        return self.selected

    def __str__(self) -> str:
        return self.text()

    def as_dict(self) -> dict[str, Any]:
        """Return it as what JSON holds."""
        return {
            "truth": str(self.truth),
            "selected": self.selected,
            "change": self.change,
            "parts": [
                {**asdict(part), "truth": None if part.truth is None else str(part.truth)} for part in self.parts
            ],
            "properties": [
                {"name": name, "type": kind, "value": plain(value)} for name, (kind, value) in self.properties.items()
            ],
        }

    def _repr_html_(self) -> str:
        rows = [
            (code(in_one_line(part.text), part.depth), badge(_word(part.truth)), escape(part.reason))
            for part in self.parts
        ]
        verdict = f"{badge(str(self.truth))} <b>{'selected' if self.selected else 'not selected'}</b>"
        return page([verdict, *[escape(self.change)] * bool(self.change)], table(("",) * 3, rows))

    def text(self, width: int | None = None) -> str:
        """Write the truth and the reason of every part.

        Args:
            width: of the terminal that shows it, in cells: a reason for which a line has no room gets lines of its own.
        """
        verdict = "selected" if self.selected else "not selected"
        lines = [f"{self.truth}: {verdict}"]
        if self.change:
            lines += [visible(self.change)] if width is None else wrapped(visible(self.change), width)
        shown = ["  " * part.depth + in_one_line(part.text) for part in self.parts]
        most = 72 if width is None else max(min(72, width - 18), 20)
        column = min(max(map(cells, shown), default=0), most)
        for part, text in zip(self.parts, shown, strict=True):
            reason = visible(part.reason)
            piece = text if width is None else cut_piece(text, column)
            line = f"  {padded(piece, column)}  {_word(part.truth):7}  "
            if width is None or cells(line + reason) <= width:
                lines.append((line + reason).rstrip())
            else:
                indent = "  " * (part.depth + 3)
                lines += [line.rstrip(), *wrapped(reason, width, indent, indent)]
        return "\n".join(lines)


def _word(truth: Truth | None) -> str:
    return "not evaluated" if truth is None else str(truth)


def explain(selector: Selector, properties: Mapping[str, tuple[str, Any]], names: Iterable[str] = ()) -> Explanation:
    """Explain what *selector* makes of a message that has *properties*: name -> (type, value).

    Args:
        names: of all properties that the message has: one that is missing may go by another name.
    """
    message = {name: value for name, (_, value) in properties.items()}
    if selector.naming == "folded":
        wanted = by_casefold(properties)
        names = [wanted.get(name.casefold(), name) for name in names]
    outcomes = outcomes_of(selector, message)
    truths = {node: outcome.truth for node, outcome in outcomes.items()}
    reasons = _Reasons(selector, message, properties, outcomes, tuple(names))
    parts = tuple(_parts(selector, truths, reasons))
    root = parts[0].truth
    truth = Truth.FALSE if root is None else root
    if truth is Truth.ERR and outcome(selector.text, message, selector.dialect) == UNDOCUMENTED:
        return Explanation(truth, properties, parts, NO_ANSWER)
    return Explanation(truth, properties, parts, "" if truth else _change(selector, message, truths))


def _change(selector: Selector, message: Mapping[str, Any], truths: Mapping[int, Truth]) -> str:
    found = smallest_change(selector, message, truths)
    if found is not None:
        return f"it would be selected if {found.text}"
    return NEVER if never_selects(selector) else ""


def _parts(selector: Selector, truths: Mapping[int, Truth], reasons: _Reasons) -> Iterator[Part]:
    # (node, depth, whether evaluation reaches it)
    stack: list[tuple[Node, int, bool]] = [(selector.node, 0, True)]
    while stack:
        node, depth, reached = stack.pop()
        connective = isinstance(node, (And, Or, Not))
        truth = truths[id(node)] if reached else None
        if connective:
            reason = "" if truth is None else _of_connective(node, truth, [truths[id(one)] for one in children(node)])
        else:
            reason = reasons.of_unreached(node) if truth is None else reasons.of(node, truth)
        yield Part(selector.text[node.span[0] : node.span[1]], node.span, depth, truth, reason)
        if not connective:
            continue
        below: list[tuple[Node, int, bool]] = []
        for operand in children(node):
            below.append((operand, depth + 1, reached))
            if reached and isinstance(node, (And, Or)):
                decisive = _DECISIVE[type(node), node.rule]
                reached = truths[id(operand)] not in (*decisive, Truth.ERR)
        stack.extend(reversed(below))


# Behind which truths of an operand the next one is not evaluated; nor is it behind ERR.
_DECISIVE = {
    (And, "kleene"): (Truth.FALSE,),
    (Or, "kleene"): (Truth.TRUE,),
    (And, "eager"): (),
    (Or, "eager"): (),
    (And, "first"): (Truth.FALSE, Truth.UNKNOWN),
    (Or, "first"): (Truth.TRUE,),
}


def _of_connective(node: Node, truth: Truth, below: Sequence[Truth]) -> str:
    """Return the rule by which AND or OR is not what it is by Kleene's tables."""
    table = AND if isinstance(node, And) else OR
    if not isinstance(node, (And, Or)) or functools.reduce(lambda one, other: table[one][other], below) is truth:
        return ""
    return in_this_dialect("connectives", node.rule)


def outcomes_of(selector: Selector, message: Mapping[str, Any]) -> dict[int, Verdict]:
    """Return what every connective and every test is, by the identity of its node."""
    found = verdicts(parts_judged(selector), message)
    return {id(node): outcome for (node, _), outcome in zip(parts_of(selector.node), found, strict=True)}


class _Reasons:
    """Words for which values a test read, and what went wrong with them."""

    def __init__(
        self,
        selector: Selector,
        message: dict[str, Any],
        properties: Mapping[str, tuple[str, Any]],
        outcomes: Mapping[int, Verdict],
        names: Sequence[str],
    ) -> None:
        self.selector = selector
        self.message = message
        self.outcomes = outcomes
        self.properties = properties
        self.present = [name for name in names if properties.get(name, ("present",))[0] != "null"]
        self.others = [name for name in self.present if name not in properties]

    def of(self, node: Node, truth: Truth) -> str:
        if isinstance(node, Literal):
            return ""
        names = self.selector.names_of(node)
        seen = [self.value(name) for name in names]
        option = self.selector.match_option
        if option is not None and option.matches_any:
            seen.append("an identifier of zeros matches any message")
        elif self.outcomes[id(node)].is_mismatched:
            effect = "the complete selector is false" if truth is Truth.ERR else f"the test is {truth}"
            seen.append(f"type mismatch: {effect}")
        elif truth is Truth.ERR and self.computes_with_missing(node):
            seen.append("arithmetic on a missing property: the complete selector is false")
        elif truth is Truth.ERR:
            seen.append(failed(node, self.selector.dialect))
        elif truth is Truth.FALSE:
            seen += filter(None, [near_text(node, self.message[name]) for name in names])
        missing = [name for name in names if self.message[name] is None]
        if truth is Truth.UNKNOWN and missing and getattr(node, "negated", getattr(node, "operator", "") == "<>"):
            seen.append(missing_is_not_unequal(missing[0]))
        peculiarity = self.peculiarity(node)
        return "; ".join([*seen, *filter(None, (peculiarity, "" if peculiarity else self.unquoted(node), _far(node)))])

    def peculiarity(self, node: Node) -> str:
        """Return the rule of the dialect by which a test is not what it is in JMS."""
        dialect = self.selector.dialect
        if core_of(dialect).is_plain:
            return ""
        text, names = self.selector.text[slice(*node.span)], self.selector.names_of(node)
        message = {name: self.message[name] for name in names}
        truth, is_mismatched = self.outcomes[id(node)]
        return peculiar(node, text, message, dialect, truth, is_mismatched=is_mismatched)

    def of_unreached(self, node: Node) -> str:
        """Return the values of a test with a type mismatch that was not evaluated."""
        if not self.outcomes[id(node)].is_mismatched:
            return ""
        names = self.selector.names_of(node)
        return "; ".join([*map(self.value, names), "type mismatch"])

    def computes_with_missing(self, node: Node) -> bool:
        """Whether a test computes with a missing property where that is ERR."""
        computed = [part for part in walk(node) if getattr(part, "null", None) is Truth.ERR]
        return any(self.message[name] is None for part in computed for name in self.selector.names_of(part))

    def value(self, name: str) -> str:
        named, value = self.properties[name]
        if named != "null":
            time = time_of(name, value)
            return f"{name} is {_shown(named, value)}{f' ({time})' * bool(time)}"
        default = DEFAULTS.get(self.selector.dialect.identifier_dots, {}).get(name)
        if default is not None:
            return f"{name} is missing, and so {default}"
        near = near_names(name, self.present)
        if near:
            return f"{name} is missing: the message has {near[0]}"
        if 0 < len(self.others) <= _NAMED:
            return f"{name} is missing: the message has {listed([*self.others], 'and')}"
        return f"{name} is missing"

    def unquoted(self, node: Node) -> str:
        """Guess that a name was meant as a string."""
        if isinstance(node, Comparison) and isinstance(node.left, Identifier) and isinstance(node.right, Identifier):
            name = node.right.name
            if self.properties[self.selector.names[name]][0] == "null":
                return unquoted(name)
        return ""


def _far(node: Node) -> str:
    """Return that a number, which a time is compared with, is no time; empty where it is one."""
    if isinstance(node, Comparison) and isinstance(node.left, Identifier) and isinstance(node.right, Literal):
        time = time_of(node.left.name, node.right.value)
        return f"{node.right.value!r} is {time}" if time.startswith("after") else ""
    return ""


def _shown(named: str, value: Any) -> str:
    if named == "string":
        return f"the string {quoted(value)}"
    if named == "bytes":
        return f'the byte string "0x{value.hex().upper()}"'
    if named == "boolean":
        return str(value).upper()
    return f"{named} {value!r}"


def in_words(message: Mapping[str, Any]) -> str:
    """Return a message as JSON, or what it is if it has no properties."""
    return json_text(in_json(message)) if message else "the message without any property"


def message_code(message: Mapping[str, Any] | None) -> str:
    """Write a message; nothing for none."""
    return "" if message is None else code(in_words(message))
