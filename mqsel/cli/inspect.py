"""``mqsel inspect``: show the properties of messages, where each came from, and what was skipped."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import islice
from math import isfinite
from typing import Any

from mqsel.cli.arguments import Commands, add_files, add_queues, command, files_of, limit, list_formats, types_of
from mqsel.cli.report import Report, complain, width_of
from mqsel.cli.run import run
from mqsel.errors import cells, cut, padded
from mqsel.files.framings import FORMATS, place_of
from mqsel.files.inspection import Inspect, InspectedMessage
from mqsel.files.run.work import Ask
from mqsel.formats.inspection import Row
from mqsel.formats.jsonl import plain

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
    add_queues(inspect, can_follow=True)


class InspectReport(Report):
    """Where messages arrive: tables, or JSON, on stdout."""

    def __init__(self, ask: Ask, *, as_json: bool) -> None:
        super().__init__(ask)
        self._as_json = as_json
        self._width = width_of(sys.stdout)
        self._is_first = True

    def take(self, name: str, kind: str, record: Any) -> None:
        if not isinstance(record, InspectedMessage):
            super().take(name, kind, record)
            return
        where = place_of(name, kind, record.place)
        if self._as_json:
            sys.stdout.writelines(as_json(where, record))
            return
        print("\n" * (not self._is_first), end="")
        self._is_first = False
        for line in table(where, record, self._width):
            print(line)

    def close(self) -> int:
        """Print what is left to report; return the exit code."""
        self.ended()
        if not self.seen and not self.trouble:
            complain("no messages")
        return 2 if self.trouble else int(self.total.skipped > 0)


def _inspect(arguments: argparse.Namespace) -> int:
    ask = Ask(limit=arguments.limit, format=arguments.format or "json", types=types_of(arguments))
    report = InspectReport(ask, as_json=arguments.json)
    run(arguments, files_of(arguments), None, Inspect, report)
    return report.close()


# ---- as text and as JSON --------------------------------------------------------------------------------------------

_WIDTH = 60  # characters of a value that a table shows
_ROWS = 1_000  # properties that are written together: one at a time takes twice as long
_json = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes one each time: half of its time


def _source(row: Row) -> str:
    return row.source if row.offset < 0 else f"{row.source}, byte {row.offset}"


def written(value: Any) -> str:
    """Write a value as a selector would, shortened."""
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(value).upper()
    elif isinstance(value, bytes):
        text = f'"0x{value[:_WIDTH].hex().upper()}"'
    elif isinstance(value, str):
        text = "'" + value[: 2 * _WIDTH].replace("'", "''") + "'"
        if not text.isprintable():
            text = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    else:
        text = repr(float(value)) if isinstance(value, float) else str(int(value))
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _columns(rows: Callable[[], Iterator[tuple[str, ...]]], indent: str, width: int | None) -> Iterator[str]:
    """Write rows in columns. What is too wide is cut: first the last column but one, then the last."""
    few = [*islice(rows(), _ROWS)]  # that are made once
    if len(few) < _ROWS:
        rows = few.__iter__
    widths: list[int] = []
    for row in rows():
        widths = [max(wide, cells(cell)) for wide, cell in zip(widths or [0] * len(row), row, strict=True)]
    if width is not None:
        for place, least in ((-2, 12), (-1, 8), (0, 8)):
            excess = len(indent) + sum(widths) + 2 * (len(widths) - 1) - width
            widths[place] -= max(min(excess, widths[place] - least), 0)
    for row in rows():
        shown = list(row)
        if width is not None:
            shown = [cut(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        shown = [padded(cell, wide) for cell, wide in zip(shown, widths, strict=True)]
        yield indent + "  ".join(shown).rstrip()


def _pairs(pairs: tuple[tuple[str, str], ...], width: int | None) -> Iterator[str]:
    """Write what there is to say of each name beside it, on several lines if need be."""
    wide = max(cells(name) for name, _ in pairs)
    for name, text in pairs:
        line = f"    {padded(name, wide)}  {text}"
        if width is None:
            yield line
        else:
            yield from textwrap.wrap(line, width, subsequent_indent=" " * min(wide + 6, width // 2))


def _cells(message: InspectedMessage) -> Iterator[tuple[str, ...]]:
    for place, row in enumerate(message.rows()):
        if place == 0:
            yield "name", "type", "value", "from"
        yield row.name, row.type, written(row.value), _source(row)


def table(where: str, message: InspectedMessage, width: int | None = None) -> Iterator[str]:
    """Write the lines of a table.

    Args:
        width: the most cells a line may take.
    """
    yield where
    empty = True
    for line in _columns(partial(_cells, message), "  ", width):
        yield line
        empty = False
    if empty:
        yield "  no properties"
    for title, more in (("skipped", message.skipped), ("structures", message.structures)):
        if more:
            yield f"  {title}"
            yield from _pairs(more, width)


@lru_cache(1024)  # most messages have the properties of the one before
def _start(name: str, kind: str) -> str:
    return f'{{"name": {_json(name)}, "type": {_json(kind)}, "value": '


@lru_cache(1024)
def _end(source: str) -> str:
    return f', "from": {_json(source)}}}'


def _value(value: Any) -> str:
    """Write what most values are as the encoder does, which is made anew for each but a text."""
    kind = type(value)
    if kind is int or (kind is float and isfinite(value)):
        return repr(value)
    return _json(value if kind is str else plain(value))


def as_json(where: str, message: InspectedMessage) -> Iterator[str]:
    """Write one JSON object, in pieces."""
    # As json.dumps writes the whole of it.
    yield f'{{"message": {_json(where)}, "properties": ['
    rows, before = message.rows(), ""
    while some := [
        f"{_start(row.name, row.type)}{_value(row.value)}{_end(_source(row))}" for row in islice(rows, _ROWS)
    ]:
        yield before + ", ".join(some)
        before = ", "
    skipped = _json([{"what": what, "why": why} for what, why in message.skipped]) if message.skipped else "[]"
    structures = "[]"
    if message.structures:
        structures = _json([{"name": name, "where": place} for name, place in message.structures])
    yield f'], "skipped": {skipped}, "structures": {structures}}}\n'
