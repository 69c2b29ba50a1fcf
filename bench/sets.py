"""Sets of many selectors and messages for them, drawn from a seed; a loop over Matchers, and one Python function.

The workloads are those that papers on matching measure, written as selectors: `ABE` boolean expressions over a thousand
properties (A-Tree, SIGMOD 2021, table 3), `conjunctions` (BE-Tree, SIGMOD 2011; PS-Tree, VLDB 2018, table 1), `JMS`
subscriptions by key, `dense` or `sparse`, and some that an index cannot help. Every answer is compared first.
"""

from __future__ import annotations

import gzip
import importlib.util
import itertools
import json
import pickle
import statistics
import sys
import tempfile
import time
from array import array
from bisect import bisect
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import stages
import workloads

import mqsel
from mqsel.formats import mq
from mqsel.language import nodes, pattern
from mqsel.language.parser import parse
from mqsel.machine.schema import as_schema

SEED = 8
Message = dict[str, Any]


class Zipf:
    """Numbers from 0, the first ones more often: the n-th with weight 1 / n ** alpha."""

    def __init__(self, count: int, alpha: float) -> None:
        self.sums = list(itertools.accumulate((n + 1) ** -alpha for n in range(count)))

    def draw(self, random: Random) -> int:
        return bisect(self.sums, random.random() * self.sums[-1])


class Workload(NamedTuple):
    """What makes selectors and messages.

    Attributes:
        name: for people.
        selectors: gives *count* texts; the first ones of many are those of few.
        message: draws one.
        dialect: of the texts.
    """

    name: str
    selectors: Callable[[int], list[str]]
    message: Callable[[Random], Message]
    dialect: mqsel.Dialect = mqsel.JMS

    def messages(self, count: int) -> list[Message]:
        """Draw messages, whose keys are the same objects, as those of most programs are."""
        random = Random(f"{self.name} messages")
        return [{sys.intern(name): value for name, value in self.message(random).items()} for _ in range(count)]


def listed(name: str, draw: Callable[[Random], str]) -> Callable[[int], list[str]]:
    """Return what draws a list of selectors from the seed of a workload."""

    def selectors(count: int) -> list[str]:
        random = Random(f"{SEED} {name}")
        return [draw(random) for _ in range(count)]

    return selectors


# ---- ABE: nested expressions, 14 tests each, of which three in a hundred hold ----------------------------------------

_DIMENSIONS, _CARDINALITY, _EVENT = 1000, 100, 20
_POPULAR = Zipf(_DIMENSIONS, 0.6)
_SHARED = 18.35, 4.33  # how many selectors share a test, and an inner expression


def _abe_test(random: Random) -> str:
    name, value = f"p{_POPULAR.draw(random)}", random.randrange(_CARDINALITY)
    sign = random.choices(("=", "<>", "<", "<=", ">", ">="), (15, 1, 1, 1, 1, 1))[0]
    return f"{name} {sign} {value}"


def _abe(count: int) -> list[str]:
    random = Random(f"{SEED} ABE")
    # The pools are as large as what has been drawn so far allows, so that few selectors are the first of many.
    tests: list[str] = []
    inner: list[str] = []
    drawn = [0, 0]

    def pick(pool: list[str], which: int, make: Callable[[], str]) -> str:
        drawn[which] += 1
        if len(pool) * _SHARED[which] <= drawn[which]:
            pool.append(make())
            return pool[-1]
        return pool[int(len(pool) * random.random() ** (1 / 0.4))]  # Zipf, alpha 0.6, by its inverse

    def joined(make: Callable[[], str]) -> str:
        kind = random.choices(("AND", "OR", "NOT", "XOR", "XNOR"), (40, 40, 10, 5, 5))[0]
        if kind in ("AND", "OR"):
            return "(" + f" {kind} ".join([make() for _ in range(random.randint(2, 6))]) + ")"
        if kind == "NOT":
            return f"NOT ({make()})"
        one, other = make(), make()
        if kind == "XOR":
            return f"({one} AND NOT ({other}) OR NOT ({one}) AND {other})"
        return f"({one} AND {other} OR NOT ({one}) AND NOT ({other}))"

    def test() -> str:
        return pick(tests, 0, lambda: _abe_test(random))

    return [joined(lambda: pick(inner, 1, lambda: joined(test))) for _ in range(count)]


def _abe_message(random: Random) -> Message:
    message: Message = {}
    while len(message) < _EVENT:
        message[f"p{_POPULAR.draw(random)}"] = random.randrange(_CARDINALITY)
    return message


