"""Queues of running brokers: what is browsed, what is refused, and what is said. The broker is a stand-in."""

from __future__ import annotations

import pickle
import random
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from conftest import ran
from faults import PACKAGE, failing

from mqsel import errors
from mqsel.cli import main
from mqsel.errors import ArgumentError, FileError, MqselError, QueueError
from mqsel.files.framings import FORMATS, messages, place_of, reading
from mqsel.live import browse, link
from mqsel.live.address import Login, read_address

proton = pytest.importorskip("proton", reason="python-qpid-proton, of the extra amqp, is not installed")

from live.standin import COPY, MOVE, NOTHING, StandIn, message  # noqa: E402 (proton is there)

CARS = [message(f"m{n}", subject="car" if n % 2 else "bus", properties={"weight": n}) for n in range(1, 6)]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_PAUSES", (0.01, 0.01))
    monkeypatch.delenv("MQSEL_PASSWORD", raising=False)


def refused(*arguments: Any, **named: Any) -> QueueError:
    """Return the error of a browse that yields nothing."""
    with pytest.raises(QueueError) as raised:
        list(browse(*arguments, **named))
    return raised.value


# ---- the link ----------------------------------------------------------------------------------------------------


def test_messages_come_as_they_were_sent() -> None:
    """All messages of a queue, the large ones too, in their order, once each, over a link that asked for copies."""
    sent = [message("x" * 300_000), *(message(n) for n in range(2 * link.WINDOW)), message("y" * 300_000)]
    with StandIn(sent) as broker:
        assert list(browse(broker.url())) == sent
        assert broker.links == [("orders", COPY, "queue", {})]


@pytest.mark.parametrize("count", [0, 1, link.WINDOW - 1, link.WINDOW, link.WINDOW + 1])
def test_the_end_is_found_by_draining(count: int) -> None:
    """However many messages there are, the end is found at once: nobody waits for a message that may come."""
    with StandIn([message(n) for n in range(count)]) as broker:
        began = time.monotonic()

        assert len(list(browse(broker.url()))) == count
        assert time.monotonic() - began < link.ANSWER


@pytest.mark.parametrize(("mode", "word"), [(MOVE, "move"), (NOTHING, "nothing")])
def test_what_is_not_copied_is_refused(mode: int, word: str) -> None:
    """A broker that answers anything but copy gets no credit, so it sends nothing."""
    with StandIn(CARS, mode=mode) as broker:
        error = refused(broker.url())

        assert f"the broker answers {word}" in error.message
        assert broker.credit == 0 and broker.attempts == 1


def test_rabbitmq() -> None:
    """Queues of RabbitMQ are refused with what to do instead; its streams are read from their first message."""
    with StandIn(CARS, mode=MOVE, product="RabbitMQ") as broker:
        error = refused(broker.url())

        assert "stream" in str(error.hint) and "management API" in str(error.hint)
    with StandIn(CARS, product="RabbitMQ") as broker:
        assert list(browse(broker.url())) == CARS
        assert [(name, one.value) for name, one in broker.links[0][3].items()] == [
            ("rabbitmq:stream-offset-spec", "first")
        ]


@pytest.mark.parametrize("ends", ["", "session"])
def test_a_refused_link_says_why(ends: str) -> None:
    """What a broker has against a link is in the error, also if it ends the session instead."""
    with StandIn(refusal="amqp:not-found", ends=ends) as broker:
        assert (
            refused(broker.url()).message == "the broker rejected the link: the stand-in was told so (amqp:not-found)"
        )


def test_a_connection_that_breaks() -> None:
    """What had come was yielded once; then one error says how far it came, and nothing is begun anew."""
    sent = [message(n) for n in range(50)]
    with StandIn(sent, drop=20) as broker:
        came = []
        with pytest.raises(QueueError, match="the connection was lost after message 20: ") as raised:
            came += iter(browse(broker.url()))  # pragma: no cover

        assert raised.value.number == 20 and broker.attempts == 1
    with StandIn(sent, drop=20) as broker:
        source = browse(broker.url())
        assert [next(source) for _ in range(20)] == sent[:20]


@pytest.mark.parametrize("ends", ["link", "session", "connection"])
def test_what_is_closed_behind_messages(ends: str) -> None:
    """Messages that arrive together with the end of what they came on are yielded, and the error says why it ended."""
    read = []
    with StandIn(CARS, drop=3, ends=ends) as broker, pytest.raises(QueueError) as caught:
        read += browse(broker.url())
    assert read == CARS[:3]
    why = "the stand-in was told so (amqp:internal-error)"
    assert caught.value.message == f"the connection was lost after message 3: {why}"


