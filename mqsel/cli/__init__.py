"""The command line, a module for each command. The one folder that prints.

Results go to stdout, everything else to stderr; exit codes are those of grep (0 selected, 1 not, 2 trouble), and 130 of
Ctrl-C. A module has the help of its command, too. Owns no rule of the language and no format.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from mqsel import _interrupt
from mqsel.carets import shortened
from mqsel.cli.arguments import Help
from mqsel.cli.output import StdoutFile, choose_color, complain, print_text, say
from mqsel.errors import MqselError
from mqsel.files.wordings import defect
from mqsel.machine.program import BUILD
from mqsel.names import did_you_mean

if TYPE_CHECKING:
    from mqsel.files.run.work import Sharing

_ABOUT = """\
Shows which messages a selector matches, and why it doesn't match the others.

examples:
  mqsel match "JMSType = 'car' AND weight > 2500" messages.jsonl.gz
  mqsel why "Color = 'white'" dump.qload
  mqsel route --count subscriptions.txt messages.jsonl.gz
  mqsel check --dialect tibco-ems "color IN ('red', 'blue')"
  mqsel lint "color = blue"
  mqsel explain "weight > 2500" '{"weight": {"int32": 3000}}'
  mqsel inspect dump.qload
  mqsel diff "weight > 2500" "NOT (weight <= 2500)"
  mqsel contract messages.jsonl.gz
  mqsel explore messages.jsonl.gz\
"""
_MORE = """\
For the options of a command, type mqsel COMMAND --help. For formats, dialects, paths and exit codes, type mqsel help.

For the structure of --json output, see output.schema.json in the installed package (mqsel/cli/). On a terminal, \
output has colors unless NO_COLOR is set.
"""

# The output of bare mqsel: five things that people come for.
_FIRST = """\
usage: mqsel COMMAND …

which messages does a selector match?       mqsel match "color = 'blue' AND weight > 2500" messages.jsonl
why doesn't it match the others?            mqsel why "color = 'blue' AND weight > 2500" messages.jsonl
who gets which message?                     mqsel route --count subscriptions.txt messages.jsonl
which selectors are in these files?         mqsel selectors src/
what is wrong with them?                    mqsel lint src/

all commands: mqsel --help     options of a command: mqsel COMMAND --help
formats, dialects, paths and exit codes: mqsel help
"""

# The modules of this folder that have one.
_COMMANDS = (
    "match",
    "route",
    "why",
    "check",
    "lint",
    "format",
    "explain",
    "inspect",
    "diff",
    "audit",
    "contract",
    "migrate",
    "selectors",
    "explore",
    "test",
    "completion",
    "help",
)
_KNOW_ALL = ("completion", "help")  # these commands read the parsers of all commands


class _CommandParser(argparse.ArgumentParser):
    """Parses arguments; that of argparse is silent if its help cannot be written, and lists all options in errors.

    Attributes:
        exits: what each exit code of the command means, from 0.
    """

    exits: tuple[str, ...] = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, add_help=False)
        self._positionals.title, self._optionals.title = "arguments", "other"
        self.add_argument("-h", "--help", action="help", help="show this help")

    def add_argument_group(self, *arguments: Any, **options: Any) -> Any:
        """Add a group before the last one, which has what all commands have."""
        group = super().add_argument_group(*arguments, **options)
        self._action_groups.sort(key=lambda one: one is getattr(self, "_optionals", None))
        return group

    def error(self, message: str) -> NoReturn:
        complain(MqselError(message, hint=f"{self.prog} --help lists its options"))
        raise SystemExit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            (file or sys.stderr).write(message)


def _parser(argv: list[str]) -> tuple[_CommandParser, dict[str, _CommandParser]]:
    """Return the parser, and by name those of the commands that the arguments may name."""
    parser = _CommandParser(
        prog="mqsel",
        description=_ABOUT,
        epilog=_MORE,
        formatter_class=Help,
    )
    parser.add_argument("--version", action="version", version=f"mqsel {BUILD}", help="print the version")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, prog="mqsel"
    )  # or help is made to find it out
    # A command that does not read the parsers of others is imported alone: it begins in two thirds of the time.
    for name in argv[:1] if argv[:1] and argv[0] in {*_COMMANDS} - {*_KNOW_ALL} else _COMMANDS:
        import_module(f"mqsel.cli.{name}").add(commands)
    return parser, commands.choices


def _parsed(given: list[str], sharing: Sharing | None) -> argparse.Namespace:
    """Read the arguments. argparse itself takes no list of arguments that stands behind an option and may be empty."""
    if given[:1] == ["help"] and given[1:2] and given[1] in _COMMANDS:
        given = [given[1], "--help"]
    parser, commands = _parser(given)
    if not given:
        parser.exit(2, _FIRST)
    if given[0] not in commands and given[0][:1] != "-":
        parser.error(f"there is no command {shortened(given[0])}{_meant([given[0]], commands)}")
    arguments, rest = parser.parse_known_args(given, argparse.Namespace(sharing=sharing))
    if rest and ("rest" not in arguments or any(one[:1] == "-" != one and " " not in one for one in rest)):
        called = commands[arguments.called]
        known = [word for action in called._actions for word in action.option_strings]  # noqa: SLF001 (nothing else has)
        called.error(f"unrecognized arguments: {' '.join(rest)}{_meant(rest, known)}")
    if rest:
        setattr(arguments, arguments.rest, [*getattr(arguments, arguments.rest), *rest])
    return arguments


def _meant(words: list[str], known: Iterable[str]) -> str:
    """Return the question whether one of the known words was meant, if one is like a word that is not known."""
    known = [*known]
    return next(filter(None, (did_you_mean(word.partition("=")[0], known) for word in words)), "")


def main(argv: list[str] | None = None, sharing: Sharing | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments, by default those of the process.
        sharing: how a run is shared among processes, if not as usual.

    Returns: the exit code.
    """
    if argv is not None:
        return _answered(argv, sharing)
    _interrupt.begin()
    _take_streams()
    gc.enable()
    gc.freeze()  # what is imported stays: walking through it, at the end too, took a fifteenth of a start
    try:
        return _answered(sys.argv[1:], sharing)
    finally:
        _interrupt.over()


