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
        "exclamation": Choice("not equal may be written `!=`, too", "RabbitMQ filter; Service Bus"),
    },
    "remainder": {
        "no": Choice("there is no remainder operator", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "yes": Choice("`%` is the remainder, and binds as `*` does", "Java §15.17.3"),
    },
    "not_operand": {
        "predicate": Choice("NOT negates all of a predicate", "Jakarta §3.8.1.1"),
        "primary": Choice("NOT negates what stands next: `NOT a = b` is `(NOT a) = b`", "ActiveMQ; Artemis; RocketMQ"),
    },
    "quoted_names": {
        "no": Choice("a name is an identifier", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "double": Choice('`"any text"` is a name, with `""` for `"`', "Artemis; Broker-J; qpid-cpp"),
    },
    "comments": {
        "no": Choice("there are no comments", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "dashes": Choice(
            "`--` to the end of its line, and `/* */`, are white space", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
    },
    "text_numbers": {
        "never": Choice("a text is no number", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "null_equality": {
        "unknown": Choice("`=` and `<>` with a NULL are UNKNOWN", "Syntax; TIBCO; Jakarta §3.8.1.2"),
        "left": Choice(
            "a NULL on the right is equal to NULL alone; beside a value, one on the left is UNKNOWN; behind one on the "
            "left of `<` and its like nothing is computed",
            "ActiveMQ; Artemis; RocketMQ",
        ),
    },
    "connectives": {
        "kleene": Choice("AND and OR are those of Kleene, and end where they are decided", "SQL-92"),
        "matched": Choice(
            "those of Kleene; but an AND under no NOT ends at UNKNOWN, too, if something behind its first operand can "
            "be ERR",
            "ActiveMQ; Artemis",
        ),
    },
    "ordering": {
        "numbers": Choice("`<` and its like compare numbers; of anything else they are a mismatch", "Syntax; Jakarta"),
        "all": Choice(
            "`<` and its like compare strings by UTF-16 code units, and booleans, too",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
    },
    "arithmetic_mismatch": {
        "comparison": Choice("arithmetic on anything but numbers compares with nothing", "Jakarta §3.8.1.3"),
        "unknown": Choice("arithmetic on anything but numbers is NULL", "qpid-cpp; RabbitMQ filter; RocketMQ"),
        "joined": Choice(
            "arithmetic on anything but numbers is ERR, but a string + anything is both texts, joined",
            "ActiveMQ; Artemis; Broker-J",
        ),
    },
    "in_mismatch": {
        "comparison": Choice("IN compares by `=`, and NOT IN by `<>`", "Jakarta §3.8.1.1"),
        "unknown": Choice(
            "IN and NOT IN of anything but a string are UNKNOWN", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
    },
    "like_mismatch": {
        "comparison": Choice("LIKE and NOT LIKE of anything but a string are mismatches", "Jakarta §3.8.1.1"),
        "negated": Choice(
            "LIKE of anything but a string is FALSE, NOT LIKE is TRUE", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
        "unknown": Choice("LIKE and NOT LIKE of anything but a string are UNKNOWN", "qpid-cpp; RabbitMQ filter"),
    },
    "condition_mismatch": {
        "comparison": Choice("a condition that is no boolean is a mismatch", "Jakarta §3.8.1.1"),
        "unknown": Choice("a condition that is no boolean is UNKNOWN", "qpid-cpp; RabbitMQ filter; sjx_evaluator.erl"),
    },
    "integers": {
        "java": Choice("literals are INT64; results have the wider type of both operands", "Java §5.6"),
        "narrow": Choice(
            "literals that INT32 holds are INT32; floats are computed as doubles",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
        "long": Choice("all are INT64, and all approximate numbers FLOAT64", "qpid-cpp; Service Bus"),
        "unbounded": Choice(
            "integers have no bounds; all approximate numbers are FLOAT64", "RabbitMQ filter; sjx_evaluator.erl"
        ),
    },
    "division": {
        "java": Choice("integers are divided to integers; by zero it is ERR", "Java §15.17.2"),
        "ieee": Choice(
            "`/` and `%` are of doubles: by zero an infinity or NaN", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
    },
    "floats": {
        "ieee": Choice("NaN equals nothing, 0.0 and -0.0 are equal", "Java §15.20"),
        "total": Choice(
            "a result that is NaN equals NaN and is greater than all else, -0.0 is less than 0.0; no property is "
            "NaN or -0.0: §5",
            "Java, Double.compareTo",
        ),
    },
    "mixed_numbers": {
        "double": Choice("an integer beside a double is compared as a double", "Java §5.6"),
        "exact": Choice(
            "an integer and a double are compared by their exact values", "RabbitMQ filter; sjx_evaluator.erl"
        ),
    },
    "narrow_types": {
        "promoted": Choice("INT8 and INT16 are promoted as any integer", "Java §5.6"),
        "gaps": Choice(
            "an INT8 or INT16 on the right of a wider type is a mismatch; with a minus sign it is ERR",
            "Artemis; Broker-J",
        ),
    },
    "like_escapes": {
        "wildcards": Choice("the escape stands for itself before anything but `%`, `_` and itself", "Syntax; TIBCO"),
        "wild": Choice(
            "the escape stands for itself before anything but `%`, `_` and itself, and is a wildcard there if it is "
            "one",
            "ActiveMQ; Artemis",
        ),
        "any": Choice(
            "what follows the escape stands for itself; an escape at the end is no escape",
            "RabbitMQ filter; sjx_evaluator.erl",
        ),
    },
    "like_units": {
        "characters": Choice("`_` is one code point", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "bytes": Choice("`_` is one byte of UTF-8", "qpid-cpp; sjx_evaluator.erl"),
    },
    "like_lines": {
        "all": Choice("`%` and `_` match line ends, too", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "letters": {
        "java": Choice("a name is of the letters of Java", "Names; Jakarta §3.8.1.1"),
        "ascii": Choice(
            "a name is of ASCII letters, digits, `_` and `$`", "ActiveMQ; Broker-J; qpid-cpp; RabbitMQ client"
        ),
    },
    "strings": {
        "apostrophes": Choice("a string stands between apostrophes", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "words": {
        "jms": Choice("the eleven reserved words of JMS", "Syntax; TIBCO; Jakarta §3.8.1.1; Broker-J; qpid-cpp"),
        "xpath": Choice("those of JMS, XPATH and XQUERY", "ActiveMQ; Artemis"),
    },
    "keyword_case": {
        "any": Choice("a keyword is written in any case", "Syntax; TIBCO; Jakarta §3.8.1.1"),
    },
    "numbers": {
        "java": Choice("numbers are those of Java, by the fields above", "Jakarta §3.8.1.1"),
        "wrapped": Choice(
            "hexadecimal, octal, suffix L; what no INT64 holds keeps 32 bits where these are all that wraps to, "
            "and compares with nothing else; too great a double is infinite",
            "ActiveMQ; Artemis; Broker-J",
        ),
    },
    "comparisons": {
        "single": Choice("a comparison is no operand of another without parentheses", "Jakarta §3.8.1.1"),
        "chained": Choice(
            "comparisons chain from the left; `=`, `<>` and IS bind less than the others",
            "ActiveMQ; Broker-J; RocketMQ",
        ),
    },
    "arithmetic": {
        "left": Choice("`a - b - c` is `(a - b) - c`", "Jakarta §3.8.1.1"),
    },
    "signs": {
        "repeated": Choice("a sign may stand before a sign", "Jakarta §3.8.1.1"),
    },
    "plus_sign": {
        "number": Choice("a plus sign stands before a number", "Jakarta §3.8.1.1"),
        "none": Choice("a plus sign before any value is no operator", "ActiveMQ; Artemis; Broker-J; RocketMQ"),
    },
    "in_operands": {
        "name": Choice("IN reads a name and lists strings", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "enclosed": Choice(
            "IN reads a name, also one in parentheses, and lists strings", "ActiveMQ; Broker-J; RocketMQ"
        ),
        "any": Choice("IN takes any values", "RabbitMQ filter; qpid-cpp; Service Bus"),
    },
    "like_operands": {
        "name": Choice("LIKE reads a name", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "any": Choice("LIKE takes any value on its left", "ActiveMQ; Broker-J; qpid-cpp; RabbitMQ filter"),
    },
    "null_operand": {
        "name": Choice("IS NULL reads a name", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "any": Choice("IS NULL takes any value or condition", "ActiveMQ; Broker-J; qpid-cpp; RocketMQ"),
    },
    "escape": {
        "character": Choice("an escape is one character", "Jakarta §3.8.1.1"),
        "utf16": Choice("an escape is one unit of UTF-16", "ActiveMQ; Artemis; Broker-J"),
    },
    "null_value": {
        "no": Choice("NULL stands behind IS alone", "Jakarta §3.8.1.1"),
        "yes": Choice("NULL is a condition, which is UNKNOWN", "ActiveMQ; Artemis; Broker-J; RocketMQ"),
    },
    "static_types": {
        "jms": Choice("types are checked as §4 has it", "Jakarta §3.8.1.1"),
        "ordered": Choice(
            "order takes no strings and conditions, AND, OR and NOT take conditions", "ActiveMQ; Broker-J"
        ),
        "none": Choice("types are not checked", "RabbitMQ filter; qpid-cpp"),
    },
    "rest": {
        "error": Choice("nothing follows a complete selector", "Jakarta §3.8.1.1"),
    },
    "empty_text": {
        "true": Choice("an empty text selects everything", "Jakarta §3.8.1; qpid-cpp"),
        "error": Choice("an empty text is an error", "ActiveMQ; RabbitMQ filter; RocketMQ"),
    },
    "prefix": {
        "none": Choice("a text has no prefix", "Jakarta §3.8.1.1"),
    },
    "max_depth": {
        "any": Choice("a condition is as deep as it is", "Jakarta §3.8.1: no limit"),
    },
    "max_tokens": {
        "any": Choice("a text has any number of words", "Jakarta §3.8.1: no limit"),
    },
    "not_modelled": {
        "none": Choice("the product has nothing that is refused here", "this project's own choice"),
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
    selectors: str = "376, and 5,000 random ones"
    own: Mapping[str, Choice] = _NOTHING
    numbers: Numbers | None = None
    words: str = ""
    reserved: str = ""
    functions: tuple[str, ...] = ()
    unmodelled: Mapping[str, str] = _NOTHING
