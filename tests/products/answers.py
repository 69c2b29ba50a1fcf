"""What each broker answers for a message: an evaluator that shares nothing with mqsel.

`answer` returns "T", "F", "U", "E" (the selector fails on this message) or "P" (its text is refused); "FU" where the
product selects nothing, and does not say which of both it is.
"""

from __future__ import annotations

import fractions
import functools
import math
import operator
import re
import struct
import time
from typing import Any

from products.reading import NARROW, NUMBERS, ORDER, PRODUCTS, WHOLE, Product, Tree, Value, read

Properties = dict[str, tuple[str, Any]]
OPERATIONS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Failed(Exception):  # noqa: N818 - what the product answers, no error of the test
    """The product fails on this message."""


def answer(name: str, text: str, properties: Properties, *, is_below: bool = False) -> str:
    """Return what the product answers for one message: T, F, U, E or P, or FU for F or U.

    Args:
        is_below: whether the text stands under NOT in another one.
    """
    product = PRODUCTS[name]
    tree = read(name, text)
    if tree is None:
        return "P"
    message = _Message(product, properties)
    try:
        if product.matches and not is_below:
            return "T" if message.selects(tree) else message.unselected(tree)
        return message.condition(tree)
    except Failed:
        return "E"


_NOT = {"T": "F", "F": "T", "U": "U"}


def _truth(value: object) -> str:
    return "T" if value else "F"


def ends_early(name: str, text: str) -> bool:
    """Report whether a product may end the evaluation of a text before it knows whether it is FALSE or UNKNOWN."""
    tree = read(name, text)
    return tree is not None and PRODUCTS[name].matches and _has_and(tree)


def _has_and(tree: Tree) -> bool:
    """Report whether an AND stands under no NOT; BETWEEN is one."""
    if tree[0] == "between":
        return not tree[4]
    return tree[0] == "and" or (tree[0] == "or" and any(map(_has_and, tree[1:])))


