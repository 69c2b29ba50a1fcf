"""What many selectors do with rows: `compare` and `profile_set` say what Matchers say, one by one."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from frames import drawn, frame_of

import mqsel
from mqsel import errors
from mqsel.language.dialect import JMS

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from mqsel.spark import compare, layout, mq_message, profile, profile_set

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = [("eu-west", 120, "5"), ("eu", 90, "9"), ("us", None, "7"), (None, 1, None)]
KINDS = "region string, weight int, n string"
SELECTORS = {
    "eu": "region LIKE 'eu%' AND weight > 100",
    "texts": "n > 6",
    "nowhere": "region = 'eu' AND nowhere = 5 AND weight > 1",
    "all": "TRUE",
    "arithmetic": "weight / 0 > 1",
}


def test_compare(spark: Any) -> None:
    """Invariant: kept, gained and lost are what two loops over Matchers select: both, only the new, only the old."""
    rng = random.Random("compare")
    kinds, rows, cases = drawn(rng, "JMS")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = frame_of(spark, kinds, rows).coalesce(1)
        texts = {str(number): text for number, (text, _) in enumerate(cases)}
        old = mqsel.SelectorSet({key: text for key, text in texts.items() if key != "1"}, dialect=JMS)
        changed = {**texts, "2": texts["3"], "4": "TRUE"}
        new = {key: mqsel.compile(text, dialect=JMS) for key, text in changed.items() if key != "0"}
        found = {row[0]: tuple(row)[1:] for row in compare(old, new, frame).collect()}
    finally:
        spark.conf.unset("spark.sql.caseSensitive")

    def selected(text: str | None) -> set[int]:
        if text is None:
            return set()
        matcher = mqsel.compile(text, dialect=JMS, schema=list(kinds.items()))
        return {number for number, row in enumerate(rows) if matcher.matches(row)}

    wanted = {}
    for key in texts:
        one, two = selected(old.get(key)), selected(changed[key] if key in new else None)
        wanted[key] = len(one & two), len(two - one), len(one - two)
    assert found == wanted
    assert sum(gained for _, gained, _ in found.values()) and sum(lost for *_, lost in found.values())


def test_compare_dialects_and_bad_input(spark: Any) -> None:
    """A changed dialect is two sets; keys of two types, and streams, are refused."""
    frame = spark.createDataFrame([(None, 5)], "a int, b int")
    texts = {1: "NOT (a BETWEEN 1 AND 2) OR a = b", 2: "b = 5"}
    old = mqsel.SelectorSet(texts, dialect=mqsel.IBM_MQ.replace(between_null="literal"))
    new = mqsel.SelectorSet(texts, dialect=mqsel.IBM_MQ.replace(between_null="expand"))

    assert {row[0]: tuple(row)[1:] for row in compare(old, new, frame).collect()} == {1: (0, 0, 1), 2: (1, 0, 0)}
    assert [tuple(row) for row in compare({}, {"x": "b = 5"}, frame).collect()] == [("x", 0, 1, 0)]
    with pytest.raises(errors.ArgumentError, match="both str and int"):
        compare({"a": "TRUE"}, {1: "TRUE"}, frame)
    with pytest.raises(errors.ArgumentError, match="a comparison needs all rows: found a stream"):
        compare(old, new, "a int")


def test_profile_set(spark: Any) -> None:
    """What each selector got, and why not; a mismatch, a property that is nowhere, and arithmetic are told apart."""
    frame = spark.createDataFrame(ROWS, KINDS)
    found = profile_set(SELECTORS, frame)

    assert [(one.key, one.selected, one.unknown, one.mismatched, one.missing) for one in found.outcomes] == [
        ("eu", 1, 0, 0, ""),
        ("texts", 0, 1, 3, ""),
        ("nowhere", 0, 1, 0, "nowhere"),
        ("all", 4, 0, 0, ""),
        ("arithmetic", 0, 0, 0, ""),
    ]
    assert found.rows == 4
    assert str(found).splitlines()[0] == "4 rows, 3 of 5 selectors got nothing"
    assert str(found).splitlines()[3].split() == ["0", "1", "0", "nowhere", "nowhere"]
    assert found.frame.filter("missing IS NOT NULL").collect()[0]["key"] == "nowhere"
    empty = profile_set(SELECTORS, frame.limit(0))
    assert (empty.rows, {one.selected for one in empty.outcomes}) == (0, {0})
    assert profile_set({}, frame).outcomes == ()


def test_profile_set_agrees_with_matchers_and_profiles(spark: Any) -> None:
    """Invariant: selected is what Matchers select; of a single test all numbers are those of `profile`."""
    rng = random.Random("profile set")
    kinds, rows, cases = drawn(rng, "IBM_MQ")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = frame_of(spark, kinds, rows).repartition(2)
        matchers = {number: mqsel.compile(text, dialect=one) for number, (text, one) in enumerate(cases)}
        found = profile_set(matchers, frame).outcomes
        name = next(name for name, kind in kinds.items() if kind not in ("null", "boolean", "bytes"))
        single = f"{name} > 5"
        (one,) = profile_set({"x": single}, frame).outcomes
        part = profile(single, frame).parts[0]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    for got, (text, dialect) in zip(found, cases, strict=True):
        matcher = mqsel.compile(text, dialect=dialect, schema=list(kinds.items()))
        truths = Counter(matcher.evaluate(row).name for row in rows)
        assert got.selected == truths["TRUE"], text
        assert got.unknown <= truths["UNKNOWN"] <= got.unknown + got.mismatched, text
    assert (one.selected, one.unknown, one.mismatched) == (part.true, part.unknown, part.mismatched)


def test_profile_set_of_odd_input(spark: Any) -> None:
    """Texts by declared types; faulty selectors listed; raw messages and streams refused."""
    frame = spark.createDataFrame([({"n": "3"},), ({"n": "x"},), ({},)], "p map<string, string>")
    where = layout(members="p", types={"n": "int32"})
    found = profile_set({"a": "n = 3", "b": "n ="}, frame, properties=where, errors="skip")

    assert [(one.key, one.selected, one.unknown) for one in found.outcomes] == [("a", 1, 2)]
    assert str(found).splitlines()[-1].startswith("faulty: 'b': unexpected end")
    with pytest.raises(errors.ArgumentError, match="a set is not profiled over raw messages"):
        profile_set({"a": "n = 3"}, spark.createDataFrame([(b"",)], "value binary"), properties=mq_message("value"))
    with pytest.raises(errors.ArgumentError, match="a profile needs all rows"):
        profile_set({"a": "n = 3"}, "n int")
