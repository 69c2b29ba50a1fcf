"""The profile of a selector: for every part of it, how many rows made it TRUE, FALSE, UNKNOWN or ERR.

The numbers are of all rows, counted by Spark in one pass. The commonest values, and the names that maps and messages
have, are of the first rows, read before. Every row is counted once for each part, as
`mqsel.analysis.explain.account` does. Follows spark §6.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mqsel.analysis.explain.account import (
    ERROR,
    FALSE,
    MISMATCHED,
    OUTCOMES,
    TRUE,
    UNKNOWN,
    Held,
    Outcomes,
    Profiler,
    counts_types,
    outcomes_of,
    parts_of,
)
from mqsel.analysis.explain.near import near_names
from mqsel.analysis.explain.profile import Profile, named, reported, seen_of
from mqsel.analysis.explain.sentences import Count
from mqsel.errors import ArgumentError, DecodeError, SelectorError
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import Node
from mqsel.language.selector import Selector, read_selector
from mqsel.machine.origin import selector_of
from mqsel.machine.program import Program
from mqsel.matcher import Matcher
from mqsel.spark.columns import Layout, Place, PropertySource, PropertySources
from mqsel.spark.native import Condition, NoTranslation, condition
from mqsel.spark.planning import as_selector, check_batches, selector_call
from mqsel.spark.raw import (
    MessageColumn,
    message_decoder,
    message_notes,
    message_outcomes,
    message_sources,
    message_text,
    where,
)
from mqsel.spark.ship import by_types, read_anyhow
from mqsel.values import APPROXIMATE, EXACT

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import Column, DataFrame

_SAMPLE = 1_000  # the first rows, whose values are counted
_NEAR = 3  # names near that of a property, of which rows are counted


@dataclass(slots=True)
class _Asked:
    """What is asked of all rows.

    Attributes:
        columns: for each part its outcome; for each property, and for each name near one, its state.
        read: the properties, in the order of their states; behind them those of other names.
        names: how many of them the selector reads, or hold messages.
        near: pairs of a property that may be missing and a name near its own: places in `read`.
        values: for a property the types that it has, each with Catalyst text of the value, or NULL.
        held: of the first rows, what they have of each property.
    """

    columns: list[Column]
    read: list[PropertySource]
    names: int
    near: list[tuple[int, int]]
    values: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    held: Mapping[str, Held] = field(default_factory=dict)


def profile(
    selector: str | Matcher,
    rows: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
) -> Profile:
    """Count, for every part of a selector, the rows for which it is TRUE, FALSE, UNKNOWN, mismatched or an error.

    Runs two Spark jobs: over the first thousand rows, and over all.

    Args: those of `mqsel.spark.column`; *rows* is a DataFrame that is no stream.

    Raises: what `mqsel.spark.column` raises.
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 (optional; its usual name)

    whole = as_selector(selector, dialect)
    held = where(properties, types)
    if getattr(rows, "isStreaming", True):
        raise ArgumentError(
            "a profile needs all rows: found a stream, or rows of no DataFrame", hint="profile one batch"
        )
    parts = [node for node, _ in parts_of(whole.node)]
    if isinstance(held, MessageColumn):
        rows, asked = _of_messages(whole, rows, held)
    else:
        asked = _of_columns(whole, rows, held)
    is_raw = isinstance(held, MessageColumn)
    found = asked.columns
    outcomes = [one.alias(f"part {number}") for number, one in enumerate(found[: len(parts)])]
    states = [one.alias(f"state {number}") for number, one in enumerate(found[len(parts) :])]
    values = [(name, kind, text) for name, pairs in asked.values.items() for kind, text in pairs]
    read = [F.expr(text).alias(f"value {number}") for number, (_, _, text) in enumerate(values)]
    counts = [F.count("*").alias("rows")]
    counts += [
        F.count_if(F.col(f"`part {number}`") == one) for number in range(len(parts)) for one in range(len(OUTCOMES))
    ]
    counts += [F.count_if(F.col(f"`state {number}`") == one) for number in range(asked.names) for one in range(3)]
    counts += [F.count_if((F.col(f"`state {one}`") == 1) & (F.col(f"`state {two}`") == 0)) for one, two in asked.near]
    for number, (_, kind, _) in enumerate(values):
        value = F.col(f"`value {number}`")
        fits = F.nanvl(value, F.lit(None)) if kind in APPROXIMATE else value
        ends = [F.min(fits), F.max(fits)] if kind in EXACT or kind in APPROXIMATE else [F.lit(None), F.lit(None)]
        counts += [F.count(value), *ends]
    more = [F.col("note"), F.col("row")] if is_raw else []
    if is_raw:
        first = F.struct("row", "note")
        counts += [F.count("note"), F.min(F.when(F.col("note") != "", first)).getField("note")]
    numbers = iter(rows.select(*outcomes, *states, *read, *more).agg(*counts).collect()[0])
    total = next(numbers)
    made = [Count(named(node), depth, *(next(numbers) for _ in OUTCOMES)) for node, depth in parts_of(whole.node)]
    seen = _seen(asked, values, numbers)
    noted, note = (next(numbers), next(numbers)) if is_raw else (0, None)
    texts = {name: _texts(one) for name, one in asked.held.items()}
    return reported(whole, total, made, seen, texts=texts, noted=noted, note=note or "", noun="row")


