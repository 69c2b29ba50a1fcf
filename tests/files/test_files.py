"""Files of raw messages: QLOAD text, length-prefixed bytes, one message in a file.

Vectors, `vectors/formats/files.jsonl`, one object on a line: `id`; `source`; `framing`, "qload", "amqsbcg" or "mq";
the content of the file as `text` or in `hex`; `want`, for each message in order: of texts `line`, `fields` of the MQMD
that differ from the blank one (null: no MQMD) with bytes in hexadecimal digits and characters without the blanks behind
them, and `data` in hexadecimal digits; of bytes `byte` and `message` in hexadecimal digits; or, of what is broken,
`line` or `byte` and `error`; optional `note`.
"""

import gzip
import io
import os
import random
import struct
import tracemalloc

import pytest
from conftest import VECTORS_ROOT, json_lines
from printer import BANNER, TRAILER, amqsbcg_text, is_little, mqmd

from mqsel import formats
from mqsel.errors import ArgumentError, DecodeError, FileError
from mqsel.files import amqsbcg, qload
from mqsel.files import framings as files
from mqsel.files.dumps import Piece
from mqsel.files.opening import content_of
from mqsel.files.qload import QLOAD_CODES, qload_text
from mqsel.formats import mq
from mqsel.formats.mqmd import MQMD, MQMD_LENGTH_1, MQMD_LENGTH_2

VECTORS = json_lines(VECTORS_ROOT / "formats" / "files.jsonl")
FIELDS = {field.name: field for field in MQMD}


def content(vector):
    """Return the bytes of a vector's file."""
    return bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()


def read(data, framing):
    """Split a file into its messages; leave out what stands before the first."""
    found = files.pieces(content_of(io.BufferedReader(io.BytesIO(data))), framing, "file")
    return [piece for piece in found if isinstance(piece, FileError) or piece.message is not None]


def some_message(rng, version=None):
    """Return a message of random fields and data, which a QLOAD file can hold."""
    order = rng.choice("<>")
    data = bytearray(mqmd({"Version": version or rng.choice((1, 2))}, ">"))
    for field in MQMD:
        if field.name in ("StrucId", "Version") or field.offset >= len(data):
            value = None
        elif field.kind == "MQLONG":
            value = struct.pack(">i", rng.randrange(-(1 << 31), 1 << 31))
        elif field.kind == "MQBYTE":
            value = rng.randbytes(field.length)
        else:
            value = bytes(rng.choices(range(0x20, 0x7F), k=field.length))
        if value is not None:
            data[field.offset : field.offset + field.length] = value
        if field.kind == "MQLONG" and order == "<" and field.offset < len(data):
            data[field.offset : field.offset + 4] = data[field.offset : field.offset + 4][::-1]
    return bytes(data) + rng.randbytes(rng.choice((0, 1, 24, 25, 26, 300)))


def as_read(message):
    """Return the same message with the numbers of its MQMD in the order in which a reader of texts writes them."""
    is_so = message[4:6] != b"\0\0"
    if is_so == is_little(struct.unpack_from("<i" if is_so else ">i", message, 24)[0]):
        return message
    data = bytearray(message)
    size = MQMD_LENGTH_1 if 1 in (message[4], message[7]) else MQMD_LENGTH_2
    for field in MQMD:
        if field.kind == "MQLONG" and field.offset < size:
            data[field.offset : field.offset + 4] = data[field.offset : field.offset + 4][::-1]
    return bytes(data)


