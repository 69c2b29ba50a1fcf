# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""The negation-free normal form: what a selector means in two values.

The one place that says so: nothing downstream knows a dialect, three values, or what a type mismatch is. TRUE, FALSE
and ERR of a selector are a `Formula` each, and UNKNOWN is what is none of the three. A fourth formula is MISMATCH: a
test that is evaluated meets a value of another kind, whatever it yields for that. With T, F, E and M of the operands,
and guards only where an operand can be ERR:

==========  ====================  ====================  ====================
..          TRUE                  FALSE                 ERR
==========  ====================  ====================  ====================
a AND b     T(a) ∧ T(b)           F(a) ∨ ¬E(a) ∧ F(b)   E(a) ∨ ¬F(a) ∧ E(b)
a OR b      T(a) ∨ ¬E(a) ∧ T(b)   F(a) ∧ F(b)           E(a) ∨ ¬T(a) ∧ E(b)
NOT a       F(a)                  T(a)                  E(a)
==========  ====================  ====================  ====================

M of a AND b is M(a) ∨ ¬(F(a) ∨ E(a)) ∧ M(b), and of a OR b the same with T.

Linear in the length of the selector, apart from sorting and from n parentheses in each other that may all be ERR: what
an inner one leaves to guard is listed for each, n² parts for at most 500. Follows language §1 and §5.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import NamedTuple

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel.language.checker import apply, compared, literal_value
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Computed,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    children,
    unparse,
    walk,
    with_children,
)
from mqsel.language.operators import BOUNDS, OPERATORS
from mqsel.language.pattern import segments, shape
from mqsel.language.selector import Selector
from mqsel.logic.formulas import (
    ALWAYS,
    COMPARABLE,
    NEVER,
    ORDERED,
    Compared,
    Formula,
    Leaf,
    Memory,
    Relation,
    complement_in,
    divides,
    ladder,
    outcomes_of,
)
from mqsel.logic.sets import NOTHING, NUMBERS, PROPERTY, Texts, Values, outside
from mqsel.values import KINDS, Truth

if not cython.compiled:
    from mqsel.language.checker import may_err
    from mqsel.language.nodes import field, row
    from mqsel.logic.formulas import all_of, any_of, leaf
    from mqsel.logic.sets import numbers, numbers_from


class Normal(NamedTuple):
    """Where a selector is TRUE, FALSE and ERR, no two of one message; and where evaluating it meets a MISMATCH."""

    true: Formula
    false: Formula
    error: Formula
    mismatch: Formula

    @property
    def truths(self) -> tuple[Formula, Formula, Formula]:
        """Where it is TRUE, FALSE and ERR."""
        return self[:3]

    @property
    def unknown(self) -> Formula:
        """Where it is none of these."""
        memory: Memory = {}
        return all_of([complement_in(part, memory) for part in self.truths])


# ---- what is wanted --------------------------------------------------------------------------------------------------

