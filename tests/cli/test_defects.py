"""Exceptions that are not of mqsel: the command line names them, with exit code 2, and others have one root."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest
from conftest import Run

import mqsel


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("a\x1b[2Kb\nc"),
        RecursionError("deep"),
        UnicodeError("bad"),
        KeyError(1),
    ],
    ids=lambda error: type(error).__name__,
)
def test_defects_are_named(run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """An exception that nobody expected is one line with its type and place, exit code 2, and no traceback."""

    def fail(_: object) -> int:
        raise error

    monkeypatch.delenv("MQSEL_TRACEBACK", raising=False)
    monkeypatch.setattr("mqsel.cli.check.given", fail)
    status, out, err = run("check", "a = 1")
    first, hint = err.splitlines()

    assert (status, out) == (2, "")
    assert first.startswith(f"mqsel: a defect of mqsel {mqsel.__version__}") and type(error).__name__ in first
    assert first.endswith(" in _check]") and "cli/check.py:" in first and "\x1b" not in first
    assert hint == "  hint: report this line and the command; MQSEL_TRACEBACK=1 prints the whole traceback"

    monkeypatch.setenv("MQSEL_TRACEBACK", "1")
    assert "Traceback (most recent call last):" in run("check", "a = 1")[2]


def test_too_little_memory_is_no_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little memory is exit code 2, as trouble is: 1 would mean findings."""

    def fail(_: object) -> int:
        raise MemoryError

    monkeypatch.setattr("mqsel.cli.check.given", fail)
    assert run("check", "a = 1") == (
        2,
        "",
        "mqsel: there is not enough memory for this\n  hint: split the files, or allow the process more\n",
    )


# What parts of the package say to each other; the functions that catch them have tests of their own.
INTERNAL = {
    "analysis.compare.canonical._RefusedError": "a product has no such header: a verdict of migrate",
    "analysis.compare.writing._UnwrittenError": "a condition has no text",
    "columns._kernel.TooLargeError": "another engine takes the selector",
    "explorer.session.Cancelled": "a newer question came",
    "language.clues._UnknownError": "a clue leads nowhere",
    "logic.solver.budget.UndecidedError": "the answer is 'not decided'",
    "spark.native.NoTranslation": "Spark runs the machine instead",
}


def test_exceptions_have_one_root() -> None:
    """Every exception class of the package is an MqselError, or one of a few that stay inside."""
    for module in pkgutil.walk_packages(mqsel.__path__, "mqsel."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except ImportError as error:  # an optional package
                assert not str(error.name).startswith("mqsel"), module.name
    found, left = set(), [BaseException]
    while left:
        for one in left.pop().__subclasses__():
            left.append(one)
            if one.__module__.startswith("mqsel.") and not issubclass(one, (mqsel.MqselError, Warning)):
                found.add(f"{one.__module__}.{one.__name__}".removeprefix("mqsel."))

    assert found - {*INTERNAL} == set()
