"""Columns: 1,000,000 rows with 10 % of each column missing, in four layouts, and the column engines that are the peers.

The rows are drawn from 20,000 distinct ones in random order: so plain Python can say what is selected, and no branch
predictor learns them. A peer gets a selector as its user writes it: DuckDB as SQL, which a selector is; Polars and
pyarrow.compute by one walk over its tree. Theirs is the logic of SQL. IBM MQ's differs from it where a value is missing
in arithmetic or under BETWEEN; these selectors select the same rows by both, which the comparison of answers shows.
"""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import importlib.util
import itertools
import operator
import os
import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

# One thread for everyone; Polars and pyarrow read it when they are imported.
os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import pyarrow as pa
import pyarrow.compute as pc
import stages
import workloads

import mqsel
from mqsel.language import nodes, pattern
from mqsel.language.parser import parse

ROWS = 1_000_000
MADE = 20_000  # distinct rows
MISSING = 0.1
LAYOUTS = ("plain", "dictionary", "large", "view")
FOUR = "(Origin = 'MOW' OR Country = 'RU') AND (Value >= 100 OR Adults = 1)"
SELECTORS = {**workloads.selectors(), "four": FOUR}
Run = Callable[[], Any]

# ---- the rows --------------------------------------------------------------------------------------------------------

_TYPES = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "boolean": pa.bool_()}
_STRINGS = {"plain": pa.string(), "large": pa.large_string(), "view": pa.string_view()}


def _fare(random: Random) -> workloads.Row:
    """Draw a row of the four predicates; they hold for a quarter, a third, a half and a third."""
    origin, country = random.choice(("MOW", "LED", "LON", "PAR")), random.choice(("RU", "GB", "FR"))
    return origin, country, random.randrange(200), random.randint(1, 3)


class _Kind(NamedTuple):
    names: tuple[str, ...]
    types: tuple[str, ...]
    draw: Callable[[Random], workloads.Row]


_MESSAGES = _Kind(workloads.NAMES, workloads.TYPES, workloads.complete_row)
_FARES = _Kind(("Origin", "Country", "Value", "Adults"), ("string", "string", "int64", "int64"), _fare)


def _kind(name: str) -> _Kind:
    return _FARES if name == "four" else _MESSAGES


@functools.cache
def made(kind: _Kind) -> list[workloads.Row]:
    """Return the distinct rows; None is missing."""
    random = Random(workloads.SEED)
    return [tuple([None if random.random() < MISSING else value for value in kind.draw(random)]) for _ in range(MADE)]


@functools.cache
def _order() -> pa.Int32Array:
    """Return which distinct row each row is."""
    return pa.array(Random(workloads.SEED).choices(range(MADE), k=ROWS), pa.int32())


@functools.cache
def _batch(kind: _Kind, layout: str) -> pa.RecordBatch:
    columns = []
    for place, name in enumerate(kind.types):
        column = pa.array([row[place] for row in made(kind)], _TYPES[name]).take(_order())
        if name == "string":
            column = column.dictionary_encode() if layout == "dictionary" else column.cast(_STRINGS[layout])
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, list(kind.names))


def batch(name: str, layout: str = "plain", rows: int = ROWS) -> pa.RecordBatch:
    """Return the first *rows* that the workload *name* is about."""
    return _batch(_kind(name), layout)[:rows]


# ---- the answers -----------------------------------------------------------------------------------------------------


@functools.cache
def expected(name: str) -> pa.BooleanArray:
    """Return the truth value of each row, by plain Python; null is UNKNOWN, and ERR is False."""
    evaluate, kind = workloads.evaluator(SELECTORS[name]), _kind(name)
    values = {workloads.TRUE: True, workloads.UNKNOWN: None}
    answers = [
        values.get(
            evaluate({key: value for key, value in zip(kind.names, row, strict=True) if value is not None}), False
        )
        for row in made(kind)
    ]
    return pa.array(answers, pa.bool_()).take(_order())


