"""A Spark data source that selects where it reads: rows that a selector does not select never reach the JVM.

``spark.dataSource.register(mqsel.spark.DataSource)``, then ``spark.read.format("mqsel")``. Spark makes the objects of
this module on the driver and pickles them; what travels is the options, and a nested function that makes the objects
again and says what a worker lacks. Knows how files become rows of Arrow. Follows spark §8.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource as SparkDataSource
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

import mqsel.matcher
from mqsel import formats
from mqsel.errors import ArgumentError, FileError, MqselError
from mqsel.files import parquet
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, each
from mqsel.files.parts import Part, kind_of, listed, messages, packed, parts
from mqsel.files.scan import reader
from mqsel.formats._mq import Decoder as MQDecoder
from mqsel.formats.records import SCHEMAS
from mqsel.names import look_up
from mqsel.spark import wordings
from mqsel.spark.columns import SPARK_TYPES, Sources, as_layout, is_writable
from mqsel.spark.ship import guard
from mqsel.values import TYPE_NAMES, TYPES

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

# The options, in the order of the documentation.
OPTIONS = ("path", "selector", "format", "dialect", "errors", "columns", "types")
FIXED = "file string, place bigint, raw binary"
_ALIASES = {"jsonl": "json", "dmpmqmsg": "qload"}
_KINDS = {name.lower(): kind for kind, name in SPARK_TYPES.items()}
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_ROWS = 4096  # of a batch, at most
_BYTES = 8 << 20  # of raw messages in a batch, about
_FLOAT_MAX = (2 - 2.0**-23) * 2.0**127
_LOG = logging.getLogger("mqsel")


class DataSource(SparkDataSource):
    """Rows of files that a selector selects: ``spark.read.format("mqsel").option("selector", …).load(path)``.

    Of Parquet the schema is the file's. Of messages it is ``file string, place bigint, raw binary`` and what the
    option ``columns`` adds: the file, the byte at which the message begins (in texts of QLOAD and amqsbcg the line),
    the message as it stands there, and properties by their names. A schema given to the reader is a projection of that,
    by names. A property that a message has not, or that does not fit its column, is NULL.

    Args:
        options: ``path``: a file, a directory or a pattern, which the driver and every worker see; ``load`` takes
            several. ``selector``. ``format``: a name of `mqsel.files.framings.FORMATS` ("jsonl" and "dmpmqmsg" are
            "json" and "qload" too); found by the first file's first bytes if left out. ``dialect``: a name of
            `mqsel.language.dialect.PRESETS`, by default IBM_MQ. ``errors``: "raise", or "skip" what is no message, and
            log how many they were. ``columns``: of properties, as ``color string, weight int``.
            ``types``: of properties whose source lost them, as ``weight=int32, price=float64``.

    Raises: SelectorError, ArgumentError: on the driver, when it is loaded.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        given = {name.lower(): text for name, text in options.items()}
        for name in given:
            if name not in (*OPTIONS, "paths"):
                raise ArgumentError(f"there is no option {name!r}: choose {', '.join(OPTIONS)}")
        if "selector" not in given:
            raise wordings.option_missing("selector", "set it to '' to select everything")
        if "path" not in given and "paths" not in given:
            raise wordings.option_missing("path", "name a file, a directory or a pattern: load(path)")
        self._paths = [given["path"]] if "path" in given else []
        self._paths += json.loads(given.get("paths", "[]"))
        self._matcher = mqsel.matcher.compile(given["selector"], dialect=given.get("dialect", "IBM_MQ"))
        kind = given.get("format", "").lower()
        self._kind = _ALIASES.get(kind, kind)
        if self._kind not in ("", *FORMATS):
            raise wordings.bad_option("format", given["format"], FORMATS)
        self._is_skipping = given.get("errors", "raise") == "skip"
        if given.get("errors", "raise") not in ("raise", "skip"):
            raise wordings.bad_option("errors", given["errors"], ("raise", "skip"))
        self._columns = given.get("columns", "")
        self._types = _declared(given.get("types", ""))
        if self._kind:
            self._check_kind()

    @classmethod
    def name(cls) -> str:
        return "mqsel"

    def schema(self) -> StructType | str:
        files = self._files()
        if self._kind != "parquet":
            return f"{FIXED}, {self._columns}" if self._columns else FIXED
        return self._checked(files[0])

    def reader(self, schema: StructType) -> DataSourceReader:
        if not schema.fields:
            raise ArgumentError(
                "the schema has no columns: the rows would have nothing to show", hint="name at least one"
            )
        files = self._files()
        if self._kind == "parquet":
            self._checked(files[0])
        else:
            _readings(schema)
        found = [part for file in files for part in self._parts(file)]
        return Reader(self.options, schema, self, found)

    def _parts(self, file: str) -> list[Part]:
        try:
            return parts(file, self._kind)
        except FileError as error:
            if not self._is_skipping:
                raise
            _LOG.warning("%s: skipped: %s", file, error.message)
            return []

    def _files(self) -> list[str]:
        files = [file for path in self._paths for file in listed(path)]
        if not self._kind:
            self._kind = kind_of(files[0])
            self._check_kind()
        return files

    def _check_kind(self) -> None:
        if self._types and self._kind not in SCHEMAS:
            raise wordings.misplaced_option("types", self._kind)
        if self._columns and self._kind == "parquet":
            raise wordings.misplaced_option("columns", self._kind)

    def _checked(self, file: str) -> StructType:
        """Give the schema of a Parquet file whose columns the selector can read."""
        import pyarrow as pa  # noqa: PLC0415 (optional)
        from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 (needs pandas)

        with parquet.opened(file) as content:
            arrow = content.schema_arrow
        schema = StructType()
        said = json.loads((arrow.metadata or {}).get(_SPARK_SCHEMA, "{}"))
        if [field["name"] for field in said.get("fields", ())] == arrow.names:
            schema = StructType.fromJson(said)  # what Spark wrote says more than its columns: of a time, which one
        else:
            for field in arrow:
                try:
                    schema = schema.add(from_arrow_schema(arrow.empty_table().select([field.name]).schema)[0])
                except Exception as error:  # classes of errors differ by version
                    raise wordings.column_misfit(file, field.name, str(field.type), "a type that Spark has") from error
        read = [arrow.field(name) for name in parquet.columns_read(self._matcher, arrow)]
        if read:
            self._matcher.match_batch(pa.table({field.name: pa.nulls(1, field.type) for field in read}))
        sources = Sources(schema, as_layout(None), self._matcher.dialect.headers)
        for name in self._matcher.properties:
            sources.source(name)
        for warning in sources.warnings:
            _LOG.warning("%s", warning)
        return schema

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrival(), (dict(self.options), None)


