"""XML: the brokers' configurations, deployment descriptors, Spring and Camel.

Elements come from a tree that resolves no entity and fetches nothing; an entity that is none of the five
of XML stays in the text as it is written.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mqsel.inventory.camel import of_uri
from mqsel.inventory.entries import Entry, Source
from mqsel.inventory.pieces import Once, Text, joined
from mqsel.inventory.trees import Node, errors_of, tree_of

# Elements in which the properties of a bean, or of a descriptor, stand.
_HOLDERS = {"activation-config", "activation-config-property", "config-property", "property", "properties", "value"}


class Element:
    """An element: its name, attributes, children, and the text that stands directly in it; names without prefix.

    A file may have any number of selectors within one element. So the values of an element are found once, when the
    whole file has been read.

    Attributes:
        address: the name of the nearest element `address` among those around it and itself; None if there is none.
        bean: the element that a property is of, if this one stands in a property.
        named: the name that stands nearest, of this element or one around it; None as long as nobody has asked.
    """

    def __init__(self, name: str, attributes: dict[str, Text], parent: Element | None) -> None:
        self.prefix, _, self.name = name.rpartition(":")
        self.attributes = attributes
        self.parent = parent
        self.children: list[Element] = []
        self.texts: list[Text] = []
        self.address: Element | None = self if self.name == "address" else parent and parent.address
        self.bean: Element = parent.bean if parent and parent.parent and parent.name in _HOLDERS else parent or self
        self.named: str | None = None

    @Once
    def text(self) -> Text:
        return joined(self.texts).stripped()

    @Once
    def texts_of_children(self) -> dict[str, str]:
        """The texts of the children, by name; of several children of a name the first text."""
        texts: dict[str, str] = {}
        for child in self.children:
            if child.text:
                texts.setdefault(child.name, child.text.value)
        return texts

    def value(self, *names: str) -> str:
        """Return the first attribute, or child with a text, of some names."""
        for name in names:
            if self.attributes.get(name):
                return self.attributes[name].value
            if name in self.texts_of_children:
                return self.texts_of_children[name]
        return ""

    @Once
    def parameter(self) -> str:
        """The name of the parameter, or the property, whose name and value are among the children."""
        return next((one.text.value for one in self.children if one.name.endswith(("property-name", "param-name"))), "")

    @Once
    def destination(self) -> str:
        """The destination that stands among the properties of a bean, or of a descriptor."""
        waiting = deque(self.children)
        while waiting:
            element = waiting.popleft()
            texts = element.texts_of_children
            name = element.value("name") or next((texts[one] for one in texts if one.endswith("-name")), "")
            if name.lower() in _DESTINATIONS:
                return element.value("value", "ref") or next(
                    (texts[one] for one in texts if one.endswith("-value")), ""
                )
            if element.name == "activation-config":
                waiting += element.children
        return ""


_DESTINATIONS = ("destination", "destinationlookup", "destinationname")


def read(source: Source, kind: str, _: object) -> Iterator[Entry]:
    """Yield the entries of the elements of a file."""
    root = tree_of(source, "xml")
    for element in _elements(source, root):
        yield from _of_element(source, element, kind)
    for error in errors_of(root)[:1]:
        yield source.damage(kind, error.start_byte, "damaged XML: what else there is was read")


def _elements(source: Source, root: Node) -> list[Element]:
    """List the elements of a tree in the order of the file, however deep and damaged it is."""
    top = Element("", {}, None)
    listed, opened = [], [top]
    cursor = root.walk()
    depth, levels = 0, [0]
    while True:
        node = cursor.node
        while levels[-1] > depth:
            levels.pop()
            opened.pop()
        if node.type in ("STag", "EmptyElemTag"):
            element = _element(source, node, opened[-1])
            listed.append(element)
            opened[-1].children.append(element)
            if node.type == "STag":
                opened.append(element)
                levels.append(depth)
        elif node.type in _TEXTS and len(opened) > 1:
            text = source.text(node.start_byte, node.end_byte)
            opened[-1].texts.append(text.decoded("cdata" if node.type == "CData" else "xml"))
        elif node.type == "ETag" and len(opened) > 1:
            opened.pop()
            levels.pop()
        if node.type not in _WHOLE and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return listed
            depth -= 1


_TEXTS = {"CharData", "CData", "EntityRef", "CharRef"}
_WHOLE = {"STag", "EmptyElemTag", "ETag", "EntityRef", "CharRef", "Comment", "PI", "doctypedecl"}


def _element(source: Source, tag: Node, parent: Element) -> Element:
    name, attributes = "", {}
    for node in tag.named_children:
        if node.type == "Name":
            name = source.content[node.start_byte : node.end_byte]
        elif node.type == "Attribute" and len(node.named_children) > 1:
            called, value = node.named_children[0], node.named_children[-1]
            text = source.text(value.start_byte + 1, max(value.start_byte + 1, value.end_byte - 1))
            called_local = source.content[called.start_byte : called.end_byte].rpartition(":")[2]
            mark = source.content[value.start_byte : value.start_byte + 1]
            attributes[called_local] = text.decoded("xml '" if mark == "'" else 'xml "')
    return Element(name, attributes, parent)


# ---- rows ----------------------------------------------------------------------------------------------------------


def _of_element(source: Source, element: Element, kind: str) -> Iterator[Entry]:
    row = next((row for row in _PLACES if row.element.fullmatch(element.name) and row.holds(element)), None)
    if row is not None:
        text = element.attributes.get(row.attribute) if row.attribute else element.text
        if text is not None:
            owner = row.owner(element)
            key = owner.value(*row.name) or _named_above(owner)
            destination = owner.value(*row.destination) or owner.destination
            yield from source.entry(row.kind or kind, key, destination or _address(owner), text)
            return
    for text in element.attributes.values():
        if "elector=" in text.value:
            yield from of_uri(source, text, _named_above(element))
    if any("elector=" in text.value for text in element.texts):
        yield from of_uri(source, element.text, _named_above(element))


def _named_above(element: Element) -> str:
    """Return the name of the nearest of an element and those around it that has one."""
    unnamed: list[Element] = []
    at: Element | None = element
    while at is not None and at.named is None:
        at.named = at.value("name", "id", "ejb-name", "ref", "method") or None
        if at.named is None:
            unnamed.append(at)
            at = at.parent
    named = at.named if at is not None and at.named is not None else ""
    for one in unnamed:
        one.named = named
    return named


def _address(element: Element) -> str:
    """Return the address that a queue stands in, or its own name, which then is the address, too."""
    return (element.address or element).value("name") if element.name == "queue" else ""


def _parent(element: Element) -> Element:
    return element.parent or element


def _is_selector(element: Element) -> bool:
    """Report whether a property of a bean or a descriptor is that of a selector."""
    name = element.attributes["name"].value if "name" in element.attributes else _parent(element).parameter
    return name.strip() in ("messageSelector", "MessageSelector", "selector", "message-selector")


def _property_value(element: Element) -> bool:
    """Report whether an element is the text in a property of that name."""
    parent = element.parent
    return parent is not None and parent.name == "property" and _is_selector(parent)


def _is_artemis(element: Element) -> bool:
    """Report whether a filter stands in a queue, a divert or a bridge: servlets and views of Odoo have some, too."""
    return _parent(element).name in ("queue", "divert", "bridge", "anycast", "multicast", "federation", "jms-bridge")


class _Place(NamedTuple):
    """Where a selector stands in XML.

    Attributes:
        element: the local name, matched whole.
        attribute: that has the selector; empty for the text of the element.
        kind: of the entry; empty for the kind of the file.
        name, destination: attributes and children of the owner that have its name and its destination.
        owner: returns the element that key and destination are of.
        holds: tells the element from others of its name.
    """

    element: re.Pattern[str]
    attribute: str
    kind: str
    name: list[str]
    destination: list[str]
    owner: Callable[[Element], Element]
    holds: Callable[[Element], bool]


def _row(
    element: str,
    attribute: str,
    kind: str,
    name: str,
    destination: str,
    owner: Callable[[Element], Element] = lambda one: one,
    holds: Callable[[Element], bool] | None = None,
) -> _Place:
    has_it = holds or (lambda one: not attribute or attribute in one.attributes)
    return _Place(re.compile(element), attribute, kind, name.split(), destination.split(), owner, has_it)


_PLACES = (
    _row("filter|selector", "string", "artemis", "name", "address queue-name source-queue", _parent, _is_artemis),
    _row(
        "filter", "", "artemis", "name", "address queue-name", _parent, lambda one: bool(one.text) and _is_artemis(one)
    ),
    _row("queue-binding|queue", "filter-string", "artemis", "name", "address"),
    _row("queue|divert|bridge", "filter", "artemis", "name", "address divert-address queue-name"),
    _row("jms-queue|jms-bridge", "selector", "artemis", "name", ""),
    _row("filteredDestination", "selector", "activemq", "name queue topic", "queue topic"),
    _row(
        r"(?:in|out)bound(?:Queue|Topic)Bridge",
        "selector",
        "activemq",
        "name inboundQueueName outboundQueueName inboundTopicName outboundTopicName",
        "inboundQueueName inboundTopicName outboundQueueName outboundTopicName",
    ),
    _row(
        "selector",
        "",
        "ejb",
        "name",
        "source-destination",
        owner=_parent,
        holds=lambda one: _parent(one).name == "messaging-bridge",
    ),
    _row(
        "message-selector",
        "",
        "ejb",
        "ejb-name name",
        "destination-name destination-jndi-name message-destination-link",
        owner=_parent,
    ),
    _row(
        r"(?:activation-config-property|config-property|init-param|param)-value",
        "",
        "ejb",
        "ejb-name name activationspec-class",
        "message-destination-link",
        owner=lambda one: one.bean,
        holds=_is_selector,
    ),
    _row(
        "property|config-property",
        "value",
        "",
        "id name",
        "",
        owner=lambda one: one.bean,
        holds=lambda one: "value" in one.attributes and _is_selector(one) and one.bean.name != "message",
    ),
    _row("config-property", "", "ejb", "id class-name", "", owner=lambda one: one.bean, holds=_is_selector),
    _row("value", "", "spring", "id name", "", owner=lambda one: _parent(one).bean, holds=_property_value),
    _row(".*listener|jms-message-filter", "selector", "spring", "id ref method", "destination dest-name"),
    _row(
        ".*(?:channel-adapter|gateway)",
        "selector",
        "spring",
        "id channel",
        "destination-name destination request-destination-name request-destination",
    ),
    _row(
        ".*",
        "selector",
        "spring",
        "id name",
        "destination",
        holds=lambda one: "selector" in one.attributes and "jms" in one.prefix,
    ),
    _row("selector", "expression", "spring", "name", "destination", owner=_parent),
    _row(".*", "messageSelector", "", "id name", "destinationRef destination destinationName destination-name"),
    _row(".*", "message-selector", "", "id name", "destination destination-name"),
)
