"""A link on which a broker copies the messages of a queue, and consumes none of them.

The link asks for copies, and the way of distribution that the broker answers is looked at before it gets any credit:
only if that is copy, messages flow. Each one is released all the same, so that a broker that answers what it does not
do gets it back. The end of the queue is where the broker returns credit that it was told to use up (drain): it has
sent all that it has. proton speaks AMQP; the socket and its encryption are Python's. Decodes no message. Follows *OASIS
AMQP 1.0*, Part 2, §2.6.7 Flow Control, and Part 3, §3.5.3 Source.
"""

from __future__ import annotations

import socket
import ssl
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from mqsel.carets import shortened_line
from mqsel.columns.wordings import package_missing
from mqsel.errors import MqselError, QueueError
from mqsel.files.dumps import MAX_MESSAGE
from mqsel.live.address import Address, Login

if TYPE_CHECKING:
    import proton

WINDOW = 1000  # messages that are asked for at once: of 100, a browse on this machine takes a tenth longer
ANSWER = 10  # seconds in which a broker answers
SILENCE = 60  # and in which it sends a message, or reports that there is none: it may have to look for it
_HEARTBEAT = 30  # seconds without any byte: the connection is lost
_PAUSES = (0.5, 1.5)  # seconds before a broker that does not answer is asked again
_FRAME = 1 << 16
# How often a broker has to send nothing where the end of the queue is no less than that, and the seconds between. Of
# 10,000 messages ActiveMQ Classic 6.3 returned the credit behind 1,200, while it paged in the next 400. Its AmqpSender
# answers a drain by a pull that is over at once, and the end of a browse in the same way: the two look alike. The depth
# of a queue is told by JMX, and by a plugin that is off by default and wants a message sent. So this is no proof: a
# broker that takes longer than the second that four pauses last to page in what is next ends a browse too early.
_IN_VAIN = {"ActiveMQ": 4}
_PAUSE = 0.1
_SELECTOR = "jms-selector"
# *Qpid filters*: the descriptor of apache.org:selector-filter:string.
_SELECTOR_FILTER = 0x0000468C00000004
_EXPORT = "export the queue by the tool of the broker, and name the file"
# What to do with a broker whose queues are not copied, by the name of the product that it gives.
_INSTEAD = {
    "RabbitMQ": "RabbitMQ copies only streams: bind a stream to the exchange of the queue, and name the stream."
    " Or read the queue by the management API: rabbitmqadmin get messages --queue NAME --ack-mode"
    " ack_requeue_true",
}
# How a product that refuses a link wants its queues named.
_NAMED = {"RabbitMQ": "RabbitMQ names its queues and streams /queues/NAME: write amqp://USER@HOST//queues/NAME"}
_WAYS = ("nothing", "copy", "move")  # by their number in proton


def arrivals(
    address: Address, login: Login, selector: str = "", *, follow: bool = False, limit: int | None = None
) -> Iterator[list[bytes]]:
    """Yield the messages of a queue, those together that arrive together, and close the link.

    Args:
        selector: by which the broker chooses messages; empty for all.
        follow: whether to go on at the end of the queue with what is sent to it then.
        limit: messages at most.

    Raises: QueueError: it cannot be browsed, or not to its end.
    """
    told = 0
    link = _opened(address, login, selector)
    try:
        for batch in link.batches(limit, follow=follow):
            told += len(batch)
            yield batch
    except QueueError:
        raise
    except Exception as error:  # noqa: BLE001 (of the system, of proton, and of texts that a broker sends as none)
        raise QueueError(
            f"the connection was lost after message {told:,}: {_why(error)}",
            path=address.name,
            number=told,
            hint="the messages up to there were read, each once; to browse again begins with the first",
        ) from None
    finally:
        link.close()


def _opened(address: Address, login: Login, selector: str) -> Link:
    """Return a link that may get credit. A broker that is starting is asked three times: nothing was read yet."""
    for pause in (*_PAUSES, 0):
        try:
            return Link(address, login, selector)
        except MqselError:
            raise
        except Exception as error:  # noqa: BLE001 (as above)
            if not pause or not isinstance(error, ConnectionError):
                hint = f"is a broker running there that speaks AMQP 1.0{' with TLS' * address.is_encrypted}?"
                if isinstance(error, UnicodeEncodeError):
                    hint = "check the address, the selector and the password: one of them cannot be sent"
                if isinstance(error, UnicodeDecodeError):
                    what = "the broker answers with text that is not UTF-8: expected AMQP 1.0"
                    raise QueueError(what, path=address.name, hint="check the port of the address") from None
                raise QueueError(f"the broker cannot be reached: {_why(error)}", path=address.name, hint=hint) from None
        time.sleep(pause)
    raise AssertionError


def _why(error: Exception) -> str:
    return shortened_line(getattr(error, "strerror", None) or str(error)) or type(error).__name__


