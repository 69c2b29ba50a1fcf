"""RabbitMQ, filters of streams over AMQP 1.0."""

from mqsel.language.product import Product, Rules

PRODUCT = Product(
    product="RabbitMQ 4.3.6, filters of streams over AMQP 1.0",
    engine=(
        "rabbitmq/rabbitmq-server, deps/rabbit/src: rabbit_amqp_sql_lexer.xrl, rabbit_amqp_sql_parser.yrl, "
        "rabbit_amqp_sql_ast.erl, rabbit_amqp_filter_sql.erl"
    ),
    sources={
        "RabbitMQ filter": (
            "RabbitMQ 4.3, [its repository](https://github.com/rabbitmq/rabbitmq-server), "
            "deps/rabbit/src/rabbit_amqp_sql_lexer.xrl, rabbit_amqp_sql_parser.yrl; measured"
        ),
    },
    fields={
        "type_mismatch": "negated",
        "identifier_dots": "sections",
        "byte_strings": "unquoted",
        "headers": "sections",
        "max_length": 4096,
    },
    rules=Rules(
        unequal_sign="exclamation",
        remainder="yes",
        quoted_names="brackets",
        ordering="texts",
        arithmetic_mismatch="unknown",
        like_mismatch="unknown",
        condition_mismatch="unknown",
        integers="unbounded",
        division="unknown",
        mixed_numbers="exact",
        like_escapes="any",
        like_lines="simple",
        letters="plain",
        strings="either",
        words="functions",
        keyword_case="capitals",
        numbers="unbounded",
        signs="one",
        in_operands="any",
        like_operands="any",
        escape="paired",
        static_types="none",
        empty_text="error",
        max_tokens="200",
    ),
)
