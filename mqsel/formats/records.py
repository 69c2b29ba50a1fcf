"""Records that other tools write of messages: one table for each schema, and one reader for all of them.

A `RecordSchema` is the table of where a record keeps the JMS headers and the properties that senders named, and of
which member of a value names its type. Here the table is followed through dicts, on Spark through columns. Knows no
selectors. Follows formats §9; its §10 says what was decided.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from mqsel.arguments import iterated
from mqsel.carets import shortened
from mqsel.errors import ArgumentError
from mqsel.formats.inspection import Inspection, Row
from mqsel.formats.jms import DELIVERY_MODES, PERSISTENCE
from mqsel.formats.jsonl import object_from_json
from mqsel.formats.mqrfh2 import Note
from mqsel.formats.wordings import bad_member, no_pair, no_record, unknown_schema, unknown_tag, unknown_type
from mqsel.names import DESCRIPTOR, HEADER_NAMES, JMS_DESCRIPTOR, MQMD_TYPES, spellings
from mqsel.values import CLASS_NAMES, JAVA_WORDS, TYPE_NAMES, TYPES

Path = tuple[str, ...]


class Header(NamedTuple):
    """A property whose name the specification gives, and where a record has it.

    Attributes:
        name: the property.
        path: members to follow from the record; empty steps do not occur.
        type: a name of `mqsel.values.TYPE_NAMES`.
        words: for a number that selectors know by a word, the words; the property is then a string.
    """

    name: str
    path: Path
    type: str
    words: Mapping[int, str] | None = None


class Members(NamedTuple):
    """Where a record keeps the properties that senders named.

    Attributes:
        path: members to follow from the record; empty where the record itself is what holds them.
        is_pairs: a sequence of pairs (key, value), of which the last with a name counts, instead of a map.
        tag: the member of a value that names its type, or None where values are plain.
        tags: for each name that may stand there the type, and the member that has the value; None where it has none.
        type_suffix: what the name of a property and this make together names its type, or None.
        maps: members of the record of which each has the properties of one type, by name; `tags` has the types.
        is_optional: a record without any may lack what holds them.
        values: the classes of values, where these are plain; by others records are not recognised.
        has_octets: a text is an object: the numbers of its bytes, as UTF-8, are the member bytes.
    """

    path: Path
    is_pairs: bool = False
    tag: str | None = None
    tags: Mapping[str, tuple[str, str | None]] = {}
    type_suffix: str | None = None
    maps: tuple[str, ...] = ()
    is_optional: bool = False
    values: tuple[type, ...] = (str, bytes)
    has_octets: bool = False


class RecordSchema(NamedTuple):
    """How one tool lays out a message.

    Attributes:
        name: what the command line calls it.
        title: what people call it.
        headers: the properties with names of the specification.
        members: the others.
        has_types: property values keep their types; otherwise they are texts and `types` must declare them.
        null: the text that stands for a value that is not there, or None.
        envelope: members of which all stand around a record that is wrapped once more; the last one has the record.
        bytes_as: how a text spells bytes: base64 or hex (with or without ID: in front).
        source: who says so.
        besides: members of a record beside those with headers and properties; where these stand among the members
            themselves, anything.
        signs: members that every record has, and messages of other making do not have together.
        marks: how names of properties begin that no records of other tools have.
        is_signed: every record has its signs, so that one without them is none of these.
    """

    name: str
    title: str
    headers: tuple[Header, ...]
    members: Members
    has_types: bool
    source: str
    null: str | None = None
    envelope: tuple[str, ...] = ()
    bytes_as: str = "hex"
    besides: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    is_signed: bool = False


_CONNECT_TYPES = ("boolean", "byte", "short", "integer", "long", "float", "double", "string", "bytes")
CONNECT = RecordSchema(
    name="connect",
    title="io.confluent.connect.jms.Value",
    source="formats §9: connect; oracle/okafka, TEQConsumer.java, quotes the widths of the numbers",
    has_types=True,
    envelope=("schema", "payload"),  # the JSON converter with its schemas enabled
    bytes_as="base64",
    besides=("messageType", "bytes", "map", "text"),
    signs=("messageID", "messageType", "deliveryMode"),
    headers=(
        Header("JMSMessageID", ("messageID",), "string"),
        Header("JMSTimestamp", ("timestamp",), "int64"),
        Header("JMSDeliveryMode", ("deliveryMode",), "int32", DELIVERY_MODES),
        Header("JMSCorrelationID", ("correlationID",), "string"),
        Header("JMSReplyTo", ("replyTo", "name"), "string"),
        Header("JMSDestination", ("destination", "name"), "string"),
        Header("JMSRedelivered", ("redelivered",), "boolean"),
        Header("JMSType", ("type",), "string"),
        Header("JMSExpiration", ("expiration",), "int64"),
        Header("JMSPriority", ("priority",), "int32"),
    ),
    members=Members(
        ("properties",),
        tag="propertyType",
        tags={
            **{word: (JAVA_WORDS[word], word) for word in _CONNECT_TYPES},
            "null-value": ("null", None),
        },
    ),
)

CONNECT_IBM = RecordSchema(
    name="connect-ibm",
    title="headers of IBM kafka-connect-mq-source",
    source="formats §9: connect-ibm; JMS headers are not copied, fields of the MQMD are with mq.message.mqmd.read=true",
    has_types=False,
    besides=("key", "value", "payload", "topic", "partition", "offset", "timestamp", "timestampType"),  # Kafka's
    marks=("JMS_IBM_", "JMSX"),
    headers=(
        Header("JMSMessageID", ("headers", f"{JMS_DESCRIPTOR}MsgId"), "string"),
        Header("JMSCorrelationID", ("headers", f"{JMS_DESCRIPTOR}CorrelId"), "string"),
        Header("JMSPriority", ("headers", f"{JMS_DESCRIPTOR}Priority"), "int32"),
        Header("JMSDeliveryMode", ("headers", f"{JMS_DESCRIPTOR}Persistence"), "int32", PERSISTENCE),
        *(
            Header(f"{prefix}{name}", ("headers", f"{JMS_DESCRIPTOR}{name}"), texts.get(declared, declared))
            for prefix, texts in ((DESCRIPTOR, {}), (JMS_DESCRIPTOR, {"bytes": "string"}))
            for name, declared in MQMD_TYPES.items()
        ),
    ),
    members=Members(("headers",), is_pairs=True),
)

LENSES = RecordSchema(
    name="lenses",
    title="io.lenses.streamreactor.connect.jms",
    source="formats §9: lenses; no expiration, and every property a text",
    has_types=False,
    envelope=("schema", "payload"),
    besides=("bytes_payload",),
    signs=("message_id", "message_timestamp", "mode"),
    headers=(
        Header("JMSTimestamp", ("message_timestamp",), "int64"),
        Header("JMSCorrelationID", ("correlation_id",), "string"),
        Header("JMSRedelivered", ("redelivered",), "boolean"),
        Header("JMSReplyTo", ("reply_to",), "string"),
        Header("JMSDestination", ("destination",), "string"),
        Header("JMSMessageID", ("message_id",), "string"),
        Header("JMSDeliveryMode", ("mode",), "int32", DELIVERY_MODES),
        Header("JMSType", ("type",), "string"),
        Header("JMSPriority", ("priority",), "int32"),
    ),
    members=Members(("properties",)),
)

NIFI = RecordSchema(
    name="nifi",
    title="attributes of a NiFi FlowFile from ConsumeJMS",
    source="formats §9: nifi; the names are those of Spring's JmsHeaders, null is written as a text",
    has_types=False,
    null="null",
    signs=("jms_deliveryMode", "jms_expiration", "jms_priority", "jms_redelivered", "jms_timestamp"),
    headers=(
        Header("JMSDeliveryMode", ("jms_deliveryMode",), "int32", DELIVERY_MODES),
        Header("JMSExpiration", ("jms_expiration",), "int64"),
        Header("JMSPriority", ("jms_priority",), "int32"),
        Header("JMSRedelivered", ("jms_redelivered",), "boolean"),
        Header("JMSTimestamp", ("jms_timestamp",), "int64"),
        Header("JMSCorrelationID", ("jms_correlationId",), "string"),
        Header("JMSMessageID", ("jms_messageId",), "string"),
        Header("JMSType", ("jms_type",), "string"),
        Header("JMSReplyTo", ("jms_replyTo",), "string"),
        Header("JMSDestination", ("jms_destination",), "string"),
    ),
    members=Members((), type_suffix=".type"),
)

PULSAR = RecordSchema(
    name="pulsar",
    title="properties of Pulsar JMS",
    source="formats §9: pulsar; texts, each with a neighbour that names its type, its own properties without one (§10)",
    has_types=True,
    besides=("key", "value", "payload", "data", "topic", "topicName", "messageId", "publishTime", "eventTime"),
    headers=(),
    members=Members(("properties",), type_suffix="_jsmtype"),
)


def _with_names(product: str, *headers: Header) -> tuple[Header, ...]:
    """Return headers by their names in JMS, and by those that selectors of a product have for them."""
    names = HEADER_NAMES[product]
    others = (one._replace(name=names[one.name]) for one in headers if names[one.name] != one.name)
    return (*headers, *others)


# The maps of a dump, by the Java type of their values. Those of objects have bytes of Java, which no selector reads.
_DUMP_MAPS = {
    "stringProperties": "string",
    "intProperties": "int32",
    "longProperties": "int64",
    "doubleProperties": "float64",
    "boolProperties": "boolean",
    "floatProperties": "float32",
    "shortProperties": "int16",
    "byteProperties": "int8",
}
DUMP = RecordSchema(
    name="a",
    title="dumps of the tool a",
    source="formats §9: a; properties that are objects are left out",
    has_types=True,
    is_signed=True,
    signs=("stringProperties", "intProperties", "longProperties", "boolProperties"),
    headers=(
        Header("JMSMessageID", ("JMSMessageID",), "string"),
        Header("JMSCorrelationID", ("JMSCorrelationID",), "string"),
        Header("JMSType", ("JMSType",), "string"),
        Header("JMSDeliveryMode", ("JMSDeliveryMode",), "int32", DELIVERY_MODES),
        Header("JMSExpiration", ("JMSExpiration",), "int64"),
        Header("JMSPriority", ("JMSPriority",), "int32"),
        Header("JMSRedelivered", ("JMSRedelivered",), "boolean"),
        Header("JMSTimestamp", ("JMSTimestamp",), "int64"),
    ),
    members=Members(
        (),
        tag="type",
        tags={**{name: (kind, "value") for name, kind in _DUMP_MAPS.items()}, "null": ("null", None)},
        maps=tuple(_DUMP_MAPS),
    ),
)

SERVICE_BUS = RecordSchema(
    name="service-bus",
    title="messages that Service Bus Explorer saved",
    source="formats §9: service-bus",
    has_types=True,
    besides=(
        *("body", "deadLetterSource", "deliveryCount", "enqueuedSequenceNumber", "enqueuedTimeUtc", "expiresAtUtc"),
        *("forcePersistence", "isBodyConsumed", "lockedUntilUtc", "lockToken", "scheduledEnqueueTimeUtc", "size"),
        *("sequenceNumber", "state", "timeToLive", "viaPartitionKey"),
    ),
    is_signed=True,
    signs=("enqueuedTimeUtc", "expiresAtUtc", "lockToken", "sequenceNumber", "isBodyConsumed", "forcePersistence"),
    headers=(
        *_with_names(
            "AZURE_SERVICE_BUS",
            Header("JMSMessageID", ("messageId",), "string"),
            Header("JMSCorrelationID", ("correlationId",), "string"),
            Header("JMSType", ("label",), "string"),
            Header("JMSDestination", ("to",), "string"),
            Header("JMSReplyTo", ("replyTo",), "string"),
            Header("JMSXGroupID", ("sessionId",), "string"),
        ),
        Header("sys.ContentType", ("contentType",), "string"),
        Header("sys.ReplyToSessionId", ("replyToSessionId",), "string"),
        Header("sys.PartitionKey", ("partitionKey",), "string"),
    ),
    members=Members(("properties",), values=(str, bytes, bool, int, float)),
)

RABBITMQ = RecordSchema(
    name="rabbitmq",
    title="messages of RabbitMQ's management",
    source="formats §9: rabbitmq; times are in seconds there, and expirations texts: they are left out",
    has_types=True,
    besides=(
        *("payload", "payload_bytes", "payload_encoding", "redelivered", "exchange", "routing_key", "message_count"),
        "properties",
    ),
    is_signed=True,
    signs=("payload_encoding", "routing_key", "payload_bytes", "message_count"),
    headers=(
        *_with_names(
            "RABBITMQ",
            Header("JMSPriority", ("properties", "priority"), "int32"),
            Header("JMSMessageID", ("properties", "message_id"), "string"),
            Header("JMSCorrelationID", ("properties", "correlation_id"), "string"),
            Header("JMSReplyTo", ("properties", "reply_to"), "string"),
        ),
        Header("JMSType", ("properties", "type"), "string"),  # no part of p: mc_amqpl keeps it elsewhere
        Header("JMSDeliveryMode", ("properties", "delivery_mode"), "int32", DELIVERY_MODES),
        Header("JMSRedelivered", ("redelivered",), "boolean"),
    ),
    members=Members(("properties", "headers"), is_optional=True, values=(object,)),
)

AMAZON_MQ = RecordSchema(
    name="amazon-mq",
    title="events of Amazon MQ for ActiveMQ",
    source="formats §9: amazon-mq; every property a text, and so is a missing reply-to, which is left out",
    has_types=False,
    besides=("messageType", "replyTo", "data", "brokerInTime", "brokerOutTime"),
    is_signed=True,
    signs=("brokerInTime", "brokerOutTime", "messageID", "messageType"),
    headers=(
        Header("JMSMessageID", ("messageID",), "string"),
        Header("JMSTimestamp", ("timestamp",), "int64"),
        Header("JMSDeliveryMode", ("deliveryMode",), "int32", DELIVERY_MODES),
        Header("JMSCorrelationID", ("correlationID",), "string"),
        Header("JMSDestination", ("destination", "physicalName"), "string"),
        Header("JMSRedelivered", ("redelivered",), "boolean"),
        Header("JMSType", ("type",), "string"),
        Header("JMSExpiration", ("expiration",), "int64"),
        Header("JMSPriority", ("priority",), "int32"),
    ),
    members=Members(("properties",), is_optional=True),
)

AMAZON_RABBITMQ = RecordSchema(
    name="amazon-rabbitmq",
    title="events of Amazon MQ for RabbitMQ",
    source="formats §9: amazon-rabbitmq; what is left out of rabbitmq is left out here",
    has_types=True,
    besides=("basicProperties", "redelivered", "data"),
    is_signed=True,
    signs=("basicProperties", "redelivered", "data"),
    headers=(
        *_with_names(
            "RABBITMQ",
            Header("JMSPriority", ("basicProperties", "priority"), "int32"),
            Header("JMSMessageID", ("basicProperties", "messageId"), "string"),
            Header("JMSCorrelationID", ("basicProperties", "correlationId"), "string"),
            Header("JMSReplyTo", ("basicProperties", "replyTo"), "string"),
        ),
        Header("JMSType", ("basicProperties", "type"), "string"),
        Header("JMSDeliveryMode", ("basicProperties", "deliveryMode"), "int32", DELIVERY_MODES),
        Header("JMSRedelivered", ("redelivered",), "boolean"),
    ),
    members=Members(("basicProperties", "headers"), is_optional=True, values=(object,), has_octets=True),
)

SCHEMAS = {
    schema.name: schema
    for schema in (CONNECT, CONNECT_IBM, LENSES, NIFI, PULSAR, DUMP, SERVICE_BUS, RABBITMQ, AMAZON_MQ, AMAZON_RABBITMQ)
}

# Avro's JSON writes a value that may be null as {"string": "x"}. A map of properties is never taken for one: its only
# property may be called so.
AVRO = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}


# ---- values ------------------------------------------------------------------------------------------------------

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|NaN|[+-]?Infinity")


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}[value.lower()]


def _whole(value: Any) -> int:
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError


def _float(value: Any) -> float:
    if (isinstance(value, str) and _NUMBER.fullmatch(value)) or type(value) in (int, float):
        return float(value)
    raise ValueError


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError


def _bytes(value: Any, spelling: str) -> bytes:
    if isinstance(value, str):
        if spelling == "base64":
            import base64  # noqa: PLC0415 (few records have bytes)

            return base64.b64decode(value, validate=True)
        return bytes.fromhex(value.removeprefix("ID:"))
    data = bytes(memoryview(value))
    if spelling == "hex" and data.startswith(b"ID:"):  # the text, on the wire
        return bytes.fromhex(data[3:].decode("ascii"))
    return data


UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError)


def readers(spelling: str) -> dict[str, Callable[[Any], Any]]:
    """Return for each type what makes a value of it, or raises one of UNREADABLE."""
    kinds: dict[str, Callable[[Any], Any]] = {
        "null": lambda _: None,
        "boolean": _boolean,
        "bytes": lambda value: _bytes(value, spelling),
        "string": _string,
    }
    made = {row.name: kinds[row.kind] for row in TYPES if row.kind in kinds}
    made |= {row.name: partial(_exact, row.python, *row.range) for row in TYPES if row.kind == "exact"}
    made |= {row.name: partial(_approximate, row.python) for row in TYPES if row.kind == "approximate"}
    return made


def _exact(made: type, low: int, high: int, value: Any) -> Any:
    number = _whole(value)
    if not low <= number <= high:
        raise ValueError
    return made(number)


def _approximate(made: type, value: Any) -> Any:
    return made(_float(value))


# ---- the walk ----------------------------------------------------------------------------------------------------


def _names_of(value: Any) -> Iterable[str] | None:
    """Return the members of a dict or a Row, or None for what has none."""
    if isinstance(value, Mapping):
        return value.keys()
    return getattr(value, "__fields__", None)  # a Spark Row, without importing Spark


def _member(value: Any, name: str) -> Any:
    """Follow one step of a path: to a member of a dict or a Row, or the last of the pairs with that key."""
    if isinstance(value, Mapping):
        found = value.get(name)
    elif hasattr(value, "__fields__"):
        found = value[name] if name in value.__fields__ else None
    elif isinstance(value, (list, tuple)):
        found = None
        for key, one in _pairs(value):
            if key == name:
                found = one
    else:
        found = None
    return found


def bare(value: Any) -> Any:
    """Return a value that may be null without what Avro's JSON puts around it."""
    if type(value) is dict and len(value) == 1:
        ((branch, inner),) = value.items()
        if branch in AVRO or (isinstance(branch, str) and "." in branch and type(inner) is dict):
            return inner
    return value


