"""Messages in memory are to a selector what they are in their files."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="the extra explore needs pyarrow")

from mqsel import SelectorSet, compile  # noqa: A004, E402
from mqsel.analysis.explain.account import Profiler  # noqa: E402
from mqsel.errors import DecodeError, PropertyTypeError, UndocumentedError  # noqa: E402
from mqsel.explorer import blocks  # noqa: E402
from mqsel.files.parts import listed_files  # noqa: E402
from mqsel.files.run import sifted  # noqa: E402
from mqsel.files.run.work import Ask  # noqa: E402
from mqsel.formats import decoder  # noqa: E402
from mqsel.language.selector import read_selector  # noqa: E402

SELECTORS = (
    "a > 2 AND b = 'x'",
    "a = b",
    "c = b",
    "NOT (a = 1) OR b LIKE 'x%'",
    "b IN ('x', 'y') OR a >= 0 AND a < 3.5",
    "a IS NULL",
    "a * 2 > 5 AND c",
    "a = 1 OR c = TRUE OR nothing = 3",
)
DOTTED = ("usr.b = 'x' AND c = TRUE", "b = 'x' OR usr.b = 'y'")  # two names of one property, of IBM MQ alone
NUMBERS = st.integers(-3, 5) | st.integers() | st.sampled_from([0.5, 2.5, float("nan"), float("inf"), 1e300])
NAMED = st.sampled_from([{"int32": 3}, {"float32": 2.5}, {"bytes": "78"}, {"int8": 999}, {"a": 1}, {"null": None}])
VALUES = NUMBERS | st.sampled_from(["x", "y", "x1", "", "\ud800"]) | st.booleans() | st.none() | NAMED | st.just([1])
MESSAGES = st.dictionaries(st.sampled_from(["a", "b", "usr.b", "c"]), VALUES, max_size=4)


def collected(path, kind=None, types=()):
    """Return the blocks of a file."""
    ask = Ask(format=kind or "json", types=types)
    found = sifted(None, lambda: ask, listed_files([str(path)]), kind, 1, None, blocks.Collect)
    return [record for *_, record in found if isinstance(record, blocks.Block)]


def one_by_one(matcher, raw):
    """Return what each line is for a selector, by the machine alone."""
    decode, states = decoder("json", matcher.properties), []
    for line in raw:
        try:
            message = decode(line)
            is_selected = matcher.matches(message)
        except (PropertyTypeError, DecodeError):
            states.append(blocks.SKIPPED)
            continue
        try:
            states.append(blocks.SELECTED if is_selected else int(matcher.evaluate(message)))
        except UndocumentedError:  # whether it is FALSE or UNKNOWN is not said
            states.append(blocks.UNKNOWN)
        except (PropertyTypeError, DecodeError):
            states.append(blocks.NOT_SELECTED)
    return states


@settings(max_examples=60, deadline=None)
@given(
    messages=st.lists(MESSAGES, min_size=1, max_size=12),
    dialect=st.sampled_from(["IBM_MQ", "ARTEMIS", "AZURE_SERVICE_BUS"]),
)
def test_columns_are_what_the_machine_says(messages, dialect):
    """Invariant: whatever types the values of rows have, a row of a block is what the machine makes of its line."""
    raw = [json.dumps(one).encode() for one in messages]
    read = [json.loads(line) for line in raw]
    block = blocks.Block(
        "f", "json", 0, pa.array(range(1, len(raw) + 1)), pa.array(raw, pa.large_binary()), blocks.columns_of(read)
    )

    for text in SELECTORS + DOTTED * (dialect == "IBM_MQ"):
        matcher = compile(text, dialect=dialect)
        assert blocks.states(block, matcher, {}).to_pylist() == one_by_one(matcher, raw), text


@settings(max_examples=30, deadline=None)
@given(messages=st.lists(MESSAGES, min_size=1, max_size=12))
def test_reasons_are_counted_as_one_by_one(messages):
    """Invariant: a block is counted as its messages are one by one."""
    raw = [json.dumps(one).encode() for one in messages]
    columns = blocks.columns_of([json.loads(line) for line in raw])
    block = blocks.Block("f", "json", 0, pa.array(range(len(raw))), pa.array(raw, pa.large_binary()), columns)
    for text in SELECTORS:
        matcher = compile(text)
        profiler = Profiler(read_selector(text, matcher.dialect))
        blocks.profile(block, matcher, profiler, {})
        alone = Profiler(read_selector(text, matcher.dialect))
        for line in raw:
            try:
                alone.take_raw(line, "json", decoder("json", matcher.properties)(line))
            except PropertyTypeError:
                alone.account.skipped += 1

        one, other = profiler.account, alone.account
        assert (one.messages, one.skipped, one.outcomes) == (other.messages, other.skipped, other.outcomes)
        assert [held.types for held in one.held.values()] == [held.types for held in other.held.values()]


def test_sets_are_judged_as_a_whole(tmp_path):
    """A row is selected for a set if any of its selectors selects it, by columns and one by one."""
    path = tmp_path / "m.jsonl"
    path.write_text('{"a": 1}\n{"a": "x"}\n{"a": 2.5}\n{"a": [1]}\n{"b": 1}\n', encoding="utf-8")
    (block,) = collected(path)

    selectors = SelectorSet({"one": "a = 1", "two": "a > 2"})

    assert blocks.states(block, selectors, {}).to_pylist() == [1, 0, 1, blocks.SKIPPED, 0]


def test_places_and_texts(tmp_path):
    """A message of a block has the place, the text and the properties that it has in its file."""
    path = tmp_path / "m.jsonl"
    path.write_text('\n{"a": 1}\nbroken\n{"a": {"int32": 2}}\n', encoding="utf-8")
    (block,) = collected(path)

    found = block.found(1)

    assert (block.rows, found.where.rpartition(":")[2]) == (2, "4")
    assert blocks.values_of(found, {}) == {"a": 2}
    assert block.text(1, {}) == '{"a": {"int32": 2}}'


def test_rows_of_parquet(tmp_path):
    """Rows of Parquet files are blocks of columns, with what their directories say."""
    pq = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "day=3"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1, 2, None], "b": ["x", "x", "y"]}), folder / "m.parquet", row_group_size=2)

    found = collected(tmp_path)
    states = [blocks.states(one, compile("day = 3 AND a > 1"), {}).to_pylist() for one in found]

    assert [one for block in states for one in block] == [0, 1, 2]
    assert found[-1].found(found[-1].rows - 1).where.endswith("m.parquet:3")
