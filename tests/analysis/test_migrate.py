"""What is migrated selects the same canonical messages in both products, each of which sees them under its names."""

from __future__ import annotations

import itertools
import random
import re
import runpy
from collections import Counter
from contextlib import suppress

import pytest
from conftest import ROOT, json_lines, shared
from measured import measured_answers
from migrating import condition, decision, messages
from volumes import is_release, volume

import mqsel
from mqsel.analysis.compare.canonical import Refused, canonical, names_of
from mqsel.analysis.compare.migrate import VERDICTS, Migrated, migrate, portable
from mqsel.errors import SelectorError
from mqsel.language.dialect import PRESETS
from mqsel.language.selector import read_selector
from mqsel.values import Float32, Int32

# 500 and 5,000 are those of a full run: python -m pytest with both takes some hours of one processor.
TEXTS = volume(2, smoke=1)
MANY = volume(40, smoke=20)
MESSAGES = volume(200, smoke=50)


def check(text: str, source: str, target: str, rng: random.Random) -> str | None:
    """Migrate a selector and hold the verdict against both presets; return the verdict, None for a refusal at home."""
    try:
        found = migrate(text, source, target)
    except SelectorError:
        return None
    hold(text, source, target, found, rng)
    return found.verdict + " if" * bool(found.assumes)


def hold(text: str, source: str, target: str, found: Migrated, rng: random.Random) -> None:
    tree = canonical(read_selector(text, PRESETS[source]))
    names = [] if isinstance(tree, Refused) else names_of(tree)  # if it is refused, so is the verdict
    case = (text, source, target, found)
    own = mqsel.compile(text, dialect=source)
    if found:
        other = mqsel.compile(found.text, dialect=target)
        for message in messages(rng, names, dict(found.assumes), MESSAGES, has_bytes='"0x' in text):
            assert decision(own, source, message) == decision(other, target, message), (case, message)
    elif found.message is not None:
        other = mqsel.compile(found.tried, dialect=target)
        truths = decision(own, source, found.message), decision(other, target, found.message)
        assert truths[0] != truths[1] or "undocumented" in truths, case


@pytest.mark.sample(5)
@pytest.mark.parametrize("source", PRESETS)
def test_random_selectors(source: str) -> None:
    """Invariant: of no message the decisions differ where a selector is the same, or was translated."""
    rng = random.Random(f"migrate {source}")
    counts: Counter[str | None] = Counter()
    for target in PRESETS:
        if target != source:
            counts.update(check(condition(rng), source, target, rng) for _ in range(TEXTS))
    assert counts["same"] + counts["translated"] + counts["translated if"] + counts["same if"] > 0


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", ["ARTEMIS", "RABBITMQ"])
@pytest.mark.parametrize("source", ["IBM_MQ", "JMS", "TIBCO_EMS"])
def test_many_random_selectors(source: str, target: str) -> None:
    """Invariant: likewise, of more selectors, for the products that most people leave and go to."""
    rng = random.Random(f"migrate {source} {target}")
    counts = Counter(check(condition(rng), source, target, rng) for _ in range(MANY))
    assert counts["same"] + counts["translated"] + counts["translated if"] + counts["same if"] > MANY / 5


def test_measured_selectors() -> None:
    """Invariant: likewise, of the selectors that engines were measured with."""
    texts = [text for text, _ in measured_answers("amq")]
    rng = random.Random("measured")
    couples = [*itertools.permutations(PRESETS, 2)]
    chosen = couples if is_release() else rng.sample(couples, 4)
    for source, target in chosen:
        for text in texts if is_release() else rng.sample(texts, 40):
            check(text, source, target, rng)


@pytest.mark.parametrize(
    "number", ["16777216", "33554432", "2147483648", "-2147483648", "1099511627776", "10000000000"]
)
@pytest.mark.parametrize("sign", ["=", "<>", "<", "<=", ">", ">="])
def test_numbers_whose_shortest_text_is_another(number: str, sign: str) -> None:
    """Of a FLOAT32 that ROCKETMQ reads as its shortest text, a test is not the same where that is another number."""
    text = f"a {sign} {number}"
    found = mqsel.migrate(text, "IBM_MQ", "ROCKETMQ")
    message = {"a": Float32(float(number)), "JMSPriority": Int32(4), "JMSDeliveryMode": "PERSISTENT"}
    own, other = mqsel.compile(text), mqsel.compile(found.text or text, dialect="ROCKETMQ")
    if found.verdict in ("same", "translated"):
        assert decision(own, "IBM_MQ", message) == decision(other, "ROCKETMQ", message)
    else:
        assert abs(int(number)) > 1 << 25


