"""Files on Spark: what ``mqsel match``, ``why`` and ``route`` run with ``--spark``.

Starts a context of its own, hands each part of a file to a `Job`, gives the records back in the order of the input.
pyspark is imported by the functions that need it; prints nothing.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from mqsel._interrupt import end
from mqsel.errors import FileError, MqselError
from mqsel.files.framings import FORMATS
from mqsel.files.parts import FilePart, kind_of, listed_files, parts
from mqsel.files.run.work import Ask, Job, Match, is_counts, why
from mqsel.matcher import Matcher
from mqsel.sets.set import SelectorSet

_LINES = 1024  # of those that Hadoop reads are sifted at once
_PATIENCE = 10  # seconds that a master has to answer
_MASTERS = re.compile(
    r"local(-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|\[(\d+|\*)(\s*,\s*\d+)?\])?|spark://.+:\d+|yarn|k8s://.+",
    re.DOTALL,
)

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.core.broadcast import Broadcast


def sifted_on_spark(
    matcher: Matcher | SelectorSet[Any],
    ask: Callable[[], Ask],
    files: list[str],
    wanted: str | None,
    master: str,
    fail: Callable[[str, str], None],
    advance: Callable[[int, int], None] | None,
    job: type[Job] = Match,
    *,
    application: str,
) -> Iterator[tuple[int, str, str, Any]]:
    """Yield for each record of a job the number, name and format of its file, and the record.

    Files are taken apart here and read by the executors, which select before anything reaches the JVM. A name with a
    scheme (``hdfs://…``) is Hadoop's to read, line by line: it knows a gzipped file by its name, and bytes that are no
    UTF-8 arrive replaced.

    Args:
        matcher: selects; or a set, for other work. Each executor gets it once.
        ask: gives what is still asked.
        files: their names.
        wanted: the format of all of them; None: found by the first bytes of each.
        master: of Spark.
        fail: is told the name of a file and why it cannot be read.
        advance: is told from time to time how many tasks have ended, and of how many; or None.
        job: what is done.
        application: how Spark names it.

    Raises: MqselError: Spark is not there, did not start, or gave up.
    """
    if "-" in files:
        raise MqselError(
            "--spark can't read stdin: expected files", hint="leave out --spark, or put the messages into a file"
        )
    from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (slow to import)

    _check_master(master)
    planned = [*_planned(files, wanted, fail)]
    if not planned:
        return
    # An interrupted call to Java complains at length. Without a parent Java ends, and tidies up, by itself.
    handler = signal.signal(signal.SIGINT, end)
    with tempfile.TemporaryFile() as log:
        context = None
        try:
            context = _context(master, application, log)
            pieces, places = [], []
            for number, name, kind, found in planned:
                try:
                    if found is None:
                        piece = context.textFile(name, use_unicode=False)
                    else:
                        piece = context.parallelize(found, len(found))  # type: ignore[arg-type]
                    places += [(number, name, kind)] * piece.getNumPartitions()
                    pieces.append(piece)
                except Py4JJavaError as error:
                    fail(name, str(error.java_exception.getMessage()))
            partition = 0
            held = context.broadcast(matcher)
            for record in _records(context, context.union(pieces), held, ask, advance, job) if places else ():
                yield *places[partition], record
                partition += is_counts(record)
        except Py4JError as error:
            # Of a master that is gone Spark tells its log alone: what fails then is whatever was being done.
            log.seek(0)
            killed = re.search(r"Application has been killed\. Reason: (.+)", log.read().decode(errors="replace"))
            cause = killed[1] if killed else reason(str(error))
            remedy = "install one version of mqsel on every executor" if "No module named" in cause else None
            raise MqselError(f"Spark failed: {cause}", hint=remedy) from error
        finally:
            if context is not None:
                context.stop()
            signal.signal(signal.SIGINT, handler)


def _planned(
    names: list[str], wanted: str | None, fail: Callable[[str, str], None]
) -> Iterator[tuple[int, str, str, list[FilePart] | None]]:
    """Return the parts of the files; None for those that Hadoop reads."""
    number = 0
    for name, fixed, trouble, _ in listed_files(names, _is_hadoops):
        if _is_hadoops(name):
            if wanted is not None and not FORMATS[wanted].is_lines:
                fail(name, f"files of format {wanted} are read where the machines have them, without a scheme")
            else:
                yield number, name, wanted or "json", None
            number += 1
            continue
        try:
            if trouble is not None:
                raise trouble
            number += 1
            kind = wanted or kind_of(name)
            pieces = [part._replace(fixed=fixed) for part in parts(name, kind)]
            if pieces:
                yield number, name, kind, pieces
        except FileError as error:
            fail(name, why(error))


def _is_hadoops(name: str) -> bool:
    return "://" in name and not name.startswith("file://")


def _sifted(held: Broadcast[Any], ask: Ask, job: type[Job], units: Iterator[FilePart | bytes]) -> Iterator[Any]:
    """Do the job on what one task has: a part of a file, or lines."""
    first: Any = next(units, None)
    if isinstance(first, FilePart):
        return job.part(held.value, ask, first)
    lines: Iterator[Any] = units if first is None else chain([first], units)
    blocks = iter(lambda: b"\n".join([*islice(lines, _LINES), b""]), b"")
    return job(held.value, ask).messages(blocks)


def _records(
    context: SparkContext,
    units: RDD[Any],
    held: Broadcast[Any],
    ask: Callable[[], Ask],
    advance: Callable[[int, int], None] | None,
    job: type[Job],
) -> Iterator[Any]:
    """Sift every partition; yield what comes of them in their order."""
    from pyspark import StorageLevel  # noqa: PLC0415 (an extra)

    if ask().limit is ask().reads is None:
        # All partitions at once; toLocalIterator alone would begin one when the one before has ended.
        sifted = units.mapPartitions(partial(_sifted, held, ask(), job)).persist(StorageLevel.MEMORY_AND_DISK)
        with _watched(context, advance):
            sifted.count()
        yield from sifted.toLocalIterator()
    else:
        for partition in range(units.getNumPartitions()):
            yield from context.runJob(units, partial(_sifted, held, ask(), job), [partition])


@contextmanager
def _watched(context: SparkContext, advance: Callable[[int, int], None] | None) -> Iterator[None]:
    """Report what Spark's status tracker knows of the running job, until it has ended."""
    if advance is None:
        yield
        return
    tracker = context.statusTracker()
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(0.2):
            found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            running = [stage for stage in found if stage is not None]
            if running:
                advance(sum(one.numCompletedTasks for one in running), sum(one.numTasks for one in running))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


def _check_master(master: str) -> None:
    """Look for the master before Java starts, where that is known: Spark would ask one that is not there for a minute.

    Raises: MqselError: it cannot be one, or it is Spark's own and cannot be reached.
    """
    if _MASTERS.fullmatch(master) is None:
        raise MqselError(f"the master is {master!r}: expected local[N], spark://HOST:PORT, yarn or k8s://HOST:PORT")
    if not master.startswith("spark://"):
        return
    failed = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE):
                return
        except (OSError, ValueError, OverflowError) as error:
            failed.append(f"{address}: {getattr(error, 'strerror', None) or error}")
    hint = "start it, or take the address from its log: spark://HOST:PORT"
    raise MqselError(f"no Spark master answers: {'; '.join(failed)}", hint=hint)


