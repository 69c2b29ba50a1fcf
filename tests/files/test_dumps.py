"""Files of MQ messages: what is read in C, in blocks, gives what the readers in Python give, a line at a time."""

import io
import random
import re

import pytest
from conftest import VECTORS_ROOT, json_lines
from printer import BANNER, TRAILER, amqsbcg_text, mqmd
from splitters import SPLITTERS, Drip, joined, shown, sifted

import mqsel
from mqsel.errors import FileError
from mqsel.files.framings import length_prefixed, pieces, splits
from mqsel.files.opening import content_of
from mqsel.files.qload import qload_text
from mqsel.files.run.work import Ask, Match
from mqsel.formats import mq

VECTORS = json_lines(VECTORS_ROOT / "formats" / "files.jsonl")
MESSAGES = [
    mq.encode({"Priority": 7, "CorrelId": bytes(range(24))}, {"color": "blue", "weight": ("int32", 3000)}, b"<x/>" * 9),
    mq.encode({"GroupId": b"G" * 24, "Persistence": 1}, {"color": "red"}, b"", version=1, encoding=273),
    mq.encode({"Priority": 1}, {"weight": 2}, b"y"),
]
BROKEN = mqmd({"Format": "MQHRF2"}) + b"RFH \0\0\0\2"
NOTED = mqmd({"Format": "MQHRF2", "Encoding": 273}) + (
    b"RFH " + bytes([0, 0, 0, 2, 0, 0, 0, 60, 0, 0, 1, 17, 0, 0, 4, 184]) + b"MQSTR   " + bytes(4)
    + bytes([0, 0, 4, 184, 0, 0, 0, 20]) + b"<usr><a></usr>      "
)  # fmt: skip
WRITERS = {
    "mq": length_prefixed,
    "qload": qload_text,
    "amqsbcg": lambda message: amqsbcg_text(message, order="<" if message[4] else ">"),
}


SELECTORS = (
    "",
    "color = 'blue'",
    "weight > 1 AND color <> 'red'",
    "Root.MQMD.Priority > 3 OR nowhere = 1",
    "Root.MQMD.CorrelId = '0x000102030405060708090A0B0C0D0E0F1011121314151617'",
    "JMSPriority = a",
)


def dripping(data, step):
    rng = random.Random(step)
    return io.BufferedReader(Drip(data, iter(lambda: rng.randrange(1, step + 1), 0)))


def same(data, framing, step=0):
    """Read a file both ways."""
    stream = dripping(data, step) if step else io.BufferedReader(io.BytesIO(data))
    found = [shown(piece) for piece in pieces(stream, framing, "file")]
    assert found == [shown(piece) for piece in SPLITTERS[framing](data, "file")]
    return found


def some_file(framing, count=3, messages=MESSAGES):
    """Write messages as a tool does, some of them broken, with what stands before and behind."""
    texts = []
    for number in range(count):
        for message in messages:
            if framing == "amqsbcg":
                order = "<" if message[4] else ">"
                texts.append(amqsbcg_text(message, order=order, count=number, properties=[[], None][number % 2]))
            else:
                texts.append(WRITERS[framing](message))
    if framing == "mq":
        return b"".join([*texts, length_prefixed(BROKEN), length_prefixed(NOTED), texts[0]])
    if framing == "qload":
        odd = b'* one\n\nN\nS "~~"\nT text\nS plain\n* inside\nX 4142   <AB>\n\n* two\nA PRI x\nX 41\nA VER 2\nX\n'
        return b"".join([b"* QLOAD\n*\n\n", *texts, odd, qload_text(BROKEN), qload_text(NOTED), texts[0], b"* end\n\n"])
    odd = texts[0].replace(b"4D", b"4X", 1).replace(b"Priority", b"Prioritx")
    more = [amqsbcg_text(BROKEN), b"00000000: 41 'A'\n", odd, amqsbcg_text(NOTED), amqsbcg_text(mqmd({})), texts[0]]
    return b"".join([BANNER, *texts, *more, TRAILER])


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vectors(vector):
    """Each file of the vectors, with either line end, is read alike both ways, a few bytes at a time or at once."""
    data = bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()
    for content in (data, data.replace(b"\n", b"\r\n")):
        for framing in SPLITTERS:
            for step in (0, 1, 7):
                same(content, framing, step)


@pytest.mark.volume
@pytest.mark.parametrize("framing", WRITERS)
def test_cut_at_every_byte(framing):
    """A file cut anywhere is read alike both ways: messages, what is broken, places, what goes out again."""
    data = some_file(framing, 1, MESSAGES[1:2])
    assert {len(piece) for piece in same(data, framing)} == ({3} if framing == "mq" else {3, 4})
    for stop in range(0, len(data), 3 if framing == "amqsbcg" else 1):  # of that each takes its time
        same(data[:stop], framing, 50 if stop % 3 else 0)


