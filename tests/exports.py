"""Exports of Artemis as its exporter lays them out, and a slow reader of them, which ours are compared with.

Shares nothing with what it tests: the reader is Python's own of XML, which knows no tags of ours. It changes line ends
in attributes and refuses control characters, both of which the exporter writes as they are: those it is not asked for.
"""

from __future__ import annotations

import base64
import random
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

from mqsel.values import Float32, Int8, Int16, Int32

TYPES: dict[str, Any] = {
    "boolean": lambda text: {"true": True, "false": False}[text],
    "byte": lambda text: Int8(int(text)),
    "short": lambda text: Int16(int(text)),
    "integer": lambda text: Int32(int(text)),
    "long": int,
    "float": lambda text: Float32(float(text)),
    "double": float,
    "string": str,
    "simple-string": str,
    "bytes": base64.urlsafe_b64decode,
}
NAMES = [
    "color",
    "weight",
    "a&b",
    "größe",
    "_AMQ_GROUP_ID",
    "_AMQ_ORIG_ADDRESS",
    "JMSType",
    "flag",
    "ratio",
    "x<y",
    "n",
]
TEXTS = ["", "blue", "red", "<a> & \"b\" 'c'", "\U0001f600 é", "]]>", "5", "true", "</message>", "a" * 300]


def text_of(kind: str, rng: random.Random) -> str:
    """Return the text of a random value."""
    if kind in ("string", "simple-string"):
        return rng.choice([*TEXTS, *["blue", "red"] * 4])
    if kind == "bytes":
        return base64.urlsafe_b64encode(rng.randbytes(rng.randrange(8))).decode()
    if kind == "boolean":
        return rng.choice(("true", "false"))
    if kind in ("float", "double"):
        return rng.choice(("0.1", "1.0E10", "-0.0", "2.5", "NaN", "-Infinity", "3.4E-5", "Infinity"))
    return str(rng.choice((0, 5, -5, 127, -128)) if kind == "byte" else rng.choice((0, 3000, -7, 32767)))


def body(rng: random.Random, size: int) -> str:
    """Return a body: one piece of CDATA, several as of a large message, or a text as the consumer writes it."""
    if rng.random() < 0.2:
        return "<body>\n<![CDATA[<message> is not one ]] > </message> <!-- nor --> ]]>\n</body>"
    pieces = [base64.urlsafe_b64encode(rng.randbytes(size)).decode() for _ in range(rng.choice((1, 1, 3)))]
    large = ' isLarge="true"' if len(pieces) > 1 else ""
    inside = "".join(f"            <![CDATA[{piece}]]>\n" for piece in pieces)
    return f"<body{large}>\n{inside}         </body>"


def message(rng: random.Random, number: int, size: int = 30) -> str:
    """Return a random message."""
    properties = ""
    for name in rng.sample(NAMES, rng.randrange(len(NAMES))):
        kind = (
            rng.choice([*TYPES, "string", "string"])
            if name in ("color", "weight", "flag", "ratio", "n")
            else "simple-string"
        )
        text, kind = ("_AMQ_NULL", "bytes") if rng.random() < 0.1 else (text_of(kind, rng), kind)
        properties += f'            <property name={quoteattr(name)} value={quoteattr(text)} type="{kind}"/>\n'
    user = f' user-id="f70ac05c-{number}"' if rng.random() < 0.8 else ""
    return (
        f'      <message id="{number}" priority="{rng.randrange(10)}" expiration="0" timestamp="1795395066{number:03}"'
        f' type="text"{user}>\n         <properties>\n{properties}         </properties>\n'
        f'         <queues>\n            <queue name="orders"/>\n         </queues>\n'
        f"         {body(rng, size)}\n      </message>\n"
    )


def head(filters: dict[str, str]) -> str:
    """Return what stands before the messages: queues with their filters."""
    rows = "".join(
        f'      <queue-binding address="orders" filter-string={quoteattr(text)} name="{name}" id="9"'
        ' routing-type="MULTICAST"/>\n'
        for name, text in filters.items()
    )
    return f"\n<activemq-journal>\n   <bindings>\n{rows}   </bindings>\n   <messages>\n"


TAIL = "   </messages>\n</activemq-journal>\n"


def export(rng: random.Random, count: int, filters: dict[str, str] | None = None, size: int = 30) -> bytes:
    """Return an export of random messages."""
    filters = filters if filters is not None else {"blue": "color = 'blue' AND AMQPriority >= 4", "all": ""}
    messages = (message(rng, number, size) for number in range(count))
    return (head(filters) + "".join(messages) + TAIL).encode()


def slowly(element: ET.Element) -> dict[str, Any]:
    """Return all properties of a message by the names of JMS and of the broker."""
    found = {}
    for one in element.findall("properties/property"):
        text = one.attrib["value"]
        found[one.attrib["name"]] = None if text == "_AMQ_NULL" else TYPES[one.attrib["type"]](text)
    found["JMSPriority"] = found["AMQPriority"] = Int32(int(element.attrib["priority"]))
    for name in ("timestamp", "expiration"):
        value = int(element.attrib.get(name, "0"))
        found[f"JMS{name.title()}"] = found[f"AMQ{name.title()}"] = value
    if "user-id" in element.attrib:
        found["JMSMessageID"] = found["AMQUserID"] = f"ID:{element.attrib['user-id']}"
    found["JMSDeliveryMode"], found["AMQDurable"] = "PERSISTENT", "DURABLE"
    if "_AMQ_GROUP_ID" in found:
        found["JMSXGroupID"] = found["AMQGroupID"] = found["_AMQ_GROUP_ID"]
    return found


def read(data: bytes) -> list[dict[str, Any]]:
    """Return the messages of an export."""
    return [slowly(one) for one in ET.fromstring(data.lstrip()).iter("message")]
