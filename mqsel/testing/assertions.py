"""Assertions whose failure is the explanation."""

from __future__ import annotations

from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.matcher import Matcher, Message
from mqsel.matcher import compile as compiled


def _matcher(selector: str | Matcher, dialect: Dialect | str) -> Matcher:
    return selector if isinstance(selector, Matcher) else compiled(selector, dialect=dialect)


def assert_selects(selector: str | Matcher, message: Message, *, dialect: Dialect | str = IBM_MQ) -> None:
    """Raise AssertionError with an explanation unless the selector selects the message.

    Args:
        selector: A str, or a `Matcher`, which has its own dialect.
        message: A mapping, or any message that the matcher takes.
        dialect: The `Dialect`, or its name, if *selector* is a str. The default is IBM_MQ.

    Raises: AssertionError: if the selector doesn't select the message. SelectorError: if the selector is invalid.
        PropertyTypeError: if *message* is not a message.
    """
    __tracebackhide__ = True
    matcher = _matcher(selector, dialect)
    if not matcher.matches(message):
        raise AssertionError(f"expected to be selected\n{matcher.explain(message)}")


def assert_not_selects(selector: str | Matcher, message: Message, *, dialect: Dialect | str = IBM_MQ) -> None:
    """Raise AssertionError if the selector selects the message.

    Args: *selector*, *message* and *dialect* are those of `assert_selects`.

    Raises: the errors of `assert_selects`.
    """
    __tracebackhide__ = True
    matcher = _matcher(selector, dialect)
    if matcher.matches(message):
        raise AssertionError(f"expected not to be selected\n{matcher.explain(message)}")
