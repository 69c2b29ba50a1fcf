"""How errors read: first line, caret, hint; and that they travel."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import pickle
import re
import types
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import mqsel
from mqsel import cli, errors, formats
from mqsel.analysis import lint
from mqsel.analysis.compare.audit import audit
from mqsel.carets import cells, cut, padded
from mqsel.columns.wordings import with_extra
from mqsel.formats import mq
from mqsel.language.advice import unexpected_token
from mqsel.language.dialect import IBM_MQ, JMS, PRESETS
from mqsel.machine import wordings
from mqsel.selection import Complexity, Queue, Topic


def rendered(text: str, **options: object) -> str:
    with pytest.raises(errors.MqselError) as caught:
        mqsel.compile(text, **options)
    return str(caught.value)


def test_the_examples_of_the_house() -> None:
    """The complete text of the two model errors."""
    assert rendered("JMSPriority > 4 AND Colour == 'red'") == (
        "unexpected '=' after '=': expected a value [line 1, column 29; MQRC_SELECTOR_SYNTAX_ERROR (2459)]\n"
        "  | JMSPriority > 4 AND Colour == 'red'\n"
        "  |                             ^\n"
        "  hint: equality is written '=' in a selector"
    )
    assert rendered("Weight BETWEEN 'light' AND 40") == (
        "BETWEEN needs a number, found the string 'light' [line 1, column 16; MQRC_SELECTOR_SYNTAX_ERROR (2459)]\n"
        "  | Weight BETWEEN 'light' AND 40\n"
        "  |                ^^^^^^^\n"
        "  hint: BETWEEN is an arithmetic comparison; for strings use IN or LIKE"
    )


def test_subscription_reason() -> None:
    """The same error is 2459 on a queue and 2551 on a subscription; 2504 and 2519 are the same on both."""
    assert "MQRC_SELECTION_NOT_AVAILABLE (2551)" in rendered("a =", for_subscription=True)
    assert "MQRC_SELECTOR_ALWAYS_FALSE (2504)" in rendered("1 = 2", for_subscription=True)
    assert "MQRC_SELECTION_STRING_ERROR (2519)" in rendered("a = 1 " + " " * 10240, for_subscription=True)
    assert "MQRC_SELECTOR_SYNTAX_ERROR (2459)" in rendered("a =")


def test_caret_on_a_later_line() -> None:
    """Line and column count from 1 at the line of the fault; only that line is drawn."""
    assert rendered("a = 1\nAND b == 2\nAND c = 3").splitlines()[:3] == [
        "unexpected '=' after '=': expected a value [line 2, column 8; MQRC_SELECTOR_SYNTAX_ERROR (2459)]",
        "  | AND b == 2",
        "  |        ^",
    ]


def test_line_and_column_are_attributes() -> None:
    """Where a mistake stands can be asked for: line and column from 1, in code points."""
    with pytest.raises(mqsel.SelectorSyntaxError) as caught:
        mqsel.compile("a = 1 AND\n  b == 2")

    assert (caught.value.line, caught.value.column) == (2, 6)


def test_caret_under_wide_characters() -> None:
    """Carets line up by display cells: CJK is two wide, a combining mark none."""
    _, line, carets, *_ = rendered("名前 = '値' AND é == 1").splitlines()
    cells = 0
    for character in line[: line.index("==") + 1]:
        wide = unicodedata.east_asian_width(character) in "WF"
        cells += 0 if unicodedata.combining(character) else 2 if wide else 1

    assert carets.index("^") == cells


def test_caret_in_a_long_line() -> None:
    """A long line is cut to a window around the fault, with an ellipsis at each cut."""
    _, line, carets, *_ = rendered(" AND ".join(["a = 1"] * 50 + ["b == 2"] + ["c = 3"] * 50)).splitlines()

    assert line.startswith("  | …")
    assert line.endswith("…")
    assert len(line) < 140
    assert line[carets.index("^") - 1 : carets.index("^") + 1] == "=="


def test_caret_under_a_whole_span() -> None:
    """All of a long span is underlined as far as it is shown; tabs count as one blank."""
    _, line, carets, *_ = rendered("a\t=\t'x' AND b < 'a string'").splitlines()

    assert line == "  | a = 'x' AND b < 'a string'"
    assert carets == "  |                 " + "^" * 10


@pytest.mark.parametrize("width", [30, 60, 80, 200])
@pytest.mark.parametrize(
    "text", ["x = 'y' AND " * 30 + "b == 2" + " OR c = 3" * 30, "名 = '値' AND " * 9 + "b == 2 OR 名 = '値'"]
)
def test_caret_on_a_terminal(text: str, width: int) -> None:
    """The picture of an error fits into a terminal, and the caret stays under its word."""
    with pytest.raises(errors.SelectorError) as caught:
        mqsel.compile(text)
    _, line, carets, *_ = caught.value.text(width).splitlines()

    assert max(cells(line), len(carets)) <= width
    assert cells(line[: line.index("==") + 1]) == carets.index("^")


def test_cells() -> None:
    """CJK and emoji take two cells, marks that combine none; texts are filled up and cut by cells."""
    assert [cells(text) for text in ("ab", "名前", "🚗", "e\u0301", "\u2764\ufe0f")] == [2, 4, 2, 1, 1]
    assert padded("名", 4) + "|" == "名  |"
    assert [cut("名前名前", width) for width in (8, 7, 6)] == ["名前名前", "名前名…", "名前…"]


def test_end_of_text() -> None:
    """A fault at the end of the text has its caret behind the last character."""
    _, line, carets, *_ = rendered("a = ").splitlines()

    assert (line, carets) == ("  | a =", "  |     ^")


@pytest.mark.parametrize(
    "error",
    [
        unexpected_token("a = = 1", (4, 5), "'='", "a value", "write ="),
        errors.SelectorLimitError(
            "long", selector="abcdef", span=(3, 6), reason=errors.MQRC.MQRC_SELECTION_STRING_ERROR
        ),
        errors.SelectorAlwaysFalseError("no", selector="1 = 2", span=(0, 5)),
        wordings.not_a_property("weight", object()),
        wordings.not_a_message(5, schema=False),
        errors.ProgramError("bad", address=7, hint="mend it"),
        errors.ArgumentError("no", hint="yes"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("protocol", range(2, 6))
def test_errors_travel(error: errors.MqselError, protocol: int) -> None:
    """An error comes back from an executor with its text, its attributes and its class."""
    copy = pickle.loads(pickle.dumps(error, protocol))

    assert type(copy) is type(error)
    assert copy.__dict__ == error.__dict__
    assert str(copy) == str(error)
    assert copy.args == (error.message,)


def test_errors_are_what_people_expect() -> None:
    """Each error is both ours and the builtin a user would catch."""
    for kind in (errors.SelectorSyntaxError, errors.SelectorTypeError, errors.SelectorLimitError):
        assert issubclass(kind, (errors.SelectorError, ValueError))
    assert issubclass(errors.ProgramError, ValueError)
    assert issubclass(errors.PropertyTypeError, TypeError)
    assert issubclass(errors.ArgumentError, (TypeError, ValueError))


def test_reason_has_name_and_number() -> None:
    """A reason is the vendor's name and number at once."""
    with pytest.raises(mqsel.SelectorError) as caught:
        mqsel.compile("a =", dialect=JMS)

    assert caught.value.reason.name == "MQRC_SELECTOR_SYNTAX_ERROR"
    assert caught.value.reason == 2459


