# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Checks a tree: names that are allowed, types that fit, and the truth value of a selector that reads no property.

A node's static kind follows from its class alone, so the tree stays as parsed; the findings stand beside it in
`mqsel.language.selector.Selector`. Decides what is an error; rearranges nothing. Follows language §4 (static types), §5
(constants), §6 (names).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel import errors
from mqsel.carets import Span, quoted
from mqsel.language import computed
from mqsel.language.advice import (
    HYPHEN,
    TWO_MINUS_SIGNS,
    dashes,
    in_milliseconds,
    is_hyphenated,
    milliseconds,
    wrong_type,
)
from mqsel.language.dialect import PRESETS, Dialect
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
    operator_of,
    walk,
)
from mqsel.language.operators import BOUNDS, OPERATORS, RELATIONS
from mqsel.names import (
    DESCRIPTOR,
    HEADER_NAMES,
    JMS_HEADERS,
    JMS_PREFIX,
    JMS_SYNONYMS,
    MAX_LENGTH,
    MQMD_TYPES,
    RESERVED,
    TIMES,
    did_you_mean,
    spellings,
)
from mqsel.values import AND, LITERAL_KINDS, NOT, OR, Truth, arithmetic, compare, negate

if not cython.compiled:
    from mqsel.language.nodes import field

MAX_TESTS = 100  # IBM MQ 9.4, Selection behavior: "more than 100 tests" may be refused by a queue manager


# Fields in a list: in what Cython compiles the types of a class are texts, each of which typing would compile.
class MatchOption(NamedTuple("MatchOption", [("name", str), ("identifier", bytes)])):
    """The identifier a queue manager would match instead of running the selector (language §8)."""

    __slots__ = ()

    @property
    def matches_any(self) -> bool:
        """Whether it is MQMI_NONE or MQCI_NONE, which match any message: IBM MQ 9.4, MatchOptions (language §8)."""
        return not any(self.identifier)


class Remarks(NamedTuple("Remarks", [("tests", int), ("expected", dict[str, tuple[str, ...]])])):
    """What there is to say to the author of a selector.

    Attributes:
        tests: how many predicates the selector has.
        expected: for each property, the kinds its values are compared with, in words; of those read as they are.
    """

    __slots__ = ()


def check(
    order: Sequence[Node], text: str, dialect: Dialect
) -> tuple[dict[str, str], Truth | None, MatchOption | None]:
    """Check a tree that was parsed from *text*.

    Args:
        order: its nodes, as `walk` lists them.

    Returns: ``names``, ``constant`` and ``match_option`` of a `Selector`.

    Raises: SelectorTypeError: types that can never fit. SelectorSyntaxError: a name no property has.
        SelectorAlwaysFalseError: reads no property and is not TRUE, where the dialect rejects that.
    """
    node = order[-1]
    names: dict[str, str] = {}
    rules = dialect.headers
    known = _READ[rules]
    for part in order:
        if type(part) is Identifier:
            name = field(part, 0)
            if name not in names:
                read = known.get(name) or _read(name, rules)
                if not isinstance(read, str):
                    raise _no_property(part, read, text, dialect)
                if len(known) >= _REMEMBERED:
                    known.clear()
                names[name] = known[name] = read
    if rules == "folded":
        first: dict[str, str] = {}
        names = {name: first.setdefault(name.casefold(), read) for name, read in names.items()}
    try:
        check_types(order, text, dialect)
    except errors.SelectorTypeError as error:
        if _touches_dashes(text, error.span):
            error.hint = TWO_MINUS_SIGNS
        raise
    constant = None
    if not names and not clock_readings(order):
        try:
            constant = truth_of(evaluate(node))
        except errors.UndocumentedError as error:
            raise errors.SelectorTypeError(
                error.message, selector=text, span=node.span, hint="compare constants of one type"
            ) from error
        if constant is not Truth.TRUE and dialect.constant_false == "reject":
            raise errors.SelectorAlwaysFalseError(
                f"the selector reads no property and is {constant}: it can never select a message",
                selector=text,
                span=(0, len(text)),
                hint="name a property, or compile with dialect.replace(constant_false='accept')",
                reason=errors.MQRC.MQRC_SELECTOR_ALWAYS_FALSE,
            )
    return names, constant, _match_option(node, text, dialect)


