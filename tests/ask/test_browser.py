"""The page in a real browser: Chromium, headless, through Playwright."""

import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

from seraph import load
from seraph._apps.ask._answers import PairAnswer
from seraph._apps.ask._things import Folder, RowThings
from tests.helpers.ask import clusters, served, session
from tests.helpers.command import seraph

ROOT = Path(__file__).parents[2]
BROWSER = runpy.run_path(str(ROOT / "tools" / "browser.py"))["find"]()
if BROWSER is None:
    pytest.skip("no chromium on this machine", allow_module_level=True)
from playwright.sync_api import Page, expect, sync_playwright  # noqa: E402

expect.set_options(timeout=120_000)  # of a machine with much else to do
X, y = clusters(40)
KEYS = {True: "ArrowRight", False: "ArrowLeft"}
PHONE = {"width": 375, "height": 740}
# SERAPH_SCREENSHOTS=FOLDER keeps pictures of the pages, to look at.
SHOTS = os.environ.get("SERAPH_SCREENSHOTS")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=BROWSER,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
            viewport={"width": 1280, "height": 800},
        )
        context.set_default_timeout(120_000)
        yield context
        context.close()


@pytest.fixture
def open_page(chromium):
    """Open pages; at the end, none of them had an error or asked another host for anything."""
    pages, faults = [], []

    def watch(page):
        page.on("console", lambda m: m.type in ("error", "warning") and faults.append(m.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda r: r.url.startswith("http://127.0.0.1:") or faults.append(r.url))

    def open_page(address, **options) -> Page:
        page = chromium.new_page()
        pages.append(page)
        watch(page)
        page.emulate_media(**options)
        page.goto(address)
        expect(page.locator("#counts")).not_to_have_text("Loading…")
        return page

    open_page.faults = faults
    yield open_page
    for page in pages:
        page.close()
    assert faults == []


def shot(page, name):
    if SHOTS:
        page.wait_for_timeout(900)
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def key_of(page):
    return page.evaluate("fetch('state').then(r => r.json()).then(s => s.question.key)")


def answer(page, n, classes=y):
    """Answer by keys, from the true classes."""
    for _ in range(n):
        i, j = map(int, key_of(page).split("-"))
        count = page.evaluate("performance.getEntriesByName('next question').length")
        page.keyboard.press(KEYS[bool(classes[i] == classes[j])])
        page.wait_for_function(
            "n => performance.getEntriesByName('next question').length > n", arg=count
        )


def expect_answers(page, n):
    expect(page.locator("#counts")).to_have_text(re.compile(rf"^{n}( of about \d+)? answers?:"))


# The command, with pictures


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A table of 40 rows with a picture each; the last one has lost it."""
    folder = tmp_path_factory.mktemp("photos")
    (folder / "photos").mkdir()
    for row in range(39):
        image = Image.new("RGB", (320, 240), ["#d9e6f7", "#f7e3d0", "#dff0dc"][y[row]])
        draw = ImageDraw.Draw(image)
        draw.ellipse([110, 70, 210, 170], fill=["#33639f", "#c26a1b", "#3c8a35"][y[row]])
        draw.text((10, 10), f"picture {row}", fill="black")
        image.save(folder / "photos" / f"p{row}.png")
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.insert(0, "file", [f"p{row}.png" for row in range(40)])
    frame.to_csv(folder / "photos.csv", index=False)
    return folder


class Command:
    """``seraph ask`` in a process of its own."""

    def __init__(self, folder):
        arguments = "ask photos.csv --id file --show photos -o answers.csv --no-browser"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "seraph", *arguments.split()],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = [self.process.stdout.readline() for _ in range(2)]
        self.address = self.said[1].strip()

    def end(self, how):
        self.process.send_signal(how)
        out = self.process.communicate(timeout=300)[0]
        return out


@pytest.mark.slow
def test_a_whole_session_that_is_killed_and_goes_on(photos, open_page, monkeypatch):
    first = Command(photos)
    try:
        assert "40 rows, 1 of them without a file" in first.said[0]
        page = open_page(first.address)
        expect(page.locator(".thing img")).to_have_count(2)
        expect(page.locator("header")).to_contain_text("1 without a file, not asked")
        answer(page, 9)
        expect_answers(page, 9)

        page.keyboard.press("u")
        expect_answers(page, 8)
        page.keyboard.press(" ")
        expect(page.locator("#counts")).to_contain_text("1 unsure")
        page.keyboard.press("u")
        expect_answers(page, 8)
        page.keyboard.press("Control+ArrowRight")  # a shortcut of the browser's is no answer
        page.keyboard.press("x")

        before = key_of(page)
        page.reload()
        expect_answers(page, 8)
        assert key_of(page) == before

        other = open_page(first.address)
        answer(other, 1)
        expect_answers(other, 9)
        page.get_by_role("button", name="Same", exact=False).click()  # it shows an old question
        page.wait_for_function(
            "() => document.getElementById('counts').textContent.match(/^(9|10) .*answers/)"
        )
        other.close()
    finally:
        first.end(signal.SIGKILL)
    kept = pd.read_csv(photos / "answers.csv")
    assert len(kept) in (9, 10)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#problem")).to_contain_text("Your answers are on disk")
    page.close()
    # A request that was under way is reset or gets no reply, and later ones are refused.
    lost = re.compile(r"net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE)")
    refused = [text for text in open_page.faults if lost.search(text)]
    assert len(refused) == len(open_page.faults) > 0
    open_page.faults.clear()

    second = Command(photos)
    try:
        assert f"Going on after {len(kept)} answers." in second.said[0]
        page = open_page(second.address)
        expect_answers(page, len(kept))
        answer(page, 16 - len(kept))
        page.get_by_role("button", name="Finish").click()
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#end-status")).to_contain_text("Canceled.")
        page.get_by_role("button", name="Go on asking").click()
        page.get_by_role("button", name="Finish").click()
        expect(page.locator("#get-model")).to_be_visible(timeout=600_000)
        expect(page.locator("#nearest img")).to_have_count(11)
        shot(page, "end")
        line = page.locator("#command").text_content()
        with page.expect_download() as saved:
            page.locator("#get-model").click()
        model = photos / "downloaded.skops"
        saved.value.save_as(model)
        assert (photos / "answers.html").read_text().startswith("<!doctype html>")
        report = page.evaluate("fetch('file/report').then(r => r.text())")
        assert report == (photos / "answers.html").read_text()
        shown = page.context.new_page()
        shown.goto(second.address + "file/report")
        with shown.expect_download():
            shown.locator("a[download]").first.click()
        shown.close()
        page.get_by_role("button", name="Go on asking").click()
        expect(page.locator("#things img")).to_have_count(2)
        page.close()
    finally:
        out = second.end(signal.SIGINT)
    assert f"16 answers in answers.csv. Learn from them: {line}" in out
    _same_model_again(photos, line, model, monkeypatch)


def _same_model_again(photos, line, model, monkeypatch):
    """The line that the page showed makes the model that it offered."""
    (photos / "answers.skops").unlink()
    monkeypatch.chdir(photos)
    assert seraph(*shlex.split(line)[1:]).code == 0
    ours, theirs = load(model), load(photos / "answers.skops")
    assert np.array_equal(ours[-1].components_, theirs[-1].components_)
    assert ours[-1].n_similar_ + ours[-1].n_dissimilar_ == 16


# Rows of a table, in this process


CELLS = {
    "name": ["Ann <b>Lee</b>", "Anne Lee"] * 20,
    "city": ["Bonn"] * 40,
    "year": [str(1980 + k) for k in range(40)],
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "answers.csv"
    ids = [f"row {k}" for k in range(40)]
    things = RowThings(ids, CELLS, sizes={"year": np.arange(40) / 11.5})
    with session(path, X, things=things) as opened, served(opened) as client:
        yield opened, client


def test_cells_that_differ_are_marked_and_escaped(rows, open_page):
    page = open_page(rows[1].address)
    table = page.locator("table.rows")
    expect(table.locator("tbody tr")).to_have_count(3)
    name, city, year = table.locator("tbody tr").all()
    left, right = name.locator("td").all_text_contents()
    assert ((name.get_attribute("class") or "") == "differs") == (left != right)
    if left != right:  # only the letters that the other name lacks
        assert "<b>" in " ".join(name.locator("mark").all_text_contents())
        assert "Lee" not in name.locator("mark").all_text_contents()
    parts = (
        "([a, b]) => import('./static/cells.js')"
        ".then(m => m.marked(['', a, null], ['', b, null]).length)"
    )
    assert page.evaluate(parts, ["John Smith", "Jon Smith"]) == 3
    assert page.evaluate(parts, ["Roe deer", "Gray seal"]) == 1  # two letters are common by chance
    assert not city.get_attribute("class")
    gap = abs(np.subtract(*[int(text) for text in year.locator("td").all_text_contents()])) / 11.5
    wanted = "" if gap < 0.1 else "near" if gap < 0.5 else "apart" if gap < 1.5 else "far"
    assert (year.get_attribute("class") or "") == wanted
    assert year.locator("mark").count() == 0
    assert table.locator("td b").count() == 0
    shot(page, "rows")


def test_a_question_is_put_off_and_a_past_answer_is_corrected(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    while len(opened.file.answers) < 2:
        answer(page, 1)
    n, skipped = len(opened.file.answers), key_of(page)
    page.keyboard.press("s")
    expect(page.locator("#said")).to_have_text("The question comes back later.")
    assert key_of(page) != skipped
    old = opened.file.answers[0]
    page.locator("#past summary").click()
    expect(page.locator("#past-list li")).to_have_count(n)
    page.locator("#past-list button").last.click()
    page.wait_for_function(
        "key => fetch('state').then(r => r.json()).then(s => s.question.key === key)",
        arg=f"{old.i}-{old.j}",
    )
    expect(page.locator("#said")).to_have_text("Asked again.")
    page.keyboard.press(KEYS[not old.same])
    expect(page.locator("#said")).to_contain_text("Saved: ")
    assert len(opened.file.answers) == n
    assert opened.file.answers[-1] == PairAnswer(old.i, old.j, not old.same, old.weight)
    opened.undo(n)  # for the tests that come
    expect_answers(page, n - 1)
    shot(page, "past")


def test_a_late_look_at_the_state_does_not_bring_an_old_question_back(rows, open_page):
    _, client = rows
    page = open_page(client.address)
    held = []
    page.route("**/state", lambda route: held.append(route))
    while not held:
        page.wait_for_timeout(10)
    old = held[0].fetch()
    page.keyboard.press("s")
    expect(page.locator("#said")).to_have_text("The question comes back later.")
    shown = page.locator("#things").inner_text()
    with page.expect_response("**/state"):
        held[0].fulfill(response=old)
    page.wait_for_timeout(100)
    assert page.locator("#things").inner_text() == shown
    page.unroute("**/state")


def test_the_page_learns_and_says_how_good_it_is(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    while len(opened.file.answers) < 44:
        assert opened.wait()  # so that the questions do not depend on how fast it learns
        answer(page, 1)
    expect(page.locator("#learned")).to_have_text(re.compile(r"0\.\d\d|1\.00"))
    expect(page.locator("#advice")).to_contain_text("95 % interval")
    expect(page.locator("#advice")).to_contain_text(re.compile("better|open"))
    expect(page.locator("#counts")).to_contain_text("answers:")
    expect(page.locator("#chart svg")).to_be_visible()
    times = page.evaluate("performance.getEntriesByName('next question').length")
    assert times >= 40
    assert {type(a) for a in opened.file.answers} == {PairAnswer}
    shot(page, "learned")


def test_the_map_shows_what_is_behind_a_point_and_can_be_moved(rows, open_page):
    opened, client = rows
    assert opened.wait()
    page = open_page(client.address, reduced_motion="reduce")
    picture = opened.picture()
    expect(page.locator("#map")).to_have_attribute("data-version", str(picture["version"]))
    views = [_changed(page, "")]
    box = page.locator("#map").bounding_box()
    side = 0.44 * min(box["width"], box["height"])
    x, up = picture["after"][0]
    page.mouse.move(
        box["x"] + box["width"] / 2 + side * x, box["y"] + box["height"] / 2 - side * up
    )
    expect(page.locator("#tip")).to_be_visible()
    expect(page.locator("#tip")).to_contain_text("row ")
    shot(page, "hover")
    views.append(_changed(page, views[-1]))
    page.mouse.wheel(0, -400)
    views.append(_changed(page, views[-1]))
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] + 40)
    page.mouse.up()
    views.append(_changed(page, views[-1]))
    page.get_by_role("button", name="Before").click()
    expect(page.get_by_role("button", name="Before")).to_have_attribute("aria-pressed", "true")
    views.append(_changed(page, views[-1]))
    page.get_by_role("button", name="Show all").click()
    views.append(_changed(page, views[-1]))
    assert len(set(views)) == 6


def _changed(page, before):
    """Wait until the map looks different, and return how."""
    look = """before => {
      const now = document.getElementById("map").toDataURL();
      return now !== before && now;
    }"""
    return page.wait_for_function(look, arg=before).json_value()


def test_the_keyboard_reaches_everything_in_order(rows, open_page):
    page = open_page(rows[1].address)
    seen = []
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent.trim().split('\\n')[0]"))
    text = " ".join(seen)
    for name in (
        "Skip to the question",
        "Finish",
        "Different",
        "Unsure",
        "Same",
        "Undo",
        "Before",
    ):
        assert name in text
    page.keyboard.press("ArrowLeft")  # answers, wherever the focus is
    expect(page.locator("#said")).to_contain_text("Saved: different")
    assert page.evaluate("document.activeElement.id") == "question"


def test_everything_has_a_name_for_screen_readers(rows, open_page):
    page = open_page(rows[1].address)
    for role in ("button", "link", "img"):
        for node in page.get_by_role(role).all():
            label = node.get_attribute("aria-label") or node.text_content() or ""
            by = node.get_attribute("aria-labelledby")
            assert label.strip() or by or node.get_attribute("alt"), node
    assert page.locator("h1:visible").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_without_scrolling_sideways(rows, open_page, scheme):
    page = open_page(rows[1].address, color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for name in ("Different", "Unsure", "Same"):
        button = page.get_by_role("button", name=re.compile(f"^{name}"))
        expect(button).to_be_in_viewport()
        assert button.bounding_box()["height"] >= 44
    skip, undo = (page.locator(name).bounding_box() for name in ("#skip", "#undo"))
    assert skip["y"] == undo["y"]
    assert skip["height"] < 44  # its words stay on one line
    assert _contrast_of_everything(page) >= 4.5
    shot(page, f"phone-{scheme}")


def _contrast_of_everything(page):
    """The smallest contrast between text and what is behind it."""
    return page.evaluate(
        """() => {
          const parse = (text) => text.match(/[\\d.]+/g).map(Number);
          const light = (rgb) => {
            const [r, g, b] = rgb.slice(0, 3).map((v) => {
              v /= 255;
              return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const behind = (node) => {
            for (; node; node = node.parentElement) {
              const rgb = parse(getComputedStyle(node).backgroundColor);
              if (rgb.length < 4 || rgb[3] > 0) return rgb;
            }
            return [255, 255, 255];
          };
          let worst = 21;
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const node = walker.currentNode.parentElement;
            if (!walker.currentNode.textContent.trim() || !node.checkVisibility()) continue;
            if (node.closest(".unseen, .skip, svg, button:disabled")) continue;
            const [a, b] = [parse(getComputedStyle(node).color), behind(node)].map(light);
            worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
          }
          return worst;
        }"""
    )


def test_a_phone_on_its_side_shows_the_buttons(rows, open_page):
    page = open_page(rows[1].address)
    page.set_viewport_size({"width": 740, "height": 360})
    for name in ("Different", "Unsure", "Same"):
        expect(page.get_by_role("button", name=re.compile(f"^{name}"))).to_be_in_viewport(ratio=1)
    shot(page, "phone-landscape")


def test_keys_answer_with_caps_lock_and_not_where_they_mean_something_else(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    while len(opened.file.answers) < 44:  # so that there is something to explain
        answer(page, 1)
    expect(page.locator("#explained")).to_be_visible()
    n = len(opened.file.answers)
    page.locator("#explained summary").focus()
    page.keyboard.press(" ")
    expect(page.locator("#explained")).to_have_attribute("open", "")
    page.keyboard.press("U")  # as Caps Lock makes it
    expect_answers(page, n - 1)
    expect(page.locator("#advice")).to_have_attribute("role", "status")


def test_the_nearest_rows_are_named_and_say_where_they_are_cut(tmp_path, open_page):
    columns = {name: [f"{name} {k}" for k in range(40)] for name in "abcdef"} | {"b": [""] * 40}
    things = RowThings([f"row {k}" for k in range(40)], columns)
    with session(tmp_path / "answers.csv", X, things=things) as opened, served(opened) as client:
        page = open_page(client.address)
        answer(page, 8)
        page.get_by_role("button", name="Finish").click()
        boxes = page.locator("#nearest span")
        expect(boxes).to_have_count(11)
        name, *lines, rest = boxes.first.locator("b, small").all_text_contents()
        row = name.removeprefix("row ")
        assert lines == [f"{column}: {column} {row}" for column in "acde"]
        assert rest == "and 1 more"
        # Side by side; at one moment, because what comes above may move them.
        tops = boxes.evaluate_all("all => all.map((node) => node.getBoundingClientRect().top)")
        assert len(set(tops[1:6])) == 1
        page.close()


def test_a_message_stays_while_it_is_true(rows, open_page):
    page = open_page(rows[1].address)
    page.route(
        "**/answer",
        lambda route: route.fulfill(
            status=507, content_type="application/json", body='{"problem": "The disk is full."}'
        ),
    )
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#problem")).to_have_text("The disk is full.")
    with page.expect_response("**/state"):
        pass
    page.wait_for_timeout(100)
    expect(page.locator("#problem")).to_have_text("The disk is full.")
    page.unroute("**/answer")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#problem")).to_be_hidden()
    open_page.faults[:] = [text for text in open_page.faults if "507" not in text]


# Texts, sounds and classes


def test_a_picture_that_cannot_be_read_is_not_asked_about(tmp_path, open_page):
    ids = [f"p{k}" for k in range(12)]
    for k, name in enumerate(ids):
        path = tmp_path / f"{name}.png"
        if k % 2:
            path.write_bytes(b"not a picture")
        else:
            Image.new("RGB", (80, 60), "#33639f").save(path)
    things = RowThings(ids, {}, Folder(tmp_path, ids))
    path = tmp_path / "answers.csv"
    with session(path, X[:12], things=things) as opened, served(opened) as client:
        page = open_page(client.address)
        for _ in range(4):
            page.wait_for_function(
                "() => [...document.querySelectorAll('.thing img')].length === 2 &&"
                " [...document.querySelectorAll('.thing img')].every((i) => i.naturalWidth > 0)"
            )
            answer(page, 1)
        page.close()
        assert all(row % 2 == 0 for a in opened.file.answers for row in a.rows)
    open_page.faults[:] = [text for text in open_page.faults if "404" not in text]


def test_texts_keep_their_direction_and_say_where_they_are_cut(tmp_path, open_page):
    columns = {"text": ["שלום עולם " * 3000] * 40}
    things = RowThings([f"n{k}" for k in range(40)], columns)
    with session(tmp_path / "a.csv", X, things=things) as opened, served(opened) as client:
        page = open_page(client.address)
        text = page.locator(".thing p.text").first
        expect(text).to_contain_text("cut after 2,000 characters")
        assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
        page.close()


def test_arrows_answer_after_a_sound_was_played(tmp_path, open_page):
    ids = [f"s{k}" for k in range(6)]
    for name in ids:
        with wave.open(str(tmp_path / f"{name}.wav"), "wb") as sound:
            sound.setparams((1, 2, 8000, 0, "NONE", ""))
            sound.writeframes(b"\0\0" * 800)
    things = RowThings(ids, {}, Folder(tmp_path, ids))
    path = tmp_path / "answers.csv"
    with session(path, X[:6], things=things) as opened, served(opened) as client:
        page = open_page(client.address)
        page.locator("audio").first.focus()
        page.keyboard.press("ArrowRight")
        expect_answers(page, 1)
        page.close()


def test_classes_are_named_by_keys_and_new_ones_are_added(tmp_path, open_page):
    columns = {"text": [f"A note, number {k}, <i>of some length</i>." for k in range(40)]}
    things = RowThings([f"n{k}" for k in range(40)], columns)
    path = tmp_path / "answers.csv"
    asking = session(path, X, things=things, classes=("cat", "dog"))
    with asking as opened, served(opened) as client:
        page = open_page(client.address)
        expect(page.locator(".thing p.text")).to_contain_text("<i>of some length</i>")
        page.keyboard.press("1")
        expect_answers(page, 1)
        page.keyboard.press("2")
        expect_answers(page, 2)
        page.get_by_label("Another class").fill("big bird")
        page.keyboard.press("Enter")
        expect_answers(page, 3)
        expect(page.get_by_role("button", name="big bird")).to_be_visible()
        page.get_by_role("button", name="big bird").click()
        expect_answers(page, 4)
        expect(page.locator("#counts")).to_have_text(
            "4 of about 60 answers: cat 1, dog 1, big bird 2"
        )
        page.keyboard.press(" ")
        expect(page.locator("#counts")).to_contain_text("1 unsure")
        shot(page, "classes")
        page.close()
    assert pd.read_csv(path)["class"].tolist()[:4] == ["cat", "dog", "big bird", "big bird"]
