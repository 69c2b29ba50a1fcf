"""Real messages become typed properties. Sans-io: bytes in, properties out; knows no selector.

`properties` and `inspect` read IBM MQ messages (MQMD, MQMDE, chained headers, MQRFH2) as IBM MQ types and names them;
`decoder` makes what a matcher needs to read a stream of raw messages, for each format of `FORMATS`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, overload

from mqsel.errors import ArgumentError
from mqsel.formats._mq import Decoder as MQDecoder
from mqsel.formats.jms import JMS
from mqsel.formats.jsonl import message_from_json
from mqsel.formats.mqrfh2 import Note
from mqsel.formats.records import SCHEMAS, RecordReader, RecordSchema, reader
from mqsel.language.dialect import Dialect
from mqsel.names import JMS_DESCRIPTOR, spellings
from mqsel.values import CLASS_NAMES

__all__ = ["FORMATS", "Inspection", "Note", "Reader", "Row", "Rows", "decoder", "first_note", "inspect", "properties"]


class Row(NamedTuple):
    """One property of a message.

    Attributes:
        name: as a selector names it.
        type: a name of `mqsel.values.TYPE_NAMES`.
        value: a Python value of that type.
        source: "MQMD", "MQMDE", "default" for a field of version 2 that is nowhere, or the folder of the MQRFH2; for a
            JMS name the property it is a view of, or the field of the header that describes the body.
        offset: where it stands: bytes from the start of the message; -1 for a default or a view.
    """

    name: str
    type: str
    value: Any
    source: str
    offset: int


class Rows(Sequence[Row]):
    """The rows of a message, each made when it is looked at: a million of them take a third of the memory."""

    __slots__ = ("_found", "_names", "_offsets", "_sources")

    def __init__(self, found: dict[str, Any], sources: list[str], offsets: array[int]) -> None:
        self._found, self._sources, self._offsets = found, sources, offsets
        self._names: list[str] | None = None  # made when a place is asked for

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Row]:
        for (name, value), source, offset in zip(self._found.items(), self._sources, self._offsets, strict=True):
            yield Row(name, CLASS_NAMES[type(value)], value, source, offset)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(len(self))[place])
        if self._names is None:
            self._names = list(self._found)
        name = self._names[place]
        value = self._found[name]
        return Row(name, CLASS_NAMES[type(value)], value, self._sources[place], self._offsets[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Inspection(NamedTuple):
    """What a message consists of.

    Attributes:
        rows: its properties: what senders named, the view of JMS, the fields of the descriptor under both their names.
        notes: what was skipped, and why.
        structures: (name, offset, length in bytes) of the descriptor and the headers, in order; the data come last.
    """

    rows: Rows
    notes: tuple[Note, ...]
    structures: tuple[tuple[str, int, int], ...]


class Reader(Protocol):
    """What a decoder must know of the one it decodes for; a `Matcher` is one."""

    @property
    def properties(self) -> tuple[str, ...]: ...
    @property
    def match_option(self) -> tuple[str, bytes] | None: ...
    @property
    def dialect(self) -> Dialect: ...


# What a decoder gives: something the machine reads, or the answer itself where no selector need run.
Decoder = Callable[[Any], Any]

_Key = tuple[tuple[str, ...] | None, bool, int | None]


def properties(
    message: bytes | bytearray | memoryview,
    names: Iterable[str] | None = None,
    *,
    strip: bool = False,
    ccsid: int | None = None,
) -> dict[str, Any]:
    """Read the properties of an IBM MQ message: MQMD (or an MQRFH2 alone), headers, data.

    Args:
        message: the bytes.
        names: read only these; else all there are. A property that does not exist is not in the answer; one that
            exists without a value is None.
        strip: take the trailing blanks off the character fields of the MQMD.
        ccsid: of the character fields of the MQMD: one of `mqsel.formats.mqmd.CCSIDS`; None to find it from StrucId,
            and where that is EBCDIC from CodedCharSetId.

    Raises: DecodeError: no such message. PropertyTypeError: not bytes at all.
    """
    key = _key(names, strip, ccsid)
    held = _IDLE.pop(key, None) or _make(key)
    answer = held.properties(message)
    if len(_IDLE) < _MAX_IDLE:
        _IDLE[key] = held
    return answer


def inspect(message: bytes | bytearray | memoryview, *, strip: bool = False, ccsid: int | None = None) -> Inspection:
    """Say of every property of a message its type, value and origin, and what was skipped and why.

    Raises: as `properties`.
    """
    found, sources, offsets, notes, structures = _make(_key(None, strip, ccsid)).inspect(message)
    return Inspection(Rows(found, sources, offsets), tuple(notes), tuple(structures))


def first_note(message: bytes, *, strip: bool = False, ccsid: int | None = None) -> str:
    """Say what was skipped first of a message that a decoder has counted as noted: decoders count, and name nothing."""
    return "".join(map(str, inspect(message, strip=strip, ccsid=ccsid).notes[:1]))


# Decoders that nobody is using, by (names, strip, ccsid): laying the names out takes longer than a message. A decoder
# is taken out of here while it is used, so two threads never meet in one.
_IDLE: dict[_Key, MQDecoder] = {}
_MAX_IDLE = 64


def _key(names: Iterable[str] | None, strip: bool, ccsid: int | None) -> _Key:
    if ccsid is not None and not isinstance(ccsid, int):
        raise ArgumentError(f"ccsid is a number, found {type(ccsid).__name__}")
    if names is None:
        return None, bool(strip), ccsid
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ArgumentError(f"names is a sequence of strings, found one {type(names).__name__}")
    wanted = tuple(names)
    for name in wanted:
        if not isinstance(name, str):
            raise ArgumentError(f"the name of a property is a string, found {type(name).__name__}")
    return wanted, bool(strip), ccsid


def _make(key: _Key) -> MQDecoder:
    names, strip, ccsid = key
    # The descriptor's names are listed with its fields.
    slots = (name for name in JMS if not name.startswith(JMS_DESCRIPTOR)) if names is None else dict.fromkeys(names)
    return MQDecoder(slots, strip=strip, ccsid=ccsid, everything=names is None)


def _mq_decoder(
    matcher: Reader, *, strip: bool = False, ccsid: int | None = None, invalid_names: str | None = None
) -> MQDecoder:
    """Make the decoder of raw IBM MQ messages."""
    if invalid_names not in (None, "never", "ignore"):
        raise ArgumentError(f"invalid_names is {invalid_names!r}: expected 'never' or 'ignore'")
    # The rule is IBM MQ's own (formats §2); other dialects allow other names.
    never = invalid_names == "never" or (invalid_names is None and matcher.dialect.headers == "mqi")
    return MQDecoder(matcher.properties, strip=strip, ccsid=ccsid, never=never, match_option=matcher.match_option)


def _record_decoder(schema: RecordSchema, matcher: Reader, *, types: Mapping[str, str] | None = None) -> RecordReader:
    """Make the decoder of records of other people's tools."""
    return reader(schema, matcher.properties, types)


