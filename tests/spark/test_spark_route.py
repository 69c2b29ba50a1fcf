"""Invariant: the keys that `route` gives for a row are those of the selectors that a loop over Matchers selects it by.

On both strategies, whatever the selectors and the columns are; and no such row escapes `any_of`.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import warnings
import zlib
from pathlib import Path
from typing import Any

import pytest
from frames import drawn, frame_of
from strategies import JMS_PRESETS

import mqsel
from mqsel import errors
from mqsel.formats import mq, records
from mqsel.language.dialect import IBM_MQ, JMS
from mqsel.values import Int32

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
pytest.importorskip("pyarrow")

from mqsel.spark import any_of, deliveries, layout, mq_message, plan, route, sets

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = [("eu-west", 120, 5), ("eu", 90, 9), ("us", None, 7), (None, 1, 1)]
KINDS = "region string, weight int, JMSPriority int"
SELECTORS = {"heavy eu": "region LIKE 'eu%' AND weight > 100", "urgent": "JMSPriority > 6", "nobody": "weight = 'x'"}
WANTED = [["heavy eu"], ["urgent"], ["urgent"], []]


def _keys(frame: Any, column: Any) -> list[Any]:
    return [row[0] for row in frame.select(column).collect()]


@pytest.mark.parametrize("name", JMS_PRESETS)
def test_generated_sets(spark: Any, name: str) -> None:
    """Invariant: route = a loop over Matchers; what any of them selects passes any_of. Dialects mix within a set."""
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        rng = random.Random(f"route {name}")
        kinds, rows, cases = drawn(rng, name)
        frame = frame_of(spark, kinds, rows).coalesce(1)
        matchers = {str(number): mqsel.compile(text, dialect=dialect) for number, (text, dialect) in enumerate(cases)}
        typed = [mqsel.compile(text, dialect=dialect, schema=list(kinds.items())) for text, dialect in cases]
        wanted = [[str(number) for number, one in enumerate(typed) if one.matches(row)] for row in rows]

        assert _keys(frame, route(matchers, frame, strategy="arrow")) == wanted
        numbers = range(len(cases))  # small sets have the sharper sieves
        sets_of = [[str(n) for n in numbers[at : at + few]] for few in (8, 3, 1) for at in numbers[::few]]
        some = [{key: matchers[key] for key in keys} for keys in sets_of]
        # Of a schema: each over rows would look at the first of them, in a job of its own.
        sieves = [any_of(held, frame.schema).alias(f"c{number}") for number, held in enumerate(some)]
        passed = frame.select(*sieves).collect()
        for row, keys, passes in zip(rows, wanted, passed, strict=True):
            for held, is_passed in zip(some, passes, strict=True):
                assert is_passed is True or not held.keys() & set(keys), (plan(held, frame).sieve, row, keys)
        small = {key: matchers[key] for key in list(matchers)[:3]}
        native = plan(small, frame)
        if native.strategy == "native":
            assert _keys(frame, native.column()) == [[key for key in keys if key in small] for keys in wanted]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize("strategy", ["native", "arrow"])
def test_selectors_in_every_form(spark: Any, tmp_path: Path, strategy: str) -> None:
    """A mapping, a set, a DataFrame, and files of text, JSON, Parquet and of the set itself say the same."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = spark.createDataFrame(ROWS, KINDS).coalesce(1)
    made = mqsel.SelectorSet(SELECTORS)
    made.save(tmp_path / "set")
    (tmp_path / "text").write_text("".join(f"{key}\t{text}\n" for key, text in SELECTORS.items()))
    (tmp_path / "json").write_text(json.dumps(SELECTORS))
    pq.write_table(pa.table({"key": list(SELECTORS), "selector": list(SELECTORS.values())}), tmp_path / "parquet")
    table = spark.createDataFrame(list(SELECTORS.items()), "key string, selector string").coalesce(1)
    forms = [SELECTORS, made, table, *(tmp_path / name for name in ("set", "text", "json", "parquet"))]

    assert [_keys(frame, route(one, frame, strategy=strategy)) for one in forms] == [WANTED] * len(forms)
    assert _keys(frame, route(str(tmp_path / "text"), frame)) == WANTED


