"""``mqsel explain``: report why a message is selected, or is not; show how a selector is read and compiled."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from typing import Any

from mqsel.analysis.lint import lint
from mqsel.analysis.lint.findings import WARNING
from mqsel.analysis.lint.findings import piece as piece_of
from mqsel.carets import in_one_line, shortened
from mqsel.cli.arguments import Commands, add_format, check_order, command, limit, types_of
from mqsel.cli.lint import in_json
from mqsel.cli.output import complain, print_json, print_lines, print_text, print_width
from mqsel.cli.report import say_format, seeming
from mqsel.cli.selectors import add_inventory, complain_of, configuration_of, keyed, named
from mqsel.errors import DecodeError, FileError, MqselError, PropertyTypeError
from mqsel.files.framings import FORMATS, shown
from mqsel.files.inspection import FoundMessage, alone, find_message
from mqsel.files.judgement import JudgedMessage, judged
from mqsel.files.members import inside
from mqsel.files.run.work import why
from mqsel.formats.envelopes import PLAIN
from mqsel.formats.jsonl import plain
from mqsel.formats.records import SCHEMAS
from mqsel.inventory.known import error_of
from mqsel.language.lexer import Token, tokenize
from mqsel.language.nodes import Literal, Node, children, unparse
from mqsel.language.optimizer import optimize
from mqsel.machine.origin import selector_of
from mqsel.machine.program import disassemble, listing
from mqsel.matcher import Matcher
from mqsel.matcher import compile as compile_selector

_START = 1 << 13  # bytes by which something is known that is no message
_OPENING = ("{", "[")  # of a message that is the argument

_EXAMPLES = """\
mqsel explain "color = 'blue'" '{"color": "red"}'
mqsel explain "color = 'blue'" messages.jsonl:17
mqsel explain "Root.MQMD.MsgType = 8" dump.qload --nth 3
mqsel explain --key CARS subs.mqsc messages.jsonl:17
mqsel explain --json "color = 'blue'" messages.jsonl:17
mqsel explain --program "weight * 2 > 5000 OR color = 'blue'"\
"""
_EXITS = ("The message matched, or you gave no message", "The message didn't match", "An error")
_ABOUT = """\
With a message, mqsel prints whether it matches, which change would reverse that, and the truth value of each part \
with the values that it reads. Without a message, it prints tokens, tree and instructions.

MESSAGE is one of these:
  {…}        a JSON object
  FILE:LINE  a message as other commands name it, also FILE:BYTE or FILE:ROW
  FILE       the first message of the file, or the message that --nth chooses
  -          stdin
"""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "report why a message matches a selector, or doesn't"
    made = command(commands, "explain", _explain, text, _EXAMPLES, _EXITS, _ABOUT)
    made.add_argument(
        "selector",
        metavar="SELECTOR",
        help="selector, in quotes; with --key, the PATH that has it",
    )
    group = add_inventory(made)
    group.add_argument("--key", metavar="KEY", help="key of the selector in PATH (see mqsel selectors PATH)")
    made.add_argument("message", metavar="MESSAGE", nargs="?", help="JSON object, FILE:LINE, FILE, or - for stdin")
    reading = add_format(made, FORMATS)
    reading.add_argument("--nth", type=limit, metavar="N", help="number of the message in the file (default: 1)")
    output = made.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object")
    output.add_argument("--program", action="store_true", help="also show tokens, tree and instructions")


def _explain(arguments: argparse.Namespace) -> int:
    if arguments.key is not None:
        read = keyed([arguments.selector], arguments, arguments.dialect)
        one = named(arguments.key, read.known, [arguments.selector])
        if (error := error_of(one.source, one.dialect)) is not None:
            complain_of(one, error, arguments.key)
            return 2
        selector, dialect = one.text, one.dialect
        complain(f"{one.where}: {in_one_line(selector)}")
    else:
        selector, dialect = arguments.selector, arguments.dialect or configuration_of(arguments).usual
        check_order("explain", selector, [] if arguments.message is None else [arguments.message], dialect)
    matcher = compile_selector(selector, dialect=dialect)
    judged = None if arguments.message is None else _judged(matcher, arguments)
    is_program = judged is None or arguments.program
    findings = [] if judged is None else lint(selector, dialect)
    if arguments.json:
        said: dict[str, Any] = {"selector": selector}
        if judged is not None:
            said |= judged.in_json() | {"findings": [in_json(finding) for finding in findings]}
        if is_program:
            said["program"] = _program_in_json(matcher)
        print_json(said)
    else:
        if judged is not None:
            print_lines(judged.text(print_width()), is_colored=True)
        for finding in findings:
            if finding.severity == WARNING:
                print_text(f"warning: {finding.sentence}", indent="    ", is_colored=True)
        if is_program:
            print_text(end="\n" * (judged is not None))
            _show_program(matcher)
    return int(judged is not None and not judged.selected)


def _tokens(matcher: Matcher) -> list[Token]:
    return [token for token in tokenize(matcher.selector, matcher.dialect) if token.kind != "end"]


def _show_program(matcher: Matcher) -> None:
    selector, read, tokens = matcher.selector, selector_of(matcher.program), _tokens(matcher)
    width = max((len(token.kind) for token in tokens), default=0)
    print_text("tokens")
    for kind, value, start, stop in tokens:
        piece = selector[start:stop]
        meaning = f"  = {value!r}" if isinstance(value, (int, float)) and str(value) != piece else ""
        print_text(f"  {f'{start}:{stop}':>9}  {kind:{width}}  {piece}{meaning}", is_cut=True)
    print_text()
    print_text("tree")
    for node, depth in _tree(read.node):
        label = "  " * depth + _label(node)
        print_text(f"  {label:24}  {piece_of(selector, node)}".rstrip(), is_cut=True)
    optimised = unparse(optimize(read).node, read.dialect)
    for line in ("", "optimised", f"  {optimised}", "", "instructions"):
        print_text(line)
    for line in listing(matcher.program).splitlines():
        print_text(line, is_cut=True)


def _program_in_json(matcher: Matcher) -> dict[str, Any]:
    read = selector_of(matcher.program)
    return {
        "tokens": [
            {"kind": token.kind, "value": plain(token.value), "span": (token.start, token.stop)}
            for token in _tokens(matcher)
        ],
        "tree": [{"node": _label(node), "span": node.span, "depth": depth} for node, depth in _tree(read.node)],
        "optimised": unparse(optimize(read).node, read.dialect),
        "instructions": [line._asdict() for line in disassemble(matcher.program)],
    }


def _tree(root: Node) -> Iterator[tuple[Node, int]]:
    """List the nodes and their depth, each before its children."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        stack.extend((child, depth + 1) for child in reversed(children(node)))


