"""The meaning of a selector, written a second time: a tree-walker that shares nothing with the engine but the tree.

Owns no meaning of its own. Source: language §1 (truth), §2 (fields of a dialect), §5 (evaluation) and §6 (names),
quoted rule by rule. Plain and recursive on purpose; must not know the optimizer, the compiler or the machine, and
ignores what an optimizer notes on a node.
"""

from __future__ import annotations

import math
import operator
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mqsel.language import nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from mqsel.language.dialect import Dialect

# A type and what Python holds for it, as in the vectors. Beside the types of §1 there is "poison", §5: "a poisoned
# number whose every comparison is a type mismatch".
Value = tuple[str, Any]
Properties = dict[str, Value]

TRUE, FALSE, UNKNOWN, ERR = "TRUE", "FALSE", "UNKNOWN", "ERR"
NULL: Value = ("null", None)
POISON: Value = ("poison", None)

_INTEGERS = ("int8", "int16", "int32", "int64")
_NUMBERS = (*_INTEGERS, "float32", "float64")
_LITERALS = {"exact": "int64", "approximate": "float64", "string": "string", "boolean": "boolean", "bytes": "bytes"}

# On floats these are the IEEE operations on doubles, NaN and infinity included.
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_NOT = {TRUE: FALSE, FALSE: TRUE, UNKNOWN: UNKNOWN}


class _SelectorIsFalseError(Exception):
    """ERR. An exception suffices: no rule turns ERR into another value, and a skipped operand is never evaluated."""


def evaluate(node: nodes.Node, properties: Properties, dialect: Dialect) -> str:
    """Evaluate the condition *node* against one message.

    Args:
        node: the tree of a selector.
        properties: (type, value) by name; a name that is absent is NULL.
        dialect: the choices of language §2.

    Returns:
        "TRUE", "FALSE", "UNKNOWN" or "ERR".
    """
    try:
        return _Message(properties, dialect).truth(node)
    except _SelectorIsFalseError:
        return ERR


def meets_mismatch(node: nodes.Node, properties: Properties, dialect: Dialect) -> bool:
    """Report whether evaluating *node* meets a value of another kind than a test wants, whatever the test is then."""
    message = _Message(properties, dialect)
    with suppress(_SelectorIsFalseError):
        message.truth(node)
    return message.has_met_mismatch


