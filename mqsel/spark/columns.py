"""From the name of a property to the Catalyst text that reads it, and its type.

Owns what a `Layout` says, what a Spark type is as a property type, and how a text whose type was lost is read.
Every text is exact under any setting of a session and cannot raise. Knows no selectors. Follows spark §3 and §5;
records of connectors are read by the tables of `mqsel.formats.records`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql import types as T  # noqa: N812 (its usual name)
from pyspark.sql.types import StructType

from mqsel.errors import ArgumentError, PropertyTypeError
from mqsel.formats.records import CONNECT, SCHEMAS, Header, Members
from mqsel.formats.wordings import unknown_schema, unknown_type
from mqsel.names import by_casefold, did_you_mean, folded, follow, look_up, spellings
from mqsel.spark import wordings
from mqsel.values import APPROXIMATE, EXACT, JAVA_WORDS, TYPE_NAMES, TYPES

Place = str | tuple[str, str]
VALUE = "`mqsel: value`"  # a variable of Spark's lambda functions: no column has such a name


class Layout(NamedTuple):
    """Where the rows of a DataFrame have the properties. `layout` returns it.

    Attributes:
        places: A mapping of properties to the paths of their columns.
        types: A mapping of properties to the types to which they are converted.
        headers: The properties with names of the specification, each with a path below `within`.
        members: The column that has all other properties, or None: each property is a column.
        within: The path of the column that has the record.
        null: A string that stands for a missing value, or None.
        record: The schema of the connector that wrote the rows, or None.
    """

    places: Mapping[str, str]
    types: Mapping[str, str]
    headers: Mapping[str, Header]
    members: Members | None
    within: tuple[str, ...]
    null: str | None
    record: str | None = None


class Case(NamedTuple):
    """What a property is where the tag of its row has one value.

    Attributes:
        tag: that value.
        type: a name of `mqsel.values.TYPE_NAMES`.
        sql: Catalyst text of the value.
    """

    tag: str
    type: str
    sql: str


class Steps(NamedTuple):
    """A column that may be compared itself, so that readers know the test: it is in the order of what is read from it.

    That is a number, or the text of a date.

    Attributes:
        sql: text of the column.
        literal: text of a constant of its type; {0} is its number of units.
        units: how many of them one is, as numerator and denominator.
        limit: a constant has fewer.
        read: the least and the greatest of them that can be read; all others are NULL. None where all can.
    """

    sql: str
    literal: str
    units: tuple[int, int]
    limit: int
    read: tuple[int, int] | None = None

    def constant(self, units: int) -> str:
        """Write a constant; empty if there is none."""
        return self.literal.format(units) if abs(units) < self.limit else ""


class PropertySource(NamedTuple):
    """Where the value of a property comes from.

    Attributes:
        name: The property.
        type: A name in `mqsel.values.TYPE_NAMES`; "null" if no column has the property, "" if the type differs by row.
        sql: The Catalyst expression of the value. If `type` is "", it is the expression of the tag that says the type.
        raw: The Catalyst expression of the value before conversion. If it is not NULL and the value is, the conversion
            failed.
        cases: The types that the tag may name, if `type` is "".
        shared: If `type` is "": an expression that the others read, and the source as it is read from that as `VALUE`.
        within: The expressions of the structs that have the field; None if the property is neither a column nor a
            field.
        steps: How the column may be compared with numbers, or None.
        asked: An expression that a catalog may compare with a string for equality, in addition to a test of `sql`;
            empty if there is none.
    """

    name: str
    type: str
    sql: str
    raw: str
    cases: tuple[Case, ...] = ()
    shared: tuple[str, PropertySource] | None = None
    within: tuple[str, ...] | None = None
    steps: Steps | None = None
    asked: str = ""


_MISSING = PropertySource("", "null", "NULL", "NULL")  # of a name that no row has

SPARK_TYPES = {row.name: row.sql for row in TYPES if row.sql}
_TYPE_NAMES = {spark_type: row.name for row in TYPES for spark_type in row.spark}
_WORDS = {word: name for word, name in JAVA_WORDS.items() if name in SPARK_TYPES}  # of a `_jsmtype` neighbour

# (?!.) is the end of the text, which $ is not; there is no backslash, which is read differently by setting.
_WHOLE = "rlike({0}, '(?s)^[+-]?[0-9]+(?!.)')"
_NUMBER = "rlike({0}, '(?s)^([+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|NaN|[+-]?Infinity)(?!.)')"
_HEX = "rlike({0}, '(?s)^(ID:)?([0-9A-Fa-f]{{2}})*(?!.)')"
# Spark reads '1d', ' 1 ' and 't' as well: what parses is what the readers of records take.
_FROM_TEXT = {
    "string": "{0}",
    "boolean": "CASE lower({0}) WHEN 'true' THEN true WHEN 'false' THEN false END",
    **{type_name: f"CASE WHEN {_WHOLE} THEN try_cast({{0}} AS {SPARK_TYPES[type_name]}) END" for type_name in EXACT},
    "float64": f"CASE WHEN {_NUMBER} THEN try_cast({{0}} AS DOUBLE) END",
    "float32": f"CASE WHEN {_NUMBER} THEN CAST(try_cast({{0}} AS DOUBLE) AS FLOAT) END",
    "bytes": rf"CASE WHEN {_HEX} THEN unhex(regexp_replace({{0}}, '^ID:', '')) END",
}
_TO_INTEGER = {type_name: f"try_cast({{0}} AS {SPARK_TYPES[type_name]})" for type_name in EXACT}
_TO_FLOAT = {type_name: f"CAST({{0}} AS {SPARK_TYPES[type_name]})" for type_name in APPROXIMATE}
# For the type of a column, the types it may be declared to be, each with the text that converts it.
_CONVERSIONS: dict[str, dict[str, str]] = {
    **{
        spark_type: {"string": _FROM_TEXT, "exact": {**_TO_INTEGER, **_TO_FLOAT}, "approximate": _TO_FLOAT}[row.kind]
        for row in TYPES
        if row.kind in ("string", "exact", "approximate")
        for spark_type in row.spark
    },
    "TimestampType": {"int64": "unix_millis({0})"},
    "DateType": {"string": "CAST({0} AS STRING)", "int64": "(unix_date({0}) * 86400000L)"},
    # Of a variant the text is read, as of the other sources that lost their types.
    "VariantType": {
        type_name: text.replace("{0}", "try_variant_get({0}, '$', 'string')") for type_name, text in _FROM_TEXT.items()
    },
}
_BITS = {row.name: row.bits for row in TYPES}
_EXACT_DIGITS = 18  # every decimal(18,0) is an int64
_PATTERNS = "spark.sql.parser.quotedRegexColumnNames"  # of a session that reads names in backticks as such
# A database is given no comparison of these: to most 'a' is 'a ', to some 'A', and infinity is a number to few. Of
# integers it is; it does not know these functions, which change no value.
_OWN_TEXT = "collate({0}, 'UTF8_BINARY')"
_OWN = {
    **dict.fromkeys(("StringType", "VarcharType"), _OWN_TEXT),
    **dict.fromkeys(("FloatType", "DoubleType"), "nanvl({0}, {0})"),
}
# What Hive's own reader has for NULL, for which Spark lists the directory: both are NULL then.
_NO_DIRECTORY = "'__HIVE_DEFAULT_PARTITION__'"
_UNSIGNED = "decimal(20,0)"  # what Spark reads UINT64 of Parquet as


# ---- texts ---------------------------------------------------------------------------------------------------------


def text_literal(text: str) -> str:
    """Write a string as a literal that every session reads alike.

    Settings say whether a backslash escapes, what ``r`` before a literal does, and whether two apostrophes are one;
    ``${x}`` is replaced before anything is parsed.
    """
    if text.isprintable() and not any(odd in text for odd in ("'", "\\", "${")):
        return f"'{text}'"
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def looked_up(held: str, text: str, variable: str = VALUE) -> str:
    """Write *text*, which reads *held* as a *variable*, so that what is held is looked up once.

    Spark generates no code for a lambda function of zip_with, as it does for one of transform: the code of a hundred
    columns over records would be more than Java takes (46 KB for 20), and for a single column it is no faster.
    """
    return f"get(zip_with(array({held}), array(NULL), ({variable}, `mqsel: nothing`) -> {text}), 0)"


def is_writable(text: str) -> bool:
    """Report whether a string has a UTF-8 form; one with a lone surrogate equals no value of a Spark column."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def identifier(name: str) -> str:
    """Write the name of a column or a field."""
    if "${" in name or not is_writable(name):
        raise wordings.unusable_column(name)
    return f"`{name.replace('`', '``')}`"


