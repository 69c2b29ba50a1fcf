"""Running one selector over one message, and the messages that tests of the machine have in common."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import mqsel
from mqsel.machine import _vm
from mqsel.values import Float32, Int8, Int16, Int32, Truth

JMS = mqsel.JMS
INT64_MAX = (1 << 63) - 1
# Tests of columns on Spark take half as long without a second compiler and a parallel collector: their JVM lives for
# minutes, and compiles a class for each query.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
TESTS = Path(__file__).resolve().parent
CLASSES = TESTS.parent / "build" / "spark.jsa"
# It may be missing. Java would warn of one that it cannot use among the lines of the command that is tested.
SPARK_JAVA = f'{JAVA} -XX:SharedArchiveFile="{CLASSES}" -Xlog:disable'
# A local server of Spark Connect listens at port 15002, where a second one fails to start; with this, at a free port.
# One test does without, as the executors' folders would be elsewhere: it alone has 15002.
OWN_PORT = {"SPARK_TESTING": "1"}


@contextlib.contextmanager
def making(made: Path, *of: object) -> Iterator[bool]:
    """Report whether what is shared by all tests has to be made: it is not there, or was made of something else.

    Other processes of a run wait until it is made.

    Args:
        made: a file that notes what it was made of, once it is.
        of: texts and paths of which it is made.
    """
    import fcntl

    made.parent.mkdir(parents=True, exist_ok=True)
    with made.open("a+") as note:
        fcntl.flock(note, fcntl.LOCK_EX)
        note.seek(0)
        found, wanted = note.read(), "".join(f"{one}\n" for one in of)
        yield found != wanted
        note.truncate(0)
        note.write(wanted)


def keep_classes() -> None:
    """Write the classes of Spark as Java has them once they are loaded, unless they are there.

    Spark then starts in 5.6 s of CPU in place of 10.7, its first query included; the archive takes 49 s, once.
    """
    import pyspark

    with making(CLASSES.with_suffix(".made"), pyspark.__file__, pyspark.__version__) as missing:
        if missing:
            with tempfile.TemporaryDirectory(dir=CLASSES.parent) as folder:
                written = Path(folder, "spark.jsa")
                job = [sys.executable, TESTS / "spark" / "cluster_jobs.py", "strategies", "100", f"{folder}/rows"]
                options = {"SPARK_SUBMIT_OPTS": f'{JAVA} -XX:ArchiveClassesAtExit="{written}" -Xlog:disable'}
                options |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
                # What it prints ends when Java does, which outlives the driver.
                subprocess.run(job, env={**os.environ, **options}, capture_output=True, check=True)
                written.replace(CLASSES)


def free_port(count: int = 1) -> int:
    """Return the first of so many free ports, one after the other.

    They are below those that a system gives to whoever asks for any: nobody else has one before its broker takes it.
    """
    while True:
        first = random.SystemRandom().randrange(20_000, 30_000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for port in range(first, first + count):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return first


@contextlib.contextmanager
def interrupted(after: float, error: type[BaseException]) -> Iterator[None]:
    """Raise an error from a signal after so many seconds, and expect it.

    They are seconds of this process: on a busy machine others pass before what is interrupted has begun.
    """

    def stop(*_: object) -> None:
        raise error

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, after)
    try:
        with pytest.raises(error):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def growth(count: Callable[[], int], work: Callable[[], object], limit: int) -> float:
    """Return by how much a count changes while something is done, the least of three times, or the first below a limit.

    What tests before have left comes and goes; a leak is there each time.
    """
    least = math.inf
    for _ in range(3):
        gc.collect()
        before = count()
        work()
        gc.collect()
        least = min(least, abs(count() - before))
        if least < limit:
            break
    return least


WRAPPERS: dict[str, Callable[[Any], Any]] = {"int8": Int8, "int16": Int16, "int32": Int32, "float32": Float32}


def truth(selector: str, message: Any, **options: Any) -> str:
    """Return the four-valued result; the quick code must agree on "is it TRUE"."""
    matcher = mqsel.compile(selector, **options)
    result = Truth(_vm.Machine(matcher.program, matcher.schema).truth(message))
    assert matcher.matches(message) is (result is Truth.TRUE)
    return result.name


def read(value: Any) -> tuple[str, Any]:
    """Return the type and the value that the machine finds in a Python object."""
    return mqsel.compile("x IS NULL").explain({"x": value}).properties["x"]


def same(left: Any, right: Any) -> bool:
    """Report whether two values are of one Python type and equal, bit for bit where they are floats."""
    if isinstance(left, float) and type(left) is type(right):
        return repr(left) == repr(right)
    return type(left) is type(right) and left == right


class Color(str):
    """A str that lies about its text."""

    __slots__ = ()

    def __str__(self) -> str:
        return "lie"

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


class Blob(bytes):
    """Bytes that lie about themselves."""

    def __bytes__(self) -> bytes:
        return b"lie"

    def __getitem__(self, key: Any) -> Any:
        return b"lie"


class Lookup(Mapping[str, Any]):
    """A Mapping written by a user."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Line(tuple):  # type: ignore[type-arg]
    """A tuple that names its positions, as a namedtuple does, whatever the names are."""

    __slots__ = ()
    _fields: Any = ()


def _line(message: dict[str, Any]) -> Line:
    return type("Line", (Line,), {"_fields": tuple(message)})(message.values())


class Pair(NamedTuple):
    """Two positions."""

    a: Any
    b: Any
