"""Writes a selector for another product, with the proof that it selects the same messages there.

A message is canonical: it has headers of JMS and typed properties, and each product sees them under its own names
(`mqsel.names.HEADER_NAMES`). Selectors are read with canonical names in both dialects, and the formulas of the normal
form are compared: test by test, each where it is TRUE, or FALSE under a NOT, as Kleene's connectives keep that; or as a
whole. Where a test differs, rewrites of it are tried (`mqsel.analysis.compare.rewrites`). Follows language §1 and §2.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mqsel.analysis.compare import Given, contract_of, small_messages
from mqsel.analysis.compare.contract import SAME_FIELDS, Contract, Property, header_of
from mqsel.analysis.compare.rewrites import candidates, inward, patterns, tests_of, with_tests
from mqsel.analysis.readings import UNDOCUMENTED, Reading, answer, counted, readings
from mqsel.errors import ArgumentError, SelectorError, SelectorLimitError, type_name
from mqsel.language.checker import remark
from mqsel.language.dialect import JMS, Dialect, as_dialect, kept
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Computed,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    children,
    mapped,
    unparse,
    walk,
    with_children,
)
from mqsel.language.operators import OPERATORS
from mqsel.language.optimizer import optimize
from mqsel.language.selector import Selector, read_anew, read_selector
from mqsel.logic.formulas import Formula, Leaf, complement, leaves
from mqsel.logic.normal import ALL_PARTS, NEVER, TRUTHS, All, Writer, normal
from mqsel.logic.normal import Any as AnyOf
from mqsel.logic.solver import Message, Witness, find
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.names import DESCRIPTOR, HEADER_NAMES, HEADER_VALUES, JMS_SYNONYMS, TRANSLATED, spellings
from mqsel.values import KINDS, TYPES, Float32, Int32, Truth

VERDICTS = ("same", "translated", "differs", "refused", "not decided")
MAX_WORK = 5_000  # leaves that are looked at for one proof: a twentieth of a second
MAX_UNDECIDED = 6  # candidates for one test that are neither proved nor refuted

_RULES = "jms"  # how a canonical message spells its properties
# Headers that every message has, each with its default: Jakarta Messaging 3.1, §3.4.2 and §3.4.10.
_USUAL = {"JMSPriority": Int32(4), "JMSDeliveryMode": "PERSISTENT"}
MAX_TRIES = 500  # messages, where formulas do not decide
_TYPES = {kind: tuple([row.name for row in TYPES if KINDS.get(row.kind) == kind]) for kind in KINDS.values()}
_Kinds = tuple[tuple[str, str], ...]  # names of properties, each with the kind of its values


@dataclass(frozen=True, slots=True)
class Migrated:
    """What becomes of a selector.

    Attributes:
        verdict: one of `VERDICTS`.
        text: what to use: the selector as it was, or its translation; empty where there is none.
        assumes: properties of which it is assumed that they have one type, or are missing: (name, kind of value).
        message: where it differs, a canonical message, as name -> value.
        truths: of that message, of the selector and of what was tried for it; None without a message.
        reason: why it is refused or not decided; empty otherwise.
        advice: what people do instead; empty if there is none.
        readings: the choices that cause the difference.
        tried: where it differs: the nearest text that the target accepts.
    """

    verdict: str
    text: str = ""
    assumes: _Kinds = ()
    message: Message | None = None
    truths: tuple[Truth | str, Truth | str] | None = None
    reason: str = ""
    advice: str = ""
    readings: tuple[Reading, ...] = ()
    tried: str = ""

    def __bool__(self) -> bool:
        return self.verdict in ("same", "translated")

    def condition(self) -> str:
        """Return what is assumed, in words; empty for nothing."""
        return " and ".join([f"{name} is a {kind} or missing" for name, kind in self.assumes])


def migrate(text: str, source: Dialect | str, target: Dialect | str, given: Given = None) -> Migrated:
    """Write a selector for another product.

    A message has headers of JMS, each of its type, and properties of any type but NaN and -0.0. Where only selectors
    over properties of one type mean the same, that is assumed, and said.

    Args:
        text: the selector.
        source: how it is read now: a dialect, or the name of a preset.
        target: how the other product reads it.
        given: what messages are like, with the names of JMS for headers: see `relation`.

    Raises: SelectorError: the source refuses the text. ArgumentError.
    """
    return portable(text, source, (target,), given)


def portable(text: str, source: Dialect | str, targets: Iterable[Dialect | str], given: Given = None) -> Migrated:
    """Write a selector that means the same in several products.

    Args: as for `migrate`.

    Raises: as `migrate`.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"a selector is a str, found {type_name(text)}")
    first = as_dialect(source)
    others = tuple([as_dialect(one) for one in targets])
    return _Migration(str.__str__(text), first, others, contract_of(given, first)).result()


