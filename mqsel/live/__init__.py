"""Browse the queues of running brokers by AMQP 1.0. mqsel reads copies of the messages and never removes one.

`browse` yields the bytes of each message, which the format ``amqp`` reads. It needs the extra ``amqp``. A selector is
only sent to the broker as text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from mqsel.arguments import check_count
from mqsel.carets import type_name
from mqsel.errors import ArgumentError, QueueError
from mqsel.files._splitters import Received
from mqsel.files.dumps import MAX_MESSAGE
from mqsel.live.address import PASSWORD, Login, read_address
from mqsel.live.link import arrivals

__all__ = ["browse"]


def browse(
    url: str,
    *,
    selector: str = "",
    follow: bool = False,
    limit: int | None = None,
    password: str | None = None,
    ca: str | None = None,
    certificate: str | None = None,
    key: str | None = None,
) -> Iterator[bytes]:
    """Yield copies of the messages in a queue of a running broker. mqsel never removes a message.

    The messages are in the broker's order.

    A message that stays in the queue is yielded once. The broker decides whether you get a message that arrives or
    leaves meanwhile. Only ActiveMQ Classic doesn't report the end of a queue. There mqsel stops if nothing arrives
    during four requests within a second, so a slow broker may end a browse early.

    Args:
        url: ``amqp://USER@HOST:PORT/QUEUE``, or ``amqps://`` for TLS. Without a user mqsel logs in anonymously.
        selector: A selector that the broker applies. The default is empty: all messages.
        follow: Whether to wait for new messages at the end of the queue. The default is False.
        limit: The greatest number of messages. The default is None: no limit.
        password: The password of the user. The default is the environment variable MQSEL_PASSWORD.
        ca: A file of trusted certificate authorities. The default is those of the system.
        certificate: A file with a client certificate, which identifies you if the URL has no user (SASL EXTERNAL).
        key: A file with the private key of *certificate*.

    Raises: QueueError: if the queue can't be browsed, or not to its end.
    """
    texts = {"the address": url, "selector": selector}
    optional = {"password": password, "ca": ca, "certificate": certificate, "key": key}
    for name, given in (*texts.items(), *optional.items()):
        if not (isinstance(given, str) or (given is None and name in optional)):  # which may be, or have, a password
            raise ArgumentError(f"{name} is a Python {type_name(given)}: expected a string")
    follow = bool(follow)
    if limit is not None:
        check_count("limit", limit, "a count of messages, or None")
    address = read_address(url)
    if address.user and password is None:
        password = os.environ.get(PASSWORD)
        if password is None:
            raise QueueError(f"no password of {address.user}", path=address.name, hint=f"set {PASSWORD}")
    login = Login(password, ca, certificate, key)
    for batch in arrivals(address, login, selector, follow=follow, limit=limit):
        yield from batch


def units(batches: Callable[[], Iterator[list[bytes]]]) -> Iterator[Received]:
    """Yield what hands on the messages of a queue, as `mqsel.files.framings.splits` does those of a file."""
    received = Received("", MAX_MESSAGE)
    for batch in batches():
        received.receive(batch)
        yield received
