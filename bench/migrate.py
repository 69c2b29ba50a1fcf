"""The verdicts of migration of the selectors that people wrote, as the README of analysis has them, and their time.

    python bench/migrate.py SELECTORS.jsonl [SOURCE…]

Each line of the file is an object with ``selector`` and ``source``. Where that names a test suite, the selector is
counted in the second share alone.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from mqsel.analysis.compare.migrate import VERDICTS, migrate
from mqsel.errors import SelectorError
from mqsel.language.dialect import PRESETS

_SUITE = re.compile("suite|test|tck|selector main", re.IGNORECASE)


def main() -> None:
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    print(f"| from | to | selectors | {' | '.join(VERDICTS)} | proved | of no suite | seconds |")
    print("|---|---|" + "--:|" * (len(VERDICTS) + 4))
    for source in sys.argv[2:] or ("TIBCO_EMS", "IBM_MQ", "JMS"):
        for target in PRESETS:
            if target != source:
                print(_row(rows, source, target), flush=True)


def _row(rows: list[dict[str, str]], source: str, target: str) -> str:
    found = []
    start = time.perf_counter()
    for row in rows:
        try:
            found.append((migrate(row["selector"], source, target), bool(_SUITE.search(row["source"]))))
        except SelectorError:  # the source does not accept it
            continue
    seconds = time.perf_counter() - start
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


if __name__ == "__main__":
    main()
