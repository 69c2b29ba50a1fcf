"""Invariant: any bytes of an export are read, alike in C and in Python and in blocks of any size, or are an error.

    python tests/fuzz/fuzz_artemis.py --seconds 60 [--seed 1]

Bytes are exports of random messages, bodies of one piece and of several, with pieces cut, doubled, moved and replaced
by what XML, base64 and the exporter's words are made of; whole, cut at any byte, and one message alone, of which what
is read by name, by the slow reader and by `inspect` must agree. Nothing may depend on what was read before.
"""

from __future__ import annotations

import io
import itertools
import math
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import exports
from fuzzing import fuzz
from splitters import Drip

from mqsel import formats
from mqsel.errors import DecodeError, FileError, PropertyTypeError
from mqsel.files._exports import Elements
from mqsel.files.framings import pieces
from mqsel.formats import artemis

NAMES = (*exports.NAMES, "AMQPriority", "JMSMessageID", "AMQTimestamp", "JMSDeliveryMode", "JMSXGroupID", "usr.color")
PIECES = [
    *"< > / \" ' & = ! ? - [ ] \0 \n \r\n \t é 𝄞 % _ 5 -1 128 1e999 NaN 9223372036854775808".split(" "),
    *"&lt; &#65; &#x1F600; &#55357;&#56832; &#0; &#xD800; &no; &# & &amp".split(),
    *"<!-- --> <![CDATA[ ]]> <? ?> <!DOCTYPE <message <message> </message> <properties> <properties/>".split(),
    *"</properties> <property </property> <queues> <queues/> </queues> <queue/> <body> <body/> </body>".split(),
    *(f' type="{kind}"' for kind in exports.TYPES),
    *(' value="', ' name="', ' value="_AMQ_NULL"', ' priority="99"', ' user-id=""', ' timestamp="x"'),
    *("AAEC-_==", "A" * 999, "<bindings>", "\ufeff"),
    *("<property name='p' value='5' type='integer'/>", "</messages>", "</activemq-journal>"),
]  # fmt: skip


def drawn(rng: random.Random) -> bytes:
    """Return an export of few messages, or a message alone."""
    if rng.random() < 0.4:
        return exports.message(rng, rng.randrange(1000), rng.randrange(40)).strip().encode()
    return exports.export(rng, rng.randrange(4), size=rng.randrange(40))


def changed(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        piece = rng.choice(PIECES).encode()
        match rng.randrange(8):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[at + rng.choice((1, 1, 4, 40)) :]
            case 2:
                data = data[:at] + piece + data[at:]
            case 3:
                data = data[:at] + piece + data[at + len(piece) :]
            case 4:
                data = data[:at] + data[at : at + 60] + data[at:]
            case 5:
                data = data[:at] + data[to : to + 30] + data[at:]
            case 6:
                data = data[:at] + rng.randbytes(rng.choice((1, 1, 3))) + data[at + 1 :]
            case _:
                data = data[:at] + data[to:]
    return data


def taken(stream: io.RawIOBase) -> list[Any]:
    found = []
    for one in pieces(io.BufferedReader(stream), "artemis", "x"):
        assert not isinstance(one, FileError) or (one.message and len(str(one)) < 1000)
        found.append((one.line, one.message) if isinstance(one, FileError) else tuple(one))
    return found


def values(read: Any, raw: bytes) -> list[Any] | str:
    try:
        found = read(raw)
    except (DecodeError, PropertyTypeError) as error:
        assert not isinstance(error, DecodeError) or (error.structure and 0 <= error.offset <= len(raw))
        return str(error)
    return [(type(found.get(name)), repr(found.get(name))) for name in NAMES]


def as_mapping(decode: Any) -> Any:
    """Return what reads a message into a mapping, whatever the decoder returns."""

    def read(raw: bytes) -> Any:
        found = decode(raw)
        return found if isinstance(found, dict) else {name: found[name] for name in NAMES}

    return read


def check_message(raw: bytes, old: Any) -> bool:
    """Read one message in every way; *old* has read others."""
    wanted = values(lambda data: artemis.properties(data, NAMES), raw)
    decode = formats.decoder("artemis", NAMES)
    assert values(as_mapping(decode), raw) == wanted
    assert values(as_mapping(old), raw) == wanted
    if isinstance(wanted, str):
        return False
    rows = {row.name: row.value for row in formats.FORMATS["artemis"].inspect(raw, {}).rows}
    for name, (_, shown) in zip(NAMES, wanted, strict=True):
        if name in rows and not (isinstance(rows[name], float) and math.isnan(rows[name])):
            assert repr(rows[name]) == shown, name
    return True


def check(rng: random.Random, raw: bytes, old: Any) -> bool:
    if raw.startswith(b"<message"):
        return check_message(raw, old)
    whole = taken(io.BytesIO(raw))
    assert taken(Drip(raw, itertools.repeat(rng.choice((1, 2, 7, 64, 900))))) == whole
    messages = [piece for piece in whole if len(piece) == 3]
    at = 0
    for piece in messages:
        at = raw.index(piece[1], at) + len(piece[1])
    splitter = Elements("x", rng.choice((1, 60, 700)))
    stream = io.BufferedReader(Drip(raw, itertools.repeat(50)))  # type: ignore[type-var]
    while splitter.read(stream):
        while (piece := splitter.take()) is not None:
            assert isinstance(piece, FileError) or piece[1] in raw
    for piece in messages:
        if piece[2] is not None:
            check_message(piece[2], old)
    return len(whole) == len(messages)


def main() -> int:
    old = formats.decoder("artemis", NAMES)
    return fuzz(__doc__, drawn, changed, lambda rng, raw: check(rng, raw, old), each=20)


if __name__ == "__main__":
    raise SystemExit(main())
