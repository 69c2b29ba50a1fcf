"""What those who check types see of mqsel: `test_types` has mypy read this; nothing runs it.

An error that is ignored here must be one: mypy complains of a comment without effect.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import assert_type

import mqsel


@dataclass
class Order:
    color: str


def what_goes_in_comes_out(matcher: mqsel.Matcher, dicts: list[dict[str, int]], raw: Iterator[bytes]) -> None:
    assert_type(list(matcher.filter(dicts)), list[dict[str, int]])
    assert_type(next(matcher.filter(raw, format="mq", errors="skip")), bytes)
    for message in matcher.filter((("blue", 1),)):
        assert_type(message, tuple[str, int])
    assert_type(matcher.filter(dicts).failures, list[mqsel.MqselError])


def words_that_do_not_exist(matcher: mqsel.Matcher) -> None:
    matcher.filter([{}], errors="ignore")  # type: ignore[arg-type]
    matcher.filter([b""], format="mqm")  # type: ignore[arg-type]
    matcher.evaluate(Order("blue"))  # type: ignore[arg-type]


def many(selectors: mqsel.SelectorSet[str], dicts: list[dict[str, int]]) -> None:
    assert_type(selectors.match({"color": "blue"}), list[str])
    assert_type(list(selectors.filter(dicts)), list[tuple[dict[str, int], list[str]]])
    assert_type(next(selectors.filter([b""], format="mq", errors="skip")), tuple[bytes, list[str]])
    assert_type(mqsel.SelectorSet({1: "TRUE"}).match({}), list[int])
    assert_type(selectors["a"], str)
    selectors.match({}, within=[5])  # type: ignore[list-item]
    selectors["a"] = 5  # type: ignore[assignment]


def answers(record: mqsel.Record) -> None:
    matcher = mqsel.compile("color = 'blue'", dialect="JMS")
    assert_type(matcher.matches(record), bool)
    assert_type(matcher.evaluate(dict(record)), mqsel.Truth)
    assert_type(list(record), list[str])
