"""Limits and spans of the front end; what it accepts and refuses stands in the vectors."""

from __future__ import annotations

import gc
import itertools
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import strategies
from conftest import ROOT

import mqsel
from mqsel import errors
from mqsel.language import nodes
from mqsel.language.dialect import IBM_JMS, IBM_MQ, JMS
from mqsel.language.lexer import tokenize
from mqsel.language.parser import MAX_NESTING, parse, parse_in_order

FLAT = {
    "and": " AND ".join(f"a{i % 50} = {i}" for i in range(100_000)),
    "or": " OR ".join(f"a = 's{i}'" for i in range(100_000)),
    "sum": "0 < " + " + ".join(["a"] * 100_000),
    "product": "0 < " + " * ".join(["a"] * 100_000),
    "in": f"a IN ({', '.join(map(repr, map(str, range(100_000))))})",
}


@pytest.mark.long
@pytest.mark.parametrize("name", FLAT)
def test_flat_chains_compile(name: str) -> None:
    """A flat chain of 100,000 terms compiles and runs."""
    matcher = mqsel.compile(FLAT[name], dialect=JMS)

    assert matcher.matches({"a": "7"}) == (name == "in")
    assert mqsel.compile(FLAT[name], dialect=JMS, optimize=False).evaluate({}) is mqsel.Truth.UNKNOWN
    assert len(nodes.unparse(parse(FLAT[name], JMS))) > 100_000


@pytest.mark.parametrize("name", strategies.JMS_PRESETS)
def test_nodes_are_made_in_the_order_of_a_walk(name: str) -> None:
    """Invariant: the nodes that the parser lists are those that `walk` lists, each once, children before parents."""
    rng = random.Random(5)
    fixed = ["", "a", "NOT (TRUE)", "-(5) < - - 5 + -a", "a NOT BETWEEN -1 AND +b * 2 OR (a) = 'x' AND b IS NOT NULL"]
    for text in [*fixed, *[strategies.random_case(rng, name)[0] for _ in range(2000)]]:
        listed = parse_in_order(text, strategies.JMS_PRESETS[name])

        assert [*map(id, listed)] == [*map(id, nodes.walk(listed[-1]))], text


def nested(opening: str, terms: int) -> str:
    """Put an AND chain of *terms* into terms / 10 levels that change between AND and OR."""
    depth = terms // 10
    opened = "".join([f"{opening}(b = {i} {'AND' if i % 2 else 'OR'} " for i in range(depth)])
    return f"{opened}{' AND '.join([f'a = {i}' for i in range(terms)])}{')' * depth}"


