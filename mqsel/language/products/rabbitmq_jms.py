"""RabbitMQ's JMS client, and the topic exchange of its plug-in, which evaluates terms of Erlang."""

from mqsel.language.product import EXPONENT, NEVER, Choice, Numbers, Product, Rules

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
    own={
        "not_operand": Choice("NOT negates all of a predicate, and no other NOT", "RabbitMQ client"),
        "connectives": Choice("both sides are evaluated, and ERR of either is ERR", "sjx_evaluator.erl"),
        "arithmetic_mismatch": Choice("arithmetic on anything but numbers is ERR", "sjx_evaluator.erl"),
        "like_mismatch": Choice("LIKE and NOT LIKE of anything but a string are ERR", "sjx_evaluator.erl"),
        "division": Choice("`/` is of doubles; by zero the result is a word, which is no number", "sjx_evaluator.erl"),
        "like_lines": Choice("neither matches a line feed", "sjx_evaluator.erl"),
        "words": Choice("those of JMS without NULL and IS, which are words together only", "RabbitMQ client"),
        "numbers": Choice("decimal ones, an exponent or a suffix F or D; `5.` but not `.5`", "RabbitMQ client"),
        "comparisons": Choice(
            "a comparison is no operand of another without parentheses, but IN, LIKE and IS are, with their name",
            "RabbitMQ client",
        ),
        "arithmetic": Choice("`a - b - c` is `a - (b - c)`", "RabbitMQ client"),
        "escape": Choice("an escape is any text", "RabbitMQ client"),
        "static_types": Choice(
            "order and arithmetic take numbers, IN and LIKE strings, AND, OR and NOT conditions; headers of JMS have "
            "their types",
            "RabbitMQ client",
        ),
        "max_depth": Choice(
            "a condition is 16 deep at most, where `a AND b AND c` is `a AND (b AND c)`", "sjx_parser.erl"
        ),
    },
    numbers=Numbers(rf"[0-9]+(?:\.[0-9]*)?(?:{EXPONENT}|[fFdD])|[0-9]+\.[0-9]*", NEVER, "[0-9]+", "long"),
    words="-IS -NULL",
)
