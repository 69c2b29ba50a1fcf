"""Errors about a wrong text, and hints: what was probably meant by a text that is not a selector.

Guesses, for errors and warnings only: the lexer, the parser and the checker decide what a selector is. A hint is a row
of a table, of a word or character and what to write instead, or of a test of the place and a sentence. Follows language
§3 and §7.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from mqsel.carets import Span, cut_piece, quoted
from mqsel.errors import SelectorSyntaxError, SelectorTypeError
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.nodes import quote, written_name
from mqsel.language.operators import (
    ADDED,
    BINARY,
    FUNCTIONS_OF,
    KEYWORDS,
    PREDICATE,
    PREDICATES,
    READ_OF,
    RELATIONS,
    RESERVED_OF,
    TEXT_TESTS,
)
from mqsel.names import NAME_PREFIXES, near_names

# What only some dialects have: the field and its choice.
HAVING = {
    **{symbol: choice for choice, symbols in ADDED.items() for symbol in symbols},
    **dict.fromkeys(TEXT_TESTS, ("words", "contains")),
    **{name: ("words", choice) for choice, names in FUNCTIONS_OF.items() for name in names},
}
# What to write for a word of JMS that a dialect does not have.
INSTEAD = {
    "BETWEEN": "there is no BETWEEN in this dialect: write name >= 1 AND name <= 9",
    "LIKE": "there is no LIKE in this dialect: write name CONTAINS 'text', STARTSWITH or ENDSWITH",
}
NOT_NEXT = "NOT negates what stands next in this dialect: put the test that it negates into parentheses"

NO_COMMENTS = "a selector has no comments"
TWO_MINUS_SIGNS = f"{NO_COMMENTS}: '--' is two minus signs"
# Why '--' begins no comment, by the choice of the field `comments`.
MINUS_IS_NO_COMMENT = {
    "no": TWO_MINUS_SIGNS,
    "dashes": "a comment ends with its line, and this line has no end: '--' is two minus signs",
}

HYPHEN = "'-' is the minus sign: no name has one in it"

_NOT_EQUAL = "not equal is written <>"
_EQUAL = "equality is written ="
_LESS_OR_EQUAL = "less than or equal is written <="
_GREATER_OR_EQUAL = "greater than or equal is written >="
_CONDITION_ALONE = "a selector is a condition alone: leave out SELECT, FROM and WHERE"
_NO_CASE = "there is no CASE: join conditions with AND and OR"
_REGULAR = "there are no regular expressions: use LIKE with % and _"
# What other languages write where an operator stands, symbols and words, and what to do instead.
FOREIGN = {
    "==": "equality is written '=' in a selector",
    "=<": _LESS_OR_EQUAL,
    "=>": _GREATER_OR_EQUAL,
    "=<=": "write <= alone",
    "=>=": "write >= alone",
    "><": _NOT_EQUAL,
    "!": f"{_NOT_EQUAL}, negation is written NOT",
    "&": "write AND",
    "|": "write OR",
    "%": "% is a wildcard inside a LIKE pattern, which stands between apostrophes; there is no remainder operator",
    "^": "there is no such operator, and none for powers",
    "~": "there is no such operator; negation is written NOT",
    "−": "write the hyphen-minus -",
    "–": "write the hyphen-minus -",
    "≠": "write <>",
    "≤": "write <=",
    "≥": "write >=",
    "#": NO_COMMENTS,
    "CONTAINS": "use LIKE with %: name LIKE '%text%'",
    "STARTSWITH": "use LIKE with %: name LIKE 'text%'",
    "ENDSWITH": "use LIKE with %: name LIKE '%text'",
    "REGEXP": _REGULAR,
    "RLIKE": _REGULAR,
    "MATCHES": _REGULAR,
    "EQ": _EQUAL,
    "EQUAL": _EQUAL,
    "EQUALS": _EQUAL,
    "NE": _NOT_EQUAL,
    "NOT EQ": _NOT_EQUAL,
    "NOT EQUAL": _NOT_EQUAL,
    "NOT EQUALS": _NOT_EQUAL,
    "LT": "less than is written <",
    "LE": _LESS_OR_EQUAL,
    "LTE": _LESS_OR_EQUAL,
    "GT": "greater than is written >",
    "GE": _GREATER_OR_EQUAL,
    "GTE": _GREATER_OR_EQUAL,
    "EXISTS": "to test whether a message has a property write name IS NOT NULL",
    "SELECT": _CONDITION_ALONE,
    "FROM": _CONDITION_ALONE,
    "WHERE": _CONDITION_ALONE,
    "CASE": _NO_CASE,
    "WHEN": _NO_CASE,
    "XOR": "there is no XOR: write a <> b",
    "MOD": "there is no remainder operator",
    "XPATH": "a selector reads properties, never the body: XPATH is an extension of ActiveMQ",
    "XQUERY": "a selector reads properties, never the body",
}
_CHARACTERS = {
    **FOREIGN,
    ";": "a selector is one condition without a closing semicolon",
    **dict.fromkeys("‘’‚“”„´", "a string stands between straight apostrophes: 'text'"),
    "]": "names are written without brackets",
    "?": "there are no parameters; the wildcard for one character is _ in a LIKE pattern",
    "\\": "a backslash has a meaning only inside a string",
    "@": "there are no parameters in a selector",
    **dict.fromkeys("{}", "parentheses are round"),
    "\x0b": "vertical tab is white space in IBM MQ only: use a blank",
    "\xa0": "a no-break space is not white space here: use a blank",
}
# As `mqsel.language.parameters` finds one.
_PARAMETER = r"(?<![\w$:]):([^\W\d]\w{0,63})"

_SHOWN = 60  # cells of a text that a hint has
# Patterns are texts here: compiled ones would be read at each start, and most never used.


# ---- errors: each wording that is used more than once ----------------------------------------------------------------


def unexpected_character(text: str, span: Span, hint: str | None) -> SelectorSyntaxError:
    """Return the error of a character that has no meaning."""
    character = text[span[0]]
    shown = quoted(text[span[0] : span[1]]) if character.isprintable() else f"U+{ord(character):04X}"
    return SelectorSyntaxError(
        f"unexpected {shown}: it has no meaning in a selector", selector=text, span=span, hint=hint
    )


def bad_double_quotes(text: str, span: Span, found: str, dialect: Dialect, hint: str) -> SelectorSyntaxError:
    """Return the error of a piece in double quotes."""
    is_bytes = dialect.byte_strings == "yes"
    expected = 'a byte string such as "0x2F1C"' if is_bytes else "a string in apostrophes, or a name without quotes"
    return SelectorSyntaxError(f"{found}: expected {expected}", selector=text, span=span, hint=hint)


def bad_number(text: str, span: Span, found: str, hint: str | None) -> SelectorSyntaxError:
    """Return the error of a piece that begins like a number."""
    return SelectorSyntaxError(
        f"{quoted(text[span[0] : span[1]])} is not a number: {found}", selector=text, span=span, hint=hint
    )


_LEAST = {"least": "4.9E-324", "least normal": "2.2250738585072014E-308 in this dialect"}


def number_out_of_range(text: str, span: Span, kind: str) -> SelectorSyntaxError:
    """Return the error of a number that the dialect can't hold; *kind* says which limit it breaks."""
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
    """Return the error of a token where another one was expected."""
    return SelectorSyntaxError(f"unexpected {found}: expected {expected}", selector=text, span=span, hint=hint)