class _Message:
    """One message read under one dialect."""

    def __init__(self, properties: Properties, dialect: Dialect) -> None:
        self.properties = properties
        self.dialect = dialect
        self.has_met_mismatch = False

    def read(self, name: str) -> Value:
        """§6: "`usr.x` and `x` are one property" under mqi names; §1: "NULL (= missing)"."""
        spellings = [name]
        if self.dialect.headers == "mqi":
            head, dot, tail = name.partition(".")
            if not dot:
                spellings.append("usr." + name)
            elif head == "usr" and "." not in tail:
                spellings.append(tail)
        if self.dialect.headers == "folded":  # vectors name each property once
            spellings = [each for each in self.properties if each.casefold() == name.casefold()]
        kind, value = next((self.properties[each] for each in spellings if each in self.properties), NULL)
        return self.widened((kind, _to_float32(value) if kind == "float32" else value))

    def mismatch(self, choice: str = "comparison", *, negated: bool = False) -> str:
        """§2: `type_mismatch` = `operation` (FALSE) · `selector` (ERR) · `unknown` · `negated` (`<>` TRUE, else FALSE).

        Args:
            choice: what the field of a test says; "comparison" leaves it to `type_mismatch`.
            negated: whether the test is `<>` or has NOT.
        """
        self.has_met_mismatch = True
        choice = self.dialect.type_mismatch if choice == "comparison" else choice
        if choice in ("selector", "error"):
            raise _SelectorIsFalseError
        return UNKNOWN if choice == "unknown" else _truth(negated and choice == "negated")

    def truth(self, node: nodes.Node) -> str:
        """Evaluate a condition."""
        match node:
            case nodes.Literal(kind="boolean"):
                return _truth(node.value)
            case nodes.Identifier():
                return self.bare(node)
            case nodes.Not():
                # §1: "Kleene; NOT ERR = ERR".
                return _NOT[self.truth(node.operand)]
            case nodes.And():
                return self.junction(node.operands, decisive=FALSE)
            case nodes.Or():
                return self.junction(node.operands, decisive=TRUE)
            case nodes.Comparison():
                left = self.value(node.left)
                # §2: "the right side isn't evaluated"; `skipped`: of any.
                nulls, is_order = self.dialect.rules.null_equality, node.operator not in ("=", "<>")
                if left == NULL and (nulls == "skipped" or (nulls != "unknown" and is_order)):
                    return UNKNOWN
                return self.compare(node.operator, left, self.value(node.right))
            case nodes.Computed():
                met = self.has_met_mismatch
                truth = self.truth(node.expression)
                self.has_met_mismatch = met  # to all behind the front end it is one test, of values of any types
                return truth
            case nodes.Call("EXISTS", negated, (nodes.Identifier() as name,)):
                return _truth((self.value(name)[0] != "null") is not negated)
            case nodes.Call("LIKE", negated, (nodes.Identifier() as name, pattern, *escape)):
                assert isinstance(pattern, nodes.Literal)
                text = escape[0].value if escape else None  # type: ignore[union-attr]
                return self.match(nodes.Like(negated, name, str(pattern.value), text))  # type: ignore[arg-type]
            case nodes.Call("IN", negated, (left, *items)):
                found = [self.compare("=", self.value(left), self.value(one)) for one in items]
                if UNKNOWN in found:
                    return UNKNOWN
                return _truth((TRUE in found) is not negated)
            case nodes.Between():
                return self.between(node)
            case nodes.In() | nodes.Like():
                return self.match(node)
            case nodes.IsNull():
                # §5: "IS [NOT] NULL is never UNKNOWN. The empty string is not NULL."
                return _truth((self.read(node.identifier.name)[0] == "null") is not node.negated)
        raise TypeError(f"not a condition: {node!r}")

    def bare(self, node: nodes.Identifier) -> str:
        """§5, bare identifier: "BOOLEAN → itself, NULL → UNKNOWN, other → type mismatch"."""
        kind, value = self.read(node.name)
        if kind == "null":
            return UNKNOWN
        return _truth(value) if kind == "boolean" else self.mismatch(self.dialect.rules.condition_mismatch)

    def junction(self, operands: tuple[nodes.Node, ...], *, decisive: str) -> str:
        """§1: "a FALSE → FALSE; a ERR → ERR; otherwise evaluate b; b ERR → ERR; else Kleene" (OR: from TRUE).

        §2: `connectives` = `eager` ("evaluate both sides, and are ERR if either side is ERR") · `first` ("AND is its
        first operand that isn't TRUE").
        """
        if self.dialect.rules.connectives == "first":
            for operand in operands:
                truth = self.truth(operand)
                if (truth == TRUE) is (decisive == TRUE):
                    break
            return truth
        if self.dialect.rules.connectives == "eager":
            truths = [self.truth(operand) for operand in operands]
            return next((one for one in (decisive, UNKNOWN) if one in truths), _NOT[decisive])
        result = _NOT[decisive]
        for operand in operands:
            truth = self.truth(operand)
            if truth == decisive:
                return decisive
            if truth == UNKNOWN:
                result = UNKNOWN
        return result

    def compare(self, symbol: str, left: Value, right: Value) -> str:
        """Compare two values by §5, Comparison."""
        kinds = (left[0], right[0])
        # "NULL on either side → UNKNOWN (NULL wins over mismatch)." §2: `null_equality` = `left` (equal to NULL alone,
        # UNKNOWN on the left of a value) · `value` (equal to NULL alone).
        if "null" in kinds:
            is_left = kinds[0] == "null" != kinds[1] and self.dialect.rules.null_equality == "left"
            if symbol not in ("=", "<>") or self.dialect.rules.null_equality in ("unknown", "skipped") or is_left:
                return UNKNOWN
            return _truth((kinds[0] == kinds[1]) == (symbol == "="))
        # "Numbers compare after Java binary promotion"; "IEEE rules for NaN; -0.0 = 0.0".
        if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS:
            return self.numbers(symbol, left, right)
        # "`=`/`<>` also on strings (code points, exact), booleans, byte strings (length and bytes)."
        if symbol in ("=", "<>") and kinds[0] == kinds[1] and kinds[0] in ("string", "boolean", "bytes"):
            return _truth(_OPERATIONS[symbol](left[1], right[1]))
        # §2: `ordering` = `texts` (strings and byte strings "by their bytes") · `all` ("strings by UTF-16 code units,
        # and booleans").
        kind = {*kinds}
        if kind == {"string"} and self.dialect.rules.ordering != "numbers":
            form = "utf-16-be" if self.dialect.rules.ordering == "all" else "utf-8"
            return _truth(
                _OPERATIONS[symbol](left[1].encode(form, "surrogatepass"), right[1].encode(form, "surrogatepass"))
            )
        if kind == {{"texts": "bytes", "all": "boolean"}.get(self.dialect.rules.ordering)}:
            return _truth(_OPERATIONS[symbol](left[1], right[1]))
        # "Any other pairing, and ordering of non-numbers at run time, is a type mismatch". Poison is such a pairing.
        return self.mismatch(negated=symbol == "<>")

    def numbers(self, symbol: str, left: Value, right: Value) -> str:
        """§2: `narrow_types`, `integers`, `mixed_numbers` ("by their exact values") and `floats`."""
        if self.dialect.rules.narrow_types != "promoted":
            if right[0] in ("int8", "int16") and left[0] not in ("int8", right[0]):
                return self.mismatch(negated=symbol == "<>")
            if self.dialect.rules.narrow_types == "casts" and (left[0], right[0]) == ("float64", "float32"):
                raise _SelectorIsFalseError
        numbers: tuple[Any, Any] = left[1], right[1]
        if self.dialect.rules.mixed_numbers == "double":
            numbers = _promote(left, right)[1:]
        if self.dialect.rules.floats == "total" and isinstance(numbers[0], float):
            numbers = _rank(numbers[0]), _rank(numbers[1])
        return _truth(_OPERATIONS[symbol](*numbers))

    def widened(self, value: Value) -> Value:
        """§2: `integers` = `long` · `unbounded`: "all floating-point numbers are FLOAT64"."""
        wide = {"float32": "float64", **dict.fromkeys(_INTEGERS, "int64")}
        return (
            (wide.get(value[0], value[0]), value[1]) if self.dialect.rules.integers in ("long", "unbounded") else value
        )

    def between(self, node: nodes.Between) -> str:
        """§5: "BETWEEN = `a >= b AND a <= c`; NOT BETWEEN = `a < b OR a > c`; NULL by `between_null`"."""
        parts = (node.operand, node.low, node.high)
        # §2: "`literal` (any NULL: BETWEEN FALSE, NOT BETWEEN TRUE)". To know it, all three are evaluated.
        # "`unknown`: if one value is NULL, BETWEEN and NOT BETWEEN are UNKNOWN; otherwise NOT BETWEEN is the opposite".
        if self.dialect.between_null != "expand" and NULL in [self.value(part) for part in parts]:
            return UNKNOWN if self.dialect.between_null == "unknown" else _truth(node.negated)
        if self.dialect.between_null == "unknown" and node.negated:
            return _NOT[self.between(node._replace(negated=False))]
        low, high, decisive = ("<", ">", TRUE) if node.negated else (">=", "<=", FALSE)
        expansion = (
            nodes.Comparison(low, node.operand, node.low),
            nodes.Comparison(high, node.operand, node.high),
        )
        return self.junction(expansion, decisive=decisive)

    def match(self, node: nodes.In | nodes.Like) -> str:
        """Evaluate [NOT] IN and [NOT] LIKE."""
        kind, value = self.read(node.identifier.name)
        # "NULL → UNKNOWN for both", in IN and in LIKE.
        if kind == "null":
            return UNKNOWN
        # "A non-string operand is a type mismatch of the operation as written: IN and NOT IN are both FALSE."
        is_in = isinstance(node, nodes.In)
        if kind != "string":
            choice = self.dialect.rules.in_mismatch if is_in else self.dialect.rules.like_mismatch
            return self.mismatch("comparison" if choice == "listed" else choice, negated=node.negated)
        # "IN = OR of equalities, NOT IN its negation."
        found = (
            value in node.choices
            if isinstance(node, nodes.In)
            else _like(value, node.pattern, node.escape, self.dialect.rules.like_escapes)
        )
        return _truth(found is not node.negated)

    def value(self, node: nodes.Node) -> Value:
        """Evaluate an operand, "left to right" (§1) and eagerly."""
        match node:
            case nodes.Literal():
                # §5: "all integer literals are INT64"; §3: approximate numerics are "always double". §2: `integers` =
                # `narrow`: "literals that INT32 holds are INT32".
                is_narrow = (
                    node.kind == "exact" and self.dialect.rules.integers == "narrow" and abs(node.value) < 1 << 31
                )
                return "int32" if is_narrow else _LITERALS[node.kind], node.value
            case nodes.Identifier():
                return self.read(node.name)
            case nodes.Sign():
                return self.sign(node.operator, self.value(node.operand))
            case nodes.Arithmetic():
                # §4: "Left-associative".
                result = self.value(node.operands[0])
                for symbol, operand in zip(node.operators, node.operands[1:], strict=True):
                    result = self.arithmetic(symbol, result, self.value(operand))
                return result
        # §4: "`(a = 1) = TRUE` is legal": a condition as an operand is a boolean, UNKNOWN a NULL one.
        truth = self.truth(node)
        return NULL if truth == UNKNOWN else ("boolean", truth == TRUE)

    def unusable(self, *operands: Value) -> Value | None:
        """§5: "NULL operand: `null_arithmetic`. Wrong type: a poisoned number"; NULL wins."""
        if NULL in operands:
            if self.dialect.null_arithmetic == "selector":
                raise _SelectorIsFalseError
            return NULL
        if all(kind in _NUMBERS for kind, _ in operands):
            return None
        # §2: `arithmetic_mismatch` = `unknown` (NULL) · `error` (ERR).
        if self.dialect.rules.arithmetic_mismatch == "error":
            raise _SelectorIsFalseError
        return NULL if self.dialect.rules.arithmetic_mismatch == "unknown" else POISON

    def sign(self, symbol: str, operand: Value) -> Value:
        """Apply a unary sign, after unary promotion (a byte or short becomes an int)."""
        if unusable := self.unusable(operand):
            return unusable
        # §2: `narrow_types`: an INT8 or INT16 "with a minus sign is ERR", and stays what it is behind a plus sign.
        if self.dialect.rules.narrow_types != "promoted" and operand[0] in ("int8", "int16"):
            if symbol == "-":
                raise _SelectorIsFalseError
            return operand
        kind, number = operand
        number = -number if symbol == "-" else number
        if kind not in _INTEGERS:
            return kind, number
        kind = "int64" if kind == "int64" else "int32"
        return kind, self.wrap(kind, number)

    def wrap(self, kind: str, number: int) -> int:
        """§2: `integers` = `unbounded`: "integers have no limits"."""
        return number if self.dialect.rules.integers == "unbounded" else _wrap(kind, number)

    def arithmetic(self, symbol: str, left: Value, right: Value) -> Value:
        """Apply a binary operator by §5, Arithmetic."""
        if unusable := self.unusable(left, right):
            return unusable
        # §2: `integers` = `narrow`: "arithmetic on floats uses doubles"; `division` = `ieee`: "use doubles".
        is_division, division = symbol in ("/", "%"), self.dialect.rules.division
        are_whole = left[0] in _INTEGERS and right[0] in _INTEGERS
        if is_division and division == "unknown" and (right[1] == 0 or (symbol == "%" and not are_whole)):
            return NULL
        try:
            if self.dialect.rules.integers == "narrow" and not are_whole:
                left, right = ("float64", float(left[1])), ("float64", float(right[1]))
            if is_division and division != "java" and not (division == "unknown" and symbol == "%"):
                left, right = ("float64", float(left[1])), ("float64", float(right[1]))
            kind, first, second = _promote(left, right)
        except OverflowError:
            raise _SelectorIsFalseError from None
        by_division = {"/": _divide, "%": _remainder}
        result: Any = (
            by_division[symbol](kind, first, second) if symbol in by_division else _OPERATIONS[symbol](first, second)
        )
        if kind in _INTEGERS:
            return kind, self.wrap(kind, result)
        if self.dialect.rules.integers == "unbounded" and not math.isfinite(result):
            raise _SelectorIsFalseError
        # Rounding a double sum, product or quotient of two float32 gives the float32 one: 53 >= 2 * 24 + 2 bits.
        return kind, _to_float32(result) if kind == "float32" else result


