"""``mqsel check``: report whether selectors are valid, and what they read."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from mqsel.analysis.lint import lint
from mqsel.cli.arguments import Commands, add_dialect, command
from mqsel.cli.lint import in_json
from mqsel.cli.report import complain, folded, width_of
from mqsel.cli.selectors import ABOUT_FILES, add_selectors, given
from mqsel.errors import SelectorError
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.selector import read_selector
from mqsel.matcher import compile as compile_selector

_EXAMPLES = f"""\
exit code: 0 if every selector is valid, 2 if one is not or something else went wrong.

{ABOUT_FILES}
examples:
  mqsel check "color = 'blue'"
  mqsel check --dialect JMS --file selectors.txt
  mqsel check --json "color = 'blue'" "weight > 2500"
"""


def add(commands: Commands) -> None:
    """Add the command."""
    check = command(commands, "check", _check, "report whether selectors are valid, and what they read", _EXAMPLES)
    add_selectors(check)
    add_dialect(check)
    check.add_argument("--json", action="store_true", help="print one JSON object for each selector")


def _check(arguments: argparse.Namespace) -> int:
    width = width_of(sys.stdout)
    checked = invalid = 0
    is_many = len(arguments.selectors) > 1 or bool(arguments.file)
    for where, text, *_ in given(arguments):
        checked += 1
        try:
            found = _read(text, arguments.dialect)
        except SelectorError as error:
            invalid += 1
            if arguments.json:
                print(json.dumps({"where": where, "selector": text, **_in_json(error)}, ensure_ascii=False))
            else:
                complain(error, f"{where}: " if is_many else "")
            continue
        if arguments.json:
            print(json.dumps({"where": where, "selector": text, **found}, ensure_ascii=False))
            continue
        if is_many:
            print(f"{where}: {text}")
        for line in _lines(found):
            print(folded(f"  {line}" if is_many else line, width, " " * 12))
    if is_many and not arguments.json:
        complain(f"{checked:,} selector{'s' * (checked != 1)}, {invalid:,} invalid")
    return 2 if invalid else 0


def _read(text: str, dialect: Dialect) -> dict[str, Any]:
    """Return what there is to know of a valid selector.

    Raises: SelectorError.
    """
    compile_selector(text, dialect=dialect)
    selector = read_selector(text, dialect)
    remarks = selector.remarks()
    option = selector.match_option
    return {
        "valid": True,
        "dialect": next(name for name, preset in PRESETS.items() if preset == dialect),
        "tests": remarks.tests,
        "reads": {name: list(kinds) for name, kinds in remarks.expected.items()},
        "constant": None if selector.constant is None else str(selector.constant),
        "option": None if option is None else {"name": option.name, "identifier": option.identifier.hex().upper()},
        "findings": [in_json(finding) for finding in lint(text, dialect)],
    }


def _in_json(error: SelectorError) -> dict[str, Any]:
    assert error.reason is not None
    return {
        "valid": False,
        "error": error.message,
        "line": error.line,
        "column": error.column,
        "span": error.span,
        "reason": error.reason.name,
        "code": error.reason.value,
        "hint": error.hint,
    }


def _lines(found: dict[str, Any]) -> Iterator[str]:
    rows = [("valid", f"{found['dialect']} selector"), ("tests", str(found["tests"]))]
    width = max(map(len, found["reads"]), default=0)
    rows += [("reads", f"{name:{width}}  {' or '.join(kinds) or 'any type'}") for name, kinds in found["reads"].items()]
    if found["constant"] is not None:
        effect = "every message is selected" if found["constant"] == "TRUE" else "no message is selected"
        rows.append(("constant", f"{found['constant']}: reads no property, {effect}"))
    if found["option"] is not None:
        option = f"{found['option']['name']} {found['option']['identifier']}"
        rows.append(("option", f"{option}: a queue manager matches these bytes instead"))
    rows += [(one["severity"], f"{one['sentence']} [{one['code']}]") for one in found["findings"]]
    return (f"{key:8}  {text}" for key, text in rows)
