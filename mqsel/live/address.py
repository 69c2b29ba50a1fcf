"""Addresses of queues, ``amqp://USER@HOST:PORT/QUEUE``, and what a broker is told to let somebody in.

An address never has a password: it stands in logs, in lists of processes and in the history of a shell. Connects to
nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from mqsel.carets import nameable
from mqsel.errors import QueueError

PORTS = {"amqp": 5672, "amqps": 5671}
PASSWORD = "MQSEL_PASSWORD"  # noqa: S105 (the variable of the environment that has it)
_AUTHORITY = re.compile(r"(?:(?P<user>[^@]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]@:]+)(?::(?P<port>[0-9]{1,5}))?")
_SERVICE_BUS = re.compile(r"(?i)\.servicebus\.[a-z.]+")


class Address(NamedTuple):
    """Where a queue is.

    Attributes:
        name: the address as it is written.
        user: who reads it; empty for nobody in particular.
        is_encrypted: whether the connection is.
    """

    name: str
    host: str
    port: int
    user: str
    queue: str
    is_encrypted: bool


class Login(NamedTuple):
    """What makes a broker and its reader trust each other.

    Attributes:
        password: of the user of the address.
        ca: the file of the authorities that may have signed the broker's certificate; None for those of the system.
        certificate, key: files of the reader's own, for brokers that ask for one; the key may stand in the first.
    """

    password: str | None = None
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


def read_address(url: str) -> Address:
    """Read the address of a queue.

    Raises: QueueError: it is none, has a password, or is one of a broker whose queues cannot be browsed by AMQP.
    """
    name = nameable(url)
    scheme, _, rest = url.partition("://")
    authority, _, queue = rest.partition("/")
    parts = _AUTHORITY.fullmatch(authority)
    user = (parts and parts["user"]) or ""
    if ":" in user or (name != url and not parts):
        hint = f"write USER@HOST; the password is read from {PASSWORD}, from --password-file, or asked for"
        raise QueueError("the address contains a password: other users can read command lines", path=name, hint=hint)
    if scheme.lower() not in PORTS or parts is None or int(parts["port"] or 0) > 65535:
        raise QueueError("no address of a queue: expected amqp://USER@HOST:PORT/QUEUE", path=name)
    if not queue:
        raise QueueError("the address names no queue", path=name, hint=f"write {url.rstrip('/')}/QUEUE")
    if odd := re.search("[?#]", queue):
        hint = f"if it is part of the name of the queue, write %{ord(odd[0]):02X}"
        raise QueueError(f"the address continues after '{odd[0]}': expected its end", path=name, hint=hint)
    host = parts["host"].strip("[]")
    if _SERVICE_BUS.search(host):
        raise QueueError(
            "Azure Service Bus can't send copies of messages over AMQP: mqsel would have to remove them",
            path=name,
            hint="save the messages with Service Bus Explorer, and read its JSON",
        )
    port = int(parts["port"] or PORTS[scheme.lower()])
    return Address(name, host, port, unquote(user), unquote(queue), scheme.lower() == "amqps")
