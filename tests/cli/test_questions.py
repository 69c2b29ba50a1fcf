"""Each question of analysis §11 is answered by its command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import Run

import mqsel

README = (Path(mqsel.__file__).parent / "analysis" / "README.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^\| (.*\?) \| `mqsel (.*)` \|$", README.partition("## §11")[2], re.MULTILINE)
# Of some answers what they have to say.
ANSWERS = {
    "nobody get": "nobody gets 1 of them",
    "of a destination": "no selector matches",
    "Could any message": "both     {",
    "header called": "AMQPriority > 4",
    "valid selector": "color",
    "a string or as a number": "weight is a string in",
    "lack the property": "missing-excluded",
    "the same on the other": "because of text_numbers",
}
BRIDGES = """[topic:ORDERS]
  queue=RED selector="color = 'red' AND NOT status = 'TEST'"
  queue=HEAVY selector="JMSPriority > 6 AND weight > 5"
"""
MESSAGES = '{"color": "red", "weight": "7", "status": "NEW"}\n{"color": "blue", "weight": "9"}\n'


@pytest.mark.parametrize(("question", "command"), QUESTIONS, ids=[command for _, command in QUESTIONS])
def test_questions(question: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """The command ends without trouble and says what was asked."""
    monkeypatch.chdir(tmp_path)
    Path("bridges.conf").write_text(BRIDGES, encoding="utf-8")
    Path("messages.jsonl").write_text(MESSAGES, encoding="utf-8")
    status, out, err = run(*shlex.split(command))
    assert status in (0, 1), err
    assert all(answer in out + err for part, answer in ANSWERS.items() if part in question), out + err
    assert out or err


def test_every_answer_has_a_question() -> None:
    """What an answer has to say is asked."""
    assert len(QUESTIONS) > 12
    assert [part for part in ANSWERS if not any(part in question for question, _ in QUESTIONS)] == []
