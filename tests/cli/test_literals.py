"""Every command that prints a selector leaves its literals as they are, white space included."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from mqsel import cli
from mqsel.carets import in_one_line, visible, wrapped
from mqsel.language.lexer import WHITE_SPACE

SPACES = sorted({*WHITE_SPACE, *"\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029\u00a0\u2003\u3000"})
TEXTS = [f"'MQ  {space}{space} x {space}'" for space in SPACES]
SHOWN = [visible(text) for text in TEXTS]
SELECTOR = "f\n IN\t (" + ", ".join(TEXTS) + ")"
# What a terminal shows as it is: `format` prints no selector with another character, as a program may read it.
EXACT = [text for text in TEXTS if visible(text.replace("\t", " ")) == text.replace("\t", " ")]


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    cli.main([*arguments])
    return "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "command",
    [
        ["check", "-e", SELECTOR, "-e", SELECTOR],
        ["format", "-e", "f IN (" + ", ".join(EXACT) + ")"],
        ["explain", SELECTOR, '{"f": "x"}'],
        ["explain", "--program", SELECTOR, '{"f": "x"}'],
        ["migrate", "--from", "JMS", "--to", "ARTEMIS", "-e", f"{SELECTOR} AND JMSPriority > 4"],
        ["migrate", "--from", "JMS", "--to", "ARTEMIS", "-e", SELECTOR],
        ["why", SELECTOR, "messages"],
        ["audit", "--as", "keyed-json", "twice"],
        ["selectors", "--as", "keyed-json", "twice"],
        ["diff", "--as", "keyed-json", "twice", "none"],
    ],
    ids=lambda command: " ".join(command[:2]).split("\n")[0],
)
def test_white_space_in_literals(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A literal is printed with every white space character that it has: blanks as blanks, the others as signs."""
    monkeypatch.chdir(tmp_path)
    Path("messages").write_text('{"f": "x"}\n')
    Path("twice").write_text(json.dumps({"one": SELECTOR, "two": SELECTOR}))
    Path("none").write_text(json.dumps({"three": "a = 1"}))
    out = _run(capsys, *command)
    texts = EXACT if command[0] == "format" else SHOWN

    assert [text for text in texts if text not in out] == []


@pytest.mark.parametrize("command", [["migrate", "--from", "JMS", "--to", "ARTEMIS"], ["explain"], ["check"], ["lint"]])
def test_white_space_in_json(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the selector as it was given."""
    selector = f"{SELECTOR} AND b = TRUE AND b = TRUE"
    out = _run(capsys, *command, "--json", selector, *['{"f": "x"}'] * (command == ["explain"]))

    assert json.loads(out.splitlines()[0])["selector"] == selector


@pytest.mark.parametrize("form", ["html", "markdown", "migrate"])
def test_white_space_on_pages(
    form: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page shows lines and tabs of literals as they stand, and a style keeps their blanks."""
    monkeypatch.chdir(tmp_path)
    Path("old").write_text(json.dumps({"one": SELECTOR}))
    Path("new").write_text(json.dumps({"one": f"{SELECTOR} AND a = 1"}))
    if form == "markdown":
        page = _run(capsys, "diff", "--as", "keyed-json", "--markdown", "old", "new")
        assert all(line[:1] in ("", "|", "#") for line in page.rpartition("1 and 1")[0].split("\n"))
    else:
        command = ["diff"] if form == "html" else ["migrate", "--from", "JMS", "--to", "JMS"]
        paths = ["old", "new"] if form == "html" else ["old"]
        _run(capsys, *command, "--as", "keyed-json", "--html", "page", *paths)
        page = Path("page").read_text()
        assert "td { white-space: pre-wrap }" in page
    kept = ["".join(sign if sign in "\n\t" else visible(sign) for sign in text) for text in TEXTS]

    assert [text for text in kept if text not in unescape(page)] == []


@pytest.mark.parametrize(
    ("selector", "line"),
    [
        ("  a\n =\t 'x  y' ", "a = 'x  y'"),
        ("a = 'it''s  so' OR  b = 1", "a = 'it''s  so' OR b = 1"),
        ('"a  b" =  1', '"a  b" = 1'),
        ("[a  b]  = 1", "[a  b] = 1"),
        ("a = 'http://x'  AND\nb = 1", "a = 'http://x' AND b = 1"),
        ("a = 1 -- it's\n AND b = 'x  y'", "a = 1 -- it's␊ AND b = 'x  y'"),
    ],
)
def test_in_one_line(selector: str, line: str) -> None:
    """White space between words becomes one blank; strings, quoted names and comments stay as they are."""
    assert in_one_line(selector) == line


def test_wrapped_literals() -> None:
    """A terminal's lines end between words, and never within a string."""
    assert wrapped("it is f = 'MQ   STR   ' here", 12, "  ") == ["it is f =", "  'MQ   STR   '", "  here"]


def test_white_space_above_carets(capsys: pytest.CaptureFixture[str]) -> None:
    """An error and a finding draw a literal as it stands, with a blank for white space between words."""
    assert "  | a = 'x \u00a0 y' AND\n" in _run(capsys, "check", "-e", "a\t=\t'x \u00a0 y' AND")
    assert "a = 'x␉  y' is repeated, and the repetition has no effect" in _run(
        capsys, "lint", "-e", "a = 'x\t  y' AND a  = 'x\t  y'"
    )
