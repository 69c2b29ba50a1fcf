"""AMQP 1.0 messages are read as they were made, by every way of reading."""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Iterable
from typing import Any

import amqp as slow
import pytest
from conftest import VECTORS_ROOT, json_lines
from raw import typed

import mqsel
from mqsel import formats, names
from mqsel.errors import ArgumentError, DecodeError, PropertyTypeError
from mqsel.formats import amqp

VECTORS = json_lines(VECTORS_ROOT / "formats" / "amqp.jsonl")
IDS = [vector["id"] for vector in VECTORS]
KEYS = {words: key for key, words in amqp.NOTES}
TYPES = bytes.fromhex(next(vector["message"] for vector in VECTORS if vector["id"] == "proton.types"))
SOURCES = ("mqsel/formats/README.md §", "AMQP 1.0, §", "AMQP JMS Mapping 1.0, §", "python-qpid-proton ", "apache/")


def read(raw: bytes, wanted: Iterable[str], naming: str | None = None) -> Any:
    return formats.decoder("amqp", tuple(wanted), naming=naming)(raw)


def inspect(raw: bytes) -> formats.Inspection:
    return formats.FORMATS["amqp"].inspect(raw, {})


def place(error: DecodeError) -> dict[str, Any]:
    return {"structure": error.structure, "offset": error.offset, "message": error.message}


def test_vectors_have_their_form() -> None:
    """Every vector has its keys in order, a source, a message in hexadecimal, and either properties or an error."""
    assert len(set(IDS)) == len(IDS)
    for vector in VECTORS:
        keys = [key for key in vector if key not in ("naming", "note")]
        assert keys[:3] == ["id", "source", "message"], vector["id"]
        assert keys[3:] in (["want", "notes"], ["error"], ["error", "want"]), vector["id"]
        assert vector["source"].startswith(SOURCES)


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_vector(vector: dict[str, Any]) -> None:
    """A message gives the properties of its vector with their types, and the notes, or the error."""
    raw = bytes.fromhex(vector["message"])
    wanted = vector.get("want", ())
    if "error" in vector:
        with pytest.raises(DecodeError) as caught:
            read(raw, wanted)
        assert place(caught.value) == vector["error"]
        assert place(pickle.loads(pickle.dumps(caught.value))) == vector["error"]
        return
    record = read(raw, wanted, vector.get("naming"))
    assert {name: typed(record[name]) for name in wanted} == wanted
    one_by_one = {name: typed(read(bytearray(raw), [name], vector.get("naming"))[name]) for name in wanted}
    assert one_by_one == wanted
    inspection = inspect(raw)
    notes = [[note.structure, note.offset, note.what, KEYS[note.message]] for note in inspection.notes]
    assert notes == vector["notes"]
    if "naming" not in vector:
        rows = {row.name: typed(row.value) for row in inspection.rows}
        assert {name: rows.get(name, ["null", None]) for name in wanted if not name.startswith("AMQ")} == {
            name: value for name, value in wanted.items() if not name.startswith("AMQ")
        }


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_every_truncation(vector: dict[str, Any]) -> None:
    """A message that is cut off is an error, but where a section ends: then it is the message of those before."""
    raw = bytes.fromhex(vector["message"])
    decode = formats.decoder("amqp", ("JMSType", "JMSMessageID", "s", "m.x"))
    if "error" in vector:
        for size in range(min(len(raw), 300)):
            try:
                decode(raw[:size])
            except DecodeError as error:
                assert 0 <= error.offset <= size
        return
    ends = {offset + size for _, offset, size in inspect(raw).structures}
    assert max(ends) == len(raw)
    for size in range(len(raw)):
        if size in ends:
            decode(raw[:size])
        else:
            with pytest.raises(DecodeError) as caught:
                decode(raw[:size])
            assert 0 <= caught.value.offset <= size


def test_every_row_has_a_vector() -> None:
    """Every header, code of a type, conversion, note and error occurs in the vectors."""
    wanted = {name for vector in VECTORS if "error" not in vector for name in vector["want"]}
    said = {note[3] for vector in VECTORS for note in vector.get("notes", [])}
    errors = [vector["error"]["message"] for vector in VECTORS if "error" in vector]
    codes = {code for kind in amqp.KINDS.values() for code in kind}
    whole = b"".join(bytes.fromhex(vector["message"]) for vector in VECTORS)
    used = {one.conversion for name in wanted for one in amqp.source(name).places}

    assert {*amqp.JMS, *names.HEADER_NAMES["ARTEMIS"].values()} - {"_AMQ_VALIDATED_USER"} - wanted == set()
    assert {
        f"amqp.{field.replace('-', '_')}" for section in amqp.SECTIONS for field in section.fields
    } - wanted == set()
    assert {key for key, _ in amqp.NOTES} - said == {"none"}
    shown = [re.sub(r"\\\{.*?\\\}", ".*", re.escape(row)) for row in amqp.ERRORS[1:]]
    assert [row for row in shown if not any(re.fullmatch(row, one) for one in errors)] == []
    assert [hex(code) for code in codes if bytes([code]) not in whole] == []
    assert used == set(amqp.CONVERSIONS)


