"""Tests that are computed, behind the front end: machine, normal form, columns, sets, solver and analysis run them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import conftest
import pytest
from products import selectors

import mqsel
from mqsel.language.dialect import PRESETS
from mqsel.language.nodes import Computed
from mqsel.language.selector import read_selector

BROKERS = ("ACTIVEMQ", "ARTEMIS", "QPID_BROKER_J", "QPID_CPP", "RABBITMQ", "RABBITMQ_JMS", "ROCKETMQ")
ENGINES = {name: one for name, one in conftest.ENGINES.items() if name not in ("oracle", "normal form")}
KINDS = {"int": "int32", "long": "int64", "byte": "int8", "short": "int16", "float": "float32", "double": "float64"}


def random_case(name: str, rng: random.Random) -> tuple[str, dict[str, tuple[str, Any]]] | None:
    """Return a selector that a preset takes, and a message."""
    product = name.lower().replace("_", "-")
    text = selectors.Selectors(product, rng).text()
    found = {each: (KINDS.get(kind, kind), value) for each, (kind, value) in selectors.message(product, rng).items()}
    try:
        mqsel.compile(text, dialect=PRESETS[name])
    except mqsel.SelectorError:
        return None
    return text, found


@pytest.mark.parametrize("name", BROKERS)
def test_engines_agree(name: str) -> None:
    """Machine, columns and sets have one answer, which is one of those that no two engines part."""
    rng = random.Random(name)
    seen: Counter[str] = Counter()
    for _ in range(300):
        case = random_case(name, rng)
        if case is None:
            continue
        text, properties = case
        got: dict[str, str] = {}
        for engine, run in ENGINES.items():
            try:
                got[engine] = run(text, properties, PRESETS[name])
            except conftest.Untaken:
                continue
        wanted = got["vm"]
        assert all(wanted in one.split("|") for one in got.values()), (text, properties, got)
        seen[wanted] += 1
        seen["computed"] += any(isinstance(node, Computed) for node in read_selector(text, PRESETS[name]).order)
    print(seen)
    assert seen["computed"] > 20
