"""The machine: values in, the four property sources, Record, LIKE and strings, what it keeps and what it survives.

Truth values against the oracle are in test_conformance.py and test_differential.py; here stand the Python objects that
come in, and those made to hurt. What once could crash runs in a process of its own. Longer than 500 lines because each
kind of message is a way in, and every way in has its own traps.
"""

from __future__ import annotations

import collections
import copy
import ctypes
import datetime as dt
import decimal
import enum
import fractions
import gc
import http
import itertools
import math
import os
import pickle
import random
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import types
import uuid
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import oracle
import pytest
import strategies
from conftest import shown

import mqsel
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError
from mqsel.formats import mq
from mqsel.language.dialect import PRESETS
from mqsel.language.parser import parse
from mqsel.machine import _vm
from mqsel.machine.schema import Schema
from mqsel.values import TYPE_NAMES, Float32, Int8, Int16, Int32, Truth

JMS = mqsel.JMS
INT64_MAX = (1 << 63) - 1
INT64_MIN = -(1 << 63)
FLOAT32_MAX = (2.0 - 2.0**-23) * 2.0**127
RANGES = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
WRAPPERS: dict[str, Callable[[Any], Any]] = {"int8": Int8, "int16": Int16, "int32": Int32, "float32": Float32}


def truth(selector: str, message: Any, **options: Any) -> str:
    """Return the four-valued result; the quick code must agree on "is it TRUE"."""
    matcher = mqsel.compile(selector, **options)
    result = Truth(_vm.Machine(matcher.program, matcher.schema).truth(message))
    assert matcher.matches(message) is (result is Truth.TRUE)
    return result.name


def read(value: Any) -> tuple[str, Any]:
    """Return the type and the value that the machine finds in a Python object."""
    return mqsel.compile("x IS NULL").explain({"x": value}).properties["x"]


def same(left: Any, right: Any) -> bool:
    """Report whether two values are of one Python type and equal, bit for bit where they are floats."""
    if isinstance(left, float) and type(left) is type(right):
        return repr(left) == repr(right)
    return type(left) is type(right) and left == right


# ---- values in -----------------------------------------------------------------------------------------------------


class Color(str):
    """A str that lies about its text."""

    __slots__ = ()

    def __str__(self) -> str:
        return "lie"

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


class Blob(bytes):
    """Bytes that lie about themselves."""

    def __bytes__(self) -> bytes:
        return b"lie"

    def __getitem__(self, key: Any) -> Any:
        return b"lie"


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


class Nameless(type):
    """A metaclass that gives no name."""

    def __getattribute__(cls, name: str) -> Any:
        raise ZeroDivisionError


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
    (Nameless("Nobody", (), {})(), "is a Python Nobody", True),
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


def test_a_message_without_a_name() -> None:
    """The error about an object that is not a message names its type without asking the metaclass."""
    with pytest.raises(PropertyTypeError, match="found a Python Nobody"):
        mqsel.compile("a = 1").matches(Nameless("Nobody", (), {})())


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
    for read in (
        lambda: matcher.matches({"a": value}),
        lambda: matcher.matches((value,)),
        lambda: matcher.matches(collections.UserDict(a=value)),
        lambda: mqsel.Record(["a"], [value]),
        lambda: matcher.explain({"a": value}),
    ):
        with pytest.raises(PropertyTypeError, match=f"^property 'a' is an integer outside {kind}: ") as caught:
            read()
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


# ---- sources -------------------------------------------------------------------------------------------------------


class Lookup(Mapping[str, Any]):
    """A Mapping written by a user."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Bag(dict):  # type: ignore[type-arg]
    """A subclass of dict."""


class Line(tuple):  # type: ignore[type-arg]
    """A tuple that names its positions, as a namedtuple does, whatever the names are."""

    __slots__ = ()
    _fields: Any = ()


def _line(message: dict[str, Any]) -> Line:
    return type("Line", (Line,), {"_fields": tuple(message)})(message.values())


MAPPINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "subclass": Bag,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": lambda message: collections.defaultdict(int, message),
    "Counter": collections.Counter,
    "ChainMap": lambda message: collections.ChainMap({}, message),
    "UserDict": collections.UserDict,
    "MappingProxyType": types.MappingProxyType,
    "Mapping": Lookup,
}


def sources(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Write one message in every form: (what it is, arguments for compile, the message)."""
    for name, kind in MAPPINGS.items():
        yield name, {}, kind(message)
    names, values = tuple(message), tuple(message.values())
    backwards = names[::-1]
    yield "tuple", {"schema": names}, values
    yield "list", {"schema": ("other name", *names)}, [object(), *values]
    yield "named", {}, _line(message)
    yield "named, by the schema", {"schema": names}, type("Line", (Line,), {"_fields": backwards})(values)
    yield "Record", {}, mqsel.Record(names, values)
    yield "Record and schema", {"schema": backwards}, mqsel.Record(backwards, message)


@pytest.mark.parametrize("name", PRESETS)
def test_every_source_gives_the_same_answer(name: str) -> None:
    """Invariant: how a message is laid out changes none of the four values."""
    rng = random.Random(f"sources {name}")
    for _ in range(150):
        text, properties = strategies.random_case(rng, name)
        wanted = oracle.evaluate(parse(text, PRESETS[name]), properties, PRESETS[name])
        message = strategies.to_message(properties)
        got = {form: truth(text, one, dialect=PRESETS[name], **options) for form, options, one in sources(message)}

        assert got == dict.fromkeys(got, wanted), (text, properties)


def test_rows_of_spark_with_and_without_schema() -> None:
    """A Row carries the names of its positions; a schema, where there is one, decides instead."""
    sql = pytest.importorskip("pyspark.sql")
    row, other = sql.Row(color="red", weight=5), sql.Row("weight", "color")(5, "red")
    matcher = mqsel.compile("color = 'red' AND weight = 5")
    renamed = mqsel.compile("a = 'red' AND b = 5", schema=("a", "b"))

    assert [matcher.matches(each) for each in (row, other, row, other)] == [True] * 4
    assert renamed.matches(row)
    assert not renamed.matches(other)
    assert mqsel.compile("size IS NULL").matches(row)
    assert mqsel.compile("color = 'red' AND weight = 5").matches(pickle.loads(pickle.dumps(row)))
    with pytest.raises(PropertyTypeError):
        matcher.matches(sql.Row("red", 5))


def test_a_row_may_hold_anything_it_is_not_asked_for() -> None:
    """Columns that are no property values hurt only the selector that reads them."""
    sql = pytest.importorskip("pyspark.sql")
    row = sql.Row(id=1, tags=["a"], inner=sql.Row(x=1))

    assert mqsel.compile("id = 1").matches(row)
    with pytest.raises(PropertyTypeError, match="tags"):
        mqsel.compile("tags = 1").matches(row)


class Pair(NamedTuple):
    """Two positions."""

    a: Any
    b: Any


class Swapped(NamedTuple):
    """The same, the other way round."""

    b: Any
    a: Any


class Wide(NamedTuple):
    """The same, further right."""

    x: Any
    y: Any
    b: Any
    a: Any


def test_named_tuples_of_many_layouts_in_one_stream() -> None:
    """Each named tuple is read by its own names, also between others."""
    stream = [Pair(1, 2), Swapped(2, 1), Wide(0, 0, 2, 1), Pair(2, 1), Pair(1, 2), Swapped(1, 2)] * 3
    matcher = mqsel.compile("a = 1 AND b = 2")

    assert [message for message in stream if (message.a, message.b) == (1, 2)] == list(matcher.filter(stream))


def test_names_that_change_in_place_are_read_again() -> None:
    """What a tuple says of its positions is believed for that tuple, not for later ones with the same list of names."""
    kind = type("Line", (Line,), {"_fields": ["a", "b"]})
    matcher = mqsel.compile("b = 'x'")
    before = matcher.matches(kind(("y", "x")))
    kind._fields.reverse()

    assert (before, matcher.matches(kind(("x", "y")))) == (True, True)


def test_a_defaultdict_does_not_grow() -> None:
    """Reading a property that is missing leaves the message as it is."""
    message = collections.defaultdict(lambda: 5, y=1)

    assert truth("x = 5 OR usr.z = 5", message) == "UNKNOWN"
    assert dict(message) == {"y": 1}


