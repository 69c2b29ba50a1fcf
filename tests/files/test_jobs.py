"""Files sifted by several processes: what is given, said and counted is what one process gives, says and counts."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from conftest import process
from printer import amqsbcg_text
from sharing import filtered

import mqsel
from mqsel import cli
from mqsel.cli.run import _jobs
from mqsel.errors import ArgumentError, FileError, MqselError
from mqsel.files.framings import length_prefixed
from mqsel.files.parts import Named
from mqsel.files.qload import qload_text
from mqsel.files.run import cores, workers
from mqsel.files.run.tasks import Begun, JobRun, Task, cut, placed
from mqsel.files.run.work import Ask, Broken, Match, Sharing
from mqsel.formats import mq

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="no such signals on Windows")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to find processes in")

Run = Callable[..., tuple[int, bytes, str]]

SMALL = Sharing(part_size=2000)
ALWAYS_QUIET = SMALL._replace(quiet=-(10**18))  # lines of a file are read twice, even if it has just been written


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command, by default `mqsel match`, here; give the exit code, stdout, and stderr without the seconds."""

    def call(*arguments: object, command: str = "match", sharing: Sharing = SMALL) -> tuple[int, bytes, str]:
        status = cli.main([command, *map(str, arguments)], sharing)
        out, err = capsysbinary.readouterr()
        return status, out, re.sub(r", [\d.]+ s", "", err.decode())

    return call


