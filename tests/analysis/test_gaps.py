"""What no selector of many selects, and what lint says of a contract, held against all messages of small domains."""

from __future__ import annotations

import itertools
import math
import random
import re
import time
from typing import Any

import pytest
from volumes import volume

import mqsel
from mqsel.analysis.compare import gaps
from mqsel.analysis.compare.contract import Contract, Property
from mqsel.analysis.compare.gaps import gap
from mqsel.analysis.lint import lint
from mqsel.logic.sets import Texts
from mqsel.logic.solver import automata, cells
from mqsel.logic.solver.budget import Budget, UndecidedError

COUNT = volume(150, smoke=40)  # random sets
THOUSANDS = volume(1, smoke=1)  # sets of a thousand
DOMAINS: dict[str, tuple[Any, ...]] = {
    "a": (None, 1, 2, 3),
    "b": ("x", "y", "xy", None),
    "c": (True, False),
    "d": (0.5, 1.5, 2.0),
}
GIVEN = {
    name: {"values": [one for one in values if one is not None], "required": None not in values}
    for name, values in DOMAINS.items()
}
MESSAGES = [
    {name: value for name, value in zip(DOMAINS, values, strict=True) if value is not None}
    for values in itertools.product(*DOMAINS.values())
]
LENIENT = mqsel.IBM_MQ.replace(constant_false="accept")
TESTS = (
    lambda draw: f"a {draw('= <> < >= >')} {draw('0 1 2 3 4')}",
    lambda draw: f"a IS {draw('NULL NOT_NULL')}".replace("_", " "),
    lambda draw: f"b {draw('= <>')} '{draw('x y xy z')}'",
    lambda draw: f"b {draw('LIKE NOT_LIKE')} '{draw('x% %y ? %')}'".replace("_", " ").replace("?", "_"),
    lambda draw: f"c {draw('= <>')} {draw('TRUE FALSE')}",
    lambda _: "c",
    lambda draw: f"d {draw('= <> < >= >')} {draw('0.5 1 1.5 2')}",
    lambda draw: f"a BETWEEN {draw('0 1 2 3')} AND {draw('0 1 2 3')}",
    lambda draw: f"b {draw('IN NOT_IN')} ('x', 'z')".replace("_", " "),
    lambda draw: f"a + 1 > {draw('0 1 2 3 4')}",
    lambda _: "a < d",
)


def _selector(rng: random.Random, depth: int) -> str:
    def draw(words: str) -> str:
        return rng.choice(words.split())

    if depth == 0 or rng.random() < 0.3:
        return rng.choice(TESTS)(draw)
    if rng.random() < 0.3:
        return f"NOT ({_selector(rng, depth - 1)})"
    return f"({_selector(rng, depth - 1)} {draw('AND OR')} {_selector(rng, depth - 1)})"


