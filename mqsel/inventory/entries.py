"""What an inventory consists of: entries, the files that they stand in, and why a selector cannot be known."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from mqsel.arguments import iterated
from mqsel.carets import Span, nameable, shortened
from mqsel.errors import ArgumentError
from mqsel.inventory.kinds import KINDS
from mqsel.inventory.pieces import HOLE, Text, inserted, of_file


class Entry(NamedTuple):
    """A selector that mqsel found in a file.

    Attributes:
        key: The name of its owner in the file: a subscription, a queue, a method; in a list its number.
        destination: The queue or topic that the file names; empty if it names none.
        selector: The text; None if it is incomplete, for example because a program builds it.
        dialect: The name of a dialect, which follows from the file type.
        kind: The file type, a key of `KINDS`.
        file: The path of the file.
        line: The line of the selector's first character, from 1.
        column: The column of the selector's first character, in code points from 1.
        reason: Why the selector is incomplete, or why the file can't be read; empty if there is a selector.
        text: The selector, with the position of each piece in the file. If there is a reason, it has the pieces that
            are known, and `HOLE` for the rest. None if the file is damaged.
        silenced: The lint rules that a comment next to the selector silences, ``mqsel: ignore[never-true]``; empty if
            it silences all rules, ``mqsel: ignore``; None without a comment.
        line_starts: The offsets in the file at which the lines of the selector begin; empty if offsets are unknown.
        rules: The lint rules that the surroundings of the selector violate.
    """

    key: str
    destination: str
    selector: str | None
    dialect: str
    kind: str
    file: str
    line: int
    column: int
    reason: str
    text: Text | None
    silenced: tuple[str, ...] | None = None
    line_starts: tuple[int, ...] = ()
    rules: tuple[str, ...] = ()

    def region(self, span: Span) -> tuple[int, int, int, int]:
        """Return the position of a part of the selector in the file: line and column of its start and its end, from 1.

        Args:
            span: The part, as a pair of positions (start, end) in the selector.
        """
        assert self.text is not None
        if not self.line_starts:  # a row of Parquet
            return self.line, self.column, self.line, self.column
        first = self.line - bisect_right(self.line_starts, self.text.span[0])
        places = []
        for offset in self.text.span_of(*span):
            number = bisect_right(self.line_starts, offset)
            places += [first + number, offset - self.line_starts[number - 1] + 1]
        return places[0], places[1], places[2], places[3]


PLACEHOLDER = "a placeholder: its value is set when the program starts"
UNKNOWN = "an expression: this file does not have its value"
GLUED = "concatenated with values that only the running program has"
EXPRESSION = "an expression that is evaluated when the template is deployed"
_SILENCE = r"mqsel:\s*ignore\b(?:\s*\[([^\]\n]*)\])?"
_COMMENT = 500  # characters beside a selector that are searched: a file may be one line
PLACEHOLDERS = re.compile(
    r"[$#@]\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\{\{[^{}]*\}\}|\$\([^()]*\)|%\{[^{}]*\}|#\[[^\[\]]*\]|@[A-Za-z][\w.]*@"
)


class Source:
    """A file that is read.

    Args:
        name: its path.
        content: its text, without a byte order mark.

    Attributes:
        anchors: texts of YAML that stand for other values, too, by their names.
    """

    def __init__(self, name: str, content: str) -> None:
        self.name = name
        self.content = content
        self.anchors: dict[str, Text] = {}
        self._has_silences = "mqsel:" in content
        self._starts: list[int] | None = None

    @property
    def _lines(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *[match.end() for match in re.finditer("\n", self.content)]]
        return self._starts

    def line_of(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def text(self, start: int, stop: int) -> Text:
        """Return a part of the file as it stands."""
        return of_file(self.content, start, stop)

    def entry(self, kind: str, key: str, destination: str, text: Text, reason: str = "") -> Iterator[Entry]:
        """Yield the entry of a text; none of an empty one, which is no selector but in the forms of our own.

        In these a text is what it is, too: nothing in it is a placeholder.

        Args:
            reason: why it is incomplete; otherwise holes and placeholders in it are.
        """
        is_own = KINDS[kind].reader == "own"
        place = text.span[0]
        text = text.stripped() or inserted("", place)
        if not text and not is_own:
            return
        if not reason and HOLE in text.value and not is_own:
            reason = UNKNOWN if text.value == HOLE else GLUED
        if not reason and not is_own and PLACEHOLDERS.search(text.value):
            reason = PLACEHOLDER
            text = Text(PLACEHOLDERS.sub(lambda match: HOLE * len(match[0]), text.value), text.pieces)
        line, column = self.line_of(text.span[0])
        selector = None if reason else text.value
        row = KINDS[kind]
        silenced = self._silenced(row.comments, text) if row.comments and self._has_silences else None
        low = bisect_right(self._lines, min(one.place for one in text.pieces)) - 1
        starts = tuple(self._lines[low : bisect_right(self._lines, text.span[1])])
        yield Entry(
            key, destination, selector, row.dialect, kind, self.name, line, column, reason, text, silenced, starts
        )

    def _silenced(self, comments: str, text: Text) -> tuple[str, ...] | None:
        """Return what the comments beside a text silence: a comment of the line before has that line to itself."""
        start, stop = text.span
        line, last = self.line_of(start)[0], self.line_of(stop)[0]
        before, first = self._lines[max(0, line - 2)], self._lines[line - 1]
        end = self._lines[last] if last < len(self._lines) else len(self.content)
        comment = re.compile(rf"(?:{comments})\s*{_SILENCE}")
        found = [
            comment.match(self.content[before : min(first, before + _COMMENT)].lstrip(" \t")),
            comment.search(self.content[max(first, start - _COMMENT) : start]),
            comment.search(self.content[stop : min(end, stop + _COMMENT)]),
        ]
        rules = [(one[1] or "").replace(",", " ").split() for one in found if one]
        return (tuple([code for codes in rules for code in codes]) if all(rules) else ()) if rules else None

    def damage(self, kind: str, offset: int, what: str) -> Entry:
        """Return the entry of a place where the file is damaged."""
        line, column = self.line_of(offset)
        return Entry("", "", None, KINDS[kind].dialect, kind, self.name, line, column, what, None)


def keys_of(entries: Sequence[Entry]) -> list[str]:
    """Return a unique key for each entry.

    It is the key of the entry. If several entries have the same key, or an entry has none, it is
    ``KEY@FILE:LINE:COLUMN``. If a program uses a constant more than once, the further uses get ``#2``, ``#3`` and so on
    after the key.

    Args:
        entries: A sequence of entries.
    """
    for entry in iterated(entries, "entries"):
        if not isinstance(entry, Entry):
            raise ArgumentError(f"found {shortened(entry)}: expected an Entry")
    times = Counter(entry.key for entry in entries)
    taken = {key for key, number in times.items() if number == 1 and key}
    keys = []
    for entry in entries:
        key = entry.key
        if not key or times[key] > 1:
            place = f"{key}@{nameable(entry.file)}:{entry.line}:{entry.column}"
            key = place if place not in taken else next(one for n in count(2) if (one := f"{place}#{n}") not in taken)
            taken.add(key)
        keys.append(key)
    return keys
