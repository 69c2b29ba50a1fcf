"""Many selectors as one: `match` is what `scan` is, and what a loop over Matchers is; a set is a mapping.

What the index does alone is in machine/test_set.py.
"""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random
import sys
import threading
from collections import UserDict, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import strategies
from conftest import VECTORS_ROOT, batch_of, dialects_of, fits_arrow, json_lines, message_of

import mqsel
from mqsel import IBM_JAVA_CLIENT, IBM_JMS, IBM_MQ, JMS, Dialect, Matcher, Record, SelectorSet
from mqsel.errors import (
    ArgumentError,
    DecodeError,
    FileError,
    MqselError,
    ProgramError,
    PropertyTypeError,
    SelectorError,
)
from mqsel.formats import mq
from mqsel.language.dialect import PRESETS
from mqsel.sets.set import _GAPS
from mqsel.values import Float32, Int8, Int32

# Five presets × this many pairs of a selector and a message; the issue that asked for them wants a million once:
# MQSEL_SET_PAIRS=200000.
PAIRS = int(os.environ.get("MQSEL_SET_PAIRS", "10000"))
SIDE = 50  # selectors of a random set, and messages it is shown

Case = tuple[str, Dialect]


def looped(matchers: dict[Any, Matcher], message: Any) -> list[Any]:
    """Return the keys of the Matchers that select a message."""
    return [key for key, matcher in matchers.items() if matcher.matches(message)]


def made(cases: list[Case], **options: Any) -> tuple[SelectorSet[int], dict[int, Matcher]]:
    """Return a set of selectors with a dialect each, and their Matchers."""
    matchers = {number: mqsel.compile(text, dialect=dialect) for number, (text, dialect) in enumerate(cases)}
    return SelectorSet(matchers, **options), matchers


# ---- the answers -----------------------------------------------------------------------------------------------------


def vectors() -> Iterator[tuple[str, Dialect, dict[str, Any]]]:
    """List what all vectors that compile ask: text, dialect, message."""
    for path in sorted(VECTORS_ROOT.glob("*.jsonl")):
        for vector in json_lines(path):
            for _, dialect in dialects_of(vector["dialect"]):
                if "want" in vector:
                    yield vector["selector"], dialect, message_of(vector["properties"])


def distinct(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Match every message once."""
    return [*{repr(one): one for one in messages}.values()]


@pytest.mark.parametrize("name", [*PRESETS, "mixed"])
def test_vectors(name: str) -> None:
    """All vectors of a dialect in one set, or of all dialects: each of their messages is matched as by a loop."""
    asked = [one for one in vectors() if name == "mixed" or one[1] == PRESETS[name]]
    cases = [*dict.fromkeys((text, dialect) for text, dialect, _ in asked)]
    messages = distinct([message for _, _, message in asked])
    if name == "mixed":
        rng = random.Random(name)
        cases, messages = rng.sample(cases, 1200), rng.sample(messages, 300)
    selectors, matchers = made(cases, dialect=IBM_MQ if name == "mixed" else name)
    for number, message in enumerate(messages):
        wanted = looped(matchers, message)
        assert selectors.match(message) == wanted, message
        if number % 20 == 0:
            assert selectors.scan(message) == wanted


def random_set(rng: random.Random, name: str) -> tuple[list[Case], list[dict[str, Any]]]:
    """Draw selectors, half of them of one preset and half of any choices, and messages for them."""
    cases: list[Case] = []
    messages: list[dict[str, Any]] = []
    for number in range(SIDE):
        text, properties = strategies.random_case(rng, name)
        reading = rng.choice(strategies.READINGS)
        varied = PRESETS[name].replace(**reading)
        cases.append((text, varied if number % 2 else PRESETS[name]))
        messages.append(strategies.to_message(properties))
    return cases, messages


@pytest.mark.parametrize("name", PRESETS)
def test_random(name: str, tmp_path: Path) -> None:
    """Invariant: match = a loop over Matchers, also after changes, pickled and mapped, from any kind of message."""
    rng = random.Random(f"set {name}")
    names = strategies.LETTERS[name].names
    for turn in range(max(PAIRS // SIDE // SIDE, 1)):
        cases, messages = random_set(rng, name)
        selectors, matchers = made(cases, schema=names)
        more, _ = random_set(rng, name)
        for key, (text, dialect) in enumerate(more[: rng.randrange(SIDE)], rng.randrange(2 * SIDE)):
            matchers[key] = mqsel.compile(text, dialect=dialect)
            selectors[key] = matchers[key]
        for key in rng.sample([*matchers], rng.randrange(len(matchers))):
            del selectors[key], matchers[key]
        travelled = selectors
        if turn % 3 == 1:
            travelled = pickle.loads(pickle.dumps(selectors, rng.choice((2, 5))))
        elif turn % 3 == 2:
            selectors.save(tmp_path / "set")
            travelled = SelectorSet.open(tmp_path / "set")
        assert travelled == selectors
        for number, message in enumerate(messages):
            wanted = looped(matchers, message)
            assert travelled.match(message) == wanted, (message, cases)
            kept = rng.sample(range(2 * SIDE), SIDE)
            assert travelled.match(message, within=kept) == [key for key in wanted if key in kept]
            if number % 10 == 0:
                plain = {one: message.get(one) for one in names}
                if "usr.x" in message:
                    plain["x"] = message["usr.x"]
                wanted = looped(matchers, plain)
                assert travelled.scan(message) == looped(matchers, message)
                assert travelled.match(UserDict(plain)) == wanted
                assert travelled.match(tuple(plain.values())) == wanted
                assert travelled.match(Record(names, plain)) == wanted


# ---- messages --------------------------------------------------------------------------------------------------------


def echo(*names: str, dialect: Dialect = JMS, **options: Any) -> SelectorSet[str]:
    """Return a set that tells the properties of a message that are not NULL."""
    return SelectorSet({name: f"{name} IS NOT NULL" for name in names}, dialect=dialect, **options)


class Pair(NamedTuple):
    """A message that names its positions."""

    b: Any
    a: Any


class Text(str):
    """No exact str."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"a": 1, "b": 2}, ["a", "b"]),
        ({"b": 2, "z": [1], "a": None}, ["b"]),
        ({}, []),
        ({Text("a"): 1}, ["a"]),
        ({1: 2, "a": 1}, ["a"]),
        ({f"z{number}": number for number in range(500)} | {"a": Text("x")}, ["a"]),
        (UserDict(b=1), ["b"]),
        (defaultdict(int, b=1), ["b"]),
        (Pair(None, 5), ["a"]),
        (Record(("b", "z", "a"), (1, 2, None)), ["b"]),
        (Record(("a", "b"), (None, 1.5)), ["b"]),
        (Record(("a",), (b"x",)), ["a"]),
        (Record((), ()), []),
        ({"a": Int8(1), "b": Float32(1.5)}, ["a", "b"]),
    ],
    ids=repr,
)
def test_messages(message: Any, wanted: list[str]) -> None:
    """Every kind of message is read, twice the same, and after one of another shape."""
    selectors = echo("a", "b")
    for other in ({}, {"b": 1, "a": 2}, message):
        selectors.match(other)
        assert selectors.match(message) == wanted
    assert selectors.scan(message) == wanted


