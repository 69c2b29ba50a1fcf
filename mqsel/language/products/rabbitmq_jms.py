"""RabbitMQ's JMS client, and the topic exchange of its plug-in, which evaluates terms of Erlang."""

from mqsel.language.product import Product, Rules

PRODUCT = Product(
    product="RabbitMQ's JMS client 3.7.0, and the plug-in rabbitmq_jms_topic_exchange",
    engine=(
        "rabbitmq/rabbitmq-jms-client, src/main/java/com/rabbitmq/jms/parse/sql; rabbitmq/rabbitmq-server, "
        "deps/rabbitmq_jms_topic_exchange/src: sjx_evaluator.erl, sjx_parser.erl"
    ),
    sources={
        "RabbitMQ client": (
            "RabbitMQ JMS Client 3.7.0, [its repository](https://github.com/rabbitmq/rabbitmq-jms-client), "
            "src/main/java/com/rabbitmq/jms/parse/sql; measured"
        ),
    },
    fields={
        "type_mismatch": "ordered",
        "between_null": "unknown",
        "whitespace": "vertical_tab",
        "identifier_dots": "yes",
        "headers": "any",
    },
    rules=Rules(
        not_operand="once",
        connectives="eager",
        arithmetic_mismatch="error",
        like_mismatch="error",
        condition_mismatch="unknown",
        integers="unbounded",
        division="word",
        mixed_numbers="exact",
        like_escapes="any",
        like_units="bytes",
        like_lines="none",
        letters="ascii",
        words="not_null",
        numbers="suffixed",
        comparisons="values",
        arithmetic="right",
        escape="any",
        static_types="numeric",
        empty_text="error",
        max_depth="16",
    ),
)
