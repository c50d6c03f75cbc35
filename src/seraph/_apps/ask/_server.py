"""The local server: routes of the page, and how it starts and ends."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..._utils._files import render
from ..._utils._version import __version__
from ._security import Guard
from ._session import Refused, Session
from ._things import SIZES

# Spelled out here: Windows may know a script by another type, and browsers would not run it.
_STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
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


def make_app(session: Session, opened: Callable[[], None] = lambda: None) -> Starlette:
    """Return the application behind the guard: pages, state and answers of a session.

    `opened` is called whenever the page is.
    """
    pages = _Pages(session, opened)
    return Starlette(
        routes=[
            Route("/", pages.page),
            Route("/static/{name}", pages.static),
            Route("/state", pages.state),
            Route("/picture", pages.picture),
            Route("/answers", pages.answers),
            Route("/neighbors/{row:int}", pages.neighbors),
            Route("/thing/{row:int}", pages.thing),
            Route("/image/{size}/{row:int}", pages.image),
            Route("/sound/{row:int}", pages.sound),
            Route("/file/{name}", pages.file),
            *(
                Route(f"/{name}", partial(pages.change, name), methods=["POST"])
                for name in pages.changes
            ),
        ],
        exception_handlers={HTTPException: _problem},
    )


class _Pages:
    """Answers to requests. Starlette runs those that are not ``async`` in threads."""

    def __init__(self, session: Session, opened: Callable[[], None]) -> None:
        self._session = session
        self._opened = opened
        # What the page may change: how, and the fields of the JSON object that it sends.
        self.changes: dict[str, tuple[Callable[..., bool | None], dict[str, type]]] = {
            "answer": (session.answer, {"key": str, "value": str}),
            "undo": (session.undo, {"answers": int}),
            "skip": (session.skip, {"key": str}),
            "again": (session.again, {"keys": list}),
            "cancel": (session.finish.cancel, {}),
            "end": (session.end, {}),
        }
        folder = files("seraph._apps.ask")
        self._static = {
            path.name: path.read_bytes()
            for path in (folder / "static").iterdir()
            if Path(path.name).suffix in _STATIC_TYPES
        }
        setting = session.setting
        self._page = render(
            (folder / "templates" / "page.html").read_text(encoding="utf-8"),
            title=setting.title,
            question=setting.question,
            features=setting.features,
            by_class=setting.classes is not None,
            duplicates=setting.records is not None,
            n_rows=f"{len(setting.X):,}",
            n_missing=session.n_missing,
            finish=session.finish,
            answers=session.file.path.name,
            version=__version__,
        )

    def page(self, _: Request) -> Response:
        self._opened()
        return HTMLResponse(self._page)

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            raise HTTPException(404, "There is no such file.")
        return Response(self._static[name], media_type=_STATIC_TYPES[Path(name).suffix])

    def state(self, _: Request) -> Response:
        return JSONResponse(self._session.state())

    def picture(self, _: Request) -> Response:
        return JSONResponse(self._session.picture())

    def answers(self, _: Request) -> Response:
        return JSONResponse(self._session.answers())

    def neighbors(self, request: Request) -> Response:
        return JSONResponse(self._session.neighbors(self._row(request)))

    def thing(self, request: Request) -> Response:
        return JSONResponse(self._session.setting.things.card(self._row(request)))

    def image(self, request: Request) -> Response:
        row, size = self._row(request), request.path_params["size"]
        made = self._session.setting.things.picture(row, size) if size in SIZES else None
        if made is None:
            raise HTTPException(404, "There is no such picture.")
        data, kind = made
        return Response(data, media_type=kind, headers=_AS_PART)

    def sound(self, request: Request) -> Response:
        found = self._session.setting.things.sound(self._row(request))
        if found is None:
            raise HTTPException(404, "There is no such sound.")
        path, kind = found
        return FileResponse(path, media_type=kind, headers=_AS_PART)

    def file(self, request: Request) -> Response:
        finish = self._session.finish
        offered: dict[str, Path | None] = {"answers": self._session.file.path}
        if self._session.finish_state()["status"] == "done":
            offered |= {"model": finish.model, "report": finish.report}
        name = request.path_params["name"]
        path = offered.get(name)
        if path is None or not path.is_file():
            raise HTTPException(404, "There is no such file yet.")
        if name == "report":
            return FileResponse(path, media_type="text/html", headers=_AS_REPORT)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def change(self, name: str, request: Request) -> Response:
        """Make a change in a thread; return the state after it, or why it was not made."""
        make, fields = self.changes[name]
        sent = _parsed(await request.body(), fields)

        def work() -> Response:
            try:
                made = make(*(sent[field] for field in fields))
            except Refused as error:
                raise HTTPException(422, str(error)) from error
            except OSError as error:
                message = _disk_message(self._session.file.path, error)
                raise HTTPException(507, message) from error
            return JSONResponse({**self._session.state(), "elsewhere": made is False})

        return await run_in_threadpool(work)

    def _row(self, request: Request) -> int:
        row = int(request.path_params["row"])
        if row >= len(self._session.setting.X):
            raise HTTPException(404, "There is no such row.")
        return row


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"problem": error.detail}, error.status_code, error.headers)


def _disk_message(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {path} was not written. Free some space, then answer again."
    return f"{path} was not written ({reason}). Nothing before is lost; answer again."


def _parsed(body: bytes, fields: dict[str, type]) -> dict[str, Any]:
    """Return the JSON object of a request; refuse one without these fields of these types."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        sent = None
    if (
        not isinstance(sent, dict)
        or {name: type(value) for name, value in sent.items()} != fields
        or not all(type(key) is str for key in sent.get("keys", ()))
    ):
        listed = [f"{name} ({kind.__name__})" for name, kind in fields.items()]
        raise HTTPException(400, f"Send a JSON object with {' and '.join(listed) or 'no fields'}.")
    return sent


