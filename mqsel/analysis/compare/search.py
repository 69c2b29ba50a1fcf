"""What every comparison of selectors needs: the selector that an argument is, and a search for a message.

A message that the solver finds is run by the machines of the selectors before anybody hears of it. A contract, if there
is one, is part of every search. Knows no verdict: `relation`, `satisfiable` and `difference` have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.readings import answer, counted
from mqsel.carets import type_name
from mqsel.errors import ArgumentError
from mqsel.language.dialect import Dialect, as_dialect, core_of
from mqsel.language.selector import Selector, read_selector
from mqsel.logic.formulas import Formula
from mqsel.logic.solver import Message, Witness, find
from mqsel.logic.solver.boxes import Check
from mqsel.logic.solver.budget import Budget
from mqsel.machine._vm import Machine
from mqsel.machine.origin import selector_of
from mqsel.values import Truth

Given = Contract | Mapping[str, Any] | str | None  # what messages are like: see `contract_of`


def as_selector(selector: str | Machine, dialect: Dialect | str) -> Selector:
    """Return the selector that a text, read as *dialect*, or a matcher is.

    Raises: SelectorError. ArgumentError: neither. ProgramError: the text of the matcher is not what it runs.
    """
    if isinstance(selector, Machine):
        return selector_of(selector.program)
    if not isinstance(selector, str):
        raise ArgumentError(f"a selector is a str or a Matcher, found {type_name(selector)}")
    return read_selector(str.__str__(selector), as_dialect(dialect))


def respelled(selector: Selector, names: dict[str, str]) -> Selector:
    """Return a selector with property names as they stand in *names* by their casefold, if case does not count.

    A name that is not in *names* is added as the selector spells it, so that selectors that are compared spell alike.
    """
    if selector.naming != "folded":
        return selector
    own = {written: names.setdefault(name.casefold(), name) for written, name in selector.names.items()}
    return selector if own == selector.names else selector._replace(names=own)


def truth_of(selector: Selector, message: Message) -> Truth | str:
    """Return the truth of a message as `evaluate` does, or that it is undocumented: ERR counts as FALSE."""
    return counted(answer(selector.machine, message))


def has_every_answer(selector: Selector) -> bool:
    """Report whether a selector has an answer for each message."""
    core = core_of(selector.dialect)
    return core.answers_all and core.naming != "folded"


def match_of(selector: Selector) -> Callable[[Message], bool]:
    """Return the function that reports whether a selector selects a message: not if it has no answer."""
    if has_every_answer(selector):
        return selector.machine.matches
    return lambda message: truth_of(selector, message) is Truth.TRUE


def contract_of(given: Given, dialect: Dialect | str) -> Contract | None:
    """Return the contract that a selector, or a mapping of names to types and domains, stands for.

    Raises: ArgumentError, SelectorError.
    """
    if given is None or isinstance(given, Contract):
        return given
    if isinstance(given, str):
        return Contract(selector=given, dialect=dialect)
    return Contract(given)


def search(
    contract: Contract | None,
    selectors: Sequence[Selector],
    formulas: Iterable[Formula],
    check: Check,
    budget: Budget,
    like: Sequence[Message] = (),
) -> Witness:
    """Find a message of a contract; of any, without one.

    Args:
        selectors: what the formulas are of.
        formulas: as in `find`.
        check: as in `find`.
        budget: as in `find`.
        like: as in `find`.
    """
    if contract is None:
        return find(formulas, check, budget, like=like)
    names = [name for selector in selectors for name in selector.properties]
    conditions, allows = contract.bound(names, selectors[0].naming)
    return find([*conditions, *formulas], lambda message: allows(message) and check(message), budget, like=like)
