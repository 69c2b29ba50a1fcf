"""The arguments that commands share, what each may be, and the layout of help."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mqsel.carets import nameable, plural, quoted, shortened
from mqsel.cli.output import complain
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError, SelectorError
from mqsel.files.configuration import configured
from mqsel.files.framings import FRAMINGS
from mqsel.files.opening import MAX_SIZE, is_queue, unfolded
from mqsel.formats.jsonl import object_from_json
from mqsel.formats.records import SCHEMAS
from mqsel.language.dialect import Dialect, as_dialect
from mqsel.language.selector import read_selector
from mqsel.values import TYPE_NAMES

if TYPE_CHECKING:
    from mqsel.analysis.compare.contract import Contract

_SHOWN = 3  # files that a hint names
KEYED = "selectors by key"
_LINES = 20  # of a file, by which it is known to have selectors
_WIDEST = 118  # columns of a paragraph of help
_QUEUES = "queues of brokers (read-only; FILE is amqp[s]://USER@HOST:PORT/QUEUE)"


def dialect_of(text: str) -> Dialect:
    """Read the name of a preset."""
    try:
        return as_dialect(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def limit(text: str) -> int:
    """Read a count."""
    with suppress(ValueError):
        if int(text) > 0:
            return min(int(text), sys.maxsize)
    raise argparse.ArgumentTypeError(f"{text!r} is not a count: write a whole number from 1")


def size(text: str) -> int:
    """Read a number of bytes, such as 500M."""
    match = re.fullmatch(r"([0-9]{1,15})([kmg]?)b?", text, re.IGNORECASE)
    if match and int(match[1]):
        return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2].lower()]
    raise argparse.ArgumentTypeError(f"{text!r} is not a size: write a number of bytes, or one with k, M or G")


def add_max_size(options: Options) -> None:
    """Add the option for the greatest size of a line of JSON and of a file of selectors, unless the command has it."""
    if "--max-size" not in options._option_string_actions:  # noqa: SLF001 (argparse has no other way)
        options.add_argument(
            "--max-size",
            type=size,
            default=MAX_SIZE,
            metavar="SIZE",
            help="longest line or file of selectors (default: 100M)",
        )


def _declared(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if name and kind in TYPE_NAMES:
        return name, kind
    raise argparse.ArgumentTypeError(f"{text!r} declares no type: write NAME=TYPE, with one of {', '.join(TYPE_NAMES)}")


def types_of(arguments: argparse.Namespace, kind: str | None) -> tuple[tuple[str, str], ...]:
    """Return the types that are declared.

    Args:
        kind: the format of the messages; None if that is still to be recognised.

    Raises: MqselError: the format has types of its own.
    """
    if arguments.type and kind not in (None, *SCHEMAS):
        raise MqselError(
            "--type is only for formats that store every value as text: this format stores types",
            hint=f"name the tool that wrote the records: --format {', '.join(SCHEMAS)}",
        )
    return tuple(arguments.type)


def files_of(arguments: argparse.Namespace) -> list[str]:
    """List the files; where each is a message, a directory stands for those in it. None are stdin."""
    names, wanted = arguments.files or ["-"], arguments.format
    if not arguments.files and sys.stdin is not None and sys.stdin.isatty():
        raise MqselError("no file is named: expected one, or messages on stdin", hint="name the files at the end")
    return [one for name in names for one in unfolded(name)] if wanted in FRAMINGS else names


def in_shell(*words: str) -> str:
    """Return words as arguments of a command line."""
    import shlex  # noqa: PLC0415 (for errors alone)

    quoted = {word: shlex.quote(word) for word in words}
    return " ".join(
        quoted[word] if quoted[word] == word or re.search(r'["$`\\!]', word) else f'"{word}"' for word in words
    )


def place_of(text: str) -> str:
    """Return what a text is, or names, that a selector judges: a message, a file, stdin; empty for none of these."""
    if is_message(text):
        return "a message"
    if is_queue(text):
        return "a queue"
    # Those of Path raise where a name is longer than that of a file can be, as a selector may be.
    if text == "-":
        return "stdin"
    if os.path.exists(text):  # noqa: PTH110
        return "a directory" if os.path.isdir(text) else "a file"  # noqa: PTH112
    numbered = re.fullmatch(r"(.+):[0-9]{1,18}", text, re.DOTALL)
    return "a message of a file" if numbered and os.path.isfile(numbered[1]) else ""  # noqa: PTH113


def is_message(text: str) -> bool:
    """Report whether a text is a message in JSON."""
    if text.lstrip()[:1] == "{":
        with suppress(PropertyTypeError):
            object_from_json(text)
            return True
    return False


def is_selector(text: str, dialect: Dialect) -> bool:
    """Report whether a text is a selector."""
    try:
        read_selector(text, dialect)
    except SelectorError:
        return False
    return True


def holds_selectors(start: bytes) -> str:
    """Return what selectors the first lines of a file are: by key, or alone; empty where they are something else."""
    from mqsel.inventory.recognition import most  # noqa: PLC0415 (for errors alone)

    lines = [line for line in start.decode("utf-8", "replace").splitlines()[:_LINES] if line.strip()]
    texts = [line.partition("\t")[2] for line in lines]
    return KEYED if most(texts) else "selectors" if most(lines) else ""


def refuse_place(text: str, expected: str, advice: str, dialect: Dialect) -> None:
    """Raise MqselError if a selector is a name in the file system: `README.md` is a property, too.

    Args:
        text: the selector.
        expected: what should stand there, in words.
        advice: the command that was probably meant, or nothing.
        dialect: in which the text may be a selector all the same; in parentheses it names no file.
    """
    place = place_of(text)
    if not place:
        return
    hints = [advice] * bool(advice)
    if is_selector(f"({text})", dialect):
        hints.append(f"if a selector is meant, write {in_shell(f'({text})')}")
    raise MqselError(f"{shortened(nameable(text))} is {place}: expected {expected}", hint="; ".join(hints) or None)


def check_order(called: str, selector: str, names: list[str], dialect: Dialect) -> None:
    """Refuse a call without a selector, or with it behind what it judges.

    Args:
        called: the command.
        selector: what stands first.
        names: what stands behind it: files, or a message.
    """
    place = place_of(selector)
    if not place:
        return
    selector, names = nameable(selector), [*map(nameable, names)]
    if names and not place_of(names[-1]) and is_selector(names[-1], dialect):
        raise MqselError(
            f"{shortened(selector)} is {place}, and {shortened(names[-1])} is not: expected the selector first",
            hint=f"mqsel {called} {in_shell(names[-1], selector, *names[:-1])}",
        )
    judged = names if called == "explain" and names else [selector, *names]
    advice = f"mqsel {called} SELECTOR {in_shell(*judged[:_SHOWN])}{' …' * (len(judged) > _SHOWN)}"
    refuse_place(selector, "the selector first", advice, dialect)


def filled(text: str, width: int, indent: str = "") -> str:
    """Fill the paragraphs of a text, and break long rows of a table in their last column.

    A line that begins with spaces is an example, which stays as it is, unless it is a row.
    """
    import textwrap  # noqa: PLC0415 (for help alone)

    lines = []
    # Lines that follow each other are one paragraph, unless they are examples or rows of a table.
    for line in re.sub(r"(?m)^((?!\S+ {2,})\S.*)\n(?=\S)(?!\S+ {2,})", r"\1 ", text).splitlines():
        column = re.match(r" *\S+ {2,}", line)
        wrapped = textwrap.wrap(
            line,
            min(width + len(indent), _WIDEST),
            initial_indent=indent,
            subsequent_indent=indent + " " * len(column[0]) if column else indent,
            break_on_hyphens=False,
        )
        lines += [line] if line[:1] == " " and column is None else wrapped or [""]
    return "\n".join(lines)


def help_width() -> int:
    """Return how many columns help has. Asking shutil, which is slow to import, took longer than parsing."""
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else 0
    with suppress(OSError, ValueError, AttributeError):
        width = width or os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    return (width or 80) - 2


class Help(argparse.RawDescriptionHelpFormatter):
    """Writes help: a usage of one line, which leaves the options to their groups, and filled paragraphs."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=help_width())

    def _format_usage(self, _usage: Any, actions: Iterable[Any], groups: Iterable[Any], prefix: str | None) -> str:
        words = [f"{prefix or 'usage: '}{self._prog} [OPTIONS]"]
        for group in groups:
            if group.required:
                options = (f"{one.option_strings[0]} {self._format_args(one, '')}" for one in group._group_actions)  # noqa: SLF001 (argparse has no other way)
                words.append(f"({' | '.join(options)})")
        words += [self._format_args(one, one.metavar or one.dest) for one in actions if not one.option_strings]
        return f"{' '.join(words)}\n\n"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return filled(text, width, indent)


