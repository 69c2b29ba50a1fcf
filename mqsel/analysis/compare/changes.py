"""What a change of a selector does: how many messages it adds and drops, examples, and selectors for exactly these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.gaps import text_of_difference
from mqsel.analysis.compare.search import match_of
from mqsel.analysis.explain import in_words, message_code
from mqsel.language.selector import Selector
from mqsel.logic.solver import Message, smaller
from mqsel.logic.solver.budget import Budget
from mqsel.notebook import code, page, table

EXAMPLES = 3  # of each kind


class ChangeExample(NamedTuple):
    """A message that only one of two selectors selects.

    Attributes:
        message: Its properties; for a row of columns those that the selectors read.
        least: The properties that matter.
        place: Its location as FILE:LINE; empty for a row.
        text: Its text in the file; empty for a row, and for a message in bytes.
    """

    message: Message
    least: Message
    place: str = ""
    text: str = ""


class ChangedSide(NamedTuple):
    """The messages that the new selector adds, or those that it drops.

    Attributes:
        messages: The number of these messages.
        selector: A selector that is TRUE for exactly such messages; empty if no short one was found.
        examples: The first of these messages, each a `ChangeExample`.
    """

    messages: int
    selector: str
    examples: tuple[ChangeExample, ...]

    def lines(self, word: str) -> Iterator[str]:
        """Yield what there is to say, for people."""
        for example in self.examples:
            least = in_words(example.least)
            head = ": ".join(filter(None, (example.place, example.text)))
            yield from (f"{word:7} {head}", f"{'':7} for {least}") if head else [f"{word:7} {least}"]
        if self.messages > len(self.examples):
            yield f"{word:7} … and {self.messages - len(self.examples):,} more"
        if self.selector and self.messages:
            yield f"exactly the {word} messages: {self.selector}"


class SelectionChange(NamedTuple):
    """What changes if you replace one selector by another. It is true if a message is added or dropped.

    Attributes:
        messages: The number of messages that were compared.
        gained: The messages that only the new selector selects, a `ChangedSide`.
        lost: The messages that only the old selector selects, a `ChangedSide`.
    """

    messages: int
    gained: ChangedSide
    lost: ChangedSide

    def __bool__(self) -> bool:
        return bool(self.gained.messages or self.lost.messages)

    def __str__(self) -> str:
        counts = f"{_messages(self.messages)}, {self.gained.messages:,} added, {self.lost.messages:,} dropped"
        return "\n".join([counts, *self.gained.lines("added"), *self.lost.lines("dropped")])

    def _repr_html_(self) -> str:
        sides = ((self.gained, "added"), (self.lost, "dropped"))
        rows = [(f"{side.messages:,}", word, code(side.selector)) for side, word in sides]
        examples = [
            (word, escape(example.place), message_code(example.message), message_code(example.least))
            for side, word in sides
            for example in side.examples
        ]
        heads = (("messages", "", "exactly these messages"), ("", "location", "message", "the properties that matter"))
        return page(
            [f"<b>{_messages(self.messages)}</b>"],
            table(heads[0], rows, numbers=1),
            table(heads[1], examples) if examples else "",
        )


def _messages(count: int) -> str:
    return f"{count:,} message{'s' * (count != 1)}"


def selection_change(
    old: Selector | None,
    new: Selector | None,
    messages: int,
    counts: Mapping[bool, int],
    examples: Mapping[bool, Sequence[tuple[Message, str, str]]],
    contract: Contract | None = None,
) -> SelectionChange:
    """Return what changes if a selector is replaced by another.

    Args:
        old: the selector before; None for one that is new.
        new: the selector after the change; None for one that is gone.
        messages: the number of messages that were compared.
        counts: how many messages are added (True) and dropped (False).
        examples: some messages that are added (True) and dropped (False), each with its place and its text.
        contract: what messages are like, for the selectors of exactly what is added and dropped.
    """
    selectors = [selector for selector in (old, new) if selector is not None]
    budget = Budget()
    added, dropped = [
        ChangedSide(
            counts.get(is_gained, 0),
            _text_of(*pair, contract, budget.share()),
            tuple([ChangeExample(one, _least(one, selectors), *more) for one, *more in examples.get(is_gained, ())]),
        )
        for is_gained, pair in ((True, (new, old)), (False, (old, new)))
    ]
    return SelectionChange(messages, added, dropped)


def _text_of(first: Selector | None, second: Selector | None, contract: Contract | None, budget: Budget) -> str:
    """Return a selector for exactly what only the first of two selectors selects; empty if none is found."""
    if first is None:
        return ""
    return first.text if second is None else text_of_difference(first, second, contract, budget)


def _least(message: Message, selectors: Sequence[Selector]) -> Message:
    """Return what is left of a message when all is left out that the selectors do not differ about."""
    names = {name for selector in selectors for name in selector.properties}
    matches = [match_of(selector) for selector in selectors]

    def differs(candidate: Message) -> bool:
        return len({match(candidate) for match in matches} | ({False} if len(matches) == 1 else set())) == 2

    own: dict[str, Any] = {name: value for name, value in message.items() if name in names}
    return smaller(own, differs) if differs(own) else own
