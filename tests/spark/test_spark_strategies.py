"""Strategies over a DataFrame: which one and why, the prefilter, what travels, the profile, streams and Connect.

That both strategies mean the same is tested in test_spark_native.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from running import OWN_PORT

import mqsel
from mqsel import errors
from mqsel.formats import mq
from mqsel.language.dialect import IBM_JMS, IBM_MQ, JMS
from mqsel.machine.program import BUILD, VERSION

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

from pyspark.errors import PythonException

from mqsel.spark import (
    check_cluster,
    column,
    layout,
    mq_message,
    plan,
    profile,
    profiling,
    properties,
    register,
    route,
    ship,
)

UNION = "struct<propertyType string, integer int, string string, long bigint, double double, boolean boolean>"
KINDS = f"color string, weight int, price double, ok boolean, p map<string, {UNION}>"
MIXED = "color = 'red' AND weight / 2 > 10 AND p1 BETWEEN p2 AND p3"  # the last is of three types in each row
WHERE = layout({"p1": "p.a", "p2": "p.b", "p3": "p.c"})


def _rows(count: int) -> list[tuple[Any, ...]]:
    rng = random.Random("strategies")

    def union() -> tuple[Any, ...]:
        chosen = rng.choice([("integer", rng.randrange(3), None), ("string", None, "0"), ("null-value", None, None)])
        return (*chosen, None, None, None)

    return [
        (
            rng.choice(("red", "blue", None)),
            rng.choice((None, 5, 50, -7)),
            rng.choice((None, 2.5, float("nan"))),
            rng.choice((True, False, None)),
            rng.choice((None, {"a": union(), "b": union(), "c": union()})),
        )
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    """Messages with every kind of column, in three partitions."""
    return spark.createDataFrame(_rows(600), KINDS).repartition(3).cache()


def _messages(frame: Any) -> list[dict[str, Any]]:
    messages = []
    for row in frame.collect():
        message = row.asDict(recursive=True)
        for name, key in (("p1", "a"), ("p2", "b"), ("p3", "c")):
            union = (message["p"] or {}).get(key)
            message[name] = None if union is None else union.get(union["propertyType"])
        del message["p"]
        messages.append(message)
    return messages


def _matched(frame: Any, selector: str, dialect: Any) -> list[str]:
    return [mqsel.compile(selector, dialect=dialect).evaluate(message).name for message in _messages(frame)]


def test_the_plan_of_a_native_selector(frame: Any) -> None:
    """One expression, no rest; printed as a table."""
    made = plan("color = 'red' AND weight > 50", frame)

    assert (made.strategy, made.rest, made.why) == ("native", "", ())
    assert str(made).splitlines() == [
        "selector  color = 'red' AND weight > 50",
        "strategy  native",
        "Catalyst  `color` = 'red' AND `weight` > 50L",
        "'color'   string from `color`",
        "'weight'  int32 from `weight`",
    ]


def test_the_plan_of_a_mixed_selector(frame: Any) -> None:
    """The exact conjuncts stand before the Arrow function, which evaluates the others only; the plan says why."""
    made = plan(MIXED, frame, properties=WHERE, dialect=JMS)

    assert made.strategy == "arrow"
    assert made.rest == "p1 BETWEEN p2 AND p3"
    reason = "'p1' and 'p2' and 'p3' have a type of their own in each row: more than 150 cases"
    assert made.why == (("'p1 BETWEEN p2 AND p3'", reason),)
    assert made.sql.startswith("`color` = 'red' AND ")
    assert "prefilter  `color` = 'red' AND " in str(made)


@pytest.mark.parametrize("dialect", [JMS, IBM_JMS, IBM_MQ], ids=repr)
@pytest.mark.parametrize(
    "selector", [MIXED, f"NOT ({MIXED})", f"({MIXED}) OR ok", "p1 BETWEEN p2 AND p3 AND weight / 0 = 1 AND ok"]
)
def test_prefilter_and_rest_are_the_selector(frame: Any, selector: str, dialect: Any) -> None:
    """Invariant: prefilter AND rest = the machine, in three values, with ERR on either side of the cut."""
    made = column(selector, frame, properties=WHERE, dialect=dialect)
    got = [row[0] for row in frame.select(made).collect()]

    assert [{True: "TRUE", False: "FALSE", None: "UNKNOWN"}[one] for one in got] == _matched(frame, selector, dialect)


@pytest.mark.parametrize(
    ("selector", "strategy"), [("color = 'red' AND weight > 10", None), (MIXED, None), (MIXED, "arrow")]
)
def test_a_selector_in_sql(spark: Any, frame: Any, selector: str, strategy: str | None) -> None:
    """A registered selector gives what its Column gives, by the names of what it reads, typed as the columns are."""
    frame.createOrReplaceTempView("messages")
    made = register(spark, "is_selected", selector, frame, properties=WHERE, dialect="JMS", strategy=strategy)
    assert str(made) == str(plan(selector, frame, properties=WHERE, dialect=JMS, strategy=strategy))
    wanted = [row[0] for row in frame.select(made.column()).collect()]
    named = "weight => weight, p => p, color => color" if "p1" in selector else "weight => weight, color => color"
    got = spark.sql(f"SELECT is_selected({named}), is_selected__typed({named}) FROM messages").collect()
    assert [tuple(row) for row in got] == [(one, one) for one in wanted]
    assert spark.sql(f"SELECT * FROM messages WHERE is_selected({named})").count() == sum(filter(None, wanted))


def test_arguments_of_a_function_are_what_they_are(spark: Any) -> None:
    """No argument is cast to a parameter's type, none is taken for another, none need be given that nobody reads."""
    from pyspark.errors import AnalysisException, PySparkException

    kinds = "n int, big bigint, f float, d double, s string, o boolean, y binary, p decimal(10,2), unread array<int>"
    text = "n = 2 OR big = 2 OR f = 2 OR d = 2 OR s = '2' OR o OR y IS NULL AND p = 2.5"
    register(spark, "any_is", text, kinds, types={"p": "float64"}, dialect=JMS)
    right = ("n => 2", "n => CAST(2 AS TINYINT)", "n => 2L", "big => 2", "f => 2F", "d => 2D", "s => '2'", "o => TRUE")
    right += ("p => 2.5BD, y => NULL", "p => 2.500BD, n => NULL, o => FALSE")
    for arguments in right:
        assert spark.sql(f"SELECT any_is({arguments})").first() == (True,), arguments
    for arguments in ("", "n => NULL", "n => 3, y => X'00', p => 2.5BD, s => 'x'"):
        assert spark.sql(f"SELECT any_is({arguments})").first() == (None,), arguments
    for arguments, said in (
        ("n => 2.9", r"any_is: 'n' is DECIMAL\(2,1\): expected INT"),
        ("n => 2D", "any_is: 'n' is DOUBLE: expected INT"),
        ("n => '2'", "any_is: 'n' is STRING: expected INT"),
        ("n => TRUE", "any_is: 'n' is BOOLEAN: expected INT"),
        ("n => 5000000000", "any_is: 'n' is BIGINT: expected INT"),
        ("s => 2", "any_is: 's' is BIGINT: expected STRING"),
        ("d => 2.5", r"any_is: 'd' is DECIMAL\(2,1\): expected DOUBLE"),
        ("f => 2D", "any_is: 'f' is DOUBLE: expected FLOAT"),
        ("p => 2.499BD", r"any_is: 'p' is DECIMAL\(4,3\): expected DECIMAL\(10,2\)"),
        ("o => 'true'", "any_is: 'o' is STRING: expected BOOLEAN"),
        ("y => 'a', p => 2.5BD", "any_is: 'y' is STRING: expected BINARY"),
    ):
        with pytest.raises(PySparkException, match=said):
            spark.sql(f"SELECT any_is({arguments})").collect()
    for arguments, said in (
        ("2, 2", "name the arguments|n => …"),
        ("m => 2", "UNRECOGNIZED_PARAMETER_NAME"),
        ("unread => NULL", "UNREC"),
    ):
        with pytest.raises(AnalysisException, match=said):
            spark.sql(f"SELECT any_is({arguments})").collect()


