"""Blocks of messages in memory: the raw messages, and columns of their properties, to which a selector is applied.

JSON lines become a column for each type that a property has: rows with properties of other types than most have are
evaluated again, with the columns of theirs. What no column holds, such as a list, and messages of other formats go
through the machine one by one. So a row is what `mqsel match` counts it as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from mqsel.analysis.explain.account import Profiler
from mqsel.columns.lookup import may_be_read
from mqsel.errors import DecodeError, FileError, PropertyTypeError
from mqsel.files import parquet
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, place_of
from mqsel.files.inspection import FoundMessage, found_row, inspected_rows
from mqsel.files.parts import FilePart
from mqsel.files.rows import lines
from mqsel.files.run.work import Ask, Job, everything, of_rows, reader
from mqsel.formats.jsonl import in_json, json_text, object_from_json, typed
from mqsel.language.dialect import core_of
from mqsel.matcher import Matcher
from mqsel.sets.set import SelectorSet
from mqsel.values import CLASS_NAMES

STATES = NOT_SELECTED, SELECTED, UNKNOWN, SKIPPED = range(4)  # what a row is for a selector
_ROWS = 1 << 16  # of a block: a question that is cancelled goes on for 5 ms at most
_ALONE = 1 << 12  # of a block whose messages go through the machine one by one
_BROKEN = (PropertyTypeError, DecodeError)

Selects = Matcher | SelectorSet[str]
Columns = dict[str, dict[str, pa.Array]]  # for each property the column of each of its types, "" for what has none


class Block(NamedTuple):
    """Messages that follow each other in a file.

    Attributes:
        path: the file.
        kind: its format, a name of `mqsel.files.framings.FORMATS`.
        first: added to each place: where the part of the file begins.
        places: where the messages stand, as errors name it, a column; of rows their numbers, a range.
        raw: the messages, a column; None where they are rows.
        columns: of JSON; None for other formats.
        table: the rows of a Parquet file; None for other formats.
    """

    path: str
    kind: str
    first: int
    places: Any
    raw: Any
    columns: Columns | None = None
    table: Any = None

    @property
    def rows(self) -> int:
        return len(self.places)

    @property
    def bytes(self) -> int:
        """What it takes in memory, about."""
        columns = [one for kinds in (self.columns or {}).values() for one in kinds.values()]
        return 8 * self.rows + sum(int(one.nbytes) for one in (self.table, self.raw, *columns) if one is not None)

    def found(self, row: int) -> FoundMessage:
        """Return a message as `mqsel.files.judgement` takes it."""
        place = self.places[row]
        where = place_of(self.path, self.kind, self.first + (place if self.raw is None else place.as_py()))
        if self.raw is not None:
            return FoundMessage(self.raw[row].as_py(), self.kind, where)
        batch = self.table.slice(row, 1).combine_chunks().to_batches()[0]
        return found_row(next(inspected_rows(batch, row)), self.kind, where)

    def text(self, row: int, values: Mapping[str, Any]) -> str:
        """Return a message as people read it: a line of the file, or of JSON with its properties."""
        if self.raw is None:
            return lines(self.table.slice(row, 1)).decode("utf-8", "replace").strip()
        if FORMATS[self.kind].is_lines:
            return str(self.raw[row].as_py().decode("utf-8", "replace").strip())
        return json_text(in_json(values))


def values_of(found: FoundMessage, types: Mapping[str, str]) -> dict[str, Any]:
    """Return all properties of a message; none of one that is broken."""
    if FORMATS[found.kind].message is None:
        return dict(found.data)
    with suppress(*_BROKEN):
        return everything(found.kind, found.data, types)
    return {}


# ---- reading ---------------------------------------------------------------------------------------------------------


class Collect(Job):
    """Yields the messages in blocks; complaints about what is no message on the way."""

    def __init__(self, selects: None, ask: Ask) -> None:
        super().__init__(selects, ask)
        self._is_json = ask.format == "json"
        self._taken: list[tuple[Any, int, bytes]] = []
        self._path = ""

    def read(self, data: bytes) -> Any:
        return object_from_json(data) if self._is_json else True

    def take(self, result: Any, place: int, piece: Piece, path: str) -> Iterator[Block]:
        self._taken.append((result, place, piece.message or b""))
        self._path = path
        if len(self._taken) == (_ROWS if self._is_json else _ALONE):
            yield from self.kept()

    def kept(self) -> Iterator[Any]:
        if self._taken:
            objects, places, raw = zip(*self._taken, strict=True)
            self._taken = []
            columns = columns_of(objects) if self._is_json else None
            held = pa.array(places, pa.int64()), pa.array(raw, pa.large_binary())
            yield Block(self._path, self.ask.format, 0, *held, columns)

    def rows(self, part: FilePart) -> Iterator[Any]:
        try:
            with parquet.opened(part.path) as file, parquet.trouble_of(part.path):
                stop = file.metadata.num_row_groups if part.stop < 0 else part.stop
                for batch in file.iter_batches(_ROWS, row_groups=[*range(part.start, stop)], use_threads=False):
                    table = pa.Table.from_batches([batch])
                    for name, value in part.fixed:
                        if name not in batch.schema.names:
                            table = table.append_column(name, pa.array([value] * len(table)))
                    yield from in_blocks(table, part.path, self.counts.messages + 1)
                    self.counts.messages += len(table)
        except (FileError, PropertyTypeError) as error:
            yield of_rows(error, part.path)
        self.counts.lines = self.counts.messages
        yield self.counts


def in_blocks(table: pa.Table, path: str, first: int = 1) -> Iterator[Block]:
    """Return the blocks of rows, the first of which has the number *first*."""
    for start in range(0, table.num_rows, _ROWS):
        piece = table.slice(start, _ROWS)
        for place, (field, column) in enumerate(zip(piece.schema, piece.columns, strict=True)):
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                piece = piece.set_column(place, field.name, _shortened(column.combine_chunks()))
        yield Block(path, "parquet", first + start, range(piece.num_rows), None, None, piece)


def columns_of(messages: Iterable[dict[str, Any]]) -> Columns:
    """Return the columns of messages."""
    names = dict.fromkeys(name for message in messages for name in message)
    return {name: _columns(name, [message.get(name) for message in messages]) for name in names}


def _columns(name: str, values: list[Any]) -> dict[str, pa.Array]:
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) == 1 and (kind := CLASS_NAMES.get(kinds.pop())):
        with suppress(OverflowError, pa.ArrowInvalid, UnicodeEncodeError):  # they are sorted out below
            return {kind: _column(kind, values)}
    by_type: dict[str, list[Any]] = {}
    for row, value in enumerate(values):
        if value is not None:
            kind, one = _typed(name, value)
            if kind not in by_type:
                by_type[kind] = [None] * len(values)
            by_type[kind][row] = one
    by_type.pop("null", None)
    columns = {kind: _column(kind, column) for kind, column in by_type.items()}
    return dict(sorted(columns.items(), key=lambda one: one[1].null_count))


def _typed(name: str, value: Any) -> tuple[str, Any]:
    """Return the type of a value and what a column has of it; no type where only the machine can tell."""
    if type(value) is dict:
        with suppress(PropertyTypeError):
            value = typed(name, value)
    kind = CLASS_NAMES.get(type(value), "")
    is_wide = kind == "int64" and not -(1 << 63) <= value < 1 << 63
    is_no_text = kind == "string" and not _is_text(value)
    return ("", True) if is_wide or is_no_text or not kind else (kind, value)


_ARROW = {"": "bool_", "boolean": "bool_", "bytes": "binary", "string": "large_string"}


def _column(kind: str, values: list[Any]) -> pa.Array:
    column = pa.array(values, getattr(pa, _ARROW.get(kind, kind))())
    return _shortened(column) if kind == "string" else column


def _shortened(column: pa.Array) -> pa.Array:
    """Return a column of texts as a dictionary, where most of them repeat: each text is compared once."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    few = column.dictionary_encode()
    return few if len(few.dictionary) * 4 < len(column) else column


