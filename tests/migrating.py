"""Random selectors with headers and canonical messages, and what a product decides about one of those."""

from __future__ import annotations

import functools
import math
import random
from typing import Any

import pairs

import mqsel
from mqsel.analysis.compare.canonical import view
from mqsel.values import Float32, Int8, Int16, Int32

_HEADERS: dict[str, tuple[Any, ...]] = {
    "JMSPriority": tuple(map(Int32, range(10))),
    "JMSDeliveryMode": ("PERSISTENT", "NON_PERSISTENT"),
    "JMSType": (None, "a", "b", "car", "1"),
    "JMSCorrelationID": (None, "a", "ab", ""),
    "JMSTimestamp": (None, 0, 5, 1_700_000_000_000),
    "JMSMessageID": (None, "ID:1", "a"),
    "JMSExpiration": (None, 0, 5),
    "JMSDestination": ("queue://A", "topic://A", "queue://B.c", "topic://B.c"),
    "JMSReplyTo": (None, "queue://A", "topic://A", "queue://B.c", "topic://B.c"),
}
_MORE = (*map(Int8, (1, 2, -1)), *map(Int16, (1, 2, 300)), Float32(1.0), 2.0, "true", "5", "a\nb")
DOUBLES = (0.0, 1.0, -1.0, 2.5, 0.1, -0.5, 3.0, 1e308, -1e308, 5e-324, -5e-324, 2.0**53, 1e16)
VALUES = tuple(one for one in (*pairs.VALUES[1], *_MORE) if str(one) not in ("nan", "-0.0"))
_OF_KIND = {
    "number": (int, float),
    "string": str,
    "text of one line": str,
    "finite double": float,
    "boolean": bool,
    "byte string": bytes,
}
_REQUIRED = ("JMSPriority", "JMSDeliveryMode")


def messages(
    rng: random.Random, names: list[str], assumed: dict[str, str], count: int, *, has_bytes: bool
) -> list[dict[str, Any]]:
    """Draw canonical messages over some names."""
    values = [(name, _values(name, assumed.get(name), has_bytes=has_bytes)) for name in names]
    made = []
    for _ in range(count):
        drawn = [(name, rng.choice(own)) for name, own in values]
        message = {name: value for name, value in drawn if value is not None}
        message |= {name: rng.choice(_HEADERS[name]) for name in _REQUIRED if name not in message}
        made.append(message)
    return made


@functools.cache
def _values(name: str, kind: str | None, *, has_bytes: bool) -> tuple[Any, ...]:
    values = _HEADERS.get(name, VALUES) + DOUBLES * (kind == "finite double")
    values = tuple(one for one in values if has_bytes or not isinstance(one, bytes))
    return values if kind is None else tuple(one for one in values if one is None or _is_of(one, kind))


def _is_of(value: Any, kind: str) -> bool:
    if kind == "text of one line" and "\n" in str(value):
        return False
    if kind == "finite double" and (type(value) is not float or not math.isfinite(value)):
        return False
    return isinstance(value, _OF_KIND[kind]) and (kind == "boolean" or not isinstance(value, bool))


def decision(matcher: mqsel.Matcher, dialect: str, message: dict[str, Any]) -> bool | str:
    try:
        return matcher.matches(view(message, dialect))
    except mqsel.PropertyTypeError:
        return "undocumented"


def condition(rng: random.Random) -> str:
    """Draw a selector over properties and headers."""
    names = pairs.NAMES[: rng.choice((1, 2, 2, 3))]
    text = pairs.condition(rng, names, rng.choice((1, 1, 2, 3)))
    extra = (
        "JMSPriority > 4",
        "JMSDeliveryMode = 'PERSISTENT'",
        "JMSDeliveryMode <> 'PERSISTENT'",
        "JMSType IN ('a', 'car')",
        "NOT JMSType = 'a'",
        "JMSType LIKE 'c%'",
        "JMSCorrelationID = 'a'",
        "JMSTimestamp BETWEEN 0 AND 10",
    )
    return f"{rng.choice(extra)} {rng.choice(('AND', 'OR'))} ({text})" if rng.random() < 0.3 else text
