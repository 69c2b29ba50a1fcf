"""The strategies of Spark: `bench/spark_strategies.py [--quick] [--master local[1]]` prints one Markdown table.

CPU time of the JVM and the Python workers together, from /proc of the process tree (Linux): with two shared cores wall
time says little. The contenders of a pair take turns within a round; a ratio is the median over the rounds of ratios
within one round. Everyone's hits are counted before anyone's time counts. `!` marks what misses its bar.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

import mqsel
from mqsel.formats import mq
from mqsel.spark import column, mq_message, profile
from mqsel.values import Int32

SELECTOR = "JMSType = 'car' AND color = 'blue' AND weight > 2500"
NAMES = ("msgid", "JMSType", "color", "weight", "region", "ts")
TUPLES = "mapPartitions(m.filter), pickled tuples : pass-through"
TEXT = "mapPartitions(m.filter) of lines of JSON : pass-through"
RAW = "raw MQ messages, 1 KB of data : pass-through"
BY_ROW = "a test of two properties whose types differ by row, native strategy : Arrow strategy"
STRATEGIES = ("native", "arrow")
KEPT = "columns kept"
COLUMNAR = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
BODY = 1024
CHUNK = 50_000  # raw messages written at a time
TICK = os.sysconf("SC_CLK_TCK")


class Pair(NamedTuple):
    """Two contenders and the bar of their ratio.

    Attributes:
        title: what is compared.
        rows: that each of them reads.
        ours, theirs: each runs one job to its end.
        hits: count what ours selects, and what is to be selected.
        bar: our CPU time by theirs is at most this.
    """

    title: str
    rows: int
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    hits: tuple[Callable[[], int], Callable[[], int]]
    bar: float


# ---- the clock -------------------------------------------------------------------------------------------------------


# What each process of the family was last seen to have used: an idle worker that Spark ends takes nothing back.
_SPENT: dict[tuple[int, int], int] = {}


def cpu_seconds() -> float:
    """Add up the CPU time of all descendants of this process, past and present: the JVM, the daemon, its workers."""
    parents: dict[int, int] = {}
    spent: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # gone meanwhile
                continue
            parents[int(entry.name)] = int(fields[1])
            spent[int(entry.name)] = int(fields[19]), int(fields[11]) + int(fields[12])  # its start, its CPU time
    more = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in more}:
        for child in more:
            start, ticks = spent[child]
            _SPENT[child, start] = ticks
    return sum(_SPENT.values()) / TICK


def measured(job: Callable[[], Any]) -> float:
    before = cpu_seconds()
    job()
    return cpu_seconds() - before


# ---- the data --------------------------------------------------------------------------------------------------------


def write_narrow(spark: Any, path: str, rows: int) -> None:
    """Write messages of six columns; 2.5 % are selected."""
    kinds = "array('car', 'bus', 'van', 'bike')"
    colors = "array('blue', 'red', 'green', 'grey', 'black')"
    regions = "array('north', 'east', 'south', 'west')"
    texts = {
        "msgid": "concat('ID:', sha2(cast(id as string), 224))",
        "JMSType": f"element_at({kinds}, cast(pmod(xxhash64(id, 1), 4) as int) + 1)",
        "color": f"element_at({colors}, cast(pmod(xxhash64(id, 2), 5) as int) + 1)",
        "weight": "cast(pmod(xxhash64(id, 3), 5000) as int)",
        "region": f"element_at({regions}, cast(pmod(xxhash64(id, 4), 4) as int) + 1)",
        "ts": "1700000000000 + id",
    }
    made = spark.range(0, rows, 1, 4).select(*(F.expr(text).alias(name) for name, text in texts.items()))
    made.withColumn("msgid", F.substring("msgid", 1, 51)).write.parquet(path)


def write_wide(narrow: Any, path: str) -> None:
    """Write the same messages with twenty columns: texts, numbers and times beside those that the selector reads."""
    texts = [F.expr(f"substring(sha2(msgid, 256), {n}, {8 + 2 * n})").alias(f"text{n}") for n in range(1, 8)]
    numbers = [F.expr(f"xxhash64(msgid, {n}) % 1000000").alias(f"number{n}") for n in range(5)]
    narrow.select(
        "*", *texts, *numbers, (F.col("ts") / 7).alias("ratio"), F.timestamp_millis("ts").alias("at")
    ).write.parquet(path)


def raw_messages(rows: int) -> Iterator[list[bytes]]:
    """Return raw messages with an MQRFH2 and 1 KB of data that no compression shrinks."""
    rng = random.Random(5)
    drawn = [
        {"color": color, "weight": Int32(weight), "region": "north", "JMSType": kind}
        for kind, color, weight in itertools.product(("car", "bus"), ("blue", "red", "green"), range(500, 5000, 500))
    ]
    heads = [mq.encode({"Format": "MQSTR", "MsgId": rng.randbytes(24)}, values) for values in drawn]
    noise = rng.randbytes(1 << 20)
    for start in range(0, rows, CHUNK):
        yield [
            heads[rng.randrange(len(heads))] + noise[(place := rng.randrange(len(noise) - BODY)) : place + BODY]
            for _ in range(min(CHUNK, rows - start))
        ]


def write_raw(path: str, rows: int) -> int:
    """Write the raw messages. Returns how many are selected."""
    matcher = mqsel.compile(SELECTOR)
    schema = pa.schema([("value", pa.binary())])
    hits = 0
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="none") as writer:
        for messages in raw_messages(rows):
            hits += sum(1 for _ in matcher.filter(messages, format="mq"))
            writer.write_batch(pa.record_batch([pa.array(messages, pa.binary())], schema=schema))
    return hits


# ---- the contenders --------------------------------------------------------------------------------------------------


def nothing(share: float) -> Any:
    """Return the Arrow function that looks at nothing, and selects as many rows of a batch as the selector."""

    def answer(*columns):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        rows = len(columns[0])
        some = int(rows * share)
        packed = b"\xff" * (some // 8) + b"\0" * ((rows - some) // 8 + 2)
        return pa.Array.from_buffers(pa.bool_(), rows, [None, pa.py_buffer(packed)])

    answer.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return F.arrow_udf(answer, "boolean")


def to_nowhere(frame: Any) -> Callable[[], None]:
    return lambda: frame.write.format("noop").mode("overwrite").save()


def narrow_pairs(spark: Any, path: str, rows: int) -> Iterator[Pair]:
    """Return the pairs over typed columns."""
    frame = spark.read.parquet(path)
    by_hand = frame.filter((F.col("JMSType") == "car") & (F.col("color") == "blue") & (F.col("weight") > 2500))
    native = frame.filter(column(SELECTOR, frame, strategy="native"))
    yield Pair("native strategy : Column by hand", rows, *_jobs(native, by_hand), 1.1)
    yield Pair(
        "profile : native strategy",
        rows,
        lambda: profile(SELECTOR, frame),
        to_nowhere(native),
        (lambda: profile(SELECTOR, frame).parts[0].true, native.count),
        2.0,
    )

    arrow = frame.filter(column(SELECTOR, frame, strategy="arrow"))
    share = by_hand.count() / rows
    idle = frame.filter(nothing(share)("JMSType", "color", "weight"))
    ours, theirs, (count, _) = _jobs(arrow, idle)
    yield Pair(
        "Arrow strategy, 3 columns : arrow_udf that does nothing", rows, ours, theirs, (count, by_hand.count), 1.05
    )

    # Of two properties each row may say the type; of three there are too many combinations for a Catalyst text.
    unions = {"p": _union("weight"), "q": _union("pmod(ts, 5000)"), "r": _union("5000")}
    mixed = frame.select("*", *(one.alias(name) for name, one in unions.items()))
    where = {name: name for name in unions}
    ours, theirs = (
        mixed.filter(column("p > q", mixed, properties=where, strategy=one)).select(*NAMES) for one in STRATEGIES
    )
    yield Pair(BY_ROW, rows, *_jobs(ours, theirs), 1.0)
    text = "JMSType = 'car' AND color = 'blue' AND weight > 2500 AND p BETWEEN -q AND r"
    behind = mixed.filter(column(text, mixed, properties=where)).select(*NAMES)
    yield Pair("Arrow strategy behind a prefilter of 2.5 % : Column by hand", rows, *_jobs(behind, by_hand), 2.5)


def _union(number: str) -> Any:
    tag = F.expr("element_at(array('integer', 'long', 'double'), cast(pmod(ts, 3) as int) + 1)").alias("propertyType")
    kinds = {"integer": "int", "long": "bigint", "double": "double"}
    values = [F.expr(number).cast(kind).alias(name) for name, kind in kinds.items()]
    others = [F.lit(None).cast(kind).alias(name) for name, kind in (("string", "string"), ("boolean", "boolean"))]
    return F.struct(tag, *values, *others)


def kept_pairs(spark: Any, path: str, wide: str, rows: int) -> Iterator[Pair]:
    """Return the pairs of one filter by the Arrow strategy whose rows keep few columns or many, as Spark hands them on.

    Spark may hand columns to Python without making rows of them first, and `column` says no unless somebody said yes:
    what is only kept costs more then. Which way it takes is decided when a job begins.
    """

    def by_columns(job: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            spark.conf.set(COLUMNAR, "true")
            try:
                return job()
            finally:
                spark.conf.set(COLUMNAR, "false")

        return run

    few = spark.read.parquet(path).select("JMSType", "color", "weight")
    for frame in (few, spark.read.parquet(wide)):
        arrow, native = (frame.filter(column(SELECTOR, frame, strategy=way)) for way in ("arrow", "native"))
        ours, hits = to_nowhere(arrow), (arrow.count, native.count)
        count = len(frame.columns)
        idle = to_nowhere(frame.filter(nothing(native.count() / rows)("JMSType", "color", "weight")))
        yield Pair(f"Arrow strategy, {count} {KEPT} : arrow_udf that does nothing", rows, ours, idle, hits, 1.05)
        yield Pair(f"Arrow strategy, {count} {KEPT} : columnar input", rows, ours, by_columns(ours), hits, 1.1)
        yield Pair(f"Arrow strategy, {count} {KEPT} : native strategy", rows, ours, to_nowhere(native), hits, 2.5)


def tuple_pair(spark: Any, path: str, tuples: str, rows: int) -> Pair:
    """Return the pair over an RDD of pickled tuples."""
    frame = spark.read.parquet(path)
    matcher = mqsel.compile(SELECTOR, schema=NAMES)
    frame.rdd.map(tuple).saveAsPickleFile(tuples, 1000)
    stored = spark.sparkContext.pickleFile(tuples)
    ours = stored.mapPartitions(matcher.filter).count
    theirs = stored.mapPartitions(lambda messages: messages).count
    by_hand = frame.filter("JMSType = 'car' AND color = 'blue' AND weight > 2500").count
    return Pair(TUPLES, rows, ours, theirs, (ours, by_hand), 1.1)


def text_pair(spark: Any, path: str, stored: str, rows: int) -> Pair:
    """Return the pair over lines of JSON, as Spark gives bytes of text files to Python."""
    frame = spark.read.parquet(path)
    frame.select(F.to_json(F.struct("*"))).write.text(stored)
    lines = spark.sparkContext.textFile(stored, use_unicode=False)
    matcher = mqsel.compile(SELECTOR)
    ours = lines.mapPartitions(lambda messages: matcher.filter(messages, format="json")).count
    theirs = lines.mapPartitions(lambda messages: messages).count
    by_hand = frame.filter("JMSType = 'car' AND color = 'blue' AND weight > 2500").count
    return Pair(TEXT, rows, ours, theirs, (ours, by_hand), 1.2)


def raw_pair(spark: Any, path: str, rows: int, hits: int) -> Pair:
    """Return the pair over raw messages."""
    frame = spark.read.parquet(path)
    selected = frame.filter(column(SELECTOR, frame, properties=mq_message("value")))
    idle = frame.filter(nothing(hits / rows)("value"))
    ours, theirs, (count, _) = _jobs(selected, idle)
    return Pair(RAW, rows, ours, theirs, (count, lambda: hits), 1.3)


def _jobs(ours: Any, theirs: Any) -> tuple[Callable[[], Any], Callable[[], Any], tuple[Any, Any]]:
    return to_nowhere(ours), to_nowhere(theirs), (ours.count, theirs.count)


# ---- the table -------------------------------------------------------------------------------------------------------


def run(pair: Pair, rounds: int) -> dict[str, Any]:
    """Count the hits, warm up, and measure."""
    mine, wanted = pair.hits[0](), pair.hits[1]()
    assert mine == wanted > 0, f"{pair.title}: {mine} hits, expected {wanted}"
    pair.ours()
    pair.theirs()
    times = []
    for number in range(rounds):
        jobs = (pair.ours, pair.theirs) if number % 2 else (pair.theirs, pair.ours)
        first, second = (measured(job) for job in jobs)
        times.append((first, second) if number % 2 else (second, first))
    ratios = [ours / theirs for ours, theirs in times]
    ours, theirs = (statistics.median(column) / pair.rows * 1e9 for column in zip(*times, strict=True))
    return {
        "title": pair.title,
        "rows": pair.rows,
        "hits": mine,
        "ours": ours,
        "theirs": theirs,
        "ratio": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
        "bar": pair.bar,
    }


def lines(results: list[dict[str, Any]]) -> Iterator[str]:
    """Return the table."""
    yield "| CPU time, JVM and Python workers | rows | ns per row | ns per row of the other | ratio (range) | bar |"
    yield "|---|---|---|---|---|---|"
    for one in results:
        missed = "!" if one["ratio"] > one["bar"] else ""
        cells = [
            one["title"],
            f"{one['rows']:,}",
            f"{one['ours']:.0f}",
            f"{one['theirs']:.0f}",
            f"{one['ratio']:.2f}{missed} ({one['lowest']:.2f}–{one['highest']:.2f})",
            f"≤ {one['bar']}",
        ]
        yield f"| {' | '.join(cells)} |"


def pairs(spark: Any, folder: Path, narrow: int, wide: int, only: str) -> Iterator[Pair]:
    """Return the pairs whose title has the text *only*, writing the data of each when it is its turn."""
    path = str(folder / "narrow")
    write_narrow(spark, path, narrow)
    yield from (pair for pair in narrow_pairs(spark, path, narrow) if only in pair.title)
    if only in KEPT:
        wide_path = str(folder / "wide")
        write_wide(spark.read.parquet(path), wide_path)
        yield from kept_pairs(spark, path, wide_path, narrow)
        shutil.rmtree(wide_path)
    if only in TUPLES:
        yield tuple_pair(spark, path, str(folder / "tuples"), narrow)
        shutil.rmtree(folder / "tuples")
    if only in TEXT:
        yield text_pair(spark, path, str(folder / "text"), narrow)
        shutil.rmtree(folder / "text")
    if only in RAW:
        raw = str(folder / "raw.parquet")
        yield raw_pair(spark, raw, wide, write_raw(raw, wide))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows: does it run, and select rightly")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=4_000_000, help="of typed columns; a quarter of it of raw messages")
    parser.add_argument("--master", default="local[2]", help="local[1] disturbs and is disturbed least")
    parser.add_argument("--only", default="", help="only pairs whose title has this text")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    warnings.filterwarnings("ignore", category=UserWarning, module="mqsel")
    spark = (
        SparkSession.builder.master(chosen.master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    narrow, wide, rounds = (40_000, 10_000, 1) if chosen.quick else (chosen.rows, chosen.rows // 4, chosen.rounds)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for pair in pairs(spark, Path(folder), narrow, wide, chosen.only):
            results.append(run(pair, rounds))
            print(f"{pair.title}: {results[-1]['ratio']:.2f}", file=sys.stderr, flush=True)
    spark.stop()
    print("\n".join(lines(results)))
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
