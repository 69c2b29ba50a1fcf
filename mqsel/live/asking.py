"""What a broker selects of a queue beside what a dialect predicts, message by message.

The queue is read three times: all of it, what the broker selects, and all of it again. A message that the first and the
third have was there all the time, so the second has it if the broker selects it. The others came or went meanwhile,
and are not compared. Messages are the same if their bytes are, less the two sections in which a broker writes anew
what it does with a message: the header, with the rest of its time to live, and the delivery annotations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

from mqsel.errors import DecodeError, PropertyTypeError
from mqsel.files.framings import OF_QUEUES
from mqsel.matcher import Matcher
from mqsel.values import Truth

_LEFT_OUT = (b"\0Sp", b"\0Sq")  # descriptors of the header and the delivery annotations


class Difference(NamedTuple):
    """A message that the broker selects and the dialect does not, or the other way round.

    Attributes:
        number: in the queue, from 1.
        is_selected: by the broker.
        truth: under the dialect.
    """

    number: int
    is_selected: bool
    truth: Truth


class Answer(NamedTuple):
    """What a broker selects.

    Attributes:
        messages: that were compared.
        selected: of them, by the broker.
        differences: in the order of the queue.
        passed: messages that came or went meanwhile.
        unread: messages without a truth value: they are invalid, or no document says what the selector is for them.
    """

    messages: int
    selected: int
    differences: list[Difference]
    passed: int
    unread: int


class Question:
    """Asks a broker for the messages of a queue that a selector selects.

    Args:
        matcher: of the selector, under the dialect that predicts.
        name: the address of the queue.
        browse: returns batches of the messages that a selector selects, or of all.

    Attributes:
        answer: None until the batches have come to their end.
    """

    def __init__(self, matcher: Matcher, name: str, browse: Callable[[str], Iterator[list[bytes]]]) -> None:
        self.name = name
        self.dialect, _ = matcher.dialect.departures()
        self.answer: Answer | None = None
        self._matcher = matcher
        self._browse = browse

    def batches(self) -> Iterator[list[bytes]]:
        """Yield all messages, and find the answer."""
        decode = self._matcher.decoder(OF_QUEUES)
        before: Counter[bytes] = Counter()
        predicted: dict[bytes, tuple[int, Truth | None]] = {}
        number = 0
        for batch in self._browse(""):
            for number, message in enumerate(batch, number + 1):  # noqa: B020 (goes on counting)
                key = _key(message)
                before[key] += 1
                if key not in predicted:
                    truth: Truth | None = None
                    with suppress(DecodeError, PropertyTypeError):
                        truth = Truth(self._matcher.truth(decode(message)))
                    predicted[key] = number, truth
            yield batch
        theirs = Counter(_key(message) for batch in self._browse(self._matcher.selector) for message in batch)
        after = Counter(_key(message) for batch in self._browse("") for message in batch)
        self.answer = _compared(before, theirs, after, predicted)


def _compared(
    before: Counter[bytes],
    theirs: Counter[bytes],
    after: Counter[bytes],
    predicted: dict[bytes, tuple[int, Truth | None]],
) -> Answer:
    messages = selected = unread = 0
    differences = []
    steady = {key for key, count in before.items() if after[key] == count}
    for key in steady:
        number, truth = predicted[key]
        if truth is None:
            unread += before[key]
            continue
        messages += before[key]
        selected += theirs[key]
        if theirs[key] != before[key] * (truth == Truth.TRUE):
            differences.append(Difference(number, theirs[key] > 0, truth))
    passed = sum(((before | theirs | after) - Counter({key: before[key] for key in steady})).values())
    return Answer(messages, selected, sorted(differences), passed, unread)


def _key(message: bytes) -> bytes:
    """Return what two copies of a message have in common, in 16 bytes."""
    at = 0
    while message[at : at + 3] in _LEFT_OUT:
        code = message[at + 3]
        width = {0xC0: 1, 0xC1: 1, 0xD0: 4, 0xD1: 4}.get(
            code, 0
        )  # of the size of a list or a map; an empty list has none
        at += 4 + width + int.from_bytes(message[at + 4 : at + 4 + width], "big")
    return blake2b(message[at:], digest_size=16).digest()
