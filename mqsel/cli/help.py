"""``mqsel help``: topics that several commands share, each written from the rows of a table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from mqsel.cli.arguments import Commands, command, exit_rows, filled, help_width
from mqsel.cli.output import print_lines
from mqsel.files.framings import FORMATS
from mqsel.formats.records import SCHEMAS
from mqsel.inventory import KINDS
from mqsel.language.dialect import PRESETS
from mqsel.language.products import PRODUCTS

_EXAMPLES = """\
mqsel help formats
mqsel help dialects
mqsel help paths
mqsel help exit-codes
mqsel help match    (the same as mqsel match --help)\
"""
_EXITS = ("Success", "", "An error")

# The dialects without a row in the table of engines that mqsel was compared with, and one that has no engine.
_OTHERS = {
    "IBM_MQ": "follows IBM's documentation of IBM MQ queue managers (default)",
    "IBM_JMS": "follows IBM's documentation of IBM MQ classes for JMS",
    "IBM_JAVA_CLIENT": "compared with IBM's Java client 9.4.1, if it selects messages itself",
    "TIBCO_EMS": "follows TIBCO's documentation of TIBCO EMS",
    "JMS": "follows the specification of Jakarta Messaging",
    "AZURE_SERVICE_BUS": "follows Microsoft's documentation of Azure Service Bus",
}
DIALECTS = {name: _OTHERS.get(name) or f"compared with {PRODUCTS[name].product}" for name in PRESETS}


def add(commands: Commands) -> None:
    """Add the command."""
    text = "explain formats, dialects, paths and exit codes"
    made = command(commands, "help", lambda arguments: _help(arguments, commands), text, _EXAMPLES, _EXITS)
    made.add_argument(
        "topic", metavar="TOPIC", nargs="?", choices=tuple(_TOPICS), help="formats, dialects, paths or exit-codes"
    )


def _help(arguments: argparse.Namespace, commands: Commands) -> int:
    text = _all_topics() if arguments.topic is None else topics(commands.choices)[arguments.topic]
    print_lines(filled(text, help_width()), end="\n")
    return 0


def topics(parsers: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of each topic.

    Args:
        parsers: the parser of each command.
    """
    return {name: text(parsers) for name, (_, text) in _TOPICS.items()}


def _all_topics() -> str:
    rows = "\n".join(f"  mqsel help {name:{max(map(len, _TOPICS))}}  {about}" for name, (about, _) in _TOPICS.items())
    return f"topics:\n{rows}\n\nFor a command, type mqsel COMMAND --help. mqsel --help lists all commands."


def _table(heads: tuple[str, str], rows: dict[str, str]) -> str:
    width = max(map(len, (heads[0], *rows)))
    return "\n".join(f"{name:{width}}  {text}" for name, text in {heads[0]: heads[1], **rows}.items())


def _formats(_: Mapping[str, Any]) -> str:
    known = ", ".join(name for name, row in FORMATS.items() if row.start is not None)
    return f"""\
mqsel detects the format of each file with messages. To set the format yourself, use --format NAME.

{_table(("format", "content of the file"), {name: row.holds for name, row in FORMATS.items()})}

mqsel detects {known} by the first bytes of the file. Any other file is JSON lines. mqsel detects \
{", ".join(SCHEMAS)} by the first record, and reports this on stderr. Text may be UTF-8 or UTF-16. Files may be \
compressed.

{", ".join(SCHEMAS)} store every value as text. For these, --type weight=int32 converts a property to a type. Values \
that can't be converted become NULL and are counted.

In json, a whole number is an int64, and any other number is a float64. To set the type of a value, name the type:
  {{"weight": {{"int32": 3000}}, "ratio": {{"float32": 0.5}}, "token": {{"bytes": "0a1b"}}}}

match prints messages as they are in the file, and rows of Parquet as JSON. If a file is one message, match prints \
the name of the file. JSON can't hold messages of other formats: mqsel route names them by file and line or byte, \
and mqsel route --into writes them as they are.
"""


def _dialects(_: Mapping[str, Any]) -> str:
    return f"""\
A dialect is the set of rules by which a broker reads a selector. Use --dialect NAME. Uppercase or lowercase doesn't \
matter, and you can write - for _, such as tibco-ems.

{_table(("dialect", "source of its rules"), DIALECTS)}

If you don't use --dialect, mqsel takes the dialect from the configuration (mqsel.toml or pyproject.toml). Otherwise \
it reads selectors on the command line as IBM_MQ, and selectors in files by the type of the file.
"""


def _paths(_: Mapping[str, Any]) -> str:
    return f"""\
FILE names messages, and PATH names selectors. Both can be a file, a folder, a pattern in quotes such as \
'config/**/*.xml', a URL such as s3://bucket/file, or - for stdin. Files may be compressed.

If you name a folder of messages, mqsel reads all files in it. A folder name such as day=1 adds the property day to \
the rows of its Parquet files. If you name a folder of selectors, mqsel walks it as ripgrep does: it respects ignore \
files, and leaves out hidden files and links.

If a command takes PATH or SELECTOR, mqsel reads an argument as a path if a file or folder of that name exists. If \
an argument looks like a file name (a single word, a / without spaces around it, or a known extension) but no such \
file exists, mqsel stops with an error. To be explicit, write -e before a selector and --file before a path.

mqsel reads each selector in the dialect of its file type, unless --dialect or the configuration names another \
dialect. If several selectors have the same key, they are listed as KEY@FILE:LINE:COLUMN.

Some selectors can't be read completely, for example if the program builds them from variables. mqsel reports these \
as incomplete, and checks the parts it can read. It treats an unknown part inside a string as arbitrary text.

mqsel detects the type of a file with selectors. If it can't, use --as KIND.

{_table(("type", "selectors that mqsel reads"), {name: row.holds for name, row in KINDS.items()})}
"""


def _exit_codes(parsers: Mapping[str, Any]) -> str:
    rows = "\n\n".join(
        "\n  ".join([name, *exit_rows(parser.exits)]) for name, parser in parsers.items() if parser.exits
    )
    return f"""\
Exit codes follow grep: 0 means yes, 1 means no, 2 means an error.

{rows}

Every command ends with 2 if stdout is closed or full, and with 130 if you press Ctrl-C. The exit code doesn't \
depend on stderr. If a reader of stdout ends early, as head does, the command still ends with its exit code. Only \
match, route and inspect then stop, with the exit code for the messages that they have read. With --exit-zero, \
--write-baseline, --list-rules or --explain, lint ends with 0 or 2.
"""


_TOPICS = {
    "formats": ("formats of files with messages", _formats),
    "dialects": ("brokers whose rules mqsel knows", _dialects),
    "paths": ("files, folders, URLs, and types of files with selectors", _paths),
    "exit-codes": ("exit codes of every command", _exit_codes),
}