# ---- conjunctions of three to seven tests ----------------------------------------------------------------------------


# Of a hundred tests 60 are for one value, 5 for some, 35 for a range; numbers have the ranges, texts the lists.
_TEXT_TESTS, _NUMBER_TESTS = (90, 10, 0), (30, 0, 70)


def _conjunction(random: Random) -> str:
    tests = []
    for number in random.sample(range(100), random.randint(3, 7)):
        is_text = number % 2
        name, quote = f"{'ns'[is_text]}{number}", "'" * is_text
        kind = random.choices(("=", "IN", "BETWEEN"), _TEXT_TESTS if is_text else _NUMBER_TESTS)[0]
        value = random.randrange(100)
        if kind == "=":
            tests.append(f"{name} = {quote}{value}{quote}")
        elif kind == "IN":
            tests.append(f"{name} IN ({', '.join(repr(str(random.randrange(100))) for _ in range(3))})")
        else:
            tests.append(f"{name} BETWEEN {value} AND {value + random.randint(5, 40)}")
    return " AND ".join(tests)


def _conjunction_message(random: Random) -> Message:
    chosen = random.sample(range(100), 30)
    return {f"{'ns'[number % 2]}{number}": _value(random, number % 2) for number in chosen}


def _value(random: Random, is_text: int) -> str | int:
    value = random.randrange(100)
    return str(value) if is_text else value


# ---- JMS: subscriptions by a key, or by what most messages have ------------------------------------------------------

_KEYS = {"account": Zipf(5_000, 0.8), "order": Zipf(50_000, 0.8), "customer": Zipf(100_000, 0.8)}
_CATEGORIES = {
    name: Zipf(size, 1.0)
    for name, size in zip(
        ("region", "kind", "color", "carrier", "currency", "country", "product"),
        (4, 6, 10, 20, 40, 70, 100),
        strict=True,
    )
}
_NUMBERS = {f"n{place}": size for place, size in enumerate((100, 100, 200, 200, 300, 400, 500, 600, 800, 1000))}


def _key(random: Random) -> str:
    name = random.choice([*_KEYS])
    values = [f"'{name}-{_KEYS[name].draw(random)}'" for _ in range(random.randint(2, 4))]
    return f"{name} = {values[0]}" if random.random() < 0.8 else f"{name} IN ({', '.join(values)})"


def _plain_test(random: Random) -> str:
    if random.random() < 0.45:
        name = random.choice([*_CATEGORIES])
        values = [f"'{name}-{_CATEGORIES[name].draw(random)}'" for _ in range(random.randint(2, 4))]
        return f"{name} = {values[0]}" if random.random() < 0.6 else f"{name} IN ({', '.join(values)})"
    name = random.choice([*_NUMBERS])
    size = _NUMBERS[name]
    value = random.randrange(size)
    kind = random.random()
    if kind < 0.4:
        return f"{name} = {value}"
    if kind < 0.65:
        return f"{name} {random.choice(['<', '>'])} {value}"
    return f"{name} BETWEEN {value} AND {value + random.randint(size // 10, size // 2)}"


def _jms_test(random: Random) -> str:
    kind = random.random()
    if kind < 0.1:
        return f"({_plain_test(random)} OR {_plain_test(random)})"
    if kind < 0.2:
        name = random.choice([*_CATEGORIES, *_NUMBERS])
        return f"{name} IS {'NOT ' if random.random() < 0.5 else ''}NULL"
    if kind < 0.3:
        name = random.choice([*_CATEGORIES])
        text = f"{name}-{_CATEGORIES[name].draw(random)}"
        return f"{name} LIKE '{text[: random.randint(3, len(text))]}%'" if kind < 0.25 else f"{name} LIKE '%{text[2:]}'"
    if kind < 0.35:
        return f"NOT ({_plain_test(random)})"
    if kind < 0.38:
        return f"{random.choice([*_NUMBERS])} = 'none'"  # a constant of the wrong type
    if kind < 0.41:
        name = random.choice([*_NUMBERS])
        return f"{name} * 2 + 1 > {random.randrange(2 * _NUMBERS[name])}"
    return _plain_test(random)


def _jms(keyed: float) -> Callable[[Random], str]:
    def draw(random: Random) -> str:
        tests = [_key(random)] if random.random() < keyed else []
        tests += [_jms_test(random) for _ in range(random.randint(2, 4))]
        return " AND ".join(dict.fromkeys(tests))

    return draw


