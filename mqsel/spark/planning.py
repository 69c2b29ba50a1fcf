"""Which strategy a selector takes over the rows of a DataFrame, and the Column of it.

The native strategy is one Catalyst expression. The Arrow strategy is the conjuncts that have one, AND the rest in the
machine: at the top of a selector ERR is FALSE, so an AND of three-valued conjuncts is exact. Follows spark §2.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import StructType

import mqsel.matcher
from mqsel.carets import quoted, shortened
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError
from mqsel.formats.records import UNREADABLE, readers
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import And, Comparison, Identifier, In, Like, Literal, unparse
from mqsel.language.selector import Selector, at_time
from mqsel.machine.compiler import program_of
from mqsel.machine.origin import selector_of
from mqsel.matcher import Matcher
from mqsel.names import look_up, near_names
from mqsel.notebook import code
from mqsel.notebook import table as html_table
from mqsel.spark import wordings
from mqsel.spark.columns import (
    Layout,
    Place,
    PropertySource,
    PropertySources,
    identifier,
    is_collated,
    origins,
    schema_of,
    session_of,
    setting,
    text_literal,
    type_text,
)
from mqsel.spark.native import MAX_LENGTH, MAX_TESTS, NoTranslation, both, condition, final, is_date, tests
from mqsel.spark.raw import (
    MessageColumn,
    message_call,
    message_decoder,
    message_properties,
    message_sources,
    message_text,
    where,
)
from mqsel.spark.ship import Call, arrow_call, table
from mqsel.spark.wordings import TYPED_JSON
from mqsel.values import KINDS, TYPE_NAMES, TYPES

if TYPE_CHECKING:
    from pyspark import RDD

MAX_REASONS = 10  # of a selector too long to list them all
STRATEGIES = ("native", "arrow")
_DECLARED = {"number": ("int64", "float64"), "string": ("string",), "boolean": ("boolean",)}  # what a hint says
_FAMILIES = {row.name: KINDS[row.kind] for row in TYPES if row.kind in KINDS}


@dataclass(frozen=True, slots=True)
class Plan:
    """How Spark evaluates a selector over a DataFrame. If you print it, you see a table.

    Attributes:
        selector: The text of the selector.
        dialect: The dialect by which the text was read.
        strategy: "native": one Catalyst expression; or "arrow": mqsel over Arrow columns.
        why: The part that is not native, and the reason; empty if the strategy is native.
        sql: The Catalyst expression: the whole selector if the strategy is native, otherwise the prefilter, which may
            be empty.
        rest: The selector that mqsel evaluates for the rows that pass the prefilter; empty if the strategy is native.
        machine: `rest` as it was read; None if the strategy is native.
        sources: Where the properties come from, each a `PropertySource`.
        warnings: Sentences about results that may surprise you.
        raw: The Catalyst expression of the column of raw messages, and how they are read; None if columns have the
            properties.
    """

    selector: str
    dialect: Dialect
    strategy: str
    why: tuple[tuple[str, str], ...]
    sql: str
    rest: str
    machine: Selector | None
    sources: tuple[PropertySource, ...]
    warnings: tuple[str, ...]
    raw: tuple[str, MessageColumn] | None = None

    def column(self) -> Column:
        """Return the Column: TRUE, FALSE, or NULL for UNKNOWN."""
        call = self.call()
        if call is None:
            return F.expr(self.sql)
        return F.expr(self.sql) & call.column() if self.sql else call.column()

    def call(self) -> Call | None:
        """Return the Arrow function that evaluates the part that is not native; None if the strategy is native."""
        if self.machine is None:
            return None
        if self.raw is not None:
            return message_call(self.machine, *self.raw)
        return selector_call(self.machine, self.sources)

    def __str__(self) -> str:
        return "\n".join(table([("", ""), *self._rows()])[1:])

    def _repr_html_(self) -> str:
        return rows_in_html(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("selector", self.selector), ("strategy", self.strategy)]
        rows += [("", f"{text}: {reason}") for text, reason in self.why]
        if self.sql:
            rows.append(("Catalyst" if self.strategy == "native" else "prefilter", self.sql))
        if self.rest:
            rows.append(("Arrow", self.rest))
        rows += map(described, self.sources)
        return rows + [("warning", warning) for warning in self.warnings]


def rows_in_html(rows: Iterable[tuple[str, str]]) -> str:
    """Write the rows of a plan as HTML."""
    return html_table(("", ""), [(escape(head), code(text)) for head, text in rows])


def described(source: PropertySource) -> tuple[str, str]:
    """Return where a property comes from: a row of a plan."""
    named = source.type or " or ".join(dict.fromkeys(case.type for case in source.cases)) or "any type"
    return f"'{source.name}'", "no column: NULL" if named == "null" else f"{named} from {source.sql}"


def column(
    selector: str | Matcher,
    rows: DataFrame | StructType | str,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    strategy: str | None = None,
    now: int | None = None,
) -> Column:
    """Return a Column that is TRUE if a row is selected, FALSE if not, and NULL if the selector is UNKNOWN.

    Use it as ``df.filter(column(selector, df))``. You can combine it by ``~``, ``&`` and ``|``.

    Args:
        selector: A str or a `Matcher`. A str that doesn't compile is an error here, on the driver.
        rows: The DataFrame, or its schema: a StructType, or a str such as ``"color string"``.
        properties: Where the properties are: the result of `layout`, or of `mq_message` for raw messages. The default
            is None: each property is the column of its name.
        types: A mapping of properties to types, if the source has lost them, as for `layout`. The default is None.
        dialect: The `Dialect`, or its name, if *selector* is a str. The default is IBM_MQ. A Matcher has its own.
        strategy: "native" or "arrow" to force a strategy. The default is None: native if the whole selector has an
            exact expression. If you force "arrow", there is no prefilter.
        now: The time that UTC() returns in the whole query, in milliseconds since 1970. The default is the time of this
            call.

    Raises: SelectorError: if the selector is invalid.
        PropertyTypeError: if a column that the selector reads has a type that no property can have.
        ArgumentError: if an argument has the wrong type, or the selector can't have the strategy.
    """
    made = plan(selector, rows, properties=properties, types=types, dialect=dialect, strategy=strategy, now=now)
    warn(made.warnings)
    return made.column()


def rows(
    selector: str | Matcher,
    frame: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    now: int | None = None,
) -> RDD[Row]:
    """Return the Rows of a DataFrame that a selector selects, as an RDD: the result of ``frame.filter(column(…)).rdd``.

    A Row has lost the types of its columns, so ``frame.rdd.mapPartitions(matcher.filter)`` has other results.

    Args: those of `column`.

    Raises: the errors of `column`. MqselError: if the session is Spark Connect, which has no RDDs.
    """
    if not isinstance(frame, DataFrame):
        raise ArgumentError(
            f"frame is a Python {type(frame).__qualname__}: expected a DataFrame",
            hint="filter Python objects by rdd.mapPartitions(matcher.filter)",
        )
    if not hasattr(frame, "_jdf"):
        raise MqselError("Spark Connect has no RDDs", hint="use frame.filter(mqsel.spark.column(selector, frame))")
    planned = plan(selector, frame, properties=properties, types=types, dialect=dialect, now=now)
    warn(planned.warnings)
    return frame.filter(planned.column()).rdd


def plan(
    selector: str | Matcher,
    rows: DataFrame | StructType | str,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    strategy: str | None = None,
    now: int | None = None,
) -> Plan:
    """Return how `column` would evaluate a selector, and why.

    Args: those of `column`.

    Raises: the errors of `column`.
    """
    check_strategy(strategy)
    whole = as_selector(selector, dialect, now)
    held = where(properties, types)
    if isinstance(held, MessageColumn):
        return _message_plan(whole, rows, held, strategy)
    found = PropertySources(rows, held, whole.naming)
    sources = {name: found.source(name) for name in dict.fromkeys(whole.names.values())}
    mismatched, unread = first_look([whole], rows, held, sources)
    _check_names(rows, held, whole, {name for name in sources if sources[name].type == "null"} | mismatched.keys())
    hidden = found.hidden
    mismatches = [f"{text}; {hidden.pop(name)}" if name in hidden else text for name, text in mismatched.items()]
    said = (*found.warnings, *hidden.values(), *mismatches, *unread, *date_surprises(whole, sources).values())
    native, rest, why = _divided(whole, sources, strategy)
    if rest is not None:
        if strategy == "native":
            raise wordings.not_native(*why[0])
        check_batches(rows)
    return Plan(
        whole.text,
        whole.dialect,
        "native" if rest is None else "arrow",
        tuple(why),
        both(*native) or ("true" if rest is None else ""),
        "" if rest is None else unparse(rest.node) if native else whole.text,
        rest,
        tuple(sources.values()),
        said,
    )


def warn(said: Iterable[str]) -> None:
    """Warn whoever called the function that calls this, of each sentence once."""
    for sentence in dict.fromkeys(said):
        warnings.warn(sentence, stacklevel=3)


def check_strategy(strategy: str | None) -> None:
    """Refuse what is no strategy."""
    if strategy not in (None, *STRATEGIES):
        raise ArgumentError(f"strategy is {strategy!r}: expected {' or '.join(map(repr, STRATEGIES))}, or None")


def as_selector(selector: str | Matcher, dialect: Dialect | str | None, now: int | None = None) -> Selector:
    """Read the arguments ``selector``, ``dialect`` and ``now``; UTC() becomes the time that it is in the whole query.

    Raises: SelectorError: as `mqsel.compile`. ArgumentError: there is no such dialect, or a Matcher has another.
    """
    if dialect is not None:
        dialect = as_dialect(dialect)
    if isinstance(selector, Matcher):
        if dialect not in (None, selector.dialect):
            raise ArgumentError(
                f"dialect is {dialect!r}: the Matcher was compiled as {selector.dialect!r}", hint="leave out dialect"
            )
        return at_time(selector_of(selector.program), now)
    made = mqsel.matcher.compile(selector, dialect=IBM_MQ if dialect is None else dialect)
    return at_time(selector_of(made.program), now)


def _message_plan(
    selector: Selector, rows: DataFrame | StructType | str, messages: MessageColumn, strategy: str | None
) -> Plan:
    """Plan for raw messages: also one that reads no property, since what cannot be read is not selected."""
    sql = message_text(rows, messages)
    why = (quoted(selector.text), f"its properties are in the bytes of the messages in {sql}")
    if strategy == "native":
        raise wordings.not_native(*why)
    if selector.naming == "folded":
        message_decoder(selector, messages)  # refuses
    check_batches(rows)
    sources = message_sources(dict.fromkeys(selector.names.values()), sql, messages)
    return Plan(
        selector.text,
        selector.dialect,
        "arrow",
        (why,),
        "",
        selector.text,
        selector,
        sources,
        tuple(surprises(selector, {source.name: source for source in sources}, can_declare=False).values()),
        (sql, messages),
    )


def _divided(
    selector: Selector, sources: Mapping[str, PropertySource], strategy: str | None
) -> tuple[list[str], Selector | None, list[tuple[str, str]]]:
    """Divide the conjuncts of a selector: texts of the native ones, the others, and why those are others.

    An AND that ends at its first operand that is not TRUE can be UNKNOWN before a FALSE one, as no AND of Catalyst is:
    its first operands are native, and where not all are, the rest is all of it.
    """
    native: list[str] = []
    rest: list[Selector] = []
    why: list[tuple[str, str]] = []
    if strategy == "arrow" and selector.names:
        return [], selector, [(quoted(unparse(selector.node)), "the Arrow strategy is forced")]
    length = number = 0
    is_first = isinstance(selector.node, And) and selector.node.rule == "first"
    for node in selector.node.operands if isinstance(selector.node, And) else (selector.node,):
        if is_first and rest:
            break
        part = selector.part(node)
        try:
            text = final(condition(part, sources))
            reason = ""
        except NoTranslation as why_not:
            reason = str(why_not)
        if not reason and (length + len(text)) * (1 + is_first) > MAX_LENGTH:
            reason = f"the expression is longer than {MAX_LENGTH:,} characters"
        elif not reason and number + tests(part) > MAX_TESTS:
            reason = f"the expression has more than {MAX_TESTS} tests"
        if not reason:
            native.append(text)
            length += len(text)
            number += tests(part)
            continue
        rest.append(part)
        if len(why) < MAX_REASONS:
            why.append((quoted(unparse(node)), reason))
    if is_first:
        return _in_order(native), selector if rest else None, why
    if len(rest) > 1:
        return native, selector.part(And(tuple([part.node for part in rest]), selector.node.span)), why
    return native, rest[0] if rest else None, why


def _in_order(conditions: list[str]) -> list[str]:
    """Write what is the first of some conditions that is not TRUE, else the last: two conjuncts of three values."""
    if len(conditions) < 2:
        return conditions
    first, *others = conditions
    return [first, f"CASE WHEN {first} THEN {both(*_in_order(others))} END"]


def native_text(selector: Selector, sources: Mapping[str, PropertySource]) -> tuple[str, str]:
    """Write a selector as one expression. Returns: its text, and why it has none."""
    native, rest, why = _divided(selector, sources, None)
    return ("", ": ".join(why[0])) if rest is not None else (both(*native) or "true", "")


def surprises(
    selector: Selector,
    sources: Mapping[str, PropertySource],
    *,
    can_declare: bool = True,
    first: Mapping[str, FirstValues] | None = None,
) -> dict[str, str]:
    """Find the properties whose column has a type that no test of theirs takes, and say so of each.

    Args:
        first: the first values of some properties; by them a hint says what to declare.
    """
    found: dict[str, str] = {}
    for name, kinds in selector.remarks().expected.items():
        family = _FAMILIES.get(sources[name].type)
        if family is not None and kinds and family not in kinds:
            said = f"'{name}' is a {family} in every row: compared with a {' or a '.join(kinds)} it never matches"
            if can_declare and family in ("string", "byte string") and kinds[0] in _DECLARED:
                said += _advice(name, kinds[0], (first or {}).get(name, []))
            found[name] = said
    return found


def date_surprises(selector: Selector, sources: Mapping[str, PropertySource]) -> dict[str, str]:
    """Find the dates, read as texts, that are compared with what no date is, or so that readers skip no rows."""
    sentences: dict[str, str] = {}
    for node in selector.order:
        match node:
            case Like(identifier=Identifier(name)):
                texts: tuple[Any, ...] = ()
            case In(identifier=Identifier(name), choices=texts):
                pass
            case Comparison(left=Identifier(name), right=Literal(value=text)):
                texts = (text,)
            case Comparison(left=Literal(value=text), right=Identifier(name)):
                texts = (text,)
            case _:
                continue
        name = selector.names[name]
        if sources[name].type != "string" or sources[name].steps is None:
            continue
        wrong = next((text for text in texts if isinstance(text, str) and not is_date(text)), None)
        beginning = f"'{name}' is a date, as a text such as '2026-01-31': "
        if wrong is not None:
            sentences[name] = f"{beginning}it never is {quoted(wrong)}; write such a text"
        elif isinstance(node, Like):
            sentences[name] = (
                f"{beginning}LIKE reads every row; list days by IN, or declare types={{'{name}': 'int64'}}"
            )
    return sentences


FirstValues = list[tuple[str, bool]]  # texts, each with whether it could be read
_FIRST = 100
_READERS = readers("hex")


def first_look(
    selectors: Iterable[Selector], rows: Any, held: Layout, sources: Mapping[str, PropertySource]
) -> tuple[dict[str, str], list[str]]:
    """Look at the first rows, where a text is compared with something else, or declared to be: a small job of Spark.

    Returns: sentences about properties without a test that takes their type, by name; about declarations that do not
        fit values.
    """
    selectors = list(selectors)
    names = {name: None for one in selectors for name in surprises(one, sources)}
    names |= {
        name: None for name in sources if look_up(held.types, name, "mqi") is not None and _may_fail(sources[name])
    }
    first = _first_values(rows, {name: sources[name] for name in names})
    surprising = {name: text for one in selectors for name, text in surprises(one, sources, first=first).items()}
    unread: list[str] = []
    for name, values in first.items():
        wrong = [text for text, is_read in values if not is_read]
        if wrong:
            said = f"'{name}' is declared {sources[name].type}: {_share(wrong, values)} cannot be read"
            unread.append(said + _of_typed_json(values))
    return surprising, unread


def _may_fail(source: PropertySource) -> bool:
    """Report whether a value may be one that its declared type cannot be read from."""
    return source.raw != source.sql and (source.steps is None or source.steps.read is not None)


def _first_values(rows: Any, sources: Mapping[str, PropertySource]) -> dict[str, FirstValues]:
    """Read the first values of columns; none of a stream, of a schema, and of rows that Spark cannot read now."""
    if not sources or getattr(rows, "isStreaming", True):
        return {}
    columns = [
        F.expr(text)
        for source in sources.values()
        for text in (f"make_valid_utf8(try_cast({source.raw} AS STRING))", f"({source.sql}) IS NOT NULL")
    ]
    try:
        found = (
            rows.select(*[one.alias(f"value {number}") for number, one in enumerate(columns)]).limit(_FIRST).collect()
        )
    except PySparkException:
        return {}
    return {
        name: [(row[2 * number], row[2 * number + 1]) for row in found if row[2 * number] is not None]
        for number, name in enumerate(sources)
    }


def _advice(name: str, kind: str, values: FirstValues) -> str:
    """Report what to declare: the first type that most of the values can be read as."""
    written = _of_typed_json(values)
    if written:
        return written
    texts = [text for text, _ in values]
    wrong = {declared: [text for text in texts if not _reads(declared, text)] for declared in _DECLARED[kind]}
    declared = min(wrong, key=lambda one: len(wrong[one]))
    if texts and len(wrong[declared]) == len(texts):
        return f"; none of the first {len(texts):,} values is a {kind}, such as {shortened(texts[0])}"
    said = f"; declare what it was: types={{'{name}': '{declared}'}}"
    return said + (f", as which {_share(wrong[declared], values)} cannot be read" if wrong[declared] else "")


def _reads(declared: str, text: str) -> bool:
    try:
        _READERS[declared](text)
    except UNREADABLE:
        return False
    return True


def _share(some: Sequence[str], values: FirstValues) -> str:
    return f"{len(some):,} of the first {len(values):,} values, such as {shortened(some[0])},"


def _of_typed_json(values: FirstValues) -> str:
    """Report what reads values that name their types; empty if they do not."""
    for text, _ in values:
        if text.startswith("{"):
            with suppress(ValueError):
                value = json.loads(text)
                if isinstance(value, dict) and len(value) == 1 and value.keys() <= TYPE_NAMES.keys():
                    return f"; {TYPED_JSON}"
    return ""


def _check_names(rows: Any, layout: Layout, selector: Selector, pointless: Iterable[str]) -> None:
    """Refuse a key of ``properties`` or ``types`` that is a slip for a property without which it is NULL or no match.

    Other keys that the selector does not read are for other selectors, and so is what the rows themselves have.
    """
    keys = {key: key for key in (*layout.places, *layout.types)}
    wanted = [name for name in pointless if look_up(keys, name, selector.naming) is None]
    for key in keys:
        near = near_names(key, wanted)
        if key not in selector.names.values() and near and not _has(rows, layout, key, selector.naming):
            raise ArgumentError(f"the selector does not read '{key}': did you mean '{near[0]}'?")


def _has(rows: Any, layout: Layout, name: str, rules: str) -> bool:
    """Report whether rows have a property of themselves, wherever it is mapped to."""
    try:
        return PropertySources(rows, layout._replace(places={}), rules).source(name).type != "null"
    except PropertyTypeError:
        return True


def check_batches(rows: Any) -> None:
    """Check that Spark can pass rows to Arrow functions (spark §10).

    Spark is told to make rows of the columns of a file first, unless the session says otherwise: it copies less then.
    Out of rows alone can it pass those with a collated column, whether the function reads that or not.

    Raises: ArgumentError: by a setting Spark would never end, or would keep all rows.
    """
    session = session_of(rows)
    columnar = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
    if session is not None and (session.conf.get(columnar, None) is None or is_collated(schema_of(rows)[0])):
        session.conf.set(columnar, "false")
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    found = setting(rows, name)
    if found and int(found) <= 0:
        raise ArgumentError(
            f"{name} is {found}: Spark would never finish the first batch",
            hint="set it to 1 or more; 10000 is the default",
        )
    # FileScanBuilder takes a condition on columns of directories for done, which nobody evaluates if it is Python's.
    if any(
        one.getClass().getSuperclass().getSimpleName() == "FileTable" and len(one.partitioning())
        for one in origins(rows)
    ):
        raise ArgumentError(
            "spark.sql.sources.useV1SourceList lacks the format of the rows: Spark would lose conditions in Python",
            hint="read the files with the setting's default, or without columns of directories",
        )


def selector_call(selector: Selector, sources: Iterable[PropertySource]) -> Call:
    """Call an Arrow function over the properties that a selector reads: its truth."""
    program = program_of(selector.written())
    layout, columns = arrow_layout(source for source in sources if source.name in program.slots)
    return arrow_call(quoted(unparse(selector.node)), program.to_bytes(), json.dumps(layout), columns)


def arrow_layout(sources: Iterable[PropertySource]) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """List the columns that an Arrow function over properties is called with.

    Returns: what they are, see `mqsel.spark.ship.evaluate`, and their Catalyst texts.
    """
    columns: list[str] = []
    layout: list[tuple[str, list[str]]] = []
    for source in sources:
        if source.type != "null":
            layout.append((source.name, [case.tag for case in source.cases]))
            columns += [source.sql, *(case.sql for case in source.cases)]
    # An Arrow function has an argument.
    return (layout, columns) if columns else ([("", [])], ["CAST(NULL AS BOOLEAN)"])


def register(
    spark: SparkSession,
    name: str,
    selector: str | Matcher,
    rows: DataFrame | StructType | str,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    strategy: str | None = None,
    now: int | None = None,
) -> Plan:
    """Register a selector as a function of SQL: ``WHERE selected_by_x(color => color, weight => weight)``.

    The parameters are the columns of *rows* that the selector reads, with the types that they have there. A parameter
    that you leave out is NULL. The function returns TRUE, FALSE, or NULL for UNKNOWN. An argument of another type is an
    error. If there are several parameters, you have to name them. The function is temporary. The session also gets
    *name*__typed, for which Spark casts arguments, and *name*__arrow, which evaluates the part that is not native.

    Args: *name* consists of letters, digits and ``_``. The others are those of `column`.

    Returns: how Spark evaluates the selector.

    Raises: the errors of `column`.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ArgumentError(f"the name of the function is {name!r}: expected letters, digits and '_'")
    if not hasattr(spark, "dataSource"):
        raise wordings.old_spark("a selector in SQL", "4.0", "use mqsel.spark.column")
    schema, _ = schema_of(rows)
    if isinstance(rows, DataFrame):
        rows = rows.toDF(*schema.names)  # an alias is no parameter
    made = plan(selector, rows, properties=properties, types=types, dialect=dialect, strategy=strategy, now=now)
    warn(made.warnings)
    conjuncts = [made.sql] * bool(made.sql)
    call = made.call()
    if call is not None:
        spark.udf.register(f"{name}__arrow", call.function)
        conjuncts.append(f"{name}__arrow({', '.join(call.arguments)})")
    body = both(*conjuncts)
    read = set(_QUOTED.findall(body))
    fields = [field for field in schema.fields if identifier(field.name) in read]
    typed = [f"{identifier(field.name)} {type_text(field.dataType)} DEFAULT NULL" for field in fields]
    create = "CREATE OR REPLACE TEMPORARY FUNCTION"
    spark.sql(f"{create} {name}__typed({', '.join(typed)}) RETURNS BOOLEAN RETURN {body}")
    taken = [_parameter(field) for field in fields]
    if len(fields) > 1:
        # No value is of this type: what has no name of its own comes first, and Spark refuses it.
        named = identifier(", ".join([f"{field.name} => …" for field in fields]))
        taken.insert(0, f"`name the arguments` STRUCT<{named}: BOOLEAN> DEFAULT NULL")
    arguments = [f"{identifier(field.name)} => {_checked(name, field)}" for field in fields]
    try:
        spark.sql(f"{create} {name}({', '.join(taken)}) RETURNS BOOLEAN RETURN {name}__typed({', '.join(arguments)})")
    except AnalysisException as error:  # Spark has a function of this name
        said = str(error).partition("\n")[0]
        raise ArgumentError(
            f"the function {name!r} cannot be registered: {said}", hint="choose another name"
        ) from error
    return made


