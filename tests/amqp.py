"""AMQP 1.0 messages, slowly: random ones, and a decoder written from the text of the specification, for comparison.

*OASIS AMQP 1.0, Part 1: Types*, §1.6, and *Part 3: Messaging*, §3.2. What the properties are is formats §11.
"""

from __future__ import annotations

import contextlib
import decimal
import math
import random
import string
import struct
import uuid
from typing import Any

from mqsel.values import Float32, Int8, Int16, Int32

Read = tuple[str, Any]  # the name of a type, and a value of it

# Of types of a fixed width: code, name, how many bytes, how they are read.
FIXED: dict[int, tuple[str, int, Any]] = {
    0x40: ("null", 0, lambda _: None),
    0x41: ("boolean", 0, lambda _: True),
    0x42: ("boolean", 0, lambda _: False),
    0x56: ("boolean", 1, lambda data: {0: False, 1: True}.get(data[0])),
    0x50: ("ubyte", 1, lambda data: data[0]),
    0x60: ("ushort", 2, lambda data: struct.unpack(">H", data)[0]),
    0x70: ("uint", 4, lambda data: struct.unpack(">I", data)[0]),
    0x52: ("uint", 1, lambda data: data[0]),
    0x43: ("uint", 0, lambda _: 0),
    0x80: ("ulong", 8, lambda data: struct.unpack(">Q", data)[0]),
    0x53: ("ulong", 1, lambda data: data[0]),
    0x44: ("ulong", 0, lambda _: 0),
    0x51: ("byte", 1, lambda data: struct.unpack(">b", data)[0]),
    0x61: ("short", 2, lambda data: struct.unpack(">h", data)[0]),
    0x71: ("int", 4, lambda data: struct.unpack(">i", data)[0]),
    0x54: ("int", 1, lambda data: struct.unpack(">b", data)[0]),
    0x81: ("long", 8, lambda data: struct.unpack(">q", data)[0]),
    0x55: ("long", 1, lambda data: struct.unpack(">b", data)[0]),
    0x72: ("float", 4, lambda data: struct.unpack(">f", data)[0]),
    0x82: ("double", 8, lambda data: struct.unpack(">d", data)[0]),
    0x74: ("decimal", 4, lambda data: bid(data, 8, 101)),
    0x84: ("decimal", 8, lambda data: bid(data, 10, 398)),
    0x94: ("decimal", 16, lambda data: bid(data, 14, 6176)),
    0x73: ("char", 4, lambda data: data),
    0x83: ("timestamp", 8, lambda data: struct.unpack(">q", data)[0]),
    0x98: ("uuid", 16, bytes),
}
SIZED = {0xA0: "binary", 0xB0: "binary", 0xA1: "string", 0xB1: "string", 0xA3: "symbol", 0xB3: "symbol"}
COMPOUND = {0x45: "list", 0xC0: "list", 0xD0: "list", 0xC1: "map", 0xD1: "map", 0xE0: "array", 0xF0: "array"}
SECTIONS = (
    "header:list delivery-annotations:map message-annotations:map properties:list application-properties:map"
    " data:binary amqp-sequence:list amqp-value:* footer:map"
).split()
HEADER = "durable priority ttl first-acquirer delivery-count".split()
PROPERTIES = (
    "message-id user-id to subject reply-to correlation-id content-type content-encoding absolute-expiry-time"
    " creation-time group-id group-sequence reply-to-group-id"
).split()
UNSIGNED, TEXT = {"ubyte", "ushort", "uint", "ulong"}, {"string", "symbol"}
ALLOWED = {
    **{key: {"boolean"} for key in ("durable", "first-acquirer")},
    **dict.fromkeys(("priority", "ttl", "delivery-count", "group-sequence"), UNSIGNED),
    **{key: {*TEXT, *UNSIGNED, "uuid", "binary"} for key in ("message-id", "correlation-id")},
    "user-id": {"binary"},
    **{key: {"timestamp"} for key in ("absolute-expiry-time", "creation-time")},
}


class BrokenError(Exception):
    """Bytes that are no message."""


