"""``mqsel why``: report why the messages of files are selected, or are not."""

from __future__ import annotations

import argparse

from mqsel import inventory
from mqsel.analysis.explain.account import Profiler
from mqsel.analysis.explain.profile import report
from mqsel.carets import shortened
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
)
from mqsel.cli.output import print_json, print_lines, print_width
from mqsel.cli.report import CountReport, say_answers
from mqsel.cli.run import add_ways, ask_of, run
from mqsel.errors import MqselError
from mqsel.files.framings import FORMATS, shown
from mqsel.files.run.work import Why
from mqsel.machine.origin import selector_of
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector

_EXAMPLES = """\
mqsel why "Color = 'white'" dump.qload
mqsel why --json "weight > 2500" messages.jsonl.gz
mqsel why "day > 20 AND color = 'blue'" 'messages/day=*/*.parquet'
mqsel why --dialect ARTEMIS "region = 'north'" dlq.xml
mqsel why --queue orders export.xml    (the filter and the messages are from an export of Artemis)\
"""
_EXITS = (
    "At least one message matched",
    "No message matched",
    "No message could be read, the broker disagrees (--ask-broker), or another error",
)
_ABOUT = """\
The first lines say which condition rejects the messages. The first table counts, for each part of the selector, the \
messages for which it was TRUE, FALSE or UNKNOWN, and type mismatches. "ERR" counts errors that make the whole \
selector false: arithmetic on a missing property, or a division of integers by zero. The second table has, for each \
property, its messages, types, most frequent values, and similar names in the messages.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "report why a selector matches messages, or doesn't"
    made = command(commands, "why", _why, text, _EXAMPLES, _EXITS, _ABOUT)
    selector = add_selector(made)
    selector.add_argument("--queue", metavar="NAME", help="instead of SELECTOR: filter of this queue in FILE")
    add_given(selector, "also count messages that violate CONTRACT")
    output = made.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object")
    add_files(made, FORMATS)
    add_ways(made)
    add_queues(made, can_ask=True)


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
    selector = selector_of(matcher.program)
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
