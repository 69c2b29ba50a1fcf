"""``mqsel route``: what it prints is what a loop over Matchers says of the same messages."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import process
from printer import amqsbcg_text

import mqsel
from mqsel.cli import main
from mqsel.cli.route import safe_name
from mqsel.files.framings import length_prefixed
from mqsel.files.qload import qload_text
from mqsel.formats import mq
from mqsel.values import Int32

SELECTORS = {
    "white": "color = 'white'",
    "../heavy": "weight > 50",
    "Heavy": "weight > 50",
    "urgent": "JMSPriority > 6 AND color IS NOT NULL",
    "nobody": "color = 5",
}
ROWS: list[dict[str, Any]] = [
    {"color": ("white", "red", "blue")[number % 3], **({"weight": number} if number % 7 else {})}
    for number in range(100)
]
# With the priority that each message has, too.
WANTED = [
    [key for key, text in SELECTORS.items() if mqsel.compile(text).matches({**row, "JMSPriority": number % 10})]
    for number, row in enumerate(ROWS)
]
COUNTS = Counter(key for keys in WANTED for key in keys)


def _written(kind: str, numbers: range) -> bytes:
    found = []
    for number in numbers:
        row = ROWS[number]
        typed = {name: Int32(value) if name == "weight" else value for name, value in row.items()}
        raw = mq.encode({"Priority": number % 10}, typed, b"data")
        write = {"mq": length_prefixed, "qload": qload_text, "amqsbcg": amqsbcg_text}
        if kind == "json":
            line = {**row, "JMSPriority": number % 10, "pad": " é𝄞 "}
            found.append(json.dumps(line, ensure_ascii=number % 2 == 0, indent=None).encode() + b"\n")
        else:
            found.append(write[kind](raw))
    return b"".join(found)


@pytest.fixture
def selectors(tmp_path: Path) -> str:
    """A file of the selectors."""
    path = tmp_path / "subscriptions.json"
    path.write_text(json.dumps(SELECTORS))
    return str(path)


def test_lines_of_json(selectors: str, tmp_path: Path, capfdbinary: Any) -> None:
    """Each message that somebody gets stands untouched behind its keys; packed or not, in the order of the files."""
    one, two = _written("json", range(60)), _written("json", range(60, 100))
    (tmp_path / "one").write_bytes(one)
    (tmp_path / "two").write_bytes(gzip.compress(two.removesuffix(b"\n")))
    status = main(["route", selectors, str(tmp_path / "one"), str(tmp_path / "two")])
    out, said = capfdbinary.readouterr()
    lines = [line for line, keys in zip((one + two).splitlines(), WANTED, strict=True) if keys]

    assert status == 0
    assert [json.loads(line)["subscribers"] for line in out.splitlines()] == [keys for keys in WANTED if keys]
    assert [line.partition(b'"message": ')[2] for line in out.splitlines()] == [line + b"}" for line in lines]
    assert said.decode().splitlines()[-1] == "nothing for: 'nobody'"
    few = f"100 messages, {len(lines)} of them delivered, {sum(COUNTS.values())} deliveries to 4 of 5 keys, 0 skipped"
    assert said.decode().splitlines()[-3].startswith(few)


@pytest.mark.parametrize("kind", ["json", "mq", "qload", "amqsbcg"])
def test_into_a_folder(kind: str, selectors: str, tmp_path: Path, capfdbinary: Any) -> None:
    """Each key has a file of its messages as they stand, which is a file of the format again."""
    (tmp_path / "all").write_bytes(_written(kind, range(100)))
    asked = ["--format", kind]
    assert main(["route", "--into", str(tmp_path / "new" / "into"), *asked, selectors, str(tmp_path / "all")]) == 0
    assert capfdbinary.readouterr()[0] == b""
    for key, count in COUNTS.items():
        (path,) = (tmp_path / "new" / "into").glob(f"{safe_name(key)}.*")
        wanted = [_written(kind, range(number, number + 1)) for number in range(100) if key in WANTED[number]]
        blank = kind == "amqsbcg"  # lines between two messages belong to neither
        assert path.read_bytes().split() == b"".join(wanted).split() if blank else path.read_bytes() == b"".join(wanted)
        assert main(["match", "--count", *asked, SELECTORS[key], str(path)]) == 0
        assert capfdbinary.readouterr()[0] == b"%d\n" % count
    assert len(list((tmp_path / "new" / "into").iterdir())) == 4


@pytest.mark.parametrize("kind", ["mq", "qload", "amqsbcg"])
def test_messages_that_json_cannot_hold(kind: str, selectors: str, tmp_path: Path, capfdbinary: Any) -> None:
    """They are named by file and place."""
    content = _written(kind, range(100))
    (tmp_path / "all").write_bytes(content)
    assert main(["route", "--format", kind, selectors, str(tmp_path / "all")]) == 0
    found = [json.loads(line) for line in capfdbinary.readouterr()[0].splitlines()]

    assert [one["subscribers"] for one in found] == [keys for keys in WANTED if keys]
    assert {one["file"] for one in found} == {str(tmp_path / "all")}
    if kind == "mq":
        first = next(number for number, keys in enumerate(WANTED) if keys)
        assert found[0]["byte"] == len(_written(kind, range(first)))
    else:
        assert all(content.splitlines()[one["line"] - 1] for one in found)


def test_parquet(selectors: str, tmp_path: Path, capfdbinary: Any) -> None:
    """Rows are lines of JSON; what a directory names is a property of each."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "JMSPriority=7").mkdir()
    table = pa.table({name: [row.get(name) for row in ROWS] for name in ("color", "weight")})
    pq.write_table(table, tmp_path / "JMSPriority=7" / "a.parquet", row_group_size=30)
    pq.write_table(table, tmp_path / "b.parquet", row_group_size=30)
    assert main(["route", selectors, str(tmp_path / "b.parquet"), "--max-matches", "40"]) == 0
    found = [json.loads(line) for line in capfdbinary.readouterr()[0].splitlines()]
    matchers = {key: mqsel.compile(text) for key, text in SELECTORS.items()}
    wanted = [[key for key, one in matchers.items() if one.matches(row)] for row in ROWS]

    assert len(found) == 40
    assert [one["subscribers"] for one in found] == [keys for keys in wanted if keys][:40]
    assert found[0]["message"] == {"color": "white", "weight": None}
    assert main(["route", "--count", selectors, str(tmp_path / "JMSPriority=7")]) == 0
    assert b"urgent\t100\n" in capfdbinary.readouterr()[0]


