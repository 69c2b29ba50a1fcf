"""What `mqsel inspect` prints of one message: a JSON object, or a table.

Every text is safe for a terminal and for the log of a build: a worker makes it, and the command line only prints it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from mqsel.carets import cells, cut, padded, visible
from mqsel.formats.inspection import Row
from mqsel.formats.jsonl import json_text, plain

ROWS = 1_000  # properties that are written together: one at a time takes twice as long
_SHOWN = 60  # characters of a value that a table shows
_TITLES = ("name", "type", "value", "from")
_Pairs = tuple[tuple[str, str], ...]
_Cells = tuple[str, str, str, str]


class Form(NamedTuple):
    """How messages are printed.

    Attributes:
        is_json: as objects of JSON, else as tables.
        width: the most cells that a line of a table may take.
        is_ascii: JSON is ASCII.
    """

    is_json: bool = False
    width: int | None = None
    is_ascii: bool = False


def list_message(form: Form, rows: Callable[[], Iterator[Row]], skipped: _Pairs, structures: _Pairs) -> Iterator[str]:
    """Yield the text of a message that follows its place, in several pieces if it has many properties.

    Args:
        rows: its properties, made anew at each call: a list of a million would take as much memory as the message.
        skipped: of the message, as (what, why).
        structures: as (name, place).
    """
    write = _in_json if form.is_json else _in_table
    return write(form, rows, skipped, structures)


def _in_json(form: Form, rows: Callable[[], Iterator[Row]], skipped: _Pairs, structures: _Pairs) -> Iterator[str]:
    text, left = ', "properties": [', rows()
    while some := [
        {"name": row.name, "type": row.type, "value": plain(row.value), "from": _source(row)}
        for row in islice(left, ROWS)
    ]:
        text += json_text(some, is_ascii=form.is_ascii)[1:-1]
        if len(some) < ROWS:
            break
        yield text
        text = ", "
    rest = {
        "skipped": [{"what": what, "why": why} for what, why in skipped],
        "structures": [{"name": name, "where": place} for name, place in structures],
    }
    yield f"{text.removesuffix(', ')}], {json_text(rest, is_ascii=form.is_ascii)[1:]}\n"


def _in_table(form: Form, rows: Callable[[], Iterator[Row]], skipped: _Pairs, structures: _Pairs) -> Iterator[str]:
    some = [*map(_cells, islice(rows(), ROWS))]
    if len(some) < ROWS:
        yield "\n" + ("".join(_in_columns(some.__iter__, form.width)) if some else "  no properties\n")
    else:
        yield "\n"
        yield from _in_columns(lambda: map(_cells, rows()), form.width)
    for title, pairs in (("skipped", skipped), ("structures", structures)):
        if pairs:
            yield "".join([f"{line}\n" for line in (f"  {title}", *_beside(pairs, form.width))])


def _source(row: Row) -> str:
    """Return in words where a property came from."""
    return row.source if row.offset < 0 else f"{row.source}, byte {row.offset}"


def _written(value: Any) -> str:
    """Write a value as a selector would, shortened."""
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(value).upper()
    elif isinstance(value, bytes):
        text = f'"0x{value[:_SHOWN].hex().upper()}"'
    elif isinstance(value, str):
        text = "'" + value[: 2 * _SHOWN].replace("'", "''") + "'"
        if not text.isprintable():
            text = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    else:
        text = repr(float(value)) if isinstance(value, float) else str(int(value))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _in_columns(rows: Callable[[], Iterator[_Cells]], width: int | None) -> Iterator[str]:
    """Write the lines of a table. A table that is too wide is cut: first the last column but one, then the last."""
    widths = [*map(len, _TITLES)]
    for row in rows():
        widths = [*map(max, widths, map(cells, row))]
    if width is not None:
        for place, least in ((-2, 12), (-1, 8), (0, 8)):
            excess = sum(widths) + 2 * len(widths) - width
            widths[place] -= max(min(excess, widths[place] - least), 0)
    for row in chain([_TITLES], rows()):
        shown = row if width is None else map(cut, row, widths)
        yield f"  {'  '.join(map(padded, shown, widths)).rstrip()}\n"


def _cells(row: Row) -> _Cells:
    return visible(row.name), row.type, _written(row.value), visible(_source(row))


def _beside(pairs: _Pairs, width: int | None) -> Iterator[str]:
    """Write what there is to say of each name beside it, on several lines if need be."""
    wide = max(cells(visible(name)) for name, _ in pairs)
    for name, text in pairs:
        line = f"    {padded(visible(name), wide)}  {visible(text)}"
        if width is None:
            yield line
        else:
            yield from textwrap.wrap(line, width, subsequent_indent=" " * min(wide + 6, width // 2))
