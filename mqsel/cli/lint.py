"""``mqsel lint``: find parts of a selector that probably mean something else than its author intended."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from mqsel._interrupt import held
from mqsel.analysis.lint import RULES, Finding, fixed, lint
from mqsel.analysis.lint.findings import NOTE
from mqsel.cli.arguments import Commands, add_dialect, command
from mqsel.cli.report import folded, say, width_of
from mqsel.cli.rules import HEADED, described
from mqsel.cli.selectors import ABOUT_FILES, Given, add_selectors, blocks, content_of, given, of_arguments, replaced
from mqsel.errors import MqselError, caret
from mqsel.language.dialect import Dialect
from mqsel.machine.program import VERSION

_ABOUT = f"""\
exit code: 0 if nothing is worse than a note, 1 if there are warnings or errors, 2 if something went wrong.

{ABOUT_FILES}
An edit of --fix never changes which messages are selected: that is proved for each edit.

{HEADED}

examples:
  mqsel lint "color = blue"
  mqsel lint --dialect JMS --file selectors.txt
  mqsel lint --sarif --file selectors.txt > selectors.sarif
  mqsel lint --fix --file selectors.txt
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "lint", _lint, "find likely mistakes in valid selectors", _ABOUT)
    add_selectors(made)
    add_dialect(made)
    output = made.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON object for each finding")
    output.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, which code hosts show")
    output.add_argument(
        "--fix",
        action="store_true",
        help="rewrite the files with the edits, and print edited selectors of arguments and of stdin",
    )


def _lint(arguments: argparse.Namespace) -> int:
    if arguments.fix:
        return _fix(arguments)
    found = [(one, lint(one.text, arguments.dialect)) for one in given(arguments)]
    if arguments.sarif:
        print(json.dumps(sarif(found), ensure_ascii=False, indent=1))
    for one, findings in found if not arguments.sarif else ():
        for finding in findings:
            if arguments.json:
                print(json.dumps({**place(one, finding), **in_json(finding)}, ensure_ascii=False))
            else:
                show(one, finding, sys.stdout)
    if not arguments.json and not arguments.sarif:
        _sum_up(found)
    return _status(found)


_Found = Iterable[tuple[Given, list[Finding]]]


def _status(found: _Found) -> int:
    return int(any(finding.severity != NOTE for _, findings in found for finding in findings))


def _sum_up(found: list[tuple[Given, list[Finding]]]) -> None:
    findings = [one for _, many in found for one in many]
    counted = f"{len(found):,} selector{'s' * (len(found) != 1)}, {len(findings):,} finding{'s' * (len(findings) != 1)}"
    fixable = sum(bool(one.edits) for one in findings)
    say(f"mqsel: {counted}" + (f", {fixable:,} of them for --fix" if fixable else ""))


def _fix(arguments: argparse.Namespace) -> int:
    """Write selectors with their edits; what is left is said on stderr."""
    left = [_fixed(one, arguments.dialect) for one in of_arguments(arguments)]
    for one, _ in left:
        print(one.text)
    for file in arguments.file:
        content = content_of(file)
        done = [(one, _fixed(one, arguments.dialect)) for one in blocks(content, file)]
        left += [after for _, after in done]
        write(file, content, replaced(content, [(one, after.text) for one, (after, _) in done]))
    for one, findings in left:
        for finding in findings:
            show(one, finding, sys.stderr)
    _sum_up(left)
    return _status(left)


def _fixed(one: Given, dialect: Dialect) -> tuple[Given, list[Finding]]:
    text = fixed(one.text, dialect)
    return one._replace(text=text), lint(text, dialect)


def write(file: str, before: str, after: str) -> None:
    """Write a file if its text has changed; that of stdin to stdout in any case."""
    if file == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(after.encode())  # print would write other line ends on some systems
    elif after != before:
        path = Path(file)
        if not path.is_file() or path.read_bytes() != before.encode():
            raise MqselError(f"{file}: only plain files are written anew", hint="unpack it, or pass it as stdin: -")
        try:
            with held():
                path.write_bytes(after.encode())
        except OSError as error:
            raise MqselError(f"{file}: cannot be written: {error.strerror}") from error


# ---- findings in words, in JSON, in SARIF ----------------------------------------------------------------------------


def _position(one: Given, offset: int) -> tuple[int, int]:
    """Return line and column of a place in a selector, from 1: of the file, or of the selector itself."""
    before = one.text[:offset]
    return one.line + before.count("\n"), offset - (before.rfind("\n") + 1) + 1


def show(one: Given, finding: Finding, stream: TextIO) -> None:
    """Print a finding, and the place in the selector."""
    width = width_of(stream)
    line, column = _position(one, finding.span[0])
    many = "\n" in one.text
    where = f"{one.where.rpartition(':')[0]}:{line}:{column}" if one.file else one.where
    where += "" if one.file else f", line {line}, column {column}" if many else f", column {column}"
    print(folded(f"{where}: {finding.severity}: {finding.sentence} [{finding.code}]", width), file=stream)
    for drawn in caret(one.text, finding.span, width):
        print(drawn, file=stream)


def place(one: Given, finding: Finding) -> dict[str, Any]:
    """Return where a finding is, for JSON."""
    line, column = _position(one, finding.span[0])
    return {"where": one.where, "line": line, "column": column, "selector": one.text}


def in_json(finding: Finding) -> dict[str, Any]:
    """Return a finding, for JSON."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "span": finding.span,
        "sentence": finding.sentence,
        "edits": [{"span": edit.span, "text": edit.text} for edit in finding.edits],
    }


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(found: list[tuple[Given, list[Finding]]]) -> dict[str, Any]:
    """Return findings as SARIF: one run; selectors of arguments are artifacts with their text in it.

    Source: *Static Analysis Results Interchange Format (SARIF) Version 2.1.0*, §3.
    """
    numbers = {rule.code: number for number, rule in enumerate(RULES)}
    artifacts: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for one, findings in found:
        location: dict[str, Any] = {"uri": quote(Path(one.file).as_posix())}
        if not one.file or one.file == "-":
            location = {"index": len(artifacts)}
            artifacts.append({"description": {"text": one.where}, "contents": {"text": one.text}})
        start = one if one.file not in ("", "-") else one._replace(line=1)
        for finding in findings:
            result = {
                "ruleId": finding.code,
                "ruleIndex": numbers[finding.code],
                "level": finding.severity,
                "message": {"text": finding.sentence},
                "locations": [
                    {"physicalLocation": {"artifactLocation": location, "region": _region(start, finding.span)}}
                ],
            }
            if finding.edits:
                replacements = [
                    {"deletedRegion": _region(start, edit.span), "insertedContent": {"text": edit.text}}
                    for edit in finding.edits
                ]
                change = {"artifactLocation": location, "replacements": replacements}
                result["fixes"] = [{"artifactChanges": [change]}]
            results.append(result)
    run = {
        "tool": {"driver": {"name": "mqsel", "version": VERSION, "rules": [described(rule) for rule in RULES]}},
        "columnKind": "unicodeCodePoints",
        "artifacts": artifacts,
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _region(one: Given, span: tuple[int, int]) -> dict[str, int]:
    (line, column), (last, end) = _position(one, span[0]), _position(one, span[1])
    return {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}
