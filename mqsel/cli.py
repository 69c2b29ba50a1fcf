"""The command line: match, check, explain. The one room that prints.

Results go to stdout, everything else to stderr; exit codes are those of grep (0 selected, 1 not, 2 trouble). Both
roads, files read here and Spark, run the same generator `sift` and hand its records to the same desk. Owns the JSON
spelling of messages and no rule of the language. rich and pyspark are imported by the functions that need them.

Over 500 lines: all wordings of three commands, their help included, stand in the room that prints.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import re
import signal
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from mqsel.checker import check, remark
from mqsel.dialect import IBM_MQ, PRESETS, Dialect
from mqsel.errors import MqselError, PropertyTypeError, SelectorError
from mqsel.explain import Explanation
from mqsel.lexer import tokenize
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector
from mqsel.nodes import Literal, Node, children, unparse
from mqsel.optimizer import optimize
from mqsel.parser import parse
from mqsel.program import VERSION, listing
from mqsel.values import TYPE_NAMES, Float32, Int8, Int16, Int32, Truth

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

_REPORTED = 10  # skipped lines reported in full
_NAMED = 5  # missing properties named in the summary
_LONG = 1 << 24  # bytes of input that deserve a progress bar


# ---- JSON to messages --------------------------------------------------------------------------------------------


def _float(value: float | str) -> float:
    if isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity"):
        raise ValueError
    return float(value)


# For each name of a type: the JSON values it takes, how they are read, and how that is said.
_READERS: dict[str, tuple[tuple[type, ...], Callable[[Any], Any], str]] = {
    "null": ((type(None),), lambda value: value, "null"),
    "boolean": ((bool,), bool, "true or false"),
    "bytes": ((str,), bytes.fromhex, "a string of hexadecimal digits, two for each byte"),
    "int8": ((int,), Int8, "a whole number from -128 to 127"),
    "int16": ((int,), Int16, "a whole number from -32768 to 32767"),
    "int32": ((int,), Int32, "a whole number from -2147483648 to 2147483647"),
    "int64": ((int,), int, "a whole number"),  # its range is the machine's to judge, as for plain numbers
    "float32": ((int, float, str), lambda value: Float32(_float(value)), 'a number, "NaN" or "Infinity"'),
    "float64": ((int, float, str), _float, 'a number, "NaN" or "Infinity"'),
    "string": ((str,), str, "a string"),
}
_JSON_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def _typed(name: str, value: dict[str, Any] | list[Any]) -> Any:
    """Read a value that names its type: ``{"int32": 5}``.

    Raises: PropertyTypeError: another object or array, a type that is not there, or a value that does not fit it.
    """
    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    kind, plain = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    if kind not in TYPE_NAMES:
        raise PropertyTypeError(
            f"property '{name}' is {shown}: expected a plain value, or one with its type",
            name=name,
            value_type=type(value).__name__,
            hint=f'write {{"int32": 5}}; types are {", ".join(TYPE_NAMES)}',
        )
    kinds, read, words = _READERS[kind]
    try:
        if type(plain) in kinds:
            return read(plain)
    except (ValueError, OverflowError):
        pass
    raise PropertyTypeError(f"property '{name}' is {shown}: {kind} takes {words}", name=name, value_type=kind)


def message_from_json(text: str | bytes, names: Iterable[str]) -> dict[str, Any]:
    """Read one JSON object as a message.

    Args:
        text: the object; bytes are UTF-8.
        names: the properties that will be read. Values that name their type are converted for these only; one that
            does not fit stays as it is, so that the machine refuses it if it comes to reading it.

    Raises: PropertyTypeError: no JSON, or JSON that is no object.
    """
    try:
        message = json.loads((text.decode() if isinstance(text, bytes) else text).removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise PropertyTypeError(f"broken JSON: byte {error.start + 1} is no UTF-8") from error
    except json.JSONDecodeError as error:
        found = f"{error.msg[:1].lower()}{error.msg[1:]}".removesuffix(" at")
        before = error.doc[: error.pos].rstrip("\r\n")  # the end of the line, not the beginning of the next
        place = f"line {before.count(chr(10)) + 1}, " if "\n" in before else ""
        place += f"column {len(before) - before.rfind(chr(10))}"
        raise PropertyTypeError(f"broken JSON: {found} at {place}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise PropertyTypeError("JSON with a number or a nesting that is too large to read") from error
    if type(message) is not dict:
        raise PropertyTypeError(f"a message is a JSON object: found {_JSON_NAMES.get(type(message), 'a number')}")
    for name in names:
        value = message.get(name)
        if type(value) is dict:
            with suppress(PropertyTypeError):
                message[name] = _typed(name, value)
    return message


def _spellings(matcher: Matcher) -> dict[str, str]:
    """Give, for each property that is read, the other name it may have in a message, or the same name again."""
    if matcher.dialect.headers != "mqi":
        return {name: name for name in matcher.properties}
    return {name: name if "." in name or name.startswith("JMS") else f"usr.{name}" for name in matcher.properties}


def _in_json_words(error: PropertyTypeError, message: dict[str, Any], spellings: dict[str, str]) -> PropertyTypeError:
    """Say of a value that the machine refused what it is in JSON."""
    if error.name is not None:
        value = message.get(error.name, message.get(spellings[error.name]))
        if isinstance(value, (dict, list)):
            try:
                _typed(error.name, value)
            except PropertyTypeError as clearer:
                return clearer
    return error


# ---- the work, here or on an executor ----------------------------------------------------------------------------


class Ask(NamedTuple):
    """What is asked of a run; see the options of ``mqsel match``."""

    invert: bool
    counting: bool
    raising: bool
    limit: int | None


class Complaint(NamedTuple):
    """Why a line was skipped; lines count from 1 in the piece of input that was given to `sift`."""

    line: int
    text: str


@dataclass(slots=True)
class Tally:
    """The counts of one piece of input, last of its records.

    Attributes:
        lines: how many there were, blank ones included.
        messages: lines that are not blank.
        selected: messages that were asked for: the selected ones, with ``--invert`` the others.
        unknown: messages for which the selector is UNKNOWN.
        skipped: lines that are no message, and messages with a value that no property can have.
        missing: for each property, how many of the unknown messages do not have it.
    """

    lines: int = 0
    messages: int = 0
    selected: int = 0
    unknown: int = 0
    skipped: int = 0
    missing: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add the counts of another piece."""
        self.lines += other.lines
        self.messages += other.messages
        self.selected += other.selected
        self.unknown += other.unknown
        self.skipped += other.skipped
        self.missing += other.missing


