"""``mqsel contract``: report what the messages of files are like, as a contract that other commands take."""

from __future__ import annotations

import argparse

from mqsel.analysis.compare.contract import Observed
from mqsel.cli.arguments import Commands, add_files, add_queues, command, files_of, list_formats
from mqsel.cli.output import complain, print_json, say
from mqsel.cli.report import CountReport
from mqsel.cli.run import add_ways, ask_of, run
from mqsel.files.framings import FORMATS
from mqsel.files.run.work import Describe

_ABOUT = f"""\
Prints JSON: for each property its types, whether every message has it, and its values where they are few, else its \
least and greatest number. Each of the messages keeps this contract. Edit it, keep it beside your selectors, and pass \
it to diff, audit, match and why as --given FILE.

A contract holds values of messages. With --no-values it holds types and presence alone. Fields of the message \
descriptor are left out: their types and domains are part of any contract.

{list_formats(FORMATS)}

exit code: 0, or 2 if no message could be read or something else went wrong.

examples:
  mqsel contract messages.jsonl.gz > contract.json
  mqsel contract --no-values dump.qload
  mqsel contract 'messages/day=*/*.parquet'
"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "contract", _contract, "report what messages are like, as a contract", _ABOUT)
    add_files(made, FORMATS)
    made.add_argument("--json", action="store_true", help="print it in one line")
    made.add_argument("--no-values", action="store_true", help="write types and presence, and no value of a message")
    add_ways(made)
    add_queues(made, can_limit=True)


def _contract(arguments: argparse.Namespace) -> int:
    ask = ask_of(arguments, counting=True)
    desk = CountReport(ask, Observed())
    run(arguments, files_of(arguments), None, Describe, desk)
    desk.ended()
    total: Observed = desk.total
    if not total.messages and not desk.trouble:
        complain("there is no message: expected those that the contract is to describe")
    if total.messages:
        found = total.contract(values=not arguments.no_values).as_dict()
        print_json(found, lines_of="" if arguments.json else "properties")
    say(f"{total.messages:,} message{'s' * (total.messages != 1)}, {total.skipped:,} skipped, {desk.seconds:.2f} s")
    return 2 if desk.trouble or not total.messages else 0
