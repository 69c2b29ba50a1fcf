"""Batches of a set by the kernel: each row gets what the index gives it, and what each Matcher says.

Every test asks both ways by name, whatever the set would decide, or asserts what it decided: `stats` tells.
"""

from __future__ import annotations

import gc
import random
import signal
import threading
import time
import weakref
from typing import Any

import pytest
import strategies
from conftest import VECTORS_ROOT, dialects_of, fits_arrow, json_lines, message_of
from running import interrupted
from volumes import volume

import mqsel
from mqsel import JMS, SelectorSet
from mqsel.columns._kernel import Kernel, TooLargeError
from mqsel.errors import ArgumentError, PropertyTypeError
from mqsel.index._reader import match_rows

pa = pytest.importorskip("pyarrow")

import batches  # noqa: E402 (it needs pyarrow)

ROWS = 6000
# 5 presets × this many batches, with thirty selectors each.
BATCHES = volume(15, smoke=15)


def index(_rows: int) -> str:
    return "asked for by a test"


def together(selectors: SelectorSet[Any]) -> Kernel | str:
    """Return a kernel of all selectors, or why there is none."""
    try:
        return selectors.together()[0]
    except TooLargeError as reason:
        return str(reason)


def ways(selectors: SelectorSet[Any], batch: Any, kernel: Kernel | None = None) -> tuple[Any, str | None]:
    """Return what the kernel finds, which the index finds too, and why the kernel did not."""
    made = kernel or together(selectors)
    found, reason = match_rows(selectors._reader, batch, lambda _: made)
    found.validate(full=True)
    assert found.type == pa.list_(pa.uint32())
    assert found.equals(match_rows(selectors._reader, batch, index)[0])
    return found, reason


def looped(matchers: list[mqsel.Matcher], batch: Any) -> list[list[int] | None]:
    """Return for each row the positions of the Matchers that select it; None where one of them has no answer."""
    masks = [matcher.match_batch(batch).to_pylist() for matcher in matchers]
    rows = [[mask[row] for mask in masks] for row in range(len(batch))]
    return [None if None in row else [place for place, answer in enumerate(row) if answer] for row in rows]


# ---- the answers -----------------------------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_random(name: str) -> None:
    """Invariant: kernel = index = a loop over Matchers, for random selectors, dialects, types, layouts, slices."""
    rng = random.Random(f"shared {name}")
    letters = batches.letters_of(name)
    taken = 0
    for _ in range(BATCHES):
        batch = batches.random_batch(rng, letters.names, batches.random_rows(rng))
        matchers = []
        for number in range(30):
            varied = strategies.DIALECTS[name].replace(**rng.choice(strategies.READINGS))
            text = batches.random_text(rng, letters, batch)
            matchers.append(mqsel.compile(text, dialect=varied if number % 2 else strategies.DIALECTS[name]))
        selectors = SelectorSet(enumerate(matchers), dialect=strategies.DIALECTS[name])
        found, reason = ways(selectors, batch.array)
        assert batches.may_refuse(reason, batch), reason
        taken += reason is None
        assert found.to_pylist() == looped(matchers, batch.array)
        cut = rng.randrange(batch.rows + 1)
        for part, wanted in ((batch.array[:cut], found[:cut]), (batch.array[cut:], found[cut:])):
            assert ways(selectors, part)[0].to_pylist() == wanted.to_pylist()

    assert taken > 0


@pytest.mark.volume
def test_vectors() -> None:
    """The selectors of all vectors and dialects in sets, on batches of the messages of the vectors, with repeats."""
    rng = random.Random("vectors")
    cases: dict[tuple[str, mqsel.Dialect], None] = {}
    messages: list[dict[str, Any]] = []
    kinds: dict[str, str] = {}
    spelled: dict[str, str] = {}  # names that differ in case alone are an error to some dialects: one of them is kept
    for path in sorted(VECTORS_ROOT.glob("*.jsonl")):
        for vector in json_lines(path):
            if "want" not in vector or not fits_arrow(message_of(vector["properties"])):
                continue
            cases.update(dict.fromkeys((vector["selector"], dialect) for _, dialect in dialects_of(vector["dialect"])))
            properties = {name: kind for name, (kind, _) in vector["properties"].items() if kind != "null"}
            if any(spelled.setdefault(name.casefold(), name) != name for name in properties):
                continue
            if all(kinds.setdefault(name, kind) == kind for name, kind in properties.items()):
                messages.append({name: batches.bare(one) for name, one in message_of(vector["properties"]).items()})
    rows = rng.choices(messages, k=2500)
    batch = pa.RecordBatch.from_pydict(
        {
            name: pa.array([row.get(name) for row in rows], getattr(pa, batches.FORMS[kind][0])())
            for name, kind in kinds.items()
        }
    )
    listed = [*cases]
    rng.shuffle(listed)
    for start in range(0, len(listed), 500):
        matchers = [mqsel.compile(text, dialect=dialect) for text, dialect in listed[start : start + 500]]
        found, reason = ways(SelectorSet(enumerate(matchers)), batch)
        has_texts = any(matcher.dialect.rules.text_numbers != "never" for matcher in matchers)
        assert has_texts is (reason is not None) or "it has NaN or -0.0" in str(reason)
        assert found.to_pylist() == looped(matchers, batch)


