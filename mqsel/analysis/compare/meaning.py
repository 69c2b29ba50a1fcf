"""What a selector with canonical names is for canonical messages, and proofs that two are the same.

A product is read as one whose tests have formulas where its own are only computed; the messages for which it may do
something else are a formula beside them, and a proof shows that there are none.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable

from mqsel.analysis.compare.canonical import names_of
from mqsel.analysis.compare.contract import PRESENT, Contract, Property, header_of
from mqsel.analysis.compare.difference import OF_TRIES, small_messages
from mqsel.analysis.compare.doubles import in_doubles
from mqsel.analysis.compare.rewrites import patterns, tests_of, with_tests
from mqsel.analysis.compare.search import truth_of
from mqsel.analysis.readings import UNDOCUMENTED
from mqsel.errors import SelectorError
from mqsel.language.computed import java_text
from mqsel.language.dialect import JMS, Dialect, kept
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
    rebuilt,
    unparse,
    walk,
    with_children,
)
from mqsel.language.operators import OPERATORS
from mqsel.language.pattern import is_simple, wildcards
from mqsel.language.selector import Selector, read_selector
from mqsel.language.settle import settled
from mqsel.logic.formulas import NEVER, All, Formula, Leaf, Relation, all_of, any_of, complement, leaf, leaves
from mqsel.logic.formulas import Any as AnyOf
from mqsel.logic.normal import ALL_PARTS, TRUTHS, Writer, normal
from mqsel.logic.sets import NUMBERS, PROPERTY, outside
from mqsel.logic.solver import Message, Witness, find
from mqsel.logic.solver.budget import Budget, UndecidedError
from mqsel.values import KINDS, TYPE_NAMES, TYPES, Float32, Int32, Truth

_OF_PROOF = 20_000  # steps of one proof: a twentieth of a second
_OF_PAIR = 20  # steps for a proof that is remembered
_OF_NAME = 40  # steps for a property of a proof: what it can be, and what is said of that
RULES = "jms"  # how a canonical message spells its properties
# Headers that every message has, each with its default: Jakarta Messaging 3.1, §3.4.2 and §3.4.10.
_USUAL = {"JMSPriority": Int32(4), "JMSDeliveryMode": "PERSISTENT"}
_TYPES = {kind: tuple([row.name for row in TYPES if KINDS.get(row.kind) == kind]) for kind in KINDS.values()}
ONE_LINE = "text of one line"
DOUBLE = "finite double"
_TYPES |= {ONE_LINE: _TYPES["string"], DOUBLE: ("float64",)}
_DOUBLES = Property(_TYPES[DOUBLE], least=-sys.float_info.max, greatest=sys.float_info.max)
Kinds = tuple[tuple[str, str], ...]  # names of properties, each with the kind of its values


class Meaning:
    """What a selector with canonical names is for canonical messages.

    A product that reads texts as numbers, or whose documents do not say what different types yield, is read as one
    that does neither: of messages without a mismatch it is the same, and the formula of the mismatches says which.

    Attributes:
        selector: as it is read for the proof.
        formulas: of that selector.
        is_exact: whether the formulas are what the product does, but for the divergence: no test is only computed.
        divergence: the messages on which the product may do something else: a mismatch, a text of many lines.
        doubles: properties that are finite doubles, but for the divergence.
        divides: whether computation is part of the formulas.
        has_bytes: whether it has byte strings.
    """

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect, read = _lenient(dialect)
        selector = read_selector(text, read)
        self._product = selector if read is self.dialect else None  # otherwise read when a truth is asked for
        paired = _with_pairs(selector.node)
        node = with_tests(paired, _with_core)
        self.selector = selector._replace(node=node, order=walk(node))
        is_model = read is not self.dialect or any(map(_is_order_of_two, self.selector.order))
        tests = [one.node for one in tests_of(node)[0]]
        self.is_exact = all(type(one) is not Computed or one.core is not None for one in self.selector.order)
        self.is_exact = self.is_exact and (dialect.rules.text_numbers != "read" or all(map(_is_as_text, tests)))
        self.formulas = normal(self.selector, ALL_PARTS if is_model else TRUTHS)
        lines = [_of_name(_LINES, name) for one in tests for name in _of_one_line(one)]
        computed = [one.node for one in tests_of(paired)[0] if in_doubles(one.node)]
        self.doubles = frozenset(name for one in computed for name in names_of(one))
        others = [leaf(Identifier(name), outside(_DOUBLES.allowed(), PROPERTY)) for name in sorted(self.doubles)]
        self.divergence = any_of([*lines, *others, *map(_gap_of, tests), *[self.formulas.mismatch] * is_model])
        self.has_bytes = any(
            isinstance(one, Literal) and one.kind == "bytes" for one in walk(mapped(node, lambda one: one))
        )
        self.divides = any(
            isinstance(one, Leaf) and isinstance(one.subject, Arithmetic)
            for part in self.formulas[:2]
            for one in leaves(part)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that it reads."""
        return self.selector.properties

    def truth(self, message: Message) -> Truth | str:
        """Return the truth of a canonical message as the product itself has it."""
        if self._product is None:
            self._product = read_selector(self.text, self.dialect)
        return truth_of(self._product, message)


