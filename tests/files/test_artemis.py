"""Exports of Artemis: found in blocks of any size, read as Python's reader of XML reads them, and never a crash."""

from __future__ import annotations

import base64
import io
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import exports
import pytest
from conftest import ROOT, Run, shared
from products import selectors
from products.engines import _line
from splitters import Drip

import mqsel
from mqsel import files, formats
from mqsel.errors import ArgumentError, DecodeError, FileError, PropertyTypeError, SelectorError, UndocumentedError
from mqsel.files.framings import format_of, pieces
from mqsel.formats import artemis
from mqsel.values import Truth

BROKER = (
    *("AMQPriority", "AMQUserID", "AMQTimestamp", "AMQExpiration", "AMQDurable", "AMQGroupID"),
    *("JMSPriority", "JMSMessageID", "JMSTimestamp", "JMSExpiration", "JMSDeliveryMode", "JMSXGroupID"),
)
WANTED = (*exports.NAMES, *BROKER, "missing", "usr.color")


def _taken(data: bytes, size: int = 0) -> list[Any]:
    stream = io.BufferedReader(Drip(data, itertools.repeat(size)) if size else io.BytesIO(data))  # type: ignore[type-var]
    return [
        (one.line, one.message) if isinstance(one, FileError) else tuple(one) for one in pieces(stream, "artemis", "x")
    ]


