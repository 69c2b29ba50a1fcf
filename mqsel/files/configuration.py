"""The configuration of a project: ``[tool.mqsel]`` of pyproject.toml, or mqsel.toml.

It stands in the current folder or in one above, up to the root of the repository. `KEYS` is what may stand in it.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from mqsel.carets import shortened
from mqsel.columns.wordings import package_missing
from mqsel.errors import MqselError
from mqsel.language.dialect import IBM_MQ, PRESETS, Dialect
from mqsel.names import near_names

_Steps = tuple[str | re.Pattern[str], ...]  # of a pattern of paths: `**/`, `**`, `*`, or what one character matches


class Configuration(NamedTuple):
    """What a project has chosen; without a file, nothing.

    Attributes:
        folder: where the file stands: its paths and patterns are relative to it.
        select: rules of lint; None for all.
        ignore: rules of lint.
        per_file_ignores: for patterns of paths, rules of lint.
        dialect: the name of a preset, for every selector; empty for that of its kind.
        dialects: for patterns of paths, the name of a preset.
        baseline: the path of a file, or empty.
        contract: the same.
    """

    folder: str = ""
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[_Steps, tuple[str, ...]], ...] = ()
    dialect: str = ""
    dialects: tuple[tuple[_Steps, str], ...] = ()
    baseline: str = ""
    contract: str = ""

    @property
    def usual(self) -> Dialect:
        """The dialect of selectors of the command line."""
        return PRESETS[self.dialect] if self.dialect else IBM_MQ

    def dialect_of(self, path: str, other: str) -> str:
        """Return the name of the dialect of a file: of the patterns that match it the last one decides.

        Args:
            path: of the file.
            other: the dialect where the configuration names none.
        """
        found = self._matching(self.dialects, path)
        return found[-1] if found else self.dialect or other

    def ignored(self, path: str) -> set[str]:
        """Return the rules that are ignored in a file, other than everywhere."""
        return {code for codes in self._matching(self.per_file_ignores, path) for code in codes}

    def _matching(self, rows: Sequence[tuple[_Steps, Any]], path: str) -> list[Any]:
        if not rows or not has_folder(path):
            return []
        relative = relative_to(self.folder, path)
        return [value for steps, value in rows if _is_match(steps, relative)]


def has_folder(path: str) -> bool:
    """Report whether a path is one of a file system: neither stdin, nor an address, nor empty."""
    return path not in ("", "-") and "://" not in path


def relative_to(folder: str, path: str) -> str:
    """Return a path as it is from a folder, with slashes; on another drive of Windows the whole path."""
    whole = os.path.abspath(path)
    with suppress(ValueError):
        whole = os.path.relpath(whole, folder)
    return whole.replace(os.sep, "/")


def known(name: str, names: Iterable[str], what: str, otherwise: str) -> str:
    """Return a name if it is one of some.

    Args:
        what: they are.
        otherwise: the hint where none of them is spelt like it.

    Raises: MqselError: it is none.
    """
    names = tuple(names)
    if name in names:
        return name
    near = near_names(name, names)
    raise MqselError(f"there is no {what} {shortened(name)}", hint=f"did you mean {near[0]}?" if near else otherwise)


def known_rules(codes: Iterable[str]) -> tuple[str, ...]:
    """Return codes of rules of lint.

    Raises: MqselError: one of them is none.
    """
    from mqsel.analysis.lint import RULES  # noqa: PLC0415 (for those who name rules)

    names = [rule.code for rule in RULES]
    return tuple(known(code, names, "rule", "mqsel lint --list-rules lists them") for code in codes)


# ---- what may stand in it --------------------------------------------------------------------------------------------


def _text(value: object, _: str) -> str:
    if not isinstance(value, str):
        raise MqselError(f"found {shortened(value)}: expected a text")
    return value


def _rules(value: object, _: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise MqselError(f"found {shortened(value)}: expected a list of rules, such as ['never-true']")
    return known_rules(value)


def _preset(value: object, _: str) -> str:
    name = _text(value, "").upper().replace("-", "_")
    return known(name, PRESETS, "dialect", f"choose {', '.join(PRESETS)}")


def _by_path(read: Callable[[object, str], Any]) -> Callable[[object, str], Any]:
    def of_table(value: object, _: str) -> tuple[tuple[_Steps, Any], ...]:
        if not isinstance(value, dict):
            raise MqselError(f"found {shortened(value)}: expected a table of patterns of paths")
        rows = []
        for text, inside in value.items():
            try:
                rows.append((_pattern(text), read(inside, "")))
            except MqselError as error:
                raise MqselError(f"{shortened(text)}: {error.message}", hint=error.hint) from error
        return tuple(rows)

    return of_table


def _path(value: object, folder: str) -> str:
    return os.path.join(folder, _text(value, ""))


class Key(NamedTuple):
    """A key of the configuration.

    Attributes:
        field: of `Configuration`.
        read: returns what a value of the file, and the folder of the file, are.
        about: what it is, for people.
    """

    field: str
    read: Callable[[object, str], Any]
    about: str


KEYS = {
    "select": Key("select", _rules, "Rules that `lint` reports. Default: all rules"),
    "ignore": Key("ignore", _rules, "Rules that `lint` doesn't report"),
    "per-file-ignores": Key(
        "per_file_ignores", _by_path(_rules), "Patterns of paths, each with the rules that `lint` doesn't report there"
    ),
    "dialect": Key("dialect", _preset, "Dialect of all selectors. Default: the dialect of the file type"),
    "dialects": Key(
        "dialects",
        _by_path(_preset),
        "Patterns of paths, each with its dialect. If several patterns match, the last one decides",
    ),
    "baseline": Key("baseline", _path, "File of known findings, which `lint --write-baseline` wrote"),
    "contract": Key("contract", _path, "File that `mqsel contract` wrote, for the commands that have `--given`"),
}


def _pattern(text: str) -> _Steps:
    """Read a pattern of paths: one without a slash is a name in any folder."""
    plain = text.removeprefix("./").rstrip("/")
    steps: list[str | re.Pattern[str]] = ["**/"] * ("/" not in plain)
    for piece in re.findall(r"\*\*/|\*\*|\*|\?|\[[^]]{1,100}\]|.", plain, re.DOTALL):
        is_range = len(piece) > 1 and piece[0] == "["
        expression = piece.replace("[!", "[^", 1) if is_range else "[^/]" if piece == "?" else re.escape(piece)
        try:
            steps.append(piece if piece[0] == "*" else re.compile(expression))
        except re.error as error:
            raise MqselError(f"no pattern of paths: {error}") from error
    return tuple(steps)


def _is_match(steps: _Steps, path: str) -> bool:
    """Report whether a pattern matches a path, or a folder that the path is in.

    All ways to read the path are followed at the same time: a regular expression would try one after the other, which
    takes a power of the path's length if the pattern has several stars.
    """

    def onward(at: int) -> Iterator[int]:
        """Yield a step and those behind it up to the first that needs a character."""
        yield at
        while at < len(steps) and isinstance(steps[at], str):
            at += 1
            yield at

    places = {*onward(0)}
    for character in path:
        if character == "/" and len(steps) in places:
            return True
        reached: set[int] = set()
        for at in places - {len(steps)}:
            step = steps[at]
            if step == "**/":
                reached.update(onward(at) if character == "/" else [at])
            elif isinstance(step, str):
                reached.update(onward(at) if step == "**" or character != "/" else ())
            elif step.match(character):
                reached.update(onward(at + 1))
        places = reached
    return len(steps) in places


# ---- files -----------------------------------------------------------------------------------------------------------

# Most pyproject.toml have no such table: they are not parsed, which takes as long as many a command.
_MAY_HAVE_ONE = re.compile(
    rb"""tool["']?\s*\.\s*["']?mqsel|^[ \t]*\[\s*["']?tool["']?\s*\]|^[ \t]*["']?tool["']?\s*=""", re.MULTILINE
)


def configured(folder: str = ".") -> Configuration:
    """Return the configuration that holds in a folder.

    Raises: MqselError: its file cannot be read, or has something that it may not have.
    """
    try:
        parent = os.path.abspath(folder)
    except OSError:  # the current folder has been removed
        return Configuration()
    while True:
        for name in ("mqsel.toml", "pyproject.toml"):
            path = os.path.join(parent, name)
            # Those of Path raise where a folder may not be searched.
            if os.path.isfile(path) and (table := _read(path)) is not None:
                return _of_table(path, table)
        above = os.path.dirname(parent)
        if os.path.lexists(os.path.join(parent, ".git")) or above == parent:
            return Configuration()
        parent = above


def _read(path: str) -> object:
    """Return the table of a file; None if it has none."""
    whole = os.path.basename(path) == "mqsel.toml"
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise MqselError(f"{path}: cannot be read: {error.strerror}") from error
    if not whole and not _MAY_HAVE_ONE.search(data):
        return None
    try:
        if sys.version_info >= (3, 11):
            import tomllib  # noqa: PLC0415 (for those who have a configuration)
        else:
            import tomli as tomllib  # noqa: PLC0415
    except ImportError as error:
        raise package_missing(f"the configuration {path}", "tomli", "cli") from error
    try:
        found = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, too
        raise MqselError(f"{path}: this isn't TOML: {error}") from error
    tool = found.get("tool")
    return found if whole else tool.get("mqsel") if isinstance(tool, dict) else None


def _of_table(path: str, table: object) -> Configuration:
    """Read the keys of a table.

    Raises: MqselError: with file and key.
    """
    if not isinstance(table, dict):
        raise MqselError(f"{path}: tool.mqsel is {shortened(table)}: expected a table")
    made: dict[str, Any] = {"folder": os.path.dirname(path)}
    for name, value in table.items():
        try:
            key = KEYS[known(name, KEYS, "key", f"the keys are {', '.join(KEYS)}")]
            made[key.field] = key.read(value, made["folder"])
        except MqselError as error:
            where = f"{name}: " if name in KEYS else ""
            raise MqselError(f"{path}: {where}{error.message}", hint=error.hint) from error
    return Configuration(**made)
