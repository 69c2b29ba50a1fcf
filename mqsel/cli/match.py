"""``mqsel match``: print the messages of files that a selector selects."""

from __future__ import annotations

import argparse
from typing import Any

from mqsel.cli.arguments import (
    Commands,
    add_errors,
    add_files,
    add_given,
    add_queues,
    add_selector,
    check_order,
    command,
    contract_of,
    files_of,
    limit,
    list_formats,
)
from mqsel.cli.output import flush, line_bytes, print_data, print_json, print_text, say
from mqsel.cli.report import Report, say_answers
from mqsel.cli.run import add_ways, ask_of, run
from mqsel.errors import nameable
from mqsel.files.framings import FORMATS, counted, shown
from mqsel.files.run.work import Ask, Match, Tally, everything
from mqsel.formats.jsonl import in_json
from mqsel.matcher import compile as compile_selector

_EXAMPLES = f"""\
A message is a JSON object on one line. A plain whole number is an int64, any other number a float64; a value may name \
its type: {{"weight": {{"int32": 3000}}, "ratio": {{"float32": 0.5}}, "token": {{"bytes": "0a1b"}}}}.

{list_formats(FORMATS)}

A directory, or a pattern in quotes, stands for its files. A directory such as day=1 is a property of the rows of the \
Parquet files in it.

Selected messages are printed as they stand in the file, and rows of Parquet as JSON. For a file that is one message \
its name is printed.

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
    match.add_argument("-v", "--invert", action="store_true", help="print the messages that are not selected")
    way = match.add_mutually_exclusive_group()
    way.add_argument(
        "-c", "--count", action="store_true", help="print the number of selected messages, not the messages"
    )
    way.add_argument(
        "-n", "--line-number", action="store_true", help="print FILE:LINE: in front, or FILE:BYTE where that is a place"
    )
    way.add_argument(
        "-l", "--files-with-matches", action="store_true", help="print the names of files with a selected message"
    )
    way.add_argument("-q", "--quiet", action="store_true", help="print nothing, and stop at the first selected message")
    way.add_argument("--json", action="store_true", help="print each with its place, and the counts, as lines of JSON")
    match.add_argument("--limit", type=limit, metavar="N", help="stop after N messages")
    add_errors(match, "message")
    add_given(match)
    add_ways(match)
    add_queues(match, can_follow=True, can_ask=True)


class MatchReport(Report):
    """Where what is selected arrives, by default to be printed as it stands in the file."""

    _written = ""  # the file that messages were written of last
    _closing = b""  # what has to stand behind them

    def take(self, name: str, kind: str, record: Any) -> None:
        if isinstance(record, bytes) and name != self._written:
            self._close_file()
            self._written, self._closing = name, FORMATS[kind].closing(record)
        super().take(name, kind, record)

    def _close_file(self) -> None:
        print_data(self._closing)
        self._closing = b""

    def close(self) -> int:
        """Print the summary; return the exit code."""
        self._close_file()
        total, stopped = self.total, self.ended()
        if self.is_unread:  # the counts are those of a part
            return 2 if self.trouble else 0
        self.conclude()
        say(
            f"{total.messages:,} message{'s' * (total.messages != 1)}, "
            f"{total.selected:,} {'not ' * self.asked.invert}selected, "
            f"{total.unknown:,} unknown because of a missing property, "
            f"{total.skipped:,} skipped, {self.seconds:.2f} s{stopped}"
        )
        for word, counts in (("missing", total.missing), ("no value of the declared type", total.unread)):
            # Equal counts by name: partitions arrive in any order of names.
            most = sorted(((name, n) for name, n in counts.items() if n), key=lambda item: (-item[1], item[0]))
            if most:
                say(f"{word}: " + ", ".join(f"{name} {count:,}" for name, count in most))
        if total.noted:
            messages = f"{total.noted:,} message{'s' * (total.noted != 1)}"
            say(f"skipped in part: {messages}, the first {total.note[1] if total.note else ''}")
        self.say_kept()
        return 2 if self.trouble else int(not total.selected)

    def conclude(self) -> None:
        """Print what follows the messages on stdout."""
        if self.asked.counting and not (self.asked.raising and self.total.skipped):
            print_text(str(self.total.selected))


class _Places(MatchReport):
    """Prints each message behind its place, as grep does."""

    def take(self, name: str, kind: str, record: Any) -> None:
        if type(record) is not list:
            return super().take(name, kind, record)
        is_text = FORMATS[kind].is_lines or kind == "parquet"
        for place, message in record:
            where = line_bytes(f"{shown(name)}:{place}{':' * is_text}")
            super().take(name, "json", where + message if is_text else where)
        return None


class _Lines(MatchReport):
    """Prints each message with its place, and at the end the counts, as JSON."""

    def take(self, name: str, kind: str, record: Any) -> None:
        if type(record) is not list:
            return super().take(name, kind, record)
        for place, message in record:
            read = everything("json" if kind == "parquet" else kind, message, dict(self.asked.types))
            print_json({"file": nameable(name), counted(name, kind): place, "message": in_json(read)})
        return None

    def conclude(self) -> None:
        total = self.total
        counts = {name: getattr(total, name) for name in ("messages", "selected", "unknown", "skipped")}
        print_json({**counts, "missing": dict(total.missing)})


class _Names(MatchReport):
    """Prints the names of the files in which a message is selected; each is read up to the first."""

    _named = ""

    @property
    def ask(self) -> Ask:
        return self.asked

    def take(self, name: str, kind: str, record: Any) -> None:
        super().take(name, kind, record)
        if isinstance(record, Tally) and record.selected and name != self._named:
            self._named = name
            print_text(shown(name))
            flush()

    def conclude(self) -> None:
        """Print nothing more."""


class _Nothing(MatchReport):
    """Prints nothing but trouble."""

    def close(self) -> int:
        """Return the exit code."""
        self.ended()
        return 2 if self.trouble else int(not self.total.selected)


_WAYS = {"line_number": _Places, "files_with_matches": _Names, "quiet": _Nothing, "json": _Lines}


def _match(arguments: argparse.Namespace) -> int:
    given = contract_of(arguments, arguments.dialect)
    report_of = next((made for name, made in _WAYS.items() if getattr(arguments, name)), MatchReport)
    placed = report_of in (_Places, _Lines)
    ask = ask_of(
        arguments,
        invert=arguments.invert,
        counting=arguments.count or report_of in (_Names, _Nothing),
        raising=arguments.errors == "raise",
        limit=1 if report_of in (_Names, _Nothing) else arguments.limit,
        apart=placed,
        placed=placed,
        given=given,
    )
    check_order("match", arguments.selector, arguments.files, arguments.dialect)
    files = files_of(arguments)
    report = report_of(ask)
    asked = run(arguments, files, compile_selector(arguments.selector, dialect=arguments.dialect), Match, report)
    status = report.close()
    return 2 if say_answers(asked) else status
