"""The manual pages that a wheel has."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from mqsel.cli import _parser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages by their names."""
    script = ROOT / ".github" / "site" / "manual.py"
    if not script.exists():
        pytest.skip("what writes the pages does not stand beside the tests")
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, str(script), str(folder)], check=True)
    return {path.stem: path for path in folder.iterdir()}


def test_pages_have_all(pages: dict[str, Path]) -> None:
    """Each command has a page, and each option stands in it."""
    _, commands = _parser([])
    assert set(pages) == {"mqsel", *(f"mqsel-{name}" for name in commands)}
    for name, parser in commands.items():
        words = [word for action in parser._actions for word in action.option_strings]
        assert len(words) > 2
        text = pages[f"mqsel-{name}"].read_text(encoding="ascii").replace("\\-", "-")
        assert [word for word in words if f"\\fB{word}\\fR" not in text] == []


@pytest.mark.parametrize(
    "checker", [["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-man", "-ww", "-z"]], ids=str
)
def test_pages_are_clean(checker: list[str], pages: dict[str, Path]) -> None:
    """A formatter has no warning about any page."""
    if shutil.which(checker[0]) is None:
        pytest.skip(f"there is no {checker[0]} here")
    done = subprocess.run([*checker, *map(str, pages.values())], capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""


def test_pages_read_as_the_help(pages: dict[str, Path]) -> None:
    """What groff shows of a page has the words of the help: no sign is lost as an escape or a request."""
    if shutil.which("groff") is None:
        pytest.skip("there is no groff here")
    _, commands = _parser([])
    for name, parser in commands.items():
        command = ["groff", "-man", "-Tutf8", "-P-cbou", str(pages[f"mqsel-{name}"])]
        shown = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout
        words = set(re.split(r"\s+", shown))
        assert {word for word in (parser.epilog or "").split() if word.lower() not in map(str.lower, words)} <= {
            "exit",
            "code:",
            "examples:",
        }
