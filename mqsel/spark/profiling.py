"""The profile of a selector: for every part of it, how many rows made it TRUE, FALSE, UNKNOWN or ERR.

The numbers are of all rows, counted in one pass: of few parts by expressions of Spark, else in Python, to which the
columns go. What Spark counts has the commonest values of the first rows, which are read before, also for the names that
maps and messages have. Every row is counted once for each part, as `mqsel.analysis.explain.account` does. Follows spark
§6.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from mqsel.analysis.explain.account import (
    ERROR,
    FALSE,
    MISMATCHED,
    OUTCOMES,
    TRUE,
    UNKNOWN,
    Account,
    Held,
    Profiler,
    is_test,
    parts_of,
)
from mqsel.analysis.explain.profile import Profile, named, reported, seen_of
from mqsel.analysis.explain.sentences import Count, Seen
from mqsel.errors import ArgumentError, DecodeError, SelectorError
from mqsel.language.dialect import Dialect
from mqsel.language.selector import Selector, read_selector
from mqsel.machine.compiler import program_of
from mqsel.machine.origin import selector_of
from mqsel.machine.program import Program
from mqsel.matcher import Matcher
from mqsel.names import near_names
from mqsel.spark.columns import Layout, Place, PropertySource, PropertySources
from mqsel.spark.native import Condition, NoTranslation, condition
from mqsel.spark.planning import arrow_layout, as_selector, check_batches
from mqsel.spark.raw import (
    MessageColumn,
    message_decoder,
    message_notes,
    message_outcomes,
    message_sources,
    message_text,
    where,
)
from mqsel.spark.ship import as_utf8, gathered, groups
from mqsel.values import APPROXIMATE, EXACT

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

_MANY = 12  # parts: of more Python counts
_SAMPLE = 1_000  # the first rows, whose values are counted
_NEAR = 3  # names near that of a property, of which rows are counted
_PRESENT, _MISSING, _UNREAD = range(3)  # the states of a property in a row


# Of what is counted, each with the Catalyst text that counts it; one that has none takes the rows that are left.
_Counted = Mapping[int, str]
# How many rows there are, the outcomes of each part, what is seen and held of each property, and what else is reported.
_Found = tuple[int, list[list[int]], list[Seen], Mapping[str, Held], dict[str, Any]]


@dataclass(slots=True)
class _Asked:
    """What is asked of all rows, as Catalyst texts.

    Attributes:
        rows: what they are asked of.
        parts: for each part what counts its outcomes.
        states: for each property, and behind them for what holds messages, what counts its states.
        read: the properties, in that order.
        near: a property that may be missing, a name near its own, and whether a row has that instead.
        values: for a property the types that it has, each with the text of the value, or NULL.
        more: what else counts.
        held: of the first rows, what they have of each property.
    """

    rows: DataFrame
    parts: list[_Counted]
    states: list[_Counted]
    read: list[PropertySource]
    near: list[tuple[str, str, str]]
    values: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    more: list[str] = field(default_factory=list)
    held: Mapping[str, Held] = field(default_factory=dict)


def profile(
    selector: str | Matcher,
    rows: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
) -> Profile:
    """Count, for each part of a selector, the rows for which it is TRUE, FALSE, UNKNOWN, a type mismatch or an error.

    Two Spark jobs run: one over the first thousand rows, one over all. For a long selector only the second one runs.

    Args: those of `column`; *rows* is a DataFrame that is not a stream.

    Raises: the errors of `column`.
    """
    whole = as_selector(selector, dialect)
    held = where(properties, types)
    refuse_streams(rows, "a profile")
    if isinstance(held, MessageColumn):
        total, outcomes, seen, known, more = _by_spark(_of_messages(whole, rows, held))
    else:
        total, outcomes, seen, known, more = _by_columns(whole, rows, held)
    nodes = zip(parts_of(whole.node), outcomes, strict=True)
    made = [Count(named(node, whole.dialect), depth, *counts) for (node, depth), counts in nodes]
    texts = {name: _texts(one) for name, one in known.items()}
    return reported(whole, total, made, seen, texts=texts, **more, noun="row")


def _by_columns(whole: Selector, rows: DataFrame, layout: Layout) -> _Found:
    """Count rows of columns; also many parts by expressions, where workers lack what Python needs."""
    if len(parts_of(whole.node)) <= _MANY:
        with suppress(NoTranslation):
            return _by_spark(_of_columns(whole, rows, layout))
    try:
        return _by_python(whole, _of_columns(whole, rows, layout, by_python=True))
    except (ArgumentError, PySparkException) as error:
        try:
            return _by_spark(_of_columns(whole, rows, layout))
        except NoTranslation:
            raise error from None


def _by_spark(asked: _Asked) -> _Found:
    """Count by expressions: from the conditions themselves.

    As columns of a projection, each would be a variable of one method that soon is too large for Java's compiler.
    """
    counts = ["count(*)", *(text for one in (*asked.parts, *asked.states) for text in one.values())]
    counts += [f"count_if({test})" for *_, test in asked.near]
    for kind, text in (pair for pairs in asked.values.values() for pair in pairs):
        fits = f"nanvl({text}, NULL)" if kind in APPROXIMATE else text
        is_number = kind in EXACT or kind in APPROXIMATE
        counts += [f"count({text})", *(f"{end}({fits})" if is_number else "NULL" for end in ("min", "max"))]
    numbers = iter(asked.rows.selectExpr(*counts, *asked.more).collect()[0])
    total = next(numbers)
    outcomes = [_spread(counted, len(OUTCOMES), UNKNOWN, total, numbers) for counted in asked.parts]
    seen = _seen(asked, total, numbers)
    noted, note = numbers if asked.more else (0, None)
    return total, outcomes, seen, asked.held, {"noted": noted, "note": note or ""}


def _by_python(whole: Selector, asked: _Asked) -> _Found:
    """Count by columns, in the workers: all parts of a row together take less than Spark takes for a few of them."""
    check_batches(asked.rows)
    layout, columns = arrow_layout(asked.read)
    unread = [one for one in asked.read if one.sql != one.raw]
    tests = [*(f"({state_of(one)}) = {_UNREAD}" for one in unread), *(test for *_, test in asked.near)]
    frame = asked.rows.select(*[F.expr(text).alias(f"c{number}") for number, text in enumerate([*columns, *tests])])
    account, trues = Profiler(whole).account, Counter[int]()
    program = program_of(whole).to_bytes()
    for one, more in gathered(frame, f"{__name__}:counted", program, json.dumps(layout)):
        account.add(one)
        trues += more
    for number, source in enumerate(unread):
        account.held[source.name].unread = trues[number]
    for held in account.held.values():
        held.others.clear()  # of the columns sent: those near it are counted beside them
    for number, (name, other, _) in enumerate(asked.near, len(unread)):
        account.held[name].others += Counter({other: trues[number]})
    seen = [seen_of(name, held) for name, held in account.held.items()]
    return account.messages, account.outcomes, seen, account.held, {}


def refuse_streams(rows: Any, what: str) -> None:
    """Raise ArgumentError for what is no DataFrame with an end."""
    if getattr(rows, "isStreaming", True):
        raise ArgumentError(
            f"{what} needs all rows: found a stream, or rows of no DataFrame", hint=f"take {what} of one batch"
        )


def _spread(counted: _Counted, size: int, rest: int, total: int, numbers: Iterator[int]) -> list[int]:
    """Return how many rows are what, from the numbers in their order."""
    found = [0] * size
    for place in counted:
        found[place] = next(numbers)
    found[rest] = total - sum(found)
    return found


def _seen(asked: _Asked, total: int, numbers: Iterator[Any]) -> list[Seen]:
    """Return what the rows have of each property, from the numbers in their order."""
    states = [_spread(counted, 3, _MISSING, total, numbers) for counted in asked.states]
    near = [(name, other, next(numbers)) for name, other, _ in asked.near]
    ends = [
        (name, kind, [next(numbers) for _ in range(3)]) for name, pairs in asked.values.items() for kind, _ in pairs
    ]
    found = []
    for source, (present, missing, unread) in zip(asked.read, states, strict=True):
        held = asked.held.get(source.name, Held())
        # The sample gives values alone: the rest is of all rows.
        sampled = Held(missing=missing + unread, unread=unread, values=held.values, counted=held.counted)
        sampled.is_open = held.is_open
        for name, kind, (count, least, greatest) in ends:
            if name == source.name and count:
                sampled.types[kind] += count
                sampled.widen(least, greatest)
        if not asked.values and held.counted == present:  # of messages the sample tells, where it is all
            sampled.types, sampled.least, sampled.greatest = held.types, held.least, held.greatest
        sampled.others |= {other: count for name, other, count in near if name == source.name and count}
        found.append(seen_of(source.name, sampled, present))
    return found


def _texts(held: Held) -> dict[str, int]:
    return {value: count for (kind, value), count in held.values.most_common() if kind == "string"}


# ---- columns ---------------------------------------------------------------------------------------------------------


def _of_columns(whole: Selector, rows: DataFrame, layout: Layout, *, by_python: bool = False) -> _Asked:
    """Ask of rows whose properties have places of their own.

    Args:
        by_python: write no expressions of parts, and read no values: both are Python's then.

    Raises: NoTranslation: a part has no expression.
    """
    found = PropertySources(rows, layout, whole.naming)
    sources = {name: found.source(name) for name in dict.fromkeys(whole.names.values())}
    nodes = [] if by_python else [node for node, _ in parts_of(whole.node)]
    made = [condition(whole.part(node), sources, has_types=is_test(node)) for node in nodes]
    values = {} if by_python else {name: _values(source) for name, source in sources.items()}
    known, own = found.names()
    read = [text for pairs in values.values() for _, text in pairs]
    columns = [*read, own] if own else read
    held = {name: Held() for name in sources}
    names: set[str] = set(known)
    for row in rows.selectExpr(*columns).limit(_SAMPLE).collect() if columns else ():
        numbers = iter(row)
        for name, pairs in values.items():
            for kind, _ in pairs:
                value = next(numbers)
                if value is not None:
                    held[name].take(kind, bytes(value) if kind == "bytes" else value)
        names.update(next(numbers) or () if own else ())
    listed, near = _near(sources, names)
    states = {name: state_of(source) for name, source in sources.items()}
    for name in listed:
        with suppress(ArgumentError, TypeError):
            states[name] = state_of(found.source(name))
    parts = [_counted_outcomes(one) for one in made]
    counted = [_counted_states(source) for source in sources.values()]
    return _Asked(rows, parts, counted, [*sources.values()], _near_counted(near, states), values, held=held)


def _values(source: PropertySource) -> list[tuple[str, str]]:
    """List the types that a property has in some rows, each with the text of its value."""
    if source.type == "null":
        return []
    if source.type:
        return [(source.type, source.sql)]
    return [(one.type, f"CASE WHEN {source.sql} = '{one.tag}' THEN {one.sql} END") for one in source.cases]


def _near(names: Iterable[str], others: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """List the names near those of properties, and which is near which."""
    own, others = set(names), [*others]
    pairs = [(name, other) for name in names for other in near_names(name, others)[:_NEAR]]
    return [*dict.fromkeys(other for _, other in pairs if other not in own)], pairs


def _near_counted(pairs: Iterable[tuple[str, str]], states: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """List each pair of names with whether a row has the second one alone."""
    return [
        (name, other, f"({states[name]}) = {_MISSING} AND ({states[other]}) = {_PRESENT}")
        for name, other in pairs
        if other in states
    ]


# ---- raw messages ----------------------------------------------------------------------------------------------------


def _of_messages(whole: Selector, rows: DataFrame, messages: MessageColumn) -> _Asked:
    """Ask of raw messages, in one call for each batch."""
    check_batches(rows)
    text = message_text(rows, messages)
    profiler = Profiler(whole)
    decode = message_decoder(whole, messages)
    for row in rows.selectExpr(text).limit(_SAMPLE).collect():
        with suppress(DecodeError, TypeError):
            profiler.take_raw(bytes(row[0]), messages.format, decode(bytes(row[0])))
    held = profiler.account.held
    names = [*held]
    near_by, near = _near(names, {other for one in held.values() for other in one.others})
    for name in near_by:
        with suppress(SelectorError):  # no dialect takes it for a name
            read_selector(f"{name} IS NOT NULL", whole.dialect)
            names.append(name)
    rows = rows.select(
        message_outcomes(whole, names, text, messages).alias("found"),
        message_notes(whole, text, messages).alias("note"),
        F.monotonically_increasing_id().alias("row"),
    )
    parts = len(parts_of(whole.node))
    # The state of the column itself comes last of the array.
    states = {name: f"found[{parts + place}]" for place, name in enumerate([*names, messages.path])}
    read = [*message_sources(held, text, messages), PropertySource(messages.path, "bytes", text, text)]
    return _Asked(
        rows,
        [_counted(f"found[{number}]", (TRUE, FALSE, MISMATCHED, ERROR)) for number in range(parts)],
        [_counted(states[source.name], (_PRESENT, _UNREAD)) for source in read],
        read,
        _near_counted(near, states),
        more=["count(note)", "min(CASE WHEN note <> '' THEN struct(row, note) END).note"],
        held=held,
    )


# ---- one part, one property ------------------------------------------------------------------------------------------


def _counted(text: str, numbers: Iterable[int]) -> _Counted:
    """Write what counts the rows in which *text* is each of the numbers."""
    return {number: f"count_if({text} = {number})" for number in numbers}


def _counted_outcomes(made: Condition) -> _Counted:
    """Write what counts the outcomes of a condition but UNKNOWN."""
    if not made.err and not made.mismatch:
        return {TRUE: f"count_if({made.sql})", FALSE: f"count_if(NOT ({made.sql}))"}
    error = f"CASE WHEN {made.mismatch} THEN {MISMATCHED} ELSE {ERROR} END" if made.mismatch else ERROR
    branches = [(made.err, error), (made.sql, TRUE), (made.mismatch, MISMATCHED), (f"NOT ({made.sql})", FALSE)]
    outcome = f"CASE {' '.join(f'WHEN {test} THEN {which}' for test, which in branches if test)} ELSE {UNKNOWN} END"
    return _counted(outcome, (TRUE, FALSE, *[MISMATCHED] * bool(made.mismatch), *[ERROR] * bool(made.err)))


def _counted_states(source: PropertySource) -> _Counted:
    """Write what counts the states of a property but that it is missing."""
    if source.type == "null":
        return {}
    if not source.type:
        return _counted(f"({state_of(source)})", (_PRESENT, _UNREAD))
    is_present = {_PRESENT: f"count({source.sql})"}
    if source.sql == source.raw:
        return is_present
    return is_present | {_UNREAD: f"count_if({source.sql} IS NULL AND {source.raw} IS NOT NULL)"}


def counted(program: bytes, layout: str, batches: Iterable[pa.RecordBatch]) -> tuple[Account, Counter[int]]:
    """Count rows for the parts of a selector, on an executor.

    Args:
        layout: JSON of that of `groups`.
        batches: of its columns, and behind them of tests.

    Returns: the account, and by its number how many rows each test is true of.
    """
    profiler, properties = Profiler(selector_of(Program.from_bytes(program))), json.loads(layout)
    size = sum(1 + len(tags) for _, tags in properties)
    trues: Counter[int] = Counter()
    for batch in batches:
        for part, _ in groups(properties, [as_utf8(column) for column in batch.columns[:size]]):
            profiler.take_batch(part)
        for number, column in enumerate(batch.columns[size:]):
            trues[number] += column.true_count
    return profiler.account, trues


def state_of(source: PropertySource) -> str:
    """Write what a row has of a property: a value, nothing, or something that is no value."""
    if source.type == "null":
        return "1"
    if source.type:
        return f"CASE WHEN {source.sql} IS NOT NULL THEN 0 WHEN {source.raw} IS NULL THEN 1 ELSE 2 END"
    values = " ".join(f"WHEN '{case.tag}' THEN CASE WHEN {case.sql} IS NULL THEN 2 ELSE 0 END" for case in source.cases)
    return f"CASE WHEN {source.raw} IS NULL THEN 1 ELSE CASE {source.sql} {values} ELSE 2 END END"
