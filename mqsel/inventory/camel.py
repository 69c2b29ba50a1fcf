"""URIs of Camel components that take a selector, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqsel.inventory.entries import Entry, Source
from mqsel.inventory.pieces import HOLE, Text

_URI = re.compile(
    r"\s*[\"']?([a-z][\w+.-]*):(?://)?(?:(?:queue|topic|temp-queue|temp-topic):(?://)?)?([^?\s]*)\?(?:.*?&)?"
    r"(?:selector|messageSelector)=(RAW\(([^)]*(?:\)(?!&|$)[^)]*)*)\)|[^&]*)",
    re.DOTALL,
)
_SCHEMES = re.compile(
    r"(?:.*[-_.]?)?(?:jms|sjms2?|activemq6?|amqp|artemis|ibmmq|wmq|mq|ems|tibco|solace\w*|weblogic)[\w-]*"
)


def of_uri(source: Source, uri: Text, key: str) -> Iterator[Entry]:
    """Yield the entry of a URI with ``selector=``; none of another text."""
    match = _URI.match(uri.value)
    if match is None or not _SCHEMES.fullmatch(match[1]):
        return
    group = 3 if match[4] is None else 4
    text = uri[match.start(group) : match.end(group)]
    if group == 3:
        text = text.decoded("url" if re.search(r"[%+]", text.value) else "url plain")
    destination = match[2].strip("/").replace(HOLE, "…")
    yield from source.entry("camel", key or destination, destination, text)