def test_a_dict_subclass_answers_by_get() -> None:
    """A subclass of dict is asked, not looked into."""

    class Upper(dict):  # type: ignore[type-arg]
        def get(self, name: str, default: Any = None) -> Any:
            return super().get(name.upper(), default)

    assert truth("x = 5", Upper(X=5)) == "TRUE"


def test_dicts_of_many_shapes_in_one_stream() -> None:
    """Invariant: where a property stood in earlier messages does not change where it is found in this one."""
    rng = random.Random("shapes")
    names = ["a", "b", "c", "usr.a", *(f"p{number}" for number in range(6))]
    stream: list[dict[str, Any]] = []
    while len(stream) < 3000:
        shape = rng.sample(names, rng.randrange(len(names) + 1))
        for _ in range(rng.choice((1, 2, 20, 100))):
            # Keys that are the very strings of the program, or only equal to them; with and without holes.
            fresh = rng.random() < 0.3
            message = {"".join(list(name)) if fresh else sys.intern(name): rng.randrange(3) for name in shape}
            if shape and rng.random() < 0.2:
                message[shape[0]] = message.pop(shape[0])
            stream.append(message)
    matcher = mqsel.compile("a = 1 AND (b <> c OR c IS NULL AND b <> 0 OR b IS NULL)")
    wanted = [
        each
        for each in stream
        if each.get("a", each.get("usr.a")) == 1
        and (each.get("b") is None or (each["b"] != 0 if each.get("c") is None else each["b"] != each["c"]))
    ]

    assert list(map(id, matcher.filter(stream))) == list(map(id, wanted))
    assert list(map(id, matcher.filter(iter(stream)))) == list(map(id, wanted))
    assert [id(each) for each in stream if matcher.matches(each)] == list(map(id, wanted))


def test_keys_of_other_kinds_are_not_properties() -> None:
    """A dict may have keys that are no strings, and strings that are no exact ones."""
    message = {1: "a", None: "b", b"x": "c", ("x",): "d", Color("x"): "e"}

    assert truth("x IS NULL", message) == "TRUE"
    assert truth("x = 5", {type("Name", (str,), {})("x"): 5}) == "TRUE"


@pytest.mark.parametrize("kind", MAPPINGS.values(), ids=MAPPINGS)
def test_usr_x_and_x_are_one_property(kind: Callable[[dict[str, Any]], Any]) -> None:
    """Language §6: under mqi names both spellings read either spelling; elsewhere a name is its letters."""
    for written, sent in itertools.product(("x", "usr.x"), repeat=2):
        assert truth(f"{written} = 5", kind({sent: 5})) == "TRUE", (written, sent)
    assert truth("x IS NULL", kind({"usr.x": 5}), dialect=JMS) == "TRUE"
    assert truth("JMSType IS NULL", kind({"usr.JMSType": "car"})) == "TRUE"
    assert truth("shop.x IS NULL", kind({"usr.shop.x": 5, "x": 5})) == "TRUE"


def test_usr_x_and_x_are_one_property_of_a_sequence() -> None:
    """A schema, a named tuple and a Record may use either spelling."""
    for written, sent in itertools.product(("x", "usr.x"), repeat=2):
        for _, options, message in sources({"y": 1, sent: 5}):
            assert truth(f"{written} = 5", message, **options) == "TRUE", (written, sent)


@pytest.mark.parametrize("message", [{"x": None, "usr.x": 5}, {"x": 5, "usr.x": None}, {"usr.x": 5, "x": 6}])
def test_a_message_with_both_spellings_has_one_answer(message: dict[str, Any]) -> None:
    """Invariant: a message that carries a property twice gives one answer in every form it may have."""
    for selector in ("x = 5", "x IS NULL", "usr.x = 5"):
        got = {form: truth(selector, one, **options) for form, options, one in sources(message)}

        assert got == dict.fromkeys(got, got["dict"]), selector


def test_a_schema_without_the_property() -> None:
    """A property that the layout does not have is NULL."""
    assert truth("z IS NULL", (1, 2), schema=("x", "y")) == "TRUE"
    assert truth("z = 1", [1, 2], schema=("x", "y")) == "UNKNOWN"
    assert truth("z = 1", mqsel.Record(["x"], [1])) == "UNKNOWN"
    assert truth("z = 1 OR x = 1", Pair(1, 2)) == "UNKNOWN"
    assert truth("x IS NULL", (), schema=()) == "TRUE"


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3), tuple(range(1000))], ids=len)
def test_a_sequence_of_the_wrong_length(values: tuple[int, ...]) -> None:
    """A sequence that the schema does not lay out is refused, whatever the selector reads."""
    for selector in ("x = 1", "z IS NULL", ""):
        for message in (values, list(values)):
            with pytest.raises(PropertyTypeError, match=f"{len(values)} values.* 2") as caught:
                mqsel.compile(selector, schema=("x", "y")).matches(message)
            assert caught.value.name is None


def test_a_mapping_needs_no_schema_and_minds_none() -> None:
    """A matcher with a schema still takes mappings and Records, by name."""
    matcher = mqsel.compile("x = 5", schema=("y", "x"))

    assert [matcher.matches(each) for each in ({"x": 5}, Lookup({"x": 5}), mqsel.Record(["x"], [5]), (0, 5))] == [
        True
    ] * 4


@pytest.mark.parametrize(
    "message",
    [
        None,
        5,
        1.5,
        True,
        "x",
        b"x",
        {"x"},
        frozenset("x"),
        object(),
        iter(()),
        range(2),
        array("b", [1]),
        dict,
        (5,),
        [5],
    ],
    ids=shown,
)
@pytest.mark.parametrize("selector", ["x = 5", ""])
def test_what_is_no_message(message: Any, selector: str) -> None:
    """Anything but a mapping, a Record and a sequence with names is refused, with its type and what to do."""
    for ask in (mqsel.compile(selector).matches, mqsel.compile(selector).evaluate, mqsel.compile(selector).explain):
        with pytest.raises(PropertyTypeError) as caught:
            ask(message)
        assert (caught.value.name, caught.value.value_type) == (None, type(message).__qualname__)
        assert caught.value.hint


@pytest.mark.parametrize(
    "message", [None, "xy", b"xy", {"x", "y"}, range(2), iter((1, 2)), array("b", [1, 2])], ids=shown
)
def test_only_tuples_and_lists_are_sequences(message: Any) -> None:
    """A schema does not make a message of a string of the right length."""
    with pytest.raises(PropertyTypeError):
        mqsel.compile("x = 5", schema=("x", "y")).matches(message)


def test_a_mapping_that_raises() -> None:
    """An exception of the message's own comes through as it is, and the matcher works on."""

    class Broken(Lookup):
        def get(self, name: str, _default: Any = None) -> Any:
            raise self.data[name]

    matcher = mqsel.compile("x = 5")
    for error in (KeyError("x"), ValueError("x"), RecursionError(), KeyboardInterrupt(), GeneratorExit()):
        before = sys.getrefcount(error)
        with pytest.raises(type(error)) as caught:
            matcher.matches(Broken({"x": error}))
        assert caught.value is error
        error.__traceback__ = None
        del caught
        assert sys.getrefcount(error) == before
        assert matcher.matches({"x": 5})


def test_a_stop_iteration_of_a_message_does_not_end_the_stream() -> None:
    """A message whose get() raises StopIteration must not make the rest of the stream vanish."""

    class Stopping(Lookup):
        def get(self, _name: str, _default: Any = None) -> Any:
            raise StopIteration

    messages = [{"x": 5}, Stopping({}), {"x": 5}]
    matcher = mqsel.compile("x = 5")
    with pytest.raises(PropertyTypeError, match="StopIteration") as caught:
        list(matcher.filter(messages))
    assert caught.value.index == 1
    stream = matcher.filter(messages, errors="skip")
    assert list(stream) == [{"x": 5}, {"x": 5}]
    assert (stream.seen, stream.selected, stream.skipped) == (3, 2, 1)


class Collision:
    """A key that stands where a property's name is looked for, and does something when compared with it."""

    def __init__(self, name: str, act: Callable[[], bool]) -> None:
        self.number = hash(name)
        self.act = act

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.act()


@pytest.mark.parametrize("action", ["clear", "fill", "replace"])
def test_keys_that_change_the_dict_while_it_is_read(action: str) -> None:
    """A key's __eq__ may change the dict under the machine: the answer is of before or after, never a crash."""
    message: dict[Any, Any] = {}

    def act() -> bool:
        if action == "clear":
            message.clear()
        elif action == "fill":
            message.update((f"k{number}", number) for number in range(1000))
        elif "other" not in message:
            message["other"] = 1
            message["x"] = "y" * 3
        return False

    for _ in range(100):
        message.clear()
        message[Collision("x", act)] = 0
        message["x"] = "r" + "ed"

        assert mqsel.compile("x = 'red' OR x = 'yyy' OR x LIKE 'q%'").matches(message) in (True, False)


