"""What rows are like, and what they make of a change: `contract` and `changes` say what is said of messages here."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from frames import drawn, frame_of

import mqsel
from mqsel import cli
from mqsel.analysis.compare.contract import OF_DESCRIPTOR, Contract
from mqsel.formats import inspect
from mqsel.formats.jsonl import in_json
from mqsel.language.dialect import JMS

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
pytest.importorskip("pyarrow")

from mqsel.formats import mq
from mqsel.spark import changes, contract, layout, mq_message
from mqsel.values import TYPES, Int32

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = [
    {"color": ("red", "blue", "green")[n % 3], "weight": Int32(n), **({} if n % 4 else {"n": n / 2})} for n in range(90)
]
_CLASSES: dict[str, Any] = {row.name: row.python for row in TYPES if row.kind != "null"}
KINDS = {"color": "string", "weight": "int32", "n": "float64"}


@pytest.fixture
def frame(spark: Any) -> Any:
    """Return the rows in three partitions."""
    return frame_of(spark, KINDS, [tuple(row.get(name) for name in KINDS) for row in ROWS]).repartition(3, "color")


def test_contract_of_rows_is_that_of_messages(spark: Any) -> None:
    """Invariant: the contract of a DataFrame is that of its rows as messages; each of them keeps it."""
    kinds, rows, _ = drawn(random.Random("contract"), "JMS")
    columns = [*zip(kinds, map(_CLASSES.get, kinds.values()), strict=True)]
    messages = [
        {
            name: made(one)
            for (name, made), one in zip(columns, row, strict=True)
            if made is not None and one is not None
        }
        for row in rows
    ]
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = frame_of(spark, kinds, rows)
        found, without = contract(frame), contract(frame, values=False)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert repr(found.as_dict()) == repr(Contract.of(messages).as_dict())
    assert repr(without.as_dict()) == repr(Contract.of(messages, values=False).as_dict())
    assert [found.breaches(message) for message in messages] == [[]] * len(messages)


def test_contract_of_maps_arrays_and_structs(spark: Any) -> None:
    """Names that stand in the rows are found; a column of no type of a property is passed over, a mapped one is not."""
    rows = [("car", {"weight": "3000"}, [("a", b"x")], (1, 2.5)), ("car", {"weight": "x", "b-c": "1"}, [], None)]
    kinds = (
        "JMSType string, m map<string,string>, h array<struct<key string, value binary>>, usr struct<i int, d double>"
    )
    frame = spark.createDataFrame(rows, kinds)
    where = layout({"JMSType": "JMSType"}, members="m", types={"weight": "int32"})

    assert contract(frame, properties=where).as_dict()["properties"] == {
        "JMSType": {"type": "string", "values": ["car"], "required": True},
        "b-c": {"type": "string"},
        "weight": {"type": "int32", "least": 3000, "greatest": 3000},
    }
    assert contract(frame, properties=layout(members="h"), values=False).as_dict()["properties"] == {
        "a": {"type": "bytes"}
    }
    assert contract(frame, values=False).as_dict()["properties"] == {
        "JMSType": {"type": "string", "required": True},
        "usr.d": {"type": "float64"},
        "usr.i": {"type": "int32"},
    }
    with pytest.raises(mqsel.PropertyTypeError, match="the column of property 'x' is map"):
        contract(frame, properties={"x": "m"})
    with pytest.raises(mqsel.ArgumentError, match="the properties in JMSType are not listed"):
        contract(frame, properties=layout(members="JMSType"))
    with pytest.raises(mqsel.ArgumentError, match="a contract needs all rows: found a stream, or rows of no DataFrame"):
        contract("a int")  # type: ignore[arg-type]


def test_raw_messages(spark: Any) -> None:
    """Messages in bytes have the contract, and the changes, of what is read from them; broken ones are counted."""
    made = [mq.encode({"Priority": 4}, {"n": Int32(n), "color": ("red", "blue")[n % 2]}, b"data") for n in range(8)]
    frame = spark.createDataFrame([(one,) for one in [*made, b"broken", None]], "body binary").coalesce(1)
    own = [{one.name: one.value for one in inspect(message).rows} for message in made]
    few = [{name: one for name, one in each.items() if not name.startswith(OF_DESCRIPTOR)} for each in own]
    with pytest.warns(UserWarning, match="2 of 10 messages cannot be read: they are left out"):
        found = contract(frame, properties=mq_message("body"))
    assert found.as_dict() == Contract.of(few).as_dict()
    changed = changes("n > 3", "n > 4 OR color = 'red'", frame, properties=mq_message("body"))
    assert (changed.messages, changed.gained.messages, changed.lost.messages) == (10, 2, 0)
    assert [one.message for one in changed.gained.examples] == [own[0], own[2]]
    assert [one.least for one in changed.gained.examples] == [{"color": "red"}] * 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("weight > 50", "weight > 60 OR color = 'blue'"),
        ("n > 5", "n > 5 AND weight >= 0"),
        ("color = 'red'", "NOT (color <> 'red') AND n * 2 >= 0 OR weight / 2 = 3"),
        ("weight > 5 AND color = 'red'", "absent = 1"),
    ],
)
def test_changes_are_those_of_diff(old: str, new: str, frame: Any, tmp_path: Path, capsys: Any) -> None:
    """Invariant: counts, selectors and what is least in examples are what `mqsel diff OLD NEW FILE` prints as JSON."""
    ordered = [row.asDict() for row in frame.collect()]
    path = tmp_path / "messages.jsonl"
    messages = [{name: Int32(one) if name == "weight" else one for name, one in row.items()} for row in ordered]
    lines = [json.dumps(in_json({name: one for name, one in each.items() if one is not None})) for each in messages]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    status = cli.main(["diff", "--json", old, new, str(path)])
    said = json.loads(capsys.readouterr().out)
    found = changes(old, new, frame)

    assert bool(found) is (status == 1)
    for side in ("gained", "lost"):
        mine = getattr(found, side)
        assert (mine.messages, mine.selector) == (said[side]["messages"], said[side]["selector"])
        assert [in_json(one.least) for one in mine.examples] == [one["least"] for one in said[side]["examples"]]
    assert found.messages == len(ROWS)


def test_changes_of_random_selectors(spark: Any) -> None:
    """Invariant: gained and lost are what two Matchers select alone, and so are each example and its least part."""
    rng = random.Random("changes")
    kinds, rows, cases = drawn(rng, "JMS")
    spark.conf.set("spark.sql.caseSensitive", "true")
    looked_at = 0
    try:
        frame = frame_of(spark, kinds, rows).coalesce(1)
        for (one, _), (other, _) in zip(cases[:12:2], cases[1:12:2], strict=True):
            old, new = [mqsel.compile(text, dialect=JMS, schema=list(kinds.items())) for text in (one, other)]
            found = changes(one, other, frame, dialect=JMS)
            pairs = [(old.matches(row), new.matches(row)) for row in rows]
            assert (found.gained.messages, found.lost.messages) == (
                pairs.count((False, True)),
                pairs.count((True, False)),
            )
            free = [mqsel.compile(text, dialect=JMS) for text in (one, other)]
            for side, wanted in ((found.gained, (False, True)), (found.lost, (True, False))):
                assert len(side.examples) == min(3, side.messages)
                for example in side.examples:
                    looked_at += 1
                    assert tuple(each.matches(example.message) for each in free) == wanted
                    assert tuple(each.matches(example.least) for each in free) == wanted
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert looked_at > 5


def test_changes_with_a_contract_and_as_text(frame: Any) -> None:
    """With a contract the selector of what is gained is short; the text says what `diff` says."""
    given = contract(frame)
    found = changes("color = 'red'", "color <> 'blue'", frame, given=given)

    assert found.gained.selector == "color = 'green'"
    assert str(found).splitlines()[:2] == ["90 messages, 30 added, 0 dropped", 'added   {"color": "green"}']
    assert str(found).splitlines()[-2:] == ["added   … and 27 more", "exactly the added messages: color = 'green'"]
    with pytest.raises(mqsel.ArgumentError, match="a comparison needs all rows"):
        changes("a = 1", "a = 2", "a int")  # type: ignore[arg-type]
    with pytest.raises(mqsel.SelectorSyntaxError):
        changes("a = 1", "a ==", frame)
