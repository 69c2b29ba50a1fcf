"""Apache RocketMQ, whose properties are all texts."""

from mqsel.language.product import DECIMAL, NEVER, Choice, Numbers, Product
from mqsel.language.products._family import FAMILY, FIELDS, FLOATS

PRODUCT = Product(
    product="RocketMQ 5.5.0",
    engine="apache/rocketmq, filter/src/main/java/org/apache/rocketmq/filter: parser/SelectorParser.jj, expression",
    sources={
        "RocketMQ": (
            "Apache RocketMQ 5.5.0, [its repository](https://github.com/apache/rocketmq), "
            "filter/src/main/javacc/SelectorParser.jj; measured"
        ),
    },
    fields=FIELDS,
    rules=FAMILY._replace(
        remainder="no",
        text_numbers="read",
        arithmetic_mismatch="unknown",
        condition_mismatch="false",
        words="contains",
        numbers="decimal",
        arithmetic="none",
        static_types="ranged",
        rest="ignored",
    ),
    not_modelled=FLOATS,
    own={
        "text_numbers": Choice(
            "every property is a string, read as the type of the value that it is compared with; "
            "unreadable values are ERR",
            "RocketMQ",
        ),
        "condition_mismatch": Choice("a property used as a condition is FALSE if it isn't a boolean", "RocketMQ"),
        "words": Choice(
            "the reserved words are the JMS words without LIKE and ESCAPE, and CONTAINS, STARTSWITH and ENDSWITH",
            "RocketMQ",
        ),
        "numbers": Choice(
            "numbers are decimal, with an optional suffix L; `05` is the number 0 followed by ignored "
            "text; a double can't be zero",
            "RocketMQ",
        ),
        "arithmetic": Choice("arithmetic isn't supported, only signs", "RocketMQ"),
        "static_types": Choice(
            "`<`, `<=`, `>` and `>=` reject string literals and conditions; AND, OR and NOT accept "
            "only conditions; constant bounds of BETWEEN are in ascending order",
            "RocketMQ",
        ),
        "rest": Choice("the broker ignores text after a complete selector", "RocketMQ"),
    },
    numbers=Numbers(DECIMAL, NEVER, "0|[1-9][0-9]*[lL]?", "long", "zero"),
    words="CONTAINS STARTSWITH ENDSWITH -LIKE -ESCAPE",
)
