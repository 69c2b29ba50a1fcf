"""``mqsel match``: print the messages of files that a selector selects.

Both strategies, files read here and Spark, run the same generator `sift` and hand its records to the same report.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mqsel.cli.arguments import Commands, add_files, add_selector, command, files_of, limit, list_formats, types_of
from mqsel.cli.report import Report, progress, tasks
from mqsel.errors import FileError, MqselError, shortened
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, Source, reading
from mqsel.files.opening import readable_anywhere
from mqsel.files.parts import Part
from mqsel.files.parts import found as files_found
from mqsel.files.scan import Ask, Sifted, sift, sift_part, why
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector

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
    match.add_argument("--spark", action="store_true", help="run on Spark, on this machine unless --master is given")
    match.add_argument("--master", metavar="URL", help="run on this Spark master; default local[*]")


def _match(arguments: argparse.Namespace) -> int:
    wanted = arguments.format
    raising = arguments.errors == "raise"
    ask = Ask(arguments.invert, arguments.count, raising, arguments.limit, wanted or "json", types_of(arguments))
    _check_order(arguments.selector, arguments.files)
    files = files_of(arguments)
    report = Report(ask)
    matcher = compile_selector(arguments.selector, dialect=arguments.dialect)
    if arguments.spark or arguments.master:
        from mqsel.spark.job import sifted_on_spark  # noqa: PLC0415 (pyspark is optional, and slow to import)

        master = arguments.master or "local[*]"
        if files and Path(files[0]).is_file():
            with suppress(FileError):  # Spark reports it
                kind, _, start = reading(files[0], wanted)
                report.begin(files[0], kind, start)
        with tasks() as advance:
            for number, name, kind, record in sifted_on_spark(
                matcher, lambda: report.ask, arguments.files or files, wanted, master, report.fail, advance
            ):
                report.take(number, name, kind, record)
                if report.is_finished:
                    break
        return report.close()
    found = files_found(files)
    with progress([one.path for one in found], ask) as advance:
        for number, (name, fixed, trouble) in enumerate(found):
            try:
                if trouble is not None:
                    raise trouble
                kind, source, start = reading(name, wanted, advance=advance, in_blocks=True)
            except FileError as error:
                report.fail(name, why(error))
                continue
            report.begin(name, kind, start)
            for record in _sifted(matcher, report.ask._replace(format=kind), source, Part(name, kind, 0, -1, fixed)):
                report.take(number, name, kind, record)
            if report.is_finished:
                break
    return report.close()


def _check_order(selector: str, names: list[str]) -> None:
    """Refuse a call with the selector behind the files: the name of a file may be a selector, too."""
    if names and Path(selector).is_file() and names[-1] != "-" and not Path(names[-1]).exists():
        files = shlex.join([selector, *names[:-1]])
        written = shlex.quote(names[-1]) if re.search(r'["$`\\!]', names[-1]) else f'"{names[-1]}"'
        raise MqselError(
            f"{shortened(selector)} is a file, and {shortened(names[-1])} is not: expected the selector first",
            hint=f"mqsel match {written} {files}",
        )


def _sifted(matcher: Matcher, ask: Ask, source: Source, part: Part) -> Iterator[Sifted]:
    """Sift a file; what is read by columns is not read in order."""
    if FORMATS[part.format].message is not None:
        yield from sift(matcher, ask, source, part.path)
        return
    with readable_anywhere(part.path, (piece.raw for piece in source if isinstance(piece, Piece))) as path:
        yield from sift_part(matcher, ask, part._replace(path=path))
