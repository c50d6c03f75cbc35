"""The page in Chromium, headless; the session and its server are in this process."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from seraph._apps.ask._things import Column, Files, RowThings
from seraph.tables._table import as_table
from tests.helpers.ask import clusters, full_disk, names, served, session, values_of
from tests.helpers.browser import answer, expect, expect_answers, key_of, shot
from tests.helpers.quick import few

X, y = clusters(40)
PHONE = {"width": 375, "height": 740}
TABLE = as_table(
    pd.DataFrame(
        {
            "name": ["Ann <b>Lee</b>", "Anne Lee"] * 20,
            "city": ["Bonn"] * 40,
            "year": np.arange(1980, 2020),
        }
    )
)
CELLS = RowThings(names(40), {name: Column(name, [TABLE]) for name in TABLE.names})


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "answers.csv"
    with session(path, X, things=CELLS) as opened, served(opened) as client:
        yield opened, client


MANY, CLASSES = clusters(400)


def things_of(kind, folder):
    """Something to show for 400 rows."""
    ids = names(400)
    if kind == "image":
        for name, code in zip(ids, CLASSES, strict=True):
            Image.new("RGB", (40, 30), ["red", "green", "blue"][code]).save(folder / f"{name}.png")
        return RowThings(ids, {}, Files.below(folder, ids))
    columns = {name: [f"{x:.3f} <i>" for x in MANY[:, k]] for k, name in enumerate("ab")}
    return RowThings(ids, columns if kind == "cells" else {"a": columns["a"]})


QUICK = [("image", "like", 3), ("text", "sort", 3), ("cells", "like", 3)]
LONG = [("image", "like", 50), ("text", "like", 50), ("cells", "like", 50), ("image", "sort", 6)]


@pytest.mark.parametrize(("kind", "mode", "n"), few([*QUICK, *LONG], QUICK.__contains__))
def test_the_file_is_what_was_tapped_by_keys_touch_and_mouse(tmp_path, ask, kind, mode, n):
    opened, _, page = ask(MANY, things=things_of(kind, tmp_path), sort=mode == "sort")
    expect(page.locator(".card")).to_have_count(8)
    wanted = {}
    for number in range(1, n + 1):
        (row,) = answer(page, 1, CLASSES, ("keys", "touch", "mouse")[number % 3])
        values = values_of(mode, row, CLASSES)
        for i, j in combinations(range(8), 2):
            if mode == "sort" or values[i] or values[j]:
                wanted[number, row[i], row[j]] = int(CLASSES[row[i]] == CLASSES[row[j]])
    table = pd.read_csv(opened.file.path)
    assert {(a.screen, a.i, a.j): a.similar for a in table.itertuples()} == wanted
    assert table["chance"].notna().sum() == 7 * n


def test_cells_that_differ_from_the_first_row_are_marked_and_escaped(rows, open_page):
    page = open_page(rows[1].address)
    cards = page.locator(".card").all()
    first = cards[0].locator("dd").all_text_contents()
    assert page.locator(".card.first .cells > [class]:not([class=''])").count() == 0
    for card in cards[1:]:
        name, city, year = card.locator(".cells > div").all()
        value = name.locator("dd").inner_text()
        assert ((name.get_attribute("class") or "") == "differs") == (value != first[0])
        assert not city.get_attribute("class")
        gap = abs(int(year.locator("dd").inner_text()[:4]) - int(first[2])) / np.std(range(40))
        wanted = "" if gap < 0.1 else "near" if gap < 0.5 else "apart" if gap < 1.5 else "far"
        assert (year.get_attribute("class") or "") == wanted
        assert year.locator("mark").count() == 0
    assert page.locator("dd b").count() == 0
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
    shot(page, "rows")


def test_keys_toggle_rows_and_say_unsure_and_screen_readers_hear_it(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    tap, unsure = (page.locator(f".card:nth-child(4) .{name}") for name in ("tap", "maybe"))
    expect(tap).to_have_attribute("aria-pressed", "false")
    expect(tap).to_have_attribute("aria-keyshortcuts", "3")
    row = tap.locator(".id").inner_text()
    page.keyboard.press("3")
    expect(tap).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#said")).to_have_text(f"{row}: same.")
    expect(page.locator(".confirm")).to_have_text("Next: 1 the sameEnter")
    page.keyboard.press("Shift+Digit3")
    expect(tap).to_have_attribute("aria-pressed", "false")
    expect(unsure).to_have_attribute("aria-pressed", "true")
    expect(unsure).to_have_accessible_name(f"Unsure about {row}")
    page.keyboard.press("Control+1")  # a shortcut of the browser's says nothing
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text(
        re.compile(r"^Saved: none the same\. Next: row \d+\.$")
    )
    values = [a.value for a in opened.file.answers if a.screen == 1]
    assert values == [False, False, None, False, False, False, False]
    page.keyboard.press("U")  # as Caps Lock makes it
    expect(page.locator("#before-this")).to_be_visible()
    expect(unsure).to_have_attribute("aria-pressed", "true")
    tap.focus()
    page.keyboard.press(" ")
    expect(tap).to_have_attribute("aria-pressed", "true")
    tap.evaluate("node => node.blur()")
    page.keyboard.press("Enter")
    expect(page.locator("#before-this")).to_be_hidden()
    assert opened.file.answers[2].value is True
    expect_answers(page, 1)


def test_a_past_screen_is_looked_at_again(rows, open_page):
    opened, client = rows
    page = open_page(client.address)
    while len(opened.answers()) < 2:
        answer(page, 1, y)
    page.locator("#past summary").click()
    expect(page.locator("#past-list li")).to_have_count(len(opened.answers()))
    page.locator("#past-list button").last.click()
    expect(page.locator("#said")).to_have_text("Asked again.")
    assert key_of(page) == opened.answers()[-1]["key"]
    shot(page, "past")
    page.keyboard.press("Enter")
    expect(page.locator("#before-this")).to_be_hidden()


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


def test_nothing_is_announced_twice(rows, open_page):
    page = open_page(rows[1].address)
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


@pytest.mark.slow
def test_the_keyboard_reaches_everything_in_order(rows, open_page):
    page = open_page(rows[1].address)
    answer(page, 1, y)
    page.reload()
    expect_answers(page, len(rows[0].answers()))
    seen = []
    for _ in range(22):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent.trim().split('\\n')[0]"))
    text = " ".join(seen)
    places = [
        text.index(name) for name in ("Skip to", "Finish", "row ", "Next: ", "Undo", "Before")
    ]
    assert places == sorted(places)
    assert sum(name == "?" for name in seen) == 7


@pytest.mark.parametrize("scheme", few(["light", "dark"], "dark".__eq__))
def test_a_phone_shows_all_without_scrolling_sideways(rows, open_page, scheme):
    page = open_page(rows[1].address, color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    expect(page.locator(".confirm")).to_be_in_viewport(ratio=1)
    for button in page.locator(".maybe, .confirm").all():
        assert button.bounding_box()["height"] >= 44
    page.locator(".card").nth(1).tap()
    page.locator(".maybe").last.tap()
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


def test_a_message_stays_while_it_is_true(rows, open_page, monkeypatch):
    page = open_page(rows[1].address)
    with full_disk(monkeypatch):
        page.keyboard.press("Enter")
        expect(page.locator("#problem")).to_contain_text("No space left")
        with page.expect_response("**/state"):
            pass
        page.wait_for_timeout(100)
        expect(page.locator("#problem")).to_contain_text("No space left")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_be_hidden()
    open_page.faults[:] = [text for text in open_page.faults if "507" not in text]