# ---- names -----------------------------------------------------------------------------------------------------------


class _RefusedError(Exception):
    """A product has no such thing: what, and what people do instead."""


@kept
def _preset(dialect: Dialect) -> str:
    return dialect.departures()[0]


_FIELDS = {field: name for name, field in SAME_FIELDS.items() if name in JMS_SYNONYMS}


def _header_names(dialect: Dialect) -> dict[str, str]:
    return HEADER_NAMES.get(_preset(dialect), {})


def canonical(selector: Selector, *, is_target: bool = False) -> Node:
    """Return the tree of a selector with the names and values that headers have in JMS.

    Raises: _RefusedError: it has the name of a header that the product calls otherwise.
    """
    preset = _preset(selector.dialect)
    own = {name: header for header, name in _header_names(selector.dialect).items()}

    def rename(node: Node) -> Node:
        if not isinstance(node, Identifier):
            return node
        name = spellings(selector.names[node.name], selector.naming)[0]
        is_strange = preset in HEADER_NAMES and name in JMS_SYNONYMS and name not in own
        if is_strange and (is_target or preset not in TRANSLATED):
            raise _RefusedError(f"{name} is no header in {preset}", _COPIED)
        return node._replace(name=own.get(name, _FIELDS.get(name, name)))

    return mapped(mapped(selector.node, _revalued), rename)


def named_in(root: Node, dialect: Dialect) -> Node:
    """Return a canonical tree with the names and values that a product has.

    Raises: _RefusedError: it has no such header.
    """
    preset, names = _preset(dialect), _header_names(dialect)

    def rename(node: Node) -> Node:
        if not isinstance(node, Identifier):
            return node
        if node.name.startswith(DESCRIPTOR) and dialect.headers != "mqi":
            raise _RefusedError(f"{node.name} is a field of IBM MQ's message descriptor", _COPIED)
        if preset in HEADER_NAMES and node.name in JMS_SYNONYMS and node.name not in names:
            raise _RefusedError(f"{preset} offers no {node.name} to selectors", _COPIED)
        return node._replace(name=names.get(node.name, node.name))

    return mapped(mapped(root, rename), _revalued)


_COPIED = "let the sender, or a bridge, copy it into a property of its own"


def _revalued(node: Node) -> Node:
    """Return a test of a header with other values as one with the values of JMS, and the other way round."""
    values = next((HEADER_VALUES[name] for name in _names(node) if name in HEADER_VALUES), None)
    match node:
        case In() if values:
            return node._replace(choices=tuple([values.get(one, one) for one in node.choices]))
        case Comparison("=" | "<>", Identifier(), Literal("string", value, span)) if values:
            return node._replace(right=Literal("string", values.get(str(value), value), span))
        case Comparison("=" | "<>", Literal("string", value, span), Identifier()) if values:
            return node._replace(left=Literal("string", values.get(str(value), value), span))
        case Comparison("=" | "<>", Identifier(), Literal()) | Comparison("=" | "<>", Literal(), Identifier()):
            return node
        case Comparison() | Like() | Call() | Arithmetic() | Between() if values:
            raise _RefusedError(f"{unparse(node)} looks into a header that has other values here", "compare it with =")
    return node


