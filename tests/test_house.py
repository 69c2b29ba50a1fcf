"""The house: who may import whom, what is generated is fresh, one branch for each opcode, the public names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from conftest import ROOT, VECTORS_ROOT, dialects_of, json_lines

import mqsel
from mqsel import errors, opcodes, program
from mqsel.opcodes import TABLE

PACKAGE = Path(mqsel.__file__).parent

# Top to bottom: a module imports only from lines above its own.
LAYERS = [
    ["_interpreter"],
    ["errors"],
    ["values", "dialect", "opcodes"],
    ["schema", "lexer", "nodes"],
    ["parser"],
    ["checker"],
    ["optimizer"],
    ["_verifier"],
    ["program"],
    ["compiler"],
    ["_opcodes", "_image"],
    ["_vm"],
    ["_arrow"],
    ["explain"],
    ["formats.mqmd", "formats.names", "formats.jsonl"],
    ["formats.jms", "formats.mqrfh2", "formats.records", "formats.dumps"],
    ["formats._mq", "formats.mq"],
    ["formats.amqsbcg"],
    ["formats.files"],
    ["_messages"],
    ["formats"],
    ["matcher"],
    ["parquet"],
    ["parts"],
    ["sifting", "inspection"],
    ["cluster"],
    ["spark.columns"],
    ["spark.native"],
    ["spark.ship"],
    ["spark.raw"],
    ["spark.plan"],
    ["spark.profile", "spark.source"],
    ["spark"],
    ["cli"],
    ["__init__"],
    ["__main__"],
]
LEVEL = {module: level for level, modules in enumerate(LAYERS) for module in modules}
# The command line is the package's own user: it may ask the package for its name.
EXCEPTIONS = {("cli", "__init__"), ("__main__", "cli")}
IMPORT = re.compile(
    r"^\s*(?:from\s+mqsel(?:\.([\w.]+))?\s+c?import\s+([\w, ]+)|c?import\s+mqsel(?:\.([\w.]+))?)", re.MULTILINE
)


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for module, names, direct in IMPORT.findall(path.read_text(encoding="utf-8")):
        parts = {f"{module}.{name.strip().split(' ')[0]}" for name in names.split(",")} & LEVEL.keys()
        if parts:  # modules of a package in it: from mqsel.formats import jms
            found.update(parts)
        elif module or direct:
            found.add(module or direct)
        elif names:
            found.update(name for part in names.split(",") if (name := part.strip().split(" ")[0]) in LEVEL)
            found.update("__init__" for part in names.split(",") if part.strip().split(" ")[0] not in LEVEL)
        else:
            found.add("__init__")
    return found


def test_imports_go_upward() -> None:
    """A module imports only modules that stand above it in the list, and every module stands in the list."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py*")):
        if path.suffix not in (".py", ".pyx", ".pxd") or path.suffix == ".pyi":
            continue
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        assert module in LEVEL, f"{path.name} has no place in the list"
        wrong += [
            f"{path.name} imports {name}"
            for name in sorted(_imports(path) - {module})
            if LEVEL[name] >= LEVEL[module] and (module, name) not in EXCEPTIONS
        ]

    assert wrong == []


def test_the_import_reader_sees_a_planted_import() -> None:
    """The test above can fail: its reader finds all spellings of an import."""
    text = "from mqsel import errors, nodes\nfrom mqsel.parser import parse\nimport mqsel.values\ncimport mqsel._vm\n"
    found = {module or direct or names for module, names, direct in IMPORT.findall(text)}

    assert found == {"errors, nodes", "parser", "values", "_vm"}


def test_opcodes_pxd_is_fresh() -> None:
    """_opcodes.pxd is what `python mqsel/opcodes.py` writes."""
    assert opcodes.render_pxd() == (PACKAGE / "_opcodes.pxd").read_text(encoding="utf-8")


def test_readme_table_is_fresh() -> None:
    """The table of instructions in the README is what `python mqsel/opcodes.py` writes."""
    readme = ROOT / "README.md"
    if not readme.exists():
        pytest.skip("no README.md beside the tests")
    _, _, rest = readme.read_text(encoding="utf-8").partition(opcodes.MARKERS[0])

    assert opcodes.render_markdown() == rest.partition(opcodes.MARKERS[1])[0]


def test_one_branch_for_each_opcode() -> None:
    """In the loop of the machine every opcode is compared with exactly once as a case."""
    source = (PACKAGE / "_vm.pyx").read_text(encoding="utf-8")
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
    """The public surface changes only on purpose."""
    assert sorted(mqsel.__all__) == [
        "Dialect",
        "IBM_JAVA_CLIENT",
        "IBM_JMS",
        "IBM_MQ",
        "JMS",
        "Matcher",
        "MqselError",
        "Record",
        "SelectorError",
        "TIBCO_EMS",
        "Truth",
        "__version__",
        "compile",
    ]


def test_import_needs_nothing_else() -> None:
    """``import mqsel`` imports neither an optional package nor anything heavy."""
    script = (
        "import sys, mqsel; print([m for m in ('numpy', 'pyarrow', 'pyspark', 'pandas', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_core_has_no_requirements() -> None:
    """What is required without an extra is nothing."""
    assert [line for line in requires("mqsel") or [] if "extra ==" not in line] == []


def test_every_test_says_what_it_proves() -> None:
    """Each test function has a docstring."""
    silent = [
        f"{path.name}: {node.name}"
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]

    assert silent == []
