"""Damaged batches are refused, and what holds a batch lets it go."""

from __future__ import annotations

import ctypes
import gc
import random
import re
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from arrays import Producer, pa, truths
from conftest import shown
from running import growth, interrupted

import mqsel
from mqsel import _messages
from mqsel.columns import _answers
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError
from mqsel.formats import mq

# ---- damaged batches ---------------------------------------------------------------------------------------------


Later = list[Any]  # what to do once pyarrow has made the batch: it refuses to make a damaged one


def written_array(later: Later, kind: Any, rows: int, layout: bytes, contents: list[bytes]) -> Any:
    """Return an array that is in order, of zeros, into which offsets or views are written later."""
    buffer = bytearray(len(layout))

    def write() -> None:
        buffer[:] = layout

    later.append(write)
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(buffer), *map(pa.py_buffer, contents)])


def offsets_array(later: Later, offsets: list[int], content: bytes, form: str = "string") -> Any:
    layout = struct.pack(f"{len(offsets)}{'q' if form.startswith('large') else 'i'}", *offsets)
    return written_array(later, getattr(pa, form)(), len(offsets) - 1, layout, [content])


def view_array(later: Later, views: list[bytes], contents: list[bytes], form: str = "string_view") -> Any:
    try:
        return written_array(later, getattr(pa, form)(), len(views), b"".join(views), contents)
    except ValueError as error:  # pyarrow 18
        pytest.skip(f"this pyarrow makes no views of buffers: {error}")


def batch_later(later: Later, column: Any) -> Any:
    batch = pa.RecordBatch.from_arrays([column, pa.array(["ab"] * len(column))], ["s", "t"])
    for write in later:
        write()
    return batch


def view(length: int, number: int, start: int) -> bytes:
    return struct.pack("<i4sii", length, b"abcd", number, start)


