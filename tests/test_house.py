"""The house: who may import whom, what is generated is fresh, one branch for each opcode, the public names."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
from importlib.metadata import requires
from operator import gt
from pathlib import Path
from typing import get_args

import layers
import lines
import pytest
import tables_of_dialects
from conftest import ROOT, VECTORS_ROOT, dialects_of, json_lines
from layers import IMPORT, INSIDE, PACKAGE, ROWS, TOP, imports_of, may_import, module_of

import mqsel
from mqsel import errors, formats
from mqsel.language import checker, dialects, optimizer, parser
from mqsel.language.dialect import PRESETS
from mqsel.language.products import PRODUCTS, RULES
from mqsel.language.selector import read_selector
from mqsel.logic import formulas, normal, sets
from mqsel.machine import compiler, opcodes, program
from mqsel.machine.opcodes import TABLE
from mqsel.values import MQTYPE, TYPES

WITH_SOURCES = pytest.mark.skipif(
    not (PACKAGE / "machine" / "_vm.pyx").exists(), reason="the sources of what is compiled are in no wheel"
)


@WITH_SOURCES
def test_imports_go_upward() -> None:
    """A module imports only from the rows above its own, and every module stands in a row or in its folder's list."""
    wrong = []
    for path in layers.sources():
        module = module_of(path)
        folder, _, inside = module.partition(".")
        assert folder in TOP, f"{module} has no row"
        assert not inside or inside == "__init__" or layers.place_of(INSIDE[folder].split(), inside) >= 0, (
            f"{module} has no place"
        )
        own = {module, module.removesuffix(".__init__")}
        wrong += [f"{module} imports {name}" for name in sorted(imports_of(path) - own) if not may_import(module, name)]

    assert wrong == []


def test_dialects_end_at_the_front_end() -> None:
    """Behind it no file asks a dialect for a field: nodes and programs have what is left of one."""
    asks = re.compile(
        rf"\b(dialect|lenient|strict)\.({'|'.join([*dialects.FIELDS, *RULES, 'rules', dialects.LENGTH])})\b"
    )
    folders = ("machine", "columns", "index", "logic", "spark")
    files = [path for folder in folders for path in (PACKAGE / folder).rglob("*.p*") if path.suffix in (".py", ".pyx")]

    assert len(files) > 40
    assert [path.name for path in files if asks.search(path.read_text(encoding="utf-8"))] == []


# Who besides the writers names a stream or writes JSON, and what.
WRITERS = {
    "cli.output": "the writers of text and JSON",
    "formats.jsonl": "json_text, and lines that are read",
    "cli.__init__": "the streams of the process, which it replaces; help, which has no text of others",
    "cli.report": "whether streams are terminals; the bar of rich",
    "cli.arguments": "whether stdin is a terminal",
    "cli.queues": "whether a password can be asked for",
    "cli.run": "whether stdout is a terminal",
    "cli.lint": "the stream that findings go to",
    "cli.selectors": "whether stderr is a terminal",
    "files.foreign": "a command that is shown to people",
    "files.run.workers": "the streams that a worker gives up",
    "machine.sections": "the head of a set's file",
    "index._index": "the head of an index",
    "index.computed": "a key",
    "spark": "options for executors",
}
# Pickles, another function, comments, code that is quoted or shown to people.
_NO_WRITES = re.compile(r"`[^`\n]*`|\b(?:cloud)?pickle\.dumps|_dumps\(|#.*|\"json\.dumps.*")
_WRITES = re.compile(r"\bprint\(|\bsys\.(?:__)?std(?:out|err)|\bos\.write\(|\bdumps?\(|JSONEncoder|\bjson\.dump")


@WITH_SOURCES
def test_two_writers() -> None:
    """No module prints or writes JSON but the two writers, and those of which the list says what."""
    found = set()
    for path in PACKAGE.rglob("*.py*"):
        if path.suffix not in (".py", ".pyx"):
            continue
        text = path.read_text(encoding="utf-8")
        if _WRITES.search(_NO_WRITES.sub("", text)):
            found.add("spark" if module_of(path).startswith("spark.") else module_of(path))

    assert found == {*WRITERS}


