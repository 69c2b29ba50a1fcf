"""``mqsel explore``: the address, errors before a page is opened, and how Ctrl-C ends it."""

import os
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

pytest.importorskip("starlette", reason="the extra explore is not installed")
pytest.importorskip("pyarrow", reason="the extra explore is not installed")


def test_the_address_and_ctrl_c(tmp_path):
    """The address is printed at once, answers, and Ctrl-C ends the command with 130 and without a traceback."""
    path = tmp_path / "m.jsonl"
    path.write_text('{"a": 1}\n', encoding="utf-8")
    command = [sys.executable, "-m", "mqsel", "explore", "--no-browser", "--dialect", "JMS", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        url = running.stdout.readline().strip()
        with urlopen(url.partition("#")[0], timeout=20) as page:
            assert b"mqsel explore" in page.read()
        running.send_signal(signal.SIGINT if os.name == "posix" else signal.CTRL_C_EVENT)
        out, complaints = running.communicate(timeout=20)

    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("&dialect=JMS")
    assert (running.returncode, out, complaints) == (130, "", "Ctrl-C ends it.\n")


def test_files_that_are_not_there(run):
    """Without any file that is there nothing is opened."""
    status, _, err = run("explore", "--no-browser", "nothing.jsonl")
    assert status == 2 and "nothing.jsonl" in err


def test_faulty_selectors_of_an_inventory(run, tmp_path, monkeypatch):
    """Faulty selectors of the inventory are counted in one line; the page has the others."""
    from mqsel.explorer import server

    path = tmp_path / "subs.txt"
    path.write_text("A\tcolor = 'blue'\nB\tcolor ==\n", encoding="utf-8")
    (tmp_path / "m.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    monkeypatch.setattr(server.Explorer, "wait", lambda _: None)

    status, _, complaint = run("explore", "--no-browser", "--inventory", path, tmp_path / "m.jsonl")
    assert status == 0
    assert complaint.startswith("mqsel: 1 faulty selector is left out: 'B'")
    assert "Warning" not in complaint
