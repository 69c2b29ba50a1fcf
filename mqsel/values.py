"""Truth values, property types and the arithmetic of constants: the semantics as tables.

Constants are computed here when a selector is compiled; messages are evaluated by the machine alone. Whatever reads or
writes property types takes them from the table. Knows nothing of text, trees or programs. Follows language §1 and §5;
numbers of types from *IBM MQ 9.4, MQTYPE*.
"""

import math
import operator
import struct
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel.carets import shortened
from mqsel.errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Self


class Truth(IntEnum):
    """The result of a condition: TRUE, FALSE, UNKNOWN (a value is missing) or ERR (the complete selector is false).

    A selector selects a message only if it is TRUE. `Matcher.evaluate` returns FALSE for ERR.
    """

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


def _short(value: int) -> int:
    """Round to 24 bits, half to even: through a double a large integer would be rounded twice."""
    excess = abs(value).bit_length() - 24
    if excess <= 0:
        return value
    kept, rest, half = abs(value) >> excess, abs(value) & ((1 << excess) - 1), 1 << (excess - 1)
    kept += rest > half or (rest == half and kept & 1)
    return (kept << excess) * (1 if value > 0 else -1)


class _Ranged(int):
    """An integer of a narrow type."""

    __slots__ = ()

    def __new__(cls, value: int) -> "Self":
        low, high = _RANGES[cls]
        try:
            number = int.__new__(cls, operator.index(value))
        except TypeError as error:
            raise ArgumentError(f"{cls.__name__} needs an integer, found {shortened(value)}") from error
        if not low <= number <= high:
            raise ArgumentError(f"{cls.__name__} holds {low} to {high}, found {shortened(value)}")
        return number


class Int8(_Ranged):
    """A property value of type INT8 (a Java byte)."""

    __slots__ = ()


class Int16(_Ranged):
    """A property value of type INT16 (a Java short)."""

    __slots__ = ()


class Int32(_Ranged):
    """A property value of type INT32 (a Java int, MQLONG)."""

    __slots__ = ()


class Float32(float):
    """A property value of type FLOAT32 (a Java float): the nearest one to *value*."""

    __slots__ = ()

    def __new__(cls, value: float) -> "Float32":
        try:
            (rounded,) = struct.unpack("f", struct.pack("f", _short(value) if isinstance(value, int) else value))
        except (OverflowError, struct.error) as error:
            # struct refuses an integer beyond every double; the nearest float is an infinity.
            if isinstance(error, struct.error) and not isinstance(value, int):
                raise ArgumentError(f"Float32 needs a number, found {shortened(value)}") from error
            rounded = math.inf if value > 0 else -math.inf
        return float.__new__(cls, rounded)


# ---- types -------------------------------------------------------------------------------------------------------


