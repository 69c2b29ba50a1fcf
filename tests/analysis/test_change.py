"""What would have to change for a message to be selected, and what comes near: sentences, and that they are true."""

from __future__ import annotations

import itertools
import math
import random
import re
from contextlib import suppress
from typing import Any

import pytest
import strategies
from products import typed
from volumes import volume

import mqsel
from mqsel.analysis.explain import NEVER, outcomes_of
from mqsel.analysis.explain.change import Change, never_selects, smallest_change
from mqsel.errors import PropertyTypeError, UndocumentedError
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.selector import read_selector
from mqsel.names import near_names
from mqsel.values import Float32, Int8, Int16, Int32


def change(text: str, message: dict[str, Any], dialect: Dialect = mqsel.IBM_MQ) -> Change | None:
    """Find the smallest change."""
    selector = read_selector(text, dialect)
    values = {name: value for name, (_, value) in mqsel.compile(text, dialect=dialect).read(message).items()}
    return smallest_change(selector, values, {node: one.truth for node, one in outcomes_of(selector, values).items()})


CAR = {"JMSType": "car", "color": "red", "weight": 2036}


@pytest.mark.parametrize(
    ("text", "message", "said"),
    [
        ("weight > 2500", CAR, "weight were > 2500 (is 2036)"),
        ("weight >= 2500", CAR, "weight were >= 2500 (is 2036)"),
        ("weight < 2000.5", CAR, "weight were < 2000.5 (is 2036)"),
        ("weight = 2500", CAR, "weight were 2500 (is 2036)"),
        ("weight <> 2036", CAR, "weight were other than 2036 (is 2036)"),
        ("weight BETWEEN 1 AND 5", CAR, "weight were >= 1 and <= 5 (is 2036)"),
        ("weight NOT BETWEEN 2000 AND 3000", CAR, "weight were < 2000 (is 2036)"),
        ("weight > 2500", {"weight": "3000"}, "weight were a number > 2500 (is the string '3000')"),
        ("weight = 2500", {"weight": True}, "weight were the number 2500 (is TRUE)"),
        ("weight > 2500", {}, "weight were > 2500 (is missing)"),
        ("weight * 2 > 5000", CAR, "weight were 2501 (is 2036)"),
        ("5 / weight = 1", {"weight": 0}, "weight were 3 (is 0)"),
        ("weight * 2 = 5000", CAR, "weight were 2500 (is 2036)"),
        ("a * b = 6 AND a > 1", {"a": 1, "b": 1}, "a were 6 (is 1)"),
        ("a + b > 5 AND c = 'x'", {"a": 1, "b": 1, "c": "x"}, "a were 5 (is 1)"),
        ("color = 'blue'", CAR, "color were 'blue' (is 'red')"),
        ("color = 'blue'", {"color": 5}, "color were 'blue' (is 5)"),
        ("NOT (color = 'red')", CAR, "color were a string other than 'red' (is 'red')"),
        ("color IN ('a', 'b')", CAR, "color were 'a' or 'b' (is 'red')"),
        ("color IN ('a', 'b', 'c', 'd')", CAR, "color were 'a', 'b' or 2 other strings (is 'red')"),
        ("color LIKE 'b%_'", CAR, "color were LIKE 'b%_' (is 'red')"),
        ("color NOT LIKE 'r%'", CAR, "color were NOT LIKE 'r%' (is 'red')"),
        ("color IS NULL", CAR, "color were missing (is 'red')"),
        ("region IS NOT NULL", CAR, "region were present (is missing)"),
        ("flag", {"flag": False}, "flag were TRUE (is FALSE)"),
        ("a = b", {"a": "x", "b": "y"}, "a were 'y' (is 'x')"),
        ('x = "0x0A"', {"x": b"a"}, 'x were the bytes "0x0A" (is the bytes "0x61")'),
        ("JMSType = 'car' AND color = 'blue' AND weight > 5", CAR, "color were 'blue' (is 'red')"),
        ("color = 'blue' AND weight > 2500 OR weight > 9000", CAR, "weight were > 9000 (is 2036)"),
        ("weight > 2500 AND weight < 3000", CAR, "weight were > 2500 and < 3000 (is 2036)"),
        ("region = 'x' OR weight > 9000", CAR, "weight were > 9000 (is 2036)"),
        ("weight + region > 5", CAR, "region were 0 (is missing)"),
        ("weight / 2 = 2.5", {"weight": 5}, "weight were the float 5.0 (it is the integer 5)"),
        ("color LIKE '5!%%' ESCAPE '!'", CAR, "color were LIKE '5\\%%' ESCAPE '\\' (is 'red')"),
        (f"color = '{'x' * 60}'", CAR, f"color were '{'x' * 60}' (is 'red')"),
    ],
)
def test_sentences(text: str, message: dict[str, Any], said: str) -> None:
    """One property changes, as little as words can say, and the change selects."""
    found = change(text, message)
    assert found is not None
    assert found.text == said
    assert mqsel.compile(text).matches({**message, **found.values})
    assert mqsel.compile(text).explain(message).change == f"it would be selected if {said}"


