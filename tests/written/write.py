"""Writes what today's mqsel writes for others to read: programs, pickles and set files, with the answers they give.

    python tests/written/write.py > tests/written/VERSION.jsonl

Run once for each version that is released, and kept: `tests/test_written.py` reads every file by the code of its day.
The first line is about the file: the version, the format of programs, the messages. Each other is one thing written:
`kind`, `name`, `data` (base64; of a pickle with buffers beside it, those follow) and `answers`, one for each message:
TRUE, FALSE or UNKNOWN of a matcher, the keys of a set.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mqsel
from mqsel.language.dialect import IBM_MQ, PRESETS, Dialect
from mqsel.machine.program import FORMAT_VERSION, VERSION

MESSAGES: list[dict[str, Any]] = [
    {},
    {"a": 1, "b": 2.5, "s": "abc", "t": True, "usr.n": 3},
    {"a": 2**40, "b": -1, "s": "ab_%", "t": False, "n": 3},
    {"a": "1", "b": None, "s": 5, "t": "TRUE"},
    {"a": 1.0, "b": 1, "s": "Zoë \U0001f600", "t": True, "x.y": 1},
    {"a": -3, "b": 0, "s": "", "t": None},
    {"a": 1, "Root.MQMD.MsgId": "1" * 48},
]
SELECTORS = (
    "a = 1",
    "a > 0 AND s LIKE 'ab%' OR NOT t",
    "s IN ('abc', 'Zoë \U0001f600') AND (b BETWEEN 1 AND 3 OR b IS NULL)",
    "s NOT LIKE '%!%_' ESCAPE '!' AND a + b * 2 > 5",
    "a / b > 1 OR n = 3",
    "s LIKE 'a%c%' AND a <> 2 OR t = TRUE",
    "",
)
KNOWING = "IBM_MQ", "JMS", "TIBCO_EMS", "IBM_JMS"  # they have all of these tests, and documents of each answer
FORMS = (
    *("a = {}", "a <> {}", "b BETWEEN {} AND 3", "a = {} OR b > 2", "s = 'x{}' OR t"),
    *("s IN ('abc', 'x{0}') AND a > -{0}", "s LIKE 'ab%' AND a > {}", "s LIKE '%{}c'", "s LIKE 'a%c' AND b < {}"),
    *("s LIKE '%bc%' OR a * 2 > {}", "n IS NULL"),
)
VARIED = (  # each choice that a dialect can make, by itself
    *[
        Dialect(**{**IBM_MQ._asdict(), name: value})
        for name, value in (("type_mismatch", "unknown"), ("headers", "any"))
    ],
    IBM_MQ._replace(null_arithmetic="selector"),
    IBM_MQ._replace(between_null="expand", constant_false="accept"),
    IBM_MQ._replace(whitespace="java", identifier_dots="no", identifier_astral="yes"),
    IBM_MQ._replace(byte_strings="no", hex_octal="yes", float_suffix_on_integer="yes", max_length=None),
    IBM_MQ._replace(static_mismatch="reject", out_of_range="reject", approximate_literals="java"),
    IBM_MQ._replace(zero_identifier="string"),
)
SCHEMA = [("a", "int64"), ("b", None), ("s", "string"), ("t", "boolean"), ("n", None)]


def _line(kind: str, name: str, data: list[bytes], answers: list[Any]) -> str:
    texts = [base64.b64encode(one).decode() for one in data]
    return json.dumps({"kind": kind, "name": name, "data": texts, "answers": answers}, ensure_ascii=False)


def _matchers() -> Iterator[tuple[str, mqsel.Matcher]]:
    for dialect in (*(PRESETS[name] for name in KNOWING), *VARIED):
        for selector in SELECTORS if dialect == IBM_MQ else SELECTORS[1:5]:
            yield f"{selector!r} {dialect!r}", mqsel.compile(selector, dialect=dialect)
    yield "not optimized", mqsel.compile(SELECTORS[1], optimize=False)
    yield "for a subscription", mqsel.compile(SELECTORS[2], for_subscription=True)
    yield "with a schema", mqsel.compile(SELECTORS[1], schema=SCHEMA)


def _sets() -> Iterator[tuple[str, mqsel.SelectorSet[Any]]]:
    numbered = dict(enumerate(SELECTORS))
    yield "numbered", mqsel.SelectorSet(numbered)
    yield "named", mqsel.SelectorSet({f"key {key}": text for key, text in numbered.items()}, dialect="JMS")
    yield "without texts", mqsel.SelectorSet(numbered, keep_text=False)
    yield "with a schema", mqsel.SelectorSet(numbered, schema=SCHEMA)
    mixed = mqsel.SelectorSet(numbered)
    mixed["own dialect"] = mqsel.compile(SELECTORS[1], dialect="JMS")
    del mixed[0]
    mixed["MsgId"] = "Root.MQMD.MsgId = '" + "0" * 48 + "'"
    yield "changed", mixed
    many = [form.format(n) for n in range(10) for form in FORMS]  # more than are kept without an index
    yield "many", mqsel.SelectorSet(dict(enumerate(many)))


def write() -> Iterator[str]:
    """Write each thing as a line."""
    about = {"version": VERSION, "format": FORMAT_VERSION, "python": sys.version.split()[0], "messages": MESSAGES}
    yield json.dumps(about, ensure_ascii=False)
    for name, matcher in _matchers():
        answers = [matcher.evaluate(message).name for message in MESSAGES]
        yield _line("program", name, [matcher.program.to_bytes()], answers)
        if matcher.dialect == IBM_MQ:
            for protocol in (2, 5):
                yield _line("pickle", f"{name}, protocol {protocol}", [pickle.dumps(matcher, protocol)], answers)
    for name, selectors in _sets():
        found = [sorted(selectors.match(message), key=repr) for message in MESSAGES]
        yield _line("pickle", f"set, {name}, protocol 2", [pickle.dumps(selectors, 2)], found)
        yield _line("pickle", f"set, {name}, protocol 5", [pickle.dumps(selectors, 5)], found)
        beside: list[pickle.PickleBuffer] = []
        data = pickle.dumps(selectors, 5, buffer_callback=beside.append)
        yield _line("pickle", f"set, {name}, buffers", [data, *[bytes(one.raw()) for one in beside]], found)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "set")
            selectors.save(path)
            yield _line("file", f"set, {name}", [path.read_bytes()], found)


if __name__ == "__main__":
    for one in write():
        print(one)
