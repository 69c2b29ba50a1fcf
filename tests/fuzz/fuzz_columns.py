"""Invariant: the kernel, the row machine and the oracle give one truth value of each row, in any layout of columns.

    python tests/fuzz/fuzz_columns.py --seconds 60 [--seed 1]

Random batches, random selectors about their values, random choices of a dialect. Then bytes of the buffers are changed:
the kernel gives what the rows give one by one, or the error of one of them, and nothing else.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import batches
from fuzzing import DIALECTS, begun, random_dialect


def main() -> int:
    seed, is_time = begun(__doc__)
    rounds = taken = damaged = 0
    while is_time():
        rounds += 1
        rng = random.Random(f"{seed} {rounds}")
        name = rng.choice([*DIALECTS])
        try:
            taken += batches.run_case(rng, name, random_dialect(rng, name), 5)
            damaged += batches.run_damaged(rng)
        except BaseException:
            print(f"failing: random.Random('{seed} {rounds}')", flush=True)
            raise
    print(f"{rounds} batches, 5 selectors each: the kernel took {taken}; {damaged} damaged ones answered by an error")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
