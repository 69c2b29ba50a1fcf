"""``mqsel diff``: compare two selectors, or one selector in two dialects."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from mqsel.analysis.compare.contract import Contract
from mqsel.analysis.compare.difference import Difference, difference
from mqsel.analysis.compare.relation import RELATIONS, Related, related
from mqsel.analysis.explain import in_words
from mqsel.carets import in_one_line, shortened
from mqsel.cli import page
from mqsel.cli.arguments import Commands, add_format, add_given, command, contract_of, dialect_of
from mqsel.cli.changes import over_files
from mqsel.cli.output import complain, print_json, print_text, say, write_file
from mqsel.cli.review import ReviewRow, reviewed
from mqsel.cli.run import add_ways
from mqsel.cli.selectors import (
    Given,
    add_kind,
    add_selector_option,
    complain_of,
    configuration_of,
    keyed,
    named,
    names_files,
    unread,
)
from mqsel.errors import MqselError, SelectorError
from mqsel.files.framings import FORMATS, shown
from mqsel.formats.jsonl import in_json
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.selector import read_selector
from mqsel.logic.solver.budget import Budget, budget_of_many

_EXAMPLES = """\
mqsel diff "weight > 2500" "NOT (weight <= 2500)"
mqsel diff --dialect IBM_MQ --dialect JMS "weight + 1 > 2500 OR color = 'blue'"
mqsel diff CARS BIKES --in subs.mqsc
mqsel diff "color = 'red'" "color <> 'blue'" messages.jsonl.gz more.jsonl
mqsel diff --markdown before.mqsc after.mqsc >> "$GITHUB_STEP_SUMMARY"\
"""
_EXITS = ("No difference", "A difference", "Not decided, or an error")
_ABOUT = """\
mqsel compares two paths by key, or their only selectors. With message files, it evaluates both selectors for every \
message. It counts the messages that the second selector adds and drops. It prints examples with FILE:LINE, reduced \
to the properties that matter, and a selector for exactly the difference.

Two selectors are equal if no message matches only one of them. One may be FALSE and the other UNKNOWN, unless you \
compare two dialects.
"""

_SAID = {
    "equal": "every message is selected by both or by neither",
    "disjoint": "no message is selected by both",
    "a within b": "every message that a selects is selected by b",
    "b within a": "every message that b selects is selected by a",
    "overlapping": "some messages are selected by both, some only by a, some only by b",
}


def add(commands: Commands) -> None:
    """Add the command."""
    text = "compare two selectors, or one selector in two dialects"
    diff = command(commands, "diff", _diff, text, _EXAMPLES, _EXITS, _ABOUT)
    diff.add_argument(
        "given",
        metavar="SELECTOR|PATH|KEY",
        nargs="*",
        help="two selectors, paths or keys; then files of messages",
    )
    diff.set_defaults(rest="given")
    group = diff.add_argument_group("reading selectors (PATH: see mqsel help paths)")
    add_selector_option(group)
    group.add_argument(
        "--in",
        dest="paths",
        metavar="PATH",
        action="append",
        default=[],
        help="file or folder with the selectors of the keys",
    )
    add_kind(group)
    group.add_argument(
        "--dialect",
        dest="dialects",
        action="append",
        default=[],
        type=dialect_of,
        metavar="NAME",
        help="see mqsel help dialects; give two for two selectors, or for one in two dialects (default: by the file "
        "type, otherwise IBM_MQ)",
    )
    add_given(group, "assume that messages conform to CONTRACT")
    output = diff.add_argument_group("output")
    way = output.add_mutually_exclusive_group()
    way.add_argument("--json", action="store_true", help="print one JSON object, or one for each key of paths")
    way.add_argument("--markdown", action="store_true", help="print a review of two paths in Markdown")
    output.add_argument("--html", metavar="FILE", help="also write a review of two paths as a web page")
    add_format(diff, FORMATS)
    add_ways(diff)


def _diff(arguments: argparse.Namespace) -> int:
    dialects: list[Dialect] = arguments.dialects
    given, files = _parted(arguments)
    if len(dialects) > 2:
        raise MqselError(f"{len(dialects)} dialects are given: expected one, or two to compare")
    if not 0 < len(given) < 3:
        raise MqselError(f"{len(given) or 'no'} selectors are given: expected two", hint=_ADVICE)
    if len(given) == 1 and len(dialects) < 2:
        raise MqselError(
            "one selector is given, and not two dialects: expected something to compare it with", hint=_ADVICE
        )
    wanted: list[Dialect | None] = [*dialects, *dialects, None, None][:2]
    is_path = [False] * len(arguments.selectors)
    is_path += [not arguments.paths and names_files(one, "diff") for one in given[len(arguments.selectors) :]]
    is_reviewed = arguments.html is not None or arguments.markdown
    if is_reviewed and (files or arguments.paths or len(given) != 2 or not all(is_path)):
        raise MqselError(
            f"--{'markdown' if arguments.markdown else 'html'} is a review of two paths, without files of messages",
            hint="write mqsel diff --html FILE PATH PATH",
        )
    if arguments.paths:
        read = keyed(arguments.paths, arguments, None)
        is_damaged = bool(read.damaged)
        asked = [named(name, read.known, arguments.paths) for name in given]
    elif all(is_path) and len(given) == 2:
        return _paths(given, wanted, files, arguments)
    elif any(is_path):
        raise MqselError(f"{shortened(given[is_path.index(True)])} is a path: expected two paths", hint=_ADVICE)
    else:
        is_damaged = False
        usual = configuration_of(arguments).usual
        asked = [Given(f"selector {number}", text, usual) for number, text in enumerate(given, 1)]
    if len(asked) == 1 and not files:
        return _dialects(asked[0].text, dialects[0], dialects[1], arguments)
    pair = [one._replace(dialect=choice or one.dialect) for one, choice in zip([*asked, *asked], wanted, strict=False)]
    if files:
        status = over_files({"": pair[0]}, {"": pair[1]}, files, arguments)
    else:
        found = _related(pair, contract_of(arguments, pair[0].dialect), Budget())
        status = 2 if found is None else _selectors(found, as_json=arguments.json)
    return 2 if is_damaged else status


def _parted(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return what is compared, and the files of messages behind it."""
    given, rest = arguments.selectors, arguments.given
    wanted = max(2 - len(given), 0)
    is_one = len(arguments.dialects) == 2 and not given and not arguments.paths and len(rest) > 1
    if is_one and not names_files(rest[0], "diff") and names_files(rest[1], "diff"):
        wanted = 1
    elif len(given) == 1 and len(arguments.dialects) == 2 and rest and names_files(rest[0], "diff"):
        wanted = 0
    return [*given, *rest[:wanted]], rest[wanted:]


