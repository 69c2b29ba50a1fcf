"""The runner of columns answers as the machine does, whatever the selector and the types."""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import oracle
import pytest
import strategies
from conftest import VECTORS_ROOT, dialects_of, fits_arrow, json_lines, message_of
from volumes import volume

import mqsel
from mqsel.columns import _answers
from mqsel.errors import PropertyTypeError
from mqsel.matcher import Matcher

pa = pytest.importorskip("pyarrow")

import batches  # noqa: E402 (it needs pyarrow)
from batches import BLOCK, FORMS, INDICES, KINDS, Batch, Column, plain, struct_of, values_of  # noqa: E402
from kernels import batch_of, compiled, truths  # noqa: E402

# 5 presets × 12 readings × this many batches, with four selectors each.
BATCHES = volume(3, smoke=1)


TEXT_FORMS = ("string", "large_string", "string_view", "dictionary")


# ---- random selectors, all vectors -------------------------------------------------------------------------------


@pytest.mark.sample(18)
@pytest.mark.parametrize("reading", strategies.READINGS, ids=strategies.name_of)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_random_batches(name: str, reading: dict[str, str]) -> None:
    """Invariant: kernel = row machine = oracle in four values, for random selectors, dialects, types, layouts."""
    rng = random.Random(f"kernel {name} {reading}")
    dialect = strategies.DIALECTS[name].replace(**reading)
    taken = sum(batches.run_case(rng, name, dialect, 4) for _ in range(BATCHES))

    # Of one batch, the smoke, the machine may take none.
    assert taken > 0 or BATCHES < 3


def form_of(rng: random.Random, kind: str, value: Any) -> str:
    """Choose one of the types of Arrow that hold a value."""
    forms = FORMS[kind]
    return rng.choice([form for form in forms if not form.startswith("uint") or 0 <= value < batches.RANGES[form][1]])


Lay = Callable[[random.Random, str, Any, "list[bool]"], Any]


# How a column lies that has one value, in some rows: the row is left to the struct around it where that can be null.
LAYOUTS: dict[str, Lay] = {
    "plain": lambda _, kind, value, here: plain(FORMS[kind][0], [value] * len(here), here),
    "sliced": lambda rng, kind, value, here: plain(
        form_of(rng, kind, value), [value] * len(here), here, rng.randrange(1, 20)
    ),
    "other type": lambda rng, kind, value, here: plain(form_of(rng, kind, value), [value] * len(here), here),
    "view": lambda _, kind, value, here: plain(
        FORMS[kind][-1] if kind in ("string", "bytes") else FORMS[kind][0], [value] * len(here), here, 1
    ),
    "dictionary": lambda rng, kind, value, here: batches.dictionary(
        form_of(rng, kind, value), [value] * len(here), here, rng.choice(INDICES), rng, rng.choice((0, 3))
    ),
    "struct": lambda rng, kind, value, here: plain(form_of(rng, kind, value), [value] * len(here), None, 5),
}


@pytest.mark.sample(40)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", sorted(path.stem for path in VECTORS_ROOT.glob("*.jsonl")))
def test_vectors(name: str, layout: str) -> None:
    """Each row that holds a vector's message has the truth value that the vector wants, in every layout."""
    rng = random.Random(f"{name} {layout}")
    for vector in json_lines(VECTORS_ROOT / f"{name}.jsonl"):
        message = message_of(vector["properties"])
        if "want" not in vector or not fits_arrow(message):
            continue
        rows = 2 * BLOCK + 7 if rng.random() < 0.02 else rng.randrange(3, 20)
        here = [row % 3 > 0 for row in range(rows)]
        # Plain values in all dialects, but for long selectors, and each other layout in one of them.
        dialects = list(dialects_of(vector["dialect"]))
        for _, dialect in dialects if layout == "plain" and len(vector["selector"]) < 1000 else [rng.choice(dialects)]:
            arrays = {
                one: LAYOUTS[layout](rng, kind, batches.bare(message[one]), here)
                for one, (kind, _) in vector["properties"].items()
            }
            array = struct_of(arrays, rows, here if layout == "struct" else None)
            held = {
                one: Column(kind, [], arrays[one], layout == "dictionary")
                for one, (kind, _) in vector["properties"].items()
            }
            matcher = mqsel.compile(vector["selector"], dialect=dialect)
            reason = _answers.refusal(matcher, array)
            assert batches.may_refuse(reason, Batch(rows, held, array)), (vector["id"], reason)
            empty = mqsel.Truth(matcher.truth({})).name
            want = [vector["want"] if one else empty for one in here]
            got = [mqsel.Truth(truth).name for truth in _answers.truths(matcher, array)]
            assert got == want, (vector["id"], dialect)