# ---- selectors -------------------------------------------------------------------------------------------------------


# Rows whose properties have one type each: a mask, None for all rows, and the columns of all rows, of these types.
Group = tuple[pa.BooleanArray | None, pa.Table]


def groups(block: Block, selects: Selects, *, whole: bool = False) -> tuple[list[Group], pa.BooleanArray | None]:
    """Return the rows by the types of properties, and which rows only the machine can judge.

    The first group has the commonest type of each.

    Args:
        selects: what reads the properties.
        whole: with what else the messages have, of which only the presence counts.
    """
    if block.table is not None:
        return [(None, block.table)], None
    if block.columns is None or any("\0" in name for name in selects.properties):  # no column has such a name
        return [], pa.array([True] * block.rows)
    used: Columns = {}
    odd: list[pa.BooleanArray] = []
    read = _columns_read(block.columns, selects)
    passed = {name for names in read for name in names}
    for names in read:
        # If a block has several spellings of a property, the machine knows which one counts for a message.
        is_single = len(names) == 1 and _is_text(names[0])
        for name in names:
            odd += [column.is_valid() for kind, column in block.columns[name].items() if not kind or not is_single]
        if is_single:
            used[names[0]] = {kind: column for kind, column in block.columns[names[0]].items() if kind}
    rest = {name: _present([*kinds.values()]) for name, kinds in block.columns.items() if kinds and name not in passed}
    columns = {name: column for name, column in rest.items() if whole and _is_name(name)}
    odd += [column.is_valid() for name, column in rest.items() if whole and not _is_name(name)]
    columns |= {name: next(iter(kinds.values())) for name, kinds in used.items() if len(kinds) == 1}
    mixed = {name: [*kinds.values()] for name, kinds in used.items() if len(kinds) > 1}
    is_odd = reduce(pc.or_, odd) if odd else None
    found = []
    for choice in product(*(range(len(kinds)) for kinds in mixed.values())):
        masks = [] if is_odd is None else [pc.invert(is_odd)]
        for place, (name, kinds) in zip(choice, mixed.items(), strict=True):
            columns[name] = kinds[place]
            # Rows without a value go with the first type.
            masks.append(kinds[place].is_valid() if place else pc.invert(_any(kinds[1:])))
        mask = reduce(pc.and_, masks) if masks else None
        if mask is None or mask.true_count:
            found.append((mask, pa.table(columns or {"": pa.nulls(block.rows)})))
    return found, is_odd


