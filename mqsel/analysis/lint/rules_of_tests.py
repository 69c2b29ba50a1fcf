"""Rules of lint about a single test, or a single operation.

Most examine a node of the class that their row in `mqsel.analysis.lint.rules` names, and return what is wrong with it,
or None.
"""

from __future__ import annotations

import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from mqsel.analysis.lint.chains import Structure, required_property
from mqsel.analysis.lint.findings import Edit, Found, bounds, parsed, piece, strings_of
from mqsel.carets import cut_piece, quoted
from mqsel.errors import SelectorError
from mqsel.language.advice import decoded, milliseconds
from mqsel.language.checker import MAX_TESTS, advice, differing, evaluate, sides
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Identifier,
    In,
    Like,
    Literal,
    Node,
    Or,
    children,
    quote,
    walk,
)
from mqsel.language.operators import FAILING, OPERATORS
from mqsel.language.pattern import parts_of, plain, segments, shape
from mqsel.language.selector import Selector, read_selector
from mqsel.names import DESCRIPTOR, HEADER_DOMAINS, JMS_DESCRIPTOR, JMS_SYNONYMS, MQMD_TYPES
from mqsel.values import LITERAL_KINDS, Truth, compare

# ---- LIKE ------------------------------------------------------------------------------------------------------------

# What regular expressions have, and texts that people look for seldom.
_REGULAR = re.compile(r"\.[*+]|\^|\$$|\[[^\[\]]+\]|\{\d+(?:,\d*)?\}|\([^()|]*\|[^()]*\)|\\[dwsDWSb]")
_SHELL = re.compile(r"[*?]")


def like_regular_expression(node: Like, selector: Selector) -> Found | None:
    found = None if "%" in node.pattern else _REGULAR.search(node.pattern)
    if found is None or (node.escape is not None and found[0].startswith(node.escape)):
        return None
    return Found(strings_of(node, selector)[0], (quoted(found[0]),))


def like_shell_pattern(node: Like, selector: Selector) -> Found | None:
    found = None if "%" in node.pattern or _REGULAR.search(node.pattern) else _SHELL.search(node.pattern)
    if found is None or found[0] == node.escape:
        return None
    wildcard = {"*": "%", "?": "_"}[found[0]]
    return Found(strings_of(node, selector)[0], (found[0], wildcard))


_UNDERSCORE = re.compile(r"(?<=[^\W_])_(?=[^\W_])")


def like_underscore(node: Like, selector: Selector) -> Found | None:
    if node.escape is not None or not _UNDERSCORE.search(node.pattern):
        return None
    escape = next(one for one in _ESCAPES if one not in node.pattern)
    literal = quote(node.pattern.replace("_", escape + "_"))
    return Found(strings_of(node, selector)[0], (f"LIKE {literal} ESCAPE {quote(escape)}",))


# The last one is in no text that comes from a line.
_ESCAPES = "\\!#~^|@\n"


def like_without_wildcard(node: Like, selector: Selector) -> Found | None:
    parts = parts_of(node.pattern, node.escape, selector.dialect)
    found, text = shape(segments(*plain(parts))) if parts is not None else ("", "")
    if found != "exact" or like_regular_expression(node, selector) or like_shell_pattern(node, selector):
        return None
    sign = "<>" if node.negated else "="
    edit = Edit((node.identifier.span[1], node.span[1]), f" {sign} {quote(text)}")
    return Found(node.span, (quoted(node.pattern), sign), (edit,))


# ---- literals --------------------------------------------------------------------------------------------------------


def pair_of(node: Comparison) -> tuple[Identifier, Literal] | None:
    """Return the property and the constant of a comparison, None of another."""
    left, right = node.left, node.right
    if type(left) is Identifier and type(right) is Literal:
        return left, right
    if type(right) is Identifier and type(left) is Literal:
        return right, left
    return None


_EQUALITIES = frozenset(("=", "<>"))


