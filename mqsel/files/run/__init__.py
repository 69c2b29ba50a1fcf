"""A job over files: read one after the other or side by side, the same records in the same order either way.

`sifted` is what the command line runs, `filter` the selected messages for Python: what ``mqsel match`` prints, one at a
time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from mqsel.arguments import check_count, check_word, iterated
from mqsel.errors import ArgumentError, FileError, PropertyTypeError, SelectorError
from mqsel.files.dumps import MAX_MESSAGE
from mqsel.files.framings import FORMATS
from mqsel.files.opening import name_of
from mqsel.files.parts import Named, listed_files
from mqsel.files.run.tasks import Advance, Begun, JobRun, Records, Task, cut, done, placed
from mqsel.files.run.work import Ask, Broken, Complaint, Job, Match, Tally, in_files
from mqsel.files.wordings import bad_line, file_trouble
from mqsel.formats.records import SCHEMAS, declared_types
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector

_LISTED = 100  # errors that are kept
_MOST = 16  # processes for each processor: more only start


def cores() -> int:
    """Return how many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sifted(
    selects: Any,
    ask: Callable[[], Ask],
    files: Iterable[Named],
    wanted: str | None,
    jobs: int = 1,
    advance: Advance | None = None,
    job: type[Job] = Match,
) -> Records:
    """Yield for each record of files the number, name and format of its file, and the record.

    Args:
        selects: what the job takes: a matcher, a set, nothing.
        ask: returns what is still asked, once the records yielded so far are counted.
        files: in order.
        wanted: the format of all of them; None: found by the first bytes of each.
        jobs: how many processes read; with 1, or nothing to share, this one.
        advance: is told from time to time how many more bytes were read.
        job: what is done.

    Raises: FileError: a process ended before its part did. MqselError: none could be started, or a package is missing.
    """
    run = JobRun(selects, wanted, job)
    tasks: Iterator[Task] = (Task(number, file) for number, file in enumerate(files))
    if jobs > 1:
        tasks = cut(tasks, wanted, ask().sharing.part_size)
        first = [*islice(tasks, 2)]
        tasks = chain(first, tasks)
        if len(first) == 2:
            from mqsel.files.run.workers import side_by_side  # noqa: PLC0415 (what starts processes is slow to import)

            yield from side_by_side(run, ask, tasks, min(jobs, _MOST * cores()), advance)
            return
    for task in tasks:
        yield from placed(task, done(run, ask(), task, advance))


def _selected(
    paths: Iterable[str], matcher: Matcher, ask: Ask, wanted: str | None, jobs: int, tally: Tally, problems: list[Any]
) -> Iterator[bytes]:
    """Yield what is selected, and count. Knows no `Filtered`: in a cycle, files and processes would outlive it."""
    for _, name, kind, record in in_files(sifted(matcher, lambda: ask, listed_files(paths), wanted, jobs)):
        problem: FileError | PropertyTypeError | None = None
        if isinstance(record, list):
            if FORMATS[kind].place == "line" and not record[-1].endswith(b"\n"):  # the file ends there
                record[-1] += b"\n"
            yield from record
        elif isinstance(record, Tally):
            tally.add(record)
        elif isinstance(record, Complaint):
            if FORMATS[kind].place == "line":
                what, _, hint = record.text.partition("\n  hint: ")
                problem = bad_line(name, record.line, what)
                problem.hint = hint or None
            else:
                problem = FileError(record.text, path=name, offset=record.line)
        elif isinstance(record, Broken):
            if record.error is not None:
                record.error.path = name
            problem = record.error or file_trouble(name, record.why)
        else:
            assert isinstance(record, Begun)
        if problem is not None:
            if len(problems) < _LISTED:
                problems.append(problem)
        elif ask.raising and problems and not isinstance(record, list):  # what was read before it is counted
            raise problems[0]
    if ask.raising and problems:
        raise problems[0]


