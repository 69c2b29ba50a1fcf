"""Where properties come from in the rows of a DataFrame: columns, structs, maps, headers, records of connectors, types.

Each frame is read by both strategies; what they say is written beside it. What a selector means stands in
test_spark_native.
"""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import json
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel import errors
from mqsel.formats import records
from mqsel.language.dialect import JMS
from mqsel.values import Float32, Int32

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

from mqsel.spark import column, layout, plan, profile, profile_set, properties, register, route

STRATEGIES = ["native", "arrow"]


def _truths(frame: Any, selector: str, strategy: str | None = None, **options: Any) -> list[bool | None]:
    options = {"dialect": JMS, **options}
    return [row[0] for row in frame.select(column(selector, frame, strategy=strategy, **options)).collect()]


def _all(frame: Any, cases: list[tuple[str, dict[str, Any]]]) -> list[list[bool | None]]:
    """Evaluate many selectors in one job: for each, its truth row by row."""
    made = [column(selector, frame, **{"dialect": JMS, **options}) for selector, options in cases]
    return [list(truths) for truths in zip(*frame.select(*made).collect(), strict=True)]


@pytest.fixture
def sensitive(spark: Any) -> Iterator[Any]:
    """Spark with case-sensitive names."""
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield spark
    spark.conf.unset("spark.sql.caseSensitive")


def test_tests_that_are_computed(spark: Any) -> None:
    """A test that is computed has no native expression; Arrow, profiles and sets have its answers, beside others."""
    dialect, text = mqsel.JMS.varied(null_equality="left"), "a = b AND NOT c = 'z'"
    frame = spark.sql(
        "SELECT *, INT(NULL) AS d FROM VALUES (1, 1, 'y'), (2, 1, 'y'), (NULL, 1, 'y'), (1, 1, 'z') AS (a, b, c)"
    ).coalesce(1)
    selectors = mqsel.SelectorSet({"a": text, "b": "c = 'z'", "n": "a <> b OR 5 <> d"}, dialect=dialect)

    assert [reason for _, reason in plan(text, frame, dialect=dialect).why] == ["'a = b' is computed"]
    assert _truths(frame, text, dialect=dialect) == [True, False, None, False]
    delivered = frame.select(route(selectors, frame))
    assert [sorted(row[0]) for row in delivered.collect()] == [["a", "n"], ["n"], ["n"], ["b", "n"]]
    told = profile(text, frame, dialect=dialect)
    assert (told.selected, told.messages) == (1, 4)
    assert profile_set(selectors, frame)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_columns_structs_and_names_with_dots(spark: Any, strategy: str) -> None:
    """A property is the column of its name, dots and all, or what a path through structs leads to."""
    frame = spark.sql(
        "SELECT named_struct('MQMD', named_struct('Priority', 4)) AS Root, 7 AS `shop.item`, 'a' AS `od``d`, 1 AS x"
    )

    assert _truths(frame, "Root.MQMD.Priority = 4 AND shop.item = 7 AND usr.x = 1", strategy, dialect=mqsel.IBM_MQ) == [
        True
    ]
    assert _truths(frame, "item = 7", strategy, properties={"item": "`shop.item`"}) == [True]
    assert _truths(frame, "n = 'a'", strategy, properties={"n": "od`d"}) == [True]


def test_a_missing_column_is_null_and_named(spark: Any) -> None:
    """No column: NULL in every row, with a warning that names the near miss; a wrong case is one."""
    frame = spark.sql("SELECT 1 AS weight")
    for name in ("wieght", "Weight"):
        with pytest.warns(
            UserWarning, match=rf"no column has '{name}': it is NULL in every row; did you mean weight\?"
        ):
            made = column(f"{name} = 1", frame)

        assert [row[0] for row in frame.select(made).collect()] == [None]
    with pytest.raises(errors.ArgumentError, match=r"'n' is mapped to 'wieght': there is no such column; did you mean"):
        column("n = 1", frame, properties={"n": "wieght"})


def test_names_that_differ_in_case(sensitive: Any) -> None:
    """Both are found where Spark's names are case-sensitive; elsewhere Spark could not tell them apart."""
    frame = sensitive.sql("SELECT 1 AS n, 2 AS N")

    assert _truths(frame, "n = 1 AND N = 2") == [True]
    sensitive.conf.set("spark.sql.caseSensitive", "false")
    with pytest.raises(errors.PropertyTypeError, match=r"'n' may be any of the columns 'n', 'N'"):
        column("n = 1", frame.schema)


def test_names_that_a_session_reads_as_patterns(spark: Any) -> None:
    """Where a name in backticks is a regular expression `x$` would be the column x: there none can be named."""
    frame = spark.createDataFrame([(1, 2)], "`x$` int, x int")
    assert _truths(frame, "x$ = 1") == [True]
    spark.conf.set("spark.sql.parser.quotedRegexColumnNames", "true")
    with pytest.raises(errors.ArgumentError, match="quotedRegexColumnNames is true: a column cannot be named"):
        column("x$ = 1", frame)
    spark.conf.unset("spark.sql.parser.quotedRegexColumnNames")


def test_odd_names_and_texts_are_written_so_that_no_setting_reads_them_otherwise(spark: Any) -> None:
    r"""Backslashes, apostrophes, ``${…}``, line ends, astral characters: with and without escaped string literals."""
    texts = ["a\\b", "it's", "${spark.app.name}", "a\nb", "\U0001f600", "`", "\\", "--", "/*x*/", 'say "x"', "é", "\\'"]
    frame = spark.createDataFrame([(text,) for text in texts], "s string")
    quoted = [text.replace("'", "''") for text in texts]
    ends = [text.replace("%", "!%").replace("_", "!_")[1:] or "z" for text in quoted]
    selectors = [f"s = '{text}'" for text in quoted]
    selectors += [f"s IN ('{text}', 'zz')" for text in quoted]
    selectors += [f"s LIKE '{text}%'" for text in quoted]
    selectors += [f"s LIKE '%_{text}' ESCAPE '!'" for text in ends]
    wanted = [[mqsel.compile(one, dialect=JMS).matches({"s": text}) for text in texts] for one in selectors]
    for escaped in ("true", "false"):
        spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
        got = _all(frame, [(one, {}) for one in selectors])
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")
        for selector, ours, theirs in zip(selectors, wanted, got, strict=True):
            assert ours == theirs, selector
    assert all(any(truths) for truths in wanted[: 3 * len(texts)])  # each text equals itself
    with pytest.raises(errors.ArgumentError, match=r"cannot be named in an expression"):
        column("n = 1", spark.sql("SELECT 1 AS a").toDF("${a}"), properties={"n": "${a}"})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_like_on_a_long_text_ends(spark: Any, strategy: str) -> None:
    """Patterns on which a backtracking matcher never ends, and a text whose characters vary in width."""
    frame = spark.createDataFrame([("a" * 20_000,), ("\U0001f600a" * 20_000,)], "s string")

    assert _truths(frame, f"s LIKE '{'%a' * 12}%b'", strategy) == [False, False]
    assert _truths(frame, f"s LIKE '{'%a_' * 12}%a'", strategy) == [True, True]


