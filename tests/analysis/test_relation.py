"""What is said of two selectors is what running them on all messages of a small world says."""

from __future__ import annotations

import random
from typing import Any

import oracle
import pairs
import pytest
from strategies import DIALECTS
from volumes import volume

import mqsel
from mqsel.analysis.compare.relation import relation
from mqsel.analysis.compare.satisfiable import satisfiable
from mqsel.language.selector import read_selector
from mqsel.values import CLASS_NAMES

PAIRS = volume(2000, smoke=400)


def selects(text: str, dialect: str, message: dict[str, Any]) -> bool:
    """Ask the oracle."""
    typed = {name: (CLASS_NAMES[type(value)], value) for name, value in message.items()}
    return oracle.evaluate(read_selector(text, DIALECTS[dialect]).node, typed, DIALECTS[dialect]) == "TRUE"


@pytest.mark.sample(2)
@pytest.mark.parametrize("part", range(4))
def test_no_wrong_verdict(part: int) -> None:
    """Invariant: no message contradicts what is said of a pair; every witness is one to the oracle, too.

    What is not decided is rare, or the test would prove nothing.
    """
    rng = random.Random(f"relation {part}")
    undecided = 0
    for _ in range(PAIRS // 4):
        first, second, one, other, names = pairs.pair(rng)
        try:
            a, b = [mqsel.compile(text, dialect=DIALECTS[name]) for text, name in ((first, one), (second, other))]
        except mqsel.SelectorError:
            continue
        said = relation(a, b)
        case = (first, one, second, other, said)
        for message, wanted in ((said.both, (1, 1)), (said.a_alone, (1, 0)), (said.b_alone, (0, 1))):
            if message is not None:
                assert (selects(first, one, message), selects(second, other, message)) == wanted, case
        undecided += said.relation == "not decided"
        absent = {
            "equal": {(1, 0), (0, 1)},
            "disjoint": {(1, 1)},
            "a within b": {(1, 0)},
            "b within a": {(0, 1)},
        }.get(said.relation, set())
        if absent:
            for message in pairs.messages(names):
                assert (a.matches(message), b.matches(message)) not in absent, (case, message)

    assert undecided <= PAIRS // 4 * 0.02


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a > 5 AND b = 1 AND a < 3", "'a > 5' and 'a < 3' are never TRUE together"),
        (
            "b = 1 AND (c = 2 AND (a LIKE 'x%' AND a LIKE 'y%'))",
            "'a LIKE 'x%'' and 'a LIKE 'y%'' are never TRUE together",
        ),
        ("a IN ('x') AND a <> b AND b IN ('x')", "'a IN ('x')', 'a <> b' and 'b IN ('x')' are never TRUE together"),
        ("c + 1 > 3 AND d AND c + 1 < 2", "'c + 1 > 3' and 'c + 1 < 2' are never TRUE together"),
        ("a < a", "'a < a' is never TRUE"),
        ("a = 1 AND a < a OR b AND NOT b", "'a = 1 AND a < a OR b AND NOT b' is never TRUE"),
        ("p < q AND q < r AND s = 1 AND r < p", "'p < q', 'q < r' and 'r < p' are never TRUE together"),
    ],
)
def test_why_none(text: str, reason: str) -> None:
    """The fewest parts that exclude each other are told: without any of them there is a message."""
    said = satisfiable(text, dialect="JMS")

    assert (bool(said), said.message, said.is_decided, said.reason) == (False, None, True, reason)
    parts = [text[start:stop] for start, stop in said.spans]
    for left_out in parts if len(parts) > 1 else ():
        rest = " AND ".join(f"({one})" for one in parts if one != left_out)
        assert satisfiable(rest, dialect="JMS"), rest


def test_values_that_must_differ() -> None:
    """Four texts among three cannot all differ; among four they can."""
    pairs_ = " AND ".join(f"p{one} <> p{other}" for one in range(4) for other in range(one))
    for letters, is_possible in (("'a', 'b', 'c'", False), ("'a', 'b', 'c', 'd'", True)):
        said = satisfiable(" AND ".join([*(f"p{one} IN ({letters})" for one in range(4)), pairs_]), dialect="JMS")
        assert said.is_decided
        assert bool(said) == is_possible


