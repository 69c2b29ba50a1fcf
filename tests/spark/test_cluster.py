"""Real clusters on this machine: every way that ships mqsel to workers without it, and what is said where it lacks.

Drivers, masters and workers are processes of their own, see cluster_jobs; each stands in a session that is killed as a
whole, and in a folder that is removed, whatever happens. ``--volume 10`` counts 1,000,000 messages instead of
100,000, tries the ways that CI leaves out, and gives Spark Connect executors of its own.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from running import OWN_PORT, SPARK_JAVA, keep_classes
from volumes import is_release

import mqsel
from mqsel.machine.program import BUILD, VERSION

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
psutil = pytest.importorskip("psutil", reason="psutil is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

pytestmark = pytest.mark.cluster

FULL = is_release()
NUMBER = 1_000_000 if FULL else 100_000
SECONDS = 480  # for a process; the slowest takes a tenth of it on two idle cores
CONF = {
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "900m",
    "spark.sql.shuffle.partitions": "4",
    "spark.task.maxFailures": "1",
}
FAILED = f"mqsel {VERSION} cannot be imported in the Spark Python worker: "
MISSING = f"{FAILED}No module named 'mqsel"
OTHER = "9.8.7"


class Kit(NamedTuple):
    """What the clusters of these tests are made of.

    Attributes:
        folder: holds everything, the packages that a driver imports included.
        environ: of every process.
        wheel: of the package under test.
        zipped: the same, with the name of a zip file.
        package: an archive that unpacks to the package.
        other: the same of another version.
        installed: a Python with pyarrow and the wheel.
        bare: a Python with pyarrow.
        environment: the first of them, packed.
    """

    folder: Path
    environ: dict[str, str]
    wheel: Path
    zipped: Path
    package: Path
    other: Path
    installed: Path
    bare: Path
    environment: Path


def _wanted(number: int) -> int:
    """Count in Python alone what the selector of the jobs selects of the first *number* messages."""
    return sum(
        n % 3 == 0 and n % 5 == 0 and n % 11 != 0 and n * 7919 % 5000 > 2500 and n % 1000 / 4 >= 10
        for n in range(number)
    )


# ---- processes -------------------------------------------------------------------------------------------------------


def _members(session: int) -> list[int]:
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getsid(pid) == session and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
    return found


@contextlib.contextmanager
def _process(kit: Kit, command: list[Any], log: Path, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process; at the end kill it and all that it or its children started, which may have lost their parents."""
    with log.open("wb") as out, log.with_suffix(".err").open("wb") as err:
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=out,
            stderr=err,
            cwd=kit.folder,
            env={**kit.environ, **environ},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        while members := _members(process.pid):
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        process.wait()


def _submit(kit: Kit, master: str, *arguments: Any, **conf: Any) -> list[Any]:
    """Write the command that runs a job in classic Spark; workers run what is set as spark.pyspark.python."""
    said = {**CONF, "spark.pyspark.driver.python": sys.executable, **conf}
    settings = [part for name, value in said.items() for part in ("--conf", f"{name}={value}")]
    home = Path(kit.environ["SPARK_HOME"])
    return [home / "bin/spark-submit", "--master", master, *settings, kit.folder / "cluster_jobs.py", *arguments]


def _found(kit: Kit, command: list[Any], log: Path, **environ: str) -> Any:
    """Run a job to its end; give what it printed."""
    with _process(kit, command, log, **environ) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS)
        lines = log.read_text().splitlines()
        assert process.poll() == 0 and lines, log.with_suffix(".err").read_text()[-3000:]
        print(lines[-1])
        return json.loads(lines[-1])


# ---- what is shipped -------------------------------------------------------------------------------------------------


def _wheel(folder: Path, package: Path) -> Path:
    """Return the wheel of a package as it stands: pip would compile it anew, for half a minute."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tags = f"{tag}-{tag}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    path = folder / f"mqsel-{VERSION}-{tags}.whl"
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: mqsel\nVersion: {VERSION}\n",
        "WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tags}\n",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        names = [str(file.relative_to(package.parent)) for file in package.rglob("*") if file.is_file()]
        for name in names:
            made.write(package.parent / name, name)
        info = f"mqsel-{VERSION}.dist-info"
        for name, text in about.items():
            made.writestr(f"{info}/{name}", text)
        listed = [*names, *(f"{info}/{name}" for name in (*about, "RECORD"))]
        made.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in listed))
    return path


def _python(folder: Path, *requirements: Any) -> Path:
    """Return a Python with some packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=SECONDS)
    python = folder / "bin" / "python"
    if not requirements:
        return python
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile", *requirements]
    # By PYTHONPATH pip would find the package under test, and install none.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(list(map(str, install)), check=True, timeout=SECONDS, env=environ)
    return python


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    """Build, once, all that is shipped."""
    pytest.importorskip("venv_pack", reason="venv-pack is not installed")
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        pytest.skip("no java on the PATH and no JAVA_HOME: Spark needs Java 17")
    keep_classes()
    folder = tmp_path_factory.mktemp("kit")
    try:
        yield _kit(folder)
    finally:
        shutil.rmtree(folder)


