"""The two writers: no command prints what a terminal or the log of a build obeys, and JSON is JSON in any encoding."""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mqsel import cli
from mqsel.carets import nameable
from mqsel.errors import FileError, PropertyTypeError
from mqsel.files.wordings import unreadable

# ESC, OSC 8, CR, BS, DEL, C1; turns of direction, characters without width, ends of lines, tags, half a pair.
CONTROLS = "a\x1b[2K\x1b[1A\x1b]8;;x\x07y\x1b]8;;\x07\r\b\x7f\x9b31mb"
MARKS = "ö日\U0001f600\u202e\u061c\u200b\ufeff\u2028\u2029\U000e0001\U000e0041\U000e0002\udcff"
# GitHub, its older command, Azure, TeamCity.
BUILDS = "::error::c\n::error file=a::b\n :: ::add-mask::a\n##[error]b##vso[task.setvariable a=b]\n##teamcity[b c='d']"
HOSTILE = {"controls": CONTROLS, "marks": MARKS, "builds": BUILDS}
ENCODINGS = ("utf-8", "ascii", "cp1252", "latin-1")
COMMAND = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.MULTILINE)


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    """A text that a terminal or the log of a build obeys."""
    return HOSTILE[request.param]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostile: str) -> Path:
    """Messages and selectors with a hostile text in every name, value, key and path."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"{hostile}.jsonl"
    message = {f"n{hostile}": f"v{hostile}", "a": 1, "b": "x"}
    path.write_text("".join(json.dumps(message) + "\n" for _ in range(2)) + "{broken\n", encoding="utf-8")
    path.with_suffix(".plain").write_text('{"a": 1}\n', encoding="utf-8")
    keyed = {f"k{hostile}": f"a = 1 AND b <> 'v{hostile}'", f"l{hostile}": "a = 1", f"m{hostile}": "a ="}
    (tmp_path / "keyed.json").write_text(json.dumps(keyed), encoding="utf-8")
    path.with_suffix(".txt").write_text("a = 1\na =\na = 1 AND a = 2\n", encoding="utf-8")
    case = {"name": f"c{hostile}", "selector": f"b = 'v{hostile}'", "message": message, "want": True}
    path.with_suffix(".cases").write_text(json.dumps(case), encoding="utf-8")
    return tmp_path


def commands(hostile: str) -> Iterator[list[str]]:
    """Every command that prints something of others, in each of its forms."""
    name = hostile
    messages, selectors, cases = (f"{name}{ending}" for ending in (".jsonl", ".txt", ".cases"))
    selector = f"a = 1 AND b <> 'v{hostile}'"
    message = json.dumps({f"n{hostile}": 1, "b": f"v{hostile}"})
    for options in ([], ["--json"]):
        yield ["inspect", *options, messages]
        yield ["contract", *options, messages]
        yield ["why", *options, selector, messages]
        yield ["check", *options, selector, "a =" + hostile]
        yield ["check", *options, "--file", selectors]
        yield ["check", *options, "keyed.json"]
        yield ["lint", *options, "--dialect", "JMS", selector + " AND a = 1", f"b = 'v{hostile}' AND b = 'w'"]
        yield ["lint", *options, "keyed.json", selectors]
        yield ["explain", *options, f"b = 'v{hostile}' AND c = 2", message]
        yield ["explain", *options, selector]
        yield ["explain", *options, f"n{hostile} = 1", message]
        yield ["diff", *options, selector, f"b = 'w{hostile}'"]
        yield ["diff", *options, selector, f"b = 'w{hostile}'", messages]
        yield ["diff", *options, "keyed.json", selectors]
        yield ["audit", *options, "keyed.json", selectors]
        yield ["migrate", *options, "--to", "ARTEMIS", selector]
        yield ["migrate", *options, "--to", "ARTEMIS", "keyed.json", selectors]
        yield ["selectors", *options, "keyed.json", selectors]
        yield ["test", *options, cases]
        yield ["route", "--count", *options, "keyed.json", messages]
    yield ["match", "--json", selector, messages]
    yield ["match", "-n", "a = 1", f"{name}.plain"]
    yield ["match", "-l", "a = 1", messages]
    yield ["match", "-l", "a = 1", f"none{name}.jsonl"]
    yield ["lint", "--sarif", "keyed.json", selectors, selector]
    yield ["lint", "--diff", selectors]
    yield ["lint", "--statistics", selectors]
    yield ["diff", "--markdown", "keyed.json", selectors]
    yield ["format", "--check", selector]
    yield ["format", "--diff", selectors]
    yield ["format", selector]
    yield ["match", "--given", "keyed.json", selector, messages]
    yield [f"match{hostile}", messages]
    yield ["match", f"--x{hostile}", "a = 1", messages]


def streams(monkeypatch: pytest.MonkeyPatch, encoding: str, argv: list[str]) -> tuple[int, str, str]:
    """Run a command on streams of an encoding; return its exit code and what it printed."""
    buffers = io.BytesIO(), io.BytesIO()
    opened = [io.TextIOWrapper(buffer, encoding, errors="strict") for buffer in buffers]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", opened[0])
        patch.setattr(sys, "stderr", opened[1])
        try:
            status = cli.main(argv)
        except SystemExit as end:
            status = int(end.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
    out, err = (buffer.getvalue().decode(encoding) for buffer in buffers)
    return status, out, err


def obeyed(text: str) -> list[str]:
    """Return what a terminal or the log of a build would obey."""
    signs = {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")}
    return [*sorted(signs - {"\n", "\t"}), *COMMAND.findall(text)]


def strings(value: Any) -> Iterator[str]:
    """Yield all strings of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.usefixtures("folder")
