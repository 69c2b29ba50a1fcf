"""``mqsel lint``: find parts of a selector that probably mean something else than its author intended."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from mqsel.analysis.lint import RULES, Finding, finding_of_place, fixed
from mqsel.analysis.lint.findings import NOTE
from mqsel.arguments import check_total
from mqsel.carets import caret, carets, nameable, plural
from mqsel.cli import baseline
from mqsel.cli.arguments import Commands, add_given, command, contract_of
from mqsel.cli.choice import RuleChoice, add_choice, known_as
from mqsel.cli.output import print_exact, print_json, print_text, say, width_of
from mqsel.cli.rewriting import DIFF, WRITE, RewriteOutcome, rewrite
from mqsel.cli.rules import LISTED, described, explained
from mqsel.cli.selectors import AllGiven, Given, add_selectors, configuration_of, given
from mqsel.files.configuration import KEYS
from mqsel.inventory import Entry
from mqsel.inventory.edit import FileEdit, replacement
from mqsel.inventory.known import findings_of
from mqsel.machine.program import VERSION

_EXAMPLES = """\
mqsel lint "color = blue"
mqsel lint --given contract.json --fix src/ config/
mqsel lint --write-baseline known.json src/ && mqsel lint --baseline known.json src/\
"""
_EXITS = (
    "No finding is worse than a note",
    "There are warnings or errors; with --diff, --fix has something to write",
    "An error, or an edit that can't be written",
)
_ABOUT = f"""\
--fix makes only edits for which mqsel proves that the same messages match. An edit keeps the escaping of the file, \
and changes nothing else. If mqsel can't write an edit, it says why.

To silence rules, write a comment after the selector or on the line before it: mqsel: ignore[RULE, …], or mqsel: \
ignore for all rules.

You can set {", ".join(KEYS)} in pyproject.toml (as [tool.mqsel]) or mqsel.toml, here or above. Options override \
them.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "lint", _lint, "find likely mistakes in valid selectors", _EXAMPLES, _EXITS, _ABOUT)
    group = add_selectors(made)
    add_given(group, "also report tests with the same result for all messages")
    add_choice(made.add_argument_group("rules"))
    output = made.add_argument_group("output (at most one)").add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON object for each finding")
    output.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, which code hosts show")
    output.add_argument("--statistics", action="store_true", help="print the number of findings for each rule")
    output.add_argument("--fix", action="store_true", help="edit the files; print edited arguments and stdin")
    output.add_argument("--diff", action="store_true", help="show what --fix would change, and write nothing")
    output.add_argument("--list-rules", action="store_true", help="print all rules")
    output.add_argument("--explain", metavar="RULE", help="print what RULE finds and why, with an example")


def _lint(arguments: argparse.Namespace) -> int:
    if arguments.list_rules or arguments.explain:
        text = LISTED if arguments.list_rules else explained(arguments.explain)
        for line in text.splitlines():
            print_text(line, indent=" " * 12 if line[:1] == " " else "")
        return 0
    configuration = configuration_of(arguments)
    path = "" if arguments.write_baseline else arguments.baseline or configuration.baseline
    choice = RuleChoice(configuration, arguments.select, arguments.ignore, path)
    read = given(arguments)
    contracts = {dialect: contract_of(arguments, dialect) for dialect in {one.dialect for one in read.selectors}}

    def look(one: Given) -> list[Finding]:
        of_place = [finding_of_place(code, one.text) for code in one.entry.rules] if one.entry is not None else []
        return [*findings_of(one.source, one.dialect, contracts[one.dialect], choice.looked_by(one)), *of_place]

    outcome = RewriteOutcome([], 0, 0)
    if arguments.fix or arguments.diff:
        found, outcome = _fix(arguments, read, choice, look)
    else:
        found = [(one, choice.chosen(one, look(one))) for one in read.selectors]
    check_total(len(read.selectors), len(found))
    if arguments.write_baseline:
        _write_baseline(arguments.write_baseline, found)
        return 2 if read.damaged else 0
    if arguments.sarif:
        print_json(sarif(found, read.damaged), indent=1)
    elif arguments.json:
        _print_json(found)
    elif arguments.statistics:
        _print_statistics(found)
    elif not arguments.diff:
        for one, findings in found:
            show(one, findings, sys.stderr if arguments.fix else sys.stdout)
    if not arguments.json and not arguments.sarif:
        _sum_up(found, choice.known, len(read.damaged))
    if read.damaged or outcome.refused:
        return 2
    if arguments.diff:
        return int(outcome.changed > 0)
    return int(
        not arguments.exit_zero and any(finding.severity != NOTE for _, findings in found for finding in findings)
    )


_Found = list[tuple[Given, list[Finding]]]


def _sum_up(found: _Found, known: int, damaged: int) -> None:
    findings = [one for _, many in found for one in many]
    unknown = sum(bool(one.reason) for one, _ in found)
    fixable = sum(bool(one.edits) for one in findings)
    counts = (
        plural(len(found), "selector"),
        f"{unknown:,} incomplete" * bool(unknown),
        f"{plural(damaged, 'place')} not read" * bool(damaged),
        plural(len(findings), "finding"),
        f"{fixable:,} of them for --fix" * bool(fixable),
        f"{known:,} more in the baseline" * bool(known),
    )
    say(f"mqsel: {', '.join(filter(None, counts))}")


