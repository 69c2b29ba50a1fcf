"""Sections of AMQP in RABBITMQ: the short name and the long one are one property."""

from __future__ import annotations

import pytest

import mqsel

SET = {1: "p.subject = 'x'", 2: "properties.subject <> 'x'", 3: "h.priority = 4", 4: "p.subject = p.to"}


@pytest.mark.parametrize(
    ("message", "keys"),
    [
        ({"properties.subject": "x"}, [1, 3]),
        ({"p.subject": "y", "h.priority": 3}, [2]),
        ({"p.subject": "y", "properties.to": "y", "header.priority": 4}, [2, 3, 4]),
    ],
)
def test_sections_have_two_names(message: dict[str, object], keys: list[int], tmp_path: object) -> None:
    """By a matcher, in a set and in a saved one; a header that is missing has its default."""
    selectors = mqsel.SelectorSet(SET, dialect="RABBITMQ")
    path = f"{tmp_path}/set"
    selectors.save(path)

    assert [key for key, text in SET.items() if mqsel.compile(text, dialect="RABBITMQ").matches(message)] == keys
    assert selectors.match(message) == keys
    assert mqsel.SelectorSet.open(path).match(message) == keys


def test_names_in_brackets() -> None:
    """Both brackets are doubled within a name, as RabbitMQ 4.3.6 reads it."""
    matcher = mqsel.compile("[a[[b]]] = 1 AND p.subject IS NULL", dialect="RABBITMQ")

    assert matcher.properties == ("a[b]", "p.subject")
    assert matcher.matches({"a[b]": 1})
    with pytest.raises(mqsel.SelectorSyntaxError):
        mqsel.compile("[a[b] = 1", dialect="RABBITMQ")