def wrong_type(text: str, span: Span, what: str, found: str, hint: str | None = None) -> SelectorTypeError:
    """Return the error of an operand that has the wrong type."""
    return SelectorTypeError(f"{what}, found {found}", selector=text, span=span, hint=hint)


def not_in_capitals(text: str, span: Span) -> SelectorSyntaxError:
    """Return the error of a keyword that isn't in capitals."""
    piece = text[slice(*span)]
    return SelectorSyntaxError(
        f"{quoted(piece)} is a reserved word, and no name in this dialect",
        selector=text,
        span=span,
        hint=f"keywords are written in capitals: {piece.upper()}",
    )


NOT_MODELLED = "is not supported"


def not_modelled(text: str, span: Span, construct: str) -> SelectorSyntaxError:
    """Return the error of a construct that the product has and mqsel doesn't support."""
    return SelectorSyntaxError(
        f"{construct} {NOT_MODELLED}: the product has it, and mqsel does not know what it does",
        selector=text,
        span=span,
        hint="select by other properties, or ask the product itself",
    )


# ---- characters and words --------------------------------------------------------------------------------------------


def foreign(*words: object) -> str | None:
    """Return what to write instead of the first of these words that another language has."""
    found = next((word for word in (str(word).upper() for word in words) if word in FOREIGN), None)
    return None if found is None else FOREIGN[found] + owners(found)


