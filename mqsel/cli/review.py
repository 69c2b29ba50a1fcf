"""The review of a change to selectors by key, for ``mqsel diff``: tables of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.relation import Related
from mqsel.analysis.compare.satisfiable import satisfied
from mqsel.analysis.compare.search import truth_of
from mqsel.analysis.explain import in_words
from mqsel.arguments import check_total
from mqsel.cli.page import Cell, PageTable, counted
from mqsel.cli.selectors import Given
from mqsel.errors import SelectorError
from mqsel.language.selector import Selector, read_selector


class ReviewRow(NamedTuple):
    """A key, and what became of its selector.

    Attributes:
        key: empty where one selector is compared with one.
        old: None for one that is new.
        new: None for one that is gone.
        related: how they are related; None where there is one alone, or one is invalid.
        is_unread: whether a selector of it cannot be known, or the path that does not have the key could not be read
            wholly: it may have it.
    """

    key: str
    old: Given | None
    new: Given | None
    related: Related | None
    is_unread: bool = False

    @property
    def verdict(self) -> str:
        """One of those of `_VERDICTS`."""
        if any(isinstance(_known(one), SelectorError) for one in (self.old, self.new) if one is not None):
            return "invalid"
        if self.is_unread:
            return "not read"
        if self.old is None or self.new is None:
            return "added" if self.old is None else "removed"
        assert self.related is not None  # of two that are valid there is a relation
        if self.related.relation == "equal":
            is_same = (self.old.text, self.old.dialect) == (self.new.text, self.new.dialect)
            return "unchanged" if is_same else "reworded"
        return _BY_RELATION[self.related.relation]


_BY_RELATION = {
    "a within b": "wider",
    "b within a": "narrower",
    "overlapping": "other",
    "disjoint": "other",
    "not decided": "not decided",
}
# In the order in which a reviewer looks; whether it is one that people hope for; what it means.
_VERDICTS = {
    "invalid": ("bad", "the old or the new selector is invalid"),
    "not read": ("bad", "not compared: a selector is incomplete, or a path couldn't be read completely"),
    "removed": ("bad", "nobody gets these messages by this key any more"),
    "narrower": ("bad", "selects less than before: proved"),
    "other": ("bad", "selects some messages that it did not, and no longer some that it did"),
    "not decided": ("bad", "has to be looked at: the search was ended"),
    "wider": ("text", "selects more than before: proved"),
    "added": ("text", "a key that is new"),
    "reworded": ("good", "another text that selects the same messages: proved"),
    "unchanged": ("good", "the same text"),
}


def reviewed(rows: Sequence[ReviewRow], contract: Contract | None) -> Iterator[PageTable]:
    """Yield the tables: how many keys have each verdict, and each key that is not unchanged."""
    found = [(row, row.verdict) for row in rows]
    counts = {verdict: sum(one == verdict for _, one in found) for verdict in _VERDICTS}
    check_total(len(rows), *counts.values(), of="keys")
    yield counted(("Keys", "Change", "Meaning"), counts, _VERDICTS)
    order = [*_VERDICTS]
    listed = sorted([one for one in found if one[1] != "unchanged"], key=lambda one: order.index(one[1]))
    if listed:
        head = "Key", "Change", "Selector", "For example"
        yield PageTable("Changes", head, [[*_cells(row, verdict, contract)] for row, verdict in listed])


def _cells(row: ReviewRow, verdict: str, contract: Contract | None) -> Iterator[Cell]:
    sides = [one for one in (row.old, row.new) if one is not None]
    yield [*[("code", row.key)] * bool(row.key), *[("text", one.where) for one in sides]]
    is_read_anew = len(sides) == 2 and sides[0].dialect != sides[1].dialect
    yield [(_VERDICTS[verdict][0], verdict), *[("text", "in another dialect")] * is_read_anew]
    kinds = ("old", row.old), ("new", row.new)
    yield [(kind, one.text) for kind, one in kinds if one is not None and one.text.strip("…")]
    yield [*_examples(row, contract)]


def _examples(row: ReviewRow, contract: Contract | None) -> Iterator[tuple[str, str]]:
    known = [None if one is None else _known(one) for one in (row.old, row.new)]
    for one, given in zip(known, (row.old, row.new), strict=True):
        if given is not None and given.reason:
            yield "text", f"{'before' if given is row.old else 'now'}: incomplete: {given.reason}"
        if isinstance(one, SelectorError):
            yield "text", f"{'before' if given is row.old else 'now'}: {one.message}"
    old, new = [one if isinstance(one, Selector) else None for one in known]
    if row.related is not None and old is not None and new is not None:
        for what, message in (("added", row.related.b_alone), ("dropped", row.related.a_alone)):
            if message is not None:
                yield "code", in_words(message)
                yield "text", f"{what}: {truth_of(old, message)} before, {truth_of(new, message)} now"
        if row.related.reason:
            yield "text", row.related.reason
    elif row.old is None or row.new is None:
        for one, word in ((old, "was"), (new, "is")):
            if one is not None:
                yield from _selected(one, word, contract)


def _selected(one: Selector, word: str, contract: Contract | None) -> Iterator[tuple[str, str]]:
    found = satisfied(one, contract)
    if found.message is not None:
        yield "code", in_words(found.message)
        yield "text", f"{word} selected"
    else:
        yield "bad", "selects no message" if found.is_none else f"not decided: {found.reason}"


def _known(one: Given) -> Selector | SelectorError | None:
    """Read a selector; None for one that cannot be known."""
    try:
        return None if one.reason else read_selector(one.text, one.dialect)
    except SelectorError as error:
        return error
