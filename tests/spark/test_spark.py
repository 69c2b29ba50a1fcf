"""Matchers on a real local Spark: a JVM, Python workers, and everything pickled between them.

Invariant: `rdd.mapPartitions(matcher.filter)` gives what `matcher.filter` gives here, in the same order. What a
selector means is tested without Spark. Functions that go to a worker stand inside the tests: they travel by value.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

import mqsel
from mqsel import matcher as matcher_module
from mqsel.formats import mq
from mqsel.machine.program import FORMAT_VERSION, VERSION
from mqsel.values import Int32

pytestmark = pytest.mark.smoke  # the one small session of the default run

NAMES = ("number", "color", "weight", "price", "fragile", "token")
SELECTOR = "color = 'red' AND weight > 50 AND (price < 5 OR fragile) OR token = \"0x0102\" AND color LIKE '%e%'"
COUNT, PARTITIONS = 20_000, 8


def _rows() -> list[tuple[Any, ...]]:
    rng = random.Random("spark")
    return [
        (
            number,
            rng.choice(("red", "green", "blue", None)),
            rng.choice((None, number % 100)),
            rng.random() * 10,
            rng.choice((True, False, None)),
            rng.choice((None, b"\1\2", b"\3")),
        )
        for number in range(COUNT)
    ]


ROWS = _rows()
FORMS = ["dict", "dict without NULLs", "tuple", "list", "Row", "Row and schema", "Record"]


def _written(form: str) -> tuple[list[Any], Any]:
    """Return the messages in one form, and the schema they need."""
    if form == "dict":
        return [dict(zip(NAMES, row, strict=True)) for row in ROWS], None
    if form == "dict without NULLs":
        return [
            {name: value for name, value in zip(NAMES, row, strict=True) if value is not None} for row in ROWS
        ], None
    if form == "tuple":
        return list(ROWS), NAMES
    if form == "list":
        return [list(row) for row in ROWS], NAMES
    if form == "Record":
        schema = [(name, "int32" if name == "weight" else None) for name in NAMES]
        return [mqsel.Record(schema, row) for row in ROWS], None
    from pyspark.sql import Row

    named = Row(*NAMES)
    return [named(*row) for row in ROWS], NAMES if form == "Row and schema" else None


@pytest.mark.parametrize("form", FORMS)
def test_the_same_messages_in_the_same_order(spark: Any, form: str) -> None:
    """20,000 messages over 8 partitions, of every form a message may have."""
    messages, schema = _written(form)
    matcher = mqsel.compile(SELECTOR, schema=schema)
    wanted = list(matcher.filter(messages))
    got = spark.sparkContext.parallelize(messages, PARTITIONS).mapPartitions(matcher.filter).collect()

    assert 1000 < len(wanted) < COUNT / 2
    assert [type(message) for message in got] == [type(message) for message in wanted]
    assert got == wanted


def test_rows_of_a_data_frame(spark: Any) -> None:
    """Rows that come from the JVM: columns by name, binary as bytearray, NULL as None."""
    kinds = "number long, color string, weight int, price double, fragile boolean, token binary"
    frame = spark.createDataFrame(ROWS[:4000], kinds)
    matcher = mqsel.compile(SELECTOR)
    wanted = list(mqsel.compile(SELECTOR, schema=NAMES).filter(ROWS[:4000]))
    got = frame.repartitionByRange(4, "number").rdd.mapPartitions(matcher.filter)

    assert [row.number for row in got.collect()] == [row[0] for row in wanted]
    assert got.map(lambda row: row.number).take(5) == [row[0] for row in wanted[:5]]


def test_a_matcher_in_a_broadcast(spark: Any) -> None:
    """Shipped once to each executor, and used beside others in one function."""
    context = spark.sparkContext
    matchers = context.broadcast([mqsel.compile(f"weight = {number}", schema=NAMES) for number in range(10)])

    def count(stream: Any) -> Any:
        rows = list(stream)
        return [tuple(sum(map(matcher.matches, rows)) for matcher in matchers.value)]

    got = [sum(column) for column in zip(*context.parallelize(ROWS, 4).mapPartitions(count).collect(), strict=True)]

    assert got == [sum(row[2] == number for row in ROWS) for number in range(10)]


def test_varied_dialects_and_methods_travel(spark: Any) -> None:
    """`matches` and `evaluate` are functions too; the dialect arrives; wrappers keep their type on the way."""
    context = spark.sparkContext
    matcher = mqsel.compile("a + a < 0", dialect=mqsel.JMS.replace(type_mismatch="selector"))
    messages = [{"a": Int32((1 << 31) - 1)}, {"a": (1 << 31) - 1}, {}, {"a": "x"}]

    assert context.parallelize(messages, 2).filter(matcher.matches).collect() == messages[:1]
    assert context.parallelize(messages, 2).map(matcher.evaluate).collect() == list(map(matcher.evaluate, messages))


def _failure(job: Any) -> str:
    """Run a job that fails; give the text that the driver sees."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with pytest.raises((PySparkException, Py4JError)) as caught:
        job()
    return str(caught.value)


