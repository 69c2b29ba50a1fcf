"""Files: whole processes, from the start of the interpreter to the count of what is selected, beside their peers.

The contenders of a case take turns within a round, medians count; who counts otherwise than is known is an error. One
thread each, but for two processes. A time is the CPU time of a process and its children: on a machine that others
share, wall time says less. Two processes are held against their bar both ways: their CPU time together by that of one
is 2 / 1.8 at most.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import os
import resource
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import test_jsonl
import workloads

import mqsel
from mqsel.files.framings import length_prefixed, pieces
from mqsel.formats import mq
from mqsel.values import Int32

LINES = 400_000
SELECTOR = test_jsonl.SELECTOR
Times = dict[str, float]  # contender -> seconds


class Case(NamedTuple):
    """What is measured together.

    Attributes:
        title: what is read.
        commands: by contender; mqsel's is the first.
        expected: the number that each prints.
        value: what is held against the bar, made of the times.
        bar: in words.
        limit: the value is at most this; negative: at least its absolute value.
        wall: count wall time instead of CPU time.
    """

    title: str
    commands: dict[str, list[str]]
    expected: int
    value: Callable[[Times], float]
    bar: str
    limit: float
    wall: bool = False

    def met(self, value: float) -> bool:
        return value <= self.limit if self.limit > 0 else value >= -self.limit


# ---- the contenders ----------------------------------------------------------------------------------------------


def match(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mqsel", "match", "-j", "1", "--count", *arguments]


def why(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mqsel", "why", "-j", "1", "--json", *arguments]


_ORJSON = """import mqsel, orjson, sys
m = mqsel.compile(sys.argv[1])
with open(sys.argv[2], "rb") as lines:
    print(sum(1 for _ in m.filter(map(orjson.loads, lines))))
"""
_POLARS_PARQUET = """import polars, sys
rows = polars.scan_parquet(sys.argv[1]).filter(polars.sql_expr(sys.argv[2])).collect()
rows.with_columns(polars.col("token").bin.encode("hex")).write_ndjson(sys.stdout.buffer)
"""
_POLARS = """import polars, sys
c = polars.col
w2 = (c("JMSType") == "car") & (c("color") == "blue") & (c("weight") > 2500)
print(polars.scan_ndjson(sys.argv[1]).filter(w2).select(polars.len()).collect().item())
"""


# The count of W2 by Artemis's names, as a program beside the export would count it.
_LXML = """import sys
from lxml import etree
count = 0
for _, message in etree.iterparse(sys.argv[1], tag="message"):
    kind = color = weight = None
    for one in message.iterfind("properties/property"):
        name = one.get("name")
        if name == "JMSType":
            kind = one.get("value")
        elif name == "color":
            color = one.get("value")
        elif name == "weight":
            weight = int(one.get("value"))
    count += kind == "car" and color == "blue" and weight is not None and weight > 2500
    message.clear()
    while message.getprevious() is not None:
        del message.getparent()[0]
print(count)
"""
_EXPORT_HEAD = b"\n<activemq-journal>\n   <bindings/>\n   <messages>\n"
_EXPORT_TAIL = b"   </messages>\n</activemq-journal>\n"


def exported(row: dict[str, Any], number: int) -> bytes:
    """Return a message as Artemis exports it, of about 1.4 KB."""
    lines = []
    for name, value in row.items():
        kind = {bool: "boolean", int: "integer", float: "double", str: "simple-string"}[type(value)]
        text = str(value).lower() if isinstance(value, bool) else escape(str(value), {'"': "&quot;"})
        lines.append(f'            <property name="{name}" value="{text}" type="{kind}"/>\n')
    return (
        f'      <message id="{number}" priority="4" expiration="0" timestamp="1795395066223" type="text"'
        f' user-id="f70ac05c-e6d7-11f1-afdf-{number:012}">\n         <properties>\n{"".join(lines)}'
        f'         </properties>\n         <queues>\n            <queue name="orders"/>\n         </queues>\n'
        f"         <body>\n            <![CDATA[{'QUJD' * 75}]]>\n         </body>\n      </message>\n"
    ).encode()


_BROWSE = "import sys; from mqsel.live import browse; print(sum(1 for _ in browse(sys.argv[1])))"
_RECEIVE = """import sys
from proton.handlers import MessagingHandler
from proton.reactor import Container, Copy
class Receiver(MessagingHandler):
    count = 0
    def on_start(self, event):
        event.container.create_receiver(sys.argv[1], options=Copy())
    def on_message(self, event):
        self.count += 1
        if self.count == int(sys.argv[2]):
            event.connection.close()
