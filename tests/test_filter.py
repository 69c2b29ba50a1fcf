"""Streams of messages through one matcher."""

from __future__ import annotations

import gc
import itertools
import operator
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import shown

import mqsel
from mqsel.errors import ArgumentError, PropertyTypeError


class Source:
    """An iterator that notes how far it was read."""

    def __init__(self, messages: Any) -> None:
        self.messages = iter(messages)
        self.read = 0

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        message = next(self.messages)
        self.read += 1
        return message


MESSAGES = [{"a": number % 3, "number": number} for number in range(10)]


WANTED = [message for message in MESSAGES if message["a"] == 1]


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        iter,
        deque,
        Source,
        lambda messages: (each for each in messages),
        lambda m: dict(enumerate(m)).values(),
    ],
    ids=["list", "tuple", "iterator", "deque", "object", "generator", "view"],
)
def test_filter_takes_any_iterable(kind: Any) -> None:
    """What comes out are the very objects that went in, in order."""
    stream = mqsel.compile("a = 1").filter(kind(MESSAGES))

    assert list(map(id, stream)) == list(map(id, WANTED))
    assert (stream.seen, stream.selected, stream.skipped) == (10, 3, 0)
    assert list(stream) == []
    assert (stream.seen, stream.selected) == (10, 3)


def test_filter_gives_records_of_any_kind_untouched() -> None:
    """Mappings, Records and sequences may stand in one stream, twice the same object too, and inside a set."""
    record, pair = mqsel.Record(["a"], [1]), ("x", 1)
    stream = [{"a": 1}, record, pair, ["y", 1], {"a": 2}, record, ("z", 2)]
    matcher = mqsel.compile("a = 1", schema=("b", "a"))

    assert list(map(id, matcher.filter(stream))) == [id(stream[place]) for place in (0, 1, 2, 3, 5)]
    assert set(matcher.filter({("x", 1), ("y", 2), ("z", 1)})) == {("x", 1), ("z", 1)}


def test_filter_pulls_no_more_than_it_needs() -> None:
    """Nothing is read before the first answer is asked for, and nothing beyond the message that gives it."""
    source = Source(MESSAGES)
    stream = mqsel.compile("a = 1").filter(source)
    read = [source.read]
    for _ in WANTED:
        next(stream)
        read.append(source.read)

    assert read == [0, *(message["number"] + 1 for message in WANTED)]
    assert next(stream, None) is None
    assert source.read == 10


def test_filter_of_an_infinite_input() -> None:
    """The input need not end."""
    endless = ({"a": number} for number in itertools.count())

    assert list(itertools.islice(mqsel.compile("a > 5 AND a <> 7").filter(endless), 3)) == [
        {"a": 6},
        {"a": 8},
        {"a": 9},
    ]


def test_filter_is_its_own_iterator() -> None:
    """Like a generator."""
    stream = mqsel.compile("a = 1").filter(MESSAGES)

    assert iter(stream) is stream
    assert [next(stream), *stream] == WANTED


class _Custom(Exception):  # noqa: N818 (any exception)
    pass


@pytest.mark.parametrize("errors", ["raise", "skip"])
@pytest.mark.parametrize(
    "error", [_Custom(), KeyError("a"), KeyboardInterrupt(), PropertyTypeError("theirs", name="b")], ids=shown
)
def test_an_input_that_raises(error: BaseException, errors: str) -> None:
    """Earlier answers are delivered, the input's exception passes through as it is, and then the stream is over."""

    def source() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        yield {"a": 2}
        raise error

    stream = mqsel.compile("a = 1").filter(source(), errors=errors)
    assert next(stream) == {"a": 1}
    with pytest.raises(type(error)) as caught:
        next(stream)
    assert caught.value is error
    assert getattr(error, "index", None) is None
    assert list(stream) == []
    assert (stream.seen, stream.selected, stream.skipped) == (2, 1, 0)


@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_a_filter_of_a_filter(errors: str) -> None:
    """An error of the inner stream stays its own: the index is kept, and nothing after it is lost silently."""
    messages: list[dict[str, Any]] = [{"x": 1}, {"x": 2}, {"x": 1}, {"x": []}, {"x": 1}]
    inner = mqsel.compile("x = 1").filter(messages)
    outer = mqsel.compile("y IS NULL").filter(inner, errors=errors)
    found = []
    with pytest.raises(PropertyTypeError) as caught:
        found.extend(itertools.islice(outer, 5))

    assert (caught.value.index, caught.value.name) == (3, "x")
    assert outer.skipped == 0


