"""A stand-in for a broker, on proton's server side: it answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import proton

COPY, MOVE, NOTHING = (
    proton.Terminus.DIST_MODE_COPY,
    proton.Terminus.DIST_MODE_MOVE,
    proton.Terminus.DIST_MODE_UNSPECIFIED,
)
_UNOPENED = proton.Endpoint.LOCAL_UNINIT | proton.Endpoint.REMOTE_ACTIVE
_OPEN = proton.Endpoint.LOCAL_ACTIVE | proton.Endpoint.REMOTE_ACTIVE
_SASL = b"AMQP\x03\x01\x00\x00"


def message(body: object = "x", **fields: Any) -> bytes:
    """Return the bytes of a message."""
    return proton.Message(body=body, **fields).encode()


def _frame(body: bytes) -> bytes:
    return (8 + len(body)).to_bytes(4, "big") + b"\x02\x01\0\0" + body


class StandIn:
    """A broker with one queue; as a context manager it runs.

    Args:
        messages: of the queue, or what returns them for the number of a browse, from 0.
        mode: of distribution, as it is answered.
        product: as it is answered.
        mechanism: of SASL, that is offered.
        password: that is let in; None for any.
        drop: after so many messages the connection breaks.
        ends: link, session or connection: what is closed before the connection breaks, or to refuse a link.
        deaf: so many connections are closed at once.
        refusal: the condition with which a link is refused.
        context: for TLS.
        ignores: the selector is not among the filters that are answered.
        drains: credit is returned at the end of the queue.
        mangle: changes the bytes that are sent.

    Attributes:
        inits: what was sent to be let in.
        attempts: connections.
        links: sources of links that were asked for: address, mode, capabilities, filters.
        credit: that links had.
        late: messages that are sent when they are there.
    """

    def __init__(
        self,
        messages: Sequence[bytes] | Callable[[int], Sequence[bytes]] = (),
        *,
        mode: int = COPY,
        product: str = "stand-in",
        mechanism: bytes = b"ANONYMOUS",
        password: bytes | None = None,
        drop: int | None = None,
        ends: str = "",
        deaf: int = 0,
        refusal: str = "",
        context: ssl.SSLContext | None = None,
        ignores: bool = False,
        drains: bool = True,
        mangle: Callable[[bytes], bytes] = bytes,
    ) -> None:
        self.messages = messages
        self.mode, self.product, self.mechanism, self.password = mode, product, mechanism, password
        self.drop, self.ends, self.deaf, self.refusal, self.context = drop, ends, deaf, refusal, context
        self.ignores, self.drains, self.mangle = ignores, drains, mangle
        self.inits: list[bytes] = []
        self.attempts = self.credit = 0
        self.links: list[tuple[Any, ...]] = []
        self.late: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]

    def url(self, user: str = "", host: str = "127.0.0.1") -> str:
        return f"amqp{'s' * (self.context is not None)}://{user}{'@' * bool(user)}{host}:{self.port}/orders"

    def __enter__(self) -> StandIn:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes who waits for a connection
        self._server.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                accepted, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(accepted,), daemon=True).start()

    def _serve(self, connected: socket.socket) -> None:
        self.attempts += 1
        with suppress(OSError, proton.ProtonException), connected:
            if self.attempts <= self.deaf:
                return
            if self.context is not None:
                connected = self.context.wrap_socket(connected, server_side=True)
            with connected:
                self._authenticate(connected)
                self._speak(connected)

    def _authenticate(self, connected: socket.socket) -> None:
        if connected.recv(8) != _SASL:
            raise ConnectionError
        name = b"\xa3" + bytes([len(self.mechanism)]) + self.mechanism
        connected.sendall(_SASL + _frame(b"\0S@\xc0" + bytes([1 + len(name), 1]) + name))
        size = int.from_bytes(connected.recv(4), "big")
        if size < 4:  # it is gone
            raise ConnectionError
        self.inits.append(connected.recv(size - 4))
        is_in = self.password is None or self.inits[-1].endswith(b"\0" + self.password)
        connected.sendall(_frame(b"\0SD\xc0\x03\x01\x50" + bytes([not is_in])))

    def _speak(self, connected: socket.socket) -> None:
        transport, connection = proton.Transport(proton.Transport.SERVER), proton.Connection()
        transport.bind(connection)
        queue: list[bytes] | None = None
        connected.settimeout(0.05)
        while True:
            try:
                data = connected.recv(max(transport.capacity(), 1))
                if not data:
                    return
                transport.push(data)
            except TimeoutError:
                pass
            if connection.state == _UNOPENED:
                connection.container, connection.properties = "stand-in", {proton.symbol("product"): self.product}
                connection.open()
            if session := connection.session_head(_UNOPENED):
                session.open()
            if link := connection.link_head(_UNOPENED):
                queue = self._opened(link)
            link = connection.link_head(_OPEN)
            if link and queue is not None and self._sent(link, queue):
                self._flush(connected, transport)
                return
            if connection.state & proton.Endpoint.REMOTE_CLOSED:
                connection.close()
            self._flush(connected, transport)

    def _opened(self, link: proton.Link) -> list[bytes] | None:
        source = link.remote_source
        filters = _object(source.filter) or {}
        place = len(self.links)
        self.links.append((source.address, source.distribution_mode, _object(source.capabilities), filters))
        if self.refusal:
            if not self.ends:
                link.open()
            self._end(link, self.refusal)
            return None
        link.source.copy(source)
        link.source.distribution_mode = self.mode
        if self.ignores:
            link.source.filter.clear()
        link.open()
        return [*(self.messages(place) if callable(self.messages) else self.messages)]

    def _sent(self, link: proton.Link, queue: list[bytes]) -> bool:
        """Send what there is credit for; report whether the connection is to break."""
        self.credit += link.credit
        queue += self.late
        self.late = []
        while link.credit > 0 and queue:
            delivery = link.delivery(str(len(queue)))
            link.send(queue.pop(0))
            link.advance()
            delivery.settle()
            if self.drop is not None:
                self.drop -= 1
                if self.drop == 0:
                    if self.ends:
                        self._end(link, "amqp:internal-error")
                    return True
        if link.drain_mode and self.drains:
            link.drained()
        return False

    def _end(self, link: proton.Link, condition: str) -> None:
        ended = {"session": link.session, "connection": link.session.connection}.get(self.ends, link)
        ended.condition = proton.Condition(condition, "the stand-in was told so")
        ended.close()

    def _flush(self, connected: socket.socket, transport: proton.Transport) -> None:
        while (size := transport.pending()) > 0:
            connected.settimeout(5)
            connected.sendall(self.mangle(bytes(transport.peek(size) or b"")))
            transport.pop(size)
            connected.settimeout(0.05)


def _object(data: proton.Data) -> Any:
    data.rewind()
    return data.get_object() if data.next() else None
