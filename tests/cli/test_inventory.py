"""``mqsel selectors`` lists selectors with their places."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter")


CORPUS = Path(__file__).parent.parent / "inventory" / "corpus"


def test_lines(run, tmp_path):
    """A line has key, destination, selector and place; what a terminal would obey is shown as blanks."""
    (tmp_path / "a.mqsc").write_text("DEFINE SUB(A) DEST(Q) SELECTOR('a = ''\x1b[1m''')\n", encoding="utf-8")
    line = f"A\tQ\ta = '�[1m'\t{tmp_path}/a.mqsc:1:33\n"
    assert run("selectors", tmp_path / "a.mqsc") == (0, line, "mqsel: 1 selector, 0 incomplete\n")


def test_json(run):
    """An object a line, with a reason in the place of the selector where that cannot be known."""
    status, out, _ = run("selectors", "--json", "--dialect", "jms", CORPUS / "subs.mqsc")
    found = [json.loads(line) for line in out.splitlines()]
    assert status == 2  # the value of the last has no end
    assert [*found[0]] == ["key", "destination", "selector", "dialect", "kind", "file", "line", "column"]
    assert [(one["key"], one.get("selector"), one["dialect"]) for one in found] == [
        ("CARS", "color = 'red' AND weight > 2500", "JMS"),
        ("BIKES", "JMSType = 'bike'", "JMS"),
        ("OLD", "a = 1", "JMS"),
        ("", None, "JMS"),
    ]
    assert found[3]["reason"].startswith("its value has no end")


def test_exit_codes(run, tmp_path):
    """0 with a selector, 1 without, 2 if something could not be read."""
    empty = tmp_path / "empty.mqsc"
    empty.write_text("DEFINE QLOCAL(A)\n", encoding="utf-8")
    assert run("selectors", empty)[0] == 1
    status, out, err = run("selectors", tmp_path / "none", CORPUS / "subs.mqsc")
    assert (status, out.count("\n")) == (2, 3)
    assert f"mqsel: {tmp_path}/none:1:1: the file cannot be read: No such file or directory\n" in err


def test_columns(run, tmp_path):
    """Columns of CSV are named on the command line."""
    file = tmp_path / "a.csv"
    file.write_text("id,rule\nx,a = 1\n", encoding="utf-8")
    status, out, _ = run("selectors", "--as", "csv", "--columns", "key=id,selector=rule", file)
    assert status == 0 and out.startswith("x\t\ta = 1\t")
    status, _, err = run("selectors", "--columns", "id", file)
    assert status == 2 and "names no column" in err


# ---- the other commands ----------------------------------------------------------------------------------------------

FILES = {
    "subs.mqsc": "DEFINE SUB(A) +\n  SELECTOR('color = ''red''-\n AND a == 1')\n",
    "broker.xml": """<configuration xmlns="urn:activemq"><core><diverts><divert name="d"><address>A</address>
<filter string="name = &apos;x&apos; AND weight &gt; 5 AND a == 1"/></divert></diverts></core></configuration>
""",
    "L.java": r"""import javax.jms.*;
class L { static final String A = "color = 'r\u0065d' AND ";
  void f(Session s) { s.createConsumer(q, A + "a == 1"); s.createConsumer(q, A + "b = '" + id + "' AND c == 1"); }
}
""",
    "application.yml": "my:\n  selector: >-\n    color = 'red'\n    AND a == 1\n",
    "e.json": r"""{"my": {"selector": "color = '\"\"' AND a == 1"}}
""",
    "k.txt": "key\tcolor = 'red'\nother\ta == 1\n",
}
SPANS = {  # where in the file the second sign of each == stands
    name: [
        (number, match.start() + 2)
        for number, line in enumerate(content.splitlines(), 1)
        for match in re.finditer("==", line)
    ]
    for name, content in FILES.items()
}


@pytest.fixture
def _folder(tmp_path, monkeypatch):
    """Go into a folder with selectors in files of many kinds, each with an error behind what is written otherwise."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("_folder")
def test_places_of_errors(run, name):
    """An error points into the file that people edit."""
    status, _, err = run("check", name)
    places = [line.split(": ")[1] for line in err.splitlines() if line.startswith(f"mqsel: {name}:")]
    assert status == 2
    assert places == [f"{name}:{line}:{column}" for line, column in SPANS[name]]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("_folder")
def test_regions_of_sarif(run, name):
    """Regions are those of the file, as places in text are."""
    (made,) = json.loads(run("lint", "--sarif", name)[1])["runs"]
    found = [one for one in made["results"] if one["ruleId"] == "invalid"]
    places = [one["locations"][0]["physicalLocation"] for one in found]
    assert [(one["region"]["startLine"], one["region"]["startColumn"]) for one in places] == SPANS[name]
    assert {one["artifactLocation"]["uri"] for one in places} == {name}