DAMAGED = {
    "offsets fall": (lambda later: offsets_array(later, [0, 3, 1, 3], b"abc"), 1),
    "offsets of bytes fall": (lambda later: offsets_array(later, [0, 3, 1, 3], b"abc", "binary"), 1),
    "large offsets fall": (lambda later: offsets_array(later, [0, 3, 1, 3], b"abc", "large_string"), 1),
    "an offset between is too large": (lambda later: offsets_array(later, [0, 2_000_000_000, 3, 3], b"abc"), 0),
    "an offset between is too small": (lambda later: offsets_array(later, [0, -2_000_000_000, 3, 3], b"abc"), 0),
    "the first offset is negative": (lambda later: offsets_array(later, [-5, 1, 2, 3], b"abc"), None),
    "the last offset is beyond the content": (lambda later: offsets_array(later, [0, 1, 2, 300], b"abc"), None),
    "not UTF-8": (lambda later: offsets_array(later, [0, 1, 2, 3], b"a\xffb"), 1),
    "UTF-8 cut short": (lambda later: offsets_array(later, [0, 1, 2, 3], "xé".encode()), 1),
    "a surrogate": (lambda later: offsets_array(later, [0, 0, 3, 3], "\ud800".encode("utf-8", "surrogatepass")), 1),
    "an index is too large": (
        lambda _: pa.DictionaryArray.from_arrays(pa.array([0, 1, 9], pa.int8()), ["a", "b"], safe=False),
        2,
    ),
    "an index is negative": (
        lambda _: pa.DictionaryArray.from_arrays(pa.array([0, -1, 0], pa.int64()), ["a", "b"], safe=False),
        1,
    ),
    "an index is an unsigned giant": (
        lambda _: pa.DictionaryArray.from_arrays(pa.array([0, 2**64 - 1], pa.uint64()), ["a", "b"], safe=False),
        1,
    ),
    "a dictionary's offsets fall": (
        lambda later: pa.DictionaryArray.from_arrays(
            pa.array([0, 2, 1]), offsets_array(later, [0, 3, 1, 3], b"abc"), safe=False
        ),
        2,
    ),
    "a view's length is negative": (lambda later: view_array(later, [view(-1, 0, 0)], [b"x" * 20]), 0),
    "a view's buffer is missing": (lambda later: view_array(later, [view(13, 1, 0)], [b"x" * 20]), 0),
    "a view's buffer is negative": (lambda later: view_array(later, [view(13, -1, 0)], [b"x" * 20]), 0),
    "a view's start is negative": (lambda later: view_array(later, [view(13, 0, -1)], [b"x" * 20]), 0),
    "a view ends beyond its buffer": (lambda later: view_array(later, [view(13, 0, 8)], [b"x" * 20], "binary_view"), 0),
    "a view without buffers": (lambda later: view_array(later, [view(13, 0, 8)], []), 0),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_columns(what: str) -> None:
    """Offsets, indices, views and texts that lie are one error that names the column, or the batch; no crash."""
    make, row = DAMAGED[what]
    matcher = mqsel.compile("s = 'b' OR s IS NULL OR (s NOT LIKE '%x' AND s <> 'y')")
    later: Later = []
    batch = batch_later(later, make(later))
    column = batch.column(0)
    with pytest.raises((PropertyTypeError, ArgumentError)) as caught:
        matcher.match_batch(batch)
    if row is None:
        assert "(ArrowInvalid: " in str(caught.value) or "column 's' is damaged" in str(caught.value)
        return
    assert "column 's' is damaged, " in str(caught.value)
    assert caught.value.index == row
    with pytest.raises(PropertyTypeError) as caught:  # by the kernel, which begins with nine rows
        _answers.truths(matcher, batch)
    assert caught.value.index == row
    with pytest.raises(PropertyTypeError) as caught:
        matcher.truth_batch(pa.table({"s": pa.chunked_array([column[:row], column])}))
    assert caught.value.index == 2 * row


@pytest.mark.parametrize("text", ["s IS NULL", "s IS NOT NULL", "s = 5", "s = 'a'"])
def test_damaged_words(text: str) -> None:
    """A damaged word of a dictionary is an error of the first row that has it, also where any will do; else none."""
    words = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")]
    )
    matcher = mqsel.compile(text)
    for rows in (5, 50, 5000):
        places = [int(row == rows - 2) for row in range(rows)]
        for indices in (places, [0] * rows):
            batch = pa.record_batch({"s": pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), words)})
            for method in (matcher.match_batch, matcher.truth_batch):
                if indices is places:
                    with pytest.raises(PropertyTypeError, match="its text is not UTF-8") as caught:
                        method(batch)
                    assert caught.value.index == rows - 2
                else:
                    assert method(batch).to_pylist() == [text in ("s IS NOT NULL", "s = 'a'")] * rows


@pytest.mark.parametrize("has_long", [False, True])
def test_views_with_more_than_their_text(has_long: bool) -> None:
    """Behind a short text in a view may stand anything; the first bytes of a long one are those it points to."""
    content = b"abcdefgh and more of it"
    texts = [b"", b"ab", b"abcd", b"abcdefgh", b"abcdefgh and"]
    views = [struct.pack("<i", len(text)) + text.ljust(12, junk) for text in texts for junk in (b"\0", b"a", b"\xff")]
    if has_long:
        texts.append(content)
        views += [struct.pack("<i4sii", len(content), head, 0, 0) for head in (b"abcd", b"zzzz", b"abcd")]
    later: Later = []
    batch = batch_later(later, view_array(later, views, [content]))
    for text in ("", "ab", "abcd", "abcdefgh", "abcdefgh and", content.decode()):
        for form, says in (
            (f"s = '{text}'", str.__eq__),
            (f"s IN ('{text}', 'no')", str.__eq__),
            (f"s IN ('{text}', {', '.join(repr(str(number)) for number in range(20))})", str.__eq__),
            (f"s LIKE '{text}%'", str.startswith),
            (f"s LIKE '%{text}'", str.endswith),
            (f"s LIKE '%{text}%'", str.__contains__),
        ):
            matcher = mqsel.compile(form, dialect=mqsel.JMS)
            assert _answers.refusal(matcher, batch) is None
            want = [says(one.decode(), text) for one in texts for _ in range(3)]
            assert [truth == 1 for truth in _answers.truths(matcher, batch)] == want, form
            assert matcher.match_batch(batch).to_pylist() == want, form


