"""The page in Chromium: pictures, texts, sounds, classes, missing cells, and the way back."""

import re
import wave

import pandas as pd
import pytest
from PIL import Image

from seraph._apps.ask._records import Records
from seraph._apps.ask._things import Files, RowThings
from seraph.records import DuplicateFinder
from tests.helpers.ask import clusters
from tests.helpers.browser import answer, expect, expect_answers, shot
from tests.helpers.people import people

pytestmark = pytest.mark.slow
X, y = clusters(40)


def test_a_picture_that_cannot_be_read_is_not_asked_about(tmp_path, ask, open_page):
    ids = [f"p{k}" for k in range(40)]
    for k, name in enumerate(ids):
        path = tmp_path / f"{name}.png"
        if k % 4 == 1:
            path.write_bytes(b"not a picture")
        else:
            Image.new("RGB", (80, 60), "#33639f").save(path)
    things = RowThings(ids, {}, Files.below(tmp_path, ids))
    path = tmp_path / "answers.csv"
    opened, _, page = ask(X, things=things)
    for _ in range(4):
        page.wait_for_function(
            "() => [...document.querySelectorAll('.thing img')].length === 8 &&"
            " [...document.querySelectorAll('.thing img')].every((i) => i.naturalWidth > 0)"
        )
        answer(page, 1, y)
    page.close()
    assert all(row % 4 != 1 for a in opened.file.answers for row in a.rows)
    open_page.faults[:] = [text for text in open_page.faults if "404" not in text]


def test_texts_keep_their_direction_and_say_where_they_are_cut(ask):
    columns = {"text": ["שלום עולם " * 3000] * 40}
    things = RowThings([f"n{k}" for k in range(40)], columns)
    *_, page = ask(X, things=things)
    text = page.locator(".thing p.text").first
    expect(text).to_contain_text("cut after 2,000 characters")
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    expect(page.locator("figure")).to_have_count(8)
    assert page.locator("figure[role]").count() == 0  # so they are announced as figures


def test_keys_answer_after_a_sound_was_played(tmp_path, ask):
    ids = [f"s{k}" for k in range(6)]
    for name in ids:
        with wave.open(str(tmp_path / f"{name}.wav"), "wb") as sound:
            sound.setparams((1, 2, 8000, 0, "NONE", ""))
            sound.writeframes(b"\0\0" * 800)
    things = RowThings(ids, {}, Files.below(tmp_path, ids))
    *_, page = ask(X[:6], things=things)
    page.locator("audio").first.focus()
    page.keyboard.press("2")
    expect(page.locator(".confirm")).to_contain_text("1 the same")
    page.keyboard.press("Enter")
    expect_answers(page, 1)


def test_classes_are_named_by_keys_and_by_taps_and_new_ones_are_added(tmp_path, ask):
    columns = {"text": [f"A note, number {k}, <i>of some length</i>." for k in range(40)]}
    things = RowThings([f"n{k}" for k in range(40)], columns)
    path = tmp_path / "answers.csv"
    opened, _, page = ask(X, things=things, classes=("cat", "dog"))
    expect(page.locator(".card p.text").first).to_contain_text("<i>of some length</i>")
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowRight")  # leaves the fourth row without a name
    page.get_by_label("Another class").fill("big bird")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Added: big bird.")
    assert not opened.file.answers  # to add is not to answer
    page.keyboard.press("3")
    page.locator(".card").nth(5).tap()  # the new name is chosen
    page.locator(".brush", has_text="dog").click()
    page.locator(".card").nth(6).click()
    shot(page, "classes")
    expect(page.locator(".confirm")).to_contain_text("5 of 8 rows named")
    page.keyboard.press("Enter")
    expect(page.locator("#counts")).to_have_text(
        "1 screen: cat (1), dog (2), big bird (2), 3 unsure"
    )
    expected = ["cat", "dog", "", "", "big bird", "big bird", "dog", ""]
    assert pd.read_csv(path)["class"].fillna("").tolist() == expected


def test_the_key_of_a_class_that_is_a_digit_is_that_digit(ask):
    digits = tuple("0123456789")
    opened, _, page = ask(X, classes=digits)
    for key in ("3", "0", "7", "Enter"):
        page.keyboard.press(key)
    expect_answers(page, 1)
    assert [a.value for a in opened.file.answers][:4] == ["3", "0", "7", None]
    assert page.locator(".brush kbd").all_text_contents() == [*digits]
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".confirm")).to_be_in_viewport(ratio=1)
    shot(page, "digits")


LONG = ("Hochspannungsleitung", "electroencephalography", "not sure at all", "cat")


def test_no_button_breaks_a_word_on_a_phone(ask):
    *_, page = ask(X, classes=LONG)
    page.set_viewport_size({"width": 390, "height": 844})
    lines = page.locator(".brush").evaluate_all(
        """all => all.map((button) => button.childNodes[1]).flatMap((text) =>
          [...text.data.matchAll(/\\S+/g)].map((word) => {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            return [word[0], range.getClientRects().length];
          }))"""
    )
    assert lines == [[word, 1] for word in " ".join(LONG).split()]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shot(page, "long-classes")


def test_duplicates_are_asked_about_and_counted_without_a_word_of_distances(ask):
    table, person = people(60, 40)
    records = Records(DuplicateFinder(random_state=0).fit(table))
    texts = {name: table[name].fillna("").astype(str).tolist() for name in ("name", "street")}
    things = RowThings([f"P{k}" for k in range(len(table))], texts)
    opened, _, page = ask(person, records=records, things=things)
    answer(page, 24, person)
    assert opened.wait()
    expect(page.locator("#advice")).to_contain_text("pairs of duplicates found")
    expect(page.locator("#first")).to_have_text(re.compile(r"^[01]\.\d\d"))
    assert page.locator("#map").count() == 0
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        shot(page, f"duplicates-{width}")
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("#end-summary")).to_contain_text(
        re.compile("duplicates.*Precision.*Recall")
    )
    shot(page, "duplicates-end")
    text = page.locator("body").text_content()
    assert "similar if the letters of their cells are" in text
    assert not re.search("istance|uclidean", text)


def test_back_leads_from_the_end_to_the_questions(ask):
    _, client, page = ask(X)
    answer(page, 2, y)
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
    expect_answers(page, 4)
