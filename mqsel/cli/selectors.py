"""Selectors as arguments and in files, for the commands that take many; and ``mqsel selectors``, which lists them."""

from __future__ import annotations

import argparse
import glob
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mqsel.arguments import check_total
from mqsel.carets import caret, in_one_line, nameable, plural, shortened
from mqsel.cli.arguments import Commands, Options, add_max_size, command, dialect_of, in_shell, is_message
from mqsel.cli.output import complain, print_json, print_text, say, width_of
from mqsel.cli.page import PageTable
from mqsel.cli.report import first_of, progress
from mqsel.errors import FileError, MqselError, SelectorError
from mqsel.files.configuration import Configuration, configured
from mqsel.files.framings import shown
from mqsel.files.opening import check_size, opened
from mqsel.files.run.work import Ask, why
from mqsel.inventory import COLUMNS, KINDS, Entry, Place, files_of, keys_of, read_file
from mqsel.inventory.pieces import HOLE
from mqsel.inventory.recognition import EXTENSIONS
from mqsel.language.dialect import PRESETS, Dialect

ABOUT_PATHS = """\
If an argument looks like a file name (a single word, a / without spaces around it, or a known extension) but no \
such file exists, mqsel stops with an error. Use -e if it's a selector. For more about paths, type mqsel help paths.
"""

NONE_FOUND = "no selector was found: mqsel help paths lists the file types, --as KIND sets the type of your files"


class Given(NamedTuple):
    """A selector, and where it stands.

    Attributes:
        where: in words: its number among the arguments, or FILE:LINE:COLUMN.
        text: the selector, with an ellipsis for each character of what cannot be known.
        dialect: to read it in.
        entry: of the inventory; None for one of the command line.
    """

    where: str
    text: str
    dialect: Dialect
    entry: Entry | None = None

    @property
    def reason(self) -> str:
        """Why it cannot be known; empty if it is."""
        return "" if self.entry is None else self.entry.reason

    @property
    def source(self) -> str:
        """The text with its holes; all of it is one if nothing of it is certain."""
        if self.entry is None or self.entry.text is None:
            return self.text
        text = self.entry.text.value
        return HOLE * len(text) if self.reason and HOLE not in text else text

    def region(self, span: tuple[int, int]) -> tuple[int, int, int, int]:
        """Return line and column of the start and the end of a span, from 1: of the file, or of the text itself."""
        if self.entry is not None:
            return self.entry.region(span)
        (line, column), (last, end) = (
            (self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)) for at in span
        )
        return line, column, last, end

    def place(self, span: tuple[int, int]) -> str:
        """Return where a span begins, in words."""
        line, column, *_ = self.region(span)
        if self.entry is not None:
            return f"{shown(self.entry.file)}:{line}:{column}"
        return f"{self.where}, " + f"line {line}, " * ("\n" in self.text) + f"column {column}"


class AllGiven(NamedTuple):
    """What arguments of a command line give.

    Attributes:
        selectors: in order: those behind -e and among the arguments, then those of files.
        damaged: the entries of files that cannot be read, or not wholly; they have been complained of.
        places: the files, each once.
        stdin: the bytes of stdin, if it was read.
    """

    selectors: list[Given]
    damaged: list[Entry]
    places: list[Place]
    stdin: bytes = b""


def add_selectors(made: argparse.ArgumentParser) -> Options:
    """Add selectors as arguments, and in files; return the group of options."""
    made.add_argument(
        "given",
        metavar="PATH|SELECTOR",
        nargs="*",
        help="selectors in quotes, or paths (see mqsel help paths)",
    )
    made.set_defaults(rest="given")
    group = add_inventory(made)
    add_selector_option(group)
    group.add_argument(
        "--file",
        metavar="PATH",
        nargs="+",
        action="extend",
        default=[],
        help="a path, even if it looks like a selector",
    )
    return group


def add_selector_option(options: Options) -> None:
    """Add the option that marks a selector."""
    options.add_argument(
        "-e",
        dest="selectors",
        metavar="SELECTOR",
        action="append",
        default=[],
        help="a selector, even if it looks like a path",
    )


