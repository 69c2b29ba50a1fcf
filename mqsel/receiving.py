"""Raw messages for many selectors: decoded once, and shown to those a queue manager would show them to.

Knows formats, dialects and match options; of a set of selectors it knows places, not keys, and runs none. Follows
formats §2 and language §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

from mqsel import formats
from mqsel.index._reading import Received
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import Dialect
from mqsel.matcher import COMPARED, rule_of_names
from mqsel.names import DESCRIPTOR

# For each match option the property with the identifier of a message, and the one that is that of any.
_IDENTIFIERS = {name: DESCRIPTOR + field for name, field in COMPARED.items()}
_ANY = [(name, bytes(24)) for name in COMPARED]


class Selectors(Protocol):
    """A set of selectors.

    Attributes:
        changes: how often it was changed.
        properties: names that its selectors read.
    """

    changes: int

    @property
    def properties(self) -> tuple[str, ...]: ...

    def dialects(self) -> list[tuple[int, Dialect]]:
        """List the dialects of all selectors, by place."""

    def match_options(self) -> dict[int, MatchOption]:
        """Give the match options of the selectors that are one, by place."""

    def bitmap(self, places: Iterable[int]) -> bytes:
        """Write a set of places as bits."""


class PropertyDecoder:
    """Decodes for the properties that a set reads, also when it comes to read more."""

    def __init__(self, selectors: Selectors, make: Callable[..., formats.Decoder]) -> None:
        self.selectors = selectors
        self.make = make
        self.changes = -1

    def decode(self, message: Any) -> Any:
        """Give what the set reads of a message: people get this method, which is called faster than an object."""
        if self.changes != self.selectors.changes:
            self.look()
        return self.quick(message)

    def look(self) -> None:
        """Learn what has changed in the set."""
        changes = self.selectors.changes
        if self.changes != changes:
            self.renew()
            self.changes = changes

    def renew(self) -> None:
        self.quick = self.make(self.selectors.properties)


class QueueManager(PropertyDecoder):
    """Decodes messages with an MQMD, and knows to which selectors a queue manager would show them.

    An identifier is compared, whatever else is in the message; a message with an invalid name is shown to no other
    selector whose rule says so.
    """

    def __init__(self, selectors: Selectors, format: str, options: dict[str, Any]) -> None:  # noqa: A002
        super().__init__(selectors, partial(formats.decoder, format, **options))
        self.rule = options.get("invalid_names")

    def renew(self) -> None:
        self.never = {place for place, one in self.selectors.dialects() if rule_of_names(one, self.rule) == "never"}
        self.options = self.selectors.match_options()
        names = self.selectors.properties
        if self.options:
            names = tuple(dict.fromkeys((*names, *_IDENTIFIERS.values())))
        self.quick = self.make(names, invalid_names="never" if self.never else "ignore")
        self.tolerant = self.make(names, invalid_names="ignore")
        self.by_identifier: dict[tuple[str, bytes], list[int]] = {}
        for place, option in self.options.items():
            self.by_identifier.setdefault(option, []).append(place)
        self.run: dict[bool, bytes] = {}

    def decode(self, message: Any) -> Any:
        # No call beside that of the decoder: one of Python takes a tenth of a microsecond.
        if self.changes != self.selectors.changes:
            self.look()
        held = self.quick(message)
        is_invalid = held is False
        if not is_invalid and not self.options:
            return held
        if is_invalid:
            held = self.tolerant(message)
        found = [(name, held[field]) for name, field in _IDENTIFIERS.items()] if self.options else []
        return Received(held, partial(self.shown, found, is_invalid))

    def shown(self, found: list[tuple[str, bytes]], is_invalid: bool) -> tuple[bytes, list[int]]:
        """Tell which selectors run on a message, and which select it by an identifier: a bitmap, and places."""
        self.look()
        if is_invalid not in self.run:
            never = self.never if is_invalid else ()
            places = [place for place, _ in self.selectors.dialects() if place not in self.options]
            self.run[is_invalid] = self.selectors.bitmap([place for place in places if place not in never])
        same = [place for option in (*found, *_ANY) for place in self.by_identifier.get(option, ())]
        return self.run[is_invalid], same
