"""Why many messages are selected or not: every way of counting gives the same numbers, and sentences say them."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import random
from functools import partial
from typing import Any

import pytest
import strategies
from conftest import json_lines, shared

import mqsel
from mqsel.analysis.explain.account import Account, Profiler
from mqsel.analysis.explain.profile import Profile, report
from mqsel.analysis.lint import lint
from mqsel.errors import ArgumentError, DecodeError, PropertyTypeError
from mqsel.formats import mq, names_of
from mqsel.language.selector import read_selector
from mqsel.values import Int32

CARS = [
    {"color": "blue", "weight": 2036, "region": "north"},
    {"color": "red", "weight": "3000"},
    {"colour": "blue", "weight": 26581},
    {"color": "blue"},
]


def why(text: str, messages: Any = CARS, **options: Any) -> Profile:
    """Ask why."""
    return mqsel.compile(text, **options).why(messages)


# ---- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_every_message_is_accounted_for(name: str) -> None:
    """Invariant: the five numbers of a part add up to the messages, TRUE of the whole is what matches; so for types."""
    rng = random.Random(f"why {name}")
    for _ in range(60):
        text, _ = strategies.random_case(rng, name)
        messages = [strategies.to_message(strategies.random_properties(rng, name)) for _ in range(20)]
        matcher = mqsel.compile(text, dialect=strategies.DIALECTS[name])
        found = matcher.why(messages)

        assert found.messages == 20
        assert all(sum(part[2:]) == 20 for part in found.parts), (text, found)
        assert found.selected == sum(map(matcher.matches, messages)) == found.parts[0].true
        assert bool(found) is (found.selected > 0)
        for seen in found.properties:
            values = [matcher.read(one)[seen.name] for one in messages]
            assert seen.missing == sum(kind == "null" for kind, _ in values)
            assert seen.types == {kind: [one for one, _ in values].count(kind) for kind, _ in values if kind != "null"}
        truths = [mqsel.machine._vm.Machine(matcher.program).truth(one) for one in messages]
        root = found.parts[0]
        if root.text in ("AND", "OR", "NOT"):
            assert [root.true, root.false, root.unknown, root.error] == [truths.count(n) for n in (1, 0, 2, 3)]


def test_parts_are_selectors_of_the_dialect() -> None:
    """A name in brackets stands in brackets: in double quotes it would be a string of RABBITMQ."""
    found = why("[a b] = 5 AND [a b] = 6", [{"a b": 5}], dialect=mqsel.RABBITMQ)

    assert [part.text for part in found.parts] == ["AND", "[a b] = 5", "[a b] = 6"]
    assert not any('"' in sentence for sentence in found.sentences)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_parts_are_what_explain_says(name: str) -> None:
    """Invariant: of a message the outcome of a test is the truth that `explain` gives it, where it is reached."""
    rng = random.Random(f"why and explain {name}")
    for _ in range(120):
        text, properties = strategies.random_case(rng, name)
        message = strategies.to_message(properties)
        matcher = mqsel.compile(text, dialect=strategies.DIALECTS[name])
        for part, count in zip(matcher.explain(message).parts, matcher.why([message]).parts, strict=True):
            if part.truth is None:
                continue
            if "type mismatch" in part.reason and not part.truth:
                assert count.mismatched == 1
            else:
                outcome = {"TRUE": 2, "FALSE": 3, "UNKNOWN": 4, "ERR": 6}[part.truth.name]
                assert count[outcome] == 1, (text, part, count)


@pytest.mark.volume
def test_columns_agree_with_messages() -> None:
    """Invariant: a batch, by columns, gives the report of its rows as messages; so do its slices, added up."""
    pa = pytest.importorskip("pyarrow")
    rng = random.Random("why by columns")
    layout = {
        "n": (pa.int32(), [None, 0, 1, 5, 7], Int32),
        "a": (pa.string(), [None, "red", "Red", "5"], str),
        "b": (pa.bool_(), [None, True, False], bool),
        "x": (pa.float64(), [None, 0.5, 5.0, 1e300], float),
        "order": (pa.dictionary(pa.int8(), pa.string()), [None, "x", "y"], str),
    }
    tests = ["n > 4", "a = 'red'", "a > 5", "b", "x * n > 2", "n / (n - 5) > 0", "missing = 1", "n BETWEEN 1 AND x"]
    tests += ["order LIKE 'x%'", "N = 5", "a IN ('5', 'red')", "x IS NULL", "n = a", "b <> TRUE"]
    for _ in range(60):
        rows = [{name: rng.choice(values) for name, (_, values, _) in layout.items()} for _ in range(50)]
        table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, (kind, _, _) in layout.items()})
        text = (
            " ".join(
                itertools.chain.from_iterable(
                    (rng.choice(["AND", "OR", "AND NOT"]), rng.choice(tests)) for _ in range(rng.randint(1, 5))
                )
            )
            .partition(" ")[2]
            .removeprefix("NOT ")
        )
        messages = [{name: None if row[name] is None else layout[name][2](row[name]) for name in row} for row in rows]
        for dialect in (mqsel.IBM_MQ, mqsel.IBM_JMS, mqsel.JMS):
            matcher = mqsel.compile(text, dialect=dialect)
            by_rows = matcher.why(messages)
            halves = Profiler(read_selector(text, dialect))
            for half in (table.slice(0, 20), table.slice(20)):
                halves.take_batches(half)
            for by_columns in (matcher.why(table), report(halves.selector, halves.account)):
                assert by_columns.parts == by_rows.parts, text
                for one, other in zip(by_columns.properties, by_rows.properties, strict=True):
                    assert one[:3] == other[:3]
                    assert dict(one.types) == dict(other.types)
                    assert (one.counted, one.different, one.least, one.greatest) == (
                        other.counted,
                        other.different,
                        other.least,
                        other.greatest,
                    )
                    assert sorted(map(repr, one.values)) == sorted(map(repr, other.values))


def test_accounts_add_up() -> None:
    """Invariant: accounts of parts, pickled, added in any grouping, are the account of the whole."""
    selector = read_selector("color = 'blue' AND weight > 2500", mqsel.IBM_MQ)

    def account(messages: list[dict[str, Any]]) -> Account:
        profiler = Profiler(selector)
        for one in messages:
            profiler.take(one, one.keys)
        return pickle.loads(pickle.dumps(profiler.account))  # type: ignore[no-any-return]

    whole = account(CARS * 3)
    for cut in range(len(CARS) * 3 + 1):
        added = account((CARS * 3)[:cut])
        added.add(account((CARS * 3)[cut:]))
        assert added == whole


def test_nan_is_one_value() -> None:
    """However it comes, NaN is counted as one value, in accounts that are added up, too."""
    numbers = [math.nan, 1.5, float("nan"), -math.nan, 1.5]
    messages = [{"x": number} for number in numbers]
    lines = [json.dumps(one).encode() for one in messages]
    halves = [Profiler(read_selector("x > 5", mqsel.JMS)) for _ in range(2)]
    for number, one in enumerate(messages):
        halves[number % 2].take(one, one.keys)
    added, other = (pickle.loads(pickle.dumps(half.account)) for half in halves)
    added.add(other)
    found = [why("x > 5", messages), mqsel.compile("x > 5").why(lines, format="json")]
    for profile in (*found, report(halves[0].selector, added)):
        assert [(repr(value), count) for value, count in profile.properties[0].values] == [("nan", 3), ("1.5", 2)]
        assert profile.properties[0].different == 2


def test_columns_without_values_are_not_had() -> None:
    """A column of nulls is not what the rows have in the place of a property; nor need a batch have rows."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"color": ["blue", None], "colour": pa.nulls(2, pa.string())})
    assert why("kind = 'x'", table).properties[0].others == {"color": 1}

    rows = pa.table({"color": pa.array(["blue", "a text of more than twelve"], pa.string_view())})
    assert why("color = 'blue'", rows[1:1]).messages == 0
    parts = pa.chunked_array([rows.to_batches()[0].to_struct_array()[at:at] for at in (1, 2)])
    assert why("color = 'blue'", parts).messages == 0


