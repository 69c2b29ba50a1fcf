"""A Spark data source that selects where it reads: rows that a selector does not select never reach the JVM.

``spark.dataSource.register(mqsel.spark.DataSource)``, then ``spark.read.format("mqsel")``. Spark makes the objects of
this module on the driver and pickles them: as the options, and a nested function that builds the objects again and
reports what a worker lacks. Knows how files become rows of Arrow. Follows spark §8.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource as SparkDataSource
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

import mqsel.matcher
from mqsel import formats
from mqsel.errors import ArgumentError, FileError, MqselError
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, each
from mqsel.files.opening import path_of
from mqsel.files.parts import FilePart, kind_of, listed, local, messages, packed, partition, parts
from mqsel.files.run.work import first_note, reader
from mqsel.files.selectors import selectors as read_selectors
from mqsel.formats.records import SCHEMAS, UNREADABLE, readers
from mqsel.language.dialect import core_of
from mqsel.names import by_casefold, folded, look_up
from mqsel.sets.set import SelectorSet
from mqsel.spark import wordings
from mqsel.spark.columns import SPARK_TYPES, identifier, is_writable
from mqsel.spark.sets import is_saved
from mqsel.spark.ship import carried
from mqsel.values import TYPE_NAMES, TYPES

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

# The options, in the order of the documentation.
OPTIONS = ("path", "selector", "selectors", "format", "dialect", "errors", "columns", "types")
FIXED = {"file": "string", "place": "bigint", "raw": "binary"}
_LIMITS = {one.lower(): one for one in ("maxFilesPerTrigger", "maxBytesPerTrigger")}  # of Spark's own streams of files
SUBSCRIBERS = "subscribers"  # the column of keys, where the option selectors is set
_ALIASES = {"jsonl": "json", "dmpmqmsg": "qload"}
_READ = [name for name, row in FORMATS.items() if row.message is not None]
_TYPES = {spark_type.lower(): name for name, spark_type in SPARK_TYPES.items()}
_NAMES = re.compile(r"(?:^|,)\s*(`(?:[^`]|``)*`|[^\s:,`]+)")  # of columns, in a schema of simple types
_ROWS = 4096  # of a batch, at most
_BYTES = 8 << 20  # of raw messages in a batch, about
_FLOAT_MAX = (2 - 2.0**-23) * 2.0**127
_LOG = logging.getLogger("mqsel")


class DataSource(SparkDataSource):
    """Reads the messages in files that a selector selects.

    Use it as ``spark.read.format("mqsel").option("selector", …).load(path)``.

    The schema is ``file string, place bigint, raw binary``: the file, the byte at which the message begins (for qload
    and amqsbcg the line), and the bytes of the message. The option ``columns`` adds properties, and folders such as
    ``day=1`` add their names. If you give the reader a schema, it selects columns by name. A property that the message
    doesn't have, or that doesn't fit its column, is NULL. ``spark.readStream`` reads each file once.

    Args:
        options: A mapping of option names to str. ``path`` is a file, folder or pattern, which the driver and all
            executors can read; ``load`` takes several. ``selector`` is a selector. ``selectors``, which replaces it, is
            a file that `SelectorSet.save` wrote or `mqsel.files.selectors` reads. ``format`` is a key of
            `mqsel.files.framings.FORMATS` other than parquet, or "jsonl" or "dmpmqmsg"; by default it is detected for
            each file. ``dialect`` is the name of a dialect, by default IBM_MQ. ``errors`` is "raise", or "skip" to
            leave invalid messages out and log their number. ``columns`` lists properties, such as ``color string,
            weight int``. ``types`` lists the types that the source has lost, such as ``weight=int32, price=float64``.

    Raises: SelectorError: if the selector is invalid. ArgumentError: if an option is invalid. Both are raised on the
        driver, when you load.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        texts = {name.lower(): text for name, text in options.items()}
        for name in texts:
            if name in _LIMITS:
                raise ArgumentError(
                    f"the option {_LIMITS[name]} is not for this data source: a stream reads all new files at once",
                    hint="move a few files at a time into the folder, and read a backlog by spark.read first",
                )
            if name not in (*OPTIONS, "paths"):
                raise ArgumentError(f"there is no option {name!r}: choose {', '.join(OPTIONS)}")
        if "selector" in texts and "selectors" in texts:
            raise ArgumentError("the options selector and selectors are both set", hint="leave one of them out")
        if "selector" not in texts and "selectors" not in texts:
            raise wordings.option_missing("selector", "set it to '' to select everything")
        if "path" not in texts and "paths" not in texts:
            raise wordings.option_missing("path", "name a file, a directory or a pattern: load(path)")
        self._paths = [texts["path"]] if "path" in texts else []
        self._paths += json.loads(texts.get("paths", "[]"))
        self.matcher: mqsel.matcher.Matcher | SelectorSet[Any]
        if "selectors" in texts:
            self.matcher = _set_of(texts["selectors"], texts.get("dialect", "IBM_MQ"))
        else:
            self.matcher = mqsel.matcher.compile(texts["selector"], dialect=texts.get("dialect", "IBM_MQ"))
        named = texts.get("format", "").lower()
        self._format = _ALIASES.get(named, named)
        self.is_skipping = texts.get("errors", "raise") == "skip"
        if texts.get("errors", "raise") not in ("raise", "skip"):
            raise wordings.bad_option("errors", texts["errors"], ("raise", "skip"))
        self._columns = texts.get("columns", "")
        self.types = _declared(texts.get("types", ""))
        if self._format == "parquet":
            raise _is_parquet()
        if self._format not in ("", *_READ):
            raise wordings.bad_option("format", texts["format"], _READ)
        if self._format and self.types and self._format not in SCHEMAS:
            raise _misplaced_types(self._format)

    @classmethod
    def name(cls) -> str:
        """Return the name of the data source for Spark: ``mqsel``."""
        return "mqsel"

    def schema(self) -> str:
        """Return the columns of the data source, as Spark writes them."""
        named: dict[str, list[str]] = {}
        for file, values in self.files().items():
            self._format_of(file)
            for name, value in values.items():
                named.setdefault(name, []).extend([value] if value is not None else [])
        columns = [f"{name} {spark_type}" for name, spark_type in FIXED.items()]
        columns += [f"{SUBSCRIBERS} array<string>"] * isinstance(self.matcher, SelectorSet)
        columns += [self._columns] if self._columns.strip() else []
        columns += [f"{identifier(name)} {_type_of(texts)}" for name, texts in named.items()]
        text = ", ".join(columns)
        _refuse_twice([name.strip("`").replace("``", "`") for name in _NAMES.findall(re.sub(r"\([^()]*\)", "", text))])
        return text

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the object by which Spark reads the files.

        Args:
            schema: The columns that Spark wants.
        """
        _check(schema, self.matcher)
        return Reader(self, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        """Return the object by which Spark reads the files as a stream.

        Args:
            schema: The columns that Spark wants.
        """
        _check(schema, self.matcher)
        return StreamReader(self, schema)

    def files(self) -> dict[str, dict[str, str | None]]:
        """Return the files as a dict, each with the names and values of the folders that it is in.

        Raises: FileError: if there is no file, or the folders of two files have different names.
        """
        found = {
            file: partition(path, file)
            for path in self._paths
            if not (self._format and _is_empty(path))  # a stream may begin before its first file
            for file in listed(path)
        }
        first = next(iter(found), "")
        for file, values in found.items():
            if values.keys() != found[first].keys():
                said = [", ".join(one) or "nothing" for one in (values, found[first])]
                raise FileError(
                    f"its directories name {said[0]}, those of {first} {said[1]}",
                    path=file,
                    hint="read what is laid out alike, and join the DataFrames by unionByName",
                )
        return found

    def parts(self, file: str) -> list[FilePart]:
        """Return the parts of a file. If invalid messages are skipped, a file that can't be read has none.

        Args:
            file: The path of the file.
        """
        try:
            return parts(file, self._format_of(file))
        except FileError as error:
            if not self.is_skipping:
                raise
            _LOG.warning("%s: skipped: %s", file, error.message)
            return []

    def _format_of(self, file: str) -> str:
        found = self._format or kind_of(file)
        if found == "parquet":
            raise _is_parquet()
        if self.types and found not in SCHEMAS:
            raise _misplaced_types(found)
        if self.matcher.in_any_case:
            reader(found, self.matcher)  # or refuses
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return carried(_ARRIVED), (dict(self.options), None, False)


def _is_empty(path: str) -> bool:
    folder = path_of(local(path))
    return folder.is_dir() and next(folder.iterdir(), None) is None


def _is_parquet() -> ArgumentError:
    return ArgumentError(
        "Parquet is not for this data source: Spark reads it, and skips what a selector does not need",
        hint="df = spark.read.parquet(path), then df.filter(mqsel.spark.column(selector, df))",
    )


def _misplaced_types(format_name: str) -> ArgumentError:
    return ArgumentError(f"the option types is not for files of format {format_name}", hint="leave it out")


def _refuse_twice(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"two columns are called {name!r}", hint="name each once in the option columns")


@functools.lru_cache(4)
def _set_at(path: str, _changed: tuple[int, int], dialect: str) -> SelectorSet[Any]:
    """Read selectors from a file as it is now; a worker does so once."""
    if is_saved(Path(path)):
        made: SelectorSet[Any] = SelectorSet.open(path)
    else:
        made = SelectorSet(dialect=dialect)
        made.update((one.key, one.selector) for one in read_selectors(path))
    if not all(isinstance(key, str) for key in made):
        raise ArgumentError(f"the keys of {path} are not all str", hint=f"the column {SUBSCRIBERS} is array<string>")
    return made


def _set_of(path: str, dialect: str) -> SelectorSet[Any]:
    """Read the option selectors.

    Raises: SelectorError: a faulty selector, with its ``key``. FileError, ArgumentError: no such file.
    """
    name = local(path)
    try:
        found = path_of(name).stat()
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror or error}", path=path) from error
    return _set_at(name, (found.st_mtime_ns, found.st_size), dialect)


def _check(schema: StructType, matcher: mqsel.matcher.Matcher | SelectorSet[Any]) -> None:
    if not schema.fields:
        raise ArgumentError("the schema has no columns: the rows would have nothing to show", hint="name at least one")
    _refuse_twice(schema.names)
    _readings(schema, matcher)


def _type_of(texts: list[str]) -> str:
    """Find the type of a column that directories name."""
    for spark_type in ("int", "bigint"):
        if texts and all(_read_text(text, _TYPES[spark_type]) is not None for text in texts):
            return spark_type
    return "string"


def _read_text(text: str | None, type_name: str) -> Any:
    """Read a value that a directory names."""
    try:
        return _READERS[type_name](text)
    except UNREADABLE:
        return None


_READERS = readers("hex")


_ARRIVED = "mqsel.spark.source:arrived"


def arrived(options: dict[str, str], schema: str | None, is_stream: bool) -> DataSource | _Rows:
    """Return on a worker what was pickled: a data source, or with a schema its reader."""
    source = DataSource(options)
    if schema is None:
        return source
    return (StreamReader if is_stream else Reader)(source, StructType.fromJson(json.loads(schema)))


def _declared(text: str) -> dict[str, str]:
    found = {}
    for one in filter(None, map(str.strip, text.split(","))):
        name, _, type_name = one.rpartition("=")
        if not name.strip() or type_name.strip() not in TYPE_NAMES:
            raise wordings.bad_option("types", one, ["NAME=TYPE, … with types " + " ".join(TYPE_NAMES)])
        found[name.strip()] = type_name.strip()
    return found


# ---- reading ---------------------------------------------------------------------------------------------------------


class _Rows:
    """Reads parts of files for a `Reader` or a `StreamReader`."""

    def __init__(self, source: DataSource, schema: StructType) -> None:
        self._source = source
        self._schema = schema

    def _planned(self, files: Mapping[str, dict[str, str | None]]) -> list[InputPartition]:
        found = [part for file in files for part in self._source.parts(file)]
        # Plain tuples: a worker without this package has to get as far as to say so.
        return [InputPartition([(*part, files[part.path]) for part in bunch]) for bunch in packed(found)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        for *part, values in partition.value or ():
            yield from self._read(FilePart(*part), values)

    def __reduce__(self) -> tuple[Any, ...]:
        given = dict(self._source.options), self._schema.json(), isinstance(self, StreamReader)
        return carried(_ARRIVED), given

    def _read(self, part: FilePart, values: Mapping[str, str | None]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa  # noqa: PLC0415 (optional)

        source = self._source
        wanted = _arrow_schema(self._schema)
        selects = source.matcher
        rules = core_of(selects.dialect).naming
        readings = _readings(self._schema, selects)
        of_file = {
            name: _read_text(text, _TYPES[self._schema[name].dataType.simpleString()])
            for name, text in values.items()
            if name in wanted.names
        }
        of_set = {SUBSCRIBERS} if isinstance(selects, SelectorSet) else ()
        names = [name for name in wanted.names if name not in (*_PLACES, *of_file, *of_set)]
        spelled = [*names, *(f"usr.{name}" for name in names if "." not in name)]
        read = reader(part.format, source.matcher, names, source.types)
        has_mqmd = formats.FORMATS[FORMATS[part.format].message or ""].has_mqmd
        rows: list[tuple[Any, ...]] = []
        held = seen = skipped = unread = noted = 0
        first = note = ""
        keys: list[Any] = []

        def select(data: bytes) -> Mapping[str, Any] | None:
            nonlocal keys
            message = read(data)
            if isinstance(selects, SelectorSet):
                keys = selects.match(message)
                if not keys:
                    return _OTHER
            elif not (message if isinstance(message, bool) else selects.matches(message)):
                return _OTHER
            if rules == "folded":
                return folded(message.items(), by_casefold(names))
            return {} if not names else formats.properties(data, spelled) if has_mqmd else message

        def batch() -> pa.RecordBatch:
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, wanted, strict=True)]
            return pa.RecordBatch.from_arrays(arrays, schema=wanted)

        for piece, found in each(messages(part), select):
            if found is None:
                continue
            seen += 1
            noted = getattr(read, "noted", 0)  # of a set nothing is counted
            if noted and not note and piece is not None and piece.message is not None:
                note = f"{_place_of(part.format)} {piece.place}: {first_note(part.format, piece.message)}"
            if isinstance(found, MqselError):
                where = found if isinstance(found, FileError) else _placed(part, piece, found)
                if not source.is_skipping:
                    raise where from found
                skipped += 1
                first = first or str(where)
                continue
            if found is _OTHER or piece is None:
                continue
            row = []
            for name, reading in readings.items():
                if name in _PLACES:
                    row.append(_PLACES[name](part, piece))
                    continue
                if name in of_file or name in of_set:
                    row.append(of_file.get(name, keys))
                    continue
                value = look_up(found, name, rules)
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
        if noted:
            _LOG.warning("%s: %d of %d messages skipped in part, the first %s", part.path, noted, seen, note)
        if unread:
            _LOG.warning("%s: %d properties did not fit their columns: they are NULL", part.path, unread)


class Reader(_Rows, DataSourceReader):
    """Reads all files. Made by `DataSource`."""

    def partitions(self) -> list[InputPartition]:
        return self._planned(self._source.files())


class StreamReader(_Rows, DataSourceStreamReader):
    """Reads each file once, when it is first seen. Made by `DataSource`.

    An offset lists the files that were seen: the time of a file that was moved to where it is says nothing. A file has
    to appear complete, so moved, as for Spark's own streams of files.
    """

    def initialOffset(self) -> dict[str, list[str]]:  # noqa: N802 (Spark's name)
        return {"files": []}

    def latestOffset(self) -> dict[str, list[str]]:  # type: ignore[override]  # noqa: N802 (all that is there)
        return {"files": sorted(self._source.files())}

    def partitions(self, start: dict[str, list[str]], end: dict[str, list[str]]) -> list[InputPartition]:
        new = sorted({*end["files"]}.difference(start["files"]))
        found = self._source.files() if new else {}
        for file in new:
            if file not in found:
                raise FileError("the file is gone, and has not been read", path=file)
        return self._planned({file: found[file] for file in new})


# What a row says of where its message was.
_PLACES: dict[str, Callable[[FilePart, Any], Any]] = {
    "file": lambda part, _: part.path,
    "place": lambda _, piece: piece.place,
    "raw": lambda _, piece: piece.raw,
}


_OTHER: Mapping[str, Any] = {}  # of a message that is not selected


def _place_of(format_name: str) -> str:
    """Return what the place of a message counts: lines are counted by whoever reads a file from its beginning."""
    return "byte" if FORMATS[format_name].is_lines else FORMATS[format_name].place


def _placed(part: FilePart, piece: Piece | None, error: MqselError) -> FileError:
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


def _readings(schema: StructType, matcher: mqsel.matcher.Matcher | SelectorSet[Any]) -> dict[str, Callable[[Any], Any]]:
    """Find for each column how its property is read.

    Raises: PropertyTypeError: a column of a type that no property has.
    """
    found: dict[str, Callable[[Any], Any]] = {}
    for field in schema.fields:
        said = field.dataType.simpleString()
        if field.name == SUBSCRIBERS and isinstance(matcher, SelectorSet):
            if said != "array<string>":
                raise wordings.column_type(field.name, said, "it is array<string>", "array<string>")
            found[field.name] = list
            continue
        if said not in _TYPES:
            raise wordings.column_type(field.name, said, f"types are {', '.join(_TYPES)}")
        if FIXED.get(field.name, said) != said:
            raise wordings.column_type(field.name, said, f"it is {FIXED[field.name]}", FIXED[field.name])
        found[field.name] = _READINGS[_TYPES[said]]
    return found


def _arrow_schema(schema: StructType) -> Any:
    """Return the schema of the batches that Spark expects."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 (needs pandas)

    # Named so since 4.2; before it there was no other.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(schema, **zone)