def _names(node: Node) -> list[str]:
    return [*dict.fromkeys(one.name for one in walk(node) if isinstance(one, Identifier))]


def view(message: Mapping[str, Any], dialect: Dialect | str) -> dict[str, Any]:
    """Return a canonical message as a product sees it."""
    names = _header_names(as_dialect(dialect))
    is_own = _preset(as_dialect(dialect)) not in HEADER_NAMES
    found = {}
    for name, value in message.items():
        own = names.get(name, name)
        if is_own or name in names or name not in JMS_SYNONYMS:
            found[own] = HEADER_VALUES.get(own, {}).get(value, value)
        if _preset(as_dialect(dialect)) in TRANSLATED:
            found[name] = value
    return found


# ---- what a selector is ----------------------------------------------------------------------------------------------


class Meaning:
    """What a selector with canonical names is for canonical messages.

    A product that reads texts as numbers, or whose documents do not say what different types yield, is read as one
    that does neither: of messages without a mismatch it is the same, and the formula of the mismatches says which.

    Attributes:
        selector: as it is read for the proof.
        normal: its formulas.
        is_exact: whether the formulas are what the product does, but for mismatches: no test is only computed.
        divides: whether computation is part of them.
    """

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect, read = _lenient(dialect)
        selector = read_anew(text, read)
        node = with_tests(mapped_pairs(selector.node), _with_core)
        self.selector = selector._replace(node=node, order=walk(node))
        self.is_model = read is not self.dialect or any(map(_is_order_of_two, self.selector.order))
        self.is_exact = dialect.text_numbers != "read" or all(_is_as_text(one.node) for one in tests_of(node)[0])
        self.normal = normal(self.selector, ALL_PARTS if self.is_model else TRUTHS)
        self.divides = any(
            isinstance(one, Leaf) and isinstance(one.subject, Arithmetic)
            for part in self.normal[:2]
            for one in leaves(part)
        )

        self.is_exact = self.is_exact and not any(
            type(one) is Computed and one.core is None for one in self.selector.order
        )

    @property
    def names(self) -> list[str]:
        """The properties that it reads."""
        return [*dict.fromkeys(self.selector.names.values())]

    @functools.cached_property
    def _machine(self) -> Machine:
        return Machine(lower(optimize(read_anew(self.text, self.dialect))))

    def truth(self, message: Mapping[str, Any]) -> Truth | str:
        """Return the truth of a canonical message as the product itself has it."""
        return counted(answer(self._machine, message))


@kept
def _lenient(dialect: Dialect) -> tuple[Dialect, Dialect]:
    """Return what parts of a selector are read as, and what they are read as for a proof."""
    own = read = dialect.replace(max_length=None, constant_false="accept")
    if read.text_numbers == "read":
        read = read.replace(text_numbers="never")
    if read.type_mismatch == "undocumented":
        read = read.replace(type_mismatch="operation")
    return own, read


@functools.lru_cache(8192)
def meaning(text: str, dialect: Dialect) -> Meaning | SelectorError:
    """Read a selector with canonical names, or remember why it is refused."""
    try:
        return Meaning(text, dialect)
    except SelectorError as error:
        return error


def _pair_of(node: Node) -> Comparison | None:
    """Return the comparison of two properties that a computed test is."""
    if isinstance(node, Computed) and node.core is None:
        match node.expression:
            case Comparison(_, Identifier(), Identifier()) as found:
                return found
    return None


def _is_order_of_two(node: Node) -> bool:
    found = node.expression if isinstance(node, Computed) and node.core is not None else None
    return isinstance(found, Comparison) and found.operator not in ("=", "<>") and isinstance(found.right, Identifier)


