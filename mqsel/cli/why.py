"""``mqsel why``: report why the messages of files are selected, or are not."""

from __future__ import annotations

import argparse

from mqsel import inventory
from mqsel.analysis.explain.account import Profiler
from mqsel.analysis.explain.profile import report
from mqsel.cli.arguments import (
    Commands,
    add_files,
    add_given,
    add_queues,
    add_selector,
    check_order,
    command,
    contract_of,
    files_of,
    list_formats,
)
from mqsel.cli.output import print_json, print_lines, print_width
from mqsel.cli.report import CountReport, say_answers
from mqsel.cli.run import add_ways, ask_of, run
from mqsel.errors import MqselError, shortened
from mqsel.files.framings import FORMATS, shown
from mqsel.files.run.work import Why
from mqsel.language.selector import read_selector
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector

_EXAMPLES = f"""\
The first lines say in words what keeps messages from being selected. Then follows for each part of the selector how \
many messages made it TRUE, FALSE or UNKNOWN, for how many types differ (mismatched), and for how many the complete \
selector is false (ERR: arithmetic on a missing property, or a division of integers by zero). Last, for each property: \
how many messages have it, of which types, its commonest values, and similar names that messages have instead.

{list_formats(FORMATS)}

exit code: 0 if something is selected, 1 if nothing is, 2 if no message could be read or something else went wrong.

examples:
  mqsel why "Color = 'white'" dump.qload
  mqsel why --json "weight > 2500" messages.jsonl.gz
  mqsel why "day > 20 AND color = 'blue'" 'messages/day=*/*.parquet'
  mqsel why --dialect ARTEMIS "region = 'north'" dlq.xml
  mqsel why --queue orders export.xml    (the filter of a queue, from an export of Artemis, over its messages)
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "why", _why, "report why messages are selected, or are not", _EXAMPLES)
    add_selector(made)
    add_files(made, FORMATS)
    made.add_argument(
        "--queue",
        metavar="NAME",
        help="the selector is the filter of this queue, in the first FILE: no SELECTOR is given",
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    add_given(made)
    add_ways(made)
    add_queues(made, can_ask=True, can_limit=True)


def _filter_of(queue: str, path: str) -> Matcher:
    """Return the filter that a queue has in an export.

    Raises: MqselError: it has none there.
    """
    found = {one.key: one for one in inventory.read(path, kind="artemis") if one.selector is not None}
    if queue not in found:
        named = ", ".join(map(shortened, found)) or "none: write the selector, mqsel why SELECTOR FILE"
        hint = f"the queues with filters are {named}"
        raise MqselError(f"{shown(path)} has no filter of a queue {shortened(queue)}", hint=hint)
    return compile_selector(found[queue].selector or "", dialect=found[queue].dialect)


def _why(arguments: argparse.Namespace) -> int:
    by_queue = arguments.queue is not None
    if by_queue:
        arguments.files = [arguments.selector, *arguments.files]
    given = contract_of(arguments, arguments.dialect)
    ask = ask_of(arguments, counting=True, given=given)
    if not by_queue:
        check_order("why", arguments.selector, arguments.files, arguments.dialect)
    files = files_of(arguments)
    if by_queue:
        matcher = _filter_of(arguments.queue, files[0])
    else:
        matcher = compile_selector(arguments.selector, dialect=arguments.dialect)
    selector = read_selector(matcher.selector, matcher.dialect)
    desk = CountReport(ask, Profiler(selector).account)
    asked = run(arguments, files, matcher, Why, desk)
    desk.ended()
    made = report(selector, desk.total)
    if made.messages or not desk.trouble:
        if arguments.json:
            print_json(made.as_dict())
        else:
            print_lines(made.text(print_width()), is_colored=True)
    desk.say_kept()
    return 2 if say_answers(asked) or desk.trouble else int(not made)