class Filtered:
    """The selected messages of files, as they stand there. Made by `filter`; an iterator.

    Attributes:
        seen: how many messages there were, broken ones included. The counts are those of the files, or of the parts of
            a file, that were read to their end.
        selected: how many of them were selected.
        unknown: for how many the selector was UNKNOWN.
        skipped: how many were broken.
        problems: their errors, and those of files that could not be read to their end; of many only the first.
    """

    def __init__(self, paths: Iterable[str], matcher: Matcher, ask: Ask, wanted: str | None, jobs: int) -> None:
        self.problems: list[FileError | PropertyTypeError] = []
        self._tally = Tally()
        self._source = _selected(paths, matcher, ask, wanted, jobs, self._tally, self.problems)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._source)

    def close(self) -> None:
        """End it, and the processes that read."""
        self._source.close()  # type: ignore[attr-defined]

    @property
    def seen(self) -> int:
        return self._tally.messages

    @property
    def selected(self) -> int:
        return self._tally.selected

    @property
    def unknown(self) -> int:
        return self._tally.unknown

    @property
    def skipped(self) -> int:
        return self._tally.skipped


def filter(  # noqa: A001 (the word of Matcher)
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    selector: str | Matcher,
    *,
    format: str | None = None,  # noqa: A002 (the word of the command line)
    types: Mapping[str, str] | None = None,
    errors: str = "raise",
    jobs: int | None = 1,
    max_size: int = MAX_MESSAGE,
) -> Filtered:
    """Iterate over the messages in files that a selector selects, unchanged and in order.

    Each item is one message, as bytes of the file: a line with its newline, a length-prefixed message, or the text that
    a tool printed for it. If you write the items one after the other, you get a file of the same format, as ``mqsel
    match`` prints it. Formats §8 defines the item of each format. Files may be compressed.

    Args:
        paths: A file, a folder, a pattern such as ``day=*/*.jsonl.gz``, or several of them; "-" is stdin.
        selector: A str, which is read as IBM_MQ, or a `Matcher`.
        format: The format of all files, a key of `mqsel.files.framings.FORMATS`. The default is None: detected for each
            file.
        types: A mapping of properties to type names, for formats that store every value as text. The default is None.
        errors: "raise" (default): raise the first FileError, or the PropertyTypeError of a column. "skip": leave
            invalid messages out; the iterator counts and lists them.
        jobs: The number of processes that read. The default is 1. None: one for each processor. They end with the
            iterator.
        max_size: The greatest size of a line of JSON in bytes. A longer line is an invalid message. The default is 100
            MB.

    Raises: ArgumentError: if an argument is invalid. SelectorError: if the selector is invalid.
    """
    if format is not None:
        check_word("format", format, FORMATS)
    check_word("errors", errors, ("raise", "skip"))
    check_count("max_size", max_size, "a count of bytes")
    if jobs is not None:
        check_count("jobs", jobs, "a count of processes, or None")
    declared = declared_types(types)
    if declared and format not in SCHEMAS:
        raise ArgumentError(
            "types= is only for formats that store every value as text: expected one of these as format="
        )
    is_place = os.path.lexists(selector) if isinstance(selector, str) else isinstance(selector, (os.PathLike, list))
    text = paths if isinstance(paths, str) and not os.path.lexists(paths) else ""
    with suppress(SelectorError):
        if isinstance(paths, Matcher) or (is_place and text and compile_selector(text)):
            raise ArgumentError(
                "the selector is the first argument: expected filter(paths, selector), unlike mqsel match"
            )
    matcher = selector if isinstance(selector, Matcher) else compile_selector(selector)
    ask = Ask(False, False, errors == "raise", None, format or "json", tuple(declared.items()), True, max_size=max_size)
    given: Any = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else iterated(paths, "a path, or paths")
    names = [name_of(name) for name in given]
    return Filtered(names, matcher, ask, format, cores() if jobs is None else jobs)
