"""UTC() is one time in all of a call, which ``now=`` sets."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import pytest

import mqsel

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = "p.creation_time = UTC() OR p.creation_time + 1 = UTC()"
FIRST = 1_700_000_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A clock that is a second later whenever it is read; what it was."""
    read: list[int] = []

    def nanoseconds() -> int:
        read.append(FIRST + 1_000 * len(read))
        return read[-1] * 1_000_000

    monkeypatch.setattr(time, "time_ns", nanoseconds)
    return read


def _calls() -> dict[str, Callable[..., list[bool]]]:
    matcher = mqsel.compile(TEXT, dialect=mqsel.RABBITMQ)
    selectors = mqsel.SelectorSet({1: TEXT}, dialect=mqsel.RABBITMQ)

    def chosen(stream: Any, messages: list[dict[str, int]]) -> list[bool]:
        found = [one if isinstance(one, dict) else one[0] for one in stream]
        return [any(one is message for one in found) for message in messages]

    def columns(answer: Callable[..., Any], messages: list[dict[str, int]], **now: int) -> list[bool]:
        arrow = pytest.importorskip("pyarrow")
        return [bool(one) for one in answer(arrow.RecordBatch.from_pylist(messages), **now).to_pylist()]

    return {
        "filter": lambda messages, **now: chosen(matcher.filter(messages, **now), messages),
        "match_batch": lambda messages, **now: columns(matcher.match_batch, messages, **now),
        "truth_batch": lambda messages, **now: columns(matcher.truth_batch, messages, **now),
        "set filter": lambda messages, **now: chosen(selectors.filter(messages, **now), messages),
        "set match": lambda messages, **now: [bool(selectors.match(one, **now)) for one in messages[:1]],
        "set match_batch": lambda messages, **now: columns(selectors.match_batch, messages, **now),
    }


@pytest.mark.parametrize("call", _calls())
def test_read_once_a_call(call: str, clock: list[int]) -> None:
    """All messages of a call, and all tests of a selector, have one time; the next call has another."""
    for number in (0, 1):
        messages = [{"p.creation_time": FIRST + 1_000 * number - later} for later in (0, 1, 1_000, -1_000, 2)]
        assert _calls()[call](messages) == [True, True, False, False, False][: 1 if call == "set match" else 5]
        assert len(clock) == number + 1


@pytest.mark.parametrize("call", _calls())
def test_now_sets_it(call: str, clock: list[int]) -> None:
    """A time that is given is that of the call, and the clock is not asked; what is no time is refused."""
    assert all(_calls()[call]([{"p.creation_time": 5}, {"p.creation_time": 4}], now=5))
    assert clock == []
    for wrong in (-1, "5", True, 5.0):
        with pytest.raises(mqsel.ArgumentError, match="expected a time, in milliseconds since 1970"):
            _calls()[call]([{"p.creation_time": 5}], now=wrong)


def test_what_reads_no_clock_does_not_ask_it(clock: list[int]) -> None:
    """No other selector reads the time."""
    matcher = mqsel.compile("a = 5", dialect=mqsel.RABBITMQ)
    assert list(matcher.filter([{"a": 5}])) == [{"a": 5}]
    assert clock == []


def test_a_long_text_and_a_constant(clock: list[int]) -> None:
    """A text that its product just takes, and one that reads nothing else, have an answer at each time."""
    text = f"UTC() = {FIRST}".ljust(4_096)
    matcher = mqsel.compile(text, dialect=mqsel.RABBITMQ)
    assert matcher.constant is None
    assert [len(list(matcher.filter([{}]))) for _ in range(2)] == [1, 0]
    assert [len(list(matcher.filter([{}], now=now))) for now in (FIRST, 0)] == [1, 0]
    assert len(clock) == 2


def test_threads_have_times_of_their_own() -> None:
    """A call within another, as of a stream that asks a set, does not change the time of the outer one."""
    selectors = mqsel.SelectorSet({1: TEXT}, dialect=mqsel.RABBITMQ)
    inner = (bool(selectors.match({"p.creation_time": 7}, now=7)) for _ in itertools.repeat(None))
    stream = selectors.filter(({"p.creation_time": 5, "inner": next(inner)} for _ in range(3)), now=5)
    assert [message["inner"] for message, _ in stream] == [True] * 3
