"""Explanations of one message."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
import strategies
from matching import JMS
from strategies import JMS_PRESETS

import mqsel
from mqsel import values
from mqsel.analysis.explain import Explanation, Part, change
from mqsel.carets import cut_piece
from mqsel.errors import ArgumentError, MqselError, ProgramError, PropertyTypeError, SelectorError
from mqsel.language import nodes
from mqsel.language.parser import parse
from mqsel.logic.sets import has_value
from mqsel.machine import _vm
from mqsel.values import AND, NOT, OR, Float32, Int8, Truth


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


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", JMS_PRESETS)
def test_explanations_tell_the_truth(name: str) -> None:
    """Invariant: explanation.truth = the machine's; every connective follows from its parts; parts cover the text."""
    rng = random.Random(f"explain {name}")
    for _ in range(250):
        text, properties = strategies.random_case(rng, name)
        message = strategies.to_message(properties)
        for dialect in (
            JMS_PRESETS[name],
            JMS_PRESETS[name].replace(type_mismatch="selector", null_arithmetic="unknown"),
        ):
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
    assert (truth, "type mismatch" in reason, "'1'" in reason) == (Truth.FALSE, True, True)
    truth, reason = _reasons("a = 1", {"a": "1"}, dialect=mqsel.IBM_JMS)["a = 1"]
    assert (truth, "type mismatch: the complete selector is false" in reason) == (Truth.ERR, True)
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
    assert said["b > 2"] == (None, "b is the string '3'; type mismatch")
    assert [said[test] for test in ("c = 'x'", "d = 5", "e = 1")] == [(None, "")] * 3
    assert _reasons("a = 0 OR b > 2", {"a": 0, "b": True})["b > 2"] == (None, "b is TRUE; type mismatch")


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


def test_a_long_selector_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What each of many parts needs is looked at once, and not again with each part before it."""
    looked = [0]
    monkeypatch.setattr(change, "has_value", lambda *pair: looked.__setitem__(0, looked[0] + 1) or has_value(*pair))
    mqsel.compile(" AND ".join(f"(a{i} = 1 OR b{i} = 1)" for i in range(200)), dialect="JMS").explain({})
    assert 200 < looked[0] < 4000


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
