"""Messages of JMS: types, conversions, names, header fields, and what a receiver may do (selection §6)."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from conftest import message_of

import mqsel
from mqsel.errors import ArgumentError, DecodeError, MessageNotWriteable, PropertyTypeError, SelectorError
from mqsel.formats import mq
from mqsel.selection import Message, Queue
from mqsel.values import CLASS_NAMES, Float32, Int8, Int16, Int32

SET: dict[str, Any] = {
    "boolean": True,
    "int8": Int8(5),
    "int16": Int16(5),
    "int32": Int32(5),
    "int64": 5,
    "float32": Float32(5.0),
    "float64": 5.0,
    "string": "5",
}
# Jakarta Messaging 3.1, §3.5.4: as which types (across) what was set with a type (down) can be read.
TABLE = """
            boolean int8 int16 int32 int64 float32 float64 string
    boolean    x                                              x
    int8              x    x     x     x                      x
    int16                  x     x     x                      x
    int32                        x     x                      x
    int64                              x                      x
    float32                                   x       x       x
    float64                                           x       x
    string     x      x    x     x     x      x       x       x
"""
HEADED, *ROWS = [line for line in TABLE.splitlines() if line.strip()]
CELLS = [
    (row.split()[0], name, "x" in row[HEADED.index(f" {name}") : HEADED.index(f" {name}") + len(name) + 2])
    for row in ROWS
    for name in HEADED.split()
]


@pytest.mark.parametrize(("given", "wanted", "allowed"), CELLS)
def test_conversion(given: str, wanted: str, allowed: bool) -> None:
    """A value set as the one type can be read as the other, as the table says, and keeps its value."""
    message = Message({"p": SET[given]})
    if not allowed:
        with pytest.raises(PropertyTypeError, match=f"property 'p' is {given}: it cannot be read as {wanted}"):
            message.read("p", wanted)
        return
    value = message.read("p", wanted)

    assert CLASS_NAMES[type(value)] == wanted
    if wanted not in ("boolean", "string"):
        assert value == 5


def test_every_cell_was_read() -> None:
    """The table above has 64 cells, 29 of them with a cross."""
    assert (len(CELLS), sum(allowed for _, _, allowed in CELLS)) == (64, 29)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (-(1 << 63), "-9223372036854775808"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (Float32(0.1), "0.1"),
        (Float32(16777216.0), "1.6777216E7"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (100.0, "100.0"),
        (-123456.75, "-123456.75"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_texts_of_java(value: Any, text: str) -> None:
    """Read as a string a number is what toString of its class gives."""
    assert Message({"p": value}).read("p", "string") == text


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("TRUE", "boolean", True),
        ("yes", "boolean", False),
        ("+5", "int8", 5),
        ("-128", "int8", -128),
        ("128", "int8", None),
        ("9223372036854775807", "int64", 2**63 - 1),
        ("9223372036854775808", "int64", None),
        (" 5", "int32", None),
        ("5.0", "int32", None),
        ("1_000", "int32", None),
        ("", "int32", None),
        ("9" * 5000, "int64", None),
        (" 5e-1f ", "float64", 0.5),
        (".5", "float32", 0.5),
        ("1e999", "float64", math.inf),
        ("-Infinity", "float32", -math.inf),
        ("inf", "float64", None),
        ("0x1p3", "float64", None),
    ],
)
def test_texts_read(text: str, kind: str, value: Any) -> None:
    """A string is read as valueOf of the class reads it, or is an error. Hexadecimal floats are not read."""
    message = Message({"p": text})
    if value is None:
        with pytest.raises(PropertyTypeError, match=f"it isn't a valid {kind}"):
            message.read("p", kind)
    else:
        assert message.read("p", kind) == value


def test_types_given() -> None:
    """A property has the type of its value, or the one that is named."""
    message = Message({"a": 5, "b": Int8(5)})
    message.set("c", 5, "int16")
    message.set("d", 5, "float32")
    message.set("e", None, "int16")

    assert [CLASS_NAMES[type(message[name])] for name in "abcde"] == ["int64", "int8", "int16", "float32", "null"]
    wrong = [("x", 5, "boolean"), ("x", True, "int32"), ("x", 5.0, "int64"), ("x", 300, "int8"), ("x", "5", "int32")]
    wrong += [("x", 10**400, "float64"), ("x", 5, "bytes"), ("x", 5, "long"), ("x", 1 << 63, None), ("x", b"5", None)]
    wrong += [("x", object(), None), ("x", [], None), ("x", "5", "float32")]
    for arguments in wrong:
        with pytest.raises(ArgumentError):
            message.set(*arguments)
    for kind in ("bytes", []):
        with pytest.raises(ArgumentError, match="type is"):
            message.read("a", kind)  # type: ignore[arg-type]
    for arguments in ({"properties": [1]}, {"headers": 5}, {"body": 5}, {"properties": {(): 1}}, {"headers": {(): 1}}):
        with pytest.raises(ArgumentError):
            Message(**arguments)
    with pytest.raises(ArgumentError):
        message.set_header([], 1)  # type: ignore[arg-type]
    with pytest.raises(PropertyTypeError):
        message.read([], "int8")  # type: ignore[arg-type]


def test_null() -> None:
    """A property can be None; that is NULL to a selector, and to a reader the null of Java."""
    message = Message({"p": None})

    assert "p" in message and "q" not in message
    for name in "pq":
        assert mqsel.compile(f"{name} IS NULL", dialect=mqsel.JMS).matches(message)
        assert message.read(name, "string") is None
        assert message.read(name, "boolean") is False
        with pytest.raises(PropertyTypeError):
            message.read(name, "int32")


@pytest.mark.parametrize("name", ["a", "_", "$x", "na\u00efve", "A1", "escaped", "JMSXGroupID"])
def test_names(name: str) -> None:
    """The name of a property is an identifier of selectors."""
    assert Message({name: "x"})[name] == "x"


@pytest.mark.parametrize("name", ["", " a", "a ", "1a", "a.b", "a-b", "null", "And", "a = 1 OR b", 5, None, "\ud800"])
def test_no_names(name: Any) -> None:
    """What is no identifier of selectors is no name."""
    with pytest.raises(ArgumentError, match="isn't a property name"):
        Message({name: 1})


@pytest.mark.parametrize("name", ["JMSXUserID", "JMSXDeliveryCount", "JMS_IBM_Format", "JMSPriority", "JMSFoo"])
def test_reserved_names(name: str) -> None:
    """JMSX and JMS_ are reserved, as is whatever else begins with JMS; what a provider sets is given in headers."""
    with pytest.raises(ArgumentError, match="is reserved: JMS sets it"):
        Message({name: 1})
    if name.startswith(("JMSX", "JMS_")):
        assert Message(headers={name: 1}).properties == {name: 1}
    for wrong in ("JMSFoo", "a", "JMSX-", 5):
        with pytest.raises(ArgumentError, match="isn't a header field"):
            Message(headers={wrong: 1})


def test_header_fields() -> None:
    """Header fields have their types and limits; a producer's defaults stand where nothing is given."""
    message = Message(headers={"JMSType": "car", "JMSTimestamp": 5, "JMSRedelivered": True})

    assert (message["JMSPriority"], message["JMSDeliveryMode"]) == (4, "PERSISTENT")
    assert CLASS_NAMES[type(message["JMSPriority"])] == "int32"
    message.set_header("JMSType", None)
    assert "JMSType" not in message
    for name, value in {
        "JMSPriority": 10,
        "JMSDeliveryMode": "RELIABLE",
        "JMSMessageID": "x",
        "JMSTimestamp": "5",
        "JMSRedelivered": 1,
        "JMSType": 5,
        "color": "x",
    }.items():
        with pytest.raises(ArgumentError):
            message.set_header(name, value)