class Link:
    """A link to a queue, open, on which the broker copies.

    Raises: OSError: the connection was lost, before or later. QueueError: the broker refuses.
    """

    def __init__(self, address: Address, login: Login, selector: str) -> None:
        try:
            import proton  # noqa: PLC0415 (optional)
        except ImportError as error:
            raise package_missing("a queue of a running broker", "python-qpid-proton", "amqp") from error
        self._proton = proton
        self._address = address
        self._selector = selector
        self._wait = float(ANSWER)  # seconds until a heartbeat is due
        self._socket = _connected(address, login)
        try:
            self._transport = proton.Transport()
            self._transport.max_frame_size = _FRAME
            self._transport.idle_timeout = _HEARTBEAT
            sasl = self._transport.sasl()
            sasl.allow_insecure_mechs = True  # proton does not know that the socket is encrypted, if it is
            sasl.allowed_mechs("PLAIN" if address.user else "EXTERNAL" if login.certificate else "ANONYMOUS")
            self._connection = proton.Connection()
            self._connection.container = f"mqsel-{uuid.uuid4()}"
            self._connection.hostname = address.host
            if address.user:
                self._connection.user = address.user
                self._connection.password = login.password or ""
            self._transport.bind(self._connection)
            self._connection.open()
            self._until(lambda: bool(self._connection.state & proton.Endpoint.REMOTE_ACTIVE), "that it opens")
            properties = self._connection.remote_properties
            self._product = str(properties.get("product", "")) if isinstance(properties, dict) else ""
            self._attach()
        except BaseException:
            self._socket.close()
            raise

    def batches(self, limit: int | None, *, follow: bool) -> Iterator[list[bytes]]:
        """Yield what arrives, up to the end of the queue, or for ever."""
        left = limit
        vain = 0
        while (left is None or left > 0) and vain < _IN_VAIN.get(self._product, 1):
            asked = WINDOW if left is None else min(WINDOW, left)
            number = 0
            self._receiver.drain(asked)
            for batch in self._drained():
                number += len(batch)
                yield batch
            left = None if left is None else left - number
            if self._product in _IN_VAIN:
                vain = 0 if number else vain + 1
                time.sleep(_PAUSE * vain)
            else:
                vain = number < asked
        if not follow or left == 0:
            return
        self._receiver.flow(WINDOW if left is None else left)
        while left is None or left > 0:
            if batch := self._arrived(_HEARTBEAT):
                yield batch
                if left is None:
                    self._receiver.flow(len(batch))
                else:
                    left -= len(batch)

    def close(self) -> None:
        """Close it; how the broker takes that is of no interest."""
        with self._socket, suppress(OSError, self._proton.ProtonException, QueueError):
            self._receiver.close()
            self._connection.close()
            self._until(lambda: False, "", 1.0)

    # Opening.

    def _attach(self) -> None:
        proton, session = self._proton, self._connection.session()
        session.open()
        self._receiver = receiver = session.receiver(self._connection.container)
        receiver.snd_settle_mode = proton.Link.SND_SETTLED
        source, queue = receiver.source, self._address.queue
        source.address = queue
        source.distribution_mode = proton.Terminus.DIST_MODE_COPY
        if "::" not in queue and "://" not in queue and not queue.startswith("/"):
            # An AMQP channel of IBM MQ takes other addresses for topics; a name that has its kind in it needs no word.
            source.capabilities.put_object(proton.symbol("queue"))
        filters = {}
        if self._selector:
            described = proton.Described(proton.ulong(_SELECTOR_FILTER), self._selector)
            filters[proton.symbol(_SELECTOR)] = described
        if self._product == "RabbitMQ":  # of a stream, or it would begin at its end
            name = proton.symbol("rabbitmq:stream-offset-spec")
            filters[name] = proton.Described(name, "first")
        if filters:
            source.filter.put_object(filters)
        receiver.open()
        active = proton.Endpoint.REMOTE_ACTIVE
        self._until(
            lambda: bool(self._ended() or (receiver.state & active and receiver.remote_source.type)),
            "that the link is attached",
        )
        if ended := self._ended():
            raise self._refused("the broker rejected the link", ended.remote_condition)
        mode = receiver.remote_source.distribution_mode
        if mode != proton.Terminus.DIST_MODE_COPY:
            raise QueueError(
                f"the broker answers {_WAYS[mode]} to a link that asks for copies: its messages would be taken",
                path=self._address.name,
                hint=_INSTEAD.get(self._product, _EXPORT),
            )
        if self._selector and _SELECTOR not in _object(receiver.remote_source.filter):
            raise QueueError(
                "the broker ignored the selector: it doesn't support selectors over AMQP",
                path=self._address.name,
                hint="leave out --ask-broker",
            )

    def _refused(self, what: str, condition: proton.Condition | None) -> QueueError:
        said = f": {_said(condition)}" if condition else ""
        return QueueError(f"{what}{said}", path=self._address.name, hint=_NAMED.get(self._product))

    # Reading.

    def _drained(self) -> Iterator[list[bytes]]:
        """Yield what arrives until the broker has used up its credit, or returned it."""
        receiver, answered = self._receiver, time.monotonic()
        while receiver.draining() or receiver.queued:
            if batch := self._arrived(SILENCE):
                yield batch
                answered = time.monotonic()
            elif time.monotonic() - answered > SILENCE:
                raise TimeoutError(
                    f"the broker sent no message for {SILENCE} seconds, and didn't report the end of the queue"
                )

    def _arrived(self, seconds: float) -> list[bytes]:
        """Wait for what comes next; return the messages that are complete, and release them."""
        receiver, batch = self._receiver, []
        self._step(seconds)
        while (delivery := receiver.current) is not None:
            if delivery.partial and not delivery.aborted:
                if delivery.pending > MAX_MESSAGE:
                    raise OSError(f"the next message is longer than {MAX_MESSAGE:,} bytes")
                break
            if not delivery.aborted:
                batch.append(bytes(receiver.recv(delivery.pending) or b""))
            receiver.advance()
            delivery.settle()
        return batch

    # The connection.

    def _until(self, is_done: Callable[[], bool], what: str, seconds: float | None = None) -> None:
        seconds = ANSWER if seconds is None else seconds
        end = time.monotonic() + seconds
        while not is_done():
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer for {seconds:g} seconds: expected {what}")
            self._step(left)

    def _step(self, seconds: float) -> None:
        """Send what there is to send, and wait for what comes next: not longer than this, or until a heartbeat."""
        transport = self._transport
        self._raise_closed()  # before it waits: what came together with the end was taken
        try:
            self._send()
            self._socket.settimeout(max(min(seconds, self._wait), 0.001))
            with suppress(TimeoutError):
                data = self._socket.recv(max(transport.capacity(), 1))
                if data:
                    transport.push(data)
                else:
                    raise ConnectionError("the broker closed the connection without a reason")
            now = time.monotonic()
            due = transport.tick(now)
            self._wait = due - now if due else float(_HEARTBEAT)
            self._send()
        except self._proton.ProtonException as error:
            raise ConnectionError(str(error)) from None

    def _send(self) -> None:
        transport = self._transport
        while (size := transport.pending()) > 0:
            self._socket.settimeout(ANSWER)
            self._socket.sendall(transport.peek(size) or b"")
            transport.pop(size)

    def _ended(self) -> proton.Endpoint | None:
        """Return the link, or its session, if the broker has closed it."""
        receiver = getattr(self, "_receiver", None)
        ends = () if receiver is None else (receiver, receiver.session)
        return next((one for one in ends if one.state & self._proton.Endpoint.REMOTE_CLOSED), None)

    def _raise_closed(self) -> None:
        closed = self._proton.Endpoint.REMOTE_CLOSED
        transport, connection = self._transport, self._connection
        if (condition := transport.condition) is not None:
            if condition.name == "amqp:unauthorized-access":
                raise QueueError(
                    f"the broker does not let in {self._address.user or 'a reader without a name'}",
                    path=self._address.name,
                    hint="check the user and the password",
                )
            raise ConnectionError(_said(condition))
        if connection.state & closed:
            raise ConnectionError(_said(connection.remote_condition) or "the broker closed it")
        if (ended := self._ended()) and self._receiver.credit:
            raise ConnectionError(_said(ended.remote_condition) or "the broker closed the link")
        if transport.capacity() < 0:
            raise ConnectionError("the broker closed the connection without a reason")


