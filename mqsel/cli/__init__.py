"""The command line: match, route, why, check, lint, format, explain, inspect, diff, audit. The one folder that prints.

Results go to stdout, everything else to stderr; exit codes are those of grep (0 selected, 1 not, 2 trouble). Each
command stands in a module of its own, with its help. Owns no rule of the language and no format.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module

from mqsel.cli.arguments import Help
from mqsel.cli.report import complain
from mqsel.errors import MqselError
from mqsel.machine.program import BUILD

_EXAMPLES = """\
examples:
  mqsel match "JMSType = 'car' AND weight > 2500" messages.jsonl.gz
  mqsel why "Color = 'white'" dump.qload
  mqsel route --count subscriptions.txt messages.jsonl.gz
  mqsel check --dialect tibco-ems "color IN ('red', 'blue')"
  mqsel lint "color = blue"
  mqsel explain "weight > 2500" '{"weight": {"int32": 3000}}'
  mqsel inspect dump.qload
  mqsel diff "weight > 2500" "NOT (weight <= 2500)"
"""


# The modules of this folder that have one.
_COMMANDS = ("match", "route", "why", "check", "lint", "format", "explain", "inspect", "diff", "audit")


def _parser(argv: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mqsel",
        description="Message selectors of IBM MQ, JMS and TIBCO EMS on files of messages.",
        epilog=_EXAMPLES,
        formatter_class=Help,
    )
    parser.add_argument("--version", action="version", version=f"mqsel {BUILD}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog="mqsel")  # or help is made to find it out
    # Of the others the one that is called needs nothing: it begins in two thirds of the time.
    for name in argv[:1] if argv[:1] and argv[0] in _COMMANDS else _COMMANDS:
        import_module(f"mqsel.cli.{name}").add(commands)
    return parser


def _parsed(argv: list[str] | None) -> argparse.Namespace:
    """Read the arguments. argparse itself takes no list of arguments that stands behind an option and may be empty."""
    given = sys.argv[1:] if argv is None else argv
    parser = _parser(given)
    arguments, rest = parser.parse_known_args(given)
    if rest and ("rest" not in arguments or any(one[:1] == "-" != one and " " not in one for one in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        setattr(arguments, arguments.rest, [*getattr(arguments, arguments.rest), *rest])
    return arguments


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments, by default those of the process.

    Returns: the exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that the terminal lacks is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    arguments = _parsed(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except MqselError as error:
        complain(error)
        return 2
    except BrokenPipeError:
        # The reader has what it wanted. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # stdout: a full disk
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        return 130
    return status