def test_keys_that_raise_when_compared() -> None:
    """An exception of a key's __eq__ comes through."""

    def act() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mqsel.compile("x = 5").matches({Collision("x", act): 1, "x": 5})
    with pytest.raises(ZeroDivisionError):
        mqsel.compile("x = 5").matches({Collision("usr.x", act): 1})


def test_a_key_that_is_equal_counts() -> None:
    """A dict finds by equality, and so does the machine."""
    assert truth("x = 5", {Collision("x", lambda: True): 5}) == "TRUE"


def test_a_mapping_that_changes_while_it_is_read() -> None:
    """A property has the value it had when first read, although the mapping gives another each time."""

    class Moving(Lookup):
        def get(self, name: str, _default: Any = None) -> Any:
            self.data[name] = self.data.get(name, 0) + 1
            self.data[f"other{len(self.data)}"] = "x" * len(self.data)
            return self.data[name]

    for optimize in (True, False):
        matcher = mqsel.compile("x = 1 AND x < 2 AND NOT x > 1 AND x BETWEEN 1 AND 1 AND x + x = 2", optimize=optimize)
        assert matcher.matches(Moving({}))


# ---- at most one fetch, and only where needed ------------------------------------------------------------------------


class Counting(Lookup):
    """A Mapping that notes what it is asked."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self.asked: collections.Counter[str] = collections.Counter()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked[name] += 1
        return self.data.get(name, default)


MANY_TIMES = (
    "(x > 1 AND x < 9 OR x IS NULL) AND x + x * x <> x AND x BETWEEN -x AND x * 2 AND NOT x = 7 AND x IN ('a', 'b') "
    "OR x LIKE 'a%' OR x NOT LIKE '%b' OR x IS NOT NULL AND -x < x"
)


@pytest.mark.parametrize("value", [5, None, "abc", Float32(2.5), True, b"x"])
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("dialect", PRESETS.values(), ids=PRESETS)
def test_a_property_is_fetched_once(value: Any, optimize: bool, dialect: mqsel.Dialect) -> None:
    """However often a selector reads a property, its message is asked once."""
    message = Counting({"x": value})
    mqsel.compile(MANY_TIMES, dialect=dialect, optimize=optimize).matches(message)

    assert message.asked.pop("x") == 1
    # A mapping that answers NULL may be asked for the other spelling of the name.
    assert sum(message.asked.values()) <= (dialect is mqsel.IBM_MQ and value is None)


def test_every_message_is_asked_anew() -> None:
    """One fetch a message: not one for all, and no value from the message before."""
    stream = [Counting({"x": number % 3}) for number in range(100)]
    chosen = list(mqsel.compile("x = 1 OR x = 2 AND x <> 0").filter(stream))

    assert chosen == [message for message in stream if message.data["x"]]
    assert {message.asked["x"] for message in stream} == {1}


class Noting(dict):  # type: ignore[type-arg]
    """Typed properties for the oracle that note which were read."""

    def __init__(self, properties: dict[str, Any]) -> None:
        super().__init__(properties)
        self.read: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name).removeprefix("usr."))
        return super().__contains__(name)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("name", PRESETS)
def test_only_what_decides_is_fetched(name: str, optimize: bool) -> None:
    """Invariant: no property is fetched twice, and none that the lazy evaluation of language §1 would not read."""
    rng = random.Random(f"lazy {name}")
    for _ in range(300):
        text, properties = strategies.random_case(rng, name)
        noting, message = Noting(properties), Counting(strategies.to_message(properties))
        oracle.evaluate(parse(text, PRESETS[name]), noting, PRESETS[name])
        mqsel.compile(text, dialect=PRESETS[name], optimize=optimize).matches(message)

        assert max(message.asked.values(), default=1) == 1, (text, properties)
        assert {asked.removeprefix("usr.") for asked in message.asked} <= noting.read, (text, properties)


@pytest.mark.parametrize("name", PRESETS)
def test_alternatives_over_one_property(name: str) -> None:
    """Invariant: many alternatives over one property give what the oracle gives, in and before what may be ERR."""
    rng = random.Random(f"alternatives {name}")
    dialect = PRESETS[name]
    wholes = [
        "{}",
        "NOT ({})",
        "({}) AND 1 / n = 1 OR flag",
        "flag OR NOT ({}) AND n + m > 0",
        "({}) AND flag OR n / n = m",
    ]
    rests = ["", " AND n = 1", " AND n > m", " AND flag", " AND (flag OR n = 2)", " AND t = 'a'", " AND m / n = 1"]
    for _ in range(150):
        letters = rng.choices("abcdefghijkl", k=rng.choice((2, 4, 5, 12, 20)))
        terms = [f"{rng.choice('sssst')} = '{letter}'{rng.choice(rests)}" for letter in letters]
        terms += rng.choices(("flag", "s IS NULL", "s = t", "'a' = s"), k=rng.choice((0, 0, 1)))
        text = rng.choice(wholes).format(" OR ".join(terms))
        matcher = mqsel.compile(text, dialect=dialect)
        tree = parse(text, dialect)
        for _ in range(40):
            properties = {
                "s": rng.choice((("string", rng.choice("abcdefghijklm")), ("null", None), ("int64", 1))),
                "t": rng.choice((("string", "a"), ("null", None))),
                "n": rng.choice((("int64", rng.randrange(3)), ("null", None))),
                "m": ("int64", rng.randrange(3)),
                "flag": rng.choice((("boolean", True), ("boolean", False), ("null", None))),
            }
            message = strategies.to_message(properties)

            assert matcher.matches(message) is (oracle.evaluate(tree, properties, dialect) == "TRUE"), (text, message)
            assert Truth(_vm.Machine(matcher.program).truth(message)).name == oracle.evaluate(tree, properties, dialect)


@pytest.mark.parametrize("depth", [1, 50])
def test_a_mapping_that_asks_the_same_matcher(depth: int) -> None:
    """Evaluations nested in each other do not share their values: each level sees its own message."""
    matcher = mqsel.compile("x = 'yes' AND y = 'yes' AND x LIKE 'y%' AND z IS NULL")
    answers: list[bool] = []

    class Nested(Lookup):
        def get(self, name: str, default: Any = None) -> Any:
            if name == "y" and self.data["level"]:
                level = self.data["level"] - 1
                answers.append(matcher.matches(Nested({"x": "yes", "y": "yes" if level % 2 else "no", "level": level})))
            return self.data.get(name, default)

    assert matcher.matches(Nested({"x": "yes", "y": "yes", "level": depth}))
    assert answers == [bool(level % 2) for level in range(depth)]


def test_a_stream_that_asks_its_own_matcher() -> None:
    """Inside a filter, the same matcher may be asked about other messages, and run other streams."""
    matcher = mqsel.compile("x = 'yes' AND y = 'yes'")

    class Nested(Lookup):
        def get(self, name: str, default: Any = None) -> Any:
            assert list(matcher.filter([{"x": "no"}, {"x": "yes", "y": "yes"}])) == [{"x": "yes", "y": "yes"}]
            assert not matcher.matches(Pair(1, 2))
            return self.data.get(name, default)

    stream = [Nested({"x": "yes", "y": answer}) for answer in ("yes", "no", "yes")]

    assert list(matcher.filter(stream)) == [stream[0], stream[2]]


# ---- what it holds on to ---------------------------------------------------------------------------------------------


def _owned() -> list[Any]:
    # None of them immortal or cached, so that a reference more or less shows.
    three = int("3")
    return [
        "red" * three,
        b"blue" * three,
        1 << 20 * three,
        2.5e10,
        Color("green"),
        Blob(b"x"),
        bytearray(b"ab"),
        Int32(1 << 20),
        [1],
    ]


@pytest.mark.parametrize("way", ["matches", "evaluate", "explain", "filter", "filter unfinished", "skip"])
@pytest.mark.parametrize("form", ["dict", "mapping", "tuple", "list", "record"])
def test_values_are_let_go(way: str, form: str) -> None:
    """After an evaluation, an exception included, every value has as many references as before."""
    values = _owned()[: -1 if form == "record" else None]
    names = [f"p{number}" for number in range(len(values))]
    # A property of the wrong type comes last, so that all others were fetched before it raised.
    matcher = mqsel.compile(" OR ".join(f"{name} IS NULL" for name in names), schema=names)
    message: Any = {
        "dict": lambda: dict(zip(names, values, strict=True)),
        "mapping": lambda: Lookup(dict(zip(names, values, strict=True))),
        "tuple": lambda: tuple(values),
        "list": lambda: list(values),
        "record": lambda: mqsel.Record(names, values),
    }[form]()

    def once() -> None:
        try:
            if way == "filter":
                list(matcher.filter([message] * 3))
            elif way == "filter unfinished":
                next(matcher.filter([message] * 3))
            elif way == "skip":
                list(matcher.filter([message] * 3, errors="skip"))
            else:
                getattr(matcher, way)(message)
        except (PropertyTypeError, StopIteration) as error:
            assert form != "record" or isinstance(error, StopIteration)

    once()
    gc.collect()
    counts = [sys.getrefcount(each) for each in (message, *values)]
    for _ in range(10):
        once()
    gc.collect()

    assert [sys.getrefcount(each) for each in (message, *values)] == counts


def test_a_record_lets_go_of_what_it_held() -> None:
    """Filling, clearing and dropping a Record leaves the references of its values as they were."""
    values = _owned()[:-1]
    names = [f"p{number}" for number in range(len(values))]
    counts = [sys.getrefcount(value) for value in values]
    record = mqsel.Record(names, values)
    for _ in range(3):
        record.fill(dict(zip(names, values, strict=True)))
        with pytest.raises(PropertyTypeError):
            record.fill([*values[:-1], []])
        record.fill(values)
    record.clear()

    assert [sys.getrefcount(value) for value in values] == counts
    record.fill(values)
    del record

    assert [sys.getrefcount(value) for value in values] == counts


STEADY = (
    "a = 'red' AND b > 2500 AND c LIKE '%x%' AND d IN ('p', 'q') AND NOT (e = 5) AND f + 1 > 2 OR missing IS NOT NULL"
)


@pytest.mark.parametrize("form", ["dict", "mapping", "tuple", "list", "named", "record"])
@pytest.mark.parametrize("way", ["matches", "filter"])
def test_nothing_is_allocated_per_message(form: str, way: str) -> None:
    """Over 100,000 messages the number of allocated blocks and the traced memory stay flat."""
    message = {"a": "red", "b": 3000, "c": "axb", "d": "q", "e": 6, "f": -5.5}
    names = tuple(message)
    matcher = mqsel.compile(STEADY, schema=None if form == "named" else names)
    one: Any = {
        "dict": message,
        "mapping": types.MappingProxyType(message),
        "tuple": tuple(message.values()),
        "list": list(message.values()),
        "named": _line(message),
        "record": mqsel.Record(names, message),
    }[form]

    def run(count: int) -> None:
        if way == "filter":
            assert list(matcher.filter(itertools.repeat(one, count))) == []
        else:
            matches = matcher.matches
            for _ in itertools.repeat(None, count):
                matches(one)

    run(1000)
    gc.collect()
    blocks = sys.getallocatedblocks()
    run(100_000)

    assert abs(sys.getallocatedblocks() - blocks) < 50
    tracemalloc.start()
    try:
        run(100)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        run(10_000)
        assert tracemalloc.get_traced_memory()[1] - before < 5_000
    finally:
        tracemalloc.stop()


def test_making_and_dropping_machines_leaves_nothing() -> None:
    """Machines, streams and Records free what they allocate: compile, run and drop stays flat."""
    text = "a = 'x' AND b LIKE '%p_q%' ESCAPE '!' OR c IN ('1','2','3','4','5','6','7','8','9') OR usr.d > 5"

    def once() -> None:
        matcher = pickle.loads(pickle.dumps(mqsel.compile(text)))
        matcher.matches({"a": "x", "b": "p1q"})
        stream = matcher.filter([{"a": "x"}, {"b": "yes", "c": "9"}])
        next(stream)
        record = mqsel.Record([("a", "string"), "b"], ["x", b"y"])
        matcher.matches(copy.deepcopy(record))

    for _ in range(600):  # until the free lists of the interpreter are full
        once()
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(600):
        once()
    gc.collect()

    assert sys.getallocatedblocks() - blocks < 300  # one block a round would be 600


# ---- Record ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RANGES)
def test_integers_narrow_to_the_declared_type(kind: str) -> None:
    """An int of any width fits a typed slot if its number does, and comes back in the wrapper of the slot."""
    half = 1 << (RANGES[kind] - 1)
    record = mqsel.Record([("x", kind)])
    for number in (-half, -half + 1, -1, 0, 1, half - 1):
        for value in [number, *(wrap(number) for wrap in (Int8, Int16, Int32) if -128 <= number < 128)]:
            record["x"] = value
            assert same(record["x"], WRAPPERS.get(kind, int)(number))
    for number in (-half - 1, half, 1 << 70):
        with pytest.raises(PropertyTypeError) as caught:
            record["x"] = number
        assert (caught.value.name, caught.value.value_type) == ("x", "int")
        assert record["x"] == half - 1, "a refused value leaves the old one"


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (0.1, "float32", Float32(0.1)),
        (1e300, "float32", Float32(math.inf)),
        (-1e300, "float32", Float32(-math.inf)),
        (FLOAT32_MAX, "float32", Float32(FLOAT32_MAX)),
        (1e-60, "float32", Float32(0.0)),
        (-0.0, "float32", Float32(-0.0)),
        (math.nan, "float32", Float32(math.nan)),
        (5, "float32", Float32(5.0)),
        (Int8(5), "float32", Float32(5.0)),
        (Float32(0.1), "float32", Float32(0.1)),
        (2**60 + 2**36 + 1, "float32", Float32(2.0**60 + 2.0**37)),
        (0.1, "float64", 0.1),
        (Float32(0.1), "float64", float(Float32(0.1))),
        (5, "float64", 5.0),
        (Int16(-5), "float64", -5.0),
        (INT64_MAX, "float64", 2.0**63),
        (math.nan, "float64", math.nan),
        ("5", "string", "5"),
        (Color("red"), "string", "red"),
        (bytearray(b"5"), "bytes", b"5"),
        (True, "boolean", True),
    ],
)
def test_a_typed_slot_holds_its_type(value: Any, kind: str, wanted: Any) -> None:
    """Numbers widen to floats, rounded once; what has the declared type stays as it is."""
    record = mqsel.Record({"x": kind}, [value])

    assert same(record["x"], wanted)
    assert mqsel.compile("x IS NULL").explain(record).properties["x"][0] == kind


@pytest.mark.parametrize("kind", TYPE_NAMES)
def test_a_typed_slot_refuses_other_types(kind: str) -> None:
    """A string is no number, a number no string, a boolean neither; None is a NULL of every type."""
    numbers = {"int8", "int16", "int32", "int64", "float32", "float64"}
    offered = {"boolean": True, "int64": 1, "float64": 1.5, "string": "1", "bytes": b"1", "int8": Int8(1)}
    record = mqsel.Record([("x", kind)], [None])
    assert record["x"] is None
    for other, value in offered.items():
        if other == kind or (kind in numbers and other in numbers and not (kind[0] == "i" and other[0] == "f")):
            record["x"] = value
            continue
        with pytest.raises(PropertyTypeError) as caught:
            record["x"] = value
        assert caught.value.name == "x"
        assert kind in str(caught.value)
    with pytest.raises(PropertyTypeError):
        record["x"] = []


def test_filling_a_record() -> None:
    """From a mapping by name, from a sequence by place; what the mapping lacks is NULL; nothing stays from before."""
    record = mqsel.Record(["a", "b"], {"a": 1, "b": "x", "c": []})
    assert record.as_tuple() == (1, "x")
    record.fill({"b": "y"})
    assert record.as_tuple() == (None, "y")
    record.fill([b"z", True])
    assert record.as_tuple() == (b"z", True)
    record.fill(collections.ChainMap({"a": 5}))
    assert record.as_tuple() == (5, None)
    record.fill(Pair(6, 7))
    assert record.as_tuple() == (6, 7)
    record.clear()
    assert record.as_tuple() == (None, None)
    assert (len(record), record.schema) == (2, Schema(("a", "b"), (None, None)))
    assert mqsel.Record(["a", "b"]).as_tuple() == (None, None)
    assert mqsel.Record(()).as_tuple() == ()


def test_a_record_gives_its_names_as_a_mapping_does() -> None:
    """``dict(record)`` is a message with the same answers; a name is in a record if its schema has it."""
    record = mqsel.Record(["a", "b"], [None, Int8(1)])

    assert (dict(record), {**record}) == ({"a": None, "b": 1},) * 2
    assert type(dict(record)["b"]) is Int8
    assert ([*record], record.keys()) == (["a", "b"], ("a", "b"))
    assert [name in record for name in ("a", "c", 0, [])] == [True, False, False, False]
    assert mqsel.compile("b = 1 AND a IS NULL").matches(dict(record))


@pytest.mark.parametrize("values", [(1,), [1, 2, 3], (), 5, "ab", b"ab", {1, 2}, iter((1, 2)), range(2)], ids=shown)
def test_what_does_not_fill_a_record(values: Any) -> None:
    """Only a mapping, or a tuple or list of the right length."""
    with pytest.raises(PropertyTypeError):
        mqsel.Record(["a", "b"], values)
    with pytest.raises(PropertyTypeError):
        mqsel.Record(["a", "b"]).fill(values)


def test_a_name_the_record_does_not_have() -> None:
    """Reading or writing an unknown property is an ArgumentError that names it; so is one that is no name."""
    record = mqsel.Record(["a"], [1])
    assert record.place("a") == 0
    for name in ("b", "", 0, None, [], ("a",)):
        with pytest.raises(ArgumentError, match="has no"):
            record.place(name)
        with pytest.raises(ArgumentError, match="has no"):
            record[name]
        with pytest.raises(ArgumentError, match="has no"):
            record[name] = 1


@pytest.mark.parametrize("layout", ["a", 5, [("a", "int128")], ["a", "a"], [5]], ids=shown)
def test_a_record_needs_a_schema(layout: Any) -> None:
    """A layout that is none is an ArgumentError."""
    with pytest.raises(ArgumentError):
        mqsel.Record(layout)
    with pytest.raises(TypeError):
        mqsel.Record()  # type: ignore[call-arg]


def test_records_are_mutable_so_they_do_not_hash() -> None:
    """Like a list."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(mqsel.Record(["a"]))