def test_sequences() -> None:
    """A schema lays sequences out, with its types, and a wrong length is an error."""
    selectors = SelectorSet({1: "a = 5", 2: "b > 1.5"}, schema=(("z", None), ("b", "float32"), ("a", "int64")))

    assert selectors.match((object(), 1.75, 5)) == [1, 2]
    assert selectors.match([None, None, 5]) == [1]
    with pytest.raises(PropertyTypeError, match="the sequence has 2 values: the schema has 3"):
        selectors.match((1, 2))
    with pytest.raises(PropertyTypeError, match="property 'b' is string: the schema declares float32"):
        selectors.match((1, "x", 5))


def test_spellings() -> None:
    """Where a dialect has two names for one property the first that a message has counts, and only there."""
    selectors = SelectorSet({"mq": "x = 1", "jms": mqsel.compile("x = 1", dialect=JMS)}, dialect=IBM_MQ)
    for message, wanted in (
        ({"x": 1}, ["mq", "jms"]),
        ({"usr.x": 1}, ["mq"]),
        ({"usr.x": 1, "x": None}, []),
        ({"x": None, "usr.x": 1}, []),
        ({"usr.x": 5, "x": 1}, ["mq", "jms"]),
    ):
        forms: list[Any] = [message, UserDict(message), Record(tuple(message), message)]
        assert [selectors.match(one) for one in forms] == [wanted] * 3
        assert selectors.scan(message) == wanted
    assert selectors.properties == ("x",)


def test_a_property_that_any_selector_reads_may_be_at_fault() -> None:
    """A set reads all properties that its selectors read; a Matcher may not come to one."""
    text = "a = 1 OR b = 2"
    assert mqsel.compile(text, dialect=JMS).matches({"a": 1, "b": object()})
    with pytest.raises(PropertyTypeError, match="property 'b' is a Python object") as caught:
        SelectorSet({1: text}, dialect=JMS).match({"a": 1, "b": object()})
    assert caught.value.name == "b"


class Calling(UserDict[str, Any]):
    """A message whose properties come from the set that reads it."""

    selectors: SelectorSet[str]

    def get(self, key: str, default: Any = None) -> Any:  # type: ignore[override]
        inner = self.selectors.match({"a": 1, "b": 1})
        self.selectors[f"{key}{len(self.selectors)}"] = f"{key} IS NOT NULL AND more{len(self.selectors)} IS NULL"
        return len(inner) if key in self.data else default


def test_a_message_may_use_the_set() -> None:
    """What a message's own code does to the set that reads it leaves the reading as it was."""
    selectors = echo("a", "b")
    message = Calling(a=0)
    message.selectors = selectors
    assert selectors.match(message)[0] == "a"
    assert "b" not in selectors.match(message)

    class Clearing:
        def __int__(self) -> int:
            raise AssertionError

        def __getattr__(self, name: str) -> Any:
            held.clear()
            selectors.match({"b": "y" * 100})
            raise AttributeError(name)

    held: dict[str, Any] = {"a": "x" * 50, "b": Clearing(), "c": 1}
    with pytest.raises(PropertyTypeError):
        selectors.match(held)
    assert selectors.match({"a": "x"})[0] == "a"


class Emptying(UserDict[str, Any]):
    """A message that makes another set of the one that reads it, once."""

    def get(self, key: str, default: Any = None) -> Any:  # type: ignore[override]
        if self.data.pop("due", False):
            self.selectors.clear()
            self.selectors.update({name: f"{name} IS NOT NULL" for name in self.names})
        return super().get(key, default)


@pytest.mark.parametrize("names", [("b",), ("b", "a"), tuple("fedcba")], ids="".join)
@pytest.mark.parametrize("within", [None, list("abcdef")])
def test_a_set_that_is_cleared_while_it_reads(names: tuple[str, ...], within: list[str] | None) -> None:
    """A search begins again when its set was emptied under it, whatever properties the new one reads."""
    selectors = echo("a", "b", "c")
    message = Emptying(a=1, c=None, due=True, f=2)
    message.selectors, message.names = selectors, names
    assert selectors.match(message, within=within) == [name for name in names if name in "af"]
    assert selectors.match({"b": 1}) == [name for name in names if name == "b"]


# ---- raw messages ----------------------------------------------------------------------------------------------------

