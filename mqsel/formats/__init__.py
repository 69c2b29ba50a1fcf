"""Real messages become typed properties. Sans-io: bytes in, properties out; knows no selector.

`properties` and `inspect` read IBM MQ messages (MQMD, MQMDE, chained headers, MQRFH2) as IBM MQ types and names them;
`decoder` makes what a matcher needs to read a stream of raw messages, for each format of `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from mqsel.dialect import Dialect
from mqsel.errors import MQRC, ArgumentError

__all__ = ["FORMATS", "Inspection", "Note", "Reader", "Row", "decoder", "inspect", "properties"]


class Row(NamedTuple):
    """One property of a message.

    Attributes:
        name: as a selector names it.
        type: a name of `mqsel.values.TYPE_NAMES`.
        value: a Python value of that type.
        source: "MQMD", "MQMDE", or the path of the element in the MQRFH2: "usr/color".
        offset: where it stands: bytes from the start of the message.
    """

    name: str
    type: str
    value: Any
    source: str
    offset: int


class Note(NamedTuple):
    """Something that was skipped, and why.

    Attributes:
        structure: "MQRFH2", "MQMDE", ….
        offset: bytes from the start of the message.
        what: the folder, property or field.
        reason: the reason code of the vendor, if there is one.
        message: in words.
    """

    structure: str
    offset: int
    what: str
    reason: MQRC | None
    message: str


class Inspection(NamedTuple):
    """What a message consists of.

    Attributes:
        rows: its properties.
        notes: what was skipped, and why.
        structures: (name, offset, length in bytes) of the descriptor and the headers, in order; the data come last.
    """

    rows: tuple[Row, ...]
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
        ccsid: of the character fields of the MQMD: 1208 or EBCDIC 37, 500, 1047; found from StrucId if None.

    Raises: DecodeError: no such message. PropertyTypeError: not bytes at all.
    """
    raise NotImplementedError


def inspect(message: bytes | bytearray | memoryview, *, strip: bool = False, ccsid: int | None = None) -> Inspection:
    """Say of every property of a message its type, value and origin, and what was skipped and why.

    Raises: as `properties`.
    """
    raise NotImplementedError


# For each format the maker of its decoder.
FORMATS: dict[str, Callable[..., Decoder]] = {}


def decoder(format: str, matcher: Reader, **options: Any) -> Decoder:  # noqa: A002 (the word of filter())
    """Make a callable that turns one raw message into what *matcher* reads quickest.

    It gives a mapping or a `Record` (the same one each time, filled anew), or True or False where the answer is known
    without running the selector. "mq" takes the options ``strip``, ``ccsid`` and ``invalid_names``.

    Raises: ArgumentError: no such format or option.
    """
    if format not in FORMATS:
        raise ArgumentError(f"format is {format!r}: expected one of {', '.join(map(repr, FORMATS))}")
    return FORMATS[format](matcher, **options)
