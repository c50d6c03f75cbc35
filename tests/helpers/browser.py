"""Chromium for the tests of ``seraph ask``: headless, through Playwright."""

import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BROWSER = runpy.run_path(str(ROOT / "tools" / "browser.py"))["find"]()
if BROWSER is None:
    pytest.skip("no chromium on this machine", allow_module_level=True)
from playwright.sync_api import expect  # noqa: E402

from tests.helpers.ask import values_of  # noqa: E402

expect.set_options(timeout=120_000)  # of a machine with much else to do
# SERAPH_SCREENSHOTS=FOLDER keeps pictures of the pages, to look at.
SHOTS = os.environ.get("SERAPH_SCREENSHOTS")


def shot(page, name):
    if SHOTS:
        page.wait_for_timeout(900)
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def key_of(page):
    return page.evaluate("fetch('state').then(r => r.json()).then(s => s.question.key)")


def answer(page, n, classes, how="keys"):
    """Answer by keys, by the mouse or by touch, from the true classes; return the rows."""
    asked = []
    for _ in range(n):
        rows = [int(row) for row in key_of(page).split("-")]
        mode = page.locator("body").get_attribute("data-mode")
        count = page.evaluate("performance.getEntriesByName('next question').length")
        values = values_of(mode, rows, classes)
        if mode == "pair":
            page.keyboard.press("ArrowRight" if values[1] else "ArrowLeft")
        else:
            _KEYS[mode](page, values) if how == "keys" else _point(page, mode, values, how)
        page.wait_for_function(
            "n => performance.getEntriesByName('next question').length > n", arg=count
        )
        asked.append(rows)
    return asked


def _like(page, values):
    for k, value in enumerate(values):
        if k and value:
            page.keyboard.press(str(k))
    page.keyboard.press("Enter")


def _sort(page, values):
    for k, group in enumerate(values):
        if k:
            page.keyboard.press(group.lower())
            page.keyboard.press(str(k))
    page.keyboard.press("Enter")


def _name(page, values):
    names = page.locator(".brush").evaluate_all("all => all.map((b) => b.childNodes[1].data)")
    for name in values:
        page.keyboard.press(str(1 + names.index(name)))
    page.keyboard.press("Enter")


_KEYS = {"like": _like, "sort": _sort, "name": _name}


def _point(page, mode, values, how):
    """Tap the rows of a screen."""
    press = {"mouse": "click", "touch": "tap"}[how]
    for k, value in enumerate(values):
        if (k or mode == "name") and value:
            if mode != "like":
                label = value if mode == "name" else f"Group {value}"
                getattr(page.locator(".brush", has_text=re.compile(f"^{label}")), press)()
            getattr(page.locator(".card").nth(k), press)(position={"x": 20, "y": 20})
    getattr(page.locator(".confirm"), press)()


def expect_answers(page, n):
    expect(page.locator("#counts")).to_have_text(re.compile(rf"^{n} (answer|screen)s?:"))
