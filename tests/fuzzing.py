"""What fuzzers share: how long one runs, and the seed that brings a run back."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable


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
