"""What the page asks: selectors applied to the messages in memory, reasons, one message. Knows no HTTP and no page.

Everything that depends on what somebody types is in the question: the session has the messages, and the answers to the
last selectors. So several windows can ask at once. A question ends early, with `Cancelled`, once a newer one of the
same window has come.
"""

from __future__ import annotations

import re
import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.relation import relation
from mqsel.analysis.explain.account import Profiler
from mqsel.analysis.explain.change import in_words
from mqsel.analysis.explain.profile import report
from mqsel.analysis.lint import Edit, Finding, edited, lint
from mqsel.arguments import check_total
from mqsel.carets import Span, visible
from mqsel.errors import MqselError, PropertyTypeError, SelectorError
from mqsel.explorer.blocks import (
    SELECTED,
    SKIPPED,
    STATES,
    UNKNOWN,
    Block,
    Collect,
    Selects,
    profile,
    states,
    values_of,
)
from mqsel.files.dumps import MAX_MESSAGE
from mqsel.files.framings import FORMATS, shown
from mqsel.files.inspection import FoundMessage
from mqsel.files.judgement import judged
from mqsel.files.parts import listed_files
from mqsel.files.run import cores, sifted
from mqsel.files.run.tasks import size_of
from mqsel.files.run.work import Ask, Broken, Complaint, first_note, is_counts, reader
from mqsel.files.wordings import bad_line, defect, file_trouble
from mqsel.formats.jsonl import plain
from mqsel.language.dialect import as_dialect, core_of
from mqsel.language.lexer import tokenize
from mqsel.language.selector import read_selector
from mqsel.machine.origin import selector_of
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector
from mqsel.names import look_up
from mqsel.sets.set import SelectorSet
from mqsel.values import CLASS_NAMES

ROOM = 2 << 30  # bytes of messages and their columns that are held
_LARGE = 1 << 26  # bytes of files from which on several processes read them
_KEPT = 8  # selectors whose answers are kept: a byte for each message
_LISTED = 20  # complaints, rows of one answer, selectors that are near to a message
_TRIED = 300  # selectors of which is found out how near they are
_TEXT = 400  # characters of a message in a row
_WHOLE = 1 << 16  # and of the one that is chosen
_ALONE = 100_000  # messages that go through the machine one by one of which is counted why


class Cancelled(Exception):  # noqa: N818 (no error: somebody typed on)
    """A newer question of the same window has come."""


class Question(NamedTuple):
    """What a window asks.

    Attributes:
        window: its name.
        number: of the question; a greater one ends those before.
        selector, dialect: what is typed.
        second: another selector; empty for none.
        show: which rows: all, selected, others, unknown, lost or gained by the second, nobody of the inventory.
        offset: of the first row among those that are shown.
        row: the number of the message that is chosen; -1 for none.
    """

    window: str
    number: int
    selector: str
    dialect: str
    second: str
    show: str
    offset: int
    row: int

    @classmethod
    def read(cls, found: Any) -> Question:
        """Return the question that an object of JSON is.

        Raises: ValueError: it is none.
        """
        kinds = [int if name in ("number", "offset", "row") else str for name in cls._fields]
        if type(found) is not dict or [type(found.get(name)) for name in cls._fields] != kinds:
            raise ValueError
        return cls(*(found[name] for name in cls._fields))


Check = Callable[[], None]  # raises `Cancelled` once the question is old


class MessageSource(NamedTuple):
    """Where messages come from.

    Attributes:
        files: names as they were given; none for a frame.
        format: of all of them; None for found by the first bytes.
        types: of properties whose record lost them.
        max_size: the most bytes of a line.
    """

    files: tuple[str, ...] = ()
    format: str | None = None
    types: tuple[tuple[str, str], ...] = ()
    max_size: int = MAX_MESSAGE


