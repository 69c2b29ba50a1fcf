"""Functions sent to the executors, and the check of what a cluster lacks for them.

The functions that Spark pickles are nested ones, which are pickled by value, and hold bytes and texts only: so a worker
without this package can still report that. Knows columns of Arrow and programs; no SQL. Follows spark §9.
"""

from __future__ import annotations

import functools
import json
import pickle
import pkgutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import DataType

from mqsel.columns import wordings
from mqsel.errors import ArgumentError, PropertyTypeError
from mqsel.machine.program import BUILD, VERSION, Program
from mqsel.matcher import Matcher
from mqsel.spark.job import reason
from mqsel.spark.wordings import old_spark

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark import SparkContext

_A = TypeVar("_A")  # an answer to columns
SHIP = (
    "install one mqsel on every worker, or ship an environment: venv-pack -o env.tar.gz, then "
    "--archives env.tar.gz#env --conf spark.pyspark.python=./env/bin/python --conf spark.pyspark.driver.python=python"
)


def guard() -> Callable[[], None]:
    """Return the function that travels ahead: it reports what a worker lacks, before this package is needed."""
    version, build, advice = VERSION, BUILD, SHIP

    def check():  # type: ignore[no-untyped-def]  # noqa: ANN202
        import platform  # noqa: PLC0415 (travels by value)
        import sys  # noqa: PLC0415

        try:
            from mqsel.machine.program import BUILD as HERE  # noqa: PLC0415
            from mqsel.spark.ship import evaluate  # noqa: F401, PLC0415
        except ImportError as error:
            problem = f"mqsel {version} cannot be imported in the Spark Python worker: {error}"
        else:
            problem = f"the driver has mqsel {build}, the Spark Python worker {HERE}" if build != HERE else ""
        if problem:
            python = f"python {sys.executable} ({platform.python_version()}), path {sys.path[:3]}"
            raise ImportError(f"{problem}\n  host {platform.node()}, {python}\n  hint: {advice}") from None

    return check


def carried(task: str, *held: bytes | str) -> Callable[..., Any]:
    """Return a function that travels by value, and calls on a worker the one that is named *task*, as module:name.

    Args:
        held: what that is called with, before what the function itself is called with.
    """
    check = guard()

    def call(*given):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202
        check()
        import pkgutil  # noqa: PLC0415 (travels by value)

        return pkgutil.resolve_name(task)(*held, *given)

    return call


def gathered(frame: DataFrame, task: str, *held: bytes | str) -> Iterator[Any]:
    """Run a function, named as for `carried`, over the batches of each partition.

    Returns: what it returns, in the order of partitions.
    """
    for row in frame.mapInArrow(carried("mqsel.spark.ship:pickled", task, *held), "found binary").collect():
        yield pickle.loads(row[0])  # noqa: S301 (from our own workers)


def pickled(task: str, *given: Any) -> Iterator[pa.RecordBatch]:
    """Yield what a function returns, on an executor."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    found = pickle.dumps(pkgutil.resolve_name(task)(*given))
    yield pa.RecordBatch.from_arrays([pa.array([found], pa.binary())], ["found"])


def arrow_function(program: bytes, layout: str, task: str = "mqsel.spark.ship:evaluate") -> Callable[..., pa.Array]:
    """Return the function that an Arrow UDF runs on the executors.

    Args:
        program: a `Program` as bytes.
        layout: JSON of the columns it is called with, see `evaluate`, or of what else the task needs.
        task: the function that is called there with program, layout and columns, as module:name.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise wordings.package_missing("the Arrow strategy", "pyarrow", "spark") from error

    call = carried(task, program, layout)

    def truth(*columns):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202
        return call(columns)

    # Spark takes from these what kind of function it is; the text of an annotation would not do for a nested one.
    truth.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return truth


class Call(NamedTuple):
    """A call of an Arrow function.

    Attributes:
        function: the UDF.
        arguments: Catalyst texts.
    """

    function: Any
    arguments: tuple[str, ...]

    def column(self) -> Column:
        """Return the Column of what it returns."""
        made: Column = self.function(*map(F.expr, self.arguments))
        return made