def mapped_pairs(root: Node) -> Node:
    """Return a tree with what `x = y OR y = x` is in the core: of narrow integers one of the two has no answer.

    Of NaN and of -0.0, which no canonical message has, it is something else.
    """
    done: list[Node] = []
    for node in walk(root, (And, Or, Not)):
        first = len(done) - (len(children(node)) if isinstance(node, (And, Or, Not)) else 0)
        below = done[first:]
        if isinstance(node, Or) and len(below) == 2:
            one, other = map(_pair_of, below)
            if one is not None and other is not None and one == _mirrored(other):
                below = [_with_pair(part) for part in below]
        done[first:] = [with_children(node, below) if below else node]
    return done[0]


def _mirrored(pair: Comparison) -> Comparison:
    return Comparison(OPERATORS[pair.operator].mirrored, pair.right, pair.left)


def _with_pair(node: Node) -> Node:
    """Return a comparison of two properties with what it is in the core, of values that have no gaps."""
    pair = _pair_of(node)
    if pair is None or not isinstance(node, Computed):
        return node
    dialect, (left, right) = node.dialect, node.identifiers * (3 - len(node.identifiers))
    fails = dialect.narrow_types == "casts" and not _is_of_texts(pair)  # of a FLOAT32 beside a double
    if fails or dialect.mixed_numbers != "double" or dialect.integers not in ("java", "narrow"):
        return node
    if pair.operator not in ("=", "<>"):
        return node._replace(core=pair)
    equal = pair._replace(operator="=")
    both_missing = And((IsNull(False, left), IsNull(False, right)))
    cores: dict[str, Node] = {
        "unknown": equal,
        "left": Or((both_missing, And((IsNull(True, right), equal)))),
        "value": Or((both_missing, And((IsNull(True, left), IsNull(True, right), equal)))),
    }
    core = cores[dialect.null_equality]
    return node._replace(core=core if pair.operator == "=" else Not(core))


def _is_of_texts(pair: Comparison) -> bool:
    """Report whether one of two properties is a header that is a text: numbers are never compared."""
    headers = [header_of(one.name, _RULES) for one in (pair.left, pair.right)]  # type: ignore[union-attr]
    return any(one is not None and one.types == ("string",) for one in headers)


def _with_core(node: Node) -> Node:
    """Return a test of texts with what it is in the core."""
    pair = _pair_of(node)
    if pair is not None:
        return _with_pair(node) if _is_of_texts(pair) else node
    if isinstance(node, Computed) and node.core is None:
        core = patterns(node.expression)
        return node if core is None else node._replace(core=core)
    return node


def _is_as_text(node: Node) -> bool:
    """Report whether a test of values of the right kind is the same of their texts, each read as what it stands beside.

    A text is read as an INT32 beside one, and beside a double as a double, of a FLOAT32 the shortest.
    """
    node = node.expression if isinstance(node, Computed) else node
    match node:
        case IsNull() | In() | Literal("boolean"):
            return True
        case Comparison("=" | "<>", Identifier(), Literal("string" | "boolean")):
            return True
        case Comparison(_, Identifier(), Literal() as low) | Between(_, Identifier(), _, Literal() as low):
            bounds = [low, node.low] if isinstance(node, Between) else [low]
            return all(
                isinstance(one, Literal) and one.kind == "approximate" and Float32(one.value) == one.value  # type: ignore[arg-type]
                for one in bounds
            )
        case Call("STARTSWITH" | "ENDSWITH" | "CONTAINS"):
            return True
    return False


# ---- proofs ----------------------------------------------------------------------------------------------------------

_MINUS_ZERO = read_selector("x = 0 AND 1.0 / x < 0", JMS)
_Allows = Callable[[Message], bool]


