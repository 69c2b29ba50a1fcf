"""Invariant: every fuzzer starts, and for a second holds what it states. CONTRIBUTING tells how to run them longer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZERS = sorted((Path(__file__).parent / "fuzz").glob("fuzz_*.py"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("fuzzer", FUZZERS, ids=lambda path: path.stem)
def test_a_second_of(fuzzer: Path) -> None:
    """It ends by itself, and prints its seed and what it did."""
    if fuzzer.stem == "fuzz_columns":
        pytest.importorskip("pyarrow")
    line = [sys.executable, str(fuzzer), "--seconds", "1", "--seed", "1"]
    run = subprocess.run(line, check=False, capture_output=True, text=True)

    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    assert len(run.stdout.splitlines()) == 2
