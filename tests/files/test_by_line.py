"""Files as they are read in blocks, by columns, by several processes: what they give is what each message gives alone.

The reader it is compared with is the slow one: a line at a time, read by Python's `json` and, where records of tools
have them, by the tables of their schemas; raw messages by all their properties; rows as Python objects.
"""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import amqp
import pytest
from conftest import VECTORS_ROOT, json_lines
from printer import amqsbcg_text

import mqsel
from mqsel import formats
from mqsel.errors import MqselError, PropertyTypeError
from mqsel.files import framings
from mqsel.files.framings import FORMATS, length_prefixed, pieces
from mqsel.files.parts import Named
from mqsel.files.qload import qload_text
from mqsel.files.run import sifted
from mqsel.files.run.work import REPORTED, Ask, Broken, Complaint, Sharing, Tally, in_files, in_json_words, said
from mqsel.formats import mq, records
from mqsel.formats.jsonl import message_from_json, object_from_json
from mqsel.names import look_up
from mqsel.values import Truth

SELECTOR = "color = 'blue' OR JMSPriority > 4 AND weight > 2 OR JMSMessageID LIKE 'ID:%' OR p IS NOT NULL AND q IS NULL"
MATCHER = mqsel.compile(SELECTOR)
LINES = [name for name, row in FORMATS.items() if row.is_lines]
EXPORT = "artemis"  # compared with a reader of XML, in test_artemis.py
RAW = [name for name, row in FORMATS.items() if row.split is not None and name != EXPORT]

# What may be wrong with a line, or unusual: made of a good one.
FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda line: line[: len(line) // 2] + b"\n",
    "one byte short": lambda line: line.rstrip()[:-1] + b"\n",
    "one byte more": lambda line: line.rstrip() + b"}\n",
    "a key twice": lambda line: line.replace(b"{", b'{"weight": 1, "weight": 7, ', 1),
    "the wanted key twice": lambda line: line.replace(b"{", b'{"color": "blue", "color": "red", ', 1),
    "no UTF-8": lambda line: line.replace(b"{", b'{"text": "\xff\xc0", ', 1),
    "half a character": lambda line: line.replace(b"{", b'{"text": "\xe2\x82", ', 1),
    "CRLF": lambda line: line.rstrip() + b"\r\n",
    "CR": lambda line: line.rstrip() + b"\r" + line,
    "byte order mark": lambda line: b"\xef\xbb\xbf" + line,
    "blank": lambda _: b"\n",
    "white space": lambda _: b" \t\r\n\x0b\x0c\n",
    "huge": lambda line: line.replace(b"{", b'{"text": "' + b"x" * 300_000 + b'", ', 1),
    "huge and cut": lambda _: b'{"text": "' + b"\xc3\xa9" * 100_000 + b"\n",
    "NULs": lambda _: b"\0" * 40 + b"\n",
    "a NUL in a string": lambda line: line.replace(b"{", b'{"text": "\0", ', 1),
    "out of range": lambda line: line.replace(b"{", b'{"weight": 99999999999999999999, ', 1),
    "infinite": lambda line: line.replace(b"{", b'{"weight": 1e999, ', 1),
    "another type": lambda line: line.replace(b"{", b'{"color": {"int8": 300}, ', 1),
    "nested": lambda _: b'{"a": ' + b"[" * 2000 + b"]" * 2000 + b"}\n",
    "an array": lambda _: b"[1, 2]\n",
    "a number": lambda _: b"5\n",
}


def _good(kind: str) -> list[bytes]:
    """Return good lines of a format."""
    if kind == "json":
        made: list[Any] = [
            {"color": color, "JMSPriority": n, "weight": n} for n in range(7) for color in ("blue", "rot")
        ]
        made += [{"größe": 1.5}, {"weight": {"int32": 5}, "JMSPriority": {"int8": 9}}, {"color": None}]
    else:
        vectors = [one for one in json_lines(VECTORS_ROOT / "formats" / "records.jsonl") if one["schema"] == kind]
        made = [vector["record"] for vector in vectors]
        made += [{**one, "color": "blue"} for one in made if isinstance(one, dict)]
    return [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in made]


