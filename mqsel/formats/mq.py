"""IBM MQ messages written: MQMD, MQMDE, MQRFH2, data. The opposite of `mqsel.formats.properties`, for tests and tools.

Writes by the tables of `mqmd`, `mqrfh2` and `jms`. Names have many rules: that properties are found is seen by reading
them. Follows formats §2, §4, §5, §6.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from mqsel.carets import shortened, type_name
from mqsel.errors import ArgumentError
from mqsel.formats import mqmd as layout
from mqsel.formats._mq import MQDecoder
from mqsel.formats.jms import DELIVERY_MODES, JMS
from mqsel.formats.mqmd import Field
from mqsel.formats.mqrfh2 import (
    ELEMENT_TYPES,
    GROUPED_FOLDERS,
    MQRFH_STRUC_LENGTH_FIXED_2,
    NAME_VALUE_CCSIDS,
    PLAIN_FOLDERS,
)
from mqsel.formats.wordings import unknown_ccsid
from mqsel.names import HIDDEN, JMS_DESCRIPTOR, USR_FOLDER
from mqsel.values import CLASS_NAMES, TYPES

_LATER = layout.MQMD_LENGTH_1  # fields from this offset need version 2
# The Python values that a type of each kind is written from.
_CLASSES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "bytes": (bytes,),
    "string": (str,),
    "exact": (int,),
    "approximate": (float, int),
}
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}  # as Java writes them
_ORDERS = {layout.MQENC_INTEGER_NORMAL: ">", layout.MQENC_INTEGER_REVERSED: "<"}  # of bytes, as struct names them
_DELIVERY_MODES = {word: number for number, word in DELIVERY_MODES.items()}


def encode(
    mqmd: Mapping[str, Any],
    properties: Mapping[str, Any],
    body: bytes = b"",
    *,
    version: int = 2,
    encoding: int = 546,
    ccsid: int = 1208,
    name_value_ccsid: int = 1208,
) -> bytes:
    """Write a message that `mqsel.formats.properties` reads back exactly.

    Args:
        mqmd: fields by the vendor's names, without Root.MQMD; the others get the vendor's defaults. Format, Encoding
            and CodedCharSetId are those of the body.
        properties: name -> value, or name -> (type, value) with a type of `mqsel.values.TYPE_NAMES`. A JMS name for
            a field of the MQMD as it is, such as JMSPriority, sets that field.
        body: the data.
        version: of the MQMD; 1 puts given fields of version 2 into an MQMDE.
        encoding: numeric encoding of the MQMD and all headers.
        ccsid: of the character fields of the MQMD and all headers: one of `mqsel.formats.mqmd.CCSIDS`.
        name_value_ccsid: of the folders: 1208, or UTF-16 1200, 13488, 17584.

    Raises: ArgumentError: a field, name or value that does not fit.
    """
    if not isinstance(mqmd, Mapping) or not isinstance(properties, Mapping):
        raise ArgumentError(
            "encode takes two mappings, fields of the MQMD and properties, and bytes: "
            f"found a Python {type_name(mqmd)} and a Python {type_name(properties)}"
        )
    if not isinstance(body, (bytes, bytearray, memoryview)):
        hint = "encode it: body.encode()" if isinstance(body, str) else None
        raise ArgumentError(f"the body is a Python {type_name(body)}: expected bytes", hint=hint)
    if not isinstance(version, int) or version not in (1, 2):
        raise ArgumentError(f"version is {shortened(version)}: expected 1 or 2")
    order = _ORDERS.get(encoding & layout.MQENC_INTEGER_MASK) if isinstance(encoding, int) else None
    if order is None:
        raise ArgumentError(
            f"encoding is {shortened(encoding)}: expected a byte order, such as 273 (big) or 546 (little)"
        )
    if not isinstance(ccsid, int) or ccsid not in layout.CCSIDS:
        raise unknown_ccsid(ccsid, layout.CCSIDS)
    if not isinstance(name_value_ccsid, int) or name_value_ccsid not in NAME_VALUE_CCSIDS:
        known = ", ".join(map(str, NAME_VALUE_CCSIDS))
        raise ArgumentError(f"name_value_ccsid is {shortened(name_value_ccsid)}: expected {known}")
    fields = {field.name: field.default for field in layout.MQMD}
    unknown = mqmd.keys() - fields.keys() | mqmd.keys() & HIDDEN
    if unknown:
        raise ArgumentError(f"the MQMD has no field {min(map(shortened, unknown))} to set")
    mqmd, properties = _parted(mqmd, properties)
    fields |= {"Encoding": encoding, "CodedCharSetId": ccsid, **mqmd, "Version": version}
    for field in layout.MQMD:  # a header takes over those that describe the body, as they are
        _field("MQMD", field, fields[field.name], order, ccsid)
    chain: list[bytes] = []
    following = (fields["Encoding"], fields["CodedCharSetId"], fields["Format"])
    if properties:
        folders = _folders(properties)
        chain.append(_rfh2(folders, following, order, ccsid, name_value_ccsid))
        alone = _rfh2(folders, (encoding, ccsid, ""), order, ccsid, name_value_ccsid)
        if lost := properties.keys() - MQDecoder(properties).properties(alone).keys():
            raise ArgumentError(f"property {shortened(min(lost))} cannot be read: its folder has no such name or value")
        following = (encoding, ccsid, layout.MQFMT_RF_HEADER_2)
    later = {field.name for field in layout.MQMD if field.offset >= _LATER}
    if version == 1 and mqmd.keys() & later:
        extension = {field.name: field.default for field in layout.MQMDE}
        extension |= {name: fields[name] for name in later}
        extension |= dict(zip(("Encoding", "CodedCharSetId", "Format"), following, strict=True))
        chain.append(_structure("MQMDE", layout.MQMDE, extension, order, ccsid))
        following = (encoding, ccsid, layout.MQFMT_MD_EXTENSION)
    fields |= dict(zip(("Encoding", "CodedCharSetId", "Format"), following, strict=True))
    length = layout.MQMD_LENGTH_1 if version == 1 else layout.MQMD_LENGTH_2
    head = _structure("MQMD", layout.MQMD, fields, order, ccsid)[:length]
    return b"".join([head, *reversed(chain), bytes(body)])


def _parted(mqmd: Mapping[str, Any], properties: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Put the properties that are fields of the MQMD with these."""
    fields, others = dict(mqmd), {}
    for name, given in properties.items():
        path, conversion, _ = JMS[name][0] if name in JMS else ("", "", 0)
        if not path.startswith("MQMD/") or conversion != "as typed" or name.startswith(JMS_DESCRIPTOR):
            others[name] = given
        elif path[5:] in fields:
            raise ArgumentError(f"{name} is the field {path[5:]} of the message descriptor: given twice")
        else:
            fields[path[5:]] = given[1] if isinstance(given, tuple) else given
    return fields, others


