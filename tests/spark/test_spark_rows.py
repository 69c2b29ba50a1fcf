"""Rows of a DataFrame by a Matcher, dates as texts, and columns that a layout hides: no answer is wrong in silence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import mqsel

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
pytest.importorskip("pyarrow")

from mqsel.spark import any_of, column, layout, plan, route, rows

TYPED = """SELECT * FROM VALUES
 (1, 2147483647, float(16777216), cast(5 AS decimal(5,0)), named_struct('b', 3), map('k', 'v'), named_struct('x', 1)),
 (2, -2147483648, float(0.1), cast(7 AS decimal(5,0)), named_struct('b', 4), map('k', 'w'), named_struct('x', 2))
 AS t(id, i, f, dec, st, m, usr)"""
SELECTED = {
    "i + i < 0": [1],
    "-i < 0 AND id = 2": [2],
    "f = 16777217": [1],
    "dec = 5": [1],
    "st.b = 3": [1],
    "st.b IS NULL": [],
    "m.k = 'v'": [1],
    "m.k <> 'v'": [2],
    "x = 2": [2],
}


def test_rows_are_those_of_the_column(spark: Any) -> None:
    """Types, nested fields, keys of maps and decimals are read as `column` reads them; Rows come back as they are."""
    frame = spark.sql(TYPED).coalesce(1)

    selected = {text: rows(mqsel.compile(text), frame).map(lambda row: row.id).collect() for text in SELECTED}

    assert selected == SELECTED
    assert rows("w = 'w'", frame, properties={"w": "m.k"}).collect() == frame.filter("id = 2").collect()
    assert rows("st.b = 3", frame).collect() == frame.filter("id = 1").collect()
    for text in ("st.b IS NULL", "m.k = 'v'", "x = 2"):
        with pytest.raises(Exception, match="leads into the field"):
            frame.rdd.mapPartitions(mqsel.compile(text).filter).collect()


DAYS = ["DATE'2026-01-01'", "DATE'2026-01-02'", "DATE'0000-01-01'", "DATE'-0001-01-01'", "DATE'+10000-01-01'", "NULL"]
TEXTS = [
    "2026-01-02",
    "2026-1-2",
    "2026-02-30",
    "20260102",
    "2026-W01-5",
    "0000-01-01",
    "-0001-01-01",
    "+10000-01-01",
    "",
]


def date_selectors() -> list[str]:
    """List tests of a date that is read as a text."""
    quoted = [f"'{text}'" for text in TEXTS]
    single = [f"day {sign} {text}" for text in quoted for sign in ("=", "<>")] + ["'2026-01-01' = day"]
    lists = [
        f"day {word} ({', '.join(some)})" for word in ("IN", "NOT IN") for some in (quoted, quoted[:1], quoted[1:3])
    ]
    nested = ["NOT (day = '2026-01-02')", "day = '2026-01-02' OR day IS NULL", "day LIKE '2026-%'", "day = other"]
    return [*single, *lists, *nested]


def test_dates_as_texts_are_compared_as_texts(spark: Any) -> None:
    """Whether they are compared as dates or not, the truth of each row is that of comparing texts."""
    values = ", ".join(f"({day}, '2026-01-02')" for day in DAYS)
    frame = spark.sql(f"SELECT * FROM VALUES {values} AS t(day, other)").coalesce(1)
    texts = frame.selectExpr("CAST(day AS STRING) AS day", "other")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = [column(text, frame, types={"day": "string"}) for text in date_selectors()]

    expected = texts.select(*[column(text, texts, strategy="arrow") for text in date_selectors()]).collect()

    assert frame.select(*columns).collect() == expected


def test_readers_know_dates(spark: Any, tmp_path: Path) -> None:
    """Parquet skips row groups for `=` and IN, of a column and of a set."""
    days = "date_add(DATE'2026-01-01', CAST(id div 1000 AS INT)) AS day"
    written = spark.range(20_000, numPartitions=1).selectExpr("id", days).write
    written.option("parquet.block.size", "20000").parquet(str(tmp_path / "days"))
    frame = spark.read.parquet(str(tmp_path / "days"))
    types = {"day": "string"}

    def rows_read(selected: Any) -> int:
        plan = frame.filter(selected)._jdf.queryExecution()
        plan.toRdd().count()
        return int(plan.executedPlan().collectLeaves().apply(0).metrics().apply("numOutputRows").value())

    for made in (
        column("day = '2026-01-03'", frame, types=types),
        column("day IN ('2026-01-03', '2026-01-04')", frame, types=types),
        any_of({"a": "day = '2026-01-03'", "b": "day IN ('2026-01-04', '2026-01-05') AND id > 5"}, frame, types=types),
    ):
        assert 1000 <= rows_read(made) <= 10_000
    assert plan("day = '2026-01-03'", frame, types=types).sql == "`day` = date_from_unix_date(20456)"


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "day = '2026-1-2'",
            "'day' is a date, as a text such as '2026-01-31': it never is '2026-1-2'; write such a text",
        ),
        ("day NOT IN ('2026-01-02', 'x')", "it never is 'x'"),
        ("day LIKE '2026-01-%'", "LIKE reads every row; list days by IN, or declare types={'day': 'int64'}"),
    ],
)
def test_tests_of_dates_that_surprise(text: str, words: str) -> None:
    """A text that no date is, and a test for which every row is read, are each one warning."""
    for made in (column, lambda one, *args, **named: route({"a": one}, *args, **named)):
        with pytest.warns(UserWarning, match="'day'") as caught:
            made(text, "day date", types={"day": "string"})
        assert [words in str(one.message) for one in caught] == [True]


def hidden(name: str, members: str = "properties") -> str:
    """Return the warning of a column that a layout hides."""
    return (
        f"'{name}' is read from '{members}', as members={members!r} says, not from the column '{name}'; "
        f"if that is meant: layout({{'{name}': '{name}'}}, members={members!r})"
    )


@pytest.mark.usefixtures("spark")
def test_columns_that_members_hide() -> None:
    """Map, struct and array of members: one warning for each column, with what to type, which ends it."""
    frames = {
        "properties": "day string, id int, properties map<string, string>",
        "st": "day string, id int, st struct<color: string>",
        "headers": "day string, id int, headers array<struct<key: string, value: string>>",
    }
    text = "day = 'd1' AND color = 'blue'"
    for members, schema in frames.items():
        for made in (column, lambda one, *args, **named: route({"a": one}, *args, **named)):
            with pytest.warns(UserWarning, match="not from the column") as caught:
                made(text, schema, properties=layout(members=members))
            assert [str(one.message) for one in caught] == [hidden("day", members)]
        column(text, schema, properties=layout({"day": "day"}, members=members))


@pytest.mark.usefixtures("spark")
def test_what_members_do_not_hide() -> None:
    """The column of the members itself, and a property that no column has, are no cause for a warning."""
    where = layout(members="properties")

    column("color = 'blue' AND properties IS NULL", "day string, properties map<string, string>", properties=where)


@pytest.mark.parametrize("name", ["members", "within"])
def test_a_layout_has_one_column_of_members(name: str) -> None:
    """A list of them is an error that says how else to name properties."""
    with pytest.raises(mqsel.errors.ArgumentError, match=f"{name} is a Python list: expected the path of one column"):
        layout(**{name: ["properties", "more"]})  # type: ignore[arg-type]
