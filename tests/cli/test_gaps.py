"""Nothing that a report counts is lost, no password is printed, and no defect of a worker reaches the terminal raw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mqsel
from mqsel import files
from mqsel.errors import FileError, MqselError
from mqsel.files.parts import Named
from mqsel.files.run import sifted
from mqsel.files.run.work import Ask, Match, Sharing, Tally


class Lossy(Tally):
    """Counts that deliver a message to nobody's key when they are added up."""

    def add(self, other: Tally) -> None:
        super().add(other)
        self.delivered["ghost", True] += 1


class Faulty(Match):
    """A job with a defect."""

    def messages(self, *_):
        raise RuntimeError("no such thing")


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write selectors by key, and messages."""
    (tmp_path / "keys").write_text("two\ta = 2\n", encoding="utf-8")
    (tmp_path / "new").write_text("two\ta = 1\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("command", [["route", "keys"], ["diff", "keys", "new"]])
def test_counts_of_messages_add_up(run, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    """A run that counts what no line shows reports a defect instead of a number."""
    monkeypatch.setattr("mqsel.cli.report.Tally", Lossy)
    status, _, err = run(*command, "a.jsonl")

    assert status == 2
    assert "defect of mqsel: " in err


@pytest.mark.usefixtures("inputs")
def test_a_worker_reports_a_defect_in_our_words(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An exception in a process of -j is one error with its place; Python's traceback is not printed."""
    named = [Named(str(tmp_path / "a.jsonl"), (), None, None)] * 2
    ask = Ask(sharing=Sharing(quiet=0))
    with pytest.raises(MqselError, match=r"a defect of mqsel .*: RuntimeError: no such thing"):
        list(sifted(mqsel.compile("a = 1"), lambda: ask, named, None, 2, None, Faulty))

    assert "Traceback" not in capfd.readouterr().err


def test_no_output_has_the_password_of_an_address(run, tmp_path: Path) -> None:
    """JSON, keys, titles and lines name an address without its password."""
    fsspec, _ = pytest.importorskip("fsspec"), pytest.importorskip("upath")
    memory = fsspec.filesystem("memory")
    twice = b"DEFINE SUB('k') TOPICSTR('t') DEST(Q) SELECTOR('a = 1')\n" * 2
    for name, data in {"keys.tsv": b"k\ta = 1\nx\tb = 1\n", "old.tsv": b"k\ta = 2\n", "dup.mqsc": twice}.items():
        memory.pipe(f"/user:s3cret@h/{name}", data)
    keys, old, dup = (f"memory://user:s3cret@h/{name}" for name in ("keys.tsv", "old.tsv", "dup.mqsc"))
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    for command in (
        ["migrate", "--json", "--from", "JMS", "--to", "ARTEMIS", keys],
        ["selectors", "--json", keys],
        ["check", "--json", keys],
        ["lint", "--sarif", keys],
        ["audit", dup],
        ["audit", "--json", dup],
        ["diff", keys, old],
        ["diff", "--json", keys, old],
        ["diff", "--markdown", keys, old],
        ["route", dup, tmp_path / "a.jsonl"],
        ["route", "--json", "--count", dup, tmp_path / "a.jsonl"],
    ):
        _, out, err = run(*command)
        assert "s3cret" not in out + err, command
        assert out + err, command


def test_messages_has_a_greatest_size(tmp_path: Path) -> None:
    """files.messages takes max_size as files.filter does: a longer message is invalid."""
    path = tmp_path / "a.mq"
    path.write_bytes(b"".join(len(one).to_bytes(4, "big") + one for one in (b"MD  " + b"x" * 20, b"MD  " + b"x" * 90)))
    assert [len(one) for one in files.messages(path, framing="mq", max_size=100)] == [24, 94]
    found = files.messages(path, framing="mq", errors="skip", max_size=50)
    assert [len(one) for one in found] == [24]
    assert str(found.problems[0]).startswith("the message has 94 bytes: expected 50 at most")
    with pytest.raises(FileError, match="94 bytes"):
        list(files.messages(path, framing="mq", max_size=50))


def test_broken_json_is_not_advised_to_be_several_lines(run, tmp_path: Path) -> None:
    """Objects over several lines are read: JSON that is not is broken, and jq would not read it either."""
    for text in ('{"a": 1\n{"a" 1}\n', '{"a": 1\n', '{\n"a" 1}\n'):
        (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
        status, _, err = run("match", "a = 1", tmp_path / "a.jsonl")
        assert status == 2
        assert "broken JSON" in err or "cut off" in err
        assert "jq" not in err


def test_a_variable_of_a_here_document_is_a_placeholder(run, tmp_path: Path) -> None:
    """A shell fills $VALUE into a here-document whose word has no quotes, and only there."""
    script = tmp_path / "a.sh"
    line = "DEFINE SUB('{}') TOPICSTR('t') DEST(Q) SELECTOR('price > $VALUE')\n"
    script.write_text(
        f"runmqsc QM1 <<END\n{line.format('A')}END\nrunmqsc QM1 <<'END'\n{line.format('B')}END\n", encoding="utf-8"
    )
    lines = run("selectors", script)[1].splitlines()
    assert [one.split("\t")[0] + one.split("\t")[2][:1] for one in lines] == ["A(", "Bp"]


@pytest.mark.spark
@pytest.mark.usefixtures("inputs")
def test_spark_imports_nothing_from_the_current_folder() -> None:
    """A zlib.py next to the messages is not the zlib of Python's library, for the executors either."""
    Path("zlib.py").write_text('raise SystemExit("the zlib of this folder")\n', encoding="utf-8")
    program = Path(sys.executable).with_name("mqsel")
    command = [str(program), "match", "--spark", "--count", "a = 1", "a.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
