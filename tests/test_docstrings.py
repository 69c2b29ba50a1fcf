"""Docstrings of the public interface: each name has a text, and each attribute, argument and error is in it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

import mqsel
from mqsel.language.dialect import CHOICES, PRESETS
from mqsel.language.dialects import FIELDS

MODULES = [
    *("mqsel", "mqsel.formats", "mqsel.files", "mqsel.inventory", "mqsel.live", "mqsel.selection", "mqsel.testing"),
    pytest.param("mqsel.spark", marks=pytest.mark.skipif(find_spec("pyspark") is None, reason="needs pyspark")),
]
# The classes of results, which public functions return, by module.
RESULTS = {
    "mqsel.analysis.compare.audit": ("Audit", "Equal", "Missing", "Never", "Twice", "Within"),
    "mqsel.analysis.compare.changes": ("ChangeExample", "ChangedSide", "SelectionChange"),
    "mqsel.analysis.compare.contract": ("Breach", "Property"),
    "mqsel.analysis.compare.difference": ("Difference",),
    "mqsel.analysis.compare.gaps": ("Gap",),
    "mqsel.analysis.compare.migrate": ("Migrated",),
    "mqsel.analysis.compare.relation": ("Related",),
    "mqsel.analysis.compare.satisfiable": ("Satisfiable",),
    "mqsel.analysis.explain": ("Explanation", "Part"),
    "mqsel.analysis.explain.profile": ("Profile",),
    "mqsel.analysis.explain.sentences": ("Count", "Seen"),
    "mqsel.analysis.lint": ("Example", "Rule"),
    "mqsel.analysis.lint.findings": ("Edit", "Finding"),
    "mqsel.analysis.readings": ("Reading",),
}
_RAISES = re.compile(r"^( *)Raises:(.*(?:\n\1 +.*|\n(?=\n\1 ))*)", re.MULTILINE)
# A section that says where the rest is: "Args: those of `column`." or "Raises: as `route`."
_ELSEWHERE = re.compile(r"(those|what|as|errors?) .*`", re.DOTALL)


def _public(module: str) -> Iterator[tuple[str, Any]]:
    """Yield the classes and functions of a module, and the methods and properties of its classes, with their names."""
    loaded = import_module(module)
    for name in sorted(loaded.__all__):
        value = getattr(loaded, name)
        if not (inspect.isclass(value) or callable(value)):
            continue
        yield f"{module}.{name}", value
        for member, held in sorted(vars(value).items()) if inspect.isclass(value) else ():
            if not member.startswith("_") and (isinstance(held, (property, classmethod)) or inspect.isroutine(held)):
                yield f"{module}.{name}.{member}", held


def _text(value: Any) -> str:
    return inspect.cleandoc(getattr(value, "__doc__", None) or "")


def _without_text(name: str, value: Any) -> list[str]:
    """List the fields of a record that its docstring doesn't have; each field of Dialect has a text of its own."""
    fields = () if value is mqsel.Dialect else getattr(value, "_fields", getattr(value, "__dataclass_fields__", ()))
    section = _text(value).partition("Attributes:")[2]
    return [f"{name}.{field}" for field in fields if not re.search(rf"^    {field}: ", section, re.MULTILINE)]


def test_each_dialect_field_lists_its_choices() -> None:
    """help(mqsel.Dialect) shows the meaning of each choice of each field, as the tables have it."""
    shown = {field: getattr(mqsel.Dialect, field).__doc__ for field in CHOICES}

    assert shown == {
        field: "\n".join(f"{choice!r}: {one.meaning}" for choice, one in FIELDS[field].items()) for field in FIELDS
    }
    assert "greatest length" in mqsel.Dialect.max_length.__doc__


def test_compile_names_every_dialect() -> None:
    """The docstring of compile has the names of all dialects, and no other."""
    sentence = _text(mqsel.compile).partition("The dialects are ")[2].partition(".")[0]

    assert [*PRESETS] == re.findall(r"\w+", sentence.replace(" and", ""))


@pytest.mark.parametrize("module", MODULES)
def test_public_names_have_a_text(module: str) -> None:
    """Each public class, function, method and property has a docstring that begins with a sentence."""
    faults = [name for name, value in _public(module) if not re.match(r"[A-Z`*(].*?[.:]", _text(value), re.DOTALL)]

    assert faults == []


@pytest.mark.parametrize("module", MODULES)
def test_attributes_have_a_text(module: str) -> None:
    """Each field of a public record is in the docstring of its class."""
    faults = [fault for name, value in _public(module) for fault in _without_text(name, value)]

    assert faults == []


def test_attributes_of_results_have_a_text() -> None:
    """Each field of a class of results is in the docstring of its class."""
    results = [(name, getattr(import_module(module), name)) for module, names in RESULTS.items() for name in names]

    assert [fault for name, value in results for fault in _without_text(name, value)] == []


@pytest.mark.parametrize("module", MODULES)
def test_arguments_have_a_text(module: str) -> None:
    """Each argument of a public function is in its docstring, or the docstring says which function describes it."""
    faults = []
    for name, value in _public(module):
        if inspect.isclass(value) or isinstance(value, property):
            continue
        text = _text(value)
        section = text.partition("Args:")[2].partition("\n\n")[0]
        for argument in inspect.signature(getattr(value, "__func__", value)).parameters:
            if argument in ("self", "cls") or re.search(rf"\b{argument}\b", text) or _ELSEWHERE.search(section):
                continue
            faults.append(f"{name}({argument})")

    assert faults == []


@pytest.mark.parametrize("module", MODULES)
def test_errors_have_a_condition(module: str) -> None:
    """`Raises` says under which condition each error is raised, or which function raises the same ones."""
    faults = []
    for name, value in _public(module):
        for section in _RAISES.finditer(_text(value)):
            body = section[2]
            without = [error for error, said in re.findall(r"\b([A-Z]\w*Error): (\S+)", body) if said != "if"]
            if without or not (": if " in body or _ELSEWHERE.search(body)):
                faults.append(f"{name}: {' '.join(body.split())}")

    assert faults == []
