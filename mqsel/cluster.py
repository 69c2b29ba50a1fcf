"""Sifting on Spark: what ``mqsel match --spark`` runs.

Starts a context of its own, hands each partition of lines to `sift`, gives the records back in the order of the input.
pyspark is imported by the functions that need it; prints nothing.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from mqsel.errors import MqselError
from mqsel.matcher import Matcher
from mqsel.sifting import Ask, Sifted, Tally, sift

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext


def sifted_on_spark(
    matcher: Matcher, ask: Callable[[], Ask], files: list[str], master: str, fail: Callable[[str, str], None]
) -> Iterator[tuple[int, str, Sifted]]:
    """Yield for each record of `sift` the number and name of its file, and the record.

    Files are read by the executors, so a name may be any address that Hadoop reads. Two differences from files read
    here are Hadoop's: it knows a gzipped file by its name, and bytes that are no UTF-8 arrive replaced.

    Args:
        matcher: selects.
        ask: gives what is still asked.
        files: their names.
        master: of Spark.
        fail: is told the name of a file and why it cannot be read.

    Raises: MqselError: Spark is not there, did not start, or gave up.
    """
    if "-" in files:
        raise MqselError("--spark reads files, not stdin", hint="leave --spark away, or put the messages into a file")
    try:
        import pyspark  # noqa: F401, PLC0415 (an extra)
        from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as error:
        hint = "pip install 'mqsel[spark]'"
        raise MqselError("--spark needs pyspark, which is not installed", hint=hint) from error
    # An interrupted call to Java complains at length. Without a parent Java ends, and tidies up, by itself.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    with tempfile.TemporaryFile() as log:
        context = None
        try:
            context = _context(master, log)
            pieces, places = [], []
            for number, name in enumerate(files):
                piece = context.textFile(name, use_unicode=False)
                try:
                    places += [(number, name)] * piece.getNumPartitions()
                    pieces.append(piece)
                except Py4JJavaError as error:
                    fail(name, str(error.java_exception.getMessage()))
            partition = 0
            for record in _records(context, context.union(pieces), matcher, ask) if places else ():
                yield *places[partition], record
                partition += isinstance(record, Tally)
        except Py4JError as error:
            why = _reason(str(error))
            remedy = "install one version of mqsel on every executor" if "No module named" in why else None
            raise MqselError(f"Spark gave up: {why}", hint=remedy) from error
        finally:
            if context is not None:
                context.stop()
            signal.signal(signal.SIGINT, handler)


def _records(context: SparkContext, lines: RDD[Any], matcher: Matcher, ask: Callable[[], Ask]) -> Iterator[Sifted]:
    """Sift every partition; give what comes of them in their order."""
    from pyspark import StorageLevel  # noqa: PLC0415 (an extra)

    if ask().limit is None:
        # All partitions at once; toLocalIterator alone would begin one when the one before has ended.
        sifted = lines.mapPartitions(partial(sift, matcher, ask())).persist(StorageLevel.MEMORY_AND_DISK)
        sifted.count()
        yield from sifted.toLocalIterator()
    else:
        for partition in range(lines.getNumPartitions()):
            yield from context.runJob(lines, partial(sift, matcher, ask()), [partition])


def _context(master: str, log: IO[bytes]) -> SparkContext:
    """Start Spark; what its Java prints goes into *log*."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 (an extra)
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # a host that cannot resolve its own name will do
    conf = SparkConf().setMaster(master).setAppName("mqsel match")
    conf.set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false")
    # Hadoop's own lines end at a carriage return, too.
    conf.set("spark.hadoop.textinputformat.record.delimiter", "\n")
    try:
        gateway = launch_gateway(conf, {"stderr": log})  # type: ignore[no-untyped-call]
    except (PySparkRuntimeError, OSError) as error:
        log.seek(0)
        why = _reason(log.read().decode(errors="replace") or str(error))
        hint = "it needs Java 17, on the PATH or where JAVA_HOME says; a master is local[*] or spark://HOST:PORT"
        raise MqselError(f"Spark did not start: {why}", hint=hint) from error
    context = SparkContext(conf=conf, gateway=gateway)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # again: pyspark has set its own
    context.setLogLevel("ERROR")
    return context


def _reason(text: str) -> str:
    """Find the line that says what happened: what Python raised, what Java was caused by, what Java threw first."""
    python = re.search(r"Traceback \(most recent call last\):\n(?:\s.*\n)+(.+)", text)
    java = re.findall(r"Caused by: (.+)", text)[-1:] or re.findall(r"[\w.]+(?:Exception|Error): .+", text)[:1]
    return python[1] if python else java[0] if java else text.strip().partition("\n")[0]