def _jms_message(random: Random) -> Message:
    made: Message = {name: f"{name}-{zipf.draw(random)}" for name, zipf in (_KEYS | _CATEGORIES).items()}
    made |= {name: random.randrange(size) for name, size in _NUMBERS.items()}
    return {name: value for name, value in made.items() if random.random() >= 0.1}


# ---- what no index can help ------------------------------------------------------------------------------------------


def _one_sided(random: Random) -> str:
    tests = [f"{random.choice([*_NUMBERS])} {random.choice(['<', '>='])} {random.randrange(500)}" for _ in range(2)]
    return " AND ".join(tests)


def _contains(random: Random) -> str:
    return f"{random.choice([*_CATEGORIES])} LIKE '%{random.choice('abcdegino')}{random.choice('acdeinorty-')}%'"


def _negated(random: Random) -> str:
    tests = [_plain_test(random) for _ in range(3)]
    return " AND ".join([f"NOT ({one})" if random.random() < 0.5 else one for one in tests])


def _hundred(count: int) -> list[str]:
    few = listed("hundred", _jms(0.7))(100)
    return [few[number % 100] for number in range(count)]


def _hot(random: Random) -> str:
    return f"kind = 'kind-0' AND {_plain_test(random)} AND {_plain_test(random)}"


def shared() -> Workload | None:
    """Return the subscriptions that stand beside the checkout, and the messages they are for; None where none do."""
    path = workloads.SHARED / "subscriptions.json.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = json.load(file)
    drawn = iter(itertools.cycle(workloads.shared_messages()))
    return Workload("subscriptions", lambda count: texts[:count], lambda _: next(drawn), mqsel.IBM_MQ)


WORKLOADS = [
    Workload("JMS sparse", listed("sparse", _jms(1.0)), _jms_message),
    Workload("conjunctions", listed("conjunctions", _conjunction), _conjunction_message),
    Workload("JMS dense", listed("dense", _jms(0.7)), _jms_message),
    Workload("ABE", _abe, _abe_message),
]
ADVERSARIAL = [
    Workload("one-sided ranges", listed("one-sided", _one_sided), _jms_message),
    Workload("LIKE '%x%'", listed("contains", _contains), _jms_message),
    Workload("half NOT", listed("negated", _negated), _jms_message),
    Workload("copies of a hundred", _hundred, _jms_message),
    Workload("one hot value", listed("hot", _hot), _jms_message),
]


# ---- the others ------------------------------------------------------------------------------------------------------

Match = Callable[[Any], list[int]]


def matchers(workload: Workload, texts: Sequence[str]) -> Match:
    """Return a loop over Matchers."""
    made = [mqsel.compile(text, dialect=workload.dialect).matches for text in texts]
    return lambda message: [place for place, matches in enumerate(made) if matches(message)]


def _test(node: nodes.Node, wanted: bool) -> str:
    """Write a test in Python; LIKE as its user would, BETWEEN by the JMS rule, which the workloads have."""
    if isinstance(node, nodes.Between):
        no = "" if wanted != node.negated else "not "
        name = nodes.unparse(node.operand)
        return f"({name} is not None and {no}{node.low.value} <= {name} <= {node.high.value})"
    if not isinstance(node, nodes.Like):
        return workloads._python(node, wanted)
    name, no = node.identifier.name, "" if wanted != node.negated else "not "
    shape, text = pattern.shape(pattern.segments(node.pattern, node.escape))
    how = {
        "exact": f"{name} == {text!r}",
        "prefix": f"{name}.startswith({text!r})",
        "suffix": f"{name}.endswith({text!r})",
        "contains": f"{text!r} in {name}",
    }
    if shape not in how:
        raise NotImplementedError(node.pattern)
    return f"({name} is not None and {no}{how[shape]})"


def function(workload: Workload, texts: Sequence[str]) -> Match:
    """Return one Python function of all selectors, exact where nothing is ERR.

    Raises: NotImplementedError: a selector that nobody would write so.
    """
    trees = [parse(text, workload.dialect) for text in texts]
    read = dict.fromkeys(node.name for tree in trees for node in nodes.walk(tree) if isinstance(node, nodes.Identifier))
    lines = ["def match(message):", " get, found = message.get, []", " add = found.append"]
    lines += [f" {name} = get({name!r})" for name in read]
    lines += [f" if {workloads.condition(tree, True, _test)}: add({place})" for place, tree in enumerate(trees)]
    made: dict[str, Any] = {}
    exec("\n".join([*lines, " return found"]), made)
    return made["match"]


