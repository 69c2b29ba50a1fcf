"""Selectors are written back where they stand, in the file's own escaping, and nothing else is touched."""

from __future__ import annotations

import gzip
import os
import random
import stat
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter")
pytest.importorskip("pathspec")
pytest.importorskip("hypothesis")

from hypothesis import given, settings
from hypothesis import strategies as st
from volumes import volume

from mqsel.analysis.compare.relation import relation
from mqsel.analysis.lint import fixed
from mqsel.errors import SelectorError
from mqsel.inventory import KINDS, Place
from mqsel.inventory.edit import difference, document_of, holds_lines, indented, parts, rewritten, write
from mqsel.inventory.pieces import of_file
from mqsel.inventory.recognition import text_of
from mqsel.inventory.writings import WRITINGS, EditError, encoded
from mqsel.language.dialect import PRESETS
from mqsel.language.format import formatted
from mqsel.language.selector import read_selector

CORPUS = Path(__file__).parent / "corpus"


def document(path, data=None, kind=None):
    if data is not None:
        path.write_bytes(data)
    return document_of(Place(str(path), True), kind, {})


# ---- writings ------------------------------------------------------------------------------------------------------

_NASTY = st.text(
    st.sampled_from([*"'\"\\&<>$%{}[]()+-*#`|:;, \t\n\r\0\x7f\x85nu0a1é𝄞"]) | st.characters(exclude_categories=["Cs"]),
    max_size=12,
)


@settings(max_examples=volume(300, smoke=60))
@given(_NASTY, st.sampled_from(["utf-8", "latin-1", "ascii"]))
def test_writings_decode_what_they_encode(text, encoding):
    """Whatever a writing writes for a text is that text again; what it cannot write it refuses."""
    for name in WRITINGS:
        try:
            written = encoded(text, name, encoding)
        except EditError as error:
            assert "cannot be written in this place" in error.message
            continue
        assert of_file(written, 0, len(written)).decoded(name).value == text, name
        if WRITINGS[name].number is not None:
            written.encode(encoding)


@settings(max_examples=volume(300, smoke=60))
@given(
    st.lists(st.sampled_from(["a", "=", "'x y'", " ", "  ", "AND", "and", "(", ")", "<>", "\n"]), max_size=12),
    st.data(),
)
def test_parts_lead_from_one_text_to_the_other(tokens, data):
    """The parts of two selectors, applied to the first, make the second."""
    before = "".join(tokens)
    after = "".join(data.draw(st.permutations(tokens)))
    made, at = [], 0
    for start, stop, text in parts(before, after):
        assert at <= start <= stop and (start < stop or text)
        made += [before[at:start], text]
        at = stop
    assert "".join([*made, before[at:]]) == after


# ---- the corpus -----------------------------------------------------------------------------------------------------


def remainder(one, numbers):
    """Return the text of a file without the selectors of some entries, and the blanks between pieces of them."""
    content, *_ = text_of(one.data)
    spans = set()
    for number in numbers:
        last = None
        for piece in one.entries[number].text.pieces:
            spans.add((piece.place, piece.end))
            if last is not None and not content[last.end : piece.place].strip(" \t|"):
                spans.add((last.end, piece.place))
            last = piece
    left, at = [], 0
    for start, stop in sorted(spans):
        left.append(content[at : max(at, start)])
        at = max(at, stop)
    return "".join([*left, content[at:]])


def facts(entries):
    return [(one.kind, one.key, one.destination, one.reason, one.text is None) for one in entries]


def rewrite(one, wanted):
    """Rewrite the file of a document; return the document of what is there now, and what was refused."""
    made = rewritten(one, wanted)
    before = [entry.selector for entry in one.entries]
    write(one, made.data)
    again = document_of(one.place, one.kind, one.columns)
    assert facts(again.entries) == facts(one.entries)
    for number, entry in enumerate(again.entries):
        assert entry.selector == (wanted[number] if number in made.changed else before[number])
    assert remainder(one, made.changed) == remainder(again, made.changed)
    assert set(made.changed).isdisjoint(made.refused)
    return again, made.refused


def read(entry):
    try:
        return read_selector(entry.selector, PRESETS[entry.dialect]) if entry.selector is not None else None
    except SelectorError:
        return None


