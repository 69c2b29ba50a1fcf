"""`mqsel contract`, and what `match` and `why` count of messages that break one."""

from __future__ import annotations

import json
import random

import pytest
from conftest import ROOT, process

from mqsel.analysis.compare.contract import Contract
from mqsel.files.run.work import Sharing
from mqsel.formats.jsonl import in_json
from mqsel.values import Float32, Int32

DUMP = ROOT / "bench" / "data" / "dump.qload"


def _messages(count):
    rng = random.Random(1)
    for number in range(count):
        message = {"color": rng.choice(["red", "blue"]), "weight": Int32(rng.randrange(500)), "id": f"secret-{number}"}
        yield message | ({"ratio": Float32(0.5)} if number % 3 else {})


@pytest.fixture
def lines(tmp_path):
    """Write messages as lines of JSON; return the file."""
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(json.dumps(in_json(one)) + "\n" for one in _messages(300)), encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path):
    """Write the same messages as Parquet, of which ids are in a struct; return the file."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    many = [{**one, "usr": {"id": one["id"]}, "at": [1]} for one in _messages(300)]
    kinds = [("color", pa.string()), ("weight", pa.int32()), ("ratio", pa.float32()), ("at", pa.list_(pa.int8()))]
    schema = pa.schema([*kinds, ("usr", pa.struct([("id", pa.string())]))])
    pq.write_table(pa.Table.from_pylist(many, schema), tmp_path / "messages.parquet", row_group_size=100)
    return tmp_path / "messages.parquet"


def test_an_infinite_number_is_no_bound(run, tmp_path):
    """A contract is JSON that strict readers take, and messages with infinite numbers keep it."""
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(f'{{"ratio": {{"float64": "{one}"}}}}\n' for one in ("Infinity", "-Infinity", "NaN")))
    found = json.loads(run("contract", path)[1], parse_constant=pytest.fail)

    assert found["properties"] == {"ratio": {"type": "float64", "nan": True, "required": True}}
    assert Contract.from_dict(found).breaches({"ratio": float("-inf")}) == []


PROPERTIES = {
    "color": {"type": "string", "values": ["blue", "red"], "required": True},
    "id": {"type": "string", "required": True},
    "ratio": {"type": "float32", "values": [0.5]},
    "weight": {"type": "int32", "least": 0, "greatest": 499, "required": True},
}


def test_lines(run, lines):
    """Types, presence, few values and bounds are written, a line for each property."""
    status, out, err = run("contract", lines)

    assert (status, json.loads(out)) == (0, {"properties": PROPERTIES, "others": False})
    assert '    "weight": {"type": "int32", "least": 0, "greatest": 499, "required": true}\n' in out
    assert err.startswith("300 messages, 0 skipped, ")


def test_processes_write_the_same(run, lines):
    """Two processes write what one does."""
    assert run("contract", "-j", "2", lines, sharing=Sharing(part_size=4096))[1] == run("contract", lines)[1]


def test_columns(run, rows):
    """Columns of Parquet have the types of properties; a list is no property, a field of a struct has a name."""
    status, out, _ = run("contract", rows)

    own = {**PROPERTIES, "usr.id": PROPERTIES["id"]}
    own.pop("id")
    assert (status, json.loads(out)["properties"]) == (0, own)


def test_no_value_of_a_message_is_written(run, lines):
    """With --no-values neither a text nor a number of a message is in the contract."""
    out = run("contract", "--no-values", lines)[1]

    assert not any(word in out for word in ("secret", '"red"', "blue", "499", "0.5"))
    assert json.loads(out)["properties"]["ratio"] == {"type": "float32"}


@pytest.mark.parametrize("arguments", [(), ("--no-values",), ("-j", "2")])
def test_every_message_keeps_its_contract(run, lines, rows, tmp_path, arguments):
    """No message of the files breaks the contract that is made of them, whoever counts."""
    for source in (lines, rows, DUMP):
        contract = tmp_path / "contract.json"
        contract.write_text(run("contract", *arguments, source)[1], encoding="utf-8")
        for command in ("match", "why"):
            _, _, err = run(command, "--given", contract, "color = 'red'", source)
            assert "contract: 0 of " in err, (command, source)


def test_breaches_are_counted(run, lines, tmp_path):
    """match, whether it prints or counts, and why report how many messages break a contract, and how."""
    contract = tmp_path / "contract.json"
    contract.write_text(json.dumps({"properties": {**PROPERTIES, "color": ["red"]}, "others": False}), encoding="utf-8")
    more = tmp_path / "more.jsonl"
    more.write_text('{"color": "red", "weight": "a", "x": 1}\n\n{"color": "red", "weight": \n', encoding="utf-8")
    blue = sum(one["color"] == "blue" for one in _messages(300))
    expected = [
        f"contract: {blue + 1} of 301 messages violate it",
        f"  {blue}  color is 'blue': expected one of 'red' (the first)",
        "  1  id is missing",
        "  1  weight is string: expected int32, at least 0, at most 499 (the first)",
        "  1  x is no property of the contract",
    ]

    for command in (("match",), ("match", "--count"), ("why",)):
        _, _, err = run(*command, "--given", contract, "weight > 3", lines, more)
        assert err.splitlines()[-5:] == expected


def test_selectors_are_contracts(run, lines):
    """A selector that is TRUE of all messages is a contract, too."""
    _, _, err = run("match", "--count", "--given", "color = 'red' AND weight IS NOT NULL", "weight > 3", lines)
    blue = sum(one["color"] == "blue" for one in _messages(300))

    assert err.splitlines()[-1] == f"  {blue}  the selector of the contract is not TRUE"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "broken JSON: expecting property name enclosed in double quotes at column 2"),
        ('{"a": "\udcff"}', "broken JSON: byte 8 is not UTF-8"),
        ("[]", "expected an object with properties"),
        ('{"properties": {"a": {"type": "int"}}}', "the type 'int' for a: expected boolean"),
        ('{"properties": {"a": {"least": "b"}}}', "the bound 'b' for a: expected a number"),
        ('{"properties": {"a": {"type": "int8", "values": [1000]}}}', "int8 takes a whole number from -128 to 127"),
        ('{"properties": {"a": {"colour": 1}}}', "it may have type, values, least"),
        ('{"properties": {"a": {"required": 1}}}', "expected true or false"),
        ('{"properties": [1]}', "expected a mapping of names"),
        ('{"selector": "a ="}', "contract.json"),
        ('{"others": 1}', "true or false as others"),
        ('{"properties": {"a": {"values": [null]}}}', "expected a value of a property"),
    ],
)
def test_what_is_no_contract(run, lines, tmp_path, content, words):
    """A file that is no contract is one error with its name, and what is wrong with it."""
    path = tmp_path / "contract.json"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    status, out, err = run("match", "--given", path, "weight > 3", lines)

    assert (status, out) == (2, "")
    assert words in err
    assert "contract.json" in err


def test_no_file(run, lines, tmp_path):
    """A contract that is not there is an error that names it."""
    status, _, err = run("why", "--given", tmp_path / "none.json", "weight > 3", lines)

    assert status == 2
    assert f"No such file or directory [{tmp_path / 'none.json'}]\n" in err
    assert "'none' isn't a file" in run("why", "--given", "none", "weight > 3", lines)[2]


def test_contracts_travel():
    """A contract is read again from what it writes, whatever the types of its values."""
    import pickle

    contract = Contract(
        {"a": {"type": ["int32", "string"], "values": [{"int32": 5}, "x"]}, "b": {"type": "bytes", "values": ["0a"]}},
        selector="a IS NOT NULL",
        dialect="JMS",
    )
    again = pickle.loads(pickle.dumps(contract))

    assert again.as_dict() == contract.as_dict() == Contract.from_dict(contract.as_dict()).as_dict()
    assert again.breaches({"a": Int32(5), "b": b"\n"}) == []
    assert [one.what for one in again.breaches({"a": True, "b": b"\r"})] == ["type", "value"]


# ---- other commands --------------------------------------------------------------------------------------------------

SUBSCRIPTIONS = """\
DEFINE SUB('A') DEST(Q1) SELECTOR('color = ''red'' AND weight > 3')
DEFINE SUB('B') DEST(Q1) SELECTOR('color <> ''blue''')
DEFINE SUB('C') DEST(Q2) SELECTOR('weight <= 3')
"""
GIVEN = {
    "properties": {
        "color": {"values": ["red", "blue"], "required": True},
        "weight": {"type": "int32", "required": True},
    }
}


@pytest.fixture
def subscriptions(tmp_path):
    """Write subscriptions of two queues, and a contract; return both files."""
    paths = tmp_path / "subs.mqsc", tmp_path / "contract.json"
    paths[0].write_text(SUBSCRIPTIONS, encoding="utf-8")
    paths[1].write_text(json.dumps(GIVEN), encoding="utf-8")
    return paths


def test_audit_reports_gaps_of_destinations(run, subscriptions):
    """Each destination has a message that nobody selects, and the selector of all such; --once reports overlaps."""
    script, contract = subscriptions
    status, out, _ = run("audit", "--once", "--given", contract, script)

    assert status == 1
    assert out.splitlines() == [
        "contains  B: color <> 'blue' | A: color = 'red' AND weight > 3",
        'twice     A and B both match {"color": "red", "weight": 4}',
        """gap       Q1: no selector matches {"color": "blue", "weight": 0}; all such messages: color = 'blue'""",
        """gap       Q2: no selector matches {"color": "red", "weight": 4}; all such messages: weight >= 4""",
    ]
    found = json.loads(run("audit", "--json", "--given", contract, script)[1])
    assert [one["destination"] for one in found["gaps"]] == ["Q1", "Q2"]
    assert found["twice"] == []


def test_diff_knows_what_messages_are_like(run, subscriptions):
    """With a contract two selectors are equal that differ of messages that do not exist."""
    contract = subscriptions[1]

    assert run("diff", "NOT (weight <= 3)", "weight > 3")[0] == 1
    status, out, _ = run("diff", "--given", contract, "NOT (weight <= 3)", "weight > 3")
    assert (status, out.splitlines()[0]) == (0, "equal: every message is selected by both or by neither")


def test_diff_over_files(run, lines, subscriptions):
    """Gained and lost are counted, with places, what matters of each message, and the selector of what is gained."""
    status, out, err = run("diff", "--given", subscriptions[1], "weight > 490", "weight > 480 AND color = 'red'", lines)
    messages = [*_messages(300)]
    gained = [n for n, one in enumerate(messages, 1) if 480 < one["weight"] <= 490 and one["color"] == "red"]
    lost = [n for n, one in enumerate(messages, 1) if one["weight"] > 490 and one["color"] == "blue"]

    assert status == 1
    assert err.startswith(f"300 messages, {len(gained):,} added, {len(lost):,} dropped, 0 skipped, ")
    assert out.startswith(f"added   {lines}:{gained[0]}: ")
    assert "exactly the dropped messages: weight >= 491 AND color = 'blue'\n" in out
    found = json.loads(run("diff", "--json", "weight > 490", "weight > 480 AND color = 'red'", lines)[1])
    assert (found["gained"]["messages"], found["lost"]["messages"]) == (len(gained), len(lost))
    assert found["gained"]["examples"][0]["least"].keys() == {"color", "weight"}


def test_diff_of_dialects_over_files(run, lines):
    """One selector in two dialects is compared over files, too."""
    status, _, err = run("diff", "--dialect", "JMS", "--dialect", "ARTEMIS", "NOT color = 'red'", lines)
    blue = sum(one["color"] == "blue" for one in _messages(300))

    assert status == 1
    assert f"0 added, {blue} dropped" in err


def test_diff_of_two_sets_over_files(run, lines, tmp_path):
    """Two files of selectors are compared by key; one that is new gains all that it selects."""
    (tmp_path / "old.tsv").write_text("A\tweight > 490\nB\tcolor = 'red'\n", encoding="utf-8")
    (tmp_path / "new.tsv").write_text("A\tweight > 480\nC\tweight = 7\n", encoding="utf-8")
    status, out, _ = run("diff", "--json", tmp_path / "old.tsv", tmp_path / "new.tsv", lines)
    found = {one["key"]: one for one in map(json.loads, out.splitlines())}
    weights = [one["weight"] for one in _messages(300)]

    assert status == 1
    assert found["A"]["gained"]["messages"] == sum(480 < one <= 490 for one in weights)
    assert found["B"]["lost"]["messages"] == sum(one["color"] == "red" for one in _messages(300))
    assert (found["C"]["gained"]["messages"], found["C"]["gained"]["selector"]) == (weights.count(7), "weight = 7")


def test_route_reports_what_nobody_gets(run, lines, tmp_path):
    """Route counts the messages that nobody gets, names the first, and with --why reports what keeps a key from any."""
    selectors = tmp_path / "selectors.tsv"
    selectors.write_text("A\tweight > 490\nB\tcolour = 'red'\n", encoding="utf-8")
    left = [n for n, one in enumerate(_messages(300), 1) if one["weight"] <= 490]
    _, _, err = run("route", "--count", "--why", selectors, lines)

    places = ", ".join(f"{lines}:{number}" for number in left[:3])
    assert f"nobody gets {len(left)} of them: {places} and {len(left) - 3} more: " in err
    assert err.endswith("'B': no message has colour; all have color\n")
    assert run("route", "--count", "--why", selectors, "-")[0] == 2


def test_spark_prints_the_same(run, lines, rows, on_spark):
    """On Spark the contract and the changes of lines and of Parquet are those that are printed here."""
    for command in (["contract"], ["diff", "weight > 100", "color = 'red' OR weight > 150"]):
        here, there = (run(*command, lines, rows, *way) for way in ([], on_spark))
        assert there[:2] == here[:2], there[2]
        assert here[1].count("\n") > 5
    started = process(*command, lines, rows, "--spark", "--master", "local[1]", text=True)
    assert (started.returncode, started.stdout) == here[:2], started.stderr
