"""Apache Qpid C++."""

from mqsel.language.product import EXPONENT, Choice, Numbers, Product, Rules

_GROUPED = "[1-9][0-9_]*"
PRODUCT = Product(
    product="qpid-cpp 62aaa4cd, by its recorded answers and its source",
    engine=(
        "apache/qpid-cpp: src/qpid/broker/Selector.cpp, SelectorExpression.cpp, SelectorToken.cpp, SelectorValue.cpp"
    ),
    sources={
        "qpid-cpp": (
            "Apache Qpid C++, [its repository](https://github.com/apache/qpid-cpp), src/qpid/broker/Selector.cpp, "
            "SelectorToken.cpp; measured at 62aaa4cd"
        ),
    },
    fields={
        "between_null": "unknown",
        "whitespace": "vertical_tab",
        "identifier_dots": "yes",
        "headers": "any",
        "approximate_literals": "no_leading_zero",
    },
    rules=Rules(
        quoted_names="double",
        null_equality="skipped",
        arithmetic_mismatch="unknown",
        in_mismatch="listed",
        like_mismatch="unknown",
        condition_mismatch="unknown",
        integers="long",
        like_escapes="dropped",
        like_units="bytes",
        letters="ascii",
        numbers="grouped",
        plus_sign="primary",
        in_operands="any",
        like_operands="any",
        null_operand="any",
        escape="byte",
        static_types="none",
    ),
    not_modelled="U+0000 in a string that LIKE reads, where the engine stops",
    selectors="376",
    own={
        "null_equality": Choice(
            "a test is UNKNOWN if one value is NULL; if the left side is NULL, the right side isn't evaluated",
            "qpid-cpp",
        ),
        "in_mismatch": Choice("NOT IN is FALSE if a value of the list has another type", "qpid-cpp"),
        "like_escapes": Choice(
            "escape characters are removed, also after another one, and the next character is an ordinary character",
            "qpid-cpp",
        ),
        "numbers": Choice(
            "hexadecimal, octal and binary integers of 64 bits, `0x1p3`, underscores and the suffixes "
            "L, F and D are allowed, but not subnormal numbers",
            "qpid-cpp",
        ),
        "plus_sign": Choice("a plus sign is allowed only before a name or a literal, and has no effect", "qpid-cpp"),
        "escape": Choice("the escape character has at most one byte in UTF-8 and is neither `%` nor `_`", "qpid-cpp"),
    },
    numbers=Numbers(
        rf"0[xX][0-9A-Fa-f][0-9A-Fa-f_]*[pP][+-]?[0-9]+[fFdD]?|"
        rf"(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:{EXPONENT})?[fFdD]?|{_GROUPED}(?:{EXPONENT}[fFdD]?|[fFdD])",
        "(?:0[xX][0-9A-Fa-f][0-9A-Fa-f_]*|0[bB][01][01_]*)[lL]?",
        f"(?:0[0-7_]*|{_GROUPED})[lL]?",
        "unsigned",
        "least normal",
        has_octal=True,
    ),
)
