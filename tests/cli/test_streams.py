"""What a command does if its streams are closed or full, and if it is interrupted at any moment."""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mqsel import cli

try:
    import pyarrow as pa
    from pyarrow import parquet as pq
except ImportError:
    pa = None

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="streams and signals of POSIX")

BLUE = b'{"color": "blue", "weight": {"int32": 3000}}\n'
HOOK = """
import os, sys

def _notify(event, arguments):
    # The first import behind the line that ends Ctrl-C; workers do not have the pipe.
    if event == "import" and arguments[0] == "mqsel._interpreter" and "MQSEL_BEGUN" in os.environ:
        os.write(int(os.environ.pop("MQSEL_BEGUN")), b"x")

sys.addaudithook(_notify)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files for commands to work on."""
    path = tmp_path_factory.mktemp("streams")
    (path / "a.jsonl").write_bytes(BLUE * 200)
    (path / "b.jsonl").write_bytes(BLUE * 200)
    (path / "keys").write_text("blue\tcolor = 'blue'\nbig\tweight > 1\nall\tweight > 0\n")
    (path / "selectors").write_text("color = blue\nweight>1\n")
    (path / "hook").mkdir()
    (path / "hook" / "sitecustomize.py").write_text(HOOK)
    if pa is not None:
        pq.write_table(pa.table({"color": ["blue", "red"] * 200, "weight": [3000] * 400}), path / "a.parquet")
    return path


COMMANDS = {
    "match": ["match", "color = 'blue'", "a.jsonl"],
    "match --count": ["match", "--count", "color = 'blue'", "a.jsonl"],
    "match -j": ["match", "-j", "2", "color = 'blue'", "a.jsonl", "b.jsonl"],
    **({"match parquet": ["match", "color = 'blue'", "a.parquet"]} if pa is not None else {}),
    "match -": ["match", "color = 'blue'"],
    "why": ["why", "color = 'red'", "a.jsonl"],
    "why -j": ["why", "-j", "2", "color = 'red'", "a.jsonl", "b.jsonl"],
    "route": ["route", "keys", "a.jsonl"],
    "route -j": ["route", "-j", "2", "keys", "a.jsonl", "b.jsonl"],
    "inspect": ["inspect", "a.jsonl"],
    "check": ["check", "color = 'blue'", "weight > 1"],
    "lint": ["lint", "color = blue"],
    "lint --sarif": ["lint", "--sarif", "--file", "selectors"],
    "format": ["format", "color='blue'"],
    "format --check": ["format", "--check", "--file", "selectors"],
    "explain": ["explain", "color = 'blue'", '{"color": "blue"}'],
    "diff": ["diff", "weight > 2500", "NOT (weight <= 2500)"],
    "audit": ["audit", "keys"],
    "selectors": ["selectors", "selectors"],
    "--help": ["--help"],
    "lint --help": ["lint", "--help"],
    "--version": ["--version"],
}


STREAMING = ("match", "route", "inspect")
# Commands that end with another exit code than 0.
FINDING = {
    "match of nothing": ["match", "--json", "color = 'red'", "a.jsonl"],
    "match, a file missing": ["match", "color = 'blue'", "no.jsonl", "a.jsonl"],
    "check of invalid": ["check", "color == 'blue'"],
    "explain, not selected": ["explain", "color = 'red'", '{"color": "blue"}'],
    "diff of two": ["diff", "weight > 2500", "weight > 2400"],
    "migrate": ["migrate", "--from", "IBM_MQ", "--to", "ARTEMIS", "JMSDeliveryMode <> 7"],
}


def _run(folder: Path, name: str, redirected: str = "", **options: Any) -> tuple[int, bytes, bytes]:
    """Run a command in a shell."""
    command = f"{shlex.join([sys.executable, '-m', 'mqsel', *(COMMANDS | FINDING)[name]])} {redirected}"
    done = subprocess.run(command, shell=True, cwd=folder, input=BLUE * 20, capture_output=True, check=False, **options)
    return done.returncode, done.stdout, re.sub(rb", [\d.]+ s", b"", done.stderr)


