"""Arrow columns of every type and layout are read as the messages that they hold."""

from __future__ import annotations

import math
import random
import sys
from typing import Any

import pytest
import strategies
from arrays import Producer, pa, truths
from conftest import ARROW_TYPES, fits_arrow

import mqsel
from mqsel.columns import _answers
from mqsel.columns.wordings import with_extra
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError
from mqsel.machine import _vm
from mqsel.values import Float32, Int8, Int16, Int32

# Other types that hold the same values.
FORMS = {
    "string": ("string", "large_string", "string_view"),
    "bytes": ("binary", "large_binary", "binary_view"),
}


INDEX_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def column_of(rng: random.Random, kind: str, values: list[Any]) -> Any:
    """Lay values of one kind out in one of Arrow's ways, with an offset half of the time."""
    form = getattr(pa, rng.choice(FORMS.get(kind, (ARROW_TYPES[kind],))))()
    before = rng.choice((0, 0, 1, 3, 8, 11))
    padding = values[:1] * before
    array = pa.array([*padding, *values, *padding], form)
    if rng.random() < 0.3 and kind in ("string", "bytes", "int32", "int64") and "view" not in str(form):
        array = encoded(array, rng.choice(INDEX_TYPES))
    return array[len(padding) : len(padding) + len(values)]


def encoded(array: Any, indices: str) -> Any:
    """Encode as a dictionary that has a null among its values."""
    plain = array.dictionary_encode()
    values = pa.concat_arrays([plain.dictionary, pa.nulls(1, array.type)])
    numbers = plain.indices.fill_null(len(values) - 1)
    return pa.DictionaryArray.from_arrays(numbers.cast(getattr(pa, indices)()), values)


def wrapped(kind: str, value: Any) -> Any:
    wrappers = {"int8": Int8, "int16": Int16, "int32": Int32, "float32": Float32}
    return wrappers[kind](value) if kind in wrappers and value is not None else value


def random_batch(rng: random.Random, properties: strategies.Properties, rows: int) -> tuple[Any, list[dict[str, Any]]]:
    """Return a batch of the types of one message, and its rows as messages."""
    columns: dict[str, list[Any]] = {}
    for name, (kind, value) in properties.items():
        values = [value]
        while len(values) < rows:
            other_kind, other = strategies._typed(rng)
            if rng.random() < 0.2:
                values.append(None)
            elif other_kind == kind:
                values.append(other)
        columns[name] = values
    messages = [
        {name: wrapped(kind, columns[name][row]) for name, (kind, _) in properties.items()} for row in range(rows)
    ]
    messages = [message for message in messages if fits_arrow(message)]
    arrays = [column_of(rng, kind, [message[name] for message in messages]) for name, (kind, _) in properties.items()]
    return pa.RecordBatch.from_arrays([*arrays, pa.nulls(len(messages))], [*properties, "-"]), messages