def _arrival() -> Callable[..., Any]:
    check = guard()

    def arrive(options, schema):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        check()
        from mqsel.spark.source import arrived  # noqa: PLC0415 (travels by value)

        return arrived(options, schema)

    return arrive


def arrived(options: dict[str, str], schema: str | None) -> DataSource | Reader:
    """Make on a worker again what was pickled: a data source, or with a schema its reader."""
    source = DataSource(options)
    return source if schema is None else Reader(options, StructType.fromJson(json.loads(schema)), source, [])


def _declared(text: str) -> dict[str, str]:
    found = {}
    for one in filter(None, map(str.strip, text.split(","))):
        name, _, kind = one.rpartition("=")
        if not name.strip() or kind.strip() not in TYPE_NAMES:
            raise wordings.bad_option("types", one, ["NAME=TYPE, … with types " + " ".join(TYPE_NAMES)])
        found[name.strip()] = kind.strip()
    return found


# ---- reading ---------------------------------------------------------------------------------------------------------


class Reader(DataSourceReader):
    """Reads parts of files. Made by `DataSource`."""

    def __init__(self, options: Mapping[str, str], schema: StructType, source: DataSource, found: list[Part]) -> None:
        self._options = options
        self._schema = schema
        self._matcher = source._matcher  # noqa: SLF001 (one thing in two objects, because Spark wants two)
        self._types = source._types  # noqa: SLF001
        self._is_skipping = source._is_skipping  # noqa: SLF001
        self._parts = found

    def partitions(self) -> list[InputPartition]:
        # Plain tuples: a worker without this package has to get as far as to say so.
        return [InputPartition([tuple(part) for part in bunch]) for bunch in packed(self._parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        for part in map(Part._make, partition.value or ()):
            if part.format == "parquet":
                yield from self._of_parquet(part)
            else:
                yield from self._of_messages(part)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrival(), (dict(self._options), self._schema.json())

    def _of_parquet(self, part: Part) -> Iterator[pa.RecordBatch]:
        wanted = _arrow_schema(self._schema)
        try:
            for batch in parquet.selected(self._matcher, part.path, part.start, part.stop, wanted.names):
                yield _cast(part.path, batch, wanted)
        except FileError as error:
            if not self._is_skipping:
                raise
            _LOG.warning("%s: row groups %d to %d skipped: %s", part.path, part.start, part.stop - 1, error.message)

    def _of_messages(self, part: Part) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa  # noqa: PLC0415 (optional)

        wanted = _arrow_schema(self._schema)
        readings = _readings(self._schema)
        names = [name for name in wanted.names if name not in _PLACES]
        spelled = [*names, *(f"usr.{name}" for name in names if "." not in name)]
        decoder, read, properties = reader(part.format, self._matcher, names, self._types)
        mq = decoder if isinstance(decoder, MQDecoder) else None
        rows: list[tuple[Any, ...]] = []
        held = seen = skipped = unread = 0
        first = note = ""

        def select(data: bytes) -> Mapping[str, Any] | None:
            message = read(data)
            if not (message if isinstance(message, bool) else self._matcher.matches(message)):
                return _OTHER
            return properties(data, message, spelled) if names else {}

        def batch() -> pa.RecordBatch:
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, wanted, strict=True)]
            return pa.RecordBatch.from_arrays(arrays, schema=wanted)

        for piece, values in each(messages(part), select):
            if values is None:
                continue
            seen += 1
            if mq is not None and mq.noted and not note and piece is not None and piece.message is not None:
                note = f"{_place_of(part.format)} {piece.place}: {formats.first_note(piece.message)}"
            if isinstance(values, MqselError):
                where = values if isinstance(values, FileError) else _placed(part, piece, values)
                if not self._is_skipping:
                    raise where from values
                skipped += 1
                first = first or str(where)
                continue
            if values is _OTHER or piece is None:
                continue
            row = []
            for name, reading in readings.items():
                if name in _PLACES:
                    row.append(_PLACES[name](part, piece))
                    continue
                value = look_up(values, name, self._matcher.dialect.headers)
                row.append(None if value is None else reading(value))
                unread += value is not None and row[-1] is None
            rows.append(tuple(row))
            held += len(piece.raw)
            if len(rows) >= _ROWS or held > _BYTES:
                yield batch()
                rows, held = [], 0
        if rows:
            yield batch()
        if skipped:
            _LOG.warning("%s: %d of %d messages skipped: %s", part.path, skipped, seen, first)
        if mq is not None and mq.noted:
            _LOG.warning("%s: %d of %d messages skipped in part, the first %s", part.path, mq.noted, seen, note)
        if unread:
            _LOG.warning("%s: %d properties did not fit their columns: they are NULL", part.path, unread)


