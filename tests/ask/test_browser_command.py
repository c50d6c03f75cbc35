"""``seraph ask`` as people use it: the command in a process of its own, the page in Chromium."""

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

from seraph import load
from tests.helpers.ask import clusters
from tests.helpers.browser import answer, expect, expect_answers, key_of, shot
from tests.helpers.command import seraph

X, y = clusters(40)


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


PHOTOS = "photos.csv --id file --show photos"


class Command:
    """``seraph ask`` in a process of its own; inside ``with``, it runs."""

    def __init__(self, folder, arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "seraph", "ask", *shlex.split(arguments), "--no-browser"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""
        while not self.said.splitlines()[-1:] or not self.address.startswith("http://"):
            line = self.process.stdout.readline()
            assert line, self.said
            self.said += line

    @property
    def address(self):
        return self.said.splitlines()[-1].strip()

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.process.communicate(timeout=300)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.end(signal.SIGKILL)


def check_report(page, address, photos):
    """The report opens, and gives its pictures."""
    report = page.evaluate("fetch('file/report').then(r => r.text())")
    assert report == (photos / "answers.html").read_text()
    report = page.context.new_page()
    report.goto(address + "file/report")
    expect(report.locator("img, svg").first).to_be_visible()
    report.close()


@pytest.mark.slow
def test_a_whole_session_that_is_killed_and_goes_on(photos, open_page):
    with Command(photos, PHOTOS) as first:
        assert "40 rows, 1 of them without a file" in first.said
        page = open_page(first.address)
        expect(page.locator(".thing img")).to_have_count(8)
        expect(page.locator("header")).to_contain_text("1 without a file, not asked")
        answer(page, 3, y)
        expect_answers(page, 3)
        page.keyboard.press("u")  # its answer stays
        expect(page.locator("#before-this")).to_be_visible()
        expect_answers(page, 3)
        page.keyboard.press("Enter")
        expect(page.locator("#before-this")).to_be_hidden()

        before = key_of(page)
        page.reload()
        expect_answers(page, 3)
        assert key_of(page) == before

        other = open_page(first.address)
        answer(other, 1, y)
        expect_answers(other, 4)
        page.locator(".confirm").click()  # it shows an old question, or has just seen the new one
        page.wait_for_function(
            "() => document.getElementById('counts').textContent.match(/^(4|5) .*screens/)"
        )
        other.close()
        first.end(signal.SIGKILL)
    kept = pd.read_csv(photos / "answers.csv")["screen"].nunique()
    assert kept in (4, 5)
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_contain_text("Your answers are on disk")
    page.close()
    # A request that was under way is reset or gets no reply, and later ones are refused.
    lost = re.compile(r"net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE)")
    refused = [text for text in open_page.faults if lost.search(text)]
    assert len(refused) == len(open_page.faults) > 0
    open_page.faults.clear()

    with Command(photos, PHOTOS) as second:
        assert f"Going on after {kept} screens." in second.said
        page = open_page(second.address)
        expect_answers(page, kept)
        answer(page, 6 - kept, y)
        page.get_by_role("button", name="Finish").click()
        expect(page.locator("#get-model")).to_be_visible(timeout=600_000)
        shot(page, "end")
        line = page.locator("#command").text_content()
        with page.expect_download() as saved:
            page.locator("#get-model").click()
        assert Path(saved.value.path()).read_bytes() == (photos / "answers.skops").read_bytes()
        assert (photos / "answers.html").read_text().startswith("<!doctype html>")
        check_report(page, second.address, photos)
        page.get_by_role("button", name="Go on asking").click()
        expect(page.locator("#things img")).to_have_count(8)
        page.close()
        out = second.end()
    assert f"6 screens in answers.csv. Learn from them: {line}" in out


# Tables as they are


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A table with an empty cell in every column."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X.astype(float).round(3), columns=list("abcd"))
    frame["kind"] = np.array(["low", "middle", "high"])[y]
    for row, name in enumerate(frame.columns):
        frame.loc[row, name] = None
    frame.to_csv("holes.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_classes_end_in_downloads_and_one_command_names_all_rows(tables, open_page):
    with Command(tables, "holes.csv --classes low,middle,high --drop kind") as command:
        page = open_page(command.address)
        page.locator("#features summary").click()
        panel = page.locator("#features dl")
        expect(panel).to_contain_text("filled in by the median")
        expect(panel).to_contain_text("a (1), b (1), c (1), d (1)")
        for n in range(2):
            for row in map(int, key_of(page).split("-")):
                page.keyboard.press("123"[y[row]])
            page.keyboard.press("Enter")
            expect_answers(page, n + 1)
        page.get_by_role("button", name="Finish").click()
        expect(page.locator("#get-model")).to_be_visible(timeout=600_000)
        files = {}
        for name in ("answers", "model"):
            with page.expect_download() as saved:
                page.locator(f"#get-{name}").click()
            files[name] = tables / f"downloaded-{saved.value.suggested_filename}"
            saved.value.save_as(files[name])
        shot(page, "classes-end")
        then = page.locator("#then").text_content()
        page.close()
        command.end()
    assert files["answers"].read_bytes() == (tables / "answers.csv").read_bytes()
    assert files["model"].read_bytes() == (tables / "answers.skops").read_bytes()
    assert len(load(files["model"]).transform(pd.read_csv("holes.csv").drop(columns="kind"))) == 40
    result = seraph(*shlex.split(then)[1:])
    assert result.code == 0, result.err
    named = pd.read_csv("answers-classes.csv")
    assert (named["class"] == np.array(["low", "middle", "high"])[y]).mean() > 0.8


@pytest.mark.slow
def test_the_report_fits_a_phone_and_is_dark_where_the_browser_is(photos, chromium, monkeypatch):
    monkeypatch.chdir(photos)
    pd.DataFrame({"i": [0, 1, 2, 0, 1], "j": [3, 4, 5, 1, 2], "similar": [1, 1, 1, 0, 0]}).to_csv(
        "few.csv", index=False
    )
    options = "photos.csv --id file --pairs few.csv --no-check -o few.skops --report few.html"
    assert seraph("fit", *options.split()).code == 0
    page = chromium.new_page()
    page.goto((photos / "few.html").as_uri())
    for scheme, light in (("light", True), ("dark", False)):
        page.emulate_media(color_scheme=scheme)
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            look = page.evaluate(
                """() => ({
                  wide: document.documentElement.scrollWidth,
                  cut: [...document.querySelectorAll(".wide")]
                    .filter((box) => box.scrollWidth > box.clientWidth).length,
                  ground: getComputedStyle(document.body).backgroundColor,
                  ink: getComputedStyle(document.body).color,
                })"""
            )
            assert look["wide"] <= width
            assert look["cut"] == 0
            brightness = [
                sum(map(int, re.findall(r"\d+", look[k])[:3])) for k in ("ground", "ink")
            ]
            assert (brightness[0] > brightness[1]) == light
            shot(page, f"report-{scheme}-{width}")
    page.close()
