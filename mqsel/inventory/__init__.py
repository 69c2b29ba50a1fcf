"""Find the selectors in files, with their locations: MQSC, EMS, XML, code, YAML, JSON and mqsel's own formats."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import chain
from pathlib import Path

from mqsel.arguments import check_word, iterated
from mqsel.carets import shortened
from mqsel.errors import ArgumentError, FileError
from mqsel.files.foreign import LINES, WIDE
from mqsel.files.framings import FORMATS, bindings, looks_like
from mqsel.files.opening import MAX_SIZE, PACKED, check_size, name_of, opened, readable_anywhere
from mqsel.files.selectors import selectors
from mqsel.inventory.entries import Entry, Source, keys_of
from mqsel.inventory.kinds import KINDS
from mqsel.inventory.own import COLUMNS
from mqsel.inventory.recognition import WORDS, kind_of, mentioned, text_of
from mqsel.inventory.trees import TreeError
from mqsel.inventory.walk import Place, files_of
from mqsel.machine import sections

__all__ = [
    "COLUMNS",
    "KINDS",
    "MAX_SIZE",
    "Entry",
    "Place",
    "files_of",
    "is_pipe",
    "keys_of",
    "kind_of_file",
    "read",
    "read_file",
]

_PARQUET = b"PAR1"
_SAVED = (
    "this is a file of SelectorSet.save: expected selectors as text; in Python, "
    "json.dumps(dict(mqsel.SelectorSet.open(PATH))) writes them"
)
_MENTIONED = "this may be a selector, but the file has no kind that is read: copy its selectors to a file of lines"
_CHUNK = 1 << 24  # bytes of a large file that are looked at together
_OVERLAP = 32  # of two chunks: longer than any of the words
_START = 1 << 13  # bytes, of which a file met in a folder has no NUL: others are no texts
# Kinds that only the language of a file, or a key of many owners, tells: if such a file is damaged and has no selector,
# nothing shows that it has to do with messages.
_UNSURE = frozenset(("yaml", "json", "properties", "spring", "csv", "keyed-json", "terraform", "bicep"))


def read(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    max_size: int = MAX_SIZE,
) -> Iterator[Entry]:
    """Find the selectors in files.

    Args:
        paths: Files, folders, patterns, and "-" for stdin. Folders are searched as ripgrep does.
        kind: The type of all files, a key of `KINDS`. The default is None: detected for each file.
        columns: The names in your CSV and JSON files for ``key``, ``destination`` and ``selector``, as a mapping. The
            default is None: these names.
        max_size: The greatest size of an uncompressed file in bytes, because it is kept in memory. Parquet is read in
            parts. The default is 100 MB.

    Returns: an iterator of entries, in the order of the files. A selector that is incomplete, and a file that can't be
        read, is an entry with a reason. A file in a folder whose type is not detected has no entry.

    Raises: ArgumentError: if a path, the kind or a column is invalid. MqselError: if a package is not installed.
    """
    if kind is not None:
        check_word("the kind", kind, KINDS)
    if columns is not None and not (isinstance(columns, Mapping) and columns.keys() <= set(COLUMNS)):
        raise ArgumentError(f"the columns are {shortened(columns)}: expected names for some of {', '.join(COLUMNS)}")
    named = dict(columns or {})
    given = [paths] if isinstance(paths, (str, os.PathLike)) else iterated(paths, "a path, or paths")
    places = files_of([name_of(one) for one in given])
    return chain.from_iterable(read_file(place, kind, named, max_size=max_size) for place in places)


def read_file(
    place: Place,
    kind: str | None,
    columns: Mapping[str, str],
    content: bytes | None = None,
    *,
    max_size: int = MAX_SIZE,
    passed: list[str] | None = None,
) -> Iterator[Entry]:
    """Find the selectors in one file.

    Args:
        place: The file, as `files_of` yields it.
        kind: The type of the file, as for `read`.
        columns: The names in CSV and JSON files, as for `read`.
        content: The uncompressed content of the file, if you have read it. The default is None: it is read now.
        max_size: The greatest size of the file, as for `read`.
        passed: A list, to which the path is added if the file was found in a folder and its type is not detected. The
            default is None.

    Raises: ArgumentError: if the place, the kind or the content is invalid.
    """
    if not isinstance(place, Place) or not isinstance(content, (bytes, type(None))):
        raise ArgumentError(f"found {shortened(place)} and {shortened(content)}: expected a Place, and bytes or None")
    if kind is not None:
        check_word("the kind", kind, KINDS)
    try:
        data, has_words = (
            _content(place, kind is not None, max_size) if content is None else (content, _has_words(content))
        )
    except FileError as error:
        yield Source(place.path, "").damage(kind or "lines", 0, error.message)
        return
    if kind == "parquet" or (kind is None and data.startswith(_PARQUET)):
        yield from _of_parquet(place.path, data)
    elif place.is_named and data.startswith(sections.MAGIC):
        yield Source(place.path, "").damage("lines", 0, _SAVED)
    elif kind or place.is_named:
        yield from _of_data(place, kind, columns, data, has_words=has_words)[1]
    else:
        found, entries = _of_data(place, None, columns, data, has_words=has_words)
        if found in _UNSURE:
            listed = [*entries]
            is_damage = bool(listed) and all(entry.text is None for entry in listed)
            found, entries = "" if is_damage else found, iter(listed)
        if found:
            yield from entries
        elif passed is not None:
            passed.append(place.path)


def _of_data(
    place: Place, kind: str | None, columns: Mapping[str, str], data: bytes, *, has_words: bool
) -> tuple[str, Iterator[Entry]]:
    """Return the kind of a file, empty if it has none, and its entries.

    Args:
        data: what `_content` returned, with *has_words*.
    """
    may_be_own = os.path.splitext(place.path)[1].lower() in _OWN  # noqa: PTH122 (of 100,000 files)
    if not data or not (has_words or kind or place.is_named or (may_be_own and len(data) <= _CHUNK)):
        return "", iter(())
    text, *_ = text_of(data)
    damaged = text.find("\0")
    source = Source(place.path, text if damaged < 0 else text.replace("\0", " "))
    found, what = (kind, "") if kind else _recognised(place, data, text.lstrip("\0"), has_words)
    damage: list[Entry] = []
    if found and damaged >= 0:
        damage.append(source.damage(found, damaged, "a NUL character isn't text: mqsel read it as a space"))
    elif what and not found:
        expected = "UTF-8, or a byte order mark" if what == WIDE else "selectors; mqsel match reads messages"
        damage.append(source.damage("lines", 0, f"this looks like {what}: expected {expected}"))
    elif not found and place.is_named and has_words and (at := mentioned(text)) >= 0:
        damage.append(source.damage("lines", at, _MENTIONED))
    return found, chain(damage, _entries(source, found, columns) if found else ())


def _entries(source: Source, kind: str, columns: Mapping[str, str]) -> Iterator[Entry]:
    reader: Callable[..., Iterator[Entry]] = import_module(f"mqsel.inventory.{KINDS[kind].reader}").read
    try:
        yield from reader(source, kind, columns)
    except TreeError as error:
        yield source.damage(kind, error.offset, error.message)


def _recognised(place: Place, data: bytes, text: str, has_words: bool) -> tuple[str, str]:
    """Return the kind of a file, empty if it has none; and if somebody named it, what it seems to hold instead."""
    what = looks_like(data[:_START], "")[0] if place.is_named else ""
    # Exports of Artemis have both.
    if (what in FORMATS and what not in KINDS) or what == WIDE or what.startswith("the middle"):
        return "", what
    kind = kind_of(Path(place.path).name, text, is_named=place.is_named, has_words=has_words)
    return kind, "" if kind or what != LINES else what


def kind_of_file(path: str | os.PathLike[str]) -> str:
    """Return the type of a file that you name, a key of `KINDS`; empty if it has none, or can't be read.

    Args:
        path: A str or path-like object.
    """
    place = Place(name_of(path), True)
    try:
        data, has_words = _content(place, False, MAX_SIZE)
    except FileError:
        return ""
    return "parquet" if data.startswith(_PARQUET) else _recognised(place, data, text_of(data)[0], has_words)[0]


_OWN = {"", ".txt", ".tsv", ".csv", ".sel", ".selectors", ".lst", ".list", ".json", ".jsonl"}


def is_pipe(path: str) -> bool:
    """Return whether a path is a pipe or a device, such as a shell's ``<(…)``, which can be read only once.

    Args:
        path: The path, a str.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 (of 100,000 files)
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _content(place: Place, is_told: bool, max_size: int) -> tuple[bytes, bool]:
    """Return the bytes of a file, and whether one of the words is in them.

    Of a file that was met in a folder and is no text, or is large and has no words, nothing is returned; of Parquet it
    is the beginning.

    Raises: FileError: it cannot be read, or somebody named it and it is larger than *max_size* bytes.
    """
    if place.path == "-" or "://" in place.path or (place.is_named and is_pipe(place.path)):
        data = _unpacked(place.path, max_size)
        return data, _has_words(data)
    try:
        with open(place.path, "rb", buffering=0) as file:  # noqa: PTH123 (a third of the time of a Path's)
            data = file.read(_CHUNK) or b""
            if (head := bindings(data)) is not None:
                return head, True
            if data.startswith(_PARQUET):
                return data, False
            size = os.fstat(file.fileno()).st_size
            if size > max_size and not place.is_named:
                return b"", False
            check_size(size, max_size, place.path)
            while len(data) == _CHUNK and not (place.is_named or is_told or _has_words(data)):
                data = data[-_OVERLAP:] + (file.read(_CHUNK - _OVERLAP) or b"")
                if len(data) < _CHUNK:
                    if not _has_words(data):
                        return b"", False
                    break
            if file.tell() > len(data) or len(data) == _CHUNK:
                file.seek(0)
                data = file.readall()
    except FileError:
        raise
    except ValueError as error:
        raise FileError(f"the file cannot be read: {error}", path=place.path) from error
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", path=place.path) from error
    if data.startswith(PACKED):
        if not place.is_named:
            return b"", False
        data = _unpacked(place.path, max_size)
    elif not place.is_named and b"\0" in data[:_START] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return b"", False
    return data, _has_words(data)


def _unpacked(path: str, max_size: int) -> bytes:
    """Return the content of a file, or of an export what stands before its messages.

    Raises: FileError: it cannot be read, or is larger than *max_size* bytes.
    """
    with opened(path) as (_, stream):
        data = stream.read(min(_CHUNK, max_size))
        head = bindings(data)
        if head is None:
            data += stream.read(max_size + 1 - len(data))
            check_size(len(data), max_size, path)
        return data if head is None else head


def _has_words(data: bytes) -> bool:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16, whose words have other bytes between
        return True
    lowered = data.lower()
    return any(word in lowered for word in WORDS)


def _of_parquet(path: str, data: bytes) -> Iterator[Entry]:
    """Yield the rows of Parquet.

    Args:
        data: all of what comes from a pipe or stdin, which cannot be read again.
    """
    source = Source(path, "")
    row = KINDS["parquet"]
    try:
        with readable_anywhere(path, [data]) as copy:
            for number, keyed in enumerate(selectors(copy), 1):
                yield Entry(str(keyed.key), "", keyed.selector, row.dialect, "parquet", path, number, 1, "", None)
    except FileError as error:
        yield source.damage("parquet", 0, error.message)
