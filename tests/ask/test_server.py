"""The server answers its own page, and nobody else."""

import errno
import os
import re
import socket
import stat
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest
from PIL import Image

import seraph._apps.ask
from seraph._apps.ask import _server
from seraph._apps.ask._finish import Finish
from seraph._apps.ask._server import Server
from seraph._apps.ask._things import Folder, RowThings
from tests.helpers.ask import Client, clusters, names, served, session

X, y = clusters(30)
IDS = ["pic", "song", "note", "draw", "fake", "../out", *names(30)[6:]]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("things") / "shown"
    folder.mkdir()
    Image.new("RGB", (50, 50), "red").save(folder / "pic.png")
    (folder / "song.wav").write_bytes(b"RIFF" + bytes(range(200)))
    (folder / "note.txt").write_text("<script>alert(1)</script>")
    (folder / "draw.svg").write_text(
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    )
    (folder / "fake.png").write_text("<html><script>alert(1)</script></html>")
    (folder.parent / "out.png").write_bytes(b"secret")
    return folder


@pytest.fixture(scope="module")
def client(root, tmp_path_factory):
    path = tmp_path_factory.mktemp("answers") / "answers.csv"
    things = RowThings(IDS, {"cell": ["</script><b>"] * 30}, Folder(root, IDS))
    things.shown = lambda row: True  # so that all rows count
    with session(path, X, things=things) as opened, served(opened) as running:
        running.session = opened
        yield running


def test_the_page_and_its_parts_come_from_the_package(client):
    page = client.get()
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    text = page.body.decode()
    assert "test &lt;data&gt;" in text
    assert "<data>" not in text
    parts = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert "static/ask.js" in parts
    for part in set(parts) - {"file/answers", "file/model", "file/report"}:
        assert client.get(part).status == 200, part
    assert client.get("static/nothing.js").status == 404
    assert client.get("static/..%2f_server.py").status == 404


def test_nothing_of_the_page_names_another_host():
    folder = Path(seraph._apps.ask.__file__).parent
    files = [*folder.glob("static/*"), *folder.glob("templates/*")]
    assert len(files) >= 5
    for path in files:
        hosts = set(re.findall(r"https?://[^\s\"')]+", path.read_text(encoding="utf-8")))
        assert hosts <= {"http://www.w3.org/2000/svg"}, path.name


def test_every_response_keeps_the_page_to_itself(client):
    for reply in (client.get(), client.get("state"), client.get("nothing"), client.get("../x")):
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in reply.headers
        assert "server" not in reply.headers


def test_the_server_listens_on_this_machine_only(client):
    with socket.socket() as other:
        other.settimeout(2)
        machine = socket.gethostbyname(socket.gethostname())
        if not machine.startswith("127.0.0.1"):
            assert other.connect_ex((machine, client.port)) != 0
    assert client.address.startswith("http://127.0.0.1:")


ELSEWHERE = [
    "/", "/state", "/x/state", "//state", "/{token}x/state", "/{half}/state", "/{token}",
    "/%C3%A9/x",
]  # fmt: skip


@pytest.mark.parametrize("path", ELSEWHERE)
def test_without_the_token_there_is_nothing(client, path):
    token = client.root.strip("/")
    assert len(token) >= 32
    path = path.format(token=token, half=token[:-1])
    reply = client.raw("GET", path, {"Host": f"127.0.0.1:{client.port}"})
    assert reply.status == 403
    assert b"Wrong address" in reply.body


def test_each_run_has_a_token_of_its_own(client):
    again = Server(client.session)
    again._socket.close()
    assert again.address.split("/")[3] != client.root.strip("/")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil:1", "127.0.0.1:x", "", None]
)
def test_other_hosts_are_refused(client, host):
    """A name of somebody else's that resolves to 127.0.0.1: DNS rebinding."""
    host = host and host.format(port=client.port)
    for reply in (client.get("state", host=host), client.post("end", {}, host=host)):
        assert reply.status in (400, 421)
        assert b"question" not in reply.body


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:1", "localhost"])
def test_another_port_of_this_machine_may_lead_here(client, host):
    """As at the other end of an SSH tunnel."""
    host = host.format(port=client.port)
    assert client.get("state", host=host).status == 200
    assert client.post("skip", {"key": "x"}, host=host, origin=f"http://{host}").status == 200
    assert client.post("skip", {"key": "x"}, host=host, origin="http://localhost:2").status == 403


def test_only_what_was_answered_is_asked_again(client):
    reply = client.post("again", {"keys": ["0-1"]})
    assert reply.status == 422
    assert "Only a question that has an answer" in reply.json["problem"]
    assert client.get("neighbors/99").status == 404
    found = client.get("neighbors/3").json
    assert len(found["before"]) == len(found["after"]) == 5


def status_of_raw(client, *headers):
    """The status of a request with these headers besides its own."""
    own = f"GET {client.root}state HTTP/1.1", f"Host: 127.0.0.1:{client.port}"
    with socket.create_connection(("127.0.0.1", client.port), timeout=120) as raw:
        raw.sendall("\r\n".join([*own, *headers, "", ""]).encode())
        return raw.recv(100).split()[1]


