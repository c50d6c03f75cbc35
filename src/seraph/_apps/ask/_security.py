"""Who may talk to the server: only pages that it served itself, in a browser on this machine."""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 16_384
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
_LONGEST_PATH = 200  # the token has 32 characters
# Everything comes from this server. Nothing may frame the page, and no form leaves it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuse requests that this server's own page would not make.

    - The address must start with the token, a secret that other pages cannot guess.
    - The Host must be this machine: a foreign name that resolves to 127.0.0.1 (DNS rebinding)
      would make the foreign page and this server one origin. Its port may be another one, as at
      the other end of an SSH tunnel.
    - A browser says where a request comes from; other sites may not ask for anything, and a
      request that changes something must name this server as its Origin and be JSON.

    Parameters
    ----------
    app : ASGI application
        What answers the requests that pass. Their path has lost the token.
    token : str
        The secret.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request; uvicorn is told to pass on nothing else."""
        app = self._app
        refused = self._fault(scope)
        if refused is not None:
            status, reason = refused
            app = PlainTextResponse(reason, status)
        else:
            scope = {**scope, "path": "/" + scope["path"].split("/", 2)[2], "raw_path": b""}
        await app(scope, receive, _with_headers(send))

    def _fault(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason if a request is refused."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0].lower()):
            return 421, (
                "This server answers only to 127.0.0.1 and localhost. From another machine, open "
                "a tunnel, ssh -L PORT:127.0.0.1:PORT, and the address with 127.0.0.1 there."
            )
        if len(scope["path"]) > _LONGEST_PATH:
            return 414, "No address of this server is that long."
        given = scope["path"].split("/", 2)
        if len(given) < 3 or not secrets.compare_digest(given[1].encode(), self._token):
            return 403, "Wrong address: open the one that `seraph ask` printed."
        origins = headers.getlist("origin")
        if any(origin != f"http://{hosts[0].lower()}" for origin in origins):
            return 403, "Another site may not use this server."
        from_elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if from_elsewhere and headers.get("sec-fetch-mode") != "navigate":
            return 403, "Another site may not use this server."
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return 405, "This server knows GET and POST."
        if len(origins) != 1:
            return 403, "A change must say which page asks for it (Origin)."
        if headers.get("content-type", "").split(";")[0].strip() != "application/json":
            return 415, "Send JSON."
        length = headers.get("content-length", "")
        chunked = "transfer-encoding" in headers  # it would overrule the length
        if chunked or not length.isdecimal() or int(length) > LARGEST_BODY:
            return 413, f"Send at most {LARGEST_BODY} bytes, and say how many."
        return None


def _with_headers(send: Send) -> Send:
    """Add the headers that keep a page to itself, unless the response has its own."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
