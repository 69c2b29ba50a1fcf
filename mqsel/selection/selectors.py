"""A selector is presented: its type, the provider that compiles it, and whether it is too complex.

The only module of the folder that reads a selector; queues and topics hold the result. Follows selection §2, §5.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from mqsel.arguments import iterated
from mqsel.carets import shortened, type_name
from mqsel.errors import MQRC, ArgumentError, SelectorError, SelectorLimitError
from mqsel.language.checker import MAX_TESTS
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import And, Not, Or, children
from mqsel.language.selector import as_text, read_selector
from mqsel.matcher import Matcher, compile  # noqa: A004 (as it is called outside)


class SelectionType(IntEnum):
    """The types of selection of a subscription, by IBM's numbers (MQSELTYPE_NONE, …): *IBM MQ 9.4, DISPLAY SUB*."""

    NONE = 0
    STANDARD = 1
    EXTENDED = 2


class Provider(Protocol):
    """An extended message selection provider, which accepts texts that are not selectors. Pass it to a `Topic`."""

    def compile(self, text: str) -> Callable[[Any], bool]:
        """Return the test for *text*: a function that takes a published message and returns whether it is selected.

        Args:
            text: The text of the subscription.

        Raises: SelectorError: if the provider doesn't accept the text.
        """


class Complexity(NamedTuple):
    """The limits of a queue manager for complex selectors (*IBM MQ 9.4, Selection behavior*, Use complex selectors).

    Attributes:
        tests: The greatest number of tests in a selector. The default is 100.
        nesting: The greatest depth of nested conditions. The default is None: no limit. The limit of IBM MQ depends on
            the stack of the platform; IBM's documentation has no number.
        refuse: Whether a selector above a limit is an error. The default is False: it is a `ComplexSelectorWarning`.
    """

    tests: int = MAX_TESTS
    nesting: int | None = None
    refuse: bool = False


PROTECTION = Complexity()


class ComplexSelectorWarning(UserWarning):
    """A queue manager may reject this selector, because it is complex."""


class Presented(NamedTuple):
    """A selector that was taken.

    Attributes:
        matcher: what runs it; None where a provider does, or nothing has to.
        test: whether it selects a message.
    """

    type: SelectionType
    matcher: Matcher | None
    test: Callable[[Any], bool]


def selection_type(text: str, dialect: Dialect | str = IBM_MQ, providers: Iterable[Provider] = ()) -> SelectionType:
    """Return whether *text* selects every message, is a selector, or is for one of the providers.

    Args:
        text: The text of the subscription.
        dialect: The `Dialect` of the selector, or its name. The default is IBM_MQ.
        providers: Extended message selection providers, which are asked in this order. The default is none.

    Raises: SelectorError: if the text is no selector and no provider accepts it. The reason code is 2459, or 2551 if
        you subscribe with the text.
    """
    return present(text, as_dialect(dialect), providers=given_providers(providers)).type


def given_providers(providers: Any) -> tuple[Provider, ...]:
    """Return providers. Raises: ArgumentError: one is none."""
    given = (*iterated(providers, "providers"),)
    for provider in given:
        if not callable(getattr(provider, "compile", None)):
            raise ArgumentError(f"a provider has a method compile: found a Python {type_name(provider)}")
    return given


def present(
    text: str,
    dialect: Dialect,
    *,
    complexity: Complexity | None = None,
    providers: tuple[Provider, ...] = (),
    for_subscription: bool = False,
) -> Presented:
    """Compile a selector, or return the test of the first provider that knows it.

    Raises: SelectorError: neither; the error of the selector language, which tells more than "no provider".
        SelectorLimitError: *complexity* refuses it.
    """
    if complexity is not None:
        if not isinstance(complexity, Complexity):
            raise ArgumentError(f"complexity is a Complexity or None, found a Python {type_name(complexity)}")
        if not isinstance(complexity.tests, int) or not isinstance(complexity.nesting, int | None):
            raise ArgumentError(f"{shortened(complexity)} has no counts of tests and nesting")
    if not as_text(text).strip(_BLANKS):  # to the parsers of many products that is an error
        return Presented(SelectionType.NONE, None, _is_any)
    try:
        matcher = compile(text, dialect=dialect, for_subscription=for_subscription)
    except SelectorError as error:
        if error.reason not in (MQRC.MQRC_SELECTOR_SYNTAX_ERROR, MQRC.MQRC_SELECTION_NOT_AVAILABLE):
            raise
        for provider in providers:
            try:
                return Presented(SelectionType.EXTENDED, None, provider.compile(text))
            except SelectorError:
                continue
        raise
    if complexity is not None and (found := _too_complex(text, dialect, complexity.tests, complexity.nesting)):
        message, hint = found
        if not bool(complexity.refuse):
            warnings.warn(f"{message}; {hint}" if hint else message, ComplexSelectorWarning, stacklevel=3)
        else:
            reason = MQRC.MQRC_SELECTION_NOT_AVAILABLE if for_subscription else MQRC.MQRC_SELECTOR_SYNTAX_ERROR
            raise SelectorLimitError(message, selector=text, span=(0, len(text)), hint=hint, reason=reason)
    return Presented(SelectionType.STANDARD if text.strip() else SelectionType.NONE, matcher, matcher.matches)


