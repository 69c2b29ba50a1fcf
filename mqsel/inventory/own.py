"""The forms of our own: keys with selectors in lines, JSON, CSV and Parquet, and selectors one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mqsel.inventory.data import Table
from mqsel.inventory.entries import Entry, Source
from mqsel.inventory.pieces import Text, joined

COLUMNS = ("key", "destination", "selector")


def read(source: Source, kind: str, columns: Mapping[str, str]) -> Iterator[Entry]:
    """Yield the entries of a file.

    Args:
        columns: for each of `COLUMNS` what it is called in CSV and in objects of JSON, where that is another name.
    """
    yield from {"keyed": _keyed, "lines": _lines, "csv": _csv, "keyed-json": _json}[kind](source, columns)


def _content_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield each line that is no comment, with its start."""
    at = 0
    for line in source.content.splitlines(keepends=True):
        words = line.rstrip("\r\n")
        if words.strip() and not words.lstrip().startswith("#"):
            yield at, words
        at += len(line)


def _keyed(source: Source, _: Mapping[str, str]) -> Iterator[Entry]:
    for start, line in _content_lines(source):
        key, tab, _selector = line.partition("\t")
        if not tab or not key:
            yield source.damage("keyed", start, "a line without a tab: expected a key, a tab and a selector")
        else:
            yield from source.entry("keyed", key, "", source.text(start + len(key) + 1, start + len(line)))


