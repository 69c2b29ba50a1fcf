"""A set is a mapping, which changes and travels."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selecting import Text

import mqsel
from mqsel import IBM_JMS, IBM_MQ, JMS, SelectorSet
from mqsel.errors import (
    ArgumentError,
    DecodeError,
    FileError,
    MqselError,
    ProgramError,
    PropertyTypeError,
    SelectorError,
)
from mqsel.sets.set import _GAPS
from mqsel.values import Int32

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
        "unexpected '=' after '=': expected a value [key 'bad'; line 1, column 5]\n"
        "  | x = = 1\n  |     ^\n  hint: equality is written '=' in a selector"
    )
    assert pickle.loads(pickle.dumps(error)).key == "bad"
    assert dict(selectors) == {"a": "x = 1"}
    assert selectors.match({"x": 1}) == ["a"]

    refused = selectors.admit(faulty)
    assert {key: one.key for key, one in refused.items()} == {"bad": "bad", "worse": "worse"}
    assert dict(selectors) == {"a": "x = 2", "b": "y = 3"}
    assert selectors.match({"x": 2, "y": 3}) == ["a", "b"]


@pytest.mark.parametrize("value", [None, 5, float("nan"), b"x = 1"])
def test_admit_reports_what_is_no_selector_with_its_key(value: Any) -> None:
    """As a frame has None or NaN where a cell is empty; the last selector of a key counts, as in a dict."""
    selectors = SelectorSet({"a": "x = 1"})

    refused = selectors.admit(
        [("a", value), ("b", "x = 2"), ("c", value), ("c", "x = 2"), ("d", "x = 2"), ("d", value)]
    )

    assert [(key, error.key) for key, error in refused.items()] == [("a", "a"), ("d", "d")]
    assert refused["a"].message == f"the selector is a Python {type(value).__name__}: expected a str or a Matcher"
    assert dict(selectors) == {"a": "x = 1", "b": "x = 2", "c": "x = 2"}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_methods_pickle_without_their_set(protocol: int) -> None:
    """Also `match`, of a set that nobody else holds, that has gaps, texts of several dialects, or no texts."""
    selectors = SelectorSet({"a": "x = 1", "b": "y LIKE 'z%'", "gone": "x = 1"}, schema=("y", "x"))
    selectors["other"] = mqsel.compile("x + 1 > 1", dialect=JMS)
    del selectors["gone"]
    without = SelectorSet(selectors, keep_text=False)
    methods = [selectors.match, selectors.scan, without.match, SelectorSet({7: "x = 1"}).match, selectors.copy().match]

    arrived = [pickle.loads(pickle.dumps(method, protocol)) for method in methods]

    for method, same in zip(methods, arrived, strict=True):
        for message in ({"x": 1}, {"y": "zz"}, {}):
            assert same(message) == method(message)
    assert arrived[0](("zz", 1)) == ["a", "b", "other"]
    assert arrived[0]({"x": 1}, within=["other"]) == ["other"]
    assert pickle.loads(pickle.dumps(arrived[0], protocol))({"x": 1}) == ["a", "other"]


def test_a_copy_of_match_is_of_a_copy_of_the_set() -> None:
    """A deep copy does not change with the set; a pickle of a match of a file neither."""
    selectors = SelectorSet({"a": "x = 1"})
    match = copy.deepcopy(selectors.match)
    selectors["b"] = "x = 1"

    assert (match({"x": 1}), selectors.match({"x": 1})) == (["a"], ["a", "b"])


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
        with pytest.raises(ProgramError, match=r"damaged|was written by mqsel"):
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


def test_a_damaged_name(tmp_path: Path) -> None:
    """A name that is damaged in a text alone is an error of ours where a kernel is made of the texts."""
    path = tmp_path / "set"
    SelectorSet({"k": "zebra = 1 OR b = 'x'"}).save(path)
    path.write_bytes(path.read_bytes().replace(b"zebra = 1", b"zebru = 1"))

    with pytest.raises(SelectorError, match="damaged: the index has no property 'zebru"):
        SelectorSet.open(path).together()


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


@pytest.mark.parametrize(
    "change",
    ["delete", *(pytest.param(name, marks=pytest.mark.volume) for name in ("add", "replace", "gaps", "faulty"))],
)
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


class Waiting:
    """A key that waits, where it is compared, until it may go on."""

    def __init__(self) -> None:
        self.inside, self.leave = threading.Event(), threading.Event()

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        self.inside.set()
        return not self.leave.wait(20)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("step", ["added", "removed", "shown"])
def test_a_fork_during_a_change(step: str) -> None:
    """Invariant: what another thread was changing at a fork is as before in the child, which can change the set."""
    selectors: SelectorSet[Any] = SelectorSet({1: "a = 1", 2: "a = 1 AND b IS NULL"})
    key = Waiting()
    act: Callable[[], Any] = {
        "added": lambda: selectors.update({"x": "x IS NULL", key: "y IS NULL"}),
        "removed": lambda: selectors.pop(key, None),
        "shown": lambda: selectors.get(key),
    }[step]
    thread = threading.Thread(target=act)
    thread.start()
    assert key.inside.wait(20)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            selectors.update({number: f"a = 1 AND n{number} IS NULL" for number in range(2, 100)})
            del selectors[1]
            kept = selectors.match({"a": 1}) == selectors.scan({"a": 1}) == [*selectors] == [*range(2, 100)]
            os._exit(0 if kept and SelectorSet(selectors) == selectors else 1)
        finally:
            os._exit(2)
    key.leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert selectors.match({"a": 1}) == [1, 2, *(["x", key] if step == "added" else [])]


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
