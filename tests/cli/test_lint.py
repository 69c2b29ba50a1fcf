"""`mqsel lint` and `mqsel format` as their users see them: stdout, stderr, files, exit code."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from conftest import Run, process

from mqsel.analysis.lint import RULES
from mqsel.inventory import Place, read_file

LINES = """\
color = blue

a = 1 and a = 1
JMSType LIKE 'car'
AND (
  weight > 3
  OR weight > 5
)
b == 2
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of selectors."""
    path = tmp_path / "selectors of mine.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


# ---- lint ------------------------------------------------------------------------------------------------------------


def test_findings_of_arguments(run: Run) -> None:
    """A finding is a line with its place, and the text with a caret; the count is said on stderr."""
    status, out, err = run("lint", "color = blue", "a = 1")
    assert (status, err) == (1, "mqsel: 2 selectors, 1 finding\n")
    assert out == (
        "selector 1, column 9: warning: blue is the name of a property here: if you mean a string, write 'blue'"
        " [unquoted-text]\n  | color = blue\n  |         ^^^^\n"
    )


@pytest.mark.parametrize(
    ("text", "status"),
    [("a = 1", 0), ("a <> 1", 0), ("a = b", 1), ("a == 1", 1)],
    ids=["none", "note", "warning", "error"],
)
def test_exit_codes(run: Run, text: str, status: int) -> None:
    """Nothing and a note are 0, a warning and an error are 1; with --fix what is left counts."""
    assert run("lint", text)[0] == status
    assert run("lint", "--fix", text)[:2] == (status, f"{text}\n")


def test_findings_of_files(run: Run, file: Path) -> None:
    """A finding names file, line and column, also in a selector of many lines."""
    status, out, err = run("lint", "--file", file)
    places = [line.split(": ")[0] for line in out.splitlines() if not line.startswith("  |")]

    assert (status, err) == (1, "mqsel: 4 selectors, 5 findings, 3 of them for --fix\n")
    assert places == [f"{file}:{place}" for place in ("1:9", "3:11", "4:1", "7:6", "9:4")]


def test_findings_in_json(run: Run, file: Path) -> None:
    """--json prints one object for each finding, with its edits."""
    status, out, err = run("lint", "--json", "--file", file)
    objects = [json.loads(line) for line in out.splitlines()]

    assert (status, err, len(objects)) == (1, "", 5)
    assert objects[1] == {
        "where": f"{file}:3:1",
        "key": "2",
        "kind": "lines",
        "file": str(file),
        "line": 3,
        "column": 11,
        "selector": "a = 1 and a = 1",
        "code": "repeated",
        "severity": "warning",
        "span": [10, 15],
        "sentence": "a = 1 is repeated, and the repetition has no effect",
        "edits": [{"span": [5, 15], "text": ""}],
    }


def test_findings_in_sarif(run: Run, file: Path) -> None:
    """--sarif prints one run with all rules; places are lines and columns of the file, edits are fixes."""
    status, out, err = run("lint", "--sarif", "a = b", "--file", file)
    log = json.loads(out)
    (made,) = log["runs"]

    assert (status, err, log["version"], made["columnKind"]) == (1, "", "2.1.0", "unicodeCodePoints")
    assert [rule["id"] for rule in made["tool"]["driver"]["rules"]] == [rule.code for rule in RULES]
    assert made["artifacts"] == [{"description": {"text": "selector 1"}, "contents": {"text": "a = b"}}]
    assert len(made["results"]) == 6
    for result in made["results"]:
        assert RULES[result["ruleIndex"]].code == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
    (location,) = made["results"][2]["locations"]
    region = {"startLine": 3, "startColumn": 11, "endLine": 3, "endColumn": 16}
    assert location["physicalLocation"]["artifactLocation"]["uri"].endswith("selectors%20of%20mine.txt")
    assert location["physicalLocation"]["region"] == region
    assert made["results"][2]["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 3, "startColumn": 6, "endLine": 3, "endColumn": 16},
            "insertedContent": {"text": ""},
        }
    ]


def test_fix_writes_files(run: Run, file: Path) -> None:
    """--fix writes a file with its edits and nothing else changed; what is left is said on stderr."""
    status, out, err = run("lint", "--fix", "--file", file)

    assert (status, out) == (1, "")
    assert file.read_text(encoding="utf-8") == (
        "color = blue\n\na = 1\nJMSType = 'car'\nAND (\n  weight > 3\n)\nb == 2\n"
    )
    assert err.endswith("mqsel: 4 selectors, 2 findings\n")
    before = file.stat().st_mtime_ns
    run("lint", "--fix", "--file", file)
    assert file.stat().st_mtime_ns == before


def test_fix_of_stdin() -> None:
    """What comes from stdin goes to stdout, line ends and all."""
    done = process("lint", "--fix", "--file", "-", input=b"\xef\xbb\xbfa LIKE 'b'\r\nc = 5--d\r\n", check=True)
    assert done.stdout == b"\xef\xbb\xbfa = 'b'\r\nc = 5- -d\r\n"


def test_fix_writes_plain_files_alone(run: Run, tmp_path: Path) -> None:
    """A packed file is read, and not written."""
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(b"a LIKE 'b'\n"))
    status, out, err = run("lint", "--fix", "--file", packed)

    assert (status, out) == (2, "")
    assert err.startswith(f"mqsel: {packed}: not written: the file is packed\n")
    assert run("lint", "--file", packed)[0] == 1


@pytest.mark.parametrize("name", ["lint", "format", "check"])
def test_trouble(run: Run, tmp_path: Path, name: str) -> None:
    """Without a selector, and for a file that cannot be read, there is one clear error."""
    missing = tmp_path / "no"
    hint = f"write mqsel {name} PATH, or -e SELECTOR"
    assert run(name) == (2, "", f"mqsel: no selector is given: expected one, or a path\n  hint: {hint}\n")
    said = f"mqsel: {missing}:1:1: the file cannot be read: No such file or directory\n"
    status, out, err = run(name, "--file", missing)
    assert (status, out, err[: len(said)]) == (2, "", said)


def test_check_prints_findings(run: Run) -> None:
    """`check` says what lint finds, with severities, and stays with its exit code."""
    status, out, _ = run("check", "color = blue AND size <> 3")

    assert status == 0
    assert (
        "\nwarning   blue is the name of a property here: if you mean a string, write 'blue' [unquoted-text]\n" in out
    )
    assert "\nnote      the test isn't TRUE if size is missing: to also select these messages, write size <> 3" in out


def test_help_says_where_the_rules_are(run: Run) -> None:
    """The help of lint names the option that lists each rule."""
    _, text, _ = run("lint", "--help")
    status, out, _ = run("lint", "--list-rules")

    assert status == 0
    assert "--list-rules" in text
    assert [rule.code for rule in RULES if f"\n{rule.code} " not in f"\n{out}"] == []


# ---- files of selectors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a = 1\nb = 2\n", [(1, "a = 1"), (2, "b = 2")]),
        ("\ufeffa = 1\r\n\r\n  b = 2", [(1, "a = 1"), (3, "b = 2")]),
        ("a = 1\nAND b = 2\n\nor c", [(1, "a = 1\nAND b = 2"), (4, "or c")]),
        ("a = 1\nORDER = 2", [(1, "a = 1"), (2, "ORDER = 2")]),
        ("(\n  a = 1\n)\nAND b = 2\nc", [(1, "(\n  a = 1\n)\nAND b = 2"), (5, "c")]),
        ("a IN (\n  'x)',\n  'y'\n)", [(1, "a IN (\n  'x)',\n  'y'\n)")]),
        ("a IN ('x'\nb = 2\n  c = 3", [(1, "a IN ('x'"), (2, "b = 2"), (3, "c = 3")]),
    ],
)
def test_blocks(content: str, expected: list[tuple[int, str]]) -> None:
    """A line is a selector, unless it goes on where the one before ended; spans point into the text."""
    found = list(read_file(Place("x", is_named=True), "lines", {}, content.encode()))

    assert [(one.line, one.selector) for one in found] == expected
    texts = [one.text for one in found if one.text is not None]
    assert [content.removeprefix("\ufeff")[slice(*one.span)] for one in texts] == [text for _, text in expected]


# ---- format ----------------------------------------------------------------------------------------------------------


def test_format_of_arguments(run: Run) -> None:
    """A selector is printed; an invalid one is complained of, and decides the exit code."""
    assert run("format", "color='blue'and weight>2500", "not a=1") == (
        0,
        "color = 'blue' AND weight > 2500\nNOT (a = 1)\n",
        "",
    )
    status, out, err = run("format", "a==1", "b=2")
    assert (status, out) == (2, "b = 2\n")
    assert err.startswith("mqsel: selector 1: unexpected '=' after '='")


def test_format_of_files(run: Run, file: Path) -> None:
    """A file is written anew, what is invalid and blank lines stay; what was written is left alone by --check."""
    file.write_text("a=1 and (b=2 or c in('x','y')and d is null)and e like 'a long text that needs a line%'\n\nb=2")
    status, out, err = run("format", "--check", "--file", file)
    assert (status, out, err) == (1, "".join(f"{file}:{at}:1: would be written otherwise\n" for at in (1, 3)), "")
    before = file.read_text()
    status, out, err = run("format", file)
    assert (status, file.read_text(), err) == (0, before, "")
    status, changes, _ = run("format", "--diff", file)
    assert (status, file.read_text(), changes.splitlines()[:2]) == (1, before, [f"--- {file}", f"+++ {file}"])
    assert run("format", "--write", "--file", file) == (0, "", f"mqsel: {file}: 2 selectors written\n")
    assert file.read_text() == out
    assert out == (
        "a = 1\nAND (b = 2 OR (c IN ('x', 'y') AND d IS NULL))\nAND e LIKE 'a long text that needs a line%'\n\nb = 2"
    )
    assert run("format", "--check", "--file", file) == (0, "", "")
    file.write_text("b==2\nc=3\n")
    assert run("format", "--write", "--file", file)[0] == 2
    assert file.read_text() == "b==2\nc = 3\n"
    assert run("format", "--check", "--file", file)[0] == 2


def test_format_keeps_line_ends(run: Run, file: Path) -> None:
    """A file with the line ends of Windows keeps them, and is not read as something to change."""
    file.write_bytes(b"a=1 and b in('" + b"x" * 40 + b"','" + b"y" * 40 + b"')\r\nc=2\r\n")
    assert run("format", "--write", "--file", file)[0] == 0
    written = file.read_bytes()
    assert written.count(b"\r\n") == written.count(b"\n") == 6
    assert run("format", "--check", "--file", file) == (0, "", "")


# ---- contracts -------------------------------------------------------------------------------------------------------

CONTRACT = {"properties": {"color": ["red", "blue"], "weight": {"type": "int32", "required": True}}, "others": False}


def test_given_and_configured_contracts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contract of --given, a selector or a file, is that of the configuration without --given; a bad one is named."""
    monkeypatch.chdir(tmp_path)
    Path("contract.json").write_text(json.dumps(CONTRACT), encoding="utf-8")
    text = "color = 'green' AND weight IS NOT NULL"
    status, out, _ = run("lint", "--given", "contract.json", text)
    assert status == 1
    assert "warning: color = 'green' is TRUE for no message of the contract: color is one of 'red', 'blue'" in out
    assert "note: weight IS NOT NULL is TRUE for every message of the contract: weight is int32 [contract" in out
    assert "every message meets weight > 5 [contract-implies]" in run("lint", "--given", "weight > 5", text)[1]
    assert run("lint", text)[:2] == (0, "")
    Path("mqsel.toml").write_text('contract = "contract.json"', encoding="utf-8")
    assert run("lint", text)[:2] == (status, out)
    assert [json.loads(line)["code"] for line in run("lint", "--json", text)[1].splitlines()] == [
        "outside-contract",
        "contract-implies",
    ]
    assert run("lint", "--given", "none.json", text)[0] == run("lint", "--given", "color IN (", text)[0] == 2


def test_given_leaves_edits_alone(run: Run, tmp_path: Path) -> None:
    """--fix changes no answer of any message, of the contract or not; findings of it are still reported."""
    path = tmp_path / "selectors.txt"
    path.write_text("color = 'red' AND color = 'red' AND weight > 5\n", encoding="utf-8")
    status, _, err = run("lint", "--as", "lines", "--given", "weight > 9", "--fix", path)

    assert path.read_text(encoding="utf-8") == "color = 'red' AND weight > 5\n"
    assert (status, "[contract-implies]" in err) == (0, True)


def test_a_rule_that_is_not_selected_hides_none(run):
    """A finding of a selected rule is reported, though another rule, which is not selected, reports the same test."""
    arguments = ["--given", "region = 5", "--select", "outside-contract"]
    counts = [run("lint", *arguments, "-e", f"region IN ('a','{text}')")[2] for text in "ab"]

    assert ["1 finding" in str(count) for count in counts] == [True, True]
