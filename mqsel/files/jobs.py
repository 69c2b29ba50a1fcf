"""Files read, one after the other or side by side: the same records in the same order either way."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from mqsel.files.parts import Found
from mqsel.files.scan import SIFT, Ask, Work
from mqsel.files.tasks import Advance, Records, Run, Task, cut, done, placed


def cores() -> int:
    """Say how many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sifted(
    selects: Any,
    ask: Callable[[], Ask],
    files: Iterable[Found],
    wanted: str | None,
    jobs: int = 1,
    advance: Advance | None = None,
    work: Work = SIFT,
) -> Records:
    """Yield for each record of files the number, name and format of its file, and the record.

    Args:
        selects: what the work takes: a matcher, a set, nothing.
        ask: gives what is still asked, once the records given so far are counted.
        files: in order.
        wanted: the format of all of them; None: found by the first bytes of each.
        jobs: how many processes read; with 1, or nothing to share, this one.
        advance: is told from time to time how many more bytes were read.
        work: what is done.

    Raises: FileError: a process ended before its part did. MqselError: none could be started, or a package is missing.
    """
    run = Run(selects, wanted, work)
    tasks: Iterator[Task] = (Task(number, file) for number, file in enumerate(files))
    if jobs > 1:
        tasks = cut(tasks, wanted)
        first = [*islice(tasks, 2)]
        tasks = chain(first, tasks)
        if len(first) == 2:
            from mqsel.files.workers import side_by_side  # noqa: PLC0415 (what starts processes is slow to import)

            yield from side_by_side(run, ask, tasks, jobs, advance)
            return
    for task in tasks:
        yield from placed(task, done(run, ask(), task, advance))
