"""Checks of arguments whose wrong values people meet: a word that is none of a few, a count below 1, no iterable.

Python says the rest itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from mqsel.carets import shortened
from mqsel.errors import ArgumentError, MqselError

_T = TypeVar("_T")


def check_word(name: str, argument: object, known: Collection[str]) -> None:
    """Check an argument that is one of a few words.

    Raises: ArgumentError: if it is none of them.
    """
    if not isinstance(argument, str) or argument not in known:
        words = [*map(repr, known)]
        expected = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        raise ArgumentError(f"{name} is {shortened(argument)}: expected {expected}")


def check_count(name: str, argument: object, expected: str) -> None:
    """Check an argument that is a number from 1 on.

    Raises: ArgumentError: if it is none.
    """
    if not isinstance(argument, int) or argument < 1:
        raise ArgumentError(f"{name} is {shortened(argument)}: expected {expected}")


def iterated(argument: Iterable[_T], expected: str) -> Iterator[_T]:
    """Return an iterator over an argument.

    Raises: ArgumentError: if it has none; whatever its own code raises.
    """
    try:
        return iter(argument)
    except (TypeError, ValueError) as error:  # ValueError of a closed file
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        raise ArgumentError(f"found {shortened(argument)}: expected {expected}") from error


def check_total(count: int, *reported: int, of: str = "selectors") -> None:
    """Check that each thing that was found is in one part of a report.

    Raises: MqselError: if one is not, by a defect of mqsel.
    """
    if count != sum(reported):
        raise MqselError(f"defect of mqsel: {count:,} {of} were found, and {sum(reported):,} are in the report")
