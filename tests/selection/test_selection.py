"""Queues and topics: what *IBM MQ 9.4, Selection behavior*, says of them, sentence by sentence (selection §8)."""

from __future__ import annotations

import contextlib
import itertools
import pickle
import random
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import VECTORS_ROOT, json_lines

import mqsel
from mqsel import errors
from mqsel.errors import MQRC
from mqsel.formats import mq, properties
from mqsel.language.dialect import PRESETS
from mqsel.selection import (
    Complexity,
    ComplexSelectorWarning,
    JSONPath,
    Message,
    Queue,
    SelectionType,
    Topic,
    XPath,
    selection_type,
)
from mqsel.selection.selectors import combine

FILES = ("test_selection.py", "test_jms_message.py")
NONE, STANDARD, EXTENDED = SelectionType
JSON = b'{"order": [{"quantity": 7, "name": "bolt"}]}'


class Takes:
    """A provider that takes texts such as "more than 5": n is."""

    def compile(self, text: str) -> Any:
        if not text.startswith("more than "):
            raise errors.SelectorSyntaxError("not mine")
        return More(int(text.removeprefix("more than ")))


class More:
    """The test that such a text is."""

    def __init__(self, least: int) -> None:
        self.least = least

    def __call__(self, message: Any) -> bool:
        return message["n"] > self.least


def identified(number: int, **others: Any) -> dict[str, Any]:
    return {"n": number, "JMSMessageID": f"ID:{number:048x}", "JMSCorrelationID": f"ID:{number % 3 + 1:048x}", **others}


def full(*messages: Any, **arguments: Any) -> Queue:
    queue = Queue(**arguments)
    for message in messages:
        queue.put(message)
    return queue


def reason_of(call: Any, *arguments: Any, **named: Any) -> int:
    with pytest.raises(errors.MqselError) as caught:
        call(*arguments, **named)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    return caught.value.reason


# ---- presented ---------------------------------------------------------------------------------------------------


def test_selection_type() -> None:
    """A text is empty, a selector, for a provider, or an error of the selector language."""
    assert [selection_type(text) for text in ("", " \t", "a = 1", "TRUE")] == [NONE, NONE, STANDARD, STANDARD]
    assert selection_type("more than 5", mqsel.IBM_MQ, [Takes()]) is EXTENDED
    assert selection_type("a.b = 1", mqsel.IBM_MQ, [Takes()]) is STANDARD
    assert reason_of(selection_type, "a == 1", mqsel.IBM_MQ, [Takes()]) == MQRC.MQRC_SELECTOR_SYNTAX_ERROR
    assert reason_of(selection_type, "FALSE", mqsel.IBM_MQ, [Takes()]) == MQRC.MQRC_SELECTOR_ALWAYS_FALSE
    assert reason_of(selection_type, "a.b = 1", mqsel.JMS) == MQRC.MQRC_SELECTOR_SYNTAX_ERROR


def test_without_a_provider() -> None:
    """What no provider takes is 2551 on a subscription, 2459 elsewhere."""
    topic = Topic(providers=[Takes()])

    assert reason_of(topic.subscribe, "s", "$.a[?@.b]") == MQRC.MQRC_SELECTION_NOT_AVAILABLE
    assert reason_of(Queue().get, "$.a[?@.b]") == MQRC.MQRC_SELECTOR_SYNTAX_ERROR
    assert reason_of(Queue().browse, "more than 5") == MQRC.MQRC_SELECTOR_SYNTAX_ERROR


def test_with_a_provider() -> None:
    """A provider selects by what it likes; a subscription of its own type says so."""
    topic = Topic(providers=[Takes()])
    subscription = topic.subscribe("s", "more than 5", durable=True)

    assert subscription.type is EXTENDED
    assert [topic.publish({"n": n}) for n in (5, 6)] == [(), ("s",)]
    again = pickle.loads(pickle.dumps(topic))
    assert again.publish({"n": 7}) == ("s",)
    assert [message["n"] for message in again.subscriptions()[0].queue.browse()] == [6, 7]


def test_the_body_by_json_path() -> None:
    """The payload is selected on only through a provider: JSONPath for JSON."""
    pytest.importorskip("jsonpath")
    topic = Topic(providers=[JSONPath()])
    topic.subscribe("many", "$.order[?@.quantity > 5]")
    topic.subscribe("properties", "quantity > 5")
    raw = mq.encode({}, {"color": "blue"}, JSON)

    assert topic.publish(raw) == ("many",)
    assert topic.publish(Message(body=JSON.decode())) == ("many",)
    assert topic.publish(Message(body='{"order": []}')) == ()
    assert [topic.publish(other) for other in (Message(), Message(body="<order/>"), {"a": 1}, mq.encode({}, {}))] == [
        ()
    ] * 4
    assert reason_of(topic.publish, Message(body='{"order"')) == MQRC.MQRC_CONTENT_ERROR
    assert reason_of(topic.publish, Message(body="[" * 100_000)) == MQRC.MQRC_CONTENT_ERROR
    assert len(topic.subscriptions()[0].queue) == 2
    assert pickle.loads(pickle.dumps(topic)).publish(raw) == ("many",)
    for text in ("$.a[", "order[?", "\0", "$" * 5 + "["):
        assert reason_of(topic.subscribe, "x", text) == MQRC.MQRC_SELECTION_NOT_AVAILABLE


