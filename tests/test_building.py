"""Building: what is made from the same contents and flags is built once, whatever the times of the files are."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT

setuptools = pytest.importorskip("setuptools")
pytest.importorskip("Cython")

ASK = "import mqsel, small._unit; print(small._unit.answer())"


Build = Callable[..., tuple[bool, str]]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """What builds one extension in a folder of its own, and returns whether it was needed and what it answers."""
    with monkeypatch.context() as patch:
        patch.chdir(ROOT)
        command_class = runpy.run_path("setup.py")["Extensions"]
    monkeypatch.chdir(tmp_path)
    Path("small").mkdir()
    Path("build/cython/small").mkdir(parents=True)  # which Cython makes once in a process, wherever that is
    Path("small/__init__.py").touch()
    Path("small/_unit.pyx").write_text("def answer():\n    return NUMBER\n", encoding="utf-8")
    Path("small/_unit.pxd").write_text("cdef enum:\n    NUMBER = 1\n", encoding="utf-8")

    def run(*flags: str) -> tuple[bool, str]:
        unit = setuptools.Extension("small._unit", ["small/_unit.pyx"], extra_compile_args=list(flags))
        command = command_class(setuptools.Distribution({"packages": ["small"], "ext_modules": [unit]}))
        command.inplace = True
        command.ensure_finalized()
        command.run()
        asked = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
        return "small._unit" in command.translated, asked.stdout.strip()

    return run


def test_nothing_older_in_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build holds what stands in the tree, and no module that has gone since the build before."""
    with monkeypatch.context() as patch:
        patch.chdir(ROOT)
        command_class = runpy.run_path("setup.py")["Fresh"]
    monkeypatch.chdir(tmp_path)
    for path in (Path("small/__init__.py"), Path("build/lib/small/gone.py")):
        path.parent.mkdir(parents=True)
        path.touch()
    command = command_class(setuptools.Distribution({"packages": ["small"], "script_name": "setup.py"}))
    command.build_lib = "build/lib"
    command.ensure_finalized()
    command.run()
    assert [path.name for path in Path("build/lib").rglob("*.py")] == ["__init__.py"]


def test_manual_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command has its page, and the package that writes them gets no bytecode that would be in the wheel."""
    with monkeypatch.context() as patch:
        patch.chdir(ROOT)
        manual_pages = runpy.run_path("setup.py")["manual_pages"]
    built = tmp_path / "lib"
    shutil.copytree(ROOT / "mqsel", built / "mqsel", ignore=shutil.ignore_patterns("__pycache__", "*.pyx", "*.md"))
    shutil.copytree(ROOT / ".github" / "site", tmp_path / ".github" / "site")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    pages = manual_pages(built)
    assert "build/man/mqsel-match.1" in pages
    assert [*built.rglob("*.pyc")] == []


def test_sources_need_no_cython(tmp_path: Path) -> None:
    """Where the extensions are missing, as in a worker that was sent sources alone, they are named, and not Cython."""
    shutil.copytree(ROOT / "mqsel", tmp_path / "mqsel", ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd"))
    asked = "import sys; sys.modules['cython'] = None; import mqsel"
    command = [sys.executable, "-c", asked]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "No module named 'mqsel.machine._" in done.stderr


@pytest.mark.process
def test_contents_decide(build: Build) -> None:
    """A file that is younger builds nothing, another content and other flags do; what was before is still there."""
    assert build() == (True, "1")
    os.utime("small/_unit.pyx")
    assert build() == (False, "1")
    Path("small/_unit.pxd").write_text("cdef enum:\n    NUMBER = 2\n", encoding="utf-8")
    assert build() == (True, "2")
    assert build("-DOTHER") == (True, "2")
    assert build("-DOTHER") == (False, "2")
    assert build() == (False, "2")
    assert len([*Path("build/extensions").rglob("small*")]) == 3


@pytest.mark.process
def test_few_versions_are_kept(build: Build) -> None:
    """Of each extension the versions that were used last are kept, and no more than some."""
    assert build("-DOTHER=0") == (True, "1")
    for number in range(1, 9):
        build(f"-DOTHER={number}")
    assert len([*Path("build/extensions").rglob("small*")]) == 8
    assert build("-DOTHER=1") == (False, "1")
    assert build("-DOTHER=0") == (True, "1")
    assert build("-DOTHER=1") == (False, "1")


def test_stale_extensions_are_named(build: Build) -> None:
    """An extension is stale if a file that it was built from has changed, whatever the times are, or is gone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        stale = runpy.run_path("setup.py")["stale"]
    assert stale() == ["all of them"]
    build()
    assert stale() == []
    os.utime("small/_unit.pyx")
    assert stale() == []
    unit = Path("small/_unit.pxd").read_text(encoding="utf-8")
    Path("small/_unit.pxd").write_text("cdef enum:\n    NUMBER = 2\n", encoding="utf-8")
    assert stale() == ["small._unit"]
    Path("small/_unit.pxd").write_text(unit, encoding="utf-8")
    assert stale() == []
    Path("small/_unit.pxd").unlink()
    assert stale() == ["small._unit"]
