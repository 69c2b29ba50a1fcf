"""The table of the formats of files, and the one loop over the messages of files.

A row of `FORMATS` has how a format is recognised, how a file of it is split into messages, how a message is read, and
how its place is named. Everything that reads files of messages does so through `reading` and `each`: a format is
added by a row. Reads no more of a file than one message, or a block of lines. Knows no selectors. Follows formats §8.

In a length-prefixed file four bytes, a big-endian number, are the length of the message that follows. A file that
begins with a structure (MQMD, MQRFH2), or a section of AMQP, is one message: none is as long as ``MD  `` is as a
length.
"""

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import IO, Any, Literal, NamedTuple, TypeVar

from mqsel.arguments import check_count, check_word
from mqsel.carets import nameable, visible
from mqsel.errors import DecodeError, FileError, MqselError, PropertyTypeError
from mqsel.files import qload
from mqsel.files._splitters import Framed, LongLine, Splitter
from mqsel.files.arrays import opened_messages
from mqsel.files.dumps import MAX_MESSAGE, PRINTED, STRUC_IDS, Piece
from mqsel.files.foreign import FOREIGN, LINES
from mqsel.files.opening import beginning, is_queue, name_of, opened, unfolded
from mqsel.files.wordings import no_message
from mqsel.formats.envelopes import fitting, objects
from mqsel.formats.records import SCHEMAS

_LISTED = 100  # errors kept by a reader that skips
_START = 8192  # bytes by which a format is known
_BLOCK = 1 << 20  # bytes of lines that are read at once, if there are as many
_GROWTH = 8 << 20  # by how many more, at most, for a line that is longer
_PIECES = 16  # between two words of progress
_LINES = 1024

Made = TypeVar("Made")
Source = Iterator[Piece | FileError]


# ---- bytes -------------------------------------------------------------------------------------------------------


def _framed(alone: re.Pattern[bytes], path: str) -> Splitter:
    return Framed(path, MAX_MESSAGE, alone)


_MQ = re.compile(b"|".join(map(re.escape, STRUC_IDS)))
# A section begins with 0x00 and a descriptor, as does a length of some millions: with that in front, another begins
# behind it, which it does not behind the beginning of a section unless that is empty.
_SECTION = rb"\0(?:\x53[\x70-\x78]|\x80\0{7}[\x70-\x78]|(?:\xa3.|\xb3.{4})amqp:)"
_AMQP = re.compile(rb"(?!\0\x53.[^\x40\x45]" + _SECTION + rb")" + _SECTION, re.DOTALL)


def _start(section: bytes) -> re.Pattern[bytes]:
    """Return what begins messages, with their length in front or without."""
    return re.compile(rb"\A(?:.{4})?(?:" + section + rb")", re.DOTALL)


def length_prefixed(message: bytes) -> bytes:
    """Return a message after its length, as files of several messages have it.

    Args:
        message: The bytes of the message.

    Raises: ArgumentError: if *message* is not bytes.
    """
    if not isinstance(message, bytes):
        raise no_message(message)
    return len(message).to_bytes(4, "big") + message


def _exported(path: str) -> Splitter:
    from mqsel.files._exports import Elements  # noqa: PLC0415 (few files are exports)

    return Elements(path, 2 * MAX_MESSAGE)  # bodies are in base64


def _printed(path: str) -> Splitter:
    from mqsel.files.amqsbcg import splitter  # noqa: PLC0415 (few files are that, and it has many patterns)

    return splitter(path)


_FIRST_MESSAGE = re.compile(rb"<message[\s/>]")


def _end_of_export(head: bytes) -> bytes:
    """Return the tags that end an export."""
    return b"   </messages>\n" + b"</activemq-journal>\n" * (b"<activemq-journal" in head)


def bindings(start: bytes) -> bytes | None:
    """Return what an export of Artemis has before its messages, as a document; None of anything else.

    Args:
        start: of a file, unpacked, up to the first message or further.
    """
    first = _FIRST_MESSAGE.search(start) if FORMATS["artemis"].start.search(start) else None  # type: ignore[union-attr]
    return None if first is None else start[: first.start()] + _end_of_export(start[: first.start()])