def _json_decoder(matcher: Reader) -> Decoder:
    """Make the decoder of JSON, one object in each text."""
    spelled = [one for name in matcher.properties for one in spellings(name, matcher.dialect.headers)]
    return partial(message_from_json, names=spelled)


# For each format the maker of its decoder.
FORMATS: dict[str, Callable[..., Decoder]] = {
    "mq": _mq_decoder,
    "json": _json_decoder,
    **{name: partial(_record_decoder, schema) for name, schema in SCHEMAS.items()},
}


def decoder(format: str, matcher: Reader, **options: Any) -> Decoder:  # noqa: A002 (the word of the command line)
    """Make a callable that turns one raw message into what *matcher* reads quickest.

    It gives a mapping or a `Record` (the same one each time, filled anew), or True or False where the answer is known
    without running the selector. "mq" takes the options ``strip``, ``ccsid`` and ``invalid_names``; records of other
    tools, by the names of `mqsel.formats.records.SCHEMAS`, take ``types``, which declares the types they lost.

    Raises: ArgumentError: no such format or option.
    """
    if format not in FORMATS:
        raise ArgumentError(f"format is {format!r}: expected one of {', '.join(map(repr, FORMATS))}")
    try:
        return FORMATS[format](matcher, **options)
    except TypeError as error:
        if isinstance(error, ArgumentError) or not options:
            raise
        raise ArgumentError(f"format {format!r} does not take these options: {', '.join(options)}") from error