def _columns_read(columns: Columns, selects: Selects) -> list[list[str]]:
    """Return for each property that is read the columns that may be it, in the spellings that messages have."""
    names = [*columns]
    is_set = isinstance(selects, SelectorSet)  # of selectors by several rules
    usual = ("mqi", "sections") if is_set else (core_of(selects.dialect).naming,)
    found = []
    for name in selects.properties:
        rules = ("folded",) if name in selects.in_any_case else usual
        places = dict.fromkeys(place for rule in rules for place in may_be_read(names, [name], rule))
        found += [[names[place] for place in places]] * bool(places)
    return found


def _is_text(text: str) -> bool:
    """Report whether Arrow has a text, which half of a surrogate pair is not."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _is_name(text: str) -> bool:
    """Report whether a column can have this name."""
    return "\0" not in text and _is_text(text)


def _any(columns: list[pa.Array]) -> pa.BooleanArray:
    return reduce(pc.or_, (one.is_valid() for one in columns))


def _present(columns: list[pa.Array]) -> pa.Array:
    """Return a column with a value where one of several has one."""
    return columns[0] if len(columns) == 1 else pc.if_else(_any(columns), True, None)


def states(block: Block, selects: Selects, types: Mapping[str, str]) -> pa.Array:
    """Return what each row is: one of `NOT_SELECTED`, `SELECTED`, `UNKNOWN`, `SKIPPED`; of a set, for any selector.

    Raises: PropertyTypeError: a column of a Parquet file has a type that no property has.
    """
    result = None
    found, odd = groups(block, selects)
    for mask, table in found:
        # The first one as if it were all: the others are written over it.
        one = _states(table if result is None else table.filter(mask), selects)
        result = one if result is None else pc.replace_with_mask(result, mask, one)
    if odd is not None and odd.true_count:
        judge = _judge(block.kind, selects, types)
        alone = pa.array([judge(data) for data in block.raw.filter(odd).to_pylist()], pa.int8())
        result = pa.nulls(block.rows, pa.int8()) if result is None else result
        result = pc.replace_with_mask(result, odd, alone)
    return result


def _states(table: pa.Table, selects: Selects) -> pa.Array:
    if isinstance(selects, SelectorSet):
        truth = pc.greater(pc.list_value_length(selects.match_batch(table)), 0)
        return pc.fill_null(pc.cast(truth, pa.int8()), SKIPPED)
    truth = pc.fill_null(pc.cast(selects.truth_batch(table), pa.int8()), UNKNOWN)
    if core_of(selects.dialect).answers_all:
        return truth
    return pc.if_else(selects.match_batch(table).is_null(), pa.scalar(SKIPPED, pa.int8()), truth)


def _judge(kind: str, selects: Selects, types: Mapping[str, str]) -> Callable[[bytes], int]:
    """Return what evaluates raw messages one by one."""
    decode = reader(kind, selects, types=types)

    def judge(data: bytes) -> int:
        try:
            message = decode(data)
            if isinstance(selects, SelectorSet):
                return SELECTED if selects.match(message) else NOT_SELECTED
            if isinstance(message, bool) or selects.matches(message):
                return int(message is not False)
        except _BROKEN:
            return SKIPPED
        # A value that is no property counts only if `mqsel match` reads it, which ends where the answer is known.
        try:
            return int(selects.evaluate(message))
        except _BROKEN:
            return NOT_SELECTED

    return judge


def profile(block: Block, matcher: Matcher, profiler: Profiler, types: Mapping[str, str]) -> None:
    """Count why the messages of a block are selected, or are not."""
    found, odd = groups(block, matcher, whole=True)
    for mask, table in found:
        for batch in (table if mask is None else table.filter(mask)).to_batches():
            profiler.take_batch(batch)
    if odd is not None and odd.true_count:
        decode, kind = reader(block.kind, matcher, types=types), FORMATS[block.kind].message or ""
        for data in block.raw.filter(odd).to_pylist():
            try:
                profiler.take_raw(data, kind, decode(data), types)
            except _BROKEN:
                profiler.account.skipped += 1
