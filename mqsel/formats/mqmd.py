"""The structures around the data, as tables in the vendor's spelling: MQMD, MQMDE, and the headers stepped over.

Facts only: the code that reads by these tables stands in `_mq.pyx`, the code that writes by them in `mq.py`. Follows
formats §4 and *IBM MQ 9.4, MQMD*, *MQMDE*.
"""

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from mqsel.names import MQMD_FIELDS, MQMD_VERSION_2

MQMD_LENGTH_1 = 324
MQMD_LENGTH_2 = 364
MQMDE_LENGTH_2 = 72

MQENC_INTEGER_MASK = 0x0F
MQENC_INTEGER_NORMAL = 0x01
MQENC_INTEGER_REVERSED = 0x02

MQFMT_MD_EXTENSION = "MQHMDE  "
MQFMT_RF_HEADER_2 = "MQHRF2  "

MQCCSI_INHERIT = -2
MQEI_UNLIMITED = -1
MQOL_UNDEFINED = -1
MQMF_LAST_MSG_IN_GROUP = 0x10

MQRO_EXCEPTION_WITH_FULL_DATA = 0x07000000
MQRO_EXPIRATION_WITH_FULL_DATA = 0x00E00000
MQRO_COA_WITH_FULL_DATA = 0x00000700
MQRO_COD_WITH_FULL_DATA = 0x00003800
MQRO_PAN = 0x00000001
MQRO_NAN = 0x00000002
MQRO_PASS_MSG_ID = 0x00000080
MQRO_PASS_CORREL_ID = 0x00000040
MQRO_DISCARD_MSG = 0x08000000
MQRO_PASS_DISCARD_AND_EXPIRY = 0x00004000


class Field(NamedTuple):
    """One field of a structure.

    Attributes:
        name: the vendor's.
        offset: bytes from the start of the structure.
        length: in bytes.
        kind: the C type without its length: MQLONG, MQCHAR or MQBYTE.
        default: its initial value.
    """

    name: str
    offset: int
    length: int
    kind: str
    default: Any


def _fields(types: Mapping[str, str], **defaults: Any) -> tuple[Field, ...]:
    """Lay fields of these C types out one behind the other; what has no default here is zero or empty."""
    fields = []
    start = 0
    for name, c_type in types.items():
        kind = c_type.rstrip("0123456789")
        length = 4 if kind == "MQLONG" else int(c_type[len(kind) :])
        fields.append(Field(name, start, length, kind, defaults.get(name, _EMPTY[kind])))
        start += length
    return tuple(fields)


_EMPTY: dict[str, Any] = {"MQLONG": 0, "MQCHAR": "", "MQBYTE": b""}
_START = {"StrucId": "MQCHAR4", "Version": "MQLONG"}
_FOLLOWING = {"Encoding": "MQLONG", "CodedCharSetId": "MQLONG", "Format": "MQCHAR8"}
_DEFAULTS = {"Encoding": 546, "CodedCharSetId": 1208, "MsgSeqNumber": 1, "OriginalLength": MQOL_UNDEFINED}

MQMD = _fields(MQMD_FIELDS, StrucId="MD  ", Version=1, MsgType=8, Expiry=MQEI_UNLIMITED, Priority=4, **_DEFAULTS)

MQMDE = _fields(
    {**_START, "StrucLength": "MQLONG", **_FOLLOWING, "Flags": "MQLONG", **MQMD_VERSION_2},
    **{**_DEFAULTS, "StrucId": "MDE ", "Version": 2, "StrucLength": MQMDE_LENGTH_2},
)

_PUT = {name: MQMD_FIELDS[name] for name in ("PutApplType", "PutApplName", "PutDate", "PutTime")}
MQDLH = _fields(
    {**_START, "Reason": "MQLONG", "DestQName": "MQCHAR48", "DestQMgrName": "MQCHAR48", **_FOLLOWING, **_PUT},
    StrucId="DLH ",
    Version=1,
)