def layouts(one, width):
    wanted = {}
    content, *_ = text_of(one.data)
    for number, entry in enumerate(one.entries):
        selector = read(entry)
        if selector is not None:
            wanted[number] = formatted(selector, 10_000)
            if holds_lines(entry.text) and "\n" not in wanted[number]:
                wanted[number] = indented(content, entry, formatted(selector, width))
    return wanted


# Correlation filters, and constants of which one selector wants what another one does not.
_REASONS = ("it would not be the same", "stands for other things", "use the same text", "would also change")
# Numbers as constants, a value of MQSC without quotes, a first bracket that is doubled.
_OTHERS = ("Consumers.kt", "Consumers.scala", "Orders.java", "changes.mqsc", "arm-full.json")


@pytest.mark.sample(30)
@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir()))
def test_lint_on_the_corpus(tmp_path, name):
    """Each selector, with a test that lint takes out again, is written and fixed: the same entries, proved equal."""
    kind = "lines" if name == "lines.selectors" else None  # lines with an open parenthesis alone tell less
    one = document(tmp_path / name, (CORPUS / name).read_bytes(), kind)
    good = {number: read(entry) for number, entry in enumerate(one.entries)}
    good = {number: selector for number, selector in good.items() if selector is not None}
    longer = {number: f"({selector.text}) AND (zz = 5 OR zz = 5)" for number, selector in good.items()}
    twice, refused = rewrite(one, longer)
    for number, reason in refused.items():
        is_plain = name not in _OTHERS
        assert reason == KINDS[one.entries[number].kind].kept or any(one in reason for one in _REASONS[is_plain:]), (
            reason
        )
    written = good.keys() - refused.keys()
    known = {number: fixed(twice.entries[number].selector, twice.entries[number].dialect) for number in written}
    assert all(known[one] != twice.entries[one].selector for one in written)
    again, others = rewrite(twice, known)
    assert others == {}
    for number in written:
        now = again.entries[number]
        assert "OR zz" not in now.selector
        assert relation(now.selector, longer[number], dialect=now.dialect).relation == "equal", now
    for number, text in known.items():
        assert fixed(text, again.entries[number].dialect) == text


@pytest.mark.sample(1)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "crlf"])
def test_format_on_the_corpus(tmp_path, encoding):
    """Selectors in other layouts, and back in the first: nothing else changes, and the second time nothing at all."""
    for path in sorted(CORPUS.iterdir()):
        text = path.read_text(encoding="utf-8")
        if "encoding=" in text and encoding != "crlf":
            continue  # declares another one
        data = text.replace("\n", "\r\n").encode() if encoding == "crlf" else text.encode(encoding)
        one = document(tmp_path / path.name, data)
        for width in (20, 20, 80, 80):
            before = one.data
            wanted = layouts(one, width)
            one, refused = rewrite(one, wanted)
            assert not [number for number in refused if one.entries[number].kind not in ("runmqsc", "azure")], refused
        assert one.data == before
        if encoding == "crlf":
            assert one.data.count(b"\n") == one.data.count(b"\r\n")
        assert one.data.startswith(data[:2])


# ---- planted selectors -------------------------------------------------------------------------------------------

