"""Canonical selectors and messages: headers have the names and the values of JMS, and each product has its own.

The names stand in `mqsel.names.HEADER_NAMES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqsel.analysis.compare.contract import SAME_FIELDS
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
from mqsel.names import DESCRIPTOR, DESTINATIONS, HEADER_NAMES, HEADER_VALUES, JMS_SYNONYMS, TRANSLATED, spellings


class RefusedError(Exception):
    """A product has no such thing: what, and what people do instead."""


@kept
def _preset(dialect: Dialect) -> str:
    return dialect.departures()[0]


_FIELDS = {field: name for name, field in SAME_FIELDS.items() if name in JMS_SYNONYMS}


def _header_names(dialect: Dialect) -> dict[str, str]:
    return HEADER_NAMES.get(_preset(dialect), {})


def canonical(selector: Selector, *, is_target: bool = False) -> Node:
    """Return the tree of a selector with the names and values that headers have in JMS.

    Raises: RefusedError: it has the name of a header that the product calls otherwise.
    """
    preset = _preset(selector.dialect)
    own = {name: header for header, name in _header_names(selector.dialect).items()}

    def rename(node: Node) -> Node:
        if not isinstance(node, Identifier):
            return node
        name = spellings(selector.names[node.name], selector.naming)[0]
        is_strange = preset in HEADER_NAMES and name in JMS_SYNONYMS and name not in own
        is_field = name.startswith(DESCRIPTOR) and selector.dialect.headers != "mqi"
        if is_field or (is_strange and (is_target or preset not in TRANSLATED)):
            raise RefusedError(f"{name} is no header in {preset}", _instead(name))
        return node._replace(name=own.get(name, _FIELDS.get(name, name)))

    return mapped(mapped(selector.node, _revalued), rename)


def named_in(root: Node, dialect: Dialect) -> Node:
    """Return a canonical tree with the names and values that a product has.

    Raises: RefusedError: it has no such header.
    """
    preset, names = _preset(dialect), _header_names(dialect)

    def rename(node: Node) -> Node:
        if not isinstance(node, Identifier):
            return node
        if node.name.startswith(DESCRIPTOR) and dialect.headers != "mqi":
            raise RefusedError(f"{node.name} is a field of IBM MQ's message descriptor", _COPIED)
        if preset in HEADER_NAMES and node.name in JMS_SYNONYMS and node.name not in names:
            raise RefusedError(f"{preset} offers no {node.name} to selectors", _instead(node.name))
        return node._replace(name=names.get(node.name, node.name))

    return mapped(mapped(root, rename), _revalued)


_COPIED = "let the sender, or a bridge, copy it into a property of its own"
# Of headers whose value no sender knows, and of those that are destinations: what people do instead.
_INSTEAD = {
    "JMSXDeliveryCount": "let the queue move away what was delivered too often, or let the consumer look at it",
    "JMSRedelivered": "let the consumer look at it",
    "JMSDestination": "subscribe to that queue or topic, or let the sender set a property",
    "JMSReplyTo": "let the sender set a property",
}


def _instead(name: str) -> str:
    return _INSTEAD.get(name, _COPIED)


def _revalued(node: Node) -> Node:
    """Return a test of a header with other values as one with the values of JMS, and the other way round."""
    names = names_of(node)
    values = next((HEADER_VALUES[name] for name in names if name in HEADER_VALUES), None)
    place = next((name for name in names if name in DESTINATIONS), None)
    match node:
        case Comparison() | In() | Like() | Call() if place:
            raise RefusedError(f"each product has its own texts for a destination, as in {place}", _instead(place))
        case In() if values:
            return node._replace(choices=tuple([values.get(one, one) for one in node.choices]))
        case Comparison("=" | "<>", Identifier(), Literal("string", value, span)) if values:
            return node._replace(right=Literal("string", values.get(str(value), value), span))
        case Comparison("=" | "<>", Literal("string", value, span), Identifier()) if values:
            return node._replace(left=Literal("string", values.get(str(value), value), span))
        case Comparison("=" | "<>", Identifier(), Literal()) | Comparison("=" | "<>", Literal(), Identifier()):
            return node
        case Comparison() | Like() | Call() | Arithmetic() | Between() if values:
            raise RefusedError(f"{unparse(node)} looks into a header that has other values here", "compare it with =")
    return node


def names_of(node: Node) -> list[str]:
    """List the names of a tree, each once."""
    return [*dict.fromkeys(one.name for one in walk(node) if isinstance(one, Identifier))]


def view(message: Mapping[str, Any], dialect: Dialect | str) -> dict[str, Any]:
    """Return a canonical message as a product sees it."""
    names = _header_names(as_dialect(dialect))
    is_own = _preset(as_dialect(dialect)) not in HEADER_NAMES
    found = {}
    for name, value in message.items():
        own = names.get(name, name)
        if is_own or name in names or name not in JMS_SYNONYMS:
            found[own] = HEADER_VALUES.get(own, {}).get(value, value)
        if _preset(as_dialect(dialect)) in TRANSLATED:
            found[name] = value
        if as_dialect(dialect).headers == "mqi" and name in SAME_FIELDS:
            found[SAME_FIELDS[name]] = value
    return found