def _some_content(kind: str, faults: list[str], rng: random.Random) -> bytes:
    good = _good(kind)
    lines = [line if rng.random() < 0.7 else FAULTS[rng.choice(faults)](line) for line in good * 3]
    lines[-1] = FAULTS[rng.choice(faults)](good[0])
    rng.shuffle(lines)
    content = b"".join(lines)
    return content if rng.random() < 0.5 else content.rstrip(b"\n")


class Heard:
    """What a run gives: messages, complaints with their places, counts."""

    def __init__(self) -> None:
        self.given = b""
        self.complaints: list[tuple[int, str]] = []
        self.broken: list[str] = []
        self.tally = Tally()

    def refuse(self, place: int, error: MqselError) -> None:
        self.tally.skipped += 1
        self.complaints.append((place, said(error)))

    def judge(self, raw: bytes, message: Any) -> None:
        truth = Truth(int(MATCHER.matches(message)))
        with suppress(PropertyTypeError):  # a value that only tells FALSE from UNKNOWN is no error
            truth = MATCHER.evaluate(message)
        self.tally.selected += truth is Truth.TRUE
        self.given += raw if truth is Truth.TRUE else b""
        if truth is Truth.UNKNOWN:
            self.tally.unknown += 1
            self.tally.missing.update(name for name in MATCHER.properties if look_up(message, name, "mqi") is None)

    def answers(self) -> tuple[Any, ...]:
        one = self.tally
        counts = (one.messages, one.selected, one.unknown, one.skipped, one.missing, +one.unread)
        return self.given, self.complaints[:REPORTED], self.broken, counts


def _by_line(content: bytes, kind: str, types: dict[str, str]) -> Heard:
    heard = Heard()
    read = None if kind == "json" else records.reader(kind, MATCHER.properties, types)
    for number, line in enumerate(io.BytesIO(content), 1):
        if line.isspace():
            continue
        heard.tally.messages += 1
        message = None
        try:
            message = message_from_json(line, MATCHER.properties) if read is None else read(object_from_json(line))
            heard.judge(line, message)
        except PropertyTypeError as error:
            heard.refuse(number, in_json_words(error, message, MATCHER) if read is None else error)
    if read is not None:
        heard.tally.unread = read.unread
    return heard


def _as_run(path: Path, kind: str, types: dict[str, str], jobs: int = 1, part_size: int = 500) -> Heard:
    heard = Heard()
    ask = Ask(False, False, False, None, kind, tuple(types.items()), sharing=Sharing(part_size))
    for *_, record in in_files(sifted(MATCHER, lambda: ask, [Named(str(path), (), None)], kind, jobs)):
        if isinstance(record, bytes):
            heard.given += record
        elif isinstance(record, Complaint):
            heard.complaints.append((record.line, record.text))
        elif isinstance(record, Broken):
            heard.broken.append(record.why)
        elif isinstance(record, Tally):
            heard.tally.add(record)
    return heard


