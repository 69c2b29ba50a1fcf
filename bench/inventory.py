"""Selectors of a large tree: `mqsel selectors .` against a loop that reads all bytes and searches them for the words.

`python bench/inventory.py` writes 100,000 files of 0.9 GB with 5,000 selectors in 1,250 of them, measures the CPU time
of both, the best of a few rounds, and deletes the tree; `--quick` takes a fiftieth. One file in five has the word
*filter*, one in twenty *selector*, without being one of any kind: such files are looked at, too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from mqsel.inventory.recognition import WORDS

FILES, BYTES, SELECTORS = 100_000, 10_000, 5_000
_FOLDER = 100  # files in one
_STATEMENTS = (
    "        values.add(reader.next(count, limit));\n",
    "        if (size > capacity) { throw new IllegalStateException(name); }\n",
    "        return builder.append(key).append(value).build();\n",
    "        log.debug('entered {}', state);\n",
)
_KINDS = (
    ("java", 'import javax.jms.*;\nclass A {{ void f() {{ session.createConsumer(queue, "{}"); }} }}\n'),
    ("xml", '<beans xmlns:jms="jms"><jms:listener destination="q" selector="{}"/></beans>\n'),
    ("mqsc", "DEFINE SUB(S) TOPICSTR('t') DEST(Q) SELECTOR('{}')\n"),
    ("yml", 'app:\n  jms:\n    selector: "{}"\n'),
)
_EACH = 4  # selectors in a file that has some: in MQSC; other files have one, so that their numbers differ


def written(folder: Path, files: int) -> int:
    """Write a tree, and return how many selectors are in it."""
    rng = Random(29)
    lines = "".join(rng.choices(_STATEMENTS, k=BYTES // 60))
    planted = 0
    wanted = SELECTORS * files // FILES
    every = files * 2 * _EACH // (wanted * 3)
    for number in range(files):
        if number % _FOLDER == 0:
            inside = folder / f"module{number // _FOLDER:04}"
            inside.mkdir()
        start = rng.randrange(len(lines) // 2)
        body = (lines[start:] + lines[:start])[:BYTES]
        noise = "filter(stream);\n" * (number % 5 == 1) + "int selector;\n" * (number % 20 == 3)
        ending, text = "java", f"package p;\nclass C{number} {{\n{noise}{body}"
        if number % every == 0 and planted < wanted:
            ending, template = _KINDS[number // every % len(_KINDS)]
            count = min(wanted - planted, 13 if ending == "mqsc" else 1)
            text = "".join(template.format(f"key > {planted + one}") for one in range(count))
            planted += count
        (inside / f"C{number}.{ending}").write_text(text, encoding="utf-8")
    return planted


def loop(folder: Path) -> float:
    """Return the CPU seconds of reading all files, and of searching them for the words."""
    started = time.process_time()
    found = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:  # noqa: PTH118, PTH123 (as fast as a loop can be)
                data = file.read().lower()
            found += any(word in data for word in WORDS)
    return time.process_time() - started


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def command(folder: Path, planted: int) -> float:
    """Return the CPU seconds of the command, which has to find what was planted."""
    started = _of_children()
    call = [sys.executable, "-m", "mqsel", "selectors", "--json", "."]
    out = subprocess.run(call, cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    taken = _of_children() - started
    found = [json.loads(line) for line in out.splitlines()]
    if len(found) != planted or not all(one.get("selector", "").startswith("key > ") for one in found):
        raise SystemExit(f"{len(found):,} selectors found, {planted:,} planted")
    return taken


def main() -> None:
    """Measure both, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the files")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    files = FILES // 50 if arguments.quick else FILES
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        planted = written(folder, files)
        rounds = [(loop(folder), command(folder, planted)) for _ in range(arguments.rounds)]
    reading, finding = (min(times) for times in zip(*rounds, strict=True))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print(f"{files:,} files, {planted:,} selectors: loop {reading:.1f} s, mqsel selectors {finding:.1f} s, ", end="")
    print(f"{finding / reading:.2f} times; {peak:,} MB at most")


if __name__ == "__main__":
    main()
