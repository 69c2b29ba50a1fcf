"""Rules of lint about what messages are like: tests that a contract decides, whatever the message.

Each examines the whole selector, and finds nothing without a contract. A test of one property is decided by its set of
values and that of the contract, another one by a search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mqsel.analysis.compare.contract import PRESENT, Contract
from mqsel.analysis.compare.search import search, truth_of
from mqsel.analysis.lint.chains import Operand, Structure, shown
from mqsel.analysis.lint.findings import Found, strings_of
from mqsel.carets import cut_piece, quoted
from mqsel.language.nodes import And, Identifier, In, IsNull, Or, quote, walk
from mqsel.language.selector import Selector
from mqsel.logic.formulas import ALWAYS, NEVER, Leaf, all_of, complement, leaf
from mqsel.logic.sets import NOTHING, PROPERTY
from mqsel.names import near_names, spellings
from mqsel.values import Truth

OF_SEARCH = 8_000  # steps of one search
_LONGEST = 120  # cells of what a contract says


def outside_contract(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    for operand, contract in _tests(structure):
        node = operand.node
        if _is_decided(operand, contract, structure, truth=False):
            yield Found(node.span, (shown(operand, selector), _why(selector.names_of(node), contract, selector)))
        elif isinstance(node, In):
            name = node.identifier.name
            for choice, span in zip(node.choices, strings_of(node, selector), strict=True):
                one = Operand(In(False, node.identifier, (choice,)), False, None, 0)
                if _is_decided(one, contract, structure, truth=False):
                    words = f"{name} = {quoted(quote(choice))}", _why(selector.names_of(node), contract, selector)
                    yield Found(span, words)


def contract_implies(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    for operand, contract in _tests(structure):
        names = selector.names_of(operand.node)
        is_test = not isinstance(operand.node, IsNull)
        if _is_decided(operand, contract, structure, truth=True):
            of_which = ""
        elif is_test and _is_decided(operand, contract, structure, truth=True, lacks=False):
            of_which = f" that has {names[0]}"
        else:
            continue
        yield Found(operand.node.span, (shown(operand, selector), of_which, _why(names, contract, selector)))


def _tests(structure: Structure) -> Iterator[tuple[Operand, Contract]]:
    """Yield the tests that read a property."""
    for chain in structure.chains if structure.contract is not None else ():
        for operand in chain.operands:
            node = operand.node
            if not isinstance(node, (And, Or)) and any(isinstance(one, Identifier) for one in walk(node)):
                yield operand, structure.contract  # type: ignore[misc]


def _is_decided(operand: Operand, contract: Contract, structure: Structure, *, truth: bool, lacks: bool = True) -> bool:
    """Report whether a test, with the NOT around it, is TRUE of every message of a contract; or of none.

    Args:
        truth: which of the two is asked.
        lacks: whether messages count that lack the property; if not, a test of several properties is not decided.
    """
    selector = structure.selector
    part = selector.part(operand.node)
    true = part.formulas.false if operand.is_negated else part.formulas.true
    others = complement(true) if truth else true
    if others in (ALWAYS, NEVER):
        return others is NEVER
    if isinstance(others, Leaf) and isinstance(others.subject, Identifier):
        domain = contract.domain(others.subject.name, selector.naming)
        allowed = [leaf(others.subject, domain), *[leaf(others.subject, PRESENT)] * (not lacks)]
        return (lacks or all_of(allowed) is not NEVER) and all_of([others, *allowed]) is NEVER
    wanted = Truth.FALSE if operand.is_negated else Truth.TRUE

    def check(message: dict[str, object]) -> bool:
        return (truth_of(part, message) is wanted) is not truth

    return lacks and search(contract, (part,), (others,), check, structure.budget.share(OF_SEARCH)).is_none


def _why(names: list[str], contract: Contract, selector: Selector) -> str:
    """Return what a contract says of properties."""
    said = []
    for name in names:
        domain, own = contract.domain(name, selector.naming), contract.property(name, selector.naming)
        if domain == NOTHING._replace(null=True):
            near = next(iter(near_names(name, contract.properties)), "")
            said.append(f"no message has {name}" + f": did you mean {near}?" * bool(near))
        elif own is not None:
            said.append(f"{name} is {own.words()}")
    if contract.selector is not None and not said:
        said.append(f"every message meets {contract.selector.text}")
    return cut_piece("; ".join(said), _LONGEST)


# ---- what a contract answers -----------------------------------------------------------------------------------------


def _is_listed(contract: Contract, name: str, naming: str) -> bool:
    own = () if contract.selector is None else contract.selector.names.values()
    return any(one in contract.properties or one in own for one in spellings(name, naming))


def _is_required(contract: Contract, name: str, naming: str) -> bool:
    return not contract.domain(name, naming).null


def _is_typed(contract: Contract, name: str, naming: str) -> bool:
    return contract.domain(name, naming) != PROPERTY


# What a rule suspects is no question where a contract knows of the properties that stand at these places of its words.
_ANSWERED: dict[str, tuple[Callable[[Contract, str, str], bool], tuple[int, ...]]] = {
    "boolean-literal": (_is_typed, (2,)),
    "descriptor-field": (_is_listed, (0,)),
    "header-prefix": (_is_listed, (0,)),
    "header-spelling": (_is_listed, (0,)),
    "missing-excluded": (_is_required, (0,)),
    "missing-included": (_is_required, (1,)),
    "name-alone": (_is_listed, (0,)),
    "name-case": (_is_listed, (0, 1)),
    "no-number": (_is_listed, (0,)),
    "text-of-digits": (_is_typed, (1,)),
    "unquoted-text": (_is_listed, (0,)),
}


def is_answered(code: str, found: Found, structure: Structure) -> bool:
    """Report whether a contract answers what a rule asks the author of a selector."""
    if structure.contract is None or code not in _ANSWERED:
        return False
    answers, places = _ANSWERED[code]
    naming = structure.selector.naming
    return all(answers(structure.contract, str(found.words[place]), naming) for place in places)
