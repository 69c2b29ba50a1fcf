"""What tests that only some products have yield for values of any types: `evaluator` computes it.

To all that stands behind the front end such a test, a `Computed`, is one test of its properties. Values are those of
`mqsel.values`. Follows language §2 and §5, and for each operator the engine of the product that is named in §2.
"""

from __future__ import annotations

import functools
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mqsel.carets import shortened
from mqsel.errors import ArgumentError, UndocumentedError
from mqsel.language.dialect import Dialect, core_of
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
    walk,
)
from mqsel.language.operators import BOUNDS
from mqsel.language.pattern import is_simple, parts_of, regex
from mqsel.names import DEFAULTS
from mqsel.values import AND, ARITHMETIC, NOT, OR, RELATIONS, Float32, Int8, Int16, Int32, Truth


class _Big(int):
    """An integer that is compared with its like alone, as Java's BigDecimal is."""

    def __float__(self) -> float:
        """Return the double next to it, an infinity if it is beyond all."""
        return _double(int(self))


class _Word(str):
    """What is neither number nor string, and comes between them."""

    __slots__ = ()


class _NoNumber:
    """What arithmetic on something else than numbers is; it compares with nothing."""


_NO_NUMBER = _NoNumber()
_NARROW = (Int8, Int16)
_ERR = Truth.ERR

_Step = Callable[..., Any]


class _Clock(threading.local):
    """The time of the call that a thread is in, in milliseconds since 1970; None where each UTC() reads its own."""

    now: int | None = None


_CLOCK = _Clock()


def time_of(now: int | None) -> int:
    """Return a time that was given, in milliseconds since 1970, or that of the clock.

    Raises: ArgumentError: what was given is no such time.
    """
    if now is not None and (type(now) is not int or not 0 <= now < 1 << 63):
        raise ArgumentError(f"now is {shortened(now)}: expected a time, in milliseconds since 1970")
    return time.time_ns() // 1_000_000 if now is None else now


def set_clock(now: int | None) -> int | None:
    """Let UTC() be one time in this thread, or None: that of the clock. Return what it was."""
    before = _CLOCK.now
    _CLOCK.now = now
    return before


@contextmanager
def clock_held(now: int | None) -> Iterator[None]:
    """Let UTC() be one time within a call: that which is given, or that at which the call begins.

    Raises: as `time_of`.
    """
    before = set_clock(time_of(now))
    try:
        yield
    finally:
        set_clock(before)


def truth_of(test: Computed, values: Sequence[Any]) -> Truth:
    """Return the truth of a computed test.

    Args:
        values: of its identifiers, in their order: None for NULL, and numbers of the classes of `mqsel.values`.
    """
    return evaluator(test)(values)


def evaluator(test: Computed) -> Callable[[Sequence[Any]], Truth]:
    """Return what computes the truth of a test from values, as `truth_of` does.

    Operands are computed from the left, all of them: what a lazy product does not compute is not looked at.
    """
    rules = _Rules(test.dialect, test.expression)
    order = walk(test.expression)
    places = {id(node): place for place, node in enumerate(order)}
    read = dict.fromkeys(one.name for one in order if isinstance(one, Identifier))
    names = {name: place for place, name in enumerate(read)}
    steps: list[tuple[_Step, tuple[int, ...]]] = []
    constants: list[Any] = [None] * len(order)
    defaults = DEFAULTS.get(test.dialect.identifier_dots, {})
    inputs: list[tuple[int, int, Any]] = []
    for place, node in enumerate(order):
        if isinstance(node, Identifier):
            inputs.append((place, names[node.name], defaults.get(node.name)))
        elif isinstance(node, Literal):
            constants[place] = rules.literal(node)
        else:
            steps.append(
                (functools.partial(rules.step(node), node), (place, *[places[id(one)] for one in children(node)]))
            )
    last = test.expression

    def evaluate(values: Sequence[Any]) -> Truth:
        cells = constants.copy()
        for place, number, default in inputs:
            value = values[number]
            cells[place] = rules.arrived(default if value is None else value)
        for step, (place, *below) in steps:
            cells[place] = step(*[cells[one] for one in below])
        return rules.truth(cells[places[id(last)]])

    return evaluate


