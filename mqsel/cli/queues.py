"""Queues of running brokers among the files of a command: where messages come from, and the passwords for that."""

from __future__ import annotations

import argparse
import os
import sys
from functools import cache, partial
from typing import Any

from mqsel.errors import MqselError
from mqsel.files.opening import is_queue
from mqsel.files.parts import Named
from mqsel.files.wordings import fault
from mqsel.live import units
from mqsel.live.address import PASSWORD, Address, Login, read_address
from mqsel.live.asking import Question
from mqsel.live.link import arrivals
from mqsel.matcher import Matcher


def sourced(arguments: argparse.Namespace, files: list[Named], selects: Any) -> tuple[list[Named], list[Question]]:
    """Return files whose queues have a source, and what their brokers are asked.

    Raises: MqselError: the arguments do not fit a queue, or its address is none.
    """
    if "ca" not in arguments:  # the command browses no queues: to open one as a file is an error
        return files, []
    is_asking, is_following = getattr(arguments, "ask_broker", False), getattr(arguments, "follow", False)
    queues = sum(is_queue(one.path) for one in files)
    if (is_asking or is_following) and queues != len(files):
        option = "--ask-broker" if is_asking else "--follow"
        raise MqselError(f"{option} is for queues of running brokers: a file is also named")
    if is_following and queues > 1:
        raise MqselError("--follow waits at the end of one queue: several are named", hint="start one mqsel for each")
    if is_asking and is_following:
        raise MqselError("--ask-broker compares all messages of a queue: --follow has no end")
    if is_asking and any(
        getattr(arguments, name, None) for name in ("limit", "max_matches", "files_with_matches", "quiet")
    ):
        raise MqselError(
            "--ask-broker compares all messages of a queue: --max-matches, --limit, -l and -q leave some out"
        )
    if queues and (arguments.jobs or 1) > 1:
        raise MqselError("-j is only for files: one process reads a queue", hint="leave it out")
    made: list[Named] = []
    questions = []
    for one in files:
        if not is_queue(one.path):
            made.append(one)
            continue
        address = read_address(one.path)
        login = Login(_password(address, arguments.password_file), arguments.ca, arguments.cert, arguments.key)
        if is_asking:
            assert isinstance(selects, Matcher)
            questions.append(Question(selects, address.name, partial(arrivals, address, login)))
            batches = questions[-1].batches
        else:
            batches = partial(arrivals, address, login, follow=is_following, limit=arguments.limit)
        made.append(one._replace(source=partial(units, batches)))
    return made, questions


@cache  # or it would be asked for again where a queue is read twice
def _password(address: Address, path: str | None) -> str | None:
    """Return the password of the user of an address; None without a user.

    Raises: MqselError: there is none.
    """
    if not address.user:
        return None
    if path is not None:
        try:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123 (without a queue nothing needs pathlib)
                return file.readline().rstrip("\r\n")
        except (OSError, ValueError) as error:
            raise MqselError(f"{path}: the password cannot be read: {fault(path, error)}") from None
    if (password := os.environ.get(PASSWORD)) is not None:
        return password
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        hint = f"set {PASSWORD}, or name a file that has it by --password-file"
        raise MqselError(f"{address.name}: no password of {address.user}", hint=hint)
    from getpass import getpass  # noqa: PLC0415 (rarely needed)

    try:
        return getpass(f"password of {address.user} at {address.host}: ")
    except EOFError:
        raise MqselError(f"{address.name}: no password of {address.user}") from None