def test_many_values_are_bounded() -> None:
    """Of a property with more values than are kept the commonest are no more told, nor held."""
    messages = [{"id": f"ID:{number}", "n": number} for number in range(3000)]
    for found in (why("id = 'x' AND n > 5", messages), why("id = 'x' AND n > 5", _table(messages))):
        assert [one.different for one in found.properties] == [None, None]
        assert (found.properties[1].least, found.properties[1].greatest) == (0, 2999)
        assert "more than 1,000 values; 0 to 2999" in str(found)
    profiler = Profiler(read_selector("id = 'x' AND missing = 1", mqsel.IBM_MQ))
    for number in range(3000):
        profiler.take({"id": f"{number}"}, lambda number=number: [f"name{number}"])  # type: ignore[misc]
    for _ in range(2):
        assert all(len(held.values) <= 1000 and len(held.others) <= 1000 for held in profiler.account.held.values())
        profiler.account.add(pickle.loads(pickle.dumps(profiler.account)))


def _table(messages: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pylist(messages)


# ---- sentences -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "messages", "said"),
    [
        (
            "weight > 2500",
            [{"weight": "2036"}] * 6,
            "weight is a string in all 6 messages: the comparison with a number is FALSE in each",
        ),
        ("Color = 'x'", [{"color": "x"}] * 6, "no message has Color; all have color"),
        ("Color = 'x'", [{"color": "x"}], "no message has Color; it has color"),
        ("Color = 'x'", CARS, "no message has Color; 3 have color"),
        (
            "color = 'x' AND weight > 1",
            [*CARS, {"colour": "x"}],
            "color is missing from 2 of 5 messages; all of these have colour",
        ),
        ("key = 'A'", [{"selector": "key = 'A'", "n": 5}] * 2, "no message has key; they have selector and n"),
        (
            "color = 'Blue'",
            [{"color": "blue"}] * 2,
            "color = 'Blue' misses 'blue', which 2 have: only the case of letters differs",
        ),
        ("color = 'bleu'", [{"color": "blue"}], "no color is 'bleu'; 1 has 'blue'"),
        (
            "color = 'x'",
            [{"color": "blue"}, {"color": "red"}],
            "color = 'x' is FALSE wherever color is there: it is 'blue' (1), 'red' (1)",
        ),
        (
            "weight > 9",
            [{"weight": 5}, {"weight": 7}],
            "weight > 9 is FALSE wherever weight is a number: it goes from 5 to 7",
        ),
        ("weight > 9", [{"weight": 5}], "weight > 9 is FALSE wherever weight is a number: it is 5"),
        ("NOT weight > 1", [{"weight": 5}], "weight > 1 is TRUE wherever weight is a number: it is 5"),
        ("a <> 'x'", [{"b": 1}] * 9, "no message has a; they have b"),
        ("weight IS NULL", [{"weight": 5}] * 2, "all 2 messages have weight"),
        ("weight IS NOT NULL", [{"b": 5}] * 2, "no message has weight; they have b"),
        (
            "1 / weight = 1",
            [{"weight": 0}],
            "an integer is divided by zero in the message: the complete selector is false there",
        ),
        (
            "weight + 1 > 1",
            [{}, {}],
            "arithmetic on a missing property makes the complete selector false in all 2 messages: weight + 1 > 1",
        ),
        ("a = 1 AND a = 2", [{"a": 1}], "no message can be selected: no values make this selector TRUE"),
        (
            "a = 1 AND b = 2",
            [{"a": 1, "b": 1}, {"a": 2, "b": 2}],
            "each part is TRUE for some messages, all of them for none: a = 1 1 and b = 2 1",
        ),
        ("a = 1", [], "there is no message"),
        ("color = 'blue'", CARS, "2 of 4 messages are selected"),
    ],
)
def test_the_first_sentence(text: str, messages: list[dict[str, Any]], said: str) -> None:
    """The sentence that matters comes first."""
    assert why(text, messages).sentences[0] == said


