"""Records of connectors without --format: known by the first ones, by every command, however the bytes arrive."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from sharing import filtered

from mqsel import files
from mqsel.errors import FileError
from mqsel.files.parts import kind_of
from mqsel.formats.records import SCHEMAS

RECORDS: dict[str, dict[str, Any]] = {
    "connect": {"type": "car", "properties": {"color": {"propertyType": "string", "string": "blue"}}},
    "connect-ibm": {"headers": [{"key": "color", "value": "blue"}], "value": "x"},
    "lenses": {"message_id": "m", "message_timestamp": 5, "mode": 1, "properties": {"color": "blue"}},
    "nifi": {
        "jms_deliveryMode": "2",
        "jms_expiration": "0",
        "jms_priority": "4",
        "jms_redelivered": "false",
        "jms_timestamp": "5",
        "color": "blue",
    },
    "a": {
        "type": "TextMessage",
        "stringProperties": {"color": "blue"},
        **{key: {} for key in ("intProperties", "longProperties", "boolProperties")},
    },
    "service-bus": {
        **dict.fromkeys(SCHEMAS["service-bus"].signs),
        "properties": {"color": "blue"},
    },
    "rabbitmq": {**dict.fromkeys(SCHEMAS["rabbitmq"].signs), "properties": {"headers": {"color": "blue"}}},
    "amazon-mq": {**dict.fromkeys(SCHEMAS["amazon-mq"].signs), "properties": {"color": "blue"}},
    "amazon-rabbitmq": {
        **dict.fromkeys(SCHEMAS["amazon-rabbitmq"].signs),
        "basicProperties": {"headers": {"color": "blue"}},
    },
    "pulsar": {"properties": {"color": "blue", "n": "1", "n_jsmtype": "int"}},
}


def lines(record: dict[str, Any], count: int = 3) -> bytes:
    """Return lines of a record."""
    return b"".join(json.dumps(record).encode() + b"\n" for _ in range(count))


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_command_reads_every_record(run: Run, tmp_path: Path, kind: str) -> None:
    """Each schema of the table is read as it is by all that reads messages, which say so once on stderr."""
    path = tmp_path / "records"
    path.write_bytes(lines(RECORDS[kind]))
    selectors = tmp_path / "selectors.tsv"
    selectors.write_text("one\tcolor = 'blue'\n", "utf-8")
    for arguments in (
        ("match", "color = 'blue'", str(path), str(path)),
        ("why", "color = 'blue'", str(path)),
        ("inspect", str(path)),
        ("explain", "color = 'blue'", f"{path}:2"),
        ("explain", "color = 'blue'", str(path)),
        ("explain", "color = 'blue'", json.dumps(RECORDS[kind])),
        ("route", str(selectors), str(path)),
    ):
        status, out, err = run(*arguments)
        assert (status, "color" in out) == (0, True), arguments
        assert err.count(f": read as {kind}, JSON lines: {SCHEMAS[kind].title}") == 1, arguments
        assert ("every value is text, see --type" in err) is not SCHEMAS[kind].has_types
    assert run("match", "color = 'blue'", "--format", kind, str(path))[2].startswith("3 messages, 3 selected")


@pytest.mark.parametrize("kind", SCHEMAS)
def test_filter_reads_every_record(tmp_path: Path, kind: str) -> None:
    """Python's filter recognises records, packed or not, and in several processes."""
    path = tmp_path / "records"
    path.write_bytes(gzip.compress(lines(RECORDS[kind])))
    assert b"".join(files.filter(path, "color = 'blue'")) == lines(RECORDS[kind])
    assert kind_of(str(path)) == kind


def test_filter_in_processes(tmp_path: Path) -> None:
    """The parts of a file are all read as what its beginning says."""
    path = tmp_path / "records"
    path.write_bytes(lines(RECORDS["connect"], 100))
    found = filtered(path, "color = 'blue'", 1 << 10, jobs=2)
    assert (len(list(found)), found.seen) == (100, 100)


