"""What holds of a selector that is known in part, whatever stands in its holes.

A hole within a string is any text. One outside may be anything, so that only what stands before it is certain.
"""

from __future__ import annotations

from collections.abc import Collection

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.lint import Finding, lint
from mqsel.analysis.lint.findings import ERROR
from mqsel.carets import Span
from mqsel.errors import SelectorError
from mqsel.inventory.pieces import HOLE
from mqsel.language.dialect import Dialect
from mqsel.language.lexer import tokenize
from mqsel.matcher import compile as compile_selector

# What is written for each hole in turn, within a string and outside. What changes with it is not certain.
_FILLINGS = (("…", "0"), ("%", "x"), ("0", "0"))


def error_of(text: str, dialect: Dialect) -> SelectorError | None:
    """Return what is certainly wrong with a selector, or None."""
    errors = []
    for filled in _filled(text, dialect):
        try:
            compile_selector(filled, dialect=dialect)
        except SelectorError as error:
            errors.append(error)
        else:
            return None
    first = errors[0]
    is_sure = all(one.span == first.span for one in errors) and _is_certain(text, first.span, dialect, is_error=True)
    return first if is_sure else None


def findings_of(
    text: str, dialect: Dialect, given: Contract | None = None, rules: Collection[str] | None = None
) -> list[Finding]:
    """Return the findings of lint that are certain; those of a text with holes have no edits."""
    if HOLE not in text:
        return lint(text, dialect, given=given, rules=rules)
    found, *others = [lint(filled, dialect, given=given, rules=rules) for filled in _filled(text, dialect)]
    certain = [{(one.code, one.span) for one in many} for many in others]
    return [
        one._replace(edits=())
        for one in found
        if all((one.code, one.span) in many for many in certain)
        and _is_certain(text, one.span, dialect, is_error=one.severity == ERROR)
    ]


def is_checked(text: str, dialect: Dialect) -> bool:
    """Report whether all of a text is known, but for what is within its strings."""
    return not _outside(text, dialect)


def _is_certain(text: str, span: Span, dialect: Dialect, *, is_error: bool) -> bool:
    outside = _outside(text, dialect)
    return HOLE not in text[slice(*span)] and (not outside or (is_error and span[1] <= outside[0]))


def _outside(text: str, dialect: Dialect) -> list[int]:
    """Return where the holes are that are not within strings."""
    holes = [at for at, sign in enumerate(text) if sign == HOLE]
    if not holes:
        return []
    try:
        tokens = tokenize(text.replace(HOLE, "0"), dialect)
    except SelectorError:
        return holes
    within = {at for one in tokens if one.kind == "string" for at in range(one.start, one.stop)}
    return [at for at in holes if at not in within]


def _filled(text: str, dialect: Dialect) -> list[str]:
    """Return a text with each of the fillings in its holes; they are as long as it."""
    if HOLE not in text:
        return [text]
    outside = _outside(text, dialect)
    made = []
    for within, other in _FILLINGS:
        signs = [*text]
        for at in outside:
            signs[at] = other
        made.append("".join(signs).replace(HOLE, within))
    return made