# For each place a file with the selector a = 1.
PLACES = {
    "mqsc '": ("a.mqsc", "DEFINE SUB(A) DEST(Q) +\n  SELECTOR('a = 1') REPLACE\nDEFINE SUB(B) SELECTOR('b = 2')\n"),
    'mqsc "': ("a.mqsc", 'def sub(A) selector("a = 1")\n* a comment\n'),
    "mqsc +": ("a.mqsc", "ALTER SUB(A) SELECTOR('a +\n * a comment\n   = 1')\n"),
    "mqsc -": ("a.mqsc", "ALTER SUB(A) SELECTOR('a = -\n1') REPLACE\n"),
    "ems": ("bridges.conf", '[topic:T]\n  queue=Q selector="a = 1"\n'),
    "xml attribute": ("a.xml", "<beans><jms:listener destination=\"q\" selector='a = 1'/></beans>\n"),
    "xml text": (
        "a.xml",
        "<ejb-jar><message-driven><message-selector>a = 1</message-selector></message-driven></ejb-jar>",
    ),
    "cdata": ("a.xml", "<ejb-jar><a><message-selector>\n  <![CDATA[a = 1]]>\n</message-selector></a></ejb-jar>"),
    "artemis": (
        "a.xml",
        '<configuration xmlns="urn:activemq"><queue name="q"><filter string="a = 1"/></queue></configuration>',
    ),
    "java": (
        "a.java",
        'import javax.jms.*;\nclass A { @JmsListener(destination = "q", selector = "a = 1") void f() {} }\n',
    ),
    "java +": ("a.java", 'class A { void f() { setMessageSelector("a" + /* jms */ " = " +\n   "1"); } }\n'),
    "java block": ("a.java", 'class A { void f() {\n  jms.setMessageSelector("""\n    a = 1\n    """); } }\n'),
    "camel": ("a.java", 'class A { void f() { from("jms:queue:in?selector=a%20%3D%201&x=y"); } }\n'),
    "kotlin": ("a.kt", 'import jms.A\nclass A { fun f() { c.createConsumer(q, "a = 1") } }\n'),
    "kotlin block": (
        "a.kt",
        'import jms.A\nclass A { fun f() { c.createConsumer(q, """\n   a = 1\n  """.trimIndent()) } }\n',
    ),
    "scala": ("a.scala", 'import jms._\nclass A { def f() = c.createConsumer(q, "a = 1") }\n'),
    "yaml plain": ("a.yml", "jms:\n  selector: a = 1\n  queue: b\n"),
    "yaml quoted": ("a.yml", "jms:\n  selector: 'a = 1'   # a comment\n  queue: b\n"),
    "yaml": ("a.yml", 'jms: {selector: "a = 1", queue: b}\n'),
    "yaml |": ("a.yml", "jms:\n  selector: |\n    a = 1\n  queue: b\n"),
    "yaml >": ("a.yml", "jms:\n  selector: >-\n    a =\n    1\n  queue: b\n"),
    "properties": ("a.properties", "jms.selector = a = 1\njms.queue=q\n"),
    "json": ("a.json", '{"jms.selector": "a = 1", "x": [1, 2]}'),
    "azure": ("a.json", '{"name": "r", "properties": {"sqlFilter": {"sqlExpression": "a = 1"}}}\n'),
    "bicep": ("a.bicep", "resource r 'a/rules@1' = {\n  properties: { sqlFilter: { sqlExpression: 'a = 1' } }\n}\n"),
    "hcl": ("a.tf", 'resource "r" "x" {\n  sql_filter = "a = 1"\n}\n'),
    "keyed": ("a.txt", "# keys\none\ta = 1\ntwo\tb = 2\n"),
    "lines": ("a.selectors", "# lines\na = 1\nb = 2\n"),
    "keyed-json": ("b.json", '{"one": "a = 1", "two": "b = 2"}'),
    "csv": ("a.csv", 'key,selector\none,"a = 1"\n'),
}
# Of these, what cannot hold every text; the others can.
_NARROW = {"cdata", "yaml plain", "lines"}  # where all have tabs, lines are keyed

_COMMENTS = {
    **dict.fromkeys((".java", ".kt", ".scala", ".bicep"), "// ä\n"),
    **dict.fromkeys((".conf", ".yml", ".properties", ".tf", ".txt", ".selectors"), "# ä\n"),
    ".mqsc": "* ä\n",
    ".xml": "<!-- ä -->",
}
_VALUES = st.lists(st.sampled_from([*'abä𝄞&<>"\\$%+-#{}[];:`|/*, ', "''", "${", "]]>", "\t"]), max_size=8).map("".join)
_TESTS = st.builds(
    lambda name, operator, value: f"{name} {operator} '{value}'",
    st.sampled_from(["a", "b", "JMSType", "größe"]),
    st.sampled_from(["=", "<>", "LIKE"]),
    _VALUES,
)
_SELECTORS = st.lists(_TESTS, min_size=1, max_size=4).map(" AND ".join)


@pytest.mark.sample(3)
@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
@pytest.mark.parametrize("name", PLACES)
def test_planted_selectors(tmp_path_factory, name, data, encoding):
    """Any selector is written into each place in each encoding, one after the other, or refused with a reason."""
    file, content = PLACES[name]
    path = tmp_path_factory.mktemp("planted") / file
    one = document(path, (content + _COMMENTS.get(path.suffix, "")).encode(encoding))
    assert one.entries[0].selector == "a = 1"
    for _ in range(3):
        number = data.draw(st.integers(0, len(one.entries) - 1))
        wanted = data.draw(_SELECTORS)
        before = one.data
        one, refused = rewrite(one, {number: wanted})
        if refused:
            assert one.data == before
            # Placeholders would be no selectors any more.
            assert name in _NARROW or encoding == "latin-1" or any(sign in wanted for sign in "$#%{"), (wanted, refused)


