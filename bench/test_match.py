"""Messages: W1-W7 over every form of message, by everyone who can; whole streams and single calls."""

from __future__ import annotations

import math
from random import Random

import pytest
import workloads

from mqsel.language import dialect
from mqsel.language.selector import read_selector

SELECTORS = workloads.selectors()
WAYS = [
    *[(form, "mqsel") for form in workloads.FORMS],
    *[(form, who) for form in ("dicts", "json") for who in ("lambda", "comprehension")],
    *[("dicts", "floor by_hash"), ("dicts", "floor by_place"), ("json", "floor by_hash"), ("tuples", "floor by_index")],
]


@pytest.mark.parametrize("size", workloads.SIZES)
@pytest.mark.parametrize(("form", "who"), WAYS)
@pytest.mark.parametrize("name", SELECTORS)
def test_filter(request, benchmark, per_message, name, form, who, size):
    """Select from 20,000 messages: streamed, or 2,000 of them ten times."""
    if not workloads.has_form(form):
        pytest.skip("pyspark is not installed: no Rows")
    floor = request.getfixturevalue("floor") if who.startswith("floor") else None
    select = workloads.contenders(name, SELECTORS[name], form, floor)[who]
    workloads.assert_selected(select, SELECTORS[name], form, size)
    benchmark.group = f"{name} {form} {size}"
    per_message(workloads.rounds_of(select, form, size))


@pytest.mark.parametrize("who", ["mqsel", "lambda"])
@pytest.mark.parametrize("name", SELECTORS)
def test_one_call(benchmark, per_message, name, who):
    """Call `matches`, or the lambda, for one message at a time."""
    text = SELECTORS[name]
    test = workloads.matcher(text).matches if who == "mqsel" else workloads.by_lambda(name, text)
    workloads.assert_selected(lambda messages: list(filter(test, messages)), text, "dicts", "2k")
    benchmark.group = f"{name} one call"
    per_message(workloads.calls_of(test, "2k"))


def test_selectors_made_from_the_seed():
    """W6 and W7 without the shared material are of the same kind, and everyone agrees on them."""
    for name, text in workloads.selectors(shared=False).items():
        assert read_selector(text, dialect.IBM_MQ).remarks().tests == workloads.TESTS[name]
        for select in workloads.contenders(name, text, "dicts", None).values():
            workloads.assert_selected(select, text, "dicts", "20k")


def test_floor_means_the_same(floor):
    """The floor agrees with the engine where types do not fit, numbers wrap and are none, and text is not ASCII."""
    random = Random(workloads.SEED)
    odd = (None, 4, -1, 2**62, 2.5, 2500.0, math.nan, math.inf, True, False, "blue", "ABé", "S1", "éwest", "west€", b"")
    given = [
        tuple([random.choice(odd) if random.random() < 0.4 else value for value in row]) for row in workloads.rows(2000)
    ]
    spelled = [
        {name: value for name, value in zip(workloads.NAMES, row, strict=True) if value is not None} for row in given
    ]
    for name, text in SELECTORS.items():
        want = [place for place, message in enumerate(spelled) if workloads.matcher(text).matches(message)]
        for way, messages in ("by_hash", spelled), ("by_place", spelled), ("by_index", given):
            assert (name, way, [messages[place] for place in want]) == (name, way, getattr(floor, way)(name, messages))


def test_shared_counts():
    """On the shared messages the hit counts are those written beside them."""
    if not workloads.SHARED.exists():
        pytest.skip("workloads do not stand beside this checkout")
    given = workloads.shared_messages()
    for name, text in SELECTORS.items():
        want = workloads.shared_counts()[name]
        evaluate = workloads.evaluator(text)
        assert want == sum(evaluate(message) is workloads.TRUE for message in given)
        for who, select in workloads.contenders(name, text, "dicts", None).items():
            assert (who, want) == (who, len(select(given)))