# ---- numbers -----------------------------------------------------------------------------------------------------


PAIRED = (
    *("a < b", "a >= b", "a = b", "a <> b", "a + b > 3", "a - b <= 3", "a * b < b", "a / b = 1", "b - a / -1 = a + b"),
    *("-a * b + a / b - 5 > b", "NOT (a / 0 > 1) OR b = 1", "5 / b >= a", "a + 0.5 > b", "(a - b) * (a + b) <> 0"),
    *("a BETWEEN b AND b + 2", "+a = -b OR a * a * a < 0"),
)


def crossed(first: str, second: str) -> Batch:
    """Return a batch in which each value of one column stands beside each of the other, or beside none."""
    pairs = [(a, b) for a in values_of(first)[:40] for b in values_of(second)[:40]]
    here = [row % 7 > 0 for row in range(len(pairs))]
    drawn = {"a": (first, [a for a, _ in pairs], None), "b": (second, [b for _, b in pairs], here)}
    made = {
        name: Column(KINDS[form], batches.kept(values, present), plain(form, values, present, 3), is_dictionary=False)
        for name, (form, values, present) in drawn.items()
    }
    return Batch(len(pairs), made, struct_of({name: column.array for name, column in made.items()}, len(pairs)))


@pytest.mark.parametrize("first", batches.NUMBERS)
def test_numbers_of_all_pairs_of_types(first: str) -> None:
    """Relations and arithmetic between columns: promotion, wrap-around, division by zero, NaN, as rows and oracle."""
    rng = random.Random(first)
    dialects = [mqsel.JMS, mqsel.IBM_MQ, mqsel.IBM_JMS]
    matchers = [mqsel.compile(text, dialect=dialects[number % 3]) for number, text in enumerate(PAIRED)]
    for second in batches.NUMBERS:
        batch = crossed(first, second)
        for matcher in matchers:
            batches.assert_truths(matcher, batch, [rng.randrange(batch.rows) for _ in range(3)])


@pytest.mark.parametrize("mismatch", ["operation", "selector", "unknown"])
def test_other_pairs_of_types(mismatch: str) -> None:
    """Columns that do not compare, or are no numbers: a type mismatch, poison, NULL, in each reading of a dialect."""
    rng = random.Random(mismatch)
    forms = ["bool_", "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null", "int8"]
    texts = ("a = b", "a <> b", "a < b", "a + b > 3", "-a = 1", "a = 'a' OR NOT b = TRUE", "NOT (a BETWEEN b AND 5)")
    matchers = [compiled(text, type_mismatch=mismatch) for text in texts]
    for first, second in itertools.product(forms, forms):
        batch = crossed(first, second)
        for matcher in matchers:
            batches.assert_truths(matcher, batch, [rng.randrange(batch.rows) for _ in range(3)])


LITERALS = ("0", "-1", "127", "255", "-2147483648", "9007199254740992", "9007199254740993", "9223372036854775807")


LITERALS += ("-9223372036854775808", "0.1", "-0.0", "9007199254740993.0", "9.3e18", "3.4e38", "1e-45", "1e300")


