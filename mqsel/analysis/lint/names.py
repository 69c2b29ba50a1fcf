"""Rules of lint about names, about identifiers and fields of one length, and about the spelling of the text.

Each examines the whole selector. The tables of names stand in `mqsel.names`, those of dialects in
`mqsel.language.dialect`.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mqsel.analysis.lint.chains import Structure
from mqsel.analysis.lint.findings import Edit, Found, parsed, strings_of
from mqsel.analysis.lint.tests import NO_NUMBERS, pair_of, strings_in
from mqsel.errors import SelectorError, Span, cut_piece, quoted
from mqsel.language.checker import is_name
from mqsel.language.dialect import JMS, PRESETS, Dialect, core_of
from mqsel.language.hints import as_bytes, in_milliseconds, milliseconds
from mqsel.language.lexer import dashes
from mqsel.language.nodes import (
    Arithmetic,
    Call,
    Comparison,
    Identifier,
    In,
    Like,
    Literal,
    Node,
    children,
    quote,
    unparse,
)
from mqsel.language.operators import MINUS_IS_NO_COMMENT
from mqsel.language.pattern import segments
from mqsel.language.selector import read_selector
from mqsel.names import (
    DESCRIPTOR,
    JMS_DESCRIPTOR,
    JMS_HEADERS,
    JMS_PREFIX,
    JMS_SYNONYMS,
    MQMD_FIELDS,
    MQMD_TYPES,
    TIMES,
    WHITE_SPACE,
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


def _spans(name: str, structure: Structure) -> list[Span]:
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
            yield Found(_spans(name, structure)[1], (name, " and ".join(kinds)))


def kind_of_a_header(structure: Structure) -> Iterator[Found]:
    headers = _HEADER_KINDS[structure.selector.dialect.headers]
    for name, kinds in structure.remarks.expected.items():
        # What JMSDeliveryMode can be is said by another rule.
        if name in headers and kinds and headers[name] not in kinds and name != "JMSDeliveryMode":
            advice = _ADVICE[headers[name]](name, structure) if headers[name] in _ADVICE else ""
            yield Found(_spans(name, structure)[0], (name, headers[name], kinds[0], advice))


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


def field_without_its_folder(structure: Structure) -> Iterator[Found]:
    if structure.selector.dialect.headers != "mqi":
        return
    for name in structure.selector.names:
        # Names of one word are others' properties, too, unless they are compared with what the field holds.
        is_one_word = name[1:].islower()
        if name in MQMD_TYPES and not (is_one_word and _FIELD_KINDS[name] not in structure.remarks.expected[name]):
            yield Found(_spans(name, structure)[0], (name, DESCRIPTOR + name))
        folder, _, field = name.rpartition(".")
        if field in MQMD_TYPES and folder.lower() in _FOLDERS_OF_FIELDS and not name.startswith(DESCRIPTOR):
            yield Found(_spans(name, structure)[0], (name, DESCRIPTOR + field))


_BY_CASE = {name.lower(): name for name in JMS_SYNONYMS}
# Headers that people call by less than their name, and that are seldom the name of something else.
_SHORT = ("JMSPriority", "JMSDeliveryMode", "JMSMessageID", "JMSCorrelationID")
# What other products call them.
_ELSEWHERE = {
    "AMQPriority": "JMSPriority",
    "AMQTimestamp": "JMSTimestamp",
    "AMQDurable": "JMSDeliveryMode",
    "AMQUserID": "JMSMessageID",
    "sys.Label": "JMSType",
    "sys.MessageId": "JMSMessageID",
    "sys.CorrelationId": "JMSCorrelationID",
    "amqp.message_id": "JMSMessageID",
    "amqp.correlation_id": "JMSCorrelationID",
    "amqp.priority": "JMSPriority",
    "amqp.creation_time": "JMSTimestamp",
}
_BY_REST = {
    **{name.removeprefix(JMS_PREFIX).lower(): name for name in _SHORT},
    **{name.lower(): header for name, header in _ELSEWHERE.items()},
}


def header_in_other_letters(structure: Structure) -> Iterator[Found]:
    for name in structure.selector.names:
        if name[:3].upper() != JMS_PREFIX or name in JMS_SYNONYMS:
            continue
        near = _BY_CASE.get(name.lower())
        if near is None and name[3:4] not in ("_", "X"):
            near = next(iter(difflib.get_close_matches(name, list(JMS_SYNONYMS), 1, 0.8)), None)
        if near is not None:
            yield Found(_spans(name, structure)[0], (name, near))


def header_without_its_beginning(structure: Structure) -> Iterator[Found]:
    if not core_of(structure.selector.dialect).is_plain:
        return  # a product with tests of its own has names of its own, too: AMQPriority, h.priority, sys.Label
    for name, read in structure.selector.names.items():
        if name.lower() in _BY_REST and name not in MQMD_TYPES:
            yield Found(_spans(read, structure)[0], (name, _BY_REST[name.lower()]))


def no_number(structure: Structure) -> Iterator[Found]:
    for name in structure.selector.names:
        if name.lower() in NO_NUMBERS:
            yield Found(_spans(name, structure)[0], (name,))


def name_alone(structure: Structure) -> Iterator[Found]:
    node = structure.selector.node
    if type(node) is Identifier:
        yield Found(node.span, (node.name,))


def names_that_differ_in_case(structure: Structure) -> Iterator[Found]:
    first: dict[str, str] = {}
    for name in dict.fromkeys(structure.selector.names.values()):
        known = first.setdefault(name.lower(), name)
        if known != name:
            yield Found(_spans(name, structure)[0], (name, known))


def two_minus_signs(structure: Structure) -> Iterator[Found]:
    places = dashes(structure.selector.text) if "--" in structure.selector.text else []
    if places:
        said = MINUS_IS_NO_COMMENT[structure.selector.dialect.comments]
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
            name, strings = node.identifier.name, [(node.pattern, strings_of(node, selector.text)[0])]
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


def lost_match_option(structure: Structure) -> Iterator[Found]:
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
    rules: (one, frozenset(one)) for rules, one in {"mqi": _OF_MQI, "jms": _LENGTHS, "any": _LENGTHS}.items()
}


def field_of_other_length(structure: Structure) -> Iterator[Found]:
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
            advice = ": add the bytes that are missing, which may be zeros" if many < length else ""
            yield Found(pair[1].span, (pair[0].name, f"{length} {what}", f"{many}{advice}"))


# ---- what not every product accepts ----------------------------------------------------------------------------------


class Feature(NamedTuple):
    """Something that not every product accepts.

    Attributes:
        what: its name.
        probe: a selector that has it and nothing else that is special; {} is its text.
        find: tells where it stands; None where it does not.
    """

    what: str
    probe: str
    find: Callable[[Structure], Span | None]


@functools.lru_cache(512)
def _elsewhere(probe: str, here: Dialect) -> str:
    """Return which products refuse a selector, and which read it as another one; empty if all read it as here."""
    own = _read(probe, here)
    refusing = [name for name, preset in PRESETS.items() if _read(probe, preset) is None]
    others = [name for name, preset in PRESETS.items() if name not in refusing and _read(probe, preset) != own]
    said = [f"refused by {', '.join(refusing)}"] * bool(refusing)
    return "; ".join([*said, *[f"something else in {', '.join(others)}"] * bool(others)])


def _read(probe: str, dialect: Dialect) -> str | None:
    """Return a selector as it was understood; None where it is refused."""
    try:
        return unparse(read_selector(probe, dialect.replace(max_length=None)).node)
    except SelectorError:
        return None


def _literal(kind: str, sign: str, pattern: str) -> Callable[[Structure], Span | None]:
    """Look for a literal of a kind by how it is written.

    Args:
        sign: finds something in each text that has one: most have none, and are looked through no further.
    """
    in_text, whole = re.compile(sign), re.compile(pattern, re.DOTALL)

    def find(structure: Structure) -> Span | None:
        text = structure.selector.text
        if not in_text.search(text):
            return None
        literals = (one for one in structure.selector.order if type(one) is Literal and one.kind == kind)
        return next((one.span for one in literals if whole.fullmatch(text, *one.span)), None)

    return find


def _name(is_special: Callable[[str], bool]) -> Callable[[Structure], Span | None]:
    """Look for a name."""

    def find(structure: Structure) -> Span | None:
        names = structure.selector.names
        return next((_spans(read, structure)[0] for name, read in names.items() if is_special(name)), None)

    return find


_JAVA_SPACE = frozenset(" \t\f\r\n")
_ODD_SPACE = "[" + "".join(map(re.escape, sorted(WHITE_SPACE - _JAVA_SPACE))) + "]"
_HAS_ODD_SPACE = re.compile(_ODD_SPACE)
_STRING_OR_ODD_SPACE = re.compile(f"'[^']*'|\"[^\"]*\"|{_ODD_SPACE}")


def _white_space(structure: Structure) -> Span | None:
    text = structure.selector.text
    if not _HAS_ODD_SPACE.search(text):
        return None
    return next((found.span() for found in _STRING_OR_ODD_SPACE.finditer(text) if found[0][0] not in "'\""), None)


def _written(pattern: str) -> Callable[[Structure], Span | None]:
    """Look for names that are written in a way."""
    written = re.compile(pattern)

    def find(structure: Structure) -> Span | None:
        text = structure.selector.text
        spans = (one.span for one in structure.selector.order if type(one) is Identifier)
        return next((span for span in spans if written.match(text, span[0])), None)

    return find


def _operator(sign: str) -> Callable[[Structure], Span | None]:
    """Look for an operator that stands between two operands."""

    def find(structure: Structure) -> Span | None:
        text = structure.selector.text
        for node in parsed(structure.selector) if sign in text else ():
            below = children(node) if isinstance(node, (Arithmetic, Comparison)) else ()
            for left, right in itertools.pairwise(below):
                at = text.find(sign, left.span[1], right.span[0])
                if at >= 0:
                    return at, at + len(sign)
        return None

    return find


FEATURES = (
    Feature("a name with a dot", "{} = 1", _name(lambda name: "." in name)),
    Feature("a name beyond U+FFFF", "{} = 1", _name(lambda name: max(name) > "\uffff")),
    Feature("a name in double quotes or brackets", "{} = 1", _written('["[]')),
    Feature("a byte string", "p = {}", _literal("bytes", '"', ".*")),
    Feature("a hexadecimal number", "p = {}", _literal("exact", "0[xX]", ".*0[xX].*")),
    Feature("F or D at a whole number", "p = {}", _literal("approximate", "[0-9][fFdD]", "[^0-9.]*[0-9]+[fFdD]")),
    Feature(
        "a number with an underscore or a binary exponent", "p = {}", _literal("approximate", "_|[xX]", ".*[_xX].*")
    ),
    Feature("this white space", "p{}= 1", _white_space),
    Feature("!=", "p {} 1", _operator("!=")),
    Feature("the remainder", "p {} 2 = 1", _operator("%")),
)


def refused_elsewhere(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    for feature in FEATURES:
        span = feature.find(structure)
        where = span and _elsewhere(feature.probe.format(selector.text[slice(*span)]), selector.dialect)
        if span and where:
            yield Found(span, (feature.what, where))
    for name, read in selector.names.items():
        if name.startswith(JMS_PREFIX):
            others = [preset for preset, dialect in PRESETS.items() if not is_name(name, dialect.headers)]
            if others:
                yield Found(_spans(read, structure)[0], (name, f"refused by {', '.join(others)}"))
    told: set[str] = set()
    for node in parsed(selector):
        if isinstance(node, Call) and node.name not in told:
            told.add(node.name)
            probe = _PROBES.get(node.name, selector.text[slice(*node.span)])
            where = _elsewhere(probe, selector.dialect) if _read(probe, JMS) is None else ""
            if where:
                yield Found(node.span, (f"this {node.name}", where))


_PROBES = {"UTC": "UTC() > p", "EXISTS": "EXISTS(p)"}  # of calls that are no condition, or hold one


# ---- what is not read ------------------------------------------------------------------------------------------------

_COMMENT = re.compile(r"(?:\s|\)|--[^\r\n]*[\r\n]|/\*[\s\S]*?\*/)*")


def unread_rest(structure: Structure) -> Iterator[Found]:
    selector = structure.selector
    if selector.dialect.rest == "ignored":
        start = _COMMENT.match(selector.text, selector.node.span[1]).end()  # type: ignore[union-attr]
        if start < len(selector.text):
            yield Found((start, len(selector.text)), (quoted(cut_piece(selector.text[start:].strip(), 60)),))
