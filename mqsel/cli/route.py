"""``mqsel route``: find for each message of files which of many selectors select it.

Reads and complains as ``mqsel match`` does, here or on Spark; what it prints names the keys of the selectors.
"""

from __future__ import annotations

import argparse
import hashlib
import io
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import IO, Any

from mqsel.analysis.explain.account import Profiler
from mqsel.analysis.explain.profile import report as profiled
from mqsel.arguments import check_total
from mqsel.carets import plural, shortened
from mqsel.cli.arguments import (
    Commands,
    add_errors,
    add_files,
    add_max_matches,
    add_queues,
    command,
    files_of,
    say_new_limit,
)
from mqsel.cli.output import print_json, print_text, say
from mqsel.cli.report import CountReport, Report, first_of
from mqsel.cli.run import add_ways, ask_of, run
from mqsel.cli.selectors import NONE_FOUND, add_inventory, complain_of, keyed
from mqsel.errors import FileError, MqselError, SelectorError
from mqsel.files.arrays import opened_messages
from mqsel.files.framings import FORMATS, pieces, place_of, shown
from mqsel.files.parts import kind_of
from mqsel.files.run.work import EXAMPLES, Ask, Delivery, Route, RouteInJSON, Unclaimed, Why
from mqsel.files.wordings import fault
from mqsel.formats.artemis import bindings
from mqsel.language.dialect import ARTEMIS, IBM_MQ
from mqsel.machine.origin import selector_of
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector
from mqsel.sets.set import SelectorSet

_EXAMPLES = """\
mqsel route --count --why bridges.conf messages.jsonl.gz
mqsel route --into deliveries --format lenses --type weight=int32 subscriptions.parquet records.jsonl
mqsel route --count export.xml    (an export of Artemis: the filters of its queues on its messages)
mqsel route --spark --count subs.mqsc 'messages/day=*/*.parquet'\
"""
_EXITS = (
    "At least one selector matched a message",
    "No selector matched a message",
    "No message could be read, or another error",
)
_ABOUT = """\
mqsel prints a line of JSON for each message that a selector matches: "subscribers" has the keys in the order of the \
file, and "message" the message. If JSON can't hold it, the line has "file" and "line" or "byte". --into writes \
messages as they are in their files. mqsel reports invalid selectors, and leaves them out.
"""

_NONE_LEFT = "none of the selectors is valid: nothing to do"
_OPEN = 64  # files that are written to at a time
_SHOWN = 10  # keys named in the summary
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_RESERVED = frozenset("con prn aux nul".split()) | {f"{name}{n}" for name in ("com", "lpt") for n in range(10)}
_LONGEST = 100  # characters of a file's name


def add(commands: Commands) -> None:
    """Add the command."""
    text = "find which of many selectors match each message"
    route = command(commands, "route", _route, text, _EXAMPLES, _EXITS, _ABOUT)
    route.add_argument("selectors", metavar="PATH", help="selectors: file, folder or URL (see mqsel help paths)")
    add_inventory(route)
    output = route.add_argument_group("output")
    output.add_argument("--into", metavar="DIR", help="write each message into a file for each key in DIR")
    output.add_argument("--count", action="store_true", help="print the number of messages for each key")
    output.add_argument("--json", action="store_true", help="also print the counts, as the last line of JSON")
    output.add_argument(
        "--why",
        action="store_true",
        help="for keys without messages, say what rejects them",
    )
    add_max_matches(output)
    reading = add_files(route, FORMATS)
    add_errors(reading, "message or selector")
    add_ways(route)
    add_queues(route, can_follow=True)


def _route(arguments: argparse.Namespace) -> int:
    if arguments.count and arguments.into:
        raise MqselError("--count prints no messages: --into has none to write", hint="leave one of them out")
    raising = arguments.errors == "raise"
    say_new_limit(arguments)
    is_export = not arguments.files and _is_export(arguments.selectors)
    ask = ask_of(arguments, counting=arguments.count, raising=raising, limit=arguments.max_matches, bound=is_export)
    if is_export:  # it has the messages, too
        arguments.files = [arguments.selectors]
    files = files_of(arguments)
    if arguments.why and "-" in files:
        raise MqselError("--why reads the messages again, which stdin can't do", hint="put them into a file")
    if arguments.selectors == "-" and "-" in files:
        raise MqselError("stdin has the selectors, so it can't have the messages", hint="name the files at the end")
    selectors, damaged = _read(arguments, _unfiltered(arguments.selectors) if is_export else ())
    folder = None if arguments.into is None else Folder(Path(arguments.into))
    report = RouteReport(ask, selectors, folder, as_json=arguments.json)
    run(arguments, files, selectors, Route if folder else RouteInJSON, report)
    status = report.close()
    if arguments.why:
        for key in report.nothing:
            _say_why(arguments, files, key, selectors.matcher(key))
    return 2 if damaged else status