def test_long_selectors() -> None:
    """What is long, deep or wide is compared in time, or said to be not decided."""
    deep = "NOT (" * 200 + "a = 1 AND b > 2" + ")" * 200
    assert relation(deep, "a = 1", dialect="IBM_JMS").relation == "a within b"
    wide = "a = 1 OR " + " AND ".join(f"b{number} > {number}" for number in range(2_000))
    assert relation(wide, "a = 1", dialect="JMS").relation == "b within a"
    many = " OR ".join(f"(a = {number} AND b = {number})" for number in range(400))
    assert relation(many, f"{many} OR c = 1", dialect="JMS").relation in ("a within b", "not decided")
    listed = ", ".join(f"'{number}'" for number in range(5_000))
    said = relation(f"a IN ({listed})", "a LIKE '1%'", dialect="JMS")
    assert (said.relation, said.both, said.a_alone) == ("overlapping", {"a": "1"}, {"a": "0"})


def test_bad_input() -> None:
    """What is no selector is one error of ours."""
    for arguments in ((1, "a = 1"), ("a = 1", None), ("a = 1", b"a = 1")):
        with pytest.raises(mqsel.ArgumentError, match="a selector is a str or a Matcher"):
            relation(*arguments)
    with pytest.raises(mqsel.SelectorSyntaxError):
        relation("a == 1", "a = 1")
    with pytest.raises(mqsel.ArgumentError):
        satisfiable("a = 1", dialect="XYZ")


def test_names_with_a_folder() -> None:
    """Where one dialect takes `usr.x` for `x` and another does not, the messages say both."""
    plain = mqsel.JMS.replace(identifier_dots="yes", headers="any")
    a, b = mqsel.compile("usr.x = 1"), mqsel.compile("usr.x = 1 AND x IS NULL", dialect=plain)
    said = relation(a, b)

    assert said.relation == "overlapping" or said.a_alone is not None
    for message, wanted in ((said.both, (1, 1)), (said.a_alone, (1, 0)), (said.b_alone, (0, 1))):
        assert message is None or (a.matches(message), b.matches(message)) == wanted


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        # Two ints wrap where longs of the same size do not.
        ("a BETWEEN 1 AND 2147483647 AND b BETWEEN 1 AND 2147483647 AND a + b < 0", {"int32"}),
        # The zeros of doubles are one number, but divide differently.
        ("a = 0 AND 1.0 / a < 0", {"float64", "float32"}),
        ("a <> a", {"float64", "float32"}),
        ("a > 16777216 AND a < 16777218", {"int64"}),
    ],
)
def test_values_of_one_type_alone(text: str, kinds: set[str]) -> None:
    """Where values of one type alone are an answer, they are found."""
    said = satisfiable(text, dialect="JMS")

    assert said
    assert {CLASS_NAMES[type(value)] for value in said.message.values()} <= kinds
    assert mqsel.compile(text, dialect="JMS").matches(said.message)


def test_arithmetic_of_two_dialects_is_not_one() -> None:
    """Arithmetic on a text compares with nothing in JMS, and is ERR in Artemis: one subject for both would be none."""
    text = "a = 1 AND (b * 3 <= 3 OR a IS NOT NULL)"
    matchers = [mqsel.compile(text, dialect=one) for one in ("JMS", "ARTEMIS")]
    found = mqsel.relation(*matchers)
    assert found.relation == "b within a"
    assert [one.matches(found.a_alone) for one in matchers] == [True, False]


def test_contracts_of_many_values() -> None:
    """Texts that a contract lists are not matched one by one without end, nor where nothing is to be matched."""
    given = mqsel.Contract({"a": {"type": "string", "values": [f"v{number}" for number in range(100_000)]}})
    patterns = " AND ".join(f"a NOT LIKE '%{number}x'" for number in range(40))
    assert "steps" in mqsel.satisfiable(patterns, given=given).reason
    listed = " AND ".join(f"a <> 'v{number}'" for number in range(40))
    assert mqsel.satisfiable(listed, given=given).message == {"a": "v40"}


def test_computed_tests_of_names_in_any_case() -> None:
    """If case does not count in names, selectors with computed tests compare as if they were spelled alike."""
    pairs = [("Price / 2 > 1", "PRICE / 2 < 1"), ("Price / 2 > 1", "Price / 2 < 1")]

    assert len({relation(*pair, dialect="AZURE_SERVICE_BUS").relation for pair in pairs}) == 1
