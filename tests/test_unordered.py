"""NaN and -0.0 in a dialect with a total order of floats: computed they have their place, incoming they are errors."""

from __future__ import annotations

import json
import math
import pickle
from typing import TYPE_CHECKING, Any

import pytest

import mqsel
from mqsel.cli import main
from mqsel.errors import PropertyTypeError, UndocumentedError
from mqsel.language.dialect import PRESETS, core_of
from mqsel.machine.program import disassemble
from mqsel.values import Float32

if TYPE_CHECKING:
    from pathlib import Path

TOTAL = [name for name, dialect in PRESETS.items() if core_of(dialect).has_greatest]
TEXT = "price >= 0 AND color = 'red'"
# Each with whether it is selected; None: no answer.
MESSAGES: list[tuple[dict[str, Any], bool | None]] = [
    ({"price": 2.5, "color": "red"}, True),
    ({"price": 0.0, "color": "red"}, True),
    ({"price": math.nan, "color": "red"}, None),
    ({"price": -0.0, "color": "red"}, None),
    ({"price": Float32(-0.0), "color": "red"}, None),
    ({"price": Float32(math.nan), "color": "blue"}, None),
    ({"color": "red"}, False),
    ({"price": 2.5, "other": math.nan}, False),
]


def _is_selected(match: Any, message: Any) -> bool | None:
    try:
        return bool(match(message))
    except PropertyTypeError as error:
        assert error.name == "price"
        assert "property 'price' is " in error.message
        assert error.hint
        return None


def test_dialects() -> None:
    """The four products whose comparisons are those of Java's Double.compareTo."""
    assert sorted(TOTAL) == ["ACTIVEMQ", "ARTEMIS", "QPID_BROKER_J", "ROCKETMQ"]
    for number in (math.nan, -0.0, Float32(math.nan), Float32(-0.0)):
        for dialect in TOTAL:
            assert _is_selected(mqsel.compile("price > 0.5", dialect=dialect).matches, {"price": number}) is None


@pytest.mark.parametrize("dialect", ["ACTIVEMQ", "ARTEMIS"])
@pytest.mark.parametrize(
    "text",
    [
        *("JMSPriority = 0", "price >= 0", "price < 0.0", "price <> 0", "price <= 0.0", "price <= 0 OR color = 'red'"),
        *("price BETWEEN 0 AND 5", "NOT (price > 0)"),
    ],
)
def test_tests_without_arithmetic_are_as_plain_as_those_of_ibm_mq(text: str, dialect: str) -> None:
    """A property is compared with zero by the instructions that IBM_MQ has for it."""

    def listed(dialect: str) -> list[tuple[Any, ...]]:
        return [(line.name, line.resolved) for line in disassemble(mqsel.compile(text, dialect=dialect).program)]

    assert listed("IBM_MQ") == listed(dialect)


@pytest.mark.parametrize("dialect", ["ACTIVEMQ", "ARTEMIS", "QPID_BROKER_J"])
def test_every_way_to_match(dialect: str, tmp_path: Path) -> None:
    """A matcher and a set, pickled and saved, find the same in dicts, tuples and Records, or have no answer."""
    schema = [("color", "string"), ("price", None), ("other", None)]
    matcher = mqsel.compile(TEXT, dialect=dialect)
    laid_out = mqsel.compile(TEXT, dialect=dialect, schema=schema)
    selectors = mqsel.SelectorSet({"a": TEXT}, dialect=dialect)
    selectors.save(tmp_path / "set")
    mixed = mqsel.SelectorSet({"ibm": "other IS NULL AND other = 'x'", "own": matcher})
    wanted = [selected for _, selected in MESSAGES]
    for match in (
        matcher.matches,
        lambda message: matcher.evaluate(message) is mqsel.Truth.TRUE,
        lambda message: [*matcher.filter([message])],
        pickle.loads(pickle.dumps(matcher)).matches,
        lambda message: laid_out.matches([message.get(name) for name, _ in schema]),
        lambda message: matcher.matches(mqsel.Record([name for name, _ in schema], message)),
        lambda message: [*matcher.filter([mqsel.Record([name for name, _ in schema], message)])],
        matcher.explain,
        lambda message: matcher.why([message]),
        selectors.match,
        lambda message: selectors.match(mqsel.Record(["price", "color"], [message.get("price"), message.get("color")])),
        mqsel.SelectorSet.open(tmp_path / "set").match,
        pickle.loads(pickle.dumps(selectors)).match,
        lambda message: [*selectors.filter([message])],
        mixed.match,
    ):
        assert wanted == [_is_selected(match, message) for message, _ in MESSAGES]
    for stream in (
        matcher.filter([message for message, _ in MESSAGES], errors="skip"),
        matcher.filter([mqsel.Record([name for name, _ in schema], message) for message, _ in MESSAGES], errors="skip"),
        selectors.filter([message for message, _ in MESSAGES], errors="skip"),
    ):
        list(stream)
        assert (stream.seen, stream.selected, stream.skipped) == (8, 2, 4)
    assert matcher.why([message for message, _ in MESSAGES], errors="skip").selected == 2