def test_a_path_that_is_a_selector() -> None:
    """What the queue manager can handle is a selector, though it may look like a path."""
    pytest.importorskip("jsonpath")

    assert selection_type("$.order.paid", mqsel.IBM_MQ, [JSONPath()]) is STANDARD
    assert selection_type("$['order']['paid']", mqsel.IBM_MQ, [JSONPath()]) is EXTENDED
    for text in (5, ""):
        with pytest.raises((errors.ArgumentError, errors.SelectorError)):
            JSONPath().compile(text)  # type: ignore[arg-type]


def test_the_body_by_xpath() -> None:
    """The payload is selected on only through a provider: XPath 1.0 for XML."""
    pytest.importorskip("lxml")
    topic = Topic(providers=[XPath()])
    for name, text in {"many": "/order[quantity > 5]", "count": "count(//quantity) - 1", "nan": "0 div 0 + /"}.items():
        topic.subscribe(name, text)
    wide = "<?xml version='1.0' encoding='utf-16'?><order><quantity>7</quantity></order>".encode("utf-16")

    assert topic.publish(mq.encode({}, {}, wide)) == ("many",)
    assert topic.publish(Message(body="<order><quantity>7</quantity></order>")) == ("many",)
    declared = "<?xml version='1.0' encoding='iso-8859-1'?><order n='\u00e9'><quantity>7</quantity></order>"
    assert topic.publish(Message(body=declared)) == ("many",)
    assert topic.publish(mq.encode({}, {}, declared.encode("latin-1"))) == ("many",)
    assert topic.publish(Message(body="<o><quantity/><quantity/></o>")) == ("count",)
    assert [topic.publish(other) for other in (Message(), Message(body="{}"), {"a": 1})] == [()] * 3
    assert reason_of(topic.publish, Message(body="<order>")) == MQRC.MQRC_CONTENT_ERROR
    bomb = "<!DOCTYPE o [<!ENTITY a 'x'>" + "".join(f"<!ENTITY b{n} '{'&a;' * 9}'>" for n in range(9)) + "]><o>&b8;</o>"
    assert topic.publish(Message(body=bomb)) == ("count",)
    topic.subscribe("variable", "/v[. = $variable]")
    assert reason_of(topic.publish, Message(body="<v/>")) == MQRC.MQRC_CONTENT_ERROR
    for text in ("/order[", "unknown()", "none:prefix", "\0", "\ud800/"):
        assert reason_of(topic.subscribe, "x", text) == MQRC.MQRC_SELECTION_NOT_AVAILABLE


# ---- queues ------------------------------------------------------------------------------------------------------


def test_order() -> None:
    """Messages are inspected in order of priority and arrival until one is selected."""
    queue = full(*({"n": n, "JMSPriority": priority} for n, priority in enumerate((1, 9, 4, 9, 0))), {"n": 5})

    assert [message["n"] for message in queue.browse()] == [1, 3, 2, 5, 0, 4]
    assert [message["n"] for message in queue.browse("n < 3")] == [1, 2, 0]
    assert queue.get("n > 1")["n"] == 3
    assert [queue.get()["n"] for _ in range(5)] == [1, 2, 5, 0, 4]


def test_no_message_available() -> None:
    """Without a message that is selected the answer is MQRC_NO_MSG_AVAILABLE."""
    queue = Queue()
    assert reason_of(queue.get) == MQRC.MQRC_NO_MSG_AVAILABLE
    queue.put({"a": 1})
    assert reason_of(queue.get, "a = 2") == MQRC.MQRC_NO_MSG_AVAILABLE
    assert reason_of(queue.get, f"JMSMessageID = 'ID:{'ab' * 24}'") == MQRC.MQRC_NO_MSG_AVAILABLE
    assert queue.count("a = 2") == 0
    assert list(queue.browse("a = 2")) == []


def test_only_messages_that_have_the_property() -> None:
    """A message without properties, or whose a is not there or another, is not selected by a = 3."""
    queue = full({}, {"b": 3}, {"a": 4}, {"a": None}, {"a": 3})

    assert list(queue.browse("a = 3")) == [{"a": 3}]


def test_missing_properties_are_null() -> None:
    """A message without any property can be selected: a property that does not exist is NULL."""
    queue = full({}, {"Color": "red"})

    assert list(queue.browse("Color IS NULL")) == [{}]
    assert list(queue.browse("NOT (Color = 'red')")) == []
    assert full(mq.encode({}, {})).count("Color IS NULL AND JMSPriority = 4") == 1


