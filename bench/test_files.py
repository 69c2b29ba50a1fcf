"""Files: of raw messages and records of connectors, how long one message takes to be read; of Parquet, a whole process.

One number for each. Messages, before any selector: 6,000 in one call; divide by 6,000. Parquet: `mqsel match` over
4,000,000 rows of 20 columns, of which 1 % are selected, beside Polars, one thread each, from the start of Python to the
last line or to the collected frame; one size smaller where nothing is timed. Answers are checked first.
"""

from __future__ import annotations

import functools
import io
import json
import os
import subprocess
import sys
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


# ---- Parquet -----------------------------------------------------------------------------------------------------

CAR_SINCE = 1_772_431_200_000 + 3_840_000  # the last row group of 4,000,000 rows
# A selector, and the same for Polars: what it selects lies everywhere, or in the last row group.
PARQUET = {
    "random": (
        "JMSType = 'car' AND color = 'blue' AND weight > 4210",
        "(c('JMSType') == 'car') & (c('color') == 'blue') & (c('weight') > 4210)",
    ),
    "clustered": (
        f"JMSTimestamp >= {CAR_SINCE} AND JMSType = 'car'",
        f"(c('JMSTimestamp') >= {CAR_SINCE}) & (c('JMSType') == 'car')",
    ),
}
SELECTED = {4_000_000: {"random": 39_844, "clustered": 40_054}}
ENGINES = {
    "mqsel": lambda path, texts: ["-m", "mqsel", "match", texts[0], path],
    "mqsel-count": lambda path, texts: ["-m", "mqsel", "match", "--count", texts[0], path],
    "polars": lambda path, texts: [
        "-c",
        f"import polars; c = polars.col; print(polars.scan_parquet({path!r}).filter({texts[1]}).collect().height)",
    ],
}


@pytest.fixture(scope="module")
def wide(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """The file, and how many rows it has."""
    pytest.importorskip("pyarrow")
    pytest.importorskip("numpy")
    from data import make_parquet

    rows = make_parquet.GROUP if request.config.getoption("benchmark_disable") else make_parquet.ROWS
    path = tmp_path_factory.mktemp("parquet") / "rows.parquet"
    make_parquet.write(path, rows)
    return str(path), rows


def _run(arguments: list[str]) -> bytes:
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, env=environment, check=False)
    assert done.returncode in (0, 1)
    return done.stdout


@pytest.mark.parametrize("where", PARQUET)
@pytest.mark.parametrize("engine", ENGINES)
def test_parquet(benchmark, wide, engine, where):
    """`mqsel match` over Parquet, whole processes."""
    if engine == "polars":
        pytest.importorskip("polars")
    path, rows = wide
    command = functools.partial(_run, ENGINES[engine](path, PARQUET[where]))
    counted = int(_run(ENGINES["mqsel-count"](path, PARQUET[where])))
    assert counted == SELECTED.get(rows, {}).get(where, counted)
    found = benchmark.pedantic(command, rounds=5, warmup_rounds=1)
    assert (found.count(b"\n") if engine == "mqsel" else int(found)) == counted