@pytest.mark.parametrize("few", [0, 20])
def test_gaps_are_those_of_all_messages(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap is found where a message of the domains is left, and its selector is TRUE of just those that are."""
    for module in (cells, automata):  # with few patterns, too, as with many
        monkeypatch.setattr(module, "_FEW", few)
    automata._string_and_steps.cache_clear()
    rng = random.Random(30)
    undecided = shapes = 0
    for _ in range(COUNT):
        texts = [_selector(rng, 2) for _ in range(rng.randrange(1, 7))]
        matchers = [mqsel.compile(text, dialect=LENIENT) for text in texts]
        left = [message for message in MESSAGES if not any(one.matches(message) for one in matchers)]
        found = gap(matchers, given=GIVEN)
        if found.reason:
            undecided += 1
            continue
        assert bool(found) == bool(left), texts
        assert found.message is None or found.message in left, texts
        if found.selector:
            shapes += 1
            shape = mqsel.compile(found.selector, dialect=LENIENT)
            assert [message for message in MESSAGES if shape.matches(message)] == left, texts

    assert undecided * 100 <= COUNT
    assert shapes * 3 > COUNT


SYMBOLS = [f"S{number}" for number in range(1_000)]
OF_SYMBOLS = {"symbol": {"values": SYMBOLS, "required": True}}


@pytest.mark.parametrize(
    ("count", "message", "selector"), [(1_000, None, ""), (999, {"symbol": "S999"}, "symbol = 'S999'")]
)
def test_thousand_selectors(count: int, message: Any, selector: str) -> None:
    """Of a thousand selectors on one destination the one value that is left is found, or that none is."""
    found = gap([f"symbol = '{symbol}'" for symbol in SYMBOLS[:count]], given=OF_SYMBOLS)

    assert (found.message, found.selector, found.reason) == (message, selector, "")


@pytest.mark.parametrize(
    ("texts", "given", "message", "selector"),
    [
        (
            ["color = 'red'", "color = 'blue' AND weight > 5"],
            {
                "color": {"values": ["red", "blue", "green"], "required": True},
                "weight": {"type": "int32", "required": True},
            },
            {"color": "blue", "weight": 0},
            "color <> 'red' AND (color <> 'blue' OR weight <= 5)",
        ),
        (
            ["weight > 5.5", "weight <= 2"],
            {"weight": {"type": "float64", "required": True}},
            {"weight": 3.0},
            "weight > 2 AND weight <= 5.5",
        ),
        (
            ["name LIKE 'a\\_%' ESCAPE '\\'", "name LIKE '%b'"],
            {"name": {"type": "string", "required": True}},
            {"name": "a"},
            "name NOT LIKE 'a\\_%' ESCAPE '\\' AND name NOT LIKE '%b'",
        ),
        (["weight > 5", "weight <= 5"], {"weight": "int32"}, {}, "weight IS NULL"),
        (["flag"], {"flag": {"type": "boolean", "required": True}}, {"flag": False}, "flag = FALSE"),
        (["JMSPriority > 4", "JMSPriority <= 4"], "JMSPriority IS NOT NULL", None, ""),
        (["JMSPriority > 4", "Root.MQMD.Priority < 4"], "JMSPriority IS NOT NULL", {"JMSPriority": 4}, None),
        (["weight > 5"], None, {}, ""),
        ([], {"color": {"values": ["red"], "required": True}}, {"color": "red"}, ""),
    ],
)
def test_examples(texts: list[str], given: Any, message: Any, selector: str | None) -> None:
    """The message of a gap is simple, and its selector is what a person would write."""
    found = gap(texts, given=given)

    assert found.message == message or (message and found.message and message.items() <= found.message.items())
    assert selector is None or found.selector == selector
    assert found.reason == ""


def _mixed(rng: random.Random) -> str:
    letter = rng.choice("abcdef")
    tests = (
        f"color = '{letter}'",
        f"color LIKE '{letter}%'",
        f"color NOT LIKE '%{letter}_{rng.choice('abc')}%'",
        f"weight > {rng.randrange(100)}",
        f"weight * 2 + 1 < {rng.randrange(200)}",
        f"weight < size AND JMSPriority = {rng.randrange(10)}",
    )
    return " AND ".join(rng.sample(tests, 3))


_WORDS = "red green blue order trade quote eu us asia high low mid alpha beta new cancel fill ack".split()
_OF_WORDS: dict[str, Any] = {name: {"type": "string", "required": True} for name in ("name", "other")}
_OF_WORDS |= {"kind": {"values": _WORDS, "required": True}}
_OF_WORDS |= {"w": {"type": "int32", "least": 0, "greatest": 99, "required": True}}


def _like(rng: random.Random, name: str = "name") -> str:
    word = f"{rng.choice(_WORDS)}{rng.choice('-. ')}{rng.randrange(200)}"
    pattern = rng.choice((f"{word}%", f"%{word}", f"%{word}%", f"{word[:2]}%{word[-2:]}", f"{word[:-1]}_"))
    return f"{name} LIKE '{pattern}'"


FAMILIES: dict[str, tuple[Any, Any]] = {
    "patterns": (_like, None),
    "of two texts": (lambda rng: f"{_like(rng)} AND {_like(rng, 'other')}", _OF_WORDS),
    "and not": (lambda rng: f"{_like(rng)} AND NOT {_like(rng)}", _OF_WORDS),
    "and numbers": (lambda rng: f"{_like(rng)} AND w > {rng.randrange(100)}", _OF_WORDS),
    "covered": (lambda rng: rng.choice((_like(rng), "name LIKE 'a%'", "name NOT LIKE 'a%'")), _OF_WORDS),
    "of many kinds": (
        lambda rng: rng.choice(
            (
                _like(rng),
                f"name = '{rng.choice(_WORDS)}'",
                f"{_like(rng)} OR w = {rng.randrange(9)}",
                f"w BETWEEN {rng.randrange(50)} AND {rng.randrange(50, 100)} AND NOT {_like(rng)}",
                f"kind = '{rng.choice(_WORDS)}' AND {_like(rng)}",
            )
        ),
        _OF_WORDS,
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_thousand_selectors_with_patterns(family: str) -> None:
    """Invariant: of a thousand selectors with LIKE a gap is found that none selects, or that there is none."""
    draw, given = FAMILIES[family]
    for seed in range(THOUSANDS):
        rng = random.Random(f"{family} {seed}")
        matchers = [mqsel.compile(draw(rng)) for _ in range(1_000)]
        found = gap(matchers, given=given)
        assert not found.reason, seed
        assert bool(found) is (family not in ("covered", "of many kinds")), seed
        assert not any(one.matches(found.message or {}) for one in matchers), seed


@pytest.mark.parametrize("count", [20, 60])
def test_random_sets_with_patterns_and_computation(count: int) -> None:
    """Invariant: of many random selectors on one destination a gap is found that none selects, or is not decided."""
    rng = random.Random(count)
    texts = [_mixed(rng) for _ in range(count)]
    given = {name: {"type": kind, "required": True} for name, kind in (("color", "string"), ("weight", "int32"))}
    found = gap(texts, given=given | {"size": {"type": "int32"}})

    assert found.message is not None or found.reason
    assert not any(mqsel.compile(text).matches(found.message or {}) for text in texts)


def test_too_much_work_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the budget is used up, the answer says so."""
    monkeypatch.setattr(gaps, "budget_of_many", lambda _: Budget(50))
    found = gap([f"a{number} + b{number} > c{number} * 2" for number in range(40)])

    assert found.message is None
    assert found.reason


def test_one_selector_is_no_list() -> None:
    """A text is not taken for a list of its characters."""
    with pytest.raises(mqsel.ArgumentError, match="a list"):
        gap("color = 'red'")


@pytest.mark.parametrize("kind", ["int8", "int64", "float32", "float64"])
def test_bounds_of_a_contract(kind: str) -> None:
    """Invariant: a message keeps the bounds of a contract if Python compares it so; that of a gap does."""
    bounds = (None, 0, 0.1, 1e39, -1e308, 2**53 + 1, 2**63, -math.inf, math.inf)
    numbers = (0.1, 1e39, 2.0**53, 2.0**63, math.inf, -1e308, 5, -128, 2**53 + 1, 2**63 - 1)
    make = {"int8": mqsel.values.Int8, "int64": int, "float32": mqsel.values.Float32, "float64": float}[kind]
    least_of_all = 128 if kind == "int8" else 1 << 63
    drawn = [one for one in numbers if kind[0] == "f" or (isinstance(one, int) and -least_of_all <= one < least_of_all)]
    messages = [{"a": make(one)} for one in drawn]
    for least, greatest in itertools.product(bounds, bounds):
        contract = Contract({"a": {"type": kind, "least": least, "greatest": greatest, "required": True}})
        low, high = -math.inf if least is None else least, math.inf if greatest is None else greatest
        for message in messages:
            assert (not contract.breaches(message)) is (low <= message["a"] <= high), (message, least, greatest)
        found = gap(["a IS NULL"], given=contract)
        assert not found.reason
        assert found.message is None or low <= found.message["a"] <= high, (found, least, greatest)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": {"least": 10**400}}, "the bound 1000"),
        ({"a": {"least": 10**5_000}}, "the bound a Python int for a: expected a number"),
        ({"a": {"greatest": math.nan}}, "the bound nan for a: expected a number"),
        ({"a": {"values": [2**63]}}, "lists 9223372036854775808 for a: expected a value"),
        ({5: "string"}, "the contract has 5 for a name: expected a str"),
        ({"a": Property(("int3",))}, "the type 'int3' for a"),
    ],
)
def test_what_no_contract_says(given: Any, message: str) -> None:
    """What no message can have is refused where a contract is written."""
    with pytest.raises(mqsel.ArgumentError, match=message):
        gap(["a > 5"], given=given)