def test_invalid_name_carries_2442_in_its_hint() -> None:
    """Language §6: an invalid name has the selector reason code and 2442 in its hint."""
    with pytest.raises(errors.SelectorSyntaxError) as caught:
        mqsel.compile("JMSFoo = 1", dialect=IBM_MQ)

    assert caught.value.reason == 2459
    assert "2442" in caught.value.hint


def test_lone_surrogates_and_controls_are_shown_safely() -> None:
    """Whatever a text holds, its error can be printed."""
    for text in ("a == '\ud800'", "\x00", "a = '\x1b[31m' = 1", "\u202e = = 1"):
        shown = rendered(text, dialect=JMS)
        assert shown.encode("utf-8", "strict")
        assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("(color = 'blue'", "close the parenthesis with ')'"),
        ("((color = 'blue'", "close the 2 open parentheses with ')'"),
        ("(color = 'blue' AND", "the selector stops too early: complete it or remove its last word"),
        ("weight GT 5", "greater than is written >"),
        ("color equals 'x'", "equality is written ="),
        ("color NOT EQUAL 'x'", "not equal is written <>"),
        ("color NOT 'x'", "NOT stands before a whole condition, or before BETWEEN, IN or LIKE"),
        ("WHERE color = 'blue'", "a selector is a condition alone: leave out SELECT, FROM and WHERE"),
        ("WHERE (color = 'blue')", "a selector is a condition alone: leave out SELECT, FROM and WHERE"),
        ("SELECT * FROM q WHERE a = 1", "a selector is a condition alone: leave out SELECT, FROM and WHERE"),
        ("EXISTS x", "to test whether a message has a property write name IS NOT NULL; AZURE_SERVICE_BUS has EXISTS"),
        ("EXISTS (x)", "to test whether a message has a property write name IS NOT NULL; AZURE_SERVICE_BUS has EXISTS"),
        ("CASE WHEN a = 1 THEN b END", "there is no CASE: join conditions with AND and OR"),
        ("\"color\" = 'blue'", "a name is written without quotes: color"),
        ("`color` = 'blue'", "a name is written without quotes: color"),
        ("`a-b` = 'blue'", "a name is written without quotes, in letters, digits, _ and $"),
        ('color = "blue" AND a = 1', "a string stands between apostrophes: 'blue'"),
        ("color IN (`blue`)", "a string stands between apostrophes: 'blue'"),
        ("weight > 2 500", "digits are not grouped: write them without blanks"),
        ("weight > 2.500,00", "digits are not grouped, and a point stands before the decimals: 2500.50"),
        ("d > 20 10", "a date or time is not a number: compare with milliseconds since 1970"),
        ("color-name = 'x'", "'-' is the minus sign: no name has one in it"),
        ("color-name LIKE 'x'", "'-' is the minus sign: no name has one in it"),
        ("a - b = 'x'", "property values are never converted: write the literal in the type the property has"),
        ("> 5", "write the property first: name > …"),
        ("weight >= 5 AND <= 8", "name the property in each comparison: AND weight <= …"),
        ("a = 1 AND OR b = 2", "a condition is missing between 'AND' and 'OR'"),
        ("a = 1 AND ( OR )", "a condition is missing between '(' and 'OR'"),
        ("a IS null or and", "a condition is missing between 'OR' and 'AND'"),
        ("AND a = 1", "a condition is missing before 'AND'"),
        ("a = AND b = 1", "a value is missing between '=' and 'AND'"),
    ],
)
def test_hints_name_the_mistake(text: str, hint: str) -> None:
    """The hint says what to do about what was written, not about a mistake that is not there."""
    with pytest.raises(errors.SelectorError) as caught:
        mqsel.compile(text)

    assert caught.value.hint == hint