def strings_in(node: Comparison | In, selector: Selector) -> tuple[str, list[tuple[str, tuple[int, int]]]]:
    """List the texts that a property is to be equal to, and where they stand; with its name."""
    if isinstance(node, In):
        return node.identifier.name, list(zip(node.choices, strings_of(node, selector), strict=True))
    pair = pair_of(node) if node.operator in _EQUALITIES else None
    if pair is None or type(pair[1].value) is not str:
        return "", []
    return pair[0].name, [(pair[1].value, pair[1].span)]


def unquoted_text(node: Comparison, selector: Selector) -> Found | None:
    left, right = node.left, node.right
    if type(left) is not Identifier or type(right) is not Identifier or node.operator not in _EQUALITIES:
        return None
    text = left if right.name in _HEADERS else right
    # What is a property elsewhere, too, is one here.
    if _uses(selector)[text.name] > 1 or text.name in _HEADERS or text.name.lower() in NO_NUMBERS:
        return None
    return Found(text.span, (text.name,))


@functools.lru_cache(1)
def _uses(selector: Selector) -> Counter[str]:
    """Count in how many places each name stands."""
    return Counter(name for name, _ in {(one.name, one.span) for one in parsed(selector) if type(one) is Identifier})


_HEADERS = {*JMS_SYNONYMS, *(DESCRIPTOR + name for name in MQMD_TYPES)}
_BOOLEAN_NAME = re.compile(r"(?:is|has|can|should|was)(?=[A-Z_])|(?:active|enabled|disabled|deleted|flag)$")


def boolean_literal(node: Comparison | In, selector: Selector) -> Found | None:
    name, strings = strings_in(node, selector)
    if strings and all(text.lower() in ("true", "false") for text, _ in strings):
        text, span = strings[0]
        return Found(span, (quote(text), "string", name, text.upper()))
    pair = pair_of(node) if isinstance(node, Comparison) and node.operator in _EQUALITIES else None
    if pair is None or pair[1].kind != "exact" or pair[1].value not in (0, 1) or not _BOOLEAN_NAME.match(pair[0].name):
        return None
    return Found(pair[1].span, (pair[1].value, "number", pair[0].name, "TRUE" if pair[1].value else "FALSE"))


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?")
_DIGITS = re.compile(f"'{_NUMBER.pattern}'")  # most texts have none


def text_of_digits(structure: Structure) -> Iterator[Found]:
    told: set[str] = set()
    for node in parsed(structure.selector) if _DIGITS.search(structure.selector.text) else ():
        if type(node) is not Comparison and type(node) is not In:
            continue
        name, strings = strings_in(node, structure.selector)
        if name in told or name in _HEADERS or not strings or not all(_NUMBER.fullmatch(text) for text, _ in strings):
            continue
        told.add(name)
        yield Found(strings[0][1], (quote(strings[0][0]), name, strings[0][0]))


NO_NUMBERS = ("infinity", "inf", "nan")  # what other languages call a double that is no number


def encoded_text(structure: Structure) -> Iterator[Found]:
    for node in parsed(structure.selector) if _CODES.search(structure.selector.text) else ():
        if type(node) is Comparison or type(node) is In:
            for text, span in strings_in(node, structure.selector)[1]:
                found = decoded(text)
                if found is not None:
                    yield Found(span, (quoted(quote(text)), found[0], quoted(quote(found[1]))))


_CODES = re.compile("%[0-9A-Fa-f]{2}|&[#A-Za-z0-9]+;")  # most texts have none


def blank_at_an_end(node: Comparison | In, selector: Selector) -> Found | None:
    name, strings = strings_in(node, selector)
    for text, span in strings:
        # Fields of the descriptor are padded.
        if text.strip() and text != text.strip() and not name.startswith((DESCRIPTOR, JMS_DESCRIPTOR)):
            return Found(span, (quoted(quote(text)),))
    return None


def quotes_in_a_text(node: Comparison | In, selector: Selector) -> Found | None:
    for text, span in strings_in(node, selector)[1]:
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
            return Found(span, (quoted(quote(text)), quoted(quote(text[1:-1]))))
    return None


def comma_in_a_list(node: In, selector: Selector) -> Found | None:
    if len(node.choices) > 1 or "," not in node.choices[0]:
        return None
    texts = ", ".join(quote(one.strip()) for one in node.choices[0].split(","))
    return Found(strings_of(node, selector)[0], (texts,))


