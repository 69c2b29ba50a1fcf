"""What explain, lint and difference report of the dialects of brokers, in the words of their choices."""

from __future__ import annotations

import random
from typing import Any

import pytest
from products import selectors
from products.ours import PRESETS, as_message

import mqsel
from mqsel.analysis.lint import fixed
from mqsel.analysis.readings import UNDOCUMENTED, answer
from mqsel.language.format import formatted
from mqsel.language.nodes import unparse
from mqsel.language.products import PRODUCTS
from mqsel.language.selector import read_selector
from mqsel.machine._vm import Machine
from mqsel.values import Truth

BROKERS = [*PRODUCTS]
T, F, U, E = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN, Truth.ERR

NEXT = "in this dialect NOT applies only to the next operand: NOT a = b means (NOT a) = b"
RIGHT = "in this dialect a NULL on the right of = is equal only to NULL"
NULL = "in this dialect NULL is equal only to NULL"
DOUBLES = "in this dialect / and % use doubles, and division by zero is infinity or NaN"
OTHERWISE = "in JMS the test is FALSE"
FIRST = (
    "in this dialect AND is its first operand that isn't TRUE, and OR is its first operand that is TRUE; "
    "otherwise they are the last operand"
)
EAGER = "in this dialect AND and OR evaluate both sides, and are ERR if either side is ERR"
FAILS = "evaluating the test fails: the complete selector is false"

# A preset, a selector, a message, its truth and what the reason of the first part has in it.
EXPLAINED: list[tuple[str, str, dict[str, Any], Truth, str]] = [
    ("ARTEMIS", "NOT color = 'red'", {"color": "blue"}, F, NEXT),
    ("ACTIVEMQ", "NOT color = 'red'", {"color": "blue"}, F, NEXT),
    ("ROCKETMQ", "NOT color = 'red'", {"color": "blue"}, E, NEXT),
    ("ARTEMIS", "5 <> missing", {}, T, RIGHT),
    ("ARTEMIS", "5 = missing", {}, F, RIGHT),
    ("ROCKETMQ", "5 <> missing", {}, T, RIGHT),
    ("QPID_BROKER_J", "missing <> 5", {}, T, NULL),
    ("QPID_BROKER_J", "missing = other", {}, T, NULL),
    ("ARTEMIS", "n <> 5", {"n": "x"}, T, "in this dialect for different types, = is FALSE, <> is TRUE"),
    ("ARTEMIS", "n / 2 = 3.5", {"n": 7}, T, DOUBLES),
    ("ARTEMIS", "n IN ('a')", {"n": 5}, U, "in this dialect IN and NOT IN are UNKNOWN for a value that isn't a string"),
    ("ROCKETMQ", "n = 5", {"n": "5"}, T, OTHERWISE),
    ("ROCKETMQ", "n = 5", {"n": "x"}, E, f"{FAILS}; {OTHERWISE}"),
    ("RABBITMQ_JMS", "n > 5", {"n": "x"}, T, OTHERWISE),
    (
        "RABBITMQ_JMS",
        "n LIKE 'a%'",
        {"n": 5},
        E,
        "in this dialect LIKE and NOT LIKE are ERR for a value that isn't a str",
    ),
    ("RABBITMQ_JMS", "a = 1 OR n LIKE 'x'", {"a": 1, "n": 4}, E, EAGER),
    ("QPID_BROKER_J", "a > 1 AND b = 2", {"b": 3}, U, FIRST),
    ("QPID_BROKER_J", "a > 1 OR b > 2", {"b": 1}, F, FIRST),
]


@pytest.mark.parametrize(("preset", "text", "message", "truth", "reason"), EXPLAINED)
def test_explain_names_the_choice(preset: str, text: str, message: dict[str, Any], truth: Truth, reason: str) -> None:
    """The reason of a test has the words of the choice by which it is not what it is in JMS."""
    found = mqsel.compile(text, dialect=preset).explain(message)
    assert found.truth is truth
    assert reason in found.parts[0].reason


