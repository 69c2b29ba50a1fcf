"""Files sifted, one after the other or side by side: the same records in the same order either way.

Side by side means processes: fresh interpreters, each of which runs `work`, gets tasks through one pipe and gives
records through another. A process that is forked inherits the locks of threads that it does not have, the caller's and
pyarrow's; what multiprocessing starts imports the caller's main module. A thread for each process reads what it gives,
and stops reading while that is more than is wanted: so nobody runs far ahead of what is printed. Knows no terminal.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO, Any, NamedTuple

from mqsel.errors import FileError, MqselError
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, reading
from mqsel.files.opening import path_of, readable_anywhere
from mqsel.files.parts import Found, Part, parts
from mqsel.files.scan import Ask, Broken, Sifted, Tally, sift, sift_part, why
from mqsel.matcher import Matcher

SIZE = 16 << 20  # bytes of a part: 20 ms of JSON lines
_BATCH = 1 << 18  # bytes of records that are given at once
_NEWS = 8 << 20  # bytes after which a process says how far it is: it learns so that nobody listens any more
_ROOM = 4 << 20  # bytes of records that may wait for those before them, for each process
_AHEAD = 64  # and tasks, of which each has counts
_TICK = 0.1  # seconds: on Windows a wait without end is not interrupted

Advance = Callable[[int], None]  # takes how many more bytes were read


class Begun(NamedTuple):
    """The first record of a file, or of each of its parts.

    Attributes:
        kind: its format.
        start: its first bytes; of a part that begins later none.
    """

    kind: str
    start: bytes


# For each record the number, name and format of its file, and the record.
Records = Generator[tuple[int, str, str, Begun | Sifted], None, None]


class Task(NamedTuple):
    """What is sifted at once.

    Attributes:
        number: of the file.
        file: itself.
        part: of the file; None for all of it, whatever it holds.
        start: the first bytes of the file, if its first part was cut.
    """

    number: int
    file: Found
    part: Part | None = None
    start: bytes = b""


def sifted(
    matcher: Matcher,
    ask: Callable[[], Ask],
    files: Iterable[Found],
    wanted: str | None,
    jobs: int = 1,
    advance: Advance | None = None,
) -> Records:
    """Yield for each record of files the number, name and format of its file, and the record.

    Args:
        matcher: selects.
        ask: gives what is still asked, once the records given so far are counted.
        files: in order.
        wanted: the format of all of them; None: found by the first bytes of each.
        jobs: how many processes sift; with 1, or nothing to share, this one.
        advance: is told from time to time how many more bytes were read.

    Raises: FileError: a process ended before its part did. MqselError: none could be started, or a package is missing.
    """
    tasks: Iterator[Task] = (Task(number, file) for number, file in enumerate(files))
    if jobs > 1:
        tasks = _cut(tasks, wanted)
        first = [*islice(tasks, 2)]
        tasks = chain(first, tasks)
        if len(first) == 2:
            with closing(_Crew(matcher, ask, tasks, wanted, jobs, advance)) as crew:
                yield from crew.records()
            return
    for task in tasks:
        yield from _placed(task, _sift(matcher, ask(), task, wanted, advance))


def _placed(
    task: Task, records: Iterable[Begun | Sifted | int | MqselError], advance: Advance | None = None
) -> Records:
    """Say of records which file they come from; progress and errors among them go their own way."""
    kind = "json"
    for record in records:
        if isinstance(record, int):
            if advance is not None:
                advance(record)
            continue
        if isinstance(record, MqselError):
            raise record
        if isinstance(record, Begun):
            kind = record.kind
        yield task.number, task.file.path, kind, record


def _sift(
    matcher: Matcher, ask: Ask, task: Task, wanted: str | None, advance: Advance | None
) -> Iterator[Begun | Sifted]:
    """Sift a task; what is read by columns is not read in order."""
    _, (name, fixed, trouble), part, start = task
    if part is not None:
        yield Begun(part.format, start)
        yield from sift_part(matcher, ask, part, advance)
        return
    try:
        if trouble is not None:
            raise trouble
        kind, source, start = reading(name, wanted, advance=advance, in_blocks=True)
    except FileError as error:
        yield Broken(why(error))
        return
    yield Begun(kind, start)
    if FORMATS[kind].message is not None:
        yield from sift(matcher, ask._replace(format=kind), source, name)
        return
    with readable_anywhere(name, (piece.raw for piece in source if isinstance(piece, Piece))) as path:
        yield from sift_part(matcher, ask, Part(path, kind, 0, -1, fixed))


# ---- tasks -------------------------------------------------------------------------------------------------------


def cores() -> int:
    """Say how many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def size_of(name: str) -> int | None:
    """Give the bytes of a file that other processes can open by its name, too; None for any other."""
    if name.startswith(("/dev/", "/proc/")):  # such as /dev/stdin
        return None
    with suppress(OSError, MqselError):
        path = path_of(name)
        return int(path.stat().st_size) if path.is_file() else None
    return None


