"""Assertions whose failure is the explanation."""

from __future__ import annotations

from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.matcher import Matcher, Message
from mqsel.matcher import compile as compiled


def _matcher(selector: str | Matcher, dialect: Dialect | str) -> Matcher:
    return selector if isinstance(selector, Matcher) else compiled(selector, dialect=dialect)


def assert_selects(selector: str | Matcher, message: Message, *, dialect: Dialect | str = IBM_MQ) -> None:
    """Raise AssertionError unless the selector selects the message.

    Args:
        selector: the text, or a matcher, which has a dialect of its own.
        message: a mapping, or what the matcher takes.
        dialect: of the text.

    Raises: AssertionError: with the explanation. SelectorError: the text is no selector. PropertyTypeError: the message
        is none.
    """
    __tracebackhide__ = True
    matcher = _matcher(selector, dialect)
    if not matcher.matches(message):
        raise AssertionError(f"expected to be selected\n{matcher.explain(message)}")


def assert_not_selects(selector: str | Matcher, message: Message, *, dialect: Dialect | str = IBM_MQ) -> None:
    """Raise AssertionError if the selector selects the message; arguments and errors are those of `assert_selects`."""
    __tracebackhide__ = True
    matcher = _matcher(selector, dialect)
    if matcher.matches(message):
        raise AssertionError(f"expected not to be selected\n{matcher.explain(message)}")