def test_vectors_are_well_formed():
    """Every vector has the documented keys and an id of its own."""
    assert len({vector["id"] for vector in VECTORS}) == len(VECTORS)
    for vector in VECTORS:
        assert set(vector) <= {"id", "source", "framing", "text", "hex", "want", "note"}, vector["id"]
        assert ("text" in vector) is not ("hex" in vector)
        for want in vector["want"]:
            assert set(want) in (
                {"line", "fields", "data"},
                {"byte", "message"},
                {"line", "error"},
                {"byte", "error"},
            ), vector["id"]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vector(vector):
    """A file gives its messages, and in the place of what is broken what is wrong with it and where."""
    found = read(content(vector), vector["framing"])
    assert len(found) == len(vector["want"])
    for piece, want in zip(found, vector["want"], strict=True):
        place = want.get("line", want.get("byte"))
        if "error" in want:
            assert isinstance(piece, FileError), piece
            assert (piece.line or piece.offset, piece.message) == (place, want["error"])
            assert f"[file, {'line' if 'line' in want else 'byte'} {place}]" in str(piece)
        else:
            assert isinstance(piece, Piece), piece
            fields = want.get("fields")
            extension = bytes.fromhex(want["data"]) if fields and fields.get("Format") == "MQHMDE" else b""
            head = b"" if fields is None else mqmd(fields, extension=extension)
            message = head + bytes.fromhex(want["message" if "message" in want else "data"])
            assert (piece.place, piece.message) == (place, message)


def test_every_code_has_a_vector():
    """Each code of QLOAD occurs in a vector that reads it, and each field of the MQMD has a code."""
    texts = "".join(vector.get("text", "") for vector in VECTORS)
    assert [code for code in QLOAD_CODES if f"A {code}" not in texts] == []
    assert set(QLOAD_CODES.values()) == set(FIELDS) - {"StrucId"}


ORDERS = ("<", ">")


def dumped_again(message, order):
    """Return what QLOAD and amqsbcg, run on a machine of this byte order, print of a message."""
    return {"qload": qload_text(message), "amqsbcg": amqsbcg_text(message, order=order)}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("given", [{}, {"GroupId": b"G" * 24, "MsgSeqNumber": 3}], ids=["", "group"])
@pytest.mark.parametrize("encoding", [273, 546, 785])
def test_texts_lose_no_header(version, given, encoding):
    """Whatever the byte order of a machine, its texts give each property that the message had."""
    message = mq.encode(given, {"color": "blue"}, b"data", version=version, encoding=encoding)
    wanted = formats.properties(message)
    assert (wanted["color"], wanted["Root.MQMD.MsgSeqNumber"]) == ("blue", given.get("MsgSeqNumber", 1))
    for framing, text in dumped_again(message, "<" if encoding & 2 else ">").items():
        (piece,) = read(text, framing)
        assert piece.message == message, framing


@pytest.mark.parametrize("of_chain", ORDERS)
@pytest.mark.parametrize("of_mqmd", ORDERS)
@pytest.mark.parametrize("stated", [0, 1, 2, 3])
@pytest.mark.parametrize("has_mqmde", [False, True])
def test_texts_of_any_byte_order(of_mqmd, of_chain, stated, has_mqmde):
    """What a queue manager honours, and what its Encoding leaves open, is there after a text, too."""
    encoding = {"<": 546, ">": 273}[of_chain]
    given = {"GroupId": b"G" * 24} if has_mqmde else {}
    message = bytearray(mq.encode(given, {"color": "blue"}, b"data", version=1, encoding=encoding))
    struct.pack_into("<i" if of_chain == "<" else ">i", message, 24, encoding & ~15 | stated if stated else 0)
    if of_mqmd != of_chain:
        codes = "".join("i" if one.kind == "MQLONG" else f"{one.length}s" for one in MQMD if one.offset < 324)
        message[:324] = struct.pack(f"{of_mqmd}{codes}", *struct.unpack(f"{of_chain}{codes}", message[:324]))
    try:
        wanted = formats.properties(bytes(message))
    except DecodeError:  # the Encoding lies
        wanted = {}
    for framing, text in dumped_again(bytes(message), of_mqmd).items():
        (piece,) = read(text, framing)
        if "color" in wanted:
            assert formats.properties(piece.message) == wanted, framing