@pytest.mark.parametrize("strategy", ["native", "arrow"])
def test_keys(spark: Any, strategy: str) -> None:
    """Keys of int are bigint, in the order of the set; odd strings arrive as they are; an empty set selects nothing."""
    frame = spark.createDataFrame(ROWS, KINDS).coalesce(1)
    numbers = route({1 << 40: "weight > 1", -3: "TRUE"}, frame, strategy=strategy)
    odd = ["", "it's", "a\\b", "${x}", "\n", "a,b", "𝄞"]

    assert frame.select(numbers).dtypes == [("subscribers", "array<bigint>")]
    assert strategy == "native" or not frame.select(numbers).schema[0].dataType.containsNull  # Spark asks of no key
    assert _keys(frame, numbers) == [[1 << 40, -3], [1 << 40, -3], [-3], [-3]]
    assert _keys(frame, route(dict.fromkeys(odd, "TRUE"), frame, strategy=strategy)) == [odd] * 4
    for keys in ([""], ["\x1f", ""], [*map(chr, range(1, 32)), "x"]):  # what joins them may stand in them
        assert _keys(frame, route(dict.fromkeys(keys, "weight > 1"), frame, strategy=strategy)) == [keys, keys, [], []]
    assert _keys(frame, route({}, frame, strategy=strategy)) == [[]] * 4
    assert frame.select(route({}, frame, strategy=strategy)).dtypes == [("subscribers", "array<string>")]
    assert deliveries({}, frame).count() == 0


def test_plan_and_deliveries(spark: Any) -> None:
    """The plan says which strategy and why; deliveries are the exploded array, with a column of any name."""
    frame = spark.createDataFrame(ROWS, KINDS).coalesce(1)
    made = plan(SELECTORS, frame)
    forced = plan(SELECTORS, frame, strategy="arrow")
    many = plan({number: f"weight > {number}" for number in range(200)}, frame)
    found = deliveries(SELECTORS, frame, subscriber="who").collect()

    assert str(made).splitlines()[:2] == ["selectors      3", "strategy       native"]
    assert made.sieve == "startswith(`region`, 'eu') AND `weight` >= 101L OR `JMSPriority` >= 7L"
    assert (forced.strategy, forced.why, forced.sql) == ("arrow", "the Arrow strategy is forced", "")
    assert (many.strategy, many.sieve) == ("arrow", "`weight` >= 1L")
    assert many.why == "the expression is longer than 4,500 characters"
    assert plan({"x": "weight = 'x'"}, frame).sieve == "false"
    assert plan({"x": "TRUE", "y": "weight = 3"}, frame).sieve == "true"
    assert [tuple(row) for row in found] == [(*ROWS[0], "heavy eu"), (*ROWS[1], "urgent"), (*ROWS[2], "urgent")]
    assert plan("weight > 1", frame).sql == "`weight` > 1L"


def test_no_texts(spark: Any) -> None:
    """A set without texts is routed by, with nothing in front; its plan says so."""
    frame = spark.createDataFrame(ROWS, KINDS).coalesce(1)
    bare = mqsel.SelectorSet(SELECTORS, keep_text=False)
    made = plan(bare, frame)

    assert (made.strategy, made.why) == ("arrow", "the set did not keep the texts of its selectors")
    assert made.sieve == "true"


def test_inventories(spark: Any, tmp_path: Path) -> None:
    """Selectors where they stand are routed by: a folder, a file, paths, entries; each in the dialect of its kind."""
    pytest.importorskip("tree_sitter")
    pytest.importorskip("pathspec")
    from mqsel.inventory import read

    frame = spark.createDataFrame(ROWS, KINDS).coalesce(1)
    script, rule = tmp_path / "subs.mqsc", tmp_path / "rule.json"
    script.write_text("DEFINE SUB(HEAVY) SELECTOR('region LIKE ''eu%'' AND weight > 100')\n")
    rule.write_text('{"name": "urgent", "sqlFilter": {"sqlExpression": "[JMSPriority] > 6"}}')
    wanted = [["HEAVY"], ["urgent"], ["urgent"], []]

    assert _keys(frame, route(script, frame)) == [["HEAVY"], [], [], []]
    for one in (tmp_path, [script, str(rule)], read([script, rule]), [*read(script), rule]):
        assert sorted(_keys(frame, route(one, frame))) == sorted(wanted)
    assert plan(script, frame).strategy == "native"
    script.write_text(
        "DEFINE SUB(A) SELECTOR('weight >')\nDEFINE SUB(B) SELECTOR('${x}')\nDEFINE SUB(C) SELECTOR('TRUE')\n"
    )
    with pytest.warns(UserWarning, match=r"2 faulty selectors are left out: 'B': a placeholder.*; 'A': "):
        assert _keys(frame, route(script, frame)) == [["C"]] * 4
    with pytest.raises(errors.FileError, match="a placeholder"):
        route(script, frame, errors="raise")


