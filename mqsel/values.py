"""Truth values, property types and the arithmetic of constants: the semantics as tables.

What stands here decides constants at compile time and names types; messages are evaluated by the machine alone.
Knows nothing of text, trees or programs. Follows language §1 and §5; numbers of types from *IBM MQ 9.4, MQTYPE*.
"""

from __future__ import annotations

import math
import operator
import struct
from enum import IntEnum

from mqsel.errors import ArgumentError, shortened


class Truth(IntEnum):
    """Result of a condition. ERR is "the complete selector is false": `evaluate` reports it as FALSE."""

    FALSE = 0
    TRUE = 1
    UNKNOWN = 2
    ERR = 3

    def __bool__(self) -> bool:
        return self is Truth.TRUE

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Truth.{self.name}"


F, T, U, E = Truth.FALSE, Truth.TRUE, Truth.UNKNOWN, Truth.ERR

# AND[a][b], OR[a][b]: language §1. A decided left side hides the right one; any other ERR wins.
AND = ((F, F, F, F), (F, T, U, E), (F, U, U, E), (E, E, E, E))
OR = ((F, T, U, E), (T, T, T, T), (U, T, U, E), (E, E, E, E))
NOT = (T, F, U, E)


class MQTYPE(IntEnum):
    """Property types by the vendor's name and number."""

    MQTYPE_NULL = 2
    MQTYPE_BOOLEAN = 4
    MQTYPE_BYTE_STRING = 8
    MQTYPE_INT8 = 16
    MQTYPE_INT16 = 32
    MQTYPE_INT32 = 64
    MQTYPE_INT64 = 128
    MQTYPE_FLOAT32 = 256
    MQTYPE_FLOAT64 = 512
    MQTYPE_STRING = 1024


# Names of types in schemas, in JSON messages and in test vectors.
TYPE_NAMES: dict[str, MQTYPE] = {
    "null": MQTYPE.MQTYPE_NULL,
    "boolean": MQTYPE.MQTYPE_BOOLEAN,
    "bytes": MQTYPE.MQTYPE_BYTE_STRING,
    "int8": MQTYPE.MQTYPE_INT8,
    "int16": MQTYPE.MQTYPE_INT16,
    "int32": MQTYPE.MQTYPE_INT32,
    "int64": MQTYPE.MQTYPE_INT64,
    "float32": MQTYPE.MQTYPE_FLOAT32,
    "float64": MQTYPE.MQTYPE_FLOAT64,
    "string": MQTYPE.MQTYPE_STRING,
}


def _ranged(cls: type[int], value: int, bits: int) -> int:
    try:
        number = int.__new__(cls, operator.index(value))
    except TypeError as error:
        raise ArgumentError(f"{cls.__name__} needs an integer, found {shortened(value)}") from error
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ArgumentError(
            f"{cls.__name__} holds {-(1 << bits - 1)} to {(1 << bits - 1) - 1}, found {shortened(value)}"
        )
    return number


def _short(value: int) -> int:
    """Round to 24 bits, half to even: through a double a large integer would be rounded twice."""
    excess = abs(value).bit_length() - 24
    if excess <= 0:
        return value
    kept, rest, half = abs(value) >> excess, abs(value) & ((1 << excess) - 1), 1 << (excess - 1)
    kept += rest > half or (rest == half and kept & 1)
    return (kept << excess) * (1 if value > 0 else -1)


class Int8(int):
    """A property value of type INT8 (a Java byte)."""

    __slots__ = ()

    def __new__(cls, value: int) -> Int8:
        return _ranged(cls, value, 8)  # type: ignore[return-value]


class Int16(int):
    """A property value of type INT16 (a Java short)."""

    __slots__ = ()

    def __new__(cls, value: int) -> Int16:
        return _ranged(cls, value, 16)  # type: ignore[return-value]


class Int32(int):
    """A property value of type INT32 (a Java int, MQLONG)."""

    __slots__ = ()

    def __new__(cls, value: int) -> Int32:
        return _ranged(cls, value, 32)  # type: ignore[return-value]


class Float32(float):
    """A property value of type FLOAT32 (a Java float): the nearest one to *value*."""

    __slots__ = ()

    def __new__(cls, value: float) -> Float32:
        try:
            (rounded,) = struct.unpack("f", struct.pack("f", _short(value) if isinstance(value, int) else value))
        except (OverflowError, struct.error) as error:
            # An integer beyond every double is no float to struct, but it is a number.
            if isinstance(error, struct.error) and not isinstance(value, int):
                raise ArgumentError(f"Float32 needs a number, found {shortened(value)}") from error
            rounded = math.inf if value > 0 else -math.inf
        return float.__new__(cls, rounded)


# The class of the Python value of each type.
CLASS_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    bytes: "bytes",
    Int8: "int8",
    Int16: "int16",
    Int32: "int32",
    int: "int64",
    Float32: "float32",
    float: "float64",
    str: "string",
}


# ---- constants ---------------------------------------------------------------------------------------------------


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def arithmetic(sign: str, left: int | float, right: int | float) -> int | float | None:
    """Compute ``left sign right`` on two literals, which are INT64 (int) or FLOAT64 (float).

    Returns: the number, or None for an integer division by zero (ERR).
    Source: language §5, Arithmetic.
    """
    if isinstance(left, int) and isinstance(right, int):
        match sign:
            case "+":
                return _wrap(left + right)
            case "-":
                return _wrap(left - right)
            case "*":
                return _wrap(left * right)
        if right == 0:
            return None
        quotient = abs(left) // abs(right)
        return _wrap(quotient if (left < 0) == (right < 0) else -quotient)
    a, b = float(left), float(right)
    match sign:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def negate(value: int | float) -> int | float:
    """Compute the unary minus of a literal; the least INT64 stays itself."""
    return _wrap(-value) if isinstance(value, int) else -value


def compare(sign: str, left: object, right: object) -> Truth:
    """Compare two literals of one kind. An INT64 beside a FLOAT64 becomes a double (language §5, Comparison)."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)  # type: ignore[arg-type]
    match sign:
        case "=":
            answer = left == right
        case "<>":
            answer = left != right
        case "<":
            answer = left < right  # type: ignore[operator]
        case "<=":
            answer = left <= right  # type: ignore[operator]
        case ">":
            answer = left > right  # type: ignore[operator]
        case _:
            answer = left >= right  # type: ignore[operator]
    return T if answer else F
