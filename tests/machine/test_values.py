"""Python objects become values of the machine: each type of the table, its look-alikes, and what is refused."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import fractions
import http
import itertools
import math
import pickle
import types
import uuid
from array import array
from typing import Any

import pytest
from conftest import shown
from running import INT64_MAX, JMS, WRAPPERS, Blob, Color, read, same, truth

import mqsel
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError
from mqsel.values import Float32, Int8, Int16, Int32

INT64_MIN = -(1 << 63)


class Count(int):
    """An int that lies about its number."""

    def __int__(self) -> int:
        return -1

    def __index__(self) -> int:
        return -1


class Weight(float):
    """A float that lies about its number."""

    def __float__(self) -> float:
        return -1.0


class Size(enum.IntEnum):
    """An int with a name."""

    LARGE = 3


class Shade(str, enum.Enum):
    """A str with a name."""

    RED = "red"


VALUES: dict[str, tuple[Any, str, Any]] = {
    "None": (None, "null", None),
    "True": (True, "boolean", True),
    "False": (False, "boolean", False),
    "int": (5, "int64", 5),
    "int64 max": (INT64_MAX, "int64", INT64_MAX),
    "int64 min": (INT64_MIN, "int64", INT64_MIN),
    "float": (1.5, "float64", 1.5),
    "-0.0": (-0.0, "float64", -0.0),
    "nan": (math.nan, "float64", math.nan),
    "inf": (-math.inf, "float64", -math.inf),
    "str": ("é", "string", "é"),
    "empty str": ("", "string", ""),
    "lone surrogate": ("\ud800", "string", "\ud800"),
    "NUL": ("a\0b", "string", "a\0b"),
    "bytes": (b"\0\xff", "bytes", b"\0\xff"),
    "empty bytes": (b"", "bytes", b""),
    "bytearray": (bytearray(b"ab"), "bytes", b"ab"),
    "memoryview": (memoryview(b"ab"), "bytes", b"ab"),
    "every second byte": (memoryview(b"abcdef")[::2], "bytes", b"ace"),
    "backwards": (memoryview(b"abc")[::-1], "bytes", b"cba"),
    "memoryview of words": (memoryview(array("H", [0x0101, 0x0202])), "bytes", b"\1\1\2\2"),
    "two dimensions": (memoryview(b"abcdef").cast("B", (2, 3)), "bytes", b"abcdef"),
    "Int8": (Int8(-128), "int8", Int8(-128)),
    "Int16": (Int16(32767), "int16", Int16(32767)),
    "Int32": (Int32(-(1 << 31)), "int32", Int32(-(1 << 31))),
    "Float32": (Float32(0.1), "float32", Float32(0.1)),
    "IntEnum": (Size.LARGE, "int64", 3),
    "HTTPStatus": (http.HTTPStatus.OK, "int64", 200),
    "str Enum": (Shade.RED, "string", "red"),
    "str subclass": (Color("red"), "string", "red"),
    "bytes subclass": (Blob(b"red"), "bytes", b"red"),
    "int subclass": (Count(5), "int64", 5),
    "float subclass": (Weight(2.5), "float64", 2.5),
}


@pytest.mark.parametrize(("value", "kind", "plain"), VALUES.values(), ids=VALUES)
def test_python_values_have_the_types_of_the_table(value: Any, kind: str, plain: Any) -> None:
    """Language §1: `bool` before `int`, subclasses as what they are underneath, wrappers as the narrow types."""
    found, got = read(value)

    assert found == kind
    assert same(got, plain)


@pytest.mark.parametrize(("value", "kind", "plain"), VALUES.values(), ids=VALUES)
def test_a_record_reads_the_same_values(value: Any, kind: str, plain: Any) -> None:
    """An untyped slot of a Record holds what a selector would have read, and gives it back."""
    record = mqsel.Record(["x"], [value])

    assert same(record["x"], plain)
    assert mqsel.compile("x IS NULL").explain(record).properties["x"][0] == kind


def test_bool_is_no_number() -> None:
    """`True` is BOOLEAN although it is an int in Python: `x = 1` is a type mismatch, `x` is true."""
    assert truth("x = 1", {"x": True}) == "FALSE"
    assert truth("x <> 1", {"x": True}) == "FALSE"
    assert truth("x", {"x": True}) == "TRUE"
    assert truth("x", {"x": 1}) == "FALSE"
    assert truth("x", {"x": None}) == "UNKNOWN"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(Int8(127), "FALSE"), (Int32((1 << 31) - 1), "TRUE"), ((1 << 31) - 1, "FALSE"), (INT64_MAX, "TRUE")],
    ids=["int8", "int32", "int64", "int64 max"],
)
def test_the_width_of_an_integer_is_that_of_its_wrapper(value: Any, wanted: str) -> None:
    """INT8/16/32 arithmetic is int32 and wraps; INT64 arithmetic wraps at 64 bits."""
    assert truth("x + x < 0", {"x": value}) == wanted


def test_strings_and_byte_strings_are_never_one() -> None:
    """A str equals no bytes of the same letters."""
    assert truth("x = 'ab'", {"x": b"ab"}) == "FALSE"
    assert truth('x = "0x6162"', {"x": "ab"}) == "FALSE"
    assert truth('x = "0x6162"', {"x": memoryview(b"a-b-")[::2]}) == "TRUE"


class Opaque:
    """No property value, but quick to claim to be one."""

    __class__ = str  # type: ignore[assignment]

    def __str__(self) -> str:
        return "text"

    def __int__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1

    def __float__(self) -> float:
        return 1.0

    def __bytes__(self) -> bytes:
        return b""

    def __bool__(self) -> bool:
        return True


REFUSED: dict[str, tuple[Any, str]] = {
    "Decimal": (decimal.Decimal("1.5"), "Decimal"),
    "Fraction": (fractions.Fraction(1, 2), "Fraction"),
    "datetime": (dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc), "datetime"),
    "date": (dt.date(2024, 1, 1), "date"),
    "timedelta": (dt.timedelta(1), "timedelta"),
    "UUID": (uuid.UUID(int=1), "UUID"),
    "list": ([1], "list"),
    "tuple": ((1,), "tuple"),
    "dict": ({"y": 1}, "dict"),
    "set": ({1}, "set"),
    "complex": (1j, "complex"),
    "array": (array("b", [1]), "array"),
    "range": (range(3), "range"),
    "object": (object(), "object"),
    "claims to be a str": (Opaque(), "Opaque"),
    "a class": (int, "type"),
    "NotImplemented": (NotImplemented, "NotImplementedType"),
    "int beyond int64": (1 << 63, "int"),
    "int below int64": (-(1 << 63) - 1, "int"),
    "a very long int": (-(1 << 5000), "int"),
    "an int subclass beyond int64": (Count(1 << 63), "int"),
}


@pytest.mark.parametrize(("value", "found"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("selector", ["x = 1", "x IS NULL", "x LIKE 'a%'", "x", "-x > 0", "x BETWEEN 1 AND 2"])
def test_everything_else_is_no_property(value: Any, found: str, selector: str) -> None:
    """Any other object is a PropertyTypeError naming property and Python type, whatever the selector does with it."""
    for message in ({"x": value}, types.MappingProxyType({"x": value}), collections.UserDict(x=value)):
        with pytest.raises(PropertyTypeError) as caught:
            mqsel.compile(selector).matches(message)

        error = caught.value
        assert (error.name, error.value_type, error.index) == ("x", found, None)
        assert "'x'" in str(error)
        assert isinstance(error, MqselError)
        assert isinstance(error, TypeError)
        assert error.hint


def test_a_released_memoryview_is_no_property() -> None:
    """A buffer that is gone is a wrong value like any other, so that errors="skip" can count it."""
    view = memoryview(b"ab")
    view.release()
    with pytest.raises(PropertyTypeError) as caught:
        mqsel.compile("x IS NULL").matches({"x": view})

    assert (caught.value.name, caught.value.value_type) == ("x", "memoryview")


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [("y = 1", "TRUE"), ("y = 2 AND x = 1", "FALSE"), ("y = 1 OR x = 1", "TRUE"), ("NOT (y = 1 OR x)", "FALSE")],
)
def test_a_wrong_value_hurts_only_if_it_is_read(selector: str, wanted: str) -> None:
    """Language §1: raised only if the selector reads that property; evaluation is lazy, left to right."""
    bad = {"x": [], "y": 1}
    laid_out = {"schema": ("x", "y")}

    assert truth(selector, bad) == wanted
    assert truth(selector, types.MappingProxyType(bad)) == wanted
    assert truth(selector, ([], 1), **laid_out) == wanted


def test_an_expanded_between_does_not_read_a_bound_it_does_not_need() -> None:
    """BETWEEN = `a >= b AND a <= c`, and a FALSE left side of AND hides the right one, its faults included."""
    message = {"x": 1, "low": 2, "high": []}

    assert truth("x BETWEEN low AND high", message, dialect=JMS) == "FALSE"
    assert truth("x NOT BETWEEN low AND high", message, dialect=JMS) == "TRUE"


def test_the_error_survives_its_journey() -> None:
    """An executor pickles the exception: every attribute arrives."""
    with pytest.raises(PropertyTypeError) as caught:
        mqsel.compile("x = 1").matches({"x": []})
    copied = pickle.loads(pickle.dumps(caught.value))

    assert (str(caught.value), vars(caught.value)) == (str(copied), vars(copied))


def test_numpy_scalars() -> None:
    """A numpy scalar is the property type of its width; an unsigned one the next wider; others are refused."""
    np = pytest.importorskip("numpy")
    wanted = {
        **{f"int{width}": f"int{width}" for width in (8, 16, 32, 64)},
        "intc": "int32",
        "longlong": "int64",
        "uint8": "int16",
        "uint16": "int32",
        "uint32": "int64",
        "uint64": "int64",
        "ulonglong": "int64",
        "float16": "float32",
        "float32": "float32",
        "float64": "float64",
        "bool_": "boolean",
        "str_": "string",
    }
    for name, kind in wanted.items():
        value = getattr(np, name)(1)
        plain = {"boolean": True, "string": "1"}.get(kind, WRAPPERS.get(kind, float if kind == "float64" else int)(1))

        assert read(value)[0] == kind, name
        assert same(read(value)[1], plain), name
    assert read(np.bytes_(b"ab")) == ("bytes", b"ab")
    wrong = [np.datetime64("2024-01-01"), np.timedelta64(1, "s"), np.complex64(1), np.void(b"1")]
    for value in [*wrong, np.longdouble(1), np.array([1]), np.array(1)]:
        if isinstance(value, float):
            continue  # where a long double is a double
        with pytest.raises(PropertyTypeError) as caught:
            read(value)
        assert (caught.value.name, caught.value.value_type) == ("x", type(value).__qualname__)


class Numeric(type):
    """A metaclass of what looks like a scalar of numpy, and may raise when it is asked."""

    def __new__(cls, name: str, members: dict[str, Any], bases: tuple[type, ...] = ()) -> Any:
        return super().__new__(cls, name, bases, {"__module__": "numpy", **members})

    def __init__(cls, *_: Any) -> None:
        pass


def look_alike(name: str, **members: Any) -> Any:
    return Numeric(name, members)()


def again() -> Any:
    """Return a look-alike that reads as a look-alike that reads as a look-alike, and so on."""
    return Numeric("str_", {"__str__": lambda _: again()}, (str,))("x")


LOOK_ALIKES = [
    (again(), "is a Python", False),
    (Numeric("bytes_", {"__bytes__": lambda _: 1 / 0}, (bytes,))(b"x"), "is a Python", False),
    (look_alike("str_", __str__=lambda _: "x"), "is a Python str_", True),
    (look_alike("bytes_", __index__=lambda _: 1 << 60), "is a Python bytes_", True),
    (look_alike("int8", __int__=lambda _: 1000), "is an integer outside int8", True),
    (look_alike("uint16", __int__=lambda _: -(1 << 31) - 1), "is an integer outside int32", True),
    (look_alike("int64", __int__=lambda _: 1 << 63), "is an integer outside 64 bits", True),
    (look_alike("int32", __int__=lambda _: "x"), "is a Python int32", True),
    (look_alike("int32"), "is a Python int32", True),
    (look_alike("float32", __float__=lambda _: 1 / 0), "is a Python float32", True),
    (look_alike("bool", __bool__=lambda _: None), "is a Python bool", True),
    (look_alike("datetime64"), "is a Python datetime64", True),
]


@pytest.mark.parametrize(("value", "found", "refused"), LOOK_ALIKES, ids=itertools.count())
def test_what_looks_like_numpy(value: Any, found: str, refused: bool) -> None:
    """A class of the name of a numpy scalar gives a value of that type, or is refused by the property's name."""
    for message in ({"a": value}, types.MappingProxyType({"a": value}), collections.UserDict(a=value)):
        if refused:
            with pytest.raises(PropertyTypeError, match=f"^property 'a' {found}"):
                mqsel.compile("a = 'x'").matches(message)
        else:
            assert mqsel.compile("a = 'x' OR a <> '' OR NOT a = 5").matches(message)
    if refused:
        with pytest.raises(PropertyTypeError, match=f"^property 'a' {found}"):
            mqsel.Record(["a"], [value])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (int.__new__(Int32, 1 << 70), "int32"),
        (int.__new__(Int32, 1 << 31), "int32"),
        (int.__new__(Int16, -(1 << 15) - 1), "int16"),
        (int.__new__(Int8, 128), "int8"),
        (int.__new__(Int8, -(1 << 200)), "int8"),
        (1 << 63, "64 bits"),
        (Count(-(1 << 63) - 1), "64 bits"),
    ],
    ids=shown,
)
def test_an_integer_beyond_its_type(value: Any, kind: str) -> None:
    """A wrapper made around its check holds what its type cannot: refused by name, in every kind of message."""
    matcher = mqsel.compile("a = 1", schema=("a",))
    for way in (
        lambda: matcher.matches({"a": value}),
        lambda: matcher.matches((value,)),
        lambda: matcher.matches(collections.UserDict(a=value)),
        lambda: mqsel.Record(["a"], [value]),
        lambda: matcher.explain({"a": value}),
    ):
        with pytest.raises(PropertyTypeError, match=f"^property 'a' is an integer outside {kind}: ") as caught:
            way()
        assert caught.value.name == "a"


