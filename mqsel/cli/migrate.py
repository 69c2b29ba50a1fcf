"""``mqsel migrate``: write selectors for another product, with the proof that they select the same messages there."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from mqsel.analysis.compare.migrate import Migrated, portable
from mqsel.analysis.explain import in_words
from mqsel.arguments import check_total
from mqsel.carets import in_one_line, nameable, plural
from mqsel.cli import page
from mqsel.cli.arguments import Commands, add_given, command, contract_of, dialect_of
from mqsel.cli.output import print_json, print_text, say, write_file
from mqsel.cli.rewriting import WRITE, rewrite
from mqsel.cli.selectors import Given, add_selectors, complain_of, given, unread
from mqsel.errors import SelectorError
from mqsel.formats.jsonl import in_json
from mqsel.language.dialect import PRESETS, Dialect

_EXAMPLES = """\
mqsel migrate --from JMS --to RABBITMQ -e "JMSPriority > 4 AND color <> 'red'"
mqsel migrate --from JMS --portable JMS,ARTEMIS,RABBITMQ --html report.html src/
mqsel migrate --from IBM_MQ --to ACTIVEMQ --given contract.json --write selectors.txt\
"""
_EXITS = (
    "Every selector is the same or translated",
    "At least one selector isn't",
    "A selector is invalid, or another error",
)
_ABOUT = """\
Messages are JMS messages, with headers and typed properties, which each product names in its way: JMSPriority is \
AMQPriority in Artemis, and h.priority in RabbitMQ. No number is NaN or -0.0. mqsel shows a translation only with a \
proof that it matches the same messages, and what the proof assumes.

