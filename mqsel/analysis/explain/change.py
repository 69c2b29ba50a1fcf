"""The smallest change of a message that selects it: the fewest properties, each with the values it would need.

From the leaves of the tree up, each condition gets a few ways to become TRUE or FALSE, as needed, the cheapest first:
an OR has the ways of each operand, an AND combines one way of each. A test requires a set of values of a property
(`mqsel.logic.normal`); the sets of two tests of one property are intersected. For a test with arithmetic the solver
searches the remaining values (`mqsel.logic.solver`). The machine evaluates every change before it is reported. Knows
the language and the machine, no matcher. Longer than 500 lines because a sentence is worded from what the search knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import combinations, product, starmap
from typing import Any, NamedTuple, cast

from mqsel.analysis.readings import answer
from mqsel.carets import quoted, visible
from mqsel.language.nodes import (
    And,
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
    children,
    quote,
    walk,
)
from mqsel.language.selector import Selector
from mqsel.logic.formulas import ALWAYS, NEVER, All, Formula, Leaf, Relation, all_of, fold, leaves
from mqsel.logic.normal import normal, true_of
from mqsel.logic.sets import NOTHING, NUMBERS, PROPERTY, Floats, Pattern, Texts, Values, has_value, outside
from mqsel.logic.solver import Message, find
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.logic.solver.domains import ANY_PROPERTY, meet, only, some_values
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.values import CLASS_NAMES, Float32, Truth

_KEPT = 8  # ways of a condition that are kept
_JOINED = 20_000  # ways that are joined for one selector: of the operands of a long one fewer are kept
_PAIRED = 5  # properties that one test reads, of which two are changed together
_OF_SEARCH = 8_000  # steps of one search, if a test computes or one property may do
_OF_MESSAGE = 80_000  # steps for one message: a fifth of a second
_SAMPLES = 16  # values, and intervals of numbers, of which the nearest is taken
_LISTED = 3  # texts that a sentence lists
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
    """Report whether it is proved of a selector that it is TRUE of no message; the search for one is a short one."""
    return find((true_of(selector),), Machine(lower(selector)).matches, Budget(_OF_SEARCH)).is_none


def smallest_change(selector: Selector, message: Mapping[str, Any], truths: Mapping[int, Truth]) -> Change | None:
    """Find the smallest change that selects a message which is not selected.

    Args:
        selector: itself.
        message: the value of each property that is read, None where it is missing.
        truths: of every test, by the identity of its node: what it is for the message.

    Returns: None where none was found by the work that is allowed: there may be one.
    """
    search = _Search(selector, message, truths)
    tried = ((way, search.values(way)) for way in search.ways())
    found = next(((way, values) for way, values in tried if values), None)
    if found is None or len(found[1]) > 1:
        # A way sees no ERR beside it: one property may do.
        singles = (search.solved({name: _Need(ALWAYS)}) for name in search.alone())
        single = next(filter(None, singles), None)
        found = found if single is None else ({}, single)
    if found is None:
        found = {}, search.solved(dict.fromkeys(message, _Need(ALWAYS)))
    way, values = found
    said = [search.sentence(name, way.get(name, _Need(ALWAYS)), values) for name in values]
    return Change(values, listed(said, "and")) if values else None


class _Search:
    """The search for one selector and one message."""

    def __init__(self, selector: Selector, message: Mapping[str, Any], truths: Mapping[int, Truth]) -> None:
        self.selector = selector
        self.message = message
        self.truths = truths
        self.machine = Machine(lower(selector))
        self.budget = Budget(_OF_MESSAGE)
        self.subjects = {name: Identifier(name) for name in message}
        self.kept = max(1, min(_KEPT, math.isqrt(_JOINED // len(walk(selector.node, (And, Or, Not))))))
        self.costs: dict[tuple[str, int], tuple[_Need, int | None]] = {}  # with the needs, which keep their ids
        self.order: list[tuple[Node, Truth]] = []  # what the parts are to be, each before its operands
        stack: list[tuple[Node, Truth]] = [(selector.node, Truth.TRUE)]
        while stack:
            node, wanted = stack.pop()
            self.order.append((node, wanted))
            if isinstance(node, Not):
                stack.append((node.operand, Truth.FALSE if wanted else Truth.TRUE))
            elif isinstance(node, (And, Or)):
                stack += [(one, wanted) for one in node.operands]

    def ways(self) -> list[_Way]:
        """List ways to make the selector TRUE, the cheapest first."""
        made: dict[int, list[_Way]] = {}
        for node, wanted in reversed(self.order):
            if isinstance(node, (And, Or, Not)):
                below = [made[id(one)] for one in children(node)]
                made[id(node)] = (self.all_of if isinstance(node, And) is bool(wanted) else self.any_of)(below)
            else:
                made[id(node)] = self.cheapest(self.of_test(node, wanted))
        return made[id(self.selector.node)]

    def any_of(self, below: Iterable[list[_Way]]) -> list[_Way]:
        return self.cheapest(way for ways in below for way in ways)

    def all_of(self, below: Iterable[list[_Way]]) -> list[_Way]:
        """Join ways of all operands, of neighbours first: one after the other, a way would be copied for each."""
        made = [*below] or [[{}]]
        while len(made) > 1:
            pairs, odd = zip(made[::2], made[1::2], strict=False), made[len(made) & ~1 :]
            joined = [starmap(_joined, product(*pair)) for pair in pairs]
            made = [self.cheapest(way for way in ways if way is not None) for ways in joined] + odd
        return made[0]

    def of_test(self, node: Node, wanted: Truth) -> Iterator[_Way]:
        """Return ways to make one test TRUE or FALSE."""
        part = self.selector.part(node)
        form = normal(part)
        formula = form.true if wanted else form.false
        # A formula asks nothing but what single properties are.
        is_plain = all(isinstance(one, Leaf) and isinstance(one.subject, Identifier) for one in leaves(formula))
        if is_plain and not any(isinstance(one, _CONDITIONS) for one in children(node)):
            yield from fold(formula, self.of_leaf, self.all_of, self.any_of)
        elif self.truths[id(node)] is wanted:
            yield {}
        else:
            need = _Need(ALWAYS, ((node, wanted),))
            names = [*dict.fromkeys(part.names.values())]
            yield from ({name: need} for name in names)
            yield from (dict.fromkeys(pair, need) for pair in combinations(names[:_PAIRED], 2))

    def of_leaf(self, leaf: Leaf | Relation) -> list[_Way]:
        """Return the way to make a leaf true, which asks something of one property."""
        name = cast("Identifier", leaf[0]).name
        return [{name: _Need(Leaf(self.subjects[name], cast("Leaf", leaf).values))}]

    # ---- what is cheapest --------------------------------------------------------------------------------------------

    def cheapest(self, ways: Iterable[_Way]) -> list[_Way]:
        return sorted(ways, key=self.price)[: self.kept]

    def price(self, way: _Way) -> tuple[int, int]:
        """Count the properties that change, and how much: to another type is more than to another value."""
        costs = [self.cost(name, need) for name, need in way.items()]
        sizes = [size for size in costs if size is not None]
        return len(sizes), sum(sizes)

    def cost(self, name: str, need: _Need) -> int | None:
        """Return how much a need changes of a property; None for nothing. Of long selectors many ways share needs."""
        key = name, id(need)
        if key not in self.costs:
            self.costs[key] = need, self.size(name, need) if self.changed({name: need}) else None
        return self.costs[key][1]

    def changed(self, way: _Way) -> _Way:
        return {name: need for name, need in way.items() if need.tests or not need.takes(self.message[name])}

    def size(self, name: str, need: _Need) -> int:
        current, sets = self.message[name], need.sets
        if sets and any(one._replace(null=False) == NOTHING for one in sets):
            return 3
        if current is None:
            return 1
        return 0 if all(getattr(one, _lane(current)) != getattr(NOTHING, _lane(current)) for one in sets) else 2

    # ---- values ------------------------------------------------------------------------------------------------------

    def works(self, values: Mapping[str, Any]) -> bool:
        return answer(self.machine, {**self.message, **values}) == Truth.TRUE

    def values(self, way: _Way) -> dict[str, Any]:
        """Return values for the properties that a way changes, which select the message; none if none were found."""
        changed = self.changed(way)
        if any(need.tests for need in changed.values()):
            return self.solved(changed)
        found = {name: self.samples(name, need) for name, need in changed.items()}
        values = {name: some[0] for name, some in found.items() if some}
        return values if len(values) == len(found) and self.works(values) else {}

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

    def alone(self) -> Iterable[str]:
        """List the properties of which one alone may do: all others leave something as it should not be."""
        made: dict[int, frozenset[str]] = {}
        every = frozenset(self.message)
        for node, wanted in reversed(self.order):
            below = [made[id(one)] for one in children(node)] if isinstance(node, (And, Or, Not)) else []
            if self.truths[id(node)] is wanted:
                made[id(node)] = every
            elif not below:
                made[id(node)] = every.intersection(self.selector.names_of(node))
            elif isinstance(node, And) is bool(wanted):
                made[id(node)] = frozenset.intersection(*below)
            else:
                made[id(node)] = frozenset.union(*below)
        return [name for name in self.message if name in made[id(self.selector.node)]]

    def solved(self, changed: _Way) -> dict[str, Any]:
        """Return values of some properties that select the message as it is else; none if none were found."""
        if self.budget.left <= 0:
            return {}

        def check(message: Message) -> bool:
            return self.works({name: message.get(name) for name in changed})

        wanted: list[Formula] = [true_of(self.selector)]
        wanted += [need.formula for need in changed.values() if need.formula is not ALWAYS]
        wanted += [Leaf(self.subjects[name], only(self.message[name])) for name in self.message if name not in changed]
        # First with the types that there are, then without numbers: of these there are many to look at.
        types = [[Leaf(self.subjects[name], self.type_of(name, need)) for name, need in changed.items()]]
        types += [[Leaf(self.subjects[name], _NO_NUMBER) for name in changed], []]
        like = {name: value for name, value in self.message.items() if value is not None}
        for more in types:
            found = find([*wanted, *more], check, self.budget.share(_OF_SEARCH), like=[like]).message
            if found is not None:
                return self.nearer(changed, {name: found.get(name) for name in changed})
        return {}

    def type_of(self, name: str, need: _Need) -> Values:
        """Return what is of the type that a property has; of a text, if it is missing and should be no text of some."""
        is_text = self.message[name] is None and bool(_unwanted(need))
        return _of_type("" if is_text else self.message[name])

    def nearer(self, changed: _Way, values: dict[str, Any]) -> dict[str, Any]:
        """Leave out what need not change, and bring the rest near to what there is."""
        for name, value in [*values.items()]:
            rest = {other: one for other, one in values.items() if other != name}
            need = changed[name]
            plain = [] if need.tests or need.formula is ALWAYS else self.samples(name, need)[:1]
            if self.works(rest):
                values = rest
            elif plain and self.fits(rest, name, plain[0]):
                values[name] = plain[0]
            elif _is_number(value):
                values[name] = _nearest_number(self.message[name], value, partial(self.fits, rest, name))
        return values

    def sentence(self, name: str, need: _Need, values: dict[str, Any]) -> str:
        """Say what a property would have to be: as a set of values if all that are looked at select, else the value."""
        value, current = values[name], self.message[name]
        if isinstance(value, str) and (points := _unwanted(need)):
            need = _Need(Leaf(self.subjects[name], NOTHING._replace(strings=Texts(points, frozenset(), True))))
        is_tried = len(values) <= _TRIED
        if is_tried and not need.tests and need.formula is not ALWAYS:
            phrase, examples = _phrase(need.sets, value, current)
            is_true = all(self.fits(values, name, one) for one in examples if need.takes(one) or type(one) is not str)
            if is_true and phrase != in_words(current):
                return f"{name} were {phrase} (is {in_words(current, beside=value)})"
        if is_tried and _is_number(value):
            simpler = [int(value)] if isinstance(value, int) or value.is_integer() else []
            value = next((one for one in [*simpler, float(value)] if self.fits(values, name, one)), value)
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

    def fits(self, rest: dict[str, Any], name: str, value: object) -> bool:
        return self.works({**rest, name: value})


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


def _unwanted(need: _Need) -> frozenset[str]:
    """Return the strings that a property should not have, if a computed test asks nothing else of it."""
    match need.tests:
        case ((Computed(expression=Comparison("<>", Identifier(), Literal("string", str(text)))), Truth.TRUE),):
            return frozenset((text,))
        case ((Computed(expression=In(True, Identifier(), choices)), Truth.TRUE),):
            return frozenset(choices)
    return frozenset()


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


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


# If a change has more properties, it names the value of each: to try a phrase evaluates the whole selector.
_TRIED = 100
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
