"""Twice the input is at most about twice the work of what compares, explains and corrects selectors."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from volumes import is_release

import mqsel
from mqsel.analysis.compare.audit import audit
from mqsel.language.dialect import PRESETS

LONG = mqsel.JMS.replace(max_length=10_000_000)


def _of_many(write: Callable[[int], str], **more: Any) -> tuple[Callable[[int], Any], Callable[[Any], object]]:
    return lambda size: [(str(at), write(at)) for at in range(size)], lambda made: audit(made, **more)


# What makes an input of a size, and what is done with it. Comments: seconds for 800 and 1,600 before.
GROWING: dict[str, tuple[Callable[[int], Any], Callable[[Any], object]]] = {
    "audit, each within others": _of_many(lambda at: f"a > {at}"),  # 0.37, 1.42
    "audit, each apart, once": _of_many(lambda at: f"a = 's{at}'", once=True),  # 0.31, 1.23
    "lint, two names": (
        lambda size: " OR ".join(f"a{at} = b{at}" for at in range(size)),
        lambda made: mqsel.lint(made, LONG),  # 0.21, 0.83
    ),
    "explain, many names": (
        lambda size: mqsel.compile(" AND ".join(f"a{at} = 1" for at in range(size)), dialect=LONG),
        lambda made: made.explain({"a1": 1}),  # 0.20, 0.64
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", GROWING)
def test_twice_the_size_is_not_four_times_the_time(name: str) -> None:
    """The least processor time of three for 1,600 is less than thrice that for 800."""
    make, work = GROWING[name]
    least = []
    for size in (800, 1_600):
        times = []
        for turn in range(3):
            made = make(size + turn)  # nothing is remembered of the turn before
            gc.collect()
            gc.disable()
            began = time.process_time()
            work(made)
            times.append(time.process_time() - began)
            gc.enable()
        least.append(min(times))
    assert least[1] < 3 * least[0], least


GROWING_SCRIPT = Path(__file__).resolve().parent.parent / "growing.py"
SIZES = {1_000: "2", 10_000: "2", 100_000: "20"}  # characters, and the seconds that a call may take


def _slow(*arguments: str) -> list[str]:
    """Return what the script says of calls that take more than the bar; print which took longest."""
    line = [sys.executable, str(GROWING_SCRIPT), *arguments]
    said = [
        json.loads(row) for row in subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()
    ]
    print(*[row for row in said if row[2] == "slowest"], sep="\n")
    return [row for row in said if row[2] != "slowest"]


@pytest.mark.volume
def test_no_dialect_makes_the_worst_constructs_take_more_than_their_budget() -> None:
    """No dialect makes a call take more than two seconds of processor time for what takes the most steps."""
    worst = ("--constructs", "sum of properties", "pairs by AND", "--calls", "relation", "migrate")

    expected: list[str] = []
    assert expected == _slow(*PRESETS, *worst)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dialect", PRESETS)
def test_no_call_takes_more_than_its_budget(dialect: str, size: int) -> None:
    """No construct of a dialect makes a call take more than two seconds; of 100 kB, ten times as long."""
    if not is_release():
        pytest.skip("hours of processor time: --volume 10 tries it")
    expected: list[str] = []
    assert expected == _slow(dialect, "--size", str(size), "--bar", SIZES[size])
