"""The engines every vector runs on, and what the tests share."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import meaning
import oracle
import pytest
import volumes
from products.typed import product_of
from products.typed import truth as product_truth
from running import SPARK_JAVA, keep_classes
from strategies import JMS_PRESETS

import mqsel
from mqsel import cli, values
from mqsel.columns import _answers
from mqsel.language import dialect, parser
from mqsel.language.dialect import Dialect
from mqsel.language.products import RULES
from mqsel.language.selector import read_selector
from mqsel.logic import normal
from mqsel.machine import _vm

if find_spec("hypothesis"):
    from hypothesis import HealthCheck, settings

    # A busy machine, or a build with sanitizers, is slow: that is no fault of a test.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")

# A shell ignores Ctrl-C for what it starts in the background, and what that starts inherits it: tests that interrupt
# commands would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Drivers of Spark read it, also those that commands start.
os.environ.setdefault("SPARK_SUBMIT_OPTS", SPARK_JAVA)

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
VECTORS_ROOT = Path(__file__).resolve().parent / "vectors"

Properties = dict[str, tuple[str, Any]]
Engine = Callable[[str, Properties, Dialect], str]  # a truth value by name, or several that it cannot part, by |


class Untaken(Exception):  # noqa: N818 - no error: the case is left out, and counted
    """An engine cannot hold a message, such as Arrow a lone surrogate."""


TRUTHS = ("TRUE", "FALSE", "UNKNOWN", "ERR")
_READERS: dict[str, Callable[[Any], Any]] = {
    "boolean": bool,
    "int8": values.Int8,
    "int16": values.Int16,
    "int32": values.Int32,
    "int64": int,
    "float32": lambda value: values.Float32(float(value)),
    "float64": float,
    "string": str,
    "bytes": lambda value: value if isinstance(value, bytes) else bytes.fromhex(value),
    "null": lambda _: None,
}


def message_of(properties: Properties) -> dict[str, Any]:
    """Turn typed properties into a message of Python values."""
    return {name: _READERS[kind](value) for name, (kind, value) in properties.items()}


def _oracle(text: str, properties: Properties, dialect: Dialect) -> str:
    message = message_of(properties)
    typed = {name: (kind, message[name]) for name, (kind, _) in properties.items()}
    product = product_of(dialect)
    if product is not None:
        return product_truth(product, text, typed)
    return oracle.evaluate(parser.parse(text, dialect), typed, dialect)


def _ran(matcher: mqsel.Matcher, properties: Properties) -> str:
    """Run both codes of a program; the quick one must agree with the exact one on "is it TRUE"."""
    message = message_of(properties)
    truth = mqsel.Truth(_vm.Machine(matcher.program).truth(message))
    assert matcher.matches(message) == bool(truth)
    return truth.name


def _vm_optimised(text: str, properties: Properties, dialect: Dialect) -> str:
    return _ran(mqsel.compile(text, dialect=dialect), properties)


def _vm_plain(text: str, properties: Properties, dialect: Dialect) -> str:
    return _ran(mqsel.compile(text, dialect=dialect, optimize=False), properties)


def _vm_pickled(text: str, properties: Properties, dialect: Dialect) -> str:
    return _ran(pickle.loads(pickle.dumps(mqsel.compile(text, dialect=dialect))), properties)


ARROW_TYPES = {
    "boolean": "bool_",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "float32": "float32",
    "float64": "float64",
    "string": "string",
    "bytes": "binary",
    "null": "null",
}


def fits_arrow(message: dict[str, Any]) -> bool:
    """Report whether a batch can hold a message: texts are UTF-8, without lone surrogates, and names have no NUL."""
    return not any(
        "\0" in name or (isinstance(value, str) and any("\ud800" <= point <= "\udfff" for point in value))
        for name, value in message.items()
    )


@cache
def _arrow() -> Any:
    return pytest.importorskip("pyarrow")  # which compiles and catches warnings at each call


def batch_of(properties: Properties, message: dict[str, Any]) -> Any:
    """Return a record batch of a message between two rows without anything; its columns have offsets."""
    arrow = _arrow()
    columns = [
        arrow.array([None, None, message[name], None], getattr(arrow, ARROW_TYPES[kind])())
        for name, (kind, _) in properties.items()
    ]
    # A column that no selector reads: without any a batch has no rows.
    return arrow.RecordBatch.from_arrays([*columns, arrow.nulls(4)], [*properties, "unread"]).slice(1)


def _batched(text: str, properties: Properties, dialect: Dialect, *, rows: slice) -> str:
    message = message_of(properties)
    if not fits_arrow(message):
        raise Untaken
    matcher = mqsel.compile(text, dialect=dialect)
    batch = batch_of(properties, message)[rows]
    messages = [{}, message, {}][rows]
    at = messages.index(message)
    truth = mqsel.Truth(_answers.truths(matcher, batch)[at])
    assert matcher.match_batch(batch).to_pylist() == [matcher.matches(one) for one in messages]
    known = matcher.truth_batch(batch)[at].as_py()
    assert known == (None if truth is mqsel.Truth.UNKNOWN else bool(truth))
    return truth.name


def _batch_of_one(text: str, properties: Properties, dialect: Dialect) -> str:
    return _batched(text, properties, dialect, rows=slice(1, 2))


def _batch_of_many(text: str, properties: Properties, dialect: Dialect) -> str:
    return _batched(text, properties, dialect, rows=slice(3))


@cache
def lenient(dialect: Dialect) -> Dialect:
    """Return a dialect that takes a selector inside of another one."""
    return dialect.replace(constant_false="accept", max_length=None)


def _set_of(text: str, dialect: Dialect) -> mqsel.SelectorSet[str]:
    """Return a set of a selector and its NOT: one of them is found if the selector is TRUE or FALSE.

    Where AND ends at UNKNOWN under no NOT, what is behind it may make the NOT TRUE: there the set has no NOT.
    """
    texts = {"TRUE": text}
    if text.strip() and dialect.rules.connectives != "matched":
        texts["FALSE"] = f"NOT ({text}\n)"  # a comment may end it
    try:
        return mqsel.SelectorSet(texts, dialect=lenient(dialect))
    except mqsel.SelectorError:
        if dialect.rules.rest == "ignored":  # what is ignored at the end of a text is none within parentheses
            raise Untaken from None
        raise


def _found(selectors: mqsel.SelectorSet[str], properties: Properties) -> str:
    """Return what a set finds: it cannot part UNKNOWN and ERR."""
    message = message_of(properties)
    found = selectors.match(message)
    assert selectors.scan(message) == found
    return "".join(found) or ("UNKNOWN|ERR" if len(selectors) > 1 else "UNKNOWN|ERR|FALSE")


def _in_a_set(text: str, properties: Properties, dialect: Dialect) -> str:
    return _found(_set_of(text, dialect), properties)


def _in_a_saved_set(text: str, properties: Properties, dialect: Dialect) -> str:
    # In no folder of its own: to make and remove one takes longer than all else.
    path = Path(tempfile.gettempdir(), f"mqsel-tests-{os.getpid()}.set")
    try:
        _set_of(text, dialect).save(path)
        return _found(mqsel.SelectorSet.open(path), properties)
    finally:
        path.unlink(missing_ok=True)


def _normal_form(text: str, properties: Properties, dialect: Dialect) -> str:
    message = message_of(properties)
    typed = {name: (kind, message[name]) for name, (kind, _) in properties.items()}
    made = normal.normal(read_selector(text, dialect))
    return " and ".join(meaning.said(made, meaning.reader(typed, dialect)))


# Spark's native expressions are the tenth: in groups, `tests/spark/test_spark_native.py`, as a job for each takes long.
ENGINES: dict[str, Engine] = {
    "oracle": _oracle,
    "vm": _vm_optimised,
    "unoptimised": _vm_plain,
    "pickled": _vm_pickled,
    "batch of one": _batch_of_one,
    "batch of many": _batch_of_many,
    "set": _in_a_set,
    "saved set": _in_a_saved_set,
    "normal form": _normal_form,
}


# Saving each set takes as long as all that the other engines do.
@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.volume if name == "saved set" else []) for name in ENGINES]
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """One of the engines; prints how many cases it could not take, and fails where that is more than a twentieth."""
    asked, untaken = 0, 0

    def counted(text: str, properties: Properties, dialect: Dialect) -> str:
        nonlocal asked, untaken
        asked += 1
        try:
            return ENGINES[request.param](text, properties, dialect)
        except Untaken:
            untaken += 1
            return "|".join(TRUTHS)

    yield counted
    print(f"{request.param}: {asked} cases, of which {untaken} were skipped")
    assert untaken <= max(asked // 20, 2), f"{request.param} takes too few messages: {untaken} of {asked} skipped"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says how much the tests with random input try."""
    what = "how many cases the tests with random input try: 0 a smoke (default), 1 what CI tries, 10 a release"
    parser.addoption("--volume", type=float, default=0, metavar="N", help=what)


