"""Routing on Spark: `bench/spark_route.py [--rows N] [--rounds N] [--quick]` prints two Markdown tables.

CPU time of the JVM and the Python workers, as `spark_strategies.py` measures it: after a run over a tenth of the rows
all contenders take turns, and medians over the rounds count. Everybody reads Parquet and gives one column, or the peer
one for each subscription; answers are compared before anything is timed. `!` marks what misses its bar.

The first table has small sets over three columns, and where `route` and native Columns cost the same; the second 10,000
subscriptions, of which a row is delivered to 1 to 400: those of `sets.py`, over all columns that they read. Where many
get a row, an eighth of the rows is enough. Messages of `sets.py` are 20,000 different ones, again and again.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import sets
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from spark_strategies import TICK, measured, to_nowhere, write_narrow

import mqsel
from mqsel.spark import column, plan, route

COLUMNS = ("JMSType", "color", "weight")
COLORS = ("blue", "red", "green", "grey", "black")
COUNTS = (10, 30, 100, 300, 1000)
MANY = 10_000
SMALL_BAR = 1.3  # of 100 subscriptions: times an empty arrow_udf
LARGE_BAR = 8.0  # of 10,000: us a row over it
DISTINCT = 20_000


class Rows(NamedTuple):
    """Rows of Parquet.

    Attributes:
        number: how many.
        few, all: a DataFrame of a tenth of them, and of them.
        read: the columns that every contender reads.
    """

    number: int
    few: Any
    all: Any
    read: Sequence[str]


class Contender(NamedTuple):
    """What is timed.

    Attributes:
        rows: what it reads.
        made: gives for a DataFrame the columns that it selects.
    """

    rows: Rows
    made: Callable[[Any], list[Any]]


class Spent(NamedTuple):
    """CPU time, ns a row: of all processes, and of the Python workers."""

    all: float
    workers: float


# ---- sets and rows ---------------------------------------------------------------------------------------------------


def subscriptions(count: int, share: int = 0) -> dict[str, str]:
    """Draw subscriptions; a row has between one and two subscribers of each hundred, or about *share* in all."""
    rng = random.Random(count)
    found = {}
    for number in range(count):
        kind, color = rng.choice(("car", "bus", "van", "bike")), rng.choice(COLORS)
        low = rng.randrange(2000, 5000)
        high = f" AND weight < {low + 5000 * 20 * share // count}" if share else ""
        found[f"s{number}"] = f"JMSType = '{kind}' AND color = '{color}' AND weight > {low}{high}"
    return found


def written(path: Path, workload: sets.Workload, read: Sequence[str], rows: int) -> None:
    """Write the messages of a workload as typed columns."""
    messages = workload.messages(min(DISTINCT, rows))
    table = pa.table({name: [message.get(name) for message in messages] for name in read})
    path.mkdir()
    for part in range(4):
        with pq.ParquetWriter(path / f"{part}.parquet", table.schema) as writer:
            for start in range(0, rows // 4, len(messages)):
                writer.write_table(table.slice(0, min(len(messages), rows // 4 - start)))


def of_workload(spark: Any, folder: Path, workload: sets.Workload, selectors: Any, rows: int) -> Rows:
    """Write and read the messages of a workload."""
    read = sorted(selectors.properties)
    frames = []
    for name, count in (("few", max(rows // 10, 4)), ("all", rows)):
        path = folder / f"{workload.name} {name}"
        written(path, workload, read, count)
        frames.append(spark.read.parquet(str(path)))
    return Rows(rows, *frames, read)


# ---- the contenders --------------------------------------------------------------------------------------------------


def idle() -> Any:
    """Return the Arrow function that looks at nothing, and gives an empty array for every row."""

    def answer(*columns):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        offsets = pa.nulls(len(columns[0]) + 1, pa.int32()).fill_null(0)
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))

    answer.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return F.arrow_udf(answer, "array<string>")


def empty(rows: Rows) -> Contender:
    return Contender(rows, lambda _: [idle()(*rows.read)])


def routed(rows: Rows, selectors: Any) -> Contender:
    return Contender(rows, lambda frame: [route(selectors, frame)])


def native(rows: Rows, selectors: Mapping[str, str]) -> Contender:
    return Contender(rows, lambda frame: [column(text, frame).alias(key) for key, text in selectors.items()])


def check(rows: Rows, selectors: Any) -> float:
    """Compare what is routed with what Matchers select, of some rows. Returns: keys a row."""
    some = rows.few.limit(50).localCheckpoint()
    held = selectors if isinstance(selectors, mqsel.SelectorSet) else mqsel.SelectorSet(selectors)
    for row in some.select(*rows.read, route(selectors, some).alias("keys")).collect():
        message = {name: row[name] for name in rows.read if row[name] is not None}
        assert row["keys"] == held.scan(message), row
    delivered = rows.few.select(F.sum(F.size(route(selectors, rows.few)))).first()[0]
    assert delivered, "nobody gets anything"
    return float(delivered / rows.few.count())


def check_columns(rows: Rows, selectors: Mapping[str, str], wanted: float) -> None:
    """Compare how many deliveries the peer's Columns make."""
    made = [F.count_if(one) for one in native(rows, selectors).made(rows.few)]
    assert sum(rows.few.select(*made).first()) == round(wanted * rows.few.count())


