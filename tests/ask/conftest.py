"""Pages in Chromium; imported only by the tests that need them."""

from contextlib import ExitStack

import pytest


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """Chromium, headless, in this process's own profile."""
    from playwright.sync_api import sync_playwright

    from tests.helpers.browser import BROWSER

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
            has_touch=True,
        )
        context.set_default_timeout(120_000)
        yield context
        context.close()


@pytest.fixture
def open_page(chromium):
    """Open pages; at the end, none of them had an error or asked another host for anything."""
    from playwright.sync_api import expect

    pages, faults = [], []

    def watch(page):
        page.on("console", lambda m: m.type in ("error", "warning") and faults.append(m.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda r: r.url.startswith("http://127.0.0.1:") or faults.append(r.url))

    def open_page(address, **options):
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


@pytest.fixture
def ask(tmp_path, open_page):
    """Ask about some points on a page; return the session, its client and the page."""
    from tests.helpers.ask import served, session

    with ExitStack() as stack:

        def ask(X, **setting):
            opened = stack.enter_context(session(tmp_path / "answers.csv", X, **setting))
            client = stack.enter_context(served(opened))
            page = open_page(client.address)
            stack.callback(page.close)  # before its server goes
            return opened, client, page

        yield ask
