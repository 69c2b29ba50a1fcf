"""Matchers select from raw messages."""

from __future__ import annotations

import gc
import pickle
import random
import tracemalloc
from typing import Any

import pytest
from raw import HEAD, RICH, VECTORS, WRONG_CCSID, _wrapped, typed

import mqsel
from mqsel import formats, names
from mqsel.errors import ArgumentError, DecodeError, PropertyTypeError
from mqsel.formats import mq
from mqsel.formats._mq import MQDecoder
from mqsel.values import Float32, Int8, Int32

SELECTOR = "JMSPriority > 4 AND Root.MQMD.MsgType = 8 AND color = 'blue'"


def _stream() -> list[bytes]:
    return [
        mq.encode(
            {"Priority": number % 10, "MsgType": 8 if number % 3 else 1, "MsgId": bytes([number]) * 24},
            {"color": ("blue", "red")[number % 2], "number": Int32(number)},
            b"data",
            encoding=(273, 546)[number % 2],
        )
        for number in range(100)
    ]


def test_filter_selects_what_the_properties_say() -> None:
    """`filter` over raw messages gives the very ones that `matches` selects from their properties, in order."""
    matcher, messages = mqsel.compile(SELECTOR), _stream()
    wanted = [raw for raw in messages if matcher.matches(formats.properties(raw))]
    stream = matcher.filter(iter(messages), format="mq")
    chosen = list(stream)

    assert len(wanted) > 5
    assert all(one is other for one, other in zip(chosen, wanted, strict=True))
    assert (stream.seen, stream.selected, stream.skipped, stream.failures) == (100, len(wanted), 0, [])
    assert list(matcher.filter([bytearray(raw) for raw in messages], format="mq")) == wanted


@pytest.mark.parametrize("vector", [v for v in VECTORS if "error" not in v], ids=lambda vector: vector["id"])
def test_decoder_and_properties_agree(vector: dict[str, Any]) -> None:
    """For each property of each vector the record of a decoder holds what `properties` gives."""
    message, options = bytes.fromhex(vector["message"]), vector.get("options", {})
    found = formats.properties(message, **options)
    record = formats.decoder("mq", tuple(found), invalid_names="ignore", **options)(message)

    assert {name: typed(value) for name, value in found.items()} == {name: typed(record[name]) for name in found}


def test_errors_in_a_stream() -> None:
    """A message that cannot be read raises with its index, or is skipped, counted and listed."""
    matcher, messages = mqsel.compile("number >= 0"), _stream()
    messages[3], messages[7], messages[9] = messages[3][:380], b"", None  # type: ignore[call-overload]
    with pytest.raises(DecodeError) as caught:
        list(matcher.filter(messages, format="mq"))
    assert caught.value.index == 3
    assert str(caught.value).startswith(
        "MQRFH2 needs 36 bytes: 16 are left [record 3; MQRFH2 at byte 364; MQRC_RFH_ERROR (2334)]"
    )
    stream = matcher.filter(messages, format="mq", errors="skip")
    assert len(list(stream)) == 97
    assert (stream.seen, stream.skipped) == (100, 3)
    assert [(type(error), error.index) for error in stream.failures] == [  # type: ignore[attr-defined]
        (DecodeError, 3),
        (DecodeError, 7),
        (PropertyTypeError, 9),
    ]
    many = matcher.filter([b""] * 1000, format="mq", errors="skip")
    assert (list(many), many.skipped, len(many.failures)) == ([], 1000, 100)


def test_decode_error_survives_pickling() -> None:
    """A DecodeError comes back from an executor as it went."""
    with pytest.raises(DecodeError) as caught:
        list(mqsel.compile("a = 1").filter([b"x"], format="mq"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))


