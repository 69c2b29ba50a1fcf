"""A selector laid out for people is the same selector."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain

import pytest
import strategies
from conftest import VECTORS_ROOT, dialects_of, json_lines, shared
from strategies import LETTERS, random_case

import mqsel
from mqsel.carets import cells
from mqsel.errors import SelectorError
from mqsel.language.dialect import Dialect
from mqsel.language.format import WIDTH, formatted
from mqsel.language.selector import Selector, read_selector
from mqsel.machine.program import Program


def layout(text: str, dialect: Dialect = mqsel.IBM_MQ, width: int = WIDTH) -> str:
    return formatted(read_selector(text, dialect), width)


def parts(program: Program) -> list[object]:
    return [program.code, repr(program.constants), program.slots, program.dialect]  # NaN equals nothing


def assert_same(text: str, dialect: Dialect, width: int = WIDTH) -> None:
    """Hold what every layout keeps."""
    once = layout(text, dialect, width)
    before, after = read_selector(text, dialect), read_selector(once, dialect)
    assert before.node == after.node
    assert before.match_option == after.match_option
    assert parts(mqsel.compile(text, dialect=dialect).program) == parts(mqsel.compile(once, dialect=dialect).program)
    assert layout(once, dialect, width) == once


def valid(path: str) -> Iterator[tuple[str, Dialect]]:
    for vector in json_lines(VECTORS_ROOT / path):
        for _, dialect in dialects_of(vector["dialect"]):
            try:
                yield read_selector(vector["selector"], dialect).text, dialect
            except SelectorError:
                continue


@pytest.mark.sample(6)
@pytest.mark.parametrize("path", [path.name for path in sorted(VECTORS_ROOT.glob("*.jsonl"))])
def test_vectors(path: str) -> None:
    """Invariant: of every valid vector the layout is the same tree and program, and its own layout."""
    for text, dialect in valid(path):
        for width in (1, WIDTH):
            assert_same(text, dialect, width)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", LETTERS)
def test_random_selectors(name: str) -> None:
    """Invariant: of every selector the layout is the same tree and program, and its own layout."""
    rng = random.Random(16)
    for _ in range(300):
        assert_same(random_case(rng, name)[0], strategies.DIALECTS[name], rng.choice((1, 20, WIDTH)))


def test_wild_selectors() -> None:
    """What people wrote keeps its meaning, and has no line that is longer than it must be."""
    seen = 0
    for vector in json_lines(shared("vectors", "wild-selectors.jsonl")):
        try:
            text = read_selector(vector["selector"], mqsel.IBM_JAVA_CLIENT).text
        except SelectorError:
            continue
        seen += 1
        assert_same(text, mqsel.IBM_JAVA_CLIENT)
        longest = max(map(cells, layout(text, mqsel.IBM_JAVA_CLIENT).split("\n")))
        assert longest <= WIDTH or vector["id"] in ("wild-271", "wild-272")
    assert seen > 100


def test_lines_follow_the_structure() -> None:
    """A line for each operand where one line is too short; parentheses that help, and none that do not."""
    text = "((a = 1)) and not b like 'x%' and (c in ('u','v') or d is not null and e between 1 and 0x1F)"

    assert layout(text, width=60).split("\n") == [
        "a = 1",
        "AND NOT (b LIKE 'x%')",
        "AND (",
        "  c IN ('u', 'v')",
        "  OR (d IS NOT NULL AND e BETWEEN 1 AND 0x1F)",
        ")",
    ]
    assert layout(text, width=200) == (
        "a = 1 AND NOT (b LIKE 'x%') AND (c IN ('u', 'v') OR (d IS NOT NULL AND e BETWEEN 1 AND 0x1F))"
    )
    assert layout("a NOT IN ('one','two','three','four')", width=24).split("\n") == [
        "a NOT IN (",
        "  'one', 'two', 'three',",
        "  'four'",
        ")",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n", ""),
        ("true", "TRUE"),
        ("not not flag", "NOT NOT flag"),
        ("( a or b )or c", "(a OR b) OR c"),
        ("(a=1)=true", "(a = 1) = TRUE"),
        ("x>- 5", "x > -5"),
        ("n--5 = 0", "n - -5 = 0"),
        (f"(JMSMessageID='ID:{'0a' * 24}')", f"(JMSMessageID = 'ID:{'0a' * 24}')"),
        (f"JMSMessageID='ID:{'0a' * 24}'", f"JMSMessageID = 'ID:{'0a' * 24}'"),
    ],
)
def test_single_lines(text: str, expected: str) -> None:
    """Short selectors stay in one line; names, numbers and what is matched as an identifier stay as they are."""
    assert layout(text) == expected


def test_limits() -> None:
    """Where parentheses or blanks would break a limit of the dialect the layout does without, deep or long."""
    deep = "(a OR b AND " * 400 + "c" + ")" * 400
    selector: Selector = read_selector(deep, mqsel.IBM_MQ)
    assert read_selector(formatted(selector), mqsel.IBM_MQ).node == selector.node
    assert layout("NOT " * 499 + "a = 1", width=20).startswith("NOT NOT ")
    long = "a=1OR b=2 OR " * 780 + "c=3"
    assert len(long) < 10240 < len(long.replace("=", " = "))
    assert layout(long) == long


def test_long_chains() -> None:
    """A chain of 20,000 tests is laid out without a stack of its length."""
    text = " OR ".join(chain.from_iterable((f"a = {n}", f"b LIKE '%{n}_'") for n in range(10_000)))
    limitless = mqsel.IBM_MQ.replace(max_length=None)

    assert layout(text, limitless).count("\n") == 19_999
