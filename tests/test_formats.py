"""Messages of IBM MQ: the vectors, what malformed bytes give, round trips, and selection from raw messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import VECTORS_ROOT, json_lines

import mqsel
from mqsel import formats
from mqsel.errors import MQRC, ArgumentError, DecodeError, PropertyTypeError
from mqsel.formats import _mq, jms, mq, mqmd, mqrfh2
from mqsel.values import TYPE_NAMES, Float32, Int8, Int16, Int32

VECTORS = json_lines(VECTORS_ROOT / "formats" / "mq.jsonl")
CLASSES: dict[type, str] = {
    Int8: "int8",
    Int16: "int16",
    Int32: "int32",
    int: "int64",
    Float32: "float32",
    float: "float64",
    bool: "boolean",
    str: "string",
    bytes: "bytes",
    type(None): "null",
}
IDS = [vector["id"] for vector in VECTORS]


def typed(value: Any) -> list[Any]:
    """Write a value as a vector does."""
    return [CLASSES[type(value)], value.hex() if isinstance(value, bytes) else value]


def test_vectors_have_their_form() -> None:
    """Every vector has its keys in order, a source, a message in hexadecimal, and either properties or an error."""
    assert len(set(IDS)) == len(IDS)
    for vector in VECTORS:
        keys = list(vector)
        assert keys[:3] == ["id", "source", "message"], vector["id"]
        bytes.fromhex(vector["message"])
        assert vector["source"].startswith(("IBM-MQ.md ", "IBM MQ 9.4, "))
        if "error" in vector:
            assert set(keys[3:]) <= {"options", "error", "note"}
            assert list(vector["error"]) == ["structure", "offset", "reason", "message"]
            assert vector["error"]["reason"] in MQRC.__members__
        else:
            assert set(keys[3:]) <= {"options", "want", "absent", "notes", "note"}
            assert {kind for kind, _ in vector["want"].values()} <= TYPE_NAMES.keys()


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_vector(vector: dict[str, Any]) -> None:
    """A message gives the properties of its vector with their types, and the notes, or the error."""
    message = bytes.fromhex(vector["message"])
    options = vector.get("options", {})
    if "error" in vector:
        with pytest.raises(DecodeError) as caught:
            formats.properties(message, **options)
        error = caught.value
        assert vector["error"] == {
            "structure": error.structure,
            "offset": error.offset,
            "reason": error.reason.name if error.reason else None,
            "message": error.message,
        }
        return
    found = formats.properties(message, **options)
    wanted = {name.removeprefix("usr."): value for name, value in vector["want"].items()}
    assert wanted == {name: typed(found[name]) for name in wanted if name in found}
    assert found.keys().isdisjoint(vector.get("absent", []))
    inspection = formats.inspect(message, **options)
    assert vector["notes"] == [[note.structure, note.offset, note.what] for note in inspection.notes]
    assert {row.name: [row.type, row.value] for row in inspection.rows} == {
        name: [CLASSES[type(value)], value] for name, value in found.items()
    }
    # By name the same, and nothing of what is absent.
    names = [*vector["want"], *vector.get("absent", [])]
    by_name = formats.properties(message, names, **options)
    assert vector["want"] == {name: typed(value) for name, value in by_name.items()}