def test_a_mismatch_is_false() -> None:
    """An expression whose types do not fit is FALSE, not the selector."""
    queue = full({"a": "3"})

    assert queue.count("a = 3") == 0
    assert queue.count("NOT (a = 3)") == 1
    assert queue.count("a > 3 OR a = '3'") == 1


def test_the_body_is_no_property() -> None:
    """Selection is on properties, not on the message itself."""
    queue = full(mq.encode({}, {}, JSON), Message(body="color"))

    assert queue.count("quantity > 5 OR color IS NOT NULL OR body IS NOT NULL") == 0
    assert reason_of(queue.get, "Root.JSON.Data.quantity > 5") == MQRC.MQRC_SELECTOR_SYNTAX_ERROR


@pytest.mark.parametrize("header", ["JMSMessageID", "JMSCorrelationID"])
def test_by_identifier(header: str) -> None:
    """A selector of the form JMSMessageID = 'ID:…', alone, matches the identifier, whatever the case of its digits."""
    queue = full(*(identified(number) for number in range(171, 177)))
    digits = f"{172 if header == 'JMSMessageID' else 2:048X}"

    assert queue.get(f"{header} = 'ID:{digits}'")["n"] == 172
    assert queue.count(f"{header}='ID:{digits.lower()}'") == (0 if header == "JMSMessageID" else 1)
    if header == "JMSCorrelationID":
        assert queue.get(f"\t{header}  =\n'ID:{digits}' ")["n"] == 175


def test_identifiers_of_the_descriptor() -> None:
    """Of an IBM MQ message the match option compares MsgId and CorrelId, not what jms.Cid says."""
    raw = mq.encode({"MsgId": b"\xab" * 24, "CorrelId": b"\x01" * 24}, {"JMSCorrelationID": f"ID:{'02' * 24}"})
    queue = full(raw)

    assert queue.count(f"JMSMessageID = 'ID:{'AB' * 24}'") == 1
    assert queue.count(f"JMSCorrelationID = 'ID:{'01' * 24}'") == 1
    assert queue.count(f"JMSCorrelationID = 'ID:{'02' * 24}'") == 0
    assert queue.count(f"(JMSCorrelationID = 'ID:{'02' * 24}')") == 1


@pytest.mark.parametrize("header", ["JMSMessageID", "JMSCorrelationID"])
def test_all_zeros(header: str) -> None:
    """An identifier of zeros matches every message; but only alone, and on the left."""
    queue = full({"a": 1}, identified(5), mq.encode({}, {}))

    assert queue.count(f"{header} = 'ID:{'0' * 48}'") == 3
    assert queue.count(f"{header} = 'ID:{'0' * 48}' AND n = 5") == 0
    assert queue.count(f"'ID:{'0' * 48}' = {header}") == 0


def test_match_options() -> None:
    """A match option is what Matcher.match_option gives; beside a selector both decide."""
    queue = full(*(identified(number) for number in range(1, 8)))
    option = mqsel.compile(f"JMSCorrelationID = 'ID:{2:048x}'").match_option

    assert [message["n"] for message in queue.browse(match_option=option)] == [1, 4, 7]
    assert [message["n"] for message in queue.browse("n > 1", match_option=option)] == [4, 7]
    assert queue.get("n > 1", match_option=option)["n"] == 4
    assert queue.count(match_option=("MQMO_MATCH_MSG_ID", bytes(24))) == 6
    for wrong in ("MQMO_MATCH_MSG_ID", ("MQMO_MATCH_MSG_ID", b"1"), ("MQMO_MATCH_GROUP_ID", bytes(24)), 5, (1, 2, 3)):
        with pytest.raises(errors.ArgumentError, match=r"^match_option is"):
            queue.get(match_option=wrong)  # type: ignore[arg-type]


def test_the_short_way_to_an_identifier() -> None:
    """The selectors that are looked up without compiling them are those that have a match option."""
    digits = "0aF" * 16
    for text in (
        f"JMSMessageID = 'ID:{digits}'",
        f" JMSCorrelationID\n='ID:{digits}'\t",
        f"(JMSMessageID = 'ID:{digits}')",
        f"JMSMessageID <> 'ID:{digits}'",
        f"JMSMessageID = 'ID:{digits[1:]}'",
        f"'ID:{digits}' = JMSMessageID",
        f"JMSMessageID = 'ID:{digits}' AND a = 1",
    ):
        for dialect in (mqsel.IBM_MQ, mqsel.JMS, mqsel.IBM_JMS):
            option = mqsel.compile(text, dialect=dialect).match_option
            found = Queue(dialect)._asked(text, None)
            assert (option is not None) == (found[1] is not None and found[0] is None), text
            assert option is None or option.identifier == found[1][1]


