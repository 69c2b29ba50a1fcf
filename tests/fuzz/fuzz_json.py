"""Invariant: any bytes in a line are read as Python's json reads them: same values, same verdict, same place of error.

    python tests/fuzz/fuzz_json.py --seconds 60 [--seed 1]

And: blocks of lines, cut anywhere between them, give the lines, complaints and counts that each line gives by itself.
Records of connectors are read as `RecordReader` reads them. Lines are objects written in all ways JSON allows, with
numbers at the edges of types, escapes, surrogates, characters of all lengths, values that name their type, names twice;
most of them alike, some with bytes cut, added and replaced.
"""

from __future__ import annotations

import io
import json
import math
import random
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzzing import begun

import mqsel
from mqsel.errors import PropertyTypeError
from mqsel.files import framings
from mqsel.files.run.work import REPORTED, Ask, Complaint, Match, Tally, in_json_words
from mqsel.formats import records
from mqsel.formats._json import JSONDecoder
from mqsel.formats._records import RecordDecoder
from mqsel.formats.jsonl import message_from_json, object_from_json
from mqsel.names import look_up, spellings
from mqsel.values import TYPES

LONG = "a_name_that_is_longer_than_sixteen_bytes"
NAMES = ("p", "color", "usr.q", "Root.MQMD.MsgId", "größe", LONG, "structures")
KEYS = (*NAMES, "q", "usr.p", "x", "", "p ", "colo", "colour", "other", LONG[:-1] + "z", "日本")
NUMBERS = """
0 -0 1 -1 5 127 128 -128 -129 32768 2147483647 2147483648 9007199254740993 999999999999999999 1000000000000000000
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 123456789012345678901234567890
0.0 -0.0 0.1 1.5 1e5 1E+2 1e-2 1e22 1e23 9007199254740993.0 9007199254740992e22 4.9e-324 2e-324 1.7976931348623157e308
1.8e308 -1e999 1e-999 0.000000000000000000000000000001 3.4028235677973366e38 16777217.0 1.00000017881393432617187499
123456789012345678.5e-5 0e5 NaN Infinity -Infinity 00 01 1. .5 +1 1e 1e+ - -- 0x1 1_0 nan inf
""".split()
NUMBERS += ["9" * 599, "9" * 600, "0." + "1" * 700, "9" * 5000, "1e" + "0" * 700 + "1"]
TEXTS = [
    *" a car blue é 日本語 😀 0a1B 0a1 0g true".split(" "),
    "0a 1b",
    '"',
    "\\",
    "/",
    "\b\f\n\r\t",
    "\x7f",
    "\u07ff\u0800",
]
TEXTS += ["x" * 15, "x" * 16, "x" * 17, "x" * 100, "a" * 14 + "é", "\ud7ff\ue000\ufffd\uffff\U00010000\U0010ffff"]
WRITTEN = r"\u0061 \u00e9 \ud83d\ude00 \ud83d \ude00 \ud83dx \ud83d\u0061 \/ \" \\ \x \u12 \u12G4 \U0061 \ ".split(" ")
WRITTEN += [r"\u0000", r"\uD83D\uDE00", r"\u0070"]
RAW = [*map(bytes.fromhex, "00 1f 09 80 c0af c2 e09fbf eda080 f4908080 f5 ff 0b a0 efbbbf 0d 20".split())]
RAW += [b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"1", b"\\"]
SELECTORS = """
p = 5 OR color = 'blue'
q > 1.5 AND größe IS NOT NULL
color LIKE '%a%' OR p + 1 > 2
p IS NULL
""".splitlines()


def some_blanks(rng: random.Random) -> str:
    return rng.choice(("", "", "", " ", "  ", "\t", "\r ")) if rng.random() < 0.2 else ""


def some_string(rng: random.Random) -> str:
    text = rng.choice(TEXTS)
    if rng.random() < 0.1:
        return '"' + rng.choice(TEXTS[:16]) + rng.choice(WRITTEN) + rng.choice(TEXTS[:16]) + '"'
    return json.dumps(text, ensure_ascii=rng.random() < 0.3)


def some_key(rng: random.Random) -> str:
    key = rng.choice(NAMES[:-1] if rng.random() < 0.5 else KEYS)
    if rng.random() < 0.03:
        return '"' + "".join(f"\\u{ord(one):04x}" for one in key) + '"'
    return json.dumps(key, ensure_ascii=rng.random() < 0.3)


