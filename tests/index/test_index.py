"""The index says which formulas are true of a record: what the oracle says of each selector, however it was built."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import struct
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import oracle
import pytest
import strategies
from conftest import VECTORS_ROOT, dialects_of, json_lines, message_of
from volumes import volume

import mqsel
from mqsel.errors import ArgumentError, ProgramError
from mqsel.index._index import Index
from mqsel.index._reader import MessageReader
from mqsel.language.dialect import JMS, Dialect
from mqsel.language.nodes import Computed
from mqsel.language.selector import read_selector
from mqsel.logic import normal
from mqsel.machine._values import Record
from mqsel.names import by_casefold, folded, parted, spellings
from mqsel.sets.set import SelectorSet
from mqsel.values import Float32, Int8, Int16, Int32

# 5 presets × 12 readings × this many sets of 40 selectors against 12 messages.
SETS = volume(1, smoke=1)


def formula(text: str, dialect: Dialect = JMS) -> normal.Formula:
    return normal.normal(read_selector(text, dialect)).true


def index_of(*texts: str, dialect: Dialect = JMS) -> Index:
    made = Index()
    made.add(range(len(texts)), [formula(text, dialect) for text in texts])
    return made


WRAPPERS = {"int8": Int8, "int16": Int16, "int32": Int32, "float32": Float32}


def record_of(index: Index, properties: oracle.Properties, dialect: Dialect) -> Record:
    """Fill a record for an index from typed properties, whichever spelling they have."""
    values = {
        spellings(name, dialect.headers)[0]: WRAPPERS[kind](value) if kind in WRAPPERS else value
        for name, (kind, value) in properties.items()
    }
    return plain(index, values)


def plain(index: Index, message: dict[str, Any]) -> Record:
    """Fill a record as a reader does."""
    return Record(index.names, {name: message.get(parted(name)[0]) for name in index.names})


def found(index: Index, record: Record) -> list[int]:
    """Search in all ways, which must agree."""
    places: list[int] = index.search(record)
    assert index.scan(record) == places
    assert index.count(record) == len(places)
    return places


def drawn(rng: random.Random, name: str, selectors: int) -> tuple[list[str], list[oracle.Properties]]:
    """Draw selectors, and messages that they were written for."""
    cases = [strategies.random_case(rng, name) for _ in range(selectors)]
    return [text for text, _ in cases], [message for _, message in cases]


def wanted(nodes: Sequence[Any], message: oracle.Properties, dialect: Dialect) -> list[int]:
    return [place for place, node in enumerate(nodes) if oracle.evaluate(node, message, dialect) == "TRUE"]


@pytest.mark.sample(18)
@pytest.mark.parametrize("reading", strategies.READINGS, ids=strategies.name_of)
@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_it_says_what_the_oracle_says(name: str, reading: dict[str, str]) -> None:
    """Invariant: search = scan = the oracle of each selector, added at once, one by one, and from buffers."""
    rng = random.Random(f"{name} {reading}")
    dialect = strategies.DIALECTS[name].replace(**reading)
    for _ in range(SETS):
        texts, messages = drawn(rng, name, 40)
        selectors = [read_selector(text, dialect) for text in texts]
        formulas = [normal.normal(selector).true for selector in selectors]
        nodes = [selector.node for selector in selectors]
        # Thrice each, so that a set is more than a tail; the copies are shared.
        whole = Index()
        whole.add(range(120), formulas * 3)
        slowly = Index()
        for place, one in enumerate(formulas * 3):
            slowly.add([place], [one])
        opened = Index.from_buffers([bytes(part) for part in slowly.to_buffers()])
        for message in rng.sample(messages, 12):
            right = wanted(nodes, message, dialect)
            right += [place + 40 * turn for turn in (1, 2) for place in right]
            for index in (whole, slowly, opened):
                assert found(index, record_of(index, message, dialect)) == right, (texts, message)


@pytest.mark.parametrize("path", sorted(VECTORS_ROOT.glob("*.jsonl")), ids=lambda path: path.stem)
def test_vectors(path: Path) -> None:
    """Every vector with a truth value is found in a set of all of its dialect just where that is TRUE."""
    cases: dict[Dialect, list[dict[str, Any]]] = {}
    for vector in json_lines(path):
        for _, dialect in dialects_of(vector["dialect"]) if "want" in vector else ():
            # A test that is computed is an attribute, which the reader of messages fills.
            order = read_selector(vector["selector"], dialect).of_core().order
            if Computed not in map(type, order):
                cases.setdefault(dialect, []).append(vector)
    for dialect, vectors in cases.items():
        index = index_of(*[vector["selector"] for vector in vectors], dialect=dialect)
        for place, vector in enumerate(vectors):
            message = message_of(vector["properties"])
            values = {spellings(name, dialect.headers)[0]: value for name, value in message.items()}
            if dialect.headers == "folded":
                values = folded(message.items(), by_casefold(index.names))
            assert (place in found(index, plain(index, values))) == (vector["want"] == "TRUE"), vector["id"]


# Numbers around which the lanes part: neighbours of 2**24, 2**53 and 2**63, the least and the greatest of each lane.
NUMBERS: list[int | float] = [
    0, -0.0, 1, -1, 5, 40.1, 0.1, 2**24, 2**24 + 1, 2**24 - 1, 2**53, 2**53 + 1, 2**53 - 1, 2**52, 2**52 + 1,
    2**63 - 1, -(2**63), 1e308, -1e308, 5e-324, -5e-324, 1.5, 2**31 - 1, -(2**31), 1e300, 123456789.5, 1700000000000,
]  # fmt: skip
VALUES = [
    *NUMBERS, *(Float32(number) for number in NUMBERS if abs(number) < 3e38), Float32(0.1), float("nan"),
    Float32(float("nan")), float("inf"), float("-inf"), Int8(5), Int16(-1), Int32(1), None, True, False, "", "a", "1",
    b"a", "naïve", "日本語", "𝄞𝄞",
]  # fmt: skip


def test_numbers_where_lanes_part() -> None:
    """Invariant: every comparison of a property with each number finds each value as the oracle does."""
    signs = ("=", "<>", "<", "<=", ">", ">=")
    texts = [f"a {sign} {written(number)}" for number in NUMBERS for sign in signs]
    texts += [
        f"a {way} {written(low)} AND {written(min(low + 7, 2**63 - 1))}"
        for low in NUMBERS
        for way in ("BETWEEN", "NOT BETWEEN")
    ]
    texts += [f"NOT (a {sign} {written(number)}) AND b = 1" for number in NUMBERS for sign in signs]
    check_values(texts, "a", VALUES)


def test_arithmetic_of_one_property_is_a_range() -> None:
    """Invariant: what is known of arithmetic by the code of its property is what the oracle computes, of each type."""
    rng = random.Random("arithmetic")
    forms = [
        "a * 2 + 1", "a - 7", "7 - a", "-a", "3 * a - 5", "a / 4", "a / -3", "a / 2.5", "a * 0.1", "-a * 3 + 1",
        "100 / a", "a * 1000000007 * 1000000007", "a * 0", "a * 0.0 + 1", "a * 1e300 * 1e300", "a + 1e16", "a + a",
        "a * 4611686018427387905", "2 * 3 * a", "2 + (3 - a)", "a - 9223372036854775807", "+a * 0.3", "a * 1e-320",
    ]  # fmt: skip
    numbers = [-32769, -5, 0, 1, 5, 10, 4.5, 0.1, 32767, 1e9]
    texts = [f"{form} {sign} {number}" for form in forms for sign in ("=", "<", ">=") for number in numbers]
    texts += [f"{form} BETWEEN 3 AND 50" for form in forms] + [f"NOT ({form} > 5)" for form in forms]
    texts += [f"({form} < 9 OR b = 1) AND {form} <> 5" for form in forms]
    wholes = [-16384, -16383, 16383, 16384, *range(-20, 55, 5), *rng.sample(range(-17000, 17000), 10)]
    values: list[Any] = [*VALUES]
    for whole in wholes:
        beside = [math.nextafter(whole, math.inf), math.nextafter(whole, -math.inf), whole + rng.random()]
        values += [whole, Int32(whole), *beside, *map(Float32, (whole, *beside))]
    check_values(rng.sample(texts, min(100 * SETS, len(texts))), "a", rng.sample(values, min(100 * SETS, len(values))))


def written(number: float) -> str:
    if isinstance(number, int):
        return str(number) if number > -(2**63) else "(-9223372036854775807 - 1)"
    return repr(number)


def check_values(texts: list[str], name: str, values: Sequence[Any]) -> None:
    """Hold sets of all *texts*, laid out and as a tail, against the oracle for each value of a property."""
    for mismatch in ("operation", "unknown"):
        dialect = JMS.replace(type_mismatch=mismatch)
        nodes = [read_selector(text, dialect).node for text in texts]
        whole = index_of(*texts, dialect=dialect)
        opened = Index.from_buffers(whole.to_buffers())
        for value in values:
            for other in (1, None):
                message = {name: (kind_of(value), value), "b": (kind_of(other), other)}
                right = wanted(nodes, message, dialect)
                assert found(whole, plain(whole, {name: value, "b": other})) == right, value
                assert found(opened, plain(opened, {name: value, "b": other})) == right, value


def kind_of(value: Any) -> str:
    kinds = {int: "int64", float: "float64", bool: "boolean", str: "string", bytes: "bytes", type(None): "null"}
    return kinds.get(type(value)) or type(value).__name__.lower()


def test_patterns_of_all_shapes() -> None:
    """Invariant: LIKE, NOT LIKE and IN find each text, of any width of characters, as the oracle does."""
    shapes = [
        "abc", "abc%", "%abc", "%abc%", "a%c", "a_c", "_bc%", "%ab_", "%b%", "%", "_", "", "%abcdef%", "%a%b%c%",
        "日本%", "%語", "%本%", "%naïve%", "x" * 30 + "%", "%" + "y" * 30, "%" + "z" * 40 + "%", "%cdefg%b_d%", "𝄞%",
    ]  # fmt: skip
    texts = [
        f"a {way} '{shape}' {rest}" for shape in shapes for way in ("LIKE", "NOT LIKE") for rest in ("", "AND b = 1")
    ]
    texts += ["a IN ('abc', 'abcd', '日本語')", "a NOT IN ('abc', '')", "a = 'abc' OR a LIKE 'ab%' OR a LIKE '%c'"]
    values = [
        "", "a", "ab", "abc", "abcd", "xabc", "xabcx", "aXc", "abcdefgh", "abcdefgbcd", "日本語", "日本", "本", "naïve",
        "xnaïvex",
        "x" * 29, "x" * 30, "x" * 31 + "日", "y" * 30, "日" + "y" * 30, "z" * 40, "𝄞", "𝄞𝄞", "abc𝄞", "𝄞abc", 5,
        None, True, b"abc",
    ]  # fmt: skip
    check_values(texts, "a", values)


def test_affixes_whose_hashes_are_alike() -> None:
    """Invariant: of 6,000 texts of one length each is found by its own prefix, suffix or part, and by no other."""
    numbers = range(2000)
    texts = [f"a LIKE '{shape.format(number)}'" for number in numbers for shape in ("{:04}%", "%{:04}", "%{:04}%")]
    index = index_of(*texts)
    assert index.stats()["reached"] | {"prefix": 2000, "suffix": 2000, "contains": 2000} == index.stats()["reached"]
    for number in numbers:
        assert found(index, plain(index, {"a": f"{number:04}."})) == [3 * number, 3 * number + 2]
        assert found(index, plain(index, {"a": f"𝄞{number:04}"})) == [3 * number + 1, 3 * number + 2]


def test_a_bucket_proves_only_what_is_so() -> None:
    """Invariant: a search finds what a scan does, where a key and the bucket of one other property decide a clause."""
    rng = random.Random(45)
    tests = [f"x {sign} {number}" for sign in ("<", "<=", ">", ">=") for number in (-3.1, 0, 7, 19.4, 250, 1e6)]
    tests += [f"x BETWEEN {low} AND {low + 9.5}" for low in (-1, 3.3, 19, 240)]
    tests += [f"x = '{letter}'" for letter in "abcde"] + ["x = TRUE", "x = FALSE", "x IS NULL", "x IS NOT NULL"]
    values = [None, True, False, "a", "b", "e", "z", b"a", float("nan"), float("inf"), float("-inf"), 0, -0.0, 2**62]
    values += [number + by for number in (-3.1, 7, 19.4, 28.5, 250, 1e6) for by in (-1, -1e-9, 0, 1e-9, 1)]
    for _ in range(12):
        # Of properties that are compared with numbers alone, texts alone, truth values alone, and with any.
        chosen = rng.choice([tests[:28], tests[28:33], tests[33:], [*tests, "x = 7"]])
        wanted = [rng.choice([*chosen, "x IS NOT NULL"]) for _ in range(200)]
        keys = [rng.choice(("k = 'one'", "k BETWEEN 1 AND 5", "k IN ('one', 'two')")) for _ in wanted]
        index = index_of(*[f"{key} AND {test}" for key, test in zip(keys, wanted, strict=True)])
        assert index.stats()["postings"]
        for key, value in itertools.product(("one", "two", 3, None), values):
            message = {"k": key, "x": value}
            record = plain(index, {name: one for name, one in message.items() if one is not None})
            assert index.search(record) == index.scan(record), (chosen, message)


def test_what_was_removed_is_not_found() -> None:
    """Invariant: after any adds, removes, renumberings and merges search gives what a dict of formulas holds."""
    rng = random.Random(15)
    texts = [
        f"{name} {test} AND c <> {number}"
        for name in "ab"
        for test in ("= 'x'", "= 'y'", "LIKE 'x%'", "IS NULL", "IS NOT NULL", "> 3", "BETWEEN 2 AND 4")
        for number in range(6)
    ]
    formulas = [formula(text) for text in texts] + [normal.ALWAYS, normal.NEVER]
    index = Index()
    held: dict[int, int] = {}
    alone = []
    for one in formulas:
        single = Index()
        single.add([0], [one])
        alone.append(single)
    values = [None, "x", "y", "xx", 3, 4.5, True]
    for turn in range(400):
        free = [place for place in range(600) if place not in held]
        if rng.random() < 0.6 and free:
            places = rng.sample(free, min(len(free), rng.choice((1, 1, 1, 5, 70, 100))))
            chosen = [rng.randrange(len(formulas)) for _ in places]
            index.add(places, [formulas[one] for one in chosen])
            held.update(zip(places, chosen, strict=True))
        elif held:
            for place in rng.sample(sorted(held), min(len(held), rng.choice((1, 3, 60)))):
                index.remove(place)
                del held[place]
        if turn % 50 == 49:
            order = {place: rank for rank, place in enumerate(sorted(held))}
            index.renumber([order.get(place, 0) for place in range(600)])
            held = {order[place]: one for place, one in held.items()}
        if turn % 40 == 39:
            index = Index.from_buffers([bytes(part) for part in index.to_buffers()])
        assert len(index) == len(held)
        message = {"a": rng.choice(values), "b": rng.choice(values), "c": rng.choice((None, 1, 7))}
        true = [bool(one.search(plain(one, message))) for one in alone]
        assert found(index, plain(index, message)) == [place for place in sorted(held) if true[held[place]]]


def test_large_merges_do_not_stop_writers() -> None:
    """What is added and removed while a thread joins segments is found, and no more, before and after."""
    formulas = [formula(f"a = {number} AND b = 1") for number in range(5000)]
    index = Index()
    index.add(range(5000), formulas)
    index.add(range(5000, 10_000), formulas)
    removed = [3, 5003, 4999]
    for place in removed:
        index.remove(place)
    index.add([3], [formula("a = 4")])
    for _ in range(2):
        for number, right in ((3, []), (4, [3, 4, 5004]), (4999, [9999]), (17, [17, 5017])):
            assert found(index, plain(index, {"a": number, "b": 1})) == right
        index.wait()
    assert index.stats()["segments"] == 1


def test_a_search_can_be_restricted() -> None:
    """Places whose bit is 0, or beyond the bits, are left out."""
    index = index_of(*["a = 1"] * 100)
    record = plain(index, {"a": 1})
    within = bytearray(13)
    for place in (0, 7, 63, 99):
        within[place >> 3] |= 1 << (place & 7)

    assert index.search(record, bytes(within)) == [0, 7, 63, 99]
    assert index.search(record, bytes(within[:8])) == [0, 7, 63]
    assert index.search(record, b"") == []


def test_all_or_none_is_added() -> None:
    """A formula that is refused leaves the set as it was, in the tail as in a layout."""
    for count in (3, 100):
        index = index_of("a = 1", "b = 2")
        with pytest.raises(ArgumentError, match="expected a formula"):
            index.add(range(2, 2 + count), [*[formula("a = 1")] * (count - 1), "a = 1"])  # type: ignore[list-item]
        assert len(index) == 2
        assert found(index, plain(index, {"a": 1})) == [0]
        index.add(range(2, 2 + count), [formula("a = 1")] * count)
        assert found(index, plain(index, {"a": 1})) == [0, *range(2, 2 + count)]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda index: index.add([0], [normal.ALWAYS]), "place 0 has a formula"),
        (lambda index: index.add([9, 9], [normal.ALWAYS] * 2), "named twice"),
        (lambda index: index.add([-1], [normal.ALWAYS]), "-1 is no place"),
        (lambda index: index.add([1 << 32], [normal.ALWAYS]), "is no place"),
        (lambda index: index.add([5], []), "1 places and 0 formulas"),
        (lambda index: index.remove(1), "place 1 has no formula"),
        (lambda index: index.renumber([4]), "cannot become 4"),
    ],
)
def test_bad_arguments(call: Callable[[Index], object], words: str) -> None:
    """A place or key that is none is one clear error."""
    with pytest.raises(ArgumentError, match=words):
        call(index_of("a = 1"))


def test_too_few_keys() -> None:
    """An index that finds a place without a key, as one of a damaged file may, says so."""
    reader = MessageReader()
    reader.begin(index_of("a = 1"), None, [], None, None, {}, {})
    with pytest.raises(ProgramError, match="without a key"):
        reader.match({"a": 1})


def test_properties_of_which_most_are_missing() -> None:
    """Whichever of many properties a message has, as a dict or as a Record, those of its selectors are found."""
    rng = random.Random(32)
    names = [f"p{number}" for number in range(61)]
    selectors = SelectorSet({number: f"{name} >= {number}" for number, name in enumerate(names)}, dialect=JMS)
    for _ in range(200):
        chosen = rng.sample(range(61), rng.choice((0, 1, 2, 30, 61)))
        message = {names[number]: number - rng.randrange(2) for number in chosen}
        expected = [number for number in sorted(chosen) if message[names[number]] == number]
        assert expected == selectors.match(message) == selectors.match(Record(names, message))


def test_deep_and_shared_formulas() -> None:
    """Ladders of OR in a dialect with ERR, and conditions compared with conditions, which share parts."""
    dialect = JMS.replace(type_mismatch="selector")
    ladder = " OR ".join(f"a = {number} AND b = {number}" for number in range(1100))
    shared = "a = 1"
    for number in range(14):
        shared = f"({shared}) = (b > {number} OR c = {number})"
    for text, names in ((ladder, "ab"), (shared, "abc")):
        one = read_selector(text, dialect)
        index = Index()
        index.add(range(70), [normal.normal(one).true] * 70)
        for values in itertools.product((None, 0, 1099, "x"), repeat=len(names)):
            message = dict(zip(names, values, strict=True))
            typed = {name: (kind_of(value), value) for name, value in message.items()}
            right = list(range(70)) if oracle.evaluate(one.node, typed, dialect) == "TRUE" else []
            assert found(index, plain(index, message)) == right


# ---- buffers ---------------------------------------------------------------------------------------------------------


def some_index() -> Index:
    index = index_of(
        *(f"a = '{number}' AND b > {number}" for number in range(40)),
        *(f"a LIKE '{number}%' OR c LIKE '%abcd{number}%'" for number in range(20)),
        *(f"b BETWEEN {number} AND {number + 5.5} AND a IN ('x', 'y')" for number in range(20)),
        "b + c > 4", "a IS NULL", "NOT (a = 'x')", "c = a", "TRUE", "b = c AND a = 'z'",
    )  # fmt: skip
    for place in (3, 50):
        index.remove(place)
    return index


MESSAGES: list[dict[str, Any]] = [
    {"a": a, "b": b, "c": c} for a in (None, "x", "7", 3) for b in (None, 5, 7.5) for c in (None, "xabcd3x", 2, "7")
]


def test_buffers_give_the_same_index() -> None:
    """What buffers hold, mapped or copied, answers as what wrote them."""
    index = some_index()
    for parts in (index.to_buffers(), [memoryview(bytes(part)) for part in index.to_buffers()]):
        opened = Index.from_buffers(parts)
        assert (opened.names, len(opened)) == (index.names, len(index))
        for message in MESSAGES:
            assert found(opened, plain(opened, message)) == found(index, plain(index, message))


def test_arithmetic_that_is_a_string_is_damaged() -> None:
    """Arithmetic of one property and nothing else, which no index writes, is refused where it meets a string."""
    head, alive, segment, dead = [bytearray(part) for part in index_of(*["a + a > 4"] * 65).to_buffers()]
    (pool,) = struct.unpack_from("<Q", segment, 24 + 8 * 4)
    words, *_, actions = struct.unpack_from("<IHHIII", segment, pool)
    assert actions == 3
    struct.pack_into("<I", segment, pool, words - 4)
    struct.pack_into("<I", segment, pool + 16, 1)
    index = Index.from_buffers([head, alive, segment, dead])
    with pytest.raises(ProgramError, match="points to nothing"):
        index.search(plain(index, {"a": "text"}))


def test_damaged_buffers_raise_or_answer() -> None:
    """Invariant: whatever is damaged, opening and searching give a list or raise ProgramError."""
    rng = random.Random(7)
    parts = [bytes(part) for part in some_index().to_buffers()]
    records: dict[tuple[str, ...], list[Record]] = {}
    refused = 0
    for _ in range(volume(1500, smoke=150)):
        broken = [bytearray(part) for part in parts]
        which = rng.choice((0, 1, 2, 2, 2, 2, 2, 2, 3))
        part = broken[which]
        for _ in range(rng.choice((1, 1, 2, 8))):
            if not part:
                break
            at = rng.randrange(len(part))
            way = rng.random()
            if way < 0.4:
                part[at] ^= 1 << rng.randrange(8)
            elif way < 0.9:
                wide = part[at & ~3 : (at & ~3) + 4]
                word = rng.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, rng.getrandbits(32), rng.randrange(500)))
                part[at & ~3 : (at & ~3) + 4] = struct.pack("<I", word)[: len(wide)]
            else:
                del part[at:]
        if which == 2 and len(part) > 340 and rng.random() < 0.9:
            _seal(part)
        try:
            index = Index.from_buffers([bytes(one) for one in broken])
        except ProgramError as error:
            assert "\n" not in error.message
            refused += 1
            continue
        if index.names not in records:
            records[index.names] = [plain(index, message) for message in MESSAGES]
        for record in records[index.names]:
            for search in (index.search, index.scan):
                try:
                    assert all(place < 200 for place in search(record))
                except ProgramError:
                    refused += 1
        with contextlib.suppress(ProgramError):
            index.add(range(200, 300), [normal.ALWAYS] * 100)
            index.stats()

    assert refused > 100


def _seal(part: bytearray) -> None:
    """Let the checksum of a header be right again, as an attacker would."""
    header = len(_set_header(bytes(part)))
    part[header - 4 : header] = struct.pack("<I", _header_check(bytes(part[: header - 4])))


def _set_header(part: bytes) -> bytes:
    """Return the header: magic, version, order, size, 17 starts and counts, selectors, always, limit, check."""
    return part[: 8 + 4 + 4 + 8 + 17 * 16 + 8 + 8 + 4 + 4]


def _header_check(data: bytes) -> int:
    """Write the hash of a segment's header a second time."""
    factor, mask = 0x9E3779B97F4A7C15, (1 << 64) - 1
    made = len(data) * 8 * factor & mask
    while len(data) >= 8:
        made = (made ^ int.from_bytes(data[:8], "little")) * factor & mask
        made ^= made >> 29
        data = data[8:]
    word = 0
    if len(data) >= 4:
        word, data = int.from_bytes(data[:4], "little"), data[4:]
    for byte in data:
        word = word << 8 | byte
    return ((made ^ word) * factor & mask) >> 32


