"""The report on many messages: sentences, the tree of the selector with counts, and the values of each property.

Printed as text, shown as HTML in a notebook, or returned for JSON. Built from an `Account`; counts nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from mqsel.analysis.explain.account import OUTCOMES, Account, Held, parts_of
from mqsel.analysis.explain.change import in_words
from mqsel.analysis.explain.sentences import Count, Seen, Told, sentences
from mqsel.analysis.lint import lint
from mqsel.analysis.lint.findings import WARNING
from mqsel.arguments import check_total
from mqsel.carets import cells, cut, padded, visible, wrapped
from mqsel.formats.jsonl import plain
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import And, Node, Not, Or, unparse
from mqsel.language.selector import Selector
from mqsel.names import near_names
from mqsel.notebook import badge, code, page, table

_VALUES = 5  # of a property, that are shown
_COMMON = 100  # of so many one has the commonest value, or none is worth showing where there are too many
_OTHERS = 5  # names of other properties, that are shown
_WIDTH = 40  # cells of a value that are shown


@dataclass(frozen=True, slots=True)
class Profile:
    """Why messages are selected or not. It is true if one is selected. If you print it, you see sentences and a tree.

    Attributes:
        selector: The text of the selector.
        messages: The number of messages that could be read.
        selected: The number of messages that are selected.
        sentences: The result in sentences, the most important first; after the first one, the warnings of `lint`.
        parts: The parts of the selector, each a `Count`, before its operands.
        properties: The properties that the selector reads, each a `Seen`.
        refused: The number of messages with a property name that IBM MQ does not allow. None of them is selected.
        noted: The number of raw messages of which something was skipped: a folder, a property, a name that is not
            allowed.
        note: What was skipped of the first of them.
        skipped: The number of messages that could not be read.
        noun: The word for a message in sentences: "message" or "row".
    """

    selector: str
    messages: int
    selected: int
    sentences: tuple[str, ...]
    parts: tuple[Count, ...]
    properties: tuple[Seen, ...]
    refused: int = 0
    noted: int = 0
    note: str = ""
    skipped: int = 0
    noun: str = "message"

    def __bool__(self) -> bool:
        return self.selected > 0

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Return the result as text.

        Args:
            width: The width of the terminal in cells. Longer sentences are wrapped, other lines are cut. The default is
                None: no limit.
        """
        lines = [*map(visible, self.sentences)]
        lines = lines if width is None else [line for one in lines for line in wrapped(one, width)]
        rows = [(*OUTCOMES, ""), *((*(f"{n:,}" for n in one[2:]), "  " * one.depth + one.text) for one in self.parts)]
        tree = _aligned(rows, numbers=len(OUTCOMES))
        seen = _aligned(self._seen(), numbers=0) if self.properties else []
        tables = [line if width is None else cut(line, width) for line in ["", *tree, *[""] * bool(seen), *seen]]
        return "\n".join([*lines, *map(visible, tables)])

    def _seen(self) -> list[tuple[str, ...]]:
        """Return the head of the table of properties, and its rows."""
        is_unread = any(one.unread for one in self.properties)
        found = [("property", "present", "missing", *["unread"] * is_unread, "types", "values")]
        for one in self.properties:
            unread = [f"{one.unread:,}"] * is_unread
            types = [*one.types] if len(one.types) == 1 else [f"{name} {count:,}" for name, count in one.types.items()]
            found.append((one.name, f"{one.present:,}", f"{one.missing:,}", *unread, ", ".join(types), _values(one)))
        return found

    def _repr_html_(self) -> str:
        parts = [
            (
                *(badge(word, f"{n:,}") if n else "0" for word, n in zip(OUTCOMES, one[2:], strict=True)),
                code(one.text, one.depth),
            )
            for one in self.parts
        ]
        head, *rows = self._seen()
        first, *others = [escape(one) for one in self.sentences]
        return page(
            [f"<b>{first}</b>", *others],
            table([*OUTCOMES, ""], parts, numbers=len(OUTCOMES)),
            table(head, [[escape(cell) for cell in row] for row in rows]) if rows else "",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON."""
        return {
            "selector": self.selector,
            "messages": self.messages,
            "selected": self.selected,
            "skipped": self.skipped,
            "refused": self.refused,
            "sentences": [*self.sentences],
            "parts": [one._asdict() for one in self.parts],
            "properties": [
                {
                    **one._asdict(),
                    "types": dict(one.types),
                    "values": [{"value": plain(value), "messages": count} for value, count in one.values],
                    "least": plain(one.least),
                    "greatest": plain(one.greatest),
                    "near": one.near,
                    "others": dict(one.others),
                }
                for one in self.properties
            ],
        }


def report(selector: Selector, account: Account, *, noun: str = "message") -> Profile:
    """Return the report of what was counted for a selector."""
    nodes = parts_of(selector.node)
    counts = [
        Count(named(node, selector.dialect), depth, *numbers)
        for (node, depth), numbers in zip(nodes, account.outcomes, strict=True)
    ]
    seen = [seen_of(name, held) for name, held in account.held.items()]
    return reported(
        selector,
        account.messages,
        counts,
        seen,
        texts={
            name: {value: count for (kind, value), count in held.values.most_common() if kind == "string"}
            for name, held in account.held.items()
        },
        refused=account.refused,
        noted=account.noted,
        note=account.note[1] if account.note else "",
        skipped=account.skipped,
        noun=noun,
    )


def reported(
    selector: Selector,
    messages: int,
    counts: Iterable[Count],
    seen: Iterable[Seen],
    *,
    texts: Mapping[str, Mapping[str, int]],
    **more: Any,
) -> Profile:
    """Return the report of counts.

    Args:
        counts: for the parts of the selector, in the order of `parts_of`.
        seen: for each property that it reads.
        texts: how many messages have each string of a property, as far as they were counted.
        more: of `Profile`.
    """
    parts, properties = tuple(counts), tuple(seen)
    check_total(messages, *parts[0][2:], of="messages")
    nodes = [node for node, _ in parts_of(selector.node)]
    noun = more.get("noun", "message")
    by_name = {one.name: one for one in properties}
    told = Told(selector, nodes, [*parts], by_name, texts, messages, noun, more.get("refused", 0))
    said = sentences(told)
    if not messages and (skipped := more.get("skipped")):
        said = [f"the {noun} could not be read" if skipped == 1 else f"none of {skipped:,} {noun}s could be read"]
    said[1:1] = [one.sentence for one in lint(selector.text, selector.dialect) if one.severity == WARNING]
    if more.get("noted"):
        said.append(f"skipped in part: {more['noted']:,}, the first {more['note']}")
    return Profile(selector.text, messages, parts[0].true, tuple(said), parts, properties, **more)


def named(node: Node, dialect: Dialect) -> str:
    """Name a part: a test as a selector of a dialect, a connective by its word."""
    return type(node).__name__.upper() if isinstance(node, (And, Or, Not)) else unparse(node, dialect)


def seen_of(name: str, held: Held, present: int | None = None) -> Seen:
    """Return what is reported of a property.

    Args:
        present: messages with a value, where not every type was counted.
    """
    others = dict(held.others.most_common())
    near = [*near_names(name, others), *others]
    return Seen(
        name,
        sum(held.types.values()) if present is None else present,
        held.missing - held.unread,
        held.unread,
        dict(held.types.most_common()),
        tuple((value, count) for (_, value), count in held.values.most_common(_VALUES)),
        held.counted,
        len(held.values) if held.is_open else None,
        held.least,
        held.greatest,
        {one: others[one] for one in [*dict.fromkeys(near)][: _OTHERS + 1]},
    )


# ---- words -----------------------------------------------------------------------------------------------------------


def _values(seen: Seen) -> str:
    """Write the commonest values, how far numbers go, and the name that is there instead."""
    said = []
    is_spread = seen.least is not None and seen.least != seen.greatest
    if seen.different is None and seen.values[0][1] * _COMMON < seen.counted:
        said.append("more than 1,000 values")
    elif seen.values and not (is_spread and seen.different == seen.counted > _VALUES):
        shown = [cut(in_words(value), _WIDTH) + (f" ×{count:,}" if count > 1 else "") for value, count in seen.values]
        more = "more" if seen.different is None else f"{seen.different - len(seen.values):,} more"
        shown += [more] * (seen.different is None or seen.different > len(seen.values))
        before = f"of {seen.counted:,}: " if seen.counted < seen.present else ""
        said.append(before + ", ".join(shown))
    if is_spread:
        said.append(f"{in_words(seen.least)} to {in_words(seen.greatest)}")
    if seen.near is not None:
        said.append(f"but {seen.near} {seen.others[seen.near]:,}")
    return "; ".join(said)


def _aligned(rows: list[tuple[str, ...]], numbers: int) -> list[str]:
    """Align rows of texts, the head first; the first columns hold numbers."""
    rows = [tuple(map(visible, row)) for row in rows]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        shown = [
            " " * (width - cells(cell)) + cell if place < numbers else padded(cell, width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(shown).rstrip())
    return lines
