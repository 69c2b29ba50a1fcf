"""Test cases in a file: a selector, a message and the expected result, for projects without tests in Python.

A case is a JSON object. Cases are the lines of a file, or the items of one array.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mqsel.carets import shortened, visible
from mqsel.errors import ArgumentError, FileError, MqselError, SelectorError
from mqsel.files.opening import name_of
from mqsel.files.wordings import fault, file_trouble
from mqsel.formats.jsonl import fault_of_json, json_text, message_from_json
from mqsel.inventory import keys_of, read
from mqsel.language.dialect import PRESETS, Dialect, as_dialect
from mqsel.matcher import compile as compiled

# The expected result as a case has it, and the answers that meet it.
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
    """A test case: a selector, a message and the expected result.

    Attributes:
        name: The name of the case, or its location.
        selector: The text of the selector.
        dialect: The dialect of the selector.
        message: The message, as the text of a JSON object.
        want: The expected result, a key of `WANTED`.
        file: The file of the case.
        number: The line of the case in the file, or its position in the array, from 1.
        why_not: Why the file of selectors has no selector for the case; empty if it has one.
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
    """The result of a test case.

    Attributes:
        case: The test case.
        answer: TRUE, FALSE, UNKNOWN or refused; "broken" if the case can't be run.
        passed: Whether the answer is the expected one.
        why: The explanation of the answer, or the error of the selector or the case.
    """

    case: Case
    answer: str
    passed: bool
    why: str

    @property
    def report(self) -> str:
        """The location of the case, the expected and the actual result, and the explanation, without escapes."""
        want = self.case.want
        expected = want if isinstance(want, str) else "selected" if want else "not selected"
        line = f"{self.case.file}: case {self.case.number}: expected {expected}, found {self.answer}"
        return "\n".join(map(visible, [line, *self.why.split("\n")]))


def read_cases(
    path: str | os.PathLike[str], dialect_of: Callable[[str, str], str] = lambda _path, usual: usual
) -> list[Case]:
    """Read the test cases of a file.

    A case is a JSON object with ``message``, ``want`` (true, false, "TRUE", "FALSE", "UNKNOWN" or "refused") and
    ``selector``. Instead of ``selector`` it can have ``inventory``, a file of selectors relative to the folder of the
    cases, and ``key``, the key of one of them. ``dialect`` and ``name`` are optional.

    Args:
        path: The file, a str or path-like object.
        dialect_of: A function that returns the name of the dialect for selectors in a file. Its arguments are the path
            of the file and the usual dialect. The default returns the usual dialect.

    Raises: FileError: if the file can't be read or has no cases, or an object is not a case. The error has the
        location.
    """
    file = Path(name_of(path))
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise file_trouble(str(path), fault(str(path), error)) from error
    known: dict[str, dict[str, tuple[str | None, str, str]]] = {}
    cases = [_case(file, number, one, known, dialect_of) for number, one in _objects(str(path), text)]
    if not cases:
        raise FileError(
            "the file has no cases: expected a JSON object on each line, or an array of objects", path=str(path)
        )
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
        raise wrong(f"a case has no field {shortened(others[0])}: expected some of {', '.join(sorted(_FIELDS))}")
    texts = {name: one[name] for name in ("name", "selector", "inventory", "key", "dialect") if name in one}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise wrong(f"{name} is {shortened(json_text(value))}: expected a string")
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
    """Run a test case and return its result.

    Args:
        case: The test case.

    Raises: ArgumentError: if *case* is not a `Case`.
    """
    if not isinstance(case, Case):
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