_OTHERWISE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _a_tree_test(node: nodes.Node, wanted: bool) -> str:
    """Write a test for a-tree."""
    wanted = wanted != getattr(node, "negated", False)
    match node:
        case nodes.Comparison(operator, nodes.Identifier(name), nodes.Literal(_, value)):
            return f"({name} {operator if wanted else _OTHERWISE[operator]} {value!r})"
        case nodes.Between(_, nodes.Identifier(name), nodes.Literal(_, low), nodes.Literal(_, high)) if wanted:
            return f"({name} >= {low} and {name} <= {high})"
        case nodes.In(_, nodes.Identifier(name), choices):
            return f"({name} {'' if wanted else 'not '}in [{', '.join(map(repr, choices))}])"
    raise NotImplementedError(nodes.unparse(node))


def a_tree(workload: Workload, texts: Sequence[str]) -> tuple[Callable[[Message], Any], Match]:
    """Insert all selectors into an a-tree, NOT at its tests: give what makes an event of a message, and its search.

    It knows no LIKE, no arithmetic and no NULL; it needs Python 3.13.

    Raises: ImportError: py-a-tree is not installed. NotImplementedError: a selector it cannot say.
    """
    from a_tree import ATree, AttributeDefinition

    trees = [parse(text, workload.dialect) for text in texts]
    written = [workloads.condition(tree, True, _a_tree_test) for tree in trees]
    kinds = {name: type(value) for message in workload.messages(500) for name, value in message.items()}
    names = dict.fromkeys(
        node.name for tree in trees for node in nodes.walk(tree) if isinstance(node, nodes.Identifier)
    )
    make = {int: AttributeDefinition.integer, str: AttributeDefinition.string}
    made = ATree([make[kinds.get(name, int)](name) for name in names])
    for place, text in enumerate(written):
        made.insert(place, text)

    def event(message: Message) -> Any:
        builder = made.make_event()
        for name, value in message.items():
            if name in names:
                (builder.with_integer if type(value) is int else builder.with_string)(name, value)
        return builder.build()

    return event, lambda event: made.search(event).matches


def against_a_tree(workload: Workload, texts: Sequence[str], right: Match, notes: list[str]) -> float | None:
    """Time a-tree; note what it missed and what it should not have found, which is much."""
    try:
        event, match = a_tree(workload, texts)
    except (ImportError, NotImplementedError) as error:
        notes.append(f"{workload.name}: no py-a-tree, {type(error).__name__} {error!s:.60}")
        return None
    messages = workload.messages(20)
    events = [event(message) for message in messages]
    missed = wrong = total = 0
    for message, made in zip(messages, events, strict=True):
        ours, theirs = {*right(message)}, {*match(made)}
        total, missed, wrong = total + len(ours), missed + len(ours - theirs), wrong + len(theirs - ours)
    if missed or wrong:
        notes.append(
            f"{workload.name}, {len(texts):,}: py-a-tree missed {missed} of {total}, and gave {wrong} too many"
        )
    return p50(match, events, 1)


# ---- what is measured ------------------------------------------------------------------------------------------------


def compared(ours: Match, theirs: Match, messages: Sequence[Any]) -> int:
    """Hold the answers of two against each other; give how many there are."""
    total = 0
    for message in messages:
        found = ours(message)
        assert found == theirs(message), message
        total += len(found)
    return total


def p50(match: Match, messages: Sequence[Any], rounds: int = 3) -> float:
    """Return the median time of a message, in us, over all messages and rounds; what the clock takes is left out.

    One round before them is not counted: it brings messages and programs into the cache.
    """
    times(match, messages, 1)
    return statistics.median(times(match, messages, rounds)) / 1000 - _CLOCK


def times(match: Match, messages: Sequence[Any], rounds: int) -> list[int]:
    """Time each message, in ns."""
    clock, found = time.perf_counter_ns, []
    for _ in range(rounds):
        for message in messages:
            start = clock()
            match(message)
            found.append(clock() - start)
    return found


_CLOCK = statistics.median(times(lambda _: [], range(5000), 1)) / 1000


class Figures(NamedTuple):
    """What was measured of a workload at a size: us a message unless it says otherwise; None for what was not."""

    record: float
    into: float  # positions put into an array
    dict: float
    mq: float
    loop: float | None
    function: float | None
    a_tree: float | None
    scan: float  # the engine running every selector
    selected: float  # selectors a message
    build: float  # selectors/s of CPU time, including parsing
    index: float  # the same, formulas at hand
    bytes: float  # of the index, a selector
    open: float  # ms
    pickle: float  # ms, out of band, there and back
    churn: float  # p99 while 1 % are replaced a second, by p99 without
    row: float | None  # us of CPU time a row of a batch, by the index
    kernel: float | None  # by one kernel of all
    each: float | None  # by `match` from a Record, one after the other


