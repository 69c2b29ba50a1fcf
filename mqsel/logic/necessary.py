"""What every message must have that a selector selects, and that any of many selects: a few tests of single properties.

Read off the formula of TRUE: of AND a part is necessary if an operand says it, of OR if each does. What is found may be
true of other messages, too. Knows no place where properties are. Follows `mqsel.logic.normal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mqsel.language.nodes import Identifier, Node, walk
from mqsel.language.selector import Selector
from mqsel.logic.formulas import All, Any, Formula, Leaf, Outcome
from mqsel.logic.normal import true_of
from mqsel.logic.sets import NOTHING, NUMBERS, PROPERTY, Values, outside, unite

Needs = Mapping[str, Values]  # for a property, values one of which it must have
_PRESENT = PROPERTY._replace(null=False)
_INCOMPARABLE = Outcome.NULL | Outcome.MISMATCH | Outcome.ERROR


def necessary(selector: Selector) -> list[Needs]:
    """Find what a message has that *selector* selects.

    Returns: alternatives, one of which it meets: sets of values by property; none where the selector selects nothing.
    """
    found: dict[int, Needs | None] = {}
    whole = true_of(selector)
    stack: list[Formula] = [whole]
    while stack:
        one = stack[-1]
        if id(one) in found:
            stack.pop()
        elif isinstance(one, All | Any):
            waiting = [part for part in one.parts if id(part) not in found]
            if waiting:
                stack += waiting
                continue
            parts = [found[id(part)] for part in one.parts]
            found[id(one)] = _all(parts) if isinstance(one, All) else _any(parts)
        else:
            found[id(one)] = _of_leaf(one)
    alternatives = whole.parts if isinstance(whole, Any) else [whole]
    return [needs for part in alternatives if (needs := found[id(part)]) is not None]


def either(many: Sequence[Needs]) -> Needs:
    """Give what is necessary where one of *many* is: the properties that all of them name."""
    if len(many) == 1:
        return many[0]
    names = [name for name in many[0] if all(name in one for one in many)]
    return {name: values for name in names if (values := _united([one[name] for one in many])) is not None}


def together(many: Iterable[Needs], most: int) -> list[Needs]:
    """Give at most *most* alternatives, one of which every message meets that meets one of *many*.

    Those that name the same properties become one; then those that have most properties in common, the rarest first.
    One without properties is met by every message.
    """
    shapes: dict[frozenset[str], list[Needs]] = {}
    for needs in many:
        shapes.setdefault(frozenset(needs), []).append(needs)
    while len(shapes) > most:
        rarest = min(shapes, key=lambda names: (len(shapes[names]), -len(names), sorted(names)))
        held = shapes.pop(rarest)
        nearest = max(shapes, key=lambda names: (len(names & rarest), -len(names), sorted(names)))
        held += shapes.pop(nearest)
        common = nearest & rarest
        shapes.setdefault(common, []).extend(
            [{name: values for name, values in needs.items() if name in common} for needs in held]
        )
    return [either(held) for held in shapes.values()]


def _of_leaf(one: Formula) -> Needs:
    if isinstance(one, Leaf):
        if isinstance(one.subject, Identifier):
            return {one.subject.name: one.values}
        values = one.values
        return {} if values.null or values.poison or values.error else _numbers(one.subject)
    assert not isinstance(one, All | Any)
    if one.outcomes & _INCOMPARABLE:
        return {}
    sides = [{side.name: _PRESENT} if isinstance(side, Identifier) else _numbers(side) for side in one[:2]]
    return {**sides[1], **sides[0]}


def _numbers(subject: Node) -> Needs:
    """Say of all that arithmetic reads that it is a number: so it is where the result is one."""
    return {node.name: NUMBERS for node in walk(subject) if isinstance(node, Identifier)}


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
    """Give what is in both; of what cannot be written, what is in the first."""
    left_out = unite([outside(one, PROPERTY), outside(other, PROPERTY)])
    return outside(left_out[0], PROPERTY) if len(left_out) == 1 else one


def _united(many: Sequence[Values]) -> Values | None:
    """Give the union; None where it is everything."""
    made = unite([*dict.fromkeys(many)])
    if len(made) > 1:
        return None if any(one.null for one in many) else _PRESENT
    return None if made[0] == PROPERTY else made[0]