Sifted = bytes | Complaint | Tally


def sift(matcher: Matcher, ask: Ask, lines: Iterable[bytes]) -> Iterator[Sifted]:
    """Yield the lines that are asked for, untouched, among complaints about broken ones; at the end the counts.

    Only the first complaints are yielded: the rest is in the counts. Counts travel as a record, so that a task which
    Spark runs twice is counted once.
    """
    tally = Tally()
    spellings = _spellings(matcher)
    names = {*spellings, *spellings.values()}
    matches, evaluate, true, unknown = matcher.matches, matcher.evaluate, Truth.TRUE, Truth.UNKNOWN
    for line in lines:
        tally.lines += 1
        if not line or line.isspace():
            continue
        tally.messages += 1
        message: dict[str, Any] = {}
        try:
            message = message_from_json(line, names)
            truth = true if matches(message) else evaluate(message)
        except PropertyTypeError as error:
            tally.skipped += 1
            if tally.skipped <= _REPORTED:
                yield Complaint(tally.lines, str(_in_json_words(error, message, spellings)))
            if ask.raising:
                break
            continue
        if truth is unknown:
            tally.unknown += 1
            tally.missing.update(
                name for name, other in spellings.items() if message.get(name) is None and message.get(other) is None
            )
        if (truth is true) is not ask.invert:
            tally.selected += 1
            if not ask.counting:
                yield line
            if tally.selected == ask.limit:
                break
    yield tally


# ---- the desk ----------------------------------------------------------------------------------------------------


