"""The files that paths stand for, as ripgrep finds them: ignore files respected, nothing hidden, no links followed."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from mqsel.arguments import iterated
from mqsel.columns.wordings import package_missing
from mqsel.files.opening import name_of

_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")


class Place(NamedTuple):
    """A file to read.

    Attributes:
        path: The path, as mqsel shows it.
        is_named: Whether you named the file; otherwise it was found in a folder.
    """

    path: str
    is_named: bool


def files_of(paths: Iterable[str]) -> Iterator[Place]:
    """Yield the files of paths, each once.

    If you name a file that is also in a folder, it counts as named.

    Args:
        paths: Files, folders, patterns, and "-" for stdin.

    Raises: MqselError: if there is a folder and the package pathspec is not installed.
    """
    expanded = [*chain.from_iterable(map(_expanded, map(name_of, iterated(paths, "paths"))))]
    if len(expanded) == 1:  # nothing that is walked is met twice
        yield from _places(expanded[0])
        return
    named = {_identity(path) for path in expanded if not _is_folder(path)}
    met = set()
    for place in chain.from_iterable(map(_places, expanded)):
        identity = _identity(place.path)
        if identity not in met:
            met.add(identity)
            yield Place(place.path, place.is_named or identity in named)


def _expanded(path: str) -> list[str]:
    """Return the paths that a pattern stands for; of what is none, itself."""
    if path == "-" or not glob.has_magic(path) or os.path.lexists(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]  # noqa: PTH207 (a Path takes no absolute pattern)


def _is_folder(path: str) -> bool:
    return path != "-" and os.path.isdir(path)  # noqa: PTH112 (that of a Path raises where a name is too long)


def _places(path: str) -> Iterator[Place]:
    if _is_folder(path):
        yield from _walked(path, _above(path))
    else:
        yield Place(path, True)


def _identity(path: str) -> str:
    """Return what the names of one file have in common, through links and folders."""
    try:
        return path if path == "-" or "://" in path else os.path.realpath(path)
    except (OSError, ValueError):  # a NUL: reading it says why
        return path


_Rules = list[tuple[str, Any]]


def _walked(folder: str, rules: _Rules) -> Iterator[Place]:
    """Yield the files under a folder, by name."""
    waiting = [(folder, rules)]
    while waiting:
        folder, rules = waiting.pop()
        try:
            with os.scandir(folder) as listed:
                inside = sorted(listed, key=lambda one: one.name)
        except OSError:
            yield Place(folder, True)  # reading it says why
            continue
        names = {one.name for one in inside}
        rules = [*rules, *[row for name in _IGNORE_FILES if name in names for row in _rules_of(folder, name)]]
        folders = []
        for one in inside:
            if one.name.startswith(".") or one.is_symlink():
                continue
            is_folder = one.is_dir(follow_symlinks=False)
            if rules and _is_ignored(one.path, rules, is_folder):
                continue
            if is_folder:
                folders.append((one.path, rules))
            elif one.is_file(follow_symlinks=False):
                yield Place(one.path, False)
        waiting += reversed(folders)


def _rules_of(folder: str, name: str) -> _Rules:
    try:
        from pathspec import GitIgnoreSpec  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise package_missing("a folder with an ignore file", "pathspec", "inventory") from error
    try:
        lines = Path(folder, name).read_text(encoding="utf-8", errors="replace").splitlines()
        return [(os.path.abspath(folder), GitIgnoreSpec.from_lines(lines))]  # noqa: PTH100
    except (OSError, ValueError):  # a pattern that git would not take either
        return []


def _is_ignored(path: str, rules: _Rules, is_folder: bool) -> bool:
    """Report whether the last rule that speaks of a path ignores it."""
    whole = os.path.abspath(path)  # noqa: PTH100
    for base, spec in reversed(rules):
        said = spec.check_file(os.path.relpath(whole, base) + "/" * is_folder).include
        if said is not None:
            return bool(said)
    return False


def _above(folder: str) -> _Rules:
    """Return the rules of the folders above, up to the one that has the repository."""
    found: _Rules = []
    at = Path(folder).absolute()
    for parent in [at, *at.parents]:
        if parent != at:
            found = [
                *[row for name in _IGNORE_FILES if (parent / name).is_file() for row in _rules_of(str(parent), name)],
                *found,
            ]
        if (parent / ".git").exists():
            exclude = parent / ".git" / "info"
            rows = _rules_of(str(exclude), "exclude") if (exclude / "exclude").is_file() else []
            return [*[(str(parent), spec) for _, spec in rows], *found]
    return []
