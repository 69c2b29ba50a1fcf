"""Many selectors over the rows of a DataFrame: compared with other selectors, and why some select nothing.

Both run one job and give DataFrames with a row for each key. Follows spark §13.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from mqsel.analysis.explain.account import with_another
from mqsel.carets import shortened
from mqsel.columns._kernel import Kernel, TooLargeError
from mqsel.errors import ArgumentError
from mqsel.index._index import Index
from mqsel.index._reader import MessageReader, match_totals
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.selector import Selector
from mqsel.logic.formulas import Formula, all_of, complement
from mqsel.logic.normal import TRUTHS, Writer
from mqsel.machine.sections import Texts
from mqsel.names import joined, parted
from mqsel.spark import sets
from mqsel.spark.columns import Layout, Place
from mqsel.spark.planning import arrow_layout, warn
from mqsel.spark.profiling import refuse_streams, state_of
from mqsel.spark.raw import MessageColumn, where
from mqsel.spark.route import Selectors, as_set, key_type, planned, sources_of
from mqsel.spark.ship import carried, groups, read_anyhow, table
from mqsel.values import Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]


def compare(
    old: Selectors,
    new: Selectors,
    rows: DataFrame,
    *,
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    errors: str | None = None,
) -> DataFrame:
    """Count for each key the rows that it gains and loses if you replace one set of selectors by another.

    For a migration, compare two sets of one mapping: ``SelectorSet(texts, dialect="JMS")`` and ``SelectorSet(texts)``.

    Args:
        old: The selectors of today, as for `route`.
        new: The new selectors, as for `route`.
        rows: A DataFrame that is not a stream.
        properties: Where the properties are, as for `route`.
        types: The types of properties, as for `route`.
        errors: "raise" or "skip", as for `route`.

    Returns: a DataFrame with one row for each key: ``key``, and the numbers of rows ``kept``, ``gained`` and ``lost``.

    Raises: the errors of `route`. ArgumentError: if the keys of one set are str and those of the other int.
    """
    refuse_streams(rows, "a comparison")
    plans = [planned(one, rows, properties, types, errors=errors) for one in (old, new)]
    warn((*plans[0].warnings, *plans[1].warnings))
    keys = [*dict.fromkeys((*plans[0].selectors, *plans[1].selectors))]
    kind = key_type(keys)
    frame = rows.select(*[made.column().alias(name) for made, name in zip(plans, ("old", "new"), strict=True)])
    both = [F.col(name).cast(f"array<{kind}>") for name in ("old", "new")]
    parts = {
        "kept": F.array_intersect(*both),
        "gained": F.array_except(both[1], both[0]),
        "lost": F.array_except(both[0], both[1]),
    }
    sides = F.array(*[F.struct(F.lit(name).alias("side"), part.alias("keys")) for name, part in parts.items()])
    counted = (
        frame.select(F.explode(sides).alias("part"))
        .select(F.col("part.side").alias("side"), F.explode("part.keys").alias("key"))
        .groupBy("key")
        .agg(*[F.count_if(F.col("side") == name).alias(name) for name in parts])
    )
    known = rows.sparkSession.createDataFrame([(key,) for key in keys], f"key {kind}")
    zeros = [F.coalesce(F.col(name), F.lit(0)).alias(name) for name in parts]
    return known.join(counted, "key", "left").select("key", *zeros)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many rows one selector of a set selects.

    Attributes:
        key: The key of the selector.
        selected: The number of rows that it selects.
        unknown: The number of rows for which it is UNKNOWN.
        mismatched: The number of rows that it doesn't select because a test doesn't take the type of a value. Some of
            them may also be UNKNOWN.
        missing: The first of its properties that no row has; empty if each is in some row.
    """

    key: Any
    selected: int
    unknown: int
    mismatched: int
    missing: str


@dataclass(frozen=True, slots=True)
class SetProfile:
    """The result of `profile_set`. If you print it, the selectors that select fewest rows are first.

    Attributes:
        rows: The number of rows.
        outcomes: An `Outcome` for each selector, in the order of the set.
        faulty: The key and the error of each selector that was left out.
        frame: `outcomes` as a DataFrame.
    """

    rows: int
    outcomes: tuple[Outcome, ...]
    faulty: tuple[tuple[Any, Any], ...]
    frame: DataFrame

    def __str__(self) -> str:
        least = sorted(self.outcomes, key=lambda one: one.selected)
        head = ("selected", "unknown", "type mismatch", "never present", "")
        numbers = [(f"{one.selected:,}", f"{one.unknown:,}", f"{one.mismatched:,}") for one in least[:_PRINTED]]
        lines = table(
            [head, *[(*three, one.missing, str(one.key)) for three, one in zip(numbers, least, strict=False)]]
        )
        more = [f"… and {len(least) - _PRINTED:,} more"] * (len(least) > _PRINTED)
        faulty = [f"faulty: {shortened(key)}: {error.message}" for key, error in self.faulty]
        nothing = sum(not one.selected for one in least)
        return "\n".join(
            [f"{self.rows:,} rows, {nothing:,} of {len(least):,} selectors got nothing", *lines, *more, *faulty]
        )


_PRINTED = 40