@pytest.mark.parametrize(
    "folder",
    [
        b"<usr><a>1</a><b-c>1</b-c></usr>",
        b"<usr><a>1</a><JMSFoo>1</JMSFoo></usr>",
        b"<usr><a>1</a><Between>1</Between></usr>",
        b"<usr><1z>1</1z></usr>",
        b"<usr><a:c>1</a:c></usr>",
        b"<usr><..x>1</..x></usr>",
        b"<usr><x.>1</x.></usr>",
        b"<usr><x..y/></usr>",
        b"<usr><JMSx.y>1</JMSx.y></usr>",
        b"<usr><-x>1</-x></usr>",
        b"<mq_usr><a:g><c>1</c></a:g></mq_usr>",
        b"<mq_usr><g.><c>1</c></g.></mq_usr>",
        b"<mqfoo content='properties'><a.b>1</a.b></mqfoo>",
        b"<usr><a>1</a></usr><!---->",
    ],
)
def test_invalid_names(folder: bytes) -> None:
    """A message with an invalid name is never selected under IBM_MQ, unless the name is to be ignored (formats §2)."""
    raw = _wrapped(b"<usr><a>1</a></usr>", folder, b"<other><x-y>1</x-y></other>")
    is_malformed = folder.endswith(b"-->")  # what is in it is no property
    for text in ("a = '1'", "a IS NOT NULL", "zz IS NULL", "Root.MQMD.MsgType = 8"):
        matcher = mqsel.compile(text)
        assert list(matcher.filter([raw], format="mq", invalid_names="ignore")) == [raw]
        assert list(matcher.filter([raw], format="mq")) == ([raw] if is_malformed else [])
        stream = matcher.filter([raw, mq.encode({}, {})], format="mq", invalid_names="never")
        assert (raw in list(stream)) == is_malformed
        assert (stream.seen, stream.decode.noted) == (2, 1)  # type: ignore[union-attr]
        by_identifier = mqsel.compile(f"JMSMessageID = 'ID:{'00' * 24}'")
        assert list(by_identifier.filter([raw], format="mq")) == [raw]
    # The rule is IBM MQ's own; other dialects keep the message.
    assert list(mqsel.compile("a = '1'", dialect=mqsel.JMS).filter([raw], format="mq")) == [raw]


@pytest.mark.parametrize(
    "folder", [b"<x.b>1</x.b>", b"<g><x:b>1</x:b></g>", b"<c d>1</c>", b"<c>1 < 2</c>", b"<!-- <b-c/> -->"]
)
def test_what_is_no_property_has_no_invalid_name(folder: bytes) -> None:
    """An element that is skipped hides neither the others of its folder nor the message, but is counted."""
    raw = _wrapped(b"<usr>%b<a>1</a></usr>" % folder)
    stream = mqsel.compile("a = '1'").filter([raw], format="mq")
    assert list(stream) == [raw]
    assert stream.decode.noted == (b"<!--" not in folder and b"<c" not in folder)  # type: ignore[union-attr]
    assert formats.properties(raw, ["a", "c"]) == {"a": "1"}


def test_names_are_judged_as_selectors_judge_them() -> None:
    """A name is invalid in a usr folder exactly when no selector can be written with it."""
    rng = random.Random("names")
    alphabet = "aZ_$09éß‿€\u0300\u180e\u2003\u00a0\u0085\u001c\u0008\u200d١ªⅫ𝄞-ª"
    for _ in range(3000):
        name = "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 4)))
        try:
            is_valid = mqsel.compile(f"{name} IS NULL").properties == (name,)
        except mqsel.SelectorError:
            is_valid = False
        raw = _wrapped(f"<usr><{name}>1</{name}></usr>".encode())
        selected = list(mqsel.compile("Root.MQMD.MsgType = 8").filter([raw], format="mq"))
        assert (name, is_valid) == (name, bool(selected))


@pytest.mark.parametrize("word", names.RESERVED)
def test_keywords_are_no_names(word: str) -> None:
    """A keyword in any case names no property, wanted or not; what has one character more, less or other does."""
    near = (word[:-1], f"{word}S", f"{word[:-1]}$", f"{word[:-1]}\u017f", f"_{word[1:]}", word.swapcase()[:-1])
    for name in (word, word.lower(), word.capitalize(), word[0].lower() + word[1:], *near):
        is_valid = not name.isascii() or name.upper() not in names.RESERVED
        for folder, begins in ((f"<usr><{name}>1</{name}></usr>", ""), (f"<ibm><{name}>1</{name}></ibm>", "ibm.")):
            raw, is_kept = _wrapped(folder.encode()), is_valid or begins == "ibm."
            assert (name, formats.properties(raw, [begins + name])) == (name, {begins + name: "1"} if is_kept else {})
            assert (name, begins + name in formats.properties(raw)) == (name, is_kept)
            assert (name, MQDecoder(["other"], never=True)(raw) is not False) == (name, is_kept)


