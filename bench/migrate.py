"""The verdicts of migration of the selectors that people wrote, as bench/MIGRATION.md has them, and their time.

    python bench/migrate.py SELECTORS.jsonl [SOURCE…]
    python bench/migrate.py SELECTORS.jsonl 10000

The second form migrates as many with other texts and numbers to Artemis, so that nothing is remembered. A line of the
file is an object with ``selector`` and ``source``. Where that names a test suite, the selector is counted in the second
share alone.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

from mqsel.analysis.compare.migrate import VERDICTS, migrate
from mqsel.errors import SelectorError
from mqsel.language.dialect import PRESETS, TIBCO_EMS
from mqsel.language.selector import read_selector

_SUITE = re.compile("suite|test|tck|selector main", re.IGNORECASE)


def main() -> None:
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    if sys.argv[2:] and sys.argv[2].isdigit():
        _time_many([row["selector"] for row in rows], int(sys.argv[2]))
        return
    print(f"| from | to | selectors | {' | '.join(VERDICTS)} | proved | of no suite | CPU seconds |")
    print("|---|---|" + "--:|" * (len(VERDICTS) + 4))
    for source in sys.argv[2:] or ("TIBCO_EMS", "IBM_MQ", "JMS"):
        for target in PRESETS:
            if target != source:
                print(_row(rows, source, target), flush=True)


def _row(rows: list[dict[str, str]], source: str, target: str) -> str:
    found = []
    start = time.process_time()
    for row in rows:
        try:
            found.append((migrate(row["selector"], source, target), bool(_SUITE.search(row["source"]))))
        except SelectorError:  # the source does not accept it
            continue
    seconds = time.process_time() - start
    counts = []
    for verdict in VERDICTS:
        own = [one for one, _ in found if one.verdict == verdict]
        assumed = sum(bool(one.assumes) for one in own)
        counts.append(f"{len(own)} ({assumed} if)" if assumed else str(len(own)))
    shares = [
        sum(map(bool, many)) / len(many)
        for many in ([one for one, _ in found], [one for one, is_of in found if not is_of])
    ]
    cells = [source, target, len(found), *counts, *[f"{share:.1%}" for share in shares], f"{seconds:.1f}"]
    return f"| {' | '.join(map(str, cells))} |"


def _time_many(texts: list[str], count: int) -> None:
    wanted: list[str] = []
    for number in itertools.count(1):
        for text in texts:
            changed = re.sub(r"'(\w[^']*)'|\b[1-9]\d*\b", functools.partial(_changed, number), text)
            with suppress(SelectorError):
                read_selector(changed, TIBCO_EMS)
                wanted.append(changed)
        if len(wanted) >= count:
            break
    start = time.process_time()
    found = [migrate(text, TIBCO_EMS, "ARTEMIS") for text in wanted[:count]]
    seconds = time.process_time() - start
    assert sum(map(bool, found)) > count * 0.9
    print(f"{count:,} selectors in {seconds:.1f} CPU s")


def _changed(number: int, literal: re.Match[str]) -> str:
    return f"'{literal[1]}{number}'" if literal[1] else str(int(literal[0]) + number)


if __name__ == "__main__":
    main()