def test_two_hosts_and_web_sockets_are_refused(client):
    assert status_of_raw(client, "Connection: close") == b"200"
    assert status_of_raw(client, "Host: evil.example", "Connection: close") in (b"400", b"421")
    upgrade = "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"
    assert status_of_raw(client, *upgrade, "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==") != b"101"


@pytest.mark.parametrize("path", ["answer", "undo", "end"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": None}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"content_type": None}, 415),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
    ],
)
def test_other_pages_cannot_change_anything(client, path, headers, status):
    before = list(client.session.file.answers)
    key = client.get("state").json["question"]["key"]
    body = {"answer": {"key": key, "value": "same"}, "undo": {"answers": 0}, "end": {}}[path]
    assert client.post(path, body, **headers).status == status
    assert client.session.file.answers == before


def test_other_pages_cannot_read_anything_even_with_the_token(client):
    assert client.get("state", origin="https://evil.example").status == 403
    for site in ("cross-site", "same-site"):
        assert client.get("image/large/0", sec_fetch_site=site).status == 403
    # A link to the page, in a terminal or a mail program, may be followed.
    assert client.get(sec_fetch_site="cross-site", sec_fetch_mode="navigate").status == 200
    assert client.get("state", sec_fetch_site="same-origin").status == 200


BODIES = [
    ("answer", b""),
    ("answer", b"{"),
    ("answer", b"[" * 10000),
    ("answer", b'"same"'),
    ("answer", {"key": "1-2"}),
    ("answer", {"key": 1, "value": "same"}),
    ("answer", {"key": "1-2", "value": "same", "more": 1}),
    ("undo", {"answers": "0"}),
    ("undo", {"answers": True}),
    ("skip", {}),
    ("again", {"keys": [1]}),
    ("again", {"key": "x"}),
    ("cancel", {"x": 1}),
    ("end", {"x": 1}),
]


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_what_is_not_understood_is_refused(client, path, body):
    reply = client.post(path, body)
    assert reply.status == 400
    assert reply.json["problem"]


def test_requests_of_another_form_are_refused(client):
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        headers = {"Host": f"127.0.0.1:{client.port}"}
        assert client.raw(method, client.root + "state", headers).status == 405
    for path in ("answer", "undo", "end"):
        assert client.get(path).status == 405  # changes are made by POST
    for length in ("20000", None, "x", "-1"):
        assert client.post("answer", b"", content_length=length).status in (400, 413)
    assert client.post("answer", b"{}", transfer_encoding="chunked").status == 413
    for path in ("thing/", "image/large/", "sound/"):
        assert client.get(path + "9" * 5000).status == 414  # a number that Python does not read


def test_an_unknown_answer_is_explained(client):
    key = client.get("state").json["question"]["key"]
    reply = client.post("answer", {"key": key, "value": "maybe"})
    assert reply.status == 422
    assert "same, different or unsure" in reply.json["problem"]


def test_an_answer_a_stale_answer_and_undo(client):
    state = client.get("state").json
    key, n = state["question"]["key"], state["counts"]["answers"]
    after = client.post("answer", {"key": key, "value": "different"}).json
    assert after["question"]["key"] == state["upcoming"][0]["key"]
    assert not after["elsewhere"]
    assert client.session.file.path.read_text().count("\n") == n + 2
    stale = client.post("answer", {"key": key, "value": "same"}).json
    assert stale["elsewhere"]
    assert stale["counts"]["answers"] == n + 1
    undone = client.post("undo", {"answers": n + 1}).json
    assert undone["question"]["key"] == key
    assert client.post("undo", {"answers": n + 1}).json["elsewhere"]


