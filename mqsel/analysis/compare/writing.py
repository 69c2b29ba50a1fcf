"""Writes a formula as a selector: of the messages of a contract, the selector is TRUE of those of which the formula is.

What a leaf holds is written lane by lane and joined by OR. Whether the whole means the formula is proved afterwards, as
a test that is written for numbers may be TRUE of something else, too. Without a contract few formulas can be written:
numbers, booleans and byte strings are among what is not 'red', and no test is TRUE of just these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from mqsel.errors import SelectorError
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import Identifier, quote, unparse, walk
from mqsel.language.selector import read_selector
from mqsel.logic.formulas import (
    ALWAYS,
    NEVER,
    All,
    Compared,
    Formula,
    Leaf,
    Relation,
    all_of,
    any_of,
    complement,
    fold,
    leaf,
    leaves,
)
from mqsel.logic.intervals import DOUBLE, FLOAT, INT64, Axis, Intervals
from mqsel.logic.normal import true_of
from mqsel.logic.sets import NOTHING, PROPERTY, RESULT, Pattern, Values, outside
from mqsel.logic.solver.budget import Budget
from mqsel.logic.solver.cells import find_in_cells

MAX_LEAVES = 60  # of a formula that is written: nobody reads more
MAX_READ = 1_500  # of one that is simplified before: of a thousand selectors with patterns that takes minutes

EVERY = "TRUE = TRUE"  # is TRUE of every message, in the words of all dialects
Domain = Callable[[str], Values]  # what a property can be, by its name
_Text = tuple[str, str]  # and what joins its parts: empty for a test


class _UnwrittenError(Exception):
    """No selector says this."""


def written(formula: Formula, said: Sequence[Formula], domain: Domain, dialect: Dialect, budget: Budget) -> str:
    """Return a selector; empty where none is found, and of what is never true.

    Args:
        formula: what it means.
        said: formulas that are true of every message.
        domain: what properties can be.
        dialect: what it is written in.
        budget: pays for the proof.
    """
    subjects: dict[str, Identifier] = {}
    merged = fold(formula, lambda one: _of_one(one, subjects), all_of, any_of)
    if _size(merged) > MAX_READ:
        return ""
    try:
        possible = _without_implied(fold(merged, lambda one: _within(one, domain), all_of, any_of), domain)
        if possible is NEVER or len(leaves(possible)) > MAX_LEAVES:
            return ""
        text = fold(possible, lambda one: _of_leaf(one, domain, dialect), _joined("AND"), _joined("OR"))[0]
        true = true_of(read_selector(text, dialect.replace(constant_false="accept")))
    except (_UnwrittenError, SelectorError):
        return ""
    pairs = ((true, complement(possible)), (possible, complement(true)))
    return text if all(find_in_cells([*said, *pair], lambda _: True, budget).is_none for pair in pairs) else ""


def _of_one(one: Leaf | Relation, subjects: dict[str, Identifier]) -> Formula:
    """Return a leaf with the same object for the same property, as those of one normal form have it: they merge."""
    if isinstance(one, Leaf) and isinstance(one.subject, Identifier):
        return one._replace(subject=subjects.setdefault(one.subject.name, one.subject))
    return one


def _within(one: Leaf | Relation, domain: Domain) -> Formula:
    """Return what a leaf leaves to say of messages."""
    if isinstance(one, Leaf) and isinstance(one.subject, Identifier):
        possible = domain(one.subject.name)
        if _common(outside(one.values, PROPERTY), possible) == NOTHING:
            return ALWAYS
        if _common(one.values, possible) == NOTHING:
            return NEVER
    return one


def _without_implied(formula: Formula, domain: Domain) -> Formula:
    """Leave out of an AND what its tests of single properties imply, and of its other parts what they exclude."""
    while isinstance(formula, All):
        tests = {
            one.subject.name: one.values
            for one in formula.parts
            if isinstance(one, Leaf) and isinstance(one.subject, Identifier)
        }

        def narrowed(name: str, tests: dict[str, Values] = tests) -> Values:
            return _common(tests[name], domain(name)) if name in tests else domain(name)

        parts = [
            one
            if isinstance(one, Leaf) and isinstance(one.subject, Identifier)
            else fold(one, lambda part: _within(part, narrowed), all_of, any_of)
            for one in formula.parts
        ]
        simpler = all_of(parts)
        if _size(simpler) == _size(formula):
            break
        formula = simpler
    return formula


def _size(formula: Formula) -> int:
    """Count the leaves, each as often as it is written."""

    def count(parts: Sequence[int]) -> int:
        return sum(parts)

    return fold(formula, lambda _: 1, count, count)


def _joined(word: str) -> Callable[[Sequence[_Text]], _Text]:
    def join(parts: Sequence[_Text]) -> _Text:
        if not parts:
            return EVERY, ""  # an OR without parts was left out before
        if len(parts) == 1:
            return parts[0]
        return f" {word} ".join([text if joint in ("", word) else f"({text})" for text, joint in parts]), word

    return join


def _of_leaf(one: Leaf | Relation, domain: Domain, dialect: Dialect) -> _Text:
    """Write a leaf; one of a computation as if every property in it were a number: the proof shows whether that holds.

    Raises: _UnwrittenError.
    """
    if isinstance(one, Leaf) and isinstance(one.subject, Identifier):
        possible = domain(one.subject.name)
        wanted, rest = _common(one.values, possible), _common(outside(one.values, PROPERTY), possible)
        tests = [*_tests(unparse(one.subject, dialect), wanted, rest)]
    else:
        sides = (one.left, one.right) if isinstance(one, Relation) else (one.subject,)
        texts = [unparse(side, dialect) for side in sides]
        if isinstance(one, Relation):
            signs = [sign for sign, outcomes in _SIGNS.items() if outcomes & ~one.outcomes == Compared(0)]
            tests = [f"{texts[0]} {sign} {texts[1]}" for sign in signs[:1]]
            is_null = bool(one.outcomes & Compared.NULL)
        else:
            values = one.values
            tests = [*_tests(texts[0], values._replace(null=False), outside(values, RESULT)._replace(null=True))]
            is_null = values.null
        names = dict.fromkeys(node.name for side in sides for node in walk(side) if isinstance(node, Identifier))
        tests += [f"{name} IS NULL" for name in names] * is_null
    return _joined("OR")([(test, "AND" if " AND " in test else "") for test in tests])


# What each comparison of two operands is TRUE of, that of most first.
_EQUAL = Compared.EQUAL | Compared.SAME
_SIGNS = {
    "<>": Compared.LESS | Compared.GREATER | Compared.DIFFERENT | Compared.UNORDERED,
    "<=": Compared.LESS | Compared.EQUAL,
    ">=": Compared.GREATER | Compared.EQUAL,
    "=": _EQUAL,
    "<": Compared.LESS,
    ">": Compared.GREATER,
}
_ANY = Identifier("x")


def _common(values: Values, possible: Values) -> Values:
    """Return what is in both.

    Raises: _UnwrittenError: that is no set.
    """
    made = all_of([leaf(_ANY, values), leaf(_ANY, possible)])
    if made in (ALWAYS, NEVER):
        return PROPERTY if made is ALWAYS else NOTHING
    if isinstance(made, Leaf):
        return made.values
    raise _UnwrittenError


def _tests(name: str, wanted: Values, rest: Values) -> Iterator[str]:
    """Yield tests, one of which is TRUE of each value that is wanted, and none of the rest."""
    if wanted.null:
        yield f"{name} IS NULL"
    if rest._replace(null=False) == NOTHING:
        if wanted != NOTHING._replace(null=True):
            yield f"{name} IS NOT NULL"
        return
    yield from [f"{name} = {str(truth).upper()}" for truth in (True, False) if wanted.booleans[truth]]
    for axis, found, others in (
        (DOUBLE, wanted.floats64.intervals, rest.floats64.intervals),
        (INT64, wanted.integers, rest.integers),
        (FLOAT, wanted.floats32.intervals, rest.floats32.intervals),
    ):
        if found or others:
            yield from _numbers(name, axis, found, others)
            break
    yield from _strings(name, wanted, rest)


def _numbers(name: str, axis: Axis, wanted: Intervals, rest: Intervals) -> Iterator[str]:
    """Yield tests of numbers: of the rest, too, nothing is said beyond its ends."""
    every = [*wanted, *rest]
    least, greatest = min(low for low, _ in every), max(high for _, high in every)
    if len(rest) in (1, 2) and all(low == high for low, high in rest):
        yield " AND ".join([f"{name} <> {_spelled(low)}" for low, _ in rest])
        return
    for low, high in wanted:
        below = [] if low == least else [_bound(name, ">=", low, ">", axis.before(low))]
        above = [] if high == greatest else [_bound(name, "<=", high, "<", axis.after(high))]
        if low == high:
            yield f"{name} = {_spelled(low)}"
        elif below and above and below[0].startswith(f"{name} >=") and above[0].startswith(f"{name} <="):
            yield f"{name} BETWEEN {_spelled(low)} AND {_spelled(high)}"
        else:
            yield " AND ".join([*below, *above]) or f"{name} <= {_spelled(high)}"


def _bound(name: str, with_it: str, number: float, without: str, beside: float) -> str:
    """Return the bound that is quicker to read: with a number, or without its neighbour."""
    is_shorter = len(_spelled(beside)) < len(_spelled(number))
    return f"{name} {without} {_spelled(beside)}" if is_shorter else f"{name} {with_it} {_spelled(number)}"


def _spelled(number: float) -> str:
    """Write a number: a whole one compares as a double of its value does."""
    is_whole = isinstance(number, float) and number.is_integer() and abs(number) < 1 << 53
    return str(int(number) if is_whole else number)


def _strings(name: str, wanted: Values, rest: Values) -> Iterator[str]:
    strings, others = wanted.strings, rest.strings
    is_longer = not others.negated and not others.patterns and 0 < len(others.points) < len(strings.points)
    if not strings.negated and not is_longer:
        yield from _listed(name, strings.points, "=", "IN")
        yield from [_like(name, one, "LIKE") for one in sorted(strings.patterns, key=repr)]
    elif is_longer or others.points or others.patterns:
        tests = [*_listed(name, others.points, "<>", "NOT IN")]
        yield " AND ".join([*tests, *[_like(name, one, "NOT LIKE") for one in sorted(others.patterns, key=repr)]])
    else:
        yield f"{name} LIKE '%'"


def _listed(name: str, points: frozenset[str] | frozenset[bytes], one: str, many: str) -> Iterator[str]:
    texts = [quote(text) for text in sorted(cast("frozenset[str]", points))]
    if texts:
        yield f"{name} {one} {texts[0]}" if len(texts) == 1 else f"{name} {many} ({', '.join(texts)})"


def _like(name: str, pattern: Pattern, word: str) -> str:
    characters = {character for segment in pattern for character in segment if character}
    escape = "\\" if characters & {"%", "_", "\\"} else ""
    text = "%".join(["".join([_in_pattern(character, escape) for character in segment]) for segment in pattern])
    return f"{name} {word} {quote(text)}" + (f" ESCAPE '{escape}'" if escape else "")


def _in_pattern(character: str | None, escape: str) -> str:
    if character is None:
        return "_"
    return escape + character if character in ("%", "_", escape) else character