def test_nothing_is_obeyed(monkeypatch: pytest.MonkeyPatch, hostile: str, encoding: str) -> None:
    """Every command, hostile text and encoding: nothing is obeyed, JSON parses and has the text, nothing is raised."""
    for argv in commands(hostile):
        status, out, err = streams(monkeypatch, encoding, argv)
        assert (argv, obeyed(out), obeyed(err)) == (argv, [], [])
        assert status in (0, 1, 2), argv
        assert "defect" not in err, (argv, err)
        if "--json" in argv or "--sarif" in argv or argv[0] == "contract":
            whole = argv[0] == "contract" or "--sarif" in argv
            found = [json.loads(text) for text in ([out] if whole else out.splitlines())]
            assert found or status == 2, argv
            if found and argv[0] in ("inspect", "contract", "selectors", "audit", "migrate"):
                # Selectors in files have U+FFFD for half a pair.
                wanted = hostile, hostile.replace("\udcff", "\ufffd")
                assert any(each in text for one in found for text in strings(one) for each in wanted), argv


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("ftp://ann:secretpw@127.0.0.1:9/k", "ftp://…@127.0.0.1:9/k"),
        ("s3://KEY:sec/ret@bucket/k", "s3://…@bucket/k"),
        ("amqp://ann:p@ss@host/q", "amqp://…@host/q"),
        ("http://host:80/a@b", "http://host:80/a@b"),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("https://h/f?sv=1&sig=s%3D&X-Amz-Signature=ab&b=2", "https://h/f?sv=1&sig=…&X-Amz-Signature=…&b=2"),
        ("a:b@c.jsonl", "a:b@c.jsonl"),
    ],
)
def test_passwords_are_not_shown(name: str, wanted: str) -> None:
    """An address is shown without its password or signature, in every error about it; other names stay as they are."""
    assert wanted == nameable(name)
    for error in (
        FileError("x", path=name),
        unreadable(name, ValueError(f"cannot open {name}")),
        PropertyTypeError("x"),
    ):
        error.path = name
        assert not any(secret in str(error) for secret in ("secretpw", "sec/ret", "p@ss", "s%3D", "=ab"))


def test_commands_show_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands name an address that they cannot read without its password."""
    for argv in (
        ["match", "a = 1"],
        ["match", "-l", "a = 1"],
        ["selectors"],
        ["check"],
        ["lint", "--json"],
        ["lint", "--sarif"],
        ["audit"],
        ["route", "--count", "none"],
        ["explain", "a = 1"],
    ):
        _, out, err = streams(monkeypatch, "utf-8", [*argv, "nosuch://ann:secretpw@127.0.0.1:9/k?sig=abcdef"])
        assert "secretpw" not in out + err, argv
        assert "abcdef" not in out + err, argv
