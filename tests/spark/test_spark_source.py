"""The data source: what it gives is what the machine selects of the same messages, whatever the files.

Most of it runs here, by the calls that Spark makes; a few tests go through Spark itself.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import amqp
import exports
import pytest
from printer import amqsbcg_text

import mqsel
import mqsel.files
from mqsel import cli
from mqsel.errors import ArgumentError, FileError, PropertyTypeError, SelectorError
from mqsel.files.framings import length_prefixed
from mqsel.files.qload import qload_text
from mqsel.formats import mq
from mqsel.formats.records import SCHEMAS
from mqsel.values import Int32

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
pytest.importorskip("pandas", reason="pyspark's Arrow types need pandas")
pytest.importorskip("pyarrow")

from pyspark.sql.types import ArrayType, StringType, StructType

from mqsel.spark import DataSource
from mqsel.spark.source import OPTIONS

SELECTOR = "color = 'blue' AND weight > 500"
COLORS = ("red", "blue", None)
FIXED = "file string, place bigint, raw binary"


def _schema(text: str) -> StructType:
    """Read the kind of DDL these tests use; Spark's own reader of it is in the JVM."""
    schema = StructType()
    for field in text.split(", "):
        name, kind = field.rsplit(" ", 1)
        schema = schema.add(name, {"int": "integer", "bigint": "long", "tinyint": "byte"}.get(kind, kind))
    return schema


def _read(path: Path | str, schema: str | StructType = FIXED, **options: str) -> list[dict[str, Any]]:
    """Read as Spark does, one partition after the other."""
    source = DataSource({"path": str(path), "selector": SELECTOR, **options})
    source.schema()
    made = source.reader(_schema(schema) if isinstance(schema, str) else schema)
    return [row for part in made.partitions() for batch in made.read(part) for row in batch.to_pylist()]  # type: ignore[attr-defined]


def _properties(number: int) -> dict[str, Any]:
    found = {"color": COLORS[number % 3], "weight": Int32(number) if number % 7 else None}
    return {name: value for name, value in found.items() if value is not None}


ROWS = [_properties(number) for number in range(1000)]
MESSAGES = [mq.encode({"Priority": number % 10}, row, b"data") for number, row in enumerate(ROWS)]
WANTED = [number for number, row in enumerate(ROWS) if mqsel.compile(SELECTOR).matches(row)]


def _lines() -> list[bytes]:
    typed = [{name: {"int32": v} if isinstance(v, int) else v for name, v in row.items()} for row in ROWS]
    return [json.dumps(row).encode() + b"\n" for row in typed]


def _units(kind: str) -> list[bytes]:
    """Return each message as it stands in a file of a format."""
    if kind == "json":
        return _lines()
    if kind == "lenses":
        return [json.dumps({"properties": {name: str(v) for name, v in row.items()}}).encode() + b"\n" for row in ROWS]
    write = {"mq": length_prefixed, "qload": qload_text, "amqsbcg": amqsbcg_text}[kind]
    return [write(one) for one in MESSAGES]


@pytest.mark.parametrize("kind", ["json", "lenses", "mq", "qload", "amqsbcg"])
def test_messages_of_every_format(tmp_path: Path, kind: str) -> None:
    """Invariant: the rows are the messages that the machine selects, as they stand in the files, with typed columns."""
    units = _units(kind)
    (tmp_path / "a").write_bytes(b"".join(units[:800]))
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"".join(units[800:])))
    (tmp_path / "_SUCCESS").touch()
    types = {"types": "weight=int32"} if kind == "lenses" else {}
    got = _read(tmp_path, f"{FIXED}, weight int, color string, absent double", format=kind, **types)

    assert 100 < len(WANTED) < 500
    assert [row["raw"].strip() for row in got] == [units[number].strip() for number in WANTED]
    assert [row["weight"] for row in got] == WANTED
    assert {row["color"] for row in got} == {"blue"}
    assert {row["absent"] for row in got} == {None}
    assert {row["file"] for row in got} == {str(tmp_path / "a"), str(tmp_path / "b.gz")}
    if kind not in ("qload", "amqsbcg"):
        content = (tmp_path / "a").read_bytes()
        assert all(content[row["place"] :].startswith(row["raw"]) for row in got if row["file"].endswith("a"))


