"""``mqsel contract``: report what the messages of files are like, as a contract that other commands take."""

from __future__ import annotations

import argparse

from mqsel.analysis.compare.contract import Observed
from mqsel.carets import plural
from mqsel.cli.arguments import Commands, add_files, add_queues, command, files_of
from mqsel.cli.output import complain, print_json, say
from mqsel.cli.report import CountReport
from mqsel.cli.run import add_ways, ask_of, run
from mqsel.files.framings import FORMATS
from mqsel.files.run.work import Describe

_EXAMPLES = """\
mqsel contract messages.jsonl.gz > contract.json
mqsel contract --no-values dump.qload
mqsel contract 'messages/day=*/*.parquet'\
"""
_EXITS = ("The contract was written", "", "No message could be read, or another error")
_ABOUT = """\
A contract describes your messages in JSON. For each property it has the types, whether every message has the \
property, and the values, or of many values only the least and the greatest. Every message that mqsel read conforms \
to it. It leaves out fields of the message descriptor, whose types and values mqsel knows.

Edit the contract, keep it with your selectors, and pass it as --given to lint, audit, diff, migrate, match, why or \
explore. Instead of a file, --given also takes a selector that is TRUE for all your messages.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "describe messages in a contract, a file for --given"
    made = command(commands, "contract", _contract, text, _EXAMPLES, _EXITS, _ABOUT)
    add_files(made, FORMATS)
    output = made.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print the contract on one line")
    output.add_argument("--no-values", action="store_true", help="write types and presence, but no value of a message")
    add_ways(made)
    add_queues(made)


def _contract(arguments: argparse.Namespace) -> int:
    ask = ask_of(arguments, counting=True)
    desk = CountReport(ask, Observed())
    run(arguments, files_of(arguments), None, Describe, desk)
    desk.ended()
    total: Observed = desk.total
    if not total.messages and not desk.trouble:
        complain("there are no messages: expected messages to describe")
    if total.messages:
        found = total.contract(values=not arguments.no_values).as_dict()
        print_json(found, lines_of="" if arguments.json else "properties")
    say(f"{plural(total.messages, 'message')}, {total.skipped:,} skipped, {desk.seconds:.2f} s")
    return 2 if desk.trouble or not total.messages else 0
