"""AMQP 1.0 messages as tables: sections, their fields, the properties that are read from them, notes and errors.

Facts, and what few messages need: decimals, identifiers that are no texts. The code that reads by these tables stands
in `_amqp.pyx`. Follows formats §11.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from mqsel.errors import DecodeError
from mqsel.names import HEADER_NAMES, HEADER_VALUES, SECTION_FIELDS, spellings
from mqsel.values import Int16, Int32


class Section(NamedTuple):
    """A part of a message.

    Attributes:
        name: as the specification has it.
        descriptor: the number in front of it; a text may stand there instead.
        symbol: that text.
        shape: what it is: "list" of its fields, "map", "data", "sequence", or any "value".
        fields: of a list, in order.
    """

    name: str
    descriptor: int
    symbol: str
    shape: str
    fields: tuple[str, ...] = ()


# AMQP 1.0, §3.2: in the order in which they stand, none twice but data and amqp-sequence.
SECTIONS = (
    Section(
        "header", 0x70, "amqp:header:list", "list", ("durable", "priority", "ttl", "first-acquirer", "delivery-count")
    ),
    Section("delivery-annotations", 0x71, "amqp:delivery-annotations:map", "map"),
    Section("message-annotations", 0x72, "amqp:message-annotations:map", "map"),
    Section(
        "properties",
        0x73,
        "amqp:properties:list",
        "list",
        tuple(field.replace("_", "-") for field in SECTION_FIELDS["p"]),
    ),
    Section("application-properties", 0x74, "amqp:application-properties:map", "map"),
    Section("data", 0x75, "amqp:data:binary", "data"),
    Section("amqp-sequence", 0x76, "amqp:amqp-sequence:list", "sequence"),
    Section("amqp-value", 0x77, "amqp:amqp-value:*", "value"),
    Section("footer", 0x78, "amqp:footer:map", "map"),
)

# Codes of types, §1.6, by what they are for a field, each with what it becomes as a property; none: it has no value.
KINDS: dict[str, dict[int, str | None]] = {
    "null": {0x40: "null"},
    "boolean": {0x41: "boolean", 0x42: "boolean", 0x56: "boolean"},
    "unsigned": {
        0x50: "int16",  # ubyte
        0x60: "int32",  # ushort
        **dict.fromkeys((0x70, 0x52, 0x43), "int64"),  # uint
        **dict.fromkeys((0x80, 0x53, 0x44), "int64"),  # ulong
    },
    "signed": {
        0x51: "int8",
        0x61: "int16",
        **dict.fromkeys((0x71, 0x54), "int32"),
        **dict.fromkeys((0x81, 0x55), "int64"),
    },
    "time": {0x83: "int64"},
    "float": {0x72: "float32", **dict.fromkeys((0x82, 0x74, 0x84, 0x94), "float64")},  # and decimals
    "char": {0x73: "string"},
    "uuid": {0x98: "bytes"},
    "binary": {0xA0: "bytes", 0xB0: "bytes"},
    "text": {0xA1: "string", 0xB1: "string", 0xA3: "string", 0xB3: "string"},  # string and symbol
    "nested": dict.fromkeys((0x45, 0xC0, 0xD0, 0xC1, 0xD1, 0xE0, 0xF0, 0x00)),  # list, map, array, described
}

# What the fields may be, §3.2.1 and §3.2.4. Some senders write a text for a symbol, or the other way round.
FIELD_KINDS = {
    "durable": ("boolean",),
    "priority": ("unsigned",),
    "ttl": ("unsigned",),
    "first-acquirer": ("boolean",),
    "delivery-count": ("unsigned",),
    "message-id": ("text", "unsigned", "uuid", "binary"),
    "user-id": ("binary",),
    "to": ("text",),
    "subject": ("text",),
    "reply-to": ("text",),
    "correlation-id": ("text", "unsigned", "uuid", "binary"),
    "content-type": ("text",),
    "content-encoding": ("text",),
    "absolute-expiry-time": ("time",),
    "creation-time": ("time",),
    "group-id": ("text",),
    "group-sequence": ("unsigned",),
    "reply-to-group-id": ("text",),
}

# ---- properties --------------------------------------------------------------------------------------------------

# In the order in which `_amqp.pyx` numbers them.
CONVERSIONS = (
    "as typed",  # by KINDS
    "delivery mode",  # of a boolean: by DELIVERY_MODES
    "durability",  # the same, by the values that AMQDurable has
    "priority",  # INT32, 9 at most
    "int32",  # of a uint: INT32, as Java narrows it
    "plus one",  # likewise, and one more
    "is positive",  # likewise: BOOLEAN
    "text",  # of binary: its UTF-8
    "message identifier",  # a text that begins with ID:, by `identifier`
    "correlation identifier",  # a text, by `identifier`
    "prefixed identifier",  # ID: and the text, unless that begins so
    "lifetime",  # creation-time and so many milliseconds; NULL without creation-time, nothing if it is zero
)


class Place(NamedTuple):
    """One place of a value.

    Attributes:
        section, field: of a list the field, of a map the key.
        conversion: what is made of it; see `CONVERSIONS`.
    """

    section: str
    field: str
    conversion: str = "as typed"


# AMQP JMS Mapping 1.0, §3.2, as apache/qpid-jms has it: AmqpJmsMessageFacade, AmqpHeader. The first place that has a
# value counts, and else the default.
JMS: dict[str, tuple[Place, ...]] = {
    "JMSDestination": (Place("properties", "to"),),
    "JMSDeliveryMode": (Place("header", "durable", "delivery mode"),),
    "JMSExpiration": (Place("properties", "absolute-expiry-time"), Place("header", "ttl", "lifetime")),
    "JMSPriority": (Place("header", "priority", "priority"),),
    "JMSMessageID": (Place("properties", "message-id", "message identifier"),),
    "JMSTimestamp": (Place("properties", "creation-time"),),
    "JMSCorrelationID": (Place("properties", "correlation-id", "correlation identifier"),),
    "JMSReplyTo": (Place("properties", "reply-to"),),
    "JMSType": (Place("properties", "subject"),),
    "JMSRedelivered": (Place("header", "delivery-count", "is positive"),),
    "JMSDeliveryTime": (Place("message-annotations", "x-opt-delivery-time"), Place("properties", "creation-time")),
    "JMSXUserID": (Place("properties", "user-id", "text"),),
    "JMSXDeliveryCount": (Place("header", "delivery-count", "plus one"),),
    "JMSXGroupID": (Place("properties", "group-id"),),
    "JMSXGroupSeq": (Place("properties", "group-sequence", "int32"),),
    "JMS_AMQP_TTL": (Place("header", "ttl"),),
    "JMS_AMQP_REPLY_TO_GROUP_ID": (Place("properties", "reply-to-group-id"),),
}
DELIVERY_MODES = ("NON_PERSISTENT", "PERSISTENT")
DURABILITIES = tuple(HEADER_VALUES["AMQDurable"][mode] for mode in DELIVERY_MODES)
_DEFAULTS: dict[str, object] = {
    "JMSDeliveryMode": DELIVERY_MODES[0],
    "JMSExpiration": 0,
    "JMSPriority": Int32(4),
    "JMSTimestamp": 0,
    "JMSRedelivered": False,
    "JMSDeliveryTime": 0,
    "JMSXDeliveryCount": Int32(1),
}


class Source(NamedTuple):
    """Where a property is read, and what it is where the message has no value there."""

    places: tuple[Place, ...]
    default: object = None


# The fields as brokers name them. AMQP 1.0, §3.2.1, has the defaults.
_FIELD_DEFAULTS: dict[str, object] = {
    "durable": False,
    "priority": Int16(4),
    "first-acquirer": False,
    "delivery-count": 0,
}
_FIELDS = {
    field: Source((Place(section.name, field),), _FIELD_DEFAULTS.get(field))
    for section in SECTIONS
    for field in section.fields
}
_CLIENT = {name: Source(places, _DEFAULTS.get(name)) for name, places in JMS.items()}
# apache/qpid-cpp, Selector.cpp; the AMQP filter for selectors names all fields so.
FIELD = "amqp."
_QPID = {f"{FIELD}{field.replace('-', '_')}": source for field, source in _FIELDS.items()} | {
    f"{FIELD}delivery_mode": _CLIENT["JMSDeliveryMode"],
    f"{FIELD}redelivered": _CLIENT["JMSRedelivered"],
}
# apache/artemis, FilterImpl and AMQPMessage. What begins with _AMQ_ is a property there, of messages of its protocol.
_ARTEMIS = {own: _CLIENT[header] for header, own in HEADER_NAMES["ARTEMIS"].items() if not own.startswith("_AMQ_")} | {
    "AMQDurable": Source((Place("header", "durable", "durability"),), DURABILITIES[0]),
    "AMQUserID": Source((Place("properties", "message-id", "prefixed identifier"),)),
    "AMQAddress": _CLIENT["JMSDestination"],
}
ANNOTATION = "m."  # Artemis: the name of a message annotation follows
_RABBITMQ = {
    name: _FIELDS[field.replace("_", "-")]
    for section, fields in SECTION_FIELDS.items()
    for field in fields
    for name in spellings(f"{section}.{field}", "sections")
}
# The names of the scope sys count in any case.
_AZURE = {
    own.casefold(): Source((_CLIENT[header].places[0]._replace(conversion="as typed"),))
    for header, own in HEADER_NAMES["AZURE_SERVICE_BUS"].items()
}


def name_of(place: Place) -> str:
    """Return a name of what stands in a place."""
    is_field = place.field in _FIELDS
    return f"{FIELD}{place.field.replace('-', '_')}" if is_field else f"{ANNOTATION}{place.field}"


NAMINGS = ("mqi", "jms", "any", "sections", "folded")
INSPECTED = (*_CLIENT, *map(name_of, (source.places[0] for source in _FIELDS.values())))  # the names of what is no map


def source(name: str, naming: str | None = None) -> Source:
    """Return where a property is read.

    Args:
        name: the property, as a selector names it.
        naming: the ``naming`` of that selector; None for the names of all products.
    """
    own = spellings(name, naming or "mqi")[0]
    if naming in (None, "sections") and own in _RABBITMQ:
        return _RABBITMQ[own]
    if naming in (None, "folded") and own.casefold() in _AZURE:
        return _AZURE[own.casefold()]
    if naming not in ("sections", "folded"):
        for table in (_CLIENT, _QPID, _ARTEMIS):
            if own in table:
                return table[own]
        if own.startswith(ANNOTATION):
            return Source((Place("message-annotations", own.removeprefix(ANNOTATION)),))
    return Source((Place("application-properties", own),))


# ---- values that few messages have -------------------------------------------------------------------------------

# apache/qpid-jms, AmqpMessageIdHelper.
_ENCODINGS = tuple(f"ID:AMQP_{kind}:" for kind in ("BINARY", "UUID", "ULONG", "STRING", "NO_PREFIX"))


def identifier(value: str | bytes | int | UUID, conversion: str) -> str:
    """Return an identifier as the text that it is to selectors."""
    if isinstance(value, str):
        if not value.startswith("ID:"):
            return {"message identifier": "ID:AMQP_NO_PREFIX:", "prefixed identifier": "ID:"}.get(
                conversion, ""
            ) + value
        is_taken = conversion != "prefixed identifier" and value.startswith(_ENCODINGS)
        return f"ID:AMQP_STRING:{value}" if is_taken else value
    if conversion == "prefixed identifier":  # proton-j, Binary.toString
        text = value if not isinstance(value, bytes) else "".join(_escaped(byte) for byte in value)
        return f"ID:{text}"
    if isinstance(value, bytes):
        return f"ID:AMQP_BINARY:{value.hex().upper()}"
    return f"ID:AMQP_{'UUID' if isinstance(value, UUID) else 'ULONG'}:{value}"


def _escaped(byte: int) -> str:
    return chr(byte) if 31 < byte < 127 and byte != 0x5C else f"\\x{byte:02x}"


# Of decimals by their length: bits of the exponent, and what it is too high by. AMQP 1.0, §1.6.13: IEEE 754-2008,
# binary integer decimal encoding.
_DECIMALS = {4: (8, 101), 8: (10, 398), 16: (14, 6176)}


def decimal(data: bytes) -> float:
    """Return the double that is nearest to a decimal."""
    width, bias = _DECIMALS[len(data)]
    number = int.from_bytes(data, "big")
    size = 8 * len(data) - 1 - width
    sign = -1.0 if data[0] & 0x80 else 1.0
    special = data[0] >> 2 & 0x1F
    if special >= 30:
        return sign * float("inf") if special == 30 else float("nan")
    if special >= 24:
        size -= 2
        coefficient = (4 << size) + (number & (1 << size) - 1)
    else:
        coefficient = number & (1 << size) - 1
    exponent = number >> size & (1 << width) - 1
    if coefficient >= 10 ** {4: 7, 8: 16, 16: 34}[len(data)]:  # not canonical: zero
        coefficient = 0
    return sign * float(f"{coefficient}E{exponent - bias}")


# ---- what is wrong -----------------------------------------------------------------------------------------------

MAX_DEPTH = 100  # of values in each other

# What is skipped, in the order in which `_amqp.pyx` numbers it: (key, words).
NOTES = (
    ("none", ""),
    ("nested", "a list, map, array or described value: no property can be that"),
    ("encoding", "the value is not in its character set: UTF-8, of a symbol ASCII"),
    ("malformed", "the value does not fit its type"),
    ("ulong", "the value is beyond int64: a selector that reads it gets an error"),
    ("key", "the key is no text in UTF-8: the entry is no property"),
    ("duplicate", "the key is there twice: the last one counts"),
    ("header", "the name is that of a header, whose value counts"),
)

# What makes bytes no message, in the order in which `_amqp.pyx` numbers it.
ERRORS = (
    "",
    "the value at byte {at} is cut off: expected {detail} more of its bytes",
    "byte {at} is 0x{detail:02X}: expected the code of a type",
    "the value at byte {at} does not end with the last of its {detail} elements",
    "the map at byte {at} has {detail} elements: expected pairs",
    "the value at byte {at} stands in {detail} others: no more are read",
    "byte {at} is 0x{detail:02X}: expected 0x00, with which a section begins",
    "the descriptor at byte {at} is none of a section",
    "{section} stands behind {before}: expected each section once, in the order of the specification",
    "byte {at} is 0x{detail:02X}: expected a value as this section has",
    "byte {at} is 0x{detail:02X}: expected the code of a type that this field may have",
    "the ulong at byte {at} is {detail}: no property can hold it",
    "the message is empty: expected a section",
)


def failure(number: int, section: str, start: int, at: int, detail: int) -> DecodeError:
    """Return the error of bytes that are no message.

    Args:
        number: the row of `ERRORS`.
        section, start: at fault, and where it begins; "message" where no section does. Of a ulong its own place.
        at: the byte at which that shows.
        detail: what the row shows beside it; of sections in disorder both their places, 4 bits each.
    """
    if ERRORS[number].startswith("{section}"):
        message = ERRORS[number].format(section=SECTIONS[detail & 15].name, before=SECTIONS[detail >> 4].name)
    else:
        message = ERRORS[number].format(at=at, detail=detail)
    hint = "the message was cut off, or a length in it is wrong" if number == 1 else None
    return DecodeError(message, structure=section, offset=start, hint=hint)
