"""The matcher: what `compile` takes, what a matcher tells of itself, how it travels, how it filters and explains.

What a selector means is in test_conformance.py, what a message may be in test_vm.py. Nothing here looks below
`mqsel.matcher`, except to take its parser away.
"""

from __future__ import annotations

import concurrent.futures
import copy
import functools
import gc
import itertools
import math
import multiprocessing
import pickle
import random
import sys
import threading
import weakref
from collections import UserDict, deque
from collections.abc import Iterator
from typing import Any

import pytest
import strategies
from conftest import shown

import mqsel
from mqsel import values
from mqsel.analysis.explain import Explanation, Part
from mqsel.errors import (
    MQRC,
    ArgumentError,
    MqselError,
    ProgramError,
    PropertyTypeError,
    SelectorAlwaysFalseError,
    SelectorError,
    SelectorLimitError,
    SelectorSyntaxError,
    SelectorTypeError,
    cut_piece,
)
from mqsel.language import nodes
from mqsel.language.dialect import CHOICES, PRESETS
from mqsel.language.parser import parse
from mqsel.machine import _vm, program
from mqsel.machine.program import FORMAT_VERSION, VERSION
from mqsel.values import AND, NOT, OR, Float32, Int8, Int32, Truth

JMS = mqsel.JMS
W2 = "JMSType = 'car' AND color = 'blue' AND weight > 2500"
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


class Text(str):
    """A selector that is not exactly a str, nor gives one."""

    __slots__ = ()

    def __str__(self) -> Text:
        return self


# ---- compile ---------------------------------------------------------------------------------------------------------

SELECTORS = [
    "",
    "  ",
    "a",
    W2,
    "a = 'it''s'",
    "x LIKE 'a!_%' ESCAPE '!'",
    "NOT (a IN ('p', 'q') OR b BETWEEN 1 AND 2.5)",
]
SCHEMAS: list[Any] = [None, (), ("a",), ("a", "b"), {"a": "int8", "b": None}, [("a", "string"), "b"], ("b", "a")]
DIALECTS = [
    *PRESETS.values(),
    JMS.replace(max_length=200),
    mqsel.IBM_MQ.replace(null_arithmetic="unknown", max_length=None),
]


@pytest.mark.parametrize("text", [None, 5, b"a = 1", bytearray(b"a"), ["a"], object(), parse("a", JMS)], ids=shown)
def test_a_selector_is_a_str(text: Any) -> None:
    """Anything else is an ArgumentError that names the type, also for things that cannot be hashed."""
    with pytest.raises(ArgumentError, match=type(text).__name__):
        mqsel.compile(text)


@pytest.mark.parametrize("dialect", [None, 0, mqsel.Dialect, {"headers": "mqi"}, [JMS]], ids=shown)
def test_a_dialect_is_a_dialect(dialect: Any) -> None:
    """Or a name, but nothing else: the hint lists the presets."""
    with pytest.raises(ArgumentError) as caught:
        mqsel.compile("a = 1", dialect=dialect)

    assert all(name in str(caught.value.hint) for name in PRESETS)


@pytest.mark.parametrize("schema", [5, "a", [5], [("a", "int9")], ["a", "a"], [("a", [])], object()], ids=shown)
def test_a_schema_is_a_layout(schema: Any) -> None:
    """A schema that is none is an ArgumentError, a TypeError and a ValueError; more of them in test_schema.py."""
    with pytest.raises(ArgumentError) as caught:
        mqsel.compile("a = 1", schema=schema)

    assert isinstance(caught.value, (MqselError, TypeError, ValueError))


def test_everything_but_the_text_is_named() -> None:
    """A second positional argument is an error now, so that it may become one of many later."""
    with pytest.raises(TypeError):
        mqsel.compile("a = 1", JMS)  # type: ignore[misc]


def test_a_selector_may_be_a_subclass_of_str() -> None:
    """And gives the matcher of its text."""
    matcher = mqsel.compile(Text("a = 1"))

    assert (type(matcher.selector), matcher) == (str, mqsel.compile("a = 1"))


def test_a_dialect_is_no_subclass() -> None:
    """A class of somebody else may answer otherwise the next time it is asked: ArgumentError."""
    kind = type("Dialect", (mqsel.language.dialect.Dialect,), {})
    with pytest.raises(ArgumentError, match="dialect is a Dialect"):
        mqsel.compile("a = 1", dialect=kind())


@pytest.mark.parametrize("name", ["TIBCO_EMS", "tibco-ems", Text("Tibco_EMS")])
def test_a_dialect_may_be_named(name: str) -> None:
    """The name of a preset stands for it, as on the command line; the matcher has the preset."""
    assert mqsel.compile("a = 010", dialect=name) == mqsel.compile("a = 010", dialect=mqsel.TIBCO_EMS)


def test_an_unknown_name_of_a_dialect() -> None:
    """The error lists the names there are."""
    with pytest.raises(ArgumentError, match=r"there is no dialect 'sql': choose IBM_MQ, IBM_JMS, .*, JMS$"):
        mqsel.compile("a = 1", dialect="sql")