def test_received_is_read_only() -> None:
    """A client that sets a property of a message it received gets MessageNotWriteable; header fields stay writable."""
    message = Message({"a": 1}).received()
    with pytest.raises(MessageNotWriteable) as caught:
        message.set("a", 2)

    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    message.set_header("JMSType", "car")
    assert (message["a"], message["JMSType"]) == (1, "car")
    with pytest.raises(MessageNotWriteable):
        copy.deepcopy(pickle.loads(pickle.dumps(message))).set("a", 2)


def test_clear_properties() -> None:
    """If clearProperties is called, the properties can be read from and written to; header fields and body stay."""
    message = Message({"a": 1}, headers={"JMSType": "car", "JMSXUserID": "me"}, body="text").received()
    message.clear_properties()
    assert (message.properties, message["JMSType"], message.body) == ({}, "car", "text")
    message.set("a", 2)

    assert message.properties == {"a": 2}


def test_selected_from_without_a_copy() -> None:
    """A selector reads a message as a mapping, and a queue the very dict in it."""
    message = Message({"color": "blue", "weight": Int32(3000)}, headers={"JMSType": "car"})

    assert mqsel.compile("JMSType = 'car' AND color = 'blue' AND weight > 2500").matches(message)
    assert mqsel.compile("JMSDeliveryMode = 'PERSISTENT' AND JMSPriority = 4", dialect=mqsel.JMS).matches(message)
    assert dict(message) == {**message.values_read}
    queue = Queue()
    queue.put(message)
    held = queue.get()
    assert held == message and held is not message


