"""Parquet files, read by what a selector needs: first its properties, then the rest of what it selects.

A row group of which nothing is selected gives up no other column. Rows never become Python objects here. pyarrow is
imported where something is called. Follows formats §8: Parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel.errors import shortened_line
from mqsel.files.wordings import file_trouble
from mqsel.machine import wordings
from mqsel.matcher import Matcher
from mqsel.names import follow, spellings
from mqsel.values import Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

MAGIC = b"PAR1"
_ROWS = 1 << 16  # read at once of the columns that the selector does not need


@contextmanager
def trouble_of(path: str) -> Iterator[None]:
    """Turn what the reader of a damaged file raises into a FileError.

    Raises: FileError.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise wordings.package_missing("a Parquet file", "pyarrow", "arrow") from error
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # OSError: damaged pages too
        raise file_trouble(path, shortened_line(getattr(error, "strerror", None) or str(error))) from error


def opened(path: str, names: Iterable[str] = ()) -> Any:
    """Open a file.

    Args:
        names: columns of strings that repeat: each text is kept, and compared, once.

    Returns: a `pyarrow.parquet.ParquetFile`.

    Raises: FileError: it is none.
    """
    with trouble_of(path):
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

        file = pq.ParquetFile(path, read_dictionary=list(names), coerce_int96_timestamp_unit="us")
        known = file.schema_arrow.names  # of damaged ones some are no UTF-8
    if len(set(known)) < len(known):
        raise file_trouble(path, f"two columns are called {next(name for name in known if known.count(name) > 1)}")
    return file


def group_sizes(path: str) -> list[int]:
    """List the bytes of every row group, unpacked.

    Raises: FileError.
    """
    with opened(path) as file:
        # The sizes of columns would say more; but pyarrow 26 ends the process where statistics of one are damaged.
        return [file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups)]


def columns_read(matcher: Matcher, schema: pa.Schema) -> list[str]:
    """List the columns that a selector may read: of its properties, or of the structs that they are fields of."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    whole = pa.struct(list(schema))
    wanted = {places[0] for name in matcher.properties if (places := _places(matcher, name, whole))}
    return [name for place, name in enumerate(schema.names) if place in wanted]


def _places(matcher: Matcher, name: str, whole: pa.StructType) -> tuple[int, ...]:
    """Find the column of a property as `Matcher.match_batch` does: the places of the fields, empty if none is it."""

    def field(around: _Place, name: str) -> _Place | None:
        import pyarrow as pa  # noqa: PLC0415 (optional)

        kind, places = around
        place = kind.get_field_index(name) if pa.types.is_struct(kind) else -1
        return None if place < 0 else (kind.field(place).type, (*places, place))

    start: _Place = whole, ()
    for one in spellings(name, matcher.dialect.headers):
        found = follow(one, start, field)
        if found is not None:
            return found[1]
    return ()


_Place = tuple[Any, tuple[int, ...]]  # a type, and the places of the fields that led to it


class Group(NamedTuple):
    """A row group, and what a selector needs of it.

    Attributes:
        file: a `pyarrow.parquet.ParquetFile`, open.
        number: of the group in the file.
        rows: how many it has.
        table: the columns that the selector needs.
    """

    file: Any
    number: int
    rows: int
    table: pa.Table


class Counts(NamedTuple):
    """What a selector was for the rows of a group.

    Attributes:
        rows: how many were looked at.
        unknown: for how many it was UNKNOWN.
        missing: for each property, how many of these did not have it.
    """

    rows: int
    unknown: int
    missing: dict[str, int]


def groups(matcher: Matcher, path: str, start: int, stop: int) -> Iterator[Group]:
    """Read of row groups what a selector needs.

    Args:
        start: the first row group.
        stop: the one behind the last; -1 for all.

    Raises: FileError.
    """
    with opened(path) as file:
        import pyarrow as pa  # noqa: PLC0415 (optional)

        own = columns_read(matcher, file.schema_arrow)
        texts = [name for name in own if pa.types.is_string(file.schema_arrow.field(name).type)]
    with opened(path, texts) as file:
        for number in range(start, file.metadata.num_row_groups if stop < 0 else stop):
            with trouble_of(path):
                table = file.read_row_group(number, columns=own, use_threads=False)
            yield Group(file, number, file.metadata.row_group(number).num_rows, table)


def counted(matcher: Matcher, group: Group, *, is_inverted: bool, limit: int | None) -> tuple[Counts, pa.BooleanArray]:
    """Evaluate a row group in three values, and count.

    Args:
        is_inverted: ask for the rows that are not selected.
        limit: look at no row behind this many that are asked for.

    Returns: the counts; and which rows are asked for, shape (rows of the group,), without nulls.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    if group.table.num_columns:
        truth = matcher.truth_batch(group.table)
    else:
        constant = matcher.evaluate({})
        value = None if constant is Truth.UNKNOWN else bool(constant)
        truth = pa.repeat(pa.scalar(value, pa.bool_()), group.rows)
    mask = pc.fill_null(truth, False)
    mask = pc.invert(mask) if is_inverted else mask
    rows = group.rows
    if limit is not None and mask.true_count > limit:
        rows = pc.indices_nonzero(mask)[limit - 1].as_py() + 1
        truth = truth.slice(0, rows)
        mask = pa.concat_arrays([mask.slice(0, rows), pa.repeat(False, group.rows - rows)])
    missing = {}
    if truth.null_count:
        table = group.table.slice(0, rows).to_struct_array()
        for name in matcher.properties:
            places = _places(matcher, name, table.type)
            nulls = pc.struct_field(table, list(places)).is_null() if places else pa.repeat(True, rows)
            missing[name] = pc.sum(pc.and_(truth.is_null(), nulls)).as_py() or 0
    return Counts(rows, truth.null_count, missing), mask


def taken(path: str, group: Group, mask: pa.BooleanArray) -> Iterator[pa.RecordBatch]:
    """Read the rows of a row group that a mask selects, in batches of the types of the file; texts may be dictionaries.

    Raises: FileError.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)

    if not mask.true_count:
        return
    names = group.file.schema_arrow.names
    others = [name for name in names if name not in group.table.column_names]
    if not others:
        yield from _batches(group.table.select(names).filter(mask))
        return
    at = 0
    with trouble_of(path):
        for batch in group.file.iter_batches(_ROWS, row_groups=[group.number], columns=others, use_threads=False):
            piece = mask.slice(at, batch.num_rows)
            if piece.true_count:
                table = pa.Table.from_batches([batch])
                for name in group.table.column_names:
                    table = table.append_column(name, group.table.column(name).slice(at, batch.num_rows))
                yield from _batches(table.select(names).filter(piece))
            at += batch.num_rows


def _batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    return iter(table.combine_chunks().to_batches(max_chunksize=_ROWS))
