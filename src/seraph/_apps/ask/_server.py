"""The local server: routes of the page, and how it starts and ends."""

from __future__ import annotations

import secrets
import socket
import threading
import time
import webbrowser
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from ._page import STATIC, page_of
from ._session import NotWritten, Refused, Session
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
        Route("/image/{size}/{row:int}", pages.image),
        Route("/sound/{row:int}", pages.sound),
        Route("/file/{name}", pages.file),
        Route("/{name:path}", pages.look),
        Route("/{name}", pages.change, methods=["POST"]),
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
        self._static = {
            path.name: path.read_bytes()
            for path in STATIC.iterdir()
            if Path(path.name).suffix in _STATIC_TYPES
        }
        self._page = page_of(session)

    def page(self, _: Request) -> Response:
        return HTMLResponse(self._page)

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            raise HTTPException(404, "There is no such file.")
        return Response(self._static[name], media_type=_STATIC_TYPES[Path(name).suffix])

    def look(self, request: Request) -> Response:
        try:
            return JSONResponse(self._session.look(request.path_params["name"]))
        except (KeyError, ValueError):
            raise HTTPException(404, "There is no such thing.") from None

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
        if finish is not None and finish.is_done:
            offered |= finish.files
        name = request.path_params["name"]
        path = offered.get(name)
        if path is None or not path.is_file():
            raise HTTPException(404, "There is no such file yet.")
        if name == "report":
            return FileResponse(path, media_type="text/html", headers=_AS_REPORT)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def change(self, request: Request) -> Response:
        """Make a change in a thread; return the state after it, or why it was not made."""
        name, sent = request.path_params["name"], await request.json()

        def work() -> Response:
            try:
                return JSONResponse(self._session.change(name, sent))
            except Refused as error:
                code = 507 if isinstance(error, NotWritten) else 422
                raise HTTPException(code, str(error)) from error

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
