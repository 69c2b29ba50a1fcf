"""One message and a selector: whether it is selected, why, and what decides where the selector does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from mqsel import formats
from mqsel.analysis.explain import Explanation, explain
from mqsel.errors import PropertyTypeError
from mqsel.files.framings import FORMATS
from mqsel.files.inspection import FoundMessage
from mqsel.files.run.work import in_json_words, reader
from mqsel.machine.origin import read_matched, selector_of
from mqsel.matcher import Matcher


class JudgedMessage(NamedTuple):
    """What became of a message.

    Attributes:
        where: its place in a file; empty where there is but this one.
        selected: whether it is selected.
        explanation: what the selector makes of it.
        decided: what decides instead of the selector; empty if the selector does.
    """

    where: str
    selected: bool
    explanation: Explanation
    decided: str = ""

    def text(self, width: int | None) -> str:
        """Write it for a terminal."""
        where = f"{self.where}: " * bool(self.where)
        if not self.decided:
            return where + self.explanation.text(width)
        verdict = "TRUE: selected" if self.selected else "FALSE: not selected"
        alone = self.explanation.text(width and width - 2)
        return f"{where}{verdict}: {self.decided}\nonly the selector\n  " + alone.replace("\n", "\n  ")

    def in_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"where": self.where, **self.explanation.as_dict(), "selected": self.selected, "decided": self.decided}


def judged(matcher: Matcher, found: FoundMessage, types: Mapping[str, str]) -> JudgedMessage:
    """Explain a message of a file.

    Args:
        types: of properties whose record lost them.

    Raises: PropertyTypeError, DecodeError: it is none, or has a value that no property can have.
    """
    row = None if FORMATS[found.kind].message is None else formats.FORMATS[FORMATS[found.kind].message or ""]
    if found.columns is not None:
        _check_columns(matcher, found.columns)
    names: list[str] = [*found.data] if row is None else []
    message = found.data
    if row is not None:
        message = reader(found.kind, matcher, types=types)(found.data)
        names = [one.name for one in row.inspect(found.data, types).rows if one.value is not None]
    answer = message if isinstance(message, bool) else None
    if answer is not None:
        message = formats.properties(found.data, matcher.properties)
    try:
        values = read_matched(matcher, matcher.matches, message)
        explanation = explain(selector_of(matcher.program), values, names)
    except PropertyTypeError as error:
        raise in_json_words(error, message, matcher) from error
    if answer is None:
        return JudgedMessage(found.where, explanation.selected, explanation)
    alone = replace(explanation, change="")
    if matcher.match_option is None:
        decided = "it carries a property whose name is not allowed: see mqsel inspect"
    else:
        is_agreed = answer is explanation.selected
        decided = "" if is_agreed else f"{matcher.match_option[0]} compares the identifier in the MQMD"
    return JudgedMessage(found.where, answer, alone, decided)


def _check_columns(matcher: Matcher, row: Any) -> None:
    """Refuse a row of which a value, or the type of a column, can be no property that is read."""
    try:
        matcher.match_batch(row)
    except PropertyTypeError as error:
        error.index = None  # the caller knows the row
        raise
