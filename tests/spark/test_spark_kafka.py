"""A broker at the front: messages and records from Kafka through the programs that spark/SOURCES.md shows.

A broker of one node, its controller included, runs in a JVM of its own on the loopback, from jars that Maven fetches;
so does the stream, a process that is killed while it works and started again. Every delivery is then in the table once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from products.engines import compiled, jars
from running import JAVA, free_port

import mqsel
from mqsel.formats import records

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

pytestmark = pytest.mark.brokers

HERE = Path(__file__).parent
COUNT, LATER = 4_000, 1_000  # records before the stream begins, and after it was killed
SECONDS = 120  # for any one thing; a machine with nothing else to do takes a fifth of it
SELECTORS = {
    "heavy": "weight > 4000",
    "red cars": "JMSType = 'car' AND color LIKE 'r%'",
    "a/b c=d%": "JMSPriority >= 8 AND weight IS NOT NULL",
    "nobody": "weight = 'heavy'",
    "everybody": "TRUE",
}


def _record(number: int) -> dict[str, Any]:
    weight = {"propertyType": "integer", "integer": number * 7919 % 5000}
    if number % 11 == 0:
        weight = {"propertyType": "string", "string": "much"}
    made = {
        "messageID": f"ID:{number}",
        "timestamp": 1_772_431_219_918 + number * 45_000,
        "deliveryMode": 1 + number % 2,
        "type": ("car", "bus", "van")[number % 3],
        "priority": number % 10,
        "properties": {"color": {"propertyType": "string", "string": ("red", "blue", "green", "rose")[number % 4]}},
    }
    if number % 13:
        made["properties"]["weight"] = weight
    return made


def _jars() -> Path:
    """Fetch the jars unless that is done, or skip: Spark's source in its version, or else in the newest there is."""
    pom = HERE / "kafka.xml"
    known = re.search("<spark.version>(.*)</spark.version>", pom.read_text())
    with contextlib.suppress(pytest.skip.Exception):
        return jars(pom, ROOT / "build" / "kafka" / pyspark.__version__, f"-Dspark.version={pyspark.__version__}")
    return jars(pom, ROOT / "build" / "kafka" / known[1])


@contextlib.contextmanager
def _process(command: list[str], log: Path, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process; at the end kill it with all that it started."""
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(condition: Any, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None and time.monotonic() < end, log.read_text(errors="replace")[-4000:]
        time.sleep(0.05)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a broker, of which each test has topics of its own; give its address."""
    tmp_path = tmp_path_factory.mktemp("broker")
    path = f"{_jars()}/*"
    front = free_port(2)
    back = front + 1
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{back}",
        "listeners": f"PLAINTEXT://127.0.0.1:{front},CONTROLLER://127.0.0.1:{back}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(tmp_path / "kafka"),
        "num.partitions": "3",
        "offsets.topic.replication.factor": "1",
    }
    (tmp_path / "broker.properties").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    java = ["java", "-Xmx300m", *JAVA.split(), "-cp", path]
    form = [*java, "kafka.tools.StorageTool", "format", "-t", "A" * 21 + "Q", "-c", str(tmp_path / "broker.properties")]
    subprocess.run(form, check=True, capture_output=True, timeout=SECONDS)
    log = tmp_path / "broker.log"

    def answers() -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", front), 1):
            return True
        return False

    with _process([*java, "kafka.Kafka", str(tmp_path / "broker.properties")], log) as process:
        _wait(answers, process, log)
        yield f"127.0.0.1:{front}"


