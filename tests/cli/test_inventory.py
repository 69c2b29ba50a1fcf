"""``mqsel selectors`` lists selectors with their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter")

from mqsel import cli

CORPUS = Path(__file__).parent.parent / "inventory" / "corpus"


def test_lines(capsys, tmp_path):
    """A line has key, destination, selector and place; what a terminal would obey is shown as blanks."""
    (tmp_path / "a.mqsc").write_text("DEFINE SUB(A) DEST(Q) SELECTOR('a = ''\x1b[1m''')\n", encoding="utf-8")
    assert cli.main(["selectors", str(tmp_path / "a.mqsc")]) == 0
    said = capsys.readouterr()
    assert said.out == f"A\tQ\ta = '�[1m'\t{tmp_path}/a.mqsc:1:33\n"
    assert said.err == "mqsel: 1 selector, 0 that cannot be known\n"


def test_json(capsys):
    """An object a line, with a reason in the place of the selector where that cannot be known."""
    assert cli.main(["selectors", "--json", "--dialect", "jms", str(CORPUS / "subs.mqsc")]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [*found[0]] == ["key", "destination", "selector", "dialect", "kind", "file", "line", "column"]
    assert [(one["key"], one.get("selector"), one["dialect"]) for one in found] == [
        ("CARS", "color = 'red' AND weight > 2500", "JMS"),
        ("BIKES", "JMSType = 'bike'", "JMS"),
        ("OLD", "a = 1", "JMS"),
        ("BAD", None, "JMS"),
    ]
    assert found[3]["reason"].startswith("its value has no end")


def test_exit_codes(capsys, tmp_path):
    """0 with a selector, 1 without, 2 if something could not be read."""
    empty = tmp_path / "empty.mqsc"
    empty.write_text("DEFINE QLOCAL(A)\n", encoding="utf-8")
    assert cli.main(["selectors", str(empty)]) == 1
    assert cli.main(["selectors", str(tmp_path / "none"), str(CORPUS / "subs.mqsc")]) == 2
    said = capsys.readouterr()
    assert said.out.count("\n") == 4
    assert f"mqsel: {tmp_path}/none:1:1: the file cannot be read: No such file or directory\n" in said.err


def test_columns(capsys, tmp_path):
    """Columns of CSV are named on the command line."""
    file = tmp_path / "a.csv"
    file.write_text("id,rule\nx,a = 1\n", encoding="utf-8")
    assert cli.main(["selectors", "--as", "csv", "--columns", "key=id,selector=rule", str(file)]) == 0
    assert capsys.readouterr().out.startswith("x\t\ta = 1\t")
    with pytest.raises(SystemExit):
        cli.main(["selectors", "--columns", "id", str(file)])
    assert "names no column" in capsys.readouterr().err
