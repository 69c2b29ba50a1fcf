"""``mqsel lint``: find parts of a selector that probably mean something else than its author intended."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from mqsel.analysis.lint import RULES, Finding, fixed
from mqsel.analysis.lint.findings import NOTE, Edit
from mqsel.cli.arguments import Commands, command
from mqsel.cli.report import folded, print_json, say, width_of
from mqsel.cli.rewriting import DIFF, WRITE, rewrite
from mqsel.cli.selectors import ABOUT_PATHS, AllGiven, Given, add_selectors, given
from mqsel.errors import caret, visible
from mqsel.inventory import Entry
from mqsel.inventory.edit import Part, replacement
from mqsel.inventory.known import findings_of
from mqsel.machine.program import VERSION

_WIDTH = max(len(rule.code) for rule in RULES)
_ABOUT = f"""\
exit code: 0 if nothing is worse than a note, 1 if there are warnings or errors, 2 if something went wrong, such \
as a damaged file, or an edit that cannot be written. With --diff: 1 if there is something to write.

{ABOUT_PATHS}
An edit of --fix never changes which messages are selected: that is proved for each edit. It is written where the
selector stands, in the escaping of the file, and nothing else is touched; what cannot be written is left as it is, with
a reason.

{"rule":{_WIDTH}}  what it finds
{chr(10).join(f"{rule.code:{_WIDTH}}  {rule.severity}: {rule.about}" for rule in RULES)}

examples:
  mqsel lint "color = blue"
  mqsel lint src/ config/
  mqsel lint --dialect JMS --as lines selectors.txt
  mqsel lint --sarif src/ > selectors.sarif
  mqsel lint --fix src/ config/
  mqsel lint --diff subs.mqsc
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "lint", _lint, "find likely mistakes in valid selectors", _ABOUT)
    add_selectors(made)
    output = made.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON object for each finding")
    output.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, which code hosts show")
    output.add_argument(
        "--fix",
        action="store_true",
        help="write the edits into the files, and print edited selectors of arguments, and stdin with its edits",
    )
    output.add_argument("--diff", action="store_true", help="show what --fix would write, and write nothing")


def _lint(arguments: argparse.Namespace) -> int:
    read = given(arguments)
    if arguments.fix or arguments.diff:
        return _fix(arguments, read)
    found = [(one, findings_of(one.source, one.dialect)) for one in read.selectors]
    if arguments.sarif:
        print_json(sarif(found, read.damaged), indent=1)
    for one, findings in found if not arguments.sarif else ():
        if arguments.json:
            for finding in findings:
                print_json({**place(one, finding.span), **in_json(finding)})
            if one.reason:
                print_json({**place(one, (0, 0)), "reason": one.reason})
        else:
            show(one, findings, sys.stdout)
    if not arguments.json and not arguments.sarif:
        _sum_up(found)
    return 2 if read.damaged else _status(found)


_Found = Iterable[tuple[Given, list[Finding]]]


def _status(found: _Found) -> int:
    return int(any(finding.severity != NOTE for _, findings in found for finding in findings))


def _sum_up(found: list[tuple[Given, list[Finding]]]) -> None:
    findings = [one for _, many in found for one in many]
    unknown = sum(bool(one.reason) for one, _ in found)
    fixable = sum(bool(one.edits) for one in findings)
    counts = (
        f"{len(found):,} selector{'s' * (len(found) != 1)}",
        f"{unknown:,} that cannot be known" * bool(unknown),
        f"{len(findings):,} finding{'s' * (len(findings) != 1)}",
        f"{fixable:,} of them for --fix" * bool(fixable),
    )
    say(f"mqsel: {', '.join(filter(None, counts))}")


def _fix(arguments: argparse.Namespace, read: AllGiven) -> int:
    """Write selectors with their edits; what is left is said on stderr."""
    changes = [(one, one.text if one.reason else fixed(one.text, one.dialect)) for one in read.selectors]
    for one, text in changes:
        if one.entry is None:
            print(text)
    in_files = [(one, text) for one, text in changes if one.entry is not None]
    outcome = rewrite(read, in_files, arguments, DIFF if arguments.diff else WRITE)
    now = [*[one._replace(text=text) for one, text in changes if one.entry is None], *outcome.after]
    left = [(one, findings_of(one.source, one.dialect)) for one in now]
    for one, findings in left if not arguments.diff else ():
        show(one, findings, sys.stderr)
    _sum_up(left)
    if read.damaged or outcome.refused:
        return 2
    return int(outcome.changed > 0) if arguments.diff else _status(left)


