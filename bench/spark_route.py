"""Routing on Spark: `bench/spark_route.py [--rows N] [--rounds N] [--quick]` prints one Markdown table.

CPU time of the JVM and the Python workers together, as `spark_strategies.py` measures it: contenders in turns within a
round, medians over the rounds. Every contender reads the same three columns of one Parquet table and gives one column;
answers are compared before anything is timed. `!` marks what misses its bar.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from spark_strategies import measured, to_nowhere, write_narrow

import mqsel
from mqsel.spark import column, route

COLUMNS = ("JMSType", "color", "weight")
FLOOR = "an empty arrow_udf"
COLORS = ("blue", "red", "green", "grey", "black")


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


def idle() -> Any:
    """Make the Arrow function that looks at nothing, and gives an empty array for every row."""

    def answer(*columns):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        offsets = pa.nulls(len(columns[0]) + 1, pa.int32()).fill_null(0)
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))

    import pyarrow as pa

    answer.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return F.arrow_udf(answer, "array<string>")


def check(frame: Any, count: int) -> None:
    """Compare what is routed with what Matchers select, over some rows."""
    held = subscriptions(count)
    some = frame.limit(300).localCheckpoint()
    matchers = {key: mqsel.compile(text, schema=COLUMNS) for key, text in held.items()}
    for row in some.select(*COLUMNS, route(held, some).alias("keys")).collect():
        wanted = [key for key, one in matchers.items() if one.matches(tuple(row)[:3])]
        assert row["keys"] == wanted, (row, wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="only contenders whose name has this text")
    parser.add_argument("--quick", action="store_true", help="few rows: does it run, and route rightly")
    chosen = parser.parse_args()
    rows, rounds = (20_000, 1) if chosen.quick else (chosen.rows, chosen.rounds)
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
        write_narrow(spark, str(Path(folder) / "narrow"), rows)
        frame = spark.read.parquet(str(Path(folder) / "narrow"))
        for count in (10, 100, 1000):
            check(frame, count)
        jobs = {FLOOR: frame.select(idle()(*COLUMNS))}
        for count in (10, 40, 100, 1000, 10_000):
            jobs[f"route, {count:,}"] = frame.select(route(subscriptions(count), frame, strategy="arrow"))
        for count in (1000, 10_000):
            held = subscriptions(count, 3)
            jobs[f"route, {count:,}, about 3 keys a row"] = frame.select(route(held, frame, strategy="arrow"))
        for count in (10, 40):
            jobs[f"route, {count:,}, one expression"] = frame.select(
                route(subscriptions(count), frame, strategy="native")
            )
        for count in (10, 40, 100, 300):
            made = [column(text, frame).alias(key) for key, text in subscriptions(count).items()]
            jobs[f"{count:,} native Columns"] = frame.select(*made)
        runs = {name: to_nowhere(job) for name, job in jobs.items() if name == FLOOR or chosen.only in name}
        times: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(rounds + 1):  # the first is for the compilers
            for name, job in runs.items():
                spent = measured(job)
                if number:
                    times[name].append(spent / rows * 1e9)
    spark.stop()
    floor = statistics.median(times[FLOOR])
    bars = {"route, 100": floor * 1.5, "route, 10,000, about 3 keys a row": floor + 8000}
    print(
        "| CPU time, JVM and Python workers | ns a row (range) | by the empty arrow_udf | bar, ns |\n|---|---|---|---|"
    )
    for name, found in times.items():
        middle = statistics.median(found)
        bar = bars.get(name)
        missed = "!" if bar is not None and middle > bar else ""
        spread = f"{middle:,.0f}{missed} ({min(found):,.0f}–{max(found):,.0f})"
        print(f"| {name} | {spread} | {middle / floor:.2f} | {'' if bar is None else f'≤ {bar:,.0f}'} |")


if __name__ == "__main__":
    main()