def profile_set(
    selectors: Selectors,
    rows: DataFrame,
    *,
    properties: Layout | Mapping[str, Place] | str | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | str | None = None,
    errors: str | None = None,
) -> SetProfile:
    """Count for each selector of a set the rows that it selects, and why it does not select the others, in one job.

    Each selector runs over each row, because nothing else tells UNKNOWN from FALSE. If you have thousands of selectors,
    pass a sample of the rows.

    Args: those of `route`; *rows* is a DataFrame of columns, not a stream, and without raw messages.

    Raises: the errors of `route`. ArgumentError: if the set has no texts (``keep_text=False``).
    """
    refuse_streams(rows, "a profile")
    made, faulty = as_set(selectors, dialect, errors)
    kind, places = key_type(made), where(properties, types)
    if isinstance(places, MessageColumn):
        raise ArgumentError(
            "a set is not profiled over raw messages", hint="take their properties out: df.select(*properties(df, …))"
        )
    read = [*sets.read(made)]
    # The set itself leaves out what has no part in selecting a row; whether one is UNKNOWN may depend on it.
    names = dict.fromkeys(name for one in read for name in one.names.values())
    folded = [name for one in read if one.naming == "folded" for name in one.names.values()]
    sources, _ = sources_of(made, names, folded, rows, places)
    layout, texts = arrow_layout(sources)
    present = [F.expr(f"({state_of(one)}) = 0").alias(f"p{number}") for number, one in enumerate(sources)]
    held = rows.select(*[F.expr(text).alias(f"c{number}") for number, text in enumerate(texts)], *present)
    options = json.dumps({"layout": layout, "columns": len(texts)})
    function = carried("mqsel.spark.audience:counts", sets.shipped(made, rows.sparkSession), options)
    sums = [F.sum(name).alias(name) for name in COUNTED]
    schema = ", ".join(f"{name} bigint" for name in ("place", *COUNTED))
    counted = held.mapInArrow(function, schema).groupBy("place").agg(*sums).collect()
    by_place = {row["place"]: row for row in counted}
    total = by_place[ALL_ROWS]["selected"] if counted else 0
    had = [one.name for n, one in enumerate(sources) if counted and by_place[ALL_ROWS - 1 - n]["selected"]]
    seen = {spelling for name in had for spelling in (name, joined(name, "folded"))}
    outcomes = []
    for place, (key, one) in enumerate(zip(made, read, strict=True)):
        missing = next((name for name in one.names.values() if seen.isdisjoint(parted(joined(name, one.naming)))), "")
        selected, unknown, mismatched = (by_place[place][name] if counted else 0 for name in COUNTED)
        outcomes.append(Outcome(key, selected, unknown, mismatched, missing))
    written = [(one.key, one.selected, one.unknown, one.mismatched, one.missing or None) for one in outcomes]
    described = f"key {kind}, selected bigint, unknown bigint, mismatched bigint, missing string"
    return SetProfile(total, tuple(outcomes), faulty, rows.sparkSession.createDataFrame(written, described))


# ---- on the executors ------------------------------------------------------------------------------------------------

COUNTED = ("selected", "unknown", "mismatched")
ALL_ROWS = -1  # the place under which rows are counted; those that have a property, below it


class _Asked:
    """Finds how many rows each of some selectors selects, is UNKNOWN for, and does not select for a type mismatch."""

    def __init__(self, selectors: Iterable[Selector]) -> None:
        writer = Writer()
        formulas = [formula for selector in selectors for formula in _formulas(writer, selector)]
        index = Index()
        index.add(range(len(formulas)), formulas)
        self.reader: MessageReader[int] = MessageReader()
        self.reader.reports = True
        self.reader.begin(index, None, [*range(len(formulas))], None, Texts(), {}, {})
        self.kernel: Kernel | str
        try:
            self.kernel = Kernel(tuple(formulas), index.names)
        except TooLargeError as reason:
            self.kernel = str(reason)

    def counts(self, batch: object) -> Iterator[tuple[int, ...]]:
        """Return the place of each selector and its numbers of rows."""
        _, totals = match_totals(self.reader, batch, lambda _: self.kernel)
        size = len(COUNTED)
        return ((place, *totals[place * size : (place + 1) * size]) for place in range(len(totals) // size))


def _formulas(writer: Writer, selector: Selector) -> Iterator[Formula]:
    """List the formulas of what is counted for a selector."""
    names = {name: joined(read, selector.naming) for name, read in selector.names.items()}
    form = writer.write(selector, names, TRUTHS)
    fails = Truth.ERR in core_of(selector.dialect).others.values()
    other = selector.part(selector.node, with_another(selector.dialect, Truth.ERR if fails else Truth.FALSE))
    errors = [form.error, writer.write(other, names, TRUTHS).error]
    one, rest = errors if fails else errors[::-1]
    yield from (form.true, form.unknown, all_of([one, complement(rest), complement(form.true)]))


@lru_cache(1)
def _asked(held: bytes) -> _Asked:
    return _Asked(sets.read(sets.opened(held)))


def counts(held: bytes, options: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count what the selectors of a set are for the rows of each batch, and which properties the rows have."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    chosen = json.loads(options)
    asked = _asked(held)

    def outcomes(columns: Sequence[pa.Array]) -> list[tuple[int, ...]]:
        return [one for batch, _ in groups(chosen["layout"], columns) for one in asked.counts(batch)]

    for batch in batches:
        rows = [(ALL_ROWS, batch.num_rows, 0, 0), *read_anyhow(outcomes, batch.columns[: chosen["columns"]])]
        present = batch.columns[chosen["columns"] :]
        rows += [(ALL_ROWS - 1 - number, column.true_count, 0, 0) for number, column in enumerate(present)]
        made = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)]
        yield pa.RecordBatch.from_arrays(made, ["place", *COUNTED])