@pytest.mark.parametrize("ccsid", [37, 500, 1047])
def test_texts_of_ebcdic(ccsid):
    """An MQMDE in EBCDIC is honoured behind the MQMD of a text, which is in ASCII there."""
    given = {"GroupId": b"G" * 24, "ReplyToQ": "ORDERS.IN"}
    message = mq.encode(given, {"color": "blue"}, b"data", version=1, encoding=785, ccsid=ccsid)
    wanted = formats.properties(message)
    assert wanted["color"] == "blue"
    lines = [f"A VER 1\nA ENC 785\nA CCS {ccsid}\nA FMT MQHMDE\nA RTQ ORDERS.IN\n", f"X {message[324:].hex()}\n"]
    (piece,) = read("".join(lines).encode(), "qload")
    assert piece.message == message


def test_amqsbcg_round_trip():
    """What amqsbcg prints of any message is read back exactly, several in one paste, in each encoding of texts."""
    rng = random.Random(11)
    messages = []
    for number in range(200):
        message = bytearray(some_message(rng))
        order = "<" if message[4:6] != b"\0\0" else ">"
        for field in MQMD:
            if field.kind == "MQCHAR" and field.name != "StrucId":  # without the quote that ends PutDate
                place = slice(field.offset, field.offset + field.length)
                message[place] = message[place] if field.name[:3] != "Put" else b"A" * field.length
        struct.pack_into(f"{order}i", message, 24, rng.choice((273, 546, 785)) if number % 2 else 546)
        messages.append((bytes(message), order))
    text = b"".join(
        amqsbcg_text(message, order=order, count=count) for count, (message, order) in enumerate(messages, 1)
    )
    pasted = b"$ amqsbcg ORDERS QM1\n" + BANNER + text + TRAILER + b"$ exit\n"
    wanted = [as_read(message) for message, _ in messages]
    for content in (
        pasted,
        pasted.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + pasted,
        pasted.decode().replace("\n", "\r\n").encode("utf-16"),
        gzip.compress(pasted.decode().encode("utf-16")),
    ):
        found = read(content, "amqsbcg")
        assert [piece.message for piece in found] == wanted
        again = b"".join(piece.raw for piece in found)
        assert [piece.message for piece in read(again, "amqsbcg")] == wanted
    assert pasted.startswith(again)


def test_a_broken_paste_does_not_tear_the_next():
    """What stands behind a broken message, such as more of a dump, goes with the next as it stands, or not at all."""
    message = mqmd({}) + b"AB"
    broken = amqsbcg_text(message)
    for text in (broken + b"00000002:  4344  'CD'\n", broken.replace(b"4142", b"414x").replace(b"2 of 2", b"0 of 0")):
        whole = text + b"noise\n00000000:  41  'A'\nnoise\n" + amqsbcg_text(message)
        first, second = read(whole, "amqsbcg")
        assert isinstance(first, FileError)
        assert (second.message, second.raw in whole) == (message, True)


@pytest.mark.volume
def test_amqsbcg_cut_at_every_byte():
    """A paste cut anywhere gives the messages before the cut, then at most one that is broken."""
    message = mq.encode({"GroupId": b"G" * 24}, {"color": "blue"}, b"data" * 9)
    text = BANNER + amqsbcg_text(message) + amqsbcg_text(message, count=2, properties=["size : 5"])
    second = text.index(b"****Message descriptor", text.index(b"****Message descriptor") + 1)
    for stop in range(len(text)):
        found = read(text[:stop], "amqsbcg")
        assert [piece.message for piece in found[:1] if stop > second] == [message] * (stop > second)
        assert len(found) <= 1 + (stop > second)
        assert all(isinstance(piece, FileError) or piece.raw in text[:stop] for piece in found)


