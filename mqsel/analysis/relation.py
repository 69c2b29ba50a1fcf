"""Compares selectors by what they select: which messages both do, and which one of them alone.

TRUE of a selector is a formula of the normal form, and so is its complement; a message of which both are true is looked
for, and run through the machine before it is told. Follows language §1.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

from mqsel.errors import ArgumentError, Span, quoted, type_name
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import And, Node
from mqsel.language.optimizer import optimize
from mqsel.language.selector import Selector, read_selector
from mqsel.logic.formulas import Formula, complement
from mqsel.logic.normal import Normal, normal, true_of
from mqsel.logic.witness import MAX_WORK, Found, Message, find
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.machine.origin import check_source
from mqsel.values import Truth

# What a relation can be. A selector that selects nothing is disjoint from any other, and equal to one like it.
RELATIONS = ("equal", "disjoint", "a within b", "b within a", "overlapping", "not decided")


class Known(NamedTuple):
    """What the comparison of selectors takes of one."""

    selector: Selector
    normal: Normal
    machine: Machine

    @property
    def others(self) -> Formula:
        """Where it is not TRUE."""
        return complement(self.normal.true)

    def truth(self, message: Message) -> Truth:
        """Give the truth of a message as `evaluate` does: ERR counts as FALSE."""
        truth = self.machine.truth(message)
        return Truth.FALSE if truth == Truth.ERR else Truth(truth)


@functools.lru_cache(512)
def known(text: str, dialect: Dialect) -> Known:
    """Read a selector, or remember it.

    Raises: SelectorError.
    """
    return made(text, dialect)


def made(text: str, dialect: Dialect) -> Known:
    """Read a selector.

    Raises: SelectorError.
    """
    selector = read_selector(text, dialect)
    return Known(selector, normal(selector), Machine(lower(optimize(selector))))


def taken(given: str | Machine, dialect: Dialect | str) -> Known:
    """Take a selector that is given as text, to be read as *dialect*, or as a matcher, which has one.

    Raises: SelectorError. ArgumentError: neither. ProgramError: the text of the matcher is not what it runs.
    """
    if isinstance(given, Machine):
        check_source(given.program)
        return known(given.program.text, given.program.dialect)
    if not isinstance(given, str):
        raise ArgumentError(f"a selector is a str or a Matcher, found {type_name(given)}")
    return known(str.__str__(given), as_dialect(dialect))


@dataclass(frozen=True, slots=True)
class Relation:
    """How what two selectors select is related.

    Attributes:
        relation: one of `RELATIONS`.
        both: a message that both select, as name -> value; None if there is none, or none was found.
        a_alone: one that a selects, and b does not.
        b_alone: likewise.
        reason: why it is not decided; empty if it is.
    """

    relation: str
    both: Message | None
    a_alone: Message | None
    b_alone: Message | None
    reason: str = ""

    def __str__(self) -> str:
        return self.relation


def relation(a: str | Machine, b: str | Machine, *, dialect: Dialect | str = IBM_MQ) -> Relation:
    """Tell whether two selectors select the same messages, some of the same, or none.

    Equal are selectors that no message tells apart by being selected by one alone; where it is not, one may be FALSE
    and the other UNKNOWN. A message is any mapping of names to values: that a header always has one type, or that two
    names are one header, is not taken into account.

    Args:
        a: a text, or a matcher.
        b: likewise.
        dialect: how to read a text; a matcher has a dialect of its own.

    Returns: the relation, with a message for each part of it that was found; all of them have been run.

    Raises: SelectorError, ArgumentError: as `compile` does.
    """
    return related(taken(a, dialect), taken(b, dialect))


def related(a: Known, b: Known) -> Relation:
    """Relate two selectors that have been read."""
    first, second = a.machine.matches, b.machine.matches
    like = _alike(a, b)
    both = find((a.normal.true, b.normal.true), lambda message: first(message) and second(message), like=like)
    like = like if both.message is None else [both.message, *like]
    a_alone = find((a.normal.true, b.others), lambda message: first(message) and not second(message), like=like)
    b_alone = find((b.normal.true, a.others), lambda message: second(message) and not first(message), like=like)
    if a_alone.is_none and b_alone.is_none:
        name = "equal"
    elif both.is_none:
        name = "disjoint"
    elif a_alone.is_none and b_alone.message is not None:
        name = "a within b"
    elif b_alone.is_none and a_alone.message is not None:
        name = "b within a"
    elif None not in (both.message, a_alone.message, b_alone.message):
        name = "overlapping"
    else:
        name = "not decided"
    reason = next((one.reason for one in (both, a_alone, b_alone) if one.reason), "")
    return Relation(name, both.message, a_alone.message, b_alone.message, reason if name == "not decided" else "")


def _alike(a: Known, b: Known) -> list[Message]:
    """Give messages that one of two selectors selects, and what they come to together."""
    found = [_selected(one.selector.text, one.selector.dialect) for one in (a, b)]
    together = {name: value for one in found if one is not None for name, value in one.items()}
    return [together, *(one for one in found if one is not None)]


@functools.lru_cache(512)
def _selected(text: str, dialect: Dialect) -> Message | None:
    return satisfied(known(text, dialect)).message


@dataclass(frozen=True, slots=True)
class Satisfiable:
    """Whether any message is selected.

    Attributes:
        message: one that is; None if none is, or none was found.
        reason: why none is, or why that is not decided; empty if there is one.
        is_decided: whether the answer is certain.
        spans: where none is: the fewest parts of the selector that are not TRUE together, half-open, code points.
    """

    message: Message | None
    reason: str
    is_decided: bool
    spans: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        return self.message is not None


def satisfiable(a: str | Machine, *, dialect: Dialect | str = IBM_MQ) -> Satisfiable:
    """Give a message that a selector selects, or say why there is none.

    Args: as for `relation`.

    Returns: true if there is a message. False are both "none" and "not decided".

    Raises: SelectorError, ArgumentError: as `compile` does.
    """
    one = taken(a, dialect)
    found = satisfied(one)
    if found.message is not None:
        return Satisfiable(found.message, "", is_decided=True)
    if found.reason:
        return Satisfiable(None, f"not decided: {found.reason}", is_decided=False)
    spans = tuple([part.span for part in contradiction(one)])
    return Satisfiable(None, contradiction_in_words(one), is_decided=True, spans=spans)


def contradiction_in_words(one: Known) -> str:
    """Say why a selector is never TRUE."""
    texts = [quoted(" ".join(one.selector.text[slice(*part.span)].split())) for part in contradiction(one)]
    if len(texts) == 1:
        return f"{texts[0]} is never TRUE"
    return f"{', '.join(texts[:-1])} and {texts[-1]} are never TRUE together"


def contradiction(one: Known, *, work: int = MAX_WORK) -> tuple[Node, ...]:
    """List the fewest operands of AND that are not TRUE of one message, of a selector that is never TRUE.

    Args:
        one: the selector.
        work: how much is allowed for each answer; see `find`.
    """
    parts: list[Node] = []
    stack = [one.selector.node]
    while stack:
        node = stack.pop()
        if isinstance(node, And):
            stack += reversed(node.operands)
        else:
            parts.append(node)
    own = {id(part): one.selector.part(part) for part in parts}
    formulas = {key: true_of(part) for key, part in own.items()}
    machines = {key: Machine(lower(part)) for key, part in own.items()}

    def is_none(rest: list[Node]) -> bool:
        def check(message: Message) -> bool:
            return all(machines[id(part)].matches(message) for part in rest)

        return find([formulas[id(part)] for part in rest], check, work=work).is_none

    # Halves, quarters and so on are left out while the rest is never TRUE: of many parts few matter.
    size = len(parts) // 2
    while size:
        for at in range((len(parts) - 1) // size * size, -1, -size):
            rest = parts[:at] + parts[at + size :]
            if rest and is_none(rest):
                parts = rest
        size //= 2
    return tuple(parts)


def satisfied(one: Known) -> Found:
    """Search a message that a selector selects."""
    return find((one.normal.true,), one.machine.matches)
