"""What many selectors do with rows: `compare` and `profile_set` say what Matchers say, one by one."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import frames
import oracle
import pytest
import strategies
from frames import drawn, frame_of
from strategies import JMS_PRESETS
from volumes import volume

import mqsel
from mqsel import errors
from mqsel.language import parser
from mqsel.language.dialect import CHOICES, IBM_MQ, JMS
from mqsel.language.dialects import PLAIN

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from mqsel.spark import compare, layout, mq_message, profile, profile_set
from mqsel.spark.columns import SPARK_TYPES

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


PAIRS = volume(12_000, smoke=12_000)
MIXED = ("int32", "float64", "string", "boolean")  # of a property whose type each row says
BROKEN = (b"\xff", b"caf\xe9", b"a\xed\xa0\x80", b"\xf0\x9f\x98x", b"\xc3")
MEMBERS = {"int32": "integer", "float64": "double", "string": "string", "boolean": "boolean"}
UNION = "struct<propertyType string, integer int, double double, string string, boolean boolean>"


def _profiled(rng: random.Random) -> tuple[dict[str, str], list[dict[str, Any]], dict[int, tuple[str, Any]]]:
    """Draw columns, rows, and selectors of all dialects about them; texts come as bytes, some of them no UTF-8.

    Returns: the type of each column, "" where each row says it; type and value by name for each row; the selectors.
    """
    names = [name for name in strategies.LETTERS["IBM_MQ"].names if not name.startswith("usr.")]
    kinds = {name: rng.choice((*strategies._KINDS, "")) for name in names if rng.random() < 0.9}
    rows: list[dict[str, Any]] = []
    for _ in range(frames.ROWS):
        drawn_kinds = {name: kind or rng.choice((*MIXED, "null")) for name, kind in kinds.items()}
        row = {name: (kind, frames._value(rng, kind)) for name, kind in drawn_kinds.items()}
        for name, (kind, value) in row.items():
            if kind == "string" and value is not None:
                row[name] = kind, rng.choice(BROKEN) if rng.random() < 0.1 else value.encode()
        rows.append(row)
    cases: dict[int, tuple[str, Any]] = {}
    while len(cases) < frames.SELECTORS:
        preset = rng.choice(list(JMS_PRESETS))
        author = strategies._Author(rng, strategies.LETTERS[preset], _read(rng.choice(rows)))
        text = author.selector()
        if author.last_name and len(text) <= 10240:
            choices = ("type_mismatch", "null_arithmetic", "between_null")
            changes = {name: rng.choice(PLAIN.get(name, CHOICES[name])) for name in choices if rng.random() < 0.3}
            cases[len(cases)] = text, JMS_PRESETS[preset].replace(**changes)
    return kinds, rows, cases


def _read(row: dict[str, Any]) -> dict[str, Any]:
    """Read a row as Spark shows it: what is no UTF-8 is U+FFFD, and NULL has no type."""
    made = {name: (kind, value) if value is not None else ("null", None) for name, (kind, value) in row.items()}
    return {
        name: (kind, value.decode(errors="replace") if kind == "string" else value)
        for name, (kind, value) in made.items()
    }


def _columns(spark: Any, kinds: dict[str, str], rows: list[dict[str, Any]]) -> Any:
    """Return the DataFrame of such rows."""
    types = {**SPARK_TYPES, "string": "binary", "null": "void"}
    union = UNION.replace(" string,", " binary,").replace("propertyType binary", "propertyType string")
    schema = ", ".join(f"`{name}` {types[kind] if kind else union}" for name, kind in kinds.items())
    made = []
    for row in rows:
        values = []
        for name, (kind, value) in row.items():
            if kinds[name]:
                values.append(value)
            elif kind == "null":
                values.append(None)
            else:
                values.append({"propertyType": MEMBERS[kind], MEMBERS[kind]: value})
        made.append(tuple(values))
    frame = spark.createDataFrame(made, schema)
    texts = {"string": "CAST({} AS STRING)", "": f"CAST({{}} AS {UNION})"}
    return frame.selectExpr(
        *(f"{texts.get(kind, '{}').format(f'`{name}`')} AS `{name}`" for name, kind in kinds.items())
    )


def test_profile_set_counts_what_evaluate_says(spark: Any) -> None:
    """Invariant: selected and UNKNOWN are what `evaluate` says, mismatched what the oracle does, of rows of any kind.

    A row mismatches that is not selected, and for which a mismatch would have made the complete selector false; it may
    be left out if the selector is ERR.
    """
    rng = random.Random(f"profile set {PAIRS}")
    settings = {"spark.sql.caseSensitive": "true", "spark.sql.execution.arrow.maxRecordsPerBatch": "7"}
    for name, value in settings.items():
        spark.conf.set(name, value)
    pairs = 0
    counted: Counter[str] = Counter()
    try:
        while pairs < PAIRS / 4:
            kinds, rows, cases = _profiled(rng)
            frame = _columns(spark, kinds, rows).repartition(2)
            matchers = {key: mqsel.compile(text, dialect=one) for key, (text, one) in cases.items()}
            where = {name: f"`{name}`" for name in kinds}
            found = profile_set(matchers, frame, properties=where)
            messages = [_read(row) for row in rows]
            present = {name for row in messages for name, (kind, _) in row.items() if kind != "null"}

            assert found.rows == len(rows)
            for got, (text, dialect) in zip(found.outcomes, cases.values(), strict=True):
                node = parser.parse(text, dialect)
                wanted, hidden = [0, 0, 0], 0
                for typed in messages:
                    truth = matchers[got.key].evaluate(strategies.to_message(typed)).name
                    wanted[0] += truth == "TRUE"
                    wanted[1] += truth == "UNKNOWN"
                    is_mismatched = truth != "TRUE" and oracle.meets_mismatch(node, typed, dialect)
                    wanted[2] += is_mismatched
                    hidden += is_mismatched and oracle.evaluate(node, typed, dialect) == "ERR"
                assert [got.selected, got.unknown] == wanted[:2], f"{text!r} [{dialect!r}]\n{kinds}"
                assert wanted[2] - hidden <= got.mismatched <= wanted[2], f"{text!r} [{dialect!r}]\n{kinds}"
                usual = [name for name in matchers[got.key].properties if not name.startswith("usr.")]
                gone = [name for name in usual if name not in present]
                assert got.missing == (gone[0] if gone else ""), f"{text!r} [{dialect!r}]"
                counted.update(dict(zip(("selected", "unknown", "mismatched"), wanted, strict=True)))
            pairs += len(rows) * len(cases)
    finally:
        for name in settings:
            spark.conf.unset(name)
    print(f"{pairs} pairs: {dict(counted)}")
    assert all(counted.values())


def test_profile_set_of_one_test_is_its_profile(spark: Any) -> None:
    """Of a single test all numbers are those of `profile`."""
    rng = random.Random("profile set")
    kinds, rows, _ = drawn(rng, "IBM_MQ")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = frame_of(spark, kinds, rows).repartition(2)
        name = next(name for name, kind in kinds.items() if kind not in ("null", "boolean", "bytes"))
        (one,) = profile_set({"x": f"{name} > 5"}, frame).outcomes
        part = profile(f"{name} > 5", frame).parts[0]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert (one.selected, one.unknown, one.mismatched) == (part.true, part.unknown, part.mismatched)


def test_profile_set_reads_what_only_unknown_depends_on(spark: Any) -> None:
    """What has no part in selecting a row may still be read: it is counted, whatever the set leaves out."""
    frame = spark.createDataFrame([(1, 4), (9, None), (None, 1)], "t tinyint, n int")
    selectors = {"never": "t > 5 AND t < 3", "either": "TRUE OR t > 5", "skipped": "n = 1 AND (TRUE OR t > 5)"}
    found = profile_set({**selectors, "last": "FALSE AND t > 5 OR n = 1"}, frame).outcomes

    assert [(one.key, one.selected, one.unknown) for one in found] == [
        ("never", 0, 1),
        ("either", 3, 0),
        ("skipped", 1, 1),
        ("last", 1, 1),
    ]
    (alone,) = profile_set({"all": "TRUE"}, frame).outcomes
    assert (alone.selected, alone.unknown, alone.missing) == (3, 0, "")
    with pytest.raises(errors.ArgumentError, match="did not keep the texts"):
        profile_set(mqsel.SelectorSet(selectors, keep_text=False), frame)


def test_profile_set_counts_a_broken_text_once(spark: Any) -> None:
    """A batch with a text that is no UTF-8 is read anew: what was counted until then does not count."""
    raw = spark.createDataFrame([(1, b"ok"), (1, b"caf\xe9"), (None, b"x")], "n int, raw binary").coalesce(1)
    frame = raw.selectExpr("n", "CAST(raw AS STRING) AS s")
    for selectors in ({"a": "n = 1", "b": "s = 'ok'"}, {"b": "s = 'ok'", "a": "n = 1"}):
        found = {one.key: (one.selected, one.unknown) for one in profile_set(selectors, frame).outcomes}
        assert found == {"a": (2, 1), "b": (1, 0)}


def test_profile_set_of_names_of_two_dialects(spark: Any) -> None:
    """By IBM's rules x is usr.x, too, and back: no selector of JMS reads what it has no name for."""
    two = {"mq": mqsel.compile("x = 5", dialect=IBM_MQ), "jms": mqsel.compile("x = 5", dialect=JMS)}
    found = profile_set(two, spark.createDataFrame([(5,)], "`usr.x` int")).outcomes
    assert [(one.key, one.selected, one.unknown, one.missing) for one in found] == [
        ("mq", 1, 0, ""),
        ("jms", 0, 1, "x"),
    ]
    two["mq"] = mqsel.compile("usr.x = 5", dialect=IBM_MQ)
    found = profile_set(two, spark.createDataFrame([(5,)], "x int")).outcomes
    assert [(one.key, one.selected, one.missing) for one in found] == [("mq", 1, ""), ("jms", 1, "")]


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
