"""What an audit says of many selectors is what comparing each with each says."""

from __future__ import annotations

import random
import time

import pairs
import pytest
from volumes import volume

import mqsel
from mqsel.analysis.compare.audit import Missing, audit
from mqsel.analysis.compare.relation import relation
from mqsel.analysis.compare.satisfiable import satisfiable

ROUNDS = volume(12, smoke=4)


def some_selectors(rng: random.Random) -> dict[str, str]:
    """Draw selectors, some of them near to others; of arithmetic little, so that nearly all is decided."""
    found: list[str] = []
    while len(found) < 14:
        text = pairs.condition(rng, pairs.NAMES[:2], rng.choice((1, 1, 2)))
        if any(sign in text for sign in "+*/") or " -" in text:
            continue
        found.append(text)
        if rng.random() < 0.3:
            found.append(f"({text}) AND {pairs.condition(rng, pairs.NAMES[:2], 1)}")
    return {f"k{number}": text for number, text in enumerate(found)}


def test_it_says_what_pairs_say() -> None:
    """Invariant: never, same, equal and within are those that `satisfiable` and `relation` give of single selectors.

    Each that is within others stands with one of them, which is within no other that is decided.
    """
    rng = random.Random("audit")
    counts = [0, 0, 0]
    for _ in range(ROUNDS):
        texts = some_selectors(rng)
        valid = {}
        for key, text in texts.items():
            try:
                mqsel.compile(text, dialect="JMS")
            except mqsel.SelectorError:
                continue
            valid[key] = text
        found = audit(texts.items(), dialect="JMS")
        assert {key for key, _ in found.invalid} == texts.keys() - valid.keys()
        assert found.total == len(texts)

        never = {key for key, text in valid.items() if not satisfiable(text, dialect="JMS")}
        assert {one.key for one in found.never} == never
        first: dict[str, str] = {}
        for one in found.equal:
            for key in one.keys:
                first.setdefault(key, first.get(one.keys[0], one.keys[0]))
        said = {
            (a, b): relation(valid[a], valid[b], dialect="JMS").relation
            for a in valid
            for b in valid
            if a not in never and b not in never
        }
        undecided = {*found.undecided} | {key for pair, what in said.items() if what == "not decided" for key in pair}
        for (a, b), what in said.items():
            if not {a, b} & undecided:
                assert (first.get(a, a) == first.get(b, b)) == (what == "equal"), (texts[a], texts[b], found)
        within = {key: one.key for one in found.within for key in one.keys}
        for a in valid.keys() - never - undecided:
            around = {b for b in valid if said.get((a, b)) == "a within b"}
            representative = first.get(a, a)
            assert bool(around) == (representative in within), (texts[a], found)
            if around and not around & undecided:
                wide = within[representative]
                assert said[a, wide] == "a within b", (texts[a], texts[wide])
        counts[0] += len(never)
        counts[1] += len(found.equal)
        counts[2] += len(within)

    assert min(counts) >= ROUNDS / 5


def test_what_a_missing_property_does() -> None:
    """Two selectors overlap by accident where they have in common only messages without a property."""
    texts = {
        "red": "color = 'red' OR region IS NULL",
        "blue": "color = 'blue' AND weight > 1",
        "blue, wanted": "color = 'blue' AND region IS NULL",
        "green": "color = 'green' AND region = 'eu'",
        "both": "(color = 'red' OR color = 'blue') AND region = 'eu'",
    }
    found = audit(texts.items())

    assert found.missing == (Missing(("red", "blue"), "region", {"color": "blue", "weight": 2}),)
    assert found.within == (("red", ("blue, wanted",)),)


def test_a_chain_stands_with_its_widest() -> None:
    """Of many in one another each is told once, with the one that has all."""
    found = audit((str(number), f"price > {number} AND symbol = 'S'") for number in range(300))

    assert found.within == (("0", tuple(map(str, range(1, 300)))),)
    assert not (found.never or found.equal or found.missing or found.undecided)


def test_why_none() -> None:
    """The parts that exclude each other are told, and no others."""
    found = audit([("a", "c = 1 AND a > 5 AND (b = 2 AND a < 3)"), ("b", "x < x OR y < y"), ("c", "b == 1")])

    assert [(one.key, one.reason) for one in found.never] == [
        ("a", "'a > 5' and 'a < 3' are never TRUE together"),
        ("b", "'x < x OR y < y' is never TRUE"),
    ]
    assert [(key, type(error)) for key, error in found.invalid] == [("c", mqsel.SelectorSyntaxError)]


def test_many_patterns_on_one_text() -> None:
    """Three hundred LIKE on one text end in findings about each, with no error from inside and nothing undecided."""
    found = audit([(str(number), f"name LIKE '%a{number}%b_{number % 7}'") for number in range(300)], given={})

    assert not (found.undecided or found.invalid or found.gaps[0][1].reason)
    assert found.gaps[0][1].message == {}
    assert {inner for one in found.within for inner in one.keys} >= {"108"}


def test_a_dialect_that_is_none() -> None:
    """Bad input is one error of ours."""
    with pytest.raises(mqsel.ArgumentError):
        audit([], dialect="XYZ")


@pytest.mark.sample(1)
@pytest.mark.parametrize("write", ["{}", "NOT {}", "{} OR x IS NULL AND c = 'd'"])
def test_long_patterns_on_one_text(write: str) -> None:
    """Pairs of long patterns that texts fit in common take seconds together: to look for the shortest took minutes."""
    draw = random.Random(1)
    segments = [["".join(draw.choices("abcdefgh", k=4)) for _ in range(8)] for _ in range(60)]
    tests = ["name LIKE '%" + "%".join(one) + "%'" for one in segments]
    before = time.process_time()
    found = audit([(str(number), write.format(one)) for number, one in enumerate(tests)], once=True)

    assert time.process_time() - before < 15
    assert not (found.undecided or found.pairs_left)
    assert len(found.twice) == 60 * 59 // 2