@pytest.mark.sample(2, rest="process")
@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_hears_complaints(name: str, folder: Path) -> None:
    """With stderr closed, full or broken the answer and the exit code are those of an open one."""
    status, out, _ = _run(folder, name)

    for redirected in ("2>&-", "2>/dev/full"):
        assert (status, out) == _run(folder, name, redirected)[:2]


@pytest.mark.sample(2, rest="process")
@pytest.mark.parametrize(
    ("name", "buffered"), [*((name, "") for name in COMMANDS), *((name, "1") for name in ("match", "lint", "--help"))]
)
def test_no_place_for_the_answer(name: str, buffered: str, folder: Path) -> None:
    """With stdout closed, or full, one sentence and exit code 2."""
    env = {**os.environ, "PYTHONUNBUFFERED": buffered}
    closed = _run(folder, name, ">&-", env=env)
    full = _run(folder, name, ">/dev/full", env=env)

    assert closed == (2, b"", b"mqsel: stdout is closed: expected a place for the answer\n")
    assert full == (2, b"", b"mqsel: stdout cannot be written: No space left on device\n")


@pytest.mark.sample(2, rest="process")
@pytest.mark.parametrize(
    ("name", "unbuffered"), [*((name, "") for name in COMMANDS | FINDING), ("lint", "1"), ("match", "1")]
)
def test_nobody_reads_the_answer(name: str, unbuffered: str, folder: Path) -> None:
    """A reader that has gone, as head goes, changes no exit code; only what prints messages stops, without a word."""
    status, _, err = _run(folder, name)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mqsel", *(COMMANDS | FINDING)[name]],
            cwd=folder,
            input=BLUE * 20,
            stdout=writer,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    finally:
        os.close(writer)

    assert done.returncode == status
    said = re.sub(rb", [\d.]+ s", b"", done.stderr)
    assert said == err or (err.startswith(said) and name.startswith(STREAMING))


@pytest.mark.sample(1, rest="process")
@pytest.mark.parametrize("name", ["match", "match -j", "why", "route", "inspect"])
def test_closed_stdin(name: str, folder: Path) -> None:
    """With stdin closed nothing else is taken for it: what reads it says so, what does not is as ever."""
    status, out, err = _run(folder, name)

    assert _run(folder, name, "0<&-") == (status, out, err)
    assert _run(folder, name, "- 0<&-")[0] == 2
    assert b"mqsel: stdin: Bad file descriptor\n" in _run(folder, name, "- 0<&-")[2]


@pytest.mark.process
def test_all_streams_closed(folder: Path) -> None:
    """With no stream at all a command ends with exit code 2, and workers do not take files for streams."""
    for name in COMMANDS:
        assert _run(folder, name, "0<&- >&- 2>&-") == (2, b"", b"")
    assert _run(folder, "match -j", "0<&- 2>&-")[:2] == (0, BLUE * 400)


def test_an_error_is_said_whatever_stdout_is(folder: Path) -> None:
    """What is wrong with a call is said, not that stdout is full, too."""
    command = f"{shlex.quote(sys.executable)} -m mqsel inspect a.jsonl --type a=int32 > /dev/full"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith(b"mqsel: --type is only for formats that store every value as text")


# ---- Ctrl-C ------------------------------------------------------------------------------------------------------