def _lines(count: int) -> list[bytes]:
    made = [json.dumps({"n": n, "color": "blue" if n % 3 else None}).encode() + b"\n" for n in range(count)]
    made[count // 4] = b'{"n": {"int8": 300}}\n'
    made[count // 2] = b"\nx\n\r\n"
    return made


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Files of every kind: cut into many parts, packed, of messages, by columns, broken, and one that is not there."""
    mixed = [mq.encode({}, {"n": n, "color": "blue"}, b"data") for n in range(7)]
    contents = {
        "a.jsonl": b"".join(_lines(900)),
        "b.jsonl.gz": gzip.compress(b"".join(_lines(300))),
        "c.jsonl": b"".join(_lines(200))[:-1],
        "cut.gz": gzip.compress(b"".join(_lines(3000)))[:2500],
        "d.mq": b"".join(map(length_prefixed, mixed)) + b"\0\0",
        "e.qload": b"* QLOAD\n\n" + b"".join(map(qload_text, mixed)),
        "f.amqsbcg": b"$ amqsbcg Q\n" + b"".join(map(amqsbcg_text, mixed)),
        "empty": b"",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    found = [tmp_path / name for name in (*contents, "nowhere")]
    with suppress(ImportError):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"n": range(1000), "color": ["blue", "red"] * 500})
        pq.write_table(table, tmp_path / "g.parquet", row_group_size=100)
        found.append(tmp_path / "g.parquet")
    return found


@pytest.mark.sample(2, rest="process")
@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("options", [[], ["--count"], ["--invert", "--errors", "raise"]], ids=" ".join)
def test_as_one_process(run: Run, files: list[Path], options: list[str], count: int) -> None:
    """Invariant: lines, complaints with their places, counts and exit code are those of one process."""
    arguments = [*options, "color = 'blue' AND n <> 100", *files]

    assert run("-j", count, *arguments) == run("-j", 1, *arguments)


@pytest.mark.sample(4, rest="process")
@pytest.mark.parametrize("selector", ["n >= 0", "color = 'blue'", "n = 77"])
@pytest.mark.parametrize("options", [[], ["--invert"], ["--errors", "raise"], ["--count"], ["-n"]], ids=" ".join)
def test_lines_read_again(run: Run, tmp_path: Path, selector: str, options: list[str]) -> None:
    """Invariant: lines that this process reads where another found them are those that one process prints."""
    line = b'{"n": %d, "color": "%s", "of": "%s"}'
    texts = [line % (n, b"blue" if n % 7 else b"red", b"x" * (n % 90)) for n in range(600)]
    texts[100:100] = [b"", b"broken", b" \t\r", b'{"n": 1, "of": "' + b"y" * 9_000 + b'"}', b"{" * 5_000]
    files = []
    for name, start, end, last in (
        ("a", b"", b"\n", b"\n"),
        ("b", b"", b"\r\n", b""),
        ("c", b"\xef\xbb\xbf", b"\n", b"\n\n"),
    ):
        files.append(tmp_path / name)
        files[-1].write_bytes(start + end.join(texts) + last)
    arguments = [*options, selector, *files]

    assert run("-j", 3, *arguments, sharing=ALWAYS_QUIET) == run("-j", 1, *arguments)


def _crew(tasks: Iterator[Task], ask: Ask) -> workers._Crew:
    """Return two processes that look for messages with the color blue."""
    return workers._Crew(JobRun(mqsel.compile("color = 'blue'"), None, Match), lambda: ask, tasks, 2, None)


def _parts(file: Path, ask: Ask) -> Iterator[Task]:
    return cut([Task(0, Named(str(file), (), None))], None, ask.sharing.part_size)


@pytest.mark.parametrize(
    ("ask", "is_read"),
    [
        (Ask(sharing=ALWAYS_QUIET), True),
        (Ask(sharing=ALWAYS_QUIET, invert=True), True),
        (Ask(sharing=ALWAYS_QUIET, counting=True), False),
        (Ask(sharing=ALWAYS_QUIET, apart=True), False),
        (Ask(sharing=ALWAYS_QUIET, limit=5), False),
        (Ask(sharing=SMALL), False),
    ],
    ids=["match", "invert", "count", "apart", "limit", "just written"],
)
def test_which_lines_are_read_again(tmp_path: Path, ask: Ask, is_read: bool) -> None:
    """The process that prints reads the lines that another found, if their file is quiet."""
    file = tmp_path / "a"
    line = b'{"color": "%s", "of": "' + b"x" * 100 + b'"}\n'
    file.write_bytes((line % b"blue" + line % b"red") * 300)
    with closing(_crew(_parts(file, ask), ask)) as crew:
        for _ in crew.records():
            pass

        assert bool(crew._lines) == is_read


@needs_proc
def test_parts_of_a_file_that_other_processes_do_not_find(tmp_path: Path) -> None:
    """Parts of what other processes may not find are read here, and nobody waits for another to read them."""
    file, ask = tmp_path / "a", Ask(sharing=ALWAYS_QUIET)
    file.write_bytes(b'{"color": "blue"}\n' * 600)
    hidden = Named(f"/proc/self/root{file}", (), None)
    tasks = (task if number < 2 else task._replace(file=hidden) for number, task in enumerate(_parts(file, ask)))
    with closing(_crew(tasks, ask)) as crew:
        records = [*crew.records()]

    assert b"".join(record for *_, record in records if isinstance(record, bytes)) == file.read_bytes()
    assert {name for _, name, *_ in records} == {str(file), hidden.path}


def _change(file: Path, change: str, line: bytes) -> None:
    if change == "other":
        file.write_bytes(line % b"grey" * 300)
    elif change == "longer":
        file.write_bytes(line % b"blue" * 301)
    elif change == "shorter":
        file.write_bytes(line % b"blue" * 100)
    else:
        file.unlink()


@pytest.mark.parametrize("change", ["other", "longer", "shorter", "removed"])
def test_lines_of_a_file_that_changes(tmp_path: Path, change: str) -> None:
    """Invariant: whatever becomes of a file that is read twice, what is printed are lines that were selected."""
    file, line = tmp_path / "a", b'{"color": "%s", "of": "' + b"x" * 200 + b'"}\n'
    file.write_bytes(line % b"blue" * 300)
    ask, texts, broken = Ask(sharing=ALWAYS_QUIET), [], []
    with closing(_crew(_parts(file, ask), ask)) as crew:
        for *_, record in crew.records():
            if isinstance(record, bytes):
                texts.append(record)
                if len(texts) == 10:
                    _change(file, change, line)
            elif isinstance(record, Broken):
                broken.append(record.why)
    printed = sum(map(len, texts)) // len(line % b"blue")

    assert b"".join(texts) == line % b"blue" * printed
    if change == "longer":
        assert (printed, broken) == (301, [])
    elif change == "removed":
        assert broken
        assert all("No such file" in why for why in broken)
    else:
        assert printed < 300


@pytest.mark.sample(2, rest="process")
@pytest.mark.parametrize("number", [1, 40, 41, 250, 599, 700, 10_000])
def test_limit_as_one_process(run: Run, files: list[Path], number: int) -> None:
    """Invariant: a limit ends the run behind the same message, and what lies behind it is not counted."""
    arguments = ["--max-matches", number, "color = 'blue'", *[file for file in files if "jsonl" in file.name]]

    assert run("-j", 3, *arguments) == run("-j", 1, *arguments)


@pytest.mark.sample(1, rest="process")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=" ".join)
def test_why_as_one_process(run: Run, files: list[Path], options: list[str]) -> None:
    """Invariant: the report, complaints with their places, and the exit code are those of one process."""
    for these in (files, files[:1], files[3:4], files[-2:]):
        arguments = [*options, "color = 'blue' AND n > 100", *these]

        assert run("-j", 3, *arguments, command="why") == run("-j", 1, *arguments, command="why")


@pytest.fixture
def selectors(tmp_path: Path) -> Path:
    """A file of selectors, of which one is faulty and one gets nothing."""
    path = tmp_path / "selectors"
    path.write_text("blue\tcolor = 'blue'\n../big\tn > 100\nfaulty\tn >\nnobody\tcolor = 5\nbig\tn > 100\n")
    return path


@pytest.mark.sample(1, rest="process")
@pytest.mark.parametrize(
    "options", [[], ["--count"], ["--errors", "skip", "--max-matches", "250"], ["--max-matches", "10000"]], ids=" ".join
)
def test_route_as_one_process(run: Run, files: list[Path], selectors: Path, options: list[str]) -> None:
    """Invariant: keys, messages, complaints with their places, counts and exit code are those of one process."""
    arguments = [*options, selectors, *files]

    assert run("-j", 3, *arguments, command="route") == run("-j", 1, *arguments, command="route")


def test_route_raises_as_one_process(run: Run, files: list[Path], tmp_path: Path) -> None:
    """Invariant: the first broken message ends the run of several processes where it ends that of one."""
    good = tmp_path / "good"
    good.write_text("blue\tcolor = 'blue'\n")
    arguments = ["--errors", "raise", good, *files]
    status, out, err = run("-j", 3, *arguments, command="route")

    assert (status, out, err) == run("-j", 1, *arguments, command="route")
    assert (status, out.count(b"\n"), ":452: " in err, "stopped at the first error" in err) == (2, 300, True, True)


@pytest.mark.process
def test_route_into_as_one_process(run: Run, files: list[Path], selectors: Path, tmp_path: Path) -> None:
    """Invariant: each key gets the same file."""
    found = []
    for count in (1, 3):
        into = tmp_path / f"into{count}"
        status = run("-j", count, "--into", into, selectors, *files, command="route")
        found.append((status, {one.name: one.read_bytes() for one in into.iterdir()}))

    assert found[0] == found[1]
    names = ["%2e%2e%2fbig.jsonl", "big.jsonl", "blue.jsonl", "blue.mq", "blue.qload", "blue.txt"]
    assert sorted(found[0][1]) == names


def test_stdin_and_pipes_are_read_here(files: list[Path]) -> None:
    """What can be read once only is read by the process that has it, in its place among the others."""
    content = files[0].read_bytes()
    outputs = []
    for count in ("1", "3"):
        done = process("match", "-j", count, "n >= 0", files[2], "-", "/dev/null", files[0], input=content)
        outputs.append((done.returncode, done.stdout, re.sub(rb", [\d.]+ s", b"", done.stderr)))

    assert outputs[0] == outputs[1]
    assert outputs[0][1].count(b"\n") == 2 * 898 + 198


def test_jobs_are_not_for_spark(run: Run, selectors: Path) -> None:
    """Two ways to say how many is an error that says which one counts."""
    for command, what in (("match", "a = 1"), ("why", "a = 1"), ("route", selectors)):
        status, out, err = run("-j", 2, "--spark", what, "x", command=command)

        assert (status, out) == (2, b"")
        assert err.endswith(
            "mqsel: -j is for mqsel's processes: Spark has its own workers\n  hint: --master 'local[4]'\n"
        )


@pytest.mark.parametrize(
    ("size", "is_terminal", "is_counting", "is_shared"),
    [(1 << 28, False, False, True), ((1 << 28) - 1, False, False, False), (1 << 28, True, False, False),
     (1 << 28, True, True, True)],
)  # fmt: skip
def test_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, size: int, is_terminal: bool, is_counting: bool, is_shared: bool
) -> None:
    """Several processes by default if the input is large and no terminal waits for its first line."""
    file = tmp_path / "a"
    with file.open("wb") as sparse:
        sparse.truncate(size)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)

    assert _jobs([str(file), "-"], Ask(counting=is_counting)) == (cores() if is_shared else 1)


# ---- what goes wrong ---------------------------------------------------------------------------------------------


@needs_signals
@pytest.mark.parametrize("is_gone", [False, True])
def test_a_killed_process(run: Run, files: list[Path], monkeypatch: pytest.MonkeyPatch, is_gone: bool) -> None:
    """A process that is killed ends the run with one error that names the part, behind what was found before it.

    Also one that is gone before it was told anything: then what it is told breaks the pipe, twice.
    """
    give, started = subprocess.Popen, []

    def stopped(*arguments: Any, **options: Any) -> Any:
        process = give(*arguments, **options)
        started.append(process)
        if len(started) == 2:
            process.kill()
            if is_gone:
                process.wait()
        return process

    whole = run("-j", 1, "color = 'blue'", files[0])[1]
    monkeypatch.setattr(subprocess, "Popen", stopped)
    status, out, err = run("-j", 2, "color = 'blue'", files[0])
    place = re.fullmatch(
        r"mqsel: the process that read bytes ([\d,]+) to [\d,]+ was killed by SIGKILL \[.*a.jsonl, byte (\d+)\]\n"
        r"  hint: if memory is short, .*\n",
        err.partition("mqsel: the process")[2].join(["mqsel: the process", ""]),
    )

    assert status == 2
    assert place is not None
    assert place[1].replace(",", "") == place[2]
    assert out == whole[: len(out)]
    assert [process.poll() is None for process in started] == [False, False]


def test_no_process(run: Run, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be started the error says so, and what does without."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    status, out, err = run("-j", 2, "color = 'blue'", files[1], files[2])

    assert (status, out) == (2, b"")
    assert re.fullmatch(
        r"mqsel: a process of Python does not start: .*/nowhere/python.*\n  hint: leave it to one: .*\n", err
    )


def test_a_thread_that_fails(files: list[Path]) -> None:
    """What nobody has thought of is raised where records are waited for, instead of waiting without end."""

    def broken() -> Iterator[Task]:
        yield Task(0, Named(str(files[2]), (), None))
        raise RuntimeError("unthought of")

    ask = Ask(False, False, False, None)
    with pytest.raises(RuntimeError, match="unthought of"):
        list(workers.side_by_side(JobRun(mqsel.compile("n = 1"), None, Match), lambda: ask, broken(), 2, None))


def _workers(parent: int) -> list[int]:
    """List the processes that serve a run."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, IndexError):
            if entry.name.isdigit() and b"mqsel.files.run.workers" in (entry / "cmdline").read_bytes():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[0] != "Z" and (not parent or int(fields[1]) == parent):
                    found.append(int(entry.name))
    return found


def _running(found: list[int]) -> list[int]:
    return [pid for pid in found if pid in _workers(0)]


@pytest.fixture(params=["match", "route"])
def running(
    tmp_path: Path, selectors: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """Return a run whose output nobody reads, and its processes."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"n": 1}\n' * 1000)
    selectors.write_text("all\tn >= 0\n")
    what = {"match": "n >= 0", "route": str(selectors)}[request.param]
    command = [sys.executable, "-m", "mqsel", request.param, "-j", "2", what, *[str(file)] * 5000]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background shell would ignore
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        signal.signal(signal.SIGINT, before)
        assert process.stdout is not None
        process.stdout.read(10)
        serving = _workers(process.pid)
        assert len(serving) == 2
        yield process, serving
        process.kill()


@needs_signals
@needs_proc
def test_interrupted(running: tuple[subprocess.Popen[bytes], list[int]]) -> None:
    """Ctrl-C ends all processes at once, without a word, and with the exit code of one."""
    process, serving = running
    process.send_signal(signal.SIGINT)

    assert process.wait(10) == 130
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert _running(serving) == []


@needs_signals
@needs_proc
def test_closed_pipe(running: tuple[subprocess.Popen[bytes], list[int]]) -> None:
    """A reader that has enough ends all processes without a word."""
    process, serving = running
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    assert process.stderr.read() == b""
    assert process.wait(30) == 0
    assert _running(serving) == []


@needs_signals
@needs_proc
def test_killed(running: tuple[subprocess.Popen[bytes], list[int]]) -> None:
    """Processes whose parent is killed end by themselves."""
    process, serving = running
    process.kill()
    process.wait(30)
    limit = time.monotonic() + 20
    while _running(serving) and time.monotonic() < limit:
        time.sleep(0.05)

    assert _running(serving) == []


def test_nobody_runs_far_ahead(tmp_path: Path) -> None:
    """Invariant: what waits for those before it is bounded, however slowly it is taken."""
    content = b'{"color": "blue", "text": "' + b"x" * 1000 + b'"}\n'
    file = tmp_path / "a"
    file.write_bytes(content * 20_000)
    ask = Ask(sharing=Sharing(part_size=1 << 20, room=1 << 20))
    waiting = total = 0
    with closing(_crew(_parts(file, ask), ask)) as crew:
        for *_, record in crew.records():
            if isinstance(record, bytes):
                total += len(record)
                time.sleep(0.02)
                waiting = max(waiting, crew._held)

    assert total == file.stat().st_size
    assert 1 << 20 < waiting < 5 << 20  # of 20; a batch more for each process than there is room for


# ---- Python ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3])
def test_filter(files: list[Path], count: int) -> None:
    """Selected messages come one at a time, untouched and in order, with counts and errors."""
    lines = files[0]
    found = filtered(lines, "color = 'blue'", 2000, jobs=count)
    expected = [line for line in lines.read_bytes().splitlines(keepends=True) if b"blue" in line]

    assert list(found) == expected
    assert (found.seen, found.selected, found.unknown, found.skipped) == (900, len(expected), 299, 1)
    assert [(problem.path, problem.line) for problem in found.problems] == [(str(lines), 452)]


@pytest.mark.parametrize("count", [1, 2])
def test_filter_of_every_format(files: list[Path], count: int) -> None:
    """Written one after the other, what is selected of a file is the file again; troubles are listed."""
    for file in files:
        found = filtered([file], "n >= 0", 2000, jobs=count)
        if file.suffix in (".qload", ".amqsbcg"):
            assert b"".join(found).rstrip() == file.read_bytes().rstrip()
        elif file.suffix == ".parquet":
            assert next(found) == b'{"n": 0, "color": "blue"}\n'
        else:
            (*_,) = found
        assert bool(found.problems) == (file.suffix not in (".qload", ".amqsbcg", ".parquet") and file.name != "empty")


def test_filter_raises_the_first(files: list[Path]) -> None:
    """The first thing that cannot be read is an error with its place; arguments are looked at before."""
    for count in (1, 2):
        found = mqsel.files.filter(files[0], mqsel.compile("color = 'blue'"), jobs=count)
        with pytest.raises(FileError, match=r"broken JSON.*a\.jsonl, line 452\]"):
            list(found)
    with pytest.raises(FileError, match="No such file or directory"):
        next(mqsel.files.filter("nowhere", "a = 1"))
    with pytest.raises(FileError, match=r"expected length-prefixed messages.*byte 0"):
        next(mqsel.files.filter(files[0], "a = 1", format="mq"))
    for options, text in (
        ({"format": "xml"}, "format is 'xml': expected one of 'parquet', 'json'"),
        ({"errors": "ignore"}, "errors is 'ignore'"),
        ({"jobs": 0}, "jobs is 0: expected a count of processes, or None"),
        ({"types": {"a": "int32"}}, "types= is only for formats that store every value as text"),
        ({"types": {"a": "int"}, "format": "lenses"}, "'a' is declared 'int': there is no such type"),
        ({"types": 5}, "types is 5: expected a mapping of names of properties to types"),
        ({"format": []}, r"format is \[\]: expected one of"),
    ):
        with pytest.raises(ArgumentError, match=text):
            mqsel.files.filter(files[0], "a = 1", **options)  # type: ignore[arg-type]


def test_filter_that_is_left(files: list[Path]) -> None:
    """Closing it ends its processes; the counts are of what was read to its end."""
    found = mqsel.files.filter([files[0]] * 50, "n >= 0", errors="skip", jobs=2)
    next(found)
    found.close()

    assert list(found) == []
    assert found.seen < 50 * 900


class _Failing(Match):
    """A job that ends with an error behind its first record."""

    def messages(self, *arguments: Any) -> Iterator[Any]:
        yield from islice(super().messages(*arguments), 1)
        raise MqselError("a file packed by lz4 needs lz4")


def test_errors_travel(files: list[Path]) -> None:
    """An error that ends a run, such as that of a missing package, is given behind what came before it, and raised."""
    out, task = io.BytesIO(), Task(0, Named(str(files[0]), (), None))
    workers._give(out, JobRun(mqsel.compile("color = 'blue'"), None, _Failing), Ask(), task)
    records, is_whole = pickle.loads(out.getvalue())
    of_file = placed(task, records, print)

    assert is_whole
    *place, begun = next(of_file)
    assert place == [0, str(files[0]), "json"]
    assert isinstance(begun, Begun)
    assert files[0].read_bytes().startswith(begun.start)
    assert next(of_file)[-1].startswith(b'{"n": 1, "color": "blue"}\n')
    with pytest.raises(MqselError, match="needs lz4"):
        next(of_file)
