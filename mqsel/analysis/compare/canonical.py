"""Canonical selectors and messages: headers have the names and the values of JMS, and each product has its own.

The names stand in `mqsel.names.HEADER_NAMES`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from mqsel.analysis.compare.contract import SAME_FIELDS
from mqsel.analysis.compare.rewrites import PlacedTest, tests_of, with_tests
from mqsel.carets import quoted
from mqsel.language.dialect import Dialect, as_dialect, kept
from mqsel.language.nodes import (
    Arithmetic,
    Between,
    Call,
    Comparison,
    Identifier,
    In,
    Like,
    Literal,
    Node,
    mapped,
    unparse,
    walk,
)
from mqsel.language.selector import Selector
from mqsel.names import (
    DESCRIPTOR,
    DESTINATION_PATTERNS,
    DESTINATION_TEXTS,
    DESTINATION_URIS,
    DESTINATIONS,
    HEADER_NAMES,
    HEADER_VALUES,
    JMS_SYNONYMS,
    TRANSLATED,
    spellings,
)


class Refused(NamedTuple):
    """A product has no such thing: what it lacks, and what people do instead.

    It is a value: of many candidates for a selector some are refused, and the search goes on.
    """

    reason: str
    advice: str


class _RefusedError(Exception):
    """Ends a walk through a tree; its argument is the `Refused` that is returned."""


def _refuse(reason: str, advice: str) -> NoReturn:
    raise _RefusedError(Refused(reason, advice))


def _mapped(root: Node, *changes: Callable[[Node], Node]) -> Node | Refused:
    """Return a tree after changes of its nodes, one after the other, or the first refusal."""
    try:
        return functools.reduce(mapped, changes, root)
    except _RefusedError as error:
        refused: Refused = error.args[0]
        return refused


@kept
def _preset(dialect: Dialect) -> str:
    return dialect.departures()[0]


_FIELDS = {field: name for name, field in SAME_FIELDS.items() if name in JMS_SYNONYMS}


def _header_names(dialect: Dialect) -> dict[str, str]:
    return HEADER_NAMES.get(_preset(dialect), {})


def canonical(selector: Selector, *, is_target: bool = False) -> Node | Refused:
    """Return the tree of a selector with the names and values that headers have in JMS.

    It is refused if it has the name of a header that the product calls otherwise.
    """
    preset = _preset(selector.dialect)
    own = {name: header for header, name in _header_names(selector.dialect).items()}

    def rename(node: Node) -> Node:
        if not isinstance(node, Identifier):
            return node
        name = spellings(selector.names[node.name], selector.naming)[0]
        is_strange = preset in HEADER_NAMES and name in JMS_SYNONYMS and name not in own
        is_field = name.startswith(DESCRIPTOR) and selector.dialect.headers != "mqi"
        if is_field or (is_strange and (is_target or name not in TRANSLATED.get(preset, ()))):
            _refuse(f"{preset} has no header {name}", _instead(name, preset))
        return node._replace(name=own.get(name, _FIELDS.get(name, name)))

    destination = _revaluing(dict.fromkeys(DESTINATIONS, functools.partial(_destination, preset=preset, to_jms=True)))
    return _mapped(selector.node, _revaluing(_VALUES), rename, destination)


def named_in(root: Node, dialect: Dialect) -> Node | Refused:
    """Return a canonical tree with the names and values that a product has, if it has all of its headers."""
    preset, names = _preset(dialect), _header_names(dialect)

    def rename(node: Node) -> Node:
        if not isinstance(node, Identifier):
            return node
        if node.name.startswith(DESCRIPTOR) and dialect.headers != "mqi":
            _refuse(f"{node.name} is a field of IBM MQ's message descriptor", _COPIED)
        if preset in HEADER_NAMES and node.name in JMS_SYNONYMS and node.name not in names:
            _refuse(f"{preset} offers no {node.name} to selectors", _instead(node.name, preset))
        return node._replace(name=names.get(node.name, node.name))

    destination = _revaluing(dict.fromkeys(DESTINATIONS, functools.partial(_destination, preset=preset, to_jms=False)))
    return _mapped(root, destination, rename, _revaluing(_VALUES))


_COPIED = "let the sender, or a bridge, copy it into a property of its own"
# Of headers whose value no sender knows, and of those that are destinations: what people do instead.
_INSTEAD = {
    "JMSXDeliveryCount": "let the queue move away what was delivered too often, or let the consumer look at it",
    "JMSRedelivered": "let the consumer look at it",
    "JMSDestination": "subscribe to that queue or topic, or let the sender set a property",
    "ARTEMIS JMSDestination": "of dead letters Artemis has the name, without its kind, as _AMQ_ORIG_ADDRESS",
    "JMSReplyTo": "let the sender set a property",
}


def _instead(name: str, preset: str) -> str:
    return _INSTEAD.get(f"{preset} {name}") or _INSTEAD.get(name, _COPIED)


# Of headers that have other values in products: what returns such a value, given the header and the other one.
_Values = Mapping[str, Callable[[str, Any], Any]]
_VALUES: _Values = dict.fromkeys(HEADER_VALUES, lambda name, value: HEADER_VALUES[name].get(value, value))


def _revaluing(values: _Values) -> Callable[[Node], Node]:
    """Return what rewrites a test of a header that has other values, and refuses a test that looks into them."""

    def revalued(node: Node) -> Node:
        name = next((name for name in names_of(node) if name in values), None)
        if name is None:
            return node
        value_of = functools.partial(values[name], name)
        match node:
            case In():
                return node._replace(choices=tuple(map(value_of, node.choices)))
            case Like(_, _, pattern, None) if not set("%_\\") & set(pattern):
                return node._replace(pattern=value_of(pattern))
            case Comparison("=" | "<>", Identifier(), Literal("string", value, span)):
                return node._replace(right=Literal("string", value_of(value), span))
            case Comparison("=" | "<>", Literal("string", value, span), Identifier()):
                return node._replace(left=Literal("string", value_of(value), span))
            case Comparison("=" | "<>", Identifier(), Literal()) | Comparison("=" | "<>", Literal(), Identifier()):
                return node
            case Comparison() | Like() | Call() | Arithmetic() | Between():
                _refuse(f"{unparse(node)} looks into a header that has other values here", "compare it with =")
        return node

    return revalued


def _destination(header: str, text: str, preset: str, *, to_jms: bool) -> str:
    """Return the text of a queue or topic in JMS for that in a product, or the other way round.

    It is refused if the product has no such text, or if no document says which it has.
    """
    own = DESTINATION_TEXTS.get(preset, {}).get(header)
    if own is None:
        reason = (
            f"mqsel does not translate the destinations of {header} in {preset}: each product spells them differently"
        )
        _refuse(reason, _instead(header, preset))
    written = _readdressed(text, *((own, DESTINATION_URIS) if to_jms else (DESTINATION_URIS, own)))
    if written is None:
        example = quoted(own[0].format("A"))
        _refuse(
            f"{quoted(text)} is no queue or topic in {preset}: expected {example}, for example",
            _instead(header, preset),
        )
    return written


def _readdressed(text: str, read: tuple[str, str], written: tuple[str, str]) -> str | None:
    """Return a text of a queue or a topic in another form; None for another text, and for odd names."""
    for one, other in zip(read, written, strict=True):
        start, end = one.split("{}")
        name = text[len(start) : len(text) - len(end)]
        if text == start + name + end and re.fullmatch(r"[A-Za-z0-9_.-]+", name):
            return other.format(name)
    return None


def possible(selector: Selector) -> Node:
    """Return the tree of a selector with FALSE for tests that no text of a destination makes TRUE."""
    patterns = DESTINATION_PATTERNS.get(_preset(selector.dialect), {})

    def is_possible(test: PlacedTest) -> bool:
        match test:
            case PlacedTest(Comparison("=", Identifier(name), Literal("string", str() as text)), False):
                texts: tuple[str, ...] = (text,)
            case PlacedTest(In(False, Identifier(name), texts), False):
                pass
            case _:
                return True
        return name not in patterns or any(re.fullmatch(patterns[name], one, re.ASCII | re.DOTALL) for one in texts)

    tests = iter(tests_of(selector.node)[0])
    return with_tests(selector.node, lambda node: node if is_possible(next(tests)) else Literal("boolean", False))


def names_of(node: Node) -> list[str]:
    """List the names of a tree, each once."""
    return [*dict.fromkeys(one.name for one in walk(node) if isinstance(one, Identifier))]


def view(message: Mapping[str, Any], dialect: Dialect | str) -> dict[str, Any]:
    """Return a canonical message as a product sees it."""
    preset, names = _preset(as_dialect(dialect)), _header_names(as_dialect(dialect))
    texts = DESTINATION_TEXTS.get(preset, {})
    found = {}
    for name, value in message.items():
        own = names.get(name, name)
        if preset not in HEADER_NAMES or name in names or name not in JMS_SYNONYMS:
            seen = _readdressed(value, DESTINATION_URIS, texts[name]) if name in texts else None
            found[own] = HEADER_VALUES.get(own, {}).get(value, value) if seen is None else seen
        if name in TRANSLATED.get(preset, ()):
            found[name] = value
        if as_dialect(dialect).headers == "mqi" and name in SAME_FIELDS:
            found[SAME_FIELDS[name]] = value
    return found
