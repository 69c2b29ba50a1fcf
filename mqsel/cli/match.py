"""``mqsel match``: print the messages of files that a selector selects."""

from __future__ import annotations

import argparse
from typing import Any

from mqsel.carets import nameable, plural
from mqsel.cli.arguments import (
    Commands,
    add_errors,
    add_files,
    add_given,
    add_max_matches,
    add_queues,
    add_selector,
    check_order,
    command,
    contract_of,
    files_of,
    say_new_limit,
)
from mqsel.cli.output import flush, line_bytes, print_data, print_json, print_text, say
from mqsel.cli.report import Report, say_answers
from mqsel.cli.run import add_ways, ask_of, run
from mqsel.files.framings import FORMATS, counted, shown
from mqsel.files.run.work import Ask, Match, Tally, everything
from mqsel.formats.jsonl import in_json
from mqsel.matcher import compile as compile_selector

_EXAMPLES = """\
mqsel match "color = 'blue'" messages.jsonl more.jsonl.gz
mqsel match "JMSPriority > 4 AND Root.MQMD.MsgType = 8" dump.qload > again.qload
mqsel match --format lenses --type weight=int32 "weight > 2500" records.jsonl
zcat messages.jsonl.gz | mqsel match --count "weight > 2500"
mqsel match "day > 20 AND color = 'blue'" 'messages/day=*/*.parquet'
mqsel match --master spark://host:7077 "color = 'blue'" 'hdfs:///messages/*.gz'\
"""
_EXITS = (
    "At least one message matched",
    "No message matched",
    "No message could be read, the broker disagrees (--ask-broker), or another error",
)


def add(commands: Commands) -> None:
    """Add the command."""
    match = command(commands, "match", _match, "print the messages that a selector matches", _EXAMPLES, _EXITS)
    selector = add_selector(match)
    selector.add_argument("-v", "--invert", action="store_true", help="print the messages that don't match")
    add_given(selector, "also count messages that violate CONTRACT")
    output = match.add_argument_group("output (at most one of the first five)")
    way = output.add_mutually_exclusive_group()
    way.add_argument("-c", "--count", action="store_true", help="print only the number of matches")
    way.add_argument(
        "-n",
        "--line-number",
        action="store_true",
        help="print FILE:LINE: (or FILE:BYTE) before each message",
    )
    way.add_argument(
        "-l", "--files-with-matches", action="store_true", help="print only the names of files with a match"
    )
    way.add_argument("-q", "--quiet", action="store_true", help="print nothing; stop at the first match")
    way.add_argument("--json", action="store_true", help="print one JSON object for each match, then the counts")
    add_max_matches(output)
    reading = add_files(match, FORMATS)
    add_errors(reading, "message")
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
            f"{plural(total.messages, 'message')}, "
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
            say(f"skipped in part: {plural(total.noted, 'message')}, the first {total.note[1] if total.note else ''}")
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
    say_new_limit(arguments)
    placed = report_of in (_Places, _Lines)
    ask = ask_of(
        arguments,
        invert=arguments.invert,
        counting=arguments.count or report_of in (_Names, _Nothing),
        raising=arguments.errors == "raise",
        limit=1 if report_of in (_Names, _Nothing) else arguments.max_matches,
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