def assert_same(matcher: mqsel.Matcher, batch: Any, messages: list[dict[str, Any]]) -> None:
    """Compare all ways to evaluate a batch with its rows, one by one."""
    machine = _vm.Machine(matcher.program)
    want = [mqsel.Truth(machine.truth(message)) for message in messages]
    selected = matcher.match_batch(batch)
    evaluated = matcher.truth_batch(batch)
    for answer in (selected, evaluated):
        assert answer.type == pa.bool_()
        answer.validate(full=True)
    assert want == truths(matcher, batch), matcher
    assert [bool(truth) for truth in want] == selected.to_pylist(), matcher
    assert [None if truth is mqsel.Truth.UNKNOWN else bool(truth) for truth in want] == evaluated.to_pylist()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_rows_of_random_batches(name: str) -> None:
    """Invariant: match_batch(batch) = [matches(row) for row in batch], for random selectors, types, layouts, slices."""
    rng = random.Random(f"arrow {name}")
    for number in range(250):
        text, properties = strategies.random_case(rng, name)
        batch, messages = random_batch(rng, properties, rng.choice((1, 2, 9, 17, 40)))
        matcher = mqsel.compile(text, dialect=strategies.DIALECTS[name], optimize=number % 5 > 0)
        start = rng.randrange(len(messages) + 1)
        stop = rng.randrange(start, len(messages) + 1)

        assert_same(matcher, batch, messages)
        assert_same(matcher, batch.slice(start, stop - start), messages[start:stop])
        # One row alone often has no NULL in it, and is then evaluated by the quick code.
        assert_same(matcher, batch[-1:], messages[-1:])
        struct_array = batch.to_struct_array()
        assert matcher.match_batch(struct_array).equals(matcher.match_batch(batch))
        assert matcher.match_batch(struct_array[start:stop]).equals(matcher.match_batch(batch[start:stop]))
        chunks = pa.Table.from_batches([batch[start:stop], batch[:start], batch])
        want = matcher.match_batch(batch[start:stop]), matcher.match_batch(batch[:start]), matcher.match_batch(batch)
        assert matcher.match_batch(chunks).equals(pa.concat_arrays(want))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int8", -128),
        ("int16", -(2**15)),
        ("int32", 2**31 - 1),
        ("int32", 46341),
        ("int64", 2**63 - 1),
        ("float32", 0.1),
        ("float32", 2.0**24),
        ("float64", 0.1),
        ("float64", 1e300),
        ("float64", math.nan),
        ("float64", -math.inf),
        ("float64", -0.0),
    ],
)
def test_numbers_have_the_types_of_their_columns(kind: str, value: float) -> None:
    """A column of a narrow type is promoted, wraps and rounds as a property that a schema declares so."""
    record = mqsel.Record([("n", kind), ("m", "int32")], (wrapped(kind, value), Int32(2**31 - 5)))
    batch = pa.record_batch(
        {"n": pa.array([value], getattr(pa, ARROW_TYPES[kind])()), "m": pa.array([2**31 - 5], pa.int32())}
    )
    for text in (
        "n * n > 0",
        "n * m > 0",
        "n * m + m < 0",
        "-n = n",
        "n + m > n",
        "n = 0.1",
        "n / m * m = n",
        "n + 1 > n",
        "n <> n",
        "1 / n < 0",
        "n * 1e10 = n * m",
        "n BETWEEN -1 AND 1",
    ):
        matcher = mqsel.compile(text)

        assert truths(matcher, batch) == [mqsel.Truth(_vm.Machine(matcher.program).truth(record))], text


def test_int8_and_float32_differ_from_wider_columns() -> None:
    """The test above can fail: the same numbers in wider columns give other answers."""
    wraps = mqsel.compile("n * n * n < 0")
    short = mqsel.compile("f = 0.1")

    assert wraps.match_batch(pa.record_batch({"n": pa.array([1291], pa.int32())})).to_pylist() == [True]
    assert wraps.match_batch(pa.record_batch({"n": pa.array([1291], pa.int64())})).to_pylist() == [False]
    assert short.match_batch(pa.record_batch({"f": pa.array([0.1], pa.float32())})).to_pylist() == [False]
    assert short.match_batch(pa.record_batch({"f": pa.array([0.1], pa.float64())})).to_pylist() == [True]


TEXTS = (
    "",
    "a",
    "é",
    "\x7f",
    "\x80",
    "ÿ",
    "Ā",
    "€",
    "\U0001f600",
    "a\U0001f600b",
    "a\x00b",
    "é" * 12,
    "abcdefghijkl",
    "abcdefghijklm",
    "x" * 5000,
    "x" * 4999 + "é",
    "x" * 9000 + "\U0001f600",
)


