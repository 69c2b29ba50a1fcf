"""Rules of lint about what products read in other ways, or refuse.

What a product does is tried: a selector is read by each preset. The tables of dialects stand in
`mqsel.language.dialects`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mqsel.analysis.lint.chains import Structure
from mqsel.analysis.lint.findings import Found, parsed, piece
from mqsel.analysis.lint.names import spans
from mqsel.errors import SelectorError, Span, UndocumentedError, cut_piece, in_one_line, quoted
from mqsel.language.checker import is_name
from mqsel.language.computed import truth_of
from mqsel.language.dialect import JMS, PRESETS, Dialect
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Computed,
    Identifier,
    IsNull,
    Literal,
    Not,
    Or,
    children,
    unparse,
    walk,
    written_name,
)
from mqsel.language.selector import Selector, read_selector
from mqsel.names import DEFAULTS, JMS_PREFIX, WHITE_SPACE
from mqsel.values import Truth

# What a rule reports is wrong of dialects with these choices of a field, and not reported there.
WRONG: dict[str, tuple[str, tuple[str, ...]]] = {
    "boolean-literal": ("text_numbers", ("read",)),
    "text-of-digits": ("text_numbers", ("read",)),
    "beyond-doubles": ("mixed_numbers", ("exact",)),
    "date-as-arithmetic": ("division", ("ieee", "unknown", "word")),
    "different-kinds": ("static_types", ("ordered", "ranged", "numeric", "none")),
    "mixed-kinds": ("type_mismatch", ("negated", "undocumented", "ordered")),
    "header-kind": ("type_mismatch", ("negated", "undocumented", "ordered")),
    "compared-with-itself": ("text_numbers", ("read",)),
}


def holds(code: str, dialect: Dialect) -> bool:
    """Report whether what a rule reports is right of a dialect."""
    field, choices = WRONG.get(code, ("type_mismatch", ()))
    return getattr(dialect, field) not in choices


# ---- tests that mean something else ----------------------------------------------------------------------------------


def not_of_a_value(node: Computed, selector: Selector) -> Found | None:
    """Find a NOT that negates the first operand of a test, where its author may have meant the test."""
    if selector.dialect.not_operand != "primary":
        return None
    for test in walk(node.expression):
        first = next(iter(children(test)), None)
        if isinstance(first, Not) and not isinstance(test, (And, Or, Not)) and first.span[0] == test.span[0]:
            shown = [selector.text[first.span[0] : first.span[1]], selector.text[first.operand.span[0] : test.span[1]]]
            return Found(test.span, tuple([cut_piece(in_one_line(one), 60) for one in shown]))
    return None


def missing_included(node: Computed | Not, selector: Selector) -> Found | None:
    """Find a test that is TRUE where its property is missing, of a selector that does not ask whether it is."""
    test = node.operand if isinstance(node, Not) else node
    if not isinstance(test, Computed) or len(test.identifiers) != 1:
        return None
    name = test.identifiers[0].name
    if name in DEFAULTS.get(selector.dialect.identifier_dots, {}):  # it is never missing
        return None
    asked = (one for one in parsed(selector) if isinstance(one, IsNull) or getattr(one, "name", "") in _ASKS)
    if any(isinstance(one, Identifier) and one.name == name for ask in asked for one in walk(ask)):
        return None
    try:
        truth = truth_of(test, [None])
    except UndocumentedError:  # undocumented
        return None
    if truth is not (Truth.FALSE if isinstance(node, Not) else Truth.TRUE):
        return None
    return Found(node.span, (cut_piece(piece(selector.text, node), 60), written_name(name)))


_ASKS = ("IS NULL", "EXISTS")  # of calls


# ---- what not every product accepts ----------------------------------------------------------------------------------


class Feature(NamedTuple):
    """Something that not every product accepts.

    Attributes:
        what: its name.
        probe: a selector that has it and nothing else that is special; {} is its text.
        find: tells where it stands; None where it does not.
    """

    what: str
    probe: str
    find: Callable[[Structure], Span | None]


@functools.lru_cache(512)
def _elsewhere(probe: str, here: Dialect) -> str:
    """Return which products refuse a selector, and which read it as another one; empty if all read it as here."""
    own = _read(probe, here)
    refusing = [name for name, preset in PRESETS.items() if _read(probe, preset) is None]
    others = [name for name, preset in PRESETS.items() if name not in refusing and _read(probe, preset) != own]
    said = [f"refused by {', '.join(refusing)}"] * bool(refusing)
    return "; ".join([*said, *[f"something else in {', '.join(others)}"] * bool(others)])


def _read(probe: str, dialect: Dialect) -> str | None:
    """Return a selector as it was understood; None where it is refused."""
    try:
        return unparse(read_selector(probe, dialect.replace(max_length=None)).node)
    except SelectorError:
        return None


def _literal(kind: str, sign: str, pattern: str) -> Callable[[Structure], Span | None]:
    """Look for a literal of a kind by how it is written.

    Args:
        sign: finds something in each text that has one: most have none, and are looked through no further.
    """
    in_text, whole = re.compile(sign), re.compile(pattern, re.DOTALL)

    def find(structure: Structure) -> Span | None:
        text = structure.selector.text
        if not in_text.search(text):
            return None
        literals = (one for one in parsed(structure.selector) if type(one) is Literal and one.kind == kind)
        return next((one.span for one in literals if whole.fullmatch(text, *one.span)), None)

    return find


def _name(is_special: Callable[[str], bool]) -> Callable[[Structure], Span | None]:
    """Look for a name."""

    def find(structure: Structure) -> Span | None:
        names = structure.selector.names
        return next((spans(read, structure)[0] for name, read in names.items() if is_special(name)), None)

    return find


_JAVA_SPACE = frozenset(" \t\f\r\n")
_ODD_SPACE = "[" + "".join(map(re.escape, sorted(WHITE_SPACE - _JAVA_SPACE))) + "]"
_HAS_ODD_SPACE = re.compile(_ODD_SPACE)
_STRING_OR_ODD_SPACE = re.compile(f"'[^']*'|\"[^\"]*\"|{_ODD_SPACE}")


def _white_space(structure: Structure) -> Span | None:
    text = structure.selector.text
    if not _HAS_ODD_SPACE.search(text):
        return None
    return next((found.span() for found in _STRING_OR_ODD_SPACE.finditer(text) if found[0][0] not in "'\""), None)


def _written(pattern: str) -> Callable[[Structure], Span | None]:
    """Look for names that are written in a way."""
    written = re.compile(pattern)

    def find(structure: Structure) -> Span | None:
        text = structure.selector.text
        spans = (one.span for one in parsed(structure.selector) if type(one) is Identifier)
        return next((span for span in spans if written.match(text, span[0])), None)

    return find


def _operator(sign: str) -> Callable[[Structure], Span | None]:
    """Look for an operator that stands between two operands."""

    def find(structure: Structure) -> Span | None:
        text = structure.selector.text
        for node in parsed(structure.selector) if sign in text else ():
            below = children(node) if isinstance(node, (Arithmetic, Comparison)) else ()
            for left, right in itertools.pairwise(below):
                at = text.find(sign, left.span[1], right.span[0])
                if at >= 0:
                    return at, at + len(sign)
        return None

    return find


FEATURES = (
    Feature("a name with a dot", "{} = 1", _name(lambda name: "." in name)),
    Feature("a name beyond U+FFFF", "{} = 1", _name(lambda name: any(one > "\uffff" for one in name))),
    Feature("a name in double quotes or brackets", "{} = p", _written('["[]')),
    Feature("a byte string", "p = {}", _literal("bytes", '"', ".*")),
    Feature("a hexadecimal number", "p = {}", _literal("exact", "0[xX]", ".*0[xX].*")),
    Feature("F or D at a whole number", "p = {}", _literal("approximate", "[0-9][fFdD]", "[^0-9.]*[0-9]+[fFdD]")),
    Feature(
        "a number with an underscore or a binary exponent", "p = {}", _literal("approximate", "_|[xX]", ".*[_xX].*")
    ),
    Feature("this white space", "p{}= 1", _white_space),
    Feature("!=", "p {} 1", _operator("!=")),
    Feature("the remainder", "p {} 2 = 1", _operator("%")),
)


def refused_elsewhere(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    for feature in FEATURES:
        span = feature.find(structure)
        where = span and _elsewhere(feature.probe.format(selector.text[slice(*span)]), selector.dialect)
        if span and where:
            yield Found(span, (feature.what, where))
    for name, read in selector.names.items():
        if name.startswith(JMS_PREFIX):
            others = [preset for preset, dialect in PRESETS.items() if not is_name(name, dialect.headers)]
            if others:
                yield Found(spans(read, structure)[0], (name, f"refused by {', '.join(others)}"))
    told: set[str] = set()
    for node in parsed(selector):
        if isinstance(node, Call) and node.name not in told:
            told.add(node.name)
            probe = _PROBES.get(node.name, f"p = 1 OR {selector.text[slice(*node.span)]}")
            where = _elsewhere(probe, selector.dialect) if _read(probe, JMS) is None else ""
            if where:
                yield Found(node.span, (f"this {node.name}", where))


_PROBES = {"UTC": "UTC() > p", "EXISTS": "EXISTS(p)"}  # of calls that are no condition, or hold one


# ---- what is not read ------------------------------------------------------------------------------------------------

_COMMENT = re.compile(r"(?:\s|\)|--[^\r\n]*[\r\n]|/\*[\s\S]*?\*/)*")


def unread_rest(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    if selector.dialect.rest == "ignored":
        start = _COMMENT.match(selector.text, selector.node.span[1]).end()  # type: ignore[union-attr]
        if start < len(selector.text):
            yield Found((start, len(selector.text)), (quoted(cut_piece(selector.text[start:].strip(), 60)),))