def some_value(rng: random.Random, depth: int = 0) -> str:
    kind = rng.randrange(12)
    if kind < 4:
        return some_string(rng)
    if kind < 7:
        return rng.choice(NUMBERS[:36] if rng.random() < 0.9 else NUMBERS)
    if kind == 7:
        return rng.choice(("true", "false", "null", "tru", "nul", "None", "True"[: rng.randrange(5)]))
    if kind == 8 or depth > 3:
        value = rng.choice((rng.choice(NUMBERS), some_string(rng), "true", "null"))
        return some_object(rng, [(f'"{rng.choice(TYPES).name}"', value)])
    if kind == 9:
        return "[" * rng.choice((1, 1, 2, 63, 64, 65, 1100)) if rng.random() < 0.01 else some_array(rng, depth)
    return some_object(rng, [(some_key(rng), some_value(rng, depth + 1)) for _ in range(rng.randrange(4))])


def some_array(rng: random.Random, depth: int) -> str:
    inner = f",{some_blanks(rng)}".join(some_value(rng, depth + 1) for _ in range(rng.randrange(4)))
    around = rng.choice((1, 1, 1, 62, 63, 64, 65)) if rng.random() < 0.05 else 1
    return "[" * around + some_blanks(rng) + inner + some_blanks(rng) + "]" * around


def some_object(rng: random.Random, members: list[tuple[str, str]]) -> str:
    gap = [some_blanks(rng) for _ in range(6)]
    inner = f"{gap[1]},{gap[2]}".join(f"{key}{gap[3]}:{gap[4]}{value}" for key, value in members)
    return f"{{{gap[0]}{inner}{gap[5]}}}"


def some_lines(rng: random.Random) -> list[bytes]:
    """Return lines that have most of their keys in common."""
    keys = [some_key(rng) for _ in range(rng.randrange(8))]
    made = []
    for _ in range(rng.randrange(1, 40)):
        if rng.random() < 0.1:
            keys = [some_key(rng) for _ in range(rng.randrange(90 if rng.random() < 0.1 else 8))]
        own = [key for key in keys if rng.random() < 0.9] + [some_key(rng)] * (rng.random() < 0.1)
        line = some_object(rng, [(key, some_value(rng)) for key in own]).encode(errors="surrogatepass")
        for _ in range(rng.choice((0, 0, 0, 0, 1, 1, 2))):
            at, to = sorted((rng.randrange(len(line) + 1), rng.randrange(len(line) + 1)))
            stranger = rng.choice(RAW)
            cut = line[:at] + line[to:] if to - at < 9 else line[:at]
            odd = rng.choice((b"", b" \t", b"\x0c", b"5", b"[]", b'"a"'))
            line = rng.choice((line[:at] + stranger + line[at:], line[:at] + stranger + line[at + 1 :], cut, odd))
        made.append(line)
    return made


def same(value: Any) -> Any:
    """Return what can be compared: NaN is itself, and -0.0 is not 0.0."""
    is_number = isinstance(value, float) and not math.isnan(value)
    return type(value), struct.pack("d", value) if is_number else str(value)


def check_line(decoder: JSONDecoder, line: bytes, names: tuple[str, ...]) -> bool:
    """Read a line in both ways. Returns whether it was read into the record."""
    spelled = {one for name in names for one in spellings(name)}
    try:
        expected: Any = message_from_json(line, spelled)
    except PropertyTypeError as error:
        expected = error
    try:
        found: Any = decoder(line)
    except PropertyTypeError as error:
        assert isinstance(expected, PropertyTypeError), line
        assert str(error) == str(expected), line
        return False
    assert not isinstance(expected, PropertyTypeError), line
    if found is not decoder.record:
        assert repr(found) == repr(expected), line
        return False
    for name in names:
        assert same(found[name]) == same(expected.get(name)), (line, name, found[name])
        assert not any(one != name and one in expected for one in spellings(name)), line
    return True


# ---- records -----------------------------------------------------------------------------------------------------

WORDS = "boolean byte short integer long float double string bytes null-value int number".split()
OWN = ("p", "color", "q", "x")
# For each kind of type what often fits it, in JSON.
FITS = {
    "boolean": ("true", "false", '"true"', '"false"', '"TRUE"', "1"),
    "exact": ("1", "0", "7", "-5", "127", "128", '"1"', '"2"', '"-0"', '"007"', "5.0"),
    "approximate": ("0.5", "1", "-0", '"0.1"', '"-0"', '"1e3"', "16777217", '".5"', "NaN"),
    "string": ('"x"', '"blue"', '""', '"null"', '"gr\\u00fcn"', '"日本"', "5"),
    "bytes": ('"0a1B"', '"ID:0a"', '"AA=="', '"x"'),
    "null": ("null", '"x"'),
}
KINDS = {row.name: row.kind for row in TYPES}


