"""What `mqsel inspect` prints of one message: a JSON object, or a table.

Its texts stand here, and tables that are cut to a terminal. `_listing` writes what is common, and asks here about the
rest.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mqsel.errors import cells, cut, padded
from mqsel.formats.inspection import Row
from mqsel.formats.jsonl import plain

ROWS = 1_000  # properties that are written together: one at a time takes twice as long
SHOWN = 60  # characters of a value that a table shows
TITLES = ("name", "type", "value", "from")
_Pairs = tuple[tuple[str, str], ...]
quoted = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes one each time: half of its time


class Form(NamedTuple):
    """How messages are printed.

    Attributes:
        is_json: as objects of JSON, else as tables.
        width: the most cells that a line of a table may take.
    """

    is_json: bool = False
    width: int | None = None


def source_of(row: Row) -> str:
    """Return in words where a property came from."""
    return row.source if row.offset < 0 else f"{row.source}, byte {row.offset}"


def value_in_json(value: Any) -> str:
    """Write a value as JSON."""
    return quoted(plain(value))


def written(value: Any) -> str:
    """Write a value as a selector would, shortened."""
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(value).upper()
    elif isinstance(value, bytes):
        text = f'"0x{value[:SHOWN].hex().upper()}"'
    elif isinstance(value, str):
        text = "'" + value[: 2 * SHOWN].replace("'", "''") + "'"
        if not text.isprintable():
            text = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    else:
        text = repr(float(value)) if isinstance(value, float) else str(int(value))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def in_columns(rows: Callable[[], Iterator[Row]], width: int | None) -> Iterator[str]:
    """Write the lines of a table. What is too wide is cut: first the last column but one, then the last.

    Args:
        rows: of a million properties a list would take as much memory as the message.
    """
    widths: list[int] = []
    for row in _texts(rows):
        widths = [max(wide, cells(cell)) for wide, cell in zip(widths or [0] * len(row), row, strict=True)]
    if width is not None:
        for place, least in ((-2, 12), (-1, 8), (0, 8)):
            excess = sum(widths) + 2 * len(widths) - width
            widths[place] -= max(min(excess, widths[place] - least), 0)
    for row in _texts(rows):
        shown = list(row)
        if width is not None:
            shown = [cut(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        shown = [padded(cell, wide) for cell, wide in zip(shown, widths, strict=True)]
        yield f"  {'  '.join(shown).rstrip()}\n"


def _texts(rows: Callable[[], Iterator[Row]]) -> Iterator[tuple[str, ...]]:
    yield TITLES
    for row in rows():
        yield row.name, row.type, written(row.value), source_of(row)


def ending(form: Form, skipped: _Pairs, structures: _Pairs) -> str:
    """Write what follows the properties of a message.

    Args:
        skipped: of the message, as (what, why).
        structures: as (name, place).
    """
    if form.is_json:
        first = quoted([{"what": what, "why": why} for what, why in skipped]) if skipped else "[]"
        last = quoted([{"name": name, "where": place} for name, place in structures]) if structures else "[]"
        return f'], "skipped": {first}, "structures": {last}}}\n'
    return "".join(
        f"{line}\n"
        for title, pairs in (("skipped", skipped), ("structures", structures))
        if pairs
        for line in (f"  {title}", *_beside(pairs, form.width))
    )


def _beside(pairs: _Pairs, width: int | None) -> Iterator[str]:
    """Write what there is to say of each name beside it, on several lines if need be."""
    wide = max(cells(name) for name, _ in pairs)
    for name, text in pairs:
        line = f"    {padded(name, wide)}  {text}"
        if width is None:
            yield line
        else:
            yield from textwrap.wrap(line, width, subsequent_indent=" " * min(wide + 6, width // 2))