def test_many_values_of_a_contract() -> None:
    """Twenty thousand values are made into a set once, and a sentence lists a few."""
    start = time.process_time()
    contract = Contract({"a": {"values": [f"v{number}" for number in range(20_000)], "required": True}})
    found = gap([f"a LIKE 'v{digit}%'" for digit in range(9)], given=contract)
    assert found.message == {"a": "v9"}
    (breach,) = contract.breaches({"a": "w"})
    assert len(breach.sentence) < 300
    for _ in range(50):
        contract.bound(["a"], "mqi")
    assert time.process_time() - start < 10


def test_what_is_not_decided_keeps_no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered as not decided is raised anew, without the frames that it was raised through before."""
    monkeypatch.setattr(automata, "OF_STRING", 0)
    texts = Texts(frozenset(), frozenset([(("a",), ("keeps no frames",))]), negated=False)
    strings = automata.ALL_STRINGS._replace(likes=frozenset([texts]))
    lengths = []
    for _ in range(3):
        with pytest.raises(UndecidedError) as caught:
            automata.a_string(strings, Budget())
        lengths.append(len(caught.traceback))
    assert len({*lengths}) == 1, lengths


def test_a_contract_of_messages_is_kept_by_each() -> None:
    """No message breaks the contract that is made of it and others."""
    rng = random.Random(31)
    kinds: tuple[Any, ...] = (
        1,
        2.5,
        "a",
        True,
        b"\x01",
        float("nan"),
        mqsel.values.Int32(7),
        mqsel.values.Float32(0.1),
        -0.0,
    )
    for values in (True, False):
        messages = [
            {name: rng.choice(kinds) for name in ("p", "q", "JMSPriority", "JMSDeliveryMode") if rng.random() < 0.7}
            for _ in range(200)
        ]
        contract = Contract.of(messages, values=values)
        again = Contract.from_dict(contract.as_dict())

        assert again.as_dict() == contract.as_dict()
        assert [one for one in messages if contract.breaches(one) or again.breaches(one)] == []


def test_a_contract_takes_what_messages_hold() -> None:
    """A value is of the type that it has in a message, as `matches` reads it."""

    class Text(str):
        __slots__ = ()

    contract = Contract({"a": "bytes", "b": ["x"], "c": "int64"})
    held = {"a": bytearray(b"a"), "b": Text("x"), "c": None}

    assert contract.breaches(held) == []
    assert [one.sentence for one in contract.breaches({"a": memoryview(b"a"), "b": Text("y"), "c": bytearray()})] == [
        "b is 'y': expected one of 'x'",
        "c is bytes: expected int64",
    ]
    assert Contract.of([held]).as_dict() == Contract.of([{"a": b"a", "b": "x"}]).as_dict()


# ---- lint ------------------------------------------------------------------------------------------------------------


_OF_A_CONTRACT = re.compile(r"(.*) is (?:TRUE|never TRUE) (?:of|for) \S+ message of the contract(?: that has (\w+))?")


def test_lint_says_of_a_contract_what_holds_of_all_messages() -> None:
    """What lint says of a contract holds of all messages of it; it is said where the whole selects none, or all."""
    rng = random.Random(31)
    counts = dict.fromkeys(("outside-contract", "contract-implies", "always-true", "never-true"), 0)
    for _ in range(COUNT):
        text = " AND ".join([_selector(rng, 1) for _ in range(rng.randrange(1, 4))])
        findings = lint(text, LENIENT, given=GIVEN)
        for one in findings:
            said = _OF_A_CONTRACT.match(one.sentence)
            if said is None or "…" in said[1]:
                continue
            counts[one.code] += 1
            matches = mqsel.compile(said[1], dialect=LENIENT).matches
            truths = {matches(message) for message in MESSAGES if said[2] is None or said[2] in message}
            assert truths == {one.code in ("contract-implies", "always-true")}, (text, one)
        codes = {one.code for one in findings if one.severity == "warning"}
        selected = sum(map(mqsel.compile(text, dialect=LENIENT).matches, MESSAGES))
        assert selected or codes, text
        assert selected < len(MESSAGES) or codes & {"always-true", "constant-part"}, text

    assert min(counts.values()) > 0, counts


def test_lint_without_a_property_of_the_contract() -> None:
    """A property that no message of a contract has is named, and one that it may have been meant for."""
    given = Contract({"color": "string"}, others=False)

    assert [one.sentence for one in lint("colour = 'red' AND size > 5", given=given)] == [
        "colour = 'red' is TRUE for no message of the contract: no message has colour: did you mean color?",
        "size > 5 is TRUE for no message of the contract: no message has size",
    ]