# ---- one text of the file for several selectors --------------------------------------------------------------------

_SHARED = """import javax.jms.*;
class A {
    static final String TYPE = "color='red'";
    @JmsListener(destination = "a", selector = TYPE) void one() {}
    @JmsListener(destination = "b", selector = TYPE) void two() {}
    @JmsListener(destination = "c", selector = TYPE + " and b=1") void three() {}
}
"""


def test_a_shared_constant_is_edited_once(tmp_path):
    """What three selectors want of one constant is written once."""
    one = document(tmp_path / "A.java", _SHARED.encode())
    again, refused = rewrite(one, {number: formatted(read(entry), 10_000) for number, entry in enumerate(one.entries)})
    assert refused == {}
    assert again.data.decode() == _SHARED.replace("color='red'", "color = 'red'").replace("and b=1", "AND b = 1")


def test_an_anchor_of_yaml_is_edited_once(tmp_path):
    """What stands for two values is written where it stands."""
    content = 'a:\n  jms.selector: &x "a=1"\nb:\n  jms.selector: *x\n'
    one = document(tmp_path / "a.yml", content.encode())
    again, refused = rewrite(one, {0: "a = 1", 1: "a = 1"})
    assert (again.data.decode(), refused) == (content.replace("a=1", "a = 1"), {})
    again, refused = rewrite(again, {0: "a = 2"})
    assert refused == {0: "the entry of line 2 would also change"}


def test_a_shared_constant_that_would_differ(tmp_path):
    """Two selectors that want different texts in one place are refused, and so is one that would change another."""
    one = document(tmp_path / "A.java", _SHARED.encode())
    before = [entry.selector for entry in one.entries]
    made = rewritten(one, {0: "color='blue'", 1: "color='green'", 2: before[2]})
    assert (made.data, made.changed) == (one.data, [])
    assert made.refused == dict.fromkeys((0, 1), "two selectors use the same text of the file, and it would differ")
    made = rewritten(one, {0: "color='blue'", 1: "color='blue'", 2: before[2]})
    assert (made.data, made.changed) == (one.data, [])
    assert made.refused == dict.fromkeys((0, 1), "the entry of line 3 would also change")


def test_what_cannot_be_written_holds_up_nothing_else(tmp_path):
    """One of many selectors that would not be read again is refused alone."""
    lines = [f"k{number}\ta = {number}" for number in range(50)]
    one = document(tmp_path / "keys.txt", "\n".join(lines).encode())
    wanted = {number: f"b = {number}" for number in range(50)}
    wanted[7] = "b = 'x\ny'"
    wanted[20] = " "
    again, refused = rewrite(one, wanted)
    assert sorted(refused) == [7, 20]
    assert refused[7] == "an end of line cannot be written in this place"
    assert refused[20] == "read again, it would not be the same selector"
    assert again.entries[19].selector == "b = 19"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"AMQ8096I: IBM MQ subscription inquired.\n   SUB(A)   SELECTOR(a = 1)\n", "output of a command"),
        (b"\xef\xbb\xbfa = 1\nb = '\xff'\n", "bytes that are none of its encoding, utf-8"),
        ("a = 1\nb = 'ä'\n".encode("latin-1"), "encoding, latin-1, has not all of its characters"),
    ],
)
def test_refused(tmp_path, data, reason):
    """What is not written is said with a reason."""
    one = document(tmp_path / "a.txt", data)
    made = rewritten(one, {0: "a = '€'"})
    assert (made.data, made.changed) == (data, [])
    assert reason in made.refused[0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", '<?xml version="1.0" encoding="ISO-8859-1"?><a message-selector="a = 1" x="ä"/>'),
        ("a.java", 'import jms.*; class A { /* ä */ void f() { c.createConsumer(q, "a = 1"); } }'),
        ("a.properties", "# ä\njms.selector=a = 1\n"),
        ("a.json", '{"ä": 1, "jms.selector": "a = 1"}'),
    ],
)
def test_characters_that_the_encoding_has_not(tmp_path, name, content):
    """They are written by their numbers, where the language has those."""
    one = document(tmp_path / name, content.encode("latin-1"))
    again, refused = rewrite(one, {0: "a = '€𝄞ä'"})
    assert refused == {}
    assert "ä'" in again.data.decode("latin-1")


