"""Sets of many selectors: messages in each form, batches in both ways, building, opening. Answers are compared first.

With times, 10,000 selectors; without (``--benchmark-disable``), 500.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import sets

import mqsel
from mqsel.formats import mq

EVERYTHING = {one.name: one for one in (*sets.WORKLOADS, *sets.ADVERSARIAL, *filter(None, (sets.shared(),)))}
MESSAGES = 500


@pytest.fixture(scope="module", params=EVERYTHING)
def held(request) -> tuple[sets.Workload, mqsel.SelectorSet[int], list[str]]:
    """A workload, its set and its texts."""
    workload = EVERYTHING[request.param]
    texts = workload.selectors(500 if request.config.getoption("benchmark_disable") else 10_000)
    return workload, mqsel.SelectorSet(enumerate(texts), dialect=workload.dialect), texts


def _forms(selectors: mqsel.SelectorSet[int]) -> dict[str, tuple[Callable, Callable]]:
    """For each form of a message what makes it of a dict, and what matches it."""
    names, decode = selectors.properties, selectors.decoder("mq")
    return {
        "record": (lambda one: mqsel.Record(names, {name: one.get(name) for name in names}), selectors.match),
        "dict": (lambda one: one, selectors.match),
        "mq": (lambda one: mq.encode({}, one), lambda raw: selectors.match(decode(raw))),
    }


@pytest.mark.parametrize("form", ["record", "dict", "mq"])
def test_message(benchmark, held, form):
    """Time a message; the first twenty are compared with a loop over Matchers, and with scan."""
    workload, selectors, texts = held
    make, match = _forms(selectors)[form]
    drawn = workload.messages(MESSAGES)
    messages = [make(one) for one in drawn]
    found = [match(one) for one in messages]
    assert found == [selectors.match(one) for one in drawn]
    assert any(found) or workload.name in ("conjunctions", "JMS sparse")  # which hardly select a message of few
    if form == "dict":
        sets.compared(match, sets.matchers(workload, texts), messages[:20])
        assert selectors.scan(messages[0]) == match(messages[0])
    again = itertools.cycle(messages)
    benchmark.group = f"a message, {workload.name}"
    benchmark.pedantic(lambda: [match(next(again)) for _ in messages], rounds=5, warmup_rounds=1)
    if benchmark.stats is not None:
        benchmark.extra_info["us_per_message"] = benchmark.stats.stats.median / MESSAGES * 1e6


@pytest.mark.parametrize("what", ["build", "open"])
def test_whole(benchmark, held, what, tmp_path):
    """Time building a set from texts, and opening one."""
    workload, selectors, texts = held
    messages = workload.messages(MESSAGES)
    path = tmp_path / "set"
    selectors.save(path)
    runs: dict[str, Callable[[], Any]] = {
        "build": lambda: mqsel.SelectorSet(enumerate(texts), dialect=workload.dialect),
        "open": lambda: mqsel.SelectorSet.open(path),
    }
    benchmark.group = f"{what}, {workload.name}"
    found = benchmark.pedantic(runs[what], rounds=3)
    assert [found.match(message) for message in messages] == [selectors.match(message) for message in messages]


@pytest.mark.parametrize("way", ["row", "kernel"])
@pytest.mark.parametrize("count", [100, 10_000])
def test_batch(benchmark, held, count, way):
    """Time a batch by the index and by the kernel; as many selectors as a kernel is measured with have both."""
    pytest.importorskip("pyarrow")
    workload, selectors, texts = held
    selectors = mqsel.SelectorSet(enumerate(texts[:count]), dialect=workload.dialect)
    batch, messages = sets.batch_of(workload, MESSAGES if benchmark.disabled else sets.ROWS)
    runs = sets.ways(selectors, batch)
    if way not in runs:
        pytest.skip(f"no kernel of {len(selectors):,} selectors")
    benchmark.group = f"a batch, {len(selectors):,}, {workload.name}"
    found = benchmark.pedantic(runs[way], rounds=3, warmup_rounds=1)
    assert found[:MESSAGES].to_pylist() == [selectors.match(message) for message in messages[:MESSAGES]]
    assert found.equals(selectors.match_batch(batch))
    if benchmark.stats is not None:
        benchmark.extra_info["us_per_row"] = benchmark.stats.stats.median / len(messages) * 1e6
