"""What stands where something else is expected: one sentence that says what it is, and the right command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mqsel import cli

Run = Callable[..., tuple[int, str, str]]

BLUE = '{"color": "blue", "weight": 3000}\n'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in a folder with files; return the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("bench", "README.md", "my selectors.txt", "-x.txt", "color = 'blue'", "a$b.txt"):
        Path(name).write_text("color = 'blue'\n", "utf-8")
    Path("messages").write_text(BLUE, "utf-8")
    Path("color").mkdir()

    def call(*arguments: str) -> tuple[int, str, str]:
        status = cli.main([*arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


# ---- files as selectors ----------------------------------------------------------------------------------------------

ONE_SELECTOR = [
    ("bench", "a file", "bench", '; if a selector is meant, write "(bench)"'),
    ("README.md", "a file", "README.md", '; if a selector is meant, write "(README.md)"'),
    ("./README.md", "a file", "./README.md", ""),
    ("my selectors.txt", "a file", '"my selectors.txt"', ""),
    ("color = 'blue'", "a file", "\"color = 'blue'\"", "; if a selector is meant, write \"(color = 'blue')\""),
    ("a$b.txt", "a file", "'a$b.txt'", "; if a selector is meant, write '(a$b.txt)'"),
    ("-", "stdin", "-", ""),
    ("color", "a directory", "", 'if a selector is meant, write "(color)"'),
    ("messages:1", "a message of a file", "", None),
    (".", "a directory", "", None),
]


@pytest.mark.parametrize(("text", "place", "name", "otherwise"), ONE_SELECTOR)
@pytest.mark.parametrize("command", [("check",), ("lint",), ("lint", "--fix"), ("format",), ("format", "--check")])
def test_names_of_files_are_no_selectors(
    run: Run, command: tuple[str, ...], text: str, place: str, name: str, otherwise: str | None
) -> None:
    """A name in the file system is refused with the command that reads it, and with what makes it a selector."""
    hint = f"{f'mqsel {command[0]} --file {name}' * bool(name)}{otherwise or ''}"
    expected = f"mqsel: {text!r} is {place}: expected a selector\n" + f"  hint: {hint}\n" * bool(hint)
    assert run(*command, text) == (2, "", expected)
    assert run(*command, "weight > 5", text) == (2, "", expected)


JUDGED = [
    (("match", "bench"), "mqsel match SELECTOR bench", "bench"),
    (("why", "README.md", "messages"), "mqsel why SELECTOR README.md messages", "README.md"),
    (("match", "color", "messages", "messages", "bench"), "mqsel match SELECTOR color messages messages …", "color"),
    (("match", "color", "day=*/*.jsonl"), 'mqsel match SELECTOR color "day=*/*.jsonl"', "color"),
    (("match", "--count", "bench", "-"), "mqsel match SELECTOR bench -", "bench"),
    (("explain", "bench"), "mqsel explain SELECTOR bench", "bench"),
    (("explain", "color", "messages:1"), "mqsel explain SELECTOR messages:1", "color"),
    (("explain", "color", '{"color": true}'), "mqsel explain SELECTOR '{\"color\": true}'", "color"),
    (("explain", "--program", "messages"), "mqsel explain SELECTOR messages", "messages"),
]


@pytest.mark.parametrize(("arguments", "advice", "name"), JUDGED)
def test_calls_without_a_selector(run: Run, arguments: tuple[str, ...], advice: str, name: str) -> None:
    """A file or directory in the place of the selector of what judges messages is refused, stdin unread."""
    place = "a directory" if name == "color" else "a file"
    hint = f'{advice}; if a selector is meant, write "({name})"'
    assert run(*arguments) == (2, "", f"mqsel: {name!r} is {place}: expected the selector first\n  hint: {hint}\n")


SWAPPED = [
    (("match", "messages", "color = 'red'"), "match \"color = 'red'\" messages"),
    (("why", "messages", "bench", "weight > 5"), 'why "weight > 5" messages bench'),
    (("explain", "messages", "weight > 5"), 'explain "weight > 5" messages'),
    (("explain", "messages:1", "weight > 5"), 'explain "weight > 5" messages:1'),
    (("match", "my selectors.txt", "a$b = 5"), "match 'a$b = 5' \"my selectors.txt\""),
]


@pytest.mark.parametrize(("arguments", "hint"), SWAPPED)
def test_selectors_behind_what_they_judge(run: Run, arguments: tuple[str, ...], hint: str) -> None:
    """A selector that stands last is recognised, and the call written as it should be."""
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.endswith(f"is not: expected the selector first\n  hint: mqsel {hint}\n")


@pytest.mark.parametrize(
    "arguments", [("bench", "weight > 5"), ("weight > 5", "bench"), ("bench",), ("color", "bench")]
)
def test_diff_of_files(run: Run, arguments: tuple[str, ...]) -> None:
    """Diff compares selectors: the name of a file in either place is refused."""
    dialects = ("--dialect", "JMS", "--dialect", "IBM_MQ") if len(arguments) == 1 else ()
    status, out, err = run("diff", *dialects, *arguments)
    assert (status, out) == (2, "")
    name = next(one for one in arguments if ">" not in one)
    advice = 'pass the selector in it: "$(cat bench)"; ' * (name == "bench")
    place = "a directory" if name == "color" else "a file"
    hint = f'{advice}if a selector is meant, write "({name})"'
    assert err == f"mqsel: {name!r} is {place}: expected a selector\n  hint: {hint}\n"


def test_parentheses_make_a_selector_of_a_name(run: Run) -> None:
    """What the hints say of names that are selectors all the same is so, in every command."""
    assert run("check", "(bench)")[0] == 0
    assert run("lint", "(bench)")[0] == 0
    assert run("format", "(bench)")[:2] == (0, "bench\n")
    assert run("diff", "(bench)", "bench = TRUE")[:1] == (0,)
    assert run("match", "(color)", "messages")[0] == 1
    assert run("explain", "(color)", '{"color": true}')[0] == 0
    assert run("check", "nowhere")[0] == 0  # no file of the name