def _is_export(name: str) -> bool:
    with suppress(FileError):  # reported when it is read
        return Path(name).is_file() and kind_of(name) == "artemis"
    return False


def _unfiltered(path: str) -> list[str]:
    """Return the queues of an export without a filter: each gets every message of its address."""
    with opened_messages(path) as (_, content):
        for piece in pieces(content, "artemis", path):
            head = b"" if isinstance(piece, FileError) else piece.raw
            return [queue for queue, binding in bindings(head).items() if not binding.filter]
    return []


def _say_why(arguments: argparse.Namespace, files: list[str], key: str, matcher: Matcher) -> None:
    """Print what keeps a key from getting a message: the files are read again."""
    selector = selector_of(matcher.program)
    desk = CountReport(ask_of(arguments, counting=True), Profiler(selector).account)
    with redirect_stderr(io.StringIO()):  # what is wrong with the files has been said
        run(arguments, files, matcher, Why, desk)
    made = profiled(selector, desk.total)
    why = "what it selects is of other addresses" if made else made.sentences[0]
    say(f"{shortened(key)}: {why}")


def _read(arguments: argparse.Namespace, all_keys: Iterable[str]) -> tuple[SelectorSet[str], bool]:
    """Read the selectors, and report the faulty ones.

    Args:
        all_keys: further keys, whose selectors select every message.

    Returns: the set, and whether a file was damaged.
    """
    read, unknown, damaged = keyed([arguments.selectors], arguments, arguments.dialect)
    raising = arguments.errors == "raise"
    if raising and damaged:
        raise MqselError("a file of selectors is damaged", hint="--errors skip leaves out what cannot be read")
    usual = next((one.dialect for one in read.values()), IBM_MQ)
    made: SelectorSet[str] = SelectorSet(dialect=usual)
    pairs: dict[str, str | Matcher] = {}
    faulty = {}
    for key, one in read.items():
        try:
            pairs[key] = one.text if one.dialect == usual else compile_selector(one.text, dialect=one.dialect)
        except SelectorError as error:
            faulty[key] = error
    free = [key for key in all_keys if key not in read and key not in unknown]
    pairs |= {key: compile_selector("TRUE", dialect=ARTEMIS) for key in free}
    faulty |= made.admit(pairs)
    check_total(len(read) + len(free), len(made), len(faulty))
    for key in [*faulty][: 1 if raising else None]:
        complain_of(read[key], faulty[key], key)
    if faulty and raising:
        raise MqselError("a selector is faulty", hint="--errors skip leaves such selectors out")
    if not made:
        raise MqselError(_NONE_LEFT if faulty or unknown or damaged else NONE_FOUND)
    if faulty or unknown:
        counts = (len(faulty), "invalid"), (len(unknown), "incomplete")
        left = ", ".join([f"{count:,} {what}" for count, what in counts if count])
        say(f"selectors: {len(made):,} of {len(made) + len(faulty) + len(unknown):,}; left out: {left}")
    return made, bool(damaged)


