"""What parts two dialects is a message on which they differ, and a field that alone makes them do so."""

from __future__ import annotations

import random

import oracle
import pairs
import pytest
from strategies import JMS_PRESETS
from volumes import volume

import mqsel
from mqsel.analysis.compare.difference import difference
from mqsel.language.dialect import CHOICES, PRESETS
from mqsel.language.dialects import reading
from mqsel.language.selector import read_selector
from mqsel.values import CLASS_NAMES, Truth

TEXTS = volume(300, smoke=60)


def test_no_wrong_difference() -> None:
    """Invariant: the oracle gives the truths that are told, and where none differs is proved, none does.

    The fields that are named part the dialects, and no fewer of them.
    """
    rng = random.Random("difference")
    undecided = differing = 0
    for _ in range(TEXTS):
        names = pairs.NAMES[: rng.choice((1, 2, 2))]
        text = pairs.condition(rng, names, rng.choice((1, 2, 3)))
        a, b = rng.sample([*JMS_PRESETS], 2)
        said = difference(text, a, b)
        case = (text, a, b, said)
        matchers = [mqsel.compile(text, dialect=one) for one in (a, b)]
        if said:
            differing += 1
            typed = {name: (CLASS_NAMES[type(value)], value) for name, value in said.message.items()}
            for name, truth in zip((a, b), said.truths, strict=True):
                found = oracle.evaluate(read_selector(text, JMS_PRESETS[name]).node, typed, JMS_PRESETS[name])
                assert truth is Truth["FALSE" if found == "ERR" else found], case
            assert said.truths[0] is not said.truths[1], case
            for count in range(len(said.readings) + 1):
                changes = {one.field: one.choices[1] for one in said.readings[:count]}
                changed = mqsel.compile(text, dialect=JMS_PRESETS[a].replace(**changes))
                assert (changed.evaluate(said.message) is said.truths[1]) == (count == len(said.readings)), case
        elif said.is_proved:
            for message in pairs.messages(names):
                assert matchers[0].evaluate(message) is matchers[1].evaluate(message), (case, message)
        else:
            undecided += 1
        undecided += bool(said and said.reason)
        if said and Truth.TRUE not in said.truths and not said.reason:
            for message in pairs.messages(names):
                assert matchers[0].matches(message) == matchers[1].matches(message), (case, message)

    assert differing > TEXTS / 4
    assert undecided <= TEXTS * 0.02


@pytest.mark.parametrize(
    ("text", "a", "b", "message", "truths", "fields"),
    [
        ("NOT (weight > 5)", "IBM_MQ", "IBM_JMS", {"weight": "a"}, "TRUE FALSE", ["type_mismatch"]),
        ("a + 1 > 2 OR b = 1", "IBM_MQ", "JMS", {"b": 1}, "FALSE TRUE", ["null_arithmetic"]),
        ("a NOT BETWEEN 1 AND 5", "IBM_MQ", "TIBCO_EMS", {}, "TRUE UNKNOWN", ["between_null"]),
        ("x = 0177", "JMS", "TIBCO_EMS", {"x": 127}, "TRUE FALSE", ["hex_octal"]),
        ("a = 1", "IBM_MQ", "IBM_JAVA_CLIENT", {"a": "a"}, "FALSE UNKNOWN", ["type_mismatch"]),
        ("a NOT BETWEEN b AND 5", "IBM_JMS", "JMS", {}, "TRUE UNKNOWN", ["between_null"]),
        ("a + b + c + d + e > 1 OR f", "IBM_MQ", "JMS", {"f": True}, "FALSE TRUE", ["null_arithmetic"]),
    ],
)
def test_the_smallest_message(
    text: str, a: str, b: str, message: dict[str, object], truths: str, fields: list[str]
) -> None:
    """Nothing can be left out of the message, and a difference in what is selected goes first."""
    said = difference(text, a, b)

    assert said
    assert (said.message, " ".join(map(str, said.truths))) == (message, truths)
    assert [one.field for one in said.readings] == fields


@pytest.mark.parametrize(
    ("text", "a", "b", "field"),
    [
        ("a.b = 1", "IBM_MQ", "JMS", "identifier_dots"),
        ("x = 5F", "IBM_MQ", "JMS", "float_suffix_on_integer"),
        ("1 = 2", "IBM_MQ", "JMS", "constant_false"),
        ("JMSFoo = 1", "JMS", "TIBCO_EMS", "headers"),
        ('x = "0x2F1C"', "IBM_MQ", "JMS", "byte_strings"),
        (f"a = '{'x' * 10240}'", "IBM_MQ", "JMS", "max_length"),
        ("\U0001d4d0 = 1", "IBM_MQ", "JMS", "identifier_astral"),
    ],
)
def test_a_text_that_one_refuses(text: str, a: str, b: str, field: str) -> None:
    """That is the difference, with the error, whichever way round."""
    for one, other in ((a, b), (b, a)):
        said = difference(text, one, other)
        assert said and said.message is None
        assert (said.errors[0] is None) != (said.errors[1] is None)
        assert [reading.field for reading in said.readings] == [field]


def test_a_text_that_both_refuse() -> None:
    """That is no difference; both say why."""
    said = difference("a == 1", "IBM_MQ", "JMS")

    assert not said and said.is_proved
    assert all(isinstance(error, mqsel.SelectorSyntaxError) for error in said.errors)


def test_bad_input() -> None:
    """What is no text or no dialect is one error of ours."""
    for arguments in ((1, "JMS", "JMS"), ("a = 1", "XYZ", "JMS"), ("a = 1", "JMS", None)):
        with pytest.raises(mqsel.ArgumentError):
            difference(*arguments)


def test_every_choice_says_who_made_it() -> None:
    """Of each choice there is a meaning, and a preset or a document that chose it, with the document's title."""
    for field, choices in CHOICES.items():
        for choice in choices:
            assert all(reading(field, choice)), (field, choice)

    assert reading("max_length", 5)[0] == "maximum length of a selector in code points, or None"
    assert reading("max_length", 5)[1].startswith("IBM_MQ: MQ_SELECTOR_LENGTH; RABBITMQ: RabbitMQ 4.3")
    presets = ", ".join(name for name, dialect in PRESETS.items() if dialect.type_mismatch == "operation")
    assert reading("type_mismatch", "operation") == (
        "a comparison of different types (a type mismatch) is FALSE",
        (
            f'{presets} (IBM MQ 9.4, Selection behavior: "the expression in question"; TIBCO '
            "Enterprise Message Service, User Guide, Message Selectors; Jakarta Messaging 3.1 §3.8.1.3)"
        ),
    )
