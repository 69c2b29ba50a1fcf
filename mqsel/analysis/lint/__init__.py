"""Likely mistakes in valid selectors: rules as a table, findings, edits.

A rule examines nodes of some classes, or the whole selector. An edit changes no answer, which is proved before it is
reported: by the program, or else by the normal form. Follows *IBM MQ 9.4, Selection behavior* and *Message selector
syntax*; the README of this folder lists the rules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Container, Sequence
from typing import Any

from mqsel.analysis.compare.satisfiable import contradiction, satisfied
from mqsel.analysis.compare.search import Given, contract_of, search
from mqsel.analysis.lint import rules_of_contracts
from mqsel.analysis.lint.chains import Structure, structure_of
from mqsel.analysis.lint.findings import NOTE, Edit, Finding, Findings, Found, parsed, piece
from mqsel.analysis.lint.rules import RULES, Example, Rule
from mqsel.analysis.lint.rules_of_products import rule_applies
from mqsel.carets import Span, cut_piece
from mqsel.errors import SelectorError
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import And, Between, Comparison, Computed, In, IsNull, Like, Node, Not, Or, unparse, walk
from mqsel.language.selector import Selector, as_text, read_selector
from mqsel.logic.formulas import All, Formula, fold
from mqsel.logic.formulas import Any as AnyOf
from mqsel.machine.compiler import program_of
from mqsel.names import WHITE_SPACE

__all__ = ["RULES", "Edit", "Example", "Finding", "Findings", "Rule", "finding_of_place", "fixed", "lint"]


_INVALID = RULES[0]
_OF_CODE = {rule.code: rule for rule in RULES}
_NEVER_TRUE, _ALWAYS_TRUE = _OF_CODE["never-true"], _OF_CODE["always-true"]
_OUTSIDE, _IMPLIES = _OF_CODE["outside-contract"], _OF_CODE["contract-implies"]
_SHOWN = 60  # cells of the whole, in a sentence
_SOLVED = 100  # nodes of a selector that is searched as a whole: of a hundred tests that takes longer than all rules
MAX_PROVED = 50_000  # characters of the parts whose edits are proved; findings behind them have no edits
# What to call for nodes of a class, and for the whole.
_OF_NODES: dict[type, list[tuple[Callable[..., Any], Rule]]] = {}
for _row in RULES:
    for _class in _row.classes:
        _OF_NODES.setdefault(_class, []).append((_row.find, _row))  # type: ignore[arg-type]
_CODES = frozenset(_OF_CODE)
_WHOLE_RULES = [rule for rule in RULES if rule.find is not None and not rule.classes]


def lint(
    text: str, dialect: Dialect | str = IBM_MQ, *, given: Given = None, rules: Collection[str] | None = None
) -> Findings:
    """Find likely mistakes in a selector.

    Args:
        text: The selector, a str. It may be invalid.
        dialect: The `Dialect`, or its name. The default is IBM_MQ.
        given: What you know about the messages, as for `relation`. The default is None. Edits that a finding proposes
            keep the result of every message, also of messages that violate *given*.
        rules: The codes of the rules to apply. One rule may hide the finding of another. The default is all rules.

    Returns: a list of findings, in the order of the text.

    Raises: ArgumentError: if *text* is not a str, or the dialect, *given* or a rule doesn't exist.
        SelectorError: if *given* is a selector that is invalid.
    """
    contract, text = contract_of(given, dialect), as_text(text)
    try:
        selector = read_selector(text, as_dialect(dialect))
    except SelectorError as error:
        sentence = f"{error.message}; {error.hint}" if error.hint else error.message
        return Findings(text, [_finding(_INVALID, Found(error.span, (sentence,)))])
    findings = Findings(text)
    length = 0
    structure = structure_of(selector, contract)
    pairs = [pair for pair in _found(structure) if rules is None or pair[0].code in rules]
    for rule, found in _whole_findings(structure, pairs):
        finding = _finding(rule, found)
        if found.edits and length <= MAX_PROVED:
            start, stop = _around(found, selector).span
            length += stop - start
            finding = finding if _is_safe(found, selector) else finding._replace(edits=())
        elif found.edits:
            finding = finding._replace(edits=())
        findings.append(finding)
    return findings


def finding_of_place(code: str, text: str) -> Finding:
    """Return the finding of a rule about what stands beside a selector, which is reported of all its text."""
    return _finding(_OF_CODE[code], Found((0, len(text))))


def _finding(rule: Rule, found: Found) -> Finding:
    return Finding(rule.code, rule.severity, found.span, rule.says.format(*found.words), found.edits)


def _found(structure: Structure) -> list[tuple[Rule, Found]]:
    selector = structure.selector
    made: list[tuple[Rule, Found]] = []
    for node in parsed(selector):
        for find, rule in _OF_NODES.get(type(node), ()):
            found = find(node, selector) if rule_applies(rule.code, selector.dialect) else None
            if found is not None:
                made.append((rule, found))
    for rule in [one for one in _WHOLE_RULES if rule_applies(one.code, selector.dialect)]:
        made += [(rule, found) for found in rule.find(structure)]  # type: ignore[misc]
    made = [(rule, found) for rule, found in made if not rules_of_contracts.is_answered(rule.code, found, structure)]
    return sorted(made, key=lambda one: one[1].span)


def _whole_findings(structure: Structure, made: list[tuple[Rule, Found]]) -> list[tuple[Rule, Found]]:
    """Add what a search of the whole shows: it is TRUE of no message, or of every message of a contract.

    Of no message is for a cause that no rule sees: several properties, or ORs in an AND.
    """
    selector, contract, budget = structure.selector, structure.contract, structure.budget
    by_others = [found.span for rule, found in made if rule.severity != NOTE and rule is not _OUTSIDE]
    made = [(rule, found) for rule, found in made if rule is not _OUTSIDE or not _is_told(found.span, by_others)]
    if len(selector.order) > _SOLVED:
        return made
    cases = [(None, "")] + [(contract, " for a message of the contract")] * (contract is not None)
    for said, of_which in cases:
        if satisfied(selector, said, budget.share(rules_of_contracts.OF_SEARCH)).is_none:
            parts = contradiction(selector, said, budget)
            told = [found.span for rule, found in made if rule.severity != NOTE]
            if not any(_is_told(part.span, told) for part in parts):
                pieces = [(type(one) is Or, piece(selector.text, one)) for one in parts]
                words = " AND ".join([f"({text})" if is_or else text for is_or, text in pieces])
                span = parts[0].span[0], parts[-1].span[1]
                made.append((_NEVER_TRUE, Found(span, (words, f"never TRUE{of_which}", ""))))
            return sorted(made, key=lambda one: one[1].span)
    if contract is not None and selector.names:
        own = budget.share(rules_of_contracts.OF_SEARCH)
        matches = selector.machine.matches
        if search(contract, (selector,), (selector.not_true,), lambda one: not matches(one), own).is_none:
            words = cut_piece(piece(selector.text, selector.node), _SHOWN)
            made = [pair for pair in made if pair[0] is not _IMPLIES]
            made.append((_ALWAYS_TRUE, Found(selector.node.span, (words, "message of the contract", ""))))
    return sorted(made, key=lambda one: one[1].span)


def _is_told(span: Span, told: Sequence[Span]) -> bool:
    return any(start < span[1] and span[0] < stop for start, stop in told)


# ---- edits -----------------------------------------------------------------------------------------------------------


def fixed(text: str, dialect: Dialect | str = IBM_MQ, rules: Container[str] = _CODES) -> str:
    """Apply the edits of findings until none has any. No message is selected otherwise.

    All of one rule at once where that is proved to be the same selector, or else one: each takes a proof.

    Args:
        rules: the codes of those whose edits are applied.

    Raises: ArgumentError: no text, or no dialect.
    """
    text, dialect = as_text(text), as_dialect(dialect)
    while True:
        try:
            selector = read_selector(text, dialect)
        except SelectorError:
            return text
        pairs = _found(structure_of(selector))
        findings = [(rule, found) for rule, found in pairs if found.edits and rule.code in rules]
        alike = _together([found for rule, found in findings if rule is findings[0][0]])
        safe = (found for found in (alike, *[one for _, one in findings]) if found.edits and _is_safe(found, selector))
        edits = next(safe, Found((0, 0))).edits
        if not edits:
            return text
        text = edited(text, edits)


def _together(findings: Sequence[Found]) -> Found:
    """Join the edits of findings, but for those that change what another one has changed."""
    edits: list[Edit] = []
    for edit in sorted(edit for found in findings for edit in found.edits):
        if not edits or edits[-1].span[1] <= edit.span[0]:
            edits.append(edit)
    return Found((0, 0), edits=tuple(edits))


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return a text with some pieces of it replaced."""
    pieces, at = [], 0
    for (start, stop), new in edits:
        pieces += [text[at:start], new]
        at = stop
    return "".join([*pieces, text[at:]])


