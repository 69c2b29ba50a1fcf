"""Cases in a file, and `mqsel test`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mqsel.cli import main
from mqsel.errors import FileError
from mqsel.testing import judged, read_cases

CASES = [
    {"name": "heavy # one", "selector": "weight > 2500", "message": {"weight": 3000}, "want": True},
    {"inventory": "keys.txt", "key": "reds", "message": {"color": {"int32": 5}}, "want": "FALSE"},
    {"selector": "a != 1", "dialect": "JMS", "message": {}, "want": "refused"},
    {"selector": "a = 1", "message": {}, "want": "UNKNOWN"},
    {"selector": "a = 1", "message": {}, "want": False},
]


def _written(folder: Path, cases: list[object], *, lines: bool = True) -> Path:
    (folder / "keys.txt").write_text("reds\tcolor = 'red'\n", encoding="utf-8")
    file = folder / "cases.json"
    text = "\n".join(map(json.dumps, cases)) if lines else json.dumps(cases, indent=1)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("lines", [True, False])
def test_cases_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str], *, lines: bool) -> None:
    """Cases that hold pass, as lines and as an array; the exit code is 0."""
    file = _written(tmp_path, CASES, lines=lines)

    assert main(["test", str(file)]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[:3] == ["passed: heavy # one", "passed: cases.json:2", "passed: cases.json:3"]
    assert printed.err == "5 cases, 0 failed\n"


def test_each_answer_is_told_from_the_others(tmp_path: Path) -> None:
    """A case passes for the answers that `want` stands for, and for no other."""
    answers = {"TRUE": {"a": 1}, "FALSE": {"a": 2}, "UNKNOWN": {}}
    passing = {True: ["TRUE"], False: ["FALSE", "UNKNOWN"], **{answer: [answer] for answer in answers}, "refused": []}
    for want, wanted in passing.items():
        cases = [{"selector": "a = 1", "message": message, "want": want} for message in answers.values()]
        verdicts = [judged(case) for case in read_cases(_written(tmp_path, cases))]

        assert [verdict.answer for verdict in verdicts] == list(answers)
        assert [verdict.answer for verdict in verdicts if verdict.passed] == wanted


def test_failures_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failed case has its location and its explanation; nothing of a name or a message is an escape."""
    hostile = {"name": "\x1b[31m<b>&", "selector": "a = '<x>\x1b'", "message": {"a": "<y>\x1b&"}, "want": True}
    file = _written(tmp_path, [hostile, CASES[0]])

    assert main(["test", str(file)]) == 1
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert printed.startswith("FAILED: ")
    assert f"  {file}: case 1: expected selected, found FALSE\n  FALSE: not selected\n" in printed
    assert printed.endswith("\npassed: heavy # one\n")


WRONG = {
    "[1]": "case 1: found '1': expected an object",
    "{": "broken JSON: expecting property name enclosed in double quotes at column 2",
    "[{]": "broken JSON: expecting property name",
    "": "the file has no cases",
    '{"selector": "a = 1", "message": {}, "want": 1, "x": 2}': "case 1: a case has no field 'x'",
    '{"selector": "a = 1", "message": {}, "want": 7}': "case 1: want is '7'",
    '{"selector": "a = 1", "message": {}, "want": 1}': "case 1: want is '1'",
    '{"selector": "a = 1", "message": 5, "want": true}': "case 1: message is '5'",
    '{"selector": 5, "message": {}, "want": true}': "case 1: selector is '5'",
    '{"message": {}, "want": true}': "case 1: expected either selector, or inventory and key",
    '{"selector": "a = 1", "dialect": "X", "message": {}, "want": true}': "case 1: there is no dialect 'X'",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_case(tmp_path: Path, text: str) -> None:
    """What is no case is one FileError, which names the file and the case."""
    file = _written(tmp_path, [])
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        read_cases(file)

    assert WRONG[text] in str(caught.value)
    assert str(file) in str(caught.value)


def test_broken_cases_are_told_with_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key that is not there, or whose selector cannot be known, and what is no message fail; the rest is judged."""
    (tmp_path / "sub.mqsc").write_text("DEFINE SUB(CARS) SELECTOR('a = &x')\n")
    cases = [
        {"inventory": "keys.txt", "key": "x", "message": {}, "want": "refused"},
        {"inventory": "sub.mqsc", "key": "y", "message": {}, "want": True},
        {"selector": "a = 1", "message": {"a": [1]}, "want": "UNKNOWN"},
        CASES[0],
    ]
    file = _written(tmp_path, cases)
    assert main(["test", str(file)]) == 1
    out, err = capsys.readouterr()
    for words in ("keys.txt has no key 'x': it has 'reds'", "sub.mqsc has no key 'y': it has", "property 'a' is"):
        assert words in out
    assert f"  {file}: case 1: expected refused, found broken\n" in out
    assert [line[:6] for line in out.splitlines() if line[:1] != " "] == ["FAILED", "FAILED", "FAILED", "passed"]
    assert err == "4 cases, 3 failed\n"


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there, or is no text, ends with exit code 2 and its name."""
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    for name in ("none", "bytes", "."):
        assert main(["test", str(tmp_path / name)]) == 2
        assert str(tmp_path / name) in capsys.readouterr().err


def test_the_dialect_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case that names no dialect has that of the configuration, as the command that checks its selector has it."""
    if sys.version_info < (3, 11):
        pytest.importorskip("tomli")
    (tmp_path / "mqsel.toml").write_text('dialect = "ARTEMIS"\n', encoding="utf-8")
    case = {"selector": "NOT color = 'red'", "message": {"color": "blue"}, "want": False}
    (tmp_path / "cases.jsonl").write_text(f"{json.dumps(case)}\n{json.dumps({**case, 'dialect': 'JMS', 'want': True})}")
    monkeypatch.chdir(tmp_path)

    assert main(["test", "--json", "cases.jsonl"]) == 0
    assert [json.loads(line)["answer"] for line in capsys.readouterr().out.splitlines()] == ["FALSE", "TRUE"]
