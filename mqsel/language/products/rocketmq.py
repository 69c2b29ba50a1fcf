"""Apache RocketMQ, whose properties are all texts."""

from mqsel.language.product import Product
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
)
