"""The page in Chromium, headless; the session and its server are in this process."""

import errno
import os
import re

import numpy as np
import pytest

from seraph._apps.ask._answers import Answer, AnswerFile, PairFormat
from seraph._apps.ask._things import RowThings
from tests.helpers.ask import clusters, served, session
from tests.helpers.browser import KEYS, answer, expect, expect_answers, key_of, shot

X, y = clusters(40)
PHONE = {"width": 375, "height": 740}
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
        answer(page, 1, y)
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
        arg="{}-{}".format(*old.rows),
    )
    expect(page.locator("#said")).to_have_text("Asked again.")
    page.keyboard.press(KEYS[not old.value])
    expect(page.locator("#said")).to_contain_text("Saved: ")
    assert len(opened.file.answers) == n
    assert opened.file.answers[-1] == Answer(old.rows, not old.value, old.weight)
    opened.undo(n)  # for the tests that come
    expect_answers(page, n - 1)
    shot(page, "past")


def test_answers_that_look_wrong_are_listed_side_by_side_and_asked_again(tmp_path, ask):
    ids, path = [f"row {k}" for k in range(40)], tmp_path / "answers.csv"
    with AnswerFile(path, ids, PairFormat()) as file:
        for rows, value in (((0, 3), True), ((3, 6), True), ((0, 6), False), ((1, 2), False)):
            file.add(Answer(rows, value))
    opened, _, page = ask(X, things=RowThings(ids, CELLS))
    assert opened.wait()
    page.locator("#doubted").click()
    expect(page.locator("#doubted")).to_have_text("3 answers look wrong")
    first = page.locator("#doubt-list > li").first
    expect(first.locator("p")).to_have_text("You said different, which contradicts others.")
    assert first.locator("thead th").all_text_contents() == ["row 0", "row 6"]
    shot(page, "doubts")
    page.locator("#again").click()
    expect(page.locator("#before-this")).to_be_visible()
    page.wait_for_function(
        "fetch('state').then(r => r.json()).then(s => s.question.key === '0-6')"
    )


