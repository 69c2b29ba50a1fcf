"""How languages write a text: the table of writings, each with the way from the file to the text and the way back.

Knows no file and no place: what stands between two literals, or before a line of a block, is no matter of a writing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, unquote

from mqsel.errors import MqselError


class EditError(MqselError, ValueError):
    """A selector that cannot be written where the other one stands."""


class Writing(NamedTuple):
    """How a language writes characters in a string of it.

    Attributes:
        escapes: finds what is not itself.
        decode: returns what such an escape is.
        special: finds in a text what is not written as itself.
        encoded: for what `special` finds, the escape; empty where there is none. What is no key has its number.
        number: returns an escape for any character; None if there are none.
        holds_lines: an end of line stands as it is.
    """

    escapes: re.Pattern[str]
    decode: Callable[[str], str]
    special: re.Pattern[str]
    encoded: Mapping[str, str] = MappingProxyType({})
    number: Callable[[str], str] | None = None
    holds_lines: bool = False


def encoded(text: str, name: str, encoding: str = "utf-8") -> str:
    """Return what is written for a text.

    Args:
        name: of the writing.
        encoding: of the file: characters that it has not are written by their numbers, where the writing has those.

    Raises: EditError: the writing has no way to write a character.
    """
    row = WRITINGS[name]

    def escape(match: re.Match[str]) -> str:
        found = match[0]
        made = row.encoded.get(found)
        if made is None and row.number is not None:
            made = "".join(map(row.number, found))
        if not made:
            shown = found if found.isprintable() else f"the character U+{ord(found[0]):04X}"
            raise EditError(f"{_SPOKEN.get(found, shown)} cannot be written in this place")
        return made

    made = row.special.sub(escape, text)
    if row.number is None or _is_encodable(made, encoding):
        return made
    return "".join([one if _is_encodable(one, encoding) else row.number(one) for one in made])


_SPOKEN = {"\n": "an end of line", "\r": "an end of line"}


def _is_encodable(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True


# ---- from the file -------------------------------------------------------------------------------------------------

_LETTERS = dict(zip("ntrbfs0aveN_LP", "\n\t\r\b\f \0\a\v\x1b\x85\xa0\u2028\u2029", strict=True))


def _character(number: int) -> str:
    return chr(number) if number < 0xD800 or 0xE000 <= number < 0x110000 else "\ufffd"


def _backslash(escape: str) -> str:
    r"""Return what a backslash and what follows it are: ``\n``, ``\u0041``, ``\u{41}``, ``\101``, an end of line."""
    rest = escape[1:]
    digits = rest.lstrip("uUx").strip("{}")
    if rest[:1] in ("u", "U", "x") and digits:
        high, _, low = digits.partition("\\")
        if low:
            return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low.lstrip("u"), 16) & 0x3FF))
        return _character(int(digits, 16))
    if rest[:1] in "01234567" and rest:
        return chr(int(rest, 8))
    if rest[:1] in ("\n", "\r"):
        return ""
    return _LETTERS.get(rest, rest)


def _folded(escape: str) -> str:
    return "\n" * (escape.count("\n") - 1) or " "


_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def _entity(escape: str) -> str:
    name = escape[1:-1]
    if escape == "\r\n":
        return "\n"
    if name[0] != "#":
        return _ENTITIES[name]
    return _character(int(name[1:], 10) if name[1].isdigit() else int(f"0{name[1:]}", 0))


def _line_end(_: str) -> str:
    return "\n"


# ---- to the file ---------------------------------------------------------------------------------------------------


def _units(character: str) -> str:
    r"""Return ``\u0041``, two of them beyond the first 65,536 characters."""
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join([f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2)])


def _wide(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _after_backslash(characters: str) -> dict[str, str]:
    r"""Return the escapes of characters that are their letter, or themselves, behind a backslash."""
    letters = {value: key for key, value in _LETTERS.items() if key in "ntrbf"}
    return {one: "\\" + letters.get(one, one) for one in characters}


def _percent(character: str) -> str:
    return quote(character, safe="")


def _none(characters: str) -> dict[str, str]:
    return dict.fromkeys(characters, "")


_HEX = "[0-9A-Fa-f]"
_PAIR = rf"u+[dD][89abAB]{_HEX}{{2}}\\u+[dD][c-fC-F]{_HEX}{{2}}"
_NEVER = re.compile(r"(?!)")
_CONTROLS = r"\x00-\x1f\x7f"
_YAML = r"[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]"  # has only the escapes of YAML's double quotes
_JAVA = rf"\\(?:{_PAIR}|u+{_HEX}{{4}}|[0-3]?[0-7]{{1,2}}|\r?\n|.|$)"
_XML = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|lt|gt|amp|quot|apos);|\r\n")
_URL = re.compile(rf"%[0-7]{_HEX}|(?:%[89A-Fa-f]{_HEX})+|\+")
_UNWRITABLE_XML = "".join(map(chr, [*range(9), 11, 12, *range(14, 32)])) + "\ufffe\uffff"


def _java(mark: str, *, is_block: bool = False, letters: str = "ntrbf") -> Writing:
    """Return a writing that has Java's escapes, with ``mark`` for a dollar if that is none."""
    special = r"[\x00-\x09\x0b-\x1f\x7f\"\\]" if is_block else rf"[{_CONTROLS}\"\\]"
    return Writing(
        re.compile(_JAVA + (r"|\r\n" if is_block else "") + (r"|\$\$" if mark == "$$" else ""), re.DOTALL),
        lambda escape: _backslash(escape) if escape[0] == "\\" else "\n" if escape[0] == "\r" else "$",
        re.compile(special + (r"|\$" if mark else "")),
        {**_after_backslash('"\\' + "".join(_LETTERS[one] for one in letters)), "$": mark},
        _units,
        is_block,
    )


