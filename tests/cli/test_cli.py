"""The command line as its users see it: stdout, stderr, exit code.

Most tests call `main` in this process; what concerns the process itself (stdin, pipes, Spark) runs in another one.
"""

import gzip
import itertools
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import unicodedata
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import ROOT, process
from printer import BANNER, TRAILER, amqsbcg_text
from running import free_port

import mqsel
from mqsel import cli
from mqsel.columns.wordings import with_extra
from mqsel.errors import MqselError, PropertyTypeError
from mqsel.files.framings import FORMATS, length_prefixed, reading
from mqsel.files.qload import qload_text
from mqsel.files.run.work import Ask, Match, Tally
from mqsel.formats import jsonl, mq
from mqsel.machine import program
from mqsel.values import TYPES, Float32, Int8, Int16, Int32

DATA = ROOT / "bench" / "data"
SAMPLE = DATA / "messages.jsonl.gz"
SELECTOR = "JMSType = 'car' AND color = 'blue' AND weight > 2500"
SUMMARY = "4,000 messages, 20 selected, 133 unknown because of a missing property, 0 skipped"

BLUE = b'{"color": "blue", "weight":   {"int32": 3000}}\n'
RED = b'{"color": "red"}\n'
BARE = b'{"weight": 1}\n'


@pytest.fixture
def run(run_binary):
    """Stdout is bytes here."""
    return run_binary


@pytest.fixture
def sample():
    """Return the sample messages, which the package itself does not carry."""
    if not SAMPLE.exists():
        pytest.skip(f"the sample messages are not here: {SAMPLE}")
    return SAMPLE


def without_seconds(summary):
    """Blank out the one figure that changes from run to run."""
    return re.sub(r"\d+\.\d\d s", "_ s", summary)


def written(path, *lines):
    """Write a file of lines."""
    path.write_bytes(b"".join(lines))
    return path


# ---- match -------------------------------------------------------------------------------------------------------


def test_sample(run, sample):
    """The README's selector selects 20 of the sample messages, untouched and in order."""
    status, out, err = run("match", SELECTOR, sample)
    lines = gzip.decompress(sample.read_bytes()).splitlines(keepends=True)
    chosen = out.splitlines(keepends=True)
    assert (status, len(chosen)) == (0, 20)
    assert chosen == [line for line in lines if line in set(chosen)]
    assert err.startswith(SUMMARY)


def test_sample_agrees_with_matcher(run, sample):
    """The command line selects what the matcher selects from the same messages."""
    matcher = mqsel.compile(SELECTOR)
    lines = gzip.decompress(sample.read_bytes()).splitlines(keepends=True)
    expected = [line for line in lines if matcher.matches(jsonl.message_from_json(line, matcher.properties))]
    assert run("match", SELECTOR, sample)[1] == b"".join(expected)


def test_lines_are_untouched(run, tmp_path):
    """Blanks inside a line, its order and its line ending stay; a last line without an end gets one."""
    file = written(tmp_path / "a", BLUE[:-1], b"\r\n", RED, BLUE[:-1])
    status, out, err = run("match", "color = 'blue'", file)
    assert (status, out) == (0, BLUE[:-1] + b"\r\n" + BLUE)
    assert without_seconds(err) == ("3 messages, 2 selected, 0 unknown because of a missing property, 0 skipped, _ s\n")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl"])
def test_gzip_is_known_by_its_bytes(run, tmp_path, name):
    """A gzipped file is unpacked whatever it is called."""
    file = written(tmp_path / name, gzip.compress(BLUE) + gzip.compress(RED))
    assert run("match", "color = 'red'", file)[:2] == (0, RED)


def test_plain_file_called_gz(run, tmp_path):
    """A file that is not gzipped is read whatever it is called."""
    assert run("match", "color = 'blue'", written(tmp_path / "a.gz", BLUE))[:2] == (0, BLUE)


def test_blank_lines_and_byte_order_mark(run, tmp_path):
    """Blank lines are no messages, and a byte order mark is no character."""
    file = written(tmp_path / "a", b"\xef\xbb\xbf", BLUE, b"\n", b"  \r\n", b"{\n")
    status, out, err = run("match", "color = 'blue'", file)
    assert (status, out) == (0, b"\xef\xbb\xbf" + BLUE)
    assert f"mqsel: {file}:4: broken JSON" in err
    assert "\n2 messages, 1 selected" in err


def test_nothing_selected(run, tmp_path):
    """Exit code 1 says that nothing was selected."""
    assert run("match", "color = 'green'", written(tmp_path / "a", BLUE))[:2] == (1, b"")


def test_count(run, tmp_path):
    """--count prints the number, of all files together, and nothing else."""
    first, second = written(tmp_path / "a", BLUE, RED), written(tmp_path / "b", BLUE)
    assert run("match", "--count", "color = 'blue'", first, second)[:2] == (0, b"2\n")
    assert run("match", "color = 'green'", first, "--count")[:2] == (1, b"0\n")


def test_invert(run, tmp_path):
    """--invert takes the messages that are FALSE or UNKNOWN, but not broken lines."""
    file = written(tmp_path / "a", BLUE, RED, b"[]\n", BARE)
    status, out, err = run("match", "--invert", "color = 'blue'", file)
    assert (status, out) == (0, RED + BARE)
    assert "4 messages, 2 not selected, 1 unknown because of a missing property, 1 skipped" in err
    assert run("match", "--invert", "color IS NULL OR weight > 0 OR color = 'red'", file)[:2] == (1, b"")


def test_limit(run, tmp_path):
    """--max-matches stops after so many matches, across files, and does not read on."""
    first, second = written(tmp_path / "a", RED, BLUE, BLUE), written(tmp_path / "b", BLUE, BLUE)
    status, out, err = run("match", "--max-matches", 3, "color = 'blue'", first, second, tmp_path / "absent")
    assert (status, out) == (0, BLUE * 3)
    assert err.startswith("4 messages, 3 selected")
    assert err.endswith("(stopped by --max-matches)\n")
    assert run("match", "--max-matches", 1, "--count", "color = 'blue'", first)[:2] == (0, b"1\n")


@pytest.mark.parametrize("count", [2**63 - 1, 2**63, 10**30])
@pytest.mark.parametrize("option", ["--limit", "--jobs"])
def test_counts_of_any_size(run, tmp_path, option, count):
    """However many messages are asked for, or processes, there are no more than are needed."""
    files = written(tmp_path / "a", RED, BLUE), written(tmp_path / "b", BLUE)
    assert run("match", option, count, "color = 'blue'", *files)[:2] == (0, BLUE * 2)
    assert run("inspect", option, count, *files)[0] == 0


def test_missing_properties_are_named(run, tmp_path):
    """The summary names the properties whose absence made messages UNKNOWN, the most frequent first."""
    file = written(tmp_path / "a", BARE, BARE, b'{"color": null}\n', RED, b'{"usr.color": "blue"}\n')
    _, _, err = run("match", "color = 'blue' AND weight > 0", file)
    assert err.splitlines()[-1] == "missing: color 3, weight 2"
    assert "4 unknown because of a missing property" in err


def test_no_line_without_missing_properties(run, tmp_path):
    """Nothing is said of missing properties where none made a message UNKNOWN."""
    assert "missing:" not in run("match", "weight IS NULL", written(tmp_path / "a", RED))[2]


@pytest.mark.parametrize("name", ["tibco-ems", "TIBCO_EMS", "Tibco_Ems"])
def test_dialect(run, tmp_path, name):
    """--dialect takes a preset in any case, with - for _."""
    file = written(tmp_path / "a", b'{"weight": 10}\n')
    assert run("match", "--dialect", name, "weight = 010", file)[0] == 0
    assert run("match", "weight = 010", file)[0] == 1


def test_unknown_dialect(run):
    """A dialect that is not there is bad usage, and the others are named."""
    status, out, err = run("match", "--dialect", "sql", "a = 1", "-")
    assert (status, out) == (2, b"")
    assert "there is no dialect 'sql': choose IBM_MQ, IBM_JMS, IBM_JAVA_CLIENT, TIBCO_EMS, JMS" in err


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_bad_limit(run, limit):
    """A limit is a whole number from 1."""
    status, _, err = run("match", f"--max-matches={limit}", "a = 1", "-")
    assert status == 2
    assert f"{limit!r} is not a count" in err


def test_bad_selector(run):
    """A selector with a fault is shown with a caret, before any file is opened."""
    status, out, err = run("match", "color == 'red'", "absent")
    assert (status, out) == (2, b"")
    assert err.startswith("mqsel: unexpected '='")
    assert "  | color == 'red'\n  |        ^" in err


def test_missing_file(run, tmp_path):
    """A file that cannot be read is reported, the others are read, and the exit code is 2."""
    file = written(tmp_path / "a", BLUE)
    (tmp_path / "folder").mkdir()
    status, out, err = run("match", "color = 'blue'", "absent", file, tmp_path)
    assert (status, out) == (2, BLUE)
    assert "mqsel: absent: No such file or directory" in err
    assert f"mqsel: {tmp_path}: the directory contains the directory 'folder'" in err
    assert "1 message, 1 selected" in err


