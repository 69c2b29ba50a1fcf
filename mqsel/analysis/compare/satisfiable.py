"""Whether a selector selects any message, and if not, which of its parts exclude each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.search import Given, as_selector, contract_of, search
from mqsel.analysis.explain import message_code
from mqsel.carets import Span, in_one_line, quoted
from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.language.nodes import And, Node
from mqsel.language.selector import Selector
from mqsel.logic.solver import Message, Witness
from mqsel.logic.solver.budget import Budget
from mqsel.machine._vm import Machine
from mqsel.notebook import page


@dataclass(frozen=True, slots=True)
class Satisfiable:
    """The result of `satisfiable`. It is true if there is a message.

    Attributes:
        message: A message that is selected; None if there is none, or none was found.
        reason: Why there is no message, or why that is not decided; empty if there is a message.
        is_decided: Whether the answer is certain.
        spans: If no message is selected: the fewest parts of the selector that can't be TRUE together, each a pair of
            positions (start, end) in code points.
    """

    message: Message | None
    reason: str
    is_decided: bool
    spans: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        return self.message is not None

    def _repr_html_(self) -> str:
        return page([f"<b>{escape(self.reason or 'this message is selected')}</b>", message_code(self.message)])


def satisfiable(a: str | Machine, *, dialect: Dialect | str = IBM_MQ, given: Given = None) -> Satisfiable:
    """Return a message that the selector selects, or the reason why there is none.

    Args:
        a: The selector, a str or a `Matcher`.
        dialect: The `Dialect`, or its name, if *a* is a str. The default is IBM_MQ.
        given: What you know about the messages, as for `relation`. The default is None.

    Returns: a `Satisfiable`, which is true if there is a message. It is false for "none" and for "not decided".

    Raises: SelectorError: if the selector is invalid. ArgumentError: if an argument has the wrong type.
    """
    selector, contract = as_selector(a, dialect), contract_of(given, dialect)
    budget = Budget()
    witness = satisfied(selector, contract, budget.share())
    if witness.message is not None:
        return Satisfiable(witness.message, "", is_decided=True)
    if witness.reason:
        return Satisfiable(None, f"not decided: {witness.reason}", is_decided=False)
    parts = contradiction(selector, contract, budget)
    return Satisfiable(None, _in_words(selector, parts), is_decided=True, spans=tuple([part.span for part in parts]))


def satisfied(selector: Selector, contract: Contract | None = None, budget: Budget | None = None) -> Witness:
    """Search for a message that a selector selects.

    Args:
        selector: the selector.
        contract: what messages are like.
        budget: of the question that this is a part of.
    """
    return search(contract, (selector,), (selector.formulas.true,), selector.machine.matches, budget or Budget())


def contradiction_in_words(selector: Selector, contract: Contract | None, budget: Budget) -> str:
    """Return why a selector is never TRUE."""
    return _in_words(selector, contradiction(selector, contract, budget))


def _in_words(selector: Selector, parts: Iterable[Node]) -> str:
    texts = [quoted(in_one_line(selector.text[slice(*part.span)])) for part in parts]
    if len(texts) == 1:
        return f"{texts[0]} is never TRUE"
    return f"{', '.join(texts[:-1])} and {texts[-1]} are never TRUE together"


def contradiction(selector: Selector, contract: Contract | None, budget: Budget) -> tuple[Node, ...]:
    """List the fewest operands of AND that are not TRUE of one message, of a selector that is never TRUE.

    They are not the fewest if the budget is used up before.

    Args:
        selector: the selector.
        contract: what messages are like.
        budget: pays for all searches.
    """
    parts: list[Selector] = []
    stack = [selector.node]
    while stack:
        node = stack.pop()
        if isinstance(node, And):
            stack += reversed(node.operands)
        else:
            parts.append(selector.part(node))

    def is_none(rest: list[Selector]) -> bool:
        def check(message: Message) -> bool:
            return all(part.machine.matches(message) for part in rest)

        return search(contract, (selector,), [part.formulas.true for part in rest], check, budget.share()).is_none

    # Halves, quarters and so on are left out while the rest is never TRUE: of many parts few matter.
    size = len(parts) // 2
    while size:
        for at in range((len(parts) - 1) // size * size, -1, -size):
            rest = parts[:at] + parts[at + size :]
            if rest and is_none(rest):
                parts = rest
        size //= 2
    return tuple([part.node for part in parts])
