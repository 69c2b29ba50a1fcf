"""What tests of sets have in common."""

from __future__ import annotations

from typing import Any

import mqsel
from mqsel import Dialect, Matcher, SelectorSet

Case = tuple[str, Dialect]


def made(cases: list[Case], **options: Any) -> tuple[SelectorSet[int], dict[int, Matcher]]:
    """Return a set of selectors with a dialect each, and their Matchers."""
    matchers = {number: mqsel.compile(text, dialect=dialect) for number, (text, dialect) in enumerate(cases)}
    return SelectorSet(matchers, **options), matchers


class Text(str):
    """No exact str."""

    __slots__ = ()
