"""Errors of the machine: each wording that is used more than once."""

from __future__ import annotations

from mqsel.carets import quoted, type_name
from mqsel.errors import ArgumentError, PropertyTypeError, UndocumentedError
from mqsel.values import TYPE_NAMES


def integer_outside(name: str, limits: str, index: int | None = None) -> PropertyTypeError:
    return PropertyTypeError(
        f"property '{name}' is an integer outside {limits}: no message property can hold it",
        name=name,
        value_type="int",
        index=index,
        hint="send it as a string or a float",
    )


def not_a_property(name: str, value: object, hint: str | None = None) -> PropertyTypeError:
    found = type_name(value)
    if hint is None and type(value) is dict and len(value) == 1 and next(iter(value)) in TYPE_NAMES:
        hint = 'values with their types are JSON: pass its text to filter(texts, format="json"), or plain values'
    return PropertyTypeError(
        f"property '{name}' is a Python {found}: expected bool, int, float, str, bytes or None",
        name=name,
        value_type=found,
        hint=hint or "convert it where messages are created; a message property cannot hold datetime or Decimal",
    )


def unordered_float(name: str, number: float) -> UndocumentedError:
    found, remedy = ("NaN", "leave the property out") if number != number else ("-0.0", "send 0.0")  # noqa: PLR0124
    return UndocumentedError(
        f"property '{name}' is {found}: mqsel supports no such property in this dialect",
        name=name,
        value_type="float",
        hint=f"{remedy} where messages are created",
    )


# How a dict is made of an object, by what its class has: dataclasses, attrs, pydantic.
_DICT_OF = {
    "__dataclass_fields__": "dataclasses.asdict(message)",
    "__attrs_attrs__": "attrs.asdict(message)",
    "model_dump": "message.model_dump()",
}


def not_a_message(value: object, schema: bool) -> PropertyTypeError:
    found = type_name(value)
    hint = (
        "pass the sequence in the order of the schema"
        if schema
        else "pass dicts, or name the positions of a sequence by schema=(...)"
    )
    # Neither the object nor its metaclass is asked: both may raise.
    classes = type.__dict__["__mro__"].__get__(type(value))
    marks = {mark for one in classes for mark in type.__dict__["__dict__"].__get__(one)}
    hint = next((f"pass {call}" for mark, call in _DICT_OF.items() if mark in marks), hint)
    return PropertyTypeError(
        f"a message is a mapping, a Record or a sequence laid out by a schema: found a Python {found}",
        value_type=found,
        hint=hint,
    )


def refuse_nested(row: tuple[object, ...] | list[object], nested: list[tuple[str, int]], fields: list[str]) -> None:
    """Refuse a Row of Spark that holds something a name leads into: only a Column of its DataFrame follows the name.

    Args:
        nested: as `mqsel.names.find_nested` returns it.

    Raises: PropertyTypeError: with the first such name.
    """
    for name, place in nested:
        value = tuple.__getitem__(row, place) if isinstance(row, tuple) else list.__getitem__(row, place)
        if issubclass(type(value), (tuple, list, dict)):  # the class itself is not asked: it may lie
            raise PropertyTypeError(
                f"property '{name}' leads into the field {quoted(fields[place])} of a Row: expected a plain value, "
                f"found a Python {type_name(value)}",
                name=name,
                value_type=type_name(value),
                hint="select rows of a DataFrame by mqsel.spark.rows(matcher, df), or flatten them first",
            )


def wrong_length(found: int, expected: int) -> PropertyTypeError:
    return PropertyTypeError(
        f"the sequence has {found} values: the schema has {expected}",
        value_type="sequence",
        hint="compile with the schema of these records",
    )


def no_answer(index: int) -> PropertyTypeError:
    return PropertyTypeError(
        "reading the message raised StopIteration: it has no answer",
        index=index,
        hint="correct the get() of the mapping: for a missing property it returns the default",
    )


def stream_shared() -> ArgumentError:
    return ArgumentError(
        "this stream is already being read: two threads cannot share it", hint="call filter() once for each thread"
    )