def type_text(spark_type: Any) -> str:
    """Write a Spark type; PySpark itself leaves the names of fields as they are."""
    match type(spark_type).__name__:
        case "StructType":
            fields = [f"{identifier(field.name)}: {type_text(field.dataType)}" for field in spark_type.fields]
            return f"STRUCT<{', '.join(fields)}>"
        case "MapType":
            return f"MAP<{type_text(spark_type.keyType)}, {type_text(spark_type.valueType)}>"
        case "ArrayType":
            return f"ARRAY<{type_text(spark_type.elementType)}>"
    return str(spark_type.simpleString())


# ---- what the caller says ------------------------------------------------------------------------------------------


def layout(
    places: Mapping[str, Place] | None = None,
    *,
    record: str | None = None,
    within: str = "",
    members: str | None = None,
    types: Mapping[str, str] | None = None,
) -> Layout:
    """Describe where the rows of a DataFrame have the properties.

    A path is the name of a column, followed by names of struct fields, keys of a map, or keys of an array of key and
    value such as Kafka's headers, joined by dots. If a name has a dot, put it in backticks.

    Args:
        places: A mapping of properties to paths, or to pairs of a path and the type to which the value is converted.
            The default is None: none.
        record: The schema of the connector that wrote the rows, a key of `mqsel.formats.records.SCHEMAS`. The default
            is None.
        within: The path of the column that has the record. The default is empty: the row itself.
        members: The path of a struct, a map, or an array of key and value, which has all other properties. The default
            is None: each property is a column.
        types: A mapping of properties to types, if the source has lost them. A string that can't be converted is NULL.
            The default is None.

    Raises: ArgumentError: if there is no such schema or type, or a path is invalid.
    """
    for name, path in (("within", within), ("members", members)):
        if not isinstance(path, str | None):
            raise ArgumentError(
                f"{name} is a Python {type(path).__qualname__}: expected the path of one column",
                hint="name properties of other columns by path: layout({'color': 'more.color'}, members='properties')",
            )
    found: dict[str, str] = {}
    kinds = known_types(types)
    for name, place in (places or {}).items():
        path, type_name = place if isinstance(place, tuple) else (place, None)
        if not isinstance(path, str):
            raise ArgumentError(f"the place of '{name}' is {place!r}: expected a path, or a path and a type")
        found[name] = path
        if type_name is not None:
            kinds[name] = type_name
    kinds = known_types(kinds)
    if record is None:
        return Layout(found, kinds, {}, None if members is None else Members(_steps(members)), _steps(within), None)
    if record not in SCHEMAS:
        raise unknown_schema(record, SCHEMAS)
    schema = SCHEMAS[record]
    if schema.members.maps:
        raise ArgumentError(f"records of {record} are only read from files: their properties are in maps by type")
    own = schema.members if members is None else schema.members._replace(path=_steps(members))
    return Layout(found, kinds, {one.name: one for one in schema.headers}, own, _steps(within), schema.null, record)


