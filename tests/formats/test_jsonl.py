"""JSON lines read into a record: alike by every way, and only what is wanted."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pytest
from fuzz import fuzz_json

import mqsel
from mqsel import formats
from mqsel.errors import PropertyTypeError
from mqsel.formats import records
from mqsel.formats._json import JSONDecoder
from mqsel.formats._records import RecordDecoder
from mqsel.values import Float32, Int8, Int16, Int32


@pytest.mark.parametrize("seed", range(8))
def test_lines_are_read_as_python_reads_them(seed: int) -> None:
    """Invariant: any bytes in a line are read as Python's json reads them; a short run of the fuzzer."""
    for number in range(40):
        fuzz_json.check(random.Random(f"{seed} {number}"))


# Lines that are common enough that none of them may fall back to the slow reader.
QUICK: list[tuple[str, Any]] = [
    ('{"p": 5}', 5),
    ('  {"p":5,"q":[1,{"r":[]}]}  ', 5),
    ('{"q": {"s": {}, "t": ["x", null, -1.5e+3, true, false]}, "p": "x"}\r', "x"),
    ('{"p": {"int32": 5}}', Int32(5)),
    ('{"p": { "bytes" : "0A1b" } }', b"\x0a\x1b"),
    ('{"p": {"string": "gr\\u00fcn"}}', "grün"),
    ('{"p": "\\ud83d\\ude00 \\"q\\"\\n"}', '\U0001f600 "q"\n'),
    ('{"p": "日本語"}', "日本語"),
    ('{"\\u0070": null, "p": true}', True),
    ('{"p": 1, "p": 2}', 2),
    ('{"p": -9223372036854775808}', -(2**63)),
    ('{"p": 0.1}', 0.1),
    ('{"p": 123456789.123456789e-12}', 123456789.123456789e-12),
    ('{"p": {"float32": 0.1}}', Float32(0.1)),
    ('{"p": {"null": null}}', None),
    ('{"p": -Infinity}', float("-inf")),
    ("{}", None),
]


@pytest.mark.parametrize(("line", "value"), QUICK, ids=[line for line, _ in QUICK])
def test_what_is_common_is_read_into_the_record(line: str, value: Any) -> None:
    """A line without anything rare fills the record, given as a text or as bytes."""
    decoder = JSONDecoder(["p"])

    for one in (line, line.encode()):
        found = decoder(one)
        assert found is decoder.record
        assert (found["p"], type(found["p"])) == (value, type(value))


def test_keys_that_change() -> None:
    """Lines with other keys than those before are read rightly, and so are the ones that follow."""
    decoder = JSONDecoder(["a", "b"])
    shapes = ['{"a":1,"x":0,"b":2}', '{"b": 2, "a": 1}', '{"y":{},"a":  1 , "z":3,"b":2}', '{"b":2}', '{"x":"","a":1}']
    for _ in range(30):
        for line in shapes * 20:
            record = decoder(line)
            assert (record["a"], record["b"]) == (1 if '"a"' in line else None, 2 if '"b"' in line else None)


@pytest.mark.parametrize("dialect", ["IBM_MQ", "JMS"])
def test_the_other_spelling_is_the_dialects(dialect: str) -> None:
    """usr.x is x where the dialect says so; a line that has it is given as a dict, which the machine looks it up in."""
    lines = [b'{"usr.x": 1}', b'{"x": 1}', b'{"x": null, "usr.x": 1}', b'{"usr.x": 1, "x": 2}']
    found = [*mqsel.compile("x = 1", dialect=dialect).filter(lines, format="json")]

    assert found == (lines[:2] if dialect == "IBM_MQ" else lines[1:2])
    both = JSONDecoder(["x", "usr.x"])
    assert [both(line) for line in lines[:2]] == [{"usr.x": 1}, {"x": 1}]


@pytest.mark.parametrize("dialect", ["IBM_MQ", "QPID_CPP"])
def test_the_other_spelling_is_the_dialects_in_other_formats(dialect: str) -> None:
    """usr.x reads the property x of a record, or of an export, only where the dialect says that it is x."""
    of_artemis = '<message><properties><property name="{}" value="1" type="integer"/></properties></message>'
    wanted = [dialect == "IBM_MQ", dialect != "IBM_MQ"]
    for format, text in (("artemis", of_artemis), ("lenses", '{{"properties": {{"{}": "1"}}}}')):  # noqa: A001
        options = {"types": {"usr.x": "int32"}} if format == "lenses" else {}
        texts = [text.format(name).encode() for name in ("x", "usr.x")]
        found = list(mqsel.compile("usr.x = 1", dialect=dialect).filter(texts, format=format, **options))
        assert [one in found for one in texts] == wanted


