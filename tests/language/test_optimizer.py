"""The laws of the optimizer, one by one; that they keep the four values is proved by vectors and differential tests."""

from __future__ import annotations

import pytest

import mqsel
from mqsel.language import nodes
from mqsel.language.dialect import IBM_MQ, JMS, Dialect
from mqsel.language.optimizer import optimize
from mqsel.language.selector import read_selector
from mqsel.machine.program import disassemble


def optimized(text: str, dialect: Dialect = JMS) -> str:
    return nodes.unparse(optimize(read_selector(text, dialect)).node)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # constants
        ("a = 2 + 3 * 4", "a = 14"),
        ("a = 7 / 2", "a = 3"),
        ("a = 7 / 2.0", "a = 3.5"),
        ("a = 9223372036854775807 + 1", "a = -9223372036854775808"),
        ("a = 1 / 0", "a = 1 / 0"),
        ("a + 1 + 2 > 3", "a + 1 + 2 > 3"),
        ("1 + 2 + a > 3", "3 + a > 3"),
        ("a = 1 AND 1 = 1", "a = 1"),
        ("1 = 2 OR a = 1", "a = 1"),
        ("1 = 2 AND a = 1", "FALSE"),
        ("a = 1 AND 1 = 2", "a = 1 AND FALSE"),
        ("a = 1 AND 1 = 2 AND b = 3", "a = 1 AND FALSE"),
        ("a = 1 OR TRUE OR b = 2", "a = 1 OR TRUE"),
        ("a = 1 AND 1 / 0 = 1", "a = 1 AND 1 / 0 = 1"),
        ("a = 1 AND 5 BETWEEN 1 AND 9", "a = 1"),
        ("a = TRUE AND NOT FALSE", "a = TRUE"),
        # literals to the right
        ("5 < a", "a > 5"),
        ("'x' = a", "a = 'x'"),
        # NOT
        ("NOT NOT (a = 1)", "a = 1"),
        ("NOT NOT a", "NOT NOT a"),
        ("NOT (a = 1 AND b = 2)", "NOT (a = 1) OR NOT (b = 2)"),
        ("NOT (a = 1 OR NOT b IS NULL AND c)", "NOT (a = 1) AND (b IS NULL OR NOT c)"),
        ("NOT (a = 1)", "NOT (a = 1)"),
        ("NOT (a IN ('x'))", "NOT (a IN ('x'))"),
        ("NOT a IS NOT NULL", "a IS NULL"),
        ("(TRUE AND a) = FALSE", "(NOT NOT a) = FALSE"),
        ("(NOT (FALSE OR a)) <> b", "(NOT a) <> b"),
        # chains
        ("(a = 1 AND b = 2) AND (c = 3 AND d = 4)", "a = 1 AND b = 2 AND c = 3 AND d = 4"),
        ("(a = 1 OR b = 2) OR c = 3", "a = 1 OR b = 2 OR c = 3"),
        # IN
        ("a = 'x' OR a = 'y' OR a IN ('z')", "a IN ('x', 'y', 'z')"),
        ("a = 'x' OR b = 1 OR a = 'y'", "a = 'x' OR b = 1 OR a = 'y'"),
        ("a = 'x' OR a = 5", "a = 'x' OR a = 5"),
        ("a = 'x' OR a NOT IN ('y')", "a = 'x' OR a NOT IN ('y')"),
        # BETWEEN
        ("a >= 1 AND a <= 5", "a BETWEEN 1 AND 5"),
        ("a >= 1 AND b <= 5", "a >= 1 AND b <= 5"),
        ("a >= 1 AND b = 2 AND a <= 5", "a >= 1 AND b = 2 AND a <= 5"),
        # LIKE
        ("a LIKE 'x'", "a = 'x'"),
        ("a NOT LIKE 'x!%' ESCAPE '!'", "a <> 'x%'"),
        ("a LIKE ''", "a = ''"),
        ("a LIKE 'a%b' ESCAPE '%'", "a = 'a%b'"),
    ],
)
def test_laws(text: str, wanted: str) -> None:
    """Each law where it holds, and the near misses where it does not."""
    assert optimized(text) == wanted


def test_between_is_joined_where_the_dialect_expands_it() -> None:
    """In IBM MQ a NULL makes BETWEEN FALSE and the comparisons UNKNOWN: they stay apart."""
    assert optimized("a >= 1 AND a <= 5", IBM_MQ) == "a >= 1 AND a <= 5"


@pytest.mark.parametrize(
    ("pattern", "opcode"),
    [
        ("'x%'", "STARTS_WITH"),
        ("'%x'", "ENDS_WITH"),
        ("'%%x%'", "CONTAINS"),
        ("'x%y'", "LIKE"),
        ("'x_'", "LIKE"),
        ("'_%'", "LIKE"),
        ("'%'", "LIKE"),
        ("'x!%%' ESCAPE '!'", "STARTS_WITH"),
        ("'x!!%' ESCAPE '!'", "STARTS_WITH"),
    ],
)
def test_shapes_of_like(pattern: str, opcode: str) -> None:
    """A pattern with % at its ends alone becomes a comparison of text."""
    code = mqsel.compile(f"a LIKE {pattern}", dialect=JMS).program.code
    names = [line.name for line in disassemble(mqsel.compile(f"a LIKE {pattern}", dialect=JMS).program)]

    assert code
    assert f"{opcode}_SLOT" in names


def test_unoptimised_programs_have_exact_code_only() -> None:
    """optimize=False leaves the tree as parsed, without quick code and fused instructions."""
    plain = mqsel.compile("NOT (a = 1 AND b = 'x')", optimize=False).program
    names = {line.name for line in disassemble(plain)}

    assert plain.exact == 0
    assert not any("_SLOT" in name and name != "PUSH_SLOT" for name in names)
    assert not any(name.startswith("BRANCH") for name in names)
