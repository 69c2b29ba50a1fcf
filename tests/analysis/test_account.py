"""Counting by columns what messages make of the parts of a selector: as a message at a time would count it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import strategies

import mqsel
from mqsel import formats
from mqsel.analysis.explain.account import NUMBERS, OUTCOMES, Account, Held, Profiler, parts_judged, parts_of
from mqsel.errors import PropertyTypeError
from mqsel.files.parts import listed_files
from mqsel.files.run import sifted
from mqsel.files.run.work import Ask, Why, is_counts
from mqsel.formats.jsonl import in_json
from mqsel.language.selector import read_selector
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.machine.origin import read_matched
from mqsel.matcher import Matcher


def in_order(account: Account) -> str:
    """Write an account; the order in which values and names came first, too, which breaks ties. NaN equals itself."""
    held = [(name, list(one.types.items()), list(one.values.items()), one) for name, one in account.held.items()]
    return repr((account.messages, account.outcomes, account.skipped, account.refused, held))


def one_at_a_time(matcher: Matcher, lines: Iterable[bytes]) -> Account:
    """Count lines of JSON a message at a time: what it has by a dict, what it makes true by a search of the index."""
    selector = read_selector(matcher.selector, matcher.dialect)
    parts = [[0] * len(OUTCOMES) for _ in parts_of(selector.node)]
    account = Account(outcomes=parts, held={name: Held() for name in selector.names.values()})
    machine, decoder = Machine(lower(selector)), formats.decoder("json", matcher.properties)
    for line in lines:
        if not line.strip():
            continue
        try:
            found = read_matched(machine, matcher.matches, decoder(line))
            names = [one.name for one in formats.FORMATS["json"].inspect(line, {}).rows if one.value is not None]
        except PropertyTypeError:
            account.skipped += 1
            continue
        for name, (kind, value) in found.items():
            if kind == "null":
                account.held[name].missing += 1
                account.held[name].take_others(names)
            else:
                account.held[name].take(kind, value)
        outcomes = parts_judged(selector).of({name: value for name, (_, value) in found.items()})
        for counts, outcome in zip(account.outcomes, outcomes, strict=True):
            counts[NUMBERS[outcome]] += 1
        account.messages += 1
    return account


def by_columns(matcher: Matcher, path: Path) -> Account:
    """Count the lines of a file as ``mqsel why`` does."""
    records = sifted(matcher, lambda: Ask(counting=True), listed_files([str(path)]), "json", 1, None, Why)
    (account,) = [record for *_, record in records if is_counts(record) and isinstance(record, Account)]
    return account


ODD = [
    b"", b"  ", b"{", b"[1]", b"{}", b'{"n": 1, "n": "a"}', b'{"N": NaN}', b'{"N": NaN}', b'{"x": -Infinity}',
    b'{"n": 9223372036854775808, "a": 1}', b'{"n": -0, "x": -0.0}', b'{"n": 0.0, "x": 0}', b'{"a": [1], "b": null}',
    b'{"\\u0061": "red", "z": {"y": 1}}', b'{"a": "\\ud800", "n": 3}', b'{"flag": {"int8": 5}, "n": 1e400}',
    b'{"a": "' + b"x" * 81 + b'"}', b'{"a": "' + b"x" * 80 + b'"}', b'{"structures": 1, "n": 2}', b'{"n": 1} x',
    b'{"n": 16777217, "N": 16777217.0}', b'{"\xc3\xa9": 1}', b'{"\xff": 1}', b'{"usr.n": 5}', b'{"usr.n": 5, "n": 6}',
]  # fmt: skip


@pytest.mark.parametrize("name", strategies.DIALECTS)
def test_columns_count_as_one_at_a_time(name: str, tmp_path: Path) -> None:
    """Invariant: over lines of every kind the account of the compiled loop is that of a message at a time, in order."""
    rng = random.Random(f"account {name}")
    dialect = strategies.DIALECTS[name]
    path = tmp_path / "lines.jsonl"
    for _ in range(12):
        text, _ = strategies.random_case(rng, name)
        lines = rng.sample(ODD, 8)
        for _ in range(40):
            message = strategies.to_message(strategies.random_properties(rng, name))
            lines.append(json.dumps(in_json(message), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass"))
        rng.shuffle(lines)
        path.write_bytes(b"\n".join(lines))
        matcher = mqsel.compile(text, dialect=dialect)
        assert in_order(one_at_a_time(matcher, lines)) == in_order(by_columns(matcher, path)), text


def test_blocks_and_types(tmp_path: Path) -> None:
    """Invariant: so do blocks that fill, types that change from message to message, and values beyond those kept."""
    rng = random.Random("blocks")
    values: list[Any] = ["red", "Red", 5, 5.0, True, {"int32": 5}, {"float32": 0.5}, {"bytes": "00ff"}, None]
    lines = []
    for number in range(12_000):
        row = {
            "a": rng.choice(values),
            "b": rng.choice(values),
            "id": f"ID:{number}",
            "n": number if number % 3 else 0.5,
        }
        lines.append(json.dumps({name: row[name] for name in row if rng.random() < 0.9}).encode())
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    for text in (
        "a = 'red' OR b > 2 AND n < 7 OR id LIKE 'ID:1%'",
        "NOT (a = b) AND a * 2 > n / b",
        "id > 5 AND c IS NULL",
    ):
        matcher = mqsel.compile(text)
        assert in_order(one_at_a_time(matcher, lines)) == in_order(by_columns(matcher, path)), text


def test_an_account_may_be_looked_at_meanwhile() -> None:
    """Invariant: looking at the account of a profiler changes nothing that it counts."""
    messages = [{"a": rng, "b": "x" * (rng % 3)} for rng in range(50)] + [{"a": None}, {"b": float("nan")}]
    text = "a > 20 AND b LIKE 'x%'"
    often, once = (Profiler(read_selector(text, mqsel.IBM_MQ)) for _ in range(2))
    for message in messages:
        often.take(message, message.keys)
        once.take(message, message.keys)
        assert often.account.messages > 0
    assert in_order(often.account) == in_order(once.account)


TYPED = [
    b'{"a": {"int32": 5}, "b": {"string": "x"}, "c": {"null": null}, "d": {"bytes": "00ff"}, "e": { "boolean" : true}}',
    b'{"a": {"int8": 300}, "b": {"float64": "NaN"}, "c": {"float32": 1e99}, "d": {"bytes": "0"}, "e": {"int8": "x"}}',
    b'{"a": {}, "b": [], "c": {"x": 1}, "d": [{"int32": 5}], "e": {"int32": 5, "int64": 6}, "f": {"int32": [1]}}',
    b'{"a": {"x": 1, "int32": 5}, "b": {"int32": 5, "int32": 6}, "c": {"\\u0069nt32": 5}, "d": {"string": "\\ud800"}}',
    b'{"a": {"int64": 9223372036854775808}, "b": {"int64": -0}, "c": {"string": "\\u00e9\xc3\xa9"}, "d": {"bytes": 5}}',
    b'{"a": {"int32": 5}, "b": {"body": {"deep": [[[{"x": "y"}]]]}}, "c": 5, "d": {"float64": 18446744073709551616}}',
]


@pytest.mark.parametrize("line", TYPED)
def test_names_of_typed_values_are_read_compiled(line: bytes) -> None:
    """The compiled reader of names lists values that name their types, and passes over objects that are no property."""
    rows = formats.FORMATS["json"].inspect(line, {}).rows

    assert formats._json.property_names(line) == tuple(row.name for row in rows if row.value is not None)


def test_names_are_those_of_inspect() -> None:
    """Invariant: the compiled reader of names lists what `inspect` lists, or leaves the line to it."""
    rng = random.Random("names")
    listed = 0
    for _ in range(400):
        message = in_json(strategies.to_message(strategies.random_properties(rng, "IBM_MQ")))
        line = json.dumps(message, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
        for one in (line, rng.choice(ODD)):
            names = formats._json.property_names(one)
            if names is not None:
                listed += 1
                rows = formats.FORMATS["json"].inspect(one, {}).rows
                assert names == tuple(row.name for row in rows if row.value is not None), one
    assert listed > 100