def _pairs(value: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield keys and values of a map as Arrow has it, or of Kafka's headers."""
    for item in value:
        names = _names_of(item)
        if names is not None and "key" in names and "value" in names:
            pair = item["key"], item["value"]
        elif names is None and isinstance(item, (list, tuple)) and len(item) == 2:
            pair = item[0], item[1]
        else:
            raise no_pair(item)
        if not isinstance(pair[0], str):
            raise no_pair(item)
        yield pair


def items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and values of what holds properties.

    Raises: PropertyTypeError: something among pairs is none.
    """
    if isinstance(value, Mapping):
        yield from _pairs(list(value.items()))
    elif hasattr(value, "__fields__"):
        yield from zip(value.__fields__, value, strict=False)
    else:
        yield from _pairs(value)


def _of_maps(schema: RecordSchema, record: Any) -> dict[str, Any]:
    """Return the properties of maps of one type each, every value with the name of its map as a tag.

    Raises: PropertyTypeError: there is none of the maps, or one is something else.
    """
    members: dict[str, Any] = {}
    names = _names_of(record) or ()
    if not any(name in names for name in schema.members.maps):
        raise no_record(schema.title, f"no '{schema.members.maps[0]}' among {', '.join(map(repr, [*names][:5]))}")
    for name in schema.members.maps:
        held = _member(record, name)
        if held is None:
            continue
        if not isinstance(held, Mapping):
            raise no_record(schema.title, f"{name} is a Python {type(held).__qualname__}")
        for one, value in held.items():
            members[one] = {schema.members.tag: "null"} if value is None else {schema.members.tag: name, "value": value}
    return members


class RecordReader:
    """Turns records of one schema into messages: dicts of typed properties. Made by `reader`; may be pickled.

    Attributes:
        schema: the table it follows.
        types: the types that are declared, by the first spelling of a property.
        unread: for each property, how many values did not fit the type they should have, and became NULL.
        lost: for each of these, the value that was the last one.
    """

    def __init__(self, schema: RecordSchema, names: tuple[str, ...] | None, types: Mapping[str, str]) -> None:
        self.schema = schema
        self.unread: Counter[str] = Counter()
        self.lost: dict[str, Any] = {}
        self._names = names
        self.types = dict(types)
        self._prepare()

    def _prepare(self) -> None:
        schema = self.schema
        self._readers = readers(schema.bytes_as)
        self._headers = schema.headers
        self._own: tuple[str, ...] | None = None
        if self._names is not None:
            headers = {header.name: header for header in schema.headers}
            self._headers = tuple(headers[name] for name in self._names if name in headers)
            self._own = tuple(name for name in self._names if name not in headers)
        # Members that a header is read from are not properties of their own.
        depth = len(schema.members.path)
        self._used = {header.path[depth] for header in schema.headers if header.path[:depth] == schema.members.path}

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordReader, (self.schema, self._names, self.types)

    def __call__(self, record: Any) -> dict[str, Any]:
        """Read one record.

        Args:
            record: a mapping, or a Spark Row; what is inside may be mappings, Rows, or sequences of pairs.

        Raises: PropertyTypeError: no record of this schema, or a value that is not of the type it names.
        """
        record, members = self.opened(record)
        message: dict[str, Any] = {}
        for header in self._headers:
            value = record
            for step in header.path:
                value = bare(_member(value, step))
            if value is not None:
                message[header.name] = self._header(header, value)
        if self._own is not None:
            for name in self._own:
                value = _member(members, name)
                if value is not None:
                    message[name] = self._value(name, value, members)
            return message
        for name, value in items(members):
            if name not in self._used and not self.is_neighbour(name, value, members):
                message[name] = None if value is None else self._value(name, value, members)
        return message

    def is_neighbour(self, name: str, value: Any, members: Any) -> bool:
        """Report whether a member only names the type of another one."""
        suffix = self.schema.members.type_suffix
        if suffix is None or not name.endswith(suffix) or not isinstance(value, str) or value not in JAVA_WORDS:
            return False
        return _member(members, name.removesuffix(suffix)) is not None

    def opened(self, record: Any) -> tuple[Any, Any]:
        """Return a record without its envelope, and what holds its properties.

        Raises: PropertyTypeError: no record of this schema.
        """
        schema = self.schema
        names = _names_of(record)
        if names is not None and schema.envelope and set(schema.envelope) == set(names):
            record = record[schema.envelope[-1]]
            names = _names_of(record)
        if names is None:
            raise no_record(schema.title, f"a Python {type(record).__qualname__}")
        if schema.members.maps:
            return record, _of_maps(schema, record)
        members = record
        for step in schema.members.path:
            if step not in (_names_of(members) or ()):
                if schema.members.is_optional:
                    return record, {}
                raise no_record(schema.title, f"no '{step}' among {', '.join(map(repr, list(names)[:5])) or 'nothing'}")
            members = _member(members, step)
        if schema.members.tag is None and type(members) is dict and type(members.get("map")) is dict:
            members = members["map"]  # Avro's JSON: values are plain, so this one is no property
        if members is None:
            members = {}
        elif _names_of(members) is None and not isinstance(members, (list, tuple)):
            raise no_record(schema.title, f"{'.'.join(schema.members.path)} is a Python {type(members).__qualname__}")
        return record, members

    def _header(self, header: Header, value: Any) -> Any:
        declared = self.types.get(header.name)
        value = self._typed(header.name, declared or header.type, value)
        if header.words is None or declared is not None or value is None:
            return value
        return header.words[value] if value in header.words else self._lose(header.name, value)

    def _lose(self, name: str, value: Any) -> None:
        self.unread[name] += 1
        self.lost[name] = value

    def _value(self, name: str, value: Any, members: Any) -> Any:
        """Read the value of a property by what is declared, by what it says itself, or as it stands."""
        schema = self.schema.members
        type_name = self.types.get(name)
        if schema.tag is not None:
            said = _member(value, schema.tag)
            if not isinstance(said, str) or said not in schema.tags:
                raise unknown_tag(name, said, schema.tag, schema.tags)
            own, place = schema.tags[said]
            value = None if place is None else bare(_member(value, place))
            if value is None and place is not None:
                raise bad_member(name, own, value)
            type_name = type_name or own
        elif schema.has_octets and type(value) is dict and value.keys() == {"bytes"}:
            try:
                value = bytes(value["bytes"]).decode()
            except UNREADABLE:
                return self._lose(name, value)
        else:
            value = bare(value)
        if schema.type_suffix is not None and type_name is None:
            said = _member(members, name + schema.type_suffix)
            type_name = JAVA_WORDS.get(said) if isinstance(said, str) else None
            if type_name is None and said is not None and self.schema.has_types:  # else it is some other property
                raise unknown_tag(name, said, name + schema.type_suffix, JAVA_WORDS)
        return self._typed(name, type_name, value)

    def _typed(self, name: str, type_name: str | None, value: Any) -> Any:
        """Read a value as the type *type_name*, or as it stands where nothing says its type."""
        if not self.schema.has_types and isinstance(value, (bytes, bytearray, memoryview)) and type_name != "bytes":
            try:
                value = bytes(value).decode()
            except UnicodeDecodeError:
                return self._lose(name, value)
        if value is None or (isinstance(value, str) and value == self.schema.null):
            return None
        if type_name is None:
            return value
        try:
            return self._readers[type_name](value)
        except UNREADABLE:
            # A text may be anything: its type was lost at the source. Any other value breaks the schema.
            if isinstance(value, str) or name in self.types:
                return self._lose(name, value)
            raise bad_member(name, type_name, value) from None


def reader(
    schema: RecordSchema | str, names: Iterable[str] | None = None, types: Mapping[str, str] | None = None
) -> RecordReader:
    """Return a function that turns records into messages.

    Args:
        schema: a `RecordSchema`, or the name of one in `SCHEMAS`.
        names: the properties that will be read; None for all.
        types: for sources that lost them, the types of properties by name, as `mqsel.values.TYPE_NAMES` spells them. A
            value that does not fit is NULL, and counted in ``unread``.

    Raises: ArgumentError: a schema or a type that is not there.
    """
    if not isinstance(schema, RecordSchema):
        if not isinstance(schema, str) or schema not in SCHEMAS:
            raise unknown_schema(schema, SCHEMAS)
        schema = SCHEMAS[schema]
    declared = {one: kind for name, kind in declared_types(types).items() for one in spellings(name)}
    return RecordReader(schema, None if names is None else given_names(names), declared)


def declared_types(types: Any) -> dict[str, str]:
    """Return the types that are declared of properties.

    Raises: ArgumentError: these are none.
    """
    if types is not None and not (isinstance(types, Mapping) and all(isinstance(name, str) for name in types)):
        raise ArgumentError(f"types is {shortened(types)}: expected a mapping of names of properties to types")
    for name, kind in (types or {}).items():
        if not isinstance(kind, str) or kind not in TYPE_NAMES:
            raise unknown_type(name, kind, TYPE_NAMES)
    return dict(types or {})


def given_names(names: Any) -> tuple[str, ...]:
    """Return names of properties.

    Raises: ArgumentError: these are none.
    """
    if isinstance(names, str):
        raise ArgumentError(f"names is a sequence of strings, found one {type(names).__name__}")
    given = tuple(iterated(names, "names of properties"))
    for name in given:
        if not isinstance(name, str):
            raise ArgumentError(f"the name of a property is a string, found {type(name).__name__}")
    return given


def inspect_record(schema: RecordSchema, text: str | bytes, types: Mapping[str, str]) -> Inspection:
    """Return of every property of a record, in JSON, its type, value and place; of what could not be read, why.

    Raises: PropertyTypeError: no JSON, or no record of this schema. ArgumentError: a type that is not there.
    """
    read = reader(schema, types=types)
    paths = {header.name: header.path for header in schema.headers}
    rows, notes = [], []
    for name, value in read(object_from_json(text)).items():
        source = ".".join(paths.get(name) or (*schema.members.path, name))
        if read.unread[name]:
            found = f"{shortened(read.lost[name])} in {source} does not fit its type: NULL instead"
        elif type(value) in CLASS_NAMES:
            rows.append(Row(name, CLASS_NAMES[type(value)], value, source, -1))
            continue
        else:
            found = f"{shortened(value)} in {source} cannot be the value of a property"
        notes.append(Note("", -1, name, None, found))
    return Inspection(rows, tuple(notes), ())