def test_what_is_equal_is_one_term() -> None:
    """Leaves and formulas that are equal, however they are written, are computed once; a / 0.0 is not a / 0."""
    alone = SelectorSet({1: "a > 1 AND b = 'x' OR c"}, dialect=JMS).together()[0].count
    again = {1: "a > 1 AND b = 'x' OR c", 2: "c OR b = 'x' AND a > 1", 3: "c", 4: "1 < a", 5: "b = 'x' AND a > 1"}
    assert SelectorSet(again, dialect=JMS).together()[0].count == alone

    texts = {1: "a / 0 > 1", 2: "a / 0.0 > 1", 3: "a / -0.0 > 1", 4: "a + 1 = 2", 5: "a + 1.0 = 2"}
    selectors = SelectorSet(texts, dialect=JMS)
    assert selectors.together()[0].count >= len(texts)
    found, _ = ways(selectors, pa.table({"a": pa.array([1, -1, None, 2**31 - 1], pa.int32())}).to_batches()[0])
    assert found.to_pylist() == [[1, 3, 4], [2], [], [1]]


def test_many_properties_that_are_mostly_missing() -> None:
    """Hundreds of columns, each with a value in a few rows, at odd offsets: both ways read what is there."""
    rng = random.Random("rare")
    names = [f"p{number}" for number in range(200)]
    values = {name: [rng.randrange(5) if rng.random() < 0.04 else None for _ in range(1500)] for name in names}
    values |= {name: [rng.randrange(5) for _ in range(1500)] for name in names[:3]}
    texts = [f"{rng.choice(names)} = {rng.randrange(5)} OR {rng.choice(names)} > 3" for _ in range(300)]
    texts += [f"{rng.choice(names)} IS NULL AND {rng.choice(names)} IS NOT NULL" for _ in range(100)]
    selectors = SelectorSet(enumerate(texts), dialect=JMS)
    table = pa.table({name: pa.array(one, pa.int16()) for name, one in values.items()})
    for batch in (table.to_batches()[0], table.slice(3, 77).to_batches()[0], table.slice(130, 64).to_batches()[0]):
        found, reason = ways(selectors, batch)
        assert reason is None
        rows = [{name: one for name, one in row.items() if one is not None} for row in batch.to_pylist()]
        assert [found[row].as_py() for row in range(0, len(rows), 50)] == [selectors.match(row) for row in rows[::50]]


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def test_damage() -> None:
    """Invariant: whatever bytes stand in the buffers, both ways give the same, or an error for one row."""
    rng = random.Random("damage")
    errors = 0
    for _ in range(volume(100, smoke=20)):
        name = rng.choice(("JMS", "IBM_MQ"))
        letters = batches.letters_of(name)
        rows = rng.choice((1, 5, 40, batches.BLOCK + rng.randrange(50), 2100))
        drawn = {one: batches.random_column(rng, one.split(".")[1:], rows) for one in letters.names}
        arrays = {one.split(".")[0]: column.array for one, column in drawn.items()}
        whole = batches.Batch(rows, drawn, batches.struct_of(arrays, rows))
        selectors = SelectorSet(
            enumerate(batches.random_text(rng, letters, whole) for _ in range(5)), dialect=strategies.DIALECTS[name]
        )
        kernel = selectors.together()[0]
        for array in arrays.values():
            batches.damage(rng, array)
        said: list[Any] = []
        for way in (index, lambda _, kernel=kernel: kernel):
            try:
                said.append(match_rows(selectors._reader, whole.array, way)[0].to_pylist())
            except PropertyTypeError as error:
                said.append((type(error), error.index))
            except ArgumentError as error:  # what pyarrow itself sees
                said.append((type(error), None))
        assert said[0] == said[1]
        errors += isinstance(said[0], tuple)

    assert errors > 5


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1] * 4000 + [1 << 63], pa.uint64()),
        pa.DictionaryArray.from_arrays(pa.array([0] * 4000 + [2], pa.int8()), pa.array([1, 2]), safe=False),
        pa.DictionaryArray.from_arrays(pa.array([0] * 4000 + [1], pa.int8()), pa.array([1, 1 << 63], pa.uint64())),
        pa.Array.from_buffers(
            pa.string(), 4001, [None, pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in range(4002))),
                                pa.py_buffer(b"a" * 4000 + b"\xff")]
        ),
    ],
    ids=["integer", "index", "word", "text"],
)  # fmt: skip
def test_damage_that_no_selector_comes_to(array: Any) -> None:
    """A set reads what its selectors read: a damaged value is an error also where another property decides."""
    selectors = SelectorSet({1: "FALSE_ = 1 AND x = 1", 2: "FALSE_ = 1 AND x = 'a'"}, dialect=JMS)
    batch = pa.RecordBatch.from_pydict({"FALSE_": [0] * 4001, "x": array})
    kernel = selectors.together()[0]
    said = []
    for way in (index, lambda _: kernel):
        with pytest.raises(PropertyTypeError) as caught:
            match_rows(selectors._reader, batch, way)
        said.append((str(caught.value), caught.value.index))
    assert said[0] == said[1]
    assert said[0][1] == 4000