def test_repeated_calls_are_answered_from_a_cache() -> None:
    """The same arguments give the same matcher, other arguments another one."""
    text = "cached = 'yes'"
    ways: list[dict[str, Any]] = [
        {},
        {"dialect": JMS},
        {"schema": ("cached",)},
        {"schema": ("cached", "b")},
        {"schema": (("cached", "string"),)},
        {"optimize": False},
    ]
    first = [mqsel.compile(text, **way) for way in ways]

    assert [mqsel.compile(Text(text), **way) is one for way, one in zip(ways, first, strict=True)] == [True] * len(ways)
    assert len(set(map(id, first))) == len(ways)
    assert mqsel.compile(text, schema=["cached"]) is first[2]
    assert mqsel.compile(text, dialect=copy.copy(JMS)) is first[1]


def test_the_cache_is_bounded() -> None:
    """Compiling ever new selectors does not keep them all."""
    for number in range(3000):
        mqsel.compile(f"a = {number}")
    gc.collect()

    # By type: objects of hostile tests raise when isinstance asks them for their class.
    assert sum(type(each) is mqsel.Matcher for each in gc.get_objects()) < 2000


FAULTY = {
    "a =": (SelectorSyntaxError, "MQRC_SELECTOR_SYNTAX_ERROR", 2459),
    "a = = 1": (SelectorSyntaxError, "MQRC_SELECTOR_SYNTAX_ERROR", 2459),
    "usr.JMSx = 1": (SelectorSyntaxError, "MQRC_SELECTOR_SYNTAX_ERROR", 2459),
    "a BETWEEN 'x' AND 2": (SelectorTypeError, "MQRC_SELECTOR_SYNTAX_ERROR", 2459),
    "(" * 20_000 + "a": (SelectorLimitError, "MQRC_SELECTION_STRING_ERROR", 2519),
    "1 = 2": (SelectorAlwaysFalseError, "MQRC_SELECTOR_ALWAYS_FALSE", 2504),
}


@pytest.mark.parametrize("text", FAULTY, ids=lambda text: text[:12])
def test_faulty_selectors(text: str) -> None:
    """The reason of a syntax error is 2459 for a queue and 2551 for a subscription; other reasons stay as they are."""
    kind, name, number = FAULTY[text]
    for for_subscription in (False, True, False):
        with pytest.raises(kind) as caught:
            mqsel.compile(text, for_subscription=for_subscription)
        wanted = MQRC.MQRC_SELECTION_NOT_AVAILABLE if for_subscription and number == 2459 else MQRC[name]

        assert caught.value.reason is wanted
        assert int(wanted) in (number, 2551)
        assert str(wanted) in str(caught.value)
        assert caught.value.selector == text
        assert 0 <= caught.value.span[0] <= caught.value.span[1] <= len(text)


def test_a_subscription_gets_the_same_matcher() -> None:
    """`for_subscription` changes the reason of a faulty text and nothing else."""
    assert mqsel.compile(W2, for_subscription=True) is mqsel.compile(W2)


# ---- what it tells of itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", SCHEMAS, ids=shown)
@pytest.mark.parametrize("dialect", DIALECTS, ids=shown)
def test_repr_rebuilds_the_matcher(dialect: mqsel.Dialect, schema: Any) -> None:
    """Invariant: eval(repr(matcher)) == matcher, for every dialect and schema."""
    for text in SELECTORS:
        matcher = mqsel.compile(text, dialect=dialect, schema=schema)
        twin = eval(repr(matcher), {"mqsel": mqsel})

        assert twin == matcher
        assert hash(twin) == hash(matcher)
        assert (twin.selector, twin.dialect, twin.schema) == (matcher.selector, matcher.dialect, matcher.schema)


def test_repr_is_short_where_nothing_is_special() -> None:
    """What is the default is not written."""
    assert repr(mqsel.compile("a = 'x'")) == "mqsel.compile(\"a = 'x'\")"
    assert repr(mqsel.compile("a", dialect=JMS, schema=["a"])) == "mqsel.compile('a', dialect=mqsel.JMS, schema=('a',))"


def test_equality_is_that_of_selector_dialect_and_schema() -> None:
    """Equal matchers hash equal; each of the three makes a difference, `optimize` does not."""
    made = [
        mqsel.compile(text, dialect=dialect, schema=schema)
        for text in ("a = 1", "a  = 1", "b = 1")
        for dialect in DIALECTS
        for schema in (None, ("a",), ("a", "b"), (("a", "int8"),))
    ]

    assert len(set(made)) == len(made)
    assert [one == other for one in made for other in made] == [one is other for one in made for other in made]
    for matcher in made:
        plain = mqsel.compile(matcher.selector, dialect=matcher.dialect, schema=matcher.schema, optimize=False)
        assert plain == matcher
        assert hash(plain) == hash(matcher)
    assert made[0] != "a = 1"
    assert made[0] != ("a = 1", mqsel.IBM_MQ, None)
    assert made[0].__eq__("a = 1") is NotImplemented


@pytest.mark.parametrize("name", ["program", "schema", "selector", "dialect", "properties", "constant", "extra"])
def test_a_matcher_is_immutable(name: str) -> None:
    """It is shared, through the cache and among threads: nobody may change it under the others."""
    matcher = mqsel.compile("immutable = 1")
    with pytest.raises(AttributeError):
        setattr(matcher, name, None)

    assert mqsel.compile("immutable = 1").schema is None


def test_attributes() -> None:
    """Text, dialect, schema, program and the properties in order of first reading, by their canonical names."""
    matcher = mqsel.compile("usr.b = 1 AND a > b OR shop.c LIKE 'x%' OR Root.MQMD.Priority < a", schema=["a"])

    assert matcher.selector == "usr.b = 1 AND a > b OR shop.c LIKE 'x%' OR Root.MQMD.Priority < a"
    assert matcher.dialect is mqsel.IBM_MQ
    assert matcher.schema == (("a",), (None,))
    assert isinstance(matcher.program, program.Program)
    assert matcher.properties == ("b", "a", "shop.c", "Root.MQMD.Priority")
    assert matcher.constant is None
    assert matcher.match_option is None
    assert mqsel.compile("TRUE").properties == ()


