"""`files.filter` yields one message an item: of every format, however it arrives, and by however many processes."""

from __future__ import annotations

import array
import fcntl
import gzip
import io
import json
import os
import random
import re
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import amqp
import pytest
from conftest import VECTORS_ROOT, json_lines
from printer import BANNER, TRAILER, amqsbcg_text, mqmd
from sharing import filtered
from splitters import sifted

import mqsel
from mqsel import cli, files
from mqsel.errors import FileError, MqselError
from mqsel.files.framings import FORMATS, length_prefixed
from mqsel.files.qload import qload_text
from mqsel.files.run.work import Ask, Sharing
from mqsel.formats import mq, records
from mqsel.formats.jsonl import message_from_json, object_from_json

AMQP = [amqp.message(n % 10, {"n": n, "color": "blue" if n % 3 else "red"}, b"x" * n) for n in range(13)]
MESSAGES = [mq.encode({"Priority": n % 10}, {"n": n, "color": "blue" if n % 3 else "red"}, b"x" * n) for n in range(12)]
BROKEN = mqmd({"Format": "MQHRF2"}) + b"RFH \0\0\0\2"
SELECTOR = "n >= 0 AND color = 'blue' OR JMSPriority > 3 OR JMSMessageID IS NOT NULL OR JMSType IS NULL"
MATCHER = mqsel.compile(SELECTOR)


def _dumps(printed: Callable[[bytes, int], bytes]) -> bytes:
    """Write messages, one of them broken, as a tool does."""
    return b"".join(printed(one, n) for n, one in enumerate([*MESSAGES[:5], BROKEN, *MESSAGES[5:]]))


def _amqsbcg(message: bytes, number: int, **options: Any) -> bytes:
    return amqsbcg_text(message, order="<" if message[4] else ">", count=number, **options)


def _records(kind: str) -> bytes:
    vectors = [one for one in json_lines(VECTORS_ROOT / "formats" / "records.jsonl") if one["schema"] == kind]
    found = [json.dumps(one["record"]).encode() for one in vectors]
    return b"\n".join([*found, b"", b"no JSON", b" \r", *found])  # the last line has no end


def _json() -> bytes:
    lines = [json.dumps({"n": n, "color": ["red", "blue"][n % 2], "text": "a\nb\r" * n}).encode() for n in range(20)]
    return b"\xef\xbb\xbf" + b"\r\n".join(lines[:5]) + b"\n" + b"\n".join(lines[5:])


def _parquet() -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [{"n": n, "color": ["red", "blue", None][n % 3], "text": "a\nb\r" * n} for n in range(20)]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=7)
    return file.getvalue()


CONTENTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "json": ("json", _json),
    **{name: (name, lambda name=name: _records(name)) for name in records.SCHEMAS},  # type: ignore[misc]
    "mq": ("mq", lambda: _dumps(lambda message, _: length_prefixed(message))),
    "mq, cut": ("mq", lambda: _dumps(lambda message, _: length_prefixed(message))[:-1]),
    "mq, one": ("mq", lambda: MESSAGES[1]),
    "amqp": ("amqp", lambda: _dumps(lambda _, n: length_prefixed(AMQP[n]))),
    "amqp, one": ("amqp", lambda: AMQP[1]),
    "qload": ("qload", lambda: _dumps(lambda message, _: qload_text(message))),
    "qload, comments": (
        "qload",
        lambda: b"* QLOAD\n* x\n\n" + _dumps(lambda message, n: b"* %d\n\n" % n + qload_text(message)) + b"* end",
    ),
    "qload, CRLF": ("qload", lambda: _dumps(lambda message, _: qload_text(message)).replace(b"\n", b"\r\n")),
    "qload, odd": ("qload", lambda: b'N\nS "~~"\nT text\n\nN\nX 4142 <AB>\n\nA PRI 7\nS plain\n\nA PRI x\nX 41'),
    "amqsbcg": ("amqsbcg", lambda: BANNER + _dumps(_amqsbcg) + TRAILER),
    "amqsbcg, properties": (
        "amqsbcg",
        lambda: _dumps(lambda message, n: _amqsbcg(message, n, properties=["a : 1", f"n : {n}"])) + b"$ \n",
    ),
    "amqsbcg, copied": (
        "amqsbcg",
        lambda: b"$ amqsbcg Q\n" + _dumps(_amqsbcg).replace(b"'", "’".encode()).replace(b"\n", b"\r\n"),
    ),
    "parquet": ("parquet", _parquet),
}


def _expected(kind: str, content: bytes, path: str) -> list[bytes]:
    """Select from a file a message at a time; where the last line has no end it gets one."""
    if FORMATS[kind].split is not None:
        items, _, _ = sifted(MATCHER, Ask(format=kind, apart=True), content, path)
    elif kind == "parquet":
        import pyarrow.parquet as pq

        rows = pq.read_table(io.BytesIO(content)).to_pylist()
        return [json.dumps(row).encode() + b"\n" for row in rows if MATCHER.matches(row)]
    else:
        items = []
        read: Any = None if kind == "json" else records.reader(kind, MATCHER.properties)
        for line in content.split(b"\n"):
            with suppress(MqselError):
                if line.strip() and MATCHER.matches(
                    message_from_json(line, MATCHER.properties) if read is None else read(object_from_json(line))
                ):
                    items.append(line + b"\n")
    if items and FORMATS[kind].place == "line":
        items[-1] = items[-1].removesuffix(b"\n") + b"\n"
    return items