def test_what_is_never_true_may_have_no_answer() -> None:
    """FALSE elsewhere is no translation where the source has no answer for some messages."""
    never = "a IS NULL AND a = 5 AND b * 2 > 1"
    assert mqsel.migrate(never, "AZURE_SERVICE_BUS", "ROCKETMQ").verdict == "refused"
    assert mqsel.migrate(never, "ACTIVEMQ", "ROCKETMQ").text == "FALSE"


_PAGE = ROOT / "bench" / "MIGRATION.md"
_TABLE = _PAGE.read_text(encoding="utf-8") if _PAGE.exists() else ""
_ROWS = [line.strip("| ").split(" | ") for line in re.findall(r"(?m)^\| [A-Z_]+ \| [A-Z_]+ \| .*$", _TABLE)]
_QUICK = ("ACTIVEMQ", "ARTEMIS", "JMS")  # the rest takes a minute


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(cells, marks=[] if cells[1] in _QUICK else pytest.mark.long, id=" to ".join(cells[:2]))
        for cells in _ROWS
    ],
)
def test_shares_of_the_page(cells: list[str]) -> None:
    """Each row of bench/MIGRATION.md has the verdicts of today, except for the time."""
    selectors = json_lines(shared("vectors", "wild-selectors.jsonl"))
    line = runpy.run_path(str(ROOT / "bench" / "migrate.py"))["_row"](selectors, *cells[:2])
    assert line.strip("| ").split(" | ")[:-1] == cells[:-1]


@pytest.mark.skipif(not _TABLE, reason="there is no bench folder next to the tests")
def test_shares_of_all_products_are_on_the_page() -> None:
    """Rows are in the order of the products, for each of three that people leave: to all that were measured."""
    rows = [(*cells[:2],) for cells in _ROWS]
    targets = {target for _, target in rows}

    assert rows == [
        (source, target)
        for source in ("TIBCO_EMS", "IBM_MQ", "JMS")
        for target in PRESETS
        if target != source and target in targets
    ]


_DESTINATIONS = ("JMSDestination", "JMSReplyTo")
# How each product writes a destination of a canonical message, where that is known.
_TEXTS = {"TIBCO_EMS": ("Queue[{}]", "Topic[{}]"), "ACTIVEMQ": ("queue://{}", "topic://{}")}


def _of_destinations(rng: random.Random, source: str) -> str:
    """Draw a selector over destinations, which are written as the source does, or not."""
    tests = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        forms = _TEXTS[source if rng.random() < 0.9 else "ACTIVEMQ"]
        one, other = [f"'{rng.choice(forms).format(rng.choice(('A', 'B.c')))}'" for _ in range(2)]
        name, no = rng.choice(_DESTINATIONS), rng.choice(("", "NOT "))
        test = rng.choice(("{0} = {2}", "{0} <> {2}", "{0} {1}IN ({2}, {3})", "{0} {1}LIKE {2}", "{0} IS {1}NULL"))
        tests.append(f"{rng.choice(('', '', 'NOT '))}{test.format(name, no, one, other)}")
    return rng.choice((" AND ", " OR ")).join(tests)


def test_destinations() -> None:
    """Invariant: likewise, of selectors over destinations, each written as its product does."""
    rng = random.Random("destinations")
    pairs = [("TIBCO_EMS", "ACTIVEMQ"), ("ACTIVEMQ", "TIBCO_EMS"), ("ACTIVEMQ", "ARTEMIS")]
    for source, target in pairs:
        counts = Counter(check(_of_destinations(rng, source), source, target, rng) for _ in range(MANY * 2))
        assert counts["same"] + counts["translated"] > MANY / 10, counts
    for source, target in [*itertools.permutations(PRESETS, 2)]:
        check(_of_destinations(rng, "ACTIVEMQ"), source, target, rng)


@pytest.mark.parametrize("text", ["queue:///A", "queue://QM/A.b?persistence=2", "topic://a/b: c", "topic://a?x=1"])
@pytest.mark.parametrize("value", ["Queue[A]", "queue://persistent://public/r", "A", "queue:///A", "topic://a/b: c"])
def test_destinations_of_ibm_mq(text: str, value: str) -> None:
    """What becomes FALSE is TRUE of no text that IBM MQ has for a destination."""
    selector = f"JMSDestination = '{value}' OR JMSReplyTo IN ('{value}', 'Topic[A]')"
    found = migrate(selector, "IBM_MQ", "ACTIVEMQ")
    if found:
        assert found.text == "FALSE"
        assert not mqsel.compile(selector).matches({"JMSDestination": text, "JMSReplyTo": text})
    assert bool(found) is ("//" not in value or "persistent" in value)