def test_other_sentences() -> None:
    """Where something is selected, what keeps out most and what types and names did is told, too."""
    found = why("color = 'blue' AND weight > 1000")
    assert found.sentences == (
        "1 of 4 messages is selected",
        "the strictest condition is color = 'blue': TRUE for 2 messages",
        "color is missing from 1 of 4 messages; it has colour",
        "weight is a string in 1 of 4 messages: the comparison with a number is FALSE in each",
    )
    assert "false, and with it the complete selector, in each" in why("weight > 1", dialect="IBM_JMS").sentences[-1]
    assert why("region <> 'north'").sentences == (
        "region <> 'north' is FALSE wherever region is there: it is 'north' (1)",
        "region is missing from 3 of 4 messages",
        "the test isn't TRUE if region is missing: to also select these messages, write … OR region IS NULL",
        "0 of 4 messages are selected",
    )
    assert why("weight + region > 9999").sentences[:2] == (
        "arithmetic on a missing property makes the complete selector false in 3 of 4 messages: weight + region > 9999",
        "type mismatch in 1 of 4 messages: weight + region > 9999 is FALSE in each",
    )


def test_lint_stands_behind_the_first_sentence() -> None:
    """What lint warns of is told with the report, behind what was counted; notes are not."""
    found = why("color = blue AND weight > 5", [{"color": "blue"}])
    assert found.sentences[:2] == (
        "no message has blue; it has color",
        "blue is the name of a property here: if you mean a string, write 'blue'",
    )
    assert why("region <> 'x'", [{"a": 1}]).sentences[1].startswith("the test isn't TRUE if region is missing")


