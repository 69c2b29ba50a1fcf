"""What the properties of a message are, where each came from, and what was skipped: as rows, as a table, as JSON.

What ``mqsel inspect`` prints; prints nothing itself. A `Work` of `mqsel.files.scan` for which nothing selects; messages
are inspected by the rows of `mqsel.formats.FORMATS`.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel import formats
from mqsel.analysis.columns import present, type_of
from mqsel.errors import FileError, MqselError, cells, cut, padded
from mqsel.files import parquet
from mqsel.files.framings import FORMATS, each, taken_apart
from mqsel.files.parts import Part
from mqsel.files.scan import Ask, Broken, Tally, Work, of_rows, refused, why
from mqsel.formats.inspection import Inspection, Row
from mqsel.formats.jsonl import plain
from mqsel.names import DESCRIPTOR, JMS_DESCRIPTOR
from mqsel.values import CLASS_NAMES, TYPE_NAMES

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

_json = partial(json.dumps, ensure_ascii=False)
_ROWS = 1 << 10  # of a Parquet file, read at once
_WIDTH = 60  # characters of a value that a table shows


class Found(NamedTuple):
    """What one message has, in words.

    Attributes:
        rows: its properties, made anew at each call: a message may have a million.
        skipped: of it, as (what, why).
        structures: as (name, place).
        columns: of a row of Parquet, the batch of this row alone.
    """

    rows: Callable[[], Iterator[Row]]
    skipped: tuple[tuple[str, str], ...]
    structures: tuple[tuple[str, str], ...]
    columns: pa.RecordBatch | None = None


class Inspected(NamedTuple):
    """A message.

    Attributes:
        place: the line or the row, from 1; of what has no lines the byte.
        found: what it has.
    """

    place: int
    found: Found


def _inspect(_: None, ask: Ask, units: Iterable[Any], _path: str = "-") -> Iterator[Any]:
    """Inspect the messages of a file; what cannot be read counts for the limit, too."""
    tally = Tally()
    for piece, found in each(taken_apart(units), _inspector(ask.format, dict(ask.types))):
        if piece is None:
            assert isinstance(found, FileError)
            yield Broken(why(found))
            continue
        tally.lines += 1
        if found is None:
            continue
        tally.messages += 1
        tally.selected += 1
        place = tally.lines if FORMATS[ask.format].is_lines else piece.place
        if isinstance(found, MqselError):
            yield from refused(tally, place, found)
        else:
            yield Inspected(place, found)
        if tally.selected == ask.limit:
            break
    yield tally


def _inspect_rows(_: None, ask: Ask, part: Part) -> Iterator[Any]:
    tally = Tally()
    try:
        for found in of_columns(part.path):
            tally.lines += 1
            tally.messages += 1
            tally.selected += 1
            yield Inspected(tally.lines, _with_path(found, part.fixed))
            if tally.selected == ask.limit:
                break
    except FileError as error:
        yield of_rows(error)
    yield tally


def _with_path(found: Found, fixed: tuple[tuple[str, Any], ...]) -> Found:
    """Add what the directories in the path say of a row, but for what the file has as a column."""
    if not fixed:
        return found
    rows = [*found.rows()]
    columns = {name.partition(".")[0] for name in (*(row.name for row in rows), *(name for name, _ in found.skipped))}
    rows += [Row(name, CLASS_NAMES[type(value)], value, "path", -1) for name, value in fixed if name not in columns]
    return found._replace(rows=rows.__iter__)


INSPECT = Work(_inspect, _inspect_rows, Tally)


def _inspector(kind: str, types: Mapping[str, str]) -> Callable[[bytes], Found]:
    """Make what inspects one message of a file.

    Args:
        kind: the format of the file.
        types: of properties whose record lost them.
    """
    message = FORMATS[kind].message
    assert message is not None
    inspect = formats.FORMATS[message].inspect
    return lambda data: _in_words(inspect(data, types))


def _in_words(found: Inspection) -> Found:
    return Found(
        # A field that has two names stands there as Root.MQMD.
        lambda: (
            row for row in found.rows if not (row.name.startswith(JMS_DESCRIPTOR) and row.source.startswith(DESCRIPTOR))
        ),
        tuple(
            (
                f"{note.structure} at byte {note.offset}" if note.structure else note.what,
                (f"{note.what}: " if note.structure else "")
                + note.message
                + (f" [{note.reason}]" if note.reason else ""),
            )
            for note in found.notes
        ),
        tuple((name, f"byte {offset}, {length:,} bytes") for name, offset, length in found.structures),
    )


def of_columns(path: str, first: int = 0) -> Iterator[Found]:
    """Inspect the rows of a Parquet file: fields of a struct have the names of the struct and of the field.

    Args:
        first: the row to begin with, from 0.

    Raises: FileError: it cannot be read.
    """
    with parquet.opened(path) as file, parquet.trouble_of(path):
        columns = list(file.schema_arrow)
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        groups = [*range(len(sizes))]
        while groups and first >= sizes[groups[0]]:
            first -= sizes[groups.pop(0)]
        for batch in file.iter_batches(_ROWS, row_groups=groups, use_threads=False):
            skipped, first = min(first, batch.num_rows), max(first - batch.num_rows, 0)
            batch = batch.slice(skipped)  # noqa: PLW2901 (what is asked for of it)
            cells = [_values(column) for column in batch.columns]
            for number, row in enumerate(zip(*cells, strict=True) if cells else [()] * batch.num_rows):
                rows: list[Row] = []
                notes: list[tuple[str, str]] = []
                for column, value in zip(columns, row, strict=True):
                    _read_column(column.name, column.type, value, rows, notes)
                yield Found(rows.__iter__, tuple(notes), (), batch.slice(number, 1))


def _values(column: pa.Array) -> list[Any]:
    """List the values of a column: of a struct tuples, of what no property has only whether it is there."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    kind = column.type
    if pa.types.is_struct(kind):
        fields = [_values(field) for field in column.flatten()]
        found: list[Any] = [*zip(*fields, strict=True)] if fields else [()] * len(column)
    elif type_of(kind) in TYPE_NAMES:
        found = column.to_pylist()
    else:
        found = [True] * len(column)
    return [value if is_there else None for value, is_there in zip(found, present(column).to_pylist(), strict=True)]