def bid(data: bytes, width: int, bias: int) -> float:
    """Read a decimal in binary integer encoding: IEEE 754-2008, §3.5.2."""
    bits = "".join(f"{byte:08b}" for byte in data)
    sign, rest = int(bits[0]), bits[1:]
    if rest.startswith("1111"):
        return (math.nan if rest[4] == "1" else math.inf) * (1 - 2 * sign)
    if rest.startswith("11"):
        exponent, digits = rest[2 : 2 + width], "100" + rest[2 + width :]
    else:
        exponent, digits = rest[:width], rest[width:]
    whole = int(digits, 2)
    if whole >= 10 ** {4: 7, 8: 16, 16: 34}[len(data)]:
        whole = 0
    exact = decimal.Decimal((sign, tuple(map(int, str(whole))), int(exponent, 2) - bias))
    return float(exact)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int, stop: int) -> bytes:
        if size > stop - self.at:
            raise BrokenError("cut")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int, stop: int) -> int:
        return int.from_bytes(self.take(size, stop), "big")

    def value(self, stop: int, depth: int) -> Read:
        if depth > 100:
            raise BrokenError("deep")
        code = self.number(1, stop)
        if code == 0:
            return "described", (self.value(stop, depth + 1), self.value(stop, depth + 1))
        return self.body(code, stop, depth)

    def body(self, code: int, stop: int, depth: int) -> Read:
        if code in FIXED:
            name, size, read = FIXED[code]
            return name, read(self.take(size, stop))
        wide = 1 if code >> 4 in (0xA, 0xC, 0xE) else 4
        if code in SIZED:
            return SIZED[code], self.take(self.number(wide, stop), stop)
        if code not in COMPOUND:
            raise BrokenError("code")
        if code == 0x45:
            return "list", []
        size = self.number(wide, stop)
        end = self.at + size
        if end > stop or size < wide:
            raise BrokenError("size")
        count = self.number(wide, end)
        if COMPOUND[code] == "map" and count % 2:
            raise BrokenError("odd")
        items: list[Read] = []
        if COMPOUND[code] == "array":
            self.array(count, end, depth)
        else:
            while len(items) < count:
                items.append(self.value(end, depth + 1))
        if self.at != end:
            raise BrokenError("count")
        return COMPOUND[code], items

    def array(self, count: int, end: int, depth: int) -> None:
        element = self.number(1, end)
        while element == 0:
            depth += 1
            self.value(end, depth)
            element = self.number(1, end)
        if depth >= 100:
            raise BrokenError("deep")
        if element in FIXED or element == 0x45:
            self.take(count * (FIXED[element][1] if element in FIXED else 0), end)
            return
        for _ in range(count):
            self.body(element, end, depth + 1)


def sections(data: bytes) -> list[tuple[str, int, Read]]:
    """Take a message apart: of each section its name, where it begins, and its value.

    Raises: BrokenError.
    """
    reader, found, last = _Reader(data), [], -1
    if not data:
        raise BrokenError("empty")
    while reader.at < len(data):
        start = reader.at
        if reader.number(1, len(data)) != 0:
            raise BrokenError("section")
        kind, descriptor = reader.value(len(data), 1)
        if kind == "symbol":
            symbols = [f"amqp:{row}".encode() for row in SECTIONS]
            place = symbols.index(descriptor) if descriptor in symbols else -1
        else:
            place = descriptor - 0x70 if kind == "ulong" else -1
        if not 0 <= place < len(SECTIONS):
            raise BrokenError("descriptor")
        is_again = place == last and place in (5, 6)
        if (place <= last and not is_again) or (last in (5, 6) and last < place <= 7):
            raise BrokenError("order")
        last = place
        name, shape = SECTIONS[place].split(":")
        value = reader.value(len(data), 0)
        if shape != "*" and value[0] != shape and not (shape == "map" and value[0] == "null"):
            raise BrokenError("shape")
        names = {"header": HEADER, "properties": PROPERTIES}.get(name)
        for field, one in zip(names, value[1], strict=False) if names else ():
            if one[0] not in {"null", *ALLOWED.get(field, TEXT)}:
                raise BrokenError("kind")
        found.append((name, start, value))
    return found


def as_property(value: Read) -> Any:
    """Return a value as a property; NULL where no property can be that.

    Raises: OverflowError: a ulong that no property can hold.
    """
    kind, one = value
    if kind == "ulong" and one >= 2**63:
        raise OverflowError
    try:
        match kind:
            case "string":
                return one.decode()
            case "symbol":
                return one.decode("ascii")
            case "char":
                return one.decode("utf-32-be")
    except UnicodeDecodeError:
        return None
    if kind in ("list", "map", "array", "described"):
        return None
    of: dict[str, Any] = {"ubyte": Int16, "ushort": Int32, "byte": Int8, "short": Int16, "int": Int32, "float": Float32}
    return of[kind](one) if kind in of else one


def _int32(number: int) -> Int32:
    return Int32((number + 2**31) % 2**32 - 2**31)


