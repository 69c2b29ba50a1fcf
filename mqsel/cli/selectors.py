"""Selectors as arguments and in files, for the commands that take many; and ``mqsel selectors``, which lists them."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mqsel.cli.arguments import (
    KEYED,
    Commands,
    command,
    dialect_of,
    holds_selectors,
    in_shell,
    place_of,
    refuse_place,
)
from mqsel.cli.report import complain, progress, say
from mqsel.errors import FileError, MqselError, PropertyTypeError, visible
from mqsel.files.framings import CSV, LINES, looks_like, shown
from mqsel.files.opening import opened
from mqsel.files.run.work import Ask, why
from mqsel.files.selectors import Keyed, selectors
from mqsel.formats.jsonl import object_from_json
from mqsel.inventory import COLUMNS, KINDS, Entry, files_of, read_file
from mqsel.language.dialect import PRESETS

ABOUT_FILES = (
    "A file has a selector on each line. A line that begins with AND, OR or a closing parenthesis belongs to the one"
    " before it, and so does an indented line while a parenthesis is open: what format writes is read again.\n"
    "The name of a file is never taken for a selector: a property of that name is written in parentheses.\n"
)


class Given(NamedTuple):
    """A selector, and where it stands.

    Attributes:
        where: in words.
        text: the selector.
        file: the name of its file; empty for an argument.
        line: of the file, from 1, where it begins.
        span: of the file's text, in code points.
    """

    where: str
    text: str
    file: str = ""
    line: int = 1
    span: tuple[int, int] = (0, 0)


def keyed(path: str) -> list[Keyed]:
    """Read a file of selectors by key; here a key is a text.

    Raises: MqselError: it cannot be read, is none, or has a key twice.
    """
    try:
        return [one._replace(key=str(one.key)) for one in selectors(path)]
    except FileError as error:
        if path != "-":
            with suppress(FileError), opened(path) as (_, stream):
                _refuse_others(path, stream.peek(), is_keyed=True)
        place = shown(path) if error.line is None else f"{shown(path)}:{error.line}"
        raise MqselError(f"{place}: {why(error) if error.line is None else error.message}", hint=error.hint) from error


def add_selectors(made: argparse.ArgumentParser) -> None:
    """Add selectors as arguments, and in files."""
    made.add_argument("selectors", metavar="SELECTOR", nargs="*", help="message selectors, each as one argument")
    made.set_defaults(rest="selectors")
    made.add_argument(
        "--file", metavar="FILE", nargs="+", default=[], help="read selectors from files; - is stdin; see below"
    )


def given(arguments: argparse.Namespace) -> Iterator[Given]:
    """Yield each selector of the arguments, then those of the files."""
    yield from of_arguments(arguments)
    for file in arguments.file:
        yield from blocks(content_of(file), file)


def of_arguments(arguments: argparse.Namespace) -> list[Given]:
    """List the selectors that are arguments themselves.

    Raises: MqselError: there is none, and no file; or the name of a file stands for one.
    """
    if not arguments.selectors and not arguments.file:
        raise MqselError("no selector is given: expected one, or --file FILE")
    for text in arguments.selectors:
        advice = f"mqsel {arguments.called} --file {in_shell(text)}" * (place_of(text) in ("a file", "stdin"))
        refuse_place(text, "a selector", advice, arguments.dialect)
    return [Given(f"selector {number}", text) for number, text in enumerate(arguments.selectors, 1)]


def content_of(file: str) -> str:
    """Read a file of selectors; a byte order mark stays.

    Raises: MqselError: it cannot be read, or is no UTF-8.
    """
    try:
        with opened(file) as (_, stream):
            _refuse_others(file, stream.peek(), is_keyed=False)
            content = stream.read()
    except FileError as error:
        raise MqselError(f"{shown(file)}: {why(error)}") from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line_start = content.rfind(b"\n", 0, error.start) + 1
        line = content.count(b"\n", 0, error.start) + 1
        place = f"{shown(file)}:{line}: byte {error.start - line_start + 1}"
        raise MqselError(f"{place} is invalid in UTF-8") from error


def _refuse_others(file: str, start: bytes, *, is_keyed: bool) -> None:
    """Raise MqselError if the first bytes of a file of selectors are those of messages, or of another such file.

    Args:
        is_keyed: the file may have keys, and be JSON or Parquet.
    """
    what = looks_like(start, "")[0]
    advice = f"mqsel match SELECTOR {in_shell(file)} reads messages"
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        line = start.lstrip().partition(b"\n")[0]
        with suppress(PropertyTypeError):
            message = object_from_json(line)
            texts = [value for value in message.values() if isinstance(value, str)]
            if b"\n{" in start or len(texts) < len(message):
                what, is_keyed = LINES, False
            elif holds_selectors("\n".join(texts).encode()):
                what = "selectors in JSON"
        if is_keyed:
            return
        if what != LINES:
            advice = f"mqsel audit {in_shell(file)} reads selectors in JSON"
    elif what in ("", CSV):
        what = KEYED if not is_keyed and holds_selectors(start) == KEYED else ""
        advice = f"mqsel audit {in_shell(file)}"
    if what and not (is_keyed and what == "parquet"):
        raise MqselError(f"{shown(file)}: this looks like {what}: expected selectors", hint=advice)


_CONTINUES = re.compile(r"\s*(?:AND\b|OR\b|\))", re.IGNORECASE)
_PARENTHESES = re.compile(r"'[^']*'|[()]")


def blocks(content: str, file: str) -> Iterator[Given]:
    """Divide the text of a file into selectors. Blank lines are skipped."""
    text, line, start, is_open = "", 0, 0, 0
    at = int(content.startswith("\ufeff"))
    for number, piece in enumerate(content[at:].split("\n"), 1):
        words = piece.rstrip("\r")
        if text and (_CONTINUES.match(words) or (is_open > 0 and words[:1].isspace() and words.strip())):
            text = content[start : at + len(words)]
        else:
            if text:
                yield Given(f"{shown(file)}:{line}", text, file, line, (start, start + len(text)))
            text, line, start, is_open = words if words.strip() else "", number, at, 0
        is_open += sum({"(": 1, ")": -1}.get(sign, 0) for sign in _PARENTHESES.findall(words))
        at += len(piece) + 1
    if text:
        yield Given(f"{shown(file)}:{line}", text, file, line, (start, start + len(text)))


def replaced(content: str, changes: list[tuple[Given, str]]) -> str:
    """Return the text of a file with other selectors in some places, in order."""
    pieces, at = [], 0
    for one, text in changes:
        start, stop = one.span
        pieces += [content[at:start], text]
        at = stop
    return "".join([*pieces, content[at:]])


# ---- the command -------------------------------------------------------------------------------------------------

_WIDTH = max(map(len, KINDS))
_ABOUT = f"""\
Prints a line for each selector: key, destination, selector and FILE:LINE:COLUMN, with tabs between; a tab or an end of
line within one of them is a blank. Of what cannot be known the reason stands in parentheses. A folder is walked as
ripgrep does it; - is stdin. What a file holds is recognised, or told by --as.

