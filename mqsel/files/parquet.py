"""Parquet files, read as a selector needs them: first its columns, then the other columns of the rows it selects.

If nothing in a row group is selected, its other columns are not read. It is not read at all if its least and greatest
values exclude every row. A column of texts that the file stores as a dictionary
stays one, so that each text is read and compared once. Rows never become Python objects here. pyarrow is imported where
something is called. Follows formats §8: Parquet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel.carets import shortened_line
from mqsel.columns import wordings
from mqsel.columns.lookup import PLAIN, names_of, place_in
from mqsel.errors import MqselError
from mqsel.files._footer import Chunk, chunks
from mqsel.files.extremes import ABSENT, Extremes, is_known, known_value, may_hold, read_extremes
from mqsel.files.opening import check_path, path_of
from mqsel.files.rows import constant, lines
from mqsel.files.wordings import file_trouble, map_hint
from mqsel.language.dialect import core_of
from mqsel.logic.formulas import any_of
from mqsel.machine.origin import selector_of
from mqsel.matcher import Matcher
from mqsel.names import follow, near_names, spellings
from mqsel.values import Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

MAGIC = b"PAR1"
_ROWS = 1 << 16  # read at once of the columns that the selector does not need, if they are short
_BYTES = 1 << 26  # and if they are long
_TAKEN = 1 << 13  # selected rows that are written at once

Fixed = int | str | None  # what a directory such as day=1 says


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
    except MqselError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as error:  # of texts, times and zones
        raise file_trouble(path, shortened_line(getattr(error, "strerror", None) or str(error))) from error


@contextmanager
def _source(path: str) -> Iterator[Any]:
    """Open the bytes of a file, of this machine or at an address, to be read from any place."""
    with trouble_of(path):
        import pyarrow as pa  # noqa: PLC0415 (optional)

        if "://" not in path:
            check_path(path)
        source = path_of(path).open("rb") if "://" in path else pa.OSFile(path)
    with source:
        yield source


@contextmanager
def opened(path: str, source: Any = None, names: Iterable[str] = (), metadata: Any = None) -> Iterator[Any]:
    """Open a file.

    Args:
        source: its bytes, where they are open already.
        names: columns of strings that repeat: each text is kept, and compared, once.
        metadata: of the file, if it was open before.

    Returns: a `pyarrow.parquet.ParquetFile`.

    Raises: FileError: it is none.
    """
    if source is None:
        with _source(path) as own, opened(path, own) as file:
            yield file
        return
    with trouble_of(path):
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

        file = pq.ParquetFile(
            source,
            metadata=metadata,
            read_dictionary=list(names),
            coerce_int96_timestamp_unit="us",
            pre_buffer="://" in path,  # 15 % slower where reading is no journey
        )
        known = file.schema_arrow.names  # of damaged ones some are no UTF-8
    if len(set(known)) < len(known):
        raise file_trouble(path, f"two columns are called {next(name for name in known if known.count(name) > 1)}")
    yield file


def group_sizes(path: str) -> list[int]:
    """List the bytes of every row group, unpacked.

    Raises: FileError.
    """
    with opened(path) as file:
        return [file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups)]


def _footer(path: str, source: Any) -> bytes:
    """Return the footer of a file that is one: what stands before its length and the magic number."""
    with trouble_of(path):
        source.seek(-8, 2)
        size = int.from_bytes(source.read(4), "little")
        source.seek(-8 - size, 2)
        return source.read(size)  # type: ignore[no-any-return]


def columns_read(matcher: Matcher, schema: pa.Schema) -> list[str]:
    """List the columns that a selector may read: of its properties, or of the structs that they are fields of."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    if matcher.in_any_case:  # which of two it is, or that there are two, is found by who reads the rows
        paths = [
            one.split(".") for name in matcher.properties for one in spellings(name, core_of(matcher.dialect).naming)
        ]
        begun = {".".join(path[:stop]).casefold() for path in paths for stop in range(1, len(path) + 1)}
        return [name for name in schema.names if name.casefold() in begun]
    whole = pa.struct(list(schema))
    wanted = {places[0] for name in matcher.properties if (places := _places(matcher, name, whole))}
    return [name for place, name in enumerate(schema.names) if place in wanted]


