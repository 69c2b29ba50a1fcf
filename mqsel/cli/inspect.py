"""``mqsel inspect``: show the properties of messages, where each came from, and what was skipped."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from mqsel.cli.arguments import Commands, add_files, command, files_of, limit, list_formats, types_of
from mqsel.cli.desk import complain, place_of
from mqsel.errors import FileError, MqselError
from mqsel.files.framings import FORMATS, each, reading
from mqsel.files.inspection import Found, as_json, inspected, table
from mqsel.files.scan import REPORTED, said, why

_OF_MESSAGES = tuple(name for name, row in FORMATS.items() if row.message is not None)
_EXAMPLES = f"""\
Every property of every message: its name as a selector spells it, type, value, and where it came from; then what was
skipped, and why. --json prints one object for each message.

{list_formats(_OF_MESSAGES)}

exit code: 0 if every message could be read, 1 if not, 2 if something went wrong.

examples:
  mqsel inspect dump.qload
  mqsel inspect --limit 1 --json --format connect records.jsonl
"""


def add(commands: Commands) -> None:
    """Add the command."""
    inspect = command(commands, "inspect", _inspect, "show the properties of messages", _EXAMPLES)
    add_files(inspect, _OF_MESSAGES)
    inspect.add_argument("--json", action="store_true", help="print one JSON object for each message")
    inspect.add_argument("--limit", type=limit, metavar="N", help="stop after N messages")


def _inspect(arguments: argparse.Namespace) -> int:
    wanted, types = arguments.format, dict(types_of(arguments))
    is_in_trouble = False
    seen = broken = 0

    def fail(name: str, why: str) -> None:
        nonlocal is_in_trouble
        is_in_trouble = True
        complain(f"{name}: {why}")

    for where, one in islice(_inspections(files_of(arguments.files, wanted), wanted, types, fail), arguments.limit):
        seen += 1
        if isinstance(one, MqselError):
            broken += 1
            if broken <= REPORTED:
                complain(f"{where}: {said(one)}")
        elif arguments.json:
            sys.stdout.writelines(as_json(where, one))
        else:
            if seen > broken + 1:
                print()
            for line in table(where, one):
                print(line)
    if broken > REPORTED:
        complain(f"… and {broken - REPORTED:,} more")
    if not seen and not is_in_trouble:
        complain("no messages")
    return 2 if is_in_trouble else int(broken > 0)


def _inspections(
    names: list[str], wanted: str | None, types: Mapping[str, str], fail: Callable[[str, str], None]
) -> Iterator[tuple[str, Found | MqselError]]:
    """Inspect the messages of files: give for each its place, and what it has or why it is none."""
    for name in names:
        try:
            kind, source = reading(name, wanted)
        except FileError as error:
            fail(name, why(error))
            continue
        if FORMATS[kind].message is None:
            fail(name, f"a file of format {kind} is read by columns: expected messages")
            continue
        for number, (piece, found) in enumerate(each(source, inspected(kind, types)), 1):
            if isinstance(found, MqselError) and piece is None:
                fail(name, why(found))
            elif piece is not None and found is not None:
                yield place_of(name, kind, number if FORMATS[kind].is_lines else piece.place), found
