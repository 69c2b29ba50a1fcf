"""Tasks at which several processes work: their records in the order of the tasks.

A process is a fresh interpreter that runs `work`; it receives tasks through one pipe and sends records through another.
A forked process would inherit the locks of threads that it does not have, the caller's and pyarrow's; multiprocessing
would import the caller's main module. A thread for each process reads its records, and stops reading while too many
wait: no process runs far ahead of what is printed.

Of a large file of lines a process sends where the selected ones stand, and this one reads them there: through the pipe
each would be copied five times. Where the file changed since the task was given away, the task is done here instead.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import IO, TYPE_CHECKING, Any

from mqsel._interrupt import undone
from mqsel.errors import FileError, MqselError
from mqsel.files._sifter import gathered
from mqsel.files.framings import FORMATS, first_line
from mqsel.files.run.tasks import Advance, JobRun, Records, Task, done, placed, size_of
from mqsel.files.run.work import Ask, Match, Runs, Tally
from mqsel.files.wordings import defect

if TYPE_CHECKING:
    import subprocess

_BATCH = 1 << 18  # bytes of records that are sent at once
_NEWS = 8 << 20  # bytes after which a process reports how far it is; the broken pipe ends it if the caller has gone
_AHEAD = 64  # tasks that may wait beside, for each process: each has counts
_TICK = 0.1  # seconds: on Windows a wait without end is not interrupted


def side_by_side(
    run: JobRun, ask: Callable[[], Ask], tasks: Iterator[Task], jobs: int, advance: Advance | None
) -> Records:
    """Do tasks by *jobs* processes; see `mqsel.files.run.tasks.sifted`."""
    with closing(_Crew(run, ask, tasks, jobs, advance)) as crew, undone(crew.kill):
        yield from crew.records()


# ---- the process that asks ---------------------------------------------------------------------------------------


class _Assigned:
    """A task that a process works at.

    Attributes:
        task: itself.
        ask: what was asked of the process; None for what only this one can read.
        records: that came and were not taken yet.
        held: their bytes.
        is_whole: they are all.
        error: the process ended before.
        is_dropped: its records do not count.
        version: of the file when the task was given away; None where its records are not `Runs`.
    """

    def __init__(self, task: Task, ask: Ask | None) -> None:
        self.task, self.ask = task, ask
        self.records: list[Any] = []
        self.held = 0
        self.is_whole = self.is_dropped = False
        self.error: MqselError | None = None
        self.version: tuple[int, ...] | None = None


class _Crew:
    """Processes, and what they have in hand. All that threads share changes under one lock."""

    def __init__(
        self, run: JobRun, ask: Callable[[], Ask], tasks: Iterator[Task], count: int, advance: Advance | None
    ) -> None:
        self._run, self._ask, self._tasks, self._advance = run, ask, tasks, advance
        self._count = count
        self._asked = ask()
        self._room = self._asked.sharing.room
        is_printed = not (self._asked.counting or self._asked.apart) and self._asked.limit is None
        self._by_place = is_printed and run.job is Match
        self._changed = threading.Condition()
        self._jobs: deque[_Assigned] = deque()  # in order; the first is the one whose records are given
        self._held = 0
        self._lines = bytearray()  # of the file, in which those of `Runs` stand: to ask for new memory costs as much
        self._is_planned = False  # there are no more tasks
        self._is_over = False  # no records are wanted any more
        self._failure: BaseException | None = None  # of a thread: a fault of ours
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
            # A generator that was not closed may be collected by one of these threads.
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join()

    def kill(self) -> None:
        """End all processes without a lock."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            with suppress(OSError):
                os.waitpid(process.pid, 0)

    def records(self) -> Records:
        for thread in self._threads:
            thread.start()
        while True:
            self._wait(lambda: bool(self._jobs) or self._is_planned)
            if not self._jobs:
                return
            job = self._jobs[0]
            self._asked = self._ask()
            if self._is_to_do_here(job) or not self._is_in_place(job):
                yield from placed(job.task, done(self._run, self._asked, job.task, self._advance))
            else:
                yield from placed(job.task, self._arriving(job), self._advance)
            with self._changed:
                self._jobs.popleft()
                self._changed.notify_all()

    def _is_to_do_here(self, job: _Assigned) -> bool:
        """Report whether the answer of a process does not count: it was asked for more messages than are wanted now."""
        if job.ask is None:
            return True
        if self._asked.limit is None or job.ask.limit == self._asked.limit:
            return False
        self._wait(lambda: job.is_whole or job.error is not None or job.held >= self._room)
        selected = sum(record.selected for record in job.records if isinstance(record, Tally))
        if job.is_whole and selected < self._asked.limit:
            return False
        self._drop(job)
        return True

    def _drop(self, job: _Assigned) -> None:
        with self._changed:
            job.is_dropped = True
            self._taken(job)

    def _is_in_place(self, job: _Assigned) -> bool:
        """Read what a process only found; report whether the file is still the one that it read."""
        if job.version is None:
            return True
        self._wait(lambda: job.is_whole or job.error is not None)
        found = [record for record in job.records if isinstance(record, Runs)]
        if not found:
            return True
        self._lines += bytes(max(sum(one.stop - one.start for one in found) - len(self._lines), 0))
        assert job.task.part is not None
        with suppress(OSError), open(job.task.part.path, "rb") as file, memoryview(self._lines) as lines:  # noqa: PTH123
            first, at = first_line(file, job.task.part.start), 0
            for one in found:
                file.seek(first + one.start)
                at += file.readinto(lines[at : at + one.stop - one.start])
            if _version(os.fstat(file.fileno())) == job.version:
                return True
        self._by_place = False
        self._drop(job)
        return False

    def _arriving(self, job: _Assigned) -> Iterator[Any]:
        while True:
            self._wait(lambda: bool(job.records) or job.is_whole or job.error is not None)
            with self._changed:
                is_end = job.is_whole or job.error is not None
                records = self._taken(job)
            at = 0
            for record in records:
                if isinstance(record, Runs):
                    yield gathered(self._lines, record.start - at, record.places, record.size)
                    at += record.stop - record.start
                else:
                    yield record
            if is_end:
                if job.error is not None:
                    raise job.error
                return

    def _wait(self, is_so: Callable[[], bool]) -> None:
        with self._changed:
            while not is_so():
                if self._failure is not None:
                    raise self._failure
                self._changed.wait(_TICK)

    def _taken(self, job: _Assigned) -> list[Any]:
        """Return what came of a task and was not yielded yet. The caller has the lock."""
        records, job.records = job.records, []
        self._held -= job.held
        job.held = 0
        self._changed.notify_all()
        return records

    # What follows runs in the thread of a process.

    def _next(self) -> _Assigned | None:
        """Return the next task, once those before it are not too many; None if there is none."""
        with self._changed:
            while True:
                self._changed.wait_for(
                    lambda: (
                        self._is_over
                        or not self._jobs
                        or (len(self._jobs) < self._count * _AHEAD and self._held < self._count * self._room)
                    )
                )
                task = None if self._is_over else next(self._tasks, None)
                if task is None:
                    self._is_planned = True
                    self._changed.notify_all()
                    return None
                is_ours = task.file.trouble is not None or size_of(task.file.path) is None
                job = _Assigned(task, None if is_ours else self._asked)
                if not is_ours and self._by_place and task.part is not None and FORMATS[task.part.format].is_lines:
                    job.version = _quiet_version(task.part.path, self._asked.sharing.quiet)
                    job.ask = self._asked._replace(by_place=job.version is not None)
                self._jobs.append(job)
                self._changed.notify_all()
                if not is_ours:
                    return job

    def _serve(self) -> None:
        # Processes inherit it. They have sessions of their own, so that Ctrl-C does not reach them.
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._share()
        except BaseException as error:  # noqa: BLE001 (the thread that waits for this one raises it)
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _share(self) -> None:
        """Send one process task after task, and keep its records."""
        process: subprocess.Popen[bytes] | None = None
        while (job := self._next()) is not None:
            try:
                first = self._run if process is None else None
                process = process or self._started()
                assert process.stdin is not None
                assert process.stdout is not None
                if first is not None:
                    _send(process.stdin, first)
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
            # Closing writes what is left for it: that this pipe is broken says nothing of our own output.
            with suppress(OSError):
                process.__exit__(None, None, None)

    def _started(self) -> subprocess.Popen[bytes]:
        import subprocess  # noqa: PLC0415 (the processes that work start none, and import this module, too)

        code = "import sys; sys.path[:] = sys.argv[1:]; from mqsel.files.run.workers import work; work()"
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
        return process

    def _keep(self, job: _Assigned, records: list[Any], is_whole: bool) -> None:
        """Keep records; return when there is room for more."""
        with self._changed:
            if not job.is_dropped:
                size = sum(map(_size, records))
                job.records += records
                job.held += size
                self._held += size
            job.is_whole = is_whole
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: (
                    is_whole
                    or self._is_over
                    or job.version is not None  # it is taken when it is whole, and not larger than its part
                    or (job.held < self._room and (job is self._jobs[0] or self._held < self._count * self._room))
                )
            )


