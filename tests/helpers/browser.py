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

expect.set_options(timeout=120_000)  # of a machine with much else to do
KEYS = {True: "ArrowRight", False: "ArrowLeft"}
# SERAPH_SCREENSHOTS=FOLDER keeps pictures of the pages, to look at.
SHOTS = os.environ.get("SERAPH_SCREENSHOTS")


def shot(page, name):
    if SHOTS:
        page.wait_for_timeout(900)
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def key_of(page):
    return page.evaluate("fetch('state').then(r => r.json()).then(s => s.question.key)")


def answer(page, n, classes):
    """Answer by keys, from the true classes."""
    for _ in range(n):
        i, j = map(int, key_of(page).split("-"))
        count = page.evaluate("performance.getEntriesByName('next question').length")
        page.keyboard.press(KEYS[bool(classes[i] == classes[j])])
        page.wait_for_function(
            "n => performance.getEntriesByName('next question').length > n", arg=count
        )


def expect_answers(page, n):
    expect(page.locator("#counts")).to_have_text(re.compile(rf"^{n} answers?:"))
