"""What the properties of a message are, where each came from, and what was skipped: as rows, as a table, as JSON.

What ``mqsel inspect`` prints; prints nothing itself. MQ messages are inspected by `mqsel.formats`, records by the table
of their schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from mqsel import formats
from mqsel.errors import DecodeError, FileError, MqselError, PropertyTypeError, shortened
from mqsel.files.dumps import Piece
from mqsel.files.framings import FRAMINGS
from mqsel.formats import records
from mqsel.formats.jsonl import object_from_json, typed
from mqsel.names import JMS_DESCRIPTOR
from mqsel.values import CLASS_NAMES

_json = partial(json.dumps, ensure_ascii=False)
_WIDTH = 60  # characters of a value that a table shows


class Line(NamedTuple):
    """One property: its name, type and value, and where it came from, in words."""

    name: str
    type: str
    value: Any
    source: str


class Found(NamedTuple):
    """What one message has: properties, what was skipped of it as (what, why), and structures as (name, place).

    The lines are made anew at each call: a message may have a million properties.
    """

    lines: Callable[[], Iterator[Line]]
    skipped: tuple[tuple[str, str], ...]
    structures: tuple[tuple[str, str], ...] = ()


def inspected(
    source: Iterable[bytes | Piece | FileError], kind: str, types: Mapping[str, str]
) -> Iterator[tuple[int, Found | MqselError]]:
    """Inspect the messages of a file.

    Args:
        source: lines, or pieces of a file of bytes.
        kind: the format, as the command line names it.
        types: of properties whose record lost them.

    Returns: for each message its place, and what it has or why it is none.
    """
    reader = None if kind in ("json", *FRAMINGS) else records.reader(kind, types=types)
    for number, piece in enumerate(source, 1):
        place = (
            number
            if isinstance(piece, bytes)
            else piece.line or piece.offset
            if isinstance(piece, FileError)
            else piece.place
        )
        try:
            if isinstance(piece, FileError):
                yield place, piece
            elif isinstance(piece, Piece):
                if piece.message is not None:
                    yield place, _of_bytes(piece.message)
            elif piece.strip():
                record = object_from_json(piece)
                yield place, _of_json(record) if reader is None else _of_record(reader, record)
        except (PropertyTypeError, DecodeError) as error:
            yield place, error


def _of_bytes(message: bytes) -> Found:
    found = formats.inspect(message)
    return Found(
        lambda: (
            Line(row.name, row.type, row.value, row.source if row.offset < 0 else f"{row.source}, byte {row.offset}")
            for row in found.rows
            if not row.name.startswith(JMS_DESCRIPTOR)  # the field itself stands there, as Root.MQMD.
        ),
        tuple(
            (
                f"{note.structure} at byte {note.offset}",
                f"{note.what}: {note.message}" + (f" [{note.reason}]" if note.reason else ""),
            )
            for note in found.notes
        ),
        tuple((name, f"byte {offset}, {length:,} bytes") for name, offset, length in found.structures),
    )


def _of_json(record: dict[str, Any]) -> Found:
    lines, skipped = [], []
    for name, written in record.items():
        value = written
        if isinstance(value, (dict, list)):
            try:
                value = typed(name, value)
            except PropertyTypeError as error:
                skipped.append((name, error.message))
                continue
        lines.append(Line(name, CLASS_NAMES[type(value)], value, "JSON"))
    return Found(lines.__iter__, tuple(skipped))


def _of_record(reader: records.RecordReader, record: dict[str, Any]) -> Found:
    reader.unread.clear()
    message = reader(record)
    paths = {header.name: header.path for header in reader.schema.headers}
    lines, skipped = [], []
    for name, value in message.items():
        source = ".".join(paths.get(name) or (*reader.schema.members.path, name))
        if reader.unread[name]:
            skipped.append((name, f"{shortened(reader.lost[name])} in {source} is no value of its type: NULL instead"))
        elif type(value) in CLASS_NAMES:
            lines.append(Line(name, CLASS_NAMES[type(value)], value, source))
        else:
            skipped.append((name, f"{shortened(value)} in {source} is no value of a property"))
    return Found(lines.__iter__, tuple(skipped))


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


def _columns(rows: Callable[[], Iterator[tuple[str, ...]]]) -> Iterator[str]:
    widths: list[int] = []
    for row in rows():
        widths = [max(width, len(cell)) for width, cell in zip(widths or [0] * len(row), row, strict=True)]
    for row in rows():
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cells(found: Found) -> Iterator[tuple[str, ...]]:
    for place, line in enumerate(found.lines()):
        if place == 0:
            yield "name", "type", "value", "from"
        yield line.name, line.type, written(line.value), line.source


def table(where: str, found: Found) -> Iterator[str]:
    """Write the lines of a table."""
    yield where
    empty = True
    for line in _columns(partial(_cells, found)):
        yield line
        empty = False
    if empty:
        yield "  no properties"
    for title, more in (("skipped", found.skipped), ("structures", found.structures)):
        if more:
            yield f"  {title}"
            yield from (f"  {line}" for line in _columns(more.__iter__))


def as_json(where: str, found: Found) -> Iterator[str]:
    """Write one JSON object, in pieces."""
    # As json.dumps would write the whole of it.
    yield f'{{"message": {_json(where)}, "properties": ['
    for place, line in enumerate(found.lines()):
        one = {"name": line.name, "type": line.type, "value": _plain(line.value), "from": line.source}
        yield f"{', ' if place else ''}{_json(one)}"
    skipped = [{"what": what, "why": why} for what, why in found.skipped]
    structures = [{"name": name, "where": place} for name, place in found.structures]
    yield f'], "skipped": {_json(skipped)}, "structures": {_json(structures)}}}\n'


def _plain(value: Any) -> Any:
    """Give a value as JSON holds it, as `mqsel match` reads it back."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
