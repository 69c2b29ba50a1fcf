"""``mqsel match``: print the messages of files that a selector selects.

Both strategies, files read here and Spark, run the same generator `sift` and hand its records to the same report.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import closing, suppress
from pathlib import Path

from mqsel.cli.arguments import Commands, add_files, add_selector, command, files_of, limit, list_formats, types_of
from mqsel.cli.report import Report, progress, tasks
from mqsel.errors import FileError, MqselError, shortened
from mqsel.files.framings import FORMATS, reading
from mqsel.files.jobs import cores, sifted
from mqsel.files.parts import found as files_found
from mqsel.files.scan import Ask, in_files
from mqsel.files.tasks import size_of
from mqsel.matcher import compile as compile_selector

# Bytes of files from which on several processes are the default. Of JSON lines 445 MB take 0.69 s by one and 0.52 s by
# two on a quiet machine; a process takes 0.1 s to start, so they are even at about 200 MB.
_LARGE = 1 << 28

_EXAMPLES = f"""\
A message is a JSON object on one line. A plain whole number is an int64, any other number a float64; a value may name \
its type: {{"weight": {{"int32": 3000}}, "ratio": {{"float32": 0.5}}, "token": {{"bytes": "0a1b"}}}}.

{list_formats(FORMATS)}

A directory, or a pattern in quotes, stands for the files that it has; for rows of Parquet what a directory such as \
day=1 says is a property, too.

Selected messages are printed as they stand in the file; of messages that have a file each, the names; rows of Parquet \
as JSON.

exit code: 0 if something was selected, 1 if nothing was, 2 if no message could be read or something else went wrong.

examples:
  mqsel match "color = 'blue'" messages.jsonl more.jsonl.gz
  mqsel match "JMSPriority > 4 AND Root.MQMD.MsgType = 8" dump.qload > again.qload
  mqsel match --format lenses --type weight=int32 "weight > 2500" records.jsonl
  zcat messages.jsonl.gz | mqsel match --count "weight > 2500"
  mqsel match "day > 20 AND color = 'blue'" 'messages/day=*/*.parquet'
  mqsel match --spark "color = 'blue'" messages.jsonl.gz
  mqsel match --master spark://host:7077 "color = 'blue'" 'hdfs:///messages/*.gz'   (every executor needs mqsel)
"""


def add(commands: Commands) -> None:
    """Add the command."""
    match = command(commands, "match", _match, "print the messages that a selector selects", _EXAMPLES)
    add_selector(match)
    add_files(match, FORMATS)
    match.add_argument("--count", action="store_true", help="print the number of selected messages, not the messages")
    match.add_argument("--invert", action="store_true", help="take the messages that are not selected")
    match.add_argument("--limit", type=limit, metavar="N", help="stop after N messages")
    match.add_argument(
        "--errors",
        choices=("skip", "raise"),
        default="skip",
        help="what to do with an invalid message: report and skip it (default), or stop with exit code 2",
    )
    match.add_argument(
        "-j",
        "--jobs",
        type=limit,
        metavar="N",
        help="read in N processes; default: as many as there are processors, where that is quicker",
    )
    match.add_argument("--spark", action="store_true", help="run on Spark, on this machine unless --master is given")
    match.add_argument("--master", metavar="URL", help="run on this Spark master; default local[*]")


def _match(arguments: argparse.Namespace) -> int:
    wanted = arguments.format
    raising = arguments.errors == "raise"
    ask = Ask(arguments.invert, arguments.count, raising, arguments.limit, wanted or "json", types_of(arguments))
    check_order("match", arguments.selector, arguments.files)
    files = files_of(arguments)
    report = Report(ask)
    matcher = compile_selector(arguments.selector, dialect=arguments.dialect)
    if arguments.spark or arguments.master:
        if arguments.jobs:
            raise MqselError("-j is for processes of mqsel: Spark has workers of its own", hint="--master 'local[4]'")
        from mqsel.spark.job import sifted_on_spark  # noqa: PLC0415 (pyspark is optional, and slow to import)

        master = arguments.master or "local[*]"
        if files and Path(files[0]).is_file():
            with suppress(FileError):  # Spark reports it
                kind, _, start = reading(files[0], wanted)
                report.begin(files[0], kind, start)
        with tasks() as ended:
            found = sifted_on_spark(
                matcher, lambda: report.ask, arguments.files or files, wanted, master, report.fail, ended
            )
            for _, name, kind, record in in_files(found):
                report.take(name, kind, record)
                if report.is_finished:
                    break
        return report.close()
    listed = files_found(files)
    names = [one.path for one in listed]
    jobs = arguments.jobs or _jobs(names, ask)
    with (
        progress(names, ask) as advance,
        closing(sifted(matcher, lambda: report.ask, listed, wanted, jobs, advance)) as records,
    ):
        for _, name, kind, one in in_files(records):
            report.take(name, kind, one)
            if report.is_finished:
                break
    return report.close()


def _jobs(names: list[str], ask: Ask) -> int:
    """Say how many processes sift: all that can, where that is quicker and no terminal waits for lines."""
    if sys.stdout.isatty() and not ask.counting:
        return 1
    return 1 if sum(size_of(name) or 0 for name in names) < _LARGE else cores()


def check_order(called: str, selector: str, names: list[str]) -> None:
    """Refuse a call with the selector behind the files: the name of a file may be a selector, too."""
    # Path.is_file raises where a name is longer than that of a file can be, as a selector may be.
    is_file = os.path.isfile(selector)  # noqa: PTH113
    if names and is_file and names[-1] != "-" and not Path(names[-1]).exists():
        import shlex  # noqa: PLC0415 (for this error alone)

        files = shlex.join([selector, *names[:-1]])
        written = shlex.quote(names[-1]) if re.search(r'["$`\\!]', names[-1]) else f'"{names[-1]}"'
        raise MqselError(
            f"{shortened(selector)} is a file, and {shortened(names[-1])} is not: expected the selector first",
            hint=f"mqsel {called} {written} {files}",
        )
