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
            "each property is a text, read as the type of what stands beside it; ERR if that fails", "RocketMQ"
        ),
        "condition_mismatch": Choice("a condition that is no boolean is FALSE", "RocketMQ"),
        "words": Choice("those of JMS without LIKE and ESCAPE; CONTAINS, STARTSWITH, ENDSWITH", "RocketMQ"),
        "numbers": Choice("decimal ones, suffix L; `05` is `0` and a rest; a double is not zero", "RocketMQ"),
        "arithmetic": Choice("there is no arithmetic but for signs", "RocketMQ"),
        "static_types": Choice(
            "order takes no strings and conditions, AND, OR and NOT take conditions; of two constants the lower bound "
            "is no greater than the upper",
            "RocketMQ",
        ),
        "rest": Choice("what follows a complete selector is not read", "RocketMQ"),
    },
    numbers=Numbers(DECIMAL, NEVER, "0|[1-9][0-9]*[lL]?", "long", "zero"),
    words="CONTAINS STARTSWITH ENDSWITH -LIKE -ESCAPE",
)
