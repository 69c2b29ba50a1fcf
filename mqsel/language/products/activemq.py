"""Apache ActiveMQ Classic."""

from mqsel.language.product import Choice, Product
from mqsel.language.products._family import CONVERSIONS, FAMILY, FIELDS, NOT_MODELLED, NUMBERS

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
    own={
        "narrow_types": Choice(
            "an INT8 or INT16 on the right of a wider type is a type mismatch, and ERR with a minus "
            "sign; a FLOAT32 on the right of a double is ERR",
            "ActiveMQ",
        ),
        "not_modelled": Choice(
            "mqsel doesn't support XPATH, XQUERY, and the functions and conversions of ActiveMQ", "ActiveMQ"
        ),
    },
    numbers=NUMBERS,
    words="XPATH XQUERY",
    unmodelled={
        **dict.fromkeys(("XPATH", "XQUERY"), "string"),
        **CONVERSIONS,
        **dict.fromkeys(("REGEX", "INLIST", "MAKELIST", "SPLIT", "REPLACE"), "("),
    },
)