def _structure(name: str, table: tuple[Field, ...], values: Mapping[str, Any], order: str, ccsid: int) -> bytes:
    return b"".join(_field(name, field, values[field.name], order, ccsid) for field in table)


def _field(structure: str, field: Field, value: Any, order: str, ccsid: int) -> bytes:
    place = f"{structure} field {field.name}"
    if field.kind == "MQLONG":
        if not isinstance(value, int) or not -(1 << 31) <= value < 1 << 31:
            raise ArgumentError(f"{place} is {shortened(value)}: expected an integer of 32 bits")
        return struct.pack(f"{order}i", value)
    if field.kind == "MQCHAR":
        if not isinstance(value, str):
            raise ArgumentError(f"{place} is {shortened(value)}: expected a string")
        data = _characters(place, value.ljust(field.length), ccsid)
    else:
        if not isinstance(value, bytes):
            raise ArgumentError(f"{place} is {shortened(value)}: expected bytes")
        data = value.ljust(field.length, b"\0")
    if len(data) > field.length:
        over = len(data) - field.length
        data = data[: field.length] if data[field.length :] == b" " * over else data
    if len(data) != field.length:
        raise ArgumentError(f"{place} takes {len(data)} bytes: it has {field.length}")
    return data


def _characters(place: str, text: str, ccsid: int) -> bytes:
    try:
        if ccsid in layout.EBCDIC:
            page = layout.page_of(ccsid)
            return bytes([page.index(character) for character in text])
        return text.encode("latin-1" if ccsid == 819 else "utf-8")
    except ValueError as error:
        raise ArgumentError(f"{place} is {text!r}: CCSID {ccsid} lacks one of its characters") from error


# ---- folders -----------------------------------------------------------------------------------------------------

# folder, then groups and elements: a group is a dict, an element its start tag's attributes and its text.
_Tree = dict[str, Any]


