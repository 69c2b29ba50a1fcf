"""Java's .properties: keys, values, escapes and lines that go on, as `java.util.Properties` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqsel.inventory.data import Table, of_tables
from mqsel.inventory.entries import Entry, Source

# A line that goes on ends in an odd number of backslashes; a comment never goes on.
_LINE = re.compile(r"^[ \t\f]*(?:([#!])[^\r\n]*|((?:[^\\\r\n]|\\(?:\r\n|[^\r]|\r|\Z))+))", re.MULTILINE)
_KEY = re.compile(r"((?:[^\\=:\s]|\\.)*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)


def read(source: Source, kind: str, _: object) -> Iterator[Entry]:
    """Yield the entries of a file of properties: what stands under the same first part of a key belongs together."""
    pairs: list[tuple[str, object]] = []
    for line in _LINE.finditer(source.content):
        if line[1]:
            continue
        start, stop = line.span(2)
        key = _KEY.match(source.content, start, stop)
        if key is None:
            continue
        name = re.sub(r"\\(.)", r"\1", key[1])
        pairs.append((name, source.text(key.end(), stop).decoded("properties")))
    yield from of_tables(source, Table(pairs, 0), kind)