def _cut(tasks: Iterable[Task], wanted: str | None) -> Iterator[Task]:
    """Take large files apart."""
    for task in tasks:
        found: list[Part] = []
        name = task.file.path
        if task.file.trouble is None and (size_of(name) or 0) > SIZE:
            with suppress(MqselError):  # who sifts it says so
                kind, source, start = reading(name, wanted)
                source.close()  # type: ignore[attr-defined]
                found = parts(name, kind, SIZE)
        if len(found) < 2:
            yield task
            continue
        for place, part in enumerate(found):
            yield task._replace(part=part._replace(fixed=task.file.fixed), start=b"" if place else start)


# ---- the process that asks ---------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Job:
    """A task that a process works at.

    Attributes:
        task: itself.
        ask: what was asked of the process; None for what only this one can read.
        records: that came and were not taken yet.
        held: their bytes.
        is_whole: they are all.
        error: the process ended before.
        is_dropped: nobody wants them.
    """

    task: Task
    ask: Ask | None
    records: list[Any] = field(default_factory=list)
    held: int = 0
    is_whole: bool = False
    error: MqselError | None = None
    is_dropped: bool = False


class _Crew:
    """Processes, and what they have in hand. All that threads share changes under one lock."""

    def __init__(
        self,
        matcher: Matcher,
        ask: Callable[[], Ask],
        tasks: Iterator[Task],
        wanted: str | None,
        count: int,
        advance: Advance | None,
    ) -> None:
        self._matcher, self._ask, self._tasks, self._wanted, self._advance = matcher, ask, tasks, wanted, advance
        self._count = count
        self._asked = ask()
        self._changed = threading.Condition()
        self._jobs: deque[_Job] = deque()  # in order; the first is the one whose records are given
        self._held = 0
        self._is_planned = False  # there are no more tasks
        self._is_over = False  # nobody waits for records
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]

    def close(self) -> None:
        """End all processes at once."""
        with self._changed:
            self._is_over = True
            for process in self._processes:
                process.kill()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def records(self) -> Records:
        for thread in self._threads:
            thread.start()
        while True:
            self._wait(lambda: bool(self._jobs) or self._is_planned)
            if not self._jobs:
                return
            job = self._jobs[0]
            self._asked = self._ask()
            if self._is_to_do_here(job):
                yield from _placed(job.task, _sift(self._matcher, self._asked, job.task, self._wanted, self._advance))
            else:
                yield from _placed(job.task, self._arriving(job), self._advance)
            with self._changed:
                self._jobs.popleft()
                self._changed.notify_all()

    def _is_to_do_here(self, job: _Job) -> bool:
        """Tell whether what a process gives is not the answer: it was asked for more messages than are wanted now."""
        if job.ask is None:
            return True
        if self._asked.limit is None or job.ask.limit == self._asked.limit:
            return False
        self._wait(lambda: job.is_whole or job.error is not None or job.held >= _ROOM)
        selected = sum(record.selected for record in job.records if isinstance(record, Tally))
        if job.is_whole and selected < self._asked.limit:
            return False
        with self._changed:
            job.is_dropped = True
            self._taken(job)
        return True

    def _arriving(self, job: _Job) -> Iterator[Any]:
        while True:
            self._wait(lambda: bool(job.records) or job.is_whole or job.error is not None)
            with self._changed:
                is_end = job.is_whole or job.error is not None
                records = self._taken(job)
            yield from records
            if is_end:
                if job.error is not None:
                    raise job.error
                return

    def _wait(self, is_so: Callable[[], bool]) -> None:
        with self._changed:
            while not is_so():
                self._changed.wait(_TICK)

    def _taken(self, job: _Job) -> list[Any]:
        """Take what came of a job, under the lock."""
        records, job.records = job.records, []
        self._held -= job.held
        job.held = 0
        self._changed.notify_all()
        return records

    # What follows runs in the thread of a process.

    def _next(self) -> _Job | None:
        """Take a task, once those before it are not too many; None if there is none."""
        with self._changed:
            while True:
                self._changed.wait_for(
                    lambda: (
                        self._is_over
                        or not self._jobs
                        or (len(self._jobs) < self._count * _AHEAD and self._held < self._count * _ROOM)
                    )
                )
                task = None if self._is_over else next(self._tasks, None)
                if task is None:
                    self._is_planned = True
                    self._changed.notify_all()
                    return None
                is_ours = task.file.trouble is not None or size_of(task.file.path) is None
                job = _Job(task, None if is_ours else self._asked)
                self._jobs.append(job)
                self._changed.notify_all()
                if not is_ours:
                    return job

    def _serve(self) -> None:
        """Give one process task after task, and keep what it gives."""
        process: subprocess.Popen[bytes] | None = None
        while (job := self._next()) is not None:
            try:
                process = process or self._started()
                assert process.stdin is not None
                assert process.stdout is not None
                _send(process.stdin, (job.ask, job.task))
                while not job.is_whole:
                    self._keep(job, *pickle.load(process.stdout))  # noqa: S301 (our own process)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                with self._changed:
                    job.error = _ended(job.task, process, error)
                    self._changed.notify_all()
                break
        if process is not None:
            process.kill()
            process.__exit__(None, None, None)

    def _started(self) -> subprocess.Popen[bytes]:
        code = "import sys; sys.path[:] = sys.argv[1:]; from mqsel.files.jobs import work; work()"
        # In a session of its own Ctrl-C does not reach it: it would complain at length, and is ended anyway.
        process = subprocess.Popen(  # noqa: S603 (ourselves)
            [sys.executable, "-c", code, *map(str, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        with self._changed:
            self._processes.append(process)
            if self._is_over:
                process.kill()
        assert process.stdin is not None
        _send(process.stdin, (self._matcher, self._wanted))
        return process

    def _keep(self, job: _Job, records: list[Any], is_whole: bool) -> None:
        """Keep records; return when there is room for more."""
        with self._changed:
            if not job.is_dropped:
                size = sum(len(record) for record in records if isinstance(record, bytes))
                job.records += records
                job.held += size
                self._held += size
            job.is_whole = is_whole
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: (
                    is_whole
                    or self._is_over
                    or (job.held < _ROOM and (job is self._jobs[0] or self._held < self._count * _ROOM))
                )
            )


def _ended(task: Task, process: subprocess.Popen[bytes] | None, error: Exception) -> MqselError:
    """Say of which part the process ended, and how."""
    if process is None:
        return MqselError(f"a process of Python does not start: {error}", hint="leave it to one: -j 1, jobs=1")
    status = process.wait()
    how = f"ended with exit code {status}"
    if status < 0:
        with suppress(ValueError):
            how = f"was killed by {signal.Signals(-status).name}"
    which, start = "it", 0
    if task.part is not None:
        start, stop = task.part.start, task.part.stop
        what = "row groups" if task.part.format == "parquet" else "bytes"
        which = f"{what} {start:,} to {'the end' if stop < 0 else f'{stop:,}'}"
    return FileError(
        f"the process that read {which} {how}",
        path=task.file.path,
        offset=0 if task.part is not None and task.part.format == "parquet" else start,
        hint="if memory is short, fewer processes need less of it: -j, jobs",
    )


def _send(stream: IO[bytes], what: object) -> None:
    pickle.dump(what, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


# ---- the process that sifts --------------------------------------------------------------------------------------


def work() -> None:
    """Sift the tasks that come by stdin, until there are no more; records go to stdout. Does not return."""
    source, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no record
    # Whoever asked has gone, however that happened: nobody is there to be told.
    with suppress(EOFError, OSError):
        matcher, wanted = pickle.load(source)  # noqa: S301 (from who started this process)
        while True:
            ask, task = pickle.load(source)  # noqa: S301 (likewise)
            _give(out, matcher, ask, task, wanted)
    os._exit(0)


def _give(out: IO[bytes], matcher: Matcher, ask: Ask, task: Task, wanted: str | None) -> None:
    records: list[Any] = []
    held = news = 0

    def send(*, is_whole: bool) -> None:
        nonlocal records, held, news
        _send(out, ([news, *records], is_whole))
        records, held, news = [], 0, 0

    def advance(size: int) -> None:
        nonlocal news
        news += size
        if news >= _NEWS:
            send(is_whole=False)

    try:
        for record in _sift(matcher, ask, task, wanted, advance):
            records.append(record)
            held += len(record) if isinstance(record, bytes) else 0
            if held >= _BATCH:
                send(is_whole=False)
    except MqselError as error:
        records.append(error)
    send(is_whole=True)