def test_damaged_gzip(run, tmp_path):
    """What can be read of a damaged file is read, and the exit code is 2."""
    lines = [b'{"color": "blue", "n": %d}\n' % (number * 7919 % 10007) for number in range(5000)]
    file = written(tmp_path / "a.gz", gzip.compress(b"".join(lines))[:-3000])
    status, out, err = run("match", "color = 'blue'", file)
    assert status == 2
    assert b"".join(lines).startswith(out[:10000])
    assert len(out) > 10000
    size = file.stat().st_size
    words = rf"^mqsel: {file}: the gzip is cut off at byte {size:,}; messages read before that: ([\d,]+)$"
    told = re.search(words, err, re.MULTILINE)
    assert told
    assert f"\n{told[1]} messages, " in f"\n{err}"
    data = bytearray(gzip.compress(b"".join(lines)))
    data[-5] ^= 1
    _, _, err = run("match", "color = 'blue'", written(tmp_path / "b.gz", bytes(data)))
    assert f"b.gz: the gzip is damaged before byte {len(data):,} (" in err
    assert "; messages read before that: " in err
    assert re.search(r"^[\d,]+ messages, [1-9]", err, re.MULTILINE)


BROKEN = [
    (b'{"weight": 5, \n', "broken JSON: expecting property name enclosed in double quotes at column 15"),
    (b"nonsense\n", "broken JSON: expecting value at column 1"),
    (b'{"weight": 5} {}\n', "broken JSON: extra data at column 15"),
    (b'{"weight": "\xff"}\n', "broken JSON: byte 13 is not UTF-8"),
    (b"[" * 100_000 + b"\n", "JSON with a number or a nesting that is too large to read"),
    (b"[1, 2]\n", "a message is a JSON object: found an array"),
    (b'"weight"\n', "a message is a JSON object: found a string"),
    (b"5.5\n", "a message is a JSON object: found a number"),
    (b"null\n", "a message is a JSON object: found null"),
    (
        b'{"weight": {"int8": 300}}\n',
        "property 'weight' is {\"int8\": 300}: int8 takes a whole number from -128 to 127",
    ),
    (b'{"weight": {"int32": true}}\n', "property 'weight' is {\"int32\": true}: int32 takes a whole number"),
    (b'{"weight": {"bytes": "0g"}}\n', "bytes takes a string of hexadecimal digits"),
    (b'{"weight": {"float64": "nan"}}\n', 'float64 takes a number, "NaN" or "Infinity"'),
    (b'{"weight": {"string": 5}}\n', "string takes a string"),
    (b'{"weight": {"int": 5}}\n', "property 'weight' is {\"int\": 5}: expected a plain value, or one with its type\n"),
    (b'{"weight": {}}\n', "property 'weight' is {}: expected a plain value"),
    (b'{"usr.weight": {"int32": 5, "int64": 5}}\n', "expected a plain value, or one with its type"),
    (b'{"weight": [5]}\n', "property 'weight' is [5]: expected a plain value"),
    (b'{"weight": 9223372036854775808}\n', "property 'weight' is an integer outside 64 bits"),
    (b'{"weight": {"int64": 9223372036854775808}}\n', "property 'weight' is an integer outside 64 bits"),
]


@pytest.mark.parametrize(("line", "text"), BROKEN, ids=range(len(BROKEN)))
def test_broken_line(run, tmp_path, line, text):
    """A line that is no message is reported with file and line, counted, and does not stop the run."""
    file = written(tmp_path / "a", BLUE, line, BLUE)
    status, out, err = run("match", "weight > 0", file)
    assert (status, out) == (0, BLUE * 2)
    assert err.startswith(f"mqsel: {file}:2: ")
    assert text in err
    assert "3 messages, 2 selected, 0 unknown because of a missing property, 1 skipped" in err


def test_unread_values_do_not_matter(run, tmp_path):
    """A value that no property can have is no fault while the selector does not come to reading it."""
    file = written(tmp_path / "a", b'{"color": "red", "weight": [5], "other": {"int8": 300}}\n')
    status, _, err = run("match", "color = 'red' OR weight > 0", file)
    assert (status, err[:10]) == (0, "1 message,")


def test_reports_end_after_ten(run, tmp_path):
    """Ten broken lines are reported in full, over all files, the rest is counted."""
    first, second = written(tmp_path / "a", *[b"x\n"] * 8), written(tmp_path / "b", *[b"x\n"] * 8)
    status, _, err = run("match", "a = 1", first, second)
    lines = err.splitlines()
    assert status == 2
    assert [line.split(": broken")[0] for line in lines[:10]] == [
        *(f"mqsel: {first}:{number}" for number in range(1, 9)),
        *(f"mqsel: {second}:{number}" for number in range(1, 3)),
    ]
    assert lines[10] == "mqsel: … and 6 more: mqsel inspect reports all"
    assert "16 skipped" in lines[11]


def test_errors_raise(run, tmp_path):
    """--errors raise stops at the first broken line with exit code 2, and gives no count that is not one."""
    first, second = written(tmp_path / "a", BLUE, b"x\n", BLUE), written(tmp_path / "b", BLUE)
    status, out, err = run("match", "--errors", "raise", "color = 'blue'", first, second)
    assert (status, out) == (2, BLUE)
    assert err.startswith(f"mqsel: {first}:2: broken JSON")
    assert err.endswith("(stopped at the first error)\n")
    assert run("match", "--errors=raise", "--count", "color = 'blue'", first)[:2] == (2, b"")


# ---- values in JSON ----------------------------------------------------------------------------------------------

