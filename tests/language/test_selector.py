"""A selector is read once; a part of it is a selector, and means what it means there."""

from __future__ import annotations

import pytest
import strategies

import mqsel
from mqsel.language.dialect import IBM_JAVA_CLIENT, IBM_JMS, IBM_MQ, JMS, TIBCO_EMS, Dialect, core_of
from mqsel.language.nodes import And, Node, unparse, walk, with_outcomes
from mqsel.language.parser import parse
from mqsel.language.selector import read_selector
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower

NOTHING = f"JMSMessageID = 'ID:{'0' * 48}'"


def test_a_selector_is_read_once() -> None:
    """The text and the dialect are the key; what `compile` read is what is handed on."""
    mqsel.compile("a = 1 AND b = 2")

    assert read_selector("a = 1 AND b = 2", IBM_MQ) is read_selector("a = 1 AND b = 2", IBM_MQ)
    assert read_selector("a = 1 AND b = 2", IBM_MQ) is not read_selector("a = 1 AND b = 2", JMS)


def test_a_part_is_a_selector() -> None:
    """It has its own tree and names, the text of the whole, and the choices that are asked for."""
    whole = read_selector("usr.a = 1 AND b = 2", IBM_MQ)
    assert isinstance(whole.node, And)
    part = whole.part(whole.node.operands[0], JMS)

    assert (unparse(part.node), part.names, part.text) == ("usr.a = 1", {"usr.a": "a"}, whole.text)
    assert (part.dialect, whole.part(part.node).dialect) == (JMS, IBM_MQ)
    assert lower(part).slots == ("a",)


EVERY = (
    "NOT a AND -a + 1 < b OR c BETWEEN 1 AND a * 2 AND c NOT BETWEEN 1 AND 2 OR d IN ('x') AND d LIKE 'x%' OR e IS NULL"
)


def outcomes(node: Node) -> list[tuple[str, object, object]]:
    """List for each node its class, and what it yields for another kind and for NULL, where it has that."""
    return [(type(one).__name__, getattr(one, "other", ""), getattr(one, "null", "")) for one in walk(node)]


@pytest.mark.parametrize(
    ("dialect", "other", "null", "between"),
    [
        (JMS, "FALSE", "UNKNOWN", [None, None]),
        (TIBCO_EMS, "FALSE", "UNKNOWN", [None, None]),
        (IBM_MQ, "FALSE", "ERR", ["FALSE", "TRUE"]),
        (IBM_JMS, "ERR", "ERR", ["FALSE", "TRUE"]),
        (IBM_JAVA_CLIENT, "UNKNOWN", "UNKNOWN", [None, None]),
    ],
)
def test_outcomes_stand_on_the_nodes(dialect: Dialect, other: str, null: str, between: list[str | None]) -> None:
    """Language §2: what a dialect makes of NULL and of another kind; it does not count in equality."""
    tree = parse(EVERY, dialect)
    found = outcomes(tree)
    tests = {"Identifier", "Comparison", "Between", "In", "Like"}

    assert {str(one) for cls, one, _ in found if cls in tests} == {other}
    assert {str(one) for cls, _, one in found if cls in ("Sign", "Arithmetic")} == {null}
    assert [one if one is None else str(one) for cls, _, one in found if cls == "Between"] == between
    assert {cls for cls, one, _ in found if one == ""} == {
        "And",
        "Or",
        "Not",
        "IsNull",
        "Literal",
        "Sign",
        "Arithmetic",
    }
    for preset in strategies.JMS_PRESETS.values():
        other_tree = parse(EVERY, preset)
        assert other_tree == tree
        assert outcomes(with_outcomes(other_tree, core_of(dialect))) == found
        assert [one.span for one in walk(with_outcomes(other_tree, core_of(dialect)))] == [
            one.span for one in walk(tree)
        ]


def test_a_part_is_no_match_option() -> None:
    """An identifier of zeros matches any message where it is the selector (language §8), and is a string elsewhere."""
    alone = read_selector(NOTHING, IBM_MQ)
    whole = read_selector(f"{NOTHING} AND a = 1", IBM_MQ)
    assert isinstance(whole.node, And)
    message = {"JMSMessageID": "ID:1", "a": 1}

    assert Machine(lower(alone.part(alone.node))).truth(message) == mqsel.Truth.TRUE
    assert Machine(lower(whole.part(whole.node.operands[0]))).truth(message) == mqsel.Truth.FALSE
