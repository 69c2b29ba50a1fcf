"""Why a selector selects what it does: for every part of it, how many rows were what, in one pass.

What a part is beside TRUE, FALSE and UNKNOWN is found by asking for it under the stricter choice of `type_mismatch`, as
`mqsel.analysis.explain` does for one message. Every row is counted once for each part. Follows spark §6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqsel.errors import ArgumentError
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import And, Identifier, IsNull, Node, Not, Or, children, unparse
from mqsel.language.selector import Selector
from mqsel.matcher import Matcher
from mqsel.spark.columns import Layout, Place, PropertySource, PropertySources
from mqsel.spark.native import Condition, NoTranslation, condition
from mqsel.spark.planning import as_selector, check_batches, selector_call
from mqsel.spark.raw import MessageColumn, message_notes, message_outcomes, message_sources, message_text, where
from mqsel.spark.ship import table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

OUTCOMES = ("TRUE", "FALSE", "UNKNOWN", "mismatched", "error")
_TRUE, _FALSE, _UNKNOWN, _MISMATCHED, _ERROR = range(5)


@dataclass(frozen=True, slots=True)
class Count:
    """What one part of a selector was. The five numbers add up to the rows.

    Attributes:
        text: a test as a selector, or AND, OR, NOT with its operands below it.
        depth: 0 for the selector itself.
        true: rows for which it is TRUE.
        false: rows for which it is FALSE, though types fit.
        unknown: rows for which a property that it needs is missing.
        mismatched: rows whose types do not fit; by the dialect it is FALSE there, or the whole selector is.
        error: rows for which the whole selector is FALSE by arithmetic on what is missing, or on an integer zero, or by
            a property name that IBM MQ does not allow.
    """

    text: str
    depth: int
    true: int
    false: int
    unknown: int
    mismatched: int
    error: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What the rows have of one property.

    Attributes:
        name: the property.
        type: empty where each row has its own, "null" where no column has it.
        present: rows with a value.
        missing: rows without.
        unread: rows with something that is no value of its type, and counts as missing; of raw messages, those whose
            properties could not be read.
    """

    name: str
    type: str
    present: int
    missing: int
    unread: int


@dataclass(frozen=True, slots=True)
class Profile:
    """What became of the rows of a DataFrame. Prints as a tree with its numbers.

    Attributes:
        selector: the text.
        rows: how many there were.
        parts: the conditions of the selector, each before its operands.
        properties: what it reads.
        frame: `parts` as a DataFrame.
        noted: raw messages of which something was skipped: a folder, a property, a name that is not allowed.
        note: what was skipped of the first of them.
    """

    selector: str
    rows: int
    parts: tuple[Count, ...]
    properties: tuple[Seen, ...]
    frame: DataFrame
    noted: int = 0
    note: str = ""

    def __str__(self) -> str:
        head = (*OUTCOMES, "")
        lines = table(
            [
                head,
                *[
                    (
                        *(f"{n:,}" for n in (one.true, one.false, one.unknown, one.mismatched, one.error)),
                        "  " * one.depth + one.text,
                    )
                    for one in self.parts
                ],
            ]
        )
        seen = table(
            [
                ("", "type", "present", "missing", "unread"),
                *[
                    (f"'{one.name}'", one.type or "by row", f"{one.present:,}", f"{one.missing:,}", f"{one.unread:,}")
                    for one in self.properties
                ],
            ]
        )
        noted = [f"skipped in part: {self.noted:,}, the first {self.note}"] * bool(self.noted)
        return "\n".join([f"{self.rows:,} rows", *noted, *lines, *(seen if self.properties else [])])


