"""A queue: messages in order of priority and arrival, taken by selector or by identifier. Follows selection §3.

Knows nothing of subscriptions. What a message has is read once, where it arrives; from then on selectors run over
plain lists of mappings.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import index
from typing import Any, NamedTuple

from mqsel.carets import shortened
from mqsel.errors import MQRC, ArgumentError, NoMessageAvailable
from mqsel.formats import decoder, properties
from mqsel.language.checker import is_name
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.machine._values import Record
from mqsel.matcher import Matcher, rule_of_names
from mqsel.names import MAX_LENGTH, is_identifier, spellings
from mqsel.selection.message import HEADERS, Message, no_priority
from mqsel.selection.selectors import PROTECTION, Complexity, SelectionType, present
from mqsel.values import CLASS_NAMES

DEFAULT_PRIORITY = 4  # of Jakarta Messaging §3.4.10, and of an MQMD

# For each match option the field of the descriptor, and the header that shows it.
_IDENTIFIERS = {
    "MQMO_MATCH_MSG_ID": ("Root.MQMD.MsgId", "JMSMessageID"),
    "MQMO_MATCH_CORREL_ID": ("Root.MQMD.CorrelId", "JMSCorrelationID"),
}
_ORDER = {option: place for place, option in enumerate(_IDENTIFIERS)}
_OPTIONS = {header: option for option, (_, header) in _IDENTIFIERS.items()}
_SHOWN = re.compile(r"ID:([0-9A-Fa-f]{48})")
_RANGE = 1 << 63
_NO_IDENTIFIER = bytes(24)  # MQMI_NONE, MQCI_NONE: matches every message
# language §8 for the selectors that have it, without compiling each: a tenth of a millisecond saved.
_BY_IDENTIFIER = re.compile(r"\s*(JMSMessageID|JMSCorrelationID)\s*=\s*'ID:([0-9A-Fa-f]{48})'\s*", re.ASCII)


class Arrived(NamedTuple):
    """A message, and what there is to know of it.

    Attributes:
        message: as it was put.
        read: its properties.
        selectable: False if no selector selects it, because a name among its properties is invalid (formats §2).
        priority: 0 to 9.
        identifiers: of 24 bytes, one for each match option; None where it has none.
    """

    message: Any
    read: Mapping[str, Any]
    selectable: bool
    priority: int
    identifiers: tuple[bytes | None, ...]

    def delivered(self) -> Any:
        """Return the message for one of several receivers: of a `Message`, a copy."""
        return self.message.received() if isinstance(self.message, Message) else self.message


def arrived(message: Any, dialect: Dialect) -> Arrived:
    """Read a message: a mapping as it is, the bytes of an IBM MQ message by `mqsel.formats`.

    Raises: PropertyTypeError: no message, or a value that no property has. DecodeError: bytes that are no message.
        ArgumentError: a priority that is not 0 to 9.
    """
    selectable, are_any = True, rule_of_names(dialect, None) == "ignore"
    read: Mapping[str, Any]
    if isinstance(message, Message):
        message = message.received()
        read = message.values_read
    elif isinstance(message, Mapping):
        read = message
        for name, value in message.items():
            kind = type(value)
            if kind not in CLASS_NAMES or (kind is int and not -_RANGE <= value < _RANGE) or type(name) is not str:
                Record((name,), (value,))  # its errors are those of a selector that reads the property
        selectable = are_any or all(map(_is_property, message))
    else:
        read = properties(message)
        message = bytes(message)  # of its own: a view may change, and cannot be pickled
        selectable = are_any or decoder("mq", (), invalid_names="never")(message) is not False
    given = read.get("JMSPriority")
    try:
        priority = DEFAULT_PRIORITY if given is None else index(given)
    except TypeError:
        priority = -1
    if not 0 <= priority <= 9 or isinstance(given, bool):
        raise no_priority(given)
    return Arrived(message, read, selectable, priority, tuple([_identifier(read, option) for option in _IDENTIFIERS]))


@lru_cache(4096)  # messages have the same names again and again
def _is_property(name: str) -> bool:
    """Report whether a message may have a property of this name, as decoders spell it: formats §2, §7."""
    name = name[:MAX_LENGTH]
    parts = name.split(".")
    return all(is_identifier(part, first=not place) for place, part in enumerate(parts)) and (
        name[:4] in ("JMSX", "JMS_")
        or name in HEADERS
        or all(is_name(one[:MAX_LENGTH], "mqi") for one in spellings(name))
    )


def _identifier(read: Mapping[str, Any], option: str) -> bytes | None:
    field, header = _IDENTIFIERS[option]
    found = read.get(field)
    if found is None:
        shown = read.get(header)
        match = _SHOWN.fullmatch(shown) if isinstance(shown, str) else None
        found = bytes.fromhex(match[1]) if match else None
    return found if isinstance(found, bytes) and found != _NO_IDENTIFIER else None


class Inspected(NamedTuple):
    """The cost of a get.

    Attributes:
        messages: The number of messages that were inspected, with the one that was taken.
        match_option: The match option by which messages were found; None if they were inspected in order.
    """

    messages: int
    match_option: str | None


_HOLE: dict[str, Any] = {}  # where a message was taken; known by identity
_UNSELECTABLE: dict[str, Any] = {}  # in place of what an unselectable message has


# The number of a match option and its identifier; None where every message matches.
_Wanted = tuple[int, bytes] | None


class _Level:
    """The messages of one priority, in order of arrival. One taken leaves a hole; half holes are swept out.

    Attributes:
        numbers: of arrival, ascending.
        items: what arrived with each number; None in a hole.
        reads: what selectors read of it.
        first: place of the first message: before it are only holes.
        holes: how many there are.
        known: for each match option: identifier -> number of arrival, or numbers in order.
    """

    __slots__ = ("first", "holes", "items", "known", "numbers", "reads")

    def __init__(self) -> None:
        self.numbers: array[int] = array("q")
        self.items: list[Arrived | None] = []
        self.reads: list[Mapping[str, Any]] = []
        self.first = self.holes = 0
        self.known: tuple[dict[bytes, int | OrderedDict[int, None]], ...] = tuple([{} for _ in _IDENTIFIERS])

    def __len__(self) -> int:
        return len(self.numbers) - self.holes

    def put(self, number: int, item: Arrived) -> None:
        self.numbers.append(number)
        self.items.append(item)
        self.reads.append(item.read if item.selectable else _UNSELECTABLE)
        for known, identifier in zip(self.known, item.identifiers, strict=True):
            if identifier is None:
                continue
            others = known.setdefault(identifier, number)
            if isinstance(others, OrderedDict):
                others[number] = None
            elif others != number:
                known[identifier] = OrderedDict.fromkeys((others, number))

    def take(self, place: int) -> Arrived:
        item, number = self.items[place], self.numbers[place]
        assert item is not None
        for known, identifier in zip(self.known, item.identifiers, strict=True):
            if identifier is None:
                continue
            others = known.pop(identifier)
            if isinstance(others, OrderedDict):
                del others[number]
                if others:
                    known[identifier] = others
        self.items[place], self.reads[place] = None, _HOLE
        self.holes += 1
        while self.first < len(self.items) and self.items[self.first] is None:
            self.first += 1
        if self.holes * 2 > len(self.items):
            places = [place for place, item in enumerate(self.items) if item is not None]
            self.numbers = array("q", [self.numbers[place] for place in places])
            self.items = [self.items[place] for place in places]
            self.reads = [self.reads[place] for place in places]
            self.first = self.holes = 0
        return item

    def place_of(self, number: int) -> int:
        # Where no level but this one gets messages, and nothing was swept out, a number tells its place.
        place = number - self.numbers[0]
        if place < len(self.numbers) and self.numbers[place] == number:
            return place
        return bisect_left(self.numbers, number)

    def inspected(self, wanted: _Wanted, place: int | None) -> int:
        """Count the messages that `places` looks at up to *place*, or all of them."""
        if wanted is not None:
            numbers = self.known[wanted[0]].get(wanted[1], ())
            places = [self.place_of(one) for one in ((numbers,) if isinstance(numbers, int) else numbers)]
            return len(places) if place is None else places.index(place) + 1
        if place is None:
            return len(self)
        passed = self.items[self.first : place + 1] if self.holes > self.first else ()
        return place + 1 - self.first - passed.count(None)

    def places(self, matcher: Matcher | None, wanted: _Wanted) -> Iterator[int]:
        """Find the messages that are selected, in order, as long as none is put or taken."""
        if wanted is not None:
            numbers = self.known[wanted[0]].get(wanted[1], ())
            for number in (numbers,) if isinstance(numbers, int) else numbers:
                place = self.place_of(number)
                if matcher is None or (self.reads[place] is not _UNSELECTABLE and matcher.matches(self.reads[place])):
                    yield place
        elif matcher is None:
            for place in range(self.first, len(self.items)):
                if self.items[place] is not None:
                    yield place
        else:
            ahead: Iterable[Any] = self.reads
            if self.first:  # a list is read quicker, but from its beginning only
                ahead = iter(self.reads)
                ahead.__setstate__(self.first)  # type: ignore[attr-defined]
            selection = matcher.filter(ahead)
            for read in selection:
                if read is not _HOLE and read is not _UNSELECTABLE:
                    yield self.first + selection.seen - 1


class Queue:
    """A queue in memory. Messages are in order of priority, then arrival, and `get` takes the first that is selected.

    A message is a mapping, a `Message`, or the bytes of an IBM MQ message with its MQMD. The queue doesn't copy a
    mapping, so leave it unchanged while it is on the queue. Threads may share a queue. You can pickle it with its
    messages.

    Args:
        dialect: The `Dialect` of the selectors, or its name. The default is IBM_MQ.
        complexity: The limits for complex selectors, a `Complexity`. None: no limits.
    """

    def __init__(self, dialect: Dialect | str = IBM_MQ, *, complexity: Complexity | None = PROTECTION) -> None:
        self._dialect, self._complexity = as_dialect(dialect), complexity
        self._lock = threading.RLock()
        self._levels: dict[int, _Level] = {}  # by priority, the highest first
        self._arrivals = 0
        self._last_get: Inspected | None = None

    @property
    def last_get(self) -> Inspected | None:
        """The cost of the latest get of any thread, as `Inspected`; None before the first get."""
        return self._last_get

    def put(self, message: Any) -> None:
        """Put a message after the messages of its priority (JMSPriority, or 4 if it has none).

        A `Message` is copied. Its properties are read-only when it is received.

        Args:
            message: A mapping, a `Message`, or the bytes of an IBM MQ message.

        Raises: PropertyTypeError: if *message* is not a message, or has a value that no property can have.
            DecodeError: if bytes are not an IBM MQ message.
            ArgumentError: if the priority is not 0 to 9.
        """
        self.add(arrived(message, self._dialect))

    def add(self, item: Arrived) -> None:
        """Put a message that has been read already, as a `Topic` does.

        Args:
            item: The message, as the topic read it.

        Raises: ArgumentError: if *item* is not such a message.
        """
        if not isinstance(item, Arrived):
            raise ArgumentError(f"found {shortened(item)}: expected what arrived; put takes messages")
        with self._lock:
            if item.priority not in self._levels:
                self._levels = dict(sorted({**self._levels, item.priority: _Level()}.items(), reverse=True))
            self._arrivals += 1
            self._levels[item.priority].put(self._arrivals, item)

    def get(self, selector: str = "", *, match_option: tuple[str, bytes] | None = None) -> Any:
        """Remove and return the first message that is selected.

        Args:
            selector: The selector. The default is empty: every message. The queue looks up ``JMSMessageID = 'ID:…'``
                and ``JMSCorrelationID = 'ID:…'`` by identifier, and inspects the messages in order for all other
                selectors.
            match_option: ("MQMO_MATCH_MSG_ID" or "MQMO_MATCH_CORREL_ID", 24 bytes), as `Matcher.match_option` has it.
                24 zero bytes match every message. With a selector, both decide. The default is None: only the selector
                decides.

        Raises: NoMessageAvailable: if no message is selected (2033). SelectorError: if the selector is invalid.
        """
        matcher, wanted = self._asked(selector, match_option)
        messages, option = 0, None if wanted is None else list(_IDENTIFIERS)[wanted[0]]
        with self._lock:
            for level in self._levels.values():
                place = next(level.places(matcher, wanted), None)
                messages += level.inspected(wanted, place)
                self._last_get = Inspected(messages, option)
                if place is not None:
                    return level.take(place).message
            self._last_get = Inspected(messages, option)
        raise NoMessageAvailable(
            f"none of {len(self)} messages is selected" if len(self) else "the queue is empty",
            reason=MQRC.MQRC_NO_MSG_AVAILABLE,
        )

    def browse(self, selector: str = "", *, match_option: tuple[str, bytes] | None = None) -> Iterator[Any]:
        """Iterate over the messages that are selected now, without removing them.

        Args: *selector* and *match_option* are those of `get`.

        Raises: SelectorError: if the selector is invalid.
        """
        return iter([item.delivered() for item in self._selected(selector, match_option)])

    def count(self, selector: str = "", *, match_option: tuple[str, bytes] | None = None) -> int:
        """Return the number of messages that are selected.

        Args: *selector* and *match_option* are those of `get`.

        Raises: SelectorError: if the selector is invalid.
        """
        return len(self._selected(selector, match_option))

    def __len__(self) -> int:
        return sum(len(level) for level in tuple(self._levels.values()))

    def _selected(self, selector: str, match_option: tuple[str, bytes] | None) -> list[Arrived]:
        matcher, wanted = self._asked(selector, match_option)
        with self._lock:
            levels = self._levels.values()
            found = [level.items[place] for level in levels for place in level.places(matcher, wanted)]
        return [item for item in found if item is not None]

    def _asked(self, selector: str, match_option: tuple[str, bytes] | None) -> tuple[Matcher | None, _Wanted]:
        """Return what is asked for: the selector to run, if one must run, and the identifier to match."""
        if match_option is None:
            alone = _BY_IDENTIFIER.fullmatch(selector) if isinstance(selector, str) else None
            any_message = alone is not None and not alone[2].strip("0")
            if alone is not None and not (any_message and self._dialect.zero_identifier == "string"):
                return None, _wanted(_OPTIONS[alone[1]], bytes.fromhex(alone[2]))
            wanted = None
        else:
            wanted = _wanted(*_checked(match_option))
        if isinstance(selector, str) and not selector:
            return None, wanted
        presented = present(selector, self._dialect, complexity=self._complexity)
        return presented.matcher if presented.type is SelectionType.STANDARD else None, wanted

    def __getstate__(self) -> tuple[Dialect, Complexity | None, list[Any]]:
        return self._dialect, self._complexity, list(self.browse())

    def __setstate__(self, state: tuple[Dialect, Complexity | None, list[Any]]) -> None:
        self.__init__(state[0], complexity=state[1])  # type: ignore[misc]
        for message in state[2]:
            self.put(message)


def _wanted(name: str, identifier: bytes) -> _Wanted:
    return None if identifier == _NO_IDENTIFIER else (_ORDER[name], identifier)


def _checked(given: tuple[str, bytes]) -> tuple[str, bytes]:
    try:
        name, identifier = given
        if name in _ORDER and isinstance(identifier, bytes) and len(identifier) == 24:
            return name, identifier
    except (TypeError, ValueError):
        pass
    names = " or ".join(map(repr, _ORDER))
    raise ArgumentError(f"match_option is {shortened(given)}: expected ({names}, 24 bytes)")
