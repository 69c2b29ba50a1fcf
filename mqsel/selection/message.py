"""A JMS message: header fields, typed properties and a body, as Jakarta Messaging writes and reads them.

A selector reads it like a dict: it is a mapping of what its header fields and properties are called in selectors.
Follows selection §6.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from mqsel import formats
from mqsel.carets import quoted, shortened
from mqsel.errors import ArgumentError, MessageNotWriteable, PropertyTypeError, SelectorError
from mqsel.formats import mq
from mqsel.formats.jms import JMS as SOURCES
from mqsel.formats.mqmd import CHARACTER_SETS
from mqsel.language.dialect import JMS
from mqsel.language.nodes import Identifier, IsNull
from mqsel.language.parser import parse
from mqsel.names import JMS_DESCRIPTOR, JMS_SYNONYMS
from mqsel.selection.providers import body_of
from mqsel.values import CLASS_NAMES, Float32, Int8, Int16, Int32

# Jakarta Messaging §3.4: header fields, by the types of `mqsel.values.TYPE_NAMES`. A delivery mode is the text that
# selectors compare (§3.8.1.3).
HEADERS = {name: kind for name, kind in JMS_SYNONYMS.items() if not name.startswith("JMSX")}
HEADERS["JMSDeliveryTime"] = "int64"
_DEFAULTS = {"JMSDeliveryMode": "PERSISTENT", "JMSPriority": Int32(4)}  # of a producer: §3.4.2, §3.4.10
_MODES = ("NON_PERSISTENT", "PERSISTENT")
# §3.5.9: the two of the JMSX… that a client sets; the others are the provider's.
_CLIENT_JMSX = {"JMSXGroupID": "string", "JMSXGroupSeq": "int32"}

# §3.5.4, Property value conversion: as which types a property can be read; itself and string always can.
_WIDER = {
    "int8": ("int16", "int32", "int64"),
    "int16": ("int32", "int64"),
    "int32": ("int64",),
    "float32": ("float64",),
    "string": ("boolean", "int8", "int16", "int32", "int64", "float32", "float64"),
}
_CLASSES: dict[str, Callable[[Any], Any]] = {
    "boolean": bool,
    "int8": Int8,
    "int16": Int16,
    "int32": Int32,
    "int64": int,
    "float32": Float32,
    "float64": float,
    "string": str,
}
# What valueOf of Java's classes takes: The Java Language Specification §3.10.2, and what stands for no number.
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)")
_BLANKS = "".join(map(chr, range(33)))


class Message(Mapping[str, Any]):
    """A JMS message with header fields, properties and a body. Selectors read it by the names that JMS gives them.

    Args:
        properties: A mapping of names to values, as `set` takes them. The default is None: none.
        headers: A mapping of names to values of header fields, and of JMSX… and JMS_… properties, which only a provider
            can set. The default is None: none.
        body: A str, bytes or None.

    Raises: ArgumentError: if a message can't have a name or a value.
    """

    __slots__ = ("_body", "_values", "_writable")

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, Any] | None = None,
        body: str | bytes | None = None,
    ) -> None:
        if not isinstance(body, (str, bytes, type(None))):
            raise ArgumentError(f"body is a Python {type(body).__name__}: expected str, bytes or None")
        for what, given in (("properties", properties), ("headers", headers)):
            if not isinstance(given, (Mapping, type(None))):
                raise ArgumentError(f"{what} is a Python {type(given).__name__}: expected a mapping")
        self._values: dict[str, Any] = dict(_DEFAULTS)
        self._writable = True
        self._body = body
        for name, value in (headers or {}).items():
            if name in HEADERS:
                self.set_header(name, value)
            elif isinstance(name, str) and name.startswith(("JMSX", "JMS_")) and _is_name(name):
                self._values[name] = _typed(name, value, _CLIENT_JMSX.get(name))
            else:
                raise _no_header(name)
        for name, value in (properties or {}).items():
            self.set(name, value)

    # ---- a mapping

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise KeyError(name)
        return self._values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a header field or property.

        Args:
            name: The name of the header field or property.
            default: The value if the message doesn't have it. The default is None.
        """
        return self._values.get(name, default) if isinstance(name, str) else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return (self._values, self._types(), self._body) == (other._values, other._types(), other._body)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<mqsel.selection.Message {', '.join(f'{name}={value!r}' for name, value in self._values.items())}>"

    def _types(self) -> dict[str, type]:
        return {name: type(value) for name, value in self._values.items()}

    # ---- what it has

    @property
    def body(self) -> str | bytes | None:
        """The body: a str, bytes or None."""
        return self._body

    @property
    def values_read(self) -> dict[str, Any]:
        """The dict that selectors read. Don't change it."""
        return self._values

    @property
    def properties(self) -> dict[str, Any]:
        """The properties as a dict, without the header fields."""
        return {name: value for name, value in self._values.items() if name not in HEADERS}

    def set(self, name: str, value: Any, type: str | None = None) -> None:  # noqa: A002 (as elsewhere)
        """Set a property.

        Args:
            name: An identifier. Names that begin with JMS are reserved, except JMSXGroupID and JMSXGroupSeq.
            value: A bool, int, float or str, an instance of a class of `mqsel.values`, or None.
            type: boolean, int8, int16, int32, int64, float32, float64 or string. The default is the type of the value.

        Raises: MessageNotWriteable: if the message was received. ArgumentError: if no property can have the name or the
            value.
        """
        if not self._writable:
            raise MessageNotWriteable(
                f"property {quoted(name)} is set on a message as it was received: its properties are read-only",
                hint="call clear_properties() first, or make a new message",
            )
        if not isinstance(name, str) or not _is_name(name):
            raise ArgumentError(f"{shortened(name)} isn't a property name: expected an identifier of selectors")
        if name.startswith("JMS") and name not in _CLIENT_JMSX:
            hint = "header fields and what a provider sets are given in headers"
            raise ArgumentError(f"the name {quoted(name)} is reserved: JMS sets it", hint=hint)
        self._values[name] = _typed(name, value, _CLIENT_JMSX.get(name, type))

    def set_header(self, name: str, value: Any) -> None:
        """Set a header field. Header fields stay writable after a message was received.

        Args:
            name: The name of the header field.
            value: Its value; None removes the header field.
        """
        if not isinstance(name, str) or name not in HEADERS:
            raise _no_header(name)
        value = _typed(name, value, HEADERS[name])
        if value is None:
            self._values.pop(name, None)
            return
        if name == "JMSPriority" and not 0 <= value <= 9:
            raise no_priority(value)
        if name == "JMSDeliveryMode" and value not in _MODES:
            raise ArgumentError(f"JMSDeliveryMode is {value!r}: expected 'PERSISTENT' or 'NON_PERSISTENT'")
        if name == "JMSMessageID" and not value.startswith("ID:"):
            raise ArgumentError(f"JMSMessageID is {shortened(value)}: expected a string that begins with ID:")
        self._values[name] = value

    def read(self, name: str, type: str) -> Any:  # noqa: A002 (as elsewhere)
        """Return a property, converted to another type by the table of *Jakarta Messaging 3.1*, §3.5.4.

        A property that is missing or None is converted as Java converts null: to None as a string, and to False as a
        boolean. As a number it is an error.

        Args:
            name: The name of the property.
            type: The type: boolean, int8, int16, int32, int64, float32, float64 or string.

        Raises: PropertyTypeError: if the table has no such conversion, or the string is not a value of the type.
        """
        type = _known(type)  # noqa: A001 (as elsewhere)
        value: Any = self._values.get(name) if isinstance(name, str) else None
        found = CLASS_NAMES[value.__class__]
        if value is None and type in ("string", "boolean"):
            return None if type == "string" else False
        if found == type:
            return value
        if type == "string" and found in _CLASSES:
            return _text(value, found)
        if type not in _WIDER.get(found, ()):
            raise PropertyTypeError(
                f"property {shortened(name)} is {found}: it cannot be read as {type}", name=name, value_type=found
            )
        return _parsed(name, value, type) if found == "string" else _CLASSES[type](value)

    def clear_properties(self) -> None:
        """Remove all properties, and make them writable again. Header fields and body stay."""
        # A new dict: the one that a queue reads stays as it is.
        self._values = {name: value for name, value in self._values.items() if name in HEADERS}
        self._writable = True

    def received(self) -> Message:
        """Return the message as a receiver gets it: a copy with read-only properties."""
        return _received(dict(self._values), self._body)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._values, self._body, self._writable

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._values, self._body, self._writable = state

    # ---- IBM MQ

    def to_mq(self) -> bytes:
        """Return the bytes of the message as a JMS client sends it to IBM MQ: MQMD, MQRFH2, body; strings as UTF-8.

        Raises: ArgumentError: if such a message can't hold a value, such as a JMSMessageID without 48 hexadecimal
            digits.
        """
        fields: dict[str, Any] = {"Format": "MQSTR   " if isinstance(self._body, str) else "        "}
        carried: dict[str, Any] = {}
        for name, value in self._values.items():
            # Where a header field has several places a client fills all: *Mapping JMS header fields at send()*.
            sources = SOURCES.get(name, ())
            if not sources or not sources[0].path.startswith(("MQMD/", "body/")):
                carried[name] = None if value is None else (CLASS_NAMES[type(value)], value)
            for path, conversion, mask in sources:
                place, _, field = path.partition("/")
                if place not in ("MQMD", "body") or value is None:
                    continue
                if conversion in _NUMERIC and not isinstance(value, int):
                    raise ArgumentError(f"{name} is {shortened(value)}: expected an integer or a boolean")
                if conversion == "identifier" and (shown := _IDENTIFIER.fullmatch(value)):
                    fields[field] = bytes.fromhex(shown[1])
                elif conversion == "persistence":
                    fields[field] = _MODES.index(value)
                elif conversion == "plus one":
                    fields[field] = value - 1
                elif conversion == "is positive":
                    fields.setdefault(field, int(value))
                elif conversion in ("bits", "has bits"):
                    fields[field] = fields.get(field, 0) | (value if conversion == "bits" else mask * value)
                elif conversion == "character set":
                    fields[field] = _CCSIDS.get(value, value)
                elif conversion in ("as typed", "unless zero"):
                    fields[field] = value
                elif len(sources) == 1:
                    raise ArgumentError(f"{name} is {shortened(value)}: expected ID: and 48 hexadecimal digits")
        try:
            body = self._body.encode() if isinstance(self._body, str) else self._body or b""
        except UnicodeEncodeError as error:
            raise ArgumentError("the body has half a surrogate pair: UTF-8 cannot hold it") from error
        return mq.encode(fields, carried, body)

    @staticmethod
    def from_mq(message: bytes | bytearray | memoryview) -> Message:
        """Return an IBM MQ message as a JMS client receives it.

        It has the header fields, the properties in the folder usr, and the properties JMSX… and JMS_IBM_…. Properties
        of other folders and byte strings are left out, because JMS doesn't have them. The body is a str if Format is
        MQSTR.

        Args:
            message: The bytes of the message, with its MQMD.

        Raises: the errors of `mqsel.formats.properties`.
        """
        found, body = formats.properties(message), body_of(message) or None
        values = {
            name: value
            for name, value in found.items()
            if not isinstance(value, bytes) and "." not in name and not name.startswith(JMS_DESCRIPTOR)
            if value is not None or name not in HEADERS
        }
        if isinstance(body, bytes) and found.get("JMS_IBM_Format") == "MQSTR   ":
            with contextlib.suppress(LookupError):  # no codec: the body stays as it is
                body = body.decode(found.get("JMS_IBM_Character_Set") or "", "replace")
        return _received(values, body)