receiver = Receiver(prefetch=1000)
Container(receiver).run()
print(receiver.count)
"""


def peers(path: str, names: str) -> dict[str, list[str]]:
    """Return the contenders beside mqsel over plain JSON lines, as far as they are there."""
    every = {
        "DuckDB": [sys.executable, "-c", test_jsonl._DUCKDB, path],
        "Polars": [sys.executable, "-c", _POLARS, path],
        "orjson": [sys.executable, "-c", _ORJSON, SELECTOR, path],
        "jq": ["jq", "-n", test_jsonl._JQ, path],
    }
    return {name: every[name] for name in names.split() if name not in missing()}


def missing() -> list[str]:
    packages = [
        name for name in ("DuckDB", "Polars", "orjson", "lxml") if importlib.util.find_spec(name.lower()) is None
    ]
    return packages + [name for name in ("jq", "gzip") if shutil.which(name) is None]


def _ratio(peer: str) -> Callable[[Times], float]:
    return lambda times: times["mqsel"] / times[peer] if peer in times else float("nan")


# ---- the cases ---------------------------------------------------------------------------------------------------


def _records(form: str) -> list[dict[str, Any]]:
    """Return the records of the sample, in a layout of Confluent's connectors or as NiFi has them."""
    sample = [json.loads(line) for line in (Path(__file__).with_name("data") / "connect.jsonl").open("rb")]
    if form == "enveloped":
        return [{"schema": {"type": "struct", "optional": False}, "payload": record} for record in sample]
    return [test_jsonl._as_nifi(record) for record in sample] if form == "nifi" else sample


