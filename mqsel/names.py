"""Names of properties, once: what they consist of, which ones exist by themselves, and how one property can be spelled.

Facts and a few small rules; knows no selector and no message. Follows language §6, formats §2, *IBM MQ 9.4, Property
name restrictions*, *Message descriptor fields as properties* and *JMS fields and properties with corresponding MQMD
fields*.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from mqsel.carets import quoted
from mqsel.errors import PropertyTypeError

MAX_LENGTH = 4095  # MQ_MAX_PROPERTY_NAME_LENGTH

# Keywords of the language: no property has one for a name.
RESERVED = tuple("NULL TRUE FALSE NOT AND OR BETWEEN LIKE IN IS ESCAPE".split())

ANY_CASE = " in any case"  # behind a name of a set that counts without regard to case: see `joined`
USR_FOLDER = "usr."  # the folder of names without a folder
DESCRIPTOR = "Root.MQMD."  # and the name of a field of the message descriptor
JMS_DESCRIPTOR = "JMS_IBM_MQMD_"  # what JMS calls it
JMS_PREFIX = "JMS"  # names that begin so belong to the specification

# ---- characters ------------------------------------------------------------------------------------------------------

# IBM MQ 9.4, Message selector syntax. U+180E is white space there although Java ignores it inside names: white space
# wins.
WHITE_SPACE = frozenset("\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u180e\u2028\u2029\u202f\u205f\u3000") | {
    chr(point) for point in range(0x2000, 0x200B)
}
# Control characters that Java allows inside an identifier (class Character, isIdentifierIgnorable).
IGNORABLE = frozenset(map(chr, (*range(0x09), *range(0x0E, 0x1C), *range(0x7F, 0xA0))))
# Unicode categories of a Java identifier's first character, and of the others.
START = frozenset("Lu Ll Lt Lm Lo Nl Sc Pc".split())
PART = START | frozenset("Nd Mc Mn Cf".split())


def is_identifier(part: str, *, first: bool) -> bool:
    """Report whether *part* may stand in a property name of IBM MQ: at its beginning if *first*, else behind a dot."""
    if not part or (first and unicodedata.category(part[0]) not in START):
        return False
    return all(
        character not in WHITE_SPACE
        and character <= "\uffff"
        and (character in IGNORABLE or unicodedata.category(character) in PART)
        for character in part
    )


# ---- names that exist by themselves ----------------------------------------------------------------------------------

# Fields of the message descriptor and their C types, in their order. Those of version 2 are in the MQMDE, too.
MQMD_VERSION_2 = {
    "GroupId": "MQBYTE24",
    "MsgSeqNumber": "MQLONG",
    "Offset": "MQLONG",
    "MsgFlags": "MQLONG",
    "OriginalLength": "MQLONG",
}
MQMD_FIELDS = {
    "StrucId": "MQCHAR4",
    "Version": "MQLONG",
    "Report": "MQLONG",
    "MsgType": "MQLONG",
    "Expiry": "MQLONG",
    "Feedback": "MQLONG",
    "Encoding": "MQLONG",
    "CodedCharSetId": "MQLONG",
    "Format": "MQCHAR8",
    "Priority": "MQLONG",
    "Persistence": "MQLONG",
    "MsgId": "MQBYTE24",
    "CorrelId": "MQBYTE24",
    "BackoutCount": "MQLONG",
    "ReplyToQ": "MQCHAR48",
    "ReplyToQMgr": "MQCHAR48",
    "UserIdentifier": "MQCHAR12",
    "AccountingToken": "MQBYTE32",
    "ApplIdentityData": "MQCHAR32",
    "PutApplType": "MQLONG",
    "PutApplName": "MQCHAR28",
    "PutDate": "MQCHAR8",
    "PutTime": "MQCHAR8",
    "ApplOriginData": "MQCHAR4",
    **MQMD_VERSION_2,
}
HIDDEN = frozenset({"StrucId", "Version"})  # "StrucId and Version are not accessible"
# The type of the property follows from the C type of the field.
C_TYPES = {"MQLONG": "int32", "MQCHAR": "string", "MQBYTE": "bytes"}
MQMD_TYPES = {name: C_TYPES[c_type.rstrip("0123456789")] for name, c_type in MQMD_FIELDS.items() if name not in HIDDEN}

# The headers of JMS that a selector may read, by Message selectors in JMS, each with its type.
JMS_HEADERS = {
    "JMSDeliveryMode": "string",
    "JMSPriority": "int32",
    "JMSMessageID": "string",
    "JMSTimestamp": "int64",
    "JMSCorrelationID": "string",
    "JMSType": "string",
}
# The JMS names that IBM MQ has: each is a synonym of a field of the message descriptor.
JMS_SYNONYMS = {
    **JMS_HEADERS,
    "JMSDestination": "string",
    "JMSExpiration": "int64",
    "JMSRedelivered": "boolean",
    "JMSReplyTo": "string",
    "JMSXAppID": "string",
    "JMSXDeliveryCount": "int32",
    "JMSXGroupID": "string",
    "JMSXGroupSeq": "int32",
    "JMSXUserID": "string",
}
# What headers can be, where that is less than their type: Jakarta Messaging 3.1, §3.4.2 and §3.4.10; MQPER_*.
HEADER_DOMAINS: dict[str, range | tuple[str, ...]] = {
    "JMSDeliveryMode": ("PERSISTENT", "NON_PERSISTENT"),
    "JMSPriority": range(10),
    f"{DESCRIPTOR}Priority": range(10),
    f"{DESCRIPTOR}Persistence": range(2),
}
# Those that hold a destination, which each product writes in its own way: Queue[A], queue://A, queue:///A.
DESTINATIONS = ("JMSDestination", "JMSReplyTo")
# What products call the headers of JMS, where not all have their own names there: in a row none but these is offered.
# Artemis: artemis-jms-client, ActiveMQMessage and SelectorTranslator; a user is there where the broker is told to
# populate-validated-user (Artemis, User Manual, Tracking validated users). RabbitMQ: AMQP JMS Mapping 1.0, §3.2; of its
# section `h` there is the priority alone. Service Bus: Use JMS 2.0 with Azure Service Bus Premium.
HEADER_NAMES: dict[str, dict[str, str]] = {
    "ARTEMIS": {
        "JMSDeliveryMode": "AMQDurable",
        "JMSPriority": "AMQPriority",
        "JMSMessageID": "AMQUserID",
        "JMSTimestamp": "AMQTimestamp",
        "JMSExpiration": "AMQExpiration",
        "JMSXGroupID": "AMQGroupID",
        "JMSCorrelationID": "JMSCorrelationID",
        "JMSType": "JMSType",
        "JMSReplyTo": "JMSReplyTo",
        "JMSXUserID": "_AMQ_VALIDATED_USER",
    },
    "RABBITMQ": {
        "JMSPriority": "h.priority",
        "JMSMessageID": "p.message_id",
        "JMSTimestamp": "p.creation_time",
        "JMSCorrelationID": "p.correlation_id",
        "JMSType": "p.subject",
        "JMSDestination": "p.to",
        "JMSExpiration": "p.absolute_expiry_time",
        "JMSReplyTo": "p.reply_to",
        "JMSXGroupID": "p.group_id",
        "JMSXGroupSeq": "p.group_sequence",
    },
    # Broker-J, JMSMessagePropertyExpression: a destination is NULL there. RabbitMQ, JMS topic exchange: the six of JMS.
    "QPID_BROKER_J": {name: name for name in JMS_SYNONYMS if name != "JMSDestination"},
    "RABBITMQ_JMS": {name: name for name in JMS_SYNONYMS if name in JMS_HEADERS or name.startswith("JMSX")},
    "ROCKETMQ": {},
    "AZURE_SERVICE_BUS": {
        "JMSMessageID": "sys.MessageId",
        "JMSCorrelationID": "sys.CorrelationId",
        "JMSType": "sys.Label",
        "JMSDestination": "sys.To",
        "JMSReplyTo": "sys.ReplyTo",
        "JMSXGroupID": "sys.SessionId",
    },
}
# Names of JMS that the product's client of JMS translates: artemis-jms-client, SelectorTranslator.
TRANSLATED = {
    "ARTEMIS": ("JMSDeliveryMode", "JMSPriority", "JMSMessageID", "JMSTimestamp", "JMSExpiration", "JMSXGroupID"),
}
# What values of headers are called where the header has another name: each way round.
HEADER_VALUES = {
    "AMQDurable": {
        "PERSISTENT": "DURABLE",
        "NON_PERSISTENT": "NON_DURABLE",
        "DURABLE": "PERSISTENT",
        "NON_DURABLE": "NON_PERSISTENT",
    },
}
# How a queue and a topic read as texts, by product and header, where that is written down: TIBCO EMS, Filtering
# Messages in the Undelivered Message Queue; ActiveMQ, ActiveMQDestination; artemis-jms-client, ActiveMQMessage.
DESTINATION_URIS = ("queue://{}", "topic://{}")
DESTINATION_TEXTS: dict[str, dict[str, tuple[str, str]]] = {
    "TIBCO_EMS": {"JMSDestination": ("Queue[{}]", "Topic[{}]")},
    "ACTIVEMQ": dict.fromkeys(DESTINATIONS, DESTINATION_URIS),
    "ARTEMIS": {"JMSReplyTo": DESTINATION_URIS},
}
# What every text of a destination is. In IBM MQ one destination has several, with the queue manager and options: IBM MQ
# 9.4, Uniform resource identifiers (URIs), and Rules for naming IBM MQ objects.
DESTINATION_PATTERNS: dict[str, dict[str, str]] = {
    "TIBCO_EMS": {"JMSDestination": r"(?:Queue|Topic)\[.*\]"},
    "ACTIVEMQ": dict.fromkeys(DESTINATIONS, "(?:temp-)?(?:queue|topic)://.*"),
    "IBM_MQ": dict.fromkeys(DESTINATIONS, r"queue://[\w./%]*(?:\?.*)?|topic://.*"),
}
# Those that hold a time, in milliseconds since 1970.
TIMES = ("JMSTimestamp", "JMSExpiration")

# ---- parts of a message ----------------------------------------------------------------------------------------------

# What stands before the dot of a name, by the choice of a dialect's field `identifier_dots`, each with what the name is
# known by; None: the name alone.
NAME_PREFIXES: dict[str, dict[str, str | None]] = {
    "sections": {
        "h": "h",
        "header": "h",
        "p": "p",
        "properties": "p",
        "a": None,
        "application_properties": None,
    },
    "scopes": {"sys": "sys", "user": None},
}
# The fields of the sections that have no names of their own.
SECTION_FIELDS = {
    "h": ("priority",),
    "p": tuple(
        "message_id user_id to subject reply_to correlation_id content_type content_encoding absolute_expiry_time "
        "creation_time group_id group_sequence reply_to_group_id".split()
    ),
}
_SECTIONS = {"h": "header", "p": "properties"}  # whose first letter names each, too
# What headers are that a message lacks, by the choice of `identifier_dots`: AMQP 1.0, §3.2.1 Header.
DEFAULTS: dict[str, dict[str, int]] = {"sections": {"h.priority": 4}}

# ---- spellings -------------------------------------------------------------------------------------------------------


def spellings(name: str, rules: str = "mqi") -> tuple[str, ...]:
    """Return the spellings of one property: the first that a message has is the property, even if it is NULL.

    Args:
        name: the property, in any of its spellings.
        rules: the ``naming`` of a selector. Under ``mqi`` ``usr.x`` and ``x`` are one property, of which ``x`` comes
            first. Under ``sections`` ``p.subject`` and ``properties.subject`` are one, and so with ``h.priority`` and
            ``header.priority``. Under the others each name is a property of its own.
    """
    if rules == "sections":
        section, _, field = name.partition(".")
        short = NAME_PREFIXES["sections"].get(section) or ""
        if field not in SECTION_FIELDS.get(short, ()):
            return (name,)
        return f"{short}.{field}", f"{_SECTIONS[short]}.{field}"
    bare = name.removeprefix(USR_FOLDER)
    if rules != "mqi" or "." in bare or bare.startswith(JMS_PREFIX):
        return (name,)
    return bare, USR_FOLDER + bare


def joined(name: str, rules: str) -> str:
    """Return the spellings of a property as one text, which `parted` takes apart: as sets write them."""
    return name.casefold() + ANY_CASE if rules == "folded" else " ".join(spellings(name, rules))


def parted(text: str) -> tuple[str, str, str]:
    """Return the first spelling of a property, the other or an empty text, and "test" for a computed test."""
    bare, word, kind = text.rpartition(" as ")
    if not word or kind != "test":
        bare, kind = text, ""
    first, blank, second = bare.partition(" ")
    if blank and (first, second) == spellings(first, "sections"):
        return first, second, kind
    half = bare[: (len(bare) - len(USR_FOLDER)) // 2]
    return (half, USR_FOLDER + half, kind) if bare == f"{half} {USR_FOLDER}{half}" else (bare, "", kind)


_Value = TypeVar("_Value")
_Place = TypeVar("_Place")


def folded(pairs: Iterable[tuple[object, _Value]], wanted: Mapping[str, str]) -> dict[str, _Value]:
    """Return what a message has of properties whose names count without regard to case, under the names wanted.

    Args:
        pairs: names and values, which may be places; what is no text is no name.
        wanted: the names, each by its `casefold`.

    Raises: PropertyTypeError: two names are one of those that are wanted.
    """
    spelled: dict[str, str] = {}
    values: dict[str, _Value] = {}
    for given, value in pairs:
        if not isinstance(given, str):
            continue
        name = str.__str__(given)
        called = wanted.get(name.casefold())
        if called is None:
            continue
        if spelled.setdefault(called, name) != name:
            raise PropertyTypeError(
                f"{quoted(spelled[called])} and {quoted(name)} differ in case alone: expected one of them, since this "
                "dialect reads names without regard to case",
                name=name,
                hint="rename or drop one of them",
            )
        values[called] = value
    return values


def find_nested(
    spelled: Iterable[Iterable[str | None]], fields: Iterable[object], *, folds: bool = False
) -> list[tuple[str, int]]:
    """List the names that lead into fields because their beginning, up to a dot, is the name of one.

    Args:
        spelled: of each property the ways to spell it; one of which a field has all does not lead into fields.
        folds: whether names count without regard to case.

    Returns: a name, and the position of the field.
    """
    read = str.casefold if folds else str
    places = {read(field): place for place, field in enumerate(fields) if isinstance(field, str)}
    nested = []
    for ways in spelled:
        names = [name for name in ways if name]
        if not any(read(name) in places for name in names):
            steps = [(name, at) for name in names for at, sign in enumerate(name) if sign == "."]
            nested += [(name, places[read(name[:at])]) for name, at in steps if read(name[:at]) in places]
    return nested


def by_casefold(names: Iterable[str]) -> dict[str, str]:
    """Return names as `folded` wants them."""
    return {name.casefold(): name for name in names}


def look_up(message: Mapping[str, _Value], name: str, rules: str = "mqi") -> _Value | None:
    """Return the value of a property in a mapping, as a machine finds it there; None where it has none."""
    if rules == "folded":
        return folded(message.items(), by_casefold([name])).get(name)
    return next((message[one] for one in spellings(name, rules) if one in message), None)


def follow(name: str, around: _Place, step: Callable[[_Place, str], _Place | None]) -> _Place | None:
    """Find what a name with dots leads to: what has this very name, or the rest of it in what its beginning names.

    The shortest beginning that leads to something wins. The columns of a batch are found by the same rule.

    Args:
        around: the place to begin from.
        step: gives what has a name in a place, or None.
    """
    found = step(around, name)
    dot = name.find(".")
    while found is None and dot >= 0:
        inner = step(around, name[:dot])
        if inner is not None:
            found = follow(name[dot + 1 :], inner, step)
        dot = name.find(".", dot + 1)
    return found


# ---- near names ------------------------------------------------------------------------------------------------------

_ALIKE = 0.7  # of the letters of two names: "color" and "colour", but not "color" and "code"
_PREFIXES = ("JMS_IBM_", "JMSX", "JMS")  # of headers, which people leave out


def _without_style(name: str) -> str:
    """Return a name without what people write differently or leave out: folder, prefix, case, `_` and `-`."""
    bare = name.removeprefix(USR_FOLDER).rpartition(".")[2]
    prefix = next((prefix for prefix in _PREFIXES if bare.startswith(prefix)), "")
    return "".join(filter(str.isalnum, bare.removeprefix(prefix))).casefold() or bare


def near_names(name: str, names: Iterable[str], bare: Callable[[str], str] = _without_style) -> list[str]:
    """List the names that *name* may have been meant for, the nearest first.

    Args:
        name: A name that does not exist.
        names: The names that exist. If two are equally near, the first one comes first.
        bare: A function of a name; names for which it returns the same are the nearest.
    """
    import difflib  # noqa: PLC0415 (for errors and advice only)

    matcher = difflib.SequenceMatcher(b=name.casefold())
    ranked = []
    for known in dict.fromkeys(names):
        matcher.set_seq1(known.casefold())
        is_same = bare(known) == bare(name)
        letters = matcher.quick_ratio() if matcher.real_quick_ratio() >= _ALIKE else 0  # 1: the same ones, as in "adn"
        if known != name and (is_same or letters == 1 or (letters >= _ALIKE and matcher.ratio() >= _ALIKE)):
            ranked.append((not is_same, -matcher.ratio(), known))
    return [known for *_, known in sorted(ranked, key=lambda row: row[:2])]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return the question whether the nearest of some names was meant, to append to an error; empty if none is near."""
    near = near_names(name, names)
    return f"; did you mean {near[0]}?" if near else ""