@pytest.mark.parametrize(
    ("preset", "text", "message", "reason"),
    [
        ("JMS", "NOT color = 'red'", {"color": "blue"}, ""),
        ("ARTEMIS", "NOT (color = 'red')", {"color": "blue"}, ""),
        ("ARTEMIS", "missing <> 5", {"missing": 4}, "missing is int64 4"),
        # A string is compared with the string alone and with its bytes: types differ only where both do.
        ("RABBITMQ", "color = 'red'", {"color": "blue"}, "color is the string 'blue'"),
        ("RABBITMQ", "color = 'red'", {"color": 5}, "color is int64 5; type mismatch: the test is FALSE"),
        ("RABBITMQ", "h.priority = 4", {}, "h.priority is missing, and so 4"),
        # What stands alone is no name with hyphens.
        ("ARTEMIS", "hyphenated_props:a-b = 1", {"a-b": 2}, "a-b is int64 2"),
    ],
)
def test_explain_names_no_choice_that_does_not_decide(
    preset: str, text: str, message: dict[str, Any], reason: str
) -> None:
    """A choice that changes nothing for the message is not named."""
    assert mqsel.compile(text, dialect=preset).explain(message).parts[0].reason == reason


def test_what_is_not_evaluated_follows_the_rule_of_the_dialect() -> None:
    """Where an UNKNOWN operand decides, the next one is not evaluated; where none decides, all are."""
    message = {"b": 3}
    reached = {
        preset: mqsel.compile("a > 1 AND b = 2", dialect=preset).explain(message).parts[2].truth
        for preset in ("JMS", "QPID_BROKER_J", "RABBITMQ_JMS")
    }
    assert reached == {"JMS": F, "QPID_BROKER_J": None, "RABBITMQ_JMS": F}
    eager = mqsel.compile("a = 2 AND b = 2", dialect="RABBITMQ_JMS").explain({"a": 1, "b": 3})
    assert eager.parts[2].truth is F


# A selector, two presets, a message that they treat differently, its truths, and the fields that decide.
DIFFERENT: list[tuple[str, str, str, dict[str, Any], tuple[Any, Any], list[str]]] = [
    ("missing <> 5", "JMS", "QPID_BROKER_J", {}, (U, T), ["null_equality"]),
    ("5 <> missing", "IBM_MQ", "ACTIVEMQ", {}, (U, T), ["null_equality"]),
    ("a = 1", "JMS", "AZURE_SERVICE_BUS", {"a": "a"}, (F, UNDOCUMENTED), ["type_mismatch"]),
    ("a <> 5", "AZURE_SERVICE_BUS", "ARTEMIS", {"a": "a"}, (UNDOCUMENTED, T), ["type_mismatch"]),
    ("a - b - 1 = 3", "JMS", "RABBITMQ_JMS", {"a": 1, "b": -3}, (T, F), ["arithmetic"]),
]


@pytest.mark.parametrize(("text", "a", "b", "message", "truths", "fields"), DIFFERENT)
def test_difference_names_the_fields(
    text: str, a: str, b: str, message: dict[str, Any], truths: tuple[Any, Any], fields: list[str]
) -> None:
    """The message is run by both, and the fields are those that make the difference."""
    found = mqsel.difference(text, a, b)
    assert (found.message, found.truths, [one.field for one in found.readings]) == (message, truths, fields)
    assert found
    assert not found.is_proved


def test_difference_names_where_not_binds() -> None:
    """The field is found though the other dialect refuses it beside its own checks of types."""
    found = mqsel.difference("NOT color = 'red'", "JMS", "ARTEMIS")
    assert found.truths == (T, F)
    assert [one.field for one in found.readings] == ["not_operand"]


def test_what_is_not_modelled_is_an_error_of_its_own() -> None:
    """A construct that the product has and mqsel does not is named."""
    for text, preset in (("REGEX('a', b)", "ACTIVEMQ"), ("newid() = 1", "AZURE_SERVICE_BUS")):
        found = mqsel.difference(text, preset, "JMS")
        assert (bool(found), found.is_proved, found.readings) == (False, False, ())
        assert "is not supported" in found.reason


