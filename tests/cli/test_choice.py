"""Which findings `mqsel lint` reports: rules chosen, comments, baselines, the configuration; and how it ends."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run

import mqsel
from mqsel.analysis.lint import RULES
from mqsel.files.configuration import KEYS, configured

LINES = """\
color = blue AND a LIKE 'b'
# mqsel: ignore[repeated]
a = 1 AND a = 1
# mqsel: ignore
b = 1 AND b = 1
"""
PASSED = "mqsel: passed over 1 file without signs of selectors; -v lists them\n"
CODES = ["unquoted-text", "like-without-wildcard"]


@pytest.fixture
def run(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run in a folder with a file of selectors."""
    (tmp_path / "a.selectors").write_text(LINES)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return run


def codes(out: str) -> list[str]:
    """Return the rules that are named at the ends of lines."""
    return [line.rpartition("[")[2].rstrip("]") for line in out.splitlines() if line.endswith("]")]


def test_text_once(run: Run) -> None:
    """The findings of a selector stand together, then its text, with carets under all of them."""
    status, out, err = run("lint", "a.selectors")
    assert (status, err) == (1, "mqsel: 3 selectors, 2 findings, 1 of them for --fix\n")
    first, second, *drawn = out.splitlines()
    assert first.startswith("a.selectors:1:9: warning: ")
    assert second.startswith("a.selectors:1:18: warning: ")
    assert drawn == ["  | color = blue AND a LIKE 'b'", "  |         ^^^^     ^^^^^^^^^^"]


def test_long_lines_and_many_lines(run: Run) -> None:
    """Of a line that is too long there is a piece for each finding; lines without findings are not drawn."""
    long = "color = blue AND " + "x = 1 AND " * 30 + "a LIKE 'b'"
    drawn = [line for line in run("lint", "--ignore", "repeated", "-e", long)[1].splitlines() if line[:3] == "  |"]
    assert len(drawn) == 4
    assert drawn[3].endswith("^" * 10)
    _, out, _ = run("lint", "-e", "a = b AND\nc = 1 AND\nd = e AND f = g")
    assert [line for line in out.splitlines() if line[:3] == "  |"] == [
        "  | a = b AND",
        "  |     ^",
        "  | d = e AND f = g",
        "  |     ^         ^",
    ]


def test_rules_are_chosen(run: Run) -> None:
    """--select and --ignore take rules with commas, and again; an unknown one is an error that has a near one."""
    assert codes(run("lint", "a.selectors")[1]) == CODES
    assert codes(run("lint", "--select", "never-true,unquoted-text", "a.selectors")[1]) == CODES[:1]
    assert codes(run("lint", "--ignore", "never-true", "--ignore", CODES[0], "a.selectors")[1]) == CODES[1:]
    assert run("lint", "--select", "implied", "a.selectors")[0] == 0
    status, _, err = run("lint", "--select", "never-tru", "a.selectors")
    assert (status, err.splitlines()[0]) == (
        2,
        "mqsel: argument --select: there is no rule 'never-tru': did you mean never-true?",
    )


def test_fix_edits_for_chosen_rules(run: Run, tmp_path: Path) -> None:
    """--fix leaves alone what is not selected, silenced, or known."""
    assert run("lint", "--fix", "--ignore", "like-without-wildcard", "a.selectors")[0] == 1
    assert (tmp_path / "a.selectors").read_text() == LINES
    run("lint", "--write-baseline", "known.json", "a.selectors")
    run("lint", "--fix", "--baseline", "known.json", "a.selectors")
    assert (tmp_path / "a.selectors").read_text() == LINES
    run("lint", "--fix", "a.selectors")
    assert (tmp_path / "a.selectors").read_text() == LINES.replace("a LIKE 'b'", "a = 'b'")


def test_comments_that_silence_nothing(run: Run, tmp_path: Path) -> None:
    """A comment that silences nothing, or no rule, is reported, and changes no exit code."""
    (tmp_path / "a.selectors").write_text("# mqsel: ignore[implied, repeatd]\na = 1\n\n# mqsel: ignore\nb = 1\n")
    status, out, err = run("lint", "a.selectors")
    assert (status, out) == (0, "")
    assert err == (
        "mqsel: a.selectors:2:1: mqsel: ignore[implied] silences nothing here\n"
        "mqsel: a.selectors:2:1: mqsel: ignore[repeatd]: there is no rule 'repeatd'\n  hint: did you mean repeated?\n"
        "mqsel: a.selectors:5:1: mqsel: ignore silences nothing here\n"
        "mqsel: 2 selectors, 0 findings\n"
    )
    assert "implied" not in run("lint", "--select", "repeated", "a.selectors")[2]


