"""How Ctrl-C ends a command: at once, with exit code 130 and without a word.

As an exception it could arise in any line, those of imports, destructors and libraries too, and be printed there, or
lost. So the process ends in the handler of the signal, and what must not stay behind is registered. Only a process that
is a command has the handler: a program that imports mqsel keeps its own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_undoing: list[Callable[[], object]] = []
_state = {"is_held": False, "is_due": False}


def begin() -> None:
    """Have Ctrl-C end this process, unless whoever started it wants it ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, end)


def over() -> None:
    """Ignore Ctrl-C: the answer is there, and Python only tidies up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def end(*_: object) -> None:
    """End this process, or, where something has to be whole, note that it has to end."""
    if _state["is_held"]:
        _state["is_due"] = True
        return
    for action in reversed(_undoing):
        with suppress(Exception):  # whatever it is, nothing can be done about it, and others have to be undone
            action()
    os._exit(130)


@contextmanager
def undone(action: Callable[[], object]) -> Iterator[None]:
    """Do something if Ctrl-C ends the process amid the block. It takes no lock: whoever is interrupted may have it."""
    _undoing.append(action)
    try:
        yield
    finally:
        _undoing.remove(action)


@contextmanager
def held() -> Iterator[None]:
    """Let the block come to its end first: what it writes is whole, or as it was."""
    _state["is_held"] = True
    try:
        yield
    finally:
        _state["is_held"] = False
        if _state["is_due"]:
            end()