def test_distances_in_a_long_text_are_passed_once(spark: Any) -> None:
    """A run of `_` beside `%` takes no product of both lengths: 15 s when it was compared at every place."""
    frame = spark.createDataFrame([("a" * 1_000_000,), ("a" * 1_000 + "xb" + "a" * 1_000,)], "s string")
    for pattern, wanted in (
        ("%" + "_" * 1_000 + "x%", [False, True]),
        ("%" + "_" * 1_001 + "x%", [False, False]),
        ("%x" + "_" * 1_001 + "%", [False, True]),
        ("%x" + "_" * 1_002 + "%", [False, False]),
        ("%x%" + "_" * 1_000 + "a", [False, True]),
        ("%x%" + "_" * 1_001 + "a", [False, False]),
    ):
        began = time.perf_counter()
        assert wanted == _truths(frame, f"s LIKE '{pattern}'", "native"), pattern[-5:]
        assert time.perf_counter() - began < 5, pattern[-5:]


def test_collated_columns_of_files(spark: Any, tmp_path: Path) -> None:
    """Both strategies, and a set, read files with collated columns, whether the selector reads these or not."""
    rows = [(1, "a"), (2, "A"), (3, None)]
    texts = (
        "s COLLATE UNICODE_CI AS s",
        "named_struct('t', s COLLATE UTF8_LCASE) AS o",
        "array(s COLLATE UNICODE) AS a",
    )
    made = spark.createDataFrame(rows, "n int, s string").selectExpr("n", *texts)
    made.coalesce(1).write.parquet(str(tmp_path / "rows"))
    frame = spark.read.parquet(str(tmp_path / "rows"))
    for selector, wanted in (("s = 'a'", {1}), ("t LIKE 'A%'", {2}), ("n > 1", {2, 3}), ("s <> t", set())):
        for strategy in STRATEGIES:
            kept = frame.filter(column(selector, frame, properties={"t": "o.t"}, strategy=strategy))
            assert wanted == {row["n"] for row in kept.collect()}
    keys = route({"a": "s = 'a'", "n": "n > 1"}, frame, strategy="arrow")
    assert [row[0] for row in frame.orderBy("n").select(keys).collect()] == [["a"], ["n"], ["n"]]


@pytest.mark.parametrize("way", ["read.jdbc", "a catalog"])
def test_tables_of_a_database(spark: Any, way: str) -> None:
    """What Spark passes on by JDBC is compared by the machine's rules, not the database's: 'a' is not 'a ' there."""
    java, url = spark._jvm, "jdbc:derby:memory:messages;create=true"
    java.java.lang.System.setProperty("derby.stream.error.file", "/dev/null")
    made = java.org.apache.derby.jdbc.EmbeddedDriver().connect(url, java.java.util.Properties()).createStatement()
    made.execute('CREATE TABLE msgs ("n" int, "t" varchar(9), "f" double)')
    made.execute("INSERT INTO msgs VALUES (1, 'car', 1.5), (2, 'car ', 1e300), (3, NULL, 0)")
    driver = "org.apache.derby.iapi.jdbc.AutoloadedDriver"
    name = "spark.sql.catalog.derby"
    try:
        if way == "read.jdbc":
            frame = spark.read.jdbc(url, "msgs", properties={"driver": driver})
        else:
            catalog = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
            for key, value in (("", catalog), (".url", url), (".driver", driver)):
                spark.conf.set(name + key, value)
            frame = spark.table("derby.APP.MSGS")
        cases = {
            "t = 'car'": {1},
            "t <> 'car'": {2},
            "t IN ('car', 'x') OR n > 2": {1, 3},
            "s = 'car'": {1},
            "f < 1 OR n = 2": {2, 3},
            "f * 1E300 > 1 AND n > 1": {2},
            "f / 0 > 1": {1, 2},
        }
        named = frame.alias("a")
        for selector, wanted in cases.items():
            selected = column(selector, named, properties={"s": "a.t"}, dialect=JMS, strategy="native")
            assert {row["n"] for row in named.filter(selected).collect()} == wanted, selector
        frame.createOrReplaceTempView("messages_of_derby")
        for selector, argument in (("t <> 'car'", "t"), ("f < 1 OR f > 1E299", "f")):
            register(spark, "of_derby", selector, frame, dialect=JMS)
            kept = spark.sql(f"SELECT n FROM messages_of_derby WHERE of_derby__typed({argument})").collect()
            assert {row["n"] for row in kept} == {"t": {2}, "f": {2, 3}}[argument], selector
        scan = frame.filter(column("n > 1", frame))._jdf.queryExecution().executedPlan().toString()
        assert "GreaterThan(n,1)" in scan or "n > 1" in scan
    finally:
        made.execute("DROP TABLE msgs")
        for key in ("", ".url", ".driver"):
            spark.conf.unset(name + key)