class _Message:
    def __init__(self, product: Product, properties: Properties) -> None:
        self.product = product
        self.properties = properties
        self.java = product.grammar == "activemq"

    def selects(self, tree: Tree) -> bool:
        """Report whether a condition under no NOT is TRUE: what is evaluated for that is less than for its truth."""
        match tree:
            case ("and", left, right):
                return self.selects(left) and self.selects(right)
            case ("or", left, right):
                return self.selects(left) or self.selects(right)
            case ("between", operand, low, high, False):
                return self.comparison(">=", operand, low) == "T" and self.comparison("<=", operand, high) == "T"
        return self.condition(tree) == "T"

    def unselected(self, tree: Tree) -> str:
        """Return F or U for a condition that is not TRUE; FU where an AND may have ended before it was FALSE."""
        if tree[0] == "between" and not tree[4]:
            first = self.comparison(">=", tree[1], tree[2])
            return first if first != "T" else self.comparison("<=", tree[1], tree[3])
        try:
            truth = self.condition(tree)
        except Failed:
            return "FU"
        return "FU" if truth == "F" and _has_and(tree) else truth

    def condition(self, tree: Tree) -> str:
        product = self.product
        match tree:
            case ("not", operand):
                return _NOT[self.condition(operand)]
            case ("and" | "or" as kind, left, right):
                return self.connective(kind, left, right)
            case ("compare", symbol, left, right):
                return self.comparison(symbol, left, right)
            case ("null", operand, negated):
                return _truth((self.value(operand) is None) is not negated)
            case ("between", operand, low, high, negated):
                return self.between(operand, low, high, negated)
            case ("in", operand, items, negated):
                return self.within(operand, items, negated)
            case ("like", operand, pattern, escape, negated):
                return self.like(operand, pattern, escape, negated)
            case ("text", word, operand, part, negated):
                return self.contains(word, operand, part, negated)
        value = self.value(tree)
        if value is None:
            return "U"
        if value[0] == "boolean":
            return _truth(value[1])
        return product.condition_mismatch

    def connective(self, kind: str, left: Tree, right: Tree) -> str:
        decisive = {"and": "F", "or": "T"}[kind]
        first = self.condition(left)
        if self.product.connectives == "eager":
            second = self.condition(right)
            if decisive in (first, second):
                return decisive
            return "U" if "U" in (first, second) else _NOT[decisive]
        if first == decisive:
            return first
        if self.product.connectives == "left":
            return first if kind == "and" and first == "U" else self.condition(right)
        second = self.condition(right)
        return second if second == decisive or first != "U" else "U"

    def comparison(self, symbol: str, left: Tree, right: Tree) -> str:
        first = self.value(left)
        is_skipped = symbol in ORDER and self.product.grammar in ("activemq", "rocketmq")
        if first is None and (is_skipped or self.product.grammar == "qpid-cpp"):
            return "U"
        return self.compare(symbol, first, self.value(right))

    def compare(self, symbol: str, left: Value, right: Value) -> str:
        if symbol == "<>":
            if self.product.mismatch == "false" and left and right and not self.comparable("=", left, right):
                return "F"
            return _NOT[self.compare("=", left, right)]
        if left is None or right is None:
            if symbol in ORDER or self.product.null_equality == "unknown":
                return "U"
            if left is right:
                return "T"
            return "U" if left is None and self.product.null_equality == "left" else "F"
        if self.product.mismatch == "order" and symbol in ORDER:
            return _truth(OPERATIONS[symbol](_term(left), _term(right)))
        if self.product.grammar == "rocketmq":
            left, right = _converted(symbol, left, right)
        if not self.comparable(symbol, left, right):
            return "F"
        if left[0] in NUMBERS:
            return self.numbers(symbol, left, right)
        first, second = left[1], right[1]
        if left[0] in ("string", "bytes"):
            form = "utf-16-be" if self.java else "utf-8"
            first, second = (
                one if isinstance(one, bytes) else one.encode(form, "surrogatepass") for one in (first, second)
            )
        return _truth(OPERATIONS[symbol](first, second))

    def comparable(self, symbol: str, left: Value, right: Value) -> bool:
        kinds = left[0], right[0]
        if self.java and {*kinds} <= {*NUMBERS}:
            if "big" in kinds and kinds[0] != kinds[1]:
                return False
            if kinds == ("double", "float") and self.product.casts:
                raise Failed
            return kinds[0] == kinds[1] or kinds[1] not in NARROW or kinds == ("byte", "short")
        if {*kinds} <= {*NUMBERS}:
            return True
        if self.product.grammar == "rabbitmq" and {*kinds} <= {"string", "bytes"}:
            return True
        if kinds[0] != kinds[1]:
            return False
        if symbol == "=":
            return True
        return self.java

    def numbers(self, symbol: str, left: Value, right: Value) -> str:
        (kind, first), (other, second) = left, right
        if self.product.exact:
            if self.product.grammar == "rabbitmq-jms" and "nan" in (first, second):
                return "U"
        elif "double" in (kind, other):
            first, second = float(first), float(second)
        elif "float" in (kind, other):
            first, second = _float32(first), _float32(second)
        if self.product.total and isinstance(first, float):
            first, second = _rank(first), _rank(second)
        return _truth(OPERATIONS[symbol](first, second))

    def between(self, operand: Tree, low: Tree, high: Tree, negated: bool) -> str:
        product = self.product
        if product.between == "null":
            values = [self.value(part) for part in (operand, low, high)]
            if None in values:
                return "U"
            inside = [
                self.compare(symbol, *pair) for symbol, pair in ((">=", values[:2]), ("<=", [values[0], values[2]]))
            ]
            return _truth((inside == ["T", "T"]) is not negated)
        first, second = ("<", ">") if negated else (">=", "<=")
        return self.connective(
            "or" if negated else "and", ("compare", first, operand, low), ("compare", second, operand, high)
        )

    def within(self, operand: Tree, items: list[Tree], negated: bool) -> str:
        value = self.value(operand)
        if value is None:
            return "U"
        if self.product.in_mismatch == "U" and value[0] != "string":
            return "U"
        values = []
        for item in items:
            values.append(self.value(item))
            if values[-1] is not None and self.compare("=", value, values[-1]) == "T":
                return _truth(not negated)
        if self.product.in_mismatch == "list" and None in values:
            return "U"
        is_typed = self.product.in_mismatch != "list" or all(self.comparable("=", value, one) for one in values)
        return _truth(negated and is_typed)

    def like(self, operand: Tree, pattern: str, escape: str | None, negated: bool) -> str:
        value = self.value(operand)
        if value is None:
            return "U"
        if value[0] == "bytes":
            try:
                value = "string", value[1].decode("utf-8", "surrogateescape" if _is_fast(pattern, escape) else "strict")
            except UnicodeDecodeError:
                return "U"
        if value[0] != "string":
            if self.product.like_mismatch == "E":
                raise Failed
            answer = self.product.like_mismatch
            return _NOT[answer] if negated else answer
        return _truth(
            (_pattern(self.product, pattern, escape).fullmatch(_units(self.product, value[1])) is not None)
            is not negated
        )

    def contains(self, word: str, operand: Tree, part: str, negated: bool) -> str:
        value = self.value(operand)
        if value is None or value[0] != "string" or not part:
            return "F"
        text = value[1]
        found = {"CONTAINS": part in text, "STARTSWITH": text.startswith(part), "ENDSWITH": text.endswith(part)}[word]
        return _truth(found is not negated)

    def value(self, tree: Tree) -> Value:
        match tree:
            case ("literal", value):
                return value
            case ("name", name):
                return self.property(name)
            case ("now",):
                return "long", time.time_ns() // 1_000_000
            case ("sign", symbol, operand):
                return self.sign(symbol, operand)
            case ("arith", symbol, left, right):
                first = self.value(left)
                if first is None and self.java:
                    return None
                return self.arithmetic(symbol, first, self.value(right))
        truth = self.condition(tree)
        return None if truth == "U" else ("boolean", truth == "T")

    def property(self, name: str) -> Value:
        value = self.properties.get(name)
        if value is None and self.product.grammar == "rabbitmq":  # messages may spell sections out
            section, _, field = name.partition(".")
            value = self.properties.get(f"{ {'h': 'header', 'p': 'properties'}.get(section) }.{field}")
        if name == "h.priority" and self.product.grammar == "rabbitmq":
            return value or ("long", 4)
        if value and self.product.grammar == "rocketmq":
            return "string", _shown(value)
        if value and value[0] == "float" and not self.java:
            return "double", _float32(value[1])
        if value and value[0] == "float":
            return "float", _float32(value[1])
        if value and value[0] in WHOLE and not self.java:
            return "long", value[1]
        if (
            value
            and value[0] == "double"
            and not math.isfinite(value[1])
            and self.product.grammar.startswith("rabbitmq")
        ):
            return None
        return value

    def sign(self, symbol: str, operand: Tree) -> Value:
        value = self.value(operand)
        grammar = self.product.grammar
        if value is None or (symbol == "+" and (self.java or grammar == "rocketmq")):
            return value
        kind, number = value
        if kind not in NUMBERS:
            if grammar == "rabbitmq-jms":
                raise Failed
            return None
        if self.java and kind in NARROW:
            raise Failed
        if symbol == "+":
            return value
        if kind == "big":
            return ("long", -number) if number == 1 << 63 else ("big", -number)
        return kind, self.wrap(kind, -number)

    def wrap(self, kind: str, number: Any) -> Any:
        if kind not in WHOLE or self.product.integers == "big":
            return number
        half = 1 << (63 if kind == "long" else 31)
        return (number + half) % (2 * half) - half

    def arithmetic(self, symbol: str, left: Value, right: Value) -> Value:
        product = self.product
        if left is None or right is None:
            return None
        kinds = left[0], right[0]
        if product.division == "atom" and symbol == "/" and kinds[1] in NUMBERS and right[1] == 0:
            one, zero = _term(left), (0, 0)
            return "atom", {1: "plus_infinity", -1: "minus_infinity", 0: "nan"}[(one > zero) - (one < zero)]
        if not {*kinds} <= {*NUMBERS}:
            if self.java and symbol == "+" and kinds[0] == "string":
                return "string", left[1] + _shown(right)
            if self.java or product.grammar == "rabbitmq-jms":
                raise Failed
            return None
        first, second = left[1], right[1]
        if symbol in ("/", "%"):
            return self.divide(symbol, left, right)
        if "double" in kinds or "float" in kinds:
            first, second = self.double(first), self.double(second)
            number = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol](first, second)
            if product.integers == "big" and not math.isfinite(number):
                raise Failed
            return "double", number
        kind = "long" if "long" in kinds or not self.java else "int"
        number = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol](first, second)
        return kind, self.wrap(kind, number)

    def double(self, number: Any) -> float:
        """Return a number as a double; beyond all it is infinite in Java, and an error in Erlang."""
        try:
            return float(number)
        except OverflowError:
            if self.java:
                return math.copysign(math.inf, number > 0 or -1)
            raise Failed from None

    def divide(self, symbol: str, left: Value, right: Value) -> Value:
        division = self.product.division
        first, second = left[1], right[1]
        both_whole = left[0] in WHOLE and right[0] in WHOLE
        if division == "unknown":
            if second == 0 or (symbol == "%" and not both_whole):
                return None
            if symbol == "%":
                return "long", int(math.fmod(first, second))
        if division == "java" and both_whole:
            if second == 0:
                raise Failed
            quotient = abs(first) // abs(second)
            return "long", self.wrap("long", quotient if (first < 0) == (second < 0) else -quotient)
        first, second = self.double(first), self.double(second)
        if symbol == "%":
            return "double", math.fmod(first, second) if second and math.isfinite(first) else math.nan
        if second and self.product.integers == "big" and not math.isfinite(first / second):
            raise Failed
        if second:
            return "double", first / second
        if not first or math.isnan(first):
            return "double", math.nan
        return "double", math.copysign(math.inf, first) * math.copysign(1.0, second)


