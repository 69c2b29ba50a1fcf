"""Rules of lint that look at tests side by side, with exact sets.

A chain is an AND, or an OR, once NOT is pushed inwards: what makes a negated test TRUE makes the test FALSE. For each
property that several tests of a chain read, the sets of its values that make them TRUE are joined, as
`mqsel.logic.formulas` joins leaves; so each finding is proved. ERR is left out: it selects no message.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, cast

from mqsel.analysis.lint.findings import Edit, Found, piece, without
from mqsel.carets import Span, cut_piece
from mqsel.errors import PropertyTypeError
from mqsel.language.checker import Remarks, evaluate, truth_of
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    walk,
)
from mqsel.language.operators import BOUNDS, OPERATORS
from mqsel.language.selector import Selector
from mqsel.logic.formulas import ALWAYS, NEVER, Formula, Leaf, all_of, any_of
from mqsel.logic.intervals import DOUBLE, Intervals, beside, gaps, overlap, united
from mqsel.logic.normal import NUMBERS_THAT, normal
from mqsel.logic.sets import NOTHING, PROPERTY, Values
from mqsel.logic.solver.budget import Budget
from mqsel.names import DESCRIPTOR
from mqsel.values import NOT, Truth

if TYPE_CHECKING:
    from mqsel.analysis.compare.contract import Contract

# So many tests of one property are compared with each other, pair by pair; of more only all together.
MAX_PAIRED = 16
_LONGEST = 2000  # characters of a part that is looked for a second time


class Operand(NamedTuple):
    """What stands in a chain.

    Attributes:
        node: a test, or a chain of the other kind.
        is_negated: an odd number of NOTs stands around it.
        parent: the AND or OR in the text whose operand it is, NOTs around it included; None at the root.
        place: the number of that operand.
    """

    node: Node
    is_negated: bool
    parent: And | Or | None
    place: int


class Test(NamedTuple):
    """A test of one property, or of one sum, its number in the chain, and where it is TRUE, FALSE and ERR."""

    operand: Operand
    at: int
    true: Formula
    false: Formula
    error: Formula


class Chain(NamedTuple):
    """What is joined by AND, or by OR.

    Attributes:
        is_and: AND, once NOT is pushed inwards.
        operands: all of it, in order.
        subjects: the tests that compare one property, or one sum, with constants; by how it is written.
        others: the other operands.
        groups: the tests that have company in their subject, unless two ranges of numbers tell at once that they do
            not concern each other.
        around: the chain of which this is an operand.
    """

    is_and: bool
    operands: list[Operand]
    subjects: dict[str, list[Operand]]
    others: list[Operand]
    groups: list[list[Test]]
    around: Chain | None


class Structure(NamedTuple):
    """What rules look at.

    Attributes:
        selector: the whole.
        chains: its chains, outer before inner; a single test is one.
        remarks: what the checker says of it.
        contract: what messages are like; None where nothing is known.
        budget: pays for the searches of all rules.
    """

    selector: Selector
    chains: list[Chain]
    remarks: Remarks
    contract: Contract | None
    budget: Budget


# An operand from its fields, in half the time its class takes.
_made: Callable[[type[Operand], tuple[object, ...]], Operand] = tuple.__new__


def structure_of(selector: Selector, contract: Contract | None = None) -> Structure:
    """Return the chains of a selector."""
    found: list[Chain] = []
    todo: list[tuple[Node, bool, Chain | None]] = [(selector.node, False, None)]
    while todo:
        root, is_negated, around = todo.pop()
        while type(root) is Not:
            root, is_negated = root.operand, not is_negated
        is_and = (type(root) is And) is not is_negated
        operands: list[Operand] = []
        subjects: dict[str, list[Operand]] = {}
        others: list[Operand] = []
        stack: list[Operand] = [Operand(root, is_negated, None, 0)]
        while stack:
            operand = stack.pop()
            node, is_negated, parent, place = operand
            cls = type(node)
            if cls is Not:
                stack.append(_made(Operand, (node.operand, not is_negated, parent, place)))  # type: ignore[union-attr]
            elif cls in _CHAINS and ((cls is And) is not is_negated) is is_and:
                below: tuple[Node, ...] = node.operands  # type: ignore[union-attr]
                stack += [_made(Operand, (one, is_negated, node, at)) for at, one in enumerate(below)][::-1]
            else:
                operands.append(operand)
                subject = _subject(node, selector)
                if subject:
                    subjects.setdefault(subject, []).append(operand)
                else:
                    others.append(operand)
        company = [many for many in subjects.values() if len(many) > 1 and not _is_plain(many, is_and)]
        numbers = {id(one.node): at for at, one in enumerate(operands)} if company else {}
        groups = [_tests(many, numbers, selector) for many in company]
        chain = Chain(is_and, operands, subjects, others, groups, around)
        found.append(chain)
        todo += [(one.node, one.is_negated, chain) for one in reversed(others) if type(one.node) in _CHAINS]
    return Structure(selector, found, selector.remarks(), contract, Budget())


_CHAINS = frozenset((And, Or))


def _subject(test: Node, selector: Selector) -> str:
    """Return what a test compares with constants: a property by its name; empty where it is something else."""
    cls = type(test)
    node: Node | None = None
    if cls is Comparison:
        left, right = test.left, test.right  # type: ignore[union-attr]
        node = left if type(right) is Literal else right if type(left) is Literal else None
    elif cls is Between:
        is_constant = type(test.low) is type(test.high) is Literal  # type: ignore[union-attr]
        node = test.operand if is_constant else None  # type: ignore[union-attr]
    elif cls in _OF_IDENTIFIERS:
        node = test.identifier  # type: ignore[union-attr]
    elif cls is Identifier:
        node = test
    if type(node) is Identifier:
        return selector.names[node.name]
    return piece(selector.text, node) if isinstance(node, (Sign, Arithmetic)) and _reads(node) else ""


_OF_IDENTIFIERS = frozenset((In, Like, IsNull))


def _reads(node: Node) -> bool:
    return any(type(one) is Identifier for one in walk(node))


def is_negative(operand: Operand) -> bool:
    """Report whether a test excludes values: x <> 1, NOT x = 1, x NOT IN ('a')."""
    node = operand.node
    excludes = node.operator == "<>" if isinstance(node, Comparison) else getattr(node, "negated", False)
    return bool(excludes) is not operand.is_negated


# ---- sets ------------------------------------------------------------------------------------------------------------

# All tests of a group get one subject, so that their sets can be joined: a property, or a sum.
_PROPERTY = Identifier("x")
_SUM = Sign("+", _PROPERTY)
_MISSING = Leaf(_PROPERTY, NOTHING._replace(null=True))


def _tests(operands: list[Operand], numbers: dict[int, int], selector: Selector) -> list[Test]:
    """Return the sets of tests, of those that have sets."""
    # Where BETWEEN is more than two comparisons, or a sum is ERR, the sets differ in NULL alone: see below.
    dialect = selector.dialect.replace(between_null="expand", null_arithmetic="unknown")
    found: list[Test] = []
    for operand in operands:
        made = normal(selector.part(operand.node, dialect)).truths
        if not all(isinstance(one, Leaf) or one in (ALWAYS, NEVER) for one in made):
            continue
        true, false, error = map(_of_one_subject, made)
        node = operand.node
        if isinstance(node, Between) and node.null is not None and type(node.operand) is Identifier:
            true, false = [any_of([true, _MISSING]), false] if node.null else [true, any_of([false, _MISSING])]
        sides = (false, true) if operand.is_negated else (true, false)
        found.append(Test(operand, numbers[id(operand.node)], *sides, error))
    return found


def _doubles(operand: Operand) -> Intervals | None:
    """Return the doubles that make a test TRUE; None for one that does not compare with constant numbers alone."""
    ends: list[tuple[str, Node]]
    join = overlap
    match operand.node:
        case Comparison(sign, left, right):
            ends = [(sign, right) if type(right) is Literal else (OPERATORS[sign].mirrored, left)]
        case Between(negated, _, low, high):
            ends = [*zip(BOUNDS[negated], (low, high), strict=True)]
            join = _either if negated else overlap
        case _:
            return None
    sides: list[Intervals] = []
    for sign, end in ends:
        if type(end) is not Literal or type(end.value) not in _NUMERIC:
            return None
        sides.append(beside(cast("float", end.value), DOUBLE, NUMBERS_THAT[sign][:3]))
    found = functools.reduce(join, sides)
    return gaps(found, DOUBLE) if operand.is_negated else found


def _either(some: Intervals, others: Intervals) -> Intervals:
    return united(some + others, DOUBLE)


_NUMERIC = frozenset((int, float))


def _is_plain(operands: list[Operand], is_and: bool) -> bool:
    """Report whether two tests are of numbers that overlap, neither within the other nor, in an OR, all numbers.

    It saves making sets, which takes ten times as long; a double that shows it is enough.
    """
    a, b = [_doubles(one) for one in operands] if len(operands) == 2 else (None, None)
    if a is None or b is None:
        return False
    both = overlap(a, b)
    if both in (a, b):
        return False
    return bool(both) if is_and else _either(a, b) != (DOUBLE[:2],)


def _of_one_subject(formula: Formula) -> Formula:
    if not isinstance(formula, Leaf):
        return formula
    return formula._replace(subject=_PROPERTY if type(formula.subject) is Identifier else _SUM)


def shown(operand: Operand, selector: Selector) -> str:
    """Return an operand as it is written, in one short line."""
    text = cut_piece(piece(selector.text, operand.node), 60)
    return f"NOT ({text})" if operand.is_negated else text


def _joined(tests: list[Test], chain: Chain, selector: Selector) -> str:
    word = " AND " if chain.is_and else " OR "
    if len(tests) > MAX_NAMED:
        return f"{shown(tests[0].operand, selector)} and {len(tests) - 1} other tests"
    return word.join(shown(one.operand, selector) for one in tests)


MAX_NAMED = 4


def _span(tests: list[Test]) -> Span:
    return min(one.operand.node.span[0] for one in tests), max(one.operand.node.span[1] for one in tests)


def _fewest(tests: list[Test], say: Callable[[list[Test]], list[str]]) -> list[Test]:
    """Return the tests of which something can be said together: two of them if it holds of two, else all, or none."""
    if len(tests) < 2 or not say(tests):
        return []
    pairs = combinations(tests, 2) if len(tests) <= MAX_PAIRED else ()
    return next((list(pair) for pair in pairs if say(list(pair))), tests)


# ---- rules -----------------------------------------------------------------------------------------------------------


def never_true(structure: Structure) -> Iterator[Found]:
    for chain in structure.chains:
        for group in chain.groups if chain.is_and else ():
            found = _fewest([one for one in group if one.true is not NEVER], _excluded)
            if found:
                is_slip = all(required_property(one.operand.node) and not one.operand.is_negated for one in found)
                words = _joined(found, chain, structure.selector)
                yield Found(_span(found), (words, _excluded(found)[0], ": did you mean OR?" if is_slip else ""))


def _excluded(tests: list[Test]) -> list[str]:
    """Return what these tests are not TRUE of together, though each alone is."""
    both = all_of(one.true for one in tests)
    if both is NEVER:
        return ["never TRUE"]
    alone = [one.true.values for one in tests if isinstance(one.true, Leaf)]
    if not isinstance(both, Leaf) or len(alone) < len(tests):
        return []
    return [
        f"never TRUE for a {kind}"
        for kind, lane in _LANES.items()
        if lane(both.values) == lane(NOTHING) and all(lane(one) != lane(NOTHING) for one in alone)
    ]


def always_true(structure: Structure) -> Iterator[Found]:
    for chain in structure.chains:
        for group in () if chain.is_and else chain.groups:
            found = _fewest([one for one in group if isinstance(one.true, Leaf)], _covered)
            if found:
                is_slip = all(is_negative(one.operand) for one in found)
                words = _joined(found, chain, structure.selector)
                yield Found(_span(found), (words, _covered(found)[0], ": did you mean AND?" if is_slip else ""))


def _covered(tests: list[Test]) -> list[str]:
    """Return of what one of these tests is TRUE, whatever it is, though none is alone."""
    either = any_of(one.true for one in tests)
    if either is ALWAYS:
        return ["message"]
    if not isinstance(either, Leaf) or any(isinstance(one.operand.node, IsNull) for one in tests):
        return []
    alone = [one.true.values for one in tests if isinstance(one.true, Leaf)]
    return [
        kind
        for kind, lane in _LANES.items()
        if lane(either.values) == lane(PROPERTY) and all(lane(one) != lane(PROPERTY) for one in alone)
    ]


# What a set has of each kind of values; NaN is left out.
_LANES: dict[str, Callable[[Values], object]] = {
    "number": lambda one: (one.integers, one.floats32.intervals, one.floats64.intervals),
    "string": lambda one: one.strings,
    "boolean": lambda one: one.booleans,
}


def implied(structure: Structure) -> Iterator[Found]:
    for chain in structure.chains:
        for group in chain.groups:
            # IS NOT NULL before a test says what the author thinks of: it is no slip.
            tests = [
                one for one in group if one.true not in (ALWAYS, NEVER) and not isinstance(one.operand.node, IsNull)
            ]
            if len(tests) > MAX_PAIRED or (chain.is_and and all_of(one.true for one in tests) is NEVER):
                continue
            idle: set[int] = set()
            for a, b in [*combinations(range(len(tests)), 2), *combinations(reversed(range(len(tests))), 2)]:
                kept, other = tests[a], tests[b]
                inner, outer = (kept, other) if chain.is_and else (other, kept)
                if idle & {a, b} or kept.true == other.true or not _within(inner.true, outer.true):
                    continue
                if _can_go(other, kept, chain, structure.selector):
                    idle.add(b)
                    words = [shown(one.operand, structure.selector) for one in (other, kept)]
                    edits = _dropped(other, kept, chain, structure.selector)
                    yield Found(other.operand.node.span, tuple(words), edits)


def _within(inner: Formula, outer: Formula) -> bool:
    if isinstance(inner, Leaf) and isinstance(outer, Leaf):
        some, more = inner.values.integers, outer.values.integers
        # Most sets of numbers are told by their ends, in a tenth of the time.
        if some and (not more or some[0][0] < more[0][0] or some[-1][1] > more[-1][1]):
            return False
    return any_of([inner, outer]) == outer


def _can_go(idle: Test, kept: Test, chain: Chain, selector: Selector) -> bool:
    """Report whether a chain is TRUE of the same without a test that implies, or is implied by, one that stays.

    An AND is. An OR ends with the first ERR: what goes may hide none, and none that it hid may come to light.
    """
    if chain.is_and:
        return True
    if idle.at >= kept.at - 1:
        return idle.error in (NEVER, kept.error)
    between = chain.operands[idle.at + 1 : kept.at]
    return idle.error is NEVER and all(normal(selector.part(one.node)).error is NEVER for one in between)


def _dropped(idle: Test, kept: Test, chain: Chain, selector: Selector) -> tuple[Edit, ...]:
    """Return the edit that takes a test out that adds nothing, if nothing at all changes by that.

    What makes the chain FALSE must be the same, and what is ERR; and nothing that may be ERR may stand between, unless
    the test that stays is evaluated before.
    """
    parent, place = idle.operand.parent, idle.operand.place
    narrow, wide = (idle, kept) if chain.is_and else (kept, idle)
    if parent is None or idle.error != kept.error or not _within(narrow.false, wide.false):
        return ()
    return without(parent, place, selector.text) if idle.at >= kept.at - 1 else ()


def repeated(structure: Structure) -> Iterator[Found]:
    text = structure.selector.text
    for chain in structure.chains:
        seen: dict[object, Test] = {}
        tests = [one for group in chain.groups for one in group if isinstance(one.true, Leaf)]
        for test in tests:
            first = seen.setdefault((_subject(test.operand.node, structure.selector), test.true), test)
            if first is not test and _can_go(test, first, chain, structure.selector):
                yield _repeat(test.operand, structure.selector, can_go=first[3:] == test[3:])
        parts: dict[tuple[bool, str], Operand] = {}
        for operand in chain.others:
            start, stop = operand.node.span
            is_short = stop - start <= _LONGEST
            same = parts.setdefault((operand.is_negated, text[start:stop]), operand) if is_short else operand
            if same is not operand and _reads(operand.node):
                yield _repeat(operand, structure.selector, can_go=True)


def _repeat(operand: Operand, selector: Selector, *, can_go: bool) -> Found:
    edits = without(operand.parent, operand.place, selector.text) if operand.parent and can_go else ()
    return Found(operand.node.span, (shown(operand, selector),), edits)


def constant_part(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    for chain in structure.chains:
        for operand in chain.others if len(chain.operands) > 1 else ():
            node = operand.node
            if type(node) in _CHAINS or _reads(node):
                continue
            try:
                truth = truth_of(evaluate(node))
            except PropertyTypeError:  # what it is always is not documented
                continue
            truth = NOT[truth] if operand.is_negated else truth
            is_idle = truth is (Truth.TRUE if chain.is_and else Truth.FALSE)
            edits = without(operand.parent, operand.place, selector.text) if is_idle and operand.parent else ()
            yield Found(node.span, (shown(operand, selector), truth), edits)


# Headers that every message has.
_PRESENT = ("JMSDeliveryMode", "JMSPriority", "JMSMessageID", "JMSTimestamp")


def missing_excluded(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    names = set(selector.names.values())
    told = {selector.names[one.identifier.name] for one in selector.order if type(one) is IsNull}
    for chain in structure.chains:
        for subject, tests in chain.subjects.items():
            if subject in told or subject in _PRESENT or subject not in names or subject.startswith(DESCRIPTOR):
                continue
            for operand in tests:
                excludes = is_negative(operand) and getattr(operand.node, "null", None) is None
                if excludes and not _needs(chain, subject):
                    told.add(subject)
                    yield Found(operand.node.span, (subject, shown(operand, selector)))
                    break


def _needs(chain: Chain | None, subject: str) -> bool:
    """Report whether without a property nothing in a chain is selected: it, or one around it, wants a value of it."""
    while chain is not None:
        if chain.is_and and not all(map(is_negative, chain.subjects.get(subject, ()))):
            return True
        chain = chain.around
    return False


def required_property(node: Node) -> str:
    """Name the property that a test wants to have some value."""
    match node:
        case Comparison("=", Identifier(name), Literal()) | In(False, Identifier(name)) | Like(False, Identifier(name)):
            return name
    return ""