HIVE = """
import os, sys
os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
from pyspark.sql import SparkSession
from mqsel.spark import column, register
made = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
made = made.config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:memory:catalog;create=true")
spark = made.enableHiveSupport().getOrCreate()
spark.sql("CREATE TABLE t (n int, p string, q int) USING parquet PARTITIONED BY (p, q)")
rows = [(1, "a", 1), (2, "a ", 1), (3, "A", 1), (4, "a\\\\b", 1), (5, 'a"b', 2), (6, None, 1)]
spark.createDataFrame(rows, "n int, p string, q int").coalesce(1).write.insertInto("t")
frame = spark.table("t")
for text in sys.argv[1:]:
    selected = column(text, frame, dialect="JMS")
    register(spark, "f", text, frame.alias("a"), dialect="JMS")
    kept = [frame.filter(one) for one in (selected, ~selected)]
    kept += [spark.sql(f"SELECT * FROM t WHERE {word} f__typed(p)") for word in ("", "NOT")]
    print([sorted(row.n for row in one.collect()) for one in kept])
spark.sql("CREATE TABLE u (n int) PARTITIONED BY (p string) STORED AS TEXTFILE")
spark.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
spark.createDataFrame([(1, "a"), (2, "b"), (6, None)], "n int, p string").coalesce(1).write.insertInto("u")
frame = spark.table("u")
for text in ("p <> 'a'", "p IS NULL"):
    kept = [frame.filter(column(text, frame, dialect="JMS", strategy=one)) for one in ("native", "arrow")]
    print([sorted(row.n for row in one.collect()) for one in kept])
"""


@pytest.mark.cluster
def test_directories_that_a_metastore_lists(tmp_path: Path) -> None:
    """A metastore compares as its database does, 'a ' with 'a': it is asked of directories for what no rule changes."""
    cases = {
        "p = 'a'": [[1], [2, 3, 4, 5]],
        "p <> 'a'": [[2, 3, 4, 5], [1]],
        "p NOT IN ('a', 'A')": [[2, 4, 5], [1, 3]],
        r"p LIKE '%\%'": [[4], [1, 2, 3, 5]],
        "p LIKE '%\"%'": [[5], [1, 2, 3, 4]],
    }
    done = subprocess.run(
        [sys.executable, "-c", HIVE, *cases], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240
    )
    wanted = [*(2 * kept for kept in cases.values()), 2 * [[2]], 2 * [[6]]]  # of text, NULL is a name to Hive
    assert done.stdout.splitlines()[-7:] == [str(kept) for kept in wanted], done.stderr[-2000:]


def test_columns_of_directories_in_a_catalog(spark: Any, tmp_path: Path) -> None:
    """A catalog is asked for equality alone, beside the exact test; what files have is read as of any file."""
    spark.sql(f"CREATE TABLE parted (n int, s string, p string) USING parquet PARTITIONED BY (p) LOCATION '{tmp_path}'")
    try:
        spark.sql("INSERT INTO parted VALUES (1, 'x', 'a'), (2, 'y', 'b')")
        frame = spark.table("parted").withColumnRenamed("p", "r")
        exact = "collate(`r`, 'UTF8_BINARY')"
        for text, kept, wanted in (
            ("r = 'a'", {1}, f"`r` IN ('a', '') AND {exact} = 'a'"),
            ("'a' = r AND s = 'x'", {1}, f"`r` IN ('a', '') AND 'a' = {exact} AND `s` = 'x'"),
            ("r IN ('a', 'b')", {1, 2}, f"`r` IN ('a', 'b', '') AND {exact} IN ('a', 'b')"),
            ("r <> 'a'", {2}, f"{exact} <> 'a'"),
            ("r NOT IN ('a')", {2}, f"{exact} <> 'a'"),
            ("r LIKE 'a%'", {1}, f"startswith({exact}, 'a')"),
        ):
            made = plan(text, frame, dialect=JMS)
            assert made.sql == wanted
            assert {row.n for row in frame.filter(made.column()).collect()} == kept
            assert register(spark, "of_parted", text, frame.alias("a"), dialect=JMS).sql == wanted
    finally:
        spark.sql("DROP TABLE parted")


def test_row_input_unless_somebody_chose(spark: Any) -> None:
    """An Arrow function has Spark make rows of columns, unless the session says that it shall not."""
    name = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
    frame = spark.createDataFrame([(1,)], "n int")
    try:
        for chosen, wanted in (("true", "true"), ("false", "false"), (None, "false")):
            spark.conf.unset(name) if chosen is None else spark.conf.set(name, chosen)
            column("n > 1", frame, strategy="arrow")
            assert spark.conf.get(name) == wanted
    finally:
        spark.conf.unset(name)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_collations_are_taken_off(spark: Any, strategy: str) -> None:
    """Equality, IN and LIKE compare code points, whatever the collation of the column."""
    frame = spark.sql("SELECT collate(s, 'UTF8_LCASE') AS s FROM VALUES ('Blue'), ('blue'), ('blue ') AS t(s)")
    selectors = ["s = 'blue'", "s IN ('blue', 'x')", "s LIKE 'blu_'", "s LIKE 'b%e'"]
    assert _all(frame, [(one, {"strategy": strategy}) for one in selectors]) == 4 * [[False, True, False]]


def test_types_that_no_property_has(spark: Any) -> None:
    """Refused on the driver, naming the column's type; what can be declared is named and then exact."""
    frame = spark.sql(
        "SELECT timestamp'2024-05-01 00:00:00Z' AS t, 1.5BD AS d, 7BD AS whole, array(1) AS a, "
        "date'2024-01-01' AS day, timestamp_ntz'2024-01-01 00:00:00' AS moment, parse_json('5') AS v, "
        "CAST(NULL AS VOID) AS nothing"
    )
    for name, found in {
        "t": "timestamp",
        "d": "decimal(2,1)",
        "a": "array<int>",
        "day": "date",
        "moment": "timestamp_ntz",
        "v": "variant",
    }.items():
        with pytest.raises(errors.PropertyTypeError) as caught:
            column(f"{name} = 1", frame)
        assert str(caught.value).startswith(f"the column of property '{name}' is {found}: a property has no such type")
    milliseconds = int(dt.datetime(2024, 5, 1, tzinfo=dt.timezone.utc).timestamp() * 1000)

    assert _truths(frame, "whole = 7") == [True]
    assert _truths(frame, f"t = {milliseconds}", properties={"t": ("t", "int64")}) == [True]
    assert _truths(frame, "d = 1.5", properties={"d": ("d", "float64")}) == [True]
    assert _truths(frame, "v = 5", properties={"v": ("v", "int64")}) == [True]
    assert _truths(frame, "nothing = 5") == [None]
    with pytest.raises(errors.PropertyTypeError, match=r"is array<int>: it cannot be read as int64"):
        column("a = 1", frame, properties={"a": ("a", "int64")})
    assert decimal.Decimal(7) == frame.first()["whole"]


