"""Files of selectors, each with a key: lines, a JSON object or array, Parquet; packed or not.

The first bytes show which it is. Compiles nothing: a selector may be invalid.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from mqsel.carets import shortened
from mqsel.errors import FileError
from mqsel.files import parquet
from mqsel.files.opening import MAX_SIZE, check_size, name_of, opened, readable_anywhere
from mqsel.files.wordings import bad_line, file_trouble

_ROWS = 1 << 14  # of Parquet, read at once
_COLUMNS = ("key", "selector")
_JSON_NAMES = {dict: "an object", list: "an array", bool: "a boolean", type(None): "null"}


class Keyed(NamedTuple):
    """A selector of a file.

    Attributes:
        key: what it is called, an int only in a column of integers; of the elements of an array, their number, from 1.
        selector: the text, which may be invalid.
        place: what stands before a complaint: ``line 3``, or ``row 3``; empty in JSON, where the key says it.
    """

    key: str | int
    selector: str
    place: str


def selectors(path: str | os.PathLike[str]) -> Iterator[Keyed]:
    """Read the selectors of a file, in its order.

    Args:
        path: lines, each a key, a tab and a selector, blank ones being skipped; a JSON object of keys and selectors, or
            an array of selectors; or Parquet with columns ``key``, texts or integers, and ``selector``, texts. "-" is
            stdin.

    Raises: FileError: the file cannot be read, is none of these, or has a key twice. MqselError: pyarrow is missing.
    """
    name = name_of(path)
    with opened(path, lambda start: len(start.strip()) >= len(parquet.MAGIC)) as (_, content):
        start = content.peek(4)
        if start.startswith(parquet.MAGIC):
            found = _of_parquet(name, content)
        elif start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
            data = content.read(MAX_SIZE + 1)
            check_size(len(data), MAX_SIZE, name)
            found = _of_json(name, data)
        else:
            found = _of_lines(name, iter(lambda: content.readline(MAX_SIZE + 1), b""))
        places: dict[str | int, str] = {}
        for one in found:
            if one.key in places:
                before = f", and in {places[one.key]}" if one.place else ""
                raise file_trouble(name, f"the key {shortened(one.key)} is in it twice: in {one.place}{before}")
            places[one.key] = one.place
            yield one


def read_selectors(path: str | os.PathLike[str]) -> dict[str | int, str]:
    """Read the selectors of a file by key.

    Args, Raises: those of `selectors`.
    """
    return {one.key: one.selector for one in selectors(path)}


def _of_lines(name: str, lines: Iterable[bytes]) -> Iterator[Keyed]:
    for number, line in enumerate(lines, 1):
        check_size(len(line), MAX_SIZE, name)
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise bad_line(name, number, f"byte {error.start + 1} is invalid in UTF-8") from error
        if not text.strip():
            continue
        key, tab, selector = text.partition("\t")
        if not tab or not key:
            raise FileError(
                f"found {shortened(text)}: expected a key, a tab and a selector",
                path=name,
                line=number,
                hint="selectors without keys are read from a JSON array",
            )
        yield Keyed(key, selector, f"line {number}")


def _of_json(name: str, data: bytes) -> Iterator[Keyed]:
    try:
        found = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_Pairs)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise bad_line(name, line, f"byte {error.start + 1} of the file is invalid in UTF-8") from error
    except json.JSONDecodeError as error:
        raise bad_line(name, error.lineno, f"broken JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise file_trouble(name, "JSON with a number or a nesting that is too large to read") from error
    pairs = found if isinstance(found, _Pairs) else [(str(number), one) for number, one in enumerate(found, 1)]
    keys = set()
    for key, selector in pairs:
        if type(selector) is not str:
            what = "an object" if isinstance(selector, _Pairs) else _JSON_NAMES.get(type(selector), "a number")
            raise file_trouble(name, f"the selector of {shortened(key)} is {what}: expected a string")
        if key in keys:
            raise file_trouble(name, f"the key {shortened(key)} is in it twice")
        keys.add(key)
        yield Keyed(key, selector, "")


class _Pairs(list[tuple[str, Any]]):
    """A JSON object that keeps what has one key."""


def _of_parquet(name: str, content: IO[bytes]) -> Iterator[Keyed]:
    with readable_anywhere(name, iter(lambda: content.read(1 << 20), b"")) as path, parquet.opened(path) as file:
        missing = [one for one in _COLUMNS if one not in file.schema_arrow.names]
        if missing:
            raise file_trouble(name, f"it has no column {missing[0]}: expected columns key and selector")
        number = 0
        with parquet.trouble_of(name):
            for batch in file.iter_batches(_ROWS, columns=[*_COLUMNS]):
                keys, texts = [batch.column(one).to_pylist() for one in _COLUMNS]
                for key, text in zip(keys, texts, strict=True):
                    number += 1
                    if type(key) not in (str, int):
                        raise file_trouble(
                            name, f"the key of row {number} is {shortened(key)}: expected a text or an integer"
                        )
                    if type(text) is not str:
                        raise file_trouble(name, f"the selector of row {number} is {shortened(text)}: expected a text")
                    yield Keyed(key, text, f"row {number}")