def assert_selected(answers: pa.BooleanArray, name: str) -> None:
    """Compare which rows are selected; before this no time counts."""
    want = expected(name)[: len(answers)].fill_null(False)
    assert answers.fill_null(False).equals(want), f"{name}: other rows are selected"


def assert_truths(answers: pa.BooleanArray, name: str) -> None:
    """Compare the three values of each row."""
    assert answers.equals(expected(name)[: len(answers)]), f"{name}: other truth values"


# ---- the peers -------------------------------------------------------------------------------------------------------


class Engine(NamedTuple):
    """How a column engine says what a test says, in functions of columns (or of expressions) and constants.

    Its masks may be False or null where a test is UNKNOWN: `masked` asks only for what is TRUE.
    """

    both: Callable[[Any, Any], Any]
    either: Callable[[Any, Any], Any]
    compare: dict[str, Callable[[Any, Any], Any]]
    compute: dict[str, Callable[[Any, Any], Any]]
    isin: Callable[[Any, list[str], bool], Any]
    between: Callable[[Any, Any, Any, bool], Any]
    like: Callable[[Any, nodes.Like, bool], Any]
    null: Callable[[Any, bool], Any]


_INVERSE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def masked(node: nodes.Node, wanted: bool, engine: Engine, column: Callable[[str], Any]) -> Any:
    """Ask *engine* where a condition is TRUE (*wanted*) or FALSE. NOT costs it nothing: it is in the tests.

    Exact where types fit, no integer is divided or overflows, and nothing is NaN, as here.
    """

    def value(below: nodes.Node) -> Any:
        match below:
            case nodes.Literal():
                return below.value
            case nodes.Identifier():
                return column(below.name)
            case nodes.Arithmetic():
                made = value(below.operands[0])
                for sign, operand in zip(below.operators, below.operands[1:], strict=True):
                    made = engine.compute[sign](made, value(operand))
                return made
        raise NotImplementedError(nodes.unparse(below))

    match node:
        case nodes.Not():
            return masked(node.operand, not wanted, engine, column)
        case nodes.And() | nodes.Or():
            join = engine.both if isinstance(node, nodes.And) == wanted else engine.either
            return functools.reduce(join, [masked(operand, wanted, engine, column) for operand in node.operands])
        case nodes.Comparison():
            sign = node.operator if wanted else _INVERSE[node.operator]
            return engine.compare[sign](value(node.left), value(node.right))
        case nodes.In():
            return engine.isin(value(node.identifier), list(node.choices), wanted != node.negated)
        case nodes.Between():
            return engine.between(value(node.operand), value(node.low), value(node.high), wanted != node.negated)
        case nodes.Like():
            return engine.like(value(node.identifier), node, wanted != node.negated)
        case nodes.IsNull():
            return engine.null(value(node.identifier), wanted != node.negated)
    raise NotImplementedError(nodes.unparse(node))


def _signed(mask: Any, wanted: bool) -> Any:
    return mask if wanted else ~mask


def _polars_like(column: Any, node: nodes.Like, wanted: bool) -> Any:
    shape, text = pattern.shape(pattern.segments(node.pattern, node.escape))
    tests = {
        "prefix": lambda: column.str.starts_with(text),
        "suffix": lambda: column.str.ends_with(text),
        "contains": lambda: column.str.contains(text, literal=True),
    }
    return _signed(tests[shape](), wanted)


_POLARS = Engine(
    operator.and_,
    operator.or_,
    {
        "=": operator.eq,
        "<>": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    },
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    lambda column, choices, wanted: _signed(column.is_in(choices), wanted),
    lambda value, low, high, wanted: _signed(value.is_between(low, high), wanted),
    _polars_like,
    lambda column, wanted: column.is_null() if wanted else column.is_not_null(),
)


def _kernel_isin(column: pa.Array, choices: list[str], wanted: bool) -> pa.Array:
    mask = pc.is_in(column, pa.array(choices))  # False where there is no value
    return mask if wanted else pc.and_(pc.invert(mask), pc.is_valid(column))