def repeat_in_a_list(node: In, selector: Selector) -> Found | None:
    if len(set(node.choices)) == len(node.choices):
        return None
    spans = strings_of(node, selector)
    repeats = [place for place, choice in enumerate(node.choices) if choice in node.choices[:place]]
    edits = tuple(Edit((spans[place - 1][1], spans[place][1]), "") for place in repeats)
    return Found(spans[repeats[0]], (quote(node.choices[repeats[0]]),), edits)


@functools.lru_cache(256)
def read_number(digits: str, dialect: Dialect) -> int | None:
    """Return the value of a whole number; None where it is refused, or read in part."""
    try:
        selector = read_selector(f"p = {digits}", dialect.varied(rest="error"))
    except SelectorError:
        return None
    return next(
        (one.value for one in parsed(selector) if isinstance(one, Literal) and isinstance(one.value, int)), None
    )


def octal_number(node: Literal, selector: Selector) -> Found | None:
    start, stop = node.span
    if type(node.value) not in _NUMERIC or selector.text[start] not in "0+-":
        return None
    digits = selector.text[start:stop].lstrip("+- ").rstrip("lL")
    if node.kind == "approximate" and selector.dialect.hex_octal == "yes" and re.match("0[0-9]", digits):
        return Found(
            node.span,
            (
                selector.text[start:stop],
                repr(node.value),
                "IBM's documentation says that a leading zero begins an octal number",
            ),
        )
    if not digits.isdecimal() or digits[0] != "0":
        return None
    own = read_number(digits, selector.dialect)
    others: dict[object, list[str]] = {}
    for name, preset in PRESETS.items():
        read = read_number(digits, preset)
        if read not in (None, own):
            others.setdefault(read, []).append(name)
    there = " and ".join(f"{read} in {', '.join(names)}" for read, names in others.items())
    return Found(node.span, (selector.text[start:stop], own, there)) if others else None


_NUMERIC = frozenset((int, float))


_WHOLE = re.compile(r"[+-]?\s*(?:0[xX][0-9A-Fa-f]+|[0-9]+)[lL]?")


def out_of_range(node: Literal, selector: Selector) -> Found | None:
    if node.kind != "approximate":
        return None
    written = piece(selector.text, node)
    if _WHOLE.fullmatch(written) or abs(float(node.value)) == sys.float_info.max:
        return Found(node.span, (cut_piece(written, 40), node.value))
    return None


def different_kinds(node: Comparison, selector: Selector) -> Found | None:
    if not differing(node):
        return None
    return Found(node.span, (node.operator, sides(node, selector.text), advice(node, selector.text)))


def beyond_doubles(node: Comparison, selector: Selector) -> Found | None:
    pair = pair_of(node) if node.operator in _EQUALITIES else None
    if pair is None or pair[1].kind != "approximate" or not 1 << 53 <= abs(float(pair[1].value)) < 1 << 63:
        return None
    written = piece(selector.text, pair[1])
    whole = written.partition(".")[0]
    return Found(pair[1].span, (written, int(pair[1].value) if "e" in written.lower() else whole.rstrip("fFdD")))


# ---- headers ---------------------------------------------------------------------------------------------------------

# What a header can be, and how to say it.
_DOMAINS = {
    header: (possible, " or ".join([repr(one) for one in possible]) if len(possible) == 2 else "0 to 9")
    for header, possible in HEADER_DOMAINS.items()
}
_LIMITED = frozenset((*_DOMAINS, "JMSMessageID"))


def header_value(node: Comparison | Between | In, selector: Selector) -> Found | None:
    read: Node = node.identifier if isinstance(node, In) else node.operand if isinstance(node, Between) else node
    if type(read) is Identifier and read.name not in _LIMITED:
        return None  # most
    match node:
        case Comparison():
            pair = pair_of(node)
            if pair is not None and pair[0].name in _LIMITED:
                operator = node.operator if pair[0] is node.left else OPERATORS[node.operator].mirrored
                return _outside(pair[0].name, operator, pair[1], selector)
        case In(_, Identifier(header), choices):
            spans = strings_of(node, selector)
            found = [
                _outside(header, "=", Literal("string", *one), selector) for one in zip(choices, spans, strict=True)
            ]
            return next(filter(None, found), None)
        case Between(_, Identifier(header), Literal(_, int(low)), Literal(_, int(high))) if header in _DOMAINS:
            possible, words = _DOMAINS[header]
            if isinstance(possible, range) and low <= high and not any(low <= one <= high for one in possible):
                return Found(node.span, (header, f"from {low} to {high}", words))
    return None


