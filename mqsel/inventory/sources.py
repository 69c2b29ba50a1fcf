"""Java, Kotlin and Scala: annotations and calls that take a selector, and what their expressions are worth.

Strings, concatenations, text blocks and constants of the same file have a value; whatever else stands between them is
a hole. tree-sitter reads all three in one way, with offsets, also what does not compile.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from mqsel.inventory.camel import of_uri
from mqsel.inventory.entries import Entry, Source
from mqsel.inventory.pieces import HOLE, Text, joined
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


_SECOND, _THIRD, _LAST = _Call(1, 2, 0), _Call(2, 3, 0), _Call(-1, 1, None)
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
}
# Annotations: the argument that has the selector, and those that have the destination.
_ANNOTATIONS = {
    "JmsListener": (("selector",), ("destination",)),
    "JMSListener": (("selector", "messageSelector"), ("destination", "value")),
    "RocketMQMessageListener": (("selectorExpression",), ("topic",)),
    "Queue": (("messageSelector",), ("value",)),
    "Topic": (("messageSelector",), ("value",)),
    "ActivationConfigProperty": (("propertyValue",), ()),
}
_QUERIES = {
    "java": """
      (annotation name: (_) @name arguments: (annotation_argument_list) @annotated)
      (method_invocation name: (identifier) @call arguments: (argument_list) @arguments)
      (variable_declarator name: (identifier) @constant value: (_) @value)
      (assignment_expression left: (_) @assigned)
      (class_declaration name: (identifier) @type) @body
      (record_declaration name: (identifier) @type) @body
      (interface_declaration name: (identifier) @type) @body
      (enum_declaration name: (identifier) @type) @body
      (method_declaration name: (identifier) @type) @body
      (formal_parameter name: (identifier) @assigned)
    """,
    "kotlin": """
      (annotation (constructor_invocation (user_type) @name (value_arguments) @annotated))
      (call_expression (navigation_expression (_) (identifier) @call . )
        (value_arguments) @arguments)
      (call_expression (identifier) @call (value_arguments) @arguments)
      (property_declaration (variable_declaration (identifier) @constant) (_) @value .)
      (assignment (_) @assigned (_) @given)
      (class_declaration name: (identifier) @type) @body
      (object_declaration name: (identifier) @type) @body
      (function_declaration name: (identifier) @type) @body
      (parameter (identifier) @assigned)
    """,
    "scala": """
      (annotation name: (_) @name arguments: (arguments) @annotated)
      (call_expression function: (field_expression field: (identifier) @call)
        arguments: (arguments) @arguments)
      (call_expression function: (identifier) @call arguments: (arguments) @arguments)
      (val_definition pattern: (identifier) @constant value: (_) @value)
      (var_definition pattern: (identifier) @assigned)
      (class_definition name: (identifier) @type) @body
      (object_definition name: (identifier) @type) @body
      (trait_definition name: (identifier) @type) @body
      (function_definition name: (identifier) @type) @body
      (parameter name: (identifier) @assigned)
    """,
}
# Strings, and sums of which they are parts.
_STRINGS = {
    "java": "[(string_literal) (binary_expression)] @string",
    "kotlin": "[(string_literal) (multiline_string_literal) (binary_expression)] @string",
    "scala": "[(string) (interpolated_string_expression) (infix_expression)] @string",
}
_LOST = re.compile(rf"\b(?:{'|'.join([*_CALLS, *_ANNOTATIONS])})\b")
_MESSAGING = re.compile(
    r"jms|rocketmq|createBrowser|receiveSelected|etMessageSelector|createDurable|createShared", re.IGNORECASE
)


def read(source: Source, kind: str, _: object) -> Iterator[Entry]:
    """Yield the entries of a source file, in its order."""
    language = kind if kind in _QUERIES else "java"
    root = tree_of(source, language)
    errors = errors_of(root)
    file = _File(source, root, language)
    found = [*_of_annotations(file), *_of_calls(file)]
    if re.search(r"[?&]selector=", source.content):
        end = 0
        for node in sorted(file.strings(), key=lambda node: (node.start_byte, -node.end_byte)):
            if node.start_byte >= end:
                end = node.end_byte
                found += of_uri(source, file.text(node), file.owner(node))
    # A place that the grammar does not know is no matter, unless a selector may have been lost in it.
    places = [one.text.span[0] for one in found if one.text is not None]
    for node in errors:
        start, stop = node.start_byte, node.end_byte
        if _LOST.search(source.content, start, stop) and not any(start <= at < stop for at in places):
            found.append(source.damage(language, start, f"damaged {language.title()}: a selector may be lost here"))
            break
    yield from sorted(found, key=lambda one: (one.line, one.column))


class _File:
    """A source file, and what its names are worth.

    Args:
        source: the file.
        root: of its tree.
        language: a row of `_QUERIES`.
    """

    def __init__(self, source: Source, root: Node, language: str) -> None:
        self.source = source
        self.root = root
        self.language = language
        self.annotations: list[tuple[str, Node]] = []
        self.calls: list[tuple[str, Node]] = []
        self.given: list[tuple[str, Node, Node]] = []
        self._constants: dict[str, Node | None] = {}
        self._values: dict[str, Text] = {}
        self._owners: list[tuple[int, int, str]] = []
        assigned: list[str] = []
        for _, match in matches(root, language, _QUERIES[language]):
            one = {name: nodes[0] for name, nodes in match.items()}
            if "annotated" in one:
                self.annotations.append((self.said(one["name"]).rpartition(".")[2], one["annotated"]))
            elif "arguments" in one:
                name = self.said(one["call"])
                if name in _CALLS:
                    self.calls.append((name, one["arguments"]))
            elif "constant" in one:
                name = self.said(one["constant"])
                # A name that has two values in a file has neither.
                self._constants[name] = None if name in self._constants else one["value"]
            elif "assigned" in one:
                name = self.said(one["assigned"]).rpartition(".")[2]
                if "given" in one and name == "messageSelector":
                    self.given.append((name, one["assigned"], one["given"]))
                assigned.append(name)
            elif "type" in one:
                body = one["body"]
                self._owners.append((body.start_byte, body.end_byte, self.said(one["type"])))
        self._constants |= {name: None for name in assigned if name in self._constants}
        self._owners.sort()
        self._starts = [start for start, *_ in self._owners]

    def said(self, node: Node) -> str:
        """Return what a node is in the file."""
        return self.source.content[node.start_byte : node.end_byte]

    def owner(self, node: Node) -> str:
        """Return the class and the method that a node stands in."""
        at = node.start_byte
        around: list[str] = []
        number = bisect_right(self._starts, at) - 1
        for start, stop, name in self._owners[max(0, number - _LOOKED_BACK) : number + 1]:
            if start <= at < stop:
                around.append(name)
        return ".".join(around)

    def strings(self) -> list[Node]:
        """List the string literals."""
        return [
            node for _, match in matches(self.root, self.language, _STRINGS[self.language]) for node in match["string"]
        ]

    def text(self, node: Node | None, depth: int = 0) -> Text:
        """Return what an expression is worth; `HOLE` stands for what cannot be known."""
        if node is None or depth > _DEEPEST:
            return Text("") if node is None else self._hole(node)
        kind = node.type
        if kind in ("binary_expression", "additive_expression", "infix_expression"):
            return self._sum(node, depth)
        if kind in (
            "string_literal",
            "string",
            "multiline_string_literal",
            "character_literal",
            "interpolated_string_expression",
        ):
            return self._string(node, depth)
        if kind in ("parenthesized_expression", "line_string_content") and node.named_children:
            return self.text(node.named_children[0], depth + 1)
        if kind in ("collection_literal", "element_value_array_initializer", "array_initializer"):
            return self.text(node.named_children[0], depth + 1) if node.named_children else Text("")
        if kind in ("null_literal", "null"):
            return Text("")
        if kind in ("identifier", "field_access", "navigation_expression", "field_expression", "simple_identifier"):
            return self._named(node, depth)
        if kind in ("decimal_integer_literal", "integer_literal", "number_literal", "boolean_literal", "true", "false"):
            return self.source.text(node.start_byte, node.end_byte)
        if kind in ("method_invocation", "call_expression"):
            return self._adjusted(node, depth)
        return self._hole(node)

    def _hole(self, node: Node) -> Text:
        return self.source.text(node.start_byte, node.end_byte).replaced(HOLE)

    def _sum(self, node: Node, depth: int) -> Text:
        """Return a concatenation: the tree leans to the left, as deep as it has signs."""
        parts: list[Text] = []
        at = node
        while at.type == node.type and len(inside := [one for one in at.children if "comment" not in one.type]) == 3:
            left, sign, right = inside
            if self.said(sign) != "+":
                parts.append(self._hole(at))
                return joined(parts[::-1])
            parts.append(self.text(right, depth + 1) if right.type not in _NULL else self._hole(right))
            at = left
        parts.append(self.text(at, depth + 1))
        return joined(parts[::-1])

    def _named(self, node: Node, depth: int) -> Text:
        name = self.said(node).rpartition(".")[2]
        if name == "stripMargin" or self._constants.get(name) is None:
            return self._adjusted(node, depth) if name == "stripMargin" else self._hole(node)
        if name not in self._values:
            self._values[name] = self._hole(node)  # what is defined by itself
            self._values[name] = self.text(self._constants[name], depth + 1)
        return self._values[name]

    def _adjusted(self, node: Node, depth: int) -> Text:
        """Return a text block whose margin a method takes away; another call is a hole."""
        content = self.said(node)
        method = re.search(
            r"\.\s*(trimIndent|trimMargin|stripMargin|stripIndent|trim|strip|intern)\s*(?:\(\s*\))?\s*$", content
        )
        if method is None or not node.named_children:
            if self.language == "scala" and content.startswith("Array(") and len(node.named_children) == 2:
                inside = node.named_children[1].named_children
                return self.text(inside[0], depth + 1) if inside else Text("")
            return self._hole(node)
        receiver = node.named_children[0]
        while receiver.type in ("navigation_expression", "field_expression") and receiver.named_children:
            receiver = receiver.named_children[0]
        text = self.text(receiver, depth + 1)
        if method[1] in ("trimMargin", "stripMargin"):
            return _without(text, _MARGIN)
        return _unindented(text) if method[1] in ("trimIndent", "stripIndent") else text.stripped()

    def _string(self, node: Node, depth: int) -> Text:
        content, start, stop = self.source.content, node.start_byte, node.end_byte
        is_interpolated = self.language == "kotlin"
        if node.type == "interpolated_string_expression":
            is_interpolated = True
            start = content.find('"', start, stop)
        mark = '"""' if content.startswith('"""', start) and stop - start >= 6 else content[start : start + 1]
        start, stop = start + len(mark), max(start + len(mark), stop - len(mark))
        writing = _WRITINGS[self.language, "block" if mark == '"""' else "string"]
        if node.type == "interpolated_string_expression" and writing == "java":
            writing = "scala interpolated"
        parts: list[Text] = []
        for begin, end, inside in self._interpolations(node) if is_interpolated else ():
            parts.append(self.source.text(start, begin).decoded(writing))
            worth = self.text(inside, depth + 1) if inside is not None else Text(HOLE)
            hole = self.source.text(begin, end).replaced(HOLE)
            parts.append(hole if HOLE in worth.value else worth)
            start = end
        parts.append(self.source.text(start, max(start, stop)).decoded(writing))
        whole = joined(parts)
        return self._block(whole) if writing == "java block" else whole

    def _interpolations(self, node: Node) -> Iterator[tuple[int, int, Node | None]]:
        """Yield what is put into a string: its span, and the expression if it is one."""
        at = node.start_byte
        for one in [*node.named_children, None]:
            if one is not None and one.type == "interpolated_string":
                yield from self._interpolations(one)
            elif one is None or one.type == "interpolation":
                # The grammar of Kotlin sees only those in braces; nothing else has a simple one here.
                end = node.end_byte if one is None else one.start_byte
                for match in _SIMPLE.finditer(self.source.content, at, end) if self.language == "kotlin" else ():
                    yield match.start(), match.end(), self._constants.get(match[1])
                if one is not None:
                    inside = one.named_children
                    yield one.start_byte, one.end_byte, inside[0] if len(inside) == 1 else None
                    at = one.end_byte

    def _block(self, text: Text) -> Text:
        """Return a text block of Java without what only lays it out."""
        head = re.match(r"[ \t\f]*\r?\n", text.value)
        return _unindented(text[head.end() :] if head else text)


