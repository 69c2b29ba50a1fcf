"""Selectors written back into the files in which they stand, for ``lint --fix`` and ``format``."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from mqsel.carets import plural
from mqsel.cli.output import complain, flush, print_data, print_text, say
from mqsel.cli.selectors import AllGiven, Given, columns_of, place_in_words
from mqsel.files.framings import shown
from mqsel.inventory.edit import Document, Rewritten, difference, document_of, indented, rewritten, write
from mqsel.inventory.entries import Entry
from mqsel.inventory.recognition import text_of
from mqsel.inventory.writings import EditError

# What is done with a file that has other selectors: its content is printed, written, or only compared.
PRINT, WRITE, DIFF, CHECK = "print", "write", "diff", "check"


class RewriteOutcome(NamedTuple):
    """What became of selectors in files.

    Attributes:
        after: the selectors as they stand now, in the order of the changes; those that could not be written as before.
        changed: how many are others, or would be.
        refused: how many could not be written; they have been complained of.
    """

    after: list[Given]
    changed: int
    refused: int


def rewrite(
    read: AllGiven, changes: list[tuple[Given, str]], arguments: argparse.Namespace, do: str, *, is_layout: bool = False
) -> RewriteOutcome:
    """Write selectors into the files in which they stand; stdin is printed with them.

    Args:
        read: what the arguments give.
        changes: selectors of files, each with what to write for it.
        arguments: of the command.
        do: what is done.
        is_layout: lines are indented as the line that a selector begins in.
    """
    wanted: dict[str, list[int]] = {}
    for number, (one, _) in enumerate(changes):
        wanted.setdefault(one.entry.file if one.entry is not None else "", []).append(number)
    outcome = RewriteOutcome([one for one, _ in changes], 0, 0)
    for place in read.places:
        numbers = wanted.pop(place.path, [])
        if not numbers and place.path != "-":
            continue
        is_printed = do == PRINT or (do == WRITE and place.path == "-")
        if not is_printed and all(one.text == text for one, text in (changes[number] for number in numbers)):
            continue
        here = [changes[number] for number in numbers]
        try:
            content = read.stdin if place.path == "-" else None
            document = document_of(place, arguments.kind, columns_of(arguments), content)
            made, places = _rewritten(document, here, is_layout=is_layout)
            if do == WRITE and not is_printed and made.data != document.data:
                write(document, made.data)
        except EditError as error:
            complain(f"{shown(place.path)}: not written: {error.message}")
            outcome = outcome._replace(refused=outcome.refused + sum(one.text != text for one, text in here))
            continue
        for number, reason in made.refused.items():
            complain(f"{place_in_words(document.entries[number])}: not written: {reason}")
        _show(document, made, do, is_printed=is_printed)
        if made.changed and do == WRITE:
            again = document.again(made.data)
            for number, at in zip(numbers, places, strict=True):
                one, entry = outcome.after[number], again[at]
                entry = entry._replace(dialect=one.entry.dialect if one.entry is not None else entry.dialect)
                text = one.text if entry.selector is None else entry.selector
                outcome.after[number] = one._replace(where=place_in_words(entry), text=text, entry=entry)
        changed, refused = outcome.changed + len(made.changed), outcome.refused + len(made.refused)
        outcome = outcome._replace(changed=changed, refused=refused)
    return outcome


def _rewritten(document: Document, changes: list[tuple[Given, str]], *, is_layout: bool) -> tuple[Rewritten, list[int]]:
    """Return the file with its changes, and the number of the entry of each.

    Raises: EditError: the file is not the one that was read.
    """
    numbers = {_identity(entry): number for number, entry in enumerate(document.entries)}
    content, *_ = text_of(document.data)
    places: list[int] = []
    wanted: dict[int, str] = {}
    for one, text in changes:
        assert one.entry is not None
        number = numbers.get(_identity(one.entry))
        if number is None:
            raise EditError("the file has changed since it was read")
        places.append(number)
        if not one.reason:
            wanted[number] = indented(content, one.entry, text) if is_layout else text
    return rewritten(document, wanted), places


def _identity(entry: Entry) -> tuple[object, ...]:
    return entry.kind, entry.key, entry.line, entry.selector, entry.text and entry.text.pieces


def _show(document: Document, made: Rewritten, do: str, *, is_printed: bool) -> None:
    file = shown(document.place.path)
    if is_printed:
        flush()
        print_data(made.data)
    elif do == DIFF:
        for line in difference(document, made.data):
            print_text(*line.split("\t"))
    elif do == CHECK:
        for number in made.changed:
            print_text(f"{place_in_words(document.entries[number])}: would be written otherwise")
    elif made.changed:
        say(f"mqsel: {file}: {plural(len(made.changed), 'selector')} written")
