"""The pytest plugin: fixtures, the test cases of `*.cases.json`, and the reason why a selector failed a test.

pytest loads it by its entry point, in every run of it: it imports what it needs when a test asks for it, or fails.
"""

from __future__ import annotations

import ast
import json
import linecache
import os
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mqsel.inventory.keyed import Paths
    from mqsel.selection import Topic
    from mqsel.sets.set import SelectorSet
    from mqsel.testing.cases import Case

_SECTION = "mqsel: why"
_TESTS = ("matches", "evaluate")  # of a Matcher
# What can be evaluated once more without doing anything: names, parts of them, literals.
_PURE = (
    ast.Attribute,
    ast.Constant,
    ast.Dict,
    ast.List,
    ast.Load,
    ast.Name,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.USub,
)
_FOLDER = "__mqsel__"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes snapshots."""
    group = parser.getgroup("mqsel")
    group.addoption("--mqsel-update", action="store_true", help="write the snapshots of mqsel_snapshot as they are now")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the test cases of a file whose name ends with ``.cases.json``."""
    return _CaseFile.from_parent(parent, path=file_path) if file_path.name.endswith(".cases.json") else None


class _CaseFile(pytest.File):
    """A file of test cases."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each case."""
        from mqsel.carets import visible  # noqa: PLC0415 (as above)
        from mqsel.errors import MqselError  # noqa: PLC0415 (as above)
        from mqsel.files.configuration import configured  # noqa: PLC0415 (for projects with such files)
        from mqsel.testing.cases import read_cases  # noqa: PLC0415 (as above)

        try:
            cases = read_cases(self.path, configured().dialect_of)
        except MqselError as error:
            raise self.CollectError(str(error)) from error
        for case in cases:
            item = _CaseItem.from_parent(self, name=visible(" ".join(case.name.split())))
            item.case = case
            yield item


class _CaseItem(pytest.Item):
    """A test case."""

    case: Case

    def runtest(self) -> None:
        """Fail with the explanation if the result isn't the expected one."""
        from mqsel.testing.cases import judged  # noqa: PLC0415 (as above)

        verdict = judged(self.case)
        if not verdict.passed:
            pytest.fail(verdict.report, pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, the line if the file has a case on each line, and the name."""
        return self.path, self.case.number - 1, self.name


@pytest.fixture
def mqsel_topic() -> Topic:
    """Return a topic in memory, whose subscriptions select what is published."""
    from mqsel.selection import Topic  # noqa: PLC0415 (for the tests that ask for it)

    return Topic()


@pytest.fixture
def mqsel_snapshot(request: pytest.FixtureRequest) -> Callable[[Paths | SelectorSet[str], Mapping[str, Any]], None]:
    """Return a function that compares what an inventory delivers with what it delivered when the snapshot was written.

    It takes an inventory and messages by name, as `mqsel.testing.deliveries`. The snapshot is a file in the folder
    ``__mqsel__`` beside the test, one for each call; ``--mqsel-update`` writes it.
    """
    calls = 0

    def compare(inventory: Paths | SelectorSet[str], messages: Mapping[str, Any]) -> None:
        nonlocal calls
        __tracebackhide__ = True
        from mqsel.sets.set import SelectorSet  # noqa: PLC0415 (as above)
        from mqsel.testing.deliveries import deliveries  # noqa: PLC0415 (as above)

        selectors = inventory if isinstance(inventory, SelectorSet) else SelectorSet.from_inventory(inventory)
        got = deliveries(selectors, messages)
        calls += 1
        name = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in request.node.name)
        path = request.path.parent / _FOLDER / f"{request.path.stem}.{name}{f'.{calls}' * (calls > 1)}.json"
        if request.config.getoption("--mqsel-update"):
            path.parent.mkdir(exist_ok=True)
            from mqsel.formats.jsonl import json_text  # noqa: PLC0415 (as above)
            from mqsel.machine.sections import replace_file  # noqa: PLC0415 (as above)

            replace_file(Path(os.path.realpath(path)), [(json_text(got, indent=1) + "\n").encode()])
            return
        if not path.exists():
            pytest.fail(
                f"there is no snapshot {path}: run pytest --mqsel-update, and commit what it writes", pytrace=False
            )
        lines = list(_differences(json.loads(path.read_text(encoding="utf-8")), got, selectors, messages))
        if lines:
            advice = f"if this is meant, run pytest --mqsel-update, and commit {path}"
            pytest.fail("\n".join([*lines, advice]), pytrace=False)

    return compare


def _differences(
    before: Mapping[str, list[str]],
    after: Mapping[str, list[str]],
    selectors: SelectorSet[str],
    messages: Mapping[str, Any],
) -> Iterator[str]:
    for key in {**before, **after}:
        was, now = before.get(key), after.get(key)
        if now is None or was is None:
            yield f"{key}: {'no longer in the inventory' if now is None else 'new in the inventory'}"
            continue
        for name in [one for one in messages if (one in was) != (one in now)]:
            yield f"{key}: {'no longer gets' if name in was else 'now gets'} {name}"
            yield textwrap.indent(str(selectors.explain(key, messages[name])), "    ")
        for name in [one for one in was if one not in messages]:
            yield f"{key}: {name} is in the snapshot, and is no message any more"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add to the report of a failed assertion why each `matches` in it decided as it did."""
    outcome = yield
    if call.when != "call" or call.excinfo is None or not call.excinfo.errisinstance(AssertionError):
        return
    report = outcome.get_result()  # type: ignore[attr-defined]
    trace: TracebackType | None = call.excinfo.tb
    frames = []
    while trace is not None:
        frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    for frame, line in frames:
        if Path(frame.f_code.co_filename) == item.path:
            report.sections += [(_SECTION, why) for why in _reasons(frame, line)]


def _reasons(frame: FrameType, line: int) -> Iterator[str]:
    statement = _assertion(frame.f_code.co_filename, line)
    for node in ast.walk(statement) if statement is not None else ():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TESTS):
            continue
        matcher = _value(node.func.value, frame)
        if not _is_matcher(matcher):
            continue
        asked = ast.unparse(node)
        if len(node.args) != 1 or node.keywords or not _is_pure(node.args[0]):
            yield f"{asked}: keep the message in a variable, and its explanation stands here"
            continue
        try:
            yield f"{asked}\n{matcher.explain(_value(node.args[0], frame))}"
        except Exception as error:  # noqa: BLE001 (a report must not fail)
            yield f"{asked}: {error}"


def _is_matcher(value: object) -> bool:
    from mqsel.matcher import Matcher  # noqa: PLC0415 (for tests that fail)

    return isinstance(value, Matcher)


def _assertion(file: str, line: int) -> ast.Assert | None:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return around[-1] if around else None


def _is_pure(node: ast.expr) -> bool:
    return all(isinstance(one, _PURE) for one in ast.walk(node))


def _value(node: ast.expr, frame: FrameType) -> Any:
    """Return what an expression was in the test; None where it may do something, or fails."""
    if not _is_pure(node):
        return None
    try:
        code = compile(ast.Expression(node), frame.f_code.co_filename, "eval")
        return eval(code, frame.f_globals, frame.f_locals)  # noqa: S307 (a name or a literal of the test itself)
    except Exception:  # noqa: BLE001 (a report must not fail)
        return None
