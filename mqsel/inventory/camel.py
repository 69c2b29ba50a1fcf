"""URIs of Camel components that take a selector, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqsel.inventory.entries import Entry, Source
from mqsel.inventory.pieces import HOLE, Text

_TARGET = r"\s*[\"']?([a-z][\w+.-]*):(?://)?(?:(?:queue|topic|temp-queue|temp-topic):(?://)?)?([^?\s]*)"
_URI = re.compile(
    rf"{_TARGET}\?(?:.*?&)?"
    r"(?:selector|messageSelector)=(?:RAW\(([^)]*(?:\)(?!&|$)[^)]*)*)\)|RAW\{([^}]*(?:\}(?!&|$)[^}]*)*)\}|([^&]*))",
    re.DOTALL,
)
_SCHEMES = re.compile(
    r".{0,100}(?:jms|sjms2?|activemq6?|amqp|artemis|ibmmq|wmq|mq|ems|tibco|solace|weblogic)[\w-]{0,100}"
)


def destination_of(uri: str) -> str:
    """Return the queue or topic of a URI; empty of one that takes no selector."""
    match = re.match(_TARGET, uri)
    return match[2].strip("/") if match and _SCHEMES.fullmatch(match[1]) else ""


def of_uri(source: Source, uri: Text, key: str) -> Iterator[Entry]:
    """Yield the entry of a URI with ``selector=``; none of another text."""
    match = _URI.match(uri.value)
    if match is None or not _SCHEMES.fullmatch(match[1]):
        return
    group = next(number for number in (3, 4, 5) if match[number] is not None)
    text = uri[match.start(group) : match.end(group)]
    if group == 5:
        text = text.decoded("url" if re.search(r"[%+]", text.value) else "url plain")
    destination = match[2].strip("/").replace(HOLE, "…")
    yield from source.entry("camel", key or destination, destination, text)
