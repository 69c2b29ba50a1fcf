"""What fuzzers share: how long one runs, the seed that brings a run back, and the dialects that they draw."""

from __future__ import annotations

import argparse
import array
import json
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import strategies
from products import typed

from mqsel.language.dialect import PRESETS, Dialect

DIALECTS = {**strategies.DIALECTS, **{name: PRESETS[name] for name in typed.BROKERS}}


def begun(about: str | None) -> tuple[int, Callable[[], bool]]:
    """Read --seconds and --seed, and print the seed.

    Returns: the seed, and what tells whether there is time left.
    """
    arguments = argparse.ArgumentParser(description=about)
    arguments.add_argument("--seconds", type=float, default=10)
    arguments.add_argument("--seed", type=int, default=None)
    options = arguments.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    stop = time.monotonic() + options.seconds
    return seed, lambda: time.monotonic() < stop


class Column:
    """An Arrow column of one message, in memory that ends with it: what reads on is seen by a sanitizer."""

    type = "binary"
    offset = 0

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def __len__(self) -> int:
        return 1

    def buffers(self) -> list[Any]:
        return [None, struct.pack("ii", 0, len(self.raw)), array.array("B", self.raw)]


def corpus(name: str, longest: int) -> list[bytes]:
    """Return the messages of the vectors of a format."""
    path = Path(__file__).parent / "vectors" / "formats" / f"{name}.jsonl"
    messages = [bytes.fromhex(json.loads(line)["message"]) for line in path.read_text(encoding="utf-8").splitlines()]
    return [one for one in messages if len(one) < longest]


def fuzz(
    about: str | None,
    draw: Callable[[random.Random], bytes],
    change: Callable[[random.Random, bytes], bytes],
    check: Callable[[random.Random, bytes], bool],
    each: int = 5,
) -> int:
    """Check messages as they are drawn, and *each* changes of every one, for as long as --seconds says.

    Args:
        check: reads bytes in every way; returns whether they are a message.
    """
    seed, is_time = begun(about)
    rng = random.Random(seed)
    tried = read = 0
    while is_time():
        whole = draw(rng)
        for number in range(each + 1):
            raw = change(rng, whole) if number else whole
            tried += 1
            try:
                read += check(rng, raw)
            except BaseException:
                print(f"failing bytes: {raw.hex()}", flush=True)
                raise
    print(f"{tried} tried, {read} read")
    return 0


def random_case(rng: random.Random, name: str) -> tuple[str, strategies.Properties]:
    """Draw a selector that compiles in a dialect, and a message for it."""
    return (typed if name in typed.BROKERS else strategies).random_case(rng, name)


def random_dialect(rng: random.Random, name: str) -> Dialect:
    """Return a broker's preset, or another dialect with some choices of its own."""
    return DIALECTS[name].replace(**({} if name in typed.BROKERS else rng.choice(strategies.READINGS)))
