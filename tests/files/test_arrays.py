"""Files that are arrays of JSON: their elements are lines, whatever the pieces; what follows them is not lost."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import random
from pathlib import Path

import pytest
from splitters import Drip

from mqsel import cli
from mqsel.files.arrays import _lines as _lines_of

EVENT = {"eventSource": "aws:mq", "a": {"b": 1}, "messages": [{"n": 1}, {"n": 2}]}


def _lines(text: str, size: int = 1 << 16) -> list[str]:
    stream = io.BufferedReader(Drip(text.encode(), itertools.repeat(size)))
    return b"".join(_lines_of(stream)).decode().split("\n")


@pytest.mark.parametrize("indent", [None, 0, 3])
def test_lines_of_are_lines(indent: int | None) -> None:
    """Invariant: the lines of an array are its elements, in whatever pieces and however blank it is written."""
    rng = random.Random(7)
    values = ["", 'a"\\', "[{]},", None, 1.5, [], {}, [{"x": [1, "]"]}]]
    for count in range(12):
        array = [{"n": n, "v": rng.choice(values), 'k"': {"w": rng.choice(values)}} for n in range(count)]
        for size in (1, 2, 7, 1 << 16):
            *lines, end = _lines(json.dumps(array, indent=indent), size)
            assert [json.loads(line) for line in lines if line] == array
            assert end == ""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("[]", ["", ""]),
        ("[ \n]\n", ["", "", ""]),
        ("[,]", [",", ",", ""]),
        ('[{"n":1},]', ['{"n":1}', ",", ""]),
        ('[{"n":1},,{"n":2}]', ['{"n":1}', ",", '{"n":2}', ""]),
        ('[,{"n":1}]', [",", '{"n":1}', ""]),
        ("[,,,,", None),
        ('[{"n":1}]\n{"n": [2]}\n[{"n":3}]', ['{"n":1}', "", '{"n": [2]}', '{"n":3}', ""]),
        ("[{}] {", None),
        ("[{}", None),
    ],
)
def test_what_is_missing_and_what_follows(text: str, lines: list[str] | None) -> None:
    """A missing element is a line that is reported; what follows an array is as it was; a missing end raises."""
    for size in (1, 3, 1 << 16):
        if lines is None:
            with pytest.raises(EOFError, match="within an array"):
                _lines(text, size)
        else:
            assert _lines(text, size) == lines


def test_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each event is its messages; one without any array is reported."""
    text = json.dumps(EVENT)
    assert _lines(f"{text}\n{text}") == ['{"n":1}', '{"n":2}', "", '{"n":1}', '{"n":2}', ""]
    for size in (1, 5):
        assert _lines(f'{text}\n{{"n": 5}}\n', size)[3:] == [",", "", ""]
    file = tmp_path / "a"
    file.write_text(f'{text}\n{{"n": 5}}\n')
    cli.main(["match", "--format", "json", "n > 1", str(file)])
    out, err = capsys.readouterr()
    assert out == '{"n":2}\n'
    assert "broken JSON: expecting value" in err
    assert "3 messages, 1 selected" in err


def test_an_empty_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An array of nothing has no messages, and nothing is wrong with it."""
    file = tmp_path / "a"
    for text in ("[]", "\ufeff[\n]\n"):
        file.write_text(text)
        assert cli.main(["match", "n > 1", str(file)]) == 1
        out, err = capsys.readouterr()
        assert not out
        assert err.startswith("0 messages, 0 selected")


PRETTY = json.dumps(EVENT["a"] | {"c": [1, {"d": None}], "e": 'x"{\n'}, indent=2)


@pytest.mark.parametrize(
    "text",
    [
        PRETTY,
        PRETTY.replace("\n", "\r\n"),
        "\ufeff" + PRETTY,
        " " * 9000 + PRETTY,
        PRETTY.replace("{", "{\n" * 1 + "\n" * 9000, 1),
        '{"b": 1, "c": [1, {"d": null}],\n"e": "x\\"{\\n"}',
        '{"b": 1\n, "c": [1, {"d": null}], "e": "x\\"{\\n"}',
        '{"b":\n1, "c": [1, {"d": null}], "e": "x\\"{\\n"}',
        '{"c": [\n1, {"d": null}], "b": 1, "e": "x\\"{\\n"}',
    ],
)
def test_objects_over_several_lines(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of JSON objects over several lines has a message for each of them, packed, from a pipe or alone."""
    file = tmp_path / "a"
    for count in (1, 3):
        file.write_text("\n".join([text] * count), encoding="utf-8")
        cli.main(["match", "b = 1", str(file)])
        out, err = capsys.readouterr()
        assert [json.loads(line.lstrip("\ufeff")) for line in out.splitlines()] == [json.loads(PRETTY)] * count
        assert f"{count} message{'s' * (count > 1)}, {count} selected" in err
        assert " 0 skipped" in err
    assert cli.main(["explain", "b = 1", f"{file}:2"]) == 0


@pytest.mark.parametrize("size", [1, 2, 7, 1 << 16])
def test_objects_in_pieces(size: int) -> None:
    """Each object is a line in whatever pieces it comes; what is no object stays a line, and a missing end raises."""
    drip = io.BufferedReader(Drip(f"{PRETTY}{PRETTY}\n,x y\n{PRETTY}".encode(), itertools.repeat(size)))
    found = b"".join(_lines_of(drip, has_objects=True)).split(b"\n")
    whole = json.dumps(json.loads(PRETTY), separators=(",", ":")).encode()
    assert found == [whole, whole, b",x y", whole, b""]
    drip = io.BufferedReader(Drip(PRETTY[:-2].encode(), itertools.repeat(size)))
    with pytest.raises(EOFError, match="within an object"):
        list(_lines_of(drip, has_objects=True))


def test_lines_stay_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A first line that was cut off, in front of lines of JSON, is that line alone."""
    file = tmp_path / "a"
    for first in ('{"a": 1, "b', '{"a": 1,', '{"a": {', '{"a": 1}', "{}", "{", '{"a": ', '{"a": ['):
        file.write_text(f'{first}\n{{"n": 1}}\n{{"n": 2}}\n')
        cli.main(["match", "n > 0", str(file)])
        assert capsys.readouterr().out == '{"n": 1}\n{"n": 2}\n', first


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ('[null, {"n": 1}]', 1),
        ('[1, true, "a", {"n": 1}]', 3),
        ('[[], {"n": 1}]', 1),
        (" " * 9000 + '[{"n": 1}]', 0),
        ("[" + "\n" * 9000 + '{"n": 1}]', 0),
        ("\n" * 70000 + '[{"n": 1}]', 0),
        ("\n" * 70000 + '{"n": 1}', 0),
    ],
)
def test_what_is_before_the_first_object(
    text: str, skipped: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blanks hide no array; an element that is no object is one broken message of it."""
    file = tmp_path / "a"
    for data in (text.encode(), gzip.compress(text.encode())):
        file.write_bytes(data)
        assert cli.main(["match", "n = 1", str(file)]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out) == {"n": 1}
        assert f" {skipped} skipped" in err
        assert "looks like" not in err
