"""Batches: W1-W7 and four predicates over Arrow columns, a thousand and a million rows; and the column engines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("pyarrow")

import columns

import mqsel

SIZES = {"1k": columns.FEW, "1M": columns.ROWS}
ROUND = 20_000  # rows that a round goes over at least


@pytest.fixture
def per_row(benchmark):
    """Time rounds, and note ns per row."""

    def measure(run: Callable[[], object], rows: int) -> None:
        passes = max(1, ROUND // rows)

        def one_round() -> None:
            for _ in range(passes):
                run()

        benchmark.pedantic(one_round, rounds=7, warmup_rounds=1)
        if benchmark.stats is not None:
            benchmark.extra_info["ns_per_row"] = benchmark.stats.stats.median / (passes * rows) * 1e9
            benchmark.extra_info["rows_per_second"] = passes * rows / benchmark.stats.stats.median

    return measure


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", columns.LAYOUTS)
@pytest.mark.parametrize("name", columns.SELECTORS)
def test_match_batch(benchmark, per_row, name, layout, size):
    """Find the selected rows."""
    given, matcher = columns.batch(name, layout, SIZES[size]), mqsel.compile(columns.SELECTORS[name])
    columns.assert_selected(matcher.match_batch(given), name)
    benchmark.group = f"{name} batch {size}"
    per_row(lambda: matcher.match_batch(given), SIZES[size])


@pytest.mark.parametrize("layout", columns.LAYOUTS)
@pytest.mark.parametrize("name", columns.SELECTORS)
def test_truth_batch(benchmark, per_row, name, layout):
    """Evaluate the rows in three values."""
    given, matcher = columns.batch(name, layout), mqsel.compile(columns.SELECTORS[name])
    columns.assert_truths(matcher.truth_batch(given), name)
    benchmark.group = f"{name} batch 1M"
    per_row(lambda: matcher.truth_batch(given), columns.ROWS)


@pytest.mark.parametrize(("peer", "way"), columns.WAYS)
@pytest.mark.parametrize("name", columns.SELECTORS)
def test_peers(benchmark, per_row, name, peer, way):
    """Do the same with a column engine."""
    pytest.importorskip(peer)
    run = columns.peer_run(peer, way, name)
    benchmark.group = f"{name} batch 1M"
    per_row(run, columns.ROWS)
