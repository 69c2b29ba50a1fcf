"""Other ways to write a test: a table of rewrites, and the candidates that they make of one test.

No rewrite has to mean the same: which candidate does in a dialect is proved by who asks. Those with fewer rewrites come
first, and of as many the shorter ones. Trees are those of the language without a `Computed`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
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
    children,
    mapped,
    rebuilt,
    unparse,
    walk,
    with_children,
)
from mqsel.language.operators import BOUNDS, OPERATORS, TEXT_TESTS
from mqsel.language.optimizer import fold_constants
from mqsel.language.pattern import segments, shape

MAX_REWRITES = 3  # of one test, each of another kind
MAX_CANDIDATES = 60

_CONNECTIVES = (And, Or, Not)


def with_tests(root: Node, change: Callable[[Node], Node]) -> Node:
    """Return a tree with each of its tests changed; the same object, if none is."""
    return rebuilt(root, lambda node: node if isinstance(node, _CONNECTIVES) else change(node), _CONNECTIVES)


class PlacedTest(NamedTuple):
    """A test of a selector, and whether its place is under an odd number of NOTs."""

    node: Node
    negated: bool


class Joint(NamedTuple):
    """What joins conditions: its class, how many, and whether it is under an odd number of NOTs."""

    joined: type
    operands: int
    is_negated: bool


def tests_of(root: Node) -> tuple[list[PlacedTest], list[Joint | None]]:
    """List the tests of a tree in order, and what joins them: trees are alike where that is equal; None is a test."""
    tests: list[PlacedTest] = []
    joints: list[Joint | None] = []
    stack = [(root, False)]
    while stack:
        node, negated = stack.pop()
        if isinstance(node, _CONNECTIVES):
            below = children(node)
            joints.append(Joint(type(node), len(below), negated))
            stack += [(one, negated != isinstance(node, Not)) for one in reversed(below)]
        else:
            joints.append(None)
            tests.append(PlacedTest(node, negated))
    return tests, joints


def candidates(test: Node) -> Iterator[Node]:
    """Yield a test as it is, and what rewrites make of it, the least change first."""
    for count in range(MAX_REWRITES + 1):
        yield from _rewritten(test, count)[0]


@functools.lru_cache(8192)
def _rewritten(test: Node, count: int) -> tuple[tuple[Node, ...], frozenset[str]]:
    """Return what so many rewrites make of a test, and the texts of that and of what fewer make."""
    if count == 0:
        return (test,), frozenset((unparse(test),))
    level, before = _rewritten(test, count - 1)
    seen = set(before)
    found: list[tuple[int, int, Node]] = []
    for tree in level:
        for rewrite in REWRITES.values():
            made = with_tests(tree, lambda node, rewrite=rewrite: rewrite(node) or node)  # type: ignore[misc]
            if made is tree:
                continue
            text = unparse(made)
            if text not in seen and len(seen) < MAX_CANDIDATES:
                seen.add(text)
                found.append((len(text), len(found), made))
    return tuple([made for *_, made in sorted(found)]), frozenset(seen)


# ---- rewrites --------------------------------------------------------------------------------------------------------


def inward(root: Node) -> Node:
    """Return a tree in which NOT stands before tests alone."""
    done: list[Node] = []
    stack: list[tuple[Node, bool, bool]] = [(root, False, False)]
    while stack:
        node, negated, is_left = stack.pop()
        below = children(node)
        if is_left:
            first = len(done) - len(below)
            joined = And if isinstance(node, And) is not negated else Or
            done[first:] = [joined(tuple(done[first:]))]
        elif isinstance(node, (And, Or)):
            stack.append((node, negated, True))
            stack += [(one, negated, False) for one in reversed(below)]
        elif isinstance(node, Not):
            stack.append((node.operand, not negated, False))
        else:
            done.append(Not(node) if negated else node)
    return done[0]


def _sides(node: Node) -> Node | None:
    """`5 < x`: `x > 5`."""
    match node:
        case Comparison(sign, Literal() as left, right) if not isinstance(right, Literal):
            return Comparison(OPERATORS[sign].mirrored, right, left)
    return None


def _condition(node: Node) -> Node | None:
    """`x`: `x = TRUE`."""
    return Comparison("=", node, Literal("boolean", True)) if isinstance(node, Identifier) else None


def _of_sides(change: Callable[[Node], Node]) -> Callable[[Node], Node | None]:
    """Return a rewrite of what stands on the sides of a comparison."""
    return lambda node: (
        with_children(node, [*map(change, children(node))]) if isinstance(node, (Comparison, Between)) else None
    )


def _as_double(node: Node) -> Node:
    """`x > 5`: `x > 5.0`."""
    if isinstance(node, Literal) and node.kind == "exact" and abs(node.value) < 1 << 53:  # type: ignore[arg-type]
        return Literal("approximate", float(node.value))
    return node


def _plus_zero(node: Node) -> Node:
    """`x > y * z`: `x > y * z + 0.0`, which is never -0.0."""
    match node:
        case Arithmetic(("*" | "/", *_)) if not _is_scaled(node):
            return Arithmetic(("+",), (node, Literal("approximate", 0.0)))
    return node


def _is_scaled(node: Node) -> bool:
    """Report whether a product is that of one operand and a number of at least one: a zero is that operand's."""
    match node:
        case Arithmetic(("*",), (Literal(_, factor), _)) | Arithmetic(("*",), (_, Literal(_, factor))):
            return type(factor) in (int, float) and factor >= 1  # type: ignore[operator]
    return False