def as_layout(properties: Layout | Mapping[str, Place] | str | None, types: Mapping[str, str] | None = None) -> Layout:
    """Read the arguments ``properties`` (a layout, the places of one, or the name of a schema) and ``types``."""
    if isinstance(properties, Layout):
        return properties._replace(types={**properties.types, **known_types(types)})
    if isinstance(properties, str):
        return layout(record=properties, types=types)
    if properties is None or isinstance(properties, Mapping):
        return layout(properties, types=types)
    raise ArgumentError(
        f"properties is a Python {type(properties).__qualname__}: expected paths by name, or the name of a schema",
        hint="see mqsel.spark.layout",
    )


def known_types(types: Mapping[str, str] | None) -> dict[str, str]:
    """Check declared types.

    Raises: ArgumentError: there is no such type.
    """
    if not isinstance(types, Mapping | None):
        raise ArgumentError(
            f"types is a Python {type(types).__qualname__}: expected types by name", hint="types={'weight': 'int32'}"
        )
    for name, type_name in (types or {}).items():
        if type_name not in SPARK_TYPES:
            raise unknown_type(name, type_name, SPARK_TYPES)
    return dict(types or {})


_IN_BACKTICKS = re.compile("`((?:[^`]|``)*)`")


def _steps(path: str) -> tuple[str, ...]:
    """Return the steps of a path; backticks hold a name together, in which a doubled one is one of its own."""
    steps: list[str] = []
    step, at = "", 0
    while at < len(path):
        character = path[at]
        if character == "`":
            held = _IN_BACKTICKS.match(path, at)
            if held is None:
                raise ArgumentError(f"the path {path!r} has a backtick without its pair")
            step += held[1].replace("``", "`")
            at = held.end() - 1
        elif character == ".":
            steps.append(step)
            step = ""
        else:
            step += character
        at += 1
    return (*steps, step) if path else ()


# ---- from a name to a source -----------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """A place in the rows: its Spark type, its text, the names to it; the others are those of `PropertySource`."""

    type: Any
    sql: str
    within: tuple[str, ...] | None = None
    path: tuple[str, ...] = ()
    asked: str = ""