# ---- the clock -------------------------------------------------------------------------------------------------------


def timed(spark: Any, contenders: Mapping[str, Contender], rounds: int) -> dict[str, list[Spent]]:
    """Time everybody in turns."""
    java = Path(f"/proc/{spark._jvm.ProcessHandle.current().pid()}/stat")

    def of_java() -> float:
        fields = java.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    jobs = {}
    for name, one in contenders.items():
        to_nowhere(one.rows.few.select(*one.made(one.rows.few)))()
        jobs[name] = to_nowhere(one.rows.all.select(*one.made(one.rows.all)))
    found: dict[str, list[Spent]] = {name: [] for name in jobs}
    for number in range(rounds):
        for name, job in jobs.items():
            before = of_java()
            spent, rows = measured(job), contenders[name].rows.number
            found[name].append(Spent(spent / rows * 1e9, (spent - (of_java() - before)) / rows * 1e9))
        print(f"round {number + 1} of {rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    return found


def middle(times: Sequence[Spent]) -> float:
    return statistics.median(one.all for one in times)


def spread(values: Sequence[float], digits: int) -> str:
    return f"{min(values):,.{digits}f}–{max(values):,.{digits}f}"


# ---- the tables ------------------------------------------------------------------------------------------------------


def small(times: Mapping[str, list[Spent]], keys: Mapping[int, float], ways: Mapping[int, str]) -> Iterator[str]:
    """Return the table of small sets."""
    floor = middle(times["empty"])
    whole = spread([one.all for one in times["empty"]], 0)
    yield f"An empty arrow_udf over three columns: {floor:,.0f} ns a row ({whole}).\n"
    head = (
        "keys a row | `route` | ns a row (range) | by an empty arrow_udf | native Columns, ns a row (range) | by them"
    )
    yield f"| subscriptions | {head} |\n|---|---|---|---|---|---|---|"
    gaps = []
    for count, delivered in keys.items():
        ours, theirs = (middle(times[f"{who} {count}"]) for who in ("route", "native"))
        gaps.append((count, math.log(ours / theirs)))
        bar = f"! (bar {SMALL_BAR})" * (count == 100 and ours > SMALL_BAR * floor)
        cells = [
            f"{count:,}",
            f"{delivered:.1f}",
            ways[count],
            f"{ours:,.0f} ({spread([one.all for one in times[f'route {count}']], 0)})",
            f"{ours / floor:.2f}{bar}",
            f"{theirs:,.0f} ({spread([one.all for one in times[f'native {count}']], 0)})",
            f"{ours / theirs:.2f}",
        ]
        yield f"| {' | '.join(cells)} |"
    crossed = [
        math.exp(math.log(few) + (math.log(many) - math.log(few)) * before / (before - after))
        for (few, before), (many, after) in itertools.pairwise(gaps)
        if (before > 0) != (after > 0)
    ]
    yield f"\nThe lines cross at {' and '.join(f'{one:.0f}' for one in crossed) or 'none of these'} subscriptions."


def large(times: Mapping[str, list[Spent]], of: Mapping[str, tuple[Rows, float]], many: int) -> Iterator[str]:
    """Return the table of large sets."""
    head = "columns | rows | keys a row | an empty arrow_udf, µs a row | `route` over it (range) | of it by workers"
    yield f"\n| {many:,} subscriptions | {head} |\n|---|---|---|---|---|---|---|"
    for name, (rows, keys) in of.items():
        floors, ours = times[f"empty, {name}"], times[name]
        over = [(one.all - floor.all) / 1000 for one, floor in zip(ours, floors, strict=True)]
        workers = statistics.median(
            (one.workers - floor.workers) / 1000 for one, floor in zip(ours, floors, strict=True)
        )
        missed = "!" * (statistics.median(over) > LARGE_BAR)
        cells = [
            name,
            f"{len(rows.read)}",
            f"{rows.number:,}",
            f"{keys:.1f}",
            f"{middle(floors) / 1000:.2f}",
            f"{statistics.median(over):.2f}{missed} ({spread(over, 2)})",
            f"{workers:.2f}",
        ]
        yield f"| {' | '.join(cells)} |"
    yield f"\nBar: ≤ {LARGE_BAR:.0f} µs."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="few rows: does it run, and route rightly")
    chosen = parser.parse_args()
    rows, rounds = (20_000, 1) if chosen.quick else (chosen.rows, chosen.rounds)
    counts, many = (COUNTS[:3:2], 1000) if chosen.quick else (COUNTS, MANY)
    warnings.simplefilter("ignore", UserWarning)  # tests that no row can pass are part of the workloads
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(run(spark, Path(folder), rows, rounds, counts, many)))
    spark.stop()


