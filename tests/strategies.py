"""Random selectors and random messages for them: every rule of the grammar, values that hit and values that miss.

One plain seeded generator; the Hypothesis strategies only lend it their randomness. Writes text, because text is what
users write. Follows language §3 and §4; knows the letters and the static types of each dialect and no evaluation.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqsel.language.dialect import CHOICES, PRESETS, core_of
from mqsel.language.dialects import PLAIN
from mqsel.values import Float32, Int8, Int16, Int32

try:
    from hypothesis import strategies as st
except ImportError:
    st = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

Properties = dict[str, tuple[str, Any]]

# Names that begin with keywords, that differ only in case, and beyond ASCII.
_NAMES = ("a", "b", "n", "N", "x", "flag", "order", "inbox", "na\u00efve_$1", "JMSPriority", "JMSType")
# The fields of a dialect that say what a tree means, and all that they can say; the others are about texts and names.
_MEANINGS = ("type_mismatch", "null_arithmetic", "between_null")
_PLAIN = [PLAIN.get(name, CHOICES[name]) for name in _MEANINGS]
READINGS = [dict(zip(_MEANINGS, one, strict=True)) for one in itertools.product(*_PLAIN)]
# The presets of the JMS family, of which each test is one of the core; tests/products asks the engines of the others.
JMS_PRESETS = {name: dialect for name, dialect in PRESETS.items() if core_of(dialect).is_plain}
# These presets, and a dialect that no product has: what a preset to come may say is in it.
DIALECTS = {
    **JMS_PRESETS,
    "MADE_UP": PRESETS["JMS"].varied(
        unequal_sign="exclamation", remainder="yes", not_operand="primary", quoted_names="double", comments="dashes"
    ),
}
_JAVA_SPACES = (" ", "  ", "\t", "\n", "\r\n", "\f")


def name_of(reading: dict[str, str]) -> str:
    """Name one of READINGS, for a test."""
    return "-".join(reading.values())


@dataclass(frozen=True)
class Letters:
    """What the text of one dialect may use: language §2."""

    names: tuple[str, ...] = _NAMES
    spaces: tuple[str, ...] = _JAVA_SPACES
    hex_octal: bool = True
    byte_strings: bool = False
    float_suffix_on_integer: bool = True
    static_mismatch: bool = False
    numbers: tuple[str, ...] = ()
    is_made_up: bool = False


LETTERS = {name: Letters() for name in DIALECTS} | {
    "IBM_MQ": Letters(
        names=(*_NAMES, "usr.x", "shop.item", "Root.MQMD.Priority"),
        spaces=(*_JAVA_SPACES, "\v", "\x1c", "\u1680", "\u180e", "\u2003", "\u2028", "\u3000"),
        byte_strings=True,
        float_suffix_on_integer=False,
        static_mismatch=True,
        numbers=("1E400", "-1E400", "9223372036854775808", "-9223372036854775809", "0xFFFFFFFFFFFFFFFFF"),
    ),
    "IBM_JMS": Letters(float_suffix_on_integer=False),
    "TIBCO_EMS": Letters(hex_octal=False, static_mismatch=True, numbers=("0x1.8p1", "-0X.Ap-2f", "1_0.2_5", "07.5")),
    "MADE_UP": Letters(
        names=(*_NAMES, "two words", 'and"', "NOT"), spaces=(*_JAVA_SPACES, " -- a 'comment\n"), is_made_up=True
    ),
}

# language §4 within its static types: weight and form. Lower-case words are rules, capitals keywords, `…-name` an
# identifier that mostly has that type in the message; everything else stands for itself. First form: the shallow one.
_CONDITION = (
    (3, "predicate"),
    (1, "( condition )"),
    (2, "NOT condition"),
    (4, "NOT ( condition )"),
    (3, "condition AND condition"),
    (3, "condition OR condition"),
    (2, "( condition OR condition ) AND condition"),
    (2, "( condition AND condition ) OR condition"),
)
_PREDICATE = (
    (30, "sum order sum"),
    (14, "sum equality sum"),
    (10, "string-name equality string"),
    (2, "string equality string-name"),
    (4, "boolean-name equality truth"),
    (1, "truth equality boolean-name"),
    (2, "string-name equality string-name"),
    (1, "bytes-name equality bytes-name"),
    (1, "any-name order any-name"),
    (4, "( condition ) equality truth"),
    (1, "truth equality ( condition )"),
    (1, "boolean-name equality ( condition )"),
    (2, "( condition ) equality ( condition )"),
    (8, "sum BETWEEN sum AND sum"),
    (8, "sum NOT BETWEEN sum AND sum"),
    (5, "string-name IN ( strings )"),
    (5, "string-name NOT IN ( strings )"),
    (7, "string-name LIKE pattern"),
    (5, "string-name NOT LIKE pattern"),
    (3, "any-name IS NULL"),
    (3, "any-name IS NOT NULL"),
    (8, "boolean-name"),
    (2, "truth"),
    (2, "1 / 0 = 1"),
    (3, "number-name / 0 < 1"),
    (1, "7 / 2 * 2 = 6"),
    (1, "'a' <> 'A'"),
)
_MISMATCHES = (
    (1, "number equality string"),
    (1, "truth equality number"),
    (1, "string equality truth"),
)
_BYTE_STRINGS = ((6, "bytes-name equality bytes"), (1, "bytes equality bytes-name"), (1, "bytes = bytes"))
_GRAMMAR: dict[str, tuple[tuple[int, str], ...]] = {
    "condition": _CONDITION,
    "predicate": _PREDICATE,
    "sum": ((12, "number-name"), (8, "number"), (3, "product + product"), (3, "product - product"), (2, "product")),
    "product": ((5, "unary"), (2, "unary * unary"), (2, "unary / unary"), (2, "unary * unary / 0")),
    "unary": ((6, "number-name"), (5, "number"), (2, "- unary"), (1, "+ unary"), (2, "( sum )")),
    "order": ((1, "<"), (1, "<="), (1, ">"), (1, ">=")),
    "equality": ((3, "="), (2, "<>")),
    "truth": ((1, "TRUE"), (1, "FALSE")),
    "strings": ((3, "string"), (5, "string , strings")),
}

# What stands in place of a rule, or beside its forms, in the dialect that is made up.
_MADE_UP: dict[str, tuple[tuple[int, str], ...]] = {
    "condition": tuple((weight, form) for weight, form in _CONDITION if form != "NOT condition"),
    "predicate": (*_PREDICATE, (6, "NOT boolean-name equality boolean-name"), (3, "NOT boolean-name")),
    "product": (*_GRAMMAR["product"], (4, "unary % unary"), (1, "unary % 0"), (1, "unary / unary % unary")),
    "equality": (*_GRAMMAR["equality"], (2, "!=")),
}

_INTEGERS = (0, 1, -1, 2, 3, 5, 7, 10)
_EXTREMES: tuple[int, ...] = (127, -128, 32767, -32768, 2**24, 2**24 + 1, 2**31 - 1, -(2**31), 2**31, 2**53 - 1, 2**53)
_EXTREMES += (2**53 + 1, 2**60 + 2**36 + 1, 2**63 - 1, -(2**63))
_FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 7.0, 2.0**24, 2.0**24 + 1, 2.0**53, 1e16, 3.4e38, 1e300, 5e-324)
_STRINGS: tuple[str, ...] = ("", "a", "red", "Red", "50%", "a_b", "O'Neil", "a\nb", "1", "TRUE", "aaaaaaaaab")
_STRINGS += ("\u00e9", "e\u0301", "\U0001f600", "x\U0001f600y", "\ud800", "a\x00b")
_BYTES = (b"\x00", b"\x2f\x1c", b"\x2f\x1c\x00", b"\xd4\x3a")
_ESCAPES = ("!", "\\", "%", "_", "'", "a", "\U0001f600")
_NUMBERS = ("int32", "int64", "float64", "float32", "int16", "int8")
_KINDS = (*_NUMBERS, "string", "string", "string", "boolean", "boolean", "bytes", "null", "null")
_WIDTHS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def random_case(rng: random.Random, dialect_name: str) -> tuple[str, Properties]:
    """Draw a selector that compiles in the dialect and reads a property, and a message for it.

    Args:
        rng: the only source of randomness.
        dialect_name: a name of `LETTERS`.

    Returns:
        The text; type and value by name of property.
    """
    message = random_properties(rng, dialect_name)
    while True:
        author = _Author(rng, LETTERS[dialect_name], message)
        text = author.selector()
        # 10240 is MQ_SELECTOR_LENGTH.
        if author.last_name and len(text) <= 10240:
            return text, message


def random_properties(rng: random.Random, dialect_name: str) -> Properties:
    """Draw a message that carries most of the names that selectors of the dialect use."""
    message = {name: _typed(rng) for name in LETTERS[dialect_name].names if rng.random() < 0.85}
    # `usr.x` and `x` are one property: a message carries it once.
    if "usr.x" in message and "x" in message:
        del message[rng.choice(("x", "usr.x"))]
    # JMSPriority is a synonym of the other: a message never has two priorities.
    message.pop("Root.MQMD.Priority", None)
    if dialect_name == "IBM_MQ" and "JMSPriority" in message:
        message["Root.MQMD.Priority"] = message["JMSPriority"]
    return message


def _typed(rng: random.Random) -> tuple[str, Any]:
    kind = rng.choice(_KINDS)
    match kind:
        case "null":
            return kind, None
        case "boolean":
            return kind, rng.random() < 0.6
        case "string":
            return kind, rng.choice(_STRINGS)
        case "bytes":
            return kind, rng.choice((*_BYTES, b""))
        case "float64" | "float32":
            number = rng.choice((*_FLOATS, math.inf, -math.inf, math.nan))
            return kind, float(Float32(number)) if kind == "float32" else number
    if rng.random() < 0.6:
        return kind, rng.choice(_INTEGERS)
    half = 1 << (_WIDTHS[kind] - 1)
    return kind, rng.choice([-half, half - 1, *(number for number in _EXTREMES if -half <= number < half)])


class _Author:
    """Writes one selector about one message."""

    def __init__(self, rng: random.Random, letters: Letters, message: Properties) -> None:
        self.rng = rng
        self.letters = letters
        self.message = message
        self.last_name = ""
        self.leaves: dict[str, Callable[[], list[str]]] = {
            "number": self.number,
            "string": lambda: [_quoted(self.text())],
            "bytes": self.byte_string,
            "pattern": self.pattern,
        }

    def selector(self) -> str:
        count = self.rng.randrange(5, 40)
        form = self.rng.choices(
            (
                "condition",
                " AND ".join(["predicate"] * count),
                " OR ".join(["predicate"] * count),
                "( " * count + "condition" + " )" * count,
                "NOT ( " * count + "condition" + " )" * count,
            ),
            (90, 2, 3, 2, 2),
        )[0]
        return self.spaced(self.write(form, self.rng.choice((0, 0, 1, 1, 2, 3))))

    def write(self, form: str, depth: int) -> list[str]:
        """Write out a form of the grammar as tokens; below depth 0 a condition is one predicate."""
        tokens: list[str] = []
        grammar = {**_GRAMMAR, **(_MADE_UP if self.letters.is_made_up else {})}
        for symbol in form.split():
            if symbol in grammar:
                forms = grammar[symbol][:1] if symbol == "condition" and depth <= 0 else grammar[symbol]
                if symbol == "predicate":
                    forms += _BYTE_STRINGS * self.letters.byte_strings + _MISMATCHES * self.letters.static_mismatch
                chosen = self.rng.choices([text for _, text in forms], [weight for weight, _ in forms])[0]
                tokens += self.write(chosen, depth - (symbol == "condition"))
            elif symbol.endswith("-name"):
                tokens.append(self.name(symbol.removesuffix("-name")))
            elif symbol in self.leaves:
                tokens += self.leaves[symbol]()
            else:
                odd = symbol.isupper() and self.rng.random() < 0.1
                tokens.append(self.rng.choice((symbol.lower(), symbol.title())) if odd else symbol)
        return tokens

    def spaced(self, parts: list[str]) -> str:
        """Put tokens in a line, some with odd white space, or with none where no two of them grow together."""
        plain = self.rng.random() < 0.7
        text, last = "", "("
        for part in parts:
            if plain:
                text += "" if last == "(" or part in ")," else " "
            elif last[-1] + part[0] == "--" or not {last[-1], part[0]} & set("=<>+-*/%(,)") or self.rng.random() < 0.5:
                text += self.rng.choice(self.letters.spaces)
            text += part
            last = part
        return text

    def name(self, kind: str) -> str:
        kinds = {"number": _NUMBERS, "any": _KINDS}.get(kind, (kind,))
        fitting = [name for name in self.letters.names if self.message.get(name, ("null",))[0] in kinds]
        self.last_name = self.rng.choice(fitting if fitting and self.rng.random() < 0.75 else self.letters.names)
        is_quoted = " " in self.last_name or '"' in self.last_name or self.last_name == "NOT"
        return '"' + self.last_name.replace('"', '""') + '"' if is_quoted else self.last_name

    def text(self) -> str:
        """Choose a string, often the one that the property just named holds."""
        kind, value = self.message.get(self.last_name, ("null", None))
        return str(value) if kind == "string" and self.rng.random() < 0.5 else self.rng.choice(_STRINGS)

    def byte_string(self) -> list[str]:
        kind, value = self.message.get(self.last_name, ("null", None))
        likely = kind == "bytes" and value and self.rng.random() < 0.6
        digits = (value if likely else self.rng.choice(_BYTES)).hex()
        return [self.rng.choice((f'"0x{digits.upper()}"', f'"0X{digits}"'))]

    def pattern(self) -> list[str]:
        """Write a pattern made from a text that it may match, or from odd pieces."""
        text = self.text()
        cut = self.rng.randrange(len(text) + 1)
        escape = self.rng.choice((None, None, *_ESCAPES))
        pieces = ["%", "_", *text, *(f"{escape}{after}" for after in ("", escape, "%", "_", "z") if escape)]
        odd = "".join(self.rng.choice(pieces) for _ in range(self.rng.randrange(8)))
        likely = (text, text[:cut] + "%", "%" + text[cut:], f"%{text[1:cut]}%", "_" + text[1:])
        return [_quoted(self.rng.choice((*likely, odd, odd))), *([] if escape is None else ["ESCAPE", _quoted(escape)])]

    def number(self) -> list[str]:
        """Write a numeric literal in one of the spellings of language §3."""
        if self.letters.numbers and self.rng.random() < 0.05:
            return [self.rng.choice(self.letters.numbers)]
        value = self.rng.choice(self.rng.choice((_INTEGERS, _INTEGERS, _INTEGERS, _EXTREMES, _FLOATS, _FLOATS)))
        kind, known = self.message.get(self.last_name, ("null", None))
        if kind in _NUMBERS and math.isfinite(known) and self.rng.random() < 0.3:
            value = known
        sign = "-" if math.copysign(1, value) < 0 else ""
        digits = repr(abs(value))
        if isinstance(value, float):
            written = self.rng.choice((digits, digits, digits, "7.", ".5", "7E3", "57.9e-2", "1.e+2"))
            return [sign + written + self.rng.choice(("", "", "F", "d"))]
        spellings = [digits, digits, digits, digits + "L", digits + "l"]
        if self.letters.hex_octal:
            spellings += [f"0x{abs(value):X}", f"0X{abs(value):x}l", f"0{abs(value):o}"]
        else:
            spellings.append("00" + digits)
        if self.letters.float_suffix_on_integer:
            spellings += [digits + "F", digits + "d"]
        return [sign + self.rng.choice(spellings)]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def cases(dialect_name: str) -> SearchStrategy[tuple[str, Properties]]:
    """Return what `random_case` returns, drawn and shrunk by Hypothesis."""
    return st.randoms(use_true_random=False).map(lambda rng: random_case(rng, dialect_name))


def selectors(dialect_name: str) -> SearchStrategy[str]:
    """Return texts that compile in the dialect."""
    return cases(dialect_name).map(lambda case: case[0])


def properties(dialect_name: str = "IBM_MQ") -> SearchStrategy[Properties]:
    """Return messages that carry most of the names of `selectors`."""
    return st.randoms(use_true_random=False).map(lambda rng: random_properties(rng, dialect_name))


def is_unordered(properties: Properties) -> bool:
    """Report whether some property is NaN or -0.0, which no dialect with a total order of floats takes."""
    numbers = [number for _, number in properties.values() if isinstance(number, float)]
    return any(math.isnan(number) or (number == 0 and math.copysign(1, number) < 0) for number in numbers)


def to_message(properties: Properties) -> dict[str, Any]:
    """Write typed properties as the Python values that a user passes."""
    wrappers: dict[str, Callable[[Any], Any]] = {"int8": Int8, "int16": Int16, "int32": Int32, "float32": Float32}
    return {name: wrappers[kind](value) if kind in wrappers else value for name, (kind, value) in properties.items()}