def arrow_call(
    what: str,
    program: bytes,
    layout: str,
    arguments: Iterable[str],
    returned: DataType | str = "boolean",
    task: str = "mqsel.spark.ship:evaluate",
) -> Call:
    """Return the call of an Arrow function.

    Args:
        what: needs it, in an error's words.
        program, layout, task: as for `arrow_function`.
        arguments: Catalyst texts.
        returned: its type.

    Raises: MqselError: this Spark is too old for it.
    """
    if not hasattr(F, "arrow_udf"):
        raise old_spark(what, "4.1", "select from an RDD instead: df.rdd.mapPartitions(matcher.filter)")
    return Call(F.arrow_udf(arrow_function(program, layout, task), returned), tuple(arguments))


@functools.lru_cache(64)
def options_of(text: str) -> dict[str, Any]:
    """Read what a driver has written as JSON for its functions."""
    found: dict[str, Any] = json.loads(text)
    return found


@functools.lru_cache(64)
def _loaded(program: bytes, layout: str) -> tuple[Matcher, list[tuple[str, list[str]]]]:
    return Matcher(Program.from_bytes(program)), json.loads(layout)


def evaluate(program: bytes, layout: str, columns: Sequence[pa.Array]) -> pa.BooleanArray:
    """Evaluate one batch on an executor.

    Args:
        layout: JSON of pairs of a property and its tags. Without tags it has one column; with tags it has a column of
            tags, and after it one column for each of them.
        columns: shape (columns of the layout,), each of shape (rows,).

    Returns: true, false, and null for UNKNOWN; ERR is false.
    """
    matcher, properties = _loaded(program, layout)
    return read_anyhow(lambda readable: by_types(matcher.truth_batch, properties, readable), columns)


def read_anyhow(answer: Callable[[Sequence[pa.Array]], _A], columns: Sequence[pa.Array]) -> _A:
    """Return the *answer* to columns, also where a text is no UTF-8: Spark checks none.

    There both strategies read U+FFFD, as Spark itself shows it.

    Args:
        answer: changes nothing else, as it is asked a second time where a text is none.
    """
    try:
        return answer(columns)
    except PropertyTypeError:
        readable = [as_utf8(column) for column in columns]
        if all(one is other for one, other in zip(readable, columns, strict=True)):
            raise
        return answer(readable)


def as_utf8(column: pa.Array) -> pa.Array:
    """Put U+FFFD where texts are no UTF-8, as Spark's make_valid_utf8 does; return the same column where all are."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        texts = [
            None if raw is None else raw.decode("utf-8", "replace")
            for raw in column.view("binary" if pa.types.is_string(column.type) else "large_binary").to_pylist()
        ]
        return pa.array(texts, column.type)
    return column


def by_types(
    answer: Callable[[pa.RecordBatch], pa.Array],
    properties: Sequence[tuple[str, Sequence[str]]],
    columns: Sequence[pa.Array],
) -> pa.Array:
    """Return the *answer* to each row; where properties have types of their own, group by group of equal types.

    Args:
        answer: gives for a batch an array of one value for each row.
        properties, columns: those of `groups`.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    found = [(answer(batch), rows) for batch, rows in groups(properties, columns)]
    if len(found) == 1:
        return found[0][0]
    answers, order = zip(*found, strict=True)
    return pa.concat_arrays(answers).take(pc.sort_indices(pa.concat_arrays(order)))