def profile(
    selector: str | Matcher,
    rows: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
) -> Profile:
    """Count, for every part of a selector, the rows for which it is TRUE, FALSE, UNKNOWN, mismatched or an error.

    Runs one Spark job over the rows.

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
    parts = _parts(whole.node)
    if isinstance(held, MessageColumn):
        check_batches(rows)
        text = message_text(rows, held)
        present = {name: whole.part(IsNull(True, Identifier(spelled))) for spelled, name in whole.names.items()}
        read = [*message_sources(present, text), PropertySource(held.path, "bytes", text, text)]
        readings = [_readings(node, whole) for node, _ in parts]
        array = message_outcomes(whole, readings, present, text, held)
        notes = message_notes(whole, text, held).alias("note")
        rows = rows.select(array.alias("found"), notes, F.monotonically_increasing_id().alias("row"))
        more = ["note", "row"]
        outcomes = [F.col("found")[number] for number in range(len(parts))]
        states = [F.col("found")[len(parts) + number] for number in range(len(read))]
    else:
        found = PropertySources(rows, held, whole.dialect.headers)
        sources = {name: found.source(name) for name in dict.fromkeys(whole.names.values())}
        read = [*sources.values()]
        outcomes = [_outcome(node, whole, sources, rows) for node, _ in parts]
        more = []
        states = [F.expr(_state(source)) for source in read]
    outcomes = [outcome.alias(f"part {number}") for number, outcome in enumerate(outcomes)]
    states = [state.alias(f"property {number}") for number, state in enumerate(states)]
    counts = [F.count("*").alias("rows")]
    counts += [F.count_if(F.col(f"`part {number}`") == outcome) for number in range(len(parts)) for outcome in range(5)]
    counts += [F.count_if(F.col(f"`property {number}`") == state) for number in range(len(read)) for state in range(3)]
    if more:
        first = F.struct("row", "note")
        counts += [F.count("note"), F.min(F.when(F.col("note") != "", first)).getField("note")]
    total, *numbers = rows.select(*outcomes, *states, *more).agg(*counts).collect()[0]
    made = tuple(
        Count(_named(node), depth, *numbers[5 * number : 5 * number + 5]) for number, (node, depth) in enumerate(parts)
    )
    del numbers[: 5 * len(parts)]
    seen = tuple(
        Seen(source.name, source.type, *numbers[3 * number : 3 * number + 3]) for number, source in enumerate(read)
    )
    schema = "part string, depth int, " + ", ".join(f"{outcome.lower()} long" for outcome in OUTCOMES)
    written = [(one.text, one.depth, one.true, one.false, one.unknown, one.mismatched, one.error) for one in made]
    noted, note = numbers[3 * len(read) :] if more else (0, "")
    return Profile(whole.text, total, made, seen, rows.sparkSession.createDataFrame(written, schema), noted, note or "")


def _parts(root: Node) -> list[tuple[Node, int]]:
    """List the conditions of a selector and their depth, each before its operands."""
    parts: list[tuple[Node, int]] = []
    stack: list[tuple[Node, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        parts.append((node, depth))
        if isinstance(node, (And, Or, Not)):
            stack += [(child, depth + 1) for child in reversed(children(node))]
    return parts


def _named(node: Node) -> str:
    return type(node).__name__.upper() if isinstance(node, (And, Or, Not)) else unparse(node)


def _readings(node: Node, whole: Selector) -> tuple[Selector, Selector]:
    """Read a part by the two choices of `type_mismatch` that tell a mismatch from what else it may be."""
    lenient = strict = whole.dialect
    # A connective has no types of its own to differ: what is an error below it is one.
    if not isinstance(node, (And, Or, Not)):
        lenient, strict = lenient.replace(type_mismatch="operation"), strict.replace(type_mismatch="selector")
    return whole.part(node, lenient), whole.part(node, strict)


def _outcome(node: Node, whole: Selector, sources: Mapping[str, PropertySource], rows: DataFrame) -> Column:
    """Make the column that says which of the five a condition is."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 (optional; its usual name)

    lenient, strict = _readings(node, whole)
    try:
        mismatch = condition(strict, sources).err if strict.dialect != lenient.dialect else ""
        return F.expr(_case(condition(lenient, sources), mismatch))
    except NoTranslation:
        check_batches(rows)

    def is_error(part: Selector) -> Column:
        """ERR is what neither a condition nor its negation is: FALSE both."""
        negated = part.part(Not(part.node, part.node.span))
        pair = [selector_call(one, sources.values()).column() for one in (part, negated)]
        return F.coalesce(~pair[0] & ~pair[1], F.lit(False))

    truth = selector_call(lenient, sources.values()).column()
    return (
        F.when(is_error(lenient), _ERROR)
        .when(is_error(strict), _MISMATCHED)
        .when(truth, _TRUE)
        .when(~truth, _FALSE)
        .otherwise(_UNKNOWN)
    )


def _case(made: Condition, mismatch: str) -> str:
    branches = [(made.err, _ERROR), (mismatch, _MISMATCHED), (made.sql, _TRUE), (f"NOT ({made.sql})", _FALSE)]
    return f"CASE {' '.join(f'WHEN {test} THEN {outcome}' for test, outcome in branches if test)} ELSE {_UNKNOWN} END"


def _state(source: PropertySource) -> str:
    """Write what a row has of a property: 0 a value, 1 nothing, 2 something that is no value."""
    if source.type == "null":
        return "1"
    if source.type:
        return f"CASE WHEN {source.sql} IS NOT NULL THEN 0 WHEN {source.raw} IS NULL THEN 1 ELSE 2 END"
    values = " ".join(f"WHEN '{case.tag}' THEN CASE WHEN {case.sql} IS NULL THEN 2 ELSE 0 END" for case in source.cases)
    return f"CASE WHEN {source.raw} IS NULL THEN 1 ELSE CASE {source.sql} {values} ELSE 2 END END"