# ---- the table ---------------------------------------------------------------------------------------------------


class FileFormat(NamedTuple):
    """A format of files.

    Attributes:
        holds: what a file of it holds, for the help of the command line.
        message: how one message is read: a name of `mqsel.formats.FORMATS`; None for what is read by columns.
        split: makes what takes a file of this path apart; None where each line is a message.
        start: what is found in the first bytes of its files; None if they look like lines of JSON.
        place: what the place of a message counts.
        ending: of the names of files of the format that are written.
        closing: returns, for what stands before the first message, what has to stand behind the last one.
    """

    holds: str
    message: str | None
    split: Callable[[str], Splitter] | None = None
    start: re.Pattern[bytes] | None = None
    place: Literal["line", "byte"] = "line"
    ending: str = ".jsonl"
    closing: Callable[[bytes], bytes] = lambda _: b""

    @property
    def is_lines(self) -> bool:
        """Whether each line is a message: then a file may be read from the middle."""
        return self.message is not None and self.split is None


# Of two rows that know a file the first one has it. The data of a QLOAD file may begin with RFH at byte 4: no message
# is as long as the first bytes of such a file are as a length. amqsbcg prints to a terminal, from which anything may
# have been copied along: it comes last.
FORMATS = {
    "parquet": FileFormat("Parquet: one message per row, one property per column", None, None, re.compile(rb"\APAR1")),
    "json": FileFormat("JSON lines: one message per line", "json"),
    **{
        name: FileFormat(f"JSON lines: {row.title}{'' if row.has_types else '; every value is text, see --type'}", name)
        for name, row in SCHEMAS.items()
    },
    "qload": FileFormat("output of dmpmqmsg or QLOAD", "mq", qload.splitter, qload.START, ending=".qload"),
    "mq": FileFormat(
        "bytes of IBM MQ: one message, or length-prefixed messages (4 bytes, big-endian)",
        "mq",
        partial(_framed, _MQ),
        _start(_MQ.pattern),
        "byte",
        ".mq",
    ),
    "amqp": FileFormat(
        "bytes of AMQP 1.0: one message, or length-prefixed messages (4 bytes, big-endian)",
        "amqp",
        partial(_framed, _AMQP),
        _start(_SECTION),
        "byte",
        ".amqp",
    ),
    "artemis": FileFormat(
        "XML of artemis data exp, artemis consumer or the ActiveMQ Classic exporter",
        "artemis",
        _exported,
        re.compile(
            rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:[^-]|-[^-]|--+[^->])*--+>\s*)*"
            rb"<(?:activemq-journal[\s/>]|messages[^>]*>\s*<message\s[^>]*\btimestamp\s*=)"
        ),
        ending=".xml",
        closing=_end_of_export,
    ),
    "amqsbcg": FileFormat(
        "output of the sample program amqsbcg; mqsel ignores other text from the terminal",
        "mq",
        _printed,
        PRINTED,
        ending=".txt",
    ),
}
OF_QUEUES = "amqp"  # the format of what is browsed
FRAMINGS = tuple(name for name, row in FORMATS.items() if row.message == "mq")


def start_of(stream: "io.BufferedReader[Any]") -> bytes:
    """Return the first bytes of a file, by which its format is known; they are still to be read."""
    return stream.peek(_START)[:_START]


def format_of(stream: "io.BufferedReader[Any]", path: str = "stream") -> str | None:
    """Return what a file holds by its first bytes: a name of `FORMATS`, or None for anything else.

    Raises: FileError: several formats fit its first lines.
    """
    start = start_of(stream)
    return _started(start) or (schema_of(objects(beginning(stream)), path) if b"{" in start else None)


def _started(start: bytes) -> str | None:
    """Return the format that files begin with such bytes in."""
    return next((name for name, row in FORMATS.items() if row.start is not None and row.start.search(start)), None)


# A line that is an object is JSON: no more of a pipe is waited for. The line after a first line that is not all of an
# object shows whether the object goes on there.
_OBJECT = re.compile(rb"^(?:\xef\xbb\xbf)?[^\S\n]*(?:\[\s*\{|\{[^\n]*(?:\}[ \t\r]*\n|\n\s*\S))", re.MULTILINE)