class PropertySources:
    """Finds the sources of properties in rows of one schema.

    Args:
        rules: of names, see `mqsel.names.spellings`.

    Attributes:
        warnings: sentences about properties that no row has.
        hidden: by name, sentences about a column of this name where the property is read from the members of a layout.
        spelled: how the rows spell the names of those sources that they have.
    """

    def __init__(self, rows: DataFrame | StructType | str, layout: Layout, rules: str = "mqi") -> None:
        self.warnings: list[str] = []
        self.hidden: dict[str, str] = {}
        self.spelled: dict[str, str] = {}
        self._rules = rules
        self._layout = layout
        self._schema, self._is_case_sensitive = schema_of(rows)
        if setting(rows, _PATTERNS) == "true":
            raise ArgumentError(f"{_PATTERNS} is true: a column cannot be named", hint="set it to false")
        self._row = _Found(self._schema, "", ())
        self._frame: Any = rows if hasattr(rows, "sparkSession") else None
        self._is_database = any(one.getClass().getSimpleName().startswith("JDBC") for one in origins(rows))
        self._stored = _stored(rows)
        self._is_hive = bool(_of_leaves(rows, "HiveTableRelation", "tableMeta"))
        if layout.record is not None:
            self._check_record(layout.record)

    def source(self, name: str) -> PropertySource:
        """Find the source of the property *name*.

        Raises: PropertyTypeError: its column has a type that no property has; two names are it, or a key may be.
        """
        spelled = spellings(name, self._rules)
        declared = look_up(self._layout.types, name, self._rules)
        path = look_up(self._layout.places, name, self._rules)
        header = look_up(self._layout.headers, name, self._rules if self._rules == "folded" else "any")
        if path is not None:
            self.spelled[name] = self._own(self._layout.places, name)
            found = self._follow((path,)) or self._follow(_steps(path))
            if found is None:
                raise wordings.no_column(name, path, self._near(path))
            return self._typed(name, found, declared, None)
        if header is not None:
            self.spelled[name] = header.name
            found = self._follow((*self._layout.within, *header.path))
            return self._absent(name) if found is None else self._header(name, found, declared, header)
        members = self._layout.members
        if members is not None:
            holder = self._follow((*self._layout.within, *members.path))
            if holder is None:
                path = ".".join((*self._layout.within, *members.path))
                raise wordings.no_column(name, path, self._near(path))
            is_hidden = declared is None and self._note_hidden(name, spelled, members)
            own = self._spelling(holder, spelled[0])
            found = self._step(holder, own)
            if found is None:
                return _MISSING._replace(name=name) if is_hidden else self._absent(name)
            self.spelled[name] = own
            return self._member(name, own, holder, found, declared, members)
        found = self._column_of(spelled)
        if found is None and "." in name:
            found = self._follow(tuple(name.split(".")))
        if found is not None and found.path:
            self.spelled[name] = ".".join(found.path)
        return self._absent(name) if found is None else self._typed(name, found, declared, None)

    def _column_of(self, spelled: Iterable[str]) -> _Found | None:
        """Find the column, or the field of one, that a property is without a layout."""
        ways = [follow(one, self._row, self._named) for one in spelled]
        return next((way for way in ways if way is not None), None)

    def _note_hidden(self, name: str, spelled: Iterable[str], members: Members) -> bool:
        """Report whether rows have a column of a property that is read from members, and warn of it."""
        column = None
        with suppress(PropertyTypeError, ArgumentError):  # two columns of the name, or one that cannot be named
            column = self._column_of(spelled)
        holder = ".".join((*self._layout.within, *members.path))
        if column is None or not column.path or ".".join(column.path) == holder:
            return False
        path = ".".join(step if "." not in step else f"`{step}`" for step in column.path)
        within = f", record={self._layout.record!r}" if self._layout.record else f", members={holder!r}"
        self.hidden[name] = (
            f"'{name}' is read from '{holder}', as {within[2:]} says, not from the column '{path}'; "
            f"if that is meant: layout({{'{name}': '{path}'}}{within})"
        )
        return True

    def names(self) -> tuple[list[str], str]:
        """List the names that the schema gives to properties.

        Returns: the names; and where each row has names of its own, as in a map, Catalyst text of an array of them.
        """
        layout, around = self._layout, self._row
        known = [*layout.places, *layout.headers]
        if layout.members is not None:
            holder = self._follow((*layout.within, *layout.members.path))
            if holder is None or hasattr(holder.type, "keyType"):
                return known, f"map_keys({holder.sql})" if holder is not None else ""
            element = getattr(holder.type, "elementType", None)
            if {"key", "value"} <= {field.name for field in getattr(element, "fields", ())}:
                return known, f"transform({holder.sql}, h -> h.key)"
            around = holder
        return [*known, *_leaves(around.type)], ""

    def binary(self, path: str) -> str:
        """Find the column of raw messages.

        Returns: its Catalyst text.

        Raises: ArgumentError: there is none. PropertyTypeError: it is not binary.
        """
        found = self._follow((path,)) or self._follow(_steps(path))
        if found is None:
            raise ArgumentError(f"the messages are in '{path}': there is no such column{self._near(path)}")
        if type(found.type).__name__ != "BinaryType":
            type_name = found.type.simpleString()
            raise PropertyTypeError(
                f"the column of the messages, '{path}', is {type_name}: expected binary",
                value_type=type_name,
                hint="a text has lost bytes of a message: read the source as binary",
            )
        return found.sql

    def _check_record(self, record: str) -> None:
        """Refuse rows that have no column of a record, such as those of Kafka whose value nobody has decoded."""
        within, members = self._layout.within, self._layout.members
        known = {header.path[0]: None for header in self._layout.headers.values()}
        known |= dict.fromkeys(members.path[:1]) if members is not None else {}
        if members is None or not members.path or any(self._follow((*within, name)) for name in known):
            return
        hint = f"name the column that holds the record: layout(record='{record}', within=…)"
        value = self._follow(within or ("value",))
        if value is not None and type(value.type).__name__ in ("BinaryType", "StringType"):
            held = ".".join(within or ("value",))
            hint = f"decode '{held}' by from_avro or from_json, then use layout(record='{record}', within='{held}')"
        raise ArgumentError(
            f"the rows aren't records of '{record}': they have none of the columns {', '.join(known)}", hint=hint
        )

    def _follow(self, steps: tuple[str, ...]) -> _Found | None:
        found: _Found | None = self._row
        for number, step in enumerate(steps):
            found = self._step(found, step) if found is not None else self._aliased(steps[:2]) if number == 1 else None
        return found

    def _aliased(self, steps: tuple[str, ...]) -> _Found | None:
        """Find a column by the alias of a DataFrame, such as one side of a join: only Spark knows these."""
        from pyspark.logger import PySparkLogger  # noqa: PLC0415 (new in Spark 4.0)

        if self._frame is None or not all(map(is_writable, steps)):
            return None
        sql = ".".join(map(identifier, steps))
        # It would tell of the attempt at length. One that logging makes itself lacks what Spark calls it with.
        logger = PySparkLogger.getLogger("SQLQueryContextLogger")
        was_disabled, logger.disabled = logger.disabled, True
        try:
            schema = self._frame.select(F.expr(sql)).schema
        except AnalysisException:
            return None
        finally:
            logger.disabled = was_disabled
        found = self._field(self._row._replace(type=schema), steps[1])
        return None if found is None else self._column(found.type, sql, steps[1])

    def _named(self, found: _Found, name: str) -> _Found | None:
        """Follow a step of a name: only a field may have dots in its own."""
        if "." in name and type(found.type).__name__ != "StructType":
            return None
        own = self._spelling(found, name)
        inner = self._step(found, own)
        return None if inner is None else inner._replace(path=(*found.path, own))

    def _spelling(self, found: _Found, name: str) -> str:
        """Return how a place spells the name of something in it, where case does not count; else the name itself.

        Raises: PropertyTypeError: it spells it in two ways, or each row has names of its own.
        """
        if self._rules != "folded":
            return name  # as there is nothing to refuse
        if type(found.type).__name__ == "StructType":
            return self._own(found.type.names, name)
        if self._step(found, name) is not None:
            raise wordings.keys_in_any_case(name, found.type.simpleString())
        return name

    def _own(self, names: Iterable[str], name: str) -> str:
        """Return the one of some names that a name is, where case does not count; else the name itself."""
        if self._rules != "folded":
            return name
        return folded(((one, one) for one in names), by_casefold([name])).get(name, name)

    def _step(self, found: _Found, name: str) -> _Found | None:
        class_name = type(found.type).__name__
        if class_name == "StructType":
            return self._field(found, name)
        if class_name == "VariantType":
            return _Found(found.type, f"try_variant_get({found.sql}, {_json_path(name)}, 'variant')")
        if class_name == "MapType" and _is_plain_string(found.type.keyType, name, found):
            return _Found(found.type.valueType, f"{found.sql}[{text_literal(name)}]") if is_writable(name) else None
        if class_name == "ArrayType" and type(found.type.elementType).__name__ == "StructType":
            fields = {field.name: field.dataType for field in found.type.elementType.fields}
            if fields.keys() >= {"key", "value"} and _is_plain_string(fields["key"], name, found) and is_writable(name):
                # The last one counts, as it does for Kafka's own `lastHeader`.
                last = f"try_element_at(filter({VALUE}, h -> h.key = {text_literal(name)}), -1)"
                return _Found(fields["value"], looked_up(found.sql, f"{last}.value"))
        return None

    def _field(self, found: _Found, name: str) -> _Found | None:
        fields = [field for field in found.type.fields if field.name == name]
        if not fields:
            return None
        others = [field.name for field in found.type.fields if field.name.lower() == name.lower()]
        if len(fields) > 1:
            raise PropertyTypeError(
                f"{len(fields)} columns are called '{name}'",
                name=name,
                hint=f"after a join, name a column by its alias: properties={{'{name}': 'a.{name}'}}",
            )
        if len(others) > 1 and not self._is_case_sensitive:
            raise PropertyTypeError(
                f"'{name}' may be any of the columns {', '.join(map(repr, others))}: "
                "names of properties are case-sensitive",
                name=name,
                hint="set spark.sql.caseSensitive to true, or rename columns",
            )
        text = identifier(name)
        declared = (fields[0].metadata or {}).get("__CHAR_VARCHAR_TYPE_STRING", "")
        spark_type = _padded(fields[0].dataType, declared)
        if not found.sql:
            return self._column(spark_type, text, name)
        within = None if found.within is None else (*found.within, found.sql)
        return _Found(spark_type, f"{found.sql}.{text}", within)

    def _column(self, spark_type: Any, sql: str, name: str) -> _Found:
        own = _OWN.get(type(spark_type).__name__)
        if own is not None and self._is_database:
            return _Found(spark_type, own.format(sql))
        if own == _OWN_TEXT and self._stored is not None and name.lower() not in self._stored:
            read = f"nullif({sql}, {_NO_DIRECTORY})" if self._is_hive else sql
            return _Found(spark_type, own.format(read), asked=sql)
        return _Found(spark_type, sql, ())

    def _absent(self, name: str) -> PropertySource:
        self.warnings.append(f"no column has '{name}': it is NULL in every row{self._near(name)}")
        return _MISSING._replace(name=name)

    def _near(self, name: str) -> str:
        return did_you_mean(name, [field.name for field in self._schema.fields])

    def _header(self, name: str, found: _Found, declared: str | None, header: Header) -> PropertySource:
        as_text = type(found.type).__name__ in ("StringType", "VarcharType", "BinaryType")
        source = self._typed(name, found, declared or (header.type if as_text else None), self._layout.null)
        if header.words is None or declared is not None or source.type not in EXACT:
            return source
        words = " ".join(f"WHEN {number} THEN {text_literal(word)}" for number, word in header.words.items())
        return PropertySource(name, "string", f"CASE {source.sql} {words} END", source.raw)

    def _member(
        self, name: str, bare: str, holder: _Found, found: _Found, declared: str | None, members: Members
    ) -> PropertySource:
        if members.type_suffix is None or declared is not None:
            return self._typed(name, found, declared, self._layout.null)
        tag = self._step(holder, bare + members.type_suffix)
        if tag is None or type(tag.type).__name__ != "StringType":
            return self._typed(name, found, None, self._layout.null)
        said = f"coalesce({tag.sql}, 'string')"

        def by_row(said: str, sql: str) -> PropertySource:
            inner = found._replace(sql=sql)
            cases = [
                Case(word, type_name, self._typed(name, inner, type_name, self._layout.null).sql)
                for word, type_name in _WORDS.items()
            ]
            return PropertySource(name, "", said, sql, tuple(cases))

        shared = f"named_struct('type', {said}, 'value', {found.sql})"
        return by_row(said, found.sql)._replace(shared=(shared, by_row(f"{VALUE}.type", f"{VALUE}.value")))

    def _typed(self, name: str, found: _Found, declared: str | None, null: str | None) -> PropertySource:
        union = _union(found.type)
        if union is None:
            return _static(name, found, declared, null)._replace(within=found.within, asked=found.asked)
        cases: list[Case] = []
        fields = {field.name: field.dataType for field in found.type.fields}
        for said, (type_name, member) in union.items():
            if member is not None and member in fields:
                inner = _Found(fields[member], f"{found.sql}.{identifier(member)}")
                want = declared or type_name
                if declared is None or declared in _conversions(inner.type) or declared == type_name:
                    cases.append(Case(said, want, _static(name, inner, want, null).sql))
        tag = f"{found.sql}.{identifier(str(CONNECT.members.tag))}"
        if declared is None:
            shared = None if found.sql == VALUE else self._typed(name, found._replace(sql=VALUE), None, null)
            # A property that says it is null is missing, not unreadable.
            nothing = [said for said, (_, member) in union.items() if member is None]
            raw = f"CASE WHEN {tag} NOT IN ({', '.join(map(text_literal, nothing))}) THEN {tag} END"
            return PropertySource(name, "", tag, raw, tuple(cases), None if shared is None else (found.sql, shared))
        chosen = " ".join(f"WHEN {text_literal(case.tag)} THEN {case.sql}" for case in cases)
        sql = f"CASE {tag} {chosen} END" if cases else f"CAST(NULL AS {SPARK_TYPES[declared]})"
        return PropertySource(name, declared, sql, tag)


