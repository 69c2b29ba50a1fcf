"""Selectors are found where they stand: the corpus, written as the tools write it, and damage in every place."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter")
pytest.importorskip("pathspec")

from mqsel.columns.wordings import with_extra
from mqsel.errors import ArgumentError, MqselError
from mqsel.inventory import KINDS, read, trees
from mqsel.inventory.pieces import HOLE, Text, joined, of_file
from mqsel.inventory.writings import WRITINGS

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
EXPECTED = [json.loads(line) for line in (HERE / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
COLUMNS = ("file", "line", "column", "kind", "key", "destination", "selector", "reason")


def rows(paths, **options):
    return [
        {**{name: getattr(one, name) for name in COLUMNS}, "file": Path(one.file).name}
        for one in read(paths, **options)
    ]


@pytest.mark.parametrize("name", sorted({row["file"] for row in EXPECTED}))
def test_corpus(name):
    """Every file of the corpus has the entries that are expected of it, whatever it is called."""
    wanted = [row for row in EXPECTED if row["file"] == name]
    assert rows(CORPUS / name) == wanted


def test_the_corpus_as_a_folder():
    """A folder has the entries of its files, and every file has one."""
    assert rows(CORPUS) == EXPECTED
    assert {path.name for path in CORPUS.iterdir()} == {row["file"] for row in EXPECTED}
    assert {row["kind"] for row in EXPECTED} == KINDS.keys() - {"parquet", "json"}


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_and_line_ends(tmp_path, end, encoding):
    """Encodings, marks and line ends change no entry."""
    contents = {path.name: path.read_text(encoding="utf-8") for path in CORPUS.iterdir()}
    declared = {name for name, text in contents.items() if "encoding=" in text}
    for name in contents.keys() - declared:
        (tmp_path / name).write_bytes(contents[name].replace("\n", end).encode(encoding))
    got = rows(tmp_path)
    for one in got:
        if one["selector"]:
            one["selector"] = one["selector"].replace("\r\n", "\n")
    assert got == [row for row in EXPECTED if row["file"] not in declared]


def test_pieces_lead_back_to_the_file():
    """Each piece that is written as it is stands in the file as it does in the text."""
    seen = 0
    for one in read(CORPUS):
        if one.text is None:  # a value that has no end
            continue
        assert one.text.pieces[-1].stop == len(one.text.value)
        content = Path(one.file).read_text(encoding="utf-8")
        for piece in one.text.pieces:
            here, there = one.text.value[piece.start : piece.stop], content[piece.place : piece.end]
            if piece.place < piece.end and len(here) == len(there) and HOLE not in here:
                assert here == there or here.isspace(), one
                seen += 1
        line = content[: one.text.span[0]].count("\n") + 1
        assert line == one.line
    assert seen > 60


def test_a_span_within_escapes():
    """A span of a text is that of its escapes in the file, through two writings."""
    content = r'x = "a &#65;\u0042%43 d"'
    text = of_file(content, 5, len(content) - 1).decoded("xml").decoded("java").decoded("url")
    assert text.value == "a ABC d"
    assert content[slice(*text.span_of(2, 3))] == "&#65;"
    assert content[slice(*text.span_of(3, 4))] == r"\u0042"
    assert content[slice(*text.span_of(4, 5))] == "%43"
    assert content[slice(*text.span_of(6, 7))] == "d"
    assert joined([Text(""), text[:1], text[6:]]).value == "ad"


COMMENTED = [
    ("mqsc", "DEFINE SUB('A') +\n* mqsel: ignore[never-true]\n SELECTOR('a = 1')\n", ("never-true",)),
    ("mqsc", "* mqsel: ignore[never-true]\nDEFINE SUB('A') +\n SELECTOR('a = 1')\n", None),
    ("mqsc", "* it''s mqsel: ignore\nDEFINE SUB('A') SELECTOR('a = 1')\n", None),
    ("ems", 'create bridge source=queue:a target=queue:b selector="a = 1"\n', None),
    ("ems", '  # mqsel: ignore\ncreate bridge source=queue:a target=queue:b selector="a = 1"\n', ()),
    ("activemq", '<b><filteredDestination selector="a = 1" queue="q"/><!-- mqsel: ignore [x, y] --></b>', ("x", "y")),
    ("activemq", '<b><!-- mqsel: ignore -->\n<filteredDestination selector="a = 1" queue="q"/></b>', None),
    ("activemq", '<b>\n <!--mqsel:ignore-->\r\n<filteredDestination selector="a = 1" queue="q"/></b>', ()),
    ("java", 'class A { @JmsListener(destination = "q", selector = "a = 1") void m() {} } // mqsel: ignore[x]', ("x",)),
    ("java", 'class A {\n/* mqsel: ignore[] */\n@JmsListener(destination = "q", selector = "a = 1") void m() {} }', ()),
    ("yaml", "a:\n  selector: a = 1  # mqsel: ignore[x] mqsel: ignore[y]\n", ("x",)),
    ("yaml", "b: 1  # mqsel: ignore\na:\n  selector: a = 1\n", None),
    ("properties", "! mqsel: ignore[x]\nselector=a = 1\n", ("x",)),
    (
        "terraform",
        'r "azurerm_servicebus_subscription_rule" "x" {\n  // mqsel: ignored\n  sql_filter = "a = 1"\n}\n',
        None,
    ),
    (
        "terraform",
        'r "azurerm_servicebus_subscription_rule" "x" {\n  // mqsel: ignore\n  sql_filter = "a = 1"\n}\n',
        (),
    ),
    ("keyed", "# mqsel: ignore[x]\nk\ta = 1\n", ("x",)),
    ("lines", "#mqsel: ignore[x]\n\na = 1\n", None),
    ("lines", "#mqsel: ignore[x]\na = 1\n", ("x",)),
    ("lines", "# mqsel: ignore[x] " + "-" * 1000 + "\na = 1\n", ("x",)),
    ("keyed-json", '{"a": "a = 1"} // mqsel: ignore\n', None),
]


@pytest.mark.parametrize(("kind", "content", "expected"), COMMENTED)
def test_comments_that_silence(tmp_path, kind, content, expected):
    """A comment beside a selector, or with the line before to itself, silences rules; one elsewhere does not."""
    file = tmp_path / "a"
    file.write_bytes(content.encode())
    found = [one for one in read(file, kind=kind) if one.selector]
    assert [(one.selector, one.silenced) for one in found] == [("a = 1", expected)]


def test_a_nul_hides_no_selector(tmp_path):
    """A NUL, as a file has it that was cut while it was written to, is a damage with its place; all else is read."""
    file = tmp_path / "a.mqsc"
    define = "DEFINE SUB('{0}') SELECTOR('{0} = 1')\n"
    for before in (define.format("a"), ""):
        file.write_text(f"{before}\0\0{define.format('b')}", encoding="utf-8")
        damage, *found = read(str(file))
        assert (damage.line, damage.column, damage.reason) == (
            (2 if before else 1), 1, "a NUL character isn't text: mqsel read it as a space",
        )  # fmt: skip
        assert [one.selector for one in found] == [*(["a = 1"] if before else []), "b = 1"]


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("name", ["a.mqsc", "a.tsv", "a"])
def test_a_named_file_without_a_mark(tmp_path, name, code):
    """Selectors in UTF-16 without a mark, or in UTF-32, are not passed over in silence."""
    (tmp_path / name).write_bytes("DEFINE SUB(A) SELECTOR('a = 1')\n".encode(code))
    assert [one.reason for one in read(str(tmp_path / name))] == [
        "this looks like UTF-16 without a mark, or UTF-32: expected UTF-8, or a byte order mark"
    ]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.cs", "using Apache.NMS;\nvar c = session.CreateConsumer(queue, \"color = 'red'\");\n", 2),
        ("a.py", "import stomp\nc.subscribe('/queue/q', headers={'selector': \"color = 'red'\"})\n", 2),
        ("d.py", "import stomp\nc.subscribe('q', headers={'selector': 'vo = \\'a\\''})\n", 2),
        ("a.sh", "az servicebus topic subscription rule create \\\n  --filter-sql-expression \"color = 'red'\"\n", 2),
        ("a.cli", "jms-queue add --queue-address=q --selector=\"color = 'red'\"\n", 1),
        ("a.conf", "jms {\n  selector => \"color = 'red'\"\n}\n", 2),
        ("b.py", "page.select(selector=\"a = 'b'\")\n", 0),  # has nothing to do with a broker
        ("c.py", "import stomp\npage.select(selector=\"a[href='b']\")\n", 0),
    ],
)
def test_a_named_file_that_no_reader_knows(tmp_path, name, content, line):
    """What may be a selector in a file of no kind is said of a file that is named, and of none in a folder."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = [(one.line, one.selector, one.reason[:22]) for one in read(tmp_path / name)]
    assert found == ([(line, None, "this may be a selector")] if line else [])
    assert [*read(tmp_path)] == []