def test_many_of_one_identifier() -> None:
    """Messages of one correlation identifier come in order of priority and arrival, however others are taken."""
    rng = random.Random(3)
    queue, model = Queue(), []
    for number in range(600):
        message = identified(number, JMSPriority=rng.choice((3, 4)))
        queue.put(message)
        model.append(message)
    model.sort(key=lambda message: -message["JMSPriority"])
    while model:
        text = f"JMSCorrelationID = 'ID:{rng.randrange(1, 4):048x}'"
        wanted = [message for message in model if mqsel.compile(text).matches(message)]
        assert list(queue.browse(text)) == wanted
        if rng.random() < 0.5:
            assert queue.get() is model.pop(0)
        elif wanted:
            assert queue.get(text) is wanted[0]
            model.remove(wanted[0])
    assert len(queue) == 0


def test_raw_messages() -> None:
    """What an IBM MQ message has in its folders is selected on as by filter: groups, jms and mcd too."""
    raw = mq.encode({"Priority": 7}, {"color": "blue", "shop.item.x": ("int32", 5), "JMSType": "car"}, b"data")
    queue = full(raw, mq.encode({"Priority": 8}, {"color": "red"}))

    for text in (
        "usr.color = 'blue'",
        "shop.item.x > 4",
        "mcd.Type = 'car' AND Root.MQMD.Priority = 7",
        "JMSType = 'car'",
    ):
        assert list(queue.browse(text)) == [raw]
    assert queue.get("color IS NOT NULL") != raw


def test_an_mqmde_describes() -> None:
    """The fields of an MQMDE count if the descriptor is of version 1, or of version 2 with initial values."""
    extended = mq.encode({"MsgSeqNumber": 5, "GroupId": b"g" * 24}, {"a": 1}, version=1)
    assert b"MDE " in extended
    assert full(extended).count("Root.MQMD.MsgSeqNumber = 5 AND a = 1") == 1
    data = extended[324:]
    descriptor = mq.encode({"Format": "MQHMDE  "}, {})
    assert full(descriptor + data).count("JMSXGroupSeq = 5 AND a = 1") == 1
    other = mq.encode({"Format": "MQHMDE  ", "MsgSeqNumber": 2}, {})
    assert full(other + data).count("Root.MQMD.MsgSeqNumber = 2 AND a IS NULL") == 1


@pytest.mark.parametrize("name", [b"or", b"1z", b":c", b".x", b"x."])
def test_an_invalid_name(name: bytes) -> None:
    """No selector of IBM MQ selects a message with a property of an invalid name; without a selector it is there."""
    plain = mq.encode({"MsgId": b"\1" * 24}, {"color": "blue", "ok": 1})
    raw = plain.replace(b"<ok", b"<" + name).replace(b"</ok", b"</" + name)
    queue = full(raw)

    assert properties(raw)["color"] == "blue"
    assert [queue.count(text) for text in ("color = 'blue'", "color IS NULL", "TRUE", "", " ")] == [0, 0, 0, 1, 1]
    assert queue.count(f"JMSMessageID = 'ID:{'01' * 24}'") == 1
    assert full(raw, dialect=mqsel.JMS).count("color = 'blue'") == 1
    topic = Topic()
    topic.subscribe("some", "color = 'blue'")
    topic.subscribe("all")
    assert topic.publish(raw) == ("all",)


@pytest.mark.parametrize("dialect", ["IBM_MQ", "IBM_JMS", "JMS"])
def test_a_topic_compares_identifiers_as_strings(dialect: str) -> None:
    """The case of the digits matters to a topic, and not to a queue; zeros match every message in IBM's dialects."""
    topic, message = Topic(dialect), {"JMSMessageID": f"ID:{'ab' * 24}"}
    texts = {
        name: f"JMSMessageID = 'ID:{digits * 24}'"
        for name, digits in (("lower", "ab"), ("upper", "AB"), ("zeros", "00"))
    }
    for name, text in texts.items():
        topic.subscribe(name, text)
    queue = Queue(dialect)
    queue.put(message)
    is_ibm = dialect != "JMS"

    assert topic.publish(message) == ("lower", *["zeros"] * is_ibm)
    assert {name: queue.count(text) for name, text in texts.items()} == {"lower": 1, "upper": 1, "zeros": int(is_ibm)}


NAMES = {
    False: [
        *("a b", "1z", "a:c", "..x", "x.", "", "or", "usr.Is", "usr.Root", "JMSColor", "Body", "Root.MQMD.Nothing"),
        *("mq.a.b", "a\U0001d4d0"),
    ],
    True: [
        *("_a$1", "usr.a", "mq_usr.1z", "JMSXGroupID", "JMS_IBM_Format", "JMSDeliveryTime", "Root.MQMD.Format"),
        "x" * 4099,
    ],
}


