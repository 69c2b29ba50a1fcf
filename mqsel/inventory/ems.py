"""TIBCO EMS: bridges, durables and routes, in its files of configuration and in scripts of its administration tool.

Facts: *TIBCO Enterprise Message Service, User's Guide*: bridges.conf has a section for each source, ``[topic:NAME]``,
with lines ``queue=NAME selector="…"``; durables.conf a line for each; ``create bridge source=… target=… selector=…``;
tibemsd.json has them all as objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqsel.inventory import data
from mqsel.inventory.entries import Entry, Source

_SECTION = re.compile(r"\[(?:\s*(?:topic|queue)\s*[:=])?([^\]]*)\]", re.IGNORECASE)
_SELECTOR = re.compile(r"\bselector\s*=\s*(?:\"((?:[^\"\\]|\\.)*)(\"?)|(\S.*))", re.IGNORECASE)
_WORD = re.compile(r"([A-Za-z_]+)\s*[=:]\s*(\"[^\"]*\"|[^\s,\"]+)|(\"[^\"]*\"|\S+)")
_COMMAND = re.compile(r"\s*(?:create|setprop|addprop)\s+(bridge|durable|route)\b(.*)", re.IGNORECASE)


def read(source: Source, kind: str, _: object) -> Iterator[Entry]:
    """Yield the entries of lines: of scripts, and of the files of a server."""
    if source.content.lstrip().startswith("{"):
        yield from data.read(source, kind, None)
        return
    section = ""
    at = 0
    for line in source.content.splitlines(keepends=True):
        start, at = at, at + len(line)
        words = line.strip()
        if not words or words[0] in "#;" or words.startswith("//"):
            continue
        heading = _SECTION.match(words)
        if heading:
            section = heading[1].strip()
        match = _SELECTOR.search(line)
        if match is None:
            continue
        if match[3] is None and not match[2]:
            yield source.damage(kind, start + match.start(1) - 1, "a selector without a closing quote")
            continue
        group = 1 if match[3] is None else 3
        text = source.text(start + match.start(group), start + match.end(group))
        key, destination = _names(line[: match.start()] + line[match.end() :], section)
        yield from source.entry(kind, key, destination, text.decoded("ems"))


def _names(line: str, section: str) -> tuple[str, str]:
    """Return what a line is about, and from where it takes messages."""
    named: dict[str, str] = {}
    alone: list[str] = []
    command = _COMMAND.match(line)
    for match in _WORD.finditer(command[2] if command else line):
        if match[1]:
            named[match[1].lower()] = re.sub(r"^(?:topic|queue):", "", match[2].strip('"'), flags=re.IGNORECASE)
        else:
            alone.append(match[3].strip('"'))
    if "source" in named:
        return f"{named['source']} -> {named.get('target', '')}", named["source"]
    for one in ("topic", "queue", "outgoing_topic", "incoming_topic", "outgoing_queue"):
        if one in named:
            who = section or next(iter(alone), "")
            is_bridge = one in ("topic", "queue")
            return f"{who} -> {named[one]}" if who else named[one], who if is_bridge and who else named[one]
    alone += ["", ""]
    if command and command[1].lower() == "route":
        return alone[0], named.get("name", "")
    return (alone[1] or alone[0], alone[0]) if alone[0] else (section, section)
