"""The widget: its front end in Chromium, as notebooks run it, and its kernel in this process."""

import base64

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from seraph import AskWidget, Marks
from seraph._apps.ask import _widget
from tests.helpers.ask import clusters, names, values_of
from tests.helpers.browser import expect, expect_answers, shot

X, y = clusters(60)
FRAME = pd.DataFrame(X, columns=list("abcd"), index=names(60))
# As anywidget does it: import the module, and render a model whose messages go to the kernel.
HOST = """async (source) => {
  const heard = new Set();
  const model = {
    on: (_, hear) => heard.add(hear),
    off: (_, hear) => heard.delete(hear),
    send: (message) => window.kernel(message).then(([content, files]) => {
      const bytes = files.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
      for (const hear of heard) hear(content, bytes.map(({ buffer }) => new DataView(buffer)));
    }),
  };
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  (await import(url)).default.render({ model, el: document.body });
}"""


@pytest.fixture
def display(chromium):
    """Show a widget on a page, as a cell does; return its frame."""
    opened = []

    def display(ask):
        def kernel(message):
            sent = []
            ask.send = lambda content, buffers=(): sent.append((content, buffers))
            ask._reply(message)
            ((content, buffers),) = sent
            return content, [base64.b64encode(data).decode() for data in buffers]

        page = chromium.new_page()
        opened.append((ask, page))
        page.expose_function("kernel", kernel)
        page.evaluate(HOST, ask._esm)
        frame = page.frame_locator("iframe[title='seraph ask']")
        expect(frame.locator(".card")).to_have_count(8)
        return frame

    yield display
    for ask, page in opened:
        page.close()
        ask.close()


def answer(ask, frame, n):
    for _ in range(n):
        before = ask._session.n_answers
        rows = [int(row) for row in ask._session.state()["question"]["key"].split("-")]
        for k, same in enumerate(values_of("like", rows, y)):
            if k and same:
                frame.locator("#question").press(str(k))
        frame.locator("#question").press("Enter")
        expect_answers(frame, before + 1)


def test_all_is_there_after_a_new_kernel(tmp_path, display):
    paths = [tmp_path / f"{row}.png" for row in range(60)]
    for path, code in zip(paths, y, strict=True):
        Image.new("RGB", (80, 60), ["#33639f", "#c26a1b", "#3c8a35"][code]).save(path)
    file = tmp_path / "answers.csv"
    for n in (4, 7):
        ask = AskWidget(FRAME, show=paths, path=file)
        frame = display(ask)
        answer(ask, frame, n - ask._session.n_answers)
        image = frame.locator(".card img").last
        expect(image).not_to_have_js_property("naturalWidth", 0)
        assert ask.marks == Marks.from_frame(pd.read_csv(file), rows=FRAME)
        assert len(ask.marks.pairs)
    assert ask._session.wait()
    expect(frame.locator("#first")).to_contain_text("to")  # the page asks while it learns
    expect(frame.locator("#map")).to_have_attribute("data-version", str(ask._session._version))
    assert "AUC" in ask.verdict
    shot(frame.owner.page, "widget")


@pytest.mark.parametrize(
    ("X", "show", "kind", "text"),
    [
        (FRAME, None, "cells", "d"),
        (X, None, "cells", "3"),
        (X, [f"note <b>{row}" for row in range(60)], "text", "note <b>"),
    ],
)
def test_tables_and_texts_are_shown(display, X, show, kind, text):
    frame = display(AskWidget(X, show=show))
    expect(frame.locator(f".screen.of-{kind}")).to_be_visible()
    expect(frame.locator(".card").first).to_contain_text(text)
    assert frame.locator("#finish").count() == 0


def test_names_are_labels_and_marks(display):
    ask = AskWidget(X, classes=["a", "b"])
    display(ask)
    rows = [int(row) for row in ask._session.state()["question"]["key"].split("-")]
    ask._session.answer("-".join(map(str, rows)), ["a", "b", None, "a", None, None, None, None])
    assert [ask.labels[row] for row in rows[:4]] == ["a", "b", None, "a"]
    assert sum(label is not None for label in ask.labels) == 3
    pairs = {frozenset((rows[0], rows[3])): True}
    pairs |= {frozenset((rows[1], rows[k])): False for k in (0, 3)}
    found = zip(map(frozenset, ask.marks.pairs.tolist()), ask.marks.similar, strict=True)
    assert dict(found) == pairs


def test_what_cannot_be_asked_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="show has 2 rows, and X has 60"):
        AskWidget(X, show=["a", "b"])
    with pytest.raises(ValueError, match="sort has no meaning with classes"):
        AskWidget(X, classes=["a"], sort=True)
    with pytest.raises(ValueError, match="NaN"):
        AskWidget(np.full((9, 2), np.nan))
    monkeypatch.setattr(_widget, "AnyWidget", object)
    with pytest.raises(ImportError, match=r"pip install 'seraph-learn\[notebook\]'"):
        AskWidget(X)