def _complain(text: str) -> None:
    print(f"mqsel: {text}", file=sys.stderr)


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

    def take(self, number: int, name: str, record: Sifted) -> None:
        """Deal with a record that comes from file *number*, called *name*."""
        if self._place != (number, name):
            self._place = (number, name)
            self._lines_before = 0
        if isinstance(record, bytes):
            self._out.write(record if record.endswith(b"\n") else record + b"\n")
            if self._is_live:
                self._out.flush()
        elif isinstance(record, Tally):
            self.total.add(record)
            self._lines_before += record.lines
        elif self._reported < _REPORTED:
            self._reported += 1
            name = "stdin" if name == "-" else name
            _complain(f"{name}:{self._lines_before + record.line}: {record.text}")

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
        if total.missing:
            # Equal counts by name: partitions arrive in any order of names.
            most = sorted(total.missing.items(), key=lambda item: (-item[1], item[0]))
            shown = ", ".join(f"{name} {count:,}" for name, count in most[:_NAMED])
            print(f"missing: {shown}{', …' * (len(most) > _NAMED)}", file=sys.stderr)
        return 2 if self.trouble else int(not total.selected)


# ---- match -------------------------------------------------------------------------------------------------------

Advance = Callable[[int], None]  # takes how many more bytes were read


def _match(arguments: argparse.Namespace) -> int:
    ask = Ask(arguments.invert, arguments.count, arguments.errors == "raise", arguments.limit)
    desk = _Desk(ask)
    matcher = compile_selector(arguments.selector, dialect=arguments.dialect)
    if arguments.spark or arguments.master:
        _match_on_spark(matcher, arguments.files, arguments.master or "local[*]", desk)
        return desk.close()
    with _progress(arguments.files, ask) as advance:
        for number, name in enumerate(arguments.files):
            for record in sift(matcher, desk.ask, _lines(name, desk.fail, advance)):
                desk.take(number, name, record)
            if desk.is_finished:
                break
    return desk.close()


def _lines(name: str, fail: Callable[[str, str], None], advance: Advance | None = None) -> Iterator[bytes]:
    """Read the lines of a file, unpacking it if it is gzipped, whatever its name; "-" is stdin.

    *fail* is told the name and why, if it cannot be read or only its beginning can.
    """
    try:
        with io.BufferedReader(io.FileIO(0 if name == "-" else name, closefd=name != "-")) as raw:
            is_packed = raw.peek(2)[:2] == b"\x1f\x8b"
            told = 0
            for number, line in enumerate(io.BufferedReader(gzip.GzipFile(fileobj=raw)) if is_packed else raw):
                if advance is not None and number % 1024 == 0 and name != "-":
                    advance(raw.tell() - told)
                    told = raw.tell()
                yield line
    except (OSError, EOFError, zlib.error) as error:
        fail(name, getattr(error, "strerror", None) or str(error))


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


# ---- match --spark -----------------------------------------------------------------------------------------------


def _match_on_spark(matcher: Matcher, files: list[str], master: str, desk: _Desk) -> None:
    """Do the same on Spark. Files are read by the executors, so a name may be any address that Hadoop reads.

    Two differences are Hadoop's: it knows a gzipped file by its name, and bytes that are no UTF-8 arrive replaced.
    """
    if "-" in files:
        raise MqselError("--spark reads files, not stdin", hint="leave --spark away, or put the messages into a file")
    try:
        import pyspark  # noqa: F401, PLC0415 (an extra)
        from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as error:
        hint = "pip install 'mqsel[spark]'"
        raise MqselError("--spark needs pyspark, which is not installed", hint=hint) from error
    # An interrupted call to Java complains at length. Without a parent Java ends, and tidies up, by itself.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    with tempfile.TemporaryFile() as log:
        context = None
        try:
            context = _spark_context(master, log)
            pieces, places = [], []
            for number, name in enumerate(files):
                piece = context.textFile(name, use_unicode=False)
                try:
                    places += [(number, name)] * piece.getNumPartitions()
                    pieces.append(piece)
                except Py4JJavaError as error:
                    desk.fail(name, str(error.java_exception.getMessage()))
            partition = 0
            for record in _spark_records(context, context.union(pieces), matcher, desk) if places else ():
                desk.take(*places[partition], record)
                partition += isinstance(record, Tally)
                if desk.is_finished:
                    break
        except Py4JError as error:
            why = _spark_reason(str(error))
            remedy = "install one version of mqsel on every executor" if "No module named" in why else None
            raise MqselError(f"Spark gave up: {why}", hint=remedy) from error
        finally:
            if context is not None:
                context.stop()
            signal.signal(signal.SIGINT, handler)


