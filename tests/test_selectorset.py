"""Sets answer as a loop over their matchers does, whatever they are given."""

from __future__ import annotations

import pickle
import random
from array import array
from collections import UserDict, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import strategies
from conftest import VECTORS_ROOT, batch_of, dialects_of, fits_arrow, json_lines, message_of
from selecting import Case, Text, made
from strategies import JMS_PRESETS
from volumes import volume

import mqsel
from mqsel import IBM_JAVA_CLIENT, IBM_JMS, IBM_MQ, JMS, Dialect, Matcher, Record, SelectorSet
from mqsel.errors import ArgumentError, PropertyTypeError, UndocumentedError
from mqsel.formats import mq
from mqsel.values import Float32, Int8

# Five presets × this many pairs of a selector and a message.
PAIRS = volume(10_000, smoke=1000)


SIDE = 50  # selectors of a random set, and messages it is shown


def looped(matchers: dict[Any, Matcher], message: Any) -> list[Any]:
    """Return the keys of the Matchers that select a message."""
    return [key for key, matcher in matchers.items() if matcher.matches(message)]


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


@pytest.mark.parametrize("name", [*JMS_PRESETS, "mixed"])
def test_vectors(name: str) -> None:
    """All vectors of a dialect in one set, or of all dialects: each of their messages is matched as by a loop."""
    asked = [one for one in vectors() if name == "mixed" or one[1] == JMS_PRESETS[name]]
    cases = [*dict.fromkeys((text, dialect) for text, dialect, _ in asked)]
    messages = distinct([message for _, _, message in asked])
    if name == "mixed":
        rng = random.Random(name)
        cases, messages = rng.sample(cases, 1200), rng.sample(messages, 300)
    selectors, matchers = made(cases, dialect=IBM_MQ if name == "mixed" else name)
    for number, message in enumerate(messages):
        try:
            wanted = looped(matchers, message)
        except UndocumentedError:  # whether it is asked for depends on the order of the tests
            continue
        except mqsel.PropertyTypeError as error:  # a name in two cases
            with pytest.raises(mqsel.PropertyTypeError, match=error.message):
                selectors.match(message)
            continue
        assert selectors.match(message) == wanted, message
        if number % 20 == 0:
            assert selectors.scan(message) == wanted


def by_positions(selectors: SelectorSet[Any], message: Any) -> list[Any]:
    """Return what `match` does, by `match_into`."""
    found = array("I", bytes(4 * len(selectors)))
    count = selectors.match_into(message, found)
    order = [*selectors]
    return [order[position] for position in found[:count]]


def random_set(rng: random.Random, name: str) -> tuple[list[Case], list[dict[str, Any]]]:
    """Draw selectors, half of them of one preset and half of any choices, and messages for them."""
    cases: list[Case] = []
    messages: list[dict[str, Any]] = []
    for number in range(SIDE):
        text, properties = strategies.random_case(rng, name)
        reading = rng.choice(strategies.READINGS)
        varied = JMS_PRESETS[name].replace(**reading)
        cases.append((text, varied if number % 2 else JMS_PRESETS[name]))
        messages.append(strategies.to_message(properties))
    return cases, messages


@pytest.mark.parametrize("name", JMS_PRESETS)
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
            assert by_positions(travelled, message) == wanted
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


def test_a_value_that_no_selector_comes_to() -> None:
    """A value that no property can have is an error if a selector comes to the value; without texts, in any case."""
    text, message = "a = 1 OR b = 2", {"a": 1, "b": object()}
    assert SelectorSet({1: text}, dialect=JMS).match(message) == [1]
    with pytest.raises(PropertyTypeError, match="property 'b' is a Python object") as caught:
        SelectorSet({1: text, 2: "b = 2"}, dialect=JMS).match(message)
    assert caught.value.name == "b"
    with pytest.raises(PropertyTypeError, match="property 'b' is a Python object") as caught:
        SelectorSet({1: text}, dialect=JMS, keep_text=False).match(message)
    assert caught.value.name == "b"


@pytest.mark.parametrize(
    "found",
    [
        None,
        5,
        [0, 0],
        b"12345678",
        bytearray(8),
        array("i", [0]),
        array("Q", [0]),
        memoryview(array("I", [0] * 4))[::2],
    ],
    ids=["nothing", "number", "list", "bytes", "bytearray", "signed", "64 bits", "gaps"],
)
def test_positions_into_what_is_no_array(found: Any) -> None:
    """What is no writable array of uint32 in one piece is one error, before anything is written to it."""
    with pytest.raises(ArgumentError, match="expected a writable array of uint32"):
        echo("a").match_into({"a": 1}, found)


def test_positions_into_a_small_array() -> None:
    """An array holds the selectors that select the message; what stands behind them stays, and gaps are closed."""
    selectors = echo("a", "b", "c", "d")
    with pytest.raises(ArgumentError, match="room for 1 positions: 2 selectors"):
        selectors.match_into({"a": 1, "c": 1}, array("I", [9]))
    del selectors["a"]
    found = array("I", [9, 9, 9])
    assert selectors.match_into({"b": 1, "d": 1, "UTC": 1}, found, now=5) == 2
    assert found.tolist() == [0, 2, 9]
    assert selectors.match_into({}, array("I")) == 0
    with pytest.raises(PropertyTypeError):
        selectors.match_into(5, found)


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
    found = array("I", bytes(400))
    selectors.match_into(message, found)
    assert found[0] == 0

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
        assert by_positions(selectors, decode(raw)) == wanted
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


@pytest.mark.parametrize("name", JMS_PRESETS)
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