def add_paths(made: argparse.ArgumentParser) -> None:
    """Add paths as arguments."""
    made.add_argument(
        "paths", metavar="PATH", nargs="+", help="files, folders, patterns or URLs; - is stdin (see mqsel help paths)"
    )
    made.set_defaults(rest="paths")


def add_inventory(made: argparse.ArgumentParser) -> Options:
    """Add the options for how selectors in files are read, and the dialect; return the group of options."""
    group = made.add_argument_group("reading selectors")
    add_kind(group)
    group.add_argument(
        "--dialect",
        type=dialect_of,
        metavar="NAME",
        help="see mqsel help dialects (default: by the file type)",
    )
    return group


def add_kind(options: Options) -> None:
    """Add the options for what files of selectors hold."""
    options.add_argument(
        "--as",
        dest="kind",
        choices=tuple(KINDS),
        metavar="KIND",
        help="file type: see mqsel help paths (default: detected)",
    )
    options.add_argument(
        "--columns",
        action="append",
        default=[],
        type=lambda text: [_columns(one) for one in text.split(",")],
        metavar="NAME=COL",
        help="CSV columns, such as key=id (default: the same names)",
    )
    add_max_size(options)
    options.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="list the files that mqsel passes over in folders",
    )


def columns_of(arguments: argparse.Namespace) -> dict[str, str]:
    """Return how the columns of CSV are called, where that is told."""
    return dict(one for many in arguments.columns for one in many)


def _columns(text: str) -> tuple[str, str]:
    name, _, column = text.partition("=")
    if name in COLUMNS and column:
        return name, column
    raise argparse.ArgumentTypeError(f"{text!r} names no column: write key=NAME, destination=NAME or selector=NAME")


def given(arguments: argparse.Namespace) -> AllGiven:
    """Read the selectors of the arguments, and those of files; complain of what is damaged.

    Raises: MqselError: there is none; or an argument may be a name, and names no file.
    """
    texts: list[str] = [*arguments.selectors]
    paths: list[str] = []
    for one in arguments.given:
        (paths if names_files(one, arguments.called) else texts).append(one)
    paths += arguments.file
    if not texts and not paths:
        raise MqselError(
            "no selector is given: expected one, or a path", hint=f"write mqsel {arguments.called} PATH, or -e SELECTOR"
        )
    dialect = arguments.dialect or configuration_of(arguments).usual
    first = [Given(f"selector {number}", text, dialect) for number, text in enumerate(texts, 1)]
    found = _in_files(paths, arguments, arguments.dialect)
    if paths and not first and not found.selectors and not found.damaged:
        complain(NONE_FOUND)
    return found._replace(selectors=[*first, *found.selectors])


def _in_files(paths: list[str], arguments: argparse.Namespace, dialect: Dialect | None) -> AllGiven:
    """Read the selectors of files; complain of what is damaged."""
    made = AllGiven([], [], [*files_of(paths)])
    passed: list[str] = []
    for place in made.places:
        content = _stdin(arguments.max_size) if place.path == "-" else None
        for entry in entries_of(place, arguments, dialect, passed, content):
            if entry.text is None and entry.reason:
                complain(f"{place_in_words(entry)}: {entry.reason}")
                made.damaged.append(entry)
            else:
                made.selectors.append(_of_entry(entry))
        if content is not None:
            made = made._replace(stdin=content)
    report_passed(passed, arguments)
    return made


def report_passed(passed: list[str], arguments: argparse.Namespace) -> None:
    """Say how many files of folders no kind recognises, and with --verbose which."""
    for path in passed if arguments.verbose else ():
        say(f"mqsel: passed over: {shown(path)}")
    if passed:
        names = "" if arguments.verbose else "; -v lists them"
        say(f"mqsel: passed over {plural(len(passed), 'file')} without signs of selectors{names}")


def unread(damaged: Sequence[Entry]) -> Iterator[PageTable]:
    """Yield the table of what could not be read, for the page of a report; none if everything was."""
    if damaged:
        rows = [[[("text", place_in_words(one))], [("bad", one.reason)]] for one in damaged]
        yield PageTable("Not read", ("Where", "Why"), rows)


def place_in_words(entry: Entry) -> str:
    """Return where a selector stands."""
    return f"{shown(entry.file)}:{entry.line}:{entry.column}"


