"""Invariant: any bytes either are read as AMQP 1.0, alike in every way and as the slow decoder, or raise DecodeError.

    python tests/fuzz/fuzz_amqp.py --seconds 60 [--seed 1]

Bytes are messages of the vectors and random ones with bits flipped, lengths and codes exchanged, pieces cut, doubled
and moved. What is read by name, in a column, by `inspect` and by `tests/amqp.py` must agree; nothing may depend on what
was read before.
"""

from __future__ import annotations

import pickle
import random
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import amqp
from fuzzing import Column, corpus, fuzz

from mqsel import _messages, formats
from mqsel.errors import DecodeError

CODES = [*amqp.FIXED, *amqp.SIZED, *amqp.COMPOUND, 0x00, 0x75, 0xFF]
HEADERS = [name for name in amqp.properties(b"\0\x53\x70\x45") if name.startswith("JMS")]


def mutated(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        if not changed:
            break
        at = rng.randrange(len(changed))
        match rng.randrange(8):
            case 0:
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at] = rng.choice(CODES)
            case 2:
                changed[at] = rng.choice((0, 1, 2, len(changed) & 255, 255))
            case 3:
                del changed[at : at + rng.choice((1, 2, 4, 30))]
            case 4:
                changed[at:at] = changed[at : at + rng.choice((1, 4, 30))]
            case 5:
                del changed[at:]
            case 6:
                changed[at : at + 4] = struct.pack(">I", rng.choice((0, 1, len(changed), 2**31, 2**32 - 1)))
            case _:
                changed[at:at] = bytes([rng.choice(CODES)]) * rng.choice((1, 1, 3, 99, 1000))
    return bytes(changed)


def by_name(decode: Any, raw: bytes, wanted: dict[str, Any]) -> None:
    """Read properties by their names; one that no property can hold is an error."""
    values = [wanted.get(name) for name in decode.names]
    try:
        record = decode(raw)
    except DecodeError as error:
        assert "no property can hold" in error.message
        assert any(isinstance(value, OverflowError) for value in values)
        return
    assert repr(values) == repr([record[name] for name in decode.names])


def check(rng: random.Random, raw: bytes, old: Any) -> bool:
    """Read one message in every way; *old* has read others."""
    try:
        wanted = amqp.properties(raw)
    except amqp.BrokenError:
        wanted = None
    inspect = formats.FORMATS["amqp"].inspect
    try:
        inspected = inspect(raw, {})
    except DecodeError as error:
        assert error.structure and 0 <= error.offset <= len(raw)
        assert pickle.loads(pickle.dumps(error)).args == error.args
        assert wanted is None, f"refused: {error}"
        for decode in (formats.decoder("amqp", ()), old):
            try:
                decode(raw)
            except DecodeError:
                continue
            raise AssertionError("read in one way alone") from error
        return False
    assert wanted is not None, "read although it is broken"
    rows = {row.name: row.value for row in inspected.rows}
    assert len(rows) == len(inspected.rows)
    assert all(-1 <= row.offset < len(raw) for row in inspected.rows)
    usual = {name: value for name, value in wanted.items() if not isinstance(value, OverflowError)}
    for name, value in usual.items():
        assert (type(rows.get(name)), repr(rows.get(name))) == (type(value), repr(value)), name
    assert rows.keys() <= wanted.keys()
    names = tuple(dict.fromkeys((*rng.sample(sorted(usual), min(len(usual), 6)), "absent", "m.absent")))
    decode = formats.decoder("amqp", names)
    by_name(decode, raw, wanted)
    columns = _messages.values(decode, _messages.MessageColumn(Column(raw)))
    assert repr(columns) == repr([[usual.get(name)] for name in names])
    for name in wanted.keys() - usual.keys():
        by_name(formats.decoder("amqp", (name,)), raw, wanted)
    by_name(old, raw, wanted)
    return True


def main() -> int:
    known = corpus("amqp", 2000)
    old = formats.decoder("amqp", (*HEADERS, "a", "m.a"))

    def draw(rng: random.Random) -> bytes:
        return rng.choice(known) if rng.random() < 0.3 else amqp.random_message(rng)

    return fuzz(__doc__, draw, mutated, lambda rng, raw: check(rng, raw, old))


if __name__ == "__main__":
    raise SystemExit(main())
