"""Near misses: strings that nearly satisfy a test. `mqsel.names.near_names` finds the names that resemble one.

These are guesses, and worded as such: nothing here decides whether a message is selected.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from mqsel.carets import quoted
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.nodes import Arithmetic, Comparison, Computed, Identifier, In, Like, Literal, Node, quote, walk
from mqsel.language.operators import FAILING
from mqsel.language.pattern import segments
from mqsel.logic.sets import is_like
from mqsel.names import TIMES

_LAST = 253_402_300_800_000  # the milliseconds at which the year 10000 begins

# ---- texts -----------------------------------------------------------------------------------------------------------


def wanted_texts(test: Node) -> tuple[str, tuple[str, ...]] | None:
    """Return the name and the strings that a test compares a property with; None for a test of another kind."""
    match test:
        case Comparison("=", Identifier(name), Literal("string", str(text))):
            return name, (text,)
        case Comparison("=", Literal("string", str(text)), Identifier(name)):
            return name, (text,)
        case In(False, Identifier(name), choices):
            return name, choices
    return None


def near_text(test: Node, value: object) -> str:
    """Return by how little a string misses a test that is FALSE for it; empty where that is much."""
    if not isinstance(value, str):
        return ""
    if isinstance(test, Like):
        return "" if test.negated else _near_pattern(test, value)
    found = wanted_texts(test)
    if found and value in found[1]:
        return ""
    for wanted in found[1] if found else ():
        said = _near_literal(wanted, value)
        if said:
            return said
    return ""


def _near_literal(wanted: str, value: str) -> str:
    if wanted.strip() == value.strip():
        return "only spaces at the ends differ"
    if wanted.strip().casefold() == value.strip().casefold():
        return "only the case of letters differs"
    pieces = [piece.strip().strip("'\"") for piece in wanted.split(",")]
    if value in pieces and len(pieces) > 1:
        return f"{quoted(wanted)} is one string: write IN ({', '.join(map(quote, pieces))})"
    if re.search(r"[*?]", wanted) and _is_like(_as_pattern(wanted), value):
        advice = "" if re.search("[%_]", wanted) else f": write LIKE {quote(_as_pattern(wanted))}"
        return f"* and ? stand for themselves here{advice}"
    if re.search("[%_]", wanted) and _is_like(wanted, value):
        return f"= knows no % and _: write LIKE {quote(wanted)}"
    if value and re.match(r"[\s(\[:,;]", wanted.removeprefix(value)) and wanted.startswith(value):
        return f"{quoted(value)} alone would be equal"
    return ""


def _near_pattern(test: Like, value: str) -> str:
    pattern = test.pattern
    if re.search(r"[*?]", pattern) and _is_like(_as_pattern(pattern), value):
        return f"* and ? stand for themselves here: write LIKE {quote(_as_pattern(pattern))}"
    if test.escape is None and _is_like(pattern.casefold(), value.casefold()):
        return "only the case of letters differs"
    if _is_like(pattern.strip(), value.strip()):
        return "only spaces at the ends differ"
    if pattern and not re.search("[%_]", pattern) and pattern in value:
        return f"LIKE without % takes the whole text: write LIKE {quote(f'%{pattern}%')}"
    return ""


def _as_pattern(glob: str) -> str:
    return glob.replace("*", "%").replace("?", "_")


def _is_like(pattern: str, value: str) -> bool:
    return is_like(value, tuple(map(tuple, segments(pattern, None))))


# ---- times -----------------------------------------------------------------------------------------------------------


def time_of(name: str, value: object) -> str:
    """Return what time a header that holds one, in milliseconds since 1970, means; empty for anything else."""
    if name not in TIMES or not isinstance(value, int) or value <= 0:
        return ""
    if value >= _LAST:
        return "after the year 9999: milliseconds since 1970 have 13 digits"
    with suppress(OverflowError):
        time = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=value)
        return f"{time:%Y-%m-%d %H:%M:%S} UTC"
    return ""


# ---- sentences that are used more than once --------------------------------------------------------------------------


def unquoted(name: str) -> str:
    """Return the advice to quote what reads as a name."""
    return f"{name} is the name of a property here: if you mean a string, write {quote(name)}"


def missing_is_not_unequal(name: str, test: str = "…") -> str:
    """Return how a test would select the messages that lack a property."""
    return f"the test isn't TRUE if {name} is missing: to also select these messages, write {test} OR {name} IS NULL"


DIVIDED_BY_ZERO = "an integer is divided by zero"
ALL_FALSE = "the complete selector is false"


def failed(test: Node, dialect: Dialect, where: str = "") -> str:
    """Return why a test is ERR that misses nothing, and what that does."""
    order = walk(test.expression if isinstance(test, Computed) else test)
    divides = any(isinstance(node, Arithmetic) and not FAILING.isdisjoint(node.operators) for node in order)
    cause = DIVIDED_BY_ZERO if divides and dialect.rules.division == "java" else "evaluating the test fails"
    effect = f"{ALL_FALSE} there" if where else ALL_FALSE
    if not core_of(dialect).is_documented:
        cause = f"{cause}, or type mismatch" if divides else "type mismatch"
        effect = "what that yields is undocumented for this product"
    return f"{cause}{' ' * bool(where)}{where}: {effect}"