def test_equality() -> None:
    """Two messages are equal by header fields, properties with their types, and body."""
    message = Message({"a": 1}, body="x")

    assert message == Message({"a": 1}, body="x") == message.received()
    for other in (Message({"a": Int32(1)}, body="x"), Message({"a": 1}), Message(body="x"), {"a": 1}):
        assert message != other
    assert repr(Message({"a": 1})) == "<mqsel.selection.Message JMSDeliveryMode='PERSISTENT', JMSPriority=4, a=1>"
    with pytest.raises(ArgumentError, match="body is a Python int"):
        Message(body=5)  # type: ignore[arg-type]


# What the page says, with its own examples: selector, message, and the truth value or the kind of error.
PAGE = {
    "only-true": ("a = 1", {}, "UNKNOWN"),
    "left-to-right": ("b OR missing + 1 > 0", {"b": True}, "TRUE"),
    "left-to-right.the-other-way": ("missing + 1 > 0 OR b", {"b": True}, "FALSE"),
    "parentheses": ("a * (b + c) = 10 AND a * b + c = 8", {"a": 2, "b": 3, "c": 2}, "TRUE"),
    "keyword-case": ("a is not Null aNd nOt b", {"a": 1, "b": False}, "TRUE"),
    "string": ("a = 'literal' AND b = 'literal''s'", {"a": "literal", "b": "literal's"}, "TRUE"),
    "string.unicode": ("a = '\u00e9\u4e2d'", {"a": "\u00e9\u4e2d"}, "TRUE"),
    "exact": ("a = 57 AND b = -957 AND c = +62", {"a": 57, "b": -957, "c": 62}, "TRUE"),
    "exact.long": ("a = 9223372036854775807 AND b = -9223372036854775808", {"a": 2**63 - 1, "b": -(2**63)}, "TRUE"),
    "exact.beyond": ("a = 9223372036854775808", {}, "SelectorSyntaxError"),
    "approximate": ("a = 7E3 AND b = -57.9E2 AND c = 7.", {"a": 7000.0, "b": -5790.0, "c": 7}, "TRUE"),
    "approximate.decimal": ("a = -95.7 AND b = +6.2", {"a": -95.7, "b": 6.2}, "TRUE"),
    "boolean": ("a = TRUE AND b = FALSE", {"a": True, "b": False}, "TRUE"),
    "identifier": ("_a$1 = 1 AND \u00e9\u4e2d = 2", {"_a$1": 1, "\u00e9\u4e2d": 2}, "TRUE"),
    "identifier.case": ("Color = 1", {"color": 1}, "UNKNOWN"),
    "identifier.null": ("NULL = 1", {}, "SelectorSyntaxError"),
    "identifier.keyword": ("between = 1", {}, "SelectorSyntaxError"),
    "identifier.digit": ("1a = 1", {}, "SelectorSyntaxError"),
    "header": (
        "JMSPriority > 4 AND JMSType = 'car' AND JMSTimestamp > 0",
        {"JMSPriority": 5, "JMSType": "car"},
        "UNKNOWN",
    ),
    "header.others": ("JMSReplyTo IS NULL", {}, "SelectorSyntaxError"),
    "header.null": ("JMSMessageID IS NULL AND JMSTimestamp IS NULL AND JMSCorrelationID IS NULL", {}, "TRUE"),
    "header.jmsx": ("JMSXGroupID = 'g' AND JMS_IBM_Format = 'f'", {"JMSXGroupID": "g", "JMS_IBM_Format": "f"}, "TRUE"),
    "missing": ("a IS NULL AND b = 1", {"b": 1}, "TRUE"),
    "white-space": ("a \t=\f1\r\nAND\nb = 2", {"a": 1, "b": 2}, "TRUE"),
    "white-space.other": ("a\u00a0= 1", {}, "SelectorSyntaxError"),
    "precedence.logic": ("NOT a OR b AND c", {"a": True, "b": True, "c": True}, "TRUE"),
    "comparison": ("a >= 1 AND a > 0 AND a < 2 AND a <= 1 AND a <> 3", {"a": 1}, "TRUE"),
    "comparison.numbers": ("a = 1.0 AND b = 1", {"a": 1, "b": 1.0}, "TRUE"),
    "comparison.types": ("a = 5 OR b = 1", {"a": "5", "b": 1}, "FALSE"),
    "comparison.types.negated": ("NOT (a = 5)", {"a": "5"}, "FALSE"),
    "comparison.strings": ("a > 'x'", {}, "SelectorTypeError"),
    "comparison.booleans": ("a < TRUE", {}, "SelectorTypeError"),
    "comparison.characters": ("a = 'abc' OR a = 'ABC'", {"a": "Abc"}, "FALSE"),
    "arithmetic": ("-a + b * c / d - 1 = 4 AND +a = 1", {"a": 1, "b": 4, "c": 3, "d": 2}, "TRUE"),
    "arithmetic.null": ("NOT (missing + 1 > 0)", {}, "FALSE"),
    "arithmetic.promotion": ("a / 2 = 3 AND a / 2.0 = 3.5 AND b + b = 254", {"a": 7, "b": Int8(127)}, "TRUE"),
    "between": ("Age BETWEEN 15 and 19 AND NOT Age NOT BETWEEN 15 and 19", {"Age": 19}, "TRUE"),
    "between.outside": ("Age NOT BETWEEN 15 and 19 AND NOT Age BETWEEN 15 and 19", {"Age": 20}, "TRUE"),
    "between.null": ("a BETWEEN 1 AND missing", {"a": 1}, "FALSE"),
    "between.not.null": ("a NOT BETWEEN 1 AND missing", {"a": 1}, "TRUE"),
    "in": ("Country IN ('UK', 'US', 'France')", {"Country": "UK"}, "TRUE"),
    "in.others": ("Country IN ('UK', 'US', 'France')", {"Country": "Peru"}, "FALSE"),
    "in.not": ("Country NOT IN ('UK', 'US', 'France')", {"Country": "UK"}, "FALSE"),
    "in.not.others": ("Country NOT IN ('UK', 'US', 'France')", {"Country": "Peru"}, "TRUE"),
    "in.null": ("Country IN ('UK') OR Country NOT IN ('UK')", {}, "UNKNOWN"),
    "like": ("a LIKE '12%3' AND b LIKE '12%3' AND NOT c LIKE '12%3'", {"a": "123", "b": "12993", "c": "1234"}, "TRUE"),
    "like.one": ("a LIKE 'l_se' AND NOT b LIKE 'l_se'", {"a": "lose", "b": "loose"}, "TRUE"),
    "like.escape": (r"a LIKE '\_%' ESCAPE '\' AND NOT b LIKE '\_%' ESCAPE '\'", {"a": "_foo", "b": "bar"}, "TRUE"),
    "like.not": ("NOT a NOT LIKE '12%3' AND c NOT LIKE '12%3'", {"a": "12993", "c": "1234"}, "TRUE"),
    "like.null": ("a LIKE 'x' OR a NOT LIKE 'x'", {}, "UNKNOWN"),
    "is-null": ("a IS NULL AND JMSType IS NULL AND NOT b IS NULL", {"b": 1}, "TRUE"),
    "is-not-null": ("b IS NOT NULL AND JMSType IS NOT NULL AND NOT a IS NOT NULL", {"b": 1, "JMSType": "t"}, "TRUE"),
    "example": (
        "JMSType = 'car' AND color = 'blue' AND weight > 2500",
        {"JMSType": "car", "color": "blue", "weight": 3000},
        "TRUE",
    ),
    "unknown": ("NOT (missing = 1)", {}, "UNKNOWN"),
    "no-decimals": ("a = 0.1", {"a": Float32(0.1)}, "FALSE"),
    "no-comments": ("a = 1 /* one */", {}, "SelectorSyntaxError"),
    "no-body": ("body IS NOT NULL", {}, "FALSE"),
}