FIRST, SECOND = bytes(range(24)), bytes(range(1, 25))
OPTIONS = {
    "message": (f"JMSMessageID = 'ID:{FIRST.hex().upper()}'", JMS),
    "other": (f"JMSMessageID = 'ID:{SECOND.hex()}'", IBM_MQ),
    "correlated": (f"JMSCorrelationID = 'ID:{SECOND.hex()}'", IBM_JMS),
    "none": (f"JMSCorrelationID = 'ID:{'0' * 48}'", JMS),
    "in brackets": (f"(JMSMessageID = 'ID:{FIRST.hex()}')", JMS),
}
PLAIN = {
    "all": ("", IBM_MQ),
    "weight": ("weight > 5", IBM_MQ),
    "jms": ("weight > 5", JMS),
    "priority": ("Root.MQMD.Priority > 3", IBM_MQ),
    "unset": ("color IS NULL", JMS),
}
RAW = [
    mq.encode({"MsgId": FIRST, "CorrelId": SECOND}, {"weight": 7}),
    mq.encode({"MsgId": SECOND}, {"weight": 3, "color": "blue"}),
    mq.encode({"MsgId": SECOND}, {"weight": 7}).replace(b"weight", b"w-ight"),
    mq.encode({"MsgId": FIRST, "Priority": 9}, {"weight": 7, "x": 1}).replace(b"<x", b"<-").replace(b"/x", b"/-"),
    mq.encode({"MsgId": SECOND}, {"weight": 8})[364:],
    mq.encode({}, {}),
]


@pytest.mark.parametrize("options", [{}, {"invalid_names": "never"}, {"invalid_names": "ignore"}], ids=repr)
@pytest.mark.parametrize("held", [PLAIN, OPTIONS, {**OPTIONS, **PLAIN}], ids=["plain", "options", "both"])
def test_queue_manager(held: dict[str, Case], options: dict[str, Any]) -> None:
    """Invariant: of raw MQ messages a set selects what each Matcher selects: match options, invalid names."""
    matchers = {key: mqsel.compile(text, dialect=dialect) for key, (text, dialect) in held.items()}
    selectors = SelectorSet(matchers)
    decode = selectors.decoder("mq", **options)
    seen = set()
    for raw in RAW:
        wanted = [key for key, one in matchers.items() if list(one.filter([raw], format="mq", **options))]
        assert selectors.match(decode(raw)) == wanted, raw
        assert selectors.match(decode(raw), within=["jms", "message"]) == [
            key for key in wanted if key in ("jms", "message")
        ]
        assert [keys for _, keys in selectors.filter([raw], format="mq", **options)] == [wanted] * bool(wanted)
        seen.update(wanted)
    assert seen


def test_decoders_learn() -> None:
    """A decoder that was made before a selector came reads what that selector asks for."""
    selectors = SelectorSet({"weight": "weight > 5"}, dialect=JMS)
    decode = selectors.decoder("mq")
    assert selectors.match(decode(RAW[1])) == []
    selectors["color"] = "color = 'blue'"
    assert selectors.match(decode(RAW[1])) == ["color"]
    selectors["message"] = f"JMSMessageID = 'ID:{SECOND.hex()}'"
    assert selectors.match(decode(RAW[1])) == ["color", "message"]
    del selectors["message"], selectors["color"]
    assert selectors.match(decode(RAW[1])) == []


def test_other_formats() -> None:
    """Lines and records of connectors are read as for a Matcher."""
    seen: set[str] = set()
    selectors = echo("a", "b")
    lines = [b'{"a": 1}', b'{"b": [1], "a": null}', '{"b": "x", "usr.a": 2}', b"{}"]
    assert [keys for _, keys in selectors.filter(lines[:1] + lines[2:], format="json")] == [["a"], ["b"]]
    stream = selectors.filter(lines, format="json", errors="skip")
    assert [message for message, _ in stream] == [lines[0], lines[2]]
    assert (stream.seen, stream.selected, stream.skipped, len(stream.failures)) == (4, 2, 1, 1)
    for vector in json_lines(VECTORS_ROOT / "formats" / "records.jsonl"):
        if "want" in vector and "types" not in vector:
            names = [name for name in vector["want"] if name.isidentifier()]
            matchers = {name: mqsel.compile(f"{name} IS NOT NULL", dialect=IBM_JAVA_CLIENT) for name in names}
            decode = SelectorSet(matchers).decoder(vector["schema"])
            wanted = [
                name
                for name, matcher in matchers.items()
                if list(matcher.filter([vector["record"]], format=vector["schema"]))
            ]
            assert SelectorSet(matchers).match(decode(vector["record"])) == wanted, vector["id"]
            seen.update(wanted)
    assert seen


def test_filter_counts() -> None:
    """The stream pulls only what it needs, counts, keeps errors with their index, and ends."""
    selectors = echo("a")
    messages: list[Any] = [{}, {"a": 1}, {"a": object()}, 5, {"a": 2}, {}]
    pulled = iter(messages)
    stream = selectors.filter(pulled, errors="skip")
    assert next(stream) == ({"a": 1}, ["a"])
    assert len([*pulled]) == 4
    stream = selectors.filter(messages, errors="skip")
    assert [keys for _, keys in stream] == [["a"], ["a"]]
    assert (stream.seen, stream.selected, stream.skipped) == (6, 2, 2)
    assert [error.index for error in stream.failures] == [2, 3]  # type: ignore[attr-defined]
    assert list(stream) == []
    stream = selectors.filter(messages)
    with pytest.raises(PropertyTypeError, match="property 'a' is a Python object") as caught:
        list(stream)
    assert caught.value.index == 2
    assert list(stream) == []
    closed = selectors.filter(messages)
    closed.close()
    assert list(closed) == []


