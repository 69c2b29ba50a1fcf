"""Decimals and timestamps in columns, read as somebody declares for all of them at once.

No property is either (formats §2), so a column of such a type is refused unless its meaning is declared: a decimal is
the nearest FLOAT64, as one of AMQP is, or an INT64; a timestamp is an INT64 that counts units since 1970. What no INT64
is exactly is an error. Knows no selector.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from mqsel.arguments import check_word
from mqsel.columns._answers import chunks, library
from mqsel.columns.lookup import may_be_read, narrowed
from mqsel.errors import PropertyTypeError

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

Decimals = Literal["double", "int64"]
Timestamps = Literal["seconds", "millis", "micros", "nanos"]
_UNITS = {"seconds": "s", "millis": "ms", "micros": "us", "nanos": "ns"}
_DECIMALS = ("double", "int64")


def check(decimals: str | None, timestamps: str | None) -> None:
    """Check what is declared.

    Raises: ArgumentError: a meaning that there is not.
    """
    for name, word, known in (("decimals", decimals, _DECIMALS), ("timestamps", timestamps, tuple(_UNITS))):
        if word is not None:
            check_word(name, word, known)


def declared(
    batch: object, names: Iterable[str], rules: str, decimals: Decimals | None, timestamps: Timestamps | None
) -> Any:
    """Return a batch with its decimals and timestamps as they are declared, where they may be read.

    Args:
        batch: as for `Matcher.match_batch`.
        names: of the properties that are read.
        rules: of these names, see `mqsel.names.spellings`.

    Raises: ArgumentError: no batch, or a meaning that there is not. PropertyTypeError: a value that no such number is.
    """
    check(decimals, timestamps)
    names = [*names]
    pyarrow = library("a meaning of decimals and timestamps")
    parts = [pyarrow.array(chunk) for chunk in chunks(pyarrow, narrowed(pyarrow, batch, names, rules))]
    return pyarrow.chunked_array([_read(part, names, rules, "", decimals, timestamps) for part in parts])


def _read(
    rows: pa.StructArray, names: list[str], rules: str, before: str, decimals: str | None, timestamps: str | None
) -> pa.StructArray:
    """Return rows, or the fields of a struct, with the columns that are declared."""
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    fields = [*rows.type]
    columns = {}
    for place in may_be_read([field.name for field in fields], names, rules, before):
        field = fields[place]
        column = pc.struct_field(rows, [place])  # NULL where the struct is
        if pa.types.is_struct(field.type):
            read = _read(column, names, rules, f"{before}{field.name}.", decimals, timestamps)
        else:
            read = _converted(column, before + field.name, decimals, timestamps)
        if read is not column:
            columns[place] = read
    if not columns:
        return rows
    whole = [columns[place] if place in columns else pc.struct_field(rows, [place]) for place in range(len(fields))]
    return pa.StructArray.from_arrays(whole, [field.name for field in fields])


def _converted(column: pa.Array, name: str, decimals: str | None, timestamps: str | None) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # noqa: PLC0415

    kind = column.type
    has_words = pa.types.is_dictionary(kind)
    if has_words:
        kind = kind.value_type
    unit = None if timestamps is None or not pa.types.is_timestamp(kind) else _UNITS[timestamps]
    if unit is None and (decimals is None or not pa.types.is_decimal(kind)):
        return column
    if has_words:
        column = pc.take(column.dictionary, column.indices)  # a word that no row has does not count
    try:
        if unit is not None:
            return column.cast(pa.timestamp(unit, kind.tz)).cast(pa.int64())
        if decimals == "double":
            # By way of the text, which is rounded once: Arrow's own cast to double is off by a unit now and then.
            return column.cast(pa.string()).cast(pa.float64())
        if kind.bit_width < 128:  # of 32 bits Arrow 26 casts none to int64: all are said to be out of bounds
            column = column.cast(pa.decimal128(38, kind.scale))
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        meaning = f"decimals={decimals!r}" if pa.types.is_decimal(kind) else f"timestamps={timestamps!r}"
        raise PropertyTypeError(
            f"column '{name}' has a value that {meaning} cannot hold exactly: expected whole numbers within int64",
            name=name,
            value_type=str(kind),
            hint="declare another meaning, or cast the column as it is meant",
        ) from error
