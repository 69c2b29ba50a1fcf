"""Apache Qpid Broker-J."""

from mqsel.language.product import Choice, Product
from mqsel.language.products._family import FAMILY, FIELDS, NOT_MODELLED, NUMBERS

PRODUCT = Product(
    product="Qpid Broker-J 10.1.0",
    engine=(
        "apache/qpid-broker-j, broker-core: src/main/grammar/SelectorParser.jj, "
        "src/main/java/org/apache/qpid/server/filter"
    ),
    sources={
        "Broker-J": (
            "Apache Qpid Broker-J 10.1.0, [its repository](https://github.com/apache/qpid-broker-j), "
            "broker-core/src/main/grammar/SelectorParser.jj; measured"
        ),
    },
    fields=FIELDS,
    rules=FAMILY._replace(
        not_operand="anywhere",
        quoted_names="double",
        null_equality="value",
        connectives="first",
        narrow_types="gaps",
        like_escapes="dropped_runs",
    ),
    not_modelled=NOT_MODELLED,
    own={
        "not_operand": Choice(
            "NOT applies to the whole comparison after it, and may also be used as a value", "Broker-J"
        ),
        "null_equality": Choice(
            "NULL is equal only to NULL; if the left side of `<`, `<=`, `>` or `>=` is NULL, the "
            "right side isn't evaluated",
            "Broker-J",
        ),
        "connectives": Choice(
            "AND is its first operand that isn't TRUE, and OR is its first operand that is TRUE; "
            "otherwise they are the last operand",
            "Broker-J",
        ),
        "like_escapes": Choice(
            "several `%` count as one; any character after the escape character is an ordinary "
            "character, and an escape character at the end is removed",
            "Broker-J",
        ),
    },
    numbers=NUMBERS,
)
