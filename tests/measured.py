"""The answers of engines that were measured: `vectors/measured/README.md` describes the files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent / "vectors" / "measured"


@cache
def measured_answers(column: str) -> list[tuple[str, str]]:
    """Return the selectors that the engines were asked, each with the letter of the answer in a column."""
    head, *rows = [row.split("\t") for row in (_FOLDER / "engines.tsv").read_text(encoding="utf-8").split("\n")[:-1]]
    at = head.index(column)
    return [(row[0].encode("latin-1", "backslashreplace").decode("unicode_escape"), row[at]) for row in rows]


def client_answers() -> list[dict[str, Any]]:
    """Return the answers of the engine inside IBM's Java client."""
    lines = (_FOLDER / "ibm-client.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]
