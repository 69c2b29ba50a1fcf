"""The report of a run: its results and its complaints, and on a terminal how far it is.

rich is imported by the function that needs it.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mqsel._interrupt import undone
from mqsel.cli.arguments import KEYED, holds_selectors
from mqsel.cli.output import StdoutFile, complain, print_data, print_text, say
from mqsel.errors import MqselError
from mqsel.files.foreign import CSV
from mqsel.files.framings import FORMATS, looks_like, place_of, shown
from mqsel.files.run.tasks import Advance, Begun
from mqsel.files.run.work import REPORTED, Ask, Broken, Complaint, Kept, Tally
from mqsel.formats.envelopes import PLAIN

if TYPE_CHECKING:
    from mqsel.live.asking import Question

_LONG = 1 << 24  # bytes of input that deserve a progress bar


def first_of(words: Sequence[str], most: int, option: str) -> str:
    """Return the first words of a list, and how many are left out and what shows them."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more:,} more ({option})" if more > 0 else "")


def say_format(name: str, kind: str) -> None:
    """Report that the records of a file were recognised as those of a tool."""
    complain(f"{shown(name)}: read as {kind}, {FORMATS[kind].holds}; --format {PLAIN} reads plain messages")


def seeming(start: bytes, kind: str) -> tuple[str, str]:
    """Return what a file looks like of which nothing could be read as *kind*, and what to do; empty for nothing."""
    found, advice = looks_like(start, kind)
    if found in ("", CSV) and (what := holds_selectors(start)):
        command = "mqsel route SELECTORS MESSAGES" if what == KEYED else "mqsel check --file FILE"
        return what, f"{command} reads them: expected messages"
    return found, advice


def is_unread(first: tuple[str, str, bytes] | None, messages: int, skipped: int) -> bool:
    """Report whether nothing of the input could be read; if so, print what it looks like, where that shows.

    Args:
        first: the name of the first file, the format it was read as, and its first bytes.
    """
    name, kind, start = first or ("", "json", b"")
    found, advice = seeming(start, kind)
    unread = skipped == messages
    if unread and found:
        complain(MqselError(f"{shown(name)}: no message could be read as {kind}: this looks like {found}", hint=advice))
    return unread


class Report:
    """Where the records of a run arrive, in order: lines to stdout, complaints to stderr, counts into one.

    Args:
        ask: what is asked of the run.
        total: counts of nothing, to which others are added; by default a `Tally`.

    Attributes:
        most: how many skipped messages are reported in full.
    """

    most: float = REPORTED

    def __init__(self, ask: Ask, total: Any = None) -> None:
        self.asked = ask
        self.total: Any = Tally() if total is None else total
        self.trouble = False
        self._began = time.perf_counter()
        self._reported = 0
        self._first: tuple[str, str, bytes] | None = None  # the first file: name, format, first bytes
        self._is_live = sys.stdout.isatty()
        self._kept: list[Kept] = []

    @property
    def ask(self) -> Ask:
        """What is still asked."""
        limit, reads = self.asked.limit, self.asked.reads
        if limit is reads is None:
            return self.asked
        return self.asked._replace(
            limit=None if limit is None else limit - self.total.selected,
            reads=None if reads is None else reads - self.seen,
        )

    @property
    def seen(self) -> int:
        """How many messages there were, broken ones included."""
        return int(self.total.messages)

    @property
    def is_finished(self) -> bool:
        ask = self.ask
        return ask.limit == 0 or ask.reads == 0 or (self.asked.raising and self.total.skipped > 0) or self.is_unread

    @property
    def is_unread(self) -> bool:
        """Whether nobody reads stdout any more: the run ends. A run prints only messages: there was one to print."""
        return StdoutFile.is_unread

    def begin(self, name: str, kind: str, start: bytes) -> None:
        """Note a file that is read as *kind*, and its first bytes."""
        self._first = self._first or ((name, kind, start) if start else None)

    def take(self, name: str, kind: str, record: Any) -> None:
        """Deal with a record that comes from the file *name*, which is of the format *kind*."""
        if isinstance(record, bytes):
            is_line = FORMATS[kind].place != "byte" and not record.endswith(b"\n")
            print_data(record + b"\n" * is_line, is_live=self._is_live)
        elif isinstance(record, Broken):
            self.fail(name, record.why)
            if record.error is not None:  # its bytes were read, whatever they look like
                self._first = None
        elif isinstance(record, Begun):
            self.begin(name, *record)
        elif isinstance(record, Kept):
            self._kept.append(record)
        elif not isinstance(record, Complaint):
            if record.note is not None:
                line, text = record.note
                record.note = line, f"{place_of(name, kind, line)}: {text}"
            self.total.add(record)
        elif self._reported < self.most:
            self._reported += 1
            complain(f"{place_of(name, kind, record.line)}: {record.text}")

    def fail(self, name: str, why: str) -> None:
        """Report a file that cannot be read."""
        self.trouble = True
        complain(f"{shown(name)}: {why}")

    def ended(self) -> str:
        """Print what is left to report of broken input; return the words on why the run stopped early."""
        total = self.total
        stopped = ""
        if self.asked.raising and total.skipped:
            self.trouble = True
            stopped = " (stopped at the first error)"
        elif self.ask.limit == 0:
            stopped = " (stopped by --max-matches)"
        elif self.ask.reads == 0:
            stopped = " (stopped by --limit)"
        if total.skipped > self._reported:
            complain(f"… and {total.skipped - self._reported:,} more: mqsel inspect reports all")
        if (total.skipped or self.trouble) and is_unread(self._first, self.seen, total.skipped):
            self.trouble = True
        return stopped

    def say_kept(self) -> None:
        """Print how many messages break the contract, and how, where there is one."""
        if not self._kept:
            return
        messages, broken = sum(one.messages for one in self._kept), sum(one.broken for one in self._kept)
        say(f"contract: {broken:,} of {messages:,} messages violate it")
        ways: Counter[tuple[str, str]] = sum([one.ways for one in self._kept], Counter())
        first = {way: text for one in reversed(self._kept) for way, text in one.first.items()}
        for way, count in sorted(ways.items(), key=lambda one: (-one[1], one[0])):
            say(f"  {count:,}  {first[way]}" + " (the first)" * (way[1] in ("type", "value")))

    def say_members(self, names: Iterable[str], *, in_any_case: bool) -> None:
        """Print which properties the first messages have inside a member, where no selector reads them."""
        name, kind, start = self._first or ("", "", b"")
        text: tuple[str, str] | None = None
        if kind == "parquet":
            from mqsel.files.parquet import inside_map  # noqa: PLC0415 (for Parquet alone)

            text = inside_map(name, names)
        elif kind == PLAIN:
            from mqsel.files.members import inside  # noqa: PLC0415 (where nothing is selected)

            text = inside(start, names, name, in_any_case=in_any_case)
        if text is not None:
            complain(f"{shown(name)}: {text[0]}\n  hint: {text[1]}")

    @property
    def seconds(self) -> float:
        """How long the run takes."""
        return time.perf_counter() - self._began