def _lines(*arguments: str, lines: str = "") -> list[str]:
    """Send lines to a topic, or read all that it has."""
    path = compiled(_jars(), "lines", KafkaLines=(HERE / "KafkaLines.java").read_text(encoding="utf-8"))
    command = ["java", *JAVA.split(), "-cp", path, "KafkaLines", *arguments]
    done = subprocess.run(command, input=lines, text=True, capture_output=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _send(broker: str, numbers: range) -> None:
    _lines(broker, "records", lines="".join(json.dumps(_record(number)) + "\n" for number in numbers))


def _committed(checkpoint: Path) -> int:
    """Count the records of all batches that are committed."""
    batches = [int(path.name) for path in checkpoint.glob("commits/*") if path.name.isdigit()]
    if not batches:
        return 0
    written = (checkpoint / "offsets" / str(max(batches))).read_text().splitlines()[-1]
    return sum(count for partitions in json.loads(written).values() for count in partitions.values())


def _example(folder: Path, name: str) -> Path:
    """Write a program that the manual shows to a file."""
    shown = (Path(mqsel.__file__).parent / "spark" / "SOURCES.md").read_text(encoding="utf-8")
    found = re.search(rf"cat > {re.escape(name)} <<'END'\n(.*?)^END$", shown, re.MULTILINE | re.DOTALL)
    path = folder / name
    path.write_text(found[1], encoding="utf-8")
    return path


def _submit(program: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """Write the command that runs a program, and its environment."""
    source = ",".join(
        str(path) for name in ("spark-*", "kafka-clients-*", "commons-pool2-*") for path in _jars().glob(name)
    )
    settings = {"spark.jars": source, "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    submit = [sys.executable, "-m", "pyspark.find_spark_home"]
    home = subprocess.run(submit, capture_output=True, text=True, check=True).stdout.strip()
    command = [f"{home}/bin/spark-submit", "--master", "local[2]"]
    command += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    environ = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    return [*command, str(program), *arguments], environ


def test_plain_messages_from_a_topic_to_another(broker: str, tmp_path: Path) -> None:
    """Invariant: of messages in plain JSON the other topic has those that the Matcher selects, as they came."""
    selector = "color LIKE 'b%' AND weight > 2500"
    messages: list[dict[str, Any]] = [
        {"color": ("red", "blue", None)[number % 3], "weight": number * 7919 % 5000, "body": {"n": number}}
        for number in range(600)
    ]
    for message in messages[::7]:
        del message["weight"]
    lines = [json.dumps(message) for message in messages]
    _lines(broker, "messages", lines="".join(f"{line}\n" for line in ["no JSON", *lines]))
    wanted = [line for line, one in zip(lines, messages, strict=True) if mqsel.compile(selector).matches(one)]
    program = _example(tmp_path, "select_stream.py")
    command, environ = _submit(program, broker, "messages", "selected", selector, str(tmp_path / "checkpoint"))
    log = tmp_path / "stream.log"
    with _process(command, log, env=environ, cwd=tmp_path) as process:
        _wait(lambda: _committed(tmp_path / "checkpoint") == len(lines) + 1, process, log)

    assert wanted
    assert sorted(_lines(broker, "selected", "read")) == sorted(wanted)


def test_killed_and_started_again(broker: str, tmp_path: Path, spark: Any) -> None:
    """Invariant: a record is in the table once for each of its subscribers, on its day, whenever the stream died."""
    (tmp_path / "subscriptions.txt").write_text("".join(f"{key}\t{text}\n" for key, text in SELECTORS.items()))
    arguments = [broker, "records", str(tmp_path / "subscriptions.txt"), str(tmp_path)]
    command, environ = _submit(_example(tmp_path, "route_stream.py"), *arguments)
    checkpoint, log = tmp_path / "checkpoint", tmp_path / "stream.log"

    _send(broker, range(COUNT))
    done = []
    # The next batch begins when one has ended: it is killed within a batch, and once with nothing to do.
    for least in (1_000, 2_000, COUNT + LATER):
        if least > COUNT:
            _send(broker, range(COUNT, COUNT + LATER))
        with _process(command, log, env=environ, cwd=tmp_path) as process:
            _wait(lambda least=least: _committed(checkpoint) >= least, process, log)
        done.append(_committed(checkpoint))
    assert done[0] < done[1] < done[2] == COUNT + LATER

    selectors = mqsel.SelectorSet(SELECTORS)
    read = records.reader("connect", ["weight", "color", "JMSType", "JMSPriority"])
    wanted = {
        (f"ID:{number}", key, datetime.fromtimestamp(one["timestamp"] / 1000, timezone.utc).strftime("%Y-%m-%d"))
        for number in range(COUNT + LATER)
        for one in [_record(number)]
        for key in selectors.match(read(one))
    }
    table = spark.read.schema("value string, day string, subscriber string").parquet(str(tmp_path / "table"))
    got = Counter((json.loads(row.value)["messageID"], row.subscriber, row.day) for row in table.collect())

    assert {key for _, key, _ in wanted} == SELECTORS.keys() - {"nobody"}
    assert len({day for _, _, day in wanted}) == 3
    assert set(got.values()) == {1}
    assert got.keys() == wanted
