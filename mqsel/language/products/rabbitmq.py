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
        "quoted_names": Choice("`[any text]` is a name, with `[[` for `[` and `]]` for `]`", "RabbitMQ filter"),
        "ordering": Choice("`<` and its like compare strings and byte strings by their bytes, too", "RabbitMQ filter"),
        "division": Choice("`/` is of doubles, `%` of integers; by zero both are NULL", "RabbitMQ filter"),
        "like_lines": Choice(
            "`_` matches no line feed; `%` does in a pattern that has no `_` and no other `%`; any other pattern also "
            "matches with a line feed behind it",
            "RabbitMQ filter",
        ),
        "letters": Choice("a name is of ASCII letters, digits and `_`, and begins with a letter", "RabbitMQ filter"),
        "strings": Choice("a string stands between apostrophes or double quotes", "RabbitMQ filter"),
        "words": Choice("those of JMS without BETWEEN; EXISTS, NAN, UTC and names of functions", "RabbitMQ filter"),
        "keyword_case": Choice(
            "a keyword is written in capitals; in another case it is no name either", "RabbitMQ filter"
        ),
        "numbers": Choice(
            "decimal ones of any size, digits on both sides of a point, `E` in capitals", "RabbitMQ filter"
        ),
        "signs": Choice("one sign stands before a value", "RabbitMQ filter"),
        "escape": Choice(
            "an escape is one character, and never the last of a pattern, which has no other control characters",
            "RabbitMQ filter",
        ),
        "max_tokens": Choice("a text has 200 words and symbols at most", "RabbitMQ filter"),
    },
    numbers=Numbers(r"[0-9]+\.[0-9]+(?:E[+-]?[0-9]+)?", NEVER, "[0-9]+", "any"),
    words="UTC -BETWEEN",
    reserved="EXISTS NAN INF LOWER UPPER LEFT RIGHT SUBSTRING DATE",
    functions=("UTC",),
)
