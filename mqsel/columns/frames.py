"""Frames of other libraries: the rows that are selected, as a frame of the same library.

A row of `FRAMES` for each kind. Only the columns that a selector may read are shown to it. Imports a library only where
somebody has given a frame of it. Knows no selector: whoever asks gives the function that answers for a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mqsel.carets import shortened_line, type_name
from mqsel.columns.lookup import PLAIN, kinds_of, may_be_read
from mqsel.columns.wordings import package_missing
from mqsel.errors import ArgumentError, MqselError, UndocumentedError


class _Asked:
    """What is asked of a frame.

    Args:
        match: returns which rows of a batch are selected, as an array of Arrow.
        names: of the properties that are read.
        rules: of these names, see `mqsel.names.spellings`.
    """

    def __init__(self, match: Callable[[Any], Any], names: Iterable[str], rules: str) -> None:
        self._match = match
        self._names = [*names]
        self._rules = rules

    def places(self, columns: Iterable[object]) -> list[int]:
        """Return the places of columns that may be read: of properties, or of structs that they are fields of."""
        return may_be_read(columns, self._names, self._rules)

    def mask(self, batch: Any) -> Any:
        """Return which rows of a batch are selected.

        Raises: UndocumentedError: no document says it of some row.
        """
        found = self._match(batch)
        if found.null_count:
            raise UndocumentedError(
                f"what the selector is for {found.null_count:,} of {len(found):,} rows is undocumented "
                "or not supported",
                hint="match_batch returns null for these rows",
            )
        return found

    def mask_of_nulls(self, rows: int) -> Any:
        """Return which of some rows without any of the columns are selected."""
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

        return self.mask(pa.table({"-": pa.nulls(rows)}))


def select(frame: Any, match: Callable[[Any], Any], names: Iterable[str], rules: str) -> Any:
    """Return the selected rows of a frame as a frame of its kind.

    Args: those of `_Asked`.

    Raises: what *match* raises. ArgumentError: it is no frame. UndocumentedError: no document answers for some row.
    """
    for kind in kinds_of(frame):
        if kind in FRAMES:
            try:
                import pyarrow  # noqa: F401, ICN001, PLC0415 (optional)
            except ImportError as error:
                raise package_missing("select", "pyarrow", "arrow") from error
            try:
                return FRAMES[kind](frame, _Asked(match, names, rules))
            except (MqselError, MemoryError):
                raise
            except Exception as error:
                raise ArgumentError(
                    f"{kind[0]} cannot select rows of this frame: {shortened_line(str(error))}",
                    hint="match_batch returns which rows are selected",
                ) from error
    raise ArgumentError(
        f"found a Python {type_name(frame)}: expected a frame of pyarrow, pandas, polars or duckdb",
        hint="mqsel.files.filter reads files" if isinstance(frame, str) else "for an iterable of messages use filter",
    )


def _of_arrow(frame: Any, asked: _Asked) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (optional)

    mask = asked.mask(frame)
    views = pa.lib.Type_STRING_VIEW, pa.lib.Type_BINARY_VIEW
    if not any(kind.id in views for kind in frame.schema.types):
        return frame.filter(mask)
    # pyarrow's filter takes no views.
    named = ((field, PLAIN.get(str(field.type))) for field in frame.schema)
    kept = [field.with_type(pa.type_for_alias(alias)) if alias else field for field, alias in named]
    return frame.cast(pa.schema(kept, frame.schema.metadata)).filter(mask).cast(frame.schema)


def _of_pandas(frame: Any, asked: _Asked) -> Any:
    return frame[asked.mask(frame).to_numpy(zero_copy_only=False)]


def _of_polars(frame: Any, asked: _Asked) -> Any:
    import polars  # noqa: ICN001, PLC0415 (there is a frame of it)

    return frame.filter(polars.Series(asked.mask(frame), dtype=polars.Boolean))


def _of_lazy(frame: Any, asked: _Asked) -> Any:
    import polars  # noqa: ICN001, PLC0415 (there is a frame of it)

    schema = frame.collect_schema()
    columns = [schema.names()[place] for place in asked.places(schema.names())]
    if not columns:
        return frame.filter(polars.lit(asked.mask_of_nulls(1)[0].as_py()))
    # A type that no property has is an error now, and not when the rows are collected.
    asked.mask(polars.DataFrame(schema={name: schema[name] for name in columns}))
    rows = polars.struct(columns).map_batches(
        lambda rows: polars.Series(asked.mask(rows.struct.unnest()), dtype=polars.Boolean),
        return_dtype=polars.Boolean,
        is_elementwise=True,
    )
    return frame.filter(rows)


def _of_duckdb(frame: Any, asked: _Asked) -> Any:
    mqsel_selected = _of_arrow(frame.to_arrow_table(), asked)  # noqa: F841 (read by the query)
    # What the relation itself queries belongs to its connection; a variable is found where no table has its name.
    return frame.query("mqsel_select", "SELECT * FROM mqsel_selected")


# By library and class: returns the selected rows.
FRAMES: dict[tuple[str, str], Callable[[Any, _Asked], Any]] = {
    ("pyarrow", "Table"): _of_arrow,
    ("pyarrow", "RecordBatch"): _of_arrow,
    ("pandas", "DataFrame"): _of_pandas,
    ("polars", "DataFrame"): _of_polars,
    ("polars", "LazyFrame"): _of_lazy,
    ("duckdb", "DuckDBPyRelation"): _of_duckdb,
}
