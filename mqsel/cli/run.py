"""Shared by match, why and route: a `Job` over files, run here, by several processes or on Spark, and its report.

A command chooses the `Job` for its files, and the report that receives the records.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from mqsel.cli.arguments import Options, limit, types_of
from mqsel.cli.output import complain, flush
from mqsel.cli.report import Report, progress, say_format, tasks
from mqsel.errors import FileError, MqselError
from mqsel.files.framings import reading, shown
from mqsel.files.opening import is_queue
from mqsel.files.parts import Named, listed_files
from mqsel.files.run import cores, sifted
from mqsel.files.run.tasks import Begun, size_of
from mqsel.files.run.work import Ask, Job, Sharing, in_files
from mqsel.formats.envelopes import PLAIN, WORDS, fitting
from mqsel.formats.records import SCHEMAS

if TYPE_CHECKING:
    from mqsel.live.asking import Question

# Bytes of files from which on several processes are the default. Of JSON lines 445 MB take `match` 0.69 s by one and
# 0.52 s by two on a quiet machine; a process takes 0.1 s to start, so they are even at about 200 MB. What why and route
# do takes longer: for them it is a little late.
_LARGE = 1 << 28
_ROWS = 20  # of a Parquet file, by which records are known


def add_jobs(made: argparse.ArgumentParser) -> Options:
    """Add the option that chooses how many processes read the files; return the group of options."""
    group = made.add_argument_group("speed")
    group.add_argument(
        "-j",
        "--jobs",
        type=limit,
        metavar="N",
        help="processes (default: 1; from 256 MB, one per processor)",
    )
    return group


def add_ways(made: argparse.ArgumentParser) -> None:
    """Add the options that choose how many processes read the files, or Spark."""
    group = add_jobs(made)
    group.add_argument("--spark", action="store_true", help="run on Spark; every executor needs mqsel")
    group.add_argument(
        "--master",
        metavar="URL",
        help="master, such as spark://host:7077 (default: local[*])",
    )


def ask_of(arguments: argparse.Namespace, **options: Any) -> Ask:
    """Return what the arguments that all commands share ask of a run; *options* are those of `Ask` beside."""
    is_on_spark = getattr(arguments, "spark", False) or getattr(arguments, "master", None) is not None
    return Ask(
        format=arguments.format or "json",
        types=types_of(arguments, arguments.format or ("json" if is_on_spark else None)),
        max_size=arguments.max_size,
        reads=getattr(arguments, "limit", None),
        sharing=arguments.sharing or Sharing(),
        **options,
    )


def run(
    arguments: argparse.Namespace, files: list[str], selects: Any, job: type[Job], report: Report
) -> list[Question]:
    """Do a job on files, in the way that the arguments say, until the report has what it wants.

    Args:
        files: what `files_of` gives for the arguments.
        selects: what the job takes: a matcher, a set, nothing.
        job: what is done.
        report: gets the records, in order.

    Returns: what the brokers of queues were asked.

    Raises: MqselError: the arguments say two ways, or the one they say is not there.
    """
    asked: list[Question] = []
    is_following = getattr(arguments, "follow", False)
    if arguments.spark or arguments.master is not None:
        records = _on_spark(arguments, files, selects, job, report)
    else:
        listed = listed_files(files)
        if is_following or getattr(arguments, "ask_broker", False) or any(map(is_queue, files)):
            from mqsel.cli.queues import sourced  # noqa: PLC0415 (TLS is slow to import)

            listed, asked = sourced(arguments, listed, selects)
        records = _here(arguments, listed, selects, job, report)
    with closing(records):  # type: ignore[type-var]
        known = {report.asked.format}
        for _, name, kind, record in in_files(records):
            if isinstance(record, Begun):
                types_of(arguments, kind)
            if kind in SCHEMAS and kind not in known:
                known.add(kind)
                say_format(name, kind)
            if kind == "parquet" and kind not in known and isinstance(record, Begun):
                known.add(kind)
                _say_rows(name)
            report.take(name, kind, record)
            if is_following:
                flush()
            if report.is_finished:
                break
    if hasattr(selects, "properties") and not getattr(report.total, "selected", 0):  # a matcher, or a set
        report.say_members(selects.properties, in_any_case=bool(selects.in_any_case))
    return asked


def _say_rows(name: str) -> None:
    """Report that the rows of a Parquet file are records of a tool: by columns their properties are not read."""
    from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

    tools: list[str] = []
    with suppress(MqselError), parquet.opened(name) as file, parquet.trouble_of(name):
        if not WORDS.isdisjoint(file.schema_arrow.names):
            tools = fitting(next((batch.to_pylist() for batch in file.iter_batches(_ROWS)), []))
    if tools and PLAIN not in tools:
        what = f"its rows look like records of {' or '.join(tools)}, whose properties are not read from Parquet"
        complain(MqselError(f"{shown(name)}: {what}", hint="write the rows as lines of JSON"))


_Records = Iterator[tuple[int, str, str, Any]]


def _here(arguments: argparse.Namespace, listed: list[Named], selects: Any, job: type[Job], report: Report) -> _Records:
    names = [one.path for one in listed]
    is_in_order = report.asked.reads is not None or any(one.source for one in listed)
    jobs = 1 if is_in_order else arguments.jobs or _jobs(names, report.asked)
    with (
        progress(names, report.asked) as advance,
        closing(sifted(selects, lambda: report.ask, listed, arguments.format, jobs, advance, job)) as records,
    ):
        yield from records


def _on_spark(
    arguments: argparse.Namespace, files: list[str], selects: Any, job: type[Job], report: Report
) -> _Records:
    if arguments.jobs:
        raise MqselError("-j is for mqsel's processes: Spark has its own workers", hint="--master 'local[4]'")
    if any(map(is_queue, files)):
        raise MqselError("Spark can't read queues of running brokers: it would read each several times")
    from mqsel.spark.job import sifted_on_spark  # noqa: PLC0415 (pyspark is optional, and slow to import)

    if files and os.path.isfile(files[0]):  # noqa: PTH113 (quick to import)
        with suppress(FileError):  # Spark reports it
            kind, _, start = reading(files[0], arguments.format)
            report.begin(files[0], kind, start)
    names, master = arguments.files or files, "local[*]" if arguments.master is None else arguments.master
    with tasks() as ended:
        yield from sifted_on_spark(
            selects,
            lambda: report.ask,
            names,
            arguments.format,
            master,
            report.fail,
            ended,
            job,
            application=f"mqsel {arguments.called}",
        )


def _jobs(names: list[str], ask: Ask) -> int:
    """Return how many processes read: all that can, where that is quicker and no terminal waits for lines."""
    if sys.stdout.isatty() and not ask.counting:
        return 1
    return 1 if sum(size_of(name) or 0 for name in names) < _LARGE else cores()