# ---- what the set decides --------------------------------------------------------------------------------------------


def decided(selectors: SelectorSet[Any], batch: Any) -> str:
    """Match a batch, which must give what the index gives, and tell how it went."""
    found = selectors.match_batch(batch)
    assert found.equals(match_rows(selectors._reader, batch, index)[0])
    return str(selectors.stats()["batches"])


def numbers(rows: int) -> Any:
    return pa.RecordBatch.from_pydict({"n": [row % 100 for row in range(rows)]})


def until_kernel(selectors: SelectorSet[Any], batch: Any) -> None:
    """Match a batch until the kernel has paid for itself, which it does soon for a few simple selectors."""
    assert "kernel" in [decided(selectors, batch) for _ in range(300)]


def test_the_set_decides() -> None:
    """A kernel is built when it would have saved what it takes, and runs where it was faster, until the set changes."""
    selectors = SelectorSet({key: f"n > {key}" for key in range(20)}, dialect=JMS)
    choice = selectors._choice
    assert selectors.stats()["batches"] == "index: no batch so far"
    assert choice.kernel_for(3000) == "a kernel has not paid for itself in 0.0 ms"
    choice.learn(3000, "early", 10**12, lambda _: 2 * 10**12)
    assert choice.kernel_for(3000) == "a kernel has not paid for itself in 1,000,000.0 ms"
    choice.learn(30_000, "early", 1000, lambda _: 1)  # 20 selectors take more to build
    assert isinstance(choice.kernel_for(30_000), str)
    choice.learn(30_000, "early", 10**12, lambda _: 1)
    kernel = choice.kernel_for(30_000)
    assert isinstance(kernel, Kernel)
    assert choice.kernel_for(5) == "the first batch of about 5 rows"
    choice.learn(5, "early", 5000, lambda _: 1)
    for _ in range(2):
        assert choice.kernel_for(5) is kernel
        choice.learn(5, None, 9000, lambda _: 1)
    assert choice.kernel_for(5) == "it was faster with about 5 rows"
    assert choice.kernel_for(30_000) is kernel
    del selectors[3]
    assert choice.kernel_for(30_000) == "a kernel has not paid for itself in 0.0 ms"
    selectors[3] = "n = 5"
    until_kernel(selectors, numbers(3000))
    selectors.clear()
    assert "index: no selectors" in [decided(selectors, numbers(20_000)) for _ in range(50)]


def test_a_set_goes_when_nobody_has_it() -> None:
    """What chooses an engine does not keep its set in a cycle, and a set that is in one is collected."""
    selectors = SelectorSet({key: f"n = {key}" for key in range(1000)}, dialect=JMS)
    gone = weakref.ref(selectors)
    del selectors
    assert gone() is None
    cyclic: Any = SelectorSet({key: f"n = {key}" for key in range(1000)}, dialect=JMS).copy()
    cyclic.itself = cyclic
    gone = weakref.ref(cyclic)
    del cyclic
    gc.collect()
    assert gone() is None


def test_many_are_tried_by_some_of_them() -> None:
    """A kernel of 64 selectors tells what one of all would take: as many times more as there are more clauses."""
    many = SelectorSet({key: f"n > {key} OR m = {key}" for key in range(3000)}, dialect=JMS)
    tried = []

    def trial(kernel: Kernel) -> int:
        tried.append(kernel.count)
        return 1000

    for taken in (40_000, 10**12):  # of 46,875 that a kernel of all would take
        many._choice.learn(1000, "early", taken, trial)
    assert tried == [3 * 64]
    assert many._choice._saved == 10**12 - 46_875
    assert isinstance(many._choice.kernel_for(1000), Kernel)
    copies = SelectorSet({key: f"n > {key % 10}" for key in range(3000)}, dialect=JMS)
    copies._choice.learn(1000, "early", 10_000, trial)
    assert copies._choice._saved == 9000


