"""The documents: their commands and sessions print what the pages show, and each citation can be opened.

`python tests/test_documents.py PAGE…` writes the outputs of today into the console blocks of pages.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import picture
import pytest
from conftest import ROOT, VECTORS_ROOT, is_shown, json_lines

import mqsel
from mqsel.cli import _parser
from mqsel.language.dialects import PRESETS
from mqsel.language.products import PRODUCTS

PACKAGE = Path(mqsel.__file__).parent
DOCUMENTS = [path for path in (ROOT / "README.md", *sorted(PACKAGE.rglob("*.md"))) if path.exists()]
NAMES = [path.relative_to(path.parents[len(path.parts) - len(ROOT.parts) - 1]).as_posix() for path in DOCUMENTS]
CONSOLES = [path for path in DOCUMENTS[1:] if "```console" in path.read_text(encoding="utf-8")]
PAGES = ROOT / ".github" / "site" / "pages"
# The documents that a reader follows from top to bottom, with the files that they name.
FOLLOWED = [*DOCUMENTS[:1], *sorted(PAGES.glob("*.md")), *sorted(PAGES.glob("tutorials/*.md"))]
# The library that a document needs beside the package; the fixture skips what needs Spark.
EXTRAS = {"linter-in-ci": "tree_sitter_java", "lake-on-spark": "pyarrow", "recipes": "upath"}
TAGLINE = "which messages a selector matches, and why it doesn't match the others"
LONG = ("lake-on-spark", "many-subscriptions")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"\n]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# Commands in blocks of sh that no test runs: how they begin, and the reason.
NOT_RUN = {
    "mqsel explore": "It waits until the reader stops it.",
    "mqsel migrate --from TIBCO_EMS --to ARTEMIS bridges.conf": "The tutorial from-ems runs it on its own file.",
    "mqsel lint src": "It belongs to the reader's build; the tutorial linter-in-ci runs both commands in its consoles.",
    "mqsel test selectors.cases.json": "It belongs to the reader's build; the tutorial runs it in a console.",
    'mqsel match "JMSTimestamp < $((': "Its answer depends on the time.",
    'mqsel match "total > 1000" \'s3:': "It needs a bucket.",
    "  mqsel ": "It needs the reader's broker, which writes the file.",
    "$ mqsel why --dialect ARTEMIS": "It needs a running broker.",
    "$ mqsel match --count --ask-broker": "It needs a running broker.",
    "  artemis data exp": "It needs the reader's broker.",
    "dmpmq": "It needs a queue manager.",
    "cat > select_stream.py": "It needs a Kafka broker.",
    "cat > route_stream.py": "It needs a Kafka broker.",
    "spark-submit": "It needs a cluster.",
    "pip install": "It installs packages.",
    "python3 -m venv": "It installs mqsel; .ci/run runs the one of README.md.",
    "python -m venv": "It installs packages; tests of the mark cluster pack environments.",
    ".venv/bin/pip install": "It runs all tests; .ci/run runs it.",
    "python -c 'import mqsel, shutil": "Tests of the mark cluster make the archive.",
    "python tests/fuzz/": "A fuzzer runs for a minute.",
    "python bench/": "It measures for minutes.",
    "pytest bench": "It measures for minutes.",
}
CITED = re.compile(r"\b(language|formats|selection|spark|machine)((?:(?:,| and| to)? §\d+)+)")
# The titles of public pages that a source may name.
PUBLIC = re.compile(
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


def followed(page: Path) -> str:
    """Follow a page in the current folder, and return the page with the outputs of today; only times are kept."""
    text, names = page.read_text(encoding="utf-8"), dict[str, object]()
    Path("bench").symlink_to(ROOT / "bench")

    def output(command: re.Match[str]) -> str:
        today = printed(command[1], Path.cwd())
        return command[0] if is_shown(command[2], today) else f"$ {command[1]}\n{today}"

    def run(block: re.Match[str]) -> str:
        language, file, body = block.groups()
        if file:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_text(body, encoding="utf-8")
        elif language == "python":
            assert session(page, text.count("\n", 0, block.start()) + 1, body, names) == ""
        elif language == "console":
            return f"```console\n{COMMAND.sub(output, body)}```"
        return block[0]

    return BLOCK.sub(run, text)


def _mark_of(page: Path) -> pytest.MarkDecorator:
    """Return the mark of a page that is followed: each of its commands starts a process."""
    return pytest.mark.long if page.stem in LONG else pytest.mark.process


def _needs_spark(path: Path) -> bool:
    """Report whether the blocks of Python in a document import pyspark."""
    return any("pyspark" in text for _, text in blocks(path, "python"))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, marks=[pytest.mark.spark] * _needs_spark(path), id=name)
        for path, name in zip(DOCUMENTS, NAMES, strict=True)
    ],
)
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


@pytest.mark.process
@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_commands(document: Path, tmp_path: Path) -> None:
    """Each command of a manual that begins with mqsel, or pipes into it, ends without an error."""
    if not (ROOT / "bench").exists():
        pytest.skip("the sample files do not stand beside the tests")
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    for line, text in blocks(document, "sh"):
        for command in text.replace("\\\n", " ").splitlines():
            if is_run(command):
                assert "status=0" in printed(f"({command}); [ $? -le 1 ]; echo status=$?", tmp_path), (line, command)


def is_run(command: str) -> bool:
    """Return whether `test_commands` runs a line of a block of sh."""
    return bool(re.match(r"(echo .*\| *)?mqsel ", command)) and not command.startswith(tuple(NOT_RUN))


@pytest.mark.sample(2, rest="process")
@pytest.mark.parametrize("manual", CONSOLES, ids=[path.relative_to(PACKAGE).as_posix() for path in CONSOLES])
def test_consoles(manual: Path, tmp_path: Path) -> None:
    """Each command in a console of a manual prints the block; a manual may leave out the counts at the end."""
    if not (ROOT / "bench").exists():
        pytest.skip("the sample files do not stand beside the tests")
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    for _, text in blocks(manual, "console"):
        for command, shown in COMMAND.findall(text):
            lines, output = shown.rstrip("\n").splitlines(), printed(command, tmp_path)
            assert is_shown("\n".join(lines), "\n".join(output.splitlines()[: len(lines)])), f"{command}\n{output}"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            path, marks=[pytest.mark.long if path.stem in LONG else pytest.mark.process] * (at > 0), id=path.stem
        )
        for at, path in enumerate(FOLLOWED)
    ],
)
def test_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The test follows a page from top to bottom: it writes the files, and each command and session prints its block.

    Blocks of `sh` need something that only a reader has, such as a queue manager, and are not run.
    """
    pytest.importorskip(EXTRAS.get(page.stem, "mqsel"))
    text = page.read_text(encoding="utf-8")
    if "bench/" in text and not (ROOT / "bench").exists():
        pytest.skip("the sample files do not stand beside the tests")
    if "pyspark" in text:
        request.getfixturevalue("spark")
    monkeypatch.chdir(tmp_path)

    assert followed(page) == text


