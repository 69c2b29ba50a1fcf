"""A report leaves nothing out in silence: what was found is reported, invalid or not read; lists say what is left."""

from __future__ import annotations

import json

import pytest

from mqsel.arguments import check_total
from mqsel.errors import MqselError


def test_a_total_that_is_not_all_is_a_defect() -> None:
    """A report without one of the selectors is no report."""
    check_total(3, 1, 2)
    with pytest.raises(MqselError, match="defect of mqsel: 3 selectors were found, and 2 are in the report"):
        check_total(3, 1, 1)


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Write two versions of selectors: of `glued` the new one cannot be known, and `wrong` is invalid in it."""
    old = {"glued": "a = 1", "same": "b = 2", "wrong": "c = 3", "gone": "d = 4"}
    new = {"glued": "a = 1 AND b = ${x}", "same": "b = 2", "wrong": "c == 3", "new": "e = 5 AND"}
    (tmp_path / "old.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in old.items()), encoding="utf-8")
    lines = [f"DEFINE SUB('{key}') TOPICSTR('t') DEST(Q) SELECTOR('{text}')\n" for key, text in new.items()]
    (tmp_path / "new.mqsc").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"d": 4}\n{"z": 1}\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("sources")
def test_a_selector_that_cannot_be_known_is_not_read(run) -> None:
    """Its key is neither removed nor added: in words, in JSON, in a review, and over files of messages."""
    status, out, err = run("diff", "old.tsv", "new.mqsc")
    assert (status, out.splitlines()) == (
        2,
        ["glued: not read: a = 1", "gone: only in old.tsv: d = 4", "new: only in new.mqsc: e = 5 AND"],
    )
    assert err.splitlines()[-1] == "4 and 4 selectors, 1 of them equal, 2 invalid, 1 not read"
    found = [json.loads(line) for line in run("diff", "--json", "old.tsv", "new.mqsc")[1].splitlines()]
    relations = {"glued": "not read", "same": "equal", "gone": "only", "new": "only"}
    assert {one["key"]: one["relation"] for one in found} == relations
    page = run("diff", "--markdown", "old.tsv", "new.mqsc")[1]
    assert "now: incomplete" in page
    assert page.count("<b>not read</b>") == 2
    status, out, err = run("diff", "old.tsv", "new.mqsc", "a.jsonl")
    assert (status, out.splitlines()[0]) == (2, "gone: 0 added, 1 dropped")
    assert "glued" not in out
    assert err.splitlines()[-1].endswith(", 1 not read")


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize(
    ("words", "end"),
    [
        (["lint", "new.mqsc", "none.json"], "1 incomplete, 1 place not read, "),
        (["check", "new.mqsc", "none.json"], "4 selectors, 2 invalid, 1 incomplete, 1 place not read"),
        (["audit", "new.mqsc", "none.json"], "3 selectors, 1 more incomplete, 1 not read, 2 invalid"),
        (["selectors", "new.mqsc", "none.json"], "mqsel: 3 selectors, 1 incomplete, 1 place not read"),
        (["route", "--count", "new.mqsc", "a.jsonl"], "selectors: 1 of 4; left out: 2 invalid, 1 incomplete"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else None,
)
def test_totals_have_all(run, tmp_path, words, end) -> None:
    """The last lines count what is invalid, what cannot be known and what could not be read."""
    (tmp_path / "none.json").write_text('{"k": "a = 1"', encoding="utf-8")

    assert end in run(*words)[2]


def test_lists_say_what_is_left(run, tmp_path) -> None:
    """Messages that nobody gets, damaged messages and values: how many more there are, and what shows them."""
    (tmp_path / "s.tsv").write_text("k\ta = 'none'\n", encoding="utf-8")
    lines = [json.dumps({"a": f"v{number}", "n": number}) for number in range(9)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, *["{"] * 15]), encoding="utf-8")
    err = run("route", "--count", str(tmp_path / "s.tsv"), str(tmp_path / "a.jsonl"))[2]
    assert "and 6 more: mqsel explore --inventory PATH FILE shows them\n" in err
    assert "mqsel: … and 5 more: mqsel inspect reports all\n" in err
    assert run("inspect", str(tmp_path / "a.jsonl"))[2].count("broken JSON") == 15
    out = run("why", "a = 'none'", str(tmp_path / "a.jsonl"))[1]
    assert out.count("'v2'") == 2
    assert "…" not in out


def test_nothing_that_can_be_read_is_no_empty_queue(run, tmp_path) -> None:
    """Where no message can be read, `route --why` does not say that there is none."""
    (tmp_path / "s.tsv").write_text("k\ta = 1\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"a": 1\n{"a" 1}\n', encoding="utf-8")
    err = run("route", "--count", "--why", str(tmp_path / "s.tsv"), str(tmp_path / "a.jsonl"))[2]

    assert "'k': none of 2 messages could be read\n" in err
