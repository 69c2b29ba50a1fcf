"""Invariant: `filter` by a test of a path keeps what the machine selects, with NULL at each level of the path.

Statistics of a field know of no row whose struct is NULL, so that ORC leaves out what `o.x IS NULL` should keep. Rows
stand in files of few rows each: Parquet, ORC by both of Spark's readers and by a view, JSON, and a cache. Selectors run
as they are and negated from outside. `--volume 10` takes 20,000 pairs.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from typing import Any

import pytest
from volumes import is_release

import mqsel
from mqsel.language.dialect import IBM_MQ, JMS
from mqsel.values import Int32

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from mqsel.spark import any_of, deliveries, layout, plan

PAIRS = 20_000 if is_release() else 0  # at least those of the selectors below
KINDS = ["parquet", "orc", "json", "cache", *(["parquet 2", "orc 2", "view"] if PAIRS else [])]
SCHEMA = (
    "row int, n int, o struct<x int, d double, s string, b boolean, i struct<y bigint, t string>>, "
    "m map<string, string>, h array<struct<key string, value string>>"
)
WHERE = layout(
    {"x": "o.x", "d": "o.d", "s": "o.s", "b": "o.b", "y": "o.i.y", "t": "o.i.t", "mk": "m.k", "hk": ("h.k", "int32")}
)
BETWEEN = JMS.replace(between_null="literal")
SETTINGS = {
    "spark.sql.caseSensitive": "true",
    # A filter is one among hundreds: to compile each would take longer than all they read.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.inMemoryColumnarStorage.batchSize": "4",
}


def _rows() -> list[tuple[Any, ...]]:
    """Write rows, four to a file: each file has few values, and NULL at another level."""
    i = [None, (None, None), (5, "a"), (7, None)]
    full = [(5, 2.5, "a", True, (5, "a")), (5, float("nan"), "a", False, (5, "b")), (7, -0.0, "b", True, (7, "a"))]
    empty = (None, None, None, None, None)
    groups: list[list[Any]] = [
        [None, None, None, None],
        [full[0], None, full[0], full[0]],
        [full[0], full[1], full[2], None],
        [empty, empty, None, full[2]],
        [
            (5, 2.5, None, None, i[0]),
            (5, 2.5, None, None, i[1]),
            (5, None, "a", True, i[2]),
            (5, None, "b", None, i[3]),
        ],
        [full[0], full[0], full[0], full[0]],
        [(None, 0.0, "a", True, i[2]), (5, 0.0, "a", True, i[2]), None, (5, 0.0, "a", None, i[2])],
        [(5, 1.5, "a", True, i[2]), (5, 1.5, "a", True, None), (5, 1.5, "a", True, i[2]), (5, 1.5, "a", True, i[2])],
    ]
    maps = [None, {}, {"k": None}, {"k": "a"}]
    headers = [None, [], [None], [("k", None)], [("k", "5")], [("j", "5")], [("k", "7"), ("k", "x")]]
    rows = []
    for group in groups:
        for struct in group:
            number = len(rows)
            rows.append((number, number % 3 or None, struct, maps[number % 4], headers[number % 7]))
    return rows


def _messages(rows: list[Any]) -> list[dict[str, Any]]:
    """Read rows as messages: what the paths of `WHERE` lead to."""
    found = []
    for row in rows:
        o = row["o"].asDict() if row["o"] is not None else {}
        i = o["i"].asDict() if o.get("i") is not None else {}
        last = [one["value"] for one in row["h"] or () if one is not None and one["key"] == "k"][-1:]
        number = int(last[0]) if last and last[0] and last[0].isdigit() else None
        flat = {name: o.get(name) for name in "xdsb"} | {name: i.get(name) for name in "yt"}
        found.append({**flat, "n": row["n"], "mk": (row["m"] or {}).get("k"), "hk": Int32(number) if number else None})
    return found


# Each loses rows of ORC where IS NULL of a field reaches its statistics.
LOST = (
    "x IS NULL", "s IS NULL", "NOT (s IS NOT NULL)", "y IS NULL", "t IS NULL", "b IS NULL", "d IS NULL",
    "t IS NULL OR t = 'zz'", "x NOT BETWEEN 4 AND 6", "NOT (x BETWEEN 5 AND 5)", "x IS NULL AND n > 0",
    "NOT (x IS NOT NULL AND y IS NOT NULL)", "mk IS NULL", "hk IS NULL", "hk IS NULL AND x IS NULL",
    "x IS NULL OR d > 2 OR s = 'q'", "NOT (x IS NOT NULL) OR n = 9", "n NOT BETWEEN x AND 2", "NOT s LIKE '%'",
)  # fmt: skip
_NUMBERS = ("x", "d", "y", "n", "hk")


def _atom(rng: random.Random) -> str:
    name, other, sign = rng.choice(_NUMBERS), rng.choice(_NUMBERS), rng.choice(("=", "<>", "<", "<=", ">", ">="))
    value, text = rng.choice(("0", "5", "6", "7", "2.5", "-1")), rng.choice(("s", "t", "mk"))
    negated, any_name = rng.choice(("", "NOT ")), rng.choice((*_NUMBERS, "s", "t", "mk", "b"))
    return rng.choice(
        4 * [f"{any_name} IS {negated}NULL"]
        + 2 * [f"{name} {sign} {value}", f"{name} {negated}BETWEEN {value} AND {rng.choice(('5', '6', other))}"]
        + [
            f"{name} {sign} {other}",
            f"{name} + {value} {sign} {other}",
            f"{text} {rng.choice(('=', '<>'))} {rng.choice(('s', 't', repr('a'), repr('zz')))}",
            f"{text} {negated}IN ('a', 'q')",
            f"{text} {negated}LIKE {rng.choice(('%', 'a%', '_', 'b'))!r}",
            "b",
            "b = FALSE",
        ]
    )


def _selector(rng: random.Random, depth: int = 2) -> str:
    form = rng.choice(("{0}", "NOT ({0})", "{0} AND {1}", "{0} OR {1}", "NOT ({0} OR {1})")[: 1 + 2 * depth])
    return form.format(*(f"({_selector(rng, depth - 1)})" for _ in range(2))) if form != "{0}" else _atom(rng)


@pytest.fixture(scope="module")
def sources(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The rows in each kind of source."""
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    folder = tmp_path_factory.mktemp("nested")
    rows = _rows()
    frame = spark.createDataFrame(rows, SCHEMA).coalesce(1).sortWithinPartitions("row")
    for kind in ("parquet", "orc", "json"):
        frame.write.option("maxRecordsPerFile", 4).format(kind).save(str(folder / kind))
    read = {
        kind: spark.read.schema(SCHEMA).format(kind).load(str(folder / kind)) for kind in ("parquet", "orc", "json")
    }
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    for kind in ("parquet", "orc"):
        read[f"{kind} 2"] = spark.read.schema(SCHEMA).format(kind).load(str(folder / kind))
        read[f"{kind} 2"].count()
    spark.conf.unset("spark.sql.sources.useV1SourceList")
    read["orc"].createOrReplaceTempView("nested_rows")
    read["view"] = spark.sql("SELECT * FROM nested_rows")
    read["cache"] = frame.cache()
    assert {frame.count() for frame in read.values()} == {len(rows)}
    yield read
    read["cache"].unpersist()
    for name in SETTINGS:
        spark.conf.unset(name)


