"""Changes over files: what one of two selectors selects alone, by key."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from conftest import ROOT

import mqsel
from mqsel.files.parts import listed_files
from mqsel.files.run import sifted
from mqsel.files.run.work import Ask, Changed, ChangedMessage, Diff, Sharing, everything, in_files, is_counts

OLD = {"a": "color = 'red' AND weight > 100", "b": "weight < 50", "gone": "weight > 400"}
NEW = {"a": "color = 'red' AND weight > 110 OR weight = 7", "b": "weight < 50", "new": "color = 'blue'"}


def _changes(old, new, paths, jobs=1):
    """Return the counts by key and side, all examples, and how many messages there were."""
    selects = Changed(mqsel.SelectorSet(old), mqsel.SelectorSet(new))
    counts: Counter = Counter()
    examples, messages = [], 0
    ask = Ask(sharing=Sharing(part_size=8192))
    run = sifted(selects, lambda: ask, listed_files([*map(str, paths)]), None, jobs, None, Diff)
    for _, name, _, record in in_files(run):
        if isinstance(record, ChangedMessage):
            examples.append((name, record))
        elif is_counts(record):
            counts += record.delivered
            messages += record.messages
    return +counts, examples, messages


def _expected(old, new, messages):
    matchers = [{key: mqsel.compile(text) for key, text in texts.items()} for texts in (old, new)]
    counts: Counter = Counter()
    for message in messages:
        before, after = ({key for key, one in many.items() if one.matches(message)} for many in matchers)
        counts.update([(key, True) for key in after - before] + [(key, False) for key in before - after])
    return counts


@pytest.fixture
def lines(tmp_path):
    """Write messages, some of them twice, blank and damaged lines; return the file and the messages."""
    rng = random.Random(3)
    messages = [{"color": rng.choice(["red", "blue"]), "weight": rng.randrange(500)} for _ in range(2_000)]
    texts = [json.dumps(one) for one in messages]
    texts[50:50] = ["", "{", json.dumps(messages[0])]
    path = tmp_path / "messages.jsonl"
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path, [*messages, messages[0]]


@pytest.mark.parametrize("keys", [("a",), ("a", "b", "gone", "new")])
@pytest.mark.parametrize("jobs", [1, 2])
def test_counts_are_those_of_two_matches(lines, keys, jobs):
    """Gained and lost equal what matching with both selectors says, and each example is at its line."""
    path, messages = lines
    old, new = ({key: text for key, text in many.items() if key in keys} for many in (OLD, NEW))
    counts, examples, seen = _changes(old, new, [path], jobs)

    assert counts == _expected(old, new, messages)
    assert seen == len(messages) + 1
    texts = path.read_text(encoding="utf-8").splitlines()
    assert examples
    for _, one in examples:
        assert texts[one.line - 1] == one.message.decode().rstrip("\n")
        assert mqsel.compile(NEW[one.key] if one.is_gained else OLD[one.key]).matches(json.loads(one.message))


def test_dumps_and_columns(tmp_path):
    """Raw messages and rows of Parquet are compared, too."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    messages = [{"color": color, "weight": weight} for color in ("red", "blue") for weight in range(120)]
    pq.write_table(pa.Table.from_pylist(messages), tmp_path / "rows.parquet", row_group_size=50)
    counts, examples, seen = _changes(OLD, NEW, [tmp_path / "rows.parquet"])
    assert (counts, seen) == (_expected(OLD, NEW, messages), 240)
    assert all(json.loads(one.message) == messages[one.line - 1] for _, one in examples)

    counts, found, seen = _changes(
        {"k": "weight > 1000"}, {"k": "JMSType = 'car'"}, [ROOT / "bench" / "data" / "dump.qload"]
    )
    assert seen == 6
    assert counts
    for _, one in found:
        assert everything("qload", one.message, {})["JMSType"]
