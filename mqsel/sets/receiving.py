"""Raw messages for many selectors: decoded once, and evaluated by the selectors that a queue manager would run.

Knows formats, dialects and match options; of a set of selectors it knows places, not keys, and runs none. Follows
formats §2 and language §8.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from mqsel import formats
from mqsel.index._reader import MessageReader, Received
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import Dialect, core_of
from mqsel.matcher import COMPARED, rule_of_names
from mqsel.names import DESCRIPTOR

# For each match option the property with the identifier of a message, and the one that is that of any.
_IDENTIFIERS = {name: DESCRIPTOR + field for name, field in COMPARED.items()}
_ANY = [(name, bytes(24)) for name in COMPARED]


class Selectors(Protocol):
    """A set of selectors.

    Attributes:
        properties: names that its selectors read.
        in_any_case: those of them that count without regard to case.
    """

    @property
    def properties(self) -> tuple[str, ...]: ...

    @property
    def in_any_case(self) -> tuple[str, ...]: ...

    def dialects(self) -> list[tuple[int, Dialect]]:
        """List the dialects of all selectors, by place."""

    def match_options(self) -> dict[int, MatchOption]:
        """Return the match options of the selectors that are one, by place."""


class PropertyDecoder:
    """Decodes for the properties that a set reads, also when it comes to read more."""

    def __init__(self, selectors: Selectors, reader: MessageReader[Any], make: Callable[..., formats.Decoder]) -> None:
        self.selectors = selectors
        self.reader = reader
        self.make = make
        self.changes = -1

    def decode(self, message: Any) -> Any:
        """Return what the set reads of a message: people get this method, which is called faster than an object."""
        if self.changes != self.reader.changes:
            self.look()
        return self.quick(message)

    def look(self) -> None:
        """Learn what has changed in the set."""
        changes = self.reader.changes
        if self.changes != changes:
            self.renew()
            self.changes = changes

    def renew(self) -> None:
        self.quick = self.make(self.selectors.properties, in_any_case=self.selectors.in_any_case)


class HeaderDecoder(PropertyDecoder):
    """Decodes messages whose headers have the names of the product, if that is one for all selectors."""

    def renew(self) -> None:
        namings = {core_of(dialect).naming for _, dialect in self.selectors.dialects()}
        naming = namings.pop() if len(namings) == 1 else None
        self.quick = self.make(self.selectors.properties, naming=naming, in_any_case=self.selectors.in_any_case)


class QueueManager(PropertyDecoder):
    """Decodes messages with an MQMD, and knows to which selectors a queue manager would show them.

    An identifier is compared, whatever else is in the message; a message with an invalid name is shown to no other
    selector whose rule says so.
    """

    def __init__(
        self, selectors: Selectors, reader: MessageReader[Any], make: Callable[..., formats.Decoder], rule: str | None
    ) -> None:
        super().__init__(selectors, reader, make)
        self.rule = rule

    def renew(self) -> None:
        self.never = {place for place, one in self.selectors.dialects() if rule_of_names(one, self.rule) == "never"}
        self.options = self.selectors.match_options()
        names = self.selectors.properties
        if self.options:
            names = tuple(dict.fromkeys((*names, *_IDENTIFIERS.values())))
        self.make(names, in_any_case=self.selectors.in_any_case)  # refuses
        self.quick = self.make(names, invalid_names="never" if self.never else "ignore")
        self.tolerant = self.make(names, invalid_names="ignore")
        self.by_identifier: dict[tuple[str, bytes], list[int]] = {}
        for place, option in self.options.items():
            self.by_identifier.setdefault(option, []).append(place)
        self.run: dict[bool, bytes] = {}

    def decode(self, message: Any) -> Any:
        # No call beside that of the decoder: one of Python takes a tenth of a microsecond.
        if self.changes != self.reader.changes:
            self.look()
        decoded = self.quick(message)
        is_invalid = decoded is False
        if not is_invalid and not self.options:
            return decoded
        if is_invalid:
            decoded = self.tolerant(message)
        identifiers = [(name, decoded[field]) for name, field in _IDENTIFIERS.items()] if self.options else []
        return Received(decoded, partial(self.shown, identifiers, is_invalid))

    def shown(self, identifiers: list[tuple[str, bytes]], is_invalid: bool) -> tuple[bytes, list[int]]:
        """Return which selectors run on a message, as a bitmap, and the places of those that select it without."""
        self.look()
        if is_invalid not in self.run:
            never = self.never if is_invalid else ()
            places = [place for place, _ in self.selectors.dialects() if place not in self.options]
            self.run[is_invalid] = self.reader.bitmap([place for place in places if place not in never])
        same = [place for option in (*identifiers, *_ANY) for place in self.by_identifier.get(option, ())]
        return self.run[is_invalid], same