class ChainedHeader(NamedTuple):
    """A header that is stepped over.

    Attributes:
        name: of the structure.
        format: the Format that announces it.
        struc_id: its first four characters.
        length: the least it can have, in bytes.
        fixed: its length is never another; else StrucLength stands at byte 8.
        following: where Encoding, CodedCharSetId and Format of what follows stand, one behind the other: bytes from its
            start.
        describes: Encoding and CodedCharSetId are of what follows; else reserved, and those of the header itself apply.
    """

    name: str
    format: str
    struc_id: str
    length: int
    fixed: bool
    following: int = 12
    describes: bool = True


# IBM MQ 9.4, MQDH … MQXQH; Encoding (MQLONG) for MQIIH, for MQCIH: reserved. MQXQH ends with an MQMD of version 1: it
# describes what follows. MQSAPH: IBM MQ 9.4, classes for Java, com.ibm.mq.headers.MQSAPH; its Format: IBM App Connect
# Enterprise 12, The MQSAPH parser.
HEADERS = (
    ChainedHeader("MQDLH", "MQDEAD  ", "DLH ", 172, fixed=True, following=108),
    ChainedHeader("MQXQH", "MQXMIT  ", "XQH ", 428, fixed=True, following=128),
    ChainedHeader("MQIIH", "MQIMS   ", "IIH ", 84, fixed=False, describes=False),
    ChainedHeader("MQCIH", "MQCICS  ", "CIH ", 164, fixed=False, describes=False),
    ChainedHeader("MQWIH", "MQHWIH  ", "WIH ", 120, fixed=False),
    ChainedHeader("MQRMH", "MQHREF  ", "RMH ", 108, fixed=False),
    ChainedHeader("MQRFH", "MQHRF   ", "RFH ", 32, fixed=False),
    ChainedHeader("MQDH", "MQHDIST ", "DH  ", 48, fixed=False),
    ChainedHeader("MQEPH", "MQHEPCF ", "EPH ", 68, fixed=False),
    ChainedHeader("MQSAPH", "MQHSAP  ", "SAPH", 108, fixed=False),
    ChainedHeader("MQMDE", MQFMT_MD_EXTENSION, "MDE ", MQMDE_LENGTH_2, fixed=False),
)

# EBCDIC that Python lacks: 1047 is 037 but for the places of these characters.
_MOVED = {0xAD: "[", 0xBD: "]", 0xBA: "Ý", 0xBB: "¨", 0x5F: "^", 0xB0: "¬"}
# All the EBCDIC that Python has: CCSID and codec.
CODEPAGES = {number: f"cp{number:03}" for number in (37, 273, 424, 500, 875, 1026, 1140)}


EBCDIC = tuple(sorted((*CODEPAGES, 1047)))
# The character sets that an MQMD is read and written in.
CCSIDS = (1208, 819, *EBCDIC)


@functools.cache
def page_of(ccsid: int) -> str:
    """Return the 256 characters of the bytes of an EBCDIC code page, which is 500 where the CCSID is of none.

    U+FFFE stands for a byte that is no character.
    """
    name = CODEPAGES.get(37 if ccsid == 1047 else ccsid, CODEPAGES[500])
    page = bytes(range(256)).decode(name, "replace").replace("\ufffd", "\ufffe")
    moved = _MOVED if ccsid == 1047 else {}
    return "".join(moved.get(place, character) for place, character in enumerate(page))


# What a Java program calls a CCSID: the value of JMS_IBM_Character_Set.
CHARACTER_SETS = {
    37: "IBM037",
    437: "IBM437",
    500: "IBM500",
    813: "ISO8859_7",
    819: "ISO8859_1",
    850: "IBM850",
    912: "ISO8859_2",
    923: "ISO8859_15",
    1047: "IBM1047",
    1140: "IBM1140",
    1200: "UTF-16",
    1208: "UTF-8",
    1252: "windows-1252",
}
