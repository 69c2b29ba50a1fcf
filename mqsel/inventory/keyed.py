"""The selectors of an inventory as a SelectorSet: keys of which no two are alike, each selector in its own dialect."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mqsel.arguments import check_word, iterated
from mqsel.errors import FileError, MqselError, SelectorError
from mqsel.inventory import read
from mqsel.inventory.entries import Entry, keys_of
from mqsel.language.dialect import IBM_MQ, PRESETS, Dialect
from mqsel.matcher import compile as compiled
from mqsel.sets.set import SelectorSet

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str] | Entry]
Faulty = list[tuple[str, MqselError]]


def selector_set(
    make: Callable[..., SelectorSet[str]],
    paths: Paths,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    errors: str = "raise",
    **options: Any,
) -> tuple[SelectorSet[str], Faulty]:
    """Return the set of the selectors of files, and key and error of those that were left out.

    Args:
        make: the class of the set.
        paths: those of `read`, or entries that have been read.
        kind, columns: those of `read`.
        dialect: how to read all selectors, by default each as its kind has it; the set has that of the most.
        errors: "raise" at the first selector that cannot be known or is invalid, or "skip" those.
        options: of the set.

    Raises: FileError: a selector cannot be known, or a file cannot be read. SelectorError: an invalid one, with its
        ``key``. ArgumentError: as `read`.
    """
    check_word("errors", errors, ("raise", "skip"))
    entries = _entries(paths, kind, columns)
    used = Counter(entry.dialect for entry in entries if entry.selector is not None)
    usual = dialect or (PRESETS[used.most_common(1)[0][0]] if used else IBM_MQ)
    given: dict[str, Any] = {}
    faulty: Faulty = []
    for key, entry in zip(keys_of(entries), entries, strict=True):
        own = dialect or PRESETS[entry.dialect]
        try:
            given[key] = _selector(key, entry, own, usual)
        except (FileError, SelectorError) as error:
            if errors == "raise":
                raise
            faulty.append((key, error.with_traceback(None)))
    made = make(dialect=usual, **options)
    if errors == "raise":
        made.update(given)
    else:
        faulty += made.admit(given).items()
    return made, faulty


def _entries(paths: Paths, kind: str | None, columns: Mapping[str, str] | None) -> list[Entry]:
    if isinstance(paths, (str, os.PathLike)):
        return [*read(paths, kind=kind, columns=columns)]
    listed: list[Entry] = []
    for one in iterated(paths, "a path, or paths and entries"):
        listed += [one] if isinstance(one, Entry) else read(one, kind=kind, columns=columns)
    return listed


def _selector(key: str, entry: Entry, own: Dialect, usual: Dialect) -> Any:
    if entry.selector is None:
        raise FileError(entry.reason, path=entry.file, line=entry.line)
    try:
        return entry.selector if own == usual else compiled(entry.selector, dialect=own)
    except SelectorError as error:
        error.key = key
        raise