Commands = Any  # what argparse collects commands in
Options = Any  # what argparse collects options in: a parser, or a group of one
Run = Callable[[argparse.Namespace], int]


def command(
    commands: Commands, name: str, run: Run, text: str, examples: str, exits: tuple[str, ...], about: str = ""
) -> Any:
    """Add a command, and return its parser.

    Args:
        text: what the command does, in one sentence.
        examples: command lines, one a line.
        exits: what each exit code means, from 0; an empty text for an exit code that the command does not use.
        about: what a reader has to know besides.
    """
    sentence = f"{text[0].upper()}{text[1:]}."
    shown = "".join(f"\n  {line}" for line in examples.splitlines())
    codes = "".join(f"\n  {row}" for row in exit_rows(exits))
    made = commands.add_parser(
        name,
        help=text,
        description=f"{sentence}\n\nexamples:{shown}",
        epilog=f"{about}\n\nexit code:{codes}".strip("\n"),
        formatter_class=Help,
    )
    made.exits = exits
    made.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        metavar="WHEN",
        help="auto (default: on a terminal), always or never",
    )
    made.set_defaults(run=run, called=name)
    return made


def exit_rows(exits: Iterable[str]) -> list[str]:
    """Return a row for each exit code that has a meaning."""
    return [f"{code}  {meaning}" for code, meaning in enumerate(exits) if meaning]