@pytest.mark.parametrize("preset", ["AZURE_SERVICE_BUS"])
def test_what_is_undocumented_is_no_witness(preset: str) -> None:
    """Values without an answer are tried for no selector: the search goes on with others."""
    assert mqsel.satisfiable("a = 1 AND b", dialect=preset).message == {"a": 1, "b": True}
    assert mqsel.relation("a = 1", "a = 1", dialect=preset).relation == "equal"
    apart = mqsel.relation("a > 1 AND a < 1", "b = 2", dialect=preset)
    assert apart.relation == "not decided"
    assert apart.reason
    explained = mqsel.compile("a = 1 AND b = 2", dialect=preset).explain({"a": "x", "b": 2})
    assert explained.truth is mqsel.Truth.ERR
    assert explained.change == "there is no answer: what the product does with values of these types is undocumented"
    assert explained.parts[1].reason.endswith("type mismatch: what that yields is undocumented for this product")


FIXED = [
    "a = 1 AND b = 2 AND a = 1",
    "NOT (a > 3 AND a > 5 OR a > 3)",
    "(a <> 5 OR TRUE) AND b LIKE 'x'",
    "a > 0 AND a > 0.0 OR b IN ('x', 'x')",
    "NOT a = 1 AND (b = 'x' OR b = 'x')",
    "TRUE = 0.0 OR a = 5 OR a = 5",
]
VALUES: list[Any] = [None, 0, 1, 4, 6, -0.5, float("inf"), "x", "5", True, b"x"]


@pytest.mark.parametrize("preset", BROKERS)
@pytest.mark.parametrize("text", FIXED)
def test_fixes_change_no_answer(preset: str, text: str) -> None:
    """What --fix writes selects the same messages, also where AND and OR are not those of Kleene."""

    def answers(selector: str) -> list[Any]:
        matcher = mqsel.compile(selector, dialect=preset)
        return [answer(Machine(matcher.program), {"a": a, "b": b}) for a in VALUES for b in VALUES]

    if any(finding.code == "invalid" for finding in mqsel.lint(text, preset)):
        return
    assert answers(fixed(text, preset)) == answers(text)


def test_choices_of_several_products_together_yield_no_foreign_error() -> None:
    """What no product joins: the order of Erlang, beside arithmetic that has no number for a text."""
    dialect = mqsel.RABBITMQ_JMS.varied(arithmetic_mismatch="comparison")
    assert mqsel.compile("a + 1 <= a", dialect=dialect).evaluate({"a": "x"}) is F


def test_constants_without_an_answer_are_refused_or_left_alone() -> None:
    """A selector of constants alone that the documents do not decide is refused; beside a property it is no finding."""
    with pytest.raises(mqsel.SelectorTypeError, match="undocumented"):
        mqsel.compile("TRUE = 0.0", dialect="AZURE_SERVICE_BUS")
    assert mqsel.lint("TRUE = 0.0 OR a = 5", "AZURE_SERVICE_BUS") == []


# A preset, a selector, and the rules that find something in it.
FOUND: list[tuple[str, str, list[str]]] = [
    ("ARTEMIS", "color = blue", ["unquoted-text"]),
    ("ARTEMIS", "5 > a AND 7 < a", ["never-true"]),
    ("ARTEMIS", "a /* don't */ IN ('x', 'x')", ["repeat-in-a-list"]),
    ("ARTEMIS", "a <> 5 AND a = 'x' AND a IS NOT NULL", ["implied"]),  # 'x' <> 5 is TRUE
    ("RABBITMQ", "a LIKE 'x'", ["like-without-wildcard"]),
    ("RABBITMQ", 'a LIKE "x.*"', ["like-regular-expression"]),
    ("RABBITMQ", "a = 9007199254740993.0", []),  # an integer and a double are compared exactly
    ("RABBITMQ", "h.priority <> 5", []),  # it is never missing
    ("ROCKETMQ", "a = '5' OR b = 'true'", []),  # each property is a text
    ("ROCKETMQ", "a > 9 AND a < 3", ["never-true"]),
    ("ACTIVEMQ", "a / 2024/01/02 > 1", []),
    ("AZURE_SERVICE_BUS", "str LIKE 5", []),  # undocumented
]