def test_filter_is_one_readers() -> None:
    """A stream that reads itself is refused, as is one whose message has no answer."""
    selectors = echo("a")

    def messages() -> Iterator[dict[str, int]]:
        next(stream)
        yield {}

    stream = selectors.filter(messages())
    with pytest.raises(ArgumentError, match="this stream is already being read"):
        next(stream)

    class Stopping(UserDict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:  # type: ignore[override] # noqa: ARG002
            raise StopIteration

    with pytest.raises(PropertyTypeError, match="reading the message raised StopIteration"):
        list(selectors.filter([{}, Stopping()]))
    assert list(selectors.filter([Stopping(), {"a": 1}], errors="skip")) == [({"a": 1}, ["a"])]


# ---- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_batches(name: str) -> None:
    """Invariant: a row of a batch is matched as its message; properties of all types, rows without any around it."""
    pytest.importorskip("pyarrow")
    rng = random.Random(f"batch {name}")
    for _ in range(3):
        cases, _ = random_set(rng, name)
        selectors, _ = made(cases)
        del selectors[7], selectors[0]
        order = [*selectors]
        for _ in range(SIDE):
            properties = strategies.random_properties(rng, name)
            message = strategies.to_message(properties)
            if fits_arrow(message):
                found = selectors.match_batch(batch_of(properties, message)).to_pylist()
                wanted = [selectors.match({}), selectors.match(message), selectors.match({})]
                assert [[order[place] for place in row] for row in found] == wanted, message


@pytest.mark.parametrize("layout", ["string", "large_string", "string_view", "dictionary"])
def test_batches_of_texts(layout: str) -> None:
    """Rows of texts, in every layout, in slices and chunks, are matched as their messages."""
    arrow = pytest.importorskip("pyarrow")
    rng = random.Random(layout)
    words = ["red", "blue", "", "é", "\U0001f600", "a long word that no view holds", "bluer", "blu", None]
    texts = [rng.choice(words) for _ in range(500)]
    numbers = [rng.choice((None, 1, 2, 3)) for _ in texts]
    selectors = SelectorSet({f"{n}": f"color = '{word}' AND n >= {n % 4}" for n, word in enumerate(words)}, dialect=JMS)
    selectors.update({"like": "color LIKE 'bl%'", "none": "color IS NULL", "n": "n = 2"})
    kind = arrow.dictionary(arrow.int8(), arrow.string()) if layout == "dictionary" else getattr(arrow, layout)()
    table = arrow.table({"color": arrow.array(texts, kind), "n": numbers})
    order = [*selectors]
    wanted = [selectors.match({"color": text, "n": n}) for text, n in zip(texts, numbers, strict=True)]
    chunked = arrow.concat_tables([table.slice(3, 100), table.slice(200), table.slice(0, 0)])
    for batch, rows in (
        (table, wanted),
        (table.to_batches()[0].slice(10, 300), wanted[10:310]),
        (chunked, wanted[3:103] + wanted[200:]),
        (table.slice(0, 0), []),
    ):
        found = selectors.match_batch(batch)
        assert found.type == arrow.list_(arrow.uint32())
        found.validate(full=True)
        assert [[order[place] for place in row] for row in found.to_pylist()] == rows


def test_bad_batches() -> None:
    """What is no batch, or has a column that no property can be, is one error; of a row its index."""
    arrow = pytest.importorskip("pyarrow")
    selectors = echo("a", "b")
    with pytest.raises(ArgumentError, match="found a Python int"):
        selectors.match_batch(5)
    with pytest.raises(PropertyTypeError, match="column 'a' has the Arrow type list"):
        selectors.match_batch(arrow.table({"a": [[1]]}))
    chunks = [arrow.table({"a": arrow.array(values, arrow.uint64())}) for values in ([1, 2], [3, 1 << 63])]
    with pytest.raises(PropertyTypeError, match="outside") as caught:
        selectors.match_batch(arrow.concat_tables(chunks))
    assert caught.value.index == 3
    assert selectors.match_batch(arrow.table({"a": [1]})).to_pylist() == [[0]]


# ---- the mapping -----------------------------------------------------------------------------------------------------


def test_it_is_a_mapping() -> None:
    """Invariant: whatever is done to a set and to a dict, they have the same items in the same order."""
    rng = random.Random(5)
    selectors: SelectorSet[Any] = SelectorSet(dialect=JMS)
    model: dict[Any, str] = {}
    keys: list[Any] = [*range(12), "a", "b", ("t", 1), None, 2.5, frozenset((1,))]
    for step in range(3000):
        key, text = rng.choice(keys), f"p{rng.randrange(4)} > {rng.randrange(6)}"
        for one in (selectors, model):
            one: Any
            state = rng.getstate()
            match step % 11 if step % 11 < 9 else rng.randrange(12):
                case 0 | 1 | 2 | 3:
                    one[key] = text
                case 4 | 5:
                    one.pop(key, None)
                case 6:
                    if key in one:
                        del one[key]
                case 7:
                    one.update({key: text, rng.choice(keys): "p1 = 1"})
                case 8:
                    one.setdefault(key, text)
                case 9:
                    if one:
                        one.popitem()
                case 10:
                    if rng.random() < 0.1:
                        one.clear()
            if one is selectors:
                rng.setstate(state)
        assert [*selectors.items()] == [*model.items()]
        assert (len(selectors), key in selectors, selectors.get(key)) == (len(model), key in model, model.get(key))
        if step % 10 == 0:
            message = {f"p{number}": rng.randrange(7) for number in range(4)}
            assert selectors.match(message) == selectors.scan(message)
            assert selectors == SelectorSet(model, dialect=JMS)
        if step % 500 == 0:
            selectors = pickle.loads(pickle.dumps(selectors))


def test_gaps_are_closed() -> None:
    """A set in which keys come and go for long stays as small as what it has, and keeps their order."""
    selectors: SelectorSet[int] = SelectorSet({-1: "a = 1", -2: mqsel.compile("b = 1", dialect=IBM_JMS)}, dialect=JMS)
    del selectors[-1]
    for number in range(3 * _GAPS):
        selectors[number] = f"a = {number}"
        if number:
            del selectors[number - 1]
    selectors[-3] = "b = 1"

    assert selectors._reader.size <= _GAPS + 10
    assert [*selectors] == [-2, 3 * _GAPS - 1, -3]
    assert selectors.match({"a": 3 * _GAPS - 1, "b": 1}) == [-2, 3 * _GAPS - 1, -3]
    assert selectors.match({"b": "x"}) == selectors.scan({"b": "x"}) == []
    assert selectors.match({"b": 1}, within=[-3, 0]) == [-3]
    assert selectors.matcher(-2).dialect == IBM_JMS
    assert selectors[-3] == "b = 1"


def test_what_goes_at_once_leaves_nothing() -> None:
    """Selectors that are removed before the index lays them out leave no empty segments behind."""
    selectors: SelectorSet[int] = SelectorSet({-1: "a = 1"}, dialect=JMS)
    for number in range(2000):
        selectors[number] = f"a = {number}"
        del selectors[number]

    assert selectors.stats()["segments"] <= 3
    assert selectors.match({"a": 1}) == [-1]


def test_all_or_nothing() -> None:
    """A faulty selector is named by its key, with all that its error says, and the set is as it was."""
    selectors = SelectorSet({"a": "x = 1"}, dialect=JMS)
    faulty = {"a": "x = 2", "b": "y = 3", "bad": "x = = 1", "worse": "x ="}
    with pytest.raises(SelectorError) as caught:
        selectors.update(faulty)
    error = caught.value
    assert (error.key, error.span, error.selector) == ("bad", (4, 5), "x = = 1")
    assert str(error) == (
        "unexpected '=' after '=': expected a value [key 'bad'; line 1, column 5; MQRC_SELECTOR_SYNTAX_ERROR (2459)]\n"
        "  | x = = 1\n  |     ^\n  hint: equality is written '=' in a selector"
    )
    assert pickle.loads(pickle.dumps(error)).key == "bad"
    assert dict(selectors) == {"a": "x = 1"}
    assert selectors.match({"x": 1}) == ["a"]

    refused = selectors.admit(faulty)
    assert {key: one.key for key, one in refused.items()} == {"bad": "bad", "worse": "worse"}
    assert dict(selectors) == {"a": "x = 2", "b": "y = 3"}
    assert selectors.match({"x": 2, "y": 3}) == ["a", "b"]


def test_selectors_without_properties() -> None:
    """Nothing and TRUE select all messages; FALSE none, where a dialect has it."""
    selectors = SelectorSet({1: "", 2: "  ", 3: "1 = 1"}, dialect=IBM_MQ)
    selectors[4] = mqsel.compile("1 = 2", dialect=JMS)
    assert selectors.match({}) == selectors.scan({}) == [1, 2, 3]
    with pytest.raises(SelectorError, match="it can never select a message"):
        selectors[5] = "1 = 2"


def test_texts_are_the_callers() -> None:
    """What is kept is the very object that was given; an instance of a subclass becomes a str."""
    text = f"{'x'} = 1"
    selectors = SelectorSet({1: text, 2: Text("x = 2")}, dialect=JMS)
    assert selectors[1] is text
    assert type(selectors[2]) is str


def test_without_texts() -> None:
    """A set that keeps no texts matches, travels and changes; what needs a text says what to do."""
    selectors = SelectorSet({1: "x = 1", 2: "y = 1"}, dialect=JMS, keep_text=False)
    selectors[3] = "x > 0"
    del selectors[2]
    for one in (selectors, pickle.loads(pickle.dumps(selectors)), copy.copy(selectors)):
        assert (one.match({"x": 1, "y": 1}), [*one], 2 in one, one.keep_text) == ([1, 3], [1, 3], False, False)
        for asked, given in ((one.__getitem__, (1,)), (one.explain, (1, {})), (one.scan, ({},)), (one.matcher, (1,))):
            with pytest.raises(ArgumentError, match="did not keep the texts of its selectors") as caught:
                asked(*given)
            assert caught.value.hint == "make it with keep_text=True"
        assert one == one and one != SelectorSet({}, keep_text=False)  # noqa: PLR0124
        with pytest.raises(KeyError):
            one[2]


def test_copies_and_unions() -> None:
    """A copy changes by itself; a union is that of dicts, and brings dialects along."""
    selectors = SelectorSet({1: "x = 1", 2: mqsel.compile("y = 'a'", dialect=IBM_JMS)}, dialect=JMS, schema=("x", "y"))
    other = copy.copy(selectors)
    assert other == selectors and other is not selectors
    other[1] = "x = 2"
    assert other != selectors
    assert (selectors.match((1, None)), other.match((1, None))) == ([1], [])
    joined = selectors | {3: "x = 1", 2: "y = 'b'"}
    assert dict(joined) == {1: "x = 1", 2: "y = 'b'", 3: "x = 1"}
    assert (SelectorSet({5: "z = 1"}) | selectors).matcher(2).dialect == IBM_JMS
    assert selectors != {1: "x = 1"}
    assert repr(selectors) == "<mqsel.SelectorSet of 2 selectors, mqsel.JMS>"
    assert repr(SelectorSet({1: ""})) == "<mqsel.SelectorSet of 1 selector, mqsel.IBM_MQ>"


def test_explain() -> None:
    """Explaining a key is explaining its Matcher."""
    selectors = SelectorSet({"k": "a = 1 AND b = 2"}, dialect=JMS)
    message = {"a": 1}
    assert str(selectors.explain("k", message)) == str(mqsel.compile("a = 1 AND b = 2", dialect=JMS).explain(message))


SOME: SelectorSet[Any] = SelectorSet({"a": "x = 1"}, dialect=JMS)
BAD: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: SOME[[]], ArgumentError, "the key [] has no hash"),
    (lambda: [] in SOME, ArgumentError, "the key [] has no hash"),
    (lambda: SOME.pop([]), ArgumentError, "the key [] has no hash"),
    (lambda: SOME.__setitem__([], "x = 1"), ArgumentError, "the key [] has no hash"),
    (
        lambda: SOME.__setitem__("b", 5),
        ArgumentError,
        "the selector of 'b' is a Python int: expected a str or a Matcher",
    ),
    (lambda: SOME.__setitem__("b", b"x = 1"), ArgumentError, "the selector of 'b' is a Python bytes"),
    (lambda: SOME["zz"], KeyError, "zz"),
    (lambda: SOME.explain("zz", {}), KeyError, "zz"),
    (lambda: SOME.__delitem__("zz"), KeyError, "zz"),
    (lambda: SOME.update(5), ArgumentError, "found 5: expected a mapping of keys to selectors, or pairs of them"),
    (lambda: SOME.update(["abc"]), ArgumentError, "found ['abc']: expected a mapping"),
    (lambda: SelectorSet("abc"), ArgumentError, "found 'abc': expected a mapping"),
    (lambda: SelectorSet(dialect="nope"), ArgumentError, "there is no dialect 'nope'"),
    (lambda: SelectorSet(schema="x"), ArgumentError, "a schema is a sequence of names, found one string"),
    (lambda: SOME.match(5), PropertyTypeError, "a message is a mapping, a Record or a sequence"),
    (lambda: SOME.match((1,)), PropertyTypeError, "found a Python tuple"),
    (lambda: SOME.match(None), PropertyTypeError, "found a Python NoneType"),
    (lambda: SOME.match({"x": 1 << 64}), PropertyTypeError, "property 'x' is an integer outside 64 bits"),
    (lambda: SOME.match({}, within="a"), ArgumentError, "within is 'a': expected several keys"),
    (lambda: SOME.match({}, within=5), ArgumentError, "within is 5: expected several keys"),
    (lambda: SOME.match({}, within=[[]]), ArgumentError, "the key [] has no hash"),
    (lambda: SOME.filter(5), ArgumentError, "filter takes an iterable of messages, found one Python int"),
    (lambda: SOME.filter([], errors="x"), ArgumentError, "errors is 'x': expected 'raise' or 'skip'"),
    (lambda: SOME.filter([], strip=True), ArgumentError, "filter takes strip only with a format"),
    (lambda: SOME.filter(b"", format="mq"), ArgumentError, "found one Python bytes"),
    (lambda: SOME.filter([], format="nope"), ArgumentError, "format is 'nope': expected one of"),
    (lambda: SOME.filter([], format="mq", nope=1), ArgumentError, "does not take these options: nope"),
    (lambda: SOME.filter([], format="mq", invalid_names="x"), ArgumentError, "expected 'never' or 'ignore'"),
    (lambda: SOME.filter([], format="mq", identifier=("MsgId", b"")), ArgumentError, "a set takes no identifier"),
    (lambda: next(SOME.filter([b"MD"], format="mq")), DecodeError, "the message begins with b'MD'"),
    (lambda: SelectorSet.open("/nowhere/at/all"), FileError, "the file cannot be read: No such file"),
    (lambda: SelectorSet.open(os.devnull), FileError, ""),
    (lambda: SelectorSet.open("/"), FileError, "something else than a regular file"),
    (lambda: SelectorSet.open(__file__), FileError, "the file does not begin as one that SelectorSet.save writes"),
    (lambda: SOME.save("/nowhere/at/all"), FileError, "the file cannot be written: No such file"),
    (lambda: SelectorSet({("a", 1): ""}).save("x"), ArgumentError, "the key ('a', 1) is a Python tuple"),
    (lambda: SelectorSet({True: ""}).save("x"), ArgumentError, "the key True is a Python bool"),
]