def _outside(header: str, operator: str, literal: Literal, selector: Selector) -> Found | None:
    """Find a constant that a header never compares so with, or always."""
    value = literal.value
    shown = quoted(quote(value)) if isinstance(value, str) else str(value)
    is_equality = operator in _EQUALITIES
    if header == "JMSMessageID" and isinstance(value, str) and is_equality:
        beginning, words = _MESSAGE_IDS.get(selector.dialect.headers, _ANY_ID)
        return None if beginning.match(value) else Found(literal.span, (header, shown, words))
    possible, words = _DOMAINS.get(header, ((), ""))
    # TIBCO has a third mode. No page says what selectors call it.
    if not possible or (value == "RELIABLE" and selector.dialect.headers == "any"):
        return None
    if LITERAL_KINDS[literal.kind] == ("number" if isinstance(possible, range) else "string"):
        truths = {compare(operator, one, value) for one in possible}
        if Truth.TRUE not in truths or (operator == "<>" and Truth.FALSE not in truths):
            return Found(literal.span, (header, shown if is_equality else f"{operator} {shown}", words))
    elif not isinstance(possible, range):
        return Found(literal.span, (header, shown, words))
    return None


_ANY_ID = (re.compile("ID:"), "a string that begins with ID:")
# What identifiers of messages look like; the queue manager makes them of 24 bytes.
_MESSAGE_IDS = {
    "mqi": (re.compile("ID:[0-9A-Fa-f]{48}\\Z"), "a string of ID: and 48 hexadecimal digits"),
}

_BEGINNING = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Constants as milliseconds between the 2nd of January and April 1970 are seconds; those beyond the year 2286 are more.
_SECONDS = range(10**8, 10**10)
_TOO_MANY = 10**13
_NO_DATES = range(10**10, _TOO_MANY)  # most


def unit_of_time(node: Comparison | Between, selector: Selector) -> Found | None:
    if "JMSTimestamp" not in selector.names:
        return None
    below = children(node)
    if "JMSTimestamp" not in [one.name for one in below if type(one) is Identifier]:
        return None
    for one in below:
        if type(one) is not Literal or LITERAL_KINDS[one.kind] != "number":
            continue
        value = int(one.value)
        if value in _NO_DATES:
            continue
        meant = milliseconds(str(one.value))
        advice = f"; for this date, write {meant}" if meant is not None else ""
        if value in _SECONDS:
            advice = f"; for seconds, write {value * 1000}"
        if value in _SECONDS or (advice and value < _TOO_MANY):
            day = _BEGINNING + timedelta(milliseconds=value)
            return Found(one.span, (one.value, day.date().isoformat(), advice))
        if value >= _TOO_MANY:
            return Found(one.span, (one.value, f"the year {1970 + int(value / 31_556_952_000):,}", advice))
    return None


# ---- numbers ---------------------------------------------------------------------------------------------------------

_DATE = re.compile(r"\d{4}([-/])\d{1,2}\1\d{1,2}|\d{1,2}([-/])\d{1,2}\2\d{4}")


def date_as_arithmetic(node: Arithmetic, selector: Selector) -> Found | None:
    text = selector.text[slice(*node.span)]
    if len(node.operands) != 3 or not _DATE.fullmatch(text):
        return None
    value = evaluate(node)
    operation = "division" if "/" in text else "subtraction"
    date = milliseconds(text) or "the milliseconds since 1970"
    return Found(node.span, (text, operation, "an error" if isinstance(value, Truth) else value, date))


