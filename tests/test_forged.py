"""A program whose text is not what its code does: whoever needs the text refuses it, whatever was exchanged."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel.analysis.compare.relation import relation
from mqsel.errors import ProgramError
from mqsel.language.dialect import IBM_MQ, JMS
from mqsel.machine.program import Program

TEXT = "a > 1 AND s LIKE 'x%' AND b BETWEEN 1 AND c"
_PARTS = ("text", "dialect", "slots", "constants", "words", "span_table", "exact")


def _forged(**parts: Any) -> mqsel.Matcher:
    """Load a program that travelled with other parts."""
    program = mqsel.compile(TEXT).program
    data = Program(**({name: getattr(program, name) for name in _PARTS} | parts)).to_bytes()
    held: mqsel.Matcher = pickle.loads(pickle.dumps(mqsel.Matcher(Program.from_bytes(data))))
    return held


_FORGERIES: dict[str, Callable[[], mqsel.Matcher]] = {
    "text": lambda: _forged(text=TEXT.replace("> 1", "< 1")),
    "text that is no selector": lambda: _forged(text="=" * len(TEXT)),
    "text with a blank": lambda: _forged(text=" " + TEXT),
    "code": lambda: _forged(
        **{
            name: getattr(mqsel.compile("s LIKE 'x%' OR a > 1 AND b BETWEEN 1 AND c").program, name)
            for name in ("words", "span_table", "exact", "slots", "constants")
        }
    ),
    "exact code alone": lambda: _forged(exact=0, words=_exact_words(), span_table=_exact_spans()),
    "a constant": lambda: _forged(constants=tuple([2 if one == 1 else one for one in _constants()])),
    "a constant of another type": lambda: _forged(constants=tuple([1.0 if one == 1 else one for one in _constants()])),
    "dialect": lambda: _forged(dialect=IBM_MQ._replace(null_arithmetic="selector", between_null=_other_between())),
    "a name": lambda: _forged(slots=("a", "t", "b", "c")),
    "names exchanged": lambda: _forged(slots=("s", "a", "b", "c")),
}


def _constants() -> tuple[Any, ...]:
    return mqsel.compile(TEXT).program.constants


def _other_between() -> str:
    return "expand" if IBM_MQ.between_null == "literal" else "literal"


def _exact_words() -> bytes:
    return mqsel.compile("a > 1", optimize=False).program.words


def _exact_spans() -> bytes:
    return mqsel.compile("a > 1", optimize=False).program.span_table


def _batch(matcher: mqsel.Matcher) -> Any:
    pa = pytest.importorskip("pyarrow")
    return matcher.match_batch(pa.record_batch({"a": [1], "s": ["x"], "b": [1], "c": [1]}))


def _truths(matcher: mqsel.Matcher) -> Any:
    pa = pytest.importorskip("pyarrow")
    return matcher.truth_batch(pa.record_batch({"a": [1]}))


def _parquet(matcher: mqsel.Matcher, folder: Path) -> Any:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.table({"a": [1, 2], "s": ["x", "y"], "b": [1, 1], "c": [1, 1]}), folder / "rows.parquet"
    )
    return list(mqsel.files.filter(folder / "rows.parquet", matcher))


def _planned(matcher: mqsel.Matcher) -> Any:
    pytest.importorskip("pyspark")
    from mqsel.spark.planning import as_selector

    return as_selector(matcher, None)


_CONSUMERS: dict[str, Callable[[mqsel.Matcher, Path], Any]] = {
    "constant": lambda matcher, _: matcher.constant,
    "match_option": lambda matcher, _: matcher.match_option,
    "explain": lambda matcher, _: matcher.explain({"a": 2}),
    "why": lambda matcher, _: matcher.why([{"a": 2}]),
    "decoder": lambda matcher, _: matcher.decoder("mq"),
    "match_batch": lambda matcher, _: _batch(matcher),
    "truth_batch": lambda matcher, _: _truths(matcher),
    "filter of Parquet": _parquet,
    "relation": lambda matcher, _: relation(matcher, "a = 1"),
    "set": lambda matcher, _: mqsel.SelectorSet({1: matcher}),
    "Spark": lambda matcher, _: _planned(matcher),
}


@pytest.mark.parametrize("consumer", _CONSUMERS)
@pytest.mark.parametrize("forgery", _FORGERIES)
def test_who_needs_the_text_refuses_it(forgery: str, consumer: str, tmp_path: Path) -> None:
    """Each consumer of the text raises one ProgramError with a remedy; the machine runs the code all the same."""
    matcher = _FORGERIES[forgery]()
    for _ in range(2):
        with pytest.raises(ProgramError) as caught:
            _CONSUMERS[consumer](matcher, tmp_path)
        assert "the code of the program is not what its text says" in caught.value.message
        assert caught.value.hint
    assert matcher.matches({}) is False


@pytest.mark.parametrize("consumer", _CONSUMERS)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"optimize": False},
        {"dialect": JMS},
        {"for_subscription": True},
        {"schema": ["a", "s", "b", "c"]},
        {"optimize": False, "dialect": JMS._replace(between_null="literal")},
    ],
    ids=str,
)
def test_what_was_compiled_is_accepted(arguments: dict[str, Any], consumer: str, tmp_path: Path) -> None:
    """A matcher that travelled is taken by everybody, however it was compiled."""
    matcher = pickle.loads(pickle.dumps(mqsel.compile(TEXT, **arguments)))
    try:
        _CONSUMERS[consumer](matcher, tmp_path)
    except ProgramError as error:
        raise AssertionError(consumer) from error
    except mqsel.MqselError:  # of other dialects, which some refuse
        assert "dialect" in arguments


def test_it_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a matcher that travelled is compiled when it is first needed; not to match, and not again."""
    from mqsel.machine import origin

    calls = []
    program_of = origin.program_of
    monkeypatch.setattr(origin, "program_of", lambda *given, **more: calls.append(1) or program_of(*given, **more))
    matcher = pickle.loads(pickle.dumps(mqsel.compile(TEXT)))
    assert not matcher.matches({"a": 5})
    assert calls == []
    for _ in range(3):
        matcher.explain({"a": 5})
        assert len(calls) in (1, 2)
