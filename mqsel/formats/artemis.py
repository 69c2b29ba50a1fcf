"""Messages of the XML that Artemis exports: which names they have, and the reader of those that are odd.

A message is an element ``message``: JMS headers stand in its attributes or have names of the broker's own among its
properties. `_artemis` reads what the exporter writes; all that is odd is read here, and inspected. Follows formats §8,
and artemis-cli, XmlDataConstants and XMLMessageExporter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from mqsel.carets import shortened
from mqsel.errors import ArgumentError, DecodeError
from mqsel.formats._artemis import PROPERTY_TYPES, ArtemisDecoder, read_text, unescaped
from mqsel.formats.inspection import Inspection, Row
from mqsel.formats.mqrfh2 import Note
from mqsel.formats.records import given_names
from mqsel.formats.wordings import bad_member, unknown_tag
from mqsel.names import HEADER_NAMES, HEADER_VALUES
from mqsel.values import CLASS_NAMES

Source = tuple[str, str | None]

# For each header an attribute and its type, a property and "", or a value and None: what is in a journal is durable.
_HEADERS: dict[str, Source] = {
    "JMSPriority": ("priority", "int32"),
    "JMSTimestamp": ("timestamp", "int64"),
    "JMSExpiration": ("expiration", "int64"),
    "JMSMessageID": ("user-id", "identifier"),
    "JMSDeliveryMode": ("PERSISTENT", None),
    "JMSXGroupID": ("_AMQ_GROUP_ID", ""),
}


def _broker_names() -> Iterator[tuple[str, Source]]:
    """Yield the names that the broker's own filters have for these headers."""
    for name, other in HEADER_NAMES["ARTEMIS"].items():
        if name in _HEADERS:
            place, kind = _HEADERS[name]
            yield other, (HEADER_VALUES[other][place] if kind is None and other in HEADER_VALUES else place, kind)


SOURCES = {**_HEADERS, **dict(_broker_names())}
# What filters of the broker may read, and no export has: the size in memory, and the address.
_NOT_EXPORTED = ("AMQSize", "AMQAddress")
_STRUCTURE = "message"


def source_of(name: str) -> Source:
    """Return where a message has a property.

    Raises: ArgumentError: it has it nowhere, though the broker does.
    """
    if name in _NOT_EXPORTED:
        raise ArgumentError(f"the selector reads {name}, which exports of Artemis do not have")
    return SOURCES.get(name) or (name, "")


def decoder(names: Sequence[str]) -> ArtemisDecoder:
    """Return the decoder of messages for these properties."""
    return ArtemisDecoder(names, [source_of(name) for name in given_names(names)], properties)


# ---- markup ------------------------------------------------------------------------------------------------------

