"""What readers may skip: a Catalyst condition that every row meets which any of many selectors selects.

From what each selector makes necessary, alternatives of tests of single columns are put together, and translated as a
selector of their own, so that what reaches a reader is exact as of any other (spark §4). Follows spark §13.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mqsel.language.dialect import IBM_MQ
from mqsel.language.nodes import And, Comparison, Identifier, In, IsNull, Like, Literal, Node, Or, walk
from mqsel.language.selector import Selector
from mqsel.logic.needs import Needs, alternatives, either
from mqsel.logic.normal import true_of
from mqsel.logic.sets import Floats, Texts, Values
from mqsel.sets.set import SelectorSet
from mqsel.spark import sets
from mqsel.spark.columns import PropertySource
from mqsel.spark.native import NoTranslation, condition, final
from mqsel.values import EXACT

# Of a sieve: alternatives, and listed strings of a test; the first that fits into an expression.
_SIZES = ((8, 1000), (4, 300), (2, 100), (1, 100), (1, 0))
_PATTERNS = 16
_INTERVALS = 8


def sieve(selectors: SelectorSet[Any], sources: Mapping[str, PropertySource]) -> str:
    """Write what every row meets that a set selects: alternatives, each of tests of single columns."""
    possible: list[Needs] = []
    for one in sets.read(selectors):
        for needs in alternatives(true_of(one)):
            known = {name: values for name, values in needs.items() if name in sources and sources[name].type}
            if _is_possible(known, sources):
                possible.append(known)
    if not possible:
        return "false"
    names = {name: name for name in sources}
    for most, points in _SIZES:
        made = [_tests(needs, sources, points) for needs in _together(possible, most)]
        if not all(made):
            return "true"
        node = _joined(Or, [_joined(And, tests) for tests in made])
        with suppress(NoTranslation):
            return final(condition(Selector("", IBM_MQ, node, walk(node), names, None, None), sources))
    return "true"


def _together(many: Iterable[Needs], most: int) -> list[Needs]:
    """Return at most *most* alternatives, one of which every message meets that meets one of *many*.

    Those that name the same properties become one; then those that have most properties in common, the rarest first.
    One without properties is met by every message.
    """
    shapes: dict[frozenset[str], list[Needs]] = {}
    for needs in many:
        shapes.setdefault(frozenset(needs), []).append(needs)
    while len(shapes) > most:
        rarest = min(shapes, key=lambda names: (len(shapes[names]), -len(names), sorted(names)))
        moved = shapes.pop(rarest)
        nearest = max(shapes, key=lambda names: (len(names & rarest), -len(names), sorted(names)))
        moved += shapes.pop(nearest)
        common = nearest & rarest
        shapes.setdefault(common, []).extend(
            [{name: values for name, values in needs.items() if name in common} for needs in moved]
        )
    return [either(alike) for alike in shapes.values()]


def _is_possible(needs: Needs, sources: Mapping[str, PropertySource]) -> bool:
    """Report whether the types of the columns allow what is necessary."""
    return all(values.null or _lane(values, sources[name].type) not in _EMPTY for name, values in needs.items())


_EMPTY: tuple[Any, ...] = (
    None,
    (),
    (False, False),
    Floats((), nan=False),
    Texts(frozenset(), frozenset(), negated=False),
)


def _lane(values: Values, kind: str) -> Any:
    """Return the values of one type."""
    if kind in EXACT:
        return values.integers
    lanes = {"float32": "floats32", "float64": "floats64", "string": "strings", "boolean": "booleans", "bytes": "bytes"}
    return getattr(values, lanes[kind]) if kind in lanes else None


def _tests(needs: Needs, sources: Mapping[str, PropertySource], points: int) -> list[Node]:
    """Write tests of what is necessary, by the types of the columns."""
    found: list[Node] = []
    for name, values in needs.items():
        if values.null:
            continue
        kind, read = sources[name].type, Identifier(name)
        lane, test = _lane(values, kind), None
        if isinstance(lane, Floats):
            test = None if lane.nan else _within(read, "approximate", lane.intervals, points)
        elif isinstance(lane, Texts):
            test = _one_of(read, lane, points) if kind == "string" else None
        elif kind in EXACT:
            test = _within(read, "exact", lane, points)
        elif lane != (True, True):
            test = Comparison("=", read, Literal("boolean", lane[1]))
        found.append(test or IsNull(negated=True, identifier=read))
    return found


def _within(read: Identifier, kind: str, intervals: Sequence[tuple[float, float]], points: int) -> Node | None:
    """Write a test of numbers; None if it would be none."""
    if len(intervals) > min(points, _INTERVALS):
        intervals = [(intervals[0][0], intervals[-1][1])]
    least, greatest = (-(1 << 63), (1 << 63) - 1) if kind == "exact" else (-math.inf, math.inf)
    ways: list[Node] = []
    for low, high in intervals:
        ends: list[Node] = [Comparison(">=", read, Literal(kind, low))] * (low > least)
        ends += [Comparison("<=", read, Literal(kind, high))] * (high < greatest)
        if not ends:
            return None
        ways.append(Comparison("=", read, Literal(kind, low)) if low == high else _joined(And, ends))
    return _joined(Or, ways)


def _one_of(read: Identifier, texts: Texts, points: int) -> Node | None:
    """Write a test of strings; None if it would be none, or too long."""
    if len(texts.points) > points or len(texts.patterns) > min(points, _PATTERNS):
        return None
    ways: list[Node] = [In(texts.negated, read, tuple(sorted(map(str, texts.points))))] * bool(texts.points)
    for pattern in sorted(texts.patterns, key=repr):
        written = "%".join("".join("_" if one is None else _ESCAPED.get(one, one) for one in part) for part in pattern)
        ways.append(Like(texts.negated, read, written, "!"))
    return _joined(And if texts.negated else Or, ways) if ways else None


_ESCAPED = {"_": "!_", "%": "!%", "!": "!!"}


def _joined(connective: type[And | Or], nodes: Sequence[Node]) -> Node:
    return connective(tuple(nodes)) if len(nodes) > 1 else nodes[0]
