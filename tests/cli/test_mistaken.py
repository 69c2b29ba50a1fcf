"""What stands where something else is expected: one sentence that says what it is, and the right command."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from printer import amqsbcg_text

from mqsel import SelectorSet
from mqsel.files.framings import length_prefixed
from mqsel.files.qload import qload_text
from mqsel.formats import mq

BLUE = '{"color": "blue", "weight": 3000}\n'


@pytest.fixture
def run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run in a folder with files."""
    monkeypatch.chdir(tmp_path)
    for name in ("bench", "README.md", "my selectors.txt", "-x.txt", "color = 'blue'", "a$b.txt"):
        Path(name).write_text("color = 'blue'\n", "utf-8")
    Path("messages").write_text(BLUE, "utf-8")
    Path("color").mkdir()
    return run


# ---- files and selectors ---------------------------------------------------------------------------------------------

PATHS = ["bench", "README.md", "./README.md", "my selectors.txt", "color = 'blue'", "a$b.txt", "be*", "[ab]ench"]
COMMANDS = [("check",), ("lint",), ("lint", "--fix"), ("format",), ("format", "--check")]


@pytest.mark.parametrize("text", PATHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_names_of_files_are_paths(run: Run, command: tuple[str, ...], text: str) -> None:
    """What names a file, or is a pattern that some file matches, is read, whatever it would be as a selector."""
    assert run(*command, text) == run(*command, "--file", text)


NO_FILES = [
    "nowhere",
    "a.b",
    "weight/2",
    "color/2 = 1",
    "src/*.java",
    "my folder/subs.mqsc",
    "a b.xml",
    "messages:1",
    "*.q",
]
TEXTS = ["a = 1", "a<>1", "weight / 2 > 5", "color='x/y'", "a = 'b.xml'", "(nowhere)", "NOT nowhere", "a.b IS NULL", ""]


@pytest.mark.parametrize("command", COMMANDS)
def test_texts_that_name_no_file(run: Run, command: tuple[str, ...]) -> None:
    """What looks like a name and names no file is an error that suggests -e; anything else is a selector."""
    for text in NO_FILES:
        status, out, err = run(*command, text)
        assert (status, out) == (2, "")
        assert err.startswith(
            f"mqsel: {text!r}: there is no such file\n  hint: if a selector is meant, write mqsel {command[0]} -e "
        )
        assert "no such file" not in run(*command, "-e", text)[2]
    for text in TEXTS:
        assert run(*command, text) == run(*command, "-e", text)


JUDGED = [
    (("match", "bench"), "mqsel match SELECTOR bench", "bench"),
    (("why", "README.md", "messages"), "mqsel why SELECTOR README.md messages", "README.md"),
    (("match", "color", "messages", "messages", "bench"), "mqsel match SELECTOR color messages messages …", "color"),
    (("match", "color", "day=*/*.jsonl"), 'mqsel match SELECTOR color "day=*/*.jsonl"', "color"),
    (("match", "--count", "bench", "-"), "mqsel match SELECTOR bench -", "bench"),
    (("explain", "bench"), "mqsel explain SELECTOR bench", "bench"),
    (("explain", "color", "messages:1"), "mqsel explain SELECTOR messages:1", "color"),
    (("explain", "color", '{"color": true}'), "mqsel explain SELECTOR '{\"color\": true}'", "color"),
    (("explain", "--program", "messages"), "mqsel explain SELECTOR messages", "messages"),
]


@pytest.mark.parametrize(("arguments", "advice", "name"), JUDGED)
def test_calls_without_a_selector(run: Run, arguments: tuple[str, ...], advice: str, name: str) -> None:
    """A file or directory in the place of the selector of what judges messages is refused, stdin unread."""
    place = "a directory" if name == "color" else "a file"
    hint = f'{advice}; if a selector is meant, write "({name})"'
    assert run(*arguments) == (2, "", f"mqsel: {name!r} is {place}: expected the selector first\n  hint: {hint}\n")


SWAPPED = [
    (("match", "messages", "color = 'red'"), "match \"color = 'red'\" messages"),
    (("why", "messages", "bench", "weight > 5"), 'why "weight > 5" messages bench'),
    (("explain", "messages", "weight > 5"), 'explain "weight > 5" messages'),
    (("explain", "messages:1", "weight > 5"), 'explain "weight > 5" messages:1'),
    (("match", "my selectors.txt", "a$b = 5"), "match 'a$b = 5' \"my selectors.txt\""),
]


@pytest.mark.parametrize(("arguments", "hint"), SWAPPED)
def test_selectors_behind_what_they_judge(run: Run, arguments: tuple[str, ...], hint: str) -> None:
    """A selector that stands last is recognised, and the call written as it should be."""
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.endswith(f"is not: expected the selector first\n  hint: mqsel {hint}\n")


@pytest.mark.parametrize("arguments", [("bench", "weight > 5"), ("weight > 5", "bench"), ("bench",)])
def test_diff_of_a_file_and_a_selector(run: Run, arguments: tuple[str, ...]) -> None:
    """Diff compares two paths or two selectors, and not one with the other."""
    dialects = ("--dialect", "JMS", "--dialect", "IBM_MQ") if len(arguments) == 1 else ()
    status, out, err = run("diff", *dialects, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("mqsel: 'bench' is a path: expected two paths\n  hint: write mqsel diff SELECTOR SELECTOR, ")


def test_parentheses_make_a_selector_of_a_name(run: Run) -> None:
    """What the hints say of names that are selectors all the same is so, in every command."""
    assert run("check", "(bench)")[0] == 0
    assert run("lint", "(bench)")[0] == 0
    assert run("format", "(bench)")[:2] == (0, "bench\n")
    assert run("diff", "(bench)", "bench = TRUE")[:1] == (0,)
    assert run("match", "(color)", "messages")[0] == 1
    assert run("explain", "(color)", '{"color": true}')[0] == 0
    assert run("check", "-e", "bench")[0] == 0


# ---- files as something else -----------------------------------------------------------------------------------------

SELECTORS = b"color = 'blue'\nweight > 2500\n"
KEYED = b"a\tcolor = 'blue'\nb\tweight > 2500\n"
ARRAY = b'["color = \'blue\'", "weight > 2500"]\n'
OBJECT = b'{"a": "color = \'blue\'", "b": "weight > 2500"}\n'
DUMP = qload_text(mq.encode({}, {"color": "blue", "filler": "x" * 400}, b"")) * 3
PRINTED = amqsbcg_text(mq.encode({}, {"color": "blue", "filler": "x" * 400}, b"")) * 2
FRAMED = length_prefixed(mq.encode({}, {"color": "blue"}, b"")) * 3

NO_MESSAGES = [
    (SELECTORS, "selectors\n  hint: mqsel check --file FILE reads them"),
    (b"color = 'blue' AND\n" + SELECTORS + b"broken =\n" + SELECTORS, "selectors\n  hint: mqsel check --file FILE"),
    (KEYED, "selectors by key\n  hint: mqsel route SELECTORS MESSAGES reads them"),
    (ARRAY, "a JSON array of texts\n  hint: mqsel audit and route read selectors"),
    (b"color,weight\nblue,5\n", "CSV\n  hint: python3 -c 'import csv"),
    (b"color\tweight\nblue\t5\n", "CSV\n  hint: python3 -c 'import csv"),
    (
        DUMP[-600:],
        "the middle of a text of dmpmqmsg or QLOAD\n  hint: --format qload reads it from its next message on",
    ),
    (PRINTED[-600:], "the middle of an output of amqsbcg\n  hint: --format amqsbcg reads it from its next message on"),
    (FRAMED[30:], "the middle of a file of MQ messages\n  hint: cut such files where a message begins"),
]


@pytest.mark.parametrize(("content", "what"), NO_MESSAGES, ids=range(len(NO_MESSAGES)))
def test_what_is_no_file_of_messages(run: Run, content: bytes, what: str) -> None:
    """What was given as messages and holds none is named, with the command that reads it, and exit code 2."""
    Path("file").write_bytes(content)
    expected = f"mqsel: file: no message could be read as json: this looks like {what}"
    for arguments in (("why", "color = 'red'"), ("match", "color = 'red'"), ("inspect",), ("explain", "color = 'red'")):
        status, out, err = run(*arguments, "file")
        assert (status, out) == (2, ""), arguments
        assert expected in err, arguments


def test_no_advice_to_read_a_file_as_it_was_read(run: Run) -> None:
    """A dump of which no message is whole is not said to need the format that it was read as."""
    Path("file").write_bytes(PRINTED[: len(PRINTED) // 2].rpartition(b"\n000000")[0] + b"\n")
    status, _, err = run("inspect", "file")
    assert status == 2
    assert "the dump ends at byte" in err and "--format" not in err


def test_a_message_as_a_file(run: Run) -> None:
    """A message that stands where a file is expected is none: who takes one is said."""
    status, out, err = run("match", "weight > 5", BLUE.strip())
    assert (status, out) == (2, "")
    assert "no files\n  hint: a message isn't a file: pass it to mqsel explain, or to other commands on stdin\n" in err


NO_SELECTORS = [
    (BLUE.encode(), "lines of JSON"),
    (BLUE.encode() * 2, "lines of JSON"),
    (b'{"color": "blue"}\n{"color": "red"}\n', "lines of JSON"),
    (DUMP, "qload"),
    (DUMP[-600:], "the middle of a text of dmpmqmsg or QLOAD"),
    (PRINTED, "amqsbcg"),
    (FRAMED, "mq"),
]


@pytest.mark.parametrize(("content", "what"), NO_SELECTORS, ids=range(len(NO_SELECTORS)))
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_what_is_no_file_of_selectors(run: Run, content: bytes, what: str, pack: Callable[[bytes], bytes]) -> None:
    """Messages that were given as selectors are named, with the command that reads them, packed or not."""
    Path("file").write_bytes(pack(content))
    said = f"mqsel: file:1:1: this looks like {what}: expected selectors; mqsel match reads messages\n"
    for command in ("check", "lint", "format"):
        status, out, err = run(command, "--file", "file")
        assert (status, out, err[: len(said)]) == (2, "", said), command
    assert run("audit", "file") == (2, "", said + "0 selectors, 1 not read\n")
    assert run("route", "file", "messages") == (2, "", said + "mqsel: none of the selectors is valid: nothing to do\n")


def test_saved_sets_are_no_text(run: Run) -> None:
    """A file of SelectorSet.save is named, with what makes selectors of it; of an empty file nothing is left."""
    SelectorSet({"a": "x > 5"}).save("set")
    said = "mqsel: set:1:1: this is a file of SelectorSet.save: expected selectors as text; in Python, "
    assert run("audit", "set")[2].startswith(said)
    status, out, err = run("route", "set", "messages")
    assert (status, out, err[: len(said)]) == (2, "", said)
    assert json.loads(json.dumps(dict(SelectorSet.open("set")))) == {"a": "x > 5"}
    Path("empty").touch()
    assert run("route", "empty", "messages")[2].startswith("mqsel: no selector was found: mqsel help paths")


@pytest.mark.parametrize(("content", "places"), [(KEYED, "1:3 2:3"), (ARRAY, "1:3 1:21"), (OBJECT, "1:8 1:31")])
def test_selectors_by_key(run: Run, content: bytes, places: str) -> None:
    """Files that audit and route read are read by the others, too."""
    if content is not KEYED:
        pytest.importorskip("tree_sitter")
    Path("file").write_bytes(content)
    status, out, _ = run("check", "--file", "file")
    assert status == 0
    assert [line.split(" ")[0] for line in out.splitlines() if line[0] != " "] == [
        f"file:{one}:" for one in places.split()
    ]
    assert run("audit", "file")[0] == 0


def test_files_of_selectors_are_read_as_before(run: Run) -> None:
    """Selectors that are names, faulty or full of commas and braces are no messages."""
    for content in (b"urgent\n", b"color IN ('a', 'b')\n", b"color = '{\"a\": 1}'\n", b"a = 1\n{b}\n", b""):
        Path("file").write_bytes(content)
        assert "looks like" not in run("check", "--file", "file")[2]


def test_messages_in_the_place_of_selectors(run: Run) -> None:
    """A message in JSON is no selector: the call is written as it should be, where that is clear."""
    message = '{"color": "red"}'
    status, out, err = run("explain", message, "color = 'red'")
    assert (status, out) == (2, "")
    assert err.endswith(f"expected the selector first\n  hint: mqsel explain \"color = 'red'\" '{message}'\n")
    assert run("check", message) == (2, "", f"mqsel: '{message}' is a message: expected a selector\n")
    assert "parentheses are round" in run("check", "{color = 'red'}")[2]


# ---- what a message is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "place", "complaint"),
    [
        (b"", "named", "named: there is no message"),
        (b"\n \r\n", "named", "named: there is no message"),
        (b'{"a":', "named", "named: broken JSON: expecting value at column 6"),
        (b'{"a": 1}\n{"a":\n', "named:2", "named:2: broken JSON: expecting value at column 6"),
        (mq.encode({}, {}, b"")[:300], "named", "named: MQMD needs 364 bytes: 300 are left"),
    ],
)
def test_explain_says_where_no_message_is(run: Run, content: bytes, place: str, complaint: str) -> None:
    """What is wrong with a message that an argument names begins with its place, as in commands that read files."""
    Path("named").write_bytes(content)
    status, out, err = run("explain", "a = 1", place)
    assert (status, out) == (2, "")
    assert err.startswith(f"mqsel: {complaint}")


def test_a_name_without_letters_is_seen(run: Run) -> None:
    """The name of a file that is empty stands in apostrophes."""
    assert "mqsel: '': No such file" in run("match", "a = 1", "")[2]
