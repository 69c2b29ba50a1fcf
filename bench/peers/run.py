"""What people would use instead, on the same messages: `python bench/peers/run.py [--seconds 5] [--only activemq,…]`.

Peers: the selector engines of ActiveMQ Classic and Artemis (SelectorBench.java, jars by the coordinates in pom.xml),
and the expression languages rule-engine, cel-python and common-expression-language (`pip install` them). A selector is
put into an expression language by a translation of its tree that keeps three-valued logic, for properties of one type.
A peer that is not there is skipped. Answers are compared with mqsel's message by message; where they differ, no time
counts. Objects that an engine evaluates are made before its clock starts, except under common-expression-language
itself, which takes dicts (and has a second entry, -prebuilt).
"""

from __future__ import annotations

import argparse
import functools
import gzip
import importlib.metadata
import json
import logging
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mqsel
from mqsel.language import nodes
from mqsel.language.parser import parse

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "peers"
CLASS_PATH = f"{BUILD / 'classes'}{os.pathsep}{BUILD / 'lib'}/*"
WORKLOADS = ROOT.parent / "shared" / "workloads"
CYCLED = 2_000  # messages that stay in cache

Result = dict[str, Any]
JVM = {"activemq": True, "artemis": True, "activemq-mixed": False, "artemis-mixed": False}  # name: alone in its JVM


class Language(NamedTuple):
    """How an expression language writes what a selector says, and how it is run from Python.

    ``start`` makes, of a text and the names it reads, the function from message to prepared message, and the test.
    """

    package: str
    start: Callable[[str, list[str]], tuple[Callable[[Any], Any] | None, Callable[[Any], Any]]]
    both: str = " && "
    either: str = " || "
    negation: str = "!"
    name: str = "{}"
    present: str = "{0} != null"
    absent: str = "{0} == null"
    contains: str = "{0}.contains({1})"
    starts: str = "{0}.startsWith({1})"
    ends: str = "{0}.endsWith({1})"
    mixed: bool = False  # does arithmetic take integers and floats together?


def _rule_engine(text: str, _names: list[str]) -> tuple[None, Callable[[Any], Any]]:
    import rule_engine

    return None, rule_engine.Rule(text, context=rule_engine.Context(default_value=None)).matches


