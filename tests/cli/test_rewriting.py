"""`lint --fix` and `format --write` write into files of every kind, say what they wrote, and why they did not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import process

pytest.importorskip("tree_sitter")

from mqsel.inventory import edit

XML = """<?xml version="1.0"?>\r
<!DOCTYPE beans SYSTEM "file:///none">
<beans><jms:listener destination="q" selector="a LIKE &apos;x&apos;   AND b &lt; 5 AND b&lt;5"/></beans>
"""
FIXED = XML.replace("a LIKE &apos;x&apos;   AND b &lt; 5 AND b&lt;5", "a = &apos;x&apos;   AND b &lt; 5")
JAVA = """import javax.jms.*;
class A {
  void f(String id) {
    s.createConsumer(q, "a='b'" + " and c=1");
    s.createConsumer(q, "d='" + id + "'");
  }
}
"""


def test_fix_of_a_folder(run, tmp_path):
    """Each file of a folder is written in its own escaping; the summary has a line for each."""
    xml, java = tmp_path / "a.xml", tmp_path / "A.java"
    xml.write_bytes(XML.encode())
    java.write_bytes(JAVA.encode())
    status, out, err = run("lint", "--diff", tmp_path)
    assert (status, xml.read_bytes()) == (1, XML.encode())
    assert [line[0] for line in out.splitlines()[:2]] == ["-", "+"]
    assert "+<beans>" in out and "\r" not in out
    status, out, err = run("lint", "--fix", tmp_path)
    assert (status, out, xml.read_bytes(), java.read_bytes()) == (0, "", FIXED.encode(), JAVA.encode())
    assert f"mqsel: {xml}: 1 selector written\n" in err
    assert run("lint", "--diff", tmp_path)[:2] == (0, "")


def test_format_of_a_source(run, tmp_path):
    """Literals of a concatenation are edited each for itself; what is glued stays, without a word."""
    java = tmp_path / "A.java"
    java.write_text(JAVA)
    wanted = JAVA.replace("a='b'", "a = 'b'").replace(" and c=1", " AND c = 1")
    assert run("format", "--check", java) == (1, f"{java}:4:26: would be written otherwise\n", "")
    assert run("format", java) == (0, wanted, "")
    assert run("format", "--write", java) == (0, "", f"mqsel: {java}: 1 selector written\n")
    assert java.read_text() == wanted
    assert run("format", "--write", java) == (0, "", "")
    assert run("format", "--diff", java) == (0, "", "")


def test_lines_in_markup_are_indented(run, tmp_path):
    """A long selector has lines where the language has them, as deep as the first; the second time nothing changes."""
    xml = tmp_path / "a.xml"
    long = " AND ".join(f"name{number} = 'value{number}'" for number in range(6))
    last = f'    <x message-selector="{long}"/></a></ejb-jar>'
    xml.write_text(f"<ejb-jar><a>\n    <message-selector>{long}</message-selector>\n{last}\n")
    assert run("format", "--write", xml)[0] == 0
    lines = xml.read_text().splitlines()
    assert len(lines) == 8
    assert lines[7] == last
    assert all(line.startswith("    AND name") for line in lines[2:7])
    assert run("format", "--check", xml) == (0, "", "")


def test_what_is_refused_is_said(run, tmp_path):
    """What cannot be written has its place and a reason; the exit code is 2, and the finding stays."""
    output = tmp_path / "runmqsc.out"
    content = "AMQ8096I: IBM MQ subscription inquired.\n   SUB(A)                 SELECTOR(a LIKE 'b')\n"
    output.write_text(content)
    status, out, err = run("lint", "--fix", output)
    reason = "not written: output of a command: the subscription is changed by ALTER SUB"
    assert (status, out, output.read_text()) == (2, "", content)
    assert err.startswith(f"mqsel: {output}:2:36: {reason}\n{output}:2:36: ")
    assert "[like-without-wildcard]" in err


def test_findings_that_are_left_have_the_places_of_now(run, tmp_path):
    """After the edits a finding is where its text is in the file that was written."""
    file = tmp_path / "a.mqsc"
    file.write_text("DEFINE SUB(A) SELECTOR('a LIKE ''x'' AND color = blue')\n")
    status, _, err = run("lint", "--fix", file)
    assert (status, file.read_text()) == (1, "DEFINE SUB(A) SELECTOR('a = ''x'' AND color = blue')\n")
    assert f"\n{file}:1:47: warning: " in err


@pytest.mark.parametrize("arguments", [("lint", "--fix"), ("format", "--write"), ("format",)])
def test_stdin_is_printed_with_its_edits(arguments):
    """What comes from stdin goes to stdout, whatever it holds."""
    done = process(*arguments, "-", input=b"k\ta=1 and a=1\r\n# a comment\r\n", check=True)
    wanted = b"a=1" if "lint" in arguments else b"a = 1 AND a = 1"
    assert done.stdout == b"k\t" + wanted + b"\r\n# a comment\r\n"


def test_a_file_that_changes_meanwhile(run, monkeypatch, tmp_path):
    """A file that somebody else writes between reading and writing is left to them."""
    file = tmp_path / "a.txt"
    file.write_text("a LIKE 'b'\n")
    rewritten = edit.rewritten

    def slow(document, wanted):
        file.write_text("b = 2\n")
        return rewritten(document, wanted)

    monkeypatch.setattr("mqsel.cli.rewriting.rewritten", slow)
    status, _, err = run("lint", "--fix", file)
    assert (status, file.read_text()) == (2, "b = 2\n")
    assert err.startswith(f"mqsel: {file}: not written: the file has changed since it was read\n")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(run, tmp_path):
    """A folder in which nothing can be written is one error, and the file is as it was."""
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "a.txt"
    file.write_text("a LIKE 'b'\n")
    folder.chmod(0o500)
    try:
        status, _, err = run("lint", "--fix", file)
    finally:
        folder.chmod(0o700)
    assert (status, file.read_text()) == (2, "a LIKE 'b'\n")
    assert err.startswith(f"mqsel: {file}: not written: the file cannot be written: Permission denied\n")


def test_fixes_of_sarif_are_in_the_writing_of_the_file(run, tmp_path):
    """A fix of SARIF has the text that stands in the file, with its escapes."""
    file = tmp_path / "a.mqsc"
    file.write_text("DEFINE SUB(A) SELECTOR('a LIKE ''x''')\n")
    status, out, _ = run("lint", "--sarif", file)
    assert status == 1
    assert '"insertedContent": {\n' in out and "''x''" in out.partition('"fixes"')[2]


def test_every_path_once(run, tmp_path):
    """A file that is named twice is written once."""
    file = Path(tmp_path / "a.txt")
    file.write_text("a=1 and b=2\n")
    assert run("format", "--write", file, file) == (0, "", f"mqsel: {file}: 1 selector written\n")
    assert file.read_text() == "a = 1 AND b = 2\n"