VALUES = [
    ('{"int8": -128}', Int8(-128)),
    ('{"int16": 32767}', Int16(32767)),
    ('{"int32": -2147483648}', Int32(-(2**31))),
    ('{"int64": 9223372036854775807}', 2**63 - 1),
    ('{"float32": 0.1}', Float32(0.1)),
    ('{"float32": "-Infinity"}', Float32(float("-inf"))),
    ('{"float64": 5}', 5.0),
    ('{"float64": "Infinity"}', float("inf")),
    ('{"string": "x"}', "x"),
    ('{"boolean": false}', False),
    ('{"bytes": "0A1b"}', b"\x0a\x1b"),
    ('{"null": null}', None),
    ("5", 5),
    ("5.0", 5.0),
    ("true", True),
    ('"5"', "5"),
    ("null", None),
    ("[5]", [5]),
    ('{"int8": 128}', {"int8": 128}),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_value(text, value):
    """A JSON value becomes the property value it names; one that fits nothing stays for the machine to refuse."""
    message = jsonl.message_from_json(f'{{"p": {text}}}', ["p"])
    assert (message["p"], type(message["p"])) == (value, type(value))


def test_every_type_has_a_reader():
    """Every name of a type can be written in JSON."""
    written = {"boolean": "true", "bytes": '"0a"', "string": '"x"', "null": "null"}
    for row in TYPES:
        text = written.get(row.kind, "1")
        assert type(jsonl.typed("p", {row.name: json.loads(text)})) is row.python


def test_not_a_number():
    """NaN is written as a JSON constant or with its type."""
    for text in ('{"p": NaN}', '{"p": {"float64": "NaN"}}', '{"p": {"float32": "NaN"}}'):
        value = jsonl.message_from_json(text, ["p"])["p"]
        assert value != value  # noqa: PLR0124 (that is what NaN is)


def test_only_named_properties_are_converted():
    """Values of properties that nobody reads are left alone."""
    message = jsonl.message_from_json(b'{"p": {"int32": 5}, "q": {"int32": 5}}', ["p", "absent"])
    assert message == {"p": 5, "q": {"int32": 5}}


def test_error_of_a_line_is_a_property_type_error():
    """Text that is no message raises the error that a matcher would raise for one."""
    with pytest.raises(PropertyTypeError, match="line 2, column 3"):
        jsonl.message_from_json('{"p": 1,\n  x}', ["p"])


def test_sifting_travels():
    """What a Spark task is given and gives back survives pickling."""
    matcher = pickle.loads(pickle.dumps(mqsel.compile("color = 'blue'")))
    ask = pickle.loads(pickle.dumps(Ask(invert=False, counting=False, raising=False, limit=None)))
    blocks = [BLUE + RED, b"x\n\n" + BARE]
    records = pickle.loads(pickle.dumps(list(Match(matcher, ask).messages(blocks))))
    assert records[0] == BLUE
    assert records[1].line == 3
    assert records[2] == Tally(5, 4, 1, 1, 1, {"color": 1})


def test_a_blank_line_is_counted():
    """Lines that Hadoop read are counted from the first, blank or not."""
    pytest.importorskip("pyspark")
    from mqsel.spark import job

    held = SimpleNamespace(value=mqsel.compile("a = 1"))
    ask, work = Ask(False, False, False, None), Match
    complaint, tally = job._sifted(held, ask, work, iter([b"", b"x"]))
    assert (complaint.line, tally.lines, tally.messages) == (2, 2, 1)
    assert next(job._sifted(held, ask, work, iter([]))) == Tally()


# ---- check -------------------------------------------------------------------------------------------------------


def test_check(run):
    """A valid selector is described: dialect, tests, properties and their types."""
    status, out, err = run("check", SELECTOR)
    assert (status, err) == (0, "")
    assert out.decode().splitlines() == [
        "valid     IBM_MQ selector",
        "tests     3",
        "reads     JMSType  string",
        "reads     color    string",
        "reads     weight   number",
    ]


def test_check_says_what_is_special(run):
    """A constant, an identifier that a queue manager would match, a property of any type and warnings are said."""
    assert "constant  TRUE: reads no property, every message is selected" in run("check", "")[1].decode()
    out = run("check", "--dialect", "jms", "1 = 2")[1].decode()
    assert "constant  FALSE: reads no property, no message is selected" in out
    out = run("check", f"JMSMessageID = 'ID:{'0a' * 24}'")[1].decode()
    assert f"option    MQMO_MATCH_MSG_ID {'0A' * 24}" in out
    assert "reads     a  any type" in run("check", "a IS NULL")[1].decode()
    assert "warning   JMSPriority is a number" in run("check", "JMSPriority = 'high'")[1].decode()
    assert "warning   a selector has no comments" in run("check", "a = 5 -- b")[1].decode()
    assert "warning" not in run("check", "a = '5 -- b'")[1].decode()


def test_check_of_a_fault(run):
    """A selector with a fault is shown with a caret, and the exit code is 2."""
    status, out, err = run("check", "weight BETWEEN 'light' AND 40")
    assert (status, out) == (2, b"")
    assert err.startswith("mqsel: BETWEEN needs a number, found the string 'light' [line 1, column 16;")
    assert "  |                ^^^^^^^\n" in err


def test_check_of_many(run, tmp_path):
    """Several selectors, as arguments or lines of a file, are checked in order; one that is invalid decides."""
    assert run("check", "a = 1", "--dialect", "JMS", "-b > 1")[::2] == (0, "mqsel: 2 selectors, 0 invalid\n")
    file = written(tmp_path / "a", b"\xef\xbb\xbfcolor = 'blue'\r\n", b"\n", b"b == 2\n")
    status, out, err = run("check", "a = 1", "--file", file)
    assert status == 2
    assert out.decode().splitlines() == [
        "selector 1: a = 1",
        "  valid     IBM_MQ selector",
        "  tests     1",
        "  reads     a  number",
        f"{file}:1:1: color = 'blue'",
        "  valid     IBM_MQ selector",
        "  tests     1",
        "  reads     color  string",
    ]
    assert err.startswith(f"mqsel: {file}:3:4: unexpected '=' after '='")
    assert "\n  | b == 2\n  |    ^\n" in err
    assert err.endswith("mqsel: 3 selectors, 1 invalid\n")


def test_check_in_json(run, tmp_path):
    """--json prints one object for each selector, valid or not, and nothing else."""
    file = written(tmp_path / "a", b"JMSPriority = 'x'\n", b"b == 2\n")
    status, out, err = run("check", "--json", "--file", file)
    valid, invalid = map(json.loads, out.splitlines())
    assert (status, err) == (2, "")
    (warning,) = valid.pop("findings")
    assert valid == {
        "where": f"{file}:1:1",
        "key": "1",
        "kind": "lines",
        "file": str(file),
        "line": 1,
        "column": 1,
        "selector": "JMSPriority = 'x'",
        "valid": True,
        "dialect": "IBM_MQ",
        "tests": 1,
        "reads": {"JMSPriority": ["string"]},
        "constant": None,
        "option": None,
    }
    assert (warning["code"], warning["severity"], warning["span"]) == ("header-kind", "warning", [0, 11])
    assert invalid == {
        "where": f"{file}:2:1",
        "key": "2",
        "kind": "lines",
        "file": str(file),
        "selector": "b == 2",
        "valid": False,
        "error": "unexpected '=' after '=': expected a value",
        "line": 2,
        "column": 4,
        "span": [3, 4],
        "reason": "MQRC_SELECTOR_SYNTAX_ERROR",
        "code": 2459,
        "hint": "equality is written '=' in a selector",
    }
    assert run("check", "--json", f"JMSMessageID = 'ID:{'0a' * 24}'")[1].count(b'"MQMO_MATCH_MSG_ID"') == 1


def test_check_trouble(run, tmp_path):
    """Without a selector, and for a file that cannot be read, there is one clear error."""
    assert run("check")[::2] == (
        2,
        "mqsel: no selector is given: expected one, or a path\n  hint: write mqsel check PATH, or -e SELECTOR\n",
    )
    missing = tmp_path / "no"
    said = f"mqsel: {missing}:1:1: the file cannot be read: No such file or directory\n"
    assert run("check", "--file", missing) == (2, b"", f"{said}mqsel: 0 selectors, 0 invalid, 1 place not read\n")


# ---- explain -----------------------------------------------------------------------------------------------------


def test_explain(run):
    """Without a message the stages are shown: tokens, tree, optimised text, instructions."""
    status, out, err = run("explain", "weight > 0x1A AND NOT color = 'blue'")
    text = out.decode()
    assert (status, err) == (0, "")
    assert [line for line in text.splitlines() if line and line[0] != " "] == [
        "tokens",
        "tree",
        "optimised",
        "instructions",
    ]
    assert "       9:13  exact       0x1A  = 26\n" in text
    assert "\n  And                       weight > 0x1A AND NOT color = 'blue'\n" in text
    assert "\n      Comparison            color = 'blue'\n" in text
    assert "weight > 26 AND " in text
    assert "GREATER_SLOT_CONSTANT" in text


def test_explain_a_message(run, tmp_path):
    """With a message each part is TRUE, FALSE or UNKNOWN, with the reason; the exit code says the outcome."""
    selector = "color = 'blue' AND weight > 2500"
    status, out, _ = run("explain", selector, '{"color": "blue", "weight": {"int16": 3000}}')
    assert status == 0
    assert re.match(r"TRUE: selected\n.*weight > 2500 +TRUE +weight is int16 3000\n\Z", out.decode(), re.DOTALL)
    assert run("explain", "--program", selector, '{"color": "blue"}')[1].decode().splitlines()[:1] == [
        "UNKNOWN: not selected"
    ]
    file = written(tmp_path / "message.json", b'{"color":\n  "blue"}\n')
    status, out, _ = run("explain", selector, f"@{file}")
    assert status == 1
    assert out.decode().splitlines() == [
        "UNKNOWN: not selected",
        "it would be selected if weight were > 2500 (is missing)",
        "  color = 'blue' AND weight > 2500  UNKNOWN",
        "    color = 'blue'                  TRUE     color is the string 'blue'",
        "    weight > 2500                   UNKNOWN  weight is missing",
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["a >", "{}"], "unexpected end of the selector"),
        (
            ["a > 1", "{"],
            "MESSAGE: broken JSON: expecting property name enclosed in double quotes at column 2, at ''",
        ),
        (
            ["a > 1", "{a: 1}"],
            "MESSAGE: broken JSON: expecting property name enclosed in double quotes at column 2, at 'a: 1}'",
        ),
        (["a > 1", "[]"], "MESSAGE: a message is a JSON object: found an array"),
        (["a > 1", '{"a": {"int8": 128}}'], "MESSAGE: property 'a' is {\"int8\": 128}: int8 takes"),
        (["a > 1", "@absent"], "absent: No such file or directory"),
        (["a > 1", "absent"], "'absent' is neither a file nor a JSON object\n  hint: write a message as"),
        (["a > 1", "absent:5"], "'absent:5' is neither a file nor a JSON object"),
    ],
)
def test_explain_trouble(run, arguments, text):
    """A faulty selector or message is trouble: one error, exit code 2, nothing on stdout."""
    status, out, err = run("explain", *arguments)
    assert (status, out) == (2, b"")
    assert err.startswith(f"mqsel: {text}")


def test_explain_a_long_chain(run):
    """A selector of many terms is printed without recursion."""
    selector = " OR ".join(f"a = {number}" for number in range(1000))
    assert run("explain", "--dialect", "jms", selector, '{"a": 999}')[0] == 0


# ---- formats -----------------------------------------------------------------------------------------------------

MESSAGES = [
    mq.encode({"Priority": priority}, {"color": color, "weight": ("int32", 3000)}, b"<order/>")
    for color, priority in (("blue", 7), ("red", 7), ("blue", 4))
]
RAW = "JMSPriority > 4 AND Root.MQMD.MsgType = 8 AND color = 'blue'"
HEAD = b"* QLOAD Version:1.9\n* Qmgr  = QM1\n\n"
NEWLINE = b"\n"


def record(**properties):
    """Write a record of Confluent's connectors, with these properties as (kind, value)."""
    members = {name: {"propertyType": kind, kind: value} for name, (kind, value) in properties.items()}
    return json.dumps({"priority": 7, "deliveryMode": 2, "type": "car", "properties": members}).encode() + b"\n"


@pytest.fixture
def dumps():
    """Return the sample dumps, which the package itself does not carry."""
    if not (DATA / "dump.qload").exists():
        pytest.skip(f"the sample dumps are not here: {DATA}")
    return DATA


def test_sample_dumps_are_fresh(dumps, tmp_path):
    """The sample dumps are what their script writes."""
    subprocess.run([sys.executable, dumps / "make_dumps.py", "--out", tmp_path], check=True)
    for name in ("dump.qload", "connect.jsonl"):
        assert (tmp_path / name).read_bytes() == (dumps / name).read_bytes()


@pytest.mark.parametrize(
    "selector", ["color = 'white'", "weight > 2500 AND modelYear >= 2022", "region IS NULL", "price < 50000"]
)
def test_dumps_agree(run, dumps, selector):
    """The same messages are selected from a dump of the queue and from the records of a connector."""
    counts = [
        run("match", "--count", selector, *more)
        for more in ([dumps / "dump.qload"], ["--format", "connect", dumps / "connect.jsonl"])
    ]
    assert counts[0][1] == counts[1][1] != b""
    assert without_seconds(counts[0][2]) == without_seconds(counts[1][2])


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("explicitly", [False, True])
def test_match_qload(run, tmp_path, pack, explicitly):
    """Messages of a QLOAD file are printed as they stand in it, behind its header: a QLOAD file again."""
    texts = [b"* Index %d\n" % number + qload_text(message) for number, message in enumerate(MESSAGES)]
    file = written(tmp_path / "dump", pack(HEAD + b"".join(texts)))
    status, out, err = run("match", *["--format", "qload"][: 2 * explicitly], RAW, file)
    assert (status, out) == (0, HEAD + texts[0])
    assert err.startswith("3 messages, 1 selected, 0 unknown")
    out = run("match", "--invert", RAW, file)[1]
    assert out == HEAD + texts[1] + texts[2]
    assert run("match", "--count", RAW, written(tmp_path / "again", out))[1] == b"0\n"


