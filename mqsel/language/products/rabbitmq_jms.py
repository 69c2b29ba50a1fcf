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
        "not_operand": Choice("NOT applies to the whole comparison after it, and can't be repeated", "RabbitMQ client"),
        "connectives": Choice("AND and OR evaluate both sides, and are ERR if either side is ERR", "sjx_evaluator.erl"),
        "arithmetic_mismatch": Choice("arithmetic on a value that isn't a number is ERR", "sjx_evaluator.erl"),
        "like_mismatch": Choice("LIKE and NOT LIKE are ERR for a value that isn't a string", "sjx_evaluator.erl"),
        "division": Choice(
            "`/` uses doubles, and division by zero is a word, which isn't a number", "sjx_evaluator.erl"
        ),
        "like_lines": Choice("`%` and `_` don't match newlines", "sjx_evaluator.erl"),
        "words": Choice(
            "the reserved words are the JMS words; NULL and IS are reserved only as IS NULL and IS NOT NULL",
            "RabbitMQ client",
        ),
        "numbers": Choice(
            "numbers are decimal, with an exponent or one of the suffixes F and D; `5.` is allowed, `.5` isn't",
            "RabbitMQ client",
        ),
        "comparisons": Choice(
            "a comparison as operand of another comparison needs parentheses, but IN, LIKE and IS NULL don't",
            "RabbitMQ client",
        ),
        "arithmetic": Choice("`a - b - c` means `a - (b - c)`", "RabbitMQ client"),
        "escape": Choice("the escape may be any string", "RabbitMQ client"),
        "static_types": Choice(
            "order and arithmetic accept only numbers; IN and LIKE only strings; AND, OR and NOT only "
            "conditions; JMS headers have fixed types",
            "RabbitMQ client",
        ),
        "max_depth": Choice(
            "the nesting depth is at most 16; `a AND b AND c` counts as `a AND (b AND c)`", "sjx_parser.erl"
        ),
    },
    numbers=Numbers(rf"[0-9]+(?:\.[0-9]*)?(?:{EXPONENT}|[fFdD])|[0-9]+\.[0-9]*", NEVER, "[0-9]+", "long"),
    words="-IS -NULL",
)
