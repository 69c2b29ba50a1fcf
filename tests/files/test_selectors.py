"""Files of selectors are read alike in every form, and what is none is one clear error."""

from __future__ import annotations

import gzip
import json

import pytest

import mqsel
from mqsel.files.selectors import Keyed, selectors

PAIRS = [("a", "color = 'blue'"), ("b", "name = 'Zoë'"), ("c d", "x = 1\tAND y = 2")]


def lines(pairs=PAIRS, end="\n"):
    return "".join(f"{key}\t{text}{end}" for key, text in pairs).encode()


@pytest.mark.parametrize(
    "data",
    [
        lines(),
        lines(end="\r\n"),
        b"\xef\xbb\xbf" + lines(),
        lines().rstrip(b"\n"),
        lines().replace(b"\n", b"\n\n \n"),
        lines().decode().encode("utf-16"),
        gzip.compress(lines(), mtime=0),
        json.dumps(dict(PAIRS)).encode(),
        b"\xef\xbb\xbf \n" + json.dumps(dict(PAIRS), ensure_ascii=False, indent=1).encode(),
        gzip.compress(json.dumps(dict(PAIRS)).encode(), mtime=0),
    ],
)
def test_lines_and_json(tmp_path, data):
    """Keys and texts are the same, whatever the form, the packing and the ends of lines."""
    file = tmp_path / "a"
    file.write_bytes(data)
    assert [(one.key, one.selector) for one in selectors(file)] == PAIRS
    assert [*selectors(str(file))] == [*selectors(file)]


def test_array(tmp_path):
    """The selectors of an array have their numbers for keys."""
    file = tmp_path / "a.json"
    file.write_text('["x = 1", "x = 1"]', encoding="utf-8")
    assert [*selectors(file)] == [Keyed("1", "x = 1", ""), Keyed("2", "x = 1", "")]


@pytest.mark.parametrize("is_dictionary", [False, True])
def test_parquet(tmp_path, is_dictionary):
    """The columns key and selector, of whatever kind of text, in any order and among others."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    keys = pa.array([key for key, _ in PAIRS])
    keys = keys.dictionary_encode() if is_dictionary else keys
    texts = pa.array([text for _, text in PAIRS], pa.large_string())
    columns = {
        "selector": texts,
        "other": pa.array([1, 2, 3]),
        "key": keys.dictionary_encode() if is_dictionary else keys,
    }
    pq.write_table(pa.table(columns), tmp_path / "a")
    assert [(one.key, one.selector) for one in selectors(tmp_path / "a")] == PAIRS
    assert [one.place for one in selectors(tmp_path / "a")] == ["row 1", "row 2", "row 3"]


def test_faults_of_parquet(tmp_path):
    """A missing column, a NULL and a number each say which."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for columns, words in (
        ({"key": ["a"]}, "it has no column selector"),
        ({"key": ["a", None], "selector": ["x", "y"]}, "the key of row 2 is None: expected a text"),
        ({"key": ["a"], "selector": [5]}, "the selector of row 1 is 5: expected a text"),
        ({"key": ["a", "a"], "selector": ["x", "y"]}, "the key 'a' is in it twice: in row 2, and in row 1"),
    ):
        pq.write_table(pa.table(columns), tmp_path / "a")
        with pytest.raises(mqsel.FileError, match=words):
            list(selectors(tmp_path / "a"))
    (tmp_path / "a").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(mqsel.FileError):
        list(selectors(tmp_path / "a"))


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"x = 1\n", 1, "found 'x = 1': expected a key, a tab and a selector"),
        (b"a\tx = 1\n\tx = 1\n", 2, "expected a key, a tab and a selector"),
        (b"a\tx = 1\nb\t\xff\n", 2, "byte 3 is invalid in UTF-8"),
        (b"a\tx = 1\na\tx = 2\n", None, "the key 'a' is in it twice: in line 2, and in line 1"),
        (b'{"a": "x = 1", "a": "x = 2"}', None, "the key 'a' is in it twice"),
        (b'{"a": 5}', None, "the selector of 'a' is a number: expected a string"),
        (b'{"a": {"b": "c"}}', None, "the selector of 'a' is an object: expected a string"),
        (b'["x = 1", null]', None, "the selector of '2' is null: expected a string"),
        (b'{"a":\n "x', 2, "broken JSON"),
        (b'{"a":\n "\xff"}', 2, "is invalid in UTF-8"),
        (b"[" * 100_000, None, "too large to read"),
    ],
)
def test_faults(tmp_path, data, line, words):
    """What is wrong is said with its line, where it has one."""
    file = tmp_path / "a"
    file.write_bytes(data)
    with pytest.raises(mqsel.FileError) as raised:
        list(selectors(file))
    assert words in raised.value.message
    assert raised.value.line == line


def test_no_file(tmp_path):
    """A file that is not there is the error that every reader of files gives."""
    with pytest.raises(mqsel.FileError, match="No such file"):
        list(selectors(tmp_path / "none"))
    (tmp_path / "empty").write_bytes(b"")
    assert [*selectors(tmp_path / "empty")] == []