def _alike(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (one == other or (isinstance(one, float) and math.isnan(one)))


def _decoded(message: bytes) -> dict[str, Any] | str:
    """Return the values that a decoder reads, or the error."""
    try:
        found = formats.decoder("artemis", WANTED)(message)
    except (DecodeError, PropertyTypeError) as error:
        return str(error)
    return {
        name: value
        for name in WANTED
        if (value := found.get(name) if isinstance(found, dict) else found[name]) is not None
    }


def _slowly(message: bytes) -> dict[str, Any] | str:
    try:
        found = artemis.properties(message, WANTED)
    except (DecodeError, PropertyTypeError) as error:
        return str(error)
    return {name: value for name, value in found.items() if value is not None}


def _same(one: dict[str, Any] | str, other: dict[str, Any] | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return one.keys() == other.keys() and all(_alike(value, other[name]) for name, value in one.items())


def test_read_as_by_a_reader_of_xml() -> None:
    """Invariant: every message has the values that Python's reader of XML finds, however it is read."""
    rng = random.Random("export")
    data = exports.export(rng, 300)
    messages = [piece[2] for piece in _taken(data) if piece[2] is not None]
    expected = exports.read(data)

    assert len(messages) == len(expected) == 300
    for message, wanted in zip(messages, expected, strict=True):
        values = {name: value for name, value in wanted.items() if value is not None and name in WANTED}
        assert _same(_decoded(message), values), message.decode()
        assert _same(_slowly(message), values)
        rows = {row.name: row.value for row in formats.FORMATS["artemis"].inspect(message, {}).rows}
        assert rows.keys() == wanted.keys()
        assert all(_alike(rows[name], value) for name, value in wanted.items())


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_blocks_of_any_size(size: int) -> None:
    """Invariant: whatever arrives at a time, the same messages are found, and together they are the file."""
    data = exports.export(random.Random(size), 12)
    whole = _taken(data)

    assert _taken(data, size) == whole
    assert b"".join(piece[1] for piece in whole) + exports.TAIL.encode() == data
    assert [piece[0] for piece in whole[1:]] == [
        number for number, line in enumerate(data.split(b"\n"), 1) if line.startswith(b"      <message ")
    ]


def test_without_line_ends() -> None:
    """A file on one line, with comments between messages and a consumer's root, has the same messages."""
    data = exports.export(random.Random(5), 6)
    messages = [piece[2] for piece in _taken(data) if piece[2]]
    joined = b'<?xml version="1.0"?><messages>' + b"<!-- <message> -->".join(messages) + b"</messages>"

    assert format_of(io.BufferedReader(io.BytesIO(joined))) == "artemis"
    assert [piece[2] for piece in _taken(joined) if piece[2]] == messages
    for size in (1, 9, 100):
        assert _taken(joined, size) == _taken(joined)


def test_cut_anywhere() -> None:
    """Invariant: a file that is cut has the messages before the cut, and one error for the rest."""
    data = exports.export(random.Random("cut"), 3)
    whole = [piece for piece in _taken(data) if len(piece) == 3]
    for size in range(0, len(data) - 1, 3):
        found = _taken(data[:size])
        messages = [piece for piece in found if len(piece) == 3]
        errors = [piece for piece in found if len(piece) == 2]
        assert messages == whole[: len(messages)] or messages[-1][2] == whole[len(messages) - 1][2]
        assert len(errors) == (size < len(data.rstrip())), (size, errors)


def test_mutated() -> None:
    """Invariant: any bytes of an export are read or are an error, alike fast and slowly, in blocks and whole."""
    rng = random.Random("mutated")
    data = exports.export(rng, 4)
    odd = [
        b"<",
        b">",
        b'"',
        b"'",
        b"/",
        b"&",
        b"&#55357;",
        b"&#xDE00;",
        b"<!--",
        b"]]>",
        b"<![CDATA[",
        b"<message ",
        b"\xff",
    ]
    odd += [
        b"</message>",
        b"<?",
        b"\0",
        b"<queue/>",
        b"<properties/>",
        b" type=",
        b"_AMQ_NULL",
        b"<body/>",
        b"&#0;",
        b"\n",
    ]
    for _ in range(400):
        made = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(made))
            made[at : at + rng.choice((0, 0, 1, 9))] = rng.choice(odd)
        found = _taken(bytes(made))
        assert _taken(bytes(made), rng.choice((1, 50, 333))) == found
        for piece in found:
            if len(piece) == 3 and piece[2] is not None:
                assert _same(_decoded(piece[2]), _slowly(piece[2])), piece[2]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a&#xd83d;&#xde00;b", "a\U0001f600b"),
        ("a&#55357;&#56832;b", "a\U0001f600b"),
        ("&#x1F600;", "\U0001f600"),
        ("a\r\n\tb", "a\r\n\tb"),
        ("a&#10;b", "a\nb"),
        ("\x01\0", "\x01\0"),
        ("&#0;", "\0"),
        ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"),
    ],
)
def test_characters(text: str, value: str) -> None:
    """Characters are read as the exporter writes them: line ends as they are, those above U+FFFF in halves, too."""
    message = f'<message><properties><property name="p" value="{text}" type="string"/></properties></message>'.encode()
    assert formats.decoder("artemis", ["p"])(message)["p"] == value


@pytest.mark.parametrize(
    ("inside", "error"),
    [
        ('<property name="p" value="x" type="integer"/>', "property 'p' is 'x': expected a value of type int32"),
        ('<property name="p" value="128" type="byte"/>', "property 'p' is '128': expected a value of type int8"),
        ('<property name="p" value="yes" type="boolean"/>', "property 'p' is 'yes': expected a value of type boolean"),
        ('<property name="p" value="*" type="bytes"/>', "property 'p' is '*': expected a value of type bytes"),
        ('<property name="p" value="&no;" type="string"/>', "property 'p' is '&no;': expected a value of type string"),
        ('<property name="p" value="x"/>', "property 'p' names the type '' in 'type': expected simple-string, integer"),
        ('<property name="p" type="long"/>', "property 'p' is None: expected a value of type int64"),
        ("<property", "found '<property</properties></message>': expected a tag, its attributes in quotes"),
        ("text", "found 'text' between elements: expected none [message at byte 21]"),
        ("</queues>", "found '</queues>': expected </properties> [message at byte 21]"),
        ("<!-- ", "found no --> behind what it ends"),
    ],
)
def test_damage(inside: str, error: str) -> None:
    """What is wrong with a message is one error that names the property or the place."""
    message = f"<message><properties>{inside}</properties></message>".encode()
    with pytest.raises((DecodeError, PropertyTypeError)) as caught:
        formats.decoder("artemis", ["p"])(message)
    assert str(caught.value).startswith(error)
    assert isinstance(_slowly(message), dict) or "'p'" not in error


