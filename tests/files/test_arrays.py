"""Files that are arrays of JSON: their elements are lines, whatever the pieces; what follows them is not lost."""

from __future__ import annotations

import io
import itertools
import json
import random
from pathlib import Path

import pytest
from splitters import Drip

from mqsel import cli
from mqsel.files.arrays import _elements

EVENT = {"eventSource": "aws:mq", "a": {"b": 1}, "messages": [{"n": 1}, {"n": 2}]}


def _lines(text: str, size: int = 1 << 16) -> list[str]:
    stream = io.BufferedReader(Drip(text.encode(), itertools.repeat(size)))
    return b"".join(_elements(stream)).decode().split("\n")


@pytest.mark.parametrize("indent", [None, 0, 3])
def test_elements_are_lines(indent: int | None) -> None:
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
