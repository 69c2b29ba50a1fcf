"""Findings of lint, their edits, and the places in a text that edits need. Knows no rule."""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from html import escape
from typing import NamedTuple

from mqsel.carets import Span, in_one_line
from mqsel.language.dialect import Dialect
from mqsel.language.lexer import tokenize
from mqsel.language.nodes import And, Computed, In, Like, Node, Or, walk
from mqsel.language.selector import Selector
from mqsel.names import WHITE_SPACE
from mqsel.notebook import badge, code, page, table

ERROR, WARNING, NOTE = "error", "warning", "note"


class Edit(NamedTuple):
    """A part of the selector, and the text to write instead.

    Attributes:
        span: The part, as a pair of positions (start, end) in code points; empty for an insertion.
        text: The text to write instead.
    """

    span: Span
    text: str


class Finding(NamedTuple):
    """A likely mistake in a selector.

    Attributes:
        code: The code of the rule, which doesn't change in later versions.
        severity: "error": no broker accepts the selector. "warning": it almost certainly has another meaning than you
            intend. "note": it may have.
        span: The part of the selector, as a pair of positions (start, end) in code points.
        sentence: What the mistake is, and what you can do about it.
        edits: The edits that correct it together. They are empty unless they keep the result of every message.
    """

    code: str
    severity: str
    span: Span
    sentence: str
    edits: tuple[Edit, ...] = ()


class Findings(list[Finding]):
    """The findings of `lint`, a list in the order of the selector. A notebook shows them as a table."""

    def __init__(self, text: str, findings: Iterable[Finding] = ()) -> None:
        super().__init__(findings)
        self.text = text

    def _repr_html_(self) -> str:
        rows = [
            (badge(one.severity), code(self.text[slice(*one.span)]), f"{escape(one.sentence)} [{escape(one.code)}]")
            for one in self
        ]
        return page([code(self.text), *["<b>nothing was found</b>"] * (not rows)], table(("", "", ""), rows))


class Found(NamedTuple):
    """What a rule found.

    Attributes:
        span: where.
        words: what stands in the sentence of the rule.
        edits: as in a finding.
    """

    span: Span
    words: tuple[object, ...] = ()
    edits: tuple[Edit, ...] = ()


def piece(text: str, node: Node) -> str:
    """Return what stands in the text for *node*, in one line."""
    return in_one_line(text[slice(*node.span)])


def parsed(selector: Selector) -> Iterator[Node]:
    """Return every node of a selector, and of its computed tests those that they were parsed as."""
    for node in selector.order:
        yield node
        if isinstance(node, Computed):
            yield from walk(node.expression)


def strings_of(node: In | Like, selector: Selector) -> list[Span]:
    """Return where the strings of an IN list stand, or the pattern of LIKE."""
    strings = _strings(selector.text, selector.dialect)
    first, last = [bisect_left(strings, (at, 0)) for at in (node.identifier.span[1], node.span[1])]
    return strings[first : last if isinstance(node, In) else first + 1]


@functools.lru_cache(64)
def _strings(text: str, dialect: Dialect) -> list[Span]:
    return [(token.start, token.stop) for token in tokenize(text, dialect) if token.kind == "string"]


def _left(text: str, at: int, passed: Container[str]) -> int:
    """Go left from a place over some characters."""
    while at and text[at - 1] in passed:
        at -= 1
    return at


_OPENING = WHITE_SPACE | {"("}


def bounds(chain: And | Or, place: int, text: str) -> Span:
    """Return where an operand of a chain stands, with the parentheses around it, which its own span leaves out."""
    start, stop = chain.span
    if place:
        start = _left(text, chain.operands[place].span[0], _OPENING)
        while text[start] in WHITE_SPACE:
            start += 1
    if place + 1 < len(chain.operands):
        behind = _left(text, chain.operands[place + 1].span[0], _OPENING)  # the word between the two ends here
        stop = _left(text, behind - (3 if isinstance(chain, And) else 2), WHITE_SPACE)
    return start, stop


def without(chain: And | Or, place: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that takes an operand out of a chain, and the word that joins it."""
    start, stop = bounds(chain, place, text)
    if place:
        return (Edit((bounds(chain, place - 1, text)[1], stop), ""),)
    return (Edit((start, bounds(chain, 1, text)[0]), ""),)
