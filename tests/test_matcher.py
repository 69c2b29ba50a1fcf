"""Matchers: how they are compiled, and what they report of themselves."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import pytest
from conftest import shown
from matching import DIALECTS, JMS, SCHEMAS, SELECTORS, W2
from strategies import JMS_PRESETS

import mqsel
from mqsel.errors import (
    MQRC,
    ArgumentError,
    MqselError,
    SelectorAlwaysFalseError,
    SelectorLimitError,
    SelectorSyntaxError,
    SelectorTypeError,
)
from mqsel.language.dialect import PRESETS
from mqsel.language.parser import parse
from mqsel.machine import program
from mqsel.values import Truth


class Text(str):
    """A selector that is not exactly a str, nor gives one."""

    __slots__ = ()

    def __str__(self) -> Text:
        return self


# ---- compile ---------------------------------------------------------------------------------------------------------


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
    with pytest.raises(ArgumentError, match=r"no dialect 'sql': choose IBM_MQ, IBM_JMS, .*, AZURE_SERVICE_BUS$"):
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


@pytest.mark.parametrize("dialect", JMS_PRESETS.values(), ids=JMS_PRESETS)
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