TEXT_SELECTORS = (
    *(f"s = '{text}'" for text in TEXTS),
    *("s LIKE '_'", "s LIKE 'a_b'", "s LIKE '%é'", "s LIKE '%\U0001f600%'", "s NOT LIKE 'a%'", "s LIKE '%x'"),
    *("s IN ('a', 'é', '\U0001f600')", "s = t", "s <> t", "s IS NULL", "s < t"),
    "s IN ('a', 'é', 'c', 'd', 'e', 'f', '\U0001f600', '', 'h', 'i', 'abcdefghijklm')",
    "(s = 'a' OR s = 'é' OR s = '\U0001f600' OR s = 'b' OR s = '') AND t <> s",
)


@pytest.mark.parametrize("form", ["string", "large_string", "string_view", "dictionary"])
def test_texts_are_code_points(form: str) -> None:
    """ASCII or not, texts compare, are LIKE and are found as sequences of code points, whatever stands beside them."""
    rng = random.Random(form)
    for texts in (TEXTS, [text for text in TEXTS if text.isascii()], [*TEXTS] * 40):
        first, second = list(texts), list(texts)
        rng.shuffle(first)
        rng.shuffle(second)
        kind = pa.string() if form == "dictionary" else getattr(pa, form)()
        arrays = pa.array([None, *first], kind), pa.array([None, *second], kind)
        if form == "dictionary":
            arrays = tuple(array.dictionary_encode() for array in arrays)
        batch = pa.RecordBatch.from_arrays(list(arrays), ["s", "t"])
        messages = [{"s": s, "t": t} for s, t in zip([None, *first], [None, *second], strict=True)]
        for text in TEXT_SELECTORS:
            if text != "s < t":
                assert_same(mqsel.compile(text, dialect=mqsel.JMS), batch, messages)
        assert_same(mqsel.compile("s < t", dialect=mqsel.JMS), batch, messages)


def test_null_type_and_missing_columns() -> None:
    """A column of type null, a property without a column and an array without a validity bitmap are what they say."""
    batch = pa.record_batch({"a": pa.nulls(3), "b": pa.array([1, 2, 3])})

    assert truths(mqsel.compile("a IS NULL AND c IS NULL AND b > 0"), batch) == [1, 1, 1]
    assert truths(mqsel.compile("a = 1 OR c = 1"), batch) == [2, 2, 2]
    assert mqsel.compile("a = 1 OR c = 1").truth_batch(batch).to_pylist() == [None] * 3
    assert truths(mqsel.compile(""), batch) == [1, 1, 1]


def test_a_constant_selector_answers_for_each_row() -> None:
    """A selector that reads nothing gives as many answers as there are rows, also of a struct without fields."""
    empty = pa.StructArray.from_buffers(pa.struct([]), 5, [None])

    assert mqsel.compile("").match_batch(empty).to_pylist() == [True] * 5
    assert mqsel.compile("1 = 2", dialect=mqsel.JMS).match_batch(empty).to_pylist() == [False] * 5


def test_empty_batches_and_tables() -> None:
    """No rows or no chunks: an empty answer of the right type."""
    matcher = mqsel.compile("a = 1 OR b = 'x'")
    schema = pa.schema({"a": pa.int64(), "b": pa.string()})
    for empty in (
        schema.empty_table(),
        pa.table({"a": pa.chunked_array([], pa.int64())}),
        pa.RecordBatch.from_pylist([], schema),
        pa.record_batch({"a": pa.array([1])})[1:],
        pa.RecordBatchReader.from_batches(schema, []),
    ):
        answer = matcher.match_batch(empty)

        assert (answer.type, len(answer)) == (pa.bool_(), 0)
        assert matcher.truth_batch(empty).to_pylist() == []


def test_columns_without_chunks_are_checked() -> None:
    """A column that no property can be is refused though there are no rows."""
    schema = pa.schema({"a": pa.list_(pa.int64())})
    for empty in (pa.Table.from_batches([], schema), pa.RecordBatchReader.from_batches(schema, [])):
        with pytest.raises(PropertyTypeError, match="has the Arrow type list"):
            mqsel.compile("a = 1").match_batch(empty)