def _spark_records(context: SparkContext, lines: RDD[Any], matcher: Matcher, desk: _Desk) -> Iterator[Sifted]:
    """Sift every partition; give what comes of them in their order."""
    from pyspark import StorageLevel  # noqa: PLC0415 (an extra)

    if desk.asked.limit is None:
        # All partitions at once; toLocalIterator alone would begin one when the one before has ended.
        sifted = lines.mapPartitions(partial(sift, matcher, desk.ask)).persist(StorageLevel.MEMORY_AND_DISK)
        sifted.count()
        yield from sifted.toLocalIterator()
    else:
        for partition in range(lines.getNumPartitions()):
            yield from context.runJob(lines, partial(sift, matcher, desk.ask), [partition])


def _spark_context(master: str, log: IO[bytes]) -> SparkContext:
    """Start Spark; what its Java prints goes into *log*."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 (an extra)
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # a host that cannot resolve its own name will do
    conf = SparkConf().setMaster(master).setAppName("mqsel match")
    conf.set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false")
    # Hadoop's own lines end at a carriage return, too.
    conf.set("spark.hadoop.textinputformat.record.delimiter", "\n")
    try:
        gateway = launch_gateway(conf, {"stderr": log})  # type: ignore[no-untyped-call]
    except (PySparkRuntimeError, OSError) as error:
        log.seek(0)
        why = _spark_reason(log.read().decode(errors="replace") or str(error))
        hint = "it needs Java 17, on the PATH or where JAVA_HOME says; a master is local[*] or spark://HOST:PORT"
        raise MqselError(f"Spark did not start: {why}", hint=hint) from error
    context = SparkContext(conf=conf, gateway=gateway)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # again: pyspark has set its own
    context.setLogLevel("ERROR")
    return context


def _spark_reason(text: str) -> str:
    """Find the line that says what happened: what Python raised, what Java was caused by, what Java threw first."""
    python = re.search(r"Traceback \(most recent call last\):\n(?:\s.*\n)+(.+)", text)
    java = re.findall(r"Caused by: (.+)", text)[-1:] or re.findall(r"[\w.]+(?:Exception|Error): .+", text)[:1]
    return python[1] if python else java[0] if java else text.strip().partition("\n")[0]


# ---- check and explain -------------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> int:
    selector, dialect = arguments.selector, arguments.dialect
    try:
        compile_selector(selector, dialect=dialect)
    except SelectorError as error:
        _complain(str(error))
        return 1
    checked = check(parse(selector, dialect), selector, dialect)
    remarks = remark(checked)
    rows = [("valid", f"{_preset(dialect)} selector"), ("tests", f"{remarks.tests}")]
    width = max(map(len, remarks.expected), default=0)
    for name, kinds in remarks.expected.items():
        rows.append(("reads", f"{name:{width}}  {' or '.join(kinds) or 'any type'}"))
    if checked.constant is not None:
        effect = "every message is selected" if checked.constant else "no message is selected"
        rows.append(("constant", f"{checked.constant}: reads no property, {effect}"))
    if checked.match_option is not None:
        name, identifier = checked.match_option
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
    checked = check(parse(selector, dialect), selector, dialect)
    tokens = [token for token in tokenize(selector, dialect) if token.kind != "end"]
    width = max((len(token.kind) for token in tokens), default=0)
    print("tokens")
    for kind, value, start, stop in tokens:
        piece = selector[start:stop]
        meaning = f"  = {value!r}" if isinstance(value, (int, float)) and str(value) != piece else ""
        print(f"  {f'{start}:{stop}':>9}  {kind:{width}}  {piece}{meaning}")
    print("\ntree")
    for line in _tree(checked.node, selector):
        print(f"  {line}")
    print(f"\noptimised\n  {unparse(optimize(checked).node)}")
    print(f"\ninstructions\n{listing(matcher.program)}")
    if explanation is None:
        return 0
    print("\nmessage\n  " + str(explanation).replace("\n", "\n  "))
    return int(not explanation.selected)


def _explained(matcher: Matcher, argument: str) -> Explanation:
    """Explain a message: the argument itself, the content of ``@file``, or stdin for ``-``."""
    text: str | bytes = argument
    if argument == "-" or argument.startswith("@"):
        text = b"".join(_lines(argument.removeprefix("@"), _refuse))
    spellings = _spellings(matcher)
    message = message_from_json(text, {*spellings, *spellings.values()})
    try:
        return matcher.explain(message)
    except PropertyTypeError as error:
        raise _in_json_words(error, message, spellings) from error


def _refuse(name: str, why: str) -> None:
    raise MqselError(f"{name}: {why}")


def _tree(root: Node, selector: str) -> Iterator[str]:
    """List the nodes, each with the piece of the selector it stands for."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        label = "  " * depth + type(node).__name__ + (f" {node.kind}" if isinstance(node, Literal) else "")
        piece = " ".join(selector[node.span[0] : node.span[1]].split())
        yield f"{label:24}  {piece if len(piece) <= 72 else piece[:71] + '…'}".rstrip()
        stack.extend((child, depth + 1) for child in reversed(children(node)))


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


