"""``mqsel diff``: compare two selectors, or one selector in two dialects."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mqsel.analysis.compare import RELATIONS, Difference, Related, difference, related, taken
from mqsel.cli.arguments import Commands, command, dialect_of, in_shell, place_of, refuse_place
from mqsel.cli.report import complain, fitted, folded, width_of
from mqsel.errors import MqselError, SelectorError
from mqsel.formats.jsonl import in_json
from mqsel.language.dialect import IBM_MQ, PRESETS, Dialect

_EXAMPLES = """\
Messages are printed as JSON that mqsel match and explain read; both selectors were evaluated on each. Two selectors \
are equal if no message is selected by only one of them. For a message that neither selects, one may be FALSE and the \
other UNKNOWN. With one selector and two dialects, FALSE in one and UNKNOWN in the other is a difference, too.

exit code: 0 if there is no difference, 1 if there is one, 2 if it is not decided, or something went wrong.

examples:
  mqsel diff "weight > 2500" "NOT (weight <= 2500)"
  mqsel diff "color LIKE 'b%'" "color = 'blue'"
  mqsel diff --dialect IBM_MQ --dialect JMS "weight + 1 > 2500 OR color = 'blue'"
"""

_SAID = {
    "equal": "no message is selected by one alone",
    "disjoint": "no message is selected by both",
    "a within b": "every message that a selects is selected by b",
    "b within a": "every message that b selects is selected by a",
    "overlapping": "some messages are selected by both, some by a alone, some by b alone",
}


def add(commands: Commands) -> None:
    """Add the command."""
    text = "compare two selectors, or one selector in two dialects"
    diff = command(commands, "diff", _diff, text, _EXAMPLES)
    diff.add_argument("a", metavar="SELECTOR", help="a message selector, as one argument")
    diff.add_argument("b", metavar="SELECTOR", nargs="?", help="another; without it, two dialects are compared")
    diff.add_argument(
        "--dialect",
        action="append",
        default=[],
        type=dialect_of,
        metavar="NAME",
        help=f"{', '.join(PRESETS)}; default IBM_MQ; twice, for the first selector and the second, or for one",
    )
    diff.add_argument("--json", action="store_true", help="print one JSON object")


def _diff(arguments: argparse.Namespace) -> int:
    given: list[Dialect] = arguments.dialect
    if len(given) > 2:
        raise MqselError(f"{len(given)} dialects are given: expected one, or two to compare")
    if arguments.b is None and len(given) < 2:
        raise MqselError(
            "one selector is given, and not two dialects: expected something to compare it with",
            hint="write mqsel diff SELECTOR SELECTOR, or mqsel diff --dialect IBM_MQ --dialect JMS SELECTOR",
        )
    first, second = [*given, *given, IBM_MQ, IBM_MQ][:2]
    for text, dialect in ((arguments.a, first), (arguments.b, second)):
        if text is not None:
            advice = f'pass the selector in it: "$(cat {in_shell(text)})"' * (place_of(text) == "a file")
            refuse_place(text, "a selector", advice, dialect)
    if arguments.b is None:
        return _dialects(arguments.a, first, second, as_json=arguments.json)
    read = []
    for number, (text, dialect) in enumerate(((arguments.a, first), (arguments.b, second)), 1):
        try:
            read.append(taken(text, dialect))
        except SelectorError as error:
            complain(error, f"selector {number}: ")
    return _selectors(related(read[0], read[1]), as_json=arguments.json) if len(read) == 2 else 2


def _selectors(found: Related, *, as_json: bool) -> int:
    assert found.relation in RELATIONS
    messages = {"both": found.both, "a alone": found.a_alone, "b alone": found.b_alone}
    if as_json:
        parts = {name.replace(" ", "_"): one and in_json(one) for name, one in messages.items()}
        print(json.dumps({"relation": found.relation, **parts, "reason": found.reason}, ensure_ascii=False))
    else:
        print(folded(f"{found.relation}: {_SAID.get(found.relation, found.reason)}", width_of(sys.stdout)))
        for name, message in messages.items():
            if message is not None:
                print(fitted(f"  {name:7}  {_line(message)}"))
    if found.relation == "equal":
        return 0
    return 2 if found.reason and found.a_alone is None and found.b_alone is None else 1


def _line(message: dict[str, Any]) -> str:
    return json.dumps(in_json(message), ensure_ascii=False)


def _dialects(text: str, a: Dialect, b: Dialect, *, as_json: bool) -> int:
    found = difference(text, a, b)
    names = [next(name for name, preset in PRESETS.items() if preset == one) for one in (a, b)]
    if as_json:
        print(json.dumps(_in_json(found, names), ensure_ascii=False))
    else:
        for line in _lines(found, names):
            print(folded(line, width_of(sys.stdout), " " * 6))
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
        lines += [f"they differ on {_line(found.message)}"]
        lines += [f"  {name:{width}}  {truth}" for name, truth in zip(names, found.truths, strict=True)]
    elif found:
        lines += ["they differ: one of them refuses the text"]
    elif found.errors != (None, None):
        return [f"not decided: {found.reason}" if found.reason else "both refuse the text"]
    elif found.is_proved:
        return ["they do not differ on any message"]
    else:
        return [f"not decided: no difference on {found.tries:,} messages that were tried, but {found.reason}"]
    for one in found.readings:
        lines.append(f"because of {one.field}")
        for name, choice, meaning, source in zip(names, one.choices, one.meanings, one.sources, strict=True):
            said = f"{choice}: {meaning}" if meaning else choice
            lines.append(f"  {name:{width}}  {said} [{source}]")
    return lines
