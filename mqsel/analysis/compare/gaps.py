"""Finds a message that none of many selectors selects, and a selector for all such messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.search import Given, as_selector, contract_of, respelled, truth_of
from mqsel.analysis.compare.writing import written
from mqsel.analysis.explain import message_code
from mqsel.arguments import iterated
from mqsel.errors import ArgumentError
from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.language.selector import Selector
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
        verdict = "there is a gap" if self else f"not decided: {self.reason}" if self.reason else "no gap"
        rows = [(message_code(self.message), code(self.selector))] * (self.message is not None)
        return page(
            [f"<b>{escape(verdict)}</b>"], table(("a message that no selector matches", "all such messages"), rows)
        )


def gap(selectors: Iterable[str | Machine], *, dialect: Dialect | str = IBM_MQ, given: Given = None) -> Gap:
    """Return a message that none of many selectors selects, and a selector for all such messages.

    Args:
        selectors: An iterable of selectors, each a str or a `Matcher`.
        dialect: The `Dialect`, or its name, for selectors that are str. The default is IBM_MQ.
        given: What you know about the messages, as for `relation`. The default is None.

    Raises: SelectorError: if a selector is invalid. ArgumentError: if an argument has the wrong type.
    """
    if isinstance(selectors, (str, Machine)):
        raise ArgumentError("found one selector: expected a list of selectors")
    read = [as_selector(selector, dialect) for selector in iterated(selectors, "a list of selectors")]
    distinct = {(selector.text, selector.dialect): selector for selector in read}
    return gap_of([*distinct.values()], contract_of(given, dialect), budget_of_many(len(distinct)))


def gap_of(selectors: Sequence[Selector], contract: Contract | None, budget: Budget) -> Gap:
    """Return what selectors that have been read leave."""
    spelled: dict[str, str] = {}
    selectors = [respelled(selector, spelled) for selector in selectors]
    conditions: list[Formula] = []
    if contract is not None:
        naming = selectors[0].naming if selectors else "any"
        conditions, allows = contract.bound([name for each in selectors for name in each.properties], naming)

    def is_left(message: Message) -> bool:
        truths = (truth_of(selector, message) for selector in selectors)
        return (contract is None or allows(message)) and all(truth in (Truth.FALSE, Truth.UNKNOWN) for truth in truths)

    unselected = [selector.not_true for selector in selectors]
    witness = find_in_cells([*conditions, *unselected], is_left, budget)
    if witness.message is None or not selectors:
        return Gap(witness.message, "", witness.reason)
    return Gap(witness.message, _text_of(all_of(unselected), conditions, contract, selectors[0], budget))


def text_of_difference(first: Selector, second: Selector, contract: Contract | None, budget: Budget) -> str:
    """Return a selector for exactly what only the first of two selectors selects; empty if none is found."""
    spelled: dict[str, str] = {}
    first, second = respelled(first, spelled), respelled(second, spelled)
    names = [*first.properties, *second.properties]
    conditions = contract.bound(names, first.naming)[0] if contract is not None else []
    return _text_of(all_of((first.formulas.true, second.not_true)), conditions, contract, first, budget)


def _text_of(
    formula: Formula, conditions: Sequence[Formula], contract: Contract | None, reader: Selector, budget: Budget
) -> str:
    """Write a formula as a selector in the dialect of *reader*."""

    def domain(name: str) -> Values:
        return PROPERTY if contract is None else contract.domain(name, reader.naming)

    return written(formula, conditions, domain, reader.dialect, budget)
