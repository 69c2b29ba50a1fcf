"""The baseline of lint: findings that are known already, in a file that a project keeps beside its selectors.

A finding is known by file, rule and selector, and by how many of these there are: lines may move, and a selector be
laid out anew.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

from mqsel.carets import in_one_line, shortened
from mqsel.cli.output import write_file
from mqsel.errors import MqselError, SelectorError
from mqsel.files.configuration import has_folder, relative_to
from mqsel.formats.jsonl import json_text
from mqsel.language.dialect import Dialect
from mqsel.language.format import ONE_LINE, formatted
from mqsel.language.selector import read_selector

_FORMAT = 1
Known = dict[tuple[str, str], Counter[str]]  # for a file and a selector, how many findings each rule has


def known_as(path: str, baseline: str, selector: str, dialect: Dialect) -> tuple[str, str]:
    """Return what a baseline calls a selector.

    Args:
        path: of its file; "-" of stdin, and empty for a selector of the command line.
        baseline: the path of the baseline, to which that of the file is relative.
        selector: the text.
    """
    if has_folder(path):
        path = relative_to(os.path.dirname(os.path.abspath(baseline)), path)  # noqa: PTH100, PTH120
    try:
        return path, formatted(read_selector(selector, dialect), ONE_LINE)
    except SelectorError:
        return path, in_one_line(selector)


def read(path: str) -> Known:
    """Read a baseline.

    Raises: MqselError: the file cannot be read, or is no baseline.
    """
    hint = f"mqsel lint --write-baseline {path} PATH… writes one"
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise MqselError(f"{path}: cannot be read: {error.strerror}", hint=hint) from error
    except (ValueError, RecursionError) as error:
        raise MqselError(f"{path}: this isn't a baseline: broken JSON", hint=hint) from error
    form = found.get("mqsel baseline") if isinstance(found, dict) else None
    if form != _FORMAT:
        what = "this isn't a baseline" if form is None else f"this is a baseline of format {shortened(form)}"
        raise MqselError(f"{path}: {what}: expected format {_FORMAT}", hint=hint)
    try:
        return {
            (file, selector): Counter({rule: int(count) for rule, count in rules.items()})
            for file, selectors in found["files"].items()
            for selector, rules in selectors.items()
        }
    except (KeyError, AttributeError, TypeError, ValueError, OverflowError) as error:
        raise MqselError(f"{path}: this baseline is damaged", hint=hint) from error


def write(path: str, known: Known) -> None:
    """Write a baseline, sorted, so that a change of it is a small one."""
    files: dict[str, dict[str, dict[str, int]]] = {}
    for file, selector in sorted(known):
        files.setdefault(file, {})[selector] = dict(sorted(known[file, selector].items()))
    write_file(path, [json_text({"mqsel baseline": _FORMAT, "files": files}, indent=1, is_ascii=True)])
