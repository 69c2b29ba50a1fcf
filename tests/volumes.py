"""How much the tests with random input try: `--volume N` of the command line, in one place.

0 is a smoke of each, and the default. 1 is what CI tries, 10 what a release tries.
"""

from __future__ import annotations

# The number of the command line, which conftest.py writes here before any test module is imported.
LEVEL = 0.0


def volume(usual: int, *, smoke: int) -> int:
    """Return how many cases a test tries: *smoke* of them at volume 0, and N times *usual* at volume N."""
    return max(smoke, round(usual * LEVEL))


def is_release() -> bool:
    """Report whether the tests try what a release tries."""
    return LEVEL >= 10
