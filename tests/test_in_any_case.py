"""Names without regard to case: AZURE_SERVICE_BUS reads them so, in every way in which messages are read."""

from __future__ import annotations

import json
import pickle
import random
from collections import UserDict
from typing import TYPE_CHECKING, Any

import pytest

import mqsel
from mqsel.analysis.compare.audit import audit
from mqsel.cli import main
from mqsel.columns import _answers
from mqsel.errors import ArgumentError, PropertyTypeError, UndocumentedError
from mqsel.formats.jsonl import in_json
from mqsel.names import ANY_CASE, by_casefold, folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

AZURE = mqsel.AZURE_SERVICE_BUS
NAMES = ("Color", "weight", "sys.Label", "stra\u00dfe", "Flag")
_TESTS = (
    "{0} = 'red'",
    "{0} <> 'RED'",
    "{0} LIKE 'r%'",
    "{0} IN ('red', 'blue')",
    "{0} > 2",
    "{0} + 1 <= 3",
    "{0} IS NULL",
    "EXISTS({0})",
    "{0} = {1}",
    "{0} = TRUE",
)
_VALUES = ("red", "blue", "RED", 1, 2, 3, 2.5, True, None)
CLASH = "differ in case alone: expected one of them, since this dialect reads names without regard to case"


def _in_some_case(rng: random.Random, name: str) -> str:
    return "".join(rng.choice((sign.lower(), sign.upper(), sign)) for sign in name)


