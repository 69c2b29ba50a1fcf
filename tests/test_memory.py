"""Memory stays flat: no reference leaks, no growth over many evaluations and compilations.

The full figures (10 million evaluations, 100,000 compilations) come from ``python tests/test_memory.py``.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
import weakref
from collections import UserDict
from collections.abc import Callable, Iterator

import pytest
from running import growth

import mqsel
from mqsel.formats._mq import MQDecoder
from mqsel.language.dialect import JMS
from mqsel.machine._stream import Selection
from mqsel.machine._vm import Machine

SELECTOR = "JMSType = 'car' AND (color LIKE '%lu%' OR weight + 1 BETWEEN 2500 AND 9000) AND NOT region IN ('a', 'b')"
MESSAGES = [
    {"JMSType": "car", "color": "blue", "weight": 3000, "region": "north"},
    {"JMSType": "car", "color": "ré\u0394\U0001f600", "weight": 12.5},
    {"JMSType": "bus"},
    {},
    {"JMSType": 5, "color": None, "region": b"\x00"},
]


def resident() -> int:
    """Return the resident set of this process, in bytes."""
    psutil = pytest.importorskip("psutil")
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def evaluate(times: int) -> None:
    matcher = mqsel.compile(SELECTOR)
    bad = {"JMSType": object()}
    for number in range(times // 5):
        for message in MESSAGES:
            matcher.matches(message)
        if number % 64 == 0:
            with pytest.raises(mqsel.MqselError):
                matcher.matches(bad)


def compile_many(times: int) -> None:
    for number in range(times):
        matcher = mqsel.matcher._compile.__wrapped__(f"{SELECTOR} AND n = {number}", JMS, None, True)
        matcher.matches(MESSAGES[0])
        if number % 8 == 0:
            with pytest.raises(mqsel.SelectorError):
                mqsel.compile(f"a = = {number}")


@pytest.mark.parametrize("work", [evaluate, compile_many])
def test_resident_set_is_flat(work: Callable[[int], None]) -> None:
    """After a warm-up the resident set grows by less than 1 MB over twice as much work."""
    times = 200_000 if work is evaluate else 1_000
    work(times)

    assert growth(resident, lambda: work(2 * times), 1 << 20) < 1 << 20


def refused(matcher: mqsel.Matcher, message: dict[str, object]) -> None:
    with pytest.raises(mqsel.MqselError):
        list(matcher.filter([message, {**message, "color": []}]))


def test_no_references_are_left() -> None:
    """The reference counts of a message, its values and constants are the same after all ways to evaluate it."""
    values = {"JMSType": "c" + "ar", "color": "BLUE".lower(), "weight": 10**15, "region": bytes([1, 2])}
    message = dict(values)
    held = [message, *values.values(), *values]
    refused(mqsel.compile(SELECTOR), message)
    mqsel.compile(SELECTOR, dialect=JMS).explain(message)  # what explains a selector is kept, with its names
    before = [sys.getrefcount(item) for item in held]
    for _ in range(50):
        matcher = mqsel.matcher._compile.__wrapped__(SELECTOR, JMS, None, True)
        matcher.matches(message)
        matcher.evaluate(message)
        matcher.explain(message)
        list(matcher.filter([message, message]))
        next(matcher.filter(iter([message])), None)
        record = mqsel.Record(tuple(message), message)
        record.fill(message)
        matcher.matches(record)
        refused(matcher, message)
        del matcher, record
    gc.collect()

    assert [sys.getrefcount(item) for item in held] == before


def test_blocks_are_flat() -> None:
    """Evaluating allocates nothing that stays: the number of allocated blocks is the same afterwards."""
    evaluate(1000)

    assert growth(sys.getallocatedblocks, lambda: evaluate(100_000), 50) < 50


class Held(list):  # type: ignore[type-arg]
    """What is in the cycle, and can be seen to go."""


class Input:
    """An input that refers to its own stream."""

    stream: object

    def __iter__(self) -> Input:
        return self

    def __next__(self) -> dict[str, int]:
        return {"n": 1}


def stream_cycle(held: Held) -> None:
    given = Input()
    given.stream = held, mqsel.compile("n = 1").filter(given)
    next(given.stream[1])


def generator_cycle(held: Held) -> None:
    def messages() -> Iterator[dict[str, int]]:
        yield {"n": 1}
        yield stream, held  # type: ignore[misc]

    stream = mqsel.compile("n = 1").filter(messages())
    next(stream)


def list_cycle(held: Held) -> None:
    held.append(mqsel.compile("n = 1").filter([held], errors="skip"))


def decoder_cycle(held: Held) -> None:
    def decode(raw: object) -> bool:
        return raw in held

    held.append(Selection(Machine(mqsel.compile("n = 1").program), [1], decode=decode))


def type_cycle(held: Held) -> None:
    class Message(UserDict):  # type: ignore[type-arg]
        pass

    matcher = pickle.loads(pickle.dumps(mqsel.compile("n = 1")))
    Message.matcher = matcher, held  # type: ignore[attr-defined]
    assert matcher.matches(Message(n=1))


def names_cycle(held: Held) -> None:
    class Row(tuple):  # type: ignore[type-arg]
        __slots__ = ()
        _fields = ("n", held)

    matcher = pickle.loads(pickle.dumps(mqsel.compile("n = 1")))
    held.append(matcher)
    assert matcher.matches(Row((1, 2)))


def raw_names_cycle(held: Held) -> None:
    class Name(str):
        __slots__ = ("__dict__",)

    name = Name("n")
    name.held = held  # type: ignore[attr-defined]
    held.append(MQDecoder((name,)))


@pytest.mark.parametrize(
    "make",
    [stream_cycle, generator_cycle, list_cycle, decoder_cycle, type_cycle, names_cycle, raw_names_cycle],
)
def test_cycles_are_collected(make: Callable[[Held], None]) -> None:
    """What a stream, a matcher or a decoder closes into a circle is garbage once nobody else holds it."""
    held = Held()
    seen = weakref.ref(held)
    make(held)
    del held
    gc.collect()

    assert seen() is None


if __name__ == "__main__":
    for work, times in ((evaluate, 10_000_000), (compile_many, 100_000)):
        work(times // 20)
        start, began = resident(), time.perf_counter()
        work(times)
        grown = resident() - start
        print(f"{work.__name__} {times:,} times: {start / 2**20:.1f} MB, grown by {grown / 1024:.0f} KB", end=", ")
        print(f"{time.perf_counter() - began:.0f} s")
