"""Queues of Artemis, ActiveMQ Classic and Broker-J, each in a process: nothing is lost, changed or consumed."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from products import engines
from products.engines import BUILD, compiled, jars
from running import free_port

from mqsel.cli import main
from mqsel.errors import QueueError
from mqsel.formats import decoder
from mqsel.live import browse
from mqsel.values import Float32, Int8, Int16, Int32

proton = pytest.importorskip("proton", reason="python-qpid-proton, of the extra amqp, is not installed")

from proton import reactor, utils  # noqa: E402 (proton is there)

pytestmark = pytest.mark.brokers
PRODUCTS = {"artemis": "ARTEMIS", "activemq": "ACTIVEMQ", "broker-j": "QPID_BROKER_J"}
COUNT = 5000  # by JMS, and as many by AMQP


@pytest.fixture(scope="module")
def class_path() -> str:
    """Return the class path of the brokers and their program, fetched and compiled once, or skip."""
    here = Path(__file__).parent
    program = (here / "LiveBroker.java").read_text(encoding="utf-8")
    return compiled(jars(here / "pom.xml", BUILD / "live"), "classes", LiveBroker=program)


class Broker:
    """A broker that runs; its messages are in the folder."""

    def __init__(self, class_path: str, product: str, port: int, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        command = ["java", "-Xmx512m", "-cp", class_path, "LiveBroker", product, str(port), str(folder)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.url = f"amqp://127.0.0.1:{port}/orders"
        while self._line() != "ready":
            pass

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the broker ended"
        return line.strip()

    def ask(self, what: str) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return int(self._line())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def properties_of(number: int) -> dict[str, Any]:
    """Return the properties of a message by its number, as LiveBroker.java has them."""
    return {
        "number": Int32(number),
        "b": number % 2 == 0,
        "y": Int8((number + 128) % 256 - 128),
        "sh": Int16(number),
        "l": 5_000_000_000 + number,
        "f": Float32(0.1),
        "d": number / 8,
        "s": f"näme {number}",
        "JMSType": "car" if number % 3 == 0 else "bus",
        "JMSCorrelationID": f"c-{number}",
        "JMSXGroupID": f"g{number % 5}",
        "JMSPriority": Int32(number % 10),
        "JMSDeliveryMode": "PERSISTENT",
    }


class _ToQueue(reactor.LinkOption):
    def apply(self, link: Any) -> None:
        link.target.capabilities.put_object(proton.symbol("queue"))


def send_by_amqp(url: str, numbers: range) -> None:
    """Send messages whose bodies are of all kinds."""
    bodies = ["<order/>", b"\0\1", {"a": 1}, ["x", None], None, 5, proton.Message(body="inside").encode()]
    connection = utils.BlockingConnection(url, timeout=30)
    sender = connection.create_sender("orders", options=_ToQueue())
    for number in numbers:
        of = properties_of(number)
        sent = {
            "number": proton.int32(number),
            "b": of["b"],
            "y": proton.byte(int(of["y"])),
            "sh": proton.short(number),
            "l": of["l"],
            "f": proton.float32(0.1),
            "d": of["d"],
            "s": of["s"],
        }
        headers = {"subject": of["JMSType"], "correlation_id": of["JMSCorrelationID"], "group_id": of["JMSXGroupID"]}
        sender.send(
            proton.Message(
                body=bodies[number % len(bodies)],
                properties=sent,
                durable=True,
                priority=number % 10,
                id=f"ID:{number}",
                **headers,
            )
        )
    connection.close()


def test_rabbitmq(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A stream is read by copy, from its first message, as often as asked; queues are refused, and keep theirs."""
    port = free_port(3)
    queues = {"classic": "classic", "quorum": "quorum", "stream": "stream"}
    names, server, environment = engines.rabbitmq(tmp_path, port, queues)
    monkeypatch.setenv("MQSEL_PASSWORD", "guest")
    log = (tmp_path / "out").open("wb")
    running = [
        subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        for command in (names, server)
    ]
    try:
        end = time.monotonic() + 300
        while b"Server startup complete" not in (tmp_path / "out").read_bytes():
            assert running[1].poll() is None and time.monotonic() < end, (tmp_path / "out").read_text()[-2000:]
            time.sleep(0.5)
        connection = utils.BlockingConnection(f"amqp://guest:guest@127.0.0.1:{port}", timeout=60, allowed_mechs="PLAIN")
        for name in queues:
            sender = connection.create_sender(f"/queues/{name}")
            for number in range(300):
                sent = {"number": proton.int32(number), "color": ("red", "blue")[number % 2]}
                sender.send(proton.Message(body=b"x", properties=sent, durable=True))
            sender.close()

        url = f"amqp://guest@127.0.0.1:{port}//queues"
        decode = decoder("amqp", ["number"])
        for _ in range(2):
            assert [decode(one)["number"] for one in browse(f"{url}/stream")] == [*range(300)]
        assert main(["match", "--count", "--dialect", "RABBITMQ", "a.color = 'blue'", f"{url}/stream"]) == 0
        assert capfd.readouterr().out == "150\n"
        for name in ("classic", "quorum"):
            with pytest.raises(QueueError, match="the broker answers move to a link that asks for copies") as raised:
                next(browse(f"{url}/{name}"))
            assert "bind a stream to the exchange of the queue" in (raised.value.hint or "")
            receiver = connection.create_receiver(f"/queues/{name}", credit=300)
            for number in range(300):
                assert receiver.receive(timeout=60).properties["number"] == number
                receiver.accept()
            receiver.close()
        with pytest.raises(QueueError, match="the broker rejected the link") as raised:
            next(browse(f"amqp://guest@127.0.0.1:{port}/stream"))
        assert "//queues/NAME" in (raised.value.hint or "")
        connection.close()
    finally:
        for one in running:
            one.kill()
            one.wait()
        log.close()