def _folders(properties: Mapping[str, Any]) -> list[str]:
    tree: _Tree = {}
    for name, given in properties.items():
        named, value = given if type(given) is tuple and len(given) == 2 else (CLASS_NAMES.get(type(given)), given)
        if not isinstance(name, str):
            raise ArgumentError(f"the name of a property is a string, found {type_name(name)}")
        path, named, value = _place(name, named, value)
        node = tree
        for part in path[:-1]:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                raise ArgumentError(f"property {name!r} stands inside another: MQRC_MIXED_CONTENT_NOT_ALLOWED (2498)")
        if path[-1] in node:
            raise ArgumentError(f"property {name!r} is given twice, or has others inside it")
        node[path[-1]] = _element(name, path, named, value)
    return [_folder(name, content) for name, content in tree.items()]


def _place(name: str, named: str | None, value: Any) -> tuple[list[str], str | None, Any]:
    """Find the folder, groups and element of a property: formats §2; a JMS name goes to its own element."""
    if name in JMS:
        path = JMS[name][0].path
        if path.startswith(("MQMD/", "body/")):
            raise ArgumentError(f"{name} is a field of the message descriptor: give {path[5:]} in mqmd")
        if name == "JMSDeliveryMode":
            if not isinstance(value, str) or value not in _DELIVERY_MODES:
                raise ArgumentError(f"JMSDeliveryMode is {shortened(value)}: expected 'PERSISTENT' or 'NON_PERSISTENT'")
            named, value = "int32", _DELIVERY_MODES[value]
        return path.split("/"), named, value
    return (name if "." in name else USR_FOLDER + name).split("."), named, value


def _element(name: str, path: list[str], named: str | None, value: Any) -> tuple[str, str]:
    """Return an element's attributes and text."""
    row = next((row for row in TYPES if isinstance(named, str) and row.name == named), None)
    if row is None:
        raise ArgumentError(f"property {name!r} is {shortened(value)}: no type of a property")
    if named == "null":
        return " xsi:nil='true'", ""
    if not isinstance(value, _CLASSES[row.kind]) or (isinstance(value, bool) and named != "boolean"):
        raise ArgumentError(f"property {name!r} is {shortened(value)}: no {named}")
    if row.kind in ("exact", "approximate"):
        value = row.python(value)
    if row.kind == "exact" and not row.range[0] <= value <= row.range[1]:
        raise ArgumentError(f"property {name!r} is {shortened(value)}: no {named}")
    if row.kind == "approximate":
        text = repr(float(value))
        text = _NOT_FINITE.get(text, text)
    elif named == "boolean":
        text = str(int(value))
    elif named == "bytes":
        text = value.hex().upper()
    else:
        text = str(value).translate(_ESCAPED) if named == "string" else str(int(value))
    implied = ELEMENT_TYPES.get("/".join(path), "string")
    return ("" if named == implied else f" dt='{row.dt[0]}'"), text


def _folder(name: str, content: _Tree) -> str:
    marked = "" if name in (*GROUPED_FOLDERS, *PLAIN_FOLDERS) else " content='properties'"
    parts = [f"<{name}{marked}>"]
    # Not recursive: groups may nest as deep as a name is long.
    work: list[Any] = [f"</{name}>", *reversed(content.items())]
    while work:
        item = work.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        element, inside = item
        if isinstance(inside, dict):
            parts.append(f"<{element}>")
            work += [f"</{element}>", *reversed(inside.items())]
        else:
            parts.append(f"<{element}{inside[0]}>{inside[1]}</{element}>")
    return "".join(parts)


def _rfh2(folders: list[str], following: tuple[int, int, str], order: str, ccsid: int, name_value_ccsid: int) -> bytes:
    codec = "utf-8" if name_value_ccsid == 1208 else "utf-16-be" if order == ">" else "utf-16-le"
    parts = []
    for folder in folders:
        try:
            data = folder.encode(codec)
        except UnicodeEncodeError as error:
            raise ArgumentError("a property has half a surrogate pair: no CCSID of an MQRFH2 can hold it") from error
        # Blanks up to a multiple of four, in the folder's own character set.
        data += (" " * 3).encode(codec)[: -len(data) % 4]
        parts.append(struct.pack(f"{order}i", len(data)) + data)
    length = MQRFH_STRUC_LENGTH_FIXED_2 + sum(map(len, parts))
    encoding, character_set, form = following
    if character_set <= 0 and character_set != layout.MQCCSI_INHERIT:
        raise ArgumentError(f"CodedCharSetId is {character_set}: an MQRFH2 has a character set there, or -2 (inherit)")
    head = _characters("StrucId", "RFH ", ccsid)
    head += struct.pack(f"{order}iiii", 2, length, encoding, character_set)
    head += _characters("MQRFH2 field Format", form.ljust(8), ccsid)
    head += struct.pack(f"{order}ii", 0, name_value_ccsid)
    return head + b"".join(parts)
