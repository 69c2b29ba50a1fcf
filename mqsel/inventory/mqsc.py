"""MQSC: scripts, what dmpmqcfg writes, and what runmqsc prints.

Facts: *IBM MQ 9.4, Script (MQSC) commands, Building command scripts*: a line that ends in ``+`` goes on with the first
character of the next line that is no blank, one that ends in ``-`` with its first column; a line whose first character
is ``*`` is a comment, also between lines that go on. *Rules for using MQSC commands*: what stands in no quotation marks
is folded to upper case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqsel.inventory.entries import PLACEHOLDER, Entry, Source
from mqsel.inventory.pieces import HOLE, Text, joined

_QUOTED = r"'[^']*(?:''[^']*)*'|\"[^\"]*(?:\"\"[^\"]*)*\""
_WORDS = re.compile(rf"([A-Za-z][A-Za-z0-9_]*)[ \t]*\([ \t]*({_QUOTED}|[^()'\"]*)[ \t]*(\)?)|{_QUOTED}|[^\s()]+|[()]")
_BEGINS = re.compile(r"\s*(?:DEF|DEFI|DEFIN|DEFINE|ALT|ALTE|ALTER)[ \t]+(?=SUB[ \t]*\()", re.IGNORECASE)
# Of a subscription that somebody else defined, the queue says more than the topic.
_DESTINATIONS = ("DEST", "TOPICSTR", "TOPICOBJ")


def read(source: Source, kind: str, _: object) -> Iterator[Entry]:
    """Yield the entries of a script, and of the output of runmqsc."""
    content = source.content
    if kind == "runmqsc":
        yield from _of_output(source)
        return
    for command in _commands(source):
        begins = _BEGINS.match(command.value)
        if begins:
            yield from _of_command(source, command[begins.end() :], kind)
    if _ANSWER.search(content):
        yield from _of_output(source)


_HERE = re.compile(r"<<-?[ \t]*([A-Za-z_]\w*)")  # with a word in quotes, a shell replaces nothing
_VARIABLE = re.compile(r"(?<!\\)\$[A-Za-z_]\w*")


def _hole(match: re.Match[str]) -> str:
    return HOLE * len(match[0])


_NO_END = "its value has no end: expected a single quote, doubled within the value, and a parenthesis"


def _commands(source: Source) -> Iterator[Text]:
    """Yield commands, each as one line. Lines of runmqsc that repeat a command, numbered, are none."""
    content = source.content
    pieces: list[Text] = []
    at = 0
    goes_on = word = ""  # a continued line; the word that ends a here-document of a shell
    for line in content.splitlines(keepends=True):
        words = line.rstrip()
        start, at = at, at + len(line)
        if word:
            word = word * (words.lstrip("\t") != word)
        elif here := _HERE.search(line):
            word = here[1]
        indent = len(words) - len(words.lstrip())
        if words[indent : indent + 1] == "*":
            continue
        if words or not goes_on:
            skipped = 0 if goes_on == "-" else indent
            goes_on = words[-1:] if words[-1:] in ("+", "-") else ""
            text = source.text(start + skipped, start + max(skipped, len(words) - len(goes_on)))
            pieces.append(Text(_VARIABLE.sub(_hole, text.value), text.pieces) if word else text)
        if not goes_on and pieces:
            yield joined(pieces)
            pieces = []
    if pieces:
        yield joined(pieces)


def _of_command(source: Source, command: Text, kind: str) -> Iterator[Entry]:
    values: dict[str, Text] = {}
    last = 0
    for match in _WORDS.finditer(command.value):
        last = match.end()
        if match[0] == ";":
            break
        if match[1] is None:
            continue
        name = match[1].upper()
        start, stop = match.span(2)
        if not match[3]:
            # An apostrophe that is not doubled, or a parenthesis that nothing closes.
            if name == "SELECTOR":
                yield source.damage(kind, command.place_of(start), _NO_END)
                return
            continue
        text = _unquoted(command[start:stop])
        is_folded = match[2][:1] not in ("'", '"') and text.value.isascii()
        values.setdefault(name, Text(text.value.upper(), text.pieces) if is_folded else text)
    if "SELECTOR" in values:
        yield from _entry(source, kind, values)
    elif re.search(r"\bSELECTOR[ \t]*\(", command.value[last:], re.IGNORECASE):
        yield source.damage(kind, command.place_of(0), "a command that cannot be read: a SELECTOR is lost in it")


def _unquoted(value: Text) -> Text:
    mark = value.value[:1]
    if mark in ("'", '"') and len(value.value) > 1 and value.value[-1] == mark:
        return value[1:-1].decoded(f"doubled {mark}")
    return value.stripped()


def _entry(source: Source, kind: str, values: dict[str, Text]) -> Iterator[Entry]:
    named = {name: value.value.strip() for name, value in values.items()}
    destination = next((named[one] for one in _DESTINATIONS if named.get(one)), "")
    selector = values["SELECTOR"]
    reason = PLACEHOLDER if HOLE in selector.value else ""
    yield from source.entry(kind, named.get("SUB") or named.get("SUBID", ""), destination, selector, reason)


# ---- the output of runmqsc ---------------------------------------------------------------------------------------

_ANSWER = re.compile(r"^[ \t]*AMQ8(?:096|099)[A-Z]?:.*$", re.MULTILINE)
_BLOCK_END = re.compile(
    r"^[ \t]*(?:AMQ[0-9]{4}[A-Z]?:|[0-9]+ : |One MQSC|[0-9]+ MQSC|No commands)|^[ \t]*\r?$", re.MULTILINE
)
_ATTRIBUTE = re.compile(r"(?:(?<=\s)|^)([A-Z][A-Z0-9]*)\(")
_ENDS = re.compile(r"\)(?=\s*$|\s+[A-Z][A-Z0-9]*\()")
_INDENT = 3  # blanks before each line of an answer, also before what is left of a value that was too long
_FULL = 70  # a line shorter than this was divided at a blank, which is not there any more


def _of_output(source: Source) -> Iterator[Entry]:
    content = source.content
    for answer in _ANSWER.finditer(content):
        start = min(len(content), answer.end() + 1)
        end = _BLOCK_END.search(content, start)
        block = _unwrapped(source, start, end.start() if end else len(content))
        values: dict[str, Text] = {}
        at = 0
        while match := _ATTRIBUTE.search(block.value, at):
            stop = _value_end(block.value, match.end())
            values.setdefault(match[1], _unquoted(block[match.end() : stop].stripped()))
            at = stop + 1
        if values.get("SELECTOR"):
            yield from _entry(source, "runmqsc", values)


def _value_end(text: str, start: int) -> int:
    """Return where the value of an attribute ends: at its own parenthesis, or where another attribute follows."""
    depth = 0
    for match in _PARTS.finditer(text, start):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            if depth == 0:
                return match.start()
            depth -= 1
    # An apostrophe too many hides the parenthesis: then the layout tells.
    ends = _ENDS.search(text, start)
    return ends.start() if ends else len(text)


_PARTS = re.compile(r"'[^']*'|[()]")


def _unwrapped(source: Source, start: int, stop: int) -> Text:
    """Return the lines of an answer as one, without their indent; a value that goes on is whole again."""
    lines: list[Text] = []
    before = ""
    for line in source.content[start:stop].splitlines(keepends=True):
        words = line.rstrip("\r\n")
        indent = min(_INDENT, len(words) - len(words.lstrip()))
        piece = source.text(start + indent, start + len(words))
        is_new = _ATTRIBUTE.match(piece.value) is not None
        if lines and (is_new or len(before) < _FULL) and not before.endswith(" "):
            lines.append(piece[:0].replaced(" "))
        lines.append(piece)
        before = words
        start += len(line)
    return joined(lines)
