"""Finds what no selector of many selects: a message, and the shape of all such messages as a selector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from mqsel.analysis.compare import Given, Known, contract_of, taken
from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.writing import written
from mqsel.analysis.explain import message_code
from mqsel.arguments import iterated
from mqsel.errors import ArgumentError
from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.logic.formulas import Formula, all_of
from mqsel.logic.sets import PROPERTY, Values
from mqsel.logic.solver import Message
from mqsel.logic.solver.budget import Budget, budget_of_many
from mqsel.logic.solver.cells import find_in_cells
from mqsel.machine._vm import Machine
from mqsel.notebook import code, page, table
from mqsel.values import Truth


class Gap(NamedTuple):
    """The result of `gap`. It is true if there is a message that no selector selects.

    Attributes:
        message: One of the simplest messages that no selector selects; None if there is none, or none was found.
        selector: A selector that is TRUE for exactly the messages that no selector selects; empty if no short one was
            found.
        reason: Why the result is not decided; empty if it is.
    """

    message: Message | None
    selector: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        return self.message is not None

    def _repr_html_(self) -> str:
        verdict = "there is a gap" if self else self.reason or "no gap"
        rows = [(message_code(self.message), code(self.selector))] * (self.message is not None)
        return page([f"<b>{escape(verdict)}</b>"], table(("a message that nobody selects", "all such messages"), rows))


def gap(selectors: Iterable[str | Machine], *, dialect: Dialect | str = IBM_MQ, given: Given = None) -> Gap:
    """Return a message that none of many selectors selects, and a selector for all such messages.

    Args:
        selectors: An iterable of selectors, each a str or a `Matcher`.
        dialect: The `Dialect`, or its name, for selectors that are str. The default is IBM_MQ.
        given: What you know about the messages, as for `relation`. The default is None.

    Raises: SelectorError: if a selector is invalid. ArgumentError: if an argument has the wrong type.
    """
    if isinstance(selectors, (str, Machine)):
        raise ArgumentError("gap has many selectors: expected a list of them")
    read = [taken(one, dialect) for one in iterated(selectors, "a list of selectors")]
    apart = {(one.selector.text, one.selector.dialect): one for one in read}
    return gap_of([*apart.values()], contract_of(given, dialect), budget_of_many(len(apart)))


def gap_of(known: Sequence[Known], contract: Contract | None, budget: Budget) -> Gap:
    """Return what selectors that have been read leave."""
    spelled: dict[str, str] = {}
    known = [one.spelled(spelled) for one in known]
    naming = known[0].selector.naming if known else "any"
    said, allows = (
        contract.bound([name for one in known for name in one.names], naming) if contract else ([], lambda _: True)
    )

    def is_left(message: Message) -> bool:
        return allows(message) and all(one.truth(message) in (Truth.FALSE, Truth.UNKNOWN) for one in known)

    others = [one.others for one in known]
    witness = find_in_cells([*said, *others], is_left, budget)
    if witness.message is None or not known:
        return Gap(witness.message, "", witness.reason)

    return Gap(witness.message, _written(all_of(others), said, naming, contract, known[0], budget))


def alone(one: Known, other: Known, contract: Contract | None, budget: Budget) -> str:
    """Return the selector of exactly what one selects and the other does not; empty where none is found."""
    spelled: dict[str, str] = {}
    one, other = one.spelled(spelled), other.spelled(spelled)
    naming = one.selector.naming
    said = contract.bound([*one.names, *other.names], naming)[0] if contract else []
    return _written(all_of((one.normal.true, other.others)), said, naming, contract, one, budget)


def _written(
    formula: Formula, said: Sequence[Formula], naming: str, contract: Contract | None, of: Known, budget: Budget
) -> str:
    def domain(name: str) -> Values:
        return PROPERTY if contract is None else contract.domain(name, naming)

    return written(formula, said, domain, of.selector.dialect, budget)