def _leaves(struct: Any, before: str = "") -> list[str]:
    """List the names of fields, and of those in structs; of what is no struct there are none."""
    found: list[str] = []
    for field in getattr(struct, "fields", ()):
        inner = _leaves(field.dataType, f"{before}{field.name}.")
        found += inner or [before + field.name]
    return found


def schema_of(rows: Any) -> tuple[Any, bool]:
    """Return the schema of rows, and whether its names are case-sensitive.

    Args:
        rows: a DataFrame, a StructType, or the text of a schema.

    Raises: ArgumentError: it is none of these.
    """
    schema = _from_ddl(rows) if isinstance(rows, str) else getattr(rows, "schema", rows)
    if type(schema).__name__ != "StructType":
        raise ArgumentError(
            f"the rows are a Python {type(rows).__qualname__}: expected a DataFrame or a schema",
            hint="pass the DataFrame that the column will be used with",
        )
    return schema, setting(rows, "spark.sql.caseSensitive") == "true"


def _from_ddl(text: str) -> Any:
    """Read a schema such as ``color string, weight int``; Spark does, in the active session."""
    if not hasattr(StructType, "fromDDL"):
        raise wordings.old_spark("a schema as a text", "4.0", "pass the DataFrame, or a StructType")
    try:
        return StructType.fromDDL(text)
    except PySparkException as error:
        said = str(error).strip().partition("\n")[0]
        raise ArgumentError(f"the schema {text!r} cannot be read: {said}", hint="color string, weight int") from error


