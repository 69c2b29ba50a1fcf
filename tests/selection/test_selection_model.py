"""Queue and Topic against lists: any sequence of calls, pickling in mid-life, gives what the obvious code gives."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

pytest.importorskip("hypothesis")

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from volumes import volume

import mqsel
from mqsel import errors
from mqsel.formats import mq, properties
from mqsel.selection import Message, Queue, Topic

SELECTORS = (
    "",
    " ",
    "a = 1",
    "(a=1)",
    "a > 0 OR b = 'x'",
    "b IS NULL",
    "NOT (a = 1)",
    "JMSPriority > 4 AND a < 3",
    "JMSMessageID IS NOT NULL",
    "TRUE",
    *(f"{header} = 'ID:{digit * 48}'" for header in ("JMSMessageID", "JMSCorrelationID") for digit in "012"),
    f"(JMSMessageID = 'ID:{'1' * 48}')",
    f"JMSCorrelationID = 'ID:{'2' * 48}' AND a = 1",
)
# Those that have one parsed form.
ALIKE = [
    {"", " ", "TRUE"},
    {"a = 1", "(a=1)"},
    {f"JMSMessageID = 'ID:{'1' * 48}'", f"(JMSMessageID = 'ID:{'1' * 48}')"},
    *({selector} for selector in SELECTORS),
]
IDENTIFIERS = st.sampled_from([f"ID:{digit * 48}" for digit in "0123"] + ["ID:short"])
VALUES = {
    "a": st.integers(0, 3),
    "b": st.sampled_from(("x", "y", "")),
    "JMSPriority": st.sampled_from((0, 3, 4, 5, 9)),
    "JMSMessageID": IDENTIFIERS,
    "JMSCorrelationID": IDENTIFIERS,
}


def _raw(message: dict[str, Any]) -> bytes:
    fields = {
        field: bytes.fromhex(message[header][3:])
        for field, header in (("MsgId", "JMSMessageID"), ("CorrelId", "JMSCorrelationID"))
        if len(message.get(header, "")) > 8
    }
    return mq.encode(
        {"Priority": message.get("JMSPriority", 4), **fields}, {n: v for n, v in message.items() if n in "ab"}
    )


def _of_jms(message: dict[str, Any]) -> Message:
    return Message(
        {n: v for n, v in message.items() if n in "ab"}, headers={n: v for n, v in message.items() if n not in "ab"}
    )


DICTS = st.fixed_dictionaries({}, optional=VALUES)
MESSAGES = DICTS | DICTS.map(_raw) | DICTS.map(_of_jms)


def read(message: Any) -> Any:
    return properties(message) if isinstance(message, bytes) else message


def selects(selector: str, message: Any, *, by_identifier: bool) -> bool:
    """Return what a queue, or a topic (which knows no match options), does with one message."""
    option = mqsel.compile(selector).match_option
    if option is None or not by_identifier:
        return mqsel.compile(selector).matches(read(message))
    field, header = {"MSG_ID": ("MsgId", "JMSMessageID"), "CORREL_ID": ("CorrelId", "JMSCorrelationID")}[
        option.name[11:]
    ]
    has = read(message)
    identifier = has.get(f"Root.MQMD.{field}") or has.get(header)
    if isinstance(identifier, bytes):
        identifier = f"ID:{identifier.hex()}"
    return not any(option.identifier) or identifier == f"ID:{option.identifier.hex()}"


def ordered(messages: list[Any]) -> list[Any]:
    return sorted(messages, key=lambda message: -read(message).get("JMSPriority", 4))


class QueueModel(RuleBasedStateMachine):
    """A queue is a list, sorted by priority."""

    def __init__(self) -> None:
        super().__init__()
        self.queue, self.model = Queue(), []

    @rule(message=MESSAGES)
    def put(self, message: Any) -> None:
        self.queue.put(message)
        self.model.append(message)

    @rule(selector=st.sampled_from(SELECTORS))
    def get(self, selector: str) -> None:
        wanted = [m for m in ordered(self.model) if selects(selector, m, by_identifier=True)]
        if not wanted:
            with pytest.raises(errors.NoMessageAvailable):
                self.queue.get(selector)
            return
        assert self.queue.get(selector) == wanted[0]
        self.model.remove(next(m for m in self.model if m is wanted[0]))

    @rule(selector=st.sampled_from(SELECTORS))
    def browse(self, selector: str) -> None:
        wanted = [m for m in ordered(self.model) if selects(selector, m, by_identifier=True)]
        assert list(self.queue.browse(selector)) == wanted
        assert self.queue.count(selector) == len(wanted)

    @rule()
    def pickled(self) -> None:
        self.queue = pickle.loads(pickle.dumps(self.queue))

    @invariant()
    def as_many(self) -> None:
        assert len(self.queue) == len(self.model)


NAMES = st.sampled_from("pqr")


class TopicModel(RuleBasedStateMachine):
    """A topic is a dict of selectors, with a list for each."""

    def __init__(self) -> None:
        super().__init__()
        self.topic = Topic()
        self.model: dict[str, dict[str, Any]] = {}

    def refused(self, call: Any, *arguments: Any) -> int:
        with pytest.raises(errors.MqselError) as caught:
            call(*arguments)
        return caught.value.reason

    @rule(name=NAMES, selector=st.sampled_from((*SELECTORS, "FALSE")), durable=st.sampled_from((True, True, False)))
    def subscribe(self, name: str, selector: str, *, durable: bool) -> None:
        if selector == "FALSE":
            assert self.refused(self.topic.subscribe, name, selector) == 2504
        elif name in self.model:
            assert self.refused(self.topic.subscribe, name, selector) == 2432
        else:
            self.topic.subscribe(name, selector, durable=durable)
            self.model[name] = {"selector": selector, "durable": durable, "active": True, "got": []}

    @rule(message=MESSAGES)
    def publish(self, message: Any) -> None:
        wanted = [n for n, s in self.model.items() if selects(s["selector"], message, by_identifier=False)]
        assert list(self.topic.publish(message)) == wanted
        for name in wanted:
            self.model[name]["got"].append(message)

    @rule(name=NAMES)
    def close(self, name: str) -> None:
        if name not in self.model:
            assert self.refused(self.topic.close, name) == 2428
            return
        self.topic.close(name)
        self.model[name]["active"] = False
        if not self.model[name]["durable"]:
            del self.model[name]

    @rule(name=NAMES, group=st.sampled_from(ALIKE), data=st.data())
    def resume(self, name: str, group: set[str], data: Any) -> None:
        known = self.model.get(name)
        own = [alike for alike in ALIKE if known is not None and known["selector"] in alike][:1]
        selector = data.draw(st.sampled_from(sorted(data.draw(st.sampled_from([group, *own])))) | st.none())
        if known is None:
            assert self.refused(self.topic.resume, name, selector) == 2428
        elif known["active"]:
            assert self.refused(self.topic.resume, name, selector) == 2429
        elif selector is not None and not any({selector, known["selector"]} <= group for group in ALIKE):
            assert self.refused(self.topic.resume, name, selector) == 2524
        else:
            self.topic.resume(name, selector)
            known["active"] = True

    @rule(name=NAMES, selector=st.sampled_from(SELECTORS))
    def alter(self, name: str, selector: str) -> None:
        known = self.model.get(name)
        if known is None or known["active"]:
            assert self.refused(self.topic.alter, name, selector) == (2428 if known is None else 2429)
            return
        if any({selector, known["selector"]} <= group for group in ALIKE):
            self.topic.alter(name, selector)
            known["active"] = True
        else:
            assert self.refused(self.topic.alter, name, selector) == 2524

    @rule(name=NAMES)
    def unsubscribe(self, name: str) -> None:
        if name in self.model:
            self.topic.unsubscribe(name)
            del self.model[name]
        else:
            assert self.refused(self.topic.unsubscribe, name) == 2428

    @precondition(lambda self: any(s["got"] for s in self.model.values()))
    @rule(name=NAMES)
    def take(self, name: str) -> None:
        if name in self.model and (got := self.model[name]["got"]):
            first = ordered(got)[0]
            (queue,) = (s.queue for s in self.topic.subscriptions() if s.name == name)
            assert queue.get() == first
            got.remove(first)

    @rule()
    def pickled(self) -> None:
        self.topic = pickle.loads(pickle.dumps(self.topic))

    @invariant()
    def the_same(self) -> None:
        shown = {s.name: (s.selector, s.durable, s.active, list(s.queue.browse())) for s in self.topic.subscriptions()}
        assert shown == {
            name: (s["selector"], s["durable"], s["active"], ordered(s["got"])) for name, s in self.model.items()
        }


TestQueueModel = QueueModel.TestCase
TestTopicModel = TopicModel.TestCase
TestQueueModel.settings = TestTopicModel.settings = settings(max_examples=volume(100, smoke=15), stateful_step_count=50)