def _label(node: Node) -> str:
    return type(node).__name__ + (f" {node.kind}" if isinstance(node, Literal) else "")


# ---- the message -----------------------------------------------------------------------------------------------------


def _judged(matcher: Matcher, arguments: argparse.Namespace) -> JudgedMessage:
    """Explain a message: the argument itself, or what it names."""
    found = _find(arguments)
    try:
        answer = judged(matcher, found, dict(types_of(arguments, found.kind)))
    except (DecodeError, PropertyTypeError) as error:
        if found.columns is None and len(found.data.splitlines()) > 1 and "extra data" in error.message:
            error.hint = "write each message on one line, then: mqsel explain SELECTOR FILE:LINE"
        is_there = arguments.message.lstrip()[:1] in _OPENING
        where = "MESSAGE" if is_there else found.where or shown(arguments.message.removeprefix("@"))
        text, near = getattr(error.__cause__, "doc", "") if is_there else "", ""  # of json
        if text:
            near = f", at {shortened(text[error.__cause__.pos :])}"  # type: ignore[union-attr]
            error.hint = error.hint or """write it as '{"color": "blue", "weight": 3000}', in quotes for the shell"""
        error.args = (f"{where}: {error.message}{near}",)
        raise
    if found.kind == PLAIN and not answer.selected:
        _say_members(matcher, found, arguments.message)
    return answer


def _say_members(matcher: Matcher, found: FoundMessage, argument: str) -> None:
    """Print which properties the message has inside a member, where no selector reads them."""
    path = "" if argument.lstrip()[:1] in _OPENING else found.where.rpartition(":")[0] or argument
    line = found.data.replace(b"\n", b" ")
    if text := inside(line, matcher.properties, path, in_any_case=bool(matcher.in_any_case)):
        complain(MqselError(text[0], hint=text[1]))


def _find(arguments: argparse.Namespace) -> FoundMessage:
    """Find the message that an argument is, or names.

    Raises: MqselError: there is none.
    """
    argument, wanted, nth = arguments.message, arguments.format, arguments.nth
    if argument.lstrip()[:1] in _OPENING:
        return _reported("MESSAGE", wanted, alone(argument.encode("utf-8", "surrogatepass"), wanted))
    name, place = argument.removeprefix("@"), None
    numbered = re.fullmatch(r"(.+):([0-9]{1,18})", name, re.DOTALL)
    if numbered and not _is_there(name):
        name, place = numbered[1], int(numbered[2])
    if argument[:1] != "@" and name != "-" and "://" not in name and not _is_there(name):
        raise MqselError(
            f"{shortened(argument)} is neither a file nor a JSON object", hint='write a message as {"color": "blue"}'
        )
    if place is not None and nth is not None:
        raise MqselError(f"{shortened(argument)} names a message, and --nth another: expected one of them")
    try:
        return _reported(name, wanted, find_message(name, wanted, place, nth, arguments.max_size))
    except FileError as error:
        what, _, hint = why(error).partition("\n  hint: ")
        raise MqselError(f"{shown(name)}: {what}", hint=hint or None) from error


def _is_there(name: str) -> bool:
    return os.path.exists(name)  # noqa: PTH110 (Path.exists raises where a name is too long)


def _reported(name: str, wanted: str | None, message: FoundMessage) -> FoundMessage:
    """Report how a message was found, where that is no matter of course.

    Raises: MqselError: it is all of a file, and looks like something else.
    """
    if message.kind in SCHEMAS and wanted is None:
        say_format(name, message.kind)
    if message.has_others:
        complain(f"{shown(name)}: the first of its messages; FILE:LINE or --nth chooses another, mqsel why counts all")
    if message.is_whole and message.data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        found, advice = seeming(message.data[:_START], "json")
        if found:
            raise MqselError(f"{shown(name)}: no message could be read as json: this looks like {found}", hint=advice)
    return message