def test_match_amqsbcg(run, tmp_path):
    """Of what amqsbcg printed the selected messages are printed as it printed them, and read again."""
    printed = [amqsbcg_text(message, count=count) for count, message in enumerate(MESSAGES, 1)]
    broken = printed[0].replace(b"MsgType : 8", b"MsgType : 8x")
    file = written(tmp_path / "ticket", b"$ amqsbcg ORDERS\n", BANNER, *printed, broken, TRAILER)
    status, out, err = run("match", RAW, file)
    assert (status, out) == (0, b"$ amqsbcg ORDERS\n" + BANNER + printed[0].rstrip(b" \n") + b"\n")
    place = file.read_bytes()[: file.read_bytes().index(b"8x")].count(NEWLINE) + 1
    assert err.startswith(
        f"mqsel: {file}:{place}: column 27: MsgType is '8x': expected a number\n4 messages, 1 selected"
    )
    assert run("match", "--count", RAW, written(tmp_path / "again", out))[1] == b"1\n"
    status, out, _ = run("inspect", "--limit", 1, file)
    assert (status, out.startswith(f"{file}:9\n".encode())) == (0, True)
    assert re.search(rb"\n  weight +int32 +3000 +usr, byte", out)


def test_texts_in_utf_16(run, tmp_path):
    """What PowerShell's > wrote, of any format, is read; what is selected is printed in UTF-8."""
    for lines in (HEAD + qload_text(MESSAGES[0]), amqsbcg_text(MESSAGES[0]), b'{"color": "blue", "n": "\xc3\xbc"}\n'):
        file = written(tmp_path / "wide", lines.decode().replace("\n", "\r\n").encode("utf-16"))
        status, out, _ = run("match", "color = 'blue'", file)
        assert (status, out.replace(b"\r\n", b"\n").rstrip(b" \n")) == (0, lines.rstrip(b" \n"))


SKIPPED = [
    MESSAGES[0],
    MESSAGES[0].replace(b"<color", b"<c-lor").replace(b"</color", b"</c-lor"),
    MESSAGES[0],
    MESSAGES[0].replace(b"</usr>", b"</usx>"),
]


def test_what_was_skipped_is_summed_up(run, tmp_path):
    """The summary counts the messages of which something was skipped, and says what, of the first, and where."""
    assert "in part" not in run("match", RAW, written(tmp_path / "clean", *map(qload_text, MESSAGES)))[2]
    whole = written(tmp_path / "whole", HEAD, *map(qload_text, SKIPPED))
    plain = written(tmp_path / "plain", *map(length_prefixed, SKIPPED[3:] * 2))
    line = 4 + qload_text(MESSAGES[0]).count(NEWLINE)
    named = "c-lor: no property can have this name [MQRC_PROPERTY_NAME_ERROR (2442)]\n"
    lost = "usr: the folder is malformed: it has no properties [MQRC_RFH_FORMAT_ERROR (2421)]\n"
    for files, count, what in (
        ([whole], 2, f"{whole}:{line}: MQRFH2 at byte"),
        ([plain, whole], 4, f"{plain}, byte 0: MQRFH2 at byte"),
    ):
        err = run("match", "color = 'blue'", *files)[2]
        assert f"\nskipped in part: {count} messages, the first {what}" in err
        assert err.endswith(named if files == [whole] else lost)
    assert run("match", "--max-matches", 1, RAW, whole)[2].endswith(" s (stopped by --max-matches)\n")
    assert "skipped in part: 1 message, the first" in run("match", RAW, written(tmp_path / "one", SKIPPED[1]))[2]


def test_match_prefixed(run, tmp_path):
    """Of length-prefixed messages the selected ones are printed with their lengths, byte for byte."""
    pieces = [length_prefixed(message) for message in MESSAGES]
    file = written(tmp_path / "dump", *pieces)
    assert run("match", RAW, file)[:2] == (0, pieces[0])
    assert run("match", "color = 'blue'", file)[:2] == (0, pieces[0] + pieces[2])


def test_match_directory(run, tmp_path):
    """Of messages that have a file each the names are printed; a directory stands for its files."""
    for name, message in zip("abc", MESSAGES, strict=True):
        written(tmp_path / name, message)
    assert run("match", "--format", "mq", RAW, tmp_path)[1] == f"{tmp_path / 'a'}\n".encode()
    assert run("match", RAW, tmp_path / "b", tmp_path / "a")[1] == f"{tmp_path / 'a'}\n".encode()


def test_match_stdin_message():
    """A message on stdin has no name: it is printed itself."""
    done = process("match", RAW, "-", input=MESSAGES[0])
    assert (done.returncode, done.stdout) == (0, MESSAGES[0])


def test_missing_properties_of_bytes(run, tmp_path):
    """For raw messages, too, the summary names what is missing."""
    err = run("match", "size = 5 OR color = 'green'", written(tmp_path / "dump", *map(length_prefixed, MESSAGES)))[2]
    assert "3 unknown because of a missing property" in err
    assert err.endswith("missing: size 3\n")


def test_match_option_of_bytes(run, tmp_path):
    """A selector that a queue manager answers from the descriptor selects the same here."""
    file = written(
        tmp_path / "dump", length_prefixed(mq.encode({"MsgId": b"\x0a" * 24}, {})), length_prefixed(MESSAGES[0])
    )
    assert run("match", "--count", f"JMSMessageID = 'ID:{'0A' * 24}'", file)[:2] == (0, b"1\n")


def test_broken_messages(run, tmp_path):
    """A broken message of a dump is reported with file and line, or byte, counted, and does not stop the run."""
    texts = [qload_text(message) for message in MESSAGES]
    broken = texts[0].replace(b"A PRI 7", b"A PRI high")
    lies = texts[0].replace(b"X 52464820", b"X 52464821")
    file = written(tmp_path / "dump", HEAD, broken, lies, *texts)
    status, out, err = run("match", "--count", RAW, file)
    first, second, hint, summary = err.splitlines()
    assert (status, out) == (0, b"1\n")
    assert first == f"mqsel: {file}:12: Priority is 'high': expected a whole number of 32 bits"
    assert second.startswith(f"mqsel: {file}:{4 + broken.count(NEWLINE)}: StrucId is")
    assert "[MQRFH2 at byte 364; MQRC_RFH_ERROR (2334)]" in second
    assert hint.startswith("  hint: ")
    assert summary.startswith("5 messages, 1 selected, 0 unknown because of a missing property, 2 skipped")
    file = written(tmp_path / "cut", *map(length_prefixed, MESSAGES[:2]), b"\0\0\0")
    status, out, err = run("match", "--errors", "raise", RAW, file)
    assert (status, out) == (2, length_prefixed(MESSAGES[0]))
    assert err.startswith(f"mqsel: {file}, byte {sum(map(len, MESSAGES[:2])) + 8}: the file ends within a length")


def test_match_connect(run, tmp_path):
    """Records of a connector are selected by their properties and headers, and printed untouched."""
    lines = [record(weight=("integer", 3000)), record(weight=("string", "3000")), b'{"a": 1}\n', b"\n", record()]
    file = written(tmp_path / "records", *lines)
    selector = "weight > 2500 AND JMSPriority = 7 AND JMSDeliveryMode = 'PERSISTENT' AND JMSType = 'car'"
    status, out, err = run("match", "--format", "connect", selector, file)
    assert (status, out) == (0, lines[0])
    assert f"mqsel: {file}:3: found no 'properties' among 'a'" in err
    assert "4 messages, 1 selected, 1 unknown because of a missing property, 1 skipped" in err


def test_declared_types(run, tmp_path):
    """--type gives texts the types they lost; what does not fit is NULL, and the summary counts it."""
    lines = [json.dumps({"properties": {"weight": text}}).encode() + b"\n" for text in ("3000", "heavy", "10")]
    file = written(tmp_path / "records", *lines)
    status, out, err = run("match", "--format", "lenses", "--type", "weight=int32", "weight > 2500", file)
    assert (status, out) == (0, lines[0])
    assert err.endswith("missing: weight 1\nno value of the declared type: weight 1\n")
    assert run("match", "--format", "lenses", "weight > 2500", file)[0] == 1
    status, _, err = run("match", "--format", "lenses", "--type", "weight=int", "weight > 2500", file)
    assert status == 2
    assert "'weight=int' declares no type: write NAME=TYPE, with one of null, boolean" in err


def test_declared_types_are_for_records(run):
    """--type is refused where values have types of their own, instead of being ignored."""
    for command in (["match", "a = 1"], ["inspect"]):
        status, out, err = run(*command, "--type", "a=int32", "-")
        assert (status, out) == (2, b"")
        assert err.startswith(
            "mqsel: --type is only for formats that store every value as text: this format stores types\n  hint: "
        )


def test_explain_raw_message(run, tmp_path):
    """Explain takes an MQ message, and says why a dump's message was not selected."""
    status, out, _ = run("explain", RAW, f"@{written(tmp_path / 'message', MESSAGES[2])}")
    assert status == 1
    assert re.search(r"JMSPriority > 4 +FALSE +JMSPriority is int32 4", out.decode())


