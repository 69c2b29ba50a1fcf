"""What other versions wrote, read by the code of today: with the answers of its day, or refused by name.

`tests/written` has a file for each version, by `tests/written/write.py` of that day; none is ever written again.
0.2.0-2 is what the sources between 0.2.0 and 0.3.0 wrote: programs of format 2. 0.3.0-3 and 0.3.0-4 are what those
after 0.3.0 wrote: sets whose segments are of versions 3 and 4.
"""

from __future__ import annotations

import base64
import json
import pickle
import random
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from strategies import JMS_PRESETS

import mqsel
from mqsel.errors import FileError, ProgramError
from mqsel.language.dialect import IBM_MQ, Dialect
from mqsel.machine.program import FORMAT_VERSION, VERSION, Program
from mqsel.sets.set import _unpickled

_WRITTEN = sorted((Path(__file__).parent / "written").glob("*.jsonl"))


def _read(kind: str, data: list[bytes], path: Path) -> Any:
    if kind == "program":
        return mqsel.Matcher(Program.from_bytes(data[0]))
    if kind == "pickle":
        return pickle.loads(data[0], buffers=data[1:])
    path.write_bytes(data[0])
    return mqsel.SelectorSet.open(path)


def _answers(held: Any, messages: list[Any]) -> list[Any]:
    if isinstance(held, mqsel.Matcher):
        return [held.evaluate(message).name for message in messages]
    return [sorted(held.match(message), key=repr) for message in messages]


@pytest.mark.parametrize("path", _WRITTEN, ids=lambda path: path.stem)
def test_what_was_written_is_read_or_refused(path: Path, tmp_path: Path) -> None:
    """Each thing answers as it did, or is refused in one error that says which version wrote it, and what to do."""
    about, *lines = map(json.loads, path.read_text("utf-8").splitlines())
    refused = 0
    for line in lines:
        data = [base64.b64decode(one) for one in line["data"]]
        try:
            held = _read(line["kind"], data, tmp_path / "set")
        except (ProgramError, FileError) as error:
            refused += 1
            assert f"'{about['version']}'" in error.message or f"format {about['format']}" in error.message, line[
                "name"
            ]
            assert error.hint, line["name"]
            continue

        assert line["answers"] == _answers(held, about["messages"]), line["name"]
        again = pickle.loads(pickle.dumps(held))
        assert line["answers"] == _answers(again, about["messages"]), line["name"]
    # What is of the format of today is read; all else was of versions that were not released, and is refused.
    assert refused == (0 if about["format"] == FORMAT_VERSION else len(lines))


def test_every_version_is_kept() -> None:
    """There is a file of each version since 0.2.0, with its format of programs, and it has things of every kind."""
    formats = {}
    for path in _WRITTEN:
        about, *lines = map(json.loads, path.read_text("utf-8").splitlines())
        formats[path.stem] = about["format"]

        assert about["version"] == path.stem.partition("-")[0]
        assert {line["kind"] for line in lines} == {"program", "pickle", "file"}
        assert len(lines) > 60

    assert formats == {"0.2.0": 1, "0.2.0-2": 2, "0.3.0": 3, "0.3.0-3": 3, "0.3.0-4": 3, VERSION: FORMAT_VERSION}


@pytest.mark.parametrize("dialect", [*JMS_PRESETS.values(), IBM_MQ.replace(headers="any", max_length=77)], ids=repr)
def test_a_program_with_other_dialect_bytes_is_refused(dialect: Dialect) -> None:
    """One byte more or less for the dialect, of any value and at any place, is a ProgramError, not another program."""
    for selector in ("a = 1", "a LIKE '%x_y%' AND b > 2.5 OR c IN ('d', 'e')", "", "n" * 70 + " = 'x'"):
        body = mqsel.compile(selector, dialect=dialect).program.to_bytes()[:-4]
        begin = body.index(VERSION.encode()) + len(VERSION)
        preset, changes = dialect.departures()
        end = begin + 2 + len(preset) + sum(2 + len(name) + len(str(choice)) for name, choice in changes.items())
        others = [body[:place] + body[place + 1 :] for place in range(begin, end)]
        others += [
            body[:place] + bytes([value]) + body[place:]
            for place in range(begin, end)
            for value in (0, 1, 2, 3, 0x2D, 0x39, 0x7F, 0x80)
        ]
        read = set()
        for other in others:
            with suppress(ProgramError):
                read.add(Program.from_bytes(other + zlib.crc32(other).to_bytes(4, "little")).dialect)
        assert read <= {dialect}  # a number has more than one way to be written


def test_a_dialect_of_another_version_is_named() -> None:
    """A preset, a field or a choice that is not known here is refused: by whom it was written, and the remedy."""
    right = mqsel.compile("a = 1", dialect=IBM_MQ.replace(headers="any")).program.to_bytes()[:-4]
    for known, unknown in ((b"IBM_MQ", b"IBM_M9"), (b"headers", b"footers"), (b"any", b"all")):
        other = right.replace(known, unknown).replace(VERSION.encode(), b"9.9.9")
        with pytest.raises(
            ProgramError, match=r"written by mqsel '9\.9\.9' for a dialect that mqsel .* does not know"
        ) as caught:
            Program.from_bytes(other + zlib.crc32(other).to_bytes(4, "little"))
        assert unknown.decode() in caught.value.message
        assert "one version" in caught.value.hint
    header, keys, parts = mqsel.SelectorSet({1: "a = 1"})._parts()
    with pytest.raises(ProgramError, match=r"written by mqsel '9\.9\.9' for a dialect .*: there is no dialect 'X'"):
        _unpickled(mqsel.SelectorSet, {**header, "version": "9.9.9", "dialect": ("X", {})}, keys, parts)


def test_a_damaged_set_is_refused_or_answers(tmp_path: Path) -> None:
    """Whatever word of its segment is changed, a set finds keys that it has, or raises one error of ours."""
    about, *lines = map(json.loads, (_WRITTEN[0].parent / f"{VERSION}.jsonl").read_text("utf-8").splitlines())
    (line,) = [line for line in lines if line["kind"] == "file" and "many" in line["name"]]
    whole = base64.b64decode(line["data"][0])
    keys = set(_read("file", [whole], tmp_path / "set"))
    rng = random.Random(3)
    refused = 0
    for _ in range(600):
        broken = bytearray(whole)
        at = rng.randrange(whole.index(b"mqselset") + 336, len(whole) - 4) & ~3
        word = rng.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, rng.getrandbits(32), rng.randrange(300)))
        broken[at : at + 4] = word.to_bytes(4, "little")
        try:
            held = _read("file", [bytes(broken)], tmp_path / "set")
            assert all(set(held.match(message)) <= keys for message in about["messages"])
        except (ProgramError, FileError) as error:
            refused += 1
            assert error.hint
    assert 0 < refused < 600