class Session:
    """Messages in memory, and answers about them. Threads may ask at the same time.

    Args:
        source: what `read` reads.
        blocks: messages that are there already.
        contract: what messages should be like.
        inventory: selectors by key, of which is reported who gets a message.
        room: bytes that are held at most.
    """

    def __init__(
        self,
        source: MessageSource,
        blocks: Iterable[Block] = (),
        *,
        contract: Contract | None = None,
        inventory: SelectorSet[str] | None = None,
        room: int = ROOM,
    ) -> None:
        self._source, self._contract, self._inventory, self._room = source, contract, inventory, room
        self._types = dict(source.types)
        self._blocks = [*blocks]
        self._problems: list[str] = []
        self._broken = 0  # files
        self._skipped = self._done = self._held = self._total = 0
        self._is_full, self._is_reading = False, bool(source.files)
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._answers: OrderedDict[str, list[pa.Array]] = OrderedDict()
        self._asked: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    # ---- reading -----------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read the files, block by block, until they end or there is no more room."""
        try:
            self._read()
        except MqselError as error:
            self._complain(error)
        except Exception as error:  # noqa: BLE001 (the page says it)
            self._complain(defect(error))
        finally:
            self._is_reading = False

    def _read(self) -> None:
        source, before, at = self._source, 0, 0
        listed = listed_files(source.files)
        self._stamps = {one.path: stamp for one in listed if (stamp := _stamp(one.path))}
        self._total = sum(size_of(one.path) or 0 for one in listed)
        ask = Ask(format=source.format or "json", types=source.types, max_size=source.max_size)
        jobs = 1 if self._total < _LARGE else cores()
        for number, name, _, record in sifted(None, lambda: ask, listed, source.format, jobs, self._advance, Collect):
            if number != at:
                before, at = 0, number
            if isinstance(record, Block):
                self._blocks.append(record._replace(first=before + record.first, path=name))
                self._held += record.bytes
                if self._held > self._room:
                    self._is_full = True
                    break
            elif isinstance(record, Complaint):
                self._complain(bad_line(name, before + record.line, record.text))
            elif isinstance(record, Broken):
                self._broken += 1
                self._complain(record.error or file_trouble(name, record.why))
            elif is_counts(record):
                self._skipped += record.skipped
                before += record.lines

    def _advance(self, size: int) -> None:
        self._done += size

    def _complain(self, error: MqselError) -> None:
        if len(self._problems) < _LISTED:
            self._problems.append(_visible(str(error).partition("\n")[0]))

    def state(self) -> dict[str, Any]:
        """Return how far the files are read, and what is wrong with them."""
        notes = [
            f"{shown(name)} has changed or is gone since mqsel read it: the page shows the messages that it had"
            for name, stamp in self._stamps.items()
            if _stamp(name) != stamp
        ]
        if self._is_full:
            room = f"{self._room / (1 << 30):.3g} GiB"
            notes.append(
                f"the files have more messages than fit into {room} of memory: mqsel why and mqsel match read all"
            )
        left = self._skipped + self._broken - len(self._problems)
        more = [f"and {left:,} more could not be read: mqsel inspect reports each"] * (left > 0)
        return {
            "files": _visible(self._source.files or ["a DataFrame"]),
            "kinds": ", ".join(dict.fromkeys(block.kind for block in [*self._blocks])),
            "messages": sum(block.rows for block in [*self._blocks]),
            "reading": self._is_reading,
            "share": min(self._done / self._total, 1) if self._total else 0,
            "megabytes": round(self._held / 1e6),
            "notes": _visible(notes) + self._problems + more,
            "inventory": self._inventory is not None,
        }

    # ---- questions ---------------------------------------------------------------------------------------------------

    def asked(self, question: Question) -> Check:
        """Note a question; return what raises `Cancelled` once a newer one of the same window has come."""
        window, number = question[:2]
        with self._lock:
            self._asked[window] = max(number, self._asked.pop(window, 0))
            if len(self._asked) > 1000:  # of windows that are long closed
                self._asked.popitem(last=False)

        def check() -> None:
            if self._asked.get(window, number) > number:
                raise Cancelled

        return check

    def look(self, question: Question, check: Check) -> dict[str, Any]:
        """Return the counts and a window of rows for a selector, or what is wrong with it.

        Raises: PropertyTypeError: a column that is read has a type that no property has.
        """
        text, dialect, second, show = question[2:6]
        matchers: list[Matcher] = []
        for place, one in enumerate([text, *[second] * bool(second)]):
            try:
                matchers.append(compile_selector(one, dialect=dialect))
            except SelectorError as error:
                fixes = _remedies(error.hint, one, error.span, dialect)
                return {"error": {"text": error.text(), "span": error.span, "fixes": fixes, "of": place}}
        found = [self._states(one, check) for one in matchers]
        of_set = [self._states(self._inventory, check)] if self._inventory is not None and show == "nobody" else []
        count = min(map(len, (*found, *of_set)))  # files may be read meanwhile
        found = [one.slice(0, count) for one in found]
        check_total(count, *(pc.equal(found[0], state).true_count for state in STATES), of="messages")
        gets, others = (pc.equal(one, SELECTED) for one in (found[0], found[-1]))
        masks = {
            "selected": gets,
            "others": pc.invert(gets),
            "unknown": pc.equal(found[0], UNKNOWN),
            "lost": pc.and_not(gets, others),
            "gained": pc.and_not(others, gets),
            "nobody": pc.not_equal(of_set[0].slice(0, count), SELECTED) if of_set else gets,
        }
        rows = pc.indices_nonzero(masks[show]) if show in masks else range(count)
        offset = max(min(question.offset, len(rows) - 1), 0)
        window = rows[offset : offset + _LISTED]
        return {
            "messages": count,
            **{name: mask.true_count for name, mask in masks.items() if name not in ("others", "nobody")},
            "skipped": pc.equal(found[0], SKIPPED).true_count + self._skipped,
            "shown": len(rows),
            "offset": offset,
            "rows": [
                self._row(row, matchers, [one[row].as_py() for one in found])
                for row in (window if isinstance(window, range) else window.to_pylist())
            ],
            "copies": self._copies(text, dialect),
        }

    def _states(self, selects: Selects, check: Check) -> pa.Array:
        """Return what every message is for a selector, or a set; what is known of the blocks before is kept."""
        key = repr(selects) if isinstance(selects, Matcher) else ""
        with self._lock:
            known = self._answers.setdefault(key, [])
            self._answers.move_to_end(key)
            if len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        blocks = [*self._blocks]
        for number in range(len(known), len(blocks)):
            check()
            answer = states(blocks[number], selects, self._types)
            with self._lock:
                if len(known) == number:
                    known.append(answer)
        return pa.concat_arrays([pa.array([], pa.int8()), *known[: len(blocks)]])

    def _at(self, row: int) -> tuple[Block, int]:
        for block in [*self._blocks]:
            if 0 <= row < block.rows:
                return block, row
            row -= block.rows
        raise MqselError("there is no such message")

    def _row(self, row: int, matchers: list[Matcher], truths: list[int]) -> dict[str, Any]:
        block, place = self._at(row)
        found = block.found(place)
        values = values_of(found, self._types)
        read = []
        for name in dict.fromkeys(name for one in matchers for name in one.properties):
            value = None
            with suppress(PropertyTypeError):  # the message has several spellings of it
                value = look_up(values, name, core_of(matchers[0].dialect).naming)
            read += [f"{name} {in_words(value) if type(value) in CLASS_NAMES else value}"] * (value is not None)
        text = block.text(place, values)
        return {
            "row": row,
            "truths": truths,
            "place": _visible(found.where),
            "read": _visible(_beginning(", ".join(read), _TEXT)),
            "text": _visible(_beginning(text, _TEXT)),
        }

    def _copies(self, text: str, dialect: str) -> dict[str, str]:
        """Return the question as a command, as Python and for Spark."""
        source, files = self._source, [*self._source.files]
        choice = "" if dialect == "IBM_MQ" else f", dialect={dialect!r}"
        options = [*["--dialect", dialect] * bool(choice), *["--format", source.format or ""] * bool(source.format)]
        options += [word for name, kind in source.types for word in ("--type", f"{name}={kind}")]
        command = f"mqsel match {' '.join(map(_quoted, [*options, '--', text, *files]))}"
        more = "".join(f", {name}={one!r}" for name, one in (("format", source.format), ("types", self._types)) if one)
        use = f"[*mqsel.files.filter({files}, matcher{more})]" if files else "matcher.match_batch(frame)"
        column = f"df.filter(mqsel.spark.column({text!r}, df{choice}))"
        is_rows = all(block.raw is None for block in self._blocks)
        return {
            "command": command if files else "",
            "python": f"import mqsel\n\nmatcher = mqsel.compile({text!r}{choice})\nselected = {use}",
            "spark": f"import mqsel\n\n{f'df = spark.read.parquet(*{files})' if files else ''}\n{column}"
            if is_rows
            else command.replace("match", "match --spark", 1),
        }

    def reasons(self, question: Question, check: Check) -> dict[str, Any]:
        """Return why messages are not selected, what lint finds, how the second selector relates to the first.

        Raises: SelectorError.
        """
        text, dialect, second = question[2:5]
        matcher = compile_selector(text, dialect=dialect)
        profiler = Profiler(selector_of(matcher.program))
        alone = 0
        for block in [*self._blocks]:
            check()
            alone += block.rows * (block.raw is not None and block.columns is None)
            if alone > _ALONE:
                break
            profile(block, matcher, profiler, self._types)
        told = report(profiler.selector, profiler.account)
        findings = lint(text, dialect, given=self._contract)
        fixes = [
            _fix(f"write {one.near} for {one.name}", text, _renamed(matcher, one.name, one.near))
            for one in told.properties
            if one.near is not None and not one.present
        ]
        notes = []
        check()
        if second:
            related = relation(text, second, dialect=dialect, given=self._contract)
            notes.append(_RELATED.get(related.relation, f"{related}: {related.reason}"))
        said = {one.sentence for one in findings}
        return {
            **_visible(told.as_dict()),
            "sentences": _visible([one for one in told.sentences if one not in said]),
            "fixes": fixes,
            "findings": [_clickable(one, text, dialect) for one in findings],
            "notes": [*notes, *[f"counted over the first {told.messages:,} messages"] * (alone > _ALONE)],
        }

    def message(self, question: Question) -> dict[str, Any]:
        """Return of one message its properties, what the selector makes of it, and who gets it.

        Raises: MqselError: there is no such message.
        """
        block, place = self._at(question.row)
        found = block.found(place)
        values = values_of(found, self._types)
        answer: dict[str, Any] = {
            "where": found.where,
            "text": _beginning(block.text(place, values), _WHOLE),
            "properties": [[name, CLASS_NAMES.get(type(one), ""), str(plain(one))] for name, one in values.items()],
        }
        try:
            matcher = compile_selector(question.selector, dialect=question.dialect)
            answer["judged"] = judged(matcher, found, self._types).in_json()
            if block.raw is not None:
                answer["note"] = first_note(block.kind, found.data)
        except SelectorError:  # the field says so
            pass
        except MqselError as error:
            answer["trouble"] = str(error)
        if self._contract is not None:
            answer["breaches"] = [one.sentence for one in self._contract.breaches(values)]
        if self._inventory is not None:
            with suppress(MqselError):
                answer |= self._receivers(self._inventory, found)
        return {name: _visible(one) for name, one in answer.items()}

    def _receivers(self, inventory: SelectorSet[str], found: FoundMessage) -> dict[str, Any]:
        """Return the selectors that select a message; if none does, those for which one change is enough."""
        is_row = FORMATS[found.kind].message is None
        message = found.data if is_row else reader(found.kind, inventory, types=self._types)(found.data)
        keys = inventory.match(message)
        near = []
        for key in [] if keys else islice(inventory, _TRIED):
            change = judged(inventory.matcher(key), found, self._types).explanation.change
            near += [(key, change)] * bool(change)
        chosen = [(key, "") for key in keys] or sorted(near)
        gets = [
            {
                "key": key,
                "change": change,
                "selector": inventory[key],
                "dialect": inventory.matcher(key).dialect.departures()[0],
            }
            for key, change in chosen[:_LISTED]
        ]
        untried = 0 if keys else max(len(inventory) - _TRIED, 0)
        return {"gets": gets, "receivers": len(keys), "left": len(chosen) - len(gets), "untried": untried}