def test_explain_says_what_decides(run, tmp_path):
    """Where the selector does not decide over a raw message, explain agrees with match and says what does."""
    invalid = MESSAGES[0].replace(b"<weight", b"<in-ght").replace(b"</weight", b"</in-ght")
    identified = mq.encode({"MsgId": b"\x0a" * 24}, {"JMSPriority": 4})
    cases = [
        ("color = 'blue'", invalid, "FALSE: not selected: it carries a property whose name is not allowed"),
        (f"JMSMessageID = 'ID:{'0A' * 24}'", identified, "TRUE: selected: MQMO_MATCH_MSG_ID compares the identifier"),
        ("color = 'green'", invalid, "FALSE: not selected: it carries a property whose name is not allowed"),
    ]
    for selector, message, text in cases:
        file = written(tmp_path / "message", message)
        status, out, _ = run("explain", selector, f"@{file}")
        assert out.decode().startswith(text)
        assert "it would be selected" not in out.decode()
        assert run("match", selector, file)[0] == status


def test_inspect(run, tmp_path):
    """A message is shown with the name, type, value and origin of each property, and with its structures."""
    file = written(tmp_path / "dump", HEAD, *map(qload_text, MESSAGES))
    status, out, err = run("inspect", "--limit", 2, file)
    text = out.decode()
    assert (status, err) == (0, "")
    assert [line for line in text.splitlines() if line and line[0] != " "] == [
        f"{file}:4",
        f"{file}:{4 + qload_text(MESSAGES[0]).count(NEWLINE)}",
    ]
    assert re.search(r"\n  name +type +value +from\n", text)
    assert re.search(r"\n  color +string +'blue' +usr, byte \d+\n", text)
    assert re.search(r"\n  weight +int32 +3000 +usr, byte \d+\n", text)
    assert re.search(r"\n  JMSPriority +int32 +7 +Root.MQMD.Priority\n", text)
    assert re.search(r"\n  Root.MQMD.Priority +int32 +7 +MQMD, byte 40\n", text)
    assert re.search(r"\n  structures\n    MQMD +byte 0, 364 bytes\n    MQRFH2 +byte 364, ", text)
    assert max(map(len, text.splitlines())) < 170


def test_readme_shows_what_inspect_prints(run, dumps, monkeypatch):
    """The sample in the README is the beginning of what inspect prints of the dump it names."""
    readme = Path(mqsel.__file__).parent / "formats" / "README.md"
    monkeypatch.chdir(dumps.parents[1])
    shown = re.search(r"```\n(bench/data/dump.qload:5\n.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert run("inspect", "bench/data/dump.qload")[1].decode().startswith(shown)


def test_inspect_says_what_was_skipped(run, tmp_path):
    """What of a message was skipped is shown with the reason."""
    message = MESSAGES[0].replace(b"<usr>", b"<usr<")
    out = run("inspect", written(tmp_path / "message", message))[1].decode()
    assert re.search(r"\n  skipped\n    MQRFH2 at byte \d+ .*\[MQRC_", out)
    assert "color" not in out


def test_inspect_json(run, tmp_path):
    """--json prints one object for each message, with the values whole."""
    file = written(
        tmp_path / "a", json.dumps({"long": "x" * 500, "bad": [1], "b": {"bytes": "0A"}, "f": 0.5}).encode(), b"\n\n{}"
    )
    status, out, err = run("inspect", "--json", file)
    first, second = map(json.loads, out.decode().splitlines())
    assert (status, err) == (0, "")
    assert first["message"] == f"{file}:1"
    assert first["properties"] == [
        {"name": "long", "type": "string", "value": "x" * 500, "from": "JSON"},
        {"name": "b", "type": "bytes", "value": "0a", "from": "JSON"},
        {"name": "f", "type": "float64", "value": 0.5, "from": "JSON"},
    ]
    assert [skipped["what"] for skipped in first["skipped"]] == ["bad"]
    assert second == {"message": f"{file}:3", "properties": [], "skipped": [], "structures": []}
    assert b"no properties" in run("inspect", file)[1]


def test_inspect_of_every_type(run, tmp_path):
    """Values are written as a selector would write them, on one short line each."""
    values = {
        "t": True,
        "i8": {"int8": 5},
        "f": {"float32": 0.1},
        "inf": {"float64": "Infinity"},
        "b": {"bytes": "0aff"},
        "s": "it's\n\u0000",
        "n": None,
        "long": "y" * 1000,
        "dump": {"bytes": "00" * 1000},
    }
    out = run("inspect", written(tmp_path / "a", json.dumps(values).encode()))[1].decode()
    shown = dict(re.findall(r"^  (\w+) +\w+ +(.*?) +JSON$", out, re.MULTILINE))
    assert shown["t"], shown["n"] == ("TRUE", "NULL")
    assert (shown["i8"], shown["f"], shown["inf"]) == ("5", "0.10000000149011612", "inf")
    assert (shown["b"], shown["s"]) == ('"0x0AFF"', "'it''s\\u000a\\u0000'")
    assert len(shown["long"]) == len(shown["dump"]) == 60
    objects = json.loads(run("inspect", "--json", tmp_path / "a")[1])["properties"]
    assert {one["name"]: one["type"] for one in objects}["f"] == "float32"
    assert {one["name"]: one["value"] for one in objects}["inf"] == "Infinity"


def test_inspect_records(run, tmp_path):
    """Of records the path into them is shown, and a text that does not fit its declared type."""
    file = written(tmp_path / "a", b'{"properties": {"w": "heavy", "v": "7"}, "mode": 2}\n')
    out = run("inspect", "--format", "lenses", "--type", "w=int32", "--type", "v=int8", file)[1].decode()
    assert re.search(r"\n  JMSDeliveryMode +string +'PERSISTENT' +mode\n", out)
    assert re.search(r"\n  v +int8 +7 +properties.v\n", out)
    assert "\n  skipped\n    w  'heavy' in properties.w does not fit its type: NULL instead\n" in out


def test_inspect_trouble(run, tmp_path):
    """Broken messages are reported and give exit code 1, files that are not there, or of them alone, 2."""
    file = written(tmp_path / "a", b"x\n" * 12, b'{"a": 1}\n')
    status, out, err = run("inspect", file)
    assert status == 1
    assert out.startswith(f"{file}:13\n".encode())
    assert [line.split(":")[2] for line in err.splitlines()] == [str(number) for number in range(1, 13)]
    assert run("inspect", tmp_path / "absent", file)[0] == 2
    assert run("inspect", written(tmp_path / "b"))[::2] == (0, "mqsel: no messages\n")
    assert run("inspect", "--format", "mq", written(tmp_path / "c", b"MD  "))[0] == 2


# ---- usage and process -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["--help"], *([name, "--help"] for name in "match check explain inspect".split())]
)
def test_help(run, arguments):
    """Help goes to stdout, fits a screen's width, and says what the exit codes or the commands are."""
    status, out, err = run(*arguments)
    text = out.decode()
    assert (status, err) == (0, "")
    assert "exit code:\n  0  " in text or "COMMAND" in text
    assert max(map(len, text.splitlines())) <= 120


def test_version(run):
    """The version is the package's, and tells builds apart."""
    assert run("--version") == (0, f"mqsel {program.BUILD}\n".encode(), "")
    assert re.fullmatch(rf"{mqsel.__version__} \(build [0-9a-f]{{8}}\)", program.BUILD)


@pytest.mark.parametrize(
    "arguments", [[], ["match"], ["match", "a", "--x", "-"], ["match", "a = 1", "-", "--errors", "x"]]
)
def test_usage(run, arguments):
    """Bad usage is trouble: exit code 2, and on stderr one error, with where the arguments are listed, or the usage."""
    status, out, err = run(*arguments)
    assert (status, out) == (2, b"")
    assert err.startswith("mqsel: " if arguments else "usage: mqsel")
    assert err.endswith("\n  hint: mqsel match --help lists its options\n") == bool(arguments)


def test_stdin():
    """- reads stdin, gzipped or not."""
    for data in (RED + BLUE + b"x\n", gzip.compress(RED + BLUE + b"x\n")):
        done = process("match", "color = 'blue'", "-", input=data)
        assert (done.returncode, done.stdout) == (0, BLUE)
        assert done.stderr.startswith(b"mqsel: stdin:3: broken JSON")