def _truth(condition: object) -> str:
    return TRUE if condition else FALSE


def _promote(left: Value, right: Value) -> tuple[str, float, float]:
    """§5: "INT8/16/32 → int32; any INT64 → int64; any FLOAT64 → double; FLOAT32 with integers or FLOAT32 → float32"."""
    kinds = (left[0], right[0])
    first, second = left[1], right[1]
    if "float64" in kinds:
        return "float64", float(first), float(second)
    if "float32" in kinds:
        return "float32", _to_float32(first), _to_float32(second)
    return ("int64" if "int64" in kinds else "int32"), first, second


def _to_float32(number: float) -> float:
    if isinstance(number, int):
        # Through a double a long would round twice: 2**60 + 2**36 + 1 would end on 2**60.
        excess = max(abs(number).bit_length() - 24, 0)
        kept, rest = divmod(abs(number), 1 << excess)
        if 2 * rest + (kept & 1) > 1 << excess:
            kept += 1
        return math.copysign(float(kept << excess), number)
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _rank(number: float) -> tuple[float, float]:
    """§2: "NaN equals NaN and is greater than all other numbers, and -0.0 is less than 0.0"."""
    return (math.inf, 1.0) if math.isnan(number) else (number, math.copysign(0.5, number))


def _wrap(kind: str, number: int) -> int:
    """§5: "int32, wrapping", "int64, wrapping", "MIN / -1 wraps (no trap)"."""
    half = 1 << (63 if kind == "int64" else 31)
    return (number + half) % (2 * half) - half