def test_tagline_is_one() -> None:
    """README, the package, the command line, the site and the metadata say in the same words what mqsel does."""
    texts = [mqsel.__doc__ or "", _parser([])[0].description or ""]
    sources = [ROOT / "README.md", ROOT / "pyproject.toml", PAGES.parent / "mkdocs.yml"]
    texts += [source.read_text(encoding="utf-8") for source in sources if source.exists()]

    assert [text for text in texts if TAGLINE not in text] == []


def test_troubleshooting_quotes_what_people_see() -> None:
    """Each heading of the page on troubleshooting that is a sentence of mqsel is part of an output below it."""
    page = PAGES / "troubleshooting.md"
    if not page.exists():
        pytest.skip("the pages of the site are not beside the tests")
    sections = [section.partition("\n") for section in page.read_text(encoding="utf-8").split("\n## ")[1:]]
    quoted = [(title.strip("`"), body) for title, _, body in sections if title.startswith("`")]

    assert len(quoted) > 20
    assert [title for title, body in quoted if title not in "".join(block[3] for block in BLOCK.finditer(body))] == []


def test_brokers_have_their_rows() -> None:
    """README names each dialect with the version that was measured, and each example of the page on brokers differs."""
    page = PAGES / "brokers.md"
    if not page.exists():
        pytest.skip("the pages of the site are not beside the tests")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (`[A-Z].*) \| (.*) \|$", readme, re.MULTILINE)
    checked = {name: text for names, text in rows for name in re.findall("[A-Z_]+", names)}
    examples = re.findall(r"^\| `([A-Z_]+)` \| .* \| `(.*)` \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    measured = {name: re.search(r" (\d+\.\d+\.\d+)", product.product) for name, product in PRODUCTS.items()}

    assert list(checked) == list(PRESETS)
    assert [name for name, version in measured.items() if version and version[1] not in checked[name]] == []
    assert [name for name, _ in examples] == list(PRESETS)
    assert [name for name, selector in examples if not mqsel.difference(selector, "JMS", name)] == ["JMS"]


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


@pytest.mark.parametrize(
    "typed", [pytest.param(row, marks=[pytest.mark.spark] if row.startswith("df.") else []) for row in _typed()]
)
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
        if path.parent.name == "measured":  # whose README has the sources
            continue
        for vector in json_lines(path):
            cited = re.match(r"mqsel/([\w/]+\.md) (§\d+)", vector["source"])
            if cited:
                document = PACKAGE / cited[1]
                found = document.exists() and re.search(
                    rf"^## {cited[2]}\b", document.read_text(encoding="utf-8"), re.MULTILINE
                )
            else:
                found = PUBLIC.match(vector["source"])
            if not found:
                wrong.add(vector["source"])

    assert wrong == set()


def test_citations_of_the_code_can_be_followed() -> None:
    """A section that the code cites, as in "language §5", is in a page of that folder."""
    wrong: set[str] = set()
    for path in [*PACKAGE.rglob("*.p*"), *Path(__file__).parent.rglob("*.py")]:
        if path.suffix not in (".py", ".pyx", ".pxd", ".pyi"):
            continue
        text = path.read_text(encoding="utf-8")
        for folder, sections in re.findall(
            r"\b(language|formats|selection|spark|machine)((?:(?:,| and| to)? §\d+)+)", text
        ):
            shown = "\n".join(page.read_text(encoding="utf-8") for page in (PACKAGE / folder).glob("*.md"))
            for section in re.findall(r"§\d+", sections):
                if not re.search(rf"^## {section}\b", shown, re.MULTILINE):
                    wrong.add(f"{path.name}: {folder} {section}")

    assert wrong == set()


def test_picture_is_fresh() -> None:
    """The picture of `mqsel why` is what `python tests/picture.py` draws of what the command prints today."""
    if not picture.PICTURE.exists():
        pytest.skip("no picture beside the tests")
    assert picture.drawn() == picture.PICTURE.read_text(encoding="utf-8")


if __name__ == "__main__":
    for written in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            written.write_text(followed(written), encoding="utf-8")