def _cel_python(text: str, _names: list[str]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    import celpy

    logging.getLogger("celpy").setLevel(logging.CRITICAL)  # an error is raised as well
    environment = celpy.Environment(runner_class=celpy.CompiledRunner)
    return lambda message: celpy.json_to_cel({"m": message}), environment.program(environment.compile(text)).evaluate


def _cel_rust(text: str, names: list[str]) -> tuple[None, Callable[[Any], Any]]:
    import cel

    execute = cel.compile(text).execute
    return None, lambda message: execute({name: message.get(name) for name in names})


def _cel_rust_prebuilt(text: str, names: list[str]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    import cel

    return lambda message: cel.Context({name: message.get(name) for name in names}), cel.compile(text).execute


LANGUAGES = {
    "rule-engine": Language(
        "rule-engine",
        _rule_engine,
        both=" and ",
        either=" or ",
        negation="not ",
        contains="{1} in {0}",
        starts="{0}.starts_with({1})",
        ends="{0}.ends_with({1})",
        mixed=True,
    ),
    "cel-python": Language("cel-python", _cel_python, name="m.{}", present="('{0}' in m)", absent="!('{0}' in m)"),
    "common-expression-language": Language("common-expression-language", _cel_rust),
    "common-expression-language-prebuilt": Language("common-expression-language", _cel_rust_prebuilt),
}

_INVERSE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_COMPARISON = {"=": "==", "<>": "!="}


def translate(selector: str, language: Language, floats: frozenset[str]) -> str:
    """Write *selector* in *language*, TRUE for the same messages; *floats* names the properties that are floats.

    Two truth values instead of three: each tree is asked whether it is TRUE or, below a NOT, whether it is FALSE, and
    each test asks first whether the properties it reads are there.
    """

    def value(node: nodes.Node, real: bool) -> str:
        match node:
            case nodes.Literal(kind="string" | "boolean"):
                return json.dumps(node.value, ensure_ascii=False)
            case nodes.Literal():
                return repr(float(node.value) if real else node.value)
            case nodes.Identifier():
                name = language.name.format(node.name)
                return f"double({name})" if real and not language.mixed and node.name not in floats else name
            case nodes.Sign():
                return f"({node.operator}{value(node.operand, real)})"
            case nodes.Arithmetic():
                rest = zip(node.operators, node.operands[1:], strict=True)
                return f"({value(node.operands[0], real)}{''.join(f' {o} {value(n, real)}' for o, n in rest)})"
        raise ValueError(f"no translation of {node!r}")

    def guarded(node: nodes.Node, test: str) -> str:
        names = dict.fromkeys(below.name for below in nodes.walk(node) if isinstance(below, nodes.Identifier))
        return "(" + language.both.join([*(language.present.format(name) for name in names), test]) + ")"

    def like(node: nodes.Like) -> str:
        parts, letters = [""], iter(node.pattern)
        for letter in letters:
            if letter == "%":
                parts.append("")
            elif letter == "_":
                raise ValueError(f"no translation of {node!r}")
            else:
                parts[-1] += next(letters) if letter == node.escape else letter
        shape = {(True,): "{0} == {1}", (True, False): language.starts, (False, True): language.ends}
        shape[False, True, False] = language.contains
        template = shape[tuple(map(bool, parts))]
        return template.format(value(node.identifier, False), json.dumps("".join(parts), ensure_ascii=False))

    def truth(node: nodes.Node, wanted: bool) -> str:
        match node:
            case nodes.Not():
                return truth(node.operand, not wanted)
            case nodes.And() | nodes.Or():
                joint = language.both if isinstance(node, nodes.And) == wanted else language.either
                return "(" + joint.join(truth(operand, wanted) for operand in node.operands) + ")"
            case nodes.Between():
                ends = [nodes.Comparison(">=", node.operand, node.low), nodes.Comparison("<=", node.operand, node.high)]
                return truth(nodes.And(tuple(ends)), wanted != node.negated)
            case nodes.IsNull():
                test = language.absent if wanted != node.negated else language.present
                return test.format(node.identifier.name)
            case nodes.Comparison():
                real = any(
                    (isinstance(below, nodes.Literal) and below.kind == "approximate")
                    or (isinstance(below, nodes.Identifier) and below.name in floats)
                    for below in nodes.walk(node)
                )
                operator = node.operator if wanted else _INVERSE[node.operator]
                sides = value(node.left, real), value(node.right, real)
                return guarded(node, f" {_COMPARISON.get(operator, operator)} ".join(sides))
            case nodes.In():
                test = f"({value(node.identifier, False)} in {json.dumps(node.choices, ensure_ascii=False)})"
            case nodes.Like():
                test = f"({like(node)})"
            case _:
                return guarded(node, f"{value(node, False)} == {json.dumps(wanted)}")
        return guarded(node, test if wanted != node.negated else language.negation + test)

    return truth(parse(selector, mqsel.JMS), True)


@functools.cache
def build(source: Path = HERE / "SelectorBench.java") -> str | None:
    """Fetch the jars and compile a program unless that is done; say why it cannot be."""
    missing = [tool for tool in ("java", "javac") if shutil.which(tool) is None]
    pom, jars = HERE / "pom.xml", BUILD / "lib"
    classes, fetched = BUILD / "classes" / f"{source.stem}.class", BUILD / "lib" / "fetched"
    fresh = fetched.exists() and fetched.stat().st_mtime > pom.stat().st_mtime
    maven = shutil.which("mvn")
    if not fresh and maven is None:
        missing.append("mvn")
    if missing:
        return f"{', '.join(missing)} not installed"
    if not fresh:
        shutil.rmtree(jars, ignore_errors=True)
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        if subprocess.run([str(maven), "-q", "-B", "-f", str(pom), *goal], capture_output=True, check=False).returncode:
            return "Maven cannot get the jars"
        fetched.touch()
    if not classes.exists() or classes.stat().st_mtime < max(source.stat().st_mtime, fetched.stat().st_mtime):
        command = ["javac", "-d", str(classes.parent), "-cp", f"{jars}/*", str(source)]
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)
        if compiled.returncode:
            return f"javac: {compiled.stderr.splitlines()[0]}"
    return None


def available() -> dict[str, str | None]:
    """Return for every peer why it cannot be measured here; None if it can. Fetches the jars if they are not there."""
    reasons: dict[str, str | None] = dict.fromkeys(JVM, build())
    for name, language in LANGUAGES.items():
        try:
            importlib.metadata.version(language.package)
            reasons[name] = None
        except importlib.metadata.PackageNotFoundError:
            reasons[name] = f"{language.package} not installed"
    return reasons


@functools.cache
def _messages(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        return [json.loads(line) for line in lines]


def _mixed_in() -> list[str]:
    """Return the 50 selectors that a JVM evaluates in turn with the measured ones."""
    if (WORKLOADS / "interleaved.json").exists():
        return json.loads((WORKLOADS / "interleaved.json").read_text())
    choice = "region IN ('us-east', 'eu-west') AND NOT (JMSPriority < 4)"
    return [f"symbol LIKE 'S{i}%' OR ({choice} AND weight * 2 + {i} BETWEEN 3000 AND 9000)" for i in range(50)]


def _jvm(engine: str, texts: dict[str, str], path: Path, seconds: float, alone: list[str]) -> dict[str, Result]:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(texts, file)
        file.flush()
        command = ["java", "-cp", CLASS_PATH, "SelectorBench", engine, str(path), file.name]
        done = subprocess.run([*command, str(seconds), *alone], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "Exception" in line), done.stderr)
        return {key: {"deviation": reason} for key in texts}
    return json.loads(done.stdout)


def _jvms(name: str, selectors: dict[str, str], path: Path, seconds: float, forks: int) -> dict[str, Result]:
    engine = name.partition("-")[0]
    everything = selectors | {f"other {i}": text for i, text in enumerate(_mixed_in())}
    runs: dict[str, list[Result]] = {key: [] for key in selectors}
    for _ in range(forks):
        found: dict[str, Result] = {} if JVM[name] else _jvm(engine, everything, path, seconds, [])
        for key, results in runs.items():
            results.append(found.get(key) or _jvm(engine, selectors, path, seconds, ["--alone", key])[key])
    for results in runs.values():
        for size in ("20k", "2k") if all("hits" in result for result in results) else ():
            results[0][f"ns_{size}"] = statistics.median(result[f"ns_{size}"] for result in results)
            results[0][f"min_{size}"] = min(result[f"min_{size}"] for result in results)
    return {key: results[0] for key, results in runs.items()}


def _passes(work: Callable[[], Any], seconds: float, messages: int) -> tuple[float, float]:
    """Time *work* over and over: median and least ns per message."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter_ns()
        work()
        times.append((time.perf_counter_ns() - start) / messages)
    return statistics.median(times), min(times)


def _language(name: str, selector: str, messages: list[dict[str, Any]], seconds: float) -> Result:
    """Answer as many messages as half the time allows, and time in the other half what that allows."""
    language = LANGUAGES[name]
    floats = frozenset(key for message in messages for key, value in message.items() if isinstance(value, float))
    names = list(mqsel.compile(selector, dialect=mqsel.JMS).properties)
    selected: list[int] = []
    done = 0
    try:
        prepare, test = language.start(translate(selector, language, floats), names)
        prepared = messages if prepare is None else [prepare(message) for message in messages]
        start = time.perf_counter()
        for message in prepared:
            if test(message):
                selected.append(done)
            done += 1
            if time.perf_counter() - start > seconds / 2:
                break
    except Exception as error:  # noqa: BLE001 (whatever a foreign engine raises is its answer)
        return {"deviation": f"message {done}: {error!r:.200}"}
    affordable = int(done / (time.perf_counter() - start) * seconds / 6)
    result: Result = {"hits": len(selected), "selected": selected, "compared": done, "ns_20k": None, "min_20k": None}
    few = prepared[: max(1, min(CYCLED, affordable))]
    result["ns_2k"], result["min_2k"] = _passes(lambda: list(filter(test, few)), seconds / 4, len(few))
    if affordable >= len(prepared):
        result["ns_20k"], result["min_20k"] = _passes(lambda: list(filter(test, prepared)), seconds / 4, len(prepared))
    return result


def _deviation(selector: str, messages: list[dict[str, Any]], result: Result) -> str | None:
    matches = mqsel.compile(selector, dialect=mqsel.JMS).matches
    compared = result.setdefault("compared", len(messages))
    ours = {i for i, message in enumerate(messages[:compared]) if matches(message)}
    different = ours.symmetric_difference(result["selected"])
    if not different:
        return None
    first = min(different)
    sides = ("mqsel selects it, the peer does not", "the peer selects it, mqsel does not")
    return (
        f"{len(different)} of {compared} answers, first message {first} ({sides[first not in ours]}): {messages[first]}"
    )


def measure(
    name: str, selectors: dict[str, str], messages: Path, seconds: float, *, forks: int = 1
) -> dict[str, Result]:
    """Measure the peer *name* over a file of messages (JSON Lines, plain or .gz).

    Args:
        seconds: for each selector, after as much warm-up in a JVM; for all of them together in a mixed one.
        forks: JVMs one after the other; their medians' median counts.

    Returns: per selector hits, selected (indices), compared (messages), alone (in its JVM, if it has one), ns_20k and
        ns_2k (median ns per message: all messages, if there is time; the first 2,000 over and over), min_20k, min_2k,
        and deviation: None, or how the answers differ from mqsel's, in which case no time is given.
    """
    if name in JVM:
        if reason := build():
            raise RuntimeError(reason)
        results = _jvms(name, selectors, messages.resolve(), seconds, forks)
    else:
        results = {key: _language(name, text, _messages(messages), seconds) for key, text in selectors.items()}
    for key, result in results.items():
        result["alone"] = JVM.get(name, True)
        if result.get("deviation"):
            result.update({"hits": None, "selected": None, "compared": 0})
        result["deviation"] = result.get("deviation") or _deviation(selectors[key], _messages(messages), result)
        if result["deviation"]:
            result.update(dict.fromkeys(("ns_20k", "min_20k", "ns_2k", "min_2k")))
    return results


def _mqsel(selector: str, messages: list[dict[str, Any]], seconds: float) -> Result:
    matcher = mqsel.compile(selector, dialect=mqsel.JMS)
    result: Result = {}
    for size, some in (("20k", messages), ("2k", messages[:CYCLED])):
        run = functools.partial(lambda some: list(matcher.filter(some)), some)
        result[f"ns_{size}"], result[f"min_{size}"] = _passes(run, seconds / 5, len(some))
    return result


def _row(name: str, results: Iterable[Result], figure: str) -> str:
    def cell(size: str, result: Result) -> str:
        value = result.get(f"{figure}_{size}")
        return "–" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.1f}"

    return f"{name:<36}" + "".join(f"{cell('20k', result)} / {cell('2k', result)}".rjust(18) for result in results)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="per selector and peer; a JVM warms up for as long")
    parser.add_argument("--only", default=",".join([*JVM, *LANGUAGES]), help="peers, with commas between")
    parser.add_argument("--forks", type=int, default=1, help="JVMs for each figure")
    parser.add_argument("--messages", type=Path, default=WORKLOADS / "messages.jsonl.gz", help="JSON Lines")
    parser.add_argument("--selectors", type=Path, default=WORKLOADS / "selectors.json", help="[{name, selector}, …]")
    options = parser.parse_args(arguments)
    if absent := [str(path) for path in (options.messages, options.selectors) if not path.exists()]:
        parser.error(f"no {' and no '.join(absent)}")
    selectors = {each["name"]: each["selector"] for each in json.loads(options.selectors.read_text())}
    messages = _messages(options.messages)
    print(f"ns per message, median: all {len(messages):,} messages / {min(CYCLED, len(messages)):,} over and over")
    print(" " * 36 + "".join(key.rjust(18) for key in selectors))
    print(_row("mqsel", [_mqsel(text, messages, options.seconds) for text in selectors.values()], "ns"), flush=True)
    reasons = available()
    for name in options.only.split(","):
        if reason := reasons.get(name, "no such peer"):
            print(f"{name:<36}skipped: {reason}")
            continue
        results = measure(name, selectors, options.messages, options.seconds, forks=options.forks)
        print(_row(name, results.values(), "ns"))
        print(_row("  least", results.values(), "min"), flush=True)
        for key, result in results.items():
            if result["deviation"]:
                print(f"  {key} not counted: {result['deviation']}")
            elif result["compared"] < len(messages):
                print(f"  {key}: answers compared for the first {result['compared']:,} messages only")
    return 0


if __name__ == "__main__":
    sys.exit(main())