_FAILING = frozenset((Sign, Arithmetic, Computed))
_ERR = Truth.ERR
# Where a test has its outcome for a value of another kind.
_OTHER: dict[type, int] = {cls: cls._fields.index("other") for cls in (Identifier, Comparison, Between, In, Like)}


def may_err(order: Sequence[Node]) -> bool:
    """Report whether some of the nodes of a tree may be ERR: none is without these, if no test is by itself."""
    for node in order:
        kind = type(node)
        if kind is Literal:
            continue
        # The commonest at once.
        place = 2 if kind is Identifier else 4 if kind is Comparison else _OTHER.get(kind, -1)
        if kind in _FAILING if place < 0 else field(node, place) is _ERR:
            return True
    return False


def clock_readings(order: Sequence[Node]) -> list[Span]:
    """List where tests read the time."""
    tests = [node.expression for node in order if type(node) is Computed]
    return [node.span for test in tests for node in walk(test) if type(node) is Call and node.name == "UTC"]


def remark(order: Sequence[Node], names: Mapping[str, str]) -> Remarks:
    """Count and list what a selector tests. Apart from `check`, because only authors of selectors need it."""
    return Remarks(_count_tests(order), _expected(order, names))


# ---- names: language §6 -----------------------------------------------------------------------------------


_FOLDERS = ("Root", "Body")  # no property has their names alone


def _mqi_problem(name: str) -> tuple[str, str] | None:
    """Find what IBM MQ 9.4, Property name restrictions, forbids in *name*: (what was found, what to do)."""
    if "." not in name and name[:3] != JMS_PREFIX and name not in _FOLDERS and len(name) <= MAX_LENGTH:
        return None  # most names; one that is reserved is no identifier
    if len(name) > MAX_LENGTH:
        return f"the name has {len(name)} characters: a property name has at most {MAX_LENGTH}", "shorten the name"
    if ".." in name or name.endswith("."):
        return f"{quoted(name)} has a dot too many", "write one dot between two parts and none at the end"
    root, _, field = name.partition(".")
    bare = field if root == "usr" else name
    if bare.startswith(JMS_PREFIX):
        if root == "usr" or name not in JMS_SYNONYMS:
            advice = f"only {len(JMS_SYNONYMS)} JMS names exist for the MQI{did_you_mean(bare, JMS_SYNONYMS)}"
            if bare.startswith("JMS_IBM_"):
                advice = "JMS_IBM_ names are not available through the MQI: use Root.MQMD. and the field's name"
            return f"no property can be named {quoted(name)}", advice
    elif root == "Body":
        return f"{quoted(name)} would read the message body", "a selector reads properties only"
    elif root == "Root":
        field = name[len(DESCRIPTOR) :]
        if not name.startswith(DESCRIPTOR) or field not in MQMD_TYPES:
            return (
                f"{quoted(name)} is not a field of the message descriptor",
                f"fields are spelled as in MQMD, after Root.MQMD.{did_you_mean(field, MQMD_TYPES)}",
            )
    elif name[:2].lower() == "mq" and name[:6].lower() != "mq_usr" and name.count(".") > 1:
        return f"{quoted(name)} begins with mq and has more than one dot", "such names may have one dot only"
    elif bare.upper() in RESERVED and bare.isascii():
        return f"{quoted(name)} is a reserved word", "no property can have this name"
    return None


# Headers of JMS that exist, and that no selector reads.
_OTHER_HEADERS = {*JMS_SYNONYMS, "JMSDeliveryTime"} - JMS_HEADERS.keys()


def _jms_problem(name: str) -> tuple[str, str] | None:
    """Find what *Message selectors in JMS* forbids in *name*: a selector reads six headers, JMSX… and JMS_… names."""
    if name.startswith(JMS_PREFIX) and name not in JMS_HEADERS and name[:4] not in ("JMSX", "JMS_"):
        near = "" if name in _OTHER_HEADERS else did_you_mean(name, JMS_HEADERS)
        if name in JMS_SYNONYMS:
            others = [one for one, preset in PRESETS.items() if preset.headers in ("mqi", "any")]
            having = [one for one in others if HEADER_NAMES.get(one, {name: name}).get(name) == name]
            near = f"; {', '.join(having)} have {name}"
        advice = f"a selector reads {', '.join(JMS_HEADERS)}, JMSX… and JMS_… names{near}"
        return f"{quoted(name)} may not be read by a selector", advice
    return None