@pytest.mark.parametrize(
    ("text", "dialect", "constant"),
    [
        ("", mqsel.IBM_MQ, Truth.TRUE),
        (" \n ", mqsel.IBM_MQ, Truth.TRUE),
        ("1 = 1", mqsel.IBM_MQ, Truth.TRUE),
        ("TRUE OR 1 / 0 = 1", mqsel.IBM_MQ, Truth.TRUE),
        ("1 = 2", JMS, Truth.FALSE),
        ("NOT TRUE", mqsel.IBM_JMS, Truth.FALSE),
        ("1 / 0 = 1", JMS, Truth.ERR),
        ("a = 1 AND FALSE", mqsel.IBM_MQ, None),
        ("a = a", mqsel.IBM_MQ, None),
    ],
)
def test_constants(text: str, dialect: mqsel.Dialect, constant: Truth | None) -> None:
    """A selector that reads no property is decided: TRUE matches everything, all else nothing; `evaluate` hides ERR."""
    matcher = mqsel.compile(text, dialect=dialect)
    assert matcher.constant is constant
    assert pickle.loads(pickle.dumps(matcher)).constant is constant
    if constant is not None:
        assert matcher.matches({}) is (constant is Truth.TRUE)
        assert list(matcher.filter([{}, {"a": 1}])) == ([{}, {"a": 1}] if constant is Truth.TRUE else [])
        assert matcher.evaluate({}) is (Truth.TRUE if constant is Truth.TRUE else Truth.FALSE)


HEX = "414D5120514D31202020202020202020A1B2c3d4E5f60718"
OPTIONS = {"JMSMessageID": "MQMO_MATCH_MSG_ID", "JMSCorrelationID": "MQMO_MATCH_CORREL_ID"}


@pytest.mark.parametrize("dialect", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("name", OPTIONS)
def test_match_option(name: str, dialect: mqsel.Dialect) -> None:
    """Language §8: alone, the name on the left, no parentheses, hex in any case: the option and the 24 bytes."""
    wanted = (OPTIONS[name], bytes.fromhex(HEX))
    for digits in (HEX, HEX.upper(), HEX.lower()):
        for text in ("{} = 'ID:{}'", " {}='ID:{}' ", "\n{}\t=\r\n'ID:{}'\f"):
            matcher = mqsel.compile(text.format(name, digits), dialect=dialect)
            assert matcher.match_option == wanted, matcher
            assert pickle.loads(pickle.dumps(matcher)).match_option == wanted
            assert matcher.properties == (name,)


@pytest.mark.parametrize(
    "text",
    [
        f"JMSMessageID <> 'ID:{HEX}'",
        f"'ID:{HEX}' = JMSMessageID",
        f"(JMSMessageID = 'ID:{HEX}')",
        f"(JMSMessageID) = 'ID:{HEX}'",
        f"JMSMessageID = ('ID:{HEX}')",
        f"(JMSMessageID) = ('ID:{HEX}')",
        f"NOT (JMSMessageID = 'ID:{HEX}')",
        f"JMSMessageID = 'ID:{HEX}' AND a = 1",
        f"JMSMessageID = 'ID:{HEX}' OR JMSMessageID = 'ID:{HEX}'",
        f"JMSMessageID = 'ID:{HEX[:-1]}'",
        f"JMSMessageID = 'ID:{HEX[:-2]}'",
        f"JMSMessageID = 'ID:{HEX}0'",
        f"JMSMessageID = 'ID:{HEX}00'",
        f"JMSMessageID = 'ID:{HEX[:-1]}g'",
        f"JMSMessageID = 'ID:{HEX[:-1]}٠'",
        f"JMSMessageID = 'ID:{HEX}\n'",
        f"JMSMessageID = ' ID:{HEX}'",
        f"JMSMessageID = 'id:{HEX}'",
        f"JMSMessageID = '{HEX}'",
        "JMSMessageID = 'ID:'",
        f"JMSMessageID IN ('ID:{HEX}')",
        f"JMSMessageID LIKE 'ID:{HEX}'",
        f"JMSType = 'ID:{HEX}'",
        f"jmsMessageID = 'ID:{HEX}'",
        f"'ID:{HEX}' = 'ID:{HEX}'",
        "JMSMessageID = JMSCorrelationID",
        "",
    ],
)
def test_no_match_option(text: str) -> None:
    """Every other selector is run, and is what its text says."""
    assert mqsel.compile(text).match_option is None


def test_an_identifier_is_matched_as_text() -> None:
    """The selector itself stays a comparison of strings."""
    matcher = mqsel.compile(f"JMSMessageID = 'ID:{HEX}'")

    assert matcher.matches({"JMSMessageID": f"ID:{HEX}"})
    assert not matcher.matches({"JMSMessageID": f"ID:{HEX}0"})
    assert matcher.evaluate({}) is Truth.UNKNOWN


@pytest.mark.parametrize("dialect", [PRESETS["TIBCO_EMS"], JMS], ids=["TIBCO_EMS", "JMS"])
def test_24_zero_bytes_are_a_text_elsewhere(dialect: mqsel.Dialect) -> None:
    """Language §8: only IBM's pages have identifiers that match every message."""
    text = f"JMSMessageID = 'ID:{'0' * 48}'"
    matcher = mqsel.compile(text, dialect=dialect)

    assert matcher.match_option is None
    assert [matcher.matches(one) for one in ({}, {"JMSMessageID": "ID:1"}, {"JMSMessageID": text[-52:-1]})] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("dialect", [one for one in PRESETS.values() if one.zero_identifier == "any"])
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("name", OPTIONS)
def test_24_zero_bytes_match_every_message(name: str, optimize: bool, dialect: mqsel.Dialect) -> None:
    """Language §8, MQMI_NONE and MQCI_NONE: whatever the header holds, and where it is missing."""
    messages = [{}, {name: None}, {name: "ID:" + "0" * 48}, {name: f"ID:{HEX}"}, {name: 5}, {name: ""}]
    for text in (f"{name} = 'ID:{'0' * 48}'", f"{name}='ID:{'0' * 48}' "):
        matcher = mqsel.compile(text, dialect=dialect, optimize=optimize)
        for one in (matcher, pickle.loads(pickle.dumps(matcher))):
            assert one.match_option == (OPTIONS[name], bytes(24))
            assert list(one.filter(messages)) == messages
            assert {one.evaluate(message) for message in messages} == {Truth.TRUE}
            assert {one.explain(message).truth for message in messages} == {Truth.TRUE}
    ordinary = mqsel.compile(f"NOT ({name} = 'ID:{'0' * 48}')", dialect=dialect, optimize=optimize)
    assert ordinary.matches({name: f"ID:{HEX}"})
    assert not ordinary.matches({})


def test_truth() -> None:
    """`evaluate` gives a Truth whose own truthiness is "is TRUE": UNKNOWN, which is 2, selects nothing."""
    matcher = mqsel.compile("a = 1", dialect=JMS)
    answers = [matcher.evaluate(message) for message in ({"a": 1}, {"a": 2}, {})]

    assert answers == [Truth.TRUE, Truth.FALSE, Truth.UNKNOWN]
    assert [type(answer) for answer in answers] == [Truth] * 3
    assert [bool(answer) for answer in (*answers, Truth.ERR)] == [True, False, False, False]
    assert [str(answer) for answer in answers] == ["TRUE", "FALSE", "UNKNOWN"]
    assert repr(answers[2]) == "Truth.UNKNOWN"
    assert all(answer is pickle.loads(pickle.dumps(answer)) is copy.deepcopy(answer) for answer in Truth)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a / 0 = 1", {"a": 1}), ("missing + 1 > 0 OR TRUE", {}), ("NOT (a / 0 = 1)", {"a": 1}), ("-missing = 1", {})],
)
def test_err_is_reported_as_false(text: str, message: dict[str, Any]) -> None:
    """`evaluate` and `explain(…).selected` take ERR, "the complete selector is false", for FALSE, NOT or no NOT."""
    matcher = mqsel.compile(text)

    assert matcher.evaluate(message) is Truth.FALSE
    assert matcher.matches(message) is False
    assert matcher.explain(message).truth is Truth.ERR
    assert matcher.explain(message).selected is False


