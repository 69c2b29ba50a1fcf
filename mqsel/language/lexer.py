# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Text to tokens. One regular expression finds every token; tables say the rest.

What most selectors consist of, blanks, names, strings, whole numbers and signs of ASCII, is told character by character
from a table that is made of that expression: compiled, it takes a seventh of the time.

Owns spelling: white space, keywords, literals and their ranges. Knows no grammar. Follows language §3.
"""

import functools
import math
import re
import sys
import unicodedata
from operator import attrgetter
from typing import Any, NamedTuple

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel import errors
from mqsel.carets import Span, quoted
from mqsel.language import advice
from mqsel.language.advice import (
    NO_COMMENTS,
    bad_number,
    not_in_capitals,
    not_modelled,
    number_out_of_range,
    unexpected_character,
)
from mqsel.language.dialect import CHOICES, Dialect, kept
from mqsel.language.operators import (
    ADDED,
    KEYWORDS,
    NAMES,
    NOT_MODELLED,
    RESERVED_OF,
    SYMBOLS,
)
from mqsel.language.product import NEVER, Numbers, Rules
from mqsel.language.products import PRODUCTS
from mqsel.names import IGNORABLE, NAME_PREFIXES, PART, SECTION_FIELDS, START, WHITE_SPACE

if not cython.compiled:
    from mqsel.language.nodes import row


# Fields in a list: in what Cython compiles the types of a class are texts, each of which typing would compile.
class Token(NamedTuple("Token", [("kind", str), ("value", Any), ("start", int), ("stop", int)])):
    """One token.

    ``kind`` is an operator or a keyword in capitals as it stands, or "identifier", "string", "exact", "approximate",
    "big", "bytes", "end"; or "damage" or "unreadable", where only what is read of a text counts: no word, and a number
    out of range. ``value`` is the literal's value, the text, or the error. The span is half-open, in code points.
    """

    __slots__ = ()


_UNICODE_SPACE = "".join(map(re.escape, sorted(WHITE_SPACE)))
_JAVA_SPACE = " \\t\\f\\r\\n"

# Candidates for identifiers are ASCII letters, and whatever needs a look at its Unicode category. A set is written by
# what of ASCII it has not: with all that lies beyond, re takes 3.5 ms to read each.
_OTHERS = [one for one in map(chr, range(128)) if not one.isalpha() and one not in "_$"]
_NO_START = "".join(map(re.escape, _OTHERS))
_NO_PART = "".join([re.escape(one) for one in _OTHERS if not one.isdigit() and one not in IGNORABLE])

_SIGNS = (*SYMBOLS, "(", ")", ",")


def _approximate(digits: str) -> str:
    exponent = f"[eE][+-]?{digits}"
    return rf"(?:{digits}\.(?:{digits})?|\.{digits})(?:{exponent})?[fFdD]?|{digits}{exponent}[fFdD]?"


# Java §3.10.2: underscores between digits, and hexadecimal digits with a binary exponent.
_DIGITS = "[0-9](?:[0-9_]*[0-9])?"
_HEXADECIMAL = "[0-9A-Fa-f](?:[0-9A-Fa-f_]*[0-9A-Fa-f])?"
_JAVA_APPROXIMATE = (
    rf"0[xX](?:{_HEXADECIMAL}\.?|(?:{_HEXADECIMAL})?\.{_HEXADECIMAL})[pP][+-]?{_DIGITS}[fFdD]?|"
    rf"{_approximate(_DIGITS)}|[0-9]+(?:_+[0-9]+)+[fFdD]"
)


_NUMBERS = {product.rules.numbers: product.numbers for product in PRODUCTS.values() if product.numbers is not None}
_NEXT_TO_ZERO = {"any": 0.0, "least normal": sys.float_info.min, "zero": math.ulp(0.0)}
# int() of more digits takes quadratic time, or refuses.
_MAX_DIGITS = 4_000

_BRACKETS = r"\[[^\]\x00-\x1f]*(?:\]\][^\]\x00-\x1f]*)*\](?!\])"
_DOUBLE = '"[^"]*(?:""[^"]*)*"(?!")'
_DOUBLED_BRACKETS = r"\[(?:[^\[\]\x00-\x1f]|\[\[|\]\])*\](?!\])"
_QUOTED = {"no": '"[^"]*"', "double": _DOUBLE, "brackets": _DOUBLED_BRACKETS, "both": f"{_DOUBLE}|{_BRACKETS}"}
# What a comment begins with, and what it ends with: without its end `--` is two minus signs, and `/*` is damage.
_COMMENTS = {
    "dashes": {"--": re.compile(r"[\r\n]"), "/*": re.compile(r"\*/")},
}

# What a text begins with that has names with hyphens.
_HYPHENS = "hyphenated_props:"


class _Lexicon(
    NamedTuple(
        "_Lexicon",
        [
            ("words", re.Pattern[str]),
            ("known", dict[str, str]),
            ("reserved", frozenset[str]),
            ("classes", bytes),
            ("parts", bytes),
            ("names", dict[str, str]),
            ("comments", dict[str, re.Pattern[str]]),
        ],
    )
):
    """What the words of a dialect are found by.

    Attributes:
        words: finds the word at a place, white space included, but no comment; its last group is what the word is.
        known: the kind of each word that is the same everywhere.
        reserved: the keywords, in capitals.
        classes: what begins with each character of ASCII: "s" white space, "n" a name, "'" a string, "d" a whole
            number, "1" an operator of one character, "2" one of one or two; "-" what only the expression tells.
        parts: "n" for those that stand within a name.
        names: the kinds of names and of keywords that have been read, some of them.
        comments: what finds the end of a comment, by what it begins with.
    """

    __slots__ = ()


# Names that a lexicon remembers, before it begins anew, and how long they may be.
_REMEMBERED, _LONGEST = 4096, 64
_SPELLED = (
    *"whitespace identifier_dots byte_strings approximate_literals quoted_names comments letters strings words".split(),
    *"numbers arithmetic".split(),
    *[field for field, _ in ADDED if field != "arithmetic"],
)
_SPELLING = attrgetter(*[field if field in CHOICES else f"rules.{field}" for field in _SPELLED])
_SPACES = {"unicode": _UNICODE_SPACE, "java": _JAVA_SPACE, "vertical_tab": rf"{_JAVA_SPACE}\v"}


@functools.cache
def _lexicon(has_hyphens: bool, *choices: str) -> _Lexicon:
    """Return the lexicon of some choices, by `_SPELLING`."""
    chosen = dict(zip(_SPELLED, choices, strict=True))
    space = _SPACES[chosen["whitespace"]]
    comments = _COMMENTS.get(chosen["comments"], {})
    symbols = {one: one for one in _SIGNS}
    for (field, choice), added in ADDED.items():
        symbols |= added if chosen[field] == choice else {}
    if chosen["arithmetic"] == "none":
        symbols = {one: one for one in symbols if one not in ("*", "/")}
    # A comment's beginning, where there are no comments.
    opening = [] if chosen["comments"] == "dashes" else ["/*"]
    strings = r"'[^']*(?:''[^']*)*'(?!')"
    numbers = _NUMBERS.get(chosen["numbers"])
    if numbers is None:
        is_java = chosen["approximate_literals"] == "java"
        approximate = _JAVA_APPROXIMATE if is_java else _approximate("[0-9]+")
        found = approximate, r"0[xX][0-9A-Fa-f]*[lL]?", r"[0-9]+[lLfFdD]?"
    else:
        found = numbers[:3]
    name = _name_pattern(chosen, space, has_hyphens)
    kinds = {
        "space": f"[{space}]+",
        "name": name,
        # The longest first.
        "operator": "|".join(map(re.escape, sorted((*opening, *symbols), key=len, reverse=True))),
        # The look-ahead keeps an unterminated string from ending at one half of a doubled apostrophe.
        "string": f"{strings}|{_DOUBLE}" if chosen["strings"] == "either" else strings,
        "bytes": "0x(?:[0-9A-F]{2})+" if chosen["byte_strings"] == "unquoted" else NEVER,
        **dict(zip(("approximate", "hex", "exact"), found, strict=True)),
        "quoted": NEVER if has_hyphens else _QUOTED[chosen["quoted_names"]],
        "bad": r".",
    }
    # A pattern that never fits would be tried all the same.
    kinds = {kind: pattern for kind, pattern in kinds.items() if pattern != NEVER}
    words = re.compile("|".join([f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()]), re.DOTALL)
    reserved = RESERVED_OF[chosen["words"]]
    known = {**{word: word for word in reserved}, **symbols}
    ascii_characters = [*map(chr, range(128))]
    openings = {comment[0] for comment in (*comments, *opening)}
    classes = [_class_of(one, words, symbols, openings) for one in ascii_characters]
    parts = ["n" if words.match(f"a{one}").end() == 2 else "-" for one in ascii_characters]  # type: ignore[union-attr]
    return _Lexicon(words, known, reserved, "".join(classes).encode(), "".join(parts).encode(), {}, comments)


def _class_of(one: str, words: re.Pattern[str], symbols: dict[str, str], openings: set[str]) -> str:
    """Return the class of a character, by what the expression tells of it alone, and whether it begins a comment."""
    group = words.match(one).lastgroup  # type: ignore[union-attr]
    if one == "'" or group in ("space", "name"):
        return "'" if one == "'" else str(group)[0]
    if group == "exact":
        return "d"
    if group != "operator" or one in openings:
        return "-"
    return str(max([len(symbol) for symbol in symbols if symbol[0] == one]))


@kept
def _lexicon_of(dialect: Dialect) -> tuple[_Lexicon, Rules]:
    return _lexicon(False, *_SPELLING(dialect)), dialect.rules


def _name_pattern(chosen: dict[str, str], space: str, has_hyphens: bool) -> str:
    dots = chosen["identifier_dots"]
    if chosen["letters"] != "java":
        first, part = NAMES[chosen["letters"]]
        more = "." * (dots == "yes") + "-" * has_hyphens
        # A hyphen stands at the end of a set.
        name = f"{first}(?:{part}|[{more}])*" if more else f"{first}{part}*"
        if dots in NAME_PREFIXES:
            behind = f"{name}|{_QUOTED['both']}" if chosen["quoted_names"] == "both" else name
            name = f"(?:(?i:{'|'.join(NAME_PREFIXES[dots])})\\.(?:{behind})|{name})"
        return name
    # (?<![…]) keeps Unicode white space out of names, where the dialect has it.
    no_part = _NO_PART.replace(r"\.", "") if dots == "yes" else _NO_PART
    return f"[^{_NO_START}](?<![{space}])(?:[^{no_part}](?<![{space}]))*"


class Tokens(
    NamedTuple("Tokens", [("kinds", list[str]), ("values", list[Any]), ("starts", list[int]), ("stops", list[int])])
):
    """Tokens by column, as the parser reads them: one list for each field of `Token`."""

    __slots__ = ()


def tokenize(text: str, dialect: Dialect) -> tuple[Token, ...]:
    """Split *text* into tokens; the last one is of kind "end".

    Raises: as `scan`.
    """
    return tuple(map(Token, *scan(text, dialect)))


def scan(text: str, dialect: Dialect) -> Tokens:
    """Split *text* into tokens, by column; the last one is of kind "end".

    Raises: SelectorSyntaxError: a character, literal or name that this dialect does not have.
        SelectorLimitError: longer than the dialect's ``max_length``.
    """
    if dialect.max_length is not None and len(text) > dialect.max_length:
        limit = dialect.max_length
        raise errors.SelectorLimitError(
            f"the selector has {len(text)} characters: this dialect allows {limit}",
            selector=text,
            span=(limit, len(text)),
            hint="split it into several subscriptions, or compile with dialect.replace(max_length=None)",
            reason=errors.MQRC.MQRC_SELECTION_STRING_ERROR,
        )
    (lexicon, rules), at = _lexicon_of(dialect), 0
    if rules.prefix != "none" and text.startswith(_HYPHENS):
        lexicon, at = _lexicon(True, *_SPELLING(dialect)), len(_HYPHENS)
    columns = _read(text, at, lexicon, dialect)
    end = len(text)
    limit = 0 if rules.max_tokens == "any" else int(rules.max_tokens)
    if limit and (beyond := columns.starts[limit : limit + 1]):
        raise errors.SelectorLimitError(
            f"the selector has more than {limit} words and symbols",
            selector=text,
            span=(beyond[0], end),
            hint="split it into several subscriptions, or compile with dialect.replace(max_tokens='any')",
        )
    columns.kinds.append("end")
    columns.values.append("")
    columns.starts.append(end)
    columns.stops.append(end)
    return columns


# The classes of characters that a lexicon has.
_OTHER, _SPACE, _NAME, _STRING, _DIGIT, _ONE, _TWO = b"-sn'd12"
_SHORT = 300  # digits of an approximate number that is in any range


def _read(text: str, at: int, lexicon: _Lexicon, dialect: Dialect) -> Tokens:
    """Read the tokens from a place on, but for the end; types of locals stand in lexer.pxd."""
    known, classes, parts, names = lexicon.known, lexicon.classes, lexicon.parts, lexicon.names
    kinds: list[str] = []
    values: list[Any] = []
    starts: list[int] = []
    stops: list[int] = []
    size = len(text)
    is_last = False
    unclosed: set[str] = set()  # what no comment that begins with it ends behind: its end is looked for once
    while at < size and not is_last:
        start = at
        one = text[at]
        at += 1
        what = classes[ord(one)] if one < "\x80" else _OTHER
        if what == _SPACE:
            continue
        kind: str | None = None
        value: Any = None
        if what == _NAME:
            while at < size:
                one = text[at]
                if one >= "\x80" or parts[ord(one)] != _NAME:
                    break
                at += 1
            # Behind a point the name may go on, and so it may with a letter that is not of ASCII.
            if at == size or (text[at] < "\x80" and text[at] != "."):
                value = text[start:at]
                kind = names.get(value)
                if kind is None:
                    kind = _kind_of_name(text, (start, at), value, lexicon, dialect)
        elif what == _STRING:
            is_doubled = False
            at = text.find("'", at)
            while at >= 0 and kind is None:
                if at + 1 == size or text[at + 1] != "'":
                    kind = "string"
                else:
                    is_doubled = True
                    at = text.find("'", at + 2)
            value = text[start + 1 : at]
            if is_doubled:
                value = value.replace("''", "'")
            at += 1
        elif what == _DIGIT:
            number = ord(one) - 48
            while at < size and "0" <= text[at] <= "9" and at - start < 18 and number > 0:
                number = number * 10 + ord(text[at]) - 48
                at += 1
            point = at
            if number > 0 and at + 1 < size and text[at] == "." and "0" <= text[at + 1] <= "9":
                at += 2
                while at < size and "0" <= text[at] <= "9":
                    at += 1
            if at == size or (text[at] < "\x80" and not text[at].isalnum() and text[at] not in "_$."):
                if at == point:
                    kind, value = "exact", number
                elif at - start < _SHORT:
                    kind, value = "approximate", float(text[start:at])
        elif what == _ONE:
            value = one
            kind = known[value]
        elif what == _TWO:
            value = text[start : start + 2]
            kind = known.get(value)
            if kind is None:
                value = one
                kind = known[value]
            at = start + len(value)
        if kind is None and (pattern := lexicon.comments.get(text[start : start + 2])):
            opening = text[start : start + 2]
            end = None if opening in unclosed else pattern.search(text, start + 2)
            if end is not None:
                at = end.end()
                continue
            unclosed.add(opening)
        if kind is None:
            word = lexicon.words.match(text, start).group()  # type: ignore[union-attr]
            at = start + len(word)
            kind, value = _kind_of(text, (start, at), word, lexicon, dialect)
            if not kind:  # white space
                continue
            # Nothing is read behind what is no word.
            is_last = kind == "damage" or (kind == "unreadable" and text[start] == "'")
        kinds.append(kind)
        values.append(value)
        starts.append(start)
        stops.append(at)
    return row(Tokens, (kinds, values, starts, stops))


def _kind_of_name(text: str, span: Span, word: str, lexicon: _Lexicon, dialect: Dialect) -> str:
    """Return the kind of a name of ASCII, or of a keyword."""
    kind = lexicon.known.get(word)
    if kind is None:
        kind = word.upper()
        if kind in lexicon.reserved:
            if dialect.rules.keyword_case != "any":  # in capitals it would be known
                raise not_in_capitals(text, span)
            return kind
        kind = "identifier"
    if len(word) <= _LONGEST:
        if len(lexicon.names) > _REMEMBERED:
            lexicon.names.clear()
        lexicon.names[word] = kind
    return kind


def _kind_of(text: str, span: Span, word: str, lexicon: _Lexicon, dialect: Dialect) -> tuple[str, Any]:
    """Return the kind and value of a word that the expression found; of white space no kind."""
    kind = lexicon.known.get(word)
    if kind is not None:
        return kind, word
    if word.isidentifier() and word.isascii() and lexicon.classes[ord(word[0])] == _NAME:
        return _kind_of_name(text, span, word, lexicon, dialect), word
    try:
        return _token(text, span, word, dialect, lexicon.words)
    except errors.SelectorSyntaxError as error:
        if dialect.rules.rest == "error":
            raise
        # A number that is not read is no error, nor is the string before the last of three apostrophes.
        is_number = word[0] in ".0123456789" and len(word) > 1
        is_string = word == "'" and "'" in text[span[1] :]
        return "unreadable" if is_number or is_string else "damage", error


def _token(
    text: str, span: Span, word: str, dialect: Dialect, groups: re.Pattern[str]
) -> tuple[str, str | int | float | bytes]:
    """Return the kind and value of a word that is neither known nor a string nor a plain name."""
    start, stop = span
    if "1" <= word[0] <= "9" and word.isdecimal() and len(word) < 19:
        if dialect.rules.numbers == "java":
            _check_number_end(text, start, stop)
        return "exact", int(word)
    group = str(groups.match(text, start).lastgroup)  # type: ignore[union-attr]
    match group:
        case "space":
            return "", word
        case "name":
            if not word.isascii() and dialect.rules.letters == "java":
                _check_name(text, start, word, dialect)
            return "identifier", _prefixed_name(text, span, word, dialect)
        case "string":
            return "string", word[1:-1].replace(word[0] * 2, word[0])
        case "bytes":
            return "bytes", bytes.fromhex(word[2:])
        case "operator":  # a comment's beginning: the others are known
            raise unexpected_character(text, span, NO_COMMENTS)
        case "quoted" if dialect.rules.quoted_names != "no" and (dialect.byte_strings != "yes" or word[1:2] != "0"):
            return "identifier", _quoted_name(text, span, word, dialect)
        case "quoted":
            return "bytes", _byte_string(text, span, word, dialect)
        case "bad":
            _refuse_not_modelled(text, start, dialect)
            raise advice.bad_character(text, start, dialect)
    is_octal = group == "approximate" and word[0] == "0" and word[1] in "0123456789_"
    if is_octal and dialect.approximate_literals == "no_leading_zero":
        bare = word.lstrip("0_")
        hint = f"a leading zero makes a number octal: write {bare if re.match('[.]?[0-9]', bare) else f'0{bare}'}"
        raise bad_number(text, span, "an octal number has no point and no exponent", hint)
    numbers = _NUMBERS.get(dialect.rules.numbers)
    if numbers is not None:
        return _number_of(text, span, word, group, numbers)
    _check_number_end(text, start, stop)
    value = _number(text, span, word, group, dialect)
    return "approximate" if type(value) is float else "exact", value


def _number_of(text: str, span: Span, word: str, group: str, numbers: Numbers) -> tuple[str, int | float]:
    """Return the kind and value of a number of a choice of the field ``numbers``."""
    plain = word.replace("_", "")
    if group == "approximate":
        number = _double(plain)
        if math.isinf(number) and not numbers.has_infinity:
            raise number_out_of_range(text, span, "approximate")
        if number < _NEXT_TO_ZERO[numbers.zero] and (numbers.zero == "zero" or not _is_zero(plain)):
            raise number_out_of_range(text, span, numbers.zero)
        return "approximate", number
    digits = plain.rstrip("lL")
    is_octal = numbers.has_octal and len(digits) > 1 and digits[0] == "0"
    base = {"x": 16, "b": 2}.get(digits[1:2].lower(), 8 if is_octal else 10)
    if base == 10 and len(digits) > _MAX_DIGITS:
        raise number_out_of_range(text, span, "digits")
    whole = int(digits[2:] if base in (2, 16) else digits, base)
    if numbers.size == "any":
        return "exact", whole
    wrapped = (whole + (1 << 63)) % (1 << 64) - (1 << 63)
    if numbers.size == "wrapped" and base == 10 and whole >= 1 << 63:
        if wrapped == -(1 << 31):  # an INT32, which the same number behind a minus is not
            raise not_modelled(text, span, word)
        return ("exact", wrapped) if -(1 << 31) <= wrapped < 1 << 31 else ("big", whole)
    # 2**63 itself is the parser's to judge: it may stand under a minus.
    has_sign = base == 10 and numbers.size in ("signed", "unsigned")
    limit = 1 << 64 if numbers.size == "unsigned" and base != 10 else (1 << 63) + has_sign
    if whole >= limit:
        raise number_out_of_range(text, span, "exact")
    return "exact", whole if has_sign else wrapped


def _prefixed_name(text: str, span: Span, word: str, dialect: Dialect) -> str:
    """Return the name of a property that may be written with a section or a scope of the message before it.

    Raises: SelectorSyntaxError: a section that has no such field.
    """
    prefixes = NAME_PREFIXES.get(dialect.identifier_dots)
    before, dot, name = word.partition(".")
    if prefixes is None or not dot:
        return word
    prefix = prefixes[before.lower()]
    if name[0] in '["':
        name = _quoted_name(text, (span[0] + len(before) + 1, span[1]), name, dialect)
    if prefix is None:
        return name
    if name not in SECTION_FIELDS.get(prefix, (name,)):
        raise errors.SelectorSyntaxError(
            f"{quoted(word)} is not a field of a section",
            selector=text,
            span=span,
            hint=f"fields are {', '.join([f'{prefix}.{one}' for one in SECTION_FIELDS[prefix]])}",
        )
    return f"{prefix}.{name}"


def _check_name(text: str, start: int, word: str, dialect: Dialect) -> None:
    for offset, character in enumerate(word):
        if character.isascii() or character <= "\x9f":  # the pattern lets only letters, digits and ignorables in
            continue
        span = (start + offset, start + offset + 1)
        allowed = PART if offset else START
        if unicodedata.category(character) not in allowed:
            raise unexpected_character(text, span, advice.of_character(character))
        if character > "\uffff" and dialect.identifier_astral == "no":
            raise errors.SelectorSyntaxError(
                f"{quoted(character)} lies above U+FFFF: no property name holds it",
                selector=text,
                span=span,
                hint=f"names have no characters above U+FFFF in this dialect [{errors.MQRC.MQRC_PROPERTY_NAME_ERROR}]",
            )
    if word[0] <= "\x9f" and not word[0].isascii():
        raise unexpected_character(text, (start, start + 1), advice.of_character(word[0]))


def _refuse_not_modelled(text: str, start: int, dialect: Dialect) -> None:
    """Raise what is not supported, if the character at a place ends a construct that the product has."""
    for construct, following in NOT_MODELLED[dialect.rules.not_modelled].items():
        first = start + 1 - len(construct)
        is_whole = text[start + 1 : start + 2].isidentifier() if following else first == 0
        if is_whole and construct[-1] == text[start] and text.startswith(construct, max(first, 0)):
            raise not_modelled(text, (first, start + 1), construct)


def _quoted_name(text: str, span: Span, word: str, dialect: Dialect) -> str:
    name = word[1:-1].replace(word[-1] * 2, word[-1])
    if dialect.rules.quoted_names == "brackets":
        name = name.replace("[[", "[")
    if not name and dialect.rules.quoted_names == "both":
        quotes = "double quotes" if word[0] == '"' else "brackets"
        hint = "write the name of a property between them"
        raise errors.SelectorSyntaxError(f"a name in {quotes} has no characters", selector=text, span=span, hint=hint)
    return name


def _byte_string(text: str, span: Span, word: str, dialect: Dialect) -> bytes:
    match = re.fullmatch('"0[xX]((?:[0-9A-Fa-f]{2})+)"', word)
    if match is None or dialect.byte_strings != "yes":
        raise advice.bad_byte_string(text, span, word, dialect)
    return bytes.fromhex(match[1])


def _check_number_end(text: str, start: int, stop: int) -> None:
    end = stop
    while end < len(text) and (text[end].isalnum() or text[end] in "_$."):
        end += 1
    tail = text[stop:end]
    if tail and not (
        tail.upper() in KEYWORDS and tail.isascii()
    ):  # 5AND b: Java's lexers and those of the brokers end it
        raise advice.bad_number_end(text, (stop, end), start)


def _number(text: str, span: Span, word: str, group: str, dialect: Dialect) -> int | float:
    if group == "hex":
        digits = word[2:].rstrip("lL").lstrip("0")
        if dialect.hex_octal == "no":
            raise bad_number(text, span, "this dialect has decimal numbers only", "write it in decimal")
        if not word[2:].rstrip("lL"):
            quotes = re.match(r"'[^']*'|\"[^\"]*\"", text[span[1] :])
            made = advice.as_bytes(quotes[0]) if quotes else ""
            hint = f"a byte string is written {made}" if made else "write 0-9 and A-F after 0x"
            raise bad_number(text, span, "no hexadecimal digit follows 0x", hint)
        return _exact(text, span, int(digits or "0", 16), dialect)
    if group == "exact" and word[-1] in "fFdD":
        if dialect.float_suffix_on_integer == "no":
            hint = f"write {word[:-1]}.0, or {word[:-1]} for an exact number"
            raise bad_number(text, span, "this dialect has the suffixes F and D on approximate numbers only", hint)
        group = "approximate"
    if group == "approximate":
        return _approximate_number(text, span, word, dialect)
    digits = word.rstrip("lL")
    base = 8 if dialect.hex_octal == "yes" and len(digits) > 1 and digits[0] == "0" else 10
    if base == 8 and ("8" in digits or "9" in digits):
        hint = f"a leading zero makes a number octal: write {digits.lstrip('0')}"
        raise bad_number(text, span, "8 and 9 are not octal digits", hint)
    digits = digits.lstrip("0")
    if base == 10 and len(digits) > 22:  # int() refuses, or takes quadratic time on, thousands of digits
        return out_of_range(text, span, int(digits) if len(digits) < 400 else 10**400, dialect)
    return _exact(text, span, int(digits or "0", base), dialect)


def _exact(text: str, span: Span, number: int, dialect: Dialect) -> int | float:
    # 2**63 itself is the parser's to judge: it may stand under a minus.
    return number if number <= 1 << 63 else out_of_range(text, span, number, dialect)


def out_of_range(text: str, span: Span, number: int | float, dialect: Dialect) -> float:
    """Return the nearest finite double: of an exact number that no INT64 holds, or of an infinity.

    Raises: SelectorSyntaxError: the dialect has no such number.
    """
    if dialect.out_of_range == "reject":
        raise number_out_of_range(text, span, "exact" if isinstance(number, int) else "approximate")
    return float(min(number, sys.float_info.max))


def _approximate_number(text: str, span: Span, word: str, dialect: Dialect) -> float:
    plain = word.replace("_", "")
    number = _double(plain)
    if math.isinf(number):
        return out_of_range(text, span, number, dialect)
    # Java §3.10.2: what is not zero does not become it.
    if number == 0 and dialect.approximate_literals == "java" and not _is_zero(plain):
        raise number_out_of_range(text, span, "least")
    return number


def _double(plain: str) -> float:
    """Return the value of an approximate number without underscores; what is too great is infinite."""
    is_hexadecimal = plain[:2] in ("0x", "0X")
    bare = plain.rstrip("fFdD")
    try:
        return float.fromhex(bare) if is_hexadecimal else float(bare)
    except OverflowError:  # of fromhex alone
        return math.inf


def _is_zero(plain: str) -> bool:
    """Report whether an approximate number is written as zero."""
    exponent = "[pP]" if plain[:2] in ("0x", "0X") else "[eEfFdD]"
    return not re.split(exponent, plain)[0].strip("0.xX")