_PROBLEMS: dict[str, Callable[[str], tuple[str, str] | None]] = {
    "mqi": _mqi_problem,
    "jms": _jms_problem,
    "any": lambda _: None,
    "sections": lambda _: None,
    "folded": lambda _: None,
}


def is_name(name: str, rules: str) -> bool:
    """Report whether a name may be read under these rules, the ``headers`` of a dialect (language §6)."""
    return _PROBLEMS[rules](name) is None


def _no_property(
    identifier: Identifier, problem: tuple[str, str], text: str, dialect: Dialect
) -> errors.SelectorSyntaxError:
    found, hint = problem
    if dialect.headers == "mqi":
        hint += f" [{errors.MQRC.MQRC_PROPERTY_NAME_ERROR}]"
    return errors.SelectorSyntaxError(found, selector=text, span=identifier.span, hint=hint)


# Selectors have the same names again and again: by rules, what some of those that may be read are.
_READ: dict[str, dict[str, str]] = {rules: {} for rules in _PROBLEMS}
_REMEMBERED = 4096


def _read(name: str, rules: str) -> str | tuple[str, str]:
    """Return the property that a name reads, or what is wrong with the name and what to do.

    ``usr.x`` and ``x`` are one property (formats §2).
    """
    return _PROBLEMS[rules](name) or spellings(name, rules)[0]


# ---- static types: language §4 -----------------------------------------------------------------------------------


# What nodes give that are no literals.
_RESULTS: dict[type, str | None] = {
    Identifier: None,
    **dict.fromkeys((Sign, Arithmetic), "number"),
    **dict.fromkeys((Computed, Comparison, Between, In, Like, IsNull, Not, And, Or), "boolean"),
}


def kind_of(node: Node) -> str | None:
    """Name the static kind of *node*: "number", "string", "boolean", "byte string", or None where a message decides."""
    if type(node) is Call:
        return "number" if node.name == "UTC" else "boolean"
    return LITERAL_KINDS[node.kind] if type(node) is Literal else _RESULTS[type(node)]


def _described(node: Node, text: str) -> str:
    piece = quoted(text[node.span[0] : node.span[1]])
    if isinstance(node, Literal):
        word = LITERAL_KINDS[node.kind] if LITERAL_KINDS[node.kind] != "number" else f"{node.kind} number"
        return f"the {word} {piece if node.kind != 'string' else quoted(str(node.value))}"
    kind = kind_of(node)
    return f"the {'arithmetic expression' if kind == 'number' else 'condition'} {piece}"


_LEAVES = frozenset((Literal, Identifier))
_WANTED = {"number": "a number", "boolean": "a condition"}

# What has no operands that could have a wrong type, and what AND and OR take.
_SOUND = frozenset((Literal, Identifier, Computed, In, Like, IsNull))
_COMPARED = {one: OPERATORS[one].operands for one in RELATIONS}  # the kinds that comparisons take
_CONDITIONS = frozenset(cls for cls, kind in _RESULTS.items() if kind in (None, "boolean"))


def differing(node: Comparison) -> bool:
    """Report whether both sides are of kinds that are known and differ."""
    kinds = kind_of(node.left), kind_of(node.right)
    return None not in kinds and kinds[0] != kinds[1]


def _accepts(node: Comparison, dialect: Dialect) -> bool:
    """Report whether two kinds that differ may be compared: those of constants, where the dialect says so."""
    return dialect.static_mismatch == "accept" and not any(type(one) is Identifier for one in walk(node))


def sides(node: Comparison, text: str) -> str:
    """Return what a comparison compares, in words."""
    return f"{_described(node.left, text)} with {_described(node.right, text)}"


def advice(node: Comparison, text: str) -> str:
    """Return what to do about a comparison of two kinds that differ."""
    if any(is_hyphenated(text[slice(*side.span)]) for side in (node.left, node.right)):
        return HYPHEN
    return "property values are never converted: write the literal in the type the property has"


def _is_number(node: Node) -> bool:
    return type(node) is Literal and LITERAL_KINDS[field(node, 0)] == "number"


