"""The decompiler: the tree that is read from a program means what the program means; other code is refused."""

from __future__ import annotations

import itertools
import os
import random
import re
import time
from collections.abc import Callable

import interpreter
import oracle
import programs
import pytest
import strategies
from conftest import VECTORS_ROOT, dialects_of, json_lines, message_of

import mqsel
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.machine.decompiler import UnknownShapeError, read_back
from mqsel.machine.opcodes import TABLE
from mqsel.machine.program import Program, encode_code
from mqsel.names import spellings

# 5 presets × 12 readings × this many pairs.
PAIRS = int(os.environ.get("MQSEL_PAIRS", "12"))
CHOICES = list(
    itertools.product(("operation", "selector", "unknown"), ("unknown", "selector"), ("literal", "expand")),
)
SPECIAL = (float("inf"), float("-inf"), float("nan"))


def meaning(program: Program, properties: oracle.Properties, dialect: Dialect) -> str:
    """Read a program back, and let the oracle say what the tree is of a message."""
    named: oracle.Properties = {}
    for name in properties:
        found = spellings(name, dialect.headers)
        named[found[0]] = next(properties[one] for one in found if one in properties)
    selector = read_back(program)
    assert selector.dialect == dialect
    return oracle.evaluate(selector.node, named, dialect)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("name", sorted(path.stem for path in VECTORS_ROOT.glob("*.jsonl")))
def test_vectors(name: str, optimize: bool) -> None:
    """What is read from the program of a vector's selector has the truth value that the vector wants."""
    wrong = []
    for vector in json_lines(VECTORS_ROOT / f"{name}.jsonl"):
        if "want" not in vector:
            continue
        message = message_of(vector["properties"])
        typed = {each: (kind, message[each]) for each, (kind, _) in vector["properties"].items()}
        for label, dialect in dialects_of(vector["dialect"]):
            matcher = mqsel.compile(vector["selector"], dialect=dialect, optimize=optimize)
            got = meaning(matcher.program, typed, dialect)
            if got != vector["want"]:
                wrong.append(f"{vector['id']} [{label}] {vector['selector']!r}: wanted {vector['want']}, got {got}")

    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("choices", CHOICES, ids="-".join)
@pytest.mark.parametrize("name", PRESETS)
def test_random_selectors(name: str, choices: tuple[str, str, str]) -> None:
    """Invariant: the tree read from a program, optimized or not, is to the oracle what the selector is."""
    rng = random.Random(f"{name} {choices}")
    dialect = PRESETS[name].replace(type_mismatch=choices[0], null_arithmetic=choices[1], between_null=choices[2])
    for number in range(PAIRS):
        text, properties = strategies.random_case(rng, name)
        matcher = mqsel.compile(text, dialect=dialect, optimize=number % 2 == 0)
        wanted = mqsel.Truth(matcher.truth(strategies.to_message(properties))).name

        assert meaning(matcher.program, properties, dialect) == wanted, (text, properties)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a < 1e300 * 1e300", "TRUE"),
        ("a > -1e300 * 1e300", "TRUE"),
        ("a = 1e300 * 1e300 - 1e300 * 1e300", "FALSE"),
        ("a <> 0.0 / 0.0", "TRUE"),
        ("a + 1e300 * 1e300 > 5", "TRUE"),
    ],
)
@pytest.mark.parametrize("optimize", [True, False])
def test_numbers_without_a_literal(text: str, wanted: str, optimize: bool) -> None:
    """Infinity and NaN, which the optimizer computes and nobody can write, are read back."""
    matcher = mqsel.compile(text, optimize=optimize)

    assert meaning(matcher.program, {"a": ("int64", 5)}, matcher.dialect) == wanted


def changed(rng: random.Random, program: Program) -> Program | None:
    """Exchange an instruction or its operand, or shuffle the constants; None where that is no program."""
    code = list(program.code)
    at = rng.randrange(len(code))
    operand = rng.choice([0, 1, at + 1, at + 2, len(code) - 1])
    code[at] = rng.choice([rng.randrange(len(TABLE)) | operand << 8, rng.choice(code), code[at] & 0xFF | operand << 8])
    constants = [rng.choice(SPECIAL) if rng.random() < 0.1 else one for one in program.constants]
    rng.shuffle(constants)
    try:
        return Program(
            program.text, program.dialect, program.slots, tuple(constants), encode_code(code), program.span_table,
            program.exact,
        )  # fmt: skip
    except mqsel.ProgramError:
        return None


def test_random_programs() -> None:
    """Invariant: a verified program is refused, or its tree means what the table of instructions says of its code."""
    rng = random.Random(13)
    read = refused = 0
    while read < 60:
        if rng.random() < 0.5:
            program: Program | None = programs.random_program(rng)
            rows = programs.random_rows(rng, programs.NAMES, 3)
        else:
            name = rng.choice([*PRESETS])
            text, properties = strategies.random_case(rng, name)
            program = changed(rng, mqsel.compile(text, dialect=PRESETS[name], optimize=False).program)
            rows = [properties]
        if program is None:
            continue
        try:
            selector = read_back(program)
        except UnknownShapeError as error:
            assert str(error)
            refused += 1
            continue
        read += 1
        for row in rows:
            named = {spellings(one, program.dialect.headers)[0]: row[one] for one in row}
            wanted = interpreter.run(program, row, program.exact)
            assert oracle.evaluate(selector.node, named, program.dialect) == wanted, (program, row)

    assert refused > 60


LONG: dict[str, Callable[[int], str]] = {
    "or": lambda terms: " OR ".join(f"a{number % 1000} = {number}" for number in range(terms)),
    "and": lambda terms: " AND ".join(f"NOT (a{number % 1000} > 5 OR b)" for number in range(terms)),
    "sum": lambda terms: " - ".join(["a"] * terms) + " > 5",
    "product": lambda terms: " / ".join(["a"] * terms) + " > 5",
    "list": lambda terms: "s IN (" + ", ".join(f"'{number}'" for number in range(terms)) + ")",
    "nested": lambda terms: "a = 1 AND (b = 2 OR " * 200 + " OR ".join(["c LIKE 'x%'"] * terms) + ")" * 200,
}


@pytest.mark.parametrize("what", LONG)
def test_long_selectors_are_read_in_linear_time(what: str) -> None:
    """Five times the terms take about five times as long, up to 100,000 of the cheapest; Python's stack bears them."""
    seconds = []
    most = 100_000 if what in ("product", "list") else 10_000
    for terms in (most // 5, most):
        matcher = mqsel.compile(LONG[what](terms), dialect=mqsel.JMS)
        tries = []
        for _ in range(2):
            start = time.process_time()
            selector = read_back(matcher.program)
            tries.append(time.process_time() - start)
        seconds.append(min(tries))

    assert len(selector.order) > 1
    # A quadratic way takes 25 times as long.
    assert seconds[1] < 15 * seconds[0] + 0.1


def test_refusals_say_why() -> None:
    """A program that no compiler wrote is refused with a reason, and its batches go through the machine."""
    reasons = set()
    rng = random.Random(3)
    for _ in range(150):
        program = programs.random_program(rng)
        try:
            read_back(program)
        except UnknownShapeError as error:
            reasons.add(re.sub(r"^\w+ in the exact code|'.*", "…", str(error)))

    assert len(reasons) > 5