@pytest.mark.parametrize(("asked", "kind", "words"), BAD, ids=[words for *_, words in BAD])
def test_bad_input(asked: Callable[[], object], kind: type[Exception], words: str) -> None:
    """Everything bad is one error that says what was found, and the set is as it was."""
    with pytest.raises(kind) as caught:
        asked()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value).partition("\n  hint")[0]
    assert dict(SOME) == {"a": "x = 1"}
    assert SOME.match({"x": 1}) == ["a"]


# ---- travelling ------------------------------------------------------------------------------------------------------


def test_pickled_out_of_band() -> None:
    """What is large travels beside the pickle, and is not copied."""
    selectors = SelectorSet({number: f"a = {number} AND b LIKE 'x%'" for number in range(500)}, dialect=JMS)
    beside: list[pickle.PickleBuffer] = []
    data = pickle.dumps(selectors, 5, buffer_callback=beside.append)
    assert beside and len(data) < 6000
    back = pickle.loads(data, buffers=[bytes(one) for one in beside])
    assert back == selectors
    assert back.match({"a": 7, "b": "xy"}) == [7]


@pytest.mark.parametrize(
    "keys",
    [[3, -1, (1 << 63) - 1], [1 << 63, 4], ["é", "\ud800", ""], ["1", 1], [True, 2.5], [("a", 1), None], []],
    ids=repr,
)
@pytest.mark.parametrize("protocol", [4, 5])
def test_pickled_keys(keys: list[Any], protocol: int) -> None:
    """Keys of any type come back as they were, of their type."""
    selectors = SelectorSet({key: f"a > {number}" for number, key in enumerate(keys)})
    back = pickle.loads(pickle.dumps(selectors, protocol))
    assert back.match({"a": 1}) == selectors.match({"a": 1}) == keys[:1]
    assert [*map(repr, back)] == [*map(repr, keys)]
    assert back == selectors