def check_types(order: Sequence[Node], text: str, dialect: Dialect) -> None:
    """Check the static types of a tree, and that it is a condition.

    Args:
        order: its nodes, the tree itself last.

    Raises: SelectorTypeError: types that can never fit.
    """
    if dialect.rules.static_types != "jms":
        return  # `mqsel.language.static` did it, of the tree as it was parsed
    root = order[-1]
    for node in order:
        kind = type(node)
        if kind is Identifier or kind is Literal:
            continue
        # Most of the others are sound at the first look.
        if kind is Comparison:
            right = field(node, 2)
            if type(field(node, 1)) is Identifier and type(right) is Literal:
                compared_kind = _COMPARED[field(node, 0)]
                if compared_kind == "" or compared_kind == LITERAL_KINDS[field(right, 0)]:
                    continue
        elif kind is Between:
            if type(field(node, 1)) is Identifier and _is_number(field(node, 2)) and _is_number(field(node, 3)):
                continue
        elif kind is And or kind is Or or kind is Not:
            for operand in field(node, 0) if kind is not Not else (field(node, 0),):
                if type(operand) is not Comparison and type(operand) not in _CONDITIONS:
                    break
            else:
                continue
        elif kind in _SOUND:
            continue
        row = operator_of(node)
        assert row is not None
        wanted = row.operands
        if wanted:
            for operand in children(node):
                if type(operand) is not Identifier and kind_of(operand) != wanted:
                    word = row.spelling if row.spelling.isalpha() else f"'{row.spelling}'"
                    what = f"{word} needs {_WANTED[wanted]}"
                    hint = _number_of(node, operand) or row.hint
                    raise wrong_type(text, operand.span, what, _described(operand, text), hint)
        elif isinstance(node, Comparison) and differing(node) and not _accepts(node, dialect):
            raise errors.SelectorTypeError(
                f"'{node.operator}' compares {sides(node, text)}: expected two values of one type",
                selector=text,
                span=node.span,
                hint=advice(node, text),
            )
    if kind_of(root) not in (None, "boolean"):
        raise errors.SelectorTypeError(
            f"a selector is a condition, found {_described(root, text)}",
            selector=text,
            span=root.span,
            hint="compare it with something, for example with = or IS NOT NULL",
        )


def _number_of(node: Node, operand: Node) -> str:
    """Return what to write for a string where a number stands: a date beside JMSTimestamp, or the digits of one."""
    string = operand.value if isinstance(operand, Literal) and isinstance(operand.value, str) else ""
    if any(type(one) is Identifier and one.name in TIMES for one in children(node)):
        made = milliseconds(string)
        return "" if made is None else in_milliseconds(string, made)
    texts = [
        one.name for one in children(node) if type(one) is Identifier and one.name.endswith(("PutDate", "PutTime"))
    ]
    if texts:
        made = milliseconds(string)
        return f"{texts[0]} is text: write LIKE '{string[:4]}%'" + (
            f", or compare JMSTimestamp with {made}" if made else ""
        )
    return f"write {string} without apostrophes" if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", string) else ""


def _touches_dashes(text: str, span: Span) -> bool:
    """Report whether ``--`` stands in *span* or, blanks apart, beside it."""
    left = len(text[: span[0]].rstrip()) - 2
    right = len(text) - len(text[span[1] :].lstrip())
    return any(left <= place <= right for place in dashes(text))


# ---- constants: language §5 --------------------------------------------------------------------------------------

Value = Truth | int | float | str | bytes


def truth_of(value: Value) -> Truth:
    """Return the value of a condition as it is: a checked condition has no other."""
    return cast("Truth", value)


def literal_value(node: Literal) -> Value:
    """Return a literal's value; a boolean is its truth value."""
    return Truth(int(node.value)) if node.kind == "boolean" else node.value


def compared(sign: str, left: Value, right: Value, other: Truth) -> Truth:
    """Compare two values; UNKNOWN is the NULL that a condition can be, and *other* the result for two kinds."""
    if Truth.UNKNOWN in [one for one in (left, right) if isinstance(one, Truth)]:
        return Truth.UNKNOWN
    numbers = [isinstance(one, (int, float)) and not isinstance(one, Truth) for one in (left, right)]
    if all(numbers) or (type(left) is type(right) and not any(numbers)):
        return compare(sign, left, right)
    return other