@functools.lru_cache(4096)
def _messages(
    names: tuple[str, ...], kinds: _Kinds, given: Contract | None, divides: bool
) -> tuple[list[Formula], _Allows]:
    """Return formulas that are true of canonical messages, and what reports whether a message is one."""
    types = dict(kinds)
    properties: dict[str, Property] = {}
    for name in names:
        header = header_of(name, _RULES)
        known = Property(_TYPES.get(types.get(name, ""), ())) if header is None else header
        properties[name] = known._replace(required=name in _USUAL)
    formulas, allows = Contract(properties).bound(names, _RULES)
    checks = [allows]
    for name in names if divides else ():
        if header_of(name, _RULES) is None and types.get(name, "number") == "number":
            formulas.append(complement(Writer().write(_MINUS_ZERO, {"x": name}, TRUTHS).true))
    if given is not None:
        more, allows = given.bound(names, _RULES)
        formulas += more
        checks.append(allows)

    def allowed(message: Message) -> bool:
        odd = (one for one in message.values() if isinstance(one, float) and not one and math.copysign(1.0, one) < 0)
        return not any(True for _ in odd) and all(check(message) for check in checks)

    return formulas, allowed


def _is_same(a: Formula, b: Formula) -> bool:
    """Report whether two formulas are written alike; arithmetic, which each dialect has its own rules for, is not."""
    pairs = [(a, b)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, (All, AnyOf)):
            if len(one.parts) != len(other.parts):  # type: ignore[union-attr]
                return False
            pairs += zip(one.parts, other.parts, strict=True)  # type: ignore[union-attr]
        elif one != other or not isinstance(one, Leaf) or not isinstance(one.subject, Identifier):
            return False
    return True


_PROVED = Witness(None)


@functools.lru_cache(16384)
def _difference(
    a: Meaning, b: Meaning, kinds: _Kinds, given: Contract | None, *, is_negated: bool = False, is_part: bool = False
) -> Witness:
    """Search for a message of which one selector is TRUE and the other is not.

    Args:
        is_negated: FALSE counts, and not TRUE.
        is_part: a part of a selector: it must not be ERR either.
    """
    names = tuple(dict.fromkeys([*a.names, *b.names]))
    said, allows = _messages(names, kinds, given, a.divides or b.divides)
    wanted = Truth.FALSE if is_negated else Truth.TRUE

    def differ(message: Message) -> bool:
        truths = a.truth(message), b.truth(message)
        return allows(message) and (UNDOCUMENTED in truths or (truths[0] is wanted) is not (truths[1] is wanted))

    for one in (a, b):
        if not one.is_exact:
            return Witness(None, "a test that the product computes, of which nothing is proved")
    unwanted = [one.normal.mismatch for one in (a, b) if one.is_model]
    unwanted += [one.normal.error for one in (a, b) if is_part]
    if any(part is not NEVER and not find([*said, part], allows, work=MAX_WORK).is_none for part in unwanted):
        return Witness(None, "values of other types, or errors, decide")
    first, second = [one.normal.false if is_negated else one.normal.true for one in (a, b)]
    if _is_same(first, second):
        return _PROVED
    reason = ""
    for holds, other in ((first, second), (second, first)):
        found = find([*said, holds, complement(other)], differ, work=MAX_WORK)
        if found.message is not None:
            return found
        reason = reason or found.reason
    return Witness(None, reason)


def _tried(a: Meaning, b: Meaning, kinds: _Kinds, given: Contract | None) -> Message | None:
    """Try small messages, where formulas do not find one."""
    names = tuple(dict.fromkeys([*a.names, *b.names]))
    _, allows = _messages(names, kinds, given, False)
    for message in itertools.islice(small_messages((a.names, b.names), (a.normal, b.normal)), MAX_TRIES):
        full = {**{name: _USUAL[name] for name in names if name in _USUAL}, **message}
        if (a.truth(full) is Truth.TRUE) is not (b.truth(full) is Truth.TRUE) and allows(full):
            return full
    return None


def _part(node: Node, dialect: Dialect) -> Meaning | SelectorError:
    """Return what a part is: in parentheses no identifier stands for a match option."""
    return meaning(f"({unparse(node, dialect)})", dialect)