def test_match_a_pipe(run, tmp_path):
    """What can be read once is opened once: nothing of a pipe is lost to finding out its format."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(RED + BLUE,))
    writer.start()
    status, out, _ = run("match", "color = 'blue'", pipe)
    writer.join()
    assert (status, out) == (0, BLUE)


def test_interrupted():
    """Ctrl-C ends a run at once, with what a shell expects, and without a word; also amid lines that are all broken."""
    for line in (BLUE, b'{"color": [5]}\n'):
        command = [sys.executable, "-m", "mqsel", "match", "--count", "color = 'red'"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe) as running:
            reading = threading.Event()
            feeder = threading.Thread(target=_feed, args=(running.stdin, line * 1000, reading))
            feeder.start()
            assert reading.wait(60)  # before it reads Python itself would be interrupted
            running.send_signal(signal.SIGINT)
            assert running.wait(10) == 130
            feeder.join()
            assert b"Traceback" not in running.stderr.read()


def _feed(stream, data, reading):
    """Write the same again and again, until nobody reads; tell once more is written than a pipe holds, 64 KB."""
    with suppress(OSError):
        for times in itertools.count():
            stream.write(data)
            if times == 5:
                reading.set()


def test_progress_of_what_has_no_place(tmp_path):
    """How far a file was read is told, stdin among them; a pipe has no place, and is read without."""
    told = []
    file = written(tmp_path / "a", BLUE * 3000)
    assert sum(1 for _ in reading(file, advance=told.append)[1]) == 3000
    assert sum(told) > 0
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(BLUE,))
    writer.start()
    assert sum(1 for _ in reading(pipe, advance=told.append)[1]) == 1
    writer.join()


def test_stdin_is_read_if_no_file_is_named():
    """Messages that are piped in need no -; on a terminal a file is expected, and not waited for."""
    for arguments in (["match", "color = 'blue'"], ["match", "color = 'blue'", "--errors", "skip"]):
        done = process(*arguments, input=RED + BLUE)
        assert (done.returncode, done.stdout) == (0, BLUE)
    assert process("inspect", "--limit", "1", input=BLUE).stdout.startswith(b"stdin:1\n")
    ours, theirs = os.openpty()
    done = process("match", "color = 'blue'", stdin=theirs)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert done.stderr.startswith(b"mqsel: no file is named: expected one, or messages on stdin\n  hint: ")


def test_files_behind_options(run, tmp_path):
    """Files stand before, between and behind options."""
    file = written(tmp_path / "a", BLUE)
    assert run("match", "color = 'blue'", file, "--invert", file, "--count", file)[:2] == (1, b"0\n")
    assert run("inspect", "--json", file)[0] == 0


UNREADABLE = [
    (b"color,weight\nblue,5\n", [], "json: this looks like CSV\n  hint: python3 -c"),
    (b"<?xml version='1.0'?>\n<a/>\n", [], "json: this looks like XML\n  hint: of XML only exports"),
    (b"JMS_BODY_FIELD:JMSText = a\n", [], "json: this looks like an output of activemq browse\n  hint: jq"),
    (b"\x80\x01\x00\xff", [], "json: this looks like binary data\n  hint: for length-prefixed messages"),
    *[
        (
            '{"color": "blue"}\n'.encode(code),
            [],
            "json: this looks like UTF-16 without a mark, or UTF-32\n  hint: convert",
        )
        for code in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-32")
    ],
    (b"a" + bytes(256) + b"ustar\n", [], "json: this looks like an archive\n  hint: unpack it"),
    (b"Obj\x01\0", [], "json: this looks like Avro\n  hint: write its records as lines"),
    (b'{"a": 1}\r{"a": 2}\r', [], "json: this looks like lines that end only in CR\n  hint: write them with LF"),
    (b"PK\x03\x04", [], "json: this looks like a zip archive\n  hint: unpack it"),
    (b"* QLOAD\nA VER 1\n", ["--format", "json"], "json: this looks like qload\n  hint: use --format qload"),
    (
        BLUE,
        ["--format", "qload"],
        "qload: this looks like lines of JSON\n  hint: choose",
    ),
    (BLUE, ["--format", "amqsbcg"], "amqsbcg: this looks like lines of JSON\n  hint: choose"),
    (BLUE, ["--format", "parquet"], "parquet: this looks like lines of JSON\n  hint: choose"),
]


@pytest.mark.parametrize(("content", "options", "text"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_nothing_could_be_read(run, tmp_path, content, options, text):
    """A file of which nothing can be read is trouble, exit code 2, and it is said what it looks like."""
    if "parquet" in options:
        pytest.importorskip("pyarrow")
    file = written(tmp_path / "a", content)
    for command in (["match", "color = 'green'"], ["inspect"]):
        status, _, err = run(*command, *options, file)
        assert status == 2
        assert f"mqsel: {file}: no message could be read as {text}" in err


def test_something_could_be_read(run, tmp_path):
    """Read, and nothing selected, is exit code 1: an empty file, a broken line among others, a heading that is none."""
    for content in (b"", RED + b"x\n", b"[INFO] starting\n" + RED):
        status, _, err = run("match", "color = 'blue'", written(tmp_path / "a", content))
        assert status == 1
        assert "looks like" not in err


def test_the_output_of_inspect_is_no_message(run, tmp_path):
    """What inspect --json prints is refused by all that reads messages: it is never taken for a message of its own."""
    out = run("inspect", "--json", written(tmp_path / "a", BLUE))[1]
    file = written(tmp_path / "b", out)
    text = "found the output of mqsel inspect --json: expected a message\n  hint: give the file that was inspected"
    for arguments in (
        ["match", "message IS NOT NULL", file],
        ["match", "message IS NOT NULL", "--format", "nifi", file],
        ["explain", "message IS NOT NULL", f"@{file}"],
        ["inspect", file],
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, b"")
        assert text in err


def test_selector_behind_the_files(run, tmp_path, monkeypatch):
    """Match FILE SELECTOR is recognised, although the name of a file may be a selector."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "messages", BLUE)
    status, out, err = run("match", "messages", "color = 'blue'")
    assert (status, out) == (2, b"")
    assert err == (
        "mqsel: 'messages' is a file, and \"color = 'blue'\" is not: expected the selector first\n"
        "  hint: mqsel match \"color = 'blue'\" messages\n"
    )


def test_inspect_parquet(run, tmp_path):
    """Inspect shows the rows of Parquet: fields of structs by their names, what no property can be as skipped."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "a.parquet"
    columns = {
        "color": pa.array(["blue", None]).dictionary_encode(),
        "weight": pa.array([1, 2], pa.int32()),
        "token": [b"a", b"b"],
        "usr": [{"x": 0.5}, None],
        "count": pa.array([3, 4], pa.uint16()),
        "size": pa.array([1 << 63, 4], pa.uint64()),
        "at": pa.array([0, 1], pa.timestamp("us")),
    }
    pq.write_table(pa.table(columns), file)
    status, out, _ = run("inspect", "--json", file)
    first, second = map(json.loads, out.splitlines())
    assert status == 0
    assert [(row["name"], row["type"], row["value"]) for row in first["properties"]] == [
        ("color", "string", "blue"),
        ("weight", "int32", 1),
        ("token", "bytes", "61"),
        ("usr.x", "float64", 0.5),
        ("count", "int32", 3),
    ]
    assert first["skipped"] == [
        {"what": "size", "why": f"{1 << 63} is outside int64: no property can hold it"},
        {"what": "at", "why": "no property has the Arrow type timestamp[us]"},
    ]
    assert second["message"] == f"{file}:2"
    assert [row["type"] for row in second["properties"]] == [
        "null",
        "int32",
        "bytes",
        "null",
        "int32",
        "int64",
    ]
    assert process("inspect", "--json", "--format", "parquet", input=file.read_bytes()).stdout.count(b"\n") == 2
    # What no property can be is an error where it is read, and not missing.
    assert run("explain", "weight = 1", f"{file}:1")[0] == 0
    status, out, err = run("explain", "size = 1", f"{file}:1")
    assert (status, out) == (2, b"")
    said = "property 'size' is an integer outside int64: no message property can hold it"
    assert err.startswith(f"mqsel: {file}:1: {said}\n")


def test_inspect_an_integer_of_json_that_no_property_can_be(run, tmp_path):
    """It is skipped, as what reads it refuses it, whether its type stands there or not."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 9223372036854775808, "b": {"int64": 9223372036854775808}}')
    status, out, _ = run("inspect", "--json", file)

    assert status == 0
    assert json.loads(out)["properties"] == []
    assert [one["what"] for one in json.loads(out)["skipped"]] == ["a", "b"]


def test_inspect_directories_and_patterns(run, tmp_path, monkeypatch):
    """Inspect takes what match takes; what directories say of rows is shown, unless the file has it as a column."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    for day in (1, 2):
        (tmp_path / f"day={day}" / "n=5").mkdir(parents=True)
        pq.write_table(pa.table({"n": [day, None]}), tmp_path / f"day={day}" / "n=5" / "a.parquet")
    for arguments in (["."], ["day=*/n=5/*.parquet"]):
        status, out, err = run("inspect", "--json", "--limit", 3, *arguments)
        rows = [
            [(row["name"], row["value"], row["from"]) for row in json.loads(line)["properties"]]
            for line in out.splitlines()
        ]
        assert (status, err) == (0, "")
        assert rows == [[("n", n, "column"), ("day", day, "path")] for n, day in ((1, 1), (None, 1), (2, 2))]
    assert run("inspect", "day=3/*")[0] == 2


def test_match_parquet_in_directories(run, tmp_path):
    """What directories say is a property of their rows, and printed with them; a column of the file comes first."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for year in (2024, 2025):
        folder = tmp_path / f"year={year}" / "kind=a%20b"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"n": [1, 2], "kind": ["own", None]}), folder / "a.parquet")
    first = b'{"n": 1, "kind": "own", "year": 2025}\n'
    for name in (tmp_path, f"{tmp_path}/year=*", f"{tmp_path}/*/*/*.parquet", f"file://{tmp_path}"):
        assert run("match", "year > 2024 AND n < 2", name)[:2] == (0, first)
    status, out, err = run("match", "--count", "--invert", "year = 2024", tmp_path)
    assert (status, out, err.splitlines()[-1][:38]) == (0, b"2\n", "4 messages, 2 not selected, 0 unknown ")
    assert run("match", "kind = 'a b'", tmp_path)[0] == 1
    assert run("match", "n = 1", f"{tmp_path}/x*")[2].startswith(
        f"mqsel: {tmp_path}/x*: the file cannot be read: no files\n"
    )
    (tmp_path / "more").mkdir()
    assert run("match", "n = 1", tmp_path)[2].startswith(
        f"mqsel: {tmp_path}: the directory contains the directory 'more'"
    )


