"""Finds a message of which some formulas of the normal form are true, or proves that there is none.

A search over the choices of OR: what must hold narrows what each property may be, a choice that is left alone must
hold, too, and the rest are tried one after the other. There is an answer as soon as one message passes the check, which
runs the matchers; there is none if every way ends in nothing; and where the work that is allowed runs out before, that
is what is said. Knows sets, no dialect and no three values. Follows language §1 and §5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from mqsel.errors import PropertyTypeError
from mqsel.language.nodes import Arithmetic, Computed, Identifier, Literal, Node, children, unparse, walk
from mqsel.logic.formulas import ALWAYS, NEVER, All, Compared, Formula, Leaf, Relation, leaves
from mqsel.logic.formulas import Any as AnyOf
from mqsel.logic.sets import Values
from mqsel.logic.solver.automata import unconfirmed
from mqsel.logic.solver.boxes import Check, solve
from mqsel.logic.solver.budget import OF_LEAF, Budget, UndecidedError
from mqsel.logic.solver.domains import Domain, any_of, is_empty, meet, some_values
from mqsel.logic.solver.trials import try_out

Message = dict[str, Any]

_TEXTS = 5  # listed texts that are matched with a pattern in one step
_INTERVALS = 8  # of numbers, that two sets have in common, in one step
_COPIED = 32  # domains and clauses that are copied for a branch in one step
_TESTED = 8  # leaves that the matchers evaluate in one step


class Witness(NamedTuple):
    """What a search came to.

    Attributes:
        message: one of which the formulas are true; None if there is none, or none was found.
        reason: why it is not decided; empty if it is.
    """

    message: Message | None
    reason: str = ""

    @property
    def is_none(self) -> bool:
        """Whether it is proved that there is none."""
        return self.message is None and not self.reason


# What tells a subject from all others: the name of a property, or arithmetic in words.
_Key = str | tuple[object, ...]


class _Case(NamedTuple):
    """What must hold on one way, all of it: it is never changed, but copied.

    Attributes:
        domains: what each subject may be that something is said of.
        relations: what comparing two subjects must give, the lesser of their keys first.
        clauses: of each, one part.
    """

    domains: dict[_Key, Domain]
    relations: dict[tuple[_Key, _Key], Compared]
    clauses: list[tuple[Formula, ...]]


def find(formulas: Iterable[Formula], check: Check, budget: Budget, *, like: Sequence[Message] = ()) -> Witness:
    """Find a message.

    Args:
        formulas: all of them must be true of it.
        check: runs the matchers; a message for which one of them has no answer, or is none, does not pass.
        budget: pays for all of it: the search ends if it is used up.
        like: messages whose values are tried first if values must be tried.

    Returns: a message that passes the check, from which nothing can be left out, if it is not one of hundreds of
        properties.
    """
    wanted = [*formulas]
    if any(part is NEVER for part in wanted):
        return Witness(None)
    of_check = steps_of_check(wanted)
    budget.count(2 * of_check)  # to look at all leaves

    def passes(message: Message) -> bool:
        budget.spend(of_check)
        try:
            return check(message)
        except PropertyTypeError:  # undocumented; or names that are one to one of the matchers, and two to another
            return False

    search = _Solver(passes, like, budget)
    reason = ""
    stack: list[tuple[_Case, Sequence[Formula]]] = [(_Case({}, {}, []), wanted)]
    try:
        while stack:
            branch, asserted = stack.pop()
            try:
                narrowed = search.narrow(branch, asserted)
                if narrowed is None:
                    continue
                if narrowed.clauses:
                    at = min(range(len(narrowed.clauses)), key=lambda at: len(narrowed.clauses[at]))
                    rest = narrowed._replace(clauses=narrowed.clauses[:at] + narrowed.clauses[at + 1 :])
                    stack += [(rest, (part,)) for part in reversed(narrowed.clauses[at])]
                    continue
                message = search.settle(narrowed)
            except UndecidedError as error:
                budget.spend(0)
                reason = reason or str(error)
                continue
            if message is not None:
                return Witness(smaller(message, passes))
    except UndecidedError as error:
        reason = reason or str(error)
    return Witness(None, reason)


def steps_of_check(formulas: Iterable[Formula]) -> int:
    """Return how many steps the matchers need for a message: a computed test is evaluated node by node, in Python."""
    every = [node for formula in formulas for node in leaves(formula)]
    tested = {id(node.subject): node.subject for node in every if isinstance(node, Leaf)}.values()
    return 1 + len(every) // _TESTED + sum(2 * len(walk(node.expression)) for node in tested if type(node) is Computed)


def smaller(message: Message, check: Check) -> Message:
    """Leave out what a message does not need to pass the check, and write small numbers if any number does.

    The message stays as large as it is if the budget of the check is used up.
    """
    with suppress(UndecidedError):
        for smaller_message in _smaller(message, check):
            message = smaller_message
    return message


def _smaller(message: Message, check: Check) -> Iterator[Message]:
    """Yield messages that pass the check, each smaller than the one before.

    Raises: UndecidedError: the check has no steps left.
    """
    present = {name: value for name, value in message.items() if value is not None}
    if check(present):
        message = present
        yield message
    for name in [*message] if len(message) <= _MANY else ():
        less = {key: value for key, value in message.items() if key != name}
        if check(less):
            message = less
            yield message
    for name, value in message.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and len(str(value)) > _LONG:
            for number in _SMALL:
                less = {**message, name: type(value)(number)}
                if abs(number) < abs(value) and check(less):
                    message = less
                    yield message
                    break


_SMALL = (0, 1, 2, 3, 5, 10, 100, 1000, -1, -2, -3, -5, -10, -100, -1000)
_MANY = 200  # properties, of which each would be left out and all others read again
_LONG = 6  # digits that nobody wants to read


class _Solver:
    """What all ways of one search share.

    Attributes:
        subjects: by key, one of those that have it.
    """

    def __init__(self, check: Check, like: Sequence[Message], budget: Budget) -> None:
        self.check = check
        self.like = like
        self.budget = budget
        self.subjects: dict[_Key, Node] = {}
        self.keys: dict[int, tuple[Node, _Key]] = {}

    def key(self, subject: Node) -> _Key:
        if type(subject) is Identifier:
            self.subjects.setdefault(subject.name, subject)
            return subject.name
        if id(subject) not in self.keys:
            made = _said(subject)
            self.keys[id(subject)] = subject, made
            self.subjects.setdefault(made, subject)
        return self.keys[id(subject)][1]

    def domain(self, branch: _Case, leaf: Leaf) -> tuple[_Key, Domain]:
        """Return what the subject of a leaf may be before."""
        key = self.key(leaf.subject)
        return key, branch.domains.get(key) or any_of(leaf.subject)

    def pair(self, relation: Relation) -> tuple[tuple[_Key, _Key], Compared]:
        """Return the keys of a relation in order, and its outcomes in that order."""
        left, right, outcomes = self.key(relation.left), self.key(relation.right), relation.outcomes
        if left == right:
            return (left, right), outcomes & ~_OF_TWO
        if repr(left) > repr(right):
            turned = outcomes & ~(Compared.LESS | Compared.GREATER)
            turned |= Compared.GREATER if outcomes & Compared.LESS else Compared(0)
            turned |= Compared.LESS if outcomes & Compared.GREATER else Compared(0)
            return (right, left), turned
        return (left, right), outcomes

    def narrow(self, branch: _Case, asserted: Iterable[Formula]) -> _Case | None:
        """Add what must hold, and what follows from it; None if it cannot.

        Raises: UndecidedError.
        """
        self.budget.spend((len(branch.domains) + len(branch.relations) + 2 * len(branch.clauses)) // _COPIED)
        made = _Case(dict(branch.domains), dict(branch.relations), list(branch.clauses))
        if not self.add(made, asserted):
            return None
        is_changed = True
        while is_changed:
            is_changed = False
            waiting, made.clauses[:] = [*made.clauses], []
            for clause in waiting:
                parts: list[Formula] = []
                for part in clause:
                    holds = self.holds(made, part)
                    if holds:
                        break
                    if holds is None:
                        parts.append(part)
                else:
                    if not parts:
                        return None
                    if len(parts) > 1:
                        made.clauses.append(tuple(parts))
                    elif self.add(made, parts):
                        is_changed = True
                    else:
                        return None
        return made

    def add(self, branch: _Case, formulas: Iterable[Formula]) -> bool:
        """Add formulas that must hold to a branch; False if they cannot."""
        stack = [*formulas][::-1]
        changed: dict[_Key, None] = {}  # whether a set is empty may take long: it is asked once
        while stack:
            formula = stack.pop()
            self.budget.spend(OF_LEAF)
            if isinstance(formula, Leaf):
                key, domain = self.domain(branch, formula)
                branch.domains[key] = self.meet(domain, formula.values)
                changed[key] = None
            elif isinstance(formula, Relation):
                pair, outcomes = self.pair(formula)
                outcomes &= branch.relations.get(pair, ~Compared(0))
                if not outcomes:
                    return False
                branch.relations[pair] = outcomes
            elif isinstance(formula, All) or len(formula.parts) == 1:
                stack += reversed(formula.parts)
            else:
                branch.clauses.append(formula.parts)
        return not any(is_empty(branch.domains[key], self.budget) for key in changed)

    def meet(self, domain: Domain, values: Values) -> Domain:
        if domain.strings.points and values.strings.patterns:
            self.budget.spend(len(domain.strings.points) * len(values.strings.patterns) // _TEXTS)
        self.budget.spend((len(domain.integers) + len(values.integers) + len(domain.strings.others)) // _INTERVALS)
        return meet(domain, values)

    def holds(self, branch: _Case, formula: Formula) -> bool | None:
        """Report whether a part of a clause must hold, or cannot; None if both may be."""
        self.budget.spend(OF_LEAF)
        if isinstance(formula, Leaf):
            _, domain = self.domain(branch, formula)
            met = self.meet(domain, formula.values)
            return True if met == domain else False if is_empty(met, self.budget) else None
        if isinstance(formula, Relation):
            pair, outcomes = self.pair(formula)
            known = branch.relations.get(pair)
            if known is None:
                return None if outcomes else False
            return True if not known & ~outcomes else None if known & outcomes else False
        if isinstance(formula, All):
            every = True
            for part in formula.parts:
                holds = self.holds(branch, part) if not isinstance(part, AnyOf) else None
                if holds is False:
                    return False
                every = every and holds is True
            return True if every else None
        return True if formula is ALWAYS else None

    def settle(self, branch: _Case) -> Message | None:
        """Return each property a value; None if there are none.

        Raises: UndecidedError.
        """
        domains = {key: domain for key, domain in branch.domains.items() if type(key) is str}
        computed = [(self.subjects[key], domain) for key, domain in branch.domains.items() if type(key) is not str]
        related = [
            Relation(self.subjects[left], self.subjects[right], outcomes)
            for (left, right), outcomes in branch.relations.items()
        ]
        # NULL is said: for `x`, `usr.x` would be read, where a dialect takes them for one. `smaller` leaves it out.
        message = {name: next(some_values(domain, self.budget)) for name, domain in domains.items()}
        if any(type(root) is Computed for root, _ in computed):
            return try_out(computed, related, domains, message, self.check, self.like, self.budget)
        if computed or related:
            return solve(domains, computed, related, message, self.check, self.like, self.budget)
        if not self.check(message):
            raise unconfirmed()
        return message


# What comparing two values that are one cannot give.
_OF_TWO = Compared.LESS | Compared.GREATER | Compared.DIFFERENT


def _said(subject: Node) -> _Key:
    """Return what arithmetic computes: two of which it is equal compute the same.

    Of trees, -0.0 equals 0.0, and NaN nothing: numbers are told apart by their spelling. The first two operands of a
    sum or a product may change places.
    """
    said: dict[int, tuple[object, ...]] = {}
    for node in walk(subject):
        below = [said[id(one)] for one in children(node)]
        if isinstance(node, Identifier):
            said[id(node)] = "property", node.name
        elif isinstance(node, Literal):
            said[id(node)] = node.kind, repr(node.value)
        elif isinstance(node, Computed):
            said[id(node)] = "test", unparse(node.expression, node.dialect), node.dialect, *below
        elif isinstance(node, Arithmetic):
            if node.operators[0] in "+*":
                below[:2] = sorted(below[:2], key=repr)
            said[id(node)] = "arithmetic", node.rule, *node.operators, *below
        else:
            said[id(node)] = "sign", node[0], *below
    return said[id(subject)]