@pytest.mark.sample(15)
@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, fault: str) -> None:
    """Invariant: blocks of any size give of lines around a fault what each gives alone, and lose none."""
    rng = random.Random(f"{kind} {fault}")
    types = (
        {} if kind == "json" or formats.records.SCHEMAS[kind].has_types else {"weight": "int32", "JMSPriority": "int8"}
    )
    file = tmp_path / "a"
    for size in (16, 1000, 1 << 20):
        content = _some_content(kind, [fault], rng)
        file.write_bytes(gzip.compress(content) if rng.random() < 0.2 else content)
        monkeypatch.setattr(framings, "_BLOCK", size)

        assert _as_run(file, kind, types).answers() == _by_line(content, kind, types).answers()


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", LINES)
def test_all_faults(tmp_path: Path, kind: str) -> None:
    """Invariant: nor do several processes, each with parts of the file, lose or move a line, whatever is wrong."""
    rng = random.Random(kind)
    types = {} if kind == "json" or formats.records.SCHEMAS[kind].has_types else {"weight": "int32"}
    file = tmp_path / "a"
    for size in (1, 1000, 100_000):
        content = _some_content(kind, [*FAULTS], rng)
        file.write_bytes(content)
        part_size = max(size, len(content) // 30)

        assert _as_run(file, kind, types, 2, part_size).answers() == _by_line(content, kind, types).answers()


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", LINES)
def test_a_file_that_was_cut(tmp_path: Path, kind: str) -> None:
    """Invariant: what a packed file gives before it ends too early are its first lines, each with its own answer."""
    content = b"".join(random.Random(kind).choices(_good(kind), k=4000))
    packed = gzip.compress(content)
    file = tmp_path / "a"
    for size in (len(packed) // 2, len(packed) - 4):
        file.write_bytes(packed[:size])
        heard = _as_run(file, kind, {})
        whole = _by_line(content, kind, {})

        assert heard.broken != []
        assert whole.given.startswith(heard.given)
        assert heard.tally.messages <= whole.tally.messages
        # The last line is the one in which the file ends.
        assert [one for one in heard.complaints if one[0] < heard.tally.lines] == [
            one for one in whole.complaints if one[0] < heard.tally.lines
        ][:REPORTED]


# ---- messages and rows -------------------------------------------------------------------------------------------


class _Drops(io.RawIOBase):
    """Returns content a few bytes at a time."""

    def __init__(self, content: bytes) -> None:
        self._left = content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data, self._left = self._left[: min(len(buffer), 8192)], self._left[min(len(buffer), 8192) :]
        buffer[: len(data)] = data
        return len(data)


def _by_message(content: bytes, kind: str) -> Heard:
    heard, head = Heard(), b""
    for piece in pieces(io.BufferedReader(_Drops(content)), kind):
        if isinstance(piece, MqselError):
            heard.tally.messages += 1
            heard.refuse(piece.line or piece.offset, piece)
        elif piece.message is None:
            head = piece.raw
        else:
            heard.tally.messages += 1
            before = heard.tally.selected
            try:
                read = MATCHER.decoder("amqp")(piece.message) if kind == "amqp" else None
                found = {name: read[name] for name in MATCHER.properties} if read else formats.properties(piece.message)
                heard.judge(head + piece.raw, found)
            except MqselError as error:
                heard.refuse(piece.place, error)
            head = head if heard.tally.selected == before else b""
    return heard


def _without_path(heard: Heard) -> tuple[Any, ...]:
    given, complaints, broken, counts = heard.answers()
    return given, [(place, text.partition("\n")[0]) for place, text in complaints], broken, counts


def _contents(kind: str, rng: random.Random) -> Iterator[bytes]:
    write = {
        "mq": length_prefixed,
        "amqp": length_prefixed,
        "qload": lambda message: b"* QLOAD\n" * rng.randrange(2) + qload_text(message),
        "amqsbcg": lambda message: b"$ amqsbcg Q\n" * rng.randrange(2) + amqsbcg_text(message),
    }[kind]
    good = [
        amqp.message(n, {"color": color, "weight": n}, b"data" * 50)
        if kind == "amqp"
        else mq.encode({"Priority": n}, {"color": color, "weight": n}, b"data" * 50)
        for n in range(1, 9)
        for color in ("blue", "red")
    ]
    whole = write(good[0]) + b"".join(map(write, good))
    yield whole
    yield from (whole[: rng.randrange(len(whole) // 2, len(whole))] for _ in range(12))
    for _ in range(12):
        at = rng.randrange(600, len(whole) - 40)
        yield whole[:at] + rng.choice((b"\0" * 30, b"\xff", b"\n", b"\r\n", b"")) + whole[at + rng.randrange(30) :]


@pytest.mark.parametrize("kind", RAW)
def test_messages(tmp_path: Path, kind: str) -> None:
    """Invariant: raw messages, whole, cut and damaged, give in a file what the properties of each give alone."""
    file = tmp_path / "a"
    for content in _contents(kind, random.Random(kind)):
        file.write_bytes(content)

        assert _without_path(_as_run(file, kind, {})) == _without_path(_by_message(content, kind))


def test_rows(tmp_path: Path) -> None:
    """Invariant: rows of Parquet, by one process or two, give what each row gives as a dict."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rng = random.Random(5)
    rows = [
        {"color": rng.choice(["blue", "red", None]), "JMSPriority": rng.choice([1, 5, None]), "weight": n}
        for n in range(500)
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a", row_group_size=50)
    heard = Heard()
    for row in rows:
        heard.tally.messages += 1
        heard.judge(json.dumps(row).encode() + b"\n", row)
    for count in (1, 2):
        assert _as_run(tmp_path / "a", "parquet", {}, count).answers() == heard.answers()
    assert 0 < heard.tally.selected < 500


def test_every_format_is_compared() -> None:
    """No format of files is forgotten here."""
    assert {*LINES, *RAW, EXPORT, "parquet"} == {*FORMATS}