def _context(master: str, application: str, log: IO[bytes]) -> SparkContext:
    """Start Spark; what its Java prints goes into *log*."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 (an extra)
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # a host that cannot resolve its own name will do
    conf = SparkConf().setMaster(master).setAppName(application)
    conf.set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false")
    conf.set("spark.executorEnv.PYTHONSAFEPATH", "1")  # or a zlib.py in the current folder is that of its workers
    # Hadoop's own lines end at a carriage return, too.
    conf.set("spark.hadoop.textinputformat.record.delimiter", "\n")
    try:
        gateway = launch_gateway(conf, {"stderr": log})  # type: ignore[no-untyped-call]
    except (PySparkRuntimeError, OSError) as error:
        log.seek(0)
        cause = reason(log.read().decode(errors="replace") or str(error))
        hint = "it needs Java 17, on the PATH or where JAVA_HOME says; a master is local[*] or spark://HOST:PORT"
        raise MqselError(f"Spark did not start: {cause}", hint=hint) from error
    context = SparkContext(conf=conf, gateway=gateway)
    signal.signal(signal.SIGINT, end)  # again: pyspark has set its own
    context.setLogLevel("ERROR")
    return context


def reason(text: str) -> str:
    """Find the line that says what happened: what Python raised, what Java was caused by, what Java threw first."""
    python = re.search(r"Traceback \(most recent call last\):\n(?:[^\S\n].*\n)+(.+)", text)
    java = re.findall(r"Caused by: (.+)", text)[-1:] or re.findall(r"(?<![\w.])[\w.]+(?:Exception|Error): .+", text)[:1]
    return python[1] if python else java[0] if java else text.strip().partition("\n")[0]
