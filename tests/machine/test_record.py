"""Records: typed slots, filling, equality, and how they travel."""

from __future__ import annotations

import collections
import copy
import math
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import shown
from running import INT64_MAX, JMS, WRAPPERS, Color, Pair, same
from volumes import volume

import mqsel
from mqsel.errors import ArgumentError, PropertyTypeError
from mqsel.machine.schema import Schema
from mqsel.values import TYPE_NAMES, Float32, Int8, Int16, Int32, Truth

FLOAT32_MAX = (2.0 - 2.0**-23) * 2.0**127


RANGES = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


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

    @hypothesis.settings(deadline=None, max_examples=volume(300, smoke=40))
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