GROWING = {
    "flat": lambda terms: " AND ".join(f"(a{i % 50} = {i} OR NOT b LIKE 'x%{i}')" for i in range(terms)),
    "NOT": lambda terms: nested("NOT ", terms),
    "parentheses": lambda terms: nested("", terms),
    "AND in AND": lambda terms: "(a = 1 AND " * (terms // 5) + "b = 2" + ")" * (terms // 5),
    "AND before AND": lambda terms: "(" * (terms // 5) + "b = 2" + " AND a = 1)" * (terms // 5),
    "strings": lambda terms: " OR ".join(f"a = 's{i}'" for i in range(terms)),
    "strings and lists": lambda terms: " OR ".join(f"a = 's{i}' OR a IN ('w')" for i in range(terms)),
    "NOT of strings": lambda terms: f"NOT ({' OR '.join(f'a IN ({i!r})' for i in map(str, range(terms)))})",
    "twins": lambda terms: "a IN ('w'" + ", 'w'" * terms + ")",
    "cases": lambda terms: " OR ".join(f"a = 's{i}' AND b = {i}" for i in range(terms)),
    "bounds": lambda terms: " AND ".join(f"a >= {i} AND a <= {2 * i}" for i in range(terms)),
    "divisions": lambda terms: " OR ".join(f"(a / b = {i} AND b / a = {i})" for i in range(terms)),
    "sum": lambda terms: "0 < " + " + ".join(["1"] * terms + ["a"] * terms),
    "signs": lambda terms: "0 < " + "+(" * (terms // 10) + " + ".join(["- a"] * terms) + ")" * (terms // 10),
}


def work_of(action: Callable[[], object]) -> int:
    """Count the lines that *action* runs in mqsel: no clock, no noise."""
    count = 0

    def line(*_: object) -> Callable[..., Any]:
        nonlocal count
        count += 1
        return line

    def call(frame: FrameType, *_: object) -> Callable[..., Any] | None:
        return line if "mqsel" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def work_of_compiling() -> dict[str, list[int]]:
    """Count the lines run for 100 terms, and for 800."""
    texts = {name: [made(terms) for terms in (100, 800)] for name, made in GROWING.items()}
    return {
        name: [work_of(lambda text=text: mqsel.compile(text, dialect=IBM_JMS)) for text in both]
        for name, both in texts.items()
    }


@pytest.fixture(scope="module")
def compiling() -> dict[str, list[int]]:
    """Compile by the sources: what is compiled from them runs no lines."""
    script = (
        "import json, sys; sys.path[:0] = ['tests', 'tests/language']; import interpreted, test_parser;"
        "assert test_parser.parse.__code__.co_filename.endswith('.py');"
        "print(json.dumps(test_parser.work_of_compiling()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    counted: dict[str, list[int]] = json.loads(done.stdout)
    return counted


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", GROWING)
def test_compiling_grows_with_the_length(name: str, compiling: dict[str, list[int]]) -> None:
    """Eight times the terms and the depth are at most ten times the lines run: nothing walks what it has walked."""
    small, large = compiling[name]

    assert len(GROWING[name](800)) > 7 * len(GROWING[name](100))
    assert small > 300  # each of 100 terms is parsed, checked and lowered
    assert large < 10 * small


@pytest.mark.parametrize("name", ["flat", "NOT", "parentheses", "AND in AND"])
def test_explaining_grows_with_the_length(name: str) -> None:
    """The same of an explanation: each test is evaluated once, not once for every level above it."""
    small, large = [mqsel.compile(GROWING[name](terms), dialect=IBM_JMS) for terms in (20, 160)]
    work = [work_of(lambda matcher=matcher: matcher.explain({"a": 1})) for matcher in (small, large)]

    assert work[1] < 12 * work[0], work


@pytest.mark.long
@pytest.mark.parametrize("name", ["flat", "strings", "strings and lists", "NOT of strings", "cases", "twins"])
def test_compile_time_is_linear(name: str) -> None:
    """Ten times the terms, compiled and decoded, take at most twenty times the CPU: nothing copies what it copied."""
    times = []
    for terms in (3_000, 30_000):
        text = GROWING[name](terms)
        taken = []
        for _ in range(3):
            gc.collect()
            gc.disable()  # the collector walks what other tests have left, too
            began = time.process_time()
            mqsel.compile(text, dialect=JMS.replace(max_length=10_000_000 + len(taken))).matches({"a": "s"})
            taken.append(time.process_time() - began)
            gc.enable()
        times.append(min(taken))

    assert times[1] < 20 * times[0], times


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("NOT ", ""), ("NOT (", ")"), ("- ", ""), ("-", ""), ("-(", ")"), ("(a = 1 OR (b = 2 AND ", "))")],
)
@pytest.mark.parametrize("depth", [100, 200, 490, 600, 10_000, 200_000])
def test_deep_nesting(opening: str, closing: str, depth: int) -> None:
    """Nesting compiles or is a SelectorLimitError: never a RecursionError, whatever is left of the stack."""
    inner = "a = 1" if "-" not in opening else "a"
    tail = "" if "-" not in opening else " = 1"
    text = opening * depth + inner + closing * depth + tail

    def at_the_brink(frames: int) -> None:
        if frames:
            at_the_brink(frames - 1)
            return
        try:
            matcher = mqsel.compile(text, dialect=JMS)
            assert mqsel.compile(text, dialect=JMS, optimize=False) == matcher
            tree = parse(text, JMS)
            assert parse(nodes.unparse(tree), JMS) == tree
            assert hash(tree) == hash(parse(text, JMS))
            assert repr(tree)
            matcher.evaluate({"a": 1})
        except errors.SelectorLimitError as error:
            assert error.reason == 2459
            assert depth * (opening.count("(") + opening.count("NOT") + opening.count("-")) > MAX_NESTING
        else:
            assert depth * (opening.count("(") + opening.count("NOT") + opening.count("-")) <= MAX_NESTING

    at_the_brink(sys.getrecursionlimit() // 2)


@pytest.mark.parametrize("number", ["957", "0.0", "9223372036854775808"])
def test_signs_at_the_limit(number: str) -> None:
    """As many signs as may nest, the last a number's own, survive unparse: found by the text fuzzer."""
    tree = parse("- " * MAX_NESTING + f"{number} = a", JMS)

    assert parse(nodes.unparse(tree), JMS) == tree
    with pytest.raises(errors.SelectorLimitError):
        parse("- " * (MAX_NESTING + 1) + f"{number} = a", JMS)


def test_length_limit() -> None:
    """10,240 code points compile in IBM MQ, one more is 2519; other dialects have no limit."""
    text = f"a = '{'x' * 10234}'"
    assert len(text) == 10240
    mqsel.compile(text)
    with pytest.raises(errors.SelectorLimitError) as caught:
        mqsel.compile(text + " ")

    assert caught.value.reason == 2519
    assert caught.value.span == (10240, 10241)
    mqsel.compile(text + " ", dialect=JMS)


@pytest.mark.parametrize("name", strategies.JMS_PRESETS)
def test_spans(name: str) -> None:
    """Invariant: spans of tokens rise and end with "end"; a node's span holds its children's; its text parses back."""
    rng = random.Random(name)
    for _ in range(500):
        text, _ = strategies.random_case(rng, name)
        tokens = tokenize(text, strategies.JMS_PRESETS[name])
        assert tokens[-1].kind == "end"
        assert [t.start for t in tokens] == sorted({t.start for t in tokens})
        assert all(a.stop <= b.start for a, b in itertools.pairwise(tokens))
        for node in nodes.walk(parse(text, strategies.JMS_PRESETS[name])):
            start, stop = node.span
            assert 0 <= start < stop <= len(text)
            for child in nodes.children(node):
                assert start <= child.span[0] <= child.span[1] <= stop
            if isinstance(node, (nodes.And, nodes.Or, nodes.Not, nodes.Comparison)):
                assert parse(text[start:stop], strategies.JMS_PRESETS[name]) == node, (text, node)


def test_huge_numbers_are_refused_quickly() -> None:
    """A literal of a million digits costs no quadratic conversion."""
    began = time.process_time()
    for text in ("a = " + "9" * 1_000_000, "a = 0x" + "F" * 1_000_000, "a = 1E" + "9" * 1_000_000):
        with pytest.raises(errors.SelectorSyntaxError):
            mqsel.compile(text, dialect=JMS)
    mqsel.compile("a = " + "0" * 1_000_000 + "1.0", dialect=JMS)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "is_remark"),
    [
        ("a = 1 -- some remark", True),
        ("a = 1 -- isn't it?", True),
        ("a = 1 -- 3rd", True),
        ("a = 'x' -- remark", True),
        ("a IN ('x') -- remark", True),
        ("a = 1 AND b -- active", True),
        ("a -- remark", True),
        ("a = 1--", True),
        ("-- remark\na = 1", True),
        ("a = 1 -- some remark\nAND b = 2", True),
        ("a == 1 -- remark", False),
        ("a = 'x -- y", False),
        ("a = '--' b", False),
        ("a = 5--b AND c = 'x' + 1", False),
        ("a = 5--b AND\n\nc = = 1", False),
    ],
)
def test_two_minus_signs_are_no_comment(text: str, is_remark: bool) -> None:
    """Where ``--`` was meant as a comment and does not parse, the hint says so; other mistakes keep their own hint."""
    with pytest.raises((errors.SelectorSyntaxError, errors.SelectorTypeError)) as caught:
        mqsel.compile(text, dialect=JMS)

    assert ("no comments" in (caught.value.hint or "")) == is_remark, caught.value


def test_tokens_of_numbers() -> None:
    """Hexadecimal, octal and suffixes give the values Java gives."""
    values = [t.value for t in tokenize("0x1F 0XffL 017 0 00 7. .5 5F 7E3 1e-2d 5L", JMS)][:-1]

    assert values == [31, 255, 15, 0, 0, 7.0, 0.5, 5.0, 7000.0, 0.01, 5]
    assert [t.kind for t in tokenize("5 5.0 'x' TRUE a \"0x0A\"", IBM_MQ)] == [
        "exact",
        "approximate",
        "string",
        "TRUE",
        "identifier",
        "bytes",
        "end",
    ]