def test_the_set_decides_for_the_index() -> None:
    """None of the texts, arithmetic too deep, a dictionary that is compared: row by row."""
    silent = SelectorSet({1: "n = 1"}, dialect=JMS, keep_text=False)
    assert decided(silent, numbers(ROWS)) == "index: the texts were not kept"
    paired = SelectorSet({1: "n = m", 2: "n = 3"}, dialect=JMS)
    batch = numbers(ROWS).append_column("m", pa.array([1] * ROWS).dictionary_encode())
    assert decided(paired, batch) == "index: m: a dictionary that arithmetic reads or that is compared with a property"
    deep = SelectorSet({1: "n" + " + (n" * 70 + ")" * 70 + " > 5", 2: "n = 3"}, dialect=JMS)
    assert decided(deep, numbers(ROWS)) == "index: an arithmetic expression is nested more than 64 deep"


@pytest.mark.volume
def test_travelled_and_chunked(tmp_path: Any) -> None:
    """Sets that were pickled or opened have kernels of their own; chunks go one by one, their dictionaries differ."""
    selectors = SelectorSet({"a": "s = 'x' AND n > 3", "b": "s LIKE 'y%'", "c": "n = 5 OR s IS NULL"}, dialect=JMS)
    del selectors["a"]
    selectors["d"] = mqsel.compile("s = 'x' AND n <> 3", dialect=mqsel.IBM_MQ)
    chunks = [
        pa.table({"s": pa.array(texts * 1000).dictionary_encode(), "n": [n % 7 for n in range(3000)]})
        for texts in (["x", "y", None], ["yy", "x", "z"])
    ]
    table = pa.concat_tables(chunks)
    selectors.save(tmp_path / "set")
    for one in (selectors, selectors.copy(), SelectorSet.open(tmp_path / "set")):
        until_kernel(one, table)
        wanted = [selectors.match({k: v for k, v in row.items() if v is not None}) for row in table.to_pylist()]
        assert [[[*one][place] for place in row] for row in one.match_batch(table).to_pylist()] == wanted


def test_a_damaged_text_of_a_file(tmp_path: Any) -> None:
    """A text of a file that is no selector any more leaves batches to the index, which does not read it."""
    selectors = SelectorSet({1: "n > 50 AND n < 52", 2: "n = 3"}, dialect=JMS)
    path = tmp_path / "set"
    selectors.save(path)
    path.write_bytes(path.read_bytes().replace(b"n > 50 AND n < 52", b"n > 50 AND ( < 52"))
    opened: SelectorSet[int] = SelectorSet.open(path)
    assert decided(opened, numbers(ROWS)).startswith("index: unexpected '<' after '('")


# ---- threads and interrupts ------------------------------------------------------------------------------------------


def test_threads() -> None:
    """Batches of several threads, and changes of the set between them: each answer is of one moment."""
    selectors = SelectorSet({key: f"n = {key}" for key in range(50)}, dialect=JMS)
    batch = numbers(50 * 300)
    wrong: list[Any] = []

    def run() -> None:
        for _ in range(20):
            found = selectors.match_batch(batch)
            lists = {tuple(one) for one in (found[row].as_py() for row in range(100))}
            # Of 100 rows each selector has one; the set has 50, or one less meanwhile.
            if len(lists) not in (50, 51):
                wrong.append(lists)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        del selectors[7]
        selectors[7] = "n = 7"
        time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer on this system")
@pytest.mark.parametrize("form", ["string", "dictionary"])
def test_an_interrupt_is_heard(form: str) -> None:
    """A signal is heard long before a batch of seconds is done, whatever it is about."""
    words = [f"{'abcdefghij' * 3}{number}" for number in range(20_000)]
    array = pa.array(words * 20)
    array = array.dictionary_encode() if form == "dictionary" else array
    texts = {key: f"s LIKE '%{key % 10}_{key}_%{key}%'" for key in range(400)}
    selectors = SelectorSet(texts, dialect=JMS)
    kernel = selectors.together()[0]
    start = time.process_time()
    with interrupted(0.1, InterruptedError):
        match_rows(selectors._reader, pa.RecordBatch.from_pydict({"s": array}), lambda _: kernel)

    assert time.process_time() - start < 0.6
