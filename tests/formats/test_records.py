"""Records of other people's tools: the tables of their schemas and the one walk over them.

Vectors, `vectors/formats/records.jsonl`, one object on a line: `id`; `source`; `schema`, a name in SCHEMAS; `record`,
as from JSON; optional `names` that are read and `types` that are declared; then `want`, for each name [type, value]
with bytes in hexadecimal digits, and `unread` where texts did not parse, or `error` {name, message}; optional `note`.
"""

import json
import pickle

import pytest
from conftest import VECTORS_ROOT, json_lines

import mqsel
from mqsel.errors import ArgumentError, PropertyTypeError
from mqsel.formats import records
from mqsel.values import CLASS_NAMES, TYPE_NAMES, Float32, Int32

VECTORS = json_lines(VECTORS_ROOT / "formats" / "records.jsonl")
GOOD = [vector for vector in VECTORS if "want" in vector]

CONNECT = {
    "messageID": "ID:1",
    "deliveryMode": 2,
    "destination": {"destinationType": "queue", "name": "Q"},
    "type": None,
    "priority": 4,
    "properties": {
        "weight": {"propertyType": "integer", "integer": 3000, "float": None},
        "ratio": {"propertyType": "float", "integer": None, "float": 0.1},
        "gone": {"propertyType": "null-value", "integer": None, "float": None},
    },
}


def typed(message):
    """Return what vectors want of a message."""
    return {name: [CLASS_NAMES[type(value)], written(value)] for name, value in message.items()}


def written(value):
    """Spell a value as the vectors do."""
    if isinstance(value, bytes):
        return value.hex()
    return "Infinity" if value == float("inf") else value


def test_vectors_are_well_formed():
    """Every vector has the documented keys and an id of its own."""
    keys = {"id", "source", "schema", "record", "names", "types", "want", "unread", "error", "note"}
    assert len({vector["id"] for vector in VECTORS}) == len(VECTORS)
    for vector in VECTORS:
        assert set(vector) <= keys, vector["id"]
        assert vector["schema"] in records.SCHEMAS
        assert ("want" in vector) is not ("error" in vector), vector["id"]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vector(vector):
    """A record becomes the typed properties, or the error, that its schema's documents say."""
    reader = records.reader(vector["schema"], vector.get("names"), vector.get("types"))
    if "error" in vector:
        with pytest.raises(PropertyTypeError) as caught:
            reader(vector["record"])
        assert {"name": caught.value.name, "message": caught.value.message} == vector["error"]
        return
    assert typed(reader(vector["record"])) == vector["want"]
    assert {name: count for name, count in reader.unread.items() if count} == vector.get("unread", {})


@pytest.mark.parametrize("vector", GOOD, ids=[vector["id"] for vector in GOOD])
def test_names_restrict(vector):
    """Reading some names gives what reading all gives of them, but for those that are NULL anyway."""
    types = vector.get("types")
    message = records.reader(vector["schema"], vector.get("names"), types)(vector["record"])
    for name, value in message.items():
        alone = records.reader(vector["schema"], [name], types)(vector["record"]).get(name)
        assert (alone, type(alone)) == (value, type(value))


def test_every_type_is_reached():
    """The vectors reach every type of property and every schema."""
    kinds = {kind for vector in GOOD for kind, _ in vector["want"].values()}
    assert kinds == set(TYPE_NAMES) == set(CLASS_NAMES.values())
    assert {vector["schema"] for vector in VECTORS} == set(records.SCHEMAS)


def test_tables_name_types():
    """In every table names are there once, types are types, and words stand for numbers."""
    for schema in records.SCHEMAS.values():
        names = [header.name for header in schema.headers]
        assert len(set(names)) == len(names)
        assert {header.type for header in schema.headers} <= set(TYPE_NAMES)
        assert all(header.type == "int32" for header in schema.headers if header.words)
        assert all(all(header.path) and header.path for header in schema.headers)
        assert {kind for kind, _ in schema.members.tags.values()} <= set(TYPE_NAMES)


def test_every_record_is_a_message_or_an_error():
    """Whatever JSON a record is: it becomes a message or raises PropertyTypeError, and nothing else happens."""
    values = [None, True, 5, 2.5, "x", [], {}, [1], [[1, 2]], [["p", 1]], {"p": []}, {"p": {"propertyType": []}}, [{}]]
    values += [{"propertyType": "integer", "integer": value} for value in ({}, [], {"int": []})]
    values += [{"p": value} for value in values]
    keys = ["properties", "headers", "deliveryMode", "mode", "jms_priority", "destination", "p", "p.type", "type"]
    for schema in records.SCHEMAS:
        for names in (None, ["p", "JMSPriority", "JMSDestination"]):
            for record in [
                *values,
                *({key: value, "properties": {}, "headers": []} for key in keys for value in values),
            ]:
                for types in ({}, {"p": "int8", "JMSPriority": "string"}):
                    try:
                        assert type(records.reader(schema, names, types)(record)) is dict
                    except PropertyTypeError as error:
                        assert str(error)