def _of_entry(entry: Entry) -> Given:
    text = entry.selector if entry.text is None else entry.text.value
    assert text is not None
    return Given(place_in_words(entry), text.replace(HOLE, "…"), PRESETS[entry.dialect], entry)


def entries_of(
    place: Place,
    arguments: argparse.Namespace,
    dialect: Dialect | None,
    passed: list[str],
    content: bytes | None = None,
) -> Iterator[Entry]:
    """Yield the entries of a file, each with the dialect to read it in.

    That is the one that is wanted, that of the configuration for the path, or that of the kind.

    Args:
        passed: see `read_file`.
    """
    wanted = next((name for name, one in PRESETS.items() if one == dialect), "")
    configuration = configuration_of(arguments)
    columns, max_size = columns_of(arguments), arguments.max_size
    for one in read_file(place, arguments.kind, columns, content, max_size=max_size, passed=passed):
        chosen = wanted or configuration.dialect_of(one.file, one.dialect)
        yield one if chosen == one.dialect else one._replace(dialect=chosen)


def configuration_of(arguments: argparse.Namespace) -> Configuration:
    """Return the configuration of the project, which is read once for a command line.

    Raises: MqselError: there is a mistake in it.
    """
    if "configuration" not in arguments:
        arguments.configuration = configured()
    found: Configuration = arguments.configuration
    return found


def _stdin(max_size: int) -> bytes:
    try:
        with opened("-") as (_, stream):
            data = stream.read(max_size + 1)
            check_size(len(data), max_size, "-")
            return data
    except FileError as error:
        what, _, hint = why(error).partition("\n  hint: ")
        raise MqselError(f"stdin: {what}", hint=hint or None) from error


_QUOTED = re.compile(r"'[^']*'")
_BARE = re.compile(r"[^\s=<>()']+")  # a selector has one of these, or is the name of a property
_SLASH = re.compile(r"(?<!\s)/|/(?!\s)")


def names_files(text: str, called: str) -> bool:
    """Report whether an argument names files; otherwise it is a selector.

    Raises: MqselError: it may be either, and there is no such file.
    """
    if text == "-" or "://" in _QUOTED.sub("''", text):
        return True
    with suppress(ValueError):  # a NUL
        if os.path.lexists(text) or (glob.has_magic(text) and glob.glob(text, recursive=True)):  # noqa: PTH207
            return True
    if is_message(text):
        raise MqselError(f"{shortened(text)} is a message: expected a selector")
    unquoted = _QUOTED.sub("''", text)
    if _BARE.fullmatch(unquoted) or _SLASH.search(unquoted) or EXTENSIONS.fullmatch(unquoted):
        hint = f"if a selector is meant, write mqsel {called} -e {in_shell(text)}"
        raise MqselError(f"{shortened(text)}: there is no such file", hint=hint)
    return False


def complain_of(one: Given, error: SelectorError, key: str = "", *, is_many: bool = True) -> None:
    """Print what is wrong with a selector, by its place in the file that people edit.

    Args:
        key: of the selector, where keys matter.
        is_many: there are others: it is named by its number, if it stands in no file.
    """
    if one.entry is None:
        complain(error, f"{one.where}: " * is_many)
        return
    hint = f"\n  hint: {error.hint}" if error.hint else ""
    code = f" [{error.reason}]" * error.is_ibm
    lines = [f"{error.message}{code}", *caret(one.text, error.span, width_of(sys.stderr))]
    complain("\n".join(lines) + hint, f"{one.place(error.span)}: " + f"{key}: " * bool(key))


def named(key: str, by: dict[str, Given], paths: list[str]) -> Given:
    """Return the selector of a key.

    Raises: MqselError: there is none.
    """
    if key not in by:
        alike = [one for one in by if one.startswith(f"{key}@")]
        known = first_of([shortened(one) for one in alike or by], _NAMED, "mqsel selectors PATH lists them")
        raise MqselError(
            f"there is no selector with the key {shortened(key)} in {', '.join(map(shown, paths))}",
            hint=f"the keys are {known}" if by else None,
        )
    return by[key]


class KeyedSelectors(NamedTuple):
    """The selectors of files by key.

    Attributes:
        known: those that are known.
        unknown: those that are glued together or have placeholders; they have been complained of.
        damaged: the entries of what could not be read; likewise.
    """

    known: dict[str, Given]
    unknown: dict[str, Given]
    damaged: list[Entry]