@pytest.mark.parametrize("kind", ["json", "lenses", "mq", "qload", "amqsbcg"])
def test_many_selectors(tmp_path: Path, kind: str) -> None:
    """Invariant: with a file of selectors the rows are the messages that any selects, each with the keys of those."""
    selectors = {
        "blue": SELECTOR,
        "light": "weight < 100",
        "nobody": "color = 5",
        "red/late": "color = 'red' AND weight > 9",
    }
    (tmp_path / "text").write_text("".join(f"{key}\t{text}\n" for key, text in selectors.items()))
    mqsel.SelectorSet(selectors).save(tmp_path / "set")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_bytes(b"".join(_units(kind)))
    matchers = {key: mqsel.compile(text) for key, text in selectors.items()}
    keys = [[key for key, one in matchers.items() if one.matches(row)] for row in ROWS]
    types = {"types": "weight=int32"} if kind == "lenses" else {}
    wanted = [(found, row.get("weight")) for found, row in zip(keys, ROWS, strict=True) if found]
    schema = _schema("weight int").add("subscribers", ArrayType(StringType()))
    for name in ("text", "set"):
        options = {"path": str(tmp_path / "d"), "selectors": str(tmp_path / name), "format": kind, **types}
        source = DataSource(options)
        assert source.schema() == f"{FIXED}, subscribers array<string>"
        made = source.reader(schema)
        got = [row for part in made.partitions() for batch in made.read(part) for row in batch.to_pylist()]  # type: ignore[attr-defined]
        assert [(row["subscribers"], row["weight"]) for row in got] == wanted
    assert {len(found) for found, _ in wanted} == {1, 2}


@pytest.mark.parametrize("name", ["maxFilesPerTrigger", "maxbytespertrigger"])
def test_limits_of_streams_say_what_to_do(name: str) -> None:
    """An option that Spark's own streams of files have is refused with what to do instead."""
    with pytest.raises(ArgumentError, match=r"option max\w+PerTrigger is not for .*\n  hint: move a few files"):
        DataSource({"path": "d", "selector": "", name: "1"})


def test_a_file_of_selectors_that_will_not_do(tmp_path: Path) -> None:
    """One error of ours, when it is loaded."""
    (tmp_path / "a").write_text("{}\n")
    (tmp_path / "faulty").write_text("a\tcolor =\n")
    (tmp_path / "good").write_text("a\tcolor = 'x'\n")
    mqsel.SelectorSet({5: "TRUE"}).save(tmp_path / "numbers")
    path = {"path": str(tmp_path / "a")}
    with pytest.raises(SelectorError, match="key 'a'"):
        DataSource({**path, "selectors": str(tmp_path / "faulty")})
    with pytest.raises(FileError, match="cannot be read: No such file"):
        DataSource({**path, "selectors": str(tmp_path / "nowhere")})
    with pytest.raises(ArgumentError, match=r"the keys of .* are not all str"):
        DataSource({**path, "selectors": str(tmp_path / "numbers")})
    with pytest.raises(ArgumentError, match="selector and selectors are both set"):
        DataSource({**path, "selectors": str(tmp_path / "good"), "selector": ""})
    with pytest.raises(PropertyTypeError, match=r"array<string>"):
        DataSource({**path, "selectors": str(tmp_path / "good")}).reader(_schema("subscribers string"))


def test_many_selectors_on_spark(spark: Any, tmp_path: Path) -> None:
    """Spark itself reads and explodes the column of keys."""
    (tmp_path / "text").write_text("blue\tcolor = 'blue'\nheavy\tweight > 900\n")
    (tmp_path / "a").write_bytes(b"".join(_units("qload")))
    spark.dataSource.register(DataSource)
    reader = spark.read.format("mqsel").option("selectors", str(tmp_path / "text")).option("columns", "weight int")
    found = reader.load(str(tmp_path / "a")).selectExpr("explode(subscribers) key").groupBy("key").count().collect()

    assert {row[0]: row[1] for row in found} == {
        "blue": sum(row.get("color") == "blue" for row in ROWS),
        "heavy": sum(row.get("weight", 0) > 900 for row in ROWS),
    }


