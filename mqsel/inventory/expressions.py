"""What expressions of Java, Kotlin and Scala are worth, as far as their own file has it.

Strings, concatenations, formats, text blocks and constants have a value; whatever else stands between them is a hole.
tree-sitter reads all three languages in one way, with offsets, also what does not compile.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from itertools import chain
from typing import NamedTuple

from mqsel.inventory.entries import Source
from mqsel.inventory.pieces import HOLE, Text, joined
from mqsel.inventory.trees import Node, matches

QUERIES = {
    "java": """
      (annotation name: (_) @name arguments: (annotation_argument_list) @annotated)
      (method_invocation name: (identifier) @call arguments: (argument_list) @arguments)
      (object_creation_expression type: (type_identifier) @call arguments: (argument_list) @arguments)
      (variable_declarator name: (identifier) @constant value: (_) @value)
      (variable_declarator name: (identifier) @unknown !value)
      (assignment_expression left: (_) @assigned)
      (class_declaration name: (identifier) @type) @body
      (record_declaration name: (identifier) @type) @body
      (interface_declaration name: (identifier) @type) @body
      (enum_declaration name: (identifier) @type) @body
      (method_declaration name: (identifier) @method) @body
      (constructor_declaration name: (identifier) @method) @body
      [(block) (lambda_expression)] @body
      (formal_parameter name: (identifier) @unknown)
      (lambda_expression parameters: (identifier) @unknown)
      (enhanced_for_statement name: (identifier) @unknown)
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
      (function_declaration name: (identifier) @method) @body
      [(block) (lambda_literal)] @body
      (parameter (identifier) @unknown)
    """,
    "scala": """
      (annotation name: (_) @name arguments: (arguments) @annotated)
      (call_expression function: (field_expression field: (identifier) @call)
        arguments: (arguments) @arguments)
      (call_expression function: (identifier) @call arguments: (arguments) @arguments)
      (assignment_expression left: (field_expression field: (identifier) @assigned) right: (_) @given)
      (val_definition pattern: (identifier) @constant value: (_) @value)
      (var_definition pattern: (identifier) @unknown)
      (class_definition name: (identifier) @type) @body
      (object_definition name: (identifier) @type) @body
      (trait_definition name: (identifier) @type) @body
      (function_definition name: (identifier) @method) @body
      [(block) (lambda_expression)] @body
      (parameter name: (identifier) @unknown)
    """,
}
# Strings, and sums of which they are parts.
_STRINGS = {
    "java": "[(string_literal) (binary_expression)] @string",
    "kotlin": "[(string_literal) (multiline_string_literal) (binary_expression)] @string",
    "scala": "[(string) (interpolated_string_expression) (infix_expression)] @string",
}


class _Scope(NamedTuple):
    """A class, a method or a block, in which names are defined.

    Attributes:
        start, stop: of the file.
        kind: "type", "method"; empty for a block.
        name: of the class or the method.
        parent: the number of the scope around it; -1 for the file.
    """

    start: int
    stop: int
    kind: str
    name: str
    parent: int


def _nested_scopes(scopes: list[_Scope]) -> list[_Scope]:
    """Return scopes in the order of the file, each with the number of the one around it."""
    nested: list[_Scope] = []
    around: list[int] = []
    for one in sorted(scopes, key=lambda one: (one.start, -one.stop)):
        while around and nested[around[-1]].stop <= one.start:
            around.pop()
        nested.append(one._replace(parent=around[-1] if around else -1))
        around.append(len(nested) - 1)
    return nested


class SourceFile:
    """A source file, and what its names are worth.

    Args:
        source: the file.
        root: of its tree.
        language: a row of `QUERIES`.
        calls: the names of those that are wanted.

    Attributes:
        annotations, calls: the name of each, and its arguments.
        given: assignments of a property ``messageSelector``: its name, the target, and the value.
        named: what names that end in selector are defined as.
    """

    def __init__(self, source: Source, root: Node, language: str, calls: Container[str]) -> None:
        self.source = source
        self.root = root
        self.language = language
        self.annotations: list[tuple[str, Node]] = []
        self.calls: list[tuple[str, Node]] = []
        self.given: list[tuple[str, Node, Node]] = []
        self._values: dict[int, Text] = {}
        defined: list[tuple[Node, Node | None]] = []
        assigned: list[Node] = []
        scopes: list[_Scope] = []
        for _, match in matches(root, language, QUERIES[language]):
            named = {name: nodes[0] for name, nodes in match.items()}
            if "annotated" in named:
                self.annotations.append((self.said(named["name"]).rpartition(".")[2], named["annotated"]))
            elif "arguments" in named:
                name = self.said(named["call"])
                if name in calls:
                    self.calls.append((name, named["arguments"]))
            elif "constant" in named:
                defined.append((named["constant"], named["value"]))
            elif "unknown" in named:
                defined.append((named["unknown"], None))
            elif "assigned" in named:
                if "given" in named and self.said(named["assigned"]).rpartition(".")[2] == "messageSelector":
                    self.given.append(("messageSelector", named["assigned"], named["given"]))
                assigned.append(named["assigned"])
            else:
                body, kind = named["body"], next((kind for kind in ("type", "method") if kind in named), "")
                scopes.append(_Scope(body.start_byte, body.end_byte, kind, self.said(named[kind]) if kind else "", -1))
        self.named = [value for node, value in defined if value is not None and _SELECTOR.fullmatch(self.said(node))]
        self._scopes = _nested_scopes(scopes)
        self._starts = [scope.start for scope in self._scopes]
        # Of each name its definitions: the scope, and the value if it has one that stays.
        self._defined: dict[str, dict[int, Node | None]] = {}
        # Of each name the classes that define it, with the numbers of their scopes.
        self._types: dict[str, dict[str, list[int]]] = {}
        # Of each name the scopes in which it is declared as a number, a flag or a character.
        self._others: dict[str, set[int]] = {}
        for node, value in defined:
            rows = self._defined.setdefault(self.said(node), {})
            scope = next(self._around(node.start_byte), -1)
            if self._is_declared_other(node):
                self._others.setdefault(self.said(node), set()).add(scope)
            if self._is_type(scope) and scope not in rows:
                self._types.setdefault(self.said(node), {}).setdefault(self._scopes[scope].name, []).append(scope)
            rows[scope] = None if scope in rows else value
        for node in assigned:
            name, assigned_in = self._definition(self.said(node), node.start_byte)
            if assigned_in is not None:
                self._defined[name][assigned_in] = None

    def add(self, part: SourceFile) -> None:
        """Add the calls and annotations of a part of the file that was read alone; names are those of the file."""
        known = {node.start_byte for _, node in [*self.calls, *self.annotations]}
        self.calls += [row for row in part.calls if row[1].start_byte not in known]
        self.annotations += [row for row in part.annotations if row[1].start_byte not in known]

    def said(self, node: Node) -> str:
        """Return what a node is in the file."""
        return self.source.content[node.start_byte : node.end_byte]

    def owner(self, node: Node) -> str:
        """Return the class and the method that a node stands in."""
        around = [self._scopes[number].name for number in self._around(node.start_byte)]
        return ".".join([name for name in reversed(around) if name])

    def _around(self, at: int) -> Iterator[int]:
        """Yield the numbers of the scopes around a place, from the innermost to the outermost."""
        number = bisect_right(self._starts, at) - 1
        for _ in range(_DEEPEST_SCOPE):
            if number < 0:
                return
            if at < self._scopes[number].stop:
                yield number
            number = self._scopes[number].parent

    def _definition(self, name: str, at: int) -> tuple[str, int | None]:
        """Return the last part of a name, and in which scope it is defined that is used in a place; None if in none.

        What a class inherits stands in another one: a name that is found nowhere around is that of the one class that
        defines it.
        """
        qualifier, _, last = name.rpartition(".")
        rows, types = self._defined.get(last, {}), self._types.get(last, {})
        owner = qualifier.rpartition(".")[2]
        numbers = types.get(owner, [])
        if owner in ("this", "super", ""):
            for number in chain(self._around(at), [-1]):
                if number in rows and (not owner or self._is_type(number)):
                    return last, number
            numbers = next(iter(types.values())) if len(types) == 1 else []
        return last, numbers[0] if len(numbers) == 1 else None

    def _is_type(self, number: int) -> bool:
        return number >= 0 and self._scopes[number].kind == "type"

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
        if kind in _LITERALS:
            return self._string(node, depth)
        if kind in ("parenthesized_expression", "line_string_content") and node.named_children:
            return self.text(node.named_children[0], depth + 1)
        if kind in ("collection_literal", "element_value_array_initializer", "array_initializer"):
            return self.text(node.named_children[0], depth + 1) if node.named_children else Text("")
        if kind in ("null_literal", "null"):
            return Text("")
        if kind in _NAMES:
            return self._named(node, depth)
        if kind in NUMBERS:
            is_decimal = _DECIMAL.fullmatch(self.said(node))
            text = self.source.text(node.start_byte, node.end_byte)
            return text.replaced(is_decimal[1].replace("_", "")) if is_decimal else self._hole(node)
        if kind in ("boolean_literal", "true", "false"):
            return self.source.text(node.start_byte, node.end_byte)
        if _WRAPPED.match(self.source.content, node.start_byte, node.end_byte):
            return self.text((node.named_children[-1].named_children or [None])[0], depth + 1)
        if kind in ("method_invocation", "call_expression"):
            return self._adjusted(node, depth)
        return self._hole(node)

    def _hole(self, node: Node) -> Text:
        return self.source.text(node.start_byte, node.end_byte).replaced(HOLE)

    def _sum(self, node: Node, depth: int) -> Text:
        """Return a concatenation: the tree leans to the left, as deep as it has signs."""
        operands: list[Node] = []
        at = node
        while at.type == node.type and len(inside := [one for one in at.children if "comment" not in one.type]) == 3:
            if self.said(inside[1]) != "+":
                break
            operands.append(inside[2])
            at = inside[0]
        holes = (*_NULL, node.type)
        operands = [at, *operands[::-1]]
        parts = [self._hole(one) if one.type in holes else self.text(one, depth + 1) for one in operands]
        # Numbers in front of the first string are added.
        count = next((number for number, one in enumerate(operands) if not self._is_number(one)), len(operands))
        if count > 1:
            parts[:count] = [self.source.text(at.start_byte, operands[count - 1].end_byte).replaced(HOLE)]
        return self._glued(node, parts)

    def _glued(self, node: Node, parts: list[Text]) -> Text:
        """Return parts one behind the other: constants of constants may double in length at each step."""
        return joined(parts) if sum([len(one.value) for one in parts]) <= _LONGEST else self._hole(node)

    def _is_number(self, node: Node) -> bool:
        """Report whether an expression is a number or a character, also by a name."""
        *_, node = self._definitions(node)
        return node.type in NUMBERS or node.type == "character_literal"

    def _definitions(self, node: Node) -> Iterator[Node]:
        """Yield an expression, and while that is a name, the expression that the name stands for."""
        for _ in range(_DEEPEST):
            yield node
            value = self.value(self.said(node), node.start_byte) if node.type in _NAMES else None
            if value is None:
                return
            node = value

    def is_other(self, node: Node) -> bool:
        """Report whether an expression certainly is no string: a number, a flag, a character, or a name of one."""
        definitions = [*self._definitions(node)]
        for name in definitions:
            last, scope = self._definition(self.said(name), name.start_byte) if name.type in _NAMES else ("", None)
            if scope in self._others.get(last, ()):
                return True
        node = definitions[-1]
        if node.type == "character_literal":  # in Groovy it is a string
            return self.language != "java" or _CHARACTER.fullmatch(self.said(node)) is not None
        return node.type in _OTHERS or self.said(node) in _WORDS

    def _is_declared_other(self, node: Node) -> bool:
        """Report whether a name is declared as a number, a flag or a character."""
        around = node.parent if node.parent.type != "variable_declarator" else node.parent.parent
        declared = around.child_by_field_name("type") or next(
            (one for one in around.named_children if one.type == "user_type"), None
        )
        return declared is not None and _OTHER_TYPES.fullmatch(self.said(declared)) is not None

    def _named(self, node: Node, depth: int) -> Text:
        name = self.said(node)
        if name.endswith("stripMargin"):
            return self._adjusted(node, depth)
        value = self.value(name, node.start_byte)
        return self._hole(node) if value is None else self._once(value, depth)

    def _once(self, value: Node, depth: int) -> Text:
        """Return what a definition is worth, which is read once however often it is named."""
        if value.start_byte not in self._values:
            self._values[value.start_byte] = self._hole(value)  # what is defined by itself
            self._values[value.start_byte] = self.text(value, depth + 1)
        return self._values[value.start_byte]

    def value(self, name: str, at: int) -> Node | None:
        """Return the expression that a name stands for where it is used; None if this file does not have it."""
        name, scope = self._definition(name, at)
        return None if scope is None else self._defined[name][scope]

    def _adjusted(self, node: Node, depth: int) -> Text:
        """Return a text block whose margin a method takes away; another call is a hole."""
        content = self.said(node)
        method = re.search(
            r"\.\s*(trimIndent|trimMargin|stripMargin|stripIndent|trim|strip|intern)\s*(?:\(\s*\)\s*)?$", content
        )
        if method is None or not node.named_children:
            if self.language == "scala" and content.startswith("Array(") and len(node.named_children) == 2:
                inside = node.named_children[1].named_children
                return self.text(inside[0], depth + 1) if inside else Text("")
            return self._formatted(node, depth)
        receiver = node.named_children[0]
        while receiver.type in ("navigation_expression", "field_expression") and receiver.named_children:
            receiver = receiver.named_children[0]
        text = self.text(receiver, depth + 1)
        if method[1] in ("trimMargin", "stripMargin"):
            return _without(text, _MARGIN)
        return _unindented(text) if method[1] in ("trimIndent", "stripIndent") else text.stripped()

    def _formatted(self, node: Node, depth: int) -> Text:
        """Return a format with holes for what it is given; another call is a hole."""
        call = _FORMAT.match(self.source.content, node.start_byte, node.end_byte)
        parts = node.named_children
        if call:
            texts = [self.text(one, depth + 1) for one in parts[-1].named_children[:2] if one.type != "comment"]
            texts = [one for one in texts if one.value != HOLE]  # a locale
        else:
            is_format = _FORMATTED.search(self.source.content, node.start_byte, parts[-1].start_byte if parts else 0)
            receiver = parts[0] if is_format else node
            while receiver.type in ("navigation_expression", "field_expression") and receiver.named_children:
                receiver = receiver.named_children[0]
            texts = [self.text(receiver, depth + 1)] if is_format and receiver.type in _LITERALS else []
        return formatted(texts[0]) if texts else self._hole(node)

    def _string(self, node: Node, depth: int) -> Text:
        content, start, stop = self.source.content, node.start_byte, node.end_byte
        is_interpolated, interpolator = self.language == "kotlin", ""
        if node.type == "interpolated_string_expression":
            is_interpolated = True
            start = content.find('"', start, stop)
            interpolator = content[node.start_byte : start]
            if interpolator not in ("s", "f", "raw"):
                return self._hole(node)
        mark = '"""' if content.startswith('"""', start) and stop - start >= 6 else content[start : start + 1]
        start, stop = start + len(mark), max(start + len(mark), stop - len(mark))
        writing = _WRITINGS[self.language, "block" if mark == '"""' else "string"]
        if interpolator:
            writing = "scala raw" if interpolator == "raw" else "scala interpolated"

        def written(begin: int, end: int) -> Text:
            text = self.source.text(begin, end).decoded(writing)
            return formatted(text) if interpolator == "f" else text

        parts: list[Text] = []
        for begin, end, inside in self._interpolations(node) if is_interpolated else ():
            parts.append(written(start, begin))
            worth = self._once(inside, depth) if inside is not None else Text(HOLE)
            width = _SPECIFIERS.match(content, end) if interpolator == "f" else None
            start = width.end() if width else end
            is_known = HOLE not in worth.value and (width is None or len(width[0]) == 2)
            parts.append(worth if is_known else self.source.text(begin, end).replaced(HOLE))
        if writing == "java block":
            return self._block(start, stop)
        parts.append(written(start, max(start, stop)))
        return self._glued(node, parts)

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
                    yield match.start(), match.end(), self.value(match[1], match.start())
                if one is not None:
                    inside = one.named_children
                    if len(inside) == 1 and inside[0].type == "block":
                        inside = inside[0].named_children
                    yield one.start_byte, one.end_byte, inside[0] if len(inside) == 1 else None
                    at = one.end_byte

    def _block(self, start: int, stop: int) -> Text:
        """Return a text block of Java without what only lays it out, which goes before its escapes are read.

        The line with the closing marks counts for the indent, even where nothing else is on it.
        """
        head = _HEAD.match(self.source.content, start, stop)
        text = self.source.text(head.end() if head else start, stop)
        lines = text.value.split("\n")
        counted = [line for line in lines[:-1] if line.strip()] + lines[-1:]
        indent = min([len(line) - len(line.lstrip(" \t")) for line in counted])
        text = _without(
            text, re.compile(rf"^[ \t]{{1,{indent}}}|(?<![ \t])[ \t]+$", re.MULTILINE) if indent else _TRAILING
        )
        return text.decoded("java block")


