"""A session of ``seraph ask`` to test, its server, and requests as a browser makes them."""

import errno
import http.client
import json
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np

from seraph._apps.ask._answers import AnswerFile
from seraph._apps.ask._finish import Finish
from seraph._apps.ask._server import Server
from seraph._apps.ask._session import Session, Setting
from seraph._apps.ask._things import RowThings


def clusters(n=60, m=4, n_classes=3, seed=0, radius=4.0):
    """Points around a few centers in the first two features, noise in the others; and classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, m))
    X[:, :2] += radius * np.column_stack([np.cos(2.1 * y), np.sin(2.1 * y)])
    return X.astype(np.float32), y


@contextmanager
def full_disk(monkeypatch):
    """Nothing can be written to the disk."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        yield


def names(n):
    return [f"row {k}" for k in range(n)]


@contextmanager
def session(path, X, *, things=None, classes=None, sort=False, finish=None, seed=0, records=None):
    """Open a session whose answers go to `path`."""
    ids = names(len(X))
    things = things or RowThings(ids, {"number": [str(k) for k in range(len(X))]})
    report = path.with_suffix(".html") if records is None else None
    none = Finish(["--version"], path.with_suffix(".skops"), report)
    points = X if records is None else records
    setting = Setting(things, "test <data>", points, classes=classes, sort=sort, seed=seed)
    file = AnswerFile(path, ids, classes=classes is not None)
    opened = Session(setting, file, finish or none)
    try:
        yield opened
    finally:
        opened.close()


def values_of(mode, rows, y):
    """What a person who knows the classes says of the rows of a question."""
    if mode in ("pair", "like"):
        return [bool(y[row] == y[rows[0]]) for row in rows]
    if mode == "name":
        return ["abcdef"[y[row]] for row in rows]
    order = list(dict.fromkeys(y[row] for row in rows))
    return ["ABCDEFGH"[order.index(y[row])] for row in rows]


def answer_truly(opened, y, n=1, *, patient=True):
    """Answer `n` questions from the true classes; return their rows.

    Somebody patient waits until the model has learned from the last answer, so the questions do
    not depend on how fast that is.
    """
    asked = []
    for _ in range(n):
        assert not patient or opened.wait(judged=False)
        question = opened.state()["question"]
        rows = [int(part) for part in question["key"].split("-")]
        assert opened.answer(question["key"], values_of(opened.setting.mode, rows, y))
        asked.append(tuple(rows))
    assert not patient or opened.wait()
    return asked


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """Requests to a server, with the headers of its own page unless told otherwise."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.address, self.port, self.root = address, parts.port, parts.path
        self.origin = f"http://127.0.0.1:{self.port}"

    def raw(self, method, path, headers, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path="", **headers):
        headers = {"Host": f"127.0.0.1:{self.port}", **_header_names(headers)}
        return self.raw("GET", self.root + path, _without_none(headers))

    def post(self, path, value, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        usual = {
            "Host": f"127.0.0.1:{self.port}",
            "Origin": self.origin,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
        }
        headers = {**usual, **_header_names(headers)}
        return self.raw("POST", self.root + path, _without_none(headers), body)


def _header_names(headers):
    return {name.replace("_", "-").title(): value for name, value in headers.items()}


def _without_none(headers):
    return {name: value for name, value in headers.items() if value is not None}


@contextmanager
def served(opened, port=None):
    """Serve a session in a thread; yield a client."""
    server = Server(opened, port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Client(server.address)
    finally:
        server.stop()
        thread.join(120)
        assert not thread.is_alive()