def test_a_float32_has_24_bits() -> None:
    """A Float32 made around its rounding is rounded when it is read."""
    loose = float.__new__(Float32, 0.1)

    assert loose != Float32(0.1)
    for message in ({"a": loose, "b": Float32(0.1)}, mqsel.Record(["a", "b"], [loose, Float32(0.1)])):
        assert mqsel.compile("a = b AND a <> 0.1").matches(message)


class Mute:
    """A value that cannot be shown."""

    def __repr__(self) -> str:
        raise ZeroDivisionError


def test_numbers_beyond_every_range_are_refused_in_words() -> None:
    """The wrappers show an integer of any size, and a value whose repr() raises, in one line of their error."""
    for wrapper in (Int8, Int16, Int32):
        with pytest.raises(ArgumentError, match=r"holds -.* found a Python int$"):
            wrapper(1 << 20_000)
        with pytest.raises(ArgumentError, match=r"needs an integer, found a Python Mute$"):
            wrapper(Mute())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"needs a number, found a Python Mute$"):
        Float32(Mute())  # type: ignore[arg-type]
    assert (Float32(1 << 2000), Float32(-(1 << 2000))) == (math.inf, -math.inf)


def test_numpy_extremes() -> None:
    """The ends of each width arrive whole; what does not fit 64 bits, or is no scalar, is refused."""
    np = pytest.importorskip("numpy")
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32):
        ends = np.iinfo(kind).min, np.iinfo(kind).max

        assert tuple(read(kind(end))[1] for end in ends) == ends, kind
    for kind in (np.float16, np.float32, np.float64):
        ends = np.finfo(kind).max, np.finfo(kind).smallest_subnormal, kind("-inf")

        assert tuple(read(end)[1] for end in ends) == tuple(float(end) for end in ends), kind
    assert math.isnan(read(np.float32("nan"))[1])
    assert read(np.uint64(INT64_MAX)) == ("int64", INT64_MAX)
    assert truth("x", {"x": np.True_}) == "TRUE"
    assert truth("x + x < 0", {"x": np.int32((1 << 31) - 1)}) == "TRUE"
    with pytest.raises(PropertyTypeError):
        read(np.uint64(1 << 63))
