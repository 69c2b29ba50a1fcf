"""The smallest change of a message that selects it: the fewest properties, each with what it would have to be.

From the bottom of the tree up, each condition gets a few ways to make it what it has to be, the cheapest first: of an
OR the ways of each operand, of an AND one of each, joined. What a test asks of a property is a set of the normal form
(`mqsel.language.normal`), so that two tests of one property meet in one set. Where a test computes, values are tried.
Every way is run before it is told: the machine has the last word. Knows the language and the machine, no matcher.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import combinations, islice, product
from typing import Any, NamedTuple, cast

from mqsel.errors import ArgumentError, quoted
from mqsel.language.formulas import ALWAYS, NEVER, All, Formula, Leaf, all_of
from mqsel.language.formulas import Any as AnyOf
from mqsel.language.nodes import (
    And,
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
    children,
    quote,
    walk,
)
from mqsel.language.normal import normal
from mqsel.language.selector import Selector
from mqsel.language.sets import NOTHING, NUMBERS, PROPERTY, Pattern, Texts, Values, has_value
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.values import Float32, Truth

_KEPT = 8  # ways of a condition that are kept
_JOINED = 20_000  # ways that are joined for one selector: of the operands of a long one fewer are kept
_PAIRED = 5  # properties that one test reads, of which two are changed together
_GUESSED = 64  # guesses for properties that are computed with
_COMPUTED = 20_000  # values that are tried of properties that are computed with
_TRIED = 5_000  # values of single properties that are tried
_LISTED = 3  # texts that a sentence lists
_HUGE = 1e300  # the greatest number that is tried
_GUESSES = (1, 0, "a", True)  # for what a test reads beside the property that is searched
_TEXTS = ("a", "b", "", "A", "0", "aa", "x")  # tried where a text must be none of some
_CONDITIONS = (Comparison, Between, In, Like, IsNull, And, Or, Not)
_LANES = {bool: "booleans", int: "integers", float: "floats64", str: "strings", bytes: "bytes"}
_NUMBERS = ("integers", "floats64", "floats32")


class Change(NamedTuple):
    """What would select a message.

    Attributes:
        values: for each property that changes, a value that was tried; None: that it is missing.
        text: what they would have to be, as in "weight were > 2500 (is 2036)".
    """

    values: Mapping[str, Any]
    text: str


class _Need(NamedTuple):
    """What is asked of a property.

    Attributes:
        formula: an AND of leaves that have it for their subject.
        tests: what computes, each with what it is to be.
    """

    formula: Formula
    tests: tuple[tuple[Node, Truth], ...] = ()

    @property
    def sets(self) -> list[Values]:
        parts = self.formula.parts if isinstance(self.formula, All) else (self.formula,)
        return [cast("Leaf", one).values for one in parts]

    def takes(self, value: object) -> bool:
        return all(has_value(one, value) for one in self.sets)


_Way = dict[str, _Need]


def never_selects(selector: Selector) -> bool:
    """Tell whether the normal form says of a selector that it is TRUE of no message."""
    return normal(selector).true is NEVER


def smallest_change(selector: Selector, message: Mapping[str, Any], truths: Mapping[int, Truth]) -> Change | None:
    """Find the smallest change that selects a message which is not selected.

    Args:
        message: the value of each property that is read, None where it is missing.
        truths: of every test, by the identity of its node: what it is for the message.

    Returns: None where none was found among the ways that are kept: there may be one.
    """
    machine = Machine(lower(selector))
    search = _Search(selector, message, truths)

    def works(values: Mapping[str, Any]) -> bool:
        return bool(values) and machine.truth({**message, **values}) == Truth.TRUE

    tried = ((way, values) for way in search.ways() for values in search.tried(way))
    found = next((pair for pair in tried if works(pair[1])), None)
    if found is None or len(found[1]) > 1:
        # A way sees no ERR beside it, and of what is computed little: one property may do.
        single = next(filter(works, search.singles()), None)
        found = found if single is None else ({}, single)
    if found is None:
        return None
    way, values = found
    said = []
    for name, value in values.items():
        need, current = way.get(name, _Need(ALWAYS)), message[name]
        phrase = in_words(value) if need.tests or need.formula is ALWAYS else _phrase(need.sets, value, current)
        said.append(f"{name} were {phrase} (is {in_words(current, beside=value)})")
    return Change(values, listed(said, "and"))


class _Search:
    """The search for one selector and one message."""

    def __init__(self, selector: Selector, message: Mapping[str, Any], truths: Mapping[int, Truth]) -> None:
        self.selector = selector
        self.message = message
        self.truths = truths
        self.left = _COMPUTED
        self.subjects = {name: Identifier(name) for name in message}
        self.kept = max(1, min(_KEPT, math.isqrt(_JOINED // len(walk(selector.node, (And, Or, Not))))))

    def ways(self) -> list[_Way]:
        """List ways to make the selector TRUE, the cheapest first."""
        order: list[tuple[Node, Truth]] = []
        stack: list[tuple[Node, Truth]] = [(self.selector.node, Truth.TRUE)]
        while stack:
            node, wanted = stack.pop()
            order.append((node, wanted))
            if isinstance(node, Not):
                stack.append((node.operand, Truth.FALSE if wanted else Truth.TRUE))
            elif isinstance(node, (And, Or)):
                stack += [(one, wanted) for one in node.operands]
        made: dict[int, list[_Way]] = {}
        for node, wanted in reversed(order):
            if isinstance(node, (And, Or, Not)):
                below = [made[id(one)] for one in children(node)]
                made[id(node)] = (self.all_of if isinstance(node, And) is bool(wanted) else self.any_of)(below)
            else:
                made[id(node)] = self.cheapest(self.of_test(node, wanted))
        return made[id(self.selector.node)]

    def any_of(self, below: Iterable[list[_Way]]) -> list[_Way]:
        return self.cheapest(way for ways in below for way in ways)

    def all_of(self, below: Iterable[list[_Way]]) -> list[_Way]:
        ways: list[_Way] = [{}]
        for operand in below:
            joined = (_joined(*pair) for pair in product(ways, operand))
            ways = self.cheapest(one for one in joined if one is not None)
        return ways

    def of_test(self, node: Node, wanted: Truth) -> Iterator[_Way]:
        """Give ways to make one test TRUE or FALSE."""
        part = self.selector.part(node)
        form = normal(part)
        formula = form.true if wanted else form.false
        if not any(isinstance(one, _CONDITIONS) for one in children(node)) and _is_plain(formula):
            yield from self.of_formula(formula)
        elif self.truths[id(node)] is wanted:
            yield {}
        else:
            need = _Need(ALWAYS, ((node, wanted),))
            names = [*dict.fromkeys(part.names.values())]
            yield from ({name: need} for name in names)
            yield from (dict.fromkeys(pair, need) for pair in combinations(names[:_PAIRED], 2))

    def of_formula(self, formula: Formula) -> list[_Way]:
        """Give the ways to make the formula of one test true, which is never deep."""
        if isinstance(formula, Leaf):
            name = cast("Identifier", formula.subject).name
            return [{name: _Need(Leaf(self.subjects[name], formula.values))}]
        below = [self.of_formula(part) for part in cast("All | AnyOf", formula).parts]
        return (self.all_of if isinstance(formula, All) else self.any_of)(below)

    # ---- what is cheapest --------------------------------------------------------------------------------------------

    def cheapest(self, ways: Iterable[_Way]) -> list[_Way]:
        return sorted(ways, key=self.price)[: self.kept]

    def price(self, way: _Way) -> tuple[int, int]:
        """Count the properties that change, and how much: to another type is more than to another value."""
        changed = self.changed(way)
        return len(changed), sum(self.size(name, need) for name, need in changed.items())

    def changed(self, way: _Way) -> _Way:
        return {name: need for name, need in way.items() if need.tests or not need.takes(self.message[name])}

    def size(self, name: str, need: _Need) -> int:
        current, sets = self.message[name], need.sets
        if sets and any(one._replace(null=False) == NOTHING for one in sets):
            return 3
        if current is None:
            return 1
        return 0 if all(getattr(one, _lane(current)) != getattr(NOTHING, _lane(current)) for one in sets) else 2

    # ---- values that are tried ---------------------------------------------------------------------------------------

    def tried(self, way: _Way) -> Iterator[dict[str, Any]]:
        """Give values for the properties that a way changes."""
        changed = self.changed(way)
        computed = [name for name, need in changed.items() if need.tests]
        samples = {name: self.samples(name, need) for name, need in changed.items() if not need.tests}
        if not all(samples.values()):
            return
        chosen = {name: found[0] for name, found in samples.items()}
        if not computed:
            yield chosen
            return
        *others, last = computed
        for guesses in islice(product(_GUESSES, repeat=len(others)), _GUESSED):
            if self.left <= 0:
                return
            values = {**chosen, **dict(zip(others, guesses, strict=True))}
            for value in self.solutions({**self.message, **values}, last, changed[last]):
                yield {**values, last: value}

    def singles(self) -> Iterator[dict[str, Any]]:
        """Give values for each property alone, of which one may do by chance."""
        guesses: list[Any] = [*_GUESSES, *_TEXTS, False, None, _HUGE, -1]
        for node in walk(self.selector.node):
            guesses += [node.value] if isinstance(node, Literal) else node.choices if isinstance(node, In) else []
        guesses += [
            guess + step for guess in guesses if _is_number(guess) and abs(guess) < 1 << 62 for step in (1, -1, 0.5)
        ]
        values = {(type(one), one): one for one in guesses}.values()
        yield from islice(({name: value} for name in self.message for value in values), _TRIED)

    def samples(self, name: str, need: _Need) -> list[Any]:
        """List values that a property may have: of the type that it has, if that can be."""
        found = [value for one in need.sets for value in _samples(one, self.message[name])]
        return [value for value in found if need.takes(value)]

    def solutions(self, message: Mapping[str, Any], name: str, need: _Need) -> Iterator[Any]:
        """Give values of one property that make its tests what they have to be; the first one near what it has."""
        machines = [(Machine(lower(self.selector.part(node), quick=False)), wanted) for node, wanted in need.tests]

        def fits(value: object) -> bool:
            self.left -= 1
            if self.left < 0 or not need.takes(value):
                return False
            changed = {**message, name: value}
            return all(machine.truth(changed) == wanted for machine, wanted in machines)

        others = [value for other, value in message.items() if other != name and value is not None]
        for node, _ in need.tests:
            others += [one.value for one in walk(node) if isinstance(one, Literal)]
        number = _nearest_number(message[name], [one for one in others if _is_number(one)], fits)
        yield from [] if number is None else [number]
        yield from (value for value in [*others, *_TEXTS, True, False] if fits(value))


def _joined(one: _Way, other: _Way) -> _Way | None:
    """Join two ways, unless they ask of a property what it cannot be."""
    way = dict(one)
    for name, need in other.items():
        held = way.get(name)
        if held is not None:
            formula = all_of([held.formula, need.formula])
            if formula is NEVER:
                return None
            way[name] = _Need(formula, held.tests + need.tests)
        else:
            way[name] = need
    return way


def _is_plain(formula: Formula) -> bool:
    """Tell whether a formula asks nothing but what single properties are."""
    if isinstance(formula, (All, AnyOf)):
        return all(map(_is_plain, formula.parts))
    return isinstance(formula, Leaf) and isinstance(formula.subject, Identifier)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _lane(value: object) -> str:
    if isinstance(value, Float32):
        return "floats32"
    return next(lane for kind, lane in _LANES.items() if isinstance(value, kind))


# ---- numbers and texts -----------------------------------------------------------------------------------------------


def _nearest_number(current: Any, others: list[Any], fits: Callable[[object], bool]) -> Any:
    """Find a number that fits, near the current one; None if none does of those that are tried."""
    start = current if _is_number(current) else 0
    steps = [0, *(sign << power for power in range(62) for sign in (1, -1))]
    near = sorted(
        {one + step for one in (start, *others) for step in steps if abs(one + step) < 1 << 63} | {_HUGE, -_HUGE},
        key=lambda one: abs(one - start),
    )
    hit = next((one for one in near if fits(_alike(one, current))), None)
    if isinstance(hit, int) and isinstance(start, int):
        miss = int(start)
        while abs(hit - miss) > 1:
            middle = (hit + miss) // 2
            hit, miss = (middle, miss) if fits(_alike(middle, current)) else (hit, middle)
    return None if hit is None else _alike(hit, current)


def _alike(number: Any, current: object) -> Any:
    """Give a number as one of the type that a property has, if it has that of a number that holds it."""
    kind: Any = type(current) if _is_number(current) else type(number)
    with suppress(ArgumentError, OverflowError):
        made = kind(number)
        return made if made == number and (isinstance(made, float) or abs(made) < 1 << 63) else number
    return number


def _samples(values: Values, current: Any) -> Iterator[Any]:
    """Give a value of each type that a set has, that of the current value first."""
    at = current if _is_number(current) else 0
    lanes = [] if current is None else [_lane(current)]
    for lane in dict.fromkeys([*lanes, "integers", "floats64", "floats32", "strings", "booleans", "bytes", "null"]):
        held = getattr(values, lane)
        match lane:
            case "integers":
                yield from (_alike(one, current) for one in _inside(held, round(at)))
            case "floats64":
                yield from _inside(held.intervals, float(at))
            case "floats32":
                yield from map(Float32, _inside(held.intervals, float(at)))
            case "strings":
                yield from _texts(held)
            case "booleans":
                yield from (truth for truth in (False, True) if held[truth])
            case "bytes":
                yield from (one.encode() if isinstance(one, str) else one for one in _texts(held))
            case _:
                yield from [None] * held


def _inside(intervals: Iterable[tuple[float, float]], at: float) -> list[float]:
    """Give the number of some intervals that is nearest to *at*."""
    ends = [min(max(at, low), high) for low, high in intervals]
    return sorted(ends, key=lambda one: abs(one - at))[:1]


def _texts(texts: Texts) -> Iterator[Any]:
    if texts.negated:
        yield from _TEXTS
        # Longer than all that is listed, so none of it.
        yield "a" * (1 + max(map(len, texts.points), default=0))
        return
    yield from sorted(texts.points)
    for pattern in texts.patterns:
        yield "".join("a" if one is None else one for segment in pattern for one in segment)


# ---- words -----------------------------------------------------------------------------------------------------------


def listed(words: list[str], last: str) -> str:
    """Join words for a sentence: "a, b and c"."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def in_words(value: object, beside: object = None) -> str:
    """Write a value as a selector does; a string beside another kind of value says that it is one."""
    match value:
        case None:
            return "missing"
        case bool():
            return str(value).upper()
        case str():
            return ("" if beside is None or isinstance(beside, str) else "the string ") + quoted(quote(value))
        case bytes():
            return f'the bytes "0x{value[:20].hex().upper()}{"…" * (len(value) > 20)}"'
    return _number(value)


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(int(value))


