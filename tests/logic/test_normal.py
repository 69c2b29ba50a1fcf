"""The negation-free normal form says of every message what the oracle says of the tree."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import oracle
import pytest
import strategies
from meaning import PARTS, holds, is_in, reader, said, walked
from volumes import volume

from mqsel.language import nodes
from mqsel.language.dialect import IBM_JMS, IBM_MQ, JMS, Dialect
from mqsel.language.optimizer import optimize
from mqsel.language.selector import read_selector
from mqsel.logic import intervals, normal, sets
from mqsel.logic.formulas import ALWAYS, NEVER, All, Compared, Formula, Leaf, Relation, complement
from mqsel.logic.sets import Floats, Texts, Values
from mqsel.values import Float32, Truth

# 5 presets × 12 readings × this many pairs.
PAIRS = volume(12, smoke=3)


def check(text: str, properties: oracle.Properties, dialect: Dialect) -> None:
    """Hold a normal form against the oracle, and its formulas against their complements."""
    selector = read_selector(text, dialect)
    made = normal.normal(selector, normal.ALL_PARTS)
    read = reader(properties, dialect)
    wanted = oracle.evaluate(selector.node, properties, dialect)

    assert said(made, read) == [wanted], (text, properties, dialect)
    met = oracle.meets_mismatch(selector.node, properties, dialect)
    assert holds(made.mismatch, read) is met, (text, properties, dialect)
    assert holds(complement(made.mismatch), read) is not met, (text, properties, dialect)
    # To compute a subject needs no dialect.
    read = reader(properties, dialect.replace(null_arithmetic="unknown"))
    assert said(made, read) == [wanted], (text, properties, dialect)
    assert said(normal.normal(optimize(selector)), read) == [wanted], (text, properties, dialect)
    for truth, part in PARTS.items():
        formula = getattr(made, part)
        other = complement(formula)
        assert holds(other, read) == (wanted != truth), (text, part, properties, dialect)
        assert holds(complement(other), read) == (wanted == truth), (text, part, properties, dialect)


@pytest.mark.sample(18)
@pytest.mark.parametrize("reading", strategies.READINGS, ids=strategies.name_of)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_it_says_what_the_oracle_says(name: str, reading: dict[str, str]) -> None:
    """Invariant: just that one of T, F, E and UNKNOWN is true which the oracle gives, and no complement of it."""
    rng = random.Random(f"{name} {reading}")
    dialect = strategies.DIALECTS[name].replace(**reading)
    for _ in range(PAIRS):
        check(*strategies.random_case(rng, name), dialect)


def test_what_matches_any_identifier_is_true() -> None:
    """Language §8: 24 zero bytes match every message."""
    text = f"JMSMessageID = 'ID:{'0' * 48}'"

    assert normal.normal(read_selector(text, IBM_JMS), normal.ALL_PARTS) == (ALWAYS, NEVER, NEVER, NEVER)
    assert isinstance(normal.normal(read_selector(text, JMS)).true, Leaf)


def test_a_part_has_a_normal_form() -> None:
    """A part of a selector is asked for like a selector, by other choices perhaps."""
    selector = read_selector("a = 1 AND usr.b > 2", IBM_MQ)
    made = normal.normal(selector.part(selector.node.operands[1], IBM_JMS))

    assert isinstance(made.true, Leaf) and made.true.subject == nodes.Identifier("b")
    assert isinstance(made.error, Leaf) and made.error.values.booleans == (True, True)


def test_every_test_has_outcomes_of_its_own() -> None:
    """A test that is ERR for another kind stands beside one that is FALSE, whichever dialect the text was read by."""
    selector = read_selector("a = 1 OR a = 'x' OR a LIKE 'y%'", JMS)
    assert isinstance(selector.node, nodes.Or)
    strict, *others = selector.node.operands
    assert isinstance(strict, nodes.Comparison)
    made = normal.normal(selector.part(nodes.Or((strict._replace(other=Truth.ERR), *others))))

    assert shown(made.error) == shown(normal.normal(selector.part(strict, IBM_JMS)).error)
    assert shown(made.true) != shown(normal.normal(selector).true)


# ---- shape -----------------------------------------------------------------------------------------------------------


def shown(formula: Formula) -> str:
    """Write a small formula."""
    if isinstance(formula, (Leaf, Relation)):
        sides = formula[:1] if isinstance(formula, Leaf) else formula[:2]
        written = " ".join(nodes.unparse(one) for one in sides)
        if isinstance(formula, Leaf):
            return f"{written} {outline(formula.values)}"
        return f"{written} {'|'.join(one.name for one in Compared if one in formula.outcomes)}"
    return f"{type(formula).__name__}({', '.join(map(shown, formula.parts))})"


def outline(values: Values) -> str:
    """Write the lanes of a set that are neither empty nor full, and the names of the full ones."""
    words = []
    for lane, held in zip(Values._fields, values, strict=True):
        if held is True or (held and held == getattr(sets.PROPERTY, lane)):
            words.append(lane)
        elif held != getattr(sets.NOTHING, lane):
            words.append(f"{lane}:{written(lane, held)}")
    return "|".join(words)


def written(lane: str, held: Any) -> str:
    """Write one lane."""
    if lane == "booleans":
        return str(held[1]).upper()
    if isinstance(held, Texts):
        patterns = ["%".join("".join(one or "_" for one in part) for part in pattern) for pattern in held.patterns]
        return "-" * held.negated + ",".join(sorted(map(str, held.points)) + sorted(patterns))
    intervals = held.intervals if isinstance(held, Floats) else held
    return ",".join(str(low) if low == high else f"{low}..{high}" for low, high in intervals) + (
        ",nan" if isinstance(held, Floats) and held.nan else ""
    )


def true(text: str, dialect: Dialect = JMS) -> str:
    return shown(normal.normal(read_selector(text, dialect)).true)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # one interval; one set
        ("p >= 5 AND p < 10", "p integers:5..9|floats32:5.0..9.999999046325684|floats64:5.0..9.999999999999998"),
        (
            "p >= 5 AND q AND p < 10",
            "All(p integers:5..9|floats32:5.0..9.999999046325684|floats64:5.0..9.999999999999998, q booleans:TRUE)",
        ),
        ("p = 3 OR p = 1 OR p = 2", "p integers:1..3|floats32:1.0,2.0,3.0|floats64:1.0,2.0,3.0"),
        ("p = 'x' OR p IN ('z', 'y')", "p strings:x,y,z"),
        ("p = 'x' OR p = 1", "p integers:1|floats32:1.0|floats64:1.0|strings:x"),
        ("p <> 'x' AND p <> 'y'", "p strings:-x,y"),
        ("p = 5 OR p > 5", "p integers:5..9223372036854775807|floats32:5.0..inf|floats64:5.0..inf"),
        ("NOT p > 5 AND p IN ('x', 'y')", "p strings:x,y"),
        # patterns
        ("p LIKE 'a%' OR p = 'b' OR p LIKE '%c'", "p strings:b,%c,a%"),
        ("p LIKE 'a_%' AND p IN ('a', 'ab', 'b')", "p strings:ab"),
        ("p LIKE 'a%' AND p <> 'b'", "p strings:a%"),
        ("p LIKE 'a%' AND p <> 'ab'", "All(p strings:a%, p strings:-ab)"),
        ("p LIKE 'a%' AND p LIKE '%b'", "All(p strings:a%, p strings:%b)"),
        ("p LIKE 'a%' AND p LIKE 'a%'", "p strings:a%"),
        ("p NOT LIKE 'a%' AND p NOT LIKE '%b' AND p <> 'c'", "p strings:-c,%b,a%"),
        ("p LIKE 'a%' AND p IS NOT NULL", "p strings:a%"),
        ("p LIKE '%'", "p strings"),
        ("p LIKE 'a'", "p strings:a"),
        # constants
        ("p = 1 AND p = 2", "Any()"),
        ("p = 1 OR 1 = 1", "All()"),
        ("p IS NULL OR p IS NOT NULL", "All()"),
        ("p = 'x' AND 2 > 1", "p strings:x"),
        (
            "p + 1 > 5 OR p + 1 <= 5 OR q = 'x'",
            "Any(p + 1 integers|floats32:-inf..inf|floats64:-inf..inf, q strings:x)",
        ),
        ("p > 1.0 / 0.0 AND p < 5", "Any()"),
        ("p + q > 1 AND p + q < 1", "Any()"),
        ("p > q OR p = q", "p q EQUAL|GREATER|SAME"),
        ("p > q AND p < q", "Any()"),
    ],
)
def test_leaves_over_one_property_are_joined(text: str, wanted: str) -> None:
    """What is said of one property under one connective is one set, where it can be written."""
    assert true(text) == wanted


@pytest.mark.parametrize(
    ("text", "dialect", "wanted"),
    [
        # Kleene alone where nothing can be ERR.
        ("p = 'x' AND q = 'y'", IBM_MQ, "Any()"),
        # Arithmetic is ERR where a property is NULL: no arithmetic is needed to see it.
        ("p + 1 > 5 OR q = 'y'", IBM_MQ, "p null"),
        (
            "p IS NULL OR q * r > 5",
            IBM_MQ,
            "All(p booleans|integers|floats32|floats64|strings|bytes, Any(q null, r null))",
        ),
        ("p / 2 > 5", IBM_MQ, "p null"),
        ("p / q > 5", JMS, "p / q error"),
        ("p / 2.5 > 5 OR 1.0 / p > 5", JMS, "Any()"),
        ("p > 5", IBM_JMS, "p booleans|strings|bytes"),
        ("p + 1 > 5", IBM_JMS, "p null|booleans|strings|bytes"),
        ("p > q", IBM_JMS, "p q SAME|DIFFERENT|MISMATCH"),
        ("p + 1 > q", IBM_JMS, "Any(p null, p + 1 q MISMATCH)"),
        ("1 / 0 = 1 OR p", IBM_MQ, "All()"),
    ],
)
def test_where_it_is_err(text: str, dialect: Dialect, wanted: str) -> None:
    """Guards and ERR are no more than what can be ERR."""
    assert shown(normal.normal(read_selector(text, dialect)).error) == wanted


def test_trees_are_told_apart() -> None:
    """What differs by the sign of a zero, or by infinity and a name like it, is not one subject."""
    texts = [
        "1 / (p * 0.0) > 0 AND 1 / (p * -0.0) > 0",
        "p + inf > 1 AND p + 1.0 / 0.0 > 1",
        "p + nan > 1 AND p + 0.0 / 0.0 > 1",
    ]
    for text in texts:
        selector = read_selector(text, JMS)
        for one in (selector, optimize(selector)):
            made = normal.normal(one).true
            assert isinstance(made, All) and len({id(leaf.subject) for leaf in made.parts}) == 2, text


def test_guards_are_said_once() -> None:
    """A guard that holds further out is not said again."""
    made = normal.normal(read_selector("p + 1 > 5 OR q = 'x' OR p + 2 > 5 OR q = 'y'", IBM_MQ))
    guarded = made.true.parts[1].parts

    assert [one.subject for one in guarded[:1]] == [nodes.Identifier("p")]
    assert [nodes.unparse(one.subject) for one in guarded[1].parts] == ["q", "p + 2"]
    assert made.error == Leaf(nodes.Identifier("p"), sets.NOTHING._replace(null=True))


@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_shape(name: str) -> None:
    """Invariant: no All in an All nor Any in an Any, none of one part; no leaf of nothing or all; subjects are one."""
    rng = random.Random(name)
    dialect = strategies.DIALECTS[name]
    for _ in range(PAIRS * 12):
        text, _ = strategies.random_case(rng, name)
        made = normal.normal(read_selector(text, dialect), normal.ALL_PARTS)
        subjects: dict[tuple[type, str], nodes.Node] = {}
        for one in walked(*made, made.unknown, *map(complement, made)):
            if isinstance(one, Leaf):
                whole = sets.PROPERTY if isinstance(one.subject, nodes.Identifier) else sets.RESULT
                assert one.values not in (sets.NOTHING, whole), text
                assert sets.outside(sets.outside(one.values, whole), whole) == one.values, text
                said = type(one.subject), nodes.unparse(one.subject)
                assert subjects.setdefault(said, one.subject) is one.subject, text
            elif isinstance(one, Relation):
                assert one.outcomes, text
            else:
                assert type(one) not in map(type, one.parts), text
                assert len(one.parts) != 1, text
                assert one.parts or one is ALWAYS or one is NEVER, text


@pytest.mark.sample(18)
@pytest.mark.parametrize("reading", strategies.READINGS, ids=strategies.name_of)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_true_alone_is_the_same(name: str, reading: dict[str, str]) -> None:
    """Invariant: what is made for TRUE alone is TRUE of the normal form, part for part."""
    rng = random.Random(f"true {name} {reading}")
    dialect = strategies.DIALECTS[name].replace(**reading, constant_false="accept")
    for _ in range(PAIRS):
        text, _ = strategies.random_case(rng, name)
        for one in (read_selector(text, dialect), optimize(read_selector(text, dialect))):
            assert shown(normal.true_of(one)) == shown(normal.normal(one).true), (text, dialect)


def test_formulas_are_equal_to_themselves() -> None:
    """A formula is compared, hashed and shown without a look at its parts, which may be deeper than the stack."""
    made = normal.normal(read_selector("a = 1 AND b = 2", JMS))

    assert made.true == made.true != All(made.true.parts)
    assert len({made.true, All(made.true.parts)}) == 2
    assert repr(made.true) == "<All of 2>"


# ---- sets ------------------------------------------------------------------------------------------------------------

CONSTANTS: tuple[float, ...] = (
    *(0, 1, -1, 5, 2**24 + 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**60 + 2**36 + 1, 2**63 - 1, -(2**63), 2**63 - 512),
    *(2**24, -(2**24), -(2**24) - 1),
    *(0.0, -0.0, 0.5, 5.0, 0.1, -0.1, 5e-324, -5e-324, 1e-46, 2.0**-149, 1.5 * 2.0**-149, 16777217.0, 2.0**53),
    *(-(2.0**53), 2.0**53 + 2, 2.0**60, -(2.0**60), 2.0**63, -(2.0**63), 2.0**64, 1e19, 3.4028234663852886e38),
    *(3.4028235e38, 3.4028236e38, -3.4028236e38, 1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan),
)


def near(constant: float) -> list[oracle.Value]:
    """Return numbers of all types around a constant, and those at the ends."""
    found: list[oracle.Value] = [("float64", float(constant)), ("float64", math.nan), ("float32", math.nan)]
    found += [("float64", math.nextafter(constant, way)) for way in (-math.inf, math.inf)]
    single = float(Float32(constant))
    found += [("float32", one) for one in (single, -math.inf, math.inf, 0.0, -0.0)]
    found += [("float32", intervals.FLOAT.after(single))] * (single < math.inf)
    found += [("float32", intervals.FLOAT.before(single))] * (single > -math.inf)
    middle = int(max(-(2.0**63), min(constant, 2.0**63))) if not math.isnan(constant) else 0
    for step in (0, 1, 2, 3, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1 << 36, (1 << 36) + 1):
        found += [("int64", one) for one in (middle - step, middle + step) if -(1 << 63) <= one < 1 << 63]
    return [*found, ("int64", (1 << 63) - 1), ("int64", -(1 << 63))]


@pytest.mark.parametrize("sign", ["=", "<>", "<", "<=", ">", ">="])
def test_numbers_compare_as_the_oracle_compares(sign: str) -> None:
    """Invariant: a number is in the set of those that compare so with a constant just where the oracle says TRUE."""
    message = oracle._Message({}, JMS)
    for constant in CONSTANTS:
        made = sets.numbers(constant, normal.NUMBERS_THAT[sign])
        others = sets.numbers(constant, normal._NUMBERS_THAT_NOT[sign])
        assert sets.outside(made, sets.PROPERTY)[2:5] == others[2:5], (sign, constant)
        literal = ("int64" if isinstance(constant, int) else "float64", constant)
        for value in near(constant):
            wanted = message.compare(sign, value, literal) == "TRUE"
            assert (is_in(value, made), is_in(value, others)) == (wanted, not wanted), (value, sign, constant)


def test_numbers_from_one_to_another_are_those_beside_both() -> None:
    """Invariant: what lies between two constants is what compares so with the one and with the other."""
    for low, high in itertools.product(CONSTANTS, repeat=2):
        one, other = sets.numbers(low, normal.NUMBERS_THAT[">="]), sets.numbers(high, normal.NUMBERS_THAT["<="])
        assert sets.numbers_from(low, high) == sets.common(one, other), (low, high)


def random_texts(rng: random.Random) -> Texts:
    """Draw a small set of strings, of patterns over two letters."""
    points = frozenset("".join(rng.choices("ab", k=rng.randrange(4))) for _ in range(rng.randrange(3)))
    patterns = frozenset(rng.choice(PATTERNS) for _ in range(rng.choice((0, 0, 1, 2))))
    return Texts(points, patterns, rng.random() < 0.5)


PATTERNS: tuple[normal.Pattern, ...] = (
    (("a",), ()),
    ((), ("b",)),
    ((), ("a",), ()),
    ((None,),),
    (("a", None),),
    (("a",), (None,), ("b",)),
    ((), ("a", None), ("a",), ()),
)
WORDS = ["".join(letters) for length in range(5) for letters in itertools.product("ab", repeat=length)]


def random_values(rng: random.Random) -> Values:
    """Draw a set of any lanes."""
    made = sets.numbers(rng.choice(CONSTANTS), [rng.random() < 0.5 for _ in range(4)])
    return made._replace(
        strings=random_texts(rng),
        bytes=Texts(frozenset(rng.choices((b"", b"a"), k=rng.randrange(3))), frozenset(), rng.random() < 0.5),
        booleans=(rng.random() < 0.5, rng.random() < 0.5),
        null=rng.random() < 0.5,
    )


SAMPLES: list[oracle.Value] = [
    *(value for constant in CONSTANTS for value in near(constant)),
    *(("string", word) for word in WORDS),
    *(("bytes", word) for word in (b"", b"a", b"b")),
    *(("boolean", truth) for truth in (True, False)),
    ("null", None),
]


def test_sets_unite_and_complement() -> None:
    """Invariant: a value is in a union where it is in one of the sets, and in a complement where it is in none."""
    rng = random.Random(1)
    for _ in range(60):
        many = [random_values(rng) for _ in range(rng.randrange(1, 4))]
        united = sets.unite(many)
        others = [sets.outside(one, sets.PROPERTY) for one in united]
        for value in rng.sample(SAMPLES, 150):
            wanted = any(is_in(value, one) for one in many)
            assert any(is_in(value, one) for one in united) == wanted, (value, many)
            assert all(is_in(value, one) for one in others) != wanted, (value, many)
        for one in [*united, *others]:
            assert is_tidy(one.integers, lambda number: number + 1), one
            assert is_tidy(one.floats32.intervals, intervals.FLOAT.after), one
            assert is_tidy(one.floats64.intervals, lambda number: math.nextafter(number, math.inf)), one


def test_common_is_the_intersection() -> None:
    """Invariant: what two sets have in common is in both; of numbers it is the complement of what either leaves out."""
    rng = random.Random(2)
    for _ in range(3000):
        one, other = (sets.numbers(rng.choice(CONSTANTS), [rng.random() < 0.5 for _ in range(4)]) for _ in range(2))
        if rng.random() < 0.3:
            one = sets.unite(
                [one, sets.numbers(rng.choice(CONSTANTS), rng.choice(([False, True] * 2, [True, False] * 2)))]
            )[0]
        (left_out,) = sets.unite([sets.outside(each, sets.PROPERTY) for each in (one, other)])
        assert sets.common(one, other) == sets.outside(left_out, sets.PROPERTY), (one, other)
    for _ in range(300):
        one, other = random_values(rng), random_values(rng)
        both = sets.common(one, other)
        for value in rng.sample(SAMPLES, 0 if both is None else 60):
            assert is_in(value, both) == (is_in(value, one) and is_in(value, other)), (value, one, other)


def is_tidy(intervals: tuple[tuple[float, float], ...], after: Callable[[float], float]) -> bool:
    """Report whether intervals rise and neither touch nor overlap, and write zero as 0.0."""
    return all(low <= high and str(low) != "-0.0" != str(high) for low, high in intervals) and all(
        after(one[1]) < other[0] for one, other in itertools.pairwise(intervals)
    )


# ---- size ------------------------------------------------------------------------------------------------------------

LONG = {
    "one property": (" OR ", "a = {}"),
    "ranges": (" OR ", "a{0} > {0} AND a{0} < 1{0}"),
    "properties": (" AND ", "a{0} = {0}"),
    "patterns": (" AND ", "a LIKE '%x{0}%' AND a <> '{0}'"),
    "ERR": (" OR ", "a{0} + b > {0}"),
    "division": (" AND ", "a / b{0} > {0} AND c{0}"),
    "alternating": (" OR ", "a{0} + 1 > {0} AND NOT b{0} = 5"),
    "relations": (" AND ", "a{0} NOT BETWEEN b{0} AND c{0}"),
    "sum": (" + ", "a{}"),
}


def size(text: str, dialect: Dialect) -> int:
    """Count the parts of all four formulas and of their complements, and what they are made of."""
    made = normal.normal(read_selector(text, dialect.replace(max_length=None)), normal.ALL_PARTS)
    found = walked(*made, made.unknown, *map(complement, made))
    return sum(1 + len(getattr(one, "parts", ())) for one in found)


@pytest.mark.sample(6)
@pytest.mark.parametrize("dialect", [IBM_MQ, IBM_JMS, JMS], ids=["IBM_MQ", "IBM_JMS", "JMS"])
@pytest.mark.parametrize("name", LONG)
def test_it_is_as_long_as_the_selector(name: str, dialect: Dialect) -> None:
    """Invariant: twice as many terms make at most twice as many parts."""
    joint, term = LONG[name]
    ending = " > 0" if name == "sum" else ""
    short, long = (
        size(joint.join([term.format(number) for number in range(count)]) + ending, dialect) for count in (100, 200)
    )

    assert long <= 2.05 * short


def test_deep_selectors() -> None:
    """500 nested parentheses, and a chain of which each operand may be ERR, are deeper than no stack."""
    nested = (
        "(" * 480
        + "a + 1 > 0"
        + "".join(f") {'AND' if number % 2 else 'OR'} b{number} + 1 = 2" for number in range(480))
    )
    chain = " OR ".join(f"a{number} + 1 > 0 AND b{number}" for number in range(800))
    dialect = IBM_MQ.replace(max_length=None)
    for text in (nested, chain):
        made = normal.normal(read_selector(text, dialect))
        read = reader({}, dialect)
        assert said(made, read) == ["ERR"]
        assert not holds(normal.true_of(read_selector(text, dialect)), read)
