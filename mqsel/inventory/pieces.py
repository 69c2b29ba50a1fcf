"""Texts that stand in a file in another writing: the text, and for each piece of it the place in the file.

Every reader builds its texts here, so that whatever stands between a selector and its file, escapes, doubled
apostrophes, entities, wrapped lines, is a list of pieces, and a span of the selector a span of the file. Offsets are
code points. Knows no kind of file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from mqsel.carets import Span
from mqsel.inventory.writings import WRITINGS

HOLE = "\ufffc"  # stands in a text for what only a run of the program could tell


_T = TypeVar("_T")


class Once(Generic[_T]):
    """A property that is computed when it is first asked for; `functools.cached_property` has a lock that all share."""

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, _: object) -> _T:
        value = instance.__dict__[self.compute.__name__] = self.compute(instance)
        return value


class Piece(NamedTuple):
    """A piece of a text, and what it is in the file.

    Attributes:
        start, stop: of the text.
        place, end: of the file. As long as the piece: written as it is; else an escape, which has no inside.
        written: the writings that lie between the file and the text, by their names in `WRITINGS`, outermost first.
    """

    start: int
    stop: int
    place: int
    end: int
    written: tuple[str, ...]


class Text:
    """A text, and its pieces: in order, without gaps in the text."""

    __slots__ = ("pieces", "value")

    def __init__(self, value: str, pieces: tuple[Piece, ...] = ()) -> None:
        self.value = value
        self.pieces = pieces

    def __repr__(self) -> str:
        return f"Text({self.value!r}, {self.pieces!r})"

    def __bool__(self) -> bool:
        return bool(self.value)

    def __getitem__(self, span: slice) -> Text:
        start, stop, _ = span.indices(len(self.value))
        kept: list[Piece] = []
        for at in range(max(0, self.at(start)), len(self.pieces)):
            one = self.pieces[at]
            if one.start >= stop and kept:
                break
            low, high = max(one.start, start), min(one.stop, stop)
            if low > high or (low == high and one.start != one.stop):
                continue
            is_plain = one.stop - one.start == one.end - one.place
            place = one.place + (low - one.start) if is_plain else one.place
            end = place + (high - low) if is_plain else one.end
            kept.append(Piece(low - start, high - start, place, end, one.written))
        return Text(self.value[start:stop], tuple(kept))

    def __add__(self, other: Text) -> Text:
        return joined([self, other])

    def at(self, offset: int) -> int:
        """Return the number of the piece that an offset is in, or behind."""
        return bisect_right(self.pieces, offset, key=lambda one: one.start) - 1

    def stripped(self) -> Text:
        """Return the text without blanks at its ends."""
        left = len(self.value) - len(self.value.lstrip())
        return self[left : max(left, len(self.value.rstrip()))]

    def decoded(self, name: str) -> Text:
        """Return what the text means in a writing: each of its escapes is one piece."""
        whole = self.substituted(WRITINGS[name].escapes, WRITINGS[name].decode)
        return Text(whole.value, tuple([one._replace(written=(*one.written, name)) for one in whole.pieces]))

    def substituted(self, pattern: re.Pattern[str], meant: Callable[[str], str]) -> Text:
        """Return the text with another one for each that a pattern finds, which is one piece."""
        made, at = [], 0
        for match in pattern.finditer(self.value):
            made += [self[at : match.start()], self[match.start() : match.end()].replaced(meant(match[0]))]
            at = match.end()
        return joined([*made, self[at:]]) if made else self

    def replaced(self, value: str) -> Text:
        """Return another text for all that this one is in the file."""
        start, stop = self.span
        written = self.pieces[0].written if self.pieces else ()
        return Text(value, (Piece(0, len(value), start, stop, written),))

    @property
    def span(self) -> Span:
        """What the text is in its file, from its first character to its last."""
        return (self.pieces[0].place, max(one.end for one in self.pieces)) if self.pieces else (0, 0)

    def span_of(self, start: int, stop: int) -> Span:
        """Return what a span of the text is in the file."""
        if start >= stop:
            place = self.place_of(start)
            return place, place
        return self.place_of(start), max(self[start:stop].span[1], self.place_of(start))

    def place_of(self, offset: int) -> int:
        """Return where in the file a character of the text stands, or what follows its last."""
        at = self.at(offset)
        if at < 0:
            return 0
        one = self.pieces[at]
        if offset >= one.stop > one.start:
            return one.end
        return one.place + (offset - one.start if one.stop - one.start == one.end - one.place else 0)


def of_file(content: str, start: int, stop: int) -> Text:
    """Return a part of a file as it stands there."""
    return Text(content[start:stop], (Piece(0, stop - start, start, stop, ()),))


def joined(texts: list[Text]) -> Text:
    """Return texts one behind the other. Empty ones leave a piece only where all are empty."""
    pieces: list[Piece] = []
    at = 0
    for text in texts:
        for one in text.pieces:
            piece = Piece(one.start + at, one.stop + at, one.place, one.end, one.written)
            if pieces and pieces[-1].start == pieces[-1].stop:
                pieces.pop()
            if piece.start != piece.stop or not pieces:
                pieces.append(piece)
        at += len(text.value)
    return Text("".join([one.value for one in texts]), tuple(pieces))


def inserted(value: str, place: int) -> Text:
    """Return a text that is not in the file, for a place of it."""
    return Text(value, (Piece(0, len(value), place, place, ()),))