@pytest.mark.parametrize(("preset", "text", "codes"), FOUND)
def test_rules_hold_for_the_dialect(preset: str, text: str, codes: list[str]) -> None:
    """Rules look into computed tests, and are silent where what they report would be wrong."""
    assert [one.code for one in mqsel.lint(text, preset)] == codes


@pytest.mark.sample(2)
@pytest.mark.parametrize("product", PRESETS)
def test_random_selectors_are_linted(product: str) -> None:
    """No rule fails, what is never TRUE selects no random message, and edits change no answer."""
    rng = random.Random(f"lint {product}")
    texts = selectors.Selectors(product, rng)
    for _ in range(150):
        text = texts.text()
        findings = mqsel.lint(text, PRESETS[product])
        if any(one.code == "invalid" for one in findings):
            continue
        matcher, edited = [
            mqsel.compile(one, dialect=PRESETS[product]) for one in (text, fixed(text, PRESETS[product]))
        ]
        is_never = any(one.code == "never-true" and one.span == (0, len(text)) for one in findings)
        for _ in range(4):
            message = as_message(selectors.message(product, rng))
            assert not (is_never and matcher.matches(message)), (text, message)
            assert answer(matcher, message) is answer(edited, message), (text, edited.program.text, message)


@pytest.mark.parametrize("product", PRESETS)
def test_layout_is_the_same_selector(product: str) -> None:
    """What format writes is read as the same tree, in each product's own grammar."""
    rng = random.Random(f"layout {product}")
    texts = selectors.Selectors(product, rng)
    for _ in range(300):
        try:
            selector = read_selector(texts.text(), PRESETS[product])
        except mqsel.SelectorError:
            continue
        laid = formatted(selector)
        again = read_selector(laid, PRESETS[product])
        assert unparse(again.node, again.dialect) == unparse(selector.node, selector.dialect), (selector.text, laid)
        assert formatted(again) == laid


NOT_NEXT = "NOT negates what stands next in this dialect: put the test that it negates into parentheses"


@pytest.mark.parametrize(
    ("preset", "text", "message", "hint"),
    [
        ("ARTEMIS", "n != 5", "unexpected '!='", "not equal is written <>, negation is written NOT; RABBITMQ, "),
        (
            "JMS",
            "n CONTAINS 'a'",
            "unexpected 'CONTAINS'",
            "use LIKE with %: name LIKE '%text%'; ROCKETMQ has CONTAINS",
        ),
        ("JMS", "UTC() > n", "unexpected '('", "there are no functions in a selector; RABBITMQ has UTC"),
        (
            "RABBITMQ",
            "n BETWEEN 1 AND 2",
            "unexpected 'BETWEEN'",
            "there is no BETWEEN in this dialect: write name >= 1",
        ),
        (
            "RABBITMQ",
            "n NOT BETWEEN 1 AND 2",
            "expected IN or LIKE",
            "there is no BETWEEN in this dialect: write name >=",
        ),
        (
            "ROCKETMQ",
            "n NOT LIKE 'a'",
            "expected BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH",
            "there is no LIKE in ",
        ),
        ("ARTEMIS", "NOT a > 5", "order is for numbers only, found 'NOT a'", NOT_NEXT),
        ("ARTEMIS", "NOT a IN ('x')", "unexpected 'NOT a' before IN", NOT_NEXT),
    ],
)
def test_hints_know_who_has_what(preset: str, text: str, message: str, hint: str) -> None:
    """What another product has is named with it, and what a dialect lacks with what to write instead."""
    with pytest.raises(mqsel.SelectorError) as caught:
        mqsel.compile(text, dialect=preset)
    assert message in caught.value.message
    assert (caught.value.hint or "").startswith(hint)
