"""Invariant: any bytes under any name are listed, passed over and counted, or an error of ours, in bounded time.

    python tests/fuzz/fuzz_inventory.py --seconds 200 [--seed 1]

Bytes are files of the inventory's corpus, and files without selectors, with pieces cut, doubled, moved and replaced by
signs of all languages, under the name of any of them, named and in a folder. An entry has a place, and a selector or a
reason; a file of a folder is passed over only if it has no entry; processor time grows with the size.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzzing import fuzz

from mqsel.inventory import Place, read_file

ROOT = Path(__file__).resolve().parent.parent / "inventory"
FILES = [path for folder in ("corpus", "nothing") for path in sorted((ROOT / folder).iterdir())]
NAMES = sorted(
    {*(path.name for path in FILES), "Makefile", "a.sel", "a.gz", "a.tpl", "a.dtd", "a.toml", "routes.xml", "a"}
)
PIECES = [
    *"{{ }} {% %} {{- -}} ⇒ ← → .. ..< ''' \"\"\" ' \" ` ( ) { } [ ] < > </a> <!-- --> <![CDATA[ \\ & &lt; ${".split(),
    *"# // /* */ ; , : = == => -> @ ? | - + \0 \ufeff é 𝄞 \t \r \n".split(" "),
    *("\n", "\n  ", "\n- ", "\n\n", "\n---\n", "selector", "selector: a = 1", 'selector="a = 1"', "PASSWORD=s3cret\n"),
    *('createConsumer(q, "a = 1")', "createConsumer(", '@JmsListener(selector = "a = 1")', "import javax.jms.*;\n"),
    *(
        "DEFINE SUB(A) SELECTOR('a = 1')\n",
        "k\ta = 1\n",
        "sqlFilter: { sqlExpression: 'a = 1' }",
        "resourceInput<'a'>.b?",
    ),
]
FIXED, EACH = 1.5, 2e-5  # processor seconds of a file, and of each of its bytes


def drawn(rng: random.Random) -> bytes:
    """Return a file of the corpus, sometimes in another encoding."""
    text = rng.choice(FILES).read_text(encoding="utf-8")
    return text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "latin-1")), "replace")


def changed(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 3, 10))):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        piece = rng.choice(PIECES).encode()
        match rng.randrange(6):
            case 0:
                data = data[:at] + data[at + rng.choice((1, 4, 40)) :]
            case 1:
                data = data[:at] + piece * rng.choice((1, 1, 1, 100)) + data[at:]
            case 2:
                data = data[:at] + piece + data[at + len(piece) :]
            case 3:
                data = data[:at]
            case 4:
                data = data[:at] + data[to : to + 60] + data[at:]
            case _:
                other = rng.choice(FILES).read_bytes()
                start = rng.randrange(len(other))
                data = data[:at] + other[start : start + 200] + data[at:]
    return data


def check(rng: random.Random, data: bytes) -> bool:
    """Read a file that is named, and as one of a folder; return whether it has entries."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / rng.choice(NAMES)
        path.write_bytes(data)
        for is_named in (True, False):
            passed: list[str] = []
            started = time.thread_time()
            entries = [*read_file(Place(str(path), is_named), None, {}, passed=passed)]
            assert time.thread_time() - started < FIXED + EACH * len(data), path.name
            assert passed == [] or (not is_named and entries == []), path.name
            for entry in entries:
                assert (entry.selector is None) == bool(entry.reason), (path.name, entry)
                assert entry.line >= 1 and entry.column >= 1, (path.name, entry)
    return bool(entries)


if __name__ == "__main__":
    sys.exit(fuzz(__doc__, drawn, changed, check))
