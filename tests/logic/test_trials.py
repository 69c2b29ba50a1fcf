"""Computed tests are decided by trying a value of each class; that holds for messages that were not tried."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from measured import measured_answers
from products import selectors
from products.ours import PRESETS, as_message
from products.test_products import COLUMNS

import mqsel
from mqsel.errors import SelectorError, UndocumentedError

BEYOND = "1" + "0" * 400
# A preset, two selectors, and how they are related.
RELATED = [
    ("ARTEMIS", "5 <> a", "NOT (5 = a)", "equal"),
    ("ARTEMIS", "a - 1 = 4", "a = 5", "equal"),
    ("ARTEMIS", "a * 2 = 10", "a < 4", "overlapping"),
    ("ACTIVEMQ", "a / 2 = 2.5", "a = 5", "equal"),
    ("QPID_BROKER_J", "(a = 5) IS NULL", "a = a", "disjoint"),
    ("QPID_CPP", "a LIKE 'x' ESCAPE ''", "a = 'x'", "equal"),
    ("RABBITMQ", "a LIKE 'x%'", "a LIKE 'y%'", "disjoint"),
    ("RABBITMQ", "a > 'b' AND a < 'b'", "FALSE", "equal"),
    ("RABBITMQ", "a > 'b' AND a < 'ba'", "a <> 'b'", "a within b"),
    ("RABBITMQ_JMS", "a LIKE 'x%'", "a LIKE '%y'", "overlapping"),
    ("RABBITMQ_JMS", "a < b", "b > a", "equal"),
    ("ROCKETMQ", "a = 5", "a = '5'", "b within a"),
    ("ROCKETMQ", "a CONTAINS 'xy'", "a CONTAINS 'x'", "a within b"),
    ("ROCKETMQ", "a > 5 AND a < 5", "a = TRUE AND a = FALSE", "equal"),
    ("AZURE_SERVICE_BUS", "EXISTS(a)", "a IS NOT NULL", "equal"),
    ("RABBITMQ", "a LIKE '__'", "a LIKE '_'", "disjoint"),
    ("RABBITMQ", "a LIKE '__'", "b IS NULL", "overlapping"),
    ("QPID_BROKER_J", "NOT (s <> 5)", "n = -+ s", "overlapping"),
    # Integers beyond all doubles tell infinities apart, and nothing else.
    ("RABBITMQ", f"a > {BEYOND}", "a = 5", "disjoint"),
    ("RABBITMQ", f"a > {BEYOND}", "a > 5", "a within b"),
    ("RABBITMQ", f"a + {BEYOND} > 5", "a = 5", "overlapping"),
    # What one property may be, the other must be, too.
    ("ACTIVEMQ", "n LIKE '%\nb'", "a = n", "overlapping"),
]


@pytest.mark.parametrize(("preset", "a", "b", "wanted"), RELATED)
def test_relations(preset: str, a: str, b: str, wanted: str) -> None:
    """Each is what the classes of values come to."""
    assert mqsel.relation(a, b, dialect=preset).relation == wanted


def test_arithmetic_of_two_dialects_is_not_one() -> None:
    """5 / 2 is 2 in JMS, and 2.5 in Broker-J."""
    one, other = (
        mqsel.compile("n / 2 = 2.5", dialect="QPID_BROKER_J"),
        mqsel.compile("NOT (n / 2 = 2.5)", dialect="JMS"),
    )
    assert mqsel.relation(one, other).relation != "disjoint"


def test_byte_strings_match_patterns_that_strings_do_not() -> None:
    """RabbitMQ's LIKE matches a byte string, of which that of JMS is FALSE."""
    one, other = mqsel.compile("n LIKE 'a%'", dialect="RABBITMQ"), mqsel.compile("NOT (n LIKE 'a%')", dialect="JMS")
    assert mqsel.relation(one, other).both == {"n": b"a"}


@pytest.mark.sample(2)
@pytest.mark.parametrize("product", COLUMNS)
def test_few_selectors_are_not_decided(product: str) -> None:
    """Of the selectors that each product was measured with, two in a hundred are not decided at most."""
    found = []
    for text, _ in measured_answers(COLUMNS[product]):
        try:
            found.append((text, mqsel.satisfiable(text, dialect=PRESETS[product])))
        except SelectorError:
            continue
    undecided = [text for text, one in found if not one.is_decided]
    assert len(undecided) <= len(found) // 50, undecided


@pytest.mark.sample(2)
@pytest.mark.parametrize("product", COLUMNS)
def test_what_is_decided_holds(product: str) -> None:
    """No random message is selected against the relation that was found, of selectors with few names."""
    rng = random.Random(f"trials {product}")
    texts = selectors.Selectors(product, rng)

    def drawn() -> mqsel.Matcher:
        while True:
            text = re.sub(
                r"\b(?:[a-z]{1,3}[0-9]+|[a-z])\b(?=(?:[^']*'[^']*')*[^']*$)", "i5", texts.text(rng.choice((0, 0, 1)))
            )
            try:
                return mqsel.compile(text, dialect=PRESETS[product])
            except SelectorError:
                continue

    wrong = []
    for _ in range(40):
        a, b = drawn(), drawn()
        found = mqsel.relation(a, b).relation
        for _ in range(100 if found not in ("overlapping", "not decided") else 0):
            message: dict[str, Any] = as_message(selectors.message(product, rng))
            try:
                first, second = a.matches(message), b.matches(message)
            except UndocumentedError:  # a property that is NaN
                continue
            is_wrong = {
                "equal": first != second,
                "disjoint": first and second,
                "a within b": first and not second,
                "b within a": second and not first,
            }
            if is_wrong[found]:
                wrong.append((a.program.text, b.program.text, found, message))
    assert not wrong