@pytest.mark.usefixtures("_folder")
def test_what_is_known_in_part(run):
    """What holds whatever a hole holds is reported; the rest is reported as not known, and never dropped."""
    source = """import javax.jms.*;
class L { void f(Session s) {
  s.createConsumer(q, "a = '" + x + "' AND b LIKE '" + y + "'");
  s.createConsumer(q, "a > " + x);
  s.createConsumer(q, "a == " + x);
  s.createConsumer(q, x);
  s.createConsumer(q, "a = '" + x + "' AND c LIKE 'd' AND a = '" + y + "'");
} }
"""
    Path("M.java").write_text(source, encoding="utf-8")
    status, out, err = run("check", "M.java")
    assert status == 2
    concatenated = "concatenated with values that only the running program has"
    assert [line for line in out.splitlines() if line[0] == " "] == [
        f"  incomplete  {concatenated}; the part that mqsel can read is valid",
        f"  incomplete  {concatenated}; mqsel can't check its syntax",
        "  incomplete  an expression: this file does not have its value; mqsel can't check its syntax",
        f"  incomplete  {concatenated}; the part that mqsel can read is valid",
    ]
    assert err.startswith("mqsel: M.java:5:27: unexpected '=' after '='")
    assert err.endswith("mqsel: 5 selectors, 1 invalid, 4 incomplete\n")
    status, out, _ = run("lint", "--json", "M.java")
    found = [json.loads(line) for line in out.splitlines()]
    assert status == 1
    codes = [(one["line"], one["code"]) for one in found if "code" in one]
    assert codes == [(5, "invalid"), (7, "like-without-wildcard")]
    assert [one["line"] for one in found if "reason" in one] == [3, 4, 5, 6, 7]
    assert run("format", "--check", "M.java")[0] == 2


@pytest.mark.usefixtures("_folder")
def test_damage_is_an_error_with_its_place(run):
    """A damaged file is one error, the rest of it and of the others is read, and the exit code is 2."""
    Path("d.json").write_text('{"a": "x = 1", "b" "y = 2"}\n{"c": "z = 3"}\n', encoding="utf-8")
    for command in ("check", "lint", "audit"):
        status, _, err = run(command, "--as", "keyed-json", "d.json")
        assert status == 2 and "mqsel: d.json:1:20: damaged JSON" in err
    Path("m.jsonl").write_text('{"z": 3}\n', encoding="utf-8")
    status, out, _ = run("route", "--as", "keyed-json", "d.json", "m.jsonl")
    assert (status, json.loads(out)) == (2, {"subscribers": ["c"], "message": {"z": 3}})
    status, out, _ = run("lint", "--sarif", "--as", "keyed-json", "d.json")
    (made,) = json.loads(out)["runs"]
    assert status == 2
    (invocation,) = made["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["level"] == "error"


@pytest.mark.usefixtures("_folder")
def test_route_and_explain_of_paths(run):
    """Selectors of scripts route messages, and one is explained by its key."""
    Path("s.mqsc").write_text("DEFINE SUB(A) SELECTOR('a = 1')\nDEFINE SUB(B) SELECTOR('a = 2')\n", encoding="utf-8")
    Path("m.jsonl").write_text('{"a": 2}\n', encoding="utf-8")
    status, out, _ = run("route", "s.mqsc", "m.jsonl")
    assert (status, json.loads(out)["subscribers"]) == (0, ["B"])
    assert run("explain", "--key", "B", "s.mqsc", "m.jsonl:1")[0] == 0
    assert run("explain", "--key", "A", "s.mqsc", '{"a": 2}')[0] == 1
    status, _, err = run("explain", "--key", "C", "s.mqsc")
    assert status == 2 and err.endswith("the key 'C' in s.mqsc\n  hint: the keys are 'A', 'B'\n")


@pytest.mark.usefixtures("_folder")
def test_what_a_terminal_would_obey(run):
    """Control characters of files are shown escaped, whatever prints them."""
    signs = "\x1b[2J\x9b\u202e"
    content = f"a{signs}\tb = '{signs}'\nc\tb == '{signs}'\nd\tb = '{signs}'\ne\t\"{signs}\" = 1\n"
    Path("k.txt").write_text(content, encoding="utf-8")
    calls = (
        ["check"],
        ["lint"],
        ["format", "--check"],
        ["audit"],
        ["selectors"],
        ["check", "--json"],
        ["lint", "--json"],
    )
    for call in (*calls, ["lint", "--sarif"], ["audit", "--json"], ["selectors", "--json"], ["lint", "--fix"]):
        _, out, err = run(*call, "k.txt")
        shown = out + err
        assert [sign for sign in shown if sign not in "\n\t" and not sign.isprintable()] == [], call
