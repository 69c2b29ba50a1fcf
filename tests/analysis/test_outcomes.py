"""What is counted of a part of a selector is what the oracle says of it: its truth, and whether types differ."""

from __future__ import annotations

import random

import oracle
import pytest
import strategies

from mqsel.analysis.explain.account import NUMBERS, OUTCOMES, parts_judged, parts_of, verdicts
from mqsel.language.nodes import And, Not, Or
from mqsel.language.selector import read_selector

PAIRS = 60


@pytest.mark.sample(18)
@pytest.mark.parametrize("reading", strategies.READINGS, ids=strategies.name_of)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_verdicts_are_those_of_the_oracle(name: str, reading: dict[str, str]) -> None:
    """Invariant: this holds for each part; a test that is ERR for another reason may hide its type mismatch."""
    rng = random.Random(f"verdicts {name} {reading}")
    dialect = strategies.DIALECTS[name].replace(**reading)
    for _ in range(PAIRS):
        text, properties = strategies.random_case(rng, name)
        selector = read_selector(text, dialect)
        if selector.match_option is not None:
            continue
        message = strategies.to_message(properties)
        parts = parts_judged(selector)
        found = zip(parts_of(selector.node), verdicts(parts, message), parts.of(message), strict=True)
        for (node, _), verdict, number in found:
            truth = oracle.evaluate(node, properties, dialect)
            counts = not isinstance(node, (And, Or, Not)) and oracle.meets_mismatch(node, properties, dialect)
            assert verdict.truth.name == truth, (text, node, properties, dialect)
            if truth != "ERR" or verdict.is_mismatched:
                assert verdict.is_mismatched == counts, (text, node, properties, dialect)
                assert OUTCOMES[NUMBERS[number]] == ("type mismatch" if counts and truth != "TRUE" else truth)