@pytest.mark.parametrize(
    "text",
    [
        "type = 'PING' AND type = 'PONG'",
        "n BETWEEN 5 AND 1",
        "n > 5 AND n < 3",
        "n < 3 AND NOT n < 4",
        "1 / 0 = n",
        "n < m AND m < n",
    ],
)
def test_never(text: str) -> None:
    """Of a selector that no values make TRUE no change is told."""
    assert never_selects(read_selector(text, mqsel.IBM_MQ))
    assert mqsel.compile(text).explain({"type": "PING", "n": 4}).change == NEVER


@pytest.mark.parametrize("text", ["n LIKE 'a%b' AND n LIKE 'b%'", "n > 5 AND n * 1 < 3 AND n = n", "a * b = c * 7 + 1"])
def test_nothing_is_told_that_was_not_found(text: str) -> None:
    """Where the search comes to nothing, or to its end, there is no change, or one that selects."""
    found = change(text, {"n": 1, "a": "x", "b": 2, "c": 3})
    assert found is None or mqsel.compile(text).matches({"n": 1, "a": "x", "b": 2, "c": 3, **found.values})


def test_of_two_properties() -> None:
    """If one property is not enough, no change is proposed."""
    assert change("color = 'blue' AND weight > 2500", CAR) is None
    assert mqsel.compile("color = 'blue' AND weight > 2500").explain(CAR).change == ""


def test_of_a_selected_message() -> None:
    """A message that is selected needs no change."""
    assert mqsel.compile("weight > 5").explain(CAR).change == ""


VALUES = (None, True, False, 0, 1, -1, 5, 2.5, 1e300, "", "a", "x", "red", b"", b"\x01")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_changes_select(name: str) -> None:
    """Invariant: a change that is told selects the message; no value of one property does where none is said to."""
    rng = random.Random(f"change {name}")
    told = 0
    for _ in range(150):
        text, properties = strategies.random_case(rng, name)
        matcher = mqsel.compile(text, dialect=strategies.DIALECTS[name])
        message = {one: value for one, (_, value) in matcher.read(strategies.to_message(properties)).items()}
        if matcher.matches(message):
            continue
        found = change(text, message, strategies.DIALECTS[name])
        if found is not None:
            told += 1
            assert matcher.matches({**message, **found.values}), (text, message, found)
        if found is None:
            singles = [{**message, one: value} for one, value in itertools.product(message, VALUES)]
            assert not any(map(matcher.matches, singles)), (text, message, found)
        if never_selects(read_selector(text, strategies.DIALECTS[name])):
            assert found is None

    assert told > 50