def apply(node: Node, operands: list[Value]) -> Value:
    """Compute *node* from the values of its operands, none of which is NULL; ERR stands for "no value"."""
    if Truth.ERR in [v for v in operands if isinstance(v, Truth)] and not isinstance(node, (And, Or, Not, Between)):
        return Truth.ERR
    match node:
        case Sign(operator):
            return operands[0] if operator == "+" else negate(operands[0])  # type: ignore[arg-type]
        case Computed():
            return computed.truth_of(node, operands)
        case Arithmetic(operators):
            total = operands[0]
            for operator, operand in zip(operators, operands[1:], strict=True):
                result = arithmetic(operator, total, operand)  # type: ignore[arg-type]
                if result is None:
                    return Truth.ERR
                total = result
            return total
        case Comparison(operator):
            return compared(operator, operands[0], operands[1], node.other)
        case Between(negated):
            errors_seen = [isinstance(value, Truth) for value in operands]
            if errors_seen[0] or (node.null is not None and any(errors_seen)):
                return Truth.ERR
            signs = BOUNDS[negated]
            tests = [
                Truth.ERR if missing else compare(sign, operands[0], bound)
                for sign, bound, missing in zip(signs, operands[1:], errors_seen[1:], strict=True)
            ]
            return (OR if negated else AND)[tests[0]][tests[1]]
        case And() | Or():
            table = AND if isinstance(node, And) else OR
            truth = truth_of(operands[0])
            for operand in operands[1:]:
                truth = table[truth][truth_of(operand)]
            return truth
        case _:
            return NOT[truth_of(operands[0])]


def evaluate(node: Node) -> Value:
    """Evaluate a tree that reads no property."""
    values: dict[int, Value] = {}
    for part in walk(node):
        if isinstance(part, Literal):
            values[id(part)] = literal_value(part)
        else:
            values[id(part)] = apply(part, [values[id(child)] for child in children(part)])
    return values[id(node)]


# ---- remarks and match options --------------------------------------------------------------------------------------

_IDENTIFIER = re.compile(r"ID:([0-9A-Fa-f]{48})")
_MATCH_OPTIONS = {"JMSMessageID": "MQMO_MATCH_MSG_ID", "JMSCorrelationID": "MQMO_MATCH_CORREL_ID"}


def _match_option(node: Node, text: str, dialect: Dialect) -> MatchOption | None:
    """Find the identifier to match: the name stands on the left, without parentheses (language §8)."""
    match node:
        case Comparison("=", Identifier(name), Literal(value=str(value))) if name in _MATCH_OPTIONS:
            found = _IDENTIFIER.fullmatch(value)
            bare = "(" not in text[: node.left.span[0]] and ")" not in text[node.right.span[1] :]
            if found and bare:
                option = MatchOption(_MATCH_OPTIONS[name], bytes.fromhex(found[1]))
                return None if option.matches_any and dialect.zero_identifier == "string" else option
    return None


_CONNECTIVES = frozenset((And, Or, Not))
_PREDICATES = frozenset((Computed, Comparison, Between, In, Like, IsNull))


def _count_tests(order: Sequence[Node]) -> int:
    classes = [*map(type, order)]
    conditions = [order[-1]]
    for node, cls in zip(order, classes, strict=True):
        if cls in _CONNECTIVES:
            conditions += children(node)
    return sum([cls in _PREDICATES for cls in classes]) + sum([type(node) is Identifier for node in conditions])


def _expected(order: Sequence[Node], names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    expected: dict[str, list[str]] = {name: [] for name in names.values()}

    def note(node: Node, kind: str | None) -> None:
        if kind is not None and type(node) is Identifier and kind not in expected[names[node.name]]:
            expected[names[node.name]].append(kind)

    for node in order:
        if type(node) in _LEAVES:
            continue
        row = operator_of(node)
        if row is not None and row.operands:
            for child in children(node):
                note(child, row.operands)
        elif isinstance(node, Comparison):
            note(node.left, kind_of(node.right))
            note(node.right, kind_of(node.left))
    if isinstance(order[-1], Identifier):
        note(order[-1], "boolean")
    return {name: tuple(kinds) for name, kinds in expected.items()}
