"""Compares two selectors, or one selector in two dialects, by the messages that they select.

TRUE of a selector is a formula of the normal form, and so is its complement. The solver searches for a message of
which TRUE of one selector and the complement of the other hold; the machine evaluates it before it is reported. For two
dialects small messages are tried first. Follows language §1 and §2.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.explain import message_code
from mqsel.analysis.readings import UNDOCUMENTED, Reading, answer, counted, readings
from mqsel.carets import Span, in_one_line, quoted, type_name
from mqsel.errors import ArgumentError, SelectorError
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect, core_of
from mqsel.language.nodes import And, Computed, Identifier, Node
from mqsel.language.optimizer import optimize
from mqsel.language.selector import Selector, read_selector
from mqsel.language.wordings import NOT_MODELLED
from mqsel.logic.formulas import Formula, Leaf, any_of, complement, leaves
from mqsel.logic.normal import Normal, normal, true_of
from mqsel.logic.solver import Message, Witness, find
from mqsel.logic.solver.boxes import Check
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.logic.solver.domains import ANY_PROPERTY, meet, some_values
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.machine.origin import check_source
from mqsel.notebook import code, page, table
from mqsel.values import Truth

# What a relation can be. A selector that selects nothing is disjoint from any other, and equal to one like it.
RELATIONS = ("equal", "disjoint", "a within b", "b within a", "overlapping", "not decided")


class Known(NamedTuple):
    """What the comparison of selectors takes of one."""

    selector: Selector
    normal: Normal
    machine: Machine

    @property
    def names(self) -> list[str]:
        """The properties that it reads."""
        return [*dict.fromkeys(self.selector.names.values())]

    @property
    def others(self) -> Formula:
        """Where it is not TRUE."""
        return complement(self.normal.true)

    def spelled(self, names: dict[str, str]) -> Known:
        """Return it with names as they stand in *names* by their casefold, or else go there, if case does not count."""
        if self.selector.naming != "folded":
            return self
        own = {written: names.setdefault(name.casefold(), name) for written, name in self.selector.names.items()}
        selector = self.selector._replace(names=own)
        return self if own == self.selector.names else self._replace(selector=selector, normal=normal(selector))

    @property
    def is_plain(self) -> bool:
        """Whether it has an answer for each message."""
        core = core_of(self.selector.dialect)
        return core.is_documented and core.naming != "folded"

    @property
    def matches(self) -> Callable[[Message], bool]:
        """What reports whether it selects a message: not if it has no answer."""
        if self.is_plain:
            return self.machine.matches
        return lambda message: self.truth(message) is Truth.TRUE

    def truth(self, message: Message) -> Truth | str:
        """Return the truth of a message as `evaluate` does, or that it is undocumented: ERR counts as FALSE."""
        return counted(answer(self.machine, message))


def made(text: str, dialect: Dialect) -> Known:
    """Read a selector.

    Raises: SelectorError.
    """
    selector = read_selector(text, dialect)
    return Known(selector, normal(selector), Machine(lower(optimize(selector))))


known = functools.lru_cache(512)(made)


def taken(given: str | Machine, dialect: Dialect | str) -> Known:
    """Return what is known of a selector: of a text, to be read as *dialect*, or of a matcher, which has one.

    Raises: SelectorError. ArgumentError: neither. ProgramError: the text of the matcher is not what it runs.
    """
    if isinstance(given, Machine):
        check_source(given.program)
        return known(given.program.text, given.program.dialect)
    if not isinstance(given, str):
        raise ArgumentError(f"a selector is a str or a Matcher, found {type_name(given)}")
    return known(str.__str__(given), as_dialect(dialect))


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
        messages = {"both": self.both, "the first alone": self.a_alone, "the second alone": self.b_alone}
        rows = [(who, message_code(one)) for who, one in messages.items() if one is not None]
        sentences = [f"<b>{self.relation}</b>", *[escape(self.reason)] * bool(self.reason)]
        return page(sentences, table(("selected by", "message"), rows))


Given = Contract | Mapping[str, Any] | str | None  # what messages are like: see `contract_of`


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
    selectors: Sequence[Known],
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
    names = [name for one in selectors for name in one.names]
    said, allows = contract.bound(names, selectors[0].selector.naming)
    return find([*said, *formulas], lambda message: allows(message) and check(message), budget, like=like)


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
    return related(taken(a, dialect), taken(b, dialect), contract_of(given, dialect))


def related(a: Known, b: Known, contract: Contract | None = None, budget: Budget | None = None) -> Related:
    """Relate two selectors that have been read.

    Args:
        a: one selector.
        b: the other one.
        contract: what messages are like.
        budget: of the question that this is a part of.
    """
    spelled: dict[str, str] = {}
    a, b = a.spelled(spelled), b.spelled(spelled)
    first, second = a.machine.matches, b.machine.matches
    budget = budget or Budget()
    # Messages that one of the two selects, and what they come to together.
    selected = [_selected(one.selector.text, one.selector.dialect) for one in (a, b)]
    budget.count(sum(steps for _, steps in selected))
    alone = [message for message, _ in selected if message is not None]
    like = [dict(pair for one in alone for pair in one.items()), *alone]

    def found(formulas: tuple[Formula, ...], check: Check, *, like: Sequence[Message]) -> Witness:
        return search(contract, (a, b), formulas, check, budget.share(), like)

    both = found((a.normal.true, b.normal.true), lambda message: first(message) and second(message), like=like)
    like = like if both.message is None else [both.message, *like]
    a_alone = found((a.normal.true, b.others), lambda message: first(message) and not second(message), like=like)
    b_alone = found((b.normal.true, a.others), lambda message: second(message) and not first(message), like=like)
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
    return Related(name, both.message, a_alone.message, b_alone.message, reason if name == "not decided" else "")


@functools.lru_cache(512)
def _selected(text: str, dialect: Dialect) -> tuple[Message | None, int]:
    """Return a message that a selector selects, if one is found soon, and the steps that it took."""
    budget = Budget(_OF_HINT)
    return satisfied(known(text, dialect), None, budget).message, budget.steps - budget.left


_OF_HINT = 25_000


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
    one, contract = taken(a, dialect), contract_of(given, dialect)
    budget = Budget()
    witness = satisfied(one, contract, budget.share())
    if witness.message is not None:
        return Satisfiable(witness.message, "", is_decided=True)
    if witness.reason:
        return Satisfiable(None, f"not decided: {witness.reason}", is_decided=False)
    parts = contradiction(one, contract, budget)
    return Satisfiable(None, _in_words(one, parts), is_decided=True, spans=tuple([part.span for part in parts]))


def contradiction_in_words(one: Known, contract: Contract | None, budget: Budget) -> str:
    """Return why a selector is never TRUE."""
    return _in_words(one, contradiction(one, contract, budget))


def _in_words(one: Known, parts: Iterable[Node]) -> str:
    texts = [quoted(in_one_line(one.selector.text[slice(*part.span)])) for part in parts]
    if len(texts) == 1:
        return f"{texts[0]} is never TRUE"
    return f"{', '.join(texts[:-1])} and {texts[-1]} are never TRUE together"


def contradiction(one: Known, contract: Contract | None, budget: Budget) -> tuple[Node, ...]:
    """List the fewest operands of AND that are not TRUE of one message, of a selector that is never TRUE.

    They are not the fewest if the budget is used up before.

    Args:
        one: the selector.
        contract: what messages are like.
        budget: pays for all searches.
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

        return search(contract, (one,), [formulas[id(part)] for part in rest], check, budget.share()).is_none

    # Halves, quarters and so on are left out while the rest is never TRUE: of many parts few matter.
    size = len(parts) // 2
    while size:
        for at in range((len(parts) - 1) // size * size, -1, -size):
            rest = parts[:at] + parts[at + size :]
            if rest and is_none(rest):
                parts = rest
        size //= 2
    return tuple(parts)


def satisfied(one: Known, contract: Contract | None = None, budget: Budget | None = None) -> Witness:
    """Search a message that a selector selects.

    Args:
        one: the selector.
        contract: what messages are like.
        budget: of the question that this is a part of.
    """
    return search(contract, (one,), (one.normal.true,), one.machine.matches, budget or Budget())


# ---- dialects --------------------------------------------------------------------------------------------------------

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
        is_refused_by_one = (self.errors[0] is None) != (self.errors[1] is None)
        return self.message is not None or (is_refused_by_one and not self.reason)

    def _repr_html_(self) -> str:
        verdict = "they differ" if self else "no difference" if self.is_proved else "no difference was found"
        pairs = zip(self.truths, self.errors, strict=True)
        answers = ["refused" if error else "" if truth is None else str(truth) for truth, error in pairs]
        shown = [(message_code(self.message), *answers)] * any(answers)
        causes = [(code(one.field), *map(escape, one.meanings)) for one in self.readings]
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
    read: list[Known] = []
    for dialect in dialects:
        try:
            read.append(taken(text, dialect))
            errors.append(None)
        except SelectorError as error:
            errors.append(error)
    if len(read) < 2:
        is_one = errors[0] is None or errors[1] is None
        unknown = next((one.message for one in errors if one is not None and NOT_MODELLED in one.message), "")
        if unknown:
            return Difference(errors=(errors[0], errors[1]), reason=unknown)
        parts = readings(text, {}, *dialects, budget) if is_one else ()
        return Difference(errors=(errors[0], errors[1]), readings=parts, is_proved=not is_one)
    a, b = read
    message, tries = _tried(a, b, contract, budget.share(OF_TRIES))
    reason = ""
    if message is None or not _is_selected_by_one((a.truth(message), b.truth(message))):
        pairs = (a.normal.true, b.others), (b.normal.true, a.others)
        witness = _found(a, b, contract, pairs, _is_selected_by_one, budget)
        reason, message = witness.reason, message if witness.message is None else witness.message
    if message is None:
        pairs = (a.normal.unknown, _false(b)), (b.normal.unknown, _false(a))
        witness = _found(a, b, contract, pairs, lambda _: True, budget)
        reason, message = reason or witness.reason, witness.message
    if message is None:
        return Difference(is_proved=not reason, tries=tries, reason=reason)
    truths = a.truth(message), b.truth(message)
    parts = readings(text, message, *dialects, budget)
    return Difference(message, truths, readings=parts, tries=tries, reason="" if Truth.TRUE in truths else reason)


# ---- messages --------------------------------------------------------------------------------------------------------


def _is_selected_by_one(truths: _Truths) -> bool:
    return Truth.TRUE in truths and UNDOCUMENTED not in truths


def _false(one: Known) -> Formula:
    return any_of((one.normal.false, one.normal.error))


def _tried(a: Known, b: Known, contract: Contract | None, budget: Budget) -> tuple[Message | None, int]:
    """Try small messages: of a contract, with what it requires.

    Returns: the first that one selects and the other does not; else the first with different truths; how many were
        tried.
    """
    known_by: Message | None = None
    tries = 0
    messages = small_messages((a.selector, b.selector), (a.normal, b.normal), budget)
    if contract is not None:
        said, allows = contract.bound([*a.names, *b.names], a.selector.naming)
        least = find(said, allows, budget).message
        if least is None:
            return None, 0
        messages = filter(allows, ({**least, **one} for one in messages))
    for tries, message in enumerate(messages, 1):
        truths = a.truth(message), b.truth(message)
        if truths[0] != truths[1]:
            if _is_selected_by_one(truths):
                return message, tries
            known_by = known_by or message
    return known_by, tries


def _found(
    a: Known,
    b: Known,
    contract: Contract | None,
    pairs: Iterable[tuple[Formula, ...]],
    is_wanted: Callable[[_Truths], bool],
    budget: Budget,
) -> Witness:
    """Search a message that makes both formulas of a pair true."""

    def check(message: Message) -> bool:
        truths = a.truth(message), b.truth(message)
        return truths[0] != truths[1] and is_wanted(truths)

    reason = ""
    for pair in pairs:
        witness = search(contract, (a, b), pair, check, budget.share())
        if witness.message is not None:
            return witness
        reason = reason or witness.reason
    return Witness(None, reason)


def small_messages(selectors: Sequence[Selector], normals: Sequence[Normal], budget: Budget) -> Iterator[Message]:
    """Return messages of few properties, with the values that the constants of the selectors suggest.

    Args:
        selectors: what selects them.
        normals: the normal form of each.
        budget: pays for the search of texts that patterns match, and for the truths of each message.
    """
    size = sum(len(one.names) for one in selectors) + sum(len(leaves(one.true)) for one in normals)
    computed = sum(type(node) is Computed for one in selectors for node in one.order)
    of_try = 2 + size // _TESTED + _OF_COMPUTED * computed
    values = _values(dict.fromkeys(name for one in selectors for name in one.names.values()), normals, budget)
    for count in range(min(len(values), _PROPERTIES) + 1):
        for few in itertools.combinations(values, count):
            for chosen in itertools.product(*[values[name] for name in few]):
                if budget.left < of_try:
                    return
                budget.count(of_try)
                yield dict(zip(few, chosen, strict=True))


def _values(names: Iterable[str], normals: Iterable[Normal], budget: Budget) -> dict[str, list[Any]]:
    """List for each property values on either side of what is said of it, small ones first."""
    found: dict[str, dict[tuple[type, str], Any]] = {name: {} for name in names}
    parts = itertools.chain.from_iterable(leaves(part) for read in normals for part in read.truths)
    for one in itertools.islice(parts, _LEAVES):
        if isinstance(one, Leaf) and isinstance(one.subject, Identifier):
            own = found[one.subject.name]
            for leaf in (one, complement(one)):
                if isinstance(leaf, Leaf) and len(own) < _VALUES:
                    with suppress(UndecidedError):
                        for value in some_values(meet(ANY_PROPERTY, leaf.values), budget, 2):
                            own.setdefault((type(value), repr(value)), value)
    for own in found.values():
        own.update({(type(value), repr(value)): value for value in _OF_EACH_KIND})
        own.pop((type(None), "None"), None)
    # A text without characters is short, and looks like a mistake.
    return {
        name: sorted(own.values(), key=lambda one: 9 if one == "" else len(repr(one))) for name, own in found.items()
    }
