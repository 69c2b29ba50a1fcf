"""Baselines: what is known stays silent wherever its lines move, and what is no baseline is one error."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from faults import failing

from mqsel.cli.baseline import known_as, read, write
from mqsel.errors import MqselError
from mqsel.language.dialect import IBM_MQ


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Findings come back, with how many there are; the file is sorted, and has ASCII alone."""
    path = tmp_path / "known.json"
    known = {
        ("b", "x = 'é\ud800'"): Counter(["never-true"]),
        ("a", "x"): Counter(["repeated", "implied", "implied"]),
    }
    write(str(path), known)
    written = path.read_bytes()
    assert read(str(path)) == known
    assert written.isascii()
    assert written.index(b"implied") < written.index(b"repeated") < written.index(b"never-true")
    write(str(path), dict(reversed(known.items())))
    assert path.read_bytes() == written


def test_what_a_selector_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the baseline; white space and layout make no difference, texts do."""
    monkeypatch.chdir(tmp_path)
    one = known_as("src/a.txt", "known.json", "a=1 and\n  b LIKE 'x  y'", IBM_MQ)
    assert one == known_as(
        str(tmp_path / "src" / "a.txt"), str(tmp_path / "known.json"), "a = 1 AND b LIKE 'x  y'", IBM_MQ
    )
    assert one == ("src/a.txt", "a = 1 AND b LIKE 'x  y'")
    assert known_as("src/a.txt", "src/known.json", "a == \n 1", IBM_MQ) == ("a.txt", "a == 1")
    for path in ("", "-", "s3://b/a"):
        assert known_as(path, "known.json", "a", IBM_MQ)[0] == path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "this isn't a baseline: broken JSON"),
        (b"\xff", "this isn't a baseline: broken JSON"),
        (b"[" * 100_000, "this isn't a baseline: broken JSON"),
        (b"[]", "this isn't a baseline: expected format 1"),
        (b'{"mqsel baseline": 2}', "this is a baseline of format 2: expected format 1"),
        (b'{"mqsel baseline": 1}', "this baseline is damaged"),
        (b'{"mqsel baseline": 1, "files": {"a": []}}', "this baseline is damaged"),
        (b'{"mqsel baseline": 1, "files": {"a": {"b": {"c": 1e999}}}}', "this baseline is damaged"),
        (b'{"mqsel baseline": 1, "files": {"a": {"b": {"c": "x"}}}}', "this baseline is damaged"),
    ],
)
def test_damage(tmp_path: Path, content: bytes, message: str) -> None:
    """What is no baseline is one error that names the file, and what writes one."""
    path = tmp_path / "known.json"
    path.write_bytes(content)
    with pytest.raises(MqselError) as caught:
        read(str(path))
    assert caught.value.message == f"{path}: {message}"
    assert caught.value.hint == f"mqsel lint --write-baseline {path} PATH… writes one"


def test_files_that_are_none(tmp_path: Path) -> None:
    """A file that is missing, or cannot be written, is an error."""
    with pytest.raises(MqselError, match=r"no\.json: cannot be read: No such file"):
        read(str(tmp_path / "no.json"))
    with pytest.raises(MqselError, match="cannot be written: "):
        write(str(tmp_path), {})


def test_whatever_fails_a_baseline_is_whole(tmp_path: Path) -> None:
    """It is as it was or as it was to become, whichever line fails; nothing stands beside it, and links stay links."""
    path, link = tmp_path / "known.json", tmp_path / "link"
    path.write_text("as it was")
    link.symlink_to(path)
    for line in failing(lambda: write(str(link), {}), OSError):
        assert path.read_text() == "as it was" or read(str(path)) == {}, line
        assert [*tmp_path.iterdir()] in ([path, link], [link, path]), line
        path.write_text("as it was")
    assert read(str(path)) == {} or path.read_text() == "as it was"


def test_a_full_disk_leaves_the_baseline(tmp_path: Path) -> None:
    """What was there stays, byte for byte and with its mode; where nothing was, nothing is."""
    resource = pytest.importorskip("resource")
    there, new = tmp_path / "there.json", tmp_path / "new.json"
    there.write_text("as it was")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for path in (there, new):
        resource.setrlimit(resource.RLIMIT_FSIZE, (5, before[1]))
        try:
            with pytest.raises(MqselError, match="cannot be written: File too large"):
                write(str(path), {})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [*tmp_path.iterdir()] == [there]
    assert there.read_text() == "as it was"
    there.chmod(0o640)
    write(str(there), {})
    assert there.stat().st_mode & 0o777 == 0o640
    with pytest.raises(MqselError, match="/dev/full: cannot be written: No space left"):
        write("/dev/full", {})