class PropertyType(NamedTuple):
    """What is known of a property type.

    Attributes:
        name: in schemas, in JSON messages, in declarations and in test vectors.
        number: the vendor's.
        python: the class of its values.
        kind: its kind in the language: "exact", "approximate", "string", "boolean", "bytes"; or "null".
        bits: how wide a number is; 0 for others.
        java: other names for it in records that Java programs wrote.
        dt: its names in an MQRFH2; the first is written.
        spark: the classes of its Spark types.
        sql: its Spark type in SQL; empty for none.
    """

    name: str
    number: MQTYPE
    python: type
    kind: str
    bits: int
    java: tuple[str, ...]
    dt: tuple[str, ...]
    spark: tuple[str, ...]
    sql: str

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest value of an exact number."""
        return -(1 << self.bits - 1), (1 << self.bits - 1) - 1


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# A type is added here; `mqsel.machine` reads and holds it, vectors show it. Numbers are in the order of their width.
TYPES = tuple(
    PropertyType(name, number, python, kind, bits, _words(java), _words(dt), _words(spark), sql)
    for name, number, python, kind, bits, java, dt, spark, sql in (
        ("null", MQTYPE.MQTYPE_NULL, type(None), "null", 0, "", "", "NullType", ""),
        ("boolean", MQTYPE.MQTYPE_BOOLEAN, bool, "boolean", 0, "", "boolean", "BooleanType", "BOOLEAN"),
        ("bytes", MQTYPE.MQTYPE_BYTE_STRING, bytes, "bytes", 0, "", "bin.hex", "BinaryType", "BINARY"),
        ("int8", MQTYPE.MQTYPE_INT8, Int8, "exact", 8, "byte", "i1", "ByteType", "TINYINT"),
        ("int16", MQTYPE.MQTYPE_INT16, Int16, "exact", 16, "short", "i2", "ShortType", "SMALLINT"),
        ("int32", MQTYPE.MQTYPE_INT32, Int32, "exact", 32, "int integer", "i4", "IntegerType", "INT"),
        ("int64", MQTYPE.MQTYPE_INT64, int, "exact", 64, "long", "i8 int", "LongType", "BIGINT"),
        ("float32", MQTYPE.MQTYPE_FLOAT32, Float32, "approximate", 32, "float", "r4", "FloatType", "FLOAT"),
        ("float64", MQTYPE.MQTYPE_FLOAT64, float, "approximate", 64, "double", "r8", "DoubleType", "DOUBLE"),
        ("string", MQTYPE.MQTYPE_STRING, str, "string", 0, "", "string", "StringType VarcharType", "STRING"),
    )
)

EXACT = tuple(row.name for row in TYPES if row.kind == "exact")
APPROXIMATE = tuple(row.name for row in TYPES if row.kind == "approximate")
TYPE_NAMES = {row.name: row.number for row in TYPES}
CLASS_NAMES = {row.python: row.name for row in TYPES}
# The names of types in records that Java programs wrote.
JAVA_WORDS = {row.name: row.name for row in TYPES} | {word: row.name for row in TYPES for word in row.java}
# The words for kinds in errors.
KINDS = {
    "exact": "number",
    "approximate": "number",
    "string": "string",
    "boolean": "boolean",
    "bytes": "byte string",
}
# Those of literals, of which a computed test has more.
LITERAL_KINDS = {**KINDS, "null": "boolean", "big": "number"}
_RANGES = {row.python: row.range for row in TYPES if row.kind == "exact"}


class ArrowType(NamedTuple):
    """What a column of an Arrow type is to a selector; of a dictionary, what its values are.

    Attributes:
        format: in Arrow's C data interface; of a type with parameters, what stands before them.
        name: what people call it. Of a type that is read, what pyarrow calls it.
        read_as: the name of the property type; "" for none.
        extreme: how Parquet writes a least value, as for `struct`; "" for bytes as they stand, None where it is of no
            use.
        remedy: what to do with a column that cannot be read.
    """

    format: str
    name: str
    read_as: str
    extreme: str | None = None
    remedy: str = ""


_SINGLE = "make a column of the one value that the property has"
ARROW_TYPES = (
    ArrowType("n", "null", "null", ""),
    ArrowType("b", "bool", "boolean", "<?"),
    ArrowType("c", "int8", "int8", "<i"),
    ArrowType("C", "uint8", "int16", "<I"),
    ArrowType("s", "int16", "int16", "<i"),
    ArrowType("S", "uint16", "int32", "<I"),
    ArrowType("i", "int32", "int32", "<i"),
    ArrowType("I", "uint32", "int64", "<I"),
    ArrowType("l", "int64", "int64", "<q"),
    ArrowType("L", "uint64", "int64"),  # one beyond int64 is an error that must be found
    ArrowType("f", "float", "float32", "<f"),
    ArrowType("g", "double", "float64", "<d"),
    ArrowType("u", "string", "string", ""),
    ArrowType("U", "large_string", "string", ""),
    ArrowType("vu", "string_view", "string", ""),
    ArrowType("z", "binary", "bytes", ""),
    ArrowType("Z", "large_binary", "bytes", ""),
    ArrowType("vz", "binary_view", "bytes", ""),
    ArrowType("e", "float16", "", remedy="cast it to float"),
    ArrowType("d:", "decimal", "", remedy="cast it to double, or pass decimals='double' for a frame"),
    ArrowType("w:", "fixed_size_binary", "", remedy="cast it to binary"),
    ArrowType("tdD", "date32", "", remedy="cast it to string"),
    ArrowType("tdm", "date64", "", remedy="cast it to string"),
    ArrowType("tt", "time", "", remedy="cast it to string"),
    ArrowType("ts", "timestamp", "", remedy="cast it to int64, or pass timestamps='millis' for a frame"),
    ArrowType("tD", "duration", "", remedy="cast it to int64"),
    ArrowType("ti", "interval", "", remedy=_SINGLE),
    ArrowType("+l", "list", "", remedy=_SINGLE),
    ArrowType("+L", "large_list", "", remedy=_SINGLE),
    ArrowType("+vl", "list_view", "", remedy=_SINGLE),
    ArrowType("+vL", "large_list_view", "", remedy=_SINGLE),
    ArrowType("+w:", "fixed_size_list", "", remedy=_SINGLE),
    ArrowType("+s", "struct", "", remedy="name a field of it, as in a.b"),
    ArrowType("+m", "map", "", remedy=_SINGLE),
    ArrowType("+u", "union", "", remedy=_SINGLE),
    ArrowType("+r", "run_end_encoded", "", remedy="decode it with pyarrow.compute.run_end_decode"),
)
# What is read, by the name that pyarrow has for it.
ARROW_READ = {row.name: row for row in ARROW_TYPES if row.read_as}


# ---- constants ---------------------------------------------------------------------------------------------------


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def arithmetic(sign: str, left: int | float, right: int | float) -> int | float | None:
    """Compute ``left sign right`` on two literals, which are INT64 (int) or FLOAT64 (float).

    Returns: the number, or None for an integer divided by zero, or its remainder (ERR).
    Source: language §5, Arithmetic.
    """
    exact = isinstance(left, int) and isinstance(right, int)
    if sign in ARITHMETIC:
        result = ARITHMETIC[sign](left, right)
        return _wrap(result) if exact else float(result)
    if exact:
        if right == 0:
            return None
        quotient = int(abs(left) // abs(right)) * (1 if (left < 0) == (right < 0) else -1)
        return _wrap(int(left - quotient * right if sign == "%" else quotient))
    a, b = float(left), float(right)
    if sign == "%":  # Java §15.17.3: fmod of C, which Python's raises ValueError for
        return math.nan if b == 0.0 or math.isinf(a) or math.isnan(a) else math.fmod(a, b)
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
    return T if RELATIONS[sign](left, right) else F
