"""Which characters a property name of IBM MQ may have: asked for the parts of names that are not plainly right.

Follows formats §2 and *IBM MQ 9.4, Property name restrictions*. Knows no selector; that the checker of selectors
agrees is a test.
"""

from __future__ import annotations

import unicodedata

_WHITESPACE = frozenset("\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u180e\u2028\u2029\u202f\u205f\u3000") | {
    chr(point) for point in range(0x2000, 0x200B)
}
_START = frozenset("Lu Ll Lt Lm Lo Nl Sc Pc".split())
_PART = _START | frozenset("Nd Mc Mn Cf".split())

RESERVED = tuple("NULL TRUE FALSE NOT AND OR BETWEEN LIKE IN IS ESCAPE".split())


def _is_ignorable(character: str) -> bool:
    """Tell Java's identifier-ignorable control characters."""
    return character <= "\x08" or "\x0e" <= character <= "\x1b" or "\x7f" <= character <= "\x9f"


def is_identifier(part: str, *, first: bool) -> bool:
    """Tell whether *part* may stand in a property name: at its beginning if *first*, else behind a dot."""
    if not part or (first and unicodedata.category(part[0]) not in _START):
        return False
    return all(
        character not in _WHITESPACE
        and character <= "\uffff"
        and (_is_ignorable(character) or unicodedata.category(character) in _PART)
        for character in part
    )