def test_equal_records_are_equal_messages() -> None:
    """Invariant: records are equal only if no selector tells them apart: types count, and so does the schema."""
    record = mqsel.Record(["a", "b"], [1, "x"])

    assert record == mqsel.Record(("a", "b"), {"b": "x", "a": 1})
    assert record == record  # noqa: PLR0124
    assert record != mqsel.Record(["b", "a"], ["x", 1])
    assert record != mqsel.Record([("a", "int64"), "b"], [1, "x"])
    assert record != mqsel.Record(["a", "b"], [2, "x"])
    assert record != (1, "x")
    for one, other in [(True, 1), (1, 1.0), (Int32(1), 1), (Float32(1.0), 1.0), (Int8(1), Int16(1))]:
        assert mqsel.Record(["a"], [one]) != mqsel.Record(["a"], [other]), (one, other)


def test_a_record_equals_its_copy_whatever_it_holds() -> None:
    """NaN included: a copy that is not equal would look like damage."""
    record = mqsel.Record(["a", "b"], [math.nan, Float32(math.nan)])

    assert record == record  # noqa: PLR0124
    assert record == copy.copy(record)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_records_travel(protocol: int) -> None:
    """A pickled or copied Record has the same schema and the same values of the same types, and is another object."""
    schema = [*((f"p{number}", kind) for number, kind in enumerate(TYPE_NAMES)), "any"]
    values = [None, True, b"\0", Int8(-1), Int16(-2), Int32(-3), -4, Float32(0.5), 0.25, "\U0001f600\ud800", Int8(5)]
    record = mqsel.Record(schema, values)
    for twin in (pickle.loads(pickle.dumps(record, protocol)), copy.copy(record), copy.deepcopy(record)):
        assert twin is not record
        assert twin == record
        assert twin.schema == record.schema
        assert all(map(same, twin.as_tuple(), values))
        twin["any"] = "other"
        assert record["any"] == 5


