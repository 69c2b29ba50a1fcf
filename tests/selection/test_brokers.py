"""Real brokers, embedded: who of their subscribers gets a message, compared with `Topic` under JMS.

ActiveMQ Classic and Artemis run in a JVM of their own, from the jars that bench/peers fetches; SelectorBroker.java
publishes and subscribes over the loopback. Every difference must be one that `brokers` predicts and names (selection
§7). ``-m brokers`` runs 200 selectors over 500 messages, each run without it a sample.
"""

from __future__ import annotations

import importlib.util
import json
import math
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import brokers
import pytest
import strategies
from conftest import ROOT, message_of
from oracle import Properties

import mqsel
from mqsel.selection import Message, Topic
from mqsel.selection.message import HEADERS

SENT = {"JMSDeliveryMode": ("string", "PERSISTENT"), "JMSPriority": ("int32", 4)}  # unless the message says otherwise


@pytest.fixture(scope="session")
def class_path() -> str:
    """Return the class path of the brokers and the program, or skip."""
    script = ROOT / "bench" / "peers" / "run.py"
    if not script.exists():
        pytest.skip("bench/peers, which fetches the jars of the brokers, does not stand beside the tests")
    spec = importlib.util.spec_from_file_location("peers", script)
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    if reason := peers.build(Path(__file__).with_name("SelectorBroker.java")):
        pytest.skip(f"no brokers: {reason}")
    return peers.CLASS_PATH


