"""Files of selectors by key: lines of text, a JSON object, or Parquet; packed or not.

What a file is, is told by its first bytes. Reads texts, whether they are selectors others say. Knows no dialect.
"""

from __future__ import annotations

import json
import os
from typing import Any

from mqsel.errors import FileError, shortened
from mqsel.files import parquet
from mqsel.files.opening import opened
from mqsel.files.wordings import bad_line

_FORMS = "lines of key, tab, selector; a JSON object of selectors by key; or Parquet with the columns key and selector"


def read_selectors(path: str | os.PathLike[str]) -> dict[Any, str]:
    """Read a file of selectors.

    Lines of text have a key, a tab and the selector; blank lines, and lines that begin with ``#``, are skipped. What
    begins with ``{`` is a JSON object of texts by key. Parquet has the columns ``key``, of strings or integers, and
    ``selector``, of strings.

    Args:
        path: the file; "-" is stdin.

    Returns: the selectors by key, in the order of the file. Keys are str, those of a column of integers int.

    Raises: FileError: it cannot be read, is none of these, or has a key twice.
    """
    name = os.fspath(path)
    with opened(name) as (_, content):
        start = content.peek(4)[:4]
        if start == b"PAR1":
            return _of_rows(name)
        data = content.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError("no text in UTF-8", path=name, offset=error.start, hint=f"expected {_FORMS}") from error
    return _of_object(name, text) if text.lstrip()[:1] == "{" else _of_lines(name, text)


def _of_lines(path: str, text: str) -> dict[Any, str]:
    found: dict[Any, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        kept = line.removesuffix("\r")
        if not kept.strip() or kept.startswith("#"):
            continue
        key, tab, selector = kept.partition("\t")
        if not tab:
            raise FileError(f"no tab in {shortened(kept)}", path=path, line=number, hint=f"expected {_FORMS}")
        if key in found:
            raise bad_line(path, number, f"the key {shortened(key)} stands twice")
        found[key] = selector
    return found


def _of_object(path: str, text: str) -> dict[Any, str]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for number, key in enumerate(keys) if key in keys[:number])
            raise FileError(f"the key {shortened(twice)} stands twice", path=path)
        return made

    try:
        found = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise FileError(f"no JSON: {error.msg}", path=path, line=error.lineno, hint=f"expected {_FORMS}") from error
    except RecursionError as error:
        raise FileError(
            "no JSON object of texts: it is nested too deep", path=path, hint=f"expected {_FORMS}"
        ) from error
    for key, selector in found.items():
        if not isinstance(selector, str):
            raise FileError(f"the selector of {shortened(key)} is {shortened(selector)}: expected a text", path=path)
    return found  # type: ignore[no-any-return]


def _of_rows(path: str) -> dict[Any, str]:
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

    with parquet.opened(path) as file:
        names = file.schema_arrow.names
        if not {"key", "selector"} <= set(names):
            found = shortened(", ".join(names))
            raise FileError(f"the columns are {found}: expected key and selector", path=path)
        rows = file.read(columns=["key", "selector"])
    key, selector = rows.column("key"), rows.column("selector")
    if not (_is_text(pa, key.type) or pa.types.is_integer(key.type)) or not _is_text(pa, selector.type):
        said = f"key is {key.type}, selector {selector.type}"
        raise FileError(f"{said}: expected strings or integers, and strings", path=path)
    made: dict[Any, str] = {}
    for one, text in zip(key.to_pylist(), selector.to_pylist(), strict=True):
        if one is None or text is None:
            raise FileError("a key is NULL" if one is None else f"the selector of {shortened(one)} is NULL", path=path)
        if one in made:
            raise FileError(f"the key {shortened(one)} stands twice", path=path)
        made[one] = text
    return made


def _is_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