def test_statistics(run: Run) -> None:
    """--statistics counts findings by rule, most first."""
    status, out, _ = run("lint", "--statistics", "a.selectors", "-e", "c LIKE 'd'")
    assert status == 1
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["2", "like-without-wildcard", "warning:"],
        ["1", "unquoted-text", "warning:"],
    ]


def test_the_rules_explain_themselves(run: Run) -> None:
    """--list-rules has each rule, and --explain what it finds, why, an example, and a document."""
    status, out, err = run("lint", "--list-rules")
    assert (status, err, [line.split()[0] for line in out.splitlines()]) == (0, "", [rule.code for rule in RULES])
    for rule in RULES:
        status, out, err = run("lint", "--explain", rule.code)
        assert (status, err) == (0, "")
        for piece in (rule.about[1:], rule.why, rule.example.instead[:50], "\nsource: ", "\nhttps://"):
            assert piece in out
    assert run("lint", "--explain", "implid")[::2] == (
        2,
        "mqsel: there is no rule 'implid'\n  hint: did you mean implied?\n",
    )


def test_exit_zero(run: Run, tmp_path: Path) -> None:
    """--exit-zero ends with 0 in spite of findings; trouble stays 2."""
    assert run("lint", "--exit-zero", "a.selectors")[0] == 0
    (tmp_path / "bad.json").write_text('{"a": ')
    assert run("lint", "--exit-zero", "--as", "keyed-json", "bad.json")[0] == 2


def test_baselines(run: Run, tmp_path: Path) -> None:
    """What a baseline has stays silent where lines move and layouts change; one finding more does not."""
    assert run("lint", "--write-baseline", "known.json", "a.selectors")[::2] == (
        0,
        "mqsel: known.json: 2 findings\n",
    )
    assert json.loads((tmp_path / "known.json").read_text()) == {
        "mqsel baseline": 1,
        "files": {"a.selectors": {"color = blue AND a LIKE 'b'": dict.fromkeys(reversed(CODES), 1)}},
    }
    moved = "\n\ncolor=blue and a like 'b'\n"
    (tmp_path / "a.selectors").write_text(moved)
    status, out, err = run("lint", "--baseline", "known.json", str(tmp_path))
    assert (status, out, err) == (0, "", f"{PASSED}mqsel: 1 selector, 0 findings, 2 more in the baseline\n")
    (tmp_path / "a.selectors").write_text(moved * 2)
    _, out, err = run("lint", "--baseline", "known.json", "a.selectors")
    assert codes(out) == CODES
    assert out.startswith("a.selectors:6:7: ")
    assert err.startswith("mqsel: 2 selectors, 2 findings")
    assert run("lint", "--baseline", "no.json", "a.selectors")[0] == 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib")