def _ended(task: Task, process: subprocess.Popen[bytes] | None, error: Exception) -> MqselError:
    """Return the error of a process that ended: how, and what it was reading."""
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


def _version(of: os.stat_result) -> tuple[int, ...]:
    return of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns


def _quiet_version(path: str, quiet: int) -> tuple[int, ...] | None:
    """Return the version of a file of this machine; None where it changed *quiet* ns ago or less, or is not known."""
    with suppress(OSError):
        version = _version(os.stat(path))  # noqa: PTH116 (quick to import)
        return version if time.time_ns() - max(version[3:]) > quiet else None
    return None


def _size(record: Any) -> int:
    """Count the bytes of messages in a record."""
    if isinstance(record, Runs):
        return record.size
    if isinstance(record, list):
        return sum([len(one[1] if isinstance(one, tuple) else one) for one in record])
    return len(record if isinstance(record, bytes) else getattr(record, "message", b""))


def _send(stream: IO[bytes], what: object) -> None:
    pickle.dump(what, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


# ---- the process that works --------------------------------------------------------------------------------------


def work() -> None:
    """Do the tasks that come by stdin, until there are no more; records go to stdout. Does not return."""
    source, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no record
    # After an end of the pipe the process that asked has gone: nobody hears a report. That process reports exit code 1.
    try:
        run = pickle.load(source)  # noqa: S301 (from who started this process)
        while True:
            ask, task = pickle.load(source)  # noqa: S301 (likewise)
            _give(out, run, ask, task)
    except MemoryError:
        os._exit(1)
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)
    except Exception as error:
        if os.environ.get("MQSEL_TRACEBACK"):
            raise
        _send(out, ([0, defect(error)], True))


def _give(out: IO[bytes], run: JobRun, ask: Ask, task: Task) -> None:
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
        for record in done(run, ask, task, advance):
            records.append(record)
            held += _size(record)
            if held >= _BATCH:
                send(is_whole=False)
    except MqselError as error:
        records.append(error)
    send(is_whole=True)
