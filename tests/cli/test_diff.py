"""`mqsel diff`: what is printed, and the exit codes of diff."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from conftest import ROOT, is_shown

import mqsel
from mqsel.formats.jsonl import in_json, message_from_json
from mqsel.values import Float32, Int8, Int16, Int32


@pytest.mark.parametrize(
    ("a", "b", "status", "out"),
    [
        (
            "weight > 2500",
            "NOT (weight <= 2500)",
            1,
            (
                'a within b: every message that a selects is selected by b\n  both     {"weight": 2501}\n'
                '  only b   {"weight": "a"}\n'
            ),
        ),
        (
            "color = 'blue'",
            "color LIKE 'b%'",
            1,
            (
                'a within b: every message that a selects is selected by b\n  both     {"color": "blue"}\n'
                '  only b   {"color": "b"}\n'
            ),
        ),
        (
            "color = 'blue'",
            "color = 'red'",
            1,
            'disjoint: no message is selected by both\n  only a   {"color": "blue"}\n  only b   {"color": "red"}\n',
        ),
        (
            "a = 1 OR b = 2",
            "b = 2 OR a = 1",
            0,
            'equal: every message is selected by both or by neither\n  both     {"a": 1}\n',
        ),
        ("a = 1 AND a = 2", "b < b", 0, "equal: every message is selected by both or by neither\n"),
        (
            "a = 1",
            "b = 1",
            1,
            (
                "overlapping: some messages are selected by both, some only by a, some only by b\n"
                '  both     {"a": 1, "b": 1}\n  only a   {"a": 1}\n  only b   {"b": 1}\n'
            ),
        ),
    ],
)
def test_two_selectors(run, a, b, status, out):
    """The relation, what it means, and a message for each part of it; 0 only for equal ones."""
    assert run("diff", a, b) == (status, out, "")


def test_what_is_not_decided(run):
    """Where it is known that they differ the exit code says so; else it is trouble."""
    status, out, _ = run("diff", "a - a > 1", "b = 1")
    assert (status, out) == (
        1,
        'not decided: the search over the values of a reached its limit of 300 intervals\n  only b   {"b": 1}\n',
    )
    status, out, _ = run("diff", "a - a > 1", "a - a > 2")
    assert (status, out) == (2, "not decided: the search over the values of a reached its limit of 300 intervals\n")


def test_json(run):
    """One object, with messages as `mqsel explain` takes them."""
    status, out, _ = run("diff", "--json", "--dialect", "JMS", "a > 1", "a > 1 AND b = TRUE")
    found = json.loads(out)
    assert (status, list(found)) == (1, ["relation", "both", "a_alone", "b_alone", "reason"])
    assert (found["relation"], found["both"], found["b_alone"]) == ("b within a", {"a": 2, "b": True}, None)


def test_one_selector_and_two_dialects(run):
    """The message, what each makes of it, and the choice that parts them with its document."""
    text = "weight + 1 > 2500 OR color = 'blue'"
    assert run("diff", "--dialect", "IBM_MQ", "--dialect", "JMS", text) == (
        1,
        (
            'they differ on {"color": "blue"}\n  IBM_MQ  FALSE\n  JMS     TRUE\n'
            "because of null_arithmetic (see language §2)\n"
            "  IBM_MQ  arithmetic on NULL is ERR\n  JMS     arithmetic on NULL is NULL\n"
        ),
        "",
    )
    status, out, _ = run("diff", "--json", "--dialect", "IBM_MQ", "--dialect", "JMS", text)
    found = json.loads(out)
    assert (status, found["differ"], found["message"]) == (1, True, {"color": "blue"})
    assert [one["truth"] for one in found["dialects"]] == ["FALSE", "TRUE"]
    assert [one["field"] for one in found["because"]] == ["null_arithmetic"]


def test_dialects_that_do_not_differ(run):
    """That is proved, and 0."""
    assert run("diff", "--dialect", "IBM_MQ", "--dialect", "TIBCO_EMS", "a > 1") == (
        0,
        "they do not differ on any message\n",
        "",
    )


def test_texts_that_are_refused(run):
    """By one dialect it is a difference, by both trouble; each error is told, with its dialect or its selector."""
    status, out, err = run("diff", "--dialect", "IBM_MQ", "--dialect", "JMS", "a.b = 1")
    assert (status, out.splitlines()[:2]) == (
        1,
        ["they differ: one dialect rejects the selector", "because of identifier_dots (see language §2)"],
    )
    assert err.startswith("mqsel: JMS: unexpected '.'")
    status, out, err = run("diff", "--dialect", "IBM_MQ", "--dialect", "JMS", "a == 1")
    assert (status, out) == (2, "both dialects reject the selector\n")
    assert err.count("expected a value") == 2
    status, out, err = run("diff", "a = 1", "b == 1")
    assert (status, out) == (2, "")
    assert err.startswith("mqsel: selector 2: unexpected '='")


def test_bad_calls(run):
    """One selector alone, three dialects, no dialect of that name: said in one sentence, and 2."""
    assert run("diff", "a = 1")[0::2] == (
        2,
        (
            "mqsel: one selector is given, and not two dialects: expected something to compare it with\n"
            "  hint: write mqsel diff SELECTOR SELECTOR, mqsel diff PATH PATH, mqsel diff KEY KEY --in PATH, "
            "or mqsel diff --dialect IBM_MQ --dialect JMS SELECTOR\n"
        ),
    )
    status, _, err = run("diff", *["--dialect", "JMS"] * 3, "a = 1", "b = 1")
    assert (status, err) == (2, "mqsel: 3 dialects are given: expected one, or two to compare\n")
    assert run("diff", "--dialect", "XYZ", "a = 1", "b = 1")[0] == 2


BEFORE = """\
DEFINE SUB(CARS) SELECTOR('a = ''x''')
DEFINE SUB(OLD) SELECTOR('b = 1')
DEFINE SUB(SAME) SELECTOR('c > 1')
"""
AFTER = """\
DEFINE SUB(CARS) SELECTOR('a LIKE ''x%''')
DEFINE SUB(SAME) SELECTOR('c > 1.0')
DEFINE SUB(NEW) SELECTOR('d')
"""


def test_paths(run, tmp_path, monkeypatch):
    """Selectors of two paths are compared key by key; two keys of a path with each other."""
    pytest.importorskip("pathspec")
    monkeypatch.chdir(tmp_path)
    Path("a.mqsc").write_text(BEFORE)
    Path("b.mqsc").write_text(AFTER)
    status, out, err = run("diff", "a.mqsc", "b.mqsc")
    assert (status, err) == (1, "3 and 3 selectors, 1 of them equal\n")
    assert [line for line in out.splitlines() if line[0] != " "] == [
        "CARS: a within b: every message that a selects is selected by b",
        "OLD: only in a.mqsc: b = 1",
        "NEW: only in b.mqsc: d",
    ]
    assert run("diff", "a.mqsc", "a.mqsc") == (0, "", "3 and 3 selectors, 3 of them equal\n")
    objects = [json.loads(line) for line in run("diff", "--json", "a.mqsc", "b.mqsc")[1].splitlines()]
    assert [(one["key"], one["relation"]) for one in objects] == [
        ("CARS", "a within b"),
        ("OLD", "only"),
        ("SAME", "equal"),
        ("NEW", "only"),
    ]
    assert run("diff", "OLD", "OLD", "--in", "a.mqsc")[:2] == (
        0,
        'equal: every message is selected by both or by neither\n  both     {"b": 1}\n',
    )
    assert run("diff", "CARS@a.mqsc:1:28", "CARS@b.mqsc:1:28", "--in", "a.mqsc", "--in", "b.mqsc")[0] == 1
    hint = "  hint: the keys are 'CARS@./a.mqsc:1:28', 'CARS@./b.mqsc:1:28'\n"
    said = f"mqsel: there is no selector with the key 'CARS' in .\n{hint}"
    assert run("diff", "OLD", "CARS", "--in", ".") == (2, "", said)
    assert run("diff", "--dialect", "JMS", "--dialect", "IBM_MQ", "OLD", "--in", "a.mqsc")[0] == 0


def test_paths_with_one_selector_each(run, tmp_path):
    """One with one is compared, whatever their keys; a name that names no file is no selector."""
    (tmp_path / "a").write_text("x\ta = 1\n")
    (tmp_path / "b").write_text("y\ta = 1 AND\n")
    status, out, err = run("diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert (status, out) == (2, "")
    assert f"mqsel: {tmp_path}/b:1:12: unexpected end" in err
    (tmp_path / "b").write_text("y\ta < 1\n")
    assert run("diff", str(tmp_path / "a"), str(tmp_path / "b"))[1].startswith("disjoint: ")
    assert run("diff", "nowhere", "a = 1")[2].startswith("mqsel: 'nowhere': there is no such file\n  hint: ")
    assert run("diff", "-e", "nowhere", "nowhere = TRUE")[0] == 0


def test_messages_in_json_are_read_again():
    """Invariant: what is written of a message of any types is read as an equal one, of the same types."""
    message = {
        "a": None,
        "b": True,
        "c": -(2**63),
        "d": 1.5,
        "e": 1e300,
        "f": float("inf"),
        "g": float("-inf"),
        "h": "é'\"\n",
        "i": b"\x00\xff",
        "j": Int8(-128),
        "k": Int16(1),
        "l": Int32(2**31 - 1),
        "m": Float32(0.1),
        "n": Float32(float("inf")),
        "o": 2.0,
    }
    found = message_from_json(json.dumps(in_json(message)), message)
    assert found == message
    assert [type(value) for value in found.values()] == [type(value) for value in message.values()]
    nan = message_from_json(json.dumps(in_json({"a": float("nan"), "b": Float32(float("nan"))})), "ab")
    assert (str(nan["a"]), type(nan["b"])) == ("nan", Float32)


def test_functions_are_found():
    """What the command runs is a function of the package, imported when it is asked for."""
    assert mqsel.relation("a = 1", "a > 0").relation == "a within b"
    assert mqsel.relation(mqsel.compile("a = 1", dialect="JMS"), "a > 0", dialect="JMS").b_alone == {"a": 2}
    assert not mqsel.difference("a = 1", "JMS", "TIBCO_EMS")
    assert mqsel.satisfiable("a = 1").message == {"a": 1}


def test_the_manual(run, monkeypatch):
    """The commands of the manual print the output that the manual shows."""
    pages = sorted((Path(mqsel.__file__).parent / "analysis").glob("*.md"))
    manual = "".join(page.read_text(encoding="utf-8") for page in pages)
    if not (ROOT / "bench").exists():
        pytest.skip("the sample files do not stand beside the tests")
    monkeypatch.chdir(ROOT)
    shown = re.findall(r"^\$ mqsel ((?:diff|audit|lint --given) .*)\n((?:(?!\$|```).*\n)*)", manual, re.MULTILINE)
    assert len(shown) == 7
    for command, out in shown:
        assert is_shown(out, run(*shlex.split(command))[1]), command


def test_a_path_that_cannot_be_read_removes_no_key(run, tmp_path):
    """A review says of keys that are missing from a damaged file that they may be there, and names the file."""
    (tmp_path / "old.mqsc").write_text("DEFINE SUB(A) SELECTOR('a = 1')\nDEFINE SUB(B) SELECTOR('b = 1')\n")
    (tmp_path / "new.mqsc").write_bytes("DEFINE SUB(A) SELECTOR('a = 1')\n".encode("utf-16-le"))
    status, out, _ = run("diff", "--markdown", str(tmp_path / "old.mqsc"), str(tmp_path / "new.mqsc"))

    assert status == 2
    assert "removed" not in str(out)
    assert str(out).count("not read") == 3