def test_a_wrong_record_is_named(spark: Any) -> None:
    """The driver sees our error: the property, its Python type, and the record's index in its partition."""
    messages: list[dict[str, Any]] = [{"weight": number} for number in range(100)]
    messages[57] = {"weight": [57]}  # the eighth of the third of four partitions
    stream = spark.sparkContext.parallelize(messages, 4).mapPartitions(mqsel.compile("weight > 90").filter)
    text = _failure(stream.collect)

    assert "mqsel.errors.PropertyTypeError: property 'weight' is a Python list" in text
    assert "[record 7]" in text


def test_a_wrong_record_is_skipped_and_counted(spark: Any) -> None:
    """errors="skip" by functools.partial; the counts are readable where the stream is."""
    messages: list[Any] = [{"weight": number} for number in range(100)]
    messages[57], messages[3], messages[99] = {"weight": [57]}, None, ("no", "schema")
    matcher = mqsel.compile("weight > 90")
    stream = spark.sparkContext.parallelize(messages, 4)

    def counted(part: Any) -> Iterator[tuple[int, int, int]]:
        selection = matcher.filter(part, errors="skip")
        for _ in selection:
            pass
        yield selection.seen, selection.selected, selection.skipped

    got = stream.mapPartitions(functools.partial(matcher.filter, errors="skip")).collect()

    assert got == [{"weight": number} for number in range(91, 99)]
    assert stream.mapPartitions(counted).collect() == [(25, 0, 1), (25, 0, 0), (25, 0, 1), (25, 8, 1)]


class _WrittenElsewhere:
    """Pickles as a matcher that a driver with another mqsel has written."""

    def __reduce__(self) -> tuple[Any, ...]:
        load, (data, *rest) = mqsel.compile(SELECTOR).__reduce__()
        # "MQSL", the format's number, length and letters of the version: read before anything else, checksum included.
        other = data[:4] + bytes([FORMAT_VERSION + 1, 5]) + b"9.8.7" + data[6 + len(VERSION) :]
        assert load is matcher_module._load
        return load, (other, *rest)

    def filter(self, messages: Any) -> Any:
        raise AssertionError(messages)


@pytest.mark.parametrize("way", ["closure", "broadcast"])
def test_an_executor_with_another_mqsel(spark: Any, way: str) -> None:
    """It gets one ProgramError, which names both versions and says what to do."""
    shipped = _WrittenElsewhere()
    sent = spark.sparkContext.broadcast(shipped) if way == "broadcast" else None

    def select(part: Any) -> Any:
        return (shipped if sent is None else sent.value).filter(part)

    if sent is not None:
        shipped = None  # type: ignore[assignment]
    stream = spark.sparkContext.parallelize([{"color": "red"}] * 10, 2).mapPartitions(select)
    text = _failure(stream.collect)
    here = f"this is mqsel '{VERSION}' (program format {FORMAT_VERSION})"
    told = [line for line in {*text.splitlines()} if line.startswith("mqsel.errors.ProgramError: ")]  # 4.1: twice

    assert len(told) == 1
    assert f"written by mqsel '9.8.7' (program format {FORMAT_VERSION + 1})" in told[0]
    assert here in told[0]
    assert "install one version of mqsel on the driver and on every executor" in text
    assert "AssertionError" not in text


def test_an_early_end(spark: Any) -> None:
    """`take` stops reading a partition that never ends."""
    endless = spark.sparkContext.parallelize([0], 1).mapPartitions(
        lambda _: ({"a": number} for number in itertools.count())
    )

    assert endless.mapPartitions(mqsel.compile("a > 5").filter).take(3) == [{"a": 6}, {"a": 7}, {"a": 8}]


def test_raw_messages_of_ibm_mq(spark: Any) -> None:
    """An RDD of message bytes: MQMD and MQRFH2 are decoded in the workers, and the raw messages come back."""
    messages = [
        mq.encode(
            {"Priority": number % 10, "MsgType": 8 if number % 3 else 1},
            {"color": ("blue", "red")[number % 2], "number": Int32(number)},
            b"data",
            encoding=(273, 546)[number % 4 // 2],
        )
        for number in range(2000)
    ]
    matcher = mqsel.compile("JMSPriority > 4 AND Root.MQMD.MsgType = 8 AND color = 'blue'")
    wanted = list(matcher.filter(messages, format="mq"))
    select = functools.partial(matcher.filter, format="mq")
    got = spark.sparkContext.parallelize(messages, PARTITIONS).mapPartitions(select).collect()

    assert 200 < len(wanted) < 1000
    assert got == wanted
    broken = spark.sparkContext.parallelize([*messages[:10], messages[10][:380]], 1).mapPartitions(select)
    with pytest.raises(Exception, match=r"MQRFH2 needs 36 bytes: 16 are left \[record 10; MQRFH2 at byte 364"):
        broken.collect()
