"""What fuzzers share: how long one runs, the seed that brings a run back, and the dialects that they draw."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

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


def random_case(rng: random.Random, name: str) -> tuple[str, strategies.Properties]:
    """Draw a selector that compiles in a dialect, and a message for it."""
    return (typed if name in typed.BROKERS else strategies).random_case(rng, name)


def random_dialect(rng: random.Random, name: str) -> Dialect:
    """Return a broker's preset, or another dialect with some choices of its own."""
    return DIALECTS[name].replace(**({} if name in typed.BROKERS else rng.choice(strategies.READINGS)))
