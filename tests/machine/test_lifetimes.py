"""What a machine holds on to: no message outlives its evaluation, and a stream allocates nothing per message."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import sys
import tracemalloc
import types
from typing import Any

import pytest
from running import Blob, Color, Lookup, _line, growth

import mqsel
from mqsel.errors import PropertyTypeError
from mqsel.values import Int32


def _owned() -> list[Any]:
    # None of them immortal or cached, so that a reference more or less shows.
    three = int("3")
    return [
        "red" * three,
        b"blue" * three,
        1 << 20 * three,
        2.5e10,
        Color("green"),
        Blob(b"x"),
        bytearray(b"ab"),
        Int32(1 << 20),
        [1],
    ]


@pytest.mark.parametrize("way", ["matches", "evaluate", "explain", "filter", "filter unfinished", "skip"])
@pytest.mark.parametrize("form", ["dict", "mapping", "tuple", "list", "record"])
def test_values_are_let_go(way: str, form: str) -> None:
    """After an evaluation, an exception included, every value has as many references as before."""
    values = _owned()[: -1 if form == "record" else None]
    names = [f"p{number}" for number in range(len(values))]
    # A property of the wrong type comes last, so that all others were fetched before it raised.
    matcher = mqsel.compile(" OR ".join(f"{name} IS NULL" for name in names), schema=names)
    message: Any = {
        "dict": lambda: dict(zip(names, values, strict=True)),
        "mapping": lambda: Lookup(dict(zip(names, values, strict=True))),
        "tuple": lambda: tuple(values),
        "list": lambda: list(values),
        "record": lambda: mqsel.Record(names, values),
    }[form]()

    def once() -> None:
        try:
            if way == "filter":
                list(matcher.filter([message] * 3))
            elif way == "filter unfinished":
                next(matcher.filter([message] * 3))
            elif way == "skip":
                list(matcher.filter([message] * 3, errors="skip"))
            else:
                getattr(matcher, way)(message)
        except (PropertyTypeError, StopIteration) as error:
            assert form != "record" or isinstance(error, StopIteration)

    once()
    gc.collect()
    counts = [sys.getrefcount(each) for each in (message, *values)]
    for _ in range(10):
        once()
    gc.collect()

    assert [sys.getrefcount(each) for each in (message, *values)] == counts


def test_a_record_lets_go_of_what_it_held() -> None:
    """Filling, clearing and dropping a Record leaves the references of its values as they were."""
    values = _owned()[:-1]
    names = [f"p{number}" for number in range(len(values))]
    counts = [sys.getrefcount(value) for value in values]
    record = mqsel.Record(names, values)
    for _ in range(3):
        record.fill(dict(zip(names, values, strict=True)))
        with pytest.raises(PropertyTypeError):
            record.fill([*values[:-1], []])
        record.fill(values)
    record.clear()

    assert [sys.getrefcount(value) for value in values] == counts
    record.fill(values)
    del record

    assert [sys.getrefcount(value) for value in values] == counts


STEADY = (
    "a = 'red' AND b > 2500 AND c LIKE '%x%' AND d IN ('p', 'q') AND NOT (e = 5) AND f + 1 > 2 OR missing IS NOT NULL"
)


@pytest.mark.parametrize("form", ["dict", "mapping", "tuple", "list", "named", "record"])
@pytest.mark.parametrize("way", ["matches", "filter"])
def test_nothing_is_allocated_per_message(form: str, way: str) -> None:
    """Over 100,000 messages the number of allocated blocks and the traced memory stay flat."""
    message = {"a": "red", "b": 3000, "c": "axb", "d": "q", "e": 6, "f": -5.5}
    names = tuple(message)
    matcher = mqsel.compile(STEADY, schema=None if form == "named" else names)
    one: Any = {
        "dict": message,
        "mapping": types.MappingProxyType(message),
        "tuple": tuple(message.values()),
        "list": list(message.values()),
        "named": _line(message),
        "record": mqsel.Record(names, message),
    }[form]

    def run(count: int) -> None:
        if way == "filter":
            assert list(matcher.filter(itertools.repeat(one, count))) == []
        else:
            matches = matcher.matches
            for _ in itertools.repeat(None, count):
                matches(one)

    run(1000)

    assert growth(sys.getallocatedblocks, lambda: run(100_000), 50) < 50
    tracemalloc.start()
    try:
        run(100)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        run(10_000)
        assert tracemalloc.get_traced_memory()[1] - before < 5_000
    finally:
        tracemalloc.stop()


def test_making_and_dropping_machines_leaves_nothing() -> None:
    """Machines, streams and Records free what they allocate: compile, run and drop stays flat."""
    text = "a = 'x' AND b LIKE '%p_q%' ESCAPE '!' OR c IN ('1','2','3','4','5','6','7','8','9') OR usr.d > 5"

    def often() -> None:
        for _ in range(600):
            once()

    def once() -> None:
        matcher = pickle.loads(pickle.dumps(mqsel.compile(text)))
        matcher.matches({"a": "x", "b": "p1q"})
        stream = matcher.filter([{"a": "x"}, {"b": "yes", "c": "9"}])
        next(stream)
        record = mqsel.Record([("a", "string"), "b"], ["x", b"y"])
        matcher.matches(copy.deepcopy(record))

    often()  # until the free lists of the interpreter are full

    assert growth(sys.getallocatedblocks, often, 300) < 300  # one block a round would be 600
