"""Which choices of a dialect decide what a selector is for a message: those that are changed, and it is something else.

The choices are changed and the selector is run, so no table says which choice concerns which test. What choices mean,
and who says so, stands in `mqsel.language.dialects`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mqsel.errors import PropertyTypeError, SelectorError
from mqsel.language import dialects
from mqsel.language.dialect import JMS, Dialect
from mqsel.language.optimizer import optimize
from mqsel.language.product import RULES
from mqsel.language.selector import read_selector
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.values import Truth

UNDOCUMENTED = "undocumented"  # of values for which the documents of a product have no answer
REFUSED = "refused"  # of a text
# What is read as what, before a test compares it: that explains more than what the comparison yields.
_BEFORE_A_TEST = ("not_operand", "text_numbers")


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
        return Machine(lower(optimize(read_selector(text, dialect))))
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


def peculiar(text: str, message: Mapping[str, Any], dialect: Dialect, truth: Truth, budget: Budget) -> str:
    """Return the choice by which a test is not what it is in JMS for a message, in words; empty if none alone does it.

    Args:
        text: of the test, which alone may be read as something else than in its selector.
        truth: what it is in its selector.
        budget: pays for the tries; if it is used up, nothing is said.
    """
    dialect, jms = [
        one.replace(max_length=None, constant_false="accept").varied(rest="error") for one in (dialect, JMS)
    ]
    if outcome(text, message, jms) is truth or outcome(text, message, dialect) is not truth:
        return ""
    for name in sorted(_differing(dialect, jms), key=lambda name: name not in _BEFORE_A_TEST):
        budget.count(_OF_COMPILING + len(text))
        if budget.left < 0:
            break
        if outcome(text, message, _with(dialect, jms, (name,))) not in (truth, REFUSED, UNDOCUMENTED):
            return in_this_dialect(name, dialect.choice(name))
    return ""


def in_this_dialect(field: str, choice: str | int | None) -> str:
    """Return what a choice means, as a reason."""
    return f"in this dialect {dialects.reading(field, choice)[0]}"
