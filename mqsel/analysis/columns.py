"""What `mqsel.analysis` needs of Arrow columns: the one that is a property, its type, what else a batch has.

pyarrow is imported where something is called. Follows formats §2 for the names of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mqsel.names import follow, spellings

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

# What pyarrow calls types, beside our own names; the types are those that a batch is read as (`mqsel.values.TYPES`).
ARROW_TYPES = {
    "bool": "boolean",
    "uint8": "int16",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "float": "float32",
    "double": "float64",
    "large_string": "string",
    "string_view": "string",
    "binary": "bytes",
    "large_binary": "bytes",
    "binary_view": "bytes",
}


def type_of(kind: pa.DataType) -> str:
    """Name the property type of an Arrow type; pyarrow's own name where no property has it."""
    if hasattr(kind, "index_type"):  # a dictionary
        kind = kind.value_type
    return ARROW_TYPES.get(str(kind), str(kind))


def names_of(fields: Iterable[Any], before: str = "") -> Iterator[str]:
    """List the names that selectors give to columns, and to the fields of structs."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    for field in fields:
        if pa.types.is_struct(field.type):
            yield from names_of(field.type, f"{before}{field.name}.")
        else:
            yield before + field.name


def column_of(batch: pa.StructArray, name: str, rules: str) -> pa.Array | None:
    """Give the column of a property, as `Matcher.match_batch` finds it; None where no column is it.

    Args:
        rules: the ``headers`` of a dialect.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    def field(around: pa.Array, name: str) -> pa.Array | None:
        place = around.type.get_field_index(name) if pa.types.is_struct(around.type) else -1
        return None if place < 0 else pc.struct_field(around, [place])

    found = (follow(one, batch, field) for one in spellings(name, rules))
    return next((one for one in found if one is not None), None)
