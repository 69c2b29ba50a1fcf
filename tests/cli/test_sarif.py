"""SARIF as code hosts read it: what `lint --sarif` writes has the shape that the schema of SARIF 2.1.0 prescribes.

The schema itself has no package on the registry: CI fetches it and validates a log. Here stand the facts of it about
what we write, and nothing else may be written. Source: *SARIF Version 2.1.0*, §3.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from mqsel import cli
from mqsel.analysis.lint import RULES

jsonschema = pytest.importorskip("jsonschema")

# For each object its properties; with an exclamation mark those that it must have.
OBJECTS: dict[str, dict[str, Any]] = {
    "log": {"$schema": "uri", "version!": "version", "runs!": ["run"]},
    "run": {
        "tool!": "tool",
        "columnKind": "column kind",
        "artifacts": ["artifact"],
        "invocations": ["invocation"],
        "results": ["result"],
    },
    "tool": {"driver!": "component"},
    "component": {"name!": "text", "version": "text", "rules": ["descriptor"]},
    "descriptor": {
        "id!": "text",
        "shortDescription": "description",
        "fullDescription": "description",
        "help": "description",
        "helpUri": "uri",
        "defaultConfiguration": "configuration",
    },
    "description": {"text!": "text", "markdown": "text"},
    "configuration": {"level": "level"},
    "invocation": {"executionSuccessful!": "boolean", "toolExecutionNotifications": ["notification"]},
    "notification": {"level": "level", "message!": "message", "locations": ["location"]},
    "message": {"text!": "text"},
    "artifact": {"description": "message", "contents": "contents"},
    "contents": {"text": "text"},
    "result": {
        "ruleId": "text",
        "ruleIndex": "index",
        "level": "level",
        "message!": "message",
        "locations": ["location"],
        "fixes": ["fix"],
    },
    "location": {"physicalLocation": "place"},
    "place": {"artifactLocation!": "file", "region": "region"},
    "file": {"uri": "uri", "index": "index"},
    "region": {"startLine!": "number", "startColumn": "number", "endLine": "number", "endColumn": "number"},
    "fix": {"artifactChanges!": ["change"]},
    "change": {"artifactLocation!": "file", "replacements!": ["replacement"]},
    "replacement": {"deletedRegion!": "region", "insertedContent": "contents"},
}
VALUES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"},
    "version": {"const": "2.1.0"},
    "column kind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    "boolean": {"type": "boolean"},
    "level": {"enum": ["none", "note", "warning", "error"]},
    "index": {"type": "integer", "minimum": -1},
    "number": {"type": "integer", "minimum": 1},
}


def schema() -> dict[str, Any]:
    """Return the facts as a JSON schema."""

    def one(kind: Any) -> dict[str, Any]:
        if isinstance(kind, list):
            # Of a fix and of a change the schema wants at least one; we write no other list that may be empty there.
            least = int(kind[0] in ("change", "replacement"))
            unique = kind[0] in ("artifact", "descriptor", "fix", "change")
            return {"type": "array", "items": one(kind[0]), "minItems": least, "uniqueItems": unique}
        return {"$ref": f"#/$defs/{kind}"} if kind in OBJECTS else VALUES[kind]

    made = {
        name: {
            "type": "object",
            "additionalProperties": False,
            "required": [key[:-1] for key in rows if key.endswith("!")],
            "properties": {key.rstrip("!"): one(kind) for key, kind in rows.items()},
        }
        for name, rows in OBJECTS.items()
    }
    return {"$ref": "#/$defs/log", "$defs": made}


def test_logs_are_valid(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The examples of all rules, in a file and as arguments, make a log that the schema accepts."""
    file = tmp_path / "selectors 100%.txt"
    file.write_text("".join(f"{rule.example.found}\n" for rule in RULES), encoding="utf-8")
    cli.main(["lint", "--sarif", "color = blue", "a LIKE 'b'", "--file", str(file)])
    log = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema()).validate(log)

    (run,) = log["runs"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {rule.code for rule in RULES}
    for rule in run["tool"]["driver"]["rules"]:
        assert rule["helpUri"].startswith("https://")
        assert rule["fullDescription"]["text"].startswith(f"{rule['shortDescription']['text'][0].upper()}")
        assert "* instead: `" in rule["help"]["markdown"]
    assert {result["ruleId"] for result in run["results"]} > {"unquoted-text", "never-true", "invalid"}
    assert any(result.get("fixes") for result in run["results"])


def test_places_are_uris(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is a URI: relative as it was given, absolute with its scheme, whatever characters it has."""
    monkeypatch.chdir(tmp_path)
    for name in ("a b%é.txt", "sub:ä?.txt", "\udcff.txt"):
        try:
            Path(name).write_text("color = blue\n", encoding="utf-8")
        except OSError:  # no name on this system
            continue
        uris = []
        for path in (f"./{name}", str(tmp_path / name)):
            cli.main(["lint", "--sarif", "--file", path])
            log = json.loads(capsys.readouterr().out)
            jsonschema.Draft202012Validator(schema()).validate(log)
            location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
            uris.append(location["artifactLocation"]["uri"])
        assert uris[1].startswith("file:///")
        assert uris[1].endswith(f"/{uris[0]}")
        assert os.fsdecode(unquote_to_bytes(uris[0])) == name


def test_the_schema_refuses() -> None:
    """What the standard does not have is found."""
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a", "rules": [{"id": "b", "why": "c"}]}}}]}
    with pytest.raises(jsonschema.ValidationError, match="why"):
        jsonschema.Draft202012Validator(schema()).validate(log)