class _Connection(H11Protocol):
    """A connection that is closed if a request does not come, or not whole.

    uvicorn closes one that is idle after a response, and waits for the first request forever.
    """

    def __init__(self, *args: Any, patience: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience = patience

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def _watch(self) -> None:
        self.loop.call_later(self._patience, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        between = self.timeout_keep_alive_task is not None  # requests: uvicorn's own time runs
        begun = self.cycle is not None and not self.cycle.response_complete
        if between or (begun and self.conn.their_state is not h11.SEND_BODY):
            self._watch()
        else:
            self.transport.close()


class Server:
    """A server on this machine, for one session; on any port that is free, unless one is given.

    Its `address` is that of the page, with the token. A connection on which no whole request comes
    is closed after `patience` seconds.
    """

    def __init__(self, session: Session, port: int | None = None, patience: float = 20.0) -> None:
        self._socket = _listen(port)
        self._folder = session.file.path.resolve().parent
        self._door: Path | None = None
        token = secrets.token_urlsafe(24)
        port = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/{token}/"
        self._server = uvicorn.Server(
            uvicorn.Config(
                Guard(make_app(session, self._close_door), token),
                loop="asyncio",
                http=partial(_Connection, patience=patience),  # type: ignore[arg-type]
                ws="none",
                lifespan="off",
                log_level="critical",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )

    def run(self, *, browser: bool = False) -> None:
        """Serve until interrupted; open the page in a browser first if wanted."""
        if browser:
            threading.Thread(target=self._open, daemon=True).start()
        # A refit gives way to a request after this many seconds, not after Python's 0.005.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(0.0005)
        try:
            self._server.run(sockets=[self._socket])
        finally:
            sys.setswitchinterval(interval)
            self._socket.close()
            self._close_door()

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.should_exit = True

    def _open(self) -> None:
        while not self._server.started and not self._server.should_exit:
            time.sleep(0.02)
        # All users of the machine see the arguments of a browser, and so would see the token.
        try:
            self._door = _private_door(self._folder, self.address)
        except OSError:  # the address is printed, too
            return
        webbrowser.open(self._door.as_uri())

    def _close_door(self) -> None:
        """Remove the file that led to the page: it is there for one use."""
        door, self._door = self._door, None
        if door is not None:
            door.unlink(missing_ok=True)


def _private_door(folder: Path, address: str) -> Path:
    """Write a file that leads to the address, and that only this user can read."""
    descriptor, name = tempfile.mkstemp(".html", "seraph-ask-", folder)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><title>seraph ask</title>'
            f'<meta http-equiv="refresh" content="0; url={address}">'
            f'<p><a href="{address}">Go on to the page</a></p>'
        )
    return Path(name)


def _listen(port: int | None) -> socket.socket:
    """Return a socket that listens on this machine only."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # on Windows it would share the port with another server
            # A server that ended a moment ago does not block its port.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port or 0))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ValueError(
            f"Port {port} cannot be used ({error.strerror}): choose another with --port, or leave "
            "it out to take any that is free."
        ) from None
    return listening