def test_it_reads_as_the_slow_decoder() -> None:
    """Random messages have the properties that the slow decoder finds, or are errors of both."""
    rng = random.Random(31)
    valid = 0
    for _ in range(1500):
        raw = slow.random_message(rng)
        try:
            wanted = slow.properties(raw)
        except slow.BrokenError:
            wanted = None
        if wanted is None:
            with pytest.raises(DecodeError):
                read(raw, ())
            continue
        valid += 1
        usual = {name: value for name, value in wanted.items() if not isinstance(value, OverflowError)}
        record = read(raw, usual)
        assert {name: repr(record[name]) for name in usual} == {name: repr(value) for name, value in usual.items()}
    assert valid > 1000


def test_a_field_has_its_name_in_each_product() -> None:
    """A selector of each product reads the field by the name that it has there, and no other's."""
    asked = {
        "JMS": ("JMSType = 'car' AND JMSPriority = 7", "AMQPriority = 8 OR x = 1"),
        "ARTEMIS": ("AMQPriority = 7 AND AMQDurable = 'DURABLE' AND JMSType = 'car'", "\"p.subject\" = 'car'"),
        "QPID_CPP": ("amqp.subject = 'car' AND JMSPriority = 7", "p.subject = 'car'"),
        "RABBITMQ": (
            "p.subject = 'car' AND h.priority = 7 AND properties.to = 'orders' AND a.i = 70000",
            "JMSType = 'car'",
        ),
        "AZURE_SERVICE_BUS": ("sys.Label = 'car' AND user.i = 70000", "JMSType = 'car'"),
    }
    for dialect, (selected, other) in asked.items():
        for text, expected in ((selected, [TYPES]), (other, [])):
            matcher = mqsel.compile(text, dialect=dialect)
            assert list(matcher.filter([TYPES], format="amqp")) == expected, text
            single = mqsel.SelectorSet({"one": text}, dialect=dialect)
            assert [list(keys) for _, keys in single.filter([TYPES], format="amqp")] == [["one"]] * len(expected), text


def test_a_set_of_several_products_knows_all_names() -> None:
    """A set whose selectors are of products with other names reads each by its own."""
    several = mqsel.SelectorSet({"jms": "JMSType = 'car'"}, dialect="JMS")
    several["rabbit"] = mqsel.compile("p.subject = 'car'", dialect="RABBITMQ")

    assert several.match(several.decoder("amqp")(TYPES)) == ["jms", "rabbit"]


def test_defaults_are_not_kept() -> None:
    """What one message has is not what the next has."""
    decode = formats.decoder("amqp", ("JMSType", "JMSDeliveryMode", "JMSPriority", "i", "JMSExpiration"))
    empty = b"\0\x53\x70\x45"
    assert [*map(repr, [decode(TYPES)[name] for name in decode.names])] == [
        "'car'",
        "'PERSISTENT'",
        "7",
        "70000",
        "1800000000000",
    ]
    assert [decode(empty)[name] for name in decode.names] == [None, "NON_PERSISTENT", 4, None, 0]


def test_a_decoder_travels() -> None:
    """A pickled decoder reads alike."""
    decode = formats.decoder("amqp", ("p.subject", "JMSType"), naming="sections")
    there = pickle.loads(pickle.dumps(decode))

    assert [there(TYPES)[name] for name in there.names] == ["car", None]


def test_what_is_no_message() -> None:
    """What is not bytes, and an option that is not there, is an error."""
    with pytest.raises(PropertyTypeError, match="a message of this format is bytes: found a Python str"):
        read("text", ())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="does not take these options: strip"):
        formats.decoder("amqp", (), strip=True)
    with pytest.raises(
        ArgumentError, match="naming is 'JMS': expected one of 'mqi', 'jms', 'any', 'sections', 'folded'"
    ):
        formats.decoder("amqp", (), naming="JMS")


def test_notes_are_counted() -> None:
    """A decoder counts the messages of which it skipped something that is wanted."""
    nested = bytes.fromhex(next(vector["message"] for vector in VECTORS if vector["id"] == "proton.nested"))
    for wanted, noted in ((("after",), 0), (("li", "de"), 1)):
        decode = formats.decoder("amqp", wanted)
        decode(nested)
        assert decode.noted == noted