# A generator that an interrupt ended while it closed its link is closed once more when it is freed: Python says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_leaves_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever line it comes in, but for those between what opens or closes the socket and the block that minds it."""
    made: list[socket.socket] = []
    create = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda *given: made.append(create(*given)) or made[-1])
    with StandIn(CARS) as broker:
        for line in failing(lambda: list(browse(broker.url())), within=PACKAGE / "live"):
            with made.pop() if made else nullcontext() as left:
                assert left is None or left.fileno() < 0 or line.startswith(("try:", "link.close()", "with self._s"))
        assert list(browse(broker.url())) == CARS


def test_closed_twice() -> None:
    """What is closed stays so, without a word and at once."""
    with StandIn(CARS) as broker:
        one = link.Link(read_address(broker.url()), Login(), "")
        one.close()
        began = time.monotonic()
        one.close()
        assert time.monotonic() - began < 0.5


def test_a_broker_that_starts_is_asked_again() -> None:
    """Before the first message a lost connection is made again, two times at most."""
    with StandIn(CARS, deaf=2) as broker:
        assert list(browse(broker.url())) == CARS and broker.attempts == 3
    with StandIn(CARS, deaf=3) as broker:
        assert "the broker cannot be reached: " in refused(broker.url()).message
    assert "cannot be reached: Connection refused" in refused(broker.url()).message


