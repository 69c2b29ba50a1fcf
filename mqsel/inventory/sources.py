"""Java, Kotlin and Scala: annotations and calls that take a selector."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from mqsel.inventory.camel import of_uri
from mqsel.inventory.data import is_selector
from mqsel.inventory.entries import Entry, Source
from mqsel.inventory.expressions import NUMBERS, QUERIES, SourceFile, formatted
from mqsel.inventory.pieces import HOLE, Text
from mqsel.inventory.trees import Node, errors_of, matches, tree_of

# ---- rows ----------------------------------------------------------------------------------------------------------


class _Call(NamedTuple):
    """A call that takes a selector.

    Attributes:
        at: the number of the argument, from 0; from the end if negative.
        least: of arguments: with fewer there is no selector.
        destination: the number of that argument; None if there is none.
    """

    at: int
    least: int
    destination: int | None


_SECOND, _THIRD, _PAIR = _Call(1, 2, 0), _Call(2, 3, 0), _Call(1, 2, None)
_CALLS = {
    **dict.fromkeys(("createConsumer", "createReceiver", "createBrowser", "createSubscriber"), _SECOND),
    "createConnectionConsumer": _SECOND,
    **dict.fromkeys(("createDurableSubscriber", "createDurableConsumer"), _THIRD),
    **dict.fromkeys(("createSharedConsumer", "createSharedDurableConsumer"), _THIRD),
    **dict.fromkeys(("createDurableConnectionConsumer", "createSharedConnectionConsumer"), _THIRD),
    "createSharedDurableConnectionConsumer": _THIRD,
    **dict.fromkeys(("setMessageSelector", "messageSelector", "bySql"), _Call(0, 1, None)),
    **dict.fromkeys(("receiveSelected", "receiveSelectedAndConvert"), _Call(-1, 1, 0)),
    **dict.fromkeys(("browseSelected",), _Call(-2, 2, 0)),
    **dict.fromkeys(("setSelector", "withSelector", "selector"), _Call(0, 1, None)),
    "FilterExpression": _Call(0, 2, None),
    "setFilterString": _Call(0, 1, None),
    **dict.fromkeys(("put", "setProperty", "singletonMap"), _PAIR),
}
# Calls that other libraries have, too: what the file then has, and its text must be one of a selector.
_ELSEWHERE = {
    "setSelector": re.compile(r"jms", re.IGNORECASE),
    "withSelector": re.compile(r"jms", re.IGNORECASE),
    "selector": re.compile(r"org\.apache\.camel"),
    "setFilterString": re.compile(r"artemis|hornetq"),
    **dict.fromkeys(("put", "setProperty", "singletonMap"), re.compile(r"elector")),
}
# What the first argument is called where the second one has the selector.
_KEYED = re.compile(r"(x-filter-|x-)?jms[.-]selector|messageSelector")
# Annotations: the argument that has the selector, and those that have the destination.
_ANNOTATIONS = {
    "JmsListener": (("selector",), ("destination",)),
    "JMSListener": (("selector", "messageSelector"), ("destination", "value")),
    "RocketMQMessageListener": (("selectorExpression",), ("topic",)),
    "Queue": (("messageSelector",), ("value",)),
    "Topic": (("messageSelector",), ("value",)),
    "ExtRocketMQConsumerConfiguration": (("selectorExpression",), ("topic",)),
    "ActivationConfigProperty": (("propertyValue",), ()),
}
_LOST = re.compile(rf"\b(?:{'|'.join(sorted({*_CALLS, *_ANNOTATIONS} - _ELSEWHERE.keys()))})\b")
_MESSAGING = re.compile(
    r"(?i)jms|\wmq\b|hornetq|artemis|camel|qpid|receiveSelected|etMessageSelector|create(?:Durable|Shared)"
)


def read(source: Source, kind: str, _: object) -> Iterator[Entry]:
    """Yield the entries of a source file, in its order."""
    language = kind if kind in QUERIES else "java"
    root = tree_of(source, language)
    is_damaged = bool(errors_of(root))  # raises before the queries of a file that is too damaged for them
    file = SourceFile(source, root, language, _CALLS)
    lost = _read_damaged(file) if is_damaged else -1
    found = [*_of_annotations(file), *_of_calls(file)]
    if re.search(r"[?&](?:messageS|s)elector=", source.content):
        end = 0
        for node in sorted(file.strings(), key=lambda node: (node.start_byte, -node.end_byte)):
            if node.start_byte >= end:
                end = node.end_byte
                uri = file.text(node)
                is_format = re.search(r"F\(\s*\Z", source.content[max(0, node.start_byte - 80) : node.start_byte])
                found += of_uri(source, formatted(uri) if is_format else uri, file.owner(node))
    # A constant may be used in another file, or by a call that is not known.
    places = {one.text.span[0] for one in found if one.text is not None}
    for node in file.named if _MESSAGING.search(source.content) else ():
        text = file.text(node)
        if is_selector(text.value) and text.value.count("'") % 2 == 0 and text.span[0] not in places:
            is_like = re.search(r"\blike\b", text.value, re.IGNORECASE)
            found += source.entry(language, file.owner(node), "", text if is_like else formatted(text))
    if lost >= 0 and _MESSAGING.search(source.content):
        found.append(source.damage(language, lost, f"damaged {language.title()}: a selector may be lost here"))
    yield from sorted(found, key=lambda one: (one.line, one.column))


# ---- damage --------------------------------------------------------------------------------------------------------

# Strings, and brackets. A string without an end takes the rest of its line: the end is looked for once.
_BRACKETS = re.compile(r"\"\"\"(?:[^\"]|\"(?!\"\"))*(?:\"\"\")?|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|[()]")
_LONGEST = 10_000  # characters of a call
_MOST = 200  # calls that are read alone, in one file


def _read_damaged(file: SourceFile) -> int:
    """Read each call and annotation that the grammar does not see in a damaged file, as a file of its own.

    Groovy in the grammar of Java, a later version of a language, and a mistake are alike: what is around a call is
    damaged, and the call itself is not.

    Returns: where a call stands of which the selector may be lost; -1 if there is none.
    """
    content, at, tried = file.source.content, 0, 0
    known = {node.start_byte for _, node in [*file.calls, *file.annotations, *_nested(file)]}
    while match := _LOST.search(content, at):
        at = match.end()
        is_call = (
            content[at : at + 1] == "(" and _DEFINED.search(content, max(0, match.start() - 20), match.start()) is None
        )
        if not is_call or at in known:
            continue
        around = file.root.descendant_for_byte_range(match.start(), match.start())
        # A string of many lines may be one that lacks its end.
        if "comment" in around.type or ("string" in around.type and "\n" not in file.said(around)):
            continue
        stop, tried = _end_of_call(content, at), tried + 1
        start = match.start() - (content[match.start() - 1 : match.start()] == "@")
        if stop < 0 or tried > _MOST:
            return match.start()
        call = SourceFile(file.source, tree_of(file.source, file.language, (start, stop)), file.language, _CALLS)
        if not call.calls and not call.annotations and re.search("[\"']", content[start:stop]):
            return match.start()
        file.add(call)
        at = stop
    return -1


_DEFINED = re.compile(r"\b(?:fun|def)\s+\Z")


def _end_of_call(content: str, at: int) -> int:
    """Return where the parenthesis ends that begins at a place; -1 if it does not."""
    depth = 0
    for match in _BRACKETS.finditer(content, at, at + _LONGEST):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return -1


# ---- annotations and calls -----------------------------------------------------------------------------------------


def _named_arguments(file: SourceFile, arguments: Node) -> dict[str, Node]:
    """Return the arguments of an annotation by name; the one without a name is ``value``."""
    named: dict[str, Node] = {}
    for one in arguments.named_children:
        parts = [part for part in one.named_children if "comment" not in part.type]
        if one.type in ("element_value_pair", "assignment_expression") and len(parts) > 1:
            named[file.said(parts[0])] = parts[-1]
        elif one.type == "value_argument" and parts:
            named[file.said(parts[0]) if len(parts) > 1 else "value"] = parts[-1]
        elif "comment" not in one.type:
            named.setdefault("value", one)
    return named


def _of_annotations(file: SourceFile) -> Iterator[Entry]:
    # Kotlin and Scala write nested annotations as calls.
    written = [(name, node, _named_arguments(file, node)) for name, node in [*file.annotations, *_nested(file)]]
    # The properties of one descriptor stand one behind the other within it.
    beans = sorted(
        [(node.start_byte, node.end_byte, given) for name, node, given in written if name == "MessageDriven"],
        key=lambda one: one[0],
    )
    starts = [start for start, *_ in beans]

    def bean_of(node: Node) -> int:
        return bisect_right(starts, node.start_byte) - 1

    of_beans = {
        number: _plain(file.text(given["mappedName"]), file)
        for number, (*_, given) in enumerate(beans)
        if "mappedName" in given
    }
    for name, node, given in written:
        if name == "ActivationConfigProperty" and file.text(given.get("propertyName")).value in _LOOKUPS:
            of_beans[bean_of(node)] = _plain(file.text(given.get("propertyValue")), file)
    for name, node, arguments in written:
        selectors, destinations = _ANNOTATIONS.get(name, (("messageSelector",), ("destination",)))
        if name == "ActivationConfigProperty":
            if file.text(arguments.get("propertyName")).value != "messageSelector":
                continue
            destination = of_beans.get(bean_of(node), "")
        else:
            destination = next(
                (_plain(file.text(arguments[one]), file) for one in destinations if one in arguments), ""
            )
        # Without SQL92 the expression is one of tags.
        is_sql = "selectorType" in arguments and "SQL92" in file.said(arguments["selectorType"])
        if selectors == ("selectorExpression",) and not is_sql:
            continue
        kind = "rocketmq" if is_sql else file.language
        for one in selectors:
            if one in arguments:
                yield from _entry(file, kind, arguments[one], destination, file.owner(node))


_LOOKUPS = ("destination", "destinationLookup", "destinationName")


def _nested(file: SourceFile) -> list[tuple[str, Node]]:
    pattern = {
        "kotlin": "(call_expression (identifier) @name (value_arguments) @annotated)",
        "scala": "(_ . (_) @name arguments: (arguments) @annotated)",
    }.get(file.language)
    if pattern is None or "ActivationConfigProperty" not in file.source.content:
        return []
    found = [(match["name"][0], match["annotated"][0]) for _, match in matches(file.root, file.language, pattern)]
    return [(file.said(name), node) for name, node in found if file.said(name) == "ActivationConfigProperty"]


def _plain(text: Text, file: SourceFile) -> str:
    """Return a destination for people: what is no constant as it is written."""
    return file.source.content[slice(*text.span)] if text.value == HOLE else text.value.replace(HOLE, "…")


def _of_calls(file: SourceFile) -> Iterator[Entry]:
    if not _MESSAGING.search(file.source.content):
        return
    for name, node in file.calls:
        row = _CALLS[name]
        arguments = [
            (one.children[-1] if one.type == "value_argument" else one)
            for one in node.named_children
            if "comment" not in one.type
        ]
        if arguments and row.at < 0 and arguments[-1].type in NUMBERS:  # a timeout
            arguments.pop()
        if len(arguments) < max(row.least, abs(row.at) if row.at < 0 else row.at + 1):
            continue
        wanted = arguments[row.at]
        is_near = row.destination is not None and arguments[row.destination] is not wanted
        destination = _plain(file.text(arguments[row.destination or 0]), file) if is_near else ""
        kind = _OF_PRODUCTS.get(name, file.language)
        if row is _PAIR:
            if (keyed := _KEYED.fullmatch(file.text(arguments[0]).value)) is None:
                continue
            kind = "broker-j" if keyed[1] else kind
        if (wanted.type in _NEVER and "SimpleString" not in file.said(wanted)) or file.is_other(wanted):
            continue
        if name == "FilterExpression" and "SQL92" not in file.said(arguments[1]):
            continue
        elsewhere = _ELSEWHERE.get(name)
        if elsewhere and not (elsewhere.search(file.source.content) and is_selector(file.text(wanted).value)):
            continue
        yield from _entry(file, kind, wanted, destination, file.owner(node))
    for _, target, value in file.given:
        yield from _entry(file, file.language, value, "", file.owner(target))


_OF_PRODUCTS = {"bySql": "rocketmq", "FilterExpression": "rocketmq", "setFilterString": "artemis"}
# What is no text, and so no selector but another object: a lambda, a new object.
_NEVER = frozenset("lambda_expression lambda_literal object_creation_expression class_literal".split())


def _entry(file: SourceFile, kind: str, node: Node, destination: str, key: str) -> Iterator[Entry]:
    text = file.text(node)
    yield from file.source.entry(kind, key, destination, text)