def _some_leaf(rng: random.Random, type_name: str | None = None) -> str:
    kind = rng.randrange(40)
    if kind == 0:
        return some_object(rng, [(json.dumps(rng.choice(("string", "int", "a.b", "x"))), some_value(rng, 3))])
    if kind < 3:
        return rng.choice((some_value(rng, 2), rng.choice(NUMBERS), some_string(rng)))
    if kind < 5:
        return "null"
    return rng.choice(FITS[KINDS[type_name or rng.choice([*KINDS])]][: None if kind < 9 else 3])


def _some_tagged(rng: random.Random, members: records.Members) -> str:
    assert members.tag is not None
    word = rng.choice([*members.tags])
    type_name, place = members.tags[word]
    found = [(json.dumps(members.tag), json.dumps(word if rng.random() < 0.95 else rng.choice(WORDS)))]
    found += [(json.dumps(one), "null") for one in members.tags if rng.random() < 0.2 and one != place]
    found += [(json.dumps(place), _some_leaf(rng, type_name))] if place is not None and rng.random() < 0.97 else []
    rng.shuffle(found)
    return some_object(rng, found) if rng.random() < 0.97 else _some_leaf(rng)


def _some_properties(rng: random.Random, members: records.Members) -> list[tuple[str, str]]:
    found = []
    for name in rng.sample(OWN, rng.randrange(4)):
        found.append((json.dumps(name), _some_leaf(rng) if members.tag is None else _some_tagged(rng, members)))
        if members.type_suffix is not None and rng.random() < 0.6:
            word = json.dumps(rng.choice(WORDS)) if rng.random() < 0.95 else _some_leaf(rng)
            found.append((json.dumps(name + members.type_suffix), word))
    found += [(rng.choice(('"map"', '"p"')), _some_leaf(rng))] * (rng.random() < 0.05)
    return found


def some_record(rng: random.Random, schema: records.RecordSchema) -> bytes:
    """Write a record of a schema, or what is nearly one."""
    inside: dict[tuple[str, ...], list[tuple[str, str]]] = {(): [], schema.members.path: []}
    for header in rng.sample(schema.headers, min(len(schema.headers), rng.randrange(6))):
        inside.setdefault(header.path[:-1], []).append((json.dumps(header.path[-1]), _some_leaf(rng, header.type)))
    inside[schema.members.path] += _some_properties(rng, schema.members)
    for path, members in inside.items():
        rng.shuffle(members)
        if path:
            written = some_object(rng, members + [('"other"', "1")] * rng.randrange(2))
            if path == schema.members.path and schema.members.is_pairs and rng.random() < 0.5:
                keys = ('"key"', '"value"') if rng.random() < 0.95 else ('"key"', '"other"')
                written = "[" + ",".join(some_object(rng, [*zip(keys, pair, strict=True)]) for pair in members) + "]"
            elif rng.random() < 0.05:
                written = rng.choice(("null", "[]", "5", f'{{"a.b":{written}}}', f'{{"map":{written}}}'))
            inside[()] += [(json.dumps(path[0]), written)] * rng.choice((0, *[1] * 30, 2))
    rng.shuffle(inside[()])
    record = some_object(rng, inside[()])
    if rng.random() < 0.2:
        outer = [('"schema"', rng.choice(("null", "{}"))), ('"payload"', record), ('"x"', "1"), ('"schema"', "1")]
        outer = outer[: rng.choice((1, 2, 2, 2, 2, 2, 3, 4))]
        rng.shuffle(outer)
        record = some_object(rng, outer)
    line = record.encode(errors="surrogatepass")
    at = rng.randrange(len(line) + 1)
    return line if rng.random() < 0.9 else line[:at] + rng.choice(RAW) + line[at + rng.randrange(2) :]


def check_record(rng: random.Random) -> bool:
    """Read a record in both ways. Returns whether it was read into the record of a matcher."""
    schema = rng.choice([*records.SCHEMAS.values()])
    known = [*OWN, "usr.q", "map", "p.type", "jms_type", "p_jsmtype", *[header.name for header in schema.headers]]
    names = tuple(dict.fromkeys(rng.choice(known[: rng.choice((5, None))]) for _ in range(rng.randrange(1, 6))))
    types = {rng.choice(known): rng.choice([*KINDS]) for _ in range(rng.choice((0, 0, 1, 2)))}
    slow = records.reader(schema, names, types)
    line = some_record(rng, schema)
    made = RecordDecoder(names, records.reader(schema, names, types))
    try:
        expected: Any = slow(object_from_json(line))
    except PropertyTypeError as error:
        expected = error
    try:
        found: Any = made(line)
    except PropertyTypeError as error:
        assert isinstance(expected, PropertyTypeError), (schema.name, names, types, line)
        assert str(error) == str(expected), line
        return False
    assert not isinstance(expected, PropertyTypeError), (schema.name, names, types, line)
    assert found is not made.record or not slow.unread, (schema.name, names, types, line)
    if found is made.record:
        for name in names:
            assert same(found[name]) == same(expected.get(name)), (schema.name, names, types, line, name, found[name])
    return found is made.record