def test_a_broker_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that never returns the credit, or never says anything, is an error, not a wait without end."""
    monkeypatch.setattr(link, "SILENCE", 0.3)
    monkeypatch.setattr(link, "ANSWER", 0.3)
    with StandIn(CARS, drains=False) as broker:
        source = browse(broker.url())
        assert [next(source) for _ in CARS] == CARS
        with pytest.raises(QueueError, match=r"lost after message 5: the broker sent no message for 0\.3 seconds"):
            next(source)
    with StandIn(CARS, mangle=lambda _: b"") as broker:
        assert "no answer for 0.3 seconds: expected that it opens" in refused(broker.url()).message


def test_limit_and_follow() -> None:
    """No more credit than the limit is given, followed or not; who follows gets what is sent later."""
    with StandIn(CARS) as broker:
        assert list(browse(broker.url(), limit=3)) == CARS[:3] and broker.credit == 3
        assert list(browse(broker.url(), limit=5, follow=True)) == CARS
    with StandIn(CARS) as broker:
        source = browse(broker.url(), follow=True)
        assert [next(source) for _ in CARS] == CARS
        broker.late = [message("late")]
        assert next(source) == message("late")
        source.close()
    with pytest.raises(ArgumentError):
        next(browse(broker.url(), limit=0))


def test_the_selector_is_sent() -> None:
    """The broker gets the text of a selector; if it does not answer that it uses it, the link is refused."""
    with StandIn(CARS) as broker:
        list(browse(broker.url(), selector="weight > 3"))
        filters = broker.links[0][3]

        assert (filters["jms-selector"].descriptor, filters["jms-selector"].value) == (0x468C00000004, "weight > 3")
    with StandIn(CARS, ignores=True) as broker:
        assert "support selectors over AMQP" in refused(broker.url(), selector="weight > 3").message
        assert broker.credit == 0


@pytest.mark.volume
@pytest.mark.parametrize("seed", range(3))
def test_whatever_a_broker_sends(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any bytes of a broker either are messages or end in a QueueError: nothing crashes, nothing hangs."""
    monkeypatch.setattr(link, "SILENCE", 0.2)
    monkeypatch.setattr(link, "ANSWER", 0.2)
    rng = random.Random(seed)

    def mangled(data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(rng.choice((0, 0, 1, 3))):
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
        return bytes(changed[: rng.choice((None, None, None, rng.randrange(len(changed)))) or None])

    outcomes = set()
    with StandIn(CARS, mangle=mangled) as broker:
        for _ in range(12):
            try:
                outcomes.add(len(list(browse(broker.url()))))
            except QueueError as error:
                outcomes.add(error.message)
    assert len(outcomes) > 1


# ---- who reads ---------------------------------------------------------------------------------------------------


def test_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password is that of the call or the environment; a wrong one is one error without it, and not tried again."""
    with StandIn(CARS, mechanism=b"PLAIN", password=b"s3cret") as broker:
        assert list(browse(broker.url("ann"), password="s3cret")) == CARS
        assert broker.inits[0].endswith(b"\0ann\0s3cret")
        error = refused(broker.url("ann"), password="hunter2")
        assert error.message == "the broker does not let in ann" and "hunter2" not in repr(error) + str(error)
        assert broker.attempts == 2
        monkeypatch.setenv("MQSEL_PASSWORD", "s3cret")
        assert list(browse(broker.url("ann"))) == CARS
    monkeypatch.delenv("MQSEL_PASSWORD")
    assert "no password of ann" in refused(broker.url("ann")).message


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("amqp://ann:s3cret@host/orders", "the address contains a password: other users can read command lines"),
        ("amqp://ann:s3c/ret@host/orders", "the address contains a password: other users can read command lines"),
        ("amqp://ann:s3@cret@host/orders", "the address contains a password: other users can read command lines"),
        ("amqp://host", "the address names no queue"),
        ("amqp://host/", "the address names no queue"),
        ("amqp:///orders", "no address of a queue: expected amqp://USER@HOST:PORT/QUEUE"),
        ("amqp://host:99999/orders", "no address of a queue: expected amqp://USER@HOST:PORT/QUEUE"),
        ("amqp://host:x/orders", "no address of a queue: expected amqp://USER@HOST:PORT/QUEUE"),
        ("http://host/orders", "no address of a queue: expected amqp://USER@HOST:PORT/QUEUE"),
        ("amqp://host/orders?timeout=5", "the address continues after '?': expected its end"),
        (
            "amqps://x.servicebus.windows.net/orders",
            "Azure Service Bus can't send copies of messages over AMQP: mqsel would have to remove them",
        ),
    ],
)
def test_addresses_that_are_refused(url: str, message: str) -> None:
    """An address that cannot be read, or should not be written, is an error that shows no password."""
    error = refused(url)

    assert error.message == message
    assert "s3" not in str(error)
    assert isinstance(pickle.loads(pickle.dumps(error)), QueueError)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("amqp://host/orders", ("host", 5672, "", "orders", False)),
        ("AMQPS://ann%40x@[::1]:99/a%3Fb::c/d", ("::1", 99, "ann@x", "a?b::c/d", True)),
        ("amqp://host//queues/orders", ("host", 5672, "", "/queues/orders", False)),
        ("amqps://host/a@b", ("host", 5671, "", "a@b", True)),
    ],
)
def test_addresses(url: str, parts: tuple[Any, ...]) -> None:
    """The parts of an address."""
    assert read_address(url) == (url, *parts)


def test_no_command_shows_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever an address with a password stands on a command line, it is refused, and nobody prints the password."""
    url = "amqp://ann:s3cret@host/orders"
    for command in (
        *(["match", "a = 1", url], ["why", "a = 1", url], ["inspect", url], ["contract", url], ["match", url, "a = 1"]),
        *(["route", "--count", url, url], ["explain", "a = 1", url], ["diff", "a = 1", "a = 2", url], ["match", url]),
        *(["match", "--spark", "a = 1", url], ["audit", url], ["lint", "--file", url], ["explain", url, "a = 1"]),
    ):
        assert main(command) == 2, command
        printed = capsys.readouterr()
        assert "s3cret" not in printed.out + printed.err, command


# ---- TLS ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a certificate of localhost, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes certificates, is not installed")
    file = tmp_path_factory.mktemp("tls") / "localhost.pem"
    subprocess.run(
        [
            *"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split(),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", str(file.with_suffix(".key")), "-out", str(file)),
        ],
        check=True,
        capture_output=True,
    )
    file.write_text(file.read_text() + file.with_suffix(".key").read_text())
    return file


def test_tls(certificate: Path) -> None:
    """A certificate is verified: who signed it, and for which host; one's own says who reads."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    ca = str(certificate)
    with StandIn(CARS, context=context) as broker:
        assert list(browse(broker.url(host="localhost"), ca=ca)) == CARS
        assert "certificate was rejected: self-signed" in refused(broker.url(host="localhost")).message
        assert "certificate was rejected: IP address mismatch" in refused(broker.url(), ca=ca).message
        assert "the broker cannot be reached: " in refused(broker.url().replace("amqps", "amqp")).message
        assert "cannot be read from /no/ca" in refused(broker.url(host="localhost"), ca="/no/ca").message
    with StandIn(CARS) as broker:
        assert "the broker cannot be reached: " in refused(broker.url().replace("amqp", "amqps"), ca=ca).message
        assert "certificates are only for encrypted connections" in refused(broker.url(), ca=ca).message
    context.load_verify_locations(ca)
    context.verify_mode = ssl.CERT_REQUIRED
    with StandIn(CARS, context=context, mechanism=b"EXTERNAL") as broker:
        assert list(browse(broker.url(host="localhost"), ca=ca, certificate=ca)) == CARS
        assert b"EXTERNAL" in broker.inits[0]


def test_without_proton(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error names it, and the extra."""
    monkeypatch.setitem(sys.modules, "proton", None)
    with pytest.raises(MqselError, match=r"python-qpid-proton(.|\n)*\[amqp\]"):
        list(browse("amqp://host/orders"))


