"""Messages as JSON, one object on a line: plain values, or values that name their type.

A plain whole number is an int64, any other number a float64; ``{"int32": 5}`` names its type. Owns this spelling and no
rule of the language; other tools' records, which are JSON too, get their meaning in `mqsel.formats.records`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from mqsel.carets import shortened, type_name
from mqsel.errors import PropertyTypeError
from mqsel.formats.inspection import Inspection, Row
from mqsel.formats.mqrfh2 import Note
from mqsel.machine._values import Record
from mqsel.values import CLASS_NAMES, TYPES, PropertyType


def _float(value: float | str) -> float:
    if isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity"):
        raise ValueError
    return float(value)


# For each kind of type: the JSON values it takes, what is made of them before their type, and how that is said.
_KINDS: dict[str, tuple[tuple[type, ...], Callable[[Any], Any], str]] = {
    "null": ((type(None),), lambda value: value, "null"),
    "boolean": ((bool,), bool, "true or false"),
    "bytes": ((str,), bytes.fromhex, "a string of hexadecimal digits, two for each byte"),
    "exact": ((int,), int, "a whole number"),
    "approximate": ((int, float, str), _float, 'a number, "NaN" or "Infinity"'),
    "string": ((str,), str, "a string"),
}


def _words(row: PropertyType) -> str:
    # The range of an int is the machine's to judge, as for plain numbers.
    narrow = row.kind == "exact" and row.python is not int
    return f"{_KINDS[row.kind][2]} from {row.range[0]} to {row.range[1]}" if narrow else _KINDS[row.kind][2]


INSPECTED = "structures"  # what `mqsel inspect --json` writes has this member
_TYPES = {row.name: row for row in TYPES}
_JSON_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def typed(name: str, value: dict[str, Any] | list[Any]) -> Any:
    """Read a value that names its type: ``{"int32": 5}``.

    Raises: PropertyTypeError: another object or array, a type that is not there, or a value that does not fit it.
    """
    try:
        shown = json_text(value)
    except (TypeError, ValueError, RecursionError):  # made by Python: no line of JSON
        shown = shortened(value)
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    named, plain = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    if named not in _TYPES:
        raise PropertyTypeError(
            f"property '{name}' is {shown}: expected a plain value, or one with its type",
            name=name,
            value_type=type(value).__name__,
            hint=f'write {{"int32": 5}}; types are {", ".join(_TYPES)}',
        )
    row = _TYPES[named]
    classes, read, _ = _KINDS[row.kind]
    try:
        if type(plain) in classes:
            return None if plain is None else row.python(read(plain))
    except (ValueError, OverflowError):
        pass
    raise PropertyTypeError(f"property '{name}' is {shown}: {named} takes {_words(row)}", name=name, value_type=named)


# What JSON may hold as it is, but a terminal or the log of a build would obey: see `mqsel.cli.output`.
_OBEYED = re.compile(r"[^\n -~]|#(?=#(?:\[|vso\[|teamcity\[))")


def json_text(
    value: Any, *, indent: int | None = None, is_ascii: bool = False, default: Callable[[Any], Any] | None = None
) -> str:
    """Write a value as JSON that neither a terminal nor the log of a build obeys.

    Args:
        value: as `json.dumps` takes it; bytes that names of files have are half surrogates.
        indent: spaces for each level; by default there is one line.
        default: returns what is written of a value that JSON has no word for.
        is_ascii: write all but ASCII as escapes, otherwise only characters that cannot be seen.

    Raises: TypeError, ValueError, RecursionError: as `json.dumps` does.
    """
    text = _encoder(indent, is_ascii, default)(value)
    return text if text.isprintable() and "##" not in text else _OBEYED.sub(_as_escape, text)


@cache
def _encoder(indent: int | None, is_ascii: bool, default: Callable[[Any], Any] | None) -> Callable[[Any], str]:
    import json  # noqa: PLC0415 (most lines are read without)

    return json.JSONEncoder(ensure_ascii=is_ascii, indent=indent, default=default).encode


def _as_escape(match: re.Match[str]) -> str:
    sign = match[0]
    if sign != "#" and sign.isprintable():
        return sign
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def object_from_json(text: str | bytes | bytearray | memoryview) -> dict[str, Any]:
    """Read one JSON object; bytes are UTF-8, with a byte order mark or without.

    Raises: PropertyTypeError: no JSON, or JSON that is no object.
    """
    if not isinstance(text, (str, bytes, bytearray, memoryview)):
        raise PropertyTypeError(
            f"found a Python {type_name(text)}: expected a JSON object, as a text or bytes",
            value_type=type_name(text),
        )
    import json  # noqa: PLC0415 (as above)

    try:
        found = json.loads((text if isinstance(text, str) else bytes(text).decode()).removeprefix("\ufeff"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise PropertyTypeError(f"broken JSON: {fault_of_json(error)}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise PropertyTypeError("JSON with a number or a nesting that is too large to read") from error
    if type(found) is not dict:
        raise PropertyTypeError(f"a message is a JSON object: found {_JSON_NAMES.get(type(found), 'a number')}")
    if INSPECTED in found and found.keys() == {"message", "properties", "skipped", INSPECTED}:
        raise PropertyTypeError(
            "found the output of mqsel inspect --json: expected a message",
            hint="give the file that was inspected: the output lacks what decides about some messages",
        )
    return found


def fault_of_json(error: ValueError | RecursionError) -> str:
    """Return what is wrong with a text that json refuses, and where in it, if that is known."""
    import json  # noqa: PLC0415 (as above)

    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    if not isinstance(error, json.JSONDecodeError):  # a number of thousands of digits; thousands of brackets
        return "a number or a nesting is too large to read"
    what = f"{error.msg[:1].lower()}{error.msg[1:]}".removesuffix(" at")
    before = error.doc[: error.pos].rstrip("\r\n")  # the end of the line, not the beginning of the next
    place = f"line {before.count(chr(10)) + 1}, " if "\n" in before else ""
    return f"{what} at {place}column {len(before) - before.rfind(chr(10))}"


def message_from_json(text: str | bytes, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Read one JSON object as a message.

    Args:
        text: the object, as `object_from_json` takes it.
        names: the properties that will be read; None for all. Values that name their type are converted for these only;
            one that does not fit stays as it is, so that the machine refuses it if it comes to reading it.

    Raises: PropertyTypeError: no JSON, or JSON that is no object.
    """
    message = object_from_json(text)
    for name in [*message] if names is None else names:
        value = message.get(name)
        if type(value) is dict:
            with suppress(PropertyTypeError):
                message[name] = typed(name, value)
    return message