def add_selector(made: argparse.ArgumentParser, *, more: str = "") -> Options:
    """Add the selector and its dialect; return the group of options."""
    made.add_argument("selector", metavar="SELECTOR", help=f"the selector, in quotes, as one argument{more}")
    return add_dialect(made)


def add_dialect(made: argparse.ArgumentParser) -> Options:
    """Add the dialect of selectors; return the group of options."""
    group = made.add_argument_group("selector")
    group.add_argument(
        "--dialect",
        type=lambda text: dialect_of(text) if text else configured().usual,
        default="",  # argparse reads it as it does what is given
        metavar="NAME",
        help="see mqsel help dialects (default: IBM_MQ)",
    )
    return group


def add_given(options: Options, use: str) -> None:
    """Add the contract of messages.

    Args:
        use: what the command does with the contract.
    """
    options.add_argument(
        "--given",
        dest="contract",
        metavar="CONTRACT",
        help=f"{use}; see mqsel contract (default: configuration)",
    )


def contract_of(arguments: argparse.Namespace, dialect: Dialect) -> Contract | None:
    """Return the contract that the arguments name, or else the configuration.

    Raises: MqselError: the file is none, or the selector is refused; or there is a mistake in the configuration.
    """
    name = arguments.contract if arguments.contract is not None else configured().contract
    if not name and arguments.contract is None:
        return None
    from mqsel.analysis.compare.contract import Contract  # noqa: PLC0415 (for this option alone)

    if arguments.contract is None or place_of(name) or name.endswith(".json"):
        return Contract.read(name)
    if re.fullmatch(r"[\w./\\:~-]+", name):  # one word: a name of a file with a mistake rather than a property
        hint = f"mqsel contract FILE… > {in_shell(name)} writes one"
        raise MqselError(f"{quoted(name)} isn't a file: expected a file with a contract, or a selector", hint=hint)
    return Contract(selector=name, dialect=dialect)


def add_files(made: argparse.ArgumentParser, formats: Iterable[str]) -> Options:
    """Add the files, and the options for how they are read and how far; return the group of options."""
    made.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        default=[],
        help="messages: files, folders, patterns or URLs; - is stdin",
    )
    made.set_defaults(rest="files")
    group = add_format(made, formats)
    group.add_argument("--limit", type=limit, metavar="N", help="stop after N messages read (default: never)")
    return group


def add_queues(made: argparse.ArgumentParser, *, can_follow: bool = False, can_ask: bool = False) -> None:
    """Add the options for queues of running brokers."""
    group = made.add_argument_group(_QUEUES)
    group.add_argument(
        "--password-file",
        metavar="FILE",
        help="password in line 1 (default: $MQSEL_PASSWORD, or ask)",
    )
    group.add_argument("--ca", metavar="FILE", help="trusted authorities (default: of the system)")
    group.add_argument("--cert", metavar="FILE", help="client certificate; identifies you without USER")
    group.add_argument("--key", metavar="FILE", help="private key of --cert (default: in the file of --cert)")
    if can_follow:
        group.add_argument("--follow", action="store_true", help="wait for new messages at the end of the queue")
    if can_ask:
        group.add_argument(
            "--ask-broker",
            action="store_true",
            help="also compare with the selection of the broker",
        )


def add_errors(options: Options, what: str) -> None:
    """Add the option for what becomes of *what* is invalid."""
    options.add_argument(
        "--errors",
        choices=("skip", "raise"),
        default="skip",
        metavar="HOW",
        help=f"invalid {what}: skip (default) or raise",
    )


def add_max_matches(options: Options) -> None:
    """Add the option that ends a run after some matches."""
    options.add_argument("--max-matches", type=limit, metavar="N", help="stop after N matches (default: never)")


def say_new_limit(arguments: argparse.Namespace) -> None:
    """Report, in one release, what --limit means in the two commands in which it was the name of --max-matches."""
    if arguments.limit is not None:
        wanted = f"to stop after {plural(arguments.limit, 'match', 'matches')}, write --max-matches {arguments.limit}"
        notice = "--limit N now stops after N messages read, and no longer after N matches"
        complain(MqselError(notice, hint=wanted))


def add_format(made: argparse.ArgumentParser, formats: Iterable[str]) -> Options:
    """Add the options for how files are read; return the group of options."""
    group = made.add_argument_group("reading messages")
    group.add_argument(
        "--format",
        choices=tuple(formats),
        metavar="NAME",
        help="see mqsel help formats (default: detected)",
    )
    group.add_argument(
        "--type",
        action="append",
        default=[],
        type=_declared,
        metavar="NAME=TYPE",
        help="type of NAME, if the format stores every value as text",
    )
    add_max_size(group)
    return group