def measured(workload: Workload, count: int, rounds: int, notes: list[str]) -> Figures:
    """Measure a workload; all answers of few selectors are compared, of many those of the first thousand."""
    texts = workload.selectors(count)
    start = time.process_time()
    selectors = mqsel.SelectorSet(enumerate(texts), dialect=workload.dialect, keep_text=False)
    building = time.process_time() - start
    messages = workload.messages(500)
    few = texts[:1000]
    looped = matchers(workload, few)
    compared(lambda message: [key for key in selectors.match(message) if key < len(few)], looped, messages[:50])
    names = selectors.properties
    schema = as_schema(names)
    records = [mqsel.Record(schema, {name: message.get(name) for name in names}) for message in messages]
    compared(selectors.match, lambda record: selectors.match(dict(record)), records[:50])
    raw = [mq.encode({}, message) for message in messages]
    decode = selectors.decoder("mq")
    loop = written = theirs = None
    if count <= 10_000:
        everyone = matchers(workload, texts)
        compared(selectors.match, everyone, messages[:20])
        loop = p50(everyone, messages[:20], 1)
        try:
            one = function(workload, texts)
            compared(selectors.match, one, messages[:100])
            written = p50(one, messages[:100], 1)
        except (NotImplementedError, AssertionError) as error:
            notes.append(f"{workload.name}: no Python function, {type(error).__name__} {error!s:.60}")
        theirs = against_a_tree(workload, texts, selectors.match, notes)
    index = selectors._reader.index
    compared(index.search, index.scan, records[:20])
    room = array("I", bytes(4 * count))
    compared(selectors.match, lambda record: room[: selectors.match_into(record, room)].tolist(), records[:50])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set"
        selectors.save(path)
        opening = stages.clock({"open": lambda: mqsel.SelectorSet.open(path)}, 5)["open"] * 1000
    travelling = stages.clock({"pickle": lambda: _travelled(selectors)}, 3)["pickle"] * 1000
    sizes = sum(memoryview(one).nbytes for one in index.to_buffers())
    return Figures(
        p50(selectors.match, records, rounds),
        p50(lambda record: selectors.match_into(record, room), records, rounds),
        p50(selectors.match, messages, rounds),
        p50(lambda one: selectors.match(decode(one)), raw, rounds),
        loop,
        written,
        theirs,
        p50(index.scan, records[:20], 1),
        statistics.mean(len(selectors.match(message)) for message in messages),
        count / building,
        _indexing(workload, texts[:20_000]),
        sizes / count,
        opening,
        travelling,
        churned(selectors, texts, messages),
        **batched(workload, texts, selectors),
    )


ROWS = 10_000  # of a batch
_TOGETHER = 1_000  # selectors of which a kernel is made at most


def batched(workload: Workload, texts: Sequence[str], selectors: mqsel.SelectorSet[int]) -> dict[str, float | None]:
    """Measure a row of a batch in both ways and as a Record, in turns; the answers are compared."""
    if importlib.util.find_spec("pyarrow") is None:
        return dict.fromkeys(("row", "kernel", "each"))
    if len(texts) <= _TOGETHER:  # then it needs the texts
        selectors = mqsel.SelectorSet(enumerate(texts), dialect=workload.dialect)
    rows = ROWS if len(texts) <= 10_000 else ROWS // 10
    batch, messages = batch_of(workload, rows)
    runs = ways(selectors, batch)
    for run in runs.values():
        assert run()[:100].to_pylist() == [selectors.match(message) for message in messages[:100]]
    schema = as_schema(selectors.properties)
    records = [mqsel.Record(schema, {name: message.get(name) for name in schema.names}) for message in messages]
    runs["each"] = lambda: [selectors.match(record) for record in records]
    taken = stages.clock(runs, 5, now=time.process_time)
    return {way: taken[way] / rows * 1e6 if way in taken else None for way in ("row", "kernel", "each")}


def batch_of(workload: Workload, rows: int) -> tuple[Any, list[Message]]:
    """Draw messages, and give them as a record batch, too."""
    import pyarrow as pa

    messages = workload.messages(rows)
    names = dict.fromkeys(itertools.chain.from_iterable(messages))
    return pa.RecordBatch.from_pydict({name: [one.get(name) for one in messages] for name in names}), messages


