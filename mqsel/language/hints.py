"""Hints that need a look at the text around an error: what was probably meant by what is no selector.

Guesses, for errors and warnings alone: the lexer, the parser and the checker decide what a selector is. What other
languages write for an operator stands in `mqsel.language.operators`. Follows language §3.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress

from mqsel.carets import Span, cut_piece
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.nodes import quote
from mqsel.language.operators import FOREIGN, HAVING, INSTEAD, KEYWORDS, READ_OF
from mqsel.names import near_names

_SHOWN = 60  # cells of a text that a hint has
# Patterns are texts here: compiled ones would be read at each start, and most never used.


def foreign(*words: object) -> str | None:
    """Return what to write instead of the first of these words that another language has."""
    found = next((word for word in (str(word).upper() for word in words) if word in FOREIGN), None)
    return None if found is None else FOREIGN[found] + owners(found)


def owners(word: str) -> str:
    """Return which presets have what is no selector here, to stand behind a hint; empty if none does."""
    field, choice = HAVING.get(word.upper(), ("", ""))
    names = [name for name, preset in PRESETS.items() if field and preset.choice(field) == choice]
    return f"; {', '.join(names)} {'has' if len(names) == 1 else 'have'} {word.upper()}" if names else ""


def adjacent(text: str, kinds: Sequence[str], spans: Sequence[Span], dialect: Dialect) -> str:
    """Return why two operands stand side by side.

    Args:
        kinds: of the two tokens.
        spans: where they stand.
    """
    pieces = [text[slice(*span)] for span in spans]
    words = [piece for kind, piece in zip(kinds, pieces, strict=True) if kind == "identifier"][::-1]
    hint = foreign(*words) or (_prefixed(pieces[0], pieces[1], dialect) if spans[0][1] == spans[1][0] else None)
    if hint is not None:
        return hint
    for name in words:
        plain = unicodedata.normalize("NFKC", name).upper()
        if plain in INSTEAD:
            return INSTEAD[plain]
        near = near_names(plain, sorted(READ_OF[dialect.rules.words] - {"NULL", "TRUE", "FALSE"}))
        if near:
            return f"did you mean {near[0]} instead of {name}?"
    are_numbers = [kind in ("exact", "approximate") for kind in kinds]
    if are_numbers[1] and kinds[0] == "exact" and re.match("[0-9]{3}(?![0-9])", pieces[1]):
        return "digits are not grouped: write them without blanks"
    if all(are_numbers):
        return date(text, spans[0][0]) or "a date or time is not a number: compare with milliseconds since 1970"
    if kinds[1] in ("identifier", "string") and kinds[0] == "string":
        return closed_early(text, spans[1][0]) or "an apostrophe inside a string is written twice: 'it''s'"
    if list(kinds) == ["identifier", "identifier"]:
        return "a name has no blanks, and text stands between apostrophes; join conditions with AND or OR"
    return "an operator is missing between the two: compare them, or join conditions with AND or OR"


def _prefixed(name: str, string: str, dialect: Dialect) -> str | None:
    """Return what a letter before a string was meant for: X'414D' and N'text' of SQL."""
    if len(name) > 1 or not name.isalpha() or string[:1] != "'":
        return None
    made = as_bytes(string) if name in "xX" else ""
    if made and dialect.byte_strings == "yes":
        return f"a byte string is written {made}"
    return NO_BYTES if made else f"a string has no letter before it: {cut_piece(string, _SHOWN)}"


# ---- quotes ----------------------------------------------------------------------------------------------------------

NO_BYTES = "byte strings exist in IBM_MQ only"
STRING = "a string stands between apostrophes: "
_TWICE = "an apostrophe inside a string is written twice: "


def unquoted(text: str, span: Span, dialect: Dialect) -> str:
    """Return how what stands in other quotes, or in brackets, is written: as a name where no string can stand."""
    piece = text[span[0] + 1 : span[1] - 1]
    before = text[: span[0]].rstrip()
    is_in_list = re.search(r"\bIN\s*\(\Z", before[-100:], re.IGNORECASE)
    if is_in_list or not re.search(_BEFORE_A_NAME, before[-100:]):
        return STRING + (quote(piece) if piece and "'" not in piece and len(piece) <= _SHOWN else "'text'")
    bare = f"a name is written without {'brackets' if text[span[0]] == '[' else 'quotes'}"
    parts = piece.split(".") if dialect.identifier_dots == "yes" else [piece]
    return f"{bare}: {piece}" if all(map(str.isidentifier, parts)) else f"{bare}, in letters, digits, _ and $"


# Where a name stands: at the beginning of a condition, in arithmetic and order, and on the right of a literal.
_BEFORE_A_NAME = (
    r"(?i)(?:\A|[(+*/-]|<=?|(?<!<)>=?|(?:'|(?<![\w.$])[\d.]+|\bTRUE|\bFALSE)\s*(?:=|<>)|\b(?:AND|OR|NOT|BETWEEN))\Z"
)


def closed_early(text: str, stop: int) -> str | None:
    """Return how an apostrophe is written that ended a string before *stop*: a name stands right behind it."""
    for match in re.finditer(r"'([^']*(?:''[^']*)*)'([^\W\d]\w*)?", text):
        if match.end(1) >= stop:
            break
        if match[2] and match[2].upper() not in KEYWORDS:
            word = match[1].rpartition(" ")[2].rstrip("\\")
            return f"{_TWICE}{cut_piece(word, _SHOWN)}''{match[2]}"
    return None


def unterminated(text: str, start: int) -> str:
    """Return how a string is closed that begins at *start*; a word right before it has the apostrophe inside."""
    hint = closed_early(text, start)
    if hint is not None:
        return hint
    word = re.search(r"[^\W\d]\w{0,99}\Z", text[:start])
    if word and word[0].upper() not in KEYWORDS:
        rest = re.match(r"\w*", text[start + 1 :])
        return f"{STRING}{quote(word[0] + text[start] + (rest[0] if rest else ''))}"
    return "close the string with ', and write '' for an apostrophe inside it"


# ---- byte strings ----------------------------------------------------------------------------------------------------


def as_bytes(piece: str) -> str:
    """Return the byte string that a piece of a text is meant for, empty where it is none: 0x41, X'414D', 41 4D."""
    bare = re.sub(r"\\x|(?<=[\s,])0x|['\"\s:,-]", "", piece)
    match = re.fullmatch(r"(0?[xX]|(?:ID)?)([0-9A-Fa-f]+)", bare)
    if match is None or (len(match[2]) % 2 and match[1][-1:] not in ("x", "X")):
        return ""
    return f'"0x{"0" * (len(match[2]) % 2)}{match[2]}"'


# ---- dates -----------------------------------------------------------------------------------------------------------

_DATE = (
    r"(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d{2})(\d{2}))"
    r"(?:[T ]?(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,3})\d*)?)?)?\s?(?:Z|([+-])(\d{2}):?(\d{2}))?"
)


def milliseconds(piece: str) -> int | None:
    """Return a date, or a date and time, in milliseconds since 1970; UTC where it does not say."""
    found = re.fullmatch(_DATE, piece.strip())
    if found is None:
        return None
    from datetime import datetime, timezone  # noqa: PLC0415 (for errors and warnings alone)

    year, _, month, day, *compact, hour, minute, second, fraction, sign, hours, minutes = found.groups()
    numbers = [int(one or 0) for one in (year, month or compact[0], day or compact[1], hour, minute, second)]
    with suppress(ValueError):
        time = datetime(*numbers, tzinfo=timezone.utc)  # type: ignore[arg-type,misc]
        offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-60 if sign == "-" else 60)
        made = (int(time.timestamp()) - offset) * 1000 + int((fraction or "").ljust(3, "0"))
        return made if made >= 0 else None
    return None


def in_milliseconds(piece: str, made: int) -> str:
    """Return a date and what it is in milliseconds."""
    return f"{piece} is {made}, in milliseconds since 1970 (UTC)"


def date(text: str, at: int) -> str | None:
    """Return how a date is written that stands at a place, without apostrophes."""
    around = (one for one in re.finditer(_DATE, text) if one.start() <= at < one.end() and one[2])
    piece = next(around, [""])[0].strip()
    made = milliseconds(piece)
    return None if made is None else f"there is no literal for a date or time: {in_milliseconds(piece, made)}"


# ---- other languages -------------------------------------------------------------------------------------------------

# Characters that a URL has only so, but for letters, digits and signs that numbers of two digits could be.
_URL = r"(?i)%(?:2[0-9BCDF]|3[ACDEF]|5B|5D)"
_XML = r"(?i)&(?:lt|gt|amp|apos|quot|nbsp|#\d+|#x[0-9a-f]+);"


def encoded(text: str, at: int) -> str | None:
    """Return the plain text, where it is encoded for a URL or escaped for XML at a place."""
    here = text[at : at + 20]
    found = decoded(text) if re.match(_XML, here) or re.match(_URL, here) else None
    return f"the text is {found[0]}: write {cut_piece(found[1], _SHOWN)}" if found else None


def decoded(text: str) -> tuple[str, str] | None:
    """Return what a text is encoded for, and the plain text; None where it is plain."""
    if re.search(_XML, text):
        from html import unescape  # noqa: PLC0415 (for errors and warnings alone)

        return "escaped for XML", unescape(text)
    codes = re.findall(_URL, text)
    # One number alone is the remainder that % gives elsewhere: a %20 = 0.
    if not codes or (len(codes) == 1 and codes[0][1:].isdigit()):
        return None
    from urllib.parse import unquote, unquote_plus  # noqa: PLC0415 (for errors and warnings alone)

    return "encoded for a URL", unquote(text) if " " in text else unquote_plus(text)


def bars(text: str, at: int) -> str:
    """Return what || at a place was meant for: tags of RocketMQ, or texts that are joined."""
    if re.fullmatch(r"\s*[\w-]+(?:\s*\|\|\s*[\w-]+)+\s*", text):
        listed = ", ".join(map(quote, re.findall(r"[\w-]+", text)))
        return f"{FOREIGN['|']}; tags of RocketMQ are tested with TAGS IN ({cut_piece(listed, _SHOWN)})"
    is_text = text[:at].rstrip().endswith("'") or text[at + 2 :].lstrip().startswith("'")
    return "texts are not joined in a selector; conditions are joined with OR" if is_text else FOREIGN["|"]