def _object(data: proton.Data) -> dict[object, object]:
    """Return the map that a field of a frame is; an empty one for none."""
    data.rewind()
    value = data.get_object() if data.next() else None
    return value if isinstance(value, dict) else {}


def _said(condition: proton.Condition | None) -> str:
    """Return what a broker says of an error."""
    if condition is None:
        return ""
    text = shortened_line(condition.description or "")
    return f"{text} ({condition.name})" if text else str(condition.name)


def _connected(address: Address, login: Login) -> socket.socket:
    """Return the socket of a connection, encrypted if the address wants it; the broker's certificate is verified."""
    context = None
    if address.is_encrypted:
        try:
            context = ssl.create_default_context(cafile=login.ca)
            if login.certificate:
                context.load_cert_chain(login.certificate, login.key, lambda: "")  # or it would ask on the terminal
        except (OSError, ValueError) as error:
            files = ", ".join(filter(None, (login.ca, login.certificate, login.key)))
            why = f"the certificates cannot be read from {files}: {_why(error)}"
            raise QueueError(why, path=address.name) from None
    elif login.ca or login.certificate:
        hint = f"amqps{address.name[address.name.index(':') :]}"
        raise QueueError("certificates are only for encrypted connections", path=address.name, hint=hint)
    connected = socket.create_connection((address.host, address.port), ANSWER)
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected if context is None else context.wrap_socket(connected, server_hostname=address.host)
    except ssl.SSLCertVerificationError as error:
        connected.close()
        raise QueueError(
            f"the broker's certificate was rejected: {error.verify_message}",
            path=address.name,
            hint="name the authority that signed it by --ca, and the host as the certificate does",
        ) from None
    except ssl.SSLError as error:
        connected.close()
        raise ConnectionError(f"no TLS: {error.reason or error}") from None
    except BaseException:
        connected.close()
        raise
