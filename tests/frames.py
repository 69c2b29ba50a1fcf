"""DataFrames of generated rows, and selectors about them: edges of every type, and NULL."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import strategies

from mqsel.language.dialect import Dialect
from mqsel.values import Float32, Int8, Int16, Int32

SELECTORS, ROWS = 40, 50  # of one frame


def frame_of(spark: Any, kinds: dict[str, str], rows: list[tuple[Any, ...]], *, is_wide: bool = False) -> Any:
    """Return a DataFrame whose columns have the Spark types of the property types.

    Args:
        is_wide: columns have other types, from which the property types can be read where they are declared.
    """
    from pyspark.sql import types as T  # noqa: N812 (its usual name)

    made = {
        "boolean": T.BooleanType(),
        "int8": T.ByteType(),
        "int16": T.ShortType(),
        "int32": T.IntegerType(),
        "int64": T.LongType(),
        "float32": T.FloatType(),
        "float64": T.DoubleType(),
        "string": T.StringType(),
        "bytes": T.BinaryType(),
        "null": T.NullType(),
    }
    if is_wide:
        made |= {"int8": T.ShortType(), "int16": T.IntegerType(), "int32": T.DecimalType(38, 0)}
        made |= {"int64": T.DecimalType(20, 0), "float32": T.DoubleType(), "string": T.BinaryType()}
        converted = {"int32": Decimal, "int64": Decimal, "string": str.encode}
        rows = [
            tuple(
                converted.get(kind, lambda same: same)(value) if value is not None else None
                for kind, value in zip(kinds.values(), row, strict=True)
            )
            for row in rows
        ]
    schema = T.StructType([T.StructField(name, made[kind]) for name, kind in kinds.items()])
    wrappers = {Int8: int, Int16: int, Int32: int, Float32: float}
    plain = [tuple(wrappers.get(type(value), lambda same: same)(value) for value in row) for row in rows]
    return spark.createDataFrame(plain, schema)


_FLOATS = (*strategies._FLOATS, math.inf, -math.inf, math.nan, -5e-324, -7.0)


def _value(rng: random.Random, kind: str) -> Any:
    """Draw a value of one type that a Spark column can hold: edges, and NULL."""
    if kind == "null" or rng.random() < 0.15:
        return None
    while True:
        drawn, value = strategies._typed(rng)
        if kind in ("float64", "float32") and rng.random() < 0.3:
            number = rng.choice(_FLOATS)
            return number if kind == "float64" else float(Float32(number))
        if drawn == kind and not (kind == "string" and "\ud800" in value):
            return value


def drawn(rng: random.Random, name: str) -> tuple[dict[str, str], list[tuple[Any, ...]], list[tuple[str, Dialect]]]:
    """Draw a schema, rows for it, and selectors about them."""
    preset = strategies.DIALECTS[name]
    names = [one for one in strategies.LETTERS[name].names if not one.startswith("usr.")]
    kinds = {one: rng.choice((*strategies._KINDS, *strategies._NUMBERS)) for one in names if rng.random() < 0.9}
    rows = [tuple(_value(rng, kind) for kind in kinds.values()) for _ in range(ROWS)]
    cases: list[tuple[str, Dialect]] = []
    while len(cases) < SELECTORS:
        row = rng.choice(rows)
        message = {
            one: (kind if value is not None else "null", value)
            for (one, kind), value in zip(kinds.items(), row, strict=True)
        }
        author = strategies._Author(rng, strategies.LETTERS[name], message)
        text = author.selector()
        if not author.last_name or len(text) > 10240:
            continue
        dialect = preset
        if rng.random() < 0.5:
            dialect = preset.replace(**rng.choice(strategies.READINGS))
        cases.append((text, dialect))
    return kinds, rows, cases
