"""What a message of any format consists of: its properties as rows, notes on what was skipped, its structures."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from mqsel.formats.mqrfh2 import Note
from mqsel.values import CLASS_NAMES


class Row(NamedTuple):
    """One property of a message.

    Attributes:
        name: The name by which a selector reads it.
        type: The type, a name in `mqsel.values.TYPE_NAMES`.
        value: A Python value of that type.
        source: "MQMD", "MQMDE" or the folder of the MQRFH2; "default" for a field of version 2 that the message doesn't
            have. For a JMS name it is the property that it comes from, or the header field that describes the body. For
            a record it is the path of the member, for JSON "JSON".
        offset: The byte at which it begins, from the start of the message; -1 for a default, a JMS name or a text
            format.
    """

    name: str
    type: str
    value: Any
    source: str
    offset: int


class Rows(Sequence[Row]):
    """The properties of a message, a sequence of `Row`. Each is created when you read it, which saves memory."""

    __slots__ = ("_found", "_names", "_offsets", "_sources")

    def __init__(self, found: dict[str, Any], sources: list[str], offsets: "array[int]") -> None:
        self._found, self._sources, self._offsets = found, sources, offsets
        self._names: list[str] | None = None  # made when a place is asked for

    def __len__(self) -> int:
        return len(self._found)

    def names(self) -> tuple[str, ...]:
        """Return the names of the properties that have a value."""
        return tuple([name for name, value in self._found.items() if value is not None])

    def __iter__(self) -> Iterator[Row]:
        for (name, value), source, offset in zip(self._found.items(), self._sources, self._offsets, strict=True):
            yield Row(name, CLASS_NAMES[type(value)], value, source, offset)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(len(self))[place])
        if self._names is None:
            self._names = list(self._found)
        name = self._names[place]
        value = self._found[name]
        return Row(name, CLASS_NAMES[type(value)], value, self._sources[place], self._offsets[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Inspection(NamedTuple):
    """The properties and structures of a message.

    Attributes:
        rows: The properties: those of the sender, the JMS view, and the fields of the descriptor under both their
            names.
        notes: What was skipped, and why.
        structures: (name, offset, length in bytes) of the descriptor and the headers, in order; the data come last.
    """

    rows: Sequence[Row]
    notes: tuple[Note, ...]
    structures: tuple[tuple[str, int, int], ...]

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 (a matcher needs neither)

        from mqsel.notebook import code, page, table  # noqa: PLC0415

        rows = ((code(row.name), row.type, code(_shown(row.value)), escape(row.source)) for row in self.rows)
        return page([escape(str(note)) for note in self.notes], table(("property", "type", "value", "from"), rows))


def _shown(value: object) -> str:
    return f'"0x{value.hex().upper()}"' if isinstance(value, bytes) else str(value)
