"""The layout of a message that comes without names: which property stands where, and of which type.

Knows nothing of selectors. A type is a name of `mqsel.values.TYPE_NAMES`, or None where any value may stand.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mqsel.carets import shortened, type_name
from mqsel.errors import ArgumentError
from mqsel.values import TYPE_NAMES


class Schema(NamedTuple):
    """Names and types of the positions of a sequence or a Record, each of shape (positions,)."""

    names: tuple[str, ...]
    types: tuple[str | None, ...]


SchemaLike = Schema | Mapping[str, str | None] | Iterable[str | tuple[str, str | None]]


def _is_plain(schema: Schema) -> bool:
    """Return whether a layout is a Schema of exact tuples of exact strings: a subclass may answer otherwise later."""
    return (
        type(schema) is Schema
        and len(schema) == 2
        and all(type(part) is tuple for part in schema)
        and {*map(type, schema.names)} <= {str}
        and {*map(type, schema.types)} <= {str, type(None)}
    )


def _is_text(value: object) -> bool:
    return issubclass(type(value), str)  # isinstance would ask the value


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
                name, declared = (item, None) if isinstance(item, str) else item
                pairs.append((name, declared))
    except (TypeError, ValueError, IndexError) as error:
        raise ArgumentError(
            f"a schema is a sequence of names or of (name, type) pairs, found {type_name(layout)}"
        ) from error
    for name, declared in pairs:
        if not _is_text(name):
            raise ArgumentError(f"a name in a schema is a string, found {type_name(name)}")
        if declared is not None and (not _is_text(declared) or str.__str__(declared) not in TYPE_NAMES):
            raise ArgumentError(
                f"the schema gives '{str.__str__(name)}' the type {shortened(declared)}: there is no such type",
                hint=f"types are {', '.join(TYPE_NAMES)}, or None for any",
            )
    names = tuple(str.__str__(name) for name, _ in pairs)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"the schema names '{twice}' twice")
    # One that is in order stays the same object: Records and machines recognise it by that.
    if isinstance(layout, Schema) and _is_plain(layout):
        return layout
    return Schema(names, tuple(None if declared is None else str.__str__(declared) for _, declared in pairs))
