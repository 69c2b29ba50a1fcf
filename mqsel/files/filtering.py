"""The selected messages of files, for Python: what ``mqsel match`` prints, one at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping

from mqsel.errors import ArgumentError, FileError
from mqsel.files.framings import FORMATS
from mqsel.files.jobs import cores, sifted
from mqsel.files.parts import found
from mqsel.files.scan import Ask, Broken, Complaint, Tally, in_files
from mqsel.files.tasks import Begun
from mqsel.files.wordings import bad_line, file_trouble
from mqsel.formats.records import SCHEMAS
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector
from mqsel.values import TYPE_NAMES

_LISTED = 100  # errors that are kept


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
        self.problems: list[FileError] = []
        self._tally = Tally()
        self._is_raising = ask.raising
        self._source = self._read(paths, matcher, ask, wanted, jobs)

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

    def _read(self, paths: Iterable[str], matcher: Matcher, ask: Ask, wanted: str | None, jobs: int) -> Iterator[bytes]:
        for _, name, kind, record in in_files(sifted(matcher, lambda: ask, found(paths), wanted, jobs)):
            if isinstance(record, bytes):
                # Lines come together; what is read by columns becomes lines.
                yield from io.BytesIO(record) if FORMATS[kind].split is None else (record,)
            elif isinstance(record, Tally):
                self._tally.add(record)
            elif isinstance(record, Complaint):
                if FORMATS[kind].place == "line":
                    self._problem(bad_line(name, record.line, record.text))
                else:
                    self._problem(FileError(record.text, path=name, offset=record.line))
            elif isinstance(record, Broken):
                self._problem(file_trouble(name, record.why))
            else:
                assert isinstance(record, Begun)

    def _problem(self, error: FileError) -> None:
        if self._is_raising:
            raise error
        if len(self.problems) < _LISTED:
            self.problems.append(error)


def filter(  # noqa: A001 (the word of Matcher)
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    selector: str | Matcher,
    *,
    format: str | None = None,  # noqa: A002 (the word of the command line)
    types: Mapping[str, str] | None = None,
    errors: str = "raise",
    jobs: int | None = 1,
) -> Filtered:
    """Iterate over the selected messages of files, packed or not, untouched and in order.

    A message is what stands in the file for it: a line with its end, a message with its length in front, the text that
    a tool printed. Written one after the other they are a file of the same format. A row of Parquet is a line of JSON;
    for a message that is a file of its own stands the line with its name.

    Args:
        paths: a file, a directory, a pattern such as ``day=*/*.jsonl.gz``, or several of them; "-" is stdin.
        selector: the text, under IBM MQ's rules, or what `mqsel.compile` gave.
        format: of all files, a name of `mqsel.files.framings.FORMATS`; None: found by the first bytes of each.
        types: of properties whose records lost them.
        errors: "raise" the first FileError, or "skip" what is broken, and count and list it.
        jobs: how many processes read; None for one for each processor. They end with the iterator.

    Raises: ArgumentError: an argument that cannot be. SelectorError: as `mqsel.compile`.
    """
    if format is not None and format not in FORMATS:
        raise ArgumentError(f"format is {format!r}: expected one of {', '.join(map(repr, FORMATS))}")
    if errors not in ("raise", "skip"):
        raise ArgumentError(f"errors is {errors!r}: expected 'raise' or 'skip'")
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise ArgumentError(f"jobs is {jobs!r}: expected a count of processes, or None")
    declared = dict(types or {})
    if declared and format not in SCHEMAS:
        raise ArgumentError("types declare what records lost: expected the format of records with them")
    for name, kind in declared.items():
        if kind not in TYPE_NAMES:
            raise ArgumentError(f"type of {name!r} is {kind!r}: expected one of {', '.join(map(repr, TYPE_NAMES))}")
    matcher = selector if isinstance(selector, Matcher) else compile_selector(selector)
    ask = Ask(False, False, errors == "raise", None, format or "json", tuple(declared.items()))
    names = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return Filtered((os.fspath(name) for name in names), matcher, ask, format, cores() if jobs is None else jobs)