# How strings are written; blocks that no language unescapes are lines as they stand.
_WRITINGS = {
    ("java", "string"): "java",
    ("java", "block"): "java block",
    ("kotlin", "string"): "kotlin",
    ("kotlin", "block"): "lines",
    ("scala", "string"): "java",
    ("scala", "block"): "lines",
}
_SIMPLE = re.compile(r"(?<!\\)\$([A-Za-z_]\w*)")
_LOOKED_BACK = 200  # definitions before a place, among which the ones around it are
_DEEPEST = 60  # constants within constants
_NULL = ("null_literal", "null")
_MARGIN = re.compile(r"^[ \t]*\|", re.MULTILINE)


def _without(text: Text, pattern: re.Pattern[str]) -> Text:
    made, at = [], 0
    for match in pattern.finditer(text.value):
        made.append(text[at : match.start()])
        at = match.end()
    return joined([*made, text[at:]]).stripped().decoded("margin")


def _unindented(text: Text) -> Text:
    lines = [line for line in text.value.split("\n") if line.strip()]
    indent = min([len(line) - len(line.lstrip()) for line in lines], default=0)
    margin = re.compile(rf"^[ \t]{{1,{indent}}}" if indent else r"(?!)", re.MULTILINE)
    return _without(text, margin)


# ---- annotations and calls -----------------------------------------------------------------------------------------