class CSchema(ctypes.Structure):
    """The interface's own struct, to write lies into."""


CSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(CSchema))),
    ("dictionary", ctypes.POINTER(CSchema)),
    ("release", ctypes.c_void_p),
]


class CArray(ctypes.Structure):
    """The interface's other struct."""


CArray._fields_ = [
    *[(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")],
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(CArray))),
    ("dictionary", ctypes.POINTER(CArray)),
    ("release", ctypes.c_void_p),
]


def structs_of(capsules: tuple[Any, Any]) -> dict[str, Any]:
    """Return the structs behind two capsules by what they describe: the batch, and each of its columns in turn."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found: dict[str, Any] = {}
    for place, (kind, name) in enumerate(((CSchema, b"arrow_schema"), (CArray, b"arrow_array"))):
        top = ctypes.cast(pointer(capsules[place], name), ctypes.POINTER(kind)).contents
        side = "schema" if kind is CSchema else "array"
        found[side] = top
        for number, column in enumerate(("number", "text", "words", "fields")):
            found[f"{column} {side}"] = top.children[number].contents
    return found


def metadata(count: int, *texts: bytes | int) -> bytes:
    """Write what metadata are: a count of pairs, then each text behind its length."""
    written = [
        struct.pack("i", text) if isinstance(text, int) else struct.pack("i", len(text)) + text
        for text in (count, *texts)
    ]
    return b"".join(written)


LIES = [
    ("schema", "format", b"i", "found a Python"),
    ("schema", "format", None, "found a Python"),
    ("schema", "release", None, "its data were released"),
    ("array", "release", None, "its data were released"),
    ("array", "length", -1, "it has -1 rows"),
    ("array", "length", 1 << 60, "it has 1152921504606846976 rows"),
    ("array", "length", 5, "column 'n' is damaged, it has 3 rows, the batch needs 5"),
    ("array", "offset", 1, "column 'n' is damaged, it has 3 rows, the batch needs 4"),
    ("array", "offset", -1, "is damaged"),
    ("array", "offset", 1 << 62, "is damaged"),
    ("schema", "n_children", 5, "column 'n' is damaged, its struct has 4 arrays, and types for 5"),
    ("schema", "children", None, "column 'n' is damaged, its struct has no fields, and gives their number"),
    ("array", "n_children", 0, "column 'n' is damaged, its struct has 0 arrays, and types for 4"),
    ("array", "n_children", -1, "column 'n' is damaged, its struct has -1 arrays, and types for 4"),
    ("array", "children", None, "column 'n' is damaged, its struct has no fields, and gives their number"),
    ("array", "null_count", 1, "is damaged, it has nulls, and does not say which"),
    ("number schema", "format", None, "column 'n' has the Arrow type ''"),
    ("number schema", "format", b"?", "column 'n' has the Arrow type '?'"),
    ("number schema", "name", None, [2, 2, 2]),
    ("number schema", "release", None, "column 'n' is damaged, field 0 of its struct has no type"),
    ("text schema", "release", None, "column 'n' is damaged, field 1 of its struct has no type"),
    ("number array", "release", None, "column 'n' is damaged, its array is missing"),
    ("number schema", "metadata", metadata(1, b"ARROW:extension:name", b"x"), "column 'n' has the Arrow type x"),
    ("number schema", "metadata", metadata(1 << 30, b"ARROW:extension:name", b"x"), "column 'n' has the Arrow type x"),
    ("number schema", "metadata", metadata((1 << 31) - 1, b"k", -1), [0, 1, 0]),
    ("number schema", "metadata", metadata(2, b"ARROW:extension:name", b"", b"k", -5), "column 'n' has the Arrow type"),
    ("number schema", "metadata", metadata(-1), [0, 1, 0]),
    ("words schema", "dictionary", None, [0, 1, 0]),
    ("words array", "length", 1 << 50, "column 'w' is damaged, it has 1125899906842624 rows"),
    ("number array", "length", 2, "column 'n' is damaged, it has 2 rows, the batch needs 3"),
    ("number array", "length", -3, "column 'n' is damaged"),
    ("number array", "length", (1 << 63) - 1, "column 'n' is damaged"),
    ("number array", "offset", -1, "column 'n' is damaged"),
    ("number array", "offset", (1 << 63) - 1, "column 'n' is damaged"),
    ("number array", "n_buffers", 0, "column 'n' is damaged, it has 0 buffers, its type 2"),
    ("number array", "n_buffers", -1, "column 'n' is damaged, it has -1 buffers, its type 2"),
    ("number array", "buffers", None, "column 'n' is damaged"),
    ("number array", "null_count", 2, "column 'n' is damaged, it has nulls, and does not say which"),
    ("number array", "null_count", -1, [0, 1, 0]),
    ("array", "null_count", -1, [0, 1, 0]),
    ("text array", "n_buffers", 2, "column 's' is damaged, it has 2 buffers, its type 3"),
    ("words array", "dictionary", None, "column 'w' is damaged, it has no dictionary"),
    ("fields schema", "format", None, [2, 1, 2]),
    (
        "fields schema",
        "children",
        None,
        "column 'usr.x.y' is damaged, its struct has no fields, and gives their number",
    ),
    ("fields schema", "n_children", 0, "column 'usr.x.y' is damaged, its struct has 1 arrays, and types for 0"),
    ("fields array", "n_children", 0, "column 'usr.x.y' is damaged, its struct has 0 arrays, and types for 1"),
    ("fields array", "length", 1, "column 'usr.x.y' is damaged, it has 1 rows, the batch needs 3"),
]


@pytest.mark.parametrize(("which", "field", "lie", "found"), LIES)
def test_structs_that_lie(which: str, field: str, lie: Any, found: str | list[int]) -> None:
    """What the two structs say of themselves is checked before it is believed; what they may leave open is no lie."""
    batch = pa.record_batch(
        {
            "n": pa.array([1, 2, 3]),
            "s": pa.array(["a", "b", "c"]),
            "w": pa.array(["a", "b", "a"]).dictionary_encode(),
            "usr.x": pa.array([{"y": 1}] * 3),
        }
    )
    matcher = mqsel.compile("n = 2 OR s = 'x' OR w = 'x' OR usr.x.y = 7")
    capsules = batch.__arrow_c_array__()
    lied = structs_of(capsules)[which]
    truth = getattr(lied, field)
    # A pointer's address, not what stands there: that one is about to change.
    truth = ctypes.cast(truth, ctypes.c_void_p).value if isinstance(truth, ctypes._Pointer) else truth
    setattr(lied, field, lie)
    try:
        if isinstance(found, list):
            assert truths(matcher, Producer("__arrow_c_array__", capsules)) == found
        else:
            with pytest.raises(MqselError, match=re.escape(found)):
                _answers.truths(matcher, Producer("__arrow_c_array__", capsules))
    finally:
        kind = dict(lied._fields_)[field]
        setattr(lied, field, ctypes.cast(truth, kind) if isinstance(kind, type(ctypes.POINTER(CArray))) else truth)


@pytest.mark.parametrize(
    ("which", "place", "found"),
    [
        ("schema", 0, "column 'n' is damaged, field 0 of its struct has no type"),
        ("schema", 1, "column 'n' is damaged, field 1 of its struct has no type"),
        ("fields schema", 0, "column 'usr.x.y' is damaged, field 0 of its struct has no type"),
        ("array", 0, "column 'n' is damaged, its array is missing"),
        ("fields array", 0, "column 'usr.x.y' is damaged, its array is missing"),
    ],
)
def test_children_that_are_missing(which: str, place: int, found: str) -> None:
    """A NULL where a struct has a field is an error, in the types and in the arrays."""
    batch = pa.record_batch({"n": [1], "s": ["a"], "w": ["b"], "usr.x": [{"y": 1}]})
    capsules = batch.__arrow_c_array__()
    children = structs_of(capsules)[which].children
    pointers = ctypes.cast(children, ctypes.POINTER(ctypes.c_void_p))
    kept, pointers[place] = pointers[place], None
    try:
        with pytest.raises(PropertyTypeError, match=re.escape(found)):
            _answers.truths(mqsel.compile("n = 2 OR usr.x.y = 7"), Producer("__arrow_c_array__", capsules))
    finally:
        pointers[place] = kept


@pytest.mark.parametrize("capsules", [None, (), (1, 2), (1, 2, 3), [1, 2], "ab"])
def test_what_is_no_pair_of_capsules(capsules: Any) -> None:
    """Anything but two capsules of the interface is no batch."""
    with pytest.raises(ArgumentError, match="found a Python Producer"):
        _answers.truths(mqsel.compile("n = 2"), Producer("__arrow_c_array__", capsules))


def test_a_batch_is_not_taken_away_while_it_is_read() -> None:
    """Who takes the data over, as the interface lets everybody do once, is refused until they have been read."""
    capsules = pa.record_batch({"s": [f"text {number}" for number in range(50_000)]}).__arrow_c_array__()
    matcher = mqsel.compile(" OR ".join(f"s LIKE '%{number}x%'" for number in range(30)))
    taken: list[Any] = []

    def take(frame: Any, event: str, _: object) -> None:
        if event != "call" or frame.f_code.co_filename != "<string>":  # a turn, in the middle of the batch
            return
        sys.setprofile(None)
        try:
            taken.append(pa.RecordBatch._import_from_c_capsule(*capsules).num_rows)
        except pa.ArrowInvalid:
            taken.append("refused")
        gc.collect()

    sys.setprofile(take)
    try:
        answer = _answers.truths(matcher, Producer("__arrow_c_array__", capsules))
    finally:
        sys.setprofile(None)

    assert answer == bytes(50_000)
    assert _answers.truths(matcher, Producer("__arrow_c_array__", capsules)) == answer
    assert taken == ["refused"]
    assert pa.RecordBatch._import_from_c_capsule(*capsules).num_rows == 50_000
    with pytest.raises(ArgumentError, match="its data were released"):
        _answers.truths(matcher, Producer("__arrow_c_array__", capsules))


class RawColumn:
    """A column of raw messages that says of itself whatever it is told to."""

    def __init__(self, *, rows: int = 2, offset: Any = 0, kind: str = "binary", **buffers: Any) -> None:
        self.type = kind
        self.rows = rows
        self.offset = offset
        whole = {"validity": b"\x03", "offsets": struct.pack("3i", 0, 2, 4), "content": b"abcd"}
        self.whole = list({**whole, **buffers}.values())

    def __len__(self) -> int:
        return self.rows

    def buffers(self) -> list[Any]:
        return self.whole


RAW_LIES = [
    ({"offset": -1}, "it begins at row -1"),
    ({"offset": -(1 << 62)}, "it begins at row"),
    ({"offset": 1}, "its offsets are missing"),
    ({"offset": (1 << 63) - 1}, "its offsets are missing"),
    ({"offset": (1 << 61) - 3}, "its offsets are missing"),
    ({"offset": 1 << 80}, "its offsets are missing"),
    ({"offset": 0.5}, "its buffers cannot be read"),
    ({"offset": None}, "its buffers cannot be read"),
    ({"rows": 3}, "its offsets are missing"),
    ({"rows": (1 << 63) - 1}, "its offsets are missing"),
    ({"rows": -1}, "its buffers cannot be read"),
    ({"rows": 1, "kind": "large_binary"}, "its offsets are missing"),
    ({"validity": b""}, "it does not say which are null"),
    ({"offsets": None}, "its offsets are missing"),
    ({"offsets": b""}, "its offsets are missing"),
    ({"offsets": 5}, "its buffers cannot be read"),
    ({"content": memoryview(b"abcdefgh")[::2]}, "its buffers cannot be read"),
    ({"extra": b""}, "its buffers cannot be read"),
]


@pytest.mark.parametrize(("lies", "found"), RAW_LIES, ids=shown)
def test_columns_of_messages_that_lie(lies: dict[str, Any], found: str) -> None:
    """What a column of raw messages says of itself is checked before a byte is read."""
    with pytest.raises(PropertyTypeError, match=f"^column 'the message' is damaged, {found}"):
        _messages.MessageColumn(RawColumn(**lies))


@pytest.mark.parametrize("offsets", [(0, 5, 4), (-1, 2, 4), (3, 2, 4), (0, 1 << 30, 4)])
def test_offsets_of_messages_that_lie(offsets: tuple[int, ...]) -> None:
    """Offsets that lead out of the content are found where they are used."""
    decoder = mqsel.compile("a = 1").decoder("mq")
    messages = _messages.MessageColumn(RawColumn(offsets=struct.pack("3i", *offsets)))
    with pytest.raises(PropertyTypeError, match="its offsets do not rise"):
        _messages.values(decoder, messages)
    empty = _messages.MessageColumn(RawColumn(rows=0, offset=9, offsets=None, validity=b"", content=None))
    assert (empty.rows, _messages.values(decoder, empty)) == (0, [[]])


@pytest.mark.volume
def test_other_threads_get_their_turn() -> None:
    """A long batch gives the interpreter up to a thread that waits, columns and raw messages alike."""
    batch = pa.record_batch({"n": pa.array([7] * 1_000_000), "m": pa.array([None, 7] * 500_000)})
    matcher = mqsel.compile(" OR ".join(f"n * n * m / {number} = {number}" for number in range(1, 60)))
    raw = _messages.MessageColumn(pa.array([mq.encode({}, {"n": 1})] * 400_000))
    decoder = mqsel.compile("n = 5 AND m = 5").decoder("mq")
    works: list[Callable[[], Any]] = [
        lambda: _answers.truths(matcher, batch, by_rows=True),
        lambda: matcher.truth_batch(batch),
        lambda: _messages.truths([matcher], decoder, raw),
        lambda: _messages.values(decoder, raw),
    ]
    for work in works:
        turns: list[float] = []
        over = threading.Event()

        def count(turns: list[float] = turns, over: threading.Event = over) -> None:
            while not over.is_set():
                turns.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        while not turns:
            time.sleep(0.001)
        before = len(turns)
        work()
        after = len(turns)
        over.set()
        thread.join()

        assert after - before >= 3


def test_random_damage() -> None:
    """Invariant: any bytes as offsets and content give an answer or one error of ours, in any text-like type."""
    rng = random.Random(5)
    matcher = mqsel.compile("s LIKE '%a_' OR s IN ('ab', 'é') OR s = t")
    answered = refused = 0
    for _ in range(1500):
        form = rng.choice(("string", "large_string", "binary", "string_view"))
        content = bytes(rng.choice((rng.randrange(128), rng.randrange(256))) for _ in range(rng.choice((0, 5, 300))))
        rows = rng.randrange(1, 6)
        later: Later = []
        if form == "string_view":
            small = [rng.choice((-1, 0, 1, 5, 12, 13, 20, 300)) for _ in range(3 * rows)]
            column = view_array(later, [view(*small[3 * row : 3 * row + 3]) for row in range(rows)], [content])
        else:
            near = [-1, 0, 0, 1, 2, len(content) // 2, len(content), len(content) + 1]
            offsets = [rng.choice(near) for _ in range(rows + 1)]
            column = offsets_array(later, sorted(offsets) if rng.random() < 0.5 else offsets, content, form)
        batch = batch_later(later, column)
        try:
            matcher.match_batch(batch)
            answered += 1
        except MqselError:
            refused += 1

    assert answered > 100
    assert refused > 100


# ---- memory ------------------------------------------------------------------------------------------------------


def test_capsules_are_released() -> None:
    """Arrow's memory is given back when the answer has gone, also after errors; no block of Python's stays."""
    selectors = [
        mqsel.compile(text) for text in ("s = 'a' OR u LIKE '%é' OR b IS NULL OR n > 5", "odd = 1", "bad = 'x'")
    ]

    def work() -> None:
        later: Later = []
        column = pa.array(["a", "b", None] * 100)
        batch = pa.record_batch(
            {
                "s": column,
                "u": pa.array(["é", "aé", "\U0001f600"] * 100),
                "b": pa.array([b"x", None, b"y"] * 100),
                "n": pa.array(range(300)),
                "d": column.dictionary_encode(),
                "odd": pa.nulls(300, pa.date32()),
                "bad": offsets_array(later, [0, 2, *[1] * 299], b"ab"),
            }
        )
        for write in later:
            write()
        for matcher in selectors:
            for one in (batch, pa.Table.from_batches([batch]), batch.to_struct_array()):
                try:
                    matcher.match_batch(one)
                    matcher.truth_batch(batch)
                except PropertyTypeError as error:
                    assert error.name in ("odd", "bad")

    for _ in range(50):
        work()
    gc.collect()
    arrow = pa.total_allocated_bytes()

    # Python's own free lists come and go; a block left in each round would be 300.
    assert growth(sys.getallocatedblocks, lambda: [work() for _ in range(300)], 200) < 200
    assert pa.total_allocated_bytes() <= arrow  # less, where what a test before left goes late


def test_no_references_are_left() -> None:
    """The batch, the capsules' owner and the matcher have as many references afterwards as before."""
    batch = pa.record_batch({"s": pa.array(["é", "b"]), "n": pa.array([1, 2])})
    producer = Producer("__arrow_c_array__", batch)
    matcher = mqsel.compile("s = 'é' AND n = 1")
    held = [batch, producer, matcher, None, True]
    matcher.match_batch(producer)
    before = [sys.getrefcount(item) for item in held[:3]]
    for _ in range(50):
        matcher.match_batch(producer)
        matcher.match_batch(batch)

    assert [sys.getrefcount(item) for item in held[:3]] == before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer on this system")
