# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Texts of a set to formulas, one by one. Compiled, because it runs for each selector; knows nothing of the set."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel.carets import shortened
from mqsel.errors import ArgumentError, SelectorError
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import Dialect
from mqsel.language.selector import read_anew
from mqsel.logic.formulas import Formula
from mqsel.logic.normal import Writer
from mqsel.names import ANY_CASE, joined, parted, spellings

if not cython.compiled:
    from mqsel.language.nodes import field

# Selectors that are remembered while many are read: a set may have copies of few.
_KNOWN = 256


class Formulas:
    """Reads selectors one by one: iterated over once, it yields where each is TRUE, and keeps its match option.

    Args:
        keys: of the selectors, in order.
        texts: by key.
        own: by key, dialects that are not the usual one.
        usual: the dialect of the others.

    Attributes:
        key: of the selector that was read last.
        options: of each that was read its match option, or None.
    """

    def __init__(
        self, keys: Collection[Any], texts: Mapping[Any, str], own: Mapping[Any, Dialect], usual: Dialect
    ) -> None:
        self.keys, self.left = keys, iter(keys)
        self.texts, self.own, self.usual = texts, own, usual
        self.key: Any = None
        self.options: list[MatchOption | None] = []
        self.writer = Writer()
        self.dialect: Dialect | None = None
        self.seen: set[str] = set()
        self.begun: dict[Dialect, tuple[dict[str, tuple[Formula, MatchOption | None]], dict[str, str]]] = {}

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Formulas:
        return self

    def __next__(self) -> Formula:
        self.key = key = next(self.left)
        text = self.texts[key]
        dialect = self.own.get(key, self.usual) if self.own else self.usual
        if dialect is not self.dialect:
            self.dialect = dialect
            self.known, self.names = self.begun.setdefault(dialect, ({}, {}))
        found = self.known.get(text)
        if found is None:
            found = self.read(key, text)
            if text not in self.seen:  # most texts stand there once: the collector would walk what is kept of them
                self.seen.add(text)
            elif len(self.known) < _KNOWN:
                self.known[text] = found
            if len(self.seen) > 4 * _KNOWN:
                self.seen.clear()
                self.known.clear()
        self.options.append(found[1])
        return found[0]

    def read(self, key: Any, text: str) -> tuple[Formula, MatchOption | None]:
        """Return where a selector is TRUE, and its match option."""
        try:
            selector = read_anew(text, self.dialect)  # type: ignore[arg-type]
        except SelectorError as error:
            error.key = key
            raise
        names = self.names
        for name in field(selector, 4):
            if name not in names:
                names[name] = _spelled(selector.names[name], selector.naming)
        return self.writer.true_of(selector, names), field(selector, 6)


@functools.lru_cache(4096)
def _spelled(name: str, rules: str) -> str:
    """Return a property by all its spellings: dialects may differ on what is one property.

    Raises: ArgumentError: the name would be taken for two spellings.
    """
    text = joined(name, rules)
    is_folded = rules == "folded"
    expected = (text,) if is_folded else spellings(name, rules)
    if parted(text) != (*expected, "", "")[:3] or (not is_folded and name.endswith(ANY_CASE)):
        raise ArgumentError(
            f"the name {shortened(name)} reads as two spellings of one property, as computed, or as a name without "
            "regard to case: expected another name"
        )
    return text
