"""Raw messages of IBM MQ are read as they were made, by every way of reading."""

from __future__ import annotations

import importlib.util
import itertools
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from raw import CLASSES, KEYS, VECTORS, typed

from mqsel import formats, names
from mqsel.errors import MQRC, DecodeError
from mqsel.formats import jms, mq, mqmd, mqrfh2
from mqsel.values import MQTYPE, TYPE_NAMES

IDS = [vector["id"] for vector in VECTORS]


def test_vectors_have_their_form() -> None:
    """Every vector has its keys in order, a source, a message in hexadecimal, and either properties or an error."""
    assert len(set(IDS)) == len(IDS)
    for vector in VECTORS:
        keys = list(vector)
        assert keys[:3] == ["id", "source", "message"], vector["id"]
        bytes.fromhex(vector["message"])
        assert vector["source"].startswith(("mqsel/formats/README.md §", "IBM MQ 9.4, ", "APAR "))
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
    assert vector["notes"] == [
        [note.structure, note.offset, note.what, KEYS[note.message]] for note in inspection.notes
    ]
    assert {row.name: [row.type, typed(row.value)] for row in inspection.rows} == {
        name: [CLASSES[type(value)], typed(value)] for name, value in found.items()
    }
    # By name the same, and nothing of what is absent.
    wanted = [*vector["want"], *vector.get("absent", [])]
    by_name = formats.properties(message, wanted, **options)
    assert vector["want"] == {name: typed(value) for name, value in by_name.items()}


def test_dates_are_those_of_the_calendar() -> None:
    """JMSTimestamp is the day that PutDate names, or NULL where Python's calendar has no such day."""
    for year, month, day in itertools.product((1, 1900, 2000, 2023, 2024), range(14), range(33)):
        try:
            wanted = (date(year, month, day) - date(1970, 1, 1)).days * 86_400_000
        except ValueError:
            wanted = None
        message = mq.encode({"PutDate": f"{year:04}{month:02}{day:02}", "PutTime": "00000000"}, {})
        assert formats.properties(message, ["JMSTimestamp"]).get("JMSTimestamp") == wanted, (year, month, day)


def test_every_row_has_a_vector() -> None:
    """Every MQMD field, JMS name, dt, folder, header, conversion and note occurs in what the vectors want."""
    wanted = {name for vector in VECTORS for name in vector.get("want", {})}
    text = "".join(bytes.fromhex(vector["message"]).decode("latin-1") for vector in VECTORS)
    fields = {f"Root.MQMD.{field.name}" for field in mqmd.MQMD if field.name not in names.HIDDEN}
    said = {note[3] for vector in VECTORS for note in vector.get("notes", [])}
    unsaid = {key for key, _, _ in mqrfh2.NOTES} - said

    assert fields - wanted == set()
    assert jms.JMS.keys() - wanted == set()
    assert [dt for dt in mqrfh2.DT if f"dt='{dt}'" not in text] == []
    assert [name for name in (*mqrfh2.GROUPED_FOLDERS, *mqrfh2.PLAIN_FOLDERS) if f"<{name}>" not in text] == []
    assert [row.name for row in mqmd.HEADERS if row.struc_id not in text] == []
    # Those that need a long message have tests of their own.
    assert unsaid == {"none", "folder-depth", "folder-too-big"}


def test_every_conversion_is_used() -> None:
    """There is no conversion without a JMS name, and none without a row."""
    used = {source.conversion for sources in jms.JMS.values() for source in sources}
    assert used == set(jms.CONVERSIONS)


def test_layout_adds_up() -> None:
    """The structures have the lengths of the vendor's headers."""
    assert sum(field.length for field in mqmd.MQMD) == mqmd.MQMD_LENGTH_2
    assert next(field.offset for field in mqmd.MQMD if field.name == "GroupId") == mqmd.MQMD_LENGTH_1
    assert sum(field.length for field in mqmd.MQMDE) == mqmd.MQMDE_LENGTH_2


@pytest.mark.parametrize("package", ["pymqi", "ibmmq"])
def test_constants_are_those_of_other_readings(package: str) -> None:
    """An independent reading of the vendor's headers has the same numbers, reason codes, sizes and Formats."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    # Read alone: the package itself needs a client.
    path = Path(spec.origin).parent / "CMQC.py"
    loaded = importlib.util.spec_from_file_location("CMQC", path)
    assert loaded is not None and loaded.loader is not None
    theirs = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(theirs)
    ours: dict[str, Any] = {name: getattr(mqmd, name) for name in dir(mqmd) if name.startswith("MQ") and name != "MQMD"}
    ours |= {name: getattr(mqrfh2, name) for name in dir(mqrfh2) if name.startswith("MQ")}
    ours |= {reason.name: reason.value for reason in MQRC}
    ours |= {name: int(kind) for name, kind in MQTYPE.__members__.items()}
    del ours["MQRC"], ours["MQMDE"]
    ours = {name: value.encode() if isinstance(value, str) else value for name, value in ours.items()}
    known = {name: getattr(theirs, name) for name in ours if hasattr(theirs, name)}
    known = {name: value.encode() if isinstance(value, str) else value for name, value in known.items()}

    composed = {name for name in ours if name.endswith("WITH_FULL_DATA")} | {"MQENC_INTEGER_MASK"}
    assert ours.keys() - known.keys() <= composed | {"MQMF_LAST_MSG_IN_GROUP"}
    assert {name: ours[name] for name in known} == known
    by_format = {row.name: row.format.encode() for row in mqmd.HEADERS}
    names = {"MQDLH": "MQFMT_DEAD_LETTER_HEADER", "MQXQH": "MQFMT_XMIT_Q_HEADER", "MQIIH": "MQFMT_IMS",
             "MQCIH": "MQFMT_CICS", "MQWIH": "MQFMT_WORK_INFO_HEADER", "MQRMH": "MQFMT_REF_MSG_HEADER",
             "MQRFH": "MQFMT_RF_HEADER_1", "MQMDE": "MQFMT_MD_EXTENSION", "MQDH": "MQFMT_DIST_HEADER",
             "MQEPH": "MQFMT_EMBEDDED_PCF"}  # fmt: skip
    for name, constant in names.items():
        value = getattr(theirs, constant)
        assert by_format[name] == (value.encode() if isinstance(value, str) else value)
