"""Batches: W1-W7 over Arrow columns of a thousand and a million rows, and what pyarrow's own kernels take."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import workloads

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

SELECTORS = workloads.selectors()
MADE = 20_000  # distinct rows; a million is fifty times these
SIZES = {"1k": 1_000, "1M": 1_000_000}
LAYOUTS = ("plain", "nulls", "dictionaries")
TYPES = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "boolean": pa.bool_()}


@functools.cache
def made(layout: str) -> list[workloads.Row]:
    """Give the rows; with "nulls" two of three values are missing."""
    rows = workloads.rows(MADE)
    if layout != "nulls":
        return rows
    return [
        tuple([value if (17 * number + place) % 3 == 0 else None for place, value in enumerate(row)])
        for number, row in enumerate(rows)
    ]


@functools.cache
def batch(layout: str, size: str) -> pa.RecordBatch:
    columns = []
    for place, kind in enumerate(workloads.TYPES):
        column = pa.array([row[place] for row in made(layout)], TYPES[kind])
        column = pa.concat_arrays([column] * (1 + (SIZES[size] - 1) // MADE))[: SIZES[size]]
        columns.append(column.dictionary_encode() if layout == "dictionaries" and kind == "string" else column)
    return pa.RecordBatch.from_arrays(columns, list(workloads.NAMES))


@functools.cache
def expected(text: str, layout: str) -> list[str]:
    """Give the truth value of each distinct row, by plain Python."""
    evaluate = workloads.evaluator(text)
    return [
        evaluate({name: value for name, value in zip(workloads.NAMES, row, strict=True) if value is not None})
        for row in made(layout)
    ]


def assert_hits(answers: pa.BooleanArray, text: str, layout: str, size: str) -> None:
    """Compare the answers row by row; before this no time counts."""
    want = [truth is workloads.TRUE for truth in expected(text, layout)]
    got = answers.fill_null(False).to_pylist()
    assert len(got) == SIZES[size]
    assert got == (want * (1 + (SIZES[size] - 1) // MADE))[: SIZES[size]]


@pytest.fixture
def per_row(benchmark):
    """Time rounds over at least 20,000 rows, and note ns per row."""

    def measure(run: Callable[[], object], size: str) -> None:
        passes = max(1, MADE // SIZES[size])

        def one_round() -> None:
            for _ in range(passes):
                run()

        benchmark.pedantic(one_round, rounds=7, warmup_rounds=1)
        if benchmark.stats is not None:
            rows = passes * SIZES[size]
            benchmark.extra_info["ns_per_row"] = benchmark.stats.stats.median / rows * 1e9
            benchmark.extra_info["rows_per_second"] = rows / benchmark.stats.stats.median

    return measure


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SELECTORS)
def test_match_batch(benchmark, per_row, name, layout, size):
    """Find the selected rows."""
    given, matcher = batch(layout, size), workloads.matcher(SELECTORS[name])
    assert_hits(matcher.match_batch(given), SELECTORS[name], layout, size)
    benchmark.group = f"{name} batch {size}"
    per_row(lambda: matcher.match_batch(given), size)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SELECTORS)
def test_truth_batch(benchmark, per_row, name, layout):
    """Evaluate the rows in three values, by the exact code."""
    given, matcher = batch(layout, "1M"), workloads.matcher(SELECTORS[name])
    answers = matcher.truth_batch(given)
    assert_hits(answers, SELECTORS[name], layout, "1M")
    unknown = sum(truth is workloads.UNKNOWN for truth in expected(SELECTORS[name], layout))
    assert answers.null_count == unknown * SIZES["1M"] // MADE
    benchmark.group = f"{name} batch 1M"
    per_row(lambda: matcher.truth_batch(given), "1M")


def _w3(weight, price):
    sum_ = pc.add(pc.multiply(weight, 2), 1)
    between = pc.and_kleene(pc.greater_equal(sum_, 3000), pc.less_equal(sum_, 9000))
    return pc.and_kleene(between, pc.greater_equal(pc.divide(price, 2), 10.5))


KERNELS: dict[str, Callable[[pa.RecordBatch], pa.BooleanArray]] = {
    "W1": lambda b: pc.equal(b["color"], "blue"),
    "W2": lambda b: pc.and_kleene(
        pc.and_kleene(pc.equal(b["JMSType"], "car"), pc.equal(b["color"], "blue")), pc.greater(b["weight"], 2500)
    ),
    "W3": lambda b: _w3(b["weight"], b["price"]),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(benchmark, per_row, name, layout, size):
    """Do the same with pyarrow.compute, a whole column for each operator."""
    given, select = batch(layout, size), KERNELS[name]
    assert_hits(select(given), SELECTORS[name], layout, size)
    benchmark.group = f"{name} batch {size}"
    per_row(lambda: select(given), size)
