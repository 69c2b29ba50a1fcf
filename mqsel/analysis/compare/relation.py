"""How two selectors relate: by the messages that both select, and those that only one of them selects.

TRUE of a selector is a formula of the normal form, and so is its complement. The solver searches for a message of
which TRUE of one selector and the complement of the other hold.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from html import escape

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.satisfiable import satisfied
from mqsel.analysis.compare.search import Given, as_selector, contract_of, match_of, respelled, search
from mqsel.analysis.explain import message_code
from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.language.selector import Selector, read_selector
from mqsel.logic.formulas import Formula
from mqsel.logic.solver import Message, Witness
from mqsel.logic.solver.boxes import Check
from mqsel.logic.solver.budget import Budget
from mqsel.machine._vm import Machine
from mqsel.notebook import page, table

# What a relation can be. A selector that selects nothing is disjoint from any other, and equal to one like it.
RELATIONS = ("equal", "disjoint", "a within b", "b within a", "overlapping", "not decided")
_OF_SEED = 25_000  # steps for a message that one selector selects, near which the others are searched


@dataclass(frozen=True, slots=True)
class Related:
    """The result of `relation`.

    Attributes:
        relation: "equal", "disjoint", "a within b", "b within a", "overlapping" or "not decided".
        both: A message that both select, as a mapping of names to values; None if there is none, or none was found.
        a_alone: A message that only the first selects, or None.
        b_alone: A message that only the second selects, or None.
        reason: Why the relation is not decided; empty if it is.
    """

    relation: str
    both: Message | None
    a_alone: Message | None
    b_alone: Message | None
    reason: str = ""

    def __str__(self) -> str:
        return self.relation

    def _repr_html_(self) -> str:
        messages = {"both": self.both, "only the first": self.a_alone, "only the second": self.b_alone}
        rows = [(who, message_code(message)) for who, message in messages.items() if message is not None]
        sentences = [f"<b>{self.relation}</b>", *[escape(self.reason)] * bool(self.reason)]
        return page(sentences, table(("selected by", "message"), rows))


def relation(a: str | Machine, b: str | Machine, *, dialect: Dialect | str = IBM_MQ, given: Given = None) -> Related:
    """Report whether two selectors select the same messages, some common messages, or none.

    Two selectors are equal if no message is selected by only one of them. If neither selects a message, it may be FALSE
    for one and UNKNOWN for the other. Without *given*, a message is any mapping of names to values. So mqsel does not
    assume that a header always has one type, or that two names are one header.

    Args:
        a: The first selector, a str or a `Matcher`.
        b: The second selector, a str or a `Matcher`.
        dialect: The `Dialect`, or its name, for selectors that are str. The default is IBM_MQ. A Matcher has its own.
        given: What you know about the messages: a selector that is TRUE for every message, a mapping of names to types
            and values, or a `Contract`. The default is None: nothing.

    Returns: a `Related`, with an example message for each part that was found. Each example was run.

    Raises: SelectorError: if a selector is invalid. ArgumentError: if an argument has the wrong type.
    """
    return related(as_selector(a, dialect), as_selector(b, dialect), contract_of(given, dialect))


def related(a: Selector, b: Selector, contract: Contract | None = None, budget: Budget | None = None) -> Related:
    """Relate two selectors that have been read.

    Args:
        a: the first selector.
        b: the second selector.
        contract: what messages are like.
        budget: of the question that this is a part of.
    """
    spelled: dict[str, str] = {}
    a, b = respelled(a, spelled), respelled(b, spelled)
    first, second = match_of(a), match_of(b)
    budget = budget or Budget()
    # The searches begin near a message that each of the two selects, and near the union of the two messages.
    seeds = [_seed(selector.text, selector.dialect) for selector in (a, b)]
    budget.count(sum(steps for _, steps in seeds))
    selected = [message for message, _ in seeds if message is not None]
    like = [dict(pair for message in selected for pair in message.items()), *selected]

    def find(first_formula: Formula, second_formula: Formula, check: Check, like: list[Message]) -> Witness:
        return search(contract, (a, b), (first_formula, second_formula), check, budget.share(), like)

    a_true, b_true = a.formulas.true, b.formulas.true
    both = find(a_true, b_true, lambda message: first(message) and second(message), like)
    like = like if both.message is None else [both.message, *like]
    a_alone = find(a_true, b.not_true, lambda message: first(message) and not second(message), like)
    b_alone = find(b_true, a.not_true, lambda message: second(message) and not first(message), like)
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
    reason = next((witness.reason for witness in (both, a_alone, b_alone) if witness.reason), "")
    return Related(name, both.message, a_alone.message, b_alone.message, reason if name == "not decided" else "")


@functools.lru_cache(512)
def _seed(text: str, dialect: Dialect) -> tuple[Message | None, int]:
    """Return a message that a selector selects, if one is found soon, and the steps that the search took."""
    budget = Budget(_OF_SEED)
    return satisfied(read_selector(text, dialect), None, budget).message, budget.steps - budget.left