class RouteReport(Report):
    """Where deliveries arrive: lines of JSON on stdout, or files of a folder."""

    def __init__(self, ask: Ask, selectors: SelectorSet[str], folder: Folder | None, *, as_json: bool) -> None:
        super().__init__(ask)
        self._as_json = as_json
        self._folder = folder
        self._keys = list(selectors)
        self._unclaimed: list[str] = []

    def take(self, name: str, kind: str, record: Any) -> None:
        if isinstance(record, Delivery):
            assert self._folder is not None
            for key in record.keys:
                self._folder.write(key, kind, record.head, record.message)
        elif isinstance(record, Unclaimed):
            self._unclaimed.append(place_of(name, kind, record.line))
        else:
            super().take(name, kind, record)

    @property
    def nothing(self) -> list[str]:
        """The keys that got no message."""
        return [key for key in self._keys if not self.total.delivered[key]]

    def close(self) -> int:
        """Print the counts and the summary; return the exit code."""
        total, stopped = self.total, self.ended()
        if self._folder is not None:
            self._folder.close()
        if self.is_unread:  # the counts are those of a part
            return 2 if self.trouble else 0
        if self._as_json:
            counts = {name: getattr(total, name) for name in ("messages", "selected", "skipped")}
            print_json({**counts, "delivered": {key: total.delivered[key] for key in self._keys}})
        elif self.asked.counting and not (self.asked.raising and total.skipped):
            for key in self._keys:
                print_text(key, str(total.delivered[key]))
        count = sum(total.delivered.values())
        check_total(count, *(total.delivered[key] for key in self._keys), of="deliveries")
        if not self.trouble:
            check_total(total.messages, total.selected, total.unclaimed, total.skipped, of="messages")
        nothing = self.nothing
        say(
            f"{plural(total.messages, 'message')}, {total.selected:,} of them delivered, "
            f"{plural(count, 'delivery', 'deliveries')} to {len(self._keys) - len(nothing):,} of "
            f"{len(self._keys):,} keys, {total.skipped:,} skipped, {self.seconds:.2f} s{stopped}"
        )
        left = total.unclaimed
        places = self._unclaimed[:EXAMPLES]
        if left and places:
            more = f" and {left - len(places):,} more: mqsel explore --inventory PATH FILE shows them"
            say(f"nobody gets {left:,} of them: {', '.join(places)}{more * (left > len(places))}")
        if nothing:
            say(f"nothing for: {first_of([shortened(key) for key in nothing], _SHOWN, '--count lists them')}")
        return 2 if self.trouble else int(not total.selected)


class Folder:
    """Files of messages, one for each key and kind of format; few are open at a time.

    Raises: MqselError: the folder exists and is not empty, or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
            is_empty = next(path.iterdir(), None) is None
        except (OSError, ValueError) as error:
            raise MqselError(f"{shown(str(path))}: the folder cannot be made: {fault(str(path), error)}") from error
        if not is_empty:
            raise MqselError(f"{path} is not empty: expected a new folder", hint="name another one after --into")
        self._path = path
        self._open: OrderedDict[str, IO[bytes]] = OrderedDict()
        self._names: dict[tuple[str, str], str] = {}
        self._heads: dict[str, bytes] = {}

    def write(self, key: str, kind: str, head: bytes, message: bytes) -> None:
        """Append a message to the file of a key, which begins as the first file that the messages come from."""
        self._heads.setdefault(kind, head)
        name = self._names.get((key, kind))
        if name is None:
            message = self._heads[kind] + message
            name = self._names[key, kind] = safe_name(key) + FORMATS[kind].ending
        self._append(name, message)

    def _append(self, name: str, data: bytes) -> None:
        try:
            file = self._open.pop(name, None)
            if file is None:
                while len(self._open) >= _OPEN:
                    self._close(next(iter(self._open)))
                file = (self._path / name).open("ab")
            self._open[name] = file
            file.write(data)
        except OSError as error:
            raise self._trouble(name, error) from error

    def close(self) -> None:
        """Close all files."""
        for (_, kind), name in self._names.items():
            if closing := FORMATS[kind].closing(self._heads[kind]):
                self._append(name, closing)
        while self._open:
            self._close(next(iter(self._open)))

    def _close(self, name: str) -> None:
        try:
            self._open.pop(name).close()
        except OSError as error:
            raise self._trouble(name, error) from error

    def _trouble(self, name: str, error: OSError) -> MqselError:
        return MqselError(f"{shown(str(self._path / name))}: cannot be written: {error.strerror}")


def safe_name(key: str) -> str:
    """Return the name of the file of a key: any system takes it, no two keys share it, whatever the case of letters.

    What is not a small letter, a digit, ``-`` or ``_`` is written as % and its bytes in UTF-8.
    """
    made = "".join(
        one if one in _SAFE else "".join(f"%{byte:02x}" for byte in one.encode("utf-8", "surrogatepass")) for one in key
    )
    if made in _RESERVED or not made:
        made = f"%{made}"
    if len(made) > _LONGEST:
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        made = f"{made[: _LONGEST - 34]}%~{digest}"
    return made