# ---- the file ------------------------------------------------------------------------------------------------------


def changed(path):
    one = document(path, b"# \xc3\xa4\r\na=1\r\nb = 2")
    return one, rewritten(one, {0: "a = 1"}).data


def test_the_file_keeps_its_mode_and_its_links(tmp_path):
    """A new file has the mode of the old one; a link stays one, and its target is written."""
    target = tmp_path / "folder" / "a.txt"
    target.parent.mkdir()
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    one, data = changed(target)
    target.chmod(0o640)
    one = one._replace(place=Place(str(link), True))
    write(one, data)
    assert target.read_bytes() == b"# \xc3\xa4\r\na = 1\r\nb = 2"
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in target.parent.iterdir()] == ["a.txt"]


def test_what_changed_meanwhile_is_left_alone(tmp_path):
    """A file that is not what was read any more is not written; nor is one with other names, or one that is packed."""
    path = tmp_path / "a.txt"
    one, data = changed(path)
    path.write_bytes(b"other = 1\n")
    with pytest.raises(EditError, match="has changed since it was read"):
        write(one, data)
    assert path.read_bytes() == b"other = 1\n"
    one, data = changed(path)
    os.link(path, tmp_path / "b")
    with pytest.raises(EditError, match="a hard link"):
        write(one, data)
    assert path.read_bytes() == one.data
    path.write_bytes(gzip.compress(one.data))
    with pytest.raises(EditError, match="the file is packed"):
        document(path)
    with pytest.raises(EditError, match="No such file"):
        document(tmp_path / "none")
    with pytest.raises(EditError, match="at a URL"):
        document("s3://bucket/a.txt")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.txt", "b"]


_STEPS = ("chmod", "read_bytes", "replace")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    "step",
    [
        "os.open",
        "os.fsync",
        "os.chown",
        "os.chmod",
        "pathlib.Path.read_bytes",
        "pathlib.Path.replace",
    ],
)
def test_faults_leave_the_old_file(tmp_path, monkeypatch, step, error):
    """Whatever fails, the old file is whole, and nothing is left beside it."""
    path = tmp_path / "a.txt"
    one, data = changed(path)

    def fail(*_args, **_options):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(step, fail)
        if step == "os.chown" and isinstance(error, OSError):
            write(one, data)
        else:
            with pytest.raises((EditError, KeyboardInterrupt)):
                write(one, data)
    assert path.read_bytes() == (data if step == "os.chown" and isinstance(error, OSError) else one.data)
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_the_difference_shows_control_characters(tmp_path):
    """A diff has the lines that would be written, and nothing that a terminal obeys."""
    one = document(tmp_path / "a.txt", b"k\x1b\ta=1\r\nc\tb = 2\r\n", "keyed")
    lines = [*difference(one, rewritten(one, {0: "a = 1"}).data)]
    assert lines[2:] == ["@@ -1,2 +1,2 @@", "-k�\ta=1", "+k�\ta = 1", " c\tb = 2"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_written_exactly_or_not_at_all(tmp_path, seed):
    """Whatever a file holds: its selectors are written, with nothing else, or refused with a reason."""
    rng = random.Random(seed)
    contents = [path.read_bytes() for path in sorted(CORPUS.iterdir())]
    changed = 0
    for _ in range(60):
        data = bytearray(rng.choice(contents))
        for _ in range(rng.choice([0, 1, 3, 10])):
            at = rng.randrange(len(data) + 1)
            data[at:at] = rng.choice([b"'", b'"', b"\\", b"\xff", b"\n", b"+\n", b"${", b"\0", b"<!--", b"''", b"\r"])
            del data[at + 1 : at + 1 + rng.choice([0, 0, 1, 5])]
        one = document(tmp_path / "a", bytes(data))
        known = [number for number, entry in enumerate(one.entries) if entry.selector is not None]
        wanted = {}
        for number in rng.sample(known, len(known) // 2):
            text = one.entries[number].selector
            at = rng.randrange(len(text) + 1)
            wanted[number] = text[:at] + rng.choice(["'", " ", "ä€", "\n", "", "\\", "a = 1 OR "]) + text[at + 1 :]
        before = one.data
        one, refused = rewrite(one, wanted)
        assert all(refused.values())
        changed += one.data != before
    assert changed > 10
