"""Invariant: any bytes either are read, alike in every way of reading, or raise DecodeError. Nothing else, ever.

    python tests/fuzz/fuzz_message.py --seconds 60 [--seed 1]

Bytes are messages of the vectors and of `encode` with bits flipped, lengths exchanged, pieces cut, doubled and moved,
and pieces of folders put in. What is read by name, into a record, in a column and as a whole must agree; nothing
may depend on what was read before.
"""

from __future__ import annotations

import math
import pickle
import random
import string
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzzing import Column, corpus, fuzz

import mqsel
from mqsel import _messages, formats
from mqsel.errors import DecodeError
from mqsel.formats import mq
from mqsel.formats.mqmd import CCSIDS, HEADERS, MQFMT_MD_EXTENSION, MQFMT_RF_HEADER_2
from mqsel.formats.mqrfh2 import DT, GROUPED_FOLDERS, PLAIN_FOLDERS
from mqsel.values import Float32, Int8, Int16, Int32

LENGTHS = (0, 1, 2, 3, 4, 8, 35, 36, 37, 40, 72, -1, -2, -4, 2**31 - 1, 2**31 - 4, -(2**31), 1200, 1208, 273, 546)
FOLDERS = (*GROUPED_FOLDERS, *PLAIN_FOLDERS, "psc", "my", "Root", "JMSx")
PIECES = [
    *(f"<{name}>" for name in FOLDERS),
    *(f"</{name}>" for name in FOLDERS),
    *(f" dt='{dt}'" for dt in DT),
    "<", ">", "/", "/>", "</", "=", "'", '"', "&", "&lt;", "&#65;", "&#x1F600;", "\0", " ", "\n", ".", ":", "-",
    " xsi:nil='true'", " content='properties'", "<a>", "</a>", "<a/>", "<ä>1</ä>", "é", "𝄞", "1e999", "NOT", "JMS",
    "<x:y>", "</x:y>", "<1>2</1>", "<a b>", "<a b=c>1</a>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<>", "</>",
    "\ufeff", "NaN", "-Infinity", "a" * 4092, "ä" * 2047,
]  # fmt: skip
FORMATS = [MQFMT_RF_HEADER_2, MQFMT_MD_EXTENSION, *(row.format for row in HEADERS), "MQHXXX  ", "        "]


def made(rng: random.Random) -> bytes:
    """Write a message of properties of all types, and check that it reads back."""
    values: list[Any] = [
        1, -(2**63), Int8(-1), Int16(300), Int32(5), 1.5, Float32(0.1), "", "a<b&c", "ü𝄞", b"", b"\0\xff", True, None,
        math.nan, Float32(math.inf), "\ufeff", rng.randrange(10 ** rng.randrange(1, 12)), "v" * rng.randrange(40),
    ]  # fmt: skip
    properties: dict[str, Any] = {}
    for _ in range(rng.randrange(12)):
        name = "x" + "".join(rng.choices(string.ascii_letters, k=rng.randrange(rng.choice((6, 6, 40, 90)))))
        properties[rng.choice(("", "", "my.", "mq_usr.g.h.")) + name] = rng.choice(values)
    if rng.random() < 0.5:
        properties |= {"JMSPriority": Int32(rng.randrange(12)), "JMSType": "car", "JMSTimestamp": rng.randrange(2**40)}
    raw = mq.encode(
        {"MsgId": rng.randbytes(24), "MsgSeqNumber": rng.randrange(5), "PutDate": "20240229", "PutTime": "23595999"},
        properties,
        rng.randbytes(rng.randrange(40)),
        version=rng.choice((1, 2)),
        encoding=rng.choice((273, 546)),
        ccsid=rng.choice(CCSIDS),
        name_value_ccsid=rng.choice((1208, 1208, 1200)),
    )
    if rng.random() < 0.3:
        raw = marked(raw)
    found = formats.properties(raw, properties)
    assert {name: (type(value), repr(value)) for name, value in found.items()} == {
        name: (type(value), repr(value)) for name, value in properties.items()
    }, raw.hex()
    return raw


