"""A message with a value that no property can have is counted by every command and engine as `match` counts it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel.cli import main
from mqsel.errors import PropertyTypeError
from mqsel.language.dialect import PRESETS
from mqsel.values import Float32

BAD = ([1], {}, {"x": 1}, 1 << 64, object(), [])
SELECTORS = (
    "(z = 1 AND a = 1) OR c = 5",
    "c = 5 OR a = 1",
    "c = 6 AND a = 1",
    "a = 1 OR c = 5",
    "a IS NULL OR c = 5",
    "c = 5 AND a IS NULL",
    "NOT (c = 6 AND a LIKE 'x%')",
    "c = 5 OR a + c > 3",
    "(c >= 4 AND c <= 5) OR a IN ('x', 'y')",
    "c = 6",
)
DIALECTS = ("IBM_MQ", "JMS", "ACTIVEMQ", "ARTEMIS", "RABBITMQ_JMS", "AZURE_SERVICE_BUS")


def result(call: Any, *arguments: Any, **options: Any) -> Any:
    """Return whether a call finds a message selected; "error" if the message has a value that is an error."""
    try:
        return bool(call(*arguments, **options))
    except PropertyTypeError:
        return "error"


@pytest.mark.parametrize(
    ("bad", "dialect"),
    [*product(BAD, DIALECTS), *product((float("nan"), -0.0, Float32(-0.0)), ("ACTIVEMQ", "ARTEMIS"))],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_engines_agree(bad: Any, dialect: str) -> None:
    """Matcher, explain, why, SelectorSet.match, scan and filter find the same of a message."""
    for text, (first, second) in product(SELECTORS, (("a", "c"), ("c", "a"))):
        values = {"a": bad, "c": 5}
        message = {name: values[name] for name in (first, second)}
        matcher = mqsel.compile(text, dialect=PRESETS[dialect])
        held = mqsel.SelectorSet({"k": text}, dialect=PRESETS[dialect])
        wanted = result(matcher.matches, message)

        found = {
            "explain": result(matcher.explain, message),
            "why": result(matcher.why, [message]),
            "match": result(held.match, message),
            "match within": result(held.match, message, within=iter(["k"])),
            "scan": result(held.scan, message),
            "filter": result(lambda held, message: [*held.filter([message])], held, message),
        }
        assert found == dict.fromkeys(found, wanted), (text, message)


def counts(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Return what a command prints as JSON."""
    main([*arguments])
    return dict(json.loads(capsys.readouterr().out.splitlines()[-1]))


def test_commands_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands match, why and route, and the explorer's list and "Why", count the same messages."""
    from mqsel.explorer.session import MessageSource, Question, Session

    lines = ['{"a": [1], "c": 5}', '{"c": 5, "a": {"x": [2]}}', '{"a": [1], "c": 6}', '{"a": 1, "c": 5}', '{"c": 7}']
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(lines) + "\n")
    session = Session(MessageSource((str(path),)))
    session.read()
    for text in SELECTORS:
        (tmp_path / "k.tsv").write_text(f"k\t{text}\n")
        main(["match", "--count", text, str(path)])
        output = capsys.readouterr()
        wanted = int(output.out), int(output.err.split(" skipped")[0].rpartition(" ")[2])
        why = counts(capsys, "why", "--json", text, str(path))
        route = counts(capsys, "route", "--count", "--json", str(tmp_path / "k.tsv"), str(path))
        question = Question("w", 1, text, "IBM_MQ", "", "all", 0, -1)
        shown = session.look(question, lambda: None)
        reasons = session.reasons(question, lambda: None)

        assert (why["selected"], why["skipped"]) == wanted, text
        assert (route["delivered"]["k"], route["skipped"]) == wanted, text
        assert (shown["selected"], shown["skipped"]) == wanted, text
        assert (reasons["selected"], reasons["skipped"]) == wanted, text
