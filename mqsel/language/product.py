"""What a product does beyond the fields of a dialect: its rules, each with a meaning and a source.

`mqsel.language.products` has one module for each product, with a row of these rules; what a module does not name is as
in JMS. Follows language §2.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Choice(NamedTuple):
    """One of the ways in which a field or a rule can be read.

    Attributes:
        meaning: what it does.
        source: which document says so, by its short name, with the section or the words; or which engine does.
    """

    meaning: str
    source: str


# The choices of each rule that JMS has, which is the first, or several products; a product has its own beside it.
SHARED: dict[str, dict[str, Choice]] = {
    "unequal_sign": {
        "standard": Choice("not equal is written `<>`", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "exclamation": Choice("not equal is written `<>` or `!=`", "RabbitMQ filter; Service Bus"),
    },
    "remainder": {
        "no": Choice("there isn't a remainder operator", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "yes": Choice("`%` is the remainder operator, with the precedence of `*`", "Java §15.17.3"),
    },
    "not_operand": {
        "predicate": Choice("NOT applies to the whole comparison after it", "Jakarta §3.8.1.1"),
        "primary": Choice(
            "NOT applies only to the next operand: `NOT a = b` means `(NOT a) = b`", "ActiveMQ; Artemis; RocketMQ"
        ),
    },
    "quoted_names": {
        "no": Choice("names can't be written in quotes", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "double": Choice('`"any text"` is a name; a quote in it is written `""`', "Artemis; Broker-J; qpid-cpp"),
    },
    "comments": {
        "no": Choice("comments aren't allowed", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "dashes": Choice(
            "a comment begins with `--` and ends at the end of the line, or is written `/* */`",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
    },
    "text_numbers": {
        "never": Choice("a string is never a number", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "null_equality": {
        "unknown": Choice("`=` and `<>` are UNKNOWN if one value is NULL", "Syntax; TIBCO; Jakarta §3.8.1.2"),
        "left": Choice(
            "a NULL on the right of `=` is equal only to NULL; one on the left is UNKNOWN next to a value; if the left "
            "of `<` is NULL, the right isn't evaluated",
            "ActiveMQ; Artemis; RocketMQ",
        ),
    },
    "connectives": {
        "kleene": Choice("AND and OR use three-valued logic and stop as soon as the result is known", "SQL-92"),
        "matched": Choice(
            "AND and OR use three-valued logic; an AND that isn't inside a NOT also stops at UNKNOWN, "
            "if a later operand can be ERR",
            "ActiveMQ; Artemis",
        ),
    },
    "ordering": {
        "numbers": Choice(
            "`<`, `<=`, `>` and `>=` compare only numbers; other values are a type mismatch", "Syntax; Jakarta"
        ),
        "all": Choice(
            "`<`, `<=`, `>` and `>=` also compare booleans, and strings by their UTF-16 code units",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
    },
    "arithmetic_mismatch": {
        "comparison": Choice(
            "arithmetic on a value that isn't a number makes the comparison a type mismatch", "Jakarta §3.8.1.3"
        ),
        "unknown": Choice("arithmetic on a value that isn't a number is NULL", "qpid-cpp; RabbitMQ filter; RocketMQ"),
        "joined": Choice(
            "arithmetic on a value that isn't a number is ERR, but `+` after a string joins both as a string",
            "ActiveMQ; Artemis; Broker-J",
        ),
    },
    "in_mismatch": {
        "comparison": Choice("IN compares like `=`, and NOT IN like `<>`", "Jakarta §3.8.1.1"),
        "unknown": Choice(
            "IN and NOT IN are UNKNOWN for a value that isn't a string", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
    },
    "like_mismatch": {
        "comparison": Choice(
            "LIKE and NOT LIKE are a type mismatch for a value that isn't a string", "Jakarta §3.8.1.1"
        ),
        "negated": Choice(
            "for a value that isn't a string, LIKE is FALSE and NOT LIKE is TRUE",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
        "unknown": Choice("LIKE and NOT LIKE are UNKNOWN for a value that isn't a string", "qpid-cpp; RabbitMQ filter"),
    },
    "condition_mismatch": {
        "comparison": Choice(
            "a property used as a condition is a type mismatch if it isn't a boolean", "Jakarta §3.8.1.1"
        ),
        "unknown": Choice(
            "a property used as a condition is UNKNOWN if it isn't a boolean",
            "qpid-cpp; RabbitMQ filter; sjx_evaluator.erl",
        ),
    },
    "integers": {
        "java": Choice("integer literals are INT64, and a result has the wider type of the two operands", "Java §5.6"),
        "narrow": Choice(
            "an integer literal is INT32 if it fits, and arithmetic on floats uses doubles",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
        "long": Choice("all integers are INT64, and all floating-point numbers are FLOAT64", "qpid-cpp; Service Bus"),
        "unbounded": Choice(
            "integers have no limits, and all floating-point numbers are FLOAT64", "RabbitMQ filter; sjx_evaluator.erl"
        ),
    },
    "division": {
        "java": Choice("the quotient of two integers is an integer, and division by zero is ERR", "Java §15.17.2"),
        "ieee": Choice(
            "`/` and `%` use doubles, and division by zero is infinity or NaN", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
    },
    "floats": {
        "ieee": Choice("NaN equals no number, and 0.0 equals -0.0", "Java §15.20"),
        "total": Choice(
            "a result that is NaN equals NaN and is greater than all other numbers, and -0.0 is less than 0.0; "
            "no property can be NaN or -0.0 (§5)",
            "Java, Double.compareTo",
        ),
    },
    "mixed_numbers": {
        "double": Choice("if an integer is compared with a double, the integer becomes a double", "Java §5.6"),
        "exact": Choice(
            "an integer and a double are compared by their exact values", "RabbitMQ filter; sjx_evaluator.erl"
        ),
    },
    "narrow_types": {
        "promoted": Choice("INT8 and INT16 become wider integers in arithmetic and comparisons", "Java §5.6"),
        "gaps": Choice(
            "an INT8 or INT16 on the right of a wider type is a type mismatch, and ERR with a minus sign",
            "Artemis; Broker-J",
        ),
    },
    "like_escapes": {
        "wildcards": Choice(
            "the escape character is an ordinary character unless `%`, `_` or the escape character follows it",
            "Syntax; TIBCO",
        ),
        "wild": Choice(
            "an escape character before an ordinary character is ordinary, or a wildcard if it is `%` or `_`",
            "ActiveMQ; Artemis",
        ),
        "any": Choice(
            "any character after the escape character is an ordinary character, and so is an escape "
            "character at the end",
            "RabbitMQ filter; sjx_evaluator.erl",
        ),
    },
    "like_units": {
        "characters": Choice("`_` is one code point", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "bytes": Choice("`_` is one byte of UTF-8", "qpid-cpp; sjx_evaluator.erl"),
    },
    "like_lines": {
        "all": Choice("`%` and `_` also match newlines", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "letters": {
        "java": Choice(
            "names consist of the letters and digits that Java allows in identifiers", "Names; Jakarta §3.8.1.1"
        ),
        "ascii": Choice(
            "names consist of ASCII letters, digits, `_` and `$`", "ActiveMQ; Broker-J; qpid-cpp; RabbitMQ client"
        ),
    },
    "strings": {
        "apostrophes": Choice("strings are in single quotes", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "words": {
        "jms": Choice(
            "the reserved words are the eleven words of JMS", "Syntax; TIBCO; Jakarta §3.8.1.1; Broker-J; qpid-cpp"
        ),
        "xpath": Choice("the reserved words are the JMS words, XPATH and XQUERY", "ActiveMQ; Artemis"),
    },
    "keyword_case": {
        "any": Choice("keywords are case-insensitive", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "numbers": {
        "java": Choice("numbers follow Java and the fields above", "Jakarta §3.8.1.1"),
        "wrapped": Choice(
            "hexadecimal, octal and suffix L are allowed; integers outside INT64 wrap to 64 bits, and match nothing "
            "unless 32 bits are enough; doubles that are too large are infinite",
            "ActiveMQ; Artemis; Broker-J",
        ),
    },
    "comparisons": {
        "single": Choice("a comparison as operand of another comparison needs parentheses", "Jakarta §3.8.1.1"),
        "chained": Choice(
            "comparisons can be chained from left to right, and `=`, `<>` and IS have a lower "
            "precedence than the other comparisons",
            "ActiveMQ; Broker-J; RocketMQ",
        ),
    },
    "arithmetic": {
        "left": Choice("`a - b - c` means `(a - b) - c`", "Jakarta §3.8.1.1"),
    },
    "signs": {
        "repeated": Choice("a sign may follow another sign", "Jakarta §3.8.1.1"),
    },
    "plus_sign": {
        "number": Choice("a plus sign is allowed before a number", "Jakarta §3.8.1.1"),
        "none": Choice(
            "a plus sign is allowed before any value, and has no effect", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
    },
    "in_operands": {
        "name": Choice("IN has a name on its left and strings in its list", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "enclosed": Choice(
            "IN has a name on its left, which may be in parentheses, and strings in its list",
            "ActiveMQ; Broker-J; RocketMQ",
        ),
        "any": Choice("IN accepts any values on its left and in its list", "RabbitMQ filter; qpid-cpp; Service Bus"),
    },
    "like_operands": {
        "name": Choice("LIKE has a name on its left", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "any": Choice("LIKE accepts any value on its left", "ActiveMQ; Broker-J; qpid-cpp; RabbitMQ filter"),
    },
    "null_operand": {
        "name": Choice("IS NULL has a name on its left", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "any": Choice("IS NULL accepts any value or condition", "ActiveMQ; Broker-J; qpid-cpp; RocketMQ"),
    },
    "escape": {
        "character": Choice("the escape character is exactly one character", "Jakarta §3.8.1.1"),
        "utf16": Choice("the escape character is exactly one UTF-16 code unit", "ActiveMQ; Artemis; Broker-J"),
    },
    "null_value": {
        "no": Choice("NULL is allowed only after IS", "Jakarta §3.8.1.1"),
        "yes": Choice("NULL is a condition whose result is UNKNOWN", "ActiveMQ; Artemis; Broker-J; RocketMQ"),
    },
    "static_types": {
        "jms": Choice("types are checked as in §4", "Jakarta §3.8.1.1"),
        "ordered": Choice(
            "`<`, `<=`, `>` and `>=` don't accept string literals and conditions, and AND, OR and NOT "
            "accept only conditions",
            "ActiveMQ; Broker-J",
        ),
        "none": Choice("types are not checked", "RabbitMQ filter; qpid-cpp"),
    },
    "rest": {
        "error": Choice("text after a complete selector is an error", "Jakarta §3.8.1.1"),
    },
    "empty_text": {
        "true": Choice("an empty selector matches every message", "Jakarta §3.8.1; qpid-cpp"),
        "error": Choice("an empty selector is an error", "ActiveMQ; RabbitMQ filter; RocketMQ"),
    },
    "prefix": {
        "none": Choice("a selector has no prefix", "Jakarta §3.8.1.1"),
    },
    "max_depth": {
        "any": Choice("the nesting depth has no limit", "Jakarta §3.8.1: no limit"),
    },
    "max_tokens": {
        "any": Choice("the number of words has no limit", "Jakarta §3.8.1: no limit"),
    },
    "not_modelled": {
        "none": Choice("mqsel supports all selectors of the product", "this project's own choice"),
    },
}


EXPONENT = "[eE][+-]?[0-9]+"
# Where it does not begin at the first digit it does not begin at a later one: each of many zeros may be a number.
DECIMAL = rf"(?:(?<![0-9])[0-9]+\.[0-9]*|\.[0-9]+)(?:{EXPONENT})?|(?<![0-9])[0-9]+{EXPONENT}"
NEVER = "(?!)"


class Numbers(NamedTuple):
    """How a product writes numbers: three patterns, of which the first that fits counts.

    Attributes:
        size: which whole numbers there are: "any"; "long", those of INT64 without a sign; "signed", with it;
            "unsigned", where those that are not decimal have 64 bits; "wrapped".
        zero: which approximate numbers may be zero or next to it, "any"; "least normal",
            those that are no subnormals, and what is written as zero; "zero", none.
        has_infinity: an approximate number beyond all is infinite.
        has_octal: a leading zero makes a number octal.
    """

    approximate: str
    hex: str
    exact: str
    size: str
    zero: str = "any"
    has_infinity: bool = False
    has_octal: bool = False


class Rules(NamedTuple):
    """The rules of a product, by their names."""

    unequal_sign: str = "standard"
    remainder: str = "no"
    not_operand: str = "predicate"
    quoted_names: str = "no"
    comments: str = "no"
    text_numbers: str = "never"
    null_equality: str = "unknown"
    connectives: str = "kleene"
    ordering: str = "numbers"
    arithmetic_mismatch: str = "comparison"
    in_mismatch: str = "comparison"
    like_mismatch: str = "comparison"
    condition_mismatch: str = "comparison"
    integers: str = "java"
    division: str = "java"
    floats: str = "ieee"
    mixed_numbers: str = "double"
    narrow_types: str = "promoted"
    like_escapes: str = "wildcards"
    like_units: str = "characters"
    like_lines: str = "all"
    letters: str = "java"
    strings: str = "apostrophes"
    words: str = "jms"
    keyword_case: str = "any"
    numbers: str = "java"
    comparisons: str = "single"
    arithmetic: str = "left"
    signs: str = "repeated"
    plus_sign: str = "number"
    in_operands: str = "name"
    like_operands: str = "name"
    null_operand: str = "name"
    escape: str = "character"
    null_value: str = "no"
    static_types: str = "jms"
    rest: str = "error"
    empty_text: str = "true"
    prefix: str = "none"
    max_depth: str = "any"
    max_tokens: str = "any"
    not_modelled: str = "none"


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Product(NamedTuple):
    """A product: how it reads selectors, and what its preset was held against.

    Attributes:
        product: its name, and the version whose own engine was measured; what else there is where none was.
        engine: where that engine stands in its public repository.
        sources: its documents, by their short names.
        fields: the fields of its dialect that are not those of JMS.
        rules: what it does beyond these.
        not_modelled: what the preset refuses although the product reads it.
        selectors: how many had the engine's answers, and answers that were recorded.
        own: the choices that the product alone has: for each rule the meaning and the source of its choice.
        numbers: how its numbers are written, where not as in JMS.
        words: the words that it adds to those of JMS and reads, with a minus sign those that it does not have.
        reserved: more words that are no names; they stand for nothing.
        functions: those of its words that are functions.
        unmodelled: words and signs that it has and mqsel refuses, each with the kind of the token that follows it
            there; and what a text begins with, which nothing needs to follow.
    """

    product: str
    engine: str
    sources: dict[str, str]
    fields: dict[str, Any]
    rules: Rules
    not_modelled: str = ""
    selectors: str = "376, and 5,000 random selectors"
    own: Mapping[str, Choice] = _NOTHING
    numbers: Numbers | None = None
    words: str = ""
    reserved: str = ""
    functions: tuple[str, ...] = ()
    unmodelled: Mapping[str, str] = _NOTHING
