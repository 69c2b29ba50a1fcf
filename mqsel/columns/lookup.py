"""What `mqsel.analysis` needs of Arrow columns: the one that is a property, its type, what else a batch has.

pyarrow is imported where something is called. Follows formats §2 for the names of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mqsel.columns.wordings import not_a_batch
from mqsel.names import by_casefold, folded, follow, spellings
from mqsel.values import ARROW_READ

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

# Types of which Arrow's functions take no values, and those to cast them to.
PLAIN = {"string_view": "large_string", "binary_view": "large_binary"}


def type_of(kind: pa.DataType) -> str:
    """Return the property type of an Arrow type; pyarrow's own name where no property has it."""
    if hasattr(kind, "index_type"):  # a dictionary
        kind = kind.value_type
    row = ARROW_READ.get(str(kind))
    return str(kind) if row is None else row.read_as


def laid_out(column: pa.Array) -> pa.Array:
    """Return a column of a type that is read, as Arrow's functions for values take it.

    They take no views, and dictionaries of texts alone, without a NULL among these.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    if isinstance(column, pa.DictionaryArray):
        if column.dictionary.null_count or type_of(column.type) not in ("string", "bytes"):
            return pc.take(laid_out(column.dictionary), column.indices)
        return column
    plain = PLAIN.get(str(column.type))
    return column if plain is None else column.cast(plain)


def present(column: pa.Array) -> pa.BooleanArray:
    """Return which rows of a column have a value, whatever its type: for some dictionaries pyarrow itself crashes."""
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # noqa: PLC0415

    if isinstance(column, pa.DictionaryArray):
        found = pc.take(present(column.dictionary), column.indices)
        return pc.and_kleene(found.is_valid(), found)
    return column.is_valid()


def names_of(fields: Iterable[Any], before: str = "") -> Iterator[str]:
    """List the names that selectors give to columns, and to the fields of structs."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    for field in fields:
        if pa.types.is_struct(field.type):
            yield from names_of(field.type, f"{before}{field.name}.")
        else:
            yield before + field.name


def place_in(struct: pa.StructType, name: str, rules: str) -> int:
    """Return the place of a field in a struct, or -1.

    Args:
        rules: of names, see `mqsel.names.spellings`.
    """
    if rules == "folded":
        return folded(((field.name, place) for place, field in enumerate(struct)), by_casefold([name])).get(name, -1)
    return int(struct.get_field_index(name))


def may_be_read(columns: Iterable[object], names: Iterable[str], rules: str, before: str = "") -> list[int]:
    """Return the places of columns that may be read: of properties, or of structs that they are fields of.

    Args:
        names: of the properties.
        rules: of names, see `mqsel.names.spellings`.
        before: the names of the structs around the columns, each with a dot.
    """
    fold = str.casefold if rules == "folded" else str
    spelled = [fold(one) for name in names for one in spellings(name, rules)]
    wanted = {one[:at] for one in spelled for at, letter in enumerate(f"{one}.") if letter == "."}
    return [place for place, one in enumerate(columns) if isinstance(one, str) and fold(before + one) in wanted]


def kinds_of(frame: object) -> list[tuple[str, str]]:
    """List the classes that a frame is of: the library and the name of each."""
    return [(kind.__module__.partition(".")[0].removeprefix("_"), kind.__name__) for kind in type(frame).__mro__]


def narrowed(pyarrow: Any, frame: Any, names: Iterable[str] | None, rules: str) -> Any:
    """Return what may be read of a frame of pandas or polars, which fail at columns nobody reads; or another frame.

    Of pandas that is an index by its name, too, even a range.

    Args:
        names: of the properties; None for all columns.
        rules: of names, see `mqsel.names.spellings`.

    Raises: ArgumentError: Arrow does not take what is read.
    """
    if hasattr(frame, "__arrow_c_array__"):
        return frame
    kinds = kinds_of(frame)
    is_pandas = ("pandas", "DataFrame") in kinds
    if not is_pandas and (names is None or ("polars", "DataFrame") not in kinds):
        return frame
    try:
        index = frame.index.names if is_pandas else ()
        names = [one for one in (*frame.columns, *index) if isinstance(one, str)] if names is None else [*names]
        places = may_be_read(frame.columns, names, rules)
        has_index = bool(may_be_read(index, names, rules))
        if not places and not has_index:  # without a column there are no rows
            return pyarrow.table({"-": pyarrow.nulls(len(frame))})
        if not is_pandas:
            return frame[:, places]
        frame = frame.iloc[:, places]
        table = pyarrow.Table.from_pandas(frame, preserve_index=has_index)
    except MemoryError:
        raise
    except Exception as error:
        raise not_a_batch(frame, f"{type(error).__name__}: {error}") from error
    for field, (_, column) in zip(table.schema, frame.items(), strict=False):  # then the index
        if field.type == pyarrow.binary() and any(isinstance(one, str) for one in column):
            raise not_a_batch(frame, f"column '{field.name}' has texts and bytes")  # Arrow makes all of them bytes
    return table


def column_of(batch: pa.StructArray, name: str, rules: str) -> pa.Array | None:
    """Return the column of a property, as `Matcher.match_batch` finds it; None where no column is it.

    Args:
        rules: of names, see `mqsel.names.spellings`.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # noqa: PLC0415

    def field(around: pa.Array, name: str) -> pa.Array | None:
        place = place_in(around.type, name, rules) if pa.types.is_struct(around.type) else -1
        return None if place < 0 else pc.struct_field(around, [place])

    found = (follow(one, batch, field) for one in spellings(name, rules))
    return next((one for one in found if one is not None), None)
