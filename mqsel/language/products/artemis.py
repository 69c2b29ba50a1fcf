"""Apache Artemis."""

from mqsel.language.product import Choice, Product
from mqsel.language.products._family import CONVERSIONS, FAMILY, FIELDS, NOT_MODELLED, NUMBERS

PRODUCT = Product(
    product="Artemis 2.56.0",
    engine=(
        "apache/artemis, artemis-selector: src/main/javacc, src/main/java/org/apache/activemq/artemis/selector/filter"
    ),
    sources={
        "Artemis": (
            "Apache Artemis 2.56.0, [its repository](https://github.com/apache/artemis), "
            "artemis-selector/src/main/javacc/StrictParser.jj, HyphenatedParser.jj; measured"
        ),
    },
    fields=FIELDS,
    rules=FAMILY._replace(
        quoted_names="double",
        connectives="matched",
        narrow_types="gaps",
        like_escapes="wild",
        words="xpath",
        prefix="hyphens",
        not_modelled="artemis",
    ),
    not_modelled=f"XPATH, XQUERY, the prefix convert_string_expressions:, {NOT_MODELLED}",
    own={
        "prefix": Choice("a selector that begins with `hyphenated_props:` may have names with hyphens", "Artemis"),
        "not_modelled": Choice("mqsel doesn't support XPATH, XQUERY, and the conversions of Artemis", "Artemis"),
    },
    numbers=NUMBERS,
    words="XPATH XQUERY",
    unmodelled={**dict.fromkeys(("XPATH", "XQUERY"), "string"), **CONVERSIONS},
)