def cases(folder: Path, scale: int) -> Iterator[Case]:
    """Write the files and give the cases.

    Args:
        scale: how often everything is repeated.
    """
    random = Random(workloads.SEED)
    dicts = [workloads.as_dict(row) for row in workloads.rows(LINES // 4)]
    selected = sum(map(mqsel.compile(SELECTOR).matches, dicts))
    paths: dict[str, str] = {}
    for form, write in test_jsonl.FORMS.items():
        path = folder / f"{form}.jsonl"
        # 2 KB a line: a quarter of them.
        some = dicts if form != "long" else dicts[: len(dicts) // 4]
        made = b"".join(json.dumps(write(one, random), ensure_ascii=False).encode() + b"\n" for one in some)
        path.write_bytes(made * (4 * scale))
        paths[form] = str(path)
    plain, count = paths["plain"], 4 * scale * selected
    beside = peers(plain, "DuckDB Polars orjson jq")
    commands = {"mqsel": match(SELECTOR, plain), **beside}
    title = f"JSON lines, W2, {Path(plain).stat().st_size / 1e6:.0f} MB"
    yield Case(title, commands, count, _ratio("DuckDB"), "≤ 1.0 × DuckDB", 1.0)
    if "jq" in beside:
        two = {"mqsel": commands["mqsel"], "jq": beside["jq"]}
        yield Case("the same beside jq", two, count, lambda times: times["jq"] / times["mqsel"], "≥ 5 × as fast", -5.0)
    for name, text in workloads.selectors().items():
        wanted = 4 * scale * sum(map(mqsel.compile(text).matches, dicts))
        commands = {"mqsel": why(text, plain), "match": match(text, plain)}
        yield Case(f"why, JSON lines, {name}", commands, wanted, _ratio("match"), "≤ 4 × match", 4.0)
    some = folder / "inspected.jsonl"
    some.write_bytes(b"".join(Path(plain).read_bytes().splitlines(keepends=True)[: LINES // 8]))
    inspect = shlex.join([sys.executable, "-m", "mqsel", "inspect", "--json", str(some)])
    commands = {"mqsel": ["sh", "-c", f"{inspect} | wc -l"], "match": match("JMSPriority >= 0", str(some))}
    yield Case("inspect --json, JSON lines", commands, LINES // 8, _ratio("match"), "≤ 40 × match", 40.0)
    long_count = 4 * scale * sum(map(mqsel.compile(SELECTOR).matches, dicts[: len(dicts) // 4]))
    for form, of, wanted in (("typed", "plain", count), ("nested", "nested", count), ("long", "long", long_count)):
        # orjson knows no types: beside values that name theirs it reads the same values without.
        commands = {"mqsel": match(SELECTOR, paths[form]), **peers(paths[of], "orjson")}
        yield Case(f"JSON lines, {form}", commands, wanted, _ratio("orjson"), "≤ 0.5 × orjson, m.filter", 0.5)
    yield from _others(folder, scale)
    yield _amqp_beside_mq(folder, scale)
    yield from _exports(folder, scale)
    yield from _queues(scale)
    packed = folder / "plain.jsonl.gz"
    with Path(plain).open("rb") as lines, gzip.open(packed, "wb", 6) as out:
        shutil.copyfileobj(lines, out)
    yield from _wide(folder, scale)
    if "gzip" not in missing():
        commands = {
            "mqsel": match(SELECTOR, str(packed)),
            "plain": match(SELECTOR, plain),
            "gzip": ["sh", "-c", f"gzip -dc {packed} > {os.devnull} && echo {count}"],
        }
        yield Case(
            "gzip", commands, count, lambda times: (times["mqsel"] - times["plain"]) / times["gzip"],
            "≤ 1.2 × gzip -dc, and the plain time", 1.2,
        )  # fmt: skip
    often = [plain] * (40 // scale)
    commands = {"mqsel": ["two"], "one": match(SELECTOR, *often)}
    commands["mqsel"] = [*commands["one"][:5], "2", *commands["one"][6:]]
    title, wanted = f"-j 2, {len(often) * Path(plain).stat().st_size / 1e9:.1f} GB", len(often) * count
    speed = lambda times: times["one"] / times["mqsel"]  # noqa: E731
    yield Case(f"{title}, wall time", commands, wanted, speed, "≥ 1.8 × as fast as one", -1.8, wall=True)
    yield Case(f"{title}, CPU time", commands, wanted, _ratio("one"), "≤ 1.11 × one", 1.11)
    three = folder / "three.jsonl"
    three.write_bytes(b'{"a": 1}\n{"a": 2}\n{"a": 1}\n')
    commands = {"mqsel": match("a = 1", str(three)), "python": [sys.executable, "-c", "print(2)"]}
    yield Case("start, three lines", commands, 2, lambda times: times["mqsel"] * 1000, "≤ 60 ms", 60)


def _wide(folder: Path, scale: int) -> Iterator[Case]:
    """Return the cases of Parquet with twenty columns, of which 1 % of the rows are written as lines of JSON."""
    if importlib.util.find_spec("pyarrow") is None or "Polars" in missing():
        return
    import pyarrow.parquet as pq
    from data import make_parquet

    path, rows = folder / "wide.parquet", 4 * make_parquet.GROUP * scale
    make_parquet.write(path, rows)
    few = sum(one < 10995116277 for one in pq.read_table(path, columns=["account"]).column(0).to_pylist())
    late = f"JMSTimestamp >= {make_parquet.FIRST + rows * 99 // 100}"
    for title, text, wanted, most in (
        ("clustered", late, rows // 100, 1.0), ("at random", "account < 10995116277", few, 1.5),
    ):  # fmt: skip
        commands = {
            "mqsel": [sys.executable, "-m", "mqsel", "match", "-j", "1", text, str(path)],
            "Polars": [sys.executable, "-c", _POLARS_PARQUET, str(path), text],
        }
        counted = {name: ["sh", "-c", f"{shlex.join(command)} | wc -l"] for name, command in commands.items()}
        yield Case(f"Parquet, 1 % {title}", counted, wanted, _ratio("Polars"), f"≤ {most} × Polars", most)


def _exports(folder: Path, scale: int) -> Iterator[Case]:
    """Return the cases of Artemis's XML."""
    dicts = [workloads.as_dict(row) for row in workloads.rows(LINES // 40)]
    selected = sum(map(mqsel.compile(SELECTOR).matches, dicts))
    made = b"".join(exported(row, number) for number, row in enumerate(dicts))
    paths = {name: folder / f"{name}.xml" for name in ("some", "large", "small")}
    times = {"some": 8 * scale, "large": 1_100_000_000 // len(made), "small": 1}
    for name, path in paths.items():
        with path.open("wb") as file:
            file.write(_EXPORT_HEAD)
            file.writelines(made for _ in range(times[name]))
            file.write(_EXPORT_TAIL)
    size = paths["some"].stat().st_size
    commands = {"mqsel": match(SELECTOR, str(paths["some"]))}
    if importlib.util.find_spec("lxml") is not None:
        commands["lxml"] = [sys.executable, "-c", _LXML, str(paths["some"])]
    yield Case(
        f"Artemis XML, {len(made) // len(dicts)} bytes each, {size / 1e6:.0f} MB", commands, times["some"] * selected,
        lambda taken: taken["lxml"] / taken["mqsel"] if "lxml" in taken else math.nan,
        "≥ 3 × lxml.iterparse", -3.0,
    )  # fmt: skip
    commands = {"mqsel": peak(str(paths["large"])), "start": peak(str(paths["small"]), times["large"])}
    yield Case(
        f"memory of Artemis XML, {paths['large'].stat().st_size / 1e9:.1f} GB", commands, times["large"] * selected,
        lambda taken: taken["mqsel"] - taken["start"],
        "≤ 20 MB above a small file", 20.0,
    )  # fmt: skip


# The most memory of a process alone: what the system counts of a child has its parent's. The count of a small file that
# stands for a large one is multiplied.
_PEAK = """import contextlib, io, re, sys
from mqsel import cli
with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())) as out:
    cli.main(["match", "-j", "1", "--count", *sys.argv[2:]])
    out.seek(0)
    count = int(out.read())
print(count * int(sys.argv[1]), re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1])
"""


def peak(path: str, times: int = 1) -> list[str]:
    """Return a command that counts, and prints the KB that it took, too."""
    return [sys.executable, "-c", _PEAK, str(times), SELECTOR, path]


def _others(folder: Path, scale: int) -> Iterator[Case]:
    """Return the cases of records and raw messages."""
    for form in ("connect", "enveloped", "nifi"):
        sample, times = _records(form), 20_000 * scale
        path = folder / f"{form}.jsonl"
        path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in sample) * times)
        text, kind = "JMSPriority >= 4 AND weight > 2500", "nifi" if form == "nifi" else "connect"
        wanted = times * sum(
            record["priority"] >= 4 and record["properties"]["weight"]["integer"] > 2500 for record in _records("")
        )
        records = len(sample) * times
        command = match("--format", kind, text, str(path))
        yield Case(
            f"records, {form}, {path.stat().st_size // records} bytes", {"mqsel": command}, wanted,
            lambda taken, records=records: taken["mqsel"] / records * 1e6, "≤ 1.5 µs a record", 1.5,
        )  # fmt: skip
    dump = (Path(__file__).with_name("data") / "dump.qload").read_bytes()
    with (Path(__file__).with_name("data") / "dump.qload").open("rb") as stream:
        bodies = [one.message for one in pieces(stream, "qload") if getattr(one, "message", None)]
    text = "Root.MQMD.Priority > 4"
    wanted = sum(1 for _ in mqsel.compile(text).filter(bodies, format="mq"))
    head, _, rest = dump.partition(b"\n\n")
    framed = b"".join(length_prefixed(body + b"x" * 650) for body in bodies)
    for title, content, times, limit, most in (
        ("QLOAD", rest, 5_000 * scale, 300.0, 6.0), ("framed MQ messages", framed, 10_000 * scale, 1000.0, 3.0),
    ):  # fmt: skip
        path = folder / title.replace(" ", "")
        path.write_bytes((head + b"\n\n" if title == "QLOAD" else b"") + content * times)
        size = path.stat().st_size
        kind = "qload" if title == "QLOAD" else "mq"
        yield Case(
            f"{title}, {len(content) // len(bodies)} bytes each, {size / 1e6:.0f} MB",
            {"mqsel": match("--format", kind, text, str(path))},
            wanted * times, lambda taken, size=size: size / taken["mqsel"] / 1e6, f"≥ {limit:,.0f} MB/s", -limit,
        )  # fmt: skip
        often = [str(path)] * -(-1_000_000_000 // size)
        count = wanted * times * len(often)
        commands = {
            "mqsel": match("--format", kind, text, *often),
            "b2sum": ["sh", "-c", f"cat {' '.join(often)} | b2sum > {os.devnull} && echo {count}"],
        }
        bar = f"≤ {most:.0f} × cat into b2sum"
        yield Case(f"{title}, {len(often) * size / 1e9:.1f} GB", commands, count, _ratio("b2sum"), bar, most)


def _amqp(priority: int, properties: dict[str, Int32 | str], data: bytes) -> bytes:
    """Write an AMQP 1.0 message: a header, application properties and data."""
    entries = b"".join(
        b"\xa1"
        + bytes([len(name)])
        + name.encode()
        + (
            b"\xa1" + bytes([len(value)]) + value.encode()
            if isinstance(value, str)
            else b"\x71" + struct.pack(">i", value)
        )
        for name, value in properties.items()
    )
    header = b"\xc0\4\2\x40\x50" + bytes([priority])
    application = b"\xd1" + struct.pack(">II", len(entries) + 4, 2 * len(properties)) + entries
    sections = {0x70: header, 0x74: application, 0x75: b"\xb0" + struct.pack(">I", len(data)) + data}
    return b"".join(bytes([0, 0x53, code]) + value for code, value in sections.items())


def _amqp_beside_mq(folder: Path, scale: int) -> Case:
    """Return the case of AMQP messages beside those of IBM MQ with the same twenty properties."""
    paths = {"mqsel": ("amqp", folder / "amqp"), "MQRFH2": ("mq", folder / "mq")}
    messages: dict[str, list[bytes]] = {"amqp": [], "mq": []}
    for number in range(6):
        properties: dict[str, Int32 | str] = {
            f"property{place:02}": Int32(place * 100) if place % 2 == 0 else f"the value of {place:02}"
            for place in range(20)
        }
        properties |= {"property04": Int32(2500 if number % 2 else 500), "property15": "blue" if number % 3 else "red"}
        messages["amqp"].append(_amqp(4, properties, b"data"))
        messages["mq"].append(mq.encode({"Format": "MQSTR"}, properties, b"data"))
    times = 30_000 * scale
    for kind, path in paths.values():
        path.write_bytes(b"".join(map(length_prefixed, messages[kind])) * times)
    text = "property15 = 'blue' AND property04 > 1000"
    commands = {name: match("--format", kind, text, str(path)) for name, (kind, path) in paths.items()}
    return Case("AMQP beside MQRFH2, twenty properties", commands, 2 * times, _ratio("MQRFH2"), "≤ 1.5 × MQRFH2", 1.5)


def _queues(scale: int) -> Iterator[Case]:
    """Return the case of a queue that is browsed, where proton is: of the stand-in for a broker in the tests."""
    if importlib.util.find_spec("proton") is None:
        return
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from live.standin import StandIn, message

    of = {"color": "blue", "weight": 3000, "region": "eu-west", "ratio": 0.5}
    count = 5_000 * scale
    with StandIn([message("<order/>", subject="car", priority=7, properties=of, id="ID:1")] * count) as broker:
        url = broker.url()
        commands = {
            "mqsel": [sys.executable, "-c", _BROWSE, url],
            "proton": [sys.executable, "-c", _RECEIVE, url, str(count)],
        }
        yield Case(f"a queue browsed, {count:,} messages", commands, count, _ratio("proton"), "≤ 1.3 × proton", 1.3)


# ---- the clock ---------------------------------------------------------------------------------------------------


def run(command: list[str], *, wall: bool = False) -> tuple[float, int]:
    """Run a command; give its seconds, and the number that it prints; of a report that of what is selected.

    Of a command that prints another number, KB of memory, these are given in MB instead of seconds.
    """
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
    before, began = _spent(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    taken = time.perf_counter() - began if wall else _spent() - before
    assert done.returncode == 0, done.stderr.decode()
    try:
        count, *kilobytes = map(int, done.stdout.split())
    except ValueError:
        return taken, json.loads(done.stdout)["selected"]
    return kilobytes[0] / 1e3 if kilobytes else taken, count


def _spent() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)  # os.times has steps of 10 ms
    return found.ru_utime + found.ru_stime


def measured(case: Case, rounds: int) -> Times:
    """Compare the answers, then time everyone: median seconds."""
    times: dict[str, list[float]] = {name: [] for name in case.commands}
    for number in range(rounds + 1):
        for name, command in case.commands.items():
            taken, count = run(command, wall=case.wall)
            assert count == case.expected, f"{case.title}: {name} counts {count}, expected {case.expected}"
            if number:  # the first round warms up
                times[name].append(taken)
    return {name: statistics.median(taken) for name, taken in times.items()}


def table(rounds: int, scale: int, only: str = "") -> tuple[list[str], dict[str, Any]]:
    """Measure every case; give the lines of a Markdown table, and the figures."""
    lines = ["| | mqsel | others | value | bar | met |", "|---|---|---|---|---|---|"]
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder), scale):
            if only not in case.title:
                continue
            times = measured(case, rounds)
            value = case.value(times)
            figures[case.title] = {"seconds": times, "value": value, "bar": case.bar, "met": case.met(value)}
            others = ", ".join(f"{name} {taken:.2f}" for name, taken in times.items() if name != "mqsel")
            met = "–" if math.isnan(value) else "yes" if case.met(value) else "no!"
            shown = "–" if math.isnan(value) else f"{value:,.2f}"
            lines.append(f"| {case.title} | {times['mqsel']:.2f} | {others} | {shown} | {case.bar} | {met} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return lines, figures