def _write_baseline(path: str, found: _Found) -> None:
    known: baseline.Known = {}
    for one, findings in found:
        if findings:
            known.setdefault(known_as(one, path), Counter()).update(finding.code for finding in findings)
    baseline.write(path, known)
    count = sum(len(findings) for _, findings in found)
    say(f"mqsel: {path}: {plural(count, 'finding')}")


def _print_json(found: _Found) -> None:
    for one, findings in found:
        for finding in findings:
            print_json({**place(one, finding.span), **in_json(finding)})
        if one.reason:
            print_json({**place(one, (0, 0)), "reason": one.reason})


def _print_statistics(found: _Found) -> None:
    counts = Counter(finding.code for _, findings in found for finding in findings)
    rules = {rule.code: rule for rule in RULES}
    wide = max(map(len, counts), default=0)
    for code, count in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
        print_text(f"{count:6,}  {code:{wide}}  {rules[code].severity}: {rules[code].about}", is_cut=True)


def _fix(
    arguments: argparse.Namespace, read: AllGiven, choice: RuleChoice, look: Callable[[Given], list[Finding]]
) -> tuple[_Found, RewriteOutcome]:
    """Write selectors with their edits; return what is left, and what became of the files."""
    texts = [one.text if one.reason else fixed(one.text, one.dialect, choice.edited(one)) for one in read.selectors]
    pairs = [*zip(read.selectors, texts, strict=True)]
    given_alone = [(one, text) for one, text in pairs if one.entry is None]
    for _, text in given_alone:
        print_exact(text)
    in_files = [(one, text) for one, text in pairs if one.entry is not None]
    outcome = rewrite(read, in_files, arguments, DIFF if arguments.diff else WRITE)
    now = [*[one._replace(text=text) for one, text in given_alone], *outcome.after]
    left = [
        (after, choice.chosen(before, look(after)))
        for (before, _), after in zip([*given_alone, *in_files], now, strict=True)
    ]
    return left, outcome


# ---- findings in words, in JSON, in SARIF ----------------------------------------------------------------------------


def show(one: Given, findings: list[Finding], stream: TextIO) -> None:
    """Print findings of a selector, and why it is incomplete, if so; then its text, with carets under all places."""
    for finding in findings:
        line = f"{one.place(finding.span)}: {finding.severity}: {finding.sentence} [{finding.code}]"
        print_text(line, indent="    ", is_colored=True, stream=stream)
    if one.reason:
        print_text(f"{one.where}: unknown: {one.reason}", indent="    ", stream=stream)
    width = width_of(stream)
    drawn = carets(one.text, [finding.span for finding in findings], width)
    if one.reason and not findings and one.text.strip("…"):
        drawn = caret(one.text, (0, 0), width)[:1]
    for line in drawn:
        print_text(line, is_colored=True, stream=stream)


def place(one: Given, span: tuple[int, int]) -> dict[str, Any]:
    """Return where a span of a selector is, for JSON."""
    line, column, *_ = one.region(span)
    entry = one.entry
    known = {} if entry is None else {"key": entry.key, "kind": entry.kind, "file": nameable(entry.file)}
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
            written = None if start.entry is None else start.entry.text
            texts = [
                edit.text if written is None else replacement(written, FileEdit(*edit.span, edit.text))
                for edit in finding.edits
            ]
            if texts and None not in texts:
                replacements = [
                    {"deletedRegion": _region(start, edit.span), "insertedContent": {"text": text}}
                    for edit, text in zip(finding.edits, texts, strict=True)
                ]
                change = {"artifactLocation": location, "replacements": replacements}
                result["fixes"] = [{"artifactChanges": [change]}]
            results.append(result)
    check_total(sum(len(findings) for _, findings in found), len(results), of="findings")
    run = {
        "tool": {"driver": {"name": "mqsel", "version": VERSION, "rules": [described(rule) for rule in RULES]}},
        "columnKind": "unicodeCodePoints",
        "artifacts": artifacts,
        "invocations": [{"executionSuccessful": not damaged, "toolExecutionNotifications": notifications}],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _of_file(file: str) -> dict[str, Any]:
    """Return where a file is: an address, or a path as it was given: code hosts begin at the repository's root."""
    if "://" in file:
        return {"uri": quote(nameable(file), safe="/:?&=%@+", errors="surrogatepass")}
    path = Path(file)
    return {"uri": path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))}


def _notification(reason: str, level: str, location: dict[str, Any], at: tuple[int, ...]) -> dict[str, Any]:
    region = {"startLine": at[0], "startColumn": at[1]}
    place = {"physicalLocation": {"artifactLocation": location, "region": region}}
    return {"level": level, "message": {"text": reason}, "locations": [place]}


def _region(one: Given, span: tuple[int, int]) -> dict[str, int]:
    line, column, last, end = one.region(span)
    return {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}
