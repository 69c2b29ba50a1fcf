"""``mqsel test``: run the test cases of files, and print the result of each as text or as JSON."""

from __future__ import annotations

import argparse

from mqsel.carets import plural
from mqsel.cli.arguments import Commands, command
from mqsel.cli.output import print_json, print_text, say
from mqsel.files.configuration import configured
from mqsel.testing.cases import judged, read_cases

_EXAMPLES = """\
mqsel test cases.jsonl
mqsel test tests/*.cases.json\
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

pytest also runs the cases of files whose name ends with ".cases.json", if mqsel is installed. For a report that build \
servers read, run: pytest --junitxml report.xml
"""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "run test cases: a selector, a message, and the expected result"
    test = command(commands, "test", _test, text, _EXAMPLES, _EXITS, _ABOUT)
    test.add_argument("files", metavar="CASES", nargs="+", help="JSON files of cases")
    output = test.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object for each case")


def _test(arguments: argparse.Namespace) -> int:
    configuration = configured()
    cases = [case for file in arguments.files for case in read_cases(file, configuration.dialect_of)]
    verdicts = [judged(case) for case in cases]
    for verdict in verdicts:
        if arguments.json:
            case = {name: getattr(verdict.case, name) for name in ("name", "file", "number", "want")}
            why = "" if verdict.passed else verdict.why
            print_json({**case, "answer": verdict.answer, "passed": verdict.passed, "why": why})
        else:
            name = " ".join(verdict.case.name.split())
            print_text(f"passed: {name}" if verdict.passed else f"FAILED: {name}")
            for line in () if verdict.passed else verdict.report.split("\n"):
                print_text(f"  {line}")
    failed = sum(not verdict.passed for verdict in verdicts)
    say(f"{plural(len(verdicts), 'case')}, {failed:,} failed")
    return int(failed > 0)
