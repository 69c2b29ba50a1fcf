"""Changes of selectors over files of messages, for ``mqsel diff``: how many messages are added and dropped, by key."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from mqsel.analysis.compare.changes import EXAMPLES, SelectionChange, selection_change
from mqsel.arguments import check_total
from mqsel.carets import plural
from mqsel.cli.arguments import contract_of
from mqsel.cli.output import print_json, print_text, say
from mqsel.cli.report import Report
from mqsel.cli.run import ask_of, run
from mqsel.cli.selectors import Given, complain_of
from mqsel.errors import MqselError, SelectorError
from mqsel.files.framings import FORMATS, place_of
from mqsel.files.run.work import Ask, Changed, ChangedMessage, Diff, everything
from mqsel.formats.jsonl import in_json, object_from_json
from mqsel.language.dialect import IBM_MQ
from mqsel.language.selector import Selector, read_selector
from mqsel.matcher import compile as compiled
from mqsel.sets.set import SelectorSet


class _Desk(Report):
    """Where counts and examples arrive."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask)
        self.examples: dict[tuple[str, bool], list[tuple[dict[str, Any], str, str]]] = {}

    def take(self, name: str, kind: str, record: Any) -> None:
        if not isinstance(record, ChangedMessage):
            super().take(name, kind, record)
            return
        listed = self.examples.setdefault((record.key, record.is_gained), [])
        if len(listed) < EXAMPLES:
            is_text = kind == "parquet" or FORMATS[kind].is_lines
            text = record.message.decode("utf-8", "replace").strip() if is_text else ""
            found = (
                object_from_json(text)
                if kind == "parquet"
                else everything(kind, record.message, dict(self.asked.types))
            )
            listed.append((found, place_of(name, kind, record.line), text))


def over_files(
    old: Mapping[str, Given], new: Mapping[str, Given], files: list[str], arguments: argparse.Namespace
) -> int:
    """Print what the messages of files make of a change; return the exit code.

    Args:
        old: the selectors by key.
        new: likewise; a key may be in one of both alone.
    """
    unread = {key for many in (old, new) for key, one in many.items() if one.reason}
    old, new = ({key: one for key, one in many.items() if key not in unread} for many in (old, new))
    read = [{key: known for key, one in many.items() if (known := _known(key, one)) is not None} for many in (old, new)]
    is_valid = not unread and [*map(len, read)] == [len(old), len(new)]
    if not read[0] and not read[1]:
        raise MqselError("none of the selectors is valid: nothing to do")
    sets = [SelectorSet({key: compiled(one.text, dialect=one.dialect) for key, one in many.items()}) for many in read]
    ask = ask_of(arguments)
    desk = _Desk(ask)
    arguments.files = files
    run(arguments, files, Changed(*sets), Diff, desk)
    desk.ended()
    usual = next((one.dialect for one in (*old.values(), *new.values())), IBM_MQ)
    contract = contract_of(arguments, usual)
    changed = +desk.total.delivered
    keys = dict.fromkeys([*read[0], *read[1]])
    check_total(
        changed.total(), *(changed[key, is_gained] for key in keys for is_gained in (True, False)), of="changes"
    )
    for key in keys:
        if arguments.json or changed[key, True] or changed[key, False] or key == "":
            counts = {is_gained: changed[key, is_gained] for is_gained in (True, False)}
            examples = {is_gained: desk.examples.get((key, is_gained), []) for is_gained in (True, False)}
            pair = read[0].get(key), read[1].get(key)
            change = selection_change(*pair, desk.total.messages, counts, examples, contract)
            _show(key, change, as_json=arguments.json)
    total = desk.total
    gained, lost = (
        sum(count for (_, is_gained), count in changed.items() if is_gained is one) for one in (True, False)
    )
    say(
        f"{plural(total.messages, 'message')}, {gained:,} added, {lost:,} dropped, "
        f"{total.skipped:,} skipped, {desk.seconds:.2f} s" + f", {len(unread):,} not read" * bool(unread)
    )
    return 2 if desk.trouble or not is_valid else int(bool(gained or lost))


def _known(key: str, one: Given) -> Selector | None:
    try:
        return read_selector(one.text, one.dialect)
    except SelectorError as error:
        complain_of(one, error, key)
        return None


def _show(key: str, change: SelectionChange, *, as_json: bool) -> None:
    sides = {"gained": change.gained, "lost": change.lost}
    if as_json:
        found = {
            word: {
                "messages": side.messages,
                "selector": side.selector,
                "examples": [
                    {"place": one.place, "message": one.text, "least": in_json(one.least)} for one in side.examples
                ],
            }
            for word, side in sides.items()
        }
        print_json({**({"key": key} if key else {}), **found})
        return
    if key:
        print_text(f"{key}: {change.gained.messages:,} added, {change.lost.messages:,} dropped", is_cut=True)
    for word, side in (("added", change.gained), ("dropped", change.lost)):
        for line in side.lines(word):
            print_text(line, indent="    ", is_cut=not line.startswith("exactly"))
