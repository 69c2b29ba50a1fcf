"""Messages of IBM MQ: the vectors, what malformed bytes give, round trips, and selection from raw messages."""

from __future__ import annotations

import gc
import importlib.util
import math
import pickle
import random
import struct
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from conftest import VECTORS_ROOT, json_lines

import mqsel
from mqsel import formats, names
from mqsel.errors import MQRC, ArgumentError, DecodeError, PropertyTypeError
from mqsel.formats import jms, mq, mqmd, mqrfh2
from mqsel.formats._mq import MQDecoder
from mqsel.values import MQTYPE, TYPE_NAMES, Float32, Int8, Int16, Int32

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
IDS = [vector["id"] for vector in VECTORS]
WRONG_CCSID = "ccsid is 1200: expected 1208, 819, 37, 273, 424, 500, 875, 1026, 1047 or 1140"


def typed(value: Any) -> list[Any]:
    """Write a value as a vector does."""
    if isinstance(value, float) and not math.isfinite(value):
        return [CLASSES[type(value)], "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"]
    return [CLASSES[type(value)], value.hex() if isinstance(value, bytes) else value]


def test_vectors_have_their_form() -> None:
    """Every vector has its keys in order, a source, a message in hexadecimal, and either properties or an error."""
    assert len(set(IDS)) == len(IDS)
    for vector in VECTORS:
        keys = list(vector)
        assert keys[:3] == ["id", "source", "message"], vector["id"]
        bytes.fromhex(vector["message"])
        assert vector["source"].startswith(("mqsel/formats/README.md §", "IBM MQ 9.4, ", "APAR "))
        if "error" in vector:
            assert set(keys[3:]) <= {"options", "error", "note"}
            assert list(vector["error"]) == ["structure", "offset", "reason", "message"]
            assert vector["error"]["reason"] in MQRC.__members__
        else:
            assert set(keys[3:]) <= {"options", "want", "absent", "notes", "note"}
            assert {kind for kind, _ in vector["want"].values()} <= TYPE_NAMES.keys()


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_vector(vector: dict[str, Any]) -> None:
    """A message gives the properties of its vector with their types, and the notes, or the error."""
    message = bytes.fromhex(vector["message"])
    options = vector.get("options", {})
    if "error" in vector:
        with pytest.raises(DecodeError) as caught:
            formats.properties(message, **options)
        error = caught.value
        assert vector["error"] == {
            "structure": error.structure,
            "offset": error.offset,
            "reason": error.reason.name if error.reason else None,
            "message": error.message,
        }
        return
    found = formats.properties(message, **options)
    wanted = {name.removeprefix("usr."): value for name, value in vector["want"].items()}
    assert wanted == {name: typed(found[name]) for name in wanted if name in found}
    assert found.keys().isdisjoint(vector.get("absent", []))
    inspection = formats.inspect(message, **options)
    assert vector["notes"] == [
        [note.structure, note.offset, note.what, KEYS[note.message]] for note in inspection.notes
    ]
    assert {row.name: [row.type, typed(row.value)] for row in inspection.rows} == {
        name: [CLASSES[type(value)], typed(value)] for name, value in found.items()
    }
    # By name the same, and nothing of what is absent.
    wanted = [*vector["want"], *vector.get("absent", [])]
    by_name = formats.properties(message, wanted, **options)
    assert vector["want"] == {name: typed(value) for name, value in by_name.items()}


def test_every_row_has_a_vector() -> None:
    """Every MQMD field, JMS name, dt, folder, header, conversion and note occurs in what the vectors want."""
    wanted = {name for vector in VECTORS for name in vector.get("want", {})}
    text = "".join(bytes.fromhex(vector["message"]).decode("latin-1") for vector in VECTORS)
    fields = {f"Root.MQMD.{field.name}" for field in mqmd.MQMD if field.name not in names.HIDDEN}
    said = {note[3] for vector in VECTORS for note in vector.get("notes", [])}
    unsaid = {key for key, _, _ in mqrfh2.NOTES} - said

    assert fields - wanted == set()
    assert jms.JMS.keys() - wanted == set()
    assert [dt for dt in mqrfh2.DT if f"dt='{dt}'" not in text] == []
    assert [name for name in (*mqrfh2.GROUPED_FOLDERS, *mqrfh2.PLAIN_FOLDERS) if f"<{name}>" not in text] == []
    assert [row.name for row in mqmd.HEADERS if row.struc_id not in text] == []
    # Those that need a long message have tests of their own.
    assert unsaid == {"none", "folder-depth", "folder-too-big"}


def test_every_conversion_is_used() -> None:
    """There is no conversion without a JMS name, and none without a row."""
    used = {source.conversion for sources in jms.JMS.values() for source in sources}
    assert used == set(jms.CONVERSIONS)


def test_layout_adds_up() -> None:
    """The structures have the lengths of the vendor's headers."""
    assert sum(field.length for field in mqmd.MQMD) == mqmd.MQMD_LENGTH_2
    assert next(field.offset for field in mqmd.MQMD if field.name == "GroupId") == mqmd.MQMD_LENGTH_1
    assert sum(field.length for field in mqmd.MQMDE) == mqmd.MQMDE_LENGTH_2


