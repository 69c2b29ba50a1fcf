"""Arguments that are none: each public callable, each of its parameters, each of these values, in turn."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mqsel
from mqsel import files, formats, inventory, selection, testing
from mqsel.analysis.compare.audit import audit
from mqsel.formats import mq


def _closed() -> io.StringIO:
    file = io.StringIO()
    file.close()
    return file


HOSTILE: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "huge": lambda: 10**5000,
    "negative": lambda: -1,
    "NaN": lambda: float("nan"),
    "array": lambda: np.array([1, 2]),
    "words": lambda: np.array(["a", "b"]),
    "surrogate": lambda: "\ud800",
    "NUL": lambda: "\0",
    "bytes": lambda: b"\xff",
    "closed": _closed,
    "integers": lambda: [5],
    "names of integers": lambda: {10**5000: 5},
    "object": object,
    "class": lambda: int,
}
MESSAGE = {"a": 1}
CALLED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "compile": (mqsel.compile, {"text": "a = :a", "dialect": "JMS", "schema": None, "parameters": {"a": 1}}),
    "quote": (mqsel.quote, {"value": 1, "dialect": "JMS"}),
    "lint": (mqsel.lint, {"text": "a = 1", "dialect": "JMS", "given": None}),
    "relation": (mqsel.relation, {"a": "a = 1", "b": "a = 2", "dialect": "JMS", "given": None}),
    "migrate": (mqsel.migrate, {"text": "a = 1", "source": "JMS", "target": "ARTEMIS"}),
    "gap": (mqsel.gap, {"selectors": ["a = 1"], "dialect": "JMS", "given": None}),
    "audit": (audit, {"selectors": [("k", "a = 1")], "destinations": None, "given": None}),
    "Contract": (mqsel.Contract, {"properties": {"a": "int64"}, "selector": "", "dialect": "JMS"}),
    "Contract.read": (mqsel.Contract.read, {"path": ""}),
    "Dialect": (mqsel.JMS.replace, {"floats": "float64", "max_length": 5}),
    "filter": (mqsel.compile("a = 1").filter, {"messages": [MESSAGE], "errors": "raise", "format": None}),
    "SelectorSet": (mqsel.SelectorSet, {"selectors": {"k": "a = 1"}, "dialect": "JMS", "schema": None}),
    "SelectorSet.in": (mqsel.SelectorSet({"k": "a = 1"}).get, {"key": "k"}),
    "SelectorSet.open": (mqsel.SelectorSet.open, {"path": __file__}),
    "match": (mqsel.SelectorSet({"k": "a = 1"}).match, {"message": MESSAGE}),
    "decoder": (formats.decoder, {"format": "json", "names": ["a"], "in_any_case": ()}),
    "names_of": (formats.names_of, {"message": b"{}", "kind": "json", "types": {}}),
    "mq.encode": (mq.encode, {"mqmd": {}, "properties": {"a": 1}, "body": b"", "version": 2, "encoding": 546}),
    "mq.encode typed": (lambda kind: mq.encode({}, {"a": (kind, 1)}), {"kind": "int32"}),
    "files.filter": (files.filter, {"paths": __file__, "selector": "a = 1", "errors": "skip", "jobs": 1}),
    "inventory.read": (inventory.read, {"paths": __file__, "kind": "lines", "columns": None}),
    "read_file": (
        inventory.read_file,
        {"place": inventory.Place(__file__, True), "kind": None, "columns": {}, "content": b""},
    ),
    "files_of": (inventory.files_of, {"paths": [__file__]}),
    "keys_of": (inventory.keys_of, {"entries": []}),
    "Message": (selection.Message, {"properties": MESSAGE, "headers": {}, "body": "x"}),
    "Message.get": (selection.Message(MESSAGE).get, {"name": "a"}),
    "Message.in": (selection.Message(MESSAGE).__contains__, {"key": "a"}),
    "Queue": (selection.Queue("JMS").browse, {"selector": "a = 1", "match_option": None}),
    "subscribe": (selection.Topic("JMS").subscribe, {"name": "s", "selector": "a = 1"}),
    "read_cases": (testing.read_cases, {"path": __file__}),
    "judged": (testing.judged, {"case": None}),
    "deliveries": (testing.deliveries, {"inventory": __file__, "messages": {}}),
}


@pytest.mark.parametrize("name", CALLED)
def test_hostile_arguments(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is taken or is an error of ours, which can be shown."""
    monkeypatch.chdir(tmp_path)
    called, arguments = CALLED[name]
    for parameter in arguments:
        for what, made in HOSTILE.items():
            try:
                found = called(**{**arguments, parameter: made()})
                if isinstance(found, Iterator):
                    deque(found)
            except mqsel.MqselError as error:
                assert str(error)
            except Exception as error:
                raise AssertionError(f"{parameter}={what}: {error!r}") from error


# Texts that are deep, long, or at the edge of a number, a time, a pattern or Unicode.
TEXTS = (
    *(
        "a = '\ud800'",
        "\ud800 = 1",
        "a LIKE '\ud800%'",
        "a LIKE 'x' ESCAPE '\ud83d'",
        "a = \x00",
        "\ufeffa = 1",
        "\u0130 = 1",
    ),
    *("a = 1e999", "a = 1e" + "9" * 400, "a = " + "9" * 5000, "a = 0x" + "f" * 4400, "a > 0." + "1" * 5000 + "e5"),
    *("(" * 3000 + "a=1" + ")" * 3000, "NOT " * 5000 + "a", "-" * 3000 + "1 = a", "a = 1 AND " * 2000 + "b"),
    *("a LIKE '%a" + "%a" * 200 + "'", "a REGEXP '('", "xpath(a) = '['", "a = X'zz'", "a = 08", "a = 0b2", "a IN ()"),
    *("JMSTimestamp > 1e300", "JMSPriority = 1e5", "a < TIMESTAMP '0000-00-00 00:00:00'", "DATE '9999-99-99' < a"),
    *(
        "a = 1/0",
        "1 % 0 = a",
        "SUBSTRING(a, -5, 999999999999999999999) = 'x'",
        "a*9223372036854775807*2 > 1",
        '"a\nb" = 1',
    ),
)
ASKED: dict[str, Callable[[str, str], object]] = {
    "lint": lambda text, dialect: mqsel.lint(text, dialect=dialect),
    "migrate": lambda text, dialect: mqsel.migrate(text, source=dialect, target="ARTEMIS"),
    "difference": lambda text, dialect: mqsel.difference(text, dialect, "JMS"),
    "set": lambda text, dialect: mqsel.SelectorSet({"k": text}, dialect=dialect),
    "explain": lambda text, dialect: mqsel.compile(text, dialect=dialect).explain({"a": "\ud800", "b": 1e308}).text(),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("dialect", ["IBM_MQ", "AZURE_SERVICE_BUS"])
def test_hostile_texts(asked: str, dialect: str) -> None:
    """Of any text a public function has an answer or an error of ours."""
    for text in TEXTS:
        with suppress(mqsel.MqselError):
            ASKED[asked](text, dialect)


def test_a_set_named_in_bytes(tmp_path: Path) -> None:
    """The error of a file that is no set shows its name, also where this was given as bytes."""
    file = tmp_path / "no.set"
    file.write_bytes(b"no set of selectors at all")
    with pytest.raises(mqsel.FileError, match=r"no\.set"):
        mqsel.SelectorSet.open(bytes(file))  # type: ignore[arg-type]