def _of_brokers() -> dict[str, bytes]:
    """Return files as other brokers and their tools write them, with about a third of blue messages in each."""
    rng = random.Random("brokers")
    records = {
        "a": [
            {**{key: {} for key in SCHEMAS["a"].signs}, "type": "TextMessage", "stringProperties": {"color": color}}
            for color in _drawn(rng)
        ],
        "service-bus": [
            {**dict.fromkeys(SCHEMAS["service-bus"].signs), "properties": {"color": color}} for color in _drawn(rng)
        ],
        "rabbitmq": [
            {**dict.fromkeys(SCHEMAS["rabbitmq"].signs), "properties": {"headers": {"color": color}}}
            for color in _drawn(rng)
        ],
        "amazon-mq": [
            {**dict.fromkeys(SCHEMAS["amazon-mq"].signs), "properties": {"color": color}} for color in _drawn(rng)
        ],
    }
    made = {kind: json.dumps(rows).encode() for kind, rows in records.items()}
    event = {"eventSource": "aws:mq", "eventSourceArn": "arn", "messages": records["amazon-mq"]}
    of_rabbitmq = [
        {"basicProperties": {"headers": {"color": {"bytes": [*color.encode()]}}}, "redelivered": False, "data": ""}
        for color in _drawn(rng)
    ]
    queues = {"one::/": of_rabbitmq[:20], "none::/": [], "two::/": of_rabbitmq[20:]}
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in records["a"])
    messages = [amqp.message(number % 10, {"color": color}, b"x") for number, color in enumerate(_drawn(rng))]
    return {
        **made,
        "amazon-mq event": json.dumps(event).encode(),
        "amazon-rabbitmq event": json.dumps({"eventSource": "aws:rmq", "rmqMessagesByQueue": queues}).encode(),
        "a lines": lines,
        "artemis": exports.export(rng, 900),
        "amqp": b"".join(map(length_prefixed, messages)),
    }


def _drawn(rng: random.Random) -> list[str]:
    return [rng.choice(("blue", "red", "green")) for _ in range(60)]


