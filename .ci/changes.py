"""Collect the files of .github/changes into CHANGES.md, at a release: `python .ci/changes.py 0.4.0`.

A change brings a file of its own, so that no two changes touch the same lines: headings of KINDS, and a plain sentence
for users a bullet.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime, timezone
from pathlib import Path

KINDS = ("Added", "Changed", "Fixed", "Removed")


def sections(text: str, name: str) -> dict[str, str]:
    """Return the bullets of a file of changes by the kind of change."""
    start, *parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    bullets = {kind: body.strip() for kind, body in zip(parts[::2], parts[1::2], strict=True)}
    if start.strip() or not bullets or set(bullets) - {*KINDS}:
        raise SystemExit(f"{name}: expected bullets under '## Added', '## Changed', '## Fixed' or '## Removed' alone")
    return bullets


def collect(folder: Path, version: str, date: str) -> None:
    """Write the changes of the folder before the older versions in CHANGES.md, and remove their files."""
    files = sorted((folder / "changes").glob("*.md"))
    changes = [sections(path.read_text(encoding="utf-8"), path.name) for path in files]
    rendered = [f"## {version} ({date})\n"]
    for kind in KINDS:
        bullets = [bullet for change in changes if (bullet := change.get(kind))]
        rendered += [f"### {kind}\n", "\n".join(bullets) + "\n"] if bullets else []
    path = folder / "CHANGES.md"
    start, *older = re.split(r"^(?=## )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    older = [part for part in older if not part.startswith(f"## {version} (unreleased)")]
    path.write_text(start + "".join(part.rstrip("\n") + "\n\n" for part in rendered) + "".join(older), encoding="utf-8")
    for file in files:
        file.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", sys.argv[1]):
        raise SystemExit("write the version: python .ci/changes.py 0.4.0")
    collect(Path(__file__).resolve().parent.parent / ".github", sys.argv[1], f"{datetime.now(timezone.utc):%Y-%m-%d}")