@pytest.mark.parametrize(("name", "is_valid"), [(name, valid) for valid, names in NAMES.items() for name in names])
def test_an_invalid_name_of_a_mapping(name: str, is_valid: bool) -> None:
    """A mapping has the names that a message can have, or no selector of IBM MQ selects it."""
    message = {"color": "blue", name: "1"}
    queue, topic = full(message), Topic()
    topic.subscribe("some", "color = 'blue'")
    topic.subscribe("all")

    assert [queue.count(text) for text in ("color = 'blue'", "zz IS NULL", "TRUE", "")] == [*[int(is_valid)] * 3, 1]
    assert topic.publish(message) == (("some", "all") if is_valid else ("all",))
    assert full(message, dialect=mqsel.JMS).count("color = 'blue'") == 1
    assert queue.get() is message


def test_every_message_of_the_vectors() -> None:
    """A queue selects from each message of the vectors as filter does."""
    compared = 0
    for vector in json_lines(VECTORS_ROOT / "formats" / "mq.jsonl"):
        if "message" not in vector or vector.get("options"):
            continue
        raw = bytes.fromhex(vector["message"])
        try:
            queue = full(raw)
        except (errors.DecodeError, errors.ArgumentError):
            continue
        for name in [*vector.get("want", ()), *vector.get("absent", ())]:
            for text in (f"{name} IS NOT NULL", f"{name} IS NULL", f"{name} > 0", f"NOT ({name} = 'x')"):
                try:
                    matcher = mqsel.compile(text)
                except errors.SelectorError:
                    continue
                assert queue.count(text) == len(list(matcher.filter([raw], format="mq"))), (vector["id"], text)
                compared += 1

    assert compared > 1000


# ---- topics ------------------------------------------------------------------------------------------------------


def test_publish() -> None:
    """A subscription gets what its selector selects, in its own queue."""
    topic = Topic()
    blue, every = topic.subscribe("blue", "color = 'blue'"), topic.subscribe("every")

    assert topic.publish({"color": "blue"}) == ("blue", "every")
    assert topic.publish({"color": "red", "JMSPriority": 9}) == ("every",)
    assert list(blue.queue.browse()) == [{"color": "blue"}]
    assert every.queue.get()["color"] == "red"


def test_early_evaluation() -> None:
    """A selector that is TRUE without any property gets all messages; one that is FALSE fails where it is presented."""
    topic, queue = Topic(), Queue()
    topic.subscribe("s", "TRUE <> FALSE")
    assert topic.publish({}) == ("s",)
    for text in ("FALSE", "TRUE = FALSE", "1 = 2"):
        for call in (queue.get, queue.browse, queue.count, selection_type):
            assert reason_of(call, text) == MQRC.MQRC_SELECTOR_ALWAYS_FALSE
        assert reason_of(topic.subscribe, "t", text) == MQRC.MQRC_SELECTOR_ALWAYS_FALSE
    assert topic.subscribe("t", "a = 1 AND FALSE").type is STANDARD
    assert Topic(mqsel.JMS).subscribe("t", "FALSE").type is STANDARD


def test_an_inactive_subscription_collects() -> None:
    """For an inactive durable subscriber the selector it began with goes on selecting; a non-durable one is gone."""
    topic = Topic()
    topic.subscribe("d", "a = 1", durable=True)
    topic.subscribe("n", "a = 1")
    for name in ("d", "n"):
        topic.close(name)

    assert [topic.publish({"a": a, "b": a}) for a in (1, 2, 1)] == [("d",), (), ("d",)]
    assert topic.resume("d").queue.count("b = 1") == 2
    assert reason_of(topic.resume, "n") == MQRC.MQRC_NO_SUBSCRIPTION


def test_a_selector_is_not_alterable() -> None:
    """Resumed with another selector is MQRC_SELECTOR_NOT_ALTERABLE; the same one may be written otherwise."""
    topic = Topic()
    topic.subscribe("d", "a = 1 AND b = 'x'", durable=True)
    assert reason_of(topic.resume, "d", "a = 1 AND b = 'x'") == MQRC.MQRC_SUBSCRIPTION_IN_USE
    topic.close("d")
    for text in (
        "a = 1",
        "a = 1 AND b = 'X'",
        "A = 1 AND b = 'x'",
        "b = 'x' AND a = 1",
        "a = 1.0 AND b = 'x'",
        "",
    ):
        with pytest.raises(errors.SelectorNotAlterable) as caught:
            topic.resume("d", text)
        assert caught.value.reason is MQRC.MQRC_SELECTOR_NOT_ALTERABLE
        assert not topic.subscriptions()[0].active
    for text, reason in (("a ==", 2459), ("JMSFoo = 1", 2459), ("09 = a", 2459), ('a = "0xA"', 2459), ("FALSE", 2504)):
        assert reason_of(topic.resume, "d", text) == reason
    assert reason_of(topic.alter, "d", "a = 4") == MQRC.MQRC_SELECTOR_NOT_ALTERABLE
    for text in ("a = 1 AND b = 'x'", "((a=1)\nand (b = 'x'))", None):
        assert topic.resume("d", text).selector == "a = 1 AND b = 'x'"
        topic.close("d")


