"""Changes of selectors over files of messages, for ``mqsel diff``: what is gained and lost, by key."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from mqsel.analysis.compare import Known, taken
from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.gaps import alone
from mqsel.cli.arguments import contract_of, types_of
from mqsel.cli.report import Report, fitted, folded, print_json, say, width_of
from mqsel.cli.run import run
from mqsel.cli.selectors import Given, complain_of
from mqsel.errors import MqselError, SelectorError, visible
from mqsel.files.framings import FORMATS, place_of
from mqsel.files.run.work import Ask, Changed, ChangedMessage, Diff, everything
from mqsel.formats.jsonl import in_json, object_from_json
from mqsel.language.dialect import IBM_MQ
from mqsel.logic.solver import smaller
from mqsel.matcher import compile as compiled
from mqsel.sets.set import SelectorSet

_SHOWN = 3  # examples of each kind
_WORDS = {True: "gained", False: "lost"}


class _Placed(NamedTuple):
    """An example, and where it stands."""

    place: str
    message: str
    properties: dict[str, Any]


class _Desk(Report):
    """Where counts and examples arrive."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask)
        self.examples: dict[tuple[str, bool], list[_Placed]] = {}

    def take(self, name: str, kind: str, record: Any) -> None:
        if not isinstance(record, ChangedMessage):
            super().take(name, kind, record)
            return
        listed = self.examples.setdefault((record.key, record.is_gained), [])
        if len(listed) < _SHOWN:
            is_text = kind == "parquet" or FORMATS[kind].is_lines
            text = record.message.decode("utf-8", "replace").strip() if is_text else ""
            found = (
                object_from_json(text)
                if kind == "parquet"
                else everything(kind, record.message, dict(self.asked.types))
            )
            listed.append(_Placed(place_of(name, kind, record.line), text, found))


def over_files(
    old: Mapping[str, Given], new: Mapping[str, Given], files: list[str], arguments: argparse.Namespace
) -> int:
    """Print what the messages of files make of a change; return the exit code.

    Args:
        old: the selectors by key.
        new: likewise; a key may be in one of both alone.
    """
    read = [{key: known for key, one in many.items() if (known := _known(key, one)) is not None} for many in (old, new)]
    is_valid = [*map(len, read)] == [len(old), len(new)]
    if not read[0] and not read[1]:
        raise MqselError("no selector is left")
    sets = [_set(many) for many in read]
    ask = Ask(format=arguments.format or "json", types=types_of(arguments))
    desk = _Desk(ask)
    arguments.files = files
    run(arguments, files, Changed(*sets), Diff, desk)
    desk.ended()
    usual = next((one.dialect for one in (*old.values(), *new.values())), IBM_MQ)
    contract = contract_of(arguments, usual)
    changed = +desk.total.delivered
    for key in dict.fromkeys([*read[0], *read[1]]):
        if arguments.json or changed[key, True] or changed[key, False] or key == "":
            _show(key, [many.get(key) for many in read], changed, desk, contract, as_json=arguments.json)
    total = desk.total
    gained, lost = (
        sum(count for (_, is_gained), count in changed.items() if is_gained is one) for one in (True, False)
    )
    say(
        f"{total.messages:,} message{'s' * (total.messages != 1)}, {gained:,} gained, {lost:,} lost, "
        f"{total.skipped:,} skipped, {desk.seconds:.2f} s"
    )
    return 2 if desk.trouble or not is_valid else int(bool(gained or lost))


def _known(key: str, one: Given) -> Known | None:
    try:
        return taken(one.text, one.dialect)
    except SelectorError as error:
        complain_of(one, error, key)
        return None


def _set(known: Mapping[str, Known]) -> SelectorSet[str]:
    usual = next((one.selector.dialect for one in known.values()), IBM_MQ)
    pairs = {key: compiled(one.selector.text, dialect=one.selector.dialect) for key, one in known.items()}
    return SelectorSet(pairs, dialect=usual)


def _show(
    key: str,
    pair: list[Known | None],
    changed: Counter[tuple[str, bool]],
    desk: _Desk,
    contract: Contract | None,
    *,
    as_json: bool,
) -> None:
    exact = {True: _alone(pair[1], pair[0], contract), False: _alone(pair[0], pair[1], contract)}
    examples = {
        is_gained: [(one, _least(one.properties, pair)) for one in desk.examples.get((key, is_gained), [])]
        for is_gained in (True, False)
    }
    if as_json:
        sides = {
            _WORDS[is_gained]: {
                "messages": changed[key, is_gained],
                "selector": exact[is_gained],
                "examples": [
                    {"place": one.place, "message": one.message, "least": in_json(least)} for one, least in many
                ],
            }
            for is_gained, many in examples.items()
        }
        print_json({**({"key": key} if key else {}), **sides})
        return
    if key:
        print(fitted(visible(f"{key}: {changed[key, True]:,} gained, {changed[key, False]:,} lost")))
    for is_gained, many in examples.items():
        word = _WORDS[is_gained]
        for one, least in many:
            print(fitted(visible(f"{word:7} {one.place}: {one.message}".rstrip(": "))))
            print(fitted(visible(f"        for {json.dumps(in_json(least), ensure_ascii=False)}")))
        if changed[key, is_gained] > len(many):
            print(f"{word:7} … and {changed[key, is_gained] - len(many):,} more")
        if exact[is_gained] and changed[key, is_gained]:
            print(folded(visible(f"exactly what is {word}: {exact[is_gained]}"), width_of(sys.stdout)))


def _alone(one: Known | None, other: Known | None, contract: Contract | None) -> str:
    if one is None:
        return ""
    return one.selector.text if other is None else alone(one, other, contract)


def _least(message: dict[str, Any], pair: list[Known | None]) -> dict[str, Any]:
    """Return what is left of a message when all is left out that the two selectors do not differ about."""
    known = [one for one in pair if one is not None]
    names = {name for one in known for name in one.names}

    def differs(found: dict[str, Any]) -> bool:
        return len({one.machine.matches(found) for one in known} | ({False} if len(known) == 1 else set())) == 2

    own = {name: value for name, value in message.items() if name in names}
    return smaller(own, differs) if differs(own) else own
