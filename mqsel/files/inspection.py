"""One message of a file: found by its place, and inspected: its properties, where each came from, what was skipped.

Messages are inspected by the rows of `mqsel.formats.FORMATS`, rows of Parquet by their columns. Prints nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel import formats
from mqsel.columns.lookup import present, type_of
from mqsel.errors import FileError, MqselError, PropertyTypeError
from mqsel.files import parquet
from mqsel.files.arrays import opened_messages
from mqsel.files.dumps import MAX_MESSAGE, STRUC_IDS, Piece
from mqsel.files.framings import FORMATS, format_of, pieces, place_of, schema_of, shown, start_of
from mqsel.files.listing import list_message
from mqsel.files.parts import FilePart
from mqsel.files.run.work import Job, of_rows
from mqsel.files.wordings import long_line
from mqsel.formats.inspection import Row
from mqsel.formats.jsonl import object_from_json
from mqsel.names import DESCRIPTOR, JMS_DESCRIPTOR
from mqsel.values import CLASS_NAMES, TYPE_NAMES

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

_ROWS = 1 << 10  # of a Parquet file, read at once
_OBJECT = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*\{")


class InspectedMessage(NamedTuple):
    """What one message has, in words.

    Attributes:
        place: the line or the row, from 1; of what has no lines the byte.
        rows: its properties, made anew at each call: a message may have a million.
        skipped: of it, as (what, why).
        structures: as (name, place).
        columns: of a row of Parquet, the batch of this row alone.
    """

    place: int
    rows: Callable[[], Iterator[Row]]
    skipped: tuple[tuple[str, str], ...]
    structures: tuple[tuple[str, str], ...]
    columns: pa.RecordBatch | None = None


class Inspect(Job):
    """Yields what each message has as it is printed; see `Form`, which it takes. What cannot be read counts, too.

    A record is a list of one element: the place of a message and the text that follows it, or more of that text.
    """

    reported = math.inf

    def read(self, data: bytes) -> Any:
        return formats.FORMATS[FORMATS[self.ask.format].message or ""].inspect(data, dict(self.ask.types))

    def take(self, result: Any, place: int, _piece: Piece | None = None, _path: str = "") -> Iterator[Any]:
        message = InspectedMessage(
            place,
            # A field that has two names stands there as Root.MQMD.
            lambda: (
                row
                for row in result.rows
                if not (row.name.startswith(JMS_DESCRIPTOR) and row.source.startswith(DESCRIPTOR))
            ),
            tuple(
                (
                    f"{note.structure} at byte {note.offset}" if note.structure else note.what,
                    (f"{note.what}: " if note.structure else "")
                    + note.message
                    + (f" [{note.reason}]" if note.reason else ""),
                )
                for note in result.notes
            ),
            tuple((name, f"byte {offset}, {length:,} bytes") for name, offset, length in result.structures),
        )
        yield from self._listed(message)

    def _listed(self, message: InspectedMessage) -> Iterator[list[Any]]:
        texts = list_message(self.selects, *message[1:4])
        yield [(message.place, next(texts))]
        for text in texts:
            yield [text]

    def rows(self, part: FilePart) -> Iterator[Any]:
        try:
            for message in of_columns(part.path, groups=(part.start, part.stop)):
                self.seen += 1
                yield from self._listed(_with_path(message, part.fixed))
                if self.is_over:
                    break
        except FileError as error:
            yield of_rows(error, part.path)
        self.counts.lines = self.seen
        self.end()
        yield self.counts

    def end(self) -> None:
        self.counts.messages = self.counts.selected = self.seen


def _with_path(message: InspectedMessage, fixed: tuple[tuple[str, Any], ...]) -> InspectedMessage:
    """Add what the directories in the path say of a row, but for what the file has as a column."""
    if not fixed:
        return message
    rows = [*message.rows()]
    columns = {name.partition(".")[0] for name in (*(row.name for row in rows), *(name for name, _ in message.skipped))}
    rows += [Row(name, CLASS_NAMES[type(value)], value, "path", -1) for name, value in fixed if name not in columns]
    return message._replace(rows=rows.__iter__)


def of_columns(path: str, first: int = 0, groups: tuple[int, int] = (0, -1)) -> Iterator[InspectedMessage]:
    """Inspect the rows of a Parquet file: fields of a struct have the names of the struct and of the field.

    Args:
        first: the row to begin with, from 0.
        groups: the first row group, from which rows count, and the one behind the last; negative for all.

    Raises: FileError: it cannot be read.
    """
    place = first
    with parquet.opened(path) as file, parquet.trouble_of(path):
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        numbers = [*range(len(sizes))][groups[0] : groups[1] if groups[1] >= 0 else None]
        while numbers and first >= sizes[numbers[0]]:
            first -= sizes[numbers.pop(0)]
        for batch in file.iter_batches(_ROWS, row_groups=numbers, use_threads=False):
            skipped, first = min(first, batch.num_rows), max(first - batch.num_rows, 0)
            yield from inspected_rows(batch.slice(skipped), place)
            place += batch.num_rows - skipped


def inspected_rows(batch: pa.RecordBatch, before: int) -> Iterator[InspectedMessage]:
    """Inspect the rows of a batch.

    Args:
        before: rows that stand before it.
    """
    values = [_values(column) for column in batch.columns]
    for number, row in enumerate(zip(*values, strict=True) if values else [()] * batch.num_rows):
        rows: list[Row] = []
        notes: list[tuple[str, str]] = []
        for column, value in zip(batch.schema, row, strict=True):
            _read_column(column.name, column.type, value, rows, notes)
        yield InspectedMessage(before + number + 1, rows.__iter__, tuple(notes), (), batch.slice(number, 1))


def _values(column: pa.Array) -> list[Any]:
    """List the values of a column: of a struct tuples, of what no property has only whether it is there."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    kind = column.type
    if pa.types.is_struct(kind):
        fields = [_values(field) for field in column.flatten()]
        values: list[Any] = [*zip(*fields, strict=True)] if fields else [()] * len(column)
    elif type_of(kind) in TYPE_NAMES:
        values = column.to_pylist()
    else:
        values = [True] * len(column)
    return [value if is_there else None for value, is_there in zip(values, present(column).to_pylist(), strict=True)]