@pytest.mark.parametrize("row", PAGE)
def test_message_selectors_in_jms(row: str) -> None:
    """*IBM MQ 9.4, Message selectors in JMS*: each sentence about the language, under IBM_JMS."""
    text, values, want = PAGE[row]
    if want.startswith("Selector"):
        with pytest.raises(SelectorError) as caught:
            mqsel.compile(text, dialect=mqsel.IBM_JMS)
        assert type(caught.value).__name__ == want
        return
    message = Message(
        {name: value for name, value in values.items() if not name.startswith("JMS")},
        headers={name: value for name, value in values.items() if name.startswith("JMS")},
        body="a body",
    )

    assert str(mqsel.compile(text, dialect=mqsel.IBM_JMS).evaluate(message)) == want


def test_to_mq_and_back() -> None:
    """Header fields and properties survive an IBM MQ message, with their types."""
    identifier = f"ID:{'0a' * 24}"
    headers = {
        "JMSDestination": "topic://cars",
        "JMSDeliveryMode": "NON_PERSISTENT",
        "JMSMessageID": identifier,
        "JMSTimestamp": 1_700_000_000_000,
        "JMSCorrelationID": "c1",
        "JMSReplyTo": "queue://QM/R",
        "JMSRedelivered": True,
        "JMSType": "car",
        "JMSExpiration": 5,
        "JMSPriority": 7,
        "JMSXDeliveryCount": 3,
        "JMSXGroupID": "g",
        "JMSXGroupSeq": 2,
        "JMS_IBM_Report_Pass_Msg_ID": Int32(128),
        "JMS_IBM_Last_Msg_In_Group": True,
        "JMS_IBM_Feedback": Int32(5),
        "JMS_IBM_Character_Set": "ISO8859_1",
        "JMS_IBM_Format": "MYFORMAT",
    }
    properties = {**{f"p_{kind}": value for kind, value in SET.items()}, "p_null": None}
    message = Message(properties, headers=headers, body=b"\xe9")
    read = Message.from_mq(message.to_mq())

    assert {name: read.get(name) for name in message} == dict(message)
    assert {name: type(read[name]) for name in properties} == {name: type(value) for name, value in properties.items()}
    assert read.body == b"\xe9"
    with pytest.raises(MessageNotWriteable):
        read.set("a", 1)


