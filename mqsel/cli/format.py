"""``mqsel format``: write selectors so that people can read them."""

from __future__ import annotations

import argparse

from mqsel.cli.arguments import Commands, add_dialect, command
from mqsel.cli.lint import write
from mqsel.cli.report import complain
from mqsel.cli.selectors import ABOUT_FILES, Given, add_selectors, blocks, content_of, of_arguments, replaced
from mqsel.errors import SelectorError
from mqsel.files.framings import shown
from mqsel.language.dialect import Dialect
from mqsel.language.layout import WIDTH, laid_out
from mqsel.language.selector import read_selector

_ABOUT = f"""\
Keywords are in capitals; a selector of more than {WIDTH} characters has a line for each part of its ANDs and ORs.
It stays the same selector: the result is read again and compared.
Files are rewritten, selectors of arguments and of stdin are printed. An invalid selector is left as it is.

exit code: 0 if all is well, 1 if --check finds something to change, 2 if a selector is invalid or something went wrong.

{ABOUT_FILES}
examples:
  mqsel format "color='blue' and weight>2500"
  mqsel format --file selectors.txt
  mqsel format --check --file selectors.txt
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "format", _format, "write selectors so that people can read them", _ABOUT)
    add_selectors(made)
    add_dialect(made)
    made.add_argument("--check", action="store_true", help="write nothing; report what would change")


def _format(arguments: argparse.Namespace) -> int:
    status = 0
    for one in of_arguments(arguments):
        made = _laid_out(one, arguments.dialect)
        if made is None:
            status = 2
        elif arguments.check:
            status = max(status, _changes(one.where, one.text, made))
        else:
            print(made)
    for file in arguments.file:
        content = content_of(file)
        done = [(one, _laid_out(one, arguments.dialect)) for one in blocks(content, file)]
        line_end = "\r\n" if "\r\n" in content else "\n"
        changes = [(one, made.replace("\n", line_end)) for one, made in done if made is not None]
        after = replaced(content, changes)
        if any(made is None for _, made in done):
            status = 2
        if arguments.check:
            status = max(status, _changes(shown(file), content, after))
        else:
            write(file, content, after)
    return status


def _changes(where: str, before: str, after: str) -> int:
    if before != after:
        print(f"{where}: would be written otherwise")
    return int(before != after)


def _laid_out(one: Given, dialect: Dialect) -> str | None:
    """Lay a selector out; an invalid one is complained of."""
    try:
        return laid_out(read_selector(one.text, dialect))
    except SelectorError as error:
        complain(error, f"{one.where}: ")
        return None
