"""A selector is read once; a part of it is a selector, and means what it means there."""

from __future__ import annotations

import mqsel
from mqsel.language.dialect import IBM_MQ, JMS
from mqsel.language.nodes import And, unparse
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


def test_a_part_is_no_match_option() -> None:
    """An identifier of zeros matches any message where it is the selector (language §8), and is a string elsewhere."""
    alone = read_selector(NOTHING, IBM_MQ)
    whole = read_selector(f"{NOTHING} AND a = 1", IBM_MQ)
    assert isinstance(whole.node, And)
    message = {"JMSMessageID": "ID:1", "a": 1}

    assert Machine(lower(alone.part(alone.node))).truth(message) == mqsel.Truth.TRUE
    assert Machine(lower(whole.part(whole.node.operands[0]))).truth(message) == mqsel.Truth.FALSE