class Sly(Schema):
    """A Schema that is equal to every other one."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = Schema.__hash__


class Agreeable(str):
    """A name that is equal to every other one."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("int32")

    def __str__(self) -> str:
        return self


@pytest.mark.parametrize("text", ["a = 1", "c = 1 OR a = 1"])
def test_a_schema_that_lies(text: str) -> None:
    """A Record knows its schema by itself: one of a subclass, or with names of one, says nothing it is not."""
    matcher = mqsel.compile(text)
    wide = mqsel.Record(("b", "c", "a"), [2, 3, 4])
    layouts = [
        Sly(("a",), (None,)),
        Schema((Agreeable("a"),), (None,)),
        tuple.__new__(Schema, (["a"], [None])),
        tuple.__new__(Schema, (("a",), (None,), 5)),
    ]
    for layout in layouts:
        assert not matcher.matches(wide)
        narrow = mqsel.Record(layout, [1])
        assert (type(narrow.schema), narrow.schema) == (Schema, (("a",), (None,)))
        assert matcher.matches(narrow)
        assert narrow != wide
    for broken in ((), (("a",),), (5, 5), (("a",), 5), (("a",), (Agreeable("text"),)), ((5,), (None,))):
        with pytest.raises(ArgumentError):
            mqsel.Record(tuple.__new__(Schema, broken))


def test_a_record_serves_matchers_of_other_schemas() -> None:
    """A matcher finds its properties in a Record by name, whatever layout either has, in any order of use."""
    first, second = mqsel.Record(["a", "b"], [1, 2]), mqsel.Record([("z", "string"), ("b", "int8"), "a"], ["z", 2, 1])
    other = mqsel.Record(["b"], [2])
    for schema in (None, ("b",), ("q", "b", "a")):
        matcher = mqsel.compile("a = 1 AND b = 2", schema=schema)
        stream = [first, second, other, second, {"a": 1, "b": 2}, first, other]

        assert [matcher.matches(each) for each in stream] == [True, True, False, True, True, True, False]
        assert list(map(id, matcher.filter(stream))) == [id(each) for each in stream if each is not other]


def test_one_record_reused_for_a_stream() -> None:
    """A Record filled again for each message gives each message's answer."""
    record = mqsel.Record([("color", "string"), ("weight", "int32")])
    matcher = mqsel.compile("color = 'red' AND weight > 5")
    rows = [("red" if number % 2 else "blue", number % 11) for number in range(500)]

    def refilled() -> Iterator[mqsel.Record]:
        for row in rows:
            record.fill(row)
            yield record

    got = [record.as_tuple() for _ in matcher.filter(refilled())]

    assert got == [row for row in rows if row[0] == "red" and row[1] > 5]


def test_a_subclass_of_record_is_final_or_a_message() -> None:
    """The stub says `@final`: either Python agrees, or a subclass must be as good a message."""
    try:
        kind = type("Typed", (mqsel.Record,), {})
    except TypeError:
        return

    assert mqsel.compile("a = 1").matches(kind(["a"], [1]))


def test_record_round_trip() -> None:
    """Invariant: what a typed slot took comes back; a dict of it, a pickle and a refilled Record answer alike."""
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    floats = st.floats(allow_nan=False)
    of_type = {
        "null": st.none(),
        "boolean": st.booleans(),
        "bytes": st.binary(max_size=5),
        **{name: st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in RANGES.items()},
        "float32": st.floats(allow_nan=False, width=32),
        "float64": floats,
        "string": st.text(st.characters(), max_size=5),
    }
    typed = {kind: values.map(WRAPPERS.get(kind, lambda value: value)) for kind, values in of_type.items()}
    position = st.sampled_from(sorted(of_type)).flatmap(
        lambda kind: st.tuples(st.just(kind), st.none() | typed[kind], st.booleans())
    )

    @hypothesis.settings(deadline=None, max_examples=300)
    @hypothesis.given(st.lists(position, max_size=6))
    def check(positions: list[tuple[str, Any, bool]]) -> None:
        schema = [(f"p{n}", kind if declared else None) for n, (kind, _, declared) in enumerate(positions)]
        values = [value for _, value, _ in positions]
        record = mqsel.Record(schema, values)
        twin = pickle.loads(pickle.dumps(record))
        refilled = mqsel.Record(schema)
        refilled.fill(dict(zip((name for name, _ in schema), record.as_tuple(), strict=True)))

        assert all(map(same, record.as_tuple(), values))
        assert record == twin == refilled
        for number, value in enumerate(values):
            matcher = mqsel.compile(f"p{number} = 1 OR p{number} LIKE 'a%' OR p{number}", dialect=JMS)
            answers = {Truth(matcher.evaluate(each)) for each in (record, twin, refilled, {f"p{number}": value})}
            assert len(answers) == 1

    check()


