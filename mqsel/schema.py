"""The layout of a message that comes without names: which property stands where, and of which type.

Knows nothing of selectors. A type is a name of `mqsel.values.TYPE_NAMES`, or None where any value may stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mqsel.errors import ArgumentError
from mqsel.values import TYPE_NAMES


class Schema(NamedTuple):
    """Names and types of the positions of a sequence or a Record, each of shape (positions,)."""

    names: tuple[str, ...]
    types: tuple[str | None, ...]


SchemaLike = Schema | Mapping[str, str | None] | Iterable[str | tuple[str, str | None]]


def _is_plain(schema: Schema) -> bool:
    return type(schema.names) is tuple and all(type(name) is str for name in schema.names)


def as_schema(layout: SchemaLike) -> Schema:
    """Normalise a layout: names, (name, type) pairs, or a mapping of names to types.

    Raises: ArgumentError: not a layout, an unknown type, or one name twice.
    """
    if isinstance(layout, str):
        raise ArgumentError("a schema is a sequence of names, found one string", hint="write schema=('name',)")
    pairs: list[tuple[str, str | None]] = []
    try:
        if isinstance(layout, Schema):
            pairs.extend(zip(layout.names, layout.types, strict=True))
        else:
            for item in layout.items() if isinstance(layout, Mapping) else layout:
                name, kind = (item, None) if isinstance(item, str) else item
                pairs.append((name, kind))
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"a schema is a sequence of names or of (name, type) pairs, found {type(layout).__name__}"
        ) from error
    for name, kind in pairs:
        if not isinstance(name, str):
            raise ArgumentError(f"a name in a schema is a string, found {type(name).__name__}")
        if kind is not None and (not isinstance(kind, str) or kind not in TYPE_NAMES):
            raise ArgumentError(
                f"the schema gives '{name}' the type {kind!r}: there is no such type",
                hint=f"types are {', '.join(TYPE_NAMES)}, or None for any",
            )
    names = tuple(str(name) for name, _ in pairs)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"the schema names '{twice}' twice")
    schema = Schema(names, tuple(kind for _, kind in pairs))
    # One that is in order stays the same object: Records and machines recognise it by that.
    return layout if isinstance(layout, Schema) and layout == schema and _is_plain(layout) else schema