def marked(raw: bytes) -> bytes:
    """Write the folders of UTF-16 as IBM's class MQRFH2 does: big-endian, behind a mark, filled up with marks."""
    at = raw.find(b"RFH ")
    if at < 0:
        return raw
    order = "<" if raw[at + 4] else ">"
    length, _, _ = struct.unpack_from(order + "3i", raw, at + 8)
    (ccsid,) = struct.unpack_from(order + "i", raw, at + 32)
    place, folders = at + 36, []
    while ccsid == 1200 and place < at + length:
        (size,) = struct.unpack_from(order + "i", raw, place)
        text = raw[place + 4 : place + 4 + size].decode("utf-16-le" if order == "<" else "utf-16-be")
        data = f"\ufeff{text}".encode("utf-16-be")
        data += b"\xfe\xff" * (len(data) % 4 // 2)
        folders.append(struct.pack(order + "i", len(data)) + data)
        place += 4 + size
    if not folders:
        return raw
    body = b"".join(folders)
    head = raw[: at + 8] + struct.pack(order + "i", 36 + len(body)) + raw[at + 12 : at + 36]
    return head + body + raw[at + length :]


def mutated(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        if not changed:
            break
        at = rng.randrange(len(changed))
        match rng.randrange(9):
            case 0:
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at] = rng.choice(b"<>/='\"& .:-\0\x01aA0\x80\xff")
            case 2 if len(changed) >= 4:
                aligned = rng.randrange(len(changed) // 4) * 4
                struct.pack_into(rng.choice("<>") + "i", changed, aligned, rng.choice((*LENGTHS, len(changed))))
            case 3:
                del changed[at : at + rng.choice((1, 2, 4, 36, 400))]
            case 4:
                changed[at:at] = changed[at : at + rng.choice((1, 4, 36, 100))]
            case 5:
                changed[at:at] = rng.choice(PIECES).encode()
            case 6:
                piece = rng.choice(PIECES).encode()
                changed[at : at + len(piece)] = piece
            case 7 if len(changed) >= 40:
                changed[32:40] = rng.choice(FORMATS).encode()
            case _:
                to = rng.randrange(len(changed))
                changed[at : at + 8], changed[to : to + 8] = changed[to : to + 8], changed[at : at + 8]
    return bytes(changed)


def outcome(read: Any, raw: bytes) -> tuple[str, Any]:
    try:
        return "read", read(raw)
    except DecodeError as error:
        assert error.structure and error.reason is not None and 0 <= error.offset <= len(raw)
        assert pickle.loads(pickle.dumps(error)).args == error.args
        return "error", str(error)


def check(rng: random.Random, raw: bytes, decoders: list[Any]) -> bool:
    """Read one message in every way."""
    kind, found = outcome(formats.properties, raw)
    inspected = outcome(formats.inspect, raw)
    assert inspected[0] == kind
    if kind == "error":
        assert inspected[1] == found
    else:
        rows = [(row.name, repr(row.value), type(row.value)) for row in inspected[1].rows]
        assert len(rows) == len(found)
        assert {name: (repr(value), type(value)) for name, value in found.items()} == {
            name: (value, kind) for name, value, kind in rows
        }
        assert all(-1 <= row.offset < len(raw) for row in inspected[1].rows)
        names = [*rng.sample(sorted(found), min(len(found), 6)), "absent", "my.absent"]
        assert repr(formats.properties(raw, names)) == repr({name: found[name] for name in names if name in found})
        decode = formats.decoder("mq", tuple(names), invalid_names="ignore")
        record = decode(raw)
        assert repr([found.get(name) for name in names]) == repr([record[name] for name in names])
        columns = _messages.values(decode, _messages.MessageColumn(Column(raw)))
        assert repr(columns) == repr([[found.get(name)] for name in names])
        again = formats.properties(bytearray(raw))
        assert repr(again) == repr(found)
    for one in decoders:
        outcome(one, raw)
    return kind == "read"


def main() -> int:
    known = corpus("mq", 5000)
    texts = (
        "color = 'blue' AND a > 5",
        "JMSPriority > 4 AND my.group.inner IS NULL",
        f"x{'a' * 4094} = 'x' OR my.{'a' * 4092} IS NULL",
        f"JMSMessageID = 'ID:{'0a' * 24}'",
    )
    decoders = [mqsel.compile(text).decoder("mq") for text in texts]
    jms = mqsel.compile("JMS_IBM_Format = 'MQSTR' AND JMS_IBM_MQMD_Offset = 0 AND a > 5", dialect=mqsel.JMS)
    decoders.append(jms.decoder("mq"))

    def draw(rng: random.Random) -> bytes:
        return rng.choice(known) if rng.random() < 0.7 else made(rng)

    def change(rng: random.Random, whole: bytes) -> bytes:
        return mutated(rng, whole) if rng.random() < 0.99 else rng.randbytes(rng.randrange(500))

    return fuzz(__doc__, draw, change, lambda rng, raw: check(rng, raw, decoders), each=20)


if __name__ == "__main__":
    raise SystemExit(main())