def test_matches_gives_a_bool() -> None:
    """Exactly True or False."""
    matcher = mqsel.compile("a = 1")

    assert [matcher.matches(message) for message in ({"a": 1}, {"a": 2}, {})] == [True, False, False]
    assert {type(matcher.matches(message)) for message in ({"a": 1}, {})} == {bool}


# ---- travelling ------------------------------------------------------------------------------------------------------


def _cases(count: int, seed: str) -> Iterator[tuple[mqsel.Matcher, dict[str, Any]]]:
    rng = random.Random(seed)
    for name, dialect in PRESETS.items():
        for _ in range(count):
            text, properties = strategies.random_case(rng, name)
            yield mqsel.compile(text, dialect=dialect), strategies.to_message(properties)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickled_matchers_are_the_same(protocol: int) -> None:
    """Invariant: a matcher comes back equal, with the same program, and gives the same answers."""
    for matcher, message in _cases(50, f"pickle {protocol}"):
        twin = pickle.loads(pickle.dumps(matcher, protocol))

        assert twin == matcher
        assert twin.program.to_bytes() == matcher.program.to_bytes()
        assert (repr(twin), hash(twin)) == (repr(matcher), hash(matcher))
        assert twin.evaluate(message) is matcher.evaluate(message)
        assert twin.matches(message) is matcher.matches(message)
        assert str(twin.explain(message)) == str(matcher.explain(message))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("schema", SCHEMAS, ids=shown)
def test_pickles_keep_schema_and_dialect(schema: Any, protocol: int) -> None:
    """Also a varied dialect, an empty schema and declared types."""
    for dialect, text in itertools.product(DIALECTS, SELECTORS):
        matcher = mqsel.compile(text, dialect=dialect, schema=schema)
        twin = pickle.loads(pickle.dumps(matcher, protocol))

        assert (twin, twin.schema, twin.dialect) == (matcher, matcher.schema, matcher.dialect)


def test_every_dialect_survives() -> None:
    """Every value of every field of a dialect arrives, and the largest length."""
    for field, choices in CHOICES.items():
        for choice in choices:
            dialect = JMS.replace(**{field: choice}, max_length=(1 << 32) - 1)
            assert pickle.loads(pickle.dumps(mqsel.compile("a", dialect=dialect))).dialect == dialect


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles_are_small(protocol: int) -> None:
    """The matcher of the seed's selector takes at most 400 bytes, with the class it needs and nothing of Python's."""
    data = pickle.dumps(mqsel.compile(W2), protocol)

    assert len(data) <= 400
    assert b"mqsel.matcher" in data