def _phrase(sets: list[Values], value: object, current: object) -> str:
    """Say what a property would have to be, of the type of the value that was tried."""
    if value is None:
        return "missing"
    if all(one == PROPERTY._replace(null=False) for one in sets):
        return "present"
    lane = "floats64" if _is_number(value) else _lane(value)
    is_other = current is not None and (_lane(current) in _NUMBERS) is not (lane in _NUMBERS)
    words = []
    for one in sets:
        match lane:
            case "floats64":
                said = _numbers(one, value)
                words.append(f"{'a' if said[:1] in '<>' else 'the'} number {said}" if is_other else said)
            case "strings":
                words.append(_strings(one.strings))
            case _:
                words.append(in_words(value))
    return listed([*dict.fromkeys(words)], "and")


def _numbers(values: Values, value: object) -> str:
    """Word the interval that a value is in; doubles tell best whether its ends are in."""
    if values.integers == NUMBERS.integers and values.floats64 == NUMBERS.floats64:
        return "of any size"
    intervals = values.floats64.intervals or values.integers
    number = cast("float", value)
    if len(intervals) == 2 and intervals[0][0] == -math.inf and intervals[1][1] == math.inf:
        gap = math.nextafter(intervals[0][1], math.inf)
        if gap == math.nextafter(intervals[1][0], -math.inf):
            return f"other than {_number(gap)}"
    low, high = next(((low, high) for low, high in intervals if low <= number <= high), (number, number))
    if low == high:
        return _number(low)
    ends = []
    for end, beyond, signs in ((low, -math.inf, (">", ">=")), (high, math.inf, ("<", "<="))):
        if abs(end) >= 1 << 63:
            continue
        outside = math.nextafter(end, beyond)
        is_open = isinstance(end, float) and len(_number(outside)) < len(_number(end))
        ends.append(f"{signs[not is_open]} {_number(outside if is_open else end)}")
    return listed(ends, "and") or "of any size"


def _strings(texts: Texts) -> str:
    points = [quoted(quote(one)) for one in sorted(cast("frozenset[str]", texts.points))]
    if len(points) > _LISTED:
        points[_LISTED - 1 :] = [f"{len(points) - _LISTED + 1:,} other strings"]
    patterns = [f"LIKE {quoted(quote(_pattern(one)))}" for one in sorted(texts.patterns, key=str)]
    if not texts.negated:
        return listed([*points, *patterns], "or")
    others = [f"a string other than {listed(points, 'and')}"] if points else []
    return listed([*others, *(f"NOT {one}" for one in patterns)], "and") or "a string"


def _pattern(pattern: Pattern) -> str:
    return "%".join("".join("_" if one is None else one for one in segment) for segment in pattern)
