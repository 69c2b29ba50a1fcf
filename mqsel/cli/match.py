"""``mqsel match``: print the messages of files that a selector selects."""

from __future__ import annotations

import argparse

from mqsel.cli.arguments import (
    Commands,
    add_files,
    add_given,
    add_selector,
    check_order,
    command,
    contract_of,
    files_of,
    limit,
    list_formats,
    types_of,
)
from mqsel.cli.report import Report, say
from mqsel.cli.run import add_ways, run
from mqsel.files.framings import FORMATS
from mqsel.files.run.work import Ask, Match
from mqsel.matcher import compile as compile_selector

_NAMED = 5  # missing properties named in the summary

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
    match.add_argument("--count", action="store_true", help="print the number of selected messages, not the messages")
    match.add_argument("--invert", action="store_true", help="print the messages that are not selected")
    match.add_argument("--limit", type=limit, metavar="N", help="stop after N messages")
    match.add_argument(
        "--errors",
        choices=("skip", "raise"),
        default="skip",
        help="what to do with an invalid message: report and skip it (default), or stop with exit code 2",
    )
    add_given(match)
    add_ways(match)


class MatchReport(Report):
    """Where what is selected arrives."""

    def close(self) -> int:
        """Print the summary; return the exit code."""
        total, stopped = self.total, self.ended()
        if self.asked.counting and not (self.asked.raising and total.skipped):
            print(total.selected)
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
                shown = ", ".join(f"{name} {count:,}" for name, count in most[:_NAMED])
                say(f"{word}: {shown}{', …' * (len(most) > _NAMED)}")
        if total.noted:
            messages = f"{total.noted:,} message{'s' * (total.noted != 1)}"
            say(f"skipped in part: {messages}, the first {total.note[1] if total.note else ''}")
        self.say_kept()
        return 2 if self.trouble else int(not total.selected)


def _match(arguments: argparse.Namespace) -> int:
    raising = arguments.errors == "raise"
    wanted = arguments.format or "json"
    given = contract_of(arguments, arguments.dialect)
    ask = Ask(arguments.invert, arguments.count, raising, arguments.limit, wanted, types_of(arguments), given=given)
    check_order("match", arguments.selector, arguments.files, arguments.dialect)
    files = files_of(arguments)
    report = MatchReport(ask)
    run(arguments, files, compile_selector(arguments.selector, dialect=arguments.dialect), Match, report)
    return report.close()
