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
        "not_operand": Choice("NOT negates all of a predicate, and stands also where a value does", "Broker-J"),
        "null_equality": Choice(
            "NULL is equal to NULL alone; behind one on the left of `<` and its like nothing is computed", "Broker-J"
        ),
        "connectives": Choice(
            "AND is its first operand that is not TRUE, OR its first that is; else the last", "Broker-J"
        ),
        "like_escapes": Choice(
            "several `%` become one; what follows the escape stands for itself; an escape at the end is dropped",
            "Broker-J",
        ),
    },
    numbers=NUMBERS,
)