_EXAMPLES = """\
examples:
  mqsel match "JMSType = 'car' AND weight > 2500" messages.jsonl.gz
  mqsel check --dialect tibco-ems "color IN ('red', 'blue')"
  mqsel explain "weight > 2500" '{"weight": {"int32": 3000}}'
"""
_MATCH_EXAMPLES = """\
A message is a JSON object on one line. A plain whole number is an int64, any other number a float64; a value may name
its type: {"weight": {"int32": 3000}, "ratio": {"float32": 0.5}, "token": {"bytes": "0a1b"}}.

exit code: 0 if something was selected, 1 if nothing was, 2 if something went wrong.

examples:
  mqsel match "color = 'blue'" messages.jsonl more.jsonl.gz
  zcat messages.jsonl.gz | mqsel match --count "weight > 2500" -
  mqsel match --spark "color = 'blue'" messages.jsonl.gz
  mqsel match --master spark://host:7077 "color = 'blue'" 'hdfs:///messages/*.gz'   (every executor needs mqsel)
"""
_EXPLAIN_EXAMPLES = """\
exit code: 0 if the message is selected or none was given, 1 if it is not selected, 2 if something went wrong.

examples:
  mqsel explain "weight * 2 > 5000 OR color = 'blue'"
  mqsel explain "color = 'blue'" '{"color": "red"}'
  mqsel explain "color = 'blue'" @message.json
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
        made.add_argument("selector", metavar="SELECTOR", help="the message selector, as one argument")
        made.add_argument(
            "--dialect",
            type=_dialect,
            default=IBM_MQ,
            metavar="NAME",
            help=f"{', '.join(PRESETS)}; default IBM_MQ",
        )
        return made

    match = command("match", _match, "print the messages that a selector selects", _MATCH_EXAMPLES)
    match.add_argument("files", metavar="FILE", nargs="+", help="JSON Lines, gzipped or not; - is stdin")
    match.add_argument("--count", action="store_true", help="print how many there are, not the messages")
    match.add_argument("--invert", action="store_true", help="take the messages that are not selected")
    match.add_argument("--limit", type=_limit, metavar="N", help="stop after N messages")
    match.add_argument(
        "--errors",
        choices=("skip", "raise"),
        default="skip",
        help="what to do with a line that is no message: report and skip it (default), or stop with exit code 2",
    )
    match.add_argument("--spark", action="store_true", help="run on Spark: inside this machine, or see --master")
    match.add_argument("--master", metavar="URL", help="run on this Spark master; default local[*]")
    command("check", _check, "say whether a selector is valid, and what it reads", "exit code: 0 valid, 1 not.")
    explain = command("explain", _explain, "show how a selector is read, compiled and evaluated", _EXPLAIN_EXAMPLES)
    explain.add_argument("message", metavar="MESSAGE", nargs="?", help="a JSON object, @FILE, or - for stdin")
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