def test_reader_travels():
    """A reader survives pickling, with its names and types and without its counts."""
    reader = records.reader("lenses", ["weight"], {"usr.weight": "int32"})
    reader({"properties": {"weight": "x"}})
    again = pickle.loads(pickle.dumps(reader))
    assert again({"properties": {"weight": "5"}, "priority": 4}) == {"weight": 5}
    assert not any(again.unread.values())


def test_matcher_selects_records():
    """What a reader gives is a message: the widths of its numbers and its words reach the selector."""
    reader = records.reader("connect")
    matcher = mqsel.compile("weight + 2147480647 = -2147483649 + 2147483646 OR JMSDeliveryMode = 'PERSISTENT'")
    assert matcher.matches(reader(CONNECT))
    assert type(reader(CONNECT)["weight"]) is Int32
    assert type(reader(CONNECT)["ratio"]) is Float32


def test_filter_takes_records():
    """`Matcher.filter` reads records by the name of their schema, with declared types, and JSON texts."""
    broken = {"properties": 5}
    selection = mqsel.compile("weight = 3000").filter([CONNECT, broken, CONNECT], format="connect", errors="skip")
    assert (list(selection), selection.skipped) == ([CONNECT, CONNECT], 1)
    with pytest.raises(PropertyTypeError, match=r"\[record 1\]"):
        list(mqsel.compile("weight = 3000").filter([CONNECT, broken], format="connect"))
    lenses = [{"properties": {"weight": text}} for text in ("3000", "1", "x")]
    matcher = mqsel.compile("usr.weight > 5")
    assert list(matcher.filter(lenses, format="lenses", types={"weight": "int32"})) == lenses[:1]
    assert list(matcher.filter(lenses, format="lenses")) == []
    texts = ['{"usr.weight": {"int8": 6}}', b'{"usr.weight": 5}', '{"usr.weight": "6"}']
    assert list(matcher.filter(texts, format="json")) == texts[:1]
    with pytest.raises(ArgumentError, match="does not take these options: types"):
        matcher.filter(texts, format="json", types={})


def test_rows():
    """A Spark Row with Rows and maps inside reads as the dict does."""
    row = pytest.importorskip("pyspark.sql").Row
    properties = {name: row(**value) for name, value in CONNECT["properties"].items()}
    record = row(**{**CONNECT, "destination": row(**CONNECT["destination"]), "properties": properties})
    assert records.reader("connect")(record) == records.reader("connect")(CONNECT)
    assert records.reader("connect", ["weight", "JMSDestination", "x"])(record) == {
        "JMSDestination": "Q",
        "weight": 3000,
    }
    headers = [row(key="color", value=bytearray(b"blue")), row(key="bad", value=bytearray(b"\xff"))]
    reader = records.reader("connect-ibm")
    assert reader(row(headers=headers)) == {"color": "blue", "bad": None}
    assert reader.unread == {"bad": 1}


def test_arrow():
    """A struct of Arrow with a map inside reads as the dict does."""
    pa = pytest.importorskip("pyarrow")
    value = pa.struct([("propertyType", pa.string()), ("integer", pa.int32()), ("float", pa.float32())])
    fields = [("type", pa.string()), ("priority", pa.int32()), ("properties", pa.map_(pa.string(), value))]
    record = {name: CONNECT[name] for name, _ in fields}
    array = pa.array([{**record, "properties": list(record["properties"].items())}], pa.struct(fields))
    assert records.reader("connect")(array[0].as_py()) == records.reader("connect")(record)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("avro",), "there is no record schema 'avro': choose connect, connect-ibm, lenses, nifi, pulsar"),
        ((5,), "there is no record schema '5': choose connect"),
        (("lenses", None, {"p": "int"}), "'p' is declared 'int': there is no such type"),
        (("lenses", None, {"p": []}), "'p' is declared \\[\\]: there is no such type"),
        (("lenses", None, ["p"]), "types is \\['p'\\]: expected a mapping"),
        (("lenses", 5), "found 5: expected names of properties"),
    ],
)
def test_bad_arguments(arguments, text):
    """A schema or a type that is not there is named."""
    with pytest.raises(ArgumentError, match=text):
        records.reader(*arguments)


def test_envelope_needs_all_of_it():
    """A record that happens to have a member called payload is no envelope."""
    assert records.reader("lenses")({"payload": 1, "properties": {"p": "x"}}) == {"p": "x"}
    assert json.loads(json.dumps(records.reader("lenses")({"schema": 1, "payload": {"properties": {}}}))) == {}