def _named_arguments(file: _File, arguments: Node) -> dict[str, Node]:
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


def _of_annotations(file: _File) -> Iterator[Entry]:
    # The properties of one descriptor stand one behind the other within it.
    around: list[tuple[int, int, str]] = []
    for name, node in file.annotations:
        if name == "MessageDriven":
            for pair in re.finditer(r'"destination(?:Lookup|Name)?"', file.said(node)):
                after = file.source.content[node.start_byte + pair.end() : node.end_byte]
                value = re.match(r'\s*,\s*(?:propertyValue\s*=\s*)?"([^"]*)"', after)
                if value:
                    around.append((node.start_byte, node.end_byte, value[1]))
                    break
    # Kotlin and Scala write nested annotations as calls.
    nested = _nested(file)
    for name, node in [*file.annotations, *nested]:
        selectors, destinations = _ANNOTATIONS.get(name, (("messageSelector",), ("destination",)))
        arguments = _named_arguments(file, node)
        if name == "ActivationConfigProperty":
            if file.text(arguments.get("propertyName")).value != "messageSelector":
                continue
            destination = next((value for start, stop, value in around if start <= node.start_byte < stop), "")
        else:
            destination = next(
                (_plain(file.text(arguments[one]), file) for one in destinations if one in arguments), ""
            )
        # Without SQL92 the expression is one of tags.
        is_sql = "selectorType" in arguments and "SQL92" in file.said(arguments["selectorType"])
        if name == "RocketMQMessageListener" and not is_sql:
            continue
        kind = "rocketmq" if name == "RocketMQMessageListener" else file.language
        for one in selectors:
            if one in arguments:
                yield from _entry(file, kind, arguments[one], destination, file.owner(node))


