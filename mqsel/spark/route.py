"""Which of many selectors select a row: the Column of their keys, one row for each delivery, and what readers may skip.

A few selectors that all have exact expressions become one Catalyst expression; any others are one Arrow function over
the columns that they read, with which the set travels (`mqsel.spark.sets`). Follows spark §13.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql import types as T  # noqa: N812 (its usual name)
from pyspark.sql.types import StructType

from mqsel.arguments import check_word
from mqsel.carets import shortened
from mqsel.errors import ArgumentError, FileError, MqselError
from mqsel.files.selectors import selectors as read_selectors
from mqsel.inventory import Entry, kind_of_file
from mqsel.inventory.keyed import selector_set
from mqsel.language.computed import time_of
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect, core_of
from mqsel.matcher import Matcher
from mqsel.names import by_casefold, spellings
from mqsel.sets.set import SelectorSet, left_out
from mqsel.spark import planning, sets, wordings
from mqsel.spark.columns import Layout, Place, PropertySource, PropertySources, session_of, text_literal
from mqsel.spark.planning import Plan, arrow_layout, check_batches, check_strategy, warn
from mqsel.spark.raw import MessageColumn, message_sources, message_text, where
from mqsel.spark.ship import arrow_call, table
from mqsel.spark.sieve import sieve

Selectors = SelectorSet[Any] | Mapping[Any, str | Matcher] | str | os.PathLike[str] | Any  # or a DataFrame
Faulty = tuple[tuple[Any, MqselError], ...]

# Characters of a native expression: of 5,100 Java compiles the method that Spark generates, of 6,100 it does not, and a
# row costs five times as much; up to there the Arrow function costs more (spark §13).
MOST_NATIVE = 4_500
_KEYED = ("", "keyed", "keyed-json", "parquet")  # kinds of files that have only keys and selectors
_NAMED = 5  # of missing properties in a warning
_LOOKED_AT = 200  # selectors whose tests are held against the types of the columns


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """How Spark evaluates many selectors over a DataFrame. If you print it, you see a table.

    Attributes:
        selectors: The set, without the selectors that are invalid.
        type: The type of keys: "string" or "bigint".
        strategy: "native": one Catalyst expression; or "arrow": the set over Arrow columns.
        why: Why it is not native; empty if it is.
        sql: The Catalyst expression of the array of keys; empty if the strategy is "arrow".
        sources: Where the properties come from, each a `PropertySource`.
        faulty: The key and the error of each selector that was left out.
        warnings: Sentences about results that may surprise you.
        raw: The Catalyst expression of the column of raw messages, and how they are read; None if columns have the
            properties.
        session: The Spark session of the rows.
        now: The time that UTC() returns in the whole query.
    """

    selectors: SelectorSet[Any]
    type: str
    strategy: str
    why: str
    sql: str
    sources: tuple[PropertySource, ...]
    faulty: Faulty
    warnings: tuple[str, ...]
    raw: tuple[str, MessageColumn] | None
    session: SparkSession
    now: int

    @property
    def sieve(self) -> str:
        """A Catalyst expression that holds for each selected row: "true" if none is known, "false" if none matches."""
        is_known = self.raw is None and self.selectors.keep_text
        return sieve(self.selectors, {one.name: one for one in self.sources}) if is_known else "true"

    def column(self) -> Column:
        """Return the Column of the keys."""
        if self.strategy == "native":
            return F.expr(self.sql).alias("subscribers")
        held = sets.shipped(self.selectors, self.session)
        if self.raw is not None:
            text, messages = self.raw
            options = json.dumps({**json.loads(messages.options()), "now": self.now})
            return self._call("keys_of_messages", held, [text], options).alias("subscribers")
        layout, columns = arrow_layout(self.sources)
        options = json.dumps({"layout": layout, "now": self.now})
        return self._call("keys_of_rows", held, columns, options).alias("subscribers")

    def _call(self, task: str, held: bytes, columns: list[str], options: str) -> Column:
        # Told that no key is NULL, Spark copies them without asking of each (spark §13).
        returned = T.ArrayType(T.LongType() if self.type == "bigint" else T.StringType(), containsNull=False)
        task = f"mqsel.spark.sets:{task}"
        return arrow_call("a set of selectors", held, options, columns, returned, task).column()

    def __str__(self) -> str:
        return "\n".join(table([("", ""), *self._rows()])[1:])

    def _repr_html_(self) -> str:
        return planning.rows_in_html(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("selectors", f"{len(self.selectors):,}"), ("strategy", self.strategy)]
        rows += [("", self.why)] * bool(self.why)
        rows += [("Catalyst", self.sql)] * bool(self.sql)
        rows.append(("sieve", self.sieve))
        rows += [planning.described(source) for source in self.sources]
        rows += [("faulty", f"{shortened(key)}: {error.message}") for key, error in self.faulty]
        return rows + [("warning", warning) for warning in self.warnings]


def route(
    selectors: Selectors,
    rows: DataFrame | StructType | str,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    strategy: str | None = None,
    errors: str | None = None,
    now: int | None = None,
) -> Column:
    """Return a Column with the keys of the selectors that select a row.

    The type of the Column is array<string>, or array<bigint> if the keys are int. The array is in the order of the set.
    It is empty if no selector selects the row. Later changes of the set don't count.

    Args:
        selectors: A `mqsel.SelectorSet`; a mapping of keys to selectors; a DataFrame with the columns ``key`` and
            ``selector``; the path of a file that `SelectorSet.save` wrote, of a file that `mqsel.files.selectors`
            reads, or of a file or folder that `mqsel.inventory` reads; or a list of such paths, or of entries of an
            inventory. Keys are str or int. Entries of an inventory have the keys that `SelectorSet.from_inventory`
            gives them.
        rows: The DataFrame, or its schema, as for `column`.
        properties: Where the properties are, as for `column`.
        types: The types of properties, as for `column`.
        dialect: The `Dialect`, or its name, of texts. The default is IBM_MQ. A SelectorSet, and each entry of an
            inventory, has its own.
        strategy: "native" or "arrow" to force a strategy. The default is None.
        errors: "raise": raise the error of the first invalid selector. "skip": leave invalid selectors out, with a
            warning. The default is "raise" for a mapping, and "skip" for a DataFrame, a file or an inventory.
        now: The time that UTC() returns, as for `column`.

    Raises: SelectorError: if a selector is invalid. The error has its ``key``.
        PropertyTypeError: if a column that a selector reads has a type that no property can have.
        ArgumentError: if an argument has the wrong type, or a key is neither a str nor an int.
    """
    made = planned(selectors, rows, properties, types, dialect, strategy, errors, now)
    warn(made.warnings)
    return made.column()


def any_of(
    selectors: Selectors,
    rows: DataFrame | StructType | str,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    errors: str | None = None,
) -> Column:
    """Return a fast Column that is TRUE for every row that any selector of a set selects, and also for other rows.

    Use ``df.filter(any_of(s, df))`` before `route`. It is an OR of a few conditions on single columns, which readers
    accept. So Spark leaves out partitions, row groups and rows before it decodes them (spark §4).

    Args: those of `route`.

    Raises: the errors of `route`.
    """
    made = planned(selectors, rows, properties, types, dialect, None, errors)
    warn(made.warnings)
    return F.expr(made.sieve)


def deliveries(
    selectors: Selectors,
    rows: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    strategy: str | None = None,
    errors: str | None = None,
    now: int | None = None,
    subscriber: str = "subscriber",
) -> DataFrame:
    """Return one row for each delivery: the row, with the key of one selector that selects it in a further column.

    Rows that no selector selects are left out. Those that `any_of` excludes are left out before they are decoded.

    Args: *subscriber* is the name of the column of the key. The others are those of `route`.

    Raises: the errors of `route`. ArgumentError: if *rows* has a column of the name *subscriber*.
    """
    made = planned(selectors, rows, properties, types, dialect, strategy, errors, now)
    if subscriber.lower() in [name.lower() for name in rows.columns]:
        raise ArgumentError(
            f"there is a column '{subscriber}' already", hint="name the column of the keys: subscriber='…'"
        )
    warn(made.warnings)
    return rows.filter(F.expr(made.sieve)).select("*", F.explode(made.column()).alias(subscriber))


def plan(
    selector: str | Matcher | Selectors,
    rows: DataFrame | StructType | str,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    strategy: str | None = None,
    errors: str | None = None,
    now: int | None = None,
) -> Plan | RoutePlan:
    """Return how `column` would evaluate a selector, or `route` a set of selectors, and why.

    Args: those of `column` or of `route`. To name a file, pass a Path, because a str is a selector.

    Returns: a `Plan` for a str or a `Matcher`, and a `RoutePlan` for anything else.

    Raises: the errors of `column` or `route`.
    """
    if isinstance(selector, str | Matcher):
        return planning.plan(
            selector, rows, properties=properties, types=types, dialect=dialect, strategy=strategy, now=now
        )
    return planned(selector, rows, properties, types, dialect, strategy, errors, now)


# ---- the selectors ---------------------------------------------------------------------------------------------------


def as_set(
    selectors: Selectors, dialect: Dialect | str | None, errors: str | None = None
) -> tuple[SelectorSet[Any], Faulty]:
    """Read the arguments ``selectors``, ``dialect`` and ``errors`` of `route`.

    Returns: the set, and key and error of the faulty ones.

    Raises: SelectorError, ArgumentError: as `route`.
    """
    if errors is not None:
        check_word("errors", errors, ("raise", "skip"))
    read_as = None if dialect is None else as_dialect(dialect)
    if isinstance(selectors, str | os.PathLike):
        path = Path(selectors)
        if sets.is_saved(path):
            selectors = SelectorSet.open(path)
        elif path.is_dir() or kind_of_file(path) not in _KEYED:
            return _of_inventory(selectors, read_as, errors)
        else:
            try:
                selectors, errors = [(one.key, one.selector) for one in read_selectors(path)], errors or "skip"
            except FileError as error:
                raise _gone(error) from error
    elif hasattr(selectors, "collect") and hasattr(selectors, "schema"):
        selectors, errors = _of_frame(selectors), errors or "skip"
    elif isinstance(selectors, Iterable) and not isinstance(selectors, Mapping):
        selectors = [*selectors]
        if selectors and all(isinstance(one, str | os.PathLike | Entry) for one in selectors):
            return _of_inventory(selectors, read_as, errors)
    if isinstance(selectors, SelectorSet):
        if read_as not in (None, selectors.dialect):
            raise ArgumentError(f"dialect is {read_as!r}: the set has {selectors.dialect!r}", hint="leave out dialect")
        return selectors, ()
    made: SelectorSet[Any] = SelectorSet(dialect=read_as or IBM_MQ)
    if errors == "skip":
        return made, tuple(made.admit(selectors).items())
    made.update(selectors)
    return made, ()


def _of_inventory(paths: Any, dialect: Dialect | None, errors: str | None) -> tuple[SelectorSet[Any], Faulty]:
    made, faulty = selector_set(SelectorSet, paths, dialect=dialect, errors=errors or "skip")
    named = [paths] if isinstance(paths, str | os.PathLike) else [one for one in paths if not isinstance(one, Entry)]
    names = {os.fspath(one) for one in named}
    for _, error in faulty:
        if errors is None and isinstance(error, FileError) and error.path in names and _is_gone(error.path):
            raise _gone(error) from error
    return made, tuple(faulty)


def _is_gone(path: str) -> bool:
    return "://" not in path and not Path(path).exists()


def _gone(error: FileError) -> FileError:
    """Return an error of a path that leads to no file, with what to do where it is a selector."""
    if not _is_gone(error.path):
        return error
    return FileError(error.message, path=error.path, hint="pass selectors by key: route({'key': 'weight > 5'}, rows)")


def _of_frame(frame: Any) -> list[tuple[Any, Any]]:
    """Collect keys and selectors.

    Raises: ArgumentError: it has no such columns, a key twice, or NULL for a key or a selector.
    """
    if not {"key", "selector"} <= set(frame.columns):
        raise ArgumentError(
            f"the selectors have the columns {', '.join(frame.columns)}: expected key and selector",
            hint="df.select(df.id.alias('key'), df.text.alias('selector'))",
        )
    found: dict[Any, Any] = {}
    for key, selector in frame.select("key", "selector").collect():
        if key is None or selector is None:
            raise ArgumentError(f"the selector of {shortened(key)} is NULL" if selector is None else "a key is NULL")
        if key in found:
            raise ArgumentError(f"the key {shortened(key)} stands twice", hint="df.dropDuplicates(['key'])")
        found[key] = selector
    return [*found.items()]


def key_type(keys: Iterable[Any]) -> str:
    """Return the type of a column of keys.

    Raises: ArgumentError: there is none.
    """
    keys = list(keys)
    kinds = {type(key) for key in keys}
    if len(kinds) > 1 or not kinds <= sets.KEYS.keys():
        unusable = [key for key in keys if type(key) not in sets.KEYS]
        found = f"not all str or int, such as {shortened(unusable[0])}" if unusable else "both str and int"
        raise ArgumentError(f"the keys are {found}: a column has one type", hint="make all keys str")
    return sets.KEYS[kinds.pop() if kinds else str]


# ---- planning --------------------------------------------------------------------------------------------------------


def planned(
    selectors: Selectors,
    rows: DataFrame | StructType | str,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    strategy: str | None = None,
    errors: str | None = None,
    now: int | None = None,
) -> RoutePlan:
    """Read the arguments of `route`, and plan."""
    check_strategy(strategy)
    made, faulty = as_set(selectors, dialect, errors)
    kind = key_type(made)
    held = where(properties, types)
    said = [left_out(faulty)] * bool(faulty)
    if isinstance(held, MessageColumn):
        text = message_text(rows, held)
        made.decoder(held.format)  # or refuses
        sql, why = "", f"the properties are in the bytes of the messages in {text}"
        sources, raw = message_sources(made.properties, text, held), (text, held)
    else:
        sources, missing = sources_of(made, made.properties, made.in_any_case, rows, held)
        said += [*missing, *_surprises(made, rows, held, sources)]
        raw = None
        sql, why = ("", "the Arrow strategy is forced") if strategy == "arrow" else _native(made, rows, held)
    if why and strategy == "native":
        raise wordings.not_native("the set", why)
    name = "arrow" if why else "native"
    if why:
        check_batches(rows)
    return RoutePlan(made, kind, name, why, sql, sources, faulty, tuple(said), raw, session_of(rows), time_of(now))


def sources_of(
    selectors: SelectorSet[Any],
    names: Iterable[str],
    in_any_case: Iterable[str],
    rows: DataFrame | StructType | str,
    held: Layout,
) -> tuple[tuple[PropertySource, ...], list[str]]:
    """Find where properties that a set reads come from, and say which no column has.

    Args:
        names: of the properties.
        in_any_case: those of them that count without regard to case. Their sources have the names that the rows have,
            since others may read these as they are spelled.
    """
    # The strictest rules first: what they find is everybody's; what others find has a name that not everybody reads.
    rules = sorted({core_of(dialect).naming for _, dialect in selectors.dialects()} - {"folded"})
    by_rules = [PropertySources(rows, held, rule) for rule in rules]
    found: dict[str, PropertySource] = {}
    anyhow = PropertySources(rows, held, "folded")
    for name in by_casefold(in_any_case).values():
        source = anyhow.source(name)
        own = anyhow.spelled.get(name, name)
        found[own] = source._replace(name=own)
    for name in names if rules else ():
        if name in found and found[name].type != "null":
            continue
        ways = [one.source(name) for one in by_rules]
        rule, way = next((one for one in zip(rules, ways, strict=True) if one[1].type != "null"), (rules[-1], ways[-1]))
        found[name] = way if way is ways[0] else way._replace(name=spellings(name, rule)[-1])
    hidden = {name: sentence for one in (*by_rules, anyhow) for name, sentence in one.hidden.items()}
    missing = [name for name, source in found.items() if source.type == "null" and name not in hidden]
    named = ", ".join(map(repr, missing[:_NAMED])) + ", …" * (len(missing) > _NAMED)
    said = [f"no column has {named}: NULL in every row, {len(missing):,} of {len(found):,} properties"] * bool(missing)
    return tuple(found.values()), [*hidden.values(), *said]


def _surprises(selectors: SelectorSet[Any], rows: Any, held: Layout, sources: Iterable[PropertySource]) -> list[str]:
    """Report which tests of the first selectors no row can pass, by the types of columns, and what is not read."""
    found = {source.name: source for source in sources}
    read = islice(sets.read(selectors), _LOOKED_AT) if selectors.keep_text else ()
    some = [one for one in read if found.keys() >= {*one.names.values()}]
    mismatched, unread = planning.first_look(some, rows, held, found)
    dates = {name: text for one in some for name, text in planning.date_surprises(one, found).items()}
    return [*mismatched.values(), *unread, *dates.values()]


def _native(selectors: SelectorSet[Any], rows: Any, held: Layout) -> tuple[str, str]:
    """Write a set as one Catalyst expression.

    Returns: its text, and why it has none.
    """
    if not selectors.keep_text:
        return "", "the set did not keep the texts of its selectors"
    texts: list[str] = []
    length = 0
    for key in selectors:
        one = planning.as_selector(selectors.matcher(key), None)
        found = PropertySources(rows, held, one.naming)
        text, why = planning.native_text(one, {name: found.source(name) for name in one.names.values()})
        if why:
            return "", f"{shortened(key)}: {why}"
        written = text_literal(key) if isinstance(key, str) else f"{key}L"
        # No lambda function: Spark generates no code for one.
        texts.append(f"CASE WHEN {text} THEN array({written}) ELSE array() END")
        length += len(texts[-1])
        if length > MOST_NATIVE:
            return "", f"the expression is longer than {MOST_NATIVE:,} characters"
    return f"CAST(concat({', '.join([*texts, 'array()'])}) AS ARRAY<{key_type(selectors)}>)", ""
