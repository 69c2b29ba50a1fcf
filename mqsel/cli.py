"""The command line: match, check, explain, inspect. The one room that prints.

Results go to stdout, everything else to stderr; exit codes are those of grep (0 selected, 1 not, 2 trouble). Both
strategies, files read here and Spark, run the same generator `sift` and hand its records to the same desk. Owns no rule
of the language and no format. rich is imported by the function that needs it.

Over 500 lines: the wordings of four commands, their help included, stand in the room that prints.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from mqsel import formats
from mqsel.errors import FileError, MqselError, PropertyTypeError, SelectorError
from mqsel.files.framings import FORMATS, FRAMINGS, STRUC_IDS, each, reading
from mqsel.files.inspection import Found, as_json, inspected, table
from mqsel.files.opening import opened, unfolded
from mqsel.files.parts import Part
from mqsel.files.scan import (
    REPORTED,
    Ask,
    Broken,
    Sifted,
    Tally,
    in_json_words,
    said,
    sift,
    sift_part,
    why,
)
from mqsel.formats.records import SCHEMAS
from mqsel.language.dialect import IBM_MQ, PRESETS, Dialect
from mqsel.language.lexer import tokenize
from mqsel.language.nodes import Literal, Node, children, unparse
from mqsel.language.optimizer import optimize
from mqsel.language.selector import read_selector
from mqsel.machine.program import VERSION, listing
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector
from mqsel.values import TYPE_NAMES

_NAMED = 5  # missing properties named in the summary
_LONG = 1 << 24  # bytes of input that deserve a progress bar


# ---- the desk ----------------------------------------------------------------------------------------------------


def _complain(text: str) -> None:
    print(f"mqsel: {text}", file=sys.stderr)


def _place(name: str, kind: str, number: int) -> str:
    name = "stdin" if name == "-" else name
    return f"{name}, byte {number}" if FORMATS[kind].place == "byte" else f"{name}:{number}"


class _Desk:
    """Where the records of a run arrive, in order: lines to stdout, complaints to stderr, counts into one tally."""

    def __init__(self, ask: Ask) -> None:
        self.asked = ask
        self.total = Tally()
        self.trouble = False
        self._began = time.perf_counter()
        self._place: tuple[int, str] = (-1, "")
        self._lines_before = 0
        self._reported = 0
        self._note = ""  # place and words of what was skipped first of a message
        self._out = sys.stdout.buffer
        self._is_live = sys.stdout.isatty()

    @property
    def ask(self) -> Ask:
        """What is still asked."""
        limit = self.asked.limit
        return self.asked if limit is None else self.asked._replace(limit=limit - self.total.selected)

    @property
    def is_finished(self) -> bool:
        return self.ask.limit == 0 or (self.asked.raising and self.total.skipped > 0)

    def take(self, number: int, name: str, kind: str, record: Sifted) -> None:
        """Deal with a record that comes from file *number*, called *name*, which is of the format *kind*."""
        if self._place != (number, name):
            self._place = (number, name)
            self._lines_before = 0
        if isinstance(record, bytes):
            self._out.write(record if FORMATS[kind].place == "byte" or record.endswith(b"\n") else record + b"\n")
            if self._is_live:
                self._out.flush()
        elif isinstance(record, Tally):
            self.total.add(record)
            if record.note is not None and not self._note:
                line, text = record.note
                self._note = f"{_place(name, kind, self._lines_before + line)}: {text}"
            self._lines_before += record.lines
        elif isinstance(record, Broken):
            self.fail(name, record.why)
        elif self._reported < REPORTED:
            self._reported += 1
            _complain(f"{_place(name, kind, self._lines_before + record.line)}: {record.text}")

    def fail(self, name: str, why: str) -> None:
        """Report a file that cannot be read."""
        self.trouble = True
        _complain(f"{name}: {why}")

    def close(self) -> int:
        """Print the summary; give the exit code."""
        total = self.total
        stopped = ""
        if self.asked.raising and total.skipped:
            self.trouble = True
            stopped = " (stopped at the first error)"
        elif self.ask.limit == 0:
            stopped = " (stopped by --limit)"
        if total.skipped > self._reported:
            _complain(f"… and {total.skipped - self._reported:,} more")
        if self.asked.counting and not (self.asked.raising and total.skipped):
            print(total.selected)
        sys.stdout.flush()
        seconds = time.perf_counter() - self._began
        print(
            f"{total.messages:,} message{'s' * (total.messages != 1)}, "
            f"{total.selected:,} {'not ' * self.asked.invert}selected, "
            f"{total.unknown:,} unknown because of a missing property, "
            f"{total.skipped:,} skipped, {seconds:.2f} s{stopped}",
            file=sys.stderr,
        )
        for word, counts in (("missing", total.missing), ("no value of the declared type", total.unread)):
            # Equal counts by name: partitions arrive in any order of names.
            most = sorted(((name, n) for name, n in counts.items() if n), key=lambda item: (-item[1], item[0]))
            if most:
                shown = ", ".join(f"{name} {count:,}" for name, count in most[:_NAMED])
                print(f"{word}: {shown}{', …' * (len(most) > _NAMED)}", file=sys.stderr)
        if total.noted:
            messages = f"{total.noted:,} message{'s' * (total.noted != 1)}"
            print(f"skipped in part: {messages}, the first {self._note}", file=sys.stderr)
        return 2 if self.trouble else int(not total.selected)


# ---- match -------------------------------------------------------------------------------------------------------

Advance = Callable[[int], None]  # takes how many more bytes were read


def _match(arguments: argparse.Namespace) -> int:
    wanted = arguments.format
    raising = arguments.errors == "raise"
    ask = Ask(arguments.invert, arguments.count, raising, arguments.limit, wanted or "json", _types(arguments))
    desk = _Desk(ask)
    matcher = compile_selector(arguments.selector, dialect=arguments.dialect)
    if arguments.spark or arguments.master:
        from mqsel.spark.job import sifted_on_spark  # noqa: PLC0415 (pyspark is optional, and slow to import)

        master = arguments.master or "local[*]"
        with _tasks() as advance:
            for number, name, kind, record in sifted_on_spark(
                matcher, lambda: desk.ask, arguments.files, wanted, master, desk.fail, advance
            ):
                desk.take(number, name, kind, record)
                if desk.is_finished:
                    break
        return desk.close()
    files = _files(arguments.files, wanted)
    with _progress(files, ask) as advance:
        for number, name in enumerate(files):
            try:
                kind, source = reading(name, wanted, advance=advance)
            except FileError as error:
                desk.fail(name, why(error))
                continue
            if FORMATS[kind].message is not None:
                records = sift(matcher, desk.ask._replace(format=kind), source, name)
            elif name != "-":
                records = sift_part(matcher, desk.ask, Part(name, kind, 0, -1))
            else:
                records = iter((Broken(f"a file of format {kind} is read by columns: expected its name, not stdin"),))
            for record in records:
                desk.take(number, name, kind, record)
            if desk.is_finished:
                break
    return desk.close()


def _types(arguments: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    if arguments.type and arguments.format not in SCHEMAS:
        raise MqselError(
            "--type declares what records lost: this format has types of its own",
            hint=f"name the tool that wrote the records: --format {', '.join(SCHEMAS)}",
        )
    return tuple(arguments.type)


def _files(names: list[str], wanted: str | None) -> list[str]:
    """List the files; where each is a message, a directory stands for those in it."""
    return [one for name in names for one in unfolded(name)] if wanted in FRAMINGS else names


@contextmanager
def _progress(files: list[str], ask: Ask) -> Iterator[Advance | None]:
    """Show on a terminal how much of a long input was read; give the function to tell, or None where nothing shows.

    Lines that are printed on a terminal show the progress themselves, and would run into the bar.
    """
    total = 0
    if sys.stderr.isatty() and (ask.counting or not sys.stdout.isatty()):
        for name in files:
            with suppress(OSError):
                total += Path(name).stat().st_size
    if total < _LONG:
        yield None
        return
    try:
        from rich.console import Console  # noqa: PLC0415 (an extra)
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn  # noqa: PLC0415
    except ImportError:
        yield None
        return
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as progress:
        task = progress.add_task("", total=total)
        yield lambda size: progress.advance(task, size)


@contextmanager
def _tasks() -> Iterator[Callable[[int, int], None] | None]:
    """Show on a terminal how many tasks of Spark have ended; give the function to tell, or None."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = ""

    def advance(ended: int, tasks: int) -> None:
        nonlocal shown
        now = f"{ended:,} of {tasks:,} tasks"
        if now != shown:
            shown = now
            print(f"\r{shown}", end="", file=sys.stderr, flush=True)

    try:
        yield advance
    finally:
        print(f"\r{' ' * len(shown)}\r" if shown else "", end="", file=sys.stderr, flush=True)


