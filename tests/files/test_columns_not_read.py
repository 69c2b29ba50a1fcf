"""A column of Parquet that no selector reads ends in one command, and the file that this command writes is read."""

from __future__ import annotations

import datetime as dt
import decimal
import re
import shlex
from pathlib import Path

import pytest

from mqsel import cli

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
pq = pytest.importorskip("pyarrow.parquet")

MAP = pa.array([[("color", "blue"), ("it's", "x")]], type=pa.map_(pa.string(), pa.string()))


@pytest.mark.parametrize(
    ("name", "column", "selector", "then"),
    [
        ("amount", [decimal.Decimal("1.50")], "amount > 1", "amount > 1"),
        ("ts", [dt.datetime(2026, 1, 1)], "ts > 5", "ts > 5"),  # noqa: DTZ001 (as files have them)
        ("day", [dt.date(2026, 1, 1)], "day = '2026-01-01'", "day = '2026-01-01'"),
        ("at", [dt.time(1, 2, 3)], "at LIKE '01:02%'", "at LIKE '01:02%'"),
        ("properties", MAP, "properties.color = 'blue'", "color = 'blue'"),
        ("headers", MAP, "color = 'blue'", "color = 'blue'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_hint_writes_a_file_that_is_read(name, column, selector, then, tmp_path, monkeypatch, capsys) -> None:
    """Decimals, times and entries of maps: what is printed is one error and one command."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"id": [1], name: column}), "a b.parquet")
    assert cli.main(["match", "-c", selector, "a b.parquet"]) != 0
    hints = re.findall("^  hint: (.*)$", capsys.readouterr().err, re.MULTILINE)
    assert [hint.split()[0] for hint in hints] == ["duckdb"]

    duckdb.sql(shlex.split(hints[0])[2])
    assert Path("new.parquet").exists()
    assert cli.main(["match", "-c", then, "new.parquet"]) == 0


def test_types_are_declared_of_recognised_records(tmp_path, capsys) -> None:
    """`--type` needs no `--format` where the records are recognised; of plain messages it is an error."""
    file = tmp_path / "a"
    file.write_text('{"headers":[{"key":"weight","value":"3000"},{"key":"JMS_IBM_Format","value":"MQSTR   "}]}\n')
    for command in (["match", "-c"], ["why"], ["inspect"], ["contract"]):
        words = ["--type", "weight=int32", *["weight > 2500"] * (command[0] in ("match", "why")), str(file)]
        assert cli.main([*command, *words]) == 0, command
        assert "3000" in (out := capsys.readouterr().out) or out == "1\n"
    file.write_text('{"weight": 3000}\n')
    assert cli.main(["match", "--type", "weight=int32", "weight > 2500", str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("--type is only for formats that store every value as text: this format stores types")) == (
        "",
        1,
    )