@functools.lru_cache(8192)
def _chosen(
    test: Node, source: Dialect, targets: tuple[Dialect, ...], kinds: _Kinds, given: Contract | None, is_negated: bool
) -> Node | None:
    """Return the first candidate for a test that is proved, without what is assumed if possible; None if none is."""
    own = _part(test, source)
    for assumed in dict.fromkeys([(), kinds]):
        undecided = 0
        for candidate in candidates(test):
            found = _part_difference(own, candidate, targets, assumed, given, is_negated)
            if found.is_none:
                return candidate
            undecided += found.message is None
            if undecided > MAX_UNDECIDED:
                break
    return None


def _part_difference(
    own: Meaning | SelectorError,
    candidate: Node,
    targets: tuple[Dialect, ...],
    kinds: _Kinds,
    given: Contract | None,
    is_negated: bool,
) -> Witness:
    """Search for a message that a test and a candidate in one of the targets treat differently."""
    assert isinstance(own, Meaning)
    for target in targets:
        other = _part(candidate, target)
        if isinstance(other, SelectorError):
            return Witness({})  # no message is needed to see that
        found = _difference(own, other, kinds, given, is_negated=is_negated, is_part=True)
        if not found.is_none:
            return found
    return _PROVED


def _kinds_of(root: Node) -> _Kinds:
    """Return for each property the kind of value that it is compared with, where there is one."""
    order = walk(root)
    expected = remark(order, {name: name for name in _names(root)}).expected
    pairs = ((name, kinds[0]) for name, kinds in expected.items() if len(kinds) == 1)
    return tuple([(name, kind) for name, kind in pairs if header_of(name, _RULES) is None])