def empty_range(node: Between, selector: Selector) -> Found | None:
    low, high = node.low, node.high
    if not isinstance(low, Literal) or not isinstance(high, Literal):
        return None
    if not {type(low.value), type(high.value)} <= _NUMERIC or low.value <= high.value:  # type: ignore[operator]
        return None
    shown = [piece(selector.text, one) for one in (low, high)]
    return Found(node.span, (*shown, "TRUE for every number" if node.negated else "never TRUE"))


def _is_exact(nodes: tuple[Node, ...]) -> bool:
    """Report whether no operand is known to be a double."""
    return not any(type(one) is Literal and one.kind == "approximate" for node in nodes for one in walk(node))


def integer_division(node: Arithmetic, selector: Selector) -> Found | None:
    if selector.dialect.rules.division != "java" or date_as_arithmetic(node, selector):
        return None
    for place, operator in enumerate(node.operators):
        divisor = node.operands[place + 1]
        if operator == "/" and type(divisor) is Literal and divisor.value not in (0, 1, -1) and divisor.kind == "exact":
            before = node.operands[: place + 1]
            if all(type(one) is Literal for one in before) and _is_whole(node, place):
                continue
            if _is_exact(before):
                return Found(divisor.span, (divisor.value,))
    return None


def _is_whole(node: Arithmetic, place: int) -> bool:
    """Report whether a division of constants leaves no remainder."""
    head = Arithmetic(node.operators[:place], node.operands[: place + 1])
    value = evaluate(head if place else node.operands[0])
    divisor = node.operands[place + 1]
    return isinstance(divisor, Literal) and not isinstance(value, Truth) and value % divisor.value == 0  # type: ignore[operator]


def division_by_zero(node: Arithmetic, selector: Selector) -> Found | None:
    for place, operator in enumerate(node.operators if selector.dialect.rules.division == "java" else ()):
        divisor = node.operands[place + 1]
        is_zero = type(divisor) is Literal and divisor.kind == "exact" and divisor.value == 0
        if operator in FAILING and is_zero and _is_exact(node.operands[: place + 1]):
            return Found((node.span[0], divisor.span[1]))
    return None


def compared_with_itself(node: Comparison, selector: Selector) -> Found | None:
    left, right = node.left, node.right
    if type(left) is not type(right) or type(left) is Literal or left != right:
        return None
    is_equal = node.operator in ("=", "<=", ">=")
    return Found(
        node.span, (piece(selector.text, left), "TRUE for every message that has it" if is_equal else "never TRUE")
    )


# ---- AND and OR ------------------------------------------------------------------------------------------------------


def and_before_or(node: Or, selector: Selector) -> Found | None:
    """Find an AND without parentheses whose test belongs to the one before or behind it in the OR, by its property."""
    for place, operand in enumerate(node.operands):
        if not isinstance(operand, And):
            continue
        for beside, within, joined in ((place - 1, 0, 1), (place + 1, -1, -2)):
            one, other = node.operands[beside % len(node.operands)], operand.operands[within]
            name = required_property(one)
            if not 0 <= beside < len(node.operands) or not name or name != required_property(other):
                continue
            if bounds(node, place, selector.text)[0] == operand.span[0]:
                shown = [cut_piece(piece(selector.text, part), 60) for part in (other, operand.operands[joined], one)]
                return Found(operand.span, tuple(shown))
    return None


_GROUP = 10  # operands that stand side by side without parentheses, where there are many


def many_tests(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    if structure.remarks.tests <= MAX_TESTS:
        return
    edits: list[tuple[int, int, str]] = []
    for node in selector.order:
        if not isinstance(node, (And, Or)) or len(node.operands) <= _GROUP:
            continue
        places = [bounds(node, place, selector.text) for place in range(len(node.operands))]
        size = _GROUP
        while size < len(places):
            for first in range(0, len(places), size):
                last = min(first + size, len(places)) - 1
                if last > first:
                    edits += [(places[first][0], 1, "("), (places[last][1], 0, ")")]
            size *= _GROUP
    advice = "; put parentheses around groups of them, as IBM recommends" if edits else ""
    inserted = tuple(Edit((at, at), sign) for at, _, sign in sorted(edits))
    yield Found(selector.node.span, (structure.remarks.tests, MAX_TESTS, advice), inserted)
