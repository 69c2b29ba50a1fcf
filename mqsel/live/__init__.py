"""Queues of running brokers, browsed by AMQP 1.0: their messages are copied, none is consumed.

`browse` yields the bytes of each message, which the format ``amqp`` reads. Needs the extra ``amqp``. Knows no selectors
but as texts for the broker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from mqsel.errors import ArgumentError, QueueError, as_flag, check_count, type_name
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
    """Yield the messages of a queue, as the broker sends them, in its order; none is consumed.

    A message that is in the queue from the first to the last is yielded once. Whether one is that comes or goes
    meanwhile is for the broker to decide. ActiveMQ Classic alone does not say where a queue ends: there it is where
    nothing came for four drains within a second, and a browse may end early if the broker is slower.

    Args:
        url: ``amqp://USER@HOST:PORT/QUEUE``, or ``amqps://``; without a user the broker is asked to let in anybody.
        selector: by which the broker chooses messages; empty for all.
        follow: go on at the end of the queue with what is sent to it then.
        limit: messages at most.
        password: of the user; by default that of the environment, MQSEL_PASSWORD.
        ca: a file of authorities that may have signed the broker's certificate; by default those of the system.
        certificate, key: files of a certificate of one's own, and of its key; without a user it says who reads (SASL
            EXTERNAL).

    Raises: QueueError: the queue cannot be browsed, or not to its end.
    """
    texts = {"the address": url, "selector": selector}
    optional = {"password": password, "ca": ca, "certificate": certificate, "key": key}
    for name, given in (*texts.items(), *optional.items()):
        if not (isinstance(given, str) or (given is None and name in optional)):  # which may be, or have, a password
            raise ArgumentError(f"{name} is a Python {type_name(given)}: expected a string")
    follow = as_flag("follow", follow)
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
