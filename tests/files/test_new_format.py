"""A format is a decoder and a row of each table: what a file of it needs, and nothing else, is here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Run

from mqsel import files, formats
from mqsel.errors import PropertyTypeError
from mqsel.files import framings
from mqsel.formats import Decoder, Inspection, MessageFormat, Note, Row


def _pairs(message: bytes) -> dict[str, int]:
    pairs = [pair.partition("=") for pair in message.decode().split()]
    if not all(sign and value.isdecimal() for _, sign, value in pairs):
        raise PropertyTypeError("found no pairs: expected NAME=NUMBER")
    return {name: int(value) for name, _, value in pairs if name != "odd"}


class PairsDecoder(Decoder):
    """Reads ``a=1 b=2``."""

    def __call__(self, message: bytes) -> dict[str, int]:
        return _pairs(message)


def _inspect(message: bytes, _types: Mapping[str, str]) -> Inspection:
    notes = (Note("", -1, "odd", None, "skipped"),) if b"odd" in message else ()
    return Inspection([Row(name, "int64", value, "pair", -1) for name, value in _pairs(message).items()], notes, ())


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The file; the two rows."""
    row = MessageFormat(lambda names, **_: PairsDecoder(names), (), _inspect)
    monkeypatch.setitem(formats.FORMATS, "pairs", row)
    monkeypatch.setitem(framings.FORMATS, "pairs", framings.FileFormat("pairs", "pairs", ending=".pairs"))
    file = tmp_path / "a.pairs"
    file.write_text("a=1 b=2\n\na=2 odd=1\nbroken\na=1\n", encoding="utf-8")
    return str(file)


def test_a_format_is_a_decoder_and_two_rows(path: str, tmp_path: Path, run: Run) -> None:
    """All commands read a format that only this test knows: they count, complain and inspect as with any other."""
    found = files.filter(path, "a = 1", format="pairs", errors="skip")
    assert [*found] == [b"a=1 b=2\n", b"a=1\n"]
    assert (found.seen, found.selected, found.skipped) == (4, 2, 1)
    assert str(found.problems[0]).startswith("found no pairs: expected NAME=NUMBER")

    status, out, err = run("match", "--format", "pairs", "--count", "b > 1", path)
    assert (status, out) == (0, "1\n")
    assert err.splitlines()[0] == f"mqsel: {path}:4: found no pairs: expected NAME=NUMBER"
    assert "4 messages, 1 selected, 2 unknown because of a missing property, 1 skipped" in err
    assert "missing: b 2" in err

    status, out, _ = run("why", "--json", "--format", "pairs", "b > 1", path)
    assert (status, json.loads(out)["messages"]) == (0, 3)

    (tmp_path / "keys").write_text("one\ta = 1\ntwo\ta = 2\n", encoding="utf-8")
    assert run("route", "--format", "pairs", "--into", str(tmp_path / "into"), str(tmp_path / "keys"), path)[0] == 0
    assert (tmp_path / "into" / "two.pairs").read_bytes() == b"a=2 odd=1\n"

    status, out, _ = run("inspect", "--format", "pairs", path)
    assert status == 1
    assert "int64  2      pair" in out
    assert "odd  skipped" in out