_CONDITIONS = (And, Or, Not, Comparison, Between, In, Like, IsNull)
_BRACKETS = frozenset("()") | WHITE_SPACE


def _around(found: Found, selector: Selector) -> Node:
    """Return the smallest condition that contains edits."""
    first, last = found.edits[0].span[0], found.edits[-1].span[1]
    # Children stand before their parents.
    conditions = (node for node in selector.order if isinstance(node, _CONDITIONS))
    return next((node for node in conditions if node.span[0] <= first and last <= node.span[1]), selector.node)


def _is_safe(found: Found, selector: Selector) -> bool:
    """Prove that edits leave the same selector: by the program, or else by the normal form, of the part around them."""
    try:
        whole = read_selector(edited(selector.text, found.edits), selector.dialect)
    except SelectorError:  # longer, or deeper, than the dialect allows
        return False
    if selector.match_option != whole.match_option:
        return False
    before, after = _parts(_around(found, selector), selector, whole)
    programs = [program_of(part) for part in (before, after)]
    # A program has its computed tests only in its text.
    rows = [(program.code, repr(program.constants), program.slots) for program in programs]
    tests = [
        [unparse(node.expression, part.dialect) for node in part.order if isinstance(node, Computed)]
        for part in (before, after)
    ]
    if rows[0] == rows[1] and tests[0] == tests[1]:
        return True
    known: dict[object, int] = {}
    numbers = [[_number(formula, known) for formula in part.formulas.truths] for part in (before, after)]
    return numbers[0] == numbers[1]