def _remainder(kind: str, first: float, second: float) -> float:
    """Java §15.17.3: "(a/b)*b+(a%b) is equal to a"; of doubles "computed by truncating division", NaN by a zero."""
    if kind in _INTEGERS:
        return first - _divide(kind, first, second) * second
    if second == 0 or not math.isfinite(first):
        return math.nan
    return math.fmod(first, second)


def _divide(kind: str, first: float, second: float) -> float:
    if kind in _INTEGERS:
        # §5: "integer division by zero → ERR"; "Integer division truncates toward zero".
        if second == 0:
            raise _SelectorIsFalseError
        quotient = abs(first) // abs(second)
        return quotient if (first < 0) == (second < 0) else -quotient
    # §5: "Floating division follows IEEE". Python raises for a zero divisor instead.
    if second != 0:
        return first / second
    return math.nan if first == 0 or math.isnan(first) else math.copysign(math.inf, first) * math.copysign(1.0, second)


_ONE, _RUN = object(), object()


def _like(text: Any, pattern: str, escape: str | None, escapes: str = "wildcards") -> bool:
    """§5: "`_` one code point, `%` any run, newlines included".

    §2: `like_escapes` = `any` ("any character after the escape character is an ordinary character") · `wild`.
    """
    atoms: list[object] = []
    position = 0
    while position < len(pattern):
        point = pattern[position]
        position += 1
        if point == escape:
            # "takes the special meaning from a following `_`, `%` or itself; before anything else, and at the end of
            # the pattern, it stands for itself."
            is_any = escapes == "any"
            if position < len(pattern) and (is_any or pattern[position] in ("_", "%", escape)):
                point = pattern[position]
                position += 1
            elif escapes in ("any", "wild"):
                atoms.append({"_": _ONE, "%": _RUN}.get(point, point))
                continue
            atoms.append(point)
        else:
            atoms.append({"_": _ONE, "%": _RUN}.get(point, point))
    # reached[n]: the atoms so far match the first n code points of the text.
    reached = [True] + [False] * len(text)
    for atom in atoms:
        if atom is _RUN:
            first = reached.index(True) if True in reached else len(reached)
            reached = [index >= first for index in range(len(reached))]
        else:
            steps = [here and atom in (_ONE, point) for here, point in zip(reached, text, strict=False)]
            reached = [False, *steps]
    return reached[-1]