def _folded(node: Node) -> Node | None:
    """`x > 2 * 3`: `x > 6`. What `2 * 'a'` is, is the product's to say."""

    def fold(one: Node) -> Node:
        are_numbers = all(not isinstance(part, Literal) or type(part.value) in (int, float) for part in children(one))
        return fold_constants(one) if are_numbers and isinstance(one, (Arithmetic, Sign)) else one

    try:
        return mapped(node, fold)
    except OverflowError:  # an integer that no target holds
        return None


def _constant(node: Node) -> Node | None:
    """`1 = 1`: `TRUE`."""
    is_constant = not isinstance(node, Literal) and not _names(node)
    return Literal("boolean", True) if is_constant else None


def _never(node: Node) -> Node | None:
    """`1 = 2`: `FALSE`."""
    made = _constant(node)
    return made and Literal("boolean", False)


def _both_ways(node: Node) -> Node | None:
    """`x = y`: `x = y OR y = x`."""
    match node:
        case Comparison(sign, Identifier() as left, Identifier() as right):
            return Or((node, Comparison(OPERATORS[sign].mirrored, right, left)))
    return None


def _bounds(node: Node) -> Node | None:
    """`x BETWEEN 1 AND 5`: `x >= 1 AND x <= 5`."""
    match node:
        case Between(negated, operand, low, high):
            first, last = BOUNDS[negated]
            tests = Comparison(first, operand, low), Comparison(last, operand, high)
            return Or(tests) if negated else And(tests)
    return None


def _each(node: Node) -> Node | None:
    """`x IN ('a', 'b')`: `x = 'a' OR x = 'b'`."""
    match node:
        case In(negated, name, choices):
            items: list[Node] = [Literal("string", one) for one in choices]
        case Call("IN", negated, (name, *items)):
            pass
        case _:
            return None
    tests = tuple([Comparison("<>" if negated else "=", name, one) for one in items])
    return tests[0] if len(tests) == 1 else And(tests) if negated else Or(tests)


def _unequal(node: Node) -> Node | None:
    """`x <> 5`: `x < 5 OR x > 5`; `x <> 'a'`: `x NOT IN ('a')`; `x <> TRUE`: `x = FALSE`."""
    match node:
        case Comparison("<>", Identifier() as name, Literal("string", value)):
            return In(True, name, (str(value),))
        case Comparison("<>", left, Literal("boolean", value)):
            return Comparison("=", left, Literal("boolean", not value))
        case Comparison("<>", left, Literal("exact" | "approximate") as right):
            return Or((Comparison("<", left, right), Comparison(">", left, right)))
    return None