_NAME = rb"[^\s<>/=\"'&]+"
_TAG = re.compile(
    rb"<(/?)(" + _NAME + rb")((?:\s+" + _NAME + rb"\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*(/?)>",
)
_ATTRIBUTE = re.compile(rb"(?<=\s)(" + _NAME + rb")\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_PASSED = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))


class _Tag(NamedTuple):
    """An element of a message.

    Attributes:
        path: names of elements, from the message to it.
        attributes: as they stand in the file.
        start, stop: bytes of the message: all of an empty element, else its first tag.
    """

    path: tuple[bytes, ...]
    attributes: dict[bytes, bytes]
    start: int
    stop: int


def _fail(what: str, offset: int) -> NoReturn:
    raise DecodeError(what, structure=_STRUCTURE, offset=offset)


def _tags(message: bytes) -> Iterator[_Tag]:
    """Yield the tags with which elements begin, in order.

    Raises: DecodeError: the markup is damaged.
    """
    around: list[bytes] = []
    at, end = 0, len(message)
    while at < end:
        start = message.find(b"<", at)
        text = message[at : start if start >= 0 else end].strip()
        if text and around[-1:] != [b"body"]:
            _fail(f"found {shortened(text[:40].decode(errors='replace'))} between elements: expected none", at)
        if start < 0:
            break
        closing = next((closing for opening, closing in _PASSED if message.startswith(opening, start)), b"")
        if closing:
            at = message.find(closing, start + 2) + len(closing)
            if at < len(closing):
                _fail(f"found no {closing.decode()} behind what it ends", start)
            continue
        match = _TAG.match(message, start)
        if match is None:
            found = message[start : start + 40].decode(errors="replace")
            _fail(f"found {shortened(found)}: expected a tag, its attributes in quotes", start)
        at = match.end()
        if not around and start:
            _fail(f"found {shortened(match[0].decode(errors='replace'))} behind the message: expected its end", start)
        if match[1]:
            if around[-1:] != [match[2]] or match[3] or match[4]:
                inside = f"</{around[-1].decode(errors='replace')}>" if around else "none"
                _fail(f"found {shortened(match[0].decode(errors='replace'))}: expected {inside}", start)
            around.pop()
            continue
        attributes = {name: double or single for name, double, single in _ATTRIBUTE.findall(match[3])}
        yield _Tag((*around, match[2]), attributes, start, at)
        if not match[4]:
            around.append(match[2])
    if around:
        _fail(f"the message ends before </{around[-1].decode(errors='replace')}>", end)


_BINDING = re.compile(rb"<queue-binding((?:\s+" + _NAME + rb"\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*/?>")


class Binding(NamedTuple):
    """What an export says of a queue."""

    address: str
    filter: str


def bindings(head: bytes) -> dict[str, Binding]:
    """Return by their names the queues that what stands before the messages of an export lists."""
    found = {}
    for binding in _BINDING.findall(head):
        texts = {name: unescaped(double or single) for name, double, single in _ATTRIBUTE.findall(binding)}
        found[texts.get(b"name") or ""] = Binding(texts.get(b"address") or "", texts.get(b"filter-string") or "")
    return found


def queues(message: bytes) -> list[str]:
    """Return the queues in which a message is.

    Raises: DecodeError: the markup is damaged.
    """
    return [unescaped(tag.attributes.get(b"name", b"")) or "" for tag in _tags(message) if tag.path == _QUEUE]


_PROPERTY = (b"message", b"properties", b"property")
_QUEUE = (b"message", b"queues", b"queue")
_PARTS = {(b"message", b"properties"): "properties", (b"message", b"body"): "body"}


class _Text(NamedTuple):
    """A property as it stands: its name, its value if it has one, the word for its type, and where it stands."""

    name: str
    value: bytes | None
    type: str
    offset: int


class _Parsed(NamedTuple):
    """A message taken apart: attributes, properties, and for each part its name and where it begins."""

    attributes: dict[bytes, bytes]
    properties: list[_Text]
    parts: list[tuple[str, int]]


def _parsed(message: bytes) -> _Parsed:
    tags = list(_tags(message))
    if not tags:
        _fail("the message ends before </message>", len(message))
    if tags[0].path != (b"message",):
        _fail(f"found the element {shortened(tags[0].path[0].decode(errors='replace'))}: expected a message", 0)
    found, parts = [], []
    for tag in tags:
        if tag.path == _PROPERTY:
            found.append(_text(tag))
        elif tag.path == _QUEUE:
            name = unescaped(tag.attributes.get(b"name", b""))
            parts.append((f"queue {name}", tag.start))
        elif tag.path in _PARTS:
            parts.append((_PARTS[tag.path], tag.start))
    return _Parsed(tags[0].attributes, found, parts)


def _text(tag: _Tag) -> _Text:
    name = tag.attributes.get(b"name")
    shown = None if name is None else unescaped(name) if b"&" in name else name.decode("utf-8", "surrogateescape")
    if shown is None:
        _fail("found a property without a name that can be read", tag.start)
    kind = tag.attributes.get(b"type", b"").decode(errors="replace")
    return _Text(shown, tag.attributes.get(b"value"), kind, tag.start)


# ---- values ------------------------------------------------------------------------------------------------------


def _read(name: str, text: bytes, kind: str) -> Any:
    try:
        return read_text(text, kind)
    except ValueError:
        raise bad_member(name, kind, text.decode(errors="replace")) from None


def _header(name: str, parsed: _Parsed) -> Any:
    """Return the value of a header that is no property; None for an identifier that is missing."""
    place, kind = SOURCES[name]
    if kind is None:
        return place
    text = parsed.attributes.get(place.encode(), None if kind == "identifier" else b"0")
    return None if text is None else _read(name, text, kind)


def _value(one: _Text) -> Any:
    """Return the value of a property.

    Raises: PropertyTypeError: it is not of the type that it names, or this is none.
    """
    if one.type not in PROPERTY_TYPES:
        raise unknown_tag(one.name, one.type, "type", PROPERTY_TYPES)
    if one.value is None:
        raise bad_member(one.name, PROPERTY_TYPES[one.type], None)
    return _read(one.name, one.value, PROPERTY_TYPES[one.type])


def properties(message: bytes, names: Sequence[str]) -> dict[str, Any]:
    """Read properties of a message, however it is laid out.

    Raises: DecodeError: the markup is damaged. PropertyTypeError: a value is not of the type that it names.
    """
    parsed = _parsed(message)
    found = {}
    for name in names:
        place, kind = source_of(name)
        if kind != "":
            found[name] = _header(name, parsed)
            continue
        for one in parsed.properties:
            if one.name == place:
                found[name] = _value(one)
    return found


def inspect(message: bytes, _types: Mapping[str, str]) -> Inspection:
    """Return of every property of a message its type, value and place; of what could not be read, why.

    Raises: DecodeError: the markup is damaged.
    """
    parsed = _parsed(message)
    rows: dict[str, Row] = {}
    notes = []
    for one in parsed.properties:
        try:
            value = _value(one)
        except TypeError as error:
            notes.append(Note(_STRUCTURE, one.offset, one.name, None, str(error)))
            continue
        rows[one.name] = Row(one.name, CLASS_NAMES[type(value)], value, "property", one.offset)
    for name, (place, kind) in SOURCES.items():
        if kind == "":
            if place in rows:
                rows[name] = rows[place]._replace(name=name, source=place)
            continue
        try:
            value = _header(name, parsed)
        except TypeError as error:
            notes.append(Note(_STRUCTURE, 0, name, None, str(error)))
            continue
        if value is not None:
            rows[name] = Row(name, CLASS_NAMES[type(value)], value, "durable" if kind is None else place, -1)
    places = [(_STRUCTURE, 0), *parsed.parts]
    ends = [*(offset for _, offset in places[1:]), len(message)]
    structures = [(name, offset, end - offset) for (name, offset), end in zip(places, ends, strict=True)]
    return Inspection([*rows.values()], tuple(notes), tuple(structures))
