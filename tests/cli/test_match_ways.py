"""`mqsel match` prints places, names, counts, JSON or nothing, as grep and ripgrep do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Run

from mqsel.files.framings import length_prefixed
from mqsel.formats import mq

SELECTOR = "weight > 10"
LINES = '{"weight": 1}\n\n{"weight": 11}\n{"weight": "x"}\n{"weight": 12, "t": {"bytes": "0a"}}'


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return str(path)


def test_places(file: str, run: Run) -> None:
    """The line that stands behind FILE:N: is line N of the file, also with -v, --max-matches and several files."""
    lines = LINES.splitlines()
    code, out, _ = run("match", "-n", SELECTOR, file, file)
    assert code == 0
    assert out == "".join(f"{file}:{number}:{lines[number - 1]}\n" for number in (3, 5)) * 2
    assert run("match", "-nv", SELECTOR, file)[1] == "".join(f"{file}:{n}:{lines[n - 1]}\n" for n in (1, 4))
    assert run("match", "-n", "--max-matches", "1", SELECTOR, file)[1] == f"{file}:3:{lines[2]}\n"


def test_places_in_parts(tmp_path: Path, run: Run) -> None:
    """Several processes, each with a part of the file, print the places that one does."""
    path = tmp_path / "large.jsonl"
    path.write_text(
        "".join(f'{{"weight": {n % 1000}, "pad": "{"x" * 400}"}}\n' for n in range(90_000)), encoding="utf-8"
    )
    one, two = (run("match", "-n", "-j", jobs, "weight = 999", str(path))[1] for jobs in "12")

    assert one == two
    assert [line.split(":")[1] for line in one.splitlines()] == [str(n) for n in range(1000, 90_001, 1000)]


def test_places_of_other_formats(tmp_path: Path, run: Run) -> None:
    """Of a queue's messages the place alone is printed: the byte. Rows of Parquet are numbered from 1."""
    dump = str(ROOT / "bench" / "data" / "dump.qload")
    _, out, _ = run("match", "-n", "--max-matches", "2", "JMSPriority >= 0 OR JMSPriority IS NULL", dump)
    assert len(out.splitlines()) == 2
    assert all(line.rpartition(":")[2].isdecimal() for line in out.splitlines())

    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.table({"weight": [1, 11, None, 12, 13]}), tmp_path / "a.parquet", row_group_size=2
    )
    rows = str(tmp_path / "a.parquet")
    expected = "".join(f'{rows}:{n}:{{"weight": {w}}}\n' for n, w in ((2, 11), (4, 12), (5, 13)))
    out = run("match", "-n", SELECTOR, rows)[1]
    assert out.replace('":', '": ').replace("  ", " ") == expected


def test_names(file: str, tmp_path: Path, run: Run) -> None:
    """A file with a selected message is named, once; another is not."""
    other = tmp_path / "b.jsonl"
    other.write_text('{"weight": 1}\n', encoding="utf-8")

    assert run("match", "-l", SELECTOR, file, str(other))[:2] == (0, f"{file}\n")
    assert run("match", "-l", SELECTOR, str(other))[:2] == (1, "")


def test_quiet(file: str, run: Run) -> None:
    """Nothing is printed, and the exit code is the answer; what cannot be read is printed all the same."""
    assert run("match", "-q", SELECTOR, file) == (0, "", "")
    assert run("match", "-q", "weight > 100", file) == (1, "", "")
    code, out, err = run("match", "-q", "weight > 100", f"{file}.none")
    assert (code, out) == (2, "")
    assert "No such file" in err


def test_json(file: str, run: Run) -> None:
    """Each line is an object: messages with place and typed properties, and last the counts."""
    _, out, _ = run("match", "--json", SELECTOR, file)

    assert [json.loads(line) for line in out.splitlines()] == [
        {"file": file, "line": 3, "message": {"weight": 11}},
        {"file": file, "line": 5, "message": {"weight": 12, "t": {"bytes": "0a"}}},
        {"messages": 4, "selected": 2, "unknown": 0, "skipped": 0, "missing": {}},
    ]


def test_json_of_messages_that_are_no_lines(tmp_path: Path, run: Run) -> None:
    """Messages with their length in front, and those of a text, are read again without what stands around them."""
    raw = mq.encode({"Priority": 7}, {"weight": ("int32", 11)}, b"<order/>")
    (tmp_path / "a.mq").write_bytes(length_prefixed(raw) * 2)
    for file in (tmp_path / "a.mq", ROOT / "bench" / "data" / "dump.qload"):
        _, out, _ = run("match", "--json", "JMSPriority >= 0", str(file))

        *messages, counts = [json.loads(line) for line in out.splitlines()]
        assert len(messages) == counts["selected"] > 1
        assert all("JMSPriority" in one["message"] for one in messages)


def test_one_way_at_a_time(file: str, run: Run) -> None:
    """Two ways of printing are an error of usage."""
    status, _, err = run("match", "-n", "-c", SELECTOR, file)
    assert status == 2 and "not allowed with argument" in err
