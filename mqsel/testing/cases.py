"""Cases in a file: a selector, a message, and what is wanted; for people who have no test in Python.

A case is a JSON object. Cases are the lines of a file, or the items of one array.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mqsel.errors import ArgumentError, FileError, MqselError, SelectorError, is_a, shortened
from mqsel.files.opening import name_of
from mqsel.files.wordings import fault, file_trouble
from mqsel.formats.jsonl import fault_of_json, json_text, message_from_json
from mqsel.inventory import keys_of, read
from mqsel.language.dialect import PRESETS, Dialect, as_dialect
from mqsel.matcher import compile as compiled

# What is wanted: how it is written, and which answers are that.
WANTED = {
    True: ("TRUE",),
    False: ("FALSE", "UNKNOWN"),
    "TRUE": ("TRUE",),
    "FALSE": ("FALSE",),
    "UNKNOWN": ("UNKNOWN",),
    "refused": ("refused",),
}
_FIELDS = {"name", "selector", "inventory", "key", "dialect", "message", "want"}


class Case(NamedTuple):
    """A selector, a message and what is wanted.

    Attributes:
        name: of the case, or its place.
        selector: the text.
        dialect: of the text.
        message: a JSON object, as a text: what a line of a file of messages is.
        want: a key of `WANTED`.
        file: in which the case stands.
        number: its line in the file, or its place in the array, from 1.
        why_not: why the file of selectors has none for it; empty if there is one.
    """

    name: str
    selector: str
    dialect: Dialect
    message: str
    want: bool | str
    file: str
    number: int
    why_not: str = ""


class Verdict(NamedTuple):
    """What became of a case.

    Attributes:
        case: that was judged.
        answer: TRUE, FALSE, UNKNOWN or refused; broken of what could not be judged.
        passed: whether that is what was wanted.
        why: the explanation of the answer, or the error of the selector, or of the case.
    """

    case: Case
    answer: str
    passed: bool
    why: str


def read_cases(
    path: str | os.PathLike[str], dialect_of: Callable[[str, str], str] = lambda _path, usual: usual
) -> list[Case]:
    """Read the cases of a file.

    A case is an object with ``message``, ``want`` (true, false, "TRUE", "FALSE", "UNKNOWN" or "refused") and
    ``selector``, or in its place ``inventory`` and ``key``: a file of selectors, named from the folder of the cases,
    and the key of one of them. ``dialect`` and ``name`` may be left out.

    Args:
        path: of the file.
        dialect_of: returns the dialect of selectors in a file, where a case names none, of its path and the usual one.

    Raises: FileError: the file cannot be read, or has none; an object is no case. The place is in it.
    """
    file = Path(name_of(path))
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise file_trouble(str(path), fault(str(path), error)) from error
    known: dict[str, dict[str, tuple[str | None, str, str]]] = {}
    cases = [_case(file, number, one, known, dialect_of) for number, one in _objects(str(path), text)]
    if not cases:
        raise FileError("the file has no case: expected JSON objects, one a line", path=str(path))
    return cases


def _objects(path: str, text: str) -> Iterator[tuple[int, Any]]:
    """Yield each object of JSON, and its line, or its place in the array."""
    is_array = text.lstrip()[:1] == "["
    for number, line in enumerate([text] if is_array else text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
        except (ValueError, RecursionError) as error:
            within = error.lineno - 1 if isinstance(error, json.JSONDecodeError) else 0
            raise FileError(f"broken JSON: {fault_of_json(error)}", path=path, line=number + within) from None
        yield from enumerate(read, 1) if is_array else ((number, read),)


def _case(
    file: Path,
    number: int,
    one: Any,
    known: dict[str, dict[str, tuple[str | None, str, str]]],
    dialect_of: Callable[[str, str], str],
) -> Case:
    def wrong(what: str) -> FileError:
        return FileError(f"case {number}: {what}", path=str(file))

    if not isinstance(one, dict):
        raise wrong(f"found {shortened(json_text(one))}: expected an object with selector, message and want")
    if others := sorted(one.keys() - _FIELDS):
        raise wrong(f"{shortened(others[0])} is no field of a case: expected some of {', '.join(sorted(_FIELDS))}")
    texts = {name: one[name] for name in ("name", "selector", "inventory", "key", "dialect") if name in one}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise wrong(f"{name} is {shortened(json_text(value))}: expected a text")
    want = one.get("want")
    if not isinstance(want, (bool, str)) or want not in WANTED:
        raise wrong(f"want is {shortened(json_text(want))}: expected one of {', '.join(map(json_text, WANTED))}")
    if not isinstance(one.get("message"), dict):
        raise wrong(f"message is {shortened(json_text(one.get('message')))}: expected an object")
    if ("selector" in one) == ("inventory" in one) or ("inventory" in one) != ("key" in one):
        raise wrong("expected either selector, or inventory and key")
    preset = dialect_of(str(file), "IBM_MQ")
    text, why_not = one.get("selector", ""), ""
    if "inventory" in one:
        place = str(file.parent / one["inventory"])
        if place not in known:
            entries = list(read(place))
            rows = [(entry.selector, dialect_of(place, entry.dialect), entry.reason) for entry in entries]
            known[place] = dict(zip(keys_of(entries), rows, strict=True))
        listed = ", ".join(map(shortened, list(known[place])[:5])) or "none"
        missing = None, preset, f"{one['inventory']} has no key {shortened(one['key'])}: it has {listed}"
        text, preset, why_not = known[place].get(one["key"], missing)
    dialect = PRESETS[preset]
    if "dialect" in one:
        try:
            dialect = as_dialect(one["dialect"])
        except MqselError as error:
            raise wrong(error.message) from None
    name = one.get("name") or f"{file.name}:{number}"
    return Case(name, text or "", dialect, json_text(one["message"]), want, str(file), number, why_not)


def judged(case: Case) -> Verdict:
    """Return what becomes of a case: an answer, whether it is the wanted one, and why it is that.

    Raises: ArgumentError: the case is none.
    """
    if not is_a(case, Case):
        raise ArgumentError(f"found {shortened(case)}: expected a Case")
    if case.why_not:
        return Verdict(case, "broken", False, case.why_not)
    try:
        matcher = compiled(case.selector, dialect=case.dialect)
    except SelectorError as error:
        return Verdict(case, "refused", "refused" in WANTED[case.want], str(error))
    try:
        message = message_from_json(case.message, matcher.properties)
        answer = str(matcher.evaluate(message))
        return Verdict(case, answer, answer in WANTED[case.want], str(matcher.explain(message)))
    except MqselError as error:
        return Verdict(case, "broken", False, str(error))
