"""The plugin of pytest, run by pytest itself in a folder of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mqsel.testing import assert_not_selects, assert_selects, deliveries

TESTS = """\
import mqsel

m = mqsel.compile("JMSType = 'car' AND weight > 2500")


def made():
    return {"weight": 1}


def test_variable():
    message = {"JMSType": "car", "weight": "3000"}
    assert m.matches(message)


def test_several():
    light = {"JMSType": "car", "weight": 1}
    other = {"JMSType": "bus", "weight": 1}
    assert (
        m.matches(light)
        or m.matches(other)
    )


def test_call():
    assert m.matches(made())


def test_other():
    assert not m


def test_topic(mqsel_topic):
    mqsel_topic.subscribe("reds", "color = 'red'")
    assert mqsel_topic.publish({"color": "red"}) == ("reds",)


def test_snapshot(mqsel_snapshot):
    mqsel_snapshot("keys.txt", {"first": {"color": "red"}, "second": {"color": "blue"}})
"""


def _run(folder: Path, *arguments: str) -> str:
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "none.ini", *arguments]
    (folder / "none.ini").write_text("[pytest]\n", encoding="utf-8")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_failures_explain_themselves(tmp_path: Path) -> None:
    """The report of a failed assertion explains each matches in it, and evaluates nothing that may do something."""
    text = _run(tmp_path, "-k", "not snapshot")

    assert "4 failed, 1 passed" in text
    assert text.count("- mqsel: why -") == 4  # variable, several twice, call
    assert "m.matches(message)\nFALSE: not selected\nit would be selected if weight were a number > 2500" in text
    assert "m.matches(light)\nFALSE" in text
    assert "m.matches(other)\nFALSE" in text
    assert "m.matches(made()): keep the message in a variable, and its explanation stands here" in text


@pytest.mark.process
def test_snapshots(tmp_path: Path) -> None:
    """A snapshot is written on request alone; what changed since is named by key and message, and explained."""
    keys = tmp_path / "keys.txt"
    keys.write_text("reds\tcolor = 'red'\nothers\tcolor <> 'red'\n", encoding="utf-8")

    assert "there is no snapshot" in _run(tmp_path, "-k", "snapshot")
    assert "1 passed" in _run(tmp_path, "-k", "snapshot", "--mqsel-update")
    assert "1 passed" in _run(tmp_path, "-k", "snapshot")

    keys.write_text("reds\tcolor = 'red'\nothers\tcolor = 'green'\nnew\tcolor = 'x'\n", encoding="utf-8")
    text = _run(tmp_path, "-k", "snapshot")
    assert "others: no longer gets second\n    FALSE: not selected\n" in text
    assert "new: new in the inventory\nif this is meant, run pytest --mqsel-update, and commit " in text
    keys.write_text("reds\tcolor = 'red'\n", encoding="utf-8")
    assert "others: no longer in the inventory\n" in _run(tmp_path, "-k", "snapshot")


def test_assertions() -> None:
    """An assertion raises AssertionError with the explanation, in the dialect that it names."""
    assert_selects("weight > 1", {"weight": 2})
    assert_not_selects("weight > 1", {"weight": 1})
    assert_not_selects("NOT color = 'red'", {"color": "blue"}, dialect="ARTEMIS")
    with pytest.raises(AssertionError, match="expected to be selected\nUNKNOWN: not selected\n"):
        assert_selects("weight > 1", {})
    with pytest.raises(AssertionError, match="expected not to be selected\nTRUE: selected\n"):
        assert_not_selects("weight > 1", {"weight": 2})


def test_deliveries(tmp_path: Path) -> None:
    """Every key has the names of what it gets, and no other."""
    keys = tmp_path / "keys.txt"
    keys.write_text("a\tcolor = 'red'\nb\tcolor <> 'red'\nc\tcolor = 'x'\n", encoding="utf-8")
    got = deliveries(keys, {"1": {"color": "red"}, "2": {"color": "blue"}, "3": {"color": "red"}})

    assert got == {"a": ["1", "3"], "b": ["2"], "c": []}


def test_cases_are_collected(tmp_path: Path) -> None:
    """Pytest runs the cases of `*.cases.json` in the configured dialect, and writes their results to its report."""
    cases = [
        {"name": "a\x1b\nname", "selector": "NOT color = 'red'", "message": {"color": "blue"}, "want": False},
        {"selector": "a = 1", "message": {"a": "1"}, "want": True},
    ]
    (tmp_path / "shop.cases.json").write_text(json.dumps(cases), encoding="utf-8")
    (tmp_path / "broken.cases.json").write_text("{", encoding="utf-8")
    (tmp_path / "mqsel.toml").write_text('dialect = "ARTEMIS"\n', encoding="utf-8")
    printed = _run(tmp_path, "-vv", "--color=no", "--continue-on-collection-errors", "--junitxml", "report.xml", ".")

    assert re.search(r"shop.cases.json::a. name PASSED", printed)
    assert "\x1b" not in printed
    assert "shop.cases.json: case 2: expected selected, found FALSE\nFALSE: not selected\n" in printed
    assert "\nbroken JSON: expecting property name" in printed
    assert "Traceback" not in printed
    suite = ET.parse(tmp_path / "report.xml").getroot()[0]
    cases_of = [case for case in suite if case.get("classname") == "shop.cases.json"]
    assert [case.get("name", "")[2:] for case in cases_of] == [" name", "op.cases.json:2"]
    assert [failure.get("message", "")[:7] for failure in cases_of[1]] == ["Failed:"]
