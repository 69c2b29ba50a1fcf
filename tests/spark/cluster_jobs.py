"""Spark drivers of test_cluster, each a process of its own: ``python cluster_jobs.py JOB [ARGUMENT…]``.

A job does one thing and prints what it found as one line of JSON. Knows nothing of pytest, nor of what is right; where
Spark is, and what its workers run, is said by the environment and by spark-submit.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import mqsel
from mqsel.spark import check_cluster, column, route, sets

SELECTOR = "JMSType = 'car' AND color = 'blue' AND weight > 2500 AND NOT (price < 10)"
MESSAGES = (
    "id AS n",
    "element_at(array('car', 'van', NULL), CAST(id % 3 AS INT) + 1) AS JMSType",
    "element_at(array('blue', 'red', 'green', 'white', NULL), CAST(id % 5 AS INT) + 1) AS color",
    "CASE WHEN id % 11 <> 0 THEN CAST(id * 7919 % 5000 AS INT) END AS weight",
    "id % 1000 / 4D AS price",
)
FEW = 5000
SUBSCRIPTIONS = {n: f"weight > {50 * n} AND color = 'blue'" for n in range(100)}


def _outcome(spark: SparkSession) -> str:
    """Count on the Arrow strategy; give the number, or the error as its author sees it."""
    frame = spark.range(FEW).selectExpr(*MESSAGES)
    try:
        return str(frame.filter(column(SELECTOR, frame, strategy="arrow")).count())
    except PySparkException as error:
        return str(error)


def _timed(count: Callable[[], int]) -> tuple[int, float]:
    start = time.perf_counter()
    return count(), round(time.perf_counter() - start, 2)


def strategies(spark: SparkSession, number: str, folder: str) -> dict[str, Any]:
    """Count what is selected of *number* messages on every strategy there is, over Parquet in *folder*."""
    table = str(check_cluster(spark))
    spark.range(0, int(number), 1, 8).selectExpr(*MESSAGES).write.parquet(folder)
    frame = spark.read.parquet(folder)
    ways = {
        strategy: frame.filter(column(SELECTOR, frame, strategy=strategy)).count for strategy in ("native", "arrow")
    }
    if "MQSEL_REMOTE" not in os.environ:
        ways["rdd"] = frame.rdd.mapPartitions(mqsel.compile(SELECTOR).filter).count
    return {"table": table, "messages": frame.count(), **{way: _timed(count) for way, count in ways.items()}}


def shipped(spark: SparkSession, package: str, number: str, folder: str) -> dict[str, Any]:
    """Count on workers without mqsel, then send it to them as an artifact and count on every strategy."""
    nothing = _outcome(spark)
    spark.addArtifact(package, archive=True)
    return {"nothing": nothing, **strategies(spark, number, folder)}


def lacking(spark: SparkSession, wheel: str, zipped: str, other: str, package: str) -> dict[str, Any]:
    """Send workers without mqsel a wheel, another version, and the package, each in a session of its own."""
    found = {"nothing": _outcome(spark), "nothing, table": str(check_cluster(spark, tasks=4))}
    session = spark.newSession()
    for name, path in (("wheel", wheel), ("zip", zipped)):
        session.addArtifact(path, pyfile=True)
        found[name] = _outcome(session)
    for name, path in (("other", other), ("package", package)):
        session = spark.newSession()
        session.addArtifact(path, archive=True)
        found[name] = _outcome(session)
        found[f"{name}, table"] = str(check_cluster(session, tasks=4))
    return found


def failing(spark: SparkSession, tasks: str) -> list[dict[str, Any]]:
    """Check a cluster on one of whose workers every task fails; then again where Spark gives up at once."""

    def checked(spark: SparkSession) -> dict[str, Any]:
        found = check_cluster(spark, tasks=int(tasks))
        failures = [[one.host, one.executor, one.attempts, one.reason] for one in found.failures]
        return {"ready": found.is_ready, "table": str(found), "failures": failures}

    patient = checked(spark)
    spark.stop()
    return [patient, checked(SparkSession.builder.config("spark.task.maxFailures", "1").getOrCreate())]


def stream(spark: SparkSession, source: str, sink: str, checkpoint: str) -> list[int]:
    """Filter the files of a folder into another, a file at a time, until all are done; list what arrived."""
    frame = spark.readStream.schema(spark.read.parquet(source).schema).option("maxFilesPerTrigger", 1).parquet(source)
    chosen = frame.filter(column("weight > 2500 AND color = 'blue'", frame, strategy="arrow"))
    query = chosen.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True).start(sink)
    query.awaitTermination()
    return [row.n for row in spark.read.parquet(sink).collect()]


def routed(spark: SparkSession, number: str, folder: str, way: str) -> dict[str, Any]:
    """Route *number* messages in 16 tasks, twice, then as a stream of as many, from and to *folder*.

    Args:
        way: "carried": a set travels as a small one does; "file": as a large one.

    Returns: keys by message; for each task the daemon of its executor, its process, and how often that had opened a set
        and found it open: of both jobs together, and of the stream.
    """
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    def look(numbers):  # type: ignore[no-untyped-def]
        import os
        import time

        import pyarrow as pa

        from mqsel.spark import sets

        time.sleep(0.05)  # so that both executors have their share
        opened = sets.opened.cache_info()
        return pa.array([f"{os.getppid()} {os.getpid()} {opened.misses} {opened.hits}"] * len(numbers))

    import pyarrow as pa

    if way == "file":
        sets._CARRIED = 0
    look.__annotations__ = {"numbers": pa.Array, "return": pa.Array}
    seen = F.arrow_udf(look, "string")

    def columns(frame: Any) -> Any:
        return frame.select("n", route(SUBSCRIPTIONS, frame, strategy="arrow"), seen("n").alias("seen"))

    def found(frame: Any) -> tuple[dict[int, list[int]], list[list[int]]]:
        rows = frame.collect()
        looks = {row.seen for row in rows}
        return {row.n: row.subscribers for row in rows}, [list(map(int, one.split())) for one in looks]

    frame = spark.range(0, int(number), 1, 16).selectExpr(*MESSAGES)
    keys, looks = found(columns(frame))
    again, more = found(columns(frame))
    frame.write.parquet(f"{folder}/source")
    source = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 4).parquet(f"{folder}/source")
    sink = columns(source).writeStream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    sink.start(f"{folder}/sink").awaitTermination()
    streamed, last = found(spark.read.parquet(f"{folder}/sink"))
    assert keys == again == streamed
    return {"keys": list(keys.items()), "looks": looks + more, "stream": last}


def changing(spark: SparkSession, count: str) -> dict[str, Any]:
    """Route by a set that changes *count* times; list the files of sets that the driver and the executors then have."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    def files() -> list[str]:
        import tempfile
        from pathlib import Path

        from pyspark import SparkFiles

        folders = (Path.cwd(), Path(SparkFiles.getRootDirectory()), Path(tempfile.gettempdir()))
        return sorted(str(path) for folder in folders for path in folder.rglob("mqsel-*.set"))

    def look(numbers):  # type: ignore[no-untyped-def]
        import os
        import time

        import pyarrow as pa

        time.sleep(0.05)  # so that both executors have their share
        return pa.array(["\n".join([str(os.getppid()), *files()])] * len(numbers))

    import pyarrow as pa

    look.__annotations__ = {"numbers": pa.Array, "return": pa.Array}
    before = files()  # of applications that ran in the same folder
    selectors = mqsel.SelectorSet({n: f"weight = {n} AND color = 'c{n}'" for n in range(4000)})
    frame = spark.range(0, 40, 1, 8).selectExpr("cast(id as int) weight")
    selected = []
    for number in range(int(count)):
        selectors[number] = f"weight >= {number}"
        found = frame.select(F.size(route(selectors, frame)).alias("keys")).agg(F.sum("keys"))
        selected.append(found.collect()[0][0])
    looks = [
        row[0].split("\n") for row in spark.range(0, 40, 1, 40).select(F.arrow_udf(look, "string")("id")).collect()
    ]
    return {
        "selected": selected,
        "driver": sorted({*files()} - {*before}),
        "executors": {daemon: found for daemon, *found in looks},
    }


def travelling(spark: SparkSession, number: str, folder: str, count: str) -> dict[str, Any]:
    """Route by a set that is carried, by one that changes, and by a file, in one application: a start takes longer."""
    carried = routed(spark, number, f"{folder}/carried", "carried")
    return {"carried": carried, **changing(spark, count), "file": routed(spark, number, f"{folder}/file", "file")}


if __name__ == "__main__":
    job, *arguments = sys.argv[1:]
    builder = SparkSession.builder
    session = (builder.remote(os.environ["MQSEL_REMOTE"]) if "MQSEL_REMOTE" in os.environ else builder).getOrCreate()
    jobs = {one.__name__: one for one in (strategies, shipped, lacking, failing, stream, travelling)}
    print(json.dumps(jobs[job](session, *arguments)))
    session.stop()
