"""Colours of the command line."""

from __future__ import annotations

import re

import pytest

from mqsel.cli import main, output

WHY = ["explain", "a = 1 AND b = 2", '{"a": 1}']


@pytest.mark.parametrize("arguments", [WHY, ["lint", "a = 1 AND a = 2"], ["match", "a == 1", "none"]])
def test_colors_change_nothing_else(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without its colours a coloured answer is the plain one; it begins and ends each colour within a line."""
    printed = {}
    for when in ("always", "never", "auto"):
        main([*arguments, "--color", when])
        printed[when] = capsys.readouterr()
    for stream in ("out", "err"):
        always, never, auto = (getattr(printed[when], stream) for when in ("always", "never", "auto"))
        assert re.sub(r"\x1b\[[0-9]*m", "", always) == never == auto
        assert "\x1b" not in never
        assert all(line.count("\x1b[") % 2 == 0 for line in always.splitlines())
    assert "\x1b[3" in printed["always"].out + printed["always"].err


def test_colors_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal has colours, unless NO_COLOR is set to something or it is dumb."""
    monkeypatch.setattr(output, "width_of", lambda _: 100)
    monkeypatch.setenv("TERM", "xterm")
    for environment, wanted in (
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
    ):
        with monkeypatch.context() as patched:
            patched.delenv("NO_COLOR", raising=False)
            for name, value in environment.items():
                patched.setenv(name, value)
            main(WHY)
        assert ("\x1b[" in capsys.readouterr().out) is wanted