def test_what_readers_know_of_declared_types(spark: Any, tmp_path: Path) -> None:
    """Decimals, timestamps and dates: a literal is pushed down as their own, and native = machine about every edge."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    day = 86_400_000
    millis = [None, 0, -1, 1, day, day - 1, -day, 19_844 * day, 19_844 * day + 1]
    micros = [None if one is None else one * 1000 + number % 3 * 499 for number, one in enumerate(millis)]
    prices = [None, "0", "2.50", "-2.50", "2.49", "2.51", "99999999.99", "0.10", "-0.01"]
    whole = [None, 0, 5, -5, 2**31, 2**63 - 1, -(2**63), 2**63, 10**19]
    rows = [
        (number, micros[number], None if one is None else one // day, prices[number], whole[number])
        for number, one in enumerate(millis)
    ]
    texts = "row int, micros bigint, days int, price string, whole decimal(20,0)"
    made = [(*row[:4], None if row[4] is None else decimal.Decimal(row[4])) for row in rows]
    frame = spark.createDataFrame(made, texts).selectExpr(
        "row", "timestamp_micros(micros) AS t", "date_from_unix_date(days) AS day", "CAST(price AS DECIMAL(10,2)) AS p",
        "CAST(price AS DECIMAL(10,2)) AS f", "whole AS w", "whole AS n", "CAST(whole % 1000000 AS DECIMAL(18,0)) AS d",
        "date_from_unix_date(days) AS s",
    )  # fmt: skip
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    frame.repartitionByRange(5, "row").write.parquet(str(tmp_path / "rows"))
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    frame = spark.read.parquet(str(tmp_path / "rows"))
    types = {
        "t": "int64", "day": "int64", "p": "float64", "f": "float32", "w": "int64", "n": "int32", "d": "int64",
        "s": "string",
    }  # fmt: skip
    messages = []
    for _, micro, days, price, number in rows:
        fits = number is not None and -(2**63) <= number < 2**63
        messages.append(
            {
                "t": None if micro is None else micro // 1000,
                "day": None if days is None else days * day,
                "p": None if price is None else float(price),
                "f": None if price is None else Float32(float(price)),
                "w": number if fits else None,
                "n": Int32(number) if fits and abs(number) < 2**31 else None,
                "d": None if number is None else int(decimal.Decimal(number) % 1_000_000),
                "s": None if days is None else (dt.date(1970, 1, 1) + dt.timedelta(days)).isoformat(),
            }
        )
    values = ("0", "-5", "2.5", "0.1", str(day), str(2**63 - 1), "1e300", "1.0 / 0")
    selectors = [
        f"{name} {sign} {value}"
        for name in types
        if name != "s"
        for sign in ("=", "<>", "<", "<=", ">", ">=")
        for value in values
    ] + ["t BETWEEN 0 AND 86400000", "n NOT BETWEEN 0 AND 5", "-t < 0", "s = '2024-05-01'", "5 < d", "w + 1 > 0"]
    plans = [plan(one, frame, types=types, dialect=JMS) for one in selectors]
    got = frame.orderBy("row").select(*[one.column().alias(f"c{at}") for at, one in enumerate(plans)]).collect()
    for at, selector in enumerate(selectors):
        matcher = mqsel.compile(selector, dialect=JMS)
        wanted = [{"TRUE": True, "FALSE": False, "UNKNOWN": None}[matcher.evaluate(one).name] for one in messages]
        assert wanted == [row[at] for row in got], (selector, plans[at].sql)
    for selector, pushed in (
        ("t >= 0", "GreaterThanOrEqual(t,1970-01-01"), ("t = 5", "LessThan(t,1970-01-01"), ("d = 5", "EqualTo(d,5)"),
        ("day > 0", "GreaterThan(day,1970-01-01)"), ("p > 2.5", "GreaterThanOrEqual(p,2.4"),
        ("w < 5", "Or(Or(LessThan(w,5)"),
    ):  # fmt: skip
        for is_negated in (False, True):
            column_ = plan(selector, frame, types=types, dialect=JMS).column()
            kept = frame.filter(~column_ if is_negated else column_)
            given = str(kept._jdf.queryExecution().executedPlan().toString()).partition("PushedFilters: [")[2]
            assert is_negated or pushed in given.partition("]")[0], (selector, given)
            matcher = mqsel.compile(selector, dialect=JMS)
            wanted_rows = [
                at
                for at, one in enumerate(messages)
                if matcher.evaluate(one).name == ("FALSE" if is_negated else "TRUE")
            ]
            assert wanted_rows == sorted(row[0] for row in kept.select(F.col("row")).collect()), selector


def test_unsigned_integers_of_parquet(spark: Any, tmp_path: Path) -> None:
    """Spark widens them, UINT64 to decimal(20,0): read as in a batch of Arrow, and NULL beyond INT64."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    kinds = ("uint8", "uint16", "uint32", "uint64")
    table = pa.table({kind: pa.array([7, None, 200], getattr(pa, kind)()) for kind in kinds})
    pq.write_table(table.append_column("big", pa.array([2**63 - 1, None, 2**63], pa.uint64())), tmp_path / "u.parquet")
    frame = spark.read.parquet(str(tmp_path / "u.parquet"))
    text = " AND ".join(f"{kind} > 100" for kind in kinds)

    assert _truths(frame, text) == mqsel.compile(text).truth_batch(table).to_pylist() == [False, None, True]
    assert _truths(frame, "big = 9223372036854775807") == [True, None, None]


