"""Records are known by what the rows of their tools say, and messages that happen to look like them are not."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from conftest import VECTORS_ROOT, json_lines

from mqsel.formats.envelopes import PLAIN, fitting, objects
from mqsel.formats.records import SCHEMAS

LENSES = {"message_timestamp": 5, "message_id": "m", "mode": 1, "priority": 9, "properties": {"p": "5"}}
NIFI = {f"jms_{name}": "1" for name in ("deliveryMode", "expiration", "priority", "redelivered", "timestamp")}
CONNECT = {"messageID": "ID:1", "messageType": "text", "deliveryMode": 2, "properties": {}}
TAGGED = {"properties": {"p": {"propertyType": "integer", "integer": 1}}}
PULSAR = {"properties": {"p": "1", "p_jsmtype": "int"}}
DUMP = {"stringProperties": {"p": "5"}, "intProperties": {}, "longProperties": {}, "boolProperties": {}, "body": "x"}
SERVICE_BUS = {
    "messageId": "m",
    "label": "car",
    "enqueuedTimeUtc": "2021-08-13T07:49:14Z",
    "lockToken": None,
    "sequenceNumber": 5,
    "isBodyConsumed": False,
    "properties": {"weight": 3000, "ok": True},
}
RABBITMQ = {
    **dict.fromkeys(("payload", "payload_bytes", "payload_encoding", "routing_key", "message_count"), 0),
    "properties": {"priority": 4, "headers": {"x-death": [{"count": 1}]}},
}
AMAZON_MQ = {
    **dict.fromkeys(("messageID", "messageType", "brokerInTime", "brokerOutTime"), "x"),
    "destination": {"physicalName": "q"},
    "properties": {"index": "1"},
}
AMAZON_RABBITMQ = {"basicProperties": {"headers": {"n": 5}, "bodySize": 1}, "redelivered": False, "data": "eA=="}
IBM = {"headers": {"JMS_IBM_Format": "MQSTR", "color": "blue"}, "value": "<order/>", "topic": "t"}
PAIRS = {"headers": [{"key": "color", "value": "blue"}], "value": "<order/>", "topic": "t", "partition": 0}

CERTAIN = [
    ("connect", [CONNECT]),
    ("connect", [TAGGED]),
    ("connect", [{"properties": {}}, TAGGED]),
    ("connect", [{"schema": {"type": "struct"}, "payload": CONNECT}]),
    ("connect", [{"schema": {"type": "struct"}, "payload": TAGGED}, TAGGED]),
    ("connect", [{"properties": [["p", {"propertyType": "integer", "integer": 1}]]}]),
    ("connect", [{"properties": [{"key": "p", "value": {"propertyType": "integer", "integer": 1}}]}]),
    ("connect", [{"properties": {"p": {"propertyType": "string", "string": "x"}, "q": {"propertyType": "nonsense"}}}]),
    ("connect-ibm", [IBM]),
    ("connect-ibm", [PAIRS]),
    ("connect-ibm", [{"headers": {"color": "blue"}}]),
    ("connect-ibm", [{"headers": []}, {"headers": [{"key": "color", "value": None}]}]),
    ("lenses", [LENSES]),
    ("lenses", [{**LENSES, "properties": None, "bytes_payload": "QUJD"}]),
    ("lenses", [{**LENSES, "mode": {"int": 1}, "properties": {"map": {"p": {"string": "5"}}}}]),
    ("lenses", [{"schema": {}, "payload": LENSES}]),
    ("nifi", [NIFI]),
    ("nifi", [{**NIFI, "color": "blue", "filename": "a", "jms_type": None}, {"color": "red"}]),
    ("pulsar", [PULSAR]),
    ("pulsar", [{"properties": {}}, PULSAR, {**PULSAR, "key": "k", "publishTime": 5}]),
    ("a", [DUMP, {**DUMP, "objectProperties": {}, "JMSType": None}]),
    ("service-bus", [SERVICE_BUS, {**SERVICE_BUS, "body": {"a": [1]}, "properties": {}}]),
    ("rabbitmq", [RABBITMQ, {**RABBITMQ, "properties": []}]),
    ("amazon-mq", [AMAZON_MQ, {**AMAZON_MQ, "properties": None}]),
    ("amazon-rabbitmq", [AMAZON_RABBITMQ, {**AMAZON_RABBITMQ, "basicProperties": {"headers": None}}]),
]

CHOICES = [
    (["lenses", "pulsar"], [{"properties": {"p": "5"}}]),
    (["lenses", "pulsar"], [{"properties": {"p": None}}, {"properties": {}}]),
    (["connect", "lenses"], [{"schema": {}, "payload": {"type": "car", "properties": {}}}]),
    (["connect", PLAIN], [{**TAGGED, "color": "blue"}]),
    (["connect", PLAIN], [CONNECT, {"color": "blue"}]),
    (["a", PLAIN], [DUMP, {"color": "blue"}]),
    (["rabbitmq", PLAIN], [{**RABBITMQ, "color": "blue"}]),
    (["pulsar", PLAIN], [{**PULSAR, "color": "blue"}]),
    (["nifi", PLAIN], [{**NIFI, "weight": 3000}]),
    (["connect-ibm", PLAIN], [{**IBM, "color": "blue"}]),
    (["lenses", "pulsar", PLAIN], [{**LENSES, **PULSAR, "color": "blue"}]),
]

PLAIN_MESSAGES = [
    {},
    {"color": "blue", "value": 5},
    {"color": "blue", "properties": {"p": "5"}},
    {"color": "blue", "properties": {}},
    {"color": "blue", "headers": {"p": "5"}},
    {"color": "blue", "headers": [{"key": "p", "value": "5"}]},
    {"method": "GET", "url": "http://host/", "headers": [{"key": "Accept", "value": "text/html"}]},
    {"headers": [{"name": "Accept", "value": "text/html"}]},
    {"headers": ["color", "blue"]},
    {"headers": "a,b,c", "value": "x"},
    {"headers": {"n": 5}},
    {"properties": "large"},
    {"properties": {"string": "large"}},
    {"properties": {"int32": 5}},
    {"properties": {}},
    {"properties": None},
    {"properties": []},
    {"properties": ["a", "b"]},
    {"properties": {"color": {"type": "string"}, "weight": {"type": "integer"}}},
    {"properties": {"propertyType": "house", "rooms": 5}},
    {"propertyType": "house", "string": "x"},
    {"schema": "s", "payload": "p"},
    {"schema": {"a": 1}, "payload": {"color": "blue"}},
    {"type": "Feature", "geometry": {"type": "Point"}, "properties": {"name": "Berlin"}},
    {"geometry": {"type": "Point"}, "properties": {"name": "Berlin"}},
    {"type": "car", "priority": 4, "destination": "Q", "properties": {"p": "5"}},
    {"message_id": "17", "mode": 2, "properties": {"unit": "C"}},
    {"message_id": "1", "correlation_id": "2", "reply_to": "q", "type": "t", "priority": 4, "properties": {"a": "b"}},
    {"header": {}, "properties": {"message_id": "1"}, "application_properties": {"color": "blue"}},
    {"messageID": "1", "properties": {"p": "5"}, "color": "blue"},
    {"messageId": "1", "messageType": "event", "timestamp": 5, "properties": {"plan": "pro"}, "userId": "u"},
    {"jms_priority": 4, "color": "blue"},
    {"jms_messageId": "ID:1", "jms_destination": "Q", "jms_correlationId": "c", "level": "INFO"},
    {"weight": "3000", "weight.type": "short"},
    {"weight": "3000", "weight_jsmtype": "short"},
    {"JMS_IBM_Format": "MQSTR", "JMSXUserID": "me"},
    {"key": "k", "value": "v", "topic": "t", "partition": 0, "offset": 5, "headers": None},
    {"key": "k", "value": "v", "topic": "t", "headers": []},
]


@pytest.mark.parametrize(("name", "found"), CERTAIN)
def test_records_that_are_known(name: str, found: list[dict[str, Any]]) -> None:
    """What only records of one tool have makes them known, alone and among others of them."""
    assert fitting(found) == [name]


@pytest.mark.parametrize(("names", "found"), CHOICES)
def test_records_that_several_formats_fit(names: list[str], found: list[dict[str, Any]]) -> None:
    """Where nothing decides between formats, all of them are listed for somebody to choose."""
    assert fitting(found) == names


@pytest.mark.parametrize("message", PLAIN_MESSAGES, ids=range(len(PLAIN_MESSAGES)))
def test_messages_that_look_like_records(message: dict[str, Any]) -> None:
    """A plain message is never taken for a record, whatever the names of its properties."""
    assert fitting([message]) == []
    assert fitting([message, {"color": "blue"}]) == []


def test_every_schema_is_known() -> None:
    """Each row of the table says what makes its records known, and of a record it names the right row."""
    assert {name for name, _ in CERTAIN} == set(SCHEMAS)
    for vector in json_lines(VECTORS_ROOT / "formats" / "records.jsonl"):
        if "want" in vector and fitting([vector["record"]]):
            assert vector["schema"] in fitting([vector["record"]]), vector["id"]


def test_lines_that_are_no_objects() -> None:
    """Broken, blank and cut lines do not count, and lines of which none can be a record are not read."""
    line = json.dumps(TAGGED).encode()
    text = b"\xef\xbb\xbf" + line + b'\r\n\n[1]\n"properties"\n' + line[:20] + b"\n" + line[5:] + b"\n" + line[:-1]
    assert objects(text) == [TAGGED]
    assert objects(b'{"color": "blue"}\n') == []


def test_any_objects() -> None:
    """Whatever objects there are, the answer is a list of formats: nothing of them breaks it."""
    source = random.Random(24)
    names = ["properties", "headers", "schema", "payload", "propertyType", "key", "value", "map", "p", "p_jsmtype"]
    names += [sign for row in SCHEMAS.values() for sign in row.signs]

    def value(depth: int) -> Any:
        kind = source.randrange(9 if depth else 6)
        if kind > 6:
            return {source.choice(names): value(depth - 1) for _ in range(source.randrange(4))}
        if kind == 6:
            return [value(depth - 1) for _ in range(source.randrange(3))]
        return (None, True, 5, 0.5, "integer", "blue")[kind]

    for _ in range(5000):
        found = [{source.choice(names): value(4) for _ in range(5)} for _ in range(source.randrange(1, 3))]
        assert set(fitting(found)) <= {*SCHEMAS, PLAIN}
