"""``mqsel inspect``: show the properties of messages, where each came from, and what was skipped."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from mqsel.cli.arguments import Commands, add_files, command, files_of, limit, list_formats, types_of
from mqsel.cli.report import complain, is_unread, place_of, shown, width_of
from mqsel.errors import FileError, MqselError
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, each, reading
from mqsel.files.inspection import Found, as_json, inspected, of_columns, table
from mqsel.files.opening import readable_anywhere
from mqsel.files.scan import REPORTED, said, why

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


def _inspect(arguments: argparse.Namespace) -> int:
    wanted, types = arguments.format, dict(types_of(arguments))
    is_in_trouble = False
    seen = broken = 0
    width = width_of(sys.stdout)
    first: list[tuple[str, str, bytes]] = []

    def fail(name: str, why: str) -> None:
        nonlocal is_in_trouble
        is_in_trouble = True
        complain(f"{shown(name)}: {why}")

    found = _inspections(files_of(arguments), wanted, types, fail, first)
    for where, one in islice(found, arguments.limit):
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
            for line in table(where, one, width):
                print(line)
    if broken > REPORTED:
        complain(f"… and {broken - REPORTED:,} more")
    if not seen and not is_in_trouble:
        complain("no messages")
    if (broken or is_in_trouble) and is_unread(first[0] if first else None, seen, broken):
        is_in_trouble = True
    return 2 if is_in_trouble else int(broken > 0)


def _inspections(
    names: list[str],
    wanted: str | None,
    types: Mapping[str, str],
    fail: Callable[[str, str], None],
    begun: list[tuple[str, str, bytes]],
) -> Iterator[tuple[str, Found | MqselError]]:
    """Inspect the messages of files: give for each its place, and what it has or why it is invalid.

    Args:
        fail: is told the name of a file and why it cannot be read.
        begun: takes the name, format and first bytes of every file.
    """
    for name in names:
        try:
            kind, source, start = reading(name, wanted)
        except FileError as error:
            fail(name, why(error))
            continue
        begun.append((name, kind, start))
        if FORMATS[kind].message is None:
            with readable_anywhere(name, (piece.raw for piece in source if isinstance(piece, Piece))) as path:
                try:
                    for number, row in enumerate(of_columns(path), 1):
                        yield place_of(name, kind, number), row
                except FileError as error:
                    fail(name, why(error))
            continue
        for number, (piece, found) in enumerate(each(source, inspected(kind, types)), 1):
            if isinstance(found, MqselError) and piece is None:
                fail(name, why(found))
            elif piece is not None and found is not None:
                yield place_of(name, kind, number if FORMATS[kind].is_lines else piece.place), found
