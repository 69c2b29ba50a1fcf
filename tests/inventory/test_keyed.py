"""Inventories as sets: keys of which no two are alike, each selector in its dialect, what cannot be known counted."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tree_sitter")
pytest.importorskip("pathspec")

from mqsel import SelectorSet
from mqsel.errors import ArgumentError, FileError, SelectorError
from mqsel.inventory import kind_of_file, read
from mqsel.language.dialect import PRESETS

CORPUS = Path(__file__).parent / "corpus"


def test_each_selector_has_the_dialect_of_its_kind(tmp_path):
    """A folder becomes one set: MQSC is read as IBM MQ has it, Azure's SQL as Azure does."""
    (tmp_path / "a.mqsc").write_text("DEFINE SUB(S) DEST(Q) SELECTOR('team = ''Ajax''')\n", encoding="utf-8")
    (tmp_path / "r.json").write_text(
        '{"name": "r", "properties": {"sqlFilter": {"sqlExpression": "[a b] = 1 AND sys.Label = \'x\'"}}}',
        encoding="utf-8",
    )
    (tmp_path / "b.mqsc").write_text("DEFINE SUB(T) SELECTOR('goals > 2')\n", encoding="utf-8")
    made = SelectorSet.from_inventory(tmp_path)
    assert dict(made) == {"S": "team = 'Ajax'", "T": "goals > 2", "r": "[a b] = 1 AND sys.Label = 'x'"}
    assert made.dialect == PRESETS["IBM_MQ"]
    assert [made.matcher(key).dialect for key in made] == [
        PRESETS[name] for name in ("IBM_MQ", "IBM_MQ", "AZURE_SERVICE_BUS")
    ]
    assert made.match({"team": "Ajax", "goals": 3}) == ["S", "T"]
    only = SelectorSet.from_inventory(tmp_path / "a.mqsc", dialect="JMS")
    assert only.dialect == PRESETS["JMS"]
    assert SelectorSet.from_inventory(read([tmp_path / "a.mqsc", tmp_path / "b.mqsc"])).match({"goals": 3}) == ["T"]


def test_keys_of_which_no_two_are_alike(tmp_path):
    """A key that stands twice has its place behind it; a constant that is used twice a number, too."""
    file = tmp_path / "A.java"
    file.write_text(
        'import javax.jms.*;\nclass A { static final String S = "a = 1";\n void f() { s.createConsumer(q, S); }\n'
        ' void g() { s.createConsumer(q, S); s.createConsumer(q, S); s.createConsumer(q, "b = 2"); } }\n',
        encoding="utf-8",
    )
    assert dict(SelectorSet.from_inventory([file])) == {
        "A.f": "a = 1",
        f"A.g@{file}:2:36": "a = 1",
        f"A.g@{file}:2:36#2": "a = 1",
        f"A.g@{file}:4:82": "b = 2",
    }


def test_what_cannot_be_read(tmp_path):
    """What cannot be known, is invalid, or is no file is an error, or is left out with a warning that counts it."""
    (tmp_path / "a.yml").write_text(
        "a.jms.selector: ${x}\nb.jms.selector: a = 1\nc.jms.selector: a ==\n", encoding="utf-8"
    )
    with pytest.raises(FileError, match="a placeholder") as caught:
        SelectorSet.from_inventory(tmp_path)
    assert caught.value.line == 1 and caught.value.path.endswith("a.yml")
    with pytest.warns(UserWarning, match=r"2 faulty selectors are left out: 'a.jms.selector': a placeholder"):
        made = SelectorSet.from_inventory(tmp_path, errors="skip")
    assert dict(made) == {"b.jms.selector": "a = 1"}
    (tmp_path / "a.yml").write_text("c.jms.selector: a ==\n", encoding="utf-8")
    with pytest.raises(SelectorError) as invalid:
        SelectorSet.from_inventory(tmp_path)
    assert invalid.value.key == "c.jms.selector"
    with pytest.raises(ArgumentError, match="expected 'raise' or 'skip'"):
        SelectorSet.from_inventory(tmp_path, errors="none")
    with pytest.raises(FileError, match="cannot be read"):
        SelectorSet.from_inventory(tmp_path / "none.mqsc")


def test_the_corpus_as_a_set():
    """All that is known in the corpus is in the set, except what its dialect refuses."""
    known = [one for one in read(CORPUS) if one.selector is not None]
    with pytest.warns(UserWarning, match="faulty selectors are left out"):
        made = SelectorSet.from_inventory(CORPUS, errors="skip")
    assert len(known) > 200
    assert len(made) > len(known) - 20
    assert {one.selector for one in known} >= set(made.values())


def test_kind_of_a_file(tmp_path):
    """The kind of a file is what would be read of it; one that is none, or is not there, has none."""
    assert kind_of_file(CORPUS / "subs.mqsc") == "mqsc"
    assert kind_of_file(CORPUS / "keyed.txt") == "keyed"
    assert kind_of_file(tmp_path / "none") == ""