_LITERALS = (
    "string_literal",
    "string",
    "multiline_string_literal",
    "character_literal",
    "interpolated_string_expression",
)
_NAMES = ("identifier", "field_access", "navigation_expression", "field_expression", "simple_identifier")
NUMBERS = ("decimal_integer_literal", "integer_literal", "number_literal")
_DECIMAL = re.compile(r"(0|[1-9][0-9_]*)[lL]?")
_OTHERS = frozenset(
    [
        *NUMBERS,
        *("hex_integer_literal", "octal_integer_literal", "binary_integer_literal", "decimal_floating_point_literal"),
        *("hex_floating_point_literal", "floating_point_literal", "float_literal", "real_literal", "unary_expression"),
        *("prefix_expression", "boolean_literal", "true", "false"),
    ]
)
_WORDS = ("true", "false", "null")  # which the grammar of Kotlin takes for names
_OTHER_TYPES = re.compile(
    r"boolean|byte|short|int|long|float|double|char|Boolean|Byte|Short|Int|Integer|Long|Float|Double|Char|Character"
)
_CHARACTER = re.compile(r"'(?:[^'\\]|\\[^']+)'")
_WRAPPED = re.compile(r"(?:new\s+SimpleString|SimpleString\s*\.\s*(?:of|toSimpleString))\s*\(")  # Artemis' own strings
_FORMAT = re.compile(r"String\s*\.\s*format\s*\(")
_FORMATTED = re.compile(r"\.\s*format(?:ted)?\s*$")
_SPECIFIERS = re.compile(r"%(?:%|(?:\d+\$)?[-#+ 0,(]{0,6}\d{0,9}(?:\.\d{1,9})?[a-zA-Z])")


