"""Errors of the language: each wording that is used more than once, or has a rule of its own."""

from __future__ import annotations

from mqsel.carets import Span, quoted
from mqsel.errors import SelectorSyntaxError, SelectorTypeError
from mqsel.language.dialect import Dialect


def unexpected_character(text: str, span: Span, hint: str | None) -> SelectorSyntaxError:
    character = text[span[0]]
    shown = quoted(text[span[0] : span[1]]) if character.isprintable() else f"U+{ord(character):04X}"
    return SelectorSyntaxError(
        f"unexpected {shown}: it has no meaning in a selector", selector=text, span=span, hint=hint
    )


def bad_double_quotes(text: str, span: Span, found: str, dialect: Dialect, hint: str) -> SelectorSyntaxError:
    is_bytes = dialect.byte_strings == "yes"
    expected = 'a byte string such as "0x2F1C"' if is_bytes else "a string in apostrophes, or a name without quotes"
    return SelectorSyntaxError(f"{found}: expected {expected}", selector=text, span=span, hint=hint)


def bad_number(text: str, span: Span, found: str, hint: str | None) -> SelectorSyntaxError:
    return SelectorSyntaxError(
        f"{quoted(text[span[0] : span[1]])} is not a number: {found}", selector=text, span=span, hint=hint
    )


_LEAST = {"least": "4.9E-324", "least normal": "2.2250738585072014E-308 in this dialect"}


def number_out_of_range(text: str, span: Span, kind: str) -> SelectorSyntaxError:
    limits = {
        "exact": "exact numbers go from -9223372036854775808 to 9223372036854775807",
        "approximate": "approximate numbers go up to 1.797693134862315E+308",
        **{kind: f"the least approximate number above zero is {number}" for kind, number in _LEAST.items()},
        "zero": "no approximate number is zero in this dialect",
        "digits": "an exact number has 4,000 digits at most",
    }
    not_exact = "write an approximate number (with a point or an exponent) if the value need not be exact"
    hints = {"approximate": "write a smaller number", "zero": "write 0"} | dict.fromkeys(_LEAST, "write 0.0")
    return SelectorSyntaxError(
        f"{quoted(text[span[0] : span[1]])} is out of range: {limits[kind]}",
        selector=text,
        span=span,
        hint=hints.get(kind, not_exact),
    )


def unexpected_token(text: str, span: Span, found: str, expected: str, hint: str | None) -> SelectorSyntaxError:
    return SelectorSyntaxError(f"unexpected {found}: expected {expected}", selector=text, span=span, hint=hint)


def wrong_type(text: str, span: Span, what: str, found: str, hint: str | None = None) -> SelectorTypeError:
    return SelectorTypeError(f"{what}, found {found}", selector=text, span=span, hint=hint)


def not_in_capitals(text: str, span: Span) -> SelectorSyntaxError:
    piece = text[slice(*span)]
    return SelectorSyntaxError(
        f"{quoted(piece)} is a reserved word, and no name in this dialect",
        selector=text,
        span=span,
        hint=f"keywords are written in capitals: {piece.upper()}",
    )


NOT_MODELLED = "is not modelled"


def not_modelled(text: str, span: Span, construct: str) -> SelectorSyntaxError:
    return SelectorSyntaxError(
        f"{construct} {NOT_MODELLED}: the product has it, and what it does is not known here",
        selector=text,
        span=span,
        hint="select by other properties, or ask the product itself",
    )