def test_cloudpickle() -> None:
    """What Spark uses: the matcher, its bound methods, partials of them and closures over it."""
    cloudpickle = pytest.importorskip("cloudpickle")
    matcher = mqsel.compile(W2)
    messages = [{"JMSType": "car", "color": color, "weight": 3000} for color in ("blue", "red", "blue")]
    messages.insert(1, {"JMSType": "car", "color": "blue", "weight": []})
    wanted = [messages[0], messages[3]]
    skipping = functools.partial(matcher.filter, errors="skip")

    assert len(cloudpickle.dumps(matcher)) <= 400
    assert pickle.loads(cloudpickle.dumps(matcher)) == matcher
    assert list(pickle.loads(cloudpickle.dumps(skipping))(messages)) == wanted
    assert (
        list(pickle.loads(cloudpickle.dumps(lambda stream: matcher.filter(stream, errors="skip")))(messages)) == wanted
    )
    assert list(pickle.loads(cloudpickle.dumps(matcher.filter))(wanted)) == wanted


def test_loading_never_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An executor reads and verifies a program: it neither scans, parses, checks, optimizes nor lowers."""
    matchers = [matcher for matcher, _ in _cases(5, "never")] + [
        mqsel.compile(W2, schema=("weight", "color", "JMSType"))
    ]
    message = {"JMSType": "car", "color": "blue", "weight": 3000}
    data = pickle.dumps(matchers)
    answers = [matcher.evaluate(message) for matcher in matchers]

    def never(*_: object, **__: object) -> None:
        raise AssertionError("an executor must not do this")

    for module, name in [
        ("matcher", "read_selector"),
        ("matcher", "optimized"),
        ("matcher", "lower"),
        ("matcher", "_compile"),
        ("language.parser", "parse"),
        ("language.parser", "scan"),
        ("language.lexer", "scan"),
        ("language.checker", "check"),
        ("language.optimizer", "optimize"),
        ("machine.compiler", "lower"),
        ("language.selector", "parse_in_order"),
        ("language.selector", "check"),
    ]:
        monkeypatch.setattr(f"mqsel.{module}.{name}", never)
    twins = pickle.loads(data)

    assert twins == matchers
    assert [hash(twin) for twin in twins] == [hash(matcher) for matcher in matchers]
    assert [twin.evaluate(message) for twin in twins] == answers
    assert [twin.properties for twin in twins] == [matcher.properties for matcher in matchers]
    assert list(twins[-1].filter([message, (3000, "blue", "car")])) == [message, (3000, "blue", "car")]
    assert repr(twins) == repr(matchers)
    assert pickle.dumps(twins) == data
    with pytest.raises(AssertionError):
        mqsel.compile("the trap = 'works'")


def test_copies() -> None:
    """`copy` and `deepcopy` give an equal matcher that works, alone and inside other objects."""
    matcher = mqsel.compile(W2, schema=("JMSType", "color", "weight"))
    for twin in (copy.copy(matcher), copy.deepcopy(matcher), copy.deepcopy({"m": [matcher]})["m"][0]):
        assert twin == matcher
        assert twin.matches(("car", "blue", 3000))


def _flipped(data: bytes) -> Iterator[bytes]:
    rng = random.Random("flipped")
    for place in range(len(data)):
        for bit in rng.sample(range(8), 3):
            yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
    for length in range(len(data)):
        yield data[:length]
        yield data[length + 1 :]
    yield data + b"\0"
    yield data * 2


def _reload(matcher: mqsel.Matcher) -> tuple[Any, tuple[Any, ...]]:
    load, arguments = matcher.__reduce__()[:2]
    assert isinstance(arguments, tuple)
    return load, arguments


def test_damaged_programs_are_refused() -> None:
    """Any damage to the program of a pickled matcher is a ProgramError, never another exception or meaning."""
    load, (data,) = _reload(mqsel.compile("a = 'x' AND (b > 1.5 OR c LIKE 'y%z' OR d IN ('p', 'q'))"))
    for damaged in _flipped(data):
        with pytest.raises(ProgramError):
            load(damaged)
    for other in (None, 5, "text", [1, 2], object()):
        with pytest.raises(ProgramError):
            load(other)


def test_damaged_pickles_are_refused() -> None:
    """Damage anywhere in a pickle gives an exception or an equal matcher; the process lives."""
    matcher = mqsel.compile(W2, schema=("JMSType", "color", "weight"))
    for damaged in _flipped(pickle.dumps(matcher)):
        try:
            twin = pickle.loads(damaged)
        except Exception:  # noqa: BLE001 (pickle itself raises many)
            continue
        if isinstance(twin, mqsel.Matcher):
            assert twin.program == matcher.program


@pytest.mark.parametrize(
    "schema",
    [
        ("a",),
        (("a",),),
        (("a",), ()),
        (("a",), (None, None)),
        ("a", "b"),
        (("a", "a"), (None, None)),
        (("a",), ("int9",)),
    ],
    ids=shown,
)
def test_a_damaged_schema_is_refused(schema: tuple[Any, ...]) -> None:
    """What stands beside the program is checked too, with an error of ours."""
    load, (data,) = _reload(mqsel.compile("a = 1"))
    with pytest.raises((ProgramError, ArgumentError)):
        load(data, *schema)


def _of_another_version(data: bytes, format_version: int, version: str) -> bytes:
    # "MQSL", the format's number, the length and letters of the version; the checksum is for whoever gets that far.
    assert data[5] == len(VERSION)
    return data[:4] + bytes([format_version, len(version)]) + version.encode() + data[6 + len(VERSION) :]


@pytest.mark.parametrize("format_version", [FORMAT_VERSION + 1, 0, 255])
def test_another_format_is_one_error_that_names_both_versions(format_version: int) -> None:
    """A matcher written by an incompatible mqsel: what wrote it, what this is, and what to do."""
    load, (data,) = _reload(mqsel.compile(W2))
    with pytest.raises(ProgramError) as caught:
        load(_of_another_version(data, format_version, "9.8.7"))
    first = str(caught.value).splitlines()[0]

    assert all(
        part in first for part in ("'9.8.7'", f"format {format_version}", f"'{VERSION}'", f"format {FORMAT_VERSION}")
    )
    assert caught.value.hint
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_future_format_may_change_all_but_its_head() -> None:
    """Only magic, format and version are read of a program in another format; what follows may be anything."""
    load, (data,) = _reload(mqsel.compile(W2))
    for rest in (b"", b"\xff" * 100, data):
        with pytest.raises(ProgramError, match=r"9\.8\.7"):
            load(_of_another_version(data, FORMAT_VERSION + 1, "9.8.7")[:11] + rest)


def test_the_version_alone_makes_no_difference() -> None:
    """A program of another release in the same format is read: the format decides."""
    assert mqsel.__version__ == VERSION
    assert mqsel.compile(W2).program.to_bytes()[4] == FORMAT_VERSION


def test_spawned_processes_give_the_same_answers() -> None:
    """A pool of fresh interpreters, to which matchers, messages and answers travel by pickle."""
    matcher = mqsel.compile("color = 'red' AND weight > 5 OR weight IS NULL")
    messages = [{"color": color, "weight": weight} for color in ("red", "blue") for weight in (None, Int8(5), 6, 6.5)]
    records = [mqsel.Record([("color", "string"), "weight"], message) for message in messages]
    wanted = [matcher.evaluate(message) for message in messages]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(matcher.evaluate, messages) == wanted
        assert pool.map(matcher.evaluate, records) == wanted
        assert pool.map(matcher.matches, messages) == [answer is Truth.TRUE for answer in wanted]
        assert pool.apply(pickle.loads, (pickle.dumps(matcher),)) == matcher
        with pytest.raises(PropertyTypeError) as caught:
            pool.apply(matcher.matches, ({"color": "red", "weight": [1]},))
        assert (caught.value.name, caught.value.value_type) == ("weight", "list")


# ---- threads ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def _impatient() -> Iterator[None]:
    """Let threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_impatient")