@pytest.mark.parametrize("product", PRODUCTS)
def test_ten_thousand_messages(
    product: str, class_path: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each message comes once, with its types, and stays; a broker that is killed is one error; the preset agrees."""
    port = free_port()
    broker = Broker(class_path, product, port, tmp_path / "data")
    try:
        broker.ask(f"send {COUNT}")
        send_by_amqp(broker.url, range(COUNT, 2 * COUNT))

        names = [*properties_of(0)]
        decode = decoder("amqp", names)
        came = {}
        for message in browse(broker.url):
            read = decode(message)
            record = {name: read[name] for name in names}
            number = int(record["number"])
            assert number not in came
            came[number] = record
            expected = properties_of(number)
            assert record == expected, number
            assert {name: type(value) for name, value in record.items()} == {
                name: type(value) for name, value in expected.items()
            }
        assert sorted(came) == [*range(2 * COUNT)]
        assert broker.ask("depth") == 2 * COUNT

        selector = "number > 4000 AND b = TRUE AND JMSType = 'car' AND (d > 700.5 OR JMSPriority < 4) AND s LIKE 'n%7_'"
        assert main(["match", "--count", "--ask-broker", "--dialect", PRODUCTS[product], selector, broker.url]) == 0
        printed = capfd.readouterr()
        assert f"the broker selects {printed.out.strip()} of 10,000 messages, as {PRODUCTS[product]}" in printed.err
        assert int(printed.out) > 50

        source = browse(broker.url)
        first = [next(source) for _ in range(1500)]
        broker.kill()
        with pytest.raises(QueueError, match=r"lost after message [1-9],\d{3}: ") as raised:
            first += source
        assert raised.value.number == len({*first}) == len(first) < 2 * COUNT

        broker = Broker(class_path, product, port, tmp_path / "data")
        assert len({*browse(broker.url)}) == 2 * COUNT == broker.ask("depth")
    finally:
        broker.kill()
