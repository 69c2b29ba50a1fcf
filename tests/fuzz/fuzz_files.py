"""Invariant: any bytes are read to their end as pieces of a file, each a message or a FileError; nothing else, ever.

    python tests/fuzz/fuzz_files.py --seconds 60 [--seed 1]

And: what was read of a QLOAD file is written and read again as the same messages; of any text the parts that are no
errors give the same messages again; any record as JSON becomes a message or raises PropertyTypeError. However few bytes
arrive at a time, files are read in C as by the readers in Python, a line at a time: the same messages, bytes that go
out, errors and places; and sifted as each message by itself, together or one an item. Bytes are random, vectors and
dumps with pieces cut, doubled, swapped and replaced, in UTF-8 and UTF-16, gzipped or not.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import amqp
from fuzzing import begun
from printer import TRAILER, amqsbcg_text
from splitters import SPLITTERS, Drip, joined, shown, sifted

import mqsel
from mqsel.errors import ArgumentError, FileError, PropertyTypeError
from mqsel.files.framings import FORMATS, FRAMINGS, format_of, length_prefixed, pieces, splits
from mqsel.files.opening import content_of
from mqsel.files.qload import qload_text
from mqsel.files.run.work import Ask, Match
from mqsel.formats import mq, records

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "formats"
TOKENS = [
    *[b"A ", b"X ", b"S ", b"T ", b"N\n", b"* ", b"\n", b"\r\n", b"\r", b" ", b'"', b"~", b"<", b">", b"\0", b"\xff"],
    *[b"A VER 2\n", b"A VER 1\n", b"A PRI 5\n", b"A MSI 00\n", b"X 4D44\n", b'S "a"\n', b"T t\n", b"A RTQ \n"],
    *[b"****Message descriptor****\n", b"****Message properties****\n", b"****   Message      ****\n", b"  x : 'a'\n"],
    *[b" length - 2 of 2 bytes\n", b"00000000:  4142    'AB'\n", b"****Dead Letter Header****\n", b" : ", b"X'"],
    *[b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xe2\x80\x98", b"\x1f\x8b", b"  Version : 1\n", b"Encoding : 0"],
    *[b"  <a>", b"****Message properties****\n\n  None\n", b'S "~~~""\n', b"A AIX 2020\n", b"A CCS 500\n", b" [MQRO]"],
    *[
        b"A FMT MQHMDE\n",
        b"X D4C4C540\n",
        b"X 4\r\n",
        b"00000010: ",
        b"\xe2\x80\x99",
        b"A ENC 0\n",
        b"StrucId : 'MD  '",
    ],
    *[b"MD  ", b"RFH ", b"\0\0\0\2", b"\xff\xff\xff\xff", b"99999999999", b"-1", b"0x", b"_"],
]
JSON = [None, True, -1, 2**31, 2**63, 0.5, float("nan"), "", "x", "5", "true", "ID:0a", [], {}, "integer", "null"]
KEYS = ["properties", "headers", "payload", "schema", "propertyType", "integer", "key", "value", "p", "p.type", "type"]
KEYS += ["p_jsmtype", "mode", "deliveryMode", "destination", "name", "string", "JMS_IBM_MQMD_MsgId", "jms_priority"]


def mutated(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.randrange(6)):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        data = rng.choice(
            [
                data[:at] + data[to:],
                data[:at] + rng.choice(TOKENS) + data[at:],
                data[:at] + rng.choice(TOKENS) * rng.randrange(300) + data[at:],
                data[:to] + data[at:to] * rng.randrange(1, 4) + data[to:],
                data[:at] + rng.randbytes(rng.randrange(9)) + data[to:],
                data[at:to] + data[:at] + data[to:],
                data.replace(b"\n", b"\r\n"),
            ]
        )[:20000]
    return data


def some_json(rng: random.Random, depth: int = 0) -> object:
    kind = rng.randrange(4 if depth < 5 else 1)
    if kind == 0:
        return rng.choice(JSON)
    if kind == 1:
        return [some_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): some_json(rng, depth + 1) for _ in range(rng.randrange(5))}


def read(data: bytes, framing: str) -> tuple[list[bytes], bytes]:
    """Read a file to its end; check what comes of it. Returns the messages, and how they stand in the file."""
    found = []
    raw = b""
    for piece in pieces(io.BytesIO(data), framing, "file"):
        if isinstance(piece, FileError):
            assert str(piece) and piece.message and len(str(piece)) < 1000, str(piece)
        elif piece.message is not None:
            assert piece.raw in data
            found.append(piece.message)
            raw += piece.raw
    return found, raw


SELECTORS = [
    mqsel.compile(text) for text in ("", "color = 'blue' OR weight > 1", "Root.MQMD.Priority > JMSType", "a = b")
]


def check_both_ways(rng: random.Random, data: bytes, framing: str) -> None:
    """Read a file in C and by the readers in Python."""

    def stream() -> io.BufferedReader:
        sizes = iter(lambda: rng.choice((1, 20, 900)), 0)
        return io.BufferedReader(io.BytesIO(data) if rng.random() < 0.6 else Drip(data, sizes))  # type: ignore[type-var]

    found = [shown(piece) for piece in pieces(stream(), framing, "file")]
    assert found == [shown(piece) for piece in SPLITTERS[framing](data, "file")], (framing, data)
    limit = rng.choice((None, None, 1, 2))
    ask = Ask(rng.random() < 0.3, rng.random() < 0.3, rng.random() < 0.2, limit, framing, (), rng.random() < 0.5)
    matcher = rng.choice(SELECTORS)
    records = joined(Match(matcher, ask).messages(splits(stream(), framing, "file"), "file"), ask)
    assert records == sifted(matcher, ask, data, "file"), (framing, ask, data)


def check_file(rng: random.Random, seeds: list[bytes]) -> int:
    data = rng.randbytes(rng.randrange(60)) if rng.random() < 0.1 else mutated(rng, rng.choice(seeds))
    if rng.random() < 0.1:
        data = data.decode(errors="replace").encode(rng.choice(("utf-16", "utf-16-le")))[: rng.choice((-1, 1 << 20))]
    if rng.random() < 0.1:
        data = gzip.compress(data, 0)[: rng.choice((-9, 1 << 20))]
    try:
        stream = content_of(io.BufferedReader(io.BytesIO(data)))  # type: ignore[type-var]
        assert format_of(stream) in (None, *FORMATS)
        data = stream.read()
    except (OSError, EOFError, zlib.error):
        return len(data)
    for framing in (*FRAMINGS, "amqp"):
        check_both_ways(rng, data, framing)
        messages, raw = read(data, framing)
        if FORMATS[framing].place == "line":
            assert read(raw, framing)[0] == messages
        if framing == "qload":
            try:
                text = b"".join(map(qload_text, messages))
            except ArgumentError:  # fields of characters that are not printable, no MQMD although it says so
                continue
            assert read(text, framing)[0] == messages, text
    return len(data)


def check_record(rng: random.Random, seeds: list[object]) -> None:
    record = some_json(rng)
    if rng.random() < 0.5 and isinstance(record, dict):
        record = {**rng.choice(seeds), **record}  # type: ignore[dict-item]
    names = rng.choice([None, ["p", "usr.p", "JMSPriority", "JMSDestination", "Root.MQMD.MsgId"]])
    types = rng.choice([{}, {"p": rng.choice(["int8", "float32", "bytes", "boolean", "null"])}])
    try:
        message = records.reader(rng.choice(list(records.SCHEMAS)), names, types)(record)
        assert type(message) is dict
    except PropertyTypeError as error:
        assert str(error)


def main() -> int:
    seed, is_time = begun(__doc__)
    rng = random.Random(seed)
    vectors = [json.loads(line) for line in (VECTORS / "files.jsonl").read_text(encoding="utf-8").splitlines()]
    seeds = [bytes.fromhex(one["hex"]) if "hex" in one else one["text"].encode() for one in vectors]
    message = mq.encode({"Priority": 7}, {"color": "blue", "weight": ("int32", 3000)}, b"<order/>" * 20)
    short = mq.encode({"GroupId": b"G" * 24}, {"color": "blue"}, b"x", version=1)
    seeds += [qload_text(message) * 3, length_prefixed(message) * 3, message, amqsbcg_text(message) * 3]
    section = amqp.message(7, {"color": "blue", "weight": 3000}, b"<order/>")
    seeds += [length_prefixed(section) * 3, section, b"\0\x53\x70\x45" + section]
    seeds += [amqsbcg_text(short, properties=["a : 1"]) + amqsbcg_text(short, properties=[]) + TRAILER]
    seeds += [b"* QLOAD\n* x\n\n" + qload_text(short) + b"* c\n\n" + qload_text(message) * 2]
    known = [
        json.loads(line)["record"] for line in (VECTORS / "records.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    count = size = 0
    slowest = 0.0
    while is_time():
        began = time.monotonic()
        try:
            size += check_file(rng, seeds)
            check_record(rng, known)
        except BaseException:
            print(f"case {count} of seed {seed} fails", flush=True)
            raise
        count += 1
        slowest = max(slowest, time.monotonic() - began)
    print(f"{count} files of {size:,} bytes in all and as many records, slowest {slowest:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