def _places(matcher: Matcher, name: str, whole: pa.StructType) -> tuple[int, ...]:
    """Find the column of a property as `Matcher.match_batch` does: the places of the fields, empty if none is it."""
    rules = core_of(matcher.dialect).naming

    def field(around: _Place, name: str) -> _Place | None:
        import pyarrow as pa  # noqa: PLC0415 (optional)

        kind, places = around
        place = place_in(kind, name, rules) if pa.types.is_struct(kind) else -1
        return None if place < 0 else (kind.field(place).type, (*places, place))

    start: _Place = whole, ()
    for one in spellings(name, rules):
        found = follow(one, start, field)
        if found is not None:
            return found[1]
    return ()


_Place = tuple[Any, tuple[int, ...]]  # a type, and the places of the fields that led to it


class RowGroup(NamedTuple):
    """A row group, and what a selector needs of it.

    Attributes:
        file: a `pyarrow.parquet.ParquetFile`, open.
        number: of the group in the file.
        rows: how many of them are read.
        table: the columns that the selector needs; None if it is FALSE, or ERR, for all rows.
        fixed: columns that all rows have alike, and the file has not: the value of each.
    """

    file: Any
    number: int
    rows: int
    table: pa.Table | None
    fixed: dict[str, pa.Scalar]


class Counts(NamedTuple):
    """What a selector was for the rows of a group.

    Attributes:
        rows: how many were looked at.
        unknown: for how many it was UNKNOWN.
        missing: for each property, how many of the unknown ones did not have it.
        unanswered: for which rows no document says what it was; None where one says it for all.
    """

    rows: int
    unknown: int
    missing: dict[str, int]
    unanswered: pa.BooleanArray | None = None


def groups(
    matcher: Matcher,
    path: str,
    start: int,
    stop: int,
    *,
    fixed: Mapping[str, Fixed] | None = None,
    is_inverted: bool = False,
    most: int | None = None,
) -> Iterator[RowGroup]:
    """Read of row groups what a selector needs.

    Args:
        start: the first row group.
        stop: the one behind the last; -1 for all.
        fixed: properties that all rows have alike, if the file has no column of the name.
        is_inverted: whether the rows that are not selected are asked for.
        most: read no row after this many; None for all.

    Raises: FileError.
    """
    with _source(path) as source:
        with opened(path, source) as file:
            import pyarrow as pa  # noqa: PLC0415 (optional)

            metadata, schema, known = file.metadata, file.schema_arrow, set(file.schema_arrow.names)
            alike = {name: constant(value) for name, value in (fixed or {}).items() if name not in known}
            for name, value in alike.items():
                schema = schema.append(pa.field(name, value.type))
            own = columns_read(matcher, schema)
            found = chunks(_footer(path, source), range(metadata.num_columns)) or []
            repeated = _repeated(file, found)
            is_needed = None if is_inverted else _pruner(matcher, file, schema, alike, found)
        with opened(path, source, repeated, metadata) as file:
            for number in range(start, metadata.num_row_groups if stop < 0 else stop):
                rows, table = metadata.row_group(number).num_rows, None
                if most is not None:
                    if most == 0:
                        return
                    rows = min(rows, most)
                    most -= rows
                if is_needed is None or is_needed(number):
                    with trouble_of(path):
                        table = file.read_row_group(
                            number, columns=[name for name in own if name in known], use_threads=False
                        ).slice(0, rows)
                    for name in own:
                        if name in alike:
                            table = table.append_column(name, pa.repeat(alike[name], rows))
                yield RowGroup(file, number, rows, table, alike)