def test_errors_raise_names_the_record_and_the_property() -> None:
    """The index counts all records of the stream, selected or not, from 0; earlier answers were delivered."""
    source = Source([{"a": 1}, {"a": 2}, {"a": 1}, {"a": [1]}, {"a": 1}])
    stream = mqsel.compile("a = 1").filter(source)
    assert [next(stream), next(stream)] == [{"a": 1}, {"a": 1}]
    with pytest.raises(PropertyTypeError) as caught:
        next(stream)

    assert (caught.value.index, caught.value.name, caught.value.value_type) == (3, "a", "list")
    assert all(part in str(caught.value).splitlines()[0] for part in ("'a'", "list", "record 3"))
    assert (source.read, stream.seen, stream.selected, stream.skipped) == (4, 4, 2, 0)
    assert list(stream) == [], "after an error the stream is over, as a generator's is"


@pytest.mark.parametrize("wrong", [None, 5, "a", b"a", ("a",), object()], ids=shown)
@pytest.mark.parametrize("kind", [list, iter])
def test_what_is_no_message_has_an_index_too(wrong: Any, kind: Any) -> None:
    """A record that is no message at all is reported, or counted, like one with a wrong value."""
    with pytest.raises(PropertyTypeError) as caught:
        list(mqsel.compile("a = 1").filter(kind([{"a": 1}, wrong])))
    assert (caught.value.index, caught.value.name) == (1, None)
    stream = mqsel.compile("a = 1").filter(kind([wrong, {"a": 1}, wrong]), errors="skip")
    assert list(stream) == [{"a": 1}]
    assert (stream.seen, stream.selected, stream.skipped) == (3, 1, 2)


@pytest.mark.parametrize("kind", [list, iter])
def test_errors_skip_counts(kind: Any) -> None:
    """Nothing is silently lost: seen = selected + skipped + not selected, at every step."""
    bad = [{"a": []}, {"a": 1 << 64}, None, (1, 2), {"a": object()}]
    messages = [message for pair in itertools.zip_longest(MESSAGES, bad) for message in pair if message is not None]
    messages.insert(3, None)
    stream = mqsel.compile("a = 1").filter(kind(messages), errors="skip")
    steps = [(message, stream.seen, stream.selected, stream.skipped) for message in stream]

    assert [step[0] for step in steps] == WANTED
    assert [step[2] for step in steps] == [1, 2, 3]
    assert all(messages[seen - 1] is message for message, seen, _, _ in steps)
    assert (stream.seen, stream.selected, stream.skipped) == (len(messages), 3, 5)


def test_a_stream_of_nothing_but_errors() -> None:
    """A million bad records in a row are as many, not as deep."""
    stream = mqsel.compile("a = 1").filter(itertools.repeat({"a": []}, 20_000), errors="skip")

    assert list(stream) == []
    assert (stream.seen, stream.skipped) == (20_000, 20_000)


@pytest.mark.parametrize("messages", [None, 5, object(), 1.5, len, dict, mqsel.Record(["a"], [1])], ids=shown)
def test_what_is_no_stream(messages: Any) -> None:
    """Something that cannot be iterated is an ArgumentError at once, not at the first answer."""
    with pytest.raises(ArgumentError, match="iterable"):
        mqsel.compile("a = 1").filter(messages)


@pytest.mark.parametrize("errors", ["ignore", "", None, 0, True, ["raise"], "RAISE"], ids=shown)
def test_what_errors_may_be(errors: Any) -> None:
    """It is "raise" or "skip"."""
    with pytest.raises(ArgumentError, match="'raise' or 'skip'"):
        mqsel.compile("a = 1").filter([], errors=errors)


def test_an_iterable_whose_iter_raises() -> None:
    """Its own exception, not a claim that it is no iterable."""

    class Broken:
        def __iter__(self) -> Iterator[Any]:
            raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        mqsel.compile("a = 1").filter(Broken())


def test_close_ends_the_stream() -> None:
    """After close() nothing comes and nothing is read; closing twice, early or late does no harm."""
    source = Source(MESSAGES)
    stream = mqsel.compile("a = 1").filter(source)
    next(stream)
    stream.close()
    stream.close()

    assert list(stream) == []
    assert (source.read, stream.seen, stream.selected) == (2, 2, 1)
    unread = mqsel.compile("a = 1").filter(Source(MESSAGES))
    unread.close()
    assert list(unread) == []


