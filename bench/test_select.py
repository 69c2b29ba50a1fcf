"""Select: `m.select(frame)` beside the mask and the filter that a user would write, for each library of frames.

The ratio of CPU seconds is wanted at 1.3 at most: what is timed is printed with it (`pytest bench/test_select.py -s`).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest
import workloads

import mqsel

ROWS = 500_000
ROUNDS = 7


def _by_arrow(matcher: mqsel.Matcher, frame: Any) -> Any:
    return frame.filter(matcher.match_batch(frame))


def _by_pandas(matcher: mqsel.Matcher, frame: Any) -> Any:
    return frame[matcher.match_batch(frame).to_numpy(zero_copy_only=False)]


def _by_polars(matcher: mqsel.Matcher, frame: Any) -> Any:
    polars = pytest.importorskip("polars")
    return frame.filter(polars.Series(matcher.match_batch(frame)))


def _by_duckdb(matcher: mqsel.Matcher, frame: Any) -> Any:
    duckdb = pytest.importorskip("duckdb")
    table = frame.to_arrow_table()
    return duckdb.from_arrow(table.filter(matcher.match_batch(table)))


# For each library how a frame is made of a table, and the rows are selected by hand.
LIBRARIES: dict[str, tuple[Callable[[Any], Any], Callable[[mqsel.Matcher, Any], Any]]] = {
    "pyarrow": (lambda table: table, _by_arrow),
    "pandas": (lambda table: pytest.importorskip("pandas") and table.to_pandas(), _by_pandas),
    "polars": (lambda table: pytest.importorskip("polars").from_arrow(table), _by_polars),
    "duckdb": (lambda table: pytest.importorskip("duckdb").from_arrow(table), _by_duckdb),
}


def _spent(select: Callable[[], Any]) -> float:
    start = time.process_time()
    select()
    return time.process_time() - start


@pytest.mark.parametrize("rows", [1_000, ROWS])
@pytest.mark.parametrize("library", LIBRARIES)
def test_select(request, library, rows):
    """W2 over eight columns: the same rows, then both ways in turns."""
    pa = pytest.importorskip("pyarrow")
    make, by_hand = LIBRARIES[library]
    is_timed = not request.config.getoption("benchmark_disable")
    rows = rows if is_timed else 1_000
    messages = [workloads.as_dict(row) for row in workloads.rows(min(rows, 100_000))]
    table = pa.concat_tables([pa.Table.from_pylist(messages)] * max(rows // 100_000, 1)).combine_chunks()
    frame = make(table)
    matcher = mqsel.compile(workloads.selectors()["W2"])
    assert len(matcher.select(frame)) == len(by_hand(matcher, frame)) == matcher.match_batch(table).true_count
    if not is_timed:
        return
    rounds = ROUNDS if rows == ROWS else 50 * ROUNDS
    ways = (lambda: matcher.select(frame), lambda: by_hand(matcher, frame))
    times = [[_spent(way) for way in ways] for _ in range(rounds)]
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"\n{library}, {rows:,} rows: select {mine * 1e3:.3f} ms, by hand {other * 1e3:.3f} ms: {mine / other:.2f}")
