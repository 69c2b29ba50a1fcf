"""What is counted of a part of a selector is what the oracle says of it: its truth, and whether types differ."""

from __future__ import annotations

import random

import oracle
import pytest
import strategies

from mqsel.analysis.explain.account import OUTCOMES, outcomes_of, outcomes_of_parts, parts_of
from mqsel.language.nodes import And, Not, Or
from mqsel.language.selector import read_selector

PAIRS = 60


@pytest.mark.sample(18)
@pytest.mark.parametrize("reading", strategies.READINGS, ids=strategies.name_of)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_verdicts_are_those_of_the_oracle(name: str, reading: dict[str, str]) -> None:
    """Invariant: of the whole, and of every part."""
    rng = random.Random(f"verdicts {name} {reading}")
    dialect = strategies.DIALECTS[name].replace(**reading)
    for _ in range(PAIRS):
        text, properties = strategies.random_case(rng, name)
        selector = read_selector(text, dialect)
        if selector.match_option is not None:
            continue
        message = strategies.to_message(properties)
        (whole,) = outcomes_of([selector]).of(message)
        truth = oracle.evaluate(selector.node, properties, dialect)

        assert (whole.truth.name, whole.is_mismatched) == (
            truth,
            oracle.meets_mismatch(selector.node, properties, dialect),
        ), (text, properties, dialect)
        for (node, _), verdict in zip(parts_of(selector.node), outcomes_of_parts(selector).of(message), strict=True):
            truth = oracle.evaluate(node, properties, dialect)
            counts = not isinstance(node, (And, Or, Not)) and oracle.meets_mismatch(node, properties, dialect)
            assert (verdict.truth.name, verdict.is_mismatched) == (truth, counts), (text, node, properties, dialect)
            assert OUTCOMES[verdict.number] == ("mismatched" if counts and truth != "TRUE" else truth)
