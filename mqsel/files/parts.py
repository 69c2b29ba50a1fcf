"""Files taken apart for workers that read them side by side.

A `FilePart` is what one worker reads: a range of the bytes of a file of lines, row groups of a Parquet file, or a whole
file where only its beginning is known to begin a message. The parts of a file, in order, give what the file gives.
Knows no selectors.
"""

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from glob import glob, has_magic
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel.carets import quoted
from mqsel.errors import FileError, MqselError
from mqsel.files._splitters import Splitter
from mqsel.files.arrays import opened_messages
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, format_of, is_enough, reading
from mqsel.files.opening import is_queue, path_of
from mqsel.files.wordings import file_trouble, unreadable

if TYPE_CHECKING:
    from mqsel.files import parquet

SIZE = 32 << 20  # bytes of a part


class FilePart(NamedTuple):
    """A part of a file.

    Attributes:
        path: the file.
        format: a name of `mqsel.files.framings.FORMATS`.
        start: the first byte; for Parquet the first row group.
        stop: the one behind the last; -1 for the end of the file.
        fixed: properties that all rows of Parquet have, unless the file has a column of the name.
    """

    path: str
    format: str
    start: int
    stop: int
    fixed: tuple[tuple[str, "parquet.Fixed"], ...] = ()


def local(path: str) -> str:
    """Return the name of a file whose address may be a ``file:`` URI."""
    return path.removeprefix("file://").removeprefix("file:")


def listed(path: str) -> list[str]:
    """List the files that a path stands for: a file, those of a directory, or what fits a pattern like ``d/{a,b}*.gz``.

    Names that begin with ``_`` or ``.`` do not count in directories and patterns, as for Spark. Of a directory, those
    in directories such as ``day=1`` count, too.

    Raises: FileError: there is none; or the directory has directories of other names, which would be lost.
    """
    name = local(path)
    try:
        found = _listed(name)
    except MqselError:
        raise
    except ValueError as error:
        raise unreadable(name, error) from None
    except Exception as error:
        raise unreadable(name, error) from error
    if not found:
        raise file_trouble(name, "no files")
    return found


def _listed(name: str) -> list[str]:
    if not name:  # pathlib takes it for this directory
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if "://" not in name and os.path.isfile(name):  # noqa: PTH113 (most names are one, and need no Path)
        return [name]
    path = path_of(name)
    if _is_pattern(name) and not path.exists():
        fits = sorted({fit for one in _alternatives(name) for fit in _fits(one)})
        is_open = not _is_hidden(path.name)
        return [file for fit in fits if not (is_open and _is_hidden(path_of(fit).name)) for file in _listed(fit)]
    if not path.is_dir():
        path.stat()
        return [name]
    found = []
    for one in sorted(path.iterdir(), key=str):
        if _is_hidden(one.name):
            continue
        if one.is_dir() and "=" not in one.name:
            raise FileError(
                f"the directory contains the directory {quoted(one.name)}",
                path=name,
                hint="name the files by a pattern, such as DIRECTORY/*/*.jsonl",
            )
        # An address keeps its host, which the text of its path does not.
        child = f"{name.rstrip('/')}/{one.name}" if "://" in name else str(one)
        found += _listed(child) if one.is_dir() else [child]
    return found


def _fits(pattern: str) -> list[str]:
    if "://" not in pattern:
        return glob(pattern)  # noqa: PTH207 (of any root)
    fixed = "/".join(takewhile(lambda part: not has_magic(part), pattern.split("/")))
    if fixed == pattern:
        return [pattern] if path_of(pattern).exists() else []
    base = path_of(fixed)
    found = base.glob(pattern[len(fixed) + 1 :])
    return ["/".join((fixed, *one.parts[len(base.parts) :])) for one in found]


def partition(path: str, file: str) -> dict[str, str | None]:
    """Return what the names of directories such as ``day=1`` below a path say of a file that `listed` found there."""
    if "=" not in file:
        return {}
    from urllib.parse import unquote  # noqa: PLC0415 (few files stand in such directories)

    name = local(path)
    path_parts = path_of(name).parts
    fixed = path_parts if path_of(name).exists() else [*takewhile(lambda part: not _is_pattern(part), path_parts)]
    pairs = [part.partition("=") for part in path_of(file).parts[len(fixed) : -1] if "=" in part]
    # Hive writes so what is NULL, and other characters than letters as in an address.
    return {unquote(key): None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value) for key, _, value in pairs}


class Named(NamedTuple):
    """A file that a name stands for.

    Attributes:
        path: the file, or the name if it is not to be looked for or there is none.
        fixed: what the directories in the path say, such as day=1: whole numbers where all files have such.
        trouble: why there is none.
        source: what yields the messages of a queue, as `mqsel.files.framings.splits` does those of a file; None for a
            file.
    """

    path: str
    fixed: tuple[tuple[str, "parquet.Fixed"], ...]
    trouble: FileError | None
    source: Callable[[], Iterator[Splitter]] | None = None


