"""Who may ask the server, and what it answers."""

import gc
import http.client
import json
import threading
import time
import warnings
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra explore is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra explore is not installed")

import mqsel  # noqa: E402
from mqsel.explorer.blocks import in_blocks  # noqa: E402
from mqsel.explorer.session import MessageSource, Session  # noqa: E402

QUESTION = {"selector": "a > 1", "dialect": "IBM_MQ", "second": "", "show": "all", "offset": 0, "row": -1}


def session(**more):
    """Return a session of three rows."""
    return Session(MessageSource(), in_blocks(pa.table({"a": [1, 2, 3]}), "frame"), **more)


def asked(server, name="look", *, method="POST", path=None, body=None, **headers):
    """Ask a server; return status, headers and what it answers."""
    place = urlsplit(server.url)
    token = parse_qs(place.fragment)["token"][0]
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    given = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
    content = json.dumps({**QUESTION, "window": "w", "number": 1}) if body is None else body
    connection.request(
        method, path or f"/api/{name}", content, {key: one for key, one in given.items() if one is not None}
    )
    response = connection.getresponse()
    data = response.read().decode()
    connection.close()
    return response.status, response.headers, data


def test_an_answer(serve):
    """A question with all that it needs is answered."""
    server = serve(session())
    status, headers, data = asked(server)

    assert (status, json.loads(data)["selected"]) == (200, 2)
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://attacker.example"},
        {"Origin": "null"},
        {"Authorization": None},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer \xe9"},
    ],
    ids=str,
)
def test_who_is_refused(serve, headers):
    """A wrong Host or Origin, no token or a wrong one: refused, without a word about messages."""
    status, _, data = asked(serve(session()), **headers)

    assert status == 403
    assert "selected" not in data


@pytest.mark.parametrize("headers", [{"Host": "attacker.example"}, {"Origin": "http://attacker.example"}], ids=str)
def test_the_page_has_a_host_and_an_origin(serve, headers):
    """The page itself is refused likewise."""
    assert asked(serve(session()), method="GET", path="/", **headers)[0] == 403


def test_the_page_needs_no_token_and_holds_none(serve):
    """The page is the same for everybody; the token is in the fragment of the address alone, which is not sent."""
    server = serve(session())
    token = parse_qs(urlsplit(server.url).fragment)["token"][0]
    for path in ("/", "/page.js", "/page.css"):
        status, headers, data = asked(server, method="GET", path=path, Authorization=None)
        policy = headers["Content-Security-Policy"]

        assert status == 200
        assert token not in data
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
    assert "<script>" not in asked(server, method="GET", path="/")[2]
    assert asked(server, method="GET", path="/etc/passwd", Authorization=None)[0] == 403
    assert asked(server, method="GET", path="/etc/passwd")[0] == 404
    assert asked(server, method="GET")[0] == 405


@pytest.mark.sample(2)
@pytest.mark.parametrize("body", ["", "[]", "nonsense", '"text"', '{"window": 1}', "\xff", "[" * 100_000], ids=range(7))
def test_what_is_no_question(serve, body):
    """What is no question is refused, and the server goes on."""
    server = serve(session())

    assert asked(server, body=body.encode("latin-1"))[0] == 400
    assert asked(server)[0] == 200


def test_a_question_that_is_too_long(serve):
    """A question of more than a megabyte is refused."""
    assert asked(serve(session()), body=b" " * (1 << 21))[0] == 413


def test_an_older_question_is_cancelled(serve):
    """A question whose number is lower than that of one before, of the same window alone, is not answered."""
    server = serve(session())
    body = {**QUESTION, "selector": "a > 2", "window": "w"}
    asked(server, body=json.dumps({**body, "number": 7, "selector": "a = 1"}))

    assert json.loads(asked(server, body=json.dumps({**body, "number": 6}))[2]) == {"cancelled": True}
    assert json.loads(asked(server, body=json.dumps({**body, "number": 6, "window": "v"}))[2])["selected"] == 1


def test_nothing_is_logged(serve, capfd, caplog):
    """Neither a question nor a refusal leaves a line with the token, or any."""
    server = serve(session())
    asked(server)
    asked(server, Authorization="Bearer wrong")
    asked(server, path="/nowhere")

    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


def test_frames():
    """A frame of columns becomes a page; its representation is an iframe, and what to do where that stays empty."""
    page = mqsel.explore(pa.table({"a": [1, 2]}))
    try:
        status, headers, _ = asked(page, method="GET", path="/")
        html = page._repr_html_()

        assert status == 200
        assert "http://localhost:*" in headers["Content-Security-Policy"]
        assert page.url.replace("&", "&amp;") in html
        assert "mqsel explore FILE" in html
        assert page.url in repr(page)
    finally:
        page.close()


def test_frames_of_pandas():
    """A DataFrame of pandas is a frame."""
    pandas = pytest.importorskip("pandas")
    page = mqsel.explore(pandas.DataFrame({"a": [1, 2, 3]}))
    try:
        assert json.loads(asked(page)[2])["selected"] == 2
    finally:
        page.close()


@pytest.mark.parametrize("wrong", [3, [{"a": 1}], None, "m.jsonl"], ids=str)
def test_what_is_no_frame(wrong):
    """Anything else is an error that says what was found."""
    with pytest.raises(mqsel.ArgumentError, match="frame of columns"):
        mqsel.explore(wrong)


def test_the_server_ends_without_a_word(serve, capfd):
    """A server that is closed leaves nothing on the terminal, and no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        server = serve(session())
        asked(server)
        server.close()

    assert capfd.readouterr() == ("", "")


def test_a_defect_is_an_answer(serve, monkeypatch, capfd):
    """An exception of no class of ours is answered as a defect, with what to report, and nothing on the terminal."""

    def fail(*_):
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")

    monkeypatch.setattr(Session, "look", fail)
    status, _, data = asked(serve(session()))

    assert status == 200
    assert json.loads(data)["trouble"].startswith("a defect of mqsel ")
    assert "hint: report" in json.loads(data)["trouble"]
    assert capfd.readouterr() == ("", "")


def test_a_dropped_explorer_is_freed():
    """An explorer that nobody holds frees its thread, its port, its descriptors and its frame."""
    before = threading.active_count(), len([*Path("/proc/self/fd").iterdir()])
    frame = pa.table({"a": [1, 2, 3]})
    for _ in range(5):
        mqsel.explore(frame)
    gc.collect()
    stop = time.monotonic() + 10
    while threading.active_count() > before[0] and time.monotonic() < stop:
        time.sleep(0.02)

    assert (threading.active_count(), len([*Path("/proc/self/fd").iterdir()])) == before