def setting(rows: Any, name: str) -> str | None:
    """Read a setting of the session that the rows belong to, or of the active one."""
    session = session_of(rows)
    return None if session is None else str(session.conf.get(name)).lower()


def session_of(rows: Any) -> Any:
    """Return the session that the rows belong to, or the active one; None if there is none."""
    return rows.sparkSession if hasattr(rows, "sparkSession") else SparkSession.getActiveSession()


def origins(rows: Any) -> list[Any]:
    """List what rows are read from, as objects of Java: relations, and tables of Spark's second interface for sources.

    Spark Connect does not tell.
    """
    return [*_of_leaves(rows, "LogicalRelation", "relation"), *_of_leaves(rows, "DataSourceV2Relation", "table")]


def _of_leaves(rows: Any, class_name: str, method: str) -> list[Any]:
    """List what a method returns of the leaves of a plan that are of a class."""
    if getattr(rows, "_jdf", None) is None:
        return []
    leaves: Any = rows._jdf.queryExecution().analyzed().collectLeaves()  # noqa: SLF001 (nothing public tells)
    found = map(leaves.apply, range(leaves.size()))
    return [getattr(one, method)() for one in found if one.getClass().getSimpleName() == class_name]


def _stored(rows: Any) -> set[str] | None:
    """Return the names of columns that are in the files of tables, in lower case, where directories name others.

    Returns: None where no table of a catalog has directories.
    """
    tables = [one.get() for one in _of_leaves(rows, "LogicalRelation", "catalogTable") if one.isDefined()]
    tables += _of_leaves(rows, "HiveTableRelation", "tableMeta")
    of_directories, of_files = (
        {name.lower() for one in tables for name in getattr(one, schema)().fieldNames()}
        for schema in ("partitionSchema", "dataSchema")
    )
    return of_files - of_directories if of_directories else None