@pytest.mark.parametrize("message", [b"", b" \n", b"<!-- x -->"])
def test_no_message(message: bytes) -> None:
    """What has no element is no message."""
    with pytest.raises(DecodeError, match="the message ends before </message>"):
        formats.decoder("artemis", ["p"])(message)


def test_odd_layout() -> None:
    """Comments, other quotes, order and spacing are XML all the same; defaults are those of the importer."""
    message = b"""<message  priority = '7'><!-- x --><body/><queues></queues>
      <properties ><property type='integer'
         name='n' value='5'></property ><property name='a&amp;b' value="1" type="long"/></properties></message>"""
    names = ["n", "a&b", "JMSPriority", "AMQTimestamp", "JMSMessageID", "AMQDurable", "none"]
    found = formats.decoder("artemis", names)(message)

    assert found == {
        "n": 5,
        "a&b": 1,
        "JMSPriority": 7,
        "AMQTimestamp": 0,
        "JMSMessageID": None,
        "AMQDurable": "DURABLE",
    }


def test_what_no_export_has() -> None:
    """A selector that reads what the broker has and no export is refused."""
    with pytest.raises(ArgumentError, match="the selector reads AMQSize, which exports of Artemis do not have"):
        formats.decoder("artemis", ["color", "AMQSize"])


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"hello\n", (1, "the file has no messages of Artemis: expected XML as artemis data exp writes it")),
        (b"<messages><message ></message>\n< message ></message></messages>", (2, "a message ends here that has no ")),
        (b"<a><!DOCTYPE x></a>" + b" " * 20, (1, "a declaration of XML: exports have none")),
        (b"<messages>\n<message >\n<message ></message></messages>", (2, "the message has no end: another one begins")),
        (
            b'<?xml version="1.0" encoding="UTF-7"?><messages><message ></message></messages>',
            (1, "the XML is in 'UTF-7'"),
        ),
    ],
)
def test_files_that_are_none(data: bytes, error: tuple[int, str]) -> None:
    """A file that is damaged is an error with its line."""
    found = [piece for piece in _taken(data) if len(piece) == 2]
    assert [(line, text[: len(error[1])]) for line, text in found] == [error]


def test_a_message_that_is_too_long() -> None:
    """A message of more bytes than are kept is one error, and the messages behind it are read."""
    from mqsel.files._exports import Elements

    long = exports.export(random.Random(2), 2, size=700_000)
    short = exports.export(random.Random(2), 2)
    data = long.removesuffix(exports.TAIL.encode()) + short[short.index(b"      <message") :]
    splitter, found = Elements("x", 300_000), []
    stream = io.BufferedReader(io.BytesIO(data))
    while splitter.read(stream):
        while (one := splitter.take()) is not None:
            found.append(one)

    assert len(long) > 1_400_000
    assert [isinstance(one, FileError) for one in found] == [False, True, True, False, False]
    assert found[1].message == "the message is longer than 300,000 bytes"
    assert found[3].place == data[: data.index(short[short.index(b"      <message") :])].count(b"\n") + 1


# ---- commands --------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> str:
    """An export with 200 messages."""
    file = tmp_path / "export.xml"
    file.write_bytes(exports.export(random.Random("commands"), 200))
    return str(file)


def _selected(path: str, text: str, **options: Any) -> list[dict[str, Any]]:
    return [*mqsel.compile(text, **options).filter(exports.read(Path(path).read_bytes()), errors="skip")]