def _identifier(value: Read | None, *, is_message: bool) -> Any:
    if value is None:
        return None
    kind, one = value
    if kind == "uuid":
        return f"ID:AMQP_UUID:{uuid.UUID(bytes=one)}"
    if kind == "binary":
        return f"ID:AMQP_BINARY:{one.hex().upper()}"
    if kind not in TEXT:
        return f"ID:AMQP_ULONG:{one}"
    text = as_property(value)
    if text is None:
        return None
    if not text.startswith("ID:"):
        return f"ID:AMQP_NO_PREFIX:{text}" if is_message else text
    is_taken = text[3:].startswith(("AMQP_UUID:", "AMQP_ULONG:", "AMQP_BINARY:", "AMQP_STRING:", "AMQP_NO_PREFIX:"))
    return f"ID:AMQP_STRING:{text}" if is_taken else text


def properties(data: bytes) -> dict[str, Any]:
    """Return the properties of a message, those of maps by their keys; of what no property can hold an OverflowError.

    Raises: BrokenError.
    """
    fields: dict[str, Read] = {}
    maps: dict[str, dict[str, Read]] = {"message-annotations": {}, "application-properties": {}}
    for name, _, (_, value) in sections(data):
        if name in ("header", "properties"):
            names = HEADER if name == "header" else PROPERTIES
            fields |= {field: one for field, one in zip(names, value, strict=False) if one[0] != "null"}
        elif name in maps:
            for key, one in zip(value[::2], value[1::2], strict=True) if value else ():
                with contextlib.suppress(UnicodeDecodeError):
                    if key[0] in TEXT:
                        maps[name][key[1].decode()] = one

    def held(value: Read | None, default: Any = None) -> Any:
        try:
            return default if value is None else as_property(value)
        except OverflowError as error:
            return error

    found = {f"amqp.{field.replace('-', '_')}": held(one) for field, one in fields.items()}
    found |= {f"m.{key}": held(one) for key, one in maps["message-annotations"].items()}
    found |= {key: held(one) for key, one in maps["application-properties"].items()}
    count = fields.get("delivery-count", ("uint", 0))[1]
    durable = fields.get("durable", ("boolean", False))[1]
    creation, ttl = fields.get("creation-time"), fields.get("ttl", ("uint", 0))[1]
    lifetime = 0 if not ttl else None if creation is None else (creation[1] + ttl + 2**63) % 2**64 - 2**63
    delivery = maps["message-annotations"].get("x-opt-delivery-time")
    user = fields.get("user-id")
    found |= {
        "JMSDeliveryMode": None if durable is None else "PERSISTENT" if durable else "NON_PERSISTENT",
        "JMSPriority": Int32(min(9, fields.get("priority", ("ubyte", 4))[1])),
        "JMSRedelivered": _int32(count) > 0,
        "JMSXDeliveryCount": _int32(count + 1),
        "JMS_AMQP_TTL": held(fields.get("ttl")),
        "JMSMessageID": _identifier(fields.get("message-id"), is_message=True),
        "JMSCorrelationID": _identifier(fields.get("correlation-id"), is_message=False),
        "JMSType": held(fields.get("subject")),
        "JMSDestination": held(fields.get("to")),
        "JMSReplyTo": held(fields.get("reply-to")),
        "JMSTimestamp": held(creation, 0),
        "JMSExpiration": held(fields.get("absolute-expiry-time"), lifetime),
        "JMSDeliveryTime": held(creation, 0) if delivery in (None, ("null", None)) else held(delivery),
        "JMSXUserID": None if user is None else as_property(("string", user[1])),
        "JMSXGroupID": held(fields.get("group-id")),
        "JMSXGroupSeq": _int32(fields["group-sequence"][1]) if "group-sequence" in fields else None,
        "JMS_AMQP_REPLY_TO_GROUP_ID": held(fields.get("reply-to-group-id")),
    }
    return found


# ---- random messages ---------------------------------------------------------------------------------------------


def sized(code: int, data: bytes) -> bytes:
    """Write a text or bytes: the longer form where *code* is that, or the length needs it."""
    if len(data) > 255:
        code |= 0x10
    return bytes([code]) + (bytes([len(data)]) if code < 0xB0 else len(data).to_bytes(4, "big")) + data


