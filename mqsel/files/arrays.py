"""Files of JSON that are not one object a line, but one array, or objects over several lines: opened, they are lines.

Tools of brokers write a whole queue as one array, and one message as an object over several lines. Elements and objects
are read as lines of JSON are, as they come, so that every format of lines can be written so, and nothing else has to
know. Follows formats §8.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any

from mqsel.files.opening import beginning, in_pieces, opened

_START = 8192  # bytes by which an array is known
_STEP = 1 << 16  # bytes that are read at once
_BLANKS = 1 << 20  # bytes of blanks that may be in front of the first bracket

# An array with an object, an array or null in it, or an empty one; an event of Amazon MQ, whose messages are one, or of
# RabbitMQ one for each queue.
_ARRAY = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:(?:null|true|false|-?\d+(?:\.\d+)?|\"[^\"\\]*\")\s*,\s*)*(?:[{\[\]]|null\b|\Z)"
    rb"|\{(?=[^\[]*\"eventSource\"\s*:\s*\"aws:mq\")[^\[]*\"messages\"\s*:\s*\["
    rb"|\{[^\[]*\"rmqMessagesByQueue\"\s*:\s*\{\s*\"[^\"]*\"\s*:\s*\[)"
)
# An object whose first line is not all of it: the line ends where more has to follow, or the next one goes on. A line
# that was cut off, with an object in the next line, is not meant.
_OBJECT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*\{"
    rb"(?:(?:[^\n]*[{,])?[ \t\r]*\n\s*[^\s{]|[^\n]*[:\[][ \t\r]*\n(?!\s*\{[^\n]*\}[ \t\r]*\n\s*\{)"
    rb"|[^\n]*[^}\s][ \t\r]*\n\s*[,}\]])"
)


@contextmanager
def opened_messages(
    path: str, is_enough: Callable[[bytes], bool] = bool
) -> Iterator[tuple[IO[bytes], io.BufferedReader[Any]]]:
    """Open a file as `opened` does; the content of an array of JSON, or of objects over several lines, is lines."""
    with opened(path, is_enough) as (raw, content):
        start, blanks = content.peek(_START), b""
        while start.isspace() and len(blanks) < _BLANKS:
            blanks += content.read1(len(start))
            start = content.peek(_START)
        if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b"\n" not in start.strip():
            start = beginning(content)
        if _ARRAY.match(start[:_START]):
            yield raw, in_pieces(_lines(content))
        elif _OBJECT.match(start):
            yield raw, in_pieces(_lines(content, has_objects=True))
        elif blanks and content is raw and raw.seekable():
            content.seek(0)
            yield raw, content
        else:
            yield raw, in_pieces(chain([blanks], iter(lambda: content.read1(_STEP), b""))) if blanks else content


def _lines(stream: io.BufferedReader[Any], *, has_objects: bool = False) -> Iterator[bytes]:
    from mqsel.files._exports import JsonLines  # noqa: PLC0415 (most files are lines)

    lines = JsonLines(has_objects)
    while data := stream.read1(_STEP):
        yield lines.take(data)
    if not lines.is_complete:
        raise EOFError(f"the JSON ends within an {'object' if has_objects else 'array'}: the file was cut off")