def _wrong(frame: Any, cases: list[tuple[str, Any]]) -> list[str]:
    """Filter by each selector and by its negation, and say what the machine would keep, or would not."""
    made = []
    for number, (text, dialect) in enumerate(cases):
        planned = plan(text, frame, dialect=dialect, properties=WHERE, strategy="native")
        truth = planned.column()
        for negated, column in ((False, truth), (True, ~truth)):
            kept = frame.filter(column)
            made.append(kept.select(F.lit(number).alias("selector"), F.lit(negated).alias("negated"), "row"))
    found: dict[tuple[int, bool], set[int]] = {}
    for start in range(0, len(made), 60):
        union = functools.reduce(lambda one, two: one.unionAll(two), made[start : start + 60])
        for selector, negated, row in union.collect():
            found.setdefault((selector, negated), set()).add(row)
    rows = frame.collect()
    messages = _messages(rows)
    wrong = []
    for number, (text, dialect) in enumerate(cases):
        matcher = mqsel.compile(text, dialect=dialect)
        truths = [matcher.evaluate(message).name for message in messages]
        for negated, truth in ((False, "TRUE"), (True, "FALSE")):
            wanted = {row["row"] for row, said in zip(rows, truths, strict=True) if said == truth}
            got = found.get((number, negated), set())
            if wanted != got:
                wrong.append(f"{'~' * negated}{text!r} [{dialect!r}]: lost {wanted - got}, kept {got - wanted}")
    return wrong


@pytest.mark.parametrize("kind", KINDS)
def test_tests_of_paths(sources: dict[str, Any], kind: str, record_property: Any) -> None:
    """NULL in the struct, in the inner one, in the field, in maps and headers: native = machine, in every source."""
    frame = sources[kind]
    rng = random.Random(f"paths {PAIRS}")
    rows = frame.count()
    cases = [(text, BETWEEN) for text in LOST]
    while len(cases) * rows * len(KINDS) * 2 < PAIRS:
        text = _selector(rng)
        if mqsel.compile(text, dialect=JMS).properties:
            cases.append((text, rng.choice((JMS, BETWEEN, IBM_MQ))))
    record_property("pairs", 2 * len(cases) * rows)

    assert _wrong(frame, cases) == []


def test_sets_over_paths(sources: dict[str, Any]) -> None:
    """What `any_of` and `deliveries` keep of ORC = what the machine selects."""
    frame = sources["orc"]
    selectors = {"none": "x IS NULL", "other": "t = 'zz'", "both": "y IS NULL AND x NOT BETWEEN 6 AND 9"}
    rows = frame.collect()
    for some in ({"none": selectors["none"]}, selectors):
        wanted = {
            (key, row["row"])
            for key, text in some.items()
            for row, message in zip(rows, _messages(rows), strict=True)
            if mqsel.compile(text).matches(message)
        }
        found = deliveries(some, frame, properties=WHERE).select("subscriber", "row").collect()

        assert wanted == {tuple(row) for row in found}
        assert {row for _, row in wanted} <= {
            row["row"] for row in frame.filter(any_of(some, frame, properties=WHERE)).collect()
        }


def test_what_is_pushed_down_of_a_path(sources: dict[str, Any]) -> None:
    """Comparisons of a path reach the reader, and IS NOT NULL; IS NULL never without a test of its structs."""

    def given(text: str, *, negated: bool = False) -> str:
        made = plan(text, sources["parquet"], dialect=JMS, properties=WHERE).column()
        found = sources["parquet"].filter(~made if negated else made)._jdf.queryExecution().executedPlan().toString()
        return str(found).partition("PushedFilters: [")[2].partition("]")[0]

    assert "EqualTo(o.x,5)" in given("x = 5")
    assert "Not(EqualTo(o.s,a))" in given("s <> 'a'")
    assert "IsNotNull(o.i.y)" in given("y IS NOT NULL")
    assert given("y IS NULL") == given("y IS NOT NULL", negated=True) == "Or(Or(IsNull(o),IsNull(o.i)),IsNull(o.i.y))"
    assert given("n IS NULL") == "IsNull(n)"