def test_match_writes_an_export(path: str, tmp_path: Path, run: Run) -> None:
    """What `match` prints is an export of the selected messages with the queues, which is read again."""
    text = "JMSPriority > 3 AND (color IS NULL OR color <> 'red')"
    wanted = _selected(path, text)
    status, out, _ = run("match", text, path)
    again = tmp_path / "again.xml"
    again.write_text(out, encoding="utf-8")

    assert status == 0
    assert 0 < len(wanted) < 200
    assert [one["JMSTimestamp"] for one in exports.read(out.encode())] == [one["JMSTimestamp"] for one in wanted]
    assert 'name="blue"' in out
    assert run("match", "--count", text, str(again))[1] == f"{len(wanted)}\n"
    assert len([*files.filter(path, text)]) == len(wanted)


def test_an_export_on_one_line(path: str, tmp_path: Path, run: Run) -> None:
    """An export without line ends is no file of one message: its messages are printed, by place and as JSON, too."""
    data = Path(path).read_bytes()
    joined = tmp_path / "joined.xml"
    messages = [piece[2] for piece in _taken(data) if piece[2]][:3]
    joined.write_bytes(b"<activemq-journal><messages>" + b"".join(messages) + b"</messages></activemq-journal>")
    text = "JMSPriority >= 0"

    assert len(exports.read(run("match", text, str(joined))[1].encode())) == 3
    assert run("match", "-n", text, str(joined))[1].count(f"{joined}:") == 3
    lines = [json.loads(line) for line in run("match", "--json", text, str(joined))[1].splitlines()]
    assert [line["message"]["AMQDurable"] for line in lines[:3]] == ["DURABLE"] * 3


def _has_answer(message: dict[str, Any]) -> bool:
    """Report whether the color is a value that a property can have: commands count and skip a message with another."""
    color = message.get("color")
    return not (isinstance(color, float) and (math.isnan(color) or (color == 0 and math.copysign(1, color) < 0)))


def test_an_export_brings_its_selectors(path: str, tmp_path: Path, run: Run) -> None:
    """Without other files `route` and `why --queue` take the filters of the queues, in the broker's own dialect."""
    pytest.importorskip("tree_sitter_xml")
    wanted = len(_selected(path, "color = 'blue' AND AMQPriority >= 4", dialect=mqsel.ARTEMIS))
    assert wanted
    read = sum(map(_has_answer, exports.read(Path(path).read_bytes())))
    assert run("route", "--count", path)[:2] == (0, f"blue\t{wanted}\nall\t{read}\n")
    assert run("route", "--into", str(tmp_path / "into"), path)[0] == 0
    assert len(exports.read((tmp_path / "into" / "blue.xml").read_bytes())) == wanted
    found = json.loads(run("why", "--json", "--queue", "blue", path)[1])
    assert (found["messages"], found["selected"]) == (read, wanted)
    status, _, err = run("why", "--queue", "all", path)
    assert (status, "has no filter of a queue 'all'\n  hint: the queues with filters are 'blue'" in err) == (2, True)
    bare = tmp_path / "bare.xml"
    bare.write_bytes(Path(path).read_bytes().replace(b"filter-string=", b"other="))
    assert run("why", "--queue", "a", str(bare))[2].endswith("write the selector, mqsel why SELECTOR FILE\n")
    assert run("selectors", path)[1].startswith("blue\torders\tcolor = 'blue' AND AMQPriority >= 4\t")


