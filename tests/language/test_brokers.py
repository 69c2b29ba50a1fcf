"""Texts of the brokers: mqsel accepts what the second reading of the dialects accepts, and reads the same trees."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from measured import measured_answers
from products import reading, selectors

from mqsel.errors import SelectorError
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.lexer import scan
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    unparse,
)
from mqsel.language.parser import _Parser
from mqsel.language.selector import read_anew

# The preset of each product, and its column among the measured answers.
PRODUCTS = {
    "activemq": ("ACTIVEMQ", "amq"),
    "artemis": ("ARTEMIS", "art"),
    "qpid-broker-j": ("QPID_BROKER_J", "qpj"),
    "qpid-cpp": ("QPID_CPP", "qcp"),
    "rocketmq": ("ROCKETMQ", "rmq"),
    "rabbitmq": ("RABBITMQ", "rab"),
    "rabbitmq-jms": ("RABBITMQ_JMS", "sjx"),
}
# What the products have and mqsel refuses, saying so.
NOT_MODELLED = {"activemq": ("REGEX(",), "artemis": ("XPATH ",)}


def _is_accepted(text: str, dialect: Dialect) -> bool:
    try:
        read_anew(text, dialect)
    except SelectorError:
        return False
    return True


@pytest.mark.parametrize("product", PRODUCTS)
def test_measured_refusals(product: str) -> None:
    """Selectors that the engine refused when they were measured are refused, and the others are accepted."""
    preset, column = PRODUCTS[product]
    wrong, compared = [], 0
    for text, letter in measured_answers(column):
        if any(part in text for part in NOT_MODELLED.get(product, ())):
            with pytest.raises(SelectorError, match="not supported"):
                read_anew(text, PRESETS[preset])
            continue
        compared += 1
        if (letter != "P") != _is_accepted(text, PRESETS[preset]):
            wrong.append(f"{text!r}: the engine answers {letter}")

    assert compared > 370
    assert not wrong, "\n".join(wrong)


def _texts(product: str, count: int) -> list[str]:
    """Draw texts of a product, every second one with one to three changes."""
    rng = random.Random(f"texts {product}")
    drawn = selectors.Selectors(product, rng)
    return [(drawn.text, drawn.changed)[place % 2]() for place in range(count)]


def _parsed(text: str, dialect: Dialect) -> Node:
    """Return a tree before its tests become those of the core."""
    return _Parser(text, scan(text, dialect), dialect).selector()[-1]


def _signed(symbol: str, operand: Any) -> Any:
    """Return a sign before something, with that of a number its own."""
    match operand:
        case ("literal", ("whole" | "big" | "double" as kind, number)):
            number = -number if symbol == "-" else number
            return "literal", ("whole" if kind == "big" and number == -(1 << 63) else kind, number)
    return "sign", symbol, operand


def _plain(node: Node) -> Any:
    """Return a tree of mqsel in the form of the second reading."""
    match node:
        case Literal("null"):
            return "literal", None
        case Literal(kind, value):
            return "literal", ({"exact": "whole", "approximate": "double"}.get(kind, kind), value)
        case Identifier(name):
            return "name", name
        case Sign(symbol, operand):
            return _signed(symbol, _plain(operand))
        case Arithmetic(symbols, operands):
            pairs = zip(symbols, operands[1:], strict=True)
            return functools.reduce(
                lambda left, one: ("arith", one[0], left, _plain(one[1])), pairs, _plain(operands[0])
            )
        case And(operands) | Or(operands):
            word = type(node).__name__.lower()
            return functools.reduce(lambda left, right: (word, left, right), map(_plain, operands))
        case Not(operand):
            return "not", _plain(operand)
        case Comparison(symbol, left, right):
            return "compare", symbol, _plain(left), _plain(right)
        case Between(negated, operand, low, high):
            return "between", _plain(operand), _plain(low), _plain(high), negated
        case In(negated, name, texts):
            return "in", _plain(name), [("literal", ("string", one)) for one in texts], negated
        case Like(negated, name, pattern, escape):
            return "like", _plain(name), pattern, escape, negated
        case IsNull(negated, name):
            return "null", _plain(name), negated
        case Call("IN", negated, (operand, *listed)):
            return "in", _plain(operand), [*map(_plain, listed)], negated
        case Call("LIKE", negated, (operand, pattern, *escape)):
            return "like", _plain(operand), pattern.value, escape[0].value if escape else None, negated
        case Call("IS NULL", negated, (operand,)):
            return "null", _plain(operand), negated
        case Call("UTC"):
            return ("now",)
        case Call(word, negated, (operand, text)):
            return "text", word, _plain(operand), text.value, negated
    raise AssertionError(node)


def _folded(tree: Any) -> Any:
    """Return a tree of the second reading without widths of numbers, and with their signs their own."""
    match tree:
        case ("literal", ("int" | "long", number)):
            return "literal", ("whole", number)
        case ("sign", symbol, operand):
            return _signed(symbol, _folded(operand))
        case ("literal", *_):
            return tree
        case tuple():
            return tuple(map(_folded, tree))
        case list():
            return [*map(_folded, tree)]
    return tree


@pytest.mark.volume
@pytest.mark.parametrize("product", PRODUCTS)
def test_random_texts(product: str) -> None:
    """The second reading accepts the same random texts and reads the same trees; written, they are read again."""
    dialect = PRESETS[PRODUCTS[product][0]]
    accepted = 0
    for text in _texts(product, 10_000):
        tree = reading.read(product, text)
        assert _is_accepted(text, dialect) == (tree is not None), text
        if tree is not None:
            accepted += 1
            root = _parsed(text, dialect)
            assert _plain(root) == _folded(tree), text
            assert _parsed(unparse(root, dialect), dialect) == root, text
    assert accepted > 3_000
