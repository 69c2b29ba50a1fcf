"""Files of messages that are one array of JSON: opened, they are lines.

Tools of brokers write a whole queue as one array. Its elements are read as lines of JSON are, as they come, so that
every format of lines can be written so, and nothing else has to know. Follows formats §8.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from mqsel.files.opening import in_pieces, opened

_START = 8192  # bytes by which an array is known
_STEP = 1 << 16  # bytes that are read at once

# An array, of objects or empty, or an event of Amazon MQ, whose messages are one, or of RabbitMQ one for each queue.
_ARRAY = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:\[\s*[{\]]|\{(?=[^\[]*\"eventSource\"\s*:\s*\"aws:mq\")[^\[]*\"messages\"\s*:\s*\["
    rb"|\{[^\[]*\"rmqMessagesByQueue\"\s*:\s*\{\s*\"[^\"]*\"\s*:\s*\[)"
)


@contextmanager
def opened_messages(
    path: str, is_enough: Callable[[bytes], bool] = bool
) -> Iterator[tuple[IO[bytes], io.BufferedReader[Any]]]:
    """Open a file as `opened` does; of one that is an array of JSON the content is its elements, a line each."""
    with opened(path, is_enough) as (raw, content):
        yield raw, in_pieces(_elements(content)) if _ARRAY.match(content.peek(_START)) else content


def _elements(stream: io.BufferedReader[Any]) -> Iterator[bytes]:
    from mqsel.files._exports import ArrayLines  # noqa: PLC0415 (few files are arrays)

    lines = ArrayLines()
    while data := stream.read1(_STEP):
        yield lines.take(data)
    if not lines.is_complete:
        raise EOFError("the JSON ends within an array: the file was cut off")
