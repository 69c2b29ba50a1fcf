"""What a person meets in an editor, at a prompt and in a notebook."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mqsel
from mqsel.errors import ArgumentError

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


def test_pages() -> None:
    """Reports show as HTML in which nothing of a selector or a message is markup."""
    text = "a = '<script>' AND b > 1"
    shown = [
        mqsel.relation(text, "b > 0"),
        mqsel.difference("NOT a = '<script>'", "JMS", "ARTEMIS"),
        mqsel.difference("a == '<script>'", "JMS", "ARTEMIS"),
        mqsel.difference("a = 1", "JMS", "ARTEMIS"),
        mqsel.gap([text]),
        mqsel.gap(["a = 1 OR NOT (a = 1) OR a IS NULL OR a <> 1"]),
        mqsel.compile(text).explain({"a": "<script>", "b": "<b>"}),
        mqsel.compile(text).why([{"a": "<script>", "b": "<b>"}]),
    ]
    for one in shown:
        page = one._repr_html_()
        assert page.startswith("<div")
        assert "<script>" not in page
        assert "<b>'" not in page
        opened, closed = re.findall(r"<(\w+)", page), re.findall(r"</(\w+)", page)
        assert sorted(opened) == sorted(closed)
    assert "disjoint" not in shown[0]._repr_html_()
    assert "b within a" in shown[0]._repr_html_() or "a within b" in shown[0]._repr_html_()