def test_damaged_pickles() -> None:
    """Parts that no pickling has written are one error of ours, or a set that matches or says why it cannot."""
    held: dict[Any, str] = {"a": "x = 1", "b": "x > 0", 3: "x = 2"}
    make, (kind, header, keys, parts) = SelectorSet(held).__reduce_ex__(4)
    for number in range(len(parts)):
        for damaged in (b"", b"\xff", parts[number][:-1], parts[number] + b"\0" * 9, b"\xff" * len(parts[number])):
            with contextlib.suppress(ProgramError):
                made = make(kind, header, keys, [*parts[:number], damaged, *parts[number + 1 :]])
                made.match({"x": 1})
                [*made.items()]
    for less in ({}, {**header, "dialect": {"colour": 1}}, {**header, "own": [0]}, {**header, "options": [1]}):
        with pytest.raises(ProgramError, match="damaged"):
            make(kind, less, keys, parts)


def test_stats_name_selectors(tmp_path: Path) -> None:
    """The longest lists of postings name selectors they lead to, by key, and none that was removed."""
    held = {f"k{number}": f"a = {number % 3} AND b > {number}" for number in range(3000)} | {"any": "x LIKE '%y%'"}
    selectors = SelectorSet(held, dialect=IBM_MQ)
    selectors.save(tmp_path / "set")
    for which in (selectors, SelectorSet.open(tmp_path / "set")):
        del which["k0"], which["k3"]
        longest = {what: (count, keys) for what, count, keys in which.stats()["longest"]}
        assert longest["a = 0"][0] > 900  # the others wait for their segment
        assert len({*longest["a = 0"][1]}) == 5 and {*longest["a = 0"][1]} < {*which}
        assert all(which[key].startswith("a = 0") for key in longest["a = 0"][1])
        assert longest["x: any string"] == (1, ["any"])