def _answered(argv: list[str], sharing: Sharing | None) -> int:
    """Run the command line, bring its answer to where stdout goes, and return the exit code."""
    if sys.stdout is None:
        print_text("mqsel: stdout is closed: expected a place for the answer", stream=sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that the terminal lacks is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            arguments = _parsed(argv, sharing)
            choose_color(arguments.color)
            return int(arguments.run(arguments))
        finally:  # also what help and version print
            sys.stdout.flush()
    except MqselError as error:
        complain(error)
        return 2
    except OSError as error:
        # Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error.__context__, MqselError):
            complain(error.__context__)
        else:
            complain(f"{error.filename or 'stdout'} cannot be written: {error.strerror or error}")
        return 2
    except KeyboardInterrupt:
        return 130
    except MemoryError:  # complained of below, when the frames that have the memory are gone
        trouble = MqselError("there is not enough memory for this", hint="split the files, or allow the process more")
    except Exception as error:  # noqa: BLE001 (the one place at which an exception that is not ours gets its name)
        if os.environ.get("MQSEL_TRACEBACK"):
            import traceback  # noqa: PLC0415 (for defects only)

            for line in "".join(traceback.format_exception(error)).splitlines():
                say(line)
        trouble = defect(error)
    complain(trouble)
    return 2


class _Unheard(io.FileIO):
    """What takes complaints, whether or not anybody hears them: no answer depends on it."""

    def write(self, data: Any) -> int:
        with suppress(OSError):
            return super().write(data) or 0
        return len(data)


def _take_streams() -> None:
    """Replace the streams of this process by those of the command line, whatever its caller has closed.

    In the place of what is closed stands what fails as it would: files that are opened later would get its number.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    stream = io.BufferedWriter(_Unheard(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(stream, encoding, "backslashreplace", line_buffering=True)
    if isinstance(sys.stdout, io.TextIOWrapper):
        answer, is_unbuffered = StdoutFile(1, "w", closefd=False), isinstance(sys.stdout.buffer, io.FileIO)
        sys.stdout = io.TextIOWrapper(
            answer if is_unbuffered else io.BufferedWriter(answer),
            sys.stdout.encoding,
            line_buffering=answer.isatty(),
            write_through=is_unbuffered,
        )