def _kit(folder: Path) -> Kit:
    package = folder / "mqsel"
    clutter = shutil.ignore_patterns("__pycache__", "*.pyx", "*.pxd", "*.c")
    shutil.copytree(Path(mqsel.__file__).parent, package, ignore=clutter)
    shutil.copy(Path(__file__).parent / "cluster_jobs.py", folder)
    wheel = _wheel(folder, package)
    archive = shutil.make_archive(str(folder / "package"), "zip", package)
    doctored = shutil.copytree(package, folder / "doctored")
    program = doctored / "machine" / "program.py"
    (compiled,) = program.parent.glob("program.*.so")
    compiled.unlink()
    text = program.read_text()
    assert f'VERSION = "{VERSION}"' in text
    program.write_text(text.replace(f'VERSION = "{VERSION}"', f'VERSION = "{OTHER}"'))
    other = shutil.make_archive(str(folder / "other"), "zip", doctored)

    # A local-cluster keeps its work in its home, and what is killed leaves its temporary files: all of it goes here.
    home, temporary = folder / "home", folder / "tmp"
    for made in (home, temporary):
        made.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))}
    environ |= {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "JAVA_TOOL_OPTIONS": f"{SPARK_JAVA} -XX:-UsePerfData -Djava.io.tmpdir={temporary}",
        "TMPDIR": str(temporary),
    }
    pyarrow = f"pyarrow=={importlib.metadata.version('pyarrow')}"
    installed, bare = _python(folder / "installed", pyarrow, wheel), _python(folder / "bare")
    packages, others = (Path(sysconfig.get_path("purelib", vars={"base": one.parents[1]})) for one in (installed, bare))
    for found in packages.glob("pyarrow*"):  # pip would unpack it again
        (others / found.name).symlink_to(found)
    environment = folder / "env.tar.gz"
    pack = [sys.executable, "-m", "venv_pack", "-p", folder / "installed", "-o", environment, "-q"]
    subprocess.run([*map(str, pack), "--compress-level", "1"], check=True, timeout=SECONDS)
    return Kit(
        folder=folder,
        environ=environ,
        wheel=wheel,
        zipped=Path(shutil.copy(wheel, folder / "wheel.zip")),
        package=Path(archive),
        other=Path(other),
        installed=installed,
        bare=bare,
        environment=environment,
    )


@pytest.fixture(scope="module")
def master(kit: Kit) -> Iterator[str]:
    """Start a standalone master and two workers; give the address."""
    start = [Path(kit.environ["SPARK_HOME"]) / "bin/spark-class"]
    deploy = "org.apache.spark.deploy"
    with contextlib.ExitStack() as stack:

        def daemon(name: str, *arguments: Any) -> Path:
            log = kit.folder / f"{name}.out"
            path = f"{kit.folder / name}.bin{os.pathsep}{os.environ['PATH']}"
            command = [*start, *arguments, "--host", "127.0.0.1", "--webui-port", 0]
            stack.enter_context(_process(kit, command, log, PATH=path))
            return log.with_suffix(".err")

        # What `picked-python` is differs between the workers: on the second it fails every task.
        for name, command in (("worker1", f'exec "{kit.installed}" "$@"'), ("worker2", "exit 1")):
            python = kit.folder / f"{name}.bin" / "picked-python"
            python.parent.mkdir()
            python.write_text(f"#!/bin/sh\n{command}\n")
            python.chmod(0o755)
        log = daemon("master", f"{deploy}.master.Master", "--port", 0)
        address = _line(log, "Starting Spark master at ").split()[-1]
        for name in ("worker1", "worker2"):
            folder = kit.folder / name
            log = daemon(name, f"{deploy}.worker.Worker", address, "--cores", 1, "--memory", "1g", "--work-dir", folder)
            _line(log, "Successfully registered with master")
        yield address


