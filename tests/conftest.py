"""The engines every vector runs on, and what the tests share."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oracle
import pytest

import mqsel
from mqsel import _vm, dialect, parser, values
from mqsel.dialect import Dialect

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
VECTORS_ROOT = Path(__file__).resolve().parent / "vectors"

Properties = dict[str, tuple[str, Any]]
Engine = Callable[[str, Properties, Dialect], str]

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


ENGINES: dict[str, Engine] = {
    "oracle": _oracle,
    "vm": _vm_optimised,
    "unoptimised": _vm_plain,
    "pickled": _vm_pickled,
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """One of the engines."""
    return ENGINES[request.param]


def pytest_configure() -> None:
    """Refuse to test anything but the compiled extension."""
    assert _vm.__file__.endswith((".so", ".pyd")), f"{_vm.__file__} is no compiled extension"


def dialects_of(written: str) -> Iterator[tuple[str, Dialect]]:
    """Read a vector's dialect: ``*``, or presets joined by ``|``, each with ``:field=value,…`` behind it if need be."""
    if written == "*":
        yield from dialect.PRESETS.items()
        return
    for one in written.split("|"):
        preset, _, changes = one.partition(":")
        fields: dict[str, Any] = dict(change.split("=") for change in changes.split(",") if change)
        if "max_length" in fields:
            fields["max_length"] = None if fields["max_length"] == "None" else int(fields["max_length"])
        yield one, dialect.PRESETS[preset].replace(**fields)


def shared(*parts: str) -> Path:
    """Give a file of the material that stands beside the checkout, or skip."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} does not stand beside this checkout")
    return path


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
