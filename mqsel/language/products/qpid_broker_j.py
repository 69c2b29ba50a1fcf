"""Apache Qpid Broker-J."""

from mqsel.language.product import Product
from mqsel.language.products._family import FAMILY, FIELDS, NOT_MODELLED

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
)
