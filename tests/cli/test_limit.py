"""--limit N stops after N messages read, in every command that reads messages, whatever the format and the way."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

READ = ["match", "route", "why", "contract"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write ten messages of which the even ones have a = 2, as lines and as rows, and a file of selectors."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"a": 2 - number % 2, "n": number} for number in range(10)]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "a.jsonl").write_text(f"\n{lines}", encoding="utf-8")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=3)
    pq.write_table(pa.Table.from_pylist([{"a": 1, "B": 1}] * 5), tmp_path / "b.parquet")
    (tmp_path / "keys").write_text("two\ta = 2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def _command(name: str) -> list[str]:
    return {"match": ["match", "a = 2"], "route": ["route", "keys"], "why": ["why", "a = 2"]}.get(name, [name])


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("file", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
@pytest.mark.parametrize("more", [[], ["-j", "2"]], ids=["", "jobs"])
def test_limit_counts_messages_read(run, file: str, more: list[str]) -> None:
    """Four messages are read, of which two are selected; further files are not."""
    for name in ("match", "route"):
        status, out, err = run(*_command(name), "--limit", "4", *more, file, "none.jsonl")
        assert (status, out.count("\n")) == (0, 2), name
        assert "4 messages, 2 " in err
        assert "(stopped by --limit)" in err
    assert "2 of 4 messages are selected" in run("why", "--limit", "4", *more, "a = 2", file)[1]
    assert run("contract", "--limit", "4", *more, file)[2].startswith("4 messages, 0 skipped")
    assert run("match", "--count", "--limit", "4", *more, "a = 2", file)[1] == "2\n"
    assert run("match", "--limit", "12", "--count", *more, "a = 2", file, file)[1] == "6\n"


@pytest.mark.usefixtures("files")
def test_limit_with_a_contract_and_near_columns(run) -> None:
    """Rows after the limit are neither compared with the contract nor searched for names like a missing one."""
    for file in ("a.jsonl", "a.parquet"):
        err = run("match", "--count", "--limit", "4", "--given", "n < 2", "a = 2", file)[2]
        assert "contract: 2 of 4 messages" in err, file
    out = run("why", "--limit", "2", "b = 1", "b.parquet")[1]
    assert "0 of 2 messages are selected" in out
    assert "no message has b; all have B" in out


@pytest.mark.usefixtures("files")
def test_limit_counts_skipped_messages(run, tmp_path: Path) -> None:
    """A message that cannot be read was read all the same, as in the summary."""
    (tmp_path / "bad.jsonl").write_text('{"a": 2}\n{\n{"a": 2}\n{"a": 2}\n', encoding="utf-8")
    for name in READ:
        assert "none.jsonl" not in run(*_command(name), "--limit", "2", "bad.jsonl", "none.jsonl")[2], name
    assert run("match", "--count", "--limit", "2", "a = 2", "bad.jsonl")[1] == "1\n"


@pytest.mark.usefixtures("files")
def test_match_and_route_say_what_limit_meant(run) -> None:
    """In this release the two commands in which --limit counted matches say so on stderr."""
    notice = "mqsel: --limit N now stops after N messages read, and no longer after N matches\n"
    for name in READ:
        err = run(*_command(name), "--limit", "1", "a.jsonl")[2]
        assert err.startswith(f"{notice}  hint: to stop after 1 match, write --max-matches 1\n") == (
            name in ("match", "route")
        )
    assert "2 matches" in run("match", "--limit", "2", "a = 2", "a.jsonl")[2]


@pytest.mark.spark
@pytest.mark.usefixtures("files")
def test_limit_on_spark(run, on_spark: list[str], tmp_path: Path) -> None:
    """Spark reads part after part, and stops."""
    for file in ("a.jsonl", "a.parquet"):  # by whole paths: a Spark that another test started has another folder
        status, out, err = run("match", *on_spark, "--count", "--limit", "4", "a = 2", str(tmp_path / file))
        assert (status, out) == (0, "2\n"), err