def test_kind_decides(tmp_path):
    """A file that tells nothing is read as the kind that is named."""
    file = tmp_path / "a.bin"
    file.write_text("selector=a = 1\n", encoding="utf-8")
    assert [one.selector for one in read(file, kind="properties")] == ["a = 1"]
    with pytest.raises(ArgumentError, match="expected one of 'mqsc'"):
        read(file, kind="nothing")
    with pytest.raises(ArgumentError, match="the columns are"):
        read(file, columns={"keys": "a"})


def test_columns(tmp_path):
    """CSV has its columns under any name."""
    file = tmp_path / "a.csv"
    file.write_text('id,rule\r\n1,"a = ""x"", b"\r\n2,c\r\n', encoding="utf-8")
    found = rows(file, kind="csv", columns={"key": "id", "selector": "rule"})
    assert [(one["key"], one["selector"], one["line"], one["column"]) for one in found] == [
        ("1", 'a = "x", b', 2, 4),
        ("2", "c", 3, 3),
    ]
    assert [one["reason"] for one in rows(file, kind="csv")] == [
        "no column is called selector: name it by --columns selector=NAME"
    ]


def test_parquet(tmp_path):
    """Rows of Parquet are entries."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"key": ["a", "b"], "selector": ["x = 1", "y = 2"]}), tmp_path / "a.parquet")
    assert [(one["key"], one["selector"], one["line"]) for one in rows(tmp_path / "a.parquet")] == [
        ("a", "x = 1", 1),
        ("b", "y = 2", 2),
    ]


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (HERE / "nothing").iterdir() if path.suffix not in (".md", ".txt"))
)
def test_what_is_no_selector(name):
    """Selectors of other things, comments, and texts that only mention one are none, also in a file that is named."""
    assert rows(HERE / "nothing" / name) == []


def test_nothing_in_a_folder():
    """A folder of such files has no entries, whatever their names."""
    assert rows(HERE / "nothing") == []


def test_folders_as_ripgrep_walks_them(tmp_path):
    """Ignore files, of the folder and above it, are respected; what is hidden or a link is left out."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/build/\n*.bak\n!keep.bak\n", encoding="utf-8")
    inside = tmp_path / "src"
    for folder in ("build", "src", "src/.hidden", "src/build"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.selectors").write_text("a = 1\n", encoding="utf-8")
    (inside / "x.bak").write_text("a = 1\n", encoding="utf-8")
    (inside / "keep.bak").write_text("DEFINE SUB(A) SELECTOR('a = 1')\n", encoding="utf-8")
    (inside / "link.selectors").symlink_to(inside / ".hidden" / "a.selectors")
    wanted = ["src/a.selectors", "src/build/a.selectors", "src/keep.bak"]
    assert sorted(Path(one.file).relative_to(tmp_path).as_posix() for one in read(tmp_path)) == sorted(wanted)
    assert len([*read(inside)]) == 3
    assert [Path(one.file).name for one in read(str(inside / "*.selectors"))] == ["a.selectors", "link.selectors"]


def test_damage_is_one_entry_and_the_rest_is_read(tmp_path):
    """What follows the damage of a file is read."""
    file = tmp_path / "a.json"
    content = '{"name": "r", "sqlFilter": {"sqlExpression": "a = 1"}, ]]], "jms.selector": "b = 2"}'
    file.write_text(content, encoding="utf-8")
    found = rows(file)
    assert [one["selector"] for one in found if one["selector"]] == ["a = 1", "b = 2"]
    assert [one["reason"] for one in found if one["reason"]] == ["damaged JSON: what else there is was read"]
    missing = [*read(tmp_path / "none.mqsc")]
    assert [(one.selector, one.reason) for one in missing] == [
        (None, "the file cannot be read: No such file or directory")
    ]


@pytest.mark.volume
def test_yaml_of_many_lines(tmp_path):
    """The scanner of YAML counts lines in 16 bits: longer files are read in parts, and have no damage."""
    file = tmp_path / "a.yml"
    file.write_text("".join(f"a{n}:\n  jms.selector: x = {n}\n" for n in range(35_000)), encoding="utf-8")
    found = [*read(file)]
    assert [one.selector for one in found] == [f"x = {n}" for n in range(35_000)]
    assert (found[-1].line, found[-1].column, found[-1].key) == (70_000, 17, "a34999.jms.selector")


def test_xml_bombs_and_outside_entities(tmp_path):
    """No entity is resolved: a bomb stays as small as it is, and nothing is fetched."""
    bomb = "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};">' for n in range(1, 40))
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    file = tmp_path / "a.xml"
    file.write_text(
        f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "x">{bomb}<!ENTITY out SYSTEM "{secret}">]>'
        '<a><jms:listener selector="a = &e39; b = &out;" destination="q"/></a>',
        encoding="utf-8",
    )
    started = time.thread_time()
    found = rows(file)
    assert [one["selector"] for one in found if one["kind"] == "spring" and one["selector"]] == ["a = &e39; b = &out;"]
    assert time.thread_time() - started < 5


