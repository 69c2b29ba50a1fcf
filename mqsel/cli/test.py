"""``mqsel test``: run the cases of files, and print what became of each as TAP, as JSON, or as JUnit's XML."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from mqsel.carets import visible
from mqsel.cli.arguments import Commands, command
from mqsel.cli.configuration import configured
from mqsel.cli.output import print_json, print_text, say, write_file
from mqsel.testing.cases import Verdict, judged, read_cases

_EXAMPLES = """\
mqsel test cases.jsonl
mqsel test --junit report.xml tests/*.cases.json\
"""
_EXITS = ("All cases passed", "A case failed", "A file has no cases, or another error")
_ABOUT = """\
A case is a JSON object. Write one on each line of a file, or write an array:
  {"name": "heavy", "selector": "weight > 2500", "message": {"weight": 3000}, "want": true}
  {"inventory": "bridges.conf", "key": "orders", "message": {"weight": 5}, "want": "UNKNOWN"}
  {"selector": "a != 1", "dialect": "JMS", "message": {}, "want": "refused"}

"want" is true, false, "TRUE", "FALSE" or "UNKNOWN". It is "refused" if the dialect rejects the selector. Instead of \
"selector", you can name a file with selectors, relative to the folder of the cases, and the key of a selector in \
it.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "run test cases: a selector, a message, and the expected result"
    test = command(commands, "test", _test, text, _EXAMPLES, _EXITS, _ABOUT)
    test.add_argument("files", metavar="CASES", nargs="+", help="JSON files of cases")
    output = test.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object for each case, instead of TAP")
    output.add_argument("--junit", metavar="FILE", help="also write a JUnit report in XML")


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