exit code: 0 if there is a selector, 1 if there is none, 2 if something went wrong, such as a damaged file.

{"kind":{_WIDTH}}  what is read
{chr(10).join(f"{name:{_WIDTH}}  {row.holds}" for name, row in KINDS.items())}

examples:
  mqsel selectors src/ config/
  dmpmqcfg -m QM1 -t sub | mqsel selectors -
  mqsel selectors --json 'config/**/*.xml'
  mqsel selectors --as csv --columns key=id,selector=rule rules.csv
"""
_SHOWN = ("key", "destination", "selector", "dialect", "kind", "file", "line", "column")


def _columns(text: str) -> tuple[str, str]:
    name, _, column = text.partition("=")
    if name in COLUMNS and column:
        return name, column
    raise argparse.ArgumentTypeError(f"{text!r} names no column: write key=NAME, destination=NAME or selector=NAME")


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "selectors", _list, "list the selectors in files, where they stand", _ABOUT)
    made.add_argument("paths", metavar="PATH", nargs="+", help="files, folders, patterns in quotes; - is stdin")
    made.set_defaults(rest="paths")
    made.add_argument("--as", dest="kind", choices=tuple(KINDS), metavar="KIND", help="what the files hold; see below")
    made.add_argument(
        "--columns",
        action="append",
        default=[],
        type=lambda text: [_columns(one) for one in text.split(",")],
        metavar="NAME=COLUMN",
        help="the columns of CSV, such as key=id,selector=rule",
    )
    made.add_argument(
        "--dialect", type=dialect_of, metavar="NAME", help=f"{', '.join(PRESETS)}; default that of the kind"
    )
    made.add_argument("--json", action="store_true", help="print one JSON object for each selector")


def _list(arguments: argparse.Namespace) -> int:
    columns = dict(one for many in arguments.columns for one in many)
    dialect = next((name for name, one in PRESETS.items() if one == arguments.dialect), None)
    known = unknown = damaged = 0
    places = files_of(arguments.paths)
    if sys.stderr.isatty():
        places = iter(listed := [*places])
    with progress([one.path for one in listed] if sys.stderr.isatty() else [], Ask()) as advance:
        for place in places:
            for one in read_file(place, arguments.kind, columns):
                entry = one if dialect is None else one._replace(dialect=dialect)
                known += entry.selector is not None
                unknown += entry.selector is None and entry.text is not None
                damaged += entry.text is None and bool(entry.reason)
                if arguments.json:
                    print(json.dumps(_in_json(entry), ensure_ascii=False))
                elif entry.text is None and entry.reason:
                    complain(f"{shown(entry.file)}:{entry.line}:{entry.column}: {entry.reason}")
                else:
                    print(_line(entry))
            if advance is not None and place.path != "-":
                with suppress(OSError):
                    advance(Path(place.path).stat().st_size)
    if not arguments.json:
        say(f"mqsel: {known:,} selector{'s' * (known != 1)}, {unknown:,} that cannot be known")
    return 2 if damaged else int(not known + unknown)


def _line(entry: Entry) -> str:
    text = f"({entry.reason})" if entry.selector is None else entry.selector
    place = f"{shown(entry.file)}:{entry.line}:{entry.column}"
    return "\t".join(map(visible, (entry.key, entry.destination, text, place)))


def _in_json(entry: Entry) -> dict[str, object]:
    names = [*_SHOWN] if entry.selector is not None else ["reason" if one == "selector" else one for one in _SHOWN]
    return {name: getattr(entry, name) for name in names}