def test_defined_by_an_administrator() -> None:
    """A text that is no selector is looked at when something is published, and nobody gets that: 2551."""
    topic = Topic()
    topic.subscribe("all")
    assert topic.define("s", "a = 1").type is STANDARD
    assert topic.publish({"a": 1}) == ("all", "s")
    defined = topic.define("x", "$.a[")
    assert (defined.type, defined.active, defined.durable) == (EXTENDED, False, True)
    for held in (topic, pickle.loads(pickle.dumps(topic))):
        assert reason_of(held.publish, {"a": 1}) == MQRC.MQRC_SELECTION_NOT_AVAILABLE
        assert [len(one.queue) for one in held.subscriptions()] == [1, 1, 0]
    topic.unsubscribe("x")
    assert topic.publish({"a": 1}) == ("all", "s")
    assert reason_of(topic.define, "f", "FALSE") == MQRC.MQRC_SELECTOR_ALWAYS_FALSE
    assert reason_of(topic.define, "s") == MQRC.MQRC_SUB_ALREADY_EXISTS


def test_a_get_says_what_it_inspected() -> None:
    """How many messages a get inspected, and whether an identifier was looked up instead."""
    queue = full(*[identified(number) for number in range(1, 7)], {"n": 9, "JMSPriority": 9})
    found = [
        (queue.get(text)["n"], tuple(queue.last_get))
        for text in ("n = 3", f"JMSMessageID = 'ID:{5:048x}'", "n = 6", "")
    ]
    assert found == [(3, (4, None)), (5, (1, "MQMO_MATCH_MSG_ID")), (6, (5, None)), (9, (1, None))]
    assert reason_of(queue.get, "n = 77") == MQRC.MQRC_NO_MSG_AVAILABLE
    assert tuple(queue.last_get) == (3, None)
    queue.count("n > 0")
    assert tuple(queue.last_get) == (3, None)


@pytest.mark.parametrize("dialect", PRESETS)
def test_a_blank_selector(dialect: str) -> None:
    """An empty or blank text selects every message in every dialect, also where it is none to the product's parser."""
    messages = [{"a": 1}, mq.encode({}, {"a": 2})]
    queue, topic = full(*messages, dialect=dialect), Topic(dialect)
    for name, text in zip("abc", ("", " ", "\n\t"), strict=True):
        assert selection_type(text, dialect) is NONE
        assert queue.count(text) == queue.count("a > 0") == 2
        topic.subscribe(name, text, durable=True)
    topic.close("a")
    assert topic.resume("a", "  ").active
    assert [topic.publish(message) for message in messages] == [(*"abc",)] * 2
    assert len(pickle.loads(pickle.dumps(topic)).subscriptions()) == 3


def test_alter() -> None:
    """To alter a subscription is to make it anew; its own selector, and what is refused, leave it as it was."""
    topic = Topic(mqsel.JMS.replace(constant_false="reject"))
    topic.subscribe("d", "a = 1", durable=True)
    assert reason_of(topic.alter, "d", "a = 2") == MQRC.MQRC_SUBSCRIPTION_IN_USE
    topic.publish({"a": 1})
    topic.close("d")
    assert reason_of(topic.alter, "d", "FALSE") == MQRC.MQRC_SELECTOR_ALWAYS_FALSE
    assert topic.alter("d", "(a=1)").queue.count() == 1  # not altered
    topic.close("d")
    altered = topic.alter("d", "a = 2")

    assert (altered.active, altered.durable, len(altered.queue)) == (True, True, 0)
    assert [topic.publish({"a": a}) for a in (1, 2)] == [(), ("d",)]
    assert reason_of(topic.alter, "x", "a = 2") == MQRC.MQRC_NO_SUBSCRIPTION


def test_unsubscribe() -> None:
    """A subscription that ended gets nothing; its name is free again."""
    topic = Topic()
    topic.subscribe("d", durable=True)
    assert reason_of(topic.subscribe, "d") == MQRC.MQRC_SUB_ALREADY_EXISTS
    topic.unsubscribe("d")

    assert topic.publish({}) == ()
    assert topic.subscribe("d", "a = 1").durable is False
    for call in (topic.unsubscribe, topic.close, topic.resume):
        assert reason_of(call, "x") == MQRC.MQRC_NO_SUBSCRIPTION


def test_nobody_gets_what_cannot_be_published() -> None:
    """All selectors are run before anybody gets a message; an error leaves every queue as it was."""
    topic = Topic(providers=[Takes()])
    topic.subscribe("all")
    topic.subscribe("s", "more than 1")
    with pytest.raises(KeyError):
        topic.publish({"m": 1})

    assert len(topic.subscriptions()[0].queue) == 0


