"""`mqsel why` and `mqsel explain FILE:LINE` as their users see them: formats, exit codes, what the documents show."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, process

from mqsel.carets import shortened
from mqsel.files.framings import length_prefixed
from mqsel.files.qload import qload_text
from mqsel.formats import mq

LINES = (
    b'{"color": "blue", "weight": {"int32": 3000}}\n\n{"color": "red"}\nrubbish\n{"colour": "blue", "weight": "5"}\n'
)
SELECTOR = "color = 'blue' AND weight > 2500"
MESSAGES = [mq.encode({}, {"color": color, "weight": ("int32", 3000)}, b"<order/>") for color in ("blue", "red")]
HEAD = b"* QLOAD Version:1.9\n* Qmgr  = QM1\n\n"


@pytest.fixture
def run(run_binary: Run) -> Run:
    """Stdout is bytes here."""
    return run_binary


def written(path: Path, *pieces: bytes) -> Path:
    """Write a file."""
    path.write_bytes(b"".join(pieces))
    return path


def test_why(run: Any, tmp_path: Any) -> None:
    """The report goes to stdout, what could not be read to stderr; the exit code tells what was selected."""
    file = written(tmp_path / "a.jsonl", LINES)
    status, out, err = run("why", SELECTOR, file)
    assert (status, err) == (0, f"mqsel: {file}:4: broken JSON: expecting value at column 1\n")
    assert out.decode().splitlines() == [
        "1 of 3 messages is selected",
        "the strictest condition is color = 'blue': TRUE for 1 message",
        "color is missing from 1 of 3 messages; it has colour",
        "weight is a string in 1 of 3 messages: the comparison with a number is FALSE in each",
        "",
        "TRUE  FALSE  UNKNOWN  type mismatch  ERR",
        "   1      2        0              0    0  AND",
        "   1      1        1              0    0    color = 'blue'",
        "   1      0        1              1    0    weight > 2500",
        "",
        "property  present  missing  types              values",
        "color     2        1        string             'blue', 'red'; but colour 1",
        "weight    2        1        int32 1, string 1  3000, '5'",
    ]
    assert run("why", "color = 'green'", file)[0] == 1
    assert run("why", "color == 'green'", file)[:2] == (2, b"")
    assert run("why", SELECTOR, tmp_path / "no")[:2] == (2, b"")
    assert run("why", SELECTOR, written(tmp_path / "rubbish", b"rubbish\n"))[0] == 2
    assert run("why", file, SELECTOR)[2].startswith(f"mqsel: {shortened(str(file))} is a file, and ")
    made = json.loads(run("why", "--json", SELECTOR, file)[1])
    assert (made["messages"], made["selected"], made["skipped"]) == (3, 1, 1)


def test_long_selectors(run: Any, tmp_path: Any) -> None:
    """A selector longer than the name of a file can be is no file, and neither is such a message."""
    file = written(tmp_path / "a.jsonl", LINES)
    text = " OR ".join(f"color = 'blue{number}'" for number in range(90))
    for command in ("match", "why", "explain"):
        assert run(command, f"{text} OR {SELECTOR}", f"{file}:1" if command == "explain" else file)[0] == 0
    assert "is neither a file nor a JSON object" in run("explain", SELECTOR, "x" * 5000)[2]


def test_why_of_every_format(run: Any, tmp_path: Any) -> None:
    """Files of every kind, packed, several, a directory, and stdin give the same numbers."""
    plain = [b'{"color": "blue", "weight": {"int32": 3000}}\n', b'{"color": "red", "weight": {"int32": 3000}}\n']
    files = {
        "lines": [written(tmp_path / "lines", *plain)],
        "packed": [written(tmp_path / "packed", gzip.compress(b"".join(plain)))],
        "two": [written(tmp_path / "one", plain[0]), written(tmp_path / "two", plain[1])],
        "mq": [written(tmp_path / "mq", *map(length_prefixed, MESSAGES))],
        "qload": [written(tmp_path / "qload", HEAD, *map(qload_text, MESSAGES))],
    }
    found = {name: run("why", SELECTOR, *these) for name, these in files.items()}
    assert {(status, out) for status, out, _ in found.values()} == {(0, found["lines"][1])}
    done = process("why", SELECTOR, input=b"".join(plain))
    assert (done.returncode, done.stdout) == (0, found["lines"][1])


def test_why_of_parquet(run: Any, tmp_path: Any) -> None:
    """Row groups that no row is selected from count, too; near columns are read; directories are properties."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"colour": ["blue", None] * 50, "n": range(100), "x": [None] * 100})
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(table, tmp_path / f"day={day}" / "a.parquet", row_group_size=10)
    status, out, _ = run("why", "color = 'blue' AND n > 95 AND day = 1 AND x IS NULL", tmp_path)
    lines = out.decode().splitlines()
    assert (status, lines[0]) == (1, "no message has color; 100 have colour")
    assert "   8    192        0              0    0    n > 95" in lines
    assert " 100    100        0              0    0    day = 1" in lines
    assert " 200      0        0              0    0    x IS NULL" in lines
    assert run("why", "a = 1", tmp_path)[1].decode().splitlines()[0].startswith("no message has a")
    wrong = tmp_path / "wrong.parquet"
    pq.write_table(pa.table({"a": [[1]]}), wrong)
    assert run("why", "a = 1", wrong)[0] == 2


