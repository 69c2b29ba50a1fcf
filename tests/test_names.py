"""One property, however a message spells its name: every source of properties gives the same answer.

Language §6 says which names are one property, formats §2 how a message may spell them and which spelling wins.
"""

from __future__ import annotations

import json
from collections import UserDict
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import pytest

import mqsel
from mqsel import formats
from mqsel.formats import jms, mq
from mqsel.language.dialect import CHOICES, Dialect
from mqsel.names import JMS_SYNONYMS, MQMD_TYPES, follow, look_up, spellings
from mqsel.values import Truth

IBM, PLAIN = mqsel.IBM_MQ, mqsel.JMS
DOTS = mqsel.JMS.replace(identifier_dots="yes")  # names with dots, and none of IBM's rules

TRUE, FALSE, UNKNOWN = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


class Case(NamedTuple):
    """A message, and what ``name = 'blue'`` is for it."""

    name: str
    dialect: Dialect
    message: dict[str, Any]
    want: Truth


# Names that stand in the message as they are: every source can hold them.
FLAT = [
    Case("color", IBM, {"color": "blue"}, TRUE),
    Case("color", PLAIN, {"color": "blue"}, TRUE),
    Case("color", IBM, {"other": "blue"}, UNKNOWN),
    Case("usr.color", IBM, {"color": "blue"}, TRUE),
    Case("color", IBM, {"usr.color": "blue"}, TRUE),
    Case("usr.color", IBM, {"usr.color": "blue"}, TRUE),
    Case("color", PLAIN, {"usr.color": "blue"}, UNKNOWN),
    Case("usr.color", DOTS, {"usr.color": "blue"}, TRUE),
    Case("usr.color", DOTS, {"color": "blue"}, UNKNOWN),
    # Two spellings in one message: the one without usr. counts, even if it is NULL.
    Case("color", IBM, {"color": "blue", "usr.color": "red"}, TRUE),
    Case("usr.color", IBM, {"usr.color": "red", "color": "blue"}, TRUE),
    Case("color", IBM, {"color": None, "usr.color": "blue"}, UNKNOWN),
    Case("usr.color", DOTS, {"color": "red", "usr.color": "blue"}, TRUE),
    # usr. stands before names of the sender alone, and once.
    Case("JMSType", IBM, {"JMSType": "blue"}, TRUE),
    Case("JMSType", IBM, {"usr.JMSType": "blue"}, UNKNOWN),
    Case("shop.x", IBM, {"shop.x": "blue"}, TRUE),
    Case("shop.x", IBM, {"usr.shop.x": "blue"}, UNKNOWN),
    Case("shop.x", IBM, {"x": "blue"}, UNKNOWN),
    Case("Color", IBM, {"color": "blue"}, UNKNOWN),
]
# Names with dots as a way through structs: of columns alone.
STRUCTS = [
    Case("color", IBM, {"usr": {"color": "blue"}}, TRUE),
    Case("usr.color", IBM, {"usr": {"color": "blue"}}, TRUE),
    Case("color", PLAIN, {"usr": {"color": "blue"}}, UNKNOWN),
    Case("usr.color", DOTS, {"usr": {"color": "blue"}}, TRUE),
    Case("color", IBM, {"usr": {"color": "red"}, "color": "blue"}, TRUE),
    Case("usr.color", IBM, {"usr": {"color": "red"}, "color": "blue"}, TRUE),
    Case("color", IBM, {"usr": {"color": "red"}, "usr.color": "blue"}, TRUE),
    Case("color", IBM, {"usr": {"other": "blue"}}, UNKNOWN),
    Case("JMSType", IBM, {"usr": {"JMSType": "blue"}}, UNKNOWN),
    Case("shop.x", PLAIN.replace(identifier_dots="yes"), {"shop": {"x": "blue"}}, TRUE),
    Case("a.b.c", IBM, {"a": {"b": {"c": "blue"}}}, TRUE),
    Case("a.b.c", IBM, {"a.b": {"c": "blue"}}, TRUE),
    Case("a.b.c", IBM, {"a": {"b.c": "blue"}}, TRUE),
    Case("a.b.c", IBM, {"a.b.c": "blue", "a": {"b": {"c": "red"}}}, TRUE),
    Case("a.b.c", IBM, {"a": {"b": {"c": "blue"}}, "a.b": {"c": "red"}}, TRUE),
    Case("a.b.c", IBM, {"a": {"b.c": "blue", "b": {"c": "red"}}}, TRUE),
    Case("a.b.c", IBM, {"a": {"other": "red"}, "a.b": {"c": "blue"}}, TRUE),
    Case("usr.shop.x", IBM, {"usr": {"shop": {"x": "blue"}}}, TRUE),
    Case("Root.MQMD.Format", IBM, {"Root": {"MQMD": {"Format": "blue"}}}, TRUE),
]