# ---- strings and LIKE ------------------------------------------------------------------------------------------------


def like(text: str, pattern: str, escape: str | None = None) -> bool:
    """Match naively, by recursion: language §5, LIKE, word by word."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == escape:
        if rest and rest[0] in ("_", "%", escape):
            head, rest = rest[0], rest[1:]
        return text[:1] == head and like(text[1:], rest, escape)
    if head == "%":
        return any(like(text[start:], rest, escape) for start in range(len(text) + 1))
    return bool(text) and head in ("_", text[0]) and like(text[1:], rest, escape)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# Pairs of code points of every width, among them some that are equal in their low 8 or 16 bits.
ALPHABETS = [
    "ab",
    "éÿ",
    "aé",
    "aš",
    "Āȁ",
    "é€",
    "a\U00010061",
    "š\U00010161",
    "\U0001f600\U0001f601",
    "\0\n",
    "\ud800\udc00",
]


@pytest.mark.parametrize("letters", ALPHABETS, ids=ascii)
def test_every_short_pattern(letters: str) -> None:
    """Invariant: LIKE in the machine = the naive matcher, for all patterns to 4 and texts to 4 code points."""
    texts = ["".join(points) for size in range(5) for points in itertools.product(letters, repeat=size)]
    for size in range(5 if letters == "ab" else 4):
        for points in itertools.product(letters + "%_", repeat=size):
            pattern = "".join(points)
            found = list(mqsel.compile(f"x LIKE {quoted(pattern)}").filter({"x": text} for text in texts))
            unlike = list(
                mqsel.compile(f"x NOT LIKE {quoted(pattern)}", optimize=False).filter({"x": t} for t in texts)
            )

            assert [message["x"] for message in found] == [text for text in texts if like(text, pattern)], pattern
            assert len(found) + len(unlike) == len(texts)


@pytest.mark.parametrize("escape", ["!", "%", "_", "a", "'"])
def test_every_short_pattern_with_an_escape(escape: str) -> None:
    """Invariant: LIKE … ESCAPE in the machine = the naive matcher, also where the escape is a wildcard or a letter."""
    letters = sorted({"a", "%", "_", escape})
    texts = ["".join(points) for size in range(4) for points in itertools.product(letters, repeat=size)]
    for size in range(5):
        for points in itertools.product(letters, repeat=size):
            pattern = "".join(points)
            matcher = mqsel.compile(f"x LIKE {quoted(pattern)} ESCAPE {quoted(escape)}")
            found = [message["x"] for message in matcher.filter({"x": text} for text in texts)]

            assert found == [text for text in texts if like(text, pattern, escape)], pattern


def test_a_text_is_found_wherever_it_stands() -> None:
    """Invariant: LIKE '%text%' is `text in string`, for short strings of every length and of any letters."""
    rng = random.Random(8)
    for _ in range(3000):
        letters = rng.choice(("ab", "a\x00", "\x00\x01\x80\xff", "\x7f\xff\xfe", "a\u0101\u0100"))
        wanted = "".join(rng.choices(letters, k=rng.randint(1, rng.choice((2, 4, 12)))))
        strings = ["".join(rng.choices(letters, k=rng.randint(0, 40))) for _ in range(4)]
        at = rng.randint(0, len(strings[0]))
        strings.append(strings[0][:at] + wanted + strings[0][at:])
        matches = mqsel.compile(f"s LIKE '%{wanted}%'", dialect=JMS).matches

        assert [matches({"s": each}) for each in strings] == [wanted in each for each in strings]


def test_like_of_any_strings() -> None:
    """Invariant: LIKE in the machine = the naive matcher, for strings of every kind; `=` and IN = equality."""
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    letters = st.sampled_from([*"ab%_!'", "é", "š", "€", "\U0001f600", "\U00010061", "\ud800", "\0", "\n"])
    piece = st.lists(letters, max_size=8).map("".join)

    @hypothesis.settings(deadline=None, max_examples=1500)
    @hypothesis.given(
        piece,
        piece,
        st.lists(letters | st.just("%"), max_size=6).map("".join),
        st.sampled_from([None, "!", "%", "a", "€"]),
    )
    def check(text: str, middle: str, pattern: str, escape: str | None) -> None:
        tail = "" if escape is None else f" ESCAPE {quoted(escape)}"
        # A pattern drawn alone hardly ever matches: put the text's own pieces into it.
        for one in (pattern, text[:2] + pattern, pattern + text[-2:], f"%{middle}%", text[:1] + "%" + text[1:]):
            for value in (text, text + middle, middle + text + middle):
                wanted = like(value, one, escape)
                answers = [
                    truth(f"x LIKE {quoted(one)}{tail}", {"x": value}, optimize=optimize) for optimize in (True, False)
                ]
                assert answers == ["TRUE" if wanted else "FALSE"] * 2, (value, one, escape)
                assert truth(f"x NOT LIKE {quoted(one)}{tail}", {"x": value}) == ("FALSE" if wanted else "TRUE")
        equal = "TRUE" if text == middle else "FALSE"
        assert truth(f"x = {quoted(middle)}", {"x": text}) == equal
        assert truth("x = y", {"x": text, "y": middle}) == equal
        assert truth(f"x IN ({quoted(middle)}, {quoted(middle + text + 'z')})", {"x": text}) == equal

    check()


@pytest.mark.parametrize("size", [1, 8, 9, 200])
def test_in_lists_of_every_length(size: int) -> None:
    """Short lists are searched, long ones hashed: both find every member, of any width, and nothing else."""
    choices = [chr(point) * 2 for point in itertools.islice(itertools.cycle((97, 233, 353, 0x10061)), size)]
    choices = [f"{choice}{number}" for number, choice in enumerate(choices)]
    matcher = mqsel.compile(f"x IN ({', '.join(map(quoted, choices))})", dialect=JMS)
    twin = mqsel.compile(f"x NOT IN ({', '.join(map(quoted, choices))})", dialect=JMS)
    for choice in choices:
        fresh = "".join(list(choice))
        assert matcher.matches({"x": fresh})
        assert not twin.matches({"x": fresh})
        assert not matcher.matches({"x": fresh + "x"})
        assert twin.matches({"x": fresh[1:]})
    for value in (None, 5, b"aa0", True):
        assert not matcher.matches({"x": value})
        assert not twin.matches({"x": value})


def test_like_is_never_exponential() -> None:
    """Patterns that ruin a backtracking matcher take no longer than length times pattern."""
    text = "a" * 20_000
    for pattern in (
        "%a" * 500 + "%b",
        "%" * 1000 + "b",
        "%a_" * 500 + "b%",
        "%_" * 400 + "%b",
        ("%" + "a" * 40) * 20 + "b",
    ):
        assert truth(f"x LIKE {quoted(pattern)}", {"x": text}) == "FALSE"


def test_what_a_dict_does_not_have_at_its_beginning_costs_a_probe() -> None:
    """A dict of a million other keys is not searched for the place of a property, nor is one of a million gaps."""
    wide = {f"k{number}": number for number in range(1_000_000)} | {"a": 2}
    gaps = dict(wide)
    for name in wide:
        if name != "a":
            del gaps[name]
    matcher = mqsel.compile("a = 1")
    for message in (wide, gaps):
        least = math.inf
        for _ in range(3):
            began = time.process_time()
            assert list(matcher.filter([message] * 20_000)) == []
            least = min(least, time.process_time() - began)

        assert least < 0.3  # a search of all took 150 µs a message, 3 s


# ---- turns -----------------------------------------------------------------------------------------------------------


def closed_after(stream: Any, seconds: float) -> Any:
    """Read a stream while another thread closes it."""

    def close() -> None:
        time.sleep(seconds)
        stream.close()

    thread = threading.Thread(target=close)
    thread.start()
    assert list(stream) == []
    thread.join()
    return stream


TURNS: dict[str, Callable[[mqsel.Matcher, int], Any]] = {
    "iterator": lambda matcher, count: matcher.filter(itertools.repeat({"a": 5}, count)),
    "list": lambda matcher, count: matcher.filter([{"a": 5}] * count),
    "mapping": lambda matcher, count: matcher.filter(itertools.repeat(types.MappingProxyType({"a": 5}), count)),
    "json": lambda matcher, count: matcher.filter(itertools.repeat('{"a": 5}', count // 20), format="json"),
    "mq": lambda matcher, count: matcher.filter(itertools.repeat(mq.encode({}, {"a": 5}), count // 20), format="mq"),
}


@pytest.mark.parametrize("name", TURNS)
def test_other_threads_get_their_turn(name: str) -> None:
    """A stream that selects nothing and never runs Python code gives the interpreter up to a thread that waits."""
    matcher = mqsel.compile(" OR ".join(f"a * a = {number}" for number in range(100, 300)))
    count = 2_000_000  # some microseconds each

    assert closed_after(TURNS[name](matcher, count), 0.05).seen < count // 20


def test_an_exception_from_another_thread_arrives() -> None:
    """What a thread is sent by another one ends its stream, as it would end a loop of Python."""
    caught: list[type] = []
    stream = mqsel.compile("a = 1").filter(itertools.repeat({"a": 5}, 200_000_000))

    def read() -> None:
        try:
            list(stream)
        except ZeroDivisionError as error:
            caught.append(type(error))

    thread = threading.Thread(target=read)
    thread.start()
    while not stream.seen:
        time.sleep(0.01)
    sent = ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(ZeroDivisionError)
    )
    thread.join()

    assert (sent, caught) == (1, [ZeroDivisionError])
    assert list(stream) == []


# ---- what it survives ------------------------------------------------------------------------------------------------

HOSTILE = {
    "a list cleared by a value while it is read": """
        matcher = mqsel.compile("a = 'x' OR b = 'y' OR c LIKE 'z%'", schema=("a", "b", "c"))
        class Evil(bytearray):
            def __bytes__(self):
                message.clear()
                return b"q"
        for number in range(100):
            message = [Evil(b"x"), f"y{number}" * 3, f"z{number}" * 3]
            attempt(matcher.matches, message)
        """,
    "a dict cleared by a value's metaclass": """
        class Meta(type):
            @property
            def __module__(cls):
                message.clear()
                return "x"
        class Text(metaclass=Meta):
            pass
        for number in range(100):
            message = {"a": Text()}
            attempt(mqsel.compile("a = 'hello'").matches, message)
        """,
    "a row of another layout inside a row": """
        Row, Other = namedtuple("Row", "a b"), namedtuple("Other", "p q r s t b a")
        matcher = mqsel.compile("a = 'x' OR b = 'y'")
        class Evil(bytearray):
            def __bytes__(self):
                assert not matcher.matches(Other(1, 2, 3, 4, 5, 6, 7))
                return b"q"
        assert matcher.matches(Row(Evil(b"x"), "y"))
        """,
    "a list of names that shrinks": """
        class Row(tuple):
            _fields = ["a"] * 5000 + ["c"]
        matcher = mqsel.compile("c = 'x'")
        assert matcher.matches(Row((1,) * 5000 + ("x",)))
        Row._fields[:] = ["a", "c"]
        assert matcher.matches(Row((3, "x")))
        """,
    "a tuple that lies about its length": """
        class Row(tuple):
            _fields = [f"a{number}" for number in range(100_000)] + ["c"]
            def __len__(self):
                return 100_001
        attempt(mqsel.compile("c = 'x'").matches, Row((1, 2, "x")))
        """,
    "names that lie about their number": """
        class Names(list):
            def __len__(self):
                return 2
        class Row(tuple):
            _fields = Names([f"a{number}" for number in range(100_000)] + ["c"])
        attempt(mqsel.compile("c = 'x'").matches, Row((1, "x")))
        """,
    "a list that shrinks while a Record is filled": """
        names = [f"a{number}" for number in range(1000)]
        class Evil(bytearray):
            def __bytes__(self):
                values.clear()
                return b"q"
        values = [Evil(b"x")] + ["y"] * 999
        attempt(mqsel.Record, names, values)
        """,
    "a Schema made by hand": """
        from mqsel.machine.schema import Schema
        attempt(mqsel.Record, Schema(("a", "b"), (None,)), [1, 2])
        attempt(mqsel.Record, Schema(("a",), ()), [1])
        attempt(mqsel.Record, Schema(("a", "a"), (None, None)), [1, 2])
        """,
    "a stream in a reference cycle": """
        matcher = mqsel.compile("a = 'x'")
        class Input:
            def __iter__(self):
                self.iterator = Iterator()
                return self.iterator
        class Iterator:
            left = 9
            def __iter__(self):
                return self
            def __next__(self):
                self.left -= 1
                if not self.left:
                    raise StopIteration
                return {"a": "x"}
        for number in range(100):
            given = Input()
            stream = matcher.filter(given)
            next(stream)
            given.iterator.stream = stream
            del given, stream
            gc.collect()
        """,
    "a stream closed by its own input": """
        matcher = mqsel.compile("a = 1")
        for number in range(100):
            asked = []
            def keep(message):
                asked.append(message)
                if len(asked) == 2:
                    stream.close()
                    return False
                return True
            stream = matcher.filter(filter(keep, iter([{"a": 1}] * 5)))
            attempt(list, stream)
        """,
    "a stream closed by the generator it reads": """
        def source():
            yield {"a": 1}
            stream.close()
            yield {"a": 1}
            yield {"a": 1}
        stream = mqsel.compile("a = 1").filter(source())
        assert next(stream) == {"a": 1}
        attempt(list, stream)
        assert list(stream) == []
        """,
    "a stream closed by its own message": """
        matcher = mqsel.compile("a = 'xxx'")
        class Message(UserDict):
            def get(self, name, default=None):
                stream.close()
                return "y" * 3
        for kind in (list, tuple, iter):
            stream = matcher.filter(kind([Message() for _ in range(5)]))
            attempt(list, stream)
        """,
    "a stream over a list that changes": """
        matcher = mqsel.compile("a = 'xxx'")
        class Message(UserDict):
            def get(self, name, default=None):
                messages.clear() if len(messages) % 2 else messages.extend({} for _ in range(1001))
                return "x" * 3
        for size in range(10):
            messages = [Message() for _ in range(size)]
            assert len(list(matcher.filter(messages))) <= size
        """,
    "a list and its dict cleared by a value's metaclass": """
        class Meta(type):
            @property
            def __module__(cls):
                messages.clear()
                for message in given:
                    message.clear()
                given.clear()
                return "x"
        class Text(metaclass=Meta):
            pass
        matcher = mqsel.compile("a = 'q' OR b = 'hello' OR a LIKE 'y1y%' OR c = 'z' OR a IN ('r', 's')")
        for kind in (list, tuple):
            for number in range(100):
                given = [{"a": f"y{number}" * 3, "b": "b", "c": f"z{number}"} for _ in range(5)]
                given[number % 5]["b"] = Text()
                messages = list(given)
                attempt(list, matcher.filter(kind(messages) if kind is tuple else messages))
        """,
    "a string borrowed from a dict that a key changes": """
        class Key:
            def __hash__(self):
                return hash("b")
            def __eq__(self, other):
                message.pop("a", None)
                messages.clear()
                return False
        message, messages = {}, []
        matcher = mqsel.compile("a = 'q' OR b = 'hello' OR a LIKE 'y1y%' OR a IN ('r', 's')")
        for number in range(100):
            message = {Key(): 1, "a": f"y{number}" * 3, "b": f"b{number}"}
            messages = [{"a": f"w{number}", "b": "b"}, message, {"a": "q"}]
            attempt(list, matcher.filter(messages))
            attempt(matcher.matches, {Key(): 1, "a": f"y{number}" * 3, "b": f"b{number}"})
        """,
    "a stream read by its own message": """
        matcher = mqsel.compile("a = 1")
        class Message(UserDict):
            def get(self, name, default=None):
                attempt(next, stream)
                return 1
        stream = matcher.filter(Message() for _ in range(5))
        attempt(list, stream)
        """,
    "a stream dropped by its own message": """
        matcher = mqsel.compile("a = 'x'")
        class Message(UserDict):
            def get(self, name, default=None):
                streams.clear()
                gc.collect()
                return "x" * 1
        streams = [matcher.filter(iter([Message()] * 5))]
        attempt(lambda: next(streams[0]))
        """,
    "a matcher dropped while it runs": """
        class Message(UserDict):
            def get(self, name, default=None):
                matchers.clear()
                gc.collect()
                return name * 3
        for number in range(20):
            matchers = [pickle.loads(pickle.dumps(mqsel.compile("a = 'aaa' AND b = 'bbb' AND c LIKE 'c%'")))]
            assert matchers[0].matches(Message())
        """,
    "a list emptied while an error is made": """
        matcher = mqsel.compile("a = 1 OR a IS NULL", schema=[("a", "int8"), ("b", None)])
        faulty = ({"a": 1 << 80}, {"a": object()}, (1 << 80, 0), (300, 0), ("x", 0), (1, 2, 3), [1], [300, 0], 5)
        for message in faulty:
            messages = []
            def trace(frame, event, _):
                if event == "call" and frame.f_code.co_filename.endswith("errors.py"):
                    messages.clear()
            for errors in ("skip", "raise"):
                messages[:] = [copy(message) for _ in range(1000)]
                stream = matcher.filter(messages, errors=errors)
                sys.setprofile(trace)
                attempt(list, stream)
                sys.setprofile(None)
                assert stream.seen == 1, (message, stream.seen)
        """,
    "a list emptied by another thread while errors are made": """
        sys.setswitchinterval(1e-6)
        matcher = mqsel.compile("a = 1")
        messages, over = [], []
        def churn():
            while not over:
                messages.extend([{"a": 1 << 80} for _ in range(200)])
                messages.clear()
        thread = threading.Thread(target=churn)
        thread.start()
        stop = time.monotonic() + 1
        while time.monotonic() < stop:
            assert list(matcher.filter(messages, errors="skip")) == []
        over.append(True)
        thread.join()
        """,
    "a list emptied by a message that goes": """
        matcher = mqsel.compile("a = 1")
        class Last:
            def __del__(self):
                messages.clear()
        for number in range(100):
            messages = [{"a": 1, "z": Last()} for _ in range(50)]
            stream = matcher.filter(messages)
            for message in stream:
                messages[0] = None
                del message
        """,
    "a stream entered while it handles an error": """
        from mqsel.errors import ArgumentError, PropertyTypeError
        refused = []
        class Sly(PropertyTypeError):
            def enter(self, _):
                try:
                    refused.append(next(stream))
                except ArgumentError as error:
                    refused.append("already being read" in str(error))
            index = property(lambda self: None, enter)
        class Message(UserDict):
            def get(self, name, default=None):
                raise Sly("no")
        stream = mqsel.compile("a = 1").filter([Message(), Message(), {"a": 1}], errors="skip")
        assert list(stream) == [{"a": 1}]
        assert (stream.seen, stream.skipped, refused) == (3, 2, [True] * 4), refused
        """,
    "what is found before it is complete": """
        from mqsel.machine import _stream
        from mqsel.formats import _mq
        def use(found):
            attempt(next, found)
            attempt(found, b"")
        def look(phase, _):
            for found in gc.get_objects()[-20:]:
                if type(found) in (_stream.Selection, _mq.MQDecoder):
                    use(found)
        matcher = mqsel.compile("a = 1")
        class Input:
            def __iter__(self):
                look("", {})
                return iter([{"a": 1}])
        assert list(matcher.filter(Input())) == [{"a": 1}]
        gc.callbacks.append(look)
        gc.set_threshold(1)
        for number in range(200):
            matcher.filter([{"a": 1}])
            _mq.MQDecoder(("a", "b", "JMSType", f"c{number}"))
        gc.set_threshold(0)
        """,
    "garbage that calls a matcher": """
        # An object without references is no garbage: the collector lets its __del__ run in the middle of clearing.
        script = '''
        class Last:
            __slots__ = ()
            def __del__(self):
                answers.append(matcher.matches({"a": "x" * 50, "b": Fake(5)}))
                answers.append(next(stream, None))
                answers.append(decoder(b"x" * 400) if callable(decoder) else None)
        class Fake(int):
            pass
        matcher = load(dump(compile("a = '" + "x" * 50 + "' AND b = 5")))
        stream = matcher.filter(iter([{"a": "x" * 50, "b": 5}] * 50))
        next(stream)
        decoder = None
        boxes = [[Last()] for _ in range(40)]
        '''
        for order in range(20):
            answers = []
            space = {"answers": answers, "load": pickle.loads, "dump": pickle.dumps, "compile": mqsel.compile}
            exec(textwrap.dedent(script), space)
            space["own"] = space
            if order % 2:
                moved = [space.pop(name) for name in ("matcher", "stream")]
                space["matcher"], space["stream"] = moved
            space["later"] = [[space["Last"]()] for _ in range(40)]
            del space
            moved = None
            gc.collect()
            assert True in answers and False not in answers, answers
        """,
    "a stream in a cycle that outlives its matcher": """
        class Iterator:
            def __iter__(self):
                return self
            def __next__(self):
                return {"a": 1, "b": "y" * 50}
        for number in range(100):
            matcher = pickle.loads(pickle.dumps(mqsel.compile("a = 1 AND b = 'x' OR a = 1")))
            iterator = Iterator()
            stream = matcher.filter(iterator)
            next(stream)
            iterator.stream = stream
            del iterator, matcher
            gc.collect()  # the Iterator is behind the stream now in the collector's list
            del stream
            gc.collect()
        """,
    "a Record changed between reading and explaining": """
        record = mqsel.Record(["n", "s"], [mqsel.values.Int8(5), "x" * int("50")])
        def trace(frame, event, _):
            # As another thread might, while a wrapper is made of the first value.
            if event == "call" and frame.f_code.co_name == "__new__":
                record["s"] = 5
        for read in (mqsel.compile("n = 1 OR s = 'x'").explain, lambda record: record.as_tuple(), pickle.dumps, repr):
            record["s"] = "x" * int("50")
            sys.setprofile(trace)
            attempt(read, record)
            sys.setprofile(None)
        """,
    "recursion without end": """
        matcher = mqsel.compile("a = 1")
        class Message(UserDict):
            def get(self, name, default=None):
                return matcher.matches(self)
        attempt(matcher.matches, Message())
        assert matcher.matches({"a": 1})
        """,
}
PREFACE = """
import gc, pickle, sys, textwrap, threading, time
from collections import UserDict, namedtuple
from copy import copy
import mqsel
def attempt(call, *arguments):
    try:
        call(*arguments)
    except Exception:
        pass