def formatted(text: Text) -> Text:
    """Return a format with a hole for each of its specifiers."""
    return text.substituted(_SPECIFIERS, lambda found: {"%%": "%", "%n": "\n"}.get(found, HOLE))


# How strings are written; blocks that no language unescapes are lines as they stand.
_WRITINGS = {
    ("java", "string"): "java",
    ("java", "block"): "java block",
    ("kotlin", "string"): "kotlin",
    ("kotlin", "block"): "lines",
    ("scala", "string"): "java",
    ("scala", "block"): "lines",
}
_SELECTOR = re.compile(r"\w*[sS](?:elector|ELECTOR)(?:Expression|_EXPRESSION)?")
_SIMPLE = re.compile(r"(?<!\\)\$([A-Za-z_]\w*)")
_HEAD = re.compile(r"[ \t\f]*\r?\n")
_TRAILING = re.compile(r"(?<![ \t])[ \t]+(?=\r?\n)")
_DEEPEST_SCOPE = 200  # scopes that are looked at, of those around a place
_DEEPEST = 60  # constants within constants
_LONGEST = 100_000  # characters of a text: no selector has as many
_NULL = ("null_literal", "null")
_MARGIN = re.compile(r"^[ \t]*\|", re.MULTILINE)


def _without(text: Text, pattern: re.Pattern[str]) -> Text:
    return text.substituted(pattern, lambda _: "").stripped().decoded("margin")


def _unindented(text: Text) -> Text:
    lines = [line for line in text.value.split("\n") if line.strip()]
    indent = min([len(line) - len(line.lstrip()) for line in lines], default=0)
    margin = re.compile(rf"^[ \t]{{1,{indent}}}" if indent else r"(?!)", re.MULTILINE)
    return _without(text, margin)
