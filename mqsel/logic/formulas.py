# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Formulas of AND and OR over leaves, without negation: how they are joined and complemented.

A leaf is a property, or arithmetic, and one exact set of typed values; its complement is a leaf, and so that of a
formula is a formula. Formulas share their parts and may be as deep as a selector is long: a walk over one has a stack
of its own and remembers parts by identity. Knows nothing of conditions, dialects or three values.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel.language.nodes import Arithmetic, Computed, Identifier, Literal, Node, children, walk
from mqsel.language.operators import FAILING
from mqsel.logic.sets import NOTHING, PROPERTY, RESULT, TEST, Values

if not cython.compiled:
    from mqsel.language.nodes import field, row
    from mqsel.logic.sets import common, outside, unite


class Leaf(NamedTuple):
    """True where the value of *subject* is one of *values*.

    Attributes:
        subject: an Identifier, whose name is a property; a Sign or Arithmetic over such and Literals; or a
            Computed, whose identifiers are such and whose expression is as written.
            The leaves of one normal form have one object for what is the same.
        values: neither nothing nor all that the subject can be. To compute arithmetic needs no dialect: on NULL it is
            NULL. Where a dialect makes ERR of that, ``null`` is as ``error`` in every leaf, and either may be said.
    """

    subject: Node
    values: Values


class Compared(enum.IntFlag):
    """What comparing two values gives; just one holds, the last of those below that do.

    LESS, EQUAL, GREATER and UNORDERED (one is NaN) are of two numbers after Java's binary promotion; SAME and DIFFERENT
    of two strings, two booleans or two byte strings; MISMATCH of all others; NULL of a NULL beside anything; ERROR of
    arithmetic that is ERR.
    """

    LESS = 1
    EQUAL = 2
    GREATER = 4
    UNORDERED = 8
    SAME = 16
    DIFFERENT = 32
    MISMATCH = 64
    NULL = 128
    ERROR = 256


ORDERED = Compared.LESS | Compared.EQUAL | Compared.GREATER | Compared.UNORDERED
COMPARABLE = ORDERED | Compared.SAME | Compared.DIFFERENT
_OF_PROPERTIES = COMPARABLE | Compared.MISMATCH | Compared.NULL
_OF_ARITHMETIC = ORDERED | Compared.MISMATCH | Compared.NULL | Compared.ERROR


class Relation(NamedTuple):
    """True where comparing two operands, neither of which is a constant, has one of some outcomes.

    Attributes:
        left: as the subject of a `Leaf`.
        right: likewise.
        outcomes: some and not all of those that these operands can have. Here, too, arithmetic on NULL is NULL: what a
            dialect makes of that stands in a leaf beside the relation.
    """

    left: Node
    right: Node
    outcomes: Compared


class All(NamedTuple):
    """True where all *parts* are, none of which is an All; without parts, always. Equal to itself alone."""

    parts: tuple[Formula, ...]


class Any(NamedTuple):
    """True where one of *parts* is, none of which is an Any; without parts, never. Equal to itself alone."""

    parts: tuple[Formula, ...]


Formula = Leaf | Relation | All | Any


def _repr(self: All | Any) -> str:
    return f"<{type(self).__name__} of {len(self.parts)}>"


# A tuple compares and hashes its parts, which here are shared, and deeper than the stack.
for _class in (All, Any):
    _class.__eq__ = object.__eq__  # type: ignore[method-assign]
    _class.__ne__ = object.__ne__  # type: ignore[method-assign]
    _class.__hash__ = object.__hash__  # type: ignore[method-assign]
    _class.__repr__ = _repr  # type: ignore[assignment]

ALWAYS: Formula = All(())
NEVER: Formula = Any(())

_Connective = type[All] | type[Any]


def whole_of(subject: Node) -> Values:
    """Return all that a subject can be."""
    return PROPERTY if type(subject) is Identifier else TEST if type(subject) is Computed else RESULT


def outcomes_of(left: Node, right: Node) -> Compared:
    """Return all that comparing two operands can give."""
    return _OF_PROPERTIES if type(left) is type(right) is Identifier else _OF_ARITHMETIC


