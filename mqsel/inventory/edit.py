"""Other selectors in a file, where they stand: in its own escaping and encoding, and nothing else is touched.

An edit of a selector becomes edits of the pieces that it is made of; what lies between two pieces, a continuation, a
plus sign, a comment, stays. What is about to be written is read again first: the same entries in the same places, and
exactly the selectors that are wanted, or none of it is written. The bytes in front of it and behind it are the same by
construction.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, takewhile, zip_longest
from pathlib import Path
from typing import NamedTuple

from mqsel._interrupt import held
from mqsel.carets import Span, visible
from mqsel.files.opening import PACKED
from mqsel.inventory import Place, is_pipe, read_file
from mqsel.inventory.entries import Entry
from mqsel.inventory.kinds import KINDS
from mqsel.inventory.pieces import Piece, Text
from mqsel.inventory.recognition import text_of
from mqsel.inventory.writings import WRITINGS, EditError, encoded
from mqsel.machine import sections


class Document(NamedTuple):
    """A file that was read, to write other selectors into it.

    Attributes:
        place: the file.
        kind, columns: as for `mqsel.inventory.read`.
        data: its bytes.
        entries: what it holds.
    """

    place: Place
    kind: str | None
    columns: Mapping[str, str]
    data: bytes
    entries: list[Entry]

    def again(self, data: bytes) -> list[Entry]:
        """Return the entries of other bytes in the place of the file."""
        return [*read_file(self.place, self.kind, self.columns, data)]


def document_of(place: Place, kind: str | None, columns: Mapping[str, str], data: bytes | None = None) -> Document:
    """Read a file and keep its bytes.

    Args:
        data: the bytes of what is no file, such as stdin.

    Raises: EditError: nothing can be written there.
    """
    if "://" in place.path:
        raise EditError("mqsel only reads files at a URL")
    if data is None and is_pipe(place.path):
        raise EditError("what comes from a pipe is only read")
    if data is None:
        try:
            data = Path(place.path).read_bytes()
        except OSError as error:
            raise EditError(f"the file cannot be read: {error.strerror}") from error
    if data.startswith(PACKED):
        raise EditError("the file is packed")
    empty = Document(place, kind, columns, data, [])
    return empty._replace(entries=empty.again(data))


class Rewritten(NamedTuple):
    """A file with other selectors in it.

    Attributes:
        data: its bytes; those of before if nothing can be written.
        changed: the numbers of the entries that are other selectors now.
        refused: the numbers of the others that should be, and why they are not.
    """

    data: bytes
    changed: list[int]
    refused: dict[int, str]


class FileEdit(NamedTuple):
    """A part of a text, and what comes in its place.

    Attributes:
        start, stop: code points; alike for an insertion.
        text: what is written there.
    """

    start: int
    stop: int
    text: str


def holds_lines(text: Text) -> bool:
    """Report whether ends of line may stand in a text as they are, in all of its pieces."""
    return all(one.written and all(WRITINGS[name].holds_lines for name in one.written) for one in text.pieces)


def indented(content: str, entry: Entry, text: str) -> str:
    """Return a text whose lines stand below the line that the selector of an entry begins in, as deep as that."""
    if entry.text is None or any("margin" in one.written for one in entry.text.pieces):
        return text
    blanks = _blanks_before(content, entry.text.span[0])
    return re.sub(r"'[^']*'|\n", lambda match: match[0] + blanks * (match[0] == "\n"), text)


def replacement(text: Text, part: FileEdit) -> str | None:
    """Return what stands in the file for a part of a text; None unless that is one run of the file."""
    first = max(0, text.at(part.start))
    pieces = [*takewhile(lambda one: one.start < max(part.stop, part.start + 1), text.pieces[first:])]
    is_run = all(one.end == other.place and one.written == other.written for one, other in pairwise(pieces))
    if not pieces or not is_run or any(one.place == one.end for one in pieces):
        return None
    try:
        value = part.text
        for name in reversed(pieces[0].written):
            value = encoded(value, name)
    except EditError:
        return None
    return None if "\n" in value else value


def rewritten(document: Document, wanted: Mapping[int, str]) -> Rewritten:
    """Return a file with other selectors in some of its entries.

    Args:
        document: the file, as it was read.
        wanted: for the number of an entry its selector; that of now, too.
    """
    refused: dict[int, str] = {}
    content, encoding, _ = text_of(document.data)
    check = _Check(document, wanted)
    is_exact = check.is_exact()
    made: dict[int, list[FileEdit]] = {}
    for number, text in wanted.items():
        entry = document.entries[number]
        if text == entry.selector:
            continue
        if entry.text is None or entry.selector is None or KINDS[entry.kind].kept:
            refused[number] = KINDS[entry.kind].kept or entry.reason
        elif not is_exact:
            refused[number] = f"the file has bytes that are none of its encoding, {encoding}"
        else:
            try:
                in_file = _in_file(content, encoding, entry.text, [*parts(entry.selector, text)])
                made |= {number: in_file} if in_file else {}
            except EditError as error:
                refused[number] = error.message
    accepted = check.accepted(_groups(made, refused), refused)
    data = check.data(accepted) if accepted else document.data
    return Rewritten(data, sorted(one for group in accepted for one in group.numbers), refused)


# ---- what is other in a selector -----------------------------------------------------------------------------------

_TOKENS = re.compile(r"'(?:[^']|'')*'?|\"[^\"]*\"?|[\w.$]+|<>|[<>!]=|\S")
_MOST = 5_000  # tokens that are compared each with each


def parts(before: str, after: str) -> Iterator[FileEdit]:
    """Yield what of a selector is other in another one, by its words and signs; as little as that can be."""
    old, new = [[*_TOKENS.finditer(text)] for text in (before, after)]
    keys = [[one[0].casefold() for one in many] for many in (old, new)]
    blocks: Sequence[tuple[int, int, int]] = [(0, 0, 0), (len(old), len(new), 0)]
    if len(old) != len(new) and max(len(old), len(new)) <= _MOST:
        blocks = difflib.SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks()
    alike: list[tuple[int, int]] = []
    first, second = 0, 0
    for start, there, size in blocks:
        # Between what is alike, as many words as before stand each in the place of another.
        more = start - first if start - first == there - second else 0
        alike += [(start + number, there + number) for number in range(-more, size)]
        first, second = start + size, there + size
    at, there = 0, 0
    for first, second in alike:
        yield from _part(before, after, (at, old[first].start()), (there, new[second].start()))
        yield from _part(before, after, old[first].span(), new[second].span())
        at, there = old[first].end(), new[second].end()
    yield from _part(before, after, (at, len(before)), (there, len(after)))


def _part(before: str, after: str, old: Span, new: Span) -> Iterator[FileEdit]:
    """Yield a part without what is alike at its ends, unless all of it is."""
    gone, text = before[slice(*old)], after[slice(*new)]
    if gone != text:
        head = _alike(gone, text)
        tail = _alike(gone[head:][::-1], text[head:][::-1])
        yield FileEdit(old[0] + head, old[1] - tail, text[head : len(text) - tail])


def _alike(first: str, second: str) -> int:
    """Return how many characters two texts begin with alike."""
    others = (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other)
    return next(others, min(len(first), len(second)))


# ---- from the selector to the file -----------------------------------------------------------------------------------


def _in_file(content: str, encoding: str, text: Text, wanted: list[FileEdit]) -> list[FileEdit]:
    """Return the parts of a file that make those of a selector.

    Raises: EditError: one of them cannot be written.
    """
    merged: list[tuple[FileEdit, Span]] = []
    for part in wanted:
        whole = part
        low, high = _around(content, text, part.start)[0], _around(content, text, part.stop)[1]
        if merged and low < merged[-1][1][1]:  # both within one escape
            before, (low, _) = merged.pop()
            between = text.value[before.stop : part.start]
            whole = FileEdit(before.start, part.stop, before.text + between + part.text)
        merged.append((whole, (low, high)))
    made: list[FileEdit] = []
    for part, (low, high) in merged:
        value = text.value[low : part.start] + part.text + text.value[part.stop : high]
        made += _of_pieces(content, encoding, text, FileEdit(low, high, value))
    return made


def _around(content: str, text: Text, offset: int) -> Span:
    """Return the span of the escape that an offset is within; else the offset twice."""
    for one in text.pieces[max(0, text.at(offset)) :][:1]:
        if one.start < offset < one.stop and not _is_plain(content, text, one):
            return one.start, one.stop
    return offset, offset


def _is_plain(content: str, text: Text, piece: Piece) -> bool:
    return content[piece.place : piece.end] == text.value[piece.start : piece.stop]


def _of_pieces(content: str, encoding: str, text: Text, part: FileEdit) -> Iterator[FileEdit]:
    """Yield the parts of a file that make one of a selector: one of its pieces has the text, the others none."""
    first = min(max(0, text.at(part.start)), len(text.pieces) - 1)
    pieces = [text.pieces[first], *takewhile(lambda one: one.start < part.stop, text.pieces[first + 1 :])]
    # A blank at the beginning of a line that goes on would be lost: it is put at the end of the line before.
    if first and part.start == part.stop == pieces[0].start and part.text[:1] == " ":
        first -= text.value[part.start - 1] != "\n"
        pieces = [text.pieces[first]]
    bearer = pieces[-1 if text.value[part.stop : part.stop + 1].isspace() else 0]
    for one, behind in zip_longest(pieces, text.pieces[first + 1 : first + 1 + len(pieces)]):
        if one.place == one.end and one.start < one.stop:
            raise EditError("it stands for other things in the file, which have no text to edit there")
        start, stop = max(one.start, part.start), max(one.start, min(one.stop, part.stop))
        is_plain = _is_plain(content, text, one)
        place = one.place + (start - one.start) if is_plain else one.place if start < one.stop else one.end
        end = place + (stop - start) if is_plain or start == stop else one.end
        made = _written(content, encoding, text, one, part.text) if part.text and one is bearer else ""
        if made != content[place:end]:
            yield FileEdit(place, end, made)
        if start < stop == one.stop and behind is not None and content[place:end].endswith("\n"):
            margin = content[one.end : behind.place]
            if margin and _MARGIN.fullmatch(margin):  # of a line that is no line any more
                yield FileEdit(one.end, behind.place, "")


_MARGIN = re.compile(r"[ \t]*\|?")


def _written(content: str, encoding: str, text: Text, piece: Piece, value: str) -> str:
    """Return what stands in the file for a text in the place of a piece.

    Raises: EditError: it cannot stand there.
    """
    for name in reversed(piece.written):
        value = encoded(value, name, encoding)
    if "\n" in value:
        if not piece.written:
            raise EditError("an end of line cannot be written in this place")
        line_end = "\r\n" if "\r\n" in content else "\n"
        value = value.replace("\n", line_end + _margin(content, text, piece) * ("margin" in piece.written))
    try:
        value.encode(encoding)
    except UnicodeError as error:
        raise EditError(f"the file's encoding, {encoding}, has not all of its characters") from error
    return value


def _blanks_before(content: str, place: int) -> str:
    line = content.rfind("\n", 0, place) + 1
    return content[line : line + len(content[line:place]) - len(content[line:place].lstrip(" \t"))]


def _margin(content: str, text: Text, piece: Piece) -> str:
    """Return what stands before each line of a block."""
    line = content.rfind("\n", 0, piece.place) + 1
    first = next((one.place for one in text.pieces if one.end > line), piece.place)
    match = _MARGIN.match(content, line, max(line, first))
    return match[0] if match else ""


# ---- what may be written -------------------------------------------------------------------------------------------


class _EditGroup(NamedTuple):
    """Entries that share parts of the file, as those that use one constant: all of them are written, or none.

    Attributes:
        numbers: of the entries.
        parts: of the file.
    """

    numbers: set[int]
    parts: set[FileEdit]


def _groups(made: Mapping[int, list[FileEdit]], refused: dict[int, str]) -> list[_EditGroup]:
    """List the entries that can be written apart from others; those with different texts for one place are refused."""
    owners: dict[FileEdit, set[int]] = {}
    for number, many in made.items():
        for part in many:
            owners.setdefault(part, set()).add(number)
    groups = {number: _EditGroup({number}, set(many)) for number, many in made.items()}
    clashing: set[int] = set()
    last: FileEdit | None = None
    for part in sorted(owners):
        first, *others = owners[part]
        for other in others:
            groups[first].numbers.update(groups[other].numbers)
            groups[first].parts.update(groups[other].parts)
            groups |= dict.fromkeys(groups[other].numbers, groups[first])
        if last is not None and (part.start < last.stop or part.start == last.start) and owners[part] != owners[last]:
            clashing |= owners[part] | owners[last]
        last = part if last is None or part.stop >= last.stop else last
    apart = []
    for group in {id(one): one for one in groups.values()}.values():
        if group.numbers & clashing:
            refused |= dict.fromkeys(group.numbers, "two selectors use the same text of the file, and it would differ")
        else:
            apart.append(group)
    return apart


class _Check:
    """What a file would be with other selectors, and whether it would be nothing else.

    Args:
        document: the file.
        wanted: the selectors by the numbers of their entries.
    """

    def __init__(self, document: Document, wanted: Mapping[int, str]) -> None:
        self._document = document
        self._content, self._encoding, self._mark = text_of(document.data)
        self._wanted = wanted

    def data(self, groups: Iterable[_EditGroup]) -> bytes:
        """Return the bytes of the file with the parts of some groups.

        Raises: UnicodeError: its encoding has not all of the characters.
        """
        pieces, at = [], 0
        for start, stop, text in sorted(part for group in groups for part in group.parts):
            pieces += [self._content[at:start], text]
            at = stop
        whole = "".join([*pieces, self._content[at:]])
        errors = "surrogatepass" if self._encoding.startswith("utf-16-") else "strict"
        return self._document.data[: self._mark] + whole.encode(self._encoding, errors)

    def is_exact(self) -> bool:
        """Report whether the bytes of the file are those of its text."""
        try:
            return self.data(()) == self._document.data
        except UnicodeError:
            return False

    def accepted(self, groups: list[_EditGroup], refused: dict[int, str]) -> list[_EditGroup]:
        """List the groups that can be written together; the entries of the others are refused."""
        reason = self._trouble(groups) if groups else ""
        if not reason:
            return groups
        if len(groups) == 1:
            refused |= dict.fromkeys(groups[0].numbers, reason)
            return []
        half = len(groups) // 2
        both = [*self.accepted(groups[:half], refused), *self.accepted(groups[half:], refused)]
        reason = self._trouble(both) if both else ""
        if reason:
            refused |= {number: reason for group in both for number in group.numbers}
            return []
        return both

    def _trouble(self, groups: list[_EditGroup]) -> str:
        """Return why the file must not be written with some groups; empty if it may."""
        data = self.data(groups)
        again = self._document.again(data)
        entries = self._document.entries
        if len(again) != len(entries):
            return "read again, the file would have more selectors, or fewer"
        listed = sorted(part for group in groups for part in group.parts)
        shifts = [0, *accumulate(len(text) - (stop - start) for start, stop, text in listed)]
        stops = [stop for _, stop, _ in listed]
        numbers = {number for group in groups for number in group.numbers}
        for number, (old, new) in enumerate(zip(entries, again, strict=True)):
            is_other = number in numbers
            wanted = self._wanted[number] if is_other else old.selector
            alike = _facts(old) == _facts(new) and new.selector == wanted
            if old.text is not None and new.text is not None:
                start, stop = old.text.span
                place = start + shifts[bisect_right(stops, start - 1)]
                last = stop + shifts[bisect_right(stops, stop)]
                alike &= place <= new.text.span[0] <= (last if is_other else place)
                alike &= wanted is not None or old.text.value == new.text.value
            if not alike and is_other:
                return "read again, it would not be the same selector"
            if not alike:
                return f"the entry of line {old.line} would also change"
        return ""


def _facts(entry: Entry) -> tuple[object, ...]:
    return entry.key, entry.destination, entry.dialect, entry.kind, entry.reason, entry.text is None


# ---- the file --------------------------------------------------------------------------------------------------------


def write(document: Document, data: bytes) -> None:
    """Put a new file in the place of the one that was read, with its mode, through links.

    Raises: EditError: it is not written, and the old one is as it was.
    """
    try:
        with held():
            _replace(Path(os.path.realpath(document.place.path)), document.data, data)
    except OSError as error:
        raise EditError(f"the file cannot be written: {error.strerror}") from error


def _replace(target: Path, before: bytes, after: bytes) -> None:
    found = target.stat()
    if not stat.S_ISREG(found.st_mode):
        raise EditError("only plain files are written anew")
    if found.st_nlink > 1:
        raise EditError("the file has another name, a hard link, which would stay with the old text")
    if not os.access(target, os.W_OK):
        raise EditError("the file is read-only")

    def check() -> None:
        if target.read_bytes() != before:
            raise EditError("the file has changed since it was read")

    sections.replace_file(target, [after], check)


def difference(document: Document, data: bytes) -> Iterator[str]:
    """Yield the lines of a unified diff of what was read and what would be written."""
    name = visible(document.place.path)
    old, new = [text_of(one)[0].removesuffix("\n").split("\n") for one in (document.data, data)]
    for line in difflib.unified_diff(old, new, name, name, lineterm=""):
        yield "\t".join(map(visible, line.removesuffix("\r").split("\t")))