def test_what_another_tab_took_back_is_not_said_to_be_taken_back_here(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    answer(page, 1, y)
    page.route("**/state", lambda route: None)  # it does not hear of the other tab
    opened.undo(len(opened.file.answers))
    page.keyboard.press("u")
    expect(page.locator("#problem")).to_contain_text("in another tab")
    expect(page.locator("#said")).to_have_text("")


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
        answer(page, 1, y)
    expect(page.locator("#learned")).to_have_text(re.compile(r"0\.\d\d|1\.00"))
    expect(page.locator("#advice")).to_contain_text("95 % interval")
    expect(page.locator("#advice")).to_contain_text(re.compile("better|open|as good as"))
    expect(page.locator("#counts")).to_contain_text("answers:")
    expect(page.locator("#chart svg")).to_be_visible()
    times = page.evaluate("performance.getEntriesByName('next question').length")
    assert times >= 40
    assert {len(a.rows) for a in opened.file.answers} == {2}
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


@pytest.mark.parametrize(("scheme", "least"), [("light", 1.8), ("dark", 3.0)])
def test_every_dot_of_the_map_stands_out(rows, open_page, scheme, least):
    """Also the small dots, of the rows that nobody was asked about."""
    page = open_page(rows[1].address, color_scheme=scheme, reduced_motion="reduce")
    dots, ground = page.evaluate(
        """async (groups) => {
          const { PointMap } = await import("./static/map.js");
          const canvas = document.getElementById("map").cloneNode();
          document.getElementById("map").replaceWith(canvas);  // nobody else draws on it
          const places = groups.map((_, k) => [k / 5 - 0.8, 0]);
          const data = { rows: groups.map((_, k) => k), groups, pairs: [], before: places };
          new PointMap(canvas, () => {}).update({ ...data, after: places });
          const side = 0.44 * Math.min(canvas.clientWidth, canvas.clientHeight);
          let dots = [];
          for (let turn = 0; turn < 200 && !dots.some((dot) => dot[3]); turn++) {
            await new Promise((done) => setTimeout(done, 100));
            const scale = canvas.width / canvas.clientWidth;
            const y = scale * canvas.clientHeight / 2;
            const line = canvas.getContext("2d").getImageData(0, y, canvas.width, 1).data;
            dots = places.map(([x]) => {
              const at = 4 * Math.floor(scale * (canvas.clientWidth / 2 + side * x));
              return [...line.slice(at, at + 4)];
            });
          }
          return [dots, getComputedStyle(canvas).backgroundColor.match(/\\d+/g).map(Number)];
        }""",
        [*range(8), -1],
    )

    def light(rgb):
        shares = np.array(rgb) / 255
        parts = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        return parts @ [0.2126, 0.7152, 0.0722] + 0.05

    for *rgb, alpha in dots:
        seen = [alpha / 255 * c + (1 - alpha / 255) * g for c, g in zip(rgb, ground, strict=True)]
        low, high = sorted([light(seen), light(ground)])
        assert high / low >= least


def test_the_chart_is_drawn_again_when_its_box_changes(rows, open_page):
    opened, client = rows
    while len(opened.file.answers) < 44:
        assert opened.wait()
        key = opened.state()["question"]["key"]
        i, j = map(int, key.split("-"))
        opened.answer(key, "same" if y[i] == y[j] else "different")
    assert opened.wait()
    page = open_page(client.address)
    expect(page.locator("#chart svg")).to_be_visible()
    page.route("**/state", lambda route: None)  # nothing else draws it
    page.set_viewport_size({"width": 620, "height": 800})
    page.wait_for_function(
        "() => { const box = document.getElementById('chart');"
        " return box.querySelector('svg').viewBox.baseVal.width === box.clientWidth; }"
    )


def test_all_columns_of_two_rows_are_in_sight_above_the_answers(ask):
    columns = {f"column {k}": [f"{k}"] * 40 for k in range(30)}
    things = RowThings([f"row {k}" for k in range(40)], columns)
    *_, page = ask(X, things=things)
    hidden = "box => box.scrollHeight - box.clientHeight"
    assert page.locator(".table").evaluate(hidden) <= 0
    expect(page.get_by_role("button", name=re.compile("^Same"))).to_be_in_viewport(ratio=1)
    page.locator("table.rows tr").last.scroll_into_view_if_needed()
    expect(page.locator("table.rows thead th").first).to_be_in_viewport()  # which is which
    expect(page.get_by_role("button", name=re.compile("^Same"))).to_be_in_viewport(ratio=1)


def test_screen_readers_hear_what_comes_next_and_nothing_twice(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    page.evaluate(
        """() => {
          window.heard = 0;
          new MutationObserver((all) => { window.heard += all.length; })
            .observe(document.getElementById("advice"), { childList: true, characterData: true });
        }"""
    )
    for _ in range(2):
        with page.expect_response("**/state"):
            pass
    page.wait_for_timeout(100)
    assert page.evaluate("window.heard") == 0
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#said")).to_have_text(
        re.compile(r"^Saved: different\. Next: row \d+ and row \d+\.$")
    )
    opened.undo(len(opened.file.answers))


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
        answer(page, 1, y)
    expect(page.locator("#explained")).to_be_visible()
    n = len(opened.file.answers)
    page.locator("#explained summary").focus()
    page.keyboard.press(" ")
    expect(page.locator("#explained")).to_have_attribute("open", "")
    page.keyboard.press("U")  # as Caps Lock makes it
    expect_answers(page, n - 1)
    expect(page.locator("#advice")).to_have_attribute("role", "status")


def test_the_nearest_rows_are_named_and_say_where_they_are_cut(ask):
    columns = {name: [f"{name} {k}" for k in range(40)] for name in "abcdef"} | {"b": [""] * 40}
    things = RowThings([f"row {k}" for k in range(40)], columns)
    *_, page = ask(X, things=things)
    answer(page, 8, y)
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


def test_a_message_stays_while_it_is_true(rows, open_page, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    page = open_page(rows[1].address)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#problem")).to_contain_text("The disk is full")
        with page.expect_response("**/state"):
            pass
        page.wait_for_timeout(100)
        expect(page.locator("#problem")).to_contain_text("The disk is full")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#problem")).to_be_hidden()
    open_page.faults[:] = [text for text in open_page.faults if "507" not in text]