def test_an_interrupt_is_heard() -> None:
    """A signal that raises ends a long batch in the middle, and the matcher is as good as before."""
    batch = pa.record_batch({"n": pa.array([1] * 3_000_000)})
    matcher = mqsel.compile(" OR ".join(f"n * n * {number} = 0" for number in range(1, 60)))
    with interrupted(0.02, InterruptedError):
        matcher.match_batch(batch)

    assert matcher.match_batch(batch[:2]).to_pylist() == [False, False]


def test_threads_share_a_matcher() -> None:
    """Two threads that evaluate batches with one matcher get the answers of their own batch."""
    matcher = mqsel.compile("s LIKE '%1_' AND n < 50")
    batches = [
        pa.record_batch(
            {
                "s": [f"é{number}" if number % 3 else f"{number}" for number in range(start, start + 3000)],
                "n": [number % 100 for number in range(3000)],
            }
        )
        for start in (0, 7)
    ]
    want = [matcher.match_batch(batch) for batch in batches]
    got: list[list[bool]] = [[], []]

    def run(which: int) -> None:
        got[which] = [matcher.match_batch(batches[which]).equals(want[which]) for _ in range(30)]

    threads = [threading.Thread(target=run, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert got == [[True] * 30] * 2
    assert not want[0].equals(want[1])