def test_headers_of_other_products() -> None:
    """A header that no selector of JMS reads is one of products that are named."""
    with pytest.raises(errors.SelectorError, match=r"JMS_… names; IBM_MQ, .*ACTIVEMQ, QPID_CPP have JMSDestination$"):
        mqsel.compile("JMSDestination IS NULL", dialect="JMS")


def test_headers_that_no_selector_reads_are_no_slips() -> None:
    """JMS: a header that exists is not taken for a misspelling of another; one that does not exist is."""
    with pytest.raises(errors.SelectorSyntaxError) as caught:
        mqsel.compile("JMSDestination = 'x'", dialect=mqsel.JMS)
    assert "did you mean" not in str(caught.value)
    with pytest.raises(errors.SelectorSyntaxError) as caught:
        mqsel.compile("JMSPriorty = 5", dialect=mqsel.JMS)
    assert "did you mean JMSPriority?" in str(caught.value)


@pytest.mark.parametrize(
    ("literal", "advice"),
    [("0x414D", '"0x414D"'), ("'414d'", '"0x414d"'), ("'abc'", '"0x…", with two digits for each byte')],
)
def test_byte_strings_are_compared_with_byte_strings(literal: str, advice: str) -> None:
    """What is compared with a field of bytes, and is none, is a warning that says how it is written."""
    findings = mqsel.lint(f"Root.MQMD.CorrelId = {literal}")

    assert findings[0].sentence.endswith(f"is a type mismatch; write {advice}")


