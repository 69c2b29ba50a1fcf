"""Invariant: what `filter` keeps of files = what the machine selects, whatever of the condition the reader is given.

Readers leave out row groups, pages and batches by statistics, dictionaries and Bloom filters, which know neither that
0.0 = -0.0 nor where a NaN is. Selectors run as they are and negated from outside (`~`), with and without pushdown, over
one set of rows in Parquet as Spark and as pyarrow write it, in ORC, and cached. `--volume 10` takes 30 times as many.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from volumes import is_release

import mqsel
from mqsel.language.dialect import JMS
from mqsel.values import Float32

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from mqsel.spark import layout, plan

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RECORD = is_release()
SEEDS, SELECTORS = (30, 40) if RECORD else (1, 20)
PUSHDOWN = (
    "spark.sql.parquet.filterPushdown",
    "spark.sql.orc.filterPushdown",
    "spark.sql.inMemoryColumnarStorage.partitionPruning",
)
KINDS = {
    "d": "float64", "e": "float64", "f": "float32", "b1": "int8", "b2": "int16", "b4": "int32", "b8": "int64",
    "s": "string", "t": "string", "o": "boolean", "y": "bytes",
}  # fmt: skip
NESTED = {"nd": "float64", "nf": "float32", "ni": "int32"}
SPARK = {
    "float64": "double", "float32": "float", "int8": "tinyint", "int16": "smallint", "int32": "int", "int64": "bigint",
    "string": "string", "boolean": "boolean", "bytes": "binary",
}  # fmt: skip
SCHEMA = ", ".join(
    [
        "row int",
        *(f"{name} {SPARK[kind]}" for name, kind in KINDS.items()),
        f"r struct<{', '.join(f'{name}: {SPARK[kind]}' for name, kind in NESTED.items())}>",
    ]
)
WHERE = layout({name: f"r.{name}" for name in NESTED})

_FLOATS = (0.0, -0.0, 5.0, 5.0, 2.5, -1.5, 0.1, math.nan, math.nan, math.inf, -math.inf, None)
_LONG = "r" * 90  # longer than what statistics keep of a text
_VALUES: dict[str, tuple[Any, ...]] = {
    "float64": (*_FLOATS, 1e300, 5e-324, 2.0**53),
    "float32": tuple(None if one is None else float(Float32(one)) for one in (*_FLOATS, 5e-45, 2.0**24, 3e38)),
    "int8": (0, 5, 5, -1, 127, -128, None),
    "int16": (0, 5, 5, -1, 32767, None),
    "int32": (0, 5, 5, -1, 2**24 + 1, 2**31 - 1, None),
    "int64": (0, 5, 5, -1, 2**53 + 1, 2**63 - 1, -(2**63), None),
    "string": ("", "red", "red", "Red", "r\u00e9d", "\U0001f600", f"{_LONG}a", f"{_LONG}b", "r\uffff", None),
    "boolean": (True, False, None),
    "bytes": (b"", b"\x00", b"\x7f", b"\xff", b"\xff\xff", None),
}
_NUMBERS = ["d", "d", "d", "e", "f", "f", "b1", "b2", "b4", "b8", *NESTED]
_LITERALS = (
    "0", "0.0", "-0.0", "- 0", "5", "5", "5.0", "2.5", "0.1", "-1.5", "1e300", "5e-324", "-5e-324", "16777216.0",
    "16777217", "9007199254740992.0", "9007199254740993", "0 * 1.0", "0.0 * -1", "(2 + 3)", "1.0 / 0", "0.0 / 0",
    "300", "3e38",
)  # fmt: skip
_TEXTS = ("''", "'red'", "'Red'", "'r\u00e9d'", f"'{_LONG}a'", f"'{_LONG}'", "'r\uffff'", "'zz'")
_PATTERNS = ("'r%'", "'%d'", "'%e%'", "'%'", "'r_d'", f"'{_LONG}%'", "'red'", "'r\u00e9%'", "'\U0001f600%'")
_SIGNS = ("=", "<>", "<", "<=", ">", ">=")


def _atom(rng: random.Random) -> str:
    name, other, sign = rng.choice(_NUMBERS), rng.choice(_NUMBERS), rng.choice(_SIGNS)
    value, bound = rng.choice(_LITERALS), rng.choice(_LITERALS)
    negated = rng.choice(("", "NOT "))
    return rng.choice(
        4 * [f"{name} {sign} {value}"]
        + 2 * [f"{value} {sign} {name}", f"{name} {negated}BETWEEN {value} AND {bound}", f"{name} {sign} {other}"]
        + [
            f"{name} + {value} {sign} {other}",
            f"-{name} {sign} {value}",
            f"1.0 / {name} {sign} {value}",
            f"{name} IS {negated}NULL",
            f"s {rng.choice(_SIGNS[:2])} {rng.choice(_TEXTS)}",
            f"t {negated}IN ({', '.join(rng.sample(_TEXTS, rng.randrange(1, 4)))})",
            f"s {negated}LIKE {rng.choice(_PATTERNS)}",
            f"s {rng.choice(_SIGNS[:2])} t",
            rng.choice(("o", "o = TRUE", "o <> TRUE", "o = FALSE")),
            "y = y",
        ]
    )


def _selector(rng: random.Random, depth: int = 2) -> str:
    form = rng.choice(("{0}", "{0}", "NOT ({0})", "{0} AND {1}", "{0} OR {1}", "NOT ({0} AND {1})")[: 2 + 4 * depth])
    return form.format(*(f"({_selector(rng, depth - 1)})" for _ in range(2))) if form != "{0}" else _atom(rng)


def _groups(rng: random.Random) -> list[Rows]:
    """Draw row groups of few values each: those are what a reader can leave out."""
    groups: list[Rows] = []
    number = itertools.count()
    for _ in range(24):
        pools = {name: rng.sample(_VALUES[kind], rng.choice((1, 1, 2, 3))) for name, kind in (KINDS | NESTED).items()}
        groups.append([])
        for _ in range(rng.randrange(1, 6)):
            row = {name: rng.choice(pool) for name, pool in pools.items()}
            nested = {name: row.pop(name) for name in NESTED}
            groups[-1].append({"row": next(number), **row, "r": nested})
    return groups


Rows = list[dict[str, Any]]
PYARROW: dict[str, dict[str, Any]] = {
    "plain": {"use_dictionary": False},
    "dictionary": {"use_dictionary": True},
    "index": {"use_dictionary": False, "write_page_index": True, "data_page_size": 1, "write_batch_size": 1},
    "no statistics": {"use_dictionary": True, "write_statistics": False},
}
BLOOMS = {f"parquet.bloom.filter.enabled#{name}": "true" for name in ("d", "f", "b4", "s")}
WRITERS: dict[str, tuple[int, dict[str, str]]] = {  # number of files, and options
    "one": (1, {}),
    "four": (4, {}),
    "blooms": (1, {"parquet.enable.dictionary": "false", "parquet.page.row.count.limit": "2", **BLOOMS}),
}


def _frames(spark: Any, folder: Path, groups: list[Rows]) -> dict[str, Any]:
    """Write rows in every way. Returns: frames that read them; `way` says which way wrote a row."""
    types = spark.createDataFrame([], SCHEMA)
    schema = pa.schema([("way", pa.string()), *((one.name, one.type) for one in types.toArrow().schema)])
    (folder / "parquet").mkdir()
    paths = [str(folder / "parquet" / f"{way}.parquet") for way in PYARROW]
    for (way, options), path in zip(PYARROW.items(), paths, strict=True):
        with parquet.ParquetWriter(path, schema, **options) as writer:
            for group in groups:
                writer.write_table(pa.Table.from_pylist([{**row, "way": way} for row in group], schema))
    rows = [tuple(row.values()) for group in groups for row in group]
    frame = spark.createDataFrame(rows, types.schema).coalesce(1)
    for way, (files, options) in WRITERS.items():
        paths.append(str(folder / "parquet" / way))
        some = frame if files == 1 else frame.repartitionByRange(files, "row")
        some.withColumn("way", F.lit(way)).write.options(**options).parquet(paths[-1])
    orc = str(folder / "orc")
    some = frame.repartitionByRange(4, "row").withColumn("way", F.lit("orc"))
    some.write.option("orc.bloom.filter.columns", "d,f,b4,s").orc(orc)
    spark.conf.set("spark.sql.inMemoryColumnarStorage.batchSize", "3")
    cached = frame.withColumn("way", F.lit("cache")).cache()
    cached.count()
    spark.conf.unset("spark.sql.inMemoryColumnarStorage.batchSize")
    read = spark.read.schema(f"way string, {SCHEMA}")
    return {"parquet": read.parquet(*paths), "orc": read.orc(orc), "cache": cached}


def _kept(frame: Any, texts: list[str]) -> dict[tuple[int, bool], list[tuple[str, int]]]:
    """Filter by every selector and by its negation, in one job: the rows kept."""
    made = []
    for number, text in enumerate(texts):
        truth = plan(text, frame, dialect=JMS, properties=WHERE, strategy="native").column()
        for negated, column in ((False, truth), (True, ~truth)):
            kept = frame.filter(column)
            made.append(kept.select(F.lit(number).alias("selector"), F.lit(negated).alias("negated"), "way", "row"))
    found: dict[tuple[int, bool], list[tuple[str, int]]] = {
        key: [] for key in itertools.product(range(len(texts)), (False, True))
    }
    for selector, negated, way, row in functools.reduce(lambda one, two: one.unionAll(two), made).collect():
        found[selector, negated].append((way, row))
    return found


def _differences(frame: Any, texts: list[str]) -> list[str]:
    """Compare what filters keep with what the machine selects of all that is read; say what differs."""
    read = {
        (way, row): (*values, *nested)
        for way, row, *values, nested in frame.select("way", "row", *KINDS, "r").collect()
    }
    wrong = []
    for (number, negated), kept in _kept(frame, texts).items():
        matcher = mqsel.compile(texts[number], dialect=JMS, schema=list((KINDS | NESTED).items()))
        truth = "FALSE" if negated else "TRUE"
        wanted = {at for at, row in read.items() if matcher.evaluate(row).name == truth}
        for at in sorted(wanted.symmetric_difference(kept)):
            said = "lost" if at in wanted else "kept"
            wrong.append(f"{'~' * negated}{texts[number]!r}, {at[0]}: {said} {read[at]}")
        assert len(set(kept)) == len(kept)
    return wrong


@pytest.fixture
def switch(spark: Any) -> Iterator[Callable[[bool], None]]:
    """Returns what switches pushdown on and off."""
    # A filter is one among hundreds: to compile each would take longer than all they read.
    settings = {
        "spark.sql.caseSensitive": "true",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)

    def switched(is_on: bool) -> None:
        for name in PUSHDOWN:
            spark.conf.set(name, str(is_on).lower())

    yield switched
    for name in (*PUSHDOWN, *settings):
        spark.conf.unset(name)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS))
def test_filters_keep_what_the_machine_selects(spark: Any, switch: Any, tmp_path: Path, seed: int) -> None:
    """Random selectors over random row groups, in every kind of file and cached."""
    rng = random.Random(f"files {seed}")
    groups = _groups(rng)
    texts = [
        text for text in (_selector(rng) for _ in range(2 * SELECTORS)) if mqsel.compile(text, dialect=JMS).properties
    ]
    for name, frame in _frames(spark, tmp_path, groups).items():
        for is_on in (True, False) if RECORD else (True,):
            switch(is_on)
            wrong = _differences(frame, texts[:SELECTORS])

            assert not wrong, f"{name}, pushdown {is_on}: {len(wrong)} differ\n" + "\n".join(wrong[:10])
        frame.unpersist()


# Each lost rows of one file or another, or of a cache; the last three also where nothing is pushed down.
LOST = (
    "d = 0", "d >= 0", "NOT d < 0", "NOT d <> 0.0", "f = 0", "f >= 0.0", "nd = 0", "d <= -0.0", "d BETWEEN 0 AND 5",
    "d = 0 * -1.0", "d <> 5", "NOT d = 5", "NOT d <= 5", "NOT d < 6", "d <= 5", "d < 6", "d = 5", "nf <> 5",
    "d NOT BETWEEN 0 AND 5", "d <> 0", "5 >= d", "d = e AND 1.0 / d > 0", "d = e AND d = 0", "d = 0 AND 1.0 / d > 0",
    "d > 5 OR s = 'x'", "d >= 5.0 OR f < 0 OR nd = 0", "d = 0 OR b4 = 1", "d BETWEEN 2.5 AND 5 OR s = 'x'",
    "NOT (d <= 5 OR s = 'x')", "(d > 5 OR b4 = 1) AND (e <= 0 OR nf > 2.5)", "d <> 5 OR s = 'x'", "d <= -2.5 OR f > -1",
)  # fmt: skip


def test_tests_of_floats_under_or_are_pushed_down(spark: Any, tmp_path: Path) -> None:
    """The reader is given an OR where it may be, and of the negation no comparison of floats."""
    spark.sql("SELECT 1D AS d, 1F AS f, 'a' AS s").write.parquet(str(tmp_path / "a"))
    frame = spark.read.parquet(str(tmp_path / "a"))

    def given(condition: Any) -> str:
        text = frame.filter(condition)._jdf.queryExecution().executedPlan().toString()
        return str(text).partition("PushedFilters: [")[2].partition("]")[0]

    for selector, pushed in (
        ("d > 2.5 OR s = 'x'", "Or(And(GreaterThan(d,2.5),LessThanOrEqual(d,Infinity)),EqualTo(s,x))"),
        ("f < 5 OR d BETWEEN 1 AND 2", "Or(And(LessThan(f,5.0),LessThanOrEqual(f,Infinity)),And("),
        ("d <> 2.5 OR s = 'x'", ""),
        ("d > 2.5 OR s LIKE 'a_c'", ""),
    ):
        made = plan(selector, frame, dialect=JMS).column()
        assert given(made).startswith(pushed)
        assert bool(given(made)) == bool(pushed)
        assert "Than" not in given(~made)


def test_texts_that_look_like_expressions(spark: Any) -> None:
    """What stands in a literal is data: expressions are never rewritten as texts."""
    looks = ("5D AND NOT isnan(`d`)", "1F AND NOT isnan(`d`)", "0F) AND NOT isnan(`d`)", "`d` IS NULL", "${d}")
    rows = [(number, text) for number in (1.0, 6.0, math.nan, None) for text in (*looks, "x", None)]
    frame = spark.createDataFrame(rows, "d double, text string")
    forms = ("d > 5 OR text = '{0}'", "d > 5 OR text LIKE '%{0}%'", "d BETWEEN 1 AND 5 OR text IN ('a', '{0}')")
    texts = [form.format(look) for form in forms for look in looks] + ["NOT (text = '`d` IS NULL' OR d > 5)"]
    got = zip(*frame.select(*[plan(one, frame, dialect=JMS).column() for one in texts]).collect(), strict=True)
    for text, truths in zip(texts, got, strict=True):
        matcher = mqsel.compile(text, dialect=JMS, schema=["d", "text"])
        assert [{"TRUE": True, "FALSE": False, "UNKNOWN": None}[matcher.evaluate(row).name] for row in rows] == list(
            truths
        )


def test_zeros_and_nan(spark: Any, switch: Any, tmp_path: Path) -> None:
    """-0.0 beside 0.0, and NaN beside what statistics show, in row groups of their own."""
    groups: list[Rows] = []
    number = itertools.count()
    for values in ((-0.0,), (0.0,), (0.0, -0.0), (5.0, math.nan), (math.nan,), (math.nan, 5.0, 2.5), (None, -0.0)):
        groups.append([])
        for d, e in itertools.product(values, (0.0, -0.0, math.nan)):
            row = dict.fromkeys(KINDS) | {"d": d, "e": e, "f": d}
            groups[-1].append({"row": next(number), **row, "r": {"nd": d, "nf": d, "ni": None}})
    wrong = {}
    for name, frame in _frames(spark, tmp_path, groups).items():
        for is_on in (True, False) if RECORD else (True,):
            switch(is_on)
            wrong[name, is_on] = _differences(frame, list(LOST))
        frame.unpersist()

    assert not any(wrong.values()), "\n".join(f"{key}: {len(some)}, {some[:5]}" for key, some in wrong.items())