# What a row says of where its message was.
_PLACES: dict[str, Callable[[Part, Any], Any]] = {
    "file": lambda part, _: part.path,
    "place": lambda _, piece: piece.place,
    "raw": lambda _, piece: piece.raw,
}


_OTHER: Mapping[str, Any] = {}  # of a message that is not selected


def _place_of(kind: str) -> str:
    """Say what the place of a message counts: lines are counted by whoever reads a file from its beginning."""
    return "byte" if FORMATS[kind].is_lines else FORMATS[kind].place


def _placed(part: Part, piece: Piece | None, error: MqselError) -> FileError:
    assert piece is not None
    line, offset = (piece.place, 0) if _place_of(part.format) == "line" else (None, piece.place)
    return FileError(error.message, path=part.path, line=line, offset=offset, hint=error.hint)


# ---- columns ---------------------------------------------------------------------------------------------------------


def _integer(low: int, high: int, value: Any) -> int | None:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high else None


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _float32(value: Any) -> float | None:
    value = _float(value)
    return None if value is not None and _FLOAT_MAX < abs(value) < float("inf") else value


# For the type of a column, the value of a property as it takes it; None if it does not.
_READINGS: dict[str, Callable[[Any], Any]] = {
    "boolean": lambda value: value if isinstance(value, bool) else None,
    **{row.name: functools.partial(_integer, *row.range) for row in TYPES if row.kind == "exact"},
    "float32": _float32,
    "float64": _float,
    "string": lambda value: str(value) if isinstance(value, str) and is_writable(value) else None,
    "bytes": lambda value: bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else None,
}


def _readings(schema: StructType) -> dict[str, Callable[[Any], Any]]:
    """Find for each column how its property is read.

    Raises: PropertyTypeError: a column of a type that no property has.
    """
    found = {}
    places = dict(one.split(" ") for one in FIXED.split(", "))
    for field in schema.fields:
        said = field.dataType.simpleString()
        if said not in _KINDS:
            raise wordings.column_type(field.name, said, f"types are {', '.join(_KINDS)}")
        if places.get(field.name, said) != said:
            raise wordings.column_type(field.name, said, f"it is {places[field.name]}", places[field.name])
        found[field.name] = _READINGS[_KINDS[said]]
    return found


def _arrow_schema(schema: StructType) -> Any:
    """Give the schema of the batches that Spark expects."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 (needs pandas)

    # Named so since 4.2; before it there was no other.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(schema, **zone)


def _cast(path: str, batch: Any, wanted: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (optional)

    columns = []
    for column, field in zip(batch.columns, wanted, strict=True):
        try:
            columns.append(column if column.type.equals(field.type) else column.cast(field.type))
        except pa.ArrowException as error:
            raise wordings.column_misfit(path, field.name, str(column.type), str(field.type)) from error
    return pa.RecordBatch.from_arrays(columns, schema=wanted)