def _start(folder: Path, arguments: list[str], entry: str, begun: int) -> subprocess.Popen[bytes]:
    calls = {
        "module": ["-m", "mqsel"],
        "script": [str(folder / "mqsel")],
    }
    env = {**os.environ, "MQSEL_BEGUN": str(begun), "PYTHONPATH": str(folder / "hook"), "PYTHONDONTWRITEBYTECODE": ""}
    env["PYTHONPATH"] += os.pathsep + str(Path(cli.__file__).parent.parent.parent)
    return subprocess.Popen(
        [sys.executable, *calls[entry], *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        pass_fds=[begun],
    )


def _interrupted(folder: Path, name: str, entry: str, after: float | None) -> tuple[int, bytes, bytes, float]:
    """Run a command, and interrupt it so many seconds after mqsel has begun to listen.

    Returns: the exit code, stdout, stderr, and how long it took from that line on.
    """
    ours, theirs = os.pipe()
    with _start(folder, COMMANDS[name], entry, theirs) as process:
        os.close(theirs)
        os.read(ours, 1)
        began = time.perf_counter()
        os.close(ours)
        if after is not None:
            while time.perf_counter() - began < after:  # shorter than a sleep can be
                pass
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, re.sub(rb", [\d.]+ s", b"", err), time.perf_counter() - began


@pytest.fixture
def script(folder: Path) -> Iterator[None]:
    """Put there what an installer makes of the entry point, and have Ctrl-C count in what is started."""
    (folder / "mqsel").write_text("import re\nimport sys\nfrom mqsel.cli import main\nsys.exit(main())\n")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _interrupt(folder: Path, name: str, entry: str, count: int, rng: random.Random) -> Counter[str]:
    """Interrupt a command at random moments; count how it ended."""
    found: Counter[str] = Counter()
    whole = _interrupted(folder, name, entry, None)
    while found.total() < count:
        after = rng.choice((rng.random() ** 4, rng.random())) * whole[3] * 1.1
        status, out, err, _ = _interrupted(folder, name, entry, after)
        if (status, out, err) == whole[:3]:
            found["finished"] += 1
        else:
            assert (status, err) in ((130, b""), (130, whole[2])), (name, entry, after, status, err)
            assert whole[1].startswith(out)
            found["130"] += 1
    return found


@pytest.mark.process
@pytest.mark.parametrize("entry", ["module", "script"])
@pytest.mark.usefixtures("script")
def test_interrupted_at_any_moment(entry: str, folder: Path) -> None:
    """Ctrl-C ends a command with exit code 130 and without a word, or it has finished: imports and exit included."""
    rng = random.Random(entry)
    found: Counter[str] = Counter()
    for name in ("match", "match -j", "lint", "--help"):
        found += _interrupt(folder, name, entry, 6, rng)

    assert found["130"]
    assert found.total() == 24


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("script")
def test_interrupted_a_thousand_times(name: str, folder: Path) -> None:
    """The same, 50 times for each of twenty commands."""
    rng = random.Random(name)
    found = _interrupt(folder, name, "module", 30, rng) + _interrupt(folder, name, "script", 20, rng)
    print(name, dict(found))

    assert found.total() == 50


def test_importing_changes_no_handler() -> None:
    """A program that imports mqsel keeps its handler, whatever it is called by."""
    code = (
        "import signal; {}import mqsel, mqsel.cli, mqsel.files, mqsel.files.run.workers;"
        "assert signal.getsignal(signal.SIGINT) is {}"
    )
    for before, handler in (("", "signal.default_int_handler"), ("signal.signal(2, print); ", "print")):
        subprocess.run([sys.executable, "-c", code.format(before, handler)], check=True)


def test_ignored_in_the_background(folder: Path) -> None:
    """Where the caller has Ctrl-C ignored it stays so."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status, out, _, _ = _interrupted_while_ignored(folder)
    finally:
        signal.signal(signal.SIGINT, before)

    assert (status, out) == (0, BLUE * 200)


def _interrupted_while_ignored(folder: Path) -> tuple[int, bytes, bytes, float]:
    return _interrupted(folder, "match", "module", 0.01)


def test_a_file_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C amid the writing of a file ends the command behind it."""
    from mqsel import _interrupt

    file = tmp_path / "a"
    file.write_text("a LIKE 'b'")
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setitem(_interrupt._state, "is_due", False)  # or the next file that this process writes would end it
    replace = Path.replace

    def interrupted(path: Path, target: Path) -> Path:
        _interrupt.end()
        assert ended == []
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    cli.main(["lint", "--fix", "--file", str(file)])

    assert (file.read_text(), ended) == ("a = 'b'", [130])
