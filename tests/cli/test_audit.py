"""`mqsel audit`: what is printed of a file of selectors, and the exit codes of linters."""

from __future__ import annotations

import json

import pytest

LINES = """\
car\tJMSType = 'car' AND color = 'blue'
car too\tcolor = 'blue' AND JMSType = 'car'
blue\tcolor = 'blue'
heavy\tweight > 2500 AND color = 'blue'
heavy too\tweight > 2500 AND color = 'blue'
none\tweight > 5 AND weight < 3
red\tcolor = 'red' OR region IS NULL
"""
FOUND = """\
never     none: 'weight > 5' and 'weight < 3' are never TRUE together
same      heavy, heavy too: weight > 2500 AND color = 'blue'
equal     car, car too: JMSType = 'car' AND color = 'blue' | color = 'blue' AND JMSType = 'car'
contains  blue: color = 'blue' | car, heavy: JMSType = 'car' AND color = 'blue' | weight > 2500 AND color = 'blue'
missing   car and red overlap only if region is missing: {"JMSType": "car", "color": "blue"}
missing   blue and red overlap only if region is missing: {"color": "blue"}
missing   heavy and red overlap only if region is missing: {"weight": 2501, "color": "blue"}
"""
SUMMARY = (
    "7 selectors, 1 never matches, 1 duplicate, 1 equivalent to another, "
    "2 contained in others, 3 pairs overlap only if a property is missing\n"
)


@pytest.fixture
def audit(run, tmp_path):
    """Audit a file of this content; give the exit code, stdout and stderr."""

    def call(content, *arguments):
        (tmp_path / "selectors").write_text(content, encoding="utf-8")
        status, out, err = run("audit", tmp_path / "selectors", *arguments)
        return status, out, err.replace(str(tmp_path), "DIR")

    return call


def test_findings(audit):
    """Each finding is a line that begins with its kind; counts go to stderr."""
    assert audit(LINES) == (1, FOUND, SUMMARY)


def test_nothing_found(audit):
    """Selectors of which there is nothing to say are 0."""
    assert audit("a\tx = 1\nb\tx = 2\n") == (0, "", "2 selectors\n")
    status, out, err = audit("")
    assert (status, out, err.startswith("mqsel: no selector was found: ")) == (0, "", True)
    gap = "gap       no selector matches the message without any property"
    assert audit("a\tx = 1\n", "--given", "x = 2 OR x IS NULL")[1].endswith(f"{gap}, nor any other message\n")


def test_invalid(audit):
    """An invalid selector is told with its line and key, and is 2; the others are compared all the same."""
    status, out, err = audit("a\tx = 1\nb\tx == 2\nc\tx = 1\n")
    assert (status, out) == (2, "same      a, c: x = 1\n")
    assert err.startswith("mqsel: DIR/selectors:2:6: b: unexpected '=' after '='")
    assert err.endswith("3 selectors, 1 invalid, 1 duplicate\n")


def test_json(audit):
    """One object, with every key."""
    status, out, _ = audit(LINES, "--json")
    found = json.loads(out)
    assert (status, found["total"], found["undecided"], found["pairs_left"]) == (1, 7, [], 0)
    assert (found["same"], found["equal"]) == ([["heavy", "heavy too"]], [["car", "car too"]])
    assert found["contains"] == [{"key": "blue", "keys": ["car", "heavy"]}]
    assert found["missing"][1] == {"keys": ["blue", "red"], "name": "region", "message": {"color": "blue"}}


def test_long_lists_are_cut(audit):
    """Of many keys five are shown, and how many more there are; JSON has all."""
    lines = "".join(f"k{number}\tprice > {number}\n" for number in range(1, 100))
    status, out, _ = audit(lines)
    texts = "price > 2 | price > 3 | price > 4 | price > 5 | price > 6"
    assert status == 1
    assert out == f"contains  k1: price > 1 | k2, k3, k4, k5, k6 and 93 more (--json lists them): {texts}\n"
    assert len(json.loads(audit(lines, "--json")[1])["contains"][0]["keys"]) == 98


def test_the_dialect_decides(audit):
    """What a dialect refuses, or reads otherwise, it does here."""
    assert audit('["x = 5F", "x = 5.0"]', "--dialect", "JMS")[:2] == (1, "equal     1, 2: x = 5F | x = 5.0\n")
    assert audit('["x = 5F", "x = 5.0"]')[0] == 2


def test_paths(run, tmp_path, monkeypatch):
    """Selectors are read where they stand, each in the dialect of its place; keys that are not alone name theirs."""
    (tmp_path / "subs.mqsc").write_text("DEFINE SUB('car') SELECTOR('a = 1')\nDEFINE SUB(x) SELECTOR('a=1 AND')\n")
    (tmp_path / "bridges.conf").write_text('[topic:T]\n queue=Q selector="a = 1"\n')
    (tmp_path / "more").write_text("car\ta = 1\nb\tc = '${x}'\n")
    monkeypatch.chdir(tmp_path)
    status, out, err = run("audit", "subs.mqsc", "bridges.conf", "more")
    same = "car@subs.mqsc:1:29, car@more:1:5"
    gap = "gap       T: no selector matches the message without any property"
    expected = f"same      {same}: a = 1\nequal     {same}, T -> Q: a = 1\n{gap}\n"
    assert (status, out) == (2, expected)
    assert err.startswith("mqsel: subs.mqsc:2:32: X: unexpected end")


def test_files_that_cannot_be_read(run, audit):
    """The place and the reason are said in one line."""
    assert audit("a = 1\n")[:2] == (0, "")
    said = "mqsel: /nowhere/at/all:1:1: the file cannot be read: No such file or directory\n0 selectors, 1 not read\n"
    assert run("audit", "/nowhere/at/all") == (2, "", said)
    status, _, err = audit("a\tx = 1\na\tx = 2\n")
    assert (status, err) == (2, "mqsel: DIR/selectors:2: the key 'a' is in it twice: in line 2, and in line 1\n")