def test_match_parquet_from_stdin(tmp_path):
    """Parquet is read from a pipe, too, with --format or without."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"color": ["red", "blue"]}), file)
    for options in ([], ["--format", "parquet", "-"]):
        done = process("match", "color = 'blue'", *options, input=file.read_bytes())
        assert (done.returncode, done.stdout) == (0, b'{"color": "blue"}\n')


def test_parquet_without_pyarrow(run, tmp_path, monkeypatch):
    """Without pyarrow Parquet is an error of ours that says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    file = written(tmp_path / "a", b"PAR1")
    text = f"mqsel: a Parquet file needs pyarrow, which is not installed\n  hint: {with_extra('arrow')}\n"
    for command in (["match", "color = 'blue'"], ["why", "color = 'blue'"], ["explain", "color = 'blue'"], ["inspect"]):
        assert run(*command, file) == (2, b"", text)


WIDE = '{"color": "青い車", "emoji": "🚗🚙", "weight": 3000, "aRatherLongNameOfAProperty": "%s"}\n' % ("text " * 20)


def cells(text):
    """Count the cells of a text on a terminal, as its fonts have them."""
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


@pytest.mark.parametrize("columns", [60, 200, None])
def test_terminals(run, tmp_path, monkeypatch, columns):
    """On a terminal no line is wider than it, columns line up, and a caret stands under its word."""
    file = written(tmp_path / "a", WIDE.encode())
    monkeypatch.setenv("NO_COLOR", "1")  # colours stand between a word and its cells
    monkeypatch.setattr(cli.output, "width_of", lambda _: columns)
    monkeypatch.chdir(tmp_path)
    out = run("inspect", file.name)[1].decode()
    texts = [out]
    assert len({cells(line[: line.index("JSON")]) for line in out.splitlines()[2:]}) == 1

    selector = "color = '青い車' AND emoji LIKE '%🚗%' AND weight > 2500 AND color <> 'a string that is rather long'"
    _, out, _ = run("explain", "--program", selector, f"@{file.name}")
    texts += [out.decode().partition("optimised")[0], out.decode().partition("instructions")[2]]
    rows = texts[1].partition("tokens")[0].splitlines()[1:]
    texts.append(run("why", selector, file.name)[1].decode())
    assert (
        len({cells(row[: row.rindex("TRUE")]) for row in rows if "TRUE" in row and (columns or " AND " not in row)})
        == 1
    )

    _, _, err = run("check", selector.replace("<>", "<<"))
    texts.append(err)
    line, carets = (line for line in err.splitlines() if line.startswith("  | "))
    assert cells(line[: line.index("<<") + 1]) == carets.index("^")

    if columns is not None:
        assert max(cells(line) for text in texts for line in text.splitlines()) <= columns


def test_help_on_a_narrow_terminal(monkeypatch):
    """Paragraphs and the table of formats end where the terminal ends; examples, which are copied, are left alone."""
    for command in ("match", "why", "inspect", "check", "explain"):
        monkeypatch.setenv("COLUMNS", "60")
        out = process(command, "--help").stdout.decode()
        examples, _, rest = out.partition("\narguments:")
        lines = [line for line in rest.splitlines() if not line.startswith("queues of brokers (")]
        assert "examples:" in examples
        assert [line for line in lines if len(line) > 60] == []


@pytest.mark.parametrize("command", ["", "match", "format", "lint", "test"])
def test_paragraphs_of_help_are_filled(run, command):
    """No line of a paragraph ends where the first word of the next would have fitted."""
    _, out, _ = run(*command.split(), "--help")
    prose = [line if re.match(r"(?!\S+ {2,})\S.*[^:]$", line) else "" for line in out.decode().splitlines()]

    assert [line for line, after in pairwise(prose) if line and after and len(line + after.split()[0]) < 77] == []


def test_every_format_stands_in_the_help(run):
    """`mqsel help formats` lists the rows of the table, and --format takes them."""
    _, out, _ = run("help", "formats")
    lines = out.decode().splitlines()
    words = " ".join(out.decode().split())
    for name in FORMATS:
        assert sum(bool(re.match(rf"{name} {{2,}}", line)) for line in lines) == 1, name
        assert words.count(f" {name} {FORMATS[name].holds}") == 1, name
    for command in ("match", "why", "explain", "inspect"):
        refusal = run(command, "--format", "xml", "x", "y")[2].partition("choose from ")[2].partition(")")[0]
        assert re.findall(r"[\w-]+", refusal) == list(FORMATS)


def test_explain_stdin():
    """Explain reads its message from stdin for -."""
    assert process("explain", "color = 'blue'", "-", input=BLUE).returncode == 0
    assert process("explain", "color = 'blue'", "-", input=RED).returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently on Windows")
