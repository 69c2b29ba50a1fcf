"""The manual pages of the commands, from their parsers: ``python manual.py FOLDER`` writes them.

setup.py runs it with the package that it has just built: a wheel has the pages of its own help. Follows man-pages(7).
"""

from __future__ import annotations

import os
import re
import sys
import time
from argparse import Action, ArgumentParser
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from mqsel.cli import _parser
from mqsel.cli.help import topics
from mqsel.machine.program import VERSION

_SIGNS = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
_ROW = re.compile(r" *(\S+) {2,}(\S.*)")
# The last sections of a page: the first words of the paragraph in the help, and the heading.
_LAST = {"exit code:\n": "EXIT STATUS", "examples:\n": "EXAMPLES"}


def parsers() -> dict[str, ArgumentParser]:
    """Return the parser of each command by the name of its page, and before them that of all."""
    whole, commands = _parser([])
    return {"mqsel": whole, **{f"mqsel-{name}": parser for name, parser in commands.items()}}


def page(title: str, parser: ArgumentParser, titles: list[str]) -> str:
    """Return a manual page, as groff and mandoc read it.

    Args:
        title: of the page.
        parser: of the command.
        titles: of all pages, for the last section.
    """
    text = "\n".join(
        [
            *_lines(title, parser),
            ".SH SEE ALSO",
            ",\n".join(f"\\%\\fB{_plain(one)}\\fR(1)" for one in titles if one != title),
        ]
    )
    return re.sub(r"(?m)^(\.SH .*\n)\.PP\n", r"\1", text) + "\n"


def _lines(title: str, parser: ArgumentParser) -> Iterator[str]:
    day = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    yield f'.TH {_plain(title.upper())} 1 {day} "mqsel {VERSION}" mqsel\n.nh\n.ad l'
    text, _, examples = (parser.description or "").partition("\n\n")
    yield f".SH NAME\n{_plain(title)} \\- {_plain(text[0].lower() + text[1:].rstrip('.'))}"
    groups = [(one.title or "", one.description, one._group_actions) for one in parser._action_groups]  # noqa: SLF001 (argparse has no other way)
    operands = [_called(one) for _, _, actions in groups for one in actions if not one.option_strings]
    yield f".SH SYNOPSIS\n\\fB{_plain(parser.prog)}\\fR [\\fIOPTION\\fR]... {' '.join(operands)}"
    yield f".SH DESCRIPTION\n{_block(text)}"
    for name, about, actions in groups:
        if actions:
            yield f".SH {_plain(name.upper())}"
            if about:
                yield _block(about)
        for one in actions:
            # Of all commands together: each with what it does.
            rows = [(f"\\fB{_plain(each.dest)}\\fR", each.help) for each in getattr(one, "_choices_actions", ())]
            for called, does in rows or [(_called(one), one.help)]:
                yield f".TP\n{called}\n{_plain((does or '').replace('%%', '%'))}"
    blocks = re.split(r"\n{2,}", f"{parser.epilog}\n\n{examples}".strip("\n"))
    notes = [_block(one) for one in blocks if not one.startswith(tuple(_LAST))]
    yield from [".SH NOTES", *notes] if notes else []
    for begin, heading in _LAST.items():
        for one in blocks:
            if one.startswith(begin):
                yield f".SH {heading}\n{_block(one.removeprefix(begin))}"
    if title == "mqsel-help":
        for name, topic in topics(parsers()).items():
            yield "\n".join([f".SH {_plain(name.upper())}", *map(_block, re.split(r"\n{2,}", topic.strip("\n")))])


def _called(action: Action) -> str:
    """Return how an option or an argument is written."""
    choices = "|".join(map(str, action.choices or ())) if not action.metavar else ""
    value = action.metavar if isinstance(action.metavar, str) else choices or action.dest.upper()
    shown = f"\\fI{_plain(value)}\\fR"
    shown = {0: "", "*": f"[{shown}]...", "+": f"{shown}...", "?": f"[{shown}]"}.get(action.nargs, shown)  # type: ignore[call-overload]
    return " ".join(filter(None, [", ".join(f"\\fB{_plain(one)}\\fR" for one in action.option_strings), shown]))


def _block(text: str) -> str:
    """Return a paragraph, an example, whose lines begin with blanks, or rows of a table; or some of each."""
    lines = [(_ROW.match(line), line) for line in text.split("\n")]
    drawn = []
    for kind, run in groupby(lines, lambda one: "row" if one[0] else "example" if one[1][:1] == " " else "text"):
        rows = [*run]
        if kind == "row":
            width = max(len(row[1]) for row, _ in rows if row) + 2
            drawn += [
                ".PP\n.PD 0",
                *(f".TP {width}\n\\fB{_plain(row[1])}\\fR\n{_plain(row[2])}" for row, _ in rows if row),
                ".PD",
            ]
        else:
            begin, end = (".PP\n.EX", "\n.EE") if kind == "example" else (".PP", "")
            drawn.append("\n".join([begin, *(_plain(line) for _, line in rows)]) + end)
    return "\n".join(drawn)


def _plain(text: str) -> str:
    """Write a line so that none of it is a request or an escape."""
    written = "".join(_SIGNS.get(sign, sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in text)
    return f"\\&{written}" if written.startswith(".") else written


if __name__ == "__main__":
    known = parsers()
    for name, its in known.items():
        Path(sys.argv[1], f"{name}.1").write_text(page(name, its, [*known]), encoding="ascii")