def test_the_seal_is_the_segments_own() -> None:
    """The test above changes more than checksums: an unchanged segment keeps its own."""
    part = bytearray(some_index().to_buffers()[2])
    before = bytes(part)
    _seal(part)

    assert bytes(part) == before


def test_it_tells_how_it_is_reached() -> None:
    """The figures count what the selectors of the set ask for."""
    stats = some_index().stats()

    assert stats["selectors"] == 84
    assert stats["reached"]["point"] >= 40
    assert stats["reached"]["prefix"] == 20
    assert stats["reached"]["contains"] == 20
    assert stats["reached"]["always"] == 1
    assert stats["reached"]["null"] == 1
    assert stats["longest"][0][1] >= 1
    assert stats["bytes"]["all"] > 1000


def test_threads_search_while_one_writes() -> None:
    """Invariant: what stays in the set is found by every search, however the segments change meanwhile."""
    formulas = [formula(f"a = 1 AND b < {number % 50}") for number in range(6000)]
    index = Index()
    index.add(range(3000), formulas[:3000])
    record = plain(index, {"a": 1, "b": 0})
    stays = [place for place in range(3000) if place % 50]
    wrong: list[int] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            places = index.search(record)
            wrong.extend(set(stays) - set(places))

    readers = [threading.Thread(target=search) for _ in range(2)]
    for reader in readers:
        reader.start()
    for start in range(3000, 6000, 100):
        index.add(range(start, start + 90), formulas[start : start + 90])
        for place in range(start + 90, start + 100):
            index.add([place], [formulas[place]])
        for place in range(start, start + 100, 3):
            index.remove(place)
    done.set()
    for reader in readers:
        reader.join()
    index.wait()

    assert wrong == []
    assert found(index, record) == sorted(stays + [p for p in range(3000, 6000) if p % 50 and (p - p // 100 * 100) % 3])


def test_strings_of_more_than_16_bits() -> None:
    """Invariant: the last of 66,000 strings of a segment, alone and in lists, select as selectors by themselves do."""
    forms = (
        "a = '{}'",
        "a <> '{}' AND b = 1",
        "a IN ('{}', 'x')",
        "a IN ('s1', '{}', 'x')",
        "a NOT IN ('{}', 's2') AND b = 2",
    )
    tests = [form.format(text) for form in forms for text in ("s0", "s65999", "s65000")]
    lists = [", ".join(f"'s{number}'" for number in range(start, start + 40)) for start in range(0, 66000, 40)]
    index = index_of(*(f"a IN ({texts})" for texts in lists), *tests)
    for opened in (index, Index.from_buffers(index.to_buffers())):
        for a, b in itertools.product(("s0", "s65999", "s65000", "s1", "x", "y", 5, None), (1, 2)):
            selected = [place for place in found(opened, plain(opened, {"a": a, "b": b})) if place >= len(lists)]
            loop = [mqsel.compile(test, dialect=JMS).matches({"a": a, "b": b}) for test in tests]
            assert selected == [len(lists) + at for at, truth in enumerate(loop) if truth]