def test_eight_threads_share_a_matcher() -> None:
    """Invariant: one matcher used by eight threads, on all kinds of messages, gives what it gives to one."""
    matcher = mqsel.compile("a = 'x' AND b > 1 AND c LIKE '%z' OR b + d > 10", schema=("a", "b", "c", "d"))
    rng = random.Random("threads")
    messages: list[Any] = []
    for _ in range(400):
        values = rng.choice("xy"), Int32(rng.randrange(9)), rng.choice(("z", "yz", "q")), Float32(rng.random() * 9)
        message = dict(zip("abcd", values, strict=True))
        messages += [message, values, list(values), UserDict(message), mqsel.Record(["d", "c", "b", "a"], message)]
    wanted = [matcher.matches(message) for message in messages]

    def work(number: int) -> bool:
        order = list(range(len(messages)))
        random.Random(number).shuffle(order)
        one = all(matcher.matches(messages[place]) is wanted[place] for place in order)
        streamed = [id(message) for message in matcher.filter(messages[place] for place in order)]
        return one and streamed == [id(messages[place]) for place in order if wanted[place]]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == [True] * 24


@pytest.mark.usefixtures("_impatient")
def test_eight_threads_read_rows_of_many_layouts() -> None:
    """Rows carry their own layout: a thread never reads its row by the layout of another's."""
    numpy = pytest.importorskip("numpy")
    matcher = mqsel.compile("a = 1 AND b = 2 AND c = 3")
    orders = list(itertools.permutations(("a", "b", "c", "d")))
    rows = []
    for names in orders:
        kind = type("Row", (tuple,), {"_fields": names})
        # A numpy scalar is made into a wrapper by Python code: threads change places in the middle of a row.
        rows.append(kind(numpy.int32("abcd".index(name) + 1) for name in names))

    def work(number: int) -> bool:
        return all(matcher.matches(rows[(number * 5 + turn * 7) % len(rows)]) for turn in range(2000))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [True] * 8


@pytest.mark.usefixtures("_impatient")
def test_a_stream_shared_by_threads_is_refused() -> None:
    """Two threads in one stream: the second gets an ArgumentError, the first goes on undisturbed."""
    inside, leave = threading.Event(), threading.Event()

    def source() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        inside.set()
        assert leave.wait(30)
        yield {"a": 2}
        yield {"a": 1}

    stream = mqsel.compile("a = 1").filter(source())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(list, stream)
        assert inside.wait(30)
        for _ in range(3):
            with pytest.raises(ArgumentError, match="already being read"):
                next(stream)
        leave.set()

        assert first.result(30) == [{"a": 1}, {"a": 1}]
    assert (stream.seen, stream.selected) == (3, 2)