def divides(subject: Node) -> bool:
    """Report whether computing *subject* may be ERR, but for NULL: by a division by zero, or by what is no number."""
    doubles: set[int] = set()  # nodes that are a double if they are a number
    for node in walk(subject):
        below = children(node)
        if type(node) is Literal and node.kind == "approximate":
            doubles.add(id(node))
        elif isinstance(node, Arithmetic):
            if node.rule == "narrow":
                return True
            is_double = id(below[0]) in doubles
            for operator, operand in zip(node.operators, below[1:], strict=True):
                is_double = is_double or id(operand) in doubles
                is_safe = type(operand) is Literal and operand.value != 0
                if operator in FAILING and not is_double and not is_safe:
                    return True
            if is_double:
                doubles.add(id(node))
        elif below and id(below[0]) in doubles:
            doubles.add(id(node))
    return False


def leaf(subject: Node, values: Values) -> Formula:
    """Return a leaf; ERR of arithmetic that never is counts for nothing."""
    whole = whole_of(subject)
    if values in (NOTHING, whole):
        return NEVER if values == NOTHING else ALWAYS
    if whole is RESULT and values[:-1] in (NOTHING[:-1], RESULT[:-1]) and not divides(subject):
        return ALWAYS if values.poison else NEVER
    return row(Leaf, (subject, values))


def any_of(parts: Iterable[Formula]) -> Formula:
    """Join by OR."""
    return _flat(Any, parts)


def all_of(parts: Iterable[Formula]) -> Formula:
    """Join by AND."""
    return _flat(All, parts)


def _flat(connective: _Connective, parts: Iterable[Formula]) -> Formula:
    """Join formulas, with one leaf for each subject where its set can be written; parts stay in order."""
    listed = [*parts]
    if _is_flat(connective, listed):
        return listed[0] if len(listed) == 1 else row(connective, (tuple(listed),))
    neutral, decisive = (ALWAYS, NEVER) if connective is All else (NEVER, ALWAYS)
    # What is said of one subject, or of two, or by one object, stands where it is said first.
    groups: dict[object, Formula] = {}
    several: dict[object, list[Formula]] = {}
    for part in listed:
        for one in part.parts if type(part) is connective else (part,):
            if type(one) is Leaf:
                key: object = id(one.subject)
            elif type(one) is Relation:
                key = id(one.left), id(one.right)
            elif one is decisive:
                return one
            else:
                groups[id(one), None] = one
                continue
            first = groups.setdefault(key, one)
            if first is not one:
                several.setdefault(key, [first]).append(one)
    joined = [*groups.values()]
    if several:
        joined = []
        for key, first in groups.items():
            for one in _merged(connective, several[key]) if key in several else (first,):
                if one is decisive:
                    return one
                if one is not neutral:
                    joined.append(one)
    return neutral if not joined else joined[0] if len(joined) == 1 else row(connective, (tuple(joined),))


def _is_flat(connective: _Connective, parts: list[Formula]) -> bool:
    """Report whether some parts are few, and leaves and groups of the other connective of which no two can be joined.

    Most are: a fifth of the time.
    """
    size = len(parts)
    if not 0 < size <= _FEW:
        return False
    for at in range(size):
        one = parts[at]
        subject: object = one
        if type(one) is Leaf:
            subject = field(one, 0)
        elif type(one) is connective or type(one) is Relation or one is ALWAYS or one is NEVER:
            return False
        for before in range(at):
            other = parts[before]
            if other is subject or (type(other) is Leaf and field(other, 0) is subject):
                return False
    return True


_FEW = 8  # parts, each of which is compared with all


def _merged(connective: _Connective, group: Sequence[Formula]) -> list[Formula]:
    """Join what is said of the same."""
    first = group[0]
    if isinstance(first, Relation):
        outcomes = first.outcomes
        for one in group[1:]:
            assert isinstance(one, Relation)
            outcomes = outcomes & one.outcomes if connective is All else outcomes | one.outcomes
        if outcomes == outcomes_of(first.left, first.right):
            return [ALWAYS]
        return [first._replace(outcomes=outcomes) if outcomes else NEVER]
    assert isinstance(first, Leaf)
    sets = [one.values for one in group if isinstance(one, Leaf)]
    if connective is Any:
        return [leaf(first.subject, values) for values in unite(sets)]
    both: Values | None = sets[0] if len(sets) <= _FEW else None  # of many, to unite what they leave out takes less
    for values in sets[1:]:
        both = None if both is None else common(both, values)
    if both is not None:
        return [leaf(first.subject, both)]
    whole = whole_of(first.subject)
    return [leaf(first.subject, outside(values, whole)) for values in unite([outside(one, whole) for one in sets])]


