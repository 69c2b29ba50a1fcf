"""Invariant: whatever messages do while they are read, the process lives, and what is quiet is answered rightly.

    python tests/fuzz/fuzz_hostile.py --seconds 60 [--seed 1]

Threads share matchers, lists, Records and streams, and change them while the others read. Values, keys, mappings,
iterators and errors run code in the middle of an evaluation: it empties the list, refills the Record, collects, enters
the stream it is read by, closes it, calls another matcher, raises. Half of the rounds begin in a fresh reference cycle.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
import random
import sys
import threading
import time
from collections import UserDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzzing import begun

import mqsel
from mqsel.formats import mq
from mqsel.values import Float32, Int8, Int32

NAMES = ("a", "b", "c")
WRAPPED = (Int8(5), Float32(0.1), int.__new__(Int32, 1 << 70))
DEPTH = threading.local()
TEXTS = (
    "a = 'xxxx' OR b LIKE '%yy%' OR c IN ('zzz', 'xxxx') OR a = b",
    "a = 5 AND b + c > 2 OR NOT a BETWEEN 1 AND 9",
    "c IS NOT NULL AND (a = c OR b = c OR a LIKE 'x_x%')",
)
QUIET = [{"a": text * 4, "b": text * 3, "c": "zzz"} for text in "xyz"] + [{"a": 5, "b": 2, "c": 1.5}, {}]


class World:
    """What the threads share."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        layouts: list[Any] = [
            None,
            NAMES,
            [(name, None) for name in NAMES],
            [("a", "int8"), ("b", None), ("c", "string")],
        ]
        compiled = [mqsel.compile(text, schema=layout) for text in TEXTS for layout in layouts]
        self.matchers: list[Any] = [pickle.loads(pickle.dumps(matcher)) for matcher in compiled]
        self.messages: list[Any] = []
        self.records = [mqsel.Record(NAMES) for _ in range(3)]
        self.streams: list[Any] = []
        self.decoders = [matcher.decoder("mq") for matcher in compiled[:3]]

    def act(self) -> None:
        """Do what code of others may do, wherever it is called."""
        rng = self.rng
        depth = getattr(DEPTH, "now", 0)
        DEPTH.now = depth + 1
        try:
            for _ in range(rng.randrange(3) if depth < 3 else 0):
                self.step(rng)
        finally:
            DEPTH.now = depth

    def step(self, rng: random.Random) -> None:
        match rng.randrange(12):
            case 0:
                self.messages.clear()
            case 1:
                self.messages.extend(self.message() for _ in range(rng.randrange(9)))
            case 2:
                for message in self.messages[: rng.randrange(9)]:
                    with contextlib.suppress(AttributeError):
                        message.clear()
            case 3:
                self.trial(rng.choice(self.records).fill, [self.value() for _ in NAMES])
            case 4:
                gc.collect(rng.choice((0, 0, 0, 1, 2)))
            # Python's choice asks twice for the length, and never ends where another thread empties the list between:
            # each chooses from a copy.
            case 5 if streams := self.streams[:]:
                self.trial(next, rng.choice(streams))
            case 6 if streams := self.streams[:]:
                rng.choice(streams).close()
                del self.streams[rng.randrange(len(self.streams)) :]
            case 7:
                self.trial(rng.choice(self.matchers).matches, rng.choice(QUIET))
            case 8:
                place = rng.randrange(len(self.matchers))
                self.matchers[place] = pickle.loads(pickle.dumps(self.matchers[place]))
            case 9:
                self.trial(rng.choice(self.decoders), mq.encode({}, {"a": 5, "b": "yy"}))
            case 10:
                time.sleep(0)
            case _:
                if rng.random() < 0.3:
                    raise rng.choice((ValueError, StopIteration, mqsel.errors.PropertyTypeError))("hostile")

    def trial(self, call: Callable[..., Any], *arguments: Any) -> None:
        with contextlib.suppress(mqsel.MqselError, ValueError, StopIteration, RuntimeError, IndexError, RecursionError):
            call(*arguments)

    def value(self) -> Any:
        rng = self.rng
        if rng.random() < 0.85:
            return rng.choice(("x" * rng.randrange(9), "yy", 5, 2.5, None, True, b"xxxx", 1 << 80, *WRAPPED))
        return rng.choice((object, bytearray, lambda: Name(self, "xxxx"), lambda: Scalar(self), lambda: Last(self)))()

    def message(self) -> Any:
        rng = self.rng
        values = [self.value() for _ in NAMES]
        named = dict(zip(NAMES, values, strict=True))
        match rng.randrange(9):
            case 0:
                return tuple(values[: rng.choice((3, 3, 3, 2))])
            case 1:
                return values
            case 2:
                return rng.choice(self.records)
            case 3:
                return Lookup(self, named)
            case 4:
                return {Key(self, rng.choice(NAMES)): 1, **named}
            case 5:
                return Row(values)
            case 6:
                return dict(rng.choice(QUIET))
            case _:
                return named

    def read(self) -> None:
        """Read the messages in one of the ways."""
        rng = self.rng
        self.messages.extend(self.message() for _ in range(rng.randrange(30)))
        matcher = rng.choice(self.matchers)
        source = rng.choice((self.messages, self.messages, tuple(self.messages), Source(self)))
        decode = [None, None, lambda raw: (self.act(), raw)[1], lambda _: rng.choice(self.records)]
        stream = mqsel.machine._stream.Selection(matcher, source, rng.random() < 0.8, rng.choice(decode))
        self.streams.append(stream)
        if isinstance(source, Source) and rng.random() < 0.5:
            source.stream = stream
        for _ in range(rng.randrange(60)):
            self.trial(next, stream)
        del stream, source
        for message in self.messages[:3]:
            self.trial(rng.choice((matcher.matches, matcher.evaluate, matcher.explain)), message)
        del self.streams[:-5], self.messages[:-500]