def test_no_locks_that_instances_share() -> None:
    """No cached_property: before Python 3.12 all instances share its lock, which an interruption may leave taken."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py*") if path.suffix != ".pyc"}

    assert len(texts) > 100
    assert [name for name, text in texts.items() if re.search(r"@(functools\.)?cached_property", text)] == []


@WITH_SOURCES
def test_folders_keep_to_their_ceilings() -> None:
    """No folder has more lines of code, or more vague names, than its ceiling allows: `tests/lines.py`."""
    ceilings, counts = lines.ceilings(), lines.counts()
    above = {folders: count for folders, count in counts.items() if any(map(gt, count, ceilings[folders]))}

    assert above == {}, {folders: ceilings[folders] for folders in above}


def test_lines_of_code_and_vague_names_are_counted(tmp_path: Path) -> None:
    """Blanks, comments and docstrings are no lines of code, and a vague word in them is no name."""
    file = tmp_path / "a.pyx"
    file.write_text(
        '"""One\nother."""\n\n# given\ncdef int number(int one) noexcept nogil:\n    """Made."""\n'
        "    cdef int taken = <int>one  # told\n    return (taken +\n\n            one)\n",
        encoding="utf-8",
    )
    header = tmp_path / "a.h"
    header.write_text("/* one\n   other */\n\nint given; // held\n", encoding="utf-8")

    assert lines.count(file) == (4, 5)
    assert lines.count(header) == (1, 0)


def test_contributing_shows_the_rows() -> None:
    """The list of rows in CONTRIBUTING is the one that is tested."""
    shown = ROOT / ".github" / "CONTRIBUTING.md"
    if not shown.exists():
        pytest.skip("no CONTRIBUTING.md beside the tests")
    width = max(len(names) for names, _ in ROWS)
    listed = "\n".join(f"  {names:{width}}   {what}" for names, what in ROWS)

    assert listed in shown.read_text(encoding="utf-8")


def test_the_import_reader_sees_a_planted_import() -> None:
    """The test above can fail: its reader finds all spellings of an import."""
    text = (
        "from mqsel import errors, matcher\nfrom mqsel.language.parser import parse\ncimport mqsel.machine._vm\n"
        "from mqsel.machine._image cimport *\nfrom mqsel.files import (\n    rows,\n    parts,\n)\n"
    )
    found = {(module or direct, names.strip("(\n")) for module, names, direct in IMPORT.findall(text)}

    assert found == {
        ("", "errors, matcher"),
        ("language.parser", "parse"),
        ("machine._vm", ""),
        ("machine._image", "*"),
        ("files", "    rows,\n    parts,"),
    }


@WITH_SOURCES
def test_opcodes_pxd_is_fresh() -> None:
    """_opcodes.pxd is what `python mqsel/machine/opcodes.py` writes."""
    assert opcodes.render_pxd() == (PACKAGE / "machine" / "_opcodes.pxd").read_text(encoding="utf-8")


def test_readme_table_is_fresh() -> None:
    """The table of instructions in the machine's README is what `python mqsel/machine/opcodes.py` writes."""
    readme = (PACKAGE / "machine" / "README.md").read_text(encoding="utf-8")
    _, _, rest = readme.partition(opcodes.MARKERS[0])

    assert opcodes.render_markdown() == rest.partition(opcodes.MARKERS[1])[0]


def test_tables_of_dialects_are_fresh() -> None:
    """`tables_of_dialects.py` writes the tables of language §2; each choice is one of a field and has a source."""
    readme = (PACKAGE / "language" / "README.md").read_text(encoding="utf-8")

    assert [
        marker for marker, render in tables_of_dialects.RENDERED.items() if f"{marker}\n{render()}\n" not in readme
    ] == []
    for name, row in {**dialects.PRESETS, "JAKARTA": dialects.JAKARTA}.items():
        wrong = [field for field in row.keys() - {dialects.LENGTH} if row[field] not in dialects.FIELDS[field]]
        assert not wrong, name
    for name, product in PRODUCTS.items():
        assert [rule for rule, choice in product.rules._asdict().items() if choice not in RULES[rule]] == [], name
    table = {**dialects.FIELDS, **RULES}
    assert [(field, name) for field, row in table.items() for name in row if not row[name].source] == []


@WITH_SOURCES
def test_one_branch_for_each_opcode() -> None:
    """In the loop of the machine every opcode is compared with exactly once as a case."""
    source = (PACKAGE / "machine" / "_vm.pyx").read_text(encoding="utf-8")
    loop = source[source.index("        op = step.op\n") : source.index("        # Branches, where")]
    conditions = re.findall(r"^        (?:if|elif) (.*?):\n", loop, re.MULTILINE | re.DOTALL)
    cases = [name for condition in conditions for name in re.findall(r"op == (\w+)", condition)]
    cases += re.findall(r"else:  # op == (\w+)", loop)

    assert sorted(cases) == sorted(row.name for row in TABLE)


