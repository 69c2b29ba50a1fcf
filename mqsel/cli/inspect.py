"""``mqsel inspect``: show the properties of messages, where each came from, and what was skipped."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mqsel.cli.arguments import Commands, add_files, command, files_of, limit, list_formats, types_of
from mqsel.cli.report import Report, complain, place_of, width_of
from mqsel.cli.run import run
from mqsel.files.framings import FORMATS
from mqsel.files.inspection import INSPECT, Inspected, as_json, table
from mqsel.files.scan import Ask, Tally

_EXAMPLES = f"""\
Every property of every message: its name as a selector spells it, type, value, and where it came from; then what was \
skipped, and why. --json prints one object for each message.

{list_formats(FORMATS)}

exit code: 0 if every message could be read, 1 if some could not, 2 if none could or something else went wrong.

examples:
  mqsel inspect dump.qload
  mqsel inspect --limit 1 --json --format connect records.jsonl
"""


def add(commands: Commands) -> None:
    """Add the command."""
    inspect = command(commands, "inspect", _inspect, "show the properties of messages", _EXAMPLES)
    add_files(inspect, FORMATS)
    inspect.add_argument("--json", action="store_true", help="print one JSON object for each message")
    inspect.add_argument("--limit", type=limit, metavar="N", help="stop after N messages")
    inspect.set_defaults(spark=False, master=None, jobs=1)


class InspectReport(Report[Tally]):
    """Where messages arrive: tables, or JSON, on stdout."""

    def __init__(self, ask: Ask, *, as_json: bool) -> None:
        super().__init__(ask, Tally())
        self._as_json = as_json
        self._width = width_of(sys.stdout)
        self._is_first = True

    def take(self, name: str, kind: str, record: Any) -> None:
        if not isinstance(record, Inspected):
            super().take(name, kind, record)
            return
        where = place_of(name, kind, record.place)
        if self._as_json:
            sys.stdout.writelines(as_json(where, record.found))
            return
        print("\n" * (not self._is_first), end="")
        self._is_first = False
        for line in table(where, record.found, self._width):
            print(line)

    def close(self) -> int:
        """Say what is left to say; give the exit code."""
        self.ended()
        if not self.seen and not self.trouble:
            complain("no messages")
        return 2 if self.trouble else int(self.total.skipped > 0)


def _inspect(arguments: argparse.Namespace) -> int:
    ask = Ask(limit=arguments.limit, format=arguments.format or "json", types=types_of(arguments))
    report = InspectReport(ask, as_json=arguments.json)
    run(arguments, files_of(arguments), None, INSPECT, report)
    return report.close()