verdict      meaning
same         you can use the selector as it is (proved)
translated   the selector to use instead (proved)
differs      no translation was found; mqsel shows a message and both results
unsupported  the product lacks something; mqsel says what to do
not decided  neither a difference nor a proof; a contract (--given) may decide it
"""


INVALID = "invalid"  # in reports beside the verdicts: the product of today refuses the selector


class _Row(NamedTuple):
    """A selector and what becomes of it."""

    one: Given
    found: Migrated


def add(commands: Commands) -> None:
    """Add the command."""
    text = "write selectors for another product, with a proof"
    made = command(commands, "migrate", _migrate, text, _EXAMPLES, _EXITS, _ABOUT)
    products = made.add_argument_group("products (required: --to or --portable; all names: mqsel help dialects)")
    products.add_argument(
        "--from",
        dest="dialect",
        type=dialect_of,
        metavar="NAME",
        help="dialect of the existing selectors (same as --dialect)",
    )
    wanted = products.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--to", type=_dialects, metavar="NAME", help="dialect of the other product")
    wanted.add_argument(
        "--portable",
        dest="to",
        type=_dialects,
        metavar="NAME,NAME",
        help="find one selector that works in all of these dialects",
    )
    group = add_selectors(made)
    add_given(group, "assume that messages conform to CONTRACT")
    output = made.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object for each selector")
    output.add_argument("--html", metavar="FILE", help="also write a report as a web page")
    output.add_argument("--write", action="store_true", help="also write the translations into the files")


def _dialects(text: str) -> list[Dialect]:
    return [dialect_of(one.strip()) for one in text.split(",")]


def _migrate(arguments: argparse.Namespace) -> int:
    read = given(arguments)
    names = [next(name for name, one in PRESETS.items() if one == target) for target in arguments.to]
    contracts = {dialect: contract_of(arguments, dialect) for dialect in {one.dialect for one in read.selectors}}
    rows: list[_Row] = []
    trouble = bool(read.damaged)
    for one in read.selectors:
        if one.reason:
            rows.append(_Row(one, Migrated("not decided", reason=f"the selector is incomplete: {one.reason}")))
        else:
            try:
                rows.append(_Row(one, portable(one.text, one.dialect, arguments.to, contracts[one.dialect])))
            except SelectorError as error:
                trouble = True
                complain_of(one, error, is_many=len(read.selectors) > 1)
                rows.append(_Row(one, Migrated(INVALID, reason=error.message)))
                continue
        if arguments.json:
            print_json(_in_json(rows[-1]))
        else:
            for line in _lines(rows[-1], names[0]):
                print_text(line, indent=" " * 6)
    check_total(len(read.selectors), len(rows))
    if not arguments.json:
        for line in _summary(rows):
            say(line)
        if any(row.found.verdict == "not decided" for row in rows) and not any(contracts.values()):
            say("  hint: a contract of your messages may decide the rest: mqsel contract FILE > contract.json, then")
            say("        add --given contract.json")
    if arguments.html is not None:
        tables = [*_tables(rows, names), *unread(read.damaged)]
        check_total(len(read.selectors), len(tables[-1 - bool(read.damaged)].rows))
        write_file(arguments.html, page.html(f"Selectors for {', '.join(names)}", tables))
    if arguments.write:
        changes = [(row.one, row.found.text) for row in rows if row.found.verdict == "translated"]
        changes = [pair for pair in changes if pair[0].entry is not None]
        trouble = bool(rewrite(read, changes, arguments, WRITE).refused) or trouble
    return 2 if trouble else int(not all(row.found for row in rows))


def _in_json(row: _Row) -> dict[str, Any]:
    one, found = row
    entry = one.entry
    known: dict[str, Any] = {}
    if entry is not None:
        known = {"key": entry.key, "destination": entry.destination, "file": nameable(entry.file), "line": entry.line}
    return {
        "where": one.where,
        **known,
        "selector": one.text,
        "verdict": found.verdict,
        "text": found.text or None,
        "assumes": [{"name": name, "kind": kind} for name, kind in found.assumes],
        "message": found.message and in_json(found.message),
        "truths": found.truths and [str(one) for one in found.truths],
        "reason": found.reason,
        "advice": found.advice,
        "because": [reading._asdict() for reading in found.readings],
    }


# ---- for the terminal ------------------------------------------------------------------------------------------------


def _lines(row: _Row, target: str) -> Iterator[str]:
    one, found = row
    yield f"{_shown(found.verdict):11}  {one.where}"
    text = in_one_line(one.text)
    if found.verdict == "same":
        yield f"    {text}"
    elif text.strip("…"):  # which stands for what cannot be known
        yield f"  - {text}"
    if found.verdict == "translated":
        yield f"  + {in_one_line(found.text)}"
    for line in _details(found, target):
        yield f"    {line}"


def _details(found: Migrated, target: str) -> Iterator[str]:
    """Yield what there is to say of a verdict."""
    if found.assumes:
        yield f"if {found.condition()}"
    if found.message is not None and found.truths is not None:
        yield f"for {in_words(found.message)} it is {found.truths[0]}, and {found.truths[1]} in {target}"
    for one in found.readings:
        yield f"because of {one.field} (see language §2): {one.meanings[0] or one.choices[0]}"
        yield f"in {target}: {one.meanings[1] or one.choices[1]}"
    if found.reason:
        yield found.reason
    if found.advice:
        yield f"instead: {found.advice}"


def _shown(verdict: str) -> str:
    """Return the word for a verdict, which JSON and Python call by the older word."""
    return "unsupported" if verdict == "refused" else verdict


def _reason(found: Migrated) -> str:
    """Return what verdicts are counted by."""
    if found.readings:
        return f"because of {', '.join(one.field for one in found.readings)}"
    return found.reason or ("with assumptions about types (shown above)" if found.assumes else "")


def _summary(rows: list[_Row]) -> Iterator[str]:
    counts = Counter(row.found.verdict for row in rows)
    shown = ", ".join([f"{counts[verdict]:,} {_shown(verdict)}" for verdict in _ABOUT_VERDICTS if counts[verdict]])
    yield f"mqsel: {plural(len(rows), 'selector')}{': ' * bool(shown)}{shown}"
    for (verdict, reason), count in _reasons(rows):
        yield f"  {count:,} {_shown(verdict)} {reason}"


def _reasons(rows: list[_Row]) -> list[tuple[tuple[str, str], int]]:
    counts = Counter((row.found.verdict, _reason(row.found)) for row in rows)
    return [pair for pair in counts.most_common() if pair[0][1]]


# ---- for people who open files ---------------------------------------------------------------------------------------

# Whether a verdict is one that people hope for, and what it means.
_ABOUT_VERDICTS = {
    "same": ("good", "can be used as they are: proved"),
    "translated": ("good", "have a translation: proved"),
    "differs": ("bad", "match other messages, and no translation was found"),
    "refused": ("bad", "use something that the product doesn't support"),
    "not decided": ("text", "neither a difference nor a proof was found: check them, or pass a contract (--given)"),
    INVALID: ("bad", "are rejected by the current product"),
}


def _tables(rows: list[_Row], names: list[str]) -> Iterator[page.PageTable]:
    counts = Counter(row.found.verdict for row in rows)
    counts = Counter({_shown(verdict): count for verdict, count in counts.items()})
    meanings = {_shown(verdict): meaning for verdict, meaning in _ABOUT_VERDICTS.items()}
    yield page.counted(("Selectors", "Verdict", "Meaning"), counts, meanings)
    reasons = _reasons(rows)
    if reasons:
        yield page.PageTable(
            "Reasons",
            ("Selectors", "Verdict", "Reason"),
            [[[("text", one)] for one in (f"{count:,}", _shown(verdict), why)] for (verdict, why), count in reasons],
        )
    yield page.PageTable(
        "Selectors",
        ("Location", "Verdict", "Selector", "Details"),
        [
            [*_cells(row, names[0])]
            for row in sorted(rows, key=lambda row: -[*_ABOUT_VERDICTS].index(row.found.verdict))
        ],
    )


def _cells(row: _Row, target: str) -> Iterator[page.Cell]:
    one, found = row
    key = "" if one.entry is None else f"{one.entry.key} {one.entry.destination}".strip()
    yield [("text", part) for part in (key, one.where) if part]
    yield [(_ABOUT_VERDICTS[found.verdict][0], _shown(found.verdict))]
    yield [("old", one.text), ("new", found.text)] if found.verdict == "translated" else [("code", one.text)]
    yield [("text", line) for line in _details(found, target)]