def _random_case(rng: random.Random, name: str) -> tuple[str, strategies.Properties]:
    """Draw a selector that is valid in a dialect, and a message."""
    if name in typed.BROKERS:
        text, properties = typed.random_case(rng, name)
        return text, {one: pair for one, pair in properties.items() if pair[0] != "null"}
    while True:
        text, properties = strategies.random_case(rng, name if name in strategies.DIALECTS else "JMS")
        with suppress(mqsel.SelectorError):
            mqsel.compile(text, dialect=_DIALECTS[name])
            return text, properties


_DIALECTS = {**PRESETS, **strategies.DIALECTS}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", _DIALECTS)
def test_sentences_are_proved(name: str) -> None:
    """Invariant: the values that a sentence names, read again as they are printed, select the message."""
    rng = random.Random(f"sentence {name}")
    proved = 0
    for _ in range(volume(2_000, smoke=40)):
        text, properties = _random_case(rng, name)
        matcher = mqsel.compile(text, dialect=_DIALECTS[name])
        try:
            message = {one: value for one, (_, value) in matcher.read(strategies.to_message(properties)).items()}
            is_selected = matcher.matches(message)
        except (UndocumentedError, PropertyTypeError):  # nothing is known of the message, or two names are one
            continue
        found = None if is_selected else change(text, message, _DIALECTS[name])
        if found is None:
            continue
        if re.search("[�\u2400-\u2426]", found.text):  # a character that cannot be printed stands for another one
            continue
        pattern = "(?:, | and )".join(rf"{re.escape(one)} were (.*) \((?:it )?is .*\)" for one in found.values)
        phrases = re.fullmatch(pattern, found.text, re.DOTALL)
        assert phrases is not None, found
        for values in itertools.product(*map(_values, phrases.groups())):
            changed = dict(zip(found.values, values, strict=True))
            assert matcher.matches({**message, **changed}), (text, message, found, changed)
            proved += 1
    assert proved > 5


_CLASSES = {"int8": Int8, "int16": Int16, "int32": Int32, "int64": int, "float32": Float32, "float64": float}
_NUMBER = r"-?(?:[\d.]+(?:e[-+]?\d+)?|inf)|nan"


def _values(phrase: str) -> list[Any]:
    """Return values that a phrase of a sentence names, or some of those that it allows."""
    read = re.sub("^(the|a) (float |integer |number )?", "", phrase)
    if read in ("missing", "TRUE", "FALSE"):
        return [{"missing": None, "TRUE": True, "FALSE": False}[read]]
    kind, _, number = read.partition(" ")
    if kind in _CLASSES:
        return [_CLASSES[kind](float(number) if kind.startswith("float") else int(number))]
    if re.fullmatch(_NUMBER, read):
        return [float(read) if re.search("[.en]", read) else int(read)]
    if found := re.fullmatch(f"other than ({_NUMBER})", read):
        return [float(found[1]) + 1, int(float(found[1])) + 1, float(found[1]) - 0.5]
    ends = re.findall(f"([<>]=?) ({_NUMBER})", read)
    if ends:
        tests = " AND ".join(f"x {sign} {float(end)!r}" for sign, end in ends)
        near = [step(float(end) + more) for _, end in ends for more in (-1, 0, 0.5, 1) for step in (float, math.floor)]
        return [one for one in near if mqsel.compile(tests).matches({"x": one})]
    if found := re.fullmatch(r'bytes "0x(.*)"', read):
        return [bytes.fromhex(found[1])]
    if read in ("present", "string", "number"):
        return [{"string": "a", "number": 1}.get(read, "a")]
    strings = [one.replace("''", "'") for one in re.findall("'((?:[^']|'')*)'", read)]
    if "LIKE" in read:
        tests = read.replace(" or ", " OR x ").replace(" and ", " AND x ").replace("string other than", "<>")
        made = (one.replace("%", most).replace("_", "b") for one in ["", *strings] for most in ("", "ab"))
        is_plain = "other than" not in read and not re.search("(^| OR x |, )'", tests)
        return [one for one in made if is_plain and mqsel.compile(f"x {tests}", dialect="JMS").matches({"x": one})]
    if "other than" in read:
        assert "other strings" not in read or strings
        return [f"{one}x" for one in strings if f"{one}x" not in strings]
    return strings