_T = TypeVar("_T")


def fold(
    formula: Formula,
    leaf: Callable[[Leaf | Relation], _T],
    all_of: Callable[[Sequence[_T]], _T],
    any_of: Callable[[Sequence[_T]], _T],
    known: dict[int, tuple[Formula, _T]] | None = None,
) -> _T:
    """Compute something of a formula from the bottom up, of a part that several share once.

    Args:
        leaf: computes it of a leaf or a relation.
        all_of: computes it of AND, from what it is of the parts; they are in order.
        any_of: computes it of OR.
        known: what was computed before, and is now, by the identity of the formula, which it keeps alive.
    """
    found = {} if known is None else known
    stack = [formula]
    while stack:
        one = stack[-1]
        if id(one) in found:
            stack.pop()
        elif isinstance(one, (Leaf, Relation)):
            found[id(one)] = one, leaf(one)
        else:
            waiting = [part for part in one.parts if id(part) not in found]
            if waiting:
                stack += waiting[::-1]
            else:
                below = [found[id(part)][1] for part in one.parts]
                found[id(one)] = one, all_of(below) if isinstance(one, All) else any_of(below)
    return found[id(formula)][1]


def leaves(formula: Formula) -> list[Leaf | Relation]:
    """List the leaves and the relations of a formula, each object once, in order."""
    found: list[Leaf | Relation] = []
    fold(formula, found.append, _nothing, _nothing)
    return found


def _nothing(_: Sequence[None]) -> None:
    pass


Memory = dict[int, tuple[Formula, Formula]]  # by identity: a formula, which it keeps alive, and its complement


def complement(formula: Formula) -> Formula:
    """Return the formula that is true where *formula* is not."""
    return complement_in(formula, {})


def complement_in(formula: Formula, memory: Memory) -> Formula:
    """Return the complement of *formula*, remembering what is complemented on the way."""
    made = fold(formula, _other_leaf, _any_of_others, _all_of_others, memory)
    memory.setdefault(id(made), (made, formula))
    return made


def _other_leaf(one: Leaf | Relation) -> Formula:
    if isinstance(one, Leaf):
        return row(Leaf, (one.subject, outside(one.values, whole_of(one.subject))))
    return one._replace(outcomes=outcomes_of(one.left, one.right) ^ one.outcomes)


def _any_of_others(others: Sequence[Formula]) -> Formula:
    return Any(tuple(others)) if others else NEVER


def _all_of_others(others: Sequence[Formula]) -> Formula:
    return All(tuple(others)) if others else ALWAYS


def ladder(rungs: Iterable[tuple[Formula, Formula]]) -> Formula:
    """Join rungs ``(a, g), (b, h), (c, i)`` to ``a ∨ g ∧ (b ∨ h ∧ c)``.

    What is an operand further out need not be said again: ``a ∨ g ∧ (a ∨ b)`` is ``a ∨ g ∧ b``, and so for AND.
    """
    levels: list[tuple[_Connective, list[Formula]]] = []
    said: set[tuple[type, int, Values]] = set()
    for operand, guard in rungs:
        pairs: tuple[tuple[_Connective, Formula], ...] = ((Any, operand), (All, guard))
        for connective, formula in pairs:
            parts = formula.parts if type(formula) is connective else (formula,)
            fresh = [
                one for one in parts if type(one) is not Leaf or (connective, id(one.subject), one.values) not in said
            ]
            said.update([(connective, id(one.subject), one.values) for one in fresh if type(one) is Leaf])
            if fresh:
                if not levels or levels[-1][0] is not connective:
                    levels.append((connective, []))
                levels[-1][1].extend(fresh)
    if levels and levels[-1][0] is All:
        levels.pop()  # guards of nothing
    made = NEVER
    while levels:
        connective, formulas = levels.pop()
        made = _flat(connective, [*formulas, made])
    return made
