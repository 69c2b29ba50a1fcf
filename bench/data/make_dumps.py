"""Write the sample dumps: `python bench/data/make_dumps.py` writes dump.qload and connect.jsonl beside this file.

The first vehicles of the sample messages, as other tools have them: as dmpmqmsg writes a queue, and as the records of
Confluent's source connectors. Both hold the same messages.
"""

import argparse
import json
from pathlib import Path

from make_messages import messages

from mqsel.files.qload import qload_text
from mqsel.formats import mq
from mqsel.formats.records import CONNECT

COUNT = 6
HEAD = b"* QLOAD Version:1.9 Created:Mon Mar  2 07:00:00 2026\n* Qmgr  = FLEET1\n* Queue = VEHICLES\n\n"
MEMBERS = {kind: member for kind, member in CONNECT.members.tags.values() if member is not None}
PYTHON = {bool: "boolean", int: "int64", float: "float64", str: "string"}


def typed(value: object) -> tuple[str, object]:
    """Split a value as the sample messages write it into its type and itself."""
    if isinstance(value, dict):
        ((kind, plain),) = value.items()
        return kind, plain
    return PYTHON[type(value)], value


def as_mq(message: dict[str, object]) -> bytes:
    """Return the message of a JMS client of IBM MQ."""
    values = {name: typed(value) for name, value in message.items()}
    seconds = values["JMSTimestamp"][1] // 1000 % 86_400  # type: ignore[operator]
    fields = {
        "MsgId": bytes.fromhex(str(values["JMSMessageID"][1]).removeprefix("ID:")),
        "Priority": values["JMSPriority"][1],
        "Persistence": int(values["JMSDeliveryMode"][1] == "PERSISTENT"),
        "Format": "MQSTR",
        "PutDate": "20260302",
        "PutTime": f"{seconds // 3600:02}{seconds // 60 % 60:02}{seconds % 60:02}00",
        "PutApplName": "fleet",
    }
    kept = {name: value for name, value in values.items() if name == "JMSType" or not name.startswith("JMS")}
    return mq.encode(fields, {"JMSDestination": "queue:///VEHICLES", **kept}, b"<vehicle/>")


def as_connect(message: dict[str, object]) -> dict[str, object]:
    """Return the record of Confluent's source connector."""
    values = {name: typed(value) for name, value in message.items()}

    def of(name: str) -> object:
        return values.get(name, (None, None))[1]

    return {
        "messageID": of("JMSMessageID"),
        "messageType": "text",
        "timestamp": of("JMSTimestamp"),
        "deliveryMode": 2 if of("JMSDeliveryMode") == "PERSISTENT" else 1,
        "correlationID": of("JMSCorrelationID"),
        "replyTo": None,
        "destination": {"destinationType": "queue", "name": "VEHICLES"},
        "redelivered": of("JMSRedelivered"),
        "type": of("JMSType"),
        "expiration": 0,
        "priority": of("JMSPriority"),
        "properties": {
            name: {"propertyType": MEMBERS[kind], MEMBERS[kind]: value}
            for name, (kind, value) in values.items()
            if not name.startswith("JMS")
        },
        "text": "<vehicle/>",
    }


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="Write the sample dumps.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    out = parser.parse_args().out
    chosen = [message for message in messages(100, 5) if "color" in message][:COUNT]
    (out / "dump.qload").write_bytes(HEAD + b"".join(qload_text(as_mq(message)) for message in chosen))
    lines = (json.dumps(as_connect(message), ensure_ascii=False) + "\n" for message in chosen)
    (out / "connect.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
