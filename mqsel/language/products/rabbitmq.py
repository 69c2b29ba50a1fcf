"""RabbitMQ, filters of streams over AMQP 1.0."""

from mqsel.language.product import NEVER, Choice, Numbers, Product, Rules

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
    own={
        "quoted_names": Choice("`[any text]` is a name; brackets in it are written `[[` and `]]`", "RabbitMQ filter"),
        "ordering": Choice(
            "`<`, `<=`, `>` and `>=` also compare strings and byte strings by their bytes", "RabbitMQ filter"
        ),
        "division": Choice(
            "`/` uses doubles and `%` uses integers; both are NULL if the divisor is zero", "RabbitMQ filter"
        ),
        "like_lines": Choice(
            "`_` doesn't match a newline, and `%` does only if it is the only wildcard of the "
            "pattern; other patterns also match a string with one more newline at its end",
            "RabbitMQ filter",
        ),
        "letters": Choice("names consist of ASCII letters, digits and `_`, and begin with a letter", "RabbitMQ filter"),
        "strings": Choice("strings are in single or double quotes", "RabbitMQ filter"),
        "words": Choice(
            "the reserved words are the JMS words without BETWEEN, and EXISTS, NAN, UTC and the names of functions",
            "RabbitMQ filter",
        ),
        "keyword_case": Choice(
            "keywords are in uppercase, and in lowercase they aren't names either", "RabbitMQ filter"
        ),
        "numbers": Choice(
            "numbers are decimal and of any size, with digits on both sides of a decimal point, and `E` in uppercase",
            "RabbitMQ filter",
        ),
        "signs": Choice("a value has at most one sign", "RabbitMQ filter"),
        "escape": Choice(
            "the escape character is exactly one character and can't end a pattern; patterns can't "
            "contain other control characters",
            "RabbitMQ filter",
        ),
        "max_tokens": Choice("a selector has at most 200 words and symbols", "RabbitMQ filter"),
    },
    numbers=Numbers(r"[0-9]+\.[0-9]+(?:E[+-]?[0-9]+)?", NEVER, "[0-9]+", "any"),
    words="UTC -BETWEEN",
    reserved="EXISTS NAN INF LOWER UPPER LEFT RIGHT SUBSTRING DATE",
    functions=("UTC",),
)
