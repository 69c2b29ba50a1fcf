"""Compiling by stages, many subscriptions, and what must be linear."""

from __future__ import annotations

import pytest
import stages
import workloads

SELECTORS = workloads.selectors()
STAGES = tuple(stages.stages(SELECTORS["W2"]))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", ["W2", "W6", "W7"])
def test_stage(benchmark, name, stage):
    """Run one stage of compiling."""
    work = stages.stages(SELECTORS[name])[stage]
    if stage in ("cold", "cached", "unpickle"):
        matches = work().matches
        workloads.assert_selected(lambda messages: list(filter(matches, messages)), SELECTORS[name], "dicts", "2k")
    benchmark.group = f"{name} stages"
    benchmark(work)


def test_subscriptions(benchmark):
    """Compile distinct subscriptions: 10,000, or 500 to see whether it works."""
    count = 500 if benchmark.disabled else 10_000
    assert count == len(set(workloads.subscriptions(count)))
    found = benchmark.pedantic(stages.subscriptions, (count,), rounds=1)
    assert found["pickled"] <= 2048
    benchmark.extra_info.update(found, memory=None if benchmark.disabled else stages.subscription_memory())


@pytest.mark.parametrize("size", stages.LIKE_SIZES)
@pytest.mark.parametrize("pattern", stages.LIKE_PATTERNS)
def test_like(benchmark, pattern, size):
    """Search a long value in which every prefix of the pattern matches everywhere."""
    matches = stages.mqsel.compile(f"symbol LIKE '{pattern}'").matches
    message = {"symbol": "a" * size}
    assert not matches(message)
    benchmark.group = f"LIKE {pattern}"
    benchmark(matches, message)


def test_cost_of_a_test(benchmark):
    """Evaluate an AND of 1 to 1,000 TRUE tests, and note the slope."""
    times, slope = benchmark.pedantic(stages.tests, (1 if benchmark.disabled else 9,), rounds=1)
    benchmark.extra_info.update(ns_per_message=times, ns_per_test=slope)
    print(f"{slope:.2f} ns per test")