# ---- findings in words, in JSON, in SARIF ----------------------------------------------------------------------------


def show(one: Given, findings: list[Finding], stream: TextIO) -> None:
    """Print findings of a selector, each with the place in it, and why it cannot be known, if so."""
    width = width_of(stream)
    for finding in findings:
        said = f"{finding.severity}: {visible(finding.sentence)} [{finding.code}]"
        print(folded(f"{one.place(finding.span)}: {said}", width), file=stream)
        for drawn in caret(one.text, finding.span, width):
            print(drawn, file=stream)
    if one.reason:
        print(folded(f"{one.where}: unknown: {one.reason}", width), file=stream)
        for drawn in caret(one.text, (0, 0), width)[:1] if one.text.strip("…") else ():
            print(drawn, file=stream)


def place(one: Given, span: tuple[int, int]) -> dict[str, Any]:
    """Return where a span of a selector is, for JSON."""
    line, column, *_ = one.region(span)
    known = {} if one.entry is None else {name: getattr(one.entry, name) for name in ("key", "kind", "file")}
    return {"where": one.where, **known, "line": line, "column": column, "selector": one.text}


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


def sarif(found: list[tuple[Given, list[Finding]]], damaged: list[Entry]) -> dict[str, Any]:
    """Return findings as SARIF: one run; selectors of arguments are artifacts with their text in it.

    What cannot be known, and files that are damaged, are notifications of the tool.

    Source: *Static Analysis Results Interchange Format (SARIF) Version 2.1.0*, §3.
    """
    numbers = {rule.code: number for number, rule in enumerate(RULES)}
    artifacts: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    notifications = [_notification(one.reason, "error", _of_file(one.file), (one.line, one.column)) for one in damaged]
    for one, findings in found:
        if one.entry is None or one.entry.file == "-":
            location: dict[str, Any] = {"index": len(artifacts)}
            artifacts.append({"description": {"text": one.where}, "contents": {"text": one.text}})
            start = one._replace(entry=None)
        else:
            location, start = _of_file(one.entry.file), one
        if one.reason:
            notifications.append(_notification(one.reason, "note", location, start.region((0, 0))[:2]))
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
            texts = [_in_file(start, edit) for edit in finding.edits]
            if texts and None not in texts:
                replacements = [
                    {"deletedRegion": _region(start, edit.span), "insertedContent": {"text": text}}
                    for edit, text in zip(finding.edits, texts, strict=True)
                ]
                change = {"artifactLocation": location, "replacements": replacements}
                result["fixes"] = [{"artifactChanges": [change]}]
            results.append(result)
    rules = [
        {
            "id": rule.code,
            "shortDescription": {"text": rule.about},
            "defaultConfiguration": {"level": rule.severity},
        }
        for rule in RULES
    ]
    run = {
        "tool": {"driver": {"name": "mqsel", "version": VERSION, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "artifacts": artifacts,
        "invocations": [{"executionSuccessful": not damaged, "toolExecutionNotifications": notifications}],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _of_file(file: str) -> dict[str, Any]:
    return {"uri": quote(Path(file).as_posix())}


def _notification(reason: str, level: str, location: dict[str, Any], at: tuple[int, ...]) -> dict[str, Any]:
    region = {"startLine": at[0], "startColumn": at[1]}
    place = {"physicalLocation": {"artifactLocation": location, "region": region}}
    return {"level": level, "message": {"text": reason}, "locations": [place]}


def _in_file(one: Given, edit: Edit) -> str | None:
    """Return what an edit writes into the file of a selector; None where that is not in one place."""
    if one.entry is None or one.entry.text is None:
        return edit.text
    return replacement(one.entry.text, Part(*edit.span, edit.text))


def _region(one: Given, span: tuple[int, int]) -> dict[str, int]:
    line, column, last, end = one.region(span)
    return {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}
