"""``mqsel format``: write selectors so that people can read them."""

from __future__ import annotations

import argparse

from mqsel.cli.arguments import Commands, command
from mqsel.cli.lint import write_back
from mqsel.cli.selectors import ABOUT_PATHS, Given, add_selectors, complain_of, given
from mqsel.errors import SelectorError
from mqsel.inventory.known import error_of
from mqsel.language.layout import WIDTH, laid_out
from mqsel.language.selector import read_selector

_ABOUT = f"""\
Keywords are in capitals; a selector of more than {WIDTH} characters has a line for each part of its ANDs and ORs.
It stays the same selector: the result is read again and compared.
Files are rewritten, selectors of arguments and of stdin are printed. An invalid selector is left as it is.

exit code: 0 if all is well, 1 if --check finds something to change, 2 if a selector is invalid or something went wrong.

{ABOUT_PATHS}
examples:
  mqsel format "color='blue' and weight>2500"
  mqsel format selectors.txt
  mqsel format --check selectors.txt
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "format", _format, "write selectors so that people can read them", _ABOUT)
    add_selectors(made)
    made.add_argument("--check", action="store_true", help="write nothing; report what would change")


def _format(arguments: argparse.Namespace) -> int:
    read = given(arguments)
    status = 2 if read.damaged else 0
    changes = []
    for one in read.selectors:
        made = _laid_out(one)
        if made is None:
            status = 2
        elif arguments.check:
            status = max(status, _changes(one.where, one.text.replace("\r\n", "\n"), made))
        elif one.entry is None:
            print(made)
        else:
            changes.append((one, made))
    return status if write_back(read, changes) else 2


def _changes(where: str, before: str, after: str) -> int:
    if before != after:
        print(f"{where}: would be written otherwise")
    return int(before != after)


def _laid_out(one: Given) -> str | None:
    """Lay a selector out; an invalid one is complained of, and one that cannot be known stays as it is."""
    if one.reason:
        error = error_of(one.source, one.dialect)
        if error is None:
            return one.text
    else:
        try:
            return laid_out(read_selector(one.text, one.dialect))
        except SelectorError as raised:
            error = raised
    complain_of(one, error)
    return None
