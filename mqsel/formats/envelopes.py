"""Which tool wrote records of JSON: recognised by what the rows of `SCHEMAS` list for each.

A record is known by what no plain message has: three signs of its row, a value that names its type, a property with a
mark. What has nothing of the kind is a plain message, unless nothing of it could be read as one. Follows formats §9.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mqsel.errors import PropertyTypeError
from mqsel.formats.jsonl import object_from_json, typed
from mqsel.formats.records import SCHEMAS, RecordReader, bare, items, reader

PLAIN = "json"  # the format of messages that no tool of the table wrote
_ENOUGH = 3  # signs: a plain message may have a property or two of such names

_READERS = [reader(schema) for schema in SCHEMAS.values()]
# One of them stands in every record that is known here: the lines of a text without any need not be read.
WORDS = frozenset(word for schema in SCHEMAS.values() for word in schema.members.path or schema.signs)
_BYTES = tuple(word.encode() for word in WORDS)


class _Fit(NamedTuple):
    """What a record has of a schema.

    Attributes:
        is_whole: it is laid out as one, and has nothing else.
        is_known: it has what no plain message has.
        has_content: it has a header or a property.
    """

    is_whole: bool
    is_known: bool
    has_content: bool


def objects(text: bytes) -> list[dict[str, Any]]:
    """Return the objects that lines of a text are, or nothing where none of them is a record of a tool."""
    found: list[dict[str, Any]] = []
    if any(word in text for word in _BYTES):
        for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            if line.lstrip()[:1] == b"{":
                try:
                    found.append(object_from_json(line))
                except PropertyTypeError:  # cut off, or broken: reported when the messages are read
                    continue
    return found


def fitting(records: Sequence[Any]) -> list[str]:
    """List the formats that records may have: names of `SCHEMAS`, and `PLAIN` where they may be messages themselves.

    Args:
        records: the first ones of a source, mappings.

    Returns: one name where it is certain, several where somebody has to choose; none for plain messages.
    """
    certain: list[str] = []
    doubtful: list[str] = []
    possible: list[str] = []
    for read in _READERS:
        fits = [_fit(read, record) for record in records]
        is_whole = all(fit.is_whole for fit in fits)
        if any(fit.is_known for fit in fits):
            (certain if is_whole else doubtful).append(read.schema.name)
        elif is_whole and any(fit.has_content for fit in fits):
            possible.append(read.schema.name)
    if certain or doubtful:
        return certain or [*doubtful, PLAIN]
    return [] if any(_is_readable(name, value) for one in records for name, value in one.items()) else possible


def _is_readable(name: str, value: Any) -> bool:
    """Report whether a member has the value of a property in a plain message."""
    if isinstance(value, dict):
        try:
            value = typed(name, value)
        except TypeError:  # also of a row, whose values JSON does not know
            return False
    return value is not None and not isinstance(value, (dict, list))


def _fit(read: RecordReader, record: Any) -> _Fit:
    schema = read.schema
    members = schema.members
    try:
        top, holder = read.opened(record)
        named = [*items(holder)]
    except PropertyTypeError:
        return _Fit(False, False, False)
    if members.tag is None:
        is_whole = all(value is None or isinstance(value, members.values) for value in map(bare, dict(named).values()))
        is_known = any(name.startswith(schema.marks) or read.is_neighbour(name, value, holder) for name, value in named)
    else:
        tags = [value.get(members.tag) if isinstance(value, dict) else None for _, value in named]
        is_whole = all(isinstance(tag, str) for tag in tags)
        is_known = any(isinstance(tag, str) and tag in members.tags for tag in tags)
    if members.path:
        is_whole &= {*top} <= {members.path[0], *schema.besides, *(header.path[0] for header in schema.headers)}
    else:
        is_known = False  # of the names beside each other anything may be a plain one
    has_signs = sum(name in top for name in schema.signs) >= _ENOUGH
    if schema.is_signed and not has_signs:
        return _Fit(False, False, False)
    is_known |= has_signs
    # A list of pairs is no value of a property either; but others keep such lists, too.
    is_known |= is_whole and members.is_pairs and isinstance(holder, (list, tuple)) and bool(named)
    return _Fit(is_whole, is_known, any(top.values()))
