"""Batches that are empty, unaligned or damaged; threads and interrupts."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import signal
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from running import interrupted
from volumes import volume

import mqsel
from mqsel.columns import _answers
from mqsel.errors import PropertyTypeError
from mqsel.matcher import Matcher

pa = pytest.importorskip("pyarrow")

import batches  # noqa: E402 (it needs pyarrow)
from batches import BLOCK, KINDS, Batch, Column, plain, struct_of, values_of  # noqa: E402
from kernels import batch_of, compiled, truths, words  # noqa: E402

# ---- what a matcher keeps of batches -----------------------------------------------------------------------------


def test_columns_that_are_not_read() -> None:
    """Invariant: whatever other columns a batch has, and whatever schema came before, those that are read decide."""
    rng = random.Random("schemas")
    rows = 20
    read = {"a": pa.array(range(rows)), "usr": pa.array([{"b": str(row % 3)} for row in range(rows)])}
    others = {name: pa.array([[name]] * rows) for name in ("x", "y", "ab", "a.b", "usrb")}
    matcher = mqsel.compile("a > 4 AND b = '1'")
    want = [row > 4 and row % 3 == 1 for row in range(rows)]
    for _ in range(50):
        present = {name for name in ("a", "usr") if rng.random() < 0.8}
        columns = [(name, column) for name, column in read.items() if name in present]
        columns += rng.choices([*others.items()], k=rng.randrange(6))  # some of them twice
        rng.shuffle(columns)
        arrays, names = [column for _, column in columns], [name for name, _ in columns]
        for frame in (pa.RecordBatch, pa.Table):
            made = frame.from_arrays(arrays, names) if columns else frame.from_pydict({"z": range(rows)})
            assert matcher.match_batch(made).to_pylist() == (want if len(present) == 2 else [False] * rows), names
            unknown = {frozenset(): 3, frozenset({"usr"}): 1}.get(frozenset(present), 0)
            assert matcher.truth_batch(made[:3]).null_count == unknown, names


def test_schemas_by_turns() -> None:
    """Invariant: whatever schemas came before, the columns of a batch are read by its own, or refused."""
    rng = random.Random("kept")
    matcher, want = mqsel.compile("a = 2 OR s = 'x'"), [False, True, True]
    uuid = {b"ARROW:extension:name": b"uuid"}
    columns = {"a": pa.array([1, 2, None]), "s": pa.array(["y", None, "x"]), "t": pa.array([None] * 3)}
    plain = pa.record_batch(columns)
    batches = [
        plain,
        pa.record_batch(columns),
        plain.replace_schema_metadata({"of": "nobody"}),
        pa.record_batch({**columns, "a": pa.array([1, 2, None], pa.int8())}),
        pa.record_batch({**columns, "s": columns["s"].dictionary_encode()}),
        pa.record_batch({**columns, "s": columns["s"].cast("string_view")}),
        plain.select(["s", "a"]),
        plain.rename_columns(["t", "s", "a"]),
        plain.cast(pa.schema([pa.field("a", pa.int64(), metadata=uuid), *[*plain.schema][1:]])),
    ]
    for _ in range(200):
        which = rng.randrange(len(batches))
        batch = batches[which][rng.randrange(2) :]  # of the same schema, but another batch
        if which == len(batches) - 1:
            with pytest.raises(PropertyTypeError, match="column 'a' has the Arrow type uuid"):
                matcher.match_batch(batch)
        else:
            renamed = [False, False, True] if which == len(batches) - 2 else want
            assert matcher.match_batch(batch).to_pylist() == renamed[-len(batch) :]


def test_what_was_exported_is_released() -> None:
    """Batches whose schema is known are not held once they are answered for."""
    matcher = mqsel.compile("a > 1 AND b = 'x'")
    schema = pa.schema({"a": pa.int64(), "b": pa.string(), "c": pa.int64()})
    for number in range(20):
        matcher.match_batch(pa.record_batch([[number], ["x"], [0]], schema=schema))
        allocated = pa.total_allocated_bytes()
        if number == 0:
            before = allocated  # with the schema, which is held
    assert allocated == before


def test_what_small_batches_show_is_kept() -> None:
    """Batches of a block each order the parts of a selector as one large batch does; the answers stay the same."""
    matcher, rows = mqsel.compile("a > 0 AND b > 0 AND (c = 'x' OR c = 'y' OR a = b)"), 3 * BLOCK
    columns = {
        "a": pa.array([1] * rows),
        "b": pa.array([row % 100 for row in range(rows)]),
        "c": pa.array(["xyz"[row % 3] for row in range(rows)]),
    }
    want = [row % 100 > 0 and (row % 3 < 2 or row % 100 == 1) for row in range(rows)]
    batch = batch_of(**columns)
    for _ in range(5):
        for start in range(0, rows, 500):
            assert matcher.match_batch(batch[start : start + 500]).to_pylist() == want[start : start + 500]


# ---- batches that are empty, unaligned or damaged ----------------------------------------------------------------


@pytest.mark.parametrize("form", KINDS)
def test_empty_batches(form: str) -> None:
    """No rows, with buffers or without, whole or sliced away: no answers, of the right type."""
    kind = getattr(pa, form)()
    matcher = compiled("a = 1 OR a = 'x' OR a IS NULL OR a LIKE '%x%' OR a = b")
    buffers = [None, None, pa.py_buffer(b"")][: len(pa.array([], kind).buffers())]
    empty = [pa.array([], kind), pa.array([None], kind)[1:], pa.array([], kind).dictionary_encode()]
    if "view" not in form:  # views have at least no buffers, and somebody has to say so
        empty.append(pa.Array.from_buffers(kind, 0, buffers))
    for array in empty:
        for batch in (batch_of(a=array), batch_of(a=array, b=array), struct_of({"a": array}, 0)):
            assert _answers.truths(matcher, batch) == b""
            assert matcher.match_batch(batch).type == pa.bool_()
            assert len(matcher.truth_batch(batch)) == 0


def test_a_batch_without_columns() -> None:
    """Rows of a struct without fields, more than a block of them: every property is NULL."""
    for rows in (1, BLOCK, 3 * BLOCK + 1):
        array = pa.StructArray.from_buffers(pa.struct([]), rows, [None])
        assert truths(compiled("a = 1 OR b IS NULL"), array) == [True] * rows
        assert truths(compiled("a = b"), array) == [None] * rows
        assert truths(compiled(""), array) == [True] * rows
        half = struct_of({}, rows, [row % 2 > 0 for row in range(rows)])
        assert truths(compiled("a IS NULL"), half) == [True] * rows


@pytest.mark.parametrize("form", [form for form in KINDS if form != "null"])
def test_unaligned_buffers(form: str) -> None:
    """Numbers, offsets and views may stand at any address: the machine reads what the kernel does not."""
    rng = random.Random(form)
    values = rng.choices(values_of(form), k=1100)
    here = [rng.random() < 0.9 for _ in values]
    for shift in (1, 2, 4, 8):
        array = plain(form, values, here, 3, shift)
        made = Column(KINDS[form], batches.kept(values, here), array, is_dictionary=False)
        batch = Batch(len(values), {"a": made}, struct_of({"a": array}, len(values)))
        for text in ("a = 1", "a LIKE '%b%'", "a + 1 > 2", "a = 'a' OR NOT a", "a IS NULL"):
            matcher = compiled(text)
            refused = _answers.refusal(matcher, batch.array)
            want = _answers.truths(matcher, batch.array, by_rows=True)

            assert refused in (None, "a: its values are not aligned")
            assert refused is None or shift < 8
            assert _answers.truths(matcher, batch.array) == want
            assert _answers.truths(matcher, struct_of({"a": plain(form, values, here, 3)}, len(values))) == want


def test_random_damage() -> None:
    """Invariant: whatever bytes stand in the buffers, the kernel gives what the rows give, or the error of one."""
    rng = random.Random(11)
    errors = sum(batches.run_damaged(rng) for _ in range(volume(100, smoke=100)))

    assert errors > 5


def overwritten(array: Any, number: int, at: int, data: bytes) -> Any:
    """Write into a buffer of an array."""
    ctypes.memmove(array.buffers()[number].address + at, data, len(data))
    return array


def damaged_array(form: str, values: list[Any], row: int, what: str) -> Any:
    """Return a column in which one row is damaged."""
    array = plain(form, values)
    width = 8 if form.startswith("large") else 4
    if what == "content":
        begin = int.from_bytes(array.buffers()[1].to_pybytes()[width * row :][:width], "little")
        return overwritten(array, 2, begin + 3, b"\xff")
    if what == "offsets":
        return overwritten(array, 1, width * (row + 1), (1 << 30).to_bytes(width, "little"))
    if what == "view":
        return overwritten(array, 1, 16 * row, struct.pack("<i4sii", 200, b"abcd", 77, 5))
    if what == "inline view":
        return overwritten(array, 1, 16 * row, struct.pack("<i12s", 5, b"ab\xc3\x28e"))
    numbers = overwritten(plain("int16", [number % 7 for number in range(len(values))]), 1, 2 * row, b"\x09\x00")
    return pa.DictionaryArray.from_arrays(numbers, plain("string", values[:7]), safe=False)


DAMAGED = [
    *(("string", what) for what in ("content", "offsets")),
    *(("large_string", what) for what in ("content", "offsets")),
    *(("string_view", what) for what in ("view", "inline view")),
    *(("binary", "offsets"), ("binary_view", "view"), ("string", "index")),
]


ROWS = (0, 5, BLOCK - 1, BLOCK, 2 * BLOCK + 100)


@pytest.mark.parametrize(("form", "what"), DAMAGED)
@pytest.mark.parametrize("row", ROWS)
def test_damage_in_rows_that_matter(form: str, what: str, row: int) -> None:
    """One damaged row in some block is the error that it is to the row machine, with the number of that row."""
    values: list[Any] = [f"a text that is long {number % 7}" for number in range(2 * BLOCK + 300)]
    values = [value.encode() for value in values] if form.startswith("binary") else values
    matcher = compiled("s = 'x' OR s LIKE '%y%' OR s <> 'z'" if not form.startswith("binary") else "s = t OR t IS NULL")
    batch = batch_of(s=damaged_array(form, values, row, what), t=plain(form, values))
    said = []
    for by_rows in (True, False):
        with pytest.raises(PropertyTypeError, match="column 's' is damaged") as caught:
            _answers.truths(matcher, batch, by_rows=by_rows)
        said.append((str(caught.value), caught.value.index))

    assert said[0] == said[1]
    assert said[0][1] == row


@pytest.mark.parametrize(("form", "what"), DAMAGED)
@pytest.mark.parametrize("row", ROWS)
def test_damage_in_rows_that_do_not_matter(form: str, what: str, row: int) -> None:
    """A damaged row that another column decides, or that is null, changes no answer."""
    values: list[Any] = [f"a text that is long {number % 7}" for number in range(2 * BLOCK + 300)]
    values = [value.encode() for value in values] if form.startswith("binary") else values
    rows = len(values)
    spared = (row, row + 1) if what == "offsets" else (row,)
    reads = pa.array([number not in spared for number in range(rows)])
    array = damaged_array(form, values, row, what)
    whole = batch_of(s=plain(form, values), t=plain(form, values), b=reads)
    batch = batch_of(s=array, t=plain(form, values), b=reads)
    for text in ("b AND s = t", "NOT b OR s <> t", "NOT b OR s LIKE '%3' OR s = t"):
        matcher = compiled(text, type_mismatch="unknown")
        want = _answers.truths(matcher, whole, by_rows=True)
        assert _answers.truths(matcher, batch, by_rows=True) == want
        assert _answers.truths(matcher, batch) == want
    if what != "index":
        buffers = [batches.bitmap(reads.to_pylist()), *array.buffers()[1:]]
        hidden = pa.Array.from_buffers(array.type, rows, buffers)
        matcher = compiled("s = t OR s LIKE '%text%'", type_mismatch="unknown")
        sound = batch_of(s=plain(form, values, reads.to_pylist()), t=plain(form, values))
        want = _answers.truths(matcher, sound, by_rows=True)
        assert _answers.truths(matcher, batch_of(s=hidden, t=plain(form, values))) == want


def test_damage_behind_an_error_in_a_block() -> None:
    """The first damaged row is the one that is named, and not the first that the kernel came upon."""
    values = ["a text that is long"] * 3000
    array = damaged_array("string", values, 1500, "content")
    overwritten(array, 2, 20, b"\xff")
    with pytest.raises(PropertyTypeError, match="not UTF-8") as caught:
        _answers.truths(compiled("s LIKE '%x%'"), batch_of(s=array))

    assert caught.value.index == 1


@pytest.mark.parametrize("form", ["string", "large_string", "binary"])
def test_damage_at_the_end_of_a_slice(form: str) -> None:
    """In a struct that was sliced the last offset is one that pyarrow does not look at: it is none to be trusted."""
    values: list[Any] = [b"aaaa"] * 50 if form == "binary" else ["aaaa"] * 50
    array = plain(form, values)
    part = struct_of({"x": array}, 50)
    batch = pa.RecordBatch.from_arrays([part], ["s"])
    width = 8 if form == "large_string" else 4
    overwritten(array, 1, width * 10, (2_000_000_000).to_bytes(width, "little"))
    for sliced, name in ((batch[:10], "s.x"), (part[:10], "x")):
        for text in (f"{name} LIKE '%b%'", f"{name} = {name}"):
            with pytest.raises(PropertyTypeError, match="its offsets do not rise"):
                mqsel.compile(text).match_batch(sliced)
    assert mqsel.compile("s.x IS NULL").match_batch(batch[20:]).to_pylist() == [False] * 30


# ---- threads and interrupts --------------------------------------------------------------------------------------


MANY = 50_000_000


SLOW = "n * n * n + n > 5 AND n / 3 - n < 7 OR n * n = 49 AND n - 1 > n / 2"


@pytest.fixture(scope="module")
def large() -> Any:
    """Return a batch of fifty million rows."""
    return batch_of(n=pa.Array.from_buffers(pa.int8(), MANY, [None, pa.py_buffer(bytes(range(100)) * (MANY // 100))]))


def patterns(form: str, count: int) -> str:
    return " OR ".join(f"s LIKE '{form.format(number)}'" for number in range(count))


# What takes long: in many blocks, in one, or before the first.
HEAVY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "many rows": (SLOW, lambda large: large),
    "many patterns": (patterns("%x_{}%", 200), lambda _: batch_of(s=["x" * 300] * 50_000)),
    "many needles": (patterns("%xxy{}%", 200), lambda _: batch_of(s=plain("string_view", ["x" * 300] * 50_000))),
    "long texts": (patterns("%x_y{}%", 2), lambda _: batch_of(s=["x" * 20_000] * 3_000)),
    "many sums": (
        " OR ".join(f"n * {number} + n / {number} = {number}.1" for number in range(1, 600)),
        lambda _: batch_of(n=pa.array([1.5] * 500_000)),
    ),
    "many words": (patterns("%xy_{}%", 60), lambda _: batch_of(s=words(300_000))),
}


@pytest.mark.volume
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer on this system")
@pytest.mark.parametrize("what", HEAVY)
def test_an_interrupt_is_heard_within_50_ms(large: Any, what: str) -> None:
    """Ctrl-C ends a call within 50 ms, whatever it is at; the matcher is as good as before."""
    text, make = HEAVY[what]
    matcher = compiled(text)
    batch = make(large)
    assert _answers.refusal(matcher, batch) is None
    matcher.match_batch(batch[:1])
    delays = []
    gc.disable()  # hypothesis is called back by it, and an exception there is lost
    try:
        for wait in (0.02, 0.03, 0.04, 0.03, 0.02):
            due = time.process_time() + wait
            with interrupted(wait, KeyboardInterrupt):
                matcher.match_batch(batch)
            delays.append(time.process_time() - due)
    finally:
        gc.enable()

    assert sorted(delays)[2] < 0.05
    few = batch.slice(7, 100)
    assert _answers.truths(matcher, few) == _answers.truths(matcher, few, by_rows=True)


PARTS = 3 << 18  # rows of three parts


@pytest.fixture(scope="module")
def parted() -> Any:
    """Return rows enough for three threads, of which some have no value."""
    rng = random.Random("parts")
    n = pa.array([rng.choice([None, 1, 5, 90]) for _ in range(5_000)], pa.int64())
    s = pa.array([rng.choice([None, "", "car", "a text that is long"]) for _ in range(5_000)])
    order = pa.array((number * 7919 % 5_000 for number in range(PARTS + 99)), pa.int32())
    return batch_of(n=n.take(order), s=s.take(order))


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", ["string", "large_string", "string_view", "dictionary"])
def test_threads_answer_as_one(parted: Any, form: str) -> None:
    """Invariant: whatever the number of threads, the layout and where a slice begins, the answers are the same."""
    column = parted["s"].dictionary_encode() if form == "dictionary" else parted["s"].cast(getattr(pa, form)())
    batch = batch_of(n=parted["n"], s=column)
    for text in ("n > 4 AND s = 'car'", "s LIKE '%x%' OR n * 2 = 10", "NOT (s IN ('', 'car')) OR n IS NULL"):
        matcher = compiled(text)
        for offset in (0, 1, 70):
            for ask in (matcher.match_batch, matcher.truth_batch):
                want = ask(batch[offset:], threads=1)
                assert all(ask(batch[offset:], threads=threads).equals(want) for threads in (2, 3, 64, None)), text


def test_what_a_thread_raises(parted: Any) -> None:
    """The first row that is damaged is in the error, whichever thread comes to one first; Ctrl-C is in no other way."""
    numbers = parted["n"].fill_null(3).cast(pa.uint64()).to_numpy().copy()
    matcher = compiled("n > 4")
    for rows in ([PARTS - 5], [PARTS // 2 + 9, PARTS - 5], [77, PARTS // 2]):
        numbers[rows] = 1 << 63
        with pytest.raises(PropertyTypeError) as caught:
            matcher.match_batch(batch_of(n=pa.array(numbers)), threads=3)
        assert caught.value.index == rows[0]
        numbers[rows] = 3
    assert matcher.match_batch(batch_of(n=pa.array(numbers)), threads=3).true_count > 0


@pytest.mark.parametrize("number", [0, -1, 1.5, "two"])
def test_no_number_of_threads(parted: Any, number: Any) -> None:
    """A number of threads that there is not is an error that names it."""
    with pytest.raises(mqsel.MqselError, match=f"threads is {number!r}: expected a number from 1 on"):
        compiled("n > 4").match_batch(parted[:3], threads=number)


def test_a_system_without_more_threads(parted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread begins the one that there is does it all."""

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    matcher = compiled("n > 4")
    want = matcher.match_batch(parted, threads=1)
    monkeypatch.setattr(_answers, "start_new_thread", refuse)
    assert matcher.match_batch(parted, threads=3).equals(want)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_right_after_a_fork(parted: Any) -> None:
    """A process that was forked off one that has used threads uses its own."""
    matcher = compiled("n > 4")
    want = matcher.match_batch(parted, threads=3)
    child = os.fork()
    if child == 0:
        os._exit(0 if matcher.match_batch(parted, threads=3).equals(want) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_other_threads_run_meanwhile(large: Any) -> None:
    """While a batch is looked at another thread gets its turn all the time, and not every ten milliseconds."""
    matcher = compiled(SLOW)
    found = []
    for _ in range(3):
        ticks: list[float] = []
        over = threading.Event()

        def count(ticks: list[float] = ticks, over: threading.Event = over) -> None:
            while not over.is_set():
                ticks.append(time.process_time())
                time.sleep(0.0005)

        thread = threading.Thread(target=count)
        thread.start()
        start = time.process_time()
        matcher.match_batch(large)
        end = time.process_time()
        over.set()
        thread.join()
        found.append(sum(start < tick < end for tick in ticks) / (end - start))

    # Ticks in a second of this process, which others may keep off the processors; who held the lock for 10 ms
    # at a time would leave a hundred.
    assert max(found) > 200


def test_threads_share_a_matcher() -> None:
    """Threads that begin at once with one matcher, over parts of other types each, get the answers of their own."""
    rng = random.Random(17)
    text = "(s LIKE '%1_' OR n * 2 > 50) AND NOT (s = 'é3' OR n / 0 = 1 AND n < 0)"
    parts = []
    for form in ("string", "string_view", "large_string", "string"):
        values = [rng.choice(("é", "x")) + str(rng.randrange(40)) for _ in range(20_000)]
        numbers = [rng.randrange(100) for _ in values]
        array = plain(form, values)
        array = array.dictionary_encode() if len(parts) == 3 else array
        parts.append(batch_of(s=array, n=plain(rng.choice(batches.NUMBERS[1:]), numbers)))
    want = [_answers.truths(compiled(text), batch, by_rows=True) for batch in parts]
    for _ in range(5):
        matcher = Matcher(compiled(text).program)  # has no kernel yet
        got: list[list[bool]] = [[] for _ in parts]
        ready = threading.Barrier(len(parts))

        def run(which: int, matcher: Matcher = matcher, got: Any = got, ready: threading.Barrier = ready) -> None:
            ready.wait()
            got[which] = [_answers.truths(matcher, parts[which]) == want[which] for _ in range(5)]

        threads = [threading.Thread(target=run, args=(which,)) for which in range(len(parts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert got == [[True] * 5] * len(parts)


def test_every_answer_of_few_rows() -> None:
    """The answer for up to eight rows is what they say, whichever it is, and remains so when it is exported."""
    matcher = mqsel.compile("a")
    for rows in range(9):
        for number in range(2**rows):
            want = [bool(number >> row & 1) for row in range(rows)]
            found = matcher.match_batch(pa.record_batch({"a": pa.array(want, pa.bool_())}))
            found.validate(full=True)
            assert (found.to_pylist(), found.null_count) == (want, 0)
            assert pa.array(found).equals(pa.array(want, pa.bool_()))
