"""Files: of MQ messages and records of connectors, how long a message takes; of these and of Parquet, a whole process.

One number for each. Messages: 6,000 in one call; divide by 6,000. Parquet: `mqsel match` over
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

sys.path.append(str(Path(__file__).parent.parent / "tests"))

from printer import amqsbcg_text

import mqsel
from mqsel.files.dumps import Piece
from mqsel.files.framings import length_prefixed, pieces, splits
from mqsel.files.qload import qload_text
from mqsel.files.run.work import Ask, Match, Tally
from mqsel.formats import records

DATA = Path(__file__).with_name("data")
TIMES = 1_000  # the six messages of the sample


SELECTOR = "JMSPriority >= 4 AND weight > 2500"
FILE = 200 << 20  # bytes of a file that a whole process reads
BODY = 1_300  # bytes of a message in bytes; as many has its text without a body


def _messages() -> list[bytes]:
    sample = pieces(io.BufferedReader(io.BytesIO((DATA / "dump.qload").read_bytes())), "qload")  # type: ignore[type-var]
    return [piece.message for piece in sample if isinstance(piece, Piece) and piece.message is not None]


# For each format the file of a message of the sample.
WRITERS = {
    "mq": lambda message: length_prefixed(message.ljust(BODY, b" ")),
    "qload": qload_text,
    "amqsbcg": amqsbcg_text,
}


@pytest.mark.parametrize("framing", WRITERS)
def test_taken_apart(benchmark, framing):
    """Files of MQ messages to the bytes of each, and how it stands in the file: what `inspect` and Spark begin with."""
    data = b"".join(map(WRITERS[framing], _messages())) * TIMES

    def run() -> list[object]:
        return list(pieces(io.BufferedReader(io.BytesIO(data)), framing))  # type: ignore[type-var]

    assert sum(isinstance(piece, Piece) and piece.message is not None for piece in run()) == 6 * TIMES
    benchmark(run)


@pytest.mark.parametrize("framing", WRITERS)
def test_sifted(benchmark, framing):
    """The same files, counted by a selector: 6,000 messages of 1.3 KB, those of amqsbcg have twice as much text."""
    data = b"".join(map(WRITERS[framing], _messages())) * TIMES
    matcher = mqsel.compile(SELECTOR)
    decoder = matcher.decoder("mq")
    expected = sum(matcher.matches(decoder(message)) for message in _messages())
    ask = Ask(invert=False, counting=True, raising=False, limit=None, format=framing)

    def run() -> Tally:
        *_, tally = Match(matcher, ask).messages(splits(io.BufferedReader(io.BytesIO(data)), framing))  # type: ignore[type-var]
        assert isinstance(tally, Tally)
        return tally

    tally = run()
    assert (tally.messages, tally.selected, tally.skipped) == (6 * TIMES, expected * TIMES, 0)
    assert 0 < expected < 6
    benchmark(run)
    if benchmark.stats is not None:
        benchmark.extra_info["mb_per_second"] = len(data) / benchmark.stats.stats.median / 1e6


@pytest.mark.parametrize("framing", WRITERS)
def test_process(request, benchmark, tmp_path, framing):
    """A whole process that counts in a file of 200 MB."""
    data = b"".join(map(WRITERS[framing], _messages()))
    matcher = mqsel.compile(SELECTOR)
    expected = sum(matcher.matches(matcher.decoder("mq")(message)) for message in _messages())
    times = FILE // len(data) // (1000 if request.config.getoption("benchmark_disable") else 1)
    path = tmp_path / f"messages.{framing}"
    with path.open("wb") as file:
        file.writelines(data for _ in range(times))
    command = functools.partial(_run, ["-m", "mqsel", "match", "--count", SELECTOR, str(path)])
    assert int(command()) == expected * times
    benchmark.pedantic(command, rounds=5)
    if benchmark.stats is not None:
        benchmark.extra_info["mb_per_second"] = len(data) * times / benchmark.stats.stats.median / 1e6


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