def _parts(node: Node, selector: Selector, whole: Selector) -> tuple[Selector, Selector]:
    """Return a part of a selector, and what edits within it have made of it; the two wholes if more has changed.

    Two trees differ only in a part if all their other nodes are of the same classes and at the same places.
    """
    (start, stop), longer = node.span, len(whole.text) - len(selector.text)

    def outside(part: Node, tree: Selector) -> list[tuple[object, ...]]:
        below, end, shift = {id(one) for one in walk(part)}, *((stop, longer) if tree is selector else (0, 0))
        rest = [one for one in tree.order if id(one) not in below]
        return [(type(one), *(place + shift * (place >= end) for place in one.span)) for one in rest]

    within = (one for one in reversed(whole.order) if start <= one.span[0] and one.span[1] <= stop + longer)
    after = next(within, whole.node)
    before, behind = whole.text[start : after.span[0]], whole.text[after.span[1] : stop + longer]
    is_all = _BRACKETS.issuperset(before + behind) and before.count("(") == behind.count(")")
    if is_all and outside(node, selector) == outside(after, whole):
        return selector.part(node), whole.part(after)
    return selector, whole


def _number(formula: Formula, known: dict[object, int]) -> int:
    """Number a formula: equal ones alike, whatever the order of their parts and however often one is said."""

    def numbered(key: object) -> int:
        return known.setdefault(key, len(known))

    def joined(connective: type, parts: Sequence[int]) -> int:
        return parts[0] if len({*parts}) == 1 else numbered((connective, frozenset(parts)))

    number: int = fold(formula, numbered, functools.partial(joined, All), functools.partial(joined, AnyOf))
    return number
