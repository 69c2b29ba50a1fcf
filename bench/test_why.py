"""Why: how long the report over 1,000,000 rows of Parquet takes beside `mqsel match --count`, and one explanation.

Whole processes over Parquet, from the start of Python to the last line; at most four times `match` is wanted of
`why`, which evaluates every part and leaves no row group out. `explain` alone, with what would have to change. Answers
are checked first.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys

import pytest

import mqsel

ROWS = 1_000_000
SELECTOR = "JMSType = 'car' AND color = 'blue' AND weight > 4210"
COMMANDS = {"match": ["match", "--count", SELECTOR], "why": ["why", "--json", SELECTOR]}


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file; small where nothing is timed."""
    pytest.importorskip("pyarrow")
    pytest.importorskip("numpy")
    from data import make_parquet

    path = tmp_path_factory.mktemp("why") / "rows.parquet"
    make_parquet.write(path, 10_000 if request.config.getoption("benchmark_disable") else ROWS)
    return str(path)


def _run(arguments: list[str]) -> bytes:
    done = subprocess.run([sys.executable, "-m", "mqsel", *arguments], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_parquet(benchmark, rows, command):
    """The count, or the report, over a file of twenty columns, of which three are read."""
    counted = int(_run([*COMMANDS["match"], rows]))
    found = benchmark.pedantic(functools.partial(_run, [*COMMANDS[command], rows]), rounds=5, warmup_rounds=1)
    assert (int(found) if command == "match" else json.loads(found)["selected"]) == counted


def test_explain(benchmark):
    """W2 and a message that one change would select."""
    matcher = mqsel.compile("JMSType = 'car' AND color = 'blue' AND weight > 2500")
    explanation = benchmark(matcher.explain, {"JMSType": "car", "color": "blue", "weight": 2036})
    assert explanation.change.endswith("weight were > 2500 (is 2036)")