def _beginning(text: str, most: int) -> str:
    """Return a text, or its beginning and how much is left out."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}… and {left:,} more characters"


_RELATED = {
    "equal": "by proof, both select the same messages",
    "disjoint": "by proof, no message is selected by both",
    "a within b": "by proof, the second selects all that the first does, and more",
    "b within a": "by proof, the first selects all that the second does, and more",
    "overlapping": "by proof, each selects messages that the other does not, and both select some",
}


def _stamp(name: str) -> tuple[int, int] | None:
    """Return what changes with a file; None where it is none of this machine."""
    with suppress(OSError, ValueError):
        status = Path(name).stat()
        return status.st_mtime_ns, status.st_size
    return None


def _quoted(word: str) -> str:
    """Return a word for a shell, in which everything that a terminal would obey is written by its bytes."""
    if all(sign.isprintable() or sign == "\n" for sign in word):
        return shlex.quote(word)
    signs = (
        sign
        if sign.isprintable() and sign not in "'\\"
        else "".join(f"\\{one:03o}" for one in sign.encode("utf-8", "replace"))
        for sign in word
    )
    return f"$'{''.join(signs)}'"


def _visible(value: Any) -> Any:
    """Return an answer whose texts show what a screen would obey, such as marks that turn the direction of writing."""
    if isinstance(value, str):
        return "\n".join(map(visible, value.split("\n")))
    if isinstance(value, dict):
        return {name: one if name == "selector" else _visible(one) for name, one in value.items()}
    return [_visible(one) for one in value] if isinstance(value, (list, tuple)) else value


# ---- what can be clicked ---------------------------------------------------------------------------------------------


def _fix(label: str, text: str, edits: Iterable[Edit]) -> dict[str, str]:
    return {"label": label, "text": edited(text, [*edits])}


def _clickable(finding: Finding, text: str, dialect: str) -> dict[str, Any]:
    said, span, edits = finding.sentence, finding.span, finding.edits
    fixes = [_fix("fix this", text, edits)] if edits else _remedies(said, text, span, dialect)
    return {"text": f"{finding.severity}: {said}", "fixes": fixes}


# What a hint says to write: an operator, a keyword, a number or a string.
_SAID = re.compile(
    r"(?:\bwritten|\bwrite|\bmean|apostrophes:|capitals:) ('?[<>=]+'?|[A-Z]+|[\d.]+|'[^']*')(?=[\s,;]|\Z)"
)


def _remedies(said: str | None, text: str, span: Span, dialect: str) -> list[dict[str, str]]:
    """Return what a hint says to write in a place, if the text is valid then, or its error comes later."""
    start, stop = span
    for piece, first in product(_SAID.findall(said or ""), (start, len(text[:start].rstrip("=<>!&|")))):
        new = piece.strip("'") if "=" in piece else piece
        fix = _fix(f"write {new}", text, [Edit((first, stop), new)])
        try:
            read_selector(fix["text"], as_dialect(dialect))
        except SelectorError as error:
            if new[0] == "'" or error.span[0] <= first + len(new):
                continue
        return [fix]
    return []


def _renamed(matcher: Matcher, name: str, new: str) -> Iterator[Edit]:
    for token in tokenize(matcher.selector, matcher.dialect):
        if token.kind == "identifier" and token.value == name:
            yield Edit((token.start, token.stop), new)
