"""The MQRFH2 as tables: folders, types of elements, escapes, and the notes on what is skipped.

Facts only: the code that reads by these tables stands in `_mq.pyx`, the code that writes by them in `mq.py`.
Follows formats §3, §5, §6 and *IBM MQ 9.4, MQRFH2*.
"""

from typing import NamedTuple

from mqsel.errors import MQRC
from mqsel.values import TYPES

MQRFH_STRUC_LENGTH_FIXED_2 = 36

NAME_VALUE_CCSIDS = (1208, 1200, 13488, 17584)  # UTF-8, and three kinds of UTF-16

# Property folders whose elements may stand in groups, and those where they may not; others need content='properties'.
GROUPED_FOLDERS = ("jms", "mcd", "mq_usr", "sib", "sib_context", "sib_usr")
PLAIN_FOLDERS = ("usr", "ibm", "mq", "mqema", "mqext", "mqps", "mq_svc", "mqtt")
# Significant in the first MQRFH2 only, and there only the first folder of each name.
FIRST_HEADER_FOLDERS = ("sib", "sib_context", "sib_usr")
FIRST_FOLDERS = ("mq",)

# dt -> type. No dt: a string, but for the elements below. A dt that is not here does not fail the parse.
DT = {dt: row.name for row in TYPES for dt in row.dt}

# The types of elements that JMS writes without dt.
ELEMENT_TYPES = {
    "jms/Dlv": "int32",
    "jms/Pri": "int32",
    "jms/Seq": "int32",
    "jms/Exp": "int64",
    "jms/Tms": "int64",
    "jms/Uci": "bytes",
}

ESCAPES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class Note(NamedTuple):
    """A part of a message that was skipped, and the reason.

    Attributes:
        structure: "MQRFH2", "MQMDE" or another name; empty if the message has no structures.
        offset: The byte at which it begins, from the start of the message; -1 without a structure.
        what: The folder, property or field.
        reason: The reason code of IBM MQ, or None.
        message: The reason as a sentence.
    """

    structure: str
    offset: int
    what: str
    reason: MQRC | None
    message: str

    def __str__(self) -> str:
        reason = f" [{self.reason}]" if self.reason else ""
        return f"{self.structure} at byte {self.offset}, {self.what}: {self.message}{reason}"


# What can be wrong without being an error, in the order in which `_tables.pxd` numbers it: (key, reason, words).
NOTES: tuple[tuple[str, MQRC | None, str], ...] = (
    ("none", None, ""),
    ("folder-name", MQRC.MQRC_RFH_FORMAT_ERROR, "the name of the folder cannot be found: it has no properties"),
    ("folder-malformed", MQRC.MQRC_RFH_FORMAT_ERROR, "the folder is malformed: it has no properties"),
    ("folder-depth", MQRC.MQRC_RFH_FORMAT_ERROR, "groups nest more than 128 deep: the folder has no properties"),
    (
        "folder-too-big",
        MQRC.MQRC_PROPERTIES_TOO_BIG,
        "the names of its properties take 16 times its length: the folder has no properties",
    ),
    (
        "folder-restricted",
        MQRC.MQRC_RFH_RESTRICTED_FORMAT_ERR,
        "the mq folder breaks its restricted form: it has no properties",
    ),
    ("folder-plain", None, "not a property folder: its elements are not properties"),
    ("folder-repeated", None, "only the first folder of this name counts"),
    ("folder-dotted", None, "the name of the folder has a dot: its properties cannot be addressed"),
    ("group-not-allowed", None, "this folder has no groups: what stands in one is not a property"),
    ("mixed-content", MQRC.MQRC_MIXED_CONTENT_NOT_ALLOWED, "text beside elements: the text is not a property"),
    ("element-dotted", None, "the name of the element has a dot: it cannot be addressed"),
    ("element-name", MQRC.MQRC_RFH_FORMAT_ERROR, "no element can have this name: it is skipped"),
    ("element-attributes", MQRC.MQRC_RFH_FORMAT_ERROR, "the attributes of the element are malformed: it is skipped"),
    ("name-invalid", MQRC.MQRC_PROPERTY_NAME_ERROR, "no property can have this name"),
    ("name-truncated", MQRC.MQRC_PROPERTY_NAME_LENGTH_ERR, "a name has at most 4095 characters: the rest is cut off"),
    ("type-unknown", MQRC.MQRC_PROP_TYPE_NOT_SUPPORTED, "the dt is not known: read as a byte string of its text"),
    ("value-malformed", MQRC.MQRC_PROP_NUMBER_FORMAT_ERROR, "the value does not fit its type"),
    ("value-encoding", None, "the value is not UTF-8"),
    ("value-escape", None, "the value has an escape that does not exist"),
    ("value-markup", None, "the value has markup inside: CDATA, a comment, or a < that is not escaped"),
    ("duplicate", None, "the property is there twice: the one nearer the head of the message counts"),
    ("field-encoding", None, "the field is not text in its character set: U+FFFD stands for what is not"),
    ("field-date", None, "PutDate and PutTime are not a valid time"),
    ("mde-default-only", None, "the MQMD has fields of version 2 that are not default: the MQMDE is data"),
    ("mde-foreign", None, "not in the byte order and character set of the MQMD: the MQMDE is data"),
    ("mde-version", None, "an MQMDE of a later version: it is data"),
    ("mde-not-first", None, "not immediately behind the MQMD: its fields do not count"),
    ("header-order", None, "not in the byte order announced: Version and StrucLength show the other"),
    ("format-unknown", None, "no header with this Format is known: the data begin here"),
)
