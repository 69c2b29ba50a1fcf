"""Writes a selector for another product, with the proof that it selects the same messages there.

A message is canonical: it has headers of JMS and typed properties, and each product sees them under its own names
(`mqsel.names.HEADER_NAMES`). Selectors are read with canonical names in both dialects, and the formulas of the normal
form are compared: test by test, each where it is TRUE, or FALSE under a NOT, as Kleene's connectives keep that; or as a
whole. Where a test differs, rewrites of it are tried (`mqsel.analysis.compare.rewrites`). Follows language §1 and §2.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from mqsel.analysis.compare.canonical import Refused, canonical, named_in, names_of, possible
from mqsel.analysis.compare.contract import Contract, header_of
from mqsel.analysis.compare.meaning import (
    DOUBLE,
    ONE_LINE,
    PROVED,
    RULES,
    Kinds,
    Meaning,
    difference_of,
    meaning,
    part_of,
    possible_kinds,
    tried,
)
from mqsel.analysis.compare.rewrites import candidates, inward, tests_of, with_tests
from mqsel.analysis.compare.satisfiable import satisfied
from mqsel.analysis.compare.search import Given, contract_of, search
from mqsel.analysis.explain import message_code
from mqsel.analysis.readings import Reading, readings
from mqsel.errors import SelectorError, SelectorLimitError
from mqsel.language.checker import remark
from mqsel.language.dialect import Dialect, as_dialect, core_of
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Identifier,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    unparse,
    walk,
)
from mqsel.language.selector import as_text, read_selector
from mqsel.logic.solver import Message, Witness
from mqsel.logic.solver.budget import STEPS, Budget, UndecidedError
from mqsel.notebook import code, page, table
from mqsel.values import Truth

VERDICTS = ("same", "translated", "differs", "refused", "not decided")
_LESS = ((ONE_LINE, "string"), (DOUBLE, "number"))  # of each kind what is less to assume
_OF_CHARACTER = 4  # steps to write and read a whole selector
_OF_TEST = 40  # steps for a test whose candidate is remembered
_OF_CANDIDATE = 20  # steps to write and read a candidate for a test
_OF_NODE = 8  # and for each of its nodes
_OF_CHOICE = STEPS // 2  # steps to choose a candidate
_OF_PROOFS = 7 * STEPS // 8  # steps for all proofs; the rest is for the search of a difference
MAX_UNDECIDED = 6  # candidates for one test that are neither proved nor refuted


@dataclass(frozen=True, slots=True)
class Migrated:
    """The result of `migrate`.

    Attributes:
        verdict: One of `VERDICTS`.
        text: The selector for the new product, which may be the old one; empty if there is none.
        assumes: The properties that are assumed to have one type, or to be missing, each as (name, kind of value).
        message: If it differs: an example message, as a mapping of names to values.
        truths: What the selector and the text that was tried are for that message; None without a message.
        reason: Why the selector is unsupported or not decided, or a remark; otherwise empty.
        advice: What you can do instead; empty if there is nothing.
        readings: The choices of the dialects that cause the difference.
        tried: If it differs: the nearest text that the new product accepts.
    """

    verdict: str
    text: str = ""
    assumes: Kinds = ()
    message: Message | None = None
    truths: tuple[Truth | str, Truth | str] | None = None
    reason: str = ""
    advice: str = ""
    readings: tuple[Reading, ...] = ()
    tried: str = ""

    def __bool__(self) -> bool:
        return self.verdict in ("same", "translated")

    def _repr_html_(self) -> str:
        said = [f"if {self.condition()}"] * bool(self.assumes) + [self.reason, self.advice]
        answers = () if self.truths is None else ((message_code(self.message), *map(escape, map(str, self.truths))),)
        return page(
            [f"<b>{self.verdict}</b>", *[code(self.text)] * bool(self.text), *[escape(one) for one in said if one]],
            table(("message", "now", "there"), answers),
        )

    def condition(self) -> str:
        """Return what is assumed, in words; empty for nothing."""
        names: dict[str, list[str]] = {}
        for name, kind in self.assumes:
            names.setdefault(kind, []).append(name)
        each = ((f"each of {', '.join(many)}" if len(many) > 1 else many[0], kind) for kind, many in names.items())
        return " and ".join([f"{who} is a {kind} or missing" for who, kind in each])


def migrate(text: str, source: Dialect | str, target: Dialect | str, given: Given = None) -> Migrated:
    """Rewrite a selector for another product, so that it selects the same messages, and prove that.

    mqsel assumes that each JMS header has its type, and that a property may have any type, but is never NaN or -0.0. If
    the two selectors only agree for properties of one type, the result names that assumption.

    Args:
        text: The selector, a str.
        source: The `Dialect`, or its name, of the product that reads the selector today.
        target: The `Dialect`, or its name, of the new product.
        given: What you know about the messages, with JMS names for headers: see `relation`. The default is None.

    Raises: SelectorError: if the selector is invalid in the source dialect.
        ArgumentError: if an argument has the wrong type, or a dialect doesn't exist.
    """
    return portable(text, source, (target,), given)


def portable(text: str, source: Dialect | str, targets: Iterable[Dialect | str], given: Given = None) -> Migrated:
    """Write a selector that means the same in several products.

    Args: as for `migrate`.

    Raises: as `migrate`.
    """
    reader, writers = as_dialect(source), tuple(map(as_dialect, targets))
    return _Migration(as_text(text), reader, writers, contract_of(given, reader)).result()


@functools.lru_cache(8192)
def _chosen(
    test: Node, source: Dialect, targets: tuple[Dialect, ...], kinds: Kinds, given: Contract | None, is_negated: bool
) -> tuple[Node | None, int]:
    """Choose a candidate for a test.

    Returns: the first that is proved, without what is assumed if possible, None if none is; and the steps it took.
    """
    budget = Budget(_OF_CHOICE)
    of_candidate = _OF_CANDIDATE + _OF_NODE * len(walk(test))
    # Where arithmetic on NULL is ERR, the selector is guarded against that as a whole.
    own = part_of(test, source.replace(null_arithmetic="unknown"))
    for assumed in dict.fromkeys([(), kinds]):
        undecided = 0
        for candidate in candidates(test):
            budget.count(of_candidate)
            if any(isinstance(named_in(candidate, target), Refused) for target in targets):
                continue
            witness = _part_difference(own, candidate, targets, assumed, given, is_negated, budget)
            if witness.is_none:
                return candidate, budget.steps - budget.left
            undecided += witness.message is None
            if undecided > MAX_UNDECIDED or budget.left < 0:
                break
    return None, budget.steps - budget.left


def _part_difference(
    own: Meaning | SelectorError,
    candidate: Node,
    targets: tuple[Dialect, ...],
    kinds: Kinds,
    given: Contract | None,
    is_negated: bool,
    budget: Budget,
) -> Witness:
    """Search for a message that a test and a candidate in one of the targets treat differently."""
    assert isinstance(own, Meaning)
    for target in targets:
        there = part_of(candidate, target)
        if isinstance(there, SelectorError):
            return Witness({})  # no message is needed to see that
        witness = difference_of(own, there, kinds, given, budget, is_negated=is_negated, is_part=True)
        if not witness.is_none:
            return witness
    return PROVED


def _kinds_of(root: Node) -> Kinds:
    """Return for each property the kind of value that it is compared with, where there is one."""
    order = walk(root)
    expected = remark(order, {name: name for name in names_of(root)}).expected
    # Two properties that nothing else is known of: texts, of which one often lacks its apostrophes.
    of_two = [
        node for node in order if isinstance(node, Comparison) and type(node.left) is type(node.right) is Identifier
    ]
    compared = {name for node in of_two for name in names_of(node)}
    pairs = [(name, kinds[0]) for name, kinds in expected.items() if len(kinds) == 1]
    pairs += [(name, "string") for name, kinds in expected.items() if not kinds and name in compared]
    return tuple([(name, kind) for name, kind in pairs if header_of(name, RULES) is None])


def _in_lines(root: Node, kinds: Kinds) -> Kinds:
    """Return kinds of values with texts of one line for texts that LIKE reads."""
    likes = dict.fromkeys(name for node in walk(root) if isinstance(node, Like) for name in names_of(node))
    not_likes = [(name, kind) for name, kind in kinds if name not in likes]
    return (*not_likes, *[(name, ONE_LINE) for name in likes if dict(kinds).get(name, "string") == "string"])


def _in_doubles(root: Node, kinds: Kinds) -> Kinds:
    """Return kinds of values with doubles for numbers that are computed with others."""
    many = {*_computed(root)}
    groups = [names_of(test.node) for test in tests_of(root)[0]]
    computed = {name for names in groups if len(names) > 1 and many.intersection(names) for name in names}
    return tuple([(name, DOUBLE if kind == "number" and name in computed else kind) for name, kind in kinds])


def _computed(root: Node) -> list[str]:
    """List the properties that a tree computes with."""
    return [*dict.fromkeys(name for node in walk(root) if isinstance(node, Arithmetic) for name in names_of(node))]


def _guarded(root: Node) -> Node:
    """Return a tree that is not TRUE where a property is missing by whose computation ERR is reached."""
    parts = root.operands if isinstance(root, Or) else ()
    place = next((place for place, part in enumerate(parts) if _computed(part)), 0)
    if place:
        rest = parts[place:]
        return Or((*parts[:place], _guarded(Or(rest) if len(rest) > 1 else rest[0])))
    return And((*[IsNull(True, Identifier(name)) for name in _computed(root)], root))


def _kinds_read_by(kinds: Kinds, node: Node) -> Kinds:
    names = names_of(node)
    return tuple([(name, kind) for name, kind in kinds if name in names])


# ---- one selector ----------------------------------------------------------------------------------------------------


class _Migration:
    """A selector on its way to other products.

    Args:
        text: as it was.
        source: how it is read.
        targets: how it is to be read.
        given: what messages are like.
    """

    def __init__(self, text: str, source: Dialect, targets: tuple[Dialect, ...], given: Contract | None) -> None:
        self.text = text
        self.source = source
        self.targets = targets
        self.given = given
        whole = Budget()
        self.budget, self.rest = whole.share(_OF_PROOFS), whole.share(STEPS - _OF_PROOFS)
        self.selector = read_selector(text, source)
        self.root = self.selector.node
        self.refusals: list[Refused] = []  # why targets refuse texts
        self.trees: dict[str, list[Node]] = {}  # canonical trees of texts in the targets; none where one refuses it

    def result(self) -> Migrated:
        root = canonical(self.selector)
        if isinstance(root, Refused):
            return self.refused(*root)
        for target in self.targets:
            if isinstance(tree := named_in(root, target), Refused):
                return self.refused(*tree)
        self.root = root
        self.tests, self.joints = tests_of(self.root)
        kinds = possible_kinds(_kinds_of(self.root), self.given, self.budget)
        lines = _in_lines(self.root, kinds)
        are_odd = any(one.rules.like_lines != "all" for one in (self.source, *self.targets))
        wanted = [(), kinds, *[lines] * are_odd, _in_doubles(self.root, kinds)]
        for assumed in dict.fromkeys(possible_kinds(one, self.given, self.budget) for one in wanted):
            for verdict, text in self.texts(assumed):
                trees = self.read(text)
                if trees and self.is_proved(trees, assumed):
                    return Migrated(verdict, text, self.needed(trees, assumed))
                if self.budget.left < 0:
                    return self.unproved(kinds)
        return self.unproved(kinds)

    def refused(self, reason: str, advice: str) -> Migrated:
        """Return that it is refused; one that selects nothing today is FALSE elsewhere, whatever it reads."""
        source = self.source.replace(constant_false="accept")
        today = read_selector(unparse(possible(self.selector), source), source)
        given = self.given or Contract()
        is_never = satisfied(today, given, self.budget.share()).is_none
        if is_never and not core_of(source).is_documented:  # without an answer it is not FALSE
            divergence = Meaning(today.text, source).divergence
            is_never = search(given, (today,), (divergence,), lambda _: True, self.budget.share()).is_none
        if is_never and self.read("FALSE"):
            return Migrated(
                "translated", "FALSE", reason="the selector matches no message today: check whether that is intended"
            )
        return Migrated("refused", reason=reason, advice=advice)

    def texts(self, kinds: Kinds) -> Iterator[tuple[str, str]]:
        """Yield what may mean the same, the least change first, each with the verdict if it does."""
        yield "same", self.text
        made = [self.chosen(one.node, _kinds_read_by(kinds, one.node), is_negated=one.negated) for one in self.tests]
        rest = iter(made)
        tree = with_tests(self.root, lambda _: next(rest))
        if any(one.rules.connectives == "first" for one in self.targets):
            tree = inward(tree)
        else:
            yield "translated", self.edited(made)
        yield "translated", unparse(self.named(tree), self.targets[0])
        if self.source.null_arithmetic == "selector" and _computed(tree):
            yield "translated", unparse(self.named(_guarded(tree)), self.targets[0])

    def named(self, tree: Node) -> Node:
        """Return a tree whose tests no target refuses, with the names of the first target."""
        named = named_in(tree, self.targets[0])
        assert not isinstance(named, Refused)
        return named

    def chosen(self, test: Node, kinds: Kinds, *, is_negated: bool) -> Node:
        """Return what becomes of a test: itself if nothing else is proved, or if the budget is used up."""
        try:
            self.budget.spend(_OF_TEST)
            node, steps = _chosen(test, self.source, self.targets, kinds, self.given, is_negated)
            self.budget.spend_once((test, self.targets, kinds, is_negated), steps)
        except UndecidedError:
            return test
        return node or test

    def edited(self, made: Sequence[Node]) -> str:
        """Return the text with other tests in the places of those that change."""
        target = self.targets[0]
        pieces, end = [], 0
        old = tests_of(self.selector.node)[0]
        for was, new in zip(old, made, strict=len(old) == len(made)):
            node = self.named(new)
            if unparse(node) != unparse(was.node):
                written = unparse(node, target)
                is_chain = isinstance(node, (And, Or)) and len(made) > 1
                pieces += [self.text[end : was.node.span[0]], f"({written})" if is_chain else written]
                end = was.node.span[1]
        return "".join([*pieces, self.text[end:]])

    def read(self, text: str) -> list[Node]:
        """Return the canonical trees of a text in the targets; none where one refuses it."""
        if text not in self.trees:
            self.budget.count(_OF_CHARACTER * len(text) * len(self.targets))
            self.trees[text] = self.read_anew(text)
        return self.trees[text]

    def read_anew(self, text: str) -> list[Node]:
        """Return what `read` remembers."""
        trees = []
        for target in self.targets:
            try:
                tree = canonical(read_selector(text, target), is_target=True)
            except SelectorError as error:
                tree = Refused(error.message, _advice(self.root, error))
            if isinstance(tree, Refused):
                self.refusals.append(tree)
                return []
            trees.append(tree)
        return trees

    def is_proved(self, trees: Sequence[Node], kinds: Kinds) -> bool:
        pairs = [*zip(trees, self.targets, strict=True)]
        return all(self.by_tests(*pair, kinds) or self.as_whole(*pair, kinds).is_none for pair in pairs)

    def by_tests(self, tree: Node, target: Dialect, kinds: Kinds) -> bool:
        """Report whether each test is proved where it stands, and Kleene's connectives join all of them."""
        tests, joints = tests_of(tree)
        option = self.selector.match_option
        negated = any(joint.is_negated and joint.joined is not Not for joint in joints if joint)
        if negated and "first" in (self.source.rules.connectives, target.rules.connectives):
            return False
        if joints != self.joints or (option is not None and option.matches_any):
            return False
        return all(
            _part_difference(
                part_of(one.node, self.source),
                other.node,
                (target,),
                _kinds_read_by(kinds, one.node),
                self.given,
                one.negated,
                self.budget,
            ).is_none
            for one, other in zip(self.tests, tests, strict=True)
        )

    def as_whole(self, tree: Node, target: Dialect, kinds: Kinds) -> Witness:
        """Search for a message that the selector and a tree of a target treat differently."""
        self.budget.count(_OF_CHARACTER * len(self.text))
        if self.budget.left < 0:
            return Witness(None, f"the search reached its limit of {self.budget.steps:,} steps")
        own, there = meaning(unparse(self.root, self.source), self.source), meaning(unparse(tree, target), target)
        if isinstance(own, SelectorError) or isinstance(there, SelectorError):
            return Witness(None, "one of the dialects rejects the JMS names of headers")
        return difference_of(own, there, kinds, self.given, self.budget)

    def needed(self, trees: Sequence[Node], kinds: Kinds) -> Kinds:
        """Return what must be assumed of it."""
        for one in kinds:
            if self.budget.left < 0:
                break
            for less in ("", *[kind for also, kind in _LESS if also == one[1]]):
                fewer = (*[other for other in kinds if other[0] != one[0]], *[(one[0], less)] * bool(less))
                if fewer != kinds and self.is_proved(trees, fewer):
                    kinds = fewer
                    break
        return kinds

    def unproved(self, kinds: Kinds) -> Migrated:
        text, trees = next(((text, trees) for text, trees in self.trees.items() if trees), ("", []))
        if not text:
            return self.refused(*self.refusals[-1])
        reason = ""
        own = meaning(unparse(self.root, self.source), self.source)
        for assumed in dict.fromkeys([kinds, ()]):
            for tree, target in zip(trees, self.targets, strict=True):
                there = meaning(unparse(tree, target), target)
                if isinstance(own, SelectorError) or isinstance(there, SelectorError):
                    continue
                witness = difference_of(own, there, assumed, self.given, self.rest)
                reason = reason or witness.reason
                message = witness.message
                if message is None:
                    message = tried(own, there, assumed, self.given, self.rest)
                if message is not None:
                    truths = own.truth(message), there.truth(message)
                    because = readings(own.text, message, self.source, target, self.rest)
                    return Migrated("differs", message=message, truths=truths, readings=because, tried=text)
        return Migrated("not decided", reason=reason, tried=text)


# ---- what a product has not ------------------------------------------------------------------------------------------


# Constructs that a product may refuse, and what people do instead.
_INSTEAD: tuple[tuple[Callable[[Node], bool], str], ...] = (
    (
        lambda node: isinstance(node, Like),
        "select on what stands at the beginning, at the end or anywhere in the text; or let the sender set a property",
    ),
    (lambda node: isinstance(node, (Arithmetic, Sign)), "let the sender set a property with the result"),
    (
        lambda node: isinstance(node, Literal) and node.kind == "bytes",
        "let the sender set a property with the digits as a text",
    ),
    (lambda node: isinstance(node, Call), "let the sender set a property, or let the consumer filter"),
    (
        lambda node: isinstance(node, Identifier) and re.fullmatch(r"[A-Za-z_$][\w$]*", node.name) is None,
        "let the sender use a name of letters, digits and underscores",
    ),
)


def _advice(root: Node, error: SelectorError) -> str:
    """Return what people do instead of what is refused."""
    if isinstance(error, SelectorLimitError):
        return "make several subscriptions of its parts"
    refused = [what for test, what in _INSTEAD if any(map(test, walk(root)))]
    return refused[0] if refused else error.hint or ""
