"""`pytest bench` times, `pytest bench --benchmark-disable` only checks that everything runs and selects rightly."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import build_floor
import workloads


def pytest_report_header() -> str:
    """Report what stands in for what is not there."""
    shared = "as in" if workloads.SHARED.exists() else "made from the seed, for want of"
    return f"bench: W6, W7 {shared} ../shared/workloads; floor: {floor_or_reason()[1]}"


def floor_or_reason() -> tuple[ModuleType | None, str]:
    try:
        return build_floor.load(workloads.selectors()), "built"
    except (FileNotFoundError, ImportError) as error:
        return None, str(error)


@pytest.fixture(scope="session")
def floor() -> ModuleType:
    """The floor, or a skip."""
    module, reason = floor_or_reason()
    if module is None:
        pytest.skip(reason)
    return module


@pytest.fixture
def per_message(benchmark):
    """Time rounds of 20,000 messages, and note ns per message."""

    def measure(run) -> None:
        benchmark.pedantic(run, rounds=9, warmup_rounds=1)
        if benchmark.stats is not None:
            benchmark.extra_info["ns_per_message"] = benchmark.stats.stats.median / workloads.STREAMED * 1e9

    return measure
