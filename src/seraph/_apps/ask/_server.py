"""The local server: routes of the page, and how it starts and ends."""

from __future__ import annotations

import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from ... import __version__
from ._session import Refused, Session
from ._things import SIZES

# Spelled out here: Windows may know a script by another type, and browsers would not run it.
_STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
# Everything comes from this server. Nothing may frame the page, and no form leaves it.
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
# A file of the user's is shown inside the page or saved, and never becomes a page of its own.
_AS_PART = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "content-disposition": "attachment",
    "cache-control": "private, max-age=3600",
}
# The report is our own page. Its style and its pictures are inside it.
_AS_REPORT = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-downloads"
    )
}


def make_app(session: Session, token: str) -> Starlette:
    """Return the application: page, state and answers of a session, below the token.

    The token is a secret that other pages cannot guess. The Host must be this machine: a foreign
    name that resolves to 127.0.0.1 (DNS rebinding) would make a foreign page and this one the
    same origin.
    """
    pages = _Pages(session)
    routes = [
        Route("/", pages.page),
        Route("/static/{name}", pages.static),
        Route("/thing/{row:int}", pages.thing),
        Route("/image/{size}/{row:int}", pages.image),
        Route("/sound/{row:int}", pages.sound),
        Route("/file/{name}", pages.file),
        *(Route(f"/{name}", partial(pages.look, look)) for name, look in pages.looks.items()),
        *(
            Route(f"/{name}", partial(pages.change, change), methods=["POST"])
            for name, change in pages.changes.items()
        ),
    ]
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        middleware=[
            Middleware(BaseHTTPMiddleware, dispatch=_with_headers),
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
        ],
        exception_handlers={HTTPException: _problem},
    )


async def _with_headers(request: Request, call_next: RequestResponseEndpoint) -> Response:
    """Add the headers that keep a page to itself, unless the response has its own."""
    response = await call_next(request)
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


class _Pages:
    """Answers to requests. Starlette runs those that are not ``async`` in threads."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.looks = {
            "state": session.state,
            "picture": session.picture,
            "answers": session.answers,
        }
        # What the page may change; it sends the arguments as a JSON object.
        self.changes: dict[str, Callable[..., bool | None]] = {
            "answer": session.answer,
            "undo": session.undo,
            "again": session.again,
            "end": session.end,
        }
        folder = files("seraph._apps.ask")
        self._static = {
            path.name: path.read_bytes()
            for path in (folder / "static").iterdir()
            if Path(path.name).suffix in _STATIC_TYPES
        }
        setting = session.setting
        template = (folder / "templates" / "page.html").read_text(encoding="utf-8")
        self._page = (
            Environment(autoescape=True)
            .from_string(template)
            .render(
                setting=setting,
                n_missing=session.n_missing,
                answers=session.file.path.name,
                version=__version__,
            )
        )

    def page(self, _: Request) -> Response:
        return HTMLResponse(self._page)

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            raise HTTPException(404, "There is no such file.")
        return Response(self._static[name], media_type=_STATIC_TYPES[Path(name).suffix])

    def look(self, look: Callable[[], Any], _: Request) -> Response:
        return JSONResponse(look())

    def thing(self, request: Request) -> Response:
        return JSONResponse(self._session.setting.things.card(request.path_params["row"]))

    def image(self, request: Request) -> Response:
        row, size = (request.path_params[name] for name in ("row", "size"))
        made = self._session.setting.things.picture(row, size) if size in SIZES else None
        if made is None:
            raise HTTPException(404, "There is no such picture.")
        data, kind = made
        return Response(data, media_type=kind, headers=_AS_PART)

    def sound(self, request: Request) -> Response:
        path = self._session.setting.things.path(request.path_params["row"], "sound")
        if path is None:
            raise HTTPException(404, "There is no such sound.")
        return FileResponse(path, headers=_AS_PART)

    def file(self, request: Request) -> Response:
        finish = self._session.finish
        offered = {"answers": self._session.file.path}
        if self._session.finish_state()["status"] == "done":
            offered |= finish.files
        name = request.path_params["name"]
        path = offered.get(name)
        if path is None or not path.is_file():
            raise HTTPException(404, "There is no such file yet.")
        if name == "report":
            return FileResponse(path, media_type="text/html", headers=_AS_REPORT)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def change(self, change: Callable[..., bool | None], request: Request) -> Response:
        """Make a change in a thread; return the state after it, or why it was not made."""
        sent = await request.json()

        def work() -> Response:
            try:
                made = change(**sent)
            except Refused as error:
                raise HTTPException(422, str(error)) from error
            except OSError as error:
                path, fault = self._session.file.path, error.strerror or error
                message = f"{path} was not written ({fault}). Nothing before is lost."
                raise HTTPException(507, message) from error
            return JSONResponse({**self._session.state(), "elsewhere": made is False})

        return await run_in_threadpool(work)


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    lost = error.detail == "Not Found"  # by Starlette: no route, so another token
    problem = "Wrong address: open the one that `seraph ask` printed." if lost else error.detail
    return JSONResponse({"problem": problem}, error.status_code, error.headers)


class Server:
    """A server on this machine, for one session; on any port that is free, unless one is given.

    Its `address` is that of the page, with the token.
    """

    def __init__(self, session: Session, port: int | None = None) -> None:
        self._socket = _listen(port)
        token = secrets.token_urlsafe(24)
        port = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/{token}/"
        self._server = uvicorn.Server(
            uvicorn.Config(
                make_app(session, token),
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="off",
                log_level="critical",
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )

    def run(self, *, browser: bool = False) -> None:
        """Serve until interrupted; open the page in a browser first if wanted."""
        if browser:
            threading.Thread(target=self._open, daemon=True).start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.should_exit = True

    def _open(self) -> None:
        while not self._server.started and not self._server.should_exit:
            time.sleep(0.02)
        webbrowser.open(self.address)


def _listen(port: int | None) -> socket.socket:
    """Return a socket that listens on this machine only."""
    try:
        return socket.create_server(("127.0.0.1", port or 0))
    except OSError as error:
        raise ValueError(
            f"Port {port} cannot be used ({error.strerror}): choose another with --port, or leave "
            "it out to take any that is free."
        ) from None