def test_why_of_records(run: Any, tmp_path: Any) -> None:
    """A text that is no value of its declared type is told apart from what is missing."""
    lines = [b'{"properties": {"weight": "3000"}}\n', b'{"properties": {"weight": "heavy"}}\n', b'{"properties": {}}\n']
    file = written(tmp_path / "a", *lines)
    status, out, _ = run("why", "--format", "lenses", "--type", "weight=int32", "weight > 2500", file)
    assert (status, out.decode().splitlines()[-2:]) == (
        0,
        ["property  present  missing  unread  types  values", "weight    1        1        1       int32  3000"],
    )
    assert b"weight could not be read in 1 of 3 messages" in out


def test_why_on_spark(run: Any, tmp_path: Any, on_spark: list[str]) -> None:
    """On Spark the report is the one that is made here, complaints and all; in a process that starts it, too."""
    files = [
        written(tmp_path / "a.jsonl", LINES),
        written(tmp_path / "b", HEAD, *map(qload_text, MESSAGES)),
    ]
    for selector in (SELECTOR, "Color = 'blue'", "weight = 'x'"):
        here, there = (run("why", *way, selector, *files) for way in ([], on_spark))
        assert there[:2] == here[:2], there[2]
        assert there[2].splitlines()[-1:] == here[2].splitlines()[-1:]
    started = process("why", "--spark", "--master", "local[1]", selector, *files)
    assert (started.returncode, started.stdout) == here[:2], started.stderr
    assert started.stderr.decode().splitlines()[-1:] == here[2].splitlines()[-1:]


# ---- explain -------------------------------------------------------------------------------------------------------


def test_explain_finds_a_message(run: Any, tmp_path: Any) -> None:
    """A message is named by its line, its byte, its row or its number, in any format, and as other commands name it."""
    lines = written(tmp_path / "a.jsonl", LINES)
    dump = written(tmp_path / "b", HEAD, *map(qload_text, MESSAGES))
    raw = written(tmp_path / "c", *map(length_prefixed, MESSAGES))
    second = 4 + qload_text(MESSAGES[0]).count(b"\n")
    for arguments, where, status in (
        ([f"{lines}:1"], f"{lines}:1: ", 0),
        ([f"{lines}:3"], f"{lines}:3: ", 1),
        ([lines, "--nth", 2], f"{lines}:3: ", 1),
        ([dump, "--nth", 1], f"{dump}:4: ", 0),
        ([f"{dump}:{second}"], f"{dump}:{second}: ", 1),
        ([f"{dump}:{second + 3}"], f"{dump}:{second}: ", 1),
        ([raw, "--nth", 2], f"{raw}, byte {4 + len(MESSAGES[0])}: ", 1),
        ([written(tmp_path / "d", MESSAGES[0])], "TRUE", 0),
    ):
        found, out, err = run("explain", SELECTOR, *arguments)
        assert (found, err) == (status, ""), arguments
        assert out.decode().startswith(where)
    status, out, err = run("explain", SELECTOR, dump)
    assert (status, out.decode().partition(" ")[0]) == (0, f"{dump}:4:")
    assert err.startswith(f"mqsel: {dump}: the first of its messages; FILE:LINE or --nth chooses another")
    assert "Color is missing: the message has color" in run("explain", "Color = 'x'", dump, "--nth", "1")[1].decode()
    for arguments, words in (
        ([dump, "--nth", 9], f"{dump}: there is no message 9: there are 2"),
        ([f"{lines}:2"], f"{lines}: there is no message in line 2"),
        ([f"{lines}:4"], "broken JSON"),
        ([f"{lines}:1", "--nth", 2], "names a message, and --nth another"),
        ([written(tmp_path / "e", b"\n")], "there is no message"),
    ):
        status, out, err = run("explain", SELECTOR, *arguments)
        assert (status, out, words in err) == (2, b"", True), err