def test_texts_in_mq() -> None:
    """A text is MQSTR in UTF-8; bytes of Format MQSTR are read in their own character set, if Python has it."""
    assert Message.from_mq(Message(body="\u00e9\U0001f600").to_mq()).body == "\u00e9\U0001f600"
    for ccsid, body in ((37, "\u00e9"), (1252, "\u20ac"), (819, "\u00e9")):
        codec = {37: "cp037", 1252: "cp1252", 819: "latin-1"}[ccsid]
        raw = mq.encode({"Format": "MQSTR   ", "CodedCharSetId": ccsid}, {}, body.encode(codec))
        assert Message.from_mq(raw).body == body
    assert Message.from_mq(mq.encode({"Format": "MQSTR   ", "CodedCharSetId": 1047}, {}, b"\xc1")).body == b"\xc1"
    assert Message.from_mq(mq.encode({}, {})).body is None


def test_what_mq_has_no_place_for() -> None:
    """An identifier of another provider and half a surrogate pair are errors of ours; bytes are no property of JMS."""
    for message in (Message(headers={"JMSMessageID": "ID:1"}), Message({"a": "\ud800"}), Message({"a$": 1})):
        try:
            message.to_mq()
        except ArgumentError:
            continue
        assert message.get("a$") == 1
    for headers in (
        {"JMSXDeliveryCount": "x"},
        {"JMS_IBM_Report_COA": "x"},
        {"JMS_IBM_Character_Set": "x"},
        {"JMS_IBM_Format": "x" * 9},
    ):
        with pytest.raises(ArgumentError):
            Message({"a": 1}, headers=headers).to_mq()
    with pytest.raises(ArgumentError, match="the body has half a surrogate pair"):
        Message(body="\ud800").to_mq()
    raw = mq.encode({"CorrelId": b"\1" * 24}, {"a": b"bytes", "b": 1, "shop.x": 5})
    read = Message.from_mq(raw)
    assert (read["b"], read["JMSCorrelationID"]) == (1, f"ID:{'01' * 24}")
    assert not {"a", "shop.x", "Root.MQMD.Report", "JMS_IBM_MQMD_Report"} & {*read}
    assert Message.from_mq(raw[364:])["b"] == 1
    with pytest.raises(DecodeError):
        Message.from_mq(b"no message")


def test_read_from_mq_it_is_selected_like_the_bytes() -> None:
    """A message read from IBM MQ is selected as its bytes are, by what JMS has names for."""
    pytest.importorskip("hypothesis")
    from hypothesis import given
    from strategies import cases

    @given(cases("IBM_JMS"))
    def holds(case: Any) -> None:
        text, typed = case
        values = {
            name: value
            for name, value in message_of(typed).items()
            if not name.startswith("JMS") and not isinstance(value, bytes)
            if not (isinstance(value, str) and any("\ud800" <= point <= "\udfff" or point < " " for point in value))
        }
        message = Message(values, headers={"JMSPriority": 7, "JMSType": "a"})
        raw = message.to_mq()
        matcher = mqsel.compile(text, dialect=mqsel.IBM_JMS)
        want = matcher.matches(dict(message))

        assert matcher.matches(message) == want
        assert matcher.matches(Message.from_mq(raw)) == want
        assert bool(list(matcher.filter([raw], format="mq"))) == want

    holds()
