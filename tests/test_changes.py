"""Changes: one file each, collected at a release."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPT = ROOT / ".ci" / "changes.py"
if not SCRIPT.exists():
    pytest.skip("the script is not beside the tests", allow_module_level=True)
CHANGES = runpy.run_path(str(SCRIPT))


def test_changes_are_collected(tmp_path: Path) -> None:
    """The files become one section of CHANGES.md, above the older ones, in the order of kinds, and the files go."""
    before, after = "# Changes\n\nBeta.\n\n", "## 0.3.0\n\nOld.\n"
    (tmp_path / "changes").mkdir()
    (tmp_path / "CHANGES.md").write_text(f"{before}## 0.4.0 (unreleased)\n\nSoon.\n\n{after}", encoding="utf-8")
    (tmp_path / "changes" / "a.md").write_text("## Fixed\n\n- a.\n\n## Added\n\n- b.\n", encoding="utf-8")
    (tmp_path / "changes" / "b.md").write_text("## Fixed\n- c,\n  d.\n", encoding="utf-8")
    CHANGES["collect"](tmp_path, "0.4.0", "2026-12-01")

    assert (tmp_path / "CHANGES.md").read_text(encoding="utf-8") == (
        f"{before}## 0.4.0 (2026-12-01)\n\n### Added\n\n- b.\n\n### Fixed\n\n- a.\n- c,\n  d.\n\n{after}"
    )
    assert [*(tmp_path / "changes").iterdir()] == []


def test_files_of_changes_can_be_collected() -> None:
    """Each file has bullets under the four headings alone."""
    for path in (ROOT / ".github" / "changes").glob("*.md"):
        assert CHANGES["sections"](path.read_text(encoding="utf-8"), path.name)
    with pytest.raises(SystemExit, match=r"b\.md: expected bullets"):
        CHANGES["sections"]("## Improved\n\n- a.\n", "b.md")
