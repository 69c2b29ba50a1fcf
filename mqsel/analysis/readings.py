"""Which choices of a dialect decide what a selector is for a message: those that are changed, and it is something else.

The choices are changed and the selector is run, so no table says which choice concerns which test. What choices mean,
and who says so, stands in `mqsel.language.dialects`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mqsel.errors import PropertyTypeError, SelectorError
from mqsel.language import dialects
from mqsel.language.dialect import JMS, Dialect
from mqsel.language.nodes import Arithmetic, Computed, In, Like, Node, Not, walk
from mqsel.language.products import RULES
from mqsel.language.selector import read_selector
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.machine._vm import Machine
from mqsel.values import Truth

UNDOCUMENTED = "undocumented"  # of values for which the documents of a product have no answer
REFUSED = "refused"  # of a text


def _alone(dialect: Dialect) -> Dialect:
    """Return a dialect that takes a test without its selector."""
    return dialect.replace(max_length=None, constant_false="accept")


_JMS = _alone(JMS)


class Reading(NamedTuple):
    """The choices of two dialects for one field.

    Attributes:
        field: The name of the field of `Dialect`.
        choices: The choice of the first dialect and of the second.
        meanings: The meaning of each choice, as in language §2.
        sources: For each choice, the dialects that have it and the documents that it follows.
    """

    field: str
    choices: tuple[str, str]
    meanings: tuple[str, str]
    sources: tuple[str, str]


def answer(machine: Machine, message: Mapping[str, Any]) -> Truth | str:
    """Return the truth of a message, or that it is undocumented; so is that of one with a name in two cases."""
    try:
        return Truth(machine.truth(message))
    except PropertyTypeError:
        return UNDOCUMENTED


def counted(found: Truth | str) -> Truth | str:
    """Return an answer as `evaluate` does: ERR counts as FALSE."""
    return Truth.FALSE if found is Truth.ERR else found


@functools.lru_cache(512)
def _machine(text: str, dialect: Dialect) -> Machine | None:
    try:
        return read_selector(text, dialect).machine
    except SelectorError:
        return None


def outcome(text: str, message: Mapping[str, Any], dialect: Dialect) -> Truth | str:
    """Return the truth of a message, or that it is undocumented, or that the text is refused."""
    machine = _machine(text, dialect)
    return REFUSED if machine is None else answer(machine, message)


_OF_COMPILING = 40  # steps, and one more for each character


def _differing(a: Dialect, b: Dialect) -> list[str]:
    fields = [name for name in Dialect._fields if name != "product" and getattr(a, name) != getattr(b, name)]
    return fields + [rule for rule in RULES if getattr(a.rules, rule) != getattr(b.rules, rule)]


def _with(a: Dialect, b: Dialect, names: Sequence[str]) -> Dialect:
    fields = {name: getattr(b, name) for name in names if name not in RULES}
    return a.replace(**fields).varied(**{name: getattr(b.rules, name) for name in names if name in RULES})


def readings(text: str, message: Mapping[str, Any], a: Dialect, b: Dialect, budget: Budget) -> tuple[Reading, ...]:
    """Find few fields with which one of two dialects does as the other, and return what is said of them.

    They are the fewest if two suffice; of more, none can be left out. Brokers differ in dozens of fields.

    Args:
        text: the selector, which is compiled for each try.
        message: that the dialects treat differently.
        a: one dialect.
        b: the other one.
        budget: pays for the tries; if it is used up, nothing is said.
    """
    first, second = [counted(outcome(text, message, one)) for one in (a, b)]

    def suffice(names: Sequence[str]) -> bool:
        budget.spend(_OF_COMPILING + len(text))
        changed = counted(outcome(text, message, _with(a, b, names)))
        # A choice of a product may be refused beside the others of another dialect.
        return changed == second or (
            changed == REFUSED and counted(outcome(text, message, _with(b, a, names))) == first
        )

    names = _differing(a, b)
    few = itertools.chain(itertools.combinations(names, 1), itertools.combinations(names, 2))
    try:
        needed: Sequence[str] = next(filter(suffice, few), names)
        for name in needed if len(needed) > 2 else ():
            fewer = [one for one in needed if one != name]
            needed = fewer if suffice(fewer) else needed
    except UndecidedError:
        return ()
    found = []
    for name in needed:
        choices = a.choice(name), b.choice(name)
        meanings, sources = zip(*[dialects.reading(name, choice) for choice in choices], strict=True)
        found.append(Reading(name, (str(choices[0]), str(choices[1])), meanings, sources))
    return tuple(found)


def peculiar(
    test: Node, text: str, message: Mapping[str, Any], dialect: Dialect, truth: Truth, *, is_mismatched: bool
) -> str:
    """Return the rule of a dialect for a test that JMS evaluates to something else for a message; empty if it does not.

    Args:
        text: the test, without the selector that it is in.
        truth: the truth of the test in the dialect.
        is_mismatched: whether a value has a type that the test does not take.
    """
    expected = outcome(text, message, _JMS)
    if expected in (truth, REFUSED) or outcome(text, message, _alone(dialect)) is not truth:
        return ""
    for name in _rules(test, is_mismatched=is_mismatched, is_missing=None in message.values()):
        if dialect.choice(name) != JMS.choice(name):
            return in_this_dialect(name, dialect.choice(name))
    return f"in JMS the test is {expected}"


def _rules(test: Node, *, is_mismatched: bool, is_missing: bool) -> Iterator[str]:
    """List the fields of a dialect that have rules for a test, the most specific ones first."""
    expression = test.expression if isinstance(test, Computed) else test
    order = walk(expression)
    if any(isinstance(node, Not) for node in order):
        yield "not_operand"
    if is_missing:
        yield "null_equality"
    if any(isinstance(node, Arithmetic) for node in order):
        yield from ["division", "arithmetic_mismatch"]
    if isinstance(expression, (In, Like)):
        yield "in_mismatch" if isinstance(expression, In) else "like_mismatch"
    elif is_mismatched:
        yield "type_mismatch"


def in_this_dialect(field: str, choice: str | int | None) -> str:
    """Return what a choice means, as a reason."""
    return f"in this dialect {dialects.reading(field, choice)[0]}"
