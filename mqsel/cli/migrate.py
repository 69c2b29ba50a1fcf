"""``mqsel migrate``: write selectors for another product, with the proof that they select the same messages there."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from mqsel.analysis.compare.migrate import Migrated, portable
from mqsel.analysis.explain import in_words
from mqsel.arguments import check_total
from mqsel.carets import in_one_line
from mqsel.cli import page
from mqsel.cli.arguments import Commands, add_given, command, contract_of, dialect_of
from mqsel.cli.output import print_json, print_text, say, write_file
from mqsel.cli.rewriting import WRITE, rewrite
from mqsel.cli.selectors import Given, add_selectors, complain_of, given, unread
from mqsel.errors import SelectorError
from mqsel.formats.jsonl import in_json
from mqsel.language.dialect import PRESETS, Dialect

_EXAMPLES = """\
mqsel migrate --from TIBCO_EMS --to ARTEMIS bridges.conf
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
Messages are JMS messages, with headers and typed properties. Each product sees them under its own names: \
JMSPriority is AMQPriority in Artemis, and h.priority in RabbitMQ. No number is NaN or -0.0. mqsel shows a \
translation only if it can prove that it matches the same messages. It shows what the proof assumes next to it.

verdict      meaning
same         you can use the selector as it is (proved)
translated   the selector to use instead (proved)
differs      mqsel found no translation; it shows a message, and the result of both products for it
refused      the product doesn't support a part of the selector; mqsel shows which, and what you can do instead
not decided  mqsel found neither a difference nor a proof
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
            rows.append(_Row(one, Migrated("not decided", reason=f"the selector cannot be known: {one.reason}")))
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
    names = () if one.entry is None else ("key", "destination", "file", "line")
    return {
        "where": one.where,
        **{name: getattr(one.entry, name) for name in names},
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
    yield f"{found.verdict:11}  {one.where}"
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
        yield f"because of {one.field}: {one.meanings[0] or one.choices[0]} [{one.sources[0]}]"
        yield f"in {target} {one.meanings[1] or one.choices[1]} [{one.sources[1]}]"
    if found.reason:
        yield found.reason
    if found.advice:
        yield f"instead: {found.advice}"


def _reason(found: Migrated) -> str:
    """Return what verdicts are counted by."""
    if found.readings:
        return f"because of {', '.join(one.field for one in found.readings)}"
    return found.reason or ("if properties have the types beside it" if found.assumes else "")


def _summary(rows: list[_Row]) -> Iterator[str]:
    counts = Counter(row.found.verdict for row in rows)
    shown = ", ".join([f"{counts[verdict]:,} {verdict}" for verdict in _ABOUT_VERDICTS if counts[verdict]])
    yield f"mqsel: {len(rows):,} selector{'s' * (len(rows) != 1)}{': ' * bool(shown)}{shown}"
    for (verdict, reason), count in _reasons(rows):
        yield f"  {count:,} {verdict} {reason}"


def _reasons(rows: list[_Row]) -> list[tuple[tuple[str, str], int]]:
    counts = Counter((row.found.verdict, _reason(row.found)) for row in rows)
    return [pair for pair in counts.most_common() if pair[0][1]]


# ---- for people who open files ---------------------------------------------------------------------------------------

# Whether a verdict is one that people hope for, and what it means.
_ABOUT_VERDICTS = {
    "same": ("good", "can be used as they are: proved"),
    "translated": ("good", "have a translation: proved"),
    "differs": ("bad", "select other messages, and no translation was found"),
    "refused": ("bad", "use something that the product does not have"),
    "not decided": ("text", "have to be looked at: no difference was found, and no proof"),
    INVALID: ("bad", "are refused by the product of today"),
}


def _tables(rows: list[_Row], names: list[str]) -> Iterator[page.PageTable]:
    counts = Counter(row.found.verdict for row in rows)
    yield page.counted(("Selectors", "Verdict", "What it means"), counts, _ABOUT_VERDICTS)
    reasons = _reasons(rows)
    if reasons:
        yield page.PageTable(
            "Reasons",
            ("Selectors", "Verdict", "Reason"),
            [[[("text", one)] for one in (f"{count:,}", *pair)] for pair, count in reasons],
        )
    yield page.PageTable(
        "Selectors",
        ("Where", "Verdict", "Selector", "What to know"),
        [
            [*_cells(row, names[0])]
            for row in sorted(rows, key=lambda row: -[*_ABOUT_VERDICTS].index(row.found.verdict))
        ],
    )


def _cells(row: _Row, target: str) -> Iterator[page.Cell]:
    one, found = row
    key = "" if one.entry is None else f"{one.entry.key} {one.entry.destination}".strip()
    yield [("text", part) for part in (key, one.where) if part]
    yield [(_ABOUT_VERDICTS[found.verdict][0], found.verdict)]
    yield [("old", one.text), ("new", found.text)] if found.verdict == "translated" else [("code", one.text)]
    yield [("text", line) for line in _details(found, target)]