def owners(word: str) -> str:
    """Return which presets have what is no selector here, to stand behind a hint; empty if none does."""
    field, choice = HAVING.get(word.upper(), ("", ""))
    names = [name for name, preset in PRESETS.items() if field and preset.choice(field) == choice]
    return f"; {', '.join(names)} {'has' if len(names) == 1 else 'have'} {word.upper()}" if names else ""


def of_character(character: str) -> str | None:
    """Return what to write instead of a character."""
    hint = _CHARACTERS.get(character)
    if hint is None and not character.isascii():
        plain = unicodedata.normalize("NFKC", character)
        if plain != character and plain.isascii() and plain.strip():
            return f"this is U+{ord(character):04X}: write the plain {plain}"
        if character.isdecimal():
            return f"write the plain {unicodedata.decimal(character)}"
        if character.isspace() or unicodedata.category(character) in ("Zs", "Zl", "Zp", "Cf"):
            return f"U+{ord(character):04X} is not white space in this dialect: use a blank"
    return hint


def bad_character(text: str, start: int, dialect: Dialect) -> SelectorSyntaxError:
    """Return the error of a character with which no word begins."""
    character, stop = text[start], start + 1
    if character == "'":
        return SelectorSyntaxError(
            "unterminated string literal: the closing single quote is missing",
            selector=text,
            span=(start, stop),
            hint=unterminated(text, start),
        )
    hint = closed_early(text, start)
    if hint is None and character == '"':
        hint = f"{STRING}'text'" if dialect.byte_strings == "no" else 'close the byte string with "'
        return bad_double_quotes(text, (start, stop), "the closing double quote is missing", dialect, hint)
    if hint is None and character in "`[":
        end = text.find({"[": "]"}.get(character, character), stop) + 1
        hint = unquoted(text, (start, end or stop), dialect)
    elif hint is None and character in "&|!":
        stop += text[stop : stop + 1] in (character, "=")
        hint = bars(text, start) if text[start:stop] == "||" else encoded(text, start)
        hint = hint or _CHARACTERS[character] + owners(text[start:stop])
    elif hint is None and character in ".:":
        rows = _POINTS if character == "." else _COLONS
        hint = next(found for says in rows if (found := says(text, start, dialect)))
    elif hint is None:
        hint = encoded(text, start) or (of_character(character) or "") + owners(character) or None
    return unexpected_character(text, (start, stop), hint)


# Hints about a dot and about a colon in a text at a place: the first that says something is it.
_POINTS: tuple[Callable[[str, int, Dialect], str | None], ...] = (
    lambda _text, _at, dialect: (
        "a name starts with a letter, not with a dot" if dialect.identifier_dots == "yes" else None
    ),
    lambda text, at, _: (
        "a selector does not read the body: the sender has to set a property"
        if re.search(r"(?i)\b(?:message|body|payload)\Z", text[max(at - 8, 0) : at])
        else None
    ),
    lambda _text, _at, dialect: (
        f"before a dot stands one of {', '.join(NAME_PREFIXES[dialect.identifier_dots])}, without quotes"
        if dialect.identifier_dots in NAME_PREFIXES
        else None
    ),
    lambda *_: "names have no dots in this dialect; IBM_MQ has them (Root.MQMD.MsgType)",
)
_NO_DATES = "there is no literal for a date or time: "
_COLONS: tuple[Callable[[str, int, Dialect], str | None], ...] = (
    lambda text, at, _: (
        date(text, at) or f"{_NO_DATES}compare with milliseconds since 1970 as an exact number"
        if text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit()
        else None
    ),
    lambda text, at, _: (
        f"mqsel.compile has an argument for the values of parameters: parameters={{'{name[1]}': …}}"
        if (name := re.compile(_PARAMETER).match(text, at))
        else None
    ),
    lambda *_: (
        "a name has no colon in it, and there are no prefixes such as xpath: or convert_string_expressions:; "
        "text stands between apostrophes"
    ),
)