@kept
def _lenient(dialect: Dialect) -> tuple[Dialect, Dialect]:
    """Return what parts of a selector are read as, and what they are read as for a proof."""
    own = read = dialect.replace(max_length=None, constant_false="accept")
    if read.rules.text_numbers == "read":
        read = read.varied(text_numbers="never")
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


def _with_pairs(root: Node) -> Node:
    """Return a tree with what `x = y OR y = x` is in the core: of narrow integers one of the two has no answer.

    Of NaN and of -0.0, which no canonical message has, it is something else.
    """

    def with_pair(node: Node) -> Node:
        left, right = map(_pair_of, node.operands) if isinstance(node, Or) and len(node.operands) == 2 else (None, None)
        if left is None or right is None:
            return node
        mirrored = Comparison(OPERATORS[right.operator].mirrored, right.right, right.left)
        return with_children(node, [*map(_with_pair, children(node))]) if left == mirrored else node

    return rebuilt(root, with_pair, (And, Or, Not))


def _with_pair(node: Node) -> Node:
    """Return a comparison of two properties with what it is in the core, of values that have no gaps."""
    pair = _pair_of(node)
    if pair is None or not isinstance(node, Computed):
        return node
    dialect, (left, right) = node.dialect, node.identifiers * (3 - len(node.identifiers))
    if dialect.rules.mixed_numbers != "double" or dialect.rules.integers not in ("java", "narrow"):
        return node
    if pair.operator not in ("=", "<>"):
        return node._replace(core=pair)
    equal = pair._replace(operator="=")
    both_missing = And((IsNull(False, left), IsNull(False, right)))
    cores: dict[str, Node] = {
        "left": Or((both_missing, And((IsNull(True, right), equal)))),
        "value": Or((both_missing, And((IsNull(True, left), IsNull(True, right), equal)))),
    }
    core = cores.get(dialect.rules.null_equality, equal)
    return node._replace(core=core if pair.operator == "=" else Not(core))


def _gap_of(node: Node) -> Formula:
    """Return where a comparison of two properties is ERR though both are numbers: FLOAT32 beside a double."""
    expression = node.expression if isinstance(node, Computed) and node.core is not None else None
    match expression:
        case Comparison(_, Identifier(), Identifier()) if _has_no_gaps(expression):
            return NEVER
        case Comparison(_, Identifier() as left, Identifier() as right) if node.dialect.rules.narrow_types == "casts":  # type: ignore[union-attr]
            return all_of([leaf(left, NUMBERS), leaf(right, NUMBERS)])
    return NEVER


def _has_no_gaps(pair: Comparison) -> bool:
    """Report whether one of two properties is a text, so that no numbers are compared, or the right a wide integer."""
    left, right = [header_of(one.name, RULES) for one in (pair.left, pair.right)]  # type: ignore[union-attr]
    wide = ("string",), ("int32",), ("int64",)
    return (left is not None and left.types == ("string",)) or (right is not None and right.types in wide)


def _with_core(node: Node) -> Node:
    """Return a test of texts with what it is in the core: of texts of one line, see `_of_one_line`."""
    pair = _pair_of(node)
    if pair is not None:
        return _with_pair(node) if _has_no_gaps(pair) else node
    if isinstance(node, Computed) and node.core is None:
        core = patterns(node.expression) or in_doubles(node)
        if core is None and _of_one_line(node):
            again = settled(node.expression, _of_lines(node.dialect))
            core = again.core if isinstance(again, Computed) else again
        return node if core is None else node._replace(core=core)
    return node


@kept
def _of_lines(dialect: Dialect) -> Dialect:
    return dialect.replace(byte_strings="no").varied(like_lines="all")


