"""A user's file is replaced whole or not at all, and keeps what its folder says of it."""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from faults import PACKAGE, Injected, failing

from mqsel.machine.sections import replace_file

ACCESS = "system.posix_acl_access"
# A list of access rights as Linux keeps it: tag, rights and user of each entry.
NOBODY = 2**32 - 1
ENTRIES = [(1, 6, NOBODY), (2, 4, 12345), (4, 4, NOBODY), (16, 4, NOBODY), (32, 0, NOBODY)]
ACCESS_LIST = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in ENTRIES)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return a file with content."""
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    return path


def set_attribute(path: Path, name: str, value: bytes) -> None:
    """Set an extended attribute, or skip the test where the system has none."""
    if not hasattr(os, "setxattr"):
        pytest.skip("the system has no extended attributes")
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"the folder takes no attribute {name}: {error.strerror}")


def test_extended_attributes_stay(target: Path) -> None:
    """Attributes of the user are those of the file before."""
    set_attribute(target, "user.origin", b"x")

    replace_file(target, [b"new"])

    assert target.read_bytes() == b"new"
    assert os.getxattr(target, "user.origin") == b"x"


def test_a_list_of_access_rights_stays(target: Path) -> None:
    """A POSIX ACL, which is an attribute, keeps its users and its mask."""
    set_attribute(target, ACCESS, ACCESS_LIST)
    mode = target.stat().st_mode

    replace_file(target, [b"new"])

    assert os.getxattr(target, ACCESS) == ACCESS_LIST
    assert target.stat().st_mode == mode


def test_a_folder_grants_nothing_to_the_new_file(target: Path) -> None:
    """The list of rights that a folder gives to new files is not given to one that had none."""
    set_attribute(target.parent, "system.posix_acl_default", ACCESS_LIST)

    replace_file(target, [b"new"])

    assert ACCESS not in os.listxattr(target)


def test_an_attribute_that_cannot_be_kept_is_an_error(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stays where the new one would lose an attribute."""
    set_attribute(target, "user.origin", b"x")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "setxattr", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(target, [b"new"])
    assert target.read_bytes() == b"old"
    assert [*target.parent.iterdir()] == [target]


def test_the_mode_stays(target: Path) -> None:
    """Rights that the mask of the process would take away stay."""
    target.chmod(0o666)

    replace_file(target, [b"new"])

    assert stat.S_IMODE(target.stat().st_mode) == 0o666


def test_no_link_is_followed(target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link with the name of the file to be written is not written through, and not moved into place."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr(os, "urandom", bytes)
    link = tmp_path / "mqsel-0000000000000000.new"
    link.symlink_to(victim)

    with pytest.raises(FileExistsError):
        replace_file(target, [b"new"])

    assert (victim.read_bytes(), target.read_bytes()) == (b"precious", b"old")


def test_names_differ(target: Path) -> None:
    """Nobody can know the name of the next file from the one before."""
    names = []

    def pieces() -> Iterator[bytes]:
        names.extend(path.name for path in target.parent.glob("*.new"))
        yield b"new"

    replace_file(target, pieces())
    replace_file(target, pieces())

    assert len({*names}) == 2


@pytest.mark.parametrize("kind", [OSError, Injected])
def test_a_fault_at_any_line_leaves_one_whole_file(target: Path, kind: type[BaseException]) -> None:
    """Old or new, whole, and nothing else in the folder."""
    lines = 0

    def replace() -> None:
        with suppress(OSError):
            replace_file(target, [b"n", b"ew"])

    for line in failing(replace, kind, PACKAGE / "machine"):
        lines += 1
        assert target.read_bytes() in (b"old", b"new"), line
        assert [*target.parent.iterdir()] == [target], line
        target.write_bytes(b"old")

    assert lines > 8


# Modules that write generated tables of this package, temporary copies, and what cannot be replaced, as /dev/stdout.
WRITERS = {"machine/opcodes.py", "files/opening.py", "cli/output.py", "machine/sections.py"}


def test_no_other_module_writes_over_files() -> None:
    """A file of a user is replaced by `replace_file` only: there is no second way to lose its attributes."""
    writing = re.compile(r"""\.write_(?:text|bytes)\(|\bopen\([^()]*["'][wx]b?\+?["']""")

    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py*")
        if path.suffix in (".py", ".pyx") and writing.search(path.read_text(encoding="utf-8"))
    }

    assert found == WRITERS