def test_count(selectors: str, tmp_path: Path, capfdbinary: Any) -> None:
    """A line for each key in the order of the file, those that got nothing included."""
    (tmp_path / "all").write_bytes(_written("json", range(100)))
    assert main(["route", "--count", selectors, str(tmp_path / "all")]) == 0
    out = capfdbinary.readouterr()[0].decode()

    assert out == "".join(f"{key}\t{COUNTS[key]}\n" for key in SELECTORS)


def test_trouble(selectors: str, tmp_path: Path, capfdbinary: Any) -> None:
    """Broken messages, selectors and calls: what is said, and the exit codes of `match`."""
    good = _written("json", range(3))
    (tmp_path / "broken").write_bytes(b'{"color": \n' + good + b'{"color": [1]}\n')
    (tmp_path / "red").write_bytes(b'{"color": "red"}\n')
    (tmp_path / "text").write_text("a\tcolor = 'red'\nb\tcolor =\n")
    (tmp_path / "bad").write_text("b\tcolor =\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()

    def run(*words: str) -> tuple[int, str]:
        status = main(["route", *(str(tmp_path / word) if (tmp_path / word).exists() else word for word in words)])
        return status, capfdbinary.readouterr()[1].decode()

    status, said = run(selectors, "broken")
    assert (status, said.count("broken:1: "), said.count("broken:5: ")) == (0, 1, 1)
    assert "5 messages, " in said and "2 skipped" in said
    assert run(selectors, "broken", "--errors", "raise")[0] == 2
    status, said = run("text", "red")
    assert status == 0 and "text:2:10: b: unexpected end of the selector" in said
    assert run("text", "red", "--errors", "raise")[0] == 2
    assert run("bad", "red")[0] == 2
    assert run(selectors, "red")[0] == 1
    for words, wanted in [
        (("--count", "--into", "x", selectors, "red"), "--count prints no messages"),
        (("--into", "full", selectors, "red"), "is not empty: expected a new folder"),
        (("--into", "red", selectors, "red"), "the folder cannot be made"),
        (("no such file", "red"), "mqsel: no such file:1:1: the file cannot be read: No such file"),
        (("-", "-"), "stdin has the selectors"),
        ((selectors, "no such file"), "No such file"),
        (("--type", "weight=int32", selectors, "red"), "--type is only for formats that store every value as text"),
    ]:
        status, said = run(*words)
        assert (status, wanted in said) == (2, True), (words, said)


def test_names_of_files() -> None:
    """Invariant: keys that differ have names that differ, also where case does not count; none leaves the folder."""
    keys = [
        "",
        "a",
        "A",
        "%41",
        "a/b",
        "a\\b",
        "..",
        ".",
        "con",
        "CON",
        "nul",
        "é",
        "\0",
        "a" * 300,
        "a" * 301,
        "x.y",
        " ",
    ]
    names = [safe_name(key) for key in keys]

    assert len({name.casefold() for name in names}) == len(keys)
    assert all(0 < len(name) <= 100 and not set(name) & set('/\\:*?"<>|. \0') for name in names)
    assert not {"con", "nul"} & set(names)


def test_many_keys_need_few_open_files(tmp_path: Path) -> None:
    """Five hundred keys under a limit of a hundred open files."""
    resource = pytest.importorskip("resource")
    (tmp_path / "many").write_text("".join(f"k{number}\tn >= {number}\n" for number in range(500)))
    (tmp_path / "all").write_text("".join(f'{{"n": {number}}}\n' for number in (499, 250, 499)))
    limited = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (100, 100))
    done = process("route", "--into", *(tmp_path / name for name in ("into", "many", "all")), preexec_fn=limited)

    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "into").iterdir())) == 500
    assert (tmp_path / "into" / "k0.jsonl").read_text().count("\n") == 3
    assert (tmp_path / "into" / "k499.jsonl").read_text() == '{"n": 499}\n' * 2


def test_on_spark(selectors: str, tmp_path: Path, capfdbinary: Any, on_spark: list[str]) -> None:
    """The same lines, counts and complaints come of Spark, and of a process that starts it."""
    (tmp_path / "a").write_bytes(_written("json", range(60)) + b"{\n")
    (tmp_path / "b").write_bytes(_written("qload", range(60, 100)))

    def said(status: int, out: bytes, err: bytes) -> tuple[int, bytes, list[bytes]]:
        return status, out, [line.partition(b" skipped")[0] for line in err.splitlines()]

    for more in (["--count"], ["--max-matches", "7"], []):
        words = ["route", *more, selectors, str(tmp_path / "a"), str(tmp_path / "b")]
        here = said(main(words), *capfdbinary.readouterr())
        assert said(main([*words, *on_spark]), *capfdbinary.readouterr()) == here
        assert here[1]
    started = process(*words, "--spark", "--master", "local[2]")
    assert said(started.returncode, started.stdout, started.stderr) == here
