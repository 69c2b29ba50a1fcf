"""Files of raw messages and records of connectors: how long one message takes to be read, before any selector.

One number for each: 6,000 messages in one call; divide by 6,000. Answers are checked first.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from mqsel.files.dumps import Piece
from mqsel.files.framings import length_prefixed, pieces
from mqsel.formats import records

DATA = Path(__file__).with_name("data")
TIMES = 1_000  # the six messages of the sample


def test_qload(benchmark):
    """Text of dmpmqmsg, 1.3 KB a message, to MQMD and data."""
    head, _, text = (DATA / "dump.qload").read_bytes().partition(b"\n\n")
    data = head + b"\n\n" + text * TIMES
    found = benchmark(lambda: [piece for piece in pieces(io.BytesIO(data), "qload") if isinstance(piece, Piece)])
    assert len(found) == 6 * TIMES + 1


def test_length_prefixed(benchmark):
    """Bytes with their length in front."""
    sample = pieces(io.BytesIO((DATA / "dump.qload").read_bytes()), "qload")
    data = b"".join(length_prefixed(piece.message) for piece in sample if piece.message is not None) * TIMES
    found = benchmark(lambda: list(pieces(io.BytesIO(data), "mq")))
    assert sum(isinstance(piece, Piece) for piece in found) == 6 * TIMES


@pytest.mark.parametrize("names", [("color", "weight"), None], ids=["two", "all"])
def test_connect(benchmark, names):
    """Records of Confluent's connectors, as dicts, to properties: two of them, or all."""
    rows = [json.loads(line) for line in (DATA / "connect.jsonl").read_text(encoding="utf-8").splitlines()] * TIMES
    read = records.reader("connect", names)
    found = benchmark(lambda: [read(row) for row in rows])
    assert sum(message.get("weight", 0) > 2500 for message in found) == 4 * TIMES
