"""Malformed bytes end in a DecodeError, or in a note."""

from __future__ import annotations

import pickle
import random
import struct
import sys
import threading
import time
import tracemalloc
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from raw import HEAD, KEYS, RICH, WRONG_CCSID, _wrapped, typed

import mqsel
from mqsel import formats, names
from mqsel.errors import MQRC, ArgumentError, DecodeError, PropertyTypeError
from mqsel.formats import mq, mqmd
from mqsel.formats._mq import MQDecoder
from mqsel.values import Float32, Int8, Int16, Int32


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
        assert {name: typed(value) for name, value in found.items() if not name.startswith("JMS_IBM_")} == {
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
        found = {name: value for name, value in found.items() if not name.startswith("JMS_IBM_")}
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
        ({"names": 5}, "found 5: expected names of properties"),
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
        ("ab", {}, "names is a sequence of strings, found one str"),
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
        (({}, {5: 1}), {}, "the name of a property is a string, found int"),
        (({}, {"x.y": 1, "x.y.z": 2}), {}, "property 'x.y.z' stands inside another"),
        (({}, {"x.y.z": 1, "x.y": 2}), {}, "property 'x.y' is given twice, or has others inside it"),
        (({}, {"a": 1, "usr.a": 2}), {}, "property 'usr.a' is given twice"),
        (({}, {"JMSMessageID": "x"}), {}, "JMSMessageID is a field of the message descriptor: give MsgId in mqmd"),
        (({}, {"JMSDeliveryMode": 2}), {}, "JMSDeliveryMode is 2: expected 'PERSISTENT' or 'NON_PERSISTENT'"),
        (({}, {"JMSDeliveryMode": []}), {}, "JMSDeliveryMode is []: expected 'PERSISTENT' or 'NON_PERSISTENT'"),
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
        *(
            (({}, {name: value}), {}, f"property {name!r} cannot be read: its folder has no such name or value")
            for names, value in (
                ("not Root Body.x a-b 𝄞 mq.é mqx.a.b usr.a.b JMSFoo Root.MQMD.Priority 1 a..b <x/> a></a><a", 5),
                ("mq.a", None),
                ("mq.a", "&"),
            )
            for name in names.split()
        ),
        (({"CodedCharSetId": 0}, {"a": 1}), {}, "CodedCharSetId is 0: an MQRFH2 has a character set"),
    ],
)
def test_encode_refuses(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    """`encode` names the field, name or value that does not fit."""
    with pytest.raises(ArgumentError) as caught:
        mq.encode(*arguments, **options)
    assert message in str(caught.value)
