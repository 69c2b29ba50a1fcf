"""The products whose selectors are more than those of JMS, one module each.

A module's `PRODUCT` has all that its dialect is: fields, rules, sources and what it was held against.
"""

from __future__ import annotations

import functools

from mqsel.arguments import check_word
from mqsel.carets import shortened
from mqsel.errors import ArgumentError
from mqsel.language.product import SHARED, Choice, Product, Rules
from mqsel.language.products import (
    activemq,
    artemis,
    azure_service_bus,
    qpid_broker_j,
    qpid_cpp,
    rabbitmq,
    rabbitmq_jms,
    rocketmq,
)

# By the name of the preset, in the order in which tables show them.
PRODUCTS: dict[str, Product] = {
    "ACTIVEMQ": activemq.PRODUCT,
    "ARTEMIS": artemis.PRODUCT,
    "QPID_BROKER_J": qpid_broker_j.PRODUCT,
    "QPID_CPP": qpid_cpp.PRODUCT,
    "RABBITMQ": rabbitmq.PRODUCT,
    "RABBITMQ_JMS": rabbitmq_jms.PRODUCT,
    "ROCKETMQ": rocketmq.PRODUCT,
    "AZURE_SERVICE_BUS": azure_service_bus.PRODUCT,
}
# The choices of each rule. The first one is that of JMS.
RULES: dict[str, dict[str, Choice]] = {
    rule: {
        **choices,
        **{getattr(row.rules, rule): row.own[rule] for row in PRODUCTS.values() if rule in row.own},
    }
    for rule, choices in SHARED.items()
}
NO_PRODUCT = "jms"  # the choice of the field ``product`` of a dialect that no product adds rules to
_ROWS = {NO_PRODUCT: Rules(), **{name.lower(): product.rules for name, product in PRODUCTS.items()}}


@functools.lru_cache(256)
def rules_of(product: str) -> Rules:
    """Return the rules of a product, by its choice of the field ``product``, and of what `varied` makes of one.

    Raises: ArgumentError: no such product.
    """
    name, *changes = product.split()
    if name not in _ROWS:
        raise ArgumentError(f"dialect field product is {shortened(product)}: choose {', '.join(_ROWS)}")
    rows = dict([change.partition("=")[::2] for change in changes])
    for rule, choice in rows.items():
        check_word(f"rule {rule}", choice, tuple(RULES.get(rule, ())))
    return _ROWS[name]._replace(**rows)


def varied(product: str, **changes: str) -> str:
    """Return the choice of the field ``product`` of what does as another product but for some rules.

    Comparisons of dialects read selectors so; no dialect that a user has is read so.
    """
    name = product.partition(" ")[0]
    rules, own = rules_of(product)._replace(**changes), _ROWS[name]
    return " ".join(
        [name, *[f"{rule}={choice}" for rule, choice, usual in zip(RULES, rules, own, strict=True) if choice != usual]]
    )