def is_enough(start: bytes) -> bool:
    """Report whether the first bytes that have arrived of a file show its format."""
    return len(start) >= _START or _OBJECT.search(start) is not None or _started(start) is not None


def schema_of(records: list[dict[str, Any]], path: str = "stream") -> str | None:
    """Return which tool wrote records, by the first ones: a name of `SCHEMAS`, or None for plain messages.

    Raises: FileError: several of them may have.
    """
    fits = fitting(records) if records else []
    if len(fits) > 1:
        named = " or ".join(f"--format {name}" for name in fits)
        raise FileError(
            f"the first messages may be {' or '.join(fits)}: expected the name of their format",
            path=path,
            hint=f"choose by the tool that wrote them: {named}",
        )
    return fits[0] if fits else None


def looks_like(start: bytes, kind: str) -> tuple[str, str]:
    """Return what a file looks like of which nothing could be read.

    Args:
        start: its first bytes.
        kind: the format it was read as; empty for none.

    Returns: what it looks like, and what to do; empty if that does not show.
    """
    start = start[:_START]
    for name, row in FORMATS.items():
        if name != kind and row.start is not None and row.start.search(start):
            return name, f"use --format {name}"
    found = next(((what, advice) for pattern, what, advice in FOREIGN if re.search(pattern, start)), ("", ""))
    is_read_so = kind and ((FORMATS[kind].is_lines and found[0] == LINES) or found[1].startswith(f"--format {kind} "))
    return ("", "") if is_read_so else found


def counted(name: str, kind: str) -> str:
    """Return what the place of a message counts: lines or bytes of a file of format *kind*, or messages of a queue."""
    return "number" if is_queue(name) else FORMATS[kind].place


def place_of(name: str, kind: str, number: int) -> str:
    """Return the place of a message in words: line or byte *number* of a file of format *kind*, or that of a queue."""
    if is_queue(name):
        return f"{shown(name)}, message {number}"
    return f"{shown(name)}, byte {number}" if FORMATS[kind].place == "byte" else f"{shown(name)}:{number}"


@lru_cache(64)
def shown(name: str) -> str:
    """Return the name of a file for an error."""
    return "stdin" if name == "-" else visible(nameable(name)) or "''"


# ---- reading -----------------------------------------------------------------------------------------------------


def pieces(
    stream: "io.BufferedReader[Any]",
    kind: str,
    path: str = "stream",
    start: int = 0,
    stop: int = -1,
    max_size: int = MAX_MESSAGE,
) -> Source:
    """Yield the messages of a stream and, in place of those that are invalid, errors.

    Args:
        stream: of a file.
        kind: its format, one with messages.
        path: of the file, for errors.
        start, stop: where each line is a message, those that begin in this range of bytes; else nothing. Their place is
            their first byte.
        max_size: the most bytes of a line.
    """
    if FORMATS[kind].split is not None:
        yield from taken_apart(splits(stream, kind, path))
        return
    start = first_line(stream, start, stop)
    yield from taken_apart(blocks(stream, start, stop, max_size), start)


def taken_apart(units: Iterable[bytes | memoryview | Splitter], start: int = 0) -> Source:
    """Yield the messages of what `blocks` or `splits` yields; the place of the first line is *start*."""
    make = tuple.__new__  # Piece(…) takes three times as long
    for unit in units:
        if isinstance(unit, Splitter):
            while (piece := unit.take()) is not None:
                yield piece
            start += unit.skipped if isinstance(unit, LongLine) else 0
            continue
        for line in io.BytesIO(unit):
            yield make(Piece, (start, line, None if line.isspace() else line))
            start += len(line)


def first_line(stream: IO[bytes], start: int, stop: int = -1) -> int:
    """Go to the first line that begins at byte *start* or later, and return where it does.

    Args:
        stop: where the search may end; -1 for the end of the file.
    """
    if start == 0:
        return 0
    stream.seek(start - 1)
    start -= 1
    while piece := stream.readline(_BLOCK):
        start += len(piece)
        if piece.endswith(b"\n") or 0 <= stop <= start:
            break
    return start