def _repeated(file: Any, found: list[list[Chunk | None]]) -> list[str]:
    """List the columns of strings that all row groups keep as dictionaries."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    kinds = {field.name: field.type for field in file.schema_arrow}
    return [
        path
        for place, path in enumerate(_paths(file))
        if pa.types.is_string(kinds.get(path, pa.null()))
        and all(len(group) > place and getattr(group[place], "is_dictionary", False) for group in found)
    ]


def _paths(file: Any) -> list[str]:
    """List the paths of all columns that hold values."""
    return [file.schema.column(place).path for place in range(len(file.schema))]


def _pruner(
    matcher: Matcher, file: Any, schema: pa.Schema, fixed: Mapping[str, pa.Scalar], found: list[list[Chunk | None]]
) -> Callable[[int], bool] | None:
    """Return what reports whether a selector may be TRUE, or UNKNOWN, for rows of a group: unknown ones are counted.

    Returns: None where it cannot be told: something may be wrong with a column, which reading it must find.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)

    whole, columns = pa.struct(list(schema)), _paths(file)
    always: dict[str, Extremes] = {}
    read: dict[str, tuple[str, int]] = {}  # for each property the type and the place of its column
    for name in matcher.properties:
        places = _places(matcher, name, whole)
        if len(places) > 1:
            return None
        if not places:
            always[name] = ABSENT
            continue
        field = schema.field(places[0])
        kind = str(field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        if not is_known(kind) or (core_of(matcher.dialect).has_greatest and kind in ("float", "double")):
            return None  # NaN and -0.0, which are counted, are in no statistics
        if field.name in fixed:
            value = fixed[field.name].as_py()
            always[name] = known_value(value) if value is not None else ABSENT
        elif columns.count(field.name) == 1:
            read[name] = kind, columns.index(field.name)
        else:
            return None
    form = selector_of(matcher.program).formulas
    formula = any_of((form.true, form.unknown))

    def is_needed(number: int) -> bool:
        extremes = dict(always)
        for name, (kind, place) in read.items():
            chunk = found[number][place] if number < len(found) and place < len(found[number]) else None
            if chunk is not None:
                extremes[name] = read_extremes(kind, *chunk[:4])
        return may_hold(formula, extremes)

    return is_needed


def counted(
    matcher: Matcher, group: RowGroup, *, is_inverted: bool, limit: int | None
) -> tuple[Counts, pa.BooleanArray]:
    """Evaluate a row group in three values, and count.

    Args:
        is_inverted: ask for the rows that are not selected.
        limit: look at no row behind this many that are asked for.

    Returns: the counts; and which rows are asked for, shape (rows of the group,), without nulls.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    if group.table is None:
        return Counts(group.rows, 0, {}), pa.repeat(constant(False), group.rows)
    if group.table.num_columns:
        truth = matcher.truth_batch(group.table)
    else:
        always = matcher.evaluate({})
        value = None if always is Truth.UNKNOWN else bool(always)
        truth = pa.repeat(constant(value), group.rows).cast(pa.bool_())
    mask = pc.coalesce(truth, constant(False))
    mask = pc.invert(mask) if is_inverted else mask
    unanswered = None
    if group.table.num_columns and not core_of(matcher.dialect).answers_all:
        unanswered = matcher.match_batch(group.table).is_null()
        mask = pc.and_not(mask, unanswered)
    rows = group.rows
    if limit is not None and mask.true_count > limit:
        rows = pc.indices_nonzero(mask)[limit - 1].as_py() + 1
        truth = truth.slice(0, rows)
        mask = pa.concat_arrays([mask.slice(0, rows), pa.repeat(constant(False), group.rows - rows)])
    unknown = truth.is_null()
    if unanswered is not None:
        unanswered = unanswered.slice(0, rows)
        unknown = pc.and_not(unknown, unanswered)
    missing = {}
    if unknown.true_count:
        table = group.table.slice(0, rows).to_struct_array()
        for name in matcher.properties:
            places = _places(matcher, name, table.type)
            nulls = pc.struct_field(table, list(places)).is_null() if places else pa.repeat(constant(True), rows)
            missing[name] = pc.sum(pc.and_(unknown, nulls)).as_py() or 0
    return Counts(rows, unknown.true_count, missing, unanswered), mask


def taken(path: str, group: RowGroup, mask: pa.BooleanArray) -> Iterator[pa.Table]:
    """Read the rows of a row group that a mask selects, as tables of the types of the file; texts may be dictionaries.

    Raises: FileError.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # noqa: PLC0415

    if not mask.true_count:
        return
    assert group.table is not None
    kept = group.file.schema_arrow.names
    names = [*kept, *group.fixed]
    own = _filtered(group.table, mask)
    for name in group.fixed:
        if name not in own.column_names:
            own = own.append_column(name, pa.repeat(group.fixed[name], own.num_rows))
    others = [name for name in kept if name not in own.column_names]
    if not others:
        yield from _sliced(own.select(names))
        return
    size = group.file.metadata.row_group(group.number).total_byte_size
    rows = min(_ROWS, max(_BYTES * group.rows // max(size, 1), 1))
    last = pc.indices_nonzero(mask)[-1].as_py()
    at = done = chosen = 0
    held: list[pa.Table] = []
    with trouble_of(path):
        for batch in group.file.iter_batches(rows, row_groups=[group.number], columns=others, use_threads=False):
            piece = mask.slice(at, batch.num_rows)
            at += batch.num_rows
            if piece.true_count:
                held.append(_filtered(pa.Table.from_batches([batch]).slice(0, len(piece)), piece))
                chosen += held[-1].num_rows
            if chosen and (chosen >= _TAKEN or rows < _ROWS or at > last):
                made = pa.concat_tables(held)
                for name in own.column_names:
                    made = made.append_column(name, own.column(name).slice(done, chosen))
                yield from _sliced(made.select(names))
                done, chosen, held = done + chosen, 0, []
            if at > last:
                return


def written(path: str, group: RowGroup, mask: pa.BooleanArray) -> Iterator[tuple[int, bytes]]:
    """Read the rows of a row group that a mask selects; yield how many there are at once, and them as lines of JSON.

    Raises: FileError.
    """
    for table in taken(path, group, mask):
        with trouble_of(path):
            yield table.num_rows, lines(table)


def _filtered(table: pa.Table, mask: pa.BooleanArray) -> pa.Table:
    """Return the rows that a mask selects.

    Arrow filters no views: texts are laid out in a row, and what has views inside is cut into runs of rows.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # noqa: PLC0415

    for place, field in enumerate(table.schema):
        if str(field.type) in PLAIN:
            table = table.set_column(place, field.name, table.column(place).cast(PLAIN[str(field.type)]))
    try:
        return table.filter(mask)
    except pa.ArrowNotImplementedError:
        places = pc.indices_nonzero(mask).to_pylist()
        runs = [[*run] for _, run in groupby(enumerate(places), lambda one: one[1] - one[0])]
        return pa.concat_tables([table.slice(run[0][1], len(run)) for run in runs])


def _sliced(table: pa.Table) -> Iterator[pa.Table]:
    """Cut a table: the text of a slice is several times its size."""
    rows = min(_TAKEN, max(_BYTES * table.num_rows // max(table.nbytes, 1), 1))
    yield from (table.slice(start, rows) for start in range(0, table.num_rows, rows))


def with_near_columns(matcher: Matcher, group: RowGroup) -> pa.Table:
    """Return the table of a group, and the columns whose names are near those of properties that rows lack."""
    table = group.table
    assert table is not None
    names = [*names_of(group.file.schema_arrow)]
    has = set(names_of(table.schema))
    wanted = [
        near
        for name in matcher.properties
        if name not in has or table.column(name).null_count
        for near in near_names(name, names)
        if near not in has
    ]
    columns = [*dict.fromkeys(name.partition(".")[0] for name in wanted)]
    if columns:
        more = group.file.read_row_group(group.number, columns=columns, use_threads=False)
        more = more.slice(0, group.rows)
        for name in more.column_names:
            table = table.append_column(name, more.column(name))
    return table


def inside_map(path: str, names: Iterable[str]) -> tuple[str, str] | None:
    """Report a map of a file of Parquet that may have properties which no column has.

    Returns: what was found, and a command that writes the entries as columns; None for nothing.
    """
    columns: list[Any] = []
    with suppress(MqselError), opened(path) as file:
        columns = [*file.schema_arrow]
    present = {one.name for one in columns}
    for one in columns:
        keys = [name.removeprefix(f"{one.name}.") for name in names if name not in present]
        if keys and str(one.type).startswith("map<"):
            what = f"column {one.name} is a map, of which a selector reads nothing: expected a column for each property"
            return what, map_hint(path, one.name, keys)
    return None
