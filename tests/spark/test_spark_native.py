"""Invariant: over rows of a DataFrame, the native strategy = the Arrow strategy = the machine, in three values.

Many selectors run over one DataFrame, so that a Spark job judges thousands of pairs. What is not equal is printed with
the selector, the row and the Catalyst text. `--volume 10` takes ten times as many pairs as CI.
"""

from __future__ import annotations

import functools
import itertools
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import strategies
from conftest import SHARED, VECTORS_ROOT, dialects_of, fits_arrow, json_lines, message_of
from frames import SELECTORS, drawn, frame_of
from strategies import JMS_PRESETS
from volumes import is_release, volume

import mqsel
from mqsel import ACTIVEMQ, ARTEMIS, QPID_BROKER_J, RABBITMQ_JMS, errors
from mqsel.language.dialect import JMS, Dialect, core_of

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

from mqsel.spark import Plan, plan

PAIRS = volume(12_000, smoke=12_000)
RECORD = is_release()
SAMPLED = 6  # one group of vectors in so many takes the Arrow strategy in CI
TRUTHS = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:mqsel")


@pytest.fixture(params=["ansi", "lenient"])
def session(spark: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Spark with ANSI on and off, and with names as case-sensitive as properties are."""
    settings = {"spark.sql.caseSensitive": "true", "spark.sql.ansi.enabled": str(request.param == "ansi").lower()}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name in settings:
        spark.conf.unset(name)


def _truths(frame: Any, plans: list[Plan]) -> list[list[str]]:
    """Evaluate plans in one job: for each row, the truth of each; rows keep their order by their number."""
    columns = [made.column().alias(f"truth {number}") for number, made in enumerate(plans)]
    found = frame.select(*columns).collect()
    return [[TRUTHS[value] for value in row] for row in found]


def _machine(text: str, dialect: Dialect, kinds: dict[str, str], rows: list[tuple[Any, ...]]) -> list[str]:
    """Return what the machine says of each row; UNKNOWN, which is null in Spark, also where it has no answer."""
    matcher = mqsel.compile(text, dialect=dialect, schema=list(kinds.items()))
    truths = []
    for row in rows:
        try:
            truths.append(matcher.evaluate(row).name)
        except errors.UndocumentedError:
            truths.append("UNKNOWN")
    return truths


def _differences(
    frame: Any,
    kinds: dict[str, str],
    rows: list[tuple[Any, ...]],
    cases: list[tuple[str, Dialect]],
    strategy: str | None,
    types: dict[str, str] | None = None,
) -> tuple[list[str], int]:
    """Compare a strategy with the machine; give what differs, and how many selectors took the native strategy."""
    # Of a schema: a plan over rows is the same, but looks at the first of them, in a job of its own.
    plans = [plan(text, frame.schema, dialect=dialect, strategy=strategy, types=types) for text, dialect in cases]
    assert plan(cases[0][0], frame, dialect=cases[0][1], strategy=strategy, types=types).sql == plans[0].sql
    got = _truths(frame, plans)
    wrong = []
    for number, ((text, dialect), made) in enumerate(zip(cases, plans, strict=True)):
        for row, truth, found in zip(rows, _machine(text, dialect, kinds, rows), got, strict=True):
            if truth != found[number]:
                message = {name: (kind, value) for (name, kind), value in zip(kinds.items(), row, strict=True)}
                wrong.append(
                    f"{text!r} [{dialect!r}] {message}: machine {truth}, {strategy} {found[number]}\n  {made.sql}"
                )
    return wrong, sum(made.strategy == "native" for made in plans)


def test_generated_pairs_on_the_native_strategy(session: Any, record_property: Any) -> None:
    """Invariant: native = machine, on generated selectors and rows with edge values, ANSI on and off."""
    rng = random.Random(f"native {PAIRS}")
    pairs = native = asked = 0
    while pairs < PAIRS / 2:
        kinds, rows, cases = drawn(rng, list(JMS_PRESETS)[asked // SELECTORS % len(JMS_PRESETS)])
        frame = frame_of(session, kinds, rows).coalesce(1)
        wrong, taken = _differences(frame, kinds, rows, cases, None)

        assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:5])
        pairs += len(rows) * len(cases)
        native += taken
        asked += len(cases)
    record_property("pairs", pairs)
    print(f"{pairs} pairs; {native} of {asked} selectors took the native strategy")

    assert native > 0.95 * asked


def test_generated_pairs_on_the_arrow_strategy(session: Any) -> None:
    """Invariant: Arrow = machine, on generated selectors and rows."""
    _skip_lenient(session)
    rng = random.Random("arrow")
    for name in JMS_PRESETS:
        kinds, rows, cases = drawn(rng, name)
        frame = frame_of(session, kinds, rows).coalesce(1)
        wrong, _ = _differences(frame, kinds, rows, cases, "arrow")

        assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:5])


def test_an_and_that_ends_at_unknown(session: Any) -> None:
    """Invariant: a column has the three values of the machine where AND ends at its first operand that is not TRUE."""
    _skip_lenient(session)
    kinds = {"b": "boolean", "n": "int32", "t": "string"}
    rows = list(itertools.product((None, True, False), (None, 3, 5), (None, "a", "b")))
    texts = ("b AND n > 4", "n > 4 AND b", "t LIKE 'a' AND b AND n < 4", "b AND t = 'a' AND t + 1 = 2")
    cases = [(text, dialect) for text in texts for dialect in (ACTIVEMQ, ARTEMIS, QPID_BROKER_J, RABBITMQ_JMS)]
    wrong, taken = _differences(frame_of(session, kinds, rows).coalesce(1), kinds, rows, cases, None)

    assert not wrong, "\n".join(wrong[:5])
    assert 0 < taken < len(cases)


def test_generated_pairs_of_declared_types(session: Any) -> None:
    """Invariant: native = Arrow = machine where each column has another type than its property is declared to have."""
    _skip_lenient(session)
    rng = random.Random("declared")
    for name in JMS_PRESETS:
        kinds, rows, cases = drawn(rng, name)
        frame = frame_of(session, kinds, rows, is_wide=True).coalesce(1)
        types = {one: kind for one, kind in kinds.items() if kind != "null"}
        for strategy in (None, "arrow"):
            wrong, _ = _differences(frame, kinds, rows, cases, strategy, types)

            assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:5])


def test_filters_that_reach_the_parquet_reader(session: Any, tmp_path: Path) -> None:
    """Invariant: what `filter` keeps of a Parquet file = what the machine selects, though Spark pushes parts down."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    rng = random.Random("parquet")
    kinds, rows, cases = drawn(rng, "JMS")
    kept = [number for number, kind in enumerate(kinds.values()) if kind != "null"]
    kinds = {name: kind for name, kind in kinds.items() if kind != "null"}
    rows = [tuple(row[number] for number in kept) for row in rows]
    frame_of(session, kinds, rows).coalesce(1).write.parquet(str(tmp_path / "rows"))
    frame = session.read.parquet(str(tmp_path / "rows"))
    numbers = [name for name, kind in kinds.items() if kind in strategies._NUMBERS]
    texts = [
        f"{name} {sign} {value}" for name in numbers[:2] for sign in ("<=", ">", "=", "<>") for value in ("0", "2.5")
    ]
    chosen = [(text, JMS) for text in texts] + cases[:8]
    made = [plan(text, frame.schema, dialect=dialect).column() for text, dialect in chosen]
    counts = [frame.filter(one).agg(F.count("*")) for one in made]
    found = [row[0] for row in functools.reduce(lambda one, other: one.unionAll(other), counts).collect()]
    wanted = [_machine(text, dialect, kinds, rows).count("TRUE") for text, dialect in chosen]

    assert numbers
    assert found == wanted


# ---- vectors --------------------------------------------------------------------------------------------------------

_JAVA = {"int": "int32", "long": "int64", "short": "int16", "byte": "int8", "float": "float32", "double": "float64"}


def _own_vectors() -> Iterator[tuple[str, Dialect, dict[str, tuple[str, Any]]]]:
    for path in sorted(VECTORS_ROOT.glob("*.jsonl")):
        for vector in json_lines(path):
            if "want" in vector:
                for _, dialect in dialects_of(vector["dialect"]):
                    properties = {name: (kind, value) for name, (kind, value) in vector["properties"].items()}
                    yield vector["selector"], dialect, properties


def _other_vectors() -> Iterator[tuple[str, Dialect, dict[str, tuple[str, Any]]]]:
    for path in sorted((SHARED / "vectors").glob("*.jsonl")):
        for vector in json_lines(path):
            if vector.get("expect") in ("match", "nomatch") and isinstance(vector.get("props"), dict):
                properties = {name: (_JAVA.get(kind, kind), value) for name, (kind, value) in vector["props"].items()}
                yield vector["selector"], JMS.replace(constant_false="accept"), properties


def _grouped(
    found: Iterator[tuple[str, Dialect, dict[str, tuple[str, Any]]]],
) -> list[tuple[dict[str, str], list[tuple[Any, ...]], list[tuple[str, Dialect]]]]:
    """Put vectors whose properties have the same types together: their selectors over all their rows."""
    groups: dict[tuple[tuple[str, str], ...], tuple[dict[tuple[Any, ...], Any], dict[tuple[str, Dialect], None]]] = {}
    for text, dialect, properties in found:
        try:
            matcher = mqsel.compile(text, dialect=dialect)
            message = message_of(properties)
        except (errors.SelectorError, ValueError, TypeError):
            continue
        kinds = {name.removeprefix("usr."): kind for name, (kind, _) in properties.items()}
        if (
            not fits_arrow(message)
            or len(kinds) < len(properties)
            or any("${" in name or not name.isprintable() for name in kinds)
        ):
            continue
        rows, texts = groups.setdefault(tuple(sorted(kinds.items())), ({}, {}))
        row = tuple(message[name] if name in message else message[f"usr.{name}"] for name in sorted(kinds))
        rows[tuple(map(repr, row))] = row
        texts[text, matcher.dialect] = None
    return [(dict(kinds), list(rows.values()), list(texts)) for kinds, (rows, texts) in groups.items()]


def _merged(groups: Any) -> list[tuple[dict[str, str], list[tuple[Any, ...]], list[tuple[str, Dialect]]]]:
    """Put groups without a name in common, or with the same type for it, into one: fewer Spark jobs.

    Names that differ in case alone stay apart: a dialect that reads names in any case refuses a row with both.
    """
    merged: list[tuple[dict[str, str], list[dict[str, Any]], list[tuple[str, Dialect]]]] = []
    for kinds, rows, cases in groups:
        named = [dict(zip(kinds, row, strict=True)) for row in rows]
        cases = [(text, dialect) for text, dialect in cases if len(text) < 2000]  # noqa: PLW2901
        fitting = (
            one
            for one in merged
            if all(one[0].get(name, kind) == kind for name, kind in kinds.items())
            and len({name.casefold() for name in one[0] | kinds}) == len(one[0] | kinds)
            and len(one[2]) + len(cases) <= 150
        )
        into = next(fitting, None)
        if into is None:
            into = ({"no property": "null"}, [], [])
            merged.append(into)
        into[0].update(kinds)
        into[1].extend(named)
        into[2].extend(cases)
    return [
        (kinds, [tuple(row.get(name) for name in kinds) for row in rows][:60], cases) for kinds, rows, cases in merged
    ]


def _vectors(whose: str) -> list[tuple[dict[str, str], list[tuple[Any, ...]], list[tuple[str, Dialect]]]]:
    if whose == "others" and not (SHARED / "vectors").is_dir():
        pytest.skip("vectors of other engines do not stand beside this checkout")
    return _merged(_grouped(_own_vectors() if whose == "own" else _other_vectors()))


def _is_lenient(session: Any) -> bool:
    return bool(session.conf.get("spark.sql.ansi.enabled") == "false")


def _skip_lenient(session: Any) -> None:
    if not RECORD and _is_lenient(session):
        pytest.skip("the machine knows no ANSI: with it off for the record only")


@pytest.mark.long
@pytest.mark.parametrize("whose", ["own", "others"])
def test_vectors_on_the_arrow_strategy(session: Any, whose: str) -> None:
    """Every vector that fits a schema: Arrow = machine; a sample of them unless it is for the record."""
    groups = _vectors(whose)
    _skip_lenient(session)
    if not RECORD:
        groups = groups[::SAMPLED]
    asked = 0
    for kinds, rows, cases in groups:
        frame = frame_of(session, kinds, rows).coalesce(1)
        wrong, _ = _differences(frame, kinds, rows, cases, "arrow")

        assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:5])
        asked += len(cases)
    print(f"{len(groups)} jobs; {asked} selectors took the Arrow strategy")

    assert asked > 50


@pytest.mark.long
@pytest.mark.parametrize("whose", ["own", "others"])
def test_vectors_on_the_native_strategy(session: Any, whose: str) -> None:
    """Every vector that fits a schema: native = machine; of the JMS family at least 95 % need no other strategy."""
    groups = _vectors(whose)
    if not RECORD and _is_lenient(session):
        groups = groups[::4]  # ANSI off is the strategy without traps: all of it for the record only
    native = asked = 0
    for kinds, rows, cases in groups:
        frame = frame_of(session, kinds, rows).coalesce(1)
        plain = [case for case in cases if core_of(case[1]).is_plain]
        for some in (plain, [case for case in cases if case not in plain]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wrong, taken = _differences(frame, kinds, rows, some, None) if some else ([], 0)

            assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:5])
            native += taken if some is plain else 0
        asked += len(plain)
    print(f"{len(groups)} jobs; {native} of {asked} selectors took the native strategy")

    assert asked > 300
    assert native >= 0.95 * asked