def one_by_one(matcher: mqsel.Matcher, ask: Ask, data: bytes) -> list[Any]:
    """Sift lines as the sentence of the invariant says it, by Python's json."""
    names = {one for name in matcher.properties for one in spellings(name)}
    tally, found = Tally(), []
    for number, line in enumerate(io.BytesIO(data), 1):
        tally.lines = number
        if line.isspace():
            continue
        tally.messages += 1
        message: Any = None
        try:
            message = message_from_json(line, names)
            truth = int(matcher.matches(message))
            with suppress(PropertyTypeError):  # a value that only tells FALSE from UNKNOWN is no error
                truth = truth or matcher.truth(message)
        except PropertyTypeError as error:
            tally.skipped += 1
            if tally.skipped <= REPORTED:
                found.append(Complaint(number, str(in_json_words(error, message, matcher))))
            if ask.raising:
                break
            continue
        if truth == mqsel.Truth.UNKNOWN:
            tally.unknown += 1
            tally.missing.update(n for n in matcher.properties if look_up(message, n, matcher.dialect.headers) is None)
        if (truth == mqsel.Truth.TRUE) is not ask.invert:
            tally.selected += 1
            if not ask.counting:
                found.append(line)
            if tally.selected == ask.limit:
                break
    return [*found, tally]


def joined(records: list[Any]) -> list[Any]:
    """Put lines together that follow each other."""
    made: list[Any] = []
    for record in records:
        if made and isinstance(record, bytes) and isinstance(made[-1], bytes):
            made[-1] += record
        else:
            made.append(record)
    return made


def check_blocks(rng: random.Random, lines: list[bytes]) -> None:
    data = b"\n".join(lines) + rng.choice((b"", b"\n"))
    matcher = mqsel.compile(rng.choice(SELECTORS), dialect=rng.choice(("IBM_MQ", "JMS")))
    ask = Ask(rng.random() < 0.3, rng.random() < 0.2, rng.random() < 0.2, rng.choice((None, None, 1, 5)))
    expected = joined(one_by_one(matcher, ask, data))
    size = rng.choice((1, 7, 64, 300, 1 << 20))
    framings._BLOCK, kept = size, framings._BLOCK
    try:
        stream = io.BufferedReader(io.BytesIO(data), rng.choice((1, 16, 8192)))  # type: ignore[type-var]
        assert joined(list(Match(matcher, ask).messages(framings.blocks(stream)))) == expected, data
    finally:
        framings._BLOCK = kept
    start, stop = sorted(rng.randrange(len(data) + 2) for _ in range(2))
    stream = io.BufferedReader(io.BytesIO(data))  # type: ignore[type-var]
    begins = [place for place in range(start, min(stop, len(data))) if not place or data[place - 1 : place] == b"\n"]
    whole = b"".join(data[place : data.find(b"\n", place) + 1 or len(data)] for place in begins)
    assert b"".join(map(bytes, framings.blocks(stream, framings.first_line(stream, start), stop))) == whole


def check(rng: random.Random) -> tuple[int, int]:
    """Check some lines. Returns how many there were, and how many were read into the record."""
    lines = some_lines(rng)
    some = NAMES if rng.random() < 0.1 else NAMES[:-1]
    names = tuple(dict.fromkeys(rng.choice(some) for _ in range(rng.randrange(6))))
    decoder = JSONDecoder(names)
    quick = sum(check_line(decoder, line, names) for line in lines)
    check_blocks(rng, lines)
    quick += sum(check_record(rng) for _ in lines)
    return 2 * len(lines), quick


def main() -> int:
    seed, is_time = begun(__doc__)
    count = lines = quick = 0
    while is_time():
        try:
            read, recorded = check(random.Random(f"{seed} {count}"))
        except BaseException:
            print(f"case {count} of seed {seed} fails", flush=True)
            raise
        count, lines, quick = count + 1, lines + read, quick + recorded
    print(f"{count} files of {lines:,} lines in all, {quick:,} of them read into a record")
    return 0


if __name__ == "__main__":
    sys.exit(main())