class Hostile:
    """What runs the world's code when it is asked."""

    def __init__(self, world: World, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.world = world


class Key(Hostile):
    """A key that stands where a property is looked for."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world)
        self.number = hash(name)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        self.world.act()
        return False


class Lookup(Hostile, UserDict):  # type: ignore[type-arg]
    """A mapping."""

    def get(self, name: str, default: Any = None) -> Any:
        self.world.act()
        return self.data.get(name, default)


class Row(tuple):  # type: ignore[type-arg]
    """A sequence that lays itself out."""

    __slots__ = ()
    _fields = NAMES


class Name(str):
    """A string of a subclass."""

    __slots__ = ("world",)

    def __new__(cls, world: World, text: str) -> Name:
        made = super().__new__(cls, text)
        made.world = world
        return made

    def __str__(self) -> str:
        self.world.act()
        return self

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.world.act()


class Scalar(Hostile):
    """What looks like a scalar of numpy."""

    __module__ = "numpy"

    def __int__(self) -> int:
        self.world.act()
        return 5


Scalar.__name__ = "int32"


class Last(Hostile):
    """A value that is none, and does something when it goes."""

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.world.act()


class Source(Hostile):
    """An input that may be in a cycle with the stream that reads it."""

    left = 50
    stream: Any = None

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        self.world.act()
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.world.message()


def churn(world: World, stop: float, failed: list[BaseException]) -> None:
    matcher = mqsel.compile(TEXTS[0])
    want = [matcher.matches(dict(message)) for message in QUIET]
    try:
        while time.monotonic() < stop and not failed:
            world.trial(world.act)
            world.trial(world.read)
            # What nobody touches is answered alike in the midst of it all.
            assert [matcher.matches(message) for message in QUIET] == want
            assert list(matcher.filter(QUIET)) == [message for message, right in zip(QUIET, want, strict=True) if right]
    except BaseException as error:  # noqa: BLE001 (another thread shows it)
        failed.append(error)


def main() -> int:
    seed, is_time = begun(__doc__)
    sys.setswitchinterval(1e-6)
    rounds = 0
    failed: list[BaseException] = []
    while is_time() and not failed:
        rounds += 1
        world = World(random.Random(seed + rounds))
        until = time.monotonic() + 0.5
        threads = [threading.Thread(target=churn, args=(world, until, failed)) for _ in range(3)]
        sys.setprofile(
            None
            if rounds % 4
            else lambda *_, world=world: world.trial(world.act) if world.rng.random() < 0.01 else None
        )
        for thread in threads:
            thread.start()
        churn(world, until, failed)
        for thread in threads:
            thread.join()
        sys.setprofile(None)
        del world, threads
        gc.collect()
    if failed:
        raise failed[0]
    print(f"{rounds} rounds")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
