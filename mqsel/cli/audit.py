"""``mqsel audit``: find which of many selectors are the same, contain others, or never select."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from mqsel.analysis.compare.audit import Audit, audit
from mqsel.analysis.compare.gaps import Gap
from mqsel.analysis.compare.writing import EVERY
from mqsel.analysis.explain import in_words
from mqsel.arguments import check_total
from mqsel.carets import in_one_line, plural
from mqsel.cli.arguments import Commands, add_given, command, contract_of
from mqsel.cli.output import complain, print_json, print_text, say
from mqsel.cli.report import first_of
from mqsel.cli.selectors import NONE_FOUND, Given, add_inventory, add_paths, complain_of, keyed
from mqsel.formats.jsonl import in_json
from mqsel.language.dialect import IBM_MQ

_EXAMPLES = """\
mqsel audit subs.mqsc src/
mqsel contract messages.jsonl > contract.json && mqsel audit --given contract.json subs.mqsc
mqsel audit --once --given contract.json bridges.conf
mqsel audit --dialect JMS --json subscriptions.json.gz\
"""
_EXITS = ("Nothing was found", "Something was found", "A selector is invalid, or another error")
_ABOUT = """\
mqsel proves each finding except "same". CONTRACT is the contract of the messages: it says what they can be. With it, \
proofs are about messages that conform to it, and a gap is a finding. Without it, they are about every possible \
message, and headers may have any type.

finding   meaning
never     a selector that matches no message, with the reason
same      selectors with the same text
equal     selectors that match the same messages, but have different texts
contains  a selector that matches everything another matches, and more; of equal selectors, mqsel names the first
missing   two selectors that overlap only on messages without a property, although each matches messages with it
gap       a message that no selector of a destination matches, and a selector for all such messages
twice     with --once: two selectors of a destination that match the same message
"""

_SHOWN = 5  # keys of one line


def add(commands: Commands) -> None:
    """Add the command."""
    text = "find which of many selectors are equal, contain others, or never match"
    made = command(commands, "audit", _audit, text, _EXAMPLES, _EXITS, _ABOUT)
    add_paths(made)
    group = add_inventory(made)
    add_given(group, "assume that messages conform to CONTRACT")
    group.add_argument("--once", action="store_true", help="report messages that two selectors of a destination match")
    output = made.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object, with every key")


def _audit(arguments: argparse.Namespace) -> int:
    read, unknown, damaged = keyed(arguments.paths, arguments, arguments.dialect)
    if not read and not unknown and not damaged:
        complain(NONE_FOUND)
    usual = next((one.dialect for one in read.values()), arguments.dialect or IBM_MQ)
    contract = contract_of(arguments, usual)
    found = audit(
        [(key, one.text, one.dialect) for key, one in read.items()],
        given=contract,
        destinations={key: one.entry.destination for key, one in read.items() if one.entry is not None},
        once=arguments.once,
    )
    gaps = [one for one in found.gaps if one[0] or contract is not None]
    if arguments.json:
        print_json(_in_json(found))
    else:
        for line in [*_lines(found, read), *_of_destinations(found, gaps)]:
            print_text(line, indent=" " * 10)
    for key, refused in found.invalid:
        complain_of(read[key], refused, key)
    check_total(len(read), found.total)
    say(_summary(found, len(unknown), len(damaged)))
    is_clean = not (found.never or found.equal or found.within or found.missing or found.twice)
    is_clean = is_clean and not (contract is not None and any(one for _, one in gaps))
    return 2 if found.invalid or damaged else int(not is_clean)


def _lines(found: Audit, read: dict[str, Given]) -> Iterator[str]:
    texts = {key: in_one_line(one.text) for key, one in read.items()}
    for key, reason in found.never:
        yield f"never     {key}: {reason}"
    for keys, is_one_text in found.equal:
        if is_one_text:
            yield f"same      {_listed(keys)}: {texts[keys[0]]}"
        else:
            yield f"equal     {_listed(keys)}: {_texts_of(keys, texts)}"
    for key, keys in found.within:
        yield f"contains  {key}: {texts[key]} | {_listed(keys)}: {_texts_of(keys, texts)}"
    for (key, other), name, message in found.missing:
        yield f"missing   {key} and {other} overlap only if {name} is missing: {in_words(message)}"


def _of_destinations(found: Audit, gaps: list[tuple[str, Gap]]) -> Iterator[str]:
    for (key, other), message in found.twice:
        yield f"twice     {key} and {other} both match {in_words(message)}"
    for destination, gap in gaps:
        where = f"{destination}: " * bool(destination)
        if gap.message is not None:
            shape = (
                ", nor any other message"
                if gap.selector == EVERY
                else f"; all such messages: {gap.selector}" * bool(gap.selector)
            )
            yield f"gap       {where}no selector matches {in_words(gap.message)}{shape}"
        elif gap.reason:
            yield f"gap       {where}not decided: {gap.reason}"


def _listed(keys: tuple[str, ...]) -> str:
    return first_of(keys, _SHOWN, "--json lists them")


def _texts_of(keys: tuple[str, ...], texts: dict[str, str]) -> str:
    """Return the texts of the keys that are listed, each once."""
    return " | ".join(dict.fromkeys(texts[key] for key in keys[:_SHOWN]))


def _in_json(found: Audit) -> dict[str, Any]:
    return {
        "total": found.total,
        "invalid": [{"key": key, "error": str(error)} for key, error in found.invalid],
        "never": [one._asdict() for one in found.never],
        "same": [one.keys for one in found.equal if one.is_one_text],
        "equal": [one.keys for one in found.equal if not one.is_one_text],
        "contains": [one._asdict() for one in found.within],
        "missing": [{**one._asdict(), "message": in_json(one.message)} for one in found.missing],
        "undecided": found.undecided,
        "pairs_left": found.pairs_left,
        "gaps": [
            {
                "destination": destination,
                "message": gap.message and in_json(gap.message),
                "selector": gap.selector,
                "reason": gap.reason,
            }
            for destination, gap in found.gaps
        ],
        "twice": [{**one._asdict(), "message": in_json(one.message)} for one in found.twice],
    }


def _summary(found: Audit, unknown: int, damaged: int) -> str:
    counts = (
        (unknown, "more incomplete", ""),
        (damaged, "not read", ""),
        (len(found.invalid), "invalid", ""),
        (len(found.never), "never matches", "never match"),
        (sum(len(one.keys) - 1 for one in found.equal if one.is_one_text), "duplicate", "duplicates"),
        (sum(len(one.keys) - 1 for one in found.equal if not one.is_one_text), "equivalent to another", ""),
        (sum(len(one.keys) for one in found.within), "contained in others", ""),
        (
            len(found.missing),
            "pair overlaps only if a property is missing",
            "pairs overlap only if a property is missing",
        ),
        (len(found.undecided), "not decided", ""),
        (len(found.twice), "pair matches the same message", "pairs match the same message"),
        (found.pairs_left, "pair not compared", "pairs not compared"),
    )
    words = [plural(count, one, more or one) for count, one, more in counts if count]
    return ", ".join([plural(found.total, "selector"), *words])