def bad_byte_string(text: str, span: Span, word: str, dialect: Dialect) -> SelectorSyntaxError:
    """Return the error of a word in double quotes that is no byte string."""
    body = word[1:-1]
    has_prefix = body[:2] in ("0x", "0X")
    digits = body[2:] if has_prefix else ""
    pairs = as_bytes(body)
    hint = f"write {pairs}" if pairs else "write pairs of 0-9 and A-F"
    if dialect.byte_strings == "no":
        found = "stands in double quotes"
        hint = NO_BYTES if has_prefix else unquoted(text, span, dialect)
    elif not has_prefix:
        found, hint = "does not start with 0x", unquoted(text, span, dialect)
        if pairs and hint.startswith(STRING):
            hint = f"a byte string is written {pairs}; {hint}"
    elif re.fullmatch("[0-9A-Fa-f]*", digits) is None:
        found = "holds something else than hexadecimal digits"
    elif not digits:
        found = "has no digits"
    else:
        found, hint = "has an odd number of digits", f"two digits make a byte: {hint}"
    return bad_double_quotes(text, span, f"{quoted(word)} {found}", dialect, hint)


def bad_number_end(text: str, span: Span, start: int) -> SelectorSyntaxError:
    """Return the error of a number from *start* on, to which the text in *span* does not belong."""
    tail = text[slice(*span)]
    hint = "a name does not start with a digit; text stands between apostrophes"
    if tail in ("e", "E"):
        hint = "write the exponent's digits, as in 7E3"
    elif tail.startswith("_"):
        hint = "digits are not grouped"
    elif text[start : span[0]] == "0" and tail[0] in "bB":
        hint = "there are no binary numbers"
    else:
        hint = date(text, start) or hint
    return bad_number(text, (start, span[1]), f"{quoted(tail)} follows the digits", hint)


def dashes(text: str) -> list[int]:
    """List where ``--`` stands outside of strings: two minus signs, which people may have meant as a comment."""
    return [match.start() for match in re.finditer(r"'[^']*'|\"[^\"]*\"|--", text) if match.group() == "--"]


def is_hyphenated(piece: str) -> bool:
    """Report whether a difference may be meant as one name: color-name."""
    return re.fullmatch(r"[^\W\d][\w$.]*(?:-[\w$.]+)+", piece) is not None


# ---- unexpected tokens -----------------------------------------------------------------------------------------------

# The kinds of tokens with which an operand ends.
OPERAND_ENDS = frozenset(["identifier", "string", "exact", "approximate", "bytes", "TRUE", "FALSE", "NULL", ")"])
_NUMBERS = frozenset(["exact", "approximate"])


