"""Rules of lint about names, about identifiers and fields of one length, and about the spelling of the text.

Each examines the whole selector. The tables of names stand in `mqsel.names`, those of dialects in
`mqsel.language.dialect`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqsel.analysis.lint.chains import Structure
from mqsel.analysis.lint.findings import Edit, Found, strings_of
from mqsel.analysis.lint.rules_of_tests import NO_NUMBERS, pair_of, strings_in
from mqsel.carets import Span, quoted
from mqsel.language.advice import MINUS_IS_NO_COMMENT, as_bytes, dashes, in_milliseconds, milliseconds
from mqsel.language.dialect import core_of
from mqsel.language.nodes import Arithmetic, Comparison, Identifier, In, Like, Literal, Node, quote
from mqsel.language.pattern import segments
from mqsel.language.selector import Selector
from mqsel.names import (
    DESCRIPTOR,
    HEADER_NAMES,
    JMS_DESCRIPTOR,
    JMS_HEADERS,
    JMS_PREFIX,
    JMS_SYNONYMS,
    MQMD_FIELDS,
    MQMD_TYPES,
    TIMES,
    near_names,
)
from mqsel.values import KINDS, TYPES

# The kinds of headers, which have the same type in every message.
_KINDS_OF_TYPES = {row.name: KINDS.get(row.kind, "") for row in TYPES}
_FIELD_KINDS = {field: _KINDS_OF_TYPES[named] for field, named in MQMD_TYPES.items()}
_JMS_KINDS = {name: _KINDS_OF_TYPES[named] for name, named in JMS_HEADERS.items()}
_HEADER_KINDS = {
    "mqi": {**_JMS_KINDS, **{DESCRIPTOR + field: kind for field, kind in _FIELD_KINDS.items()}},
    "jms": _JMS_KINDS,
    "any": _JMS_KINDS,
}


def spans(name: str, structure: Structure) -> list[Span]:
    """Return where a property is read."""
    names = structure.selector.names
    return [one.span for one in structure.selector.order if type(one) is Identifier and names[one.name] == name]


def mixed_kinds(structure: Structure) -> Iterator[Found]:
    for name, kinds in structure.remarks.expected.items():
        if len(kinds) < 2:
            continue
        # Tests for each kind, side by side in an OR, are meant.
        chains = [chain for chain in structure.chains if name in chain.subjects]
        if len(chains) != 1 or chains[0].is_and:
            yield Found(spans(name, structure)[1], (name, " and ".join([f"a {kind}" for kind in kinds])))


def header_kind(structure: Structure) -> Iterator[Found]:
    headers = _HEADER_KINDS.get(structure.selector.dialect.headers, {})
    for name, kinds in structure.remarks.expected.items():
        # What JMSDeliveryMode can be is said by another rule.
        if name in headers and kinds and headers[name] not in kinds and name != "JMSDeliveryMode":
            advice = _ADVICE[headers[name]](name, structure) if headers[name] in _ADVICE else ""
            yield Found(spans(name, structure)[0], (name, headers[name], kinds[0], advice))


def _literals(name: str, structure: Structure) -> Iterator[str]:
    """List what a property is compared with, as written."""
    selector = structure.selector
    for node in selector.order:
        match node:
            case Comparison(left=Identifier(read), right=Literal(span=span)) if selector.names[read] == name:
                yield selector.text[slice(*span)]
            case Comparison(left=Literal(span=span), right=Identifier(read)) if selector.names[read] == name:
                yield selector.text[slice(*span)]


def _as_bytes(name: str, structure: Structure) -> str:
    """Return how the byte string is written that a property is compared with as something else."""
    made = next(filter(None, map(as_bytes, _literals(name, structure))), "")
    return f"; write {made}" if made else '; write "0x…", with two digits for each byte'


def _as_time(name: str, structure: Structure) -> str:
    """Return the milliseconds of a date that a header is compared with as a text."""
    for literal in _literals(name, structure) if name in TIMES else ():
        piece = literal.strip("'")
        made = milliseconds(piece)
        if made is not None:
            return f": {in_milliseconds(piece, made)}"
    return ""


_ADVICE = {"byte string": _as_bytes, "number": _as_time}


_FOLDERS_OF_FIELDS = ("mqmd", DESCRIPTOR[:-1].lower())


def descriptor_field(structure: Structure) -> Iterator[Found]:
    if structure.selector.dialect.headers != "mqi":
        return
    for name in structure.selector.names:
        # Names of one word are others' properties, too, unless they are compared with what the field holds.
        is_one_word = name[1:].islower()
        if name in MQMD_TYPES and not (is_one_word and _FIELD_KINDS[name] not in structure.remarks.expected[name]):
            yield Found(spans(name, structure)[0], (name, DESCRIPTOR + name))
        folder, _, field = name.rpartition(".")
        if field in MQMD_TYPES and folder.lower() in _FOLDERS_OF_FIELDS and not name.startswith(DESCRIPTOR):
            yield Found(spans(name, structure)[0], (name, DESCRIPTOR + field))


_BY_CASE = {name.lower(): name for name in JMS_SYNONYMS}
# Headers that people call by less than their name, and that are seldom the name of something else.
_SHORT = ("JMSPriority", "JMSDeliveryMode", "JMSMessageID", "JMSCorrelationID")
# What other products call them; the names of Qpid are read beside those of JMS.
_ELSEWHERE = {
    **{name: header for row in HEADER_NAMES.values() for header, name in row.items() if header != name},
    "amqp.message_id": "JMSMessageID",
    "amqp.correlation_id": "JMSCorrelationID",
    "amqp.priority": "JMSPriority",
    "amqp.creation_time": "JMSTimestamp",
}
_BY_REST = {
    **{name.removeprefix(JMS_PREFIX).lower(): name for name in _SHORT},
    **{name.lower(): header for name, header in _ELSEWHERE.items()},
}


def header_spelling(structure: Structure) -> Iterator[Found]:
    for name in structure.selector.names:
        if name[:3].upper() != JMS_PREFIX or name in JMS_SYNONYMS:
            continue
        near = _BY_CASE.get(name.lower())
        if near is None and name[3:4] not in ("_", "X"):
            near = next(iter(near_names(name, JMS_SYNONYMS)), None)
        if near is not None:
            yield Found(spans(name, structure)[0], (name, near))


# The system properties of a message of Azure Service Bus: Microsoft's reference of SQL filters, system properties.
_SYSTEM = """ContentType CorrelationId DeadLetterSource DeliveryCount EnqueuedSequenceNumber EnqueuedTimeUtc
ExpiresAtUtc ForcePersistence IsBodyConsumed Label LockedUntilUtc LockToken MessageId PartitionKey ReplyTo
ReplyToSessionId ScheduledEnqueueTimeUtc SequenceNumber SessionId Size State TimeToLive To ViaPartitionKey""".split()
_BY_SYSTEM = {name.lower(): f"sys.{name}" for name in _SYSTEM} | {"subject": "sys.Label"}
_CLOCKS = frozenset(
    "now sysdate systimestamp today getdate current_timestamp current_date current_time currenttimemillis".split()
)
_BODY = re.compile(r"(?i)(?:message\.)?(?:body|payload)\.")


def no_such_property(structure: Structure) -> Iterator[Found]:
    has_scopes = structure.selector.dialect.identifier_dots == "scopes"
    for name, read in structure.selector.names.items():
        said = ""
        if name.lower() in _CLOCKS:
            said = "a property, not a clock: write the time as a number of milliseconds since 1970"
        elif _BODY.match(name):
            said = "a property of the message: a selector can't read the body"
        elif has_scopes and name.lower().startswith("sys.") and name[4:].lower() not in _BY_SYSTEM:
            near = next(iter(near_names(name[4:], _SYSTEM)), "Label")
            said = f"not a system property, so the broker reports an error: write one such as sys.{near}"
        if said:
            yield Found(spans(read, structure)[0], (name, said))


_HYPHENS = re.compile(r"[^\W\d]\w*(?:-\w+)+")


def name_with_hyphen(node: Comparison, selector: Selector) -> Found | None:
    for side, other in ((node.left, node.right), (node.right, node.left)) if node.operator in ("=", "<>") else ():
        written = selector.text[slice(*side.span)]
        if not isinstance(side, Arithmetic) or not _HYPHENS.fullmatch(written):
            continue
        if isinstance(other, Literal) and isinstance(other.value, str):
            is_artemis = selector.dialect.departures()[0] == "ARTEMIS"
            advice = f"write hyphenated_props:{written}" if is_artemis else "rename the property"
            return Found(side.span, (written, advice))
        if isinstance(other, Identifier):
            return Found(side.span, (written, f"if you mean a string, write {quote(written)}"))
    return None


def header_prefix(structure: Structure) -> Iterator[Found]:
    if structure.selector.dialect.identifier_dots == "scopes":
        for name, read in structure.selector.names.items():
            if (header := _BY_SYSTEM.get(name.lower())) is not None:
                yield Found(spans(read, structure)[0], (name, header))
    if not core_of(structure.selector.dialect).is_plain:
        return  # a product with tests of its own has names of its own, too: AMQPriority, h.priority, sys.Label
    for name, read in structure.selector.names.items():
        if name.lower() in _BY_REST and name not in MQMD_TYPES:
            yield Found(spans(read, structure)[0], (name, _BY_REST[name.lower()]))


def no_number(structure: Structure) -> Iterator[Found]:
    names = [name for name in structure.selector.names if name.lower() in NO_NUMBERS]
    yield from [Found(spans(name, structure)[0], (name,)) for name in names]


def name_alone(structure: Structure) -> Iterator[Found]:
    node = structure.selector.node
    if type(node) is Identifier:
        yield Found(node.span, (node.name,))


def name_case(structure: Structure) -> Iterator[Found]:
    first: dict[str, str] = {}
    for name in dict.fromkeys(structure.selector.names.values()):
        known = first.setdefault(name.lower(), name)
        if known != name:
            yield Found(spans(name, structure)[0], (name, known))


def two_minus_signs(structure: Structure) -> Iterator[Found]:
    places = dashes(structure.selector.text) if "--" in structure.selector.text else []
    if places:
        said = MINUS_IS_NO_COMMENT[structure.selector.dialect.rules.comments]
        yield Found((places[0], places[0] + 2), (said,), tuple(Edit((at + 1, at + 1), " ") for at in places))


# ---- identifiers and fields of one length ----------------------------------------------------------------------------

_IDENTIFIERS = frozenset(("JMSMessageID", "JMSCorrelationID", "JMSXGroupID"))
_UPPER_CASE = re.compile("%?ID:(?=.*[A-F])[0-9A-Fa-f_%]{6,}")
_WHOLE = re.compile("ID:[0-9A-Fa-f]{48}")
_BY_IDENTIFIER = frozenset(("JMSMessageID", "JMSCorrelationID"))


def _texts(structure: Structure, names: frozenset[str]) -> Iterator[tuple[Node, str, str, tuple[int, int]]]:
    """List the tests of some properties with texts, patterns among them: test, name, text, and where it stands."""
    selector = structure.selector
    if names.isdisjoint(selector.names.values()):
        return  # most
    for node in selector.order:
        if type(node) is Comparison or type(node) is In:
            name, strings = strings_in(node, selector)
        elif type(node) is Like:
            name, strings = node.identifier.name, [(node.pattern, strings_of(node, selector)[0])]
        else:
            continue
        if name in names:
            yield from ((node, name, *one) for one in strings)


def identifier_in_capitals(structure: Structure) -> Iterator[Found]:
    if structure.selector.match_option is not None:
        return  # bytes are compared
    for _, _, text, span in _texts(structure, _IDENTIFIERS):
        lower = text.lower().replace("id:", "ID:")
        if _UPPER_CASE.fullmatch(text) and lower not in structure.selector.text:
            yield Found(span, (quoted(quote(text)), quoted(quote(lower))))


def match_option(structure: Structure) -> Iterator[Found]:
    if structure.selector.match_option is not None:
        return
    for node, name, text, _ in _texts(structure, _BY_IDENTIFIER):
        is_negative = node.operator == "<>" if isinstance(node, Comparison) else getattr(node, "negated", False)
        if _WHOLE.fullmatch(text) and not is_negative:
            yield Found(node.span, (f"{name} = {quoted(quote(text))}",))
            return


_TYPE = re.compile("MQ(CHAR|BYTE)([0-9]+)")
# Fields of the descriptor that have one length: how many characters or bytes, by each name.
_SIZED = {
    field: found for field, c_type in MQMD_FIELDS.items() if field in MQMD_TYPES and (found := _TYPE.match(c_type))
}
_LENGTHS = {
    prefix + field: (int(found[2]), {"CHAR": "characters", "BYTE": "bytes"}[found[1]])
    for field, found in _SIZED.items()
    for prefix in (DESCRIPTOR, JMS_DESCRIPTOR)
}
# In full width only where the queue manager selects.
_OF_MQI = {**_LENGTHS, "JMSXUserID": (12, "characters"), "JMSXAppID": (28, "characters")}
_LENGTHS_OF = {
    rules: (one, frozenset(one))
    for rules, one in {"mqi": _OF_MQI, "jms": _LENGTHS, "any": _LENGTHS, "sections": {}, "folded": {}}.items()
}


def field_length(structure: Structure) -> Iterator[Found]:
    lengths, names = _LENGTHS_OF[structure.selector.dialect.headers]
    if names.isdisjoint(structure.selector.names.values()):
        return
    for node, name, text, span in _texts(structure, names):
        parts = segments(text, node.escape) if isinstance(node, Like) else [text]
        length, what = lengths[name]
        many = len(parts[0])
        if what == "characters" and len(parts) == 1 and many != length:
            advice = f": write {quote(text.ljust(length + len(text) - many))}" if many < length else ""
            yield Found(span, (name, f"{length} {what}", f"{many}{advice}"))
    for node in structure.selector.order:
        pair = pair_of(node) if type(node) is Comparison else None
        if pair is None or pair[0].name not in lengths or not isinstance(pair[1].value, bytes):
            continue
        length, what = lengths[pair[0].name]
        many = len(pair[1].value)
        if what == "bytes" and many != length:
            advice = ": add the missing bytes, which may be zeros" if many < length else ""
            yield Found(pair[1].span, (pair[0].name, f"{length} {what}", f"{many}{advice}"))
