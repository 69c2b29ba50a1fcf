"""The first sentences of a report on many messages: which test keeps them out, and why.

Where nothing is selected the responsible tests are found from the top of the tree down: of an AND the operands that are
never TRUE, of an OR all. Where something is selected, sentences report the effect of types, names and NULL on the other
messages. Sentences are built from counts alone. Knows no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mqsel.analysis.explain import NEVER
from mqsel.analysis.explain.change import in_words, listed, never_selects
from mqsel.analysis.explain.near import failed, missing_is_not_unequal, near_text, wanted_texts
from mqsel.language.dialect import core_of
from mqsel.language.nodes import And, In, IsNull, Like, Node, Not, Or, children, quote, sign_of, unparse
from mqsel.language.selector import Selector
from mqsel.names import near_names
from mqsel.values import KINDS, TYPES, Truth

_BLAMED = 3  # tests that are told
_LISTED = 3  # values that a sentence lists
_NAMED = 5  # names of other properties, if there are no more


class Count(NamedTuple):
    """The result of one part of a selector. The five numbers add up to the number of messages.

    Attributes:
        text: A test as a selector; or AND, OR or NOT, with its operands after it.
        depth: The depth of the part in the tree, 0 for the whole selector.
        true: The number of messages for which the part is TRUE.
        false: The number of messages for which it is FALSE although the types fit.
        unknown: The number of messages for which a property that it needs is missing.
        mismatched: The number of messages with a type mismatch. The dialect decides whether the part is then FALSE or
            UNKNOWN, or the whole selector is false.
        error: The number of messages for which the whole selector is false because of arithmetic on a missing property,
            a division by an integer zero, or a property name that IBM MQ does not allow.
    """

    text: str
    depth: int
    true: int
    false: int
    unknown: int
    mismatched: int
    error: int


class Seen(NamedTuple):
    """What the messages have for one property.

    Attributes:
        name: The name of the property.
        present: The number of messages with a value.
        missing: The number of messages without the property.
        unread: The number of messages with a value that can't be converted to the declared type, which counts as
            missing; for raw messages, those whose properties can't be read. The three numbers add up to all messages.
        types: The number of messages for each type of the property, the most frequent first.
        values: The most frequent values, each as (value, number of messages).
        counted: The number of messages in which `values` were counted.
        different: The number of different values in these messages; None if there are too many to count.
        least: The smallest of its numbers, or None.
        greatest: The greatest of its numbers, or None.
        others: The names of other properties in messages without this one, with the number of messages that have each;
            the most similar name first, if one is similar.
    """

    name: str
    present: int
    missing: int
    unread: int = 0
    types: Mapping[str, int] = {}
    values: tuple[tuple[Any, int], ...] = ()
    counted: int = 0
    different: int | None = None
    least: float | None = None
    greatest: float | None = None
    others: Mapping[str, int] = {}

    @property
    def near(self) -> str | None:
        """The name of another property that was most probably meant."""
        return next(iter(near_names(self.name, self.others)), None)


class Told(NamedTuple):
    """What sentences are made of.

    Attributes:
        selector: the selector.
        nodes: its conditions, in the order of the counts.
        counts: what became of them.
        seen: what the messages have, by name.
        texts: how many have each string of a property, as far as they were counted.
        messages: how many there were.
        noun: what a message is called: "message" or "row".
        refused: messages that no part has seen, for a name that is not allowed.
    """

    selector: Selector
    nodes: list[Node]
    counts: list[Count]
    seen: Mapping[str, Seen]
    texts: Mapping[str, Mapping[str, int]]
    messages: int
    noun: str = "message"
    refused: int = 0

    def written(self, node: Node) -> str:
        """Return a part as a selector of its dialect."""
        return unparse(node, self.selector.dialect)

    def of(self, node: Node) -> Count:
        return next(one for one, other in zip(self.counts, self.nodes, strict=True) if other is node)

    def all_of(self, count: int) -> str:
        """Return how many messages, of all."""
        many = f"{self.messages:,} {self.noun}s"
        if count == self.messages:
            return f"the {self.noun}" if count == 1 else f"all {many}"
        return f"{count:,} of {many}" if count else f"no {self.noun}"


def sentences(told: Told) -> list[str]:
    """Return what matters, first things first."""
    if not told.messages:
        return [f"there is no {told.noun}"]
    root = told.counts[0]
    headline = f"{root.true:,} of {told.messages:,} {told.noun}s {'is' if root.true == 1 else 'are'} selected"
    refused = []
    if told.refused:
        many = (
            f"{_have(told.refused)} a property whose name is not allowed, and so {'is' if told.refused == 1 else 'are'}"
        )
        refused = [f"{told.all_of(told.refused)} {many} not selected"]
    if root.true == 0:
        blame = _blame(told) if told.refused < told.messages else []
        return [*refused, *blame, headline, *_unread(told)]
    return [headline, *refused, *_remarks(told), *_unread(told)]


def _unread(told: Told) -> list[str]:
    return [f"{one.name} could not be read in {told.all_of(one.unread)}" for one in told.seen.values() if one.unread]


# ---- nothing is selected -------------------------------------------------------------------------------------------


def _blame(told: Told) -> list[str]:
    if never_selects(told.selector):
        return [NEVER]
    culprits, together = _culprits(told)
    said = dict.fromkeys(one for node, wanted in culprits[:_BLAMED] for one in _of_test(told, node, wanted=wanted))
    more = [f"and {len(culprits) - _BLAMED} more tests, see below"] * (len(culprits) > _BLAMED)
    return [*said, *more, *(_never_together(told, node) for node in together[:1] if not culprits)]


def _culprits(told: Told) -> tuple[list[tuple[Node, bool]], list[Node]]:
    """Find the tests that are never what they have to be, and the ANDs of which each operand is at times."""
    culprits: list[tuple[Node, bool]] = []
    together: list[Node] = []
    counts = {id(node): count for node, count in zip(told.nodes, told.counts, strict=True)}

    def hits(node: Node, wanted: bool) -> int:
        one = counts[id(node)]
        return (one.true if wanted else one.false) + one.mismatched * (_other(told, node) is Truth(int(wanted)))

    stack: list[tuple[Node, bool]] = [(told.selector.node, True)]
    while stack:
        node, wanted = stack.pop()
        if isinstance(node, Not):
            stack.append((node.operand, not wanted))
        elif isinstance(node, (And, Or)):
            never = [(one, wanted) for one in node.operands if not hits(one, wanted)]
            together += [node] * (isinstance(node, And) is wanted and not never)
            stack += reversed(never)
        else:
            culprits.append((node, wanted))
    return culprits, together


def _never_together(told: Told, node: Node) -> str:
    counts = [told.of(one) for one in children(node)]
    each = [f"{told.written(one)} {count.true:,}" for one, count in zip(children(node), counts, strict=True)]
    return f"each part is TRUE for some {told.noun}s, all of them for none: {listed(each, 'and')}"


# ---- something is selected -----------------------------------------------------------------------------------------


def _remarks(told: Told) -> Iterator[str]:
    """Return which operand of an AND keeps out most, and what types, names and NULL did."""
    root = told.nodes[0]
    if isinstance(root, And) and told.counts[0].true < told.messages:
        node = min(root.operands, key=lambda one: told.of(one).true)
        true = told.of(node).true
        yield f"the strictest condition is {told.written(node)}: TRUE for {true:,} {told.noun}{'s' * (true != 1)}"
    for node, count in zip(told.nodes, told.counts, strict=True):
        if isinstance(node, (And, Or, Not)):
            continue
        if count.mismatched:
            yield from _of_types(told, node, count)
        for name in _names(told, node):
            seen = told.seen[name]
            if seen.missing and (seen.near or not seen.present) and not isinstance(node, IsNull):
                yield _of_missing(told, seen)
        if count.error > told.refused:
            yield _of_error(told, node, count)


# ---- one test ------------------------------------------------------------------------------------------------------


def _names(told: Told, node: Node) -> Iterable[str]:
    return dict.fromkeys(told.selector.names_of(node))


def _of_test(told: Told, node: Node, *, wanted: bool) -> Iterator[str]:
    """Return why a test is never what it has to be."""
    count = told.of(node)
    seen = [told.seen[name] for name in _names(told, node)]
    if isinstance(node, IsNull):
        is_there = wanted is not node.negated
        yield (
            f"{told.all_of(told.messages)} {'have' if told.messages > 1 else 'has'} {seen[0].name}"
            if is_there
            else (_of_missing(told, seen[0]))
        )
        return
    if count.error > told.refused:
        yield _of_error(told, node, count)
    missing = [one for one in seen if one.missing]
    types = [*_of_types(told, node, count)] if count.mismatched else []
    values: list[str] = []
    if count.false if wanted else count.true:
        values = [*_of_values(told, node, [one for one in seen if one.present], wanted=wanted)]
    # What no message has, or has by another name, comes first; what some messages lack is usual, and comes last.
    first = [one for one in missing if not one.present or one.near]
    yield from (_of_missing(told, one) for one in first)
    yield from [*types, *values] if count.mismatched >= (count.false if wanted else count.true) else [*values, *types]
    yield from (_of_missing(told, one) for one in missing if one not in first)
    is_negative = not wanted or getattr(node, "negated", getattr(node, "operator", "") == "<>")
    if missing and count.unknown and is_negative:
        yield missing_is_not_unequal(missing[0].name)


def _kind(type_name: str) -> str:
    return KINDS[next(row.kind for row in TYPES if row.name == type_name)]


def _other(told: Told, node: Node) -> Truth:
    """Return what a test yields for a value of another kind."""
    return core_of(told.selector.dialect).others.get(sign_of(node), Truth.UNKNOWN)


def _of_types(told: Told, node: Node, count: Count) -> Iterator[str]:
    part = told.selector.part(node)
    expected = part.remarks().expected
    other = _other(told, node)
    effect = "false, and with it the complete selector, in each" if other is Truth.ERR else f"{other} in each"
    found = False
    # Of several properties it is not known which differed where.
    for name, kinds in expected.items() if len(expected) == 1 else ():
        by_kind: dict[str, int] = {}
        for type_name, number in told.seen[name].types.items():
            if kinds and _kind(type_name) not in kinds:
                by_kind[_kind(type_name)] = by_kind.get(_kind(type_name), 0) + number
        for kind, number in by_kind.items():
            found = True
            what = {Like: "LIKE", In: "IN"}.get(type(node), f"the comparison with a {listed([*kinds], 'or')}")
            yield f"{name} is a {kind} in {told.all_of(number)}: {what} is {effect}"
    if not found:
        yield f"type mismatch in {told.all_of(count.mismatched)}: {told.written(node)} is {effect}"


def _of_missing(told: Told, seen: Seen) -> str:
    said = f"no {told.noun} has {seen.name}"
    is_there = bool(seen.present or seen.unread)
    if not seen.missing and seen.unread:
        return f"{seen.name} could not be read in {told.all_of(seen.unread)}"
    if is_there:
        said = f"{seen.name} is missing from {told.all_of(seen.missing)}"
    near = seen.near
    if near is not None:
        number = seen.others[near]
        whom = "all" if number == seen.missing else f"{number:,}"
        if seen.missing == 1:
            return f"{said}; it has {near}"
        return (
            f"{said}; {whom}{' of these' * bool(seen.present or seen.unread)} {'has' if whom == '1' else 'have'} {near}"
        )
    if not (seen.present or seen.unread) and 0 < len(seen.others) <= _NAMED:
        return f"{said}; {'it has' if seen.missing == 1 else 'they have'} {listed([*seen.others], 'and')}"
    return said


def _of_error(told: Told, node: Node, count: Count) -> str:
    missing = [told.seen[name] for name in _names(told, node) if told.seen[name].missing]
    where = f"in {told.all_of(count.error - told.refused)}"
    if missing and told.selector.dialect.null_arithmetic == "selector":
        return f"arithmetic on a missing property makes the complete selector false {where}: {told.written(node)}"
    return failed(node, told.selector.dialect, where)


def _of_values(told: Told, node: Node, seen: list[Seen], *, wanted: bool) -> Iterator[str]:
    """Return what the values are for which a test is never what it has to be."""
    truth = "FALSE" if wanted else "TRUE"
    expected = told.selector.part(node).remarks().expected
    for one in seen:
        if one.least is not None and one.greatest is not None and "number" in expected[one.name]:
            spread = f"goes from {in_words(one.least)} to {in_words(one.greatest)}"
            if one.least == one.greatest:
                spread = f"is {in_words(one.least)}"
            yield f"{told.written(node)} is {truth} wherever {one.name} is a number: it {spread}"
            continue
        texts = told.texts.get(one.name, {}) if "string" in expected[one.name] else {}
        pairs = [*texts.items()] or one.values
        is_whole = one.counted >= one.present
        shown = [in_words(value) + f" ({number:,})" * is_whole for value, number in pairs[:_LISTED]]
        left = len(pairs) - _LISTED if texts or one.different is None else one.different - _LISTED
        shown += [f"{left:,} more" if one.different is not None else "more"] * (one.different is None or left > 0)
        near = _near_value(told, node, texts, is_whole=is_whole) if wanted else ""
        yield near or f"{told.written(node)} is {truth} wherever {one.name} is there: it is {', '.join(shown)}"


def _near_value(told: Told, node: Node, texts: Mapping[str, int], *, is_whole: bool) -> str:
    """Return by how little a test misses the commonest text that it just misses."""
    some = "" if is_whole else "at least "
    for text, number in texts.items():
        said = near_text(node, text)
        if said:
            return f"{told.written(node)} misses {in_words(text)}, which {some}{number:,} {_have(number)}: {said}"
    name, choices = wanted_texts(node) or ("", ())
    for one in choices:
        for text in near_names(one, texts, str.casefold)[:1]:
            return f"no {name} is {quote(one)}; {some}{texts[text]:,} {_have(texts[text])} {in_words(text)}"
    return ""


def _have(number: int) -> str:
    return "has" if number == 1 else "have"
