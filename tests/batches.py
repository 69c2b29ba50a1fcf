"""Random columns in every layout, selectors that read them, and the comparison of kernel, machine and oracle.

A column is made of values of one type, in one of Arrow's ways to hold them; what stands behind its nulls is no zero.
Buffers end where the last value ends, so that a sanitizer sees who reads further.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import random
import re
from dataclasses import dataclass, replace
from typing import Any

import oracle
import pyarrow as pa
import strategies
from products import typed
from products.selectors import NAMES

import mqsel
from mqsel.columns import _answers
from mqsel.errors import PropertyTypeError
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.parser import parse
from mqsel.matcher import Matcher
from mqsel.values import Float32, Int8, Int16, Int32, Truth

Row = strategies.Properties

BLOCK = 1024  # rows that the kernel looks at together
NESTED = 8  # structs around a column that it does not take

# Arrow's types by the type of property that they hold.
FORMS = {
    "boolean": ("bool_",),
    "int8": ("int8",),
    "int16": ("int16", "uint8"),
    "int32": ("int32", "uint16"),
    "int64": ("int64", "uint32", "uint64"),
    "float32": ("float32",),
    "float64": ("float64",),
    "string": ("string", "large_string", "string_view"),
    "bytes": ("binary", "large_binary", "binary_view"),
    "null": ("null",),
}
KINDS = {form: kind for kind, forms in FORMS.items() for form in forms}
INDICES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
NUMBERS = [form for form, kind in KINDS.items() if kind.startswith(("int", "float"))]
RANGES = {form: (0, 1 << int(form[4:])) for form in NUMBERS if form.startswith("uint")}
RANGES |= {form: (-1 << int(form[3:]) - 1, 1 << int(form[3:]) - 1) for form in NUMBERS if form.startswith("int")}
RANGES["uint64"] = 0, 1 << 63  # beyond it no property has a value

_INTEGERS = (0, 1, -1, 2, 3, 5, 7, 10, 100, 127, -128, 46341, 2**24 + 1, 2**53 - 1, 2**53, 2**53 + 1, 2**60 + 2**36 + 1)
_FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 7.0, 2.0**24, 2.0**24 + 2, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e300)
_FLOATS += (3.4e38, 5e-324, 1e-45, math.inf, -math.inf, math.nan)
# Texts that are alike for some bytes: the kernel compares eight at a time, from both ends.
_STEM = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"
_ODD = ("", "é", "aé", "éa", "\U0001f600", "a\U0001f600b", "\x00", "a\x00", "a\x00b", "50%", "a_b", "!", "\\", "\x7f")
_ODD += ("é" * 4, "é" * 8, "abcdefgé", "abcdefghé", "éabcdefgh", "abcdefg\x00", "abcdefgh\x00", "a" * 300)


def values_of(form: str) -> list[Any]:
    """List values that a column of this type of Arrow may have, limits of the type among them."""
    kind = KINDS[form]
    if kind == "boolean":
        return [True, False]
    if kind in ("float32", "float64"):
        return [float(Float32(number)) if kind == "float32" else number for number in _FLOATS]
    if kind == "bytes":
        return [text.encode() for text in values_of("string")] + [b"\xff", b"\x2f\x1c", b"\x2f\x1c\x00", b"\xff" * 9]
    if kind == "string":
        stems = [_STEM[:size] for size in range(len(_STEM) + 1)]
        changed = [text[:at] + "Z" + text[at + 1 :] for text in stems for at in {0, 7, 8, 15, len(text) - 1}]
        return list(dict.fromkeys([*stems, *changed, *_ODD]))
    if kind == "null":
        return [None]
    low, high = RANGES[form]
    return [number for number in {*_INTEGERS, low, low + 1, high - 2, high - 1} if low <= number < high]


def bare(value: Any) -> Any:
    """Return a value as pyarrow takes it: a wrapper of narrow numbers is a number."""
    return int(value) if type(value) in (Int8, Int16, Int32) else float(value) if type(value) is Float32 else value


# ---- layouts -----------------------------------------------------------------------------------------------------


def exact(data: bytes, shift: int = 0) -> Any:
    """Return a buffer that ends where its memory ends, *shift* bytes behind where a number may stand."""
    memory = (ctypes.c_char * (len(data) + shift)).from_buffer_copy(bytes(shift) + data)
    return pa.py_buffer(memory).slice(shift)


def bitmap(bits: list[bool], before: int = 0) -> Any:
    """Return a bitmap, with ones before it."""
    whole = [True] * before + bits
    eights = [whole[start : start + 8] for start in range(0, len(whole), 8)]
    return exact(bytes(sum(bit << at for at, bit in enumerate(eight)) for eight in eights))


def plain(form: str, values: list[Any], present: list[bool] | None = None, before: int = 0, shift: int = 0) -> Any:
    """Lay values out, *before* others of the same column; nulls where *present* says so, with values behind them."""
    if form == "null" or not values:
        return pa.nulls(len(values), getattr(pa, form)())
    array = pa.array(values[:1] * before + values, getattr(pa, form)())
    validity = None if present is None else bitmap(present, before)
    buffers = [None if one is None else exact(one.to_pybytes(), shift) for one in array.buffers()[1:]]
    try:
        made = pa.Array.from_buffers(array.type, len(array), [validity, *buffers])
    except ValueError:  # pyarrow 18 makes no views of buffers
        known = [True] * before + (present or [True] * len(values))
        made = pa.array(
            [value if here else None for value, here in zip(array.to_pylist(), known, strict=True)], array.type
        )
    return made[before:]


def dictionary(
    form: str, values: list[Any], present: list[bool] | None, indices: str, rng: random.Random, before: int = 0
) -> Any:
    """Encode values as indices of words; some words stand twice, one is null, some are never used."""
    words = {repr(value): value for value in [*values, *values_of(form)[:3]]}
    places = {spelling: [place] for place, spelling in enumerate(words)}
    listed = [*words.values()]
    for spelling in rng.sample([*words], min(len(words), 4)):
        places[spelling].append(len(listed))
        listed.append(words[spelling])
    listed.append(values[0])  # the null one
    is_word = [place < len(listed) - 1 for place in range(len(listed))]
    numbers = [rng.choice(places[repr(value)]) for value in values]
    # Behind a null of the indices stands one that leads nowhere.
    hidden = rng.choice((len(listed) - 1, 127))
    if present is not None:
        numbers = [number if here else hidden for number, here in zip(numbers, present, strict=True)]
    indices_ = plain(indices, numbers, present if hidden == 127 else None, before)
    return pa.DictionaryArray.from_arrays(indices_, plain(form, listed, is_word, rng.choice((0, 3))), safe=False)


def struct_of(fields: dict[str, Any], rows: int, present: list[bool] | None = None) -> Any:
    """Return a struct, null itself where *present* says so, whatever its fields have there."""
    kind = pa.struct([(name, array.type) for name, array in fields.items()])
    validity = None if present is None else bitmap(present)
    return pa.Array.from_buffers(kind, rows, [validity], children=[*fields.values()])


@dataclass(frozen=True)
class Column:
    """A column of a batch, and what its rows are.

    Attributes:
        kind: type of the properties.
        values: one for each row, None where there is no value.
        array: the values as Arrow has them.
        is_dictionary: they are encoded so, within structs perhaps.
    """

    kind: str
    values: list[Any]
    array: Any
    is_dictionary: bool


def random_presence(rng: random.Random, rows: int) -> list[bool] | None:
    """Draw which rows have a value: all, with a bitmap or without one, most, few, or a stretch."""
    chance = rng.choice((None, None, 1.0, 0.9, 0.9, 0.5, 0.1, 0.0))
    if chance is None:
        return None
    if rng.random() < 0.2:
        here = rng.randrange(rows + 1)
        return [row < here for row in range(rows)]
    return [rng.random() < chance for _ in range(rows)]


def random_column(rng: random.Random, fields: list[str], rows: int) -> Column:
    """Draw a column: its type, its values, how it lies, and in which structs."""
    if fields:
        before = rng.choice((0, 0, 5))
        inner = random_column(rng, fields[1:], rows + before)
        present = random_presence(rng, rows + before)
        array = struct_of({fields[0]: inner.array}, rows + before, present)[before:]
        return Column(inner.kind, kept(inner.values, present)[before:], array, inner.is_dictionary)
    form = rng.choice([*KINDS, *FORMS["string"], *NUMBERS])
    pool = values_of(form)
    pool = rng.sample(pool, min(len(pool), rng.choice((1, 2, 3, 8, 40, 110))))
    values = rng.choices(pool, k=rows)
    if rng.random() < 0.3:  # other shares of the values from some row on: children change places there
        turn = rng.randrange(rows + 1)
        values[turn:] = rng.choices(pool[: 1 + len(pool) // 4], k=rows - turn)
    present = random_presence(rng, rows)
    before = rng.choice((0, 0, 1, 3, 8, 11))
    is_dictionary = rows > 0 and rng.random() < 0.25
    if is_dictionary:
        array = dictionary(form, values, present, rng.choice(INDICES), rng, before)
    else:
        array = plain(form, values, present, before)
    return Column(KINDS[form], kept(values, present), array, is_dictionary)


def kept(values: list[Any], present: list[bool] | None) -> list[Any]:
    if present is None:
        return values
    return [value if here else None for value, here in zip(values, present, strict=True)]


# ---- batches and selectors ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """A struct array, and the columns in it by the names of their properties."""

    rows: int
    columns: dict[str, Column]
    array: Any

    def row(self, number: int) -> Row:
        """Return one row as the message that it is."""
        cells = {name: (column.kind, column.values[number]) for name, column in self.columns.items()}
        return {name: ("null", None) if value is None else (kind, value) for name, (kind, value) in cells.items()}


def letters_of(dialect_name: str) -> strategies.Letters:
    """Return the letters of a dialect with names of columns, some of which are fields of structs."""
    dotted = ("shop.item", "deep.er.still") if dialect_name == "IBM_MQ" else ()
    return replace(strategies.LETTERS[dialect_name], names=("a", "b", "n", "x", "flag", "order", *dotted))


def random_batch(rng: random.Random, names: tuple[str, ...], rows: int) -> Batch:
    """Draw a batch that has most of the columns."""
    before = rng.choice((0, 0, 3))
    present = random_presence(rng, rows + before) if rng.random() < 0.3 else None
    columns: dict[str, Column] = {}
    arrays: dict[str, Any] = {}
    for name in names:
        if rng.random() < 0.1:
            continue
        top, *fields = name.split(".") if rng.random() < 0.7 else [name]
        column = random_column(rng, fields, rows + before)
        columns[name] = replace(column, values=kept(column.values, present)[before:])
        arrays[top] = column.array
    return Batch(rows, columns, struct_of(arrays, rows + before, present)[before:])


class _Author(strategies._Author):
    """Writes selectors about columns: values of any of their rows, and long lists."""

    def __init__(self, rng: random.Random, letters: strategies.Letters, batch: Batch) -> None:
        columns = batch.columns
        super().__init__(rng, letters, {name: (column.kind, None) for name, column in columns.items()})
        self.pools = {name: [one for one in column.values[:200] if one is not None] for name, column in columns.items()}

    def name(self, kind: str) -> str:
        found = super().name(kind)
        if found in self.message:
            kind, _ = self.message[found]
            pool = self.pools[found]
            value = self.rng.choice(pool) if pool else None
            self.message[found] = (kind, value) if pool else ("null", None)
        return found

    def text(self) -> str:
        return self.rng.choice(values_of("string")) if self.rng.random() < 0.3 else super().text()

    def write(self, form: str, depth: int) -> list[str]:
        if form == "string , strings" and self.rng.random() < 0.1:
            count = self.rng.randrange(4, 100)
            return super().write(" , ".join(["string"] * count), depth)
        return super().write(form, depth)


def random_text(rng: random.Random, letters: strategies.Letters, batch: Batch) -> str:
    """Draw a selector that reads a column and is no longer than IBM MQ allows."""
    while True:
        author = _Author(rng, letters, batch)
        text = author.selector()
        if author.last_name and len(text) <= 10240:
            return text


# ---- comparison --------------------------------------------------------------------------------------------------


def may_refuse(reason: str | None, batch: Batch) -> bool:
    """Report whether the kernel may leave a batch to the row machine for this reason, or for none."""
    refused = "(?s).+: (a test that is computed row by row|it has NaN or -0.0)"
    if reason is None or re.fullmatch(refused, reason):
        return True
    found = re.fullmatch(r"(.+): a dictionary that arithmetic reads or that is compared with a property", reason)
    return found is not None and batch.columns[found[1]].is_dictionary


def assert_truths(matcher: Matcher, batch: Batch, rows: list[int]) -> bytes:
    """Compare the kernel with the row machine in all rows, and with the oracle in some.

    Returns: the truth values.
    """
    reason = _answers.refusal(matcher, batch.array)
    assert may_refuse(reason, batch), reason
    want = _answers.truths(matcher, batch.array, by_rows=True)
    got = _answers.truths(matcher, batch.array)
    if want != got:
        row = next(row for row in range(batch.rows) if want[row] != got[row])
        found = f"row {row} of {batch.rows}: wanted {Truth(want[row]).name}, got {Truth(got[row]).name}"
        raise AssertionError(f"{found}; {batch.row(row)} {matcher!r}")
    product = typed.product_of(matcher.dialect)
    tree = parse(matcher.selector, matcher.dialect)
    for row in rows:
        properties = batch.row(row)
        if want[row] not in list(Truth):
            assert core_of(matcher.dialect).has_greatest, (row, properties, matcher)
            assert strategies.is_unordered(properties), (row, properties, matcher)
            continue
        if product is None:
            wanted = oracle.evaluate(tree, properties, matcher.dialect)
        elif all(typed.is_sent(product, *one) for one in properties.values()):
            wanted = typed.truth(product, matcher.selector, properties)
        else:
            continue
        assert Truth(want[row]).name in wanted.split("|"), (row, properties, matcher)
    return want


def assert_same(matcher: Matcher, batch: Batch, rows: list[int]) -> bytes:
    """Compare as `assert_truths` does, and the answers with that."""
    want = assert_truths(matcher, batch, rows)
    selected, known = matcher.match_batch(batch.array), matcher.truth_batch(batch.array)
    for answer in (selected, known):
        answer.validate(full=True)
    answers = [truth == Truth.TRUE if truth in list(Truth) else None for truth in want]
    for answer, expected in zip(selected.to_pylist(), answers, strict=True):
        # A row without an answer may be known not to be selected: then only FALSE and UNKNOWN cannot be told apart.
        assert answer == expected or (expected is None and answer is False), matcher
    truths = [None if truth == Truth.UNKNOWN else answer for truth, answer in zip(want, answers, strict=True)]
    assert truths == known.to_pylist(), matcher
    return want


def random_rows(rng: random.Random) -> int:
    """Draw a number of rows: few, about a block, or several blocks."""
    near = (BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + rng.randrange(20), 5 * BLOCK + 3)
    return rng.choice((0, 1, rng.randrange(2, 40), rng.randrange(2, 40), rng.randrange(40, 300), rng.choice(near)))


def run_case(rng: random.Random, dialect_name: str, dialect: Dialect, selectors: int) -> int:
    """Draw a batch and some selectors for it, and compare.

    Returns: how many of them the kernel took.
    """
    is_broker = dialect_name in typed.BROKERS
    letters = letters_of("JMS" if is_broker else dialect_name)
    batch = random_batch(rng, tuple(NAMES) if is_broker else letters.names, random_rows(rng))
    taken = 0
    for _ in range(selectors):
        text = typed.random_text(rng, dialect_name) if is_broker else random_text(rng, letters, batch)
        matcher = mqsel.compile(text, dialect=dialect, optimize=rng.random() < 0.7)
        rows = {rng.randrange(batch.rows) for _ in range(8)} if batch.rows else set()
        rows |= {row for row in (0, BLOCK - 1, BLOCK, batch.rows - 1) if 0 <= row < batch.rows}
        want = assert_same(matcher, batch, sorted(rows))
        cut = rng.randrange(batch.rows + 1)
        for part, truths in ((batch.array[:cut], want[:cut]), (batch.array[cut:], want[cut:])):
            assert _answers.truths(matcher, part) == truths, (cut, matcher)
        taken += _answers.refusal(matcher, batch.array) is None
    return taken


# ---- damage ------------------------------------------------------------------------------------------------------


def damage(rng: random.Random, array: Any) -> None:
    """Change some bytes of the numbers, offsets, views, texts or words of a column, or of a field in it."""
    while pa.types.is_struct(array.type):
        array = array.field(0)
    parts = [array.indices, array.dictionary] if pa.types.is_dictionary(array.type) else [array]
    buffers = [one for part in parts for one in part.buffers()[1:] if one is not None and one.size]
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        if buffers:
            buffer = rng.choice(buffers)
            byte = rng.choice((0, 1, 2, 0x7F, 0x80, 0xC3, 0xED, 0xFF, rng.randrange(256)))
            ctypes.memset(buffer.address + rng.randrange(buffer.size), byte, 1)


def by_rows(matcher: Matcher, batch: Any) -> list[int | None]:
    """Return of each row its truth value; None where something is wrong, or that cannot be told."""
    found: list[int | None] = []
    while len(found) < len(batch):
        rest = batch[len(found) :]
        try:
            found += _answers.truths(matcher, rest, by_rows=True)
        except PropertyTypeError as error:
            if error.index is None and not found:
                raise
            before = rest[: error.index or 0]
            try:
                before.validate()  # its last offsets may be those that are wrong
                found += _answers.truths(matcher, before, by_rows=True)
            except (pa.ArrowInvalid, PropertyTypeError):
                found += [None] * len(before)
            # Without a row it is the first offset of the rest.
            found.append(None)
    return found


def assert_damage(matcher: Matcher, batch: Any) -> bool:
    """Compare the kernel with the row machine on what may be damaged.

    The kernel may leave a value alone that the row machine reads, never the other way round. Where two columns are
    damaged in one row, it may name the other one.

    Returns: whether the kernel found an error.
    """
    try:
        want = by_rows(matcher, batch)
    except PropertyTypeError as error:
        with contextlib.suppress(PropertyTypeError):
            _answers.truths(matcher, batch)
            raise AssertionError(f"{matcher!r}: {error}") from error
        return True
    try:
        got = _answers.truths(matcher, batch)
    except PropertyTypeError as error:
        assert error.index is not None, error
        assert want[error.index] is None, (matcher, error)
        return True
    wrong = [row for row, truth in enumerate(want) if truth not in (None, got[row])]
    assert not wrong, (matcher, wrong)
    return False


def run_damaged(rng: random.Random) -> int:
    """Draw a batch and a selector, change bytes, and compare.

    Returns: 1 where the kernel found an error.
    """
    dialect_name = rng.choice(("JMS", "IBM_MQ"))
    letters = letters_of(dialect_name)
    rows = rng.choice((1, 5, 40, BLOCK + rng.randrange(50)))
    columns = {name: random_column(rng, name.split(".")[1:], rows) for name in letters.names}
    arrays = {name.split(".")[0]: column.array for name, column in columns.items()}
    batch = pa.RecordBatch.from_arrays([*arrays.values()], [*arrays])
    text = random_text(rng, letters, Batch(rows, columns, None))
    matcher = mqsel.compile(
        text,
        dialect=strategies.DIALECTS[dialect_name].replace(**rng.choice(strategies.READINGS)),
        optimize=rng.random() < 0.7,
    )
    for column in columns.values():
        damage(rng, column.array)
    try:
        batch.validate()
    except pa.ArrowInvalid:
        return 0
    return assert_damage(matcher, batch)
