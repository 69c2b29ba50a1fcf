"""Errors of columns, options and sessions of Spark: each wording that is used more than once."""

from __future__ import annotations

from collections.abc import Iterable

from mqsel.carets import quoted
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError

TYPED_JSON = "its values name their types, as in {\"int32\": 5}: read the files by spark.read.format('mqsel')"


def unusable_column(name: str) -> ArgumentError:
    return ArgumentError(
        f"the column {quoted(name)} cannot be named in an expression: Spark replaces ${{…}} in it",
        hint="rename the column",
    )


def no_column(name: str, path: str, near: str) -> ArgumentError:
    return ArgumentError(f"'{name}' is mapped to '{path}': there is no such column{near}")


def column_type(name: str, found: str, hint: str, declared: str | None = None) -> PropertyTypeError:
    wanted = "a property has no such type" if declared is None else f"it cannot be read as {declared}"
    return PropertyTypeError(
        f"the column of property '{name}' is {found}: {wanted}",
        name=name,
        value_type=found,
        hint=hint or "convert it with withColumn, and map the property to that column",
    )


def keys_in_any_case(name: str, found: str) -> PropertyTypeError:
    return PropertyTypeError(
        f"property '{name}' would be a key of {found}, where keys are found as they are spelled: expected a column, "
        "since this dialect reads names without regard to case",
        name=name,
        value_type=found,
        hint=f"say where it is: properties={{'{name}': 'column.key'}}",
    )


def undeclared(name: str) -> PropertyTypeError:
    return PropertyTypeError(
        f"property '{name}' has a type of its own in each row: a column has one",
        name=name,
        hint=f"declare it: types={{'{name}': …}}",
    )


def not_native(text: str, reason: str) -> ArgumentError:
    return ArgumentError(
        f"{text} has no exact Catalyst expression: {reason}",
        hint="leave the strategy to mqsel, or take strategy='arrow'",
    )


def old_spark(what: str, version: str, hint: str | None = None) -> MqselError:
    import pyspark  # noqa: PLC0415 (optional)

    return MqselError(f"{what} needs Spark {version} or later: this is pyspark {pyspark.__version__}", hint=hint)


def bad_option(name: str, found: str, wanted: Iterable[str]) -> ArgumentError:
    return ArgumentError(f"the option {name} is {found!r}: expected {', '.join(wanted)}")


def option_missing(name: str, hint: str) -> ArgumentError:
    return ArgumentError(f"the option {name} is missing", hint=hint)