# ---- what it prints ------------------------------------------------------------------------------------------------


def test_as_it_is_printed() -> None:
    """Sentences, the tree with its numbers, the properties."""
    assert str(why("Color = 'blue' OR weight > 99999")).splitlines() == [
        "no message has Color; 3 have color",
        "weight > 99999 is FALSE wherever weight is a number: it goes from 2036 to 26581",
        "weight is a string in 1 of 4 messages: the comparison with a number is FALSE in each",
        "weight is missing from 1 of 4 messages",
        "0 of 4 messages are selected",
        "",
        "TRUE  FALSE  UNKNOWN  type mismatch  ERR",
        "   0      0        4              0    0  OR",
        "   0      0        4              0    0    Color = 'blue'",
        "   0      2        1              1    0    weight > 99999",
        "",
        "property  present  missing  types              values",
        "Color     0        4                           but color 3",
        "weight    3        1        int64 2, string 1  2036, '3000', 26581; 2036 to 26581",
    ]


def test_in_a_notebook() -> None:
    """As HTML it says in words what it says in colours, and nothing of a message is markup."""
    message = {"color": "<script>alert(1)</script>"}
    for shown in (mqsel.compile("color = '<b>'").explain(message), why("color = '<b>' AND weight > 5", [message])):
        html = shown._repr_html_()
        assert "<script" not in html
        assert "&lt;b&gt;" in html
        assert "FALSE" in html
        assert html.count("<table") == html.count("</table>")
        assert html.count("<td") == html.count("</td>")
    assert "no message" in why("Color = 'x'")._repr_html_()
    assert why("a = 1", [])._repr_html_()


