"""What a notebook shows of a report: pieces of HTML.

Text is escaped here, or by `html.escape` where a caller puts it into a sentence. Knows no report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

# Colours repeat what the words say, and have their own background, so that they can be read on a light page and on a
# dark one, and without colours. Scripts and style sheets are none: a notebook may strip them.
# For each truth value and severity its sign, ink and paper; a contrast of at least 7 to 1.
_BADGES = {
    "TRUE": ("✓", "#0b4a18", "#d9f2de"),
    "FALSE": ("✗", "#7a0f0f", "#fbe0e0"),
    "UNKNOWN": ("?", "#5a4200", "#fdf1cc"),
    "type mismatch": ("≠", "#7a2b00", "#fde6d4"),
    "ERR": ("!", "#44187f", "#eae0fa"),
    "not evaluated": ("–", "#454545", "#ececec"),
    "error": ("✗", "#7a0f0f", "#fbe0e0"),
    "warning": ("!", "#7a2b00", "#fde6d4"),
    "note": ("i", "#454545", "#ececec"),
}
_ROWS = 1_000  # of a table
_CELL = "padding:2px 8px;text-align:left;vertical-align:top;border:0;white-space:pre-wrap"
_NUMBER = "padding:2px 8px;text-align:right;vertical-align:top;border:0;font-variant-numeric:tabular-nums"


def badge(word: str, text: str | None = None) -> str:
    """Write a truth value or a severity in its colours.

    Args:
        text: stands for the word and its sign.
    """
    sign, ink, paper = _BADGES[word]
    style = f"color:{ink};background:{paper};border:1px solid {ink};border-radius:3px;padding:0 5px;white-space:nowrap"
    return f'<span style="{style}">{escape(f"{sign} {word}" if text is None else text)}</span>'


def code(text: str, depth: int = 0) -> str:
    """Write a piece of a selector, set in by its depth."""
    style = f"display:block;padding-left:{1.5 * depth:g}em;white-space:pre-wrap;background:none;color:inherit"
    return f'<code style="{style}">{escape(text)}</code>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """Write a table.

    Args:
        head: words above the columns.
        rows: cells, as HTML; a thousand of them are shown.
        numbers: how many of the columns, from the left, hold numbers.
    """
    styles = [_NUMBER if place < numbers else _CELL for place in range(len(head))]

    def row(tag: str, cells: Sequence[str]) -> str:
        made = (f'<{tag} style="{style}">{cell}</{tag}>' for style, cell in zip(styles, cells, strict=True))
        return f"<tr>{''.join(made)}</tr>"

    top = row("th", [escape(name) for name in head])
    rows = iter(rows)
    shown = [row("td", cells) for cells in islice(rows, _ROWS)]
    left = sum(1 for _ in rows)
    body = "".join(shown) + f'<tr><td colspan="{len(head)}">… and {left:,} more: print shows them</td></tr>' * bool(
        left
    )
    head_row = f"<thead>{top}</thead>" if any(head) else ""
    style = "border-collapse:collapse;margin:4px 0;font-size:inherit;color:inherit"
    return f'<table style="{style}">{head_row}<tbody>{body}</tbody></table>'


def page(sentences: Sequence[str], *tables: str) -> str:
    """Put sentences, as HTML, before tables."""
    said = "".join(f'<p style="margin:2px 0;white-space:pre-wrap">{sentence}</p>' for sentence in sentences)
    return f'<div style="line-height:1.5">{said}{"".join(tables)}</div>'