def test_char_is_padded_and_must_be_declared(spark: Any) -> None:
    """char(n) is refused, as a type and as the plain string of a table that was one; declared, it loses its padding."""
    from pyspark.sql.types import CharType, StringType, StructField, StructType

    plain = StructType([StructField("c", CharType(5))])
    hidden = StructType([StructField("c", StringType(), metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(5)"})])
    for schema in (plain, hidden):
        with pytest.raises(errors.PropertyTypeError, match=r"is char\(5\): a property has no such type"):
            plan("c = 'ab'", schema)
    frame = spark.sql("SELECT 'ab   ' AS c").to(StructType([StructField("c", StringType())]))
    made = plan("c = 'ab' AND c LIKE 'a_'", hidden, properties={"c": ("c", "string")}, dialect=JMS)

    assert [row[0] for row in frame.select(made.column()).collect()] == [True]


def test_char_within_other_types(spark: Any, tmp_path: Path) -> None:
    """char(n) of a table is padded in structs, maps and headers, too: refused, or trimmed if declared; so are keys."""
    fields = (
        "s struct<c: char(5), string: struct<v: varchar(9), t: string>>, m map<string, char(5)>, "
        "k map<char(5), string>, headers array<struct<key: string, value: char(5)>>, c char(5)"
    )
    spark.sql(f"CREATE TABLE padded ({fields}) USING parquet LOCATION '{tmp_path / 'padded'}'")
    try:
        spark.sql(
            "INSERT INTO padded SELECT named_struct('c', 'ab', 'x', named_struct('v', 'ab', 't', 'ab')), "
            "map('a', 'ab'), map('a', 'ab'), array(named_struct('key', 'a', 'value', 'ab')), 'ab'"
        )
        frame = spark.table("padded")
        members = {"m": layout(members="m"), "headers": layout(members="headers"), "s": layout({"a": "s.c"})}
        for where in (*members.values(), layout({"a": "c"})):
            with pytest.raises(errors.PropertyTypeError, match=r"'a' is char\(5\): a property has no such type"):
                column("a = 'ab'", frame, properties=where)
            where = where._replace(types={"a": "string"})  # noqa: PLW2901
            assert _truths(frame, "a = 'ab'", properties=where) == [True]
        with pytest.raises(errors.PropertyTypeError, match=r"'a' is map<char\(5\),string>.*\n.*its keys are padded"):
            column("a = 'ab'", frame, properties=layout(members="k"))
        plain = layout({"v": "s.string.v", "t": "s.string.t"})
        assert _truths(frame, "v = 'ab' AND t = 'ab'", properties=plain) == [True]
    finally:
        spark.sql("DROP TABLE padded")


BROKEN = [
    b"red",
    b"r\xff",
    b"r\xfe",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    "r\ufffd".encode(),
    b"\xc0\xafx",
    None,
]


def test_texts_that_are_no_utf8(spark: Any) -> None:
    """Kafka's CAST(value AS STRING) checks nothing: both strategies read U+FFFD where bytes are no UTF-8."""
    rng = random.Random("utf-8")
    drawn = [
        bytes(rng.choice(b"a\x80\xbf\xc2\xe0\xe2\xed\xa0\x9f\xf0\x90\xf4\xff") for _ in range(6)) for _ in range(300)
    ]
    rows = [(value, other) for value in BROKEN for other in BROKEN] + [(value, b"") for value in drawn]
    frame = spark.createDataFrame(rows, "v binary, o binary").selectExpr("CAST(v AS STRING) s", "CAST(o AS STRING) t")
    selectors = [
        "s = 'red'", "s <> 'red'", "NOT s = 'red'", "s = 'r\ufffd'", "s <> 'r\ufffd'", "s = t", "s <> t",
        "s IN ('red', 'x')", "s NOT IN ('red', 'r\ufffd')", "s LIKE 'r_'",
        "s LIKE '_'", "s LIKE '__%'", "s LIKE '%\ufffd'", "s LIKE 'r%'",
        "s LIKE '%x'", "s LIKE '%e%'", "s LIKE 'r%d'", "s IS NULL", "s LIKE '______'", "s LIKE 'a_a%'",
    ]  # fmt: skip
    read = [[None if v is None else v.decode("utf-8", "replace") for v in row] for row in rows]
    for strategy in STRATEGIES:
        got = _all(frame, [(one, {"strategy": strategy}) for one in selectors])
        for selector, truths in zip(selectors, got, strict=True):
            matcher = mqsel.compile(selector, dialect=JMS, schema=["s", "t"])
            wanted = [{"TRUE": True, "FALSE": False, "UNKNOWN": None}[matcher.evaluate(row).name] for row in read]
            assert truths == wanted, (selector, strategy)


VARIANT = {"n": 5, "f": 2.5, "t": "7", "w": "red", "o": True, "z": None, "it's": 1, "in": {"deep": 3}, "big": 1e20}


@pytest.mark.filterwarnings("ignore:.* cannot be read")  # of which there are some on purpose
def test_variants_are_read_as_texts_are(spark: Any) -> None:
    """A variant has no type of its own: what is declared is read from the text of its value, as from a map of texts."""
    frame = spark.createDataFrame([(json.dumps(VARIANT),)], "j string").selectExpr("parse_json(j) AS v")
    kinds = {"n": "int64", "f": "float64", "t": "int32", "w": "string", "o": "boolean", "z": "int64", "big": "float64"}
    where = layout(members="v", types={**kinds, "none": "int64"})
    text = "n = 5 AND f = 2.5 AND t = 7 AND w LIKE 'r_d' AND o AND z IS NULL AND none IS NULL AND big > 1e19"
    for strategy in STRATEGIES:
        assert _truths(frame, text, strategy, properties=where) == [True]
        inner = layout({"d": ("v.in.deep", "int64"), "i": ("v.it's", "int64")})
        assert _truths(frame, "d = 3 AND i = 1", strategy, properties=inner) == [True]
        wrong = layout(members="v", types={"w": "int64", "o": "int64", "f": "int64"})
        assert _truths(frame, "w IS NULL AND o IS NULL AND f IS NULL", strategy, properties=wrong) == [True]
    with pytest.raises(errors.PropertyTypeError, match=r"'n' is variant: a property has no such type\n.*declare it as"):
        column("n = 5", frame, properties=layout(members="v"))


TEXTS = ["5", " 5", "5.0", "abc", "", None, "+7", "9223372036854775808", "1e3", "NaN", "-Infinity", "1d", "true", "t"]


DECLARED = ["int32", "int64", "float64", "float32", "boolean", "bytes", "string"]
PLAIN: dict[type, Any] = {Int32: int, Float32: float, bytearray: bytes}


@pytest.mark.filterwarnings("ignore:.* cannot be read")  # of which there are some on purpose
def test_declared_types_read_texts_as_records_do(spark: Any) -> None:
    """map<string,string>, binary headers: a text reads as `mqsel.formats.records` reads it, or is NULL and counted."""
    rows = [({"x": text}, None if text is None else [("x", b"0"), ("x", text.encode())]) for text in TEXTS]
    frame = spark.createDataFrame(rows, "m map<string,string>, headers array<struct<key string, value binary>>")
    for members in ("m", "headers"):
        kinds = [kind for kind in DECLARED if members == "m" or kind != "bytes"]  # bytes of a header are its bytes
        where = [layout(members=members, types={"x": kind}) for kind in kinds]
        typed = [
            properties(frame, ["x"], properties=one)[0].alias(kind) for kind, one in zip(kinds, where, strict=True)
        ]
        found = frame.select(*typed).collect()
        truths = _all(
            frame,
            [("x IS NULL", {"properties": one, "strategy": strategy}) for one in where for strategy in STRATEGIES],
        )
        for number, kind in enumerate(kinds):
            read = records.reader("lenses", types={"x": kind})
            wanted = [read({"properties": {"x": text}}).get("x") for text in TEXTS]
            plain = [
                [PLAIN.get(type(v), lambda same: same)(v) for v in values]
                for values in (wanted, [r[number] for r in found])
            ]
            assert repr(plain[0]) == repr(plain[1]), (kind, members)
            assert truths[2 * number] == truths[2 * number + 1] == [value is None for value in wanted], (kind, members)
        (seen,) = profile("x IS NULL", frame, properties=where[0], dialect=JMS).properties
        assert (seen.present, seen.missing, seen.unread) == (2, 1, len(TEXTS) - 3)


def test_texts_without_a_declared_type_never_equal_numbers(spark: Any) -> None:
    """The rules of the language hold: '3000' > 2500 is FALSE; the warning says what to declare."""
    frame = spark.createDataFrame([({"weight": "3000"},)], "props map<string,string>")
    where = layout(members="props")
    with pytest.warns(
        UserWarning, match=r"'weight' is a string in every row: compared with a number it never matches; "
    ):
        assert _truths(frame, "weight > 2500", properties=where) == [False]
    assert _truths(frame, "weight > 2500", properties=layout(members="props", types={"weight": "int32"})) == [True]


def test_hints_know_the_first_values(spark: Any) -> None:
    """What a warning says to declare reads the values; what a declaration does not read is counted, once a Column."""
    values = [("3000", "2.5", "heavy", "7", "true"), ("-1", "7", "light", "x", "false"), (None, None, None, "8", None)]
    frame = spark.createDataFrame(values, "whole string, part string, words string, some string, flag string")
    for selector, said in (
        ("whole > 5", "declare what it was: types={'whole': 'int64'}"),
        ("part > 5", "declare what it was: types={'part': 'float64'}"),
        ("words > 5", "it never matches; none of the first 2 values is a number, such as 'heavy'"),
        ("some > 5", "types={'some': 'int64'}, as which 1 of the first 3 values, such as 'x', cannot be read"),
        ("flag = TRUE", "declare what it was: types={'flag': 'boolean'}"),
    ):
        (warning,) = plan(selector, frame).warnings
        assert warning.endswith(said)
        (warning,) = plan({"a": selector, "b": selector}, frame).warnings
        assert warning.endswith(said)
    types = {"whole": "int64", "part": "int32", "some": "int32", "words": "string"}
    wanted = (
        "'part' is declared int32: 1 of the first 2 values, such as '2.5', cannot be read",
        "'some' is declared int32: 1 of the first 3 values, such as 'x', cannot be read",
    )
    text = "whole > 5 AND part > 5 AND some > 5 AND words = 'heavy'"
    assert wanted == plan(text, frame, types=types).warnings == plan({"a": text}, frame, types=types).warnings
    assert plan(text, frame.schema, types=types).warnings == ()
    with pytest.warns(UserWarning, match="cannot be read") as caught:
        column(text, frame, types=types)
    assert list(wanted) == [str(one.message) for one in caught]


def test_json_that_names_its_types(spark: Any, tmp_path: Path) -> None:
    """`{"int32": 3000}` as Spark reads it is no number, whatever is declared: warning and error say what reads it."""
    typed, plain = '{"weight": {"int32": 3000}}\n', '{"weight": 3000}\n'
    for name, lines in (("mixed", typed * 19 + plain), ("typed", typed * 20)):
        (tmp_path / f"{name}.json").write_text(lines, encoding="utf-8")
    reads = "its values name their types, as in {\"int32\": 5}: read the files by spark.read.format('mqsel')"
    mixed = spark.read.json(str(tmp_path / "mixed.json"))
    (warning,) = plan("weight > 2500", mixed).warnings
    assert warning == f"'weight' is a string in every row: compared with a number it never matches; {reads}"
    (warning,) = plan("weight > 2500", mixed, types={"weight": "int64"}).warnings
    said = "'weight' is declared int64: 19 of the first 20 values, such as '{\"int32\": 3000}', cannot be read; "
    assert warning == said + reads
    with pytest.raises(
        errors.PropertyTypeError, match=r"is struct<int32:bigint>.*\n  hint: its values name their types"
    ):
        column("weight > 2500", spark.read.json(str(tmp_path / "typed.json")))
    spark.dataSource.register(mqsel.spark.DataSource)
    source = spark.read.format("mqsel").option("selector", "weight > 2500").option("columns", "weight int")
    for name in ("mixed", "typed"):
        assert source.load(str(tmp_path / f"{name}.json")).count() == 20


KINDS = {"boolean": True, "byte": 1, "short": 2, "integer": 3, "long": 1 << 40, "float": 0.5, "double": 2.5}
UNION = (
    "propertyType string, boolean boolean, byte tinyint, short smallint, integer int, long bigint, float float, "
    "double double, string string, bytes binary"
)


def _property(kind: str, value: Any) -> tuple[Any, ...]:
    return (kind, *(value if kind == one else None for one in (*KINDS, "string", "bytes")))


def _connect(spark: Any) -> Any:
    values = [*KINDS.items(), ("string", "red"), ("bytes", b"\1"), ("null-value", None), ("unheard-of", None)]
    rows = [
        ("ID:1", 2, "car", 4, {"x": _property(kind, value), "y": _property("integer", 3)}) for kind, value in values
    ]
    rows += [("ID:2", 1, "", 4, {}), ("ID:3", 2, None, None, {"x": None})]
    pairs = itertools.product(((*values, ("double", 3.0), ("string", "blue"))), repeat=2)
    rows += [("ID:4", 1, "car", 4, {"x": _property(*one), "y": _property(*other)}) for one, other in pairs]
    kinds = f"messageID string, deliveryMode int, type string, priority int, properties map<string, struct<{UNION}>>"
    return spark.createDataFrame(rows, kinds)


SELECTORS = [
    "x = 3", "x > 1.5", "x <> 'red'", "x = 'red'", "x", "NOT x", "x IS NULL", "x BETWEEN 1 AND 3", "x IN ('red')",
    "x LIKE 'r%'", "x + 1 > 3", "-x < 0", "x / 2 = 1", "NOT (x = 5)", "x = y", "x + y > 6", "x NOT IN ('a')",
    "x <> y AND NOT (x > y)", "x / y = 1 OR x = y + x", "y BETWEEN x AND 3", "x + y + z > 6",
    "JMSDeliveryMode = 'PERSISTENT' AND JMSType = 'car'", "JMSMessageID LIKE 'ID:%' AND JMSPriority > 3 OR x = 3",
]  # fmt: skip


@pytest.mark.parametrize("dialect", [JMS, mqsel.IBM_JMS], ids=["JMS", "IBM_JMS"])
def test_connect_records_have_a_type_in_each_row(spark: Any, dialect: Any) -> None:
    """Confluent's union: both strategies give what the reader of records and the machine give, for every type."""
    frame = _connect(spark)
    names = ["x", "y", "z", "JMSDeliveryMode", "JMSType", "JMSMessageID", "JMSPriority"]
    read = records.reader("connect", names)
    messages = []
    for row in frame.collect():
        made = row.asDict(recursive=True)
        made["properties"] = {
            k: v for k, v in made["properties"].items() if v is not None and v["propertyType"] != "unheard-of"
        }
        messages.append(read(made))
    plans = {
        (selector, strategy): plan(selector, frame, properties="connect", dialect=dialect, strategy=strategy)
        for selector in SELECTORS
        for strategy in (None, "arrow")
    }
    got = frame.select(*[made.column() for made in plans.values()]).collect()
    for number, (selector, strategy) in enumerate(plans):
        matcher = mqsel.compile(selector, dialect=dialect)
        wanted = [{"TRUE": True, "FALSE": False, "UNKNOWN": None}[matcher.evaluate(one).name] for one in messages]
        assert [row[number] for row in got] == wanted, (selector, strategy)
    by_python = {selector for selector in SELECTORS if plans[selector, None].strategy == "arrow"}
    too_long = {"x / y = 1 OR x = y + x", "y BETWEEN x AND 3", "x <> y AND NOT (x > y)"}  # in some dialect
    assert {"x + y + z > 6"} <= by_python <= {"x + y + z > 6", *too_long}


@pytest.mark.filterwarnings("ignore:.* cannot be read")  # of which there are some on purpose
def test_connect_records_with_declared_types(spark: Any) -> None:
    """A declared type makes one column of a union, and makes two of them comparable natively."""
    frame = _connect(spark)
    where = layout(record="connect", types={"x": "int64", "y": "int64"})

    assert plan("x = y", frame, properties=where, dialect=JMS).strategy == "native"
    assert _truths(frame, "x = y", properties=where)[:4] == [None, False, False, True]
    with pytest.raises(errors.PropertyTypeError, match=r"'x' has a type of its own in each row: a column has one"):
        properties(frame, ["x"], properties="connect")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_neighbours_name_the_type(spark: Any, strategy: str) -> None:
    """Pulsar's `x_jsmtype`: a text is read as what its neighbour says, and is a string without one."""
    pairs = [("5", "int"), ("5", None), ("5.5", "double"), ("true", "boolean"), ("x", "int"), ("x", "string")]
    rows = [({"x": text, **({"x_jsmtype": kind} if kind else {})},) for text, kind in pairs]
    frame = spark.createDataFrame(rows, "properties map<string,string>")

    assert _truths(frame, "x > 4", strategy, properties="pulsar") == [True, False, True, False, None, False]
    assert _truths(frame, "x = '5' OR x", strategy, properties="pulsar") == [False, True, False, True, None, False]


def test_a_record_within_a_column(spark: Any) -> None:
    """`within` names the column that holds the record."""
    frame = spark.sql("SELECT named_struct('type', 'car', 'properties', map('a', 'b')) AS value")

    assert _truths(frame, "JMSType = 'car' AND a = 'b'", properties=layout(record="lenses", within="value")) == [True]


def test_types_stand_beside_the_properties(spark: Any) -> None:
    """`types=` declares, whatever says where the properties are; it is what the warnings name, also for headers."""
    frame = spark.createDataFrame(
        [({"weight": "3000", "frail": "true"}, [("color", b"red")], "3000")],
        "props map<string,string>, headers array<struct<key string, value binary>>, weight string",
    )
    props, headers = layout(members="props"), layout(members="headers")
    for where, selector, hint in (
        (None, "weight > 2500", {"weight": "int64"}),
        (props, "weight > 2500", {"weight": "int64"}),
        (props, "frail = TRUE", {"frail": "boolean"}),
        (headers, "color = 'red'", {"color": "string"}),
        ({"w": "props.weight"}, "w > 2500", {"w": "int64"}),
    ):
        with pytest.warns(UserWarning, match=rf"never matches; declare what it was: types={hint}"):
            assert _truths(frame, selector, properties=where) == [False]
        for strategy in STRATEGIES:
            assert _truths(frame, selector, strategy, properties=where, types=hint) == [True]
        (seen,) = profile(selector, frame, properties=where, types=hint, dialect=JMS).properties
        assert [*seen.types] == [*hint.values()]
    assert frame.select(properties(frame, ["weight"], types={"weight": "int32"})).first() == (3000,)
    for wrong, words in (({"weight": "long"}, "'weight' is declared 'long'"), ("int", "types is a Python str")):
        with pytest.raises(errors.ArgumentError, match=words):
            column("weight > 1", frame, types=wrong)  # type: ignore[arg-type]


def test_a_slip_in_a_mapping(spark: Any) -> None:
    """A key that is near to a property without a column, or without a test that fits, is an error; others are not."""
    frame = spark.createDataFrame([("red", "3")], "c string, weight string")
    for where, types, key in (({"colour": "c"}, None, "colour"), (None, {"Weight": "int64"}, "Weight")):
        with pytest.raises(errors.ArgumentError, match=rf"does not read '{key}': did you mean '(color|weight)'"):
            column("color = 'red' OR weight > 1", frame, properties=where, types=types)
    legs = spark.createDataFrame([("5", "6")], "leg1Amount string, leg2Amount string")
    with pytest.warns(UserWarning, match=r"'leg2Amount' is a string in every row: .*'leg2Amount': 'int64'"):
        column("leg2Amount > 5", legs, types={"leg1Amount": "float64"})
    nested = spark.sql("SELECT named_struct('Weight', '5') AS m, '7' AS colour")
    for where in (layout({"colour": "colour"}), layout(members="m", types={"Weight": "int64"})):
        with pytest.warns(UserWarning, match="NULL in every row"):
            column("color = 'red' OR weight > 1", nested, properties=where)
    shared = {"color": "c", "colour": "c", "weight1": "weight"}
    assert _truths(frame, "color = 'red' AND weight = '3'", properties=shared, types={"weight1": "int32"}) == [True]


SCHEMA = "color string, weight int"


def test_what_selectors_and_rows_may_be(spark: Any) -> None:
    """Compiled Matchers, names of dialects and schemas as texts are taken."""
    frame = spark.createDataFrame([("red", 3)], SCHEMA)
    matcher = mqsel.compile("color = 'red' AND weight > 2", dialect=JMS)
    made = [
        column(matcher, frame),
        *(column(matcher.selector, SCHEMA, dialect="jms", strategy=strategy) for strategy in STRATEGIES),
    ]
    assert frame.select(*made).first() == (True, True, True)
    assert plan(matcher, frame).dialect == plan("", frame, dialect="JMS").dialect == JMS
    assert profile(matcher, frame).selector == matcher.selector
    for made_wrong, words in (
        (lambda: column(matcher, frame, dialect="TIBCO_EMS"), "the Matcher was compiled as mqsel.JMS"),
        (lambda: column("a = 1", frame, dialect="db2"), "there is no dialect 'db2': choose IBM_MQ, "),
        (lambda: column("a = 1", "a integre"), "the schema 'a integre' cannot be read: "),
    ):
        with pytest.raises(errors.ArgumentError, match=words):
            made_wrong()


def test_aliases_of_a_join(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Of two columns of one name the alias tells which; without it the error says so, and nobody else says anything."""
    left = spark.createDataFrame([(1, "red", {"a": "x"})], "n int, color string, m map<string,string>").alias("l")
    right = spark.createDataFrame([(1, "blue", {"a": "y"})], "n int, color string, m map<string,string>").alias("r")
    both = left.join(right, left.n == right.n)
    for strategy in STRATEGIES:
        assert _truths(both, "c = 'red' AND d = 'blue'", strategy, properties={"c": "l.color", "d": "r.color"}) == [
            True
        ]
        assert _truths(both, "l.color = 'red' AND r.m.a = 'y'", strategy, dialect=mqsel.IBM_MQ) == [True]
    with pytest.raises(errors.PropertyTypeError, match=r"2 columns are called 'color'\n.*'color': 'a.color'"):
        column("color = 'red'", both)
    with pytest.raises(errors.ArgumentError, match=r"'c' is mapped to 'x.color': there is no such column"):
        column("c = 'red'", both, properties={"c": "x.color"})
    assert capfd.readouterr().err == ""


def test_doubled_backticks_are_one(spark: Any) -> None:
    """A path is written as Spark writes it: in backticks a doubled one is part of the name."""
    frame = spark.sql("SELECT named_struct('a`.b', 7) AS `od``d`")

    assert _truths(frame, "n = 7", properties={"n": "`od``d`.`a``.b`"}) == [True]


def test_records_that_nobody_decoded(spark: Any) -> None:
    """Rows of Kafka are no records of a connector before their value is decoded: the error says how."""
    frame = spark.createDataFrame([(b"", b"{}")], "key binary, value binary")
    for where in ("connect", layout(record="connect", within="value")):
        with pytest.raises(
            errors.ArgumentError, match=r"aren't records of 'connect'.*\n  hint: .*'value' by from_avro"
        ):
            column("JMSPriority > 4", frame, properties=where)
    with pytest.raises(errors.ArgumentError, match=r"none of the columns .*\n  hint: name the column that holds"):
        column("JMSPriority > 4", "weight int", properties="pulsar")


def test_wrong_layouts(spark: Any) -> None:
    """A schema, a type, a path or rows that cannot be: one ArgumentError each, on the driver."""
    frame = spark.sql("SELECT 1 AS a")
    for made, words in (
        (lambda: layout(record="kafka"), "there is no record schema 'kafka': choose connect, "),
        (lambda: layout(types={"a": "long"}), "'a' is declared 'long': there is no such type"),
        (lambda: layout({"a": 5}), "the place of 'a' is 5: expected a path"),
        (lambda: column("a = 1", frame, properties=5), "properties is a Python int: expected paths by name"),
        (lambda: column("a = 1", frame, properties={"a": "`b"}), "the path '`b' has a backtick without its pair"),
        (lambda: column("a = 1", frame, properties=layout(members="b")), "there is no such column"),
        (lambda: column("a = 1", [1]), "the rows are a Python list: expected a DataFrame or a schema"),
        (
            lambda: column("a = 1", frame, strategy="scenic"),
            "strategy is 'scenic': expected 'native' or 'arrow', or None",
        ),
    ):
        with pytest.raises(errors.ArgumentError) as caught:
            made()
        assert words in str(caught.value)


def test_errors_of_spark_stay_its_own(spark: Any) -> None:
    """Asking whether a name is an alias leaves Spark's logger what it was: its next error was a TypeError."""
    from pyspark.errors import AnalysisException

    frame = spark.createDataFrame([(1,)], "n int").alias("side")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        column("side.n = 1 OR other.x = 2", frame)
    with pytest.raises(AnalysisException):
        spark.sql("SELECT CAST(2 AS STRUCT<a: INT>)")