def _read_column(name: str, kind: Any, value: Any, rows: list[Row], notes: list[tuple[str, str]]) -> None:
    """Add the rows of a value of the Arrow type *kind*, or a note where no property has this type."""
    name_of_type = type_of(kind)
    if value is None:
        rows.append(Row(name, "null", None, "column", -1))
    elif isinstance(value, tuple):
        for field, one in zip(kind, value, strict=True):
            _read_column(f"{name}.{field.name}", field.type, one, rows, notes)
    elif name_of_type == "int64" and not -(1 << 63) <= value < 1 << 63:
        notes.append((name, f"{value} is outside int64: no property can hold it"))
    elif name_of_type in TYPE_NAMES:
        rows.append(Row(name, name_of_type, value, "column", -1))
    else:
        notes.append((name, f"no property has the Arrow type {kind}"))


# ---- one message -----------------------------------------------------------------------------------------------------


class FoundMessage(NamedTuple):
    """A message that somebody asked for.

    Attributes:
        data: its bytes; of a row of Parquet its properties by name.
        kind: the format it is read as, a name of `mqsel.files.framings.FORMATS`.
        where: its place in a file; empty where there is but this one.
        columns: of a row of Parquet, the batch of this row alone.
        is_whole: it is all of its file, whose format is not known.
        has_others: it is the first of several.
    """

    data: Any
    kind: str
    where: str = ""
    columns: Any = None
    is_whole: bool = False
    has_others: bool = False


