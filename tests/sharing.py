"""Runs that are shared among processes in parts so small that the files of tests have many."""

from __future__ import annotations

from pathlib import Path

import mqsel
from mqsel.files.run import Filtered
from mqsel.files.run.work import Ask, Sharing


def filtered(
    paths: Path | list[Path], selector: str, part_size: int, *, jobs: int, kind: str | None = None, errors: str = "skip"
) -> Filtered:
    """Do what `mqsel.files.filter` does, in parts of *part_size* bytes."""
    ask = Ask(raising=errors == "raise", format=kind or "json", apart=True, sharing=Sharing(part_size))
    names = [str(path) for path in (paths if isinstance(paths, list) else [paths])]
    return Filtered(names, mqsel.compile(selector), ask, kind, jobs)
