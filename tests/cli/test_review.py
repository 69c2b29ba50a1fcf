"""Reviews of changes, `mqsel diff --html` and `--markdown`, and that a page takes nothing from a text but its signs."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import Run

from mqsel.carets import visible
from mqsel.cli.page import PageTable, html, markdown

HOSTILE = (
    "<script>alert(1)</script> | `x` *b* _i_ [l](http://a.b) ![p](u) ~~s~~ @me #1 $y$ \\| \\ &lt; --> {{x}} :8ball:"
)
OLD = {
    "cars": "a = 'x'",
    "old": "b = 1",
    "same": "c > 1",
    "kept": "c > 1 AND color <> 'red'",
    HOSTILE: f"note = '{HOSTILE}'",
    "narrow": "weight > 5 OR color = 'red'",
    "bad": "weight > 5",
    "hard": "p > q AND q > r",
}
NEW = {
    "cars": "a LIKE 'x%'",
    "same": "c > 1.0",
    "kept": "c > 1 AND color <> 'red'",
    "new": "d",
    "never": "d > 5 AND d < 3",
    HOSTILE: f"note LIKE '{HOSTILE}%'",
    "narrow": "weight > 5 AND color = 'red'",
    "bad": "weight == 5",
    "hard": "p > r AND p > q",
}


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Write both sets; return their files."""
    for name, many in (("old", OLD), ("new", NEW)):
        (tmp_path / name).write_text("".join(f"{key}\t{text}\n" for key, text in many.items()), encoding="utf-8")
    return tmp_path / "old", tmp_path / "new"


