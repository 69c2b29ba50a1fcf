"""JSON lines: from the bytes of a file to the count of what is selected, in this process and in one of their own.

In this process 20,000 messages in memory, a number of ns for each: plain values, values that name their type, lines
with objects and arrays in them, lines of 1.4 KB with 40 properties. Beside them `m.filter` over what orjson makes of
the same lines. In processes a file of 400,000 plain lines: mqsel, DuckDB on one thread, jq. Answers are compared first.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import workloads

import mqsel
from mqsel.files.framings import blocks
from mqsel.files.run.work import Ask, Match, Tally

SELECTOR = "JMSType = 'car' AND color = 'blue' AND weight > 2500"
COUNTING = Ask(invert=False, counting=True, raising=False, limit=None)
LINES = 400_000
NARROW = {"JMSPriority": "int32", "weight": "int32", "price": "float32"}


def _typed(message: dict[str, Any], _: Random) -> dict[str, Any]:
    return {name: {NARROW[name]: value} if name in NARROW else value for name, value in message.items()}


def _nested(message: dict[str, Any], random: Random) -> dict[str, Any]:
    lines = [{"sku": f"S{random.randrange(50)}", "n": n, "price": n / 4, "text": "Grüße"} for n in range(4)]
    return {"headers": {"path": ["a", "b", {"c": None}]}, **message, "body": {"lines": lines}}


def _long(message: dict[str, Any], random: Random) -> dict[str, Any]:
    values = (random.randrange(10**6), random.random(), "x" * random.randrange(5, 80), True, 'with "quotes" in it')
    own = {f"property_{n}": random.choice(values) for n in range(32)}
    names = sorted({*message, *own}, key=lambda name: name[::-1])
    return {name: {**message, **own}[name] for name in names}


FORMS = {"plain": lambda message, _: message, "typed": _typed, "nested": _nested, "long": _long}


def _lines(form: str) -> list[bytes]:
    random = Random(workloads.SEED)
    made = (FORMS[form](workloads.as_dict(row), random) for row in workloads.rows(workloads.STREAMED))
    return [json.dumps(message, ensure_ascii=False).encode() + b"\n" for message in made]


def _sifted(matcher: mqsel.Matcher, data: bytes) -> Tally:
    stream = io.BufferedReader(io.BytesIO(data))  # type: ignore[type-var]
    *_, tally = Match(matcher, COUNTING).messages(blocks(stream))
    assert isinstance(tally, Tally)
    return tally


@pytest.mark.parametrize("form", FORMS)
def test_sift(per_message, form):
    """Lines in memory, sifted and counted."""
    lines = _lines(form)
    matcher = mqsel.compile(SELECTOR)
    expected = sum(map(matcher.matches, map(workloads.as_dict, workloads.rows(workloads.STREAMED))))
    tally = _sifted(matcher, b"".join(lines))
    assert (tally.messages, tally.selected, tally.skipped) == (len(lines), expected, 0)
    data = b"".join(lines)
    per_message(lambda: _sifted(matcher, data))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "typed"])
def test_filter_of_orjson(per_message, form):
    """The same lines through orjson; it knows no types, so of those that name one nothing would be selected."""
    loads = pytest.importorskip("orjson").loads
    lines = _lines(form)
    matcher = mqsel.compile(SELECTOR)
    assert sum(1 for _ in matcher.filter(map(loads, lines))) == _sifted(matcher, b"".join(lines)).selected
    per_message(lambda: sum(1 for _ in matcher.filter(map(loads, lines))))


def _as_nifi(record: dict[str, Any]) -> dict[str, Any]:
    """Write a record of Confluent's connectors as the attributes of a FlowFile."""
    made = {"jms_priority": str(record["priority"]), "jms_type": record["type"], "uuid": record["messageID"]}
    for name, value in record["properties"].items():
        kind = value["propertyType"]
        made |= {name: str(value[kind]), f"{name}.type": kind}
    return made


@pytest.mark.parametrize("form", ["connect", "enveloped", "nifi"])
def test_records(benchmark, form):
    """Records of connectors, 340 to 740 bytes each: 6,000 of them; divide by 6,000."""
    sample = [json.loads(line) for line in (Path(__file__).with_name("data") / "connect.jsonl").open("rb")]
    weights = [record["properties"]["weight"]["integer"] for record in sample if record["priority"] >= 4]
    expected = sum(weight > 2500 for weight in weights)
    if form == "enveloped":
        sample = [{"schema": {"type": "struct", "optional": False}, "payload": record} for record in sample]
    if form == "nifi":
        sample = [_as_nifi(record) for record in sample]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in sample) * 1000
    ask = COUNTING._replace(format="nifi" if form == "nifi" else "connect")
    matcher = mqsel.compile("JMSPriority >= 4 AND weight > 2500")

    def run() -> Tally:
        *_, tally = Match(matcher, ask).messages(blocks(io.BufferedReader(io.BytesIO(data))))  # type: ignore[type-var]
        assert isinstance(tally, Tally)
        return tally

    tally = run()
    assert (tally.messages, tally.selected, tally.skipped) == (6000, 1000 * expected, 0)
    benchmark(run)


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """400,000 plain lines, 55 MB."""
    path = tmp_path_factory.mktemp("jsonl") / "messages.jsonl"
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(workloads.as_dict(row)) + "\n" for row in workloads.rows(LINES))
    return path


_DUCKDB = """import duckdb, sys
connection = duckdb.connect()
connection.execute("set threads = 1")
found = connection.execute(f"select count(*) from read_json('{sys.argv[1]}', format = 'newline_delimited')"
                           " where JMSType = 'car' and color = 'blue' and weight > 2500")
print(found.fetchone()[0])
"""
_JQ = '[inputs | select(.JMSType == "car" and .color == "blue" and .weight > 2500)] | length'
COMMANDS = {
    "mqsel": [sys.executable, "-m", "mqsel", "match", "--count", SELECTOR],
    "duckdb": [sys.executable, "-c", _DUCKDB],
    "jq": ["jq", "-n", _JQ],
}


@pytest.mark.parametrize("peer", COMMANDS)
def test_process(benchmark, file, peer):
    """A whole process that counts what W2 selects of the file."""
    if peer == "duckdb":
        pytest.importorskip("duckdb")
    if shutil.which(COMMANDS[peer][0]) is None:
        pytest.skip(f"{peer} is not installed")
    expected = sum(map(mqsel.compile(SELECTOR).matches, map(workloads.as_dict, workloads.rows(LINES))))

    def run() -> int:
        return int(subprocess.run([*COMMANDS[peer], str(file)], capture_output=True, check=True).stdout)

    assert run() == expected
    benchmark.pedantic(run, rounds=5)


def test_start(benchmark, tmp_path):
    """A whole process on three lines."""
    path = tmp_path / "three.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n{"a": 1}\n')
    command = [sys.executable, "-m", "mqsel", "match", "a = 1", str(path)]

    def run() -> bytes:
        return subprocess.run(command, capture_output=True, check=True).stdout

    assert run() == b'{"a": 1}\n{"a": 1}\n'
    benchmark.pedantic(run, rounds=5)