def _padded(spark_type: Any, declared: str) -> Any:
    """Put char(n) back into a type that Spark reads as plain strings, from the text that keeps how it was declared."""
    if "char(" not in declared:
        return spark_type
    # Names of fields stand before a colon. Types follow each other in the order of the fields in both.
    declared = re.sub("`(?:[^`]|``)*`(:?)", lambda name: "" if name[1] else name[0], declared)
    texts = iter(re.findall(r"(?<![\w$])(string|(?:var)?char\(\d+\))(?!\w*:)", declared))

    def restored(spark_type: Any) -> Any:
        match type(spark_type).__name__:
            case "StringType":
                text = next(texts, "")
                return T.CharType(int(text[5:-1])) if text.startswith("char") else spark_type
            case "StructType":
                fields = [T.StructField(one.name, restored(one.dataType)) for one in spark_type.fields]
                return T.StructType(fields)
            case "MapType":
                return T.MapType(restored(spark_type.keyType), restored(spark_type.valueType))
            case "ArrayType":
                return T.ArrayType(restored(spark_type.elementType))
        return spark_type

    return restored(spark_type)


def _is_plain_string(spark_type: Any, name: str, holder: _Found) -> bool:
    """Report whether the names of properties can be looked up among keys of a type.

    Raises: PropertyTypeError: they are padded, so that no name would be found.
    """
    if type(spark_type).__name__ == "CharType":
        raise wordings.column_type(name, holder.type.simpleString(), "its keys are padded: cast them to string")
    return type(spark_type).__name__ in ("StringType", "VarcharType") and not _collation(spark_type)


def _json_path(name: str) -> str:
    """Write the path to a member of a variant."""
    quote = '"' if "'" in name else "'"
    if quote in name or not is_writable(name):
        raise wordings.unusable_column(name)
    return text_literal(f"$[{quote}{name}{quote}]")