@pytest.mark.usefixtures("_impatient")
def test_many_threads_in_one_stream_do_no_harm() -> None:
    """Whoever gets through gets a message of the stream, each at most once; the others get an ArgumentError."""
    messages = [{"a": 1, "number": number} for number in range(5000)]
    stream = mqsel.compile("a = 1").filter(message for message in messages)

    def work(_: int) -> list[int]:
        found = []
        while True:
            try:
                found.append(next(stream)["number"])
            except ArgumentError:
                continue
            except StopIteration:
                return found

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = [number for part in pool.map(work, range(8)) for number in part]

    assert sorted(found) == list(range(5000))


# ---- filter ----------------------------------------------------------------------------------------------------------


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


# ---- explain ---------------------------------------------------------------------------------------------------------


def _folded(node: nodes.Node, parts: Iterator[Part], depth: int = 0) -> Truth | None:
    """Return the truth of a part, after checking that it follows from the parts below by the tables of language §1."""
    part = next(parts)
    assert part.depth == depth
    if isinstance(node, nodes.Not):
        below = _folded(node.operand, parts, depth + 1)
        assert part.truth is (None if below is None else Truth(NOT[below]))
    elif isinstance(node, (nodes.And, nodes.Or)):
        table, decisive = (AND, Truth.FALSE) if isinstance(node, nodes.And) else (OR, Truth.TRUE)
        total: Truth | None = None
        reached = part.truth is not None
        for operand in node.operands:
            below = _folded(operand, parts, depth + 1)
            assert (below is not None) == reached, "a part is evaluated until a part before it decides"
            if below is not None:
                total = below if total is None else Truth(table[total][below])
                reached = below not in (decisive, Truth.ERR)
        assert part.truth is total
    return part.truth


@pytest.mark.parametrize("name", PRESETS)
def test_explanations_tell_the_truth(name: str) -> None:
    """Invariant: explanation.truth = the machine's; every connective follows from its parts; parts cover the text."""
    rng = random.Random(f"explain {name}")
    for _ in range(250):
        text, properties = strategies.random_case(rng, name)
        message = strategies.to_message(properties)
        for dialect in (PRESETS[name], PRESETS[name].replace(type_mismatch="selector", null_arithmetic="unknown")):
            matcher = mqsel.compile(text, dialect=dialect)
            explanation = matcher.explain(message)
            parts = iter(explanation.parts)

            assert explanation.truth is Truth(_vm.Machine(matcher.program).truth(message)), (text, properties)
            assert explanation.selected is matcher.matches(message)
            assert _folded(parse(text, dialect), parts) is explanation.truth, (text, properties)
            assert list(parts) == []
            assert tuple(explanation.properties) == matcher.properties
            assert all(part.text == text[slice(*part.span)] for part in explanation.parts)
            assert str(explanation).startswith(str(explanation.truth))


def _reasons(text: str, message: Any, **options: Any) -> dict[str, tuple[Truth | None, str]]:
    explanation = mqsel.compile(text, **options).explain(message)
    return {part.text: (part.truth, part.reason) for part in explanation.parts}


def test_explain_shows_values_and_types() -> None:
    """Each test says what it read, with the type that decides."""
    message = {"s": "red", "i": 5, "n": Int8(5), "f": 2.5, "g": Float32(0.5), "b": True, "x": b"\x2f\x1c"}
    text = "s = 'red' AND i = 5 AND n = 5 AND f = 2.5 AND g = 0.5 AND b AND x = \"0x2F1C\" AND m IS NULL"
    reasons = _reasons(text, message)

    assert {truth for truth, _ in reasons.values()} == {Truth.TRUE}
    shown = {part: reason for part, (_, reason) in reasons.items()}
    assert "'red'" in shown["s = 'red'"]
    assert "int64 5" in shown["i = 5"]
    assert "int8 5" in shown["n = 5"]
    assert "float64 2.5" in shown["f = 2.5"]
    assert "float32 0.5" in shown["g = 0.5"]
    assert "TRUE" in shown["b"]
    assert "0x2F1C" in shown['x = "0x2F1C"']
    assert "m is missing" in shown["m IS NULL"]
    assert shown[text] == ""


def test_explain_gives_reasons() -> None:
    """Missing properties, types that differ, division by zero and NULL arithmetic are named as such."""
    assert _reasons("a = 1", {})["a = 1"] == (Truth.UNKNOWN, "a is missing")
    truth, reason = _reasons("a = 1", {"a": "1"})["a = 1"]
    assert (truth, "types differ" in reason, "'1'" in reason) == (Truth.FALSE, True, True)
    truth, reason = _reasons("a = 1", {"a": "1"}, dialect=mqsel.IBM_JMS)["a = 1"]
    assert (truth, "types differ: the complete selector is false" in reason) == (Truth.ERR, True)
    truth, reason = _reasons("1 / a = 1", {"a": 0})["1 / a = 1"]
    assert (truth, "divided by zero" in reason) == (Truth.ERR, True)
    truth, reason = _reasons("a + 1 = 1", {})["a + 1 = 1"]
    assert (truth, "arithmetic on a missing property" in reason) == (Truth.ERR, True)
    truth, reason = _reasons("a + 1 = 1", {}, dialect=JMS)["a + 1 = 1"]
    assert (truth, reason) == (Truth.UNKNOWN, "a is missing")
    assert "differ" not in _reasons("a = 1", {"a": 2})["a = 1"][1]
    assert "zero" not in _reasons("a / 0 = 1", {"a": 2.5}, dialect=JMS)["a / 0 = 1"][1]


