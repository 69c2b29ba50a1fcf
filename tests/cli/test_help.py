"""The help of every command, and the topics of `mqsel help`."""

from __future__ import annotations

import re
from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Run

import mqsel
from mqsel.cli import _COMMANDS, _parser
from mqsel.cli.help import DIALECTS
from mqsel.files.framings import FORMATS
from mqsel.inventory import KINDS
from mqsel.language.dialect import PRESETS

LONGEST = 60  # lines of help, at 80 columns
TOPICS = ("formats", "dialects", "paths", "exit-codes")
# Wordings that a reader has to read twice, and wordings that address nobody.
BANNED = re.compile(
    r"\bstands?\b|\bbehind\b|\bbeside\b|\balone\b|, too\b|\bis no\b|\bare no\b|\bin any case\b|\blikewise\b|see below"
    r"|\bcolours?\b|\brecognised\b|\bcannot\b|\bpacked\b|\btold\b|\bglued\b|\bwhat it takes\b"
    r"|(?m:(?:^|[.;] )(?:What|Whoever|Of|That) )"
)
MANUAL = (Path(mqsel.__file__).parent / "cli" / "README.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns, the width of help that is piped."""
    monkeypatch.setenv("COLUMNS", "80")


def _parsers() -> dict[str, ArgumentParser]:
    whole, commands = _parser([])
    return {"": whole, **commands}


def _options() -> Iterator[tuple[str, Action]]:
    for name, parser in _parsers().items():
        for action in parser._actions:
            if action.metavar != "COMMAND":
                yield f"{name} {'/'.join(action.option_strings) or action.metavar}", action


@pytest.mark.parametrize("name", ["", *_COMMANDS])
def test_help_is_short_and_begins_with_examples(name: str) -> None:
    """Help has a usage of one line, one sentence, the examples, the groups and the exit codes, in at most 60 lines."""
    lines = _parsers()[name].format_help().splitlines()

    assert len(lines) <= LONGEST
    assert lines[0].startswith(f"usage: mqsel {name}".strip())
    assert re.fullmatch(r"[A-Z][^.]*\.", lines[2])
    assert lines[4:5] == ["examples:"]
    assert lines[5].startswith("  mqsel ")
    assert not name or "exit code:" in lines
    assert [line for line in lines if len(line) > 100 and not line.startswith("  mqsel ")] == []


def test_every_option_has_a_text() -> None:
    """Each option and argument has a text that begins like a sentence, and has no full stop unless it has several."""
    texts = {name: action.help or "" for name, action in _options()}

    assert [name for name, text in texts.items() if len(text) < 8 or text == SUPPRESS] == []
    assert [name for name, text in texts.items() if text.endswith(".") and ". " not in text] == []


def test_options_name_their_default() -> None:
    """An option that takes a value says what holds without it, unless nothing does."""
    optional = "--type --cert --into --queue --inventory --key -e --file --in --html --explain --nth --limit"
    optional += " --write-baseline --to --portable --from"
    missing = {
        name
        for name, action in _options()
        if action.option_strings
        and action.nargs != 0
        and "default" not in (action.help or "")
        and not {*optional.split()} & {*action.option_strings}
    }

    assert missing == set()


def test_an_option_means_the_same_everywhere() -> None:
    """Options of one name have one text, but for what a command does with a contract, and what it prints."""
    texts: dict[str, set[str]] = {}
    for _, action in _options():
        for word in action.option_strings:
            texts.setdefault(word, set()).add(action.help or "")

    shared = {"--as", "--columns", "--format", "--type", "--max-size", "--jobs", "--spark", "--master", "--color", "-e"}
    shared |= {"--file", "--ca", "--cert", "--password-file", "--follow", "--ask-broker", "--max-matches", "--limit"}
    assert {word: texts[word] for word in shared if len(texts[word]) != 1} == {}


def test_no_banned_wording(run: Run) -> None:
    """No help, topic or text of bare mqsel has a wording of the list."""
    texts = {name: parser.format_help() for name, parser in _parsers().items()}
    texts |= {f"help {topic}": run("help", topic)[1] for topic in TOPICS}
    texts |= {"help": run("help")[1], "bare": run()[2]}

    assert {name: found for name, text in texts.items() if (found := BANNED.findall(text))} == {}


def test_topics_have_every_row(run: Run) -> None:
    """Each topic has a row for each row of the table that it is written from."""
    names = {"formats": FORMATS, "dialects": PRESETS, "paths": KINDS, "exit-codes": _COMMANDS}
    for topic, rows in names.items():
        status, out, err = run("help", topic)

        assert (status, err) == (0, "")
        assert [name for name in rows if not re.search(rf"(?m)^{name}(  .*)?$", out)] == []
    assert list(DIALECTS) == list(PRESETS)


def test_help_lists_its_topics_and_commands(run: Run) -> None:
    """`mqsel help` lists the topics, `mqsel help COMMAND` is the help of the command, and bare mqsel names both."""
    assert [topic for topic in TOPICS if f"mqsel help {topic} " not in run("help")[1]] == []
    assert run("help", "match") == run("match", "--help")
    assert "mqsel help" in run()[2]
    status, _, err = run("help", "frmats")
    assert (status, "formats" in err) == (2, True)


def test_exit_codes_are_those_of_the_manual() -> None:
    """The table of exit codes in the manual has the rows that the commands print."""
    table = MANUAL.partition("## Exit codes")[2].partition("\n## ")[0].replace("`", "")
    rows = {
        name: cells
        for names, *cells in (re.split(r" *\| *", line)[1:-1] for line in table.splitlines() if line.startswith("| "))
        for name in names.split(", ")
    }
    for name, parser in _parsers().items():
        if name not in ("", "completion", "help"):
            expected = [meaning for meaning in parser.exits if meaning]  # type: ignore[attr-defined]
            assert [cell for cell in rows[name] if not cell.startswith("Not used")] == expected, name
