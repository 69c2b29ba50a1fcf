"""What commands print with --json is what the schema says that they print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mqsel import cli
from mqsel.formats import mq

SCHEMA = json.loads((Path(cli.__file__).parent / "output.schema.json").read_text(encoding="utf-8"))
MESSAGES = [
    '{"color": "blue", "weight": 3000}', '{"color": "red"}', '{"weight": {"int32": 5}, "token": {"bytes": "0a"}}',
    '{"weight": "5", "z": [1]}', "not json",
]  # fmt: skip
FILES = {
    "m.jsonl": MESSAGES,
    "whole.jsonl": MESSAGES[:3],
    "s.txt": [
        "one\tcolor = 'blue'", "two\tweight > 2500 AND color = 'blue'", "bad\tcolor ==", "three\tcolor='blue'",
        "again\tcolor = 'blue'", "never\tweight > 5 AND weight < 3", "red\tcolor = 'blue' AND NOT (region = 'r')",
        "blue\tcolor = 'blue' AND (region = 'r' OR region IS NULL)",
    ],
    "missing.txt": ["red\tcolor = 'red' OR region IS NULL", "blue\tcolor = 'blue'"],
    "heavy.txt": ["heavy\tweight > 0"],
    "t.txt": ["one\tcolor = 'red'", "two\tweight > 2500 AND color = 'blue'", "new\ta = 1"],
    "broker.xml": ["<configuration><core><addresses><address name='a'><anycast><queue name='q'>",
        "<filter string=\"color = '${wanted}'\"/></queue></anycast></address></addresses></core></configuration>"],
    "cases.jsonl": [
        '{"name": "heavy", "selector": "weight > 2500", "message": {"weight": 3000}, "want": true}',
        '{"selector": "weight > 2500", "message": {"weight": 5}, "want": "UNKNOWN"}',
        '{"selector": "a ==", "message": {}, "want": "refused"}',
    ],
}  # fmt: skip
# Command lines, each with the definition of what it prints; together they print all that any definition has.
COMMANDS = [
    ("match", "match", "--json", "weight > 5 OR weight IS NULL", "m.jsonl"),
    ("match", "match", "--json", "--format", "mq", "weight > 0", "raw"),
    ("route", "route", "--json", "t.txt", "s.txt", "m.jsonl"),
    ("route", "route", "--json", "s.txt", "m.jsonl"),
    ("route", "route", "--json", "--count", "s.txt", "m.jsonl"),
    ("route", "route", "--json", "heavy.txt", "{dump}"),
    ("route", "route", "--json", "--format", "mq", "heavy.txt", "raw"),
    ("why", "why", "--json", "weight > 5 AND color = 'blu' OR colour = 'x' OR z = 2", "m.jsonl"),
    ("explain", "explain", "--json", "--program", "weight * 2 > 5 AND color LIKE 'bl'", "m.jsonl:1"),
    ("explain", "explain", "--json", "weight > 5 AND color LIKE 'bl'"),
    ("inspect", "inspect", "--json", "whole.jsonl", "--limit", "2"),
    ("inspect", "inspect", "--json", "m.jsonl"),
    ("inspect", "inspect", "--json", "{dump}", "--limit", "2"),
    ("check", "check", "--json", "s.txt", "broker.xml", "-e", "TRUE OR a = 1", "-e", "1 = 1", "-e", "a = 1 AND TRUE"),
    ("check", "check", "--json", "-e", "JMSCorrelationID = 'ID:" + "0a" * 24 + "'"),
    ("lint", "lint", "--json", "s.txt", "broker.xml", "-e", "color LIKE 'a*' AND TRUE"),
    ("diff", "diff", "--json", "a > 1", "a > 2"),
    ("diff", "diff", "--json", "a = 1", "a = 2"),
    ("diff", "diff", "--json", "--dialect", "JMS", "--dialect", "ARTEMIS", "NOT a = 1"),
    ("diff", "diff", "--json", "--dialect", "JMS", "--dialect", "ARTEMIS", "a == 1"),
    ("diff", "diff", "--json", "s.txt", "t.txt"),
    ("diff", "diff", "--json", "color = 'blue'", "color = 'red'", "whole.jsonl"),
    ("diff", "diff", "--json", "s.txt", "t.txt", "whole.jsonl"),
    ("audit", "audit", "--json", "--once", "--given", "weight > 0", "s.txt"),
    ("audit", "audit", "--json", "missing.txt"),
    ("contract", "contract", "--json", "whole.jsonl"),
    ("contract", "contract", "whole.jsonl"),
    (
        "migrate",
        "migrate",
        "--json",
        "--from",
        "JMS",
        "--to",
        "RABBITMQ",
        "s.txt",
        "-e",
        "a > 1 OR a LIKE 'x%'",
        "-e",
        "a = 5F",
    ),
    ("migrate", "migrate", "--json", "--from", "ARTEMIS", "--to", "JMS", "NOT a = 1 OR 5 <> b"),
    ("selectors", "selectors", "--json", "s.txt", "broker.xml"),
    ("test", "test", "--json", "cases.jsonl"),
]


def _objects(text: str) -> Iterator[Any]:
    """Read objects that stand behind one another, in one line or many."""
    decoder, at = json.JSONDecoder(), 0
    while (at := re.compile(r"\s*").match(text, at).end()) < len(text):  # type: ignore[union-attr]
        found, at = decoder.raw_decode(text, at)
        yield found


def _resolved(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return what a schema may be: that it names, and what is any of."""
    if "$ref" in schema:
        yield from _resolved(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    for one in schema.get("anyOf", ()):
        yield from _resolved(one)
    if "properties" in schema or "items" in schema:
        yield schema


def _members(schema: dict[str, Any], value: Any, name: str) -> Iterator[str]:
    """List the members of a schema that a value has, each under the definition that it is of."""
    for one in _resolved(schema):
        if isinstance(value, list):
            for item in value:
                yield from _members(one.get("items", {}), item, name)
        elif isinstance(value, dict) and value.keys() <= one.get("properties", {}).keys():
            for key, within in one["properties"].items():
                if key in value:
                    yield f"{name}.{key}"
                    if value[key] is not None:
                        yield from _members(within, value[key], f"{name}.{key}")


def _all_members(schema: dict[str, Any], name: str) -> Iterator[str]:
    for one in _resolved(schema):
        yield from _all_members(one.get("items", {}), name)
        for key, within in one.get("properties", {}).items():
            yield f"{name}.{key}"
            yield from _all_members(within, f"{name}.{key}")


def test_schema(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """Every object that a command prints is valid by its definition, and each member of a definition is printed."""
    jsonschema = pytest.importorskip("jsonschema")
    pytest.importorskip("tree_sitter", reason="an XML of a broker needs the extra inventory")
    dump = request.config.rootpath / "bench" / "data" / "dump.qload"
    if not dump.exists():
        pytest.skip("the sample files do not stand beside the tests")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for file, lines in FILES.items():
        (tmp_path / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "raw").write_bytes(mq.encode({}, {"weight": ("int32", 5)}, b"x"))
    monkeypatch.chdir(tmp_path)
    printed: set[str] = set()
    for name, *words in COMMANDS:
        schema = {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
        validator = jsonschema.Draft202012Validator(schema)
        cli.main([word.replace("{dump}", str(dump)) for word in words])
        objects = [*_objects(capsys.readouterr().out)]
        assert objects or "t.txt" in words, words
        for one in objects:
            validator.validate(one)
            assert not validator.is_valid({**one, "further": 1})
            printed.update(_members(schema, one, name))

    names = {name for name, *_ in COMMANDS}
    missing = {one for name in names for one in _all_members(SCHEMA["$defs"][name], name)} - printed
    assert missing == set()


def test_every_option_has_a_definition() -> None:
    """The commands that have --json are those whose output the schema defines; each says so in its help."""
    _, parsers = cli._parser([])
    having = {
        name for name, one in parsers.items() if any("--json" in action.option_strings for action in one._actions)
    }

    assert having == {name for name, *_ in COMMANDS}
    assert having <= SCHEMA["$defs"].keys()
    reports = set("match route why check lint explain inspect diff audit contract migrate selectors test".split())
    assert having == reports