def _selector(rng: random.Random, depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.4:
        names = [_in_some_case(rng, rng.choice(NAMES)) for _ in range(2)]
        # The prefix is a word of the language, which is written in one way.
        return rng.choice(_TESTS).format(*[f"[{name}]" if "." in name else name for name in names])
    below = [_selector(rng, depth - 1) for _ in range(2)]
    return rng.choice(("({} AND {})", "({} OR {})", "NOT ({})")).format(*below)


def _message(rng: random.Random) -> dict[str, Any]:
    return {name: rng.choice(_VALUES) for name in NAMES if rng.random() < 0.8}


def _respelled(rng: random.Random, message: Mapping[str, Any]) -> dict[str, Any]:
    return {_in_some_case(rng, name): value for name, value in [*message.items(), ("other", 1)]}


Read = dict[str, Any]


def _batch(message: Read) -> Any:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return arrow.RecordBatch.from_pylist([message]) if message else arrow.RecordBatch.from_pylist([{"-": 1}])


def _nested(message: Read) -> Any:
    """Return a batch in which names with dots are fields of structs."""
    made: dict[str, Any] = {}
    for name, value in message.items():
        before, dot, after = name.partition(".")
        if dot:
            made.setdefault(before, {})[after] = value
        else:
            made[name] = value
    return _batch(made)


def _mixed(matcher: mqsel.Matcher) -> mqsel.SelectorSet[str]:
    """Return a set whose other selectors read the same names as they are spelled."""
    exact = {
        f"jms{n}": mqsel.compile(f"{name} IS NOT NULL", dialect="JMS") for n, name in enumerate(("color", "Color"))
    }
    return mqsel.SelectorSet({"a": matcher, **exact}, dialect="JMS")


def _line(message: Read) -> str:
    return json.dumps(in_json(message))


def _selected(keys: Iterable[str]) -> bool:
    return "a" in keys


def _in_sets(matcher: mqsel.Matcher, batch: Any) -> bool | None:
    found = _mixed(matcher).match_batch(batch).to_pylist()[0]
    return None if found is None else 0 in found


def _streamed(stream: Any) -> bool:
    return len([*stream]) == 1


# Whether a message is selected.
WAYS: dict[str, Callable[[mqsel.Matcher, Read], object]] = {
    "matches": lambda matcher, message: matcher.matches(message),
    "Mapping": lambda matcher, message: matcher.matches(UserDict(message)),
    "Record": lambda matcher, message: matcher.matches(mqsel.Record([*message], [*message.values()])),
    "schema": lambda matcher, message: mqsel.compile(matcher.selector, dialect=AZURE, schema=[*message]).matches(
        tuple(message.values())
    ),
    "filter": lambda matcher, message: _streamed(matcher.filter([message])),
    "filter of an iterator": lambda matcher, message: _streamed(matcher.filter(iter([message]))),
    "filter of lines": lambda matcher, message: _streamed(matcher.filter([_line(message)], format="json")),
    "why": lambda matcher, message: matcher.why([message]).selected == 1,
    "why of lines": lambda matcher, message: matcher.why([_line(message)], format="json").selected == 1,
    "set": lambda matcher, message: _selected(mqsel.SelectorSet({"a": matcher}, dialect=AZURE).match(message)),
    "mixed set": lambda matcher, message: _selected(_mixed(matcher).match(message)),
    "mixed set, Mapping": lambda matcher, message: _selected(_mixed(matcher).match(UserDict(message))),
    "mixed set, Record": lambda matcher, message: _selected(
        _mixed(matcher).match(mqsel.Record([*message], [*message.values()]))
    ),
    "mixed set, lines": lambda matcher, message: any(
        _selected(keys) for _, keys in _mixed(matcher).filter([_line(message)], format="json")
    ),
    "travelled set": lambda matcher, message: _selected(_mixed(matcher).copy().match(message)),
}
# Of columns: null where there is no answer.
COLUMN_WAYS: dict[str, Callable[[mqsel.Matcher, Read], object]] = {
    "match_batch": lambda matcher, message: matcher.match_batch(_batch(message))[0].as_py(),
    "match_batch, nested": lambda matcher, message: matcher.match_batch(_nested(message))[0].as_py(),
    "rows of a batch": lambda matcher, message: (False, True, False, False, None)[
        _answers.truths(matcher, _batch(message), by_rows=True)[0]
    ],
    "mixed set of columns": lambda matcher, message: _in_sets(matcher, _batch(message)),
    "mixed set of columns, nested": lambda matcher, message: _in_sets(matcher, _nested(message)),
}


def _outcome(way: Callable[[Any, Any], object], matcher: Any, message: Any) -> object:
    try:
        return way(matcher, message)
    except UndocumentedError:
        return None  # in columns null: no document says what the selector is
    except PropertyTypeError as error:
        return error.message


@pytest.mark.sample(8)
@pytest.mark.parametrize("way", [*WAYS, *COLUMN_WAYS])
def test_a_name_in_any_case_is_the_name(way: str) -> None:
    """A message with its names in any case is to each reader what it is with those of the selector."""
    if way in COLUMN_WAYS:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    run = {**WAYS, **COLUMN_WAYS}[way]
    rng = random.Random(way)
    answers: set[object] = set()
    for _ in range(30 if "why" in way else 120):
        matcher = mqsel.compile(_selector(rng), dialect=AZURE)
        message = _message(rng)
        own = {name.casefold(): name for name in matcher.properties}
        read = {own.get(name.casefold(), name): value for name, value in message.items()}
        found = _outcome(run, matcher, _respelled(rng, message))
        assert found == _outcome(run, matcher, read), (matcher, message)
        # Whether an answer is asked for that no document has depends on the order of the tests.
        plain = _outcome(WAYS["matches"], matcher, read)
        assert plain is None or found is None or found == plain, (matcher, message)
        answers.add(found)
    assert answers >= {True, False}


@pytest.mark.parametrize("way", [*WAYS, *COLUMN_WAYS])
def test_two_spellings_are_the_same_error(way: str) -> None:
    """Two spellings of one wanted name are one error in each reader, which names both; of another they are none."""
    if way in COLUMN_WAYS:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    run = {**WAYS, **COLUMN_WAYS}[way]
    matcher = mqsel.compile("Color = 'red' OR sys.Label = 'x'", dialect=AZURE)
    harmless = {"COLOR": "red", "other": 1, "Other": 2}
    # In another order, because a batch in structs has its fields together.
    for message in ({"color": "red", "COLOR": "red"}, {"sys.label": "x", "sys.LABEL": "x"}):
        one, other = (name.rpartition(".")[2] if "nested" in way else name for name in message)
        assert _outcome(run, matcher, message) == f"'{one}' and '{other}' {CLASH}"
    assert _outcome(run, matcher, harmless) is True


def test_errors_are_skipped_and_counted() -> None:
    """`errors="skip"` counts a message with two spellings, and a stream keeps the error."""
    matcher = mqsel.compile("Color = 'red'", dialect=AZURE)
    messages = [{"color": "red"}, {"Color": "red", "color": "red"}, {"COLOR": "blue"}]
    for stream in (matcher.filter(messages, errors="skip"), _mixed(matcher).filter(messages, errors="skip")):
        assert len([*stream]) >= 1
        assert (stream.seen, stream.skipped) == (3, 1)
        assert "'Color' and 'color'" in str(stream.failures[0])
    assert "hint: rename or drop one of them" in str(stream.failures[0])
    with pytest.raises(PropertyTypeError, match=CLASH):
        mqsel.compile("Color = 'red'", dialect=AZURE, schema=["color", "Color"])


def test_a_mixed_set_reads_names_by_each_dialect() -> None:
    """In one set a JMS key reads a name as it is spelled, and an Azure key in any case, also as `scan` says."""
    selectors = _mixed(mqsel.compile("color IS NOT NULL", dialect=AZURE))
    for name, expected in {"color": ["a", "jms0"], "Color": ["a", "jms1"], "COLOR": ["a"], "colors": []}.items():
        assert selectors.match({name: 1}) == selectors.scan({name: 1}) == expected
        assert selectors.match({f"{name}{ANY_CASE}": 1}) == []
    assert selectors.properties == ("color", "Color")
    assert selectors.in_any_case == ("color",)
    with pytest.raises(ArgumentError, match="in any case"):
        mqsel.SelectorSet({"a": f'"x{ANY_CASE}" = 1'}, dialect=mqsel.ARTEMIS)


def test_explain_finds_the_name() -> None:
    """`explain` reads a name in any case, and offers none that is read as a near miss."""
    made = mqsel.compile("Color = 'red' AND weigth > 1", dialect=AZURE).explain({"cOLOR": "red", "WEIGHT": 2})
    assert made.parts[1].truth is mqsel.Truth.TRUE
    assert "the message has WEIGHT" in str(made)
    assert "has cOLOR" not in str(made)


def test_formats_that_are_read_by_name_refuse() -> None:
    """A format that is read by name alone refuses, of a matcher and of a set, and names those that do not."""
    matcher = mqsel.compile("Color = 'red'", dialect=AZURE)
    for name in ("mq", "connect", "pulsar"):
        for selects in (matcher, _mixed(matcher)):
            with pytest.raises(ArgumentError, match="as they are spelled: expected 'amqp', 'json', columns"):
                selects.decoder(name)
    later = mqsel.SelectorSet({"a": "x = 1"})
    decode = later.decoder("mq")
    later["b"] = matcher
    with pytest.raises(ArgumentError, match="read by names as they are spelled"):
        decode(b"")


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of JSON and columns of Parquet are matched, routed and counted by names in any case."""
    rows = [{"color": "red", "z": 1}, {"color": "blue", "z": 2}]
    (tmp_path / "set.json").write_text(json.dumps({"a": "Color = 'red'"}))
    (tmp_path / "m.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "two.jsonl").write_text('{"color": "red", "Color": "red"}\n')
    names = ["m.jsonl"]
    twice = ["two.jsonl"]
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError:
        pass
    else:
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "m.parquet")
        pq.write_table(pa.table({"color": ["red"], "Color": ["red"]}), tmp_path / "two.parquet")
        names.append("m.parquet")
        twice.append("two.parquet")

    def run(command: str, selects: str, name: str) -> tuple[str, str]:
        selects = str(tmp_path / selects) if command == "route" else selects
        main([command, "--dialect", "AZURE_SERVICE_BUS", selects, str(tmp_path / name)])
        return capsys.readouterr()

    for name in names:
        assert run("match", "COLOR = 'red'", name)[0] == '{"color": "red", "z": 1}\n'
        assert '"subscribers": ["a"]' in run("route", "set.json", name)[0]
        assert "1 of 2" in run("why", "COLOR = 'red'", name)[0]
    for name in twice:
        for command, selects in (("match", "COLOR = 'red'"), ("route", "set.json"), ("why", "COLOR = 'red'")):
            assert f"'color' and 'Color' {CLASH}" in run(command, selects, name)[1]


def test_folded() -> None:
    """`folded` calls a name as it is wanted, and what is no text is no name."""
    wanted = by_casefold(["Color", "Stra\u00dfe"])
    assert folded({5: 1, "COLOR": 2, "STRASSE": 3, "x": 4}.items(), wanted) == {"Color": 2, "Stra\u00dfe": 3}


def _amqp(subject: str, **application: str) -> bytes:
    """Write an AMQP message: AMQP 1.0, §3.2."""

    def text(value: str) -> bytes:
        return b"\xa1" + bytes([len(value.encode())]) + value.encode()

    fields = b"\x40\x40\x40" + text(subject)
    pairs = b"".join(text(one) for pair in application.items() for one in pair)
    properties = b"\x00\x53\x73\xc0" + bytes([len(fields) + 1, 4]) + fields
    return properties + b"\x00\x53\x74\xc1" + bytes([len(pairs) + 1, 2 * len(application)]) + pairs


def _of_raw(selects: Any, raw: bytes) -> bool:
    message = selects.decoder("amqp")(raw)
    return selects.matches(message) if isinstance(selects, mqsel.Matcher) else _selected(selects.match(message))


def test_amqp() -> None:
    """Application properties of AMQP count in any case, beside headers of the scope sys, for a matcher and for sets."""
    matcher = mqsel.compile("Color = 'red' AND sys.LABEL = 'x'", dialect=AZURE)
    messages = {
        _amqp("x", COLOR="red"): True,
        _amqp("y", color="red"): False,
        _amqp("x", color="red", **{"sys.Label": "z", "Other": "1", "other": "2"}): True,
        _amqp("x", color="red", Color="red"): f"'color' and 'Color' {CLASH}",
    }
    for raw, expected in messages.items():
        for selects in (matcher, _mixed(matcher), mqsel.SelectorSet({"a": matcher}, dialect=AZURE)):
            assert _outcome(_of_raw, selects, raw) == expected
    assert pickle.loads(pickle.dumps(matcher.decoder("amqp"))).names == ("Color", "sys.LABEL")
    assert pickle.loads(pickle.dumps(matcher.decoder("json"))).names == ("Color", "sys.LABEL")


def test_selectors_are_compared_by_names_in_any_case() -> None:
    """Two selectors that spell a name in two ways read one property, for relation, gap, audit and a contract."""
    asked = {"dialect": AZURE}
    assert str(mqsel.relation("Color IS NULL", "color IS NULL", **asked)) == "equal"
    assert str(mqsel.relation("Color IS NULL", "COLOR IS NOT NULL", **asked)) == "disjoint"
    assert mqsel.gap(["Color IS NULL", "COLOR IS NOT NULL"], **asked).message is None
    required = {"cOLOR": {"type": "string", "required": True}}
    assert not mqsel.satisfiable("Color IS NULL", given=required, **asked)
    made = audit([("a", "x IS NULL"), ("b", "X IS NULL"), ("c", "x = 'red'"), ("d", "x > 2")], **asked)
    assert [one.keys for one in made.equal] == [("a", "b")]
    # To a selector that reads names as they are spelled they are two; a message that has both is none to the other.
    exact = mqsel.compile("color IS NOT NULL AND Color IS NOT NULL", dialect="JMS")
    assert mqsel.relation(mqsel.compile("color IS NOT NULL", dialect=AZURE), exact).both is None
    parted = mqsel.difference("Color IS NULL AND color IS NOT NULL", AZURE, "JMS")
    assert [one.field for one in parted.readings] == ["headers"]
