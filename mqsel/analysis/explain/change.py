"""The smallest change of one property that selects a message.

From the leaves of the tree up, each condition gets a few ways to become TRUE or FALSE, as needed, by one property while
the others stay: an OR has the ways of each operand, an AND joins one way of each. A test requires a set of values of a
property (`mqsel.logic.normal`); the sets of two tests of one property are intersected. For a test of several properties
and for arithmetic the solver searches the values of one property (`mqsel.logic.solver`). The machine evaluates every
change before it is reported. Knows the language and the machine, no matcher.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, cast

from mqsel.analysis.readings import answer
from mqsel.carets import quoted, visible
from mqsel.language.nodes import (
    And,
    Comparison,
    Computed,
    Identifier,
    In,
    Literal,
    Node,
    Not,
    Or,
    children,
    quote,
    walk,
)
from mqsel.language.selector import Selector
from mqsel.logic.formulas import ALWAYS, NEVER, All, Formula, Leaf, Relation, all_of, fold, leaves
from mqsel.logic.sets import NOTHING, NUMBERS, PROPERTY, Floats, Pattern, Texts, Values, has_value, outside
from mqsel.logic.solver import Message, find
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.logic.solver.domains import ANY_PROPERTY, meet, only, some_values
from mqsel.values import CLASS_NAMES, Float32, Truth

_KEPT = 8  # needs of a property in a condition that are kept
_JOINED = 64  # needs that are joined
_TRIED = 50  # needs that are tried
_OF_SEARCH = 8_000  # steps of one search
_OF_MESSAGE = 80_000  # steps for one message: a fifth of a second
_SAMPLES = 16  # values, and intervals of numbers, of which the nearest is taken
_LISTED = 3  # texts that a sentence lists
_LANES = {bool: "booleans", int: "integers", float: "floats64", str: "strings", bytes: "bytes"}
_NUMBERS = ("integers", "floats64", "floats32")


class Change(NamedTuple):
    """What would select a message.

    Attributes:
        values: the property that changes, with a value that was tried; None: that it is missing.
        text: what it would have to be, as in "weight were > 2500 (is 2036)".
    """

    values: Mapping[str, Any]
    text: str


class _Need(NamedTuple):
    """What is asked of a property.

    Attributes:
        formula: an AND of leaves that have it for their subject.
        tests: the tests that the solver has to solve, each with the truth that it needs.
    """

    formula: Formula
    tests: tuple[tuple[Node, Truth], ...] = ()

    @property
    def sets(self) -> list[Values]:
        parts = self.formula.parts if isinstance(self.formula, All) else (self.formula,)
        return [cast("Leaf", one).values for one in parts]

    @property
    def is_plain(self) -> bool:
        """Whether its sets say all of it."""
        return not self.tests and self.formula is not ALWAYS


_ANYTHING = _Need(ALWAYS)


class _Ways(NamedTuple):
    """How one property makes a condition what it has to be.

    Attributes:
        is_met: the condition is so already: a property that has no needs here may have any value.
        needs: for each property the needs any of which is enough.
    """

    is_met: bool
    needs: dict[str, list[_Need]]


def never_selects(selector: Selector) -> bool:
    """Report whether a short search proves of a selector that it is TRUE of no message."""
    return find((selector.formulas.true,), selector.machine.matches, Budget(_OF_SEARCH)).is_none


def smallest_change(selector: Selector, message: Mapping[str, Any], truths: Mapping[int, Truth]) -> Change | None:
    """Find the smallest change of one property that selects a message which is not selected.

    Args:
        selector: the selector.
        message: the value of each property that is read, None where it is missing.
        truths: the truth of each condition for the message, by the identity of its node.

    Returns: None if no change was found by the work that is allowed: there may be one.
    """
    search = _Search(selector, message, truths)
    needs = search.ways().needs
    order = sorted(((search.size(name, need), name, need) for name in needs for need in needs[name]), key=_size)
    # A need does not see ERR in another part: the solver looks at the complete selector, for any property.
    names = message if Truth.ERR in truths.values() else needs
    for _, name, need in [*order[:_TRIED], *((0, name, _ANYTHING) for name in names)]:
        values = search.values(name, need)
        if values:
            return Change(values, search.sentence(name, need, values[name]))
    return None


def _size(way: tuple[int, str, _Need]) -> int:
    return way[0]


class _Search:
    """The search for one selector and one message."""

    def __init__(self, selector: Selector, message: Mapping[str, Any], truths: Mapping[int, Truth]) -> None:
        self.selector = selector
        self.message = message
        self.truths = truths
        self.machine = selector.machine
        self.budget = Budget(_OF_MESSAGE)
        self.subjects = {name: Identifier(name) for name in message}

    def ways(self) -> _Ways:
        """Find how one property makes the selector TRUE."""
        order: list[tuple[Node, Truth]] = []  # what the parts have to be, each before its operands
        stack: list[tuple[Node, Truth]] = [(self.selector.node, Truth.TRUE)]
        while stack:
            node, wanted = stack.pop()
            order.append((node, wanted))
            if isinstance(node, Not):
                stack.append((node.operand, Truth.FALSE if wanted else Truth.TRUE))
            elif isinstance(node, (And, Or)):
                stack += [(one, wanted) for one in node.operands]
        ways: dict[int, _Ways] = {}
        for node, wanted in reversed(order):
            is_met = self.truths[id(node)] is wanted
            if isinstance(node, (And, Or, Not)):
                below = [ways.pop(id(one)) for one in children(node)]
                join = _all_of if isinstance(node, And) is bool(wanted) else _any_of
                needs = {name: self.cheapest(name, found) for name, found in join(below, is_met=is_met)}
            else:
                needs = self.of_test(node, wanted)
            ways[id(node)] = _Ways(is_met, needs)
        return ways[id(self.selector.node)]

    def of_test(self, node: Node, wanted: Truth) -> dict[str, list[_Need]]:
        """Return for each property of a test the needs that make the test TRUE or FALSE."""
        part = self.selector.part(node)
        names = [*dict.fromkeys(part.names.values())]
        if len(names) == 1:
            formula = part.formulas.true if wanted else part.formulas.false
            if all(isinstance(one, Leaf) and isinstance(one.subject, Identifier) for one in leaves(formula)):
                (name,) = names
                return {name: self.cheapest(name, fold(formula, self.of_leaf, _every, _some))}
        return {name: [_Need(ALWAYS, ((node, wanted),))] for name in names}

    def of_leaf(self, leaf: Leaf | Relation) -> list[_Need]:
        """Return the need of a leaf."""
        name = cast("Identifier", leaf[0]).name
        return [_Need(Leaf(self.subjects[name], cast("Leaf", leaf).values))]

    def cheapest(self, name: str, needs: Iterable[_Need]) -> list[_Need]:
        return sorted(needs, key=lambda need: self.size(name, need))[:_KEPT]

    def size(self, name: str, need: _Need) -> int:
        """Return how much a need changes of a property: another type is more than another value."""
        current, sets = self.message[name], need.sets
        if not need.tests and all(has_value(one, current) for one in sets):
            return 0
        if sets and any(one._replace(null=False) == NOTHING for one in sets):
            return 4
        if current is None:
            return 2
        return 1 if all(getattr(one, _lane(current)) != getattr(NOTHING, _lane(current)) for one in sets) else 3

    # ---- values ------------------------------------------------------------------------------------------------------

    def works(self, values: Mapping[str, Any]) -> bool:
        return answer(self.machine, {**self.message, **values}) == Truth.TRUE

    def fits(self, name: str, value: object) -> bool:
        return self.works({name: value})

    def values(self, name: str, need: _Need) -> dict[str, Any]:
        """Return a value of a property that satisfies a need and selects the message; nothing if none was found."""
        if not need.is_plain:
            return self.solved(name, need)
        return next(({name: one} for one in self.samples(name, need)[:1] if self.fits(name, one)), {})

    def samples(self, name: str, need: _Need) -> list[Any]:
        """List values that a property may have: first those of the type that it has, and near to what it is."""
        domain, current = ANY_PROPERTY, self.message[name]
        for one in need.sets:
            domain = meet(domain, one)
        with suppress(UndecidedError):
            values = some_values(domain, self.budget, _SAMPLES)
            found = sorted(values, key=lambda value: _distance(value, current))
            # If a missing property may be anything but a few texts, it is compared with texts.
            texts = [one.strings for one in need.sets if one.strings.negated]
            is_text = current is None and any(one.points or one.patterns for one in texts)
            return sorted(found, key=lambda value: not isinstance(value, str)) if is_text else found
        return []

    def solved(self, name: str, need: _Need) -> dict[str, Any]:
        """Return a value of a property with which the message is selected; nothing if none was found."""
        if self.budget.left <= 0:
            return {}

        def check(message: Message) -> bool:
            return self.fits(name, message.get(name))

        constants = [one.value for test, _ in need.tests for one in _walked(test) if isinstance(one, Literal)]
        hit = next((one for one in constants if _is_alike(one, self.message[name]) and self.fits(name, one)), None)
        if hit is not None:  # the solver takes ten times as long
            return {name: self.nearest(name, hit)}
        subject = self.subjects[name]
        wanted: list[Formula] = [self.selector.formulas.true, need.formula]
        wanted += [Leaf(self.subjects[other], only(self.message[other])) for other in self.message if other != name]
        like = {name: value for name, value in self.message.items() if value is not None}
        # First with the type that there is, then without numbers: of these there are many to look at.
        for more in ([Leaf(subject, self.type_of(name, need))], [Leaf(subject, _NO_NUMBER)], []):
            found = find([*wanted, *more], check, self.budget.share(_OF_SEARCH), like=[like]).message
            if found is not None:
                return {name: self.nearest(name, found.get(name))}
        return {}

    def nearest(self, name: str, value: Any) -> Any:
        """Return a value that selects, nearer to the current one than *value* if they are numbers."""
        return _nearest_number(self.message[name], value, partial(self.fits, name)) if _is_number(value) else value

    def type_of(self, name: str, need: _Need) -> Values:
        """Return what is of the type that a property has; of a text, if it is missing and should be no text of some."""
        is_text = self.message[name] is None and bool(_unwanted(need))
        return _of_type("" if is_text else self.message[name])

    def sentence(self, name: str, need: _Need, value: Any) -> str:
        """Say what a property would have to be: as a set of values if all that are looked at select, else the value."""
        current = self.message[name]
        if isinstance(value, str) and (points := _unwanted(need)):
            need = _Need(Leaf(self.subjects[name], NOTHING._replace(strings=Texts(points, frozenset(), True))))
        if need.is_plain:
            phrase, examples = _phrase(need.sets, value, current)
            sets = need.sets
            claims = [one for one in examples if type(one) is not str or all(has_value(each, one) for each in sets)]
            if all(self.fits(name, one) for one in claims) and phrase != in_words(current):
                return f"{name} were {phrase} (is {in_words(current, beside=value)})"
        if _is_number(value):
            simpler = [int(value)] if isinstance(value, int) or value.is_integer() else []
            value = next((one for one in [*simpler, float(value)] if self.fits(name, one)), value)
        if _is_number(value) and _is_number(current):
            is_kind = isinstance(value, int) is not isinstance(current, int)
            if is_kind or _number(value) == _number(current):
                pair = [_typed(one, is_kind=is_kind) for one in (value, current)]
                return f"{name} were {pair[0]} (it is {pair[1]})"
        if type(value) in (int, float) or not _is_number(value):
            phrase = repr(value) if isinstance(value, float) else _whole(value)
        else:
            phrase = _typed(value)
        return f"{name} were {phrase} (is {in_words(current, beside=value)})"


# ---- ways of several conditions --------------------------------------------------------------------------------------


def _every(below: Iterable[Iterable[_Need]]) -> list[_Need]:
    """Join needs of one property, one of each list."""
    joined = [_ANYTHING]
    for needs in map(tuple, below):
        pairs = [(one.tests + need.tests, all_of([one.formula, need.formula])) for one in joined for need in needs]
        joined = [_Need(formula, tests) for tests, formula in pairs if formula is not NEVER][:_JOINED]
    return joined


def _some(below: Iterable[Iterable[_Need]]) -> list[_Need]:
    return [need for needs in below for need in needs]


def _all_of(below: list[_Ways], *, is_met: bool) -> Iterator[tuple[str, list[_Need]]]:
    """Find for each property the needs that make all conditions what they have to be."""
    unmet = [] if is_met else [one.needs for one in below if not one.is_met]
    needs = _by_name(below)
    return ((name, _every(needs[name])) for name in (unmet[0] if unmet else needs) if all(name in one for one in unmet))


def _any_of(below: list[_Ways], *, is_met: bool) -> Iterator[tuple[str, list[_Need]]]:
    """Find for each property the needs that make one of the conditions what it has to be."""
    met = sum(one.is_met for one in below) if is_met else 0
    counts = Counter(name for one in below if one.is_met for name in one.needs)
    return ((name, _some(needs)) for name, needs in _by_name(below).items() if not met or counts[name] == met)


def _by_name(below: list[_Ways]) -> dict[str, list[list[_Need]]]:
    needs: dict[str, list[list[_Need]]] = {}
    for one in below:
        for name, found in one.needs.items():
            needs.setdefault(name, []).append(found)
    return needs


def _unwanted(need: _Need) -> frozenset[str]:
    """Return the strings that a property should not have, if a computed test asks nothing else of it."""
    match need.tests:
        case ((Computed(expression=Comparison("<>", Identifier(), Literal("string", str(text)))), Truth.TRUE),):
            return frozenset((text,))
        case ((Computed(expression=In(True, Identifier(), choices)), Truth.TRUE),):
            return frozenset(choices)
    return frozenset()


def _walked(test: Node) -> list[Node]:
    return walk(test.expression if isinstance(test, Computed) else test)


def _is_alike(value: object, current: object) -> bool:
    """Report whether a value has the type of the current one, two numbers being alike."""
    return current is None or _lane(value) == _lane(current) or (_is_number(value) and _is_number(current))


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


# ---- numbers and texts -----------------------------------------------------------------------------------------------


def _nearest_number(current: Any, hit: Any, fits: Callable[[object], bool]) -> Any:
    """Find a number that fits, between the current one and one that does, as near to the first as is easily found."""
    start = current if _is_number(current) else 0
    steps = (sign << power for power in range(62) if 1 << power < abs(hit - start) for sign in (1, -1))
    near = (start + step for step in (0, *steps))
    hit = next((one for one in near if abs(one) < 1 << 63 and fits(one)), hit)
    if isinstance(hit, int) and isinstance(start, int):
        miss = int(start)
        while abs(hit - miss) > 1:
            middle = (hit + miss) // 2
            hit, miss = (middle, miss) if fits(middle) else (hit, middle)
    return hit


_FINITE_FLOATS = Floats(((-float(Float32(1e30)), float(Float32(1e30))),), nan=False)
_FINITE = PROPERTY._replace(floats32=_FINITE_FLOATS, floats64=_FINITE_FLOATS)
_NO_NUMBER = outside(NUMBERS, PROPERTY)
_RANKS = ("integers", "floats64", "floats32", "strings", "booleans", "bytes", "null")


def _lane(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, Float32):
        return "floats32"
    return next(lane for kind, lane in _LANES.items() if isinstance(value, kind))


_INFINITE = (math.inf, -math.inf)  # which are taken only if nothing else is left


def _distance(value: Any, current: Any) -> tuple[float, ...]:
    """Return how far a value is from the current one: first by its type, then by the number."""
    lane = _lane(value)
    return (
        lane != _lane(current),
        _RANKS.index(lane),
        abs(value - current) if _is_number(value) and _is_number(current) else math.inf if value in _INFINITE else 0,
    )


def _of_type(value: object) -> Values:
    """Return what is of the type that a value has, finite numbers alone; of a missing one all but NULL."""
    if value is None:
        return _FINITE._replace(null=False)
    lane = _lane(value)
    return NOTHING._replace(**{lane: getattr(_FINITE, lane)})


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


def _whole(value: object) -> str:
    """Write a value that is proposed, none of it cut off."""
    if isinstance(value, str):
        return visible(quote(value))
    return f'the bytes "0x{value.hex().upper()}"' if isinstance(value, bytes) else in_words(value)


def _typed(value: Any, *, is_kind: bool = False) -> str:
    """Write a number with its type, if the type decides.

    Args:
        is_kind: whether it suffices to tell integers from floats.
    """
    name = CLASS_NAMES[type(value)]
    kind = {"int64": "integer", "float64": "float"}.get(name, name) if is_kind else name
    return f"the {kind} {float(value)!r}" if isinstance(value, float) else f"the {kind} {int(value)}"


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 and repr(value) != "-0.0":
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(int(value))


def _phrase(sets: list[Values], value: object, current: object) -> tuple[str, list[object]]:
    """Return what a property would have to be, of the type of the value that was tried, and values that this claims."""
    if value is None:
        return "missing", [None]
    if all(one == PROPERTY._replace(null=False) for one in sets):
        return "present", [value, "", 0, True]
    lane = "floats64" if _is_number(value) else _lane(value)
    is_other = current is not None and (_lane(current) in _NUMBERS) is not (lane in _NUMBERS)
    words, examples = [], [value]
    for one in sets:
        match lane:
            case "floats64":
                said, claimed = _numbers(one, value)
                is_bare = is_other and said != _ANY_NUMBER
                words.append(f"{'a' if said[:1] in '<>' else 'the'} number {said}" if is_bare else said)
                examples += claimed
            case "strings":
                is_any = current is None and one == PROPERTY._replace(null=False, strings=one.strings)
                words.append(_strings(one.strings, is_any=is_any))
                examples += [
                    0,
                    True,
                    "",
                    *(f"{point}x" for point in sorted(cast("frozenset[str]", one.strings.points))),
                ][0 if is_any else 2 :] * one.strings.negated
            case _:
                words.append(_whole(value))
    return listed([*dict.fromkeys(words)], "and"), examples


_ANY_NUMBER = "a number"


def _numbers(values: Values, value: object) -> tuple[str, list[object]]:
    """Word the interval that a value is in, and list numbers of it; doubles tell best whether its ends are in."""
    if values.integers == NUMBERS.integers and values.floats64 == NUMBERS.floats64:
        return _ANY_NUMBER, [0, 1, -0.5, 2.0]
    intervals = values.floats64.intervals or values.integers
    number = cast("float", value)
    if len(intervals) == 2 and intervals[0][0] == -math.inf and intervals[1][1] == math.inf:
        gap = math.nextafter(intervals[0][1], math.inf)
        if gap == math.nextafter(intervals[1][0], -math.inf):
            return f"other than {_number(gap)}", [gap + 1, gap - 1, gap + 0.5, *map(int, (gap + 1, gap - 1))]
    if not math.isfinite(number):
        return _number(number), []
    low, high = next(((low, high) for low, high in intervals if low <= number <= high), (number, number))
    if low == high:
        return _number(low), [low, int(low) if float(low).is_integer() else low]
    ends: list[str] = []
    examples: list[object] = []
    for end, beyond, signs in ((low, -math.inf, (">", ">=")), (high, math.inf, ("<", "<="))):
        if abs(end) >= 1 << 63:
            continue
        outside = math.nextafter(end, beyond)
        is_open = isinstance(end, float) and len(_number(outside)) < len(_number(end))
        ends.append(f"{signs[not is_open]} {_number(outside if is_open else end)}")
        near = [end, math.ceil(low) if end == low else math.floor(high), end + 1 if end == low else end - 1]
        examples += [one for one in near if low <= one <= high]
    return listed(ends, "and") or _ANY_NUMBER, examples or [0, 1, 0.5]


def _strings(texts: Texts, *, is_any: bool) -> str:
    """Word a set of strings.

    Args:
        is_any: values of the other types are in it.
    """
    points = [visible(quote(one)) for one in sorted(cast("frozenset[str]", texts.points))]
    if len(points) > _LISTED:
        points[_LISTED - 1 :] = [f"{len(points) - _LISTED + 1:,} other strings"]
    patterns = [f"LIKE {_pattern(one)}" for one in sorted(texts.patterns, key=str)]
    if not texts.negated:
        return listed([*points, *patterns], "or")
    others = [f"{'' if is_any else 'a string '}other than {listed(points, 'and')}"] if points else []
    return listed([*others, *(f"NOT {one}" for one in patterns)], "and") or "a string"


def _pattern(pattern: Pattern) -> str:
    """Write a pattern of LIKE, with an escape character if it has a wildcard for a text."""
    is_escaped = any(one in ("%", "_") for segment in pattern for one in segment)
    pieces = [
        "".join("_" if one is None else f"\\{one}" if is_escaped and one in "%_\\" else one for one in segment)
        for segment in pattern
    ]
    return visible(quote("%".join(pieces))) + " ESCAPE '\\'" * is_escaped