def test_the_configuration_holds(run: Run, tmp_path: Path) -> None:
    """lint, check and selectors read it; the command line wins over it."""
    config = tmp_path / "pyproject.toml"
    config.write_text(
        "[tool.mqsel]\nignore = ['unquoted-text']\nbaseline = 'sub/known.json'\ndialect = 'JMS'\n"
        "[tool.mqsel.dialects]\n'*.selectors' = 'tibco-ems'\n[tool.mqsel.per-file-ignores]\n'old/' = ['implied']\n"
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "b.txt").write_text("x = 1 AND x > 0\n")
    (tmp_path / "b.txt").write_text("x = 1 AND x > 0\n")
    assert run("lint", "a.selectors")[0] == 2
    run("lint", "--write-baseline", "sub/known.json", "a.selectors")
    known = json.loads((tmp_path / "sub" / "known.json").read_text())
    assert known["files"] == {"../a.selectors": {"color = blue AND a LIKE 'b'": {CODES[1]: 1}}}
    assert run("lint", "a.selectors")[:2] == (0, "")
    assert codes(run("lint", "--ignore", "implied", "a.selectors")[1]) == CODES[:1]
    assert codes(run("lint", "old/b.txt", "b.txt")[1]) == ["implied"]
    dialects = [
        json.loads(line)["dialect"]
        for line in run("check", "--json", "a.selectors", "b.txt", "-e", "a = 1")[1].splitlines()
    ]
    assert dialects == ["JMS", "TIBCO_EMS", "TIBCO_EMS", "TIBCO_EMS", "JMS"]
    assert json.loads(run("selectors", "--json", "a.selectors")[1].splitlines()[0])["dialect"] == "TIBCO_EMS"
    named = run("selectors", "--json", "--dialect", "ARTEMIS", "a.selectors")[1]
    assert json.loads(named.splitlines()[0])["dialect"] == "ARTEMIS"
    assert "[unquoted-text]" not in run("check", "a = b")[1]
    config.write_text("[tool.mqsel]\nselct = []\n")
    for command in ("lint", "check", "format", "selectors"):
        assert run(command, "b.txt")[::2] == (
            2,
            f"mqsel: {config}: there is no key 'selct'\n  hint: did you mean select?\n",
        )


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib")
def test_the_contract_of_the_configuration(run: Run, tmp_path: Path) -> None:
    """Commands that have --given take the contract of the configuration without it."""
    (tmp_path / "mqsel.toml").write_text("contract = 'sub/contract.json'\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    _, out, _ = run("contract", "a.jsonl")
    (tmp_path / "sub" / "contract.json").write_text(out)
    (tmp_path / "b.jsonl").write_text('{"a": "x"}\n')
    messages = ("--count", "a = 1", "b.jsonl")
    said, named = [
        re.sub(r"[0-9.]+ s\b", "", run("match", *more, *messages)[2]) for more in ([], ["--given", "sub/contract.json"])
    ]
    assert said == named
    assert "contract" in said
    (tmp_path / "sub" / "contract.json").unlink()
    assert run("match", "--count", "a = 1", "b.jsonl")[0] == 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib")
def test_the_dialect_of_the_command_line(run: Run, tmp_path: Path) -> None:
    """Every command reads a selector of the command line in the dialect of the configuration, or in the one named."""
    (tmp_path / "mqsel.toml").write_text("dialect = 'JMS'\n")
    (tmp_path / "a.jsonl").write_text('{"a.b": 1}\n')
    for arguments in (
        ["match", "a.b = 1", "a.jsonl"],
        ["why", "a.b = 1", "a.jsonl"],
        ["explain", "a.b = 1", '{"a.b": 1}'],
        ["diff", "a.b = 1", "a.b = 2"],
        ["check", "a.b = 1"],
        ["format", "a.b = 1"],
    ):
        assert run(*arguments)[0] == 2, arguments
        more = ["--dialect", "IBM_MQ"] * (1 + (arguments[0] == "diff"))
        assert run(*arguments, *more)[0] < 2, arguments


# ---- what the READMEs show -------------------------------------------------------------------------------------------

PACKAGE = Path(mqsel.__file__).parent
MANUAL = (PACKAGE / "cli" / "README.md").read_text(encoding="utf-8")


def block(language: str, of: str) -> str:
    """Return the block of the manual that has a word."""
    found = re.findall(rf"^```{language}\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)
    return next(one for one in found if of in one)


def test_the_manual_has_the_keys() -> None:
    """The table of keys is that of the code."""
    assert "\n".join(f"| `{name}` | {key.about} |" for name, key in KEYS.items()) + "\n\n" in MANUAL


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib")
def test_the_configuration_of_the_manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration that the manual shows is one, with what the text says of it."""
    (tmp_path / "pyproject.toml").write_text(block("toml", "tool.mqsel"))
    monkeypatch.chdir(tmp_path)
    found = configured()
    assert (found.ignore, found.baseline) == (("missing-excluded",), str(tmp_path / "known.json"))
    assert found.dialect_of("legacy/a/broker-1.xml", "JMS") == "ARTEMIS"
    assert found.dialect_of("legacy/a/b.xml", "JMS") == "TIBCO_EMS"
    assert found.ignored("src/ATest.java") == {"never-true", "constant-part"}


def test_the_commands_of_the_manual(run: Run) -> None:
    """The hook and the workflow call commands that there are, and the log that is uploaded is written."""
    pytest.importorskip("pathspec")
    hook, workflow = block("yaml", "pass_filenames"), block("yaml", "upload-sarif")
    (entry,) = re.findall(r"entry: mqsel (.*)", hook)
    assert run(*shlex.split(entry))[0] == 1
    log, check = re.findall(r"run: mqsel (.*)", workflow)
    command, name = log.split(" > ")
    status, out, _ = run(*shlex.split(command))
    assert status == 0
    assert json.loads(out)["version"] == "2.1.0"
    assert f"sarif_file: {name}" in workflow
    assert run(*shlex.split(check))[0] == 1


def test_the_workflow_of_the_manual(tmp_path: Path) -> None:
    """The workflow is one, by the schema of workflows."""
    pytest.importorskip("check_jsonschema")
    file = tmp_path / "workflow.yml"
    file.write_text(block("yaml", "upload-sarif"))
    schema = ["--builtin-schema", "vendor.github-workflows"]
    subprocess.run([sys.executable, "-m", "check_jsonschema", *schema, str(file)], check=True, capture_output=True)