@pytest.mark.parametrize("name", _of_brokers())
def test_messages_of_other_brokers(spark: Any, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Invariant: the executors select of a file, by its first bytes, the messages that `match` selects here."""
    path = tmp_path / "messages"
    path.write_bytes(_of_brokers()[name])
    wanted = [bytes(one) for one in mqsel.files.filter(str(path), "color = 'blue'")]
    spark.dataSource.register(DataSource)
    reader = spark.read.format("mqsel").option("selector", "color = 'blue'").option("columns", "color string")
    found = reader.load(str(path)).collect()

    assert cli.main(["match", "--count", "color = 'blue'", str(path)]) == 0
    assert int(capsys.readouterr().out) == len(found) == len(wanted) > 5
    for row, one in zip(found, wanted, strict=True):  # before the first one is what stands before all of an export
        assert one.strip().endswith(bytes(row.raw).strip()) and len(row.raw) > 20
    assert {row.color for row in found} == {"blue"}


def test_parquet_is_left_to_spark(tmp_path: Path) -> None:
    """Named or found by its first bytes, it is refused with the calls that read it."""
    file = tmp_path / "a.parquet"
    file.write_bytes(b"PAR1")
    for options in ({"format": "parquet"}, {}):
        with pytest.raises(ArgumentError, match=r"Parquet is not for this.*\n  hint: df = spark\.read\.parquet"):
            _read(file, **options)


def test_each_file_has_its_format(tmp_path: Path) -> None:
    """Without the option format each file is read by its own first bytes."""
    (tmp_path / "a").write_bytes(b"".join(_units("json")))
    (tmp_path / "b").write_bytes(b"* QLOAD\n\n" + b"".join(_units("qload")))
    got = _read(tmp_path, "weight int, file string")

    assert [row["weight"] for row in got] == WANTED * 2
    assert {Path(row["file"]).name for row in got} == {"a", "b"}


def test_directories_are_columns(tmp_path: Path) -> None:
    """What directories such as day=1 name are columns, after the others; what is laid out otherwise is an error."""
    for name, unit in (("day=1/run=a", _lines()[502]), ("day=20/run=7", _lines()[505])):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x").write_bytes(unit)
    source = DataSource({"path": str(tmp_path), "selector": "", "columns": "weight int"})
    assert source.schema() == "file string, place bigint, raw binary, weight int, `day` int, `run` string"
    got = _read(tmp_path, "run string, weight int, day int", selector="")
    assert got == [{"run": "a", "weight": 502, "day": 1}, {"run": "7", "weight": 505, "day": 20}]
    assert _read(f"{tmp_path}/day={{1,3}}", "day bigint", selector="") == [{"day": 1}]
    (tmp_path / "day=20" / "y").write_bytes(b"")
    with pytest.raises(FileError, match=r"its directories name day, those of .*/x day, run \[.*day=20/y"):
        source.schema()


def test_a_stream_reads_each_file_once(tmp_path: Path) -> None:
    """Offsets list the files seen: what a batch reads is decided by its offsets alone, in whatever order files come."""
    source = DataSource({"path": str(tmp_path), "selector": SELECTOR, "format": "json"})
    assert source.schema() == "file string, place bigint, raw binary"
    reader = source.streamReader(_schema("weight int"))

    def batch(start: Any, end: Any) -> list[int]:
        parts = reader.partitions(start, end)
        return [row["weight"] for part in parts for batch in reader.read(part) for row in batch.to_pylist()]  # type: ignore[union-attr]

    offsets = [reader.initialOffset(), reader.latestOffset()]  # type: ignore[call-arg]
    for name, some in (("b", _lines()[:600]), ("a", _lines()[600:])):
        (tmp_path / name).write_bytes(b"".join(some))
        offsets.append(reader.latestOffset())  # type: ignore[call-arg]
    got = [batch(*pair) for pair in itertools.pairwise(offsets)]

    assert got == [[], [number for number in WANTED if number < 600], [number for number in WANTED if number >= 600]]
    assert batch(offsets[1], offsets[2]) == got[1]
    (tmp_path / "b").unlink()
    assert batch(offsets[2], offsets[3]) == got[2]
    with pytest.raises(FileError, match=r"the file is gone, and has not been read \[.*/b"):
        batch(offsets[1], offsets[2])


def test_values_that_do_not_fit(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A property whose value its column does not take is NULL, and counted in the log."""
    values = [300, 1.5, "x", True, {"bytes": "0a"}, 1e300, 1 << 62, "\ud800"]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"a": value}) + "\n" for value in values))
    kinds = {
        "tinyint": [None] * 8,
        "bigint": [300, None, None, None, None, None, 1 << 62, None],
        "double": [300.0, 1.5, None, None, None, 1e300, 2.0**62, None],
        "float": [300.0, 1.5, None, None, None, None, 2.0**62, None],
        "string": [None, None, "x", None, None, None, None, None],
        "boolean": [None, None, None, True, None, None, None, None],
        "binary": [None, None, None, None, b"\n", None, None, None],
    }
    for kind, wanted in kinds.items():
        caplog.clear()
        assert [row["a"] for row in _read(file, f"a {kind}", selector="")] == wanted
        assert f"{wanted.count(None)} properties did not fit their columns" in caplog.text


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"selecter": "a = 1"}, "there is no option 'selecter': choose path, selector"),
        ({"format": "avro"}, "the option format is 'avro': expected json"),
        ({"dialect": "DB2"}, "there is no dialect 'DB2': choose IBM_MQ"),
        ({"errors": "ignore"}, "the option errors is 'ignore': expected raise, skip"),
        ({"types": "weight"}, "the option types is 'weight': expected NAME=TYPE"),
        ({"types": "weight=int32"}, "the option types is not for files of format json"),
        ({"columns": "a int, `b` string,a string"}, "two columns are called 'a'"),
        ({"columns": "raw string"}, "two columns are called 'raw'"),
    ],
)
def test_wrong_options(tmp_path: Path, options: dict[str, str], problem: str) -> None:
    """What is wrong with an option is said when the source is loaded."""
    file = tmp_path / "a"
    file.write_bytes(b"".join(_lines()))
    with pytest.raises(ArgumentError, match=problem):
        _read(file, **options)


