"""Files of raw messages: QLOAD text, length-prefixed bytes, one message in a file.

Vectors, `vectors/formats/files.jsonl`, one object on a line: `id`; `source`; `framing`, "qload" or "mq"; the
content of the file as `text` or in `hex`; `want`, for each message in order: of QLOAD `line`, `fields` of the MQMD that
differ from the blank one (null: no MQMD) with bytes in hexadecimal digits and characters without the blanks behind
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

from mqsel.errors import ArgumentError, FileError
from mqsel.formats import files
from mqsel.formats.files import Piece
from mqsel.formats.mqmd import MQMD, MQMD_LENGTH_1, MQMD_LENGTH_2

VECTORS = json_lines(VECTORS_ROOT / "formats" / "files.jsonl")
FIELDS = {field.name: field for field in MQMD}


def content(vector):
    """Give the bytes of a vector's file."""
    return bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()


def mqmd(fields):
    """Make the MQMD that QLOAD has with these fields."""
    data = bytearray(MQMD_LENGTH_2)
    for field in MQMD:
        value = {"Version": 2, **fields}.get(field.name, field.default)
        if field.kind == "MQLONG":
            struct.pack_into(">i", data, field.offset, value)
        else:
            is_text = field.kind == "MQCHAR"
            value = value.encode() if is_text else value if isinstance(value, bytes) else bytes.fromhex(value)
            data[field.offset : field.offset + field.length] = value.ljust(field.length, b" " if is_text else b"\0")
    return bytes(data[: MQMD_LENGTH_1 if fields.get("Version") == 1 else MQMD_LENGTH_2])


def read(data, framing):
    """Take a file apart; leave away what stands before its first message."""
    found = files.pieces(io.BytesIO(data), framing, "file")
    return [piece for piece in found if isinstance(piece, FileError) or piece.message is not None]


def some_message(rng, version=None):
    """Make a message of random fields and data, which a QLOAD file can hold."""
    order = rng.choice("<>")
    data = bytearray(mqmd({"Version": version or rng.choice((1, 2))}))
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


def big_endian(message):
    """Give the same message with the numbers of its MQMD in the order in which the reader writes them."""
    if message[4:6] == b"\0\0":
        return message
    data = bytearray(message)
    size = MQMD_LENGTH_1 if message[4] == 1 else MQMD_LENGTH_2
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
            head = b"" if want.get("fields") is None else mqmd(want["fields"])
            message = bytes.fromhex(want["message"]) if "message" in want else head + bytes.fromhex(want["data"])
            assert (piece.place, piece.message) == (place, message)


def test_every_code_has_a_vector():
    """Each code of QLOAD occurs in a vector that reads it, and each field of the MQMD has a code."""
    texts = "".join(vector.get("text", "") for vector in VECTORS)
    assert [code for code in files.QLOAD_CODES if f"A {code}" not in texts] == []
    assert set(files.QLOAD_CODES.values()) == set(FIELDS) - {"StrucId"}


def test_qload_round_trip():
    """What `qload_text` writes of any message `pieces` reads back exactly, several in a file and at every width."""
    rng = random.Random(4)
    messages = [some_message(rng) for _ in range(200)]
    messages += [b"", b"\x00", b"RFH \0\0\0\2"]
    text = b"* QLOAD Version:1.9\n\n" + b"".join(files.qload_text(one, width=rng.randrange(1, 90)) for one in messages)
    found = read(text, "qload")
    assert [piece.message for piece in found] == [big_endian(one) if one[:2] == b"MD" else one for one in messages]
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
    write = files.qload_text if framing == "qload" else files.length_prefixed
    messages = [big_endian(some_message(rng, 2))[: MQMD_LENGTH_2 + 30] for _ in range(3)]
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
    texts = [files.qload_text(some_message(rng)) for _ in range(5)]
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


@pytest.mark.parametrize("framing", ["qload", "mq"])
def test_constant_memory(framing):
    """A file of 5 MB is read within half a megabyte of memory."""
    message = some_message(random.Random(8), 2)
    unit = files.qload_text(message) if framing == "qload" else files.length_prefixed(message)
    stream = io.BufferedReader(Endless(unit, len(unit) * (5_000_000 // len(unit))))
    tracemalloc.start()
    try:
        count = sum(isinstance(piece, Piece) for piece in files.pieces(stream, framing))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count >= 5_000_000 // len(unit)
    assert peak < 500_000


def test_a_message_without_end(monkeypatch):
    """A message larger than any queue holds is refused without being kept, whatever its lines are."""
    monkeypatch.setattr(files, "MAX_MESSAGE", 50_000)
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
    ):
        assert len(read(text, "qload")) <= 1


# ---- files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def dump(tmp_path):
    """Give a QLOAD file of three messages, of which the second is broken."""
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
    contents = {
        "qload": b"* QLOAD Version:1.9\n\n" + files.qload_text(message) * 2,
        "dmpmqmsg": b"* DMPMQMSG Version:9.4\n\n" + files.qload_text(message) * 2,
        "prefixed": files.length_prefixed(message) * 2,
        "one": message,
    }
    for name, data in contents.items():
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if is_packed else data)
        found = list(files.messages(path))
        assert found == [message if name in ("prefixed", "one") else big_endian(message)] * (1 if name == "one" else 2)


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
    with pytest.raises(ArgumentError, match="framing is 'xml': expected one of 'qload', 'mq'"):
        files.messages("x", framing="xml")
    with pytest.raises(ArgumentError, match="errors is 'ignore'"):
        files.messages("x", errors="ignore")
    for message in (b"MD  ", mqmd({"Version": 3}), mqmd({"ReplyToQ": "A\nX"})):
        with pytest.raises(ArgumentError):
            files.qload_text(message)