class CountReport(Report):
    """Where counts arrive of which the messages that could not be read are no part."""

    @property
    def seen(self) -> int:
        return int(self.total.messages + self.total.skipped)


def say_answers(questions: list[Question]) -> bool:
    """Print what brokers select beside what the dialect predicts; return whether they differ."""
    answers = [(one, one.answer) for one in questions if one.answer is not None]
    for question, answer in answers:
        whose = question.dialect
        if not answer.differences:
            word = f"the broker selects {answer.selected:,} of {answer.messages:,} messages, as {whose} predicts"
        else:
            word = f"the broker differs from {whose} on {len(answer.differences):,} of {answer.messages:,} messages"
        say(f"{question.name}: {word}")
        for number, is_selected, truth in answer.differences:
            say(f"  message {number}: the broker {'selects' if is_selected else 'leaves'} it, {whose}: {truth.name}")
        if answer.passed:
            say(f"  {answer.passed:,} more came or went meanwhile: they were not compared")
        if answer.unread:
            say(f"  {answer.unread:,} more have no truth value: they were not compared")
    return any(answer.differences for _, answer in answers)


@contextmanager
def progress(files: list[str], ask: Ask) -> Iterator[Advance | None]:
    """Show on a terminal how much of a long input was read. Yields: what is told of it; None where nothing shows.

    Lines that are printed on a terminal show the progress themselves, and would run into the bar.
    """
    total = 0
    if sys.stderr.isatty() and (ask.counting or not sys.stdout.isatty()):
        for name in files:
            with suppress(OSError):
                total += os.stat(0 if name == "-" else name).st_size  # noqa: PTH116 (a descriptor has no path)
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
    with (
        Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar,
        undone(lambda: os.write(2, b"\r\x1b[2K\x1b[?25h")),  # the bar away, the cursor back
    ):
        task = bar.add_task("", total=total)
        yield lambda size: bar.advance(task, size)


@contextmanager
def tasks() -> Iterator[Callable[[int, int], None] | None]:
    """Show on a terminal how many tasks of Spark have ended. Yields: what is told of them, or None."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = ""

    def advance(ended: int, tasks: int) -> None:
        nonlocal shown
        now = f"{ended:,} of {tasks:,} tasks"
        if now != shown:
            shown = now
            print_text(shown, stream=sys.stderr, end="\r")

    try:
        yield advance
    finally:
        print_text(" " * len(shown), stream=sys.stderr, end="\r" * bool(shown))
