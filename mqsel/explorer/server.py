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
from mqsel.explorer.session import Cancelled, Session
from mqsel.language.dialect import PRESETS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HOST = "127.0.0.1"
_PAGE = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
_BODY = 1 << 20  # bytes of a question
_NOTEBOOKS = "http://localhost:* http://127.0.0.1:*"  # whose pages may show this one


class Server:
    """Serves a session until it is closed, or the process ends; reads its files meanwhile.

    Args:
        session: what answers.
        is_framed: whether pages of notebooks on this machine may show the page.
        state: what the page begins with, such as a dialect.

    Attributes:
        url: the address of the page, with the token.
    """

    def __init__(self, session: Session, *, is_framed: bool = False, **state: str) -> None:
        self._session = session
        self._token = secrets.token_urlsafe(32)
        self._socket = socket.create_server((_HOST, 0))
        port = self._socket.getsockname()[1]
        self._hosts = [f"{_HOST}:{port}", f"localhost:{port}"]
        self._origins = [f"http://{one}" for one in self._hosts]
        more = "".join(f"&{name}={quote(value)}" for name, value in state.items())
        self.url = f"http://{_HOST}:{port}/#token={self._token}{more}"
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
            "base-uri 'none'; "
            f"form-action 'none'; frame-ancestors {_NOTEBOOKS if is_framed else chr(39) + 'none' + chr(39)}"
        )
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]
        routes = [Route(path, self._file) for path in _PAGE]
        routes.append(Route("/api/{name}", self._answer, methods=["POST"]))
        application = self._guarded(Starlette(routes=routes))
        settings = uvicorn.Config(
            application, log_config=None, access_log=False, lifespan="off", ws="none", http="h11", server_header=False
        )
        self._server = uvicorn.Server(settings)
        # Not in the main thread: there the signals would be the server's.
        self._threads = [
            threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True),
            threading.Thread(target=session.read, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Return once the server has ended."""
        self._threads[0].join()

    def close(self) -> None:
        """End the server."""
        self._server.should_exit = True
        self.wait()

    def _guarded(self, application: ASGIApp) -> ASGIApp:
        async def guard(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_with_headers(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message = {**message, "headers": [*message["headers"], *self._headers]}
                await send(message)

            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            given = headers.get("authorization", "").encode()
            answers = application
            if headers.get("host") not in self._hosts or headers.get("origin") not in (None, *self._origins):
                answers = PlainTextResponse("this address is not served", 403)
            elif scope["path"].startswith("/api/") and not secrets.compare_digest(
                given, f"Bearer {self._token}".encode()
            ):
                answers = PlainTextResponse("the token is missing or wrong: open the address of mqsel explore", 403)
            await answers(scope, receive, send_with_headers)

        return guard

    async def _file(self, request: Request) -> Response:
        name, kind = _PAGE[request.url.path]
        text = resources.files("mqsel.explorer").joinpath("page", name).read_text(encoding="utf-8")
        options = "".join(f"<option>{preset}</option>" for preset in PRESETS)
        return Response(text.replace("<!-- dialects -->", options), media_type=kind)

    async def _answer(self, request: Request) -> Response:
        body = b""
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > _BODY:
                    return PlainTextResponse("the question is too long", 413)
        except ClientDisconnect:  # somebody typed on
            return Response(status_code=400)
        try:
            question = json.loads(body or b"{}")
            answer = await run_in_threadpool(self._ask, request.path_params["name"], question)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return PlainTextResponse(f"no question: {type(error).__name__}", 400)
        return Response(json.dumps(answer), media_type="application/json")

    def _ask(self, name: str, question: dict[str, Any]) -> dict[str, Any]:
        session = self._session
        if name == "state":
            return session.state()
        check = session.asked(str(question["window"]), int(question["number"]))
        try:
            if name == "look":
                return session.look(question, check)
            if name == "reasons":
                return session.reasons(question, check)
            return session.message(question)
        except Cancelled:
            return {"cancelled": True}
        except MqselError as error:
            return {"trouble": str(error)}
