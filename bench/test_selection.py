"""Queues and topics: a message by identifier and by selector from a deep queue, a publication to many subscriptions.

Answers are checked before times count. Without times (``--benchmark-disable``) the queue is a hundred times less deep.
"""

from __future__ import annotations

import random

import pytest
import workloads

from mqsel import JMS
from mqsel import compile as compiled
from mqsel.selection import Queue, Topic

DEPTH = 1_000_000
TAKEN = 2_000
SUBSCRIPTIONS = 10_000
TEXT = "JMSType = 'car' AND color = 'blue' AND weight > 2500"


def _message(number: int) -> dict[str, object]:
    identifier = f"ID:{(number + 1) * 2654435761 % (1 << 192):048x}"
    return {"JMSMessageID": identifier, "JMSType": "car", "color": "red", "weight": number % 5000}


@pytest.fixture(scope="module")
def deep(request) -> tuple[Queue, list[dict[str, object]]]:
    """A queue of messages with identifiers, none of which TEXT selects."""
    messages = [_message(n) for n in range(DEPTH // (100 if request.config.getoption("benchmark_disable") else 1))]
    queue = Queue(JMS)
    for message in messages:
        queue.put(message)
    return queue, messages


def _noted(benchmark, count: int, name: str, unit: float) -> None:
    if benchmark.stats is not None:
        benchmark.extra_info[name] = benchmark.stats.stats.median / count * unit


@pytest.mark.parametrize("asked", ["selector", "match_option"])
def test_by_identifier(benchmark, deep, asked):
    """Get messages from all over the queue by identifier; what was got is put again, untimed."""
    queue, messages = deep
    rng = random.Random(7)

    def again():
        put_back()
        wanted = rng.sample(messages, TAKEN)
        identifiers = [message["JMSMessageID"] for message in wanted]
        if asked == "selector":
            return ([{"selector": f"JMSMessageID = '{shown}'"} for shown in identifiers], wanted), {}
        options = [("MQMO_MATCH_MSG_ID", bytes.fromhex(shown[3:])) for shown in identifiers]
        return ([{"match_option": option} for option in options], wanted), {}

    def run(asking, wanted):
        taken.append(([queue.get(**each) for each in asking], wanted))

    def put_back():
        for got, wanted in taken:
            assert got == wanted
            for message in got:
                queue.put(message)
        taken.clear()

    taken: list[tuple[list[object], list[object]]] = []
    benchmark.group = "a message by identifier"
    benchmark.pedantic(run, setup=again, rounds=9, warmup_rounds=1)
    put_back()
    assert len(queue) == len(messages)
    _noted(benchmark, TAKEN, "us_per_get", 1e6)


@pytest.mark.parametrize("who", ["queue", "filter"])
def test_by_selector(benchmark, deep, who):
    """Look through a queue in vain, beside `filter` over a list of the same messages."""
    queue, messages = deep
    matcher = compiled(TEXT, dialect=JMS)
    run = (lambda: queue.count(TEXT)) if who == "queue" else (lambda: len(list(matcher.filter(messages))))
    wanted = _message(5)
    wanted["color"], wanted["weight"] = "blue", 3000
    assert run() == 0
    queue.put(wanted)
    assert queue.get(TEXT) is wanted
    benchmark.group = "a deep queue by selector"
    benchmark.pedantic(run, rounds=5, warmup_rounds=1)
    _noted(benchmark, len(messages), "ns_per_message", 1e9)


def test_publish(benchmark):
    """Publish to 10,000 subscriptions, ten of which select a message."""
    topic = Topic(JMS)
    for number in range(SUBSCRIPTIONS):
        topic.subscribe(str(number), f"symbol = 'S{number // 10}' AND price > 0")
    message = {**dict.fromkeys(workloads.NAMES, 1), "symbol": "S7", "price": 5.0}
    assert topic.publish(message) == tuple(str(number) for number in range(70, 80))
    benchmark.group = "a publication"
    benchmark.pedantic(topic.publish, args=(message,), rounds=20, warmup_rounds=2)
    _noted(benchmark, SUBSCRIPTIONS, "ns_per_subscription", 1e9)