class _Reader(HTMLParser):
    """Collects the texts of the cells of a page, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self._is_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert all(name in ("lang", "charset", "class") for name, _ in attrs)
        self.tags.add(tag)
        self._is_cell = tag in ("td", "th") or (self._is_cell and tag not in ("tr", "table", "h2"))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "br":
            self.rows[-1][-1] += "\n"

    def handle_data(self, data: str) -> None:
        if self._is_cell:
            self.rows[-1][-1] += data.rstrip("\n") if data.endswith("\n") and not data.strip() else data


def _of_html(text: str) -> tuple[list[list[str]], set[str]]:
    reader = _Reader()
    reader.feed(text)
    return [[cell.strip() for cell in row] for row in reader.rows], reader.tags


def _of_markdown(text: str) -> tuple[list[list[str]], set[str]]:
    """Return the cells of Markdown, and the names of all that is in them but text."""
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    rows: list[list[str]] = []
    kinds: set[str] = set()
    is_table = False
    for token in parser.parse(text):
        is_table = (is_table or token.type == "table_open") and token.type != "table_close"
        if token.type == "tr_open":
            rows.append([])
        if token.type != "inline" or not is_table:
            continue
        rows[-1].append("")
        for part in token.children or ():
            if part.type == "text":
                rows[-1][-1] += part.content
            else:
                kinds.add(part.content if part.type == "html_inline" else part.type)
                rows[-1][-1] += "\n" * (part.content == "<br>")
    return rows, kinds


IN_MARKDOWN = {f"<{mark}{tag}>" for tag in ("code", "del", "ins", "b") for mark in ("", "/")} | {"<br>", "text_special"}
IN_HTML = {"html", "meta", "title", "style", "h1", "h2", "table", "tr", "th", "td", "br", "code", "del", "ins", "span"}


def test_review(run: Run, paths: tuple[Path, Path], tmp_path: Path) -> None:
    """A page has each key that is not unchanged by what became of it, with a message and both answers; and counts."""
    page = tmp_path / "page.html"
    status, out, err = run("diff", *paths, "--html", page)
    plain = run("diff", *paths)
    assert (status, out, err) == plain
    assert status == 2
    rows, tags = _of_html(page.read_text(encoding="utf-8"))
    assert tags <= IN_HTML
    assert [row[:2] for row in rows[1:9]] == [
        ["1", "invalid"],
        ["1", "removed"],
        ["1", "narrower"],
        ["1", "not decided"],
        ["2", "wider"],
        ["2", "added"],
        ["1", "reworded"],
        ["1", "unchanged"],
    ]
    places = {row[0].splitlines()[0]: row[1:] for row in rows[10:]}
    assert places.keys() == (OLD.keys() | NEW.keys()) - {"kept"}
    assert places["cars"] == ["wider", "a = 'x'\na LIKE 'x%'", '{"a": "xa"}\nadded: FALSE before, TRUE now']
    assert places["narrow"][2] == '{"weight": 6}\ndropped: TRUE before, UNKNOWN now'
    assert places["old"] == ["removed", "b = 1", '{"b": 1}\nwas selected']
    assert places["never"][2] == "selects no message"
    assert places["same"] == ["reworded", "c > 1\nc > 1.0", ""]
    assert places["bad"][2] == "now: unexpected '=' after '=': expected a value"
    assert places[HOSTILE][0] == "wider"
    assert places[HOSTILE][1] == f"{OLD[HOSTILE]}\n{NEW[HOSTILE]}"


def test_markdown_says_what_html_says(run: Run, paths: tuple[Path, Path], tmp_path: Path) -> None:
    """Both have the same cells; of Markdown nothing else is printed, and nothing of a text has a meaning in it."""
    page = tmp_path / "page.html"
    status, out, _ = run("diff", *paths, "--html", page, "--markdown", "--given", "d IS NULL")
    assert status == 2
    assert out.startswith("## Selectors of ")
    rows, kinds = _of_markdown(out)
    assert rows == _of_html(page.read_text(encoding="utf-8"))[0]
    assert kinds <= IN_MARKDOWN
    assert next(row for row in rows if row[0].startswith("new\n"))[3] == "selects no message"


def test_equal_sets_and_bad_calls(run: Run, paths: tuple[Path, Path]) -> None:
    """Of one set there is a count alone; a review is of two paths, and its file can be written."""
    status, out, _ = run("diff", "--markdown", paths[0], paths[0])
    assert (status, out.count("| unchanged |"), "###" in out) == (0, 1, False)
    said = "is a review of two paths, without files of messages"
    for arguments in (
        ("--html", "x", "a = 1", "b = 1"),
        ("--markdown", *paths, "messages.jsonl"),
        ("--markdown", "cars", "old", "--in", paths[0]),
    ):
        status, _, err = run("diff", *arguments)
        assert (status, said in err) == (2, True)
    assert "cannot be written: No such file" in run("diff", *paths, "--html", "/none/of/these")[2]
    assert run("diff", "--markdown", "--json", *paths)[0] == 2


def test_pages_take_nothing_from_texts() -> None:
    """Invariant: a page of any texts has no other tags, rows and cells, and its cells are these texts."""
    rng = random.Random(30)
    pieces = [
        *HOSTILE,
        *"\n\r\t\x00\x1b\u202e\u2028'\"<>&|`é𝄞",
        "```",
        "</code>",
        "<!--",
        "](",
        "www.a.b",
        "http://a",
        "&#60;",
    ]
    for _ in range(200):
        texts = ["".join(rng.choice(pieces) for _ in range(rng.randrange(1, 20))) for _ in range(6)]
        rows = [
            [[(kind, text)] for kind, text in zip(("text", "code", "old", "new", "good", "bad"), texts, strict=True)]
        ]
        table = PageTable("", [*"abcdef"], rows)
        found, tags = _of_html("\n".join(html("t", [table])))
        assert tags <= IN_HTML
        assert [_flat(cell) for cell in found[1]] == [_flat(text) for text in texts]
        cells, kinds = _of_markdown("\n".join(markdown("t", [table])))
        assert kinds <= IN_MARKDOWN
        assert len(cells) == 2
        assert [_flat(cell) for cell in cells[1]] == [_flat(text) for text in texts]


def _flat(text: str) -> str:
    return re.sub(r"[\s␉␊]+", " ", visible(text)).strip()


def test_several_with_one_key_pair_by_text_then_in_order(run: Run, tmp_path: Path) -> None:
    """Where places tell selectors of one key apart, those that moved are the same, and one that is new is added."""
    old, new = tmp_path / "old.mqsc", tmp_path / "new.mqsc"
    sub = "DEFINE SUB(CARS) SELECTOR('{}')\n"
    old.write_text("".join(map(sub.format, ("a = 1", "b = 1", "c = 1"))), encoding="utf-8")
    new.write_text("\n" + "".join(map(sub.format, ("c = 1", "b > 1", "a = 1", "d = 1"))), encoding="utf-8")
    status, out, err = run("diff", old, new)
    heads = [line for line in out.splitlines() if line[0] != " "]
    assert (status, err) == (1, "3 and 4 selectors, 2 of them equal\n")
    assert heads == [
        f"CARS@{new}:3:28: disjoint: no message is selected by both",
        f"CARS@{new}:5:28: only in {new}: d = 1",
    ]
    old.write_text(sub.format("d = 1"), encoding="utf-8")
    assert run("diff", old, new)[2] == "1 and 4 selectors, 1 of them equal\n"
    assert run("diff", new, old)[2] == "4 and 1 selectors, 1 of them equal\n"
