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
from mqsel.language.layout import ONE_LINE, WIDTH, laid_out
from mqsel.language.selector import read_selector

_ABOUT = f"""\
Keywords are in capitals; a selector of more than {WIDTH} characters has a line for each part of its ANDs and ORs.
It stays the same selector: the result is read again and compared. An invalid selector is left as it is.
Selectors of arguments are printed, and so are files with their selectors in that layout. --write puts these in the
place of the files: each selector in the escaping of its file, and in one line where the file's language has no others.
Nothing else is touched. What cannot be written is left as it is, with a reason.

exit code: 0 if all is well, 1 if --check or --diff finds something to change, 2 if a selector is invalid, or cannot be
written, or something went wrong.

{ABOUT_PATHS}
examples:
  mqsel format "color='blue' and weight>2500"
  mqsel format selectors.txt
  mqsel format --write src/ config/
  mqsel format --diff broker.xml
  mqsel format --check selectors.txt
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "format", _format, "write selectors so that people can read them", _ABOUT)
    add_selectors(made)
    output = made.add_mutually_exclusive_group()
    output.add_argument("--write", action="store_true", help="write the files anew, where they stand")
    output.add_argument("--diff", action="store_true", help="show what --write would write, and write nothing")
    output.add_argument("--check", action="store_true", help="write nothing; report what would change")


def _format(arguments: argparse.Namespace) -> int:
    read = given(arguments)
    status = 2 if read.damaged else 0
    changes = []
    for one in read.selectors:
        made = _laid_out(one)
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


def _laid_out(one: Given) -> str | None:
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
            return laid_out(selector, WIDTH if has_lines else ONE_LINE)
    complain_of(one, error)
    return None