def _seen(asked: _Asked, values: list[tuple[str, str, str]], numbers: Iterable[Any]) -> list[Any]:
    """Return what the rows have of each property, from the numbers in their order."""
    numbers = iter(numbers)
    states = [[next(numbers) for _ in range(3)] for _ in range(asked.names)]
    near = [next(numbers) for _ in asked.near]
    ends = [(name, kind, [next(numbers) for _ in range(3)]) for name, kind, _ in values]
    found = []
    for place, (source, (present, missing, unread)) in enumerate(zip(asked.read, states, strict=False)):
        held = asked.held.get(source.name, Held())
        # The sample gives values alone: the rest is of all rows.
        sampled = Held(missing=missing + unread, unread=unread, values=held.values, counted=held.counted)
        sampled.is_open = held.is_open
        for name, kind, (count, least, greatest) in ends:
            if name == source.name:
                sampled.types[kind] += count
                sampled.widen(least, greatest)
        if not asked.values and held.counted == present:  # of messages the sample tells, where it is all
            sampled.types, sampled.least, sampled.greatest = held.types, held.least, held.greatest
        for (mine, other), count in zip(asked.near, near, strict=True):
            if mine == place and count:
                sampled.others[asked.read[other].name] = count
        found.append(seen_of(source.name, sampled, present))
    return found


def _texts(held: Held) -> dict[str, int]:
    return {value: count for (kind, value), count in held.values.most_common() if kind == "string"}


# ---- columns ---------------------------------------------------------------------------------------------------------


