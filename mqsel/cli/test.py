"""``mqsel test``: run the cases of files, and print what became of each as TAP, as JSON, or as JUnit's XML."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from mqsel.cli.arguments import Commands, command
from mqsel.cli.configuration import configured
from mqsel.cli.output import print_json, print_text, say, write_file
from mqsel.errors import visible
from mqsel.testing.cases import Verdict, judged, read_cases

_EXAMPLES = """\
A case is a JSON object; a file has one on each line, or an array of them:
  {"name": "heavy", "selector": "weight > 2500", "message": {"weight": 3000}, "want": true}
  {"inventory": "bridges.conf", "key": "orders", "message": {"weight": {"int32": 5}}, "want": "UNKNOWN"}
  {"selector": "a != 1", "dialect": "JMS", "message": {}, "want": "refused"}
want is true, false, "TRUE", "FALSE", "UNKNOWN", or "refused" if the dialect refuses the selector. In the place of a
selector may stand a file of selectors, named from the folder of the cases, and the key of one of them.

exit code: 0 if all cases passed, 1 if one did not, 2 if a file has no cases or something else went wrong.

examples:
  mqsel test cases.jsonl
  mqsel test --junit report.xml tests/*.cases.json
"""


def add(commands: Commands) -> None:
    """Add the command."""
    test = command(commands, "test", _test, "run the cases of files: selector, message, what is wanted", _EXAMPLES)
    test.add_argument("files", metavar="CASES", nargs="+", help="files of cases, in JSON")
    test.add_argument("--json", action="store_true", help="print one JSON object for each case, instead of TAP")
    test.add_argument("--junit", metavar="FILE", help="also write a report as JUnit does, in XML")


def _test(arguments: argparse.Namespace) -> int:
    configuration = configured()
    cases = [case for file in arguments.files for case in read_cases(file, configuration.dialect_of)]
    verdicts = [judged(case) for case in cases]
    if not arguments.json:
        print_text("TAP version 14")
        print_text(f"1..{len(verdicts)}")
    for number, verdict in enumerate(verdicts, 1):
        if arguments.json:
            case = {name: getattr(verdict.case, name) for name in ("name", "file", "number", "want")}
            why = "" if verdict.passed else verdict.why
            print_json({**case, "answer": verdict.answer, "passed": verdict.passed, "why": why})
        else:
            for line in _in_tap(number, verdict):
                print_text(line)
    if arguments.junit:
        _write_junit(arguments.junit, verdicts)
    failed = sum(not verdict.passed for verdict in verdicts)
    say(f"{len(verdicts):,} case{'s' * (len(verdicts) != 1)}, {failed:,} failed")
    return int(failed > 0)


def _summary(verdict: Verdict) -> str:
    want = verdict.case.want
    wanted = want if isinstance(want, str) else "selected" if want else "not selected"
    return f"{verdict.case.file}: case {verdict.case.number}: wanted {wanted}, found {verdict.answer}"


def _in_tap(number: int, verdict: Verdict) -> Iterator[str]:
    # What TAP reads in a name: a directive behind #, and the escape of it.
    name = " ".join(verdict.case.name.split()).replace("\\", "\\\\").replace("#", "\\#")
    yield f"{'' if verdict.passed else 'not '}ok {number} - {name}"
    if not verdict.passed:
        yield from ["  ---", "  message: |", f"    {_summary(verdict)}"]
        yield from (f"    {line}" for line in verdict.why.split("\n"))
        yield "  ..."


def _write_junit(path: str, verdicts: list[Verdict]) -> None:
    from xml.etree import ElementTree as ET  # noqa: PLC0415 (its usual name; for this option alone)

    failed = sum(not verdict.passed for verdict in verdicts)
    suite = ET.Element("testsuite", name="mqsel", tests=str(len(verdicts)), failures=str(failed))
    for verdict in verdicts:
        one = ET.SubElement(suite, "testcase", name=visible(verdict.case.name), classname=visible(verdict.case.file))
        if not verdict.passed:
            failure = ET.SubElement(one, "failure", message=visible(_summary(verdict)))
            failure.text = "\n".join(map(visible, verdict.why.split("\n")))
    write_file(path, [ET.tostring(suite, encoding="utf-8", xml_declaration=True).decode()])