_BLANKS = " \t\n\f\r"  # what separates words in every dialect


def _is_any(_: Any) -> bool:
    return True


def deferred(text: str, dialect: Dialect, providers: tuple[Provider, ...]) -> Presented:
    """Return what looks at a text when something is published: SELTYPE(EXTENDED) without a provider that takes it now.

    Source: *IBM MQ 9.4, Message selector syntax*: "the checking of the syntax of the selection string is deferred".
    """

    def test(message: Any) -> bool:
        presented = present(text, dialect, providers=providers, for_subscription=True)
        return presented.test(message)

    return Presented(SelectionType.EXTENDED, None, test)


def same_selector(text: str, other: str, dialect: Dialect) -> bool:
    """Report whether two selectors parse alike: blanks, case of keywords and spare parentheses aside."""
    try:
        return isinstance(text, str) and (
            text.strip(_BLANKS) == other.strip(_BLANKS)
            or read_selector(text, dialect).node == read_selector(other, dialect).node
        )
    except SelectorError:
        return False


# ---- complexity --------------------------------------------------------------------------------------------------


@functools.lru_cache(1024)
def _too_complex(text: str, dialect: Dialect, most: int, deepest: int | None) -> tuple[str, str | None] | None:
    """Return what a selector has too much of, and what would help."""
    selector = read_selector(text, dialect)
    tests = selector.remarks().tests
    depths: dict[int, int] = {}
    for node in selector.order:
        below = max((depths[id(child)] for child in children(node)), default=0)
        depths[id(node)] = below + isinstance(node, (And, Or, Not))
    nesting = depths[id(selector.node)]
    if tests > most:
        combined = combine(text, dialect)
        hint = None if combined == text else f"combine them with parentheses: {combined}"
        return f"the selector has {tests} tests: IBM MQ may reject more than {most}", hint
    if deepest is not None and nesting > deepest:
        hint = "join terms of one kind without parentheses: a AND b AND c"
        return f"the selector nests {nesting} conditions: the limit is {deepest}", hint
    return None


def combine(text: str, dialect: Dialect) -> str:
    """Write a selector with its outermost chain in pairs, ``(a OR b) OR (c OR d) …``: what IBM MQ recommends.

    Returns: a text that compiles to the same program; *text* itself if there is no chain of three or more.
    Source: *IBM MQ 9.4, Selection behavior*, Use complex selectors.
    """
    root = read_selector(text, dialect).node
    if not isinstance(root, (And, Or)) or len(root.operands) < 3:
        return text
    # Each operand with the parentheses that stand around it: cut at the words between the operands.
    cuts = [root.span[0]]
    for left, right in zip(root.operands, root.operands[1:], strict=False):
        gap = text[left.span[1] : right.span[0]]
        word = re.search(r"\b(?:AND|OR)\b", gap, re.IGNORECASE)
        assert word is not None
        cuts += [left.span[1] + word.start(), left.span[1] + word.end()]
    cuts.append(root.span[1])
    pieces = [text[start:stop].strip() for start, stop in zip(cuts[::2], cuts[1::2], strict=True)]
    joint = " AND " if isinstance(root, And) else " OR "
    pairs = [f"({joint.join(pieces[place : place + 2])})" for place in range(0, len(pieces), 2)]
    return joint.join(pairs)