def test_what_is_missing(tmp_path: Path) -> None:
    """Without a selector or a path, and with one that is none, loading fails."""
    with pytest.raises(ArgumentError, match="the option selector is missing"):
        DataSource({"path": "a"})
    with pytest.raises(ArgumentError, match="the option path is missing"):
        DataSource({"selector": ""})
    with pytest.raises(SelectorError, match="unexpected '='"):
        DataSource({"path": "a", "selector": "a == 1"})
    with pytest.raises(FileError, match="No such file or directory"):
        _read(tmp_path / "absent")
    with pytest.raises(ArgumentError, match="the schema has no columns"):
        DataSource({"path": str(tmp_path), "selector": ""}).reader(StructType())


def test_columns_of_other_types(tmp_path: Path) -> None:
    """A column that no property has the type of is refused on the driver, and two of one name."""
    file = tmp_path / "a"
    file.write_bytes(b"".join(_lines()))
    for schema in ("color date", "raw string"):
        with pytest.raises(PropertyTypeError, match="the column of property"):
            _read(file, schema)
    with pytest.raises(ArgumentError, match="two columns are called 'color'"):
        _read(file, "color string, color int")
    columns = "a decimal(10, 2), b decimal(5, 2)"
    assert columns in DataSource({"path": str(file), "selector": "", "columns": columns}).schema()


