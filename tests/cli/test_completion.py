"""`mqsel completion`, in each shell that is there."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from mqsel.cli import _COMMANDS, main
from mqsel.language.dialect import PRESETS


def _script(shell: str, capsys: pytest.CaptureFixture[str], folder: Path) -> Path:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    assert main(["completion", shell]) == 0
    path = folder / "_mqsel"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


def _answer(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_bash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands, options and the values of an option are completed; elsewhere files are."""
    script = _script("bash", capsys, tmp_path)

    def completed(*words: str) -> list[str]:
        typed = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}"
        return _answer("bash", "-c", f'. {script}; {typed}; _mqsel; echo "${{COMPREPLY[@]}}"').split()

    assert completed("mqsel", "''") == [*_COMMANDS, "--help", "--version"]
    assert completed("mqsel", "match", "--cou") == ["--count"]
    assert completed("mqsel", "match", "--dialect", "''") == list(PRESETS)
    assert completed("mqsel", "match", "a") == []


def test_fish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in bash, and each with its help."""
    script = _script("fish", capsys, tmp_path)

    def completed(line: str) -> list[str]:
        return _answer("fish", "-c", f". {script}; complete -C '{line}'").splitlines()

    assert [line.partition("\t")[0] for line in completed("mqsel ")] == sorted(_COMMANDS)
    assert completed("mqsel match --cou") == ["--count\tprint only the number of matches"]
    assert {line.partition("\t")[0] for line in completed("mqsel match --dialect ")} == set(PRESETS)


def test_zsh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tab behind the beginning of a command, of an option or of a value completes it."""
    script = _script("zsh", capsys, tmp_path)
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", PS1="> ")
        os.execlp("zsh", "zsh", "-f", "-i")
    try:
        os.write(terminal, f"autoload -Uz compinit; compinit -u -D; . {script}; print rea''dy\n".encode())
        assert "ready\r" in _shown(terminal, "ready\r")
        for typed, whole in (
            ("mqsel mat", "match"),
            ("mqsel match --cou", "--count"),
            ("mqsel lint --dialect ART", "ARTEMIS"),
        ):
            os.write(terminal, f"{typed}\t".encode())
            rest = whole[len(typed.split()[-1]) :]
            assert rest in _shown(terminal, rest)
            os.write(terminal, b"\x15")  # the line away
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def _shown(terminal: int, until: str) -> str:
    """Return what a terminal shows until a text is there, or for a minute."""
    text, end = "", time.monotonic() + 60
    while until not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", os.read(terminal, 4096).decode(errors="replace"))
    return text
