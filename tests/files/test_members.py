"""Properties inside a member: every command that finds none says where they are, and its command brings them up."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mqsel import cli

PLAIN = {"color": "red", "weight": 3000}
SQS = {
    "color": {"StringValue": "red", "DataType": "String"},
    "weight": {"StringValue": "3000", "DataType": "Number.int"},
}
MESSAGES: dict[str, tuple[str, Any]] = {
    "an object": ("properties", {"id": 1, "properties": PLAIN}),
    "an object in an object": ("message.attributes", {"message": {"attributes": PLAIN, "data": "aGk="}}),
    "a name with other signs": ("user-'properties'", {"user-'properties'": PLAIN}),
    "maps by type": ("StringProperties", {"StringProperties": {"color": "red"}, "IntProperties": {"weight": 3000}}),
    "a list of messages": ("value[]", {"status": 200, "value": [{"n": 1}, PLAIN]}),
    "an object in a list": ("data[].properties", {"data": [{"properties": PLAIN}, {"n": 1}]}),
    "values with types": ("Messages[].MessageAttributes", {"Messages": [{"Body": "x", "MessageAttributes": SQS}, {}]}),
    "SNS": ("MessageAttributes", {"MessageAttributes": {k: {"Type": "String", "Value": v} for k, v in PLAIN.items()}}),
    "pairs": ("headers", {"headers": [{"key": "color", "value": "red"}, {"key": "weight", "value": 3000}]}),
    "pairs with names": ("headers", {"headers": [{"name": "color", "value": "red"}]}),
    "a flat list": ("headers", {"headers": ["color", "red", "weight", "3000"]}),
    "text": ("properties", {"properties": json.dumps(PLAIN)}),
}
COMMANDS = (
    ("match", "color = 'red' AND weight IS NOT NULL OR color = 'red'"),
    ("why", "color = 'red'"),
    ("route", "keys"),
)


@pytest.mark.parametrize("shape", MESSAGES)
def test_the_place_and_the_command(
    shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """match, why, route and explain name the member; what its command writes is selected."""
    member, message = MESSAGES[shape]
    monkeypatch.chdir(tmp_path)
    Path("keys").write_text("K\tcolor = 'red'\n")
    for name, text in (
        ("lines of json", json.dumps(message) + "\n" + json.dumps(message) + '\n{"n": 2}\n'),
        ("pretty.json", json.dumps(message, indent=2)),
        ("array.json", json.dumps([message, {"n": 2}], indent=1)),
    ):
        Path(name).write_text(text)
        number, count = {"lines of json": (2, 3), "array.json": (1, 2)}.get(name, (1, 1))
        said = f"color is inside {member} of {number} of {count} message{'s' * (count > 1)}: a selector reads"
        for command in COMMANDS:
            cli.main([*command, "--format", "json", name])
            err = capsys.readouterr().err
            assert err.count(said) == 1, err
        assert cli.main(["explain", "--format", "json", "color = 'red'", f"{name}:1"]) == 1
        assert f"color is inside {member} of 1 of 1 message" in capsys.readouterr().err
        if shutil.which("jq") is None:
            continue
        typed = next(line for line in err.splitlines() if line.startswith("  hint: jq")).removeprefix("  hint: ")
        done = subprocess.run(typed, shell=True, capture_output=True, text=True, check=True)
        Path("lines").write_text(done.stdout)
        assert cli.main(["match", "--format", "json", "-c", "color = 'red'", "lines"]) == 0
        assert capsys.readouterr().out == f"{number}\n"


def test_nothing_is_said_where_a_message_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If a message has the property at the top, a member of its name is no news; a selected message is none either."""
    file = tmp_path / "a"
    for text in ('{"color": "blue"}\n{"p": {"color": "red"}}\n', '{"p": {"colour": "red"}}\n', '{"p": {"color"\n'):
        file.write_text(text)
        for command in ("match", "why"):
            cli.main([command, "color = 'red'", str(file)])
            assert "inside" not in capsys.readouterr().err
    assert cli.main(["explain", "color = 'red'", '{"ApplicationProperties": {"color": "red"}}']) == 1
    assert capsys.readouterr().err == (
        "mqsel: color is inside ApplicationProperties of 1 of 1 message: a selector reads the properties at the top\n"
        '  hint: write the content of ApplicationProperties as MESSAGE: {"color": …}\n'
    )


def test_names_count_in_any_case_where_they_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under AZURE_SERVICE_BUS a name is found in any case."""
    file = tmp_path / "a"
    file.write_text('{"p": {"color": "red"}}\n')
    cli.main(["match", "--dialect", "AZURE_SERVICE_BUS", "Color = 'red'", str(file)])
    assert "Color is inside p of 1 of 1 message" in capsys.readouterr().err