class Place(NamedTuple):
    """The place of a token that the parser did not expect.

    Attributes:
        kinds: The kinds of all tokens.
        values: Their values.
        spans: Their spans.
        at: The index of the token.
        strength: How strongly the innermost open construct binds.
        lacks_and: Whether that is a BETWEEN without its AND.
        parentheses: The number of open parentheses.
        negatable: The words before which NOT may be, in words.
    """

    text: str
    dialect: Dialect
    kinds: Sequence[str]
    values: Sequence[object]
    spans: Sequence[Span]
    at: int
    strength: int
    lacks_and: bool
    parentheses: int
    negatable: str

    def kind_at(self, offset: int) -> str:
        """Return the kind of the token that is so many tokens after this one; empty if there is none."""
        at = self.at + offset
        return self.kinds[at] if 0 <= at < len(self.kinds) else ""

    def piece(self, offset: int = 0) -> str:
        """Return the text of the token that is so many tokens after this one."""
        return self.text[slice(*self.spans[self.at + offset])]

    @property
    def kind(self) -> str:
        """The kind of the token."""
        return self.kinds[self.at]

    @property
    def before(self) -> str:
        """The kind of the token before; empty if there is none."""
        return self.kind_at(-1)

    @property
    def following(self) -> str:
        """The kind of the token after; empty if there is none."""
        return self.kind_at(1)

    @property
    def is_in_list(self) -> bool:
        """Whether only strings and commas are between an IN with its parenthesis and the token."""
        at = self.at - 1
        while at >= 0 and self.kinds[at] in ("string", ","):
            at -= 1
        return at > 0 and self.kinds[at] == "(" and self.kinds[at - 1] == "IN"

    @property
    def is_after_operand(self) -> bool:
        """Whether an operand ends before the token."""
        return self.before in OPERAND_ENDS

    @property
    def as_name(self) -> str:
        """How the reserved word here is written as a name, to append to a hint."""
        if self.dialect.rules.quoted_names == "no":
            return ": no property can have this name"
        return f": as a name it is written {written_name(self.piece(), self.dialect)}"


def _reserved(place: Place) -> str:
    is_name = place.following in RELATIONS | PREDICATES
    meant = None if is_name else INSTEAD.get(place.kind) or foreign(place.kind)
    return meant or f"{place.kind} is a reserved word{place.as_name}"


def _two_relations(place: Place) -> str:
    both = place.before + place.kind
    if both in RELATIONS and place.spans[place.at - 1][1] < place.spans[place.at][0]:
        return f"write {both} without a blank"
    return FOREIGN.get(both, "write one of = <> < <= > >=")


def _negated(place: Place) -> str:
    word = place.piece()
    if place.kind in RELATIONS:
        return "not equal is written <>; NOT stands before a whole condition"
    hint = foreign(f"NOT {word}", word, place.values[place.at - 2]) or INSTEAD.get(word.upper())
    return hint or f"NOT stands before a whole condition, or before {place.negatable}"


def _open_parentheses(place: Place) -> str:
    count = place.parentheses
    return "close the parenthesis with ')'" if count == 1 else f"close the {count} open parentheses with ')'"


def _condition_of(place: Place) -> str:
    words = [-1, 1, 2][: 2 + (place.following == "NOT")]
    return f"the name stands inside the parentheses: ({' '.join(map(place.piece, words))} …)"


def _called(place: Place) -> str:
    word = str(place.values[place.at - 1])
    return foreign(word) or f"there are no functions in a selector{owners(word)}"


def _without_left(place: Place) -> str:
    has_name = place.before in ("AND", "OR") and place.kind_at(-4) == "identifier"
    if not has_name:
        return f"write the property first: name {place.kind} …"
    return f"name the property in each comparison: {place.before} {place.values[place.at - 4]} {place.kind} …"


def _missing(place: Place) -> str:
    is_condition = place.kind in ("AND", "OR", ")") and place.strength < PREDICATE
    missing = "a condition" if is_condition else "a value"
    if not place.before:
        return f"{missing} is missing before '{place.kind}'"
    return f"{missing} is missing between '{place.before}' and '{place.kind}'"


def _adjacent(place: Place) -> str:
    pair = slice(place.at - 1, place.at + 1)
    return adjacent(place.text, place.kinds[pair], place.spans[pair], place.dialect)


