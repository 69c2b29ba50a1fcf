# ruff: noqa: E501, ISC004
"""Files that hold messages in no format of mqsel end in one line that says what to type, and what is typed works."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mqsel import cli

SHAPES: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "stomp": (
        "STOMP frames",
        "MESSAGE\nsubscription:1\nmessage-id:ID\\chost-1\ncolor:red\ncolor:blue\n\nbody: 1\n\0\n"
        "MESSAGE\r\ncolor:blue\r\n\r\nx\0",
        [{"subscription": "1", "message-id": "ID:host-1", "color": "red"}, {"color": "blue"}],
    ),
    "stomp sent": ("STOMP frames", "SEND\ndestination:/queue/a\ncolor:red\n\nx\0\n", [{"destination": "/queue/a", "color": "red"}]),
    "ems": (
        "messages as TIBCO EMS prints them",
        "Received message: TextMessage={ Header={ JMSMessageID={ID:1} JMSPriority={4} } Properties={ color={String:red} "
        "weight={Integer:3000} is_new={Boolean:true} rate={Double:1.5} } Text={hello} }\nend\n"
        "Received message: MapMessage={ Header={ JMSType={null} } Properties={ color={String:dark blue} } }\n",
        [{"color": "red", "weight": 3000, "is_new": True, "rate": 1.5}, {"color": "dark blue"}],
    ),
    "mqrest": (
        "a response of the REST API of IBM MQ",
        'HTTP/1.1 200 OK\nContent-Type: text/plain\nibm-mq-md-expiry: unlimited\nibm-mq-usr-color: "red";string\n'
        "ibm-mq-usr-weight: 3000;integer\n\nhello\n",
        [{"color": "red", "weight": 3000}],
    ),
    "pulsar": (
        "an output of pulsar-client consume",
        "----- got message -----\nkey:[null], properties:[color=red, weight=3000], content:a]\n"
        "----- got message -----\nkey:[k], properties:[], content:b\n",
        [{"color": "red", "weight": "3000"}, {}],
    ),
    "kafka": (
        "an output of kafka-console-consumer",
        'CreateTime:1767607200000\tcolor:red,weight:3000\tnull\t{"id":1}\nCreateTime:1767607200001\tNO_HEADERS\tk\tx\n',
        [{"color": "red", "weight": "3000"}, {}],
    ),
    "kafka with partitions": (
        "an output of kafka-console-consumer",
        "Partition:0\tOffset:17\tcolor:red,at:10:30\tnull\tx\n",
        [{"color": "red", "at": "10:30"}],
    ),
    "kafka headers": ("an output of kafka-console-consumer", "color:red\tk\thello\n", [{"color": "red"}]),
    "spring": (
        "messages that Spring wrote into a log",
        "2026-01-05 10:00:00.000 INFO GenericMessage [payload=hello, headers={color=red, priority=4}]\nother\n",
        [{"color": "red", "priority": "4"}],
    ),
    "spring amqp": (
        "messages that Spring wrote into a log",
        "(Body:'hello' MessageProperties [headers={color=red}, contentType=text/plain])\n",
        [{"color": "red"}],
    ),
    "classic": (
        "messages as ActiveMQ or Artemis prints them",
        "ActiveMQTextMessage {commandId = 5, priority = 4, properties = {color=red, weight=3000}, text = hello}\n",
        [{"color": "red", "weight": "3000"}],
    ),
    "artemis": (
        "messages as ActiveMQ or Artemis prints them",
        "ActiveMQMessage[ID:1]:PERSISTENT/ClientMessageImpl[messageID=5, properties=TypedProperties[color=red,a=b]]\n",
        [{"color": "red", "a": "b"}],
    ),
    "ibm": (
        "messages as IBM MQ classes for JMS print them",
        "\n  JMSMessage class: jms_text\n  JMSType:          null\n  JMSPriority:      4\n    color: red\nhello\n"
        "  JMSMessage class: jms_text\n    color: blue\n",
        [{"JMSType": "null", "JMSPriority": "4", "color": "red"}, {"color": "blue"}],
    ),
    "browse": (
        "an output of activemq browse",
        "JMS_HEADER_FIELD:JMSPriority = 4\nJMS_CUSTOM_FIELD:color = red\nJMS_BODY_FIELD:JMSText = x\n\n"
        "JMS_CUSTOM_FIELD:color = blue\n",
        [{"JMSPriority": "4", "color": "red"}, {"color": "blue"}],
    ),
    "csv": ("CSV", 'color,weight\nred,3000\n"a, b",1\n', [{"color": "red", "weight": "3000"}, {"color": "a, b", "weight": "1"}]),
    "arrays": ("a JSON array of arrays", '[[{"color": "red"}],\n[{"color": "blue"}]]\n', [{"color": "red"}, {"color": "blue"}]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_the_last_line_says_what_to_type(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The finding is one sentence, the hint one command; the command writes the properties as lines that are read."""
    what, text, messages = SHAPES[name]
    file = tmp_path / "file"
    file.write_bytes(gzip.compress(text.encode()))
    assert cli.main(["match", "color = 'red'", str(file)]) == 2
    assert f"no message could be read as json: this looks like {what}\n" in capsys.readouterr().err
    file.write_text(text, newline="")
    assert cli.main(["match", "color = 'red'", str(file)]) == 2
    found, hint, summary = capsys.readouterr().err.splitlines()[-3:]
    assert found == f"mqsel: {file}: no message could be read as json: this looks like {what}"
    assert " 0 selected" in summary
    command = hint.removeprefix("  hint: ")
    if shutil.which(command.split(" ", 1)[0]) is None:
        pytest.skip("the command is not installed")
    done = subprocess.run(
        command.replace("FILE", "file"), shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == messages
    (tmp_path / "lines").write_text(done.stdout)
    assert cli.main(["match", "color = 'red'", str(tmp_path / "lines")]) == 0
    assert capsys.readouterr().out == done.stdout.splitlines(keepends=True)[0]


def test_an_export_of_service_bus_under_its_dialect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The dialect reads names in any case, records do not: the hint is the command that makes messages of them."""
    record = {"enqueuedTimeUtc": "x", "lockToken": None, "sequenceNumber": 1, "label": "order", "messageId": "m"}
    record["properties"] = {"color": "red"}  # type: ignore[assignment]
    (tmp_path / "file").write_text(json.dumps([record, record], indent=2))
    words = ("match", "--dialect", "AZURE_SERVICE_BUS", "SYS.Label = 'order' AND Color = 'red'")
    assert cli.main([*words, str(tmp_path / "file")]) == 2
    command = capsys.readouterr().err.splitlines()[-1].removeprefix("  hint: ")
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    done = subprocess.run(command.replace("FILE", "file"), shell=True, cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "lines").write_bytes(done.stdout)
    assert cli.main([*words, "-c", str(tmp_path / "lines")]) == 0
    assert capsys.readouterr().out == "2\n"