def _refuse_stale_extensions() -> None:
    """Refuse compiled code whose sources have changed since: its tests would say nothing about the sources."""
    if not Path(_vm.__file__).is_relative_to(ROOT):
        return  # of a wheel
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        stale = runpy.run_path("setup.py")["stale"]()
    if stale:
        command = f"{sys.executable} setup.py -q build_ext --inplace"
        raise pytest.UsageError(
            f"compiled code is older than its sources ({', '.join(stale)}); in {ROOT} run: {command}"
        )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to test anything but compiled and fresh extensions; note how much is to be tried."""
    assert _vm.__file__.endswith((".so", ".pyd")), f"{_vm.__file__} is no compiled extension"
    if not hasattr(config, "workerinput"):  # once, not in each process of a run
        _refuse_stale_extensions()
    volumes.LEVEL = config.getoption("--volume")


def _sample(cases: list[pytest.Function], number: int) -> set[pytest.Function]:
    """Choose *number* cases of a matrix: as many values of each parameter as they can hold, otherwise by chance.

    The chance is a number of the case's name, so that a case more or less leaves the choice of the others alone.
    """
    chosen: set[pytest.Function] = set()
    seen: set[tuple[str, int]] = set()
    # The cases of a matrix share the objects that are their values, of which many cannot be compared.
    values = {case: {(name, id(value)) for name, value in case.callspec.params.items()} for case in cases}
    left = sorted(cases, key=lambda case: crc32(case.name.encode()))
    while left and len(chosen) < number:
        case = max(left, key=lambda case: len(values[case] - seen))
        left.remove(case)
        chosen.add(case)
        seen |= values[case]
    return chosen


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what its -m says
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes a Spark or a browser, and the cases of large matrices that the default run leaves out."""
    matrices = defaultdict(list)
    for item in items:
        for fixture in {"spark", "browser"}.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(fixture)
        if isinstance(item, pytest.Function) and item.get_closest_marker("sample"):
            matrices[item.nodeid.partition("[")[0]].append(item)
    for cases in matrices.values():
        rule = cases[0].get_closest_marker("sample")
        assert rule is not None
        chosen = _sample(cases, rule.args[0])
        for case in cases:
            if case not in chosen:
                case.add_marker(rule.kwargs.get("rest", "volume"))