def test_several_formats_fit(run: Run, tmp_path: Path) -> None:
    """Where nothing decides, every command asks for the format, and so does Python."""
    path = tmp_path / "records"
    path.write_bytes(lines({"properties": {"color": "blue"}}))
    (tmp_path / "selectors.tsv").write_text("one\tcolor = 'blue'\n", "utf-8")
    what = "the first messages may be lenses or pulsar: expected the name of their format"
    hint = "choose by the tool that wrote them: --format lenses or --format pulsar"
    for arguments in (
        ("match", "color = 'blue'", str(path)),
        ("why", "color = 'blue'", str(path)),
        ("inspect", str(path)),
        ("explain", "color = 'blue'", f"{path}:2"),
        ("route", str(tmp_path / "selectors.tsv"), str(path)),
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, ""), arguments
        assert err.startswith(f"mqsel: {path}: {what}\n  hint: {hint}\n"), arguments
    with pytest.raises(FileError, match="may be lenses or pulsar"):
        list(files.filter(path, "color = 'blue'"))
    assert run("match", "color = 'blue'", "--format", "pulsar", str(path))[0] == 0


def test_json_reads_plain_messages(run: Run, tmp_path: Path) -> None:
    """What is recognised can be read as plain messages all the same; what looks like a record is read so at once."""
    path = tmp_path / "records"
    path.write_bytes(lines(RECORDS["connect"]))
    assert run("match", "type = 'car'", "--format", "json", str(path))[2].startswith("3 messages, 3 selected")
    path.write_bytes(lines({"color": "blue", "value": 5, "properties": {"color": "red"}}))
    assert run("match", "color = 'blue'", str(path))[2].startswith("3 messages, 3 selected")


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_long_records(run: Run, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A record whose line is longer than what is read at first is known, too."""
    path = tmp_path / "records"
    record = {"messageID": "x" * 300_000, **RECORDS["connect"]}
    path.write_bytes(pack(lines(record)))
    assert run("match", "color = 'blue'", "--count", str(path))[:2] == (0, "3\n")


def test_lines_before_records(run: Run, tmp_path: Path) -> None:
    """A file cut out of another, whose first line is the end of one, is known by the others."""
    path = tmp_path / "records"
    path.write_bytes(lines(RECORDS["connect"])[30:])
    status, out, err = run("match", "color = 'blue'", "--count", str(path))
    assert (status, out) == (0, "2\n")
    assert "read as connect" in err


PIECES = [(1,), (40,), (40, 90), (1 << 20,)]


@pytest.mark.sample(1, rest="process")
@pytest.mark.parametrize("sizes", PIECES)
def test_pipes(sizes: tuple[int, ...]) -> None:
    """A pipe is known by what arrives first, be it a byte of the first record."""
    data = lines(RECORDS["connect"])
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    pieces.append(data[at:])
    command = [sys.executable, "-m", "mqsel", "match", "color = 'blue'", "--count"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        for piece in pieces:
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(0.3)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"3\n")
    assert b"stdin: read as connect" in err


def test_pipes_do_not_wait() -> None:
    """What arrives on a pipe is answered at once: to know its format nothing more is waited for than a line."""
    command = [sys.executable, "-m", "mqsel", "match", "color = 'blue'"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (lines(RECORDS["connect"], 1), lines({**RECORDS["connect"], "type": "bus"}, 1)):
            process.stdin.write(line)
            process.stdin.flush()
            assert os.read(process.stdout.fileno(), 1 << 16) == line
        process.stdin.close()
        process.wait(60)


def test_rows_of_parquet(run: Run, tmp_path: Path) -> None:
    """Records in Parquet, whose properties no column has, are named on stderr; other rows are not."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    value = pa.struct([("propertyType", pa.string()), ("string", pa.string())])
    held = pa.array([[("color", {"propertyType": "string", "string": "blue"})]], pa.map_(pa.string(), value))
    table = pa.table({"messageID": ["ID:1"], "type": ["car"], "properties": held})
    for columns, is_named in ((table, True), (table.append_column("color", [["red"]]), False)):
        path = tmp_path / "rows.parquet"
        parquet.write_table(columns, path)
        for command in ("match", "why"):
            err = run(command, "color = 'blue'", str(path))[2]
            assert (f"{path}: its rows look like records of connect, whose properties" in err) is is_named
