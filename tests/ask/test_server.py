"""The server answers its own page, and nobody else."""

import re
import socket
import threading

import pytest
from PIL import Image

from seraph._apps.ask import _server
from seraph._apps.ask._finish import Finish
from seraph._apps.ask._server import Server
from seraph._apps.ask._things import Files, RowThings
from tests.helpers.ask import Client, clusters, full_disk, names, served, session

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
    things = RowThings(IDS, {"cell": ["</script><b>"] * 30}, Files.below(root, IDS))
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


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil:1"])
def test_without_the_token_or_under_another_name_there_is_nothing(client, host):
    """A name of somebody else's that resolves to 127.0.0.1: DNS rebinding."""
    host = host.format(port=client.port)
    for reply in (client.get("state", host=host), client.post("end", {}, host=host)):
        assert reply.status == 400
        assert b"question" not in reply.body
    token = client.root.strip("/")
    assert len(token) >= 32
    for path in ("/", "/state", "/x/state", f"/{token[:-1]}/state"):
        reply = client.raw("GET", path, {"Host": f"127.0.0.1:{client.port}"})
        assert reply.status == 404
        assert "Wrong address" in reply.json["problem"]


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:1", "localhost"])
def test_another_port_of_this_machine_may_lead_here(client, host):
    """As at the other end of an SSH tunnel."""
    host = host.format(port=client.port)
    assert client.get("state", host=host).status == 200
    assert client.post("undo", {"key": "99"}, host=host).status == 200


SAID = [True, *(7 * [False])]


def test_an_answer_a_stale_answer_and_undo(client):
    state = client.get("state").json
    key, n = state["question"]["key"], state["counts"]["answers"]
    after = client.post("answer", {"key": key, "values": SAID}).json
    assert after["question"]["key"] != key
    assert not after["elsewhere"]
    assert client.session.file.path.read_text().count("\n") == 8
    stale = client.post("answer", {"key": key, "values": 8 * [True]}).json
    assert stale["elsewhere"]
    assert stale["counts"]["answers"] == n + 1
    undone = client.post("undo", {"key": after["question"]["key"]}).json
    assert undone["question"]["key"] == key
    assert undone["question"]["given"] == SAID
    assert client.post("answer", {"key": key, "values": SAID[1:]}).status == 422


def test_a_full_disk_is_explained_and_the_question_stays(client, monkeypatch):
    key = client.get("state").json["question"]["key"]
    before = client.session.file.path.read_bytes()
    with full_disk(monkeypatch):
        reply = client.post("answer", {"key": key, "values": SAID})
    assert reply.status == 507
    assert "No space left" in reply.json["problem"]
    assert client.session.file.path.read_bytes() == before
    assert client.get("state").json["question"]["key"] == key
    client.session.file.path.write_text("typed by a person")
    reply = client.post("answer", {"key": key, "values": SAID})
    assert reply.status == 507
    assert "another program has changed it" in reply.json["problem"]
    assert client.session.file.path.read_text() == "typed by a person"
    client.session.file.path.unlink()


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
    assert whole.headers["content-type"].startswith("audio/")
    assert len(whole.body) == 204
    part = client.get("sound/1", range="bytes=100-109")
    assert part.status == 206
    assert part.body == whole.body[100:110]


# Ports


def test_the_page_is_opened_once_the_server_listens(client, monkeypatch):
    opened = []
    server = Server(client.session)

    def look(address):
        opened.append(Client(address).get().status)
        server.stop()

    monkeypatch.setattr(_server.webbrowser, "open", look)
    server.run(browser=True)
    assert opened == [200]


# The end


def finish_with(tmp_path, *arguments):
    return Finish(list(arguments), tmp_path / "model.skops", tmp_path / "report.html")


def wait_for_end(finish, n):
    for thread in threading.enumerate():
        if thread.name.startswith("seraph-finish"):
            thread.join(300)
    return finish.state(n)


def test_a_command_that_fails_is_explained(tmp_path):
    finish = finish_with(tmp_path, "fit", "--nonsense")
    assert finish.state(1)["status"] == "none"
    finish.start(1)
    state = wait_for_end(finish, 1)
    assert state["status"] == "failed"
    assert "No such option" in state["message"]
    assert finish.state(2)["status"] == "none"  # other answers, nothing made of them yet


def test_finish_writes_beside_files_that_exist(tmp_path):
    finish = finish_with(tmp_path, "fit", "x")
    assert finish.state(1)["files"] == {"model": "model.skops", "report": "report.html"}
    for existing, number in (("model.skops", 2), ("report-2.html", 3)):
        (tmp_path / existing).write_text("typed by a person")
        files = {"model": f"model-{number}.skops", "report": f"report-{number}.html"}
        assert finish.state(1)["files"] == files
        assert finish.command.endswith(f"{number}.html")
        finish.start(number)  # it fails
        wait_for_end(finish, number)
        assert (tmp_path / existing).read_text() == "typed by a person"