def received(
    class_path: str, broker: str, selectors: list[str], messages: list[Properties], path: Path
) -> list[set[int] | str]:
    """Return for each selector which messages its subscriber received, or why the broker refused it."""
    shown = [{name: [kind, _json(value)] for name, (kind, value) in message.items()} for message in messages]
    path.write_text(json.dumps({"selectors": selectors, "messages": shown}))
    command = ["java", "-cp", class_path, "SelectorBroker", broker, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return [answer if isinstance(answer, str) else set(answer) for answer in json.loads(done.stdout)]


def _json(value: Any) -> Any:
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def published(selectors: list[str], messages: list[Properties]) -> list[set[int]]:
    """Return the same of a `Topic`."""
    topic = Topic(mqsel.JMS, complexity=None)
    for number, selector in enumerate(selectors):
        topic.subscribe(str(number), selector)
    found: list[set[int]] = [set() for _ in selectors]
    for place, properties in enumerate(messages):
        values = message_of(properties)
        headers = {name: values.pop(name) for name in HEADERS if name in values}
        for name in topic.publish(Message(values, headers=headers)):
            found[int(name)].add(place)
    return found


def _sendable(rng: random.Random, properties: Properties) -> Properties:
    """Leave out what a message of JMS cannot hold, and what ActiveMQ Classic cannot carry (tested below)."""
    kept = {
        name: (kind, value)
        for name, (kind, value) in properties.items()
        if kind != "bytes" and not (kind == "string" and any(point > "\ud7ff" or point == "\0" for point in value))
    }
    kept.pop("JMSType", None)
    return {
        **kept,
        **rng.choice(({}, {"JMSType": ("string", rng.choice(("a", "red", "50%")))})),
        "JMSPriority": ("int32", rng.choice((0, 4, 4, 7, 9))),
        "JMSDeliveryMode": ("string", rng.choice(("PERSISTENT", "NON_PERSISTENT"))),
    }


def _corpus(seed: int, selectors: int, count: int) -> tuple[list[str], list[Properties]]:
    """Draw selectors, one in five of which the brokers refuse, and messages, some of them made for a selector."""
    rng = random.Random(seed)
    messages = [_sendable(rng, strategies.random_properties(rng, "JMS")) for _ in range(count)]
    taken: list[str] = []
    refused: list[str] = []
    while len(taken) + len(refused) < selectors:
        text, properties = strategies.random_case(rng, "JMS")
        if "\ud800" in text or "\0" in text:
            continue
        kind, most = (refused, selectors // 5) if brokers.refusal(text) else (taken, selectors)
        if len(kind) < most:
            kind.append(text)
            messages[rng.randrange(count)] = _sendable(rng, properties)
    return [*taken, *refused], messages


def _compare(class_path: str, broker: str, selectors: list[str], messages: list[Properties], path: Path) -> Counter:
    """Count the names of the differences; each answer must be the one that the departures predict."""
    departures = brokers.BROKERS[broker]
    if broker == "activemq":
        # There a selector that fails on a message fails the publisher: see below.
        selectors = [
            text
            for text in selectors
            if brokers.refusal(text) or not any(brokers.fails(text, message, departures) for message in messages)
        ]
    named: Counter[str] = Counter()
    theirs = received(class_path, broker, selectors, messages, path)
    for text, ours, got in zip(selectors, published(selectors, messages), theirs, strict=True):
        refusal = brokers.refusal(text)
        assert isinstance(got, str) == bool(refusal), (text, got)
        named.update(f"refused: {name}" for name in refusal)
        if isinstance(got, str):
            continue
        for place, message in enumerate(messages):
            assert brokers.answer(text, message, departures) == (place in got), (text, message)
            assert brokers.answer(text, message, frozenset()) == (place in ours), (text, message)
        for place in got ^ ours:
            names = brokers.explain(text, messages[place], departures)
            assert names, (text, messages[place])
            named.update(names)
    return named


@pytest.mark.brokers
@pytest.mark.parametrize("broker", brokers.BROKERS)
def test_a_sample(class_path: str, broker: str, tmp_path: Path) -> None:
    """Forty selectors over eighty messages: what differs from Topic is a departure that has a name."""
    assert _compare(class_path, broker, *_corpus(5, 40, 80), tmp_path / "cases.json")


@pytest.mark.brokers
@pytest.mark.parametrize("broker", brokers.BROKERS)
def test_all(request: pytest.FixtureRequest, class_path: str, broker: str, tmp_path: Path) -> None:
    """Two hundred selectors over five hundred messages: what differs from Topic is a departure that has a name."""
    if "brokers" not in request.config.getoption("markexpr"):
        pytest.skip("200 selectors over 500 messages: only with -m brokers")
    named = _compare(class_path, broker, *_corpus(11, 200, 500), tmp_path / "cases.json")
    print(f"{broker}: {dict(named.most_common())}")

    assert named.keys() <= {*brokers.BROKERS[broker], "refused: not", "refused: astral"} | {
        f"refused: {name}" for name in brokers.REFUSED
    }


HAND = {
    # selector: what it shows, the messages that ActiveMQ Classic, Artemis and Topic select
    "a = 5 AND s = 'x'": ("", {0}, {0}, {0}),
    "JMSType = 'car' AND JMSPriority > 4 AND JMSDeliveryMode = 'NON_PERSISTENT'": ("", {0}, {0}, {0}),
    "JMSCorrelationID = 'c1'": ("", {1}, {1}, {1}),
    "TRUE": ("", {0, 1, 2}, {0, 1, 2}, {0, 1, 2}),
    "": ("", {0, 1, 2}, {0, 1, 2}, {0, 1, 2}),
    "missing IS NULL AND a BETWEEN 5 AND 6": ("", {0}, {0}, {0}),
    "NOT a = 6": ("not", set(), set(), {0}),
    "5 <> missing": ("null", {0, 1, 2}, {0, 1, 2}, set()),
    "s <> 5": ("mismatch", {0, 1}, {0, 1}, set()),
    "s < t": ("order", {1}, {1}, set()),
    "7 / 2 * 2 = 7": ("double", {0, 1, 2}, {0, 1, 2}, set()),
    "t = 'PERSISTENT'": ("rewritten: 'PERSISTENT' is DURABLE wherever it stands", {1}, set(), {1}),
    "e = 'x\U0001f600y'": ("carried: characters above U+FFFF do not survive OpenWire", set(), {2}, {2}),
}


@pytest.mark.brokers
@pytest.mark.parametrize("broker", brokers.BROKERS)
def test_by_hand(class_path: str, broker: str, tmp_path: Path) -> None:
    """Header fields, each departure that is met most, and two that are no matter of the language."""
    messages: list[Properties] = [
        {
            "a": ("int32", 5),
            "s": ("string", "x"),
            "JMSType": ("string", "car"),
            "JMSPriority": ("int32", 7),
            "JMSDeliveryMode": ("string", "NON_PERSISTENT"),
        },
        {"s": ("string", "A"), "t": ("string", "PERSISTENT"), "JMSCorrelationID": ("string", "c1")},
        {"e": ("string", "x\U0001f600y")},
    ]
    place = 1 + list(brokers.BROKERS).index(broker)
    answers = received(class_path, broker, list(HAND), messages, tmp_path / "cases.json")

    assert dict(zip(HAND, answers, strict=True)) == {text: row[place] for text, row in HAND.items()}
    ours = published(list(HAND), [{**SENT, **message} for message in messages])
    assert dict(zip(HAND, ours, strict=True)) == {text: row[3] for text, row in HAND.items()}


@pytest.mark.brokers
def test_a_selector_that_fails_fails_the_publisher(class_path: str, tmp_path: Path) -> None:
    """In ActiveMQ Classic an exception in one subscriber's selector reaches the publisher; in Artemis nobody."""
    messages: list[Properties] = [{"a": ("string", "x")}]
    selectors = ["a * 2 = 4", "a = 'x'"]
    with pytest.raises(AssertionError, match="JMSException"):
        received(class_path, "activemq", selectors, messages, tmp_path / "cases.json")

    assert received(class_path, "artemis", selectors, messages, tmp_path / "cases.json") == [set(), {0}]
    assert published(selectors, messages) == [set(), {0}]
