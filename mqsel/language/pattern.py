# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""LIKE patterns taken apart, for the optimizer, the machine and Spark. Follows language §4 and §5.

The escape takes the meaning from `_`, `%` and itself; before anything else, and at the end, it stands for itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from mqsel.language.dialect import Dialect

Segment = list[str | None]  # characters; None is `_`, any one of them


def segments(pattern: str, escape: str | None) -> list[Segment]:
    """Split a pattern at its runs of `%`: *k* runs make *k* + 1 segments, of which the first and last may be empty."""
    found: list[Segment] = [[]]
    escaped = False
    for at, character in enumerate(pattern):
        if escaped:
            found[-1].append(character)
            escaped = False
        elif character == escape:
            escaped = pattern[at + 1 : at + 2] in ("_", "%", escape)
            if not escaped:
                found[-1].append(character)
        elif character == "_":
            found[-1].append(None)
        elif character != "%":
            found[-1].append(character)
        elif found[-1] or len(found) == 1:
            found.append([])
    return found


_SHAPES = {(True,): "exact", (True, False): "prefix", (False, True): "suffix", (False, True, False): "contains"}


def shape(parts: Sequence[Segment]) -> tuple[str, str]:
    """Return what a pattern is, from its segments: its shape, and the text that must be there.

    Returns: "exact", "prefix" (of any text: `%` alone), "suffix" or "contains" and the text; else "pattern" and "".
    """
    text = [character for part in parts for character in part if character is not None]
    if len(text) < sum(map(len, parts)):
        return "pattern", ""
    filled = tuple(map(bool, parts))
    if not text:
        return "exact" if len(parts) == 1 else "prefix", ""
    found = _SHAPES.get(filled)
    return (found, "".join(text)) if found else ("pattern", "")


# ---- patterns of products ----------------------------------------------------------------------------------------


def wildcards(pattern: str, escape: str | None, dialect: Dialect) -> list[tuple[str, bool]]:
    """List the characters of a pattern, each with whether it is a wildcard."""
    if dialect.rules.like_escapes == "dropped_runs":
        pattern = re.sub("%+", "%", pattern)
    if dialect.rules.like_escapes == "dropped" and escape:
        pattern = re.sub(f"({re.escape(escape)})+", r"\1", pattern)
    found: list[tuple[str, bool]] = []
    at = 0
    while at < len(pattern):
        character, following = pattern[at], pattern[at + 1 : at + 2]
        at += 1
        if character != escape:
            found.append((character, character in ("%", "_")))
        elif following and (dialect.rules.like_escapes not in ("wildcards", "wild") or following in ("%", "_", escape)):
            found += [(one, False) for one in _written(following, dialect)]
            at += 1
        elif not dialect.rules.like_escapes.startswith("dropped"):
            found.append((character, character in ("%", "_") and dialect.rules.like_escapes != "wildcards"))
    return found


def plain(parts: Sequence[tuple[str, bool]]) -> tuple[str, str | None]:
    """Return the pattern and the escape by which the core reads characters, each a wildcard or none."""
    is_special = any(not is_wild and character in "%_" for character, is_wild in parts)
    return "".join(
        "\\" + character if is_special and not is_wild and character in "%_\\" else character
        for character, is_wild in parts
    ), "\\" if is_special else None


def is_escape(text: str, dialect: Dialect) -> bool:
    """Report whether a text is one of what the wildcard for one character matches."""
    return len(text.encode("utf-8", "surrogatepass") if dialect.rules.like_units == "bytes" else text) == 1


def _written(character: str, dialect: Dialect) -> str:
    """Return what a character behind an escape stands for."""
    if dialect.rules.like_escapes not in ("wild", "dropped_runs") or character <= "\xff":
        return character
    # Broker-J escapes a UTF-16 code unit: two halves, which no text has apart.
    if character > "\uffff":
        units = character.encode("utf-16-be")
        return "".join(chr(int.from_bytes(units[at : at + 2], "big")) for at in (0, 2))
    # These engines write \x and all its digits into a regular expression, which reads two of them.
    digits = f"{ord(character):x}"
    return chr(int(digits[:2], 16)) + digits[2:]


def is_simple(parts: Sequence[tuple[str, bool]], dialect: Dialect) -> bool:
    """Report whether wildcards match line ends although they do not in all patterns."""
    wild = [character for character, is_wild in parts if is_wild]
    return dialect.rules.like_lines == "simple" and wild.count("%") < 2 and "_" not in wild


def parts_of(pattern: str, escape: str | None, dialect: Dialect) -> list[tuple[str, bool]] | None:
    """Return `wildcards` of a pattern with any escape; None if it matches nothing."""
    if escape == "" and dialect.rules.like_escapes == "dropped":
        escape = None
    is_possible = escape is None or is_escape(escape, dialect)
    return wildcards(pattern, escape, dialect) if is_possible else None


@functools.lru_cache(1024)
def regex(pattern: str, escape: str | None, dialect: Dialect) -> re.Pattern[Any]:
    """Return what matches the texts that LIKE does, as UTF-8 where the wildcard for one character is one byte."""
    is_bytes = dialect.rules.like_units == "bytes"
    parts = parts_of(pattern, escape, dialect)
    if parts is None:
        return re.compile(b"(?!)" if is_bytes else "(?!)")
    pieces = [""]  # between the wildcards for any characters
    for character, is_wild in parts:
        if is_wild and character == "%":
            pieces.append("")
        else:
            pieces[-1] += "." if is_wild else re.escape(character)
    # Of a piece in the middle the first place suffices. A group that is matched again leaves no other to try: with ".*"
    # alone the time grew as a power of the text's length, whose exponent was the number of wildcards.
    middle = [f"(?=(?P<p{at}>.*?{piece}))(?P=p{at})" for at, piece in enumerate(pieces[1:-1])]
    body = "".join([*pieces[:1], *middle, *[f".*{piece}" for piece in pieces[1:][-1:]]])
    flags = re.DOTALL if dialect.rules.like_lines == "all" or is_simple(parts, dialect) else re.RegexFlag(0)
    if dialect.rules.like_lines == "simple" and not flags:  # its engine's $ stands before a last line feed, too
        body += "\n?"
    if is_bytes:
        return re.compile(body.encode("utf-8", "surrogatepass"), flags)
    return re.compile(body, flags)