def test_broken_pipe(tmp_path):
    """A reader that has enough ends the run without a word."""
    file = written(tmp_path / "a", BLUE * 100_000)
    command = [sys.executable, "-m", "mqsel", "match", "color = 'blue'", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == BLUE
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal on Windows")
def test_interrupt():
    """Ctrl-C ends the run without a word, with exit code 130."""
    command = [sys.executable, "-m", "mqsel", "match", "color = 'blue'", "-"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # What runs in the background of a shell ignores the signal, and its children with it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, **pipes) as child:
        signal.signal(signal.SIGINT, before)
        child.stdin.write(BLUE * 1000)  # more than stdout keeps back: when it arrives, the run has begun
        child.stdin.flush()
        child.stdout.readline()
        child.send_signal(2)
        assert child.stderr.read() == b""
        assert child.wait(60) == 130


def test_output_that_cannot_be_encoded():
    """A character that stdout lacks is escaped instead of ending the run."""
    done = process("explain", "färg = '至急'", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert b"f\\xe4rg" in done.stdout


def test_core_needs_no_extras(tmp_path):
    """Without rich and pyspark everything works but --spark."""
    file = written(tmp_path / "a", BLUE)
    code = (
        "import sys; sys.modules.update(rich=None, pyspark=None, py4j=None);"
        "from mqsel.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "match", "color = 'blue'", str(file)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == BLUE


# ---- Spark -------------------------------------------------------------------------------------------------------


@pytest.fixture
def java():
    """Skip where a process cannot start Spark."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java: Spark needs one")


@pytest.fixture
def matched(run, on_spark):
    """Return a function that runs match on the Spark of the session, and returns what a process would."""

    def call(*arguments):
        status, out, err = run("match", *on_spark, *arguments)
        return SimpleNamespace(returncode=status, stdout=out, stderr=err.encode())

    return call


def same(plain, spark):
    """Compare two runs in everything but the seconds."""
    assert spark.stdout == plain.stdout
    assert without_seconds(spark.stderr.decode()) == without_seconds(plain.stderr.decode())
    assert spark.returncode == plain.returncode


@pytest.mark.spark
@pytest.mark.usefixtures("java")
def test_spark_sample(sample):
    """On Spark the sample gives the same lines and the same summary, and Spark itself prints nothing."""
    done = process("match", "--master", "local[2]", SELECTOR, sample)
    same(process("match", SELECTOR, sample), done)
    assert done.stdout.count(b"\n") == 20
    assert done.stderr.decode().startswith(SUMMARY)


def test_spark_reports_and_order(matched, tmp_path):
    """On Spark broken lines are reported with file and line, and lines keep their order, over several files."""
    lines = [json.dumps({"n": number, "color": "blue"}).encode() + b"\r\n" for number in range(3000)]
    lines[10] = b'{"n": {"int8": 300}}\n'
    lines[1700] = b"x\n"
    lines[2999] = b'{"color": "red"}'
    plain = written(tmp_path / "a.jsonl", *lines)
    packed = written(tmp_path / "b.jsonl.gz", gzip.compress(b"\n" + b"".join(lines)))
    arguments = ("n <> 5", plain, packed)
    done = matched(*arguments)
    same(process("match", *arguments), done)
    assert f"mqsel: {plain}:1701: broken JSON" in done.stderr.decode()
    assert f"mqsel: {packed}:12: property 'n' is" in done.stderr.decode()
    assert b"6,000 messages, 5,992 selected, 2 unknown because of a missing property, 4 skipped" in done.stderr


def test_spark_reads_nothing(matched, tmp_path):
    """Spark, too: a file of which nothing can be read is exit code 2, and it is said what it looks like."""
    file = written(tmp_path / "a.csv", b"color,weight\n", b"blue,5\n")
    arguments = ["color = 'blue'", file]
    same(process("match", *arguments), found := matched(*arguments))
    assert found.returncode == 2
    assert b"this looks like CSV" in found.stderr


def test_spark_limit(matched, tmp_path):
    """On Spark --max-matches stops at the same line, and --errors raise at the same error."""
    file = written(tmp_path / "a.jsonl", BLUE * 50, RED * 50, BLUE * 50, b"x\n", BLUE)
    for arguments in (
        ("--max-matches", 60, "color = 'blue'", file),
        ("--errors=raise", "--count", "color = 'blue'", file),
    ):
        same(process("match", *arguments), matched(*arguments))


def test_spark_files_that_cannot_be_read(matched, tmp_path):
    """On Spark, as without it, a missing and a damaged file are reported, the others are read, the exit code is 2."""
    file = written(tmp_path / "a.jsonl", BLUE)
    cut = written(tmp_path / "cut.gz", gzip.compress(RED * 500 + BLUE)[:-30])
    damaged = written(tmp_path / "cut.parquet", b"PAR1" + b"x" * 50)
    done = matched("color = 'blue'", tmp_path / "absent", file, cut, damaged, "hdfs://localhost:1/a")
    assert done.returncode == 2
    assert done.stdout == BLUE
    told = done.stderr.decode().splitlines()
    assert told[0] == f"mqsel: {tmp_path}/absent: No such file or directory"
    # What is known before the others are read comes first.
    assert told[1].startswith(f"mqsel: {damaged}: Parquet magic bytes not found in footer")
    assert told[2].startswith("mqsel: hdfs://localhost:1/a: ")
    assert any(f"mqsel: {cut}: the gzip is cut off at byte {cut.stat().st_size}" in line for line in told[3:])


def test_spark_records(matched, tmp_path):
    """On Spark records of a connector give the same lines, reports and counts of texts without their type."""
    lines = [json.dumps({"properties": {"weight": str(n) if n % 7 else "x"}}).encode() + b"\n" for n in range(500)]
    file = written(tmp_path / "a.jsonl", *lines, b'{"a": 1}\n')
    arguments = ("--format", "lenses", "--type", "weight=int32", "weight > 400", file)
    done = matched(*arguments)
    same(process("match", *arguments), done)
    assert done.stderr.decode().endswith("no value of the declared type: weight 72\n")


def test_spark_reads_every_format(matched, tmp_path):
    """On Spark files of all formats, each known by its first bytes, give what they give without it."""
    pa = pytest.importorskip("pyarrow")
    messages = [mq.encode({}, {"color": "blue", "weight": Int32(n)}, b"data") for n in range(9)]
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.table({"color": ["blue", None, "red"] * 5, "weight": list(range(15)), "body": [b"\1"] * 15}),
        tmp_path / "a.parquet",
        row_group_size=4,
    )
    files = [
        written(tmp_path / "a.qload", b"* QLOAD\n\n", *map(qload_text, messages)),
        written(tmp_path / "a.mq", *map(length_prefixed, messages)),
        written(tmp_path / "a.txt", BANNER, *map(amqsbcg_text, messages), amqsbcg_text(SKIPPED[1]), TRAILER),
        written(tmp_path / "a.wide", b"".join(map(qload_text, SKIPPED)).decode().encode("utf-16")),
        written(tmp_path / "one", messages[7]),
        tmp_path / "a.parquet",
        written(tmp_path / "a.jsonl", BLUE, b"x\n", BARE),
    ]
    arguments = ("color = 'blue' AND weight > 5", *files)
    done = matched(*arguments)
    same(process("match", *arguments), done)
    assert done.stdout.endswith(b'{"color": "blue", "weight": 12, "body": {"bytes": "01"}}\n' + BLUE)
    assert b"51 messages, 16 selected" in done.stderr
    place = files[2].read_bytes().rindex(b"****Message descriptor****")
    line = files[2].read_bytes()[:place].count(NEWLINE) + 1
    assert f"skipped in part: 3 messages, the first {files[2]}:{line}: MQRFH2 at ".encode() in done.stderr


@pytest.mark.process
@pytest.mark.parametrize("size", [1, 100, 5000])
def test_parts_are_reported_like_their_file(run, tmp_path, monkeypatch, size):
    """Invariant: whatever the size of the parts, lines, complaints with their places, and counts are the file's."""
    pytest.importorskip("pyspark")
    from mqsel.spark import job

    lines = [json.dumps({"n": number, "color": "blue"}).encode() + b"\n" for number in range(300)]
    lines[10] = b'{"n": {"int8": 300}}\n'
    lines[170] = b"x\n"
    lines[299] = b'\n{"color": "red"}'
    files = [str(written(tmp_path / name, *lines)) for name in ("a", "b")]
    monkeypatch.setattr(job, "parts", partial(job.parts, size=size))

    def in_parts(matcher, ask, files, wanted, _master, fail, _advance, work, **_):
        held = SimpleNamespace(value=matcher)
        for number, name, kind, found in job._planned(files, wanted, fail):
            for part in found:
                yield from ((number, name, kind, record) for record in job._sifted(held, ask(), work, iter([part])))

    status, out, err = run("match", "n <> 5", *files)
    monkeypatch.setattr(job, "sifted_on_spark", in_parts)
    again = run("match", "--spark", "n <> 5", *files)

    assert (status, out) == again[:2]
    assert without_seconds(err) == without_seconds(again[2])
    assert f"{files[1]}:171: broken JSON" in err


def test_match_parquet(run, tmp_path):
    """Parquet is read without Spark too; a column of a type that no property has, and a stranger, are trouble."""
    pa = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    file = tmp_path / "a.parquet"
    write_table(pa.table({"color": ["blue", "red"], "at": pa.array([1, 2], pa.timestamp("us"))}), file)
    assert run("match", "color = 'blue'", file)[:2] == (0, b'{"color": "blue", "at": "1970-01-01 00:00:00.000001"}\n')
    assert run("match", "--count", "--max-matches", "1", "", file)[:2] == (0, b"1\n")
    status, _, err = run("match", "at = 1", file)
    assert status == 2
    assert err.startswith(f"mqsel: {file}: column 'at' has the Arrow type timestamp")
    status, _, err = run("match", "--format", "parquet", "a = 1", written(tmp_path / "a", BLUE))
    assert (status, "Parquet" in err) == (2, True)


@pytest.mark.spark
@pytest.mark.usefixtures("java")
def test_spark_tells_how_far_it_is(tmp_path):
    """On a terminal stderr says how many tasks have ended, from Spark's status tracker, and is wiped at the end."""
    pty = pytest.importorskip("pty")
    file = written(tmp_path / "a.jsonl", BLUE * 200_000)
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "mqsel", "match", "--master", "local[1]", "--count", "color = 'blue'", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal) as running:
        os.close(terminal)
        told = b""
        with suppress(OSError):  # the end of a terminal
            while more := os.read(main, 4096):
                told += more
        os.close(main)
        assert running.stdout.read() == b"200000\n"
    # Whether the end of the only task is still told depends on when it is asked for.
    assert re.search(rb"(?:^|\r)[01] of 1 tasks(\r1 of 1 tasks)?\r {12}\r200,000 messages", told)


@pytest.fixture
def no_java(monkeypatch):
    """Have every start of Java fail, so that what is known before says so."""
    pytest.importorskip("pyspark.java_gateway")

    def launch_gateway(*_):
        pytest.fail("Java was started")

    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launch_gateway)


@pytest.mark.parametrize("command", ["match", "why", "route"])
@pytest.mark.usefixtures("no_java")
def test_spark_is_not_started_for_nothing(run, tmp_path, command):
    """A master that nobody listens at, or that is none, and files that are all missing: one sentence, and no Java."""
    selects = written(tmp_path / "selectors", b"a\tcolor = 'blue'\n") if command == "route" else "color = 'blue'"
    file = written(tmp_path / "a.jsonl", BLUE)
    port = free_port()
    gone = f"127.0.0.1:{port}"
    for master, sentence in {
        f"spark://{gone}": f"no Spark master answers: {gone}: Connection refused",
        f"spark://{gone},{gone}": f"no Spark master answers: {gone}: Connection refused; {gone}: Connection refused",
        "spark://127.0.0.1:70000": "no Spark master answers: 127.0.0.1:70000: ",
        "spark://127.0.0.1": "the master is 'spark://127.0.0.1': expected local[N], spark://HOST:PORT, ",
        "local[x]": "the master is 'local[x]': expected local[N], ",
        "": "the master is '': expected local[N], ",
    }.items():
        status, out, err = run(command, "--master", master, selects, file)
        assert (status, out) == (2, b"")
        assert err.startswith(f"mqsel: {sentence}")
        assert len(err.splitlines()) <= 2
    for way in (["--spark"], ["--master", "local[2]"], ["--master", "yarn"]):
        status, _, err = run(command, *way, selects, tmp_path / "absent")
        assert status == 2
        assert err.startswith(f"mqsel: {tmp_path}/absent: No such file or directory\n")


@pytest.mark.parametrize("command", ["match", "why", "route"])
def test_spark_is_told_the_command(run, tmp_path, monkeypatch, command):
    """The application has the name of the command that started it."""
    pytest.importorskip("pyspark")
    from mqsel.spark import job

    found = []

    def context(_master, application, _log):
        found.append(application)
        raise MqselError("not started")

    monkeypatch.setattr(job, "_context", context)
    selects = written(tmp_path / "selectors", b"a\tcolor = 'blue'\n") if command == "route" else "color = 'blue'"
    status, _, err = run(command, "--spark", selects, written(tmp_path / "a.jsonl", BLUE))
    assert (status, err, found) == (2, "mqsel: not started\n", [f"mqsel {command}"])


def test_spark_without_java(tmp_path):
    """Without Java --spark says what to install, in two lines."""
    pytest.importorskip("pyspark")
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = process("match", "--spark", "a = 1", written(tmp_path / "a", BLUE), env=environment)
    assert (done.returncode, done.stdout) == (2, b"")
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("mqsel: Spark did not start: ")
    assert second.startswith("  hint: it needs Java 17")


def test_spark_without_pyspark(run, monkeypatch):
    """Without pyspark --spark reports how to install it."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for name in [name for name in sys.modules if f"{name}.".startswith("mqsel.spark.")]:
        monkeypatch.delitem(sys.modules, name)
    status, out, err = run("match", "--spark", "a = 1", "file")
    assert (status, out) == (2, b"")
    assert err == f"mqsel: mqsel.spark needs pyspark, which is not installed\n  hint: {with_extra('spark')}\n"


def test_spark_reads_no_stdin(run):
    """Stdin is not for executors."""
    status, _, err = run("match", "--spark", "a = 1", "-")
    assert status == 2
    assert err.startswith("mqsel: --spark can't read stdin: expected files")