# ---- check and explain -------------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> int:
    dialect = arguments.dialect
    try:
        compile_selector(arguments.selector, dialect=dialect)
    except SelectorError as error:
        _complain(str(error))
        return 1
    selector = read_selector(arguments.selector, dialect)
    remarks = selector.remarks()
    rows = [("valid", f"{_preset(dialect)} selector"), ("tests", f"{remarks.tests}")]
    width = max(map(len, remarks.expected), default=0)
    for name, kinds in remarks.expected.items():
        rows.append(("reads", f"{name:{width}}  {' or '.join(kinds) or 'any type'}"))
    if selector.constant is not None:
        effect = "every message is selected" if selector.constant else "no message is selected"
        rows.append(("constant", f"{selector.constant}: reads no property, {effect}"))
    if selector.match_option is not None:
        name, identifier = selector.match_option
        rows.append(("option", f"{name} {identifier.hex().upper()}: a queue manager matches these bytes instead"))
    rows += [("warning", warning) for warning in remarks.warnings]
    for key, text in rows:
        print(f"{key:8}  {text}")
    return 0


def _preset(dialect: Dialect) -> str:
    return next(name for name, preset in PRESETS.items() if preset == dialect)


def _explain(arguments: argparse.Namespace) -> int:
    selector, dialect = arguments.selector, arguments.dialect
    matcher = compile_selector(selector, dialect=dialect)
    explanation = None if arguments.message is None else _explained(matcher, arguments.message)
    read = read_selector(selector, dialect)
    tokens = [token for token in tokenize(selector, dialect) if token.kind != "end"]
    width = max((len(token.kind) for token in tokens), default=0)
    print("tokens")
    for kind, value, start, stop in tokens:
        piece = selector[start:stop]
        meaning = f"  = {value!r}" if isinstance(value, (int, float)) and str(value) != piece else ""
        print(f"  {f'{start}:{stop}':>9}  {kind:{width}}  {piece}{meaning}")
    print("\ntree")
    for line in _tree(read.node, selector):
        print(f"  {line}")
    print(f"\noptimised\n  {unparse(optimize(read).node)}")
    print(f"\ninstructions\n{listing(matcher.program)}")
    if explanation is None:
        return 0
    text, is_selected = explanation
    print("\nmessage\n  " + text.replace("\n", "\n  "))
    return int(not is_selected)


