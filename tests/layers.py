"""The layers of the package, who may import whom, and who does.

`test_house.py` holds the code to the layers, and `near.py` finds by the imports which tests see a change.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

SPEC = find_spec("mqsel")
assert SPEC is not None
assert SPEC.origin is not None
PACKAGE = Path(SPEC.origin).parent  # of the checkout or of a wheel; to find it imports nothing

# Top to bottom: a module imports only from rows above its own, and within a folder from what stands before it there.
ROWS = [
    ("_interpreter · _interrupt · carets", "subinterpreters refused; Ctrl-C; pieces of selectors as errors show them"),
    ("_rows · errors", "rows of named fields, made in C; errors"),
    ("names · notebook · arguments", "property names; HTML that a notebook shows; checks of arguments"),
    ("values", "truth values and property types"),
    ("language", "text to a checked selector"),
    ("logic", "the meaning of a selector: formulas over sets of values, and their solver"),
    ("machine | formats", "programs and their machine | messages to properties (of machine only the Record)"),
    ("columns", "blocks of Arrow columns to truth values"),
    ("index", "which of many formulas a message makes TRUE"),
    ("analysis", "lint, comparison and explanation of selectors"),
    ("matcher · _messages", "the Matcher; a column of raw messages"),
    ("sets", "SelectorSet, its file, its choice of an engine"),
    ("selectorset", "the former module of SelectorSet, for older pickles"),
    ("selection · files", "queues and topics in memory; files of messages"),
    ("inventory | live", "selectors where they stand, in files of all kinds | queues of running brokers"),
    ("spark", "Spark"),
    ("testing", "selectors in tests: assertions, cases, the plugin of pytest"),
    ("explorer", "the page of `mqsel explore`"),
    ("cli", "the command line"),
]
INSIDE = {
    "language": "product products._family products.* products products.__init__ dialects dialect"
    " operators nodes advice pattern clues computed static sets lexer checker"
    " settle parser selector format optimizer parameters",
    "logic": "intervals sets formulas needs normal solver.budget solver.automata solver.domains solver.boxes"
    " solver.trials solver solver.__init__ solver.cells",
    "machine": "opcodes _opcodes wordings schema _values _verifier program compiler _image _operators"
    " _sources _vm origin _stream sections",
    "columns": "wordings lookup frames _arrow _sets _columns _kernel _formulas _answers declared __init__",
    "index": "computed _segment _memtable _postings _candidates _index _reader __init__",
    "sets": "receiving file choice reading set __init__",
    "formats": "wordings mqmd jms mqrfh2 amqp inspection jsonl records envelopes _tables _words _decoder _mq _json"
    " _records _amqp _artemis artemis mq __init__",
    "analysis": "readings explain.near explain.change explain._tally explain.account explain explain.__init__ compare"
    " compare.__init__ compare.contract compare.search compare.satisfiable compare.relation compare.difference"
    " compare.writing compare.gaps compare.changes compare.rewrites compare.canonical compare.doubles compare.meaning"
    " compare.migrate compare.audit lint.findings"
    " lint.chains lint.rules_of_tests lint.rules_of_names lint.rules_of_products lint.rules_of_contracts lint.rules"
    " lint lint.__init__ explain.sentences"
    " explain.profile",
    "selection": "selectors providers message queues topics __init__",
    "files": "configuration wordings opening dumps _splitters _exports arrays amqsbcg qload foreign members framings"
    " rows _footer extremes parquet parts _text _sifter run.work listing inspection judgement selectors run.tasks"
    " run.workers run run.__init__ __init__",
    "inventory": "kinds writings pieces entries trees camel data properties markup expressions sources mqsc ems own"
    " recognition walk known __init__ keyed edit",
    "live": "address link asking __init__",
    "testing": "assertions cases deliveries plugin __init__",
    "spark": "wordings columns native job ship raw planning sets sieve route profiling audience archive"
    " source __init__",
    "explorer": "blocks session server __init__",
    "cli": "output arguments rules report baseline queues run page selectors review choice rewriting"
    " changes match why route lint check format explain inspect diff audit contract migrate explore test"
    " completion help __init__",
}
# A Selector makes its formulas and its machine when somebody first reads them, and only then imports these.
LAZY = {
    "language.selector": ("logic.formulas", "logic.normal", "machine._vm", "machine.compiler"),
}
TOP = {
    name: level
    for level, (names, _) in enumerate([*ROWS, ("__init__ · __main__", "")])
    for name in re.split(r" [|·] ", names)
}
IMPORT = re.compile(
    r"^\s*(?:from\s+mqsel(?:\.([\w.]+))?\s+c?import\s+(\([^)]*|[\w, *]+)|c?import\s+mqsel(?:\.([\w.]+))?)", re.MULTILINE
)


def sources() -> list[Path]:
    """Return the sources of the package: Python, Cython and its declarations."""
    return sorted(path for path in PACKAGE.rglob("*.p*") if path.suffix in (".py", ".pyx", ".pxd"))


def module_of(path: Path) -> str:
    """Return the name of a module within the package, such as ``index._search`` or ``index.__init__``."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


MODULES = set(map(module_of, sources()))


def place_of(order: list[str], inside: str) -> int:
    """Return where a module stands in its folder's list, -1 for nowhere; ``name.*`` is each module of a folder."""
    names = [inside, f"{inside.rpartition('.')[0]}.*"]
    return next((order.index(name) for name in names if name in order), -1)


def may_import(module: str, name: str) -> bool:
    """Report whether the layers let a module import another one, or a name of another one."""
    (folder, _, inside), (target, _, part) = module.partition("."), name.partition(".")
    if folder == target and inside:
        order = INSIDE[folder].split()
        return place_of(order, part or "__init__") < place_of(order, inside)
    if name in LAZY.get(module, ()):
        return True
    if folder == "formats" and target == "machine":
        return part == "_values"
    return TOP[target] < TOP[folder]


def imports_of(path: Path) -> set[str]:
    """Return what of the package a file imports: modules, and folders for names of their own."""
    imported: set[str] = set()
    for module, names, direct in IMPORT.findall(path.read_text(encoding="utf-8")):
        listed = [name.split()[0] for name in names.lstrip("(").split(",") if name.strip()]
        for name in listed or [""]:
            whole = ".".join(filter(None, (module or direct, name)))
            is_module = whole in MODULES or f"{whole}.__init__" in MODULES
            imported.add(whole if is_module else module or direct or "__init__")
    return imported