def _received(values: dict[str, Any], body: str | bytes | None) -> Message:
    message = Message.__new__(Message)
    message.__setstate__((values, body, False))
    return message


_IDENTIFIER = re.compile(r"ID:([0-9A-Fa-f]{48})")
_NUMERIC = ("plus one", "is positive", "bits", "has bits")
_CCSIDS = {name: number for number, name in CHARACTER_SETS.items()}


@functools.lru_cache(4096)
def _is_name(name: str) -> bool:
    """Report whether *name* is an identifier of selectors: Jakarta Messaging §3.5.1."""
    try:
        return parse(f"{name} IS NULL", JMS) == IsNull(negated=False, identifier=Identifier(name))
    except SelectorError:
        return False


def _typed(name: str, value: Any, kind: str | None) -> Any:
    """Return *value* as an instance of the class of its type: the one it is, or *kind*."""
    if value is None:
        return None
    found = CLASS_NAMES.get(type(value), "") if kind is None else _known(kind)
    fits: Any = {"boolean": bool, "string": str, "float32": (int, float), "float64": (int, float)}.get(found, int)
    given = None
    if found in _CLASSES and isinstance(value, fits) and (found == "boolean" or not isinstance(value, bool)):
        with contextlib.suppress(ArgumentError, OverflowError):
            given = _CLASSES[found](value)
    if given is None or (found == "int64" and not -(1 << 63) <= given < 1 << 63):
        wanted = kind or "bool, int of 64 bits, float, str or None"
        raise ArgumentError(f"property {quoted(name)} is {shortened(value)}: expected {wanted}")
    return given


