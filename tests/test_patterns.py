"""No regular expression of the package takes more than linear time, and compiling a selector does not either."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest
from volumes import is_release

import mqsel
from mqsel.files.framings import FORMATS
from mqsel.inventory.recognition import kind_of
from mqsel.language.dialect import PRESETS

# Modules that make patterns of texts that only a call knows. Each pattern of theirs is either compiled when the module
# is imported, where it is collected, or is a class of characters, a name, or LIKE's, whose growth has its own tests.
OF_CALLS = {
    "analysis.compare.canonical",
    "files.configuration",
    "files.amqsbcg",
    "files.framings",
    "inventory.entries",
    "inventory.expressions",
    "inventory.markup",
    "inventory.own",
    "inventory.recognition",
    "inventory.trees",
    "inventory.writings",
    "language.dialects",
    "language.lexer",
    "language.nodes",
    "language.parameters",
    "language.parser",
    "language.pattern",
}


def checked(*arguments: str) -> tuple[list[str], set[str]]:
    """Return the patterns that are not linear, and the modules whose patterns only calls know."""
    script = str(Path(__file__).parent / "patterns.py")
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=True, timeout=500)
    lines, start = done.stdout.splitlines(), "only a call knows mqsel."
    calls = {line.removeprefix(start).partition(":")[0] for line in lines if line.startswith(start)}
    return [line for line in lines if not line.startswith(start)], calls


@pytest.mark.long
@pytest.mark.parametrize("arguments", [(), ("50000",)], ids=["structure", "time"])
def test_no_pattern_is_more_than_linear(arguments: tuple[str, ...]) -> None:
    """No two loops of a pattern share characters, and no repeats of its parts, 50 kB, take longer than 0.5 s."""
    assert checked(*arguments) == ([], OF_CALLS)


@pytest.mark.parametrize(
    ("text", "is_export"),
    [
        (b"<!-- a -->" * 5_000 + b"<core/>", False),
        (b"<!-- a --->\n" * 5_000 + b"<activemq-journal>", True),
        (b"<?xml version='1.0'?>\n<!-- > - -- -->\n<messages>\n<message id='1' timestamp='1'/>", True),
        (b"<!--" * 10_000, False),
        (b"<!---->" * 10_000 + b"<!--", False),
    ],
    ids=["others", "exports", "messages", "open", "last is open"],
)
def test_comments_of_xml(text: bytes, is_export: bool) -> None:
    """An export is recognised behind any number of comments, and any other XML is not, in some milliseconds."""
    pattern = FORMATS["artemis"].start
    start = time.process_time()

    assert pattern is not None
    assert (pattern.search(text) is not None) == is_export
    assert time.process_time() - start < 0.5


def test_comments_of_properties() -> None:
    """A file with many comments that end in CR and LF is looked through once."""
    start = time.process_time()

    assert kind_of("a.properties", "# a note\r\n" * 3_000 + "!", is_named=False, has_words=True) == ""
    assert kind_of("a.properties", "# a note\r\n" * 3_000 + "jms.selector=a\r\n", is_named=False, has_words=True)
    assert time.process_time() - start < 0.5


# What is repeated, behind what; some of it is never closed.
REPEATED = {
    "dashes": ("", "--"),
    "dashes of a line": ("a = 1 ", "-- x\n"),
    "comments that are open": ("a = 1 ", "/* "),
    "comments": ("a = 1 ", "/* */ "),
    "apostrophes": ("a = ", "'"),
    "doubled apostrophes": ("a = ", "'' "),
    "quotes": ("", '"'),
    "quotes apart": ("", '" '),
    "brackets": ("", "["),
    "doubled brackets": ("[", "[["),
    "parentheses": ("", "("),
    "braces": ("a = ", "{"),
    "backticks": ("", "`"),
    "a name": ("a", "a"),
    "dots": ("a", ".a"),
    "hyphens": ("a", "-a"),
    "letters": ("", "\xe9"),
    "digits": ("a = 1", "1"),
    "zeros": ("a = 0", "0"),
    "underscores": ("a = 1", "_1"),
    "points": ("a = 1", ".1"),
    "exponents": ("a = 1", "e1"),
    "hexadecimal": ("a = 0x", "F"),
    "signs": ("a = ", "- "),
    "plus": ("a = 1", " + 1"),
    "equals": ("a", " = "),
    "not": ("", "NOT "),
    "or": ("a = 1", " OR a = 1"),
    "list": ("a IN ('b'", ", 'b'"),
    "pattern": ("a LIKE '", "%a"),
    "escapes": ("a LIKE '", "!%"),
    "space": ("a", " "),
    "colons": ("", ":"),
    "hashes": ("", "#"),
    "surrogates": ("a = '", "\ud800"),
}


@pytest.mark.parametrize("preset", sorted(PRESETS))
@pytest.mark.parametrize(
    "size", [10_000, pytest.param(100_000, marks=pytest.mark.long), pytest.param(1_000_000, marks=pytest.mark.long)]
)
def test_compiling_is_linear(preset: str, size: int) -> None:
    """A selector of any construct is compiled, or is an error, in 40 microseconds of the processor for a character."""
    if size == 1_000_000 and preset not in ("IBM_MQ", "ARTEMIS") and not is_release():
        pytest.skip("minutes of processor time: --volume 10 tries it")
    dialect = PRESETS[preset].replace(max_length=None)
    slow = []
    for name, (before, word) in REPEATED.items():
        text = before + word * (size // len(word))
        start = time.process_time()
        with contextlib.suppress(mqsel.MqselError):
            mqsel.compile(text, dialect=dialect)
        seconds = time.process_time() - start
        if seconds > size * 4e-5:
            slow.append((name, round(seconds, 2)))

    assert slow == []
