"""The index says which formulas are true of a record: what the oracle says of each selector, however it was built."""

from __future__ import annotations

import itertools
import os
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

import oracle
import pytest
import strategies
from conftest import VECTORS_ROOT, dialects_of, json_lines, message_of

from mqsel.errors import ArgumentError, ProgramError
from mqsel.language import normal
from mqsel.language.dialect import JMS, PRESETS, Dialect
from mqsel.language.selector import read_selector
from mqsel.machine._set import Index
from mqsel.machine._values import Record
from mqsel.names import spellings
from mqsel.values import Float32, Int8, Int16, Int32

# 5 presets × 12 readings × this many sets of 40 selectors against 12 messages.
SETS = int(os.environ.get("MQSEL_SETS", "1"))
CHOICES = list(
    itertools.product(("operation", "selector", "unknown"), ("unknown", "selector"), ("literal", "expand")),
)


def formula(text: str, dialect: Dialect = JMS) -> normal.Formula:
    return normal.normal(read_selector(text, dialect)).true


def index_of(*texts: str, dialect: Dialect = JMS) -> Index:
    made = Index()
    made.add(range(len(texts)), [formula(text, dialect) for text in texts])
    return made


WRAPPERS = {"int8": Int8, "int16": Int16, "int32": Int32, "float32": Float32}


def record_of(index: Index, properties: oracle.Properties, dialect: Dialect) -> Record:
    """Fill a record for an index from typed properties, whichever spelling they have."""
    values = {
        spellings(name, dialect.headers)[0]: WRAPPERS[kind](value) if kind in WRAPPERS else value
        for name, (kind, value) in properties.items()
    }
    return Record(index.names, {name: values.get(name) for name in index.names})


def plain(index: Index, message: dict[str, Any]) -> Record:
    return Record(index.names, {name: message.get(name) for name in index.names})


def found(index: Index, record: Record) -> list[int]:
    """Search in all ways, which must agree."""
    places: list[int] = index.search(record)
    assert index.scan(record) == places
    assert index.count(record) == len(places)
    assert index.search_keys(record, [str(place) for place in range(10_000)]) == [str(place) for place in places]
    return places


def drawn(rng: random.Random, name: str, dialect: Dialect, selectors: int) -> tuple[list[str], list[oracle.Properties]]:
    """Draw selectors, and messages that they were written for."""
    cases = [strategies.random_case(rng, name) for _ in range(selectors)]
    return [text for text, _ in cases], [message for _, message in cases]


def wanted(nodes: Sequence[Any], message: oracle.Properties, dialect: Dialect) -> list[int]:
    return [place for place, node in enumerate(nodes) if oracle.evaluate(node, message, dialect) == "TRUE"]


@pytest.mark.parametrize("choices", CHOICES, ids="-".join)
@pytest.mark.parametrize("name", PRESETS)
def test_it_says_what_the_oracle_says(name: str, choices: tuple[str, str, str]) -> None:
    """Invariant: search = scan = the oracle of each selector, added at once, one by one, and from buffers."""
    rng = random.Random(f"{name} {choices}")
    dialect = PRESETS[name].replace(type_mismatch=choices[0], null_arithmetic=choices[1], between_null=choices[2])
    for _ in range(SETS):
        texts, messages = drawn(rng, name, dialect, 40)
        selectors = [read_selector(text, dialect) for text in texts]
        formulas = [normal.normal(selector).true for selector in selectors]
        nodes = [selector.node for selector in selectors]
        # Thrice each, so that a set is more than a tail; the copies are shared.
        whole = Index()
        whole.add(range(120), formulas * 3)
        slowly = Index()
        for place, one in enumerate(formulas * 3):
            slowly.add([place], [one])
        opened = Index.from_buffers([bytes(part) for part in slowly.to_buffers()])
        for message in rng.sample(messages, 12):
            right = wanted(nodes, message, dialect)
            right += [place + 40 * turn for turn in (1, 2) for place in right]
            for index in (whole, slowly, opened):
                assert found(index, record_of(index, message, dialect)) == right, (texts, message)
