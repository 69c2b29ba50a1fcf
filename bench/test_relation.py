"""Comparing selectors: each wild one with each, and an audit of many subscriptions."""

from __future__ import annotations

import gzip
import itertools
import json
import statistics
import time

import pytest
import workloads

import mqsel
from mqsel.analysis.compare.audit import audit
from mqsel.analysis.compare.relation import related
from mqsel.analysis.compare.search import as_selector

WILD = workloads.SHARED.parent / "vectors" / "wild-selectors.jsonl"


def wild() -> list[str]:
    """Return the valid selectors that were found in the wild, or some subscriptions where those are not here."""
    if not WILD.exists():
        return workloads.subscriptions(150)
    texts = [json.loads(line)["selector"] for line in WILD.read_text(encoding="utf-8").splitlines()]
    valid = []
    for text in dict.fromkeys(texts):
        try:
            mqsel.compile(text, dialect="JMS")
        except mqsel.SelectorError:
            continue
        valid.append(text)
    return valid


def test_relation(benchmark):
    """Relate each selector with each, and note the median of one pair, read before; every message is run."""
    texts = wild()[: 12 if benchmark.disabled else None]
    known = [as_selector(text, "JMS") for text in texts]
    matchers = [mqsel.compile(text, dialect="JMS") for text in texts]

    def run() -> tuple[list[float], int]:
        seconds, undecided = [], 0
        for (a, first), (b, second) in itertools.combinations(zip(known, matchers, strict=True), 2):
            began = time.perf_counter()
            found = related(a, b)
            seconds.append(time.perf_counter() - began)
            undecided += found.relation == "not decided"
            for message, wanted in ((found.both, (1, 1)), (found.a_alone, (1, 0)), (found.b_alone, (0, 1))):
                assert message is None or (first.matches(message), second.matches(message)) == wanted
        return seconds, undecided

    seconds, undecided = benchmark.pedantic(run, rounds=1)
    assert undecided <= len(seconds) / 100
    median, last = statistics.median(seconds) * 1e3, max(seconds) * 1e3
    benchmark.extra_info.update(pairs=len(seconds), ms_per_pair=median, slowest=last, undecided=undecided)
    print(f"{len(seconds):,} pairs, median {median:.2f} ms, slowest {last:.0f} ms, {undecided} not decided")


@pytest.mark.parametrize("name", ["one to four tests", "as in the workload"])
def test_audit(benchmark, name):
    """Audit 10,000 subscriptions, or 300 to see whether it works."""
    count = 300 if benchmark.disabled else 10_000
    shared = workloads.SHARED / "subscriptions.json.gz"
    if name == "as in the workload":
        if not shared.exists():
            pytest.skip(f"the workload is not here: {shared}")
        texts = json.loads(gzip.decompress(shared.read_bytes()))[:count]
    else:
        texts = workloads.subscriptions(count)
    keyed = {str(number): text for number, text in enumerate(texts)}
    began = time.process_time()
    found = benchmark.pedantic(audit, (keyed.items(),), rounds=1)
    spent = time.process_time() - began
    messages = workloads.messages("dicts", "2k")

    def selected(key: str) -> set[int]:
        matches = mqsel.compile(keyed[key]).matches
        return {number for number, message in enumerate(messages) if matches(message)}

    assert found.within
    assert not found.invalid
    for wide, inner in found.within[:20]:
        around = selected(wide)
        assert all(selected(key) <= around for key in inner[:20])
    for keys, _ in found.equal[:20]:
        assert len({frozenset(selected(key)) for key in keys[:20]}) == 1
    within = sum(len(one.keys) for one in found.within)
    benchmark.extra_info.update(cpu_seconds=spent, within=within, undecided=len(found.undecided))
    print(
        f"{count:,} selectors, {spent:.1f} s of CPU time, {within:,} within others, {len(found.undecided)} not decided"
    )