@pytest.mark.parametrize("package", ["pymqi", "ibmmq"])
def test_constants_are_those_of_other_readings(package: str) -> None:
    """An independent reading of the vendor's headers has the same numbers, reason codes, sizes and Formats."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    # Read alone: the package itself needs a client.
    path = Path(spec.origin).parent / "CMQC.py"
    loaded = importlib.util.spec_from_file_location("CMQC", path)
    assert loaded is not None and loaded.loader is not None
    theirs = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(theirs)
    ours: dict[str, Any] = {name: getattr(mqmd, name) for name in dir(mqmd) if name.startswith("MQ") and name != "MQMD"}
    ours |= {name: getattr(mqrfh2, name) for name in dir(mqrfh2) if name.startswith("MQ")}
    ours |= {reason.name: reason.value for reason in MQRC}
    ours |= {name: int(kind) for name, kind in MQTYPE.__members__.items()}
    del ours["MQRC"], ours["MQMDE"]
    ours = {name: value.encode() if isinstance(value, str) else value for name, value in ours.items()}
    known = {name: getattr(theirs, name) for name in ours if hasattr(theirs, name)}
    known = {name: value.encode() if isinstance(value, str) else value for name, value in known.items()}

    composed = {name for name in ours if name.endswith("WITH_FULL_DATA")} | {"MQENC_INTEGER_MASK"}
    assert ours.keys() - known.keys() <= composed | {"MQMF_LAST_MSG_IN_GROUP"}
    assert {name: ours[name] for name in known} == known
    by_format = {row.name: row.format.encode() for row in mqmd.HEADERS}
    names = {"MQDLH": "MQFMT_DEAD_LETTER_HEADER", "MQXQH": "MQFMT_XMIT_Q_HEADER", "MQIIH": "MQFMT_IMS",
             "MQCIH": "MQFMT_CICS", "MQWIH": "MQFMT_WORK_INFO_HEADER", "MQRMH": "MQFMT_REF_MSG_HEADER",
             "MQRFH": "MQFMT_RF_HEADER_1", "MQMDE": "MQFMT_MD_EXTENSION", "MQDH": "MQFMT_DIST_HEADER",
             "MQEPH": "MQFMT_EMBEDDED_PCF"}  # fmt: skip
    for name, constant in names.items():
        value = getattr(theirs, constant)
        assert by_format[name] == (value.encode() if isinstance(value, str) else value)


# ---- malformed bytes ---------------------------------------------------------------------------------------------

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


def _everything(message: bytes) -> None:
    """Read a message in all ways; they agree on whether it is one."""
    outcomes = []
    for read in (
        formats.properties,
        formats.inspect,
        mqsel.compile("color = 'blue' AND my.group.inner = 'x'").decoder("mq"),
    ):
        try:
            read(message)
            outcomes.append("read")
        except DecodeError as error:
            assert error.reason is not None and error.structure and 0 <= error.offset <= len(message)
            outcomes.append(str(error))
    assert len(set(outcomes)) == 1


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("encoding", [273, 546])
@pytest.mark.parametrize("ccsid", mqmd.CCSIDS)
@pytest.mark.parametrize("name_value_ccsid", [1208, 1200])
def test_round_trip(version: int, encoding: int, ccsid: int, name_value_ccsid: int) -> None:
    """What `encode` writes, `properties` reads back with exact types and values, in every form of message."""
    message = mq.encode(
        HEAD, RICH, b"body", version=version, encoding=encoding, ccsid=ccsid, name_value_ccsid=name_value_ccsid
    )
    found = formats.properties(message, RICH)
    inspection = formats.inspect(message)
    name, offset, length = inspection.structures[-1]

    assert {name: typed(value) for name, value in found.items()} == {n: typed(v) for n, v in RICH.items()}
    assert (name, message[offset : offset + length]) == ("data", b"body")
    assert inspection.notes == ()
    assert [name for name, _, _ in inspection.structures][:-1] == (
        ["MQMD", "MQMDE", "MQRFH2"] if version == 1 else ["MQMD", "MQRFH2"]
    )
    assert formats.properties(message, ["Root.MQMD.MsgSeqNumber"]) == {"Root.MQMD.MsgSeqNumber": 3}


def _random_folder(rng: random.Random, depth: int) -> str:
    """Write elements and groups in the many ways XML allows."""
    parts = []
    for _ in range(rng.randrange(1, 4)):
        name = rng.choice(("alpha", "b_1", "c", "größe", "delta.", "x9")).rstrip(".")
        space = rng.choice(("", "", " ", "\n\t"))
        quote = rng.choice("'\"")
        if depth and rng.random() < 0.3:
            parts.append(f"<{name}{space}>{space}{_random_folder(rng, depth - 1)}</{name}{space}>")
            continue
        text, dt = rng.choice(
            (
                ("", None), ("a b", None), ("&lt;&amp;&#65;&#x1F600;&apos;", "string"), ("'>\"", None),
                ("𝄞é", "string"),
                ("-12", "i4"), ("+7", "i8"), ("1.5e3", "r8"), (".25", "r4"), ("00", "bin.hex"), ("1", "boolean"),
            )
        )  # fmt: skip
        attributes = "" if dt is None else f" {space}dt{space}={space}{quote}{dt}{quote}"
        attributes += rng.choice(("", " copy='forward'", ' context="user"'))
        parts.append(f"<{name}{attributes}{space}>{text}</{name}{space}>" if text or dt else f"<{name}{space}/>")
    return rng.choice(("", " ")).join(parts)


def test_an_xml_parser_reads_the_same() -> None:
    """For a folder that is XML, the properties are the leaves that xml.etree finds, the first of each name."""
    readers: dict[str | None, Any] = {
        None: str, "string": str, "i4": lambda text: Int32(int(text)), "i8": int, "r8": float,
        "r4": lambda text: Float32(float(text)),
        "bin.hex": bytes.fromhex, "boolean": lambda text: text == "1",
    }  # fmt: skip
    rng = random.Random("xml")
    for _ in range(2000):
        folder = f"<mq_usr>{_random_folder(rng, 3)}</mq_usr>"
        wanted: dict[str, Any] = {}
        work = [("mq_usr", ET.fromstring(folder))]
        while work:
            name, element = work.pop(0)
            if len(element) == 0:
                wanted.setdefault(name, readers[element.get("dt")](element.text or ""))
            work[:0] = [(f"{name}.{child.tag}", child) for child in element]
        found = formats.properties(_wrapped(folder.encode())[364:])
        assert {name: typed(value) for name, value in found.items()} == {
            name: typed(value) for name, value in wanted.items()
        }, folder


def test_truncated_at_every_byte() -> None:
    """A message cut anywhere before its data is a DecodeError; cut in its data, or longer, it is the same."""
    for message in (
        mq.encode(HEAD, RICH, b"body"),
        mq.encode(HEAD, RICH, b"body", version=1, encoding=273, ccsid=500, name_value_ccsid=1200),
    ):
        data = next(offset for name, offset, _ in formats.inspect(message).structures if name == "data")
        whole = formats.properties(message)
        for length in range(len(message)):
            # A copy of its own, so that a sanitizer sees a read behind the end.
            cut = bytes(bytearray(message[:length]))
            if length < data:
                with pytest.raises(DecodeError) as caught:
                    formats.properties(cut)
                assert caught.value.reason is not None
                _everything(cut)
            else:
                assert formats.properties(cut) == whole
        assert formats.properties(message + b"more") == whole


def test_lengths_that_lie() -> None:
    """Every 32-bit field of every header, set to values that lie, gives properties or a DecodeError."""
    for message in (mq.encode(HEAD, RICH, b"body"), mq.encode(HEAD, RICH, b"body", version=1, encoding=273)):
        end = next(offset for name, offset, _ in formats.inspect(message).structures if name == "data")
        for offset in [*range(4, 44, 4), *range(320, min(end, 560), 4)]:
            for lie in (0, 1, 3, 4, 35, 36, 37, -1, -4, 2**31 - 1, 2**31 - 4, -(2**31), len(message)):
                for order in "<>":
                    changed = bytearray(message)
                    struct.pack_into(f"{order}i", changed, offset, lie)
                    _everything(bytes(changed))


def _wrapped(*folders: bytes, encoding: int = 546) -> bytes:
    """Put folders behind an MQMD by hand."""
    head = mq.encode({}, {"x": 1}, encoding=encoding)[: 364 + 36]
    parts = []
    for folder in folders:
        padded = folder + b" " * (-len(folder) % 4)
        parts.append(struct.pack("<i", len(padded)) + padded)
    body = b"".join(parts)
    return head[:372] + struct.pack("<i", 36 + len(body)) + head[376:] + body


def _seconds(message: bytes) -> float:
    """Time the dearest way to read a message."""
    start = time.process_time()
    formats.properties(message)
    return time.process_time() - start


LONG_NAME = b"g" * 4000
BOMBS = {
    "elements": lambda n: b"<usr>" + b"".join(b"<a%d>1</a%d>" % (i, i) for i in range(n)) + b"</usr>",
    "one name": lambda n: b"<usr>" + b"<a>1</a>" * (2 * n) + b"</usr>",
    "depth": lambda n: b"<mq_usr>" + b"<a>" * (3 * n) + b"</a>" * (3 * n) + b"</mq_usr>",
    "open": lambda n: b"<mq_usr>" + b"<a>" * (3 * n),
    "quotes": lambda n: b"<usr>" + b"<a b='" * n + b"</usr>",
    "no end": lambda n: b"<usr><a>" + b"x" * (10 * n),
    "escapes": lambda n: b"<usr><a>" + b"&amp;" * (2 * n) + b"</a></usr>",
    "attributes": lambda n: b"<usr><a" + b" b='c'" * n + b">1</a></usr>",
    "digits": lambda n: b"<usr><a dt='r8'>" + b"1" * (10 * n) + b"</a></usr>",
    "digits r4": lambda n: b"<usr><a dt='r4'>1.00000005960464477539" + b"0" * n + b"1</a></usr>",
    "hex": lambda n: b"<usr><a dt='bin.hex'>" + b"0A" * (5 * n) + b"</a></usr>",
    "one long name": lambda n: b"<usr><" + b"a" * (5 * n) + b">1</" + b"a" * (5 * n) + b"></usr>",
    "odd names": lambda n: b"<usr>" + "".join(f"<ä{i}>1</ä{i}>" for i in range(n // 2)).encode() + b"</usr>",
    "long group": lambda n: (
        b"<mq_usr><%b>" % LONG_NAME + b"".join(b"<a%d/>" % i for i in range(n)) + b"</%b></mq_usr>" % LONG_NAME
    ),
    "blanks": lambda n: b"<usr>" + b" <a>1</a> \n" * n + b"</usr>" + b" " * n,
    "reserved": lambda n: b"<usr>" + b"<not>1</not>" * n + b"</usr>",
    "comments": lambda n: b"<usr>" + b"<!--x-->" * n + b"<a>1</a></usr>",
    "comments without end": lambda n: b"<usr>" + b"<!--x" * n + b"</usr>",
    "less than": lambda n: b"<usr><a>" + b"1 < 2 " * n + b"</a></usr>",
    "nameless": lambda n: b"<usr>" + b"<1>1</1>" * n + b"</usr>",
    "no value": lambda n: b"<usr>" + b"<a b>1</a>" * n + b"</usr>",
    "unknown types": lambda n: b"<usr>" + b"".join(b"<a%d dt='q'>1</a%d>" % (i, i) for i in range(n)) + b"</usr>",
}


@pytest.mark.parametrize("name", BOMBS)
def test_time_is_linear(name: str) -> None:
    """A folder eight times as large takes about eight times as long, and 100,000 elements are read in a second."""
    small, large = (_wrapped(BOMBS[name](size)) for size in (12_500, 100_000))
    formats.properties(small)
    few, many = min(_seconds(small) for _ in range(3)), min(_seconds(large) for _ in range(2))
    assert many < 1.5
    assert many < 0.02 or many < 24 * few
    formats.inspect(small)


def test_many_folders_and_headers_in_linear_time() -> None:
    """100,000 folders, and a chain of as many headers as fit, take no more than a second; the chain ends."""
    message = _wrapped(*[b"<usr><a>1</a></usr> "] * 100_000)
    assert _seconds(message) < 1.5
    header = struct.pack("<4s4i8s2i", b"RFH ", 2, 36, 546, 1208, b"MQHRF2  ", 0, 1208)
    chain = mq.encode({"Format": "MQHRF2"}, {}) + header * 100_000
    start = time.process_time()
    with pytest.raises(DecodeError) as caught:  # the last header promises another one
        formats.properties(chain)
    assert time.process_time() - start < 1.5
    assert (caught.value.offset, caught.value.message) == (364 + 36 * 100_000, "MQRFH2 needs 36 bytes: 0 are left")


def test_ten_megabytes() -> None:
    """A folder of 10 MB is read, and skipped, in a second."""
    value = b"v" * 1000
    folder = b"<usr>" + b"".join(b"<a%d>%b</a%d>" % (i, value, i) for i in range(10_000)) + b"</usr>"
    message = _wrapped(folder, b"<mcd><Type>car</Type></mcd>")
    start = time.process_time()
    found = formats.properties(message, ["a9999", "JMSType"])
    assert time.process_time() - start < 1
    assert found == {"a9999": value.decode(), "JMSType": "car"}
    assert len(formats.properties(message)) > 10_000


def test_depth_and_size_are_limited() -> None:
    """Groups nest to 128, names take no more than 16 times their folder; beyond, the folder has no properties."""
    deep = _wrapped(b"<mq_usr>" + b"<a>" * 128 + b"1" + b"</a>" * 128 + b"</mq_usr>")
    assert formats.properties(deep)["mq_usr" + ".a" * 128] == "1"
    deeper = _wrapped(b"<mq_usr>" + b"<a>" * 129 + b"1" + b"</a>" * 129 + b"</mq_usr>")
    assert [note.message[:11] for note in formats.inspect(deeper).notes] == ["groups nest"]
    wide = _wrapped(BOMBS["long group"](1000))
    assert [note.reason for note in formats.inspect(wide).notes] == [MQRC.MQRC_PROPERTIES_TOO_BIG]
    assert formats.properties(wide, ["mq_usr." + LONG_NAME.decode() + ".a1"]) == {}


@pytest.mark.parametrize("count", [30, 43, 44, 60])
def test_names_longer_than_any_count_alike(count: int) -> None:
    """A folder is too big, or not, whether all its elements are read or their names are only judged."""
    long = b"g" * 20_000
    elements = b"".join(b"<a%02d>1</a%02d>" % (place, place) for place in range(count))
    raw = _wrapped(b"<%b content='properties'>%b</%b>" % (long, elements, long), b"<usr><b>1</b></usr>")
    assert formats.inspect(raw).notes[0].reason == (
        MQRC.MQRC_PROPERTIES_TOO_BIG if count > 43 else MQRC.MQRC_PROPERTY_NAME_LENGTH_ERR
    )
    decoder = MQDecoder(["b"], never=True)
    assert (decoder(raw)["b"], decoder.noted) == ("1", count > 43)  # type: ignore[index]


LONGEST = names.MAX_LENGTH


def test_a_name_of_the_greatest_length_costs_no_more() -> None:
    """A decoder that wants one reads a folder of deep groups in the time of any other, however long the paths."""
    group = b"g" * 15_000
    folder = b"<my content='properties'>" + b"<%b>" % group * 120 + b"<z/>" * 8000 + b"</%b>" % group * 120 + b"</my>"
    message = _wrapped(folder)

    def seconds(*names: str) -> float:
        start = time.process_time()
        assert formats.properties(message, names) == {}
        return time.process_time() - start

    plain = min(seconds("my.a") for _ in range(3))
    long = min(seconds("my." + "a" * (LONGEST - 3), "my.ggg." + "b" * (LONGEST - 7)) for _ in range(3))
    assert long < 4 * plain + 0.02
    whole = _seconds(_wrapped(folder.replace(b"<z/>" * 8000, b"<z/>" * 3000)))
    assert whole < 1


def test_names_are_cut_alike_in_every_way_of_reading() -> None:
    """What the whole reading calls a property, longer than names may be, is found by that name: the first of them."""
    rng = random.Random("cut")
    for _ in range(300):
        # Parts whose lengths, in characters, come close to what a name may have, in various alphabets.
        letter = rng.choice("aäあ")
        sizes = [rng.choice((1, 2, 2045, 2047, 4089, 4090, 4091, 4092, 4095, 4096, 5000)) for _ in range(3)]
        parts = [letter * size for size in sizes[: rng.randrange(1, 4)]]
        name = rng.choice(("usr", "my", "mq_usr", "x" * 4093, "x" * 4095, "x" * 4100))
        parts = parts[:1] if name == "usr" else parts
        inside = ""
        for variant in (parts, [*parts[:-1], parts[-1] + letter]):
            element = "".join(f"<{part}>" for part in variant) + str(rng.randrange(9))
            inside += element + "".join(f"</{part}>" for part in reversed(variant))
        content = "" if name in ("usr", "mq_usr") else " content='properties'"
        message = _wrapped(f"<{name}{content}>{inside}</{name}>".encode())
        found = formats.properties(message[364:])
        assert 1 <= len(found) <= 2
        assert {len(name) for name in found} <= {*range(LONGEST + 1)}
        assert formats.properties(message, found) == found
        longer = [f"{name}{letter}" for name in found if len(name) == LONGEST]
        assert formats.properties(message, longer) == {}


def test_a_folder_of_any_size_is_read_a_part_at_a_time() -> None:
    """Elements beyond those that are kept at once count as the others do: first wins, all or none of a folder."""
    count = 9000
    both = "<g{0}><a{1}>{1}</a{1}></g{0}><b{2} dt='i4'>{1}</b{2}>"
    inside = "".join(both.format(i % 3, i, i % 7000) for i in range(count))
    whole = _wrapped(b"<mq_usr><b-d>1</b-d>%b</mq_usr>" % inside.encode())
    wanted = {f"mq_usr.g{i % 3}.a{i}": str(i) for i in range(count)} | {f"mq_usr.b{i}": i for i in range(7000)}
    inspection = formats.inspect(whole)

    found = formats.properties(whole)
    assert {name: value for name, value in found.items() if name.startswith("mq_usr")} == wanted
    assert {row.name: row.value for row in inspection.rows} == found
    assert [KEYS[note.message] for note in inspection.notes] == ["name-invalid", *["duplicate"] * 2000]
    assert formats.properties(whole, wanted) == wanted
    broken = _wrapped(b"<mq_usr>%b</mq_usr" % inside.encode(), b"<usr><z>1</z></usr>")
    assert not [name for name in formats.properties(broken) if name.startswith("mq_usr")]
    assert formats.properties(broken, [*wanted, "z"]) == {"z": "1"}
    assert [KEYS[note.message] for note in formats.inspect(broken).notes] == ["folder-malformed"]


def test_inspect_takes_little_memory() -> None:
    """A hundred thousand properties take 20 MB, and no more while they are read; their rows are a sequence."""
    count = 100_000
    message = _wrapped(b"<usr>%b</usr>" % b"".join(b"<a%d>1</a%d>" % (i, i) for i in range(count)))
    tracemalloc.start()
    try:
        rows = formats.inspect(message).rows
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert (rows[7].name, rows[7].type, rows[7].source) == ("a7", "string", "usr")
    assert [row.name for row in rows[1:7:2]] == ["a1", "a3", "a5"]
    assert rows[-1] == list(rows)[-1]
    assert rows == formats.inspect(message).rows
    assert pickle.loads(pickle.dumps(rows)) == rows
    with pytest.raises(IndexError):
        rows[len(rows)]


def test_not_bytes() -> None:
    """What is not bytes is refused as no message; buffers are read like bytes."""
    message = mq.encode(HEAD, RICH)
    for wrong in (None, 5, "MD  ", [1], {"color": "blue"}, memoryview(b"abcd")[::2]):
        error = DecodeError if isinstance(wrong, memoryview) else PropertyTypeError
        with pytest.raises(error):
            formats.properties(wrong)
    assert formats.properties(bytearray(message)) == formats.properties(memoryview(message))
    assert formats.properties(memoryview(message)) == formats.properties(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": "color"}, "names is a sequence of strings, found one str"),
        ({"names": 5}, "names is a sequence of strings, found one int"),
        ({"names": [["x"]]}, "the name of a property is a string, found list"),
        ({"ccsid": 1200}, WRONG_CCSID),
        ({"ccsid": [37]}, "ccsid is a number, found list"),
    ],
)
def test_properties_refuses(options: dict[str, Any], message: str) -> None:
    """`properties` names the argument it cannot take."""
    with pytest.raises(ArgumentError) as caught:
        formats.properties(mq.encode({}, {}), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["a", 5], {}, "the name of a property is a string, found int"),
        ([], {"identifier": ("MsgId", b"short")}, "identifier is ('MsgId', b'short'): expected 24 bytes for MsgId"),
        ([], {"identifier": ("CorrelId", bytes(25))}, "expected 24 bytes for CorrelId"),
        ([], {"identifier": ("MsgId", "x" * 24)}, "expected 24 bytes for MsgId"),
        ([], {"identifier": ("GroupId", bytes(24))}, "identifier is ('GroupId', "),
        ([], {"identifier": b"MsgId"}, "identifier is b'MsgId': expected MsgId or CorrelId and its bytes"),
    ],
)
def test_decoder_refuses(names: list[Any], options: dict[str, Any], message: str) -> None:
    """What a decoder would read memory with is checked when it is made."""
    with pytest.raises(ArgumentError) as caught:
        MQDecoder(names, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("behind", [b"", b"b", b"body of some length"])
def test_lengths_of_names_and_values(behind: bytes) -> None:
    """Names and texts of all lengths that words of eight bytes end in are read as wanted ones, and skipped as others.

    The last element ends up to the last byte of the message. What `properties` gives of all is read another way.
    """
    values: list[Any] = ["", "v", "value-7", "value-08", "value-009", "v" * 16, "v" * 17, "v" * 300, "ä", "v" * 9 + "ä"]
    values += ["a&b", "v" * 9 + "&", 0, 5, -5, 1234567, 12345678, 99999999, 123456789, 2**63 - 1, -(2**63)]
    values += [
        Int8(127),
        Int8(-128),
        Int16(32767),
        Int32(99999999),
        Int32(2**31 - 1),
        1.5,
        Float32(2.0),
        True,
        b"\1",
        None,
    ]
    values += ["v" * 64, "v" * 71, "v" * 72, "v" * 73, "v" * 300 + "ä", "v" * 80 + "&", "ä" + "v" * 80]
    rng = random.Random("lengths")
    for size in (*range(1, 26), 31, 32, 33, 63, 64, 65, 71, 72, 73, 200):
        properties = {f"{'n' * size}"[: max(size - 2, 1)] + f"{place:02}": value for place, value in enumerate(values)}
        raw = mq.encode({}, properties, behind)
        every = formats.properties(raw)
        assert {name: typed(every[name]) for name in properties} == {n: typed(v) for n, v in properties.items()}
        for wanted in (properties, rng.sample(sorted(properties), 7), ["other"]):
            for never in (False, True):
                record = MQDecoder(wanted, never=never)(raw)
                assert isinstance(record, mqsel.Record)
                assert [typed(one) for one in record.as_tuple()] == [typed(properties.get(name)) for name in wanted]


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        (b"<usr><a dt='i1'>128</a><b dt='i2'>32768</b><c dt='i4'>2147483648</c></usr>", {}),
        (
            b"<usr><a dt='i1'>127</a><b dt='i2'>32767</b><c dt='i4'>99999999</c></usr>",
            {"a": 127, "b": 32767, "c": 99999999},
        ),
        (b"<usr><a dt='i8'>1 2</a><b dt='i8'></b><c dt='i8'>12345:78</c></usr>", {}),
        (b"<usr><a dt='i8'>00000007</a><b dt='i8'>+7</b><c dt='i8'>1/</c></usr>", {"a": 7, "b": 7}),
        (b"<usr><a dt='i8'>1\xb0</a><b dt='q7'>7</b><c dt='r9'>7</c></usr>", {"b": b"7", "c": b"7"}),
        (b"<usr><a dt='I8'>7</a><b dt=\"i8\">7</b><c  dt='i8'>7</c></usr>", {"a": b"7", "b": 7, "c": 7}),
        (b"<usr><a dt='\0\0'>7</a><b dt='\0'>7</b><c dt=''>7</c></usr>", {"a": b"7", "b": b"7", "c": b"7"}),
        (b"<usr><a dt='i8' >7</a><b dt='i8' dt='i8'>7</b><c dt='i8'/></usr>", {"a": 7}),
        (b"<usr><a>1</a><a>2</a><b>1</b ><c>1</c></usr>", {"a": "1", "b": "1", "c": "1"}),
        (b"<usr> <a>1</a>\n<b>1</b>text<c>1</c> </usr>", {"a": "1", "b": "1", "c": "1"}),
        (b"<usr><a>1</a><b><c>1</c></b><c>2</c></usr>", {"a": "1", "c": "2"}),
        (b"<usr><a>1</a><b>1</c></usr>", {}),
        (b"<usr><a>1</a><b>1</b></usr><c>1</c>", {}),
        (b"<usr><a>1</a><b>1<!-- x --></b><c>1<</c></usr>", {"a": "1"}),
        (b"<usr><a>\xff</a><b>\xc3\xa4</b><c>&lt;</c></usr>", {"b": "ä", "c": "<"}),
        (b"<usr><a>1</a><bb>1</b></usr>", {}),
        (b"<usr><>1</><a>1</a></usr>", {"a": "1"}),
        (b"<jms><Pri>5</Pri></jms><usr><a>1</a></usr>", {}),
    ],
)
def test_elements_that_are_nearly_plain(folder: bytes, found: dict[str, Any]) -> None:
    """What differs by a byte from the commonest form of an element is read by the rules of formats §3 and §6."""
    assert formats.properties(_wrapped(folder), ["a", "b", "c"]) == found
    every = formats.properties(_wrapped(folder))
    assert {name: every[name] for name in "abc" if name in every} == found


def test_an_idle_decoder_holds_no_value() -> None:
    """What a call of `properties` has read is not kept for the next one."""
    for wanted in (None, ["JMSType"]):
        value = formats.properties(mq.encode({}, {"JMSType": "x" * 1000}), wanted)["JMSType"]
        assert sys.getrefcount(value) == 2


def test_one_decoder_is_for_one_thread() -> None:
    """Threads that share a decoder are told so, or take turns; `properties` may be called from any."""
    message = mq.encode(HEAD, {f"ä{i}": i for i in range(200)})
    decode = mqsel.compile("ä7 = 7").decoder("mq")
    failures: list[BaseException] = []

    def run() -> None:
        for _ in range(200):
            try:
                decode(message)
            except ArgumentError as error:
                failures.append(error)
            assert len(formats.properties(message)) > 200

    threads = [threading.Thread(target=run) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert {str(error).split(":")[0] for error in failures} <= {"this decoder is already reading a message"}
    assert decode(message)["ä7"] == 7


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (({"Color": 1}, {}), {}, "the MQMD has no field 'Color' to set"),
        (({"Version": 1}, {}), {}, "the MQMD has no field 'Version' to set"),
        (({"Priority": 2**31}, {}), {}, "MQMD field Priority is 2147483648: expected an integer of 32 bits"),
        (({"Priority": "4"}, {}), {}, "MQMD field Priority is '4': expected an integer of 32 bits"),
        (({"Format": "MQSTRINGS"}, {}), {}, "MQMD field Format takes 9 bytes: it has 8"),
        (({"MsgId": "x"}, {}), {}, "MQMD field MsgId is 'x': expected bytes"),
        (({"ReplyToQ": b"x"}, {}), {}, "MQMD field ReplyToQ is b'x': expected a string"),
        (({"ReplyToQ": "€"}, {}), {"ccsid": 500}, "CCSID 500 lacks one of its characters"),
        (({}, {}, "text"), {}, "the body is a Python str: expected bytes\n  hint: encode it: body.encode()"),
        (({}, {}, 5), {}, "the body is a Python int: expected bytes"),
        (([], {}), {}, "encode takes two mappings, fields of the MQMD and properties, and bytes: found a Python list"),
        (({}, b"data"), {}, "found a Python dict and a Python bytes"),
        (({}, {}), {"encoding": "big"}, "encoding is 'big': expected a byte order"),
        (({}, {"a": 1}), {"version": 3}, "version is 3: expected 1 or 2"),
        (({}, {"a": 1}), {"encoding": 0}, "encoding is 0: expected a byte order, such as 273 (big) or 546 (little)"),
        (({}, {"a": 1}), {"ccsid": 1200}, WRONG_CCSID),
        (({}, {"a": 1}), {"name_value_ccsid": 819}, "name_value_ccsid is 819: expected 1208, 1200, 13488, 17584"),
        (({}, {"a b": 1}), {}, "property 'a b' cannot be written: 'a b' is not a valid element name"),
        (({}, {5: 1}), {}, "the name of a property is a string, found int"),
        (({}, {"x.y": 1, "x.y.z": 2}), {}, "property 'x.y.z' stands inside another"),
        (({}, {"x.y.z": 1, "x.y": 2}), {}, "property 'x.y' is given twice, or has others inside it"),
        (({}, {"a": 1, "usr.a": 2}), {}, "property 'usr.a' is given twice"),
        (({}, {"usr.a.b": 1}), {}, "property 'usr.a.b' needs a group: folder usr has none"),
        (({}, {"JMSMessageID": "x"}), {}, "JMSMessageID is a field of the message descriptor: give MsgId in mqmd"),
        (({}, {"JMSDeliveryMode": 2}), {}, "JMSDeliveryMode is 2: expected 'PERSISTENT' or 'NON_PERSISTENT'"),
        (({}, {"JMSFoo": 2}), {}, "no property can be named 'JMSFoo'"),
        (({}, {"Root.MQMD.Priority": 2}), {}, "no property can be named 'Root.MQMD.Priority'"),
        (({}, {"a": 2**63}), {}, "property 'a' is 9223372036854775808: no int64"),
        (({}, {"a": ("int8", 128)}), {}, "Int8 holds -128 to 127, found 128"),
        (({}, {"a": ("int32", "5")}), {}, "property 'a' is '5': no int32"),
        (({}, {"a": ("date", 5)}), {}, "property 'a' is 5: no type of a property"),
        (({}, {"a": [1]}), {}, "property 'a' is [1]: no type of a property"),
        (({}, {"JMS_IBM_MQMD_Format": "x"}), {}, "JMS_IBM_MQMD_Format is a field of the message descriptor: give"),
        (({}, {"JMS_IBM_Format": "x"}), {}, "JMS_IBM_Format is a field of the message descriptor: give Format in mqmd"),
        (({"Priority": 1}, {"JMSPriority": 1}), {}, "JMSPriority is the field Priority of the message descriptor: "),
        (({}, {"JMSPriority": "high"}), {}, "MQMD field Priority is 'high': expected an integer of 32 bits"),
        (({}, {"a": "\ud800"}), {}, "a property has half a surrogate pair"),
    ],
)
def test_encode_refuses(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    """`encode` names the field, name or value that does not fit."""
    with pytest.raises(ArgumentError) as caught:
        mq.encode(*arguments, **options)
    assert message in str(caught.value)


# ---- selection from raw messages ---------------------------------------------------------------------------------

SELECTOR = "JMSPriority > 4 AND Root.MQMD.MsgType = 8 AND color = 'blue'"


def _stream() -> list[bytes]:
    return [
        mq.encode(
            {"Priority": number % 10, "MsgType": 8 if number % 3 else 1, "MsgId": bytes([number]) * 24},
            {"color": ("blue", "red")[number % 2], "number": Int32(number)},
            b"data",
            encoding=(273, 546)[number % 2],
        )
        for number in range(100)
    ]


def test_filter_selects_what_the_properties_say() -> None:
    """`filter` over raw messages gives the very ones that `matches` selects from their properties, in order."""
    matcher, messages = mqsel.compile(SELECTOR), _stream()
    wanted = [raw for raw in messages if matcher.matches(formats.properties(raw))]
    stream = matcher.filter(iter(messages), format="mq")
    chosen = list(stream)

    assert len(wanted) > 5
    assert all(one is other for one, other in zip(chosen, wanted, strict=True))
    assert (stream.seen, stream.selected, stream.skipped, stream.failures) == (100, len(wanted), 0, [])
    assert list(matcher.filter([bytearray(raw) for raw in messages], format="mq")) == wanted


@pytest.mark.parametrize("vector", [v for v in VECTORS if "error" not in v], ids=lambda vector: vector["id"])
def test_decoder_and_properties_agree(vector: dict[str, Any]) -> None:
    """For each property of each vector the record of a decoder holds what `properties` gives."""
    message, options = bytes.fromhex(vector["message"]), vector.get("options", {})
    found = formats.properties(message, **options)
    record = formats.decoder("mq", tuple(found), invalid_names="ignore", **options)(message)

    assert {name: typed(value) for name, value in found.items()} == {name: typed(record[name]) for name in found}


def test_errors_in_a_stream() -> None:
    """A message that cannot be read raises with its index, or is skipped, counted and listed."""
    matcher, messages = mqsel.compile("number >= 0"), _stream()
    messages[3], messages[7], messages[9] = messages[3][:380], b"", None  # type: ignore[call-overload]
    with pytest.raises(DecodeError) as caught:
        list(matcher.filter(messages, format="mq"))
    assert caught.value.index == 3
    assert str(caught.value).startswith(
        "MQRFH2 needs 36 bytes: 16 are left [record 3; MQRFH2 at byte 364; MQRC_RFH_ERROR (2334)]"
    )
    stream = matcher.filter(messages, format="mq", errors="skip")
    assert len(list(stream)) == 97
    assert (stream.seen, stream.skipped) == (100, 3)
    assert [(type(error), error.index) for error in stream.failures] == [  # type: ignore[attr-defined]
        (DecodeError, 3),
        (DecodeError, 7),
        (PropertyTypeError, 9),
    ]
    many = matcher.filter([b""] * 1000, format="mq", errors="skip")
    assert (list(many), many.skipped, len(many.failures)) == ([], 1000, 100)


def test_decode_error_survives_pickling() -> None:
    """A DecodeError comes back from an executor as it went."""
    with pytest.raises(DecodeError) as caught:
        list(mqsel.compile("a = 1").filter([b"x"], format="mq"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))


@pytest.mark.parametrize(
    "folder",
    [
        b"<usr><a>1</a><b-c>1</b-c></usr>",
        b"<usr><a>1</a><JMSFoo>1</JMSFoo></usr>",
        b"<usr><a>1</a><Between>1</Between></usr>",
        b"<usr><1z>1</1z></usr>",
        b"<usr><a:c>1</a:c></usr>",
        b"<usr><..x>1</..x></usr>",
        b"<usr><x.>1</x.></usr>",
        b"<usr><x..y/></usr>",
        b"<usr><JMSx.y>1</JMSx.y></usr>",
        b"<usr><-x>1</-x></usr>",
        b"<mq_usr><a:g><c>1</c></a:g></mq_usr>",
        b"<mq_usr><g.><c>1</c></g.></mq_usr>",
        b"<mqfoo content='properties'><a.b>1</a.b></mqfoo>",
        b"<usr><a>1</a></usr><!---->",
    ],
)
def test_invalid_names(folder: bytes) -> None:
    """A message with an invalid name is never selected under IBM_MQ, unless the name is to be ignored (formats §2)."""
    raw = _wrapped(b"<usr><a>1</a></usr>", folder, b"<other><x-y>1</x-y></other>")
    is_malformed = folder.endswith(b"-->")  # what is in it is no property
    for text in ("a = '1'", "a IS NOT NULL", "zz IS NULL", "Root.MQMD.MsgType = 8"):
        matcher = mqsel.compile(text)
        assert list(matcher.filter([raw], format="mq", invalid_names="ignore")) == [raw]
        assert list(matcher.filter([raw], format="mq")) == ([raw] if is_malformed else [])
        stream = matcher.filter([raw, mq.encode({}, {})], format="mq", invalid_names="never")
        assert (raw in list(stream)) == is_malformed
        assert (stream.seen, stream.decode.noted) == (2, 1)  # type: ignore[union-attr]
    # The rule is IBM MQ's own; other dialects keep the message.
    assert list(mqsel.compile("a = '1'", dialect=mqsel.JMS).filter([raw], format="mq")) == [raw]


@pytest.mark.parametrize(
    "folder", [b"<x.b>1</x.b>", b"<g><x:b>1</x:b></g>", b"<c d>1</c>", b"<c>1 < 2</c>", b"<!-- <b-c/> -->"]
)
def test_what_is_no_property_has_no_invalid_name(folder: bytes) -> None:
    """An element that is skipped hides neither the others of its folder nor the message, but is counted."""
    raw = _wrapped(b"<usr>%b<a>1</a></usr>" % folder)
    stream = mqsel.compile("a = '1'").filter([raw], format="mq")
    assert list(stream) == [raw]
    assert stream.decode.noted == (b"<!--" not in folder and b"<c" not in folder)  # type: ignore[union-attr]
    assert formats.properties(raw, ["a", "c"]) == {"a": "1"}


def test_names_are_judged_as_selectors_judge_them() -> None:
    """A name is invalid in a usr folder exactly when no selector can be written with it."""
    rng = random.Random("names")
    alphabet = "aZ_$09éß‿€\u0300\u180e\u2003\u00a0\u0085\u001c\u0008\u200d١ªⅫ𝄞-ª"
    for _ in range(3000):
        name = "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 4)))
        try:
            is_valid = mqsel.compile(f"{name} IS NULL").properties == (name,)
        except mqsel.SelectorError:
            is_valid = False
        raw = _wrapped(f"<usr><{name}>1</{name}></usr>".encode())
        selected = list(mqsel.compile("Root.MQMD.MsgType = 8").filter([raw], format="mq"))
        assert (name, is_valid) == (name, bool(selected))


@pytest.mark.parametrize("word", names.RESERVED)
def test_keywords_are_no_names(word: str) -> None:
    """A keyword in any case names no property, wanted or not; what has one character more, less or other does."""
    near = (word[:-1], f"{word}S", f"{word[:-1]}$", f"{word[:-1]}\u017f", f"_{word[1:]}", word.swapcase()[:-1])
    for name in (word, word.lower(), word.capitalize(), word[0].lower() + word[1:], *near):
        is_valid = not name.isascii() or name.upper() not in names.RESERVED
        for folder, begins in ((f"<usr><{name}>1</{name}></usr>", ""), (f"<ibm><{name}>1</{name}></ibm>", "ibm.")):
            raw, is_kept = _wrapped(folder.encode()), is_valid or begins == "ibm."
            assert (name, formats.properties(raw, [begins + name])) == (name, {begins + name: "1"} if is_kept else {})
            assert (name, begins + name in formats.properties(raw)) == (name, is_kept)
            assert (name, MQDecoder(["other"], never=True)(raw) is not False) == (name, is_kept)


def test_match_option_reads_the_mqmd_alone() -> None:
    """A selector on one identifier compares 24 bytes, whatever header is behind; all zero matches every message."""
    broken = mq.encode({"MsgId": b"\xab" * 24, "CorrelId": b"\x01" * 24}, {"x-": 1}, b"")[:380]
    ebcdic = mq.encode({"MsgId": b"\xab" * 24}, {}, encoding=273, ccsid=500)
    other = mq.encode({"MsgId": b"\xac" * 24}, {})
    headless = mq.encode({}, {"a": 1})[364:]
    messages = [broken, ebcdic, other, headless]

    def chosen(text: str) -> list[bytes]:
        return list(mqsel.compile(text).filter(messages, format="mq"))

    assert chosen(f"JMSMessageID = 'ID:{'aB' * 24}'") == [broken, ebcdic]
    assert chosen(f"JMSCorrelationID = 'ID:{'01' * 24}'") == [broken]
    assert chosen(f"JMSMessageID = 'ID:{'00' * 24}'") == messages
    # Not alone, or the other way round: the selector runs, and the broken header is found.
    for text in (f"JMSMessageID = 'ID:{'ab' * 24}' AND zz IS NULL", f"'ID:{'00' * 24}' = JMSMessageID"):
        with pytest.raises(DecodeError):
            chosen(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format is 'xml': expected one of 'mq'"),
        ({"format": "mq", "invalid_names": "maybe"}, "invalid_names is 'maybe': expected 'never' or 'ignore'"),
        ({"format": "mq", "ccsid": 1200}, WRONG_CCSID),
        ({"format": "mq", "depth": 3}, "format 'mq' does not take these options: depth"),
        ({"strip": True}, "filter takes strip only with a format"),
        ({"messages": b"MD  ", "format": "mq"}, "filter takes an iterable of messages, found one Python bytes"),
    ],
)
def test_filter_refuses(options: dict[str, Any], message: str) -> None:
    """A format or an option that does not exist is named."""
    with pytest.raises(ArgumentError) as caught:
        mqsel.compile("a = 1").filter(**{"messages": [], **options})
    assert message in str(caught.value)


def test_names_of_the_descriptor_are_read_in_every_dialect() -> None:
    """JMS_IBM_MQMD_ and a field reads the descriptor, JMS_IBM_Format and its like what describes the body."""
    raw = mq.encode({"Format": "MQSTR", "CodedCharSetId": 850, "UserIdentifier": "me"}, {"JMSPriority": 7, "a": "1"})
    for dialect in (mqsel.IBM_JMS, mqsel.JMS, mqsel.TIBCO_EMS):
        for text, selected in (
            ("JMS_IBM_MQMD_Format = 'MQHRF2  ' AND JMS_IBM_Format = 'MQSTR   '", True),
            ("JMS_IBM_MQMD_CodedCharSetId = 1208 AND JMS_IBM_Character_Set = 'IBM850'", True),
            ("JMS_IBM_MQMD_Priority = 7 AND JMSPriority = 7 AND JMS_IBM_PutApplType = 0", True),
            ("JMS_IBM_MQMD_MsgId IS NOT NULL AND JMS_IBM_MQMD_UserIdentifier LIKE 'me%'", True),
            ("JMS_IBM_MQMD_Version IS NOT NULL", False),
        ):
            matcher = mqsel.compile(text, dialect=dialect)
            assert (text, selected) == (text, bool(list(matcher.filter([raw], format="mq"))))
            assert (text, selected) == (text, matcher.matches(formats.properties(raw)))


def test_types_reach_the_machine() -> None:
    """Arithmetic on a decoded property wraps and rounds by the type it was sent with."""
    raw = mq.encode({}, {"i": Int32(2**31 - 1), "l": 2**31 - 1, "f": Float32(0.1), "d": 0.1, "t": Int8(5), "n": None})
    for text, selected in (
        ("i + i = -2", True),
        ("l + l = -2", False),
        ("f = 0.1", False),
        ("d = 0.1", True),
        ("f + f < 0.3", True),
        ("t + 1 = 6", True),
        ("n IS NULL", True),
        ("usr.i > 5", True),
        ("JMSDeliveryMode = 'NON_PERSISTENT'", True),
        ("Root.MQMD.Format = 'MQHRF2  '", True),
        ("Root.MQMD.Format = 'MQHRF2'", False),
    ):
        matcher = mqsel.compile(text)
        assert (text, selected) == (text, bool(list(matcher.filter([raw], format="mq"))))
        assert (text, selected) == (text, matcher.matches(formats.properties(raw)))
    assert list(mqsel.compile("Root.MQMD.Format = 'MQHRF2'").filter([raw], format="mq", strip=True)) == [raw]


def test_decoder_keeps_nothing_but_its_last_message() -> None:
    """Decoders, records and streams free what they allocate: reading stays flat."""
    matcher = mqsel.compile("color = 'blue' AND my.group.inner = 'x'")
    raw = mq.encode(HEAD, RICH, b"body")
    broken = [raw[:400], raw]

    def once() -> None:
        list(matcher.filter([raw] * 5, format="mq"))
        list(matcher.filter(broken, format="mq", errors="skip"))
        formats.properties(raw)
        formats.inspect(raw)

    for _ in range(20):
        once()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            once()
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 20_000