_SIGNS = [
    *("'", '"', "(", ")", "{", "}", "<", ">", "\\", "+\n", "-\n", "&", "${", '"""', "\0", "\xff", "\n", "selector"),
    *("\t", "/*", "]]>", "<![CDATA[", ":", "=", "|", "'''", "\r", "`", "~", ";", "<<E\n", "%{"),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(4))
def test_any_bytes_end_in_entries_with_places(tmp_path, seed):
    """Damaged files of every kind, read as any kind, are entries: with a selector or a reason, and with a place."""
    rng = random.Random(seed)
    contents = [path.read_bytes() for path in sorted(CORPUS.iterdir())]
    file = tmp_path / "a"
    for _ in range(60):
        data = bytearray(rng.choice(contents))
        for _ in range(rng.choice([0, 1, 3, 10, 40])):
            at = rng.randrange(len(data) + 1)
            match rng.randrange(4):
                case 0:
                    data[at:at] = rng.choice(_SIGNS).encode("latin-1")
                case 1:
                    del data[at : at + rng.choice([1, 2, 5, 30])]
                case 2:
                    data[at:at] = rng.randbytes(4)
                case _:
                    other = rng.choice(contents)
                    start = rng.randrange(len(other))
                    data[at:at] = other[start : start + rng.randrange(60)]
        file.write_bytes(data)
        for kind in [None, *KINDS]:
            for one in read(file, kind=kind):
                assert (one.selector is None) == bool(one.reason)
                assert one.line >= 1 and one.column >= 1
                at = 0
                for piece in one.text.pieces if one.text is not None else ():
                    assert piece.start == at and piece.stop >= at and piece.end >= piece.place >= 0
                    at = piece.stop