def test_saved_keys(tmp_path: Path) -> None:
    """Keys and texts of all letters and numbers come back; a set that was opened can be changed and saved again."""
    held: dict[Any, str] = {
        "é\U0001f600": "x = 'é'",
        "": "x = 1",
        -5: "x = 2",
        1 << 80: "x = '\ud800'",
        "5": "x = 3",
        5: "x = 4",
    }
    selectors = SelectorSet(held, dialect=JMS, schema={"x": "string", "y": None})
    path = tmp_path / "set"
    selectors.save(path)
    opened: SelectorSet[Any] = SelectorSet.open(path)
    assert (len(opened), opened.match({"x": "é"}), opened.match({"x": 4})) == (6, ["é\U0001f600"], [5])
    assert opened == selectors and [*opened.items()] == [*held.items()]
    opened[5], opened["new"] = "x = 5", "x = 4"
    del opened[-5]
    opened.save(path)
    again: SelectorSet[Any] = SelectorSet.open(path)
    assert again == opened != selectors
    assert again.match({"x": 4}) == opened.match({"x": 4}) == ["new"]
    assert [*again] == [one for one in held if one != -5] + ["new"]
    assert SelectorSet.open(path).schema == selectors.schema
    assert [one.name for one in tmp_path.iterdir()] == ["set"]


def test_damaged_files(tmp_path: Path) -> None:
    """Invariant: a file with a byte changed, or cut anywhere, opens and answers, or is one error of ours."""
    selectors = SelectorSet(
        {number: f"a = {number} OR b LIKE '%x{number}%' AND c + 1 > {number}" for number in range(40)}, dialect=JMS
    )
    path = tmp_path / "set"
    selectors.save(path)
    whole = path.read_bytes()
    rng = random.Random(3)
    refused = 0
    places = [*range(0, 400, 7), *rng.sample(range(len(whole)), 400)]
    for number, place in enumerate(places):
        damaged = whole[:place] if number % 4 == 0 else None
        if damaged is None:
            damaged = whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :]
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            opened: SelectorSet[Any] = SelectorSet.open(tmp_path / "damaged")
            for message in ({"a": 5, "b": "zx7", "c": 9}, {}, {"a": "x", "c": 1.5}):
                opened.match(message)
            dict(opened)

        except MqselError as error:
            refused += 1
            assert str(error)
        except KeyError:
            pass  # two keys of a damaged file may be one
        if number % 4 == 0:
            assert refused
    assert refused > 100


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_threads() -> None:
    """While one thread changes the set, what it leaves alone is in every answer of the others, in order."""
    fixed = [f"fixed{number}" for number in range(20)]
    selectors: SelectorSet[Any] = SelectorSet(dict.fromkeys(fixed, "a >= 1"), dialect=JMS)
    stop = threading.Event()
    failures: list[BaseException] = []

    def reading() -> None:
        try:
            while not stop.is_set():
                found = selectors.match({"a": 1, "b": 2})
                assert [key for key in found if type(key) is str] == fixed
                assert all(key % 2 == 0 for key in found if type(key) is int)
                assert selectors.match({"a": 1}, within=fixed[:3]) == fixed[:3]
                assert len([*selectors.filter([{"a": 5}, {}])]) == 1
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=reading) for _ in range(3)]
    for one in threads:
        one.start()
    rng = random.Random(1)
    try:
        for number in range(3000):
            selectors[number] = f"b = {2 + number % 2}"
            if number > 50:
                selectors.pop(rng.randrange(number), None)
            if number % 100 == 0:
                selectors.update({f"new{number}": "c = 1"})
                del selectors[f"new{number}"]
    finally:
        stop.set()
        for one in threads:
            one.join()
    assert failures == []
    message = {"a": Int32(1), "b": 2}
    assert selectors.match(message) == selectors.scan(message)


# ---- changes that are ended ------------------------------------------------------------------------------------------


def agrees(selectors: SelectorSet[Any], wanted: dict[Any, str]) -> None:
    """Hold a set of `a = NUMBER` and `b = NUMBER` against a dict, and let it go on."""
    assert dict(selectors) == wanted
    assert selectors.stats()["selectors"] == len(selectors) == len(wanted)
    for message in ({"a": 1}, {"b": 5}, {"a": 2999, "b": 2999}, {}):
        right = [key for key, text in wanted.items() if mqsel.compile(text).matches(message)]
        assert selectors.match(message) == selectors.scan(message) == right
    selectors["probe"] = "c = 1"
    assert selectors.match({"c": 1}) == ["probe"]
    del selectors["probe"]
    copy = pickle.loads(pickle.dumps(selectors, 5))
    assert dict(copy) == wanted
    assert copy.match({"a": 1}) == selectors.match({"a": 1})


def test_a_thread_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no thread left, segments are joined at once, and the change is made."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    held = {number: f"a = {number}" for number in range(3000)}
    more = {10_000 + number: f"b = {number}" for number in range(3000)}
    selectors: SelectorSet[Any] = SelectorSet(held)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        selectors.update(more)
    agrees(selectors, held | more)
    for key in range(2999):
        del selectors[key], held[key]
    agrees(selectors, held | more)


