"""Pages for people: HTML that stands alone, and Markdown for a pull request; both of tables of cells.

What comes from messages, selectors and files has no meaning of its own in either: HTML is escaped, and of Markdown each
sign that means something is a character reference, which no dialect of it takes for that sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from mqsel.carets import visible

# What a line of a cell is, with how HTML and Markdown write it; {} is its text.
_KINDS = {
    "text": ("{}", "{}"),
    "code": ("<code>{}</code>", "<code>{}</code>"),
    "old": ("<code><del>{}</del></code>", "<del><code>{}</code></del>"),
    "new": ("<code><ins>{}</ins></code>", "<ins><code>{}</code></ins>"),
    "good": ('<span class="good">{}</span>', "{}"),
    "bad": ('<span class="bad">{}</span>', "<b>{}</b>"),
}
_STYLE = """\
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em }
table { border-collapse: collapse; width: 100% } td, th { border-bottom: 1px solid #8886; padding: .4em .8em;
text-align: left; vertical-align: top } td { white-space: pre-wrap } code { overflow-wrap: anywhere }
del { color: #c33 } del::before { content: "- " } ins { color: #292 } ins::before { content: "+ " }
del, ins { text-decoration: none }
.good { color: #292 } .bad { color: #c33; font-weight: bold }
"""

Cell = Sequence[tuple[str, str]]  # lines, each of one of the kinds and with its text


class PageTable(NamedTuple):
    """A table with a title, which may be empty."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def counted(head: Sequence[str], counts: Mapping[str, int], meant: Mapping[str, tuple[str, str]]) -> PageTable:
    """Return the table of how many have each verdict, of which *meant* has the kind of line and what it means."""
    rows = [
        [[("text", f"{counts[verdict]:,}")], [(kind, verdict)], [("text", about)]]
        for verdict, (kind, about) in meant.items()
        if counts[verdict]
    ]
    return PageTable("", head, rows)


def html(title: str, tables: Iterable[PageTable]) -> Iterator[str]:
    """Yield the lines of a page."""
    yield f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{_in_html(title)}</title>'
    yield f"<style>{_STYLE}</style><h1>{_in_html(title)}</h1>"
    for table in tables:
        heading = f"<h2>{_in_html(table.title)}</h2>" * bool(table.title)
        yield f"{heading}<table><tr>{''.join([f'<th>{_in_html(one)}' for one in table.head])}"
        for row in table.rows:
            cells = ["<br>".join([_KINDS[kind][0].format(_in_html(text)) for kind, text in cell]) for cell in row]
            yield f"<tr>{''.join([f'<td>{cell}</td>' for cell in cells])}"
        yield "</table>"
    yield "</html>"


def markdown(title: str, tables: Iterable[PageTable]) -> Iterator[str]:
    """Yield the lines of the same in Markdown."""
    yield f"## {_in_markdown(title)}"
    for table in tables:
        yield from ["", f"### {_in_markdown(table.title)}"] * bool(table.title)
        yield from ["", f"| {' | '.join(map(_in_markdown, table.head))} |", "|---" * len(table.head) + "|"]
        for row in table.rows:
            cells = ["<br>".join([_KINDS[kind][1].format(_in_markdown(text)) for kind, text in cell]) for cell in row]
            yield f"| {' | '.join(cells)} |"


def _shown(text: str) -> str:
    """Return a text without what a screen obeys; the lines and tabs of a selector stay."""
    return "".join([part if part in ("\n", "\t") else visible(part) for part in re.split(r"([\n\t])", text)])


def _in_html(text: str) -> str:
    return escape(_shown(text))


# A row is one line, so that an end of line in a selector is a reference. A colon before a blank, and a dot but that of
# www, mean nothing: places and sentences stay readable.
_SIGNS = re.compile(r"""[^\w\s'",()=/%?;:.-]|_|:(?=\S)|(?<=www)\.|[\n\t]""", re.IGNORECASE)


def _in_markdown(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"&#{ord(sign[0])};", _shown(text))