_UNITS = ["[", "{", "(", "<a>", "<a x='", "'", '"', "\\", "+\n", "a:\n", "- ", '{"a":', '"a" + ', "&amp;", "~", "\x01"]


_LINES = [
    "\n",
    " \n",
    "import a.b\n",
    "#\n",
    "---\n",
    "a",
    '"a',
    "class A { void f(int q) { q.createConsumer(q, q); } }\n",
]


@pytest.mark.sample(10)
@pytest.mark.parametrize("unit", _LINES)
@pytest.mark.parametrize("name", ["a", "a.kt", "a.java", "a.yml", "a.properties", "a.json"])
def test_recognition_takes_no_longer(tmp_path, unit, name):
    """Whatever a file consists of, its kind is told, and it is read, in a time that grows with it."""
    file = tmp_path / name
    file.write_text(f"{unit * (200_000 // len(unit))}! jms selector", encoding="utf-8")
    started = time.thread_time()
    assert len([*read(tmp_path), *read(file)]) < 20_000
    assert time.thread_time() - started < 6


@pytest.mark.sample(3)
@pytest.mark.parametrize("unit", _UNITS)
def test_time_grows_with_the_file(tmp_path, unit):
    """Nothing that is repeated takes a reader more than its time."""
    file = tmp_path / "a"
    file.write_text('jms selector = "' + unit * (15_000 // len(unit)), encoding="utf-8")
    for kind in KINDS:
        started = time.thread_time()
        assert len([*read(file, kind=kind)]) <= 15_000
        assert time.thread_time() - started < 1, kind


@pytest.mark.parametrize(
    ("module", "name", "file"),
    [
        ("tree_sitter_java", "tree-sitter-java", "Listeners.java"),
        ("tree_sitter", "tree-sitter", "broker.xml"),
    ],
)
def test_without_the_extra(monkeypatch, module, name, file):
    """What a file needs and is not installed is one error, which names the extra; lines need nothing."""
    trees._language.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MqselError, match=f"needs {name}, which is not installed") as caught:
        rows(CORPUS / file)
    assert caught.value.hint == with_extra("inventory")
    assert len(rows(CORPUS / "subs.mqsc")) == 4
    trees._language.cache_clear()


def test_writings_decode_what_they_find():
    """Each writing returns a text for whatever its pattern matches."""
    samples = [
        "''",
        '""',
        r"\n",
        r"\u0041",
        r"\ud83d\ude00",
        r"\101",
        "\\\n  ",
        "&lt;",
        "&#x41;",
        "%41",
        "[[",
        r"\'",
        "\\",
    ]
    for writing in WRITINGS.values():
        for sample in samples:
            for match in writing.escapes.finditer(sample):
                assert isinstance(writing.decode(match[0]), str)


_OF_LANGUAGES = {
    "java": "import javax.jms.*; class A {{ static final int N = 5; void f() {{ s.createConsumer(q, {}); }} }}",
    "kt": "import javax.jms.*\nconst val N = 5\nclass A {{ fun f() {{ s.createConsumer(q, {}) }} }}\n",
    "scala": "import javax.jms._\nobject A {{\n val N = 5\n def f() = {{\n s.createConsumer(q, {})\n }}\n}}\n",
}


@pytest.mark.parametrize(
    ("language", "written", "selector"),
    [
        ("java", '"a = " + 5L + " AND b = " + 1_000', "a = 5 AND b = 1000"),
        ("java", '"a = " + 1 + 2', "a = 12"),
        ("java", '1 + 2 + " = a"', None),
        ("java", 'N + 1 + " = a"', None),
        ("java", "'x' + 'y' + \" = a\"", None),
        ("java", "'x' + \"y = 1\"", "xy = 1"),
        ("java", '"a = " + (1 + 2)', None),
        ("java", '"a = " + (N + 1)', None),
        ("java", '"a = " + 010', None),
        ("kt", '"a = " + 5L', "a = 5"),
        ("kt", '"a = ${N + 1}"', None),
        ("kt", '"a = ${0x10}"', None),
        ("scala", 's"a = ${N + 1}"', None),
        ("scala", 's"a = $N AND b = ${7L}"', "a = 5 AND b = 7"),
        ("scala", r'''raw"a LIKE '\_%' ESCAPE '\' AND b = $$"''', r"a LIKE '\_%' ESCAPE '\' AND b = $"),
        ("scala", r'''s"""a LIKE '\\_%' ESCAPE '\\' AND b = $N"""''', r"a LIKE '\_%' ESCAPE '\' AND b = 5"),
        ("scala", r'''"""a LIKE '\_%' ESCAPE '\' """''', r"a LIKE '\_%' ESCAPE '\'"),
        ("scala", '''f"a = $N%d AND b LIKE 'x%%'"''', "a = 5 AND b LIKE 'x%'"),
        ("scala", 'f"a = $N%05d"', None),
        ("scala", 'sql"a = $N"', None),
    ],
)
def test_expressions_are_worth_what_the_program_has(tmp_path, language, written, selector):
    """An expression is worth what its language makes of it, or is not known: numbers are added, strings glued."""
    path = tmp_path / f"a.{language}"
    path.write_text(_OF_LANGUAGES[language].format(written), encoding="utf-8")
    (found,) = rows(path)
    assert (found["selector"] or "").strip() == (selector or ""), found
    assert bool(found["reason"]) == (selector is None)


def test_names_in_no_quotation_marks_are_folded(tmp_path):
    """MQSC folds what stands in no quotation marks; what runmqsc prints is as the queue manager has it."""
    script = "define sub(cars) dest(queue.a) selector('a = 1')\ndefine sub('cars') dest('queue.a') selector(urgent)\n"
    path = tmp_path / "a.mqsc"
    path.write_text(script, encoding="utf-8")
    assert [(one["key"], one["destination"], one["selector"]) for one in rows(path)] == [
        ("CARS", "QUEUE.A", "a = 1"),
        ("cars", "queue.a", "URGENT"),
    ]
    path.write_text("AMQ8096I: IBM MQ subscription inquired.\n   SUB(cars)   DEST(q)\n   SELECTOR(a = 1)\n", "utf-8")
    assert [(one["key"], one["destination"], one["selector"]) for one in rows(path)] == [("cars", "q", "a = 1")]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(" " * depth + "k:" for depth in range(2_000)),
        "\n".join(" " * depth + "- k:" for depth in range(0, 600, 2)),
        "- " * 1_000 + "k: 1",
        "? - " * 300 + "k",
        "\n".join(" " * depth + f"- &a{depth} k:" for depth in range(0, 600, 4)),
    ],
    ids=["maps", "sequences", "one line", "keys", "anchors"],
)
def test_yaml_may_nest_as_deep_as_it_likes(tmp_path, text):
    """However deep blocks nest, a file is read or refused: the scanner of the library wrote past its memory."""
    path = tmp_path / "a.yaml"
    path.write_text(f"jms:\n  selector: a = 1\n---\n{text}\n", encoding="utf-8")
    assert "nested too deeply" in rows(path)[-1]["reason"]


@pytest.mark.parametrize(
    ("language", "step", "first"),
    [
        ("java", "static final String C{0} = C{1} + C{1};", 'static final String C0 = "x";'),
        ("kt", 'const val C{0} = "$C{1}${{C{1}}}"', 'const val C0 = "x"'),
        ("kt", 'const val C{0} = "$C{1}$C{1}"', 'const val C0 = "$C0$C0"'),
    ],
)
def test_constants_of_constants_do_not_double_for_ever(tmp_path, language, step, first):
    """A text is not built that is longer than any selector: each constant may be twice as long as the one before."""
    call = "void f() { s.createConsumer(q, C55); }" if language == "java" else "fun f() { s.createConsumer(q, C55) }"
    steps = [step.format(number, number - 1) for number in range(1, 56)]
    path = tmp_path / f"a.{language}"
    path.write_text("\n".join(["import javax.jms.*;", "class A {", first, *steps, call, "}"]), encoding="utf-8")
    (found,) = rows(path)
    assert found["reason"]