def test_match_option_reads_the_mqmd_alone() -> None:
    """A selector on one identifier compares 24 bytes, whatever header is behind; all zero matches every message."""
    broken = mq.encode({"MsgId": b"\xab" * 24, "CorrelId": b"\x01" * 24}, {"x": 1}, b"")[:380]
    ebcdic = mq.encode({"MsgId": b"\xab" * 24}, {}, encoding=273, ccsid=500)
    other = mq.encode({"MsgId": b"\xac" * 24}, {})
    headless = mq.encode({}, {"a": 1})[364:]
    messages = [broken, ebcdic, other, headless]

    def chosen(text: str) -> list[bytes]:
        return list(mqsel.compile(text).filter(messages, format="mq"))

    assert chosen(f"JMSMessageID = 'ID:{'aB' * 24}'") == [broken, ebcdic]
    assert chosen(f"JMSCorrelationID = 'ID:{'01' * 24}'") == [broken]
    assert chosen(f"JMSMessageID = 'ID:{'00' * 24}'") == messages
    # Not alone, or the other way round: the selector runs, and the broken header is found.
    for text in (f"JMSMessageID = 'ID:{'ab' * 24}' AND zz IS NULL", f"'ID:{'00' * 24}' = JMSMessageID"):
        with pytest.raises(DecodeError):
            chosen(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format is 'xml': expected one of 'mq'"),
        ({"format": "mq", "invalid_names": "maybe"}, "invalid_names is 'maybe': expected 'never' or 'ignore'"),
        ({"format": "mq", "ccsid": 1200}, WRONG_CCSID),
        ({"format": "mq", "depth": 3}, "format 'mq' does not take these options: depth"),
        ({"strip": True}, "filter takes strip only with a format"),
        ({"messages": b"MD  ", "format": "mq"}, "filter takes an iterable of messages, found one Python bytes"),
    ],
)
def test_filter_refuses(options: dict[str, Any], message: str) -> None:
    """A format or an option that does not exist is named."""
    with pytest.raises(ArgumentError) as caught:
        mqsel.compile("a = 1").filter(**{"messages": [], **options})
    assert message in str(caught.value)


def test_names_of_the_descriptor_are_read_in_every_dialect() -> None:
    """JMS_IBM_MQMD_ and a field reads the descriptor, JMS_IBM_Format and its like what describes the body."""
    raw = mq.encode({"Format": "MQSTR", "CodedCharSetId": 850, "UserIdentifier": "me"}, {"JMSPriority": 7, "a": "1"})
    for dialect in (mqsel.IBM_JMS, mqsel.JMS, mqsel.TIBCO_EMS):
        for text, selected in (
            ("JMS_IBM_MQMD_Format = 'MQHRF2  ' AND JMS_IBM_Format = 'MQSTR   '", True),
            ("JMS_IBM_MQMD_CodedCharSetId = 1208 AND JMS_IBM_Character_Set = 'IBM850'", True),
            ("JMS_IBM_MQMD_Priority = 7 AND JMSPriority = 7 AND JMS_IBM_PutApplType = 0", True),
            ("JMS_IBM_MQMD_MsgId IS NOT NULL AND JMS_IBM_MQMD_UserIdentifier LIKE 'me%'", True),
            ("JMS_IBM_MQMD_Version IS NOT NULL", False),
        ):
            matcher = mqsel.compile(text, dialect=dialect)
            assert (text, selected) == (text, bool(list(matcher.filter([raw], format="mq"))))
            assert (text, selected) == (text, matcher.matches(formats.properties(raw)))


def test_types_reach_the_machine() -> None:
    """Arithmetic on a decoded property wraps and rounds by the type it was sent with."""
    raw = mq.encode({}, {"i": Int32(2**31 - 1), "l": 2**31 - 1, "f": Float32(0.1), "d": 0.1, "t": Int8(5), "n": None})
    for text, selected in (
        ("i + i = -2", True),
        ("l + l = -2", False),
        ("f = 0.1", False),
        ("d = 0.1", True),
        ("f + f < 0.3", True),
        ("t + 1 = 6", True),
        ("n IS NULL", True),
        ("usr.i > 5", True),
        ("JMSDeliveryMode = 'NON_PERSISTENT'", True),
        ("Root.MQMD.Format = 'MQHRF2  '", True),
        ("Root.MQMD.Format = 'MQHRF2'", False),
    ):
        matcher = mqsel.compile(text)
        assert (text, selected) == (text, bool(list(matcher.filter([raw], format="mq"))))
        assert (text, selected) == (text, matcher.matches(formats.properties(raw)))
    assert list(mqsel.compile("Root.MQMD.Format = 'MQHRF2'").filter([raw], format="mq", strip=True)) == [raw]


def test_decoder_keeps_nothing_but_its_last_message() -> None:
    """Decoders, records and streams free what they allocate: reading stays flat."""
    matcher = mqsel.compile("color = 'blue' AND my.group.inner = 'x'")
    raw = mq.encode(HEAD, RICH, b"body")
    broken = [raw[:400], raw]

    def once() -> None:
        list(matcher.filter([raw] * 5, format="mq"))
        list(matcher.filter(broken, format="mq", errors="skip"))
        formats.properties(raw)
        formats.inspect(raw)

    for _ in range(20):
        once()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            once()
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 20_000