def test_struct_columns_are_dotted_names() -> None:
    """`Root.MQMD.X` is X in MQMD in Root, and NULL where either is; a column of the whole name comes first."""
    matcher = mqsel.compile("Root.MQMD.Priority > 4")
    rows = [{"MQMD": {"Priority": 5}}, {"MQMD": {"Priority": 4}}, {"MQMD": None}, None, {"MQMD": {"Priority": 9}}]
    batch = pa.record_batch({"Root": pa.array(rows)})
    partly = pa.record_batch({"Root.MQMD": pa.array([{"Priority": 5}, None])})
    both = batch.append_column("Root.MQMD.Priority", pa.array([1, 1, 1, 1, None]))

    assert truths(matcher, batch) == [1, 0, 2, 2, 1]
    assert truths(matcher, batch[1:4]) == [0, 2, 2]
    assert truths(matcher, batch.to_struct_array()[2:]) == [2, 2, 1]
    assert truths(matcher, partly) == [1, 2]
    assert truths(matcher, both) == [0, 0, 0, 0, 2]
    assert truths(matcher, pa.record_batch({"Root": pa.array([{"MQCIH": 5}])})) == [2]


def test_usr_is_the_same_property() -> None:
    """In IBM MQ `x` is also found as column `usr.x` and as x in the struct usr, as in a mapping."""
    matcher = mqsel.compile("x = 5")

    assert truths(matcher, pa.record_batch({"usr.x": pa.array([5])})) == [1]
    assert truths(matcher, pa.record_batch({"usr": pa.array([{"x": 5}])})) == [1]
    assert truths(matcher, pa.record_batch({"x": pa.array([4]), "usr.x": pa.array([5])})) == [0]
    assert truths(mqsel.compile("x = 5", dialect=mqsel.JMS), pa.record_batch({"usr.x": pa.array([5])})) == [2]