def test_properties_of_a_message_handle():
    """Properties that amqsbcg prints beside the message are properties of it, with the types their texts show."""
    message = mq.encode({"Priority": 7}, {}, b"data")
    printed = ["color : 'blue'", "two : 'a\n\nb'", "n : -3000", "x : 0.25", "big : 1e+300", "ok : FALSE"]
    printed += [
        "token : X'0A1B'",
        "gone : NULL",
        "jms.Dst : 'queue:///Q'",
        "jms.Tms : 1600000000000",
        "mcd.Type : 'car'",
    ]
    (piece,) = read(amqsbcg_text(message, properties=printed), "amqsbcg")
    found = formats.properties(piece.message)
    wanted = {"color": "blue", "two": "a\n\nb", "n": -3000, "x": 0.25, "big": 1e300, "ok": False, "token": b"\n\x1b"}
    wanted |= {"gone": None, "JMSDestination": "queue:///Q", "JMSTimestamp": 1600000000000, "JMSType": "car"}
    assert {name: found[name] for name in wanted} == wanted
    assert (found["JMSPriority"], piece.message[-4:]) == (7, b"data")


def test_dead_letters():
    """A dead-letter header that the program prints instead of dumping it is there again, in any byte order."""
    for mine in ORDERS:
        for its in ORDERS:
            behind = mq.encode({}, {"color": "blue"}, b"data", encoding=273)[MQMD_LENGTH_2:]
            header = b"DLH " + struct.pack(f"{its}ii", 1, 2085) + b"Q".ljust(96)
            header += struct.pack(f"{its}ii", 273, 1208) + b"MQHRF2  " + struct.pack(f"{its}i", 28) + b"p".ljust(44)
            head = mqmd({"Format": "MQDEAD", "Encoding": {"<": 546, ">": 273}[its]}, mine)
            for has_dlh in (False, True):
                (piece,) = read(amqsbcg_text(head + header + behind, order=mine, has_dlh=has_dlh), "amqsbcg")
                assert piece.message[MQMD_LENGTH_2:] == header + behind
                assert formats.properties(piece.message)["color"] == "blue"


def test_comments_within_a_message():
    """However many blank lines and comments stand inside a message, all are kept with it, in their places."""
    for inside in (b"\n" * 5000, b"* c\n" * 5000, b"\r\n" * 1500 + b"* c\n \n" * 1500):
        text = b"A VER 2\nX 41\n" + inside + b"X 42\n"
        first, second = read(text + inside + text, "qload")
        assert first.message[-2:] == second.message[-2:] == b"AB"
        assert first.raw + second.raw == text + inside + text


def test_qload_round_trip():
    """What `qload_text` writes of any message `pieces` reads back exactly, several in a file and at every width."""
    rng = random.Random(4)
    messages = [some_message(rng) for _ in range(200)]
    messages += [b"", b"\x00", b"RFH \0\0\0\2"]
    text = b"* QLOAD Version:1.9\n\n" + b"".join(qload_text(one, width=rng.randrange(1, 90)) for one in messages)
    found = read(text, "qload")
    assert [piece.message for piece in found] == [as_read(one) if one[:2] == b"MD" else one for one in messages]
    assert b"".join(piece.raw for piece in found) == text.partition(b"\n\n")[2]


def test_length_prefixed_round_trip():
    """What `length_prefixed` writes of any messages `pieces` reads back exactly."""
    rng = random.Random(5)
    messages = [rng.randbytes(rng.randrange(400)) for _ in range(200)]
    found = read(b"".join(map(files.length_prefixed, messages)), "mq")
    assert [piece.message for piece in found] == messages


@pytest.mark.parametrize("framing", ["qload", "mq"])
def test_cut_at_every_byte(framing):
    """A file cut anywhere gives the messages before the cut, then at most one that is broken or shorter."""
    rng = random.Random(6)
    write = qload_text if framing == "qload" else files.length_prefixed
    messages = [as_read(some_message(rng, 2))[: MQMD_LENGTH_2 + 30] for _ in range(3)]
    whole = b"".join(map(write, messages))
    for stop in range(len(whole)):
        found = read(whole[:stop], framing)
        good = [piece.message for piece in found if isinstance(piece, Piece)]
        complete = sum(one == two for one, two in zip(good, messages, strict=False))
        assert complete >= len(good) - 1
        assert len(found) <= complete + 1
        assert stop < sum(len(write(one)) for one in messages[: complete + 1])