class _Rules:
    """What the operators of a dialect yield. A value is None for NULL, a Truth for that of a condition, or ERR."""

    def __init__(self, dialect: Dialect, root: Node) -> None:
        self.dialect = dialect
        self.rules = dialect.rules
        self.root = root if self.rules.connectives == "matched" else None
        self.is_narrow = self.rules.integers == "narrow"
        self.is_wide = self.rules.integers in ("long", "unbounded")
        self.others = core_of(dialect).others
        mismatch = {sign: self.others[sign] for sign in ("=", "<>")}
        self.is_negated = mismatch["<>"] is NOT[mismatch["="]]

    def step(self, node: Node) -> _Step:
        """Return what computes a node from itself and the results of those below it."""
        steps: dict[type, _Step] = {
            Comparison: self.comparison,
            Between: self.between,
            In: self.among,
            Like: self.like,
            IsNull: self.is_null,
            Call: self.call,
            Arithmetic: self.chain,
            Sign: self.sign,
            Not: self.negation,
            And: self.connective,
            Or: self.connective,
        }
        return steps[type(node)]

    # ---- values

    def literal(self, node: Literal) -> Any:
        value = node.value
        if node.kind == "big":
            return _Big(value)
        if node.kind == "boolean":
            return bool(value)
        if self.is_narrow and isinstance(value, int) and abs(value) < 1 << 31:  # -2147483648 is a minus and an INT64
            return Int32(value)
        return value

    def arrived(self, value: Any) -> Any:
        """Return a property as the product sees it."""
        if self.rules.text_numbers == "read" and value is not None:
            return java_text(value)
        if self.is_wide and isinstance(value, (int, float)) and type(value) not in (bool, int, float):
            return int(value) if isinstance(value, int) else float(value)
        return value

    def truth(self, value: Any) -> Truth:
        """Return a value as a condition."""
        if isinstance(value, Truth):
            return value
        if value is None:
            return Truth.UNKNOWN
        return Truth(value) if isinstance(value, bool) else self.mismatch("")

    def value(self, found: Any) -> Any:
        """Return what may be the result of a condition as a value, or ERR."""
        if isinstance(found, Truth) and found is not _ERR:
            return None if found is Truth.UNKNOWN else bool(found)
        return found

    def mismatch(self, sign: str) -> Truth:
        """Return what a test yields for a value of another kind, by its operator.

        Raises: UndocumentedError: the documents of the product do not say.
        """
        if self.dialect.type_mismatch == "undocumented":
            raise UndocumentedError(
                f"what {sign or 'a condition'} yields for values of different types is undocumented for this product",
                hint="test the type that the property has, or leave such messages out with errors='skip'",
            )
        return self.others[sign]

    # ---- conditions

    def negation(self, _: Not, operand: Any) -> Truth:
        return NOT[self.truth(operand)]

    def connective(self, node: And | Or, *operands: Any) -> Truth:
        truths = [*map(self.truth, operands)]
        found = truths[0]
        for one in truths[1:]:
            found = self.joined(found, one, is_and=type(node) is And)
        return found

    def joined(self, left: Truth, right: Truth, *, is_and: bool) -> Truth:
        rule = self.rules.connectives
        if left is _ERR or (rule == "eager" and right is _ERR):
            return _ERR
        if rule == "first":
            return right if (left is Truth.TRUE) is is_and else left
        table = AND if is_and else OR
        return table[left][right]

    def is_null(self, node: IsNull, operand: Any) -> Truth:
        value = self.value(operand)
        return _ERR if value is _ERR else Truth((value is None) is not node.negated)

    def comparison(self, node: Comparison, left: Any, right: Any) -> Truth:
        left, right = self.value(left), self.value(right)
        if left is _ERR:
            return Truth.ERR
        nulls = self.rules.null_equality
        if left is None and (nulls == "skipped" or (nulls != "unknown" and node.operator not in ("=", "<>"))):
            return Truth.UNKNOWN  # what stands on the right is not computed
        return _ERR if right is _ERR else self.compare(node.operator, left, right)

    def compare(self, sign: str, left: Any, right: Any) -> Truth:
        """Compare two values, neither of which is ERR."""
        if left is None or right is None:
            if sign not in ("=", "<>") or self.rules.null_equality in ("unknown", "skipped"):
                return Truth.UNKNOWN
            if left is None and right is not None and self.rules.null_equality == "left":
                return Truth.UNKNOWN
            return Truth((left is right) is (sign == "="))
        if sign == "<>":
            if not self.is_negated and self.differ("=", left, right):
                return self.mismatch("<>")
            return NOT[self.compare("=", left, right)]
        if self.rules.text_numbers == "read":
            left, right = self.read(sign, left, right)
            if _fails((left, right)):
                return _ERR
        elif self.dialect.type_mismatch == "ordered" and sign != "=" and _NO_NUMBER not in (left, right):
            return Truth(RELATIONS[sign](_term(left), _term(right)))
        if self.differ(sign, left, right):
            return self.mismatch(sign)
        if _is_number(left):
            return self.numbers(sign, left, right)
        if isinstance(left, (str, bytes)):
            form = "utf-16-be" if self.rules.ordering == "all" else "utf-8"
            left, right = [one.encode(form, "surrogatepass") if isinstance(one, str) else one for one in (left, right)]
        return Truth(RELATIONS[sign](left, right))

    def differ(self, sign: str, left: Any, right: Any) -> bool:
        """Report whether two values are of kinds that do not compare."""
        if _is_number(left) and _is_number(right):
            if _Big in (type(left), type(right)):
                return type(left) is not type(right)
            is_narrow = type(right) in _NARROW and type(left) is not type(right)
            return self.rules.narrow_types != "promoted" and is_narrow and type(left) is not Int8
        kinds = {_kind(left), _kind(right)}
        if kinds == {"string", "bytes"} and self.dialect.byte_strings == "unquoted":
            kinds = {"string"}
        if len(kinds) > 1:
            return True
        if sign in ("=", "<>"):
            return kinds == {"nothing"}
        allowed = {"numbers": (), "texts": ("string", "bytes"), "all": ("string", "boolean")}[self.rules.ordering]
        return not kinds.issubset(allowed)

    def numbers(self, sign: str, left: Any, right: Any) -> Truth:
        if self.rules.narrow_types == "casts" and type(left) is float and type(right) is Float32:
            return _ERR
        if self.rules.mixed_numbers == "double":
            if float in (type(left), type(right)):
                left, right = _double(left), _double(right)
            elif Float32 in (type(left), type(right)):
                left, right = Float32(_double(left)), Float32(_double(right))
        if self.rules.floats == "total" and isinstance(left, float):
            left, right = _rank(left), _rank(right)
        return Truth(RELATIONS[sign](left, right))

    def between(self, node: Between, operand: Any, low: Any, high: Any) -> Truth:
        if self.dialect.between_null != "expand":
            values = [self.value(one) for one in (operand, low, high)]
            if _fails(values):
                return _ERR
            if None in values:
                decided = core_of(self.dialect).between[node.negated]
                assert decided is not None
                return decided
        is_negation = node.negated and self.dialect.between_null == "unknown"
        is_outside = node.negated and not is_negation
        tests = [
            self.comparison(Comparison(sign, node.operand, node.low), operand, bound)
            for sign, bound in zip(BOUNDS[is_outside], (low, high), strict=True)
        ]
        if node is self.root and not is_outside and tests[0] is Truth.UNKNOWN:
            return Truth.UNKNOWN  # an AND, which ends there
        found = self.joined(tests[0], tests[1], is_and=not is_outside)
        return NOT[found] if is_negation else found

    def among(self, node: In, operand: Any) -> Truth:
        return self.within(operand, node.choices, negated=node.negated)

    def within(self, operand: Any, items: Sequence[Any], *, negated: bool) -> Truth:
        value, *items = map(self.value, (operand, *items))
        if value is None or value is _ERR:
            return _ERR if value is _ERR else Truth.UNKNOWN
        if self.rules.in_mismatch == "unknown" and not isinstance(value, str):
            return Truth.UNKNOWN
        is_listed = self.rules.in_mismatch == "listed"
        found = Truth.FALSE
        for one in items:
            equal = one if one is _ERR else self.compare("=", value, one)
            if equal is Truth.TRUE or equal is _ERR:  # what stands behind it is not computed
                return equal if equal is _ERR else Truth(not negated)
            if is_listed and equal is Truth.UNKNOWN:
                found = equal
        if is_listed and negated and found is Truth.FALSE and any(self.differ("=", value, one) for one in items):
            return Truth.FALSE
        is_mismatch = self.rules.in_mismatch == "comparison" and found is Truth.FALSE
        if is_mismatch and any(one is not None and self.differ("=", value, one) for one in items):
            return self.mismatch("NOT IN" if negated else "IN")
        return NOT[found] if negated else found

    def like(self, node: Like, operand: Any) -> Truth:
        return self.matched(operand, node.pattern, node.escape, negated=node.negated)

    def matched(self, operand: Any, pattern: str, escape: str | None, *, negated: bool) -> Truth:
        value = self.value(operand)
        if value is None or value is _ERR:
            return _ERR if value is _ERR else Truth.UNKNOWN
        if isinstance(value, bytes) and self.dialect.byte_strings == "unquoted":
            parts = parts_of(pattern, escape, self.dialect) or []
            try:  # what is not UTF-8 no regular expression reads
                value = value.decode("utf-8", "surrogateescape" if is_simple(parts, self.dialect) else "strict")
            except UnicodeDecodeError:
                return Truth.UNKNOWN
        if not isinstance(value, str):
            return self.mismatch("NOT LIKE" if negated else "LIKE")
        is_bytes = self.rules.like_units == "bytes"
        found = regex(pattern, escape, self.dialect).fullmatch(
            value.encode("utf-8", "surrogatepass") if is_bytes else value
        )
        return Truth((found is not None) is not negated)

    def like_any(self, node: Call, operand: Any, *texts: Any) -> Truth:
        """Match a pattern, and perhaps an escape, that are no constants."""
        if _fails(texts):
            return _ERR
        if None in texts:
            return Truth.UNKNOWN
        if not all(isinstance(one, str) for one in texts):
            return self.mismatch("NOT LIKE" if node.negated else "LIKE")
        return self.matched(operand, texts[0], texts[1] if len(texts) > 1 else None, negated=node.negated)

    def call(self, node: Call, *operands: Any) -> Any:
        match node.name:
            case "IS NULL":
                return self.is_null(IsNull(node.negated, Identifier("")), operands[0])
            case "IN":
                return self.within(operands[0], operands[1:], negated=node.negated)
            case "LIKE":
                return self.like_any(node, *map(self.value, operands))
            case "EXISTS":
                return Truth((operands[0] is not None) is not node.negated)
            case "UTC":
                return time_of(_CLOCK.now)
        value, part = map(self.value, operands)
        if value is _ERR:
            return _ERR
        if not isinstance(value, str) or not part:
            return Truth.FALSE
        found = {"CONTAINS": part in value, "STARTSWITH": value.startswith(part), "ENDSWITH": value.endswith(part)}
        return Truth(found[node.name] is not node.negated)

    # ---- arithmetic

    def sign(self, node: Sign, operand: Any) -> Any:
        value = self.value(operand)
        if value is None or value is _ERR:
            return _ERR if value is None and node.null is _ERR else value
        is_minus, mismatch = node.operator == "-", self.rules.arithmetic_mismatch
        if not _is_number(value):
            if mismatch == "error":
                return _ERR
            if mismatch == "comparison":
                return _NO_NUMBER
            return None if is_minus or self.rules.integers == "unbounded" else value
        if not is_minus:
            return value
        if self.rules.narrow_types != "promoted" and type(value) in _NARROW:
            return _ERR
        if type(value) is _Big:
            return -int(value) if value == 1 << 63 else _Big(-value)
        if isinstance(value, float):
            return type(value)(-value)
        return self.fitted(-int(value), is_long=type(value) is int)

    def fitted(self, number: int, *, is_long: bool) -> int:
        """Return an integer within the bounds of its type."""
        if self.rules.integers == "unbounded":
            return number
        half = 1 << (63 if is_long else 31)
        wrapped = (number + half) % (2 * half) - half
        return wrapped if is_long else Int32(wrapped)

    def chain(self, node: Arithmetic, *operands: Any) -> Any:
        found = self.value(operands[0])
        for sign, one in zip(node.operators, operands[1:], strict=True):
            found = self.arithmetic(sign, found, self.value(one), node.null)
        return found

    def arithmetic(self, sign: str, left: Any, right: Any, null: Truth) -> Any:
        if left is _ERR or (right is _ERR and not (left is None and self.is_narrow)):
            return _ERR
        if left is None or right is None:
            return _ERR if null is _ERR else None
        if sign == "/" and self.rules.division == "word" and _is_number(right) and right == 0:
            one, zero = _term(left), _term(0)  # whatever is no number is greater
            return _Word("plus_infinity" if one > zero else "minus_infinity" if one < zero else "nan")
        if not (_is_number(left) and _is_number(right)):
            mismatch = self.rules.arithmetic_mismatch
            if mismatch == "joined" and sign == "+" and isinstance(left, str):
                return left + java_text(right)
            return {"comparison": _NO_NUMBER, "unknown": None}.get(mismatch, _ERR)
        try:
            if sign in ("/", "%"):
                return self.divided(sign, left, right)
            if isinstance(left, float) or isinstance(right, float):
                return self.floats(sign, left, right)
        except OverflowError:  # an integer without bounds
            return _ERR
        return self.fitted(ARITHMETIC[sign](int(left), int(right)), is_long=int in (type(left), type(right)))

    def floats(self, sign: str, left: Any, right: Any) -> Any:
        found = ARITHMETIC[sign](float(left), float(right))
        if self.rules.integers == "unbounded" and not math.isfinite(found):
            return _ERR
        if self.rules.integers == "java" and float not in (type(left), type(right)):
            return Float32(ARITHMETIC[sign](Float32(left), Float32(right)))
        return found

    def divided(self, sign: str, left: Any, right: Any) -> Any:
        division = self.rules.division
        are_whole = isinstance(left, int) and isinstance(right, int)
        if division == "java":
            if are_whole and right == 0:
                return _ERR
            if are_whole:
                quotient = abs(int(left)) // abs(int(right)) * (1 if (left < 0) == (right < 0) else -1)
                found = quotient if sign == "/" else int(left) - quotient * int(right)
                return self.fitted(found, is_long=int in (type(left), type(right)))
            single = self.rules.integers == "java" and float not in (type(left), type(right))
            return Float32(_quotient(sign, Float32(left), Float32(right))) if single else _quotient(sign, left, right)
        if division == "unknown" and (right == 0 or (sign == "%" and not are_whole)):
            return None
        if division == "unknown" and sign == "%":
            return (abs(left) % abs(right)) * (1 if left >= 0 else -1)
        ratio = _quotient(sign, left, right)
        return ratio if self.rules.integers != "unbounded" or math.isfinite(ratio) else _ERR

    # ---- texts that are read as what they are compared with

    def read(self, sign: str, left: Any, right: Any) -> tuple[Any, Any]:
        if isinstance(left, str) and isinstance(right, str):
            return (left, right) if sign == "=" else (_parsed(0.0, left), _parsed(0.0, right))
        if isinstance(left, str):
            return _parsed(right, left), right
        if isinstance(right, str):
            return left, _ERR if isinstance(left, bool) else _parsed(left, right)
        return left, right


