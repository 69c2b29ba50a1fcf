"""Where no document says what a selector is: an error of each message that is counted, and null in columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import mqsel
from mqsel.cli import main
from mqsel.errors import UndocumentedError

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "color = 5 AND weight > 1"
# Each with whether it is selected; None: nobody knows.
MESSAGES: dict[bool | None, dict[str, Any]] = {
    True: {"color": 5, "weight": 2},
    False: {"color": 6, "weight": 2},
    None: {"color": "red", "weight": 2},
}
AZURE = mqsel.AZURE_SERVICE_BUS


def test_messages() -> None:
    """`errors="skip"` counts such a message, and otherwise it is an error, of a matcher and of a set."""
    messages = [*MESSAGES.values()]
    matcher, selectors = mqsel.compile(TEXT, dialect=AZURE), mqsel.SelectorSet({"a": TEXT}, dialect=AZURE)
    for answer in (matcher.matches, matcher.evaluate, selectors.match):
        with pytest.raises(UndocumentedError, match="what = yields for values of different types is undocumented"):
            answer(MESSAGES[None])
    for stream in (matcher.filter(messages, errors="skip"), selectors.filter(messages, errors="skip")):
        assert len(list(stream)) == 1
        assert (stream.seen, stream.selected, stream.skipped) == (3, 1, 1)
        assert isinstance(stream.failures[0], mqsel.PropertyTypeError)
    with pytest.raises(UndocumentedError, match="record 2"):
        list(matcher.filter(messages))
    # What is decided before is not asked.
    assert matcher.matches({"color": 6, "weight": "x"}) is False


def _batch(**more: Any) -> Any:
    arrow = pytest.importorskip("pyarrow")
    color = arrow.array([5, 6, None, 7, None, 5] * 400, arrow.int64())
    return arrow.RecordBatch.from_pydict({"color": color, "weight": [2] * 2400, **more})


def test_columns() -> None:
    """A row without an answer is null; so is one that is UNKNOWN in three values."""
    matcher, selectors = mqsel.compile(TEXT, dialect=AZURE), mqsel.SelectorSet({"a": TEXT}, dialect=AZURE)
    batch = _batch()
    assert matcher.match_batch(batch).to_pylist() == [True, False, False, False, False, True] * 400
    assert matcher.truth_batch(batch).to_pylist() == [True, False, None, False, None, True] * 400
    assert selectors.match_batch(batch).to_pylist() == [[0], [], [], [], [], [0]] * 400

    texts = _batch(weight=["x"] * 2400)
    assert matcher.match_batch(texts).to_pylist() == [None, False, None, False, None, None] * 400
    assert matcher.truth_batch(texts).to_pylist() == [None, False, None, False, None, None] * 400
    # A set computes the tests on which it depends whether a row is selected.
    assert selectors.match_batch(texts).to_pylist() == [None, [], [], [], [], None] * 400
    arrow = pytest.importorskip("pyarrow")
    both = arrow.Table.from_batches([batch]).slice(0, 3), arrow.Table.from_batches([texts]).slice(0, 3)
    assert selectors.match_batch(both[0]).to_pylist() == [[0], [], []]
    assert selectors.match_batch(both[1]).to_pylist() == [None, [], []]


def test_profile_says_so() -> None:
    """`why` counts such messages, and says that nobody knows what they are."""
    made = str(mqsel.compile(TEXT, dialect=AZURE).why(MESSAGES.values()))
    assert "type mismatch in 1 of 3 messages: what that yields is undocumented for this product" in made
    zero = mqsel.compile("weight / 0 = 1", dialect=AZURE).explain({"weight": 2})
    assert "by zero, or type mismatch: what that yields is undocumented" in zero.parts[0].reason


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_command(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The commands report and skip it, or stop at it, whatever a file holds."""
    path = tmp_path / f"messages.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in MESSAGES.values()))
        text = TEXT
    else:
        parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
        parquet.write_table(arrow.table({"color": [5, None, 7], "weight": [None, 2, 2]}), path)
        text = "color = 5 OR weight = 'x'"
    selectors = tmp_path / "selectors.tsv"
    selectors.write_text(f"a\t{text}\n")
    for command in (["match", text], ["route", str(selectors)]):
        asked = [command[0], "--dialect", "AZURE_SERVICE_BUS", *command[1:], str(path)]
        assert main(asked) == 0
        assert "undocumented" in capfd.readouterr().err
        assert main([*asked, "--errors", "raise"]) == 2
        assert "undocumented" in capfd.readouterr().err