def test_as_json() -> None:
    """What JSON holds is all there is, with values that no JSON has as texts."""
    found = why("color = 'x' OR w > 5 OR t = 1", [{"color": "y", "w": float("inf"), "t": b"\x01"}, {"w": float("nan")}])
    made = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (made["messages"], made["selected"], made["sentences"][0]) == (2, 1, found.sentences[0])
    assert made["parts"][1] == {
        "text": "color = 'x'",
        "depth": 1,
        "true": 0,
        "false": 1,
        "unknown": 1,
        "mismatched": 0,
        "error": 0,
    }
    assert [one["value"] for one in made["properties"][1]["values"]] == ["Infinity", "NaN"]
    assert made["properties"][2]["values"] == [{"value": "01", "messages": 1}]


@pytest.mark.volume
def test_kinds_of_messages() -> None:
    """Sequences with a schema, Records, raw messages and frames are counted as the mappings they stand for."""
    text = "color = 'blue' AND weight > 2500"
    wanted = why(text, [{"color": "blue", "weight": 3000}, {"color": "red", "weight": None}])
    schema = ("color", "weight")
    assert why(text, [("blue", 3000), ("red", None)], schema=schema).parts == wanted.parts
    assert why(text, [mqsel.Record(schema, ["blue", 3000]), mqsel.Record(schema, ["red", None])]).parts == wanted.parts
    lines = [b'{"color": "blue", "weight": 3000}', b'{"color": "red"}']
    assert mqsel.compile(text).why(lines, format="json").parts == wanted.parts
    raw = [mq.encode({}, {"color": "blue", "weight": Int32(3000)}), mq.encode({}, {"color": "red"})]
    matcher = mqsel.compile(text)
    profiler, decoder = Profiler(read_selector(text, matcher.dialect)), matcher.decoder("mq")
    for one in raw:
        profiler.take(decoder(one), partial(names_of, one, "mq", {}))
    assert matcher.why(raw, format="mq") == report(profiler.selector, profiler.account)
    raw = [mq.encode({}, {"color": "blue", "weight": 3000}), mq.encode({}, {"Color": "red"})]
    found = mqsel.compile(text).why(raw, format="mq")
    assert (found.selected, found.properties[0].near) == (1, "Color")
    pytest.importorskip("pyarrow")
    assert why(text, _table([{"color": "blue", "weight": 3000}, {"color": "red"}])).parts == wanted.parts
    for library in ("pandas", "polars"):
        frames = pytest.importorskip(library)
        assert why(text, frames.DataFrame({"color": ["blue", "red"], "weight": [3000, None]})).parts == wanted.parts


def test_what_a_queue_manager_decides() -> None:
    """Match options and names that are not allowed count as they decide, not as the selector would."""
    key = b"\x0a" * 24
    raw = [mq.encode({"MsgId": key}, {"a": 1}), mq.encode({}, {"a": 1})]
    found = mqsel.compile(f"JMSMessageID = 'ID:{key.hex()}'").why(raw, format="mq")
    assert (found.selected, found.parts[0][2:]) == (1, (1, 1, 0, 0, 0))
    invalid = (
        mq.encode({}, {"color": "blue", "weight": 5}).replace(b"<weight", b"<w-ight").replace(b"</weight", b"</w-ight")
    )
    found = mqsel.compile("color = 'blue'").why([invalid], format="mq")
    assert (found.selected, found.refused, found.parts[0].error) == (0, 1, 1)
    assert found.sentences[0] == "the message has a property whose name is not allowed, and so is not selected"


def test_errors() -> None:
    """What is no message is an error with its index, or counted; what is no batch, or no option, is one, too."""
    matcher = mqsel.compile("a = 1")
    with pytest.raises(PropertyTypeError, match=r"record 1") as caught:
        matcher.why([{"a": 1}, {"a": []}])
    assert caught.value.index == 1
    with pytest.raises(DecodeError):
        matcher.why([b"rubbish"], format="mq")
    assert matcher.why([{"a": 1}, {"a": []}, {"a": 1}], errors="skip").skipped == 1
    assert matcher.why([{"a": 1}, {"a": []}, {"a": 1}], errors="skip").messages == 2
    with pytest.raises(ArgumentError):
        matcher.why([], errors="rise")  # type: ignore[arg-type]
    for single in ({"a": 1}, mqsel.Record(["a"], [1]), b"{}", "{}"):
        with pytest.raises(ArgumentError, match=r"found one Python .*\n  hint: put one message into a list"):
            matcher.why(single)
    with pytest.raises(ArgumentError, match="why takes strip only with a format"):
        matcher.why([], strip=True)
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ArgumentError):
        matcher.why(pa.array([1, 2]))
    with pytest.raises(PropertyTypeError, match="'a'"):
        matcher.why(pa.table({"a": pa.array([[1]])}))


