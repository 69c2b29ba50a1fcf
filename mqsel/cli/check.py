"""``mqsel check``: report whether selectors are valid, and what they read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from mqsel.analysis.lint import lint
from mqsel.arguments import check_total
from mqsel.carets import in_one_line, plural
from mqsel.cli.arguments import Commands, command
from mqsel.cli.choice import RuleChoice
from mqsel.cli.lint import in_json, place
from mqsel.cli.output import complain, print_json, print_text
from mqsel.cli.selectors import ABOUT_PATHS, Given, add_selectors, complain_of, configuration_of, given
from mqsel.errors import SelectorError
from mqsel.inventory.known import error_of, is_checked
from mqsel.language.dialect import PRESETS
from mqsel.language.selector import read_selector

_EXAMPLES = """\
mqsel check "color = 'blue'"
mqsel check subs.mqsc src/
mqsel check --dialect JMS -e color --file selectors.txt
mqsel check --json "color = 'blue'" "weight > 2500"\
"""
_EXITS = ("Every selector is valid", "", "A selector is invalid, or another error")


def add(commands: Commands) -> None:
    """Add the command."""
    text = "report whether selectors are valid, and which properties they read"
    check = command(commands, "check", _check, text, _EXAMPLES, _EXITS, ABOUT_PATHS)
    add_selectors(check)
    output = check.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object for each selector")


def _check(arguments: argparse.Namespace) -> int:
    choice = RuleChoice(configuration_of(arguments))
    found = given(arguments)
    valid = invalid = unknown = 0
    is_many = len(found.selectors) != 1 or any(one.entry is not None for one in found.selectors)
    for one in found.selectors:
        error = error_of(one.source, one.dialect)
        invalid += error is not None
        unknown += error is None and bool(one.reason)
        valid += error is None and not one.reason
        if error is not None:
            answer = _in_json(one, error)
            if not arguments.json:
                complain_of(one, error, is_many=is_many)
        else:
            answer = _unknown(one) if one.reason else _read(one, choice)
            if not arguments.json:
                if is_many:
                    print_text(f"{one.where}: {in_one_line(one.text)}")
                for line in _lines(answer):
                    print_text(f"  {line}" if is_many else line, indent=" " * 12, is_colored=True)
        if arguments.json:
            print_json({**place(one, (0, 0)), **answer})
    count, damaged = len(found.selectors), len(found.damaged)
    check_total(count, valid, invalid, unknown)
    if is_many and not arguments.json:
        complain(
            f"{plural(count, 'selector')}, {invalid:,} invalid"
            + f", {unknown:,} incomplete" * bool(unknown)
            + f", {plural(damaged, 'place')} not read" * bool(damaged)
        )
    return 2 if invalid or found.damaged else 0


def _unknown(one: Given) -> dict[str, Any]:
    """Return what there is to know of a selector that is known in part, of which nothing is wrong."""
    is_whole = is_checked(one.source, one.dialect)
    said = "the part that mqsel can read is valid" if is_whole else "mqsel can't check its syntax"
    return {"valid": True if is_whole else None, "reason": one.reason, "sentence": f"{one.reason}; {said}"}


def _read(one: Given, choice: RuleChoice) -> dict[str, Any]:
    """Return what there is to know of a valid selector."""
    selector = read_selector(one.text, one.dialect)
    remarks = selector.remarks()
    option = selector.match_option
    return {
        "valid": True,
        "dialect": next(name for name, preset in PRESETS.items() if preset == one.dialect),
        "tests": remarks.tests,
        "reads": {name: list(kinds) for name, kinds in remarks.expected.items()},
        "constant": None if selector.constant is None else str(selector.constant),
        "option": None if option is None else {"name": option.name, "identifier": option.identifier.hex().upper()},
        "findings": [in_json(finding) for finding in choice.chosen(one, lint(one.text, one.dialect))],
    }


def _in_json(one: Given, error: SelectorError) -> dict[str, Any]:
    assert error.reason is not None
    line, column, *_ = one.region(error.span)
    return {
        "valid": False,
        "error": error.message,
        "line": line,
        "column": column,
        "span": error.span,
        "reason": error.reason.name,
        "code": error.reason.value,
        "hint": error.hint,
    }


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if "reason" in found:
        yield f"incomplete  {found['sentence']}"
        return
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
    for key, text in rows:
        yield f"{key:8}  {text}"