def test_a_queue_gets_messages_of_its_address(tmp_path: Path, run: Run) -> None:
    """A queue without a filter gets every message of its address and none of another one, as do those with filters."""
    pytest.importorskip("tree_sitter_xml")
    head = exports.head({"blue": "color = 'blue'", "all": ""}).replace(
        "   </bindings>",
        "".join(
            f'<queue-binding address="{address}" filter-string="{text}" name="{name}" routing-type="ANYCAST"/>\n'
            for address, name, text in (
                ("news", "other", ""),
                ("news", "other blue", "color = &apos;blue&apos;"),
                ("none", "empty", ""),
            )
        )
        + "   </bindings>",
    )
    rng = random.Random("addresses")
    messages = [exports.message(rng, number) for number in range(90)]
    of_news = [one.replace('name="orders"', 'name="other"') for one in messages[60:]]
    file = tmp_path / "export.xml"
    file.write_text(head + "".join(messages[:60] + of_news) + exports.TAIL, encoding="utf-8")
    decoded = exports.read(file.read_bytes())
    is_blue = mqsel.compile("color = 'blue'", dialect=mqsel.ARTEMIS)
    blue = [any(is_blue.filter([one], errors="skip")) for one in decoded]

    status, out, err = run("route", "--count", "--why", str(file))
    assert (status, dict(line.split("\t") for line in out.splitlines())) == (
        0,
        {
            "blue": str(sum(blue[:60])), "all": str(sum(map(_has_answer, decoded[:60]))),
            "other": str(sum(map(_has_answer, decoded[60:]))), "other blue": str(sum(blue[60:])), "empty": "0",
        },
    )  # fmt: skip
    assert sum(blue[:60]) > 0 and "'empty': what it selects is of other addresses" in err
    first = json.loads(run("route", "--max-matches", "1", str(file))[1])
    assert "all" in first["subscribers"] and "other" not in first["subscribers"]


def test_other_commands(path: str, run: Run) -> None:
    """`inspect`, `explain`, `contract` and several processes read an export, too."""
    assert run("inspect", path)[0] == 0
    assert run("explain", "JMSPriority >= 0", path)[0] == 0
    assert json.loads(run("contract", path)[1])["properties"]["JMSPriority"]["type"] == "int32"
    text = "JMSPriority > 3"
    assert run("match", "--count", "-j", "2", text, path, path)[1] == f"{2 * len(_selected(path, text))}\n"


def test_the_real_export() -> None:
    """The export that a broker wrote has the types and headers that its program set."""
    with shared("oracles", "embed", "artemis-export.xml").open("rb") as stream:
        assert format_of(stream) == "artemis"
        (message,) = [piece.message for piece in pieces(stream, "artemis") if getattr(piece, "message", None)]
    found = {row.name: (row.type, row.value) for row in formats.FORMATS["artemis"].inspect(message, {}).rows}
    wanted = {
        "JMSType": ("string", "car"),
        "color": ("string", "blue"),
        "weight": ("int32", 3000),
        "y": ("int8", 5),
        "b": ("boolean", True),
        "l": ("int64", 5000000000),
        "JMSCorrelationID": ("string", "c-1"),
        "JMSXGroupID": ("string", "g"),
        "AMQGroupID": ("string", "g"),
        "AMQPriority": ("int32", 7),
        "JMSDeliveryMode": ("string", "PERSISTENT"),
        "JMSMessageID": found["AMQUserID"],
    }
    assert {name: found[name] for name in wanted} == wanted
    assert found["f"][0] == "float32"
    assert mqsel.compile("f = 0.1", dialect=mqsel.ARTEMIS).evaluate(formats.decoder("artemis", ["f"])(message)) in Truth


# ---- memory ----------------------------------------------------------------------------------------------------------

_PEAK = """import re, sys
from mqsel import cli
cli.main(["match", "--count", "color = 'blue'", sys.argv[1]])
print(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1])
"""


def _peak(path: Path) -> int:
    """Return the most memory, in KB, that a process takes for a file."""
    done = subprocess.run([sys.executable, "-c", _PEAK, str(path)], capture_output=True, check=True, cwd=ROOT)
    return int(done.stdout.split()[-1])