def run(spark: Any, folder: Path, rows: int, rounds: int, counts: Sequence[int], many: int) -> Iterator[str]:
    """Compare the answers, measure, and give the tables."""

    def narrow(count: int) -> Rows:
        frames = []
        for number in (count // 10, count):
            path = folder / f"narrow {number}"
            if not path.exists():
                write_narrow(spark, str(path), number)
            frames.append(spark.read.parquet(str(path)))
        return Rows(count, *frames, COLUMNS)

    cars, contenders = narrow(rows), {}
    contenders["empty"] = empty(cars)
    keys, ways = {}, {}
    for count in counts:
        held = subscriptions(count)
        keys[count] = check(cars, held)
        check_columns(cars, held, keys[count])
        made = plan(held, cars.all)
        ways[count] = {"native": "one expression", "arrow": "Arrow"}[made.strategy]
        contenders[f"route {count}"], contenders[f"native {count}"] = routed(cars, held), native(cars, held)

    of: dict[str, tuple[Rows, float]] = {}

    def add(name: str, read: Rows, selectors: Any) -> None:
        of[name] = read, check(read, selectors)
        contenders[f"empty, {name}"], contenders[name] = empty(read), routed(read, selectors)

    add("type, color, and a range of weight", cars, subscriptions(many, 3))
    add("type, color, and a least weight", narrow(rows // 8), subscriptions(many))
    by_name = {one.name: one for one in (*sets.WORKLOADS, sets.shared()) if one is not None}
    for name, share in (("JMS sparse", 1), ("JMS dense", 8), ("subscriptions", 8)):
        if name in by_name:
            one = by_name[name]
            texts = one.selectors(many)
            selectors = mqsel.SelectorSet({f"s{n}": text for n, text in enumerate(texts)}, dialect=one.dialect)
            read = of_workload(spark, folder, one, selectors, rows // share)
            add(name, read, selectors)
            if share > 1:
                add(f"{name}, keys of int", read, mqsel.SelectorSet(enumerate(texts), dialect=one.dialect))
    times = timed(spark, contenders, rounds)
    yield from small(times, keys, ways)
    yield from large(times, of, many)


if __name__ == "__main__":
    main()