def test_what_register_takes(spark: Any) -> None:
    """The schema may be a text, with names that are no names of SQL, and raw messages; a wrong name is refused."""
    register(spark, "heavy", "shop.weight > 2 AND usr.x LIKE 'a%'", "`shop.weight` int, x string")
    calls = ", ".join(f"heavy(`shop.weight` => {number}, x => 'ab')" for number in ("3", "NULL", "2"))
    assert spark.sql(f"SELECT {calls}").first() == (True, None, False)
    kinds = "`o o` struct<`a-b`: map<string, struct<`x y`: int>>, n: int>, n int"
    register(spark, "deep", "n = 1", kinds, properties={"n": "o o.n"})  # the column n is no parameter
    assert spark.sql("SELECT deep(named_struct('a-b', NULL, 'n', 1))").first() == (True,)
    register(spark, "always", "1 = 1", "a int")
    assert spark.sql("SELECT always()").first() == (True,)
    message = mq.encode({}, {"color": "blue"}, b"data")
    register(spark, "is_blue", "color = 'blue'", "m binary, n int", properties=mq_message("m"))
    assert spark.sql(f"SELECT is_blue(X'{message.hex()}'), is_blue(m => X'00')").first() == (True, None)
    with pytest.warns(UserWarning, match="no column has 'b'"):
        register(spark, "other", "a = 1 OR b = 2", "a int")
    with pytest.raises(errors.ArgumentError, match="the name of the function is 'x y': expected letters"):
        register(spark, "x y", "a = 1", "a int")
    with pytest.raises(errors.SelectorError, match="unexpected '='"):
        register(spark, "x", "a == 1", "a int")