def _term(value: Value) -> tuple[int, Any]:
    """Return what orders as terms of Erlang do: numbers, atoms, binaries."""
    kind, plain = value
    if kind in NUMBERS:
        return 0, plain
    if kind in ("boolean", "atom"):
        return 1, str(plain).lower()
    return 2, plain.encode() if isinstance(plain, str) else plain


def _rank(number: float) -> tuple[float, float]:
    return (math.inf, 1.0) if math.isnan(number) else (number, math.copysign(0.5, number))


def _float32(number: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def _shown(value: Value) -> str:
    """Return what toString of Java returns."""
    kind, plain = value
    if kind == "boolean":
        return str(plain).lower()
    if kind not in ("float", "double") or not math.isfinite(plain):
        return str(plain).replace("inf", "Infinity").replace("nan", "NaN")
    if not plain or 1e-3 <= abs(plain) < 1e7:
        return repr(plain) if kind == "double" else _shortest(plain)
    digits, _, exponent = f"{float(plain)!r}".partition("e")
    number = f"{plain:.17e}" if not exponent else ""
    for precision in range(17):
        number = f"{plain:.{precision}e}"
        if float(number) == plain or (kind == "float" and _float32(float(number)) == _float32(plain)):
            break
    digits, _, exponent = number.partition("e")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def _shortest(number: float) -> str:
    for precision in range(1, 18):
        if _float32(float(f"{number:.{precision}g}")) == _float32(number):
            return repr(float(f"{number:.{precision}g}"))
    raise AssertionError(number)


def _converted(symbol: str, left: Value, right: Value) -> tuple[Value, Value]:
    """Return both sides as RocketMQ compares them: a text is read as what stands on the other side."""
    kinds = left[0], right[0]
    if kinds == ("string", "string"):
        return (left, right) if symbol == "=" else (_parsed("double", left), _parsed("double", right))
    if kinds[0] == "string":
        return _parsed(kinds[1], left), right
    if kinds[1] == "string":
        if kinds[0] == "boolean":
            raise Failed
        return left, _parsed(kinds[0], right)
    return left, right


def _parsed(kind: str, value: Value) -> Value:
    text = value[1]
    if kind == "boolean":
        return "boolean", text.lower() == "true"
    if kind in ("int", "long"):
        half = 1 << (31 if kind == "int" else 63)
        if re.fullmatch(r"[+-]?\d+", text) and max(map(ord, text)) < 1 << 16 and -half <= int(text) < half:
            return kind, int(text)
        raise Failed
    trimmed = text.strip("".join(map(chr, range(33))))
    if re.fullmatch(r"[+-]?(?:NaN|Infinity)", trimmed):
        return "double", float(trimmed)
    digits = trimmed[:-1] if trimmed[-1:] in ("f", "F", "d", "D") else trimmed
    if re.fullmatch(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", digits):
        return "double", float(digits)
    base, power, exponent = digits.lower().partition("p")
    sign, _, figures = base.partition("0x")
    whole, _, rest = figures.partition(".")
    is_whole = re.fullmatch("[0-9a-f]+", whole + rest) and re.fullmatch("[+-]?[0-9]+", exponent)
    if power and sign in ("", "+", "-") and is_whole and figures.count(".") < 2:
        value = fractions.Fraction(int(whole + rest, 16)) * fractions.Fraction(2) ** (int(exponent) - 4 * len(rest))
        try:
            return "double", float(-value if sign == "-" else value)
        except OverflowError:
            return "double", -math.inf if sign == "-" else math.inf
    raise Failed


def _units(product: Product, text: str) -> Any:
    return text.encode("utf-8", "surrogatepass") if product.unit == "byte" else text


def _is_fast(pattern: str, escape: str | None) -> bool:
    """Report whether RabbitMQ compares a pattern without a regular expression."""
    bare = re.sub(f"(?s){re.escape(escape)}.", "", pattern) if escape else pattern
    return "_" not in bare and bare.count("%") < 2


@functools.lru_cache(maxsize=10_000)
def _pattern(product: Product, pattern: str, escape: str | None) -> re.Pattern:
    parts: list[str] = []
    if product.collapses:
        pattern = re.sub("%+", "%", pattern)
    if escape is not None and product.grammar == "rabbitmq-jms" and len(escape.encode()) != 1:
        return re.compile(rb"(?!)")
    place = 0
    while place < len(pattern):
        char = pattern[place]
        following = pattern[place + 1 : place + 2]
        place += 1
        if char == escape == following and product.grammar == "qpid-cpp":
            continue  # an escape is never written
        if char == escape and ((following and product.escapes == "any") or following in ("%", "_", escape)):
            never = product.collapses and following > "\uffff"  # Broker-J escapes half of it
            is_hex = following > "\xff" and product.grammar in ("activemq", "artemis", "qpid-broker-j")
            parts.append("(?!)" if never else rf"\x{ord(following):x}" if is_hex else re.escape(following))
            place += 1
        elif char == escape and product.escapes == "any" and product.grammar != "rabbitmq-jms":
            continue  # one at the end is dropped
        else:
            parts.append({"%": ".*", "_": "."}.get(char) or re.escape(char))
    fast = product.newline == "fast" and _is_fast(pattern, escape)
    dotall = product.newline == "yes" or fast
    body = "".join(parts) + r"\n?" * (product.newline == "fast" and not fast)
    return re.compile(
        body.encode("utf-8", "surrogatepass") if product.unit == "byte" else body, re.DOTALL if dotall else 0
    )
