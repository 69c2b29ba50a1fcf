"""What mqsel answers under the preset of a product, in every way in which it evaluates a selector."""

from __future__ import annotations

import functools
import pickle
from typing import Any

from products.answers import Properties

import mqsel
from mqsel.errors import SelectorError
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
_CLASSES: dict[str, Any] = {"byte": Int8, "short": Int16, "int": Int32, "long": int, "float": Float32}
_LETTERS = {Truth.TRUE: "T", Truth.FALSE: "F", Truth.UNKNOWN: "U", Truth.ERR: "E"}


def as_message(properties: Properties) -> dict[str, object]:
    """Return properties as mqsel reads them, with their types."""
    return {name: _CLASSES.get(kind, type(value))(value) for name, (kind, value) in properties.items()}


@functools.lru_cache(maxsize=100_000)
def compiled(product: str, text: str) -> mqsel.Matcher | str:
    """Return the matcher of a text; "P" where the preset refuses it, "N" where it says that this is not modelled."""
    try:
        return mqsel.compile(text, dialect=PRESETS[product])
    except SelectorError as error:
        return "N" if "not modelled" in str(error) else "P"


def answers(product: str, text: str, properties: Properties) -> set[str]:
    """Return the letters that mqsel answers for a message: one, if all that evaluate it agree."""
    matcher = compiled(product, text)
    if isinstance(matcher, str):
        return {matcher}
    message = as_message(properties)
    plain = mqsel.compile(text, dialect=PRESETS[product], optimize=False)
    selectors = mqsel.SelectorSet({"one": text}, dialect=PRESETS[product])
    shipped = pickle.loads(pickle.dumps(matcher))
    found = {_LETTERS[Truth(one.truth(message))] for one in (matcher, plain, shipped)}
    is_selected = {matcher.matches(message), plain.matches(message), "one" in selectors.match(message)}
    return found if is_selected == {"T" in found} else found | {"matches"}