def test_close_lets_go_of_the_input() -> None:
    """A closed, exhausted or failed stream keeps no file or cursor behind its input open."""

    def fail(stream: Any) -> None:
        with pytest.raises(PropertyTypeError):
            list(stream)

    for finish, messages in ((lambda stream: stream.close(), MESSAGES), (list, MESSAGES), (fail, [{"a": []}])):
        source = Source(messages)
        alive = weakref.ref(source)
        stream = mqsel.compile("a = 1").filter(source)
        del source
        finish(stream)
        gc.collect()

        assert alive() is None


def test_streams_of_one_matcher_are_independent() -> None:
    """Two streams read in turn give what each gives alone."""
    matcher = mqsel.compile("a = 1 AND number > b", schema=("a", "number", "b"))
    left = matcher.filter((1, number, 3) for number in range(10))
    right = matcher.filter({"a": 1, "number": number, "b": 6} for number in range(10))
    both = list(zip(left, right, strict=False))

    assert both == [((1, number, 3), {"a": 1, "number": number + 3, "b": 6}) for number in range(4, 7)]


def test_streams_that_are_abandoned() -> None:
    """Dropping a stream half way leaves the matcher fit for the next."""
    matcher = mqsel.compile("a = 1")
    for _ in range(100):
        assert next(iter(matcher.filter(MESSAGES))) == WANTED[0]

    assert list(matcher.filter(MESSAGES)) == WANTED


def running(run: Any) -> Any:
    """Return a value whose reading, as an integer of numpy, runs something and then fails."""

    def fail(_: object) -> int:
        run()
        raise ValueError

    return type("int64", (), {"__module__": "numpy", "__int__": fail})()


@pytest.mark.parametrize("errors", ["raise", "skip"])
@pytest.mark.parametrize("kind", [list, tuple])
def test_taking_all_is_taking_one_by_one(kind: Any, errors: Any) -> None:
    """Selections, counts and errors are the same, whether messages are read ahead or not, wherever one is wrong."""
    for count, wrong in itertools.product((0, 1, 2, 255, 256, 257, 600), (None, 0, 1, 254, 255, 256, 257, 599)):
        messages: list[Any] = [{"a": number % 5 % 3} for number in range(count)]
        if wrong is not None and wrong < count:
            messages[wrong] = {"a": object()}
        ways = []
        for stream in (mqsel.compile("a = 1").filter(kind(messages), errors=errors) for _ in range(2)):
            taken: list[Any] = []
            error = None
            try:
                if ways:
                    taken.extend(stream)
                else:
                    for message in stream:
                        taken.append(message)  # noqa: PERF402 (one by one)
            except PropertyTypeError as raised:
                error = raised.index
            ways.append(([*map(id, taken)], error, stream.seen, stream.selected, stream.skipped, len(stream.failures)))
            assert list(stream) == []
        assert ways[0] == ways[1]


def test_messages_read_ahead_are_let_go() -> None:
    """A stream that is closed or dropped keeps none of them; closing it amid reading ahead ends it."""
    messages = [{"a": 1} for _ in range(100)]
    before = [sys.getrefcount(message) for message in messages]
    for end in ("close", "drop", "taken"):
        stream = mqsel.compile("a = 1").filter(messages)
        assert operator.length_hint(stream, 7) == 7
        assert next(stream) is messages[0]
        if end == "close":
            stream.close()
            assert list(stream) == []
        elif end == "taken":
            assert len(list(stream)) == 99
            assert (stream.seen, stream.selected) == (100, 100)
        del stream
        assert [sys.getrefcount(message) for message in messages] == before
    closing = mqsel.compile("a = 1").filter(messages, errors="skip")
    messages[50]["a"] = running(closing.close)
    assert list(closing) == []
    assert (closing.seen, closing.skipped) == (51, 1)


def test_a_list_that_changes_while_it_is_read_ahead() -> None:
    """What foreign code takes out of the list is still selected, and what it puts in is read."""
    messages: list[Any] = [{"a": 1, "number": number} for number in range(10)]

    def change() -> None:
        messages[:] = [{"a": 1, "number": number} for number in range(20, 40)]

    messages[3]["a"] = running(change)
    stream = mqsel.compile("a = 1").filter(messages, errors="skip")
    assert [message["number"] for message in list(stream)] == [0, 1, 2, *range(24, 40)]