def test_each_gets_a_message_of_its_own() -> None:
    """A JMS message is copied to each subscriber, and read-only there."""
    topic = Topic()
    queues = [topic.subscribe(name).queue for name in "ab"]
    sent = Message({"a": 1})
    topic.publish(sent)
    sent.set("a", 2)
    first, second = queues[0].get(), queues[1].get()
    first.clear_properties()

    assert (dict(sent)["a"], first.get("a"), second["a"]) == (2, None, 1)
    with pytest.raises(errors.MessageNotWriteable):
        second.set("a", 3)


# ---- complexity --------------------------------------------------------------------------------------------------


def terms(count: int, word: str = "OR") -> str:
    return f" {word} ".join(f"a{n} = {n}" for n in range(count))


def test_more_than_100_tests() -> None:
    """More than 100 tests are warned of or refused, as configured; 100 are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Queue().count(terms(100))
        Topic(complexity=None).subscribe("s", terms(101))
    with pytest.warns(ComplexSelectorWarning, match="has 101 tests: IBM MQ may reject more than 100"):
        Queue().count(terms(101))
    with pytest.warns(ComplexSelectorWarning):
        Topic().subscribe("s", terms(101))
    strict = Complexity(refuse=True)
    assert reason_of(Queue(complexity=strict).get, terms(101)) == MQRC.MQRC_SELECTOR_SYNTAX_ERROR
    assert reason_of(Topic(complexity=strict).subscribe, "s", terms(101)) == MQRC.MQRC_SELECTION_NOT_AVAILABLE
    with pytest.raises(errors.SelectorLimitError):
        Queue(complexity=Complexity(tests=2, refuse=True)).get("a = 1 AND b = 2 AND c = 3")


def test_nesting() -> None:
    """A limit of nesting stands for the stack of a platform."""
    deep = "a = 1"
    for _ in range(5):
        deep = f"NOT ({deep} AND b = 2)"
    queue = Queue(complexity=Complexity(nesting=10, refuse=True))
    assert queue.count(deep) == 0
    assert queue.count(f"(({deep}))") == 0
    with pytest.raises(errors.SelectorLimitError, match="nests 11 conditions: the limit is 10"):
        queue.count(f"NOT ({deep})")


@pytest.mark.parametrize(
    "text",
    [
        terms(101),
        terms(102, "AND"),
        "a and b or c and d or e and f or (g and (h)) or i and j",
        "((a or b or (c)))",
        "(a = 1 or b=1) and (not x between 1 and 2)and((c=2)) AND d BETWEEN 1 AND 2",
        "a = 1 OR'x or y'= b OR c = ' and '",
    ],
)
def test_the_recommended_parentheses(text: str) -> None:
    """The warning writes the selector with parentheses that combine its components; its program is equal."""
    combined = combine(text, mqsel.IBM_MQ)
    before, after = mqsel.compile(text).program, mqsel.compile(combined).program

    assert combined != text
    assert (before.words, before.constants, before.slots) == (after.words, after.constants, after.slots)


def test_the_example_of_the_parentheses() -> None:
    """IBM's own example; the warning shows it. What has no chain of three or more stays as it is."""
    assert combine("a and b or c and d or e and f", mqsel.IBM_MQ) == "(a and b OR c and d) OR (e and f)"
    with pytest.warns(ComplexSelectorWarning, match=re.escape("parentheses: (a = 1 OR b = 2) OR (c = 3)")):
        Queue(complexity=Complexity(tests=2)).count("a = 1 OR b = 2 OR c = 3")
    for text in ("a = 1", "a = 1 OR b = 2", "NOT (a = 1 OR b = 2 OR c = 3)", ""):
        assert combine(text, mqsel.IBM_MQ) == text


# ---- bad input, pickling, threads --------------------------------------------------------------------------------


@pytest.mark.parametrize("message", [None, 5, "text", b"", b"no message", [1], {"a": object()}, {"a": 1 << 63}, {5: 1}])
def test_no_message(message: Any) -> None:
    """What is no message is refused where it is put or published, by one error of ours."""
    for call in (Queue().put, Topic().publish):
        with pytest.raises(errors.MqselError):
            call(message)


@pytest.mark.parametrize("priority", [-1, 10, True, "5", 4.0, 1 << 62])
def test_no_priority(priority: Any) -> None:
    """A priority is 0 to 9."""
    with pytest.raises(errors.ArgumentError, match=r"^JMSPriority is .*: expected 0 to 9$"):
        Queue().put({"JMSPriority": priority})


@pytest.mark.parametrize("selector", [None, 5, b"a = 1", "a =", "\ud800"])
def test_no_selector(selector: Any) -> None:
    """What is no selector is refused by one error of ours."""
    for call in (Queue().get, Queue().browse, Queue().count, selection_type, lambda text: Topic().subscribe("s", text)):
        with pytest.raises(errors.MqselError):
            call(selector)