def ways(selectors: mqsel.SelectorSet[int], batch: Any) -> dict[str, Callable[[], Any]]:
    """Return what matches a batch by the index, and by a kernel if they are not too many."""
    from mqsel.index._reader import match_rows

    found: dict[str, Callable[[], Any]] = {"row": lambda: match_rows(selectors._reader, batch, lambda _: "measured")[0]}
    if len(selectors) <= _TOGETHER:
        kernel = selectors.together()[0]
        found["kernel"] = lambda: match_rows(selectors._reader, batch, lambda _: kernel)[0]
    return found


def _travelled(selectors: mqsel.SelectorSet[int]) -> object:
    beside: list[pickle.PickleBuffer] = []
    data = pickle.dumps(selectors, 5, buffer_callback=beside.append)
    return pickle.loads(data, buffers=beside)


def _indexing(workload: Workload, texts: Sequence[str]) -> float:
    """Build an index of formulas that are there."""
    from mqsel.index._index import Index
    from mqsel.language.selector import read_selector
    from mqsel.logic.normal import true_of

    formulas = [true_of(read_selector(text, workload.dialect)) for text in texts]
    start = time.process_time()
    Index().add(range(len(formulas)), formulas)
    return len(formulas) / (time.process_time() - start)


def churned(selectors: mqsel.SelectorSet[int], texts: Sequence[str], messages: Sequence[Message]) -> float:
    """Compare p99 of a second of messages with that of one in which a hundredth of the selectors is replaced."""
    found = []
    for share in (0.0, 0.01):
        taken: list[int] = []
        start, done = time.perf_counter(), 0
        for message in itertools.cycle(messages):
            passed = time.perf_counter() - start
            if passed > 1:
                break
            while done < share * passed * len(texts):
                key = (done * 7919) % len(texts)
                selectors[key] = texts[key]
                done += 1
            taken += times(selectors.match, [message], 1)
        found.append(statistics.quantiles(taken, n=100)[98])
    return found[1] / found[0]


# ---- the plot --------------------------------------------------------------------------------------------------------

COLOURS = ("#0b5fa5", "#7a4fa3", "#b5651d", "#2f7d32")
# How the plot names the workloads for its readers.
TITLES = {
    "JMS sparse": "sparse: subscriptions by a key",
    "conjunctions": "conjunctions: three to seven tests",
    "JMS dense": "dense: subscriptions without a key",
    "ABE": "ABE: nested expressions of a thousand properties",
}


def plot(path: Path, found: dict[int, dict[str, Figures]], caption: str) -> str:
    """Draw the time of a message against the number of selectors, with the loop over Matchers, and py-a-tree."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        return "no plot: matplotlib is not installed"
    plt.rcParams.update({"svg.hashsalt": "mqsel", "svg.fonttype": "none", "font.size": 10})
    figure, panel = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    for workload, colour in zip(WORKLOADS, COLOURS, strict=True):
        for what, style, wide in (("record", "o-", 2.0), ("loop", "s:", 1.0), ("a_tree", "^--", 1.0)):
            points = [(size, getattr(of[workload.name], what)) for size, of in found.items() if workload.name in of]
            points = [(size, value) for size, value in points if value]
            if points:
                label = TITLES[workload.name] if what == "record" else None
                panel.plot(*zip(*points, strict=True), style, color=colour, lw=wide, ms=4, label=label)
    panel.plot([], [], "s:", color="#6b7280", lw=1.0, ms=4, label="the same, by a loop over all selectors")
    if any(of.a_tree for at_size in found.values() for of in at_size.values()):
        panel.plot([], [], "^--", color="#6b7280", lw=1.0, ms=4, label="the same, by the library py-a-tree")
    panel.set(
        xscale="log",
        yscale="log",
        xlabel="number of selectors (log scale)",
        ylabel="microseconds per message (log scale; lower is faster)",
    )
    panel.grid(which="major", color="#dddddd")
    panel.spines[["top", "right"]].set_visible(False)
    panel.xaxis.set_major_formatter("{x:,.0f}")
    panel.yaxis.set_major_formatter("{x:,g}")
    panel.legend(frameon=False, title="SelectorSet", fontsize=8, loc="lower right")
    panel.set_ylim(bottom=0.02)
    figure.supxlabel(caption, fontsize=8, color="#555555")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)
    return f"the plot is in {path}"