def _arithmetic(rng: random.Random, depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("a", "b", "c", "a", "b", "c", "0", "1", "2", "0.5", "-1", "1e308"))
    return f"({_arithmetic(rng, depth - 1)} {rng.choice('+-*/')} {_arithmetic(rng, depth - 1)})"


def test_computation_with_doubles() -> None:
    """Invariant: of finite doubles no decision differs where computation is the same, or was translated."""
    rng = random.Random("doubles")
    counts: Counter[str | None] = Counter()
    for _ in range(MANY * 2):
        one, other, third = [_arithmetic(rng, depth) for depth in (2, 1, 0)]
        text = f"{one} {rng.choice(('=', '<>', '<', '<=', '>', '>='))} {rng.choice((other, third, '0', '5'))}"
        if rng.random() < 0.3:
            text = f"{one} {rng.choice(('', 'NOT '))}BETWEEN {third} AND {other}"
        text = rng.choice(("{}", "{}", "NOT ({})", "a > 1 OR {}", "NOT ({} AND b < 2)")).format(text)
        source = rng.choice(("JMS", "IBM_MQ", "TIBCO_EMS", "IBM_JMS"))
        target = rng.choice(("ARTEMIS", "ACTIVEMQ", "QPID_BROKER_J", "QPID_CPP", "AZURE_SERVICE_BUS", "JMS"))
        if source != target:
            counts[check(text, source, target, rng)] += 1
    assert counts["same if"] + counts["translated if"] > MANY / 5, counts


@pytest.mark.parametrize(
    ("text", "translation"),
    [
        ("price * (1 - discount) < 10.0", "price * (1 - discount) < 10.0"),
        ("a * b > c", "a * b + 0.0 > c"),
        ("2 * a BETWEEN b AND c * b", "2 * a BETWEEN b AND c * b + 0.0"),
        ("d OR a + b > 5 OR e", "d OR a IS NOT NULL AND b IS NOT NULL AND (a + b > 5 OR e)"),
    ],
)
def test_computation_of_ibm_mq(text: str, translation: str) -> None:
    """What is computed with several properties is proved of doubles; a guard stands for ERR."""
    found = migrate(text, "IBM_MQ", "ARTEMIS")
    assert found.text == translation
    assert {kind for name, kind in found.assumes if name not in "de"} == {"finite double"}


def test_what_is_assumed_is_possible() -> None:
    """What no message of a contract has is not assumed: of none everything is the same."""
    integers = {name: {"type": "int64", "required": True} for name in "ab"}
    assert migrate("a + b > 5", "JMS", "ARTEMIS", integers).verdict == "not decided"
    assert migrate("a > 5", "JMS", "ROCKETMQ", "a LIKE '%'").verdict == "not decided"
    found = migrate("a > 5 AND b > 5", "JMS", "ROCKETMQ", {"a": "int32"})
    assert (found.text, found.assumes) == ("a > 5.0 AND b > 5.0", (("b", "number"),))
    doubles = {name: {"type": ["float64", "int8"], "required": True} for name in "ab"}
    assert dict(migrate("a + b > 5", "JMS", "ARTEMIS", doubles).assumes) == dict.fromkeys("ab", "finite double")


@pytest.mark.parametrize("odd", ["'x'", "TRUE", "('')"])
def test_arithmetic_on_what_is_no_number(odd: str) -> None:
    """Brokers compute with texts and booleans, too: what that is worth there is compared, and not computed here."""
    for test in (f"a * {odd} BETWEEN b AND 5", f"{odd} * a > b", f"a > 2 + {odd}", f"a > -{odd}", f"1 / {odd} >= a"):
        for source, target in (("RABBITMQ", "ARTEMIS"), ("ARTEMIS", "ACTIVEMQ"), ("QPID_CPP", "JMS")):
            with suppress(SelectorError):
                migrate(test, source, target)


@pytest.mark.parametrize(("text", "source"), [("a CONTAINS 'x'", "ROCKETMQ"), ("EXISTS(a)", "AZURE_SERVICE_BUS")])
def test_tests_of_one_product_as_operands(text: str, source: str) -> None:
    """What only some products test is a condition as any other where it is compared."""
    assert {migrate(f"({text}) = {right}", source, "JMS").verdict for right in ("b", "TRUE")} <= {
        "not decided",
        "refused",
    }


def test_one_tree_and_one_set_of_rules() -> None:
    """What two products evaluate alike is the same in both, unless a FLOAT32 decides."""
    assert migrate("JMSType = 'car' AND NOT color = 'red'", "ACTIVEMQ", "ARTEMIS").verdict == "same"
    assert migrate("NOT color = 'red'", "ACTIVEMQ", "QPID_BROKER_J").verdict == "differs"
    assert migrate("-5 < a", "ARTEMIS", "ACTIVEMQ").verdict == "same"
    assert migrate("-5.5 < a", "ARTEMIS", "ACTIVEMQ").verdict != "same"


