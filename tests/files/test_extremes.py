"""Row groups that are skipped: by the least and the greatest values of their columns."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel.files import parquet
from mqsel.files.extremes import ABSENT, Extremes, known_value, may_hold, read_extremes
from mqsel.files.parts import FilePart
from mqsel.files.run.work import Ask, Broken, Match
from mqsel.language.selector import read_selector
from mqsel.logic.normal import normal

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _may(selector: str, **extremes: Extremes) -> bool:
    return may_hold(normal(read_selector(selector, mqsel.JMS)).true, extremes)


FIVE_TO_NINE = Extremes("integers", 5, 9, is_null=False)
B_TO_D = Extremes("strings", b"bl", b"dx", is_null=False)
CASES = [
    ("a = 5", FIVE_TO_NINE, True),
    ("a = 4", FIVE_TO_NINE, False),
    ("a > 9", FIVE_TO_NINE, False),
    ("a >= 9.0", FIVE_TO_NINE, True),
    ("a NOT BETWEEN 1 AND 20", FIVE_TO_NINE, False),
    ("a IS NULL", FIVE_TO_NINE, False),
    ("a IS NULL", FIVE_TO_NINE._replace(is_null=True), True),
    ("a = 'x'", FIVE_TO_NINE, False),
    ("a * 2 > 100", FIVE_TO_NINE, True),  # arithmetic is not looked into
    ("a = 4 OR a = 6", FIVE_TO_NINE, True),
    ("a = 4 AND a = 6", FIVE_TO_NINE, False),
    ("a = 5", ABSENT, False),
    ("a * 2 > 100", ABSENT, False),
    ("a * 2 > 100", B_TO_D, False),
    ("a IS NULL", ABSENT, True),
    ("a = 4", Extremes(), True),
    ("a = 4", Extremes("integers", None, None), True),
    ("a = 'blue'", B_TO_D, True),
    ("a = 'b'", B_TO_D, False),
    ("a = 'dy'", B_TO_D, False),
    ("a IN ('a', 'x', 'c')", B_TO_D, True),
    ("a <> 'c'", B_TO_D, True),
    ("a LIKE 'b%'", B_TO_D, True),
    ("a LIKE 'ba%'", B_TO_D, False),
    ("a LIKE 'd_'", B_TO_D, True),
    ("a LIKE 'e%'", B_TO_D, False),
    ("a LIKE '%z'", B_TO_D, True),
    ("a NOT LIKE 'b%'", B_TO_D, True),
    ("a = 'é'", known_value("é"), True),
    ("a = 'é'", known_value("e"), False),
    ("a = TRUE", Extremes("booleans", False, False), False),
    ("a = FALSE", Extremes("booleans", False, False), True),
    ("a", Extremes("booleans", False, True), True),
    ("a < 0", Extremes("floats64", 0.0, 1.5), False),
    ("a = 0", Extremes("floats64", -0.0, 1.5), True),
    ("a <> 1", Extremes("floats64", 1.0, 1.0, is_null=False), True),  # NaN is in no extreme
]


@pytest.mark.parametrize(("selector", "known", "may"), CASES)
def test_what_may_hold(selector: str, known: Extremes, may: bool) -> None:
    """Each kind of leaf, against extremes that allow it and that do not."""
    assert _may(selector, a=known) is may


def test_long_selectors() -> None:
    """Very many terms are no deeper than one."""
    assert not _may(" OR ".join(f"a = {n}" for n in range(10_000, 12_000)), a=FIVE_TO_NINE)
    assert not _may(" OR ".join(f"(a = {n} AND b > 1)" for n in range(100, 2_100)), a=FIVE_TO_NINE)


@pytest.mark.parametrize(
    ("kind", "low", "high", "known"),
    [
        ("int64", struct.pack("<q", -3), struct.pack("<q", 4), Extremes("integers", -3, 4, is_null=False)),
        ("int64", b"\0" * 4, b"\0" * 4, Extremes("integers", is_null=False)),
        ("int8", struct.pack("<i", -3), struct.pack("<i", 4), Extremes("integers", -3, 4, is_null=False)),
        ("uint32", b"\0" * 4, b"\xff" * 4, Extremes("integers", 0, (1 << 32) - 1, is_null=False)),
        ("int32", struct.pack("<i", 4), struct.pack("<i", -3), Extremes("integers", is_null=False)),
        ("double", struct.pack("<d", float("nan")), struct.pack("<d", 1), Extremes("floats64", is_null=False)),
        ("bool", b"\0", b"\1", Extremes("booleans", False, True, is_null=False)),
        ("string", b"", None, Extremes("strings", is_null=False)),
        ("null", None, None, ABSENT),
    ],
)
def test_how_parquet_writes_them(kind: str, low: bytes | None, high: bytes | None, known: Extremes) -> None:
    """Extremes are read by their type; what has another length or is no order is unknown."""
    assert read_extremes(kind, 10, 0, low, high) == known
    assert read_extremes(kind, 10, 10, low, high).is_present is False
    assert read_extremes(kind, 10, -1, low, high).is_null is True


# ---- whole files -----------------------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Any, Any]] = {
    "i": (pa.int64(), lambda rng, at: at + rng.randrange(3)),
    "s": (pa.int16(), lambda rng, at: -at - rng.randrange(2)),
    "u": (pa.uint8(), lambda rng, at: 250 + at % 5 if rng.random() < 0.5 else at),
    "f": (pa.float32(), lambda rng, at: rng.choice((at / 2, float("nan"), -0.0 if at < 3 else at))),
    "d": (pa.float64(), lambda rng, at: at / 4 + rng.random()),
    "t": (pa.string(), lambda rng, at: "aäzé"[at % 4] * rng.randrange(1, 3)),
    "x": (pa.string(), lambda rng, at: f"x{at:02}{rng.randrange(10)}" * 20),  # too long for an exact extreme of some
    "b": (pa.bool_(), lambda rng, at: at % 3 == 0),  # noqa: ARG005 (as the others)
    "n": (pa.int32(), lambda rng, at: None),  # noqa: ARG005 (as the others)
}
TESTS = [
    lambda rng: f"{rng.choice('isu')} {rng.choice(('=', '<>', '<', '>='))} {rng.randrange(-20, 20)}",
    lambda rng: f"{rng.choice('fdi')} {rng.choice(('=', '<>', '<', '>'))} {rng.randrange(40) / 2}",
    lambda rng: f"{rng.choice('isd')} {rng.choice(('', 'NOT '))}BETWEEN {rng.randrange(9)} AND {rng.randrange(20)}",
    lambda rng: f"{rng.choice('tx')} {rng.choice(('=', '<>'))} '{rng.choice(('a', 'ää', 'é', 'x', 'zz'))}'",
    lambda rng: f"{rng.choice('tx')} {rng.choice(('', 'NOT '))}LIKE '{rng.choice(('x0%', 'x1_%', 'a%', '%9', 'é'))}'",
    lambda rng: f"{rng.choice('isufdtxbnm')} IS {rng.choice(('', 'NOT '))}NULL",
    lambda rng: f"{rng.choice(('b', 'b = TRUE', 'b <> TRUE', 'n = 1', 'm = 1', 't = 5'))}",
    lambda rng: f"i * 2 {rng.choice('<>')} {rng.randrange(30)}",
]


def _selector(rng: random.Random, depth: int = 3) -> str:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(TESTS)(rng)
    text = f"{_selector(rng, depth - 1)} {rng.choice(('AND', 'OR'))} {_selector(rng, depth - 1)}"
    return rng.choice((f"({text})", f"NOT ({text})"))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "options", [{}, {"write_statistics": False}, {"store_schema": False, "data_page_version": "2.0"}]
)
def test_skipping_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    """Invariant: lines and counts are those of reading every row group; and some are skipped."""
    rng = random.Random("skipping")
    rows = [
        {name: None if rng.random() < (at % 4) / 8 else make(rng, at) for name, (_, make) in KINDS.items()}
        for at in range(20)
        for _ in range(5)
    ]
    path = str(tmp_path / "a.parquet")
    schema = pa.schema({name: kind for name, (kind, _) in KINDS.items()})
    pq.write_table(pa.Table.from_pylist(rows, schema), path, row_group_size=5, **options)
    skipped = total = 0
    for _ in range(60):
        matcher = mqsel.compile(_selector(rng), dialect=rng.choice((mqsel.JMS, mqsel.IBM_MQ)))
        ask = Ask(rng.random() < 0.2, False, False, rng.choice((None, None, 3)))
        tables = [group.table for group in parquet.groups(matcher, path, 0, -1, is_inverted=ask.invert)]
        skipped += tables.count(None)
        total += len(tables)
        got = list(Match.part(matcher, ask, FilePart(path, "parquet", 0, -1)))
        with monkeypatch.context() as patch:
            patch.setattr(parquet, "may_hold", lambda _parts, _extremes: True)
            wanted = list(Match.part(matcher, ask, FilePart(path, "parquet", 0, -1)))
        assert wanted == got, matcher.selector
    assert (skipped > total / 10) is options.get("write_statistics", True)


def test_errors_are_not_skipped(tmp_path: Path) -> None:
    """A column that no property can be is an error even where another one rules out every row."""
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": [1, 2], "at": pa.array([1, 2], pa.timestamp("us"))}), path)
    broken, _ = Match.part(
        mqsel.compile("a = 5 AND at = 1"), Ask(False, False, False, None), FilePart(path, "parquet", 0, -1)
    )
    assert isinstance(broken, Broken)
    assert "timestamp" in broken.why
