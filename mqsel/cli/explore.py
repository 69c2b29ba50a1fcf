"""``mqsel explore``: a page on which one types a selector and sees what it does to the messages of files."""

from __future__ import annotations

import argparse
import warnings
import webbrowser

from mqsel.cli.arguments import (
    Commands,
    add_dialect,
    add_format,
    add_given,
    command,
    contract_of,
    types_of,
)
from mqsel.cli.output import complain, flush, print_text, say
from mqsel.columns.wordings import package_missing
from mqsel.files.framings import FORMATS
from mqsel.files.parts import listed_files
from mqsel.formats.envelopes import PLAIN

_EXAMPLES = """\
mqsel explore messages.jsonl
mqsel explore --dialect tibco-ems 'messages/day=*/*.parquet'
mqsel explore --inventory subs.mqsc messages.jsonl   (shows which of the subscriptions gets each message)
mqsel explore --no-browser dump.qload                (prints only the URL)\
"""
_EXITS = ("", "", "No file could be read, or another error")
_ABOUT = """\
mqsel serves the page only on this machine. Keep the URL to yourself: it contains a key, and anyone with the URL \
sees the messages. mqsel writes nothing, and sends nothing elsewhere. It reads the messages once, and keeps up to 2 \
GiB of them in memory. If the files are larger, the page has the first messages, and says so. Press Ctrl-C to end \
it: the exit code is then 130.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "open a web page to try selectors on the messages of files"
    made = command(commands, "explore", _explore, text, _EXAMPLES, _EXITS, _ABOUT)
    made.add_argument("files", metavar="FILE", nargs="+", help="files, which may be compressed; - is stdin")
    selector = add_dialect(made)
    add_given(selector, "use CONTRACT in proofs")
    selector.add_argument(
        "--inventory", metavar="PATH", help="files with selectors: the page shows which of them match a message"
    )
    add_format(made, FORMATS)
    output = made.add_argument_group("output")
    output.add_argument("--no-browser", action="store_true", help="print the URL, and open no browser")


def _explore(arguments: argparse.Namespace) -> int:
    try:
        from mqsel.explorer.server import Explorer  # noqa: PLC0415 (optional)
        from mqsel.explorer.session import MessageSource, Session  # noqa: PLC0415
    except ImportError as error:
        raise package_missing("mqsel explore", str(error.name), "explore") from error
    troubles = [one.trouble for one in listed_files(arguments.files)]
    if all(troubles):
        for trouble in troubles:
            complain(trouble or "")
        return 2
    inventory = None
    if arguments.inventory is not None:
        from mqsel.sets.set import SelectorSet  # noqa: PLC0415 (for this option alone)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            inventory = SelectorSet.from_inventory(arguments.inventory, errors="skip")
        for one in caught:
            complain(str(one.message))
    session = Session(
        MessageSource(
            tuple(arguments.files), arguments.format, types_of(arguments, arguments.format or PLAIN), arguments.max_size
        ),
        contract=contract_of(arguments, arguments.dialect),
        inventory=inventory,
    )
    page = Explorer(session, dialect=arguments.dialect.departures()[0])
    print_text(page.url)
    flush()
    say("Ctrl-C ends it.")
    if not arguments.no_browser:
        webbrowser.open(page.url)
    page.wait()
    return 0
