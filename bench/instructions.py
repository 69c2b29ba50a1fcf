"""Count the instructions of one workload on two commits: `python bench/instructions.py BASE HEAD [W1 … W7]`.

Each commit is built in a worktree of its own, where modules that are already built are taken from build/extensions.
Callgrind counts, which does not depend on what else the machine does. A workload reads its messages once and then three
times; the difference has neither the start of Python nor the compilation. Needs valgrind.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_MESSAGES = 2000  # of the workload's short stream
_RUN = """
import sys, workloads
name, rounds = sys.argv[1], int(sys.argv[2])
matcher, messages = workloads.matcher(workloads.selectors()[name]), workloads.rows(2_000)
messages = list(map(workloads.as_dict, messages))
for _ in range(rounds):
    list(matcher.filter(messages))
"""


def build(commit: str, folder: Path) -> None:
    """Build a commit in a folder."""
    git = ["git", "-C", str(ROOT), "worktree", "add", "--quiet", "--detach", str(folder), commit]
    subprocess.run(git, check=True)
    shutil.copytree(ROOT / "build" / "extensions", folder / "build" / "extensions")
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, check=True)


def count(folder: Path, workload: str, rounds: int) -> int:
    """Return the instructions of a Python that reads the messages so many times."""
    python = [sys.executable, "-c", _RUN, workload, str(rounds)]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *python]
    paths = os.pathsep.join(map(str, (folder, ROOT / "bench")))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if collected is None:
        raise SystemExit(run.stderr)
    return int(collected[1])


def main(base: str, head: str, workload: str = "W2") -> None:
    """Print the instructions a message of both commits, and their ratio."""
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed: it counts the instructions")
    numbers = []
    for commit in (base, head):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary, "tree")
            try:
                build(commit, folder)
                numbers.append((count(folder, workload, 3) - count(folder, workload, 1)) / 2 / _MESSAGES)
            finally:
                subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(folder)], check=False)
        print(f"{workload} {commit}: {numbers[-1]:,.0f} instructions a message", flush=True)
    print(f"ratio {numbers[1] / numbers[0]:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
