"""Says what two dialects make of one text: a message that they treat differently, and the choice that parts them.

Small messages are tried first, those with few properties before those with more; where none of them is an answer, the
normal forms tell whether there is one. What decides is found by changing one field of a dialect at a time. What the
documents say of a field stands in `mqsel.language.dialects`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from mqsel.analysis.relation import Known, known, taken
from mqsel.errors import SelectorError
from mqsel.language import dialects
from mqsel.language.dialect import Dialect, as_dialect
from mqsel.language.nodes import Identifier
from mqsel.logic.automata import UndecidedError
from mqsel.logic.domains import ANY_PROPERTY, meet, some_values
from mqsel.logic.formulas import Formula, Leaf, any_of, complement, leaves
from mqsel.logic.witness import Found, Message, find
from mqsel.values import Truth

MAX_TRIES = 20_000  # small messages: a tenth of a second
_VALUES = 12  # of one property, and those of each kind
_LEAVES = 2_000  # parts of formulas that are looked at for values
_PROPERTIES = 3  # of a small message

# Values that constants of a selector do not suggest: of each kind one.
_OF_EACH_KIND = ("a", 1, True, 1.5, b"\x00")


class Reading(NamedTuple):
    """What two dialects choose for one field.

    Attributes:
        field: its name.
        choices: of the first dialect and of the second.
        meanings: what language §2 says of each choice.
        sources: the presets that choose so, and the documents that say so.
    """

    field: str
    choices: tuple[str, str]
    meanings: tuple[str, str]
    sources: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """What two dialects make of one text. True if they differ.

    Attributes:
        message: one that they treat differently, with as few properties as was found, as name -> value; None where
            they differ in what they refuse, and where they do not differ.
        truths: of that message: TRUE, FALSE or UNKNOWN under the first dialect and the second; None for a refused text.
        errors: why each refuses the text; None if it does not.
        readings: the choices that part them: with these changed, and no other, the first does as the second.
        is_proved: where they do not differ: whether that is certain.
        tries: messages that were tried.
        reason: why it is not certain; of a message that none selects, why it is not certain that no other is
            selected by one alone.
    """

    message: Message | None = None
    truths: tuple[Truth | None, Truth | None] = (None, None)
    errors: tuple[SelectorError | None, SelectorError | None] = (None, None)
    readings: tuple[Reading, ...] = ()
    is_proved: bool = False
    tries: int = 0
    reason: str = ""

    def __bool__(self) -> bool:
        return self.message is not None or (self.errors[0] is None) != (self.errors[1] is None)


def difference(text: str, dialect_a: Dialect | str, dialect_b: Dialect | str) -> Difference:
    """Give a message that two dialects treat differently, and what parts them, or say that there is none.

    A message that one of them selects goes before one that is FALSE to one and UNKNOWN to the other. FALSE is also what
    "the complete selector is false" comes to.

    Args:
        text: the selector.
        dialect_a: how to read it: a dialect, or the name of a preset.
        dialect_b: how else.

    Raises: ArgumentError: no text, or no dialect. A text that is invalid is a difference, or is none.
    """
    dialects = as_dialect(dialect_a), as_dialect(dialect_b)
    errors: list[SelectorError | None] = []
    read: list[Known] = []
    for dialect in dialects:
        try:
            read.append(taken(text, dialect))
            errors.append(None)
        except SelectorError as error:
            errors.append(error)
    if len(read) < 2:
        is_one = errors[0] is None or errors[1] is None
        readings = _readings(text, {}, *dialects) if is_one else ()
        return Difference(errors=(errors[0], errors[1]), readings=readings, is_proved=not is_one)
    a, b = read
    message, tries = _tried(a, b)
    reason = ""
    if message is None or Truth.TRUE not in (a.truth(message), b.truth(message)):
        found = _found(a, b, ((a.normal.true, b.others), (b.normal.true, a.others)), lambda pair: Truth.TRUE in pair)
        reason, message = found.reason, message if found.message is None else found.message
    if message is None:
        found = _found(a, b, ((a.normal.unknown, _false(b)), (b.normal.unknown, _false(a))), lambda _: True)
        reason, message = reason or found.reason, found.message
    if message is None:
        return Difference(is_proved=not reason, tries=tries, reason=reason)
    truths = a.truth(message), b.truth(message)
    parts = _readings(text, message, *dialects)
    return Difference(message, truths, readings=parts, tries=tries, reason="" if Truth.TRUE in truths else reason)


# ---- messages --------------------------------------------------------------------------------------------------------


def _false(one: Known) -> Formula:
    return any_of((one.normal.false, one.normal.error))


def _tried(a: Known, b: Known) -> tuple[Message | None, int]:
    """Try small messages.

    Returns: the first that one selects and the other does not; else the first with different truths; how many were
        tried.
    """
    known_by: Message | None = None
    tries = 0
    for tries, message in enumerate(itertools.islice(_small(a, b), MAX_TRIES), 1):
        truths = a.truth(message), b.truth(message)
        if truths[0] is not truths[1]:
            if Truth.TRUE in truths:
                return message, tries
            known_by = known_by or message
    return known_by, tries


def _found(
    a: Known, b: Known, pairs: Iterable[tuple[Formula, ...]], is_wanted: Callable[[tuple[Truth, Truth]], bool]
) -> Found:
    """Search a message that makes both formulas of a pair true."""

    def check(message: Message) -> bool:
        truths = a.truth(message), b.truth(message)
        return truths[0] is not truths[1] and is_wanted(truths)

    reason = ""
    for pair in pairs:
        found = find(pair, check)
        if found.message is not None:
            return found
        reason = reason or found.reason
    return Found(None, reason)


def _small(a: Known, b: Known) -> Iterator[Message]:
    """Give messages of few properties, with the values that the constants of the selectors suggest."""
    values = _values(a, b)
    for count in range(min(len(values), _PROPERTIES) + 1):
        for names in itertools.combinations(values, count):
            for chosen in itertools.product(*[values[name] for name in names]):
                yield dict(zip(names, chosen, strict=True))


def _values(a: Known, b: Known) -> dict[str, list[Any]]:
    """List for each property values on either side of what is said of it, small ones first."""
    names = dict.fromkeys([*a.selector.names.values(), *b.selector.names.values()])
    found: dict[str, dict[tuple[type, str], Any]] = {name: {} for name in names}
    parts = itertools.chain.from_iterable(leaves(part) for read in (a, b) for part in read.normal.truths)
    for one in itertools.islice(parts, _LEAVES):
        if isinstance(one, Leaf) and isinstance(one.subject, Identifier):
            own = found[one.subject.name]
            for leaf in (one, complement(one)):
                if isinstance(leaf, Leaf) and len(own) < _VALUES:
                    with suppress(UndecidedError):
                        for value in some_values(meet(ANY_PROPERTY, leaf.values), 2):
                            own.setdefault((type(value), repr(value)), value)
    for own in found.values():
        own.update({(type(value), repr(value)): value for value in _OF_EACH_KIND})
        own.pop((type(None), "None"), None)
    # A text without characters is short, and looks like a mistake.
    return {
        name: sorted(own.values(), key=lambda one: 9 if one == "" else len(repr(one))) for name, own in found.items()
    }


# ---- readings --------------------------------------------------------------------------------------------------------


def _readings(text: str, message: Message, a: Dialect, b: Dialect) -> tuple[Reading, ...]:
    """Find the fewest fields of *a* with which, as *b* has them, it does as *b*, and say what is said of them."""
    wanted = _outcome(text, message, b)
    names = [name for name in Dialect._fields if getattr(a, name) != getattr(b, name)]
    for count in range(1, len(names) + 1):
        for chosen in itertools.combinations(names, count):
            if _outcome(text, message, a.replace(**{name: getattr(b, name) for name in chosen})) == wanted:
                return tuple([_reading(name, a, b) for name in chosen])
    raise AssertionError(names)


def _outcome(text: str, message: Message, dialect: Dialect) -> Truth | None:
    """Give the truth of a message, None for a text that is refused."""
    try:
        return known(text, dialect).truth(message)
    except SelectorError:
        return None


def _reading(name: str, a: Dialect, b: Dialect) -> Reading:
    choices = getattr(a, name), getattr(b, name)
    meanings, sources = zip(*[dialects.reading(name, choice) for choice in choices], strict=True)
    return Reading(name, (str(choices[0]), str(choices[1])), meanings, sources)