def splits(stream: "io.BufferedReader[Any]", kind: str, path: str = "stream") -> Iterator[Splitter]:
    """Read a file of MQ messages in blocks; yield what takes it apart each time that it has read one.

    Whatever it finds has to be taken before the next is asked for.
    """
    split = FORMATS[kind].split
    assert split is not None
    splitter = split(path)
    while splitter.read(stream):
        yield splitter


def blocks(
    stream: "io.BufferedReader[Any]", start: int = 0, stop: int = -1, max_size: int = MAX_MESSAGE
) -> Iterator[memoryview | LongLine]:
    """Read a file of lines in blocks, each of which ends where a line does; it is there until the next is asked for.

    What has arrived is yielded at once. The block grows to hold a line, a little at a time, because growing takes time.
    It is never larger than a line may be, so that no longer line fits into it: for such a line a `LongLine` is yielded.

    Args:
        stream: of the file, at the beginning of a line.
        start: the byte at which that line begins.
        stop: lines that begin there, or later, are not given; -1 for none.
        max_size: the most bytes of a line, without its end.
    """
    buffer = bytearray(min(_BLOCK, max_size + 1))
    held = 0  # bytes of a line whose end was not read yet; the first one begins at *start*
    is_first = True
    while not 0 <= stop <= start:
        if held > max_size:
            skipped = held + _skip_line(stream)
            yield LongLine("", max_size, skipped)
            start, held = start + skipped, 0
            continue
        if held == len(buffer):
            buffer += bytes(min(held, _GROWTH, max_size + 1 - held))
        with memoryview(buffer) as view:
            with view[held:] as room:
                if is_first:  # what was looked at already, and no more: readinto1 would wait for that
                    data = stream.read1(len(room))
                    size = len(data)
                    room[:size] = data
                    is_first = False
                else:
                    size = stream.readinto1(room) or 0
            filled = held + size
            end = buffer.rfind(b"\n", held, filled) + 1 if size else held
            if 0 <= stop <= start + end:
                end = buffer.find(b"\n", stop - start - 1, end) + 1 or end
            if end:
                with view[:end] as block:
                    yield block
            if not size:
                return
            start += end
            held = filled - end
            view[:held] = view[end:filled]


def _skip_line(stream: "io.BufferedReader[Any]") -> int:
    """Read up to the end of a line; return how many bytes that takes."""
    skipped = 0
    while piece := stream.readline(_BLOCK):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def reading(
    path: str | os.PathLike[str],
    kind: str | None = None,
    start: int = 0,
    stop: int = -1,
    advance: Callable[[int], None] | None = None,
    *,
    in_blocks: bool = False,
    max_size: int = MAX_MESSAGE,
) -> tuple[str, Iterator[Any], bytes]:
    """Open a file; find its format, if none is given.

    Args:
        path: the file; "-" is stdin.
        start, stop: see `pieces`.
        advance: is told from time to time how many more bytes of the file were read.
        in_blocks: give `blocks`, or `splits`.
        max_size: the most bytes of a line.

    Returns: its format, lines of JSON if it shows no other; its messages, which may end in a FileError; its first
        bytes.

    Raises: FileError: it cannot be read.
    """
    source = _read(name_of(path), kind, (start, stop, max_size), advance, in_blocks=in_blocks)
    found, start_bytes = next(source)
    return found, source, start_bytes


def _read(
    path: str, kind: str | None, limits: tuple[int, int, int], advance: Callable[[int], None] | None, *, in_blocks: bool
) -> Iterator[Any]:
    start, stop, max_size = limits
    with opened_messages(path, bool if kind else is_enough) as (raw, content):
        kind = kind or format_of(content, path) or "json"
        yield kind, beginning(content) if FORMATS[kind].is_lines else start_of(content)
        found: Iterator[Any]
        if in_blocks and FORMATS[kind].is_lines:
            every, found = 1, blocks(content, first_line(content, start, stop), stop, max_size)
        elif in_blocks and FORMATS[kind].split is not None:
            every, found = 1, splits(content, kind, path)
        else:
            every, found = _LINES if FORMATS[kind].is_lines else _PIECES, pieces(content, kind, path, *limits)
        if advance is None or not raw.seekable():
            yield from found
            return
        told = start
        for number, piece in enumerate(found):
            if number % every == 0:
                advance(raw.tell() - told)
                told = raw.tell()
            yield piece