def test_long_selectors() -> None:
    """A selector of a thousand terms, or sixty NOTs, has a report."""
    wide = why(" OR ".join(f"a = {number}" for number in range(1000)), [{"a": -1}], dialect=mqsel.JMS)
    deep = why("NOT (" * 60 + "a = 1" + ")" * 60, [{"a": 1}])
    assert (len(wide.parts), len(deep.parts), bool(wide), bool(deep)) == (1001, 61, False, True)
    assert len(wide.sentences) < 10


# ---- real questions --------------------------------------------------------------------------------------------------


# What lint says of the real questions that need more than the message.
LINTED = {
    "wildq-6": "AND binds before OR",
    "wildq-10": "JMSDeliveryMode is never 2: it is 'PERSISTENT' or 'NON_PERSISTENT'",
    "wildq-33": "Type = 'PING' AND Type = 'ELECTION' is never TRUE: did you mean OR?",
}
# For each real question what names its cause; where the cause lies outside the selector, what shows that it does.
DIAGNOSES = {
    "wildq-1": "key is missing; the test isn't TRUE if key is missing: "
    "to also select these messages, write … OR key IS NULL",
    "wildq-2": "key is missing; the test isn't TRUE if key is missing: "
    "to also select these messages, write … OR key IS NULL",
    "wildq-3": "JMSType is missing; the test isn't TRUE if JMSType is missing: "
    "to also select these messages, write … OR JMSType IS NULL",
    "wildq-4": "TRUE: selected",
    "wildq-5": "__AMQ_CID is missing; the test isn't TRUE if __AMQ_CID is missing: "
    "to also select these messages, write … OR __AMQ_CID IS NULL",
    "wildq-6": "    color = 'red'                                                           TRUE ",
    "wildq-7": "TRUE: selected",
    "wildq-8": "bar is the name of a property here: if you mean a string, write 'bar'",
    "wildq-9": "'PERSISTENT' alone would be equal",
    "wildq-10": "JMSDeliveryMode is the string 'PERSISTENT'; type mismatch",
    "wildq-11": "it would be selected if amount were a number > 10.5 (is the string '12.34')",
    "wildq-12": "is written twice: O''Brien",
    "wildq-13": "key is missing: the message has selector and content-type",
    "wildq-14": "TRUE: selected",
    "wildq-15": "A is the name of a property here: if you mean a string, write 'A'",
    "wildq-16": "it would be selected if tag were 'aaa' (is 'bbb')",
    "wildq-17": "no message can be selected: no values make this selector TRUE",
    "wildq-18": "TRUE: selected",
    "wildq-19": "it would be selected if entry were LIKE '%aaa%' (is 'bbbb')",
    "wildq-20": "it would be selected if causeCode were '6' (is 6)",
    "wildq-21": "a condition is missing between '(' and 'OR'",
    "wildq-22": "an integer is divided by zero: the complete selector is false",
    "wildq-23": "TRUE: selected",
    "wildq-24": "TRUE: selected",
    "wildq-25": "TRUE: selected",
    "wildq-26": "TRUE: selected",
    "wildq-27": "it would be selected if version were the number 1 (is the string '1')",
    "wildq-28": "it would be selected if age were a number > 18 (is the string '21')",
    "wildq-29": "priority is missing: the message has JMSPriority",
    "wildq-30": "it would be selected if event_category were 'trash' (is 'can')",
    "wildq-31": "* and ? stand for themselves here: write LIKE '%:10'",
    "wildq-32": "159095259330560000 is after the year 9999: milliseconds since 1970 have 13 digits",
    "wildq-33": "no message can be selected: no values make this selector TRUE",
    "wildq-34": "'closed, saleUpdate' is one string: write IN ('closed', 'saleUpdate')",
}
WIDTHS = {"int": Int32, "double": float, "string": str, "long": int}