def in_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of Python values as `json.dumps` takes it; `message_from_json` reads an equal one."""
    return {name: _untyped(value) for name, value in message.items()}


def _untyped(value: Any) -> Any:
    row, written = _TYPES[CLASS_NAMES[type(value)]], plain(value)
    return written if row.bits in (0, 64) and written is value else {row.name: written}


def plain(value: Any) -> Any:
    """Return a value as `json.dumps` takes it where its type stands beside it, as in ``{"float64": "NaN"}``."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return (
            value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        )
    return value


_PLAIN = frozenset((str, bool, float, type(None)))  # each value of these is one that a property has


def inspect_json(text: str | bytes) -> Inspection:
    """Return of every property of a JSON object its type and value; of one that is none, why.

    Raises: PropertyTypeError: no JSON, or JSON that is no object.
    """
    read = [_property(name, written) for name, written in object_from_json(text).items()]
    rows = [one for one in read if isinstance(one, Row)]
    return Inspection(rows, tuple([one for one in read if isinstance(one, Note)]), ())


def property_of(name: str, text: bytes) -> Row | Note:
    """Return of a property its type and value; if it is none, why.

    Args:
        text: valid JSON.
    """
    import json  # noqa: PLC0415 (as above)

    return _property(name, json.loads(text.decode()))


def _property(name: str, written: Any) -> Row | Note:
    try:
        value = typed(name, written) if isinstance(written, (dict, list)) else written
        if type(value) not in _PLAIN and not (type(value) is int and -(1 << 63) <= value < 1 << 63):
            Record((name,), (value,))  # its errors are those of a selector that reads the property
    except PropertyTypeError as error:
        return Note("", -1, name, None, error.message)
    return Row(name, CLASS_NAMES[type(value)], value, "JSON", -1)
