"""Layouts: every way to write one gives the same Schema, and every faulty one an error of ours that says what is wrong.

What a layout does to messages is in test_sources.py; what it does to a matcher's equality and pickles in
test_matcher.py and test_travelling.py.
"""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

import mqsel
from mqsel.errors import ArgumentError
from mqsel.machine.schema import Schema, as_schema
from mqsel.values import TYPE_NAMES

PAIRS = (("color", "string"), ("weight", "int32"), ("note", None))
SAME = Schema(("color", "weight", "note"), ("string", "int32", None))


class Name(str):
    """A string that is not exactly one."""

    __slots__ = ()


@pytest.mark.parametrize(
    "layout",
    [
        PAIRS,
        list(PAIRS),
        [list(pair) for pair in PAIRS],
        iter(PAIRS),
        (pair for pair in PAIRS),
        dict(PAIRS),
        OrderedDict(PAIRS),
        MappingProxyType(dict(PAIRS)),
        dict(PAIRS).items(),
        (("color", "string"), ("weight", "int32"), "note"),
        SAME,
    ],
    ids=lambda layout: type(layout).__name__,
)
def test_one_schema_for_every_way_to_write_it(layout: Any) -> None:
    """Pairs in any iterable, a mapping, bare names for untyped positions, and a Schema itself: all the same."""
    assert as_schema(layout) == SAME


def test_names_alone_are_untyped() -> None:
    """A name without a type leaves the type to the values."""
    assert as_schema(["b", "a"]) == Schema(("b", "a"), (None, None))


def test_an_empty_layout_is_one() -> None:
    """A sequence without positions is a layout too, and not the same as none."""
    assert as_schema(()) == Schema((), ())
    assert mqsel.compile("a IS NULL", schema=()) != mqsel.compile("a IS NULL")
    assert mqsel.compile("a IS NULL", schema=()).matches(())


@pytest.mark.parametrize("kind", [*TYPE_NAMES, None])
def test_every_type_may_be_declared(kind: str | None) -> None:
    """A layout knows every type of a property."""
    assert as_schema([("a", kind)]).types == (kind,)


def test_names_become_plain_strings() -> None:
    """A subclass of str does not stay in a schema: it need not pickle, hash or print like its text."""
    by_hand = Schema((Name("a"), Name("b")), (None, "int8"))
    for layout in ([Name("a"), (Name("b"), "int8")], {Name("a"): None, Name("b"): "int8"}, by_hand):
        assert [type(name) for name in as_schema(layout).names] == [str, str]


def test_a_schema_may_be_hashed_and_not_changed() -> None:
    """Matchers compare and hash by their schema."""
    schema = as_schema([["a", "int8"]])

    assert len({schema, as_schema({"a": "int8"})}) == 1
    with pytest.raises(AttributeError):
        schema.names = ()  # type: ignore[misc]


FAULTY: dict[str, tuple[Any, str]] = {
    "one string": ("color", "found one string"),
    "no iterable": (5, "found int"),
    "no layout": (object(), "found object"),
    "not a pair": ([("a", "int8", "b")], "found list"),
    "an item that is no pair": ([5], "found list"),
    "a name that is no string": ([(5, "int8")], "found int"),
    "a name of bytes": ({b"a": "int8"}, "found bytes"),
    "no such type": ([("a", "int128")], "'int128'"),
    "a type in capitals": ([("a", "INT8")], "'INT8'"),
    "a Python type": ([("a", int)], "<class 'int'>"),
    "a type that cannot be hashed": ([("a", ["int8"])], "['int8']"),
    "a name twice": (["a", "b", "a"], "'a' twice"),
    "a Schema with a name twice": (Schema(("a", "a"), (None, None)), "'a' twice"),
    "a Schema of an unknown type": (Schema(("a",), ("int128",)), "'int128'"),
    "a Schema with a type too few": (Schema(("a", "b"), (None,)), ""),
    "a Schema with a name too few": (Schema(("a",), (None, None)), ""),
    "a Schema of a name that is no string": (Schema((5,), (None,)), "found int"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("layout", "found"), FAULTY.values(), ids=FAULTY)
def test_faulty_layouts_are_refused(layout: Any, found: str) -> None:
    """A layout that is none is an ArgumentError that says what was found, and no other exception."""
    with pytest.raises(ArgumentError) as caught:
        as_schema(layout)

    assert found in str(caught.value)


@pytest.mark.parametrize(("layout", "found"), FAULTY.values(), ids=FAULTY)
def test_compile_refuses_faulty_layouts(layout: Any, found: str) -> None:
    """`compile` reports a faulty schema, a Schema made by hand included, as `as_schema` does."""
    with pytest.raises(ArgumentError) as caught:
        mqsel.compile("a = 1", schema=layout)

    assert found in str(caught.value)


def test_a_schema_of_lists_is_as_good_as_one_of_tuples() -> None:
    """A Schema made by hand is normalised like any other layout: a matcher needs to hash it."""
    by_hand = Schema(["a", "b"], [None, "int8"])  # type: ignore[arg-type]

    assert as_schema(by_hand) == Schema(("a", "b"), (None, "int8"))
    assert mqsel.compile("a = 1", schema=by_hand) == mqsel.compile("a = 1", schema=["a", ("b", "int8")])


def test_an_unknown_type_is_answered_with_the_known_ones() -> None:
    """The hint lists what could have been written."""
    with pytest.raises(ArgumentError) as caught:
        as_schema([("a", "integer")])

    assert all(name in str(caught.value.hint) for name in TYPE_NAMES)