def test_an_older_spark_is_told_what_it_lacks(spark: Any, frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs a newer Spark says which, and which there is; native Columns do without."""
    here = rf"or later: this is pyspark {spark.version.replace('.', '[.]')}"
    monkeypatch.delattr("pyspark.sql.functions.arrow_udf")
    monkeypatch.setitem(sys.modules, "pyspark.sql.datasource", None)
    with pytest.raises(errors.MqselError, match=rf"'weight > 1' needs Spark 4[.]1 {here}"):
        column("weight > 1", frame, strategy="arrow")
    with pytest.raises(errors.MqselError, match=rf"a column of messages needs Spark 4[.]1 {here}"):
        column("weight > 1", "m binary", properties=mq_message("m"))
    with pytest.raises(errors.MqselError, match=rf"a data source in Python needs Spark 4[.]0 {here}"):
        mqsel.spark.DataSource  # noqa: B018
    assert frame.filter(column("weight > 10", frame)).count() > 0


def test_columns_keep_three_values(frame: Any) -> None:
    """`~` of a column selects what NOT selects, on both strategies."""
    for strategy in ("native", "arrow"):
        some = [frame.filter(~column("weight > 10", frame, strategy=strategy)).count()]
        some.append(frame.filter(column("NOT (weight > 10)", frame, strategy=strategy)).count())
        some.append(_matched(frame, "weight > 10", IBM_MQ).count("FALSE"))
        assert len(set(some)) == 1, some


def test_constants_and_selectors_without_properties(frame: Any) -> None:
    """Empty text selects everything; a constant needs no Arrow, even where that is forced."""
    for text, wanted in (("", True), ("1 = 1", True), ("1 = 2", False), ("1 / 0 = 1", False)):
        for strategy in (None, "native", "arrow"):
            made = plan(text, frame, dialect=JMS, strategy=strategy)
            assert made.strategy == "native"
            assert frame.select(made.column()).first()[0] is wanted


def test_an_identifier_of_zeros_matches_any_message(frame: Any) -> None:
    """As the machine has it (language §8): alone on the native strategy too, and nowhere as one conjunct of many."""
    nothing = f"JMSMessageID = 'ID:{'0' * 48}'"
    many = " AND ".join(f"weight <> {number}" for number in range(6, 106))
    rest = plan(f"{many} AND {nothing}", frame).machine

    assert plan(nothing, frame).sql == "true"
    assert rest is not None
    assert rest.match_option is None


def test_errors_come_on_the_driver(frame: Any) -> None:
    """A faulty selector, a strategy that cannot be, a setting under which Spark hangs: refused by column."""
    with pytest.raises(errors.SelectorSyntaxError):
        column("color == 'red'", frame)
    with pytest.raises(errors.ArgumentError, match=r"'p1 BETWEEN p2 AND p3' has no exact Catalyst expression"):
        column(MIXED, frame, properties=WHERE, strategy="native")
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    for wrong in ("0", "-1"):
        frame.sparkSession.conf.set(name, wrong)
        for rows in (frame, frame.schema):
            with pytest.raises(errors.ArgumentError, match=rf"{name} is {wrong}: Spark would never finish"):
                column("weight > 1", rows, strategy="arrow")
        assert plan("weight > 1", frame).strategy == "native"
    frame.sparkSession.conf.unset(name)


def test_directories_of_the_second_interface(spark: Any, tmp_path: Path) -> None:
    """Where Spark would drop a condition in Python, and keep every row, it is refused; native ones are none."""
    name = "spark.sql.sources.useV1SourceList"
    spark.range(9).selectExpr("id", "concat('p', id % 3) AS p").write.partitionBy("p").parquet(str(tmp_path / "rows"))
    spark.conf.set(name, "")
    try:
        found = spark.read.parquet(str(tmp_path / "rows"))
        plain = spark.read.parquet(str(tmp_path / "rows" / "p=p1"))
    finally:
        spark.conf.unset(name)

    assert found.filter(column("p = 'p1' AND id > 1", found)).count() == 2
    for make in (column, lambda text, rows, strategy: route({"a": text}, rows, strategy=strategy)):
        with pytest.raises(errors.ArgumentError, match="would lose conditions in Python"):
            make("p = 'p1'", found, strategy="arrow")
    assert plain.filter(column("id > 1", plain, strategy="arrow")).count() == 2


def test_long_and_deep_selectors_take_the_arrow_strategy(frame: Any) -> None:
    """What Spark could not parse or compile goes to the machine, and gives the machine's answer."""
    deep = "ok = TRUE"
    for number in range(100):
        deep = f"NOT ({deep} AND weight <> {number} OR price > {number})"
    long = " OR ".join(f"weight = {number} AND color = 'red'" for number in range(1500))
    chain = " AND ".join(f"weight <> {number}" for number in range(6, 2000))
    wide = f"color LIKE '{'a' * 30_000}%'"
    reasons = {
        deep: "nested more than",
        long: "more than 100 tests",
        chain: "more than 100",
        wide: "longer than 24,000",
    }
    for text, reason in reasons.items():
        dialect = IBM_MQ.replace(max_length=None)
        made = plan(text, frame, dialect=dialect)
        assert made.strategy == "arrow"
        assert reason in made.why[0][1]
        got = [row[0] for row in frame.select(made.column()).collect()]
        assert [{True: "TRUE", False: "FALSE", None: "UNKNOWN"}[one] for one in got] == _matched(frame, text, dialect)
    made = plan(chain, frame, dialect=dialect)
    assert made.sql  # of a chain of AND as much as fits is the prefilter
    assert len(made.rest) < len(chain)


@pytest.mark.parametrize("strategy", [None, "arrow"])
def test_more_tests_than_a_queue_manager_takes(frame: Any, strategy: str | None) -> None:
    """900 conjuncts overflowed a stack of Java's, 1,000 alternatives its methods: beyond 100 they are the machine's."""
    few = " AND ".join(f"weight <> {number}" for number in range(6, 106))
    texts = {
        "chain": " AND ".join(f"weight<>{number}" for number in range(6, 906)),
        "choices": " OR ".join(f"weight={number} AND ok" for number in range(500)),
        "ranges": " AND ".join(f"weight NOT BETWEEN {number} AND {number}" for number in range(60, 200)),
        "texts": " OR ".join(f"color = 'c{number}'" for number in range(1000)) + " OR color = 'red'",
        "list": f"color IN ({', '.join(repr(f'c{number}') for number in range(100_000))}, 'red')",
        "sum": "weight" + " + 1" * 1000 + " > 1010",
        "negations": "NOT " * 400 + "ok",
        "pattern": f"color LIKE '{'%r' * 20_000}' OR color LIKE '{'_' * 5000}%' OR ok",
    }
    dialect = IBM_MQ.replace(max_length=None)
    assert plan(few, frame).strategy == "native"
    plans = {name: plan(text, frame, dialect=dialect, strategy=strategy) for name, text in texts.items()}
    assert {name: made.strategy for name, made in plans.items()} == dict.fromkeys(texts, "arrow")
    if strategy is None:
        assert plans["chain"].sql.count("<>") == 100
        assert plans["ranges"].rest.count("BETWEEN") == 90
    got = frame.select(*[made.column() for made in plans.values()]).collect()
    for number, (name, text) in enumerate(texts.items()):
        truths = [{True: "TRUE", False: "FALSE", None: "UNKNOWN"}[row[number]] for row in got]
        assert truths == _matched(frame, text, dialect), name


COLUMNS = """
import os, sys
os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
from pyspark.sql import SparkSession
from mqsel import JMS
from mqsel.spark import column, layout, plan
settings = {"spark.ui.enabled": "false", "spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
union = "struct<propertyType string, boolean boolean, byte tinyint, short smallint, integer int, long bigint, "
union += "float float, double double, string string, bytes binary>"
pairs = "array<struct<key string, value binary>>"
kinds = f"deliveryMode int, properties map<string, {union}>, headers {pairs}, texts map<string, string>"
one = lambda i: {"propertyType": "integer", "integer": i} if i % 2 else {"propertyType": "string", "string": str(i)}
rows = [
    {"deliveryMode": n % 2 + 1, "properties": {f"p{i}": one(i + n) for i in range(10)},
     "headers": [{"key": f"p{i}", "value": str(i + n).encode()} for i in range(10)],
     "texts": {f"p{i}{end}": value for i in range(10) for end, value in (("", str(i + n)), ("_jsmtype", "int"))}}
    for n in range(20)
]
frame = spark.createDataFrame(rows, kinds).repartition(1)
declared = {f"p{i}": "int64" for i in range(10)}
ways = {"connect": "connect", "headers": layout(members="headers", types=declared),
        "texts": layout(members="texts", types=declared), "pulsar": layout(record="pulsar", members="texts")}
for name, where in ways.items():
    text = "p%d > 12 AND NOT p%d = 'x'" if name == "connect" else "p%d > 12 AND NOT p%d = 17"
    for count in (20, 100):
        texts = [text % (n % 10, (n + 3) % 10) + f" AND p1 <> {n + 300}" for n in range(count)]
        plans = [plan(one, frame.schema, properties=where, dialect=JMS) for one in texts]
        chosen = frame.select(*[one.column().alias(f"c{n}") for n, one in enumerate(plans)])
        hits = sum(sum(map(bool, row)) for row in chosen.collect())
        codes = spark._jvm.org.apache.spark.sql.execution.debug.__getattr__("package$").__getattr__("MODULE$")
        made = codes.codegenStringSeq(chosen._jdf.queryExecution().executedPlan())
        sizes = [made.apply(n)._3().maxMethodCodeSize() for n in range(made.size())]
        print(name, count, {one.strategy for one in plans}, hits, max(sizes, default=0), flush=True)
spark.stop()
"""


@pytest.mark.long
def test_a_hundred_columns_over_records(tmp_path: Any) -> None:
    """Twenty and a hundred native columns compile without an ERROR, in a process of its own, whose log says so."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COLUMNS],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=600,
    )
    print(done.stdout)
    found = [line.split() for line in done.stdout.splitlines()]

    assert " ERROR " not in done.stderr, done.stderr[:3000]
    assert [(name, count, strategy) for name, count, strategy, _, _ in found] == [
        (name, count, "{'native'}") for name in ("connect", "headers", "texts", "pulsar") for count in ("20", "100")
    ], done.stderr[-3000:]
    assert all(-1 < int(size) < 65_536 for *_, size in found)
    assert all(int(hits) > 0 for *_, hits, _ in found)


def test_a_column_of_100_tests_is_made_quickly(frame: Any) -> None:
    """The median of ten takes far less than the 20 ms that were asked for; ten times that fails on any machine."""
    text = " AND ".join(f"(color = 'c{n}' OR weight + {n} > 5 OR price < {n}.5)" for n in range(33)) + " AND ok"
    column(text, frame)
    times = []
    for _ in range(10):
        mqsel.matcher._compile.cache_clear()
        start = time.perf_counter()
        column(text, frame)
        times.append(time.perf_counter() - start)
    print(f"100 tests: median {sorted(times)[5] * 1000:.1f} ms")

    assert sorted(times)[5] < 0.2


# ---- what travels ---------------------------------------------------------------------------------------------------


def test_the_function_carries_bytes_and_texts_only() -> None:
    """Its closure holds nothing of ours; pickled, it names no module of ours that loading would need."""
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    function = ship.arrow_function(mqsel.compile("a = 1").program.to_bytes(), '[["a", []]]')
    held: list[Any] = [function]
    for one in held:
        if callable(one):
            assert "<locals>" in one.__qualname__  # it travels by value
            held += [cell.cell_contents for cell in one.__closure__]
        else:
            held += one if isinstance(one, tuple) else ()
    assert {type(one) for one in held if not callable(one)} == {bytes, str, tuple}
    script = (
        "import sys, pickle\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'mqsel': raise ModuleNotFoundError('No module named mqsel')\n"
        "sys.meta_path.insert(0, Blocked())\n"
        "function = pickle.loads(sys.stdin.buffer.read())\n"
        "try: function(None)\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=cloudpickle.dumps(function), capture_output=True, check=True
    )
    lines = done.stdout.decode().splitlines()

    assert lines[0] == f"mqsel {VERSION} cannot be imported in the Spark Python worker: No module named mqsel"
    assert lines[1].startswith("  host ")
    assert sys.executable in lines[1]
    assert lines[2].startswith("  hint: install one mqsel on every worker, or ship an environment: ")
    assert "--archives env.tar.gz#env --conf spark.pyspark.python=./env/bin/python" in lines[2]


def test_a_worker_with_another_version(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error that names both versions, the host and what to do."""
    from pyspark.errors import PySparkException

    monkeypatch.setattr(ship, "BUILD", "9.8.7 (build 0)")
    made = column("weight > 1", frame, strategy="arrow")
    with pytest.raises(PySparkException) as caught:
        frame.filter(made).count()
    text = str(caught.value)

    assert f"the driver has mqsel 9.8.7 (build 0), the Spark Python worker {BUILD}" in text
    assert "hint: install one mqsel on every worker" in text


def test_check_cluster(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists the Pythons that were met; one with another version is not ready."""
    good = check_cluster(spark)

    assert good.is_ready
    assert [worker.mqsel for worker in good.workers] == [VERSION]
    assert good.workers[0].tasks == 8
    assert str(good).splitlines()[0].split() == ["host", "python", "mqsel", "pyarrow", "tasks"]
    monkeypatch.setattr(ship, "BUILD", "9.8.7 (build 0)")
    bad = check_cluster(spark, tasks=2)

    assert not bad.is_ready
    assert "the driver has 9.8.7" in bad.workers[0].mqsel
    assert str(bad).splitlines()[-1].startswith("driver: mqsel 9.8.7")
    with pytest.raises(errors.ArgumentError, match=r"tasks is 0"):
        check_cluster(spark, tasks=0)


def test_rows_with_many_types() -> None:
    """Invariant: group by group = row by row, for more properties with types of their own than a number has bits."""
    pa = pytest.importorskip("pyarrow")
    rng = random.Random("types")
    names = [f"n{number}" for number in range(40)]
    text = " AND ".join(f"{name} <> 'x'" for name in names[:20]) + " OR n20 = n21 OR n22 > 1"
    matcher = mqsel.compile(text, dialect=JMS)
    messages = [
        {name: rng.choice((None, 1, 2, "y", "x")) if rng.random() < 0.1 else "y" for name in names} for _ in range(300)
    ]
    layout_text = [[name, ["number", "text"]] for name in matcher.properties]
    columns = []
    for name in matcher.properties:
        values = [message[name] for message in messages]
        tags = ["number" if isinstance(v, int) else None if v is None else "text" for v in values]
        columns.append(pa.array(tags, pa.string()))
        columns.append(pa.array([v if isinstance(v, int) else None for v in values], pa.int64()))
        columns.append(pa.array([v if isinstance(v, str) else None for v in values], pa.string()))
    import json

    got = ship.evaluate(matcher.program.to_bytes(), json.dumps(layout_text), columns).to_pylist()
    wanted = [{"TRUE": True, "FALSE": False, "UNKNOWN": None}[matcher.evaluate(one).name] for one in messages]

    assert got == wanted
    assert len(set(wanted)) == 3
    assert (
        ship.evaluate(matcher.program.to_bytes(), json.dumps(layout_text), [c[:0] for c in columns]).to_pylist() == []
    )


# ---- the profile ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", [JMS, IBM_JMS, IBM_MQ], ids=repr)
def test_profile_accounts_for_every_row(frame: Any, dialect: Any) -> None:
    """Invariant: the five numbers of a part add up to the rows, and say what the machine says of it."""
    text = (
        "(color = 'red' OR color > 5) AND NOT (weight / (weight - 5) > 1) AND p1 = p2 AND p1 = 1 AND ok AND price > 2"
    )
    text += " AND p1 BETWEEN p2 AND p3"  # which Python evaluates
    found = profile(text, frame, properties=WHERE, dialect=dialect)
    messages = _messages(frame)
    lenient = dialect.replace(type_mismatch="operation", null_arithmetic="unknown")

    assert found.messages == len(messages)
    for part in found.parts:
        assert part.true + part.false + part.unknown + part.mismatched + part.error == found.messages, part
        if part.text in ("AND", "OR", "NOT"):
            continue
        machine = mqsel.compile(part.text, dialect=lenient)
        truths = [mqsel.Truth(mqsel.machine._vm.Machine(machine.program).truth(one)).name for one in messages]
        assert part.true == truths.count("TRUE"), part
        if dialect.null_arithmetic == "unknown":
            assert part.unknown == truths.count("UNKNOWN"), part
        assert part.false + part.mismatched == truths.count("FALSE"), part
    root = found.parts[0]
    whole = _matched(frame, text, dialect)
    assert root.true == whole.count("TRUE")
    assert root.false + root.mismatched + root.error == whole.count("FALSE")
    assert {seen.name: seen.missing for seen in found.properties}["color"] == sum(m["color"] is None for m in messages)
    mismatched = {part.text: part.mismatched for part in found.parts}
    assert mismatched["p1 = p2"] == sum(
        type(m["p1"]) is not type(m["p2"]) and None not in (m["p1"], m["p2"]) for m in messages
    )


def test_profile_as_it_is_printed(spark: Any) -> None:
    """The tree of a selector that matches nothing shows the test that is at fault."""
    frame = spark.createDataFrame([("car", "3000"), ("car", "x"), ("van", None)], "JMSType string, weight string")

    assert str(profile("JMSType = 'car' AND weight > 2500", frame)).splitlines() == [
        "weight is a string in 2 of 3 rows: the comparison with a number is FALSE in each",
        "weight is missing from 1 of 3 rows",
        "0 of 3 rows are selected",
        "",
        "TRUE  FALSE  UNKNOWN  type mismatch  ERR",
        "   0      3        0              0    0  AND",
        "   2      1        0              0    0    JMSType = 'car'",
        "   0      0        1              2    0    weight > 2500",
        "",
        "property  present  missing  types   values",
        "JMSType   3        0        string  'car' ×2, 'van'",
        "weight    2        1        string  '3000', 'x'",
    ]


@pytest.mark.parametrize("many", [0, 99], ids=["by Python", "by Spark"])
def test_profile_is_the_report_of_the_rows_as_messages(spark: Any, monkeypatch: Any, many: int) -> None:
    """A frame has the report that its rows have here, by columns: sentences, parts, types, values and names."""
    monkeypatch.setattr(profiling, "_MANY", many)
    rows = [("car", 2000 + number, "blue" if number % 3 else None, number / 2) for number in range(30)]
    frame = spark.createDataFrame(rows, "JMSType string, weight int, colour string, x double")
    texts = ("JMSType = 'Car' AND weight > 5000", "color = 'blue' OR x < 0", "colour = 'blue' AND weight > 2010")
    for text in (*texts, "NOT (NOT (JMSType > 5))"):
        found, wanted = profile(text, frame), mqsel.compile(text).why(frame.toArrow())
        assert (found.sentences, found.parts, found.messages) == (wanted.sentences, wanted.parts, 30)
        for one, other in zip(found.properties, wanted.properties, strict=True):
            assert one[:4] == other[:4]
            assert (dict(one.types), one.least, one.greatest) == (dict(other.types), other.least, other.greatest)
            assert (dict(one.values), one.near) == (dict(other.values), other.near)
        assert bool(found) is (found.selected > 0)
        assert [row.text for row in spark.createDataFrame(found.parts).collect()] == [part.text for part in found.parts]


def test_profile_of_a_long_selector(spark: Any, monkeypatch: Any) -> None:
    """Invariant: Python and Spark count alike what is missing, unread or NaN; Spark does where workers cannot."""

    def missing() -> None:
        raise ImportError("mqsel")

    rows = [(None, "x", {"n": "1", "Size": "2"}), (float("nan"), "7", {"N": "1"}), (-0.0, None, {}), (2.5, "9", None)]
    frame = spark.createDataFrame(rows, "price double, weight string, m map<string, string>").repartition(3)
    where = layout({"n": "m.n", "size": "m.size", "weight": "weight", "price": "price"}, types={"weight": "int32"})
    text = " OR ".join(f"(price <> {n} AND NOT (weight > {n}) AND n = '{n}' AND size / 0 > {n})" for n in range(20))
    found = profile(text, frame, properties=where)
    monkeypatch.setattr(profiling, "_MANY", 999)
    by_spark = profile(text, frame, properties=where)
    monkeypatch.setattr(profiling, "_MANY", 0)
    monkeypatch.setattr(ship, "guard", lambda: missing)
    without = profile(text, frame, properties=where)

    for one in (by_spark, without):
        assert (found.parts, found.messages, found.sentences) == (one.parts, 4, one.sentences)
        for mine, other in zip(found.properties, one.properties, strict=True):
            assert mine[:4] == other[:4]
            assert (dict(mine.types), mine.least, mine.greatest) == (dict(other.types), other.least, other.greatest)
    with pytest.raises(PythonException, match="ImportError: mqsel"):
        profile("NOT (" * 65 + "weight > 1" + ")" * 65, frame, properties=where)


def test_profile_of_more_rows_than_are_sampled(spark: Any) -> None:
    """Numbers are of all rows; values are of the first thousand, and said to be."""
    frame = spark.range(2500).selectExpr("IF(id % 2 = 0, 'red', 'blue') AS color", "map('Weight', id) AS props")
    found = profile("color = 'Red'", frame)
    assert found.sentences[0] == "color = 'Red' misses 'red', which at least 500 have: only the case of letters differs"
    assert "color     2,500    0        string  of 1,000: 'red' ×500, 'blue' ×500" in str(found)
    found = profile("weight > 5", frame, properties=layout(members="props"))
    assert found.sentences[0] == "no row has weight; all have Weight"


def test_names_that_cannot_be_used(spark: Any, frame: Any) -> None:
    """A text in the place of names would be read as its letters; a function of Spark itself is not replaced."""
    with pytest.raises(errors.ArgumentError, match="names is 'color': expected a list of names"):
        properties(frame, "color")  # type: ignore[arg-type]
    with pytest.raises(errors.ArgumentError, match=r"the function 'upper' cannot be registered: .*Cannot replace"):
        register(spark, "upper", "color = 'red'", frame)


# ---- streams and Connect --------------------------------------------------------------------------------------------


def test_a_file_stream(spark: Any, tmp_path: Any) -> None:
    """Both strategies filter a stream as they filter its files; a profile of a stream is refused."""
    rows = [(n, ("red", "blue")[n % 2], n % 50) for n in range(500)]
    spark.createDataFrame(rows, "n long, color string, weight int").repartition(2).write.parquet(str(tmp_path / "in"))
    still = spark.read.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(still.schema).parquet(str(tmp_path / "in"))
    wanted = sorted(row[0] for row in rows if row[1] == "red" and row[2] > 40)
    for strategy in ("native", "arrow"):
        chosen = stream.filter(column("color = 'red' AND weight > 40", stream, strategy=strategy))
        query = chosen.writeStream.format("memory").queryName(f"chosen_{strategy}").trigger(availableNow=True)
        query.start().awaitTermination()
        assert sorted(row.n for row in spark.table(f"chosen_{strategy}").collect()) == wanted
        assert (
            sorted(
                row.n
                for row in still.filter(column("color = 'red' AND weight > 40", still, strategy=strategy)).collect()
            )
            == wanted
        )
    with pytest.raises(errors.ArgumentError, match=r"a profile needs all rows: found a stream"):
        profile("weight > 1", stream)


CONNECT = """
import os, sys
os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[2]").getOrCreate()
from mqsel.spark import check_cluster, column, compare, deliveries, plan, profile, profile_set, register
rows = [(n, ("red", "blue", None)[n % 3], n % 50) for n in range(300)]
frame = spark.createDataFrame(rows, "n long, color string, weight int")
text = "color = 'red' AND weight * 2 > 40"
print([frame.filter(column(text, frame, strategy=strategy)).count() for strategy in ("native", "arrow")])
frame.createOrReplaceTempView("messages")
for strategy in ("native", "arrow"):
    register(spark, "selected", text, "color string, weight int", strategy=strategy)
    print(spark.sql("SELECT * FROM messages WHERE selected(color => color, weight => weight)").count())
both = frame.alias("a").join(frame.alias("b"), "n")
print(both.filter(column("c = 'red'", both, properties={"c": "b.color"})).count())
print(type(frame).__module__, plan(text, frame).strategy, [part.true for part in profile(text, frame).parts])
held = {"one": text, "two": "weight = 7", "nobody": "color = 5"}
for strategy in ("native", "arrow"):
    found = deliveries(held, frame, strategy=strategy).groupBy("subscriber").count()
    print({row[0]: row[1] for row in found.orderBy("subscriber").collect()})
frame.write.parquet("rows")
stream = spark.readStream.schema(frame.schema).parquet("rows")
routed = deliveries(held, stream, strategy="arrow").writeStream.format("parquet").option("path", "routed")
routed.option("checkpointLocation", "checkpoint").trigger(availableNow=True).start().awaitTermination()
print(spark.read.parquet("routed").count())
print([tuple(row) for row in compare(held, {"two": "TRUE"}, frame).orderBy("key").collect()])
print([one.selected for one in profile_set(held, frame).outcomes])
print(check_cluster(spark, tasks=2).is_ready)
spark.stop()
"""


@pytest.mark.cluster
def test_spark_connect(tmp_path: Any) -> None:
    """Columns, streams, routing, register, profiles and check_cluster do the same through Spark Connect."""
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")
    options: dict[str, Any] = {"cwd": tmp_path, "env": {**os.environ, **OWN_PORT}, "timeout": 240}
    done = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True, check=False, **options)
    rows = [(("red", "blue", None)[n % 3], n % 50) for n in range(300)]
    wanted = sum(color == "red" and weight * 2 > 40 for color, weight in rows)

    assert done.stdout.splitlines()[-11:] == [
        f"[{wanted}, {wanted}]",
        f"{wanted}",
        f"{wanted}",
        "100",
        f"pyspark.sql.connect.dataframe native [{wanted}, 100, {sum(weight * 2 > 40 for _, weight in rows)}]",
        f"{{'one': {wanted}, 'two': 6}}",
        f"{{'one': {wanted}, 'two': 6}}",
        f"{wanted + 6}",
        f"[('nobody', 0, 0, 0), ('one', 0, 0, {wanted}), ('two', 6, 294, 0)]",
        f"[{wanted}, 6, 0]",
        "True",
    ], done.stderr[-2000:]
