"""Whether two dialects treat the messages of one selector differently, and which of their rules cause it.

Small messages are tried first, because brokers differ on values that no formula describes. Then the solver searches.
Follows language §1 and §2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.search import Given, as_selector, contract_of, search, truth_of
from mqsel.analysis.explain import message_code
from mqsel.analysis.readings import UNDOCUMENTED, Reading, readings
from mqsel.errors import SelectorError
from mqsel.language.advice import NOT_MODELLED
from mqsel.language.dialect import Dialect, as_dialect
from mqsel.language.nodes import Computed, Identifier
from mqsel.language.selector import Selector
from mqsel.logic.formulas import Formula, Leaf, any_of, complement, leaves
from mqsel.logic.solver import Message, Witness, find
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.logic.solver.domains import ANY_PROPERTY, meet, some_values
from mqsel.notebook import code, page, table
from mqsel.values import Truth

_Truths = tuple[Truth | str, Truth | str]
OF_TRIES = 60_000  # steps for small messages
_OF_COMPUTED = 2  # steps for a test that is computed in Python
_TESTED = 4  # leaves and properties that two machines evaluate in one step
_VALUES = 12  # of one property, and those of each kind
_LEAVES = 2_000  # parts of formulas that are looked at for values
_PROPERTIES = 3  # of a small message

# Values that constants of a selector do not suggest: of each kind one.
_OF_EACH_KIND = ("a", 1, True, 1.5, b"\x00")


@dataclass(frozen=True, slots=True)
class Difference:
    """The result of `difference`. It is true if the two dialects differ.

    Attributes:
        message: A message that they treat differently, as a mapping of names to values; None if they only differ in
            whether they accept the selector, and if they don't differ.
        truths: What the selector is for the message in each dialect: TRUE, FALSE or UNKNOWN; "undocumented" if the
            product's documentation doesn't define it; None if the dialect rejects the selector.
        errors: The error of each dialect that rejects the selector; None for the others.
        readings: The choices that cause the difference. If only these change, one dialect agrees with the other.
        is_proved: If they don't differ: whether that is certain.
        tries: The number of messages that were tried.
        reason: Why the result is not certain, for example because mqsel doesn't support a feature of the product.
    """

    message: Message | None = None
    truths: tuple[Truth | str | None, Truth | str | None] = (None, None)
    errors: tuple[SelectorError | None, SelectorError | None] = (None, None)
    readings: tuple[Reading, ...] = ()
    is_proved: bool = False
    tries: int = 0
    reason: str = ""

    def __bool__(self) -> bool:
        is_rejected_by_one = (self.errors[0] is None) != (self.errors[1] is None)
        return self.message is not None or (is_rejected_by_one and not self.reason)

    def _repr_html_(self) -> str:
        verdict = "they differ" if self else "no difference" if self.is_proved else "no difference was found"
        pairs = zip(self.truths, self.errors, strict=True)
        answers = ["rejected" if error else "" if truth is None else str(truth) for truth, error in pairs]
        shown = [(message_code(self.message), *answers)] * any(answers)
        causes = [(code(reading.field), *map(escape, reading.meanings)) for reading in self.readings]
        return page(
            [f"<b>{verdict}</b>", *[escape(self.reason)] * bool(self.reason)],
            table(("message", "the first", "the second"), shown),
            table(("because of", "", ""), causes),
        )


def difference(text: str, dialect_a: Dialect | str, dialect_b: Dialect | str, *, given: Given = None) -> Difference:
    """Return a message that two dialects treat differently, and the rules that cause it, or that there is none.

    A message that only one dialect selects is preferred to a message that is FALSE for one and UNKNOWN or undocumented
    for the other. If an error makes the complete selector false, the result counts as FALSE.

    Args:
        text: The selector, a str.
        dialect_a: The first `Dialect`, or its name.
        dialect_b: The second `Dialect`, or its name.
        given: What you know about the messages, as for `relation`. A selector is read in the first dialect.

    Returns: a `Difference`. A selector that only one dialect accepts is a difference. If mqsel doesn't support a
        feature of a product, the result is "not decided".

    Raises: ArgumentError: if *text* is not a str, or a dialect doesn't exist.
    """
    dialects = as_dialect(dialect_a), as_dialect(dialect_b)
    contract = contract_of(given, dialects[0])
    budget = Budget()
    errors: list[SelectorError | None] = []
    selectors: list[Selector] = []
    for dialect in dialects:
        try:
            selectors.append(as_selector(text, dialect))
            errors.append(None)
        except SelectorError as error:
            errors.append(error)
    if len(selectors) < 2:
        return _rejected(text, dialects, (errors[0], errors[1]), budget)
    a, b = selectors
    message, tries = _tried(a, b, contract, budget.share(OF_TRIES))
    reason = ""
    if message is None or not _is_selected_by_one((truth_of(a, message), truth_of(b, message))):
        pairs = (a.formulas.true, b.not_true), (b.formulas.true, a.not_true)
        witness = _solved(a, b, contract, pairs, _is_selected_by_one, budget)
        reason, message = witness.reason, message if witness.message is None else witness.message
    if message is None:
        pairs = (a.formulas.unknown, _false(b)), (b.formulas.unknown, _false(a))
        witness = _solved(a, b, contract, pairs, lambda _: True, budget)
        reason, message = reason or witness.reason, witness.message
    if message is None:
        return Difference(is_proved=not reason, tries=tries, reason=reason)
    truths = truth_of(a, message), truth_of(b, message)
    causes = readings(text, message, *dialects, budget)
    return Difference(message, truths, readings=causes, tries=tries, reason="" if Truth.TRUE in truths else reason)


def _rejected(
    text: str,
    dialects: tuple[Dialect, Dialect],
    errors: tuple[SelectorError | None, SelectorError | None],
    budget: Budget,
) -> Difference:
    """Return how two dialects differ of which at least one rejects the text."""
    unsupported = next((error.message for error in errors if error is not None and NOT_MODELLED in error.message), "")
    if unsupported:
        return Difference(errors=errors, reason=unsupported)
    if None not in errors:
        return Difference(errors=errors, is_proved=True)
    return Difference(errors=errors, readings=readings(text, {}, *dialects, budget))


# ---- messages --------------------------------------------------------------------------------------------------------


def _is_selected_by_one(truths: _Truths) -> bool:
    return Truth.TRUE in truths and UNDOCUMENTED not in truths


def _false(selector: Selector) -> Formula:
    return any_of((selector.formulas.false, selector.formulas.error))


def _tried(a: Selector, b: Selector, contract: Contract | None, budget: Budget) -> tuple[Message | None, int]:
    """Try small messages: of a contract, with what it requires.

    Returns: the first that one selects and the other does not; else the first with different truths; how many were
        tried.
    """
    differing: Message | None = None
    tries = 0
    messages = small_messages((a, b), budget)
    if contract is not None:
        conditions, allows = contract.bound([*a.properties, *b.properties], a.naming)
        least = find(conditions, allows, budget).message
        if least is None:
            return None, 0
        messages = filter(allows, ({**least, **message} for message in messages))
    for tries, message in enumerate(messages, 1):
        truths = truth_of(a, message), truth_of(b, message)
        if truths[0] != truths[1]:
            if _is_selected_by_one(truths):
                return message, tries
            differing = differing or message
    return differing, tries


def _solved(
    a: Selector,
    b: Selector,
    contract: Contract | None,
    pairs: Iterable[tuple[Formula, ...]],
    is_wanted: Callable[[_Truths], bool],
    budget: Budget,
) -> Witness:
    """Search a message that makes both formulas of a pair true."""

    def check(message: Message) -> bool:
        truths = truth_of(a, message), truth_of(b, message)
        return truths[0] != truths[1] and is_wanted(truths)

    reason = ""
    for pair in pairs:
        witness = search(contract, (a, b), pair, check, budget.share())
        if witness.message is not None:
            return witness
        reason = reason or witness.reason
    return Witness(None, reason)


def small_messages(selectors: Sequence[Selector], budget: Budget) -> Iterator[Message]:
    """Return messages of few properties, with the values that the constants of the selectors suggest.

    Args:
        selectors: what selects them.
        budget: pays for the search of texts that patterns match, and for the truths of each message.
    """
    size = sum(len(selector.names) + len(leaves(selector.formulas.true)) for selector in selectors)
    computed = sum(type(node) is Computed for selector in selectors for node in selector.order)
    of_try = 2 + size // _TESTED + _OF_COMPUTED * computed
    values = _values(selectors, budget)
    for count in range(min(len(values), _PROPERTIES) + 1):
        for few in itertools.combinations(values, count):
            for chosen in itertools.product(*[values[name] for name in few]):
                if budget.left < of_try:
                    return
                budget.count(of_try)
                yield dict(zip(few, chosen, strict=True))


def _values(selectors: Sequence[Selector], budget: Budget) -> dict[str, list[Any]]:
    """List for each property values on either side of what is said of it, small ones first."""
    values: dict[str, dict[tuple[type, str], Any]] = {name: {} for each in selectors for name in each.names.values()}
    truths = (truth for selector in selectors for truth in selector.formulas.truths)
    parts = itertools.chain.from_iterable(map(leaves, truths))
    for part in itertools.islice(parts, _LEAVES):
        if isinstance(part, Leaf) and isinstance(part.subject, Identifier):
            own = values[part.subject.name]
            for leaf in (part, complement(part)):
                if isinstance(leaf, Leaf) and len(own) < _VALUES:
                    with suppress(UndecidedError):
                        for value in some_values(meet(ANY_PROPERTY, leaf.values), budget, 2):
                            own.setdefault((type(value), repr(value)), value)
    for own in values.values():
        own.update({(type(value), repr(value)): value for value in _OF_EACH_KIND})
        own.pop((type(None), "None"), None)
    # A text without characters is short, and looks like a mistake.
    return {
        name: sorted(own.values(), key=lambda value: 9 if value == "" else len(repr(value)))
        for name, own in values.items()
    }