_ADVICE = (
    "write mqsel diff SELECTOR SELECTOR, mqsel diff PATH PATH, mqsel diff KEY KEY --in PATH, "
    "or mqsel diff --dialect IBM_MQ --dialect JMS SELECTOR"
)


def _related(pair: Iterable[Given], contract: Contract | None, budget: Budget, key: str = "") -> Related | None:
    """Compare two selectors; of an invalid one it is said what is wrong."""
    read = []
    for one in pair:
        try:
            read.append(read_selector(one.text, one.dialect))
        except SelectorError as error:
            complain_of(one, error, key)
    return related(read[0], read[1], contract, budget) if len(read) == 2 else None


def _paths(paths: list[str], dialects: list[Dialect | None], files: list[str], arguments: argparse.Namespace) -> int:
    """Compare the selectors of two paths, key by key."""
    old, new = (keyed([path], arguments, dialect) for path, dialect in zip(paths, dialects, strict=True))
    damaged = [*old.damaged, *new.damaged]
    status = 2 if damaged else 0
    first, second = ({**one.known, **one.unknown} for one in (old, new))
    if len(first) == len(second) == 1:
        first, second = ({"": one} for read in (first, second) for one in read.values())
    first = _paired(first, second)
    if files:
        return max(status, over_files(first, second, files, arguments))
    contract = contract_of(arguments, next((one.dialect for one in first.values()), configuration_of(arguments).usual))
    budget = budget_of_many(len(first) + len(second))
    rows = []
    for key in dict.fromkeys([*first, *second]):
        pair = first.get(key), second.get(key)
        is_unread = any(one is not None and one.reason for one in pair)
        is_unread = is_unread or bool(new.damaged if pair[1] is None else old.damaged if pair[0] is None else ())
        known = [one for one in pair if one is not None and not one.reason]
        found = _related(known, contract, budget.share(budget.left // 2), key)
        rows.append(ReviewRow(key, *pair, found, is_unread))
        status = max(status, _show(rows[-1], paths, arguments))
    title = f"Selectors of {shown(paths[0])} and {shown(paths[1])}"
    tables = [*reviewed(rows, contract), *unread(damaged)] if arguments.html is not None or arguments.markdown else []
    if arguments.html is not None:
        write_file(arguments.html, page.html(title, tables))
    for line in page.markdown(title, tables) if arguments.markdown else ():
        print_text(line)
    if not arguments.json:
        _sum_up(rows, len(first), len(second))
    return status


def _show(row: ReviewRow, paths: list[str], arguments: argparse.Namespace) -> int:
    """Print what became of a key, unless a review has it; return the exit code."""
    if row.related is not None:
        is_shown = not arguments.markdown and (arguments.json or row.related.relation != "equal")
        return _selectors(row.related, as_json=arguments.json, key=row.key) if is_shown else _status(row.related)
    if row.old is not None and row.new is not None and not row.is_unread:
        return 2  # it has been said what is wrong
    one = row.old or row.new
    assert one is not None
    relation, path = "not read" if row.is_unread else "only", shown(paths[row.old is None])
    if arguments.json:
        print_json({"key": row.key, "relation": relation, "path": path, "selector": one.text})
    elif not arguments.markdown:
        text = "not read" if row.is_unread else f"only in {path}"
        print_text(f"{row.key}: {text}: {in_one_line(one.text)}", indent="    ")
    return 1 if row.verdict in ("added", "removed") else 2


def _sum_up(rows: list[ReviewRow], first: int, second: int) -> None:
    verdicts = [row.verdict for row in rows]
    equal = verdicts.count("unchanged") + verdicts.count("reworded")
    counts = [f"{verdicts.count(one):,} {one}" for one in ("invalid", "not read") if one in verdicts]
    say(", ".join([f"{first:,} and {second:,} selectors", f"{equal:,} of them equal", *counts]))


def _paired(old: dict[str, Given], new: dict[str, Given]) -> dict[str, Given]:
    """Return the old selectors with the keys of new ones, also where places tell several of one key apart.

    These pair by their texts, then in order: lines move, and the two stand in different files.
    """
    left: dict[str, list[str]] = {}
    for key, one in new.items():
        if key not in old and one.entry is not None:
            left.setdefault(one.entry.key, []).append(key)
    called: dict[str, str] = {}
    for is_same in (True, False):
        for key, one in old.items():
            many = [] if key in new or key in called or one.entry is None else left.get(one.entry.key, [])
            other = next((each for each in many if not is_same or new[each].text == one.text), None)
            if other is not None:
                many.remove(other)
                called[key] = other
    return {called.get(key, key): one for key, one in old.items()}


def _selectors(found: Related, *, as_json: bool, key: str = "") -> int:
    assert found.relation in RELATIONS
    messages = {"both": found.both, "only a": found.a_alone, "only b": found.b_alone}
    if as_json:
        named = zip(("both", "a_alone", "b_alone"), messages.values(), strict=True)
        parts = {name: one and in_json(one) for name, one in named}
        print_json({**({"key": key} if key else {}), "relation": found.relation, **parts, "reason": found.reason})
    else:
        head = f"{key}: " * bool(key)
        print_text(f"{head}{found.relation}: {_SAID.get(found.relation, found.reason)}", indent="    ")
        for name, message in messages.items():
            if message is not None:
                print_text(f"  {name:7}  {in_words(message)}", is_cut=True)
    return _status(found)


def _status(found: Related) -> int:
    """Return the exit code."""
    if found.relation == "equal":
        return 0
    return 2 if found.reason and found.a_alone is None and found.b_alone is None else 1


def _dialects(text: str, a: Dialect, b: Dialect, arguments: argparse.Namespace) -> int:
    found = difference(text, a, b, given=contract_of(arguments, a))
    names = [next(name for name, preset in PRESETS.items() if preset == one) for one in (a, b)]
    if arguments.json:
        print_json(_in_json(found, names))
    else:
        for line in _lines(found, names):
            print_text(line, indent=" " * 6)
        for name, error in zip(names, found.errors, strict=True):
            if error is not None:
                complain(error, f"{name}: ")
    is_undecided = not found and (bool(found.reason) or found.errors != (None, None))
    return 2 if is_undecided else int(bool(found))


def _in_json(found: Difference, names: list[str]) -> dict[str, Any]:
    return {
        "differ": bool(found),
        "message": found.message and in_json(found.message),
        "dialects": [
            {"name": name, "truth": None if truth is None else str(truth), "error": error and error.message}
            for name, truth, error in zip(names, found.truths, found.errors, strict=True)
        ],
        "because": [one._asdict() for one in found.readings],
        "proved": found.is_proved,
        "tries": found.tries,
        "reason": found.reason,
    }


def _lines(found: Difference, names: list[str]) -> list[str]:
    width = max(map(len, names))
    lines = []
    if found.message is not None:
        lines += [f"they differ on {in_words(found.message)}"]
        lines += [f"  {name:{width}}  {truth}" for name, truth in zip(names, found.truths, strict=True)]
    elif found:
        lines += ["they differ: one dialect rejects the selector"]
    elif found.errors != (None, None):
        return [f"not decided: {found.reason}" if found.reason else "both dialects reject the selector"]
    elif found.is_proved:
        return ["they do not differ on any message"]
    else:
        return [f"not decided: no difference on {found.tries:,} messages that were tried, but {found.reason}"]
    for one in found.readings:
        lines.append(f"because of {one.field} (see language §2)")
        for name, choice, meaning in zip(names, one.choices, one.meanings, strict=True):
            lines.append(f"  {name:{width}}  {meaning or choice}")
    return lines