def _explained(matcher: Matcher, argument: str) -> tuple[str, bool]:
    """Explain a message: the argument itself, the content of ``@file``, or stdin for ``-``; JSON, or an MQ message.

    Returns: the text, and whether it is selected.
    """
    text: str | bytes = argument
    if argument == "-" or argument.startswith("@"):
        name = argument.removeprefix("@")
        try:
            with opened(name) as (_, content):
                text = content.read()
        except FileError as error:
            raise MqselError(f"{name}: {why(error)}") from error
    if isinstance(text, bytes) and text[:4] in STRUC_IDS:
        return _explained_bytes(matcher, text)
    message = matcher.decoder("json")(text)
    try:
        explanation = matcher.explain(message)
    except PropertyTypeError as error:
        raise in_json_words(error, message, matcher) from error
    return str(explanation), explanation.selected


def _explained_bytes(matcher: Matcher, message: bytes) -> tuple[str, bool]:
    explanation = matcher.explain(formats.properties(message))
    answer = matcher.decoder("mq")(message)
    if not isinstance(answer, bool) or answer is explanation.selected:
        return str(explanation), explanation.selected
    # The selector is not what decides: say what does, and what the selector would.
    why = "it carries a property whose name is not allowed: see mqsel inspect"
    if matcher.match_option is not None:
        why = f"{matcher.match_option[0]} compares the identifier in the MQMD"
    verdict = "TRUE: selected" if answer else "FALSE: not selected"
    return f"{verdict}: {why}\nthe selector alone\n  " + str(explanation).replace("\n", "\n  "), answer