def test_a_full_disk_is_explained_and_the_question_stays(client, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    key = client.get("state").json["question"]["key"]
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        reply = client.post("answer", {"key": key, "value": "same"})
    assert reply.status == 507
    assert "The disk is full" in reply.json["problem"]
    assert client.get("state").json["question"]["key"] == key
    other = _server._disk_message(client.session.file.path, OSError(errno.EIO, "I/O error"))
    assert "I/O error" in other


# Files of the user's


@pytest.mark.parametrize(("row", "kind"), [(0, "image/png"), (3, "image/svg+xml")])
def test_pictures_and_drawings_never_become_pages(client, row, kind):
    reply = client.get(f"image/large/{row}")
    assert reply.status == 200
    assert reply.headers["content-type"] == kind
    assert reply.headers["cache-control"] == "private, max-age=3600"  # scaled once per browser
    assert reply.headers["content-disposition"] == "attachment"
    policy = reply.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy


def test_sounds_can_be_heard_from_the_middle(client):
    whole = client.get("sound/1")
    assert whole.headers["content-type"] == "audio/wav"
    assert len(whole.body) == 204
    part = client.get("sound/1", range="bytes=100-109")
    assert part.status == 206
    assert part.body == whole.body[100:110]


@pytest.mark.parametrize(
    "path",
    [
        "image/large/4",  # a page called .png
        "image/large/5",  # a name that leads out of the folder
        "image/large/2",  # a text
        "image/large/99",
        "image/huge/0",
        "image/large/-1",
        "image/large/..%2f..%2fout.png",
        "sound/0",
        "sound/99",
        "thing/99",
        "file/model",
        "file/report",
        "file/..%2fanswers.csv",
        "../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
    ],
)
def test_there_is_no_way_to_other_files(client, path):
    reply = client.get(path)
    assert reply.status in (403, 404)
    assert b"secret" not in reply.body
    assert b"<html>" not in reply.body


def test_texts_and_cells_are_data_and_not_markup(client):
    card = client.get("thing/2")
    assert card.headers["content-type"] == "application/json"
    assert card.json["text"] == "<script>alert(1)</script>"
    assert card.json["cells"] == [["cell", "</script><b>", None]]


def test_the_answers_can_be_saved(client):
    reply = client.get("file/answers")
    assert reply.body == client.session.file.path.read_bytes()
    assert 'filename="answers.csv"' in reply.headers["content-disposition"]


# Ports


def test_a_port_in_use_is_refused_and_any_free_one_is_taken_by_default(client):
    with pytest.raises(ValueError, match=f"Port {client.port} cannot be used"):
        Server(client.session, client.port)
    other = Server(client.session)
    other._socket.close()
    assert Client(other.address).port != client.port


def test_the_page_is_opened_once_the_server_listens(client, monkeypatch):
    opened = []
    server = Server(client.session)

    def look(door):
        """Follow the file that the browser gets, since anybody may see its arguments."""
        path = Path(url2pathname(urlsplit(door).path))
        assert server.address not in door
        assert os.name != "posix" or stat.S_IMODE(path.stat().st_mode) == 0o600
        address = re.search(r"url=([^\"]+)", path.read_text())[1]
        opened.append(Client(address).get().status)
        opened.append(path.exists())  # it is for one use
        server.stop()

    monkeypatch.setattr(_server.webbrowser, "open", look)
    interval = sys.getswitchinterval()
    server.run(browser=True)
    assert opened == [200, False]
    assert sys.getswitchinterval() == interval


# The end


def finish_with(tmp_path, *arguments):
    return Finish(list(arguments), tmp_path / "model.skops", tmp_path / "report.html")


def wait_for_end(finish, n):
    for thread in threading.enumerate():
        if thread.name.startswith("seraph-finish"):
            thread.join(300)
    return finish.state(n)


def test_what_fit_says_is_passed_on_if_it_fails(tmp_path):
    finish = finish_with(tmp_path, "fit", "--nonsense")
    assert finish.state(1)["status"] == "none"
    finish.start(1)
    state = wait_for_end(finish, 1)
    assert state["status"] == "failed"
    assert "No such option" in state["message"]
    assert finish.state(2)["status"] == "none"  # other answers, nothing made of them yet


def test_a_python_that_is_gone_is_explained(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", str(tmp_path / "gone"))
    finish = finish_with(tmp_path, "--version")
    finish.start(2)
    state = wait_for_end(finish, 2)
    assert state["status"] == "failed"
    assert "No such file" in state["message"]


def test_a_fit_can_be_canceled_and_started_again(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(400, 60)))
    (tmp_path / "answers.csv").write_text("i,j,similar\n0,1,1\n2,3,0\n4,5,1\n6,7,0\n")
    finish = finish_with(
        tmp_path, "fit", str(tmp_path / "x.npy"), "--pairs", str(tmp_path / "answers.csv"),
        *("-o", str(tmp_path / "model.skops")),
    )  # fmt: skip
    finish.start(4)
    assert finish.state(4)["status"] == "running"
    finish.cancel()
    assert wait_for_end(finish, 4)["status"] == "canceled"
    assert not (tmp_path / "model.skops").exists()
    finish.start(4)  # it can be started again
    finish.cancel()
    finish.start(4)  # even before the process before it has ended
    assert finish.state(4)["status"] == "running"
    finish.close()
    assert wait_for_end(finish, 4)["status"] == "canceled"


def test_closing_ends_the_process(tmp_path):
    finish = finish_with(tmp_path, "fit", "x")
    finish.close()
    finish.start(0)
    assert finish.state(0)["status"] == "none"


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nHost:", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_a_connection_without_a_whole_request_is_closed(tmp_path, sent):
    with session(tmp_path / "answers.csv", X) as opened:
        server = Server(opened, patience=0.2)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            port = urlsplit(server.address).port
            with socket.create_connection(("127.0.0.1", port), timeout=60) as idle:
                idle.sendall(sent)
                while idle.recv(4096):  # it ends once the server closes the connection
                    pass
            assert Client(server.address).get("state").status == 200
        finally:
            server.stop()
            thread.join(60)
        assert not thread.is_alive()
