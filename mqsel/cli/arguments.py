"""The arguments that commands share, what each may be, and the table of formats in their help."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from mqsel.errors import ArgumentError, MqselError, shortened
from mqsel.files.framings import FORMATS, FRAMINGS
from mqsel.files.opening import unfolded
from mqsel.formats.records import SCHEMAS
from mqsel.language.dialect import IBM_MQ, PRESETS, Dialect, as_dialect
from mqsel.values import TYPE_NAMES

_WIDEST = 118  # columns of a paragraph of help


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
            return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a count: write a whole number from 1")


def _declared(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if name and kind in TYPE_NAMES:
        return name, kind
    raise argparse.ArgumentTypeError(f"{text!r} declares no type: write NAME=TYPE, with one of {', '.join(TYPE_NAMES)}")


def list_formats(names: Iterable[str]) -> str:
    """List formats for the help of a command."""
    listed = {name: FORMATS[name] for name in names}
    width = max(map(len, listed))
    known = [name for name, row in listed.items() if row.start is not None]
    return "\n".join(
        [
            f"{'format':{width}}  what a file holds",
            *(f"{name:{width}}  {row.holds}" for name, row in listed.items()),
            f"A file of format {', '.join(known)} is known by its first bytes, any other is json.",
            "Texts may be in UTF-16.",
        ]
    )


def types_of(arguments: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """Give the types that are declared."""
    if arguments.type and arguments.format not in SCHEMAS:
        raise MqselError(
            "--type declares what records lost: this format has types of its own",
            hint=f"name the tool that wrote the records: --format {', '.join(SCHEMAS)}",
        )
    return tuple(arguments.type)


def files_of(arguments: argparse.Namespace) -> list[str]:
    """List the files; where each is a message, a directory stands for those in it. None are stdin."""
    names, wanted = arguments.files or ["-"], arguments.format
    if not arguments.files and sys.stdin is not None and sys.stdin.isatty():
        raise MqselError("no file is named: expected one, or messages on stdin", hint="name the files at the end")
    return [one for name in names for one in unfolded(name)] if wanted in FRAMINGS else names


def check_order(called: str, selector: str, names: list[str]) -> None:
    """Refuse a call with the selector behind the files: the name of a file may be a selector, too."""
    # Path.is_file raises where a name is longer than that of a file can be, as a selector may be.
    is_file = os.path.isfile(selector)  # noqa: PTH113
    if names and is_file and names[-1] != "-" and not Path(names[-1]).exists():
        import shlex  # noqa: PLC0415 (for this error alone)

        files = shlex.join([selector, *names[:-1]])
        written = shlex.quote(names[-1]) if re.search(r'["$`\\!]', names[-1]) else f'"{names[-1]}"'
        raise MqselError(
            f"{shortened(selector)} is a file, and {shortened(names[-1])} is not: expected the selector first",
            hint=f"mqsel {called} {written} {files}",
        )


class Help(argparse.RawDescriptionHelpFormatter):
    """Breaks long lines of a description: paragraphs at the margin, rows of a table in their last column.

    What begins with a blank is an example, and is left as it is.
    """

    def __init__(self, prog: str) -> None:
        # argparse makes one for each argument that is added; left alone, each asks shutil, which is slow to import.
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() else 0
        with suppress(OSError, ValueError, AttributeError):
            width = width or os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
        super().__init__(prog, width=(width or 80) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap  # noqa: PLC0415 (for help alone)

        lines = []
        for line in text.splitlines():
            column = re.match(r"\S+ {2,}", line)
            wrapped = textwrap.wrap(
                line,
                min(width, _WIDEST),
                subsequent_indent=" " * len(column[0]) if column else indent,
                break_on_hyphens=False,
            )
            lines += [line] if line[:1] == " " else wrapped or [""]
        return "\n".join(lines)


Commands = Any  # what argparse collects commands in
Run = Callable[[argparse.Namespace], int]


def command(commands: Commands, name: str, run: Run, text: str, epilog: str) -> argparse.ArgumentParser:
    """Add a command."""
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=epilog,
        formatter_class=Help,
    )
    made.set_defaults(run=run)
    return made


def add_selector(made: argparse.ArgumentParser) -> None:
    """Add the selector and its dialect."""
    made.add_argument("selector", metavar="SELECTOR", help="the message selector, as one argument")
    add_dialect(made)


def add_dialect(made: argparse.ArgumentParser) -> None:
    """Add the dialect of selectors."""
    made.add_argument(
        "--dialect",
        type=dialect_of,
        default=IBM_MQ,
        metavar="NAME",
        help=f"{', '.join(PRESETS)}; default IBM_MQ",
    )


def add_files(made: argparse.ArgumentParser, formats: Iterable[str]) -> None:
    """Add the files, and what tells how they are read."""
    made.add_argument(
        "files", metavar="FILE", nargs="*", help="files, packed or not; - is stdin, read if none is named"
    )
    made.set_defaults(rest="files")
    add_format(made, formats)


def add_format(made: argparse.ArgumentParser, formats: Iterable[str]) -> None:
    """Add what tells how files are read."""
    made.add_argument("--format", choices=tuple(formats), metavar="NAME", help="what the files hold; see below")
    made.add_argument(
        "--type",
        action="append",
        default=[],
        type=_declared,
        metavar="NAME=TYPE",
        help="the type of a property, for records without types; a text that does not fit is NULL, and counted",
    )