def _of_columns(whole: Selector, rows: DataFrame, layout: Layout) -> _Asked:
    """Ask of rows whose properties have places of their own."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 (optional; its usual name)

    found = PropertySources(rows, layout, whole.naming)
    sources = {name: found.source(name) for name in dict.fromkeys(whole.names.values())}
    values = {name: _values(source) for name, source in sources.items()}
    known, own = found.names()
    read = [text for pairs in values.values() for _, text in pairs]
    columns = [F.expr(text).alias(f"value {number}") for number, text in enumerate(read)]
    columns += [F.expr(own).alias("names")] if own else []
    held = {name: Held() for name in sources}
    names: set[str] = set(known)
    for row in rows.select(*columns).limit(_SAMPLE).collect() if columns else ():
        numbers = iter(row)
        for name, pairs in values.items():
            for kind, _ in pairs:
                value = next(numbers)
                if value is not None:
                    held[name].take(kind, bytes(value) if kind == "bytes" else value)
        names.update(next(numbers) or () if own else ())
    listed, near = _near(sources, names)
    read_too = []
    for name in listed:
        with suppress(ArgumentError, TypeError):
            read_too.append(found.source(name))
    everything = [*sources.values(), *read_too]
    places = {source.name: place for place, source in enumerate(everything)}
    outcomes = [_outcome(node, whole, sources, rows) for node, _ in parts_of(whole.node)]
    return _Asked(
        [*outcomes, *(F.expr(state_of(source)) for source in everything)],
        everything,
        len(sources),
        [(places[name], places[other]) for name, other in near if other in places],
        values,
        held,
    )


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


# ---- raw messages ----------------------------------------------------------------------------------------------------


def _of_messages(whole: Selector, rows: DataFrame, messages: MessageColumn) -> tuple[DataFrame, _Asked]:
    """Ask of raw messages; give the rows with what is asked of them, made in one call for each batch."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 (optional; its usual name)

    check_batches(rows)
    text = message_text(rows, messages)
    profiler = Profiler(whole)
    decode = message_decoder(whole, messages)
    for row in rows.select(F.expr(text)).limit(_SAMPLE).collect():
        with suppress(DecodeError, TypeError):
            profiler.take_raw(bytes(row[0]), messages.format, decode(bytes(row[0])))
    held = profiler.account.held
    names = [*held]
    near_by, near = _near(names, {other for one in held.values() for other in one.others})
    for name in near_by:
        with suppress(SelectorError):  # no dialect takes it for a name
            read_selector(f"{name} IS NOT NULL", whole.dialect)
            names.append(name)
    parts = len(parts_of(whole.node))
    array = message_outcomes(whole, names, text, messages)
    rows = rows.select(
        array.alias("found"),
        message_notes(whole, text, messages).alias("note"),
        F.monotonically_increasing_id().alias("row"),
    )
    # The state of the column itself comes last of the array.
    order = [*range(len(held)), len(names), *range(len(held), len(names))]
    sources = [*message_sources(names, text, messages), PropertySource(messages.path, "bytes", text, text)]
    read = [sources[place] for place in order]
    places = {source.name: place for place, source in enumerate(read)}
    columns = [F.col("found")[number] for number in range(parts)]
    columns += [F.col("found")[parts + place] for place in order]
    pairs = [(places[name], places[other]) for name, other in near if other in places]
    return rows, _Asked(columns, read, len(held) + 1, pairs, {}, held)


# ---- one part, one property ------------------------------------------------------------------------------------------


def _outcome(node: Node, whole: Selector, sources: Mapping[str, PropertySource], rows: DataFrame) -> Column:
    """Return the column of which of `OUTCOMES` a condition is."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 (optional; its usual name)

    part = whole.part(node)
    try:
        return F.expr(_case(condition(part, sources, has_types=counts_types(node))))
    except NoTranslation:
        check_batches(rows)
    return selector_call(part, sources.values(), "tinyint", "mqsel.spark.profiling:outcomes").column()


def _case(made: Condition) -> str:
    """Write which of `OUTCOMES` a condition is."""
    error = f"CASE WHEN {made.mismatch} THEN {MISMATCHED} ELSE {ERROR} END" if made.mismatch else ERROR
    branches = [(made.err, error), (made.sql, TRUE), (made.mismatch, MISMATCHED), (f"NOT ({made.sql})", FALSE)]
    return f"CASE {' '.join(f'WHEN {test} THEN {outcome}' for test, outcome in branches if test)} ELSE {UNKNOWN} END"


@functools.lru_cache(64)
def _outcomes_of(program: bytes) -> Outcomes:
    return outcomes_of([selector_of(Program.from_bytes(program))], within=False)


def outcomes(program: bytes, layout: str, columns: Sequence[pa.Array]) -> pa.Array:
    """Find which of `OUTCOMES` a condition is for each row of a batch, on an executor.

    Args: those of `mqsel.spark.ship.evaluate`.
    """
    rows = _outcomes_of(program).rows
    return read_anyhow(lambda readable: by_types(rows, json.loads(layout), readable), columns)


def state_of(source: PropertySource) -> str:
    """Write what a row has of a property: 0 a value, 1 nothing, 2 something that is no value."""
    if source.type == "null":
        return "1"
    if source.type:
        return f"CASE WHEN {source.sql} IS NOT NULL THEN 0 WHEN {source.raw} IS NULL THEN 1 ELSE 2 END"
    values = " ".join(f"WHEN '{case.tag}' THEN CASE WHEN {case.sql} IS NULL THEN 2 ELSE 0 END" for case in source.cases)
    return f"CASE WHEN {source.raw} IS NULL THEN 1 ELSE CASE {source.sql} {values} ELSE 2 END END"