def _tree(root: Node, selector: str) -> Iterator[str]:
    """List the nodes, each with the piece of the selector it stands for."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        label = "  " * depth + type(node).__name__ + (f" {node.kind}" if isinstance(node, Literal) else "")
        piece = " ".join(selector[node.span[0] : node.span[1]].split())
        yield f"{label:24}  {piece if len(piece) <= 72 else piece[:71] + '…'}".rstrip()
        stack.extend((child, depth + 1) for child in reversed(children(node)))


# ---- inspect -----------------------------------------------------------------------------------------------------


def _inspect(arguments: argparse.Namespace) -> int:
    wanted, types = arguments.format, dict(_types(arguments))
    is_in_trouble = False
    seen = broken = 0

    def fail(name: str, why: str) -> None:
        nonlocal is_in_trouble
        is_in_trouble = True
        _complain(f"{name}: {why}")

    for where, one in islice(_inspections(_files(arguments.files, wanted), wanted, types, fail), arguments.limit):
        seen += 1
        if isinstance(one, MqselError):
            broken += 1
            if broken <= REPORTED:
                _complain(f"{where}: {said(one)}")
        elif arguments.json:
            sys.stdout.writelines(as_json(where, one))
        else:
            if seen > broken + 1:
                print()
            for line in table(where, one):
                print(line)
    if broken > REPORTED:
        _complain(f"… and {broken - REPORTED:,} more")
    if not seen and not is_in_trouble:
        _complain("no messages")
    return 2 if is_in_trouble else int(broken > 0)


def _inspections(
    names: list[str], wanted: str | None, types: Mapping[str, str], fail: Callable[[str, str], None]
) -> Iterator[tuple[str, Found | MqselError]]:
    """Inspect the messages of files: give for each its place, and what it has or why it is none."""
    for name in names:
        try:
            kind, source = reading(name, wanted)
        except FileError as error:
            fail(name, why(error))
            continue
        if FORMATS[kind].message is None:
            fail(name, f"a file of format {kind} is read by columns: expected messages")
            continue
        for number, (piece, found) in enumerate(each(source, inspected(kind, types)), 1):
            if isinstance(found, MqselError) and piece is None:
                fail(name, why(found))
            elif piece is not None and found is not None:
                yield _place(name, kind, number if FORMATS[kind].is_lines else piece.place), found


# ---- arguments ---------------------------------------------------------------------------------------------------


def _dialect(text: str) -> Dialect:
    try:
        return PRESETS[text.upper().replace("-", "_")]
    except KeyError:
        raise argparse.ArgumentTypeError(f"there is no dialect {text!r}: choose {', '.join(PRESETS)}") from None


def _limit(text: str) -> int:
    with suppress(ValueError):
        if int(text) > 0:
            return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no count: write a whole number from 1")


def _declared(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if name and kind in TYPE_NAMES:
        return name, kind
    raise argparse.ArgumentTypeError(f"{text!r} declares no type: write NAME=TYPE, with one of {', '.join(TYPE_NAMES)}")


_EXAMPLES = """\
examples:
  mqsel match "JMSType = 'car' AND weight > 2500" messages.jsonl.gz
  mqsel check --dialect tibco-ems "color IN ('red', 'blue')"
  mqsel explain "weight > 2500" '{"weight": {"int32": 3000}}'
  mqsel inspect dump.qload
"""


def _formats(names: Iterable[str]) -> str:
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


_OF_MESSAGES = tuple(name for name, row in FORMATS.items() if row.message is not None)
_MATCH_EXAMPLES = f"""\
A message is a JSON object on one line. A plain whole number is an int64, any other number a float64; a value may name
its type: {{"weight": {{"int32": 3000}}, "ratio": {{"float32": 0.5}}, "token": {{"bytes": "0a1b"}}}}.

{_formats(FORMATS)}

Selected messages are printed as they stand in the file; of messages that have a file each, the names; rows of Parquet
as JSON.

exit code: 0 if something was selected, 1 if nothing was, 2 if something went wrong.