def test_fused_opcodes_have_the_effect_of_what_they_replace() -> None:
    """A fused instruction's effect on the stacks is the sum of the effects of its parents."""
    rows = {row.name: row for row in TABLE}
    for row in TABLE:
        if not row.parent:
            continue
        values = truths = 0
        for name in row.parent:
            values_in, truths_in, values_out, truths_out = opcodes.effect(rows[name])
            values += values_out - values_in
            truths += truths_out - truths_in
        values_in, truths_in, values_out, truths_out = opcodes.effect(row)

        assert (values_out - values_in, truths_out - truths_in) == (values, truths), row.name


def test_the_order_of_rows_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the rows of the table shuffled, the compiler writes the same instructions under other numbers."""
    names = [row.name for row in random.Random(1).sample(TABLE, len(TABLE))]
    usual = {number: row.name for number, row in enumerate(TABLE)}
    text = (
        "a = 'x' AND b > 1 AND c LIKE '%y%' OR NOT (d * 2 BETWEEN 1 AND e) AND f NOT IN ('u', 'v') AND g IS NOT NULL"
        " OR -h + i / 3 >= 0.5 AND j NOT LIKE 'z%' AND k NOT LIKE 'p_q' AND l = m AND n"
    )
    expected = [(usual[word & 0xFF], word >> 8) for word in mqsel.compile(text).program.code]
    monkeypatch.setattr(compiler, "CODE", {name: number for number, name in enumerate(names)})
    monkeypatch.setattr(compiler, "encode_code", list)
    monkeypatch.setattr(compiler, "Program", lambda *parts: parts[4])
    words = compiler.lower(optimizer.optimize(read_selector(text, mqsel.IBM_MQ)))

    assert [(names[word & 0xFF], word >> 8) for word in words] == expected


@WITH_SOURCES
def test_no_unit_counts_on_the_numbers_of_opcodes() -> None:
    """What runs programs compares opcodes with == alone: no range of them, no difference, no oddness."""
    name = f"(?:{'|'.join(row.name for row in TABLE)})"
    ordered = re.compile(rf"(?:[<>]=?|[-+%&|]) *{name}\b|\b{name} *(?:[<>]=?|[-+%&|])|\bop *(?:[-+%&]|[<>]=?)")
    found = [
        line
        for path in sorted(PACKAGE.rglob("*.p[yx][xd]"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if ordered.search(line.partition("#")[0]) and '"""' not in line and path.name != "_opcodes.pxd"
    ]

    assert found == []


@WITH_SOURCES
def test_types_have_one_number() -> None:
    """The numbers of types that C code is compiled with are those of the table, and each type has one."""
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.p[xy][xd]")]
    found = [pair for text in sources for pair in re.findall(r"^ +(MQTYPE_\w+) = (\d+)", text, re.MULTILINE)]

    assert sorted(found) == sorted((row.number.name, str(row.number.value)) for row in TYPES)
    assert [row.number for row in TYPES] == list(MQTYPE)


def test_every_opcode_occurs_in_a_vector() -> None:
    """No instruction is without a conformance vector that compiles to it."""
    seen: set[str] = set()
    for path in sorted(VECTORS_ROOT.glob("*.jsonl")):
        for vector in json_lines(path):
            for _, dialect in dialects_of(vector["dialect"]):
                for optimize in (True, False):
                    try:
                        matcher = mqsel.compile(vector["selector"], dialect=dialect, optimize=optimize)
                    except errors.SelectorError:
                        continue
                    seen.update(line.name for line in program.disassemble(matcher.program))

    assert seen == {row.name for row in TABLE}


def test_public_names() -> None:
    """The public surface changes only on purpose; each preset has its name there."""
    assert sorted(set(mqsel.__all__) - PRESETS.keys()) == [
        "ArgumentError",
        "Contract",
        "DecodeError",
        "Dialect",
        "FileError",
        "MQRC",
        "Matcher",
        "MessageNotWriteable",
        "MqselError",
        "NoMessageAvailable",
        "ProgramError",
        "PropertyTypeError",
        "Record",
        "SelectorAlwaysFalseError",
        "SelectorError",
        "SelectorLimitError",
        "SelectorNotAlterable",
        "SelectorSet",
        "SelectorSyntaxError",
        "SelectorTypeError",
        "SubscriptionError",
        "Truth",
        "__version__",
        "compile",
        "difference",
        "explore",
        "gap",
        "lint",
        "migrate",
        "quote",
        "relation",
        "satisfiable",
    ]
    assert PRESETS.keys() <= set(mqsel.__all__)