def find_message(
    name: str, wanted: str | None, place: int | None = None, nth: int | None = None, max_size: int = MAX_MESSAGE
) -> FoundMessage:
    """Find a message of a file; the first, if nothing says which.

    Args:
        wanted: the format of the file; None: found by its first bytes.
        place: the line of the message, or its byte where messages have no lines; of Parquet the row.
        nth: its number, from 1, if there is no place.
        max_size: the most bytes of a line, and of a file that is one message.

    Raises: MqselError: there is no such message, or it cannot be read. FileError: the file cannot be read.
    """
    with opened_messages(name) as (_, content):
        kind = wanted or format_of(content, name)
        is_any = place is None and nth is None
        if FORMATS[kind or "json"].message is None:
            return _row(name, kind or "", place or nth or 1, is_any=is_any)
        if kind is None and is_any and not _OBJECT.match(start_of(content)):
            text = content.read(max_size + 1)
            if len(text) > max_size:
                raise long_line(max_size)
            return _first(name, text)
        return _piece(name, kind or "json", pieces(content, kind or "json", name, max_size=max_size), place, nth)


def alone(text: bytes, wanted: str | None, name: str = "MESSAGE") -> FoundMessage:
    """Return what is one message, on one line or on several."""
    if wanted is None:
        with suppress(PropertyTypeError):  # reported when it is read
            wanted = schema_of([object_from_json(text)], name)
    return FoundMessage(text, wanted or "json")


def _first(name: str, text: bytes) -> FoundMessage:
    """Return the message that a text is, or the first of its lines."""
    if text[:4] in STRUC_IDS:
        return FoundMessage(text, "mq")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise MqselError(f"{shown(name)}: there is no message")
    if len(lines) > 1 and all(line.strip()[:1] == b"{" and line.strip()[-1:] == b"}" for _, line in lines[:2]):
        return FoundMessage(lines[0][1], "json", place_of(name, "json", lines[0][0]), has_others=True)
    return alone(text, None, name)._replace(is_whole=True)


def _piece(
    name: str, kind: str, source: Iterable[Piece | FileError], place: int | None, nth: int | None
) -> FoundMessage:
    """Find the message that stands at a line, or a byte, or that is the *nth*."""
    last: tuple[int, Piece | FileError] | None = None
    is_lines, messages, has_others = FORMATS[kind].is_lines, 0, False
    for line, piece in enumerate(source, 1):
        if isinstance(piece, Piece) and piece.message is None:
            continue
        at = line if is_lines else piece.place if isinstance(piece, Piece) else piece.line or piece.offset
        if place is not None and at > place:
            break
        messages += 1
        if place is None and messages > (nth or 1):
            has_others = nth is None
            break
        last = at, piece
    if last is None or messages < (nth or 1) or (place is not None and is_lines and last[0] != place):
        what = f"in line {place:,}" if place is not None else f"{nth or 1:,}: there are {messages:,}"
        raise MqselError(f"{shown(name)}: there is no message {what}")
    at, piece = last
    where = place_of(name, kind, at)
    if isinstance(piece, FileError):
        raise MqselError(f"{where}: {piece.message}", hint=piece.hint)
    is_alone = place is nth is None and not has_others if is_lines else piece.raw is piece.message
    return FoundMessage(piece.message, kind, "" if is_alone else where, has_others=has_others)


_CLASSES = {name: kind for kind, name in CLASS_NAMES.items()}


def _row(name: str, kind: str, number: int, *, is_any: bool) -> FoundMessage:
    """Read a row of Parquet."""
    rows = [*islice(of_columns(name, number - 1), 2)]
    if not rows:
        raise MqselError(f"{shown(name)}: there is no row {number:,}")
    return found_row(rows[0], kind, place_of(name, kind, number))._replace(has_others=is_any and len(rows) > 1)


def found_row(row: InspectedMessage, kind: str, where: str) -> FoundMessage:
    """Return a row of columns that was inspected as a message of the format *kind*."""
    values = {one.name: None if one.value is None else _CLASSES[one.type](one.value) for one in row.rows()}
    return FoundMessage(values, kind, where, row.columns)
