"""``mqsel format``: write selectors so that people can read them."""

from __future__ import annotations

import argparse

from mqsel.cli.arguments import Commands, command
from mqsel.cli.output import print_exact, print_text
from mqsel.cli.rewriting import CHECK, DIFF, PRINT, WRITE, rewrite
from mqsel.cli.selectors import ABOUT_PATHS, Given, add_selectors, complain_of, given
from mqsel.errors import SelectorError
from mqsel.inventory.edit import holds_lines
from mqsel.inventory.known import error_of
from mqsel.language.format import ONE_LINE, WIDTH, formatted
from mqsel.language.selector import read_selector

_EXAMPLES = """\
mqsel format "color='blue' and weight>2500"
mqsel format --write src/ config/
mqsel format --diff broker.xml
mqsel format --check selectors.txt\
"""
_EXITS = (
    "Success",
    "--check or --diff found something to change",
    "A selector is invalid or can't be written, or another error",
)
_ABOUT = f"""\
Keywords become uppercase. If a selector has more than {WIDTH} characters, each part of its ANDs and ORs gets a \
line. mqsel reads the result again, to be sure that it is the same selector. Invalid selectors stay as they are.

mqsel prints the selectors of arguments. For a file, it prints the file with its selectors in this layout. --write \
keeps the escaping of the file, and writes one line if the language of the file allows no more. Nothing else in the \
file changes. If a selector can't be written, mqsel says why.

{ABOUT_PATHS}"""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "write selectors in a layout that people can read"
    made = command(commands, "format", _format, text, _EXAMPLES, _EXITS, _ABOUT)
    add_selectors(made)
    output = made.add_argument_group("output (at most one)").add_mutually_exclusive_group()
    output.add_argument("--write", action="store_true", help="replace the selectors in the files")
    output.add_argument("--diff", action="store_true", help="show what --write would change, and write nothing")
    output.add_argument("--check", action="store_true", help="report which selectors would change, and write nothing")


def _format(arguments: argparse.Namespace) -> int:
    read = given(arguments)
    status = 2 if read.damaged else 0
    changes = []
    for one in read.selectors:
        made = _formatted(one)
        if made is None:
            status = 2
        elif one.entry is not None:
            changes.append((one, made))
        elif not arguments.check and not arguments.diff:
            print_exact(made)
        elif one.text != made:
            print_text(f"{one.where}: would be written otherwise")
            status = max(status, 1)
    do = WRITE if arguments.write else DIFF if arguments.diff else CHECK if arguments.check else PRINT
    outcome = rewrite(read, changes, arguments, do, is_layout=True)
    if outcome.refused:
        return 2
    return max(status, int(outcome.changed > 0 and do in (DIFF, CHECK)))


def _formatted(one: Given) -> str | None:
    """Lay a selector out; an invalid one is complained of, and one that cannot be known stays as it is."""
    if one.reason:
        error = error_of(one.source, one.dialect)
        if error is None:
            return one.text
    else:
        try:
            selector = read_selector(one.text, one.dialect)
        except SelectorError as raised:
            error = raised
        else:
            has_lines = one.entry is None or (one.entry.text is not None and holds_lines(one.entry.text))
            return formatted(selector, WIDTH if has_lines else ONE_LINE)
    complain_of(one, error)
    return None