_CONTINUES = re.compile(r"\s*(?:AND\b|OR\b|\))", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:\b(?:AND|OR|NOT)|\()\s*$", re.IGNORECASE)
_PARENTHESES = re.compile(r"'[^']*'|[()]")


_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")


def _lines(source: Source, _: Mapping[str, str]) -> Iterator[Entry]:
    """Yield selectors, one a line; a line goes on behind AND or OR, before them, and indented in a parenthesis.

    A blank line ends a selector that is not to go on; a comment within one is no part of it.
    """
    number = is_open = 0
    last = ""
    spans: list[tuple[int, int]] = []
    for start, line in _content_lines(source):
        stop = start + len(line)
        gap = source.content[spans[-1][1] : start] if spans else ""
        is_next = bool(spans) and not _BLANK_LINE.search(gap)
        if (spans and _GOES_ON.search(last)) or (
            is_next and (_CONTINUES.match(line) or (is_open > 0 and line[:1].isspace()))
        ):
            if gap.strip():
                spans[-1] = spans[-1][0], spans[-1][1] + gap.index("\n") + 1
                spans.append((start, stop))
            else:
                spans[-1] = spans[-1][0], stop
        else:
            if spans:
                number += 1
                yield from source.entry("lines", str(number), "", _joined(source, spans))
            spans, is_open = [(start, stop)], 0
        last = line
        is_open += sum({"(": 1, ")": -1}.get(sign, 0) for sign in _PARENTHESES.findall(line))
    if spans:
        yield from source.entry("lines", str(number + 1), "", _joined(source, spans))


def _joined(source: Source, spans: list[tuple[int, int]]) -> Text:
    return joined([source.text(*one) for one in spans]).decoded("lines")


def _json(source: Source, columns: Mapping[str, str]) -> Iterator[Entry]:
    number = 0
    for value in _values(source):
        if isinstance(value, Entry):
            yield value
            continue
        pairs = value.pairs if isinstance(value, Table) else enumerate(value, 1) if isinstance(value, list) else ()
        if isinstance(value, Table) and (columns.get("selector", "selector")) in dict(value.pairs):
            pairs = [("", value)]
        for key, one in pairs:
            number += 1
            yield from _of_json(source, str(key) or str(number), one, columns)


_TOKEN = re.compile(r'"((?:[^"\\\n]|\\.)*)"|[{}\[\],:]|"[^\n]*|[^\s"{}\[\],:]+')
_VALUE = "[{v"  # what begins a value: a bracket, a brace, a string or another word
_AT_START = {"[": f"{_VALUE}]", "{": "k}"}  # of a list, of an object
_DAMAGED = "damaged JSON: what else there is was read"


def _values(source: Source) -> Iterator[Table | list[Any] | Text | Entry]:
    """Yield the values of JSON, one or several, and an entry for the first damage of each.

    A scanner with places, because our own forms are read without any library. What should not stand somewhere is
    passed over, so that the rest is read; behind damage an object at the start of a line begins a new value.
    """
    content = source.content
    around: list[Table | list[Any]] = []  # what a value stands in
    wanted, key, is_damaged = _VALUE, "", False
    for match in _TOKEN.finditer(content):
        word, at = match[0], match.start()
        if is_damaged and word == "{" and content[at - 1 : at] in ("\n", ""):
            yield from around[:1]
            around, wanted, is_damaged = [], _VALUE, False
        is_lacking = wanted[0] == "," and word not in ",]}"  # a comma: it is taken to be there
        if is_lacking:
            wanted = _VALUE if isinstance(around[-1], list) else "k"
        sign = word if word in "{}[],:" else "k" if wanted[0] == "k" and match[1] is not None else "v"
        is_wrong = sign not in wanted or (match[1] is None and word[0] == '"')
        if (is_lacking or is_wrong) and not is_damaged:
            is_damaged = True
            yield source.damage("keyed-json", at, _DAMAGED)
        if is_wrong:
            continue
        if sign in ("k", ":", ","):
            key = source.text(*match.span(1)).decoded("json").value if sign == "k" else key
            wanted = {"k": ":", ":": _VALUE}.get(sign) or (_VALUE if isinstance(around[-1], list) else "k")
            continue
        value: Table | list[Any] | Text
        if sign in ("]", "}"):
            value = around.pop()
        else:
            value = [] if sign == "[" else Table([], at) if sign == "{" else _scalar(source, match)
            holder = around[-1] if around else []
            if isinstance(holder, Table):
                holder.pairs.append((key, value))
            else:
                holder.append(value)
            if not isinstance(value, Text):
                around.append(value)
                wanted = _AT_START[sign]
                continue
        wanted = _VALUE if not around else ",]" if isinstance(around[-1], list) else ",}"
        if not around:
            is_damaged = False
            yield value
    if around:
        if not is_damaged:
            yield source.damage("keyed-json", len(content), _DAMAGED)
        yield around[0]


def _scalar(source: Source, match: re.Match[str]) -> Text:
    """Return a string, or another word as it stands."""
    return source.text(*match.span()) if match[1] is None else source.text(*match.span(1)).decoded("json")


def _of_json(source: Source, key: str, value: object, columns: Mapping[str, str]) -> Iterator[Entry]:
    if isinstance(value, Text) and value.pieces:
        start = value.span[0]
        if source.content[start - 1 : start] == '"' or not value:
            yield from source.entry("keyed-json", key, "", value)
        else:
            yield source.damage("keyed-json", start, f"the selector of {key} is {value.value[:20]}: expected a string")
    elif isinstance(value, Table):
        named = dict(value.pairs)
        found = [named.get(columns.get(one, one)) for one in COLUMNS]
        if isinstance(found[2], Text):
            names = [one.value if isinstance(one, Text) else "" for one in found[:2]]
            yield from source.entry("keyed-json", names[0] or key, names[1], found[2])
        else:
            yield source.damage("keyed-json", value.start, "an object without a text named selector")
    elif isinstance(value, list):
        for number, one in enumerate(value, 1):
            if not isinstance(one, list):
                yield from _of_json(source, f"{key}.{number}" if key else str(number), one, columns)


def _csv(source: Source, columns: Mapping[str, str]) -> Iterator[Entry]:
    rows = _rows(source)
    heading = next(rows, [])
    names = [one.value.strip().lower() for one in heading]
    places = [names.index(name) if (name := columns.get(one, one).lower()) in names else -1 for one in COLUMNS]
    if places[2] < 0:
        wanted = columns.get("selector", "selector")
        yield source.damage("csv", 0, f"no column is called {wanted}: name it by --columns selector=NAME")
        return
    for number, row in enumerate(rows, 1):
        key, destination, selector = [row[at] if 0 <= at < len(row) else Text("") for at in places]
        if selector:
            yield from source.entry("csv", key.value or str(number), destination.value, selector)


def _rows(source: Source) -> Iterator[list[Text]]:
    """Yield the fields of each row; the first row tells what divides them."""
    content = source.content
    head = content.partition("\n")[0]
    comma = max(",;\t|", key=head.count)
    field = re.compile(rf'"([^"]*(?:""[^"]*)*)"?([^{re.escape(comma)}\r\n]*)|([^{re.escape(comma)}\r\n]*)')
    row: list[Text] = []
    at = 0
    while at < len(content):
        match = field.match(content, at)
        assert match is not None  # its last branch matches nothing at all
        if match[1] is None:
            row.append(source.text(*match.span(3)))
        else:
            row.append(joined([source.text(*match.span(1)).decoded("csv"), source.text(*match.span(2))]))
        at = match.end()
        if content.startswith(comma, at):
            at += 1
            if at < len(content):
                continue
        at += 2 if content.startswith("\r\n", at) else 1
        if len(row) > 1 or row[0].value.strip():
            yield row
        row = []