def test_import_needs_nothing_else() -> None:
    """``import mqsel`` imports neither an optional package nor anything heavy."""
    script = (
        "import sys, mqsel; print([m for m in ('numpy', 'pyarrow', 'pyspark', 'pandas', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_match_starts_with_little(tmp_path: Path) -> None:
    """``mqsel match`` on a few lines imports nothing that only errors, help, columns or many processes need."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n', encoding="utf-8")
    listing = "print(sorted(sys.modules))"
    # From 3.14 on argparse itself needs some of them.
    runs = (
        "import argparse; argparse.ArgumentParser().format_usage();",
        f"from mqsel.cli import main; main(['match', 'a = 1', {str(file)!r}]);",
    )
    before, after = (
        subprocess.run(
            [sys.executable, "-c", f"import sys; {run}{listing}"], capture_output=True, text=True, check=True
        )
        for run in runs
    )
    line, listed = after.stdout.splitlines()
    modules = set(ast.literal_eval(listed)) - set(ast.literal_eval(before.stdout))
    late = (
        "asyncio base64 dataclasses datetime difflib inspect json multiprocessing numpy pyarrow rich shlex shutil"
        " pathlib subprocess tempfile textwrap urllib.parse mqsel.files.amqsbcg"
        " mqsel.analysis.explain mqsel.files.parquet mqsel.files.run.workers"
        " mqsel.columns._answers mqsel.columns._kernel mqsel.spark"
    )

    assert line == '{"a": 1}'
    assert modules & set(late.split()) == set()
    assert len([name for name in modules if name.partition(".")[0] == "mqsel"]) < 90  # a module for each product


def test_types_of_fields_are_no_texts(tmp_path: Path) -> None:
    """A start of ``mqsel match`` compiles no types of NamedTuples: each is an object, not a text."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n', encoding="utf-8")
    script = (
        "import typing; texts = []; typing.ForwardRef.__init__ = lambda self, text, **_: texts.append(text);"
        f"from mqsel.cli import main; main(['match', '-q', 'a = 1', {str(file)!r}]); print(texts)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_folders_are_imported_when_asked_for() -> None:
    """``import mqsel; mqsel.files`` needs no second import, and a name that does not exist is an AttributeError."""
    script = "import mqsel; print(mqsel.files.messages.__name__, hasattr(mqsel, 'rubbish'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "messages False\n"


def test_core_has_no_requirements() -> None:
    """What is required without an extra is nothing."""
    assert [line for line in requires("mqsel") or [] if "extra ==" not in line] == []


def test_what_is_compiled_is_compiled() -> None:
    """What `setup.py` compiles from Python does not run as Python; that it is fresh conftest.py sees to."""
    files = {Path(str(module.__file__)) for module in (checker, formulas, normal, parser, sets)}

    assert {file.suffix for file in files} <= {".so", ".pyd"}


@WITH_SOURCES
def test_compiled_code_has_no_with() -> None:
    """No compiled module has a `with` of Python: where there is no memory for a traceback, Cython's reads address 0."""
    compiled = [Path(str(module.__file__)) for module in (checker, formulas, normal, parser, sets)]
    sources = [*PACKAGE.rglob("*.pyx"), *(path.with_name(f"{path.name.partition('.')[0]}.py") for path in compiled)]
    found = [
        f"{path.name}:{number}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.match(r"\s+with (?!nogil:|gil:)", line)
    ]

    assert len(sources) > 20
    assert found == []


@pytest.mark.process
def test_types(tmp_path: Path) -> None:
    """Those who check types see what goes in come out of `filter`, and the words it takes."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(ROOT / "tests" / "typed.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    assert done.stdout == "Success: no issues found in 1 source file\n"
    assert list(get_args(formats.FormatName)) == [*formats.FORMATS]


def test_every_test_says_what_it_proves() -> None:
    """Each test function has a docstring."""
    silent = [
        f"{path.name}: {node.name}"
        for path in Path(__file__).parent.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]

    assert silent == []