def _nested(file: _File) -> list[tuple[str, Node]]:
    pattern = {
        "kotlin": "(call_expression (identifier) @name (value_arguments) @annotated)",
        "scala": "(_ . (_) @name arguments: (arguments) @annotated)",
    }.get(file.language)
    if pattern is None or "ActivationConfigProperty" not in file.source.content:
        return []
    found = [(match["name"][0], match["annotated"][0]) for _, match in matches(file.root, file.language, pattern)]
    return [(file.said(name), node) for name, node in found if file.said(name) == "ActivationConfigProperty"]


def _plain(text: Text, file: _File) -> str:
    """Return a destination for people: what is no constant as it is written."""
    return file.source.content[slice(*text.span)] if text.value == HOLE else text.value.replace(HOLE, "…")


def _of_calls(file: _File) -> Iterator[Entry]:
    if not _MESSAGING.search(file.source.content):
        return
    for name, node in file.calls:
        row = _CALLS[name]
        arguments = [
            (one.named_children[-1] if one.type == "value_argument" and one.named_children else one)
            for one in node.named_children
            if "comment" not in one.type
        ]
        if len(arguments) < max(row.least, abs(row.at) if row.at < 0 else row.at + 1):
            continue
        wanted = arguments[row.at]
        is_near = row.destination is not None and arguments[row.destination] is not wanted
        destination = _plain(file.text(arguments[row.destination or 0]), file) if is_near else ""
        kind = "rocketmq" if name == "bySql" else file.language
        if wanted.type in _NEVER:
            continue
        yield from _entry(file, kind, wanted, destination, file.owner(node))
    for _, target, value in file.given:
        yield from _entry(file, file.language, value, "", file.owner(target))


# What is no text, and so no selector but a flag or another object: a Boolean for noLocal, a lambda, a new object.
_NEVER = {
    "true",
    "false",
    "boolean_literal",
    "lambda_expression",
    "lambda_literal",
    "object_creation_expression",
    "class_literal",
}


def _entry(file: _File, kind: str, node: Node, destination: str, key: str) -> Iterator[Entry]:
    text = file.text(node)
    yield from file.source.entry(kind, key, destination, text)