def _of_one_line(node: Node) -> list[str]:
    """List the properties that a test takes to be of one line: its pattern does not match line ends as others do."""
    if not isinstance(node, Computed) or not isinstance(node.expression, Like):
        return []
    dialect, like = node.dialect, node.expression
    parts = wildcards(like.pattern, like.escape, dialect)
    is_odd = dialect.rules.like_lines != "all" and any(wild for _, wild in parts) and not is_simple(parts, dialect)
    return names_of(like) if is_odd or dialect.byte_strings == "unquoted" else []


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
                isinstance(one, Literal)
                and one.kind == "approximate"
                and Float32(one.value) == one.value == float(java_text(Float32(one.value)))  # type: ignore[arg-type]
                for one in bounds
            )
        case Call("STARTSWITH" | "ENDSWITH" | "CONTAINS"):
            return True
    return False


# ---- proofs ----------------------------------------------------------------------------------------------------------

# Of a property: what canonical messages do not have, and what they may be assumed not to have.
_MINUS_ZERO = read_selector("x = 0 AND 1.0 / x < 0", JMS)
_LINES = read_selector("x LIKE '%\n%'", JMS)


def _of_name(selector: Selector, name: str) -> Formula:
    """Return where a selector of the property x is TRUE of another property."""
    return Writer().write(selector, {"x": name}, TRUTHS).true


_Allows = Callable[[Message], bool]


@functools.lru_cache(4096)
def _messages(
    names: tuple[str, ...], kinds: Kinds, given: Contract | None, *, divides: bool, has_bytes: bool
) -> tuple[list[Formula], _Allows]:
    """Return formulas that are true of canonical messages, and what reports whether a message is one.

    A property is no byte string where no selector has one: JMS has no such properties.
    """
    types = dict(kinds)
    properties: dict[str, Property] = {}
    for name in names:
        header = header_of(name, RULES)
        any_type = tuple([one for one in TYPE_NAMES if one != "null" and (has_bytes or one != "bytes")])
        known = Property(_TYPES.get(types.get(name, ""), any_type)) if header is None else header
        known = _DOUBLES if header is None and types.get(name) == DOUBLE else known
        properties[name] = known._replace(required=name in _USUAL)
    formulas, allows = Contract(properties).bound(names, RULES)
    checks = [allows]
    for name in names if divides else ():
        if header_of(name, RULES) is None and types.get(name, "number") == "number":
            formulas.append(complement(_of_name(_MINUS_ZERO, name)))
    formulas += [complement(_of_name(_LINES, name)) for name, kind in kinds if kind == ONE_LINE]
    if given is not None:
        more, allows = given.bound(names, RULES)
        formulas += more
        checks.append(allows)

    def allowed(message: Message) -> bool:
        if any(isinstance(one, float) and not one and math.copysign(1.0, one) < 0 for one in message.values()):
            return False
        if any("\n" in str(message.get(name, "")) for name, kind in kinds if kind == ONE_LINE):
            return False
        return all(check(message) for check in checks)

    return formulas, allowed


def possible_kinds(kinds: Kinds, given: Contract | None, budget: Budget) -> Kinds:
    """Leave out kinds that a property has in no message of a contract: what is assumed of none proves anything."""

    def is_possible(pair: tuple[str, str]) -> bool:
        said, allows = _messages((pair[0],), (pair,), given, divides=False, has_bytes=True)
        return not find([*said, leaf(Identifier(pair[0]), PRESENT)], allows, budget.share(_OF_PROOF)).is_none

    return kinds if given is None else tuple(filter(is_possible, kinds))


def _is_same(a: Formula, b: Formula, doubles: frozenset[str]) -> bool:
    """Report whether two formulas are written alike; arithmetic is alike of doubles alone."""
    pairs = [(a, b)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, (All, AnyOf)):
            if len(one.parts) != len(other.parts):  # type: ignore[union-attr]
                return False
            pairs += zip(one.parts, other.parts, strict=True)  # type: ignore[union-attr]
            continue
        operands = one[:2] if isinstance(one, Relation) else one[:1]
        computed = [node for node in operands if not isinstance(node, Identifier)]
        if one != other or not all(doubles.issuperset(names_of(node)) for node in computed):
            return False
    return True


PROVED = Witness(None)
# What texts are read by, and nothing that is read.
_OF_TEXTS = ("quoted_names", "prefix", "not_modelled", "comments", "words")


def _is_one(a: Meaning, b: Meaning) -> bool:
    """Report whether two products read one tree, and evaluate it by the same rules: ERR of it is the same, too."""
    apart = {field: getattr(b.dialect.rules, field) for field in _OF_TEXTS}
    narrow = a.dialect.rules.narrow_types, b.dialect.rules.narrow_types
    if "promoted" not in narrow and not any(map(_is_cast, a.selector.order)):
        apart["narrow_types"] = narrow[1]  # they differ in FLOAT32 on the right of a double alone
    one, other = [with_tests(both.selector.node, _as_parsed) for both in (a, b)]
    rules = a.dialect.rules._replace(**apart), b.dialect.rules
    fields = [both.dialect._replace(product="", max_length=None) for both in (a, b)]
    return one == other and rules[0] == rules[1] and fields[0] == fields[1]


