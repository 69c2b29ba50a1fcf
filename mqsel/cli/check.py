"""``mqsel check``: say whether a selector is valid, and what it reads."""

from __future__ import annotations

import argparse

from mqsel.cli.arguments import Commands, add_selector, command
from mqsel.cli.desk import complain
from mqsel.errors import SelectorError
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.selector import read_selector
from mqsel.matcher import compile as compile_selector


def add(commands: Commands) -> None:
    """Add the command."""
    text = "say whether a selector is valid, and what it reads"
    add_selector(command(commands, "check", _check, text, "exit code: 0 valid, 1 not."))


def _check(arguments: argparse.Namespace) -> int:
    dialect = arguments.dialect
    try:
        compile_selector(arguments.selector, dialect=dialect)
    except SelectorError as error:
        complain(str(error))
        return 1
    selector = read_selector(arguments.selector, dialect)
    remarks = selector.remarks()
    rows = [("valid", f"{_preset(dialect)} selector"), ("tests", f"{remarks.tests}")]
    width = max(map(len, remarks.expected), default=0)
    for name, kinds in remarks.expected.items():
        rows.append(("reads", f"{name:{width}}  {' or '.join(kinds) or 'any type'}"))
    if selector.constant is not None:
        effect = "every message is selected" if selector.constant else "no message is selected"
        rows.append(("constant", f"{selector.constant}: reads no property, {effect}"))
    if selector.match_option is not None:
        name, identifier = selector.match_option
        rows.append(("option", f"{name} {identifier.hex().upper()}: a queue manager matches these bytes instead"))
    rows += [("warning", warning) for warning in remarks.warnings]
    for key, text in rows:
        print(f"{key:8}  {text}")
    return 0


def _preset(dialect: Dialect) -> str:
    return next(name for name, preset in PRESETS.items() if preset == dialect)
