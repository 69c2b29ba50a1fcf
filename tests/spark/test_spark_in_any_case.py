"""Names without regard to case on Spark: columns, fields of structs, members, sets of several dialects, files."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

import mqsel

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")

from mqsel.spark import DataSource, column, layout, mq_message, plan, profile, profile_set, route

if TYPE_CHECKING:
    from pathlib import Path

AZURE = mqsel.AZURE_SERVICE_BUS
TEXT = "Color = 'red' AND sys.Label LIKE 'a%'"
CLASH = "differ in case alone: expected one of them, since this dialect reads names without regard to case"


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    """Return rows whose columns have names in some case, also as fields of a struct."""
    rows = spark.createDataFrame(
        [("red", "ab", 1), ("blue", "ab", 2), (None, "ab", 3)], "cOLOR string, l string, n int"
    )
    return rows.selectExpr("cOLOR", "l AS `SYS.label`", "n", "struct(cOLOR AS cOlOr, n) AS m")


def _set(dialect: str = "JMS") -> mqsel.SelectorSet[str]:
    exact = {name: mqsel.compile(f"{name} = 'red'", dialect="JMS") for name in ("color", "cOLOR", "cOlOr")}
    return mqsel.SelectorSet({"a": mqsel.compile(TEXT, dialect=AZURE), "b": "colour = 1", **exact}, dialect=dialect)


def test_columns(frame: Any) -> None:
    """A column, a field and a member are found in any case, and a place that somebody mapped."""
    nested = frame.selectExpr("cOLOR", "named_struct('LABEL', `SYS.label`) AS Sys", "n")
    for rows in (frame, nested):
        assert [row.n for row in rows.filter(column(TEXT, rows, dialect=AZURE)).collect()] == [1]
    hides = pytest.warns(UserWarning, match="not from the column")
    for places, warns in ((layout(members="m"), hides), ({"COLOR": "m.cOlOr"}, nullcontext())):
        with warns:
            asked = column("Color = 'red'", frame, dialect=AZURE, properties=places)
        assert [row.n for row in frame.filter(asked).collect()] == [1]


@pytest.mark.parametrize("is_case_sensitive", ["true", "false"])
def test_two_columns_are_an_error(spark: Any, frame: Any, is_case_sensitive: str) -> None:
    """Two columns of one wanted name are an error that names both, whatever Spark's own setting; others are not."""
    two = frame.selectExpr("cOLOR", "cOLOR AS color", "n")
    spark.conf.set("spark.sql.caseSensitive", is_case_sensitive)
    try:
        for ask in (column, profile):
            with pytest.raises(mqsel.PropertyTypeError, match=f"'cOLOR' and 'color' {CLASH}"):
                ask("Color = 'red'", two, dialect=AZURE)
        with pytest.raises(mqsel.PropertyTypeError, match=f"'cOLOR' and 'color' {CLASH}"):
            route(_set(), two)
        column("n = 1", two, dialect=AZURE)
    finally:
        spark.conf.set("spark.sql.caseSensitive", "false")


@pytest.mark.usefixtures("spark")
def test_keys_of_maps_refuse() -> None:
    """Where a property would be a key of a map, or of an array, it is refused; a place says which key it is."""
    for held in ("map<string, string>", "array<struct<key: string, value: string>>"):
        rows = f"headers {held}, n int"
        with pytest.raises(mqsel.PropertyTypeError, match="'Color' would be a key of"):
            plan(TEXT, rows, dialect=AZURE, properties=layout(members="headers"))
        mapped = {"COLOR": "headers.color", "sys.label": "headers.l"}
        assert not plan(TEXT, rows, dialect=AZURE, properties=mapped).warnings


@pytest.mark.usefixtures("spark")
def test_raw_messages_refuse() -> None:
    """IBM MQ messages are read by names as they are spelled: for a selector and for a set they are refused."""
    for selects in ({"a": TEXT}, _set()):
        dialect = AZURE if isinstance(selects, dict) else None
        with pytest.raises(mqsel.ArgumentError, match="format 'mq' are read by names as they are spelled"):
            plan(selects, "m binary", dialect=dialect, properties=mq_message("m"))


def test_sets(frame: Any) -> None:
    """In a set of several dialects each key reads names by its own, as `match` of the set does; a profile counts so."""
    selectors = _set()
    hides = pytest.warns(UserWarning, match="not from the column")
    for rows, places, warns in ((frame, None, nullcontext()), (frame, layout(members="m"), hides)):
        with warns, pytest.warns(UserWarning, match="no column has"):
            keys = route(selectors, rows, properties=places)
        named = ("cOLOR", "SYS.label") if places is None else ("cOlOr",)
        for row in rows.withColumn("keys", keys).collect():
            values = dict(zip(named, (row.cOLOR, row["SYS.label"]), strict=False))
            assert row["keys"] == selectors.match(values)
    counted = profile_set(selectors, frame)
    found = {one.key: (one.selected, one.unknown, one.missing) for one in counted.outcomes}
    assert found == {
        "a": (1, 1, ""),
        "b": (0, 3, "colour"),
        "color": (0, 3, "color"),
        "cOLOR": (1, 1, ""),
        "cOlOr": (0, 3, "cOlOr"),
    }


def test_files(spark: Any, tmp_path: Path) -> None:
    """The data source reads lines in any case, and refuses on the driver what is read by name."""
    messages = [{"color": "red", "SYS.label": "ab", "N": 1}, {"color": "red", "Color": "red", "N": 2}]
    (tmp_path / "m.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in messages))
    spark.dataSource.register(DataSource)
    options = {"selector": TEXT, "dialect": "AZURE_SERVICE_BUS", "path": str(tmp_path), "errors": "skip"}
    read = spark.read.format("mqsel").options(**options).schema("Color string, n bigint").load()
    assert [tuple(row) for row in read.collect()] == [("red", 1)]