def _as_parsed(test: Node) -> Node:
    return test.expression if isinstance(test, Computed) else test


def _is_cast(node: Node) -> bool:
    """Report whether a FLOAT32 may stand on the right of a double."""
    node = node.expression if isinstance(node, Computed) else node
    return any(
        isinstance(right, (Identifier, Sign)) and getattr(children(one)[0], "kind", "") != "exact"
        for one in walk(node)
        if isinstance(one, (Comparison, Between, Call))
        for right in children(one)[1:]
    )


def difference_of(
    a: Meaning,
    b: Meaning,
    kinds: Kinds,
    given: Contract | None,
    budget: Budget,
    *,
    is_negated: bool = False,
    is_part: bool = False,
) -> Witness:
    """Search for a message of which one selector is TRUE and the other is not.

    Args:
        a: one selector.
        b: the other one.
        kinds: what is assumed of properties.
        given: what messages are like.
        budget: of the question that this is a part of.
        is_negated: FALSE counts, and not TRUE.
        is_part: a part of a selector: it must not be ERR either.
    """
    try:
        budget.spend(_OF_PAIR)
        found, steps = _difference_and_steps(a, b, kinds, given, is_negated, is_part)
        budget.spend_once((a, b, kinds, given, is_negated, is_part), steps)
    except UndecidedError as error:
        return Witness(None, str(error))
    return found


@functools.lru_cache(16384)
def _difference_and_steps(
    a: Meaning, b: Meaning, kinds: Kinds, given: Contract | None, is_negated: bool, is_part: bool
) -> tuple[Witness, int]:
    budget = Budget(4 * _OF_PROOF)
    found = _difference(a, b, kinds, given, is_negated, is_part, budget)
    return found, budget.steps - budget.left


def _difference(
    a: Meaning, b: Meaning, kinds: Kinds, given: Contract | None, is_negated: bool, is_part: bool, budget: Budget
) -> Witness:
    if _is_one(a, b):
        return PROVED
    names = tuple(dict.fromkeys([*a.names, *b.names]))
    budget.count(_OF_NAME * (1 + len(names)))
    divides, has_bytes = a.divides or b.divides, a.has_bytes or b.has_bytes
    said, allows = _messages(names, kinds, given, divides=divides, has_bytes=has_bytes)
    wanted = Truth.FALSE if is_negated else Truth.TRUE

    def differ(message: Message) -> bool:
        truths = a.truth(message), b.truth(message)
        return allows(message) and (UNDOCUMENTED in truths or (truths[0] is wanted) is not (truths[1] is wanted))

    for one in (a, b):
        if not one.is_exact:
            return Witness(
                None, "one of the products computes a test in its own way: compare both selectors on messages"
            )
    unwanted = [one.divergence for one in (a, b)]
    unwanted += [one.formulas.error for one in (a, b) if is_part]
    if any(part is not NEVER and not find([*said, part], allows, budget.share(_OF_PROOF)).is_none for part in unwanted):
        return Witness(None, "values of other types, or errors, decide the result")
    first, second = [one.formulas.false if is_negated else one.formulas.true for one in (a, b)]
    if _is_same(first, second, a.doubles | b.doubles):
        return PROVED
    reason = ""
    for holds, other in ((first, second), (second, first)):
        witness = find([*said, holds, complement(other)], differ, budget.share(_OF_PROOF))
        if witness.message is not None:
            return witness
        reason = reason or witness.reason
    return Witness(None, reason)


def tried(a: Meaning, b: Meaning, kinds: Kinds, given: Contract | None, budget: Budget) -> Message | None:
    """Try small messages, where formulas do not find one."""
    names = tuple(dict.fromkeys([*a.names, *b.names]))
    _, allows = _messages(names, kinds, given, divides=False, has_bytes=a.has_bytes or b.has_bytes)
    for message in small_messages((a.selector, b.selector), budget.share(OF_TRIES // 2)):
        full = {**{name: _USUAL[name] for name in names if name in _USUAL}, **message}
        if (a.truth(full) is Truth.TRUE) is not (b.truth(full) is Truth.TRUE) and allows(full):
            return full
    return None


def part_of(node: Node, dialect: Dialect) -> Meaning | SelectorError:
    """Return what a part is: in parentheses no identifier stands for a match option."""
    return meaning(f"({unparse(node, dialect)})", dialect)