def groups(
    properties: Sequence[tuple[str, Sequence[str]]], columns: Sequence[pa.Array]
) -> Iterator[tuple[pa.RecordBatch, pa.Array | None]]:
    """Yield the rows as batches in each of which a property has one type.

    Args:
        properties: pairs of a property and its tags, as the layout of `evaluate`.
        columns: as for `evaluate`.

    Returns: batches, at least one, and the numbers of their rows; None where one batch has all of them.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # noqa: PLC0415

    if not any(tags for _, tags in properties):
        yield pa.RecordBatch.from_arrays(list(columns), [name for name, _ in properties]), None
        return
    rows = len(columns[0])
    group = pa.nulls(rows, pa.int64()).fill_null(0)
    # Of a property: the columns of its values, and for each row the number of one of these, 0 where it has no value.
    places: list[tuple[str, list[pa.Array], pa.Array | None]] = []
    at = 0
    for name, tags in properties:
        held, which = [columns[at]], None
        if tags:
            tag = columns[at]
            which = pc.add(pc.fill_null(pc.index_in(tag, value_set=pa.array(tags, tag.type)), -1), 1)
            held = list(columns[at + 1 : at + 1 + len(tags)])
            if tag.null_count:
                # Without a tag a row has no value of any type: it may stand in the group of any other, with NULL.
                known = which.filter(tag.is_valid())
                which = pc.if_else(tag.is_valid(), which, known[0] if len(known) else 0)
                held = [pc.if_else(tag.is_valid(), one, pa.scalar(None, one.type)) for one in held]
            # Numbered anew each time, so that no number of properties is too many.
            pairs = pc.add(pc.multiply(group, len(tags) + 1), pc.cast(which, pa.int64()))
            group = pc.cast(pairs.dictionary_encode().indices, pa.int64())
        places.append((name, held, which))
        at += 1 + len(tags)
    numbers = pc.unique(group).to_pylist()
    if not numbers:
        yield pa.RecordBatch.from_arrays([pa.nulls(0)], [properties[0][0]]), None
    for number in numbers:
        chosen = pc.indices_nonzero(pc.equal(group, number))
        kept: dict[str, pa.Array] = {}
        for name, held, which in places:
            index = 1 if which is None else which[chosen[0].as_py()].as_py()
            if index:
                kept[name] = held[index - 1] if len(chosen) == rows else held[index - 1].take(chosen)
        kept = kept or {properties[0][0]: pa.nulls(len(chosen))}
        yield pa.RecordBatch.from_arrays(list(kept.values()), list(kept)), chosen


# ---- a cluster, beforehand -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Worker:
    """One Python interpreter that executors run.

    Attributes:
        host: The host on which it runs.
        executable: The path of the interpreter.
        python: The version of Python.
        mqsel: The version of mqsel there, or why it can't be imported.
        pyarrow: The version of pyarrow there, or why it can't be imported.
        tasks: The number of test tasks that it ran.
        is_ready: Whether it can evaluate everything that this driver sends.
    """

    host: str
    executable: str
    python: str
    mqsel: str
    pyarrow: str
    tasks: int
    is_ready: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """An executor on which tasks of `check_cluster` failed, even if Spark repeated them elsewhere with success.

    Attributes:
        host: The host of the executor; empty if Spark Connect doesn't tell it.
        executor: The id of the executor; empty if Spark Connect doesn't tell it.
        attempts: The number of tasks that failed.
        reason: Why the first task failed.
    """

    host: str
    executor: str
    attempts: int
    reason: str

    def __str__(self) -> str:
        where = f"executor {self.executor} on {self.host}" if self.executor else "an executor"
        return f"{where}: {self.attempts:,} failed {'attempt' if self.attempts == 1 else 'attempts'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The result of `check_cluster`. If you print it, you see a table.

    Attributes:
        workers: The Python interpreters that were found, each a `Worker`.
        failures: The executors on which tasks failed, each a `Failure`.
    """

    workers: tuple[Worker, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether every interpreter that was found can evaluate selectors, and no task failed."""
        return bool(self.workers) and not self.failures and all(worker.is_ready for worker in self.workers)

    def __str__(self) -> str:
        head = ("host", "python", "", "mqsel", "pyarrow", "tasks", "")
        rows = [
            (
                one.host,
                one.python,
                one.executable,
                one.mqsel,
                one.pyarrow,
                str(one.tasks),
                "ready" * one.is_ready or "NO",
            )
            for one in self.workers
        ]
        lines = [*table([head, *rows]), *map(str, self.failures)]
        if not self.is_ready:
            lines.append(f"driver: mqsel {BUILD}. {SHIP}")
        return "\n".join(lines)


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Align rows of texts, the head first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def check_cluster(spark: SparkSession, *, tasks: int | None = None) -> Cluster:
    """Run a small job on the executors, and list their Python interpreters and the packages that are missing there.

    Args:
        spark: The Spark session.
        tasks: The number of tasks. The default is None: four for each core that Spark counts.

    Returns: a `Cluster`, which you can print. It also has the executors on which tasks failed, even if Spark repeated
        them elsewhere with success. Spark Connect reports only their number.
    """
    version, build = VERSION, BUILD
    if tasks is None:
        cores = spark.range(1 << 16).select(F.spark_partition_id()).distinct().count()
        tasks = 4 * cores
    if type(tasks) is not int or tasks < 1:
        raise ArgumentError(f"tasks is {tasks!r}: expected a positive integer")

    def look(_number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        import json  # noqa: PLC0415 (travels by value)
        import platform  # noqa: PLC0415
        import sys  # noqa: PLC0415
        import time  # noqa: PLC0415

        from pyspark import TaskContext  # noqa: PLC0415

        time.sleep(0.1)  # long enough for the next task to go to another executor
        try:
            from mqsel.machine.program import BUILD as HERE  # noqa: PLC0415
            from mqsel.spark.ship import evaluate  # noqa: F401, PLC0415

            same = build == HERE
            ours = version if same else f"{HERE}, the driver has {build}"
        except Exception as error:  # noqa: BLE001 (a library that does not fit raises anything)
            same, ours = False, str(error)
        try:
            import pyarrow  # noqa: ICN001, PLC0415

            arrow = pyarrow.__version__
        except Exception as error:  # noqa: BLE001
            same, arrow = False, str(error)
        attempts = TaskContext.get().attemptNumber()  # type: ignore[union-attr]
        return json.dumps([platform.node(), sys.executable, platform.python_version(), ours, arrow, same, attempts])

    # A pickled UDF: an Arrow one would need the pyarrow whose absence is to be told.
    probe = F.udf(look, "string", useArrow=False).asNondeterministic()
    found, failures = _watched(spark, spark.range(0, tasks, 1, tasks).select(probe("id")).collect)
    met = Counter(tuple(json.loads(row[0])) for row in found)
    workers: Counter[tuple[Any, ...]] = Counter()
    again = 0
    for (*worker, attempts), times in met.items():
        workers[tuple(worker)] += times
        again += attempts * times
    if again and not failures:
        failures = (Failure("", "", again, "Spark ran the tasks again"),)
    return Cluster(
        tuple(
            Worker(host, executable, python, ours, arrow, number, is_ready)
            for (host, executable, python, ours, arrow, is_ready), number in sorted(workers.items())
        ),
        failures,
    )


def _watched(spark: SparkSession, job: Callable[[], list[Any]]) -> tuple[list[Any], tuple[Failure, ...]]:
    """Run a job. Returns: its rows, none if Spark gave up; where attempts failed, as far as the session tells."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)

    try:
        context = spark.sparkContext
    except PySparkException:  # Spark Connect has none
        context = None
    group, names = f"check_cluster {uuid.uuid4()}", ("spark.jobGroup.id", "spark.job.description")
    before = {name: context.getLocalProperty(name) for name in names} if context is not None else {}
    if context is not None:
        context.setLocalProperty(names[0], group)
    rows, trouble = [], ""
    try:
        rows = job()
    except (PySparkException, Py4JError) as error:
        trouble = reason(str(error))
    finally:
        for name, value in before.items():
            context.setLocalProperty(name, value)  # type: ignore[union-attr, arg-type]
    failures = () if context is None else _failures(context, group)
    if trouble and not failures:
        failures = (Failure("", "", 1, trouble),)
    return rows, failures


def _failures(context: SparkContext, group: str) -> tuple[Failure, ...]:
    """Ask the store of a driver's status, as its web pages do, which attempts of a group of jobs failed, and where."""
    java = context._jsc.sc()  # noqa: SLF001 (its status is told by nothing public)
    java.listenerBus().waitUntilEmpty(10_000)
    tracker, store = context.statusTracker(), java.statusStore()
    failed: dict[tuple[str, str], list[str]] = {}
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            attempts = store.taskList(stage, 0, 1 << 20)
            for number in range(attempts.size()):
                one = attempts.apply(number)
                if one.status() == "FAILED":
                    said = one.errorMessage()
                    where = one.host(), one.executorId()
                    failed.setdefault(where, []).append(reason(said.get()) if said.isDefined() else "")
    return tuple(Failure(*where, len(reasons), reasons[0]) for where, reasons in sorted(failed.items()))