@pytest.mark.parametrize("megabytes", [24, pytest.param(1100, marks=pytest.mark.long)])
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise")
def test_memory(tmp_path: Path, megabytes: int) -> None:
    """However large a file is, it takes at most 20 MB more than one with two messages."""
    rng = random.Random(3)
    messages = "".join(exports.message(rng, number, 900) for number in range(400)).encode()
    small, large = tmp_path / "small.xml", tmp_path / "large.xml"
    small.write_bytes(exports.export(rng, 2))
    with large.open("wb") as file:
        file.write(exports.head({}).encode())
        file.writelines(messages for _ in range(megabytes * 1_000_000 // len(messages)))
        file.write(exports.TAIL.encode())

    assert _peak(large) - _peak(small) < 20_000


# ---- the broker ------------------------------------------------------------------------------------------------------

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>mqsel</groupId><artifactId>export</artifactId><version>1</version><packaging>pom</packaging><dependencies>
<dependency><groupId>org.apache.activemq</groupId><artifactId>artemis-cli</artifactId><version>2.44.0</version></dependency>
</dependencies></project>"""
# Sends the messages of a file, exports the broker's journal, and prints for each selector of another file what the
# broker's filter decides about each message: T or F; or E, if it refuses the selector.
_PROGRAM = """
import java.io.*; import java.nio.charset.StandardCharsets; import java.nio.file.*;
import java.util.*; import javax.jms.*;
import org.apache.activemq.artemis.api.core.*; import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.filter.Filter; import org.apache.activemq.artemis.core.filter.impl.FilterImpl;
import org.apache.activemq.artemis.core.server.*;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.apache.activemq.artemis.cli.commands.tools.xml.XmlDataExporter;
public final class Export {
  static String text(String word) { return new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8); }
  public static void main(String[] paths) throws Exception {
    String data = paths[3];
    ConfigurationImpl settings = new ConfigurationImpl();
    settings.setPersistenceEnabled(true).setSecurityEnabled(false).setJMXManagementEnabled(false)
      .setJournalType(JournalType.NIO).setBindingsDirectory(data + "/b").setJournalDirectory(data + "/j")
      .setPagingDirectory(data + "/p").setLargeMessagesDirectory(data + "/l");
    settings.addAcceptorConfiguration("in", "vm://0");
    EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
    broker.setConfiguration(settings);
    broker.start();
    try (ActiveMQConnectionFactory factory = new ActiveMQConnectionFactory("vm://0");
         Connection connection = factory.createConnection()) {
      Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
      MessageProducer producer = session.createProducer(session.createQueue("orders"));
      int number = 0;
      for (String line : Files.readAllLines(Paths.get(paths[0]))) {
        BytesMessage message = session.createBytesMessage();
        for (String word : line.trim().split(" ")) {
          String[] parts = word.split(":", 3);
          if (parts.length < 3) continue;
          String value = text(parts[2]);
          switch (parts[1]) {
            case "int": message.setIntProperty(parts[0], Integer.parseInt(value)); break;
            case "long": message.setLongProperty(parts[0], Long.parseLong(value)); break;
            case "byte": message.setByteProperty(parts[0], Byte.parseByte(value)); break;
            case "short": message.setShortProperty(parts[0], Short.parseShort(value)); break;
            case "float": message.setFloatProperty(parts[0], Float.parseFloat(value)); break;
            case "double": message.setDoubleProperty(parts[0], Double.parseDouble(value)); break;
            case "boolean": message.setBooleanProperty(parts[0], Boolean.parseBoolean(value)); break;
            default: message.setStringProperty(parts[0], value);
          }
        }
        message.setStringProperty("none", null);
        message.setObjectProperty("binary", new byte[] {0, (byte) 0xFB, (byte) 0xFF, 62});
        message.setJMSType("t" + number % 3);
        if (number % 4 == 0) message.setStringProperty("JMSXGroupID", "g");
        if (number % 20 == 0) message.writeBytes(new byte[300_000]);
        producer.setPriority(number % 10);
        producer.send(message);
        number++;
      }
    }
    List<org.apache.activemq.artemis.api.core.Message> held = new ArrayList<>();
    broker.getActiveMQServer().locateQueue("orders").forEach(reference -> held.add(reference.getMessage()));
    StringBuilder ids = new StringBuilder();
    for (var message : held) ids.append(message.getMessageID()).append(' ');
    System.out.println(ids);
    for (String line : Files.readAllLines(Paths.get(paths[1]))) {
      StringBuilder answers = new StringBuilder();
      try {
        Filter filter = FilterImpl.createFilter(text(line.trim()));
        for (var message : held) answers.append(filter == null || filter.match(message) ? 'T' : 'F');
      } catch (ActiveMQException refused) { answers = new StringBuilder("E"); }
      System.out.println(answers);
    }
    System.out.flush();
    broker.stop();
    PrintStream out = System.out;
    System.setOut(System.err);
    try (OutputStream file = new FileOutputStream(paths[2])) {
      new XmlDataExporter().process(file, data + "/b", data + "/j", data + "/p", data + "/l");
    }
    System.exit(0);
  }
}
"""
_HEADERS = (
    *("AMQPriority > 4", "AMQPriority = 7 OR JMSType = 't1'", "AMQDurable = 'DURABLE'", "AMQDurable = 'NON_DURABLE'"),
    *("AMQGroupID = 'g'", "AMQExpiration = 0", "AMQTimestamp > 5", "AMQUserID LIKE 'ID:%'", "none IS NULL"),
    *("binary IS NULL", "_AMQ_LARGE_SIZE > 5", "JMSType IN ('t0', 't2')", "AMQUserID IS NULL", "_AMQ_GROUP_ID = 'g'"),
)


@pytest.mark.brokers
def test_as_the_broker_decides(tmp_path: Path) -> None:
    """500 selectors select of the broker's own export the messages that the broker's filters select."""
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    folder = ROOT / "build" / "products" / "export"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(_POM, encoding="utf-8")
    (folder / "Export.java").write_text(_PROGRAM, encoding="utf-8")
    if not (folder / "lib").exists():
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-DincludeScope=runtime"]
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            pytest.skip("the broker cannot be fetched")
    class_path = os.pathsep.join((str(folder), f"{folder / 'lib'}/*"))
    subprocess.run(["javac", "-nowarn", "-cp", class_path, "Export.java"], cwd=folder, check=True, capture_output=True)

    rng = random.Random("the broker's export")
    texts = selectors.Selectors("artemis", rng)
    chosen = [*_HEADERS, *(texts.text() for _ in range(500 - len(_HEADERS)))]
    messages = [selectors.message("artemis", rng) for _ in range(120)]
    (tmp_path / "messages").write_text("".join(f"{_line('', one)}\n" for one in messages), encoding="utf-8")
    encoded = "".join(f"{base64.b64encode(text.encode()).decode()}\n" for text in chosen)
    (tmp_path / "selectors").write_text(encoded, encoding="utf-8")
    export = tmp_path / "export.xml"
    paths = [str(tmp_path / "messages"), str(tmp_path / "selectors"), str(export), str(tmp_path / "data")]
    done = subprocess.run(["java", "-cp", class_path, "Export", *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    ids, *answers = done.stdout.splitlines()
    assert len(answers) == 500

    found = [piece.message for piece in pieces(export.open("rb"), "artemis") if getattr(piece, "message", None)]
    by_id = {one.partition(b'id="')[2].partition(b'"')[0].decode(): one for one in found}
    held = [by_id[one] for one in ids.split()]
    assert len(held) == 120
    wrong, refused, failed, unanswered = [], 0, 0, 0
    for text, wanted in zip(chosen, answers, strict=True):
        try:
            matcher = mqsel.compile(text, dialect=mqsel.ARTEMIS)
        except SelectorError as error:
            refused += "not supported" in str(error)
            if wanted != "E" and "not supported" not in str(error):
                wrong.append(f"{text!r}: refused")
            continue
        decode = matcher.decoder("artemis")
        for number, letter in enumerate(wanted):
            try:
                truth = matcher.truth(decode(held[number]))
            except UndocumentedError:  # of a property that is NaN or -0.0
                unanswered += 1
                continue
            failed += truth == Truth.ERR
            if (truth == Truth.TRUE) != (letter == "T"):
                wrong.append(f"{text!r} of message {number}: the broker {letter}, mqsel {truth!r}")
    assert not wrong, "\n".join(wrong[:20])
    assert refused <= 5
    assert unanswered <= len(held) * len(chosen) // 25
    assert failed > 100
    assert sum("T" in one and "F" in one for one in answers) > 50