def _read_column(name: str, kind: Any, value: Any, rows: list[Row], notes: list[tuple[str, str]]) -> None:
    """Make rows of a value of the Arrow type *kind*, or a note where no property has this type."""
    found = type_of(kind)
    if value is None:
        rows.append(Row(name, "null", None, "column", -1))
    elif isinstance(value, tuple):
        for field, one in zip(kind, value, strict=True):
            _read_column(f"{name}.{field.name}", field.type, one, rows, notes)
    elif found == "int64" and not -(1 << 63) <= value < 1 << 63:
        notes.append((name, f"{value} is outside int64: no property can hold it"))
    elif found in TYPE_NAMES:
        rows.append(Row(name, found, value, "column", -1))
    else:
        notes.append((name, f"no property has the Arrow type {kind}"))


def _source(row: Row) -> str:
    return row.source if row.offset < 0 else f"{row.source}, byte {row.offset}"


# ---- as text -----------------------------------------------------------------------------------------------------


def written(value: Any) -> str:
    """Write a value as a selector would, shortened."""
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(value).upper()
    elif isinstance(value, bytes):
        text = f'"0x{value[:_WIDTH].hex().upper()}"'
    elif isinstance(value, str):
        text = "'" + value[: 2 * _WIDTH].replace("'", "''") + "'"
        text = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    else:
        text = repr(float(value)) if isinstance(value, float) else str(int(value))
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _columns(rows: Callable[[], Iterator[tuple[str, ...]]], indent: str, width: int | None) -> Iterator[str]:
    """Write rows in columns. What is too wide is cut: first the last column but one, then the last."""
    widths: list[int] = []
    for row in rows():
        widths = [max(wide, cells(cell)) for wide, cell in zip(widths or [0] * len(row), row, strict=True)]
    if width is not None:
        for place, least in ((-2, 12), (-1, 8), (0, 8)):
            excess = len(indent) + sum(widths) + 2 * (len(widths) - 1) - width
            widths[place] -= max(min(excess, widths[place] - least), 0)
    for row in rows():
        shown = [padded(cut(cell, wide), wide) for cell, wide in zip(row, widths, strict=True)]
        yield indent + "  ".join(shown).rstrip()


def _pairs(pairs: tuple[tuple[str, str], ...], width: int | None) -> Iterator[str]:
    """Write what there is to say of each name beside it, on several lines if need be."""
    wide = max(cells(name) for name, _ in pairs)
    for name, text in pairs:
        line = f"    {padded(name, wide)}  {text}"
        if width is None:
            yield line
        else:
            yield from textwrap.wrap(line, width, subsequent_indent=" " * min(wide + 6, width // 2))


def _cells(found: Found) -> Iterator[tuple[str, ...]]:
    for place, row in enumerate(found.rows()):
        if place == 0:
            yield "name", "type", "value", "from"
        yield row.name, row.type, written(row.value), _source(row)


def table(where: str, found: Found, width: int | None = None) -> Iterator[str]:
    """Write the lines of a table.

    Args:
        width: the most cells a line may take.
    """
    yield where
    empty = True
    for line in _columns(partial(_cells, found), "  ", width):
        yield line
        empty = False
    if empty:
        yield "  no properties"
    for title, more in (("skipped", found.skipped), ("structures", found.structures)):
        if more:
            yield f"  {title}"
            yield from _pairs(more, width)


def as_json(where: str, found: Found) -> Iterator[str]:
    """Write one JSON object, in pieces."""
    # As json.dumps would write the whole of it.
    yield f'{{"message": {_json(where)}, "properties": ['
    for place, row in enumerate(found.rows()):
        one = {"name": row.name, "type": row.type, "value": plain(row.value), "from": _source(row)}
        yield f"{', ' if place else ''}{_json(one)}"
    skipped = [{"what": what, "why": why} for what, why in found.skipped]
    structures = [{"name": name, "where": place} for name, place in found.structures]
    yield f'], "skipped": {_json(skipped)}, "structures": {_json(structures)}}}\n'
