"""Rules of lint about what products read in other ways. The tables of dialects are in `mqsel.language.dialects`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqsel.analysis.lint.chains import Structure
from mqsel.analysis.lint.findings import Found, parsed, piece
from mqsel.carets import cut_piece, in_one_line, quoted
from mqsel.errors import UndocumentedError
from mqsel.language.computed import truth_of
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import (
    And,
    Computed,
    Identifier,
    IsNull,
    Not,
    Or,
    children,
    walk,
    written_name,
)
from mqsel.language.selector import Selector
from mqsel.names import DEFAULTS
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


def rule_applies(code: str, dialect: Dialect) -> bool:
    """Report whether what a rule reports is right of a dialect."""
    field, choices = WRONG.get(code, ("type_mismatch", ()))
    return dialect.choice(field) not in choices


# ---- tests that mean something else ----------------------------------------------------------------------------------


def not_of_a_value(node: Computed, selector: Selector) -> Found | None:
    """Find a NOT that negates the first operand of a test, where its author may have meant the test."""
    if selector.dialect.rules.not_operand != "primary":
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


# ---- what is not read ------------------------------------------------------------------------------------------------

_COMMENT = re.compile(r"(?:\s|\)|--[^\r\n]*[\r\n]|/\*[\s\S]*?\*/)*")


def unread_rest(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    if selector.dialect.rules.rest == "ignored":
        start = _COMMENT.match(selector.text, selector.node.span[1]).end()  # type: ignore[union-attr]
        if start < len(selector.text):
            yield Found((start, len(selector.text)), (quoted(cut_piece(selector.text[start:].strip(), 60)),))