_QUOTED = re.compile(r"'[^']*'|\.?`(?:[^`]|``)*`")  # a field has a dot in front
# Of these a VARIANT keeps the type of an argument, which Spark casts to that of any other parameter: 2.9 to 2.
_KEPT = {"DateType", "TimestampType", "DecimalType"} | {one for row in TYPES if row.sql for one in row.spark}


def _is_kept(field: Any) -> bool:
    class_name = type(field.dataType).__name__
    return class_name in _KEPT - {"VarcharType"} and not is_collated(field.dataType)


def _parameter(field: Any) -> str:
    spark_type = "VARIANT" if _is_kept(field) else type_text(field.dataType)
    return f"{identifier(field.name)} {spark_type} DEFAULT NULL"


def _checked(function: str, field: Any) -> str:
    """Write an argument as the type of its parameter, and as an error where its value has another."""
    text = identifier(field.name)
    if not _is_kept(field):
        return text
    wanted = field.dataType.simpleString().upper()
    value, found = f"try_variant_get({text}, '$', '{wanted}')", f"schema_of_variant({text})"
    said = text_literal(f"{function}: '{field.name}' is ")
    error = f"raise_error(concat({said}, {found}, ': expected {wanted}'))"
    is_exact = f"schema_of_variant(CAST({value} AS VARIANT)) <=> {found}"
    return f"CASE WHEN {text} IS NULL THEN NULL WHEN {is_exact} THEN {value} ELSE CAST({error} AS {wanted}) END"


def properties(
    rows: DataFrame | StructType | str,
    names: list[str] | tuple[str, ...],
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
) -> list[Column]:
    """Return typed columns of properties: ``df.select("*", *properties(df, ["color", "weight"]))``.

    Args:
        rows: The DataFrame, or its schema, as for `column`.
        names: The properties. Each column has the name of its property.
        properties: Where the properties are, as for `column`.
        types: The types of properties, as for `column`.

    Raises: PropertyTypeError: if a column has a type that no property can have, or if the type differs by row and you
        don't declare it.
    """
    if isinstance(names, str):
        raise ArgumentError(f"names is {names!r}: expected a list of names", hint=f"properties(rows, [{names!r}])")
    held = where(properties, types)
    if isinstance(held, MessageColumn):
        check_batches(rows)
        return message_properties(rows, names, held)
    found = PropertySources(rows, held)
    made: list[Column] = []
    for name in names:
        source = found.source(name)
        if not source.type:
            raise wordings.undeclared(name)
        made.append(F.expr(source.sql).alias(name))
    warn((*found.warnings, *found.hidden.values()))
    return made