def _xml(mark: str) -> Writing:
    """Return the writing of XML between marks, or of the text of an element."""
    names = {value: f"&{key};" for key, value in _ENTITIES.items()}
    return Writing(
        _XML,
        _entity,
        re.compile(rf"[&<>\r{mark}{_UNWRITABLE_XML}]" + (r"|[\t\n]" if mark else "")),
        {one: names[one] for one in "&<>" + mark} | _none(_UNWRITABLE_XML),
        lambda character: f"&#{ord(character)};",
        not mark,
    )


def _marked(mark: str, *, holds_lines: bool = False) -> Writing:
    """Return the writing in which a mark is doubled, and nothing else is an escape."""
    return Writing(
        re.compile(re.escape(mark) * 2),
        lambda _: mark,
        re.compile(f"[{mark}]" if holds_lines else rf"[{mark}\n\r]"),
        {mark: mark * 2} | _none("\n\r"),
        None,
        holds_lines,
    )


WRITINGS = {
    "doubled '": _marked("'"),
    'doubled "': _marked('"'),
    "csv": _marked('"'),
    "java": _java(""),
    "java block": _java("", is_block=True),
    "kotlin": _java("\\$", letters="ntrb"),
    "scala interpolated": _java("$$"),
    "scala raw": _marked("$", holds_lines=True),
    "json": Writing(
        re.compile(rf"\\(?:{_PAIR}|u{_HEX}{{4}}|.)", re.DOTALL),
        _backslash,
        re.compile(r'[\x00-\x1f"\\]'),
        _after_backslash('"\\\n\t\r\b\f'),
        _units,
    ),
    "yaml": Writing(
        re.compile(rf"\\(?:x{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}}|\r?\n[ \t]*|.)|(?<![ \t])[ \t]*\r?\n\s*", re.DOTALL),
        lambda escape: _backslash(escape) if escape[0] == "\\" else _folded(escape),
        re.compile(rf"[{_CONTROLS}\x80-\x9f\u2028\u2029\ufeff\"\\]"),
        _after_backslash('"\\\n\t\r'),
        _wide,
    ),
    "yaml quoted": Writing(
        re.compile(r"''|(?<![ \t])[ \t]*\r?\n\s*"),
        lambda escape: "'" if escape == "''" else _folded(escape),
        re.compile(rf"'|{_YAML}"),
        {"'": "''"},
    ),
    "yaml plain": Writing(re.compile(r"(?<![ \t])[ \t]*\r?\n\s*"), _folded, re.compile(rf"{_YAML}|: | #")),
    "properties": Writing(
        re.compile(rf"\\(?:{_PAIR}|u{_HEX}{{4}}|\r?\n[ \t\f]*|[^\r\n]|$)"),
        lambda escape: _backslash(escape) if escape[1:2] in ("u", "n", "t", "r", "f", "\n", "\r", "") else escape[1:],
        re.compile(rf"[{_CONTROLS}\\]"),
        _after_backslash("\\\n\t\r\f"),
        _units,
    ),
    "hcl": Writing(
        re.compile(rf"\\(?:u{_HEX}{{4}}|U{_HEX}{{8}}|.)|\$\$\{{|%%\{{", re.DOTALL),
        lambda escape: _backslash(escape) if escape[0] == "\\" else escape[1:],
        re.compile(rf"[{_CONTROLS}\"\\]|[$%]\{{"),
        {**_after_backslash('"\\\n\t\r'), "${": "$${", "%{": "%%{"},
        _wide,
    ),
    "bicep": Writing(
        re.compile(rf"\\(?:u\{{{_HEX}{{1,6}}\}}|.)", re.DOTALL),
        _backslash,
        re.compile(rf"[{_CONTROLS}'\\]|\$\{{"),
        {**_after_backslash("'\\\n\t\r"), "${": "\\${"},
        lambda character: f"\\u{{{ord(character):x}}}",
    ),
    # An entity that nobody declared stays as it is. Attributes have line ends and tabs by number alone.
    "xml": _xml(""),
    'xml "': _xml('"'),
    "xml '": _xml("'"),
    "cdata": Writing(re.compile(r"\r\n"), _line_end, re.compile(rf"[\r{_UNWRITABLE_XML}]|\]\]>"), holds_lines=True),
    "url": Writing(
        _URL, lambda escape: unquote(escape.replace("+", " ")), re.compile(r"[^A-Za-z0-9\-._~]"), number=_percent
    ),
    # What is nowhere escaped: only what would be an escape, or the end of it, is.
    "url plain": Writing(
        _URL, lambda escape: unquote(escape.replace("+", " ")), re.compile(rf"[%+&#{_CONTROLS}]"), number=_percent
    ),
    # Only the first bracket of a text is doubled.
    "arm": Writing(re.compile(r"^\[\["), lambda _: "[", re.compile(r"^\[")),
    "ems": Writing(
        re.compile(r"\\[\\\"]"),
        lambda escape: escape[1],
        re.compile(r"[\"\\\n\r]"),
        _after_backslash('"\\') | _none("\n\r"),
    ),
    "lines": Writing(re.compile(r"\r\n"), _line_end, re.compile("\r"), holds_lines=True),
    # What stands before each line of a block is no part of the text.
    "margin": Writing(_NEVER, str, _NEVER, holds_lines=True),
}