def shown(case: Case) -> str:
    rules = case.dialect.headers + (" with dots" if case.dialect == DOTS else "")
    return f"{case.name} under {rules} in {case.message}"


def matcher_of(case: Case, **options: Any) -> mqsel.Matcher:
    return mqsel.compile(f"{case.name} = 'blue'", dialect=case.dialect, **options)


def _of_mapping(made: Callable[[dict[str, Any]], Any]) -> Callable[[Case], Truth]:
    return lambda case: matcher_of(case).evaluate(made(case.message))


def _of_schema(case: Case) -> Truth:
    return matcher_of(case, schema=tuple(case.message)).evaluate(tuple(case.message.values()))


def _of_json(case: Case) -> Truth:
    matcher = matcher_of(case)
    text = json.dumps({name: value and {"string": value} for name, value in case.message.items()})
    return matcher.evaluate(matcher.decoder("json")(text))


SOURCES: dict[str, Callable[[Case], Truth]] = {
    "dict": _of_mapping(dict),
    "mapping": _of_mapping(UserDict),
    "schema": _of_schema,
    "Record": _of_mapping(lambda message: mqsel.Record(tuple(message), message)),
    "JSON": _of_json,
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("case", FLAT, ids=shown)
def test_flat(case: Case, source: str) -> None:
    """What names its properties one by one is read alike."""
    assert SOURCES[source](case) is case.want


def _batch(message: dict[str, Any]) -> Any:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

    def kind(value: Any) -> Any:
        if isinstance(value, dict):
            return pa.struct([(name, kind(inner)) for name, inner in value.items()])
        return pa.string()

    return pa.record_batch([pa.array([value], kind(value)) for value in message.values()], names=list(message))


@pytest.mark.parametrize("case", [*FLAT, *STRUCTS], ids=shown)
def test_columns(case: Case) -> None:
    """A batch of Arrow is read as a dict is, and names with dots are ways through structs."""
    batch = _batch(case.message)

    assert matcher_of(case).truth_batch(batch).to_pylist() == [_as_arrow(case.want)]
    assert matcher_of(case).match_batch(batch).to_pylist() == [case.want is TRUE]


def _as_arrow(truth: Truth) -> bool | None:
    return None if truth is UNKNOWN else bool(truth)


@pytest.mark.parametrize("case", [*FLAT, *STRUCTS], ids=shown)
def test_parquet(case: Case, tmp_path: Any) -> None:
    """Of a Parquet file the columns are read that a batch is asked for, and what is missing is counted alike."""
    batch = _batch(case.message)
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    import pyarrow as pa

    from mqsel.files import parquet

    path, matcher = str(tmp_path / "one.parquet"), matcher_of(case)
    pq.write_table(pa.Table.from_batches([batch]), path)
    (group,) = parquet.groups(matcher, path, 0, -1)
    counts, mask = parquet.counted(matcher, group, is_inverted=False, limit=None)

    assert mask.to_pylist() == [case.want is TRUE]
    assert (counts.unknown, sum(counts.missing.values())) == (case.want is UNKNOWN,) * 2


RECORDS = [case for case in FLAT if case.dialect != DOTS and not any("." in name for name in case.message)]


@pytest.mark.parametrize("case", RECORDS, ids=shown)
def test_records_of_connectors(case: Case) -> None:
    """A connector's record has names of JMS, none with usr.: either spelling in a selector reads them."""
    message = {"properties": case.message, "type": case.message.get("JMSType")}
    matcher = matcher_of(case)

    assert matcher.evaluate(matcher.decoder("lenses")(message)) is case.want


_UNWRITABLE = {"usr.JMSType", "usr.shop.x"}
BYTES = [case for case in FLAT if case.dialect is IBM and len(case.message) == 1 and not _UNWRITABLE & {*case.message}]


@pytest.mark.parametrize("case", BYTES, ids=shown)
def test_bytes(case: Case) -> None:
    """In the bytes of a message x and usr.x are one element, which is there once."""
    matcher = matcher_of(case)
    message = mq.encode({}, case.message)

    assert matcher.evaluate(matcher.decoder("mq")(message)) is case.want
    assert matcher.evaluate(formats.properties(message, [case.name])) is case.want


def test_spark_columns(spark: Any) -> None:
    """The columns of a DataFrame are read as those of a batch: `mqsel.spark.column` agrees with `match_batch`."""
    from mqsel.spark import plan

    cases = [*FLAT, *STRUCTS]
    frames = []
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        for case in cases:
            frame = spark.createDataFrame([_row(case.message)], _spark_schema(case.message))
            text = f"{case.name} = 'blue'"
            made = [plan(text, frame, dialect=case.dialect, strategy=strategy).column() for strategy in (None, "arrow")]
            frames.append(frame.select(made[0].alias("native"), made[1].alias("arrow")))
        found = reduce(lambda one, other: one.union(other), frames).coalesce(1).collect()
    finally:
        spark.conf.unset("spark.sql.caseSensitive")

    for case, row in zip(cases, found, strict=True):
        assert tuple(row) == (_as_arrow(case.want),) * 2, shown(case)


def _row(message: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(_row(value) if isinstance(value, dict) else value for value in message.values())


def _spark_schema(message: dict[str, Any]) -> str:
    def kind(value: Any) -> str:
        return f"struct<{_fields(value, ':')}>" if isinstance(value, dict) else "string"

    def _fields(inner: dict[str, Any], mark: str) -> str:
        return ", ".join(f"`{name}`{mark} {kind(value)}" for name, value in inner.items())

    return _fields(message, "")


def test_dicts_have_no_structs() -> None:
    """What a dict or a JSON object has inside a property is no property."""
    matcher = mqsel.compile("usr.color = 'blue'")

    assert matcher.evaluate({"usr": {"color": "blue"}}) is UNKNOWN
    assert matcher.evaluate(matcher.decoder("json")('{"usr": {"color": "blue"}}')) is UNKNOWN


@pytest.mark.parametrize("rules", CHOICES["headers"])
def test_spellings(rules: str) -> None:
    """Each spelling of a property gives the same spellings, and the first is what a matcher says it reads."""
    for name in ("x", "usr.x", "usr.a.b", "a.b", "JMSType", "usr.JMSType", "usr", "Root.MQMD.Format"):
        every = spellings(name, rules)

        assert name in every
        assert [spellings(one, rules) for one in every] == [every] * len(every)
        assert look_up({name: 1}, every[0], rules) == 1
    assert mqsel.compile("usr.x = 1").properties == spellings("usr.x")[:1] == ("x",)


def test_follow_takes_the_shortest_beginning() -> None:
    """A name leads to what has it whole, else through the shortest beginning that has the rest."""
    tree = {"a.b.c": 1, "a": {"b.c": 2, "b": {"c": 3}}, "a.b": {"c": 4}}

    def step(around: Any, name: str) -> Any:
        return around.get(name) if isinstance(around, dict) else None

    found = []
    for path in (["a.b.c"], ["a", "b.c"], ["a"], ["a.b"]):
        found.append(follow("a.b.c", tree, step))
        inner: Any = tree
        for one in path[:-1]:
            inner = inner[one]
        del inner[path[-1]]

    assert found == [1, 2, 3, 4]
    assert follow("a.b.c", tree, step) is None


def test_jms_names_have_sources() -> None:
    """The names of JMS that IBM MQ has, and the fields of the descriptor, are those that its messages are read for."""
    own = {name for name in jms.JMS if not name.startswith("JMS_IBM_")}

    assert own == set(JMS_SYNONYMS)
    assert {name.removeprefix("JMS_IBM_MQMD_") for name in jms.JMS if name.startswith("JMS_IBM_MQMD_")} == set(
        MQMD_TYPES
    )
    found = {row.name: row.type for row in formats.inspect(mq.encode({"MsgId": b"\1" * 24}, {})).rows}
    assert {name: kind for name, kind in JMS_SYNONYMS.items() if name in found} == {
        name: kind for name, kind in found.items() if name in JMS_SYNONYMS
    }
    assert {name: found[f"Root.MQMD.{name}"] for name in MQMD_TYPES} == MQMD_TYPES