def test_several_products_that_have_no_name_in_common() -> None:
    """Where products have their own names for a header no one text is for all of them, and that is the reason."""
    found = portable("region = 'EU' AND JMSPriority > 4", "IBM_MQ", ("JMS", "ARTEMIS", "RABBITMQ"))
    assert (found.verdict, found.reason) == ("refused", "ARTEMIS has no header JMSPriority")


def test_never_true_and_destinations() -> None:
    """What selects nothing is FALSE elsewhere, and says so; texts of destinations are rewritten where known."""
    found = migrate("Root.MQMD.CorrelId = 0x0C", "IBM_MQ", "ARTEMIS")
    assert (found.verdict, found.text) == ("translated", "FALSE")
    assert "matches no message" in found.reason
    assert migrate("JMSDestination LIKE 'Queue[A]'", "TIBCO_EMS", "ACTIVEMQ").text == "JMSDestination LIKE 'queue://A'"
    assert migrate("JMSDestination LIKE 'Q%'", "TIBCO_EMS", "ACTIVEMQ").verdict == "refused"
    assert "_AMQ_ORIG_ADDRESS" in migrate("JMSDestination = 'Queue[A]'", "TIBCO_EMS", "ARTEMIS").advice
    assert migrate("JMSReplyTo = 'Queue[A]'", "TIBCO_EMS", "ACTIVEMQ").verdict == "refused"
    assert migrate("JMSDestination = 'Queue[A]'", "TIBCO_EMS", "RABBITMQ").verdict == "refused"
    assert migrate("properties.to = '/queues/A'", "RABBITMQ", "AZURE_SERVICE_BUS").verdict == "refused"
    assert migrate("sys.To LIKE 'A%'", "AZURE_SERVICE_BUS", "RABBITMQ").verdict == "refused"
    assert migrate("sys.To IS NULL", "AZURE_SERVICE_BUS", "RABBITMQ").text == "p.to IS NULL"
    assert migrate("JMSDestination IS NULL", "ARTEMIS", "ACTIVEMQ").verdict == "refused"
    assert migrate("JMSDestination IS NULL", "ACTIVEMQ", "QPID_BROKER_J").verdict == "refused"
    assert migrate("JMSReplyTo = 'A'", "ACTIVEMQ", "IBM_MQ").verdict == "refused"  # which refuses FALSE, too
    assert migrate("JMSReplyTo IS NOT NULL", "TIBCO_EMS", "ACTIVEMQ").verdict == "same"
    assert migrate("JMSXUserID = 'a'", "TIBCO_EMS", "ARTEMIS").text == "_AMQ_VALIDATED_USER = 'a'"
    assert "queue move" in migrate("JMSXDeliveryCount > 1", "TIBCO_EMS", "ARTEMIS").advice


def test_byte_strings_and_fields_of_the_descriptor() -> None:
    """What IBM MQ alone has is refused by others, but for fields that JMS has names for."""
    assert migrate('"0x0A" = "0x0A"', "IBM_MQ", "ARTEMIS").text == "TRUE"
    assert migrate('x = "0x0A"', "IBM_MQ", "RABBITMQ").text == "x = 0x0A"
    assert migrate('x = "0x0A"', "IBM_MQ", "JMS").verdict == "refused"
    assert migrate("Root.MQMD.Priority = 4", "IBM_MQ", "ARTEMIS").text == "AMQPriority = 4"
    assert migrate("Root.MQMD.Priority = 4", "IBM_MQ", "QPID_CPP").text == "JMSPriority = 4"
    assert migrate("Root.MQMD.Priority = 4", "QPID_CPP", "JMS").verdict == "refused"
    assert migrate("Root.MQMD.Format = 'MQSTR'", "IBM_MQ", "ARTEMIS").verdict == "refused"


_VALUED = ("JMSDeliveryMode", "JMSDestination", "JMSReplyTo", "JMSPriority")
_TESTS = ("{} <> 7", "{} <> 0.1", "NOT {} = 7", "{} NOT IN ('a', 'b')", "{} NOT BETWEEN 1 AND 2", "7 <> {}", "{} <> x")


@pytest.mark.sample(13)
@pytest.mark.parametrize("target", PRESETS)
@pytest.mark.parametrize("source", ["IBM_MQ", "JMS", "ACTIVEMQ"])
def test_a_candidate_that_is_refused_ends_no_migration(source: str, target: str) -> None:
    """A test of a header whose values products write in other ways has a verdict, whatever rewrites of it look into."""
    for name, test in itertools.product(_VALUED, _TESTS):
        with suppress(SelectorError):
            assert migrate(test.format(name), source, target).verdict in VERDICTS
