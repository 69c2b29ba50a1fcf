"""``mqsel why``: say why the messages of files are selected, or are not.

Files read here and files read on Spark give the same accounts, which are added up into one report.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mqsel.analysis.account import Account, Profiler
from mqsel.analysis.profile import report
from mqsel.cli.arguments import Commands, add_files, add_selector, command, files_of, list_formats, types_of
from mqsel.cli.match import check_order
from mqsel.cli.report import complain, is_unread, place_of, shown, tasks, width_of
from mqsel.errors import FileError
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, Source, reading
from mqsel.files.opening import readable_anywhere
from mqsel.files.parts import Part
from mqsel.files.parts import found as files_found
from mqsel.files.profiling import Profiled, profile, profile_blocks, profile_part
from mqsel.files.scan import REPORTED, Ask, Broken, why
from mqsel.language.selector import read_selector
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector

_EXAMPLES = f"""\
First the sentence that matters; then for each part of the selector how many messages made it TRUE, FALSE or UNKNOWN, \
for how many types differ (mismatched), and for how many the complete selector is false (ERR: arithmetic on what is \
missing, or on an integer zero); then for each property how many messages have it, of which types, its commonest \
values, and by what other name messages have it.

{list_formats(FORMATS)}

exit code: 0 if something is selected, 1 if nothing is, 2 if no message could be read or something else went wrong.

examples:
  mqsel why "Color = 'white'" dump.qload
  mqsel why --json "weight > 2500" messages.jsonl.gz
  mqsel why "day > 20 AND color = 'blue'" 'messages/day=*/*.parquet'
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "why", _why, "say why messages are selected, or are not", _EXAMPLES)
    add_selector(made)
    add_files(made, FORMATS)
    made.add_argument("--json", action="store_true", help="print one JSON object")
    made.add_argument("--spark", action="store_true", help="run on Spark, on this machine unless --master is given")
    made.add_argument("--master", metavar="URL", help="run on this Spark master; default local[*]")


class _Desk:
    """Where the records of a run arrive: complaints to stderr, accounts into one."""

    def __init__(self, total: Account) -> None:
        self.total = total
        self.trouble = False
        self._place = (-1, "")
        self._before = 0  # lines of the file, in the parts that have arrived
        self._reported = 0
        self._first: tuple[str, str, bytes] | None = None

    def begin(self, name: str, kind: str, start: bytes) -> None:
        self._first = self._first or ((name, kind, start) if start else None)

    def take(self, number: int, name: str, kind: str, record: Profiled) -> None:
        if self._place != (number, name):
            self._place, self._before = (number, name), 0
        if isinstance(record, Account):
            if record.note is not None and self.total.note is None:
                line, text = record.note
                record.note = line, f"{place_of(name, kind, self._before + line)}: {text}"
            self.total.add(record)
            self._before += record.lines
        elif isinstance(record, Broken):
            self.fail(name, record.why)
        elif self._reported < REPORTED:
            self._reported += 1
            complain(f"{place_of(name, kind, self._before + record.line)}: {record.text}")

    def fail(self, name: str, why: str) -> None:
        self.trouble = True
        complain(f"{shown(name)}: {why}")

    def close(self) -> bool:
        """Say what is left to say; tell whether there was trouble."""
        skipped = self.total.skipped
        if skipped > self._reported:
            complain(f"… and {skipped - self._reported:,} more")
        if skipped and is_unread(self._first, self.total.messages + skipped, skipped):
            self.trouble = True
        return self.trouble


def _why(arguments: argparse.Namespace) -> int:
    wanted = arguments.format
    ask = Ask(
        invert=False, counting=True, raising=False, limit=None, format=wanted or "json", types=types_of(arguments)
    )
    check_order("why", arguments.selector, arguments.files)
    files = files_of(arguments)
    matcher = compile_selector(arguments.selector, dialect=arguments.dialect)
    selector = read_selector(matcher.selector, matcher.dialect)
    desk = _Desk(Profiler(selector).account)
    records = _on_spark if arguments.spark or arguments.master else _here
    for number, name, kind, record in records(arguments, matcher, ask, files, desk):
        desk.take(number, name, kind, record)
    trouble = desk.close()
    made = report(selector, desk.total)
    if made.messages or not trouble:
        if arguments.json:
            print(json.dumps(made.as_dict(), ensure_ascii=False))
        else:
            print(made.text(width_of(sys.stdout)))
    return 2 if trouble else int(not made)


_Records = Iterator[tuple[int, str, str, Profiled]]


def _here(arguments: argparse.Namespace, matcher: Matcher, ask: Ask, files: list[str], desk: _Desk) -> _Records:
    for number, (name, fixed, trouble) in enumerate(files_found(files)):
        try:
            if trouble is not None:
                raise trouble
            kind, source, start = reading(name, arguments.format)
        except FileError as error:
            desk.fail(name, why(error))
            continue
        desk.begin(name, kind, start)
        for record in _profiled(matcher, ask._replace(format=kind), source, Part(name, kind, 0, -1, fixed)):
            yield number, name, kind, record


def _profiled(matcher: Matcher, ask: Ask, source: Source, part: Part) -> Iterator[Profiled]:
    """Count what became of the messages of a file; what is read by columns is not read in order."""
    if FORMATS[part.format].message is not None:
        yield from profile(matcher, ask, source)
        return
    with readable_anywhere(part.path, (piece.raw for piece in source if isinstance(piece, Piece))) as path:
        yield from profile_part(matcher, ask, part._replace(path=path))


def _on_spark(arguments: argparse.Namespace, matcher: Matcher, ask: Ask, files: list[str], desk: _Desk) -> _Records:
    from mqsel.spark.job import Work, sifted_on_spark  # noqa: PLC0415 (pyspark is optional, and slow to import)

    if files and Path(files[0]).is_file():
        with suppress(FileError):  # Spark reports it
            kind, _, start = reading(files[0], arguments.format)
            desk.begin(files[0], kind, start)
    with tasks() as advance:
        names, master = arguments.files or files, arguments.master or "local[*]"
        work = Work(profile_blocks, profile_part)
        yield from sifted_on_spark(matcher, lambda: ask, names, arguments.format, master, desk.fail, advance, work)