def test_faulty_selectors(spark: Any, tmp_path: Path) -> None:
    """Those of a table or a file are left out with a warning that names them, unless asked; of a mapping one raises."""
    frame = spark.createDataFrame(ROWS, KINDS).coalesce(1)
    faulty = {"a": "JMSPriority > 6", "b": "weight >", "c": "'x' ="}
    table = spark.createDataFrame(list(faulty.items()), "key string, selector string").coalesce(1)
    (tmp_path / "text").write_text("".join(f"{key}\t{text}\n" for key, text in faulty.items()))
    for one in (table, tmp_path / "text"):
        with pytest.warns(UserWarning, match=r"2 faulty selectors are left out: 'b': unexpected end .*; 'c': "):
            column = route(one, frame)
        assert _keys(frame, column) == [[], ["a"], ["a"], []]
        with pytest.raises(errors.SelectorError) as caught:
            route(one, frame, errors="raise")
        assert caught.value.key == "b"
    with pytest.raises(errors.SelectorError, match="key 'b'"):
        route(faulty, frame)
    assert [key for key, _ in plan(faulty, frame, errors="skip").faulty] == ["b", "c"]
    with pytest.warns(UserWarning, match="1 faulty selector is left out"):
        any_of({"b": "weight >"}, frame, errors="skip")


def test_bad_input(spark: Any) -> None:
    """One error of ours, on the driver."""
    frame = spark.createDataFrame(ROWS, KINDS)
    twice = spark.createDataFrame([("a", "TRUE"), ("a", "TRUE")], "key string, selector string")
    holes = spark.createDataFrame([("a", None)], "key string, selector string")
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (5, {}, "selectors"),
        ("/no/such/file", {}, "cannot be read"),
        (frame, {}, "the selectors have the columns region, weight, JMSPriority: expected key and selector"),
        (twice, {}, "the key 'a' stands twice"),
        (holes, {}, "the selector of 'a' is NULL"),
        ({1.5: "TRUE"}, {}, "the keys are not all str or int, such as 1.5"),
        ({1: "TRUE", "a": "TRUE"}, {}, "the keys are both str and int"),
        ({True: "TRUE"}, {}, "not all str or int, such as True"),
        ({None: "TRUE"}, {}, "the keys are not all str or int, such as None"),
        ({"a": "TRUE", None: "TRUE"}, {}, "the keys are not all str or int, such as None"),
        ("weight * 2 > 5", {}, "hint: pass selectors by key: route({'key': 'weight > 5'}, rows)"),
        (["weight > 5"], {}, "hint: pass selectors by key: route({'key': 'weight > 5'}, rows)"),
        (["weight * 2 > 5", "color = 'a'"], {}, "hint: pass selectors by key"),
        ([Path("no/such.yaml")], {}, "no/such.yaml"),
        ({"a": 5}, {}, "'a'"),
        (SELECTORS, {"strategy": "fast"}, "strategy is 'fast': expected 'native' or 'arrow'"),
        (SELECTORS, {"errors": "ignore"}, "errors is 'ignore': expected 'raise' or 'skip'"),
        (SELECTORS, {"dialect": "SQL"}, "SQL"),
        (mqsel.SelectorSet(SELECTORS), {"dialect": JMS}, "the set has"),
        ({"a": f"region IN ({', '.join(repr(str(n)) for n in range(900))})"}, {"strategy": "native"}, "no exact"),
    ]
    for selectors, more, said in cases:
        with pytest.raises(errors.MqselError) as caught:
            route(selectors, frame, **more)
        assert said in str(caught.value), str(caught.value)
    with pytest.raises(errors.ArgumentError, match=r"there is a column 'Weight' already\n  hint: .*subscriber='"):
        deliveries(SELECTORS, frame, subscriber="Weight")
    with pytest.raises(errors.PropertyTypeError, match="JMSTimestamp"):
        route({"a": "JMSTimestamp > 5"}, "JMSTimestamp timestamp")