@pytest.mark.parametrize("kind", ["json", "mq", "qload", "amqsbcg", "gzip"])
def test_broken_files(tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    """What is no message ends in an error that names the file and the place; skipped, it is counted in the log."""
    units = _units("json" if kind == "gzip" else kind)[:600]
    broken = {
        "json": b"".join([*units[:504], b'{"color": \n', *units[504:]]),
        "mq": b"".join(units) + b"\0\0\0\x09MD  \0\0\0\2\0" + b"\0\0\0\x09MD",
        "qload": b"".join([*units[:504], b"A XYZ 5\n\n", *units[504:]]),
        "amqsbcg": b"".join([*units[:504], units[0].replace(b"Report   : 0", b"Report   : x"), *units[504:]]),
        "gzip": gzip.compress(b"".join(units))[:-200],
    }[kind]
    file = tmp_path / "a"
    file.write_bytes(broken)
    named = {"format": kind if kind != "gzip" else "json"}
    place = "" if kind == "gzip" else r", (byte|line) \d+"  # a packed file is broken as a whole
    with pytest.raises(FileError, match=rf"\[.*/a{place}\]"):
        _read(file, "raw binary", **named)
    caplog.clear()
    got = [row["raw"].strip() for row in _read(file, "raw binary", errors="skip", **named)]
    wanted = [units[number].strip() for number in WANTED if number < 600]

    assert got == (wanted[: len(got)] if kind == "gzip" else wanted)
    assert "messages skipped: " in caplog.text


def test_what_was_skipped_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log of a worker counts the messages of which something was skipped, and says what, of the first."""
    odd = MESSAGES[1].replace(b"<color", b"<c-lor").replace(b"</color", b"</c-lor")
    file = tmp_path / "a"
    for write, place in (
        (length_prefixed, f"byte {len(MESSAGES[0]) + 4}"),
        (qload_text, f"line {qload_text(MESSAGES[0]).count(bytes([10])) + 1}"),
    ):
        file.write_bytes(b"".join(map(write, (MESSAGES[0], odd, MESSAGES[2], odd))))
        caplog.clear()
        _read(file, "raw binary")
        assert f"a: 2 of 4 messages skipped in part, the first {place}: MQRFH2 at byte 364, c-lor: no" in caplog.text


def test_what_travels(tmp_path: Path) -> None:
    """Source and reader survive pickling; where mqsel is missing they say so, with what ships it."""
    from pyspark.cloudpickle import dumps, loads

    file = tmp_path / "a"
    file.write_bytes(b"".join(_lines()))
    source = DataSource({"path": str(file), "selector": SELECTOR})
    made = source.reader(_schema("weight int"))
    again = loads(dumps(made))
    got = [row["weight"] for part in made.partitions() for batch in again.read(part) for row in batch.to_pylist()]
    assert got == WANTED
    assert loads(dumps(source)).options == source.options
    code = (
        "import sys; sys.modules['mqsel'] = None\n"
        "from pyspark.cloudpickle import loads\n"
        "for text in sys.argv[1:]:\n"
        "    try: loads(bytes.fromhex(text))\n"
        "    except ImportError as error: print(error)"
    )
    sent = [dumps(one).hex() for one in (source, made)]
    told = subprocess.run([sys.executable, "-c", code, *sent], capture_output=True, text=True, check=True).stdout
    assert told.count(f"mqsel {mqsel.machine.program.VERSION} cannot be imported in the Spark Python worker") == 2
    assert "venv-pack" in told
    assert loads(dumps(made.partitions()))[0].value == [(str(file), "json", 0, -1, (), {})]


def test_through_spark(spark: Any, tmp_path: Path) -> None:
    """Spark's own way: load, partitions, projection by schema, SQL on top, and a stream that finds a second file."""
    spark.dataSource.register(DataSource)
    (tmp_path / "a.jsonl").write_bytes(b"".join(_lines()))
    reader = spark.read.format("mqsel").option("selector", SELECTOR)
    frame = reader.option("columns", "`color` string, weight int").load(str(tmp_path / "a.jsonl"))
    assert frame.dtypes == [
        ("file", "string"), ("place", "bigint"), ("raw", "binary"), ("color", "string"), ("weight", "int"),
    ]  # fmt: skip
    assert [row.weight for row in frame.select("weight").collect()] == WANTED

    folder = tmp_path / "in" / "day=5"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"".join(_lines()))
    stream = spark.readStream.format("mqsel").option("selector", SELECTOR).option("columns", "weight int")
    query = (
        stream.load(str(tmp_path / "in"))
        .writeStream.format("memory")
        .queryName("selected")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(processingTime="0 seconds")
        .start()
    )
    try:
        query.processAllAvailable()
        (folder / "b.jsonl").write_bytes(b"".join(_lines()[:600]))
        query.processAllAvailable()
        got = [row.weight for row in spark.sql("SELECT weight FROM selected WHERE day = 5").collect()]
    finally:
        query.stop()
    assert sorted(got) == sorted([*WANTED, *(number for number in WANTED if number < 600)])


def test_errors_through_spark(spark: Any, tmp_path: Path) -> None:
    """A wrong selector or option fails in load(); a broken message names its file in the job's error."""
    from pyspark.errors import AnalysisException, PySparkException

    spark.dataSource.register(DataSource)
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"{\n")
    for options, told in (({"selector": "a == 1"}, "unexpected '='"), ({"selector": "", "nope": "1"}, "'nope'")):
        with pytest.raises(AnalysisException, match=told):
            spark.read.format("mqsel").options(**options).load(str(file))
    frame = spark.read.format("mqsel").option("selector", "a = 1").load(str(file))
    with pytest.raises(PySparkException, match=r"mqsel\.errors\.FileError: broken JSON.*a\.jsonl, byte 0"):
        frame.collect()


def test_options_are_documented() -> None:
    """Every option stands in the documentation of the class."""
    assert all(f"``{name}``" in str(DataSource.__doc__) for name in OPTIONS)