examples:
  mqsel match "color = 'blue'" messages.jsonl more.jsonl.gz
  mqsel match "JMSPriority > 4 AND Root.MQMD.MsgType = 8" dump.qload > again.qload
  mqsel match --format lenses --type weight=int32 "weight > 2500" records.jsonl
  zcat messages.jsonl.gz | mqsel match --count "weight > 2500" -
  mqsel match --spark "color = 'blue'" messages.jsonl.gz
  mqsel match --master spark://host:7077 "color = 'blue'" 'hdfs:///messages/*.gz'   (every executor needs mqsel)
"""
_INSPECT_EXAMPLES = f"""\
Every property of every message: its name as a selector spells it, type, value, and where it came from; then what was
skipped, and why. --json prints one object for each message.

{_formats(_OF_MESSAGES)}

exit code: 0 if every message could be read, 1 if not, 2 if something went wrong.

examples:
  mqsel inspect dump.qload
  mqsel inspect --limit 1 --json --format connect records.jsonl
"""
_EXPLAIN_EXAMPLES = """\
exit code: 0 if the message is selected or none was given, 1 if it is not selected, 2 if something went wrong.

examples:
  mqsel explain "weight * 2 > 5000 OR color = 'blue'"
  mqsel explain "color = 'blue'" '{"color": "red"}'
  mqsel explain "color = 'blue'" @message.json
  mqsel explain "Root.MQMD.MsgType = 8" @message.bin   (an MQMD and its data)
"""


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="mqsel",
        description="Message selectors of IBM MQ, JMS and TIBCO EMS on files of messages.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    parser.add_argument("--version", action="version", version=f"mqsel {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str, epilog: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=epilog, formatter_class=raw
        )
        made.set_defaults(run=run)
        return made

    def add_selector(made: argparse.ArgumentParser) -> None:
        made.add_argument("selector", metavar="SELECTOR", help="the message selector, as one argument")
        made.add_argument(
            "--dialect",
            type=_dialect,
            default=IBM_MQ,
            metavar="NAME",
            help=f"{', '.join(PRESETS)}; default IBM_MQ",
        )

    def add_files(made: argparse.ArgumentParser, formats: Iterable[str]) -> None:
        made.add_argument("files", metavar="FILE", nargs="+", help="files, gzipped or not; - is stdin")
        made.add_argument("--format", choices=tuple(formats), metavar="NAME", help="what the files hold; see below")
        made.add_argument(
            "--type",
            action="append",
            default=[],
            type=_declared,
            metavar="NAME=TYPE",
            help="the type of a property, for records that lost it; a text that does not fit is NULL, and counted",
        )

    match = command("match", _match, "print the messages that a selector selects", _MATCH_EXAMPLES)
    add_selector(match)
    add_files(match, FORMATS)
    match.add_argument("--count", action="store_true", help="print how many there are, not the messages")
    match.add_argument("--invert", action="store_true", help="take the messages that are not selected")
    match.add_argument("--limit", type=_limit, metavar="N", help="stop after N messages")
    match.add_argument(
        "--errors",
        choices=("skip", "raise"),
        default="skip",
        help="what to do with what is no message: report and skip it (default), or stop with exit code 2",
    )
    match.add_argument("--spark", action="store_true", help="run on Spark: inside this machine, or see --master")
    match.add_argument("--master", metavar="URL", help="run on this Spark master; default local[*]")
    add_selector(
        command("check", _check, "say whether a selector is valid, and what it reads", "exit code: 0 valid, 1 not.")
    )
    explain = command("explain", _explain, "show how a selector is read, compiled and evaluated", _EXPLAIN_EXAMPLES)
    add_selector(explain)
    explain.add_argument("message", metavar="MESSAGE", nargs="?", help="a JSON object, @FILE, or - for stdin")
    inspect = command("inspect", _inspect, "show the properties of messages", _INSPECT_EXAMPLES)
    add_files(inspect, _OF_MESSAGES)
    inspect.add_argument("--json", action="store_true", help="print one JSON object for each message")
    inspect.add_argument("--limit", type=_limit, metavar="N", help="stop after N messages")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments, by default those of the process.

    Returns: the exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that the terminal lacks is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except MqselError as error:
        _complain(str(error))
        return 2
    except BrokenPipeError:
        # The reader has what it wanted. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # stdout: a full disk
        _complain(str(error))
        return 2
    except KeyboardInterrupt:
        return 130
    return status