def _is_no_file(name: str) -> bool:
    return name == "-" or is_queue(name)


def listed_files(names: Iterable[str], is_left: Callable[[str], bool] = _is_no_file) -> list[Named]:
    """List the files that names stand for, in order.

    Args:
        is_left: tells which names are not to be looked for.
    """
    files: list[tuple[str, FileError | None]] = []
    for name in names:
        try:
            files += [(file, None) for file in ([name] if is_left(name) else listed(name))]
        except FileError as error:
            files.append((name, error))
    said = [{} if is_left(file) or trouble else partition("", file) for file, trouble in files]
    named: dict[str, list[str]] = {}
    for one in said:
        for name, value in one.items():
            named.setdefault(name, []).extend([] if value is None else [value])
    numbers = {name for name, texts in named.items() if all(_INTEGER.fullmatch(text) for text in texts)}
    return [
        Named(file, tuple((name, int(text) if text and name in numbers else text) for name, text in one.items()), why)
        for (file, why), one in zip(files, said, strict=True)
    ]


_INTEGER = re.compile(r"-?[0-9]{1,18}")  # of int64


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_pattern(path: str) -> bool:
    return has_magic(path) or _BRACES.search(path) is not None


_BRACES = re.compile(r"\{([^{}]*)\}")


def _alternatives(pattern: str) -> list[str]:
    """Write out what stands in braces."""
    found = _BRACES.search(pattern)
    if found is None:
        return [pattern]
    whole = (pattern[: found.start()] + one + pattern[found.end() :] for one in found[1].split(","))
    return [one for each in whole for one in _alternatives(each)]


def kind_of(path: str) -> str:
    """Return what a file holds by its first bytes; lines of JSON if nothing else.

    Raises: FileError: it cannot be read.
    """
    with opened_messages(path, is_enough) as (_, content):
        return format_of(content, path) or "json"


def parts(path: str, kind: str, size: int = SIZE) -> list[FilePart]:
    """Divide a file into parts.

    Args:
        path: the file.
        kind: its format.
        size: bytes of a part, about.

    Raises: FileError: it cannot be read.
    """
    if kind == "parquet":
        from mqsel.files import parquet  # noqa: PLC0415 (for Parquet alone)

        return _of_groups(path, parquet.group_sizes(path), size)
    with opened_messages(path) as (raw, content):
        end = _size(path)
        # What is packed, or begins a message only where the one before it ends, is read from the beginning.
        if not FORMATS[kind].is_lines or content is not raw or end <= size:
            return [FilePart(path, kind, 0, -1)]
    starts = range(0, end, size)
    return [FilePart(path, kind, start, -1 if start + size >= end else start + size) for start in starts]


def _size(path: str) -> int:
    return int((path_of(path).stat() if "://" in path else os.stat(path)).st_size)  # noqa: PTH116 (quick to import)


def _of_groups(path: str, sizes: list[int], limit: int) -> list[FilePart]:
    found: list[FilePart] = []
    start, held = 0, 0
    for number, size in enumerate(sizes):
        if held and held + size > limit:
            found.append(FilePart(path, "parquet", start, number))
            start, held = number, 0
        held += size
    return [*found, FilePart(path, "parquet", start, len(sizes))] if sizes else []


def packed(found: list[FilePart], size: int = SIZE) -> list[tuple[FilePart, ...]]:
    """Put small parts together, in order, so that a worker has enough to do."""
    bunches: list[tuple[FilePart, ...]] = []
    bunch: list[FilePart] = []
    held = 0
    for part in found:
        whole = part.stop < 0 or part.format == "parquet"
        length = _size(part.path) if whole else size
        if bunch and held + length > size:
            bunches.append(tuple(bunch))
            bunch, held = [], 0
        bunch.append(part)
        held += length
    return [*bunches, tuple(bunch)] if bunch else bunches


def messages(part: FilePart) -> Iterator[Piece | FileError]:
    """Read what a part has for each message, blank lines included.

    Raises: FileError: the file cannot be read.
    """
    yield from reading(*part[:4])[1]


def units(part: FilePart, max_size: int, advance: Callable[[int], None] | None = None) -> Iterator[Any]:
    """Read what a part has for each message, or blocks of lines where each line is one.

    Args:
        max_size: the most bytes of a line.
        advance: is told from time to time how many more bytes were read.

    Raises: FileError: the file cannot be read.
    """
    yield from reading(*part[:4], advance, in_blocks=True, max_size=max_size)[1]