def test_broken_messages_do_not_hide_others():
    """A message with a broken line anywhere is one error; all others are read."""
    rng = random.Random(7)
    texts = [qload_text(some_message(rng)) for _ in range(5)]
    lines = texts[2].splitlines(keepends=True)[:-1]
    for number in range(1, len(lines)):
        broken = b"".join(
            [*lines[:number], b"A PRI x\n" if lines[number][:1] == b"A" else b"X 4\n", *lines[number + 1 :]]
        )
        found = read(b"".join([*texts[:2], broken, *texts[3:]]), "qload")
        assert [type(piece) for piece in found] == [Piece, Piece, FileError, Piece, Piece]


class Endless(io.RawIOBase):
    """A stream that repeats some bytes until it has given enough, and keeps none."""

    def __init__(self, unit, size):
        self.unit = unit * (1 + (1 << 16) // len(unit))
        self.left = size

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), len(self.unit), self.left)
        buffer[:size] = self.unit[:size]
        self.unit = self.unit[size:] + self.unit[:size]
        self.left -= size
        return size


@pytest.mark.volume
@pytest.mark.parametrize("framing", ["qload", "amqsbcg", "mq"])
def test_constant_memory(framing):
    """A file of 5 MB is read within half a megabyte of memory."""
    message = mqmd({}) + bytes(300)
    unit = {"qload": qload_text, "amqsbcg": amqsbcg_text, "mq": files.length_prefixed}[framing](message)
    stream = io.BufferedReader(Endless(unit, len(unit) * (5_000_000 // len(unit))))
    tracemalloc.start()
    try:
        count = sum(isinstance(piece, Piece) for piece in files.pieces(stream, framing))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count >= 5_000_000 // len(unit)
    assert peak < 500_000


@pytest.mark.long
def test_a_message_without_end(monkeypatch):
    """A message larger than any queue holds is refused without being kept, whatever its lines are."""
    for module in (files, qload):
        monkeypatch.setattr(module, "MAX_MESSAGE", 50_000)
    for head, unit in (
        (b"A VER 2\n", b"X 4142\n"),
        (b"A VER 2\n", b"T text\n"),
        (b"", b"A VER 2\n"),
        (b"A RTQ ", b"x"),
    ):
        stream = io.BufferedReader(io.BytesIO(head + unit * (600_000 // len(unit)) + b"\nA VER 2\nX 41\n"))
        tracemalloc.start()
        try:
            found = [piece for piece in files.pieces(stream, "qload") if not isinstance(piece, Piece) or piece.message]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert isinstance(found[0], FileError), unit
        assert peak < 1_000_000, unit
    assert isinstance(read(b"MD  " + bytes(100_000), "mq")[0], FileError)
    text = b"A VER 2\nX 41\n" + b"* c\n" * 50_000 + b"X 42\nA VER 2\nX 41\n"
    assert [type(piece) for piece in read(text, "qload")] == [Piece, FileError, FileError, Piece]


@pytest.mark.long
def test_a_paste_without_end(monkeypatch):
    """Of amqsbcg's output, too, no more is kept than a message may have, and little of what is between messages."""
    monkeypatch.setattr(amqsbcg, "MAX_MESSAGE", 50_000)
    head = amqsbcg_text(mqmd({}), properties=[]).partition(b"  None")[0]
    said = amqsbcg_text(mqmd({}) + bytes(40_000)).partition(b"00000000:")[0]
    for text, wanted in (
        (BANNER + b"noise\n" * 500_000 + amqsbcg_text(mqmd({}) + b"A"), Piece),
        (BANNER + b"noise" * 500_000 + b"\n" + amqsbcg_text(mqmd({}) + b"A"), Piece),
        (head + b"  x : 'a" + b"a\n" * 500_000, FileError),
        (head + b"  x" * 500_000, FileError),
        (said + b" \n" * 500_000, FileError),
        (said.replace(b"40000", b"60000"), FileError),
    ):
        stream = io.BufferedReader(io.BytesIO(text))
        tracemalloc.start()
        try:
            (found,) = files.pieces(stream, "amqsbcg")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert isinstance(found, wanted), text[:3000]
        assert peak < 6_000_000


@pytest.mark.volume
def test_long_runs_are_linear():
    """Megabytes of comments, blank lines, digits, escapes or open strings take no more time than they are long."""
    for text in (
        b"* comment\n" * 300_000,
        b"\n" * 1_000_000,
        b"A VER 2\nS " + b"~" * 1_000_001,
        b'A VER 2\nS "' + b'~"a' * 300_000,
        b'A VER 2\nS "' + b"a" * 1_000_000,
        b"A VER 2\nX " + b"4" * 1_000_001,
        b"A VER 2\nX " + b"41" * 500_000 + b" " * 500_000 + b"x",
        b"A PRI " + b" " * 500 + b"5",
        (b"*" + b" " * 100 + b"\n") * 10_000,
    ):
        assert len(read(text, "qload")) <= 1
        assert files.format_of(io.BufferedReader(io.BytesIO(text))) in ("qload", None)
    head = amqsbcg_text(mqmd({}) + bytes(1_000_000))
    for text in (
        head,
        head.partition(b"00000000:")[0] + b"00000000:" + b" " * 1_000_000 + b"x\n",
        head.partition(b"Report ")[0] + b"Report :" + b" " * 1_000_000 + b"x\n",
        head.partition(b"Report ")[0] + b"PutDate :" + b" x" * 1_000_000 + b"\n",
        b"* " * 1_000_000 + b"\n" + b" *" * 1_000_000,
        amqsbcg_text(mqmd({}), properties=["x : " + " " * 1_000_000 + "y"]),
        amqsbcg_text(mqmd({}), properties=["x : '" + " " * 1_000_000 + "y", *["'y"] * 100_000]),
    ):
        assert len(read(text, "amqsbcg")) <= 1
        assert files.format_of(io.BufferedReader(io.BytesIO(text))) in ("amqsbcg", None)


# ---- files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def dump(tmp_path):
    """Return a QLOAD file of three messages, of which the second is broken."""
    path = tmp_path / "dump.qload"
    path.write_bytes(b"* QLOAD Version:1.9\n\nA VER 2\nX 41\n\nA PRI x\nX 42\n\nA VER 2\nX 43\n")
    return path


def test_messages_skip(dump):
    """A reader that skips counts and lists what is broken, with file and line."""
    reader = files.messages(dump, errors="skip")
    assert [message[-1:] for message in reader] == [b"A", b"C"]
    assert (reader.seen, reader.skipped) == (3, 1)
    assert [(error.path, error.line) for error in reader.problems] == [(str(dump), 6)]


def test_messages_raise(dump):
    """A reader raises at what is broken, after the messages before it."""
    reader = files.messages(dump)
    assert next(reader)[-1:] == b"A"
    with pytest.raises(FileError, match=r"Priority is 'x'.*dump\.qload, line 6"):
        next(reader)


def test_listed_problems_are_bounded(tmp_path):
    """Of very many broken messages all are counted and the first hundred listed."""
    path = tmp_path / "dump"
    path.write_bytes(b"A PRI x\nX 41\n" * 500)
    reader = files.messages(path, framing="qload", errors="skip")
    assert list(reader) == []
    assert (reader.skipped, len(reader.problems)) == (500, 100)


@pytest.mark.parametrize("is_packed", [False, True])
def test_framing_is_found(tmp_path, is_packed):
    """QLOAD, length-prefixed bytes and single messages are known by their first bytes, gzipped or not."""
    message = some_message(random.Random(9), 2)
    text = qload_text(message) * 2
    contents = {
        "no comment": text,
        "blank lines": b"\n \r\n" + text,
        "other comment": b"* sent by mail\n\n* again\n" + text,
        "mark": b"\xef\xbb\xbf" + text,
        "wide": ("* QLOAD\r\n\r\n" + text.decode()).encode("utf-16"),
        "wide, no comment": b"\xfe\xff" + text.decode().encode("utf-16-be"),
        "qload": b"* QLOAD Version:1.9\n\n" + qload_text(message) * 2,
        "dmpmqmsg": b"* DMPMQMSG Version:9.4\n\n" + qload_text(message) * 2,
        "prefixed": files.length_prefixed(message) * 2,
        "one": message,
    }
    for name, data in contents.items():
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if is_packed else data)
        found = list(files.messages(path))
        assert found == [message if name in ("prefixed", "one") else as_read(message)] * (1 if name == "one" else 2)


def test_pastes_are_found(tmp_path):
    """What amqsbcg printed is known behind prompts and banners; what only has it inside is not."""
    message = mqmd({}) + b"data"
    text = amqsbcg_text(message)
    contents = [text, BANNER + text, b"$ amqsbcg Q\r\n" + text.replace(b"\n", b"\r\n"), text.decode().encode("utf-16")]
    contents += [b"\xef\xbb\xbf" + text[text.index(b"****") :], BANNER]
    for content in contents:
        path = tmp_path / "paste"
        path.write_bytes(content)
        assert list(files.messages(path)) == [message] * (content != BANNER)
    for other in (b'{"a": "\\n****Message descriptor****"}\n', b"MD  \n" + text, b"\0\0\1\0MD  \n" + text):
        assert files.format_of(io.BufferedReader(io.BytesIO(other))) in (None, "mq")
    for dumped in (
        b"* QLOAD\n\nA VER 2\nX 41\n" + text,
        b"N\nT RFH 1\n",
        b"N\nS MD  1\n",
        b"*** RFH \n* QLOAD\nN\nT x\n",
    ):
        assert files.format_of(io.BufferedReader(io.BytesIO(dumped))) == "qload"


def test_directory(tmp_path):
    """A directory stands for its files, in the order of their names."""
    for name in ("b", "a", "c"):
        (tmp_path / name).write_bytes(b"MD  " + name.encode())
    (tmp_path / "d").mkdir()
    assert [message[-1:] for message in files.messages(tmp_path)] == [b"a", b"b", b"c"]


def test_file_that_is_not_there(tmp_path, dump):
    """A file that cannot be read is an error like any other: raised, or counted and listed."""
    with pytest.raises(FileError, match="the file cannot be read: No such file"):
        list(files.messages(tmp_path / "absent"))
    packed = tmp_path / "cut.gz"
    packed.write_bytes(gzip.compress(os.urandom(5000))[:-100])
    reader = files.messages(tmp_path / "absent", packed, dump, errors="skip")
    assert len(list(reader)) == 2
    assert [error.path for error in reader.problems] == [str(tmp_path / "absent"), str(packed), str(dump)]


def test_bad_arguments():
    """A framing or a way with errors that is not there is named; so is a message that no line can hold."""
    with pytest.raises(ArgumentError, match="framing is 'xml': expected one of 'qload', 'mq', 'amqsbcg'"):
        files.messages("x", framing="xml")
    with pytest.raises(ArgumentError, match="errors is 'ignore'"):
        files.messages("x", errors="ignore")
    for message in (b"MD  ", mqmd({"Version": 3}), mqmd({"ReplyToQ": "A\nX"})):
        with pytest.raises(ArgumentError):
            qload_text(message)
