"""Tasks: a file, or a part of a large one, and the records that the job yields for it.

The same whether this process runs a task or one of the processes of `mqsel.files.run.workers`.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from mqsel.errors import FileError, MqselError
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, OF_QUEUES, reading
from mqsel.files.opening import path_of, readable_anywhere
from mqsel.files.parts import FilePart, Named, parts
from mqsel.files.run.work import Ask, Broken, Job, why

Advance = Callable[[int], None]  # takes how many more bytes were read


class Begun(NamedTuple):
    """The first record of a file, or of each of its parts.

    Attributes:
        kind: its format.
        start: its first bytes; of a part that begins later none.
    """

    kind: str
    start: bytes


# For each record the number, name and format of its file, and the record: a `Begun`, or what the job yields.
Records = Generator[tuple[int, str, str, Any], None, None]


class JobRun(NamedTuple):
    """What is done with every task of a run.

    Attributes:
        selects: what the job takes: a matcher, a set, nothing.
        wanted: the format of all files; None: found by the first bytes of each.
        job: what is done.
    """

    selects: Any
    wanted: str | None
    job: type[Job]


class Task(NamedTuple):
    """What is read at once.

    Attributes:
        number: of the file.
        file: itself.
        part: of the file; None for all of it, whatever it holds.
        start: the first bytes of the file, if its first part was cut.
    """

    number: int
    file: Named
    part: FilePart | None = None
    start: bytes = b""


def placed(task: Task, records: Iterable[Any], advance: Advance | None = None) -> Records:
    """Yield records with the file that they come from; progress and errors among them go their own way."""
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


def done(run: JobRun, ask: Ask, task: Task, advance: Advance | None) -> Iterator[Any]:
    """Do a task; what is read by columns is not read in order."""
    _, (name, fixed, trouble, source_of), part, start = task
    selects, wanted, job = run
    if part is not None:
        yield Begun(part.format, start)
        yield from job.part(selects, ask, part, advance)
        return
    if source_of is not None:
        yield Begun(OF_QUEUES, b"")
        yield from job(selects, ask._replace(format=OF_QUEUES)).messages(source_of(), name)
        return
    try:
        if trouble is not None:
            raise trouble
        kind, source, start = reading(name, wanted, advance=advance, in_blocks=True, max_size=ask.max_size)
    except FileError as error:
        yield Broken(why(error))
        return
    yield Begun(kind, start)
    if FORMATS[kind].message is not None:
        yield from job(selects, ask._replace(format=kind)).messages(source, name)
        return
    try:
        with readable_anywhere(name, (piece.raw for piece in source if isinstance(piece, Piece))) as path:
            yield from job.part(selects, ask, FilePart(path, kind, 0, -1, fixed))
    except FileError as error:
        yield Broken(why(error))


def size_of(name: str) -> int | None:
    """Return the bytes of a file that other processes can open by its name, too; None for any other."""
    if name.startswith(("/dev/", "/proc/")):  # such as /dev/stdin
        return None
    with suppress(OSError, MqselError):
        if "://" not in name:
            return os.path.getsize(name) if os.path.isfile(name) else None  # noqa: PTH113, PTH202 (quick to import)
        path = path_of(name)
        return int(path.stat().st_size) if path.is_file() else None
    return None


def cut(tasks: Iterable[Task], wanted: str | None, size: int) -> Iterator[Task]:
    """Divide files that are larger than *size* bytes into tasks of about that many."""
    for task in tasks:
        found: list[FilePart] = []
        name = task.file.path
        if task.file.trouble is None and (size_of(name) or 0) > size:
            with suppress(MqselError):  # reported when it is read
                kind, source, start = reading(name, wanted)
                source.close()  # type: ignore[attr-defined]
                found = parts(name, kind, size)
        if len(found) < 2:
            yield task
            continue
        for place, part in enumerate(found):
            yield task._replace(part=part._replace(fixed=task.file.fixed), start=b"" if place else start)
