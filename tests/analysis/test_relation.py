"""What is said of two selectors is what running them on all messages of a small world says."""

from __future__ import annotations

import os
import random
from typing import Any

import oracle
import pairs
import pytest

import mqsel
from mqsel.analysis.relation import relation
from mqsel.language.dialect import PRESETS
from mqsel.language.selector import read_selector
from mqsel.values import CLASS_NAMES

# The issue that asked for it wants 100,000 once: MQSEL_RELATIONS=100000.
PAIRS = int(os.environ.get("MQSEL_RELATIONS", "2000"))


def selects(text: str, dialect: str, message: dict[str, Any]) -> bool:
    """Ask the oracle."""
    typed = {name: (CLASS_NAMES[type(value)], value) for name, value in message.items()}
    return oracle.evaluate(read_selector(text, PRESETS[dialect]).node, typed, PRESETS[dialect]) == "TRUE"


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
            a, b = mqsel.compile(first, dialect=one), mqsel.compile(second, dialect=other)
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