def _kernel_between(value: pa.Array, low: Any, high: Any, wanted: bool) -> pa.Array:
    if wanted:
        return pc.and_(pc.greater_equal(value, low), pc.less_equal(value, high))
    return pc.or_(pc.less(value, low), pc.greater(value, high))  # both sides are null together


def _kernel_like(column: pa.Array, node: nodes.Like, wanted: bool) -> pa.Array:
    assert node.escape in (None, "\\")  # which is the escape of match_like, always
    mask = pc.match_like(column, node.pattern)
    return mask if wanted else pc.invert(mask)


_KERNELS = Engine(
    pc.and_kleene,
    pc.or_kleene,
    {
        "=": pc.equal,
        "<>": pc.not_equal,
        "<": pc.less,
        "<=": pc.less_equal,
        ">": pc.greater,
        ">=": pc.greater_equal,
    },
    {"+": pc.add, "-": pc.subtract, "*": pc.multiply, "/": pc.divide},
    _kernel_isin,
    _kernel_between,
    _kernel_like,
    lambda column, wanted: pc.is_null(column) if wanted else pc.is_valid(column),
)


@functools.cache
def _frame(name: str, layout: str) -> Any:
    import polars as pl

    assert pl.thread_pool_size() == 1, "polars was imported before bench/columns.py"
    return pl.from_arrow(batch(name, layout))


def _polars_series(name: str, layout: str) -> Run:
    """Compute with Series, one operator at a time."""
    tree, frame = parse(SELECTORS[name], mqsel.IBM_MQ), _frame(name, layout)
    return lambda: masked(tree, True, _POLARS, frame.__getitem__)


def _polars_select(name: str, layout: str) -> Run:
    """Compute one expression: Polars may share what occurs twice in it."""
    import polars as pl

    frame = _frame(name, layout)
    wanted = masked(parse(SELECTORS[name], mqsel.IBM_MQ), True, _POLARS, pl.col).alias("selected")
    return lambda: frame.select(wanted)["selected"]


def _pyarrow(name: str, layout: str) -> Run:
    tree, given = parse(SELECTORS[name], mqsel.IBM_MQ), batch(name, layout)
    return lambda: masked(tree, True, _KERNELS, given.column)


def _duckdb(selected: str, name: str, layout: str) -> Run:
    """Ask in SQL, for the answers as Arrow."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.register("given", pa.table(batch(name, layout)))
    query = f"SELECT {selected.format(SELECTORS[name])} AS selected FROM given"
    return lambda: connection.sql(query).to_arrow_table()["selected"]


# For each peer the ways to ask it; the quickest counts. DuckDB takes a CASE like a WHERE: it leaves the rows that are
# decided, which it does not do in a SELECT.
PEERS: dict[str, dict[str, Callable[[str, str], Run]]] = {
    "polars": {"Series": _polars_series, "select": _polars_select},
    "pyarrow": {"kernels": _pyarrow},
    "duckdb": {
        "SELECT": functools.partial(_duckdb, "{}"),
        "CASE": functools.partial(_duckdb, "CASE WHEN {} THEN TRUE ELSE FALSE END"),
    },
}
TITLES = {"polars": "Polars", "pyarrow": "pyarrow", "duckdb": "DuckDB"}
WAYS = [(peer, way) for peer, ways in PEERS.items() for way in ways]


def missing() -> list[str]:
    return [peer for peer in PEERS if importlib.util.find_spec(peer) is None]


def peer_run(peer: str, way: str, name: str, layout: str = "plain") -> Run:
    """Return the run of a peer, once its answers are found right.

    Raises: whatever the peer raises at what it cannot do.
    """
    run = PEERS[peer][way](name, layout)
    answers = run()
    arrow = answers.to_arrow() if peer == "polars" else answers
    assert_selected(arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow, name)
    return run


# ---- side by side ----------------------------------------------------------------------------------------------------

FEW = 1_000
LEAST = 0.005  # seconds a round takes at least: shorter calls are repeated


def contenders(name: str, notes: list[str]) -> dict[str, tuple[Run, int]]:
    """Return each one's run and how many rows it goes over; mqsel and its peers in turns. Answers first."""
    matcher = mqsel.compile(SELECTORS[name])
    ours: dict[str, tuple[Run, int]] = {}
    for what, layout, rows in [
        *((layout, layout, ROWS) for layout in LAYOUTS),
        ("few", "plain", FEW),
        ("one", "plain", 1),
    ]:
        given = batch(name, layout, rows)
        assert_selected(matcher.match_batch(given), name)
        ours[what] = functools.partial(matcher.match_batch, given), rows
    given = batch(name)
    assert_truths(matcher.truth_batch(given), name)
    ours["truth"] = functools.partial(matcher.truth_batch, given), ROWS
    theirs: dict[str, tuple[Run, int]] = {}
    gone = missing()
    for layout in ("plain", "dictionary"):
        for peer, way in WAYS:
            if peer in gone or (layout != "plain" and peer != "polars"):
                continue
            try:
                theirs[f"{peer} {way} {layout}"] = peer_run(peer, way, name, layout), ROWS
            except AssertionError:
                raise
            except Exception as error:  # noqa: BLE001 (what a peer cannot do it says in many ways)
                notes.append(f"{name}: {peer} {way} cannot, {layout}: {error!r:.100}")
    turns = [
        pair for pairs in itertools.zip_longest(ours.items(), theirs.items()) for pair in pairs if pair is not None
    ]
    return dict(turns)


