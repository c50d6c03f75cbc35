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
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._utils._version import __version__
from ._security import Guard
from ._session import Refused, Session
from ._things import SIZES

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_STATIC = {
    "ask.css": "text/css; charset=utf-8",
    "ask.js": "text/javascript; charset=utf-8",
    "cells.js": "text/javascript; charset=utf-8",
    "chart.js": "text/javascript; charset=utf-8",
    "map.js": "text/javascript; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
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


def make_app(session: Session, opened: Callable[[], None] = lambda: None) -> Starlette:
    """Return the application behind the guard: pages, state and answers of a session.

    `opened` is called whenever the page is.
    """
    from starlette.applications import Starlette
    from starlette.routing import Route

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
            Route("/answer", pages.answer, methods=["POST"]),
            Route("/undo", pages.undo, methods=["POST"]),
            Route("/skip", pages.skip, methods=["POST"]),
            Route("/again", pages.again, methods=["POST"]),
            Route("/cancel", pages.cancel, methods=["POST"]),
            Route("/end", pages.end, methods=["POST"]),
        ]
    )


class _Pages:
    """Answers to requests. Starlette runs those that are not ``async`` in threads."""

    def __init__(self, session: Session, opened: Callable[[], None]) -> None:
        from jinja2 import Environment, StrictUndefined

        self._session = session
        self._opened = opened
        folder = files("seraph._apps.ask")
        self._files = {name: (folder / "static" / name).read_bytes() for name in _STATIC}
        template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
            (folder / "templates" / "page.html").read_text(encoding="utf-8")
        )
        setting = session.setting
        self._page = template.render(
            title=setting.title,
            question=setting.question,
            features=setting.features,
            by_class=setting.classes is not None,
            duplicates=setting.records is not None,
            n_rows=f"{len(setting.X):,}",
            n_missing=session.n_missing,
            version=__version__,
        )

    def page(self, _: Request) -> Response:
        from starlette.responses import HTMLResponse

        self._opened()
        return HTMLResponse(self._page)

    def static(self, request: Request) -> Response:
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in self._files:
            return _problem(404, "There is no such file.")
        return Response(self._files[name], headers={"content-type": _STATIC[name]})

    def state(self, _: Request) -> Response:
        return _json(self._session.state())

    def picture(self, _: Request) -> Response:
        return _json(self._session.picture())

    def answers(self, _: Request) -> Response:
        return _json(self._session.answers())

    def neighbors(self, request: Request) -> Response:
        row = self._row(request)
        if row is None:
            return _problem(404, "There is no such row.")
        return _json(self._session.neighbors(row))

    def thing(self, request: Request) -> Response:
        row = self._row(request)
        if row is None:
            return _problem(404, "There is no such row.")
        return _json(self._session.setting.things.card(row))

    def image(self, request: Request) -> Response:
        from starlette.responses import Response

        row, size = self._row(request), request.path_params["size"]
        made = None
        if row is not None and size in SIZES:
            made = self._session.setting.things.picture(row, size)
        if made is None:
            return _problem(404, "There is no such picture.")
        data, kind = made
        return Response(data, headers={"content-type": kind, **_AS_PART})

    def sound(self, request: Request) -> Response:
        from starlette.responses import FileResponse

        row = self._row(request)
        found = None if row is None else self._session.setting.things.sound(row)
        if found is None:
            return _problem(404, "There is no such sound.")
        path, kind = found
        return FileResponse(path, media_type=kind, headers=_AS_PART)

    def file(self, request: Request) -> Response:
        from starlette.responses import FileResponse

        finish = self._session.finish
        made = self._session.finish_state()["status"] == "done"
        name = request.path_params["name"]
        offered = {"answers": self._session.file.path}
        if made:
            offered["model"] = finish.model
            if finish.report is not None:
                offered["report"] = finish.report
        if name not in offered or not offered[name].is_file():
            return _problem(404, "There is no such file yet.")
        path = offered[name]
        if name == "report":
            return FileResponse(path, media_type="text/html", headers=_AS_REPORT)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def answer(self, request: Request) -> Response:
        sent = await _sent(request, {"key": str, "value": str})
        if sent is None:
            return _problem(400, "An answer has a key and a value.")
        return await self._change(lambda: self._session.answer(sent["key"], sent["value"]))

    async def undo(self, request: Request) -> Response:
        sent = await _sent(request, {"answers": int})
        if sent is None:
            return _problem(400, "To undo, say how many answers there are.")
        return await self._change(lambda: self._session.undo(sent["answers"]))

    async def skip(self, request: Request) -> Response:
        sent = await _sent(request, {"key": str})
        if sent is None:
            return _problem(400, "To put a question off, send its key.")
        return await self._change(lambda: self._session.skip(sent["key"]))

    async def again(self, request: Request) -> Response:
        sent = await _sent(request, {"keys": list})
        if sent is None or not all(isinstance(key, str) for key in sent["keys"]):
            return _problem(400, "To ask again, send the keys of the questions.")
        return await self._change(lambda: self._session.again(sent["keys"]))

    async def cancel(self, request: Request) -> Response:
        if await _sent(request, {}) is None:
            return _problem(400, "Send an empty object.")
        return await self._change(self._session.finish.cancel)

    async def end(self, request: Request) -> Response:
        if await _sent(request, {}) is None:
            return _problem(400, "Send an empty object.")
        return await self._change(self._session.end)

    async def _change(self, change: Callable[[], bool | None]) -> Response:
        """Make a change in a thread; return the state after it, or why it was not made."""
        from starlette.concurrency import run_in_threadpool

        def work() -> Response:
            try:
                made = change()
            except Refused as error:
                return _problem(422, str(error))
            except OSError as error:
                return _problem(507, _disk_message(self._session.file.path, error))
            return _json({**self._session.state(), "elsewhere": made is False})

        return await run_in_threadpool(work)

    def _row(self, request: Request) -> int | None:
        row = int(request.path_params["row"])
        return row if row < len(self._session.setting.X) else None


def _disk_message(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {path} was not written. Free some space, then answer again."
    return f"{path} was not written ({reason}). Nothing before is lost; answer again."


def _json(value: Any) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse(value)


def _problem(status: int, message: str) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"problem": message}, status_code=status)


async def _sent(request: Request, fields: dict[str, type]) -> dict[str, Any] | None:
    """Return the JSON object of a request; None if it has not these fields of these types."""
    try:
        value = json.loads(await request.body())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.keys() != fields.keys():
        return None
    return value if all(type(value[name]) is kind for name, kind in fields.items()) else None


class Server:
    """A server on this machine, for one session.

    Parameters
    ----------
    session : Session
        What it serves.
    port : int, optional
        Port; by default any that is free.

    Attributes
    ----------
    address : str
        Address of the page, with the token.
    """

    def __init__(self, session: Session, port: int | None = None) -> None:
        import uvicorn

        self._socket = _listen(port)
        self._folder = session.file.path.resolve().parent
        self._door: Path | None = None
        token = secrets.token_urlsafe(24)
        port = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/{token}/"
        self._server: uvicorn.Server = uvicorn.Server(
            uvicorn.Config(
                Guard(make_app(session, self._close_door), token),
                loop="asyncio",
                http="h11",
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
