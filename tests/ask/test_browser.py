"""The page in Chromium, headless; the session and its server are in this process."""

import errno
import os
import re

import numpy as np
import pytest

from seraph._apps.ask._answers import Answer, AnswerFile, PairFormat
from seraph._apps.ask._things import RowThings
from tests.helpers.ask import clusters, served, session
from tests.helpers.browser import KEYS, answer, expect, expect_answers, shot
from tests.helpers.quick import few

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
    words = [f"word{k}" for k in range(300)]
    marks = (
        "([a, b]) => import('./static/cells.js').then(m => m.marked(['', a, null], ['', b, null])"
        ".filter(n => n.nodeType).map(n => n.textContent))"
    )
    other = " ".join(words).replace("word250", "another")
    assert page.evaluate(marks, [" ".join(words), other]) == ["word250 "]  # not cut off
    missing = (
        "m => [m.difference(['', 'Ann', null], ['', '', null]), m.plain(['', ''])[0].innerText]"
    )
    assert page.evaluate(f"import('./static/cells.js').then({missing})") == ["", "missing"]
    assert not city.get_attribute("class")
    gap = abs(np.subtract(*[int(text) for text in year.locator("td").all_text_contents()])) / 11.5
    wanted = "" if gap < 0.1 else "near" if gap < 0.5 else "apart" if gap < 1.5 else "far"
    assert (year.get_attribute("class") or "") == wanted
    assert year.locator("mark").count() == 0
    assert table.locator("td b").count() == 0
    shot(page, "rows")


def test_a_past_answer_is_corrected(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    while len(opened.file.answers) < 2:
        answer(page, 1, y)
    n, old = len(opened.file.answers), opened.file.answers[0]
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
    opened.undo(n)  # brings the first answer back
    assert old in opened.file.answers
    expect_answers(page, n)
    shot(page, "past")


def test_answers_that_look_wrong_are_listed_side_by_side_and_asked_again(tmp_path, ask):
    ids, path = [f"row {k}" for k in range(40)], tmp_path / "answers.csv"
    file = AnswerFile(path, ids, PairFormat())
    for k in range(10):
        file.add(Answer((k, k + 3), True))
        file.add(Answer((k, k + 4), False))
    file.add(Answer((20, 23), False))  # a slip
    opened, _, page = ask(X, things=RowThings(ids, CELLS))
    assert opened.wait()
    page.locator("#doubted").click()
    listed = page.locator("#doubt-list > li", has_text="row 20")
    expect(listed.locator("p")).to_have_text("You said different, unlike the others.")
    assert listed.locator("thead th").all_text_contents() == ["row 20", "row 23"]
    shot(page, "doubts")
    page.locator("#again").click()
    expect(page.locator("#before-this")).to_be_visible()


def test_the_page_learns_and_says_how_good_it_is(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    while len(opened.file.answers) < 44:
        assert opened.wait()  # so that the questions do not depend on how fast it learns
        answer(page, 1, y)
    expect(page.locator("#first")).to_have_text(re.compile(r"0\.\d\d|1\.00"))
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize("scheme", few(["light", "dark"], "dark".__eq__))
def test_a_phone_shows_all_without_scrolling_sideways(rows, open_page, scheme):
    page = open_page(rows[1].address, color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for name in ("Different", "Unsure", "Same"):
        button = page.get_by_role("button", name=re.compile(f"^{name}"))
        expect(button).to_be_in_viewport()
        assert button.bounding_box()["height"] >= 44
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


def test_a_message_stays_while_it_is_true(rows, open_page, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    page = open_page(rows[1].address)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#problem")).to_contain_text("No space left")
        with page.expect_response("**/state"):
            pass
        page.wait_for_timeout(100)
        expect(page.locator("#problem")).to_contain_text("No space left")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#problem")).to_be_hidden()
    open_page.faults[:] = [text for text in open_page.faults if "507" not in text]