def keyed(paths: list[str], arguments: argparse.Namespace, dialect: Dialect | None) -> KeyedSelectors:
    """Read the selectors of files by key; complain of what is damaged, and of what cannot be known.

    Args:
        dialect: to read all of them in; None for that of the kind of each.

    Raises: MqselError: a file of keys has one twice.
    """
    read = _in_files(paths, arguments, dialect)
    entries = [one.entry for one in read.selectors if one.entry is not None]
    places: dict[tuple[str, str], Entry] = {}
    for one in entries:
        before = places.setdefault((one.file, one.key), one)
        if before is not one and one.kind in _KEYED:
            raise MqselError(
                f"{shown(one.file)}:{one.line}: the key {shortened(one.key)} is in it twice: in line {one.line}, "
                f"and in line {before.line}"
            )
    known: dict[str, Given] = {}
    unknown: dict[str, Given] = {}
    for key, entry in zip(keys_of(entries), entries, strict=True):
        (unknown if entry.reason else known)[key] = _of_entry(entry)
        if entry.reason:
            complain(f"{place_in_words(entry)}: {key}: incomplete: {entry.reason}")
    check_total(len(entries), len(known), len(unknown))
    return KeyedSelectors(known, unknown, read.damaged)


_NAMED = 8  # keys in a hint
_KEYED = ("keyed", "keyed-json", "parquet")  # whose keys are of their own


# ---- the command -------------------------------------------------------------------------------------------------

_EXAMPLES = """\
mqsel selectors src/ config/
dmpmqcfg -m QM1 -t sub | mqsel selectors -
mqsel selectors --json 'config/**/*.xml'
mqsel selectors --as csv --columns key=id,selector=rule rules.csv\
"""
_EXITS = ("At least one selector was found", "No selector was found", "An error")
_ABOUT = """\
mqsel prints a line for each selector: key, destination, selector and FILE:LINE:COLUMN, with tabs between them. It \
prints tabs and newlines of the selector as spaces, and inside a string as symbols. Use --json for the exact selector. \
If a selector is incomplete, mqsel prints the reason in parentheses instead.
"""
_SHOWN = ("key", "destination", "selector", "dialect", "kind", "file", "line", "column")


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "selectors", _list, "list the selectors in files", _EXAMPLES, _EXITS, _ABOUT)
    add_paths(made)
    add_inventory(made)
    output = made.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object for each selector")


def _list(arguments: argparse.Namespace) -> int:
    listed = known = unknown = damaged = 0
    passed: list[str] = []
    places = files_of(arguments.paths)
    measured: list[Place] = []
    if sys.stderr.isatty():
        places = iter(measured := [*places])
    with progress([one.path for one in measured], Ask()) as advance:
        for place in places:
            for entry in entries_of(place, arguments, arguments.dialect, passed):
                listed += 1
                known += entry.selector is not None
                unknown += entry.selector is None and entry.text is not None
                damaged += entry.text is None and bool(entry.reason)
                if arguments.json:
                    print_json(_in_json(entry))
                elif entry.text is None and entry.reason:
                    complain(f"{place_in_words(entry)}: {entry.reason}")
                else:
                    text = f"({entry.reason})" if entry.selector is None else in_one_line(entry.selector)
                    print_text(entry.key, entry.destination, text, place_in_words(entry))
            if advance is not None and place.path != "-":
                with suppress(OSError):
                    advance(Path(place.path).stat().st_size)
    check_total(listed, known, unknown, damaged)
    if not listed:
        complain(NONE_FOUND)
    report_passed(passed, arguments)
    if not arguments.json:
        unread = f", {plural(damaged, 'place')} not read" * bool(damaged)
        say(f"mqsel: {plural(known, 'selector')}, {unknown:,} incomplete{unread}")
    return 2 if damaged else int(not known + unknown)


def _in_json(entry: Entry) -> dict[str, object]:
    names = [*_SHOWN] if entry.selector is not None else ["reason" if one == "selector" else one for one in _SHOWN]
    return {**{name: getattr(entry, name) for name in names}, "file": nameable(entry.file)}