def test_explain_warns(run: Any) -> None:
    """What lint warns of stands below the tree."""
    out = run("explain", "color = blue", '{"color": "blue"}')[1].decode()
    assert out.endswith("\nwarning: blue is the name of a property here: if you mean a string, write 'blue'\n")


def test_explain_in_json(run: Any, tmp_path: Any) -> None:
    """One object has what the text has, and all that lint finds; the exit code is the same."""
    file = written(tmp_path / "a.jsonl", LINES)
    status, out, err = run("explain", "--json", f"{SELECTOR} AND ratio <> size", f"{file}:1")
    made = json.loads(out)
    assert (status, err, out.count(b"\n")) == (1, "", 1)
    assert {name: made[name] for name in ("where", "truth", "selected", "decided")} == {
        "where": f"{file}:1",
        "truth": "UNKNOWN",
        "selected": False,
        "decided": "",
    }
    assert made["change"] == ""
    assert made["parts"][2] == {
        "text": "weight > 2500",
        "span": [19, 32],
        "depth": 1,
        "truth": "TRUE",
        "reason": "weight is int32 3000",
    }
    assert made["properties"][1:3] == [
        {"name": "weight", "type": "int32", "value": 3000},
        {"name": "ratio", "type": "null", "value": None},
    ]
    assert [one["code"] for one in made["findings"]] == ["unquoted-text"]
    assert "program" not in made
    ends = "a = 1.5 OR b = 'x' OR c = \"0x0A\""
    made = json.loads(run("explain", "--json", "--program", ends, '{"a": {"float64": "NaN"}, "c": {"bytes": "0a"}}')[1])
    assert [one["value"] for one in made["properties"]] == ["NaN", None, "0a"]
    assert made["selected"] is True
    alone = json.loads(run("explain", "--json", ends)[1])
    assert alone == {"selector": ends, "program": made["program"]}
    assert [one["node"] for one in alone["program"]["tree"][:3]] == ["Or", "Comparison", "Identifier"]
    assert alone["program"]["tokens"][2] == {"kind": "approximate", "value": 1.5, "span": [4, 7]}
    assert alone["program"]["instructions"][0]["name"] == "EQUAL_SLOT_CONSTANT"
    invalid = MESSAGES[0].replace(b"<weight", b"<in-ght").replace(b"</weight", b"</in-ght")
    made = json.loads(run("explain", "--json", "color = 'blue'", written(tmp_path / "b", invalid))[1])
    assert (made["selected"], made["truth"], made["change"]) == (False, "TRUE", "")
    assert made["decided"] == "it carries a property whose name is not allowed: see mqsel inspect"


def test_explain_a_row(run: Any, tmp_path: Any) -> None:
    """A row of Parquet has the types of its columns, in whichever row group it stands."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": pa.array(range(3000), pa.int16())}), file, row_group_size=1100)
    for number in (1, 1100, 1101, 3000):
        _, out, err = run("explain", "n < 0", f"{file}:{number}")
        assert (f"n is int16 {number - 1}" in out.decode(), err) == (True, "")
    assert "there is no row 3,001" in run("explain", "n < 0", f"{file}:3001")[2]


def test_rows_without_a_column_count_once(run: Any, tmp_path: Any) -> None:
    """Rows of Parquet that have no column that the selector reads are counted as match counts them."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"weight": [1, 2, 3]}), file, row_group_size=2)
    status, out, _ = run("why", "color = 'white'", file)
    assert status == 1
    assert b"0 of 3 messages are selected" in out