def test_ctrl_c_while_a_thread_is_started() -> None:
    """A change that has been made stays, also where Ctrl-C comes before it returns; it can be made again."""
    held = {number: f"a = {number}" for number in range(3000)}
    more = {10_000 + number: f"b = {number}" for number in range(3000)}
    selectors: SelectorSet[Any] = SelectorSet(held)

    def press(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "wait" and frame.f_code.co_filename.endswith("threading.py"):
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(press)
    try:
        with pytest.raises(KeyboardInterrupt):
            selectors.update(more)
    finally:
        sys.setprofile(None)
    agrees(selectors, held | more)
    selectors.update(more)
    for key in range(2900):
        del selectors[key], held[key]
    agrees(selectors, held | more)


@pytest.mark.parametrize("change", ["add", "replace", "delete", "gaps", "faulty"])
def test_each_line_in_turn(change: str) -> None:
    """Invariant: an exception at any line of Python leaves the set as it was, or as it was to become."""
    held: dict[Any, str] = {number: f"a = {number}" for number in range(70)}
    for key in range(10):
        del held[key]
    ends: dict[Any, str] = {**held, 1: "b = 5", 65: "b = 6"}
    wanted = {"add": ends, "replace": {**held, 20: "b = 5", 30: "b = 6"}, "gaps": held, "faulty": held}
    wanted["delete"] = {key: text for key, text in held.items() if key != 20}
    blob = pickle.dumps(SelectorSet({number: f"a = {number}" for number in range(70)}), 5)

    def made() -> SelectorSet[Any]:
        selectors: SelectorSet[Any] = pickle.loads(blob)
        for key in range(10):
            del selectors[key]
        return selectors

    def run(selectors: SelectorSet[Any]) -> object:
        if change == "delete":
            return selectors.pop(20)
        if change == "gaps":
            return pickle.dumps(selectors)
        new = {key: text for key, text in wanted[change].items() if held.get(key) != text}
        return selectors.update({**new, "x": "a ="} if change == "faulty" else new)

    class Injected(BaseException):
        pass

    for count in range(1, 10_000):
        selectors, left = made(), count

        def each(frame: Any, event: str, _: object) -> Any:
            nonlocal left
            left -= event == "line" and frame.f_code.co_filename != __file__
            if left == 0:
                sys.settrace(None)
                raise Injected
            return each

        sys.settrace(each)
        try:
            run(selectors)
        except (Injected, mqsel.SelectorError):
            pass
        finally:
            sys.settrace(None)
        agrees(selectors, wanted[change] if dict(selectors) == wanted[change] else held)
        if left > 0:
            assert count > 3
            assert dict(selectors) == wanted[change]
            return
    raise AssertionError("it does not end")


def test_a_key_that_changes_the_set() -> None:
    """What a key does while it is put into a set cannot change that set: one error says so, and nothing is changed."""
    selectors: SelectorSet[Any] = SelectorSet({"a": "a = 1"})

    class Key:
        def __hash__(self) -> int:
            return hash("a")

        def __eq__(self, other: object) -> bool:
            selectors["b"] = "a = 2"
            return False

    with pytest.raises(mqsel.ArgumentError, match="is being changed"):
        selectors[Key()] = "a = 3"
    agrees(selectors, {"a": "a = 1"})


def test_keys_of_many_digits(tmp_path: Path) -> None:
    """A key with more digits than Python writes travels as any other, and errors name it in short."""
    key = 10**5000
    selectors: SelectorSet[Any] = SelectorSet({key: "a = 1", -key: "a = 2", "text": "a = 3", 7: "a = 4"})
    selectors.save(tmp_path / "set")
    for other in (SelectorSet.open(tmp_path / "set"), selectors.copy(), pickle.loads(pickle.dumps(selectors, 2))):
        assert [*other] == [*selectors]
        assert other.match({"a": 2}) == [-key]
    with pytest.raises(mqsel.SelectorError, match="key a Python int"):
        selectors[key] = "a ="


def test_places_that_are_no_files(tmp_path: Path) -> None:
    """To save to, or open, what is no regular file is one error; a link is followed, and a name may be long."""
    selectors = SelectorSet({"a": "a = 1"})
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        (str(tmp_path / "folder"), "something else than a regular file"),
        (str(tmp_path / "pipe"), "something else than a regular file"),
        ("/dev/null", "something else than a regular file"),
        (f"{tmp_path}/a\0b", "NUL"),
        (str(tmp_path / ("n" * 300)), "too long"),
        (str(tmp_path / "missing" / "set"), "No such file"),
    ):
        for ask in (selectors.save, SelectorSet.open):
            with pytest.raises(mqsel.FileError, match=words):
                ask(name)
    for ask in (selectors.save, SelectorSet.open):
        with pytest.raises(mqsel.ArgumentError, match="path of a file"):
            ask(None)  # type: ignore[arg-type]
    (tmp_path / "link").symlink_to(tmp_path / "real")
    selectors.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    selectors.save(tmp_path / ("n" * 255))
    assert (
        dict(SelectorSet.open(tmp_path / "real")) == dict(SelectorSet.open(tmp_path / ("n" * 255))) == dict(selectors)
    )
    assert not [*tmp_path.glob("*.new")]


@pytest.mark.parametrize("size", [0, 4096, 100_000])
def test_a_small_file_that_is_cut_short(tmp_path: Path, size: int) -> None:
    """A file of less than a megabyte is read when it is opened: who cuts it short then harms nobody."""
    path = tmp_path / "set"
    SelectorSet({number: f"a = {number} AND b{number} LIKE 'x%'" for number in range(3000)}).save(path)
    assert path.stat().st_size < 1 << 20
    selectors = SelectorSet.open(path)
    os.truncate(path, size)
    assert selectors.match({"a": 5, "b5": "xy"}) == [5]
    assert selectors[2999] == "a = 2999 AND b2999 LIKE 'x%'"