@pytest.mark.parametrize("form", batches.NUMBERS)
def test_numbers_against_literals(form: str) -> None:
    """Limits of int64 beside doubles, 2**53, -0.0, NaN and float32 are exact in columns of each type, coded or not."""
    rng = random.Random(form)
    values = values_of(form) * (1 + 2 * BLOCK // len(values_of(form)))
    here = [row % 11 > 0 for row in range(len(values))]
    arrays = {
        "plain": plain(form, values, here, 5),
        "dictionary": batches.dictionary(form, values, here, rng.choice(INDICES), rng),
    }
    for literal in LITERALS:
        for sign in ("=", "<>", "<", "<=", ">", ">="):
            matcher = compiled(f"a {sign} {literal}")
            for array in arrays.values():
                made = Column(KINDS[form], batches.kept(values, here), array, is_dictionary=False)
                batch = Batch(len(values), {"a": made}, struct_of({"a": array}, len(values)))
                batches.assert_truths(matcher, batch, [rng.randrange(len(values)) for _ in range(4)])


def test_many_intervals() -> None:
    """More intervals than are compared one after the other, of integers, floats and doubles."""
    points = [-(2**63), *range(-50, 50, 3), 2**53, 2**63 - 1]
    text = " OR ".join(f"a = {point}" for point in points)
    values = [*range(-60, 60), -(2**63), 2**53, 2**53 + 1, 2**63 - 1] * 20
    matcher, other = compiled(text), compiled(f"NOT ({text})")
    for form in batches.NUMBERS:
        low, high = batches.RANGES.get(form, (-1 << 63, 1 << 63))
        chosen = [value for value in values if low <= value < high]
        batch = batch_of(a=plain(form, [float(one) if "float" in form else one for one in chosen]))
        rounded = {float(point) if "double" in form or "float64" in form else point for point in points}
        want = [value in rounded for value in batch["a"].to_pylist()]

        if "float" not in form:
            assert truths(matcher, batch) == want, form
        assert truths(other, batch) == [not one for one in truths(matcher, batch)], form


def test_unsigned_integers_beyond_int64() -> None:
    """An error that names the row, where the machine reads it; in rows that do not matter it is none."""
    numbers = [1] * 1500 + [2**63] + [1] * 600
    for array in (pa.array(numbers, pa.uint64()), pa.array(numbers, pa.uint64()).dictionary_encode()):
        batch = batch_of(n=array, b=pa.array([row != 1500 for row in range(len(numbers))]))
        with pytest.raises(PropertyTypeError, match="integer outside int64") as caught:
            _answers.truths(compiled("n = 1"), batch)
        assert caught.value.index == 1500
        assert truths(compiled("b AND n = 1"), batch) == [row != 1500 for row in range(len(numbers))]


# ---- texts -------------------------------------------------------------------------------------------------------


def texts_of(form: str, values: list[str], present: list[bool]) -> Any:
    if form != "dictionary":
        return plain(form, values, present, 3)
    words = list(dict.fromkeys(values))
    indices = plain("int16", [words.index(value) for value in values], present, 2)
    return pa.DictionaryArray.from_arrays(indices, plain("string", words, None, 5))


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def escaped(text: str) -> str:
    return "".join(f"!{one}" if one in "!%_" else one for one in text)


STEM = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"


def text_tests() -> list[tuple[str, Callable[[str], bool]]]:
    """List tests of texts of all lengths from 0 to 40, and what Python says of them."""
    found: list[tuple[str, Callable[[str], bool]]] = []
    for size in range(41):
        text, tail = STEM[:size], STEM[3 : 3 + size]
        odd = "é" + text
        found += [
            (f"s = {quoted(text)}", lambda s, text=text: s == text),
            (f"s <> {quoted(odd)}", lambda s, odd=odd: s != odd),
            (f"s LIKE {quoted(text + '%')}", lambda s, text=text: s.startswith(text)),
            (f"s NOT LIKE {quoted('%' + tail)}", lambda s, tail=tail: not s.endswith(tail)),
            (f"s LIKE {quoted('%' + tail + '%')}", lambda s, tail=tail: tail in s),
            (f"s LIKE {quoted(text + '_%')}", lambda s, text=text: s.startswith(text) and len(s) > len(text)),
            (f"s LIKE {quoted('_' * size)}", lambda s, size=size: len(s) == size),
            (f"s LIKE {quoted(text[: size // 2] + '%' + tail)}", lambda s, text=text, tail=tail, size=size: (
                s.startswith(text[: size // 2]) and s.endswith(tail) and len(s) >= size // 2 + len(tail))),
        ]  # fmt: skip
    for pattern in (
        "%é%",
        "_é%",
        "%_é",
        "é____%",
        "%!_%",
        "%!%",
        "5_!%",
        "a_b",
        "%\x00%",
        "a%b%c",
        "%b_d%g%",
        "%%",
        "_%_",
    ):
        found.append((f"s LIKE {quoted(pattern)} ESCAPE '!'", lambda s, pattern=pattern: oracle._like(s, pattern, "!")))
    rng = random.Random(40)
    pool = values_of("string")
    for count in (1, 2, 3, 7, 8, 9, 10, 16, 17, 33, 64, 100):
        chosen = {*rng.sample(pool, count - count // 3), *(STEM[:40] + str(number) for number in range(count // 3))}
        listed = ", ".join(map(quoted, chosen))
        found += [
            (f"s IN ({listed})", lambda s, chosen=chosen: s in chosen),
            (f"s NOT IN ({listed})", lambda s, chosen=chosen: s not in chosen),
            (
                f"s IN ({listed}) OR s LIKE '%d' OR s LIKE 'éa%' OR s LIKE '%ab_de%'",
                lambda s, chosen=chosen: (
                    s in chosen or s.endswith("d") or s.startswith("éa") or oracle._like(s, "%ab_de%", None)
                ),
            ),
        ]
    # Texts that views hold as a whole: they get numbers, up to 255 of them.
    short = [text for text in pool if len(text.encode()) <= 12]
    for count in (9, 30, 63, 64, 200, 255, 256):
        some = rng.sample(short, min(count, len(short) * 2 // 3))
        chosen = {*some, *(f"no {number}" for number in range(count - len(some)))}
        listed = ", ".join(map(quoted, chosen))
        found += [
            (f"s IN ({listed})", lambda s, chosen=chosen: s in chosen),
            (f"NOT (s IN ({listed}) AND s <> {quoted(some[0])})", lambda s, chosen=chosen, some=some: (
                s not in chosen or s == some[0])),
            (f"s NOT IN ({listed}) OR s IN ({quoted(some[1])}, {quoted(STEM)})", lambda s, chosen=chosen, some=some: (
                s not in chosen or s in (some[1], STEM))),
        ]  # fmt: skip
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", TEXT_FORMS)
def test_texts_of_all_lengths(form: str) -> None:
    """Equality, lists, prefixes, suffixes, what is contained and patterns, for texts from 0 to 40 and beyond."""
    rng = random.Random(form)
    values = [*values_of("string"), *(STEM[start : start + size] for start in (0, 3) for size in range(38))] * 5
    rng.shuffle(values)
    here = [rng.random() < 0.9 for _ in values]
    batch = batch_of(s=texts_of(form, values, here))
    few = batch_of(s=texts_of(form, values[:9], here[:9]))
    for text, says in text_tests():
        matcher = compiled(text)
        want = [says(value) if one else None for value, one in zip(values, here, strict=True)]

        assert truths(matcher, batch) == want, text
        assert truths(matcher, few) == want[:9], text
        assert truths(matcher, batch[1021:1101]) == want[1021:1101], text


@pytest.mark.parametrize("count", [1, 31, 32, 33, 63, 64, 65, 130])
@pytest.mark.parametrize("form", sorted(INDICES))
def test_dictionaries_of_all_sizes(form: str, count: int) -> None:
    """One word, some, all or none of a dictionary; where there is no value any index may stand."""
    if count > 127 and form == "int8":
        pytest.skip("so many words have no index of one byte")
    rng = random.Random(f"{form} {count}")
    places = [rng.choice([0, count // 2, count - 1, rng.randrange(count)]) for _ in range(3 * BLOCK + 77)]
    here = [rng.random() < 0.9 for _ in places]
    wild = [place if one else rng.choice([0, count, 127]) for place, one in zip(places, here, strict=True)]
    listed = [f"w{place}" for place in range(count)]
    for given in (places, wild):
        indices = pa.array(given, getattr(pa, form)(), mask=pa.array([not one for one in here]).to_numpy(False))
        indices = pa.Array.from_buffers(
            indices.type, len(given), [indices.buffers()[0], pa.array(given, indices.type).buffers()[1]]
        )
        batch = batch_of(s=pa.DictionaryArray.from_arrays(indices, listed, safe=False))
        for text, chosen in (
            (f"s = 'w{count - 1}'", {f"w{count - 1}"}),
            (f"s IN ('w0', 'w{count - 1}')", {"w0", f"w{count - 1}"}),
            ("s LIKE 'w%'", set(listed)),
            ("s = 'x'", set()),
        ):
            want = [listed[place] in chosen if one else None for place, one in zip(places, here, strict=True)]
            assert truths(compiled(text), batch) == want, text
            for part in (slice(None), slice(3, None), slice(64, 3 * BLOCK)):
                assert compiled(text).match_batch(batch[part]).to_pylist() == [one is True for one in want[part]], text
        missing = [not one for one in here]
        assert compiled("s IS NULL").match_batch(batch).to_pylist() == missing


@pytest.mark.parametrize("form", sorted(INDICES))
def test_an_index_outside_behind_the_first_block(form: str) -> None:
    """A row that has a value, and no word of the dictionary, is named, wherever it stands."""
    for row in (BLOCK + 5, 3 * BLOCK + 70):
        indices = [place == row for place in range(3 * BLOCK + 77)]
        words = pa.DictionaryArray.from_arrays(pa.array(indices).cast(getattr(pa, form)()), ["w0"], safe=False)
        with pytest.raises(PropertyTypeError, match="an index lies outside its dictionary") as caught:
            compiled("s = 'w0'").match_batch(batch_of(s=words))
        assert caught.value.index == row


def test_intervals_of_int64() -> None:
    """Invariant: an integer is in an interval, with whatever ends, just where Python says so, in blocks of any size."""
    rng = random.Random("intervals")
    ends = [-(2**63), -(2**63) + 1, -5, -1, 0, 1, 7, 2**63 - 2, 2**63 - 1]
    for _ in range(200):
        numbers = [rng.choice([None, *ends, rng.choice(ends) // 2]) for _ in range(rng.randrange(9, 80))]
        batch = batch_of(n=pa.array([0, *numbers], pa.int64())[1:])
        low, high = rng.choice(ends), rng.choice(ends)
        for text, of in (
            (f"n BETWEEN {low} AND {high}", lambda n, low=low, high=high: low <= n <= high),
            (f"n >= {low}", lambda n, low=low: n >= low),
            (f"n <= {high}", lambda n, high=high: n <= high),
            (f"n = {low}", lambda n, low=low: n == low),
        ):
            assert truths(compiled(text), batch) == [None if n is None else of(n) for n in numbers], text


def test_few_rows() -> None:
    """Invariant: match_batch(batch[:n]) = match_batch(batch)[:n], for few rows and many, in several threads."""
    rng = random.Random("few")
    values = [rng.choice(["car", "cart", "", "a longer text than a view", None]) for _ in range(3000)]
    for text in ("s = 'car'", "s LIKE '%t%' OR n > 5", "NOT (n < 3) AND s IS NOT NULL", "n / 0 = 1 OR n + 1 = 4"):
        matcher = compiled(text)
        batch = batch_of(s=pa.array(values, pa.string_view()), n=pa.array([rng.choice([1, 4, None]) for _ in values]))
        for ask in (matcher.match_batch, matcher.truth_batch):
            want = ask(batch).to_pylist()
            with ThreadPoolExecutor(4) as pool:
                sizes = [*range(20), 1000, 2500] * 4
                for size, answer in zip(sizes, pool.map(ask, [batch[:size] for size in sizes]), strict=True):
                    assert answer.to_pylist() == want[:size], (text, size)


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_texts_at_the_end_of_their_memory(form: str) -> None:
    """Of a text at the end of a buffer no more than itself is read: the buffers here end where their memory ends."""
    tests = ("s = 'a'", "s = 'abcdefghi'", "s LIKE 'ab%'", "s LIKE '%bc'", "s LIKE '%b%'", "s IN ('', 'a', 'ab', 'é')")
    matchers = [compiled(text) for text in tests]
    for size in range(1, 12):
        for ends in (["a"], ["ab"], [""], ["abc", ""], ["abcdefghi"], ["é"]):
            values = [STEM[: size - 1]] * (size % 4) + ends
            batch = batch_of(s=texts_of(form, values, [True] * len(values)))
            for matcher in matchers:
                truths(matcher, batch)


def test_texts_of_thousands_of_bytes() -> None:
    """Blocks shrink with the length of texts; the answers are those of the rows."""
    rng = random.Random(2)
    for size, rows in ((300, 2500), (5_000, 700), (100_000, 40)):
        values = [
            rng.choice(("x", "é")) * (size - rng.randrange(3)) + rng.choice(("", "yz", "yé")) for _ in range(rows)
        ]
        values[rows // 2] = ""
        for form in ("string", "large_string", "string_view"):
            batch = batch_of(s=plain(form, values))
            assert truths(compiled("s LIKE '%yz' OR s LIKE '%éy%'"), batch) == [
                value.endswith("yz") or "éy" in value for value in values
            ]


def test_relations_of_texts() -> None:
    """Texts of two columns are compared whole, and null where one of them is; bytes likewise."""
    pool = values_of("string")
    rng = random.Random(6)
    first = rng.choices(pool, k=3000)
    second = [text if rng.random() < 0.5 else rng.choice(pool) for text in first]
    here = [rng.random() < 0.9 for _ in first]
    want = [a == b if one else None for a, b, one in zip(first, second, here, strict=True)]
    other = [None if one is None else not one for one in want]
    for left, right in itertools.product(("string", "large_string", "string_view"), repeat=2):
        batch = batch_of(a=plain(left, first, here, 3), b=plain(right, second))
        assert truths(compiled("a = b"), batch) == want
        assert truths(compiled("a <> b"), batch) == other
    for left, right in itertools.product(("binary", "large_binary", "binary_view"), repeat=2):
        raw = [[text.encode() for text in texts] for texts in (first, second)]
        assert truths(compiled("a = b"), batch_of(a=plain(left, raw[0], here), b=plain(right, raw[1], None, 1))) == want


# ---- bits, dictionaries, structs ---------------------------------------------------------------------------------


def test_bits_at_odd_offsets() -> None:
    """Booleans and bitmaps may begin at any bit; bytes around them are not read."""
    rng = random.Random(8)
    matcher, unknown = compiled("flag = TRUE"), compiled("flag IS NULL OR NOT flag")
    for before in range(18):
        for rows in (*range(1, 20), 63, 64, 65, BLOCK, BLOCK + 9):
            values = [rng.random() < 0.5 for _ in range(rows)]
            here = [rng.random() < 0.7 for _ in range(rows)]
            batch = batch_of(flag=plain("bool_", values, here, before))
            want = batches.kept(values, here)
            assert truths(matcher, batch) == want
            assert truths(unknown, batch) == [one is not True for one in want]


@pytest.mark.parametrize("indices", INDICES)
def test_dictionaries(indices: str) -> None:
    """Words may be null, stand twice or be of no use; indices have any type, up to its last number."""
    most = 128 if indices == "int8" else 256 if indices == "uint8" else 3000
    words = [f"word {number}" for number in range(most - 2)] + [None, "word 1"]
    rng = random.Random(indices)
    numbers = [rng.randrange(most) for _ in range(2500)] + [most - 1, most - 2]
    here = [rng.random() < 0.9 for _ in numbers]
    for form in ("string", "string_view", "large_string"):
        array = pa.DictionaryArray.from_arrays(plain(indices, numbers, here, 3), pa.array(words, getattr(pa, form)()))
        held = batches.kept([words[number] for number in numbers], here)
        batch = batch_of(s=array)
        for text, says in (
            ("s = 'word 1'", lambda word: word == "word 1"),
            ("s LIKE '%9' OR s = 'word 12'", lambda word: word.endswith("9") or word == "word 12"),
            ("s NOT IN ('word 1', 'word 2', 'other')", lambda word: word not in ("word 1", "word 2")),
        ):
            assert truths(compiled(text), batch) == [None if word is None else says(word) for word in held]
        assert truths(compiled("s IS NULL"), batch) == [word is None for word in held]


@pytest.mark.parametrize("form", KINDS)
def test_dictionaries_of_all_types(form: str) -> None:
    """Not only texts are encoded so: a leaf over any type is decided once a word."""
    rng = random.Random(form)
    values = rng.choices(values_of(form)[:100], k=1500)
    here = [rng.random() < 0.8 for _ in values]
    array = batches.dictionary(form, values, here, "uint16", rng, 3)
    made = Column(KINDS[form], batches.kept(values, here), array, is_dictionary=False)
    batch = Batch(len(values), {"a": made}, struct_of({"a": array}, len(values)))
    for text in ("a IS NULL", "a = 1", "a > 0.5", "a = 'a'", "a", "a NOT LIKE '%a'", "a <> 5"):
        for mismatch in ("operation", "unknown", "selector"):
            batches.assert_same(compiled(text, type_mismatch=mismatch), batch, range(0, 1500, 100))


def test_a_dictionary_of_nulls() -> None:
    """A dictionary whose words are of the type null has no values, whatever the indices say."""
    batch = batch_of(a=pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.nulls(2)))

    assert truths(compiled("a IS NULL"), batch) == [True] * 3
    assert truths(compiled("a = 'x' OR a <> 5"), batch) == [None] * 3


def test_a_dictionary_without_words() -> None:
    """An empty dictionary will do where all rows are null."""
    for words in (pa.array([], pa.string()), pa.array([], pa.int64())):
        array = pa.DictionaryArray.from_arrays(pa.array([None] * 1100, pa.int32()), words)
        assert truths(compiled("a IS NULL"), batch_of(a=array)) == [True] * 1100


@pytest.mark.parametrize("depth", range(1, 8))
def test_fields_of_nested_structs(depth: int) -> None:
    """A property in structs that are themselves null in places, each with an offset of its own."""
    rng = random.Random(depth)
    rows = 1200
    name = ".".join(["s", *"tuvwxyz"[:depth]])
    for form in ("int32", "string", "bool_", "string_view", "null"):
        column = batches.random_column(rng, [], rows)
        values = rng.choices(values_of(form), k=rows)
        array = plain(form, values, None, 3)
        for part in reversed(name.split(".")[1:]):
            here = [rng.random() < 0.95 for _ in range(rows)]
            array = struct_of({"other": column.array, part: array}, rows, here)
            values = batches.kept(values, here)
        batch = pa.RecordBatch.from_arrays([array], ["s"])
        for text in (f"{name} IS NULL", f"{name} = 1 OR {name} = 'a' OR {name}"):
            matcher = mqsel.compile(text)
            if depth < batches.NESTED:
                assert _answers.refusal(matcher, batch) is None
            assert _answers.truths(matcher, batch) == _answers.truths(matcher, batch, by_rows=True)
        nulls = _answers.truths(mqsel.compile(f"{name} IS NULL"), batch)
        assert list(nulls) == [form == "null" or value is None for value in values]


def test_chunked_columns() -> None:
    """The columns of a table may be cut into chunks, each in its own way and some empty; dictionaries differ."""
    rng = random.Random(4)
    rows = 4000
    values = {"s": rng.choices(values_of("string"), k=rows), "n": rng.choices(values_of("int32"), k=rows)}
    here = [rng.random() < 0.9 for _ in range(rows)]
    held = batches.kept(values["s"], here)
    for form in ("string", "string_view", "dictionary"):
        chunked = {}
        for name in values:
            cuts = [0, *sorted(rng.choices(range(rows), k=5)), rows]
            parts = [slice(*pair) for pair in itertools.pairwise(cuts)]
            chunked[name] = pa.chunked_array(
                [
                    texts_of(form, values["s"][part], here[part])
                    if name == "s"
                    else plain("int32", values["n"][part], None, rng.choice((0, 5)))
                    for part in parts
                    if part.start < part.stop
                ]
            )
        matcher = compiled("s LIKE '%c%' AND n > 5 OR s = 'abcdefghij'")
        want = [
            None if text is None else ("c" in text and number > 5) or text == "abcdefghij"
            for text, number in zip(held, values["n"], strict=True)
        ]
        assert matcher.truth_batch(pa.table(chunked)).to_pylist() == want
        assert matcher.match_batch(pa.table(chunked)).to_pylist() == [one is True for one in want]


# ---- formulas ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", KINDS)
def test_a_few_rows_are_left(form: str) -> None:
    """Invariant: a test before another one that leaves few rows of a block changes no answer in the rows it leaves."""
    rng = random.Random(f"few {form}")
    pool = values_of(form)
    rows = 2 * BLOCK + 77
    values = [rng.choice(pool) for _ in range(rows)]
    here = [rng.random() < 0.9 for _ in values]
    few = [rng.random() < 0.02 for _ in values]
    batch = batch_of(k=pa.array(few), s=plain(form, values, here, 3))
    number = {"float32": "2.5", "float64": "2.5"}.get(form, "100")
    texts = ", ".join(map(quoted, rng.sample(values_of("string"), 12)))
    for text in (
        f"s = {number}",
        f"s <> {number}",
        f"s BETWEEN -1 AND {number} OR s > 46341",
        "s = TRUE",
        "s = 'abcdefgh'",
        f"s IN ({texts})",
        f"s NOT IN ({texts}) AND s NOT LIKE '%Z%'",
        "s LIKE 'ab%' OR s LIKE '%é' OR s LIKE '_b%d'",
        "s IS NULL",
    ):
        for asked in (f"k AND ({text})", f"k AND NOT ({text})", f"k AND s IS NOT NULL AND (s = 'a' OR {text})"):
            matcher = compiled(asked)
            assert matcher.match_batch(batch).to_pylist() == [one is True for one in truths(matcher, batch)], asked


def test_damage_in_rows_that_are_left() -> None:
    """Of few rows that are left a damaged text is found, in others it need not be: as when rows are read."""
    content = b"ab" * 1500
    for form in ("string", "large_string", "string_view"):
        batch = batch_of(k=pa.array([row % 100 == 7 for row in range(1500)]), s=plain(form, ["ab"] * 1500))
        buffer = batch.column(1).buffers()[1 if form == "string_view" else 2]
        width, at = (16, 4) if form == "string_view" else (2, 0)
        assert form == "string_view" or buffer.to_pybytes() == content
        for row, found in ((107, 107), (108, None)):
            ctypes.memset(buffer.address + width * row + at, 0xFF, 1)
            for ask in (compiled("k AND s = 'ab'").match_batch, compiled("k AND s LIKE '%b'").truth_batch):
                if found is None:
                    assert ask(batch).to_pylist() == [row % 100 == 7 for row in range(1500)]
                    continue
                with pytest.raises(PropertyTypeError) as caught:
                    ask(batch)
                assert caught.value.index == found
            ctypes.memset(buffer.address + width * row + at, ord("a"), 1)


def test_children_change_places() -> None:
    """What decides most at first and nothing later: the order of children changes, and no answer does."""
    rows = 20 * BLOCK + 5
    rng = random.Random(9)
    turns = [[rng.choice((0.0, 0.02, 0.5, 0.98, 1.0)) for _ in range(21)] for _ in range(4)]
    drawn = [[rng.random() < turn[row // BLOCK] for row in range(rows)] for turn in turns]
    here = [[rng.random() < 0.9 for _ in range(rows)] for _ in range(4)]
    a, b, c, d = (batches.kept(*pair) for pair in zip(drawn, here, strict=True))
    batch = batch_of(
        a=pa.array([None if one is None else int(one) for one in a], pa.int32()),
        b=pa.array([None if one is None else "yes, it is one" if one else "no" for one in b]),
        c=pa.array(c),
        d=pa.array([None if one is None else 2.5 if one else -1.0 for one in d]),
    )
    for text in (
        "a = 1 AND b LIKE '%one' AND c AND d > 0",
        "a = 1 OR b LIKE '%one' OR c OR d > 0",
        "(a = 1 OR b LIKE '%it_is%') AND (c OR d > 0) AND NOT (a = 1 AND c)",
        "(a = 1 AND b LIKE '%one') OR (c AND d > 0) OR (a = 0 AND NOT c)",
        "a + 1 > 1 AND b = 'yes, it is one' OR a / a = 1 AND c",
        "NOT (a / a = 1 OR c) OR (b IN ('no', 'x') AND (d > 0 OR a = 1 OR c))",
    ):
        for dialect in (mqsel.JMS, mqsel.IBM_MQ, mqsel.IBM_JMS):
            truths_of_four(mqsel.compile(text, dialect=dialect), batch)


def truths_of_four(matcher: Matcher, batch: Any) -> None:
    assert _answers.refusal(matcher, batch) is None
    assert _answers.truths(matcher, batch) == _answers.truths(matcher, batch, by_rows=True), matcher


def test_many_children() -> None:
    """More children than are sorted, and formulas within formulas."""
    batch = batch_of(**{f"a{number}": pa.array([row % (number + 2) for row in range(3000)]) for number in range(80)})
    some = " OR ".join(f"a{number} = {number + 1}" for number in range(80))
    every = " AND ".join(f"a{number} < {number + 1}" for number in range(80))
    deep = "a1 = 1 AND (a2 = 2 OR " * 40 + "a3 = 3" + ")" * 40
    for text in (some, every, deep, f"({some}) AND NOT ({every})", f"NOT ({deep}) AND ({some})"):
        truths_of_four(compiled(text), batch)


REFUSED = {
    "a dictionary that arithmetic reads": ("a + 1 > 2", {"a": [1, 2]}, True),
    "compared with a property": ("a = b", {"a": ["x", "y"], "b": ["x", "z"]}, True),
    "its values are not aligned": ("a > 1", {"a": [1, 2]}, False),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals(reason: str) -> None:
    """What the kernel does not take goes through the machine, and `refusal` says why."""
    text, values, is_coded = REFUSED[reason]
    arrays = {name: pa.array(each) for name, each in values.items()}
    if is_coded:
        arrays["a"] = arrays["a"].dictionary_encode()
    else:
        arrays["a"] = plain("int64", values["a"], shift=1)
    batch = batch_of(**arrays)
    found = _answers.refusal(compiled(text), batch)

    assert found is not None and reason in found
    assert _answers.truths(compiled(text), batch) == _answers.truths(compiled(text), batch, by_rows=True)


def test_what_is_too_large_for_the_kernel() -> None:
    """Sums nested deeper than there are levels are for the machine."""
    batch = batch_of(a=pa.array([1, 2, None]))
    matcher = compiled("a" + " + (a" * 80 + ")" * 80 + " > 5")
    found = _answers.refusal(matcher, batch)

    assert found == "an arithmetic expression is nested more than 64 deep"
    assert _answers.truths(matcher, batch) == _answers.truths(matcher, batch, by_rows=True)


@pytest.mark.parametrize("kind", ["string", "large_string"])
@pytest.mark.parametrize("size", range(10))
def test_one_text_of_each_length(kind: str, size: int) -> None:
    """Whatever the length of the text and the number of rows: those rows are selected whose text it is."""
    text = "abcdefghi"[:size]
    texts = [text, text + "x", "x" + text, text[:-1], None, "é" + text[1:]] * 23
    for rows in (9, 63, 64, 65, 137):
        for sign, wanted in (("=", True), ("<>", False)):
            batch = pa.RecordBatch.from_arrays([pa.array(["-", *texts], kind)[1 : 1 + rows]], ["a"])
            expected = [one is not None and (one == text) == wanted for one in texts[:rows]]
            assert expected == mqsel.compile(f"a {sign} '{text}'").match_batch(batch).to_pylist()