def each(
    source: Iterable[Piece | FileError], use: Callable[[bytes], Made]
) -> Iterator[tuple[Piece | None, Made | MqselError | None]]:
    """Use every message of a source: the one loop over the messages of files.

    Returns: what the file has for each message, and what was made of it, or why nothing could be; None where there is
        no message but a blank line, or what stands before the first. At the end, with None for a piece, why the rest
        cannot be read.
    """
    try:
        for piece in source:
            if isinstance(piece, FileError):
                yield Piece(piece.line or piece.offset, b"", None), piece
                continue
            message = piece.message
            made: Made | MqselError | None = None
            if message is not None:
                try:
                    made = use(message)
                except (PropertyTypeError, DecodeError) as error:
                    made = error
            yield piece, made
    except FileError as error:
        yield None, error


class Messages:
    """The messages of files, as bytes. Made by `messages`; an iterator.

    Attributes:
        seen: how many messages there were, broken ones included.
        skipped: how many were broken.
        problems: their errors; of many only the first hundred.
    """

    def __init__(self, paths: Iterable[str], framing: str | None, is_skipping: bool, max_size: int) -> None:
        self.seen = 0
        self.skipped = 0
        self.problems: list[FileError] = []
        self._is_skipping = is_skipping
        # Knows nothing of this: in a cycle, the file would stay open after it.
        self._source = (made for path in paths for _, made in each(_of_queue(path, framing, max_size), bytes))

    def __iter__(self) -> "Messages":
        return self

    def __next__(self) -> bytes:
        for message in self._source:
            if isinstance(message, FileError):
                self._problem(message)
            elif isinstance(message, bytes):
                self.seen += 1
                return message
        raise StopIteration

    def _problem(self, error: FileError) -> None:
        self.seen += 1
        if not self._is_skipping:
            self._source.close()
            raise error
        self.skipped += 1
        if len(self.problems) < _LISTED:
            self.problems.append(error)


def _of_queue(path: str, framing: str | None, max_size: int) -> Source:
    """Read the messages of a file that has them as bytes, length-prefixed if its first bytes show no other format."""
    larger = f"bytes: expected {max_size:,} at most"
    with opened(path, bool if framing else is_enough) as (_, content):
        kind = framing or _started(start_of(content))
        for piece in pieces(content, kind if kind in FRAMINGS else "mq", path):
            if isinstance(piece, FileError) or len(piece.message or b"") <= max_size:
                yield piece
            else:
                size = len(piece.message or b"")
                yield FileError(f"the message has {size:,} {larger}", path=path, offset=piece.place)


def messages(
    *paths: str | os.PathLike[str], framing: str | None = None, errors: str = "raise", max_size: int = MAX_MESSAGE
) -> "Messages":
    """Iterate over the messages in files, one at a time. Files may be compressed.

    Args:
        paths: Files and folders. The files of a folder are read in the order of their names. "-" is stdin.
        framing: "mq" (length-prefixed, or one message per file), "qload" or "amqsbcg". The default is None: detected
            for each file.
        errors: "raise" (default): raise the first FileError. "skip": leave invalid messages out; the iterator counts
            and lists them.
        max_size: The greatest size of a message in bytes. A larger message is invalid. The default is 100 MB, the
            greatest size of a message on a queue.

    Raises: ArgumentError: if an argument is invalid.
    """
    if framing is not None:
        check_word("framing", framing, FRAMINGS)
    check_word("errors", errors, ("raise", "skip"))
    check_count("max_size", max_size, "a count of bytes")
    names = [name_of(path) for path in paths]
    return Messages((one for name in names for one in unfolded(name)), framing, errors == "skip", max_size)