# ---- commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def broker() -> Iterator[StandIn]:
    with StandIn(CARS) as running:
        yield running


def test_match(broker: StandIn, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    """What is printed of a queue is a file that is read again, by its first bytes."""
    code, out, err = ran(capfdbinary, "match", "JMSType = 'car' AND weight > 2", broker.url())

    assert code == 0 and err.startswith("5 messages, 2 selected, ")
    assert out == b"".join(len(one).to_bytes(4, "big") + one for one in CARS[2::2])
    (tmp_path / "saved").write_bytes(out)
    kind, source, _ = reading(tmp_path / "saved")
    assert kind == "amqp" and [piece.message for piece in source] == CARS[2::2]
    code, out, _ = ran(capfdbinary, "match", "--json", "weight > 4", broker.url())
    assert code == 0 and f'{{"file": "{broker.url()}", "number": 5, "message": {{'.encode() in out
    assert (
        ran(capfdbinary, "match", "--max-matches", "1", "weight > 2", broker.url())[1]
        == (tmp_path / "saved").read_bytes()[: len(CARS[2]) + 4]
    )


def test_why_inspect_contract_route(broker: StandIn, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    """The other commands browse the same queue; places are the numbers of messages in it."""
    url = broker.url()
    code, out, _ = ran(capfdbinary, "why", "weight > 4", url)
    assert code == 0 and b"1 of 5 messages is selected" in out
    code, out, _ = ran(capfdbinary, "inspect", "--limit", "2", url)
    assert code == 0 and out.decode().count(f"{url}, message ") == 2 and f"{url}, message 2\n".encode() in out
    before = broker.credit
    code, out, _ = ran(capfdbinary, "why", "--limit", "3", "weight > 2", url)
    assert code == 0 and b"1 of 3 messages is selected" in out and broker.credit == before + 3
    code, out, err = ran(capfdbinary, "contract", "--limit", "3", url)
    assert code == 0 and b'"least": 1, "greatest": 3' in out and err.startswith("3 messages")
    code, out, _ = ran(capfdbinary, "contract", url)
    assert code == 0 and b'"weight": {"type": "int64", "least": 1, "greatest": 5, "required": true}' in out
    (tmp_path / "subscribers").write_text("heavy\tweight > 4\n")
    code, out, err = ran(capfdbinary, "route", str(tmp_path / "subscribers"), url)
    assert out.decode() == f'{{"subscribers": ["heavy"], "file": "{url}", "number": 5}}\n'
    assert code == 0 and f"{url}, message 1" in err
    code, out, err = ran(capfdbinary, "route", "--count", "--why", str(tmp_path / "subscribers"), url)
    assert code == 0


def test_a_damaged_message(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A message that cannot be read is reported by its number, and the others are judged."""
    with StandIn([CARS[0], b"\0Ss\xd0\xff", CARS[1]]) as broker:
        code, _, err = ran(capfdbinary, "match", "--count", "weight > 0", broker.url())

    assert code == 0 and f"{broker.url()}, message 2: " in err and "1 skipped" in err


def test_a_command_whose_connection_breaks(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What was selected before stands on stdout; the error says how far it came, and the exit code is 2."""
    with StandIn(CARS, drop=3) as broker:
        code, out, err = ran(capfdbinary, "match", "weight > 0", broker.url())

    assert code == 2 and out.count(b"weight") == 3
    assert f"mqsel: {broker.url()}: the connection was lost after message 3: " in err


def test_passwords_of_commands(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A password comes from the file that is named, or the environment; without a terminal nobody is asked."""
    (tmp_path / "password").write_text("s3cret\n")
    with StandIn(CARS, mechanism=b"PLAIN", password=b"s3cret") as broker:
        ask = ["match", "--count", "weight > 0", broker.url("ann")]
        code, _, err = ran(capfdbinary, *ask)
        assert code == 2 and "no password of ann" in err and "--password-file" in err
        assert ran(capfdbinary, *ask, "--password-file", str(tmp_path / "password"))[:2] == (0, b"5\n")
        assert "cannot be read" in ran(capfdbinary, *ask, "--password-file", str(tmp_path / "none"))[2]
        monkeypatch.setenv("MQSEL_PASSWORD", "s3cret")
        assert ran(capfdbinary, *ask)[:2] == (0, b"5\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("match", "--follow", "a = 1", "amqp://h/q", "file"), "--follow is for queues of running brokers"),
        (("match", "--follow", "a = 1", "amqp://h/q", "amqp://h/r"), "--follow waits at the end of one queue"),
        (("why", "--ask-broker", "a = 1", "amqp://h/q", "file"), "--ask-broker is for queues of running brokers"),
        (
            ("match", "--ask-broker", "--max-matches", "1", "a = 1", "amqp://h/q"),
            "--max-matches, --limit, -l and -q leave some out",
        ),
        (
            ("why", "--ask-broker", "--limit", "1", "a = 1", "amqp://h/q"),
            "--max-matches, --limit, -l and -q leave some out",
        ),
        (("match", "--ask-broker", "--follow", "a = 1", "amqp://h/q"), "--follow has no end"),
        (("match", "-j", "2", "a = 1", "amqp://h/q"), "one process reads a queue"),
        (("match", "--spark", "a = 1", "amqp://h/q"), "Spark can't read queues"),
        (("match", "--follow", "a = 1", "file"), "--follow is for queues of running brokers"),
        (("explain", "a = 1", "amqp://h/q"), "a queue of a running broker: expected a file"),
        (("match", "amqp://h/q", "a = 1"), "expected the selector first"),
    ],
)
def test_options_that_do_not_fit(
    arguments: tuple[str, ...], message: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What cannot be done with a queue, or with a file, is one error."""
    code, _, err = ran(capfdbinary, *arguments)

    assert code == 2 and message in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *((name, 5) for name in ("url", "selector", "password", "ca", "certificate", "key")),
        *(("limit", given) for given in ("1", 0)),
        ("selector", None),
        ("password", b"s3cret"),
    ],
)
def test_arguments_that_are_none(name: str, given: Any) -> None:
    """What is no string, no count or no truth value is our error before anything is asked, and shows no password."""
    with pytest.raises(ArgumentError, match=f"{name if name != 'url' else 'the address'} is ") as raised:
        next(browse(**{"url": "amqp://host/q", name: given}))
    assert "s3cret" not in str(raised.value)


def test_texts_that_cannot_be_sent() -> None:
    """Half of a pair of surrogates is not taken for a broker that is not there."""
    with StandIn(CARS) as broker:
        error = refused(broker.url(), selector="a = '\ud800'")
    assert "surrogates not allowed" in error.message and "check the address, the selector" in str(error.hint)


def test_queues_are_no_files() -> None:
    """Who reads files is told who browses queues."""
    with pytest.raises(FileError, match="a queue of a running broker: expected a file"):
        next(messages("amqp://ann:s3cret@host/orders"))
    assert place_of("amqp://host/orders", "amqp", 17) == "amqp://host/orders, message 17"
    assert FORMATS["amqp"].ending == ".amqp"
    assert errors.QueueError is QueueError


# ---- asking the broker -------------------------------------------------------------------------------------------


def test_a_broker_that_differs(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What the broker selects and the dialect does not is found, and the other way round, by number."""
    header = message("m2", subject="bus", properties={"weight": 2}, ttl=5)  # the same message, a little later

    def queue(place: int) -> list[bytes]:
        return [[*CARS, CARS[4]], [CARS[0], header, CARS[4], CARS[4]], [CARS[0], header, *CARS[2:], CARS[4]]][place]

    with StandIn(queue) as broker:
        code, out, err = ran(capfdbinary, "match", "--count", "--ask-broker", "weight > 3", broker.url())

    assert (code, out) == (2, b"3\n")
    assert "the broker differs from IBM_MQ on 3 of 6 messages" in err
    assert "message 1: the broker selects it, IBM_MQ: FALSE" in err
    assert "message 2: the broker selects it, IBM_MQ: FALSE" in err
    assert "message 4: the broker leaves it, IBM_MQ: TRUE" in err


def test_a_queue_that_changes_meanwhile(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Only messages that were there all the time are compared; the broker may select the others, or not."""

    def queue(place: int) -> list[bytes]:
        return [CARS[:4], [CARS[3], CARS[4]], [*CARS[1:4], message("late")]][place]

    with StandIn(queue) as broker:
        code, _, err = ran(capfdbinary, "why", "--ask-broker", "weight > 3", broker.url())

    assert code == 0
    assert "the broker selects 1 of 3 messages, as IBM_MQ predicts" in err
    assert "3 more came or went meanwhile" in err


def test_text_of_a_broker_that_is_not_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a broker sends bytes that are not UTF-8, the error is about the broker, not about the selector."""

    def answered(*_: object) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    monkeypatch.setattr(link, "Link", answered)
    with pytest.raises(QueueError, match="the broker answers with text that is not UTF-8"):
        list(browse("amqp://localhost:1/q"))