@pytest.mark.parametrize("dialect", ["ACTIVEMQ", "ARTEMIS", "QPID_BROKER_J"])
def test_what_is_decided_before_is_not_asked(dialect: str) -> None:
    """As with a value that no property can have: an error only if evaluation comes to it."""
    text = "color = 'red' AND price >= 0"
    message = {"price": math.nan, "color": "blue"}
    matcher, selectors = mqsel.compile(text, dialect=dialect), mqsel.SelectorSet({"a": text}, dialect=dialect)

    assert not matcher.matches(message)
    assert not matcher.matches(mqsel.Record(["color", "price"], message))
    assert not matcher.explain(message)
    assert selectors.match(message) == []
    assert _is_selected(matcher.matches, {"price": math.nan, "color": "red"}) is None


def test_only_selectors_that_read_the_property_fail() -> None:
    """In a set with other dialects, IBM's selectors take what ActiveMQ's do not."""
    own = mqsel.compile("color = 'red' AND price >= 0", dialect="ACTIVEMQ")
    selectors = mqsel.SelectorSet({"ibm": "weight = 0", "own": own})

    assert selectors.match({"weight": -0.0, "color": "blue", "price": math.nan}) == ["ibm"]
    assert selectors.match({"weight": -0.0, "color": "red"}) == ["ibm"]
    assert _is_selected(selectors.match, {"weight": -0.0, "color": "red", "price": -0.0}) is None


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize("dialect", ["ACTIVEMQ", "ARTEMIS", "QPID_BROKER_J"])
def test_batches(dialect: str, count: int, kind: str) -> None:
    """A row without an answer is null, from a plain column and from a dictionary; NaN beneath a NULL is none."""
    arrow = pytest.importorskip("pyarrow")
    prices = [2.5, math.nan, -0.0, 0.0, None, -1.0] * count
    plain = arrow.array(prices, getattr(arrow, kind)())
    colors = ["red"] * 6 * count
    matcher, selectors = mqsel.compile(TEXT, dialect=dialect), mqsel.SelectorSet({"a": TEXT}, dialect=dialect)
    for column in (plain, plain.dictionary_encode()):
        batch = arrow.RecordBatch.from_pydict({"price": column, "color": colors})
        assert [True, None, None, True, False, False] * count == matcher.match_batch(batch).to_pylist()
        assert [True, None, None, True, None, False] * count == matcher.truth_batch(batch).to_pylist()
        assert [[0], None, None, [0], [], []] * count == selectors.match_batch(batch).to_pylist()
        blue = batch.set_column(1, "color", arrow.array(["blue"] * len(colors)))
        first = mqsel.compile("color = 'red' AND price >= 0", dialect=dialect)
        assert [False] * 6 * count == first.match_batch(blue).to_pylist()
        with pytest.raises(UndocumentedError, match="not supported"):
            matcher.select(arrow.Table.from_batches([batch]))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_command(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`mqsel match` and `mqsel route` count such messages as skipped."""
    path = tmp_path / f"messages.{kind}"
    rows = [{"price": 2.5, "color": "red"}, {"price": -0.0, "color": "red"}, {"price": 1.5, "color": "blue"}]
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
        parquet.write_table(arrow.Table.from_pylist(rows), path)
    (tmp_path / "selectors.tsv").write_text(f"a\t{TEXT}\n")
    for command in (["match", "--count", TEXT], ["route", "--count", str(tmp_path / "selectors.tsv")]):
        asked = [command[0], "--dialect", "ARTEMIS", *command[1:], str(path)]
        main(asked)
        output = capfd.readouterr()
        assert "1 skipped" in output.err
        assert main([*asked, "--errors", "raise"]) == 2


def test_a_batch_of_a_set_with_names_in_any_case() -> None:
    """A row with such a value is run selector by selector, also by dialects that read names in any case."""
    pa = pytest.importorskip("pyarrow")
    azure = mqsel.compile("Price > 1", dialect="AZURE_SERVICE_BUS")
    artemis = mqsel.compile("z > 1", dialect="ARTEMIS")
    batch = pa.RecordBatch.from_pydict({"price": [2.5, 2.5], "z": [3.0, -0.0]})

    assert mqsel.SelectorSet(enumerate([azure, artemis])).match_batch(batch).to_pylist() == [[0, 1], None]