def _line(log: Path, text: str) -> str:
    """Wait for a line of a log."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for line in log.read_text().splitlines():
            if text in line:
                return line
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-3000:])


# ---- tests -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["packed", "archive", "installed"])
def test_all_strategies_on_a_standalone_cluster(kit: Kit, master: str, tmp_path: Path, way: str) -> None:
    """Native, Arrow and RDD select the same, as many as Python counts, on two workers that have no mqsel themselves."""
    if way != "packed" and not FULL:
        pytest.skip("this way is tried at --volume 10")
    conf: dict[str, Any] = {
        "packed": {"spark.archives": f"{kit.environment}#env", "spark.pyspark.python": "./env/bin/python"},
        "archive": {"spark.archives": f"{kit.package}#mqsel", "spark.pyspark.python": kit.bare},
        "installed": {"spark.pyspark.python": kit.installed},
    }[way]
    found = _found(kit, _submit(kit, master, "strategies", NUMBER, tmp_path / "messages", **conf), tmp_path / "out")

    assert found["messages"] == NUMBER
    assert {found[strategy][0] for strategy in ("native", "arrow", "rdd")} == {_wanted(NUMBER)}
    head, *workers = found["table"].splitlines()
    assert head.split() == ["host", "python", "mqsel", "pyarrow", "tasks"]
    assert all(worker.split()[3] == VERSION and worker.endswith("ready") for worker in workers)
    if way == "packed":
        assert len(workers) == 2
        assert all("/env/bin/python" in worker for worker in workers)


def test_a_worker_that_fails_every_task(kit: Kit, master: str, tmp_path: Path) -> None:
    """Spark runs its tasks elsewhere, or gives up: the cluster is not ready, and the table says where and why."""
    conf: dict[str, Any] = {"spark.pyspark.python": "picked-python", "spark.task.maxFailures": 1000}
    patient, strict = _found(kit, _submit(kit, master, "failing", 8, **conf), tmp_path / "out")

    for found in (patient, strict):
        assert not found["ready"]
        ((host, executor, failed, reason),) = found["failures"]
        assert (host, failed >= 1) == ("127.0.0.1", True)
        assert f"executor {executor} on 127.0.0.1: {failed} failed attempt" in found["table"]
        assert "pyspark.daemon" in reason
    (row,) = [line for line in patient["table"].splitlines() if line.endswith("ready")]
    assert row.split()[-2] == "8"
    assert not [line for line in strict["table"].splitlines() if line.endswith("ready")]


def test_a_cluster_that_lacks_mqsel(kit: Kit, tmp_path: Path) -> None:
    """Workers without it, with a wheel, with another version: one error each, which says how to ship; then it works."""
    sent = (kit.wheel, kit.zipped, f"{kit.other}#mqsel", f"{kit.package}#mqsel")
    # A worker that is used again has what it imported for the session before.
    conf: dict[str, Any] = {"spark.pyspark.python": kit.bare, "spark.python.worker.reuse": "false"}
    found = _found(kit, _submit(kit, "local-cluster[2,1,1024]", "lacking", *sent, **conf), tmp_path / "out")

    other = f"the driver has mqsel {BUILD}, the Spark Python worker {OTHER} "
    for name, message in (
        ("nothing", f"{MISSING}'"),
        ("wheel", f"{MISSING}'"),
        ("zip", f"{FAILED}mqsel is imported from ./wheel.zip"),
        ("other", other),
    ):
        told = found[name].splitlines()
        errors = [number for number, line in enumerate(told) if line.startswith("ImportError: ")]
        assert len(errors) == 1, found[name]
        error, where, hint = told[errors[0] : errors[0] + 3]
        assert error.startswith(f"ImportError: {message}")
        assert where.startswith(f"  host {os.uname().nodename}, python {kit.bare} ")
        assert hint.startswith("  hint: install one mqsel on every worker, or ship an environment: venv-pack -o ")
    assert "NO\n" in found["nothing, table"] and "No module named 'mqsel'" in found["nothing, table"]
    assert f"{BUILD.replace(VERSION, OTHER)}, the driver has {BUILD}" in found["other, table"]
    assert found["package"] == str(_wanted(5000))
    assert found["package, table"].endswith("ready")


def test_an_artifact_in_spark_connect(kit: Kit, tmp_path: Path) -> None:
    """Workers without mqsel say so; sent as an artifact it gives the same on both strategies."""
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")
    job = [sys.executable, kit.folder / "cluster_jobs.py", "shipped", f"{kit.package}#mqsel", NUMBER]
    remote = "local-cluster[2,1,1024]" if FULL else "local[2]"
    environ = {"MQSEL_REMOTE": remote, "PYSPARK_PYTHON": str(kit.bare), **OWN_PORT}
    found = _found(kit, [*job, tmp_path / "messages"], tmp_path / "out", **environ)

    assert f"ImportError: {MISSING}" in found["nothing"]
    assert found["messages"] == NUMBER
    assert {found[strategy][0] for strategy in ("native", "arrow")} == {_wanted(NUMBER)}
    assert found["table"].endswith("ready")


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_a_set_reaches_an_executor_once(kit: Kit, tmp_path: Path, kind: str) -> None:
    """Two executors with one Python worker each: a worker opens a set once, a file comes once for a session.

    Over two jobs of 16 tasks and a stream of four batches. In Spark Connect the stream has a session, and workers, of
    its own. Ten changes of a set that is carried leave no file on the driver and none on the executors.
    """
    number, cluster = 800, "local-cluster[2,1,1024]"
    work = kit.folder / "home" / "work"
    before = set(work.glob("*"))
    old = {str(path) for path in kit.folder.rglob("mqsel-*.set")}  # of tests whose driver was killed
    arguments = ["travelling", number, tmp_path, 10]
    if kind == "classic":
        conf = {"spark.pyspark.python": kit.installed, "spark.log.level": "INFO"}
        # Until both executors are there: else one of them may do all.
        conf |= {
            "spark.scheduler.minRegisteredResourcesRatio": "1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{SECONDS}s",
        }
        command, environ = _submit(kit, cluster, *arguments, **conf), {}
    else:
        pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
        pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")
        command = [sys.executable, kit.folder / "cluster_jobs.py", *arguments]
        environ = {"MQSEL_REMOTE": cluster, "PYSPARK_PYTHON": str(kit.installed)}  # the one without OWN_PORT
    found = _found(kit, command, tmp_path / "out", **environ)

    weights = [n * 7919 % 5000 if n % 5 == 0 and n % 11 != 0 else 0 for n in range(number)]
    assert any(weights)
    sessions = 1 if kind == "classic" else 2
    for way, most in (("carried", 1), ("file", 12)):  # sets that a worker has opened, with those that changed
        assert dict(found[way]["keys"]) == {n: [k for k in range(100) if weights[n] > 50 * k] for n in range(number)}
        # Of each Python worker, by the daemon of its executor: how often it had opened a set, and used one.
        workers: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for daemon, worker, opened, again in found[way]["looks"] + found[way]["stream"]:
            workers.setdefault((daemon, worker), []).append((opened, opened + again))
        assert len(workers) == len({daemon for daemon, _ in workers}) == 2 * sessions
        assert all(len({opened for opened, _ in looks}) == 1 for looks in workers.values())
        assert all(opened <= most for looks in workers.values() for opened, _ in looks)
        # 16 tasks of each job; the rows of several small files of a batch come together.
        used = [[used for _, used in looks] for looks in workers.values()]
        assert sum(1 + max(one) - min(one) for one in used) >= 2 * 16 + 4
    assert found["selected"] == [sum(40 - key for key in range(number + 1)) for number in range(10)]
    assert len(found["executors"]) == 2
    left = [[one for one in some if one not in old] for some in (found["driver"], *found["executors"].values())]
    assert left == [[], [], []]
    (application,) = set(work.glob("*")) - before
    for log in (application / "0" / "stderr", application / "1" / "stderr"):
        brought = re.findall(r"Executor: Fetching (\S+/mqsel-\S+\.set) ", log.read_text())
        assert len(brought) == len(set(brought)) == sessions, brought


def test_a_stream_that_is_killed(kit: Kit, tmp_path: Path) -> None:
    """A driver killed in the midst of a batch and started again with its checkpoint loses no row and doubles none."""
    import pyarrow as pa
    from pyarrow import parquet

    files, size = 6, 200
    source, sink, checkpoint = tmp_path / "source", tmp_path / "sink", tmp_path / "checkpoint"
    source.mkdir()
    rows = [{"n": n, "color": ("blue", "red", None)[n % 3], "weight": n * 7919 % 5000} for n in range(files * size)]
    for number in range(files):
        parquet.write_table(
            pa.Table.from_pylist(rows[number * size : (number + 1) * size]), source / f"{number}.parquet"
        )
    job = _submit(kit, "local[2]", "stream", source, sink, checkpoint, **{"spark.pyspark.python": kit.installed})

    def batches(kind: str) -> int:
        folder = checkpoint / kind
        return sum(path.name.isdecimal() for path in folder.iterdir()) if folder.exists() else 0

    end = time.monotonic() + SECONDS
    with _process(kit, job, tmp_path / "out") as process:
        while time.monotonic() < end and process.poll() is None:
            done = batches("commits")  # before the offsets: a batch that begins in between is not one that ends
            if done >= 2 and batches("offsets") > done:
                process.kill()  # at once: this is Java, and the Python of the driver dies of it
                break
            time.sleep(0.005)
    before = batches("commits")
    assert 2 <= before < files, (tmp_path / "out.err").read_text()[-3000:]
    assert process.returncode == -signal.SIGKILL
    print(f"{files} batches: killed after {before}, when {batches('offsets') - before} had begun")
    arrived = _found(kit, job, tmp_path / "again")

    assert batches("commits") == files
    assert sorted(arrived) == [row["n"] for row in rows if row["color"] == "blue" and row["weight"] > 2500]