# Parts of a normal form; of one that is made for some of them the others are NEVER.
_T, _F, _E, _M, TRUTHS, ALL_PARTS = 1, 2, 4, 8, 7, 15
# By the parts that are wanted of a condition: those of what is negated, and those of the operands of an AND.
_OF_NEGATED = tuple([(parts & _T) * 2 | (parts & _F) // 2 | parts & (_E | _M) for parts in range(16)])
_OF_OPERANDS = tuple([parts | (_F | _E if parts & (_F | _E | _M) else 0) for parts in range(16)])


def normal(selector: Selector, wanted: int = TRUTHS) -> Normal:
    """Return the normal form of *selector*, a part of one perhaps.

    Where the identifier to match is that of any message, it is TRUE of all.

    Args:
        wanted: TRUTHS, or ALL_PARTS where MISMATCH counts, which takes up to three times as long.
    """
    return Writer().write(selector, selector.names, wanted)


def true_of(selector: Selector) -> Formula:
    """Return where *selector* is TRUE: for a conjunction in a quarter of the time of `normal`.

    What only the other parts need is not made. Sets of many selectors are built of these.
    """
    return normal(selector, _T).true


# ---- conditions ------------------------------------------------------------------------------------------------------

_CONSTANTS = {
    Truth.TRUE: Normal(ALWAYS, NEVER, NEVER, NEVER),
    Truth.FALSE: Normal(NEVER, ALWAYS, NEVER, NEVER),
    Truth.UNKNOWN: Normal(NEVER, NEVER, NEVER, NEVER),
    Truth.ERR: Normal(NEVER, NEVER, ALWAYS, NEVER),
}

# Members of an enum are found by a method of Python: 900 instructions each.
_IS_TRUE, _IS_FALSE, _IS_ERR = Truth.TRUE, Truth.FALSE, Truth.ERR
_UNKNOWN = _CONSTANTS[Truth.UNKNOWN]
_NO_BOOLEANS, _NO_FLOATS, _NO_TEXTS = NOTHING.booleans, NOTHING.floats64, NOTHING.strings
_TRUE = NOTHING._replace(booleans=(False, True))
_FALSE = NOTHING._replace(booleans=(True, False))
_NULL = NOTHING._replace(null=True)
_ERROR = NOTHING._replace(error=True)
_PRESENT = outside(_NULL, PROPERTY)
# What each kind of constant does not compare with: the lanes of a type mismatch, of a property and of arithmetic.
_LANES = {
    "number": ("integers", "floats32", "floats64"),
    "string": ("strings",),
    "boolean": ("booleans",),
    "byte string": ("bytes",),
}
_MISMATCHES = {
    kind: PROPERTY._replace(null=False, **{lane: getattr(NOTHING, lane) for lane in lanes})
    for kind, lanes in _LANES.items()
}
_NO_NUMBER_OR_NULL = outside(NUMBERS, PROPERTY)
_POISON = NOTHING._replace(poison=True)
_COMPUTED = NUMBERS._replace(poison=True)

# The outcomes that make a comparison TRUE.
_HOLDS = {
    "=": Compared.EQUAL | Compared.SAME,
    "<>": Compared.LESS | Compared.GREATER | Compared.UNORDERED | Compared.DIFFERENT,
    "<": Compared.LESS,
    "<=": Compared.LESS | Compared.EQUAL,
    ">": Compared.GREATER,
    ">=": Compared.GREATER | Compared.EQUAL,
}
NUMBERS_THAT = {
    sign: tuple([one in holds for one in (Compared.LESS, Compared.EQUAL, Compared.GREATER, Compared.UNORDERED)])
    for sign, holds in _HOLDS.items()
}
# Those that hold where NaN is greater than every number.
NUMBERS_THAT |= {f"{sign} NaN": (*NUMBERS_THAT[sign][:3], True) for sign in (">", ">=")}
_NUMBERS_THAT_NOT = {sign: tuple([not one for one in chosen]) for sign, chosen in NUMBERS_THAT.items()}

_JOINING = frozenset((And, Or, Not))
_CONDITIONS = frozenset((And, Or, Not, Computed, Comparison, Between, In, Like, IsNull))

# An operand: a constant, what is read from a message, a condition, or None where computing it is ERR.
_Operand = Node | Normal | None


def _only(value: typing.Any) -> frozenset[typing.Any]:
    values = (value,)  # Cython 3.3 fills the set of frozenset((value,)) also where there was no memory for it
    return frozenset(values)


def _of_strings(texts: Texts) -> Values:
    return row(Values, (False, _NO_BOOLEANS, (), _NO_FLOATS, _NO_FLOATS, texts, _NO_TEXTS, False, False))


def _of_bytes(texts: Texts) -> Values:
    return row(Values, (False, _NO_BOOLEANS, (), _NO_FLOATS, _NO_FLOATS, _NO_TEXTS, texts, False, False))


def _beside(values: Values, others: Values) -> Values:
    """Return the union of two sets that have no lane in common: a tenth of the time of _replace."""
    lanes = zip(values, others, NOTHING, strict=True)
    return row(Values, tuple([one if other is nothing else other for one, other, nothing in lanes]))


def _flipped(made: Normal) -> Normal:
    """NOT."""
    return row(Normal, (field(made, 1), field(made, 0), field(made, 2), field(made, 3)))


def _mismatched(other: Truth, mismatch: Formula, false: Formula, error: Formula) -> Normal:
    """Return what is *other* where types differ, FALSE and ERR where something else is why, and else never TRUE."""
    if other is _IS_FALSE:
        false = any_of([false, mismatch])
    elif other is _IS_ERR:
        error = any_of([error, mismatch])
    return row(Normal, (mismatch if other is _IS_TRUE else NEVER, false, error, mismatch))


def _met(made: Normal, within: Formula) -> Normal:
    """Add the mismatches of the conditions that a comparison has for its operands."""
    return made._replace(mismatch=any_of([made.mismatch, within]))


def _null_is_error(subject: Node) -> bool:
    return isinstance(subject, (Arithmetic, Sign)) and subject.null is Truth.ERR


def _operands(chain: And | Or) -> list[tuple[Node, bool]]:
    """List the operands of a chain and of the chains in it that are of its kind, once NOT is pushed inwards.

    Returns: (operand, whether it is negated), in order.
    """
    is_and = type(chain) is And
    found: list[tuple[Node, bool]] = []
    stack = [(one, False) for one in field(chain, 0)[::-1]]
    while stack:
        node, negative = stack.pop()
        if type(node) is Not:
            stack.append((field(node, 0), not negative))
        elif (type(node) is And or type(node) is Or) and ((type(node) is And) != negative) == is_and:
            stack += [(one, negative) for one in field(node, 0)[::-1]]
        else:
            found.append((node, negative))
    return found


# Tests that a writer remembers, some hundred bytes each, before it begins anew.
_REMEMBERED = 1024
_SEEN = 4096  # of those that were written last, how many are known: a power of two


class Writer:
    """Writes selectors as formulas: a test that is in many of them is written once.

    Attributes:
        may_err: whether any part of a selector can be ERR.
        subjects: one object for equal trees, by name for properties.
        tests: of a property with constants, by what they say and what of them is wanted.
        seen: by a part of their hashes, another part of those that were written at least once.
        memory: complements.
    """

    def __init__(self) -> None:
        self.subjects: dict[object, Node] = {}
        self.tests: dict[tuple[object, ...], Normal] = {}
        self.seen = bytearray(_SEEN)

    def true_of(self, selector: Selector, names: Mapping[str, str]) -> Formula:
        """Return where *selector* is TRUE: as the function `true_of`.

        Args:
            names: what to call the properties that it reads, by names as written.
        """
        return field(self.write(selector, names, _T), 0)  # type: ignore[no-any-return]

    def write(self, selector: Selector, names: Mapping[str, str], wanted: int) -> Normal:
        """Write some parts of the normal form of *selector*, by names as `true_of`."""
        if selector.match_option is not None and selector.match_option.matches_any:
            return _CONSTANTS[Truth.TRUE]
        if len(self.tests) > _REMEMBERED or len(self.subjects) > _REMEMBERED:
            self.tests, self.subjects = {}, {}  # both, because a test holds its subject
        self.memory: Memory = {}
        self.names = names
        self.may_err = may_err(selector.order)
        if self.may_err:  # otherwise it has no computed tests
            selector = selector.of_core()
            self.may_err = may_err(selector.order)
        return self.condition(selector.node, wanted)

    def condition(self, root: Node, wanted: int) -> Normal:
        whole = [_UNKNOWN]
        # Conditions, the parts of them that are wanted, and where they go, negated perhaps: to what they are in.
        stack = [(root, wanted if self.may_err else wanted & ~_E, whole, 0, False)]
        # Those that others are in, from the top, each with what becomes of these.
        order: list[tuple[Node, int, list[Normal], int, bool, list[Normal]]] = []
        while stack:
            node, wanted, above, place, negative = stack.pop()
            kind = type(node)
            if (kind is And or kind is Or) and field(node, 2) == "kleene":
                operands = field(node, 0)
                of_below = self.of_operands(wanted, kind)
                for one in operands:
                    if type(one) in _JOINING:
                        below = _operands(node)  # type: ignore[arg-type]
                        break
                else:  # most consist of tests alone, which need no place on the stack
                    inner: list[typing.Any] = [self.remembered(one, of_below) for one in operands]
                    if None not in inner:
                        order.append((node, wanted, above, place, negative, inner))
                        continue
                    below = [(one, False) for one in operands]
            elif kind is Not:
                below, of_below = [(field(node, 0), True)], wanted
            else:
                if kind is And or kind is Or:
                    below = [(one, False) for one in field(node, 0)]
                else:
                    made = self.remembered(node, wanted)
                    if made is not None:
                        above[place] = _flipped(made) if negative else made
                        continue
                    below = [(one, False) for one in children(node) if type(one) in _CONDITIONS]
                of_below = _T | _F | wanted & _M | (_E if self.may_err else 0)
            inner = [_UNKNOWN] * len(below)
            order.append((node, wanted, above, place, negative, inner))
            for at, (one, is_negated) in enumerate(below):
                stack.append((one, _OF_NEGATED[of_below] if is_negated else of_below, inner, at, is_negated))
        for node, wanted, above, place, negative, inner in reversed(order):
            if type(node) is Not:
                made = inner[0]
            elif type(node) is Comparison:
                made = self.of_conditions(node, inner, wanted)
            else:
                made = self.connective(node, inner, wanted)
            above[place] = _flipped(made) if negative else made
        return whole[0]

    def joined(self, node: And | Or | Not, operands: list[Normal]) -> Normal:
        """Join the normal forms of the operands of a connective, which counts no mismatches of its own."""
        made = _flipped(operands[0]) if type(node) is Not else self.connective(node, operands, TRUTHS)
        return made._replace(mismatch=NEVER)

    def of_operands(self, wanted: int, connective: type) -> int:
        """Return the parts of the operands of a chain that are wanted for those of the chain."""
        found = _OF_OPERANDS[wanted] if connective is And else _OF_NEGATED[_OF_OPERANDS[_OF_NEGATED[wanted]]]
        return found if self.may_err else found & ~_E

    def remembered(self, node: Node, wanted: int) -> Normal | None:
        """Write some parts of a condition, or find them written; return None if there are other conditions in it."""
        said: tuple[object, ...] = ()
        # Tuples of these have different lengths, so none of one class is one of another.
        if type(node) is Comparison:  # first, because it is the commonest
            left, right = field(node, 1), field(node, 2)
            if type(left) is Identifier and type(right) is Literal:
                operator, other, name = field(node, 0), field(node, 4), field(left, 0)
                if field(node, 5):
                    operator = f"{operator} NaN"
                said = self.names[name], wanted, other, operator, field(right, 0), field(right, 1)
                found = self.tests.get(said)
                if found is None:
                    found = self.constant(operator, self.read(name), right, other, wanted)
                    self.remember(said, found)
                return found
            if type(left) in _CONDITIONS or type(right) in _CONDITIONS:
                return None
        elif type(node) is Between:
            operand, low, high = field(node, 1), field(node, 2), field(node, 3)
            if type(operand) is Identifier and type(low) is type(high) is Literal:
                ends = field(low, 0), field(low, 1), field(high, 0), field(high, 1)
                said = self.names[field(operand, 0)], wanted, field(node, 5), field(node, 6), field(node, 0), *ends
        elif type(node) is In:
            said = self.names[field(field(node, 1), 0)], wanted, field(node, 4), field(node, 0), field(node, 2)
        elif type(node) is Like:
            said = self.names[node.identifier.name], wanted, node.other, node.negated, node.pattern, node.escape, "LIKE"
        elif type(node) is IsNull:
            said = self.names[node.identifier.name], wanted, node.negated
        if not said:
            return self.predicate(node, wanted)
        found = self.tests.get(said)
        if found is None:
            found = self.predicate(node, wanted)
            self.remember(said, found)
        return found

    def remember(self, said: tuple[object, ...], made: Normal) -> None:
        """Keep a test from the second time on: many are in one selector alone, and the collector would walk them."""
        number = hash(said)
        place, mark = number & (_SEEN - 1), number >> 16 & 255 | 1
        if self.seen[place] == mark:
            self.tests[said] = made
        else:
            self.seen[place] = mark

    def predicate(self, node: Node, wanted: int) -> Normal:
        """Write some parts of a condition that no other condition is in."""
        if type(node) is Comparison:
            operator = f"{node.operator} NaN" if node.has_greatest else node.operator
            return self.comparison(operator, self.operand(node.left), self.operand(node.right), node.other, wanted)
        if type(node) is Between:
            return self.between(node, wanted)
        if type(node) is In:
            texts = row(Texts, (frozenset(field(node, 2)), frozenset(), field(node, 0)))
            return self.text(self.read(field(field(node, 1), 0)), "string", texts, field(node, 4), wanted)
        if type(node) is Like:
            parts = segments(node.pattern, node.escape)
            like, text = shape(parts)
            texts = NOTHING.strings if node.negated else PROPERTY.strings
            if like == "exact":
                texts = row(Texts, (_only(text), frozenset(), node.negated))
            elif like != "prefix" or text:
                texts = row(Texts, (frozenset(), _only(tuple(map(tuple, parts))), node.negated))
            return self.text(self.read(node.identifier.name), "string", texts, node.other, wanted)
        if isinstance(node, IsNull):
            null = row(Leaf, (self.read(node.identifier.name), _NULL))
            made = row(Normal, (null, row(Leaf, (null.subject, _PRESENT)), NEVER, NEVER))
            return _flipped(made) if node.negated else made
        if isinstance(node, Computed):
            test = self.computed(node)
            return row(Normal, (row(Leaf, (test, _TRUE)), row(Leaf, (test, _FALSE)), row(Leaf, (test, _ERROR)), NEVER))
        if isinstance(node, Identifier):
            return self.constant("=", self.read(node.name), Literal("boolean", value=True), node.other, wanted)
        assert isinstance(node, Literal)
        return _CONSTANTS[Truth(int(bool(node.value)))]

    def of_conditions(self, node: Comparison, inner: list[Normal], wanted: int) -> Normal:
        """Write some parts of a comparison, from what became of the conditions that stand on its sides."""
        below = iter(inner)
        left, right = [
            next(below) if type(side) in _CONDITIONS else self.operand(side) for side in (node.left, node.right)
        ]
        return self.comparison(node.operator, left, right, node.other, wanted)

    def outside(self, formula: Formula) -> Formula:
        return complement_in(formula, self.memory)

    def connective(self, node: Node, operands: list[Normal], wanted: int) -> Normal:
        """AND and OR, by the rule of their dialect."""
        assert isinstance(node, (And, Or))
        is_and = type(node) is And
        if node.rule == "kleene":
            return self.chain(operands, wanted, type(node))
        if not is_and:
            operands = [_flipped(one) for one in operands]
        true, error = all_of([one.true for one in operands]), any_of([one.error for one in operands])
        false, mismatch = any_of([one.false for one in operands]), any_of([one.mismatch for one in operands])
        if node.rule == "eager":
            false = all_of([false, self.outside(error)])
        elif is_and:  # the first that is not TRUE decides
            false, error, mismatch = [ladder((one[part], one.true) for one in operands) for part in (1, 2, 3)]
        else:  # the first that is FALSE here, TRUE itself, decides; else the last
            goes_on = [self.outside(any_of([one.false, one.error])) for one in operands]
            true = all_of([*goes_on[:-1], operands[-1].true])
            false, error, mismatch = [
                ladder((one[part], on) for one, on in zip(operands, goes_on, strict=True)) for part in (1, 2, 3)
            ]
        return row(Normal, (true, false, error, mismatch)) if is_and else row(Normal, (false, true, error, mismatch))

    def chain(self, operands: list[Normal], wanted: int, connective: type) -> Normal:
        """AND: the first operand that is FALSE or ERR decides. OR is the AND of negations, negated."""
        is_and = connective is And
        if not is_and:
            operands = [_flipped(one) for one in operands]
            wanted = _OF_NEGATED[wanted]
        true = all_of([field(one, 0) for one in operands]) if wanted & _T else NEVER
        false = error = mismatch = NEVER
        if wanted & _M:
            last = max((place for place, one in enumerate(operands) if one.mismatch is not NEVER), default=-1)
            # Behind an operand that decides none is evaluated.
            mismatch = ladder(
                (one.mismatch, self.outside(any_of([one.false, one.error]))) for one in operands[: last + 1]
            )
        if wanted & (_F | _E):
            failing = [place for place, one in enumerate(operands) if field(one, 2) is not NEVER]
            if not failing:
                false = any_of([field(one, 1) for one in operands])
            else:
                if wanted & _F:
                    false = ladder((one.false, self.outside(one.error)) for one in operands)
                if wanted & _E:
                    error = ladder((one.error, self.outside(one.false)) for one in operands[: failing[-1] + 1])
        return row(Normal, (true, false, error, mismatch)) if is_and else row(Normal, (false, true, error, mismatch))

    # ---- tests -------------------------------------------------------------------------------------------------------

    def test(self, subject: Node, kind: str, found: Values, rest: Values, other: Truth, wanted: int) -> Normal:
        """Write a test that is TRUE of *found* and FALSE of *rest*, which are all that compares with a kind."""
        others = _MISMATCHES[kind] if type(subject) is Identifier else _POISON
        true = false = error = mismatch = NEVER
        if wanted & _T:
            true = leaf(subject, _beside(found, others) if other is _IS_TRUE else found)
        if wanted & _F:
            false = leaf(subject, _beside(rest, others) if other is _IS_FALSE else rest)
        if wanted & _E:
            if type(subject) is not Identifier:
                error = self.fault(subject, is_poison_too=other is _IS_ERR)
            elif other is _IS_ERR:
                error = row(Leaf, (subject, others))
        if wanted & _M:
            mismatch = leaf(subject, others)
        return row(Normal, (true, false, error, mismatch))

    def text(self, subject: Node, kind: str, texts: Texts, other: Truth, wanted: int) -> Normal:
        """Write a test that is TRUE of *texts* and FALSE of the other strings, or byte strings."""
        lane = _of_strings if kind == "string" else _of_bytes
        if wanted == _T and texts.points and other is not _IS_TRUE:  # then it is neither nothing nor all
            return row(Normal, (row(Leaf, (subject, lane(texts))), NEVER, NEVER, NEVER))
        found = lane(texts) if wanted & _T else NOTHING
        rest = lane(row(Texts, (texts.points, texts.patterns, not texts.negated))) if wanted & _F else NOTHING
        return self.test(subject, kind, found, rest, other, wanted)

    def fault(self, subject: Node, *, is_poison_too: bool = False) -> Formula:
        """Return where computing *subject* is ERR: by its properties alone if they suffice: these are read faster."""
        if type(subject) is Identifier:
            return NEVER
        may_divide, null_is_error = divides(subject), _null_is_error(subject)
        if null_is_error and not may_divide:
            lane = _NO_NUMBER_OR_NULL if is_poison_too else _NULL
            read = [node for node in walk(subject, (Arithmetic, Sign)) if type(node) is Identifier]
            return any_of(row(Leaf, (node, lane)) for node in read)
        return leaf(subject, NOTHING._replace(null=null_is_error, error=may_divide, poison=is_poison_too))

    def null(self, subject: Node) -> Formula:
        """Return where *subject* is NULL, and so not ERR."""
        if type(subject) is Identifier:
            return row(Leaf, (subject, _NULL))
        if _null_is_error(subject):
            return NEVER
        if divides(subject):
            return row(Leaf, (subject, _NULL))
        return any_of(row(Leaf, (node, _NULL)) for node in walk(subject) if type(node) is Identifier)

    # ---- comparisons -------------------------------------------------------------------------------------------------

    def comparison(self, operator: str, left: _Operand, right: _Operand, other: Truth, wanted: int) -> Normal:
        if left is None or right is None:
            return _CONSTANTS[Truth.ERR]
        if type(left) is Identifier and type(right) is Literal:
            return self.constant(operator, left, right, other, wanted)
        is_mirrored = isinstance(left, Literal) or (isinstance(right, Normal) and not isinstance(left, Normal))
        if is_mirrored:
            operator, left, right = OPERATORS[operator].mirrored, right, left
        if isinstance(left, Normal):
            return self.beside(operator, left, right, other, is_mirrored=is_mirrored)
        assert not isinstance(right, Normal)
        if not isinstance(right, Literal):
            return self.relation(operator, left, right, other)
        if isinstance(left, Literal):
            values = literal_value(left), literal_value(right)
            made = _CONSTANTS[compared(operator, *values, other)]
            return made._replace(mismatch=ALWAYS) if compared(operator, *values, Truth.ERR) is _IS_ERR else made
        return self.constant(operator, left, right, other, wanted)

    def constant(self, operator: str, subject: Node, literal: Literal, other: Truth, wanted: int) -> Normal:
        """Compare with a constant."""
        value, kind = field(literal, 1), KINDS[field(literal, 0)]
        if type(subject) is not Identifier and kind != "number":
            return _mismatched(other, leaf(subject, _COMPUTED), NEVER, self.fault(subject))
        if isinstance(value, (str, bytes)):
            points: frozenset[str] | frozenset[bytes] = _only(value)
            return self.text(subject, kind, row(Texts, (points, frozenset(), operator == "<>")), other, wanted)
        if isinstance(value, bool):
            found, rest = (_TRUE, _FALSE) if value is (operator == "=") else (_FALSE, _TRUE)
            return self.test(subject, kind, found, rest, other, wanted)
        found = numbers(value, NUMBERS_THAT[operator]) if wanted & _T else NOTHING
        rest = numbers(value, _NUMBERS_THAT_NOT[operator]) if wanted & _F else NOTHING
        return self.test(subject, kind, found, rest, other, wanted)

    def relation(self, operator: str, left: Node, right: Node, other: Truth) -> Normal:
        """Compare two operands of a message."""
        possible = outcomes_of(left, right)
        comparable = possible & (COMPARABLE if operator in ("=", "<>") else ORDERED)
        holds = possible & _HOLDS[operator]
        fails = comparable ^ holds
        differs = possible & (COMPARABLE | Compared.MISMATCH) ^ comparable
        mismatch = row(Relation, (left, right, differs))
        error = [self.fault(left), self.fault(right)]
        if other is _IS_FALSE:
            fails |= differs
        elif other is _IS_TRUE:
            holds |= differs
        elif other is _IS_ERR:
            error.append(mismatch)
        return row(
            Normal, (row(Relation, (left, right, holds)), row(Relation, (left, right, fails)), any_of(error), mismatch)
        )

    def beside(self, operator: str, left: Normal, right: Node | Normal, other: Truth, *, is_mirrored: bool) -> Normal:
        """Compare a condition, as the boolean that it is, with another, or with a property that may be none.

        Args:
            is_mirrored: *right* stands before *left* in the text, and is computed first.
        """
        mismatch, known = NEVER, any_of([left.true, left.false])
        within = left.mismatch
        if isinstance(right, Identifier):
            mismatch = all_of([known, row(Leaf, (right, _MISMATCHES["boolean"]))])
            right = row(Normal, (row(Leaf, (right, _TRUE)), row(Leaf, (right, _FALSE)), NEVER, NEVER))
        elif isinstance(right, Literal) and right.kind == "boolean":
            right = self.predicate(right, ALL_PARTS)
        elif isinstance(right, Literal):
            return _met(_mismatched(other, known, NEVER, left.error), within)
        elif not isinstance(right, Normal):
            computed, fault = all_of([known, leaf(right, _COMPUTED)]), self.fault(right)
            if is_mirrored:
                within = all_of([self.outside(fault), within])
            return _met(_mismatched(other, computed, NEVER, any_of([left.error, fault])), within)
        if right.mismatch is not NEVER:
            within = any_of([within, all_of([self.outside(left.error), right.mismatch])])
        same = any_of([all_of([left.true, right.true]), all_of([left.false, right.false])])
        differ = any_of([all_of([left.true, right.false]), all_of([left.false, right.true])])
        true, false, error = same, differ, any_of([left.error, right.error])
        if operator == "<>":
            true, false = differ, same
        made = _mismatched(other, mismatch, false, error)
        return _met(made._replace(true=any_of([true, made.true])), within)

    def between(self, node: Between, wanted: int) -> Normal:
        operand, low, high = [self.operand(field(node, place)) for place in (1, 2, 3)]
        signs = BOUNDS[field(node, 0)]
        if wanted == _T and not field(node, 0) and type(operand) is Identifier and type(low) is type(high) is Literal:
            found = numbers_from(field(low, 1), field(high, 1))
            return row(Normal, (leaf(operand, found), NEVER, NEVER, NEVER))
        connective = Or if node.negated else And
        parts = self.of_operands(wanted, connective)
        ends = zip(signs, (low, high), strict=True)
        tests = [self.comparison(sign, operand, bound, node.other, parts) for sign, bound in ends]
        made = self.chain(tests, wanted, connective)
        if node.null is None or wanted == (_F if node.negated else _T):
            return made
        # All three are computed, and looked at for NULL, before any two of them are compared.
        if None in (operand, low, high):
            return _CONSTANTS[Truth.ERR]
        subjects = [one for one in (operand, low, high) if one is not None and type(one) is not Literal]
        fault = any_of([self.fault(one) for one in subjects])
        null = any_of([self.null(one) for one in subjects])
        sound, present = self.outside(fault), self.outside(null)
        error = any_of([fault, all_of([present, made.error])])
        mismatch = all_of([sound, present, made.mismatch])
        if node.negated:
            return row(Normal, (all_of([sound, any_of([null, made.true])]), made.false, error, mismatch))
        return row(Normal, (made.true, all_of([sound, any_of([null, made.false])]), error, mismatch))

    # ---- operands ----------------------------------------------------------------------------------------------------

    def read(self, name: str) -> Node:
        """Return the subject that is a property."""
        found = self.names[name]
        if found not in self.subjects:
            self.subjects[found] = Identifier(found)
        return self.subjects[found]

    def computed(self, node: Computed) -> Node:
        """Return the subject that is a computed test: of its expression, whose spelling tells it from all others."""
        names = [self.names[one.name] for one in node.identifiers]
        said = unparse(node.expression, node.dialect), node.dialect, *names
        return self.subjects.setdefault(said, with_children(node, [self.read(one.name) for one in node.identifiers]))

    def operand(self, root: Node) -> Node | None:
        """Compute what is constant in an operand; None where it is ERR whatever a message has."""
        if type(root) is Literal:
            return root
        if type(root) is Identifier:
            return self.read(root.name)
        # What has been computed and stands in nothing yet; and what tells it from all others: of trees, -0.0 equals 0.0
        # and NaN nothing.
        made: list[Node] = []
        said: list[object] = []
        whole: Node
        word: object
        for node in walk(root):
            kind = type(node)
            if kind is Identifier or kind is Literal:
                made.append(self.read(field(node, 0)) if kind is Identifier else node)
                said.append(self.names[field(node, 0)] if kind is Identifier else (repr(field(node, 1)),))
                continue
            first = len(made) - (len(field(node, 1)) if kind is Arithmetic else 1)
            below, words = made[first:], said[first:]
            del made[first:], said[first:]
            if {type(one) for one in below} == {Literal}:
                value = apply(node, [literal_value(one) for one in below])  # type: ignore[arg-type]
                if isinstance(value, Truth):
                    return None
                whole, word = Literal("exact" if isinstance(value, int) else "approximate", value), (repr(value),)
            else:
                assert isinstance(node, (Arithmetic, Sign))
                word = node.null, node[0], node[-1], *words
                whole = row(kind, (node[0], tuple(below) if kind is Arithmetic else below[0], *node[2:]))
            made.append(whole)
            said.append(word)
        return whole if type(whole) is Literal else self.subjects.setdefault(said[0], whole)
