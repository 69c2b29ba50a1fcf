"""Apache ActiveMQ Classic."""

from mqsel.language.product import Product
from mqsel.language.products._family import FAMILY, FIELDS, NOT_MODELLED

PRODUCT = Product(
    product="ActiveMQ Classic 6.3.1",
    engine=(
        "apache/activemq, activemq-client: src/main/grammar/SelectorParser.jj, src/main/java/org/apache/activemq/filter"
    ),
    sources={
        "ActiveMQ": (
            "Apache ActiveMQ Classic 6.3.1, [its repository](https://github.com/apache/activemq), "
            "activemq-client/src/main/grammar/SelectorParser.jj; measured"
        ),
    },
    fields=FIELDS,
    rules=FAMILY._replace(
        connectives="matched",
        narrow_types="casts",
        like_escapes="wild",
        words="xpath",
        not_modelled="activemq",
    ),
    not_modelled=(
        "functions (REGEX, INLIST, MAKELIST, SPLIT, REPLACE), XPATH, XQUERY, the prefix convert_string_expressions:, "
        f"{NOT_MODELLED}"
    ),
)
