"""Raw messages that tests of formats have in common."""

from __future__ import annotations

import math
import struct
from typing import Any

from conftest import VECTORS_ROOT, json_lines

from mqsel.formats import mq, mqrfh2
from mqsel.values import Float32, Int8, Int16, Int32

VECTORS = json_lines(VECTORS_ROOT / "formats" / "mq.jsonl")


CLASSES: dict[type, str] = {
    Int8: "int8",
    Int16: "int16",
    Int32: "int32",
    int: "int64",
    Float32: "float32",
    float: "float64",
    bool: "boolean",
    str: "string",
    bytes: "bytes",
    type(None): "null",
}


KEYS = {words: key for key, _, words in mqrfh2.NOTES}


WRONG_CCSID = "ccsid is 1200: expected 1208, 819, 37, 273, 424, 500, 875, 1026, 1047 or 1140"


def typed(value: Any) -> list[Any]:
    """Write a value as a vector does."""
    if isinstance(value, float) and not math.isfinite(value):
        return [CLASSES[type(value)], "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"]
    return [CLASSES[type(value)], value.hex() if isinstance(value, bytes) else value]


RICH = {
    "color": "blue",
    "weight": Int32(2500),
    "price": 9.5,
    "big": 2**63 - 1,
    "raw": b"\x00\xff",
    "on": True,
    "none": None,
    "half": Float32(1.1),
    "beyond": Float32(-math.inf),
    "above": math.inf,
    "tiny": Int8(-128),
    "small": Int16(300),
    "größe": "5 < 6 & 7 > 2 'q' \"r\" 𝄞",
    "empty": "",
    "my.group.inner": "x",
    "my.flat": Int32(-1),
    "mq_usr.a.b.c.d": 1.5e300,
    "JMSType": "car",
    "JMSCorrelationID": "order 7",
    "JMSDeliveryMode": "PERSISTENT",
    "JMSPriority": Int32(9),
    "JMSTimestamp": 1655406556138,
}


HEAD = {"MsgId": bytes(range(24)), "Format": "MQSTR", "GroupId": b"g", "MsgSeqNumber": 3, "UserIdentifier": "mqm"}


def _wrapped(*folders: bytes, encoding: int = 546) -> bytes:
    """Put folders behind an MQMD by hand."""
    head = mq.encode({}, {"x": 1}, encoding=encoding)[: 364 + 36]
    parts = []
    for folder in folders:
        padded = folder + b" " * (-len(folder) % 4)
        parts.append(struct.pack("<i", len(padded)) + padded)
    body = b"".join(parts)
    return head[:372] + struct.pack("<i", 36 + len(body)) + head[376:] + body
