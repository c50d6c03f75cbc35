"""The page in Chromium: pictures, texts, sounds, classes, missing cells, and the way back."""

import wave

import pandas as pd
import pytest
from PIL import Image

from seraph._apps.ask._things import Folder, RowThings
from tests.helpers.ask import clusters
from tests.helpers.browser import answer, expect, expect_answers, shot

X, y = clusters(40)


def test_a_picture_that_cannot_be_read_is_not_asked_about(tmp_path, ask, open_page):
    ids = [f"p{k}" for k in range(12)]
    for k, name in enumerate(ids):
        path = tmp_path / f"{name}.png"
        if k % 2:
            path.write_bytes(b"not a picture")
        else:
            Image.new("RGB", (80, 60), "#33639f").save(path)
    things = RowThings(ids, {}, Folder(tmp_path, ids))
    path = tmp_path / "answers.csv"
    opened, _, page = ask(X[:12], things=things)
    for _ in range(4):
        page.wait_for_function(
            "() => [...document.querySelectorAll('.thing img')].length === 2 &&"
            " [...document.querySelectorAll('.thing img')].every((i) => i.naturalWidth > 0)"
        )
        answer(page, 1, y)
    page.close()
    assert all(row % 2 == 0 for a in opened.file.answers for row in a.rows)
    open_page.faults[:] = [text for text in open_page.faults if "404" not in text]


def test_texts_keep_their_direction_and_say_where_they_are_cut(ask):
    columns = {"text": ["שלום עולם " * 3000] * 40}
    things = RowThings([f"n{k}" for k in range(40)], columns)
    *_, page = ask(X, things=things)
    text = page.locator(".thing p.text").first
    expect(text).to_contain_text("cut after 2,000 characters")
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    expect(page.locator("figure")).to_have_count(2)
    assert page.locator("figure[role]").count() == 0  # so they are announced as figures


def test_arrows_answer_after_a_sound_was_played(tmp_path, ask):
    ids = [f"s{k}" for k in range(6)]
    for name in ids:
        with wave.open(str(tmp_path / f"{name}.wav"), "wb") as sound:
            sound.setparams((1, 2, 8000, 0, "NONE", ""))
            sound.writeframes(b"\0\0" * 800)
    things = RowThings(ids, {}, Folder(tmp_path, ids))
    *_, page = ask(X[:6], things=things)
    page.locator("audio").first.focus()
    page.keyboard.press("ArrowRight")
    expect_answers(page, 1)


def test_classes_are_named_by_keys_and_new_ones_are_added(tmp_path, ask):
    columns = {"text": [f"A note, number {k}, <i>of some length</i>." for k in range(40)]}
    things = RowThings([f"n{k}" for k in range(40)], columns)
    path = tmp_path / "answers.csv"
    opened, _, page = ask(X, things=things, classes=("cat", "dog"))
    expect(page.locator(".thing p.text")).to_contain_text("<i>of some length</i>")
    page.keyboard.press("1")
    expect_answers(page, 1)
    page.keyboard.press("2")
    expect_answers(page, 2)
    page.get_by_label("Another class").fill("big bird")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Added: big bird.")
    assert len(opened.file.answers) == 2  # to add is not to answer
    page.keyboard.press("3")
    expect_answers(page, 3)
    page.get_by_role("button", name="big bird").click()
    expect_answers(page, 4)
    expect(page.locator("#counts")).to_have_text("4 answers: cat (1), dog (1), big bird (2)")
    page.keyboard.press(" ")
    expect(page.locator("#counts")).to_contain_text("1 unsure")
    shot(page, "classes")
    assert pd.read_csv(path)["class"].tolist()[:4] == ["cat", "dog", "big bird", "big bird"]


def test_the_key_of_a_class_that_is_a_digit_is_that_digit(ask):
    names = tuple("0123456789")
    opened, _, page = ask(X, classes=names)
    for n, key in enumerate("307", start=1):
        page.keyboard.press(key)
        expect_answers(page, n)
    assert [a.value for a in opened.file.answers] == ["3", "0", "7"]
    assert page.locator("#answers kbd").all_text_contents() == [*names, "Space"]
    page.set_viewport_size({"width": 390, "height": 844})
    widths = page.locator("#answers button").evaluate_all(
        "all => all.map((node) => node.getBoundingClientRect().width)"
    )
    assert min(widths) >= 60
    expect(page.locator("#answers button").last).to_be_in_viewport(ratio=1)
    shot(page, "digits")


def test_other_classes_get_the_digits_that_are_free(ask):
    opened, _, page = ask(X, classes=("cat", "2", "dog", "12"))
    assert page.locator("#answers kbd").all_text_contents() == ["1", "2", "3", "Space"]
    for n, key in enumerate("123", start=1):
        page.keyboard.press(key)
        expect_answers(page, n)
    assert [a.value for a in opened.file.answers] == ["cat", "2", "dog"]


def test_a_missing_cell_is_called_missing_and_does_not_differ(ask):
    ids = [f"row {k}" for k in range(40)]
    things = RowThings(ids, {"name": ["", *["Ann"] * 39], "town": [""] * 40, "age": ["1"] * 40})
    *_, page = ask(X, things=things)
    _, town, age = page.locator("table.rows tbody tr").all()
    assert town.locator("td").all_text_contents() == ["missing", "missing"]
    assert age.locator("td").all_text_contents() == ["1", "1"]
    assert not town.get_attribute("class")
    differ = "m => m.difference(['', 'Ann', null], ['', '', null])"
    assert page.evaluate(f"import('./static/cells.js').then({differ})") == ""
    shot(page, "missing")


def test_back_leads_from_the_end_to_the_questions(ask):
    _, client, page = ask(X)
    answer(page, 8, y)
    page.locator("#finish").click()
    expect(page.locator("#end")).to_be_visible()
    page.go_back()
    expect(page.locator("#ask")).to_be_visible()
    assert page.url == client.address
    answer(page, 1, y)
    page.go_forward()
    expect(page.locator("#end")).to_be_visible()
    page.get_by_role("button", name="Go on asking").click()
    expect(page.locator("#ask")).to_be_visible()
    answer(page, 1, y)
    expect_answers(page, 10)


@pytest.mark.parametrize(
    ("classes", "measured", "reported"),
    [
        (None, "a pair that you call the same is nearer", "the report state the same AUC"),
        (("a", "b"), "two rows of one class are nearer", "The report counts errors instead"),
    ],
)
def test_the_page_says_what_it_measures_and_what_the_report_does(ask, classes, measured, reported):
    *_, page = ask(X, classes=classes)
    explained = " ".join(page.locator("#explained").text_content().split())
    assert measured in explained
    assert "No AUC exceeds 1, so near 1 it reaches further down than up." in explained
    assert reported in page.locator("#end").text_content()


def test_a_phone_shows_the_nearest_pictures_side_by_side(tmp_path, ask):
    ids = [f"p{k}" for k in range(12)]
    for name in ids:
        Image.new("RGB", (80, 60), "#33639f").save(tmp_path / f"{name}.png")
    things = RowThings(ids, {}, Folder(tmp_path, ids))
    *_, page = ask(X[:12], things=things)
    answer(page, 10, y)
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#finish").click()
    pictures = page.locator("#nearest img")
    expect(pictures).to_have_count(11)
    tops = pictures.evaluate_all("all => all.map((node) => node.getBoundingClientRect().top)")
    assert len(set(tops[1:6])) <= 2