def _of(kinds: _Kinds, node: Node) -> _Kinds:
    names = _names(node)
    return tuple([one for one in kinds if one[0] in names])


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
        self.selector = read_selector(text, source)
        self.refusals: list[SelectorError] = []
        self.tried: list[tuple[str, list[Node]]] = []  # texts that the targets accept, with their canonical trees

    def result(self) -> Migrated:
        try:
            self.root = canonical(self.selector)
            for target in self.targets:
                named_in(self.root, target)
        except _RefusedError as error:
            return Migrated("refused", reason=error.args[0], advice=error.args[1])
        self.tests, self.joints = tests_of(self.root)
        kinds = _kinds_of(self.root)
        for assumed in dict.fromkeys([(), kinds]):
            for verdict, text in self.texts(assumed):
                trees = self.read(text)
                if trees is not None and self.is_proved(trees, assumed):
                    return Migrated(verdict, text, self.needed(trees, assumed))
        return self.unproved(kinds)

    def texts(self, kinds: _Kinds) -> Iterator[tuple[str, str]]:
        """Yield what may mean the same, the least change first, each with the verdict if it does."""
        yield "same", self.text
        made = [
            _chosen(one.node, self.source, self.targets, _of(kinds, one.node), self.given, one.negated) or one.node
            for one in self.tests
        ]
        rest = iter(made)
        tree = with_tests(self.root, lambda _: next(rest))
        target = self.targets[0]
        if any(one.connectives == "first" for one in self.targets):
            tree = inward(tree)
        else:
            yield "translated", self.edited(made)
        yield "translated", unparse(named_in(tree, target), target)
        names = _names(self.root)
        if self.source.null_arithmetic == "selector" and any(isinstance(one, Arithmetic) for one in walk(self.root)):
            guarded = And((*[IsNull(True, Identifier(name)) for name in names], tree))
            yield "translated", unparse(named_in(guarded, target), target)

    def edited(self, made: Sequence[Node]) -> str:
        """Return the text with other tests in the places of those that change."""
        target = self.targets[0]
        pieces, end = [], 0
        old = tests_of(self.selector.node)[0]
        for was, new in zip(old, made, strict=len(old) == len(made)):
            node = named_in(new, target)
            if unparse(node) != unparse(was.node):
                written = unparse(node, target)
                is_chain = isinstance(node, (And, Or)) and len(made) > 1
                pieces += [self.text[end : was.node.span[0]], f"({written})" if is_chain else written]
                end = was.node.span[1]
        return "".join([*pieces, self.text[end:]])

    def read(self, text: str) -> list[Node] | None:
        """Return the canonical trees of a text in the targets; None where one refuses it."""
        try:
            trees = [canonical(read_selector(text, target), is_target=True) for target in self.targets]
        except SelectorError as error:
            self.refusals.append(error)
            return None
        except _RefusedError:
            return None
        self.tried.append((text, trees))
        return trees

    def is_proved(self, trees: Sequence[Node], kinds: _Kinds) -> bool:
        pairs = [*zip(trees, self.targets, strict=True)]
        return all(self.by_tests(*pair, kinds) or self.as_whole(*pair, kinds).is_none for pair in pairs)

    def by_tests(self, tree: Node, target: Dialect, kinds: _Kinds) -> bool:
        """Report whether each test is proved where it stands, and Kleene's connectives join all of them."""
        tests, joints = tests_of(tree)
        option = self.selector.match_option
        negated = any(joint.is_negated and joint.joined is not Not for joint in joints if joint)
        if negated and "first" in (self.source.connectives, target.connectives):
            return False
        if joints != self.joints or (option is not None and option.matches_any):
            return False
        return all(
            _part_difference(
                _part(one.node, self.source), other.node, (target,), _of(kinds, one.node), self.given, one.negated
            ).is_none
            for one, other in zip(self.tests, tests, strict=True)
        )

    def as_whole(self, tree: Node, target: Dialect, kinds: _Kinds) -> Witness:
        """Search for a message that the selector and a tree of a target treat differently."""
        own, other = meaning(unparse(self.root, self.source), self.source), meaning(unparse(tree, target), target)
        if isinstance(own, SelectorError) or isinstance(other, SelectorError):
            return Witness(None, "headers under the names of JMS are refused")
        return _difference(own, other, kinds, self.given)

    def needed(self, trees: Sequence[Node], kinds: _Kinds) -> _Kinds:
        """Return what must be assumed of it."""
        for one in kinds:
            fewer = tuple([other for other in kinds if other != one])
            kinds = fewer if self.is_proved(trees, fewer) else kinds
        return kinds

    def unproved(self, kinds: _Kinds) -> Migrated:
        if not self.tried:
            error = self.refusals[-1]
            return Migrated("refused", reason=error.message, advice=_advice(self.root, error))
        text, trees = self.tried[0]
        reason = ""
        own = meaning(unparse(self.root, self.source), self.source)
        for assumed in dict.fromkeys([kinds, ()]):
            for tree, target in zip(trees, self.targets, strict=True):
                other = meaning(unparse(tree, target), target)
                if isinstance(own, SelectorError) or isinstance(other, SelectorError):
                    continue
                found = _difference(own, other, assumed, self.given)
                reason = reason or found.reason
                message = _tried(own, other, assumed, self.given) if found.message is None else found.message
                if message is not None:
                    truths = own.truth(message), other.truth(message)
                    because = readings(own.text, message, self.source, target)
                    return Migrated("differs", message=message, truths=truths, readings=because, tried=text)
        return Migrated("not decided", reason=reason, tried=text)


# ---- what a product has not ------------------------------------------------------------------------------------------


def _is_bytes(node: Node) -> bool:
    return isinstance(node, Literal) and node.kind == "bytes"


# Constructs that a product may refuse, and what people do instead.
_INSTEAD: tuple[tuple[Callable[[Node], bool], str], ...] = (
    (
        lambda node: isinstance(node, Like),
        "select on what stands at the beginning, at the end or anywhere in the text; or let the sender set a property",
    ),
    (lambda node: isinstance(node, (Arithmetic, Sign)), "let the sender set a property with the result"),
    (_is_bytes, "let the sender set a property with the digits as a text"),
    (
        lambda node: isinstance(node, Call),
        "let the sender set a property, or let the consumer filter",
    ),
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