"""


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
def test_hostile_messages_do_not_crash(script: str) -> None:
    """Whatever a message does while it is read, there is an answer or an exception, and the process lives."""
    # The debug allocator overwrites what is freed, so that a pointer kept too long shows at once.
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PREFACE + textwrap.dedent(script) + "\nprint('alive')"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONMALLOC": "debug"},
        timeout=120,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def test_a_subinterpreter_is_refused_and_spoils_nothing() -> None:
    """The extensions belong to the main interpreter: another one is told so, and the main one can still import them."""
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(name)
    script = f"""
        import sys, textwrap
        import {name} as interpreters
        inner = interpreters.create()
        code = "import sys; sys.path[:] = " + repr(sys.path) + '''
        try:
            import mqsel
        except ImportError as error:
            print(error)
        '''
        for _ in range(2):
            interpreters.run_string(inner, textwrap.dedent(code))
        interpreters.destroy(inner)
        import mqsel
        print(mqsel.compile("a = 1").matches({{"a": 1}}))
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""

    refusal = "mqsel is imported in a subinterpreter: expected the main one; use a process instead\n"
    assert done.stdout == 2 * refusal + "True\n"


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="needs POSIX timers")
def test_a_long_search_can_be_interrupted() -> None:
    """Ctrl-C reaches a stream that selects nothing from an input written in C."""
    script = """
        import itertools, signal
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            for _ in mqsel.compile("a = 1").filter(itertools.repeat({}, 200_000_000)):
                pass
        except KeyboardInterrupt:
            print("interrupted")
        """
    done = subprocess.run(
        [sys.executable, "-c", PREFACE + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.stdout == "interrupted\n"


def test_err_leaves_nothing_on_the_stacks() -> None:
    """An ERR deep in a selector, one message of a list after the other, is FALSE each time and never piles up."""
    text = "a = 1 OR (a = 2 AND a = 4 OR ((a = 3) = (a = 6 OR b = 3)))"
    for optimize in (True, False):
        matcher = mqsel.compile(text, dialect=mqsel.IBM_JMS, optimize=optimize)
        good = {"a": 1, "b": "x"}

        assert list(matcher.filter([*[{"a": 5, "b": "x"}] * 200_000, good])) == [good]
