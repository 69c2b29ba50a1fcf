"""What else is measured: the stages of compiling, many subscriptions, LIKE's worst case, the cost of one more test.

`python bench/stages.py` prints how many bytes of memory a compiled subscription takes, in a process of its own.
"""

from __future__ import annotations

import functools
import gc
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import workloads

import mqsel
from mqsel import matcher
from mqsel.language.checker import check
from mqsel.language.lexer import tokenize
from mqsel.language.optimizer import optimize
from mqsel.language.parser import parse
from mqsel.language.selector import read_selector
from mqsel.machine.compiler import lower

Work = Callable[[], object]
LIMITLESS = mqsel.IBM_MQ.replace(max_length=None)


def _repeats(work: Work, least: float, now: Callable[[], float]) -> int:
    """Return how often to call so that it takes so long: one call, the first, would be taken for a slow one."""
    repeat = 1
    while True:
        start = now()
        for _ in range(repeat):
            work()
        taken = now() - start
        if taken >= least:
            return repeat
        repeat *= max(2, int(least / max(taken, 1e-7)))


def clock(
    contenders: dict[str, Work], rounds: int, least: float = 0.0, now: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Time the contenders in turn, without garbage collection; give each one's median seconds for one call.

    Args:
        least: seconds a round takes at least; short calls are repeated within it.
        now: the clock: wall time, or `time.process_time`.
    """
    repeats = {name: _repeats(work, least, now) for name, work in contenders.items()}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, work in contenders.items():
                repeat = range(repeats[name])
                start = now()
                for _ in repeat:
                    work()
                times[name].append((now() - start) / len(repeat))
    finally:
        gc.enable()
    return {name: statistics.median(taken) for name, taken in times.items()}


def stages(text: str) -> dict[str, Work]:
    """Return each stage alone; parse includes tokenize."""
    dialect = mqsel.IBM_MQ
    selector = read_selector(text, dialect)
    optimized = optimize(selector)
    matched = mqsel.compile(text)
    data = pickle.dumps(matched)
    assert pickle.loads(data) == matched
    assert mqsel.compile(text) is matched
    return {
        "tokenize": lambda: tokenize(text, dialect),
        "parse": lambda: parse(text, dialect),
        "check": lambda: check(selector.order, text, dialect),
        "optimize": lambda: optimize(selector),
        "lower": lambda: lower(optimized),
        "cold": functools.partial(_compile_cold, text, dialect),
        "cached": lambda: mqsel.compile(text),
        "unpickle": lambda: pickle.loads(data),
    }


def _compile_cold(text: str, dialect: mqsel.Dialect) -> mqsel.Matcher:
    read_selector.cache_clear()
    return matcher._compile.__wrapped__(text, dialect, None, True)


def subscriptions(count: int) -> dict[str, float]:
    """Compile *count* distinct subscriptions: seconds, and the mean size of each pickled."""
    texts = workloads.subscriptions(count)
    start = time.perf_counter()
    matchers = [mqsel.compile(text) for text in texts]
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "pickled": statistics.mean(len(pickle.dumps(each)) for each in matchers)}


def subscription_memory() -> dict[str, float]:
    """Measure the bytes each of 10,000 subscriptions takes, compiled and once it has run; empty where nothing tells.

    A program is decoded when it first runs: what is compiled to be shipped, or kept, does without.
    """
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    return dict(zip(("compiled", "run"), map(float, done.stdout.split()), strict=False))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def _print_memory(count: int = 10_000) -> None:
    if not Path("/proc/self/statm").exists():
        return
    texts = workloads.subscriptions(count)
    mqsel.compile("warm = 1").matches({})
    gc.collect()
    before = _resident()
    matchers = [mqsel.compile(text) for text in texts]
    gc.collect()
    compiled = _resident()
    for each in matchers:
        each.matches({})
    gc.collect()
    print((compiled - before) / count, (_resident() - before) / count)


LIKE_PATTERNS = ("%a%a%a%a%b", "%a%a%a%a%ab%")  # the last character decides the first; the second must search
LIKE_SIZES = (50_000, 100_000, 200_000)


def like(rounds: int) -> dict[str, dict[int, float]]:
    """Time LIKE over strings of nothing but a: seconds by pattern and length."""
    found = {}
    for pattern in LIKE_PATTERNS:
        matches = mqsel.compile(f"symbol LIKE '{pattern}'").matches
        given = {size: {"symbol": "a" * size} for size in LIKE_SIZES}
        assert not any(map(matches, given.values()))
        works = {str(size): functools.partial(matches, message) for size, message in given.items()}
        found[pattern] = {int(size): taken for size, taken in clock(works, rounds, 0.002).items()}
    return found


def doubling(times: dict[int, float]) -> float:
    """Return the most that a doubled value multiplies the time by."""
    return max(times[2 * size] / taken for size, taken in times.items() if 2 * size in times)


TEST_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def tests(rounds: int) -> tuple[dict[int, float], float]:
    """Time an AND of so many TRUE tests: ns per message by count, and the slope in ns per test."""
    given = [workloads.as_dict(row) for row in workloads.rows(workloads.CYCLED) if None not in row][:500]
    works: dict[str, Work] = {}
    for count in TEST_COUNTS:
        text = " AND ".join(f"{('weight', 'price', 'JMSPriority')[i % 3]} <> -{i + 1}" for i in range(count))
        stream = mqsel.compile(text, dialect=LIMITLESS).filter
        assert list(stream(given)) == given
        works[str(count)] = lambda stream=stream: list(stream(given))
    times = {int(count): taken / len(given) * 1e9 for count, taken in clock(works, rounds).items()}
    return times, statistics.linear_regression(list(times), list(times.values())).slope


if __name__ == "__main__":
    _print_memory()