def test_questions_of_the_wild() -> None:
    """Each question that somebody asked gets its cause named by `explain`, by lint, or by the error of the selector."""
    questions = {one["id"]: one for one in json_lines(shared("vectors", "wild-questions.jsonl"))}
    assert questions.keys() == DIAGNOSES.keys()
    wrong = []
    for name, one in questions.items():
        message = {key: WIDTHS[kind](value) for key, (kind, value) in one["props"].items()}
        try:
            found = str(mqsel.compile(one["selector"], dialect=mqsel.JMS).explain(message))
        except mqsel.SelectorError as error:
            found = str(error)
        found += "".join(finding.sentence for finding in lint(one["selector"], mqsel.JMS))
        if DIAGNOSES[name] not in found or LINTED.get(name, "") not in found:
            wrong.append((name, found))

    assert wrong == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wildq-11", "amount is a string in all 50 messages: the comparison with a number is FALSE in each"),
        ("wildq-13", "no message has key; they have selector and content-type"),
        ("wildq-20", "causeCode is a number in all 50 messages: the comparison with a string is FALSE in each"),
        ("wildq-27", "version is a string in all 50 messages: the comparison with a number is FALSE in each"),
        ("wildq-29", "no message has priority; all have JMSPriority"),
        ("wildq-31", "JMSMessageID = '*:10' misses 'ID:HIDDEN-63485-1433505789304-1:1:1:1…', which 50 have: * and ?"),
        ("wildq-33", "no message can be selected: no values make this selector TRUE"),
        ("wildq-34", "JMSType IN ('closed, saleUpdate') misses 'closed', which 50 have: 'closed, saleUpdate' is one"),
    ],
)
def test_questions_of_the_wild_over_many(name: str, said: str) -> None:
    """Asked of an archive of such messages, the first sentence names the cause."""
    one = next(one for one in json_lines(shared("vectors", "wild-questions.jsonl")) if one["id"] == name)
    message = {key: WIDTHS[kind](value) for key, (kind, value) in one["props"].items()}
    assert why(one["selector"], [message] * 50, dialect=mqsel.JMS).sentences[0].startswith(said)


def test_an_error_before_an_or_is_blamed_alone() -> None:
    """An operand of an OR that is TRUE for some messages is not blamed, and equal strings do not differ by spaces."""
    found = mqsel.compile("height * 2 > 10 OR color = 'blue'").why([{"color": "blue"}, {"color": "red"}])
    assert found.sentences[:2] == (
        "arithmetic on a missing property makes the complete selector false in all 2 messages: height * 2 > 10",
        "no message has height; they have color",
    )
    assert not any("spaces" in one or "color = 'blue' is FALSE" in one for one in found.sentences)


def test_a_value_that_cannot_be_read_is_there() -> None:
    """A property whose values cannot be read is not said to be missing from every message."""
    selector = read_selector("a = 1", mqsel.IBM_MQ)
    profiler = Profiler(selector)
    for message in ({}, {"b": 1}):
        profiler.take(message, lambda message=message: tuple(message))
    profiler.account.held["a"].unread = 1
    assert report(selector, profiler.account).sentences[0] == "a is missing from 1 of 2 messages"
    profiler.account.held["a"].unread = 2
    assert "a could not be read in all 2 messages" in report(selector, profiler.account).sentences
    assert not any("no message has a" in one for one in report(selector, profiler.account).sentences)
