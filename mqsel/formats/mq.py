"""Make IBM MQ messages: MQMD, MQMDE, MQRFH2, data. The opposite of `mqsel.formats.properties`, for tests and tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
        properties: name -> value, or name -> (type, value) with a type of `mqsel.values.TYPE_NAMES`.
        body: the data.
        version: of the MQMD; 1 puts given fields of version 2 into an MQMDE.
        encoding: numeric encoding of the MQMD and all headers.
        ccsid: of the character fields of the MQMD and all headers: 1208 or EBCDIC 37, 500, 1047.
        name_value_ccsid: of the folders: 1208 or UTF-16 1200, 13488, 17584.

    Raises: ArgumentError: a field, name or value that does not fit.
    """
    raise NotImplementedError