def _fails(values: Sequence[Any]) -> bool:
    """Report whether one is ERR, which is equal to the number 3."""
    return any(one is _ERR for one in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, (bool, Truth))


def _double(number: float) -> float:
    """Return a number as a double, an integer beyond them all as an infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _kind(value: Any) -> str:
    if _is_number(value):
        return "number"
    kinds: Iterator[tuple[type, str]] = iter(
        ((bool, "boolean"), (_Word, "word"), (str, "string"), (bytes, "bytes"), (_NoNumber, "nothing"))
    )
    return next(name for cls, name in kinds if isinstance(value, cls))


def _term(value: Any) -> tuple[int, Any]:
    """Return what orders as the terms of Erlang do: numbers, words, which booleans are, and strings."""
    if _is_number(value):
        return 0, value
    if isinstance(value, (bool, _Word)):
        return 1, str(value).lower()
    return 2, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _rank(number: float) -> tuple[float, float]:
    """Return what orders as Java's Double.compareTo does."""
    double = _double(number)
    return (math.inf, 1.0) if math.isnan(double) else (double, math.copysign(0.5, double))


def java_text(value: Any) -> str:
    """Return a value as a text, as Java's toString does."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float):
        return str(int(value)) if isinstance(value, int) else str(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    shortest = range(1, 10) if type(value) is Float32 else (17,)
    texts = (f"{float(value):.{digits}g}" for digits in shortest)
    short = next((text for text in texts if Float32(float(text)) == value), repr(float(value)))
    from decimal import Decimal  # noqa: PLC0415 (hardly ever needed, and slow to import)

    number = Decimal(short if type(value) is Float32 else repr(float(value)))
    sign, digits, _ = number.as_tuple()
    written = "".join(map(str, digits)).rstrip("0") or "0"
    exponent = number.adjusted() if value else 0
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{'-' * sign}{written[0]}.{written[1:] or '0'}E{exponent}"
    plain = f"{abs(number):f}"
    whole, _, rest = plain.partition(".")
    return f"{'-' * sign}{whole}.{rest.rstrip('0') or '0'}"


_WHOLE = re.compile(r"[+-]?\d+")  # digits of any script, each a char of Java
_DOUBLE = re.compile(
    r"[\x00-\x20]*(?:"
    r"(?P<name>[+-]?(?:NaN|Infinity))"
    r"|(?P<decimal>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?"
    r"|(?P<hexadecimal>[+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
    r")[\x00-\x20]*"
)


def _parsed(beside: Any, text: str) -> Any:
    """Return a text as what stands beside it, as Java parses it; ERR if it is none."""
    if isinstance(beside, bool):
        return text.lower() == "true"
    if isinstance(beside, int):
        bits = 31 if type(beside) is Int32 else 63
        is_number = _WHOLE.fullmatch(text) is not None and max(text) <= "\uffff"
        number = int(text) if is_number and len(text) < 400 else 1 << 64
        return type(beside)(number) if -(1 << bits) <= number < 1 << bits else _ERR
    found = _DOUBLE.fullmatch(text)
    if found is None:
        return _ERR
    if found["hexadecimal"]:
        try:
            return float.fromhex(found["hexadecimal"])
        except OverflowError:
            return -math.inf if found["hexadecimal"].startswith("-") else math.inf
    return float(found["name"] or found["decimal"])


def _quotient(sign: str, left: Any, right: Any) -> float:
    a, b = float(left), float(right)
    if sign == "%":
        return math.fmod(a, b) if b and math.isfinite(a) else math.nan
    if b:
        return a / b
    return math.copysign(math.inf, a) * math.copysign(1.0, b) if a and not math.isnan(a) else math.nan