def _collation(spark_type: Any) -> str:
    collation = str(getattr(spark_type, "collation", "UTF8_BINARY"))
    return "" if collation == "UTF8_BINARY" else collation


def is_collated(spark_type: Any) -> bool:
    """Report whether texts of a type, or of what it is made of, have a collation."""
    fields = [field.dataType for field in getattr(spark_type, "fields", ())]
    inner = [getattr(spark_type, part, None) for part in ("elementType", "keyType", "valueType")]
    return bool(_collation(spark_type)) or any(is_collated(one) for one in (*fields, *inner) if one is not None)


def _union(spark_type: Any) -> Mapping[str, tuple[str, str | None]] | None:
    """Return the types of a struct that names the type of its value, such as Confluent's PropertyValue."""
    is_union = type(spark_type).__name__ == "StructType" and CONNECT.members.tag in spark_type.names
    return CONNECT.members.tags if is_union else None


def _conversions(spark_type: Any) -> Mapping[str, str]:
    if type(spark_type).__name__ == "DecimalType":
        return {**(_TO_INTEGER if spark_type.scale == 0 else {}), **_TO_FLOAT}
    if type(spark_type).__name__ == "BinaryType":
        return _FROM_TEXT
    return _CONVERSIONS.get(type(spark_type).__name__, {})


def _static(name: str, found: _Found, declared: str | None, null: str | None) -> PropertySource:
    """Return the source of a plain column."""
    spark_type, sql = found.type, found.sql
    class_name = type(spark_type).__name__
    if class_name == "CharType":
        # The padding belongs to the column, not to the value; only the owner knows whether blanks do.
        if declared is None:
            hint = f"declare it: types={{'{name}': 'string'}} drops the padding"
            raise wordings.column_type(name, spark_type.simpleString(), hint)
        sql, class_name = f"rtrim({sql})", "StringType"
    if class_name in ("StringType", "VarcharType") and _collation(spark_type):
        sql = f"collate({sql}, 'UTF8_BINARY')"
    raw = sql
    type_name = _TYPE_NAMES.get(class_name)
    if type_name == "bytes" and declared not in (None, "bytes"):
        sql, type_name, class_name = f"try_validate_utf8(CAST({sql} AS STRING))", "string", "StringType"
    if type_name == "string" and null is not None:
        sql = raw = f"CASE WHEN {sql} <> {text_literal(null)} THEN {sql} END"
    if type_name == "null":
        return PropertySource(name, "null", "NULL", "NULL")
    if declared is None or declared == type_name:
        if type_name is not None:
            return PropertySource(name, type_name, sql, raw)
        if class_name == "DecimalType" and spark_type.scale == 0 and spark_type.precision <= _EXACT_DIGITS:
            return PropertySource(
                name, "int64", f"CAST({sql} AS BIGINT)", raw, steps=_ordered(spark_type, "int64", sql)
            )
    if declared is None and spark_type.simpleString() == _UNSIGNED:
        declared = "int64"
    conversions = _FROM_TEXT if class_name == "StringType" else _conversions(spark_type)
    if declared is None or declared not in conversions:
        hint = f"declare it as {' or '.join(conversions)}: types={{'{name}': …}}" if conversions else ""
        if class_name == "StructType" and spark_type.names and TYPE_NAMES.keys() >= {*spark_type.names}:
            hint = wordings.TYPED_JSON
        raise wordings.column_type(name, spark_type.simpleString(), hint, declared)
    text = conversions[declared]
    if text.count("{0}") > 1 and ("(" in sql or "[" in sql):
        return PropertySource(name, declared, looked_up(sql, text.format(VALUE)), raw)
    return PropertySource(name, declared, text.format(sql), raw, steps=_ordered(spark_type, declared, sql))


def _ordered(spark_type: Any, declared: str, sql: str) -> Steps | None:
    """Report how a column is compared itself, of which a number is read that grows with it."""
    match type(spark_type).__name__:
        case "TimestampType":
            return Steps(sql, "timestamp_micros({0}L)", (1000, 1), 1 << 63)
        case "DateType":  # as a text, too: a text that is a date is compared as one
            return Steps(sql, "date_from_unix_date({0})", (1, 86_400_000), 1 << 31)
        case "DecimalType":
            digits, scale = spark_type.precision, spark_type.scale
            bits = _BITS[declared]
            ends = (-(1 << bits - 1), (1 << bits - 1) - 1) if declared in EXACT and 10**digits > 1 << bits - 1 else None
            literal = f"CAST('{{0}}e-{scale}' AS DECIMAL({digits},{scale}))"
            return Steps(sql, literal, (10**scale, 1), 10**digits, ends)
    return None
