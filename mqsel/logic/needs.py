"""What a message must have for a formula to be true: for each property a set of values, one of which it has.

Of AND a part is needed if an operand needs it, of OR if each does. A message that has it all need not make the formula
true. Knows no place where properties are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqsel.language.nodes import Arithmetic, Identifier, Node, Sign, walk
from mqsel.logic.formulas import Any, Compared, Formula, Leaf, Relation, fold
from mqsel.logic.sets import NOTHING, NUMBERS, PROPERTY, Values, outside, unite

Needs = Mapping[str, Values]  # for a property, values one of which it must have
_PRESENT = PROPERTY._replace(null=False)
_INCOMPARABLE = Compared.NULL | Compared.MISMATCH | Compared.ERROR


def needs(formula: Formula) -> Needs | None:
    """Return what a message must have for *formula* to be true; None where it is never true."""
    return fold(formula, needs_of_leaf, _all, _any)


def alternatives(formula: Formula) -> list[Needs]:
    """Return what a message must have for each operand of an OR to be true, without those that never are."""
    parts = formula.parts if isinstance(formula, Any) else (formula,)
    known: dict[int, tuple[Formula, Needs | None]] = {}
    found = [fold(part, needs_of_leaf, _all, _any, known) for part in parts]
    return [one for one in found if one is not None]


def either(many: Sequence[Needs]) -> Needs:
    """Return what a message must have that has all of one of *many*: of the properties that all of them name."""
    if len(many) == 1:
        return many[0]
    names = [name for name in many[0] if all(name in one for one in many)]
    return {name: values for name in names if (values := _united([one[name] for one in many])) is not None}


def needs_of_leaf(one: Leaf | Relation) -> Needs:
    """Return what a message must have for a leaf, or a relation, to be true."""
    if isinstance(one, Leaf):
        if isinstance(one.subject, Identifier):
            return {one.subject.name: one.values}
        values = one.values
        return {} if values.null or values.poison or values.error else _numbers(one.subject)
    if one.outcomes & _INCOMPARABLE:
        return {}
    sides = [{side.name: _PRESENT} if isinstance(side, Identifier) else _numbers(side) for side in one[:2]]
    return {**sides[1], **sides[0]}


def _numbers(subject: Node) -> Needs:
    """Return that all that arithmetic reads is a number: so it is where the result is one."""
    return {node.name: NUMBERS for node in walk(subject, (Arithmetic, Sign)) if isinstance(node, Identifier)}


def _all(parts: Sequence[Needs | None]) -> Needs | None:
    joint: dict[str, Values] = {}
    for part in parts:
        if part is None:
            return None
        for name, values in part.items():
            joint[name] = _common(joint[name], values) if name in joint else values
            if joint[name] == NOTHING:
                return None
    return joint


def _any(parts: Sequence[Needs | None]) -> Needs | None:
    possible = [part for part in parts if part is not None]
    return either(possible) if possible else None


def _common(one: Values, other: Values) -> Values:
    """Return what is in both; of what cannot be written, what is in the first."""
    left_out = unite([outside(one, PROPERTY), outside(other, PROPERTY)])
    return outside(left_out[0], PROPERTY) if len(left_out) == 1 else one


def _united(many: Sequence[Values]) -> Values | None:
    """Return the union; None where it is everything."""
    made = unite([*dict.fromkeys(many)])
    if len(made) > 1:
        return None if any(one.null for one in many) else _PRESENT
    return None if made[0] == PROPERTY else made[0]