_ONE_TEXT = ("LIKE", "ESCAPE")
_STARTS = ("identifier", "string", "exact", "approximate", "bytes", "TRUE", "FALSE", "(")
# Mistakes behind a token that was not expected: when it is this one, and what to say of it. The first row counts.
_UNEXPECTED: tuple[tuple[Callable[[Place], bool], str | Callable[[Place], str] | None], ...] = (
    (lambda p: p.kind in RESERVED_OF[p.dialect.rules.words] - READ_OF[p.dialect.rules.words], _reserved),
    (lambda p: p.before == p.kind == "/", NO_COMMENTS),
    (lambda p: p.before in RELATIONS and p.kind in RELATIONS, _two_relations),
    (
        lambda p: p.before == "IS" or (p.kind_at(-2) == "IS" and p.before == "NOT"),
        "IS is followed by NULL or NOT NULL only; to test a boolean write name = TRUE, or the name alone",
    ),
    (
        lambda p: p.is_in_list and p.kind == "identifier",
        "an IN list holds string literals only: put the text between apostrophes",
    ),
    (lambda p: p.is_in_list, "an IN list is written ('a', 'b'), with at least one string"),
    (lambda p: p.before == "IN", "an IN list stands in parentheses: IN ('a', 'b')"),
    (
        lambda p: p.before in _ONE_TEXT and [p.kind, p.following, p.kind_at(2)] == ["(", "string", ","],
        lambda p: f"{p.before} takes one string: join a test for each with OR",
    ),
    (
        lambda p: p.before in _ONE_TEXT and p.kind == "(",
        lambda p: f"{p.before} takes one string, without parentheses: {p.before} 'text'",
    ),
    (lambda p: p.before in _ONE_TEXT, "put the text between apostrophes"),
    (lambda p: p.kind == "NULL", "NULL is not a value: test a property with IS NULL or IS NOT NULL"),
    (lambda p: p.before == "NULL" and p.kind == "end", None),
    (
        lambda p: p.lacks_and and p.is_after_operand,
        "BETWEEN takes two bounds joined by AND: name BETWEEN 1 AND 9",
    ),
    (lambda p: p.before == "NOT" and p.kind_at(-2) in OPERAND_ENDS, _negated),
    (
        lambda p: p.kind == "," and p.before in _NUMBERS and p.following in _NUMBERS,
        "digits are not grouped, and a point stands before the decimals: 2500.50",
    ),
    (lambda p: p.kind == "," and p.before != "", "join conditions with AND or OR"),
    (lambda p: p.kind == "end" and p.is_after_operand, _open_parentheses),
    (lambda p: p.text.strip() == "*", "an empty text selects everything"),
    (lambda p: p.kind == "end", "the selector stops too early: complete it or remove its last word"),
    (
        lambda p: p.kind == "NOT" and p.before in BINARY,
        "NOT takes a whole condition: put the condition and its NOT into parentheses",
    ),
    (
        lambda p: p.kind in PREDICATES and p.following not in RELATIONS,
        lambda p: f"write the property first: name {p.kind} …",
    ),
    (
        lambda p: p.kind in KEYWORDS - {"TRUE", "FALSE"} and p.following in RELATIONS | PREDICATES,
        lambda p: f"{p.kind} is a reserved word{p.as_name}",
    ),
    (
        lambda p: p.before == "identifier" and p.kind == "(" and p.following in RELATIONS | PREDICATES | {"NOT"},
        _condition_of,
    ),
    (lambda p: p.before == "identifier" and p.kind == "(", _called),
    (lambda p: p.kind == ")" and p.is_after_operand, "a parenthesis closes here that was never opened"),
    (lambda p: p.kind in RELATIONS and not p.is_after_operand and p.strength < PREDICATE, _without_left),
    (lambda p: not p.is_after_operand and (p.kind in BINARY or p.kind == ")"), _missing),
    (lambda p: p.kind in _STARTS and p.is_after_operand, _adjacent),
)


def unexpected(place: Place, expected: str, hint: str | None = None) -> SelectorSyntaxError:
    """Return the error of a token that was not expected.

    Args:
        hint: What to do about it. The default is None: the first row that fits the place says it.
    """
    found = "end of the selector"
    if place.kind != "end":
        found = quoted(place.piece())
        if place.at:
            found += f" after {quoted(place.piece(-1))}"
    if hint is None:
        says = next((says for when, says in _UNEXPECTED if when(place)), None)
        hint = says(place) if callable(says) else says
    return unexpected_token(place.text, place.spans[place.at], found, expected, hint)


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