@pytest.fixture(scope="module", autouse=True)
def _settled() -> None:
    """Leave what is there before a module's tests out of collections: with all of it each takes half a second."""
    gc.collect()
    gc.freeze()


def dialects_of(written: str) -> Iterator[tuple[str, Dialect]]:
    """Read a vector's dialect: ``JMS family``, the presets without tests of products, or presets joined by ``|``.

    Behind each stands ``:field=value,…`` if need be.
    """
    if written == "JMS family":
        yield from JMS_PRESETS.items()
        return
    for one in written.split("|"):
        preset, _, changes = one.partition(":")
        fields: dict[str, Any] = dict(change.split("=") for change in changes.split(",") if change)
        if "max_length" in fields:
            fields["max_length"] = None if fields["max_length"] == "None" else int(fields["max_length"])
        rules = {field: fields.pop(field) for field in [*fields] if field in RULES}
        yield one, dialect.PRESETS[preset].replace(**fields).varied(**rules)


def shared(*parts: str) -> Path:
    """Return a file of the material that stands beside the checkout, or skip."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} does not stand beside this checkout")
    return path


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def shown(value: object) -> str:
    """Name a test by a value, alike in all processes of a run: without addresses, and with sets in order."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(sorted(value) if isinstance(value, set) else value))


Run = Callable[..., tuple[int, Any, str]]


def ran(captured: pytest.CaptureFixture[Any], *arguments: object, **options: Any) -> tuple[int, Any, str]:
    """Run the command line in this process; return the exit code, stdout as it is captured, stderr as text.

    The options are those of `mqsel.cli.main`.
    """
    try:
        status = cli.main([*map(str, arguments)], **options)
    except SystemExit as ended:
        status = int(ended.code or 0)
    out, err = captured.readouterr()
    return status, out, err if isinstance(err, str) else err.decode()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the command line here."""
    return partial(ran, capsys)


@pytest.fixture
def run_binary(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Return what runs the command line here, with stdout as bytes."""
    return partial(ran, capsysbinary)


def is_shown(shown: str, text: str) -> bool:
    """Report whether a document shows what is printed: … stands for the rest of a line or a part of it, as times do."""
    shown = re.sub(r"\d+\.\d\d s$", "… s", shown, flags=re.MULTILINE)
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), text) is not None


def process(*arguments: object, check: bool = False, **options: Any) -> Any:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "mqsel", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=300, check=check, **options)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start a Spark with two worker threads, or skip, saying what is missing."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and (Path(home) / "bin" / "java").exists())):
        pytest.skip("no java on the PATH and no JAVA_HOME: Spark needs Java 17")
    keep_classes()
    with pytest.MonkeyPatch.context() as patch:
        # Without it the workers are the first python3 on the PATH, which has no mqsel.
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            sql.SparkSession.builder.master("local[2]")
            .appName("mqsel tests")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.log.level", "OFF")
            # A plan of forty generated selectors is megabytes of text, and Spark keeps a thousand of them.
            .config("spark.sql.maxPlanStringLength", "1000")
            .config("spark.sql.ui.retainedExecutions", "5")
            .getOrCreate()
        )
        yield session
        session.stop()


@pytest.fixture
def on_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let commands of this process take the session's Spark: starting one each is ten times their work.

    Returns: the words by which a command asks for Spark.
    """
    from mqsel.spark import job

    context = spark.sparkContext
    monkeypatch.setattr(context, "stop", lambda: None)
    monkeypatch.setattr(job, "_context", lambda *_: context)
    return ["--master", "local[2]"]