@pytest.mark.parametrize("framing", ["qload", "amqsbcg"])
def test_texts_in_other_encodings(framing):
    """Pastes of UTF-16 and marks of UTF-8 change nothing but the bytes that go out."""
    data = some_file(framing)
    wanted = [piece[2] for piece in same(data, framing)]
    wide = content_of(io.BufferedReader(io.BytesIO(data.decode("latin-1").encode("utf-16"))))
    assert [shown(piece)[2] for piece in pieces(wide, framing)] == wanted
    assert [piece[2] for piece in same(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"), framing, 2)] == wanted


@pytest.mark.sample(1)
@pytest.mark.parametrize("framing", WRITERS)
def test_borders_of_blocks(framing):
    """Files of several blocks, and messages larger than these, are read whole."""
    rng = random.Random(3)
    large = [MESSAGES[0] + rng.randbytes(size) for size in (300_000, 10, 700_000, 262_144 - 700, 5)]
    messages = [*large, *MESSAGES * 400, *large]
    data = b"".join(map(WRITERS[framing], messages))
    for step in (0, 100_000):
        stream = dripping(data, step) if step else io.BufferedReader(io.BytesIO(data))
        found = [piece for piece in pieces(stream, framing) if piece.message is not None]
        assert [piece.message for piece in found] == messages
        assert b"".join(piece.raw for piece in found) in (data, data.removesuffix(b" \n \n"))


@pytest.mark.parametrize("framing", WRITERS)
def test_sift_as_each_by_itself(framing):
    """What a selector selects, the counts, complaints, what is missing, the first note: as of each message alone."""
    data = some_file(framing) + some_file("qload" if framing == "mq" else framing)[: -1 if framing == "mq" else None]
    rng = random.Random(5)
    for text in SELECTORS:
        for dialect in (mqsel.IBM_MQ, mqsel.JMS):
            if "Root" in text and dialect is mqsel.JMS:
                continue
            matcher = mqsel.compile(text, dialect=dialect)
            for _ in range(12):
                ask = Ask(
                    invert=rng.random() < 0.3,
                    counting=rng.random() < 0.3,
                    raising=rng.random() < 0.2,
                    limit=rng.choice((None, None, 1, 3)),
                    format=framing,
                    apart=rng.random() < 0.5,
                )
                stream = rng.choice((io.BufferedReader(io.BytesIO(data)), dripping(data, 900)))
                found = joined(Match(matcher, ask).messages(splits(stream, framing, "file")), ask)
                assert found == sifted(matcher, ask, data, "file"), (text, ask)
    assert found[2].messages or ask.limit


def test_one_message_in_a_file():
    """A file that is one message is named where it is selected, whatever bytes the name has; from stdin it is given."""
    matcher = mqsel.compile("color = 'blue'")
    ask = Ask(invert=False, counting=False, raising=False, limit=None, format="mq")
    for path, wanted in (("a/b", b"a/b\n"), ("-", MESSAGES[0]), ("x\udcff", b"x\xff\n")):
        for step in (0, 1):
            stream = dripping(MESSAGES[0], 3) if step else io.BufferedReader(io.BytesIO(MESSAGES[0]))
            assert joined(Match(matcher, ask).messages(splits(stream, "mq", path), path), ask)[0] == wanted


def test_noise_behind_a_message():
    """A line like one of a dump breaks the message before it; not so one that stands 128 KB behind it."""
    text = amqsbcg_text(MESSAGES[0])
    for noise, is_broken in ((b"noise\n" * 10, True), (b"noise\n" * 22_000, False), (b"noise\n" * 50_000, False)):
        data = text + noise + b"00000000:  41  'A'\n" + text
        first, second = pieces(io.BufferedReader(io.BytesIO(data)), "amqsbcg")
        assert isinstance(first, FileError) is is_broken
        assert second.message == MESSAGES[0]
        assert second.raw in data
        assert len(second.raw) < len(text) + (3 << 16)


def test_a_message_is_given_when_it_is_there():
    """Nobody waits for more of a pipe than the beginning of the next message."""
    for framing, write in WRITERS.items():
        text = write(MESSAGES[0])
        begins = re.match(rb"(?s).{1000}" if framing == "mq" else rb"(?s).*?(?:A VER 2\n|descriptor\*\*\*\*\n)", text)
        sizes = iter((len(text) + (0 if framing == "mq" else begins.end()), 0, 10**9))
        found = pieces(io.BufferedReader(Drip(text * 3, sizes)), framing)
        assert next(piece for piece in found if piece.message is not None).message == MESSAGES[0]
        assert next(sizes, None) is not None or framing == "qload"
