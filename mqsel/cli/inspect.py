"""``mqsel inspect``: show the properties of messages, where each came from, and what was skipped."""

from __future__ import annotations

import argparse
import math
from typing import Any

from mqsel.cli.arguments import Commands, add_files, add_queues, command, files_of
from mqsel.cli.output import complain, is_ascii, print_lines, print_width
from mqsel.cli.report import Report
from mqsel.cli.run import add_jobs, ask_of, run
from mqsel.files.framings import FORMATS, place_of
from mqsel.files.inspection import Inspect
from mqsel.files.listing import Form
from mqsel.files.run.work import Ask
from mqsel.formats.jsonl import json_text

_EXAMPLES = """\
mqsel inspect dump.qload
mqsel inspect --limit 1 --json --format connect records.jsonl\
"""
_EXITS = (
    "Every message could be read",
    "Some messages couldn't be read",
    "No message could be read, or another error",
)
_ABOUT = """\
For each property, mqsel prints its name as a selector spells it, its type, its value, and where it comes from. Then \
follows what mqsel skipped, and why.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "inspect", _inspect, "show the properties of messages", _EXAMPLES, _EXITS, _ABOUT)
    add_files(made, FORMATS)
    output = made.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object for each message")
    add_jobs(made)
    made.set_defaults(spark=False, master=None)
    add_queues(made, can_follow=True)


class InspectReport(Report):
    """Where messages arrive: tables, or JSON, on stdout."""

    most = math.inf

    def __init__(self, ask: Ask, form: Form) -> None:
        super().__init__(ask)
        self._form = form
        self._between = ""

    def take(self, name: str, kind: str, record: Any) -> None:
        if not isinstance(record, list):
            super().take(name, kind, record)
            return
        text = record[0]
        if isinstance(text, tuple):
            place, text = text
            where = place_of(name, kind, place)
            if self._form.is_json:
                text = f'{{"message": {json_text(where, is_ascii=self._form.is_ascii)}{text}'
            else:
                text, self._between = f"{self._between}{where}{text}", "\n"
        print_lines(text, end="")

    def close(self) -> int:
        """Print what is left to report; return the exit code."""
        self.ended()
        if not (self.seen or self.trouble or self.is_unread):
            complain("no messages")
        return 2 if self.trouble else int(self.total.skipped > 0)


def _inspect(arguments: argparse.Namespace) -> int:
    ask = ask_of(arguments)
    form = Form(arguments.json, None if arguments.json else print_width(), is_ascii())
    report = InspectReport(ask, form)
    run(arguments, files_of(arguments), form, Inspect, report)
    return report.close()