def compound(kind: str, items: list[bytes], rng: random.Random | None = None) -> bytes:
    """Write a list or a map of elements, or an array whose first item is the code of the others."""
    body, count = b"".join(items), len(items) - (kind == "array")
    code = {"list": 0xC0, "map": 0xC1, "array": 0xE0}[kind]
    if len(body) > 254 or count > 255 or (rng is not None and rng.random() < 0.2):
        return bytes([code | 0x10]) + (len(body) + 4).to_bytes(4, "big") + count.to_bytes(4, "big") + body
    return bytes([code, len(body) + 1, count]) + body


def message(priority: int, properties: dict[str, int | str], data: bytes) -> bytes:
    """Write a message of a priority, properties and data."""
    entries = [
        part
        for name, value in properties.items()
        for part in (
            sized(0xA1, name.encode()),
            sized(0xA1, value.encode()) if isinstance(value, str) else b"\x71" + struct.pack(">i", value),
        )
    ]
    parts = (
        (0, compound("list", [b"\x40", bytes([0x50, priority])])),
        (4, compound("map", entries)),
        (5, sized(0xA0, data)),
    )
    return b"".join(bytes([0, 0x53, 0x70 + place]) + value for place, value in parts)


def leaf(rng: random.Random, code: int) -> bytes:
    """Write a value that has no others in it."""
    if code in FIXED:
        size = FIXED[code][1]
        data = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size), b"\1".rjust(size, b"\0")))
        return bytes([code]) + data[:size]
    text = rng.choice(("", "car", "ID:x", "ID:AMQP_UUID:x", "ü𝄞", "x" * rng.randrange(300))).encode()
    return sized(code, text if rng.random() < 0.9 else rng.randbytes(3))


LEAVES = [*FIXED, *SIZED]


def random_value(rng: random.Random, depth: int = 0) -> bytes:
    if rng.random() < 0.85 or depth > 3:
        return leaf(rng, rng.choice(LEAVES))
    items = [random_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    shape = rng.choice(("list", "map", "array", "described", "empty"))
    match shape:
        case "list":
            return compound("list", items, rng)
        case "map":
            return compound("map", items * 2, rng)
        case "array":
            return compound("array", [b"\x54", b"\1", b"\2"] if items else [b"\xa1", b"\1a", b"\0"], rng)
        case "described":
            return b"\0" + random_value(rng, depth + 1) + random_value(rng, depth + 1)
    return b"\x45"


CODES = {
    field: [code for code in LEAVES if (FIXED[code][0] if code in FIXED else SIZED[code]) in ALLOWED.get(field, TEXT)]
    for field in (*HEADER, *PROPERTIES)
}


def _field(rng: random.Random, field: str) -> bytes:
    chance = rng.random()
    return b"\x40" if chance < 0.3 else leaf(rng, rng.choice(CODES[field] if chance < 0.998 else LEAVES))


def random_message(rng: random.Random) -> bytes:
    """Write a message of any sections and values; nearly all are valid."""

    def section(place: int, value: bytes) -> bytes:
        kind = rng.random()
        if kind < 0.1:
            return b"\0" + sized(0xA3, f"amqp:{SECTIONS[place]}".encode()) + value
        return (b"\0\x80" + bytes(7) if kind < 0.2 else b"\0\x53") + bytes([0x70 + place]) + value

    def entries(prefix: str = "") -> bytes:
        items = []
        for _ in range(rng.randrange(6)):
            key = rng.choice((*string.ascii_lowercase[:8], "JMSType", "color", "x-opt-delivery-time", "k" * 300, "é"))
            items += [sized(rng.choice((0xA1, 0xA3, 0xB1)), (prefix + key).encode()), random_value(rng)]
        if rng.random() < 0.05:
            items += [random_value(rng), random_value(rng)]
        return compound("map", items, rng) if items or rng.random() < 0.5 else b"\x40"

    def fields(names: list[str]) -> bytes:
        items = [_field(rng, field) for field in names[: rng.randrange(len(names) + 1)]]
        return compound("list", items, rng) if items or rng.random() < 0.5 else b"\x45"

    parts = []
    makers = (lambda: fields(HEADER), entries, entries, lambda: fields(PROPERTIES), entries)
    for place, make in enumerate(makers):
        if rng.random() < 0.7:
            parts.append(section(place, make()))
    match rng.randrange(4):
        case 0:
            parts += [section(5, sized(0xA0, rng.randbytes(rng.randrange(9)))) for _ in range(rng.randrange(3))]
        case 1:
            parts += [section(6, compound("list", [random_value(rng)], rng))]
        case 2:
            parts.append(section(7, random_value(rng)))
    if rng.random() < 0.2 or not parts:
        parts.append(section(8, entries()))
    return b"".join(parts)
