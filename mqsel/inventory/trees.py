"""Files as trees: one library, tree-sitter, reads all that has a grammar.

It gives offsets for every node, reads what is left of a damaged file, resolves no entity and fetches nothing, and its
time grows with the file. A parser of the standard library ends at the first error, or knows no offsets.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from mqsel.carets import Span
from mqsel.columns.wordings import package_missing
from mqsel.errors import MqselError
from mqsel.inventory.entries import Source

# For each grammar the module that has it, and the function there that returns it.
_GRAMMARS = {
    "bicep": ("tree_sitter_bicep", "language"),
    "hcl": ("tree_sitter_hcl", "language"),
    "java": ("tree_sitter_java", "language"),
    "json": ("tree_sitter_json", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "scala": ("tree_sitter_scala", "language"),
    "xml": ("tree_sitter_xml", "language_xml"),
    "yaml": ("tree_sitter_yaml", "language"),
}
# Characters that no token of a grammar has: over a long run of them the parser would be lost in thought.
_ALIEN = {"bicep": '";^`~', "scala": "`"}
# The arrows of Scala 2, which its grammar has in ASCII alone: two characters, the second in the place of a blank.
_ARROW = re.compile(r"[ \t][⇒←]|[⇒←][ \t]?")
_ASCII = {"⇒": "=>", "←": "<-"}
# Actions of templates of Helm, Jinja and others, in languages that have none of their own in such brackets.
_TEMPLATED = ("yaml", "json")
_ACTIONS = (("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("<%", "%>"))
_COMMENT = re.compile(r"-?\s?/\*")  # behind ``{{``: it may have actions within it
_WIDEST = 10_000  # nodes in a damaged place
_SLICE = 1 << 16  # bytes that the parser takes at once
# Seconds of a file, and of each byte of it, after which it is given up. Undamaged ones take at most a tenth of that;
# the parser's search for what was meant by a damaged one may grow with the square of its size.
_LEAST, _MOST = 0.1, 3e-6
_DEEPEST = 200  # levels of a tree that are read, of which a level of a file takes up to five

_FAR = 0xFFFFFFFF  # lines and columns, of which only the bytes count
# The scanner of YAML counts lines in 16 bits: a longer file is read in parts, each of which begins in the first column.
_PART = re.compile(r"(?:[^\n]*\n){20000}(?:(?:[ \t#}\]\r][^\n]*)?\n)*")

# The scanner of YAML keeps a column or two for each block that is open, and writes past its memory at the 256th.
_BLOCKS = 60
_INDENT = re.compile(r"^ *(?:[-?:][ \t]+)*(?=[^\s#])", re.MULTILINE)
_TOO_DEEP = "nested too deeply to be read"
_TOO_SLOW = "so damaged, or so deeply nested, that it cannot be read in the time that files of its size take"


class TreeError(MqselError, ValueError):
    """A file of which no tree can be had.

    Args:
        offset: where it begins to be unreadable.
    """

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


Node = Any  # of tree-sitter, which is imported when a file needs it


@functools.cache
def _language(name: str) -> Any:
    module, function = _GRAMMARS[name]
    try:
        return import_module("tree_sitter").Language(getattr(import_module(module), function)())
    except ImportError as error:
        package = (error.name or module).replace("_", "-")
        raise package_missing(f"a file of {name}", package, "inventory") from error


@functools.cache
def _query(grammar: str, pattern: str) -> Any:
    return import_module("tree_sitter").Query(_language(grammar), pattern)


def trees_of(source: Source, grammar: str) -> Iterator[Node]:
    """Yield the roots of the trees of a file: one, or in YAML of many lines those of its parts.

    Raises: as `tree_of`.
    """
    start = 0
    while grammar == "yaml" and (part := _PART.match(source.content, start)) and part.end() < len(source.content):
        yield tree_of(source, grammar, (start, part.end()))
        start = part.end()
    yield tree_of(source, grammar, (start, len(source.content)))


def tree_of(source: Source, grammar: str, span: Span | None = None) -> Node:
    """Return the root of a file's tree, whose bytes are the code points of its text.

    Args:
        span: the part of the file that is read, by default all of it.

    Raises: MqselError: the library or the grammar is not installed. TreeError: the file is damaged beyond that.
    """
    start, stop = span or (0, len(source.content))
    content = source.content[start:stop]
    if grammar in _TEMPLATED:
        content = _without_actions(content)
    if grammar == "scala":
        content = re.sub(r"`[^`\n]*`", lambda match: "x" * len(match[0]), content)
        content = _ARROW.sub(lambda match: _ASCII[match[0].strip()][-len(match[0]) :], content)
    if grammar == "yaml":
        _check_blocks(content, start)
    # One byte for each code point: offsets of the tree are those of the text.
    alien = rf"[^\t-\r -~]+|[{_ALIEN[grammar]}]+" if grammar in _ALIEN else r"[^\t-\r -~]+"
    shadow = re.sub(alien, lambda match: "x" * len(match[0]), content).encode()
    language = _language(grammar)
    library = import_module("tree_sitter")
    anywhere = library.Point(0, 0), library.Point(_FAR, _FAR)
    until = time.thread_time() + _LEAST + _MOST * len(shadow)
    try:
        tree = library.Parser(language, included_ranges=[library.Range(*anywhere, start, stop)]).parse(
            lambda offset, _: shadow[max(0, offset - start) : max(0, offset - start) + _SLICE],
            progress_callback=lambda *_: time.thread_time() > until,
        )
    except ValueError as error:
        raise TreeError(start, _TOO_SLOW) from error
    return tree.root_node


def is_template(source: Source) -> bool:
    """Report whether a file of YAML or JSON has actions of a template."""
    return any(begin in source.content and end in source.content for begin, end in _ACTIONS)


def _without_actions(content: str) -> str:
    """Return a text with the actions of a template as blanks where they fill whole lines, and as digits elsewhere.

    It is as long as before, in as many lines.
    """
    for begin, end in _ACTIONS:
        pieces, at = [], 0
        while (start := content.find(begin, at)) >= 0:
            is_comment = begin == "{{" and _COMMENT.match(content, start + len(begin))
            inside = content.find("*/", start) if is_comment else start
            stop = content.find(end, inside) + len(end)
            if inside < 0 or stop < len(end):
                break
            pieces += [content[at:start], _FILLED.sub("\0", content[start:stop])]
            at = stop
        content = "".join([*pieces, content[at:]])
    lines = content.split("\n")
    return "\n".join([line.replace("\0", "1" if line.strip("\0 \t\r-") else " ") for line in lines])


_FILLED = re.compile(r"[^\n]")


def _check_blocks(content: str, begin: int) -> None:
    """Raise TreeError if blocks of YAML nest deeper than its scanner can keep.

    Args:
        begin: where the content begins in its file.
    """
    columns: list[int] = []
    for match in _INDENT.finditer(content):
        begins = [number for number, sign in enumerate(match[0]) if sign in "-?:"] + [len(match[0])]
        while columns and columns[-1] > begins[0]:
            columns.pop()
        columns += [one for one in begins if not columns or one > columns[-1]]
        if len(columns) > _BLOCKS:
            raise TreeError(begin + match.start(), _TOO_DEEP)


def matches(node: Node, grammar: str, pattern: str) -> list[tuple[int, dict[str, list[Node]]]]:
    """List the matches of a query in a tree, each with the number of its pattern."""
    found: list[tuple[int, dict[str, list[Node]]]]
    found = import_module("tree_sitter").QueryCursor(_query(grammar, pattern)).matches(node)
    return found


def errors_of(root: Node) -> list[Node]:
    """List what a tree could not take in, in the order of the file.

    Raises: TreeError: one of them is so wide that queries would take the square of its size.
    """
    found = []
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.is_error and node.child_count > _WIDEST:
            raise TreeError(node.start_byte, _TOO_SLOW)
        inside = [one for one in node.children if one.has_error or one.is_missing]
        if node.is_error or node.is_missing or not inside:
            found.append(node)
        waiting += reversed(inside)
    return found


def check_depth(root: Node) -> None:
    """Raise TreeError if a tree has more levels than are read."""
    cursor = root.walk()
    depth = 0
    while True:
        if depth > _DEEPEST:
            raise TreeError(cursor.node.start_byte, _TOO_DEEP)
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1
