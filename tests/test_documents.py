"""The documents: what they show runs and prints what they say, and what is cited can be opened."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import picture
import pytest
from conftest import ROOT, VECTORS_ROOT, json_lines

import mqsel

PACKAGE = Path(mqsel.__file__).parent
DOCUMENTS = [path for path in (ROOT / "README.md", *sorted(PACKAGE.rglob("README.md"))) if path.exists()]
NAMES = [path.relative_to(path.parents[len(path.parts) - len(ROOT.parts) - 1]).as_posix() for path in DOCUMENTS]
TUTORIALS = sorted((ROOT / ".github" / "site" / "pages" / "tutorials").glob("*.md"))
# What a tutorial needs beside the package; of Spark the fixture tells.
EXTRAS = {"linter-in-ci": "tree_sitter_java", "lake-on-spark": "pyarrow"}
LONG = ("lake-on-spark", "many-subscriptions")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"\n]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
CITED = re.compile(r"\b(language|formats|selection|spark|machine)((?:(?:,| and| to)? §\d+)+)")
# The titles of public pages that a source may name.
PAGES = re.compile(
    r"(?:IBM MQ 9\.4|Jakarta Messaging 3\.1|Java SE|APAR|AMQP 1\.0|AMQP JMS Mapping 1\.0|python-qpid-proton|apache"
    r"|the framing of mqsel itself)\b"
)


def blocks(document: Path, language: str) -> list[tuple[int, str]]:
    """Return the line and the text of each block of code of *language*."""
    text = document.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start()) + 1, found[3]) for found in BLOCK.finditer(text) if found[1] == language
    ]


def session(document: Path, line: int, text: str, names: dict[str, object]) -> str:
    """Run a block of Python as if it were typed, and return in what it does not print what stands in it."""
    assert text.startswith(">>>"), f"line {line}: a block of Python is a session, so that a test can run it"
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    typed = doctest.DocTestParser().get_doctest(text, names, document.name, str(document), line)
    said: list[str] = []
    runner.run(typed, out=said.append, clear_globs=False)
    names.update(typed.globs)
    return "".join(said)


def printed(command: str, folder: Path) -> str:
    """Return what a command line prints on a terminal: both streams, in their order."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    names = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1; {command}"], check=False, cwd=folder, env=names, capture_output=True, text=True
    )
    return done.stdout