def measured(rounds: int, notes: list[str]) -> dict[str, dict[str, float]]:
    """Time everyone: contender -> workload -> ns per row, CPU time; of a peer's ways the quickest."""
    found: dict[str, dict[str, float]] = {}
    quickest: dict[str, list[str]] = {}
    for name in SELECTORS:
        runs = contenders(name, notes)
        times = stages.clock({who: run for who, (run, _) in runs.items()}, rounds, LEAST, time.process_time)
        for peer, layout in itertools.product(PEERS, ("plain", "dictionary")):
            ways = {way: times[f"{peer} {way} {layout}"] for way in PEERS[peer] if f"{peer} {way} {layout}" in times}
            if ways:
                best = min(ways, key=ways.__getitem__)
                found.setdefault(f"{peer} {layout}", {})[name] = ways[best] / ROWS * 1e9
                quickest.setdefault(f"{peer}, {layout}", []).append(f"{name} {best}")
        for who, seconds in times.items():
            found.setdefault(who, {})[name] = seconds / runs[who][1] * 1e9
    notes += [f"{who}, quickest by: {', '.join(ways)}" for who, ways in quickest.items() if "pyarrow" not in who]
    return found


FREE = 0.6  # of the time of one thread two take at most to hash two buffers where two processors are free
TRIES = 2_000


def two_threads(rounds: int) -> tuple[dict[str, float], dict[str, int]]:
    """Return, by workload, the wall time of ``threads=2`` by that of one, and of how many windows that is the median.

    On a shared machine a second processor is free now and then: a window counts if it is before and behind it. So many
    as there are rounds are enough; a workload of which none counts has no figure.
    """
    found: dict[str, float] = {}
    counted: dict[str, int] = {}
    halves = [bytes(1 << 21)] * 2
    with concurrent.futures.ThreadPoolExecutor(2) as pool:

        def is_free() -> bool:
            together = _taken(lambda: list(pool.map(hashlib.sha256, halves)))
            return together <= FREE * _taken(lambda: list(map(hashlib.sha256, halves)))

        for name, text in SELECTORS.items():
            match = functools.partial(mqsel.compile(text).match_batch, batch(name))
            assert_selected(match(threads=2), name)
            one, two = functools.partial(match, threads=1), functools.partial(match, threads=2)
            ratios: list[float] = []
            for _ in range(TRIES):
                if is_free():
                    ratio = _taken(two) / _taken(one)
                    ratios += [ratio] * is_free()
                if len(ratios) == rounds:
                    break
            counted[name] = len(ratios)
            if ratios:
                found[name] = statistics.median(ratios)
    return found, counted


def _taken(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
