"""What a message must have for a formula to be true, each message has that makes it true."""

from __future__ import annotations

import random

import pytest
import strategies
from meaning import holds, is_in, reader

from mqsel.language.dialect import JMS
from mqsel.language.nodes import Identifier
from mqsel.language.selector import read_selector
from mqsel.logic.formulas import All, Any, Leaf, Relation, fold, leaves
from mqsel.logic.needs import Needs, alternatives, needs
from mqsel.logic.normal import ALL_PARTS, normal, true_of

PAIRS = 400  # of each preset


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_a_message_that_makes_a_formula_true_has_what_it_needs(name: str) -> None:
    """Invariant: of TRUE, FALSE, ERR and MISMATCH alike; and what one operand of an OR needs."""
    rng = random.Random(f"needs {name}")
    dialect = strategies.DIALECTS[name]
    met = 0
    for _ in range(PAIRS):
        text, properties = strategies.random_case(rng, name)
        read = reader(properties, dialect.replace(null_arithmetic="unknown"))

        def has(needed: Needs, read=read) -> bool:  # type: ignore[no-untyped-def]
            return all(is_in(read(Identifier(one)), values) for one, values in needed.items())

        for formula in normal(read_selector(text, dialect), ALL_PARTS):
            if holds(formula, read):
                needed = needs(formula)
                assert needed is not None and has(needed), (text, properties)
                assert any(map(has, alternatives(formula))), (text, properties)
                met += bool(needed)
    assert met > PAIRS // 10


def test_what_is_needed() -> None:
    """Of AND all operands, of OR what each needs, of arithmetic numbers; and what is never true has no needs."""
    needed = needs(true_of(read_selector("(a = 1 AND b = 'x' OR a = 2) AND c + 1 > d", JMS)))

    assert needed is not None
    assert {name: values.integers for name, values in needed.items()} == {
        "a": ((1, 2),),
        "c": ((-(1 << 63), (1 << 63) - 1),),
        "d": ((-(1 << 63), (1 << 63) - 1),),
    }
    assert [*map(len, alternatives(true_of(read_selector("a = 1 AND b = 2 OR c = 3", JMS))))] == [2, 1]
    assert needs(true_of(read_selector("a = 1 AND a = 2", JMS))) is None


def test_a_fold_goes_from_left_to_right_and_meets_what_is_shared_once() -> None:
    """And it is no deeper than one call, however deep a formula is."""
    one, other, shared = (Leaf(Identifier(name), true_of(read_selector("a = 1", JMS)).values) for name in "abc")  # type: ignore[union-attr]
    formula = Any((All((one, shared)), All((shared, other))))

    assert [leaf.subject.name for leaf in leaves(formula) if isinstance(leaf.subject, Identifier)] == ["a", "c", "b"]  # type: ignore[union-attr]
    for _ in range(5_000):
        formula = All((one, Any((other, formula))))

    def depth(_: Leaf | Relation) -> int:
        return 0

    assert fold(formula, depth, lambda below: 1 + max(below), lambda below: 1 + max(below)) == 10_002