@contextmanager
def _pipe(path: Path, content: bytes, size: int) -> Iterator[Path]:
    """Return a pipe by which at most *size* bytes arrive at once: the next are written when these have been read."""

    def write() -> None:
        left = array.array("i", [0])
        with suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
            for at in range(0, len(content), size):
                pipe.write(content[at : at + size])
                while fcntl.ioctl(pipe, termios.FIONREAD, left) == 0 and left[0]:
                    time.sleep(0)

    os.mkfifo(path)
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield path
    writer.join(60)
    assert not writer.is_alive()


def _checked(path: Path, kind: str | None, jobs: int, expected: list[bytes]) -> None:
    """Compare the items of a file, and the counts."""
    found = filtered(path, SELECTOR, 500, kind=kind, jobs=jobs)

    assert list(found) == expected
    assert found.selected == len(expected)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CONTENTS)
def test_items(name: str, tmp_path: Path, capsysbinary: Any) -> None:
    """Invariant: items are the messages, as one at a time gives them, and together what `mqsel match` prints.

    From a file, a packed one, a pipe in pieces of every size; read by one process and by two, in parts.
    """
    kind, make = CONTENTS[name]
    content = make()
    plain, packed, other = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    other.write_bytes(content)
    known = kind if kind in ("json", *records.SCHEMAS) else None

    for jobs in (1, 2):
        for path in (plain, packed):
            expected = _expected(kind, content, str(path))
            assert expected
            _checked(path, known, jobs, expected)
        several = [*_expected(kind, content, str(plain)), *_expected(kind, content, str(other))]
        assert list(filtered([plain, other], SELECTOR, 500, kind=known, jobs=jobs)) == several
        options = ["-j", str(jobs), *(["--format", known] if known else [])]
        cli.main(["match", *options, SELECTOR, str(plain), str(other)], Sharing(part_size=500))
        assert b"".join(several) == capsysbinary.readouterr().out
    for size in (1, 7, 300, len(content)):
        if size == 1 and len(content) > 20_000:
            content = content[: content.rfind(b"\n", 0, 20_000) + 1]
        with _pipe(tmp_path / f"pipe{size}", content, size) as pipe:
            _checked(pipe, known, 1, _expected(kind, content, str(pipe)))


@pytest.mark.parametrize("kind", [kind for kind, row in FORMATS.items() if row.start is not None and kind in CONTENTS])
def test_each_item_is_a_message(kind: str, tmp_path: Path) -> None:
    """Invariant: an item by itself is a file of one message."""
    content = CONTENTS[kind][1]()
    path = tmp_path / "a"
    path.write_bytes(content)
    for item in list(files.filter(path, "", format=kind, errors="skip")):
        path.write_bytes(item)
        again = files.filter(path, "", format="json" if kind == "parquet" else kind)

        assert list(again) == [item]
        assert again.seen == 1


def test_raising_counts_what_was_given(tmp_path: Path) -> None:
    """Behind the first error, which is raised, the counts are those of what was given before it."""
    path = tmp_path / "a"
    for name, (kind, make) in CONTENTS.items():
        path.write_bytes(make())
        for jobs in (1, 2):
            found = files.filter(path, SELECTOR, format=kind, jobs=jobs)
            items = []
            with suppress(FileError):
                items += found
            assert found.selected == len(items), name
            assert len(items) <= found.seen


def test_rows_that_break_off(tmp_path: Path) -> None:
    """Of a row group whose later rows cannot be written as much is counted as was given."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a"
    bad = pa.array([b"x"] * 9000 + [b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"n": range(9001), "text": bad}), path, use_dictionary=False)
    found = files.filter(path, "n >= 0", errors="skip")

    assert len(list(found)) == found.selected
    assert 0 < found.selected < 9001
    assert re.search("cannot be read", str(found.problems[0]))


def test_random_files(tmp_path: Path) -> None:
    """Invariant: whatever is cut out of a file, doubled or put elsewhere, items are messages."""
    rng = random.Random(24)
    path = tmp_path / "a"
    for _ in range(150):
        kind, make = CONTENTS[rng.choice([name for name in CONTENTS if FORMATS[CONTENTS[name][0]].split is not None])]
        content = make()
        start, stop = sorted(rng.randrange(len(content)) for _ in range(2))
        content = content[start:stop] * rng.randrange(1, 3) + rng.choice((b"", content))
        path.write_bytes(content)
        with suppress(FileError):
            _checked(path, kind, 1, _expected(kind, content, str(path)))
