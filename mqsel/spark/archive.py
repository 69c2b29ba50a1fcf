"""What the rows of a DataFrame are like, and what they make of a change of a selector: what commands do with files.

Each runs one job, in which executors count; they return what `Contract.of` and ``mqsel diff`` have. Follows spark §14.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from mqsel.analysis.compare.changes import EXAMPLES, SelectionChange, selection_change
from mqsel.analysis.compare.contract import OF_DESCRIPTOR, Contract, Observed
from mqsel.analysis.compare.search import Given, as_selector, contract_of
from mqsel.columns.lookup import type_of
from mqsel.errors import ArgumentError, DecodeError, PropertyTypeError
from mqsel.language.computed import time_of
from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.matcher import Matcher
from mqsel.spark.columns import Layout, Place, PropertySource, PropertySources
from mqsel.spark.planning import arrow_layout, check_batches, plan, warn
from mqsel.spark.profiling import refuse_streams
from mqsel.spark.raw import MessageColumn, inspected, message_text, where
from mqsel.spark.ship import as_utf8, gathered, groups
from mqsel.values import TYPES

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

_CLASSES = {row.name: row.python for row in TYPES}
_NAMES = 1_000  # that maps may have


def contract(
    rows: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    values: bool = True,
) -> Contract:
    """Return a contract that each row of a DataFrame conforms to, as `Contract.of` does for messages.

    Columns with a type that no property can have are ignored. Messages in bytes that can't be read are left out, with a
    warning.

    Args:
        rows: A DataFrame that is not a stream.
        properties: Where the properties are, as for `column`. For maps, a Spark job first lists the names in them.
        types: The types of properties, as for `column`.
        values: Whether the contract lists values and bounds (default True), or only types and required properties.

    Raises: the errors of `column`. ArgumentError: if *rows* is a stream, or the names of properties can't be listed.
    """
    refuse_streams(rows, "a contract")
    check_batches(rows)
    held = where(properties, types)
    if isinstance(held, MessageColumn):
        task, said, texts = "messages", held.options(), [message_text(rows, held)]
    else:
        layout, texts = arrow_layout(_sources(rows, held))
        task, said = "rows", json.dumps(layout)
    frame = rows.select(*[F.expr(text).alias(f"c{number}") for number, text in enumerate(texts)])
    total = Observed()
    for one in gathered(frame, f"{__name__}:{task}", said):
        total.add(one)
    if total.skipped:
        seen = total.messages + total.skipped
        warn([f"{total.skipped:,} of {seen:,} messages cannot be read: they are left out"])
    return total.contract(values=values)


def changes(
    old: str | Matcher,
    new: str | Matcher,
    rows: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    given: Given = None,
) -> SelectionChange:
    """Return the rows that are gained and lost if you replace one selector by another.

    The result is that of ``mqsel diff OLD NEW FILE…``. To compare many selectors at once, use `compare`.

    Args:
        old: The selector of today, a str or a `Matcher`.
        new: The new selector, a str or a `Matcher`.
        rows: A DataFrame that is not a stream.
        properties: Where the properties are, as for `column`.
        types: The types of properties, as for `column`.
        dialect: The dialect of selectors that are str, as for `column`.
        given: What you know about the messages, as for `mqsel.relation`. It is used for the selectors of exactly the
            messages that are gained and lost. The default is None.

    Raises: the errors of `column`. ArgumentError: if *rows* is a stream.
    """
    refuse_streams(rows, "a comparison")
    check_batches(rows)
    now = time_of(None)
    plans = [plan(one, rows, properties=properties, types=types, dialect=dialect, now=now) for one in (old, new)]
    warn((*plans[0].warnings, *plans[1].warnings))
    raw = plans[0].raw
    if raw is None:
        layout, texts = arrow_layout({one.name: one for each in plans for one in each.sources}.values())
        said = json.dumps(layout)
    else:
        texts, said = [raw[0]], ""
    truths = [F.coalesce(each.column(), F.lit(False)).alias(name) for each, name in zip(plans, _SIDES, strict=True)]
    names = [f"c{number}" for number in range(len(texts))]
    frame = rows.select(*truths, *[F.expr(text).alias(name) for text, name in zip(texts, names, strict=True)])
    is_changed = F.col(_SIDES[0]) != F.col(_SIDES[1])
    frame = frame.select(*_SIDES, *[F.when(is_changed, F.col(name)).alias(name) for name in names])
    messages, counts = 0, {True: 0, False: 0}
    examples: dict[bool, list[tuple[dict[str, Any], str, str]]] = {True: [], False: []}
    for seen, each, few in gathered(frame, f"{__name__}:changed", said):
        messages += seen
        for is_gained in (True, False):
            counts[is_gained] += each[is_gained]
            for one in few[is_gained]:
                whole = one if raw is None else {p.name: p.value for p in inspected(one, raw[1].options()).rows}
                examples[is_gained].append((whole, "", ""))
    selectors = [as_selector(each, IBM_MQ if dialect is None else dialect) for each in (old, new)]
    contract = contract_of(given, selectors[1].dialect)
    shown = {is_gained: many[:EXAMPLES] for is_gained, many in examples.items()}
    return selection_change(selectors[0], selectors[1], messages, counts, shown, contract)


_SIDES = ("old", "new")


def _sources(rows: DataFrame, held: Layout) -> Iterator[PropertySource]:
    """Yield where all properties are; a column of a type that none has is passed over unless it is mapped to one."""
    found = PropertySources(rows, held, "any")
    names, own = found.names()
    if held.members is not None and not own and len(names) == len(held.places) + len(held.headers):
        raise ArgumentError(
            f"the names of the properties in {'.'.join(held.members.path)} are not listed",
            hint="map those you need: layout({'color': 'v.color'})",
        )
    if own:
        listed = rows.select(F.explode(F.expr(own)).alias("name")).distinct().limit(_NAMES + 1).collect()
        if len(listed) > _NAMES:
            raise ArgumentError(
                f"maps have more than {_NAMES:,} names: a contract is of fewer", hint="map those you need"
            )
        names = [*names, *sorted(row[0] for row in listed if row[0] is not None)]
    suffix = None if held.members is None else held.members.type_suffix
    of_types = {f"{name}{suffix}" for name in names if suffix is not None}
    for name in dict.fromkeys(names):
        if name in of_types or name.startswith(OF_DESCRIPTOR):
            continue
        try:
            yield found.source(name)
        except PropertyTypeError as error:
            if name in held.places or error.value_type is None:  # the name is that of several columns
                raise


# ---- on the executors ------------------------------------------------------------------------------------------------


def rows(layout: str, batches: Iterable[pa.RecordBatch]) -> Observed:
    """Count what rows of columns are like.

    Args:
        layout: JSON of that of `groups`.
        batches: of its columns.
    """
    total, properties = Observed(), json.loads(layout)
    for batch in batches:
        for part, _ in groups(properties, [as_utf8(column) for column in batch.columns]):
            total.take_batch(part, {})
    return total


def messages(options: str, batches: Iterable[pa.RecordBatch]) -> Observed:
    """Count what raw messages are like; without the fields of the descriptor, which each has.

    Args:
        options: those of `MessageColumn`.
        batches: of one column.
    """
    total, chosen = Observed(), json.loads(options)
    for batch in batches:
        for message in batch.columns[0].to_pylist():
            if message is None:
                total.skipped += 1
                continue
            try:
                found = inspected(message, options).rows
            except DecodeError:
                total.skipped += 1
                if chosen["raising"]:
                    raise
            else:
                total.take({one.name: one.value for one in found if not one.name.startswith(OF_DESCRIPTOR)})
    return total


def changed(layout: str, batches: Iterable[pa.RecordBatch]) -> tuple[int, dict[bool, int], dict[bool, list[Any]]]:
    """Count rows that one of two selectors selects alone, and take the first of them.

    Args:
        layout: JSON of that of `groups`; empty for raw messages.
        batches: of whether each of the two selects a row, and of the columns where just one does.

    Returns: how many rows there are; by whether they are gained how many; the first: as messages, or in bytes.
    """
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

    seen, counts = 0, {True: 0, False: 0}
    examples: dict[bool, list[Any]] = {True: [], False: []}
    for batch in batches:
        seen += batch.num_rows
        old, new, *columns = batch.columns
        for is_gained, mask in ((True, pc.and_not(new, old)), (False, pc.and_not(old, new))):
            counts[is_gained] += mask.true_count
            few = pc.indices_nonzero(mask)[: EXAMPLES - len(examples[is_gained])]
            if len(few):
                part = [column.take(few) for column in columns]
                examples[is_gained] += _typed_rows(layout, part) if layout else part[0].to_pylist()
    return seen, counts, examples


def _typed_rows(layout: str, columns: list[pa.Array]) -> list[dict[str, Any]]:
    """Return rows as messages."""
    found: dict[int, dict[str, Any]] = {}
    for part, numbers in groups(json.loads(layout), [as_utf8(column) for column in columns]):
        made: list[Callable[[Any], Any]] = [_CLASSES[type_of(column.type)] for column in part.columns]
        order = range(part.num_rows) if numbers is None else numbers.to_pylist()
        for number, values in zip(
            order, zip(*[column.to_pylist() for column in part.columns], strict=True), strict=True
        ):
            pairs = zip(part.schema.names, made, values, strict=True)
            found[number] = {name: make(value) for name, make, value in pairs if value is not None}
    return [found[number] for number in sorted(found)]