def _known(kind: Any) -> str:
    if not isinstance(kind, str) or kind not in _CLASSES:
        raise ArgumentError(f"type is {shortened(kind)}: expected one of {', '.join(_CLASSES)}")
    return kind


def _no_header(name: Any) -> ArgumentError:
    """Word the error of a name that no header field has."""
    return ArgumentError(f"{shortened(name)} isn't a header field", hint=f"these are: {', '.join(HEADERS)}")


def no_priority(found: Any) -> ArgumentError:
    """Word the error of a priority that is none."""
    return ArgumentError(f"JMSPriority is {shortened(found)}: expected 0 to 9")


def _text(value: Any, kind: str) -> str:
    """Write a value as toString of the classes of Java does (*Double.toString*: the fewest digits that tell it)."""
    if kind == "boolean":
        return "true" if value else "false"
    if kind not in ("float32", "float64"):
        return str(int(value))
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    shortest = repr(float(value))
    if kind == "float32":
        shortest = next(
            text for text in (f"{float(value):.{n}g}" for n in range(1, 10)) if Float32(float(text)) == value
        )
    number = Decimal(shortest)
    if number == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(number.normalize(), "f")
        return plain if "." in plain else f"{plain}.0"
    sign, digits, _ = number.normalize().as_tuple()
    rest = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{rest}E{number.adjusted()}"


def _parsed(name: str, text: str, kind: str) -> Any:
    """Read a text as valueOf of the classes of Java does."""
    if kind == "boolean":
        return text.lower() == "true"
    is_float = kind in ("float32", "float64")
    stripped = text.strip(_BLANKS) if is_float else text
    if (_FLOAT if is_float else _INTEGER).fullmatch(stripped):
        try:
            return _typed(name, float(stripped.rstrip("fFdD")) if is_float else int(stripped), kind)
        except (ArgumentError, ValueError):  # out of range
            pass
    raise PropertyTypeError(
        f"property {quoted(name)} is the string {shortened(text)}: it isn't a valid {kind}",
        name=name,
        value_type="string",
    )
