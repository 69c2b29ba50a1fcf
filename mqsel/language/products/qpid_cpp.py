"""Apache Qpid C++."""

from mqsel.language.product import Product, Rules

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
    not_modelled="in texts that LIKE reads, U+0000, where the engine ends them",
    selectors="376",
)
