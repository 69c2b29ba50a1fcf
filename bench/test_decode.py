"""Messages of IBM MQ from bytes: selection, all properties, and what xml.etree takes for the same folder."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET

import pytest

import mqsel
from mqsel import formats
from mqsel.formats import mq
from mqsel.values import Int32

SELECTOR = "property15 = 'blue' AND property04 > 1000"
COUNT = 20_000
KEY = bytes(range(24))


@functools.cache
def message(number: int) -> bytes:
    """Return a message with an MQRFH2 of 1 KB: 20 properties, half of them strings."""
    values: dict[str, object] = {
        f"property{place:02}": Int32(place * 100) if place % 2 == 0 else f"the value of {place:02}"
        for place in range(20)
    }
    values["property04"] = 2500 if number % 2 else 500
    values["property15"] = "blue" if number % 3 else "red"
    raw = mq.encode({"Format": "MQSTR", "MsgId": KEY if number == 5 else b"x"}, values, b"data")
    header = next(length for name, _, length in formats.inspect(raw).structures if name == "MQRFH2")
    assert 800 <= header <= 1100
    return raw


@functools.cache
def stream() -> list[bytes]:
    return [message(number) for number in range(6)] * (COUNT // 6) + [message(0)] * (COUNT % 6)


WANTED = sum(raw in (message(1), message(5)) for raw in stream())


@pytest.fixture
def per_message(benchmark):
    """Time rounds over the stream, and note ns per message."""

    def measure(run) -> None:
        benchmark.pedantic(run, rounds=9, warmup_rounds=1)
        if benchmark.stats is not None:
            benchmark.extra_info["ns_per_message"] = benchmark.stats.stats.min / COUNT * 1e9

    return measure


@pytest.mark.parametrize("invalid_names", ["never", "ignore"])
def test_select(per_message, invalid_names):
    """Decode what a selector reads, and run it: goal 1,500 ns."""

    def run() -> int:
        return sum(1 for _ in mqsel.compile(SELECTOR).filter(stream(), format="mq", invalid_names=invalid_names))

    assert run() == WANTED
    per_message(run)


def test_select_on_the_mqmd(per_message):
    """Select by a field of the MQMD, with no folder to read."""

    def run() -> int:
        matcher = mqsel.compile("Root.MQMD.Priority > 3 AND JMSDeliveryMode = 'NON_PERSISTENT'", dialect=mqsel.IBM_MQ)
        return sum(1 for _ in matcher.filter(stream(), format="mq", invalid_names="ignore"))

    assert run() == COUNT
    per_message(run)


def test_match_option(per_message):
    """Compare the identifier alone."""

    def run() -> int:
        return sum(1 for _ in mqsel.compile(f"JMSMessageID = 'ID:{KEY.hex()}'").filter(stream(), format="mq"))

    assert run() == COUNT // 6
    per_message(run)


def test_all_properties(per_message):
    """Decode all there is into a dict, MQMD and JMS names too: goal 8,000 ns."""

    def run() -> None:
        for raw in stream():
            formats.properties(raw)

    # Its own, the fields of the MQMD by both names, and what else begins with JMS.
    assert len(formats.properties(message(1))) == 20 + 27 + 27 + 16
    per_message(run)


def test_two_properties(per_message):
    """Decode two properties into a dict."""

    def run() -> None:
        for raw in stream():
            formats.properties(raw, ("property04", "property15"))

    assert formats.properties(message(1), ("property04", "property15")) == {"property04": 2500, "property15": "blue"}
    per_message(run)


def _folder(raw: bytes) -> bytes:
    """Cut the folder out, with the name space declared that an XML parser asks for."""
    folder = raw[raw.index(b"<usr>") : raw.index(b"</usr>") + 6]
    return folder.replace(b"<usr>", b"<usr xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>")


@pytest.mark.parametrize("what", ["parse", "two", "dict"])
def test_etree(per_message, what):
    """Let xml.etree parse the same folders, and read two properties of them, or all."""
    folders = [_folder(raw) for raw in stream()]

    def read(folder: bytes) -> object:
        root = ET.fromstring(folder)
        if what == "parse":
            return root
        if what == "two":
            return int(root.findtext("property04")), root.findtext("property15")
        return {each.tag: int(each.text) if each.get("dt", "string").startswith("i") else each.text for each in root}

    def run() -> None:
        for folder in folders:
            read(folder)

    if what == "two":
        assert sum(read(folder) == (2500, "blue") for folder in folders) == WANTED
    if what == "dict":
        found = formats.properties(message(1))
        assert {name: found[name] for name in found if name.startswith("property")} == read(folders[1])
    per_message(run)
