"""What a person meets in an editor, at a prompt and in a notebook."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel.analysis.compare.audit import audit
from mqsel.analysis.compare.changes import selection_change
from mqsel.errors import ArgumentError
from mqsel.language.selector import read_selector

# A user's file: each line with the type that both checkers infer for what stands in it.
USED = {
    'mqsel.compile("a = 1")': "Matcher",
    'mqsel.compile("a = 1").matches({"a": 1})': "bool",
    'mqsel.compile("a = 1").evaluate({"a": 1})': "Truth",
    'mqsel.compile("a = 1").filter([{"a": 1}])': "Selection[dict[str, int]]",
    'mqsel.compile("a = 1").explain({"a": 1})': "Explanation",
    'mqsel.SelectorSet({"eu": "a = 1"})': "SelectorSet[str]",
    'mqsel.SelectorSet({"eu": "a = 1"}).match({"a": 1})': "list[str]",
    'mqsel.relation("a = 1", "a = 2")': "Related",
    'mqsel.difference("a = 1", "JMS", "ARTEMIS")': "Difference",
    'mqsel.MqselError("a").hint': "str | None",
    'mqsel.files.filter("a", "a = 1")': "Filtered",
    'mqsel.quote("a")': "str",
}


def _last_names(text: str) -> str:
    """Return a type without the modules of its names: mypy writes them, pyright does not."""
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


@pytest.mark.long
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_types(checker: str, tmp_path: Path) -> None:
    """Both checkers infer the same types for a user's file, none of them Any, against what is installed."""
    command = shutil.which(checker, path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip(f"there is no {checker} here")
    file = tmp_path / "user.py"
    lines = ["import mqsel", "import mqsel.files", *(f"reveal_type({used})" for used in USED)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ["--strict"] if checker == "mypy" else ["--pythonpath", sys.executable]
    done = subprocess.run([command, *options, file.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    revealed = re.findall(r'(?:Revealed type is|Type of .* is) "(.*)"$', done.stdout, re.MULTILINE)

    assert " error" not in done.stdout.replace("0 errors", "")
    assert [_last_names(one) for one in revealed] == list(USED.values())


def test_dir() -> None:
    """What an editor lists of the package is what is public, and each of it is there."""
    assert set(mqsel.__all__) < set(dir(mqsel))
    assert {"os", "sys", "Any", "import_module"}.isdisjoint(dir(mqsel))
    for name in dir(mqsel):
        if name != "spark":
            assert getattr(mqsel, name) is not None


def test_selection_tells_its_counts() -> None:
    """A selection prints as its counts."""
    selection = mqsel.compile("a = 1").filter([{"a": 1}, {"a": 2}, {"a": [1]}], errors="skip")
    assert repr(selection) == "<mqsel.Selection: 0 seen, 0 selected, 0 skipped>"
    assert list(selection) == [{"a": 1}]
    assert repr(selection) == "<mqsel.Selection: 3 seen, 1 selected, 1 skipped>"


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_frames_are_no_messages(library: str) -> None:
    """A frame where messages are expected is one error that names it and what to call; a column of messages is none."""
    pa = pytest.importorskip("pyarrow")
    module = pytest.importorskip(library)
    table = pa.table({"a": [1]})
    frame = {"pyarrow": lambda: table, "pandas": table.to_pandas, "polars": lambda: module.from_arrow(table)}
    with pytest.raises(ArgumentError, match=rf"found a frame: a {library} \w+\n  hint: match_batch") as caught:
        mqsel.compile("a = 1").filter(frame[library]())
    assert str(caught.value).count("\n") == 1


INSPECT = mqsel.formats.FORMATS["json"].inspect
HOSTILE = "</td></table><script>alert(1)</script><b title='x'>&lt;"


class _Reader(HTMLParser):
    """Reads what was written: the tags, each closed in its turn, the attributes, the text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


QUOTED = mqsel.quote(HOSTILE)
TEXT = f"a = {QUOTED} AND b > 1"
MESSAGE = {"a": HOSTILE, "b": "<b>"}
KEYS = [
    (HOSTILE, TEXT, mqsel.JMS),
    ("b", f"a = {QUOTED}", mqsel.JMS),
    ("c", f"a = {QUOTED} AND a = 'x'", mqsel.JMS),
    ("d", f"{QUOTED} =", mqsel.JMS),
]
# A report of each kind on hostile selectors, names, keys and messages; then such as have no text of others.
REPORTS: dict[str, Callable[[], Any]] = {
    "relation": lambda: mqsel.relation(TEXT, "b > 0"),
    "gap": lambda: mqsel.gap([f"a <> {QUOTED}", "a IS NULL"], given={"a": "string"}),
    "explain": lambda: mqsel.compile(TEXT).explain(MESSAGE),
    "why": lambda: mqsel.compile(TEXT).why([MESSAGE]),
    "lint": lambda: mqsel.lint(f"a LIKE {QUOTED}"),
    "invalid": lambda: mqsel.lint(f"a == {QUOTED}"),
    "audit": lambda: audit(KEYS, destinations={HOSTILE: HOSTILE, "b": HOSTILE}, once=True),
    "contract": lambda: mqsel.Contract({HOSTILE: [HOSTILE], "b": {"type": "int32", "required": True}}, selector=TEXT),
    "satisfiable": lambda: mqsel.satisfiable(TEXT),
    "migrate": lambda: mqsel.migrate(TEXT, "JMS", "RABBITMQ"),
    "change": lambda: selection_change(
        read_selector(TEXT, mqsel.JMS),
        read_selector("b > 1", mqsel.JMS),
        1,
        {True: 1},
        {True: [(MESSAGE, HOSTILE, "")]},
    ),
    "inspect": lambda: INSPECT(json.dumps({HOSTILE: HOSTILE, "b": [1]}).encode(), {}),
}
TAME: dict[str, Callable[[], Any]] = {
    "refused": lambda: mqsel.difference(f"a == {QUOTED}", "JMS", "ARTEMIS"),
    "equal": lambda: mqsel.relation("a = 1", "a = 1"),
    "difference": lambda: mqsel.difference("NOT a = 1", "JMS", "ARTEMIS"),
    "alike": lambda: mqsel.difference("a = 1", "JMS", "ARTEMIS"),
    "no gap": lambda: mqsel.gap(["a = 1 OR NOT (a = 1) OR a IS NULL OR a <> 1"]),
    "clean": lambda: mqsel.lint("a = 1"),
    "never": lambda: mqsel.satisfiable("a = 1 AND a = 2"),
}


@pytest.mark.parametrize("name", [*REPORTS, *TAME])
def test_pages(name: str) -> None:
    """A notebook shows each report as HTML of few tags that are closed, in which a text of others is text."""
    read = _Reader((REPORTS | TAME)[name]()._repr_html_())

    assert read.open == []
    assert read.seen <= set("div p b span code table thead tbody tr th td".split())
    assert read.attributes <= {"style"}
    assert ("<script>alert(1)</script>" in read.text) is (name in REPORTS)
    if name == "relation":
        assert "b within a" in read.text or "a within b" in read.text


def test_pages_end() -> None:
    """Of a table of very many rows a page has a thousand, and the number of the others."""
    page = INSPECT(json.dumps({f"p{one}": one for one in range(1500)}).encode(), {})
    assert (page._repr_html_().count("<tr>"), "… and 500 more" in page._repr_html_()) == (1002, True)
