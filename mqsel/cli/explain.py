"""``mqsel explain``: show how a selector is read, compiled and evaluated."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from mqsel import formats
from mqsel.cli.arguments import Commands, add_selector, command
from mqsel.cli.report import fitted, width_of
from mqsel.errors import FileError, MqselError, PropertyTypeError, cut
from mqsel.files.dumps import STRUC_IDS
from mqsel.files.opening import opened
from mqsel.files.scan import in_json_words, why
from mqsel.language.lexer import tokenize
from mqsel.language.nodes import Literal, Node, children, unparse
from mqsel.language.optimizer import optimize
from mqsel.language.selector import read_selector
from mqsel.machine.program import listing
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector

_EXAMPLES = """\
exit code: 0 if the message is selected or none was given, 1 if it is not selected, 2 if something went wrong.

examples:
  mqsel explain "weight * 2 > 5000 OR color = 'blue'"
  mqsel explain "color = 'blue'" '{"color": "red"}'
  mqsel explain "color = 'blue'" @message.json
  mqsel explain "Root.MQMD.MsgType = 8" @message.bin   (an MQMD and its data)
"""


def add(commands: Commands) -> None:
    """Add the command."""
    explain = command(commands, "explain", _explain, "show how a selector is read, compiled and evaluated", _EXAMPLES)
    add_selector(explain)
    explain.add_argument("message", metavar="MESSAGE", nargs="?", help="a JSON object, @FILE, or - for stdin")


def _explain(arguments: argparse.Namespace) -> int:
    selector, dialect = arguments.selector, arguments.dialect
    matcher = compile_selector(selector, dialect=dialect)
    explanation = None if arguments.message is None else _explained(matcher, arguments.message)
    read = read_selector(selector, dialect)
    tokens = [token for token in tokenize(selector, dialect) if token.kind != "end"]
    width = max((len(token.kind) for token in tokens), default=0)
    print("tokens")
    for kind, value, start, stop in tokens:
        piece = selector[start:stop]
        meaning = f"  = {value!r}" if isinstance(value, (int, float)) and str(value) != piece else ""
        print(fitted(f"  {f'{start}:{stop}':>9}  {kind:{width}}  {piece}{meaning}"))
    print("\ntree")
    for line in _tree(read.node, selector):
        print(fitted(f"  {line}"))
    print(f"\noptimised\n  {unparse(optimize(read).node)}")
    print("\ninstructions")
    for line in listing(matcher.program).splitlines():
        print(fitted(line))
    if explanation is None:
        return 0
    text, is_selected = explanation
    print("\nmessage\n  " + text.replace("\n", "\n  "))
    return int(not is_selected)


def _explained(matcher: Matcher, argument: str) -> tuple[str, bool]:
    """Explain a message: the argument itself, the content of ``@file``, or stdin for ``-``; JSON, or an MQ message.

    Returns: the text, and whether it is selected.
    """
    text: str | bytes = argument
    if argument == "-" or argument.startswith("@"):
        name = argument.removeprefix("@")
        try:
            with opened(name) as (_, content):
                text = content.read()
        except FileError as error:
            raise MqselError(f"{name}: {why(error)}") from error
    if isinstance(text, bytes) and text[:4] in STRUC_IDS:
        return _explained_bytes(matcher, text)
    try:
        message = matcher.decoder("json")(text)
    except PropertyTypeError as error:
        if len(text.splitlines()) > 1 and "extra data" in error.message:
            error.hint = "explain takes one message: head -n 1 FILE | mqsel explain SELECTOR -"
        raise
    try:
        explanation = matcher.explain(message)
    except PropertyTypeError as error:
        raise in_json_words(error, message, matcher) from error
    return explanation.text(_width()), explanation.selected


def _width() -> int | None:
    """Give the cells that a line of an explanation may take, which is set in by two."""
    width = width_of(sys.stdout)
    return width and width - 2


def _explained_bytes(matcher: Matcher, message: bytes) -> tuple[str, bool]:
    explanation = matcher.explain(formats.properties(message))
    answer = matcher.decoder("mq")(message)
    if not isinstance(answer, bool) or answer is explanation.selected:
        return explanation.text(_width()), explanation.selected
    # The selector is not what decides: say what does, and what the selector would.
    why = "it carries a property whose name is not allowed: see mqsel inspect"
    if matcher.match_option is not None:
        why = f"{matcher.match_option[0]} compares the identifier in the MQMD"
    verdict = "TRUE: selected" if answer else "FALSE: not selected"
    return f"{verdict}: {why}\nthe selector alone\n  " + explanation.text(_width()).replace("\n", "\n  "), answer


def _tree(root: Node, selector: str) -> Iterator[str]:
    """List the nodes, each with the piece of the selector it stands for."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        label = "  " * depth + type(node).__name__ + (f" {node.kind}" if isinstance(node, Literal) else "")
        piece = " ".join(selector[node.span[0] : node.span[1]].split())
        yield f"{label:24}  {cut(piece, 72)}".rstrip()
        stack.extend((child, depth + 1) for child in reversed(children(node)))