def test_long_selectors_end_soon() -> None:
    """A hundred ANDs of ORs, and a thousand terms, are searched with few needs of each."""
    wide = " OR ".join(f"a = {number}" for number in range(1000))
    many = " AND ".join(f"(a{number} = 1 OR b{number} = 2)" for number in range(100))
    assert change(wide, {"a": -1}, mqsel.JMS) == ({"a": 0}, "a were 0 (is -1)")
    assert change(many, {"a": -1}, mqsel.JMS) is None
    message = {f"a{number}": 1 for number in range(1, 100)}
    assert change(many, message, mqsel.JMS) == ({"a0": 1}, "a0 were 1 (is missing)")


# ---- what comes near ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "others", "near"),
    [
        ("Color", ["colour", "color", "weight"], ["color", "colour"]),
        ("priority", ["JMSPriority", "weight"], ["JMSPriority"]),
        ("MsgType", ["Root.MQMD.MsgType", "JMSType"], ["Root.MQMD.MsgType", "JMSType"]),
        ("order_id", ["orderId", "OrderNumber"], ["orderId"]),
        ("x", ["y", "xy"], []),
        ("JSM", ["IBM_JMS", "JMS"], ["JMS"]),
        ("colr", ["colour", "color"], ["color", "colour"]),
        ("size1", ["size3", "size2"], ["size3", "size2"]),
        ("color", ["color"], []),
    ],
)
def test_near_names(name: str, others: list[str], near: list[str]) -> None:
    """A name in other letters, with a prefix or with a slip of the pen is near; another word is not."""
    assert near_names(name, others) == near


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("a = 'Red'", "red", "only the case of letters differs"),
        ("'red ' = a", "red", "only spaces at the ends differ"),
        ("a = '*:10'", "ID:5:10", "* and ? stand for themselves here: write LIKE '%:10'"),
        ("a = 'r%'", "red", "= knows no % and _: write LIKE 'r%'"),
        ("a IN ('red, blue')", "red", "'red, blue' is one string: write IN ('red', 'blue')"),
        ("a = 'PERSISTENT (2)'", "PERSISTENT", "'PERSISTENT' alone would be equal"),
        ("a LIKE 'r*'", "red", "* and ? stand for themselves here: write LIKE 'r%'"),
        ("a LIKE 'R%'", "red", "only the case of letters differs"),
        ("a LIKE 'e'", "red", "LIKE without % takes the whole text: write LIKE '%e%'"),
        ("a = 'blue'", "red", ""),
        ("a LIKE 'b%'", "red", ""),
        ("a NOT LIKE 'r%'", "red", ""),
    ],
)
def test_near_texts(text: str, value: str, said: str) -> None:
    """A test says how little a string misses it, and nothing where it is another string."""
    reason = mqsel.compile(text).explain({"a": value}).parts[0].reason
    assert reason == "; ".join(filter(None, (f"a is the string '{value}'", said)))


def test_hints() -> None:
    """A reason says by what other name a property may be there, what quotes are for, and that no time is so late."""

    def reason(text: str, message: dict[str, Any]) -> str:
        return mqsel.compile(text).explain(message).parts[0].reason

    assert reason("Color = 'red'", CAR) == "Color is missing: the message has color"
    assert reason("key = 'A'", {"selector": "key = 'A'"}) == "key is missing: the message has selector"
    assert reason("key = A", {"key": "A"}).endswith("A is the name of a property here: if you mean a string, write 'A'")
    assert reason("key <> 'A'", {}).endswith(
        "the test isn't TRUE if key is missing: to also select these messages, write … OR key IS NULL"
    )
    assert reason("JMSTimestamp > 5", {"JMSTimestamp": 1590952999999}).endswith("(2020-05-31 19:23:19 UTC)")
    assert "13 digits" in reason("JMSTimestamp < 159095259330560000", {"JMSTimestamp": 5})
