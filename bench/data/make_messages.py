"""Write the sample messages: `python bench/data/make_messages.py` writes messages.jsonl.gz beside this file.

A day's traffic of a company that sells vehicles, ships goods and trades. One message per line: a flat JSON object of
properties, JMS header fields first. A value is plain JSON (a whole number is an int64, any other number a float64) or
names its type: {"int32": 5}, {"float32": 1.5}, {"bytes": "0a1b"}. An application property is missing from one message
in ten, JMSType from one in 25, and one weight in fifty is a string: the classic mistake of a sender.

The same count and seed give the same lines, and the same file unless zlib differs (compare the unpacked text).
"""

import argparse
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

Maker = Callable[[Random], object]


class Property(NamedTuple):
    """One row of the table below; an empty type writes the plain JSON value; present is in percent."""

    kinds: str
    name: str
    type: str
    make: Maker
    present: int = 90


def between(low: int, high: int, divisor: int = 1) -> Maker:
    """Return a maker of numbers from low to high in steps of 1/divisor; of integers when divisor is 1."""
    if divisor == 1:
        return lambda random: random.randint(low, high)
    return lambda random: random.randint(low * divisor, high * divisor) / divisor


def one_of(*values: object, weights: tuple[int, ...] | None = None) -> Maker:
    """Return a maker that picks one of the values."""
    return lambda random: random.choices(values, weights)[0]


def flag(percent: int) -> Maker:
    """Return a maker of booleans, TRUE in so many percent."""
    return lambda random: random.randrange(100) < percent


# JMSType: share of the traffic in percent
KINDS = {"car": 15, "truck": 7, "bike": 6, "bus": 2, "shipment": 20, "payment": 18, "telemetry": 18, "trade": 14}
ALL = " ".join(KINDS)
VEHICLES = "car truck bike bus"
COLORS = one_of("white", "black", "grey", "silver", "red", "blue", "green", weights=(26, 22, 19, 13, 9, 7, 4))
NOTES = one_of("customer waits 🚗", "100 % paid in advance", "call first", "gift 🎁, no invoice inside", "至急")
SYMBOLS = one_of("S1", "S2", "S3", "S5", "S8", "S13", "S21", "AB_12", "AB_40", "AB_77", "ABC12", "ABC40")
PROPERTIES = (
    Property(ALL, "JMSPriority", "int32", one_of(*range(10), weights=(2, 1, 2, 4, 60, 8, 6, 8, 4, 5)), present=100),
    Property(ALL, "JMSDeliveryMode", "", one_of("PERSISTENT", "NON_PERSISTENT", weights=(3, 1)), present=100),
    Property(ALL, "JMSRedelivered", "", flag(5), present=100),
    Property(VEHICLES, "color", "", COLORS),
    Property("car", "weight", "int32", between(900, 5_500)),  # pounds
    Property("truck bus", "weight", "int32", between(7_000, 42_000)),
    Property("bike", "weight", "int32", between(15, 900)),
    Property("car truck bus", "price", "", between(4_000, 200_000, 100)),
    Property("trade", "price", "", between(1, 100, 100)),
    Property(VEHICLES + " trade", "region", "", one_of("north", "north-west", "south-west", "south", "east")),
    Property(VEHICLES, "modelYear", "int16", between(2019, 2026)),
    Property(VEHICLES, "note", "", NOTES, present=15),
    Property("shipment", "carrier", "", one_of("Rhine & Co", "O'Hara Freight", "한강물류")),
    Property("shipment", "destination", "", one_of("Antwerp", "Göteborg", "Kraków", "東京", "上海", "부산")),
    Property("shipment", "weight", "", between(1, 24_000, 10)),  # kilograms
    Property("shipment", "deliveryNote", "", one_of(None, "leave at the gate", "ring twice 🔔")),
    Property("shipment", "JMSXGroupID", "", one_of(*(f"tour-{n}" for n in range(1, 41)))),
    Property("payment", "invoice", "", one_of(*(f"INV-2026-{n}" for n in range(100, 1_000)))),
    Property("payment", "amount", "", between(5, 60_000, 100)),
    Property("payment", "currency", "", one_of("EUR", "USD", "JPY", "KRW", "PLN", weights=(6, 4, 2, 1, 1))),
    Property("payment", "JMSReplyTo", "", one_of("queue://FLEET1/PAYMENT.REPLY"), present=50),
    Property("telemetry", "temperature", "float32", between(-20, 110, 4)),
    Property("telemetry", "battery", "int8", between(0, 100)),
    Property("telemetry", "odometer", "", between(0, 3_000_000_000)),  # metres: more than an int32 holds
    Property("telemetry", "frame", "bytes", lambda random: f"{random.getrandbits(32):08x}", present=40),
    Property("telemetry trade", "active", "", flag(70)),
    Property("trade", "symbol", "", SYMBOLS),
)


def messages(count: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield messages in the order of their JMSTimestamp (milliseconds since 1970)."""
    random = Random(seed)
    identifier = ("ID:" + b"AMQ FLEET1      ".hex() + "69a52f10{:08x}").format  # 24 bytes: product, manager, number
    timestamp = 1_772_431_200_000  # 2026-03-02 06:00 UTC
    for number in range(1, count + 1):
        kind = random.choices(ALL.split(), list(KINDS.values()))[0]
        timestamp += random.randint(0, 20_000)
        message: dict[str, object] = {"JMSMessageID": identifier(number), "JMSTimestamp": timestamp}
        if flag(96)(random):
            message["JMSType"] = kind
        if flag(60)(random):
            message["JMSCorrelationID"] = identifier(max(1, number - random.randint(1, 500)))
        for row in PROPERTIES:
            if kind in row.kinds.split() and flag(row.present)(random):
                value = row.make(random)
                is_mistaken = row.name == "weight" and flag(2)(random)
                message[row.name] = str(value) if is_mistaken else {row.type: value} if row.type else value
        yield message


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Write the sample messages as gzipped JSON Lines.")
    parser.add_argument("--count", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("messages.jsonl.gz"))
    arguments = parser.parse_args()
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in messages(arguments.count, arguments.seed))
    arguments.out.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main()