def test_objects_are_refused_with_the_call_that_makes_a_dict() -> None:
    """A dataclass, or an object of attrs or pydantic, is no message: the hint makes one; code of it is not run."""
    calls = {
        dataclasses.make_dataclass("Order", ["color"], frozen=True)("blue"): "dataclasses.asdict(message)",
        type("Order", (), {"__attrs_attrs__": ()})(): "attrs.asdict(message)",
        type("Order", (), {"model_dump": lambda _: {}, "__getattr__": None})(): "message.model_dump()",
    }
    for schema in (None, ["color"]):
        for message, call in calls.items():
            with pytest.raises(errors.PropertyTypeError, match="found a Python Order") as caught:
                mqsel.compile("color = 'blue'", schema=schema).matches(message)
            assert caught.value.hint == f"pass {call}"
    with pytest.raises(errors.PropertyTypeError, match="found a Python type\n  hint: pass dicts, or name"):
        mqsel.compile("color = 'blue'").matches(type(next(iter(calls))))


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ('{"url": "file:///a/my%20clone", "dir_info": {"editable": true}}', "pip install -e '/a/my clone[cli]'"),
        ('{"url": "file:///a/clone", "dir_info": {}}', "pip install 'mqsel[cli] @ file:///a/clone'"),
        (
            '{"url": "https://example.com/mqsel", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}}',
            "pip install 'mqsel[cli] @ git+https://example.com/mqsel@0a1b'",
        ),
        (None, "pip install '/path/to/mqsel[cli]', with the clone or the wheel that mqsel came from"),
        ("damaged", "pip install '/path/to/mqsel[cli]', with the clone or the wheel that mqsel came from"),
    ],
)
def test_an_extra_comes_from_where_mqsel_did(origin: str | None, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that a hint has names the place that this mqsel was installed from, as pip noted it."""
    installed = types.SimpleNamespace(read_text=lambda _: origin)
    monkeypatch.setattr(importlib.metadata.Distribution, "from_name", lambda _: installed)
    assert with_extra("cli") == command


def test_no_hint_names_an_index() -> None:
    """Nowhere in the package and its manuals does `pip install` ask an index for mqsel, which none has."""
    package = Path(mqsel.__file__).parent
    files = [path for path in package.rglob("*") if path.suffix in (".py", ".pyx", ".md", ".html", ".js")]
    files += [path for path in (ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md") if path.exists()]
    asked = re.compile(r"pip install[^`\n,]*[ '\"]mqsel\b(?!\[[^]]*\] @ )")

    assert asked.search("run: pip install 'mqsel[cli]'")
    assert asked.search("pip install mqsel")
    assert not asked.search("pip install 'mqsel[cli] @ file:///a'")
    assert len(files) > 150
    assert [path.name for path in files if asked.search(path.read_text(encoding="utf-8"))] == []


WRONG: dict[str, Callable[[Any], object]] = {
    "text of compile": mqsel.compile,
    "text of lint": mqsel.lint,
    "text of fixed": lint.fixed,
    "text of migrate": lambda given: mqsel.migrate(given, "JMS", "ARTEMIS"),
    "selectors of gap": mqsel.gap,
    "selector of a contract": lambda given: mqsel.Contract(selector=given or 5),
    "format of filter": lambda given: mqsel.compile("a = 1").filter([], format=given or 5),
    "format of a decoder": lambda given: formats.decoder(given, ["a"]),
    "format of a set": mqsel.SelectorSet().decoder,
    "selectors of an audit": lambda given: audit(given or 5),
    "one of an audit": lambda given: audit([given]),
    "text of an audit": lambda given: audit([("a", given)]),
    "destinations of an audit": lambda given: audit([], destinations=given or 5),
    "messages of a contract": lambda given: mqsel.Contract.of(given or 5),
    "message of a contract": mqsel.Contract().breaches,
    "file of a contract": mqsel.Contract.read,
    "names of a decoder": lambda given: formats.decoder("json", given or 5),
    "paths of an inventory": lambda given: mqsel.SelectorSet.from_inventory(5 if isinstance(given, list) else given),
    "path": lambda given: list(mqsel.files.messages([given])),  # type: ignore[list-item]
    "message of a line": lambda given: mqsel.files.qload_text(given or 5),
    "message with its length": mqsel.files.length_prefixed,
    "kind of names": lambda given: formats.names_of(b"{}", given, {}),
    "naming of breaches": lambda given: mqsel.Contract().breaches({}, given),
    "item of a queue": Queue().add,
    "providers": lambda given: Topic(providers=given or 5),
    "pair of encode": lambda given: mq.encode({}, {"a": (given,)}),
    "path of a set": lambda given: mqsel.SelectorSet.open("\ud800" if isinstance(given, int) else given),
    **{
        f"message of {name}": functools.partial(lambda name, given: mqsel.compile("a = 1").decoder(name)(given), name)
        for name in formats.FORMATS
    },
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("given", [None, 5, [], [[]], object(), mqsel.JMS])
def test_what_is_of_the_wrong_type(what: str, given: object) -> None:
    """What cannot be meant is an error of ours, wherever it is passed; an empty list of selectors leaves everything."""
    if what == "selectors of gap" and given == []:
        assert mqsel.gap(given).message == {}
        return
    with pytest.raises((errors.ArgumentError, errors.PropertyTypeError, errors.FileError, errors.DecodeError)):
        WRONG[what](given)


HUGE = 10**5000
HUGE_GIVEN: dict[str, Callable[[], object]] = {
    "quote": lambda: mqsel.quote(HUGE, "RABBITMQ"),
    "parameters": lambda: mqsel.compile("a = :a", parameters={"a": HUGE}),
    "errors": lambda: mqsel.compile("a = 1").filter([], errors=HUGE),  # type: ignore[arg-type]
    "now": lambda: mqsel.compile("a > UTC()", dialect="RABBITMQ").filter([], now=HUGE),
    "ccsid": lambda: mq.encode({"CodedCharSetId": HUGE}, {}),
    "dialect": lambda: JMS.replace(max_length=-HUGE),
    "choice": lambda: JMS.replace(floats=HUGE),
    "place": lambda: mqsel.Record(["a"]).place(HUGE),  # type: ignore[arg-type]
    "jobs": lambda: mqsel.files.filter("x", "a = 1", jobs=-HUGE),
    "limit": lambda: next(mqsel.live.browse("amqp://h/q", limit=-HUGE)),
    "most": lambda: mqsel.SelectorSet({1: "a = 1"}).together(-HUGE),
    "width": lambda: mqsel.files.qload_text(b"lost", width=-HUGE),
    "name_value_ccsid": lambda: mq.encode({}, {}, name_value_ccsid=HUGE),
    "field": lambda: mq.encode({HUGE: 1}, {}),  # type: ignore[dict-item]
    "property": lambda: mq.encode({}, {"a": HUGE}),
    "tests": lambda: Queue(complexity=Complexity(tests=[HUGE])).count("a = 1"),  # type: ignore[arg-type]
    "type": lambda: SOME.decoder("connect", types={"a": HUGE}),
}


@pytest.mark.parametrize("what", HUGE_GIVEN)
def test_integers_that_have_no_text(what: str) -> None:
    """Python writes no more than 4,300 digits: the error says what it can."""
    with pytest.raises(errors.ArgumentError):
        HUGE_GIVEN[what]()


class Unlike:
    """Something that is equal to nothing that can be told, as an array of numpy, and that has no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of an array is ambiguous")

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")


ROUND: dict[str, Any] = {}
ROUND["int32"] = ROUND
UNLIKE: Any = Unlike()
SOME = mqsel.compile("a = 1")
NO_WORD: dict[str, Callable[[], object]] = {
    "errors of filter": lambda: SOME.filter([], errors=UNLIKE),
    "errors of why": lambda: SOME.why([], errors=UNLIKE),
    "errors of files": lambda: mqsel.files.filter("x", "a = 1", errors=UNLIKE),
    "errors of messages": lambda: mqsel.files.messages("x", errors=UNLIKE),
    "errors of an inventory": lambda: mqsel.SelectorSet.from_inventory("x", errors=UNLIKE),
    "framing": lambda: mqsel.files.messages("x", framing=UNLIKE),
    "format": lambda: mqsel.files.filter("x", "a = 1", format=UNLIKE),
    "invalid_names": lambda: SOME.decoder("mq", invalid_names=UNLIKE),
    "naming": lambda: SOME.decoder("amqp", naming=UNLIKE),
    "decimals": lambda: SOME.match_batch(None, decimals=UNLIKE),
    "kind": lambda: mqsel.inventory.read("x", kind=UNLIKE),
    "columns": lambda: mqsel.inventory.read("x", kind="csv", columns=UNLIKE),
    "selector of a contract": lambda: mqsel.Contract(selector=UNLIKE),
    "value of a contract": lambda: mqsel.Contract({"a": [ROUND]}),
    "key of audit": lambda: audit([(UNLIKE, "a = 1")]),
    "version": lambda: mq.encode({}, {}, version=UNLIKE),
    "ccsid": lambda: mq.encode({}, {}, ccsid=UNLIKE),
    "name_value_ccsid": lambda: mq.encode({}, {}, name_value_ccsid=UNLIKE),
    "naming of breaches": lambda: mqsel.Contract().breaches({}, UNLIKE),
    "within": lambda: mqsel.SelectorSet().match({}, within=UNLIKE),
}


@pytest.mark.parametrize("what", NO_WORD)
def test_what_cannot_be_compared_with_words(what: str) -> None:
    """An array for a word, a number or a key, and a value that contains itself, are errors of ours."""
    with pytest.raises(errors.ArgumentError):
        NO_WORD[what]()


@pytest.mark.parametrize(
    "call", [mqsel.compile("a = 1").filter, mqsel.compile("a = 1").why, mqsel.SelectorSet().filter]
)
def test_what_iterates_by_its_class_alone(call: Callable[[Any], object]) -> None:
    """An enumeration iterates, and none of its members does."""
    with pytest.raises(errors.ArgumentError, match="iterable of messages"):
        call(mqsel.Truth.TRUE)


def test_a_large_number_breaks_a_contract() -> None:
    """The words of a breach show what has no text."""
    assert "a Python int" in mqsel.Contract({"a": {"greatest": 5}}).breaches({"a": HUGE})[0].sentence


def test_classes_derived_from_str() -> None:
    """A text of a class of its own is read by what it holds, whatever else the class does."""

    class Odd(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

    assert mqsel.lint(Odd("a > 5")) == mqsel.lint("a > 5")
    assert mqsel.relation(Odd("a > 5"), "a > 6", given=Odd("a > 0")).relation == "b within a"
    assert mqsel.gap([Odd("a > 5"), Odd("NOT (a > 5)"), Odd("a IS NULL")], given={"a": "int64"}).message is None


@pytest.mark.parametrize("name", PRESETS)
def test_reason_codes_are_those_of_ibm(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error names a reason code of IBM MQ in the dialects of IBM alone, wherever the selector stands."""
    (tmp_path / "a.tsv").write_text("k\ta ==\nl\ta LIKE\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    selectors, messages = str(tmp_path / "a.tsv"), str(tmp_path / "a.jsonl")
    said = []
    for text in ("a ==", "a LIKE", "(a = 1", "NOT", "'a", "a IN ("):
        try:  # RocketMQ reads nothing behind a complete condition
            mqsel.compile(text, dialect=name)
        except mqsel.SelectorError as error:
            said += [str(error), str(pickle.loads(pickle.dumps(error)))]
    assert {"MQRC" in one for one in said} == {name.startswith("IBM_")}
    for words in (
        *(["check", "-e", "a =="], ["check", selectors], ["lint", selectors], ["format", "-e", "a =="]),
        *(["match", "a ==", messages], ["why", "a ==", messages], ["explain", "a ==", '{"a": 1}']),
        *(["audit", selectors], ["route", selectors, messages], ["diff", "a ==", "a = 1"]),
        ["explain", "--key", "k", selectors],
    ):
        cli.main([*words[:1], "--dialect", name, *words[1:]])
        said.append("".join(capsys.readouterr()))

    assert any("MQRC" in one for one in said) is name.startswith("IBM_")