def without_times(text: str) -> str:
    """Return what is printed, but for the seconds that it took."""
    return re.sub(r"\d+\.\d\d s$", "… s", text, flags=re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_sessions(document: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block of Python prints what stands in it; a document is one session from top to bottom."""
    sessions = blocks(document, "python")
    if any("pyspark" in text for _, text in sessions):
        request.getfixturevalue("spark")
    if any("bench/" in text for _, text in sessions) and not (ROOT / "bench").exists():
        pytest.skip("the sample files do not stand beside the tests")
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    said = [session(document, line, text, names) for line, text in sessions]

    assert "".join(said) == ""


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_commands(document: Path, tmp_path: Path) -> None:
    """Each command line that begins with mqsel, or pipes into it, ends without trouble."""
    if not (ROOT / "bench").exists():
        pytest.skip("the sample files do not stand beside the tests")
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line, text in blocks(document, "sh"):
        for command in text.replace("\\\n", " ").splitlines():
            if re.match(r"(echo .*\| *)?mqsel (match|inspect|check|explain) (?!SELECTOR|FILE)", command):
                names = {**os.environ, "PATH": path}
                done = subprocess.run(
                    ["bash", "-c", command], check=False, cwd=tmp_path, env=names, capture_output=True, text=True
                )
                assert done.returncode == 0, f"line {line}: {command}\n{done.stderr}"


@pytest.mark.parametrize(
    "tutorial",
    [pytest.param(path, marks=[pytest.mark.long] * (path.stem in LONG), id=path.stem) for path in TUTORIALS],
)
def test_tutorials(
    tutorial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A tutorial is done from top to bottom: files are written, commands print what stands there, Python does.

    Blocks of `sh` need what a reader has, such as a queue manager, and are not run.
    """
    pytest.importorskip(EXTRAS.get(tutorial.stem, "mqsel"))
    text = tutorial.read_text(encoding="utf-8")
    if "pyspark" in text:
        request.getfixturevalue("spark")
    monkeypatch.chdir(tmp_path)
    Path("bench").symlink_to(ROOT / "bench")
    names: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        language, file, body = block.groups()
        if file:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_text(body, encoding="utf-8")
        elif language == "python":
            assert session(tutorial, text.count("\n", 0, block.start()) + 1, body, names) == ""
        elif language == "console":
            for command, shown in COMMAND.findall(body):
                assert without_times(printed(command, tmp_path)) == without_times(shown), command


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", "duckdb"])
def test_masks(library: str) -> None:
    """The line that the manual shows for a kind of frame gives its selected rows."""
    pa = pytest.importorskip("pyarrow")
    module = pytest.importorskip(library)
    line = re.search(rf"^\| {library} \| `(.*)` \|$", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    table = pa.table({"color": ["blue", "red", "blue", None], "weight": pa.array([3, 4, None, 5], pa.uint32())})
    frame = {
        "pyarrow": lambda: table,
        "pandas": lambda: table.to_pandas().set_axis(["a", "b", "a", "c"]),
        "polars": lambda: module.from_arrow(table),
        "duckdb": lambda: module.from_arrow(table),
    }[library]()
    assert line
    selected = eval(line[1], {"m": mqsel.compile("color = 'blue' AND weight > 2"), "frame": frame, library: module})

    assert pa.table(selected).select(["color", "weight"]).to_pylist() == [{"color": "blue", "weight": 3}]


def _typed() -> list[str]:
    """Return what the table of README.md says one types."""
    shown = ROOT / "README.md"
    return re.findall(r"^\|.*\| `(.*)` \|$", shown.read_text(encoding="utf-8"), re.MULTILINE) if shown.exists() else []


@pytest.mark.parametrize("typed", _typed())
def test_what_one_types(typed: str, request: pytest.FixtureRequest) -> None:
    """Each row of README's first table runs, answers on stdout, and ends as a question that was answered does."""
    if not (ROOT / "bench").exists():
        pytest.skip("the sample files do not stand beside the tests")
    if typed.startswith("mqsel "):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = ["bash", "-c", typed]
        done = subprocess.run(
            command, check=False, cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert (done.returncode in (0, 1), done.stdout != "") == (True, True), done.stderr
        return
    rows = [{"weight": 3000}, {"weight": 1}, {"weight": None}]
    if typed.startswith("df."):
        spark = request.getfixturevalue("spark")
        selected = eval(typed, {"mqsel": mqsel, "df": spark.createDataFrame(rows, "weight int")}).collect()
        assert [row.asDict() for row in selected] == rows[:1]
    else:
        table = pytest.importorskip("pyarrow").Table.from_pylist(rows)
        assert eval(typed, {"mqsel": mqsel, "table": table}).to_pylist() == rows[:1]


def test_sources_can_be_followed() -> None:
    """Every source of a vector is a section of a document that ships, or a public page by its title."""
    wrong: set[str] = set()
    for path in VECTORS_ROOT.rglob("*.jsonl"):
        if path.parent.name == "measured":  # the answers of an engine
            continue
        for vector in json_lines(path):
            cited = re.match(r"mqsel/([\w/]+\.md) (§\d+)", vector["source"])
            if cited:
                document = PACKAGE / cited[1]
                found = document.exists() and re.search(
                    rf"^## {cited[2]}\b", document.read_text(encoding="utf-8"), re.MULTILINE
                )
            else:
                found = PAGES.match(vector["source"])
            if not found:
                wrong.add(vector["source"])

    assert wrong == set()


def test_citations_of_the_code_can_be_followed() -> None:
    """A section that the code cites, as in "language §5", stands in the README of that folder."""
    wrong: set[str] = set()
    for path in [*PACKAGE.rglob("*.p*"), *Path(__file__).parent.rglob("*.py")]:
        if path.suffix not in (".py", ".pyx", ".pxd", ".pyi"):
            continue
        text = path.read_text(encoding="utf-8")
        for folder, sections in re.findall(
            r"\b(language|formats|selection|spark|machine)((?:(?:,| and| to)? §\d+)+)", text
        ):
            shown = (PACKAGE / folder / "README.md").read_text(encoding="utf-8")
            for section in re.findall(r"§\d+", sections):
                if not re.search(rf"^## {section}\b", shown, re.MULTILINE):
                    wrong.add(f"{path.name}: {folder} {section}")

    assert wrong == set()


def test_picture_is_fresh() -> None:
    """The picture of the README is what `python tests/picture.py` draws of what the command prints today."""
    if not picture.PICTURE.exists():
        pytest.skip("no picture beside the tests")
    assert picture.drawn() == picture.PICTURE.read_text(encoding="utf-8")