@pytest.mark.parametrize("line", [5, None, bytearray(b"{"), [], b"{", "\ud800", b"\xff", memoryview(b"[]")])
def test_what_is_no_line(line: Any) -> None:
    """Anything but a line of JSON is one error."""
    with pytest.raises(PropertyTypeError):
        [*mqsel.compile("x = 1").filter([line], format="json")]


def test_a_decoder_travels() -> None:
    """A decoder of JSON is pickled as the names it reads; a name may be half of a pair of surrogates."""
    decoder = pickle.loads(pickle.dumps(formats.decoder("json", ("a", "\ud800"))))

    assert decoder(b'{"a": 1}')["a"] == 1
    assert decoder(b'{"\\ud800": 2}')["\ud800"] == 2


# A record of each layout of which two properties are read, and their values.
RECORDS: list[tuple[str, dict[str, str], str, tuple[Any, Any]]] = [
    (
        "connect",
        {},
        '{"priority": 4, "destination": null, "properties": {"p": {"propertyType": "integer", "integer": 5}}}',
        (Int32(5), Int32(4)),
    ),
    ("connect", {}, '{"schema": {}, "payload": {"priority": 9, "properties": {}}}', (None, Int32(9))),
    ("lenses", {"p": "float32"}, '{"priority": "3", "properties": {"p": "0.1"}}', (Float32(0.1), Int32(3))),
    ("nifi", {}, '{"jms_priority": "4", "p": "5", "p.type": "short", "uuid": "x"}', (Int16(5), Int32(4))),
    ("nifi", {}, '{"jms_priority": "null", "p": "5"}', ("5", None)),
    ("pulsar", {}, '{"properties": {"p": "true", "p_jsmtype": "boolean"}}', (True, None)),
    (
        "connect-ibm",
        {"p": "int8"},
        '{"headers": [{"key": "p", "value": "1"}, {"key": "p", "value": "-7"}]}',
        (Int8(-7), None),
    ),
    ("connect-ibm", {}, '{"headers": {"JMS_IBM_MQMD_Priority": "7", "p": "gr\\u00fcn"}}', ("grün", Int32(7))),
]


@pytest.mark.parametrize(
    ("schema", "types", "line", "values"), RECORDS, ids=[f"{row[0]}-{row[2][:30]}" for row in RECORDS]
)
def test_records_that_are_common_are_read_into_the_record(
    schema: str, types: dict[str, str], line: str, values: tuple[Any, Any]
) -> None:
    """A record without anything rare fills the record of the matcher, as RecordReader reads it."""
    names = ("p", "JMSPriority")
    read = RecordDecoder(names, records.reader(schema, names, types))
    found = read(line.encode())

    assert found is read.record
    assert [(one, type(one)) for one in found.as_tuple()] == [(one, type(one)) for one in values]
    slow = records.reader(schema, names, types)(json.loads(line))
    assert [slow.get(name) for name in names] == [*values]


def test_properties_that_one_member_has() -> None:
    """Properties that are read from the same member are both read."""
    line = b'{"headers": {"JMS_IBM_MQMD_MsgId": "ID:0a"}}'
    names = ("JMSMessageID", "Root.MQMD.MsgId")

    found = RecordDecoder(names, records.reader("connect-ibm", names))(line)
    assert (found["JMSMessageID"], found["Root.MQMD.MsgId"]) == ("ID:0a", b"\x0a")


def test_values_with_their_types_are_json():
    """A dict that names the type of a value, where Python's own is expected, has a hint to what reads it."""
    matcher = mqsel.compile("weight > 2500")
    hint = 'values with their types are JSON: pass its text to filter(texts, format="json"), or plain values'
    for call in (
        lambda value: matcher.matches({"weight": value}),
        lambda value: matcher.evaluate({"weight": value}),
        lambda value: matcher.explain({"weight": value}),
        lambda value: list(matcher.filter([{"weight": value}])),
        lambda value: mqsel.SelectorSet({"a": "weight > 2500"}).match({"weight": value}),
    ):
        with pytest.raises(PropertyTypeError) as caught:
            call({"int32": 3000})
        assert caught.value.hint == hint
        with pytest.raises(PropertyTypeError) as caught:
            call({"kilograms": 3000})
        assert "format=" not in str(caught.value.hint)
    assert list(matcher.filter(['{"weight": {"int32": 3000}}'], format="json")) == ['{"weight": {"int32": 3000}}']
