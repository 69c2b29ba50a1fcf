"""The page and its answers over HTTP, on this machine alone.

A request needs the name that the server has here as its Host, no Origin but the page itself, and for answers the token
of the address. That stands in the fragment, which browsers send to nobody. The page may load what the server has, and
nothing else.
"""

from __future__ import annotations

import json
import secrets
import socket
import threading
import weakref
from functools import partial
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mqsel.errors import MqselError
from mqsel.explorer.session import Cancelled, Question, Session
from mqsel.files.wordings import defect
from mqsel.formats.jsonl import json_text
from mqsel.language.dialect import PRESETS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PATIENCE = 5  # seconds that answers under way may take at the end
_HOST = "127.0.0.1"
_PAGE = {"/": "html", "/page.css": "css", "/page.js": "javascript"}
_BODY = 1 << 20  # bytes of a question
_NOTEBOOKS = "http://localhost:* http://127.0.0.1:*"  # whose pages may show this one


class Explorer:
    """Serves the page over a session, whose files it reads, until it is closed or dropped, or the process ends.

    In a notebook it shows as the page, elsewhere as the address.

    Args:
        session: what answers.
        is_framed: whether pages of notebooks on this machine may show the page.
        dialect: what the page begins with.

    Attributes:
        url: the address of the page, with the token: whoever has it sees the messages, on this machine alone.
    """

    def __init__(self, session: Session, *, is_framed: bool = False, dialect: str = "IBM_MQ") -> None:
        token = secrets.token_urlsafe(32)
        listening = socket.create_server((_HOST, 0))
        port = listening.getsockname()[1]
        hosts = [f"{_HOST}:{port}", f"localhost:{port}"]
        self.url = f"http://{_HOST}:{port}/#token={token}&dialect={quote(dialect)}"
        policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        policy += "base-uri 'none'; form-action 'none'; frame-ancestors " + (_NOTEBOOKS if is_framed else "'none'")
        headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]
        answer = partial(_answer, session)
        routes = [*(Route(path, _file) for path in _PAGE), Route("/api/{name}", answer, methods=["POST"])]
        application = _guarded(Starlette(routes=routes), hosts, token, headers)
        self._server = uvicorn.Server(
            uvicorn.Config(
                application,
                log_config=None,
                log_level="error",
                access_log=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=_PATIENCE,
            )
        )
        # Not in the main thread: there the signals would be the server's.
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        threading.Thread(target=session.read, daemon=True).start()
        # The server does not hold this object: so it ends when a notebook drops it, and frees its frame.
        weakref.finalize(self, _end, self._server)

    def __repr__(self) -> str:
        return f"open {self.url} in a browser on this machine"

    def _repr_html_(self) -> str:
        url = escape(self.url)
        return (
            f'<iframe src="{url}" title="mqsel explore" width="100%" height="900"></iframe>'
            f'<p>If this stays empty, open <a href="{url}" target="_blank" rel="noreferrer">the page</a>. Only the '
            "machine that runs the notebook can open it. For another machine, save the DataFrame as Parquet, and run "
            "<code>mqsel explore FILE</code> where your browser is.</p>"
        )

    def wait(self) -> None:
        """Return once the server has ended."""
        self._thread.join()

    def close(self) -> None:
        """End the server."""
        _end(self._server)
        self.wait()


def _end(server: uvicorn.Server) -> None:
    server.should_exit = True


def _guarded(application: ASGIApp, hosts: list[str], token: str, more_headers: list[tuple[bytes, bytes]]) -> ASGIApp:
    """Return an application that refuses requests from other pages, and those without the token."""
    origins, expected = [f"http://{host}" for host in hosts], f"Bearer {token}".encode()

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *more_headers]
            await send(message)

        headers = dict(scope["headers"])
        host, origin = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
        answers = application
        if host not in hosts or origin not in ("", *origins):
            answers = PlainTextResponse("this address is not served", 403)
        elif scope["path"] not in _PAGE and not secrets.compare_digest(headers.get(b"authorization", b""), expected):
            answers = PlainTextResponse("the token is missing or wrong: open the address of mqsel explore", 403)
        await answers(scope, receive, send_with_headers)

    return guard


async def _answer(session: Session, request: Request) -> Response:
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > _BODY:
                return PlainTextResponse("the question is too long", 413)
        question = Question.read(json.loads(body))
    except (ValueError, RecursionError, ClientDisconnect):
        return PlainTextResponse("this isn't a question of the page", 400)
    answer = await run_in_threadpool(_answered, session, request.path_params["name"], question)
    return Response(answer, media_type="application/json")


def _answered(session: Session, name: str, question: Question) -> str:
    """Return the answer to a question as JSON."""
    answer: dict[str, Any]
    try:
        check = session.asked(question)
        if name == "look":
            answer = session.look(question, check)
        elif name == "reasons":
            answer = session.reasons(question, check)
        else:
            answer = session.message(question) if name == "message" else session.state()
        return json_text(answer, is_ascii=True)
    except Cancelled:
        return json_text({"cancelled": True}, is_ascii=True)
    except MqselError as error:
        return json_text({"trouble": str(error)}, is_ascii=True)
    except Exception as error:  # noqa: BLE001 (the page says what to report)
        return json_text({"trouble": str(defect(error))}, is_ascii=True)


async def _file(request: Request) -> Response:
    path = request.url.path
    name = "index.html" if path == "/" else path[1:]
    text = resources.files("mqsel.explorer").joinpath("page", name).read_text(encoding="utf-8")
    presets = "".join(f"<option>{preset}</option>" for preset in PRESETS)
    return Response(text.replace("<!-- dialects -->", presets), media_type=f"text/{_PAGE[path]}")
