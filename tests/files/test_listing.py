"""What `mqsel inspect` prints of each message, by one process and by several."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from fuzz import fuzz_json

from mqsel.errors import PropertyTypeError
from mqsel.files.inspection import Inspect
from mqsel.files.listing import Form
from mqsel.files.run.work import Ask, Complaint, Sharing
from mqsel.formats.jsonl import inspect_json, plain

DUMP = Path(__file__).parents[2] / "bench" / "data" / "dump.qload"
MANY = json.dumps({f"p{number}": number / 8 for number in range(2500)}).encode()
ODD = [
    b'{"it\'s": "don\'t", "a": "' + b"x" * 57 + b'\'", "b": "' + b"x" * 58 + b'", "c": "' + b"x" * 59 + b'"}',
    '{"é": "\\u0007", "n\u00a0": 1.50, "t": {"int8": -0}, "日本": {"float32": 0.1}, "\x7f": "\x7f"}'.encode(),
    b'{"a": {"float64": "NaN"}, "b": NaN, "c": -9223372036854775808, "d": 9223372036854775808, "e": {"string": null}}',
    b'{"a": 1, "a": 2}',
    b'{"\\u0061": "\\ud83d"}',
    b"[]",
]
FORMS = [Form(is_json=True), Form()]


def expected_json(line: bytes) -> dict[str, Any] | None:
    """Return what is printed of a message as JSON; None if it is none."""
    try:
        rows, notes, _ = inspect_json(line)
    except PropertyTypeError:
        return None
    properties = [{"name": row.name, "type": row.type, "value": plain(row.value), "from": "JSON"} for row in rows]
    skipped = [{"what": note.what, "why": note.message} for note in notes]
    return {"message": "", "properties": properties, "skipped": skipped, "structures": []}


def listed(lines: list[bytes], form: Form) -> list[tuple[int, str]]:
    """Print messages as the command does."""
    messages: list[tuple[int, str]] = []
    for record in Inspect(form, Ask()).messages([b"\n".join(lines)]):
        for one in record if isinstance(record, list) else ():
            if isinstance(one, str):
                messages[-1] = (messages[-1][0], messages[-1][1] + one)
            else:
                messages.append(one)
    return messages


def test_json_has_every_property() -> None:
    """As JSON a message has all its properties, with their values exactly, whatever they are and however many."""
    rng = random.Random("listing")
    lines = [*ODD, MANY, MANY[:-1] + b"}", *(line for _ in range(20) for line in fuzz_json.some_lines(rng))]
    lines = [line.replace(b"\n", b" ") for line in lines]
    expected = [(place, expected_json(line)) for place, line in enumerate(lines, 1) if line.strip()]
    messages = [(place, json.loads(f'{{"message": ""{text}')) for place, text in listed(lines, FORMS[0])]

    assert [one for one in expected if one[1] is not None] == messages
    assert len(messages) > 100


def test_tables_have_a_line_for_each_property() -> None:
    """As a table a message has a line for each property, in columns, with what a terminal cannot show escaped."""
    texts = [text for _, text in listed([*ODD, MANY], FORMS[1])]

    assert len(texts[-1].splitlines()) == 2502
    assert texts[1].splitlines() == [
        "",
        "  name  type     value                from",
        "  é     string   '\\u0007'             JSON",
        "  n\xa0    float64  1.5                  JSON",
        "  t     int8     0                    JSON",
        "  日本  float32  0.10000000149011612  JSON",
        "  �     string   '\\u007f'             JSON",
    ]


def test_the_limit_counts_what_cannot_be_read() -> None:
    """With a limit the loop stops behind as many messages, broken ones included."""
    records: list[Any] = [*Inspect(FORMS[0], Ask(reads=2)).messages([b'{"a": 1}\n\nx\n{"b": 2}\n'])]
    assert [type(record) for record in records[:-1]] == [list, Complaint]
    assert (records[-1].messages, records[-1].skipped, records[-1].lines) == (2, 1, 3)


def _lines() -> bytes:
    rng = random.Random("parts")
    lines = [line for _ in range(40) for line in fuzz_json.some_lines(rng)]
    return b"\n".join([*lines[:50], MANY, *lines[50:], *ODD])


def _rows() -> bytes:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table({"n": range(300), "s": [None, "é", "x"] * 100}), file, row_group_size=70)
    return file.getvalue()


@pytest.mark.sample(1, rest="process")
@pytest.mark.parametrize("content", [_lines, DUMP.read_bytes, _rows], ids=["lines", "qload", "parquet"])
def test_several_processes_print_what_one_prints(run_binary: Run, tmp_path: Path, content: Callable[[], bytes]) -> None:
    """With -j N output, complaints and the exit code are those of one process, with a limit, too."""
    path = tmp_path / "messages"
    path.write_bytes(content())
    for more in ([], ["--json", "--limit", "5"]):
        one, two = (
            run_binary("inspect", "-j", jobs, *more, path, path, sharing=Sharing(part_size=900)) for jobs in (1, 2)
        )
        assert one == two
        assert one[1].endswith(b"\n")