def test_explain_says_what_was_not_evaluated() -> None:
    """A part hidden by what stands before it has no truth."""
    reasons = _reasons("a = 1 AND (b = 2 OR 1 / c = 1)", {"a": 0, "b": 2, "c": 0})
    assert reasons["b = 2"] == (None, "")
    assert reasons["1 / c = 1"] == (None, "")
    reasons = _reasons("a = 1 AND (b = 2 OR 1 / c = 1)", {"a": 1, "b": 2, "c": 0})
    assert (reasons["b = 2"][0], reasons["1 / c = 1"]) == (Truth.TRUE, (None, ""))
    assert "not evaluated" in str(mqsel.compile("a = 1 AND b = 2").explain({"a": 0}))


def test_explain_knows_a_mismatch_that_was_not_evaluated() -> None:
    """Types that differ are told behind what decides, too; a value that does not fit otherwise, and NULL, are not."""
    said = _reasons("a = 1 AND b > 2 AND c = 'x' AND d = 5 AND e = 1", {"a": 0, "b": "3", "c": "y", "e": 0})
    assert said["b > 2"] == (None, "b is the string '3'; types differ")
    assert [said[test] for test in ("c = 'x'", "d = 5", "e = 1")] == [(None, "")] * 3
    assert _reasons("a = 0 OR b > 2", {"a": 0, "b": True})["b > 2"] == (None, "b is TRUE; types differ")


def test_explain_says_that_zeros_match_any_message() -> None:
    """Language §8: MQMI_NONE and MQCI_NONE match every message; any other identifier does not."""
    zeros, other = "0" * 48, "0" * 47 + "1"
    text = f"JMSMessageID = 'ID:{zeros}'"
    said = _reasons(text, {"JMSMessageID": "ID:1"})
    assert said[text] == (Truth.TRUE, "JMSMessageID is the string 'ID:1'; an identifier of zeros matches any message")
    assert "any message" not in str(mqsel.compile(f"JMSMessageID = 'ID:{other}'").explain({"JMSMessageID": "ID:1"}))


def test_explain_cuts_a_string_with_its_closing_apostrophe() -> None:
    """A part that has no room keeps the apostrophe that closes its string, and what ends behind one gets none."""
    shown = mqsel.compile(f"a = '{'x' * 100}' AND b = 1").explain({"a": 1, "b": 1}).text(60)
    assert [line for line in shown.splitlines() if "…" in line and "…'" not in line] == []
    assert cut_piece("a = 'bcd' AND e", 10) == "a = 'bcd'…"
    assert [cut_piece("a = 'bcd'", width) for width in (9, 8, 6)] == ["a = 'bcd'", "a = 'b…'", "a = …"]


def test_explain_of_every_kind_of_message() -> None:
    """A sequence and a Record are explained like the mapping they stand for; `usr.x` by its one name."""
    matcher = mqsel.compile("usr.x = 5 AND y LIKE 'a%'", schema=("y", "x"))
    wanted = matcher.explain({"x": 5, "y": "abc"})

    assert wanted.selected
    for message in (("abc", 5), ["abc", 5], mqsel.Record(["usr.x", "y"], [5, "abc"]), {"usr.x": 5, "y": "abc"}):
        assert matcher.explain(message) == wanted
    assert wanted.properties == {"x": ("int64", 5), "y": ("string", "abc")}


def test_explain_of_a_long_selector() -> None:
    """Neither 2,000 terms nor deep nesting make it slow or recursive."""
    flat = mqsel.compile(" OR ".join(f"a = {number}" for number in range(2000)), dialect=JMS).explain({"a": 1999})
    deep = mqsel.compile("NOT (" * 60 + "a = 1" + ")" * 60).explain({"a": 1})

    assert (flat.truth, len(flat.parts), deep.truth) == (Truth.TRUE, 2001, Truth.TRUE)


def test_explanations_compare_and_print() -> None:
    """They are values: equal if all is equal, readable, one line a part."""
    matcher = mqsel.compile("a = 1 AND\n  b LIKE '%'")
    explanation = matcher.explain({"a": 1, "b": "x"})
    lines = str(explanation).splitlines()

    assert isinstance(explanation, Explanation)
    assert explanation == matcher.explain({"a": 1, "b": "x"})
    assert explanation != matcher.explain({"a": 1, "b": "y"})
    assert (len(lines), lines[0]) == (4, "TRUE: selected")
    assert math.isnan(mqsel.compile("a = 1").explain({"a": math.nan}).properties["a"][1])


def test_explain_of_wrong_values() -> None:
    """A property that is no property value is reported by name, as by `matches`."""
    with pytest.raises(PropertyTypeError, match="'a'"):
        mqsel.compile("a = 1").explain({"a": []})
    with pytest.raises(PropertyTypeError):
        mqsel.compile("a = 1").explain(None)  # type: ignore[arg-type]


def test_errors_are_ours() -> None:
    """Everything mqsel refuses is an MqselError, and what the standard library would raise in its place."""
    assert issubclass(PropertyTypeError, (MqselError, TypeError))
    assert issubclass(SelectorError, (MqselError, ValueError))
    assert issubclass(ProgramError, (MqselError, ValueError))
    assert issubclass(ArgumentError, MqselError)
    assert values.Truth is mqsel.Truth
