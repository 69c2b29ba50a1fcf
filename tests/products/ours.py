"""What mqsel answers under the preset of a product."""

from __future__ import annotations

import functools
from typing import Any

from products.answers import Properties
from strategies import is_unordered

import mqsel
from mqsel.errors import SelectorError, UndocumentedError
from mqsel.values import Float32, Int8, Int16, Int32, Truth

# The preset of each product.
PRESETS = {
    "activemq": mqsel.ACTIVEMQ,
    "artemis": mqsel.ARTEMIS,
    "qpid-broker-j": mqsel.QPID_BROKER_J,
    "qpid-cpp": mqsel.QPID_CPP,
    "rocketmq": mqsel.ROCKETMQ,
    "rabbitmq": mqsel.RABBITMQ,
    "rabbitmq-jms": mqsel.RABBITMQ_JMS,
}
NOT_MODELLED = "N"
_CLASSES: dict[str, Any] = {"byte": Int8, "short": Int16, "int": Int32, "long": int, "float": Float32}
_LETTERS = {Truth.TRUE: "T", Truth.FALSE: "F", Truth.UNKNOWN: "U", Truth.ERR: "E"}


def as_message(properties: Properties) -> dict[str, object]:
    """Return properties as mqsel reads them, with their types."""
    return {name: _CLASSES.get(kind, type(value))(value) for name, (kind, value) in properties.items()}


@functools.lru_cache(maxsize=100_000)
def _compiled(product: str, text: str) -> mqsel.Matcher | str:
    try:
        return mqsel.compile(text, dialect=PRESETS[product])
    except SelectorError as error:
        return NOT_MODELLED if "not supported" in str(error) else "P"


def our_answer(product: str, text: str, properties: Properties) -> str:
    """Return T, F, U, E or P, as the product does; or that the preset does not model the text or a value."""
    matcher = _compiled(product, text)
    if isinstance(matcher, str):
        return matcher
    try:
        truth = Truth(matcher.truth(as_message(properties)))
    except UndocumentedError:
        assert is_unordered(properties)
        return NOT_MODELLED
    assert matcher.matches(as_message(properties)) == bool(truth)
    return _LETTERS[truth]
