"""What routing on Spark costs: `bench/spark_cost.py [--rows N] [--executors 1,2,4]` prints one Markdown table.

Each job runs on clusters of so many executors of one core, processes of their own, over the same Parquet: CPU time of
every JVM and every Python worker, the time by the clock, and the most memory that one executor and one worker had
(Linux). Deliveries are counted first, and are those of `SelectorSet.match_batch` on the driver, over every row.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.dataset as ds
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from spark_route import COLUMNS, subscriptions
from spark_strategies import SELECTOR, cpu_seconds, to_nowhere, write_narrow

import mqsel
from mqsel.spark import column, deliveries, route

MANY = 10_000


class Job(NamedTuple):
    """What runs on a cluster.

    Attributes:
        title: of the row.
        share: it reads one row in so many.
        selectors: by key.
        select: returns what is written, of the rows that it reads.
    """

    title: str
    share: int
    selectors: Mapping[str, str]
    select: Callable[[Any], Any]

    def deliver(self, frame: Any) -> Any:
        """Return a frame with one number: how many deliveries there are."""
        if len(self.selectors) == 1:
            return frame.filter(column(SELECTOR, frame)).agg(F.count("*"))
        return frame.agg(F.sum(F.size(route(self.selectors, frame))))


class Spent(NamedTuple):
    """CPU seconds and seconds of a job; MB of its largest executor, and of its largest Python worker."""

    processor: float
    clock: float
    executor: float
    worker: float


def jobs() -> list[Job]:
    """Return the jobs of the table."""
    few, many = subscriptions(MANY, 3), subscriptions(MANY)
    some = subscriptions(100)
    return [
        Job("1 selector, native", 1, {"one": SELECTOR}, lambda frame: frame.filter(column(SELECTOR, frame))),
        Job("100 selectors", 1, some, lambda frame: frame.select(route(some, frame))),
        Job("10,000 selectors", 1, few, lambda frame: frame.select(route(few, frame))),
        Job("likewise, a row for each key", 1, few, lambda frame: deliveries(few, frame).select("subscriber")),
        Job("10,000 selectors, many keys", 8, many, lambda frame: frame.select(route(many, frame))),
    ]


def count_here(folder: Path, selectors: Mapping[str, str]) -> int:
    """Count the deliveries of all rows without Spark."""
    held = mqsel.SelectorSet(selectors)
    batches = ds.dataset(folder).to_batches(columns=list(COLUMNS))
    return sum(len(held.match_batch(batch).flatten()) for batch in batches if len(batch))


# ---- the cluster -----------------------------------------------------------------------------------------------------


def cluster(executors: int) -> Any:
    """Return a session on so many executors, each a process with one core."""
    return (
        SparkSession.builder.master(f"local-cluster[{executors},1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "900m")
        .config("spark.sql.files.maxPartitionBytes", "16m")
        .getOrCreate()
    )


def largest() -> tuple[float, float]:
    """Return the resident MB of the largest executor and of the largest Python worker."""
    listed = subprocess.run(["ps", "-eo", "rss=,args="], stdout=subprocess.PIPE, text=True, check=True).stdout
    sizes = {"CoarseGrainedExecutorBackend": 0.0, "pyspark.daemon": 0.0}
    for line in listed.splitlines():
        size, arguments = line.split(maxsplit=1)
        for who, before in sizes.items():
            if who in arguments:
                sizes[who] = max(before, int(size) / 1024)
    return sizes["CoarseGrainedExecutorBackend"], sizes["pyspark.daemon"]


def spent(run: Callable[[], Any]) -> Spent:
    """Run a job, and look at its processes twice a second."""
    is_over = threading.Event()
    seen = [(0.0, 0.0)]

    def watch() -> None:
        while not is_over.wait(0.5):
            seen.append(largest())

    watcher = threading.Thread(target=watch)
    watcher.start()
    processor, clock = cpu_seconds(), time.monotonic()
    try:
        run()
    finally:
        is_over.set()
        watcher.join()
    executor, worker = map(max, zip(*seen, strict=True))
    return Spent(cpu_seconds() - processor, time.monotonic() - clock, executor, worker)


def measured(folder: Path, executors: int, wanted: Mapping[str, int]) -> Iterator[tuple[Job, Spent]]:
    """Count the deliveries of each job, then run it for its time."""
    spark = cluster(executors)
    try:
        for job in jobs():
            frame = spark.read.parquet(str(folder / f"by {job.share}"))
            delivered = job.deliver(frame).first()[0]
            assert delivered == wanted[job.title], (executors, job.title, delivered, wanted[job.title])
            yield job, spent(to_nowhere(job.select(frame)))
    finally:
        spark.stop()


def table(folder: Path, rows: int, executors: list[int]) -> Iterator[str]:
    spark = cluster(1)
    for share in {job.share for job in jobs()}:
        write_narrow(spark, str(folder / f"by {share}"), rows // share)
    spark.stop()
    wanted = {job.title: count_here(folder / f"by {job.share}", job.selectors) for job in jobs()}
    yield "| | rows | keys a row | executors | µs of CPU a row | seconds | executor, MB | worker, MB |"
    yield "|---|---|---|---|---|---|---|---|"
    for number in executors:
        for job, found in measured(folder, number, wanted):
            count = rows // job.share
            cells = [job.title, f"{count:,}", f"{wanted[job.title] / count:.2f}", str(number)]
            cells += [f"{found.processor / count * 1e6:.2f}", f"{found.clock:.1f}"]
            yield f"| {' | '.join([*cells, f'{found.executor:,.0f}', f'{found.worker:,.0f}'])} |"
        print(f"{number} executors, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--executors", default="1,2")
    chosen = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    with tempfile.TemporaryDirectory() as folder:
        for line in table(Path(folder), chosen.rows, [int(number) for number in chosen.executors.split(",")]):
            print(line, flush=True)


if __name__ == "__main__":
    main()