@pytest.mark.parametrize("count", [3, 30])
def test_structs_that_stand_elsewhere_are_refused(count: int) -> None:
    """The fields of structs in a dictionary, or in runs, are not read: this is said, where a selector names one."""
    structs = pa.StructArray.from_arrays([pa.array([5, 6])], ["x"])
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0] * (count // 3)), structs)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, count], pa.int32()), structs)
    for column, kind in ((words, "dictionary of struct"), (runs, "run_end_encoded")):
        around = pa.StructArray.from_arrays([column], ["b"])
        for name, text in (("a", "a.x = 5"), ("usr", "x = 5")):
            with pytest.raises(PropertyTypeError, match=f"column '{name}' has the Arrow type {kind}"):
                mqsel.compile(text).match_batch(pa.table({name: column}))
        with pytest.raises(PropertyTypeError, match=f"column 'b' has the Arrow type {kind}"):
            mqsel.compile("a.b.x = 5").match_batch(pa.table({"a": around}))
        batch = pa.record_batch({"a": column, "y": [5] * count})
        assert truths(mqsel.compile("y = 5"), batch) == [1] * count


def test_a_null_struct_has_no_properties() -> None:
    """In a row where the struct array itself is null every property is NULL, whatever its fields hold there."""
    fields = [pa.array([5, 5, 5, 5]), pa.array(["a"] * 4)]
    mask = pa.array([False, True, False, True])
    batch = pa.StructArray.from_arrays(fields, ["n", "s"], mask=mask)

    assert truths(mqsel.compile("n = 5 AND s = 'a'"), batch) == [1, 2, 1, 2]
    assert truths(mqsel.compile("n = 5 AND s = 'a'"), batch[1:]) == [2, 1, 2]


def test_err_leaves_nothing_on_the_stacks() -> None:
    """An ERR deep in a selector, row after row, is FALSE each time and never piles up."""
    text = "a = 1 OR (a = 2 AND a = 4 OR ((a = 3) = (a = 6 OR b = 3)))"
    batch = pa.record_batch({"a": pa.array([5] * 200_000 + [1]), "b": pa.nulls(200_001, pa.string()).fill_null("x")})
    for optimize in (True, False):
        matcher = mqsel.compile(text, dialect=mqsel.IBM_JMS, optimize=optimize)

        assert matcher.match_batch(batch).to_pylist() == [False] * 200_000 + [True]
        assert set(truths(matcher, batch[:-1])) == {mqsel.Truth.ERR}


def test_any_producer_will_do() -> None:
    """Whoever offers the C data or stream interface is read; pyarrow's own classes get no better answer."""
    batch = pa.record_batch({"n": pa.array([4, 5, None])})
    table = pa.Table.from_batches([batch, batch])
    matcher = mqsel.compile("n = 5")

    assert matcher.match_batch(Producer("__arrow_c_array__", batch)).to_pylist() == [False, True, False]
    assert matcher.match_batch(Producer("__arrow_c_stream__", table)).to_pylist() == [False, True, False] * 2
    assert matcher.match_batch(table.to_reader()).to_pylist() == [False, True, False] * 2


def test_chunked_columns() -> None:
    """The columns of a table may be chunked, each in its own way."""
    a = pa.chunked_array([[1, 2], [], [3]])
    b = pa.chunked_array([["x"], [None, "x"]])

    assert mqsel.compile("a > 1 AND b = 'x'").truth_batch(pa.table({"a": a, "b": b})).to_pylist() == [False, None, True]


UNSIGNED = {"uint8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "int64"}


@pytest.mark.parametrize(("form", "kind"), UNSIGNED.items())
def test_unsigned_integers(form: str, kind: str) -> None:
    """A column of unsigned integers has the values of the next wider type, as scalars of numpy have; up to INT64."""
    numbers = [0, 1, 200, min(2 ** int(form[4:]) - 1, 2**63 - 1), None, 7]
    array = pa.array([9, *numbers], getattr(pa, form)())[1:]
    signed = pa.array(numbers, getattr(pa, kind)())
    for column in (array, encoded(array, "uint8")):
        for text in ("n > 100", "n = 7 OR -n < -5000", f"n + 1 > {max(filter(None, numbers))}", "n IS NULL"):
            matcher = mqsel.compile(text)
            assert matcher.truth_batch(pa.table({"n": column})) == matcher.truth_batch(pa.table({"n": signed})), text


def test_an_unsigned_integer_beyond_int64() -> None:
    """A property cannot hold it: an error that names the row, if the value is read and only then."""
    numbers = pa.array([1, None, 2**63, 2**64 - 1], pa.uint64())
    table = pa.concat_tables([pa.table({"n": numbers[:1]}), pa.table({"n": numbers})])

    assert mqsel.compile("n = 1").match_batch(table.slice(0, 3)).to_pylist() == [True, True, False]
    with pytest.raises(PropertyTypeError, match="property 'n' is an integer outside int64: no message") as caught:
        mqsel.compile("n = 1").match_batch(table)
    assert (caught.value.name, caught.value.index) == ("n", 3)


OTHER_TYPES = [
    ("float16", lambda: pa.array([1.5], pa.float32()).cast(pa.float16())),
    ("decimal", lambda: pa.nulls(1, pa.decimal128(10, 2))),
    ("timestamp", lambda: pa.nulls(1, pa.timestamp("us", "UTC"))),
    ("date32", lambda: pa.nulls(1, pa.date32())),
    ("time", lambda: pa.nulls(1, pa.time64("us"))),
    ("duration", lambda: pa.nulls(1, pa.duration("s"))),
    ("interval", lambda: pa.nulls(1, pa.month_day_nano_interval())),
    ("fixed_size_binary", lambda: pa.array([b"abcd"], pa.binary(4))),
    ("list", lambda: pa.array([[1]])),
    ("large_list", lambda: pa.array([[1]], pa.large_list(pa.int64()))),
    ("list_view", lambda: pa.nulls(1, pa.list_view(pa.int64()))),
    ("fixed_size_list", lambda: pa.array([[1]], pa.list_(pa.int64(), 1))),
    ("struct", lambda: pa.array([{"a": 1}])),
    ("map", lambda: pa.nulls(1, pa.map_(pa.string(), pa.string()))),
    ("run_end_encoded", lambda: pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array(["a"]))),
    ("dictionary of date32", lambda: pa.nulls(1, pa.date32()).dictionary_encode()),
    ("arrow.uuid", lambda: pa.array([b"0" * 16], pa.uuid())),
    ("arrow.bool8", lambda: pa.array([1], pa.bool8())),
]


@pytest.mark.parametrize(("name", "make"), OTHER_TYPES, ids=[name for name, _ in OTHER_TYPES])
def test_other_types_are_refused_by_name(name: str, make: Any) -> None:
    """A column of a type no property has is an error that names both, if the selector reads it and only then."""
    try:
        column = make()
    except (AttributeError, pa.ArrowNotImplementedError) as error:
        pytest.skip(f"this pyarrow has no {name}: {error}")
    batch = pa.RecordBatch.from_arrays([column, pa.array([1])], ["odd", "n"])

    assert mqsel.compile("n = 1").match_batch(batch).to_pylist() == [True]
    with pytest.raises(PropertyTypeError, match=f"column 'odd' has the Arrow type {name}: expected bool") as caught:
        mqsel.compile("n = 1 OR odd = 1").match_batch(batch)
    assert (caught.value.name, caught.value.value_type) == ("odd", name)
    with pytest.raises(PropertyTypeError, match="column 'odd'"):
        mqsel.compile("odd IS NULL").match_batch(batch[:0])


def test_what_is_no_batch() -> None:
    """Anything but a batch is one ArgumentError that says what was expected."""
    released = pa.record_batch({"n": pa.array([1])}).__arrow_c_array__()
    pa.RecordBatch._import_from_c_capsule(*released)
    for wrong in (
        None,
        5,
        [{"n": 1}],
        {"n": [1]},
        pa.array([1]),
        pa.chunked_array([[1]]),
        pa.scalar(1),
        pa.schema({"n": pa.int64()}),
        Producer("__arrow_c_array__", None),
        Producer("__arrow_c_array__", (1, 2)),
        Producer("__arrow_c_array__", (None,)),
        Producer("__arrow_c_array__", released),
        Producer("__arrow_c_array__", tuple(reversed(pa.record_batch({"n": [1]}).__arrow_c_array__()))),
        Producer("__arrow_c_array__", ZeroDivisionError("lost")),
        Producer("__arrow_c_stream__", None),
        Producer("__arrow_c_stream__", ZeroDivisionError("lost")),
    ):
        with pytest.raises(ArgumentError, match=r"^found a Python .*: expected an Arrow record batch, table or struct"):
            mqsel.compile("n = 1").match_batch(wrong)
        with pytest.raises(ArgumentError, match=r"^found a Python .*: expected an Arrow record batch, table or struct"):
            mqsel.compile("n = 1").truth_batch(wrong)
    with pytest.raises(TypeError):
        _answers.truths(None, pa.record_batch({"n": [1]}))


def test_two_columns_of_one_name() -> None:
    """A name that the selector reads and two columns have is an error; one that it does not read is none."""
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "a", "b"])

    assert mqsel.compile("b = 3").match_batch(batch).to_pylist() == [True]
    with pytest.raises(ArgumentError, match="the batch has two columns 'a'"):
        mqsel.compile("b = 3 OR a = 1").match_batch(batch)


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow the error names the extra that brings it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    for call in (lambda m: m.match_batch(None), lambda m: m.truth_batch(None)):
        with pytest.raises(MqselError, match="_batch needs pyarrow") as caught:
            call(mqsel.compile("a = 1"))
        assert caught.value.hint == with_extra("arrow")