@pytest.mark.parametrize(
    ("rows", "advice"), [(3, "number the selectors"), (40, "maxRecordsPerBatch to 4 or less, or num")]
)
def test_more_keys_than_a_column_holds(monkeypatch: pytest.MonkeyPatch, rows: int, advice: str) -> None:
    """What Arrow says of 2 GiB of keys is an error of ours, with the setting that divides the batch."""
    import pyarrow as pa

    class Many:
        """Keys that are too many."""

        type = pa.string()

        def take(self, _places: Any) -> Any:
            """Refuse, as Arrow does."""
            raise pa.ArrowInvalid("Take operation overflowed binary array capacity")

    held = zlib.compress(pickle.dumps(mqsel.SelectorSet({"a": "weight > 1"}), 5))
    monkeypatch.setattr(sets, "_keys", lambda _: Many())
    options = json.dumps({"layout": [("weight", [])], "now": 0})
    with pytest.raises(errors.MqselError, match=f"{rows} rows of a batch are more than 2 GiB") as caught:
        sets.keys_of_rows(held, options, [pa.array([5] * rows, pa.int32())])
    assert advice in str(caught.value.hint)


def test_one_warning_for_all_missing_properties(spark: Any) -> None:
    """However many properties no column has, one warning tells; so does a column of a type that no test takes."""
    frame = spark.createDataFrame([("3000",)], "weight string")
    many = {number: f"no{number} = 'x' OR weight > 2500" for number in range(30)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        route(many, frame)
    said = [str(one.message) for one in caught]

    assert said[0] == "no column has 'no0', 'no1', 'no2', 'no3', 'no4', …: NULL in every row, 30 of 31 properties"
    assert said[1].startswith("'weight' is a string in every row: compared with a number it never matches; declare")
    assert len(said) == 2


def _left() -> set[str]:
    """List the files of sets, here and where Spark keeps what it was asked to bring."""
    from pyspark import SparkFiles

    folders = (Path(SparkFiles.getRootDirectory()), Path(sets._folder(os.getpid()).name))
    return {str(path) for folder in folders for path in folder.rglob("mqsel-*")}


@pytest.mark.parametrize("way", ["carried", "file"])
def test_a_worker_opens_a_set_once(spark: Any, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Each Python worker opens a set once, whatever the number of tasks; no file is left, but of a large set one."""
    import pyarrow as pa
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    if way == "file":
        monkeypatch.setattr(sets, "_CARRIED", 0)
    frame = spark.range(0, 4000, 1, 40).selectExpr("cast(id as int) weight")  # 40 tasks
    chosen = {f"routed once, {way}": "weight > 3990", **{str(n): f"weight = {n}" for n in range(50)}}
    before = _left()
    made = plan(chosen, frame, strategy="arrow")
    assert _keys(deliveries(chosen, frame, strategy="arrow"), "subscriber").count(f"routed once, {way}") == 9
    assert sum(f"routed once, {way}" in keys for keys in _keys(frame, made.column())) == 9
    assert len({Path(path).name for path in _left() - before}) == (way == "file")
    held = sets.shipped(made.selectors, spark)

    def look(numbers):  # type: ignore[no-untyped-def]
        import os

        import pyarrow as pa

        from mqsel.spark import sets as there

        before = there.opened.cache_info()
        there.opened(held)
        opened = there.opened.cache_info().misses - before.misses
        return pa.array([f"{os.getpid()} {opened} {before.hits}"] * len(numbers))

    look.__annotations__ = {"numbers": pa.Array, "return": pa.Array}
    looks = [row[0].split() for row in spark.range(0, 40, 1, 40).select(F.arrow_udf(look, "string")("id")).collect()]
    assert len(looks) == 40
    assert len({pid for pid, _, _ in looks}) <= 2
    assert {opened for _, opened, _ in looks} == {"0"}  # each of them had it from the tasks before
    assert sum(max(int(hits) for one, _, hits in looks if one == pid) for pid in {pid for pid, _, _ in looks}) >= 70


def test_sets_that_change_leave_no_files(spark: Any) -> None:
    """Thirty changes of a set of thousands leave no file; what was planned with the first keeps its selectors."""
    frame = spark.range(0, 2, 1, 1).selectExpr("cast(id * 39 as int) weight")
    selectors = mqsel.SelectorSet({n: f"weight = {n} AND color = 'c{n}' OR weight < {n % 7}" for n in range(4000)})
    before = _left()
    first = frame.select(route(selectors, frame))
    wanted = first.collect()
    for number in range(30):
        selectors[number] = f"weight > {number}"
        (_, got) = _keys(frame, route(selectors, frame))
        assert got == [*range(number + 1)]
    assert _left() == before
    assert first.collect() == wanted


def test_records_with_a_type_in_each_row(spark: Any) -> None:
    """Confluent's records: a set over values whose types the rows say = the reader of records and the Matchers."""
    rng = random.Random("records")
    kinds = {"string": lambda: rng.choice(("red", "5")), "integer": lambda: rng.randrange(9), "double": rng.random}
    lines = []
    for number in range(300):
        held = {}
        for name in ("x", "y", "z"):
            kind = rng.choice([*kinds, None, "null-value", "unheard-of"])
            if kind is not None:
                held[name] = {"propertyType": kind, **({kind: kinds[kind]()} if kind in kinds else {})}
        lines.append({"messageID": f"ID:{number}", "priority": number % 10, "properties": held})
    schema = (
        "messageID string, priority int, properties map<string, struct<propertyType string, boolean boolean, byte"
        " tinyint, short smallint, integer int, long bigint, float float, double double, string string, bytes binary>>"
    )
    frame = spark.read.schema(schema).json(spark.sparkContext.parallelize(map(json.dumps, lines), 1))
    texts = [
        "x > 3",
        "x = 'red' AND y < 0.5",
        "x = y",
        "z IS NULL",
        "x + y > 4 OR z = '5'",
        "JMSPriority > 7",
        "x <> 5",
    ]
    made = mqsel.SelectorSet(dict(enumerate(texts)), dialect=JMS)
    read = records.reader("connect", ["x", "y", "z", "JMSPriority"])
    for one in lines:  # the reader refuses what it does not know; a Column takes it for missing
        one["properties"] = {k: v for k, v in one["properties"].items() if v["propertyType"] != "unheard-of"}
    wanted = [[k for k, text in made.items() if mqsel.compile(text, dialect=JMS).matches(read(one))] for one in lines]

    assert plan(made, frame, properties="connect").strategy == "arrow"
    assert _keys(frame, route(made, frame, properties="connect")) == wanted
    assert len({key for keys in wanted for key in keys}) == 7


def test_raw_messages(spark: Any) -> None:
    """Messages of IBM MQ: the keys are those of a Matcher for each; one that cannot be read has none, or fails."""
    key = bytes(range(1, 25))
    rng = random.Random("raw")
    messages: list[bytes | None] = [None, b"no message"]
    for number in range(60):
        mqmd = {"Priority": number % 10, "MsgId": key if number == 7 else b"x"}
        messages.append(mq.encode(mqmd, {"color": rng.choice(("red", "blue")), "weight": Int32(number)}, b"data"))
    messages.append(mq.encode({}, {"color": "red"}, b"")[:380])
    texts = ["color = 'red' AND weight > 20", "JMSPriority > 7", "", f'Root.MQMD.MsgId = "0x{key.hex()}"']
    frame = spark.createDataFrame([(one,) for one in messages], "value binary").coalesce(1)
    selectors = dict(enumerate(texts))
    matchers = {number: mqsel.compile(text) for number, text in selectors.items()}
    wanted: list[list[int]] = [[], []]
    wanted += [[n for n, one in matchers.items() if list(one.filter([raw], format="mq"))] for raw in messages[2:-1]]

    assert _keys(frame, route(selectors, frame, properties=mq_message("value"))) == [*wanted, []]
    assert [key for keys in wanted for key in keys if key == 3] == [3]
    with pytest.raises(Exception, match="DecodeError"):
        _keys(frame, route(selectors, frame, properties=mq_message("value", errors="raise")))
    with pytest.raises(errors.ArgumentError, match="the set has no exact Catalyst expression"):
        route(selectors, frame, properties=mq_message("value"), strategy="native")


def test_what_readers_skip(spark: Any, tmp_path: Path) -> None:
    """On an archive partitioned by day, deliveries read the partitions and row groups that a selector may select."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    rows = spark.range(60_000).select(
        (F.col("id") % 6).cast("int").alias("day"),
        F.col("id").cast("int").alias("weight"),
        F.concat(F.lit("r"), (F.col("id") % 7).cast("string")).alias("region"),
        F.sha2(F.col("id").cast("string"), 512).alias("body"),
    )
    rows.coalesce(1).write.partitionBy("day").option("parquet.block.size", 1 << 17).parquet(str(tmp_path / "archive"))
    # What is read asynchronously is not counted.
    reader = spark.read.option("parquet.hadoop.vectored.io.enabled", "false")
    archive = reader.parquet(str(tmp_path / "archive"))
    selectors = {"early": "day = 1 AND weight < 5000", "r2": "day = 4 AND region = 'r2' AND weight < 6000"}
    found = deliveries(selectors, archive)
    counts = {row[0]: row[1] for row in found.groupBy("subscriber").count().collect()}
    weights = [(number % 6, number, number % 7) for number in range(60_000)]

    assert counts == {
        "early": sum(day == 1 and weight < 5000 for day, weight, _ in weights),
        "r2": sum(day == 4 and region == 2 and weight < 6000 for day, weight, region in weights),
    }
    text = spark._jvm.PythonSQLUtils.explainString(found._jdf.queryExecution(), "formatted")
    scan = text[text.index("Scan parquet") :]
    assert "PartitionFilters: [((day" in scan or "PartitionFilters: [(((day" in scan, scan
    pushed = scan.partition("PushedFilters: [")[2].partition("\n")[0]
    assert "LessThanOrEqual(weight,4999)" in pushed and "EqualTo(region,r2)" in pushed, pushed
    assert 4 * _bytes_read(spark, found) < _bytes_read(spark, archive)


def _bytes_read(spark: Any, frame: Any) -> int:
    """Run a job; give the bytes that Hadoop counted as read meanwhile."""

    def total() -> int:
        return sum(one.getBytesRead() for one in spark._jvm.org.apache.hadoop.fs.FileSystem.getAllStatistics())

    before = total()
    frame.write.format("noop").mode("overwrite").save()
    return total() - before


def test_streams(spark: Any, tmp_path: Path) -> None:
    """A stream is routed as its files are, in classic Spark, on both strategies."""
    frame = spark.createDataFrame(ROWS * 20, KINDS)
    frame.repartition(3).write.parquet(str(tmp_path / "rows"))
    stream = spark.readStream.schema(KINDS).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "rows"))
    for strategy in ("native", "arrow"):
        name = f"routed_{strategy}"
        found = deliveries(SELECTORS, stream, strategy=strategy).writeStream.format("memory").queryName(name)
        found.option("checkpointLocation", str(tmp_path / name)).trigger(availableNow=True).start().awaitTermination()
        counts = {row[0]: row[1] for row in spark.table(name).groupBy("subscriber").count().collect()}
        assert counts == {"heavy eu": 20, "urgent": 40}


def test_an_rdd(spark: Any) -> None:
    """Of an RDD of dicts a set filters the partitions, broadcast or not: pairs of a message and its keys."""
    messages = [dict(zip(("region", "weight", "JMSPriority"), row, strict=True)) for row in ROWS]
    made = mqsel.SelectorSet(SELECTORS)
    held = spark.sparkContext.broadcast(made)
    rdd = spark.sparkContext.parallelize(messages, 2)
    wanted = [(message, keys) for message, keys in zip(messages, WANTED, strict=True) if keys]

    assert rdd.mapPartitions(made.filter).collect() == wanted
    # On the driver `held.value` is the set itself, which would travel with the function.
    assert rdd.mapPartitions(lambda part: held.value.filter(part)).collect() == wanted  # noqa: PLW0108


def test_names_of_two_dialects(spark: Any) -> None:
    """By IBM's rules x is usr.x, too; a selector of JMS in the same set reads x alone."""
    frame = spark.createDataFrame([(5,)], "`usr.x` int").coalesce(1)
    two = {"mq": mqsel.compile("x = 5", dialect=IBM_MQ), "jms": mqsel.compile("x = 5", dialect=JMS)}

    assert _keys(frame, route(two, frame, strategy="arrow")) == [["mq"]]
    assert _keys(frame, route(two, frame)) == [["mq"]]
    assert _keys(frame, any_of(two, frame)) == [True]


def test_declared_types(spark: Any) -> None:
    """Texts that lost their types are read as declared."""
    frame = spark.createDataFrame([({"weight": "3000"},), ({"weight": "much"},)], "p map<string, string>").coalesce(1)
    where = layout(members="p", types={"weight": "int32"})
    for strategy in ("native", "arrow"):
        assert _keys(frame, route({"a": "weight > 2500"}, frame, properties=where, strategy=strategy)) == [["a"], []]
