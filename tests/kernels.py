"""What tests of the runner of columns have in common."""

from __future__ import annotations

from typing import Any

import pytest

import mqsel
from mqsel.columns import _answers
from mqsel.matcher import Matcher

pa = pytest.importorskip("pyarrow")


def compiled(text: str, **choices: str) -> Matcher:
    return mqsel.compile(text, dialect=mqsel.JMS.replace(**choices))


def batch_of(**arrays: Any) -> Any:
    return pa.RecordBatch.from_pydict(arrays)


def truths(matcher: Matcher, batch: Any) -> list[bool | None]:
    """Return what the kernel answers, which must take the batch, as Python writes three values."""
    assert _answers.refusal(matcher, batch) is None
    found = _answers.truths(matcher, batch)
    assert found == _answers.truths(matcher, batch, by_rows=True)
    return [(False, True, None)[truth] for truth in found]


def words(count: int) -> Any:
    listed = pa.array([f"word {number} and a long tail of it" for number in range(count)])
    return pa.DictionaryArray.from_arrays(pa.array(range(count), pa.int32()), listed)