def test_bad_arguments() -> None:
    """Whatever else is wrong is one error of ours, where it is first used."""
    for call in (
        lambda: Queue(complexity=5).count("a = 1"),  # type: ignore[arg-type]
        lambda: Queue(complexity=Complexity("5")).count("a = 1"),  # type: ignore[arg-type]
        lambda: Queue("DB2").count("a = 1"),
        lambda: Topic(providers=[5]),  # type: ignore[list-item]
        lambda: selection_type("a ==", providers=5),  # type: ignore[arg-type]
        lambda: _closed().resume("d", 5),  # type: ignore[arg-type]
        lambda: Topic().subscribe(["s"]),  # type: ignore[arg-type]
        lambda: Topic().resume(["s"]),  # type: ignore[arg-type]
    ):
        with pytest.raises((errors.ArgumentError, errors.SubscriptionError)):
            call()


@pytest.mark.parametrize(
    "text",
    [
        *("$" + ".a" * 100_000, "$" + ".a" * 5000, "$" + "[?(@" * 2000, "$[?" + "!" * 5000 + "@]"),
        *("$[1e3:]", "$[?@.a > 1e400]", "$.order[0][?count(@) == 1]", "$[?match('a', 'a{99999999999}')]"),
    ],
)
def test_a_path_that_the_library_cannot_take(text: str) -> None:
    """A path that takes the stack, or on which the library fails, ends in an error of ours, not the process."""
    pytest.importorskip("jsonpath")
    topic = Topic(providers=[JSONPath()])
    try:
        topic.subscribe("s", text)
    except errors.SelectorError:
        return
    assert reason_of(topic.publish, Message(body=JSON.decode())) == MQRC.MQRC_CONTENT_ERROR


def _closed() -> Topic:
    topic = Topic()
    topic.subscribe("d", "a = 1", durable=True)
    topic.close("d")
    return topic


def test_a_view_is_copied() -> None:
    """Bytes that may change are kept as they were put."""
    raw = bytearray(mq.encode({}, {"a": 1}))
    queue = full(memoryview(raw))
    raw[:] = bytes(len(raw))

    assert pickle.loads(pickle.dumps(queue)).get("a = 1")[:4] == b"MD  "


def test_pickled() -> None:
    """A queue and a topic survive pickling with all that is in them."""
    raw = mq.encode({"Priority": 2}, {"a": 1})
    queue = full({"a": 1}, raw, Message({"a": 1}, headers={"JMSPriority": 9}), dialect=mqsel.JMS)
    queue.get("JMSPriority IS NULL")
    topic = Topic(mqsel.JMS, complexity=Complexity(refuse=True))
    topic.subscribe("d", "a = 1", durable=True)
    topic.publish({"a": 1})
    topic.close("d")
    queue, topic = pickle.loads(pickle.dumps((queue, topic)))

    assert list(queue.browse()) == [Message({"a": 1}, headers={"JMSPriority": 9}), raw]
    assert repr(topic.subscriptions()) == "(<Subscription 'd' 'a = 1' durable, inactive, STANDARD, 1 messages>,)"
    assert topic.publish({"a": 1}) == ("d",)
    assert reason_of(topic.subscribe, "s", terms(101)) == MQRC.MQRC_SELECTION_NOT_AVAILABLE


def test_threads() -> None:
    """Threads that put, get, publish and subscribe at once lose and double nothing."""
    queue, topic = Queue(), Topic()
    topic.subscribe("all")
    got: list[list[int]] = [[] for _ in range(4)]
    failed: list[BaseException] = []

    def work(mine: int) -> None:
        try:
            for number in range(300):
                queue.put(identified(number * 4 + mine, kind=mine % 2))
                topic.publish({"n": number})
                topic.subscribe(f"{mine}.{number}", "n > 5")
                topic.unsubscribe(f"{mine}.{number}")
                with contextlib.suppress(errors.NoMessageAvailable):
                    got[mine].append(queue.get(f"kind = {number % 2}" if number % 3 else "")["n"])
        except BaseException as error:  # noqa: BLE001 (seen below)
            failed.append(error)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert sorted([*itertools.chain.from_iterable(got), *(message["n"] for message in queue.browse())]) == list(
        range(1200)
    )
    assert len(topic.subscriptions()[0].queue) == 1200


# ---- the table of sentences --------------------------------------------------------------------------------------


def test_every_sentence_has_its_test() -> None:
    """The tests that the README names for each sentence exist, and it names every row about the language."""
    readme = (Path(mqsel.__file__).parent / "selection" / "README.md").read_text(encoding="utf-8")
    _, _, table = readme.partition("## \u00a78")
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.endswith("| test |")]
    sources = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in FILES]
    tests = {found for source in sources for found in re.findall(r"^def (test_\w+)", source, re.MULTILINE)}
    page = set(re.findall(r'^    "([a-z.-]+)": \(', sources[1], re.MULTILINE))
    named = [re.findall(r"`\[([\w.-]+)\]`|`(test_\w+)`", row.rpartition(" | ")[2]) for row in rows]

    assert named and all(named)
    assert {name for names in named for _, name in names if name} <= tests
    assert {row for names in named for row, _ in names if row} == page