def _strings(node: Node) -> Node | None:
    """`x NOT LIKE 'a%'`: `x LIKE '%' AND x NOT LIKE 'a%'`."""
    match node:
        case Like(True, name) | In(True, name) | Comparison("<>", Identifier() as name, Literal("string")):
            return And((Like(False, name, "%", None), node))
        case Comparison("<>", Identifier() as left, Identifier() as right):
            return And((Like(False, left, "%", None), Like(False, right, "%", None), node))
    return None


def _affixes(node: Node) -> Node | None:
    """`x LIKE 'a%'`: `x STARTSWITH 'a'`; `x LIKE 'a'`: `x = 'a'`."""
    match node:
        case Like(negated, name, pattern, escape):
            what, text = shape(segments(pattern, escape))
            value = Literal("string", text)
            if what == "exact":
                return Comparison("<>" if negated else "=", name, value)
            if text:
                words = {"prefix": "STARTSWITH", "suffix": "ENDSWITH", "contains": "CONTAINS"}
                return Call(words[what], negated, (name, value)) if what in words else None
            return None if negated or what != "prefix" else IsNull(True, name)
    return None


def patterns(node: Node) -> Node | None:
    """`x STARTSWITH 'a'`: `x LIKE 'a%'`."""
    match node:
        case Call(word, negated, (Identifier() as name, Literal("string", text))) if word in TEXT_TESTS:
            escaped = "".join(map(_escaped, str(text)))
            pattern = f"{'%' * (word != 'STARTSWITH')}{escaped}{'%' * (word != 'ENDSWITH')}"
            like = Like(negated, name, pattern, "\\" if escaped != text else None)
            return And((IsNull(True, name), like))
        case Call("EXISTS", negated, (Identifier() as name,)):
            return IsNull(not negated, name)
    return None


def _escaped(character: str | None) -> str:
    """Write a character of a pattern; None is the wildcard for any."""
    return "_" if character is None else f"\\{character}" if character in "%_\\" else character


def _escapes(node: Node) -> Node | None:
    """`x LIKE 'a!b' ESCAPE '!'`: `x LIKE 'a!b'`; else with a backslash."""
    match node:
        case Like(negated, name, pattern, str() as escape):
            parts = segments(pattern, escape)
            written = "%".join(["".join(map(_escaped, part)) for part in parts])
            return Like(negated, name, written, "\\" if "\\" in written else None)
    return None


def _outside(node: Node) -> Node | None:
    """`x <> 5`: `NOT (x = 5)`."""
    match node:
        case Comparison("<>", left, right):
            return Not(Comparison("=", left, right))
        case (Between(True) | In(True) | Like(True) | Call(_, True)) as test:
            return Not(test._replace(negated=False))
    return None


def _names(node: Node) -> list[Identifier]:
    return [*{one.name: one for one in walk(node) if isinstance(one, Identifier)}.values()]


def _present(node: Node) -> Node | None:
    """`x = y`: `x IS NOT NULL AND y IS NOT NULL AND x = y`."""
    names = [] if isinstance(node, IsNull) else _names(node)
    return And((*[IsNull(True, one) for one in names], node)) if names else None


def _missing(node: Node) -> Node | None:
    """`x <> 5`: `x IS NULL OR x <> 5`."""
    names = [] if isinstance(node, IsNull) else _names(node)
    return Or((*[IsNull(False, one) for one in names], node)) if names else None


# The kinds of rewrites, by a word for each; of two that make as much change the first goes before.
REWRITES: dict[str, Callable[[Node], Node | None]] = {
    "sides": _sides,
    "condition": _condition,
    "folded": _folded,
    "constant": _constant,
    "never": _never,
    "doubles": _of_sides(_as_double),
    "plus zero": _of_sides(_plus_zero),
    "bounds": _bounds,
    "each": _each,
    "unequal": _unequal,
    "affixes": _affixes,
    "patterns": patterns,
    "escapes": _escapes,
    "outside": _outside,
    "both ways": _both_ways,
    "strings": _strings,
    "present": _present,
    "missing": _missing,
}
