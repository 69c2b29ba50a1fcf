"""Errors of the formats: each wording that is used more than once. Owns no rule of a format."""

from __future__ import annotations

from collections.abc import Iterable

from mqsel.carets import shortened, type_name
from mqsel.errors import MQRC, ArgumentError, DecodeError, PropertyTypeError


def truncated_structure(structure: str, offset: int, size: int, left: int, reason: MQRC) -> DecodeError:
    return DecodeError(
        f"{structure} needs {size} bytes: {left} are left",
        structure=structure,
        offset=offset,
        hint="the message was cut off, or a length or Format before it is wrong",
        reason=reason,
    )


def wrong_struc_id(structure: str, offset: int, found: bytes, expected: str, reason: MQRC) -> DecodeError:
    return DecodeError(
        f"StrucId is {found!r}: expected {expected!r}",
        structure=structure,
        offset=offset,
        hint="the Format of the structure before it announces this one",
        reason=reason,
    )


def wrong_field(
    structure: str, offset: int, field: str, found: int, expected: str, encoding: int | None, reason: MQRC
) -> DecodeError:
    """Return the error of a wrong number; *encoding* is what it was read with, if that may be the cause."""
    return DecodeError(
        f"{field} is {found}: expected {expected}",
        structure=structure,
        offset=offset,
        hint=None if encoding is None else _check_encoding(encoding),
        reason=reason,
    )


def past_end(
    structure: str, offset: int, field: str, found: int, left: int, encoding: int, reason: MQRC
) -> DecodeError:
    return DecodeError(
        f"{field} {found} runs past the {'structure' if field == 'NameValueLength' else 'message'}: "
        f"{left} bytes are left",
        structure=structure,
        offset=offset,
        hint=_check_encoding(encoding),
        reason=reason,
    )


def _check_encoding(encoding: int) -> str:
    order = {1: "big-endian", 2: "little-endian"}.get(encoding & 0xF, "byte order found from Version")
    return f"check the byte order first: this header was read with Encoding {encoding} ({order})"


def unknown_ccsid(found: object, known: Iterable[int]) -> ArgumentError:
    *most, last = map(str, known)
    return ArgumentError(f"ccsid is {shortened(found)}: expected {', '.join(most)} or {last}")


def no_record(title: str, found: str) -> PropertyTypeError:
    return PropertyTypeError(
        f"found {found}: expected a record as of {title}",
        value_type="record",
        hint="choose the format by the tool that wrote these records",
    )


def no_pair(value: object) -> PropertyTypeError:
    return PropertyTypeError(
        f"found {shortened(value)} among pairs: expected a key and a value", value_type=type_name(value)
    )


def unknown_tag(name: str, found: object, place: str, tags: Iterable[str]) -> PropertyTypeError:
    return PropertyTypeError(
        f"property '{name}' names the type {shortened(found)} in '{place}': expected {', '.join(tags)}", name=name
    )


def bad_member(name: str, expected: str, value: object) -> PropertyTypeError:
    return PropertyTypeError(
        f"property '{name}' is {shortened(value)}: expected a value of type {expected}",
        name=name,
        value_type=type_name(value),
    )


def unknown_schema(name: str, schemas: Iterable[str]) -> ArgumentError:
    return ArgumentError(f"there is no record schema '{name}': choose {', '.join(schemas)}")


def unknown_type(name: str, found: object, types: Iterable[str]) -> ArgumentError:
    return ArgumentError(
        f"'{name}' is declared {shortened(found)}: there is no such type", hint=f"types are {', '.join(types)}"
    )
